//! Plain loops compiled for the widest instruction set of the machine at hand, and the only file that knows how.

use pulp::NullaryFnOnce;

/// Runs `work`, compiled once for every instruction set. All of it must be inlined: the closure and every
/// function it calls need `#[inline(always)]`, or they run as if this function were not there.
#[inline(always)]
pub fn vectorised<R>(work: impl FnMut() -> R) -> R {
    pulp::Arch::new().dispatch(Work(work))
}

/// A closure that is called by reference: called by value, it would go through a shim that is not inlined.
struct Work<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for Work<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}
