//! How the survivors of a voted model voted on a row, both sides counted.
//!
//! Predicting needs only the difference of the two sides; a person wants to know how many there were.

use crate::mapped::Mapper;
use crate::model::Model;
use rosenblatt_core::Row;
use rosenblatt_core::memory::{Kept, Votes};
use serde::Serialize;

/// One question that survivors voted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct VoteCount {
    /// Votes for.
    pub in_favour: u64,
    /// Votes against.
    pub against: u64,
    /// Votes of survivors whose score was zero, where the convention gives it to neither side.
    pub abstained: u64,
}

/// Counts the votes of a model.
///
/// ```
/// use rosenblatt::learning::{Dense, Readout};
/// use rosenblatt::{Dataset, Options, Spec, train};
/// use rosenblatt::vote_count::VoteCounter;
///
/// let data = Dataset::from_rows(&[[1.0], [-1.0], [2.0], [-2.0]], &["b", "a", "b", "a"]);
/// let spec = Spec::new(Options { readout: Some(Readout::Voted), ..Options::default() })?;
/// let model = train(&spec, &data)?;
/// let vote_count = VoteCounter::new(&model).expect("a vote").count(Dense(&[3.0]))[0];
/// assert!(vote_count.in_favour > vote_count.against);
/// assert_eq!(vote_count.in_favour + vote_count.against + vote_count.abstained, model.training_summary().totals.rounds);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct VoteCounter<'m> {
    votes: &'m Votes,
    mapper: Option<Mapper>,
    rounds: u64,
    sides: Vec<[u64; 2]>,
    counts: Vec<VoteCount>,
    scratch: Vec<f64>,
}

impl<'m> VoteCounter<'m> {
    /// A counter of the votes of `model`; `None` if it does not vote.
    pub fn new(model: &'m Model) -> Option<Self> {
        let Kept::Votes(votes) = model.kept() else { return None };
        let log = votes.log();
        let (sides, counts) = (vec![[0; 2]; log.n_outputs], vec![VoteCount::default(); log.n_outputs]);
        let mapper = model.map.clone().map(Mapper::new);
        Some(Self { votes, mapper, rounds: log.rounds, sides, counts, scratch: Vec::new() })
    }

    /// The votes on `row`. Two classes: one count, for the second class. More: one per class, or per pair
    /// of classes for its first, as the model tells them apart.
    pub fn count<R: Row>(&mut self, row: R) -> &[VoteCount] {
        match &mut self.mapper {
            None => self.votes.counts(row, &mut self.sides, &mut self.scratch),
            Some(mapper) => self.votes.counts(mapper.row(row), &mut self.sides, &mut self.scratch),
        }
        for (vote_count, &[in_favour, against]) in self.counts.iter_mut().zip(&self.sides) {
            *vote_count = VoteCount { in_favour, against, abstained: self.rounds - in_favour - against };
        }
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Options, Spec, train};
    use rosenblatt_core::{Dense, Random, Readout};

    #[test]
    fn both_sides_are_what_the_survivors_say_one_by_one() {
        let mut random = Random::new(5);
        let mut number = || random.below(2001) as f64 / 1000.0 - 1.0;
        let rows: Vec<[f64; 3]> = (0..60).map(|_| [number(), number(), number()]).collect();
        let two: Vec<&str> =
            rows.iter().map(|row| if row[0] + 0.3 * row[1] > 0.1 { "b" } else { "a" }).collect();
        let three: Vec<&str> =
            rows.iter().zip(&two).map(|(row, name)| if row[2] > 0.5 { "c" } else { name }).collect();
        let votes_on = |algorithm: &str, names: &[&str]| {
            let options = Options {
                algorithm: algorithm.to_owned(),
                readout: Some(Readout::Voted),
                epochs: 3,
                ..Options::default()
            };
            let model = train(&Spec::new(options).unwrap(), &Dataset::from_rows(&rows, names)).unwrap();
            let Kept::Votes(votes) = model.kept() else { panic!("asked for a vote") };
            let mut counter = VoteCounter::new(&model).unwrap();
            for row in &rows {
                let mut expected = vec![VoteCount::default(); counter.sides.len()];
                votes.replay(|planes, n_votes| {
                    let mut scores = vec![0.0; expected.len()];
                    planes.scores(Dense(row), &mut scores);
                    for (vote_count, score) in expected.iter_mut().zip(scores) {
                        match score {
                            _ if score > 0.0 => vote_count.in_favour += n_votes,
                            _ if score < 0.0 => vote_count.against += n_votes,
                            // The default convention.
                            _ => vote_count.against += n_votes,
                        }
                    }
                });
                assert_eq!(counter.count(Dense(row)), expected, "{algorithm}");
            }
        };
        votes_on("perceptron", &two);
        votes_on("pegasos", &two);
        votes_on("perceptron", &three);
    }

    #[test]
    fn survivors_that_name_a_class_have_one_vote_between_all_classes() {
        let rows = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]];
        let options = Options {
            readout: Some(Readout::Voted),
            multiclass: "direct-max".parse().unwrap(),
            ..Options::default()
        };
        let data = Dataset::from_rows(&rows, &["a", "b", "c"]);
        let model = train(&Spec::new(options).unwrap(), &data).unwrap();
        let mut counter = VoteCounter::new(&model).unwrap();
        let counts = counter.count(Dense(&[2.0, 0.1]));
        let cast: u64 = counts.iter().map(|vote_count| vote_count.in_favour).sum();
        assert_eq!(cast, model.training_summary().totals.rounds);
        assert!(counts[0].in_favour > counts[1].in_favour.max(counts[2].in_favour));
    }
}
