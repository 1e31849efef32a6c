//! What a person looks at is true: figures are of rows that were not learned from, races and columns are ranked by what they
//! are compared by, and what cannot be learned is refused.

use crate::bench::Bench;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

/// Two classes that overlap, a column that decides, one that helps, one that says nothing, and a rare category.
fn noisy(n_rows: u64) -> String {
    let mut text = "noise,rare,fair,good,kind\n".to_owned();
    let mut state = 7_u64;
    let mut unit = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1_u32 << 24)
    };
    for row in 0..n_rows {
        let (noise, fair, good) = (1000.0 * unit(), unit(), unit());
        let kind = if good + 0.5 * fair + 0.6 * unit() > 1.05 { "yes" } else { "no" };
        let rare = if row % 97 == 5 { "odd" } else { ["red", "blue"][(row % 2) as usize] };
        let _ = writeln!(text, "{noise:.3},{rare},{fair:.3},{good:.3},{kind}");
    }
    text
}

fn json(bench: &Bench, line: &str) -> Value {
    serde_json::from_str(&bench.ok(line)).unwrap()
}

#[test]
fn figures_of_the_training_file_are_of_rows_not_learned_from() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(240));
    for (flags, n_rows) in [("", 240), ("--holdout 0.25", 60), ("-a perceptron --holdout 0.25", 60)] {
        let trained = json(&bench, &format!("rosenblatt train t.csv {flags} --model t.model --json"));
        assert_eq!(trained["training-summary"]["rows"], 240, "{flags}: the model learns from all rows");
        let told = json(&bench, "rosenblatt report t.csv --model t.model --json");
        assert_eq!(told["judged-on"], "held-out rows", "{flags}");
        assert_eq!(told["evaluation"]["confusion"], trained["held-out"]["confusion"], "{flags}");
        assert!(told["evaluation"]["errors"].as_u64().unwrap() > 0, "{flags}");
        let page = fs::read_to_string(bench.path("t.html")).unwrap();
        assert!(page.contains("<details><summary>The rows it learned from"), "{flags}");
        for kind in ["roc", "precision-recall", "reliability", "confusion", "margins"] {
            let drawn = json(&bench, &format!("rosenblatt plot {kind} t.csv --model t.model --json"));
            let notes = drawn["notes"].to_string();
            assert!(notes.contains(&format!("{n_rows} held-out rows")), "{kind} {flags}: {notes}");
            let drawn =
                json(&bench, &format!("rosenblatt plot {kind} t.csv --model t.model --training-rows --json"));
            assert!(drawn["notes"].to_string().contains("240 training rows"), "{kind} {flags}");
        }
        let told = json(&bench, "rosenblatt report t.csv --model t.model --training-rows --json");
        assert_eq!(told["judged-on"], "training rows", "{flags}");
    }
    bench.write("other.csv", noisy(300));
    let told = json(&bench, "rosenblatt report other.csv --model t.model --json");
    assert_eq!(
        (told["judged-on"].as_str(), told["evaluation"]["rows"].as_u64()),
        (Some("other rows"), Some(300))
    );
    bench.ok("rosenblatt train t.csv --no-held-out-scores --model bare.model");
    let told = json(&bench, "rosenblatt report t.csv --model bare.model --json");
    assert_eq!(told["judged-on"], "training rows");
}

#[test]
fn the_headline_hangs_less_on_the_seed() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(300));
    let spread = |flags: &str| {
        let errors: Vec<f64> = (0..5)
            .map(|seed| {
                let line = format!(
                    "rosenblatt train t.csv -a perceptron {flags} --seed {seed} --model t.model --json"
                );
                json(&bench, &line)["held-out"]["error"].as_f64().unwrap()
            })
            .collect();
        errors.iter().copied().fold(0.0, f64::max) - errors.iter().copied().fold(1.0, f64::min)
    };
    let (usual, split) = (spread(""), spread("--holdout 0.2"));
    assert!(usual * 2.0 <= split, "{usual} {split}");
    let kept =
        json(&bench, "rosenblatt train t.csv -a perceptron --holdout 0.2 --no-refit --model t.model --json");
    assert_eq!(kept["training-summary"]["rows"], 240);
    assert_eq!(kept["training-summary"]["estimate"]["refitted"], false);
}

#[test]
fn a_race_is_sorted_by_what_is_compared() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(500));
    let told = bench.ok("rosenblatt train t.csv --model t.model");
    let race: Vec<&str> = told
        .lines()
        .skip_while(|line| !line.starts_with("race of "))
        .take_while(|line| !line.is_empty())
        .collect();
    let rows: Vec<Vec<&str>> = race
        .iter()
        .filter(|line| line.starts_with("  "))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let losses: Vec<f64> = rows.iter().filter_map(|row| row.last()?.parse().ok()).collect();
    assert!(losses.len() >= 2 && losses.is_sorted(), "{told}");
    assert!(race.iter().any(|line| line.contains("least loss")), "{told}");
    let raced = json(&bench, "rosenblatt train t.csv --model t.model --json");
    let entrants = raced["race"]["entrants"].as_array().unwrap();
    for entrant in entrants {
        assert_eq!(entrant["compared"].is_null(), !entrant["left"].is_null(), "{entrant}");
    }
}

#[test]
fn columns_rank_by_what_is_lost_without_them() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(400));
    let trained = json(&bench, "rosenblatt train t.csv --model t.model --json");
    let columns = trained["importance"]["columns"].as_array().unwrap();
    let order: Vec<&str> = columns.iter().map(|column| column["column"].as_str().unwrap()).collect();
    assert_eq!(order[..2], ["good", "fair"]);
    let low = |column: &Value| column["interval"][0].as_f64().unwrap();
    assert!(low(&columns[0]) > 0.0 && low(&columns[2]) <= 0.0, "{columns:?}");
    let told = bench.ok("rosenblatt inspect t.model");
    let listed = told.split("columns that matter").nth(1).unwrap();
    assert!(listed.find("good").unwrap() < listed.find("fair").unwrap(), "{told}");
    assert!(listed.contains("no loss without ") && listed.contains("noise"), "{told}");
    assert_eq!(json(&bench, "rosenblatt inspect t.model --json")["importance"], trained["importance"]);
    let shapes = bench.run("rosenblatt plot shapes --model t.model");
    assert!(shapes.stderr.contains("`rosenblatt plot shapes FILE --model t.model`"), "{}", shapes.stderr);
    bench.ok("rosenblatt report t.csv --model t.model");
    assert!(fs::read_to_string(bench.path("t.html")).unwrap().contains("Columns that matter"));
}

#[test]
fn a_quantity_is_predicted_as_a_number() {
    let bench = Bench::new();
    let row = |row: u32| format!("{},{},{}.{}\n", row * 31 % 89, row % 7, row * 17 % 1000, row % 10);
    bench.write("prices.csv", format!("a,b,price\n{}", (0..400).map(row).collect::<String>()));
    // A label without a name is asked for.
    let refused = bench.run("rosenblatt train prices.csv --model p.model");
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    let words = ["price", "quantity", "name it with --label to predict it as a number"];
    assert!(words.iter().all(|word| refused.stderr.contains(word)), "{}", refused.stderr);
    assert!(!bench.path("p.model").exists());
    let report = bench.ok("rosenblatt train prices.csv --label price --model p.model");
    assert!(report.contains("`price` is a quantity") && report.contains("mean squared error"), "{report}");
    bench.ok("rosenblatt train prices.csv --label b --model p.model");
}

#[test]
fn slips_of_the_first_hour_are_answered() {
    let bench = Bench::new();
    bench.write("pets.csv", noisy(60).replace("kind", "species"));
    bench.ok("rosenblatt train pets.csv --model pets.model");
    bench.write(
        "dots.csv",
        noisy(60).replace("kind", "species").replace("yes", "yes.").replace(",no\n", ",no.\n"),
    );
    for (line, words) in [
        ("train pets.csv --label Specees", "did you mean `species`?"),
        ("train pets.cvs", "did you mean `pets.csv`?"),
        ("train https://example.org/pets.csv", "download it first"),
        ("train pets.csv --holdout 20", "did you mean 0.2?"),
        ("train pets.csv --holdout 20%", "did you mean 0.2?"),
        ("train pets.csv --delimiter ';'", "leave --delimiter out"),
        ("evaluate dots.csv --model pets.model", "differ by a stop"),
    ] {
        let refused = bench.run(&format!("rosenblatt {line}"));
        assert_ne!(refused.code, Some(0), "{line}");
        assert!(refused.stderr.contains(words), "{line}: {}", refused.stderr);
    }
    let told = bench.ok("rosenblatt train pets.csv --ignore noise,rare --model few.model --json");
    assert!(told.contains("\"features\":2"), "{told}");
    for (name, text) in
        [("inbox/ham/1", "see you soon"), ("inbox/ham/2", "lunch at noon"), ("inbox/spam/1", "win cash")]
    {
        let path = bench.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let told = bench.ok("rosenblatt train inbox --holdout 0 -a perceptron --model inbox.model");
    assert!(told.contains("every folder is taken for a class: `ham`, `spam`"), "{told}");
}

/// What is drawn of a file is what `train` makes of it.
#[test]
fn a_plot_of_a_file_is_of_the_model_that_train_makes() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(200));
    let trained = json(&bench, "rosenblatt train t.csv --model t.model --json");
    let drawn = json(&bench, "rosenblatt plot confusion t.csv --json");
    let wanted = format!("{} mistakes in 200 held-out rows", trained["held-out"]["errors"]);
    assert!(drawn["notes"].to_string().contains(&wanted), "{wanted}: {}", drawn["notes"]);
    let said = bench.run("rosenblatt plot margins t.csv -o m.svg");
    assert!(said.stderr.contains("draw its model with --model"), "{}", said.stderr);
}
