//! Where a mixture stands: what every shard starts its next epoch from, and what becomes of what they hand back.

use super::Mixing;
use super::share::{Learned, Share, bad, reason, state_of, stopped};
use crate::error::{Error, refuse};
use crate::learner::{Learner, Shape};
use crate::model::{Model, Provenance, Watched, bundle, training_summary, unbundle};
use crate::settings::differences;
use crate::spec::{Options, Spec};
use crate::start::Start;
use crate::train::{build, check_room, hypothesis, weights_by_counts};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::state::{List, State};
use rosenblatt_core::{Average, Hyperplanes, Order, Readout, Stopped, Totals};
use rosenblatt_data::Labels;
use serde::{Deserialize, Serialize};

const KIND: &str = "rosenblatt mixture";

/// A training that several shards take part in.
#[derive(Debug, Clone)]
pub struct Mixture {
    pub(super) spec: Spec,
    pub(super) labels: Labels,
    pub(super) width: usize,
    pub(super) n_shards: u64,
    pub(super) mixing: Mixing,
    pub(super) class_weights: Vec<f64>,
    /// Rows of each class that are learned from.
    counts: Vec<u64>,
    pub(super) totals: Totals,
    pub(super) moves: Vec<u64>,
    pub(super) stand: Stand,
    fingerprint: Option<String>,
    watched: Option<Watched>,
    n_watched: usize,
    over: Option<Stopped>,
}

/// What has been learned so far.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per training, never a list of them")]
pub(super) enum Stand {
    /// All that a sole shard knows; nothing before its first epoch.
    Whole(Option<State<'static>>),
    /// Hyperplanes that were mixed, and the sum of all hypotheses of all shards over this many rounds.
    Mixed { planes: Hyperplanes, sums: Hyperplanes, rounds: u64 },
}

/// What an epoch of all shards came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochMixed {
    /// Its number, from 1.
    pub number: u64,
    /// Rows met, mistakes, updates and wrong predictions of all shards.
    pub totals: Totals,
    /// The mistakes of each shard times its part in the mean, summed: what the theorem bounds.
    pub weighted_mistakes: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Text {
    spec: Options,
    classes: Vec<String>,
    features: usize,
    shards: u64,
    mixing: String,
    class_weights: Vec<f64>,
    counts: Vec<u64>,
    totals: [u64; 5],
    moves: Vec<u64>,
    /// Whether lists of a state follow.
    state: bool,
    rounds: u64,
    fingerprint: Option<String>,
    watched: Option<Vec<u64>>,
    n_watched: usize,
    best_epoch: Option<u64>,
    over: Option<String>,
}

impl Mixture {
    /// A training that has learned nothing yet: of rows of `width` features, `counts` of each class, in `n_shards` places.
    pub fn new(
        spec: Spec,
        labels: Labels,
        counts: &[u64],
        width: usize,
        n_shards: u64,
        mixing: Mixing,
    ) -> Result<Self, Error> {
        check(&spec)?;
        if counts.iter().sum::<u64>() == 0 || n_shards == 0 {
            return Err(Error::NoRows);
        }
        if labels.len() < 2 || counts.iter().filter(|count| **count > 0).count() < 2 {
            return Err(Error::OneClass { found: labels.names().first().cloned() });
        }
        check_room(&spec, labels.len(), width)?;
        let class_weights = weights_by_counts(&spec.options().class_weights, &labels, counts)?;
        let n_outputs = spec.n_outputs(labels.len());
        let stand = if n_shards == 1 {
            Stand::Whole(None)
        } else {
            // Without room for weights, until they are there.
            let zero = Hyperplanes::from_few(width, Vec::new(), Vec::new(), vec![0.0; n_outputs]);
            Stand::Mixed { sums: zero.clone(), planes: zero, rounds: 0 }
        };
        let mixture = Self {
            spec,
            labels,
            width,
            n_shards,
            mixing,
            class_weights,
            counts: counts.to_vec(),
            totals: Totals::default(),
            moves: vec![0; n_outputs],
            stand,
            fingerprint: None,
            watched: None,
            n_watched: 0,
            over: None,
        };
        // Whether this rule can be mixed, the learner knows.
        let narrow = Self { width: 0, ..mixture.clone() };
        if !narrow.learner(None, &mixture.spec)?.stand_at(Totals::default(), &[]) {
            return refuse(
                "algorithm",
                "one that steps along single rows and keeps nothing but weights, as a mixture needs it",
                mixture.spec.entry().info.name,
            );
        }
        Ok(mixture)
    }

    /// The same mixture, which knows the [fingerprint](crate::model::fingerprint()) of its rows.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: Option<String>) -> Self {
        Self { fingerprint, ..self }
    }

    /// A learner for this mixture.
    pub(super) fn learner(&self, start: Option<Hyperplanes>, spec: &Spec) -> Result<Box<dyn Learner>, Error> {
        let n_visits = Some(self.counts.iter().sum::<u64>() as usize);
        let class_weights = self.class_weights.clone();
        let start = start.map(Start::from);
        let shape = Shape {
            width: self.width,
            class_weights,
            start,
            kernel: None,
            n_rows: None,
            n_visits,
            targets: None,
        };
        build(spec, self.labels.len(), shape)
    }

    /// What every shard needs to start its next epoch.
    pub fn start(&self) -> Vec<u8> {
        self.encode(false)
    }

    /// The whole state, to continue elsewhere.
    pub fn checkpoint(&self) -> Vec<u8> {
        self.encode(true)
    }

    fn encode(&self, history: bool) -> Vec<u8> {
        let mut lists: Vec<(&str, List<'_>)> = Vec::new();
        let mut rounds = 0;
        if let Stand::Mixed { planes, sums, rounds: summed } = &self.stand {
            put(&mut lists, ["places", "weights", "biases"], planes);
            if history {
                put(&mut lists, ["sum-places", "sum-weights", "sum-biases"], sums);
                rounds = *summed;
            }
        }
        let watched = self.watched.as_ref().filter(|_| history);
        if let Some((_, Kept::Hyperplanes(best))) = watched.and_then(|watched| watched.best.as_ref()) {
            put(&mut lists, ["best-places", "best-weights", "best-biases"], best);
        }
        let state = match &self.stand {
            Stand::Whole(Some(state)) => Some(state),
            _ => None,
        };
        let text = Text {
            spec: self.spec.options().clone(),
            classes: self.labels.names().to_vec(),
            features: self.width,
            shards: self.n_shards,
            mixing: self.mixing.to_string(),
            class_weights: self.class_weights.clone(),
            counts: self.counts.clone(),
            totals: self.totals.to_list(),
            moves: self.moves.clone(),
            state: state.is_some(),
            rounds,
            fingerprint: self.fingerprint.clone(),
            watched: watched.map(|watched| watched.errors.clone()),
            n_watched: self.n_watched,
            best_epoch: watched.and_then(|watched| watched.best.as_ref()).map(|(epoch, _)| *epoch),
            over: self.over.and_then(reason).map(str::to_owned),
        };
        let lists = lists.iter().map(|(name, list)| (*name, list));
        bundle(KIND, &text, lists.chain(state.into_iter().flat_map(State::lists)))
    }

    /// The mixture in these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (text, lists): (Text, Vec<_>) = unbundle(KIND, bytes).map_err(|error| bad(error.to_string()))?;
        let mixing =
            text.mixing.parse().map_err(|error: rosenblatt_core::NameError| bad(error.to_string()))?;
        let labels = Labels::in_order(text.classes);
        if Labels::sorted(labels.names()).len() != labels.len() || text.counts.len() != labels.len() {
            return Err(bad("its classes do not fit together"));
        }
        let spec = Spec::new(text.spec)?;
        let fresh = Self::new(spec, labels, &text.counts, text.features, text.shards, mixing)?;
        if text.moves.len() != fresh.moves.len() || text.class_weights != fresh.class_weights {
            return Err(bad("its numbers do not fit its classes"));
        }
        let mut lists = std::collections::VecDeque::from(lists);
        let n_outputs = fresh.moves.len();
        let mut take = |names: [&str; 3]| take_planes(&mut lists, names, fresh.width, n_outputs);
        let stand = if fresh.n_shards == 1 {
            None
        } else {
            let planes =
                take(["places", "weights", "biases"])?.ok_or_else(|| bad("its weights are missing"))?;
            let sums = take(["sum-places", "sum-weights", "sum-biases"])?;
            let sums = sums.unwrap_or_else(|| Hyperplanes::zero(fresh.width, n_outputs));
            Some(Stand::Mixed { planes, sums, rounds: text.rounds })
        };
        let best = take(["best-places", "best-weights", "best-biases"])?.map(Kept::Hyperplanes);
        let best = text.best_epoch.zip(best);
        let watched = text.watched.map(|errors| Watched { errors, best });
        if let Some(Watched { errors, best: Some((epoch, _)) }) = &watched
            && (*epoch == 0 || *epoch > errors.len() as u64)
        {
            return Err(bad("its best epoch is none that it made"));
        }
        let stand = match stand {
            Some(mixed) if lists.is_empty() => mixed,
            None if text.state => Stand::Whole(Some(state_of(lists.into()))),
            None if lists.is_empty() => Stand::Whole(None),
            _ => return Err(bad("it holds unknown lists")),
        };
        Ok(Self {
            totals: Totals::from_list(text.totals),
            moves: text.moves,
            stand,
            fingerprint: text.fingerprint,
            watched,
            n_watched: text.n_watched,
            over: text.over.as_deref().and_then(stopped),
            ..fresh
        })
    }

    /// Continues from another mixture's checkpoint, if it is of the same training.
    pub fn resume(self, checkpoint: &[u8]) -> Result<Self, Error> {
        let other = Self::from_bytes(checkpoint)?;
        // More epochs may be asked for than were at first.
        let of_options = differences(other.spec.options(), self.spec.options()).into_iter();
        let mut differences: Vec<String> = of_options
            .filter(|(name, ..)| name != "epochs")
            .map(|(name, was, is)| format!("`{name}` was {was} and is {is}"))
            .collect();
        let changed = |what: &str, was: String, is: String| format!("{what} were {was} and are {is}");
        if other.labels != self.labels {
            differences.push(changed(
                "the classes",
                other.labels.names().join(", "),
                self.labels.names().join(", "),
            ));
        }
        if other.counts != self.counts {
            differences.push(changed(
                "rows by class",
                format!("{:?}", other.counts),
                format!("{:?}", self.counts),
            ));
        }
        if (other.width, other.n_shards) != (self.width, self.n_shards) {
            let of = |mixture: &Self| format!("{} in {} places", mixture.width, mixture.n_shards);
            differences.push(changed("features", of(&other), of(&self)));
        }
        if other.mixing != self.mixing {
            differences.push(format!("mixing was {} and is {}", other.mixing, self.mixing));
        }
        if other.fingerprint != self.fingerprint {
            differences.push("the rows have other values".to_owned());
        }
        if !differences.is_empty() {
            return Err(Error::OtherRun { differences });
        }
        Ok(Self { spec: self.spec, ..other })
    }

    /// Takes what the shards hand back after an epoch, in their order, and mixes it.
    pub fn take<B: AsRef<[u8]>>(&mut self, shares: &[B]) -> Result<EpochMixed, Error> {
        let shares: Vec<Share> =
            shares.iter().map(|share| Share::from_bytes(share.as_ref())).collect::<Result<_, _>>()?;
        let n_shards: u64 = shares.iter().map(|share| share.shards).sum();
        if n_shards != self.n_shards || shares.iter().any(|share| share.moves.len() != self.moves.len()) {
            return Err(bad(format!(
                "{n_shards} shards handed something back, but there are {}",
                self.n_shards
            )));
        }
        let mut shares = shares.into_iter();
        let Some(mut whole) = shares.next() else { return Err(bad("no worker handed anything back")) };
        match (&mut self.stand, &mut whole.learned) {
            (Stand::Whole(state), Learned::Whole(now, stopped)) => {
                *state = Some(std::mem::take(now));
                self.over = *stopped;
            }
            (Stand::Mixed { planes, sums, rounds }, Learned::Moved(first)) => {
                let n_weights = planes.width() * planes.n_outputs();
                let averages = matches!(self.spec.readout(), Readout::Averaged(_));
                let (mut moved, mut drift) =
                    (vec![0.0; n_weights], vec![0.0; if averages { n_weights } else { 0 }]);
                let (mut biases, mut bias_drift) = (first.biases.clone(), first.bias_drift.clone());
                let fits = |biases: &[f64], drift: &[f64]| {
                    biases.len() == planes.n_outputs()
                        && drift.len() == if averages { biases.len() } else { 0 }
                };
                if !fits(&biases, &bias_drift) {
                    return Err(bad("it is of another run"));
                }
                first.pour(&mut moved, &mut drift)?;
                for share in shares {
                    let Learned::Moved(more) = &share.learned else {
                        return Err(bad("it is of a sole shard"));
                    };
                    if !fits(&more.biases, &more.bias_drift) {
                        return Err(bad("it is of another run"));
                    }
                    more.pour(&mut moved, &mut drift)?;
                    biases.iter_mut().zip(&more.biases).for_each(|(sum, more)| *sum += more);
                    bias_drift.iter_mut().zip(&more.bias_drift).for_each(|(sum, more)| *sum += more);
                    whole.count(&share);
                }
                if averages {
                    if self.spec.readout() == Readout::Averaged(Average::From(self.totals.epochs + 1)) {
                        (*sums, *rounds) = (Hyperplanes::zero(planes.width(), planes.n_outputs()), 0);
                    }
                    let n = whole.totals.rounds as f64;
                    let gathered = |sums: &[f64], drift: &[f64], start: &[f64]| -> Vec<f64> {
                        sums.iter()
                            .zip(drift)
                            .zip(start)
                            .map(|((sum, drift), start)| sum + (n * start + drift))
                            .collect()
                    };
                    let weights = gathered(sums.raw_weights(), &drift, planes.raw_weights());
                    *sums = Hyperplanes::from_parts(
                        weights,
                        gathered(sums.biases(), &bias_drift, planes.biases()),
                    );
                    *rounds += whole.totals.rounds;
                }
                // Without a part nothing moved.
                let part = whole.part.max(1) as f64;
                let step = |now: &[f64], moved: &[f64]| -> Vec<f64> {
                    now.iter().zip(moved).map(|(now, moved)| now + moved / part).collect()
                };
                *planes = Hyperplanes::from_parts(
                    step(planes.raw_weights(), &moved),
                    step(planes.biases(), &biases),
                );
                let numbers = planes.raw_weights().iter().chain(planes.biases());
                if !numbers.chain(sums.raw_weights()).all(|number| number.is_finite()) {
                    return Err(Error::Overflow { epoch: self.totals.epochs + 1, row: None });
                }
                let clean = whole.totals.mistakes == 0 && whole.totals.updates == 0;
                let may_stop = self.spec.options().stop_when_clean && self.spec.order().visits_every_row();
                self.over = (clean && may_stop).then_some(Stopped::Clean);
            }
            _ => return Err(bad("one shard hands all back, several what moved")),
        }
        let epochs = self.totals.epochs + 1;
        self.totals = Totals { epochs, ..self.totals.beside(&whole.totals) };
        self.moves.iter_mut().zip(&whole.moves).for_each(|(sum, more)| *sum += more);
        let options = self.spec.options();
        if self.over.is_none() && options.max_updates.is_some_and(|most| self.totals.updates >= most) {
            self.over = Some(Stopped::Updates);
        }
        if self.over.is_none() && epochs >= options.epochs {
            self.over = Some(Stopped::Epochs);
        }
        let weighted_mistakes = whole.weighted_mistakes as f64 / whole.part.max(1) as f64;
        Ok(EpochMixed { number: epochs, totals: whole.totals, weighted_mistakes })
    }

    /// Takes note of how many of `rows` rows of the validation set the read-out of the last epoch names wrongly.
    pub fn judged(&mut self, errors: u64, rows: usize) -> Result<(), Error> {
        let kept = self.kept()?;
        let patience = self.spec.options().validation.map_or(u64::MAX, |validation| validation.patience);
        let watched = self.watched.get_or_insert_default();
        if watched.errors.len() as u64 + 1 != self.totals.epochs {
            return Err(bad("the validation set should be asked once after every epoch"));
        }
        self.n_watched = rows;
        if watched.note(self.totals.epochs, errors, kept) >= patience {
            self.over = Some(Stopped::Observer);
        }
        Ok(())
    }

    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.over.is_some() || self.totals.epochs >= self.spec.options().epochs
    }

    /// What was counted so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The read-out as it stands.
    fn kept(&self) -> Result<Kept, Error> {
        let readout = self.spec.readout();
        match &self.stand {
            Stand::Whole(state) => {
                let mut learner = self.learner(None, &self.spec)?;
                if let Some(state) = state {
                    learner.restore(state.clone()).map_err(|error| bad(error.to_string()))?;
                }
                Ok(learner.kept(&self.spec))
            }
            Stand::Mixed { sums, rounds, .. } if matches!(readout, Readout::Averaged(_)) && *rounds > 0 => {
                let n = *rounds as f64;
                let mean = |sums: &[f64]| sums.iter().map(|sum| sum / n).collect();
                Ok(Kept::Hyperplanes(Hyperplanes::from_parts(mean(sums.raw_weights()), mean(sums.biases()))))
            }
            Stand::Mixed { planes, .. } => Ok(Kept::Hyperplanes(planes.clone())),
        }
    }

    /// The model as it stands, whatever the validation set showed.
    pub fn model_so_far(&self) -> Result<Model, Error> {
        Ok(hypothesis(&self.spec, &self.labels, None, self.kept()?))
    }

    /// The model: of the epoch that did best on the validation set, if there was one.
    pub fn model(&self) -> Result<Model, Error> {
        let best = self.watched.clone().and_then(|watched| watched.finish(self.n_watched));
        let (kept, validation) = match best {
            Some((kept, validated)) => (kept, Some(validated)),
            None => (self.kept()?, None),
        };
        let learned = self
            .counts
            .iter()
            .zip(0..)
            .flat_map(|(&count, class)| std::iter::repeat_n(class, count as usize));
        let costs = self.spec.options().costs.counted(self.labels.names(), learned)?;
        let over = self.over.unwrap_or(Stopped::Epochs);
        let n_rows = self.counts.iter().sum::<u64>() as usize;
        Ok(Model {
            training_summary: training_summary(n_rows, self.totals, over, validation),
            provenance: self.fingerprint.clone().map_or_else(Provenance::default, Provenance::of_data),
            ..hypothesis(&self.spec.with_costs(costs), &self.labels, None, kept)
        })
    }
}

/// Refuses what has no mean of weights, or no order that a shard could follow alone.
pub(super) fn check(spec: &Spec) -> Result<(), Error> {
    if let Some(kernel) = spec.kernel_info() {
        return refuse("kernel", "left out where weights are mixed", kernel.name);
    }
    if let Some(map) = spec.map_info() {
        return refuse("map", "left out where weights are mixed", map.name);
    }
    if !matches!(spec.readout(), Readout::Last | Readout::Averaged(Average::Post | Average::From(_))) {
        let expected = "last, averaged or averaged-from(EPOCH) where weights are mixed";
        return refuse("readout", expected, spec.readout());
    }
    if matches!(spec.order(), Order::Worst | Order::Permutation(_)) {
        let expected = "given, or shuffled in some way, where rows are in several places";
        return refuse("order", expected, spec.order());
    }
    Ok(())
}

/// Adds hyperplanes under these names, without their zeros where that is shorter.
fn put<'a>(lists: &mut Vec<(&'a str, List<'a>)>, names: [&'a str; 3], planes: &'a Hyperplanes) {
    let n_used = planes.entries().count();
    let all = planes.width() * planes.n_outputs();
    // A weight with its place takes half as much again as one without.
    if n_used < all / 3 * 2 {
        let n_outputs = planes.n_outputs();
        let places: Vec<u32> =
            planes.entries().map(|(feature, output, _)| (feature * n_outputs + output) as u32).collect();
        let values: Vec<f64> = planes.entries().map(|(_, _, weight)| weight).collect();
        lists.push((names[0], List::U32(places.into())));
        lists.push((names[1], List::F64(values.into())));
    } else {
        lists.push((names[1], List::F64(planes.raw_weights().into())));
    }
    lists.push((names[2], List::F64(planes.biases().into())));
}

/// Hyperplanes at the front of the lists, if they are there.
fn take_planes(
    lists: &mut std::collections::VecDeque<(String, List<'static>)>,
    names: [&str; 3],
    width: usize,
    n_outputs: usize,
) -> Result<Option<Hyperplanes>, Error> {
    let mut next = |name: &str| match lists.front() {
        Some((found, _)) if found == name => lists.pop_front().map(|(_, list)| list),
        _ => None,
    };
    let places = match next(names[0]) {
        Some(List::U32(places)) => Some(places.into_owned()),
        _ => None,
    };
    let (Some(List::F64(weights)), Some(List::F64(biases))) = (next(names[1]), next(names[2])) else {
        return if places.is_none() { Ok(None) } else { Err(bad("its weights are missing")) };
    };
    let all = width * n_outputs;
    let fits = match &places {
        Some(places) => {
            places.len() == weights.len()
                && places.is_sorted_by(|a, b| a < b)
                && places.last().is_none_or(|&last| (last as usize) < all)
        }
        None => weights.len() == all,
    };
    if !fits || biases.len() != n_outputs {
        return Err(bad("its weights do not fit its features"));
    }
    let (weights, biases) = (weights.into_owned(), biases.into_owned());
    Ok(Some(match places {
        Some(places) => Hyperplanes::from_few(width, places, weights, biases),
        None => Hyperplanes::from_parts(weights, biases),
    }))
}
