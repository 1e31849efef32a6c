//! The proofs of the textbooks, checked while a run goes on.
//!
//! [`Invariants`] watches every round and holds the run to the inequalities behind the mistake bounds.
//! What is violated is either a rule that does not do what it says, or arithmetic that overflowed.
//!
//! With steps `w += a_t y_t x_t` on the rounds `t ∈ I`, `A = Σ a_t`, `M = |I|`, a rule that steps only
//! where `y f(x) ≤ b` obeys the inequalities of [`Inequality`], whatever its rate and whatever the
//! example weights, both of which are part of `a_t`. Bounds on `M` itself need steps of equal length
//! and are left out as soon as two steps differ.
//!
//! It applies to runs from zero weights in which each output learns alone and at once (two classes,
//! one-vs-rest, one-vs-one), by rules that neither shrink their weights nor change the metric: the
//! perceptron, fixed and uneven margins, `MinOver` and the like. Not to direct multiclass, batches or
//! second-order rules. A learned bias counts as a coordinate of its own here, which is what it is.

use crate::convention::Bias;
use crate::examples::Examples;
use crate::observer::{Epoch, Observer, Round, Snapshot};
use crate::space::Hyperplanes;
use std::fmt;
use std::ops::ControlFlow;

/// How much rounding may add, relative to the larger side.
const SLACK: f64 = 1e-9;

/// What is checked. `γ` is the margin a given unit vector `u` should have, `D² = Σ max(0, γ - y u·x)²`
/// over all rounds how far it misses it, and `L = Σ max(0, 1 - y u·x)` its hinge loss on the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inequality {
    /// `‖w‖² ≤ Σ a²‖x‖² + 2ab`: a step on a mistake adds at most the example's own length.
    NormBySpreads,
    /// `Σ a²‖x‖² + 2ab ≤ R² Σ a² + 2bA`.
    SpreadsByRadius,
    /// `A²γ² ≤ ‖w‖²` while `u` separates with margin `γ`: every step goes along `u`.
    Progress,
    /// `A ≤ Σ a max(0, 1 - y u·x) + ‖u‖‖w‖` for any `u` at all.
    AnyVector,
    /// `M ≤ (R² + 2b/a)/γ²` while `u` separates with margin `γ`. With `b = 0`, Novikoff's bound.
    Separable,
    /// `M ≤ ((R + D)/γ)²` for `b = 0`, whether or not anything separates (Freund and Schapire).
    Inseparable,
    /// `M ≤ L + ‖u‖R√L + ‖u‖²R²` for `b = 0` and any `u` (Gentile).
    HingeLoss,
}

impl fmt::Display for Inequality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NormBySpreads => "|w|^2 <= sum |x|^2",
            Self::SpreadsByRadius => "sum |x|^2 <= M R^2",
            Self::Progress => "M^2 margin^2 <= |w|^2",
            Self::AnyVector => "M <= L(u) + |u| |w|",
            Self::Separable => "M <= (R/margin)^2",
            Self::Inseparable => "M <= ((R + D)/margin)^2",
            Self::HingeLoss => "M <= L(u) + |u| R sqrt(L(u)) + (|u| R)^2",
        })
    }
}

/// Both sides of an inequality as they stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// Which inequality.
    pub inequality: Inequality,
    /// The side that should be smaller.
    pub smaller: f64,
    /// The side that should be larger.
    pub larger: f64,
}

impl Check {
    /// Whether the inequality holds, rounding forgiven. Sides that are not numbers never do.
    pub fn holds(&self) -> bool {
        self.smaller <= self.larger + SLACK * self.larger.abs().max(self.smaller.abs())
    }
}

/// The first inequality that was violated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Violation {
    /// In which round.
    pub round: u64,
    /// By which output.
    pub output: usize,
    /// The inequality with both sides.
    pub check: Check,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round, output, check: Check { inequality, smaller, larger } } = self;
        write!(f, "round {round}, output {output}: `{inequality}` should hold, but {smaller} > {larger}")
    }
}

impl std::error::Error for Violation {}

/// All inequalities of one output at the end of an epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of the epoch, from 1.
    pub epoch: u64,
    /// Which output.
    pub output: usize,
    /// `M`: its steps so far.
    pub updates: u64,
    /// `‖w‖²`, the bias coordinate included.
    pub norm2: f64,
    /// Every inequality that applies, with both sides.
    pub checks: Vec<Check>,
}

/// Someone to compare with: one vector per output, and the margin it should have.
#[derive(Debug, Clone)]
struct Rival {
    planes: Hyperplanes,
    margin: Option<f64>,
}

/// What is known of one output.
#[derive(Debug, Clone)]
struct State {
    updates: u64,
    /// `Σ a`, `Σ a²` and `Σ a²‖x‖² + 2ab`.
    lengths: f64,
    squares: f64,
    spreads: f64,
    norm2: f64,
    radius2: f64,
    /// The length of the first step, and whether all others had it too.
    length: Option<f64>,
    even: bool,
    /// Per rival: `D²` over all rounds and `Σ a max(0, 1 - y u·x)` over the steps.
    misses: Vec<(f64, f64)>,
}

/// Holds a run to the inequalities behind its mistake bound. See the [module](self).
///
/// ```
/// use rosenblatt_core::invariants::Invariants;
/// use rosenblatt_core::{rules, Bias, Binary, Convention, DenseExamples, Hyperplanes, Run, Setup, Visits};
///
/// let examples = DenseExamples::new(&[4.0, 0.0, 1.0, 1.0, 0.0, 1.0, -2.0, -2.0], 2, &[1, 0, 0, 1]);
/// let convention = Convention { bias: Bias::None, ..Convention::default() };
/// let mut run = Run::new(rules::Perceptron::default(), Binary, Setup { convention, ..Setup::default() })?;
/// let best = Hyperplanes::from_parts(vec![1.0, -5.0], vec![0.0]);
/// let mut proof = Invariants::new(examples, Bias::None).against(best, Some(4.0 / 26_f64.sqrt()));
/// let _ = run.learn(examples, Visits::all(examples), &mut proof);
/// assert_eq!(proof.violation(), None);
/// # Ok::<(), rosenblatt_core::SetupError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Invariants<E> {
    examples: E,
    bias: Bias,
    threshold: f64,
    stops: bool,
    rivals: Vec<Rival>,
    states: Vec<State>,
    applies: bool,
    violation: Option<Violation>,
    summaries: Vec<Summary>,
}

impl<E: Examples> Invariants<E> {
    /// Watches a run over `examples`, whose rows the observed rounds are numbered by.
    pub fn new(examples: E, bias: Bias) -> Self {
        Self {
            examples,
            bias,
            threshold: 0.0,
            stops: false,
            rivals: Vec::new(),
            states: Vec::new(),
            applies: true,
            violation: None,
            summaries: Vec::new(),
        }
    }

    /// The rule steps where `y f(x) ≤ threshold`, as rules with a fixed margin do.
    #[must_use]
    pub fn with_threshold(self, threshold: f64) -> Self {
        Self { threshold, ..self }
    }

    /// Ends the run at the first violation.
    #[must_use]
    pub fn stopping(self) -> Self {
        Self { stops: true, ..self }
    }

    /// Compares with `planes`, one vector per output. If `margin` is given, its inequalities are checked
    /// for the vectors brought to unit length; where rows miss the margin, the inseparable ones.
    #[must_use]
    pub fn against(mut self, planes: Hyperplanes, margin: Option<f64>) -> Self {
        assert!(margin.is_none_or(|margin| margin > 0.0), "a margin to compare with is positive");
        self.rivals.push(Rival { planes, margin });
        self
    }

    /// The first violation.
    pub fn violation(&self) -> Option<Violation> {
        self.violation
    }

    /// Whether the inequalities apply: no step so far has shrunk the weights or changed the metric.
    pub fn applies(&self) -> bool {
        self.applies
    }

    /// Both sides of everything, output by output, at the end of each epoch.
    pub fn summaries(&self) -> &[Summary] {
        &self.summaries
    }

    /// Both sides of every inequality that applies to `output` now.
    pub fn checks(&self, output: usize) -> Vec<Check> {
        let Some(state) = self.states.get(output) else { return Vec::new() };
        let mut checks = Vec::new();
        let mut check = |inequality, smaller, larger| checks.push(Check { inequality, smaller, larger });
        let State { lengths, squares, spreads, norm2, radius2, .. } = *state;
        let (b, m, norm, radius) = (self.threshold, state.updates as f64, norm2.sqrt(), radius2.sqrt());
        check(Inequality::NormBySpreads, norm2, spreads);
        check(Inequality::SpreadsByRadius, spreads, radius2 * squares + 2.0 * b * lengths);
        let even = state.length.filter(|_| state.even);
        for (rival, &(missed2, hinge)) in self.rivals.iter().zip(&state.misses) {
            let length = self.length(&rival.planes, output);
            check(Inequality::AnyVector, lengths, hinge + length * norm);
            if let Some(a) = even.filter(|_| b == 0.0) {
                let (hinge, reach) = (hinge / a, length * radius);
                check(Inequality::HingeLoss, m, hinge + reach * hinge.sqrt() + reach * reach);
            }
            let Some(margin) = rival.margin else { continue };
            if missed2 == 0.0 {
                check(Inequality::Progress, (lengths * margin).powi(2), norm2);
                if let Some(a) = even {
                    check(Inequality::Separable, m, (radius2 + 2.0 * b / a) / (margin * margin));
                }
            }
            if even.is_some() && b == 0.0 {
                check(Inequality::Inseparable, m, ((radius + missed2.sqrt()) / margin).powi(2));
            }
        }
        checks
    }

    /// The length of a vector, its constant coordinate included.
    fn length(&self, planes: &Hyperplanes, output: usize) -> f64 {
        let weights = planes.raw_weights().iter().skip(output).step_by(planes.n_outputs());
        let constant = match self.bias {
            Bias::None => 0.0,
            Bias::Learned => planes.biases()[output],
            Bias::Augmented(constant) => planes.biases()[output] / constant,
        };
        (weights.map(|weight| weight * weight).sum::<f64>() + constant * constant).sqrt()
    }

    /// Takes a round in.
    fn note(&mut self, round: &Round<'_>) {
        while self.states.len() <= round.output {
            self.states.push(State {
                updates: 0,
                lengths: 0.0,
                squares: 0.0,
                spreads: 0.0,
                norm2: 0.0,
                radius2: 0.0,
                length: None,
                even: true,
                misses: vec![(0.0, 0.0); self.rivals.len()],
            });
        }
        let beside = if self.bias == Bias::Learned { 1.0 } else { 0.0 };
        let constant = beside * round.hypothesis.bias(round.output);
        let spread = round.spread + beside;
        let length = round.step.map(|step| step.tau * round.weight);
        let mut misses = Vec::with_capacity(self.rivals.len());
        for rival in &self.rivals {
            let mut scores = vec![0.0; rival.planes.n_outputs()];
            rival.planes.scores(self.examples.row(round.row), &mut scores);
            let margin = round.label * scores[round.output];
            let missed = rival.margin.map_or(0.0, |wanted| {
                // A margin that is met up to rounding is met.
                let miss = wanted - margin / self.length(&rival.planes, round.output);
                if miss > 1e-12 * wanted { miss } else { 0.0 }
            });
            misses.push((missed * missed, length.map_or(0.0, |length| length * (1.0 - margin).max(0.0))));
        }
        let state = &mut self.states[round.output];
        for (total, (missed2, hinge)) in state.misses.iter_mut().zip(misses) {
            total.0 += missed2;
            total.1 += hinge;
        }
        state.radius2 = state.radius2.max(spread);
        state.norm2 = round.norm2 + constant * constant;
        if let Some(length) = length {
            state.updates += 1;
            state.lengths += length;
            state.squares += length * length;
            state.spreads += length * length * spread + 2.0 * length * self.threshold;
            state.even &= *state.length.get_or_insert(length) == length;
        }
    }
}

impl<E: Examples> Observer for Invariants<E> {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        self.applies &= round.step.is_none_or(|step| step.keep == 1.0 && step.extra == 0.0);
        if !self.applies {
            return ControlFlow::Continue(());
        }
        self.note(round);
        if self.violation.is_none() && round.step.is_some() {
            let violated = self.checks(round.output).into_iter().find(|check| !check.holds());
            self.violation =
                violated.map(|check| Violation { round: round.round, output: round.output, check });
        }
        if self.stops && self.violation.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn epoch(&mut self, epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        for (output, state) in self.states.iter().enumerate().filter(|_| self.applies) {
            let checks = self.checks(output);
            let (updates, norm2) = (state.updates, state.norm2);
            self.summaries.push(Summary { epoch: epoch.number, output, updates, norm2, checks });
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convention::Convention;
    use crate::decision::{Binary, OneVsRest};
    use crate::examples::DenseExamples;
    use crate::memory::Memories;
    use crate::order::Order;
    use crate::params::Params;
    use crate::random::Random;
    use crate::rule::{Algorithm, Rule, Seen, Step};
    use crate::rules;
    use crate::run::{Plan, Run, Setup};
    use crate::schedule::Schedule;
    use crate::space::{Linear, Shape};

    const ORDER: Order = Order::Given;

    fn plan(epochs: u64) -> Plan<'static> {
        Plan::new(&ORDER, epochs, 0)
    }

    fn setup(bias: Bias) -> Setup {
        Setup { convention: Convention { bias, ..Convention::default() }, ..Setup::default() }
    }

    fn sides(proof: &Invariants<impl Examples>, inequality: Inequality) -> (f64, f64) {
        let checks = proof.checks(0);
        let check = checks.iter().find(|check| check.inequality == inequality).expect("it applies");
        (check.smaller, check.larger)
    }

    #[test]
    fn exclusive_or_by_hand() {
        let values = [1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0];
        let examples = DenseExamples::new(&values, 2, &[1, 0, 0, 1]);
        let unit = Hyperplanes::from_parts(vec![1.0, 0.0], vec![0.0]);
        let mut proof = Invariants::new(examples, Bias::None).against(unit, Some(1.0));
        let mut run = Run::new(rules::Perceptron::default(), Binary, setup(Bias::None)).unwrap();
        run.fit(examples, &plan(1), &mut proof);
        assert_eq!(proof.violation(), None);
        // Four mistakes; u misses the margin by 2 twice, so D² = 8 and L = 4.
        let (mistakes, bound) = sides(&proof, Inequality::Inseparable);
        assert_eq!(mistakes, 4.0);
        assert!((bound - 18.0).abs() < 1e-12);
        assert!((sides(&proof, Inequality::HingeLoss).1 - (4.0 + 2.0 * 2_f64.sqrt() + 2.0)).abs() < 1e-12);
        // w is back at zero, so the bound for any u is L alone, and it is met exactly.
        assert_eq!(sides(&proof, Inequality::AnyVector), (4.0, 4.0));
        assert_eq!(sides(&proof, Inequality::NormBySpreads), (0.0, 8.0));
        assert!(!proof.checks(0).iter().any(|check| check.inequality == Inequality::Separable));
        assert_eq!((proof.summaries().len(), proof.summaries()[0].updates), (1, 4));
    }

    #[test]
    fn the_notes_four_points_by_hand() {
        let values = [4.0, 0.0, 1.0, 1.0, 0.0, 1.0, -2.0, -2.0];
        let examples = DenseExamples::new(&values, 2, &[1, 0, 0, 1]);
        let best = Hyperplanes::from_parts(vec![1.0, -5.0], vec![0.0]);
        let mut proof = Invariants::new(examples, Bias::None).against(best, Some(4.0 / 26_f64.sqrt()));
        let mut run = Run::new(rules::Perceptron::default(), Binary, setup(Bias::None)).unwrap();
        run.fit(examples, &plan(10), &mut proof);
        assert_eq!(proof.violation(), None);
        // 9·16/26 <= 10 <= 16 + 2 + 8 <= 3·16, and 3 <= 26.
        let (progress, norm2) = sides(&proof, Inequality::Progress);
        assert!((progress - 9.0 * 16.0 / 26.0).abs() < 1e-12);
        assert_eq!((norm2, sides(&proof, Inequality::NormBySpreads)), (10.0, (10.0, 26.0)));
        assert_eq!(sides(&proof, Inequality::SpreadsByRadius), (26.0, 48.0));
        let (mistakes, bound) = sides(&proof, Inequality::Separable);
        assert!(mistakes == 3.0 && (bound - 26.0).abs() < 1e-12);
    }

    /// Rows of three classes, which nothing separates, and random vectors to compare with.
    fn noisy(seed: u64) -> (Vec<f64>, Vec<u32>, Vec<f64>, Hyperplanes) {
        let mut random = Random::new(seed);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| 4.0 * random.unit() - 2.0).collect() };
        let (values, weights) = (draw(4 * 25), draw(25).iter().map(|value| value.abs()).collect());
        let planes = Hyperplanes::from_parts(draw(4 * 3), draw(3));
        let classes = values.chunks(4).map(|row| u32::from(row[0] > 0.3) + u32::from(row[1] > 0.5)).collect();
        (values, classes, weights, planes)
    }

    #[test]
    fn they_hold_on_data_that_nothing_separates() {
        for seed in 0..40 {
            let (values, classes, weights, mut planes) = noisy(seed);
            for bias in [Bias::None, Bias::Learned, Bias::Augmented(2.0)] {
                if bias == Bias::None {
                    planes = Hyperplanes::from_parts(planes.raw_weights().to_vec(), vec![0.0; 3]);
                }
                let examples = DenseExamples::new(&values, 4, &classes);
                let mut proof = Invariants::new(examples, bias).against(planes.clone(), Some(0.5));
                let mut run = Run::new(rules::Perceptron::default(), OneVsRest::new(3), setup(bias)).unwrap();
                run.fit(examples, &plan(5), &mut proof);
                assert_eq!(proof.violation(), None, "seed {seed}, {bias:?}");
                assert_eq!(proof.summaries().len(), 3 * 5);

                // Example weights and falling rates are steps of other lengths; margins move the threshold.
                let examples = examples.with_weights(&weights);
                let params = Params::new().with_rate(Schedule::InverseSqrt(0.3)).with("margin", 2.0);
                let rule = rules::FixedMargin::new(&params).unwrap();
                let mut proof =
                    Invariants::new(examples, bias).with_threshold(2.0).against(planes.clone(), Some(0.5));
                let mut run = Run::new(rule, OneVsRest::new(3), setup(bias)).unwrap();
                run.fit(examples, &plan(5), &mut proof);
                assert_eq!(proof.violation(), None, "seed {seed}, {bias:?}");
                let uneven = proof.checks(0).iter().all(|check| check.inequality != Inequality::HingeLoss);
                assert!(uneven, "bounds on the number of steps need steps of one length");
            }
        }
    }

    #[test]
    fn margin_rules_meet_their_bound() {
        let values = [4.0, 0.0, 1.0, 1.0, 0.0, 1.0, -2.0, -2.0];
        let examples = DenseExamples::new(&values, 2, &[1, 0, 0, 1]);
        let best = Hyperplanes::from_parts(vec![1.0, -5.0], vec![0.0]);
        let mut proof = Invariants::new(examples, Bias::None)
            .with_threshold(16.0)
            .against(best, Some(4.0 / 26_f64.sqrt()));
        let rule = rules::FixedMargin::new(&Params::new().with("margin", 16.0)).unwrap();
        let mut run = Run::new(rule, Binary, setup(Bias::None)).unwrap();
        run.fit(examples, &plan(1000), &mut proof);
        assert_eq!(proof.violation(), None);
        // 25 updates; (16 + 32)·26/16 = 78.
        let (updates, bound) = sides(&proof, Inequality::Separable);
        assert!(updates == 25.0 && (bound - 78.0).abs() < 1e-12);
    }

    /// Steps where it should not, or the wrong way.
    struct Broken {
        always: bool,
        tau: f64,
    }

    impl Rule for Broken {
        fn step(&self, seen: &Seen) -> Option<Step> {
            (self.always || seen.mistaken).then_some(Step::of(self.tau))
        }
    }

    #[test]
    fn a_broken_rule_is_caught_in_the_act() {
        let values = [4.0, 0.0, 1.0, 1.0, 0.0, 1.0, -2.0, -2.0];
        let examples = DenseExamples::new(&values, 2, &[1, 0, 0, 1]);
        let caught = |rule: Broken| {
            let space = Linear::new(Shape { width: 2, n_outputs: 1, bias: Bias::None });
            let convention = setup(Bias::None).convention;
            let mut run =
                Run::from_parts(rule, space, Memories::default(), Binary, convention, Vec::new(), 0);
            let best = Hyperplanes::from_parts(vec![1.0, -5.0], vec![0.0]);
            let margin = 4.0 / 26_f64.sqrt();
            let mut proof = Invariants::new(examples, Bias::None).against(best, Some(margin)).stopping();
            run.fit(examples, &plan(20), &mut proof);
            (proof.violation(), run.totals().rounds)
        };
        assert_eq!(caught(Broken { always: false, tau: 1.0 }), (None, 8));
        // Steps on right answers too: the second epoch makes w longer than its steps allow.
        let (violation, rounds) = caught(Broken { always: true, tau: 1.0 });
        let violation = violation.expect("it steps on right answers");
        assert_eq!((violation.check.inequality, violation.round), (Inequality::NormBySpreads, rounds));
        assert!(violation.check.smaller > violation.check.larger);
        assert!(violation.to_string().contains("should hold, but"), "{violation}");
        // Steps the wrong way: away from everybody's u.
        let (violation, _) = caught(Broken { always: false, tau: -1.0 });
        assert!(violation.is_some());
    }

    #[test]
    fn shrinking_rules_are_left_alone() {
        let examples = DenseExamples::new(&[1.0, 1.0], 1, &[1, 0]);
        let mut proof = Invariants::new(examples, Bias::None);
        let rule = rules::Pegasos::new(&Params::new()).unwrap();
        let mut run = Run::new(rule, Binary, setup(Bias::None)).unwrap();
        run.fit(examples, &plan(2), &mut proof);
        assert!(!proof.applies() && proof.summaries().is_empty());
        assert_eq!(proof.violation(), None);
    }
}
