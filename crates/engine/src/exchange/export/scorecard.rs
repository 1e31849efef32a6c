//! A scorecard: whole points for ranges of numbers and for categories, to be added up by hand.
//!
//! A column's curve becomes steps: around each knot, and around points between knots where the curve is steep, the height
//! there in whole points. The steepest column spans 100 points. What that loses is measured on rows and stated in the file.

use super::Export;
use super::additive::{Additive, Bent, Kind, Naming, Part, Points};
use crate::error::Error;
use crate::evaluate::matched;
use crate::model::Model;
use crate::ranking::curve;
use rosenblatt_core::{Examples, Row};
use rosenblatt_data::{Dataset, harmless, visit};
use std::fmt::Write as _;

/// The points between the best and the worst value of the column that matters most.
const SPAN: f64 = 100.0;
/// A curve that climbs more points than this from one knot to the next has steps between them.
const STEEP: f64 = 10.0;
/// The most steps between two knots.
const MOST_STEPS: f64 = 5.0;
/// The ranges of a straight line.
const RANGES: u32 = 10;

struct Card<'a> {
    model: &'a Additive<'a>,
    /// Points per unit of a score.
    factor: f64,
    base: Vec<i64>,
    columns: Vec<Column<'a>>,
}

/// The lines of a column.
#[derive(Default)]
struct Column<'a> {
    /// From here on, ascending; the first from far below on.
    ranges: Vec<(f64, Vec<i64>)>,
    values: Vec<(f64, Vec<i64>)>,
    categories: Vec<(&'a str, Vec<i64>)>,
    other: Option<Vec<i64>>,
    missing: Option<Vec<i64>>,
}

/// What a cell of a table is.
enum Cell {
    Number(f64),
    /// The place of a category, if it is a known one.
    Category(Option<usize>),
    Missing,
}

/// The text of the card, and what it loses on rows if there are any.
pub(super) fn bytes(model: &Additive<'_>, whole: &Model, rows: Option<&Dataset>) -> Result<Vec<u8>, Error> {
    let card = Card::of(model)?;
    let mut text = card.text();
    match rows {
        Some(rows) => text.push_str(&card.loss(whole, rows)),
        None => text.push_str("What the rounding loses was not measured: that takes rows.\n"),
    }
    Ok(text.into_bytes())
}

impl<'a> Card<'a> {
    fn of(model: &'a Additive<'a>) -> Result<Self, Error> {
        let n_outputs = model.biases.len();
        let corners: Option<Vec<Corners>> =
            model.parts.iter().map(|part| corners(&part.kind, n_outputs)).collect();
        let why = "straight columns that are not scaled have no ranges";
        let refusal =
            Error::NotASum { format: Export::Scorecard.info().name, why, cure: "train with {shape=bend}" };
        let corners = corners.ok_or(refusal)?;
        let span = |(part, corners): (&Part<'_>, &Corners)| {
            let of_output = |output: usize| {
                let own: Vec<&Points> = match &part.kind {
                    Kind::Table { values, other } => {
                        values.iter().map(|(_, points)| points).chain([other]).collect()
                    }
                    _ => Vec::new(),
                };
                let all = || {
                    corners
                        .iter()
                        .map(|(_, points)| points)
                        .chain(own.iter().copied())
                        .map(|points| points[output])
                };
                all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
            };
            (0..n_outputs).map(of_output).fold(0.0, f64::max)
        };
        let widest = model.parts.iter().zip(&corners).map(span).fold(0.0, f64::max);
        let factor = if widest > 0.0 && widest.is_finite() { SPAN / widest } else { 1.0 };
        let mut base: Vec<i64> = model.biases.iter().map(|bias| (bias * factor).round() as i64).collect();
        let columns = model.parts.iter().zip(&corners);
        let columns = columns.map(|(part, corners)| Column::of(part, corners, factor, &mut base)).collect();
        Ok(Self { model, factor, base, columns })
    }

    fn text(&self) -> String {
        let reading = &self.model.reading;
        let mut text = String::from("# Scorecard\n\n");
        let _ = writeln!(
            text,
            "{}\n\nAdd to the base the points of one line for each column: `exactly` goes before a range, and a number on \
             the limit of two ranges belongs to the higher.\n{SPAN} points are {:.4} of {}.",
            plain(&self.model.about("missing")[0]),
            SPAN / self.factor,
            if reading.is_number() { cell(&reading.classes[0]) } else { "the model's score".to_owned() },
        );
        let named = |class: &String| plain(&format!("{class:?}"));
        match (reading.classes, self.from()) {
            ([_, second], Some(from)) => {
                let points = if from == 1 { "point" } else { "points" };
                let _ = writeln!(text, "The class is {} from {from} {points} on.", named(second));
            }
            ([first, second], None) => {
                let _ = writeln!(text, "More points speak for {}, fewer for {}.", named(second), named(first));
            }
            ([name], _) => {
                let name = cell(name);
                let _ = writeln!(text, "The prediction of {name} is the points times {}.", 1.0 / self.factor);
            }
            _ if reading.pairs.is_empty() => text.push_str("The class is the one with the most points.\n"),
            _ => text.push_str(
                "Of two classes the first wins above 0 points, the second below. The class is the one that wins most.\n",
            ),
        }
        let heads = reading.outputs().into_iter().map(|output| format!(" {} |", cell(&output)));
        let _ = write!(text, "\n| column | value |{}\n|---|---|", heads.collect::<String>());
        let _ = writeln!(text, "{}", "--:|".repeat(self.base.len()));
        let mut line = |column: &str, value: &str, points: &[i64]| {
            let points: Vec<String> = points.iter().map(i64::to_string).collect();
            let _ = writeln!(text, "| {} | {} | {} |", cell(column), cell(value), points.join(" | "));
        };
        line("(base)", "", &self.base);
        for (part, column) in self.model.parts.iter().zip(&self.columns) {
            for (place, (from, points)) in column.ranges.iter().enumerate() {
                let range = match (place, column.ranges.get(place + 1)) {
                    (0, None) => "any".to_owned(),
                    (0, Some((to, _))) => format!("below {to}"),
                    (_, Some((to, _))) => format!("{from} to {to}"),
                    (_, None) => format!("{from} and above"),
                };
                line(&part.name, &range, points);
            }
            for (value, points) in &column.values {
                // As it was written, as far as its precision tells.
                let single = *value as f32;
                let value = if f64::from(single) == *value { single.to_string() } else { value.to_string() };
                line(&part.name, &format!("exactly {value}"), points);
            }
            for (value, points) in &column.categories {
                line(&part.name, &format!("= {value}"), points);
            }
            if let Some(points) = &column.other {
                line(&part.name, "any other", points);
            }
            if let Some(points) = &column.missing {
                line(&part.name, "missing", points);
            }
        }
        text.push('\n');
        text
    }

    /// From how many points on it is the second of two classes.
    fn from(&self) -> Option<i64> {
        let reading = &self.model.reading;
        let cut = match (&reading.naming, reading.curves) {
            (Naming::Scores, _) if reading.classes.len() == 2 => 0.0,
            (Naming::Probabilities, [curve]) => curve.cut(0.5),
            (Naming::Costs(costs), [curve]) => curve.cut(costs.threshold()),
            _ => return None,
        };
        let points = (cut * self.factor).floor();
        (points.abs() < i64::MAX as f64 / 2.0).then(|| points as i64 + 1)
    }

    fn points(&self, cells: &[Cell]) -> Vec<i64> {
        let mut sums = self.base.clone();
        for (column, cell) in self.columns.iter().zip(cells) {
            let points = match cell {
                Cell::Number(number) => {
                    let own = column.values.iter().find(|(value, _)| value == number);
                    let place = column.ranges.partition_point(|(from, _)| from <= number).saturating_sub(1);
                    own.or_else(|| column.ranges.get(place)).map(|(_, points)| points)
                }
                Cell::Category(Some(place)) => column.categories.get(*place).map(|(_, points)| points),
                Cell::Category(None) => column.other.as_ref(),
                Cell::Missing => column.missing.as_ref(),
            };
            sums.iter_mut().zip(points.into_iter().flatten()).for_each(|(sum, points)| *sum += points);
        }
        sums
    }

    /// What whole points lose on rows, in words.
    fn loss(&self, model: &Model, rows: &Dataset) -> String {
        let (_, numbers) = matched(model, rows);
        let mut predictor = model.predictor(rows.width());
        let n_outputs = self.base.len();
        let (mut exact, mut whole) = (vec![Vec::new(); n_outputs], vec![Vec::new(); n_outputs]);
        let mut truths = Vec::new();
        visit!(rows.view(), examples => for number in 0..examples.len() {
            let row = examples.row(number);
            let entries: Vec<(usize, f64)> = row.entries().collect();
            let cells: Vec<Cell> = self.model.parts.iter().map(|part| read(model, part, &entries)).collect();
            predictor.predict(row);
            for (output, points) in self.points(&cells).into_iter().enumerate() {
                exact[output].push(predictor.scores()[output]);
                whole[output].push(points as f64);
            }
            truths.push(numbers.get(examples.class(number) as usize).copied());
        });
        let mut text = format!("Beside the exact scores of {} rows:\n", truths.len());
        for (output, name) in self.model.reading.outputs().iter().enumerate() {
            let _ = write!(
                text,
                "\n- {}: rank correlation (Spearman) {:.4}",
                cell(name),
                correlation(&exact[output], &whole[output])
            );
            if self.model.reading.is_number() {
                let squares = exact[output].iter().zip(&whole[output]);
                let sum = squares.map(|(exact, points)| (exact - points / self.factor).powi(2)).sum::<f64>();
                let off = (sum / truths.len().max(1) as f64).sqrt();
                let _ = write!(text, ", predictions off by {off:.3e} (root mean square)");
            }
            if self.model.reading.classes.len() == 2 {
                let area = |scores: &[f64]| {
                    let ranked = scores
                        .iter()
                        .zip(&truths)
                        .filter_map(|(score, truth)| Some((*score, (*truth)? == 1)));
                    curve(1, ranked.collect()).map(|curve| curve.area)
                };
                if let (Some(before), Some(after)) = (area(&exact[output]), area(&whole[output])) {
                    let _ = write!(text, ", area under the ROC curve {after:.4} in place of {before:.4}");
                }
            }
        }
        text.push('\n');
        text
    }
}

impl<'a> Column<'a> {
    /// The least of a column is 0 points; what that leaves out is in the base.
    fn of(part: &'a Part<'a>, corners: &Corners, factor: f64, base: &mut [i64]) -> Self {
        let whole = |points: &Points| -> Vec<i64> {
            points.iter().map(|points| (points * factor).round() as i64).collect()
        };
        let mut column = Self { missing: part.missing.as_ref().map(whole), ..Self::default() };
        match &part.kind {
            Kind::Table { values, other } => {
                column.categories = values.iter().map(|(value, points)| (*value, whole(points))).collect();
                column.other = Some(whole(other));
            }
            kind => {
                let grid = steps(corners, factor);
                for (place, (at, points)) in grid.iter().enumerate() {
                    let from =
                        place.checked_sub(1).map_or(f64::NEG_INFINITY, |before| between(grid[before].0, *at));
                    if column.ranges.last().is_none_or(|(_, last)| *last != whole(points)) {
                        column.ranges.push((from, whole(points)));
                    }
                }
                if let Kind::Curve(bent) = kind {
                    let own = |(value, own): &(f64, Points)| {
                        (*value, whole(&kind.of_number(*value, vec![0.0; own.len()])))
                    };
                    column.values = bent.values.iter().map(own).collect();
                }
            }
        }
        for (output, base) in base.iter_mut().enumerate() {
            let all = || column.all().map(|points| points[output]);
            let least = all().min().unwrap_or(0);
            *base += least;
            column.all_mut().for_each(|points| points[output] -= least);
        }
        column
    }

    fn all(&self) -> impl Iterator<Item = &Vec<i64>> {
        let numbers = self.ranges.iter().chain(&self.values).map(|(_, points)| points);
        numbers
            .chain(self.categories.iter().map(|(_, points)| points))
            .chain(&self.other)
            .chain(&self.missing)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Vec<i64>> {
        let numbers = self.ranges.iter_mut().chain(&mut self.values).map(|(_, points)| points);
        let categories = self.categories.iter_mut().map(|(_, points)| points);
        numbers.chain(categories).chain(&mut self.other).chain(&mut self.missing)
    }
}

/// Numbers, ascending, and what a column adds there; between them it is a line.
type Corners = Vec<(f64, Points)>;

/// Nothing of categories; `None` if it is not known where the numbers of a column are.
fn corners(kind: &Kind<'_>, n_outputs: usize) -> Option<Corners> {
    match kind {
        Kind::Table { .. } => Some(Vec::new()),
        Kind::Curve(Bent { knots, .. }) if knots.is_empty() => Some(vec![(0.0, vec![0.0; n_outputs])]),
        Kind::Curve(Bent { knots, .. }) => Some(knots.clone()),
        Kind::Line { slopes, usual } => {
            let (low, high) = (*usual)?;
            let corner = |place: u32| {
                let at = low + (high - low) * f64::from(place) / f64::from(RANGES);
                (at, slopes.iter().map(|slope| slope * at).collect())
            };
            Some((0..=RANGES).map(corner).collect())
        }
    }
}

/// The same with more points where it is steep.
fn steps(corners: &Corners, factor: f64) -> Corners {
    let mut steps: Corners = corners.first().cloned().into_iter().collect();
    for pair in corners.windows(2) {
        let ((low, from), (high, to)) = (&pair[0], &pair[1]);
        let climb = from.iter().zip(to).map(|(from, to)| (to - from).abs() * factor).fold(0.0, f64::max);
        let n_steps = (climb / STEEP).ceil().clamp(1.0, MOST_STEPS);
        steps.extend((1..=n_steps as u32).map(|step| {
            let share = f64::from(step) / n_steps;
            let between = |from: f64, to: f64| from * (1.0 - share) + to * share;
            (between(*low, *high), from.iter().zip(to).map(|(from, to)| between(*from, *to)).collect())
        }));
    }
    steps
}

/// About the middle between two numbers, in as few digits as that takes.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    let is_near = |number: &f64| (number - middle).abs() <= (high - low) / 8.0;
    let mut rounded = (0..17).filter_map(|digits: usize| format!("{middle:.digits$e}").parse().ok());
    rounded.find(is_near).unwrap_or(middle)
}

/// The cell of a column, read back from the features of a row.
fn read(model: &Model, part: &Part<'_>, entries: &[(usize, f64)]) -> Cell {
    let own = entries.iter().filter(|(feature, _)| part.features.contains(feature));
    let mut own = own.map(|(feature, value)| (feature - part.features.start, *value));
    match &part.kind {
        Kind::Line { .. } => {
            let value = own.next().map_or(0.0, |(_, value)| value);
            let (shift, scale) = part.scaled;
            Cell::Number(value * scale + shift)
        }
        Kind::Curve(Bent { knots, .. }) => {
            let bent = model.schema().and_then(|schema| schema.bent_column(part.features.start));
            let level = knots.first().map_or(0.0, |(knot, _)| *knot);
            match bent {
                Some((_, bend)) => bend.value_of(own).map_or(Cell::Missing, Cell::Number),
                None => Cell::Number(level),
            }
        }
        Kind::Table { values, .. } if values.len() == 2 => match own.next().map_or(0.0, |(_, value)| value) {
            0.0 => Cell::Category(Some(0)),
            1.0 => Cell::Category(Some(1)),
            _ => Cell::Category(None),
        },
        Kind::Table { .. } => Cell::Category(own.next().map(|(place, _)| place)),
    }
}

/// Text in which a page shows no tags but its own.
fn plain(text: &str) -> String {
    text.replace('<', "\\<")
}

/// Text as a cell of a table.
fn cell(text: &str) -> String {
    let text = harmless(text).replace(['\n', '\t'], " ");
    plain(&text.replace('\\', "\\\\").replace('|', "\\|"))
}

/// How alike two orders are: 1 if they are the same.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let mean = f64::midpoint(one.len() as f64, 1.0);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    if spread > 0.0 { product(&one, &other) / spread } else { 1.0 }
}

/// The rank of each number, from 1; equals share theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut before = 0;
    for tied in order.chunk_by(|a, b| numbers[*a] == numbers[*b]) {
        let shared = before as f64 + f64::midpoint(tied.len() as f64, 1.0);
        for &place in tied {
            ranks[place] = shared;
        }
        before += tied.len();
    }
    ranks
}
