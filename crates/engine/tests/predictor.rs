//! Predicting: one row as in company, dense as sparse, raw as read from a file, and the most probable class.

use rosenblatt::calibration::Method;
use rosenblatt::data::encode::Scaling;
use rosenblatt::data::{ReadOptions, Source, load_with_schema};
use rosenblatt::learning::{Random, Readout};
use rosenblatt::options::{ClassWeights, KernelOptions};
use rosenblatt::{Dataset, Error, Model, Options, Spec, Training, train};
use std::fmt::Write as _;

/// Rows of three overlapping classes, or two.
fn rows(n_rows: usize, n_classes: u64) -> (Vec<[f64; 4]>, Vec<String>) {
    let mut random = Random::new(11);
    let mut number = || random.below(4001) as f64 / 1000.0 - 2.0;
    let rows: Vec<[f64; 4]> =
        (0..n_rows).map(|_| [number(), 10.0 + number(), 0.0, 30.0 * number()]).collect();
    let class = |row: &[f64; 4]| {
        let place = row[0] + row[1] - 10.0 + row[3] / 60.0 + number();
        if place > 0.9 { 0 } else { (1 + u64::from(place < -0.6)).min(n_classes - 1) }
    };
    let mut class = class;
    let names = rows.iter().map(|row| format!("class {}", class(row))).collect();
    (rows, names)
}

fn calibrated(options: Options, method: Method, n_classes: u64) -> (Model, Dataset) {
    let (rows, names) = rows(600, n_classes);
    let data = Dataset::from_rows(&rows, &names);
    let held: Vec<u32> = (0..600).filter(|row| row % 3 == 0).collect();
    let learned: Vec<u32> = (0..600).filter(|row| row % 3 != 0).collect();
    let model = Training::new(&Spec::new(options).unwrap(), &data).rows(&learned).run(&mut ()).unwrap();
    (model.calibrated(method, &data, &held).unwrap(), data)
}

#[test]
fn the_class_is_the_most_probable_one_wherever_it_is_named() {
    let mut moved = 0;
    for (multiclass, n_classes) in
        [("one-vs-rest", 2), ("one-vs-rest", 3), ("one-vs-one", 3), ("direct-max", 3)]
    {
        for method in [Method::Platt, Method::Isotonic] {
            let options = Options { multiclass: multiclass.parse().unwrap(), ..Options::default() };
            let (model, data) = calibrated(options, method, n_classes);
            let (classes, shares) =
                (model.predict_all(&data).unwrap(), model.predict_proba_all(&data).unwrap());
            let by_scores = model.clone().with_calibration(None).predict_all(&data).unwrap();
            moved +=
                classes.iter().zip(&by_scores).filter(|(by_share, by_score)| by_share != by_score).count();
            let n_classes = model.labels().len();
            for (class, shares) in classes.iter().zip(shares.chunks(n_classes)) {
                let given = shares[*class as usize];
                assert!(
                    shares.iter().all(|share| *share <= given),
                    "{multiclass} {method}: {class} of {shares:?}"
                );
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
            // Judged as it predicts.
            let wrong =
                classes.iter().zip(data.classes()).filter(|(given, truth)| given != truth).count() as u64;
            assert_eq!(rosenblatt::evaluate(&model, &data).unwrap().errors, wrong);
            let all: Vec<u32> = (0..600).collect();
            assert_eq!(rosenblatt::misclassified::misclassified(&model, &data, &all).len() as u64, wrong);
        }
    }
    assert!(moved > 0, "the test cannot tell the two apart");
}

/// Rows of other columns are not those that were learned from, and no guess is made what is what. Sparse rows end where
/// their last value stands.
#[test]
fn dense_rows_of_another_width_are_refused() {
    let table = |width: usize| {
        let rows: Vec<Vec<f64>> =
            (0..6).map(|row| (0..width).map(|k| f64::from(row) - k as f64).collect()).collect();
        Dataset::from_rows(&rows, &["a", "a", "a", "b", "b", "b"])
    };
    let kernel = Options { kernel: Some(KernelOptions::default()), ..Options::default() };
    for options in [Options::default(), kernel] {
        let model = train(&Spec::new(options).unwrap(), &table(3)).unwrap();
        assert_eq!(rosenblatt::evaluate(&model, &table(3)).unwrap().rows, 6);
        for width in [2, 4] {
            let (other, expected) =
                (table(width), Error::WrongWidth { found: width, expected: 3 }.to_string());
            let refusals = [
                rosenblatt::evaluate(&model, &other).map(|_| ()),
                model.predict_all(&other).map(|_| ()),
                model.decision_function_all(&other).map(|_| ()),
                model.each_row(other.view(), |_, _, _| {}),
            ];
            for refusal in refusals {
                assert_eq!(refusal.unwrap_err().to_string(), expected);
            }
        }
    }
    let model = train(&Spec::default(), &table(3)).unwrap();
    let how = ReadOptions { classes: Some(vec!["a".into(), "b".into()]), ..ReadOptions::as_stored() };
    let short = load_with_schema(&Source::bytes("short.svm", &b"a 1:2\nb 2:-1\n"[..]), &how).unwrap().0;
    assert_eq!(model.predict_all(&short).unwrap().len(), 2);
}

#[test]
fn weights_of_classes_are_not_undone_by_probabilities() {
    let options = Options { class_weights: ClassWeights::Balanced, ..Options::default() };
    let (model, data) = calibrated(options, Method::Platt, 3);
    assert_eq!(
        model.predict_all(&data).unwrap(),
        model.clone().with_calibration(None).predict_all(&data).unwrap()
    );
}

#[test]
fn one_row_is_as_in_company_and_sparse_as_dense() {
    let kernel = KernelOptions { name: "rbf".to_owned(), ..KernelOptions::default() };
    let (three, names) = rows(120, 3);
    let data = Dataset::from_rows(&three, &names);
    for options in [
        Options::default(),
        Options { readout: Some(Readout::Voted), ..Options::default() },
        Options { multiclass: "one-vs-one".parse().unwrap(), ..Options::default() },
        Options { kernel: Some(kernel), readout: Some(Readout::Last), ..Options::default() },
    ] {
        let model = train(&Spec::new(options).unwrap(), &data).unwrap();
        let all: Vec<u32> = (0..120).collect();
        let model = model.calibrated(Method::Platt, &data, &all).unwrap();
        let (classes, scores) =
            (model.predict_all(&data).unwrap(), model.decision_function_all(&data).unwrap());
        let shares = model.predict_proba_all(&data).unwrap();
        let n_scores = scores.len() / 120;
        for (number, row) in three.iter().enumerate() {
            let name = model.labels().name(classes[number]);
            assert_eq!(model.predict(row).unwrap(), name);
            assert_eq!(model.decision_function(row).unwrap(), scores[number * n_scores..][..n_scores]);
            assert_eq!(model.predict_proba(row).unwrap(), shares[number * 3..][..3]);
            let features: Vec<u32> = (0..4).filter(|&feature| row[feature as usize] != 0.0).collect();
            let values: Vec<f64> = features.iter().map(|&feature| row[feature as usize]).collect();
            let sparse = (features.as_slice(), values.as_slice());
            assert_eq!(model.predict(sparse).unwrap(), name);
            assert_eq!(model.decision_function(sparse).unwrap(), model.decision_function(row).unwrap());
            // A zero that is stored is a zero.
            let stored = (&[0, 1, 2, 3][..], row.as_slice());
            assert_eq!(model.decision_function(stored).unwrap(), model.decision_function(row).unwrap());
        }
    }
}

#[test]
fn a_raw_row_is_scaled_as_a_file_is() {
    let (rows, names) = rows(300, 3);
    let mut table = "a,b,c,d,label\n".to_owned();
    for ([a, b, c, d], name) in rows.iter().zip(&names) {
        writeln!(table, "{a},{b},{c},{d},{name}").unwrap();
    }
    let source = Source::bytes("t.csv", table.into_bytes());
    for scaling in [Scaling::None, Scaling::Standard, Scaling::MinMax, Scaling::MaxAbs, Scaling::UnitNorm] {
        let (data, schema) =
            load_with_schema(&source, &ReadOptions { scaling, ..ReadOptions::default() }).unwrap();
        let spec = Spec::default();
        let model = Training::new(&spec, &data).schema(schema.into()).run(&mut ()).unwrap();
        let mut read = model.open(&source).unwrap();
        let mut from_file = Vec::new();
        while let Some(block) = read.next().unwrap() {
            from_file.extend(model.predict_view(block.view()).unwrap());
        }
        let scores = model.decision_function_all(&data).unwrap();
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(model.predict(row).unwrap(), model.labels().name(from_file[number]));
            assert_eq!(model.decision_function(row).unwrap(), scores[number * 3..][..3], "{scaling:?}");
            let sparse = (&[0, 1, 3][..], &[row[0], row[1], row[3]][..]);
            assert_eq!(model.decision_function(sparse).unwrap(), scores[number * 3..][..3], "{scaling:?}");
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let data = Dataset::from_rows(&[[1.0, 0.0, 2.0], [0.0, 1.0, -2.0]], &["a", "b"]);
    let model = train(&Spec::default(), &data).unwrap();
    assert_eq!(model.predict(&[1.0]), Err(Error::WrongWidth { found: 1, expected: 3 }));
    assert_eq!(model.predict(&[1.0; 4]), Err(Error::WrongWidth { found: 4, expected: 3 }));
    assert!(matches!(model.predict(&[1.0, f64::NAN, 0.0]), Err(Error::NotFinite { feature: 1, .. })));
    assert_eq!(model.predict((&[3][..], &[1.0][..])), Err(Error::TooWide { found: 4, known: 3 }));
    for (features, values) in [(&[1, 0][..], &[1.0, 1.0][..]), (&[1, 1], &[1.0, 1.0]), (&[1], &[])] {
        assert_eq!(model.predict((features, values)), Err(Error::NotSparse));
    }
    assert_eq!(model.predict_proba(&[1.0, 0.0, 0.0]), Err(Error::NotCalibrated));
    assert!(model.predict_proba_all(&data).is_err());
}

/// What `load` reads is what stands in the file, so that a row of the file is what the model learned from.
#[test]
fn rows_that_were_loaded_are_rows_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.csv");
    let line = |i: u32| format!("{},{},{}\n", 1000 + i % 7, i % 5, if i % 7 > i % 5 { "yes" } else { "no" });
    std::fs::write(&path, "a,b,label\n".to_owned() + &(0..70).map(line).collect::<String>()).unwrap();
    let data = rosenblatt::data::load(&path, &rosenblatt::data::ReadOptions::default()).unwrap();
    let model = rosenblatt::builders::AveragedPerceptron::new().epochs(200).fit(&data).unwrap();
    let wrong = (0..70).filter(|i| {
        let class = model.predict(&[f64::from(1000 + i % 7), f64::from(i % 5)]).unwrap();
        class != if i % 7 > i % 5 { "yes" } else { "no" }
    });
    assert_eq!(wrong.count() as u64, rosenblatt::evaluate(&model, &data).unwrap().errors);
}
