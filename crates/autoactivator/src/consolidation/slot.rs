//! Where the last readout is kept: copies of a model share it, and whoever goes on first takes it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::pending::Pending;
use super::readout::Warm;

/// The last readout, if it is still there, and the number of the sums that it is of.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<(u64, Warm)>>>);

impl Slot {
    /// Takes the readout of the sums before these changes; none if it is of others.
    pub fn take(&self, pending: &Pending) -> Option<Warm> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = slot
            .as_ref()
            .is_some_and(|(read_out, _)| *read_out == pending.read_out());
        if fits {
            slot.take().map(|(_, warm)| warm)
        } else {
            None
        }
    }

    /// Number of changes that the readout of these sums has followed since it was solved from nothing; none if it is not there.
    pub fn n_changes(&self, pending: &Pending) -> Option<usize> {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = slot
            .as_ref()
            .filter(|(read_out, _)| *read_out == pending.read_out());
        fits.map(|(_, warm)| warm.n_changes())
    }

    /// Keeps none any more.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Keeps a readout; sums that have not changed since have what is returned.
    pub fn put(&self, warm: Warm) -> Pending {
        let pending = Pending::none();
        self.put_for(&pending, warm);
        pending
    }

    /// Keeps a readout of sums that have not changed since.
    pub fn put_for(&self, pending: &Pending, warm: Warm) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((pending.read_out(), warm));
    }
}

/// What is kept to save time makes no difference to a model.
impl PartialEq for Slot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Slot")
    }
}
