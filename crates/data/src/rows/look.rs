//! What one look at sparse rows finds out: memory is slower than all that is asked of them, so that it is asked at once.

use super::dataset::{MatrixRef, SparseRef};
use rosenblatt_core::{Row, Sparse, Value};
use std::ops::Range;

const LANES: usize = 8;

/// A digest of entries, which take eight lanes in turn, of which none waits for another. It guards against mistakes, not
/// against malice, and so it may be quick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryDigest(pub [u64; LANES]);

impl Default for EntryDigest {
    fn default() -> Self {
        Self(std::array::from_fn(|lane| lane as u64))
    }
}

impl EntryDigest {
    /// Takes the entries of a row in, or a piece of them that fills all lanes equally: how many there are. Not in wide
    /// registers, which multiply whole numbers of 64 bits more slowly.
    #[inline(never)]
    pub fn add(&mut self, features: &[u32], values: &[f64]) -> u64 {
        // Each by a name of its own, so that every one finds a register.
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.0;
        let (eights, last) = features.as_chunks::<LANES>();
        let (value_eights, values_last) = values.as_chunks::<LANES>();
        for (features, values) in eights.iter().zip(value_eights) {
            a = taken(a, features[0], values[0]);
            b = taken(b, features[1], values[1]);
            c = taken(c, features[2], values[2]);
            d = taken(d, features[3], values[3]);
            e = taken(e, features[4], values[4]);
            f = taken(f, features[5], values[5]);
            g = taken(g, features[6], values[6]);
            h = taken(h, features[7], values[7]);
        }
        self.0 = [a, b, c, d, e, f, g, h];
        for (lane, (&feature, &value)) in self.0.iter_mut().zip(last.iter().zip(values_last)) {
            *lane = taken(*lane, feature, value);
        }
        features.len() as u64
    }
}

/// A lane after one more entry.
#[inline(always)]
fn taken(lane: u64, feature: u32, value: f64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    (lane ^ value.to_bits() ^ (u64::from(feature) + 1)).wrapping_mul(ODD).rotate_left(29)
}

/// What was seen of sparse rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether a row stores a zero.
    pub stores_zeros: bool,
    /// Whether all values are finite.
    pub is_finite: bool,
    /// All entries, row after row.
    pub digest: EntryDigest,
}

impl Default for Look {
    fn default() -> Self {
        Self { stores_zeros: false, is_finite: true, digest: EntryDigest::default() }
    }
}

impl Look {
    /// Looks at some sparse rows, which are the next ones.
    pub fn add(&mut self, rows: MatrixRef<'_>, part: Range<usize>) {
        match rows {
            MatrixRef::Sparse32(rows) => self.add_sparse(rows, part),
            MatrixRef::Sparse64(rows) => self.add_sparse(rows, part),
            MatrixRef::Dense32(_) | MatrixRef::Dense64(_) => unreachable!("only sparse rows are looked at"),
        }
    }

    fn add_sparse<T: Value>(&mut self, rows: SparseRef<'_, T>, part: Range<usize>) {
        let SparseRef { offsets, indices, values, .. } = rows;
        let offsets = &offsets[part.start..=part.end];
        let all = &values[offsets[0]..offsets[part.len()]];
        self.stores_zeros |= T::any_zero(all);
        self.is_finite &= T::all_finite(all);
        for bounds in offsets.windows(2) {
            let row = Sparse::new(&indices[bounds[0]..bounds[1]], &values[bounds[0]..bounds[1]]);
            row.pieces(|features, values| {
                self.digest.add(features, values);
            });
        }
    }
}
