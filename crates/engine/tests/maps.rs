//! Feature maps in front of the linear learners: they learn what no hyperplane could, to the same bits whichever way
//! the rows come.

use rosenblatt::data::{Cached, Matrix, Park, ReadOptions, Source, SparseMatrix, View, load_with_schema};
use rosenblatt::kernel::Setting;
use rosenblatt::learning::{DenseExamples, Order, Random, Readout};
use rosenblatt::model::Checkpoint;
use rosenblatt::options::{Mapping, Validation};
use rosenblatt::split::split;
use rosenblatt::trace::trace;
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use rosenblatt::{Dataset, Model, Online, Options, Spec, Training, evaluate, export, train};
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn with(param: &str, value: f64) -> BTreeMap<String, Setting> {
    BTreeMap::from([(param.to_owned(), Setting::Number(value))])
}

/// Every map, as it is asked for.
fn maps() -> Vec<Mapping> {
    let named = |name: &str, kernel: &str| Mapping {
        name: name.to_owned(),
        size: 128,
        kernel: Some(kernel.to_owned()),
        ..Mapping::default()
    };
    vec![
        Mapping { params: with("gamma", 0.7), ..named("fourier", "rbf") },
        Mapping { params: with("gamma", 0.5), ..named("fourier", "laplacian") },
        Mapping {
            params: BTreeMap::from(
                ["degree", "gamma"]
                    .map(|name| (name.to_owned(), Setting::Number(if name == "degree" { 2.0 } else { 1.0 }))),
            ),
            ..named("sketch", "polynomial")
        },
        named("nystroem", "rbf"),
        Mapping { params: with("degree", 2.0), ..named("nystroem", "polynomial") },
        named("nystroem", "laplacian"),
    ]
}

fn spec(map: &Mapping) -> Spec {
    Spec::new(Options { map: Some(map.clone()), epochs: 30, ..Options::default() }).unwrap()
}

/// Points in four squares around the origin, opposite squares of one class: a larger exclusive or.
fn squares(n_rows: usize) -> (Vec<[f64; 3]>, Vec<&'static str>) {
    let mut random = Random::new(4);
    let rows: Vec<[f64; 3]> = (0..n_rows)
        .map(|_| {
            let mut side = || if random.next() >> 63 == 0 { 1.0 } else { -1.0 };
            let (x, y) = (side(), side());
            [x * (0.4 + random.unit()), y * (0.4 + random.unit()), 0.0]
        })
        .collect();
    let names = rows.iter().map(|row| if row[0] * row[1] > 0.0 { "same" } else { "other" }).collect();
    (rows, names)
}

#[test]
fn exclusive_or_is_learned_behind_every_map_and_by_no_hyperplane() {
    let xor = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let four = Dataset::from_rows(&xor, &["same", "other", "other", "same"]);
    let (rows, names) = squares(400);
    let many = Dataset::from_rows(&rows, &names);
    let (learned, held) = split(&many, 0.25, 1);
    for map in maps() {
        // The last hypothesis of a run that ended with a clean epoch is right everywhere.
        let last = Options { readout: Some(Readout::Last), ..spec(&map).options().clone() };
        let model = train(&Spec::new(last).unwrap(), &four).unwrap();
        assert_eq!(evaluate(&model, &four).unwrap().errors, 0, "{map:?}");
        let spec = spec(&map);
        let model = Training::new(&spec, &many).rows(&learned).run(&mut ()).unwrap();
        let judged = rosenblatt::evaluate::evaluate_rows(&model, &many, &held).unwrap();
        assert!(judged.errors <= 3, "{map:?}: {} of {} wrong", judged.errors, judged.rows);
    }
    assert!(evaluate(&train(&Spec::default(), &four).unwrap(), &four).unwrap().errors > 0);
}

#[test]
fn the_model_does_not_depend_on_how_rows_are_stored_and_predicts_the_same_when_it_is_loaded() {
    let (rows, names) = squares(300);
    let dense = Dataset::from_rows(&rows, &names);
    let offsets = (0..=rows.len()).map(|row| 2 * row).collect();
    let indices = rows.iter().flat_map(|_| [0, 1]).collect();
    let values = rows.iter().flat_map(|row| [row[0], row[1]]).collect();
    let matrix = Matrix::Sparse64(SparseMatrix { offsets, indices, values, width: 3 });
    let sparse = Dataset::new(matrix, dense.classes().to_vec(), dense.labels().clone());
    for map in maps() {
        let model = train(&spec(&map), &dense).unwrap();
        let bytes = model.to_bytes();
        assert_eq!(train(&spec(&map), &sparse).unwrap().to_bytes(), bytes, "{map:?}");
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.to_bytes(), bytes);
        assert_eq!(
            (loaded.width(), loaded.predict_all(&sparse).unwrap()),
            (3, model.predict_all(&dense).unwrap())
        );
        // One by one as all together, to the bit.
        let (mut one, mut other) = (model.predictor(0), loaded.predictor(9));
        for row in &rows[..50] {
            one.predict(rosenblatt::learning::Dense(row));
            other.predict(rosenblatt::learning::Dense(&[row.as_slice(), &[0.0; 4]].concat()));
            assert_eq!(one.scores()[0].to_bits(), other.scores()[0].to_bits());
        }
    }
}

#[test]
fn votes_and_several_classes_see_mapped_rows_too() {
    let (rows, names) = squares(200);
    let names: Vec<&str> =
        rows.iter().zip(names).map(|(row, name)| if row[0] > 1.0 { "far" } else { name }).collect();
    let data = Dataset::from_rows(&rows, &names);
    let options =
        Options { map: Some(maps()[0].clone()), readout: Some(Readout::Voted), ..Options::default() };
    let model = train(&Spec::new(options).unwrap(), &data).unwrap();
    assert!(evaluate(&model, &data).unwrap().error() < 0.1);
    let mut counter = rosenblatt::vote_count::VoteCounter::new(&model).unwrap();
    let mut predictor = model.predictor(0);
    let class = predictor.predict(rosenblatt::learning::Dense(&rows[0]));
    let counts = counter.count(rosenblatt::learning::Dense(&rows[0]));
    let most =
        (0..3).max_by_key(|&class| i128::from(counts[class].in_favour) - i128::from(counts[class].against));
    assert_eq!(most, Some(class as usize));
}

#[test]
fn rows_on_disk_give_the_model_that_rows_in_memory_give() {
    let (rows, names) = squares(2500);
    let text = rows.iter().zip(&names).fold(String::new(), |mut text, (row, name)| {
        let _ = writeln!(text, "{} 1:{:.4} 2:{:.4}", u8::from(*name == "same"), row[0], row[1]);
        text
    });
    let source = Source::bytes("t.svm", text.into_bytes());
    let how = ReadOptions::default();
    let (data, _) = load_with_schema(&source, &how).unwrap();
    let (learned, _) = split(&data, 0.2, 3);
    let folder = std::env::temp_dir().join(format!("rosenblatt-maps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut cached = Cached::read(&source, &how, Park::Temporary).unwrap();
    for map in maps() {
        let validation = Some(Validation { patience: 2, ..Validation::default() });
        // What follows from the rows follows from the same rows.
        let map = Some(Mapping { params: BTreeMap::new(), ..map });
        let options = Options { map, order: Some(Order::Given), epochs: 3, validation, ..Options::default() };
        let spec = Spec::new(options).unwrap();
        let expected = Training::new(&spec, &data).rows(&learned).run(&mut ()).unwrap();
        let found = Training::new(&spec, &mut cached).rows(&learned).run(&mut ()).unwrap();
        assert_eq!(found.to_bytes(), expected.to_bytes(), "{:?}", spec.options().map);
    }
    drop(cached);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_stream_is_mapped_row_by_row_and_may_grow_wider() {
    let (rows, names) = squares(1500);
    for map in maps().into_iter().filter(|map| map.name != "nystroem") {
        let options = Options { map: Some(map), order: Some(Order::Given), epochs: 1, ..Options::default() };
        let spec = Spec::new(Options { validation: None, ..options }).unwrap();
        let whole = train(&spec, &Dataset::from_rows(&rows, &names)).unwrap();
        let mut learner = Online::new(spec.clone(), ["other", "same"]).unwrap();
        // The first row is narrower; the third feature is always zero.
        learner.learn(&rows[0][..2], names[0]).unwrap();
        let early = learner.model().unwrap();
        let classes: Vec<u32> = names.iter().map(|name| u32::from(*name == "same")).collect();
        let flat = rows[1..].concat();
        let view = View::Dense64(DenseExamples::new(&flat, 3, &classes[1..]));
        learner.learn_rows(view, 0..700).unwrap();
        learner.learn_rows(view, 700..1499).unwrap();
        assert_eq!((early.width(), learner.model().unwrap().width()), (2, 3));
        assert_eq!(learner.model().unwrap().to_bytes(), whole.to_bytes());
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_model() {
    struct Stop(Option<Vec<u8>>);
    impl Checkpointer for Stop {
        fn request(&mut self, so_far: &rosenblatt::learning::Totals) -> CheckpointRequest {
            if so_far.epochs == 2 { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
        }
        fn save(&mut self, checkpoint: &[u8]) {
            self.0 = Some(checkpoint.to_vec());
        }
    }
    let (rows, names) = squares(200);
    let data = Dataset::from_rows(&rows, &names);
    for map in maps() {
        let options =
            Options { map: Some(map.clone()), epochs: 6, stop_when_clean: false, ..Options::default() };
        let spec = Spec::new(options.clone()).unwrap();
        let mut stop = Stop(None);
        Training::new(&spec, &data).checkpointer(&mut stop).run(&mut ()).unwrap_err();
        let checkpoint = Checkpoint::from_bytes(&stop.0.unwrap()).unwrap();
        let resumed = Training::new(&spec, &data).resume(checkpoint.clone()).run(&mut ()).unwrap();
        assert_eq!(resumed.to_bytes(), train(&spec, &data).unwrap().to_bytes());
        let other = Spec::new(Options { map: Some(Mapping { size: 64, ..map }), ..options }).unwrap();
        let refused = Training::new(&other, &data).resume(checkpoint).run(&mut ()).unwrap_err();
        assert!(refused.to_string().contains("`map` was"), "{refused}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let wrong =
        |map: Mapping| Spec::new(Options { map: Some(map), ..Options::default() }).unwrap_err().to_string();
    assert!(wrong(Mapping { name: "furrier".to_owned(), ..Mapping::default() }).contains("one of fourier"));
    assert!(wrong(Mapping { params: with("degree", 2.0), ..Mapping::default() }).contains("no `degree`"));
    assert!(wrong(Mapping { params: with("gamma", -1.0), ..Mapping::default() }).contains("positive"));
    assert!(wrong(Mapping { size: 0, ..Mapping::default() }).contains("`map-size` should be from 1"));

    let fourier = spec(&Mapping::default());
    let online = Online::new(fourier.clone(), ["a", "b"]).err().unwrap().to_string();
    assert!(online.contains("`gamma` should be a number where rows come one by one"), "{online}");
    let nystroem = spec(&Mapping { name: "nystroem".to_owned(), ..Mapping::default() });
    let online = Online::new(nystroem, ["a", "b"]).err().unwrap().to_string();
    assert!(online.contains("fitted to all of them"), "{online}");

    let data = Dataset::from_rows(&[[1.0], [-1.0]], &["a", "b"]);
    assert!(trace(&fourier, &data, 1..=9).unwrap_err().to_string().contains("a trace shows features"));
    let model = train(&fourier, &data).unwrap();
    let refused = export(&model, "json".parse().unwrap()).unwrap_err();
    assert_eq!(refused.remedy().unwrap().to_string(), "leave `map` out", "{refused}");
    assert!(rosenblatt::insight::top_features(&model, 0, 5).is_empty());

    let huge = Dataset::from_rows(&[[1e200], [-1e200]], &["a", "b"]);
    let steep = spec(&Mapping { params: with("gamma", 1e300), ..Mapping::default() });
    assert!(train(&steep, &huge).unwrap_err().to_string().contains("too large for the feature map"));
    let wide = Matrix::Sparse64(SparseMatrix {
        offsets: vec![0, 1, 2],
        indices: vec![3_999_999_999, 5],
        values: vec![1.0, 1.0],
        width: 4_000_000_000,
    });
    let wide = Dataset::new(wide, vec![0, 1], data.labels().clone());
    assert!(train(&fourier, &wide).unwrap_err().to_string().contains("hash the features"));
}
