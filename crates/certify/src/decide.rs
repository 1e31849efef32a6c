//! The decision: from rows to a verdict that is proved, by the cheapest method that can.
//!
//! Rows that contradict each other in pairs are found by hashing. A short run of the perceptron separates
//! what is easily separated. Then the nearest points of the hulls are sought in doubles, in the rows' own
//! units and in units in which all features are alike; a point that comes close to zero is tried as an exact
//! contradiction, any other as a hyperplane. What is small and still undecided goes to exact linear
//! programming. Nothing is believed that has not been verified without rounding.

use crate::certificate::{About, Certificate, Claim, FORMAT, Margin, Number, Polynomial, Share, VERSION};
use crate::dependency::{Dependency, dependency};
use crate::exact::{ExactSum, least_own_side, length_up, own_side};
use crate::integers::Integers;
use crate::nearest::{Ended, Nearest, Search};
use crate::perceptron;
use crate::real::{Pair, Real};
use crate::rows::{Rows, shift};
use crate::simplex::{Outcome, simplex};
use num_bigint::{BigInt, Sign};
use std::collections::HashMap;
use std::ops::ControlFlow;

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

/// How far a decision has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// What is being done.
    pub doing: &'a str,
    /// What the margin lies between, as far as doubles can tell; the lower bound may be negative.
    pub margin: Option<(f64, f64)>,
}

/// Told how a decision gets on, and asked whether it should go on.
pub type Watch<'a> = dyn FnMut(Progress<'_>) -> ControlFlow<()> + 'a;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A hyperplane has every row strictly on its side.
    Separable(Plane),
    /// These rows, from 0, with these weights, add up to zero: no hyperplane has.
    Inseparable(Vec<(usize, BigInt)>),
    /// The time was too short, or the numbers too hard.
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
    pub nearest: Vec<(usize, f64)>,
}

impl Answer {
    fn undecided() -> Self {
        Self { verdict: Verdict::Undecided, at_least: 0.0, at_most: f64::INFINITY, nearest: Vec::new() }
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
                    nearest: self
                        .nearest
                        .iter()
                        .map(|&(idx, weight)| share(idx, Number::Double(weight)))
                        .collect(),
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
/// let answer = decide(&xor, Question::default(), &mut |_| ControlFlow::Continue(()));
/// let Verdict::Inseparable(rows) = answer.verdict else { panic!("no line separates these") };
/// assert_eq!(rows.len(), 4);
/// ```
pub fn decide(rows: &Rows, question: Question, watch: &mut Watch<'_>) -> Answer {
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
    let mut answer = Answer::undecided();
    if let Some((weights, intercept)) = perceptron::quick(rows, bias, watch) {
        propose(rows, bias, &weights, intercept, &mut answer);
    }
    let powers = alike(rows);
    let (low, high) =
        powers.iter().flatten().fold((0, 0), |(low, high), &power| (low.min(power), high.max(power)));
    let is_uneven = high - low > 8;
    let even: Vec<i32> = powers.iter().map(|power| power.unwrap_or(0)).collect();
    let middle = vec![powers.iter().flatten().copied().min().unwrap_or(0); rows.width()];
    // In units of their own features are alike, which is better for a verdict; the margin is meant in theirs.
    let order = if is_uneven { [(&even, false), (&middle, true)] } else { [(&middle, true), (&even, false)] };
    for (powers, is_true) in order {
        let is_separable = matches!(answer.verdict, Verdict::Separable(_));
        if !is_true && (is_separable || !is_uneven) {
            continue;
        }
        seek(rows, question, powers, is_true, &mut answer, watch);
        if matches!(answer.verdict, Verdict::Inseparable(_)) {
            return answer;
        }
    }
    if matches!(answer.verdict, Verdict::Undecided) {
        by_simplex(rows, question, &mut answer, watch);
    }
    answer
}

/// The powers of two that bring the largest value of each feature to about 1; `None` for features without.
fn alike(rows: &Rows) -> Vec<Option<i32>> {
    let mut largest = vec![0.0_f64; rows.width()];
    for idx in 0..rows.len() {
        rows.entries(idx).for_each(|(j, value)| largest[j] = largest[j].max(value.abs()));
    }
    largest.into_iter().map(|value| (value > 0.0).then(|| -(value.log2().floor() as i32))).collect()
}

/// Looks for the nearest points with features multiplied by powers of two, and notes what that proves.
fn seek(
    rows: &Rows,
    question: Question,
    powers: &[i32],
    is_true: bool,
    answer: &mut Answer,
    watch: &mut Watch<'_>,
) {
    let scaled = rows.scaled(powers);
    let unit = powers.first().copied().unwrap_or(0);
    let bias = question.bias;
    let half = if bias { 0.5 } else { 1.0 };
    let to_true = |length: f64| shift(half * length, -unit);
    let mut tell = |reach: f64, length: f64| {
        let margin = is_true.then(|| (to_true(reach), to_true(length)));
        watch(Progress { doing: "looking for the nearest points", margin })
    };
    let ended =
        pursue(rows, &mut Search::<f64>::new(&scaled, bias), powers, question, is_true, answer, &mut tell);
    // Where doubles have too few digits for the margin, pairs of them may have enough.
    let is_open = ended == Ended::Stalled && !matches!(answer.verdict, Verdict::Inseparable(_));
    if is_open && (is_true || matches!(answer.verdict, Verdict::Undecided)) {
        pursue(rows, &mut Search::<Pair>::new(&scaled, bias), powers, question, is_true, answer, &mut tell);
    }
}

/// Searches with numbers of some precision, and notes what the outcome proves.
fn pursue<R: Real>(
    rows: &Rows,
    search: &mut Search<'_, R>,
    powers: &[i32],
    Question { bias, gap }: Question,
    is_true: bool,
    answer: &mut Answer,
    tell: &mut dyn FnMut(f64, f64) -> ControlFlow<()>,
) -> Ended {
    // Each closer look at zero costs an exact solution, so they are few.
    let mut zeros = [1e-6, 1e-9, 1e-12, 1e-15].into_iter();
    let mut zero = zeros.next();
    // A little sharper than asked, since the certified bounds are rounded apart.
    let wanted = if is_true { 0.5 * gap } else { 0.5 };
    let ended = loop {
        let ended = search.run(wanted, zero.unwrap_or(0.0), tell);
        if ended == Ended::Zero || (ended == Ended::Stalled && search.state().reach <= 0.0) {
            if let Some(weights) = contradiction(rows, search.state(), bias) {
                *answer = Answer::inseparable(weights);
                return ended;
            }
            zero = zeros.next();
            if ended == Ended::Zero && zero.is_some() {
                continue;
            }
        }
        break ended;
    };
    let state = search.state();
    if state.reach > 0.0 || ended == Ended::Sharp {
        let weights: Vec<f64> =
            state.best.iter().zip(powers).map(|(&weight, &power)| shift(weight, power)).collect();
        let intercept = if bias { intercept_of(rows, &weights) } else { 0.0 };
        propose(rows, bias, &weights, intercept, answer);
    }
    let nearest: Vec<(usize, f64)> =
        state.support.iter().copied().zip(state.shares.iter().copied()).collect();
    let at_most = apart(rows, bias, &nearest);
    if at_most < answer.at_most {
        (answer.at_most, answer.nearest) = (at_most, nearest);
        answer.nearest.sort_by_key(|&(idx, _)| idx);
    }
    ended
}

/// Tries a hyperplane: if it strictly separates all rows, by a wider margin than was known, it is noted.
fn propose(rows: &Rows, bias: bool, weights: &[f64], intercept: f64, answer: &mut Answer) {
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
    let at_least = (least / length_up(&weights)).next_down().max(0.0);
    if is_better || at_least > answer.at_least {
        answer.at_least = at_least;
        answer.verdict = Verdict::Separable(Plane {
            weights: weights.into_iter().map(Number::Double).collect(),
            intercept: Number::Double(intercept),
        });
    }
}

/// The intercept that puts the hyperplane halfway between the nearest rows of the two sides.
fn intercept_of(rows: &Rows, weights: &[f64]) -> f64 {
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

/// An upper bound of the margin: how far the weighted means are apart, rounded up.
fn apart(rows: &Rows, bias: bool, nearest: &[(usize, f64)]) -> f64 {
    let total = |side: Option<bool>| {
        let mut sum = ExactSum::new();
        let members =
            nearest.iter().filter(|(idx, _)| side.is_none_or(|side| rows.is_positive(*idx) == side));
        members.for_each(|&(_, share)| sum.add(share, 1.0));
        sum
    };
    let mut sums: HashMap<usize, (ExactSum, f64)> = HashMap::new();
    for &(idx, share) in nearest {
        for (feature, value) in rows.entries(idx) {
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
            (feature, low.abs().max(high.abs()) / whole + minus * uneven)
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

/// The exact contradiction that a point near zero may stand for.
fn contradiction(rows: &Rows, state: &Nearest, bias: bool) -> Option<Vec<(usize, BigInt)>> {
    let largest = (0..state.support.len()).max_by(|&a, &b| state.shares[a].total_cmp(&state.shares[b]))?;
    let integers = Integers::new(rows, &state.support, bias);
    let weights = match dependency(&integers, largest) {
        Dependency::Independent => return None,
        Dependency::Weights(weights) => weights,
        Dependency::Unknown => match simplex(&integers, &mut || ControlFlow::Continue(())) {
            Outcome::Contradiction(weights) => weights,
            _ => return None,
        },
    };
    let is_sound = weights.iter().all(|weight| weight.sign() != Sign::Minus);
    is_sound.then(|| state.support.iter().copied().zip(weights).collect())
}

/// Exact linear programming over all rows.
fn by_simplex(rows: &Rows, question: Question, answer: &mut Answer, watch: &mut Watch<'_>) {
    let places: Vec<usize> = (0..rows.len()).collect();
    let integers = Integers::new(rows, &places, question.bias);
    let mut stop = || watch(Progress { doing: "exact linear programming", margin: None });
    match simplex(&integers, &mut stop) {
        Outcome::Nothing => {}
        Outcome::Contradiction(weights) => *answer = Answer::inseparable(weights.into_iter().enumerate()),
        Outcome::Prices(prices) => {
            // The weights of features that were multiplied have to be multiplied, too; all become whole.
            let lowest = integers.equations.iter().flatten().map(|&(_, power)| power).fold(0, i32::min);
            let mut weights = vec![BigInt::ZERO; rows.width()];
            let mut intercept = BigInt::ZERO;
            for (equation, price) in integers.equations.iter().zip(prices) {
                match *equation {
                    Some((feature, power)) => weights[feature] = price << (power - lowest),
                    None => intercept = price << -lowest,
                }
            }
            let number = |weight: &BigInt| Number::Integer(weight.to_string());
            answer.verdict = Verdict::Separable(Plane {
                weights: weights.iter().map(number).collect(),
                intercept: number(&intercept),
            });
            let rounded = round_together(&weights, &intercept);
            propose(rows, question.bias, &rounded.0, rounded.1, answer);
        }
    }
}

/// Integers as doubles of moderate size, all divided by the same power of two.
fn round_together(weights: &[BigInt], intercept: &BigInt) -> (Vec<f64>, f64) {
    let longest = weights.iter().chain([intercept]).map(BigInt::bits).max().unwrap_or(0);
    let round = |value: &BigInt| {
        let spare = value.bits().saturating_sub(63);
        let head = i64::try_from(value >> spare).unwrap_or(0);
        shift(head as f64, (spare as i64 - longest as i64).max(-2000) as i32)
    };
    (weights.iter().map(round).collect(), round(intercept))
}

/// Up to `most` sets of one or two rows that contradict each other at once: equal rows on different sides,
/// and through the origin also opposite rows on one side, and rows of nothing but zeros.
pub fn opposites(rows: &Rows, bias: bool, most: usize) -> Vec<Vec<usize>> {
    let key = |idx: usize, sign: f64| -> Vec<(usize, u64)> {
        rows.entries(idx).map(|(feature, value)| (feature, (sign * value).to_bits())).collect()
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
