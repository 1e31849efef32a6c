//! The training loop. There is only this one.
//!
//! A [`Run`] puts a rule, a space, its memory and a decision together and shows them examples, one at
//! a time: score, ask the rule, move or survive. Epochs over rows in memory or on disk, single examples from a stream and
//! the steps of a classroom demonstration all go through [`Run::learn`].

use crate::convention::{Bias, Convention, ConventionError, Mistake, Zero};
use crate::decision::{Decision, Problem};
use crate::examples::Examples;
use crate::memory::{Average, Kept, Memories, Readout, Remember};
use crate::observer::{Epoch, Observer, Round, Snapshot};
use crate::order::Order;
use crate::random::Random;
use crate::row::Row;
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::simd::{self, Work};
use crate::space::{Hyperplanes, LinearSpace, Move, Outcome, Shape, Space, Visits};
use crate::state::{State, StateError, at_most};
use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;

/// What a run needs to know besides its rule and its classes.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Features; a run can be [widened](Run::widen) later.
    pub width: usize,
    /// The textbook conventions.
    pub convention: Convention,
    /// Which hypotheses to remember.
    pub remember: Remember,
    /// Where to start; zero if nothing is given.
    pub start: Option<Hyperplanes>,
    /// How much each class counts; 1 where nothing is given.
    pub class_weights: Vec<f64>,
    /// For coin tosses.
    pub seed: u64,
}

/// A setup that cannot work, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SetupError {
    /// The conventions contradict each other.
    Convention(ConventionError),
    /// The rule steps on the whole vector, so a bias beside it would not be part of its guarantee.
    BiasBeside(&'static str),
    /// scikit-learn's recurrence is not defined for rules that shrink their weights.
    RunningAverage(&'static str),
    /// The starting planes do not fit the classes.
    Start {
        /// How many hyperplanes the classes need.
        needed: usize,
        /// How many were given.
        given: usize,
    },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Convention(error) => error.fmt(f),
            Self::BiasBeside(name) => write!(
                f,
                "`{name}` steps on the whole vector, so its bias must be a coordinate of it; \
                 use `bias = augmented(1)` or `bias = none`"
            ),
            Self::RunningAverage(name) => {
                write!(
                    f,
                    "`average = running` is not defined for `{name}`, which shrinks its weights; use `post`"
                )
            }
            Self::Start { needed, given } => {
                write!(f, "`start` should hold {needed} hyperplanes for these classes, but holds {given}")
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// The names of the hyperplanes that a cycle is found by.
const ANCHOR: [&str; 2] = ["anchor-weights", "anchor-biases"];

/// After how many visits whoever watches may pause a run: often enough for a person who waits.
const PART: usize = 1024;
/// The same where every visit may have to look at all rows.
const PART_JUDGED: usize = 64;

/// How long a run goes on, and in which order it visits rows.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The rows to learn from; all if nothing is given.
    pub rows: Option<&'a [u32]>,
    /// In which order.
    pub order: &'a Order,
    /// For shuffles and draws.
    pub seed: u64,
    /// Stop after this many epochs, counted from the beginning of the run.
    pub epochs: u64,
    /// Stop after this many steps, counted from the beginning of the run.
    pub max_updates: Option<u64>,
    /// Stop when nothing is left to learn: after an epoch that met every row without a mistake or a step, when the rule has
    /// converged, or when the same hypotheses come round again.
    pub stop_when_clean: bool,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All epochs were made.
    Epochs,
    /// All steps were made.
    Updates,
    /// An epoch that met every row found nothing left to learn: the data is separated.
    Clean,
    /// The rule found the hypothesis it looks for, to its tolerance.
    Converged,
    /// The hypothesis after an epoch was the one after an earlier epoch, under an order and a rule that repeat themselves:
    /// from here on nothing new would ever come.
    Cycle,
    /// An observer had seen enough.
    Observer,
}

/// Totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Epochs finished.
    pub epochs: u64,
    /// Examples shown.
    pub rounds: u64,
    /// Mistakes made, summed over outputs.
    pub mistakes: u64,
    /// Steps made, summed over outputs.
    pub updates: u64,
    /// Rows that were given the wrong class before they were learned from.
    pub errors: u64,
}

impl Totals {
    fn to_list(self) -> [u64; 5] {
        [self.epochs, self.rounds, self.mistakes, self.updates, self.errors]
    }

    fn from_list([epochs, rounds, mistakes, updates, errors]: [u64; 5]) -> Self {
        Self { epochs, rounds, mistakes, updates, errors }
    }
}

/// Memories as the loop needs them: someone may ask for the training errors of a hypothesis.
pub trait Recall {
    /// A hypothesis whose training errors are wanted.
    fn to_judge(&self) -> Option<&Hyperplanes> {
        None
    }

    /// How many training errors it makes.
    fn judged(&mut self, _errors: u64) {}

    /// Whether hypotheses are judged now and then, each time on all rows.
    fn judges(&self) -> bool {
        false
    }
}

impl Recall for () {}

impl Recall for Memories {
    fn to_judge(&self) -> Option<&Hyperplanes> {
        Memories::to_judge(self)
    }

    fn judged(&mut self, errors: u64) {
        Memories::judged(self, errors);
    }

    fn judges(&self) -> bool {
        Memories::judges(self)
    }
}

/// A rule at work: rule, space, memory and decision, shown examples one at a time.
#[derive(Debug, Clone)]
pub struct Run<R, S: Space, D> {
    rule: R,
    needs: Needs,
    /// Whether rounds without a mistake need not be shown to the rule.
    mistake_driven: bool,
    space: S,
    memory: S::Memory,
    decision: D,
    convention: Convention,
    class_weights: Vec<f64>,
    random: Random,
    totals: Totals,
    /// The totals when the current epoch began, and how many of its visits are over.
    before: Totals,
    place: usize,
    max_updates: u64,
    /// Whether the last epoch changed nothing of weight, as the space says.
    has_converged: bool,
    /// The hyperplanes after an earlier epoch, to see whether they come back; replaced when the number of epochs has
    /// doubled (Brent 1980), so that a cycle of any length is found.
    anchor: Option<Hyperplanes>,
    scores: Vec<f64>,
    /// The moves of the current row that are still to be made; none between two rounds.
    moves: Vec<Move>,
}

impl<R: Algorithm, D: Decision> Run<R, R::Space, D> {
    /// A run of `rule` that has seen nothing yet.
    pub fn new(rule: R, decision: D, setup: Setup) -> Result<Self, SetupError> {
        let space = |shape| rule.space(shape);
        let (space, memory) = setup.prepare(&R::INFO, decision.n_outputs(), space)?;
        let Setup { convention, class_weights, seed, .. } = setup;
        let run = Self::from_parts(rule, space, memory, decision, convention, class_weights, seed);
        Ok(Self { mistake_driven: R::INFO.mistake_driven, ..run })
    }
}

impl<S: LinearSpace, D: Decision> Run<Box<dyn Rule + Send + Sync>, S, D> {
    /// A run of `rule` with the rule behind a pointer: fewer copies of the loop, a virtual call per
    /// score. For several classes, where the scores cost more than the call.
    pub fn erased<R: Algorithm<Space = S>>(rule: R, decision: D, setup: Setup) -> Result<Self, SetupError> {
        let space = |shape| rule.space(shape);
        let (space, memory) = setup.prepare(&R::INFO, decision.n_outputs(), space)?;
        let Setup { convention, class_weights, seed, .. } = setup;
        let run = Self::from_parts(Box::new(rule), space, memory, decision, convention, class_weights, seed);
        Ok(Self { mistake_driven: R::INFO.mistake_driven, ..run })
    }
}

impl Setup {
    /// Whether this can work with a rule, whatever space it moves in.
    pub fn check(&self, info: &Info) -> Result<(), SetupError> {
        let from_zero = self.start.as_ref().is_none_or(Hyperplanes::is_zero);
        self.convention.check(from_zero, info.mistake_driven).map_err(SetupError::Convention)?;
        if info.whole_vector && self.convention.bias == Bias::Learned {
            return Err(SetupError::BiasBeside(info.name));
        }
        if self.remember.running && info.shrinks {
            return Err(SetupError::RunningAverage(info.name));
        }
        Ok(())
    }

    /// The empty hypothesis and its memory, unless the setup cannot work.
    fn prepare<S: LinearSpace>(
        &self,
        info: &Info,
        n_outputs: usize,
        space: impl FnOnce(Shape) -> S,
    ) -> Result<(S, Memories), SetupError> {
        self.check(info)?;
        let Self { width, convention, remember, start, .. } = self;
        let mut space = space(Shape { width: *width, n_outputs, bias: convention.bias });
        if let Some(planes) = start {
            if planes.n_outputs() != n_outputs {
                return Err(SetupError::Start { needed: n_outputs, given: planes.n_outputs() });
            }
            space.start_from(planes);
        }
        let memory = Memories::new(*remember, space.linear());
        Ok((space, memory))
    }
}

impl<R: Rule, S: Space, D: Decision> Run<R, S, D> {
    /// A run from its parts, for spaces and rules that are not in the table.
    pub fn from_parts(
        rule: R,
        mut space: S,
        memory: S::Memory,
        decision: D,
        convention: Convention,
        class_weights: Vec<f64>,
        seed: u64,
    ) -> Self {
        let needs = rule.needs();
        if needs.norm2 {
            space.track_norm();
        }
        let scores = vec![0.0; decision.n_outputs()];
        let random = Random::for_purpose(seed, "ties");
        let (totals, max_updates) = (Totals::default(), u64::MAX);
        Self {
            rule,
            needs,
            mistake_driven: false,
            space,
            memory,
            decision,
            convention,
            class_weights,
            random,
            totals,
            before: totals,
            place: 0,
            max_updates,
            has_converged: false,
            anchor: None,
            scores,
            moves: Vec::new(),
        }
    }

    /// The totals so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The rule at work.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// The hypothesis as it stands.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// How scores become classes.
    pub fn decision(&self) -> &D {
        &self.decision
    }

    /// Makes room for rows of `width` features.
    pub fn widen(&mut self, width: usize) {
        self.space.widen(width);
    }
}

/// An example as the loop meets it.
struct Shown<R> {
    place: usize,
    row_idx: usize,
    row: R,
    class: u32,
    weight: f64,
    round: u64,
}

/// What of a run learns, apart from the decision that poses the problems.
struct Learner<'r, R, S: Space> {
    rule: &'r R,
    needs: Needs,
    space: &'r mut S,
    memory: &'r mut S::Memory,
    convention: Convention,
    random: &'r mut Random,
    totals: &'r mut Totals,
    moves: &'r mut Vec<Move>,
}

/// What the loop keeps while it goes over some visits.
struct Watch<'o, O: ?Sized> {
    observer: &'o mut O,
    rounds: bool,
    stopped: Option<Stopped>,
}

impl<R: Rule, S: Space, D: Decision> Run<R, S, D>
where
    S::Memory: Recall,
{
    /// Shows the visited rows, once, in their order. Breaks when an observer or the limit of steps
    /// ends the run.
    pub fn learn<E: Examples, O: Observer + ?Sized>(
        &mut self,
        examples: E,
        visits: Visits<'_>,
        observer: &mut O,
    ) -> ControlFlow<Stopped> {
        self.learn_judged(examples, visits, Visits::all(examples), observer, true)
    }

    /// [`Run::learn`], with hypotheses judged on the rows `training`. A block that is cut off at the end of
    /// the visits is only over if the visits are the `last` ones.
    fn learn_judged<E: Examples, O: Observer + ?Sized>(
        &mut self,
        examples: E,
        visits: Visits<'_>,
        training: Visits<'_>,
        observer: &mut O,
        last: bool,
    ) -> ControlFlow<Stopped> {
        self.space.widen(examples.width());
        let rounds = observer.wants_rounds();
        if rounds {
            self.space.track_norm();
        }
        let plain = D::SOLE && !rounds && !self.needs.norm2;
        let mut watch = Watch { observer, rounds, stopped: None };
        let block = self.space.block(examples).max(1);
        let mut from = 0;
        while from < visits.len() && watch.stopped.is_none() {
            let to = visits.len().min(from.saturating_add(block));
            let part = visits.part(from, to);
            self.space.prepare(examples, part);
            if plain {
                simd::widest(PlainRounds { run: self, examples, visits: part, training, watch: &mut watch });
            } else {
                let rows = (0..part.len()).map(|place| {
                    if let Visits::Listed(listed) = part {
                        announce(examples, listed, place);
                    }
                    (examples.row(part.row(place)), examples.class(part.row(place)))
                });
                self.rounds::<false, _, _>(examples, rows, part, training, &mut watch);
            }
            if last || to - from == block || watch.stopped.is_some() {
                self.space.settle(self.totals.rounds, &mut self.memory);
            }
            from = to;
        }
        watch.stopped.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }

    /// Shows the rows of one block.
    ///
    /// Compiled more than once: `PLAIN` rounds have a sole output, nobody who watches and a rule that asks
    /// for no norm, and most of them are [quiet](Self::is_quiet). They get [wide registers](simd::widest).
    #[inline(always)]
    fn rounds<const PLAIN: bool, E: Examples, O: Observer + ?Sized>(
        &mut self,
        examples: E,
        rows: impl Iterator<Item = (E::Row, u32)>,
        visits: Visits<'_>,
        training: Visits<'_>,
        watch: &mut Watch<'_, O>,
    ) {
        let (mut one, mut many) = ([0.0], if PLAIN { Vec::new() } else { self.scores.clone() });
        let scores = if PLAIN { &mut one[..] } else { &mut many[..] };
        // Counted apart from the other totals, so that it can stay in a register.
        let mut round = self.totals.rounds;
        let all_count = self.class_weights.is_empty() && examples.is_unweighted();
        let mut rows = rows.enumerate();
        'loud: loop {
            // Nothing moves until a round is loud. This loop looks for one and keeps all it needs at hand.
            let shown = {
                let Self { rule, space, decision, class_weights, .. } = self;
                let sole_score = space.sole_output();
                // What a dual variable says is not known before the round is met.
                let may_be_quiet = !rule.needs().dual;
                let updates = space.moves(0);
                loop {
                    let Some((place, (row, class))) = rows.next() else { break 'loud };
                    let row_idx = visits.row(place);
                    let weight = if all_count { 1.0 } else { weight_of(examples, class_weights, row_idx) };
                    if weight == 0.0 {
                        continue;
                    }
                    round += 1;
                    let shown = Shown { place, row_idx, row, class, weight, round };
                    if !PLAIN {
                        space.scores(place, row, scores);
                        break shown;
                    }
                    let score = sole_score(place, row);
                    if !(may_be_quiet && is_quiet(rule, decision, class, score, round, updates)) {
                        scores[0] = score;
                        break shown;
                    }
                }
            };
            if self.round::<PLAIN, _, _>(&shown, scores, watch) {
                self.judge(examples, training);
                if self.totals.updates >= self.max_updates {
                    watch.stopped = Some(Stopped::Updates);
                }
            }
            if watch.stopped.is_some() {
                break;
            }
        }
        self.totals.rounds = round;
    }

    /// One example, already scored. Says whether the hypothesis moved.
    #[inline(always)]
    fn round<const PLAIN: bool, X: Row, O: Observer + ?Sized>(
        &mut self,
        shown: &Shown<X>,
        scores: &[f64],
        watch: &mut Watch<'_, O>,
    ) -> bool {
        let Self { rule, needs, space, memory, decision, convention, random, totals, moves, .. } = self;
        let mistake_driven = self.mistake_driven;
        if PLAIN {
            let (margin, label) = sole_problem(decision, shown.class, scores);
            let problem = Problem { margin, label, directions: &[(0, label)], joint: false };
            let wrong = margin < 0.0;
            let decided = if wrong { None } else { decision.decide(scores, convention.zero, random) };
            totals.errors += u64::from(decided != Some(shown.class));
            // What the rule needs is asked, not remembered: the answer is known when this is compiled.
            let needs = rule.needs();
            let convention = *convention;
            let mut learner = Learner { rule, needs, space, memory, convention, random, totals, moves };
            let mistaken = wrong || learner.is_mistaken(&problem, shown.class, decided, scores);
            return learner.meet::<PLAIN, _, _>(&problem, shown, mistaken, scores, watch);
        }
        let decided = decision.decide(scores, convention.zero, random);
        totals.errors += u64::from(decided != Some(shown.class));
        let (needs, convention) = (*needs, *convention);
        let mut learner = Learner { rule, needs, space, memory, convention, random, totals, moves };
        let mut moved = false;
        // Whoever is right has nothing to learn from such a rule, under every convention.
        let only_mistakes = mistake_driven && !watch.rounds;
        decision.problems(shown.class, scores, |problem| {
            if only_mistakes && problem.margin > 0.0 {
                return;
            }
            let mistaken = learner.is_mistaken(&problem, shown.class, decided, scores);
            moved |= learner.meet::<PLAIN, _, _>(&problem, shown, mistaken, scores, watch);
        });
        if !moves.is_empty() {
            space.shift_together(shown.place, shown.row, moves, memory);
            moves.clear();
        }
        moved
    }

    /// Tells a memory that wants to know how many training errors a hypothesis makes.
    #[inline(always)]
    fn judge<E: Examples>(&mut self, examples: E, training: Visits<'_>) {
        if self.memory.to_judge().is_some() {
            self.judge_now(examples, training);
        }
    }

    #[cold]
    fn judge_now<E: Examples>(&mut self, examples: E, training: Visits<'_>) {
        if let Some(planes) = self.memory.to_judge() {
            let errors =
                errors_among(planes, &self.decision, self.convention.zero, examples, training, |row_idx| {
                    weight_of(examples, &self.class_weights, row_idx) == 0.0
                });
            self.memory.judged(errors);
        }
    }

    /// The visited row with the smallest margin, the first of them if several have it. Hidden rows are
    /// no candidates: nothing would ever move them up.
    fn worst<E: Examples>(&mut self, examples: E, visits: Visits<'_>) -> u32 {
        let mut worst = (f64::INFINITY, 0);
        let block = self.space.block(examples).max(1);
        let mut from = 0;
        while from < visits.len() {
            let part = visits.part(from, visits.len().min(from.saturating_add(block)));
            self.space.prepare(examples, part);
            for place in 0..part.len() {
                let row_idx = part.row(place);
                if weight_of(examples, &self.class_weights, row_idx) == 0.0 {
                    continue;
                }
                self.space.scores(place, examples.row(row_idx), &mut self.scores);
                self.decision.problems(examples.class(row_idx), &self.scores, |problem| {
                    if problem.margin < worst.0 {
                        worst = (problem.margin, row_idx as u32);
                    }
                });
            }
            from += part.len();
        }
        worst.1
    }
}

/// So many visits before its turn a row is announced.
const AHEAD: usize = 4;

/// Announces a row of the list in time for its turn: where it lies, nobody could guess.
#[inline(always)]
fn announce<E: Examples>(examples: E, listed: &[u32], place: usize) {
    if let Some(&soon) = listed.get(place + AHEAD) {
        examples.announce(soon as usize);
    }
}

/// [`Run::rounds`] where they are plain.
struct PlainRounds<'r, 'o, 'v, R, S: Space, D, E, O: ?Sized> {
    run: &'r mut Run<R, S, D>,
    examples: E,
    visits: Visits<'v>,
    training: Visits<'v>,
    watch: &'r mut Watch<'o, O>,
}

impl<R, S, D, E, O> Work for PlainRounds<'_, '_, '_, R, S, D, E, O>
where
    R: Rule,
    S: Space,
    S::Memory: Recall,
    D: Decision,
    E: Examples,
    O: Observer + ?Sized,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { run, examples, visits, training, watch } = self;
        match visits {
            Visits::Range { first, end } => {
                let rows = examples.stretch(first, end);
                run.rounds::<true, _, _>(examples, rows, visits, training, watch);
            }
            Visits::Listed(listed) => {
                let rows = listed.iter().enumerate().map(|(place, &row_idx)| {
                    announce(examples, listed, place);
                    (examples.row(row_idx as usize), examples.class(row_idx as usize))
                });
                run.rounds::<true, _, _>(examples, rows, visits, training, watch);
            }
        }
    }
}

impl<R: Rule, S: Space> Learner<'_, R, S> {
    /// Whether the output was mistaken, by the convention of the run.
    #[inline(always)]
    fn is_mistaken(
        &mut self,
        problem: &Problem<'_>,
        class: u32,
        decided: Option<u32>,
        scores: &[f64],
    ) -> bool {
        let Convention { mistake, zero, .. } = self.convention;
        match mistake {
            Mistake::Le0 => problem.margin <= 0.0,
            Mistake::Lt0 => problem.margin < 0.0,
            Mistake::Pred if problem.margin != 0.0 => problem.margin < 0.0,
            Mistake::Pred if problem.joint || scores.len() == 1 => decided != Some(class),
            Mistake::Pred => tie_is_mistaken(problem.label, zero, self.random),
        }
    }

    /// One problem of an example that was already scored: asks the rule, moves, and tells who watches.
    /// Says whether the hypothesis moved.
    #[inline(always)]
    fn meet<const PLAIN: bool, X: Row, O: Observer + ?Sized>(
        &mut self,
        problem: &Problem<'_>,
        shown: &Shown<X>,
        mistaken: bool,
        scores: &[f64],
        watch: &mut Watch<'_, O>,
    ) -> bool {
        let Self { rule, needs, space, memory, convention, totals, moves, .. } = self;
        let Shown { place, row_idx, row, class, weight, round } = *shown;
        totals.mistakes += u64::from(mistaken);
        let mut seen = Seen::of(problem, mistaken, round, updates(*space, totals, problem));
        if !PLAIN && needs.norm2 {
            seen.norm2 = norm2(*space, problem);
        }
        if needs.dual {
            (seen.dual, seen.weight) = (space.dual(place, problem.directions[0].0), weight);
        }
        let mut step = None;
        if rule.acts(&seen) {
            if needs.spread {
                seen.spread = problem
                    .directions
                    .iter()
                    .map(|(output, direction)| direction * direction * space.spread(place, *output, row))
                    .sum();
            }
            step = rule.step(&seen);
        }
        // A row of zeros mostly moves nothing unless there is a bias to move.
        if step.is_some() && convention.bias == Bias::None && space.is_still(row) {
            step = None;
        }
        if let Some(step) = step {
            totals.updates += 1;
            let together = !PLAIN && S::MOVES_TOGETHER && !watch.rounds;
            each_move(problem, step, weight, round, scores, |step| {
                if together {
                    moves.push(step);
                } else {
                    space.shift(place, row, step, memory);
                }
            });
        }
        if !PLAIN && watch.rounds {
            let output = problem.directions[0].0;
            let told = Round {
                round,
                epoch: totals.epochs + 1,
                row: row_idx,
                class,
                output,
                label: problem.label,
                activation: scores[output],
                margin: problem.margin,
                mistaken,
                step,
                weight,
                spread: space.spread(place, output, row),
                norm2: norm2(*space, problem),
                hypothesis: *space,
            };
            if watch.observer.round(&told).is_break() {
                watch.stopped = Some(Stopped::Observer);
            }
        }
        step.is_some()
    }
}

/// Margin and label of the problem that a decision with a sole output poses. Out of its closure, which the
/// compiler would not always merge into the loop.
#[inline(always)]
fn sole_problem<D: Decision>(decision: &mut D, class: u32, scores: &[f64]) -> (f64, f64) {
    let mut posed = (0.0, 0.0);
    decision.problems(class, scores, |problem| posed = (problem.margin, problem.label));
    posed
}

impl Seen {
    /// What is seen of a problem at no cost.
    #[inline(always)]
    fn of(problem: &Problem<'_>, mistaken: bool, round: u64, updates: u64) -> Self {
        let Problem { margin, label, .. } = *problem;
        Self { margin, mistaken, label, round, updates, ..Self::default() }
    }
}

/// How often what a problem calls the hypothesis has moved.
#[inline(always)]
fn updates<S: Space>(space: &S, totals: &Totals, problem: &Problem<'_>) -> u64 {
    if problem.joint { totals.updates } else { space.moves(problem.directions[0].0) }
}

/// Whether a plain round is over with its score: the output is right, which under every convention is no
/// mistake and no error, and the rule does not act. Most rounds are.
#[inline(always)]
fn is_quiet<R: Rule, D: Decision>(
    rule: &R,
    decision: &mut D,
    class: u32,
    score: f64,
    round: u64,
    updates: u64,
) -> bool {
    let (margin, label) = sole_problem(decision, class, &[score]);
    let problem = Problem { margin, label, directions: &[(0, label)], joint: false };
    margin > 0.0 && !rule.acts(&Seen::of(&problem, false, round, updates))
}

/// `‖w‖²` of what a problem calls the hypothesis.
fn norm2<S: Space>(space: &S, problem: &Problem<'_>) -> f64 {
    if problem.joint {
        (0..space.n_outputs()).map(|output| space.norm2(output)).sum()
    } else {
        space.norm2(problem.directions[0].0)
    }
}

fn tie_is_mistaken(label: f64, zero: Zero, random: &mut Random) -> bool {
    match zero {
        Zero::Plus => label < 0.0,
        Zero::Minus => label > 0.0,
        Zero::Random => random.below(2) == 0,
        Zero::Wrong => true,
    }
}

/// The moves of the step a problem asks for.
#[inline(always)]
fn each_move(
    problem: &Problem<'_>,
    step: Step,
    weight: f64,
    round: u64,
    scores: &[f64],
    mut make: impl FnMut(Move),
) {
    let Step { tau, keep, extra } = step;
    let of = |output: usize, direction: f64| {
        // The label last: all else is known before the score is.
        let amount = direction * (tau * weight);
        Move { output, amount, keep, extra, score: scores[output], round }
    };
    for &(output, direction) in problem.directions {
        make(of(output, direction));
    }
    if problem.joint && keep != 1.0 {
        // All outputs are one vector: those that do not step still shrink.
        let bystanders =
            (0..scores.len()).filter(|output| problem.directions.iter().all(|(k, _)| k != output));
        for output in bystanders {
            make(of(output, 0.0));
        }
    }
}

/// How much row `row_idx` counts, its class considered.
#[inline(always)]
fn weight_of<E: Examples>(examples: E, class_weights: &[f64], row_idx: usize) -> f64 {
    let weight = examples.weight(row_idx);
    class_weights.get(examples.class(row_idx) as usize).map_or(weight, |class_weight| weight * class_weight)
}

/// How many of the visited rows `planes` gives the wrong class. Rows of weight 0 are hidden here too.
pub fn count_errors<E: Examples, D: Decision>(
    planes: &Hyperplanes,
    decision: &D,
    zero: Zero,
    examples: E,
    visits: Visits<'_>,
) -> u64 {
    errors_among(planes, decision, zero, examples, visits, |row_idx| examples.weight(row_idx) == 0.0)
}

fn errors_among<E: Examples, D: Decision>(
    planes: &Hyperplanes,
    decision: &D,
    zero: Zero,
    examples: E,
    visits: Visits<'_>,
    hidden: impl Fn(usize) -> bool,
) -> u64 {
    let mut random = Random::new(0);
    let mut errors = 0;
    planes.each(examples, visits, |row_idx, scores| {
        if !hidden(row_idx) {
            errors += u64::from(decision.decide(scores, zero, &mut random) != Some(examples.class(row_idx)));
        }
    });
    errors
}

impl<R: Rule, S: Outcome, D: Decision> Run<R, S, D> {
    /// Learns from the rows, epoch by epoch, until the plan says stop.
    pub fn fit<E: Examples, O: Observer + ?Sized>(
        &mut self,
        examples: E,
        plan: &Plan<'_>,
        observer: &mut O,
    ) -> Stopped {
        self.space.widen(examples.width());
        self.space.stays(examples);
        let all: Vec<u32>;
        let rows = if let Some(rows) = plan.rows {
            rows
        } else {
            all = (0..examples.len() as u32).collect();
            &all
        };
        let training = Visits::Listed(rows);
        let show = |run: &mut Self, observer: &mut O| -> Result<_, Infallible> {
            Ok(match plan.order {
                Order::Given => run.epoch_in_parts(examples, training, training, observer),
                Order::Worst => run.epoch_over_worst(examples, training, observer),
                order => {
                    let arranged = order.arrange(rows, run.totals.epochs + 1, plan.seed);
                    run.epoch_in_parts(examples, Visits::Listed(&arranged), training, observer)
                }
            })
        };
        let judge = |run: &mut Self| run.judge(examples, training);
        let Ok(stopped) = self.epochs(plan, (plan.order, rows), observer, show, judge);
        self.space.leaves();
        stopped
    }

    /// The same for rows that are lent block by block. `epoch` shows the rest of an epoch, all that is behind the
    /// [place](Run::place) the run has come to, with [`Run::learn`]; it breaks with nothing if the run is to be left
    /// there. Rows are taken as they stand, whatever order the plan names, and no hypothesis is judged on all of them.
    pub fn fit_in_blocks<O: Observer + ?Sized, X>(
        &mut self,
        plan: &Plan<'_>,
        observer: &mut O,
        epoch: impl FnMut(&mut Self, &mut O) -> Result<ControlFlow<Option<Stopped>>, X>,
    ) -> Result<Stopped, X> {
        self.epochs(plan, (&Order::Given, plan.rows.unwrap_or_default()), observer, epoch, |_| ())
    }

    /// The loop over `rows` in this order.
    fn epochs<O: Observer + ?Sized, X>(
        &mut self,
        plan: &Plan<'_>,
        (order, rows): (&Order, &[u32]),
        observer: &mut O,
        mut show: impl FnMut(&mut Self, &mut O) -> Result<ControlFlow<Option<Stopped>>, X>,
        judge: impl Fn(&mut Self),
    ) -> Result<Stopped, X> {
        self.max_updates = plan.max_updates.unwrap_or(u64::MAX);
        if self.totals.updates >= self.max_updates {
            return Ok(Stopped::Updates);
        }
        while self.totals.epochs < plan.epochs {
            self.begin_epoch();
            let flow = show(self, observer)?;
            if flow == ControlFlow::Break(None) {
                return Ok(Stopped::Observer);
            }
            self.place = 0;
            let before = self.before;
            let epoch = self.end_epoch(&before);
            judge(self);
            if let ControlFlow::Break(Some(stopped)) = flow {
                // The epoch was cut short, but whoever keeps books wants to hear of it.
                let _ = observer.epoch(&epoch, self);
                return Ok(stopped);
            }
            if observer.epoch(&epoch, self).is_break() {
                return Ok(Stopped::Observer);
            }
            if plan.stop_when_clean
                && let Some(stopped) = self.is_over(&epoch, order, rows)
            {
                return Ok(stopped);
            }
        }
        Ok(Stopped::Epochs)
    }

    /// An epoch from the place it has come to, in parts between which the observer may pause it. Breaks with
    /// nothing if it does.
    fn epoch_in_parts<E: Examples, O: Observer + ?Sized>(
        &mut self,
        examples: E,
        visits: Visits<'_>,
        training: Visits<'_>,
        observer: &mut O,
    ) -> ControlFlow<Option<Stopped>> {
        let n_visits = if self.memory.judges() { PART_JUDGED } else { PART };
        // Parts end where blocks do. A block without an end goes on in the next part.
        let part = match self.space.block(examples).max(1) {
            usize::MAX => n_visits,
            block => block.saturating_mul(n_visits.div_ceil(block)),
        };
        while self.place < visits.len() {
            self.pause(observer)?;
            let to = visits.len().min(self.place.saturating_add(part));
            let (visited, last) = (visits.part(self.place, to), to == visits.len());
            self.place = to;
            self.learn_judged(examples, visited, training, observer, last).map_break(Some)?;
        }
        ControlFlow::Continue(())
    }

    fn pause<O: Observer + ?Sized>(&self, observer: &mut O) -> ControlFlow<Option<Stopped>> {
        observer.pause(&self.totals, self).map_break(|()| None)
    }

    fn epoch_over_worst<E: Examples, O: Observer + ?Sized>(
        &mut self,
        examples: E,
        training: Visits<'_>,
        observer: &mut O,
    ) -> ControlFlow<Option<Stopped>> {
        let hidden = |place: &usize| weight_of(examples, &self.class_weights, training.row(*place)) == 0.0;
        let n_steps = training.len() - (0..training.len()).filter(hidden).count();
        while self.place < n_steps {
            self.pause(observer)?;
            let worst = [self.worst(examples, training)];
            self.place += 1;
            let step = self.learn_judged(examples, Visits::Listed(&worst), training, observer, true);
            step.map_break(Some)?;
        }
        ControlFlow::Continue(())
    }

    /// Ends an epoch that began when the totals were `before`. Says what came of it.
    fn end_epoch(&mut self, before: &Totals) -> Epoch {
        self.space.epoch_over(&mut self.memory, self.totals.rounds);
        self.has_converged = self.space.end_epoch();
        self.totals.epochs += 1;
        self.since(before)
    }

    /// Whether nothing is left to learn after `epoch` over `rows` in this order, and why. To be asked once after every
    /// epoch.
    fn is_over(&mut self, epoch: &Epoch, order: &Order, rows: &[u32]) -> Option<Stopped> {
        if epoch.mistakes == 0 && epoch.updates == 0 && order.covers(rows) {
            return Some(Stopped::Clean);
        }
        if self.has_converged && order.covers(rows) {
            return Some(Stopped::Converged);
        }
        let repeats = self.rule.repeats() && order.repeats() && self.convention.zero != Zero::Random;
        let now = repeats.then(|| self.space.whole()).flatten()?;
        if self.anchor.as_ref() == Some(&now) {
            return Some(Stopped::Cycle);
        }
        if self.totals.epochs.is_power_of_two() {
            self.anchor = Some(now);
        }
        None
    }

    /// How many visits of an epoch that is made in blocks ([`Run::fit_in_blocks`]) are over.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Says how many visits of such an epoch are over, so that the run's [state](Snapshot::state) tells it.
    pub fn set_place(&mut self, place: usize) {
        self.place = place;
    }

    /// What an epoch begins with, unless it has begun.
    fn begin_epoch(&mut self) {
        if self.place == 0 {
            self.before = self.totals;
            self.space.epoch_begins(&mut self.memory, self.totals.epochs + 1, self.totals.rounds);
        }
    }

    fn since(&self, before: &Totals) -> Epoch {
        let now = &self.totals;
        Epoch {
            number: now.epochs,
            rounds: now.rounds,
            visited: now.rounds - before.rounds,
            mistakes: now.mistakes - before.mistakes,
            updates: now.updates - before.updates,
            errors: now.errors - before.errors,
        }
    }

    /// Goes on from a [state](Snapshot::state) of a run of the same setup. The error says what does not
    /// fit; the run is then of no use.
    pub fn restore(&mut self, mut state: State<'_>) -> Result<(), StateError> {
        self.totals = Totals::from_list(state.take_counters("totals")?);
        self.before = Totals::from_list(state.take_counters("before")?);
        for (now, before) in self.totals.to_list().into_iter().zip(self.before.to_list()) {
            at_most("before", before, now)?;
        }
        let [place, random] = state.take_counters("place")?;
        (self.place, self.random) = (place as usize, Random::new(random));
        self.anchor = state.take_planes(ANCHOR, self.space.n_outputs(), usize::MAX)?;
        self.space.restore(&mut state)?;
        self.space.restore_memory(&mut self.memory, &mut state, self.totals.rounds)?;
        state.finish()
    }
}

impl<R: Rule, S: LinearSpace, D: Decision> Run<R, S, D> {
    /// The hyperplanes as they stand.
    pub fn last(&self) -> Hyperplanes {
        self.space.linear().planes()
    }

    /// The averaged hyperplanes; `None` if they were not remembered.
    pub fn averaged(&self, kind: Average) -> Option<Hyperplanes> {
        match self.read(Readout::Averaged(kind))? {
            Kept::Hyperplanes(planes) => Some(planes),
            Kept::Votes(_) | Kept::Other(_) => None,
        }
    }
}

impl<R: Rule, S: Outcome, D: Decision> Snapshot for Run<R, S, D> {
    fn read(&self, readout: Readout) -> Option<Kept> {
        self.space.read(&self.memory, readout, self.decision.ballot(), self.totals.rounds)
    }

    fn state(&self) -> State<'_> {
        let mut state = State::default();
        state.u64s("totals", self.totals.to_list().to_vec());
        state.u64s("before", self.before.to_list().to_vec());
        state.u64s("place", vec![self.place as u64, self.random.state()]);
        state.planes(ANCHOR, self.anchor.as_ref());
        self.space.save(&mut state);
        self.space.save_memory(&self.memory, &mut state);
        state
    }
}
