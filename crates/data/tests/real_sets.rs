//! The real data sets, where they are: `ROSENBLATT_DATA` names their folder. Without it nothing is
//! tested here, and the tests say so.

use rosenblatt_data::{Dataset, LabelColumn, Missing, ReadOptions, load};
#[cfg(feature = "images")]
use std::path::Path;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ROSENBLATT_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: ROSENBLATT_DATA does not say where the data sets are");
    }
    folder
}

/// Rows of each class, in the order of the classes.
fn counts(data: &Dataset) -> Vec<usize> {
    let mut counts = vec![0; data.labels().len()];
    for &class in data.classes() {
        counts[class as usize] += 1;
    }
    counts
}

/// A file, how it is read, its rows and features, and how many rows each class has.
type Set = (&'static str, ReadOptions, usize, usize, &'static [usize]);

fn sets() -> Vec<Set> {
    let plain = ReadOptions::default;
    let species = LabelColumn::Named("species".to_owned());
    let penguins = ReadOptions { label: species, missing: Missing::Mean, ..plain() };
    vec![
        ("a9a/a9a", plain(), 32_561, 123, &[24_720, 7_841]),
        ("a9a/a9a.t", plain(), 16_281, 122, &[12_435, 3_846]),
        ("agaricus/agaricus.txt.train", plain(), 6_513, 126, &[3_373, 3_140]),
        ("agaricus/agaricus.txt.test", plain(), 1_611, 126, &[835, 776]),
        ("banknote/data_banknote_authentication.csv", plain(), 1_372, 4, &[762, 610]),
        ("breast-cancer-wdbc/breast_cancer.csv", plain(), 569, 30, &[212, 357]),
        ("iris/iris.csv", plain(), 150, 4, &[50, 50, 50]),
        ("penguins/penguins.csv", penguins, 344, 10, &[152, 68, 124]),
        ("mnist/train-images-idx3-ubyte.gz", plain(), 60_000, 784, MNIST),
        (
            "mnist/t10k-images-idx3-ubyte.gz",
            plain(),
            10_000,
            784,
            &[980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
        ),
        ("olivetti/olivetti-images-idx3-ubyte.gz", plain(), 400, 4_096, &[10; 40]),
    ]
}

const MNIST: &[usize] = &[5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];

#[test]
fn every_set_loads_with_one_call_and_has_the_shape_that_is_published() {
    let Some(folder) = folder() else { return };
    for (name, how, n_rows, width, per_class) in sets() {
        let data = load(folder.join(name), &how).unwrap_or_else(|error| panic!("{}", error.report()));
        assert_eq!((data.len(), data.width()), (n_rows, width), "{name}");
        assert_eq!(counts(&data), per_class, "{name}");
    }
}

#[test]
fn messages_are_read_as_words() {
    let Some(folder) = folder() else { return };
    let data = load(folder.join("sms-spam/SMSSpamCollection.tsv"), &ReadOptions::as_stored()).unwrap();
    assert_eq!((data.len(), counts(&data)), (5_574, vec![4_827, 747]));
    assert_eq!(data.labels().names(), ["ham", "spam"]);
    let names = data.feature_names().unwrap();
    assert!(names.iter().any(|name| name == "free") && names.len() == data.width());
}

#[cfg(feature = "images")]
#[test]
fn faces_are_a_folder_per_person() {
    let Some(folder) = folder() else { return };
    let unpacked = tempfile::tempdir().unwrap();
    if !unpack(&folder.join("orl-faces/orl-faces.tar.gz"), unpacked.path()) {
        eprintln!("skipped: tar cannot unpack the faces");
        return;
    }
    let faces = load(unpacked.path().join("orl-faces"), &ReadOptions::as_stored()).unwrap();
    assert_eq!((faces.len(), faces.width(), counts(&faces)), (400, 10_304, vec![10; 40]));
}

#[cfg(feature = "images")]
fn unpack(archive: &Path, into: &Path) -> bool {
    let tar = std::process::Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into).status();
    tar.is_ok_and(|status| status.success())
}
