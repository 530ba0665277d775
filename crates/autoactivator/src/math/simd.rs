//! Plain loops compiled for the widest instruction set of the machine at hand, and the only file that knows how.

use pulp::NullaryFnOnce;

/// Runs `work`, compiled once for every instruction set. All of it must be inlined: the closure and every
/// function it calls need `#[inline(always)]`, or they run as if this function were not there.
#[inline(always)]
pub fn vectorised<R>(work: impl FnMut() -> R) -> R {
    pulp::Arch::new().dispatch(Work(work))
}

/// The widest instruction set that the loops use on this machine, in words.
pub fn instruction_set() -> &'static str {
    match pulp::Arch::new() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        pulp::Arch::V4(_) => "AVX-512",
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        pulp::Arch::V3(_) => "AVX2 and FMA",
        #[cfg(target_arch = "aarch64")]
        pulp::Arch::Neon(_) => "NEON",
        _ => "none",
    }
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
