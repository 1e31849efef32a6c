//! What mixing promises: one shard is one machine, to the bit; nothing depends on who is ready first; and on separable data
//! the theorem's bound holds.

use rosenblatt::algorithms::ALGORITHMS;
use rosenblatt::calibration::{Calibration, Method};
use rosenblatt::evaluate::held_out_scores;
use rosenblatt::learning::{Order, Random, Readout};
use rosenblatt::mix::{
    EpochMixed, Mixing, Mixture, Pack, Packing, add, count_errors, epoch, mix, pack, scores,
    with_probabilities,
};
use rosenblatt::options::{ClassWeights, KernelOptions, Validation};
use rosenblatt::{Dataset, Error, Labels, Model, Options, Spec, evaluate, train};
use std::borrow::Cow;

/// Rows of `n_classes` classes; one in `wrong` says the wrong one, none if it is zero.
fn data(n_rows: usize, n_classes: u64, wrong: u64, seed: u64) -> Dataset {
    let mut random = Random::new(seed);
    let rows: Vec<[f64; 6]> = (0..n_rows).map(|_| std::array::from_fn(|_| random.unit() - 0.5)).collect();
    let name = |row: &[f64; 6]| {
        let printed = ((row[0] + row[1] * 0.5 + 1.0) * 10.0) as u64 % n_classes;
        let class = if wrong > 0 && random.below(wrong) == 0 { random.below(n_classes) } else { printed };
        format!("class {class}")
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    Dataset::from_rows(&rows, &names)
}

/// Rows that a hyperplane through the origin separates with a margin of at least `margin`, of length at most 1.
fn separable(n_rows: usize, margin: f64) -> Dataset {
    let mut random = Random::new(5);
    let (mut rows, mut names) = (Vec::new(), Vec::new());
    while rows.len() < n_rows {
        let row: [f64; 5] = std::array::from_fn(|_| (random.unit() - 0.5) * 0.8);
        // The unit vector (0.6, 0.8, 0, 0, 0) separates them.
        let score = 0.6 * row[0] + 0.8 * row[1];
        if score.abs() >= margin {
            rows.push(row);
            names.push(if score > 0.0 { "up" } else { "down" });
        }
    }
    Dataset::from_rows(&rows, &names)
}

/// The rows of every shard: those whose number leaves the same rest.
fn shards(data: &Dataset, n_shards: usize) -> Vec<Dataset> {
    let part = |shard: usize| {
        let rows: Vec<u32> = (shard..data.len()).step_by(n_shards).map(|row| row as u32).collect();
        rosenblatt::data::unpack(&rosenblatt::data::pack(data, &rows).unwrap()).unwrap()
    };
    (0..n_shards).map(part).collect()
}

/// Trains shard by shard, in the order of `turns` in every epoch, and tells of every epoch.
fn mixed(
    spec: &Spec,
    data: &Dataset,
    n_shards: usize,
    mixing: Mixing,
    tree: bool,
) -> (Model, Vec<EpochMixed>) {
    let parts = shards(data, n_shards);
    let packed: Vec<_> = (0_u64..)
        .zip(&parts)
        .map(|(shard, part)| pack(spec, part, shard, n_shards as u64).unwrap())
        .collect();
    let mut counts = vec![0; data.labels().len()];
    for (part, packed) in parts.iter().zip(&packed) {
        for (name, count) in part.labels().names().iter().zip(&packed.counts) {
            counts[data.labels().class(name).unwrap() as usize] += count;
        }
    }
    let new =
        Mixture::new(spec.clone(), data.labels().clone(), &counts, data.width(), n_shards as u64, mixing);
    let fingerprint = (n_shards == 1).then(|| packed[0].fingerprint.clone());
    let mut mixture = new.unwrap().with_fingerprint(fingerprint);
    let mut printed = Vec::new();
    while !mixture.is_over() {
        let start = mixture.start();
        // Ready in any order: the last first.
        let mut shares: Vec<(usize, Vec<u8>)> = (0..n_shards)
            .rev()
            .map(|shard| (shard, epoch(&start, shard as u64, packed[shard].train.iter().map(Ok)).unwrap()))
            .collect();
        shares.sort_by_key(|(shard, _)| *shard);
        let shares: Vec<Vec<u8>> = shares.into_iter().map(|(_, share)| share).collect();
        let shares = if tree { shares.chunks(3).map(|some| add(some).unwrap()).collect() } else { shares };
        printed.push(mixture.take(&shares).unwrap());
        let n_validation: usize = packed.iter().map(|packed| packed.n_validation).sum();
        if n_validation > 0 {
            let so_far = mixture.model_so_far().unwrap();
            let held = packed.iter().flat_map(|packed| packed.validation.iter().map(Ok));
            let (errors, rows) = count_errors(&so_far, held).unwrap();
            assert_eq!(rows, n_validation);
            mixture.judged(errors, rows).unwrap();
        }
        // A mixture that is stopped goes on in the same bits.
        let checkpoint = mixture.checkpoint();
        let again = Mixture::from_bytes(&checkpoint).unwrap();
        assert!(again.checkpoint() == checkpoint && again.start() == mixture.start());
        mixture = again;
    }
    (mixture.model().unwrap(), printed)
}

/// Rows that are learned from as they come, and not packed, give what their packs give; the fingerprint is of all of them,
/// even if an epoch ends early.
#[test]
fn an_epoch_over_rows_is_an_epoch_over_their_packs() {
    let whole = data(900, 3, 6, 4);
    let batches = shards(&whole, 4);
    let classes: Vec<u32> = batches.iter().flat_map(|batch| batch.classes().to_vec()).collect();
    for (order, max_updates) in [(None, None), (Some(Order::Given), None), (Some(Order::Given), Some(20))] {
        let spec =
            Spec::new(Options { order, max_updates, validation: None, ..options("perceptron") }).unwrap();
        let packing = || {
            let batches = batches.iter().map(|batch| Ok(Cow::Borrowed(batch)));
            Packing::new(&spec, &classes, whole.labels(), (0, 1), batches).unwrap()
        };
        let (mut as_packs, mut as_rows) = (packing(), packing());
        let mixture = Mixture::new(
            spec.clone(),
            whole.labels().clone(),
            &as_packs.counts,
            whole.width(),
            1,
            Mixing::Uniform,
        );
        let start = mixture.unwrap().start();
        let packs: Vec<Pack> = as_packs.by_ref().collect::<Result<_, _>>().unwrap();
        let share = epoch(&start, 0, packs.iter().map(|pack| Ok(&pack.bytes))).unwrap();
        assert!(share == as_rows.epoch(&start, 0).unwrap(), "{:?}", spec.options());
        assert_eq!(as_rows.fingerprint(), as_packs.fingerprint());
        let again = as_packs.epoch(&start, 0).unwrap_err().to_string();
        assert!(again.contains("packed already"), "{again}");
    }
}

fn options(algorithm: &str) -> Options {
    Options { algorithm: algorithm.to_owned(), ..Options::default() }
}

#[test]
fn one_shard_is_one_machine_to_the_byte() {
    for n_classes in [2, 4] {
        let data = data(1200, n_classes, 6, 1);
        for algorithm in ["perceptron", "pa1", "logistic", "hinge"] {
            for readout in [None, Some(Readout::Last)] {
                for order in [None, Some(Order::Given)] {
                    let weights = if readout.is_none() { ClassWeights::Balanced } else { ClassWeights::Even };
                    let chosen = Options {
                        readout,
                        order,
                        epochs: 7,
                        class_weights: weights,
                        seed: 3,
                        ..options(algorithm)
                    };
                    let spec = Spec::new(chosen).unwrap();
                    let (model, _) = mixed(&spec, &data, 1, Mixing::Uniform, false);
                    let alone = train(&spec, &data).unwrap();
                    assert_eq!(model.training_summary(), alone.training_summary());
                    assert!(
                        model.to_bytes() == alone.to_bytes(),
                        "{algorithm} {n_classes} {:?}",
                        spec.options()
                    );
                }
            }
        }
    }
}

#[test]
fn a_cycle_and_a_clean_epoch_end_a_sole_shard_as_they_end_a_run() {
    let xor =
        Dataset::from_rows(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], &["a", "b", "b", "a"]);
    for data in [xor, separable(60, 0.1)] {
        let chosen = Options {
            order: Some(Order::Given),
            readout: Some(Readout::Last),
            epochs: 500,
            ..options("perceptron")
        };
        let spec = Spec::new(chosen).unwrap();
        let (model, _) = mixed(&spec, &data, 1, Mixing::Uniform, false);
        assert!(model.training_summary().totals.epochs < 500);
        assert!(model.to_bytes() == train(&spec, &data).unwrap().to_bytes());
    }
}

#[test]
fn several_shards_give_the_same_bits_again_and_nearly_the_accuracy_of_one_machine() {
    for n_classes in [2, 3] {
        let data = data(3000, n_classes, 10, 2);
        for algorithm in ["perceptron", "pa1", "logistic"] {
            for mixing in [Mixing::Uniform, Mixing::Errors, Mixing::Rows] {
                let spec = Spec::new(Options { epochs: 6, ..options(algorithm) }).unwrap();
                let (model, _) = mixed(&spec, &data, 7, mixing, false);
                let (again, _) = mixed(&spec, &data, 7, mixing, false);
                assert!(model.to_bytes() == again.to_bytes());
                let (tree, _) = mixed(&spec, &data, 7, mixing, true);
                let [one, of_tree, alone] = [&model, &tree, &train(&spec, &data).unwrap()]
                    .map(|model| evaluate(model, &data).unwrap().error());
                assert!((one - of_tree).abs() < 0.005, "only roundings differ in a tree");
                assert!(one < alone + 0.02, "{algorithm} {mixing}: {one} after {alone}");
            }
        }
    }
}

#[test]
fn on_separable_rows_the_mistakes_stay_within_the_bound() {
    let margin = 0.05;
    let data = separable(400, margin);
    let longest = (0..data.len()).map(|row| {
        let rosenblatt::data::MatrixRef::Dense64(all) = data.matrix() else { panic!("dense") };
        all.values[row * 5..(row + 1) * 5].iter().map(|value| value * value).sum::<f64>()
    });
    let bound = longest.fold(0.0, f64::max) / (margin * margin);
    for mixing in [Mixing::Uniform, Mixing::Errors] {
        let chosen = Options {
            bias: Some(rosenblatt::learning::Bias::None),
            readout: Some(Readout::Last),
            epochs: 10_000,
            validation: None,
            ..options("perceptron")
        };
        let spec = Spec::new(chosen).unwrap();
        let (model, printed) = mixed(&spec, &data, 8, mixing, false);
        let mistakes: f64 = printed.iter().map(|epoch| epoch.weighted_mistakes).sum();
        assert!(mistakes > 1.0 && mistakes <= bound, "{mixing}: {mistakes} of {bound}");
        assert_eq!(printed.last().unwrap().totals.mistakes, 0, "{mixing}: it ends without a mistake");
        assert_eq!(
            (evaluate(&model, &data).unwrap().error(), model.training_summary().stopped_by()),
            (0.0, "clean")
        );
    }
}

#[test]
fn what_has_no_mean_is_refused_and_told_why() {
    let labels = || Labels::in_order(["a", "b"]);
    let refused = |chosen: Options| {
        let spec = Spec::new(chosen).unwrap();
        Mixture::new(spec, labels(), &[5, 5], 3, 2, Mixing::Uniform).unwrap_err().to_string()
    };
    for entry in ALGORITHMS.iter().filter(|entry| !entry.info.numbers) {
        let name = entry.info.name;
        let Ok(spec) = Spec::new(options(name)) else { continue };
        match Mixture::new(spec, labels(), &[5, 5], 3, 2, Mixing::Uniform) {
            Ok(_) => {}
            Err(Error::Range { name, .. }) => assert!(["algorithm", "order", "readout"].contains(&name)),
            Err(other) => panic!("{name}: {other}"),
        }
    }
    assert!(refused(options("arow")).contains("keeps nothing but weights"));
    assert!(refused(options("svm-dual")).contains("single rows"));
    assert!(refused(Options { readout: Some(Readout::Voted), ..options("perceptron") }).contains("averaged"));
    let kernel = Some(KernelOptions { name: "rbf".to_owned(), ..KernelOptions::default() });
    assert!(refused(Options { kernel, ..options("perceptron") }).contains("left out"));
    let one_class = Mixture::new(Spec::default(), labels(), &[5, 0], 3, 2, Mixing::Uniform);
    assert!(matches!(one_class, Err(Error::OneClass { .. })));
    let wide = Mixture::new(Spec::default(), labels(), &[5, 5], usize::MAX >> 8, 2, Mixing::Uniform);
    assert!(matches!(wide, Err(Error::TooLarge { .. })));
    let mut mixture = Mixture::new(Spec::default(), labels(), &[5, 5], 3, 2, Mixing::Uniform).unwrap();
    assert!(mixture.take::<Vec<u8>>(&[]).unwrap_err().to_string().contains("0 shards"));
    let start = mixture.start();
    for place in 0..start.len() {
        let mut spoiled = start.clone();
        spoiled[place] ^= 8;
        assert!(Mixture::from_bytes(&spoiled).is_err(), "byte {place}");
    }
    let other = Mixture::new(Spec::default(), labels(), &[5, 6], 3, 2, Mixing::Uniform).unwrap();
    assert!(other.resume(&start).unwrap_err().to_string().contains("rows by class"));
}

#[test]
fn models_are_mixed_in_any_order_and_one_is_itself() {
    let data = data(900, 3, 10, 4);
    let spec = Spec::new(Options { epochs: 3, ..options("perceptron") }).unwrap();
    let models: Vec<Model> = shards(&data, 3).iter().map(|part| train(&spec, part).unwrap()).collect();
    assert!(mix(&models[..1], Mixing::Errors).unwrap().to_bytes() == models[0].to_bytes());
    for mixing in [Mixing::Uniform, Mixing::Errors, Mixing::Rows] {
        let one = mix(&models, mixing).unwrap();
        let turned: Vec<Model> = [2, 0, 1].map(|place: usize| models[place].clone()).into();
        assert!(one.to_bytes() == mix(&turned, mixing).unwrap().to_bytes());
        assert_eq!(one.training_summary().rows, 900);
        assert!(Model::from_bytes(&one.to_bytes()).is_ok());
        let (mean, first) =
            (evaluate(&one, &data).unwrap().error(), evaluate(&models[0], &data).unwrap().error());
        assert!(mean < first + 0.05, "{mean} after {first}");
    }
    let other = train(&Spec::new(Options { epochs: 4, ..options("pa1") }).unwrap(), &data).unwrap();
    let refusal = mix(&[models[0].clone(), other], Mixing::Uniform).unwrap_err().to_string();
    assert!(refusal.contains("model 2") && refusal.contains("`algorithm` is \"pa1\""), "{refusal}");
    let voted = Spec::new(Options { readout: Some(Readout::Voted), ..options("perceptron") }).unwrap();
    let voted = train(&voted, &data).unwrap();
    assert!(mix(&[voted.clone(), voted], Mixing::Uniform).unwrap_err().to_string().contains("votes"));
    assert!(mix(&[], Mixing::Uniform).is_err());
}

#[test]
fn patience_and_few_rows_are_as_on_one_machine() {
    let data = data(1500, 2, 3, 8);
    let validation = Some(Validation { fraction: 0.2, patience: 2, ..Validation::default() });
    let spec = Spec::new(Options { validation, epochs: 40, ..options("perceptron") }).unwrap();
    let (alone, _) = mixed(&spec, &data, 1, Mixing::Uniform, false);
    assert!(alone.to_bytes() == train(&spec, &data).unwrap().to_bytes());
    assert_eq!(alone.training_summary().stopped_by(), "patience");
    let (several, _) = mixed(&spec, &data, 4, Mixing::Uniform, false);
    assert_eq!(several.training_summary().validation.as_ref().unwrap().rows, 300);
    assert!(several.training_summary().totals.epochs < 40);
}

#[test]
fn probabilities_are_those_of_one_machine() {
    for n_classes in [2, 3] {
        let (seen, held) = (data(300, n_classes, 9, 3), data(200, n_classes, 9, 4));
        // Weights of classes leave it to the scores to name them, so that curves are fitted and nothing else.
        let chosen = Options { epochs: 2, class_weights: ClassWeights::Balanced, ..options("perceptron") };
        let spec = Spec::new(chosen).unwrap();
        let (model, _) = mixed(&spec, &seen, 3, Mixing::Uniform, false);
        let parts = shards(&held, 3);
        let pack = |part: &Dataset| {
            let all: Vec<u32> = (0..part.len() as u32).collect();
            rosenblatt::data::pack(part, &all).map_err(Error::from)
        };
        let scored: Vec<Vec<u8>> = parts.iter().map(|part| scores(&model, [pack(part)]).unwrap()).collect();
        let parts = parts.into_iter().map(Ok::<_, Error>);
        let together = Dataset::joined(parts, model.labels().clone()).unwrap();
        let rows: Vec<u32> = (0..together.len() as u32).collect();
        let (of_rows, classes) = held_out_scores(&model, &together, &rows);
        for method in [Method::Platt, Method::Isotonic] {
            let fitted = with_probabilities(model.clone(), method, &scored).unwrap();
            let expected = Calibration::fit(method, n_classes as usize, &of_rows, &classes).unwrap();
            assert_eq!(fitted.calibration(), Some(&expected));
        }
        let none: [Vec<u8>; 0] = [];
        assert!(matches!(
            with_probabilities(model.clone(), Method::Platt, &none),
            Err(Error::NothingHeldOut)
        ));
        let mut spoiled = scored[0].clone();
        *spoiled.last_mut().unwrap() ^= 1;
        assert!(with_probabilities(model.clone(), Method::Platt, &[spoiled]).is_err());
        let (other, _) = mixed(&spec, &data(300, 5 - n_classes, 9, 3), 3, Mixing::Uniform, false);
        assert!(with_probabilities(other, Method::Platt, &scored).is_err());
    }
}

#[test]
fn rows_that_come_in_batches_are_packed_as_if_they_came_at_once() {
    let whole = data(3000, 3, 7, 11).with_weights((0..3000).map(|row| f64::from(row % 5)).collect());
    let validation = Some(Validation { fraction: 0.2, ..Validation::default() });
    let spec = Spec::new(Options { validation, seed: 4, ..Options::default() }).unwrap();
    let expected = pack(&spec, &whole, 1, 2).unwrap();
    let rows_of = |packs: &[Vec<u8>]| {
        Dataset::joined(packs.iter().map(|pack| rosenblatt::data::unpack(pack)), whole.labels().clone())
            .unwrap()
    };
    for cuts in [vec![0, 3000], vec![0, 1, 1, 700, 2999, 3000]] {
        let batch = |cut: &[u32]| {
            let rows: Vec<u32> = (cut[0]..cut[1]).collect();
            let packed = rosenblatt::data::pack(&whole, &rows)?;
            Ok(Cow::Owned(rosenblatt::data::unpack(&packed)?))
        };
        let batches = cuts.windows(2).map(batch);
        let mut packing = Packing::new(&spec, whole.classes(), whole.labels(), (1, 2), batches).unwrap();
        let (mut train, mut held) = (Vec::new(), Vec::new());
        for pack in &mut packing {
            let Pack { is_held, number, bytes } = pack.unwrap();
            let part = if is_held { &mut held } else { &mut train };
            assert_eq!(number, part.len());
            part.push(bytes);
        }
        assert_eq!(rows_of(&train), rows_of(&expected.train));
        assert_eq!(rows_of(&held), rows_of(&expected.validation));
        assert_eq!((&packing.counts, packing.n_validation()), (&expected.counts, expected.n_validation));
        assert_eq!(packing.fingerprint(), expected.fingerprint);
    }
    let twice = [Ok(Cow::Borrowed(&whole)), Ok(Cow::Borrowed(&whole))];
    let packing = Packing::new(&spec, whole.classes(), whole.labels(), (0, 1), twice.into_iter()).unwrap();
    assert!(packing.last().unwrap().is_err(), "more rows than classes");
}
