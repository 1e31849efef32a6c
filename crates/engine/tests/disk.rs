//! Training on rows that stay on disk: the model is that of memory in the given order, to the last bit.

use rosenblatt::calibration::Method;
use rosenblatt::data::{Cached, Park, ReadOptions, Scaling, Shape, Source, Visitor, load_with_schema};
use rosenblatt::evaluate::{evaluate_rows, evaluate_source};
use rosenblatt::learning::{Examples, Order, Readout, Totals};
use rosenblatt::model::Checkpoint;
use rosenblatt::options::{KernelOptions, Validation};
use rosenblatt::recipe::{Calibrate, Choice, MemoryLimit, Plan};
use rosenblatt::split::split;
use rosenblatt::train::{CheckpointRequest, Checkpointer, check_order};
use rosenblatt::{Error, Model, Options, Recipe, Spec, Training};
use std::fmt::Write as _;

fn text(n_rows: u32, n_classes: u32) -> String {
    let mut text = String::new();
    for row in 0..n_rows {
        let hash = row.wrapping_mul(2_654_435_761) >> 7;
        let _ = write!(text, "{}", (hash % 97 + row % 3) % n_classes);
        for place in 0..12 {
            let _ =
                write!(text, " {}:0.{:04}", place * 40 + 1 + (hash >> place) % 40, (hash ^ place) % 10_000);
        }
        text.push('\n');
    }
    text
}

/// The bytes of a model file.
fn bytes(model: &Model) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path().join("m")).unwrap();
    std::fs::read(folder.path().join("m")).unwrap()
}

#[test]
fn the_model_is_that_of_memory_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let validation = Some(Validation { patience: 2, ..Validation::default() });
    for (n_classes, algorithm, readout, validation, max_updates) in [
        (2, "perceptron", None, None, None),
        (3, "kernel perceptron", Some(Readout::Voted), None, Some(400)),
        (2, "perceptron", Some(Readout::Voted), validation, None),
        (2, "arow", None, validation, Some(3000)),
        (5, "pa1", None, validation, None),
        (3, "perceptron", Some(Readout::Last), None, Some(20_000)),
        (3, "mlp", None, validation, None),
        (2, "mlp", None, None, Some(20_000)),
    ] {
        let source = Source::bytes("t.svm", text(12_000, n_classes).into_bytes());
        let how = ReadOptions::default();
        let kernel = algorithm.strip_prefix("kernel ").map(|_| KernelOptions::default());
        let options = Options {
            algorithm: algorithm.trim_start_matches("kernel ").to_owned(),
            kernel,
            order: Some(Order::Given),
            epochs: 4,
            readout,
            validation,
            max_updates,
            ..Options::default()
        };
        let spec = Spec::new(options).unwrap();
        let (dataset, _) = load_with_schema(&source, &how).unwrap();
        let (train_rows, held_rows) = split(&dataset, 0.2, 7);
        let expected = Training::new(&spec, &dataset).rows(&train_rows).run(&mut ()).unwrap();
        let mut cached = Cached::read(&source, &how, Park::Temporary).unwrap();
        assert_eq!(split(&mut cached, 0.2, 7), (train_rows.clone(), held_rows.clone()));
        let found = Training::new(&spec, &mut cached).rows(&train_rows).run(&mut ()).unwrap();
        assert_eq!(bytes(&found), bytes(&expected), "{algorithm} {n_classes}");
        let judged = evaluate_source(&found, &mut cached, &held_rows, &mut ()).unwrap();
        let in_memory = evaluate_rows(&expected, &dataset, &held_rows).unwrap();
        assert_eq!((judged.errors, &judged.confusion), (in_memory.errors, &in_memory.confusion));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn columns_that_bend_give_the_same_bits_from_memory_disk_and_any_number_of_threads() {
    same_bits_of("bend(knots=15)", 0);
}

#[test]
fn so_do_columns_that_are_crossed() {
    same_bits_of("bend(knots=6,crosses=3)", 1);
}

fn same_bits_of(shape: &str, n_surfaces: usize) {
    let mut table = "a,kind,b,label\n".to_owned();
    for row in 0..9_000_u32 {
        let hash = row.wrapping_mul(2_654_435_761) >> 7;
        let b = if row % 50 == 7 { "NA".to_owned() } else { format!("{}", (hash >> 3) % 300) };
        let is_high = (hash >> 3) % 300 > 120;
        let (kind, label) =
            (["u", "v", "w"][hash as usize % 3], u8::from(is_high == (hash % 100_000 > 50_000)));
        let _ = writeln!(table, "0.{:05},{kind},{b},{label}", hash % 100_000);
    }
    let source = Source::bytes("t.csv", table.into_bytes());
    let shape = shape.parse().unwrap();
    let how = ReadOptions { shape, missing: rosenblatt::data::Missing::Own, ..ReadOptions::default() };
    let spec = Spec::new(Options { order: Some(Order::Given), epochs: 3, ..Options::default() }).unwrap();
    let (data, schema) = load_with_schema(&source, &how).unwrap();
    assert_eq!(schema.surfaces().len(), n_surfaces);
    let expected = Training::new(&spec, &data).schema(schema.into()).run(&mut ()).unwrap();
    for threads in [1, 3] {
        let how = ReadOptions { threads, ..how.clone() };
        let mut cached = Cached::read(&source, &how, Park::Temporary).unwrap();
        let schema = cached.schema().clone();
        let found = Training::new(&spec, &mut cached).schema(schema.into()).run(&mut ()).unwrap();
        assert_eq!(bytes(&found), bytes(&expected), "{threads} threads");
    }
    // What is saved reads rows as they were learned from, by file and one by one.
    let again = Model::from_bytes(&expected.to_bytes()).unwrap();
    let scores = expected.decision_function_all(&data).unwrap();
    let mut from_file = Vec::new();
    let mut read = again.open(&source).unwrap();
    while let Some(block) = read.next().unwrap() {
        again.each_row(block.view(), |_, _, scores| from_file.extend_from_slice(scores)).unwrap();
    }
    assert_eq!(from_file, scores);
    let line = "0.25,v,NA\n0.5,u,1e9\n0.125,w,17\n";
    let new = Source::bytes("t.csv", format!("a,kind,b\n{line}").into_bytes());
    let mut read = again.open(&new).unwrap();
    let block = read.next().unwrap().unwrap();
    let mut by_file = Vec::new();
    again.each_row(block.view(), |_, _, scores| by_file.push(scores[0])).unwrap();
    // The columns as numbers: a, three kinds, b.
    let rows = [[0.25, 0.0, 1.0, 0.0, f64::NAN], [0.5, 1.0, 0.0, 0.0, 1e9], [0.125, 0.0, 0.0, 1.0, 17.0]];
    for (row, score) in rows.iter().zip(by_file) {
        assert_eq!(again.decision_function(row).unwrap(), [score]);
    }
    assert!(again.decision_function(&[f64::INFINITY, 1.0, 0.0, 0.0, 1.0]).is_err());
    assert!(again.decision_function(&[1.0; 4]).is_err());
    // One pass over a stream reads them alike.
    let recipe = Recipe { reading: how, online: true, ..Recipe::default() };
    let online = recipe.train(&source, &mut ()).unwrap().model;
    assert_eq!(online.schema().unwrap().bends, expected.schema().unwrap().bends);
    assert_eq!(online.width(), expected.width());
}

#[test]
fn what_columns_that_bend_contribute_adds_up_to_the_score() {
    let mut table = "a,kind,b,label\n".to_owned();
    for row in 0..600_u32 {
        let hash = row.wrapping_mul(2_654_435_761) >> 7;
        let (a, kind) = (hash % 97, ["u", "v", "w"][(hash >> 9) as usize % 3]);
        // High in the middle: no line tells it.
        let label = u8::from((30..60).contains(&a));
        let _ = writeln!(table, "{a},{kind},{},{label}", (hash >> 4) % 1_000);
    }
    let source = Source::bytes("t.csv", table.into_bytes());
    let recipe = |shape: &str| Recipe {
        reading: ReadOptions { shape: shape.parse().unwrap(), ..ReadOptions::default() },
        ..Recipe::default()
    };
    let trained = recipe("bend(knots=15)").train(&source, &mut ()).unwrap();
    let (model, error) = (&trained.model, trained.estimate.unwrap().evaluation.error());
    assert!(error < 0.02, "{error}");
    let importance = model.importance().unwrap();
    let columns: Vec<&str> = importance.columns.iter().map(|column| column.column.as_str()).collect();
    assert_eq!((columns[0], columns.len()), ("a", 3));
    let row = [45.0, 0.0, 1.0, 0.0, 500.0];
    let new = Source::bytes("t.csv", *b"a,kind,b\n45,v,500\n");
    let (data, _) = load_with_schema(&new, &model.to_predict(ReadOptions::default())).unwrap();
    let explanation = data.visit(Explained(model));
    let all: Vec<_> = explanation.in_favour.iter().chain(&explanation.against).collect();
    let sum: f64 = all.iter().map(|contribution| contribution.amount()).sum();
    let base = explanation.base.unwrap();
    let score = model.decision_function(&row).unwrap()[0];
    assert!((sum + base - score).abs() < 1e-9, "{sum} and {base} are not {score}");
    let curve = all.iter().find(|contribution| contribution.name(model) == "a").unwrap();
    assert!(curve.bends && (curve.value - 45.0).abs() < 1e-3 && curve.amount() > 0.0);
    let curves = rosenblatt::insight::curves(model, 1);
    assert_eq!(curves.len(), 2);
    assert!(
        curves[0].height(45.0) > curves[0].height(10.0) && curves[0].height(45.0) > curves[0].height(90.0)
    );
    let top = rosenblatt::insight::top_features(model, 1, 3);
    assert!(top[0].name.starts_with("a between "), "{top:?}");
    // A race finds that out by itself, and ends in the same knots.
    let raced = recipe("auto").train(&source, &mut ()).unwrap();
    assert!(matches!(raced.race.unwrap().shape(), rosenblatt::data::Shape::Bend { .. }));
    assert!(raced.model.schema().unwrap().bends.is_some());
    let error = raced.estimate.unwrap().evaluation.error();
    assert!(error < 0.02, "{error}");
    // Where a line does, it stays one, to the bit.
    let mut table = "a,b,label\n".to_owned();
    for row in 0..400_u32 {
        let (a, b) = (row * 37 % 101, row * 53 % 89);
        let _ = writeln!(table, "{a},{b},{}", u8::from(a + b + row * 7919 % 41 > 115));
    }
    let source = Source::bytes("t.csv", table.into_bytes());
    let models = ["line", "auto"].map(|shape| recipe(shape).train(&source, &mut ()).unwrap().model);
    assert!(models[1].schema().unwrap().bends.is_none());
    assert!(models[1].training_summary().raced_shape && !models[0].training_summary().raced_shape);
    // Beside that, which the header says, all is the same.
    let body = |model: &Model| {
        let bytes = bytes(model);
        let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
        bytes[64 + usize::try_from(length).unwrap()..].to_vec()
    };
    assert_eq!(body(&models[0]), body(&models[1]));
}

/// Neither column says anything alone, and the third never does.
#[test]
fn a_cross_is_found_where_columns_count_together_and_only_if_it_may() {
    let mut table = "a,b,c,label\n".to_owned();
    let mut random = rosenblatt::learning::Random::new(3);
    for _ in 0..700 {
        let (a, b, c) = (random.below(97), random.below(89), random.below(50));
        let _ = writeln!(table, "{a},{b},{c},{}", u8::from((a > 48) == (b > 44)));
    }
    let source = Source::bytes("t.csv", table.into_bytes());
    let train = |shape: &str, threads: usize| {
        let reading = ReadOptions { shape: shape.parse().unwrap(), threads, ..ReadOptions::default() };
        Recipe { reading, ..Recipe::default() }.train(&source, &mut ()).unwrap()
    };
    let crossed = train("auto", 2);
    assert_eq!(crossed.model.schema().unwrap().surfaces(), [["a", "b"]]);
    let summary = crossed.model.training_summary();
    assert!(summary.raced_shape && !summary.without_crosses);
    let error = crossed.estimate.unwrap().evaluation.error();
    assert!(error < 0.15, "{error}");
    assert_eq!(bytes(&crossed.model), bytes(&train("auto", 1).model));
    // Both columns matter, and what a third adds may be chance.
    let importance = crossed.model.importance().unwrap();
    let mut first: Vec<&str> =
        importance.columns.iter().map(|column| column.column.as_str()).take(2).collect();
    first.sort_unstable();
    assert_eq!(first, ["a", "b"]);
    assert!(importance.columns[0].rise > 0.3, "{importance:?}");
    // A saved model knows them, and adds up what they contribute.
    let again = Model::from_bytes(&crossed.model.to_bytes()).unwrap();
    let row = [20.0, 70.0, 10.0];
    let new = Source::bytes("t.csv", *b"a,b,c\n20,70,10\n");
    let (data, _) = load_with_schema(&new, &again.to_predict(ReadOptions::default())).unwrap();
    let explanation = data.visit(Explained(&again));
    let all: Vec<_> = explanation.in_favour.iter().chain(&explanation.against).collect();
    let sum: f64 = all.iter().map(|contribution| contribution.amount()).sum();
    let score = again.decision_function(&row).unwrap()[0];
    let base = explanation.base.unwrap();
    assert!((sum + base - score).abs() < 1e-9);
    assert!(all.iter().any(|contribution| contribution.name(&again).contains("*b~")), "{all:?}");
    let refused = |result: Result<(), rosenblatt::Error>| result.unwrap_err().to_string();
    assert!(refused(rosenblatt::monotone::courses(&again).map(|_| ())).contains("crossed"));
    let exported = |format: &str| rosenblatt::export::export(&again, format.parse().unwrap()).map(|_| ());
    assert!(exported("sql").is_ok());
    assert!(refused(exported("scorecard")).contains("crosses columns"));
    // Without crosses nothing is known here.
    let alone = train("curves", 2);
    assert!(alone.model.schema().unwrap().surfaces().is_empty());
    assert!(alone.estimate.unwrap().evaluation.error() > 0.3);
}

/// The race compares curves only where the winner could be trained as it was judged.
#[test]
fn columns_stay_straight_where_a_scale_or_a_cross_is_asked_for_or_a_format_has_no_columns() {
    let (mut table, mut sparse) = ("a,b,label\n".to_owned(), String::new());
    for row in 0..400_u32 {
        let hash = row.wrapping_mul(2_654_435_761) >> 7;
        let (a, b) = (1 + hash % 97, 1 + (hash >> 4) % 50);
        let label = u8::from((30..60).contains(&a));
        let _ = writeln!(table, "{a},{b},{label}");
        let _ = writeln!(sparse, "{label} 1:{a} 2:{b}");
    }
    let bends = |name: &str, rows: &str, reading: ReadOptions| {
        let recipe = Recipe { reading, estimate: Plan::HoldOut(0.0), ..Recipe::default() };
        let trained = recipe.train(&Source::bytes(name, rows.as_bytes().to_vec()), &mut ()).unwrap();
        trained.model.schema().unwrap().bends.is_some()
    };
    let usual = || ReadOptions { shape: Shape::Auto, ..ReadOptions::default() };
    assert!(bends("t.csv", &table, usual()));
    assert!(!bends("t.csv", &table, ReadOptions { shape: Shape::Line, ..usual() }));
    assert!(!bends("t.csv", &table, ReadOptions { scaling: Scaling::Standard, ..usual() }));
    assert!(!bends("t.csv", &table, ReadOptions { crosses: vec![["a", "b"].map(str::to_owned)], ..usual() }));
    assert!(!bends("t.svm", &sparse, usual()));
}

struct Explained<'a>(&'a Model);

impl Visitor for Explained<'_> {
    type Output = rosenblatt::explain::Explanation;
    fn visit<E: Examples>(self, examples: E) -> Self::Output {
        rosenblatt::explain::Explainer::new(self.0).explain(examples.row(0), 1, 99)
    }
}

/// Stops at every `every`-th question.
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

#[test]
fn a_run_that_is_stopped_again_and_again_ends_in_the_same_bits() {
    let validation = Some(Validation { patience: 1, ..Validation::default() });
    for (n_classes, algorithm, readout, validation, max_updates, every) in [
        (2, "perceptron", None, None, None, 2),
        (2, "pa1", Some(Readout::Voted), validation, None, 3),
        (3, "arow", Some(Readout::Random), validation, None, 2),
        (2, "perceptron", Some(Readout::Pocket), None, None, 5),
        (3, "alma", None, None, Some(9000), 2),
        (3, "mlp", None, validation, None, 2),
    ] {
        let source = Source::bytes("t.svm", text(9_000, n_classes).into_bytes());
        let options = Options {
            algorithm: algorithm.to_owned(),
            order: Some(Order::Given),
            epochs: 3,
            readout,
            ratchet: false,
            validation,
            max_updates,
            ..Options::default()
        };
        let spec = Spec::new(options).unwrap();
        let how = ReadOptions::default();
        let mut cached = Cached::read(&source, &how, Park::Temporary).unwrap();
        let (rows, _) = split(&mut cached, 0.2, 7);
        let whole = Training::new(&spec, &mut cached).rows(&rows).run(&mut ()).unwrap();
        let (dataset, schema) = load_with_schema(&source, &how).unwrap();
        let mut checkpoint: Option<Vec<u8>> = None;
        let mut n_pieces = 0;
        let pieced = loop {
            n_pieces += 1;
            let mut stopper = Stopper { every, asked: 0, kept: None };
            let from = checkpoint.as_ref().map(|bytes| Checkpoint::from_bytes(bytes).unwrap());
            // Now and then it goes on in memory.
            let outcome = if n_pieces % 4 == 3 {
                let training = Training::new(&spec, &dataset).rows(&rows).schema(schema.clone().into());
                training.resume(from).checkpointer(&mut stopper).run(&mut ())
            } else {
                Training::new(&spec, &mut cached)
                    .rows(&rows)
                    .resume(from)
                    .checkpointer(&mut stopper)
                    .run(&mut ())
            };
            match outcome {
                Err(Error::Interrupted { .. }) => checkpoint = stopper.kept,
                done => break done.unwrap(),
            }
        };
        assert!(n_pieces > 3, "{algorithm}: {n_pieces}");
        let schema = std::sync::Arc::new(schema);
        let [pieced, whole] = [pieced, whole].map(|model| model.with_schema(schema.clone()).to_bytes());
        assert!(pieced == whole, "{algorithm} in {n_pieces} pieces");
        // Another choice of rows is another run.
        let from = Checkpoint::from_bytes(checkpoint.as_ref().unwrap()).unwrap();
        let other = Training::new(&spec, &mut cached).resume(from).run(&mut ());
        assert!(matches!(other, Err(Error::OtherRun { .. })));
    }
}

#[test]
fn probabilities_and_one_class_against_the_rest_are_those_of_memory() {
    let source = Source::bytes("t.svm", text(9_000, 4).into_bytes());
    let options = Options { order: Some(Order::Given), epochs: 2, ..Options::default() };
    let spec = Spec::new(options.clone()).unwrap();
    for (class, calibration, method) in
        [(None, Calibrate::Auto, Method::Platt), (Some("2"), Calibrate::Isotonic, Method::Isotonic)]
    {
        let positive = class.map(str::to_owned);
        let memory = Recipe {
            learning: options.clone().into(),
            choice: Choice::Given,
            calibration,
            positive,
            estimate: Plan::HoldOut(0.2),
            refit: false,
            ..Recipe::default()
        };
        let limit = MemoryLimit { bytes: 700_000, cache: None };
        let disk = Recipe { memory: Some(limit), ..memory.clone() };
        let [in_memory, on_disk] = [memory, disk].map(|recipe| recipe.train(&source, &mut ()).unwrap());
        assert!(on_disk.notes.iter().any(|note| note.contains("stay on disk")), "{:?}", on_disk.notes);
        assert!(in_memory.model.to_bytes() == on_disk.model.to_bytes());
        let [printed, same] = [&in_memory, &on_disk].map(|trained| trained.estimate.as_ref().unwrap());
        assert_eq!(printed.evaluation.confusion, same.evaluation.confusion);
        assert_eq!(printed.evaluation.probability_scores, same.evaluation.probability_scores);
        // By hand, step by step.
        let (mut dataset, schema) = load_with_schema(&source, &ReadOptions::default()).unwrap();
        if let Some(class) = class {
            dataset = dataset.with_positive(class).unwrap();
        }
        let (rows, held) = split(&dataset, 0.2, 0);
        let training = Training::new(&spec, &dataset).rows(&rows).schema(schema.into());
        let model = training.run(&mut ()).unwrap().with_held_out(0.2);
        let model = model.calibrated(method, &dataset, &held).unwrap();
        let model = model.with_estimate(in_memory.model.training_summary().estimate);
        assert!(model.kept() == in_memory.model.kept());
        assert_eq!(model.calibration(), in_memory.model.calibration());
        assert_eq!(model.training_summary(), in_memory.model.training_summary());
        assert!(dataset.with_positive("7").is_none());
    }
}

#[test]
fn what_needs_all_rows_is_refused() {
    for options in [
        Options::default(),
        Options {
            algorithm: "perceptron".to_owned(),
            order: Some(Order::Given),
            readout: Some(Readout::Pocket),
            ratchet: true,
            ..Options::default()
        },
    ] {
        let error = check_order(&Spec::new(options).unwrap()).unwrap_err();
        assert!(error.to_string().contains("where rows do not stay in memory"), "{error}");
    }
}
