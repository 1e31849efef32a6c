//! A model as a sum over the columns of a table, and how its class is read from the sums: what formats are written from
//! that hold the whole way from cells to a class. Of a model that predicts a number, the sum is the number.

use super::{Export, bends, scaler};
use crate::calibration::Curve;
use crate::costs::CostMatrix;
use crate::error::Error;
use crate::model::Model;
use crate::task::Task;
use rosenblatt_core::{Hyperplanes, Multiclass, Zero};
use rosenblatt_data::{Bend, Bends, Column, ColumnKind, Missing, Scaler, Scaling, Schema};
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

/// A curve for each output.
#[derive(Default)]
pub(super) struct Bent {
    /// Ascending, each with the heights there; empty if it is level.
    pub(super) knots: Vec<(f64, Points)>,
    /// Values with heights of their own on top.
    pub(super) values: Vec<(f64, Points)>,
    /// The height of a missing value, if it has one.
    pub(super) missing: Option<Points>,
}

impl Kind<'_> {
    /// What a number adds to `points`.
    pub(super) fn of_number(&self, number: f64, mut points: Points) -> Points {
        let mut add = |adds: &[f64], times: f64| {
            for (sum, adds) in points.iter_mut().zip(adds) {
                *sum += adds * times;
            }
        };
        match self {
            Self::Line { slopes, .. } => add(slopes, number),
            Self::Curve(Bent { knots, values, .. }) => {
                let above = knots.partition_point(|(knot, _)| *knot <= number);
                match (above.checked_sub(1).map(|low| &knots[low]), knots.get(above)) {
                    (Some((low, from)), Some((high, to))) => {
                        let share = (number - low) / (high - low);
                        add(from, 1.0 - share);
                        add(to, share);
                    }
                    (Some((_, only)), None) | (None, Some((_, only))) => add(only, 1.0),
                    (None, None) => {}
                }
                if let Some((_, own)) = values.iter().find(|(value, _)| *value == number) {
                    add(own, 1.0);
                }
            }
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
        let parts = if columns.is_empty() {
            let names = model.feature_names().filter(|_| bends(model).is_none());
            let fill = (missing == Missing::Zero).then_some(0.0);
            let part = |feature: usize| {
                let named = names.and_then(|names| names.get(feature).cloned());
                weights.number(named.unwrap_or_else(|| format!("f{}", feature + 1)), feature, fill, missing)
            };
            (0..weights.n_features()).map(part).collect()
        } else {
            let mut start = 0;
            let part = |column: &'m Column| {
                let feature = start;
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
        let others = model.schema().into_iter().flat_map(|schema| schema.label.iter().chain(&schema.ignored));
        let others = others.map(String::as_str).collect();
        Ok(Self { biases: weights.biases(), parts, reading: Reading::of(model), others })
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
    let is_unit = scaler(model).is_some_and(|scaler| scaler.scaling == Scaling::UnitNorm);
    let (why, cure) = if has(|schema| schema.texts().next().is_some() || schema.names.is_some()) {
        ("this model reads words", "export to onnx, json or csv, which weigh words")
    } else if has(|schema| schema.hash_bits.is_some()) {
        ("this model hashes its features", "train without {hash-bits}")
    } else if has(|schema| schema.picture.is_some()) {
        ("this model reads pictures", "export to onnx, json or csv, which weigh pixels")
    } else if has(|schema| !schema.crosses.is_empty()) {
        ("this model crosses columns", "train without {cross}")
    } else if bends(model).is_some_and(|bends| !bends.surfaces.is_empty()) {
        ("this model crosses columns", "train with {shape=curves}")
    } else if is_unit {
        ("this model divides each row by its length", "train with {scale=standard}")
    } else if bends(model).is_some_and(|bends| bends.columns.iter().any(is_endless)) {
        ("knots of a column are further apart than the largest number", "train on smaller numbers")
    } else if format == Export::Sql && model.labels().len() > MOST_COMPARED {
        ("a query compares every two classes, and these are too many", "export to c or javascript")
    } else {
        return Ok(());
    };
    Err(Error::NotASum { format: format.info().name, why, cure })
}

/// Whether two knots are further apart than numbers go.
fn is_endless(bend: &Bend) -> bool {
    bend.knots.windows(2).any(|pair| !(pair[1] - pair[0]).is_finite())
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
        let Some(bends) = self.bends else { return self.planes.width() };
        self.planes.width() + bends.columns.len() - bends.columns.iter().map(Bend::n_features).sum::<usize>()
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
        let points = |place: usize| self.learned(start + place).to_vec();
        let n_hats = bend.n_hats();
        let knots = bend.knots.iter().enumerate().filter(|_| n_hats > 0).map(|(number, knot)| {
            // Of two knots the first has no hat.
            let hat = if n_hats == 1 { number.checked_sub(1) } else { Some(number) };
            (*knot, hat.map_or_else(|| vec![0.0; self.planes.n_outputs()], points))
        });
        Some(Bent {
            knots: knots.collect(),
            values: bend.values.iter().zip(n_hats..).map(|(value, place)| (*value, points(place))).collect(),
            missing: bend.missing.then(|| points(bend.n_features() - 1)),
        })
    }

    fn zeros(&self) -> Points {
        vec![0.0; self.planes.n_outputs()]
    }

    fn number(&self, name: String, feature: usize, fill: Option<f64>, missing: Missing) -> Part<'m> {
        let kind = match self.bent(feature) {
            Some(bent) => Kind::Curve(bent),
            None => Kind::Line { slopes: self.slopes(feature), usual: self.usual(feature) },
        };
        let missing = match (fill, &kind) {
            (Some(fill), _) => Some(kind.of_number(fill, self.zeros())),
            (None, Kind::Curve(bent)) if missing == Missing::Own => {
                Some(bent.missing.clone().unwrap_or_else(|| self.zeros()))
            }
            (None, _) => None,
        };
        let features = self.bends.map_or(feature..feature + 1, |bends| bends.place(feature));
        Part { name, kind, missing, features, scaled: self.scaled(feature) }
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
        Part { name, kind: Kind::Table { values, other }, missing, features, scaled: (0.0, 1.0) }
    }
}
