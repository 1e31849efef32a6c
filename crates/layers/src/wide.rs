//! Chains of fused additions in the widest registers the processor has, or in none.
//!
//! A product fused with its addition is rounded once wherever it is computed, and every number of a result has its own
//! chain. So nothing here changes a bit: registers only say how many chains go side by side. Code that holds
//! a [`Lanes`] may use its registers, since only a look at the processor makes one; all else in this crate is
//! safe code.

/// How many numbers are taken together: two registers of eight, or four of four.
pub(crate) const STRIP: usize = 16;

/// Numbers side by side.
pub(crate) type Units = [f64; STRIP];

/// Registers of some width.
pub(crate) trait Lanes: Copy {
    /// Some doubles.
    type Register: Copy;

    /// How many.
    const N: usize;

    fn splat(self, value: f64) -> Self::Register;

    /// The numbers from place `from` on.
    fn load(self, units: &Units, from: usize) -> Self::Register;

    fn store(self, register: Self::Register, units: &mut Units, from: usize);

    /// `x·y + sum`, rounded once.
    fn fused(self, sum: Self::Register, x: Self::Register, y: Self::Register) -> Self::Register;
}

/// A piece of work. `run` must be `#[inline(always)]`, or the wide copy calls the plain one.
pub(crate) trait Work {
    /// Does it, with `ROWS` rows side by side: as many as there are registers for.
    fn run<L: Lanes, const ROWS: usize>(self, lanes: L);
}

/// Does the work in the widest registers of this machine.
pub(crate) fn widest<W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(lanes) = x86::Eight::new() {
            return lanes.run(work);
        }
        if let Some(lanes) = x86::Four::new() {
            return lanes.run(work);
        }
    }
    work.run::<_, 4>(Bare);
}

/// Registers that every processor has: none. Its bits are those of the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bare;

impl Lanes for Bare {
    type Register = [f64; 4];

    const N: usize = 4;

    #[inline(always)]
    fn splat(self, value: f64) -> [f64; 4] {
        [value; 4]
    }

    #[inline(always)]
    fn load(self, units: &Units, from: usize) -> [f64; 4] {
        std::array::from_fn(|k| units[from + k])
    }

    #[inline(always)]
    fn store(self, register: [f64; 4], units: &mut Units, from: usize) {
        units[from..from + 4].copy_from_slice(&register);
    }

    #[inline(always)]
    fn fused(self, sum: [f64; 4], x: [f64; 4], y: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| x[k].mul_add(y[k], sum[k]))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Units, Work};
    use std::arch::is_x86_feature_detected as has;
    use std::arch::x86_64::{
        __m256d, __m512d, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_set1_pd, _mm256_storeu_pd,
        _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_set1_pd, _mm512_storeu_pd,
    };

    macro_rules! lanes {
        ($name:ident, $register:ty, $n:literal, $rows:literal, $features:literal, $has:expr, $splat:ident, $load:ident,
            $store:ident, $fused:ident) => {
            /// Such registers, on a processor that has them.
            #[derive(Debug, Clone, Copy)]
            pub(crate) struct $name(());

            impl $name {
                pub(crate) fn new() -> Option<Self> {
                    $has.then_some(Self(()))
                }

                pub(crate) fn run<W: Work>(self, work: W) {
                    #[target_feature(enable = $features)]
                    fn inside<W: Work>(lanes: $name, work: W) {
                        work.run::<_, $rows>(lanes);
                    }
                    #[expect(
                        unsafe_code,
                        reason = "only a check at run time can tell what the processor has"
                    )]
                    // SAFETY: `new` has asked the processor for all that `inside` needs.
                    unsafe {
                        inside(self, work);
                    }
                }
            }

            #[expect(unsafe_code, reason = "registers that not every processor has")]
            impl Lanes for $name {
                type Register = $register;

                const N: usize = $n;

                #[inline(always)]
                fn splat(self, value: f64) -> $register {
                    // SAFETY: `new` has asked the processor for these registers.
                    unsafe { $splat(value) }
                }

                #[inline(always)]
                fn load(self, units: &Units, from: usize) -> $register {
                    let units = &units[from..from + $n];
                    // SAFETY: `new` has asked the processor for these registers, and the slice fills one.
                    unsafe { $load(units.as_ptr()) }
                }

                #[inline(always)]
                fn store(self, register: $register, units: &mut Units, from: usize) {
                    let units = &mut units[from..from + $n];
                    // SAFETY: `new` has asked the processor for these registers, and the slice holds one.
                    unsafe { $store(units.as_mut_ptr(), register) }
                }

                #[inline(always)]
                fn fused(self, sum: $register, x: $register, y: $register) -> $register {
                    // SAFETY: `new` has asked the processor for these registers.
                    unsafe { $fused(x, y, sum) }
                }
            }
        };
    }

    lanes!(
        Eight,
        __m512d,
        8,
        8,
        "avx512f,avx512dq,avx512vl,fma",
        (has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("fma")),
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_fmadd_pd
    );
    lanes!(
        Four,
        __m256d,
        4,
        4,
        "avx2,fma",
        (has!("avx2") && has!("fma")),
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_fmadd_pd
    );
}

#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) use x86::{Eight, Four};
