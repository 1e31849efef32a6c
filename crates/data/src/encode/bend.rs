//! Columns of numbers that bend: each becomes a line with knots, so that a hyperplane over them is a sum of curves.
//!
//! A number becomes its hat functions (B-splines of degree 1): at a knot the hat of that knot is 1, between two knots their
//! two hats share 1 by how near they are, and beyond the outermost knots the hat there stays 1. So a row has at most two
//! values per column however many knots there are, they sum to 1, and a curve is flat where no row was: what was never seen
//! is no reason to go on rising. Hats are of one scale, so that nothing else is scaled.
//!
//! Knots stand at quantiles of the values and at quantiles of the different values; the second give knots to a column that
//! is mostly zero. Where knots are many, a column of few different values has a feature for each of them, too: 5,013 may
//! mean something else than 5,178. Of two values there is one feature, as of two categories. A missing value, if it is to be
//! ([`Missing::Own`](crate::Missing::Own)), is a feature of its own.
//!
//! What is fitted depends on the rows and their order alone. Up to 65,536 rows all count; of more, those that a hash of
//! their number draws, beside the least and the largest value of all.

use super::columns::check_width;
use crate::error::{DataError, ErrorKind};
use crate::rows::block::Stored;
use crate::rows::dataset::{DenseRef, Matrix, MatrixRef, SparseMatrix, SparseRef};
use crate::rows::schema::Schema;
use rosenblatt_core::{Choices, NameError, Named};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The shape that a column of numbers has in a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Shape {
    /// A straight line: the number times a weight.
    Line,
    /// A line with knots.
    Bend {
        /// How many quantiles of the values are knots, and how many of the different values.
        knots: u16,
    },
    /// Whichever does best in a race; a line where none is run.
    #[default]
    Auto,
}

/// So many knots are usual.
const USUAL_KNOTS: u16 = 15;
const FEWEST_KNOTS: u16 = 2;
const MOST_KNOTS: u16 = 1_000;
/// From this many knots on, columns of few values have a feature for each.
const MANY_KNOTS: u16 = 8;
/// So many values are few.
const FEW_VALUES: usize = 256;
/// A quantile of the different values is a knot if no other is within a part of the way to the next: one in so many.
const APART: usize = 3;
/// So many rows are looked at where there are more.
const MOST_ROWS: usize = 1 << 16;

const SHAPES: &str = "one of line, bend(knots=N) with N from 2 to 1000, auto";

impl Shape {
    /// Whether columns are straight.
    pub fn is_line(&self) -> bool {
        *self == Self::Line
    }
}

impl Choices for Shape {
    const WHAT: &'static str = "shape";
    const ALL: &'static [Named] = &[
        Named {
            name: "line",
            aliases: &[],
            meaning: "a straight line: the number times a weight",
            example: "line",
        },
        Named {
            name: "bend(knots=N)",
            aliases: &["bend"],
            meaning: "a line with knots at N quantiles of the values and N of the different values; with 8 or more, a \
                      column of up to 256 values has a weight for each, too",
            example: "bend(knots=15)",
        },
        Named {
            name: "auto",
            aliases: &[],
            meaning: "the one that does best in the race: line, few knots or many; line where no race is held, and where a \
                      scale or a cross is asked for",
            example: "auto",
        },
    ];
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("line"),
            Self::Bend { knots } => write!(f, "bend(knots={knots})"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Shape {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let knots = |knots: &str| {
            let knots = knots.strip_prefix("knots=").unwrap_or(knots).parse().ok();
            knots.filter(|knots| (FEWEST_KNOTS..=MOST_KNOTS).contains(knots))
        };
        let argument = name.strip_prefix("bend(").and_then(|rest| rest.strip_suffix(')'));
        match name {
            "line" => Ok(Self::Line),
            "bend" => Ok(Self::Bend { knots: USUAL_KNOTS }),
            "auto" => Ok(Self::Auto),
            _ => argument.and_then(knots).map(|knots| Self::Bend { knots }).ok_or_else(|| NameError {
                what: "shape",
                given: name.to_owned(),
                known: SHAPES,
            }),
        }
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How the columns of a table bend, once that is fitted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bends {
    /// As it was asked for.
    pub shape: Shape,
    /// One for each column of numbers, in their order.
    pub columns: Vec<Bend>,
}

/// How one column bends.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bend {
    /// The number of the feature that bends, as rows had it before.
    pub feature: u32,
    /// Where the line may bend, ascending.
    pub knots: Vec<f64>,
    /// Values that have a weight of their own, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Whether a missing value has a weight of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

impl Bend {
    /// How many knots have a hat: of two the second says all, and one says nothing.
    pub fn n_hats(&self) -> usize {
        match self.knots.len() {
            0 | 1 => 0,
            2 => 1,
            n_knots => n_knots,
        }
    }

    /// How many features the column has: hats, then values, then the missing one.
    pub fn n_features(&self) -> usize {
        self.n_hats() + self.values.len() + usize::from(self.missing)
    }

    /// The features of a value, ascending from 0, and what they are there.
    fn hats(&self, value: f64, mut push: impl FnMut(u32, f64)) {
        let n_hats = self.n_hats();
        if value.is_nan() {
            if self.missing {
                push((self.n_features() - 1) as u32, 1.0);
            }
            return;
        }
        if n_hats > 0 {
            let last = self.knots.len() - 1;
            let above = self.knots.partition_point(|knot| *knot <= value);
            let (low, share) = match above {
                0 => (0, 0.0),
                above if above > last => (last - 1, 1.0),
                above => (above - 1, share(value, self.knots[above - 1], self.knots[above])),
            };
            // Of two knots the first has no hat.
            let first = usize::from(n_hats == 1);
            for (knot, hat) in [(low, 1.0 - share), (low + 1, share)] {
                if knot >= first && hat != 0.0 {
                    push((knot - first) as u32, hat);
                }
            }
        }
        if let Ok(place) = self.values.binary_search_by(|other| other.total_cmp(&(value + 0.0))) {
            push((n_hats + place) as u32, 1.0);
        }
    }

    /// The value whose hats are these, by their place in the column: what lies beyond the knots is at the last of them.
    /// Nothing if it is missing.
    pub fn value_of(&self, hats: impl Iterator<Item = (usize, f64)>) -> Option<f64> {
        let n_hats = self.n_hats();
        let (mut sum, mut is_known) = (0.0, n_hats < 2);
        for (place, hat) in hats {
            match self.knots.get(place).filter(|_| place < n_hats) {
                Some(_) if n_hats == 1 => sum += hat * (self.knots[1] - self.knots[0]),
                Some(knot) => (sum, is_known) = (sum + hat * knot, true),
                None if self.missing && place + 1 == self.n_features() => return None,
                // Hats are rounded where rows are in single precision; a value with a weight of its own is known as it is.
                None => return self.values.get(place.checked_sub(n_hats)?).copied(),
            }
        }
        let base = if n_hats < 2 { self.knots.first().copied().unwrap_or(0.0) } else { 0.0 };
        is_known.then_some(base + sum)
    }

    /// The height of its curve at a value, by the weight of each of its features.
    pub fn height(&self, value: f64, weight: impl Fn(usize) -> f64) -> f64 {
        let mut height = 0.0;
        self.hats(value, |place, hat| height += hat * weight(place as usize));
        height
    }

    /// What its features are called, of a column that is called `name`.
    fn names<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        let hats = match self.n_hats() {
            0 => &[][..],
            1 => &self.knots[1..],
            _ => &self.knots[..],
        };
        let hats = hats.iter().map(move |knot| format!("{name}~{}", shown(*knot)));
        let values = self.values.iter().map(move |value| format!("{name}={}", shown(*value)));
        hats.chain(values).chain(self.missing.then(|| format!("{name}=missing")))
    }
}

/// How far a value is on its way from one knot to the next.
fn share(value: f64, low: f64, high: f64) -> f64 {
    let gap = high - low;
    // Numbers may be further apart than the largest of them.
    if gap.is_finite() { (value - low) / gap } else { (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) }
}

/// A number as it was written, as far as its precision tells.
fn shown(number: f64) -> String {
    let single = number as f32;
    if f64::from(single) == number { single.to_string() } else { number.to_string() }
}

impl Bends {
    /// Fits `shape` to some rows of a matrix whose features `numbers`, ascending, are numbers: those to be learned from.
    /// `None` if it is no bend, or there is no number. A missing number is `NaN`.
    ///
    /// ```
    /// use rosenblatt_data::{Bends, Dataset};
    /// let data = Dataset::from_rows(&[[0.0, 1.0], [5.0, 0.0], [10.0, 1.0]], &["a", "b", "a"]);
    /// let bends = Bends::fit("bend(knots=3)".parse()?, data.matrix(), 0..3, &[0]).unwrap();
    /// assert_eq!(bends.columns[0].knots, [0.0, 5.0, 10.0]);
    /// // Three hats of the first feature, and the second as it was.
    /// assert_eq!(data.bent(&bends).width(), 4);
    /// # Ok::<(), rosenblatt_core::NameError>(())
    /// ```
    pub fn fit(
        shape: Shape,
        matrix: MatrixRef<'_>,
        rows: impl IntoIterator<Item = usize>,
        numbers: &[u32],
    ) -> Option<Self> {
        let mut fit = BendFit::new(shape, numbers.to_vec())?;
        fit.add(matrix, rows.into_iter());
        Some(fit.finish())
    }

    /// How many features rows have that had `straight` of them.
    pub fn width(&self, straight: usize) -> usize {
        let bent: usize = self.columns.iter().map(Bend::n_features).fold(0, usize::saturating_add);
        (straight - self.columns.len().min(straight)).saturating_add(bent)
    }

    /// Where the features of a feature stand that was called by this number before.
    pub fn place(&self, feature: usize) -> Range<usize> {
        let n_before = self.columns.partition_point(|bend| (bend.feature as usize) < feature);
        let (before, rest) = self.columns.split_at(n_before);
        let start = feature - n_before + before.iter().map(Bend::n_features).sum::<usize>();
        let own = rest.first().filter(|bend| bend.feature as usize == feature);
        start..start + own.map_or(1, Bend::n_features)
    }

    /// What features are called whose columns are called `straight`.
    pub(crate) fn names(&self, straight: &[String]) -> Vec<String> {
        let mut bends = self.columns.iter().peekable();
        let of_feature = |(feature, name): (usize, &String)| match bends
            .next_if(|bend| bend.feature as usize == feature)
        {
            Some(bend) => bend.names(name).collect::<Vec<_>>(),
            None => vec![name.clone()],
        };
        straight.iter().enumerate().flat_map(of_feature).collect()
    }

    /// What is wrong with it, if anything is, for rows of these numbers.
    pub(crate) fn complaint(&self, numbers: &[u32]) -> Option<&'static str> {
        let ascend = |all: &[f64]| {
            all.iter().all(|value| value.is_finite()) && all.is_sorted_by(|one, next| one < next)
        };
        if !matches!(self.shape, Shape::Bend { .. }) {
            return Some("what bends should have a shape that does");
        }
        if !self.columns.iter().map(|bend| bend.feature).eq(numbers.iter().copied()) {
            return Some("every column of numbers should bend, and no other");
        }
        let is_sound = |bend: &Bend| ascend(&bend.knots) && ascend(&bend.values);
        (!self.columns.iter().all(is_sound)).then_some("knots should be finite and ascend")
    }

    /// The rows, bent. Values are stored as precisely as they were.
    pub(crate) fn apply(&self, matrix: MatrixRef<'_>) -> Matrix {
        match matrix {
            MatrixRef::Dense32(rows) => f32::wrap_sparse(self.of_dense(rows)),
            MatrixRef::Dense64(rows) => f64::wrap_sparse(self.of_dense(rows)),
            MatrixRef::Sparse32(rows) => f32::wrap_sparse(self.of_sparse(rows)),
            MatrixRef::Sparse64(rows) => f64::wrap_sparse(self.of_sparse(rows)),
        }
    }

    /// One row by its features and their values, ascending; zeros need not be among them.
    pub fn row(&self, entries: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let mut bent = Vec::new();
        self.each(entries.iter().copied(), |feature, value| bent.push((feature, value)));
        bent
    }

    fn of_dense<T: Stored>(&self, rows: DenseRef<'_, T>) -> SparseMatrix<T> {
        let n_rows = rows.values.len() / rows.width.max(1);
        let mut bent = SparseMatrix::<T>::with_room(n_rows * (self.columns.len() * 2 + 1));
        for row in rows.values.chunks_exact(rows.width.max(1)) {
            let entries = (0..).zip(row.iter().map(|value| value.wide()));
            self.push_row(entries.filter(|(_, value)| *value != 0.0), &mut bent);
        }
        bent.width = self.width(rows.width);
        bent
    }

    fn of_sparse<T: Stored>(&self, rows: SparseRef<'_, T>) -> SparseMatrix<T> {
        let mut bent =
            SparseMatrix::<T>::with_room(rows.values.len() + rows.offsets.len() * self.columns.len());
        for ends in rows.offsets.windows(2) {
            let (indices, values) = (&rows.indices[ends[0]..ends[1]], &rows.values[ends[0]..ends[1]]);
            self.push_row(indices.iter().copied().zip(values.iter().map(|value| value.wide())), &mut bent);
        }
        bent.width = self.width(rows.width);
        bent
    }

    fn push_row<T: Stored>(&self, entries: impl Iterator<Item = (u32, f64)>, bent: &mut SparseMatrix<T>) {
        self.each(entries, |feature, value| {
            let value = T::nearest(value);
            if value != T::default() {
                bent.indices.push(feature);
                bent.values.push(value);
            }
        });
        bent.end_row();
    }

    /// Shows the features of a row, ascending. What bends and is not among the entries is zero.
    fn each(&self, entries: impl Iterator<Item = (u32, f64)>, mut show: impl FnMut(u32, f64)) {
        let mut entries = entries.peekable();
        // Features so far, and how many they were before.
        let (mut start, mut n_before) = (0, 0);
        for bend in &self.columns {
            while let Some((feature, value)) = entries.next_if(|(feature, _)| *feature < bend.feature) {
                show(start + feature - n_before, value);
            }
            let value =
                entries.next_if(|(feature, _)| *feature == bend.feature).map_or(0.0, |(_, value)| value);
            start += bend.feature - n_before;
            bend.hats(value, |feature, value| show(start + feature, value));
            start += bend.n_features() as u32;
            n_before = bend.feature + 1;
        }
        for (feature, value) in entries {
            show(start + feature - n_before, value);
        }
    }
}

/// What fitting has seen.
#[derive(Debug)]
pub(crate) struct BendFit {
    shape: Shape,
    knots: u16,
    columns: Vec<Seen>,
    n_rows: u64,
    /// The numbers of the rows that were kept.
    kept: Vec<u64>,
    /// Rows are kept whose hash has none of these bits.
    mask: u64,
}

/// What fitting has seen of a column.
#[derive(Debug)]
struct Seen {
    feature: u32,
    /// The values of the rows that were kept.
    values: Vec<f64>,
    least: f64,
    largest: f64,
    lacks: bool,
}

impl BendFit {
    /// A fit without rows; `None` if there is nothing to fit.
    pub(crate) fn new(shape: Shape, numbers: Vec<u32>) -> Option<Self> {
        let Shape::Bend { knots } = shape else { return None };
        if numbers.is_empty() {
            return None;
        }
        let seen = |feature| Seen {
            feature,
            values: Vec::new(),
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            lacks: false,
        };
        let columns = numbers.into_iter().map(seen).collect();
        Some(Self { shape, knots, columns, n_rows: 0, kept: Vec::new(), mask: 0 })
    }

    /// Takes rows in, in their order.
    pub(crate) fn add(&mut self, matrix: MatrixRef<'_>, rows: impl Iterator<Item = usize>) {
        match matrix {
            MatrixRef::Dense32(matrix) => self.add_dense(matrix, rows),
            MatrixRef::Dense64(matrix) => self.add_dense(matrix, rows),
            MatrixRef::Sparse32(matrix) => self.add_sparse(matrix, rows),
            MatrixRef::Sparse64(matrix) => self.add_sparse(matrix, rows),
        }
    }

    fn add_dense<T: Stored>(&mut self, matrix: DenseRef<'_, T>, rows: impl Iterator<Item = usize>) {
        for row in rows {
            let values = &matrix.values[row * matrix.width..(row + 1) * matrix.width];
            self.add_row(|feature| values.get(feature as usize).map_or(0.0, |value| value.wide()));
        }
    }

    fn add_sparse<T: Stored>(&mut self, matrix: SparseRef<'_, T>, rows: impl Iterator<Item = usize>) {
        for row in rows {
            let entries = matrix.offsets[row]..matrix.offsets[row + 1];
            let (indices, values) = (&matrix.indices[entries.clone()], &matrix.values[entries]);
            let mut next = 0;
            self.add_row(|feature| {
                next += indices[next..].partition_point(|other| *other < feature);
                let is_there = indices.get(next) == Some(&feature);
                if is_there { values[next].wide() } else { 0.0 }
            });
        }
    }

    /// Takes in a row by the value of each feature, asked for in ascending order.
    fn add_row(&mut self, mut value_of: impl FnMut(u32) -> f64) {
        let is_kept = mixed(self.n_rows) & self.mask == 0;
        for column in &mut self.columns {
            // The zero below zero is zero.
            let value = value_of(column.feature) + 0.0;
            (column.least, column.largest) = (column.least.min(value), column.largest.max(value));
            column.lacks |= value.is_nan();
            if is_kept {
                column.values.push(value);
            }
        }
        if is_kept {
            self.kept.push(self.n_rows);
        }
        self.n_rows += 1;
        if self.kept.len() > MOST_ROWS {
            self.mask = (self.mask << 1) | 1;
            let stays: Vec<bool> = self.kept.iter().map(|&row| mixed(row) & self.mask == 0).collect();
            for column in &mut self.columns {
                let mut stays = stays.iter();
                column.values.retain(|_| stays.next().is_some_and(|stays| *stays));
            }
            let mut stays = stays.iter();
            self.kept.retain(|_| stays.next().is_some_and(|stays| *stays));
        }
    }

    /// What was fitted.
    pub(crate) fn finish(self) -> Bends {
        let (knots, is_sampled) = (self.knots, self.mask != 0);
        let columns = self.columns.into_iter().map(|seen| seen.bend(knots, is_sampled)).collect();
        Bends { shape: self.shape, columns }
    }
}

impl Seen {
    fn bend(self, n_knots: u16, is_sampled: bool) -> Bend {
        let Self { feature, mut values, least, largest, lacks } = self;
        if is_sampled && least <= largest {
            values.extend([least, largest]);
        }
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        let mut different = values.clone();
        different.dedup();
        let mut knots: Vec<f64> = quantiles(&values, n_knots).collect();
        knots.dedup();
        // Where values hardly repeat, both kinds of quantiles are nearly the same, and one of a pair is enough.
        let place = |value: f64| different.partition_point(|other| *other < value);
        let near = different.len() / (APART * usize::from(n_knots));
        let taken: Vec<usize> = knots.iter().map(|knot| place(*knot)).collect();
        let is_apart = |value: &f64| taken.iter().all(|other| place(*value).abs_diff(*other) > near);
        knots.extend(quantiles(&different, n_knots).filter(is_apart));
        knots.sort_unstable_by(f64::total_cmp);
        knots.dedup();
        // Where every value is a knot, its hat is all it needs.
        let is_few = different.len() <= FEW_VALUES && different.len() > knots.len();
        let values = if n_knots >= MANY_KNOTS && is_few { different } else { Vec::new() };
        Bend { feature, knots, values, missing: lacks }
    }
}

/// Quantiles of sorted values, the least and the largest among them.
fn quantiles(sorted: &[f64], n_knots: u16) -> impl Iterator<Item = f64> {
    let (n_values, n_gaps) = (sorted.len(), usize::from(n_knots.max(FEWEST_KNOTS)) - 1);
    let n_quantiles = if n_values == 0 { 0 } else { n_gaps + 1 };
    (0..n_quantiles).map(move |number| sorted[(number * (n_values - 1) + n_gaps / 2) / n_gaps])
}

/// The number of a row as bits that look drawn (Steele, Lea and Flood 2014).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// The bends that `fit` found for rows of `schema`, which then has them; an error if they are too many.
pub(crate) fn settle(fit: BendFit, schema: &mut Schema, limit: usize) -> Result<(), DataError> {
    schema.bends = Some(fit.finish());
    check_width(schema, limit)
}

/// A fit of `shape` for rows of `schema`, `width` features wide; nothing if it is a line, an error if nothing can bend.
pub(crate) fn bending(shape: Shape, schema: &Schema, width: usize) -> Result<Option<BendFit>, DataError> {
    if !matches!(shape, Shape::Bend { .. }) {
        return Ok(None);
    }
    let fit = BendFit::new(shape, schema.numbers(width));
    fit.map(Some).ok_or_else(|| {
        let message = "`shape` bends columns of numbers, but there are none here";
        DataError::new(ErrorKind::Options, message).with_help("leave {shape} out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_again_by_its_hats() {
        let bend = Bend { feature: 0, knots: vec![1.0, 2.5, 7.0], values: vec![0.1, 3.0], missing: true };
        let again = |value: f64| {
            let mut hats = Vec::new();
            // Rows are kept in single precision.
            bend.hats(value, |place, hat| hats.push((place as usize, f64::from(hat as f32))));
            bend.value_of(hats.into_iter())
        };
        for value in [0.1, 1.0, 2.5, 3.0, 7.0] {
            assert_eq!(again(value), Some(value));
        }
        assert!((again(4.0).unwrap() - 4.0).abs() < 1e-6);
        assert_eq!((again(99.0), again(f64::NAN)), (Some(7.0), None));
    }
}
