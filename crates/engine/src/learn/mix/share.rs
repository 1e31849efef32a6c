//! What a shard hands back after an epoch: what moved, and what was counted.
//!
//! Shares add up, so that they can be gathered in a tree; their order is up to the caller, and decides the
//! last bits. Weights that did not move are not sent.

use crate::error::Error;
use crate::model::{STOPS, bundle, unbundle};
use rosenblatt_core::state::{List, State};
use rosenblatt_core::{Stopped, Totals};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

const KIND: &str = "rosenblatt share";

/// What one or several shards hand back.
#[derive(Debug, Clone)]
pub(super) struct Share {
    /// How many shards it is of.
    pub(super) shards: u64,
    /// What they count in the mean, together.
    pub(super) part: u64,
    /// Their mistakes, each as often as its shard counts.
    pub(super) weighted_mistakes: u64,
    /// What they counted in this epoch.
    pub(super) totals: Totals,
    /// How often each output moved.
    pub(super) moves: Vec<u64>,
    pub(super) learned: Learned,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) enum Learned {
    /// All that a sole shard knows, and why it would stop.
    Whole(State<'static>, Option<Stopped>),
    /// What moved.
    Moved(Moved),
}

/// How far weights moved, each as often as its shard counts, and what an average gathered.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Moved {
    /// Which of the weights, feature by feature, outputs side by side; all of them if there are no places.
    pub(super) places: Option<Vec<u32>>,
    pub(super) weights: Vec<f64>,
    /// As many, or none without an average.
    pub(super) drift: Vec<f64>,
    pub(super) biases: Vec<f64>,
    pub(super) bias_drift: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Text {
    shards: u64,
    part: u64,
    weighted_mistakes: u64,
    totals: [u64; 5],
    moves: Vec<u64>,
    whole: bool,
    stopped: Option<String>,
}

/// Reasons to stop before all epochs are made, by name.
fn reasons() -> impl Iterator<Item = &'static (&'static str, Stopped)> {
    STOPS.iter().filter(|(_, stopped)| *stopped != Stopped::Epochs)
}

/// The name of such a reason.
pub(super) fn reason(stopped: Stopped) -> Option<&'static str> {
    reasons().find(|(_, reason)| *reason == stopped).map(|(name, _)| *name)
}

/// The reason of this name.
pub(super) fn stopped(reason: &str) -> Option<Stopped> {
    reasons().find(|(name, _)| *name == reason).map(|(_, stopped)| *stopped)
}

pub(super) fn bad(what: impl Into<String>) -> Error {
    Error::BadShare { what: what.into() }
}

impl Moved {
    /// From all weights, before and after: only those that moved, where that is shorter.
    pub(super) fn of(
        part: u64,
        weights: Vec<f64>,
        drift: Vec<f64>,
        biases: Vec<f64>,
        bias_drift: Vec<f64>,
    ) -> Self {
        let part = part as f64;
        let at = |values: &[f64], place: usize| values.get(place).copied().unwrap_or(0.0);
        let moved = |place: &usize| weights[*place] != 0.0 || at(&drift, *place) != 0.0;
        let n_moved = (0..weights.len()).filter(moved).count();
        let times = |values: Vec<f64>| values.into_iter().map(|value| part * value).collect();
        let biases = times(biases);
        if n_moved > weights.len() / 5 * 4 {
            return Self { places: None, weights: times(weights), drift, biases, bias_drift };
        }
        let places: Vec<u32> = (0..weights.len()).filter(moved).map(|place| place as u32).collect();
        let pick = |values: &[f64]| places.iter().map(|&place| values[place as usize]).collect::<Vec<_>>();
        let drift = if drift.is_empty() { drift } else { pick(&drift) };
        let weights = times(pick(&weights));
        Self { places: Some(places), weights, drift, biases, bias_drift }
    }

    /// Adds these to the sums of all weights.
    pub(super) fn pour(&self, weights: &mut [f64], drift: &mut [f64]) -> Result<(), Error> {
        let last = self
            .places
            .as_ref()
            .map_or(self.weights.len(), |places| places.last().map_or(0, |&last| last as usize + 1));
        if last > weights.len() || (!self.drift.is_empty() && last > drift.len()) {
            return Err(bad("it moves weights that there are not"));
        }
        let mut add = |place: usize, entry: usize| {
            weights[place] += self.weights[entry];
            if let Some(more) = self.drift.get(entry) {
                drift[place] += more;
            }
        };
        match &self.places {
            Some(places) => places.iter().enumerate().for_each(|(entry, &place)| add(place as usize, entry)),
            None => (0..self.weights.len()).for_each(|place| add(place, place)),
        }
        Ok(())
    }

    fn add(&mut self, other: &Self) -> Result<(), Error> {
        let averages = !self.bias_drift.is_empty();
        if averages == other.bias_drift.is_empty() || self.biases.len() != other.biases.len() {
            return Err(bad("shares of different runs"));
        }
        add_all(&mut self.biases, &other.biases);
        add_all(&mut self.bias_drift, &other.bias_drift);
        if let (Some(ours), Some(theirs)) = (&self.places, &other.places) {
            let merged = merged(ours, theirs);
            let weights = gather(&merged, &self.weights, &other.weights);
            let drift = if averages { gather(&merged, &self.drift, &other.drift) } else { Vec::new() };
            let places = merged.iter().map(|(place, _, _)| *place).collect();
            (self.places, self.weights, self.drift) = (Some(places), weights, drift);
            return Ok(());
        }
        let all = |moved: &Self| moved.places.is_none().then_some(moved.weights.len());
        let n_all = all(self).or(all(other)).unwrap_or(0);
        let (mut weights, mut drift) = (vec![0.0; n_all], vec![0.0; if averages { n_all } else { 0 }]);
        self.pour(&mut weights, &mut drift)?;
        other.pour(&mut weights, &mut drift)?;
        (self.places, self.weights, self.drift) = (None, weights, drift);
        Ok(())
    }

    fn lists(&self) -> Vec<(&'static str, List<'_>)> {
        let mut lists = Vec::new();
        if let Some(places) = &self.places {
            lists.push(("places", List::U32(places.into())));
        }
        let numbers = [
            ("weights", &self.weights),
            ("drift", &self.drift),
            ("biases", &self.biases),
            ("bias-drift", &self.bias_drift),
        ];
        lists.extend(numbers.map(|(name, values)| (name, List::F64(values.into()))));
        lists
    }

    fn of_lists(lists: Vec<(String, List<'static>)>) -> Result<Self, Error> {
        let mut moved = Self::default();
        for (name, list) in lists {
            match (name.as_str(), list) {
                ("places", List::U32(places)) => moved.places = Some(places.into_owned()),
                ("weights", List::F64(values)) => moved.weights = values.into_owned(),
                ("drift", List::F64(values)) => moved.drift = values.into_owned(),
                ("biases", List::F64(values)) => moved.biases = values.into_owned(),
                ("bias-drift", List::F64(values)) => moved.bias_drift = values.into_owned(),
                _ => return Err(bad(format!("its list `{name}` is unknown"))),
            }
        }
        let n = moved.weights.len();
        let ascends =
            moved.places.as_ref().is_none_or(|places| places.len() == n && places.is_sorted_by(|a, b| a < b));
        let fits = (moved.drift.is_empty() || moved.drift.len() == n)
            && (moved.bias_drift.is_empty() || moved.bias_drift.len() == moved.biases.len());
        if ascends && fits { Ok(moved) } else { Err(bad("its lists do not fit together")) }
    }
}

fn add_all(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// A place, and where each of two has it.
type Place = (u32, Option<usize>, Option<usize>);

/// The sums of both, place by place.
fn gather(places: &[Place], ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    let value = |values: &[f64], entry: Option<usize>| entry.and_then(|entry| values.get(entry).copied());
    let sum = |&(_, one, other): &Place| match (value(ours, one), value(theirs, other)) {
        (Some(one), Some(other)) => one + other,
        (one, other) => one.or(other).unwrap_or(0.0),
    };
    places.iter().map(sum).collect()
}

/// All places of both.
fn merged(ours: &[u32], theirs: &[u32]) -> Vec<Place> {
    let mut all = Vec::with_capacity(ours.len().max(theirs.len()));
    let (mut a, mut b) = (0, 0);
    while a < ours.len() || b < theirs.len() {
        let order = match (ours.get(a), theirs.get(b)) {
            (Some(one), Some(other)) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        all.push(match order {
            Ordering::Less => (ours[a], Some(a), None),
            Ordering::Equal => (ours[a], Some(a), Some(b)),
            Ordering::Greater => (theirs[b], None, Some(b)),
        });
        a += usize::from(order != Ordering::Greater);
        b += usize::from(order != Ordering::Less);
    }
    all
}

impl Share {
    pub(super) fn add(&mut self, other: &Self) -> Result<(), Error> {
        let (Learned::Moved(ours), Learned::Moved(theirs)) = (&mut self.learned, &other.learned) else {
            return Err(bad("a sole shard has no other to be added to"));
        };
        if self.moves.len() != other.moves.len() {
            return Err(bad("shares of different runs"));
        }
        ours.add(theirs)?;
        self.count(other);
        Ok(())
    }

    /// Adds what was counted, and nothing else.
    pub(super) fn count(&mut self, other: &Self) {
        self.shards += other.shards;
        self.part += other.part;
        self.weighted_mistakes += other.weighted_mistakes;
        self.totals = self.totals.beside(&other.totals);
        self.moves.iter_mut().zip(&other.moves).for_each(|(sum, more)| *sum += more);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let stopped = match &self.learned {
            Learned::Whole(_, stopped) => stopped.and_then(reason).map(str::to_owned),
            Learned::Moved(_) => None,
        };
        let text = Text {
            shards: self.shards,
            part: self.part,
            weighted_mistakes: self.weighted_mistakes,
            totals: self.totals.to_list(),
            moves: self.moves.clone(),
            whole: matches!(self.learned, Learned::Whole(..)),
            stopped,
        };
        match &self.learned {
            Learned::Whole(state, _) => bundle(KIND, &text, state.lists()),
            Learned::Moved(moved) => {
                bundle(KIND, &text, moved.lists().iter().map(|(name, list)| (*name, list)))
            }
        }
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (text, lists): (Text, _) = unbundle(KIND, bytes).map_err(|error| bad(error.to_string()))?;
        let learned = if text.whole {
            Learned::Whole(state_of(lists), text.stopped.as_deref().and_then(stopped))
        } else {
            Learned::Moved(Moved::of_lists(lists)?)
        };
        let Text { shards, part, weighted_mistakes, moves, .. } = text;
        Ok(Self { shards, part, weighted_mistakes, totals: Totals::from_list(text.totals), moves, learned })
    }
}

pub(super) fn state_of(lists: Vec<(String, List<'static>)>) -> State<'static> {
    let mut state = State::default();
    for (name, list) in lists {
        state.push(name, list);
    }
    state
}

/// The sum of shares, in their order, as one: for gathering them in a tree.
pub fn add<B: AsRef<[u8]>>(shares: &[B]) -> Result<Vec<u8>, Error> {
    let mut shares = shares.iter();
    let Some(first) = shares.next() else { return Err(bad("there is nothing to add")) };
    let mut whole = Share::from_bytes(first.as_ref())?;
    for more in shares {
        whole.add(&Share::from_bytes(more.as_ref())?)?;
    }
    Ok(whole.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(places: Option<&[u32]>, weights: &[f64]) -> Share {
        let moved = Moved {
            places: places.map(<[u32]>::to_vec),
            weights: weights.to_vec(),
            drift: weights.iter().map(|weight| 2.0 * weight).collect(),
            biases: vec![1.0],
            bias_drift: vec![0.5],
        };
        let totals = Totals { epochs: 1, rounds: 5, mistakes: 2, updates: 2, errors: 1 };
        let learned = Learned::Moved(moved);
        Share { shards: 1, part: 3, weighted_mistakes: 6, totals, moves: vec![2], learned }
    }

    #[test]
    fn shares_add_up_however_they_are_stored() {
        let sparse = [share(Some(&[1, 3]), &[1.0, 2.0]), share(Some(&[0, 3]), &[4.0, 8.0])];
        let dense = [share(None, &[0.0, 1.0, 0.0, 2.0]), share(None, &[4.0, 0.0, 0.0, 8.0])];
        for (one, other) in [(&sparse[0], &sparse[1]), (&sparse[0], &dense[1]), (&dense[0], &sparse[1])] {
            let whole = Share::from_bytes(&add(&[one.to_bytes(), other.to_bytes()]).unwrap()).unwrap();
            assert_eq!((whole.shards, whole.part, whole.moves), (2, 6, vec![4]));
            assert_eq!((whole.totals.rounds, whole.totals.epochs), (10, 1));
            let Learned::Moved(moved) = whole.learned else { panic!("it moved") };
            let (mut weights, mut drift) = ([0.0; 4], [0.0; 4]);
            moved.pour(&mut weights, &mut drift).unwrap();
            assert_eq!((weights, drift), ([4.0, 1.0, 0.0, 10.0], [8.0, 2.0, 0.0, 20.0]));
            assert_eq!(moved.biases, [2.0]);
        }
        // A share that moved nothing is no stranger.
        let still = share(Some(&[]), &[]).to_bytes();
        let both = Share::from_bytes(&add(&[still, sparse[0].to_bytes()]).unwrap()).unwrap();
        assert!(matches!(both.learned, Learned::Moved(moved) if moved.weights == [1.0, 2.0]));
    }

    #[test]
    fn what_was_spoiled_on_its_way_is_refused() {
        let whole = share(Some(&[1, 3]), &[1.0, 2.0]).to_bytes();
        for place in 0..whole.len() {
            let mut spoiled = whole.clone();
            spoiled[place] ^= 4;
            assert!(Share::from_bytes(&spoiled).is_err(), "byte {place}");
        }
        let mut wild = share(Some(&[3, 1]), &[1.0, 2.0]);
        assert!(Share::from_bytes(&wild.to_bytes()).is_err(), "places that do not ascend");
        wild.learned =
            Learned::Moved(Moved { places: Some(vec![9]), weights: vec![1.0], ..Moved::default() });
        let Learned::Moved(moved) = wild.learned else { panic!("it moved") };
        assert!(moved.pour(&mut [0.0; 4], &mut []).is_err(), "a weight that there is not");
    }
}
