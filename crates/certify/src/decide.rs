//! The decision: from rows to a verdict that is proved, by the cheapest method that can.
//!
//! Rows that contradict each other in pairs are found by hashing. A short run of the perceptron separates what is
//! easily separated. Then the nearest points of the hulls are sought: in the rows' own units, which are those of the
//! margin, and in units in which features and rows are alike, which are better for a verdict. A point that comes close
//! to zero is tried as an exact contradiction, any other as a hyperplane. What doubles cannot decide is sought again
//! with more and more digits, from where the search stood. Nothing is believed that has not been verified without
//! rounding.

use crate::certificate::{About, Certificate, Claim, FORMAT, Margin, Number, Polynomial, Share, VERSION};
use crate::dependency::{Dependency, dependency};
use crate::exact::{ExactSum, least_own_side, length_up, own_side};
use crate::integers::Integers;
use crate::nearest::{Ended, Search};
use crate::perceptron;
use crate::prove;
use crate::real::{Pair, Real};
use crate::rows::{Rows, shift};
use crate::watch::{Clock, Watch};
use crate::wide::Wide;
use num_bigint::{BigInt, Sign};
use std::collections::HashMap;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Whether the hyperplane may lie anywhere, or has to pass through the origin.
    pub bias: bool,
    /// How closely the bounds of the margin should agree, relative to the upper one.
    pub gap: f64,
}

impl Default for Question {
    fn default() -> Self {
        Self { bias: true, gap: 1e-6 }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A hyperplane has every row strictly on its side.
    Separable(Plane),
    /// These rows, from 0, with these weights, add up to zero: no hyperplane has.
    Inseparable(Vec<(usize, BigInt)>),
    /// The time was too short, or the numbers too hard: see [`Answer::stopped`].
    Undecided,
}

/// A hyperplane that separates the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// One weight per feature.
    pub weights: Vec<Number>,
    /// What is added to the score.
    pub intercept: Number,
}

impl Plane {
    /// Weights and intercept as doubles; `None` if they need more digits than those have.
    pub fn doubles(&self) -> Option<(Vec<f64>, f64)> {
        let double = |number: &Number| match number {
            Number::Double(value) => Some(*value),
            Number::Integer(_) => None,
        };
        Some((self.weights.iter().map(double).collect::<Option<_>>()?, double(&self.intercept)?))
    }
}

/// An answer, with all that was learned on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What was found.
    pub verdict: Verdict,
    /// The largest margin is at least this, by the hyperplane found; 0 if there is none.
    pub at_least: f64,
    /// No hyperplane has a larger margin than this; infinite if that is not known.
    pub at_most: f64,
    /// The rows, from 0, whose weighted means show the upper bound: the supporting rows.
    pub nearest: Vec<(usize, Number)>,
    /// Whether the search was stopped. What is open if it was not, more time will not close.
    pub stopped: bool,
}

impl Answer {
    fn undecided() -> Self {
        Self {
            verdict: Verdict::Undecided,
            at_least: 0.0,
            at_most: f64::INFINITY,
            nearest: Vec::new(),
            stopped: false,
        }
    }

    fn inseparable(weights: impl IntoIterator<Item = (usize, BigInt)>) -> Self {
        let mut weights: Vec<_> =
            weights.into_iter().filter(|(_, weight)| weight.sign() != Sign::NoSign).collect();
        weights.sort_by_key(|&(idx, _)| idx);
        Self { verdict: Verdict::Inseparable(weights), at_most: 0.0, ..Self::undecided() }
    }

    /// How far the bounds of the margin are apart, relative to the upper one.
    pub fn gap(&self) -> f64 {
        if self.at_most > 0.0 && self.at_most.is_finite() { 1.0 - self.at_least / self.at_most } else { 1.0 }
    }

    /// The certificate of a decided answer about these rows, whose classes are called so.
    pub fn certificate(
        &self,
        rows: &Rows,
        bias: bool,
        kernel: Option<Polynomial>,
        [positive, negative]: [Option<&str>; 2],
    ) -> Option<Certificate> {
        let share = |idx: usize, weight: Number| Share { row: rows.number(idx) + 1, weight };
        let claim = match &self.verdict {
            Verdict::Undecided => return None,
            Verdict::Inseparable(weights) => Claim::Inseparable {
                contradiction: weights
                    .iter()
                    .map(|(idx, weight)| share(*idx, Number::Integer(weight.to_string())))
                    .collect(),
            },
            Verdict::Separable(Plane { weights, intercept }) => Claim::Separable {
                weights: weights.clone(),
                intercept: intercept.clone(),
                margin: (self.at_most.is_finite() && !self.nearest.is_empty()).then(|| Margin {
                    at_least: self.at_least,
                    at_most: self.at_most,
                    nearest: self.nearest.iter().map(|(idx, weight)| share(*idx, weight.clone())).collect(),
                }),
            },
        };
        Some(Certificate {
            format: FORMAT.to_owned(),
            version: VERSION,
            data: About {
                rows: rows.len(),
                features: rows.width(),
                positive: positive.unwrap_or("+").to_owned(),
                negative: negative.map(str::to_owned),
                fingerprint: rows.fingerprint(),
            },
            bias,
            kernel,
            claim,
        })
    }
}

/// Decides whether a hyperplane separates the two sides of `rows`, and how widely.
///
/// ```
/// use rosenblatt_certify::{Question, Rows, Verdict, decide};
/// use std::ops::ControlFlow;
///
/// let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
/// let xor = Rows::from_points(&corners, &[true, false, false, true]);
/// let answer = decide(&xor, Question::default(), &|_| ControlFlow::Continue(()));
/// let Verdict::Inseparable(rows) = answer.verdict else { panic!("no line separates these") };
/// assert_eq!(rows.len(), 4);
/// ```
pub fn decide(rows: &Rows, question: Question, watch: &Watch<'_>) -> Answer {
    decide_by(rows, question, &Clock::new(watch))
}

pub(crate) fn decide_by(rows: &Rows, question: Question, clock: &Clock<'_>) -> Answer {
    let bias = question.bias;
    if rows.is_empty() {
        return Answer::undecided();
    }
    if bias && !rows.has_both_sides() {
        let plane = Plane {
            weights: vec![Number::Double(0.0); rows.width()],
            intercept: Number::Double(rows.sign(0)),
        };
        return Answer { verdict: Verdict::Separable(plane), ..Answer::undecided() };
    }
    if let Some(pair) = opposites(rows, bias, 1).pop() {
        return Answer::inseparable(pair.into_iter().map(|idx| (idx, BigInt::from(1))));
    }
    let mut hunt = Hunt { rows, question, clock, answer: Answer::undecided() };
    if let Some((weights, intercept)) = perceptron::quick(rows, bias, clock) {
        propose(rows, bias, &[], &weights, intercept, &mut hunt.answer);
    }
    let own = Units::own(rows, bias);
    clock.begin("looking for the nearest points");
    // Where units differ by no more than a few powers of two, their own are as good as any for a verdict, too.
    let mut start = Vec::new();
    if own.spread <= 8 {
        start = hunt.seek::<f64>(&own, &start);
        if !hunt.is_done(true) {
            start = hunt.seek::<Pair>(&own, &start);
        }
    }
    if !hunt.is_done(false) {
        let even = Units::even(rows, bias);
        let mut start = hunt.seek::<f64>(&even, &[]);
        hunt.with_more_digits(&even, &mut start, false, 0);
    }
    if !hunt.is_done(true) {
        if own.spread > 8 {
            start = hunt.seek::<f64>(&own, &start);
        }
        // Squares of what differs by that many digits.
        hunt.with_more_digits(&own.unscaled(rows), &mut start, true, 2 * own.spread);
    }
    let mut answer = hunt.answer;
    answer.stopped = clock.has_said_stop();
    answer
}

/// The rows in some units: of every feature, and of every row where only the verdict is wanted.
struct Units {
    rows: Rows,
    /// By which powers of two features were multiplied; one more than there are if the bias is one of them.
    powers: Vec<i32>,
    /// Whether lengths are lengths in the rows' own units, up to this power of two.
    true_to: Option<i32>,
    by_side: bool,
    /// By how many powers of two features differ in size.
    spread: i32,
}

impl Units {
    /// Their own, up to one power of two that brings the largest value to about 1.
    fn own(rows: &Rows, bias: bool) -> Self {
        let mut largest = vec![0.0_f64; rows.width()];
        for idx in 0..rows.len() {
            rows.entries(idx).for_each(|(j, value)| largest[j] = largest[j].max(value.abs()));
        }
        let sizes = || largest.iter().filter(|&&value| value > 0.0).map(|value| value.log2().floor() as i32);
        let (low, high) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        let powers = vec![-high; rows.width()];
        let scaled = rows.scaled(&powers, &[]);
        Self { rows: scaled, powers, true_to: Some(high), by_side: bias, spread: high - low }
    }

    /// Nothing multiplied, so that nothing is too small for a double.
    fn unscaled(&self, rows: &Rows) -> Self {
        let powers = vec![0; rows.width()];
        Self { rows: rows.clone(), powers, true_to: Some(0), by_side: self.by_side, spread: self.spread }
    }

    /// Those in which the largest and the smallest value of each feature, and of each row, are about as far from 1.
    /// The bias is a feature.
    fn even(rows: &Rows, bias: bool) -> Self {
        let rows = if bias { rows.augmented(1.0) } else { rows.clone() };
        let (mut of_feature, mut of_row) = (vec![0; rows.width()], vec![0; rows.len()]);
        for _ in 0..3 {
            let mut range = vec![(i32::MAX, i32::MIN); rows.width()];
            for (idx, of_row) in of_row.iter_mut().enumerate() {
                let sizes = || rows.entries(idx).map(|(j, value)| (j, value.abs().log2().floor() as i32));
                let row = sizes().map(|(j, size)| size + of_feature[j]);
                let (low, high) =
                    row.fold((i32::MAX, i32::MIN), |(low, high), size| (low.min(size), high.max(size)));
                *of_row = if low <= high { -i32::midpoint(low, high) } else { 0 };
                for (j, size) in sizes() {
                    range[j] = (range[j].0.min(size + *of_row), range[j].1.max(size + *of_row));
                }
            }
            for (power, (low, high)) in of_feature.iter_mut().zip(range) {
                *power = if low <= high { -i32::midpoint(low, high) } else { 0 };
            }
        }
        let scaled = rows.scaled(&of_feature, &of_row);
        Self { rows: scaled, powers: of_feature, true_to: None, by_side: false, spread: 0 }
    }
}

/// A search for an answer.
struct Hunt<'a> {
    rows: &'a Rows,
    question: Question,
    clock: &'a Clock<'a>,
    answer: Answer,
}

impl<'a> Hunt<'a> {
    /// Whether there is nothing more to find out; the margin only if `margin`.
    fn is_done(&self, margin: bool) -> bool {
        self.clock.has_said_stop()
            || match self.answer.verdict {
                Verdict::Undecided => false,
                Verdict::Inseparable(_) => true,
                Verdict::Separable(_) => !margin || self.answer.gap() <= self.question.gap,
            }
    }

    /// Searches with more and more digits, beginning with at least this many binary ones.
    fn with_more_digits(&mut self, units: &Units, start: &mut Vec<(usize, f64)>, margin: bool, digits: i32) {
        let ladder: [(i32, Seek<'a>); 4] = [
            (80, Self::seek::<Pair>),
            (480, Self::seek::<Wide<8>>),
            (2000, Self::seek::<Wide<32>>),
            (i32::MAX, Self::seek::<Wide<80>>),
        ];
        for (_, seek) in ladder.into_iter().filter(|(most, _)| digits <= *most) {
            if self.is_done(margin) {
                return;
            }
            *start = seek(self, units, start);
        }
    }

    /// Searches with numbers of some precision, and notes what the outcome proves. What is given and comes back are
    /// the rows that carry the point, with their shares.
    fn seek<R: Real>(&mut self, units: &Units, start: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let (bias, is_true) = (self.question.bias, units.true_to.is_some());
        let mut search = Search::<R>::new(&units.rows, units.by_side, start, self.clock);
        let half = if bias { 0.5 } else { 1.0 };
        let tell = |reach: f64, length: f64| {
            let to_true = |length: f64, power: i32| shift(half * length, power);
            self.clock.note(units.true_to.map(|power| (to_true(reach, power), to_true(length, power))));
        };
        // A little sharper than asked, since the certified bounds are rounded apart.
        let wanted = if is_true { 0.5 * self.question.gap } else { 0.5 };
        // Each closer look at zero costs an exact solution, so they are few.
        let mut zeros = R::ZEROS.iter().copied();
        let is_open = matches!(self.answer.verdict, Verdict::Undecided);
        let mut zero = if is_open { zeros.next() } else { None };
        loop {
            let ended = search.run(wanted, zero, &tell);
            let is_near_zero = ended == Ended::Zero || (ended == Ended::Stalled && search.best().is_none());
            if is_open && is_near_zero {
                let carriers: Vec<(usize, f64)> =
                    search.carriers().map(|(idx, share)| (idx, share.near())).collect();
                if let Some(weights) = contradiction(self.rows, &carriers, bias, self.clock) {
                    self.answer = Answer::inseparable(weights);
                    return carriers;
                }
                zero = zeros.next();
                if ended == Ended::Zero && zero.is_some() && !self.clock.is_over() {
                    continue;
                }
            }
            break;
        }
        self.conclude(&search, units);
        search.carriers().map(|(idx, share)| (idx, share.near())).collect()
    }

    /// Notes the hyperplane that was found, and how far the means of the rows that carry the point are apart: in
    /// doubles, and in integers where those are not good enough.
    fn conclude<R: Real>(&mut self, search: &Search<'_, R>, units: &Units) {
        let (rows, bias, is_true) = (self.rows, self.question.bias, units.true_to.is_some());
        let (places, shares): (Vec<usize>, Vec<R>) = search.carriers().unzip();
        if is_true {
            let doubles: Vec<(usize, f64)> =
                places.iter().zip(&shares).map(|(&idx, share)| (idx, share.near())).collect();
            let nearest = doubles.iter().map(|&(idx, share)| (idx, Number::Double(share))).collect();
            self.note(apart(rows, bias, &[], &doubles), nearest);
        }
        let whole = search.best().map(|best| {
            let scaled = best.iter().zip(&units.powers).take(rows.width());
            R::integers(&scaled.map(|(&weight, &power)| weight.shifted(power)).collect::<Vec<R>>())
        });
        if let Some(whole) = &whole {
            let weights = round_together(whole);
            let intercept = if bias { intercept_of(rows, &weights) } else { 0.0 };
            propose(rows, bias, &[], &weights, intercept, &mut self.answer);
        }
        if self.is_done(is_true) {
            return;
        }
        if let Some(found) = whole.and_then(|whole| prove::separated(rows, bias, &whole, self.clock)) {
            let is_open = matches!(self.answer.verdict, Verdict::Undecided);
            if is_open || found.at_least > self.answer.at_least {
                let number = |weight: &BigInt| Number::Integer(weight.to_string());
                self.answer.at_least = found.at_least;
                self.answer.verdict = Verdict::Separable(Plane {
                    weights: found.weights.iter().map(number).collect(),
                    intercept: number(&found.intercept),
                });
            }
        }
        if is_true && !self.is_done(true) {
            let whole: Vec<(usize, BigInt)> = places.into_iter().zip(R::integers(&shares)).collect();
            let at_most = prove::apart(rows, bias, &whole);
            let nearest = whole.into_iter().map(|(idx, share)| (idx, Number::Integer(share.to_string())));
            self.note(at_most, nearest.collect());
        }
    }

    fn note(&mut self, at_most: f64, mut nearest: Vec<(usize, Number)>) {
        if at_most < self.answer.at_most {
            nearest.sort_by_key(|&(idx, _)| idx);
            (self.answer.at_most, self.answer.nearest) = (at_most, nearest);
        }
    }
}

/// A search with numbers of some precision.
type Seek<'a> = fn(&mut Hunt<'a>, &Units, &[(usize, f64)]) -> Vec<(usize, f64)>;

/// Tries a hyperplane: if it strictly separates all rows, by a wider margin than was known, it is noted. `axes` are lower
/// bounds of how long the axes of features are, 1 if empty.
pub(crate) fn propose(
    rows: &Rows,
    bias: bool,
    axes: &[f64],
    weights: &[f64],
    intercept: f64,
    answer: &mut Answer,
) {
    let largest = weights.iter().fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
    if !largest.is_normal() || !intercept.is_finite() {
        return;
    }
    // Of moderate size, so that squares neither overflow nor vanish. Powers of two change no digit.
    let power = -(largest.log2().floor() as i32);
    let weights: Vec<f64> = weights.iter().map(|&weight| shift(weight, power)).collect();
    let intercept = if bias { shift(intercept, power) } else { 0.0 };
    let least = least_own_side(rows, &weights, intercept);
    let is_better = matches!(answer.verdict, Verdict::Undecided);
    if least.is_nan() || least <= 0.0 || !intercept.is_finite() {
        return;
    }
    let length = if axes.is_empty() {
        length_up(&weights)
    } else {
        let parts: Vec<f64> = weights.iter().zip(axes).map(|(weight, axis)| weight / axis).collect();
        length_up(&parts) * (1.0 + 4.0 * f64::EPSILON)
    };
    let at_least = (least / length).next_down().max(0.0);
    if is_better || at_least > answer.at_least {
        answer.at_least = at_least;
        answer.verdict = Verdict::Separable(Plane {
            weights: weights.into_iter().map(Number::Double).collect(),
            intercept: Number::Double(intercept),
        });
    }
}

/// The intercept that puts the hyperplane halfway between the nearest rows of the two sides.
pub(crate) fn intercept_of(rows: &Rows, weights: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; 2];
    let mut doubt = 0.0_f64;
    let scores: Vec<(f64, f64)> = (0..rows.len())
        .map(|idx| {
            let terms = rows.entries(idx).map(|(j, x)| weights[j] * x);
            let (score, size) =
                terms.fold((0.0, 0.0), |(sum, size): (f64, f64), term| (sum + term, size + term.abs()));
            (rows.sign(idx) * score, size * f64::EPSILON * (rows.entries(idx).len() as f64 + 1.0))
        })
        .collect();
    for (idx, &(own, rounding)) in scores.iter().enumerate() {
        let side = usize::from(rows.is_positive(idx));
        if own < least[side] {
            least[side] = own;
        }
        doubt = doubt.max(rounding);
    }
    // Where rounding may decide who is nearest, the candidates are added up again without it.
    let mut exact = [f64::INFINITY; 2];
    for (idx, &(own, _)) in scores.iter().enumerate() {
        let side = usize::from(rows.is_positive(idx));
        if own <= least[side] + 2.0 * doubt || !own.is_finite() {
            let (low, high) = crate::exact::exactly(rows, idx, weights, 0.0);
            exact[side] = exact[side].min(0.5 * low + 0.5 * high);
        }
    }
    0.5 * exact[0] - 0.5 * exact[1]
}

/// An upper bound of the margin: how far the weighted means are apart, rounded up. `axes` are upper bounds of how long the
/// axes of features are, 1 if empty.
pub(crate) fn apart(rows: &Rows, bias: bool, axes: &[f64], nearest: &[(usize, f64)]) -> f64 {
    let total = |side: Option<bool>| {
        let mut sum = ExactSum::new();
        let members =
            nearest.iter().filter(|(idx, _)| side.is_none_or(|side| rows.is_positive(*idx) == side));
        members.for_each(|&(_, share)| sum.add(share, 1.0));
        sum
    };
    let mut sums: HashMap<usize, (ExactSum, f64)> = HashMap::new();
    for &(idx, share) in nearest {
        for (feature, value) in rows.exact(idx) {
            let (sum, minus) = sums.entry(feature).or_insert_with(|| (ExactSum::new(), 0.0));
            sum.add(share, rows.sign(idx) * value);
            if !rows.is_positive(idx) {
                *minus += share * value.abs();
            }
        }
    }
    // (P - Q)/a + Q (1/a - 1/b) is P/a - Q/b, for sums P, Q with weights a, b; the last part is tiny, so that
    // its size is enough. Through the origin there is only the first part, over all weights.
    let (whole, uneven) = if bias {
        let (plus, minus) = (total(Some(true)).bounds(), total(Some(false)).bounds());
        let mut difference = ExactSum::new();
        for &(idx, share) in nearest {
            difference.add(share, rows.sign(idx));
        }
        let (low, high) = difference.bounds();
        (plus.0, low.abs().max(high.abs()) / (plus.0 * minus.0))
    } else {
        (total(None).bounds().0, 0.0)
    };
    let mut parts: Vec<(usize, f64)> = sums
        .into_iter()
        .map(|(feature, (sum, minus))| {
            let (low, high) = sum.bounds();
            let axis = axes.get(feature).copied().unwrap_or(1.0);
            (feature, (low.abs().max(high.abs()) / whole + minus * uneven) * axis)
        })
        .collect();
    // Added in one order, whatever the map's.
    parts.sort_by_key(|&(feature, _)| feature);
    let largest = parts.iter().map(|&(_, part)| part).fold(0.0, f64::max);
    if !largest.is_finite() || whole.is_nan() || whole <= 0.0 {
        return f64::INFINITY;
    }
    if largest == 0.0 {
        return 0.0;
    }
    let power = -(largest.log2().floor() as i32);
    let parts: Vec<f64> = parts.into_iter().map(|(_, part)| shift(part, power)).collect();
    let slack = 1.0 + 32.0 * f64::EPSILON;
    shift(length_up(&parts) * slack * if bias { 0.5 } else { 1.0 }, -power).next_up()
}

/// The exact contradiction that a point near zero, carried by these rows, may stand for.
fn contradiction(
    rows: &Rows,
    carriers: &[(usize, f64)],
    bias: bool,
    clock: &Clock<'_>,
) -> Option<Vec<(usize, BigInt)>> {
    let largest = (0..carriers.len()).max_by(|&a, &b| carriers[a].1.total_cmp(&carriers[b].1))?;
    let support: Vec<usize> = carriers.iter().map(|&(idx, _)| idx).collect();
    match dependency(&Integers::new(rows, &support, bias), largest, clock) {
        Dependency::Weights(weights) if weights.iter().all(|weight| weight.sign() != Sign::Minus) => {
            Some(support.into_iter().zip(weights).collect())
        }
        _ => None,
    }
}

/// Integers as doubles of moderate size, all divided by the same power of two.
fn round_together(numbers: &[BigInt]) -> Vec<f64> {
    let longest = numbers.iter().map(BigInt::bits).max().unwrap_or(0);
    let round = |value: &BigInt| {
        let spare = value.bits().saturating_sub(63);
        let head = i64::try_from(value >> spare).unwrap_or(0);
        shift(head as f64, (spare as i64 - longest as i64).max(-2000) as i32)
    };
    numbers.iter().map(round).collect()
}

/// Up to `most` sets of one or two rows that contradict each other at once: equal rows on different sides,
/// and through the origin also opposite rows on one side, and rows of nothing but zeros.
pub fn opposites(rows: &Rows, bias: bool, most: usize) -> Vec<Vec<usize>> {
    let key = |idx: usize, sign: f64| -> Vec<(usize, u64)> {
        rows.exact(idx).map(|(feature, value)| (feature, (sign * value).to_bits())).collect()
    };
    let mut found = Vec::new();
    let mut seen: HashMap<(bool, Vec<(usize, u64)>), usize> = HashMap::new();
    for idx in 0..rows.len() {
        if found.len() >= most {
            break;
        }
        let side = rows.is_positive(idx);
        if bias {
            match seen.get(&(!side, key(idx, 1.0))) {
                Some(&other) => found.push(vec![other, idx]),
                None => {
                    seen.entry((side, key(idx, 1.0))).or_insert(idx);
                }
            }
        } else if rows.entries(idx).len() == 0 {
            found.push(vec![idx]);
        } else {
            match seen.get(&(true, key(idx, -rows.sign(idx)))) {
                Some(&other) => found.push(vec![other, idx]),
                None => {
                    seen.entry((true, key(idx, rows.sign(idx)))).or_insert(idx);
                }
            }
        }
    }
    found
}

/// The rows, from 0, that a hyperplane has not strictly on their own side: exactly, whatever rounding does.
pub fn mistakes(rows: &Rows, weights: &[f64], intercept: f64) -> Vec<usize> {
    (0..rows.len()).filter(|&idx| own_side(rows, idx, weights, intercept).0 <= 0.0).collect()
}
