//! Epoch after epoch until the plan says stop, over rows in memory or lent block by block, and what a run carries over
//! when it is resumed.

use super::{MOST_VISITS, Plan, Run, Stopped, weight_of};
use crate::convention::Zero;
use crate::decision::Decision;
use crate::examples::Examples;
use crate::hypothesis::{Hyperplanes, Visits};
use crate::memory::{Average, Ballot, Kept, Readout, Recall};
use crate::observer::{Epoch, Observer, Snapshot, Totals};
use crate::order::Order;
use crate::random::Random;
use crate::rule::{Rule, Weighs};
use crate::space::{LinearSpace, Outcome};
use crate::state::{State, StateError, at_most};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// The names of the hyperplanes that a cycle is found by.
const ANCHOR: [&str; 2] = ["anchor-weights", "anchor-biases"];
/// After how many visits an observer may pause a run: often enough for a person who waits.
const PART: usize = 1024;
/// The same where every visit may have to look at all rows.
const PART_JUDGED: usize = 64;

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
                Order::Worst => run.epoch_over_worst(examples, training, plan.stop_when_clean, observer),
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

    /// The same for rows that are lent block by block. `epoch` shows the rest of an epoch, all that follows the
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
                // The epoch was cut short, but an observer that keeps count needs it.
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
        // Where a weight is a number of visits, a part has fewer rows: the observer is asked after as many visits as else.
        let n_visits = if self.needs.weighs == Weighs::Visits {
            let heaviest = self.class_weights.iter().fold(1.0_f64, |most, weight| most.max(*weight));
            let heaviest = if examples.is_unweighted() { heaviest } else { heaviest * 16.0 };
            (n_visits / heaviest.min(MOST_VISITS as f64) as usize).max(1)
        } else {
            n_visits
        };
        // Parts end where blocks do. A block without an end goes on in the next part.
        let part = match self.space.block(examples).max(1) {
            usize::MAX => n_visits,
            block => block.saturating_mul(n_visits.div_ceil(block)),
        };
        while self.place < visits.len() {
            self.pause(observer)?;
            let part = part.min(observer.stride().max(1));
            let to = visits.len().min(self.place.saturating_add(part));
            let visited = visits.part(self.place, to);
            // An observer that looks more often than blocks end does not move their ends.
            let last = to == visits.len() || to.is_multiple_of(self.space.block(examples).max(1));
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
        stop_when_clean: bool,
        observer: &mut O,
    ) -> ControlFlow<Option<Stopped>> {
        let hidden = |place: &usize| weight_of(examples, &self.class_weights, training.row(*place)) == 0.0;
        let n_steps = training.len() - (0..training.len()).filter(hidden).count();
        while self.place < n_steps {
            self.pause(observer)?;
            let worst = [self.worst(examples, training).1];
            self.place += 1;
            let step = self.learn_judged(examples, Visits::Listed(&worst), training, observer, true);
            step.map_break(Some)?;
        }
        // If the worst row is right, all are. At zero the convention decides, and may do so differently for each class.
        let epoch = self.totals.since(&self.before);
        let is_clean = epoch.mistakes == 0 && epoch.updates == 0;
        if stop_when_clean && is_clean && self.worst(examples, training).0 > 0.0 {
            return ControlFlow::Break(Some(Stopped::Clean));
        }
        ControlFlow::Continue(())
    }

    /// Ends an epoch that began when the totals were `before`. Says what came of it.
    fn end_epoch(&mut self, before: &Totals) -> Epoch {
        self.space.epoch_over(&mut self.memory, self.totals.rounds);
        self.has_converged = self.space.end_epoch();
        self.totals.epochs += 1;
        self.totals.since(before)
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

    /// Counts on from these totals, whose moves several runs made, given by output: the way to learn from hyperplanes
    /// that were mixed of theirs, from which this run was started. False if a run of this kind cannot.
    pub fn stand_at(&mut self, totals: Totals, moves: &[u64]) -> bool {
        (self.totals, self.before, self.place) = (totals, totals, 0);
        self.space.stand_at(&mut self.memory, moves, totals.rounds)
    }

    /// Adds a class after all others, in place, as [carrying the state over](State::for_outputs) does with a copy of all that was
    /// learned. False if a run of this kind cannot; it is then of no use, but for its state.
    pub fn add_class(&mut self) -> bool {
        let fits = self.anchor.is_none() && self.class_weights.is_empty() && self.decision.add_class();
        let added = fits && self.space.add_output(&mut self.memory);
        if added {
            self.scores.push(0.0);
        }
        added
    }

    /// By how much the sum of all hypotheses since then is more than that of as many copies of the start. `None` if no
    /// average is remembered.
    pub fn drift(&self) -> Option<Hyperplanes> {
        self.space.drift(&self.memory, self.totals.rounds)
    }

    /// How often each output has moved.
    pub fn moves(&self) -> Vec<u64> {
        (0..self.space.n_outputs()).map(|output| self.space.moves(output)).collect()
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
        let ballot = Ballot { joint: self.decision.votes_jointly(), zero: self.convention.zero };
        self.space.read(&self.memory, readout, ballot, self.totals.rounds)
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

    fn loss(&self) -> Option<f64> {
        self.space.loss()
    }
}
