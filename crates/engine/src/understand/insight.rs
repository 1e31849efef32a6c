//! What a model has learned, in words: its strongest features, and how sure an error rate is.

use crate::importance::Variation;
use crate::model::Model;
use crate::spec::ClassWeights;
use rosenblatt_core::memory::{Kept, Votes};
use rosenblatt_core::{Bias, Decision, Examples, Hyperplanes, Multiclass, Row, margin};
use rosenblatt_data::{Bend, Column, ColumnKind, Dataset, Surface, visit};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

pub use crate::statistics::{interval, interval_of_folds};

/// A feature with a large weight for a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopFeature {
    /// What the feature is called.
    #[serde(rename = "feature")]
    pub name: String,
    /// Its weight in favour of the class; of more than two categories, beside the mean of their column.
    pub weight: f64,
    /// Its standard deviation among the rows learned from, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The share of these rows in which it is not zero, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl TopFeature {
    /// What it contributes to scores, as far as that is known: its weight times its spread, else its weight.
    pub fn contribution(&self) -> f64 {
        self.weight * self.spread.unwrap_or(1.0)
    }
}

/// The features that contribute most in favour of `class`, strongest first: a large weight of a category that few rows
/// have is not among them. Where spreads are not known, those of the largest weights. Of a vote, those of the mean of
/// its survivors. A column that bends is one of them, by its highest point.
pub fn top_features(model: &Model, class: u32, most: usize) -> Vec<TopFeature> {
    let mut all = top_features_by_class(model, most);
    if (class as usize) < all.len() { all.swap_remove(class as usize) } else { Vec::new() }
}

/// The same for every class, with one look at the weights.
pub fn top_features_by_class(model: &Model, most: usize) -> Vec<Vec<TopFeature>> {
    let spread = |feature: usize| model.variation(feature).map(|one| f64::from(one.deviation));
    let named = |(_, weight, feature)| TopFeature {
        name: feature_name(model, feature),
        weight,
        spread: spread(feature),
        share: model.variation(feature).map(|one| f64::from(one.share)),
    };
    let mut top: Vec<Vec<TopFeature>> = leading(model, most, |feature| model.weight_scale(feature))
        .into_iter()
        .map(|list| list.into_iter().map(named).collect())
        .collect();
    let is_bent = model.schema().is_some_and(|schema| schema.bends.is_some());
    for (class, list) in (0..).zip(&mut top).filter(|_| is_bent && most > 0) {
        let weights = weights_for(model, class).unwrap_or_default();
        list.extend(curves(model, class).iter().filter_map(|curve| {
            let peak = curve.peak()?;
            // Hats of a column are nearly independent of each other: what they contribute adds up in squares.
            let squared = |feature: usize| Some((weights.get(feature)? * spread(feature)?).powi(2));
            let squares = curve.features.clone().map(squared).sum::<Option<f64>>();
            Some(TopFeature { spread: squares.map(|squares| squares.sqrt() / peak.weight), ..peak })
        }));
        list.sort_by(|a, b| b.contribution().total_cmp(&a.contribution()));
        list.truncate(most);
    }
    top
}

/// For every class the features of straight columns whose weight times `factor` is largest, if above zero: that product,
/// the weight, and the feature.
pub(crate) fn leading(
    model: &Model,
    most: usize,
    factor: impl Fn(usize) -> f64,
) -> Vec<Vec<(f64, f64, usize)>> {
    let n_classes = model.labels().len();
    let mut top: Vec<Vec<(f64, f64, usize)>> = vec![Vec::new(); n_classes];
    let bends = model.schema().and_then(|schema| schema.bends.as_ref());
    let bent: Vec<Range<usize>> = bends.map_or_else(Vec::new, |bends| {
        bends.columns.iter().map(|bend| bends.place(bend.feature as usize)).collect()
    });
    let Some(planes) = mean_planes(model).filter(|_| model.map().is_none() && most > 0) else { return top };
    let speaks = Speaks::of(model);
    let has_categories = model.columns_without_zero().iter().any(|run| run.len() > 1 && !bent.contains(run));
    let centres: Vec<Vec<(Range<usize>, f64)>> = (0..if has_categories { n_classes as u32 } else { 0 })
        .map(|class| means_of_categories(model, &weights_for(model, class).unwrap_or_default()))
        .collect();
    let centre = |class: usize, feature: usize| {
        let mut of_class = centres.get(class).into_iter().flatten();
        of_class.find(|(run, _)| run.contains(&feature)).map_or(0.0, |(_, mean)| *mean)
    };
    let mut entries = planes.entries().peekable();
    // Of the feature at hand: which classes it says something of, and what.
    let (mut heard, mut sums) = (Vec::new(), vec![0.0; n_classes]);
    while let Some((feature, output, weight)) = entries.next() {
        for (class, side) in speaks.sides(output) {
            if sums[class] == 0.0 {
                heard.push(class);
            }
            sums[class] += side * weight;
        }
        if entries.peek().is_some_and(|next| next.0 == feature) {
            continue;
        }
        let is_bent = bent.iter().any(|run| run.contains(&feature));
        for class in heard.drain(..) {
            let weight = std::mem::take(&mut sums[class]) - centre(class, feature);
            if is_bent {
                continue;
            }
            let list = &mut top[class];
            let share = weight * factor(feature);
            // Of equals the first stays in front.
            let place = list.partition_point(|(other, ..)| *other >= share);
            if share > 0.0 && place < most {
                list.truncate(most - 1);
                list.insert(place, (share, weight, feature));
            }
        }
    }
    top
}

/// The curve of a column that bends: how much it adds to the score of a class, value by value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// What the column is called.
    pub column: String,
    /// Its features.
    #[serde(skip)]
    pub features: Range<usize>,
    /// Values, ascending, and the height of the curve there; it is a line between two knots, and flat beyond the last.
    /// The mean over the rows learned from is 0. Of a model that knows no means of features, the mean over the knots is: as
    /// they stand at quantiles, so is that over rows, nearly.
    pub points: Vec<(f64, f64)>,
    /// Its height where the value is missing, if that was ever seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
}

impl Curve {
    /// Its height at a value, if there are points.
    pub fn height(&self, value: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 <= value);
        match (above.checked_sub(1).and_then(|below| self.points.get(below)), self.points.get(above)) {
            (Some(&(low, from)), Some(&(high, to))) => from + (to - from) * ((value - low) / (high - low)),
            (Some(&(_, height)), None) | (None, Some(&(_, height))) => height,
            (None, None) => 0.0,
        }
    }

    /// Its highest point as a feature, if that speaks for the class.
    fn peak(&self) -> Option<TopFeature> {
        let highest =
            (0..self.points.len()).reduce(|a, b| if self.points[b].1 > self.points[a].1 { b } else { a })?;
        let name = format!("{} {}", self.column, self.stretch(highest));
        let weight = self.points[highest].1;
        (weight > 0.0).then_some(TopFeature { name, weight, spread: None, share: None })
    }

    /// The values around a point, in words: those as far as the next on either side.
    fn stretch(&self, point: usize) -> String {
        let value = |place: usize| self.points.get(place).map(|point| point.0 as f32);
        match (point.checked_sub(1).and_then(value), value(point + 1)) {
            (Some(low), Some(high)) => format!("between {low} and {high}"),
            (Some(low), None) => format!("above {low}"),
            (None, Some(high)) => format!("below {high}"),
            (None, None) => "of any value".to_owned(),
        }
    }
}

/// The curves of all columns that bend, in favour of `class`; none if none do, or the model has no weights.
pub fn curves(model: &Model, class: u32) -> Vec<Curve> {
    let Some(bends) = model.schema().and_then(|schema| schema.bends.as_ref()) else { return Vec::new() };
    let Some(weights) = weights_for(model, class) else { return Vec::new() };
    let of_column = |bend: &Bend| {
        let features = bends.place(bend.feature as usize);
        let (column, _) = model.schema()?.bent_column(features.start).filter(|_| !features.is_empty())?;
        let own = weights.get(features.clone())?;
        let height = |value: f64| bend.height(value, |place| own[place]);
        let over_knots = || bend.knots.iter().map(|knot| height(*knot)).sum::<f64>();
        let of_rows = model.mean_of(features.clone(), &weights);
        let mean = of_rows.unwrap_or_else(|| over_knots() / bend.knots.len().max(1) as f64);
        let mut values: Vec<f64> = bend.knots.iter().chain(&bend.values).copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let points = values.into_iter().map(|value| (value, height(value) - mean)).collect();
        let missing = bend.missing.then(|| height(f64::NAN) - mean);
        Some(Curve { column, features, points, missing })
    };
    bends.columns.iter().filter_map(of_column).collect()
}

/// What the categories of a column add to the score of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// What the column is called.
    pub column: String,
    /// Its features.
    pub features: Range<usize>,
    /// Each category with what it adds. The mean over the rows learned from is 0, where the model knows it.
    pub heights: Vec<(String, f64)>,
}

impl Levels {
    /// The place of the category of a row with these features, if it has one.
    pub fn of_row(&self, entries: impl IntoIterator<Item = (usize, f64)>) -> Option<usize> {
        let mut own =
            entries.into_iter().filter(|(feature, value)| self.features.contains(feature) && *value != 0.0);
        let found = own.next().map(|(feature, _)| feature - self.features.start);
        // Of two categories the first has no feature.
        if self.features.len() == self.heights.len() { found } else { Some(usize::from(found.is_some())) }
    }
}

/// The columns of categories, in favour of `class`; none if the model has no weights.
pub fn levels(model: &Model, class: u32) -> Vec<Levels> {
    let Some(schema) = model.schema() else { return Vec::new() };
    let Some(weights) = weights_for(model, class) else { return Vec::new() };
    let of_column = |(column, (_, features)): (&Column, (String, Range<usize>))| {
        let ColumnKind::Category { values, .. } = &column.kind else { return None };
        let own = weights.get(features.clone())?;
        let centre = model.mean_of(features.clone(), &weights).unwrap_or(0.0);
        let without = if own.len() == values.len() { None } else { Some(&0.0) };
        let heights = values
            .iter()
            .cloned()
            .zip(without.into_iter().chain(own))
            .map(|(name, weight)| (name, weight - centre));
        Some(Levels { column: column.name.clone(), features, heights: heights.collect() })
    };
    schema.columns.iter().zip(schema.runs()).filter_map(of_column).collect()
}

/// What two columns add together to the score of a class, beside the curve of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Cross {
    /// What the columns are called.
    pub columns: [String; 2],
    surface: Surface,
    /// One for each feature of the surface.
    weights: Vec<f64>,
}

impl Cross {
    /// What it adds at a pair of values; `NaN` is a missing one.
    pub fn height(&self, values: [f64; 2]) -> f64 {
        self.surface.height(values, |place| self.weights[place])
    }

    /// What it adds to a row with these features.
    pub fn of_row(&self, entries: impl Iterator<Item = (usize, f64)>) -> f64 {
        let features = self.surface.features();
        let own = entries.filter(|(feature, _)| features.contains(feature));
        own.map(|(feature, product)| product * self.weights[feature - features.start]).sum()
    }

    /// Where its columns bend: between two knots of each it has no summit that is not at one of them.
    pub fn knots(&self) -> [&[f64]; 2] {
        self.surface.axes.each_ref().map(|axis| &axis.knots[..])
    }
}

/// The crosses of a model, in favour of `class`, in the order in which they were found; none if it has no weights.
pub fn crosses(model: &Model, class: u32) -> Vec<Cross> {
    let Some(schema) = model.schema() else { return Vec::new() };
    let surfaces = schema.bends.as_ref().map_or(&[][..], |bends| &bends.surfaces);
    let Some(weights) = weights_for(model, class).filter(|_| !surfaces.is_empty()) else { return Vec::new() };
    let cross = |(surface, columns): (&Surface, [String; 2])| {
        let weights = weights.get(surface.features())?.to_vec();
        Some(Cross { columns, surface: surface.clone(), weights })
    };
    surfaces.iter().zip(schema.surfaces()).filter_map(cross).collect()
}

/// Which classes the outputs of a model speak for, and against.
enum Speaks {
    Two,
    Pairs(Vec<(u32, u32)>),
    Classes(usize),
}

impl Speaks {
    fn of(model: &Model) -> Self {
        match model.labels().len() {
            2 => Self::Two,
            n_classes => match model.spec().options().multiclass.decision(n_classes) {
                Multiclass::OneVsOne(decision) => Self::Pairs(decision.pairs().to_vec()),
                decision => Self::Classes(decision.n_outputs()),
            },
        }
    }

    /// The classes that an output speaks of: with its sign, or against it.
    fn sides(&self, output: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let (pro, con) = match self {
            Self::Two => (Some(1), Some(0)),
            Self::Pairs(pairs) => (Some(pairs[output].0 as usize), Some(pairs[output].1 as usize)),
            Self::Classes(n_outputs) => ((output < *n_outputs).then_some(output), None),
        };
        pro.map(|class| (class, 1.0)).into_iter().chain(con.map(|class| (class, -1.0)))
    }
}

/// The hyperplanes of a model; of a vote, the mean of its survivors, each counting as long as it lived. `None` if it
/// has no weights for features at all.
pub(crate) fn mean_planes(model: &Model) -> Option<Cow<'_, Hyperplanes>> {
    match model.kept() {
        Kept::Hyperplanes(planes) => Some(Cow::Borrowed(planes)),
        Kept::Votes(votes) => Some(Cow::Owned(mean_of_survivors(votes))),
        Kept::Other(_) => None,
    }
}

/// Walks the moves from the last to the first: a row that was stepped along is part of every survivor from
/// then on, shrunk as they shrank.
fn mean_of_survivors(votes: &Votes) -> Hyperplanes {
    let log = votes.log();
    let n_outputs = log.n_outputs;
    let mut weights = Weights::new(log.width * n_outputs);
    let mut biases = vec![0.0; n_outputs];
    // Per output: how much something added now counts in the end, and until which round.
    let mut worth = vec![0.0; n_outputs];
    let mut until = vec![log.rounds + 1; n_outputs];
    for (&(round, output, row), &[amount, keep, bias]) in log.moves.iter().zip(&log.steps).rev() {
        let k = output as usize;
        let lived = (until[k] - round) as f64;
        let since = lived + worth[k];
        biases[k] += bias * lived;
        if row != u32::MAX {
            let (first, end) = (log.row_offsets[row as usize], log.row_offsets[row as usize + 1]);
            for entry in first as usize..end as usize {
                let place = log.row_indices[entry] as usize * n_outputs + k;
                weights.add(place, amount * since * log.row_values[entry]);
            }
        }
        worth[k] = keep * since;
        until[k] = round;
    }
    if let Some(start) = &log.start {
        for (feature, k, weight) in start.entries() {
            weights.add(feature * n_outputs + k, weight * ((until[k] - 1) as f64 + worth[k]));
        }
        for (k, bias) in start.biases().iter().enumerate() {
            biases[k] += bias * (until[k] - 1) as f64;
        }
    }
    let rounds = log.rounds.max(1) as f64;
    for bias in &mut biases {
        *bias /= rounds;
    }
    match weights {
        Weights::All(mut weights) => {
            for weight in &mut weights {
                *weight /= rounds;
            }
            Hyperplanes::from_parts(weights, biases)
        }
        Weights::Few(weights) => {
            let (places, weights) =
                weights.into_iter().map(|(place, weight)| (place, weight / rounds)).unzip();
            Hyperplanes::from_few(log.width, places, weights, biases)
        }
    }
}

/// Weights being added up. A vote may be wider than all it was made of, so that wide ones are kept as those there are.
enum Weights {
    All(Vec<f64>),
    Few(BTreeMap<u32, f64>),
}

impl Weights {
    /// How many weights take little room, zeros and all.
    const MOST: usize = 1 << 21;

    fn new(n_weights: usize) -> Self {
        if n_weights <= Self::MOST { Self::All(vec![0.0; n_weights]) } else { Self::Few(BTreeMap::new()) }
    }

    fn add(&mut self, place: usize, amount: f64) {
        match self {
            Self::All(weights) => weights[place] += amount,
            // A hypothesis of more weights than can be counted so is refused when it is made, and when it is read.
            Self::Few(weights) => *weights.entry(place as u32).or_default() += amount,
        }
    }
}

/// The weight of every feature in favour of `class`; `None` if the model has none for it, or for features. Of a vote,
/// those of the mean of its survivors.
pub fn weights_for(model: &Model, class: u32) -> Option<Vec<f64>> {
    let planes = mean_planes(model).filter(|_| model.map().is_none())?;
    let speaks = Speaks::of(model);
    if let Speaks::Classes(n_outputs) = speaks {
        return ((class as usize) < n_outputs).then(|| planes.weights(class as usize));
    }
    let mut weights = vec![0.0; planes.width()];
    for (feature, output, weight) in planes.entries() {
        let mut sides = speaks.sides(output);
        if let Some((_, side)) = sides.find(|&(speaks_of, _)| speaks_of == class as usize) {
            weights[feature] += side * weight;
        }
    }
    Some(weights)
}

/// The bias in favour of `class`, as [`weights_for`] has the weights.
pub(crate) fn bias_for(model: &Model, class: u32) -> Option<f64> {
    let planes = mean_planes(model).filter(|_| model.map().is_none())?;
    let speaks = Speaks::of(model);
    if let Speaks::Classes(_) = speaks {
        return planes.biases().get(class as usize).copied();
    }
    let of_output = |(output, bias): (usize, &f64)| {
        let side = speaks.sides(output).find(|&(speaks_of, _)| speaks_of == class as usize);
        side.map(|(_, side)| side * bias)
    };
    Some(planes.biases().iter().enumerate().filter_map(of_output).sum())
}

/// The same, but of a category beside the mean of its column, where that is known: a category has no zero, so what decides is by
/// how much its weight differs from those of others.
pub fn centred_weights(model: &Model, class: u32) -> Option<Vec<f64>> {
    let mut weights = weights_for(model, class)?;
    for (run, mean) in means_of_categories(model, &weights) {
        weights[run].iter_mut().for_each(|weight| *weight -= mean);
    }
    Some(weights)
}

/// What each column of more than two categories adds to the score of the average row, given the weights in favour of a
/// class; none if the model does not know that row.
fn means_of_categories(model: &Model, weights: &[f64]) -> Vec<(Range<usize>, f64)> {
    let is_bent =
        |run: &Range<usize>| model.schema().is_some_and(|schema| schema.bent_column(run.start).is_some());
    let known = |run: Range<usize>| {
        (run.end <= weights.len()).then(|| Some((run.clone(), model.mean_of(run, weights)?)))
    };
    let runs = model.columns_without_zero().into_iter();
    runs.filter(|run| run.len() > 1 && !is_bent(run)).filter_map(|run| known(run)?).collect()
}

impl Model {
    /// How a feature varies from row to row, if that is known.
    pub fn variation(&self, feature: usize) -> Option<Variation> {
        let known = self.variations();
        let place = known.binary_search_by_key(&(feature as u32), |one| one.feature).ok()?;
        Some(known[place])
    }

    /// What these features add to the score of the average row, given the weights of all features; `None` if that is not known.
    pub(crate) fn mean_of(&self, features: Range<usize>, weights: &[f64]) -> Option<f64> {
        let known = self.variations();
        let from = known.partition_point(|one| (one.feature as usize) < features.start);
        let own = known[from..].iter().take_while(|one| (one.feature as usize) < features.end);
        let weigh = |one: &Variation| Some(f64::from(one.mean) * weights.get(one.feature as usize)?);
        (!known.is_empty()).then(|| own.filter_map(weigh).sum())
    }

    /// The features of columns whose zero says nothing: of those that bend, and of categories, which have one feature of
    /// each value, or one that tells two values apart.
    pub(crate) fn columns_without_zero(&self) -> Vec<Range<usize>> {
        let Some(schema) = self.schema() else { return Vec::new() };
        let bent = schema
            .bends
            .iter()
            .flat_map(|bends| bends.columns.iter().map(|bend| bends.place(bend.feature as usize)));
        let of_column = |(column, (_, features)): (&Column, (String, Range<usize>))| {
            matches!(column.kind, ColumnKind::Category { .. }).then_some(features)
        };
        let categories = schema.columns.iter().zip(schema.runs()).filter_map(of_column);
        let mut all: Vec<Range<usize>> = bent.chain(categories).filter(|run| !run.is_empty()).collect();
        all.sort_by_key(|run| run.start);
        all
    }

    /// By what a weight is multiplied to compare it with others: the deviation of its feature. Where that is known of no
    /// feature, weights are compared as they are; where it is known of some, the others contribute less.
    pub fn weight_scale(&self, feature: usize) -> f64 {
        if self.variations().is_empty() {
            return 1.0;
        }
        self.variation(feature).map_or(0.0, |one| f64::from(one.deviation))
    }

    /// The pairs of classes that its scores tell apart, the first for a positive score; `None` if scores
    /// belong to classes.
    pub fn pairs(&self) -> Option<Vec<(&str, &str)>> {
        let n_classes = self.labels().len();
        let Multiclass::OneVsOne(decision) = self.spec().options().multiclass.decision(n_classes) else {
            return None;
        };
        Some(decision.pairs().iter().map(|&(a, b)| (self.labels().name(a), self.labels().name(b))).collect())
    }
}

/// What a feature is called: its name, or its number from 1.
pub fn feature_name(model: &Model, feature: usize) -> String {
    let named = model.feature_names().and_then(|names| names.get(feature));
    named.cloned().unwrap_or_else(|| format!("feature {}", feature + 1))
}

/// The most mistakes the rule can make on these rows, ever: its bound, with the margin of the model
/// itself standing in for the largest one. `None` if the model does not separate the rows, if there
/// are more than two classes, if rows go through a map, if no bound is known for the rule, or if rows count
/// differently: bounds are about steps that do not depend on classes or weights.
pub fn mistake_bound(model: &Model, data: &Dataset, rows: &[u32]) -> Option<f64> {
    if model.spec().options().class_weights != ClassWeights::Even {
        return None;
    }
    let planes = plain_planes(model, data).filter(|planes| planes.n_outputs() == 1)?;
    // The largest squared length of a row, and the smallest score in favour of its class.
    let (longest, nearest) = visit!(data.view(), examples => {
        let mut score = [0.0];
        let mut weights = rows.iter().map(|&row| examples.weight(row as usize));
        let first = weights.next();
        if weights.any(|weight| Some(weight) != first) {
            return None;
        }
        rows.iter().fold((0.0_f64, f64::INFINITY), |(longest, nearest), &row| {
            let features = examples.row(row as usize);
            planes.scores(features, &mut score);
            let side = if examples.class(row as usize) == 1 { score[0] } else { -score[0] };
            (longest.max(features.norm2()), nearest.min(side))
        })
    });
    // A learned bias is a coordinate that is always 1, as far as the bound is concerned.
    let constant = match model.spec().bias() {
        Bias::None => 0.0,
        Bias::Learned => 1.0,
        Bias::Augmented(constant) => constant,
    };
    let bias = if constant == 0.0 { 0.0 } else { planes.biases()[0] / constant };
    let norm = (planes.entries().map(|(_, _, weight)| weight * weight).sum::<f64>() + bias * bias).sqrt();
    let (radius, margin) = ((longest + constant * constant).sqrt(), nearest / norm);
    // Lengths that overflow, or vanish, bound nothing.
    if !(radius.is_normal() && margin.is_normal() && margin > 0.0) {
        return None;
    }
    let bound = (model.spec().entry().bound)(&model.spec().params(), radius, margin);
    bound.filter(|bound| bound.is_finite())
}

/// The hyperplanes that rows of `data` meet as they are.
fn plain_planes<'m>(model: &'m Model, data: &Dataset) -> Option<&'m Hyperplanes> {
    model.planes().filter(|planes| model.map().is_none() && planes.width() >= data.width())
}

/// The smallest signed distance of these rows from the hyperplanes of the model: positive if it gives all
/// of them their class. `None` if the model is a vote, sees rows through a map, or does not know all features of
/// the data.
pub fn smallest_margin(model: &Model, data: &Dataset, rows: &[u32]) -> Option<f64> {
    #[derive(Clone, Copy)]
    struct Chosen<'a, E>(E, &'a [u32]);
    impl<E: Examples> Examples for Chosen<'_, E> {
        type Row = E::Row;
        fn len(self) -> usize {
            self.1.len()
        }
        fn width(self) -> usize {
            self.0.width()
        }
        fn row(self, idx: usize) -> E::Row {
            self.0.row(self.1[idx] as usize)
        }
        fn class(self, idx: usize) -> u32 {
            self.0.class(self.1[idx] as usize)
        }
        fn weight(self, idx: usize) -> f64 {
            self.0.weight(self.1[idx] as usize)
        }
    }
    let planes = plain_planes(model, data)?;
    let decision = model.spec().options().multiclass.decision(model.labels().len());
    let bias = model.spec().bias();
    let margins =
        visit!(data.view(), examples => margin::margins(planes, &decision, bias, Chosen(examples, rows)));
    margins.map(|margins| margins.geometric)
}

/// The margin of each of these rows: by how much its class is ahead of the others, or behind if that is
/// negative. For two classes, with `distances`, divided by the length of the weights, if the model has any.
pub fn margins(model: &Model, data: &Dataset, rows: &[u32], distances: bool) -> Vec<f64> {
    let (_, numbers) = crate::evaluate::matched(model, data);
    let weights = model.planes().filter(|planes| distances && planes.n_outputs() == 1);
    let length = weights
        .map_or(1.0, |planes| planes.raw_weights().iter().map(|weight| weight * weight).sum::<f64>().sqrt());
    let length = if length > 0.0 { length } else { 1.0 };
    let mut predictor = model.predictor(data.width());
    visit!(data.view(), examples => {
        let margin = |&row: &u32| {
            predictor.predict(examples.row(row as usize));
            let class = numbers[examples.class(row as usize) as usize];
            // A class the model never heard of comes after all others.
            let is_known = (class as usize) < model.labels().len();
            if is_known { predictor.margin(class) / length } else { f64::NEG_INFINITY }
        };
        rows.iter().map(margin).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Spec, train};
    use rosenblatt_core::Readout;

    #[test]
    fn a_curve_is_highest_above_below_or_between() {
        let peak = |heights: &[f64]| {
            let points =
                heights.iter().enumerate().map(|(place, height)| (place as f64 + 0.5, *height)).collect();
            let curve =
                Curve { column: "gain".to_owned(), features: 0..heights.len(), points, missing: None };
            curve.peak().map(|peak| (peak.name, peak.weight))
        };
        let is = |name: &str, weight: f64| Some((name.to_owned(), weight));
        assert_eq!(peak(&[-1.0, 0.0, 2.0]), is("gain above 1.5", 2.0));
        assert_eq!(peak(&[3.0, 0.0, 2.0]), is("gain below 1.5", 3.0));
        assert_eq!(peak(&[-3.0, 1.0, -2.0]), is("gain between 0.5 and 2.5", 1.0));
        assert_eq!((peak(&[1.0]), peak(&[-1.0, -2.0])), (is("gain of any value", 1.0), None));
    }

    #[test]
    fn lengths_that_overflow_bound_nothing() {
        let data = Dataset::from_rows(&[[1e300, 1.0], [-1e300, 2.0]], &["a", "b"]);
        let model = crate::train(&crate::Spec::default(), &data).unwrap();
        assert_eq!(mistake_bound(&model, &data, &[0, 1]), None);
        let data = Dataset::from_rows(&[[1.0, 1.0], [-1.0, 2.0]], &["a", "b"]);
        let model = crate::train(&crate::Spec::default(), &data).unwrap();
        assert!(mistake_bound(&model, &data, &[0, 1]).is_some());
    }

    #[test]
    fn the_interval_is_the_textbooks() {
        let (low, high) = interval(10, 100);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} {high}");
        assert_eq!(interval(0, 50).0, 0.0);
        assert!(interval(0, 50).1 > 0.05);
    }

    #[test]
    fn a_separating_model_bounds_the_mistakes_of_its_own_training() {
        let rows = [[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]];
        let data = Dataset::from_rows(&rows, &["b", "a", "a", "b"]);
        // The last hypothesis of a run that ended with a clean epoch separates the rows.
        let last = Spec::new(Options { readout: Some(Readout::Last), ..Options::default() }).unwrap();
        let model = train(&last, &data).unwrap();
        let bound = mistake_bound(&model, &data, &[0, 1, 2, 3]).unwrap();
        assert!(model.training_summary().totals.mistakes as f64 <= bound, "{bound}");
        assert!(bound >= 187.0 / 9.0, "no hyperplane has a larger margin than the best: {bound}");
        let xor =
            Dataset::from_rows(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], &["b", "a", "a", "b"]);
        let model = train(&Spec::default(), &xor).unwrap();
        assert_eq!(mistake_bound(&model, &xor, &[0, 1, 2, 3]), None);
    }

    #[test]
    fn rows_that_count_differently_have_no_bound() {
        // Each mistake on `a` is a step of 1/50, on `b` one of 1: more mistakes than (R/margin)^2 are possible.
        let data = Dataset::from_rows(&[[1.0, 0.1], [1.0, -0.1]], &["a", "b"]);
        let weights = std::collections::BTreeMap::from([("a".to_owned(), 0.02)]);
        let options = Options {
            class_weights: ClassWeights::Given(weights),
            readout: Some(Readout::Last),
            epochs: 1000,
            ..Options::default()
        };
        let model = train(&Spec::new(options.clone()).unwrap(), &data).unwrap();
        assert_eq!(mistake_bound(&model, &data, &[0, 1]), None);
        let even = Options { class_weights: ClassWeights::Even, ..options };
        let model = train(&Spec::new(even).unwrap(), &data).unwrap();
        assert!(mistake_bound(&model, &data, &[0, 1]).is_some());
    }

    #[test]
    fn the_mean_of_survivors_is_what_a_replay_adds_up_to() {
        let rows = [[1.0, 0.2], [-0.9, 0.4], [0.3, -1.0], [-0.2, 0.8], [0.7, 0.9], [-0.8, -0.3]];
        let data = Dataset::from_rows(&rows, &["a", "b", "c", "b", "a", "c"]);
        for (algorithm, multiclass) in [("perceptron", "one-vs-rest"), ("pegasos", "direct-max")] {
            let options = Options {
                algorithm: algorithm.to_owned(),
                readout: Some(Readout::Voted),
                multiclass: multiclass.parse().unwrap(),
                epochs: 4,
                ..Options::default()
            };
            let model = train(&Spec::new(options).unwrap(), &data).unwrap();
            let Kept::Votes(votes) = model.kept() else { panic!("asked for a vote") };
            let (mut sums, mut rounds) = (vec![0.0; 9], 0);
            votes.replay(|planes, lived| {
                let values = planes.raw_weights().iter().chain(planes.biases());
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * lived as f64);
                rounds += lived;
            });
            let mean = mean_planes(&model).unwrap();
            for (sum, value) in sums.iter().zip(mean.raw_weights().iter().chain(mean.biases())) {
                assert!((sum / rounds as f64 - value).abs() < 1e-12, "{algorithm}: {sum} {value}");
            }
        }
    }

    #[test]
    fn the_smallest_margin_is_positive_exactly_if_all_rows_are_right() {
        let data = Dataset::from_rows(&[[2.0], [-1.0], [-3.0]], &["b", "a", "b"]);
        let no_bias = Options { bias: Some(Bias::None), ..Options::default() };
        let spec = Spec::new(no_bias).unwrap();
        let model = crate::Training::new(&spec, &data).rows(&[0, 1]).run(&mut ()).unwrap();
        assert_eq!(smallest_margin(&model, &data, &[0, 1]), Some(1.0));
        assert!(smallest_margin(&model, &data, &[0, 1, 2]).unwrap() < 0.0);
    }

    #[test]
    fn the_telling_feature_is_found_and_named() {
        let rows = [[1.0, 0.0, 0.5], [0.9, 0.1, 0.5], [0.0, 1.0, 0.5], [0.1, 0.9, 0.5]];
        let data = Dataset::from_rows(&rows, &["spam", "spam", "ham", "ham"])
            .with_feature_names(["free", "lunch", "the"].map(str::to_owned).to_vec());
        let model = train(&Spec::default(), &data).unwrap();
        assert_eq!(top_features(&model, 1, 1)[0].name, "free");
        assert_eq!(top_features(&model, 0, 1)[0].name, "lunch");
    }
}
