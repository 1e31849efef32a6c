//! What one look at sparse rows finds out: memory is slower than all that is asked of them, so that it is asked at once.

use super::dataset::{MatrixRef, SparseRef};
use rosenblatt_core::{Value, Work, announce, widest};
use std::ops::Range;

const LANES: usize = 8;

/// How many entries before its turn an entry is asked for: the memory does not guess by itself how quickly it is wanted.
const AHEAD: usize = 384;

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
        self.take(features, values, |_, _| ());
        features.len() as u64
    }

    /// The same, and lets `also` see the entries, eight at a time and then the rest.
    #[inline(always)]
    fn take<T: Value>(&mut self, features: &[u32], values: &[T], mut also: impl FnMut(&[u32], &[T])) {
        // Each by a name of its own, so that every one finds a register.
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.0;
        let (eights, last) = features.as_chunks::<LANES>();
        let (value_eights, values_last) = values.as_chunks::<LANES>();
        for (features, values) in eights.iter().zip(value_eights) {
            also(features, values);
            a = taken(a, features[0], values[0].wide());
            b = taken(b, features[1], values[1].wide());
            c = taken(c, features[2], values[2].wide());
            d = taken(d, features[3], values[3].wide());
            e = taken(e, features[4], values[4].wide());
            f = taken(f, features[5], values[5].wide());
            g = taken(g, features[6], values[6].wide());
            h = taken(h, features[7], values[7].wide());
        }
        self.0 = [a, b, c, d, e, f, g, h];
        also(last, values_last);
        for (lane, (&feature, value)) in self.0.iter_mut().zip(last.iter().zip(values_last)) {
            *lane = taken(*lane, feature, value.wide());
        }
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
    /// Whether the indices of every row ascend, and stay below the number of features.
    pub is_sound: bool,
    /// Whether a row stores a zero.
    pub stores_zeros: bool,
    /// Whether all values are finite.
    pub is_finite: bool,
    /// All entries, row after row.
    pub digest: EntryDigest,
}

impl Default for Look {
    fn default() -> Self {
        Self { is_sound: true, stores_zeros: false, is_finite: true, digest: EntryDigest::default() }
    }
}

impl Look {
    /// Looks at some sparse rows, which are the next ones.
    pub fn add(&mut self, rows: MatrixRef<'_>, part: Range<usize>) {
        *self = match rows {
            MatrixRef::Sparse32(rows) => widest(Looking { look: *self, rows, part }),
            MatrixRef::Sparse64(rows) => widest(Looking { look: *self, rows, part }),
            MatrixRef::Dense32(_) | MatrixRef::Dense64(_) => unreachable!("only sparse rows are looked at"),
        };
    }
}

/// A look at some sparse rows. All is asked of an entry at once, so that the memory is waited for once.
struct Looking<'a, T> {
    look: Look,
    rows: SparseRef<'a, T>,
    part: Range<usize>,
}

impl<T: Value> Work for Looking<'_, T> {
    type Output = Look;

    #[inline(always)]
    fn run(self) -> Look {
        let Self { look: Look { mut is_sound, mut stores_zeros, mut is_finite, mut digest }, rows, part } =
            self;
        for bounds in rows.offsets[part.start..=part.end].windows(2) {
            let (features, values) =
                (&rows.indices[bounds[0]..bounds[1]], &rows.values[bounds[0]..bounds[1]]);
            digest.take(features, values, |features, values| {
                announce(features, AHEAD);
                announce(values, AHEAD);
                // Nothing leaves the loop early, so that many values are compared at once.
                for value in values {
                    stores_zeros |= value.wide() == 0.0;
                    is_finite &= value.wide().is_finite();
                }
            });
            let pairs = features.iter().zip(features.iter().skip(1));
            is_sound &= pairs.fold(0, |any, (one, next)| any | u32::from(one >= next)) == 0;
            is_sound &= features.last().is_none_or(|&last| (last as usize) < rows.width);
        }
        Look { is_sound, stores_zeros, is_finite, digest }
    }
}
