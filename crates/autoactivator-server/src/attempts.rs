//! How often an address may send a wrong token before it has to wait.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::problem::Problem;

/// Wrong tokens that one address may send within [`WHILE`].
const MOST: u32 = 30;

/// How long wrong tokens are held against an address, from the first one on.
const WHILE: Duration = Duration::from_secs(60);

/// Addresses that are remembered before old ones are looked for.
const ADDRESSES: usize = 4096;

/// Wrong tokens by address: when the first came, and how many.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<Client, (Instant, u32)>>);

impl Attempts {
    /// Refuses a client that has sent too many wrong tokens lately. A right one is refused as well, otherwise guessing
    /// could go on.
    pub(crate) fn check(&self, client: Client) -> Result<(), Problem> {
        let attempts = self.attempts();
        let Some((first, count)) = attempts.get(&client) else {
            return Ok(());
        };
        let left = WHILE.saturating_sub(first.elapsed());
        if *count < MOST || left.is_zero() {
            return Ok(());
        }
        Err(Problem::too_many_attempts(left))
    }

    /// Counts a wrong token.
    pub(crate) fn failed(&self, client: Client) {
        let mut attempts = self.attempts();
        if attempts.len() >= ADDRESSES {
            attempts.retain(|_, (first, _)| first.elapsed() < WHILE);
        }
        let (first, count) = attempts.entry(client).or_insert((Instant::now(), 0));
        if first.elapsed() >= WHILE {
            (*first, *count) = (Instant::now(), 0);
        }
        *count += 1;
    }

    fn attempts(&self) -> MutexGuard<'_, HashMap<Client, (Instant, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_so_many_attempts_and_others_their_own() {
        let client = |n: u8| Client::at([10, 0, 0, n].into());
        let attempts = Attempts::default();
        for _ in 0..MOST {
            assert_eq!(attempts.check(client(1)), Ok(()));
            attempts.failed(client(1));
        }
        let refused = attempts.check(client(1)).unwrap_err();
        assert_eq!(refused.status.as_u16(), 429);
        assert!(
            refused
                .retry_after
                .is_some_and(|seconds| (1..=61).contains(&seconds))
        );
        assert_eq!(attempts.check(client(2)), Ok(()));
    }
}
