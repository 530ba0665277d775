//! Whether long work should stop, asked inside a solve: a factor of thousands of nodes takes seconds.
//!
//! Work that is stopped breaks down like a solve without a solution, and nobody may use what it leaves; what learns then
//! says that it was interrupted.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::alone::is_alone;

thread_local! {
    static ASKED: RefCell<Option<Rc<Asked>>> = const { RefCell::new(None) };
}

/// The question, and whether it was once answered with yes: from then on, it always is.
struct Asked {
    stop: Box<dyn Fn() -> bool>,
    stopped: Cell<bool>,
    /// Whether the whole of the work is alone.
    alone: bool,
}

/// Does `work` on this thread, which stops within a fraction of a second once `stop` says so: learning, unlearning and
/// merging then end with [`Error::Interrupted`](crate::Error::Interrupted) and leave the model as it was. `stop` is asked
/// often, and on this thread alone. A part of the work that is [`alone`](fn@super::alone) is not stopped, since other parts may
/// be at work on other threads.
pub fn until<R>(stop: impl Fn() -> bool + 'static, work: impl FnOnce() -> R) -> R {
    let asked = Asked {
        stop: Box::new(stop),
        stopped: Cell::new(false),
        alone: is_alone(),
    };
    let _before = Before(ASKED.replace(Some(Rc::new(asked))));
    work()
}

/// Whether the work of this thread should stop.
pub(crate) fn is_stopped() -> bool {
    let asked = ASKED.with_borrow(Clone::clone);
    asked
        .filter(|asked| asked.alone || !is_alone())
        .is_some_and(|asked| {
            if !asked.stopped.get() {
                asked.stopped.set((asked.stop)());
            }
            asked.stopped.get()
        })
}

/// Ends a function that may come to nothing, if the work of this thread should stop.
pub(crate) fn go_on() -> Option<()> {
    (!is_stopped()).then_some(())
}

/// Puts back what was asked before, also when the work panics.
struct Before(Option<Rc<Asked>>);

impl Drop for Before {
    fn drop(&mut self) {
        ASKED.set(self.0.take());
    }
}
