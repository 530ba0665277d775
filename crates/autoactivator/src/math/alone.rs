//! Which work shares the threads with others, and which stays on its own thread.

use std::cell::Cell;

thread_local! {
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with all its products and solves on the calling thread: for one of many pieces of work that already
/// keep all threads busy, and for work that must not wait for others. Everything else uses the threads of the pool that
/// it is called in. The numbers are the same either way.
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    let _before = Before(IS_ALONE.replace(true));
    work()
}

/// Whether the calling thread works alone.
pub(super) fn is_alone() -> bool {
    IS_ALONE.get()
}

/// Puts back what was set before, also when the work panics.
struct Before(bool);

impl Drop for Before {
    fn drop(&mut self) {
        IS_ALONE.set(self.0);
    }
}
