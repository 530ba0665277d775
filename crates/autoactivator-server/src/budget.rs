//! What clients may hold at the same time: so much in all, and at most half of it from one address, so that no client
//! takes everything from the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::client::Client;

/// Something of which there is only so much: bytes or connections.
#[derive(Clone)]
pub(crate) struct Budget {
    most: usize,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by_client: HashMap<Client, usize>,
}

/// What one client holds, given back when this is dropped.
pub(crate) struct Share {
    budget: Budget,
    client: Client,
    amount: usize,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            held: Arc::default(),
        }
    }

    /// A share of this size; none if so much is not left, or not for this client.
    pub(crate) fn take(&self, client: Client, amount: usize) -> Option<Share> {
        let mut share = self.share(client);
        share.grow(amount).then_some(share)
    }

    /// A share of nothing, which can grow.
    pub(crate) fn share(&self, client: Client) -> Share {
        Share {
            budget: self.clone(),
            client,
            amount: 0,
        }
    }

    /// Whether this client holds as much as one client may.
    pub(crate) fn is_full_for(&self, client: Client) -> bool {
        let held = self.held();
        let own = held.by_client.get(&client);
        own.is_some_and(|&own| own >= self.each())
    }

    /// How much all clients hold.
    pub(crate) fn in_use(&self) -> usize {
        self.held().all
    }

    fn each(&self) -> usize {
        self.most.div_ceil(2)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Takes more; false, and nothing taken, if so much is not left.
    pub(crate) fn grow(&mut self, amount: usize) -> bool {
        let mut held = self.budget.held();
        let own = held.by_client.get(&self.client).copied().unwrap_or(0);
        if amount > self.budget.most.saturating_sub(held.all)
            || amount > self.budget.each().saturating_sub(own)
        {
            return false;
        }
        held.all += amount;
        held.by_client.insert(self.client, own + amount);
        self.amount += amount;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.budget.held();
        held.all = held.all.saturating_sub(self.amount);
        if let Some(own) = held.by_client.get_mut(&self.client) {
            *own = own.saturating_sub(self.amount);
            if *own == 0 {
                held.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_gets_half_and_all_get_no_more_than_there_is() {
        let client = |n: u8| Client::at([10, 0, 0, n].into());
        let budget = Budget::new(10);
        let mut first = budget.take(client(1), 3).unwrap();
        assert!(!first.grow(3), "more than half");
        assert!(first.grow(2) && budget.is_full_for(client(1)));
        assert!(budget.take(client(1), 1).is_none());
        let second = budget.take(client(2), 4).unwrap();
        assert!(budget.take(client(3), 2).is_none(), "more than there is");
        let third = budget.take(client(3), 1).unwrap();
        drop((first, second, third));
        assert!(budget.held().by_client.is_empty() && budget.held().all == 0);
    }
}
