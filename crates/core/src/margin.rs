//! Margins of hyperplanes over examples, and the radius they are measured against.
//!
//! Textbooks call three different numbers "the margin": the functional one `y f(x)`, the geometric one
//! `y f(x)/‖w‖`, and the unsigned one `|f(x)|/‖w‖`, which cannot tell a right side from a wrong one.
//! All three are here, as the smallest over all rows. Nothing here searches for the best hyperplane.

use crate::convention::Bias;
use crate::decision::{Decision, strongest_rival};
use crate::examples::Examples;
use crate::row::Row;
use crate::space::Hyperplanes;
use std::collections::BTreeMap;

/// The smallest margins of some hyperplanes over some examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margins {
    /// `min y f(x)`: positive exactly if every row is on its right side.
    pub functional: f64,
    /// `min y f(x)/‖w‖`: the signed distance of the worst row.
    pub geometric: f64,
    /// `min |f(x)|/‖w‖`: the distance of the nearest row, whichever side it is on.
    pub unsigned: f64,
}

impl Margins {
    /// `R/γ`, the square root of the perceptron's bound; infinite unless every row is on its right side.
    pub fn difficulty(&self, radius: f64) -> f64 {
        if self.geometric > 0.0 { radius / self.geometric } else { f64::INFINITY }
    }
}

/// The smallest margins of `planes` over all rows that count; `None` if there are no such rows.
///
/// `bias` says whose length a margin is divided by. With [`Bias::Augmented`] the bias is a coordinate
/// of the vector, which is what mistake bounds speak of; otherwise the length is that of the weights
/// alone, so that geometric margins are distances. A learned bias steps like `Augmented(1)`: ask with
/// that when a bound is wanted. Where `w = 0` the geometric margins are 0.
///
/// With several outputs the smallest margin over all problems counts: each output's own in one-vs-rest
/// and one-vs-one, the lead over the strongest rival in direct multiclass, there divided by the
/// length of the difference of the two.
///
/// ```
/// use rosenblatt_core::{margin, Bias, Binary, DenseExamples, Hyperplanes};
///
/// let examples = DenseExamples::new(&[3.0, 4.0, 0.0, -1.0], 2, &[1, 0]);
/// let planes = Hyperplanes::from_parts(vec![3.0, 4.0], vec![-5.0]);
/// let margins = margin::margins(&planes, &Binary, Bias::Learned, examples).unwrap();
/// assert_eq!((margins.functional, margins.geometric), (9.0, 1.8));
/// ```
pub fn margins<E, D>(planes: &Hyperplanes, decision: &D, bias: Bias, examples: E) -> Option<Margins>
where
    E: Examples,
    D: Decision + Clone,
{
    let mut decision = decision.clone();
    let mut scores = vec![0.0; planes.n_outputs()];
    let mut found: Option<Margins> = None;
    // By output, and by rival where there is one: each length is needed often and computed once.
    let mut lengths: BTreeMap<(usize, Option<usize>), f64> = BTreeMap::new();
    for row_idx in (0..examples.len()).filter(|&row_idx| examples.weight(row_idx) != 0.0) {
        planes.scores(examples.row(row_idx), &mut scores);
        decision.problems(examples.class(row_idx), &scores, |problem| {
            let output = problem.directions[0].0;
            let rival = if problem.joint { strongest_rival(output, &scores) } else { None };
            let length =
                *lengths.entry((output, rival)).or_insert_with(|| length(planes, output, rival, bias));
            let geometric = if length == 0.0 { 0.0 } else { problem.margin / length };
            let so_far = found.get_or_insert(Margins {
                functional: f64::INFINITY,
                geometric: f64::INFINITY,
                unsigned: f64::INFINITY,
            });
            so_far.functional = so_far.functional.min(problem.margin);
            so_far.geometric = so_far.geometric.min(geometric);
            so_far.unsigned = so_far.unsigned.min(geometric.abs());
        });
    }
    found
}

/// The length of `output`'s vector, or of its difference from that of `rival`.
fn length(planes: &Hyperplanes, output: usize, rival: Option<usize>, bias: Bias) -> f64 {
    let difference = |parts: &[f64]| parts[output] - rival.map_or(0.0, |rival| parts[rival]);
    let weights = planes.raw_weights().chunks_exact(planes.n_outputs());
    let constant = match bias {
        Bias::Augmented(constant) => difference(planes.biases()) / constant,
        Bias::None | Bias::Learned => 0.0,
    };
    (weights.map(difference).map(square).sum::<f64>() + square(constant)).sqrt()
}

fn square(value: f64) -> f64 {
    value * value
}

/// `max ‖x‖` over all rows that count; the constant coordinate of [`Bias::Augmented`] included.
pub fn radius<E: Examples>(examples: E, bias: Bias) -> f64 {
    let rows = (0..examples.len()).filter(|&row_idx| examples.weight(row_idx) != 0.0);
    rows.map(|row_idx| examples.row(row_idx).norm2() + bias.spread()).fold(0.0, f64::max).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Binary, Direct, OneVsRest, Share};
    use crate::examples::DenseExamples;

    #[test]
    fn the_three_margins_of_one_line() {
        // f = 2a - 1 on a = 1, 0, -1 with classes 1, 0, 1: margins 1, 1, -3, lengths 2 or sqrt(5).
        let examples = DenseExamples::new(&[1.0, 0.0, -1.0], 1, &[1, 0, 1]);
        let planes = Hyperplanes::from_parts(vec![2.0], vec![-1.0]);
        let found = margins(&planes, &Binary, Bias::Learned, examples).unwrap();
        assert_eq!(found, Margins { functional: -3.0, geometric: -1.5, unsigned: 0.5 });
        let found = margins(&planes, &Binary, Bias::Augmented(1.0), examples).unwrap();
        assert_eq!(found.geometric, -3.0 / 5_f64.sqrt());
        assert_eq!(radius(examples, Bias::Learned), 1.0);
        assert_eq!(radius(examples, Bias::Augmented(2.0)), 5_f64.sqrt());
    }

    #[test]
    fn hidden_rows_and_no_rows() {
        let examples = DenseExamples::new(&[1.0, -9.0], 1, &[1, 1]).with_weights(&[1.0, 0.0]);
        let planes = Hyperplanes::from_parts(vec![1.0], vec![0.0]);
        assert_eq!(margins(&planes, &Binary, Bias::None, examples).unwrap().functional, 1.0);
        assert_eq!(radius(examples, Bias::None), 1.0);
        let nothing = DenseExamples::new(&[] as &[f64], 1, &[]);
        assert_eq!(margins(&planes, &Binary, Bias::None, nothing), None);
    }

    #[test]
    fn several_classes() {
        // Scores of (1, 2): 1, 2 and -3, truth 1: margin 1 over class 0, |w1 - w0| = sqrt(2).
        let planes = Hyperplanes::from_parts(vec![1.0, 0.0, -1.0, 0.0, 1.0, -1.0], vec![0.0; 3]);
        let examples = DenseExamples::new(&[1.0, 2.0], 2, &[1]);
        let direct = margins(&planes, &Direct::new(3, Share::Max), Bias::None, examples).unwrap();
        assert_eq!((direct.functional, direct.geometric), (1.0, 1.0 / 2_f64.sqrt()));
        // Each against the rest: margins -1, 2, 3.
        let rest = margins(&planes, &OneVsRest::new(3), Bias::None, examples).unwrap();
        assert_eq!((rest.functional, rest.unsigned), (-1.0, 1.0));
    }

    #[test]
    fn zero_weights_have_zero_margins() {
        let examples = DenseExamples::new(&[1.0], 1, &[1]);
        let found = margins(&Hyperplanes::zero(1, 1), &Binary, Bias::None, examples).unwrap();
        assert_eq!((found.geometric, found.difficulty(1.0)), (0.0, f64::INFINITY));
    }
}
