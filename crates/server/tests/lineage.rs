//! Versions change between two examples, never amid them: what was acknowledged is on top of exactly one version, and a
//! request that is sent again teaches once, whichever version meets it.

use crate::bench::{Answer, Bench, ask, pets};
use rosenblatt::data::{ReadOptions, Source};
use rosenblatt::{Model, Recipe};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn row(number: usize) -> String {
    let class = ["cat", "bird", "fish", "ant"][number * 7 % 5 % 4];
    format!("{},{},{class}", number % 5, (number * 31 % 17) as f64 / 4.0)
}

fn learn(bench: &Bench, number: usize) -> Answer {
    let key = format!("row-{number}");
    let headers = [("content-type", "text/csv"), ("idempotency-key", key.as_str())];
    let body = format!("legs,weight,label\n{}\n", row(number));
    ask(bench.address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes())
}

/// The model of `base` and these rows, by `train --online`.
pub(crate) fn offline(base: &[u8], rows: &[String]) -> Vec<u8> {
    let recipe = Recipe {
        online: true,
        reading: ReadOptions { grow_classes: true, ..ReadOptions::default() },
        start: Some(Model::from_bytes(base).unwrap().into()),
        ..Recipe::default()
    };
    let text = format!("legs,weight,label\n{}\n", rows.join("\n"));
    recipe.train(&Source::bytes("all.csv", text.into_bytes()), &mut ()).unwrap().model.to_bytes()
}

#[test]
fn every_acknowledged_example_is_on_top_of_exactly_one_version() {
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.snapshot_rows = 20;
        config.limits.versions = 100;
    });
    let bench = Arc::new(bench);
    let is_over = Arc::new(AtomicBool::new(false));
    let n_learned = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..6)
        .map(|client| {
            let (bench, is_over) = (Arc::clone(&bench), Arc::clone(&is_over));
            let n_learned = Arc::clone(&n_learned);
            std::thread::spawn(move || {
                let mut places = Vec::new();
                for turn in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        return places;
                    }
                    let number = client * 10_000 + turn;
                    let answer = learn(&bench, number).ok().value();
                    assert_eq!(answer["repeated"], false, "{answer}");
                    let [version, place] = ["version", "learned"].map(|name| answer[name].as_u64().unwrap());
                    places.push((version, place, number));
                    n_learned.fetch_add(1, Ordering::SeqCst);
                }
                places
            })
        })
        .collect();
    for turn in 0..12_u64 {
        crate::api::soon("more is learned", || {
            let here = bench.get("/v1/models/pets/evaluate").ok().value()["learned"].as_u64();
            n_learned.load(Ordering::SeqCst) > 8 * turn && here > Some(0)
        });
        let made = match turn % 4 {
            3 => bench.json("/v1/models/pets/versions", &format!("{{\"of\": {}}}", turn / 2)),
            2 => ask(bench.address, "PUT", "/v1/models/pets", &[], &offline(&pets(), &[row(turn as usize)])),
            _ => bench.json("/v1/models/pets/versions", ""),
        };
        assert_eq!(made.ok().value()["version"], turn + 2);
    }
    is_over.store(true, Ordering::SeqCst);
    let mut versions: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
    for client in clients {
        for (version, place, number) in client.join().unwrap() {
            versions.entry(version).or_default().push((place, number));
        }
    }
    let all = bench.get("/v1/models/pets/versions").ok().value();
    let (mut n_kept, mut n_rows) = (0, 0);
    for entry in all["versions"].as_array().unwrap() {
        let number = entry["version"].as_u64().unwrap();
        let file = bench.get(&format!("/v1/models/pets/versions/{number}/file")).ok().body;
        let Some(before) = entry["origin"].as_str().unwrap().strip_prefix("learned on top of version ")
        else {
            continue;
        };
        let base = bench.get(&format!("/v1/models/pets/versions/{before}/file")).ok().body;
        let mut rows = versions.get(&before.parse().unwrap()).cloned().unwrap_or_default();
        rows.sort_unstable();
        let places: Vec<u64> = rows.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, (1..=rows.len() as u64).collect::<Vec<_>>(), "version {before}");
        let rows: Vec<String> = rows.iter().map(|(_, number)| row(*number)).collect();
        if !rows.is_empty() {
            assert!(
                file == offline(&base, &rows),
                "version {number} is {before} and its {} rows",
                rows.len()
            );
        }
        (n_kept, n_rows) = (n_kept + 1, n_rows + rows.len());
    }
    assert!(n_kept == 6 && n_rows > 20, "{n_kept} versions were kept, of {n_rows} rows");
}

#[test]
fn a_key_is_remembered_by_the_versions_that_follow() {
    let mut bench = Bench::new(&[("pets", pets())]);
    learn(&bench, 0).ok();
    let first = learn(&bench, 1).ok().value();
    let again = |bench: &Bench, what: &str| {
        let answer = learn(bench, 1).ok().value();
        assert_eq!(answer["repeated"], true, "{what}: {answer}");
        for name in ["version", "learned", "errors", "new-classes"] {
            assert_eq!(answer[name], first[name], "{what}: {answer}");
        }
        assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], 0, "{what}");
    };
    bench.json("/v1/models/pets/versions", "").ok();
    again(&bench, "kept");
    bench.stop();
    let mut bench = Bench::at(&bench.folder.clone(), |_| {});
    again(&bench, "kept, after a restart");
    bench.json("/v1/models/pets/versions", "{\"of\": 1}").ok();
    again(&bench, "gone back");
    ask(bench.address, "PUT", "/v1/models/pets", &[], &offline(&pets(), &[row(7)])).ok();
    again(&bench, "replaced");
    bench.stop();
    // Replaced while no server ran.
    std::fs::write(bench.folder.join("pets.model"), offline(&pets(), &[row(8)])).unwrap();
    let bench = Bench::at(&bench.folder.clone(), |_| {});
    assert_eq!(bench.get("/v1/models/pets").ok().value()["version"], 5);
    again(&bench, "replaced, after a restart");
    // Another body under the same key is refused, across versions, too.
    let headers = [("content-type", "text/csv"), ("idempotency-key", "row-1")];
    let other =
        ask(bench.address, "POST", "/v1/models/pets/learn", &headers, b"legs,weight,label\n1,1,cat\n");
    assert_eq!((other.status, other.code().as_str()), (409, "key-reused"));
    assert_eq!(learn(&bench, 2).ok().value()["learned"], 1);
}

#[test]
fn a_model_that_goes_away_and_comes_back_has_one_writer() {
    let bench = Bench::new(&[("pets", pets())]);
    learn(&bench, 0).ok();
    for turn in 1..4 {
        std::fs::rename(bench.folder.join("pets.model"), bench.folder.join("pets.away")).unwrap();
        crate::api::soon("it is gone", || bench.get("/v1/models/pets").status == 404);
        std::fs::rename(bench.folder.join("pets.away"), bench.folder.join("pets.model")).unwrap();
        crate::api::soon("it is back", || bench.get("/v1/models/pets").status == 200);
        assert_eq!(learn(&bench, turn).ok().value()["learned"], turn as u64 + 1);
        assert_eq!(learn(&bench, turn - 1).ok().value()["repeated"], true);
    }
    let rows: Vec<String> = (0..4).map(row).collect();
    assert!(bench.get("/v1/models/pets/file").ok().body == offline(&pets(), &rows));
}
