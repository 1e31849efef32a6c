//! How the survivors of a voted model of two classes voted on a row, both sides counted.
//!
//! Predicting needs only the difference of the two sides. To count one of them, the survivors vote
//! jointly against a rival whose score is always zero: it gets the votes of those that score below zero.

use crate::model::Model;
use rosenblatt_core::memory::{Ballot, Kept, Log, Votes};
use rosenblatt_core::{Planes, Row};

/// The votes on one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Votes for the first class.
    pub first: u64,
    /// Votes for the second class.
    pub second: u64,
    /// Votes of survivors whose score was zero.
    pub abstained: u64,
}

/// Counts the votes of a model.
///
/// ```
/// use rosenblatt::core::{Dense, Readout};
/// use rosenblatt::{Counter, Dataset, Options, Spec, train};
///
/// let data = Dataset::from_rows(&[[1.0], [-1.0], [2.0], [-2.0]], &["b", "a", "b", "a"]);
/// let spec = Spec::new(Options { readout: Some(Readout::Voted), ..Options::default() })?;
/// let model = train(&spec, &data)?;
/// let tally = Counter::new(&model).expect("a vote on two classes").count(Dense(&[3.0]));
/// assert!(tally.second > tally.first);
/// assert_eq!(tally.first + tally.second + tally.abstained, model.story().totals.rounds);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counter {
    votes: Votes,
    against_zero: Votes,
    rounds: u64,
    scratch: Vec<f64>,
}

impl Counter {
    /// A counter of the votes of `model`; `None` if it does not vote, or on more than two classes.
    pub fn new(model: &Model) -> Option<Self> {
        let Kept::Votes(votes) = model.kept() else { return None };
        let log = votes.log();
        if log.n_scorers != 1 || log.ballot != Ballot::PerScorer {
            return None;
        }
        let rounds = log.rounds;
        let with_rival = |planes: Planes| {
            let weights = planes.raw_weights().iter().flat_map(|&weight| [weight, 0.0]).collect();
            Planes::from_parts(weights, vec![planes.biases()[0], 0.0])
        };
        let log = Log { ballot: Ballot::Joint, n_scorers: 2, start: log.start.map(with_rival), ..log };
        let against_zero = Votes::from_log(log).ok()?;
        Some(Self { votes: votes.clone(), against_zero, rounds, scratch: Vec::new() })
    }

    /// The votes on `row`.
    pub fn count<R: Row>(&mut self, row: R) -> Tally {
        let (mut lead, mut sides) = ([0.0], [0.0; 2]);
        self.votes.scores(row, &mut lead, &mut self.scratch);
        self.against_zero.scores(row, &mut sides, &mut self.scratch);
        let (first, second) = (sides[1] as u64, (lead[0] + sides[1]) as u64);
        Tally { first, second, abstained: self.rounds - first - second }
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
        let names: Vec<&str> =
            rows.iter().map(|row| if row[0] + 0.3 * row[1] > 0.1 { "b" } else { "a" }).collect();
        for algorithm in ["perceptron", "pegasos"] {
            let options = Options {
                algorithm: algorithm.to_owned(),
                readout: Some(Readout::Voted),
                epochs: 3,
                ..Options::default()
            };
            let model = train(&Spec::new(options).unwrap(), &Dataset::from_rows(&rows, &names)).unwrap();
            let Kept::Votes(votes) = model.kept() else { panic!("asked for a vote") };
            let mut counter = Counter::new(&model).unwrap();
            for row in &rows {
                let mut expected = Tally::default();
                votes.replay(|planes, n_votes| {
                    let mut score = [0.0];
                    planes.scores(Dense(row), &mut score);
                    match score[0] {
                        score if score < 0.0 => expected.first += n_votes,
                        score if score > 0.0 => expected.second += n_votes,
                        _ => expected.abstained += n_votes,
                    }
                });
                assert_eq!(counter.count(Dense(row)), expected, "{algorithm}");
            }
        }
    }
}
