//! How scores become classes, and classes become problems to learn.
//!
//! A [`Decision`] turns an example of some class into [`Problem`]s: "this score should beat zero", or
//! "this score should beat that one". The training loop, the rules and the memories know nothing of
//! classes, so one-vs-rest, one-vs-one and direct multiclass share them.

mod binary;
mod direct;
mod numbers;
mod one_vs_one;
mod one_vs_rest;

pub use binary::Binary;
pub(crate) use direct::strongest_rival;
pub use direct::{Direct, Share};
pub use numbers::Numbers;
pub use one_vs_one::OneVsOne;
pub use one_vs_rest::OneVsRest;

use crate::convention::Zero;
use crate::random::Random;

/// Something that is to be learned from one example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem<'a> {
    /// How well the scores do: positive is right, negative is wrong.
    pub margin: f64,
    /// `+1` or `-1`: which side the example is on.
    pub label: f64,
    /// Which outputs would move, and how far in relation to each other.
    pub directions: &'a [(usize, f64)],
    /// Whether all outputs together are one hypothesis, with one norm and one count of updates.
    pub joint: bool,
}

/// A way to tell classes apart by scores.
pub trait Decision {
    /// Whether there is one output, and every example poses one problem: that its label times the score
    /// be positive. The loop is faster if it knows.
    const SOLE: bool = false;

    /// How many classes there are.
    fn n_classes(&self) -> usize;

    /// How many scores are needed.
    fn n_outputs(&self) -> usize;

    /// Adds a class after all others, whose output comes after all others. False if its outputs are not one for each class.
    fn add_class(&mut self) -> bool {
        false
    }

    /// Whether each survivor names one class, instead of a side for each output.
    fn votes_jointly(&self) -> bool {
        false
    }

    /// Shows every problem that an example of `class` with these scores poses.
    fn problems(&mut self, class: u32, scores: &[f64], visit: impl FnMut(Problem<'_>));

    /// How far these scores speak for `class`: positive if it beats every rival, by the closest of them.
    fn margin(&self, class: u32, scores: &[f64]) -> f64 {
        let truth = class as usize;
        strongest_rival(truth, scores).map_or(f64::INFINITY, |rival| scores[truth] - scores[rival])
    }

    /// The class these scores speak for; `None` if it is a tie and ties are wrong by convention.
    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32>;

    /// The class with the highest score. A tie that the convention leaves open goes to the first.
    #[inline(always)]
    fn name(&self, scores: &[f64], zero: Zero, random: &mut Random) -> u32 {
        let decided = self.decide(scores, zero, random);
        decided.or_else(|| self.decide(scores, Zero::Minus, random)).unwrap_or(0)
    }
}

/// The class with the highest score; ties by convention.
pub(crate) fn highest(scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
    // Nothing foresees which class it is, so the highest so far is chosen without a branch.
    let (mut best, mut highest, mut any_tie) = (0, scores[0], false);
    for (class, &score) in scores.iter().enumerate().skip(1) {
        any_tie |= score == highest;
        (best, highest) = if score > highest { (class, score) } else { (best, highest) };
    }
    if any_tie { highest_of_tied(scores, zero, random) } else { Some(best as u32) }
}

/// The same where a class met one with the same score, the highest until then.
#[cold]
fn highest_of_tied(scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
    let mut best = 0;
    let mut n_tied = 1_u64;
    for class in 1..scores.len() {
        if scores[class] > scores[best] {
            best = class;
            n_tied = 1;
        } else if scores[class] == scores[best] {
            n_tied += 1;
            match zero {
                Zero::Plus => best = class,
                // Each of the tied classes is left standing with the same chance.
                Zero::Random if random.below(n_tied) == 0 => best = class,
                Zero::Minus | Zero::Wrong | Zero::Random => {}
            }
        }
    }
    (n_tied == 1 || zero != Zero::Wrong).then_some(best as u32)
}

/// Any decision, chosen at run time.
#[derive(Debug, Clone)]
pub enum Multiclass {
    /// Two classes and one output.
    Binary(Binary),
    /// One output per class, each against all others.
    OneVsRest(OneVsRest),
    /// One output per pair of classes.
    OneVsOne(OneVsOne),
    /// One output per class, learned together.
    Direct(Direct),
    /// No classes but numbers, and one output.
    Numbers(Numbers),
}

/// Asks the decision that was chosen.
macro_rules! chosen {
    ($self:ident, $decision:ident => $answer:expr) => {
        match $self {
            Self::Binary($decision) => $answer,
            Self::OneVsRest($decision) => $answer,
            Self::OneVsOne($decision) => $answer,
            Self::Direct($decision) => $answer,
            Self::Numbers($decision) => $answer,
        }
    };
}

impl Decision for Multiclass {
    fn n_classes(&self) -> usize {
        chosen!(self, decision => decision.n_classes())
    }

    fn n_outputs(&self) -> usize {
        chosen!(self, decision => decision.n_outputs())
    }

    fn add_class(&mut self) -> bool {
        chosen!(self, decision => decision.add_class())
    }

    fn votes_jointly(&self) -> bool {
        chosen!(self, decision => decision.votes_jointly())
    }

    fn problems(&mut self, class: u32, scores: &[f64], visit: impl FnMut(Problem<'_>)) {
        chosen!(self, decision => decision.problems(class, scores, visit));
    }

    fn margin(&self, class: u32, scores: &[f64]) -> f64 {
        chosen!(self, decision => decision.margin(class, scores))
    }

    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
        chosen!(self, decision => decision.decide(scores, zero, random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_where_the_convention_says() {
        let mut random = Random::new(1);
        let scores = [1.0, 3.0, 2.0, 3.0];
        assert_eq!(highest(&scores, Zero::Minus, &mut random), Some(1));
        assert_eq!(highest(&scores, Zero::Plus, &mut random), Some(3));
        assert_eq!(highest(&scores, Zero::Wrong, &mut random), None);
        let drawn: Vec<_> = (0..100).filter_map(|_| highest(&scores, Zero::Random, &mut random)).collect();
        assert!(drawn.contains(&1) && drawn.contains(&3) && !drawn.contains(&2));
        assert_eq!(highest(&[0.0, 5.0], Zero::Wrong, &mut random), Some(1));
    }
}
