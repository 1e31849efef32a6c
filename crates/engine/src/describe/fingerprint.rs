//! What tells one set of rows from another: a digest of their classes, weights and values.
//!
//! Only what a learner sees is taken in, row by row, zeros left out and classes by their names, so that the same
//! rows have the same fingerprint however they are stored, whatever file they came in and whether they were in
//! memory at once. It guards against mistakes, not against malice, and so it may be quick: values take eight lanes in
//! turn, of which none waits for another.

use rosenblatt_core::{Examples, Row, Work, threads, widest};
use rosenblatt_data::{Dataset, Labels, View, visit};
use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::thread::{Builder, Scope, ScopedJoinHandle};

const LANES: usize = 8;
/// How many rows are worth a thread.
const MANY: usize = 10_000;
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A digest in the making.
#[derive(Debug, Clone)]
pub(crate) struct Fingerprint {
    halves: [u64; 2],
    /// What the values come to, apart from all else.
    lanes: [u64; LANES],
    /// What each class is taken in as.
    classes: Vec<u64>,
}

/// The fingerprint of all rows of `data`, as [`Model::data_fingerprint`](crate::Model::data_fingerprint) has it.
pub fn fingerprint(data: &Dataset) -> String {
    let mut digest = Fingerprint::of(data.labels());
    digest.add_rows(data.view(), 0..data.len());
    digest.digest()
}

/// A fingerprint that is found while others work.
pub(crate) struct Finding<'scope> {
    found: OnceCell<String>,
    thread: Cell<Option<ScopedJoinHandle<'scope, String>>>,
}

impl<'scope> Finding<'scope> {
    /// One that is known already.
    pub(crate) fn known(found: String) -> Self {
        Self { found: found.into(), thread: Cell::new(None) }
    }

    /// That of all rows of `data`, on a thread of its own if they are many and there is a core to run it.
    pub(crate) fn begin<'env>(scope: &'scope Scope<'scope, 'env>, data: &'env Dataset) -> Self {
        let is_worth_it = data.len() >= MANY && threads::available() > 1;
        let started = is_worth_it
            .then(|| Builder::new().name("fingerprint".to_owned()).spawn_scoped(scope, || fingerprint(data)));
        match started {
            Some(Ok(thread)) => Self { found: OnceCell::new(), thread: Cell::new(Some(thread)) },
            Some(Err(_)) | None => Self::known(fingerprint(data)),
        }
    }

    /// The mark; waits until it is found.
    pub(crate) fn get(&self) -> &str {
        self.found.get_or_init(|| match self.thread.take().map(ScopedJoinHandle::join) {
            Some(Ok(found)) => found,
            Some(Err(cause)) => std::panic::resume_unwind(cause),
            None => unreachable!("it is known, or a thread is on it"),
        })
    }
}

/// Rows on their way into a digest.
struct TakeIn<'d, E> {
    digest: &'d mut Fingerprint,
    examples: E,
    part: Range<usize>,
}

impl<E: Examples> Work for TakeIn<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { digest, examples, part } = self;
        for idx in part {
            digest.add_row(examples.row(idx), examples.class(idx), examples.weight(idx));
        }
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        let lanes = std::array::from_fn(|lane| lane as u64);
        Self { halves: [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344], lanes, classes: Vec::new() }
    }
}

impl Fingerprint {
    /// The digest of no rows, whose classes are these.
    pub(crate) fn of(labels: &Labels) -> Self {
        Self::default().grown(labels)
    }

    /// The digest of no rows, whose classes are these, of which the first are those of this digest.
    pub(crate) fn grown(&self, labels: &Labels) -> Self {
        let number = |name: &String| {
            let mut digest = Self::default();
            digest.add_text(name.as_bytes());
            digest.settled()[0]
        };
        let new = labels.names().iter().skip(self.classes.len()).map(number);
        Self { classes: self.classes.iter().copied().chain(new).collect(), ..Self::default() }
    }

    /// Takes rows `part` of `rows` in.
    pub(crate) fn add_rows(&mut self, rows: View<'_>, part: Range<usize>) {
        visit!(rows, examples => widest(TakeIn { digest: self, examples, part }));
    }

    #[inline(always)]
    fn add_row<R: Row>(&mut self, row: R, class: u32, weight: f64) {
        let mut n_entries = 0_u64;
        let mut lanes = self.lanes;
        let take = |lane: &mut u64, feature: u32, value: f64| {
            *lane = (*lane ^ value.to_bits() ^ (u64::from(feature) + 1)).wrapping_mul(ODD).rotate_left(29);
        };
        row.pieces(|features, values| {
            let (eights, last) = features.as_chunks::<LANES>();
            let (value_eights, values_last) = values.as_chunks::<LANES>();
            for (features, values) in eights.iter().zip(value_eights) {
                for (lane, state) in lanes.iter_mut().enumerate() {
                    take(state, features[lane], values[lane]);
                }
            }
            for (state, (&feature, &value)) in lanes.iter_mut().zip(last.iter().zip(values_last)) {
                take(state, feature, value);
            }
            n_entries += features.len() as u64;
        });
        self.lanes = lanes;
        // Their number keeps rows from running into each other.
        self.add(n_entries);
        self.add(self.classes.get(class as usize).copied().unwrap_or(u64::from(class)));
        self.add(weight.to_bits());
    }

    /// Takes 64 bits in.
    #[inline(always)]
    pub(crate) fn add(&mut self, bits: u64) {
        let [first, second] = &mut self.halves;
        *first = (*first ^ bits).wrapping_mul(ODD).rotate_left(29);
        *second = second.wrapping_add(bits).wrapping_mul(0xBF58_476D_1CE4_E5B9).rotate_left(37);
    }

    /// Takes text in.
    pub(crate) fn add_text(&mut self, text: &[u8]) {
        for byte in text {
            self.add(u64::from(*byte));
        }
        self.add(text.len() as u64);
    }

    /// The digest so far.
    fn settled(&self) -> [u64; 2] {
        let mut settled = Self { classes: Vec::new(), ..*self };
        self.lanes.iter().for_each(|lane| settled.add(*lane));
        // The last bits taken in must reach all others.
        (0..4).for_each(|round| settled.add(round));
        let [first, second] = settled.halves;
        [first ^ second.rotate_left(32), second]
    }

    /// All that is needed to [go on](Self::gone_on) from here.
    pub(crate) fn so_far(&self) -> String {
        let digits: Vec<String> =
            self.halves.iter().chain(&self.lanes).map(|bits| format!("{bits:016x}")).collect();
        digits.concat()
    }

    /// This digest of no rows, gone on to where another one stood; `None` if that is no place.
    pub(crate) fn gone_on(self, so_far: &str) -> Option<Self> {
        let read = |place: usize| {
            let digits = so_far.get(16 * place..16 * (place + 1))?;
            u64::from_str_radix(digits, 16).ok()
        };
        let bits: Vec<u64> = (0..2 + LANES).map(read).collect::<Option<_>>()?;
        let (halves, lanes) = bits.split_at(2);
        Some(Self { halves: halves.try_into().ok()?, lanes: lanes.try_into().ok()?, ..self })
    }

    /// The digest so far, as text.
    pub(crate) fn digest(&self) -> String {
        let [first, second] = self.settled();
        format!("{first:016x}{second:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::{DenseExamples, SparseExamples};

    fn digest(view: View<'_>) -> String {
        let labels = Labels::in_order(["ham", "spam"]);
        let mut whole = Fingerprint::of(&labels);
        whole.add_rows(view, 0..view.len());
        let mut pieces = Fingerprint::of(&labels);
        pieces.add_rows(view, 0..1);
        pieces.add_rows(view, 1..view.len());
        assert_eq!(whole.digest(), pieces.digest());
        whole.digest()
    }

    #[test]
    fn storage_does_not_matter_and_everything_else_does() {
        let values = [1.0, 0.0, 2.0, 0.0, 3.0, 0.5];
        let dense = digest(View::Dense64(DenseExamples::new(&values, 3, &[0, 1])));
        let single = values.map(|value| value as f32);
        assert_eq!(dense, digest(View::Dense32(DenseExamples::new(&single, 3, &[0, 1]))));
        let (offsets, indices, stored) = ([0, 2, 4], [0, 2, 1, 2], [1.0, 2.0, 3.0, 0.5]);
        let sparse = |indices: &[u32], classes: &[u32]| {
            digest(View::Sparse64(SparseExamples::new(&offsets, indices, &stored, 4, classes)))
        };
        assert_eq!(dense, sparse(&indices, &[0, 1]));
        assert_ne!(dense, sparse(&indices, &[1, 1]));
        assert_ne!(dense, sparse(&[0, 1, 1, 2], &[0, 1]));
        let weighted = DenseExamples::new(&values, 3, &[0, 1]).with_weights(&[1.0, 2.0]);
        assert_ne!(dense, digest(View::Dense64(weighted)));
        let elsewhere = SparseExamples::new(&[0, 3, 4], &[0, 1, 2, 2], &stored, 3, &[0, 1]);
        assert_ne!(dense, digest(View::Sparse64(elsewhere)));
    }

    #[test]
    fn classes_count_by_name() {
        let rows = [[1.0], [2.0]];
        let sorted = fingerprint(&Dataset::from_rows(&rows, &["ham", "spam"]));
        let mut numbered_otherwise = Fingerprint::of(&Labels::in_order(["spam", "ham"]));
        numbered_otherwise.add_rows(View::Dense64(DenseExamples::new(&[1.0, 2.0], 1, &[1, 0])), 0..2);
        assert_eq!(sorted, numbered_otherwise.digest());
        assert_ne!(sorted, fingerprint(&Dataset::from_rows(&rows, &["spam", "ham"])));
        assert_ne!(sorted, fingerprint(&Dataset::from_rows(&rows, &["ham", "eggs"])));
    }
}
