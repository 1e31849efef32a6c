//! A feature value as it is stored, and how registers are filled with some.

/// A feature value as it is stored: `f32` or `f64`. All arithmetic is in `f64`.
pub trait Value: Copy + Send + Sync + 'static {
    /// The value as a double; exact for both types.
    fn wide(self) -> f64;

    /// Whether all are finite. All are looked at, many at once, instead of stopping at the first that is not.
    fn all_finite(values: &[Self]) -> bool;

    /// Whether one is zero, found in the same way.
    fn any_zero(values: &[Self]) -> bool;

    /// The values where they are, if they are doubles already.
    #[doc(hidden)]
    fn as_doubles(values: &[Self]) -> Option<&[f64]>;

    /// Four values as doubles, in one register.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn four(values: &[Self; 4]) -> std::arch::x86_64::__m256d;

    /// Bits wherever one of eight values is zero.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn zeros(values: &[Self; 8]) -> std::arch::x86_64::__m256;

    /// Eight values as doubles, in one register.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn eight(values: &[Self; 8]) -> std::arch::x86_64::__m512d;

    /// Up to eight values as doubles, in one register; zero where there is none.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn up_to_eight(values: &[Self]) -> std::arch::x86_64::__m512d;
}

macro_rules! values {
    ($($stored:ident: $doubles:expr, $four:ident, $zeros:ident, $eight:ident, $up_to_eight:ident;)+) => {$(
        impl Value for $stored {
            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }

            fn all_finite(values: &[Self]) -> bool {
                struct Finite<'a>(&'a [$stored]);
                impl super::Work for Finite<'_> {
                    type Output = bool;

                    #[inline(always)]
                    fn run(self) -> bool {
                        self.0.iter().fold(true, |all, value| all & value.is_finite())
                    }
                }
                super::widest(Finite(values))
            }

            fn any_zero(values: &[Self]) -> bool {
                struct Zero<'a>(&'a [$stored]);
                impl super::Work for Zero<'_> {
                    type Output = bool;

                    #[inline(always)]
                    fn run(self) -> bool {
                        self.0.iter().fold(false, |any, value| any | (*value == 0.0))
                    }
                }
                super::widest(Zero(values))
            }

            #[inline(always)]
            fn as_doubles(values: &[Self]) -> Option<&[f64]> {
                $doubles(values)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            #[expect(unsafe_code, reason = "a register that not every processor has")]
            unsafe fn four(values: &[Self; 4]) -> std::arch::x86_64::__m256d {
                // SAFETY: the caller has seen that the processor has AVX2.
                unsafe { super::avx2::$four(values) }
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            #[expect(unsafe_code, reason = "a register that not every processor has")]
            unsafe fn zeros(values: &[Self; 8]) -> std::arch::x86_64::__m256 {
                // SAFETY: the caller has seen that the processor has AVX2.
                unsafe { super::avx2::$zeros(values) }
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            #[expect(unsafe_code, reason = "a register that not every processor has")]
            unsafe fn eight(values: &[Self; 8]) -> std::arch::x86_64::__m512d {
                // SAFETY: the caller has seen that the processor has AVX-512.
                unsafe { super::avx512::$eight(values) }
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            #[expect(unsafe_code, reason = "a register that not every processor has")]
            unsafe fn up_to_eight(values: &[Self]) -> std::arch::x86_64::__m512d {
                // SAFETY: the caller has seen that the processor has AVX-512.
                unsafe { super::avx512::$up_to_eight(values) }
            }
        }
    )+};
}

values! {
    f32: |_| None, singles, zero_singles, singles, up_to_eight_singles;
    f64: Some, doubles, zero_doubles, doubles, up_to_eight_doubles;
}
