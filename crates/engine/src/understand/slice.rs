//! A plane through the space of features: what a page can show of it.
//!
//! Rows are placed on the plane, and places on the plane are turned back into rows, so that a model can be asked
//! about every one of them: it says there what it would say of a row that lies on the plane.

use crate::calibration::Method;
use crate::error::Error;
use crate::model::{Model, by_class, class_scores};
use rosenblatt_core::{Examples, Random, Row};
use rosenblatt_data::{Dataset, visit};
use serde::Serialize;

/// The most rows that principal components are taken from; more would not move them visibly.
const MOST_FITTED: usize = 5000;
/// The most steps of the search for principal components, and how little it may move in the end.
const MOST_STEPS: usize = 100;
const STILL: f64 = 1e-9;

/// A plane through the space of features.
///
/// ```
/// use rosenblatt::learning::Dense;
/// use rosenblatt::Dataset;
/// use rosenblatt::slice::Slice;
///
/// let data = Dataset::from_rows(&[[1.0, 5.0, 2.0], [3.0, 7.0, 4.0]], &["a", "b"]);
/// let slice = Slice::columns(&data, 0, 2)?;
/// assert_eq!(slice.place(Dense(&[1.0, 5.0, 2.0])), (1.0, 2.0));
/// assert_eq!(slice.row(8.0, 9.0), [8.0, 6.0, 9.0]);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    origin: Vec<f64>,
    across: Vec<f64>,
    up: Vec<f64>,
    /// The place of the origin itself on the two axes.
    offset: (f64, f64),
    kind: SliceKind,
}

/// How a plane was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SliceKind {
    /// By two features; the others are held at their mean.
    Columns(usize, usize),
    /// By the two directions in which the rows vary most, which have these shares of all variance.
    Principal(f64, f64),
    /// Upright on a hyperplane: across is the signed distance to it, upwards the direction along it in which the rows
    /// vary most, which has this share of all variance.
    Facing(f64),
}

impl Slice {
    /// The plane of two features; the others are held at their mean. One feature may be both: then rows lie on
    /// a line.
    pub fn columns(data: &Dataset, across: usize, up: usize) -> Result<Self, Error> {
        for feature in [across, up] {
            if feature >= data.width() {
                return Err(Error::TooWide { found: feature + 1, known: data.width() });
            }
        }
        let mut origin = means(data);
        (origin[across], origin[up]) = (0.0, 0.0);
        let axis = |feature: usize| {
            let mut axis = vec![0.0; data.width()];
            axis[feature] = 1.0;
            axis
        };
        // On a line, going up changes nothing.
        let upwards = if up == across { vec![0.0; data.width()] } else { axis(up) };
        let kind = SliceKind::Columns(across, up);
        Ok(Self { origin, across: axis(across), up: upwards, offset: (0.0, 0.0), kind })
    }

    /// The plane through the mean of the rows in which they vary most: their first two principal components, of at
    /// most 5,000 rows drawn by `seed`.
    pub fn principal(data: &Dataset, seed: u64) -> Self {
        let mean = means(data);
        let ([across, up], shares) = fitted(data, &mean, None, seed);
        let offset = (dot(&mean, &across), dot(&mean, &up));
        Self { origin: mean, across, up, offset, kind: SliceKind::Principal(shares[0], shares[1]) }
    }

    /// The plane that stands upright on the hyperplane `weights · x + bias = 0`: every row is seen at its signed distance
    /// to it, and so on its true side, whatever else is left out. `None` if the weights are all zero.
    ///
    /// ```
    /// use rosenblatt::learning::Dense;
    /// use rosenblatt::Dataset;
    /// use rosenblatt::slice::Slice;
    ///
    /// let data = Dataset::from_rows(&[[1.0, 5.0, 2.0], [3.0, -7.0, 4.0]], &["a", "b"]);
    /// let slice = Slice::facing(&data, &[3.0, 0.0, 4.0], -6.0, 0).expect("weights that are not zero");
    /// assert!((slice.place(Dense(&[1.0, 5.0, 2.0])).0 - 1.0).abs() < 1e-12);
    /// ```
    pub fn facing(data: &Dataset, weights: &[f64], bias: f64, seed: u64) -> Option<Self> {
        let mut across = weights.to_vec();
        across.resize(data.width(), 0.0);
        let length = normalise(&mut across);
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        let mean = means(data);
        let ([up, _], [share, _]) = fitted(data, &mean, Some(&across), seed);
        // The origin is the mean, moved onto the hyperplane.
        let away = dot(&mean, &across) + bias / length;
        let origin: Vec<f64> = mean.iter().zip(&across).map(|(mean, across)| mean - away * across).collect();
        let offset = (-bias / length, dot(&origin, &up));
        Some(Self { origin, across, up, offset, kind: SliceKind::Facing(share) })
    }

    /// How it was chosen.
    pub fn kind(&self) -> SliceKind {
        self.kind
    }

    /// Where a row is seen on the plane.
    pub fn place<R: Row>(&self, row: R) -> (f64, f64) {
        (row.dot(&self.across) - self.offset.0, row.dot(&self.up) - self.offset.1)
    }

    /// Where every row is seen on the plane.
    pub fn places(&self, data: &Dataset) -> Vec<(f64, f64)> {
        visit!(data.view(), examples => (0..examples.len()).map(|row| self.place(examples.row(row))).collect())
    }

    /// The row that lies at a place of the plane.
    pub fn row(&self, x: f64, y: f64) -> Vec<f64> {
        let mut row = Vec::new();
        self.row_into(x, y, &mut row);
        row
    }

    /// [`Slice::row`] into a buffer that is used again.
    pub fn row_into(&self, x: f64, y: f64, row: &mut Vec<f64>) {
        row.clear();
        let axes = self.across.iter().zip(&self.up);
        row.extend(self.origin.iter().zip(axes).map(|(origin, (across, up))| {
            // An axis that a feature has no part in must not spoil it, however far out the place is.
            let part = |share: f64, axis: f64| if axis == 0.0 { 0.0 } else { share * axis };
            origin + part(x, *across) + part(y, *up)
        }));
    }
}

/// At most `most` of `n_rows` rows, one from each of as many equal stretches; all if there are no more.
pub fn sample(n_rows: usize, most: usize, seed: u64) -> Vec<usize> {
    if n_rows <= most {
        return (0..n_rows).collect();
    }
    let mut random = Random::for_purpose(seed, "sample");
    let edge = |part: usize| (part as u128 * n_rows as u128 / most as u128) as usize;
    let stretches = (0..most).map(|part| (edge(part), edge(part + 1)));
    stretches.map(|(first, end)| first + random.below((end - first) as u64) as usize).collect()
}

/// What every class has for it in every row, row after row: the class that is named has most. For two classes the second
/// has what speaks for it, the first the same against it. With pairs of classes it is the lowest score that a class has
/// against another, as duels won are whole numbers and would put all rows on a few spots; a class that beats all others
/// has most, and is named.
///
/// ```
/// use rosenblatt::slice::standings;
/// use rosenblatt::{Dataset, Spec, train};
///
/// let data = Dataset::from_rows(&[[2.0, 0.0], [0.0, 2.0]], &["right", "up"]);
/// let model = train(&Spec::default(), &data)?;
/// let [first, second] = standings(&model, &data).try_into().expect("two rows");
/// assert!(first[0] > first[1] && second[0] < second[1] && first[0] == -first[1]);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn standings(model: &Model, data: &Dataset) -> Vec<Vec<f64>> {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let verdict = model.verdict();
    let (mut all, mut of_classes) = (Vec::with_capacity(rows.len()), Vec::new());
    let by_pairs = stands_by_pairs(model);
    model.each_of(data.view(), &rows, |_, _, scores| {
        if by_pairs {
            all.push(by_class(scores, model.labels().len(), true, &mut of_classes).to_vec());
            return;
        }
        class_scores(model, scores, &mut of_classes);
        all.push(match (&verdict, of_classes.as_slice()) {
            (Some(verdict), scores) => verdict.standings(scores),
            (None, [score]) if model.labels().len() == 2 => vec![-score, *score],
            (None, scores) => scores.to_vec(),
        });
    });
    all
}

/// Whether [`standings`] are scores of pairs of classes. The class that is named may then have less than another: where
/// none beats all others, votes decide.
pub fn stands_by_pairs(model: &Model) -> bool {
    model.has_pairs() && model.verdict().is_none_or(|verdict| verdict.costs.is_none())
}

/// What [`standings`] of a model are, in a word or two.
pub fn standing_unit(model: &Model) -> &'static str {
    match model.verdict() {
        _ if stands_by_pairs(model) => "lowest pairwise score",
        None => "score",
        Some(verdict) if verdict.costs.is_some() => "expected saving",
        Some(verdict) if verdict.calibration.method() == Method::Platt => "log-odds",
        Some(verdict) if verdict.calibration.method() == Method::Softmax => "score",
        Some(_) => "probability less a half",
    }
}

/// The two directions of largest variance, orthogonal to `against` if that is given, and their shares of it.
fn fitted(data: &Dataset, mean: &[f64], against: Option<&[f64]>, seed: u64) -> ([Vec<f64>; 2], [f64; 2]) {
    let rows = sample(data.len(), MOST_FITTED, seed);
    visit!(data.view(), examples => principal(examples, &rows, mean, against, seed))
}

fn means(data: &Dataset) -> Vec<f64> {
    let mut means = vec![0.0; data.width()];
    // Each row adds its share, so that nothing overflows that is not too large itself.
    let share = 1.0 / data.len().max(1) as f64;
    visit!(data.view(), examples => {
        (0..examples.len()).for_each(|row| examples.row(row).add_to(share, &mut means));
    });
    means
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Brings a vector to length 1; one of length 0 stays.
fn normalise(vector: &mut [f64]) -> f64 {
    let length = dot(vector, vector).sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
    length
}

/// The two directions of largest variance and their shares of it, by orthogonal iteration on two vectors.
fn principal<E: Examples>(
    examples: E,
    rows: &[usize],
    mean: &[f64],
    against: Option<&[f64]>,
    seed: u64,
) -> ([Vec<f64>; 2], [f64; 2]) {
    let n_rows = rows.len().max(1) as f64;
    let whole: f64 = rows
        .iter()
        .map(|&row| {
            let row = examples.row(row);
            row.norm2() - 2.0 * row.dot(mean) + dot(mean, mean)
        })
        .sum::<f64>()
        / n_rows;
    let mut random = Random::for_purpose(seed, "principal");
    let mut start = || -> Vec<f64> { mean.iter().map(|_| random.unit() - 0.5).collect() };
    let mut axes = [start(), start()];
    without(&mut axes, against);
    orthogonalise(&mut axes);
    let mut variances = [0.0; 2];
    for _ in 0..MOST_STEPS {
        let offsets = [dot(mean, &axes[0]), dot(mean, &axes[1])];
        let mut next = [vec![0.0; mean.len()], vec![0.0; mean.len()]];
        let mut sums = [0.0; 2];
        for &row in rows {
            let row = examples.row(row);
            for k in 0..2 {
                let along = (row.dot(&axes[k]) - offsets[k]) / n_rows;
                row.add_to(along, &mut next[k]);
                sums[k] += along;
            }
        }
        for k in 0..2 {
            next[k].iter_mut().zip(mean).for_each(|(value, mean)| *value -= sums[k] * mean);
        }
        let before = variances;
        without(&mut next, against);
        variances = orthogonalise(&mut next);
        axes = next;
        let moved = (variances[0] - before[0]).abs() + (variances[1] - before[1]).abs();
        if moved <= STILL * variances[0] {
            break;
        }
    }
    for axis in &mut axes {
        // The direction of an axis is arbitrary: its largest part points forward.
        let largest = axis
            .iter()
            .copied()
            .fold(0.0_f64, |most, value| if value.abs() > most.abs() { value } else { most });
        if largest < 0.0 {
            for value in axis {
                *value = -*value;
            }
        }
    }
    let share = |variance: f64| if whole > 0.0 { (variance / whole).clamp(0.0, 1.0) } else { 0.0 };
    (axes, variances.map(share))
}

/// Takes away what two vectors have of a direction of length 1.
fn without(axes: &mut [Vec<f64>; 2], against: Option<&[f64]>) {
    let Some(against) = against else { return };
    for axis in axes {
        let along = dot(axis, against);
        axis.iter_mut().zip(against).for_each(|(value, against)| *value -= along * against);
    }
}

/// Makes two vectors orthogonal and of length 1; returns the lengths they had.
fn orthogonalise(axes: &mut [Vec<f64>; 2]) -> [f64; 2] {
    let [first, second] = axes;
    let long = normalise(first);
    let along = dot(first, second);
    second.iter_mut().zip(&*first).for_each(|(value, first)| *value -= along * first);
    [long, normalise(second)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Dense;

    #[test]
    fn principal_components_are_those_of_a_tilted_ellipse() {
        // Along (3, 4)/5 the rows spread twice as far as across it; the third feature never changes.
        let mut rows = Vec::new();
        for k in 0..40 {
            let angle = std::f64::consts::TAU * f64::from(k) / 40.0;
            let (long, short) = (2.0 * angle.cos(), angle.sin());
            rows.push([7.0 + 0.6 * long - 0.8 * short, 1.0 + 0.8 * long + 0.6 * short, 5.0]);
        }
        let names: Vec<&str> = (0..40).map(|k| if k % 2 == 0 { "a" } else { "b" }).collect();
        let data = Dataset::from_rows(&rows, &names);
        let slice = Slice::principal(&data, 0);
        let SliceKind::Principal(first, second) = slice.kind() else { panic!("asked for components") };
        assert!((first - 0.8).abs() < 1e-6 && (second - 0.2).abs() < 1e-6, "{first} {second}");
        let (x, y) = slice.place(Dense(&[7.0 + 0.6, 1.0 + 0.8, 5.0]));
        assert!((x - 1.0).abs() < 1e-3 && y.abs() < 1e-3, "{x} {y}");
        let back = slice.row(x, y);
        assert!((back[0] - 7.6).abs() < 1e-3 && (back[2] - 5.0).abs() < 1e-9, "{back:?}");
        assert_eq!(slice, Slice::principal(&data, 0));
    }

    #[test]
    fn a_plane_that_faces_a_hyperplane_has_every_row_at_its_distance() {
        // Ten features; the hyperplane leans on all of them.
        let value = |row: usize, feature: usize| ((row * 31 + feature * 17) % 23) as f64 / 5.0 - 2.0;
        let rows: Vec<[f64; 10]> =
            (0..60).map(|row| std::array::from_fn(|feature| value(row, feature))).collect();
        let data = Dataset::from_rows(&rows, &["a"; 60]);
        let (weights, bias) = (std::array::from_fn::<f64, 10, _>(|feature| feature as f64 - 4.2), 0.7);
        let length = dot(&weights, &weights).sqrt();
        let slice = Slice::facing(&data, &weights, bias, 0).unwrap();
        for row in &rows {
            let (x, y) = slice.place(Dense(row));
            assert!((x - (dot(row, &weights) + bias) / length).abs() < 1e-9);
            // The place is that of a row of the plane with the same distance.
            let back = slice.row(x, y);
            assert!(((dot(&back, &weights) + bias) / length - x).abs() < 1e-9);
            let again = slice.place(Dense(&back));
            assert!((again.0 - x).abs() < 1e-9 && (again.1 - y).abs() < 1e-9);
        }
        let SliceKind::Facing(share) = slice.kind() else { panic!("asked to face a hyperplane") };
        assert!(share > 0.1 && share < 1.0, "{share}");
        assert_eq!(Slice::facing(&data, &[0.0; 10], 1.0, 0), None);
    }

    #[test]
    fn whoever_stands_highest_is_named() {
        let rows: Vec<[f64; 3]> =
            (0..90).map(|k| [f64::from(k % 9), f64::from(k % 7), f64::from(k % 5)]).collect();
        for n_classes in [2_u32, 3, 5] {
            let names: Vec<String> = (0..90).map(|k| ((k * k + k / 3) % n_classes).to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let data = Dataset::from_rows(&rows, &names);
            let plain = crate::train(&crate::Spec::default(), &data).unwrap();
            let all: Vec<u32> = (0..90).collect();
            let fitted = plain.clone().calibrated(crate::calibration::Method::Platt, &data, &all).unwrap();
            for model in [plain, fitted] {
                for (given, standing) in
                    model.predict_all(&data).unwrap().into_iter().zip(standings(&model, &data))
                {
                    let most = standing.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    assert_eq!(standing[given as usize], most, "{n_classes} classes");
                }
            }
        }
    }

    #[test]
    fn rows_that_are_alike_have_a_plane_too() {
        let data = Dataset::from_rows(&[[1.0, 2.0], [1.0, 2.0]], &["a", "b"]);
        let slice = Slice::principal(&data, 3);
        assert_eq!(slice.kind(), SliceKind::Principal(0.0, 0.0));
        assert!(slice.places(&data).iter().all(|place| place.0.abs() < 1e-9 && place.1.abs() < 1e-9));
        assert!(Slice::columns(&data, 0, 2).is_err());
        assert_eq!(Slice::columns(&data, 1, 1).unwrap().row(4.0, 9.0), [1.0, 4.0]);
    }

    #[test]
    fn samples_are_spread_and_do_not_repeat() {
        assert_eq!(sample(3, 5, 0), [0, 1, 2]);
        let rows = sample(1000, 100, 1);
        assert_eq!(rows.len(), 100);
        assert!(rows.iter().enumerate().all(|(part, row)| row / 10 == part));
        assert_eq!(rows, sample(1000, 100, 1));
    }
}
