//! Sample files that other tools wrote (`data/generate.py`): the same rows from every format.

use rosenblatt_core::{Examples, Row};
use rosenblatt_data::{Dataset, LabelColumn, ReadOptions, Visitor, load};
use std::path::PathBuf;

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Labels and non-zero values, which do not depend on the layout.
fn rows(dataset: &Dataset) -> Vec<(String, Vec<(usize, f64)>)> {
    struct Rows<'a>(&'a Dataset);
    impl Visitor for Rows<'_> {
        type Output = Vec<(String, Vec<(usize, f64)>)>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            let row = |idx| {
                let label = self.0.labels().name(examples.class(idx)).to_owned();
                (label, examples.row(idx).entries().filter(|(_, value)| *value != 0.0).collect())
            };
            (0..examples.len()).map(row).collect()
        }
    }
    dataset.visit(Rows(dataset))
}

#[test]
fn every_format_gives_the_same_rows() {
    let names = |label: &str| match label {
        "0" => "ant".to_owned(),
        "1" => "bee".to_owned(),
        "2" => "cow".to_owned(),
        name => name.to_owned(),
    };
    let expected = load(sample("table.csv"), &ReadOptions::as_stored()).unwrap();
    let expected_rows = rows(&expected);
    assert_eq!((expected.len(), expected.width()), (12, 5));
    let last = LabelColumn::Named("-1".to_owned());
    let mut samples = vec![
        ("table.svm", LabelColumn::Guess),
        ("table.npz", LabelColumn::Guess),
        ("fortran.npz", LabelColumn::Guess),
        ("sparse.npz", LabelColumn::Guess),
        ("table.jsonl", LabelColumn::Guess),
        ("vector.jsonl", LabelColumn::Guess),
        ("sparse.jsonl", LabelColumn::Guess),
        ("column.npy", last.clone()),
        ("half.npy", last),
        ("pandas.csv", LabelColumn::Guess),
        ("pandas.jsonl", LabelColumn::Guess),
        ("gzip.svm.gz", LabelColumn::Guess),
        ("members.csv.gz", LabelColumn::Guess),
        ("zstd.csv.zst", LabelColumn::Guess),
        ("unchecked.jsonl.zst", LabelColumn::Guess),
        ("library.svm.zst", LabelColumn::Guess),
        ("table.vw", LabelColumn::Guess),
    ];
    if cfg!(feature = "parquet") {
        let columnar = ["table.parquet", "zstd.parquet", "gzip.parquet", "list.parquet", "sparse.parquet"];
        samples.extend(columnar.map(|name| (name, LabelColumn::Guess)));
        samples.extend(["pandas.parquet", "pandas.feather"].map(|name| (name, LabelColumn::Guess)));
        samples.extend(
            ["table.arrow", "stream.arrows", "sparse.feather"].map(|name| (name, LabelColumn::Guess)),
        );
    }
    for (name, label) in samples {
        let how = ReadOptions { label, ..ReadOptions::as_stored() };
        let dataset = load(sample(name), &how).unwrap_or_else(|error| panic!("{}", error.report()));
        let found = rows(&dataset).into_iter().map(|(label, row)| (names(&label), row));
        assert_eq!(found.collect::<Vec<_>>(), expected_rows, "{name}");
        assert_eq!(dataset.width(), 5, "{name}");
    }
}

#[test]
fn vowpal_wabbit_text_is_read_as_vowpal_wabbit_reads_it() {
    // Written by `data/vw/generate.py`, out of what `vw --audit` says.
    let printed = std::fs::read_to_string(sample("vw/audit.txt")).unwrap();
    let how = ReadOptions { precision: rosenblatt_data::Precision::Double, ..ReadOptions::as_stored() };
    let dataset = load(sample("vw/audit.vw"), &how).unwrap_or_else(|error| panic!("{}", error.report()));
    let names = dataset.feature_names().unwrap();
    let weights = dataset.weights().unwrap();
    let found = rows(&dataset);
    assert_eq!(found.len(), printed.lines().count());
    for (idx, (line, (label, row))) in printed.lines().zip(found).enumerate() {
        let mut parts = line.split('\t');
        let (expected_label, expected_weight) = parts.next().unwrap().split_once(' ').unwrap();
        assert_eq!(
            (label.as_str(), weights[idx]),
            (expected_label, expected_weight.parse().unwrap()),
            "{line}"
        );
        let mut expected: Vec<(&str, f64)> = parts
            .map(|part| part.rsplit_once(' ').unwrap())
            .map(|(name, value)| (name, value.parse().unwrap()))
            .collect();
        expected.sort_by_key(|(name, _)| *name);
        let mut found: Vec<(&str, f64)> =
            row.iter().map(|&(feature, value)| (names[feature].as_str(), value)).collect();
        found.sort_by_key(|(name, _)| *name);
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn scipy_arrays_have_no_labels_and_pickles_are_refused() {
    let error = load(sample("scipy.npz"), &ReadOptions::as_stored()).unwrap_err();
    assert!(error.to_string().contains("no labels"), "{error}");
    let how = ReadOptions { label: LabelColumn::Absent, ..ReadOptions::as_stored() };
    assert_eq!(load(sample("scipy.npz"), &how).unwrap().len(), 12);
    let error = load(sample("object.npy"), &how).unwrap_err();
    assert!(error.to_string().contains("runs code"), "{error}");
}

#[test]
fn damaged_samples_are_errors_and_never_panics() {
    for name in ["table.npz", "fortran.npz", "sparse.npz", "column.npy"] {
        let whole = std::fs::read(sample(name)).unwrap();
        let how = ReadOptions { label: LabelColumn::Absent, ..ReadOptions::as_stored() };
        let read =
            |bytes: Vec<u8>| rosenblatt_data::load_source(&rosenblatt_data::Source::bytes(name, bytes), &how);
        for length in 0..whole.len() {
            let error = read(whole[..length].to_vec()).expect_err(&format!("{name} cut at {length}"));
            assert_ne!(error.kind().code(), "internal", "{name} cut at {length}: {error}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            if let Err(error) = read(flipped) {
                assert_ne!(error.kind().code(), "internal", "{name}, bit in byte {at}: {error}");
            }
        }
    }
}

#[cfg(feature = "images")]
#[test]
fn pictures_are_read_in_every_format() {
    use rosenblatt_data::Pictures;
    let idx = load(sample("small-images-idx3-ubyte.gz"), &ReadOptions::as_stored()).unwrap();
    assert_eq!(
        (idx.len(), idx.width(), idx.labels().names()),
        (4, 24, &["3".to_owned(), "5".to_owned()][..])
    );
    let folder = load(sample("pictures"), &ReadOptions::as_stored()).unwrap();
    let mut from_idx: Vec<_> = rows(&idx).into_iter().map(|(_, row)| row).collect();
    let mut from_folder: Vec<_> = rows(&folder).into_iter().map(|(_, row)| row).collect();
    from_idx.sort_by(|a, b| a.partial_cmp(b).unwrap());
    from_folder.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(from_folder, from_idx);
    let pictures = Pictures { colour: true, ..Pictures::default() };
    let colours = load(sample("colours"), &ReadOptions { pictures, ..ReadOptions::as_stored() }).unwrap();
    assert_eq!((colours.len(), colours.width()), (2, 8 * 12 * 3));
    let red_and_blue = |row: &[(usize, f64)]| row.first().map(|&(place, _)| place);
    assert_eq!(red_and_blue(&rows(&colours)[0].1), Some(0));
}
