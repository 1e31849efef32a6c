//! Parquet and Arrow files that are odd, cut, flipped or hostile: errors, and never a panic.
#![cfg(feature = "parquet")]

use rosenblatt_data::{
    DataError, Dataset, ErrorKind, LabelColumn, Missing, ReadOptions, Source, load, load_source,
};
use std::path::PathBuf;

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(name: &str, bytes: Vec<u8>) -> Result<Dataset, DataError> {
    load_source(&Source::bytes(name, bytes), &ReadOptions::as_stored())
}

#[test]
fn odd_columns_are_named_and_missing_values_go_by_the_policy() {
    // Dates are left out in every format, and it is noted.
    let how = ReadOptions::as_stored();
    let error = load(sample("odd.parquet"), &how).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    assert_eq!(error.position().row, Some(3));
    assert!(error.to_string().contains("`whole`"), "{error}");
    let drop = ReadOptions { missing: Missing::Drop, ..how.clone() };
    let dataset = load(sample("odd.parquet"), &drop).unwrap();
    assert_eq!(dataset.len(), 2);
    let mean = ReadOptions { missing: Missing::Mean, ..how };
    let dataset = load(sample("odd.parquet"), &mean).unwrap();
    let names = ["whole", "flag=true", "kind=b"].map(String::from);
    assert_eq!((dataset.len(), dataset.feature_names().unwrap()), (4, &names[..]));
}

#[test]
fn files_that_polars_wrote_are_read() {
    let how = ReadOptions { label: LabelColumn::Named("kind".to_owned()), ..ReadOptions::default() };
    for name in ["polars.arrow", "polars-lz4.arrow", "polars-zstd.arrow"] {
        let data = load(sample(name), &how).unwrap();
        let names = ["setosa", "versicolor", "virginica"].map(String::from);
        assert_eq!((data.len(), data.width(), data.labels().names()), (6, 3, &names[..]), "{name}");
        assert_eq!(data.classes(), [0, 0, 2, 2, 2, 1]);
        let whole = std::fs::read(sample(name)).unwrap();
        assert_eq!(load_source(&Source::bytes("stdin", whole), &how).unwrap(), data);
    }
}

#[test]
fn every_cut_is_an_error() {
    for name in [
        "table.parquet",
        "zstd.parquet",
        "list.parquet",
        "table.arrow",
        "stream.arrows",
        "sparse.feather",
        "polars.arrow",
    ] {
        let whole = std::fs::read(sample(name)).unwrap();
        for length in 0..whole.len() {
            let error = read(name, whole[..length].to_vec()).expect_err(&format!("{name} cut at {length}"));
            assert_ne!(error.kind(), ErrorKind::Internal, "{name} cut at {length}: {error}");
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    for name in [
        "table.parquet",
        "zstd.parquet",
        "sparse.parquet",
        "table.arrow",
        "stream.arrows",
        "sparse.feather",
        "polars.arrow",
    ] {
        let whole = std::fs::read(sample(name)).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at * 7 % 8);
            if let Err(error) = read(name, flipped) {
                assert_ne!(error.kind(), ErrorKind::Internal, "{name}, bit in byte {at}: {error}");
            }
        }
        // Four bytes at once, as lengths and counts are.
        for at in (0..whole.len() - 4).step_by(4) {
            for value in [u32::MAX, 1 << 30, 0x7FFF_FFFF] {
                let mut edited = whole.clone();
                edited[at..at + 4].copy_from_slice(&value.to_le_bytes());
                if let Err(error) = read(name, edited) {
                    assert_ne!(error.kind(), ErrorKind::Internal, "{name}, {value} at {at}: {error}");
                }
            }
        }
    }
}

#[test]
fn pages_that_lie_about_their_size_are_refused() {
    let whole = std::fs::read(sample("zstd.parquet")).unwrap();
    // The first page follows the magic bytes: its type, its inflated size in two bytes.
    assert_eq!((whole[4], whole[6], whole[9]), (0x15, 0x15, 0x15));
    for (at, byte) in [(8, 0x7F), (9, 0xFF), (10, 0x7E), (10, 1)] {
        let mut edited = whole.clone();
        edited[at] = byte;
        assert!(read("x.parquet", edited).is_err(), "{byte} at {at}");
    }
}
