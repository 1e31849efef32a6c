//! `cargo xtask bench mlp --data DIR`: a network on MNIST beside scikit-learn and `PyTorch` on the processor.
//!
//! 784-128-10, relu, softmax cross-entropy, Adam with rate 0.001, batches of 64; ours in doubles, the peers in single
//! precision, as they come, and scikit-learn in doubles, too. Measured in one run, taking turns: wall and processor
//! seconds of an epoch with one thread and with two, also with larger batches, and whether two threads give the bits of
//! one. Then ten epochs with several seeds: the test error of ours after each. Options: `--repeats N` (turns),
//! `--epochs N`, `--seeds N`, `--no-peers`, `--python PATH`. The outcome is a folder below `bench/runs`.

use super::kernel::{read, write_arrays};
use super::tools::{after, context, number, output_of, python, today, versions};
use crate::say;
use rosenblatt_core::{Convention, Direct, Examples, Order, Params, Plan, Run, Share, Visits};
use rosenblatt_data::{Dataset, Visitor};
use rosenblatt_layers::{Activation, Descent, Design, Loss, NetworkSpace, Optimiser};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const FOLDER: &str = "target/bench-data/mlp";
/// Epochs of a turn: the first one warms up.
const TURN: u64 = 3;
const PEERS: [&str; 3] = ["scikit-learn", "scikit-learn-double", "torch"];

struct Sample {
    who: String,
    threads: usize,
    batch: usize,
    seed: u64,
    epoch: usize,
    wall: f64,
    used: f64,
    error: f64,
    /// Of all weights; 0 for peers.
    bits: u64,
}

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let folder = after(words, "--data").ok_or("--data DIR: the folder with the four IDX files of MNIST")?;
    let (n_repeats, n_epochs) = (number(words, "--repeats", 3_u64)?, number(words, "--epochs", 10_u64)?);
    let n_seeds = number(words, "--seeds", 5_u64)?;
    let (train, test) = (read(folder, "train", false)?, read(folder, "t10k", false)?);
    let python = if words.iter().any(|word| word == "--no-peers") {
        None
    } else {
        let own = || python(&["scikit-learn", "numpy", "torch"]);
        after(words, "--python").map(PathBuf::from).or_else(own)
    };
    let files = write_arrays(FOLDER, &train, &test)?;
    let script = Path::new(FOLDER).join("mlp.py");
    fs::write(&script, include_str!("mlp.py")).map_err(context("writing the peers' script"))?;
    let mut samples = Vec::new();
    let mut note = |more: Vec<Sample>| {
        for Sample { who, threads, batch, seed, epoch, wall, used, error, .. } in &more {
            say(&format!(
                "{who:<20} {threads} threads, batch {batch:<4} seed {seed} epoch {epoch:>2}: {wall:.3} s, processor {used:.3} s, \
                 error {:.2} %",
                error * 100.0
            ));
        }
        samples.extend(more);
    };
    for turn in 0..n_repeats {
        for (batch, threads) in [(64, 1), (64, 2), (256, 1), (256, 2), (1024, 1), (1024, 2)] {
            note(train.visit(Learn { test: &test, threads, batch, seed: turn, epochs: TURN }));
            let Some(python) = python.as_ref().filter(|_| batch == 64 && threads == 1) else { continue };
            for who in PEERS {
                match peer(python, &script, &files, who, turn) {
                    Ok(more) => note(more),
                    Err(why) => say(&format!("missing: {who} ({why})")),
                }
            }
        }
    }
    for seed in 0..n_seeds {
        let (threads, batch) = (1, 64);
        note(train.visit(Learn { test: &test, threads, batch, seed: 100 + seed, epochs: n_epochs }));
    }
    write_run(&samples, words)
}

/// Trains ours, epoch by epoch.
struct Learn<'a> {
    test: &'a Dataset,
    threads: usize,
    batch: usize,
    seed: u64,
    epochs: u64,
}

impl Visitor for Learn<'_> {
    type Output = Vec<Sample>;

    fn visit<E: Examples>(self, examples: E) -> Vec<Sample> {
        let Self { test, threads, batch, seed, epochs } = self;
        let params = Params::new().with("batch", batch as f64);
        let design = Design::new(Some(&[128]), Activation::Relu, Loss::Softmax, Optimiser::Adam, &params)
            .expect("the parameters are right");
        let space = NetworkSpace::new(Design { seed, threads, ..design }, examples.width(), 10);
        let (rule, decision) = (Descent(Loss::Softmax), Direct::new(10, Share::Max));
        let mut run = Run::from_parts(rule, space, (), decision, Convention::default(), Vec::new(), seed);
        let order = Order::ShuffleEpoch;
        let mut samples = Vec::new();
        for epoch in 1..=epochs {
            let plan = Plan {
                rows: None,
                order: &order,
                seed,
                epochs: epoch,
                max_updates: None,
                stop_when_clean: false,
            };
            let (start, before) = (Instant::now(), processor());
            run.fit(examples, &plan, &mut ());
            let (wall, used) = (start.elapsed().as_secs_f64(), processor() - before);
            let network = run.space().network();
            let mix = |bits: u64, weight: f64| bits.rotate_left(5) ^ weight.to_bits();
            let bits = network.raw_weights().into_iter().chain(network.raw_biases()).fold(1, mix);
            let error = test.visit(Errors(network));
            let who = "ours".to_owned();
            samples.push(Sample {
                who,
                threads,
                batch,
                seed,
                epoch: epoch as usize,
                wall,
                used,
                error,
                bits,
            });
        }
        samples
    }
}

struct Errors<'a>(&'a rosenblatt_layers::Network);

impl Visitor for Errors<'_> {
    type Output = f64;

    fn visit<E: Examples>(self, examples: E) -> f64 {
        let mut errors = 0_u32;
        self.0.each(examples, Visits::all(examples), |row, scores| {
            let best = (1..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best });
            errors += u32::from(best as u32 != examples.class(row));
        });
        f64::from(errors) / examples.len() as f64
    }
}

/// Seconds of processor that this process has taken, all its threads together.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the process, in brackets, may hold anything. Times are in hundredths of a second.
    let numbers = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = numbers.skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum();
    ticks / 100.0
}

fn peer(
    python: &Path,
    script: &Path,
    files: &[PathBuf],
    who: &str,
    seed: u64,
) -> Result<Vec<Sample>, String> {
    let mut command = Command::new(python);
    command.arg(script).args([who, "1", &TURN.to_string(), &seed.to_string(), "64"]).args(files);
    let text = output_of(&mut command)?;
    let sample = |(epoch, line): (usize, &str)| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<f64>().ok());
        let (wall, used, error) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let who = who.to_owned();
        Some(Sample { who, threads: 1, batch: 64, seed, epoch: epoch + 1, wall, used, error, bits: 0 })
    };
    text.lines()
        .enumerate()
        .map(|line| sample(line).ok_or_else(|| "it printed something else".to_owned()))
        .collect()
}

fn write_run(samples: &[Sample], words: &[String]) -> Result<(), String> {
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-mlp"));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let mut raw = "who,threads,batch,seed,epoch,wall,processor,error\n".to_owned();
    for Sample { who, threads, batch, seed, epoch, wall, used, error, .. } in samples {
        let _ = writeln!(raw, "{who},{threads},{batch},{seed},{epoch},{wall},{used},{error}");
    }
    let mut summary =
        "Seconds of an epoch, least and median of all turns and epochs.\n\n| who | threads | batch | processor s, least | median | \
         wall s, least | median | processor, ratio to ours |\n|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    let sorted = |who: &str, threads: usize, batch: usize, of: fn(&Sample) -> f64| {
        let timed = |sample: &&Sample| {
            sample.seed < 100 && sample.who == who && (sample.threads, sample.batch) == (threads, batch)
        };
        let mut times: Vec<f64> = samples.iter().filter(timed).map(of).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let ours = sorted("ours", 1, 64, |sample| sample.used).first().copied().unwrap_or(f64::NAN);
    let kinds = [("ours", 1, 64), ("ours", 2, 64)].into_iter().chain(PEERS.map(|who| (who, 1, 64))).chain([
        ("ours", 1, 256),
        ("ours", 2, 256),
        ("ours", 1, 1024),
        ("ours", 2, 1024),
    ]);
    for (who, threads, batch) in kinds {
        let used = sorted(who, threads, batch, |sample| sample.used);
        let wall = sorted(who, threads, batch, |sample| sample.wall);
        let (Some(least), Some(least_wall)) = (used.first(), wall.first()) else { continue };
        let (median, median_wall) = (used[used.len() / 2], wall[wall.len() / 2]);
        let _ = writeln!(
            summary,
            "| {who} | {threads} | {batch} | {least:.2} | {median:.2} | {least_wall:.2} | {median_wall:.2} | {:.1} |",
            least / ours
        );
    }
    let same = |one: &&Sample| {
        let twin = |other: &&Sample| {
            other.threads == 1 && (other.batch, other.seed, other.epoch) == (one.batch, one.seed, one.epoch)
        };
        samples.iter().find(twin).is_some_and(|other| other.bits == one.bits)
    };
    let two: Vec<&Sample> = samples.iter().filter(|sample| sample.threads == 2).collect();
    let n_same = two.iter().filter(|sample| same(sample)).count();
    let _ = writeln!(
        summary,
        "\nWeights after an epoch with two threads have the bits of one in {n_same} of {}.",
        two.len()
    );
    let last =
        samples.iter().filter(|sample| sample.seed >= 100).map(|sample| sample.epoch).max().unwrap_or(0);
    let ends = samples.iter().filter(|sample| sample.seed >= 100 && sample.epoch == last);
    let right: Vec<f64> = ends.map(|sample| 100.0 * (1.0 - sample.error)).collect();
    let mean = right.iter().sum::<f64>() / right.len() as f64;
    let listed: Vec<String> = right.iter().map(|share| format!("{share:.2}")).collect();
    let _ = writeln!(
        summary,
        "\nTest rows right after {last} epochs, in percent: mean {mean:.2} of {} seeds ({}).",
        right.len(),
        listed.join(", ")
    );
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let readme = format!(
        "# A network on MNIST, {date}\n\n- Command: `cargo xtask bench mlp {}`\n- Machine: {cores} cores; load at the end {}\n\
         - 784-128-10, ReLU, softmax cross-entropy, Adam with rate 0.001; pixels from 0 to 1.\n- Ours in doubles; \
         `scikit-learn` and `torch` in single precision, `scikit-learn-double` in doubles, all with one thread.\n\
         - The machine is shared: processor seconds are what an epoch took, wall seconds what it had to wait, too.\n- {}\n",
        words.join(" "),
        load.trim(),
        versions(&["scikit-learn", "numpy", "torch"], &[])
    );
    for (name, text) in [("README.md", &readme), ("raw.csv", &raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
