//! Probabilities are scikit-learn's, and survive being saved.
//!
//! `fixtures/calibration.json` holds what `fixtures/generate_calibration.py` got from scikit-learn. Isotonic
//! regression has one answer, and both must find it to the last bits. Platt's sigmoid is searched for: both
//! stop near the same minimum, scikit-learn a little earlier.

use rosenblatt::calibration::{Calibration, Curve, Method};
use rosenblatt::learning::{Dense, Random, Readout};
use rosenblatt::model::class_scores;
use rosenblatt::options::Classes;
use rosenblatt::recipe::TaskChoice;
use rosenblatt::split::split;
use rosenblatt::{Dataset, Model, Options, Recipe, Spec, evaluate, train};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The log loss and the Brier score of a calibration on rows, computed the long way.
fn losses(calibration: &Calibration, n_classes: usize, scores: &[f64], classes: &[u32]) -> (f64, f64) {
    let (mut log_loss, mut brier, mut shares) = (0.0, 0.0, Vec::new());
    for (row, &truth) in scores.chunks_exact(calibration.curves().len()).zip(classes) {
        calibration.probabilities(row, &mut shares);
        log_loss -= shares[truth as usize].max(f64::EPSILON).ln();
        let off = |class: usize| (shares[class] - f64::from(u8::from(class == truth as usize))).powi(2);
        brier += if n_classes == 2 { off(1) } else { (0..n_classes).map(off).sum() };
    }
    (log_loss / classes.len() as f64, brier / classes.len() as f64)
}

#[test]
fn probabilities_are_those_of_scikit_learn() {
    let cases: Value = serde_json::from_str(include_str!("fixtures/calibration.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let (name, scores) = (case["name"].as_str().unwrap(), numbers(&case["scores"]));
        let classes: Vec<u32> = numbers(&case["classes"]).iter().map(|&class| class as u32).collect();
        let n_classes = classes.iter().max().unwrap() + 1;
        for (method, tolerance) in [(Method::Platt, 2e-4), (Method::Isotonic, 1e-12)] {
            let theirs = &case[method.to_string()];
            let ours = Calibration::fit(method, n_classes as usize, &scores, &classes).unwrap();
            let (mut found, mut shares): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
            for row in numbers(&case["queries"]).chunks_exact(ours.curves().len()) {
                ours.probabilities(row, &mut shares);
                found.extend(&shares);
            }
            let expected = numbers(&theirs["probabilities"]);
            assert_eq!(found.len(), expected.len());
            for (ours, theirs) in found.iter().zip(expected) {
                assert!((ours - theirs).abs() < tolerance, "{name} {method}: {ours} {theirs}");
            }
            let (log_loss, brier) = losses(&ours, n_classes as usize, &scores, &classes);
            for (ours, theirs) in [(log_loss, &theirs["log_loss"]), (brier, &theirs["brier"])] {
                let theirs = theirs.as_f64().unwrap();
                assert!((ours - theirs).abs() < tolerance, "{name} {method}: {ours} {theirs}");
            }
        }
    }
}

/// Rows on a line, their classes by thirds, a tenth of them wrong.
fn noisy(n_classes: usize) -> Dataset {
    let rows: Vec<[f64; 2]> = (0..300).map(|row| [row as f64 / 150.0 - 1.0, f64::from(row % 7)]).collect();
    let names: Vec<String> = (0..300)
        .map(|row| format!("c{}", if row % 10 == 3 { row % n_classes } else { row * n_classes / 300 }))
        .collect();
    Dataset::from_rows(&rows, &names)
}

fn calibrated(n_classes: usize, method: Method, multiclass: Classes, readout: Readout) -> (Model, Dataset) {
    let data = noisy(n_classes);
    let options = Options { multiclass, readout: Some(readout), ..Options::default() };
    let (learned, held) = split(&data, 0.3, 1);
    let spec = Spec::new(options).unwrap();
    let model = rosenblatt::Training::new(&spec, &data).rows(&learned).run(&mut ()).unwrap();
    (model.calibrated(method, &data, &held).unwrap(), data)
}

#[test]
fn a_calibrated_model_is_saved_with_its_curves_and_judged_by_them() {
    let averaged = "averaged".parse().unwrap();
    for (n_classes, multiclass, readout) in [
        (2, Classes::OneVsRest, averaged),
        (2, Classes::OneVsRest, Readout::Voted),
        (3, Classes::OneVsRest, averaged),
        (3, Classes::OneVsOne, averaged),
        (3, "direct-max".parse().unwrap(), Readout::Voted),
    ] {
        for method in [Method::Platt, Method::Isotonic] {
            let (model, data) = calibrated(n_classes, method, multiclass, readout);
            let bytes = model.to_bytes();
            let again = Model::from_bytes(&bytes).unwrap();
            assert_eq!(again.calibration(), model.calibration());
            assert_eq!(again.to_bytes(), bytes);
            let judged = evaluate(&again, &data).unwrap();
            let probability_scores = judged.probability_scores.unwrap();
            // Better than saying every class is as likely as the others.
            assert!(
                probability_scores.log_loss < (n_classes as f64).ln(),
                "{multiclass} {method}: {probability_scores:?}"
            );
            let chance = if n_classes == 2 { 0.25 } else { 1.0 - 1.0 / n_classes as f64 };
            assert!(probability_scores.brier < chance, "{multiclass} {method}: {probability_scores:?}");
            let (mut scores, mut shares) = (Vec::new(), Vec::new());
            let mut predictor = again.predictor(0);
            predictor.predict(Dense(&[-0.9, 1.0]));
            class_scores(&again, predictor.scores(), &mut scores);
            again.calibration().unwrap().probabilities(&scores, &mut shares);
            assert_eq!(shares.len(), n_classes);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        }
    }
    let plain = train(&Spec::default(), &noisy(2)).unwrap();
    assert!(
        plain.calibration().is_none() && evaluate(&plain, &noisy(2)).unwrap().probability_scores.is_none()
    );
}

#[test]
fn curves_that_cannot_be_are_refused() {
    let (model, _) = calibrated(2, Method::Isotonic, Classes::OneVsRest, Readout::Last);
    let bytes = model.to_bytes();
    let shares = model.calibration().unwrap().curves().len();
    assert_eq!(shares, 1);
    // The last eight bytes of the file are the last share of the curve.
    for wrong in [-0.5, 1.5, f64::NAN] {
        let mut changed = bytes.clone();
        let place = changed.len() - 8;
        changed[place..].copy_from_slice(&f64::to_le_bytes(wrong));
        rosenblatt::model::model_checksum(&mut changed);
        let error = Model::from_bytes(&changed).unwrap_err().to_string();
        assert!(error.contains("calibration") || error.contains("isotonic-shares"), "{error}");
    }
}

/// Rows of three features, and numbers that lie around a plane by noise with a long tail.
fn quantities(n_rows: usize, seed: u64) -> (Vec<[f64; 3]>, Vec<String>) {
    let mut random = Random::new(seed);
    let rows: Vec<[f64; 3]> = (0..n_rows).map(|_| [random.unit(), random.unit(), random.unit()]).collect();
    let mut noise = || (0..4).map(|_| random.unit() - 0.5).sum::<f64>().powi(3);
    let targets =
        rows.iter().map(|[a, b, c]| (100.0 + 5.0 * a - 2.0 * b + c + noise()).to_string()).collect();
    (rows, targets)
}

#[test]
fn intervals_of_numbers_hold_as_many_new_rows_as_they_say() {
    let mut held = 0;
    for seed in 0..5 {
        let (rows, targets) = quantities(400, seed);
        let recipe = Recipe { task: TaskChoice::Regression, ..Recipe::default() };
        let trained = recipe.train_rows(Dataset::from_rows(&rows, &targets), &mut ()).unwrap();
        let model = Model::from_bytes(&trained.model.to_bytes()).unwrap();
        let reach = model.reach(0.9).unwrap();
        assert_eq!(trained.model.reach(0.9).unwrap().to_bits(), reach.to_bits());
        let (fresh, truths) = quantities(1000, 100 + seed);
        for (row, truth) in fresh.iter().zip(&truths) {
            let truth: f64 = truth.parse().unwrap();
            held += u32::from((model.predict_number(row).unwrap() - truth).abs() <= reach);
        }
        // What held-out rows say of the error is what new rows say of it.
        let judged = model.evaluate_numbers(&Dataset::from_rows(&fresh, &truths)).unwrap();
        let estimate = model.held_numbers().unwrap().estimate;
        assert!((judged.rmse.value / estimate.rmse.value - 1.0).abs() < 0.3, "{judged:?} {estimate:?}");
        assert!(estimate.rmse.value < 0.6 * estimate.mean_rmse, "{estimate:?}");
        assert!(model.predict(&fresh[0]).is_err(), "there are no classes to name");
    }
    assert!((4400..=4600).contains(&held), "{held} of 5000 lie in intervals of 90 %");
}

/// Rows of two numbers whose odds are a straight line: the odds of `b` are `exp(2 x - y)`.
fn by_odds(n_rows: usize) -> Dataset {
    let mut random = Random::new(3);
    let mut number = || random.below(4001) as f64 / 1000.0 - 2.0;
    let rows: Vec<[f64; 2]> = (0..n_rows).map(|_| [number(), number()]).collect();
    let mut random = Random::new(4);
    let is_b = |row: &[f64; 2], share: f64| share < 1.0 / (1.0 + (row[1] - 2.0 * row[0]).exp());
    let names: Vec<&str> = rows
        .iter()
        .map(|row| if is_b(row, random.below(1_000_000) as f64 / 1e6) { "b" } else { "a" })
        .collect();
    Dataset::from_rows(&rows, &names)
}

#[test]
fn a_logistic_rule_keeps_its_odds_unless_a_sigmoid_is_measurably_better() {
    let data = by_odds(1200);
    let odds = |algorithm: &str, params: &[(&str, f64)], epochs: u64| {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let learning = Options { algorithm: algorithm.to_owned(), params, epochs, ..Options::default() };
        let choice = rosenblatt::recipe::Choice::Given;
        let recipe = Recipe { learning: learning.into(), choice, ..Recipe::default() };
        let model = recipe.train_rows(data.clone(), &mut ()).unwrap().model;
        model.calibration().expect("rows were held out").curves().to_vec()
    };
    let as_learned = [Curve::Platt { slope: -1.0, offset: 0.0 }];
    assert_eq!(odds("logistic-dual", &[], 100), as_learned);
    // A penalty this strong makes all odds nearly even, and the sigmoid undoes it.
    let shrunk = odds("logistic-dual", &[("C", 1e-5)], 100);
    assert!(matches!(shrunk[..], [Curve::Platt { slope, .. }] if slope < -2.0), "{shrunk:?}");
    // Scores of other rules are no odds.
    assert_ne!(odds("perceptron", &[], 10), as_learned);
}
