//! Blocks scored ahead are exactly the sequential algorithm: the same mistakes, the same support rows, the same bits.
//!
//! Random problems in all their variety (kernels, rules, classes, orders, biases, storage, sizes of blocks, limits of
//! memory, threads) are learned twice: block by block, and one row and one kernel value at a time.

mod problems;

use problems::{Data, Problem, learn};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::space::Shape;
use rosenblatt_core::{
    Average, Bias, Binary, Convention, Decision, DenseExamples, Direct, Multiclass, OneVsRest, Order, Plan,
    Random, Readout, Row, Rule, Run, Setup, Share, Snapshot, rules,
};
use rosenblatt_kernel::{Expansion, Kernel, KernelSpace, Limits, Plain, Rows, errors_at};
use std::sync::Arc;

#[test]
fn a_thousand_random_problems_are_learned_to_the_same_bits() {
    let mut n_moves = 0;
    for seed in 0..1000 {
        let mut random = Random::for_purpose(seed, "kernel problems");
        let problem = Problem::new(&mut random);
        let (expected, plain) =
            problem.learn(Plain::new(Arc::clone(&problem.kernel), problem.shape), problem.data.dense());
        let limits = Limits {
            memory: [0, 4000, 1 << 30][random.below(3) as usize],
            block: [1, 2, 7, 48, 50, 192][random.below(6) as usize],
            threads: 1 + random.below(3) as usize,
            dense: None,
        };
        let space = KernelSpace::new(Arc::clone(&problem.kernel), problem.shape, limits);
        let (found, run) = match random.below(3) {
            0 => problem.learn(space, problem.data.sparse()),
            1 => problem.learn(space, problem.data.single()),
            _ => problem.learn(space, problem.data.dense()),
        };
        assert_eq!(found, expected, "seed {seed}");
        assert_eq!(run.space().learned().rows(), plain.space().learned().rows());
        assert_eq!(run.space().learned().log(), plain.space().learned().log(), "seed {seed}");
        n_moves += run.space().learned().log().len();
    }
    assert!(n_moves > 50_000, "something is learned: {n_moves} moves");
}

fn xor() -> (Vec<f64>, Vec<u32>) {
    (vec![1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0], vec![1, 0, 0, 1])
}

fn polynomial(degree: u32) -> Arc<dyn Kernel> {
    Arc::new(rosenblatt_kernel::kernels::Polynomial { gamma: 1.0, offset: 1.0, degree })
}

fn no_bias() -> Convention {
    Convention { bias: Bias::None, ..Convention::default() }
}

#[test]
fn exclusive_or_is_learned_with_one_update_each() {
    let (values, classes) = xor();
    let examples = DenseExamples::new(&values, 2, &classes);
    for block in [1, 3, 4, 192] {
        let shape = Shape { width: 2, n_outputs: 1, bias: Bias::None };
        let space = KernelSpace::new(polynomial(2), shape, Limits { block, ..Limits::default() });
        let perceptron = Box::new(rules::Perceptron::default());
        let (story, run) = learn(perceptron, space, Binary, no_bias(), examples, &Order::Given);
        assert_eq!(run.totals().updates, 4);
        assert_eq!(run.totals().epochs, 2, "the second epoch is clean");
        let scores: Vec<f64> = story[4..].iter().map(|(_, _, margin, ..)| f64::from_bits(*margin)).collect();
        assert_eq!(scores, [8.0; 4], "all on their own side");
        let Some(Kept::Other(kept)) = run.read(Readout::Last) else {
            panic!("kernels are read out as others")
        };
        for (row, class) in values.chunks(2).zip(&classes) {
            let mut score = [0.0];
            kept.scores(&mut rosenblatt_core::Dense(row).entries(), &mut score);
            assert_eq!(score, [if *class == 1 { 8.0 } else { -8.0 }]);
        }
    }
}

/// Read-outs of a linear kernel are those of the linear core.
#[test]
fn a_linear_kernel_is_read_out_as_hyperplanes_are() {
    for (seed, share) in [(1, Share::Max), (2, Share::Uniform)] {
        let mut random = Random::new(seed);
        let mut data = Data::random(&mut random, 60, 6, 3);
        // Small integers, so that every sum is exact in whatever order.
        data.values.iter_mut().for_each(|value| *value = (*value * 8.0).round() - 3.0);
        for decision in [Multiclass::OneVsRest(OneVsRest::new(3)), Multiclass::Direct(Direct::new(3, share))]
        {
            for bias in [Bias::None, Bias::Learned, Bias::Augmented(2.0)] {
                let convention = Convention { bias, ..Convention::default() };
                let remember = rosenblatt_core::Remember {
                    averaged: true,
                    survivors: true,
                    ..rosenblatt_core::Remember::default()
                };
                let setup = Setup { width: 6, convention, remember, ..Setup::default() };
                let mut linear = Run::new(rules::Perceptron::default(), decision.clone(), setup).unwrap();
                let order = Order::ShuffleEpoch;
                let plan = Plan {
                    rows: None,
                    order: &order,
                    seed: 3,
                    epochs: 3,
                    max_updates: None,
                    stop_when_clean: true,
                };
                linear.fit(data.dense(), &plan, &mut ());
                let shape = Shape { width: 6, n_outputs: 3, bias };
                let space =
                    KernelSpace::new(Arc::new(rosenblatt_kernel::kernels::Linear), shape, Limits::default());
                let perceptron = Box::new(rules::Perceptron::default());
                let (_, kernel) =
                    learn(perceptron, space, decision.clone(), convention, data.dense(), &order);
                assert_eq!(linear.totals(), kernel.totals());
                let averages = [Average::Post, Average::Pre, Average::Both].map(Readout::Averaged);
                for readout in averages.into_iter().chain([Readout::Last, Readout::Voted]) {
                    let (one, other) = (linear.read(readout).unwrap(), kernel.read(readout).unwrap());
                    for row in data.values.chunks(6) {
                        let row = rosenblatt_core::Dense(row);
                        let (mut expected, mut found) = ([0.0; 3], [0.0; 3]);
                        one.scores(row, &mut expected, &mut Vec::new());
                        other.scores(row, &mut found, &mut Vec::new());
                        for (expected, found) in expected.iter().zip(found) {
                            assert!((expected - found).abs() < 1e-9, "{readout} {expected} {found}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_run_that_was_carried_over_ends_in_the_same_bits() {
    let mut random = Random::new(9);
    let data = Data::random(&mut random, 120, 9, 3);
    let decision = Multiclass::OneVsRest(OneVsRest::new(3));
    let shape = Shape { width: 9, n_outputs: 3, bias: Bias::None };
    let fresh = || {
        let space = KernelSpace::new(polynomial(3), shape, Limits { block: 50, ..Limits::default() });
        let rule: Box<dyn Rule + Send + Sync> = Box::new(rules::Perceptron::default());
        Run::from_parts(rule, space, (), decision.clone(), no_bias(), Vec::new(), 0)
    };
    let order = Order::ShuffleEpoch;
    let plan = |epochs| Plan {
        rows: None,
        order: &order,
        seed: 3,
        epochs,
        max_updates: None,
        stop_when_clean: false,
    };
    let mut whole = fresh();
    whole.fit(data.dense(), &plan(4), &mut ());
    let mut first = fresh();
    first.fit(data.dense(), &plan(2), &mut ());
    let mut second = fresh();
    second.restore(first.state()).unwrap();
    // The other half of the run is shown its rows in another form.
    second.fit(data.sparse(), &plan(4), &mut ());
    assert_eq!(second.space().learned().log(), whole.space().learned().log());
    assert_eq!(second.state(), whole.state());
    assert_eq!(second.read(Readout::Voted), whole.read(Readout::Voted));
    assert_ne!(second.read(Readout::Voted), first.read(Readout::Voted));
}

#[test]
fn precomputed_values_are_as_good_as_the_rows_they_came_from() {
    let mut random = Random::new(4);
    let data = Data::random(&mut random, 80, 5, 2);
    let kernel = polynomial(2);
    let value = |one: &[f64], other: &[f64]| {
        let mut value = [one.iter().zip(other).fold(0.0, |sum: f64, (x, y)| x.mul_add(*y, sum))];
        kernel.finish(&mut value, 0.0, &[0.0]);
        value[0]
    };
    let rows: Vec<&[f64]> = data.values.chunks(5).collect();
    let matrix: Vec<f64> =
        rows.iter().flat_map(|one| rows.iter().map(|other| value(other, one)).collect::<Vec<_>>()).collect();
    let given = DenseExamples::new(&matrix, 80, &data.classes);
    let shape = |width| Shape { width, n_outputs: 1, bias: Bias::None };
    let perceptron = || Box::new(rules::Perceptron::default());
    let order = Order::ShuffleEpoch;
    let space = KernelSpace::new(Arc::clone(&kernel), shape(5), Limits::default());
    let (expected, direct) = learn(perceptron(), space, Binary, no_bias(), data.dense(), &order);
    let precomputed = Arc::new(rosenblatt_kernel::kernels::Precomputed);
    let space = KernelSpace::new(precomputed, shape(80), Limits::default());
    let (found, run) = learn(perceptron(), space, Binary, no_bias(), given, &order);
    assert_eq!(found, expected);
    let scores = |kept: Option<Kept>, row: &[f64]| {
        let mut score = [0.0];
        kept.unwrap().scores(rosenblatt_core::Dense(row), &mut score, &mut Vec::new());
        score[0].to_bits()
    };
    for (row, given) in rows.iter().zip(matrix.chunks(80)) {
        assert_eq!(scores(run.read(Readout::Voted), given), scores(direct.read(Readout::Voted), row));
    }
}

#[test]
fn a_rows_scores_do_not_depend_on_its_company() {
    let mut random = Random::new(8);
    let data = Data::random(&mut random, 300, 20, 3);
    let shape = Shape { width: 20, n_outputs: 3, bias: Bias::Learned };
    let convention = Convention { bias: Bias::Learned, ..Convention::default() };
    for readout in [Readout::Last, Readout::Averaged(Average::Post), Readout::Voted, Readout::Random] {
        let space = KernelSpace::new(polynomial(4), shape, Limits::default());
        let decision = Multiclass::OneVsRest(OneVsRest::new(3));
        let perceptron = Box::new(rules::Perceptron::default());
        let (_, run) = learn(perceptron, space, decision, convention, data.dense(), &Order::Given);
        let kept = run.read(readout).unwrap_or_else(|| panic!("{readout} is remembered"));
        let expansion = kept.other::<Expansion>().unwrap();
        let all: Vec<u32> = (0..300).rev().collect();
        let mut together = Vec::new();
        expansion.scores(data.sparse(), &all, &mut together);
        for (place, row) in all.iter().enumerate() {
            let mut alone = Vec::new();
            expansion.scores(data.dense(), &[*row], &mut alone);
            assert_eq!(alone, together[place * 3..place * 3 + 3], "{readout}, row {row}");
        }
    }
}

/// More features than a table of places is made for.
#[test]
fn features_that_no_row_has_change_no_score() {
    let mut random = Random::new(9);
    let data = Data::random(&mut random, 120, 20, 2);
    let shape = Shape { width: 20, n_outputs: 1, bias: Bias::Learned };
    let convention = Convention { bias: Bias::Learned, ..Convention::default() };
    let space = KernelSpace::new(polynomial(3), shape, Limits::default());
    let decision = Multiclass::Binary(Binary);
    let perceptron = Box::new(rules::Perceptron::default());
    let (_, run) = learn(perceptron, space, decision, convention, data.dense(), &Order::Given);
    let kept = run.read(Readout::Last).unwrap();
    let expansion = kept.other::<Expansion>().unwrap();
    let (offsets, indices, values) = expansion.rows().compressed();
    let all: Vec<u32> = (0..120).collect();
    let scores = |width: usize| {
        let rows = Rows::from_compressed(width, &offsets, &indices, &values).unwrap();
        let (kernel, combination) = (Arc::clone(expansion.kernel()), expansion.combination().clone());
        let wide = Expansion::from_parts(kernel, expansion.constant(), rows, 1, combination).unwrap();
        let mut scores = Vec::new();
        wide.scores(data.sparse(), &all, &mut scores);
        scores.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    assert!(expansion.rows().len() > 20);
    assert_eq!(scores(1000), scores(60_000_000));
}

/// One log, several moments: the same errors as runs that really ended there.
#[test]
fn read_outs_at_a_moment_are_those_of_a_run_that_ended_then() {
    let mut random = Random::new(12);
    let data = Data::random(&mut random, 150, 6, 3);
    let shape = Shape { width: 6, n_outputs: 3, bias: Bias::None };
    let decision = OneVsRest::new(3);
    let run = |n_rows: usize, normalised: bool| {
        let space = KernelSpace::new(polynomial(2), shape, Limits::default()).normalised(normalised);
        let rule: Box<dyn Rule + Send + Sync> = Box::new(rules::Perceptron::default());
        // Where a score of zero has no vote.
        let convention = Convention { zero: rosenblatt_core::Zero::Wrong, ..no_bias() };
        let mut run = Run::from_parts(rule, space, (), decision, convention, Vec::new(), 0);
        let visits = rosenblatt_core::Visits::Range { first: 0, end: n_rows };
        assert!(run.learn(data.dense(), visits, &mut ()).is_continue());
        run
    };
    let moments = [10, 60, 150];
    let found = errors_at(run(150, false).space().learned(), data.sparse(), &moments);
    for (found, moment) in found.iter().zip(moments) {
        let wrong = |readout: Readout, normalised: bool| {
            let kept = run(moment as usize, normalised).read(readout).unwrap();
            let wrong = data.values.chunks(6).zip(&data.classes).filter(|(row, class)| {
                let mut scores = [0.0; 3];
                kept.scores(rosenblatt_core::Dense(row), &mut scores, &mut Vec::new());
                let mut random = Random::new(0);
                decision.decide(&scores, rosenblatt_core::Zero::Minus, &mut random) != Some(**class)
            });
            wrong.count() as f64
        };
        let averaged = Readout::Averaged(Average::Post);
        let expected = [
            wrong(Readout::Last, false),
            wrong(Readout::Last, true),
            wrong(Readout::Voted, false),
            wrong(averaged, false),
            wrong(averaged, true),
        ];
        assert_eq!(found[..5], expected, "after {moment} rounds");
    }
    // The expected errors of a draw are the mean of the errors of all that could be drawn.
    let all: Vec<u64> = (0..=150).collect();
    let every = errors_at(run(150, false).space().learned(), data.dense(), &all);
    for (found, moment) in found.iter().zip(moments) {
        for (drawn, last) in [(found[5], 0), (found[6], 1)] {
            let mean = every[..=moment as usize].iter().map(|errors| errors[last]).sum::<f64>()
                / (moment + 1) as f64;
            assert!((drawn - mean).abs() < 1e-9, "{drawn} and not {mean} after {moment} rounds");
        }
    }
}
