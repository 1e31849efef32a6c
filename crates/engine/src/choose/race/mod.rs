//! Choosing well: candidates race on rows that they do not learn from, and few go all the way.
//!
//! All candidates are judged on the same rows, part after part, and those that are behind leave: a race in
//! the sense of Maron and Moore (1994) and Birattari et al. (2002), its first bout on few rows as in successive
//! halving (Jamieson and Talwalkar 2016). Few rows are cross-validated, so that the choice does not hang on a
//! lucky part; of many rows a sample suffices, so that the race costs less than the training that follows.
//! Few rows make few mistakes, by which luck tells candidates apart better than they deserve: so the distance of
//! their probabilities from the truth counts beside mistakes (`judge.rs`). Candidates are listed from the safest bet to the
//! boldest, and of equals the first wins. A feature map costs the reader the weights, so it must be clearly better to win. So must
//! columns that bend be better than straight ones; lines race among themselves as if there were no others.
//!
//! Rows, bouts and the choice depend on the seed alone. Threads run candidates side by side and change nothing.

mod judge;
mod portfolio;
mod sample;

pub use crate::monitor::Progress;
pub use judge::Metric;
pub use portfolio::portfolio;
pub(crate) use portfolio::{BENDS, crossed};
pub use sample::Rescale;
pub(crate) use sample::{gather, standardised};

use crate::calibration::{Calibration, Method};
use crate::costs::Costs;
use crate::error::Error;
use crate::spec::{ClassWeights, Options, Spec};
use crate::split::{Part, Ties, split_rows};
pub(crate) use judge::mean_of;
use judge::{Verdicts, Yardstick, judge, rungs};
use rosenblatt_core::threads;
use rosenblatt_data::{Bends, Dataset, Shape};
use sample::sample;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The most rows a race is run on.
pub(crate) const MOST_ROWS: usize = 16_000;
/// The rows that all candidates learn from in the first bout, if there are many more.
const FIRST_BOUT: usize = 1_600;
/// Up to this many rows, five folds are raced; above, three.
const FIVE_FOLDS: usize = 3_200;
/// Up to this many rows, three folds are raced; above, one part is set apart.
const THREE_FOLDS: usize = 8_000;
/// Up to this many rows, no candidate leaves for being slow to convince.
const PATIENT: usize = 400;
/// A candidate leaves if it is worse than the leader by this many standard errors of the difference.
const CLEARLY_WORSE: f64 = 2.0;

/// How long a wish to stop may wait while nothing else is done.
const ANSWER_WITHIN: Duration = Duration::from_millis(50);

/// What a race is about, beside the candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceOptions {
    /// What candidates are compared by.
    pub metric: Metric,
    /// Decides which rows are drawn and how they are parted.
    pub seed: u64,
    /// How many candidates run side by side; as many as there are cores by default. Changes nothing but
    /// the time it takes.
    pub threads: Option<usize>,
    /// What is brought to the scale of the rows that are learned from, in every part of the race.
    pub rescale: Rescale,
    /// No bout is begun after this time. With it the result depends on how fast the machine is.
    pub budget: Option<Duration>,
    /// What ties the rows of the data together, by which they are parted.
    pub ties: Ties,
    /// The shape of each candidate's columns; straight lines by default. Knots are those of the rows that are
    /// learned from, in every part of the race.
    pub shapes: Vec<Shape>,
    /// The features that are numbers, ascending: those that bend if any do.
    pub numbers: Vec<u32>,
}

impl Default for RaceOptions {
    fn default() -> Self {
        Self {
            metric: Metric::Error,
            seed: 0,
            threads: None,
            rescale: Rescale::Nothing,
            budget: None,
            ties: Ties::default(),
            shapes: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

/// Observes a race, and may stop it. Called from the thread that the race was begun on.
pub trait Spectator {
    /// A candidate was judged.
    fn told(&mut self, _so_far: &Progress) {}

    /// Whether the race is to stop; asked again and again.
    fn wants_to_stop(&mut self) -> bool {
        false
    }
}

impl Spectator for () {}

/// How a race went.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Race {
    /// What to train: the winner, with its best number of epochs.
    pub winner: Spec,
    /// What candidates were compared by.
    pub metric: Metric,
    /// Rows that the race was run on.
    pub rows: usize,
    /// Into how many parts they were split, each judged by candidates that learned from the others; 1 if one part
    /// was set apart.
    pub folds: usize,
    /// All candidates, the winner first, then by how they did, those that left early last. Of errors, what was compared is
    /// how far probabilities are from the truth, too.
    pub entrants: Vec<Entrant>,
    /// Whether the time was up before all bouts were run.
    pub cut_short: bool,
    /// The winner's predictions for rows that it had not seen.
    #[serde(skip)]
    said: Verdicts,
    /// The groups of those rows, if groups tie them.
    #[serde(skip)]
    groups: Option<Vec<u32>>,
    #[serde(skip)]
    n_classes: usize,
}

impl Race {
    /// What candidates were compared by, in words, and whether it is a share of rows.
    pub fn measure(&self) -> (String, bool) {
        let Options { class_weights, costs, .. } = self.winner.options();
        match self.metric {
            Metric::Error if *costs != Costs::Even => ("mean cost".to_owned(), false),
            Metric::Error if *class_weights != ClassWeights::Even => {
                ("error, classes weighted as asked,".to_owned(), true)
            }
            metric => (metric.to_string(), metric == Metric::Error),
        }
    }

    /// Whether a candidate with a feature map finished the race, and the winner has none.
    pub fn spares_a_map(&self) -> bool {
        let has_map = |entrant: &Entrant| entrant.spec.options().map.is_some();
        let mut finishers = self.entrants.iter().filter(|entrant| entrant.left.is_none());
        self.winner.options().map.is_none() && finishers.any(has_map)
    }

    /// The shape of the winner's columns.
    pub fn shape(&self) -> Shape {
        self.entrants.first().map_or(Shape::Line, |winner| winner.shape)
    }

    /// Probabilities for the winner's scores, fitted on rows that it had not seen when it scored them.
    pub(crate) fn calibration(
        &self,
        method: Method,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Calibration, Error> {
        // Costs weigh probabilities as they are.
        let is_named = self.winner.options().costs == Costs::Even;
        self.said.calibration(method, self.n_classes, is_named, self.groups.as_deref(), stop)
    }
}

/// One candidate of a race.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Entrant {
    /// What it is, with the number of epochs that did best.
    pub spec: Spec,
    /// The shape of its columns.
    #[serde(skip_serializing_if = "Shape::is_line")]
    pub shape: Shape,
    /// Its loss on the rows it was judged on, less is better; see [`Metric::as_known`]. `None` if it failed.
    pub loss: Option<f64>,
    /// What those that went all the way were compared by, over the same rows, less is better: beside errors, how far
    /// probabilities are from the truth, if that decided. `None` if it left early.
    pub compared: Option<f64>,
    /// On how many rows it was judged.
    pub judged: usize,
    /// The bout after which it left, from 1; `None` if it went all the way.
    pub left: Option<usize>,
    /// Why it could not be trained, if so.
    pub failure: Option<String>,
}

/// One part of a race.
struct Bout {
    learned: Vec<u32>,
    judged: Vec<u32>,
    /// Whether what was judged counts in the end, or only decides who goes on.
    counts: bool,
    /// At most this many go on.
    stay: usize,
    /// Who is worse than the leader by this many standard errors of the difference leaves.
    allowed: f64,
}

/// Races `candidates`, the preferred ones first, on the given rows of `data`.
///
/// ```
/// use rosenblatt::{Dataset, Options};
/// use rosenblatt::race::{RaceOptions, portfolio, race};
///
/// let rows: Vec<[f64; 2]> = (0..60).map(|i| [f64::from(i % 7), f64::from(i % 5)]).collect();
/// let names: Vec<&str> = rows.iter().map(|[x, y]| if x > y { "below" } else { "above" }).collect();
/// let data = Dataset::from_rows(&rows, &names);
/// let all: Vec<u32> = (0..60).collect();
/// let candidates = portfolio(&data, 60, &Options::default())?;
/// let raced = race(&candidates, &data, &all, &RaceOptions::default(), &mut ())?;
/// assert!(raced.entrants[0].loss < Some(0.1));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn race(
    candidates: &[Spec],
    data: &Dataset,
    rows: &[u32],
    options: &RaceOptions,
    spectator: &mut dyn Spectator,
) -> Result<Race, Error> {
    let limit = options.budget.map(|budget| (Instant::now(), budget));
    let n_classes = data.labels().len();
    crate::train::two_classes(data.labels(), data.classes(), rows)?;
    let drawn = sample(data.classes(), n_classes, rows, MOST_ROWS, options.seed);
    let sampled = gather(data, &drawn);
    let ties = options.ties.of(&drawn);
    let bouts = bouts(&sampled, options.seed, &ties)?;
    let mut judged: Vec<u32> = Vec::new();
    let usual = Options::default();
    let asked = candidates.first().map_or(&usual, Spec::options);
    let by = Yardstick::new(options.metric, asked, &sampled)?;
    let shapes = options.shapes.iter().copied().chain(std::iter::repeat(Shape::Line));
    let mut runners: Vec<Runner> =
        candidates.iter().cloned().zip(shapes).map(|(spec, shape)| Runner::new(spec, shape)).collect();
    let mut cut_short = false;
    for (number, bout) in bouts.iter().enumerate() {
        if number > 0 && limit.is_some_and(|(start, budget)| start.elapsed() >= budget) {
            cut_short = true;
            break;
        }
        // Predictions of a bout that only decides who goes on are forgotten before one that counts.
        if number > 0 && !bouts[number - 1].counts {
            for runner in runners.iter_mut().filter(|runner| runner.is_running()) {
                runner.verdicts.iter_mut().for_each(|verdicts| *verdicts = Verdicts::default());
            }
            judged.clear();
        }
        judged.extend(&bout.judged);
        let so_far = Progress { bout: number + 1, bouts: bouts.len(), done: 0, of: 0 };
        let rescaled = standardised(&sampled, &bout.learned, &options.rescale);
        let seen = rescaled.as_ref().unwrap_or(&sampled);
        let mut shapes: Vec<Shape> =
            runners.iter().filter(|runner| runner.is_running()).map(|runner| runner.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let fit = |shape: &Shape| {
            let learned = bout.learned.iter().map(|&row| row as usize);
            let bends = Bends::fit(*shape, &sampled, learned, &options.numbers)?;
            Some((*shape, sampled.bent(&bends)))
        };
        let bent: Vec<(Shape, Dataset)> = shapes.iter().filter_map(fit).collect();
        let seen = Seen { straight: seen, bent: &bent };
        run_bout(&mut runners, &seen, bout, so_far, options, spectator)?;
        stand_all(&mut runners, &by, options);
        let is_last = number + 1 == bouts.len();
        if !is_last {
            eliminate(&mut runners, bout, number + 1);
        }
    }
    let folds = bouts.iter().filter(|bout| bout.counts).count();
    Ok(Race { groups: ties.groups_of(&judged), ..finish(runners, &by, sampled.len(), folds, cut_short)? })
}

/// The rows of a bout, by the shape of their columns.
struct Seen<'a> {
    straight: &'a Dataset,
    bent: &'a [(Shape, Dataset)],
}

impl Seen<'_> {
    fn of(&self, wanted: Shape) -> &Dataset {
        self.bent.iter().find(|(shape, _)| *shape == wanted).map_or(self.straight, |(_, data)| data)
    }
}

/// A candidate on its way.
struct Runner {
    spec: Spec,
    shape: Shape,
    /// Its predictions so far, for each rung of its ladder.
    verdicts: Vec<Verdicts>,
    /// How that compares.
    standing: Standing,
    /// The bout after which it left.
    left: Option<usize>,
    failure: Option<Error>,
}

/// How a candidate does at the rung that did best, of equals the last.
struct Standing {
    rung: usize,
    /// What candidates are compared by, less is better.
    value: f64,
    /// The same row by row, if it is a mean over rows.
    losses: Option<Vec<f64>>,
    /// What the race reports of it.
    loss: f64,
}

impl Runner {
    fn new(spec: Spec, shape: Shape) -> Self {
        let standing = Standing { rung: 0, value: f64::INFINITY, losses: None, loss: f64::INFINITY };
        let verdicts = vec![Verdicts::default(); rungs(&spec).len()];
        Self { spec, shape, verdicts, standing, left: None, failure: None }
    }

    fn is_running(&self) -> bool {
        self.left.is_none() && self.failure.is_none()
    }

    /// Compares its predictions with the true classes.
    fn stand(&mut self, by: &Yardstick) {
        let of_rung = |(rung, verdicts): (usize, &Verdicts)| {
            let losses = verdicts.losses(by);
            let loss = verdicts.loss(by);
            Standing { rung, value: losses.as_deref().map_or(loss, mean_of), losses, loss }
        };
        let ranked = self.verdicts.iter().enumerate().map(of_rung);
        if let Some(best) = ranked.min_by(|a, b| a.value.total_cmp(&b.value).then(b.rung.cmp(&a.rung))) {
            self.standing = best;
        }
    }
}

/// Compares the predictions of all that are still running with the true classes, in parallel.
fn stand_all(runners: &mut [Runner], by: &Yardstick, options: &RaceOptions) {
    let running: Vec<_> = runners.iter_mut().filter(|runner| runner.is_running()).collect();
    let n_threads = n_threads(options, running.len());
    let waiting = Mutex::new(running.into_iter());
    threads::on_threads(n_threads, || {
        while let Some(runner) = waiting.lock().ok().and_then(|mut waiting| waiting.next()) {
            runner.stand(by);
        }
    });
}

/// How many of this many candidates run side by side.
fn n_threads(options: &RaceOptions, n_candidates: usize) -> usize {
    options.threads.unwrap_or_else(threads::available).clamp(1, n_candidates.max(1))
}

/// The parts a race is run in.
fn bouts(data: &Dataset, seed: u64, ties: &Ties) -> Result<Vec<Bout>, Error> {
    let all: Vec<u32> = (0..data.len() as u32).collect();
    let n_rows = all.len();
    let mut bouts = Vec::new();
    let stays: [usize; 5] = if n_rows <= PATIENT { [usize::MAX; 5] } else { [5, 3, 3, 2, 2] };
    if n_rows > 2 * FIRST_BOUT {
        let (judged, learned) = if ties.is_empty() {
            split_rows(data.classes(), &all, FIRST_BOUT as f64 / n_rows as f64, seed)
        } else {
            let (learned, judged) = ties.split(data.classes(), &all, 0.3, seed)?;
            (judged, sample(data.classes(), data.labels().len(), &learned, FIRST_BOUT, seed))
        };
        let judged = sample(data.classes(), data.labels().len(), &judged, 2 * FIRST_BOUT, seed);
        // Few rows favour rules that need few: of two classes, which are learned quickly, more go on, however far they
        // trail.
        let (stay, allowed) = if data.labels().len() == 2 { (5, f64::INFINITY) } else { (3, CLEARLY_WORSE) };
        // Of classes with a handful of rows each, hardly one would be learned from.
        if learned.len() >= FIRST_BOUT / 2 {
            bouts.push(Bout { learned, judged, counts: false, stay, allowed });
        }
    }
    if n_rows > THREE_FOLDS {
        let (learned, judged) = ties.split(data.classes(), &all, 0.3, seed.wrapping_add(1))?;
        bouts.push(Bout { learned, judged, counts: true, stay: 1, allowed: CLEARLY_WORSE });
        return Ok(bouts);
    }
    let n_folds = if n_rows <= FIVE_FOLDS { 5 } else { 3 }.min(ties.most_folds().unwrap_or(n_rows));
    let folds: Vec<Part> = ties.parts(data.classes(), &all, n_folds, seed)?;
    for ((learned, judged), stay) in folds.into_iter().zip(stays) {
        bouts.push(Bout { learned, judged, counts: true, stay, allowed: CLEARLY_WORSE });
    }
    Ok(bouts)
}

/// Judges all who are still running on one part of the rows.
fn run_bout(
    runners: &mut [Runner],
    seen: &Seen<'_>,
    bout: &Bout,
    so_far: Progress,
    options: &RaceOptions,
    spectator: &mut dyn Spectator,
) -> Result<(), Error> {
    let running: Vec<usize> = (0..runners.len()).filter(|&idx| runners[idx].is_running()).collect();
    let specs: Vec<(Spec, &Dataset)> =
        running.iter().map(|&idx| (runners[idx].spec.clone(), seen.of(runners[idx].shape))).collect();
    let results: Vec<Mutex<Option<Result<_, Error>>>> = running.iter().map(|_| Mutex::new(None)).collect();
    let (next, done, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let caller = std::thread::current();
    // Judges one candidate after the other until none is left; `stop` and `told` are called in between.
    let work = |stop: &mut dyn FnMut() -> bool, told: &mut dyn FnMut()| {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((spec, data)) = specs.get(place) else { return };
            let result = judge(spec, data, &bout.learned, &bout.judged, stop);
            if let Ok(mut slot) = results[place].lock() {
                *slot = Some(result);
            }
            done.fetch_add(1, Ordering::Release);
            told();
        }
    };
    let n_threads = n_threads(options, specs.len());
    let spectator = std::cell::RefCell::new(spectator);
    let mut stop = || {
        if spectator.borrow_mut().wants_to_stop() {
            stopped.store(true, Ordering::Relaxed);
        }
        stopped.load(Ordering::Relaxed)
    };
    let mut told = || {
        let progress = Progress { done: done.load(Ordering::Acquire), of: specs.len(), ..so_far };
        spectator.borrow_mut().told(&progress);
    };
    let others = || work(&mut || stopped.load(Ordering::Relaxed), &mut || caller.unpark());
    threads::beside(n_threads - 1, others, || {
        work(&mut stop, &mut told);
        // The calling thread answers while others finish.
        while done.load(Ordering::Acquire) < specs.len() {
            std::thread::park_timeout(ANSWER_WITHIN);
            stop();
            told();
        }
    });
    for (idx, result) in running.into_iter().zip(results) {
        let runner = &mut runners[idx];
        match result.into_inner().ok().flatten() {
            Some(Ok(verdicts)) => {
                for (sum, part) in runner.verdicts.iter_mut().zip(verdicts) {
                    sum.add(part);
                }
            }
            Some(Err(stopped @ Error::Interrupted { .. })) => return Err(stopped),
            Some(Err(error)) => runner.failure = Some(error),
            None => runner.failure = Some(Error::NoRows),
        }
    }
    Ok(())
}

/// Those who are clearly worse than the leader of their shape leave, and the last of those who are too many.
fn eliminate(runners: &mut [Runner], bout: &Bout, number: usize) {
    let mut shapes: Vec<Shape> = runners.iter().map(|runner| runner.shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    for shape in shapes {
        eliminate_of(runners, shape, bout, number);
    }
}

fn eliminate_of(runners: &mut [Runner], shape: Shape, bout: &Bout, number: usize) {
    let is_of = |runner: &Runner| runner.is_running() && runner.shape == shape;
    let mut running: Vec<usize> = (0..runners.len()).filter(|&idx| is_of(&runners[idx])).collect();
    running.sort_by(|&a, &b| runners[a].standing.value.total_cmp(&runners[b].standing.value).then(a.cmp(&b)));
    let Some(&leader) = running.first() else { return };
    let leading = runners[leader].standing.losses.clone();
    for (rank, idx) in running.into_iter().enumerate() {
        let runner = &mut runners[idx];
        let is_worse = leading.as_ref().is_some_and(|leading| {
            let Some(losses) = &runner.standing.losses else { return true };
            let (mean, error) = difference(losses, leading);
            mean > bout.allowed * error && rank > 0
        });
        if is_worse || rank >= bout.stay {
            runner.left = Some(number);
            runner.standing.losses = None;
            runner.verdicts.iter_mut().for_each(Verdicts::forget_scores);
        }
    }
}

/// The mean of the differences of two lists of losses of the same rows, and its standard error.
fn difference(losses: &[f64], others: &[f64]) -> (f64, f64) {
    let n_rows = losses.len().max(2) as f64;
    let differences = || losses.iter().zip(others).map(|(loss, other)| loss - other);
    let mean = differences().sum::<f64>() / n_rows;
    let squares: f64 = differences().map(|difference| (difference - mean).powi(2)).sum();
    (mean, (squares / (n_rows - 1.0) / n_rows).sqrt())
}

/// Names the winner: the best with straight columns; if that one has a feature map, the best without a map that is
/// hardly worse; or the best of those whose columns bend, if it is clearly better; or the best of those that cross columns,
/// if that is clearly better still.
fn finish(
    runners: Vec<Runner>,
    by: &Yardstick,
    rows: usize,
    folds: usize,
    cut_short: bool,
) -> Result<Race, Error> {
    let value = |idx: usize| runners[idx].standing.value;
    let finishers: Vec<usize> = (0..runners.len()).filter(|&idx| runners[idx].is_running()).collect();
    let (crossed, finishers): (Vec<usize>, Vec<usize>) =
        finishers.into_iter().partition(|&idx| runners[idx].shape.crosses() > 0);
    let (straight, bent): (Vec<usize>, Vec<usize>) =
        finishers.into_iter().partition(|&idx| runners[idx].shape == Shape::Line);
    // Without straight ones, those that bend are compared as such.
    let (straight, bent) = if straight.is_empty() { (bent, Vec::new()) } else { (straight, bent) };
    let (straight, crossed) = if straight.is_empty() { (crossed, Vec::new()) } else { (straight, crossed) };
    let Some(&first) = straight.iter().min_by(|a, b| value(**a).total_cmp(&value(**b))) else {
        return Err(runners.into_iter().find_map(|runner| runner.failure).unwrap_or(Error::NoRows));
    };
    let has_map = |idx: usize| runners[idx].spec.options().map.is_some();
    let losses = |idx: usize| runners[idx].standing.losses.as_deref();
    let is_hardly_worse = |idx: usize| match (losses(first), losses(idx)) {
        (Some(leading), Some(losses)) => {
            let (mean, error) = difference(losses, leading);
            mean <= CLEARLY_WORSE * error
        }
        _ => value(idx) <= value(first),
    };
    let plain = straight.iter().copied().filter(|&idx| !has_map(idx) && is_hardly_worse(idx));
    let plain = plain.min_by(|&a, &b| value(a).total_cmp(&value(b)));
    let winner = if has_map(first) { plain.unwrap_or(first) } else { first };
    let winner = better_bent(&runners, by, winner, &bent).unwrap_or(winner);
    let winner = better_bent(&runners, by, winner, &crossed).unwrap_or(winner);
    let mut order: Vec<usize> = (0..runners.len()).collect();
    order.sort_by(|&a, &b| {
        let rank = |idx: usize| {
            let bouts = runners[idx].left.unwrap_or(usize::MAX);
            (idx != winner, runners[idx].failure.is_some(), std::cmp::Reverse(bouts))
        };
        rank(a).cmp(&rank(b)).then(value(a).total_cmp(&value(b))).then(a.cmp(&b))
    });
    let entrant = |idx: usize| {
        let Runner { spec, shape, verdicts, standing, left, failure } = &runners[idx];
        Entrant {
            spec: with_epochs(spec, rungs(spec)[standing.rung]),
            shape: *shape,
            loss: failure.is_none().then_some(standing.loss),
            compared: (left.is_none() && failure.is_none()).then_some(standing.value),
            judged: verdicts[standing.rung].len(),
            left: *left,
            failure: failure.as_ref().map(ToString::to_string),
        }
    };
    let entrants: Vec<Entrant> = order.into_iter().map(entrant).collect();
    let said = runners[winner].verdicts[runners[winner].standing.rung].clone();
    let (winner, metric, n_classes) = (entrants[0].spec.clone(), by.metric, by.n_classes);
    Ok(Race { winner, metric, rows, folds, entrants, cut_short, said, groups: None, n_classes })
}

/// The best of those whose columns `bent`, or are crossed, if it is clearly better than a simpler one.
fn better_bent(runners: &[Runner], by: &Yardstick, simpler: usize, bent: &[usize]) -> Option<usize> {
    let fine = |idx: usize| runners[idx].verdicts[runners[idx].standing.rung].fine_losses(by);
    let all = bent.iter().filter_map(|&idx| Some((idx, fine(idx)?)));
    let (best, losses) = all.min_by(|a, b| mean_of(&a.1).total_cmp(&mean_of(&b.1)))?;
    // Where a line makes as few mistakes, sharper probabilities alone are not worth a curve.
    let has_fewer = runners[best].standing.loss < runners[simpler].standing.loss;
    (has_fewer && is_clearly_worse(&fine(simpler)?, &losses, CLEARLY_WORSE)).then_some(best)
}

/// Whether losses exceed others of the same rows by more than this many standard errors of the difference: what a shape must
/// do to a simpler one, of classes and of numbers.
pub(crate) fn is_clearly_worse(losses: &[f64], others: &[f64], n_errors: f64) -> bool {
    let (mean, error) = difference(losses, others);
    mean > n_errors * error
}

fn with_epochs(spec: &Spec, epochs: u64) -> Spec {
    let options = Options { epochs, ..spec.options().clone() };
    Spec::new(options).unwrap_or_else(|_| spec.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    fn data(n_rows: usize, n_classes: u64, noise: f64, seed: u64) -> Dataset {
        let mut random = Random::new(seed);
        let mut names = Vec::new();
        let rows: Vec<Vec<f64>> = (0..n_rows)
            .map(|_| {
                let class = random.below(n_classes);
                names.push(format!("class {class}"));
                (0..6).map(|f| f64::from(u8::from(f == class)) + noise * (random.unit() - 0.5)).collect()
            })
            .collect();
        Dataset::from_rows(&rows, &names)
    }

    fn told(race: &Race) -> String {
        serde_json::to_string(race).unwrap()
    }

    #[test]
    fn threads_change_nothing() {
        for (n_rows, n_classes) in [(120, 2), (700, 3), (3300, 2)] {
            let data = data(n_rows, n_classes, 2.0, 5);
            let rows: Vec<u32> = (0..n_rows as u32).collect();
            let candidates = portfolio(&data, n_rows, &Options { seed: 1, ..Options::default() }).unwrap();
            let run = |threads| {
                let options = RaceOptions { threads: Some(threads), seed: 1, ..RaceOptions::default() };
                told(&race(&candidates, &data, &rows, &options, &mut ()).unwrap())
            };
            assert_eq!(run(1), run(3), "{n_rows} rows");
        }
    }

    #[test]
    fn rows_that_are_not_given_are_not_looked_at() {
        let data = data(300, 2, 1.5, 8);
        let rows: Vec<u32> = (0..200).collect();
        let candidates = portfolio(&data, 200, &Options::default()).unwrap();
        let raced = race(&candidates, &data, &rows, &RaceOptions::default(), &mut ()).unwrap();
        let part = gather(&data, &rows);
        let alone = race(&candidates, &part, &rows, &RaceOptions::default(), &mut ()).unwrap();
        assert_eq!(told(&raced), told(&alone));
    }

    #[test]
    fn the_worse_leave_and_the_simplest_of_equals_wins() {
        let data = data(600, 2, 1.2, 3);
        let rows: Vec<u32> = (0..600).collect();
        let spec = |epochs, rate: &str| {
            Spec::new(Options { epochs, rate: Some(rate.parse().unwrap()), ..Options::default() }).unwrap()
        };
        // A rate changes nothing that a perceptron from zero says: the second is the first again.
        let twins = [spec(8, "1"), spec(8, "0.5")];
        let raced = race(&twins, &data, &rows, &RaceOptions::default(), &mut ()).unwrap();
        assert_eq!(raced.winner.options().rate.as_ref().map(ToString::to_string).as_deref(), Some("1"));
        assert_eq!(raced.entrants[0].loss, raced.entrants[1].loss);
        assert_eq!((raced.entrants[0].judged, raced.folds), (600, 5));
    }

    #[test]
    fn a_spectator_can_stop_it_and_a_candidate_that_fails_only_leaves() {
        struct Impatient;
        impl Spectator for Impatient {
            fn wants_to_stop(&mut self) -> bool {
                true
            }
        }
        let data = data(100, 2, 1.0, 3);
        let rows: Vec<u32> = (0..100).collect();
        let candidates = portfolio(&data, 100, &Options::default()).unwrap();
        let stopped = race(&candidates, &data, &rows, &RaceOptions::default(), &mut Impatient);
        assert!(matches!(stopped, Err(Error::Interrupted { .. })));
        let huge = Spec::new(Options { rate: Some("1e308".parse().unwrap()), ..Options::default() }).unwrap();
        let raced =
            race(&[huge.clone(), Spec::default()], &data, &rows, &RaceOptions::default(), &mut ()).unwrap();
        assert!(raced.winner.options().rate.is_none());
        assert!(raced.entrants[1].failure.is_some());
        let failed = race(&[huge], &data, &rows, &RaceOptions::default(), &mut ());
        assert!(matches!(failed, Err(Error::Overflow { .. })));
        let one_class: Vec<u32> =
            rows.iter().copied().filter(|&row| data.classes()[row as usize] == 0).collect();
        let refused = race(&candidates, &data, &one_class, &RaceOptions::default(), &mut ());
        assert!(matches!(refused, Err(Error::OneClass { .. })));
    }
}
