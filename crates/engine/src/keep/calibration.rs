//! From scores to probabilities: Platt's sigmoid and isotonic regression.
//!
//! A perceptron's score says which side a row is on, not how likely that is to be right. A calibration
//! is fitted on rows that the model did not learn from: per class one curve that turns the score into
//! the share of rows that are of the class. With two classes there is one curve, for the second. With
//! more, each class stands against the rest and the shares are divided by their sum. The formulas are
//! those of scikit-learn (`tests/calibration.rs` holds the two together).

use crate::costs::CostMatrix;
use crate::error::Error;
use crate::keep::held_out;
use crate::ranking::curve;
use crate::spec::ClassWeights;
use rosenblatt_core::elementary::{exp, ln, logistic};
use rosenblatt_core::threads;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

pub use crate::estimate::Method;

/// How many numbers up to 2 are multiplied before one logarithm is taken, which takes longer than all of
/// them.
const FACTORS: usize = 64;
/// Something is measurably better if it is by this many standard errors.
const MEASURABLE: f64 = 2.0;
/// Below this many scores, one thread fits all curves.
const FEW_SCORES: usize = 1 << 14;

/// From a score to the probability of one class.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// `1 / (1 + exp(slope * score + offset))`
    Platt {
        /// What the score is multiplied with; negative if higher scores speak for the class.
        slope: f64,
        /// What is added.
        offset: f64,
    },
    /// Lines between corners, level beyond the first and the last.
    Isotonic {
        /// The scores of the corners, ascending.
        scores: Vec<f64>,
        /// The probabilities there, never falling.
        shares: Vec<f64>,
    },
    /// `exp(score)`, to be divided by the sum over all classes: of more than two.
    Softmax,
}

impl Curve {
    /// The probability at `score`; of a softmax what is in proportion to it.
    pub fn at(&self, score: f64) -> f64 {
        match self {
            Self::Softmax => exp(score.clamp(f64::MIN, f64::MAX)),
            Self::Platt { .. } => logistic(self.rank(score)),
            Self::Isotonic { scores, shares } => {
                let above = scores.partition_point(|corner| *corner <= score);
                if above == 0 {
                    return shares[0];
                }
                let Some(&right) = scores.get(above) else { return shares[above - 1] };
                let (left, low, high) = (scores[above - 1], shares[above - 1], shares[above]);
                low + (high - low) * ((score - left) / (right - left))
            }
        }
    }
}

impl Curve {
    /// The score above which the class is more probable than `least`; infinite if all are, or none is.
    pub(crate) fn threshold(&self, least: f64) -> f64 {
        match self {
            // What is probable hangs on the scores of the others, too.
            Self::Softmax => f64::INFINITY,
            Self::Platt { slope, offset } => (ln(1.0 / least - 1.0) - offset) / slope,
            Self::Isotonic { scores, shares } => match shares.iter().position(|share| *share > least) {
                None => f64::INFINITY,
                Some(0) => f64::NEG_INFINITY,
                Some(above) => {
                    let (left, low) = (scores[above - 1], shares[above - 1]);
                    left + (scores[above] - left) * ((least - low) / (shares[above] - low))
                }
            },
        }
    }

    /// A sigmoid that falls would name the class that has least for it. On these rows the scores tell nothing, and all that
    /// is left is the share of members: a curve that all but does not rise.
    fn raise(&mut self, scores: &[f64], members: &[u32]) {
        if let Self::Platt { slope, offset } = self
            && *slope > 0.0
        {
            let largest = scores.iter().map(|score| score.abs()).fold(1.0, f64::max);
            let n_members = members.iter().filter(|&&member| member == 1).count() as f64;
            *slope = -f64::EPSILON / largest;
            *offset = ln((members.len() as f64 - n_members + 1.0) / (n_members + 1.0));
        }
    }

    /// The score above which the second of two classes is named, if it is where its probability is above `least`. Where
    /// that is just so much, over a whole range of scores perhaps, the sign of the score decides.
    pub(crate) fn cut(&self, least: f64) -> f64 {
        let beyond = self.threshold(least);
        let Self::Isotonic { scores, shares } = self else { return beyond };
        let from = match shares.iter().position(|share| *share >= least) {
            None => f64::INFINITY,
            Some(0) => f64::NEG_INFINITY,
            Some(place) => {
                let (left, low) = (scores[place - 1], shares[place - 1]);
                left + (scores[place] - left) * ((least - low) / (shares[place] - low))
            }
        };
        if beyond <= 0.0 {
            beyond
        } else if from > 0.0 {
            from.next_down()
        } else {
            0.0
        }
    }

    /// Grows with the probability and is 0 where that is a half. Of Platt's curve it is the logarithm of the odds:
    /// no exponential to compare classes by, and no rounding of what is nearly certain to 1.
    #[inline]
    fn rank(&self, score: f64) -> f64 {
        match self {
            // A score that overflowed is as large as can be, and times a slope of zero it is still nothing.
            Self::Platt { slope, offset } => -(slope * score.clamp(f64::MIN, f64::MAX) + offset),
            Self::Isotonic { .. } => self.at(score) - 0.5,
            Self::Softmax => score,
        }
    }
}

/// What turns a model's scores into probabilities.
///
/// ```
/// use rosenblatt::calibration::{Calibration, Method};
///
/// // Scores of eight held-out rows, and whether they were spam.
/// let scores = [-2.0, -1.5, -1.0, 0.2, -0.2, 1.0, 1.5, 2.0];
/// let classes = [0, 0, 0, 0, 1, 1, 1, 1];
/// let calibration = Calibration::fit(Method::Platt, 2, &scores, &classes)?;
/// let mut probabilities = Vec::new();
/// calibration.probabilities(&[1.8], &mut probabilities);
/// assert!(probabilities[1] > 0.8 && probabilities[0] + probabilities[1] == 1.0);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Rows it was fitted on.
    pub(crate) rows: u64,
    /// One for two classes, else one per class.
    pub(crate) curves: Vec<Curve>,
}

/// Rows whose classes are known, their scores as a calibration takes them, and the classes that the scores name.
#[derive(Clone, Copy)]
pub(crate) struct Scored<'a> {
    pub(crate) n_classes: usize,
    pub(crate) scores: &'a [f64],
    pub(crate) classes: &'a [u32],
    pub(crate) named: &'a [u32],
    /// The group of each row, where rows of one group must not judge what was fitted on others of it.
    pub(crate) groups: Option<&'a [u32]>,
}

impl Scored<'_> {
    /// Two halves of the rows, every other one of each class in the second. A group goes where its first row does.
    fn halves(&self) -> Vec<bool> {
        let mut n_seen = vec![0_usize; self.n_classes];
        let mut next = |class: u32| {
            n_seen[class as usize] += 1;
            n_seen[class as usize].is_multiple_of(2)
        };
        let Some(groups) = self.groups else {
            return self.classes.iter().map(|&class| next(class)).collect();
        };
        let mut of_group: HashMap<u32, bool> = HashMap::new();
        let rows = groups.iter().zip(self.classes);
        rows.map(|(&group, &class)| *of_group.entry(group).or_insert_with(|| next(class))).collect()
    }

    /// Whether these gains, one for each row, are more than luck. The rows of a group are right and wrong together, and
    /// count as one.
    fn is_measurable(&self, gains: impl Iterator<Item = f64>) -> bool {
        let gains: Vec<f64> = match self.groups {
            None => gains.collect(),
            Some(groups) => {
                let mut of_group: BTreeMap<u32, f64> = BTreeMap::new();
                gains.zip(groups).for_each(|(gain, &group)| *of_group.entry(group).or_default() += gain);
                of_group.into_values().collect()
            }
        };
        let n_gains = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n_gains;
        let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / n_gains;
        mean > MEASURABLE * (variance / n_gains).sqrt()
    }
}

/// What probabilities say of rows that they were not fitted on.
pub(crate) struct CrossFitted {
    pub(crate) scores: Option<ProbabilityScores>,
    /// As they are kept of rows that were held out.
    pub(crate) log_shares: Vec<f32>,
    /// The classes that the rows are given.
    pub(crate) named: Vec<u32>,
}

/// Which class is named once there are probabilities.
#[derive(Clone, Copy)]
pub(crate) enum Naming<'a> {
    /// The one that the scores name.
    ByScore,
    /// The most probable one.
    MostProbable,
    /// The most probable one, of curves that are fitted to name well: see [`Calibration::fit_to_name`].
    IfItHelps,
    /// The one whose expected cost is least.
    Cheapest(&'a CostMatrix),
}

impl<'a> Naming<'a> {
    /// What weights of classes and costs of mistakes make of it.
    pub(crate) fn of(class_weights: &ClassWeights, costs: Option<&'a CostMatrix>) -> Self {
        match costs {
            Some(costs) => Self::Cheapest(costs),
            None if *class_weights == ClassWeights::Even => Self::IfItHelps,
            None => Self::ByScore,
        }
    }
}

impl Serialize for Calibration {
    /// How it was fitted, and on how many rows.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Calibration", 2)?;
        object.serialize_field("method", &self.method().to_string())?;
        object.serialize_field("rows", &self.rows)?;
        object.end()
    }
}

impl Calibration {
    /// Fits curves to the scores of rows whose classes are known: row by row, one score for two classes,
    /// else one per class (see [`class_scores`](crate::model::class_scores)).
    pub fn fit(method: Method, n_classes: usize, scores: &[f64], classes: &[u32]) -> Result<Self, Error> {
        Self::fit_or_stop(method, n_classes, scores, classes, &mut || false)
    }

    /// The same on all cores, curve by curve. `stop` is asked again and again whether to give up.
    pub(crate) fn fit_or_stop(
        method: Method,
        n_classes: usize,
        scores: &[f64],
        classes: &[u32],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        let n_curves = n_curves(n_classes);
        if classes.is_empty() || scores.len() != classes.len() * n_curves {
            return Err(Error::NoRows);
        }
        if method == Method::Softmax {
            return Ok(Self::as_learned(n_classes, classes.len() as u64));
        }
        let fit = |curve: usize, stop: &mut dyn FnMut() -> bool| {
            let class = if n_classes == 2 { 1 } else { curve as u32 };
            let of_class = scores[curve..].iter().step_by(n_curves).zip(classes);
            let mut pairs: Vec<(f64, bool)> =
                of_class.map(|(&score, &truth)| (score, truth == class)).collect();
            match method {
                _ if stop() => None,
                Method::Platt => platt(&pairs, stop),
                Method::Isotonic => Some(isotonic(&mut pairs)),
                Method::Softmax => None,
            }
        };
        let (next, is_over, curves) = (AtomicUsize::new(0), AtomicBool::new(stop()), Mutex::new(Vec::new()));
        let work = |stop: &mut dyn FnMut() -> bool| {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            let numbers = numbers.take_while(|&curve| curve < n_curves);
            let fitted = numbers.map_while(|curve| Some((curve, fit(curve, stop)?))).collect::<Vec<_>>();
            curves.lock().unwrap_or_else(PoisonError::into_inner).extend(fitted);
        };
        // Few scores are fitted sooner than a thread is begun.
        let n_threads = if scores.len() < FEW_SCORES { 1 } else { threads::available().min(n_curves) };
        let others = || work(&mut || is_over.load(Ordering::Relaxed));
        threads::beside(n_threads - 1, others, || {
            work(&mut || {
                let over = stop();
                is_over.fetch_or(over, Ordering::Relaxed);
                over
            });
        });
        let mut curves = curves.into_inner().unwrap_or_else(PoisonError::into_inner);
        if curves.len() < n_curves {
            return Err(Error::Stopped);
        }
        curves.sort_by_key(|(number, _)| *number);
        Ok(Self { rows: classes.len() as u64, curves: curves.into_iter().map(|(_, curve)| curve).collect() })
    }

    /// The probabilities that scores stand for which were learned as logarithms of odds.
    pub(crate) fn as_learned(n_classes: usize, rows: u64) -> Self {
        let odds = Curve::Platt { slope: -1.0, offset: 0.0 };
        let curves = if n_classes == 2 { vec![odds] } else { vec![Curve::Softmax; n_classes] };
        Self { rows, curves }
    }

    /// The method to use: what scores stand for, unless a sigmoid is measurably better on rows it was not fitted on.
    pub(crate) fn settled(
        method: Method,
        rows: &Scored<'_>,
        naming: Naming<'_>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Method, Error> {
        if method != Method::Softmax {
            return Ok(method);
        }
        let mut losses = |method: Method| -> Result<Vec<f64>, Error> {
            let CrossFitted { log_shares, .. } = Self::cross_fitted(method, rows, naming, stop)?;
            let of_row = |(logs, &class): (&[f32], &u32)| match (logs, class) {
                ([second], 0) => -held_out::log_of_rest(f64::from(*second)),
                ([second], _) => -f64::from(*second),
                (logs, class) => -f64::from(logs[class as usize]),
            };
            Ok(log_shares.chunks(n_curves(rows.n_classes)).zip(rows.classes).map(of_row).collect())
        };
        let (as_learned, fitted) = (losses(Method::Softmax)?, losses(Method::Platt)?);
        let gains = as_learned.iter().zip(&fitted).map(|(before, after)| before - after);
        Ok(if rows.is_measurable(gains) { Method::Platt } else { Method::Softmax })
    }

    /// The same, but for two classes and a sigmoid a score of `threshold` speaks for both alike.
    pub(crate) fn even_at(mut self, threshold: f64) -> Self {
        if let [Curve::Platt { slope, offset }] = &mut self.curves[..] {
            let moved = -*slope * threshold;
            // A threshold beyond all numbers moves nothing.
            *offset = if moved.is_finite() { moved } else { *offset };
        }
        self
    }

    /// The same, but where curves name another class than the scores do, that must have helped on rows that they were
    /// not fitted on, and where rows come in groups, measurably so. A sigmoid is drawn towards rows far away, and with few rows of a class its own curve is a guess:
    /// then one curve for all classes names whom the scores name.
    pub(crate) fn fit_to_name(
        method: Method,
        rows: &Scored<'_>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        let &Scored { n_classes, scores, classes, named, .. } = rows;
        let n_wrong = |predicted: &[u32]| {
            predicted.iter().zip(classes).filter(|(predicted, truth)| predicted != truth).count()
        };
        let CrossFitted { named: renamed, .. } =
            Self::cross_fitted(method, rows, Naming::MostProbable, stop)?;
        let gain = |place: usize| {
            let is_wrong = |predicted: &[u32]| f64::from(predicted[place] != classes[place]);
            is_wrong(named) - is_wrong(&renamed)
        };
        let has_helped = match rows.groups {
            None => n_wrong(&renamed) < n_wrong(named),
            Some(_) => rows.is_measurable((0..classes.len()).map(gain)),
        };
        if has_helped {
            return Self::fit_or_stop(method, n_classes, scores, classes, stop);
        }
        Self::fit_shared(method, n_classes, scores, classes, stop)
    }

    /// Curves for a model that names classes in this way.
    pub(crate) fn fit_for(
        naming: Naming<'_>,
        method: Method,
        rows: &Scored<'_>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        match naming {
            Naming::IfItHelps if method != Method::Softmax => Self::fit_to_name(method, rows, stop),
            _ => Self::fit_or_stop(method, rows.n_classes, rows.scores, rows.classes, stop),
        }
    }

    /// One curve for all classes, fitted on the scores of all of them together. The class with the highest score is
    /// then the most probable one.
    fn fit_shared(
        method: Method,
        n_classes: usize,
        scores: &[f64],
        classes: &[u32],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        let n_curves = n_curves(n_classes);
        let is_of = |class: u32, truth: u32| u32::from(class == truth);
        // The score of the first of two classes is that of the second turned round.
        let (scores, members): (Vec<f64>, Vec<u32>) = if n_classes == 2 {
            let of_row =
                |(&score, &truth): (&f64, &u32)| [(score, is_of(1, truth)), (-score, is_of(0, truth))];
            scores.iter().zip(classes).flat_map(of_row).unzip()
        } else {
            let of_row = |&truth: &u32| (0..n_curves as u32).map(move |class| is_of(class, truth));
            (scores.to_vec(), classes.iter().flat_map(of_row).collect())
        };
        let mut whole = Self::fit_or_stop(method, 2, &scores, &members, stop)?;
        whole.curves[0].raise(&scores, &members);
        let shared = Self { rows: classes.len() as u64, curves: vec![whole.curves[0].clone(); n_curves] };
        // What is the same on both sides is even in the middle, whatever was rounded.
        Ok(if n_classes == 2 { shared.even_at(0.0) } else { shared })
    }

    /// How good probabilities of this kind are on rows they were not fitted on, and which classes those rows are then
    /// given: each half of the rows is judged by curves that were fitted on the other. Nothing is known of fewer than
    /// two rows.
    pub(crate) fn cross_fitted(
        method: Method,
        rows: &Scored<'_>,
        naming: Naming<'_>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<CrossFitted, Error> {
        let &Scored { n_classes, scores, classes, named, groups } = rows;
        let n_curves = n_curves(n_classes);
        let halves = rows.halves();
        let fitted = [false, true].map(|half| {
            let is_in = |place: &usize| halves[*place] == half;
            let places: Vec<usize> = (0..classes.len()).filter(is_in).collect();
            if places.is_empty() {
                return Ok(None);
            }
            let of_row = |&place: &usize| &scores[place * n_curves..(place + 1) * n_curves];
            let scores: Vec<f64> = places.iter().flat_map(of_row).copied().collect();
            let of_half = |of: &[u32]| places.iter().map(|&place| of[place]).collect::<Vec<_>>();
            let (classes, named, groups) = (of_half(classes), of_half(named), groups.map(of_half));
            let groups = groups.as_deref();
            let half = Scored { n_classes, scores: &scores, classes: &classes, named: &named, groups };
            Self::fit_for(naming, method, &half, stop).map(Some)
        });
        let [first, second] = fitted;
        let (Some(first), Some(second)) = (first?, second?) else {
            return Ok(CrossFitted { scores: None, log_shares: Vec::new(), named: named.to_vec() });
        };
        let (mut losses, mut log_shares) = ([Losses::default(), Losses::default()], Vec::new());
        let mut shares = Vec::new();
        for (place, (row, &class)) in scores.chunks(n_curves).zip(classes).enumerate() {
            let half = usize::from(halves[place]);
            [&second, &first][half].probabilities(row, &mut shares);
            losses[half].add(&shares, class);
            log_shares.extend(held_out::log_shares(&shares));
        }
        let costs = match naming {
            Naming::Cheapest(costs) => Some(costs),
            _ => None,
        };
        let verdicts = [&second, &first].map(|calibration| Verdict { calibration, costs: costs.cloned() });
        let mut renamed = named.to_vec();
        if !matches!(naming, Naming::ByScore) {
            for (place, row) in scores.chunks(n_curves).enumerate() {
                renamed[place] = verdicts[usize::from(halves[place])].class(row, renamed[place]);
            }
        }
        Ok(CrossFitted { scores: Losses::together(&losses), log_shares, named: renamed })
    }

    /// The probability of every class, given the scores (see [`class_scores`](crate::model::class_scores)). They add up to 1.
    pub fn probabilities(&self, scores: &[f64], into: &mut Vec<f64>) {
        into.clear();
        if let [curve] = self.curves.as_slice() {
            let second = curve.at(scores[0]);
            into.extend([1.0 - second, second]);
            return;
        }
        if let Some(Curve::Softmax) = self.curves.first() {
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            into.extend(
                scores.iter().map(|score| if *score == highest { 1.0 } else { exp(score - highest) }),
            );
        } else {
            into.extend(self.curves.iter().zip(scores).map(|(curve, &score)| curve.at(score)));
        }
        let sum: f64 = into.iter().sum();
        let even = 1.0 / into.len() as f64;
        // If no class is possible, none is preferred.
        for share in into.iter_mut() {
            *share = if sum > 0.0 { *share / sum } else { even };
        }
    }

    /// The most probable class, given the scores (see [`class_scores`](crate::model::class_scores)); of equals `preferred`, then the first.
    pub(crate) fn most_probable(&self, scores: &[f64], preferred: u32) -> u32 {
        if let [curve] = self.curves.as_slice() {
            let second = curve.rank(scores[0]);
            return if second == 0.0 { preferred } else { u32::from(second > 0.0) };
        }
        let mut best = (self.curves[preferred as usize].rank(scores[preferred as usize]), preferred);
        for (class, (curve, &score)) in self.curves.iter().zip(scores).enumerate() {
            let rank = curve.rank(score);
            if rank > best.0 {
                best = (rank, class as u32);
            }
        }
        best.1
    }

    /// By how much `class` is ahead of the next in probability, in what the curves count in; 0 is a tie.
    pub(crate) fn margin(&self, scores: &[f64], class: u32) -> f64 {
        if let [curve] = self.curves.as_slice() {
            return if class == 1 { curve.rank(scores[0]) } else { -curve.rank(scores[0]) };
        }
        let rank = |class: usize| self.curves[class].rank(scores[class]);
        let others = (0..self.curves.len()).filter(|other| *other != class as usize);
        rank(class as usize) - others.map(rank).fold(f64::NEG_INFINITY, f64::max)
    }

    /// How it was fitted.
    pub fn method(&self) -> Method {
        match self.curves.first() {
            Some(Curve::Isotonic { .. }) => Method::Isotonic,
            Some(Curve::Softmax) => Method::Softmax,
            _ => Method::Platt,
        }
    }

    /// On how many rows it was fitted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The curves: one for two classes, else one per class.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }
}

/// What decides which class a model names, if its scores do not: the most probable one, or the one of least expected
/// cost.
#[derive(Debug, Clone)]
pub(crate) struct Verdict<'m> {
    pub(crate) calibration: &'m Calibration,
    pub(crate) costs: Option<CostMatrix>,
}

impl Verdict<'_> {
    /// The class of a row with these scores (see [`class_scores`](crate::model::class_scores)); of equals `preferred`, then the first.
    pub(crate) fn class(&self, scores: &[f64], preferred: u32) -> u32 {
        let Some(costs) = &self.costs else { return self.calibration.most_probable(scores, preferred) };
        let mut shares = Vec::new();
        self.calibration.probabilities(scores, &mut shares);
        costs.least(&shares, preferred)
    }

    /// What every class has for it, given these scores: the one that is named has most. Of probabilities it is what
    /// their curves count in, with costs the expected cost, less being more.
    pub(crate) fn standings(&self, scores: &[f64]) -> Vec<f64> {
        let curves = &self.calibration.curves;
        match (&self.costs, curves.as_slice()) {
            (None, [curve]) => vec![-curve.rank(scores[0]), curve.rank(scores[0])],
            (None, curves) => curves.iter().zip(scores).map(|(curve, &score)| curve.rank(score)).collect(),
            (Some(costs), _) => {
                let mut shares = Vec::new();
                self.calibration.probabilities(scores, &mut shares);
                (0..shares.len()).map(|class| -costs.expected(&shares, class)).collect()
            }
        }
    }

    /// By how much `class` is ahead of the next; 0 is a tie.
    pub(crate) fn margin(&self, scores: &[f64], class: u32) -> f64 {
        let Some(costs) = &self.costs else { return self.calibration.margin(scores, class) };
        let mut shares = Vec::new();
        self.calibration.probabilities(scores, &mut shares);
        costs.margin(&shares, class)
    }
}

/// How many curves, and scores, a row of this many classes has.
pub(crate) fn n_curves(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// Scores this many times the median are far.
const FAR: f64 = 10.0;

/// Platt's sigmoid. A row far beyond all others and on the wrong side can turn the curve round; where the ranks of the
/// rows say that it should rise, far scores are then taken for less far ones.
fn platt(pairs: &[(f64, bool)], stop: &mut dyn FnMut() -> bool) -> Option<Curve> {
    let fitted = sigmoid_within(f64::MAX, pairs, stop)?;
    // The curve is 1 / (1 + exp(slope score + offset)).
    let is_falling = matches!(fitted, Curve::Platt { slope, .. } if slope > 0.0);
    if !is_falling || curve(1, pairs.to_vec()).is_none_or(|ranked| ranked.area <= 0.5) {
        return Some(fitted);
    }
    let mut sizes: Vec<f64> = pairs.iter().map(|(score, _)| score.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    match (FAR * sizes[sizes.len() / 2]).min(f64::MAX) {
        most if most > 0.0 => sigmoid_within(most, pairs, stop),
        _ => Some(fitted),
    }
}

/// A step that promised to lower the cost by no more than this share of it was the last.
const ARRIVED: f64 = 1e-12;

/// Platt's sigmoid of scores within `-most..most`, by Newton's method with a line search (Lin, Lin and Weng 2007).
/// Targets are moved off 0 and 1 by his prior, so that scores which part the classes do not make the slope endless.
/// `None` if it is to stop.
fn sigmoid_within(most: f64, pairs: &[(f64, bool)], stop: &mut dyn FnMut() -> bool) -> Option<Curve> {
    let near = |score: f64| score.clamp(-most, most);
    // The unit of scores is arbitrary: votes count in thousands.
    let unit = pairs.iter().map(|(score, _)| near(*score).abs()).fold(0.0, f64::max);
    let unit = if unit > 0.0 { unit } else { 1.0 };
    let members = pairs.iter().filter(|(_, member)| *member).count() as f64;
    let others = pairs.len() as f64 - members;
    let targets = [1.0 / (others + 2.0), (members + 1.0) / (members + 2.0)];
    let points: Vec<(f64, f64)> =
        pairs.iter().map(|&(score, member)| (near(score) / unit, targets[usize::from(member)])).collect();
    let cost_of_some = |points: &[(f64, f64)], slope: f64, offset: f64| -> f64 {
        let (mut linear, mut product) = (0.0, 1.0);
        for &(score, target) in points {
            // -t log p - (1 - t) log(1 - p) with p = logistic(-z), without overflow.
            let z = slope * score + offset;
            linear += if z >= 0.0 { target * z } else { (target - 1.0) * z };
            product *= 1.0 + exp(-z.abs());
        }
        linear + ln(product)
    };
    let cost = |slope: f64, offset: f64| -> f64 {
        points.chunks(FACTORS).map(|points| cost_of_some(points, slope, offset)).sum()
    };
    let prior = ln((others + 1.0) / (members + 1.0));
    let (mut slope, mut offset) = (0.0, prior);
    let mut now = cost(slope, offset);
    for _ in 0..100 {
        if stop() {
            return None;
        }
        // A little on the diagonal keeps equal scores from making the matrix singular.
        let (mut aa, mut bb, mut ab, mut da, mut db) = (1e-12, 1e-12, 0.0, 0.0, 0.0);
        for &(score, target) in &points {
            let p = logistic(-(slope * score + offset));
            let curvature = p * (1.0 - p);
            aa += score * score * curvature;
            bb += curvature;
            ab += score * curvature;
            da += score * (target - p);
            db += target - p;
        }
        let determinant = aa * bb - ab * ab;
        let (step_a, step_b) = ((ab * db - bb * da) / determinant, (ab * da - aa * db) / determinant);
        let slope_down = da * step_a + db * step_b;
        let mut length = 1.0;
        let mut better = None;
        while length > 1e-10 {
            let (a, b) = (slope + length * step_a, offset + length * step_b);
            let there = cost(a, b);
            if there < now + 1e-4 * length * slope_down {
                better = Some((a, b, there));
                break;
            }
            length /= 2.0;
        }
        let Some((a, b, there)) = better else { break };
        (slope, offset, now) = (a, b, there);
        // Newton's steps double the digits that are right: one more would change nothing.
        if -slope_down <= ARRIVED * now {
            break;
        }
    }
    // Scores that are no numbers tell nothing: then every row is as likely as all of them together.
    let slope = slope / unit;
    let is_number = slope.is_finite() && offset.is_finite();
    Some(if is_number { Curve::Platt { slope, offset } } else { Curve::Platt { slope: 0.0, offset: prior } })
}

/// Pools neighbours that are in the wrong order until none are.
fn isotonic(pairs: &mut [(f64, bool)]) -> Curve {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    // One point per score: its share of members, and how many rows stand there.
    let points: Vec<(f64, f64, f64)> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|tied| {
            let members = tied.iter().filter(|(_, member)| *member).count() as f64;
            (tied[0].0, members / tied.len() as f64, tied.len() as f64)
        })
        .collect();
    // Pools of points: their mean share, how many rows, how many points.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for &(_, share, rows) in &points {
        let mut pool = (share, rows, 1);
        while let Some(&(before, weight, n_points)) = pools.last().filter(|(before, ..)| *before >= pool.0) {
            pools.pop();
            let whole = weight + pool.1;
            pool = ((before * weight + pool.0 * pool.1) / whole, whole, n_points + pool.2);
        }
        pools.push(pool);
    }
    // Of a pool only its two ends are corners.
    let (mut scores, mut shares, mut first) = (Vec::new(), Vec::new(), 0);
    for (share, _, n_points) in pools {
        let last = first + n_points - 1;
        for place in if first == last { first..first + 1 } else { first..last + 1 } {
            if place == first || place == last {
                scores.push(points[place].0);
                shares.push(share.clamp(0.0, 1.0));
            }
        }
        first = last + 1;
    }
    Curve::Isotonic { scores, shares }
}

/// How good probabilities are: both are 0 if every row's class was certain, and smaller is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbabilityScores {
    /// The mean squared difference from the truth: of the second class's probability for two classes, of
    /// all classes' probabilities together for more.
    pub brier: f64,
    /// The mean of `-ln` of the probability that the true class was given, which is taken as at least
    /// `f64::EPSILON`.
    pub log_loss: f64,
}

/// Losses of probabilities, row by row.
#[derive(Default)]
pub(crate) struct Losses {
    brier: f64,
    log_loss: f64,
    n_rows: u64,
}

impl Losses {
    /// Adds a row of this class, the classes of which were given these probabilities.
    pub(crate) fn add(&mut self, shares: &[f64], truth: u32) {
        self.brier += squared_difference(shares, truth as usize);
        // A class the model does not know was given no chance.
        let share = shares.get(truth as usize).copied().unwrap_or(0.0);
        self.log_loss -= ln(share.max(f64::EPSILON));
        self.n_rows += 1;
    }

    /// The mean of two parts, or of one.
    pub(crate) fn together(parts: &[Self]) -> Option<ProbabilityScores> {
        let n_rows = parts.iter().map(|part| part.n_rows).sum::<u64>() as f64;
        (n_rows > 0.0).then(|| ProbabilityScores {
            brier: parts.iter().map(|part| part.brier).sum::<f64>() / n_rows,
            log_loss: parts.iter().map(|part| part.log_loss).sum::<f64>() / n_rows,
        })
    }
}

/// Brier's score of one row.
fn squared_difference(shares: &[f64], truth: usize) -> f64 {
    let difference = |class: usize| (shares[class] - f64::from(u8::from(class == truth))).powi(2);
    match shares.len() {
        2 if truth < 2 => difference(1),
        n_classes => (0..n_classes).map(difference).sum::<f64>() + f64::from(u8::from(truth >= n_classes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph for other programs knows one number where steps name a class: it must name the same.
    #[test]
    fn one_cut_names_what_steps_name() {
        for (scores, shares) in [
            (vec![-3.0, -1.0, 2.0, 4.0], vec![0.1, 0.5, 0.5, 0.9]),
            (vec![1.0, 2.0, 4.0], vec![0.2, 0.5, 0.5]),
            (vec![-4.0, -2.0, -1.0], vec![0.5, 0.5, 0.8]),
            (vec![0.5, 1.5, 3.0], vec![0.0, 0.5, 1.0]),
            (vec![-3.0, -1.0, 1.0], vec![0.0, 0.3, 0.9]),
            (vec![-1.0, 1.0], vec![0.6, 0.7]),
            (vec![-1.0, 1.0], vec![0.5, 0.5]),
        ] {
            let curve = Curve::Isotonic { scores, shares };
            let calibration = Calibration { rows: 9, curves: vec![curve.clone()] };
            for score in (-50..=50).map(|tenth| f64::from(tenth) / 10.0).filter(|score| *score != 0.0) {
                let named = calibration.most_probable(&[score], u32::from(score > 0.0));
                assert_eq!(u32::from(score > curve.cut(0.5)), named, "{curve:?} at {score}");
            }
        }
    }

    #[test]
    fn one_absurd_score_does_not_turn_the_curve_round() {
        let of_row =
            |row: i32| (f64::from(row % 10 + 1) * if row % 20 < 10 { -1.0 } else { 1.0 }, row % 20 >= 10);
        let pairs: Vec<(f64, bool)> = (0..100).map(of_row).chain([(-1e9, true)]).collect();
        let scores: Vec<f64> = pairs.iter().map(|(score, _)| *score).collect();
        let classes: Vec<u32> = pairs.iter().map(|(_, member)| u32::from(*member)).collect();
        let fitted = Calibration::fit(Method::Platt, 2, &scores, &classes).unwrap();
        let mut shares = Vec::new();
        fitted.probabilities(&[5.0], &mut shares);
        assert!(shares[1] > 0.8, "{shares:?}");
        fitted.probabilities(&[-5.0], &mut shares);
        assert!(shares[1] < 0.2, "{shares:?}");
    }

    #[test]
    fn pools_are_joined_by_lines_and_level_beyond_the_ends() {
        let pairs = [(1.0, false), (2.0, true), (3.0, false), (4.0, true), (4.0, true), (6.0, true)];
        let curve = isotonic(&mut pairs.to_vec());
        // 2 and 3 are in the wrong order and share a half.
        let expected = [(0.0, 0.0), (1.0, 0.0), (1.5, 0.25), (2.5, 0.5), (3.5, 0.75), (5.0, 1.0), (9.0, 1.0)];
        for (score, share) in expected {
            assert_eq!(curve.at(score), share, "at {score}");
        }
    }

    #[test]
    fn classes_that_scores_part_give_a_steep_curve_but_no_certainty() {
        let pairs: Vec<(f64, bool)> = (0..50).map(|row| (row as f64 * 1e4 - 245_000.0, row >= 25)).collect();
        let curve = platt(&pairs, &mut || false).unwrap();
        assert!(curve.at(2e5) > 0.95 && curve.at(2e5) < 1.0 && curve.at(-2e5) < 0.05, "{curve:?}");
        assert!((curve.at(0.0) - 0.5).abs() < 0.01);
    }

    #[test]
    fn scores_that_overflowed_are_as_large_as_can_be() {
        let pairs: Vec<(f64, bool)> =
            (0..20).map(|row| (if row < 10 { f64::NEG_INFINITY } else { 1e300 }, row >= 10)).collect();
        let curve = platt(&pairs, &mut || false).unwrap();
        assert!(curve.at(f64::INFINITY) > 0.5 && curve.at(f64::NEG_INFINITY) < 0.5, "{curve:?}");
        assert!(curve.at(1e300).is_finite());
    }

    #[test]
    fn scores_that_say_nothing_give_the_share_of_the_class() {
        let pairs: Vec<(f64, bool)> = (0..40).map(|row| (0.0, row % 4 == 0)).collect();
        assert!((platt(&pairs, &mut || false).unwrap().at(0.0) - 0.25).abs() < 0.02);
        assert_eq!(isotonic(&mut pairs.clone()).at(3.0), 0.25);
    }

    #[test]
    fn probabilities_are_judged_on_rows_they_were_not_fitted_on() {
        // Scores that say nothing: steps fitted to them look sharp where they were fitted, and nowhere else.
        let mut random = rosenblatt_core::Random::new(3);
        let scores: Vec<f64> = (0..400).map(|_| random.unit()).collect();
        let classes: Vec<u32> = (0..400).map(|_| random.below(2) as u32).collect();
        let stop: &mut dyn FnMut() -> bool = &mut || false;
        let fitted = Calibration::fit(Method::Isotonic, 2, &scores, &classes).unwrap();
        let (mut same, mut shares) = (Losses::default(), Vec::new());
        for (score, class) in scores.iter().zip(&classes) {
            fitted.probabilities(&[*score], &mut shares);
            same.add(&shares, *class);
        }
        let same = Losses::together(&[same]).unwrap();
        let rows = Scored { n_classes: 2, scores: &scores, classes: &classes, named: &classes, groups: None };
        let CrossFitted { scores: fresh, named, .. } =
            Calibration::cross_fitted(Method::Isotonic, &rows, Naming::ByScore, stop).unwrap();
        let fresh = fresh.unwrap();
        assert_eq!(named, classes);
        assert!(same.brier < 0.25 && fresh.brier > 0.25, "{same:?} {fresh:?}");
        assert!(fresh.log_loss > same.log_loss, "{same:?} {fresh:?}");
        let one = Scored { n_classes: 2, scores: &[1.0], classes: &[1], named: &[1], groups: None };
        let CrossFitted { scores: unknown, named, .. } =
            Calibration::cross_fitted(Method::Platt, &one, Naming::MostProbable, stop).unwrap();
        assert_eq!((unknown, named), (None, vec![1]));
        // A fit that is asked to stop does.
        let three = Calibration::fit_or_stop(Method::Platt, 3, &[0.5; 30], &[1; 10], &mut || true);
        assert!(matches!(three, Err(Error::Stopped)));
    }

    #[test]
    fn curves_name_another_class_only_where_that_helps() {
        let stop: &mut dyn FnMut() -> bool = &mut || false;
        let mut decided = |rows: &[(f64, u32)]| {
            let (scores, classes): (Vec<f64>, Vec<u32>) = rows.iter().copied().unzip();
            let named: Vec<u32> = scores.iter().map(|score| u32::from(*score > 0.0)).collect();
            let rows =
                Scored { n_classes: 2, scores: &scores, classes: &classes, named: &named, groups: None };
            let plain = Calibration::fit(Method::Platt, 2, &scores, &classes).unwrap();
            (plain, Calibration::fit_to_name(Method::Platt, &rows, stop).unwrap())
        };
        // All scores name the right class, but the sigmoid is drawn towards the others' far rows.
        let skewed = (0..40).map(|row| (0.1 + f64::from(row % 4) / 40.0, 1));
        let skewed: Vec<(f64, u32)> = skewed.chain((0..400).map(|row| (-0.01 - f64::from(row), 0))).collect();
        let (plain, to_name) = decided(&skewed);
        assert!(plain.curves[0].threshold(0.5) != 0.0 && to_name.curves[0].threshold(0.5) == 0.0);
        // All scores are too high by 2: then the curve knows better.
        let shifted: Vec<(f64, u32)> =
            (0..200).map(|row| (f64::from(row) / 50.0, u32::from(row > 100))).collect();
        let (plain, to_name) = decided(&shifted);
        assert_eq!(plain, to_name);
        assert!((plain.curves[0].threshold(0.5) - 2.0).abs() < 0.1);
    }

    /// Twelve groups of ten rows each, eight of which the scores name wrongly: by luck, or not.
    #[test]
    fn rows_of_one_group_are_wrong_together_and_count_as_one() {
        let stop: &mut dyn FnMut() -> bool = &mut || false;
        let (mut scores, mut classes, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..12_u32 {
            let class = group % 2;
            let sign = if class == 1 { 1.0 } else { -1.0 };
            let side = if group < 8 { -sign } else { sign };
            scores.extend((0..10).map(|row| side * (1.0 + f64::from(row) / 20.0)));
            classes.extend([class; 10]);
            groups.extend([group; 10]);
        }
        let named: Vec<u32> = scores.iter().map(|score| u32::from(*score > 0.0)).collect();
        let all = Scored { n_classes: 2, scores: &scores, classes: &classes, named: &named, groups: None };
        let rising = |rows: &Scored<'_>, stop: &mut dyn FnMut() -> bool| {
            Calibration::fit_to_name(Method::Platt, rows, stop).unwrap().most_probable(&[0.5], 0) == 1
        };
        assert!(!rising(&all, stop));
        // Of one curve for both classes, scores that tell nothing leave what the scores name, as probable as the other.
        let tied = Scored { groups: Some(&groups), ..all };
        assert!(rising(&tied, stop));
        let shared = Calibration::fit_to_name(Method::Platt, &tied, stop).unwrap();
        let mut shares = Vec::new();
        shared.probabilities(&[1e6], &mut shares);
        assert!((shares[1] - 0.5).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn no_rows_are_refused_and_impossible_classes_are_even() {
        assert!(Calibration::fit(Method::Platt, 2, &[], &[]).is_err());
        let scores = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let three = Calibration::fit(Method::Isotonic, 3, &scores, &[0, 1]).unwrap();
        let mut shares = Vec::new();
        three.probabilities(&[0.0, 0.0, 0.0], &mut shares);
        assert_eq!(shares, [1.0 / 3.0; 3]);
        three.probabilities(&[1.0, 0.0, 0.0], &mut shares);
        assert_eq!(shares, [1.0, 0.0, 0.0]);
    }
}
