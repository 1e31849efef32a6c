//! Whatever happens to the files of a model, it is served with all that was acknowledged, or refused with the reason and a way
//! out; never an older model in silence.

use crate::bench::{Bench, ask, pets};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn learn(bench: &Bench, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let key = format!("row-{number}");
        let headers = [("content-type", "text/csv"), ("idempotency-key", key.as_str())];
        let body =
            format!("legs,weight,label\n{},{},{}\n", number % 5, number % 7, ["cat", "bird"][number % 2]);
        ask(bench.address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes()).ok();
    }
}

/// A folder with versions 1 to 3, of which the last has a snapshot and a log with more, and what it serves.
fn folder() -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.model"), pets()).unwrap();
    let away = tempfile::tempdir().unwrap();
    let served = {
        let bench = Bench::at(folder.path(), |config| config.snapshot_rows = 6);
        learn(&bench, 0..4);
        bench.json("/v1/models/pets/versions", "").ok();
        bench.json("/v1/models/pets/versions", "{\"of\": 1}").ok();
        learn(&bench, 4..14);
        copy(folder.path(), away.path());
        bench.get("/v1/models/pets/file").ok().body
    };
    (away, served)
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else if !entry.file_name().to_string_lossy().ends_with("lock") {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// All files of a model, from its folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let kept = fs::read_dir(folder.join("pets.serve")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        kept.map(|path| path.strip_prefix(folder).unwrap().to_owned()).chain(["pets.model".into()]).collect();
    all.sort();
    all
}

/// Serves a copy of `whole` that was changed, and tells whether all is served; if it is not, it says so, and
/// there is a cure.
fn is_served(whole: &Path, served: &[u8], what: &str, change: impl FnOnce(&Path)) -> bool {
    let folder = tempfile::tempdir().unwrap();
    copy(whole, folder.path());
    change(folder.path());
    let bench = Bench::at(folder.path(), |_| {});
    let answer = bench.json("/v1/models/pets/predict", "[[1, 2]]");
    let ready = ["/readyz", "/v2/health/ready"].map(|path| bench.get(path));
    if answer.status == 200 {
        assert!(bench.get("/v1/models/pets/file").ok().body == served, "{what}: another model in silence");
        assert!(ready.iter().all(|ready| ready.status == 200), "{what}");
        return true;
    }
    assert_eq!((answer.status, answer.code().as_str()), (503, "damaged"), "{what}: {}", answer.text());
    assert!(answer.value()["help"].as_str().unwrap().contains("{\"of\": N}"), "{what}: {}", answer.text());
    let detail = answer.value()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("`pets.serve/") || detail.contains("`pets.model`"), "{what}: {detail}");
    for ready in ready {
        assert_eq!(ready.status, 503, "{what}");
        let reason = ready.value()["not-served"]["pets"].as_str().unwrap().to_owned();
        assert_eq!(reason, answer.value()["detail"].as_str().unwrap(), "{what}");
    }
    assert_eq!(bench.get("/v1/models/pets").ok().value()["ready"], false, "{what}");
    // Some version can be gone back to, and what was gone back to is served after a restart, too.
    let versions = bench.get("/v1/models/pets/versions").ok().value();
    let numbers =
        versions["versions"].as_array().unwrap().iter().map(|entry| entry["version"].as_u64().unwrap());
    let back = numbers
        .map(|number| bench.json("/v1/models/pets/versions", &format!("{{\"of\": {number}}}")))
        .find(|answer| answer.status == 201);
    assert!(back.is_some(), "{what}: {versions}");
    let file = bench.get("/v1/models/pets/file").ok().body;
    assert_eq!(bench.get("/readyz").status, 200, "{what}");
    drop(bench);
    let bench = Bench::at(folder.path(), |_| {});
    assert!(bench.get("/v1/models/pets/file").ok().body == file, "{what}, after a restart");
    false
}

#[test]
fn removed_and_flipped_and_cut_files_are_restored_or_refused() {
    let (whole, served) = folder();
    assert!(is_served(whole.path(), &served, "as it was", |_| {}));
    for file in files(whole.path()) {
        let name = file.to_string_lossy().into_owned();
        let bytes = fs::read(whole.path().join(&file)).unwrap();
        // What is not of the version that is served does no harm; the list has a copy.
        let is_needed = ["pets.model", "pets.serve/3.log", "pets.serve/3.snapshot", "pets.serve/3.model"];
        let is_safe = !is_needed.contains(&name.as_str()) || name == "pets.serve/3.model";
        let gone = is_served(whole.path(), &served, &format!("{name} removed"), |folder| {
            if name == "pets.model" {
                fs::write(folder.join(&file), "").unwrap();
            } else {
                fs::remove_file(folder.join(&file)).unwrap();
            }
        });
        assert_eq!(gone, is_safe, "{name} removed");
        for turn in 0..6 {
            let at = bytes.len() * turn / 6 + turn;
            let what = format!("byte {at} of {name} flipped");
            let kept = is_served(whole.path(), &served, &what, |folder| {
                let mut flipped = bytes.clone();
                let at = at.min(flipped.len() - 1);
                flipped[at] ^= 1 << (turn % 8);
                fs::write(folder.join(&file), flipped).unwrap();
            });
            assert_eq!(kept, is_safe, "{what}");
        }
        let half = bytes.len() / 2;
        let what = format!("{name} cut");
        let kept = is_served(whole.path(), &served, &what, |folder| {
            fs::write(folder.join(&file), &bytes[..half]).unwrap();
        });
        assert_eq!(kept, is_safe, "{what}");
    }
    for both in [["manifest.json", "manifest.copy.json"], ["3.log", "3.snapshot"]] {
        let kept = is_served(whole.path(), &served, &format!("{both:?} removed"), |folder| {
            for name in both {
                fs::remove_file(folder.join("pets.serve").join(name)).unwrap();
            }
        });
        assert!(!kept, "{both:?}");
    }
}

#[test]
fn a_flipped_bit_in_the_file_of_a_version_is_never_served() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.model"), pets()).unwrap();
    let [second, third] = {
        // Two versions of what was learned, of which the folder has no other copy.
        let bench = Bench::at(folder.path(), |_| {});
        [0..4, 4..8].map(|rows| {
            learn(&bench, rows);
            bench.json("/v1/models/pets/versions", "").ok();
            bench.get("/v1/models/pets/file").ok().body
        })
    };
    let flip = |folder: &Path, number: u64, at: usize| {
        let path = folder.join(format!("pets.serve/{number}.model"));
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << (at % 8);
        fs::write(path, bytes).unwrap();
    };
    for at in (0..third.len()).step_by(third.len() / 40 + 1) {
        // Of the version that is served: refused at the start, with the cure.
        let what = format!("byte {at} of 3.model flipped");
        assert!(!is_served(folder.path(), &third, &what, |folder| flip(folder, 3, at)));
    }
    // Of one that could be gone back to: that version is refused, and what is served goes on.
    let away = tempfile::tempdir().unwrap();
    copy(folder.path(), away.path());
    let bench = Bench::at(away.path(), |_| {});
    assert!(bench.get("/v1/models/pets/versions/2/file").ok().body == second);
    for at in (0..second.len()).step_by(second.len() / 40 + 1) {
        flip(away.path(), 2, at);
        for answer in [
            bench.json("/v1/models/pets/versions", "{\"of\": 2}"),
            bench.get("/v1/models/pets/versions/2/file"),
        ] {
            assert_eq!((answer.status, answer.code().as_str()), (503, "damaged"), "{at}: {}", answer.text());
            assert!(
                answer.text().contains("`pets.serve/2.model` is missing or changed"),
                "{}",
                answer.text()
            );
        }
        assert!(bench.get("/v1/models/pets/file").ok().body == third, "{at}");
        // The same bit again, and it is whole.
        flip(away.path(), 2, at);
    }
    assert_eq!(bench.json("/v1/models/pets/versions", "{\"of\": 2}").ok().value()["version"], 4);
    assert!(bench.get("/v1/models/pets/file").ok().body == second);
}

#[test]
fn every_bit_of_the_list_of_versions_is_watched() {
    let (whole, served) = folder();
    let path = Path::new("pets.serve/manifest.json");
    let bytes = fs::read(whole.path().join(path)).unwrap();
    for at in (0..bytes.len()).step_by(41) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let what = format!("byte {at} of the list flipped");
        assert!(is_served(whole.path(), &served, &what, |folder| {
            fs::write(folder.join(path), &flipped).unwrap();
        }));
        // Without its copy, it is refused.
        let what = format!("{what} and its copy gone");
        assert!(!is_served(whole.path(), &served, &what, |folder| {
            fs::write(folder.join(path), &flipped).unwrap();
            fs::remove_file(folder.join("pets.serve/manifest.copy.json")).unwrap();
        }));
    }
}

#[cfg(unix)]
#[test]
fn links_to_devices_keep_no_server_from_starting() {
    let (whole, served) = folder();
    for file in files(whole.path()) {
        let began = Instant::now();
        is_served(whole.path(), &served, &format!("{} is a link", file.display()), |folder| {
            fs::remove_file(folder.join(&file)).unwrap();
            std::os::unix::fs::symlink("/dev/zero", folder.join(&file)).unwrap();
            if file == Path::new("pets.model") {
                // What is sent in its place is plain again.
                fs::remove_file(folder.join(&file)).unwrap();
                std::os::unix::fs::symlink("/dev/zero", folder.join("other.model")).unwrap();
                fs::copy(whole.path().join(&file), folder.join(&file)).unwrap();
                let bench = Bench::at(folder, |_| {});
                assert_eq!(bench.json("/v1/models/other/predict", "[[1, 2]]").code(), "damaged");
                assert!(bench.get("/readyz").value()["not-served"]["other"].is_string());
                fs::remove_file(folder.join("other.model")).unwrap();
            }
        });
        assert!(began.elapsed() < Duration::from_secs(20), "{}: {:?}", file.display(), began.elapsed());
    }
}

#[test]
fn folders_without_checksums_are_read_and_get_them() {
    let (whole, served) = folder();
    let path = Path::new("pets.serve/manifest.json");
    let whole_list: serde_json::Value =
        serde_json::from_slice(&fs::read(whole.path().join(path)).unwrap()).unwrap();
    let mut old = whole_list["manifest"].clone();
    for entry in old["versions"].as_array_mut().unwrap() {
        entry.as_object_mut().unwrap().remove("begun");
    }
    let change = |folder: &Path| {
        fs::write(folder.join(path), old.to_string()).unwrap();
        fs::remove_file(folder.join("pets.serve/manifest.copy.json")).unwrap();
        fs::remove_file(folder.join("pets.serve/3.acknowledged")).unwrap();
    };
    assert!(is_served(whole.path(), &served, "an old list", |folder| {
        change(folder);
        drop(Bench::at(folder, |_| {}));
        let now: serde_json::Value = serde_json::from_slice(&fs::read(folder.join(path)).unwrap()).unwrap();
        assert!(now["sha256"].is_string() && folder.join("pets.serve/manifest.copy.json").exists());
        assert!(folder.join("pets.serve/3.acknowledged").exists());
    }));
}

#[test]
fn keys_that_are_lost_with_a_replaced_model_are_noted() {
    let (whole, _) = folder();
    let log = whole.path().join("pets.serve/3.log");
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 1]).unwrap();
    let other = crate::lineage::offline(&pets(), &["4,4,cat".to_owned()]);
    fs::write(whole.path().join("pets.model"), other).unwrap();
    let notes = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&notes);
    let bench = Bench::at(whole.path(), |config| {
        config.journal = rosenblatt_server::Journal::new(move |note| {
            assert!(note.is_warning);
            kept.lock().unwrap().push_str(note.text);
        });
    });
    bench.json("/v1/models/pets/predict", "[[1, 2]]").ok();
    let expected = "the idempotency keys of version 3 are lost: the end of `pets.serve/3.log` is missing";
    assert!(notes.lock().unwrap().contains(expected), "{notes:?}");
}

#[test]
fn whoever_runs_the_server_reads_what_was_found() {
    let (whole, _) = folder();
    // A record of which only the beginning is there.
    let log = whole.path().join("pets.serve/3.log");
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, [&bytes[..], &[0; 7]].concat()).unwrap();
    fs::write(whole.path().join("my model.model"), pets()).unwrap();
    let notes = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&notes);
    let bench = Bench::at(whole.path(), |config| {
        config.journal =
            rosenblatt_server::Journal::new(move |note| kept.lock().unwrap().push(note.text.to_owned()));
    });
    let has = |word: &str| notes.lock().unwrap().iter().any(|line| line.contains(word));
    assert!(has("was cut off"), "{notes:?}");
    assert!(has("rename the file"), "{notes:?}");
    assert_eq!(bench.get("/readyz").status, 503);
    assert!(bench.get("/metrics").ok().text().contains("\nrosenblatt_not_served 1\n"));
    // A replacement that cannot be read leaves the version before it served, and is noted once.
    fs::write(whole.path().join("pets.model"), "no model").unwrap();
    crate::api::soon("it is noted", || has("its file cannot be taken in"));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(notes.lock().unwrap().iter().filter(|line| line.contains("taken in")).count(), 2, "{notes:?}");
    bench.json("/v1/models/pets/predict", "[[1, 2]]").ok();
    let ready = bench.get("/readyz").value();
    let reason = ready["unread"]["pets"].as_str().unwrap();
    assert!(reason.contains("`pets.model` cannot be served") && reason.contains("a good file"), "{reason}");
    assert!(bench.get("/metrics").ok().text().contains("\nrosenblatt_unread 1\n"));
    // A model whose file goes away is noted once, too.
    fs::remove_file(whole.path().join("pets.model")).unwrap();
    crate::api::soon("it is noted", || has("`pets.model` is gone from the folder"));
    assert!(bench.get("/metrics").ok().text().contains("\nrosenblatt_unread 0\n"));
    // What it learned is named at every start until its file is back or that is deleted, too.
    drop(bench);
    let kept = Arc::clone(&notes);
    let _bench = Bench::at(whole.path(), |config| {
        config.journal =
            rosenblatt_server::Journal::new(move |note| kept.lock().unwrap().push(note.text.to_owned()));
    });
    assert!(has("put it back, or delete `pets.serve`"), "{notes:?}");
}

#[test]
fn a_model_that_is_not_served_is_noted_with_its_files_and_the_cure() {
    let (whole, _) = folder();
    fs::write(whole.path().join("pets.serve/3.snapshot"), "no snapshot").unwrap();
    let notes = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&notes);
    let bench = Bench::at(whole.path(), |config| {
        config.journal =
            rosenblatt_server::Journal::new(move |note| kept.lock().unwrap().push_str(note.text));
    });
    let folder = whole.path().display().to_string();
    for expected in ["`pets.serve/3.snapshot`, the snapshot, does not match", "put the files back", &folder] {
        assert!(notes.lock().unwrap().contains(expected), "{expected}: {notes:?}");
    }
    // A client does not read where the folder is.
    let refused = bench.json("/v1/models/pets/predict", "[[1, 2]]").text();
    assert!(refused.contains("pets.serve/3.snapshot") && !refused.contains(&folder), "{refused}");
}
