//! What was acknowledged stays learned: over restarts, snapshots and torn logs; and damage is named, never guessed away.

use crate::api::soon;
use crate::bench::{Bench, ask, pets};
use rosenblatt::data::{ReadOptions, Source};
use rosenblatt::{Model, Recipe};
use std::fs;
use std::path::Path;

fn row(number: usize) -> String {
    let class = ["cat", "bird", "fish", "ant"][number * 7 % 5 % 4];
    format!("{},{},{class}", number % 5, (number * 31 % 17) as f64 / 4.0)
}

fn learn(bench: &Bench, rows: std::ops::Range<usize>) {
    for number in rows {
        let key = format!("row-{number}");
        let headers = [("content-type", "text/csv"), ("idempotency-key", key.as_str())];
        let body = format!("legs,weight,label\n{}\n", row(number));
        ask(bench.address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes()).ok();
    }
}

fn offline(n_rows: usize) -> Vec<u8> {
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    let recipe = Recipe {
        online: true,
        reading: ReadOptions { grow_classes: true, ..ReadOptions::default() },
        start: Some(Model::from_bytes(&pets()).unwrap().into()),
        ..Recipe::default()
    };
    let text = format!("legs,weight,label\n{}\n", rows.join("\n"));
    recipe.train(&Source::bytes("all.csv", text.into_bytes()), &mut ()).unwrap().model.to_bytes()
}

fn log(folder: &Path) -> std::path::PathBuf {
    folder.join("pets.serve/1.log")
}

#[test]
fn restarts_and_snapshots_leave_no_trace() {
    let mut bench = Bench::with(&[("pets", pets())], |config| config.snapshot_rows = 7);
    learn(&bench, 0..20);
    assert!(bench.folder.join("pets.serve/1.snapshot").exists());
    bench.stop();
    let mut bench = Bench::at(&bench.folder.clone(), |config| config.snapshot_rows = 1000);
    assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], 20);
    // Keys are remembered across restarts and snapshots, and teach nothing again.
    learn(&bench, 0..30);
    assert!(bench.get("/v1/models/pets/file").ok().body == offline(30));
    bench.stop();
    let bench = Bench::at(&bench.folder.clone(), |_| {});
    assert!(bench.get("/v1/models/pets/file").ok().body == offline(30));
}

#[test]
fn a_torn_record_is_taken_away_and_a_flipped_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.model"), pets()).unwrap();
    let acknowledged = folder.path().join("pets.serve/1.acknowledged");
    let (nine, whole, ten) = {
        // Copies as a killed process leaves them.
        let bench = Bench::at(folder.path(), |_| {});
        learn(&bench, 0..9);
        let nine = (fs::read(log(folder.path())).unwrap().len(), fs::read(&acknowledged).unwrap());
        learn(&bench, 9..10);
        (nine, fs::read(log(folder.path())).unwrap(), fs::read(&acknowledged).unwrap())
    };
    let lists =
        ["manifest.json", "manifest.copy.json"].map(|name| folder.path().join("pets.serve").join(name));
    let list = fs::read(&lists[0]).unwrap();
    let begin_with = |bytes: &[u8], number: &[u8]| {
        let _ = fs::remove_file(folder.path().join("pets.serve/1.snapshot"));
        for path in &lists {
            fs::write(path, &list).unwrap();
        }
        fs::write(log(folder.path()), bytes).unwrap();
        fs::write(&acknowledged, number).unwrap();
        Bench::at(folder.path(), |_| {})
    };
    let begin = |bytes: &[u8]| begin_with(bytes, &ten);
    // Wherever it is cut, at the end of a record, too: rows that were acknowledged are never lost in silence.
    for end in [nine.0, whole.len() - 5, whole.len() / 2] {
        let bench = begin(&whole[..end]);
        let answer = bench.json("/v1/models/pets/predict", "[[1, 2]]");
        assert_eq!((answer.status, answer.code().as_str()), (503, "damaged"), "{end}: {}", answer.text());
        assert!(answer.text().contains("the end of `pets.serve/1.log` is missing"), "{}", answer.text());
        assert_eq!(fs::read(log(folder.path())).unwrap(), whole[..end], "nothing is mended in silence");
    }
    let bench = begin_with(&whole[..whole.len() - 5], &nine.1);
    assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], 9);
    learn(&bench, 0..10);
    assert!(
        bench.get("/v1/models/pets/file").ok().body == offline(10),
        "the torn one is learned when it comes again"
    );
    drop(bench);
    for at in [3, 25, whole.len() / 2, whole.len() - 2] {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        let bench = begin(&flipped);
        let answer = bench.json("/v1/models/pets/predict", "[[1, 2]]");
        assert_eq!((answer.status, answer.code().as_str()), (503, "damaged"), "byte {at}: {}", answer.text());
        assert!(answer.text().contains("the log is damaged at byte"), "{}", answer.text());
        assert_eq!(bench.get("/readyz").status, 503);
        assert_eq!(fs::read(log(folder.path())).unwrap(), flipped, "nothing is mended in silence");
        // The message names the way out, which works.
        bench.json("/v1/models/pets/versions", "{\"of\": 1}").ok();
        bench.json("/v1/models/pets/predict", "[[1, 2]]").ok();
    }
    // A log that ends before its snapshot begins has lost examples.
    let bench = begin(&whole);
    learn(&bench, 10..12);
    drop(bench);
    assert!(folder.path().join("pets.serve/1.snapshot").exists());
    fs::write(log(folder.path()), &whole[..100]).unwrap();
    let bench = Bench::at(folder.path(), |_| {});
    assert_eq!(bench.json("/v1/models/pets/predict", "[[1, 2]]").code(), "damaged");
}

#[test]
fn a_full_log_refuses_to_learn_and_goes_on_predicting() {
    let bench = Bench::with(&[("pets", pets())], |config| config.limits.disk_bytes = 1000);
    let mut n_learned = 0;
    let refused = loop {
        let body = format!("legs,weight,label\n{}\n", row(n_learned));
        let answer = bench.post("/v1/models/pets/learn", "text/csv", body);
        if answer.status != 200 {
            break answer;
        }
        n_learned += 1;
    };
    assert_eq!((refused.status, refused.code().as_str()), (507, "full"));
    assert!(n_learned > 3);
    let page = bench.get("/metrics").ok().text();
    assert!(page.contains("rosenblatt_problems_total{deed=\"learn\",code=\"full\"} 1\n"), "{page}");
    bench.json("/v1/models/pets/predict", "[[1, 2]]").ok();
    assert!(bench.get("/v1/models/pets/file").ok().body == offline(n_learned));
}

#[test]
fn everything_that_was_acknowledged_is_there_after_many_clients_at_once() {
    let mut bench = Bench::new(&[("pets", pets())]);
    let address = bench.address;
    let clients: Vec<_> = (0..8)
        .map(|client| {
            std::thread::spawn(move || {
                let mut places = Vec::new();
                for turn in 0..20 {
                    let body = format!("legs,weight,label\n{}\n", row(client * 100 + turn));
                    let answer = ask(
                        address,
                        "POST",
                        "/v1/models/pets/learn",
                        &[("content-type", "text/csv")],
                        body.as_bytes(),
                    );
                    places.push((answer.ok().value()["learned"].as_u64().unwrap(), row(client * 100 + turn)));
                }
                places
            })
        })
        .collect();
    let mut places: Vec<(u64, String)> =
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    places.sort();
    assert!(
        places.iter().zip(1..).all(|((place, _), expected)| *place == expected),
        "each has a place of its own"
    );
    let recipe = Recipe {
        online: true,
        reading: ReadOptions { grow_classes: true, ..ReadOptions::default() },
        start: Some(Model::from_bytes(&pets()).unwrap().into()),
        ..Recipe::default()
    };
    let rows: Vec<&str> = places.iter().map(|(_, row)| row.as_str()).collect();
    let text = format!("legs,weight,label\n{}\n", rows.join("\n"));
    let offline =
        recipe.train(&Source::bytes("all.csv", text.into_bytes()), &mut ()).unwrap().model.to_bytes();
    assert!(bench.get("/v1/models/pets/file").ok().body == offline);
    soon("all are published", || bench.get("/v1/models/pets/evaluate").ok().value()["learned"] == 160);
    bench.stop();
    let bench = Bench::at(&bench.folder.clone(), |_| {});
    assert!(bench.get("/v1/models/pets/file").ok().body == offline);
}
