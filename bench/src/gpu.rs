//! `cargo xtask bench gpu --data DIR`: kernel perceptrons on a graphics card, beside the processor and `PyTorch`.
//!
//! All in one run, on the card that is there: a pass over MNIST by `(1 + x.y)^4`, ten classes, with pixels as whole
//! numbers and in doubles; predictions; the whole table of Freund and Schapire; a pass by `rbf` over rows of 54 numbers;
//! a pass over digits that are deformed at random. What the processor computes too must be the same to the last move
//! of the log. `--parts mnist,predict,table,rbf,deformed` measures some of them, `--cpu-rows N` how many rows the processor
//! learns from beside the card (60,000), `--rbf-rows N`, `--deformed N` how many there are (500,000 and 8,100,000),
//! `--strength N` how much they are deformed (2; 1 is half as much), `--repeats N` how often (3). `--torch PYTHON` runs `bench/gpu_peer.py`, the same algorithm in `PyTorch`. The outcome is a
//! folder below `bench/runs`.

use super::kernel::read;
use super::tools::{context, output_of, today};
use crate::say;
use rosenblatt_core::{
    Bias, Convention, DenseExamples, EachEpoch, Epoch, Examples, OneVsRest, Order, Plan, Random, Row, Run,
    Shape, SparseRows, rules,
};
use rosenblatt_data::{Dataset, Visitor};
use rosenblatt_gpu::{Gpu, Layout, cards};
use rosenblatt_kernel::{
    Combination, Device, Entry, Expansion, Kernel, KernelSpace, Limits, Rows, errors_at, kernels,
};
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Rows that the card is given at once where it predicts, and how many support rows it predicts with.
const PREDICTED: usize = 10_000;
const SUPPORTS: usize = 20_000;

struct Line {
    what: String,
    who: String,
    seconds: f64,
    printed: String,
}

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let after = |word: &str| words.iter().skip_while(|other| *other != word).nth(1);
    let number = |word: &str, default: usize| {
        after(word).map_or(Ok(default), |text| text.parse()).map_err(|_| format!("{word} N"))
    };
    let folder = after("--data").ok_or("--data DIR: the folder with the four IDX files of MNIST")?;
    let parts = after("--parts").map_or("mnist,predict,table,rbf,deformed", String::as_str);
    let wants = |part: &str| parts.split(',').any(|other| other == part);
    let (repeats, cpu_rows) = (number("--repeats", 3)?, number("--cpu-rows", 60_000)?);
    let (rbf_rows, n_deformed) = (number("--rbf-rows", 500_000)?, number("--deformed", 8_100_000)?);
    let strength = number("--strength", 2)?;
    let start = Instant::now();
    let gpu = Gpu::new(0).map_err(|trouble| trouble.to_string())?;
    let opened = start.elapsed().as_secs_f64();
    let reading = Instant::now();
    let (train, test) = (read(folder, "train", true)?, read(folder, "t10k", true)?);
    let reading = reading.elapsed().as_secs_f64();
    let mut lines = Vec::new();
    let mut note = |what: &str, who: &str, seconds: f64, printed: String| {
        say(&format!("{what:<28} {who:<22} {seconds:9.4} s  {printed}"));
        lines.push(Line { what: what.to_owned(), who: who.to_owned(), seconds, printed });
    };
    note("open the card", "driver and code", opened, gpu.name());
    note("read MNIST", "processor", reading, String::new());
    if wants("mnist") {
        mnist(&gpu, &train, &test, repeats, cpu_rows, &mut note)?;
    }
    if wants("predict") {
        predict(&gpu, &train, &test, repeats, &mut note)?;
    }
    if wants("table") {
        table(&gpu, &train, &test, &mut note);
    }
    if wants("rbf") {
        rbf(&gpu, rbf_rows, &mut note);
    }
    if wants("deformed") {
        deformed(&gpu, &train, (n_deformed, strength as f64), &mut note);
    }
    if let Some(python) = after("--torch") {
        let printed = output_of(Command::new(python).args(["bench/gpu_peer.py", folder]))?;
        for line in printed.lines() {
            if let Some((seconds, what)) = line.split_once(' ').and_then(|(s, w)| Some((s.parse().ok()?, w)))
            {
                note(what, "PyTorch", seconds, String::new());
            }
        }
    }
    write_run(&lines, words)
}

/// Learns from rows in a given order, and says how long it took.
struct Learn {
    space: KernelSpace,
    n_outputs: usize,
    rows: Vec<u32>,
    order: Order,
    epochs: u64,
    seed: u64,
}

type Learned = Run<rules::Perceptron, KernelSpace, OneVsRest>;

impl Visitor for Learn {
    type Output = (f64, Learned);

    fn visit<E: Examples>(self, examples: E) -> Self::Output {
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        let (rule, decision) = (rules::Perceptron::default(), OneVsRest::new(self.n_outputs));
        let mut run = Run::from_parts(rule, self.space, (), decision, convention, Vec::new(), self.seed);
        let plan = Plan {
            rows: Some(&self.rows),
            order: &self.order,
            seed: self.seed,
            epochs: self.epochs,
            max_updates: None,
            stop_when_clean: true,
        };
        let start = Instant::now();
        run.fit(examples, &plan, &mut EachEpoch(|_: &Epoch| ControlFlow::Continue(())));
        (start.elapsed().as_secs_f64(), run)
    }
}

fn polynomial(degree: u32) -> Arc<dyn Kernel> {
    let scale = 1.0 / (255.0 * 255.0);
    Arc::new(kernels::Polynomial { gamma: scale, offset: scale, degree })
}

fn space(
    kernel: Arc<dyn Kernel>,
    width: usize,
    n_outputs: usize,
    device: Option<Arc<dyn Device>>,
) -> KernelSpace {
    let space = KernelSpace::new(kernel, Shape { width, n_outputs, bias: Bias::None }, Limits::default());
    if let Some(device) = device { space.on(device) } else { space }
}

fn told_of(run: &Learned) -> String {
    let effort = run.space().effort();
    let trouble = run.space().trouble().map_or(String::new(), |trouble| format!(" ({trouble})"));
    format!(
        "{} mistakes, {} support rows; the card's part {:.3} s for {:.2e} pairs{trouble}",
        run.totals().mistakes,
        run.space().learned().rows().map_or(0, Rows::len),
        effort.seconds,
        effort.pairs as f64
    )
}

fn same(one: &[Entry], other: &[Entry]) -> Result<(), String> {
    if one == other { Ok(()) } else { Err("the card and the processor have made different moves".to_owned()) }
}

fn mnist(
    gpu: &Gpu,
    train: &Dataset,
    test: &Dataset,
    repeats: usize,
    cpu_rows: usize,
    note: &mut dyn FnMut(&str, &str, f64, String),
) -> Result<(), String> {
    let learn = |device: Option<Arc<dyn Device>>, rows: usize| {
        let (space, rows) = (space(polynomial(4), 784, 10, device), (0..rows as u32).collect());
        train.visit(Learn { space, n_outputs: 10, rows, order: Order::ShuffleOnce, epochs: 1, seed: 0 })
    };
    let whole: Arc<dyn Device> = Arc::new(gpu.clone());
    let doubles: Arc<dyn Device> = Arc::new(gpu.clone().laid_out(Layout::Doubles));
    for _ in 0..repeats {
        for (who, device) in [("card, whole numbers", &whole), ("card, doubles", &doubles)] {
            let (seconds, run) = learn(Some(Arc::clone(device)), 60_000);
            note("mnist, degree 4, a pass", who, seconds, told_of(&run));
        }
    }
    if cpu_rows > 0 {
        let (seconds, host) = learn(None, cpu_rows.min(60_000));
        note(&format!("mnist, {cpu_rows} rows"), "processor", seconds, told_of(&host));
        for device in [whole, doubles] {
            let (_, run) = learn(Some(device), cpu_rows.min(60_000));
            same(run.space().learned().log(), host.space().learned().log())?;
            let moments = [host.totals().rounds];
            let start = Instant::now();
            let there = test.visit(Errors(&run, &moments));
            note(
                "seven read-outs, 10,000 rows",
                &run_name(&run),
                start.elapsed().as_secs_f64(),
                String::new(),
            );
            if there != test.visit(Errors(&host, &moments)) {
                return Err("the card and the processor err on different rows".to_owned());
            }
        }
    }
    Ok(())
}

fn run_name(run: &Learned) -> String {
    format!("card after {} rounds", run.totals().rounds)
}

struct Errors<'a>(&'a Learned, &'a [u64]);

impl Visitor for Errors<'_> {
    type Output = Vec<[f64; 7]>;
    fn visit<E: Examples>(self, examples: E) -> Self::Output {
        errors_at(self.0.space().learned(), examples, self.1)
    }
}

/// Scores rows with the first rows of MNIST as support rows, by weights drawn at random.
fn predict(
    gpu: &Gpu,
    train: &Dataset,
    test: &Dataset,
    repeats: usize,
    note: &mut dyn FnMut(&str, &str, f64, String),
) -> Result<(), String> {
    struct Gather(usize);
    impl Visitor for Gather {
        type Output = SparseRows;
        fn visit<E: Examples>(self, examples: E) -> SparseRows {
            let mut rows = SparseRows::default();
            (0..self.0.min(examples.len())).for_each(|row| rows.push(examples.row(row), 784));
            rows
        }
    }
    struct Score<'a>(&'a Expansion);
    impl Visitor for Score<'_> {
        type Output = Vec<f64>;
        fn visit<E: Examples>(self, examples: E) -> Vec<f64> {
            let rows: Vec<u32> = (0..examples.len().min(PREDICTED) as u32).collect();
            let mut scores = Vec::new();
            self.0.scores(examples, &rows, &mut scores);
            scores
        }
    }
    let supports = train.visit(Gather(SUPPORTS));
    let (offsets, indices, values) = supports.parts();
    let offsets: Vec<u64> = offsets.iter().map(|offset| *offset as u64).collect();
    let rows = Rows::from_compressed(784, &offsets, indices, values)?;
    let mut random = Random::new(1);
    // Each row speaks for two classes of ten, as support rows of a perceptron do.
    let weights = (0..rows.len() * 10).map(|_| if random.below(5) == 0 { random.unit() - 0.5 } else { 0.0 });
    let combination = Combination::Sums { weights: weights.collect(), biases: vec![0.0; 10] };
    let host = Expansion::from_parts(polynomial(4), 0.0, rows, 10, combination)?;
    let start = Instant::now();
    let expected = test.visit(Score(&host));
    note("predict 10,000 x 20,000", "processor", start.elapsed().as_secs_f64(), String::new());
    for (who, device) in
        [("card, whole numbers", gpu.clone()), ("card, doubles", gpu.clone().laid_out(Layout::Doubles))]
    {
        let card = host.on(Arc::new(device));
        for turn in 0..=repeats {
            let start = Instant::now();
            let found = test.visit(Score(&card));
            let remark = if turn == 0 { "first call: support rows are sent" } else { "" };
            note("predict 10,000 x 20,000", who, start.elapsed().as_secs_f64(), remark.to_owned());
            if found != expected {
                return Err("the card gives other scores than the processor".to_owned());
            }
        }
    }
    Ok(())
}

/// The whole table of Freund and Schapire: degrees 1 to 5, five permutations side by side, up to ten epochs.
fn table(gpu: &Gpu, train: &Dataset, test: &Dataset, note: &mut dyn FnMut(&str, &str, f64, String)) {
    let epochs = [0.1, 1.0, 2.0, 3.0, 4.0, 10.0];
    let moments: Vec<u64> =
        epochs.iter().map(|epochs| (epochs * train.len() as f64).round() as u64).collect();
    let all = Instant::now();
    for (degrees, epochs, seeds) in [(4..=4, 4, 1), (1..=5, 10, 5)] {
        let start = Instant::now();
        let tasks: Vec<(u32, u64)> =
            degrees.clone().flat_map(|degree| (0..seeds).map(move |seed| (degree, seed))).collect();
        let n_tasks = tasks.len();
        let tasks = Mutex::new(tasks.into_iter());
        let printed = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..seeds {
                scope.spawn(|| {
                    loop {
                        let task = tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                        let Some((degree, seed)) = task else { break };
                        let space = space(polynomial(degree), 784, 10, Some(Arc::new(gpu.clone())));
                        let rows = (0..train.len() as u32).collect();
                        let order = Order::ShuffleOnce;
                        let learn = Learn { space, n_outputs: 10, rows, order, epochs, seed };
                        let (seconds, run) = train.visit(learn);
                        let start = Instant::now();
                        let errors = test.visit(Errors(&run, &moments));
                        let vote = errors.last().map_or(0.0, |errors| errors[2] / 100.0);
                        let line = format!(
                            "degree {degree}, seed {seed}: {seconds:.2} s + {:.2} s, {}, vote {vote:.2} %",
                            start.elapsed().as_secs_f64(),
                            told_of(&run)
                        );
                        printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line);
                    }
                });
            }
        });
        for line in printed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            say(&line);
        }
        let what = format!("Freund and Schapire, {n_tasks} runs of {epochs}");
        note(&what, "card", start.elapsed().as_secs_f64(), "learning, and seven read-outs".to_owned());
    }
    say(&format!("the table took {:.1} s in all", all.elapsed().as_secs_f64()));
}

/// Rows around a thousand points of two classes, of which one in twenty is called by the other's name.
fn rbf(gpu: &Gpu, n_rows: usize, note: &mut dyn FnMut(&str, &str, f64, String)) {
    const WIDTH: usize = 54;
    let mut random = Random::new(5);
    let points: Vec<f64> = (0..1000 * WIDTH).map(|_| random.unit()).collect();
    let (mut values, mut classes) = (Vec::with_capacity(n_rows * WIDTH), Vec::with_capacity(n_rows));
    for _ in 0..n_rows {
        let point = random.below(1000) as usize;
        values.extend(points[point * WIDTH..][..WIDTH].iter().map(|x| x + 0.6 * (random.unit() - 0.5)));
        classes.push((point as u32 + u32::from(random.below(20) == 0)) % 2);
    }
    let rows = DenseExamples::new(&values, WIDTH, &classes);
    let kernel: Arc<dyn Kernel> = Arc::new(kernels::Rbf { gamma: 1.0 / (54.0 * 0.1) });
    let space = space(kernel, WIDTH, 2, Some(Arc::new(gpu.clone())));
    let rows_all = (0..n_rows as u32).collect();
    let learn = Learn { space, n_outputs: 2, rows: rows_all, order: Order::Given, epochs: 1, seed: 0 };
    let (seconds, run) = learn.visit(rows);
    note(&format!("rbf, {n_rows} x {WIDTH}, a pass"), "card", seconds, told_of(&run));
}

/// Digits of MNIST, each turned, sheared, stretched and moved at random (seed 0), and a pass over them.
fn deformed(
    gpu: &Gpu,
    train: &Dataset,
    (n_rows, strength): (usize, f64),
    note: &mut dyn FnMut(&str, &str, f64, String),
) {
    struct Pixels;
    impl Visitor for Pixels {
        type Output = Vec<f32>;
        fn visit<E: Examples>(self, examples: E) -> Vec<f32> {
            let mut all = vec![0.0; examples.len() * 784];
            for (row, pixels) in all.chunks_exact_mut(784).enumerate() {
                examples.row(row).entries().for_each(|(pixel, value)| pixels[pixel] = value as f32);
            }
            all
        }
    }
    let start = Instant::now();
    let pixels = train.visit(Pixels);
    let mut values = vec![0.0_f32; n_rows * 784];
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = n_rows.div_ceil(threads);
    std::thread::scope(|scope| {
        for (part, values) in values.chunks_mut(share * 784).enumerate() {
            let pixels = &pixels;
            scope.spawn(move || {
                for (k, out) in values.chunks_exact_mut(784).enumerate() {
                    let row = part * share + k;
                    deform(&pixels[row % train.len() * 784..][..784], row as u64, strength, out);
                }
            });
        }
    });
    let classes: Vec<u32> = (0..n_rows).map(|row| train.classes()[row % train.len()]).collect();
    note(
        &format!("deform {n_rows} digits, strength {strength}"),
        "processor",
        start.elapsed().as_secs_f64(),
        String::new(),
    );
    let rows = DenseExamples::new(&values, 784, &classes);
    for (who, device) in
        [("card, whole numbers", gpu.clone()), ("card, doubles", gpu.clone().laid_out(Layout::Doubles))]
    {
        let space = space(polynomial(4), 784, 10, Some(Arc::new(device)));
        let rows_all = (0..n_rows as u32).collect();
        let learn = Learn { space, n_outputs: 10, rows: rows_all, order: Order::Given, epochs: 1, seed: 0 };
        let (seconds, run) = learn.visit(rows);
        note(&format!("{n_rows} deformed digits, strength {strength}, a pass"), who, seconds, told_of(&run));
    }
}

/// One digit deformed as its number says, in whole grey levels.
fn deform(from: &[f32], seed: u64, strength: f64, to: &mut [f32]) {
    let mut random = Random::for_purpose(seed, "deformed digit");
    let mut within = |size: f64| (random.unit() * 2.0 - 1.0) * size;
    let (turn, shear) = (within(0.1 * strength), within(0.1 * strength));
    let (wide, high) = (1.0 + within(0.06 * strength), 1.0 + within(0.06 * strength));
    let away = 0.5 + 0.5 * strength;
    let (right, down) = (13.5 + within(away), 13.5 + within(away));
    for (place, pixel) in to.iter_mut().enumerate() {
        let (x, y) = ((place % 28) as f64 - right, (place / 28) as f64 - down);
        let (x, y) = (wide * (x + shear * y - turn * y) + 13.5, high * (y + turn * x) + 13.5);
        let (left, top) = (x.floor(), y.floor());
        let at = |x: f64, y: f64| {
            let inside = (0.0..28.0).contains(&x) && (0.0..28.0).contains(&y);
            if inside { f64::from(from[y as usize * 28 + x as usize]) } else { 0.0 }
        };
        let (right, down) = (x - left, y - top);
        let upper = at(left, top) * (1.0 - right) + at(left + 1.0, top) * right;
        let lower = at(left, top + 1.0) * (1.0 - right) + at(left + 1.0, top + 1.0) * right;
        *pixel = (upper * (1.0 - down) + lower * down).round() as f32;
    }
}

fn write_run(lines: &[Line], words: &[String]) -> Result<(), String> {
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-gpu"));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let mut raw = "what,who,seconds,told\n".to_owned();
    for Line { what, who, seconds, printed } in lines {
        let _ = writeln!(raw, "\"{what}\",\"{who}\",{seconds},\"{printed}\"");
    }
    let mut summary = "Least seconds.\n\n| what | who | s | |\n|---|---|---|---|\n".to_owned();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for line in lines {
        let key = (line.what.as_str(), line.who.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let alike = lines.iter().filter(|other| (other.what.as_str(), other.who.as_str()) == key);
        if let Some(least) = alike.min_by(|a, b| a.seconds.total_cmp(&b.seconds)) {
            let _ = writeln!(
                summary,
                "| {} | {} | {:.4} | {} |",
                least.what, least.who, least.seconds, least.printed
            );
        }
    }
    let card = output_of(
        Command::new("nvidia-smi").args(["--query-gpu=name,driver_version", "--format=csv,noheader"]),
    );
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let readme = format!(
        "# Kernel perceptrons on a card, {date}\n\n- Command: `cargo xtask bench gpu {}`\n- Card and driver: {}; beside {cores} \
         cores\n- Cards: {:?}\n- Seconds are those of the learning or predicting call, rows in memory, the card open; \
         opening it, and compiling its code the first time, is a line of its own.\n- What the processor learned too was \
         compared move by move, and every score bit by bit.\n",
        words.join(" "),
        card.unwrap_or_default().trim(),
        cards().unwrap_or_default()
    );
    for (name, text) in [("README.md", &readme), ("raw.csv", &raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
