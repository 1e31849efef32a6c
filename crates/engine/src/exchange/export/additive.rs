//! A model as a sum over the columns of a table, and how its class is read from the sums: what formats are written from
//! that hold the whole way from cells to a class. Of a model that predicts a number, the sum is the number.

use super::{Export, bends, n_straight, scaler};
use crate::calibration::Curve;
use crate::costs::CostMatrix;
use crate::error::Error;
use crate::model::Model;
use crate::task::Task;
use rosenblatt_core::{Hyperplanes, Multiclass, Zero};
use rosenblatt_data::{Bend, Bends, Column, ColumnKind, Missing, Scaler, Scaling, Schema, Surface};
use std::ops::Range;

/// The deviations from the mean that most rows are within.
const USUAL: f64 = 2.5;

/// The most classes of a query, which has a condition for every two of them. Engines limit how many terms stand in a row.
const MOST_COMPARED: usize = 200;

/// What something adds to each output.
pub(super) type Points = Vec<f64>;

/// A model as a sum over columns.
pub(super) struct Additive<'m> {
    pub(super) biases: Points,
    pub(super) parts: Vec<Part<'m>>,
    pub(super) crosses: Vec<Cross>,
    pub(super) reading: Reading<'m>,
    /// Other columns that the table may have: the label, and those that were left out.
    pub(super) others: Vec<&'m str>,
}

/// What a column adds.
pub(super) struct Part<'m> {
    /// What the column is called.
    pub(super) name: String,
    pub(super) kind: Kind<'m>,
    /// What a missing value adds; `None` if the model has no answer to a row that lacks it.
    pub(super) missing: Option<Points>,
    /// The number that a missing value counts as, if it does.
    pub(super) fill: Option<f64>,
    /// Its features as the model sees them.
    pub(super) features: Range<usize>,
    /// By what a number was shifted before it was divided.
    pub(super) scaled: (f64, f64),
}

/// What its values add.
pub(super) enum Kind<'m> {
    /// The number times these.
    Line {
        slopes: Points,
        /// Between which numbers most rows are, as far as the scale tells.
        usual: Option<(f64, f64)>,
    },
    /// Lines between knots, level beyond them.
    Curve(Bent),
    /// A category's own, or of a value that is none of them.
    Table { values: Vec<(&'m str, Points)>, other: Points },
}

/// What two columns add together, beside what each adds.
pub(super) struct Cross {
    /// Their places among the parts.
    pub(super) parts: [usize; 2],
    /// Of the first column, with a curve of the second in the place of each height.
    pub(super) surface: Bent<Bent>,
}

/// A curve for each output; of another kind of heights, what lies between them.
#[derive(Clone)]
pub(super) struct Bent<H = Points> {
    /// Ascending, each with the height there; empty if it is level.
    pub(super) knots: Vec<(f64, H)>,
    /// Values with heights of their own on top.
    pub(super) values: Vec<(f64, H)>,
    /// The height of a missing value, if it has one.
    pub(super) missing: Option<H>,
}

/// What can be added up.
pub(super) trait Height: Clone {
    /// Adds `times` times another of the same kind.
    fn add(&mut self, other: &Self, times: f64);
}

impl Height for f64 {
    fn add(&mut self, other: &Self, times: f64) {
        *self += other * times;
    }
}

impl Height for Points {
    fn add(&mut self, other: &Self, times: f64) {
        self.iter_mut().zip(other).for_each(|(sum, other)| sum.add(other, times));
    }
}

/// Of curves over the same knots and values.
impl<H: Height> Height for Bent<H> {
    fn add(&mut self, other: &Self, times: f64) {
        let points = self.knots.iter_mut().chain(&mut self.values).map(|(_, height)| height);
        let levels = points.chain(&mut self.missing);
        levels.zip(other.levels()).for_each(|(sum, other)| sum.add(other, times));
    }
}

impl<H: Height> Bent<H> {
    /// Of a column that bends, by the height of each of its features; a knot without one has `nothing`.
    fn of(bend: &Bend, nothing: &H, own: impl Fn(usize) -> H) -> Self {
        let n_hats = bend.n_hats();
        let knots = bend.knots.iter().enumerate().filter(|_| n_hats > 0).map(|(number, knot)| {
            // Of two knots the first has no hat.
            let hat = if n_hats == 1 { number.checked_sub(1) } else { Some(number) };
            (*knot, hat.map_or_else(|| nothing.clone(), &own))
        });
        Self {
            knots: knots.collect(),
            values: bend.values.iter().zip(n_hats..).map(|(value, place)| (*value, own(place))).collect(),
            missing: bend.missing.then(|| own(bend.n_features() - 1)),
        }
    }

    /// The heights at knots, of values, and of a missing value if it has one.
    pub(super) fn levels(&self) -> impl Iterator<Item = &H> {
        self.knots.iter().chain(&self.values).map(|(_, height)| height).chain(&self.missing)
    }

    /// The same with other heights.
    pub(super) fn map<I>(&self, of: impl Fn(&H) -> I) -> Bent<I> {
        let points = |points: &[(f64, H)]| points.iter().map(|(at, height)| (*at, of(height))).collect();
        Bent {
            knots: points(&self.knots),
            values: points(&self.values),
            missing: self.missing.as_ref().map(&of),
        }
    }

    /// The height at a number, added to `sum`.
    pub(super) fn at(&self, number: f64, mut sum: H) -> H {
        let Self { knots, values, .. } = self;
        let above = knots.partition_point(|(knot, _)| *knot <= number);
        match (above.checked_sub(1).map(|low| &knots[low]), knots.get(above)) {
            (Some((low, from)), Some((high, to))) => {
                let share = (number - low) / (high - low);
                sum.add(from, 1.0 - share);
                sum.add(to, share);
            }
            (Some((_, only)), None) | (None, Some((_, only))) => sum.add(only, 1.0),
            (None, None) => {}
        }
        if let Some((_, own)) = values.iter().find(|(value, _)| *value == number) {
            sum.add(own, 1.0);
        }
        sum
    }

    /// The same with what the model makes of a missing value, if it has an answer.
    pub(super) fn answering(mut self, nothing: &H, fill: Option<f64>, missing: Missing) -> Self {
        self.missing = match fill {
            Some(fill) => Some(self.at(fill, nothing.clone())),
            None if missing == Missing::Own => Some(self.missing.unwrap_or_else(|| nothing.clone())),
            None => None,
        };
        self
    }
}

impl Kind<'_> {
    /// What a number adds to `points`.
    pub(super) fn of_number(&self, number: f64, mut points: Points) -> Points {
        match self {
            Self::Line { slopes, .. } => points.add(slopes, number),
            Self::Curve(bent) => points = bent.at(number, points),
            Self::Table { .. } => {}
        }
        points
    }
}

/// How the sums are read.
pub(super) struct Reading<'m> {
    /// The classes, or what number is predicted.
    pub(super) classes: &'m [String],
    /// The classes that each output tells apart, the first for a positive score, if each has two of more.
    pub(super) pairs: Vec<(usize, usize)>,
    /// From the score of a class to its probability: one for the second of two, else one for each; none if there are no
    /// probabilities.
    pub(super) curves: &'m [Curve],
    pub(super) naming: Naming,
    /// Whether the last of equal scores counts.
    pub(super) takes_last: bool,
}

/// What names the class.
pub(super) enum Naming {
    Scores,
    Probabilities,
    Costs(CostMatrix),
    /// Nothing does: the one score is the number to predict.
    Number,
}

impl<'m> Reading<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        let options = model.spec().options();
        let classes = model.labels().names();
        let pairs = match options.multiclass.decision(classes.len()) {
            Multiclass::OneVsOne(decision) if classes.len() > 2 => {
                decision.pairs().iter().map(|&(a, b)| (a as usize, b as usize)).collect()
            }
            _ => Vec::new(),
        };
        let curves = model.calibration().map_or(&[][..], |fitted| fitted.curves());
        let naming = match model.verdict() {
            _ if model.task() == Task::Numbers => Naming::Number,
            None => Naming::Scores,
            Some(verdict) => verdict.costs.map_or(Naming::Probabilities, Naming::Costs),
        };
        Self { classes, pairs, curves, naming, takes_last: options.zero == Zero::Plus }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.naming, Naming::Number)
    }

    /// What an output is about: its class, or the two that it tells apart.
    pub(super) fn outputs(&self) -> Vec<String> {
        match self.classes {
            [_, second] => vec![second.clone()],
            classes if self.pairs.is_empty() => classes.to_vec(),
            classes => self.pairs.iter().map(|&(a, b)| format!("{} or {}", classes[a], classes[b])).collect(),
        }
    }
}

impl<'m> Additive<'m> {
    /// Refused where the model is no such sum.
    pub(super) fn of(model: &'m Model, planes: &'m Hyperplanes, format: Export) -> Result<Self, Error> {
        check(model, format)?;
        let weights = Weights::of(model, planes);
        let missing = model.schema().map_or(Missing::Error, |schema| schema.missing);
        let columns = model.schema().map_or(&[][..], |schema| &schema.columns);
        // The feature that each part begins with, before any bends.
        let mut starts: Vec<usize> = Vec::new();
        let parts: Vec<Part<'m>> = if columns.is_empty() {
            let names = model.feature_names().filter(|_| bends(model).is_none());
            let fill = (missing == Missing::Zero).then_some(0.0);
            let part = |feature: usize| {
                let named = names.and_then(|names| names.get(feature).cloned());
                weights.number(named.unwrap_or_else(|| format!("f{}", feature + 1)), feature, fill, missing)
            };
            starts.extend(0..weights.n_features());
            starts.iter().copied().map(part).collect()
        } else {
            let mut start = 0;
            let part = |column: &'m Column| {
                let feature = start;
                starts.push(feature);
                start += column.n_features();
                match &column.kind {
                    ColumnKind::Number { fill, .. } => {
                        weights.number(column.name.clone(), feature, *fill, missing)
                    }
                    ColumnKind::Category { values, fill } => {
                        weights.category(column.name.clone(), feature, (values, fill.as_deref()), missing)
                    }
                    // These were refused.
                    ColumnKind::Hashed | ColumnKind::Text(_) => {
                        weights.number(String::new(), feature, None, missing)
                    }
                }
            };
            columns.iter().map(part).collect()
        };
        let cross = |surface: &Surface| {
            // A column without features begins where the next one does.
            let part = |axis: &Bend| starts.iter().rposition(|start| *start == axis.feature as usize);
            let [one, other] = surface.axes.each_ref().map(part);
            let pair = [one?, other?];
            let fills = pair.map(|place| parts[place].fill);
            Some(Cross { parts: pair, surface: weights.surface(surface, fills, missing) })
        };
        let surfaces = bends(model).map_or(&[][..], |bends| &bends.surfaces);
        let crosses = surfaces.iter().filter(|surface| !surface.features().is_empty()).filter_map(cross);
        let crosses = crosses.collect();
        let others = model.schema().into_iter().flat_map(|schema| schema.label.iter().chain(&schema.ignored));
        let others = others.map(String::as_str).collect();
        Ok(Self { biases: weights.biases(), parts, crosses, reading: Reading::of(model), others })
    }

    /// What a reader of the file should know: what wrote it, and what it makes of what is missing.
    pub(super) fn about(&self, missing: &str) -> Vec<String> {
        let classes: Vec<String> = self.reading.classes.iter().map(|class| format!("{class:?}")).collect();
        let (what, nothing) = if self.reading.is_number() {
            ("number", "prediction")
        } else {
            ("classes", "score and no class")
        };
        let lacks = match self.parts.iter().filter(|part| part.missing.is_none()).count() {
            0 => String::new(),
            n if n == self.parts.len() => format!(" A row that lacks one has no {nothing}."),
            _ => {
                let lacking = self.parts.iter().filter(|part| part.missing.is_none());
                let names: Vec<String> = lacking.map(|part| format!("{:?}", part.name)).collect();
                format!(" A row that lacks one of these has no {nothing}: {}.", names.join(", "))
            }
        };
        vec![
            format!("A model of rosenblatt {}, {what} {}.", env!("CARGO_PKG_VERSION"), classes.join(", ")),
            format!("A missing value is {missing}.{lacks}"),
            "It computes in doubles, as the program does with rows that it reads in double precision."
                .to_owned(),
        ]
    }
}

/// Says why a model is no sum over columns, if it is none.
pub(super) fn check(model: &Model, format: Export) -> Result<(), Error> {
    let has = |wanted: fn(&Schema) -> bool| model.schema().is_some_and(|schema| wanted(schema));
    let is_crossed = bends(model).is_some_and(|bends| !bends.surfaces.is_empty());
    let is_unit = scaler(model).is_some_and(|scaler| scaler.scaling == Scaling::UnitNorm);
    let (why, cure) = if has(|schema| schema.texts().next().is_some() || schema.names.is_some()) {
        ("this model reads words", "export to onnx, json or csv, which weigh words")
    } else if has(|schema| schema.hash_bits.is_some()) {
        ("this model hashes its features", "train without {hash-bits}")
    } else if has(|schema| schema.picture.is_some()) {
        ("this model reads pictures", "export to onnx, json or csv, which weigh pixels")
    } else if has(|schema| !schema.crosses.is_empty()) {
        ("this model crosses columns", "train without {cross}")
    } else if is_crossed && format == Export::Scorecard {
        ("this model crosses columns", "train with {shape=curves}")
    } else if is_unit {
        ("this model divides each row by its length", "train with {scale=standard}")
    } else if bends(model).is_some_and(is_endless) {
        ("knots of a column are further apart than the largest number", "train on smaller numbers")
    } else if format == Export::Sql && model.labels().len() > MOST_COMPARED {
        ("a query compares every two classes, and these are too many", "export to c or javascript")
    } else {
        return Ok(());
    };
    Err(Error::NotASum { format: format.info().name, why, cure })
}

/// Whether two knots of a column are further apart than numbers go.
fn is_endless(bends: &Bends) -> bool {
    let axes = bends.surfaces.iter().flat_map(|surface| &surface.axes);
    let mut gaps = bends.columns.iter().chain(axes).flat_map(|bend| bend.knots.windows(2));
    gaps.any(|pair| !(pair[1] - pair[0]).is_finite())
}

/// Weights of values as they stand in a table, neither scaled nor bent.
pub(super) struct Weights<'m> {
    planes: &'m Hyperplanes,
    scaler: Option<&'m Scaler>,
    bends: Option<&'m Bends>,
}

impl<'m> Weights<'m> {
    pub(super) fn of(model: &'m Model, planes: &'m Hyperplanes) -> Self {
        Self { planes, scaler: scaler(model), bends: bends(model) }
    }

    /// How many features there are before any bend.
    pub(super) fn n_features(&self) -> usize {
        self.bends.map_or(self.planes.width(), |bends| n_straight(bends, self.planes.width()))
    }

    /// By what a feature was shifted, then divided.
    fn scaled(&self, feature: usize) -> (f64, f64) {
        let of = |list: Option<&Vec<f64>>, else_| {
            list.and_then(|list| list.get(feature)).copied().unwrap_or(else_)
        };
        let scaler = self.scaler;
        (of(scaler.map(|scaler| &scaler.shift), 0.0), of(scaler.map(|scaler| &scaler.scale), 1.0))
    }

    /// The weights of a feature as learned, by its place after bending.
    fn learned(&self, place: usize) -> &[f64] {
        let n_outputs = self.planes.n_outputs();
        self.planes.raw_weights().get(place * n_outputs..(place + 1) * n_outputs).unwrap_or_default()
    }

    /// The biases of features that are not scaled: `w (x - m) / s = (w / s) x - w m / s`.
    pub(super) fn biases(&self) -> Points {
        let mut biases = self.planes.biases().to_vec();
        if self.scaler.is_some() {
            for feature in 0..self.planes.width() {
                let shift = self.scaled(feature).0;
                for (bias, slope) in biases.iter_mut().zip(self.slopes(feature)) {
                    *bias -= slope * shift;
                }
            }
        }
        biases
    }

    /// The weights of a feature that does not bend, by its number before any does.
    pub(super) fn slopes(&self, feature: usize) -> Points {
        let place = self.bends.map_or(feature, |bends| bends.place(feature).start);
        let scale = self.scaled(feature).1;
        self.learned(place).iter().map(|weight| weight / scale).collect()
    }

    /// The curve of a feature, if it bends.
    pub(super) fn bent(&self, feature: usize) -> Option<Bent> {
        let bends = self.bends?;
        let bend = bends.columns.iter().find(|bend| bend.feature as usize == feature)?;
        let start = bends.place(feature).start;
        Some(Bent::of(bend, &self.zeros(), |place| self.learned(start + place).to_vec()))
    }

    /// What two columns add together, missing values included.
    pub(super) fn surface(&self, surface: &Surface, fills: [Option<f64>; 2], missing: Missing) -> Bent<Bent> {
        let ([one, other], nothing) = (&surface.axes, self.zeros());
        let curve = |heights: &dyn Fn(usize) -> Points| {
            Bent::of(other, &nothing, heights).answering(&nothing, fills[1], missing)
        };
        let level = curve(&|_| nothing.clone());
        let own = |place: usize| {
            let start = surface.features().start + place * other.n_features();
            curve(&|place| self.learned(start + place).to_vec())
        };
        Bent::of(one, &level, own).answering(&level, fills[0], missing)
    }

    fn zeros(&self) -> Points {
        vec![0.0; self.planes.n_outputs()]
    }

    fn number(&self, name: String, feature: usize, fill: Option<f64>, missing: Missing) -> Part<'m> {
        let kind = match self.bent(feature) {
            Some(bent) => Kind::Curve(bent.answering(&self.zeros(), fill, missing)),
            None => Kind::Line { slopes: self.slopes(feature), usual: self.usual(feature) },
        };
        let missing = match &kind {
            Kind::Curve(bent) => bent.missing.clone(),
            _ => fill.map(|fill| kind.of_number(fill, self.zeros())),
        };
        let features = self.bends.map_or(feature..feature + 1, |bends| bends.place(feature));
        Part { name, kind, missing, fill, features, scaled: self.scaled(feature) }
    }

    /// Between which numbers the values of most rows are.
    fn usual(&self, feature: usize) -> Option<(f64, f64)> {
        let (shift, scale) = self.scaled(feature);
        match self.scaler?.scaling {
            Scaling::Standard => Some((shift - USUAL * scale, shift + USUAL * scale)),
            Scaling::MinMax => Some((shift, shift + scale)),
            Scaling::MaxAbs => Some((-scale, scale)),
            Scaling::Auto | Scaling::None | Scaling::UnitNorm => None,
        }
    }

    /// Of two values only the second has a feature: it is 1 there, and one half where neither is.
    fn category(
        &self,
        name: String,
        feature: usize,
        (values, fill): (&'m [String], Option<&str>),
        missing: Missing,
    ) -> Part<'m> {
        let times = |share: f64| self.slopes(feature).iter().map(|weight| weight * share).collect::<Points>();
        let is_pair = values.len() == 2;
        let own = |(number, value): (usize, &'m String)| {
            let points = if is_pair { times(number as f64) } else { self.slopes(feature + number) };
            (value.as_str(), points)
        };
        let values: Vec<(&str, Points)> = values.iter().enumerate().map(own).collect();
        let other = if is_pair { times(0.5) } else { self.zeros() };
        let filled = fill.and_then(|fill| values.iter().find(|(value, _)| *value == fill));
        let missing = match missing {
            Missing::Error | Missing::Drop => None,
            _ => Some(filled.map_or_else(|| other.clone(), |(_, points)| points.clone())),
        };
        let start = self.bends.map_or(feature, |bends| bends.place(feature).start);
        let features = start..start + if is_pair { 1 } else { values.len() };
        let kind = Kind::Table { values, other };
        Part { name, kind, missing, fill: None, features, scaled: (0.0, 1.0) }
    }
}
