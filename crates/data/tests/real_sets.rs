//! The real data sets, where they are: `ROSENBLATT_DATA` names their folder. Without it nothing is
//! tested here, and the tests say so.

use rosenblatt_data::{ReadOptions, load};
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ROSENBLATT_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: ROSENBLATT_DATA does not say where the data sets are");
    }
    folder
}

#[test]
fn idx_sets_have_the_shapes_that_are_published() {
    let Some(folder) = folder() else { return };
    for (name, n_rows, width, n_classes) in [
        ("mnist/train-images-idx3-ubyte.gz", 60_000, 784, 10),
        ("mnist/t10k-images-idx3-ubyte.gz", 10_000, 784, 10),
        ("olivetti/olivetti-images-idx3-ubyte.gz", 400, 4096, 40),
    ] {
        let dataset = load(folder.join(name), &ReadOptions::default()).unwrap();
        assert_eq!((dataset.len(), dataset.width(), dataset.labels().len()), (n_rows, width, n_classes));
        if n_rows == 60_000 {
            let mut counts = [0; 10];
            for &class in dataset.classes() {
                counts[class as usize] += 1;
            }
            assert_eq!(counts, [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);
        }
    }
}

#[cfg(feature = "images")]
#[test]
fn faces_are_a_folder_per_person() {
    let Some(folder) = folder() else { return };
    let unpacked = tempfile::tempdir().unwrap();
    let archive = folder.join("orl-faces/orl-faces.tar.gz");
    let tar =
        std::process::Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(unpacked.path()).status();
    if !tar.is_ok_and(|status| status.success()) {
        eprintln!("skipped: tar cannot unpack the faces");
        return;
    }
    let faces = load(unpacked.path().join("orl-faces"), &ReadOptions::default()).unwrap();
    assert_eq!((faces.len(), faces.width(), faces.labels().len()), (400, 10_304, 40));
}
