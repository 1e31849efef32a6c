//! What a shard does: packs its rows once, and learns from them for an epoch whenever it gets a start.

use super::mixture::{Mixture, Stand};
use super::share::{Learned, Moved, Share};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::learner::Learner;
use crate::model::Model;
use crate::rows::check_finite;
use crate::spec::{Options, Spec};
use crate::split::split_rows;
use rosenblatt_core::{Hyperplanes, Order, Plan, Random, Readout, Stopped, Totals, Visits};
use rosenblatt_data::{Dataset, Labels, MatrixRef};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::iter;
use std::ops::ControlFlow;

/// About how many bytes of rows go into one pack.
const PACK_BYTES: usize = 4 << 20;

/// The rows of a shard, parted into those to learn from and those of the validation set: an iterator over packs. Rows come
/// in batches, and each batch is let go of when its packs are made.
#[derive(Debug, Clone)]
pub struct Packing<'a, B> {
    batches: B,
    /// The batch that packs are made of, and which rows go into each of those that are left.
    current: Option<Cow<'a, Dataset>>,
    left: VecDeque<(bool, Vec<u32>)>,
    /// Whether each row goes to the validation set.
    is_held: Vec<bool>,
    n_taken: usize,
    /// How many packs there were of rows to learn from, and of the validation set.
    n_packs: [usize; 2],
    fingerprint: Fingerprint,
    /// How many rows of each class are learned from, by number.
    pub counts: Vec<u64>,
}

/// Some rows of a shard as bytes.
#[derive(Debug, Clone)]
pub struct Pack {
    /// Whether they are of the validation set.
    pub is_held: bool,
    /// Which pack of its part it is, from 0.
    pub number: usize,
    /// The rows.
    pub bytes: Vec<u8>,
}

impl<'a, B: Iterator<Item = Result<Cow<'a, Dataset>, Error>>> Packing<'a, B> {
    /// The rows of shard number `shard` of about `n_shards`, which are of these classes. Part of them go to the validation set
    /// if the spec has one and there are enough, as far as a shard can tell: all shards together have as many times more
    /// rows. Batches hold the same classes, contiguous, and values that are finite.
    pub fn new(
        spec: &Spec,
        classes: &[u32],
        labels: &Labels,
        (shard, n_shards): (u64, u64),
        batches: B,
    ) -> Result<Self, Error> {
        super::mixture::check(spec)?;
        let all: Vec<u32> = (0..classes.len() as u32).collect();
        let options = spec.options();
        let n_rows = classes.len().saturating_mul(usize::try_from(n_shards).unwrap_or(usize::MAX));
        let held = spec
            .validation(n_rows)
            .map(|part| split_rows(classes, &all, part.fraction, shard_seed(options.seed, shard)).1)
            .unwrap_or_default();
        let mut is_held = vec![false; classes.len()];
        for row in held {
            is_held[row as usize] = true;
        }
        let mut counts = vec![0; labels.len()];
        for (&class, _) in classes.iter().zip(&is_held).filter(|(_, is_held)| !**is_held) {
            counts[class as usize] += 1;
        }
        let (current, left, fingerprint) = (None, VecDeque::new(), Fingerprint::of(labels));
        Ok(Self { batches, current, left, is_held, n_taken: 0, n_packs: [0; 2], fingerprint, counts })
    }

    /// How many rows the validation set has.
    pub fn n_validation(&self) -> usize {
        self.is_held.iter().filter(|is_held| **is_held).count()
    }

    /// The fingerprint of all rows, once all packs were taken.
    pub fn fingerprint(&self) -> String {
        self.fingerprint.digest()
    }

    /// One epoch of shard number `shard`, from where the mixture stands, over all rows: for a shard without a validation set
    /// whose rows are not used again, so that they need not be packed. What comes out is what [`epoch`] makes
    /// of the packs.
    pub fn epoch(&mut self, start: &[u8], shard: u64) -> Result<Vec<u8>, Error> {
        if self.n_taken > 0 || self.n_validation() > 0 {
            return Err(Error::BadShare {
                what: "an epoch over rows that are packed already, or held back".to_owned(),
            });
        }
        let mut rows = || {
            let next = self.batches.next()?;
            Some(next.and_then(|batch| self.count(batch)).map(Cow::into_owned))
        };
        let share = epoch_of(start, shard, iter::from_fn(&mut rows))?;
        // An epoch may end before the last row, and the fingerprint is of all of them.
        iter::from_fn(rows).try_for_each(|batch| batch.map(drop))?;
        Ok(share)
    }

    /// Takes note of rows that come next, and stores them as they are packed.
    fn count(&mut self, batch: Cow<'a, Dataset>) -> Result<Cow<'a, Dataset>, Error> {
        self.n_taken += batch.len();
        if self.n_taken > self.is_held.len() {
            return Err(Error::BadShare { what: "more rows than classes".to_owned() });
        }
        self.fingerprint.add_rows(batch.view(), 0..batch.len());
        Ok(batch.sparse_twin().map_or(batch, Cow::Owned))
    }

    fn take(&mut self, batch: Cow<'a, Dataset>) -> Result<(), Error> {
        let batch = self.count(batch)?;
        let is_held = &self.is_held[self.n_taken - batch.len()..self.n_taken];
        for part in [false, true] {
            let rows: Vec<u32> =
                (0..).zip(is_held).filter(|(_, held)| **held == part).map(|(row, _)| row).collect();
            self.left.extend(rows.chunks(rows_per_pack(&batch)).map(|some| (part, some.to_vec())));
        }
        self.current = Some(batch);
        Ok(())
    }
}

impl<'a, B: Iterator<Item = Result<Cow<'a, Dataset>, Error>>> Iterator for Packing<'a, B> {
    type Item = Result<Pack, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let (Some(batch), Some((is_held, rows))) = (&self.current, self.left.pop_front()) {
                let number = self.n_packs[usize::from(is_held)];
                self.n_packs[usize::from(is_held)] += 1;
                let bytes = rosenblatt_data::pack(batch, &rows).map_err(Error::from);
                return Some(bytes.map(|bytes| Pack { is_held, number, bytes }));
            }
            self.current = None;
            let taken = self.batches.next()?.and_then(|batch| self.take(batch));
            if let Err(error) = taken {
                return Some(Err(error));
            }
        }
    }
}

/// The rows of a shard as bytes: those to learn from, and those of the validation set.
#[derive(Debug, Clone)]
pub struct Packed {
    /// Packs of rows to learn from, in order.
    pub train: Vec<Vec<u8>>,
    /// Packs of the validation set.
    pub validation: Vec<Vec<u8>>,
    /// How many rows of each class are learned from, by number.
    pub counts: Vec<u64>,
    /// How many rows the validation set has.
    pub n_validation: usize,
    /// The fingerprint of all rows.
    pub fingerprint: String,
}

/// All packs of a [`Packing`] of these rows.
pub fn pack(spec: &Spec, data: &Dataset, shard: u64, n_shards: u64) -> Result<Packed, Error> {
    check_finite(data.view())?;
    let batch = iter::once(Ok(Cow::Borrowed(data)));
    let mut packing = Packing::new(spec, data.classes(), data.labels(), (shard, n_shards), batch)?;
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    for pack in &mut packing {
        let pack = pack?;
        if pack.is_held { &mut validation } else { &mut train }.push(pack.bytes);
    }
    let (n_validation, fingerprint) = (packing.n_validation(), packing.fingerprint());
    Ok(Packed { train, validation, counts: packing.counts, n_validation, fingerprint })
}

fn rows_per_pack(data: &Dataset) -> usize {
    let n_entries = match data.matrix() {
        MatrixRef::Dense32(matrix) => matrix.values.len(),
        MatrixRef::Dense64(matrix) => matrix.values.len() * 2,
        MatrixRef::Sparse32(matrix) => matrix.values.len() * 2,
        MatrixRef::Sparse64(matrix) => matrix.values.len() * 3,
    };
    let bytes_per_row = (n_entries * 4 / data.len().max(1)).max(8);
    (PACK_BYTES / bytes_per_row).max(1)
}

/// The first shard draws as one machine would; every other one in its own way.
fn shard_seed(seed: u64, shard: u64) -> u64 {
    if shard == 0 { seed } else { Random::for_purpose(seed.wrapping_add(shard), "shard").next() }
}

/// One epoch of shard number `shard` over its packed rows, from where the mixture stands. What comes out is for
/// [`Mixture::take`].
///
/// Rows that are visited as they stand (`order = given`) need not be in memory together: packs are asked for one by one.
pub fn epoch<B: AsRef<[u8]>>(
    start: &[u8],
    shard: u64,
    packs: impl IntoIterator<Item = Result<B, Error>>,
) -> Result<Vec<u8>, Error> {
    epoch_of(start, shard, packs.into_iter().map(|pack| Ok(rosenblatt_data::unpack(pack?.as_ref())?)))
}

fn epoch_of(
    start: &[u8],
    shard: u64,
    rows: impl Iterator<Item = Result<Dataset, Error>>,
) -> Result<Vec<u8>, Error> {
    let mixture = Mixture::from_bytes(start)?;
    let before = mixture.totals;
    let options = mixture.spec.options();
    let seed = shard_seed(options.seed, shard);
    let spec = Spec::new(Options {
        seed: seed.wrapping_add(before.epochs * u64::from(shard > 0)),
        ..options.clone()
    })?;
    let mut learner = match &mixture.stand {
        Stand::Whole(state) => {
            let mut learner = mixture.learner(None, &mixture.spec)?;
            if let Some(state) = state {
                let restored = learner.restore(state.clone());
                restored.map_err(|error| Error::BadShare { what: error.to_string() })?;
            }
            learner
        }
        Stand::Mixed { planes, .. } => {
            let mut learner = mixture.learner(Some(planes.clone()), &spec)?;
            let _ = learner.stand_at(before, &mixture.moves);
            learner
        }
    };
    let is_whole = matches!(mixture.stand, Stand::Whole(_));
    let order = mixture.spec.order();
    let plan = mixture.spec.plan(&order, None);
    let plan = Plan {
        seed,
        epochs: before.epochs + 1,
        max_updates: plan.max_updates.filter(|_| is_whole),
        stop_when_clean: plan.stop_when_clean && is_whole,
        ..plan
    };
    let rows = rows.map(|rows| known(&mixture, rows?));
    let stopped = learn(&mut *learner, &plan, rows, &mixture)?;
    learner.check_finite(before.epochs + 1, None)?;
    Ok(share(&mixture, &*learner, stopped).to_bytes())
}

/// Refuses rows that the mixture cannot be of.
fn known(mixture: &Mixture, data: Dataset) -> Result<Dataset, Error> {
    if let Some(name) = data.labels().names().iter().find(|name| mixture.labels.class(name).is_none()) {
        return Err(Error::UnknownClass { name: name.clone(), known: mixture.labels.names().to_vec() });
    }
    if data.width() > mixture.width {
        let what = format!("rows of {} features for a mixture of {}", data.width(), mixture.width);
        return Err(Error::BadShare { what });
    }
    Ok(data)
}

fn learn(
    learner: &mut dyn Learner,
    plan: &Plan<'_>,
    mut packs: impl Iterator<Item = Result<Dataset, Error>>,
    mixture: &Mixture,
) -> Result<Stopped, Error> {
    if *plan.order != Order::Given {
        let data = Dataset::joined(packs, mixture.labels.clone())?;
        return Ok(learner.fit(data.view(), plan, &mut ()));
    }
    learner.fit_in_blocks(plan, &mut (), &mut |learner, observer| {
        for pack in packs.by_ref() {
            let mut data = pack?;
            if data.labels() != &mixture.labels {
                data = Dataset::joined([Ok::<_, Error>(data)], mixture.labels.clone())?;
            }
            learner.set_place(learner.place() + data.len());
            let visits = Visits::Range { first: 0, end: data.len() };
            if let ControlFlow::Break(stopped) = learner.learn(data.view(), visits, observer) {
                return Ok(ControlFlow::Break(Some(stopped)));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// What the learner hands back.
fn share(mixture: &Mixture, learner: &dyn Learner, stopped: Stopped) -> Share {
    let (before, now) = (&mixture.totals, learner.totals());
    let totals = Totals {
        epochs: 1,
        rounds: now.rounds - before.rounds,
        mistakes: now.mistakes - before.mistakes,
        updates: now.updates - before.updates,
        errors: now.errors - before.errors,
    };
    let part = mixture.mixing.part(&totals);
    let moves = learner.moves().iter().zip(&mixture.moves).map(|(now, before)| now - before).collect();
    let learned = match &mixture.stand {
        Stand::Whole(_) => {
            Learned::Whole(learner.state().into_owned(), (stopped != Stopped::Epochs).then_some(stopped))
        }
        Stand::Mixed { planes, .. } => {
            let last = learner.read(Readout::Last);
            let last = last.as_ref().and_then(|kept| kept.planes()).unwrap_or(planes);
            let away =
                |now: &[f64], then: &[f64]| now.iter().zip(then).map(|(now, then)| now - then).collect();
            let drift = learner.drift();
            let drifted = |part: fn(&Hyperplanes) -> &[f64]| {
                drift.as_ref().map_or_else(Vec::new, |drift| part(drift).to_vec())
            };
            Learned::Moved(Moved::of(
                part,
                away(last.raw_weights(), planes.raw_weights()),
                drifted(Hyperplanes::raw_weights),
                away(last.biases(), planes.biases()),
                drifted(Hyperplanes::biases),
            ))
        }
    };
    Share { shards: 1, part, weighted_mistakes: part.saturating_mul(totals.mistakes), totals, moves, learned }
}

/// How many of the packed rows a model names wrongly, and how many there are.
pub fn count_errors<B: AsRef<[u8]>>(
    model: &Model,
    packs: impl IntoIterator<Item = Result<B, Error>>,
) -> Result<(u64, usize), Error> {
    let (mut errors, mut n_rows) = (0, 0);
    for pack in packs {
        let data = rosenblatt_data::unpack(pack?.as_ref())?;
        let truth = data.classes();
        model.each_row(data.view(), |row, class, _| {
            let truth_name = data.labels().name(truth[row as usize]);
            errors += u64::from(model.labels().name(class) != truth_name);
        })?;
        n_rows += data.len();
    }
    Ok((errors, n_rows))
}
