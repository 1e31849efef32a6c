//! The training loop. There is only this one.
//!
//! A [`Run`] puts a rule, a space, its memory and a decision together and shows them examples, one at
//! a time: score, ask the rule, move or survive. Epochs over rows in memory or on disk, single examples from a stream and
//! the steps of a classroom demonstration all go through [`Run::learn`].

mod fit;
mod setup;

pub use setup::{Plan, Setup, SetupError, Stopped};

use crate::convention::{Bias, Convention, Mistake, Zero};
use crate::decision::{Decision, Problem};
use crate::examples::Examples;
use crate::memory::Recall;
use crate::observer::{Observer, Round, Totals};
use crate::random::Random;
use crate::row::Row;
use crate::rule::{Algorithm, Needs, Rule, Seen, Step, Weighs};
use crate::simd::{self, Work};
use crate::space::{Hyperplanes, LinearSpace, Move, Space, Visits};
use std::ops::ControlFlow;

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

    /// The same, mutable, to lend a space what it is to learn from next. What was learned is not to be touched.
    pub fn space_mut(&mut self) -> &mut S {
        &mut self.space
    }

    /// How scores become classes.
    pub fn decision(&self) -> &D {
        &self.decision
    }

    /// Space and memory as they stand, to read them out without a copy.
    pub fn into_parts(self) -> (S, S::Memory) {
        (self.space, self.memory)
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
        let plain = D::SOLE && !rounds && !self.needs.norm2 && self.needs.weighs != Weighs::Visits;
        let mut watch = Watch { observer, rounds, stopped: None };
        let mut from = 0;
        while from < visits.len() && watch.stopped.is_none() {
            let block = self.space.block(examples).max(1);
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
    /// Compiled more than once: `PLAIN` rounds have a sole output, no observer and a rule that asks
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
        let mut visits_left = 1;
        'loud: loop {
            // Nothing moves until a round is loud. This loop looks for one and keeps all it needs at hand.
            let shown = {
                let Self { rule, needs, space, decision, class_weights, random, .. } = self;
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
                    if !PLAIN && !all_count && needs.weighs == Weighs::Visits {
                        visits_left = n_visits(weight, random);
                        if visits_left == 0 {
                            continue;
                        }
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
            let mut shown = shown;
            while self.round::<PLAIN, _, _>(&shown, scores, watch) {
                self.judge(examples, training);
                if self.totals.updates >= self.max_updates {
                    watch.stopped = Some(Stopped::Updates);
                }
                if PLAIN || visits_left <= 1 || watch.stopped.is_some() {
                    break;
                }
                visits_left -= 1;
                round += 1;
                shown.round = round;
                self.space.scores(shown.place, shown.row, scores);
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
        // An output that is right has nothing to learn from such a rule, under every convention.
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
            let weights = |row_idx| weight_of(examples, &self.class_weights, row_idx);
            let zero = self.convention.zero;
            self.memory.judged(errors_among(planes, &self.decision, zero, examples, training, weights));
        }
    }

    /// The smallest margin and the visited row that has it, the first of them if several have it. Hidden rows are
    /// no candidates: nothing would ever move them up.
    fn worst<E: Examples>(&mut self, examples: E, visits: Visits<'_>) -> (f64, u32) {
        let mut worst = (f64::INFINITY, 0);
        let block = self.space.block(examples).max(1);
        let mut from = 0;
        while from < visits.len() {
            let part = visits.part(from, visits.len().min(from.saturating_add(block)));
            self.space.prepare(examples, part);
            for place in 0..part.len() {
                let row_idx = part.row(place);
                let weight = weight_of(examples, &self.class_weights, row_idx);
                if weight == 0.0 {
                    continue;
                }
                self.space.scores(place, examples.row(row_idx), &mut self.scores);
                self.decision.problems(examples.class(row_idx), &self.scores, |problem| {
                    // What counts more is worse where it is wrong, and wants more where it is right.
                    let margin = problem.margin;
                    let margin = if margin < 0.0 { margin * weight } else { margin / weight };
                    if margin < worst.0 {
                        worst = (margin, row_idx as u32);
                    }
                });
            }
            from += part.len();
        }
        worst
    }
}

/// How many visits before its turn a row is announced.
const AHEAD: usize = 4;

/// Announces a row of the list in time for its turn: the processor cannot guess where it lies.
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
        let factor = match needs.weighs {
            Weighs::Step => weight,
            Weighs::Rule => {
                seen.weight = weight;
                1.0
            }
            Weighs::Visits => 1.0,
        };
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
            each_move(problem, step, factor, round, scores, |step| {
                if together {
                    moves.push(step);
                } else {
                    space.shift(place, row, step, memory);
                }
            });
        }
        if !PLAIN && watch.rounds {
            let output = problem.directions[0].0;
            let round = Round {
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
            if watch.observer.round(&round).is_break() {
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

/// How often an example is met on end at most. A rule that still moves after this many steps along one row may do so for
/// ever, by a last digit each time, and you wait.
pub const MOST_VISITS: u64 = 1 << 12;

/// How often an example of this weight is met: as often as it says, and once more with the chance of what is left.
#[cold]
fn n_visits(weight: f64, random: &mut Random) -> u64 {
    let whole = weight.floor();
    (whole as u64).saturating_add(u64::from(random.unit() < weight - whole)).min(MOST_VISITS)
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
    let counts = |row_idx| f64::from(u8::from(examples.weight(row_idx) != 0.0));
    errors_among(planes, decision, zero, examples, visits, counts) as u64
}

/// The summed weights of the visited rows that `planes` gives the wrong class.
fn errors_among<E: Examples, D: Decision>(
    planes: &Hyperplanes,
    decision: &D,
    zero: Zero,
    examples: E,
    visits: Visits<'_>,
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let mut random = Random::new(0);
    let mut errors = 0.0;
    planes.each(examples, visits, |row_idx, scores| {
        let weight = weight(row_idx);
        if weight != 0.0 && decision.decide(scores, zero, &mut random) != Some(examples.class(row_idx)) {
            errors += weight;
        }
    });
    errors
}
