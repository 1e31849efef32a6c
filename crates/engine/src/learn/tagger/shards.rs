//! Training on all cores, by iterative parameter mixing (`McDonald`, Hall and Mann 2010).
//!
//! The sentences lie in shards. In every epoch each shard starts from the same weights and learns from its own sentences;
//! the mean of what came of it is where the next epoch starts. Shards decide the outcome, and threads only how soon it is
//! there.

use super::train::{Material, Trained};
use crate::error::Error;
use crate::keep::tagger::TaggerOptions;
use crate::model::{Checkpoint, encode_sentences, training_summary};
use crate::monitor::{Checkpointer, keep};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::{Observer, Snapshot};
use rosenblatt_core::state::{State, StateError};
use rosenblatt_core::{Order, Plan, Random, Readout, Stopped, Totals, threads};
use rosenblatt_sequence::{Numbers, Weights};

/// What is gone on from, and who keeps checkpoints.
type Checkpoints<'a> = (Option<Checkpoint>, Option<&'a mut dyn Checkpointer>);

pub(super) fn train(
    material: &Material,
    options: &TaggerOptions,
    start: Option<Weights>,
    checkpoints: Checkpoints<'_>,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    train_on(threads::available(), material, options, start, checkpoints, observer)
}

fn train_on(
    n_threads: usize,
    material: &Material,
    options: &TaggerOptions,
    start: Option<Weights>,
    (checkpoint, mut checkpointer): Checkpoints<'_>,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    let n_sentences = material.corpus.len();
    let shards: Vec<(u64, Vec<u32>)> = (0..options.shards)
        .map(|shard| (shard as u64, (shard as u32..n_sentences as u32).step_by(options.shards).collect()))
        .collect();
    let shape = material.shape(options.meaning()?.order);
    let mut weights = start.unwrap_or_else(|| Weights::zero(shape, material.lexicon.len()));
    weights = weights.with_room(shape, material.lexicon.len());
    let mut average: Option<Weights> = None;
    let mut totals = Totals::default();
    let mut stopped = Stopped::Epochs;
    let mark = material.mark();
    if let Some(checkpoint) = checkpoint {
        checkpoint.check_sentences(options, &mark, false)?;
        (totals, weights, average) = restore(checkpoint.state, options, &weights)?;
    }
    while totals.epochs < options.epochs {
        // Between epochs there is one set of weights, and nothing else to keep.
        let encode = || encode_sentences(options, &mark, None, &state(&totals, &weights, average.as_ref()));
        if keep(&mut checkpointer, &totals, encode) {
            return Err(Error::Interrupted { epoch: totals.epochs + 1 });
        }
        let epoch = |(shard, rows): &(u64, Vec<u32>)| {
            let mut run = material.begin(options, Some(weights.clone()))?;
            let seed = Random::for_purpose(options.seed.wrapping_add(*shard), "shard").next() ^ totals.epochs;
            let plan =
                Plan { rows: Some(rows), stop_when_clean: false, ..Plan::new(&Order::ShuffleEpoch, 1, seed) };
            let _ = run.fit(Numbers(n_sentences), &plan, &mut ());
            let last = run.space().weights().clone();
            let learned = run.totals();
            let mean = material.read_out(run, Stopped::Epochs, rows.len())?.weights;
            Ok::<_, Error>((mean, last, learned))
        };
        let learned = threads::each(n_threads, &shards, epoch)?;
        let before = totals;
        totals = learned.iter().fold(totals, |sum, (_, _, part)| sum.beside(part));
        totals.epochs = before.epochs + 1;
        let lasts: Vec<(&Weights, f64)> = learned.iter().map(|(_, last, _)| (last, 1.0)).collect();
        if let Some(mean) = Weights::mean(&lasts) {
            weights = mean;
        }
        if options.averaged {
            let shares: Vec<(&Weights, f64)> =
                learned.iter().map(|(mean, _, part)| (mean, part.rounds as f64)).collect();
            let here = Weights::mean(&shares);
            average = match (average, here) {
                (Some(so_far), Some(here)) => Weights::mean(&[
                    (&so_far, before.rounds as f64),
                    (&here, (totals.rounds - before.rounds) as f64),
                ]),
                (_, here) => here,
            };
        }
        let seen = totals.since(&before);
        let goes_on = observer.epoch(&seen, &Nowhere).is_continue();
        if seen.mistakes == 0 || !goes_on {
            stopped = if seen.mistakes == 0 { Stopped::Clean } else { Stopped::Observer };
            break;
        }
    }
    let weights = average.unwrap_or(weights);
    if !weights.is_finite() {
        return Err(Error::Overflow { epoch: totals.epochs, row: None });
    }
    let summary = training_summary(n_sentences, totals, stopped, None);
    Ok(Trained { weights, votes: None, summary, progressive: None })
}

/// How far all of them have come.
fn state(totals: &Totals, weights: &Weights, average: Option<&Weights>) -> State<'static> {
    let mut state = State::default();
    state.u64s("shards", totals.to_list().to_vec());
    weights.save("weights", &mut state);
    if let Some(average) = average {
        average.save("average", &mut state);
    }
    state
}

/// The same the other way round.
fn restore(
    mut state: State<'_>,
    options: &TaggerOptions,
    like: &Weights,
) -> Result<(Totals, Weights, Option<Weights>), StateError> {
    let totals = Totals::from_list(state.take_counters("shards")?);
    let mut take = |name: &str| Weights::restore(like.shape(), like.n_attributes(), name, &mut state);
    let weights = take("weights")?;
    let average = if options.averaged && totals.epochs > 0 { Some(take("average")?) } else { None };
    state.finish()?;
    Ok((totals, weights, average))
}

/// Several runs at once, and streams between two blocks, have no state to look at.
pub(super) struct Nowhere;

impl Snapshot for Nowhere {
    fn read(&self, _readout: Readout) -> Option<Kept> {
        None
    }

    fn state(&self) -> State<'_> {
        State::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::Source;
    use std::fmt::Write as _;

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let mut random = Random::new(5);
        let mut text = String::new();
        for _ in 0..200 {
            for _ in 0..=random.below(6) {
                let word = random.below(30);
                // Mostly a matter of the word, so that there is something to learn and never an end to it.
                let label = if random.below(5) == 0 { random.below(4) } else { word % 4 };
                let _ = writeln!(text, "w{word} L{label}");
            }
            text.push('\n');
        }
        let source = Source::bytes("a.conll", text.into_bytes());
        let options = TaggerOptions { shards: 5, epochs: 3, ..TaggerOptions::default() };
        let material = Material::read(&source, None, &options, None).unwrap();
        let train =
            |n_threads| train_on(n_threads, &material, &options, None, (None, None), &mut ()).unwrap();
        let one = train(1);
        for n_threads in [2, 3, 8] {
            let other = train(n_threads);
            assert_eq!(one.weights, other.weights, "{n_threads} threads");
            assert_eq!(one.summary.totals, other.summary.totals);
        }
        assert_eq!(one.summary.totals.rounds, 600);
        // A shard that sees nothing has no say, and none is left out.
        let many = TaggerOptions { shards: 64, ..options };
        assert!(train_on(2, &material, &many, None, (None, None), &mut ()).unwrap().weights.is_finite());
    }
}
