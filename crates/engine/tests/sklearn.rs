//! Weights equal scikit-learn's, to the bit where both only add up examples.
//!
//! The fixtures hold what `fixtures/generate_sklearn.py` got from scikit-learn on the bundled iris and
//! breast cancer data. Perceptron, averaged perceptron and hinge models must agree in every bit. Where
//! a step depends on the last bits of a score (passive-aggressive, logistic) the two sum rows in
//! different orders, and agreement is to a relative 1e-9.

use rosenblatt::learning::{Average, Bias, Order, Readout, Schedule, Stopped};
use rosenblatt::options::ClassWeights;
use rosenblatt::{Dataset, Options, Spec, evaluate, train};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One fixture file.
struct Fixture {
    name: String,
    classes: Vec<String>,
    epochs: u64,
    coef: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    errors: u64,
    class_weight: Option<Vec<f64>>,
    sample_weight: bool,
}

fn fixtures() -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sklearn");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Fixture {
    let mut fixture = Fixture {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        classes: Vec::new(),
        epochs: 0,
        coef: Vec::new(),
        intercept: Vec::new(),
        errors: 0,
        class_weight: None,
        sample_weight: false,
    };
    let bits = |words: &[&str]| -> Vec<f64> {
        words.iter().map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect()
    };
    for line in fs::read_to_string(path).unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["#", ..] | [] => {}
            ["classes", names @ ..] => fixture.classes = names.iter().map(ToString::to_string).collect(),
            ["epochs", number] => fixture.epochs = number.parse().unwrap(),
            ["coef", _, values @ ..] => fixture.coef.push(bits(values)),
            ["intercept", values @ ..] => fixture.intercept = bits(values),
            ["errors", number] => fixture.errors = number.parse().unwrap(),
            ["class_weight", weights @ ..] => {
                fixture.class_weight = Some(weights.iter().map(|weight| weight.parse().unwrap()).collect());
            }
            ["sample_weight", "mod3"] => fixture.sample_weight = true,
            _ => panic!("{}: what is `{line}`?", path.display()),
        }
    }
    fixture
}

/// The rows of a bundled file: the first line is not data, the last column is the class. The fixtures number irises.
fn rows(file: &str) -> Vec<(Vec<f64>, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/bundled").join(file);
    let text = fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let (features, class) = line.rsplit_once(',').unwrap();
        let species = ["setosa", "versicolor", "virginica"].iter().position(|name| *name == class);
        let class = species.map_or_else(|| class.to_owned(), |number| number.to_string());
        (features.split(',').map(|value| value.parse().unwrap()).collect(), class)
    };
    text.lines().skip(1).map(row).collect()
}

fn data(set: &str) -> Dataset {
    let mut rows = rows(if set == "cancer" { "breast_cancer.csv" } else { "iris.csv" });
    match set {
        "iris_setosa" => {
            for (_, class) in rows.iter_mut().filter(|(_, class)| class != "0") {
                "1".clone_into(class);
            }
        }
        "iris_vervir" => rows.retain(|(_, class)| class != "0"),
        _ => {}
    }
    let (features, classes): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Dataset::from_rows(&features, &classes)
}

fn options(model: &str, bias: bool) -> Options {
    let (algorithm, rate, params) = match model {
        "pa1" | "pa2" => (model, None, [("C", 1.0)].as_slice()),
        "log" => ("logistic", Some(Schedule::Constant(0.125)), &[][..]),
        "hinge_l2" => ("hinge", Some(Schedule::Constant(0.125)), &[("l2", 0.01)][..]),
        _ => ("perceptron", None, &[][..]),
    };
    Options {
        algorithm: algorithm.to_owned(),
        rate,
        params: params.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        readout: Some(if model == "averaged" { Readout::Averaged(Average::Running) } else { Readout::Last }),
        bias: Some(if bias { Bias::Learned } else { Bias::None }),
        order: Some(Order::Given),
        stop_when_clean: false,
        ..Options::default()
    }
}

#[test]
fn weights_equal_scikit_learns() {
    let fixtures = fixtures();
    assert_eq!(fixtures.len(), 58, "every fixture is there");
    for fixture in fixtures {
        let mut parts = fixture.name.split('-');
        let (set, model) = (parts.next().unwrap(), parts.next().unwrap());
        let bias = !fixture.name.contains("nointercept");
        let mut data = data(set);
        assert_eq!(data.labels().names(), fixture.classes, "{}", fixture.name);
        let mut options = Options { epochs: fixture.epochs, ..options(model, bias) };
        if let Some(weights) = &fixture.class_weight {
            let named: BTreeMap<String, f64> =
                fixture.classes.iter().cloned().zip(weights.iter().copied()).collect();
            options.class_weights = ClassWeights::Given(named);
        }
        if fixture.sample_weight {
            let weights = (0..data.len()).map(|row| 1.0 + (row % 3) as f64).collect();
            data = data.with_weights(weights);
        }
        let trained = train(&Spec::new(options).unwrap(), &data).unwrap();
        let planes = trained.planes().unwrap();
        let exact = !matches!(model, "pa1" | "pa2" | "log");
        for (output, expected) in fixture.coef.iter().enumerate() {
            let ours = planes.weights(output);
            let pairs =
                ours.iter().zip(expected).chain([(&planes.biases()[output], &fixture.intercept[output])]);
            for (place, (ours, theirs)) in pairs.enumerate() {
                let same = if exact {
                    ours.to_bits() == theirs.to_bits() || (*ours == 0.0 && *theirs == 0.0)
                } else {
                    (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-3)
                };
                assert!(
                    same,
                    "{}: output {output}, weight {place}: {ours:e} is not {theirs:e}",
                    fixture.name
                );
            }
        }
        assert_eq!(evaluate(&trained, &data).unwrap().errors, fixture.errors, "{}", fixture.name);
    }
}

/// The rules that are solved in the dual reach the least value of the objective that scikit-learn's solvers reach:
/// `fixtures/generate_duals.py` has the objectives.
#[test]
fn objectives_are_as_low_as_scikit_learns() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/duals.json");
    let cases: Vec<serde_json::Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 17, "every case is there");
    for case in cases {
        let number = |name: &str| case[name].as_f64().unwrap();
        let (loss, has_bias) = (case["loss"].as_str().unwrap(), case["bias"].as_bool().unwrap());
        let weight = |row: usize| if case["weighted"] == true { 1.0 + (row % 3) as f64 } else { 1.0 };
        let rows: Vec<_> = rows("iris.csv").into_iter().filter(|(_, class)| class != "0").collect();
        let data = data("iris_vervir").with_weights((0..rows.len()).map(weight).collect());
        let (c, l1) = (number("C"), number("l1"));
        let mut params = BTreeMap::from([("C", c), ("l1", l1), ("tolerance", 1e-9)]);
        let algorithm = if loss == "log" {
            "logistic-dual"
        } else {
            params.insert("squared", f64::from(u8::from(loss == "squared")));
            "svm-dual"
        };
        let options = Options {
            algorithm: algorithm.to_owned(),
            params: params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            bias: Some(if has_bias { Bias::Augmented(1.0) } else { Bias::None }),
            epochs: 1_000_000,
            ..Options::default()
        };
        let model = train(&Spec::new(options).unwrap(), &data).unwrap();
        assert_eq!(model.training_summary().stopped, Stopped::Converged, "{case}");
        let planes = model.planes().unwrap();
        let (weights, bias) = (planes.weights(0), planes.biases()[0]);
        let losses = rows.iter().enumerate().map(|(row, (features, class))| {
            let score: f64 = weights.iter().zip(features).map(|(w, x)| w * x).sum::<f64>() + bias;
            let margin = if class == "2" { score } else { -score };
            let short = (1.0 - margin).max(0.0);
            weight(row)
                * match loss {
                    "hinge" => short,
                    "squared" => short * short,
                    _ => (-margin.abs()).exp().ln_1p() + (-margin).max(0.0),
                }
        });
        let norm2 = weights.iter().map(|w| w * w).sum::<f64>() + bias * bias;
        let objective =
            0.5 * norm2 + l1 * weights.iter().map(|w| w.abs()).sum::<f64>() + c * losses.sum::<f64>();
        let theirs = number("objective");
        assert!((objective - theirs).abs() <= 1e-6 * theirs, "{case}: ours is {objective}");
        let n_zero = weights.iter().filter(|weight| **weight == 0.0).count();
        assert_eq!(n_zero as u64, case["zeros"].as_u64().unwrap(), "{case}");
    }
}
