//! Plain loops for the widest instruction set that the machine turns out to have, and the only file that knows how.

use pulp::NullaryFnOnce;

/// Does `work`, compiled once for every instruction set. All of it must be inlined: functions it calls and the closure
/// itself carry `#[inline(always)]`, or they run as they would have without this.
#[inline(always)]
pub fn vectorised<R>(work: impl FnMut() -> R) -> R {
    pulp::Arch::new().dispatch(Work(work))
}

/// A closure that is called by reference: called by value it would go through a shim that is not inlined.
struct Work<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for Work<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}
