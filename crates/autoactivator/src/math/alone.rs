//! Which work shares the threads with others, and which stays on its own thread.

use std::cell::Cell;

use rayon::prelude::*;

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

/// Does pieces of work on all threads, or on the calling one if it works alone. The results have the order of the pieces.
///
/// If there are no more pieces than threads, the caller takes one of them itself instead of waiting for threads that are
/// still asleep.
pub fn divided<W: Send, R: Send>(mut pieces: Vec<W>, work: impl Fn(W) -> R + Sync + Send) -> Vec<R> {
    if is_alone() || pieces.len() <= 1 {
        return pieces.into_iter().map(work).collect();
    }
    if pieces.len() > rayon::current_num_threads() {
        return pieces.into_par_iter().map(work).collect();
    }
    let own = pieces.pop();
    let mut others: Vec<Option<R>> = pieces.iter().map(|_| None).collect();
    let own = rayon::in_place_scope(|scope| {
        for (piece, place) in pieces.into_iter().zip(&mut others) {
            let work = &work;
            scope.spawn(move |_| *place = Some(work(piece)));
        }
        own.map(&work)
    });
    others.into_iter().flatten().chain(own).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_done_on_all_threads_or_on_one_and_keep_their_order() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for n_pieces in [0, 1, 2, 3, 4, 50] {
            let expected: Vec<usize> = (0..n_pieces).map(|piece| 2 * piece).collect();
            let done = || divided((0..n_pieces).collect(), |piece| 2 * piece);
            assert_eq!(pool.install(done), expected);
            assert_eq!(done(), expected);
            let here = std::thread::current().id();
            let threads = alone(|| divided((0..n_pieces).collect(), |_: usize| std::thread::current().id()));
            assert!(threads.into_iter().all(|thread| thread == here));
        }
    }
}
