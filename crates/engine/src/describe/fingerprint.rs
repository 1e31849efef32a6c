//! What tells one set of rows from another: a digest of their classes, weights and values.
//!
//! Only what a learner sees is taken in, row by row, zeros left out and classes by their names, so that the same
//! rows have the same fingerprint however they are stored, whatever file they came in and whether they were in
//! memory at once.

use rosenblatt_core::{Examples, Row, threads};
use rosenblatt_data::{Dataset, EntryDigest, Labels, MatrixRef, SparseRef, View, visit};
use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// How many rows are worth a thread.
const MANY: usize = 10_000;
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A digest in the making.
#[derive(Debug, Clone)]
pub(crate) struct Fingerprint {
    halves: [u64; 2],
    /// What the values come to, apart from all else.
    entries: EntryDigest,
    /// What each class is taken in as.
    classes: Vec<u64>,
}

/// The fingerprint of all rows of `data`, as [`Model::data_fingerprint`](crate::Model::data_fingerprint) has it.
pub fn fingerprint(data: &Dataset) -> String {
    let mut digest = Fingerprint::of(data.labels());
    match (data.look(), data.matrix()) {
        (
            Some(look),
            MatrixRef::Sparse32(SparseRef { offsets, .. }) | MatrixRef::Sparse64(SparseRef { offsets, .. }),
        ) => digest.add_seen(look.digest, offsets, data),
        _ => digest.add_rows(data.view(), 0..data.len()),
    }
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
        let is_worth_it = data.len() >= MANY && data.look().is_none() && threads::available() > 1;
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

impl Default for Fingerprint {
    fn default() -> Self {
        let (entries, classes) = (EntryDigest::default(), Vec::new());
        Self { halves: [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344], entries, classes }
    }
}

impl Fingerprint {
    /// The digest of no rows, whose classes are these.
    pub(crate) fn of(labels: &Labels) -> Self {
        Self::default().grown(labels)
    }

    /// The digest of no rows, whose classes are these, of which the first are those of this digest.
    pub(crate) fn grown(&self, labels: &Labels) -> Self {
        let new = labels.names().iter().skip(self.classes.len()).map(|name| Self::number(name));
        Self { classes: self.classes.iter().copied().chain(new).collect(), ..Self::default() }
    }

    /// Makes it the digest of no rows, of one class more.
    pub(crate) fn take_in(&mut self, name: &str) {
        let mut classes = std::mem::take(&mut self.classes);
        classes.push(Self::number(name));
        *self = Self { classes, ..Self::default() };
    }

    /// What stands for a class of this name.
    fn number(name: &str) -> u64 {
        let mut digest = Self::default();
        digest.add_text(name.as_bytes());
        digest.settled()[0]
    }

    /// Takes rows `part` of `rows` in. Not in wide registers, which multiply whole numbers of 64 bits more slowly.
    pub(crate) fn add_rows(&mut self, rows: View<'_>, part: Range<usize>) {
        visit!(rows, examples => {
            for idx in part {
                self.add_row(examples.row(idx), examples.class(idx), examples.weight(idx));
            }
        });
    }

    /// Takes all rows in whose entries were taken in before.
    fn add_seen(&mut self, entries: EntryDigest, offsets: &[usize], data: &Dataset) {
        self.entries = entries;
        for (row, bounds) in offsets.windows(2).enumerate() {
            let weight = data.weights().map_or(1.0, |weights| weights[row]);
            self.add_beside((bounds[1] - bounds[0]) as u64, data.classes()[row], weight);
        }
    }

    #[inline(always)]
    fn add_row<R: Row>(&mut self, row: R, class: u32, weight: f64) {
        let mut n_entries = 0_u64;
        row.pieces(|features, values| n_entries += self.entries.add(features, values));
        // Their number keeps rows from running into each other.
        self.add_beside(n_entries, class, weight);
    }

    /// Takes in what there is of a row beside its entries.
    #[inline(always)]
    fn add_beside(&mut self, n_entries: u64, class: u32, weight: f64) {
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
        self.entries.0.iter().for_each(|lane| settled.add(*lane));
        // The last bits taken in must reach all others.
        (0..4).for_each(|round| settled.add(round));
        let [first, second] = settled.halves;
        [first ^ second.rotate_left(32), second]
    }

    /// All that is needed to [go on](Self::gone_on) from here.
    pub(crate) fn so_far(&self) -> String {
        let digits: Vec<String> =
            self.halves.iter().chain(&self.entries.0).map(|bits| format!("{bits:016x}")).collect();
        digits.concat()
    }

    /// This digest of no rows, gone on to where another one stood; `None` if that is no place.
    pub(crate) fn gone_on(self, so_far: &str) -> Option<Self> {
        let read = |place: usize| {
            let digits = so_far.get(16 * place..16 * (place + 1))?;
            u64::from_str_radix(digits, 16).ok()
        };
        let bits: Vec<u64> = (0..2 + self.entries.0.len()).map(read).collect::<Option<_>>()?;
        let (halves, lanes) = bits.split_at(2);
        let entries = EntryDigest(lanes.try_into().ok()?);
        Some(Self { halves: halves.try_into().ok()?, entries, ..self })
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
    use rosenblatt_data::{Lender, Look, SparseMatrix};
    use std::sync::Arc;

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
    fn rows_that_were_looked_at_before_have_the_same() {
        #[derive(Debug)]
        struct Seen(SparseMatrix<f32>, bool);
        impl Lender for Seen {
            fn lend(&self) -> MatrixRef<'_> {
                let SparseMatrix { offsets, indices, values, width } = &self.0;
                MatrixRef::Sparse32(SparseRef { offsets, indices, values, width: *width })
            }

            fn look(&self) -> Option<Look> {
                let mut look = Look::default();
                let n_rows = self.lend().n_rows();
                (0..n_rows).step_by(7).for_each(|first| look.add(self.lend(), first..n_rows.min(first + 7)));
                self.1.then_some(look)
            }
        }
        let mut random = rosenblatt_core::Random::new(5);
        let (mut offsets, mut indices, mut values) = (vec![0], vec![], vec![]);
        for row in 0..40 {
            // Rows of none, of a few and of more entries than are lent at once.
            let share = [0.0, 0.01, 0.5, 0.9][row % 4];
            indices.extend((0..600).filter(|_| random.unit() < share));
            values.resize_with(indices.len(), || random.unit() as f32 - 2.0);
            offsets.push(indices.len());
        }
        let classes: Vec<u32> = (0..40).map(|row| row % 2).collect();
        let found = |is_seen: bool, weights: &[f64], culprit: f32| {
            let mut values = values.clone();
            values[100] = culprit;
            let rows =
                SparseMatrix { offsets: offsets.clone(), indices: indices.clone(), values, width: 600 };
            let lender = Arc::new(Seen(rows, is_seen));
            let data = Dataset::of_lender(lender, classes.clone(), Labels::in_order(["ham", "spam"]));
            fingerprint(&data.with_weights(weights.to_vec()))
        };
        let (one, other) = (vec![1.0; 40], vec![2.0; 40]);
        for (weights, value) in [(&one, 1.0), (&other, 1.0), (&one, 3.0), (&one, 0.0), (&one, f32::NAN)] {
            assert_eq!(found(true, weights, value), found(false, weights, value));
        }
        assert_ne!(found(true, &one, 1.0), found(true, &other, 1.0));
        assert_ne!(found(true, &one, 1.0), found(true, &one, 3.0));
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
