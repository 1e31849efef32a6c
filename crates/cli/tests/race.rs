//! What the default of `train` promises at the command line: the winner can be trained without the race, a race that
//! was killed or stopped loses nothing, and the result on held-out rows stays with the model.

use crate::bench::Bench;
use rosenblatt::learning::Takes;
use std::fmt::Write as _;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Six classes that no hyperplane tells apart, so that a race has something to do.
fn table(n_rows: u64) -> String {
    let mut text = "a,b,c,d,kind\n".to_owned();
    for row in 0..n_rows {
        let digit = |factor: u64| row.wrapping_mul(factor).wrapping_mul(row + 7) / 64 % 97;
        let (a, b, c, d) = (digit(31), digit(57), digit(91), digit(13));
        let _ = writeln!(text, "{a},{b},{c},{d},k{}", (a * 3 + b * 2 + c * d / 97) / 61 % 6);
    }
    text
}

fn start(bench: &Bench, words: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rosenblatt"))
        .args(words.split_whitespace())
        .current_dir(bench.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// An option counts once it is typed, even if it says what the default is.
#[test]
fn a_default_that_is_typed_is_trained_and_ends_the_race() {
    let bench = Bench::new();
    let trained = |words: &str| {
        let text = bench
            .ok(&format!("rosenblatt train crates/data/bundled/iris.csv --json --model typed.model {words}"));
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let inspected = bench.ok("rosenblatt inspect typed.model --json");
        let inspected: serde_json::Value = serde_json::from_str(&inspected).unwrap();
        (!report["race"].is_null(), inspected["spec"].clone())
    };
    assert!(trained("").0);
    assert!(trained("--seed 0").0, "candidates share the seed");
    for epochs in [20, 21] {
        let (is_raced, options) = trained(&format!("--epochs {epochs}"));
        assert!(!is_raced, "{epochs}");
        assert_eq!((&options["algorithm"], &options["epochs"]), (&"perceptron".into(), &epochs.into()));
    }
}

/// What does nothing where rows are learned online is refused by the name it is typed under.
#[test]
fn every_option_without_effect_online_conflicts_with_it() {
    let bench = Bench::new();
    bench.write("t.csv", "a,label\n1,x\n-1,y\n2,x\n-2,y\n");
    let mut n_flags = 0;
    for option in rosenblatt::catalogue().options.iter().flat_map(|group| &group.options) {
        let Some(setting) = option.flag.and_then(rosenblatt::catalogue::setting) else { continue };
        if setting.idle_online.is_empty() {
            continue;
        }
        let flag = setting.flag.unwrap();
        let is_bare = setting.means.is_some();
        let value = match setting.takes {
            _ if is_bare => "",
            Takes::Choice(_) => setting.choices[0].example,
            Takes::Switch => "yes",
            Takes::ByClass => "x=2",
            _ => "3",
        };
        let done = bench.run(&format!("rosenblatt train t.csv --online --{flag} {value}"));
        assert_eq!(done.code, Some(2), "{flag} {}", done.all());
        assert!(
            done.stderr.contains(&format!("--{flag}")) && done.stderr.contains("--online"),
            "{}",
            done.stderr
        );
        n_flags += 1;
    }
    assert!(n_flags > 9, "{n_flags}");
}

#[test]
fn the_command_of_the_winner_trains_the_same_weights() {
    let bench = Bench::new();
    bench.write("six.csv", table(900));
    bench.ok("rosenblatt convert six.csv six.svm --label kind");
    let bundled = "crates/data/bundled";
    for file in [
        "six.csv --label kind",
        "six.svm",
        "six.svm --scale standard",
        "six.svm --scale max-abs",
        &format!("{bundled}/iris.csv"),
        &format!("{bundled}/banknote.csv --calibrate isotonic"),
        &format!("{bundled}/penguins.csv --label species --missing mean"),
        &format!("{bundled}/sms-spam.tsv"),
    ] {
        the_same_weights(&bench, file);
    }
}

/// A table of numbers in every format, scaled in every way.
#[test]
fn the_command_of_the_winner_trains_the_same_weights_of_every_format_and_scale() {
    let bench = Bench::new();
    bench.write("t.csv", table(100));
    for format in ["jsonl", "svm", "vw", "npz", "parquet", "arrow"] {
        bench.ok(&format!("rosenblatt convert t.csv t.{format} --label kind"));
    }
    for (format, label) in [
        ("csv", "--label kind"),
        ("jsonl", ""),
        ("svm", ""),
        ("vw", ""),
        ("npz", ""),
        ("parquet", ""),
        ("arrow", ""),
    ] {
        for scale in ["auto", "none", "standard", "min-max", "max-abs", "unit-norm"] {
            the_same_weights(&bench, &format!("t.{format} {label} --scale {scale} --shape line"));
        }
    }
}

/// Trains with a race, and with the command that it prints.
fn the_same_weights(bench: &Bench, file: &str) {
    let printed = bench.ok(&format!("rosenblatt train {file} --model raced.model"));
    let lines: Vec<&str> = printed.lines().collect();
    let race = lines.iter().position(|line| line.starts_with("race of ")).unwrap();
    let length = lines[race..].iter().take_while(|line| !line.is_empty()).count();
    assert!((3..=9).contains(&length), "a race in a few lines:\n{printed}");
    let command =
        printed.split("to train the winner without the race: ").nth(1).unwrap().lines().next().unwrap();
    assert!(!command.contains("auto"), "{command}");
    bench.ok(&command.replace("raced.model", "alone.model"));
    let [raced, alone] =
        ["raced.model", "alone.model"].map(|name| rosenblatt::Model::load(bench.path(name)).unwrap());
    assert!(raced.kept() == alone.kept(), "{command}");
}

#[test]
fn a_race_that_was_killed_starts_again_and_ends_in_the_same_bytes() {
    let bench = Bench::new();
    bench.write("six.csv", table(6000));
    let train = "train six.csv --label kind --quiet";
    let begun = Instant::now();
    bench.ok(&format!("rosenblatt {train} --model whole.model"));
    let whole_time = begun.elapsed();
    let whole = fs::read(bench.path("whole.model")).unwrap();
    for part in [0.1, 0.3, 0.5] {
        let mut child = start(&bench, &format!("{train} --model killed.model"));
        sleep(whole_time.mul_f64(part));
        let was_running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(was_running && !bench.path("killed.model").exists(), "it was killed too late");
        bench.ok(&format!("rosenblatt {train} --model killed.model --resume"));
        assert!(fs::read(bench.path("killed.model")).unwrap() == whole, "killed after {part}");
        fs::remove_file(bench.path("killed.model")).unwrap();
    }
}

#[test]
fn a_signal_in_a_race_is_answered_at_once() {
    let bench = Bench::new();
    bench.write("six.csv", table(30_000));
    let mut child = start(&bench, "train six.csv --label kind --model six.model");
    sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it was over too soon");
    let asked = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // A second is the promise; a busy machine gets more.
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert!(!bench.path("six.model").exists());
}

#[test]
fn what_held_out_rows_said_stays_with_the_model() {
    let bench = Bench::new();
    let file = "crates/data/bundled/banknote.csv";
    let line = |text: &str, head: &str| -> String {
        let found = text.lines().find(|line| line.starts_with(head));
        found.unwrap_or_else(|| panic!("no `{head}` in\n{text}")).to_owned()
    };
    for (flags, head, how) in [
        ("", "cross-validated error: ", "over 5 folds"),
        ("--folds 3", "cross-validated error: ", "over 3 folds"),
        ("--holdout 0.2", "held-out error: ", "the model itself learned from all rows"),
        ("-a perceptron --holdout 0.2 --no-refit", "held-out error: ", "on rows that it did not learn from"),
    ] {
        let trained = bench.ok(&format!("rosenblatt train {file} {flags} --model m.model"));
        let inspected = bench.ok("rosenblatt inspect m.model");
        assert_eq!(line(&inspected, head), line(&trained, head), "{flags}");
        assert!(inspected.contains(how), "{inspected}");
        let reported = bench.ok(&format!("rosenblatt report {file} --model m.model"));
        assert_eq!(line(&reported, head), line(&trained, head), "{flags}");
    }
    let printed = bench.ok(&format!("rosenblatt report {file} --model m.model --json"));
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["estimate"]["refitted"], false);
    assert_eq!(printed["estimate"]["rows"], printed["evaluation"]["rows"]);
}

#[test]
fn options_of_a_kernel_or_a_network_go_with_a_race() {
    let bench = Bench::new();
    let iris = "crates/data/bundled/iris.csv";
    let tuned = bench.run(&format!("rosenblatt tune {iris} --kernel rbf --epochs 3 --model k.model"));
    assert_eq!(tuned.code, Some(0), "{}", tuned.all());
    assert!(tuned.all().contains("not in the race, as these options exclude them: arow"), "{}", tuned.all());
    assert!(tuned.all().contains("race of 3 candidates"), "{}", tuned.all());
    let of_named =
        bench.run(&format!("rosenblatt tune {iris} --kernel rbf --algorithms arow --model k.model"));
    assert!(of_named.code == Some(2) && of_named.stderr.contains("with a kernel"), "{}", of_named.all());
    let words = "--algorithms perceptron,mlp --hidden 7 --epochs 3 --model n.model";
    let tuned = bench.run(&format!("rosenblatt tune {iris} {words}"));
    assert!(tuned.code == Some(0) && tuned.all().contains("race of 2 candidates"), "{}", tuned.all());
}
