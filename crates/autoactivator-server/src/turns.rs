//! Turns at longer work: only a few at a time, and never all of them for one address. So a client with many long
//! questions keeps only itself waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::client::Client;

/// A number of turns.
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    each: usize,
    by_client: Mutex<HashMap<Client, Weak<Semaphore>>>,
}

/// A turn, which ends when this is dropped.
pub(crate) struct Turn {
    _own: (OwnedSemaphorePermit, Arc<Semaphore>),
    _of_all: OwnedSemaphorePermit,
}

impl Turns {
    /// At most `each` turns at a time for one client, and at most `all` for all clients together.
    pub(crate) fn new(each: usize, all: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            each,
            by_client: Mutex::default(),
        }
    }

    /// Waits for a turn: first among the client's own work, then among that of all.
    pub(crate) async fn wait(&self, client: Client) -> Result<Turn, AcquireError> {
        let own = self.of(client);
        let permit = Arc::clone(&own).acquire_owned().await?;
        Ok(Turn {
            _own: (permit, own),
            _of_all: Arc::clone(&self.all).acquire_owned().await?,
        })
    }

    /// The turns of one client, kept for as long as it waits for one or has one.
    fn of(&self, client: Client) -> Arc<Semaphore> {
        let mut by_client = self.by_client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = by_client.get(&client).and_then(Weak::upgrade) {
            return own;
        }
        by_client.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.each));
        by_client.insert(client, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn one_client_never_has_every_turn() {
        let turns = Turns::new(2, 3);
        let client = |n: u8| Client::at([10, 0, 0, n].into());
        let turn = |n| {
            let mut context = Context::from_waker(Waker::noop());
            let turn = pin!(turns.wait(client(n))).poll(&mut context);
            turn.is_ready().then_some(turn)
        };
        let first = (turn(1), turn(1));
        assert!(first.0.is_some() && first.1.is_some() && turn(1).is_none());
        let other = turn(2);
        assert!(other.is_some() && turn(3).is_none());
        drop(first);
        assert!(turn(1).is_some() && turn(3).is_some());
    }
}
