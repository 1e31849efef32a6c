//! Whatever `convert` writes reads back to the same data set: values to the bit, labels, weights, names.
//!
//! What a format cannot hold it must refuse, and say the cure. With `ROSENBLATT_PYTHON` naming a Python that
//! has numpy, pandas, pyarrow, scikit-learn and zstandard, those read our files, too (`data/check_written.py`).

use rosenblatt_core::{Examples, Row};
use rosenblatt_data::write::WRITERS;
use rosenblatt_data::{
    Dataset, ErrorKind, LabelColumn, Parting, Precision, ReadOptions, Source, Visitor, WriteOptions, convert,
    convert_parted, load_source, write_dataset,
};
use std::collections::BTreeMap;
use std::path::Path;

/// What a format has room for.
struct Room {
    extension: &'static str,
    names: bool,
    weights: bool,
    labels: Classes,
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Classes {
    Numbers,
    Words,
    Text,
}

const ROOMS: &[Room] = &[
    Room { extension: "svm", names: false, weights: false, labels: Classes::Words },
    Room { extension: "csv", names: true, weights: true, labels: Classes::Text },
    Room { extension: "tsv", names: true, weights: true, labels: Classes::Text },
    Room { extension: "jsonl", names: true, weights: true, labels: Classes::Text },
    Room { extension: "vw", names: true, weights: true, labels: Classes::Words },
    Room { extension: "npy", names: false, weights: false, labels: Classes::Numbers },
    Room { extension: "npz", names: false, weights: false, labels: Classes::Text },
    #[cfg(feature = "parquet")]
    Room { extension: "parquet", names: true, weights: true, labels: Classes::Text },
    #[cfg(feature = "arrow")]
    Room { extension: "arrow", names: true, weights: true, labels: Classes::Text },
    #[cfg(feature = "arrow")]
    Room { extension: "arrows", names: true, weights: true, labels: Classes::Text },
];

/// Data of one kind, and what it asks of a format.
struct Sample {
    source: Source,
    how: ReadOptions,
    labels: Classes,
    /// Whether names could not stand in a text without quotes.
    odd_names: bool,
}

fn samples(precision: Precision) -> Vec<Sample> {
    let how = ReadOptions { precision, ..ReadOptions::as_stored() };
    let sample = |name: &str, text: String, labels| Sample {
        source: Source::bytes(name, text.into_bytes()),
        how: how.clone(),
        labels,
        odd_names: false,
    };
    let number = |i: u32| f64::from(i) / 7.0 * if i.is_multiple_of(2) { 1e-30 } else { -1e20 };
    let line = |i: u32| format!("{},{},{},{}\n", number(i), i, i % 3, i % 3);
    let table = (0..300).map(line).collect::<String>();
    let numbered = sample("t.csv", format!("length,width,deep,label\n{table}"), Classes::Numbers);
    let names = table.replace(",0\n", ",ant\n").replace(",1\n", ",bee\n").replace(",2\n", ",cow\n");
    let named = sample("t.csv", format!("length,width,deep,label\n{names}"), Classes::Words);
    let odd =
        format!("\"a,b\",\"say \"\"c\"\"\",weight,label\n{}", names.replace(",bee\n", ",\"big, old bee\"\n"));
    let odd = Sample { odd_names: true, ..sample("t.csv", odd, Classes::Text) };
    let mut weighted =
        sample("t.csv", format!("length,mass,deep,label\n{}", names.replace('-', "")), Classes::Words);
    weighted.how.weight = Some("mass".to_owned());
    let line = |i: u32| format!("{} {}:{} {}:1 900:{}\n", i % 2, i % 40 + 1, number(i), i % 40 + 50, i % 5);
    let sparse = sample("t.svm", (0..300).map(line).collect(), Classes::Numbers);
    let mut words =
        sample("t.tsv", "ham\tsee you soon\nspam\twin £ now now\nham\tsoon\n".to_owned(), Classes::Words);
    words.how.text.longest = 1;
    let spaces = "1 2 |user age:0.5 tall |item price:3 red\n-1 | plain:0.25\n1 |user age:2\n".to_owned();
    vec![numbered, named, odd, weighted, sparse, words, sample("t.vw", spaces, Classes::Numbers)]
}

/// A label, a weight, and the features that are not zero, by name or number.
type Canonical = Vec<(String, u64, BTreeMap<String, u64>)>;

/// The data with features called by `name`.
fn canonical(data: &Dataset, name: impl Fn(usize) -> String) -> Canonical {
    struct Rows<'a, F>(&'a Dataset, F);
    impl<F: Fn(usize) -> String> Visitor for Rows<'_, F> {
        type Output = Canonical;
        fn visit<E: Examples>(self, examples: E) -> Canonical {
            let row = |idx| {
                let entries = examples.row(idx).entries().filter(|(_, value)| *value != 0.0);
                let entries = entries.map(|(feature, value)| ((self.1)(feature), value.to_bits()));
                let label = self.0.labels().name(examples.class(idx)).to_owned();
                (label, examples.weight(idx).to_bits(), entries.collect())
            };
            (0..examples.len()).map(row).collect()
        }
    }
    data.visit(Rows(data, name))
}

fn reading(room: &Room, data: &Dataset, precision: Precision) -> ReadOptions {
    let label =
        if room.extension == "npy" { LabelColumn::Named("-1".to_owned()) } else { LabelColumn::Guess };
    let in_column = data.weights().is_some() && room.extension != "vw";
    let weight = in_column.then(|| "weight".to_owned());
    ReadOptions { precision, label, weight, ..ReadOptions::as_stored() }
}

/// The data that was read and the data that it should be, with features called alike.
fn both(room: &Room, data: &Dataset, read: &Dataset) -> (Canonical, Canonical) {
    let numbered = |feature: usize| (feature + 1).to_string();
    match (data.feature_names(), read.feature_names()) {
        (Some(names), Some(found)) if room.names => (
            canonical(read, |feature| found[feature].clone()),
            canonical(data, |feature| names[feature].clone()),
        ),
        // What has no names is named by number where names are wanted.
        (None, Some(found)) if room.extension == "vw" => {
            (canonical(read, |feature| found[feature].clone()), canonical(data, numbered))
        }
        _ => (canonical(read, numbered), canonical(data, numbered)),
    }
}

#[test]
fn every_format_reads_back_to_the_same_data() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::Single, Precision::Double] {
        for (number, sample) in samples(precision).iter().enumerate() {
            let data = load_source(&sample.source, &sample.how).unwrap();
            for room in ROOMS {
                let packings: &[&str] = if number == 0 { &["", ".gz", ".zst"] } else { &[""] };
                for packing in packings {
                    let path = folder.path().join(format!("t.{}{packing}", room.extension));
                    let what = format!("sample {number} as {}", path.display());
                    let outcome = convert(&sample.source, &sample.how, &path, &WriteOptions::default());
                    let fits = sample.labels <= room.labels
                        && (room.weights || data.weights().is_none())
                        && !(sample.odd_names && room.extension == "vw");
                    if !fits {
                        let error = outcome.expect_err(&what);
                        assert_eq!(error.kind(), ErrorKind::Options, "{what}: {error}");
                        assert!(error.help().is_some(), "{what}: {error}");
                        continue;
                    }
                    let n_rows = outcome.unwrap_or_else(|error| panic!("{what}: {}", error.report())).rows[0];
                    assert_eq!(n_rows, data.len() as u64, "{what}");
                    let how = reading(room, &data, precision);
                    let read = load_source(&Source::file(&path), &how)
                        .unwrap_or_else(|error| panic!("{what}: {}", error.report()));
                    let (mut found, expected) = both(room, &data, &read);
                    if sample.odd_names {
                        // A feature called as the weight is called steps back.
                        for (_, _, row) in &mut found {
                            let stepped = row.remove("weight_");
                            row.extend(stepped.map(|value| ("weight".to_owned(), value)));
                        }
                    }
                    assert_eq!(found, expected, "{what}");
                    assert_eq!(read.labels(), data.labels(), "{what}");
                    let written = std::fs::read(&path).unwrap();
                    write_dataset(&data, &path, &WriteOptions::default()).unwrap();
                    let again = load_source(&Source::file(&path), &how).unwrap();
                    assert_eq!(both(room, &data, &again), both(room, &data, &read), "{what} from memory");
                    let magic: &[u8] = match *packing {
                        ".gz" => b"\x1F\x8B",
                        ".zst" => b"\x28\xB5\x2F\xFD",
                        _ => b"",
                    };
                    assert!(written.starts_with(magic), "{what}");
                }
            }
        }
    }
    let written: Vec<&str> = ROOMS.iter().map(|room| room.extension).collect();
    for writer in WRITERS {
        let built =
            cfg!(feature = "parquet") || !matches!(writer.info().name, "parquet" | "arrow" | "arrows");
        assert!(
            !built || writer.info().extensions.iter().any(|one| written.contains(one)),
            "{}",
            writer.info().name
        );
    }
}

#[test]
fn every_format_is_parted_and_shuffled() {
    let folder = tempfile::tempdir().unwrap();
    let sample = &samples(Precision::Single)[0];
    let data = load_source(&sample.source, &sample.how).unwrap();
    for room in ROOMS {
        let targets = ["a", "b"].map(|name| folder.path().join(format!("{name}.{}.zst", room.extension)));
        let out = WriteOptions { shuffle: Some(5), memory: 1, ..WriteOptions::default() };
        let parting = Parting { fraction: 0.25, seed: 3, stratified: true };
        let paths = [targets[0].as_path(), targets[1].as_path()];
        let counts = convert_parted(&sample.source, &sample.how, paths, parting, &out).unwrap();
        assert_eq!(counts.rows, [225, 75], "{}", room.extension);
        let mut found = Canonical::new();
        let mut expected = Canonical::new();
        for (path, n_rows) in paths.iter().zip([225, 75]) {
            let how = reading(room, &data, Precision::Single);
            let read = load_source(&Source::file(*path), &how).unwrap();
            assert_eq!(read.len(), n_rows, "{}", room.extension);
            let (some, all) = both(room, &data, &read);
            found.extend(some);
            expected = all;
        }
        assert_ne!(found, expected, "{}: rows come in another order", room.extension);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{}", room.extension);
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        2 * ROOMS.len(),
        "no temporary file is left"
    );
}

#[test]
fn other_tools_read_what_was_written() {
    let Some(python) = std::env::var_os("ROSENBLATT_PYTHON") else {
        eprintln!(
            "skipped: ROSENBLATT_PYTHON does not name a Python with numpy, pandas, pyarrow and zstandard"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let table = Source::file(data.join("table.csv"));
    let numbered = Source::file(data.join("table.svm"));
    for room in ROOMS {
        for packing in ["", ".gz", ".zst"] {
            let path = folder.path().join(format!("table.{}{packing}", room.extension));
            let source = if room.extension == "npy" { &numbered } else { &table };
            convert(source, &ReadOptions::as_stored(), &path, &WriteOptions::default()).unwrap();
        }
    }
    let path = folder.path().join("sparse.parquet");
    if cfg!(feature = "parquet") {
        convert(&numbered, &ReadOptions::as_stored(), &path, &WriteOptions::default()).unwrap();
    }
    let script = data.join("check_written.py");
    let done = std::process::Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
    eprintln!("{}", printed.trim());
}
