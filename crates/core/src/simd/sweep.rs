//! Sums and steps of many outputs along one row, in registers of eight doubles.

#![expect(unsafe_code, reason = "registers are filled and emptied through pointers")]

use super::avx512::{doubles, first_places, stored, up_to_eight_doubles};
use super::plain::{PIECE, Room};
use super::{Block, Change, Columns, Lanes, SWEEP, Sums, TOO_WIDE};
use std::arch::x86_64::{
    __m128d, __m256d, __m256i, __m512d, _mm_add_pd, _mm_loadu_pd, _mm_mask_add_pd, _mm_mask_mul_pd,
    _mm_mul_pd, _mm_set1_pd, _mm_storeu_pd, _mm256_add_pd, _mm256_castpd128_pd256, _mm256_castpd256_pd128,
    _mm256_cmplt_epu32_mask, _mm256_extractf128_pd, _mm256_insertf128_pd, _mm256_loadu_pd,
    _mm256_loadu_si256, _mm256_mask_add_pd, _mm256_mask_mul_pd, _mm256_maskz_loadu_epi32, _mm256_max_epu32,
    _mm256_mul_pd, _mm256_set1_epi32, _mm256_set1_pd, _mm256_setzero_si256, _mm256_slli_epi32,
    _mm256_storeu_pd, _mm256_storeu_si256, _mm512_add_epi64, _mm512_add_pd, _mm512_castpd256_pd512,
    _mm512_castpd512_pd256, _mm512_extractf64x4_pd, _mm512_insertf64x4, _mm512_load_pd, _mm512_loadu_pd,
    _mm512_mask_add_pd, _mm512_mask_mul_pd, _mm512_maskz_loadu_pd, _mm512_mul_pd, _mm512_permutexvar_pd,
    _mm512_set1_epi64, _mm512_set1_pd, _mm512_setr_epi64, _mm512_setzero_pd, _mm512_store_pd,
    _mm512_storeu_pd,
};
use std::ops::Range;

/// Up to this many features, sixteen times a feature is a number that an offset can be.
pub(crate) const MOST_FEATURES: usize = 1 << 28;

/// Where the weights of some features are, in sixteenths: a feature of a block with stride 8 begins at four times
/// its offset, in bytes. An address is then found without any other instruction.
type Offsets = Room<u32, PIECE>;

/// The offsets of the features, as many eights as they fill or begin; the last is filled up with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn offsets(features: &[u32], width: usize, offsets: &mut Offsets) {
    assert!(features.len() <= PIECE && width <= MOST_FEATURES, "a piece, and features that an offset can be");
    let (eights, last) = features.as_chunks::<8>();
    let mut most = _mm256_setzero_si256();
    let mut put = |place: usize, eight: __m256i| {
        most = _mm256_max_epu32(most, eight);
        // SAFETY: a piece is a multiple of eight, and so is every place.
        unsafe {
            _mm256_storeu_si256(offsets.as_mut_ptr().add(place).cast(), _mm256_slli_epi32::<4>(eight));
        };
    };
    for (number, eight) in eights.iter().enumerate() {
        // SAFETY: the reference is good for eight.
        put(8 * number, unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) });
    }
    if !last.is_empty() {
        // SAFETY: only what is there is read.
        let eight = unsafe { _mm256_maskz_loadu_epi32(first_places(last.len()), last.as_ptr().cast()) };
        put(8 * eights.len(), eight);
    }
    if !features.is_empty() {
        let known = _mm256_cmplt_epu32_mask(most, _mm256_set1_epi32((width as u32).cast_signed()));
        assert!(known == u8::MAX, "{TOO_WIDE}");
    }
}

/// The outputs of a block in one register.
///
/// # Safety
/// The processor has AVX-512, for every function below, and pointers are good for `N` doubles.
trait Register: Copy {
    /// How many.
    const N: usize;
    unsafe fn load(from: *const f64) -> Self;
    unsafe fn store(self, to: *mut f64);
    unsafe fn splat(value: f64) -> Self;
    unsafe fn times(self, other: Self) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    /// The sum where the mask has a bit, and elsewhere what was there.
    unsafe fn plus_where(self, mask: u8, other: Self) -> Self;
    /// The product where the mask has a bit, and elsewhere what `or` has.
    unsafe fn times_where(self, mask: u8, other: Self, or: Self) -> Self;
}

macro_rules! register {
    ($name:ty, $n:literal, $load:ident, $store:ident, $splat:ident, $times:ident, $plus:ident, $plus_where:ident, $times_where:ident) => {
        impl Register for $name {
            const N: usize = $n;

            #[inline(always)]
            unsafe fn load(from: *const f64) -> Self {
                // SAFETY: as the caller's.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f64) {
                // SAFETY: as the caller's.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn splat(value: f64) -> Self {
                // SAFETY: as the caller's.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                // SAFETY: as the caller's.
                unsafe { $times(self, other) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: as the caller's.
                unsafe { $plus(self, other) }
            }

            #[inline(always)]
            unsafe fn plus_where(self, mask: u8, other: Self) -> Self {
                // SAFETY: as the caller's.
                unsafe { $plus_where(self, mask, self, other) }
            }

            #[inline(always)]
            unsafe fn times_where(self, mask: u8, other: Self, or: Self) -> Self {
                // SAFETY: as the caller's.
                unsafe { $times_where(or, mask, self, other) }
            }
        }
    };
}

register!(
    __m512d,
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_mul_pd,
    _mm512_add_pd,
    _mm512_mask_add_pd,
    _mm512_mask_mul_pd
);
register!(
    __m256d,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_mul_pd,
    _mm256_add_pd,
    _mm256_mask_add_pd,
    _mm256_mask_mul_pd
);
register!(
    __m128d,
    2,
    _mm_loadu_pd,
    _mm_storeu_pd,
    _mm_set1_pd,
    _mm_mul_pd,
    _mm_add_pd,
    _mm_mask_add_pd,
    _mm_mask_mul_pd
);

/// The sums of a block while a row is gone over.
///
/// # Safety
/// The processor has AVX-512, for every function below; the cells have the stride of the group, and all offsets
/// are those of features that they have.
trait Group: Sized {
    const STRIDE: usize;
    unsafe fn zero() -> Self;
    unsafe fn load(lanes: &[[f64; 8]; 8]) -> Self;
    unsafe fn store(&self, lanes: &mut [[f64; 8]; 8]);
    /// Adds eight entries, one for every lane.
    unsafe fn add(&mut self, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]);
    /// Adds the first `n` of eight entries.
    unsafe fn add_first(&mut self, n: usize, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]);
    /// The lanes added up in their tree.
    unsafe fn totals(&self, totals: &mut [f64; 8]);
}

/// A register for every lane.
struct Each<R>([R; 8]);

impl<R: Register> Each<R> {
    /// The products of one entry.
    #[inline(always)]
    unsafe fn products(cells: *const f64, offset: u32, value: f64) -> R {
        // SAFETY: as the caller's.
        unsafe { R::load(cells.byte_add(offset as usize * (R::N / 2))).times(R::splat(value)) }
    }
}

impl<R: Register> Group for Each<R> {
    const STRIDE: usize = R::N;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: as the caller's.
        Self([unsafe { R::splat(0.0) }; 8])
    }

    #[inline(always)]
    unsafe fn load(lanes: &[[f64; 8]; 8]) -> Self {
        // SAFETY: as the caller's; a lane has room for eight.
        Self(std::array::from_fn(|lane| unsafe { R::load(lanes[lane].as_ptr()) }))
    }

    #[inline(always)]
    unsafe fn store(&self, lanes: &mut [[f64; 8]; 8]) {
        for (sum, lane) in self.0.iter().zip(lanes) {
            // SAFETY: as the caller's; a lane has room for eight.
            unsafe { sum.store(lane.as_mut_ptr()) };
        }
    }

    #[inline(always)]
    unsafe fn add(&mut self, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
        for lane in 0..8 {
            // SAFETY: as the caller's.
            unsafe {
                self.0[lane] = self.0[lane].plus(Self::products(cells, offsets[lane], values[lane]));
            }
        }
    }

    #[inline(always)]
    unsafe fn add_first(&mut self, n: usize, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
        for lane in 0..8 {
            let mask = if lane < n { u8::MAX } else { 0 };
            // SAFETY: as the caller's.
            unsafe {
                let products = Self::products(cells, offsets[lane], values[lane]);
                self.0[lane] = self.0[lane].plus_where(mask, products);
            }
        }
    }

    #[inline(always)]
    unsafe fn totals(&self, totals: &mut [f64; 8]) {
        let [a, b, c, d, e, f, g, h] = self.0;
        // SAFETY: as the caller's; there is room for eight.
        unsafe {
            let sums = a.plus(e).plus(c.plus(g)).plus(b.plus(f).plus(d.plus(h)));
            sums.store(totals.as_mut_ptr());
        }
    }
}

/// Two outputs, four lanes of theirs side by side in a register: a quarter of the additions.
struct Pairs([__m512d; 2]);

impl Pairs {
    /// The products of four entries from place `FROM` of eight on.
    #[inline(always)]
    unsafe fn products<const FROM: i64>(cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) -> __m512d {
        // SAFETY: as the caller's.
        unsafe {
            let two = |k: usize| _mm_loadu_pd(cells.byte_add(offsets[FROM as usize + k] as usize));
            let low = _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(0)), two(1));
            let high = _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(2)), two(3));
            let weights = _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high);
            let which = _mm512_add_epi64(_mm512_set1_epi64(FROM), _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3));
            _mm512_mul_pd(weights, _mm512_permutexvar_pd(which, doubles(values)))
        }
    }
}

impl Group for Pairs {
    const STRIDE: usize = 2;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: as the caller's.
        Self([unsafe { _mm512_setzero_pd() }; 2])
    }

    #[inline(always)]
    unsafe fn load(lanes: &[[f64; 8]; 8]) -> Self {
        // SAFETY: as the caller's.
        Self([0, 1].map(|half| unsafe { doubles(&lanes[half]) }))
    }

    #[inline(always)]
    unsafe fn store(&self, lanes: &mut [[f64; 8]; 8]) {
        for (sums, lane) in self.0.iter().zip(lanes) {
            // SAFETY: as the caller's; there is room for eight.
            unsafe { _mm512_storeu_pd(lane.as_mut_ptr(), *sums) };
        }
    }

    #[inline(always)]
    unsafe fn add(&mut self, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
        // SAFETY: as the caller's.
        unsafe {
            self.0[0] = _mm512_add_pd(self.0[0], Self::products::<0>(cells, offsets, values));
            self.0[1] = _mm512_add_pd(self.0[1], Self::products::<4>(cells, offsets, values));
        }
    }

    #[inline(always)]
    unsafe fn add_first(&mut self, n: usize, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
        let masks = [first_places(2 * n), first_places(2 * n.saturating_sub(4))];
        // SAFETY: as the caller's.
        unsafe {
            self.0[0] = self.0[0].plus_where(masks[0], Self::products::<0>(cells, offsets, values));
            self.0[1] = self.0[1].plus_where(masks[1], Self::products::<4>(cells, offsets, values));
        }
    }

    #[inline(always)]
    unsafe fn totals(&self, totals: &mut [f64; 8]) {
        // SAFETY: as the caller's; there is room for eight.
        unsafe {
            let sums = _mm512_add_pd(self.0[0], self.0[1]);
            let sums = _mm256_add_pd(_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums));
            let sums = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd::<1>(sums));
            sums.store(totals.as_mut_ptr());
        }
    }
}

/// No second block.
impl Group for () {
    const STRIDE: usize = 0;

    unsafe fn zero() -> Self {}
    unsafe fn load(_lanes: &[[f64; 8]; 8]) -> Self {}
    unsafe fn store(&self, _lanes: &mut [[f64; 8]; 8]) {}
    unsafe fn add(&mut self, _cells: *const f64, _offsets: &[u32; 8], _values: &[f64; 8]) {}
    unsafe fn add_first(&mut self, _n: usize, _cells: *const f64, _offsets: &[u32; 8], _values: &[f64; 8]) {}
    unsafe fn totals(&self, _totals: &mut [f64; 8]) {}
}

#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_blocks(sums: &mut Sums, blocks: &[Block], width: usize, features: &[u32], values: &[f64]) {
    let nothing = [];
    match blocks {
        [a] if a.stride == 2 => {
            add_groups::<Pairs, ()>(sums, [&a.cells, &nothing], width, features, values);
        }
        [a] if a.stride == 4 => {
            add_groups::<Each<__m256d>, ()>(sums, [&a.cells, &nothing], width, features, values);
        }
        [a] => add_groups::<Each<__m512d>, ()>(sums, [&a.cells, &nothing], width, features, values),
        [a, b] => {
            let cells = [&a.cells[..], &b.cells[..]];
            match b.stride {
                2 => add_groups::<Each<__m512d>, Pairs>(sums, cells, width, features, values),
                4 => add_groups::<Each<__m512d>, Each<__m256d>>(sums, cells, width, features, values),
                _ => add_groups::<Each<__m512d>, Each<__m512d>>(sums, cells, width, features, values),
            }
        }
        _ => unreachable!("one block or two"),
    }
}

/// Needs cells of the strides that `A` and `B` have, and looks whether there are enough.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512vl")]
fn add_groups<A: Group, B: Group>(
    sums: &mut Sums,
    cells: [&[f64]; 2],
    width: usize,
    features: &[u32],
    values: &[f64],
) {
    assert!(width * A::STRIDE <= cells[0].len() && width * B::STRIDE <= cells[1].len(), "cells for all");
    assert!(features.len() == values.len(), "a value per feature");
    let mut room = Offsets::new();
    offsets(features, width, &mut room);
    let [first, second] = cells.map(<[f64]>::as_ptr);
    let (eights, last) = values.as_chunks::<8>();
    // SAFETY: this is compiled for AVX-512. This many eights of offsets were written, all of features below `width`
    // or of the first one, and there is one if there is an entry; the cells were seen to have these.
    unsafe {
        let (mut a, mut b) = if sums.begun {
            (A::load(&sums.lanes[0]), B::load(&sums.lanes[1]))
        } else {
            (A::zero(), B::zero())
        };
        let offsets = room.first(values.len().next_multiple_of(8)).as_chunks::<8>().0;
        for (offsets, values) in offsets.iter().zip(eights) {
            a.add(first, offsets, values);
            b.add(second, offsets, values);
        }
        if let (false, Some(offsets)) = (last.is_empty(), offsets.last()) {
            let values = stored(up_to_eight_doubles(last));
            a.add_first(last.len(), first, offsets, &values);
            b.add_first(last.len(), second, offsets, &values);
        }
        a.store(&mut sums.lanes[0]);
        b.store(&mut sums.lanes[1]);
        let ([low, high], _) = sums.totals.as_chunks_mut::<8>() else { unreachable!("two eights") };
        a.totals(low);
        b.totals(high);
    }
    sums.begun = true;
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn change_blocks(
    blocks: &mut [Block],
    changes: &[Change],
    width: usize,
    features: &[u32],
    values: &[f64],
) {
    assert!(features.len() == values.len(), "a value per feature");
    let mut room = Offsets::new();
    offsets(features, width, &mut room);
    // SAFETY: this many were written.
    let offsets = unsafe { room.first(features.len()) };
    for (Block { stride, cells }, change) in blocks.iter_mut().zip(changes) {
        if change.outputs == 0 {
            continue;
        }
        assert!(width * *stride <= cells.len(), "cells for all");
        let cells = cells.as_mut_ptr();
        // SAFETY: this is compiled for AVX-512, all features are below `width`, and there are cells for these.
        unsafe {
            match stride {
                2 => change_each::<__m128d>(cells, change, offsets, values),
                4 => change_each::<__m256d>(cells, change, offsets, values),
                8 => change_each::<__m512d>(cells, change, offsets, values),
                _ => unreachable!("no other strides where there are several outputs"),
            }
        }
    }
}

/// All places of a feature are written: a masked store could not be read before it is done. What does not change
/// gains -0, the one number that leaves every other as it is, zeros of both signs included.
///
/// # Safety
/// The processor has AVX-512, and the cells have the stride of the register and the features of all offsets.
#[inline(always)]
unsafe fn change_each<R: Register>(cells: *mut f64, change: &Change, offsets: &[u32], values: &[f64]) {
    // SAFETY: as the caller's; there are eight amounts.
    unsafe {
        let (amounts, nothing) = (R::load(change.amounts.as_ptr()), R::splat(-0.0));
        for (&offset, &value) in offsets.iter().zip(values) {
            let place = cells.byte_add(offset as usize * (R::N / 2));
            let products = amounts.times_where(change.outputs, R::splat(value), nothing);
            R::load(place).plus(products).store(place);
        }
    }
}

#[target_feature(enable = "avx512f")]
pub(super) fn add_many(
    lanes: &mut Lanes,
    columns: Columns<'_>,
    outputs: Range<usize>,
    features: &[u32],
    values: &[f64],
) {
    if outputs.len() <= SWEEP / 2 {
        add_halves::<1>(lanes, columns, outputs, features, values);
    } else {
        add_halves::<2>(lanes, columns, outputs, features, values);
    }
}

/// For up to eight outputs, or up to sixteen: as many as find a register for every lane.
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn add_halves<const N: usize>(
    lanes: &mut Lanes,
    columns: Columns<'_>,
    outputs: Range<usize>,
    features: &[u32],
    values: &[f64],
) {
    let Columns { weights, width, n_outputs } = columns;
    let n = outputs.len();
    assert!(n <= N * 8 && outputs.end <= n_outputs && width * n_outputs <= weights.len());
    let present = [first_places(n), first_places(n.saturating_sub(8))];
    let first = &weights[outputs.start..];
    let mut sums = [[_mm512_setzero_pd(); N]; 8];
    for (sums, lane) in sums.iter_mut().zip(&lanes.0) {
        for (half, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the sums of a lane are sixteen, aligned to a register.
            *sum = unsafe { _mm512_load_pd(lane.as_ptr().add(8 * half)) };
        }
    }
    let add = |sums: &mut [__m512d; N], feature: u32, value: f64| {
        assert!((feature as usize) < width, "{TOO_WIDE}");
        let value = _mm512_set1_pd(value);
        for half in 0..N {
            // SAFETY: only what is present is read, which ends with the last of these outputs' weights for a
            // feature that there is.
            let weights = unsafe {
                let from = first.as_ptr().add(feature as usize * n_outputs + 8 * half);
                _mm512_maskz_loadu_pd(present[half], from)
            };
            sums[half] = _mm512_add_pd(sums[half], _mm512_mul_pd(weights, value));
        }
    };
    let (features, last_features) = features.as_chunks::<8>();
    let (values, last_values) = values.as_chunks::<8>();
    for (features, values) in features.iter().zip(values) {
        for lane in 0..8 {
            add(&mut sums[lane], features[lane], values[lane]);
        }
    }
    for (place, (sums, lane)) in sums.iter_mut().zip(&mut lanes.0).enumerate() {
        if let (Some(&feature), Some(&value)) = (last_features.get(place), last_values.get(place)) {
            add(sums, feature, value);
        }
        for (half, sum) in sums.iter().enumerate() {
            // SAFETY: as above.
            unsafe { _mm512_store_pd(lane.as_mut_ptr().add(8 * half), *sum) };
        }
    }
}
