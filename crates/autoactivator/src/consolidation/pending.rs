//! What has changed in the sums since they were last read out: if it is little, the next readout follows from the last.

use std::sync::atomic::{AtomicU64, Ordering};

/// Largest share of the number of nodes that changes may be for the next readout to follow from the last.
const LITTLE: usize = 8;

/// One change of the sums.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A row with these comparable node outputs was added to the class at this place; one of negative weight was taken away.
    Row { h: Vec<f32>, place: usize, weight: f64 },
    /// The class at this place was forgotten, and with it this many rows; those after it have moved up.
    Dropped(usize, f64),
}

/// The changes since the last readout.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Which sums were read out; no others have this number.
    read_out: u64,
    /// None if there were too many.
    changes: Option<Vec<Change>>,
}

impl Default for Pending {
    /// Nothing has been read out.
    fn default() -> Self {
        Self {
            read_out: 0,
            changes: None,
        }
    }
}

/// Sums are equal whatever became of them since.
impl PartialEq for Pending {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Pending {
    /// Nothing has changed since the sums were read out, which were given this number.
    pub fn none() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            read_out: 1 + LAST.fetch_add(1, Ordering::Relaxed),
            changes: Some(Vec::new()),
        }
    }

    /// The number of the sums that were read out.
    pub fn read_out(&self) -> u64 {
        self.read_out
    }

    /// The changes since; none if there were too many.
    pub fn changes(&self) -> Option<&[Change]> {
        self.changes.as_deref()
    }

    /// Number of rows more since; none if there were too many changes.
    pub fn n_rows(&self) -> Option<f64> {
        let weight = |change: &Change| match change {
            Change::Row { weight, .. } => *weight,
            Change::Dropped(_, count) => -count,
        };
        Some(self.changes.as_ref()?.iter().map(weight).sum())
    }

    /// Whether `n` more changes of sums over `n_nodes` are still few.
    pub fn has_room_for(&self, n: usize, n_nodes: usize) -> bool {
        let so_far = self.changes.as_ref().map(Vec::len);
        so_far.is_some_and(|so_far| LITTLE * (so_far + n) <= n_nodes)
    }

    /// Adds a change.
    pub fn push(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }

    /// Too much has changed.
    pub fn give_up(&mut self) {
        self.changes = None;
    }
}
