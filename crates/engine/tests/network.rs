//! Networks under the names of the engine: learned, kept, explained, judged and refused.

use rosenblatt::calibration::Method;
use rosenblatt::explain::{Contribution, Explainer};
use rosenblatt::export::Export;
use rosenblatt::layers::Activation;
use rosenblatt::learning::{Bias, Dense, Order, Random, Readout};
use rosenblatt::options::Classes;
use rosenblatt::options::{KernelOptions, Mapping, NetworkOptions};
use rosenblatt::{Dataset, Error, Model, Online, Options, Spec, evaluate, export, train};
use std::collections::BTreeMap;

/// Rings around the origin, which no line tells apart.
fn rings(n_rows: usize, n_classes: u32) -> Dataset {
    let mut random = Random::new(5);
    let mut rows = Vec::with_capacity(n_rows);
    let mut names = Vec::with_capacity(n_rows);
    while rows.len() < n_rows {
        let row: [f64; 2] = std::array::from_fn(|_| 4.0 * random.unit() - 2.0);
        let distance = row[0].hypot(row[1]);
        if distance < 2.0 && (distance * f64::from(n_classes) / 2.0).fract() > 0.2 {
            names.push(format!("ring {}", (distance * f64::from(n_classes) / 2.0) as u32));
            rows.push(row);
        }
    }
    Dataset::from_rows(&rows, &names)
}

fn options(params: &[(&str, f64)]) -> Options {
    Options {
        algorithm: "mlp".to_owned(),
        params: params.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        rate: Some("0.02".parse().unwrap()),
        epochs: 60,
        ..Options::default()
    }
}

fn learned(data: &Dataset, options: Options) -> Model {
    train(&Spec::new(options).unwrap(), data).unwrap()
}

#[test]
fn a_network_learns_what_no_line_can_and_is_kept_to_the_bit() {
    for n_classes in [2, 3] {
        let data = rings(600, n_classes);
        let network = NetworkOptions { activation: Activation::Tanh, ..NetworkOptions::default() };
        let options = Options { network: Some(network), ..options(&[("hidden", 16.0), ("batch", 20.0)]) };
        let model = learned(&data, options);
        let judged = evaluate(&model, &data).unwrap();
        assert!(judged.errors < 20, "{n_classes}: {}", judged.errors);
        let linear = train(&Spec::default(), &data).unwrap();
        let linear = evaluate(&linear, &data).unwrap().errors;
        assert!(linear > 100, "{linear}");
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert!(again.network() == model.network() && again.network().is_some());
        assert_eq!(again.to_bytes(), model.to_bytes());
        assert_eq!(again.predict_all(&data).unwrap(), model.predict_all(&data).unwrap());
        let summary = model.summary(3).network.unwrap();
        assert_eq!(summary.sizes, [2, 16, if n_classes == 2 { 1 } else { 3 }]);
        // One row at a time says what all at once say.
        for (row, scores) in [[0.5, -1.0], [1.5, 0.25]].iter().map(|row| (row, model.decision_function(row)))
        {
            assert_eq!(scores.unwrap().len(), summary.sizes[2], "{row:?}");
        }
    }
}

#[test]
fn contributions_and_the_score_of_zeros_sum_to_the_score() {
    let data = rings(400, 3);
    let model = learned(&data, options(&[("hidden", 8.0), ("layers", 2.0)]));
    let mut predictor = model.predictor(0);
    for row in [[0.5, -1.0], [1.5, 0.25], [-0.3, 0.9]] {
        let class = predictor.predict(Dense(&row));
        let reasons = Explainer::new(&model).explain(Dense(&row), class, 9);
        let sum: f64 = reasons.in_favour.iter().chain(&reasons.against).map(Contribution::amount).sum();
        let zero = model.decision_function(&[0.0, 0.0]).unwrap()[class as usize];
        assert!((zero + sum - predictor.scores()[class as usize]).abs() < 1e-9);
    }
    // One output speaks for the second class, and against the first.
    let two = learned(&rings(400, 2), options(&[("hidden", 8.0)]));
    let reasons = |class| Explainer::new(&two).explain(Dense(&[1.0, 0.5]), class, 9);
    assert_eq!(reasons(0).in_favour.len(), reasons(1).against.len());
}

#[test]
fn probabilities_are_calibrated_and_graphs_exported() {
    let data = rings(600, 3);
    let model = learned(&data, options(&[("hidden", 16.0)]));
    let rows: Vec<u32> = (0..600).collect();
    let model = model.calibrated(Method::Platt, &data, &rows).unwrap();
    let shares = model.predict_proba(&[0.1, 0.1]).unwrap();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let graph = String::from_utf8_lossy(&export(&model, Export::Onnx).unwrap()).into_owned();
    for word in ["MatMul", "Relu", "weights_1", "probabilities"] {
        assert!(graph.contains(word), "{word}");
    }
    assert!(matches!(export(&model, Export::Csv), Err(Error::NotLinear)));
}

#[test]
fn weights_of_classes_and_rows_count() {
    let data = rings(300, 2);
    let errors = |given: BTreeMap<String, f64>| {
        let class_weights = rosenblatt::options::ClassWeights::Given(given);
        let model = learned(&data, Options { class_weights, epochs: 3, ..options(&[("hidden", 4.0)]) });
        evaluate(&model, &data).unwrap().confusion
    };
    let (even, first) = (errors(BTreeMap::new()), errors(BTreeMap::from([("ring 0".to_owned(), 50.0)])));
    assert_ne!(even, first);
    // Who counts fifty times is hardly ever missed.
    let alone = data.clone().with_weights(data.classes().iter().map(|class| f64::from(*class)).collect());
    let model = learned(&alone, options(&[("hidden", 4.0)]));
    assert!(
        model.predict_all(&data).unwrap().iter().all(|class| *class == 1),
        "rows of no weight were learned from"
    );
}

#[test]
fn a_stream_is_learned_in_batches() {
    let data = rings(500, 2);
    let spec = || {
        let order = Some(Order::Given);
        Spec::new(Options { order, validation: None, ..options(&[("hidden", 8.0), ("batch", 10.0)]) })
            .unwrap()
    };
    let mut online = Online::new(spec(), ["ring 0", "ring 1"]).unwrap();
    for _ in 0..20 {
        online.partial_train(&data).unwrap();
    }
    let model = online.model().unwrap();
    assert!(evaluate(&model, &data).unwrap().errors < 150);
    // The same epochs of the same rows, all at once.
    let whole =
        train(&Spec::new(Options { epochs: 20, ..spec().options().clone() }).unwrap(), &data).unwrap();
    assert!(whole.network() == model.network());
}

#[test]
fn what_a_network_cannot_do_is_refused_with_the_cure() {
    /// What is asked for instead.
    type Change = fn(&mut Options);
    let refused = |change: Change| {
        let mut options = options(&[]);
        change(&mut options);
        Spec::new(options).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 10] = [
        (|options| options.readout = Some(Readout::Voted), "`readout` should be last"),
        (|options| options.multiclass = Classes::OneVsOne, "an output per class"),
        (|options| options.kernel = Some(KernelOptions::default()), "units of its own"),
        (|options| options.map = Some(Mapping::default()), "units of its own"),
        (|options| options.bias = Some(Bias::None), "whose units have one each"),
        (|options| options.order = Some(Order::Worst), "visits all rows"),
        (|options| options.params.extend([("hidden".to_owned(), 0.5)]), "a whole number from 1 to 65536"),
        (|options| options.params.extend([("C".to_owned(), 1.0)]), "`mlp` has no parameter `C`"),
        (
            |options| {
                let sizes = Some(vec![3, 0]);
                options.network = Some(NetworkOptions { sizes, ..NetworkOptions::default() });
            },
            "at most 8 layers of 1 to 65536 units, but is 3,0",
        ),
        (
            |options| {
                options.network = Some(NetworkOptions::default());
                options.algorithm = "pa1".to_owned();
                options.rate = None;
            },
            "`algorithm` should be a network",
        ),
    ];
    for (change, expected) in cases {
        let message = refused(change);
        assert!(message.contains(expected), "{message}");
    }
    let data = rings(20, 2);
    let options = options(&[("hidden", 65_536.0), ("layers", 3.0)]);
    let huge = train(&Spec::new(options).unwrap(), &data).unwrap_err().to_string();
    assert!(huge.contains("bytes of weights"), "{huge}");
}
