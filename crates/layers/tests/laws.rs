//! What every network must obey: gradients are gradients, scikit-learn's run is ours, and bits do not depend on how the work
//! was done.

use rosenblatt_core::memory::Other;
use rosenblatt_core::{
    Binary, Choices, Convention, DenseExamples, Direct, Examples, Multiclass, Observer, Order, Params, Plan,
    Random, Run, Schedule, Share, Snapshot, SparseExamples, Totals, Visits,
};
use rosenblatt_layers::{Activation, Descent, Design, Loss, Network, NetworkSpace, Optimiser};
use std::ops::ControlFlow;

type Training = Run<Descent, NetworkSpace, Multiclass>;

fn decision(n_outputs: usize) -> Multiclass {
    if n_outputs == 1 {
        Multiclass::Binary(Binary)
    } else {
        Multiclass::Direct(Direct::new(n_outputs, Share::Max))
    }
}

fn training(space: NetworkSpace, loss: Loss) -> Training {
    let n_outputs = space.network().n_outputs();
    Run::from_parts(Descent(loss), space, (), decision(n_outputs), Convention::default(), Vec::new(), 0)
}

fn design(hidden: &[usize], activation: Activation, params: &Params) -> Design {
    Design::new(Some(hidden), activation, Loss::Softmax, Optimiser::Adam, params).unwrap()
}

fn until<E: Examples>(run: &mut Training, examples: E, epochs: u64, order: &Order) {
    let plan = Plan { rows: None, order, seed: 3, epochs, max_updates: None, stop_when_clean: false };
    let _ = run.fit(examples, &plan, &mut ());
}

fn all<T: Choices>() -> impl Iterator<Item = T> {
    T::ALL.iter().map(|named| named.name.parse().unwrap_or_else(|_| panic!("{} can be read", named.name)))
}

/// Random rows, of which about a share is not zero, and their classes.
fn rows(
    random: &mut Random,
    n_rows: usize,
    width: usize,
    n_classes: u64,
    share: f64,
) -> (Vec<f64>, Vec<u32>) {
    let value = |random: &mut Random| if random.unit() < share { 2.0 * random.unit() - 1.0 } else { 0.0 };
    let values = (0..n_rows * width).map(|_| value(random)).collect();
    (values, (0..n_rows).map(|_| random.below(n_classes) as u32).collect())
}

/// The cost of all rows, written out plainly.
fn cost(network: &Network, loss: Loss, decay: f64, values: &[f64], classes: &[u32], weights: &[f64]) -> f64 {
    let width = network.sizes()[0];
    let mut sum = 0.0;
    for ((row, class), weight) in values.chunks(width).zip(classes).zip(weights) {
        let mut scores = vec![0.0; network.n_outputs()];
        network.scores(&mut row.iter().copied().enumerate(), &mut scores);
        let truth = *class as usize;
        let margin = if let [score] = scores[..] {
            if truth == 1 { score } else { -score }
        } else {
            let rivals = scores.iter().enumerate().filter(|(rival, _)| *rival != truth);
            scores[truth] - rivals.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
        };
        sum += weight
            * match loss {
                Loss::Hinge => (1.0 - margin).max(0.0),
                Loss::Perceptron => (-margin).max(0.0),
                Loss::Softmax if scores.len() == 1 => (1.0 + (-margin).exp()).ln(),
                Loss::Softmax => scores.iter().map(|score| (score - scores[truth]).exp()).sum::<f64>().ln(),
            };
    }
    let norm2: f64 = network.raw_weights().iter().map(|weight| weight * weight).sum();
    (sum + 0.5 * decay * norm2) / weights.iter().sum::<f64>()
}

/// One step of plain descent at rate 1 moves every weight by its gradient: that is compared with differences of the cost.
#[test]
fn slopes_are_differences_of_the_cost() {
    let mut random = Random::new(5);
    for activation in all::<Activation>() {
        for loss in all::<Loss>() {
            for (n_classes, hidden) in [(2_u64, vec![4]), (3, vec![5, 3]), (4, vec![])] {
                let n_outputs = if n_classes == 2 { 1 } else { n_classes as usize };
                let (width, n_rows, decay) = (6, 9, 0.3);
                let (values, classes) = rows(&mut random, n_rows, width, n_classes, 0.8);
                let weights: Vec<f64> = (0..n_rows).map(|_| 0.5 + random.unit()).collect();
                let params = Params::new()
                    .with("batch", 0.0)
                    .with("momentum", 0.0)
                    .with("nesterov", 0.0)
                    .with("weight-decay", decay)
                    .with_rate(Schedule::Constant(1.0));
                let design = Design::new(Some(&hidden), activation, loss, Optimiser::Sgd, &params).unwrap();
                // Biases of zero would put units that hear nothing on the edge of what they do.
                let sizes = [&[width], &hidden[..], &[n_outputs]].concat();
                let n_weights: usize = sizes.windows(2).map(|pair| pair[0] * pair[1]).sum();
                let mut draw = |n: usize| (0..n).map(|_| 2.0 * random.unit() - 1.0).collect::<Vec<_>>();
                let (drawn, biases) = (draw(n_weights), draw(sizes[1..].iter().sum()));
                let before = Network::from_parts(&sizes, activation, &drawn, &biases).unwrap();
                let mut run = training(NetworkSpace::starting_from(before.clone(), design), loss);
                let examples = DenseExamples::new(&values, width, &classes).with_weights(&weights);
                until(&mut run, examples, 1, &Order::Given);
                let after = run.space().network();
                let printed = run.space().losses()[0];
                let expected = cost(&before, loss, decay, &values, &classes, &weights);
                assert!((printed - expected).abs() < 1e-12, "{activation} {loss}: {printed} {expected}");
                let (from, to) = (
                    [before.raw_weights(), before.raw_biases()].concat(),
                    [after.raw_weights(), after.raw_biases()].concat(),
                );
                for place in 0..from.len() {
                    let h = 1e-6;
                    let at = |change: f64| {
                        let mut numbers = from.clone();
                        numbers[place] += change;
                        let (weights_here, biases) = numbers.split_at(n_weights);
                        let moved = Network::from_parts(&sizes, activation, weights_here, biases).unwrap();
                        cost(&moved, loss, decay, &values, &classes, &weights)
                    };
                    let gradient = (at(h) - at(-h)) / (2.0 * h);
                    let stepped = from[place] - to[place];
                    assert!(
                        (gradient - stepped).abs() < 1e-6,
                        "{activation} {loss} {n_classes} {place}: {gradient} {stepped}"
                    );
                }
            }
        }
    }
}

/// From its own weights and in its own order, scikit-learn's run is ours: the fixture was written by
/// `fixtures/generate_mlp.py`.
#[test]
fn losses_are_those_of_scikit_learn() {
    let text = include_str!("fixtures/mlp.txt");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let n_rows: usize = lines.next().and_then(|line| line.strip_prefix("rows ")).unwrap().parse().unwrap();
    let (mut values, mut digits) = (Vec::new(), Vec::new());
    for line in lines.by_ref().take(n_rows) {
        let mut numbers = line.split(' ').map(|number| number.parse::<u32>().unwrap());
        digits.push(numbers.next().unwrap());
        values.extend(numbers.map(|pixel| f64::from(pixel) / 16.0));
    }
    let from_bits = |text: &str| -> Vec<f64> {
        text.split(' ').map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect()
    };
    let lines: Vec<&str> = lines.collect();
    let cases: Vec<&[&str]> = lines.split(|line| line.starts_with("case ")).skip(1).collect();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let read = |name: &str| {
            let line = case.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("`{name}` is missing"))
        };
        let number = |name: &str| read(name).parse::<f64>().unwrap();
        let two = read("classes") == "2";
        let classes: Vec<u32> =
            if two { digits.iter().map(|digit| u32::from(*digit >= 5)).collect() } else { digits.clone() };
        let hidden: Vec<usize> = read("hidden").split(' ').map(|units| units.parse().unwrap()).collect();
        let params = Params::new()
            .with("batch", number("batch"))
            .with("weight-decay", number("decay"))
            .with("momentum", number("momentum"))
            .with("nesterov", number("nesterov"))
            .with("power", number("power"))
            .with("adaptive", number("adaptive"))
            .with("tolerance", number("tolerance"))
            .with("patience", number("patience"))
            .with_rate(Schedule::Constant(number("rate")));
        let activation = read("activation").parse().unwrap();
        let optimiser = read("optimiser").parse().unwrap();
        let design = Design::new(Some(&hidden), activation, Loss::Softmax, optimiser, &params).unwrap();
        let sizes = [&[64], &hidden[..], &[if two { 1 } else { 10 }]].concat();
        let (weights, biases) = (from_bits(read("weights")), from_bits(read("biases")));
        let network = Network::from_parts(&sizes, activation, &weights, &biases).unwrap();
        let mut run = training(NetworkSpace::starting_from(network, design), Loss::Softmax);
        let examples = DenseExamples::new(&values, 64, &classes);
        let orders = case.iter().filter_map(|line| line.strip_prefix("order "));
        for (epoch, order) in orders.enumerate() {
            let order = Order::Permutation(order.split(' ').map(|row| row.parse().unwrap()).collect());
            until(&mut run, examples, epoch as u64 + 1, &order);
        }
        let expected = from_bits(read("losses"));
        assert_eq!(expected.len(), 5);
        for (ours, theirs) in run.space().losses().iter().zip(&expected) {
            assert!((ours - theirs).abs() < 1e-9, "{activation} {optimiser}: {ours} {theirs}");
        }
        assert_eq!(run.space().losses().len(), expected.len());
    }
}

fn xor_solved(n_hidden: usize, activation: Activation, seed: u64) -> bool {
    let values = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
    let classes = [0, 1, 1, 0];
    let params =
        Params::new().with("batch", 0.0).with("weight-decay", 0.0).with_rate(Schedule::Constant(0.1));
    let design = Design { seed, ..design(&[n_hidden], activation, &params) };
    let mut run = training(NetworkSpace::new(design, 2, 1), Loss::Softmax);
    let examples = DenseExamples::new(&values, 2, &classes);
    until(&mut run, examples, 500, &Order::Given);
    let mut right = 0;
    run.space().network().each(examples, Visits::all(examples), |row, scores| {
        right += u32::from((scores[0] > 0.0) == (classes[row] == 1));
    });
    right == 4
}

#[test]
fn xor_is_learned_by_a_few_hidden_units() {
    let share =
        |n_hidden, activation| (0..100).filter(|seed| xor_solved(n_hidden, activation, *seed)).count();
    let tanh: Vec<usize> = [2, 3, 4].map(|n| share(n, Activation::Tanh)).to_vec();
    println!("of 100 seeds with 2, 3, 4 units: tanh {tanh:?}");
    assert!(tanh[2] >= 95 && tanh[1] >= 80 && tanh[0] >= 50, "{tanh:?}");
    // No line, however it is learned, tells XOR apart.
    assert_eq!(share(4, Activation::Identity), 0);
}

#[test]
fn bits_depend_on_neither_threads_nor_storage_nor_how_rows_are_lent() {
    let mut random = Random::new(9);
    for share in [0.15, 0.9] {
        let (width, n_rows) = (700, 300);
        let (values, classes) = rows(&mut random, n_rows, width, 3, share);
        let dense = DenseExamples::new(&values, width, &classes);
        let (mut offsets, mut indices, mut few) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks(width) {
            for (feature, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push(feature as u32);
                few.push(*value);
            }
            offsets.push(indices.len());
        }
        let sparse = SparseExamples::new(&offsets, &indices, &few, width, &classes);
        // Wide enough that threads are worth their while.
        let start = |threads| {
            let design = design(&[160, 20], Activation::Relu, &Params::new().with("batch", 200.0));
            training(NetworkSpace::new(Design { seed: 1, threads, ..design }, width, 3), Loss::Softmax)
        };
        let outcome = |run: &Training| (run.space().network().clone(), run.space().losses().to_vec());
        let mut first = start(1);
        until(&mut first, dense, 2, &Order::ShuffleEpoch);
        for threads in [1, 2, 3] {
            let mut run = start(threads);
            until(&mut run, sparse, 2, &Order::ShuffleEpoch);
            assert!(outcome(&run) == outcome(&first), "sparse, {threads} threads");
            let mut run = start(threads);
            until(&mut run, dense, 2, &Order::ShuffleEpoch);
            assert!(outcome(&run) == outcome(&first), "dense, {threads} threads");
        }
        // As they stand, in blocks of any size: batches are what they are.
        let mut whole = start(2);
        until(&mut whole, dense, 2, &Order::Given);
        for block in [1, 77, 128] {
            let mut run = start(2);
            let plan = Plan {
                rows: None,
                order: &Order::Given,
                seed: 0,
                epochs: 2,
                max_updates: None,
                stop_when_clean: false,
            };
            let _ = run.fit_in_blocks(&plan, &mut (), |run, observer| -> Result<_, ()> {
                for from in (0..n_rows).step_by(block) {
                    let visits = Visits::Range { first: from, end: n_rows.min(from + block) };
                    assert!(run.learn(sparse, visits, observer).is_continue());
                }
                Ok(ControlFlow::Continue(()))
            });
            assert!(outcome(&run) == outcome(&whole), "blocks of {block}");
        }
        // One row at a time gets the same scores as a batch.
        first.space().network().each(dense, Visits::all(dense), |row, scores| {
            let mut alone = [0.0; 3];
            let values = &values[row * width..][..width];
            first.space().network().scores(&mut values.iter().copied().enumerate(), &mut alone);
            assert_eq!(
                alone.map(f64::to_bits).to_vec(),
                scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>()
            );
        });
    }
}

/// Pauses after this many rounds and keeps the state.
struct Pause(u64, Option<rosenblatt_core::state::State<'static>>);

impl Observer for Pause {
    fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
        if so_far.rounds < self.0 {
            return ControlFlow::Continue(());
        }
        // The same state, for the same outputs, is one that owns its lists.
        let state = run.state();
        self.1 = Some(state.for_outputs(1, &[Some((0, 1.0))]));
        ControlFlow::Break(())
    }
}

#[test]
fn a_run_that_was_paused_ends_in_the_same_bits() {
    let mut random = Random::new(2);
    let (width, n_rows) = (12, 2500);
    let (values, classes) = rows(&mut random, n_rows, width, 2, 0.5);
    let examples = DenseExamples::new(&values, width, &classes);
    // Batches that end with the parts of an epoch, that do not, and one that never ends.
    for batch in [64.0, 100.0, 0.0] {
        for optimiser in all::<Optimiser>() {
            let start = || {
                let params = Params::new().with("batch", batch);
                let design =
                    Design::new(Some(&[7]), Activation::Tanh, Loss::Softmax, optimiser, &params).unwrap();
                training(NetworkSpace::new(design, width, 1), Loss::Softmax)
            };
            let mut whole = start();
            until(&mut whole, examples, 3, &Order::ShuffleEpoch);
            for rounds in [0, 1000, 4000] {
                let mut first = start();
                let order = Order::ShuffleEpoch;
                let plan = Plan {
                    rows: None,
                    order: &order,
                    seed: 3,
                    epochs: 3,
                    max_updates: None,
                    stop_when_clean: false,
                };
                let mut pause = Pause(rounds, None);
                let _ = first.fit(examples, &plan, &mut pause);
                let mut second = start();
                second.restore(pause.1.unwrap()).unwrap();
                until(&mut second, examples, 3, &order);
                assert!(second.space().network() == whole.space().network(), "{batch} {optimiser} {rounds}");
                assert_eq!(second.space().losses(), whole.space().losses());
            }
        }
    }
}

#[test]
fn contributions_sum_to_the_score() {
    let mut random = Random::new(4);
    for activation in all::<Activation>() {
        let (values, _) = rows(&mut random, 20, 8, 3, 0.7);
        let design = Design { seed: 6, ..design(&[9, 5], activation, &Params::new()) };
        let space = NetworkSpace::new(design, 8, 3);
        let network = space.network();
        for row in values.chunks(8) {
            let entries: Vec<(usize, f64)> = row.iter().copied().enumerate().collect();
            let mut scores = [0.0; 3];
            network.scores(&mut entries.iter().copied(), &mut scores);
            for (output, score) in scores.into_iter().enumerate() {
                let (base, growth) = network.growth(&entries, output);
                let sum = base + growth.iter().zip(row).map(|(weight, value)| weight * value).sum::<f64>();
                assert!((sum - score).abs() < 1e-9, "{activation}: {sum} {score}");
            }
        }
    }
}

#[test]
fn weights_count_as_repetitions_and_rows_of_no_weight_do_not() {
    let mut random = Random::new(7);
    let (values, classes) = rows(&mut random, 12, 5, 3, 0.9);
    let start = || {
        let params = Params::new().with("batch", 0.0);
        training(NetworkSpace::new(design(&[4], Activation::Tanh, &params), 5, 3), Loss::Softmax)
    };
    let weights: Vec<f64> = (0..12).map(|row| f64::from(row % 3)).collect();
    let weighted = DenseExamples::new(&values, 5, &classes).with_weights(&weights);
    let repeated: Vec<usize> = (0..12).flat_map(|row| vec![row; row % 3]).collect();
    let more: Vec<f64> = repeated.iter().flat_map(|row| values[row * 5..][..5].to_vec()).collect();
    let more_classes: Vec<u32> = repeated.iter().map(|row| classes[*row]).collect();
    let (mut once, mut again) = (start(), start());
    until(&mut once, weighted, 4, &Order::Given);
    until(&mut again, DenseExamples::new(&more, 5, &more_classes), 4, &Order::Given);
    let pairs = once.space().network().raw_weights().into_iter().zip(again.space().network().raw_weights());
    pairs.for_each(|(one, other)| assert!((one - other).abs() < 1e-12));
    // A class that counts for nothing moves nothing.
    let silent = design(&[4], Activation::Tanh, &Params::new().with("weight-decay", 0.0));
    let silent = Design { class_weights: vec![0.0; 3], ..silent };
    let mut run = training(NetworkSpace::new(silent, 5, 3), Loss::Softmax);
    let before = run.space().network().clone();
    until(&mut run, DenseExamples::new(&values, 5, &classes), 2, &Order::Given);
    assert!(run.space().network() == &before);
}

#[test]
fn later_features_are_drawn_as_if_they_had_been_there() {
    let space = |width| NetworkSpace::new(design(&[3], Activation::Tanh, &Params::new()), width, 1);
    let (narrow, wide) = (space(4), space(9));
    for (input, unit) in [(0, 0), (3, 2)] {
        // Only the spread differs, which follows from the width to begin with.
        let ratio = narrow.network().weight(0, input, unit) / wide.network().weight(0, input, unit);
        assert!((ratio - (12.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }
    assert!(Network::from_parts(&[2, 3, 1], Activation::Relu, &[0.0; 8], &[0.0; 4]).is_err());
    assert!(Network::from_parts(&[2, 0, 1], Activation::Relu, &[], &[0.0]).is_err());
    assert!(Network::from_parts(&[usize::MAX, 2, 1], Activation::Relu, &[], &[]).is_err());
}
