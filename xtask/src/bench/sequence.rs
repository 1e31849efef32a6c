//! `cargo xtask bench sequence --train FILE --test FILE --template FILE`: a tagger beside `CRFsuite`.
//!
//! Files of columns, a template of CRF++, ten epochs, taking turns: processor seconds and peak memory from the file to the
//! saved model, F1 (or accuracy) on the test file, tokens a second from text to text on one core and on two, and what the
//! ready-made attributes give. Options: `--repeats N`, `--seeds N`, `--epochs N`, `--no-peers`, `--python PATH`. The outcome
//! is a folder below `bench/runs`.

use super::measure::{Taken, measured};
use super::tools::{after, build, cores, load, number, output_of, python, today, told, versions};
use crate::say;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const FOLDER: &str = "target/bench-data/sequence";
const OURS: &str = "target/release/rosenblatt";
const MOST: Duration = Duration::from_secs(900);
const PEERS: [&str; 3] = ["ap", "pa", "lbfgs"];
/// The test sentences are tagged so many times over, that starting does not count.
const COPIES: usize = 20;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let file = |word: &str| {
        let found = after(words, word).ok_or(format!("{word} FILE is missing"))?;
        fs::canonicalize(found).map_err(told("finding a file"))
    };
    let (train, test, template) = (file("--train")?, file("--test")?, file("--template")?);
    let (n_repeats, n_seeds) = (number(words, "--repeats", 3_usize)?, number(words, "--seeds", 5_usize)?);
    let epochs: usize = number(words, "--epochs", 10)?;
    build(&["--package", "rosenblatt-cli"])?;
    fs::create_dir_all(FOLDER).map_err(told("making a folder"))?;
    let folder = Path::new(FOLDER);
    let mut lines = String::from(
        "| who | processor s, file to model | wall s | peak MiB | tokens/s, text to text | F1 |\n|---|---|---|---|---|---|\n",
    );
    let text = |path: &Path| path.display().to_string();
    let model = text(&folder.join("tags.model"));
    let ours = |features: &str, seed: usize| -> Result<(Taken, f64), String> {
        let command = [
            OURS,
            "train",
            &text(&train),
            "--features",
            features,
            "--format",
            "columns",
            "--epochs",
            &epochs.to_string(),
            "--seed",
            &seed.to_string(),
            "--model",
            &model,
            "--quiet",
        ];
        let taken = measured(&command.map(str::to_owned), folder, Some(1), MOST)?.taken;
        let command = [OURS, "evaluate", &text(&test), "--format", "columns", "--model", &model, "--json"];
        let told = output_of(Command::new(command[0]).args(&command[1..]))?;
        let found: serde_json::Value = serde_json::from_str(&told).map_err(|error| error.to_string())?;
        Ok((taken, found["spans"]["f1"].as_f64().unwrap_or(0.0)))
    };
    let large = folder.join("large.conll");
    let one = fs::read_to_string(&test).map_err(told("reading the test sentences"))?;
    fs::write(&large, format!("{}\n\n", one.trim_end()).repeat(COPIES)).map_err(told("writing a file"))?;
    let n_tokens = one.lines().filter(|line| !line.trim().is_empty()).count() * COPIES;
    for (name, features) in [("ours, the template", text(&template)), ("ours, ready-made", "auto".to_owned())]
    {
        let mut all = Vec::new();
        for seed in 0..n_seeds.max(n_repeats) {
            all.push(ours(&features, seed)?);
        }
        let least = all.iter().map(|(taken, _)| *taken).min_by(|one, other| one.cpu.total_cmp(&other.cpu));
        let Some(least) = least else { continue };
        let mean = all.iter().map(|(_, f1)| f1).sum::<f64>() / all.len() as f64;
        let mut rates = Vec::new();
        for n_cores in [1, 2] {
            let command =
                [OURS, "predict", &text(&large), "--model", &model, "-o", &text(&folder.join("out.conll"))];
            let mut best = f64::INFINITY;
            for _ in 0..n_repeats {
                let taken = measured(&command.map(str::to_owned), folder, Some(n_cores), MOST)?.taken;
                best = best.min(if n_cores == 1 { taken.cpu } else { taken.wall });
            }
            rates.push(format!("{:.0}", n_tokens as f64 / best));
        }
        let line = format!(
            "| {name} | {:.2} | {:.2} | {} | {} (processor), {} on two cores (wall) | {:.2} (mean of {}) |",
            least.cpu,
            least.wall,
            least.peak_kib / 1024,
            rates[0],
            rates[1],
            mean * 100.0,
            all.len()
        );
        say(&line);
        let _ = writeln!(lines, "{line}");
    }
    let own = || python(&["python-crfsuite"]);
    let python = after(words, "--python").map(PathBuf::from).or_else(own);
    let script = folder.join("sequence.py");
    fs::write(&script, include_str!("sequence.py")).map_err(told("writing the peer's script"))?;
    for who in PEERS.iter().filter(|_| !words.iter().any(|word| word == "--no-peers")) {
        let Some(python) = &python else { break };
        let command = [
            &text(python),
            &text(&script),
            *who,
            &epochs.to_string(),
            &text(&train),
            &text(&test),
            &text(&template),
        ];
        match measured(&command.map(str::to_owned), folder, Some(1), MOST) {
            Ok(outcome) => {
                let said: Vec<f64> =
                    outcome.stdout.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                let &[made, trained, rate, f1] = &said[..] else { continue };
                let line = format!(
                    "| CRFsuite `{who}` | {:.2} (attributes in Python {made:.2}, training {trained:.2}) | {:.2} | {} | {rate:.0} | {:.2} |",
                    made + trained,
                    outcome.taken.wall,
                    outcome.taken.peak_kib / 1024,
                    f1 * 100.0
                );
                say(&line);
                let _ = writeln!(lines, "{line}");
            }
            Err(why) => say(&format!("missing: CRFsuite {who} ({why})")),
        }
    }
    let date = today();
    let out = PathBuf::from(format!("bench/runs/{date}-sequence"));
    fs::create_dir_all(&out).map_err(told("making the folder of the run"))?;
    let names: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let readme = format!(
        "# Taggers of sentences, {date}\n\n- Command: `cargo xtask bench sequence {}`\n- Machine: {} cores; load at the end {}\n\
         - {epochs} epochs, least of all runs; the machine is shared, so processor seconds count, not wall seconds.\n- {}\n\n{lines}",
        names.join(" "),
        cores(),
        load().trim(),
        versions(&["python-crfsuite"], &[])
    );
    fs::write(out.join("README.md"), readme).map_err(told("writing the run"))?;
    say(&format!("written to {}", out.display()));
    Ok(())
}
