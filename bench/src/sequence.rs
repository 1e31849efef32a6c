//! `cargo xtask bench sequence`: taggers beside `CRFsuite`, Vowpal Wabbit's `--search` and NLTK, on data that registry
//! packages carry (`sequence_data.py`), or that `--data DIR` has.
//!
//! Ten epochs, all taking turns: processor seconds and peak memory from the file to the saved model, what is right on the
//! test file with the template that all are given and with our ready-made attributes, mean of five seeds, tokens a second from
//! text to text on one core and on two, and labels that may not follow each other. Then spans as the script conlleval counts
//! them beside ours, on random labels, broken ones included. Options: `--only TASK` (`conlleval` is one), `--repeats N` (turns of
//! peers), `--seeds N`, `--epochs N`, `--no-peers`, `--python PATH`, `--program PATH` (a release that was built elsewhere). The
//! outcome is a folder below `bench/runs`.

use super::measure::measured;
use super::tools::{
    Random, after, build, context, load, machine, number, output_of, python, today, versions,
};
use crate::say;
use rosenblatt_sequence::spans::Agreement;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "target/bench-data/sequence";
const OURS: &str = "target/release/rosenblatt";
const MOST: Duration = Duration::from_secs(900);
/// How often the test sentences are tagged, so that start-up does not count.
const COPIES: usize = 20;
/// Random span sets that conlleval is asked about.
const SPAN_SETS: u64 = 200;

/// What is to be learned.
struct Task {
    name: &'static str,
    /// The template that everybody gets; none where files have attributes.
    template: Option<&'static str>,
    /// The ready-made attributes.
    set: &'static str,
    /// Whether spans count, or tokens.
    spans: bool,
    /// Who else learns it, for how many epochs if not for as many as ours.
    peers: &'static [(&'static str, Option<usize>)],
}

/// What lbfgs takes to be done, nearly; and as much as fits into minutes of those that take minutes.
const TASKS: &[Task] = &[
    Task {
        name: "chunk",
        template: Some("crfpp.txt"),
        set: "chunking",
        spans: true,
        peers: &[("ap", None), ("pa", None), ("lbfgs", Some(100)), ("vw", Some(3))],
    },
    Task {
        name: "pos",
        template: Some("common.txt"),
        set: "tagging",
        spans: false,
        peers: &[("ap", None), ("nltk", Some(5))],
    },
    Task { name: "ner", template: Some("crfpp.txt"), set: "ner", spans: true, peers: &[("ap", None)] },
    Task {
        name: "letters-small",
        template: None,
        set: "letters",
        spans: false,
        peers: &[("ap", None), ("lbfgs", Some(100))],
    },
    Task { name: "letters-large", template: None, set: "letters", spans: false, peers: &[("ap", None)] },
];

/// The measurements of one program in one turn.
#[derive(Default)]
struct Seen {
    cpu: Vec<f64>,
    /// Of which attributes, where another program makes them.
    made: f64,
    peak_mib: u64,
    right: Vec<f64>,
    rates: [f64; 2],
    invalid: u64,
}

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let (n_repeats, n_seeds) = (number(words, "--repeats", 2_usize)?, number(words, "--seeds", 5_usize)?);
    let epochs: usize = number(words, "--epochs", 10)?;
    let only = after(words, "--only").map(String::as_str);
    let program = after(words, "--program").map_or(OURS, String::as_str).to_owned();
    if program == OURS && only != Some("conlleval") {
        build(&["--package", "rosenblatt-cli", "--features", "full"])?;
    }
    let folder = PathBuf::from(FOLDER);
    fs::create_dir_all(&folder).map_err(context("making a folder"))?;
    let own = || python(&["numpy", "python-crfsuite", "nltk", "vowpalwabbit"]);
    let python = after(words, "--python").map(PathBuf::from).or_else(own);
    for (name, text) in
        [("sequence.py", include_str!("sequence.py")), ("data.py", include_str!("sequence_data.py"))]
    {
        fs::write(folder.join(name), text).map_err(context("writing a script"))?;
    }
    let data = after(words, "--data").map_or_else(|| folder.join("data"), PathBuf::from);
    if let Some(python) = python.as_ref().filter(|_| after(words, "--data").is_none()) {
        say("looking for sentences");
        output_of(Command::new(python).arg(folder.join("data.py")).arg(&data))?;
    }
    let data = fs::canonicalize(data).map_err(context("finding the sentences"))?;
    let bench = Bench { folder, data, epochs, python, program };
    let begun = load();
    let mut lines = String::new();
    for task in TASKS.iter().filter(|task| only.is_none_or(|only| only == task.name)) {
        if !bench.data.join(bench.file(task, "train")).exists() {
            say(&format!("missing: the sentences of {}", task.name));
            continue;
        }
        let with_peers = !words.iter().any(|word| word == "--no-peers");
        lines.push_str(&bench.task(task, n_seeds, if with_peers { n_repeats } else { 0 })?);
    }
    if only.is_none_or(|only| only == "conlleval") {
        lines.push_str(&agreement(&bench.data.join("conlleval"))?);
    }
    if only.is_some() {
        say(&lines);
        return Ok(());
    }
    let date = today();
    let out = PathBuf::from(format!("bench/runs/{date}-sequence"));
    fs::create_dir_all(&out).map_err(context("making the folder of the run"))?;
    let names: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let command = format!("cargo xtask bench sequence {}", names.join(" "));
    let readme = format!(
        "# Taggers of sentences, {date}\n\n- Command: `{}`\n- Machine: {}; load {begun} at the beginning, {} at the end\n\
         - {epochs} epochs unless noted; least processor seconds and peaks of all turns, mean of what is right. The machine is \
         shared, so processor seconds count, not wall seconds; rates on two cores are wall.\n\
         - Sentences: the columns of CoNLL-2003 (phrases, parts of speech, names; `test` is its second test set) and the OCR letters of \
         Kassel, small learning from one fold of ten and large from nine. Seconds of peers that make attributes in Python say so apart.\n- {}\n\n{lines}",
        command.trim(),
        machine(),
        load(),
        versions(&["python-crfsuite", "nltk", "vowpalwabbit"], &[])
    );
    fs::write(out.join("README.md"), readme).map_err(context("writing the run"))?;
    say(&format!("{lines}\nwritten to {}", out.display()));
    Ok(())
}

struct Bench {
    folder: PathBuf,
    data: PathBuf,
    epochs: usize,
    python: Option<PathBuf>,
    program: String,
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

impl Bench {
    fn file(&self, task: &Task, part: &str) -> String {
        let kind = if task.template.is_some() { "conll" } else { "crfsuite" };
        text(&self.data.join(format!("{}.{part}.{kind}", task.name)))
    }

    /// Everybody's turns, and a table of them.
    fn task(&self, task: &Task, n_seeds: usize, n_repeats: usize) -> Result<String, String> {
        let mut ours = vec![("ours, ready-made", task.set.to_owned())];
        if let Some(template) = task.template {
            ours.insert(0, ("ours, the template", text(&self.data.join(template))));
        }
        let mut all: BTreeMap<String, Seen> = BTreeMap::new();
        let mut order = Vec::new();
        for turn in 0..n_seeds.max(n_repeats) {
            for (name, features) in &ours {
                if turn == 0 {
                    order.push((*name).to_owned());
                }
                self.ours(task, features, turn, all.entry((*name).to_owned()).or_default())?;
            }
            let Some(python) = self.python.as_ref().filter(|_| turn < n_repeats) else { continue };
            for (who, epochs) in task.peers {
                // Once is enough of what takes minutes.
                if turn > 0 && epochs.is_some() {
                    continue;
                }
                let epochs = epochs.unwrap_or(self.epochs);
                let name = match *who {
                    "nltk" | "vw" => format!("{who}, {epochs} passes"),
                    _ => format!("CRFsuite `{who}`, {epochs} iterations"),
                };
                match self.peer(task, python, who, epochs, all.entry(name.clone()).or_default()) {
                    Ok(()) if turn == 0 => order.push(name),
                    Ok(()) => {}
                    Err(why) => say(&format!("missing: {who} on {} ({why})", task.name)),
                }
            }
        }
        let what = if task.spans { "F1 of spans" } else { "tokens right, %" };
        let mut lines = format!(
            "## {}\n\n| who | processor s, file to model | peak MiB | tokens/s, one core | two cores | {what} | labels that may not follow |\n\
             |---|---|---|---|---|---|---|\n",
            task.name
        );
        for name in order {
            let seen = &all[&name];
            let least = seen.cpu.iter().copied().fold(f64::INFINITY, f64::min);
            let made = if seen.made > 0.0 {
                format!(" (of which attributes {:.2})", seen.made)
            } else {
                String::new()
            };
            let two = if seen.rates[1] > 0.0 { format!("{:.0}", seen.rates[1]) } else { "-".to_owned() };
            let mean = seen.right.iter().sum::<f64>() / seen.right.len() as f64;
            let _ = writeln!(
                lines,
                "| {name} | {least:.2}{made} | {} | {:.0} | {two} | {:.2} (of {}) | {} |",
                seen.peak_mib,
                seen.rates[0],
                mean * 100.0,
                seen.right.len(),
                seen.invalid
            );
        }
        lines.push('\n');
        Ok(lines)
    }

    fn ours(&self, task: &Task, features: &str, seed: usize, seen: &mut Seen) -> Result<(), String> {
        let model = text(&self.folder.join("tags.model"));
        let test = self.file(task, "test");
        let mut command = vec![self.program.clone(), "train".to_owned(), self.file(task, "train")];
        let (epochs, seed) = (self.epochs.to_string(), seed.to_string());
        let printed =
            ["--features", features, "--epochs", &epochs, "--seed", &seed, "--model", &model, "--quiet"];
        command.extend(printed.map(str::to_owned));
        let taken = measured(&command, &self.folder, Some(1), MOST)?.taken;
        seen.peak_mib = if seen.cpu.is_empty() { u64::MAX } else { seen.peak_mib }.min(taken.peak_kib / 1024);
        seen.cpu.push(taken.cpu);
        let judged =
            output_of(Command::new(&self.program).args(["evaluate", &test, "--model", &model, "--json"]))?;
        let found: serde_json::Value = serde_json::from_str(&judged).map_err(|error| error.to_string())?;
        let right = if task.spans { &found["spans"]["f1"] } else { &found["accuracy"] };
        seen.right.push(right.as_f64().unwrap_or(0.0));
        seen.invalid += found["invalid-sentences"].as_u64().unwrap_or(0);
        let large = self.folder.join(format!("large-{}", test.rsplit('/').next().unwrap_or("test")));
        let one = fs::read_to_string(&test).map_err(context("reading the test sentences"))?;
        if !large.exists() {
            let many = format!("{}\n\n", one.trim_end()).repeat(COPIES);
            fs::write(&large, many).map_err(context("writing a file"))?;
        }
        let n_tokens = one.lines().filter(|line| !line.trim().is_empty()).count() * COPIES;
        for n_cores in [1, 2] {
            let out = text(&self.folder.join("out.conll"));
            let command = [&*self.program, "predict", &text(&large), "--model", &model, "-o", &out];
            let taken = measured(&command.map(str::to_owned), &self.folder, Some(n_cores), MOST)?.taken;
            let rate = n_tokens as f64 / if n_cores == 1 { taken.cpu } else { taken.wall };
            seen.rates[n_cores - 1] = seen.rates[n_cores - 1].max(rate);
        }
        Ok(())
    }

    fn peer(
        &self,
        task: &Task,
        python: &Path,
        who: &str,
        epochs: usize,
        seen: &mut Seen,
    ) -> Result<(), String> {
        let mut command = vec![text(python), text(&self.folder.join("sequence.py")), who.to_owned()];
        command.extend([epochs.to_string(), self.file(task, "train"), self.file(task, "test")]);
        command.extend(task.template.map(|template| text(&self.data.join(template))));
        let outcome = measured(&command, &self.folder, Some(1), MOST)?;
        let printed: Vec<f64> =
            outcome.stdout.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[made, trained, rate, accuracy, f1, invalid] = &printed[..] else {
            return Err(format!("it printed {}", outcome.stdout.trim()));
        };
        if seen.cpu.iter().all(|least| made + trained < *least) {
            seen.made = made;
        }
        seen.cpu.push(made + trained);
        let peak = outcome.taken.peak_kib / 1024;
        seen.peak_mib = if seen.right.is_empty() { peak } else { seen.peak_mib.min(peak) };
        seen.right.push(if task.spans { f1 } else { accuracy });
        seen.rates[0] = seen.rates[0].max(rate);
        seen.invalid += if task.spans { invalid as u64 } else { 0 };
        Ok(())
    }
}

/// Whether the script conlleval counts spans as we do, on random labels, most of them broken. Of `S` it knows nothing, of `E`
/// only what another scheme means by it, and of the brackets of 1998 we know nothing: BIOES is not for it to say.
fn agreement(script: &Path) -> Result<String, String> {
    if !script.exists() {
        say("missing: the script conlleval");
        return Ok(String::new());
    }
    let mut random = Random(7);
    let mut n_same = 0;
    let mut differ = Vec::new();
    for set in 0..SPAN_SETS {
        let kinds: &[&str] = if set % 2 == 0 { &["B", "I", "O"] } else { &["B", "I", "I", ".", "O"] };
        let types = ["NP", "VP", "LOC-X"];
        let mut draw = |n: usize| -> Vec<String> {
            let label = |_| match kinds[random.bits() as usize % kinds.len()] {
                alone @ ("O" | ".") => alone.to_owned(),
                kind => format!("{kind}-{}", types[random.bits() as usize % types.len()]),
            };
            (0..n).map(label).collect()
        };
        let mut ours = Agreement::default();
        let mut lines = String::new();
        for sentence in 0..20_usize {
            let gold = draw(1 + (sentence * 7 + set as usize) % 13);
            let mut found = draw(gold.len());
            // Most labels are right, as they are of taggers.
            for (place, (found, gold)) in found.iter_mut().zip(&gold).enumerate() {
                if !(place + sentence).is_multiple_of(3) {
                    found.clone_from(gold);
                }
            }
            let (gold, found): (Vec<&str>, Vec<&str>) =
                (gold.iter().map(String::as_str).collect(), found.iter().map(String::as_str).collect());
            ours.add(&gold, &found, |_| false);
            for (gold, found) in gold.iter().zip(&found) {
                let _ = writeln!(lines, "w {gold} {found}");
            }
            lines.push('\n');
        }
        let mut perl = Command::new("perl")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(context("starting perl"))?;
        if let Some(mut stdin) = perl.stdin.take() {
            stdin.write_all(lines.as_bytes()).map_err(context("asking conlleval"))?;
        }
        let theirs = perl.wait_with_output().map_err(context("asking conlleval"))?;
        let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
        let all = ours.all_spans();
        let head = format!(
            "processed {} tokens with {} phrases; found: {} phrases; correct: {}.",
            ours.tokens, all.gold, all.found, all.right
        );
        let rates = format!(
            "accuracy: {:6.2}%; precision: {:6.2}%; recall: {:6.2}%; FB1: {:6.2}",
            100.0 * ours.accuracy(),
            100.0 * all.precision(),
            100.0 * all.recall(),
            100.0 * all.f1()
        );
        if theirs.contains(&head) && theirs.contains(&rates) {
            n_same += 1;
        } else if differ.len() < 3 {
            differ.push(format!("ours: {head} {rates}; theirs: {}", theirs.replace('\n', " / ")));
        }
    }
    for difference in &differ {
        say(difference);
    }
    let found = format!(
        "## conlleval\n\nOn {SPAN_SETS} random sets of labels (B, I and O, in half of them stops, too; most of them broken), the script \
         counts as ours does in {n_same}. Of BIOES it knows nothing; there, spans are what the scheme means.\n",
    );
    if n_same < SPAN_SETS { Err(found) } else { Ok(found) }
}
