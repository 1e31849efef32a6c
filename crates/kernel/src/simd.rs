//! Sums over the features of one row with many rows at once, in the widest registers the processor has.
//!
//! The rows on one side are packed side by side in panels of [`PANEL`], so that a register holds one feature of
//! several rows. Every value of the result is its own chain of additions, feature by feature in ascending order,
//! products fused with their additions. So it has the same bits wherever its row stands in a panel, however many
//! others are computed beside it, in registers of any width or in none, dense or sparse: a feature that is zero
//! adds exactly nothing. [`plain`] is the same chain for a single pair, in plain words.

use crate::kernels::Sum;

/// How many rows stand side by side in a panel.
pub const PANEL: usize = 48;

/// How many rows on the other side are met in one sweep, at most.
pub(crate) const SWEEP: usize = 8;

/// One step of a sum.
trait Step: Copy {
    fn plain(sum: f64, x: f64, y: f64) -> f64;

    /// # Safety
    /// The processor has what `L` needs.
    #[expect(unsafe_code, reason = "registers that not every processor has")]
    unsafe fn lanes<L: Lanes>(sum: L, x: L, y: L) -> L;
}

/// Some doubles in a register.
///
/// # Safety
/// The processor has the registers, for every function below.
#[expect(unsafe_code, reason = "registers that not every processor has")]
trait Lanes: Copy {
    /// How many.
    const N: usize;
    unsafe fn splat(value: f64) -> Self;
    /// The pointer is good for `N` doubles.
    unsafe fn load(from: *const f64) -> Self;
    /// The pointer is good for `N` doubles.
    unsafe fn store(self, to: *mut f64);
    /// `x·y + self`, rounded once.
    unsafe fn fused(self, x: Self, y: Self) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn distance(self, other: Self) -> Self;
    unsafe fn smaller(self, other: Self) -> Self;
}

#[derive(Clone, Copy)]
struct Products;
#[derive(Clone, Copy)]
struct Distances;
#[derive(Clone, Copy)]
struct Minima;

macro_rules! step {
    ($name:ident, |$sum:ident, $x:ident, $y:ident| $plain:expr, $lanes:expr) => {
        impl Step for $name {
            #[inline(always)]
            fn plain($sum: f64, $x: f64, $y: f64) -> f64 {
                $plain
            }

            #[inline(always)]
            #[expect(unsafe_code, reason = "registers that not every processor has")]
            unsafe fn lanes<L: Lanes>($sum: L, $x: L, $y: L) -> L {
                // SAFETY: as the caller's.
                unsafe { $lanes }
            }
        }
    };
}

step!(Products, |sum, x, y| x.mul_add(y, sum), sum.fused(x, y));
step!(Distances, |sum, x, y| sum + (x - y).abs(), sum.plus(x.distance(y)));
step!(Minima, |sum, x, y| sum + if x < y { x } else { y }, sum.plus(x.smaller(y)));

/// The sum over two dense rows of equal length, one feature after the other.
pub(crate) fn plain(sum: Sum, one: &[f64], other: &[f64]) -> f64 {
    fn all<S: Step>(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).fold(0.0, |sum, (x, y)| S::plain(sum, *x, *y))
    }
    // Without it, a fused product is a call into a library.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "fma")]
    fn all_fused(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).fold(0.0, |sum, (x, y)| x.mul_add(*y, sum))
    }
    match sum {
        #[cfg(target_arch = "x86_64")]
        Sum::Products if std::arch::is_x86_feature_detected!("fma") => {
            #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
            // SAFETY: the one thing it needs is a processor with FMA, and this one has it.
            unsafe {
                all_fused(one, other)
            }
        }
        Sum::Products | Sum::Rows => all::<Products>(one, other),
        Sum::Distances => all::<Distances>(one, other),
        Sum::Minima => all::<Minima>(one, other),
    }
}

/// The sums of dense `rows`, all as long as the panel has features, with the rows of `panel`. `out` has room for a
/// panel of results per row.
pub(crate) fn dense(sum: Sum, rows: &[&[f64]], panel: &[f64], out: &mut [f64]) {
    let n_features = panel.len() / PANEL;
    assert!(out.len() == rows.len() * PANEL, "a panel of results per row");
    assert!(rows.iter().all(|row| row.len() == n_features), "rows as long as the panel");
    with_widest(sum, Dense { rows, panel, out });
}

/// A sparse row: features, ascending, and values.
pub(crate) type Entries<'a> = (&'a [u32], &'a [f64]);

/// The sums of sparse rows with the rows of `panel`, whose features are at the places `places` says
/// ([`ABSENT`] where it has none). Not for [`Sum::Distances`], to which features count that only one side has.
pub(crate) fn sparse(sum: Sum, rows: &[Entries<'_>], places: Option<&[u32]>, panel: &[f64], out: &mut [f64]) {
    assert!(out.len() == rows.len() * PANEL, "a panel of results per row");
    assert!(rows.iter().all(|(indices, values)| indices.len() == values.len()), "a value per feature");
    for (rows, out) in rows.chunks(FEW).zip(out.chunks_mut(FEW * PANEL)) {
        with_widest(sum, Sparse { rows, places, panel, out });
    }
}

/// How many sparse rows, and how many features of a panel, are met at a time: their sums and its values fit the
/// nearest cache together.
const FEW: usize = 32;
const FEATURES: usize = 64;

/// The place of a feature that a panel does not have.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Work that can be done in registers of any width. `run` must be `#[inline(always)]`.
trait Work {
    /// # Safety
    /// The processor has what `L` needs.
    #[expect(unsafe_code, reason = "registers that not every processor has")]
    unsafe fn run<S: Step, L: Lanes>(self);
}

fn with_widest<W: Work>(sum: Sum, work: W) {
    match sum {
        Sum::Products | Sum::Rows => widest::<Products, W>(work),
        Sum::Distances => widest::<Distances, W>(work),
        Sum::Minima => widest::<Minima, W>(work),
    }
}

#[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
fn widest<S: Step, W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX-512.
            return unsafe { x86::with_avx512::<S, W>(work) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA.
            return unsafe { x86::with_avx2::<S, W>(work) };
        }
    }
    // SAFETY: arrays need nothing of the processor.
    unsafe { work.run::<S, [f64; 4]>() }
}

/// Sums of dense rows.
struct Dense<'a> {
    rows: &'a [&'a [f64]],
    panel: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Dense<'_> {
    #[inline(always)]
    #[expect(unsafe_code, reason = "registers that not every processor has")]
    unsafe fn run<S: Step, L: Lanes>(self) {
        // Three registers of the panel at a time: 3 x 8 sums where there are 32 registers, else 3 x 4.
        let (mut rows, mut out) = (self.rows, self.out);
        while !rows.is_empty() {
            let n_rows = match rows.len() {
                n if n >= 8 && L::N == 8 => 8,
                n if n >= 4 => 4,
                n if n >= 2 => 2,
                _ => 1,
            };
            let (here, rest) = rows.split_at(n_rows);
            let (out_here, out_rest) = out.split_at_mut(n_rows * PANEL);
            for first in (0..PANEL).step_by(3 * L::N) {
                // SAFETY: as the caller's; the lengths were checked before.
                unsafe {
                    match n_rows {
                        8 => tile::<S, L, 8>(here, self.panel, first, out_here),
                        4 => tile::<S, L, 4>(here, self.panel, first, out_here),
                        2 => tile::<S, L, 2>(here, self.panel, first, out_here),
                        _ => tile::<S, L, 1>(here, self.panel, first, out_here),
                    }
                }
            }
            (rows, out) = (rest, out_rest);
        }
    }
}

/// `M` rows with three registers full of panel rows, from row `first` on.
///
/// # Safety
/// The processor has what `L` needs; every row is as long as the panel has features, and `first + 3 N` is at most
/// [`PANEL`].
#[inline(always)]
#[expect(unsafe_code, reason = "registers are filled through pointers")]
unsafe fn tile<S: Step, L: Lanes, const M: usize>(
    rows: &[&[f64]],
    panel: &[f64],
    first: usize,
    out: &mut [f64],
) {
    let n_features = panel.len() / PANEL;
    let rows: [*const f64; M] = std::array::from_fn(|row| rows[row].as_ptr());
    debug_assert!(first + 3 * L::N <= PANEL && out.len() == M * PANEL);
    // SAFETY: as the caller's. Feature `k` of the panel is at `k * PANEL`, and all three registers end before the
    // next; results are stored where `out` has room for them.
    unsafe {
        let mut sums = [[L::splat(0.0); 3]; M];
        let mut from = panel.as_ptr().add(first);
        for feature in 0..n_features {
            let others = [L::load(from), L::load(from.add(L::N)), L::load(from.add(2 * L::N))];
            for (sums, row) in sums.iter_mut().zip(rows) {
                let value = L::splat(*row.add(feature));
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = S::lanes(*sum, value, other);
                }
            }
            from = from.add(PANEL);
        }
        for (row, sums) in sums.iter().enumerate() {
            for (part, sum) in sums.iter().enumerate() {
                sum.store(out.as_mut_ptr().add(row * PANEL + first + part * L::N));
            }
        }
    }
}

/// Sums of sparse rows.
struct Sparse<'a> {
    rows: &'a [Entries<'a>],
    places: Option<&'a [u32]>,
    panel: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Sparse<'_> {
    #[inline(always)]
    #[expect(unsafe_code, reason = "registers that not every processor has")]
    unsafe fn run<S: Step, L: Lanes>(self) {
        let Self { rows, places, panel, out } = self;
        out.fill(0.0);
        let mut next = [0; FEW];
        for end in (0..panel.len() / PANEL).step_by(FEATURES).map(|first| first + FEATURES) {
            for (((indices, values), next), out) in
                rows.iter().zip(&mut next).zip(out.chunks_exact_mut(PANEL))
            {
                // SAFETY: as the caller's.
                *next = unsafe {
                    if let Some(places) = places {
                        let place = |feature: u32| places[feature as usize];
                        scatter::<S, L>(indices, values, *next, end, place, panel, out)
                    } else {
                        scatter::<S, L>(indices, values, *next, end, |feature| feature, panel, out)
                    }
                };
            }
        }
    }
}

/// Adds the entries of a row from number `from` on, up to place `end` of the panel, to its sums with all rows of the
/// panel. Says at which entry to go on.
///
/// # Safety
/// The processor has what `L` needs.
#[inline(always)]
#[expect(unsafe_code, reason = "registers are filled through pointers")]
unsafe fn scatter<S: Step, L: Lanes>(
    indices: &[u32],
    values: &[f64],
    from: usize,
    end: usize,
    place: impl Fn(u32) -> u32,
    panel: &[f64],
    out: &mut [f64],
) -> usize {
    let mut reached = from;
    for first in (0..PANEL).step_by(6 * L::N) {
        let to = out[..PANEL].as_mut_ptr();
        // SAFETY: as the caller's. A feature's slice is checked to be a whole one, and six registers from `first` on
        // end with it; so do the results.
        unsafe {
            let to = to.add(first);
            let mut sums: [L; 6] = std::array::from_fn(|part| L::load(to.add(part * L::N)));
            reached = from;
            for (feature, value) in indices[from..].iter().zip(&values[from..]) {
                let place = place(*feature) as usize;
                if place >= end {
                    if place != ABSENT as usize {
                        break;
                    }
                    reached += 1;
                    continue;
                }
                reached += 1;
                let from = panel[place * PANEL..][..PANEL].as_ptr().add(first);
                let value = L::splat(*value);
                for (part, sum) in sums.iter_mut().enumerate() {
                    *sum = S::lanes(*sum, value, L::load(from.add(part * L::N)));
                }
            }
            for (part, sum) in sums.iter().enumerate() {
                sum.store(to.add(part * L::N));
            }
        }
    }
    reached
}

/// Registers that every processor has: none. Its bits are those of the others.
#[expect(unsafe_code, reason = "the same form as for registers")]
impl Lanes for [f64; 4] {
    const N: usize = 4;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        [value; 4]
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller's pointer is good for four doubles.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's pointer is good for four doubles.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    #[inline(always)]
    unsafe fn fused(self, x: Self, y: Self) -> Self {
        std::array::from_fn(|k| x[k].mul_add(y[k], self[k]))
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        std::array::from_fn(|k| self[k] + other[k])
    }

    #[inline(always)]
    unsafe fn distance(self, other: Self) -> Self {
        std::array::from_fn(|k| (self[k] - other[k]).abs())
    }

    #[inline(always)]
    unsafe fn smaller(self, other: Self) -> Self {
        std::array::from_fn(|k| if self[k] < other[k] { self[k] } else { other[k] })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "registers that not every processor has")]

    use super::{Lanes, Step, Work};
    use std::arch::x86_64::{
        __m256d, __m512d, _mm256_add_pd, _mm256_andnot_pd, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_min_pd,
        _mm256_set1_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm512_abs_pd, _mm512_add_pd, _mm512_fmadd_pd,
        _mm512_loadu_pd, _mm512_min_pd, _mm512_set1_pd, _mm512_storeu_pd, _mm512_sub_pd,
    };

    #[target_feature(enable = "avx512f,fma")]
    pub(super) fn with_avx512<S: Step, W: Work>(work: W) {
        // SAFETY: compiled for AVX-512, so the caller has seen that the processor has it.
        unsafe { work.run::<S, __m512d>() }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn with_avx2<S: Step, W: Work>(work: W) {
        // SAFETY: compiled for AVX2 and FMA, so the caller has seen that the processor has them.
        unsafe { work.run::<S, __m256d>() }
    }

    macro_rules! lanes {
        ($type:ty, $n:literal, $splat:ident $load:ident $store:ident $fused:ident $plus:ident $minus:ident
            $smaller:ident, |$difference:ident| $size:expr) => {
            impl Lanes for $type {
                const N: usize = $n;

                #[inline(always)]
                unsafe fn splat(value: f64) -> Self {
                    // SAFETY: as the caller's; so below.
                    unsafe { $splat(value) }
                }

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
                unsafe fn fused(self, x: Self, y: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $fused(x, y, self) }
                }

                #[inline(always)]
                unsafe fn plus(self, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $plus(self, other) }
                }

                #[inline(always)]
                unsafe fn distance(self, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe {
                        let $difference = $minus(self, other);
                        $size
                    }
                }

                #[inline(always)]
                unsafe fn smaller(self, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $smaller(self, other) }
                }
            }
        };
    }

    lanes!(__m512d, 8, _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_fmadd_pd _mm512_add_pd
        _mm512_sub_pd _mm512_min_pd, |difference| _mm512_abs_pd(difference));
    lanes!(__m256d, 4, _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_fmadd_pd _mm256_add_pd
        _mm256_sub_pd _mm256_min_pd, |difference| _mm256_andnot_pd(_mm256_set1_pd(-0.0), difference));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    const SUMS: [Sum; 3] = [Sum::Products, Sum::Distances, Sum::Minima];

    /// Rows of which about half the values are zero, and the same rows in a panel.
    fn rows_and_panel(random: &mut Random, width: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut value = || if random.below(2) == 0 { 0.0 } else { random.unit() * 3.0 };
        let rows: Vec<Vec<f64>> = (0..PANEL).map(|_| (0..width).map(|_| value()).collect()).collect();
        let panel = (0..width * PANEL).map(|k| rows[k % PANEL][k / PANEL]).collect();
        (rows, panel)
    }

    #[test]
    fn every_width_of_registers_gives_the_bits_of_the_plain_sum() {
        let mut random = Random::new(5);
        for width in [0, 1, 2, 7, 33, 150] {
            let (rows, panel) = rows_and_panel(&mut random, width);
            for n_rows in [1, 2, 3, 5, 8, 13, PANEL] {
                let some: Vec<&[f64]> = rows[..n_rows].iter().map(Vec::as_slice).collect();
                for sum in SUMS {
                    let mut out = vec![f64::NAN; n_rows * PANEL];
                    dense(sum, &some, &panel, &mut out);
                    let mut bare = vec![f64::NAN; n_rows * PANEL];
                    let work = Dense { rows: &some, panel: &panel, out: &mut bare };
                    #[expect(unsafe_code, reason = "arrays need nothing of the processor")]
                    // SAFETY: arrays need nothing of the processor.
                    match sum {
                        Sum::Products | Sum::Rows => unsafe { work.run::<Products, [f64; 4]>() },
                        Sum::Distances => unsafe { work.run::<Distances, [f64; 4]>() },
                        Sum::Minima => unsafe { work.run::<Minima, [f64; 4]>() },
                    }
                    for (place, value) in out.iter().enumerate() {
                        let expected = plain(sum, &rows[place / PANEL], &rows[place % PANEL]);
                        assert_eq!(value.to_bits(), expected.to_bits(), "{sum:?} {width} {n_rows} {place}");
                        assert_eq!(bare[place].to_bits(), expected.to_bits(), "{sum:?}, no registers");
                    }
                }
            }
        }
    }

    #[test]
    fn sparse_rows_give_the_bits_of_their_dense_twins() {
        let mut random = Random::new(6);
        // More features than are met at a time.
        let width = 2 * FEATURES + 7;
        let (rows, panel) = rows_and_panel(&mut random, width);
        // A panel without the features that none of its first rows has, as a block of sparse rows would make it.
        let kept: Vec<usize> = (0..width).filter(|feature| feature % 3 != 0).collect();
        let mut places = vec![ABSENT; width];
        for (place, feature) in kept.iter().enumerate() {
            places[*feature] = place as u32;
        }
        let narrow: Vec<f64> = kept.iter().flat_map(|j| panel[j * PANEL..][..PANEL].to_vec()).collect();
        for row in &rows {
            let indices: Vec<u32> = (0..width as u32).filter(|j| row[*j as usize] != 0.0).collect();
            let values: Vec<f64> = indices.iter().map(|j| row[*j as usize]).collect();
            for sum in [Sum::Products, Sum::Minima] {
                let mut out = [f64::NAN; PANEL];
                sparse(sum, &[(&indices, &values)], None, &panel, &mut out);
                for (value, other) in out.iter().zip(&rows) {
                    assert_eq!(value.to_bits(), plain(sum, row, other).to_bits());
                }
                sparse(sum, &[(&indices, &values)], Some(&places), &narrow, &mut out);
                for (value, other) in out.iter().zip(&rows) {
                    let without = |row: &[f64]| -> Vec<f64> { kept.iter().map(|j| row[*j]).collect() };
                    assert_eq!(value.to_bits(), plain(sum, &without(row), &without(other)).to_bits());
                }
            }
        }
    }
}
