//! The batch perceptron: looks at a batch of rows, then moves once, along all mistakes together.
//!
//! The textbooks' gradient descent on the perceptron criterion. With the mean, the number of moves
//! obeys the perceptron's bound; with the sum, so does the number of mistakes per row.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::{self, Shape};

/// Moves once per batch.
#[derive(Debug, Clone)]
pub struct Batch {
    size: usize,
    mean: bool,
    rate: Schedule,
}

impl Rule for Batch {
    fn acts(&self, seen: &Seen) -> bool {
        seen.mistaken
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        seen.mistaken.then(|| Step::of(self.rate.rate(seen.updates + 1)))
    }
}

impl Algorithm for Batch {
    type Space = space::Batch;

    const INFO: Info = Info {
        aliases: &["batch-perceptron", "mini-batch"],
        summary: "adds up the mistakes of a batch and moves once",
        update: "after each batch:  w += rate (sum or mean of y x over its mistakes)",
        source: "Duda and Hart 1973",
        prefer: "to see gradient descent on the perceptron criterion",
        params: &[
            Param { name: "size", meaning: "rows in a batch; 0 for all", default: 0.0, range: Range::Count },
            Param {
                name: "mean",
                meaning: "1 to divide a move by the number of mistakes, 0 to add them up",
                default: 0.0,
                range: Range::Flag,
            },
        ],
        rate: Some("1"),
        mistake_driven: true,
        settles: true,
        exempt: &[(Law::HalfEpochs, "half an epoch is another batch")],
        ..Info::named("batch")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        Ok(Self { size: get("size") as usize, mean: get("mean") == 1.0, rate: params.rate() })
    }

    fn space(&self, shape: Shape) -> space::Batch {
        space::Batch::new(shape, self.size, self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_rate_counts_moves_not_mistakes() {
        let rule = Batch::new(&Params::new().with_rate(Schedule::Inverse(1.0))).unwrap();
        assert_eq!(rule.step(&Seen { updates: 1, ..seen(-1.0) }), Some(Step::of(0.5)));
        assert!(Batch::new(&Params::new().with("size", 1.5)).is_err());
    }
}
