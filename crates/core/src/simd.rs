//! The same code, compiled once more for processors with wide registers.
//!
//! Worth it from some length on, since the wide copy of a loop cannot be inlined. Nothing here changes
//! a result: the lanes of [`crate::row`] fix every order of addition, and products and sums stay
//! separate instructions, since only `avx2` is asked for, not `fma`. There is no second source to keep
//! in step, only a second compilation.

/// A piece of work. `run` must be `#[inline(always)]`, or the wide copy calls the plain one.
pub(crate) trait Work {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

/// From how many features on the wide copy of a loop is worth a call.
pub(crate) const LONG: usize = 64;

/// Does the work in the widest registers this machine has.
#[inline]
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `with_avx2` needs is a processor with AVX2, and this one has it.
        return unsafe { with_avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}
