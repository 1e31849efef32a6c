//! The lecture notes and papers, number by number: every worked example of the family, in the
//! convention of the text it comes from, with the exact values.
//!
//! Fractions whose denominator is a power of two are compared to the bit, all others to 1e-14.

use rosenblatt_core::memory::{self, Votes};
use rosenblatt_core::{
    Algorithm, Average, Bias, Binary, Convention, ConventionError, Decision, Dense, DenseExamples, Direct,
    EachRound, Hyperplanes, Kept, Mistake, Multiclass, OneVsOne, OneVsRest, Order, Params, Plan, Random,
    Readout, Remember, Round, Rule, Run, Schedule, Setup, SetupError, Shape, Share, Snapshot, Stopped,
    Totals, Visits, Zero, count_errors, margin, rules, space,
};
use std::ops::ControlFlow;

/// A labelled point of the plane.
type Point = ([f64; 2], f64);

/// The four points of the third note.
const A: [Point; 4] = [([4.0, 0.0], 1.0), ([1.0, 1.0], -1.0), ([0.0, 1.0], -1.0), ([-2.0, -2.0], 1.0)];

/// The four points and a fifth, for traces that go through every branch of a rule.
const FIVE: [Point; 5] = [A[0], A[1], A[2], A[3], ([3.0, 1.0], 1.0)];

/// What no line separates.
const XOR: [Point; 4] = [([1.0, 1.0], 1.0), ([1.0, -1.0], -1.0), ([-1.0, 1.0], -1.0), ([-1.0, -1.0], 1.0)];

const NO_BIAS: Convention = Convention { zero: Zero::Wrong, mistake: Mistake::Le0, bias: Bias::None };
const BIAS: Convention = Convention { bias: Bias::Learned, ..NO_BIAS };
/// The first note: a score of zero predicts +1, and a mistake is a wrong prediction.
const PLUS: Convention = Convention { zero: Zero::Plus, mistake: Mistake::Pred, bias: Bias::None };

/// Points as the core wants them.
struct Data {
    values: Vec<f64>,
    classes: Vec<u32>,
}

impl Data {
    fn new(points: &[Point]) -> Self {
        Self {
            values: points.iter().flat_map(|(x, _)| *x).collect(),
            classes: points.iter().map(|(_, y)| u32::from(*y > 0.0)).collect(),
        }
    }

    fn view(&self) -> DenseExamples<'_, f64> {
        DenseExamples::new(&self.values, 2, &self.classes)
    }
}

/// What a training run left behind.
struct Trained {
    /// The weights after every round, the bias last if there is one.
    rounds: Vec<Vec<f64>>,
    /// The same, only after rounds that moved them.
    path: Vec<Vec<f64>>,
    /// The margin of every round, before it was learned from.
    margins: Vec<f64>,
    totals: Totals,
    stopped: Stopped,
    last: Hyperplanes,
    kept: [Hyperplanes; 3],
    votes: Votes,
}

impl Trained {
    fn weights(&self) -> Vec<f64> {
        self.last.weights(0)
    }

    /// The sum behind an average: `[post, pre, both]`.
    fn sums(&self) -> [Vec<f64>; 3] {
        let n = self.totals.rounds as f64;
        let sum = |planes: &Hyperplanes, n: f64| {
            planes.weights(0).iter().chain(planes.biases()).map(|value| (value * n).round()).collect()
        };
        [sum(&self.kept[0], n), sum(&self.kept[1], n), sum(&self.kept[2], n + 1.0)]
    }
}

fn plan(order: &Order, epochs: u64) -> Plan<'_> {
    Plan { rows: None, order, seed: 0, epochs, max_updates: None, stop_when_clean: true }
}

fn start<R: Algorithm>(
    params: &Params,
    convention: Convention,
) -> Result<Run<R, R::Space, Binary>, SetupError> {
    let rule = R::new(params).expect("textbook parameters are in range");
    let remember = Remember { averaged: true, survivors: true, ..Remember::default() };
    Run::new(rule, Binary, Setup { width: 2, convention, remember, ..Setup::default() })
}

/// Trains on `points` until a clean epoch, or to the end of the plan.
fn train_by<R: Algorithm>(
    params: &Params,
    points: &[Point],
    convention: Convention,
    plan: &Plan<'_>,
) -> Trained {
    let data = Data::new(points);
    let mut run = start::<R>(params, convention).expect("a convention that can learn");
    let (mut rounds, mut path, mut margins) = (Vec::new(), Vec::new(), Vec::new());
    let with_bias = convention.bias != Bias::None;
    let mut trace = EachRound(|round: &Round<'_>| {
        let mut weights = round.hypothesis.weights(0);
        if with_bias {
            weights.push(round.hypothesis.bias(0));
        }
        if round.step.is_some() {
            path.push(weights.clone());
        }
        rounds.push(weights);
        margins.push(round.margin);
        ControlFlow::Continue(())
    });
    let stopped = run.fit(data.view(), plan, &mut trace);
    let kept =
        [Average::Post, Average::Pre, Average::Both].map(|kind| run.averaged(kind).expect("remembered"));
    let Some(Kept::Votes(votes)) = run.read(Readout::Voted) else { panic!("survivors were remembered") };
    Trained { rounds, path, margins, totals: run.totals(), stopped, last: run.last(), kept, votes }
}

fn train<R: Algorithm>(params: &Params, points: &[Point], convention: Convention) -> Trained {
    train_by::<R>(params, points, convention, &plan(&Order::Given, 10_000))
}

fn one_epoch<R: Algorithm>(params: &Params, points: &[Point]) -> Trained {
    train_by::<R>(params, points, NO_BIAS, &plan(&Order::Given, 1))
}

/// Trains the perceptron.
fn perceptron(points: &[Point], convention: Convention) -> Trained {
    train::<rules::Perceptron>(&Params::new(), points, convention)
}

fn none() -> Params {
    Params::new()
}

/// The geometric margin of `weights` over `points`, through the origin.
fn geometric(weights: &[f64], points: &[Point]) -> f64 {
    margins(weights, 0.0, Bias::None, points).geometric
}

fn margins(weights: &[f64], bias: f64, how: Bias, points: &[Point]) -> margin::Margins {
    let data = Data::new(points);
    let planes = Hyperplanes::from_parts(weights.to_vec(), vec![bias]);
    margin::margins(&planes, &Binary, how, data.view()).expect("there are points")
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(expected) {
        assert!((one - other).abs() <= 1e-14 * other.abs().max(1.0), "{found:?} is not {expected:?}");
    }
}

#[track_caller]
fn assert_path_near(found: &[Vec<f64>], expected: &[[f64; 2]]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (one, other) in found.iter().zip(expected) {
        assert_near(one, other);
    }
}

mod note_conventions {
    use super::*;

    #[test]
    fn third_note_round_by_round() {
        let data = Data::new(&A);
        let mut run = start::<rules::Perceptron>(&none(), NO_BIAS).unwrap();
        let mut printed = Vec::new();
        let mut observer = EachRound(|round: &Round<'_>| {
            let moved = round.step.is_some();
            assert_eq!(round.mistaken, moved);
            printed.push((
                round.round,
                round.row,
                round.label,
                round.margin,
                moved,
                round.hypothesis.weights(0),
            ));
            ControlFlow::Continue(())
        });
        let order = Order::Given;
        assert_eq!(run.fit(data.view(), &plan(&order, 10), &mut observer), Stopped::Clean);
        // "Round 1: y<w,x> = 0 <= 0, so update: w = (4,0)", and so on.
        assert_eq!(
            printed[..5],
            [
                (1, 0, 1.0, 0.0, true, vec![4.0, 0.0]),
                (2, 1, -1.0, -4.0, true, vec![3.0, -1.0]),
                (3, 2, -1.0, 1.0, false, vec![3.0, -1.0]),
                (4, 3, 1.0, -4.0, true, vec![1.0, -3.0]),
                (5, 0, 1.0, 4.0, false, vec![1.0, -3.0]),
            ]
        );
        assert_eq!(printed.len(), 8);
        assert_eq!(printed.iter().filter(|(.., moved, _)| *moved).count(), 3);
    }

    #[test]
    fn ties_are_mistakes_without_bias() {
        let trained = perceptron(&A, NO_BIAS);
        assert_eq!(trained.path, [[4.0, 0.0], [3.0, -1.0], [1.0, -3.0]]);
        assert_eq!((trained.totals.updates, trained.totals.epochs, trained.totals.rounds), (3, 2, 8));
        assert_eq!(trained.stopped, Stopped::Clean);
        let [post, pre, both] = trained.sums();
        assert_eq!(post, [15.0, -17.0, 0.0]);
        assert_eq!(pre, [14.0, -14.0, 0.0]);
        assert_eq!(both, [15.0, -17.0, 0.0]);
        // Daumé's own algorithm returns the sum of all nine vectors over nine.
        assert_eq!(trained.kept[2].weights(0), [15.0 / 9.0, -17.0 / 9.0]);
        assert_eq!(trained.kept[0].weights(0), [15.0 / 8.0, -17.0 / 8.0]);
        assert_eq!(trained.kept[1].weights(0), [14.0 / 8.0, -14.0 / 8.0]);
    }

    #[test]
    fn ties_are_mistakes_with_bias() {
        for bias in [Bias::Learned, Bias::Augmented(1.0)] {
            let trained = perceptron(&A, Convention { bias, ..NO_BIAS });
            assert_eq!(trained.path, [[4.0, 0.0, 1.0], [3.0, -1.0, 0.0], [1.0, -3.0, 1.0]]);
            assert_eq!((trained.totals.updates, trained.totals.rounds), (3, 8));
            assert_eq!(trained.sums()[0], [15.0, -17.0, 6.0]);
        }
    }

    #[test]
    fn wrong_predictions_are_mistakes_when_zero_predicts_plus() {
        let trained = perceptron(&A, PLUS);
        assert_eq!(trained.path, [[-1.0, -1.0], [3.0, -1.0], [2.0, -2.0], [1.0, -3.0]]);
        assert_eq!((trained.totals.updates, trained.totals.epochs), (4, 4));
        assert_eq!(trained.stopped, Stopped::Clean);
    }

    #[test]
    fn wrong_predictions_with_bias_stop_with_a_point_on_the_line() {
        let trained = perceptron(&A, Convention { bias: Bias::Learned, ..PLUS });
        assert_eq!(trained.path, [[-1.0, -1.0, -1.0], [3.0, -1.0, 0.0], [2.0, -2.0, -1.0], [0.0, -4.0, 0.0]]);
        assert_eq!((trained.totals.updates, trained.stopped), (4, Stopped::Clean));
        let found = margins(&trained.weights(), 0.0, Bias::Learned, &A);
        assert_eq!((found.functional, found.geometric, found.unsigned), (0.0, 0.0, 0.0));
    }

    #[test]
    fn strict_mistakes_from_zero_are_refused_and_would_never_learn() {
        let strict = Convention { mistake: Mistake::Lt0, ..NO_BIAS };
        let refusal = start::<rules::Perceptron>(&none(), strict).unwrap_err();
        assert_eq!(refusal, SetupError::Convention(ConventionError::NeverLearns));
        assert!(refusal.to_string().contains("every margin is 0 and 0 < 0 is false"), "{refusal}");

        let shape = Shape { width: 2, n_outputs: 1, bias: Bias::None };
        let (space, memory) = (space::Linear::new(shape), memory::Memories::default());
        let rule = rules::Perceptron::default();
        let mut run = Run::from_parts(rule, space, memory, Binary, strict, Vec::new(), 0);
        let data = Data::new(&A);
        let order = Order::Given;
        assert_eq!(run.fit(data.view(), &plan(&order, 50), &mut ()), Stopped::Clean);
        assert_eq!((run.totals().updates, run.last().weights(0)), (0, vec![0.0, 0.0]));
    }

    #[test]
    fn strict_mistakes_from_other_weights_do_learn() {
        let strict = Convention { mistake: Mistake::Lt0, ..NO_BIAS };
        // The second note's algorithm is saved by starting from the first example.
        let start = Some(Hyperplanes::from_parts(vec![4.0, 0.0], vec![0.0]));
        let setup = Setup { width: 2, convention: strict, start, ..Setup::default() };
        let mut run = Run::new(rules::Perceptron::default(), Binary, setup).unwrap();
        let data = Data::new(&A);
        let order = Order::Given;
        assert_eq!(run.fit(data.view(), &plan(&order, 50), &mut ()), Stopped::Clean);
        assert_eq!(run.last().weights(0), [1.0, -3.0]);
    }

    #[test]
    fn after_an_update_the_example_may_still_be_wrong() {
        // y w'x = y w.x + |x|^2, so it is still wrong exactly if y w.x + |x|^2 <= 0.
        for (before, still_wrong) in [(-3.0, true), (-2.0, true), (-1.0, false), (0.0, false)] {
            let x = [1.0, 1.0];
            let start = Some(Hyperplanes::from_parts(vec![before, 0.0], vec![0.0]));
            let setup = Setup { width: 2, convention: NO_BIAS, start, ..Setup::default() };
            let mut run = Run::new(rules::Perceptron::default(), Binary, setup).unwrap();
            let examples = DenseExamples::new(&x, 2, &[1]);
            let _ = run.learn(examples, Visits::all(examples), &mut ());
            let mut after = [0.0];
            run.last().scores(Dense(&x), &mut after);
            assert_eq!(after[0], before + 2.0);
            assert_eq!(after[0] <= 0.0, still_wrong);
            assert_eq!(run.totals().updates, 1);
        }
    }

    #[test]
    fn new_vectors_have_one_vote() {
        let counts = |trained: &Trained| {
            let mut counts = Vec::new();
            trained.votes.replay(|planes, rounds| counts.push((planes.weights(0), rounds)));
            counts
        };
        // After round 1 the vector that round 1 made has the count 1, and the zero vector none.
        let one = DenseExamples::new(&[4.0, 0.0], 2, &[1]);
        let mut run = start::<rules::Perceptron>(&none(), NO_BIAS).unwrap();
        let _ = run.learn(one, Visits::all(one), &mut ());
        let Some(Kept::Votes(votes)) = run.read(Readout::Voted) else { panic!("survivors were remembered") };
        votes.replay(|planes, rounds| assert_eq!((planes.weights(0), rounds), (vec![4.0, 0.0], 1)));

        let trained = perceptron(&A, NO_BIAS);
        let expected = [(vec![4.0, 0.0], 1), (vec![3.0, -1.0], 2), (vec![1.0, -3.0], 5)];
        assert_eq!(counts(&trained), expected);
        // Votes on (2, 1): 4·2 > 0, 3·2 - 1 > 0, 2 - 3 < 0: 1 + 2 - 5.
        let mut votes = [0.0];
        trained.votes.scores(Dense(&[2.0, 1.0]), &mut votes, &mut Vec::new());
        assert_eq!(votes, [-2.0]);
        // With a zero score predicting plus the first mistake is in round 2: the zero vector has a vote.
        assert_eq!(counts(&perceptron(&A, PLUS))[0], (vec![0.0, 0.0], 1));
    }

    #[test]
    fn a_score_of_zero_votes_as_the_convention_says() {
        // Votes on (1, 3): 4 > 0 once, 3 - 3 = 0 twice, 1 - 9 < 0 five times.
        for (zero, for_it, against) in
            [(Zero::Plus, 3_u32, 5_u32), (Zero::Minus, 1, 7), (Zero::Random, 1, 5), (Zero::Wrong, 1, 5)]
        {
            let trained = perceptron(&A, Convention { zero, ..NO_BIAS });
            let (mut votes, mut counts, mut scratch) = ([0.0], [[0; 2]], Vec::new());
            trained.votes.scores(Dense(&[1.0, 3.0]), &mut votes, &mut scratch);
            trained.votes.counts(Dense(&[1.0, 3.0]), &mut counts, &mut scratch);
            assert_eq!(votes, [f64::from(for_it) - f64::from(against)], "{zero:?}");
            assert_eq!(counts, [[u64::from(for_it), u64::from(against)]], "{zero:?}");
        }
        // Of three classes that all score zero, the last or the first is named.
        let one = DenseExamples::new(&[1.0, 0.0], 2, &[1]);
        for (zero, expected) in [(Zero::Plus, [0.0, 0.0, 1.0]), (Zero::Minus, [1.0, 0.0, 0.0])] {
            let remember = Remember { survivors: true, ..Remember::default() };
            let convention = Convention { zero, ..NO_BIAS };
            let setup = Setup { width: 2, remember, convention, ..Setup::default() };
            let mut run = Run::new(rules::Perceptron::default(), Direct::new(3, Share::Max), setup).unwrap();
            let _ = run.learn(one, Visits::all(one), &mut ());
            let Some(Kept::Votes(kept)) = run.read(Readout::Voted) else {
                panic!("survivors were remembered")
            };
            let mut votes = [0.0; 3];
            kept.scores(Dense(&[0.0, 5.0]), &mut votes, &mut Vec::new());
            assert_eq!(votes, expected, "{zero:?}");
        }
    }
}

mod exclusive_or {
    use super::*;

    #[test]
    fn cycles_without_and_with_bias() {
        let order = Order::Given;
        let cycle = |convention| train_by::<rules::Perceptron>(&none(), &XOR, convention, &plan(&order, 3));
        let trained = cycle(NO_BIAS);
        assert_eq!(trained.path[..4], [[1.0, 1.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]);
        assert_eq!(trained.path[4..8], trained.path[..4]);
        assert_eq!(trained.margins[..4], [0.0, 0.0, -2.0, -2.0]);
        // After the second epoch the weights are what they were after the first.
        assert_eq!((trained.totals.updates, trained.stopped), (8, Stopped::Cycle));

        let trained = cycle(BIAS);
        assert_eq!(trained.path[3], [0.0, 0.0, 0.0]);
        assert_eq!(trained.path[4..8], trained.path[..4]);
        assert_eq!((trained.totals.updates, trained.stopped), (8, Stopped::Cycle));
    }

    #[test]
    fn zero_predicting_plus_finds_the_certificate_of_rows_two_and_three() {
        let order = Order::Given;
        let trained = train_by::<rules::Perceptron>(&none(), &XOR, PLUS, &plan(&order, 1));
        assert_eq!(trained.path, [[-1.0, 1.0], [0.0, 0.0]]);
        // The updates are on rows 2 and 3, so half of each is a zero combination of the y x.
        assert_eq!(trained.rounds[1], [-1.0, 1.0]);
        assert_eq!(trained.rounds[2], [0.0, 0.0]);
        let sum = |j: usize| 0.5 * XOR[1].1 * XOR[1].0[j] + 0.5 * XOR[2].1 * XOR[2].0[j];
        assert_eq!([sum(0), sum(1)], [0.0, 0.0]);
        // Where zero predicts minus, rows 1 and 4 take their place.
        let minus = Convention { zero: Zero::Minus, ..PLUS };
        let trained = train_by::<rules::Perceptron>(&none(), &XOR, minus, &plan(&order, 1));
        assert_eq!(trained.path, [[1.0, 1.0], [0.0, 0.0]]);
        assert_eq!((trained.rounds[0][0], trained.rounds[3][0]), (1.0, 0.0));
    }
}

mod margins_of_data_a {
    use super::*;

    #[test]
    fn batch_needs_one_step() {
        let trained = train::<rules::Batch>(&none(), &A, NO_BIAS);
        assert_eq!(trained.weights(), [1.0, -4.0]);
        assert_eq!((trained.totals.updates, trained.totals.epochs, trained.stopped), (4, 2, Stopped::Clean));
        assert!(geometric(&trained.weights(), &A) > 0.0);
    }

    #[test]
    fn minover_becomes_parallel_to_the_best() {
        let steps = |k| {
            let order = Order::Worst;
            let plan = Plan { max_updates: Some(k), ..plan(&order, u64::MAX) };
            train_by::<rules::MinOver>(&none(), &A, NO_BIAS, &plan)
        };
        let trained = steps(5);
        assert_eq!(trained.path, [[4.0, 0.0], [2.0, -2.0], [1.0, -3.0], [0.0, -4.0], [4.0, -4.0]]);
        let trained = steps(1000);
        assert_eq!((trained.weights(), trained.stopped), (vec![154.0, -770.0], Stopped::Updates));
    }

    #[test]
    fn fixed_margins() {
        for (margin, weights, k) in
            [(1.0, [1.0, -4.0], 4), (16.0, [5.0, -23.0], 25), (256.0, [66.0, -324.0], 355)]
        {
            let trained = train::<rules::FixedMargin>(&none().with("margin", margin), &A, NO_BIAS);
            assert_eq!((trained.weights(), trained.totals.updates), (weights.to_vec(), k), "margin {margin}");
            assert_eq!(trained.stopped, Stopped::Clean);
        }
        assert!((geometric(&[66.0, -324.0], &A) - 0.780_272).abs() < 5e-7);
    }

    #[test]
    fn dynamic_margins() {
        let best = 4.0 / 26_f64.sqrt();
        for (epsilon, weights, k) in [
            (0.5, [1.0, -4.0], 4),
            (0.25, [2.0, -7.0], 8),
            (0.1, [3.0, -14.0], 17),
            (0.01, [71.0, -355.0], 457),
        ] {
            let trained = train::<rules::DynamicMargin>(&none().with("epsilon", epsilon), &A, NO_BIAS);
            assert_eq!(
                (trained.weights(), trained.totals.updates),
                (weights.to_vec(), k),
                "epsilon {epsilon}"
            );
            assert!(geometric(&trained.weights(), &A) >= (1.0 - epsilon) * best);
        }
    }

    #[test]
    fn passive_aggressive() {
        let order = Order::Given;
        let trained = train_by::<rules::Pa>(&none(), &A, NO_BIAS, &plan(&order, 2));
        let expected =
            [[0.25, 0.0], [-0.375, -0.625], [-0.375, -1.0], [-0.375, -1.0], [0.25, -1.0], [0.125, -1.125]];
        assert_eq!(trained.rounds[..6], expected);
        let taus: Vec<f64> = steps_of::<rules::Pa>(&none(), &A, 2);
        assert_eq!(taus[..5], [1.0 / 16.0, 5.0 / 8.0, 3.0 / 8.0, 5.0 / 32.0, 1.0 / 8.0]);
    }

    /// The lengths of the steps of `epochs` epochs.
    fn steps_of<R: Algorithm>(params: &Params, points: &[Point], epochs: u64) -> Vec<f64> {
        let data = Data::new(points);
        let mut run = start::<R>(params, NO_BIAS).unwrap();
        let mut taus = Vec::new();
        let order = Order::Given;
        let mut observer = EachRound(|round: &Round<'_>| {
            taus.extend(round.step.map(|step| step.tau));
            ControlFlow::Continue(())
        });
        run.fit(data.view(), &plan(&order, epochs), &mut observer);
        taus
    }

    #[test]
    fn passive_aggressive_with_slack() {
        let trained = one_epoch::<rules::PaOne>(&none().with("C", 0.1), &A);
        assert_path_near(&trained.rounds, &[[0.25, 0.0], [0.15, -0.1], [0.15, -0.2], [-0.05, -0.4]]);
        let trained = one_epoch::<rules::PaTwo>(&none().with("C", 1.0), &A);
        let third = [-14.0 / 55.0, -412.0 / 495.0];
        assert_path_near(&trained.rounds, &[[8.0 / 33.0, 0.0], [-14.0 / 55.0, -82.0 / 165.0], third, third]);
    }

    #[test]
    fn romma_is_at_the_best_margin_after_two_updates() {
        let trained = train::<rules::Romma>(&none(), &A, NO_BIAS);
        assert_path_near(&trained.path, &[[0.25, 0.0], [0.25, -1.25]]);
        assert!((geometric(&trained.weights(), &A) - 4.0 / 26_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn alma_counts_and_margins() {
        // ALMA's margins are those of the points brought to unit length.
        let unit = A.map(|([a, b], y)| ([a / a.hypot(b), b / a.hypot(b)], y));
        for (alpha, k, margin) in [(0.5, 16, 0.249_583), (0.1, 629, 0.358_966)] {
            let trained = train::<rules::Alma>(&none().with("alpha", alpha), &A, NO_BIAS);
            assert_eq!((trained.totals.updates, trained.stopped), (k, Stopped::Clean), "alpha {alpha}");
            assert!((geometric(&trained.weights(), &unit) - margin).abs() < 5e-7);
            let by_unit = train::<rules::Alma>(&none().with("alpha", alpha), &unit, NO_BIAS);
            assert_eq!(by_unit.totals.updates, k);
        }
        // The best direction halves the angle that the unit rows leave, so it makes pi/8 with two of them.
        let eighth = std::f64::consts::FRAC_PI_8;
        let best = geometric(&[eighth.sin(), -eighth.cos()], &unit);
        assert!((best - eighth.sin()).abs() < 1e-15 && (best - 0.382_683).abs() < 5e-7);
    }
}

mod exact_margins {
    use super::*;

    /// `Σ α_i z_i` with `z = y (x, constant)`.
    fn combine(shares: [f64; 4], constant: f64) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for (share, (x, y)) in shares.into_iter().zip(A) {
            for (total, value) in sum.iter_mut().zip([x[0], x[1], constant]) {
                *total += share * y * value;
            }
        }
        sum
    }

    #[test]
    fn through_the_origin() {
        let best = 4.0 / 26_f64.sqrt();
        let found = margins(&[1.0, -5.0], 0.0, Bias::None, &A);
        assert_eq!(found.functional, 4.0);
        assert!((found.geometric - best).abs() < 1e-15);
        // The convex combination (3, 10, 0, 0)/13 is as short as the margin is wide: nothing is better.
        let [a, b, _] = combine([3.0 / 13.0, 10.0 / 13.0, 0.0, 0.0], 0.0);
        assert!((a.hypot(b) - best).abs() < 1e-15);
        let data = Data::new(&A);
        let radius = margin::radius(data.view(), Bias::None);
        assert_eq!(radius, 4.0);
        assert!((found.difficulty(radius).powi(2) - 26.0).abs() < 1e-13);
        let rule = rules::Perceptron::default();
        assert!((rule.bound(radius, found.geometric).unwrap() - 26.0).abs() < 1e-13);
        // The perceptron's own combination bounds the margin too: |w|/k = sqrt(10)/3.
        assert!(best <= 10_f64.sqrt() / 3.0);
    }

    #[test]
    fn off_the_origin_by_distance() {
        let found = margins(&[1.0, -3.0], -1.0, Bias::Learned, &A);
        assert_eq!(found.functional, 3.0);
        assert!((found.geometric - 3.0 / 10_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn with_a_constant_coordinate() {
        let [a, b, c] = combine([3.0, 7.0, 0.0, 1.0].map(|share| share / 11.0), 1.0);
        let length2 = a * a + b * b + c * c;
        assert!((length2 - 9.0 / 11.0).abs() < 1e-15);
        let found = margins(&[a, b], c, Bias::Augmented(1.0), &A);
        assert!((found.geometric.powi(2) - 9.0 / 11.0).abs() < 1e-14);
        let data = Data::new(&A);
        let radius = margin::radius(data.view(), Bias::Augmented(1.0));
        assert!((radius.powi(2) - 17.0).abs() < 1e-14);
        assert!((found.difficulty(radius).powi(2) - 17.0 * 11.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn unsigned_margins_hide_a_wrong_side() {
        // The third note's example: the second point is on the wrong side of w = (1, 0).
        let points = [([1.0, -1.0], 1.0), ([-1.0, -1.0], 1.0), ([0.05, 0.0], 1.0), ([-1.0, 0.0], -1.0)];
        let found = margins(&[1.0, 0.0], 0.0, Bias::None, &points);
        assert_eq!((found.functional, found.geometric, found.unsigned), (-1.0, -1.0, 0.05));
        assert_eq!(found.difficulty(1.0), f64::INFINITY);
    }

    #[test]
    fn distances_do_not_depend_on_scale() {
        // (w.x + b)/|w| for w = (3, 4), b = -5 and x = (3, 4) is 20/5.
        for scale in [1.0, 0.5, 7.0] {
            let found =
                margins(&[3.0 * scale, 4.0 * scale], -5.0 * scale, Bias::Learned, &[([3.0, 4.0], 1.0)]);
            assert_near(&[found.functional, found.geometric], &[20.0 * scale, 4.0]);
        }
    }
}

mod several_classes {
    use super::*;

    fn decide(decision: &impl Decision, scores: &[f64]) -> Option<u32> {
        decision.decide(scores, Zero::Wrong, &mut Random::new(0))
    }

    #[test]
    fn fruit() {
        const APPLE_NO_BANANA_YES_ORANGE_NO: [f64; 3] = [-1.0, 1.0, -1.0];
        assert_eq!(decide(&OneVsRest::new(3), &APPLE_NO_BANANA_YES_ORANGE_NO), Some(1));
        // Apple against banana: apple. Apple against orange: orange. Banana against orange: orange.
        let duels = OneVsOne::new(3);
        assert_eq!(decide(&duels, &[1.0, -1.0, -1.0]), Some(2));
        for k in 2..8 {
            assert_eq!(OneVsOne::new(k).n_outputs(), k * (k - 1) / 2);
        }
    }

    #[test]
    fn a_class_between_two_others_needs_duels() {
        // Three clusters along a line: every pair is separable, the middle against the rest is not.
        let values: [f64; 12] = [-6.0, 0.0, -5.0, 1.0, -1.0, 0.0, 1.0, 1.0, 5.0, 0.0, 6.0, 1.0];
        let classes = [0, 0, 1, 1, 2, 2];
        let examples = DenseExamples::new(&values, 2, &classes);
        let order = Order::Given;
        let setup = || Setup { width: 2, convention: BIAS, ..Setup::default() };

        let mut rest = Run::new(rules::Perceptron::default(), OneVsRest::new(3), setup()).unwrap();
        let mut last_epoch = (0, [0; 3]);
        let mut observer = EachRound(|round: &Round<'_>| {
            if round.epoch != last_epoch.0 {
                last_epoch = (round.epoch, [0; 3]);
            }
            last_epoch.1[round.output] += u32::from(round.mistaken);
            ControlFlow::Continue(())
        });
        // The outer classes are learned for good; the middle one errs for ever, and goes round in a circle.
        assert_eq!(rest.fit(examples, &plan(&order, 1000), &mut observer), Stopped::Cycle);
        assert_eq!((last_epoch.1[0], last_epoch.1[2]), (0, 0));
        assert!(last_epoch.1[1] > 0);
        let middle = rest.last();
        let alone = Hyperplanes::from_parts(middle.weights(1), vec![middle.biases()[1]]);
        let is_middle = classes.map(|class| u32::from(class == 1));
        let view = DenseExamples::new(&values, 2, &is_middle);
        assert!(count_errors(&alone, &Binary, Zero::Wrong, view, Visits::all(view)) > 0);

        let mut duels = Run::new(rules::Perceptron::default(), OneVsOne::new(3), setup()).unwrap();
        assert_eq!(duels.fit(examples, &plan(&order, 1000), &mut ()), Stopped::Clean);
        let errors = |planes: &Hyperplanes, decision: &Multiclass| {
            count_errors(planes, decision, Zero::Wrong, examples, Visits::all(examples))
        };
        assert_eq!(errors(&duels.last(), &Multiclass::OneVsOne(OneVsOne::new(3))), 0);
        assert!(errors(&rest.last(), &Multiclass::OneVsRest(OneVsRest::new(3))) > 0);
    }
}

/// Five rows by hand for every rule of the table, and a check that no rule was forgotten.
mod five_rows {
    use super::*;
    use rosenblatt_core::rules::Visit;

    fn rounds<R: Algorithm>(params: &Params) -> Vec<Vec<f64>> {
        one_epoch::<R>(params, &FIVE).rounds
    }

    /// The rows of the table for which this module has a trace.
    const TRACED: [&str; 26] = [
        "perceptron",
        "fixed-margin",
        "half-margin",
        "paum",
        "dynamic-margin",
        "alma",
        "romma",
        "aggressive-romma",
        "pa",
        "pa1",
        "pa2",
        "arow",
        "batch",
        "minover",
        "logistic",
        "hinge",
        "pegasos",
        "svm-dual",
        "logistic-dual",
        "logistic-l1",
        "ridge",
        "huber",
        "quantile",
        "svr",
        "lms",
        "pa-regression",
    ];

    #[test]
    fn every_rule_has_a_trace() {
        struct Names(Vec<&'static str>);
        impl Visit for Names {
            fn visit<R: Algorithm>(&mut self) {
                self.0.push(R::INFO.name);
            }
        }
        let mut names = Names(Vec::new());
        rules::each(&mut names);
        for name in names.0 {
            assert!(TRACED.contains(&name), "`{name}` needs a trace of five rows in this file");
        }
    }

    #[test]
    fn perceptron() {
        // Margins 0, -4, 1, -4, 0: steps on rows 1, 2, 4 and 5.
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -1.0], [1.0, -3.0], [4.0, -2.0]];
        assert_eq!(rounds::<rules::Perceptron>(&none()), expected);
        // Steps of length 1, 1/2 and 1/3: then row 5 has margin 17/2 - 7/6 > 0.
        let falling = none().with_rate(Schedule::Inverse(1.0));
        let third = [17.0 / 6.0, -7.0 / 6.0];
        let expected = [[4.0, 0.0], [3.5, -0.5], [3.5, -0.5], third, third];
        assert_path_near(&rounds::<rules::Perceptron>(&falling), &expected);
    }

    #[test]
    fn fixed_margin() {
        // Margins 0, -4, 1, -2, -1: row 3 is right, but not by 2.
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -2.0], [1.0, -4.0], [4.0, -3.0]];
        assert_eq!(rounds::<rules::FixedMargin>(&none().with("margin", 2.0)), expected);
    }

    #[test]
    fn half_margin() {
        // Row 3 is 1/sqrt(10) = .316 away from (3, -1), which is less than .35.
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -2.0], [1.0, -4.0], [4.0, -3.0]];
        assert_eq!(rounds::<rules::HalfMargin>(&none().with("gamma", 0.7)), expected);
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -1.0], [1.0, -3.0], [4.0, -2.0]];
        assert_eq!(rounds::<rules::HalfMargin>(&none().with("gamma", 0.6)), expected);
    }

    #[test]
    fn paum() {
        // Row 3 has margin 1: enough for a negative margin of 1/2, too little for 2.
        let uneven = |plus, minus| none().with("plus", plus).with("minus", minus);
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -1.0], [1.0, -3.0], [4.0, -2.0]];
        assert_eq!(rounds::<rules::Paum>(&uneven(2.0, 0.5)), expected);
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -2.0], [1.0, -4.0], [4.0, -3.0]];
        assert_eq!(rounds::<rules::Paum>(&uneven(0.5, 2.0)), expected);
    }

    #[test]
    fn dynamic_margin() {
        // Demands 0, 16/2, 10/4, 13/6, 17/8 against margins 0, -4, 1, -2, -1.
        let expected = [[4.0, 0.0], [3.0, -1.0], [3.0, -2.0], [1.0, -4.0], [4.0, -3.0]];
        assert_eq!(rounds::<rules::DynamicMargin>(&none()), expected);
    }

    #[test]
    fn alma() {
        // With alpha 1/2: demands 1, .71, .58, .58, .5; margins 0, -.71, .71, .29, -.73; steps √2/√k along
        // unit rows. Row 2: (1, 0) - (1, 1)/√2 stays inside the unit ball. Rows 4 and 5 are brought back.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let second = [1.0 - half, -half];
        let into_ball = |w: [f64; 2]| w.map(|value| value / w[0].hypot(w[1]));
        let step = (2.0_f64 / 3.0).sqrt() * half;
        let fourth = into_ball([second[0] - step, second[1] - step]);
        let along = half / 10_f64.sqrt();
        let fifth = [fourth[0] + 3.0 * along, fourth[1] + along];
        let expected = [[1.0, 0.0], second, second, fourth, fifth];
        assert_path_near(&rounds::<rules::Alma>(&none().with("alpha", 0.5)), &expected);
    }

    #[test]
    fn romma() {
        // Row 2: Δ = 1/16, c = 6 and d = 5/4, which gives margin 1 on rows 1 and 2.
        // Row 5: y s = -1/2, |x|² = 10 and |w|² = 13/8, so Δ = 16, c = 67/64 and d = 39/256.
        let expected = [[0.25, 0.0], [0.25, -1.25], [0.25, -1.25], [0.25, -1.25], [0.71875, -1.15625]];
        assert_path_near(&rounds::<rules::Romma>(&none()), &expected);
    }

    #[test]
    fn aggressive_romma() {
        // Every margin of (1/4, -5/4) but the last is at least 1, so the first epoch is ROMMA's.
        let expected = [[0.25, 0.0], [0.25, -1.25], [0.25, -1.25], [0.25, -1.25], [0.71875, -1.15625]];
        assert_path_near(&rounds::<rules::AggressiveRomma>(&none()), &expected);
        // A short row that is right by too little asks for nothing but itself: u = x/|x|².
        let points = [([1.0, 0.0], 1.0), ([0.5, 0.0], 1.0), ([0.5, 0.5], 1.0)];
        let found = one_epoch::<rules::AggressiveRomma>(&none(), &points).rounds;
        assert_path_near(&found, &[[1.0, 0.0], [2.0, 0.0], [2.0, 0.0]]);
        // w = (1, 0) has margin 1/2 on x = (1/2, 1/4) with |x|²|w|² = 5/16 < 1/2: the old constraint is
        // met by x/|x|² = (8/5, 4/5) alone.
        let points = [([1.0, 0.0], 1.0), ([0.5, 0.25], 1.0)];
        let found = one_epoch::<rules::AggressiveRomma>(&none(), &points).rounds;
        assert_path_near(&found, &[[1.0, 0.0], [1.6, 0.8]]);
    }

    #[test]
    fn pa() {
        // Losses 1, 5/4, 3/8, 0, 25/8 over squared lengths 16, 2, 1, 8, 10.
        let expected = [[0.25, 0.0], [-0.375, -0.625], [-0.375, -1.0], [-0.375, -1.0], [0.5625, -0.6875]];
        assert_eq!(rounds::<rules::Pa>(&none()), expected);
    }

    #[test]
    fn pa_one() {
        // Capped at 1/8: taus 1/16, 1/8, 1/8, 3/32, 1/8.
        let expected = [[0.25, 0.0], [0.125, -0.125], [0.125, -0.25], [-0.0625, -0.4375], [0.3125, -0.3125]];
        assert_eq!(rounds::<rules::PaOne>(&none().with("C", 0.125)), expected);
    }

    #[test]
    fn pa_two() {
        let third = [-14.0 / 55.0, -412.0 / 495.0];
        let expected = [
            [8.0 / 33.0, 0.0],
            [-14.0 / 55.0, -82.0 / 165.0],
            third,
            third,
            [1688.0 / 3465.0, -6082.0 / 10395.0],
        ];
        assert_path_near(&rounds::<rules::PaTwo>(&none()), &expected);
    }

    #[test]
    fn arow() {
        // Row 1: b = 1/17, variance of feature 0 falls to 1/17. Row 2: x'Sx = 18/17, b = 17/35, and so on.
        let third = [0.2, -39.0 / 53.0];
        let expected = [[4.0 / 17.0, 0.0], [0.2, -0.6], third, third, [1049.0 / 3439.0, -1815.0 / 3439.0]];
        assert_path_near(&rounds::<rules::Arow>(&none()), &expected);
        let data = Data::new(&FIVE);
        let mut run = start::<rules::Arow>(&none(), NO_BIAS).unwrap();
        let _ = run.learn(data.view(), Visits::all(data.view()), &mut ());
        assert_near(run.space().variances(0), &[142.0 / 3439.0, 954.0 / 3439.0]);
    }

    #[test]
    fn batch() {
        let epochs = |params: &Params| -> Vec<Vec<f64>> {
            let order = Order::Given;
            let after = |n| train_by::<rules::Batch>(params, &FIVE, NO_BIAS, &plan(&order, n)).weights();
            (1..=3).map(after).collect()
        };
        // All five are ties at first; then rows 2 and 4 are wrong; then row 5.
        assert_eq!(epochs(&none()), [[4.0, -3.0], [1.0, -6.0], [4.0, -5.0]]);
        let mean = none().with("mean", 1.0);
        assert_path_near(&epochs(&mean), &[[0.8, -0.6], [-0.7, -2.1], [2.8, -1.6]]);
        // Batches of two: rows 1 and 2, rows 3 and 4, row 5. A round shows the weights it was scored by.
        let expected = [[0.0, 0.0], [0.0, 0.0], [3.0, -1.0], [3.0, -1.0], [1.0, -3.0]];
        let mini = none().with("size", 2.0);
        assert_eq!(rounds::<rules::Batch>(&mini), expected);
        assert_eq!(one_epoch::<rules::Batch>(&mini, &FIVE).weights(), [4.0, -2.0]);
    }

    #[test]
    fn minover() {
        // The worst rows are 1 (all tie), 2, 3, 5, 4, 3.
        let order = Order::Worst;
        let plan = Plan { max_updates: Some(6), ..plan(&order, 10) };
        let trained = train_by::<rules::MinOver>(&none(), &FIVE, NO_BIAS, &plan);
        let expected = [[4.0, 0.0], [2.0, -2.0], [1.0, -3.0], [4.0, -2.0], [2.0, -4.0], [1.0, -5.0]];
        assert_eq!(trained.path, expected);
    }

    #[test]
    fn logistic() {
        // Surprises 1/(1 + e^m) for margins 0, -2, .880797, .109214, -1.597991 at rate 1.
        let found = rounds::<rules::Logistic>(&none().with_rate(Schedule::Constant(1.0)));
        let surprise = |margin: f64| 1.0 / (1.0 + margin.exp());
        let mut by_hand = vec![[2.0, 0.0]];
        for (margin, (x, y)) in
            [-2.0, 0.880_797_077_977_882_3, 0.109_213_575_911_319_53, -1.597_990_642_843_430_5]
                .into_iter()
                .zip(&FIVE[1..])
        {
            let before = by_hand[by_hand.len() - 1];
            let step = y * surprise(margin);
            by_hand.push([before[0] + step * x[0], before[1] + step * x[1]]);
        }
        assert_path_near(&found, &by_hand);
        assert_near(&found[4], &[2.668_967_584_400_352_4, -1.287_519_772_340_366_9]);
    }

    #[test]
    fn hinge() {
        // Rate 1/2 and penalty 1/2 keep 3/4 each round; margins 0, -2, 1/2, ... are all at most 1.
        let params = none().with("l2", 0.5).with_rate(Schedule::Constant(0.5));
        let expected = [
            [2.0, 0.0],
            [1.0, -0.5],
            [0.75, -0.875],
            [-7.0 / 16.0, -53.0 / 32.0],
            [75.0 / 64.0, -95.0 / 128.0],
        ];
        assert_path_near(&rounds::<rules::Hinge>(&params), &expected);
    }

    #[test]
    fn pegasos() {
        // Rates 2/t: w_2 = (8, 0)/2 - (1, 1), w_3 = (3, -1)·2/3 since its margin is 1, ...
        let expected = [[8.0, 0.0], [3.0, -1.0], [2.0, -2.0 / 3.0], [0.5, -1.5], [1.6, -0.8]];
        assert_path_near(&rounds::<rules::Pegasos>(&none().with("lambda", 0.5)), &expected);
    }

    #[test]
    fn svm_dual() {
        // The first epoch is PA's, as every dual variable starts at zero: 1/16, 5/8, 3/8, 0, 5/16.
        let hinge = none().with("squared", 0.0);
        let expected = [[0.25, 0.0], [-0.375, -0.625], [-0.375, -1.0], [-0.375, -1.0], [0.5625, -0.6875]];
        assert_eq!(rounds::<rules::SvmDual>(&hinge), expected);
        // In the second, row 1 is given up, row 2 goes on to 15/16, and row 5 to 41/80; rows 3 and 4 are content.
        let order = Order::Given;
        let trained = train_by::<rules::SvmDual>(&hinge, &FIVE, NO_BIAS, &plan(&order, 2));
        assert_near(&trained.weights(), &[0.6, -0.8]);
        // With C = 1/8 it is PA-I's.
        let capped = hinge.with("C", 0.125);
        assert_eq!(rounds::<rules::SvmDual>(&capped), rounds::<rules::PaOne>(&none().with("C", 0.125)));
        // The squared hinge adds 1/2 to every squared length and is not capped: it is PA-II's.
        let two: Vec<[f64; 2]> = rounds::<rules::PaTwo>(&none()).iter().map(|w| [w[0], w[1]]).collect();
        assert_path_near(&rounds::<rules::SvmDual>(&none()), &two);
    }

    /// One epoch of logistic regression in the dual with C = 1, every variable found by halving an interval.
    fn logistic_by_halving(l1: f64) -> Vec<[f64; 2]> {
        let mut sums = [0.0_f64; 2];
        let weights = |sums: [f64; 2]| sums.map(|sum: f64| sum.signum() * (sum.abs() - l1).max(0.0));
        FIVE.iter()
            .map(|(x, y)| {
                let w = weights(sums);
                let margin = y * (w[0] * x[0] + w[1] * x[1]);
                let norm2 = x[0] * x[0] + x[1] * x[1];
                let (mut low, mut high) = (0.0_f64, 1.0_f64);
                for _ in 0..200 {
                    let z = 0.5 * (low + high);
                    if (z / (1.0 - z)).ln() + margin + norm2 * z > 0.0 { high = z } else { low = z }
                }
                sums = [sums[0] + low * y * x[0], sums[1] + low * y * x[1]];
                weights(sums)
            })
            .collect()
    }

    #[test]
    fn logistic_dual() {
        assert_path_near(&rounds::<rules::LogisticDual>(&none()), &logistic_by_halving(0.0));
    }

    #[test]
    fn logistic_l1() {
        let expected = logistic_by_halving(0.25);
        assert!(expected.iter().any(|w| w.contains(&0.0)), "some weight is exactly zero: {expected:?}");
        assert_path_near(&rounds::<rules::LogisticL1>(&none().with("l1", 0.25)), &expected);
    }
}

/// Numbers as targets: plain twins of the rules that step row by row, and slow plain solutions of those that are solved.
mod numbers {
    use super::*;
    use rosenblatt_core::{Multiclass, Numbers, SparseExamples, Value};

    /// The four points of the note, and what is to be predicted of each.
    const TARGETS: [f64; 5] = [2.0, -1.0, 0.5, 4.0, 1.0];

    struct Rows {
        width: usize,
        values: Vec<f64>,
        targets: Vec<f64>,
    }

    impl Rows {
        fn five() -> Self {
            Self { width: 2, values: FIVE.iter().flat_map(|(x, _)| *x).collect(), targets: TARGETS.to_vec() }
        }

        /// Targets that are linear but for noise, by columns of which some values are zero.
        fn drawn(seed: u64, n_rows: usize, width: usize) -> Self {
            let mut random = Random::for_purpose(seed, "numbers");
            let mut value = || (random.unit() * 4.0 - 2.0) as f32;
            let slopes: Vec<f64> = (0..width).map(|_| f64::from(value())).collect();
            let mut values = Vec::new();
            let targets = (0..n_rows).map(|_| {
                let row: Vec<f64> = (0..width).map(|_| f64::from(value())).collect();
                let row: Vec<f64> =
                    row.into_iter().map(|x| if x.abs() < 0.5 { 0.0 } else { x + 1.0 }).collect();
                let clean: f64 = row.iter().zip(&slopes).map(|(x, w)| x * w).sum();
                values.extend(&row);
                clean + 7.0 + f64::from(value())
            });
            let targets = targets.collect();
            Self { width, values, targets }
        }

        fn row(&self, row: usize) -> &[f64] {
            &self.values[row * self.width..][..self.width]
        }

        /// Weights and bias after some epochs in the order of the rows, stored densely or not, and why it ended.
        fn fit<R: Algorithm>(
            &self,
            params: &Params,
            bias: Bias,
            epochs: u64,
            dense: bool,
        ) -> (Vec<f64>, f64, Stopped) {
            let classes: Vec<u32> = (0..self.targets.len() as u32).collect();
            let decision = Multiclass::Numbers(Numbers::new(self.targets.clone()));
            let convention = Convention { bias, ..BIAS };
            let setup = Setup { width: self.width, convention, ..Setup::default() };
            let mut run = Run::new(R::new(params).unwrap(), decision, setup).unwrap();
            let order = Order::Given;
            let plan = plan(&order, epochs);
            let stopped = if dense {
                run.fit(DenseExamples::new(&self.values, self.width, &classes), &plan, &mut ())
            } else {
                let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for row in 0..self.targets.len() {
                    let stored = self.row(row).iter().enumerate().filter(|(_, value)| **value != 0.0);
                    for (feature, value) in stored {
                        indices.push(feature as u32);
                        values.push(value.wide());
                    }
                    offsets.push(indices.len());
                }
                let rows = SparseExamples::new(&offsets, &indices, &values, self.width, &classes);
                run.fit(rows, &plan, &mut ())
            };
            let planes = run.last();
            (planes.weights(0), planes.biases()[0], stopped)
        }

        /// What the twin of a rule that steps row by row ends with: how far it steps along a row with a residual.
        fn twin(&self, epochs: usize, step: impl Fn(f64, f64) -> f64) -> (Vec<f64>, f64) {
            let (mut weights, mut bias) = (vec![0.0; self.width], 0.0);
            for row in (0..epochs).flat_map(|_| 0..self.targets.len()) {
                let x = self.row(row);
                let score = x.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() + bias;
                let norm2: f64 = x.iter().map(|x| x * x).sum();
                let amount = step(self.targets[row] - score, norm2);
                weights.iter_mut().zip(x).for_each(|(w, x)| *w += amount * x);
                bias += amount;
            }
            (weights, bias)
        }

        /// `Σ loss(t - f(x)) + penalty`.
        fn objective(&self, weights: &[f64], bias: f64, l2: f64, loss: impl Fn(f64) -> f64) -> f64 {
            let of_row = |row: usize| {
                let score: f64 = self.row(row).iter().zip(weights).map(|(x, w)| x * w).sum();
                loss(self.targets[row] - score - bias)
            };
            let sum: f64 = (0..self.targets.len()).map(of_row).sum();
            sum + l2 * weights.iter().map(|w| w * w).sum::<f64>()
        }

        /// Ridge regression by Gaussian elimination with pivots, the bias being one more unknown without a penalty.
        fn ridge(&self, l2: f64) -> Vec<f64> {
            let n = self.width + 1;
            let mut system = vec![vec![0.0; n + 1]; n];
            for row in 0..self.targets.len() {
                let x: Vec<f64> = self.row(row).iter().copied().chain([1.0]).collect();
                for i in 0..n {
                    (0..n).for_each(|j| system[i][j] += x[i] * x[j]);
                    system[i][n] += x[i] * self.targets[row];
                }
            }
            (0..self.width).for_each(|i| system[i][i] += l2);
            for i in 0..n {
                let pivot =
                    (i..n).max_by(|&a, &b| system[a][i].abs().total_cmp(&system[b][i].abs())).unwrap();
                system.swap(i, pivot);
                for k in (0..n).filter(|&k| k != i) {
                    let factor = system[k][i] / system[i][i];
                    (0..=n).for_each(|j| system[k][j] -= factor * system[i][j]);
                }
            }
            (0..n).map(|i| system[i][n] / system[i][i]).collect()
        }
    }

    fn sign(residual: f64) -> f64 {
        if residual < 0.0 { -1.0 } else { 1.0 }
    }

    #[test]
    fn lms_is_its_plain_twin_to_the_bit() {
        // Dyadic rates and rows: nothing is rounded for one epoch, and then all alike.
        let params = Params::new().with_rate(Schedule::Constant(0.0625));
        for (rows, epochs) in [(Rows::five(), 1), (Rows::five(), 7), (Rows::drawn(3, 40, 2), 5)] {
            let (weights, bias, _) = rows.fit::<rules::Lms>(&params, Bias::Learned, epochs, true);
            let twin = rows.twin(epochs as usize, |residual, _| sign(residual) * (0.0625 * residual.abs()));
            assert_eq!((weights, bias), twin);
        }
    }

    #[test]
    fn pa_regression_is_its_plain_twin_to_the_bit() {
        for squared in [0.0, 1.0] {
            let params = Params::new().with("C", 0.25).with("epsilon", 0.5).with("squared", squared);
            for (rows, epochs) in [(Rows::five(), 4), (Rows::drawn(5, 40, 2), 3)] {
                let (weights, bias, _) =
                    rows.fit::<rules::PaRegression>(&params, Bias::Learned, epochs, true);
                let twin = rows.twin(epochs as usize, |residual, norm2| {
                    let loss = (residual.abs() - 0.5).max(0.0);
                    let tau = match (loss > 0.0 && norm2 > 0.0, squared == 1.0) {
                        (false, _) => 0.0,
                        (true, false) => (loss / norm2).min(0.25),
                        (true, true) => loss / (norm2 + 2.0),
                    };
                    sign(residual) * tau
                });
                assert_eq!((weights, bias), twin);
            }
        }
    }

    #[test]
    fn ridge_is_the_solution_of_the_normal_equations() {
        for seed in 0..20 {
            let rows = Rows::drawn(seed, 12 + 3 * seed as usize, 1 + seed as usize % 9);
            for l2 in [0.0, 0.5, 100.0] {
                let params = Params::new().with("l2", l2);
                let (weights, bias, stopped) = rows.fit::<rules::Ridge>(&params, Bias::Learned, 20, true);
                let expected = rows.ridge(l2);
                for (found, expected) in weights.iter().chain([&bias]).zip(&expected) {
                    assert!((found - expected).abs() < 1e-10, "seed {seed}, l2 {l2}: {found} for {expected}");
                }
                assert_eq!(stopped, Stopped::Converged, "seed {seed}, l2 {l2}");
                assert_eq!(
                    rows.fit::<rules::Ridge>(&params, Bias::Learned, 20, false).0,
                    weights,
                    "sparse rows"
                );
            }
        }
    }

    #[test]
    fn columns_that_depend_on_each_other_share_their_weight() {
        // The same column twice, and one that never changes: the smallest weights share alike.
        let drawn = Rows::drawn(8, 30, 1);
        let values = drawn.values.iter().flat_map(|x| [*x, *x, 3.0]).collect();
        let twice = Rows { width: 3, values, targets: drawn.targets.clone() };
        let (weights, bias, _) = twice.fit::<rules::Ridge>(&none(), Bias::Learned, 50, true);
        let expected = drawn.ridge(0.0);
        assert!((weights[0] + weights[1] - expected[0]).abs() < 1e-12, "{weights:?} for {expected:?}");
        assert!((weights[0] - weights[1]).abs() < 1e-8, "{weights:?}");
        assert!((weights[2] * 3.0 + bias - expected[1]).abs() < 1e-12, "{weights:?} {bias}");
        // More columns than rows: every target is met.
        let wide = Rows::drawn(9, 4, 9);
        let (weights, bias, _) = wide.fit::<rules::Ridge>(&none(), Bias::Learned, 50, true);
        assert!(wide.objective(&weights, bias, 0.0, |r| r * r) < 1e-18);
    }

    /// No small move of any weight makes an objective smaller.
    fn assert_least(weights: &[f64], bias: f64, objective: impl Fn(&[f64], f64) -> f64, slack: f64) {
        let least = objective(weights, bias);
        for place in 0..=weights.len() {
            for move_by in [-1e-3, 1e-3] {
                let (mut moved, mut beside) = (weights.to_vec(), bias);
                match moved.get_mut(place) {
                    Some(weight) => *weight += move_by,
                    None => beside += move_by,
                }
                let other = objective(&moved, beside);
                assert!(other >= least - slack, "a move of {place} by {move_by}: {other} < {least}");
            }
        }
    }

    #[test]
    fn huber_quantile_and_svr_end_at_the_minimum_of_their_objective() {
        for seed in 0..6 {
            let rows = Rows::drawn(seed, 60, 3);
            let (weights, bias, _) = rows.fit::<rules::Huber>(
                &none().with("delta", 0.25).with("l2", 0.5),
                Bias::Learned,
                300,
                true,
            );
            let huber =
                |r: f64| if r.abs() <= 0.25 { r * r / 2.0 } else { 0.25 * r.abs() - 0.25 * 0.25 / 2.0 };
            assert_least(&weights, bias, |w, b| rows.objective(w, b, 0.25, huber), 1e-9);
            for q in [0.1, 0.5, 0.8] {
                let (weights, bias, _) =
                    rows.fit::<rules::Quantile>(&none().with("q", q), Bias::Learned, 3000, true);
                let pinball = |r: f64| if r > 0.0 { q * r } else { (q - 1.0) * r };
                assert_least(&weights, bias, |w, b| rows.objective(w, b, 0.0, pinball), 1e-5);
            }
            for squared in [0.0, 1.0] {
                let params = none().with("C", 0.5).with("squared", squared).with("tolerance", 1e-10);
                let (weights, _, stopped) = rows.fit::<rules::Svr>(&params, Bias::None, 20_000, true);
                assert_eq!(stopped, Stopped::Converged);
                let loss = |r: f64| {
                    let beyond = (r.abs() - 0.1).max(0.0);
                    0.5 * if squared == 1.0 { beyond * beyond } else { beyond }
                };
                assert_least(&weights, 0.0, |w, b| rows.objective(w, 0.0, 0.5, loss) + b.abs(), 1e-8);
            }
        }
    }
}
