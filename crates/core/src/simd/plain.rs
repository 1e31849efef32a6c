//! Sums over rows, spelled out plainly: what registers of any width have to equal.
//!
//! Every sum runs in eight lanes, which the entries that are not zero take in turn, and the lanes are added in one fixed
//! tree.

use super::{ByColumns, Value, Work};
use std::mem::MaybeUninit;

/// How many partial sums a row's sum is split into.
const LANES: usize = 8;

/// How many entries are lent at once, at most.
pub(crate) const PIECE: usize = 256;
/// How many features of a dense row are looked at before it is asked whether a piece has room for more.
pub(crate) const GATHERED: usize = PIECE / 2;
/// As many as a register holds may follow the last one.
const PIECE_ROOM: usize = PIECE + LANES;

/// Room for some numbers, of which only those that were written can be read. An array would be filled with zeros first,
/// which takes longer than a short row.
pub(crate) struct Room<T, const N: usize>([MaybeUninit<T>; N]);

impl<T: Copy, const N: usize> Room<T, N> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; N])
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, place: usize, value: T) {
        self.0[place].write(value);
    }

    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// The first `n`.
    ///
    /// # Safety
    /// They were all written.
    #[inline(always)]
    #[expect(unsafe_code, reason = "only the caller knows that they were written")]
    pub(crate) unsafe fn first(&self, n: usize) -> &[T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0[..n].as_ptr().cast(), n) }
    }
}

/// Some entries of a row, features and values apart.
pub(crate) struct Piece {
    pub(crate) features: Room<u32, PIECE_ROOM>,
    pub(crate) values: Room<f64, PIECE_ROOM>,
    /// How many there are; all of them were written.
    pub(crate) n: usize,
}

impl Piece {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { features: Room::new(), values: Room::new(), n: 0 }
    }

    /// The first `n` entries, or all if there are no more.
    #[inline(always)]
    pub(crate) fn first(&self, n: usize) -> (&[u32], &[f64]) {
        let n = n.min(self.n);
        #[expect(unsafe_code, reason = "reading what was written")]
        // SAFETY: this many were written.
        unsafe {
            (self.features.first(n), self.values.first(n))
        }
    }

    /// Lends as many entries as fill all lanes equally, and keeps the others.
    #[inline(always)]
    pub(crate) fn lend(&mut self, mut to: impl FnMut(&[u32], &[f64])) {
        let n = self.n / LANES * LANES;
        let (features, values) = self.first(n);
        to(features, values);
        for place in n..self.n {
            let (features, values) = self.first(place + 1);
            let (feature, value) = (features[place], values[place]);
            self.features.put(place - n, feature);
            self.values.put(place - n, value);
        }
        self.n -= n;
    }
}

/// The values, [`PIECE`] at most, as doubles.
pub(crate) fn widen<'a, T: Value>(values: &[T], wide: &'a mut Room<f64, PIECE>) -> &'a [f64] {
    for (place, value) in values.iter().enumerate() {
        wide.put(place, value.wide());
    }
    #[expect(unsafe_code, reason = "reading what was written")]
    // SAFETY: this many were written just now.
    unsafe {
        wide.first(values.len())
    }
}

/// Adds those of `values` that are not zero to `piece`, the first of them being feature `first`. Plainly, but without
/// an unpredictable branch.
pub(crate) fn gather_nonzero<T: Value>(values: &[T], first: u32, piece: &mut Piece) {
    assert!(piece.n + values.len() <= PIECE, "room for all");
    for (feature, value) in (first..).zip(values) {
        piece.features.put(piece.n, feature);
        piece.values.put(piece.n, value.wide());
        piece.n += usize::from(value.wide() != 0.0);
    }
}

/// The one tree in which lanes are added.
#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Goes on with a sum over the features from `from` on. Before them there were no zeros, and `from` is a multiple of
/// eight.
#[inline(always)]
fn sum_with_zeros<T: Value>(
    row: &[T],
    from: usize,
    lanes: &mut [f64; LANES],
    term: impl Fn(usize, f64) -> f64,
) {
    let mut n = 0;
    for (feature, value) in row.iter().enumerate().skip(from) {
        // A zero adds nothing to the lane that the next entry will have.
        lanes[n % LANES] += term(feature, value.wide());
        n += usize::from(value.wide() != 0.0);
    }
}

/// Whether none of the values is zero.
#[inline(always)]
pub(crate) fn has_no_zero<T: Value>(values: &[T]) -> bool {
    values.iter().fold(true, |none, value| none & (value.wide() != 0.0))
}

/// `Σ term(j, x_j)` over a row that stores every feature.
#[inline(always)]
pub(crate) fn dense_sum<T: Value>(row: &[T], term: impl Fn(usize, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, _) = row.as_chunks::<LANES>();
    let mut from = 0;
    for chunk in chunks.iter().take_while(|chunk| has_no_zero(*chunk)) {
        for (lane, value) in chunk.iter().enumerate() {
            lanes[lane] += term(from + lane, value.wide());
        }
        from += LANES;
    }
    sum_with_zeros(row, from, &mut lanes, term);
    total(lanes)
}

/// `Σ term(j, x_j)` over a row that stores what is not zero.
#[inline(always)]
pub(crate) fn sparse_sum<T: Value>(indices: &[u32], values: &[T], term: impl Fn(usize, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (features, rest) = indices.as_chunks::<LANES>();
    let (values, values_rest) = values.as_chunks::<LANES>();
    for (features, values) in features.iter().zip(values) {
        for lane in 0..LANES {
            lanes[lane] += term(features[lane] as usize, values[lane].wide());
        }
    }
    let n = rest.len().min(values_rest.len());
    add_rest(&mut lanes, n, |place| term(rest[place] as usize, values_rest[place].wide()));
    total(lanes)
}

/// The sparse dot product. On its own: in the middle of a training loop its pointers would not all find
/// a register.
#[inline(never)]
pub(crate) fn sparse_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    sparse_sum(indices, values, |feature, value| weights[feature] * value)
}

/// [`sparse_dot`] of an unchecked row; `None` if its indices do not ascend below the number of weights,
/// or it stores a zero.
pub(crate) fn unseen_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> Option<f64> {
    let ascend = indices.is_sorted_by(|one, next| one < next);
    let known = indices.last().is_none_or(|&last| (last as usize) < weights.len());
    (ascend && known && has_no_zero(values)).then(|| sparse_dot(indices, values, weights))
}

/// The dense dot product.
#[inline(always)]
pub(crate) fn dense_dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (row_chunks, _) = row.as_chunks::<LANES>();
    let (weight_chunks, _) = weights.as_chunks::<LANES>();
    let mut from = 0;
    for (chunk, weights) in row_chunks.iter().zip(weight_chunks) {
        if !has_no_zero(chunk) {
            break;
        }
        for lane in 0..LANES {
            lanes[lane] += weights[lane] * chunk[lane].wide();
        }
        from += LANES;
    }
    sum_with_zeros(row, from, &mut lanes, |feature, value| weights[feature] * value);
    total(lanes)
}

/// The dense dot products of eight rows that lie column by column with each of these vectors of weights; false if one of
/// their features is zero.
pub(crate) struct ColumnProducts<'a, T> {
    pub(crate) columns: ByColumns<'a, T>,
    pub(crate) first: usize,
    pub(crate) weights: &'a [f64],
    pub(crate) sums: &'a mut [[f64; 8]],
}

impl<T: Value> Work for ColumnProducts<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { columns, first, weights, sums } = self;
        let mut none = true;
        for (weights, sums) in weights.chunks_exact(columns.width()).zip(sums) {
            // Four rows at a time, whose lanes all find a register.
            for half in [0, 4] {
                let mut lanes = [[0.0; 4]; LANES];
                for (column, weight) in weights.iter().enumerate() {
                    let values = &columns.eight(column, first)[half..half + 4];
                    for (lane, value) in lanes[column % LANES].iter_mut().zip(values) {
                        none &= value.wide() != 0.0;
                        *lane += weight * value.wide();
                    }
                }
                for row in 0..4 {
                    sums[half + row] = total(std::array::from_fn(|lane| lanes[lane][row]));
                }
            }
            if !none {
                return false;
            }
        }
        true
    }
}

/// `w += amount · x`.
#[inline(always)]
pub(crate) fn dense_add<T: Value>(amount: f64, row: &[T], weights: &mut [f64]) {
    for (weight, value) in weights.iter_mut().zip(row) {
        *weight += amount * value.wide();
    }
}

/// Adds the last `n < 8` terms to their lanes. Every place is spelled out, so that the lanes can stay
/// in registers; a loop would have to keep them in memory.
#[inline(always)]
fn add_rest(lanes: &mut [f64; LANES], n: usize, term: impl Fn(usize) -> f64) {
    if n & 4 == 0 {
        add_few::<0>(lanes, n, term);
    } else {
        for (lane, sum) in lanes.iter_mut().take(4).enumerate() {
            *sum += term(lane);
        }
        add_few::<4>(lanes, n - 4, term);
    }
}

/// Adds the terms of up to three places from `FROM` on.
#[inline(always)]
fn add_few<const FROM: usize>(lanes: &mut [f64; LANES], n: usize, term: impl Fn(usize) -> f64) {
    if n > 0 {
        lanes[FROM] += term(FROM);
    }
    if n > 1 {
        lanes[FROM + 1] += term(FROM + 1);
    }
    if n > 2 {
        lanes[FROM + 2] += term(FROM + 2);
    }
}
