//! Columns of numbers that bend: each becomes a line with knots, so that a hyperplane over them is a sum of curves.
//!
//! A number becomes its hat functions (B-splines of degree 1): at a knot the hat of that knot is 1, between two knots their
//! two hats share 1 by how near they are, and beyond the outermost knots the hat there stays 1. So a row has at most two
//! values per column however many knots there are, they sum to 1, and a curve is flat where no row was: what was never seen
//! is no reason to go on rising. Hats are of one scale, so that nothing else is scaled.
//!
//! Knots stand at quantiles of the values and at quantiles of the different values; the second give knots to a column that
//! is mostly zero. Where knots are many, a column of few different values, each of them in several rows, has a feature
//! for each of them, too: 5,013 may mean something else than 5,178. Of two values there is one feature, as of two categories. A missing value, if it is to be
//! ([`Missing::Own`](crate::Missing::Own)), is a feature of its own.
//!
//! Two columns may add something together that neither adds alone: a [`Surface`], the products of the few hats of one
//! with those of the other. Which pairs are worth one is found on the rows (`pairs.rs`).
//!
//! What is fitted depends on the rows, their classes and their order alone. Up to 65,536 rows all count; of more, those that
//! a hash of their number draws, beside the least and the largest value of all.

use super::columns::check_width;
use super::pairs::{Seeking, best_pairs};
use crate::error::{DataError, ErrorKind};
use crate::rows::block::Stored;
use crate::rows::dataset::{Dataset, DenseRef, Matrix, MatrixRef, SparseMatrix, SparseRef};
use crate::rows::labels::Labels;
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
        /// The most pairs of columns that have a surface, too: those whose values say most together.
        crosses: u16,
    },
    /// A line or a bend without crosses, whichever does best in a race; a line where none is run.
    Curves,
    /// Whichever does best in a race, with crosses or without; a line where none is run.
    #[default]
    Auto,
}

/// The default number of knots.
const USUAL_KNOTS: u16 = 15;
const FEWEST_KNOTS: u16 = 2;
const MOST_KNOTS: u16 = 1_000;
const MOST_CROSSES: u16 = 1_000;
/// The number of quantiles that are knots of a column in a surface.
const SURFACE_KNOTS: u16 = 4;
/// A value has at most two hats and a feature of its own.
const MOST_HATS: usize = 3;
/// From this many knots on, columns of few values have a feature for each.
const MANY_KNOTS: u16 = 8;
/// Up to this many values are few.
const FEW_VALUES: usize = 256;
/// Few values repeat: each stands in this many rows in the mean.
const REPEATS: usize = 2;
/// A quantile of the different values is a knot if no other is within a part of the way to the next: one in this many.
const APART: usize = 3;
/// How many rows are looked at if there are more.
const MOST_ROWS: usize = 1 << 16;

const SHAPES: &str = "one of line, bend(knots=N) or bend(knots=N,crosses=M) with N from 2 to 1000 and M up to 1000, \
                      curves, auto";

impl Shape {
    /// The bend that is meant where no number of knots is given.
    pub const USUAL_BEND: Self = Self::bend(USUAL_KNOTS);

    /// Whether columns are straight.
    pub fn is_line(&self) -> bool {
        *self == Self::Line
    }

    /// This number of knots, and no crosses.
    pub const fn bend(knots: u16) -> Self {
        Self::Bend { knots, crosses: 0 }
    }

    /// How many crosses it may have at most.
    pub fn crosses(&self) -> u16 {
        if let Self::Bend { crosses, .. } = self { *crosses } else { 0 }
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
                      column of up to 256 values that repeat has a weight for each, too",
            example: "bend(knots=15)",
        },
        Named {
            name: "bend(knots=N,crosses=M)",
            aliases: &[],
            meaning: "the same, and a surface for each of up to M pairs of columns: those that the rows show to count together",
            example: "bend(knots=15,crosses=6)",
        },
        Named {
            name: "curves",
            aliases: &[],
            meaning: "auto without crosses, so that each column adds its own curve",
            example: "curves",
        },
        Named {
            name: "auto",
            aliases: &[],
            meaning: "the one that does best in the race: line, few knots or many, with crosses or without; line where no race \
                      is held, and where a scale or a cross is asked for",
            example: "auto",
        },
    ];
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("line"),
            Self::Bend { knots, crosses: 0 } => write!(f, "bend(knots={knots})"),
            Self::Bend { knots, crosses } => write!(f, "bend(knots={knots},crosses={crosses})"),
            Self::Curves => f.write_str("curves"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Shape {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let bend = |arguments: &str| {
            let (knots, crosses) = match arguments.split_once(',') {
                Some((knots, crosses)) => {
                    (knots, crosses.trim_start().strip_prefix("crosses=")?.parse().ok()?)
                }
                None => (arguments, 0),
            };
            let knots = knots.strip_prefix("knots=").unwrap_or(knots).parse().ok()?;
            let is_sound = (FEWEST_KNOTS..=MOST_KNOTS).contains(&knots) && crosses <= MOST_CROSSES;
            is_sound.then_some(Self::Bend { knots, crosses })
        };
        let arguments = name.strip_prefix("bend(").and_then(|rest| rest.strip_suffix(')'));
        match name {
            "line" => Ok(Self::Line),
            "bend" => Ok(Self::USUAL_BEND),
            "curves" => Ok(Self::Curves),
            "auto" => Ok(Self::Auto),
            _ => arguments.and_then(bend).ok_or_else(|| NameError {
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
    /// What pairs of columns add together, the pair that says most first. Their features come after all others that rows
    /// have before any cross that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<Surface>,
}

/// What two columns add together: every feature of one multiplied with every feature of the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Surface {
    /// Its first feature.
    pub start: u32,
    /// Both columns, with fewer knots than they have by themselves.
    pub axes: [Bend; 2],
}

impl Surface {
    /// Its features: for each of the first column, all of the second.
    pub fn features(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start.saturating_add(self.n_features())
    }

    fn n_features(&self) -> usize {
        let [one, other] = &self.axes;
        one.n_features().saturating_mul(other.n_features())
    }

    /// The features of a pair of values, ascending.
    fn products(&self, [one, other]: [f64; 2], mut push: impl FnMut(u32, f64)) {
        let (mut right, mut n_right) = ([(0, 0.0); MOST_HATS], 0);
        self.axes[1].hats(other, |place, hat| {
            right[n_right] = (place, hat);
            n_right += 1;
        });
        let stride = self.axes[1].n_features() as u32;
        self.axes[0].hats(one, |place, hat| {
            for &(beside, factor) in &right[..n_right] {
                push(self.start + place * stride + beside, hat * factor);
            }
        });
    }

    /// Its height at a pair of values, by the weight of each of its features.
    pub fn height(&self, values: [f64; 2], weight: impl Fn(usize) -> f64) -> f64 {
        let mut height = 0.0;
        self.products(values, |feature, product| height += product * weight((feature - self.start) as usize));
        height
    }
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
    /// Fits `shape` to some rows of a data set whose features `numbers`, ascending, are numbers: those to be learned from.
    /// `None` if it is no bend, or there is no number. A missing number is `NaN`.
    ///
    /// ```
    /// use rosenblatt_data::{Bends, Dataset};
    /// let data = Dataset::from_rows(&[[0.0, 1.0], [5.0, 0.0], [10.0, 1.0]], &["a", "b", "a"]);
    /// let bends = Bends::fit("bend(knots=3)".parse()?, &data, 0..3, &[0]).unwrap();
    /// assert_eq!(bends.columns[0].knots, [0.0, 5.0, 10.0]);
    /// // Three hats of the first feature, and the second as it was.
    /// assert_eq!(data.bent(&bends).width(), 4);
    /// # Ok::<(), rosenblatt_core::NameError>(())
    /// ```
    pub fn fit(
        shape: Shape,
        data: &Dataset,
        rows: impl IntoIterator<Item = usize>,
        numbers: &[u32],
    ) -> Option<Self> {
        let mut fit = BendFit::new(shape, numbers.to_vec())?;
        fit.add(data.matrix(), data.classes(), rows.into_iter());
        Some(fit.finish(data.width(), data.labels()))
    }

    /// How many features rows have that had `straight` of them.
    pub fn width(&self, straight: usize) -> usize {
        let of_surfaces = self.surfaces.iter().map(Surface::n_features).fold(0, usize::saturating_add);
        self.width_of_curves(straight).saturating_add(of_surfaces)
    }

    /// The same without those of surfaces.
    fn width_of_curves(&self, straight: usize) -> usize {
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
        let mut names: Vec<String> = straight.iter().enumerate().flat_map(of_feature).collect();
        for surface in &self.surfaces {
            let [left, right] = surface.axes.each_ref().map(|axis| {
                let name = straight.get(axis.feature as usize).map_or("", String::as_str);
                axis.names(name).collect::<Vec<_>>()
            });
            names.extend(left.iter().flat_map(|one| right.iter().map(move |other| format!("{one}*{other}"))));
        }
        names
    }

    /// The surfaces of a row by its other features, ascending: each column has the value that its hats tell.
    pub fn crossed(&self, entries: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let value = |column: &Bend| {
            let run = self.place(column.feature as usize);
            let first = entries.partition_point(|(feature, _)| (*feature as usize) < run.start);
            let hats = entries[first..].iter().take_while(|(feature, _)| (*feature as usize) < run.end);
            let hats = hats.map(|(feature, hat)| (*feature as usize - run.start, *hat));
            column.value_of(hats).unwrap_or(f64::NAN)
        };
        let values: Vec<f64> = self.columns.iter().map(value).collect();
        let mut products = Vec::new();
        self.each_product(&values, |feature, product| products.push((feature, product)));
        products
    }

    /// Shows the features of all surfaces, ascending, by the value of each column.
    fn each_product(&self, values: &[f64], mut show: impl FnMut(u32, f64)) {
        for surface in &self.surfaces {
            let value = |axis: &Bend| {
                let place = self.columns.partition_point(|column| column.feature < axis.feature);
                values.get(place).copied().unwrap_or(f64::NAN)
            };
            surface.products(surface.axes.each_ref().map(value), &mut show);
        }
    }

    /// What is wrong with it, if anything is, for rows of these numbers that have `straight` features before any bend.
    pub(crate) fn complaint(&self, numbers: &[u32], straight: usize) -> Option<&'static str> {
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
        let axes = self.surfaces.iter().flat_map(|surface| &surface.axes);
        if !self.columns.iter().chain(axes.clone()).all(is_sound) {
            return Some("knots should be finite and ascend");
        }
        let mut start = self.width_of_curves(straight);
        for surface in &self.surfaces {
            let [one, other] = &surface.axes;
            let is_one = |axis: &Bend| numbers.binary_search(&axis.feature).is_ok();
            if one.feature >= other.feature || !is_one(one) || !is_one(other) {
                return Some("a surface should be one of two columns that bend");
            }
            if surface.start as usize != start {
                return Some("surfaces should stand one after the other, after all else");
            }
            start = surface.features().end;
        }
        None
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
        self.each(entries.iter().copied(), &mut Vec::new(), |feature, value| bent.push((feature, value)));
        bent
    }

    fn of_dense<T: Stored>(&self, rows: DenseRef<'_, T>) -> SparseMatrix<T> {
        let n_rows = rows.values.len() / rows.width.max(1);
        let mut bent =
            SparseMatrix::<T>::with_room(n_rows * (self.columns.len() * 2 + self.surfaces.len() * 4 + 1));
        let mut values = Vec::new();
        for row in rows.values.chunks_exact(rows.width.max(1)) {
            let entries = (0..).zip(row.iter().map(|value| value.wide()));
            self.push_row(entries.filter(|(_, value)| *value != 0.0), &mut values, &mut bent);
        }
        bent.width = self.width(rows.width);
        bent
    }

    fn of_sparse<T: Stored>(&self, rows: SparseRef<'_, T>) -> SparseMatrix<T> {
        let n_more = self.columns.len() + self.surfaces.len() * 4;
        let mut bent = SparseMatrix::<T>::with_room(rows.values.len() + rows.offsets.len() * n_more);
        let mut of_columns = Vec::new();
        for ends in rows.offsets.windows(2) {
            let (indices, values) = (&rows.indices[ends[0]..ends[1]], &rows.values[ends[0]..ends[1]]);
            let entries = indices.iter().copied().zip(values.iter().map(|value| value.wide()));
            self.push_row(entries, &mut of_columns, &mut bent);
        }
        bent.width = self.width(rows.width);
        bent
    }

    fn push_row<T: Stored>(
        &self,
        entries: impl Iterator<Item = (u32, f64)>,
        values: &mut Vec<f64>,
        bent: &mut SparseMatrix<T>,
    ) {
        self.each(entries, values, |feature, value| {
            let value = T::nearest(value);
            if value != T::default() {
                bent.indices.push(feature);
                bent.values.push(value);
            }
        });
        bent.end_row();
    }

    /// Shows the features of a row, ascending. What bends and is not among the entries is zero. `values` is room for those
    /// of the columns.
    fn each(
        &self,
        entries: impl Iterator<Item = (u32, f64)>,
        values: &mut Vec<f64>,
        mut show: impl FnMut(u32, f64),
    ) {
        let mut entries = entries.peekable();
        values.clear();
        // Features so far, and how many they were before.
        let (mut start, mut n_before) = (0, 0);
        for bend in &self.columns {
            while let Some((feature, value)) = entries.next_if(|(feature, _)| *feature < bend.feature) {
                show(start + feature - n_before, value);
            }
            let value =
                entries.next_if(|(feature, _)| *feature == bend.feature).map_or(0.0, |(_, value)| value);
            values.push(value);
            start += bend.feature - n_before;
            bend.hats(value, |feature, value| show(start + feature, value));
            start += bend.n_features() as u32;
            n_before = bend.feature + 1;
        }
        for (feature, value) in entries {
            show(start + feature - n_before, value);
        }
        self.each_product(values, show);
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
    /// Their classes.
    classes: Vec<u32>,
    /// Rows are kept whose hash has none of these bits.
    mask: u64,
}

/// What fitting has seen of a column.
#[derive(Debug, Clone)]
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
        let Shape::Bend { knots, .. } = shape else { return None };
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
        Some(Self { shape, knots, columns, n_rows: 0, kept: Vec::new(), classes: Vec::new(), mask: 0 })
    }

    /// Takes rows in, in their order, and the class of each row of the matrix.
    pub(crate) fn add(&mut self, matrix: MatrixRef<'_>, classes: &[u32], rows: impl Iterator<Item = usize>) {
        match matrix {
            MatrixRef::Dense32(matrix) => self.add_dense(matrix, classes, rows),
            MatrixRef::Dense64(matrix) => self.add_dense(matrix, classes, rows),
            MatrixRef::Sparse32(matrix) => self.add_sparse(matrix, classes, rows),
            MatrixRef::Sparse64(matrix) => self.add_sparse(matrix, classes, rows),
        }
    }

    fn add_dense<T: Stored>(
        &mut self,
        matrix: DenseRef<'_, T>,
        classes: &[u32],
        rows: impl Iterator<Item = usize>,
    ) {
        for row in rows {
            let values = &matrix.values[row * matrix.width..(row + 1) * matrix.width];
            self.add_row(classes[row], |feature| {
                values.get(feature as usize).map_or(0.0, |value| value.wide())
            });
        }
    }

    fn add_sparse<T: Stored>(
        &mut self,
        matrix: SparseRef<'_, T>,
        classes: &[u32],
        rows: impl Iterator<Item = usize>,
    ) {
        for row in rows {
            let entries = matrix.offsets[row]..matrix.offsets[row + 1];
            let (indices, values) = (&matrix.indices[entries.clone()], &matrix.values[entries]);
            let mut next = 0;
            self.add_row(classes[row], |feature| {
                next += indices[next..].partition_point(|other| *other < feature);
                let is_there = indices.get(next) == Some(&feature);
                if is_there { values[next].wide() } else { 0.0 }
            });
        }
    }

    /// Takes in a row by the value of each feature, asked for in ascending order.
    fn add_row(&mut self, class: u32, mut value_of: impl FnMut(u32) -> f64) {
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
            self.classes.push(class);
        }
        self.n_rows += 1;
        if self.kept.len() > MOST_ROWS {
            self.mask = (self.mask << 1) | 1;
            let stays: Vec<bool> = self.kept.iter().map(|&row| mixed(row) & self.mask == 0).collect();
            let thin = |list: &mut Vec<f64>| {
                let mut stays = stays.iter();
                list.retain(|_| stays.next().is_some_and(|stays| *stays));
            };
            self.columns.iter_mut().for_each(|column| thin(&mut column.values));
            let mut places = stays.iter();
            self.classes.retain(|_| places.next().is_some_and(|stays| *stays));
            let mut places = stays.iter();
            self.kept.retain(|_| places.next().is_some_and(|stays| *stays));
        }
    }

    /// What was fitted, of rows that have `straight` features before any bend and classes of these names.
    pub(crate) fn finish(self, straight: usize, labels: &Labels) -> Bends {
        let (knots, is_sampled) = (self.knots, self.mask != 0);
        let bend = |seen: &Seen, knots| seen.clone().bend(knots, is_sampled);
        let most = usize::from(self.shape.crosses());
        let found = if most == 0 {
            Vec::new()
        } else {
            let columns: Vec<&[f64]> = self.columns.iter().map(|seen| &seen.values[..]).collect();
            let numbers = self.kept.iter().map(|&row| mixed(row)).collect::<Vec<_>>();
            best_pairs(&Seeking { columns: &columns, draws: &numbers, classes: &self.classes, labels }, most)
        };
        let axes: Vec<[Bend; 2]> = found
            .into_iter()
            .map(|pair| pair.map(|column| bend(&self.columns[column], SURFACE_KNOTS)))
            .collect();
        let columns = self.columns.into_iter().map(|seen| seen.bend(knots, is_sampled)).collect();
        let mut bends = Bends { shape: self.shape, columns, surfaces: Vec::new() };
        for axes in axes {
            let start = u32::try_from(bends.width(straight)).unwrap_or(u32::MAX);
            bends.surfaces.push(Surface { start, axes });
        }
        bends
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
        let is_few = different.len() <= FEW_VALUES
            && different.len() > knots.len()
            && values.len() >= REPEATS * different.len();
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
pub(crate) fn settle(
    fit: BendFit,
    labels: &Labels,
    schema: &mut Schema,
    limit: usize,
) -> Result<(), DataError> {
    schema.bends = Some(fit.finish(schema.straight_width().unwrap_or(0), labels));
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

    /// A weight for each value is for values that come again: where none does, it would learn the rows by heart.
    #[test]
    fn only_values_that_repeat_have_weights_of_their_own() {
        let values_of = |n_different: usize, n_rows: usize| {
            let rows: Vec<[f64; 1]> = (0..n_rows).map(|row| [(row % n_different) as f64]).collect();
            let names: Vec<&str> = (0..n_rows).map(|row| ["a", "b"][row % 2]).collect();
            let data = Dataset::from_rows(&rows, &names);
            let bends = Bends::fit(Shape::USUAL_BEND, &data, 0..n_rows, &[0]).unwrap();
            bends.columns[0].values.len()
        };
        assert_eq!([values_of(250, 250), values_of(250, 250 * REPEATS - 1)], [0, 0]);
        assert_eq!([values_of(250, 250 * REPEATS), values_of(40, 400)], [250, 40]);
        assert_eq!(values_of(257, 257 * REPEATS), 0);
    }
}
