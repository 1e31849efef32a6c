//! A run that is stopped and resumed, again and again, ends in the bits of one that was left alone.

use rosenblatt::algorithms::ALGORITHMS;
use rosenblatt::data::Bends;
use rosenblatt::learning::{Average, Order, Random, Readout, Share, Totals, Zero};
use rosenblatt::model::Checkpoint;
use rosenblatt::options::Classes;
use rosenblatt::options::{ClassWeights, KernelOptions, Validation};
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use rosenblatt::{Dataset, Error, Model, Online, Options, Spec, Training};

/// Rows that no hyperplane separates, of `n_classes` classes.
fn data(n_rows: usize, n_classes: u64) -> Dataset {
    let mut random = Random::new(11);
    let rows: Vec<[f64; 6]> = (0..n_rows).map(|_| std::array::from_fn(|_| random.unit() - 0.5)).collect();
    let names: Vec<String> = rows
        .iter()
        .map(|row| {
            let printed = ((row[0] + row[1] * 0.5 + 1.0) * 10.0) as u64 % n_classes;
            let class = if random.below(8) == 0 { random.below(n_classes) } else { printed };
            format!("class {class}")
        })
        .collect();
    let weights = (0..n_rows).map(|_| random.below(3) as f64 / 2.0).collect();
    Dataset::from_rows(&rows, &names).with_weights(weights)
}

/// Stops at every `every`-th question, and counts the questions.
struct Stopper {
    every: u64,
    asked: u64,
    kept: Option<Vec<u8>>,
}

impl Checkpointer for Stopper {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        self.asked += 1;
        if self.asked.is_multiple_of(self.every) {
            CheckpointRequest::SaveAndStop
        } else {
            CheckpointRequest::Continue
        }
    }

    fn save(&mut self, checkpoint: &[u8]) {
        self.kept = Some(checkpoint.to_vec());
    }
}

/// Trains in pieces of `every` questions, and says how many pieces there were.
fn in_pieces(spec: &Spec, data: &Dataset, every: u64) -> (Result<Model, Error>, u64) {
    let mut checkpoint: Option<Vec<u8>> = None;
    for pieces in 1.. {
        let mut stopper = Stopper { every, asked: 0, kept: None };
        let mut training = Training::new(spec, data).checkpointer(&mut stopper);
        if let Some(bytes) = &checkpoint {
            training = training.resume(Checkpoint::from_bytes(bytes).unwrap());
        }
        match training.run(&mut ()) {
            Err(Error::Interrupted { .. }) => checkpoint = Some(stopper.kept.unwrap()),
            done => return (done, pieces),
        }
    }
    unreachable!("runs end")
}

fn check(options: Options, data: &Dataset, every: u64) -> u64 {
    let printed = format!("{options:?}");
    let spec = match Spec::new(options) {
        Ok(spec) => spec,
        // Not everything goes with everything: the running mean and rules that shrink, for instance.
        Err(Error::Setup(_) | Error::Range { .. }) => return 0,
        Err(error) => panic!("{printed}: {error}"),
    };
    let whole = match rosenblatt::train(&spec, data) {
        Ok(model) => model.to_bytes(),
        Err(Error::Range { .. }) => return 0,
        Err(error) => panic!("{printed}: {error}"),
    };
    let (pieced, pieces) = in_pieces(&spec, data, every);
    assert!(pieces > 1, "{printed} was never stopped");
    assert!(pieced.unwrap().to_bytes() == whole, "{printed} in {pieces} pieces");
    pieces
}

const READOUTS: [Readout; 9] = [
    Readout::Last,
    Readout::Averaged(Average::Post),
    Readout::Averaged(Average::Pre),
    Readout::Averaged(Average::Both),
    Readout::Averaged(Average::Running),
    Readout::Voted,
    Readout::Pocket,
    Readout::Random,
    Readout::Pocket,
];

#[test]
fn every_algorithm_read_out_and_decision_goes_on_as_if_nothing_had_happened() {
    let (two, three, few, few_two) = (data(1500, 2), data(1500, 3), data(60, 3), data(60, 2));
    let decisions = [
        Classes::OneVsRest,
        Classes::OneVsOne,
        Classes::Direct(Share::Max),
        Classes::Direct(Share::Uniform),
        Classes::Direct(Share::Proportional),
    ];
    let orders = [Order::Given, Order::ShuffleOnce, Order::ShuffleEpoch, Order::Draws];
    let mut n_pieces = 0;
    for (turn, entry) in ALGORITHMS.iter().filter(|entry| !entry.info.numbers).enumerate() {
        for (place, readout) in READOUTS.into_iter().enumerate() {
            let kind = turn + place;
            let options = Options {
                algorithm: entry.info.name.to_owned(),
                readout: Some(readout),
                ratchet: place != 8,
                order: (!entry.info.picks_worst).then(|| orders[kind % 4].clone()),
                multiclass: decisions[kind % 5],
                zero: [rosenblatt::learning::Zero::Random, rosenblatt::learning::Zero::Minus][kind % 2],
                seed: kind as u64,
                epochs: 3,
                ..Options::default()
            };
            let (two, three) = if entry.info.picks_worst { (&few_two, &few) } else { (&two, &three) };
            n_pieces += check(options.clone(), two, 1 + (kind as u64 % 3) + 1);
            n_pieces += check(options, three, 2 + (kind as u64 % 4));
        }
    }
    assert!(n_pieces > 1000, "{n_pieces}");
}

/// Bent columns are rows like others: the knots are those of the data, and a checkpoint of straight rows does not fit them.
#[test]
fn columns_that_bend_are_carried_over_and_straight_ones_are_other_data() {
    let straight = data(600, 3);
    let shape = "bend(knots=8,crosses=2)".parse().unwrap();
    let bends = Bends::fit(shape, &straight, 0..straight.len(), &[0, 1, 2, 3, 4, 5]).unwrap();
    let bent = straight.bent(&bends);
    assert!(bent.width() > 6 * 8, "{}", bent.width());
    for algorithm in ["perceptron", "pa1", "logistic", "arow", "svm-dual"] {
        let options = Options { algorithm: algorithm.to_owned(), epochs: 3, ..Options::default() };
        assert!(check(options, &bent, 2) > 1, "{algorithm}");
    }
    let spec = Spec::new(Options { algorithm: "pa1".to_owned(), epochs: 3, ..Options::default() }).unwrap();
    let mut stopper = Stopper { every: 1, asked: 0, kept: None };
    let stopped = Training::new(&spec, &straight).checkpointer(&mut stopper).run(&mut ());
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
    let checkpoint = Checkpoint::from_bytes(&stopper.kept.unwrap()).unwrap();
    assert!(Training::new(&spec, &bent).resume(checkpoint).run(&mut ()).is_err());
}

#[test]
fn kernels_are_carried_over_with_all_their_read_outs() {
    let (two, three, few) = (data(1500, 2), data(1500, 3), data(40, 3));
    let readouts = [Readout::Last, Readout::Averaged(Average::Post), Readout::Voted, Readout::Random];
    let algorithms = ["perceptron", "pa1", "perceptron", "dynamic-margin"];
    let mut n_pieces = 0;
    for (turn, readout) in readouts.into_iter().enumerate() {
        for (kernel, bias) in [("poly", None), ("rbf", Some(rosenblatt::learning::Bias::Augmented(1.0)))] {
            let options = Options {
                algorithm: algorithms[turn].to_owned(),
                kernel: Some(KernelOptions { name: kernel.to_owned(), ..KernelOptions::default() }),
                readout: Some(readout),
                bias,
                epochs: 2,
                ..Options::default()
            };
            n_pieces += check(options.clone(), &two, 2);
            n_pieces += check(options, &three, 3);
        }
    }
    assert!(n_pieces > 20, "{n_pieces}");
    let worst = Options {
        algorithm: "minover".to_owned(),
        kernel: Some(KernelOptions::default()),
        multiclass: Classes::Direct(Share::Max),
        epochs: 2,
        ..Options::default()
    };
    assert!(check(worst, &few, 7) > 2);
}

#[test]
fn batches_schedules_weights_and_patience_are_carried_over() {
    let (two, three) = (data(1500, 2), data(1500, 4));
    let batch = |size: f64, readout| Options {
        algorithm: "batch".to_owned(),
        params: [("size".to_owned(), size)].into(),
        readout: Some(readout),
        epochs: 6,
        ..Options::default()
    };
    for size in [0.0, 7.0, 100.0, 3000.0] {
        for readout in READOUTS {
            check(batch(size, readout), &two, 2);
        }
    }
    for rate in ["0.5/k", "1/sqrt(k)", "1/k^0.25"] {
        check(Options { rate: Some(rate.parse().unwrap()), epochs: 3, ..Options::default() }, &three, 3);
    }
    let weights = ClassWeights::Given([("class 1".to_owned(), 2.5)].into());
    for class_weights in [ClassWeights::Balanced, weights] {
        check(Options { class_weights, epochs: 3, ..Options::default() }, &three, 2);
    }
    check(Options { max_updates: Some(700), epochs: 9, ..Options::default() }, &two, 2);
    let permutation = Order::Permutation((0..1500).rev().chain(3..900).collect());
    check(Options { order: Some(permutation), epochs: 3, ..Options::default() }, &two, 2);
    for (patience, readout) in
        [(1, Readout::Voted), (3, Readout::Averaged(Average::Post)), (2, Readout::Pocket)]
    {
        let validation = Some(Validation { fraction: 0.2, patience, min_rows: 0 });
        let options = Options { validation, readout: Some(readout), epochs: 20, ..Options::default() };
        assert!(check(options.clone(), &two, 3) > 1);
        assert!(check(options, &three, 5) > 1);
    }
}

#[test]
fn other_data_and_other_options_are_refused_with_what_differs() {
    let (rows, seed) = (data(1500, 2), 4);
    let options = Options { epochs: 3, seed, ..Options::default() };
    let spec = Spec::new(options.clone()).unwrap();
    let mut stopper = Stopper { every: 2, asked: 0, kept: None };
    let stopped = Training::new(&spec, &rows).checkpointer(&mut stopper).run(&mut ());
    assert!(matches!(stopped, Err(Error::Interrupted { epoch: 1 })), "{stopped:?}");
    let bytes = stopper.kept.unwrap();
    let refused = |spec: &Spec, data: &Dataset, chosen: Option<&[u32]>| {
        let training = Training::new(spec, data).resume(Checkpoint::from_bytes(&bytes).unwrap());
        let training = if let Some(rows) = chosen { training.rows(rows) } else { training };
        training.run(&mut ()).unwrap_err().to_string()
    };
    let other = Spec::new(Options { epochs: 9, algorithm: "pa1".to_owned(), ..options }).unwrap();
    let printed = refused(&other, &rows, None);
    assert!(
        printed.contains("`epochs` was 3 and is 9") && printed.contains("`algorithm` was \"perceptron\""),
        "{printed}"
    );
    let printed = refused(&spec, &data(1501, 2), None);
    assert!(printed.contains("1500 rows of 6 features and has 1501 of 6"), "{printed}");
    let printed = refused(&spec, &data(1500, 2).with_weights(vec![1.0; 1500]), None);
    assert!(printed.contains("other values, classes or weights"), "{printed}");
    let first: Vec<u32> = (0..1400).collect();
    let printed = refused(&spec, &rows, Some(&first));
    assert!(printed.contains("learned from 1350 of the rows, and would from 1260"), "{printed}");
    let names = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
    let printed = refused(&spec, &data(1500, 2).with_feature_names(names), None);
    assert!(printed.contains("columns, words or scales"), "{printed}");
    assert!(Training::new(&spec, &rows).resume(Checkpoint::from_bytes(&bytes).unwrap()).run(&mut ()).is_ok());
}

#[test]
fn a_checkpoint_that_was_cut_changed_or_made_up_is_refused() {
    let rows = data(1500, 2);
    let spec = Spec::new(Options { epochs: 3, readout: Some(Readout::Voted), ..Options::default() }).unwrap();
    let mut stopper = Stopper { every: 2, asked: 0, kept: None };
    let _ = Training::new(&spec, &rows).checkpointer(&mut stopper).run(&mut ());
    let bytes = stopper.kept.unwrap();
    for length in (0..bytes.len()).step_by(97) {
        assert!(Checkpoint::from_bytes(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
    let mut random = Random::new(2);
    for _ in 0..300 {
        let mut flipped = bytes.clone();
        flipped[random.below(bytes.len() as u64) as usize] ^= 1 << random.below(8);
        assert!(Checkpoint::from_bytes(&flipped).is_err());
    }
    let error = Model::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("this is a rosenblatt checkpoint, but a rosenblatt model is wanted"), "{error}");
    let model = rosenblatt::train(&spec, &rows).unwrap().to_bytes();
    assert!(Checkpoint::from_bytes(&model).unwrap_err().to_string().contains("a rosenblatt model, but"));
    // Whole files with any eight bytes of the state made up either go on or say why not; they never panic.
    let head = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize + 64;
    let mut n_refused = 0;
    for _ in 0..60 {
        let mut lying = bytes.clone();
        let place = head + random.below((bytes.len() - head - 8) as u64 / 8) as usize * 8;
        let place = if random.below(2) == 0 { head + random.below(20) as usize * 8 } else { place };
        lying[place..place + 8].copy_from_slice(&random.next().to_le_bytes());
        rosenblatt::model::model_checksum(&mut lying);
        let gone_on =
            Checkpoint::from_bytes(&lying).map_err(|error| error.to_string()).and_then(|checkpoint| {
                Training::new(&spec, &rows).resume(checkpoint).run(&mut ()).map_err(|error| error.to_string())
            });
        n_refused += u32::from(gone_on.is_err());
    }
    assert!(n_refused > 10, "{n_refused}");
}

/// What the hyperplanes of a model are, output by output, biases last; those of a vote are its scores of some rows.
fn outputs(model: &Model, data: &Dataset) -> Vec<Vec<f64>> {
    if let Some(planes) = model.planes() {
        let each = planes.biases().iter().enumerate();
        return each.map(|(output, bias)| [planes.weights(output), vec![*bias]].concat()).collect();
    }
    let mut predictor = model.predictor(data.width());
    let mut scores: Vec<Vec<f64>> = Vec::new();
    for row in 0..20_u8 {
        let values: Vec<f64> =
            (0..6_u8).map(|feature| f64::from((row * 7 + feature * 3) % 11) - 5.0).collect();
        predictor.predict(rosenblatt::learning::Dense(&values));
        scores.resize(predictor.scores().len(), Vec::new());
        scores.iter_mut().zip(predictor.scores()).for_each(|(all, score)| all.push(*score));
    }
    scores
}

/// A new class is taken in: what was learned stays, turned round where its class is on the other side.
#[test]
fn a_class_that_is_new_begins_with_nothing_and_the_others_stay_what_they_were() {
    let data = data(300, 2);
    let turned = |values: &[f64]| values.iter().map(|value| 0.0 - value).collect::<Vec<_>>();
    let readouts = [
        Readout::Last,
        Readout::Averaged(Average::Post),
        Readout::Averaged(Average::Pre),
        Readout::Averaged(Average::Running),
        Readout::Voted,
        Readout::Random,
        Readout::Pocket,
    ];
    let mut n_grown = 0;
    for entry in ALGORITHMS.iter().filter(|entry| !entry.info.numbers) {
        for (readout, multiclass) in readouts.into_iter().flat_map(|readout| {
            [Classes::OneVsRest, Classes::OneVsOne, Classes::Direct(Share::Max)]
                .map(|scheme| (readout, scheme))
        }) {
            let name = entry.info.name;
            let options = Options {
                algorithm: name.to_owned(),
                readout: Some(readout),
                multiclass,
                // A hypothesis that scores zero is to say nothing, also where it votes.
                zero: Zero::Wrong,
                ..Options::default()
            };
            let recipe = rosenblatt::Recipe { learning: options.into(), ..Default::default() };
            let Ok(spec) = recipe.online_spec() else { continue };
            let Ok(mut learner) = Online::new(spec, ["class 0", "class 1"]) else { continue };
            learner.partial_train(&data).unwrap();
            let before = outputs(&learner.model().unwrap(), &data);
            if entry.network {
                // Its outputs are learned together, so that none can be new.
                assert!(learner.take_in(["class 0", "class 0.5", "class 1"]).is_err());
                continue;
            }
            // Between the others, so that numbers change, too.
            learner.take_in(["class 0", "class 0.5", "class 1"]).unwrap();
            let model = learner.model().unwrap();
            assert_eq!(model.labels().names(), ["class 0", "class 0.5", "class 1"]);
            let (printed, after) = (format!("{name} {readout} {multiclass}"), outputs(&model, &data));
            if readout == Readout::Voted && matches!(multiclass, Classes::Direct(_)) {
                // Votes of all classes together are counted otherwise than votes on a sign.
            } else if multiclass == Classes::OneVsOne {
                assert_eq!(after[1], turned(&before[0]), "{printed}");
                assert!(after[0].iter().chain(&after[2]).all(|value| *value == 0.0), "{printed}");
            } else {
                assert_eq!((&after[0], &after[2]), (&turned(&before[0]), &before[0]), "{printed}");
                assert!(after[1].iter().all(|value| *value == 0.0), "{printed}");
            }
            // It goes on, and what is new wins over what is old, unless that has the longer vote.
            let more = Dataset::from_rows(&[[3.0; 6], [-3.0; 6]], &["class 0.5", "class 1"]);
            for _ in 0..400 {
                learner.partial_train(&more).unwrap();
            }
            let found = learner.model().unwrap();
            let is_quick = readout == Readout::Last
                || readout == Readout::Averaged(Average::Post) && entry.info.fixed_increment;
            if is_quick {
                assert_eq!(found.predict(&[3.0; 6]).unwrap(), "class 0.5", "{printed}");
            }
            // One more, and in another order.
            learner.take_in(["class 3", "class 1", "class 0.5", "class 0"]).unwrap();
            learner.partial_train(&more).unwrap();
            assert!(learner.take_in(["class 1", "class 3"]).is_err(), "no class is lost");
            n_grown += 1;
        }
    }
    assert!(n_grown > 100, "{n_grown}");
}

#[test]
fn classes_that_come_one_by_one_are_those_taken_in_beforehand_to_the_bit() {
    let names: Vec<String> = (0..30).map(|number| format!("class {number}")).collect();
    let rows: Vec<[f64; 4]> = (0..90)
        .map(|row: usize| [row % 7, row % 5, row % 3, row % 11].map(|value| value as f64 - 2.0))
        .collect();
    let labels: Vec<&String> = (0..90).map(|row| &names[(row * 7 + row / 30) % 30]).collect();
    for (readout, multiclass) in [
        (Readout::Last, Classes::OneVsRest),
        (Readout::Averaged(Average::Post), Classes::OneVsRest),
        (Readout::Averaged(Average::Post), Options::default().multiclass),
        (Readout::Voted, Classes::OneVsRest),
        (Readout::Last, Classes::OneVsOne),
    ] {
        let options = Options {
            algorithm: "perceptron".to_owned(),
            readout: Some(readout),
            multiclass,
            ..Options::default()
        };
        let recipe = rosenblatt::Recipe { learning: options.into(), ..Default::default() };
        let learner = || Online::new(recipe.online_spec().unwrap(), ["class 0", "class 7"]).unwrap();
        let (mut at_once, mut one_by_one) = (learner(), learner());
        let data = Dataset::from_rows(&rows, &labels);
        at_once.learn_named(data.view(), data.labels().names(), 0..90).unwrap();
        for (row, label) in rows.iter().zip(&labels) {
            let mut known = one_by_one.labels().clone();
            known.add(label);
            one_by_one.take_in(known.names().to_vec()).unwrap();
            one_by_one.learn(row, label).unwrap();
        }
        let [a, b] = [at_once, one_by_one].map(|learner| learner.model().unwrap());
        assert_eq!(a.labels().names(), b.labels().names());
        assert_eq!(a.labels().len(), 30);
        assert!(a.to_bytes() == b.to_bytes(), "{readout} {multiclass}");
    }
}
