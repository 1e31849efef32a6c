//! A model that goes on learning ends in the bits of one run over the same rows, in however many pieces they came and
//! however often it was left.

#[path = "../../data/tests/allocations/mod.rs"]
mod allocations;

use rosenblatt::builders::AveragedPerceptron;
use rosenblatt::data::{ReadOptions, Source, load_source};
use rosenblatt::options::Classes;
use rosenblatt::options::{KernelOptions, Mapping};
use rosenblatt::recipe::{Choice, Ongoing};
use rosenblatt::settings::Asked;
use rosenblatt::{Dataset, Model, Online, Options, Recipe, Spec};
use std::fmt::Write as _;
use std::sync::Arc;

/// Rows of four features, of two classes at first, of three later, and wider in the end if they are numbered.
fn lines(is_table: bool, n_rows: usize, seed: u64) -> Vec<String> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from((state >> 40) as i32) / f64::from(1 << 23) - 1.0
    };
    (0..n_rows)
        .map(|row| {
            let values: Vec<f64> = (0..4).map(|_| next()).collect();
            let class = match values[0] + values[1] * values[2] {
                score if row > n_rows / 2 && score > 0.5 => "new",
                score if score > 0.0 => "up",
                _ => "down",
            };
            let mut line = if is_table { String::new() } else { class.to_owned() };
            for (place, value) in values.iter().enumerate() {
                let number = if !is_table && row > n_rows / 2 { place * 3 + 1 } else { place + 1 };
                let _ = if is_table { write!(line, "{value},") } else { write!(line, " {number}:{value}") };
            }
            line + if is_table { class } else { "" }
        })
        .collect()
}

fn source(is_table: bool, lines: &[String]) -> Source {
    let head = if is_table { "a,b,c,d,label\n" } else { "" };
    let name = if is_table { "rows.csv" } else { "rows.svm" };
    Source::bytes(name, format!("{head}{}\n", lines.join("\n")).into_bytes())
}

fn recipe(learning: impl Into<Asked<Options>>) -> Recipe {
    let reading = ReadOptions { grow_classes: true, threads: 1, ..ReadOptions::default() };
    Recipe { learning: learning.into(), reading, choice: Choice::Given, ..Recipe::default() }
}

fn base(is_table: bool, learning: Options) -> Arc<Model> {
    let recipe = Recipe { online: true, ..recipe(learning) };
    Arc::new(recipe.train(&source(is_table, &lines(is_table, 30, 7)), &mut ()).unwrap().model)
}

/// Goes on with pieces of these sizes, left and taken up again after each.
fn in_pieces(
    recipe: &Recipe,
    base: &Arc<Model>,
    is_table: bool,
    rows: &[String],
    sizes: &[usize],
) -> Vec<u8> {
    let mut ongoing = Ongoing::begin(recipe, Arc::clone(base)).unwrap();
    let how = Ongoing::reading(base, ReadOptions::default());
    let (mut from, mut turn) = (0, 0);
    while from < rows.len() {
        let to = rows.len().min(from + sizes[turn % sizes.len()]);
        ongoing.learn(&load_source(&source(is_table, &rows[from..to]), &how).unwrap()).unwrap();
        (from, turn) = (to, turn + 1);
        if turn % 3 == 0 {
            let snapshot = ongoing.snapshot().unwrap();
            ongoing = Ongoing::restore(recipe, Arc::clone(base), &snapshot).unwrap();
        }
    }
    assert_eq!(ongoing.totals().rounds, rows.len() as u64);
    let bytes = ongoing.model().unwrap().to_bytes();
    assert_eq!(Model::from_bytes(&bytes).unwrap().to_bytes(), bytes, "what is learned can be saved");
    bytes
}

#[test]
fn pieces_and_pauses_leave_no_trace() {
    let named = |algorithm: &str| Options { algorithm: algorithm.to_owned(), ..Options::default() };
    let kernel: KernelOptions = serde_json::from_str(r#"{"budget": 20, "params": {"gamma": 1.0}}"#).unwrap();
    let map: Mapping =
        serde_json::from_str(r#"{"name": "fourier", "size": 16, "params": {"gamma": 0.5}}"#).unwrap();
    let perceptron = || named("perceptron");
    for (options, blank) in [
        (perceptron(), false),
        (Options { readout: Some("averaged".parse().unwrap()), ..perceptron() }, false),
        (Options { multiclass: Classes::OneVsOne, ..perceptron() }, false),
        (named("pa1"), false),
        (named("arow"), false),
        (Options { readout: Some("voted".parse().unwrap()), ..perceptron() }, true),
        (Options { kernel: Some(kernel), ..perceptron() }, true),
        (Options { map: Some(map), ..perceptron() }, true),
    ] {
        for is_table in [true, false] {
            let base = base(is_table, options.clone());
            let recipe = Recipe { blank, ..recipe(Asked::default()) };
            let rows = lines(is_table, 120, 3);
            let whole = Recipe { online: true, start: Some(Arc::clone(&base)), ..recipe.clone() };
            let whole = whole.train(&source(is_table, &rows), &mut ()).unwrap().model.to_bytes();
            for sizes in [&[120][..], &[1], &[7, 1, 20]] {
                let pieces = in_pieces(&recipe, &base, is_table, &rows, sizes);
                assert!(pieces == whole, "{options:?}, {sizes:?}, {is_table}");
            }
        }
    }
}

#[test]
fn a_vote_goes_on_from_nothing_only() {
    let voted = Options {
        algorithm: "perceptron".to_owned(),
        readout: Some("voted".parse().unwrap()),
        ..Options::default()
    };
    let refused = Ongoing::begin(&recipe(Asked::default()), base(true, voted)).err().unwrap();
    assert!(refused.to_string().contains("no weights of its own"), "{refused}");
}

/// Learns from these rows, of which each names a class that was never seen, and says how many bytes were asked for meanwhile,
/// beyond a score of every class for every row.
fn asked_for_new_classes(n_classes: usize) -> usize {
    let names: Vec<String> = (0..n_classes).map(|class| format!("class {class}")).collect();
    let rows: Vec<[f64; 4]> = (0..n_classes).map(|row| [1.0, row as f64, (row % 7) as f64, -1.0]).collect();
    let begun = Dataset::from_rows(&[[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]], &["a", "b"]);
    let base = AveragedPerceptron::new().fit(&begun).unwrap();
    let mut ongoing = Ongoing::begin(&recipe(Asked::default()), Arc::new(base)).unwrap();
    // The first class more turns one hyperplane into three: all is carried over.
    ongoing.learn(&Dataset::from_rows(&[[0.0, 0.0, 1.0, 1.0]], &["c"])).unwrap();
    let data = Dataset::from_rows(&rows, &names);
    let ((), asked) = allocations::asked_by(|| ongoing.learn(&data).unwrap());
    assert_eq!(ongoing.labels().len(), 3 + n_classes);
    asked - (0..n_classes).map(|row| (4 + row) * size_of::<f64>()).sum::<usize>()
}

#[test]
fn new_classes_copy_nothing_that_was_learned() {
    let (few, many) = (asked_for_new_classes(500), asked_for_new_classes(2000));
    assert!(many < 5 * few, "500 classes ask for {few} bytes, and 2000 for {many}");
}

#[test]
fn a_class_that_takes_its_place_leaves_the_bits_of_one_that_was_carried_over() {
    let classes: Vec<String> = (0..14).map(|class| format!("class {class}")).collect();
    let options = |algorithm: &str, readout: &str, multiclass| Options {
        algorithm: algorithm.to_owned(),
        readout: Some(readout.parse().unwrap()),
        multiclass,
        ..Options::default()
    };
    let direct = || "direct-uniform".parse().unwrap();
    for options in [
        options("perceptron", "last", Classes::OneVsRest),
        options("perceptron", "averaged", Classes::OneVsRest),
        options("perceptron", "averaged", direct()),
        options("perceptron", "voted", direct()),
        options("pegasos", "averaged", Classes::OneVsRest),
        options("alma", "last", Classes::OneVsRest),
        options("arow", "last", Classes::OneVsRest),
    ] {
        let spec = Spec::new(options).unwrap();
        let begun = || Online::new(spec.clone(), &classes[..3]).unwrap().keeping_track();
        let (mut in_place, mut carried) = (begun(), begun());
        for row in 0..140_usize {
            let values = [1.0, (row * 37 % 101) as f64 / 50.0 - 1.0, (row * 11 % 13) as f64, 0.5];
            let name = &classes[(row * row + row / 10) % (3 + row / 10).min(14)];
            let data = Dataset::from_rows(&[values], &[name]);
            in_place.learn_named(data.view(), data.labels().names(), 0..1).unwrap();
            if !carried.labels().names().contains(name) {
                let all = carried.labels().names().iter().chain([name]).cloned();
                carried.take_in(all.collect::<Vec<_>>()).unwrap();
            }
            carried.learn_named(data.view(), data.labels().names(), 0..1).unwrap();
        }
        assert!(in_place.labels().len() > 9, "more than one block of outputs");
        assert!(in_place.checkpoint() == carried.checkpoint(), "{spec:?}");
        assert_eq!(in_place.model().unwrap().to_bytes(), carried.model().unwrap().to_bytes());
    }
}
