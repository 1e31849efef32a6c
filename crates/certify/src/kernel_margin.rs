//! The margin in the space of a polynomial kernel, whose axes are not those of plain monomials.
//!
//! The kernel is the product of rows whose features are monomials times the roots of whole numbers, which no double
//! holds. The search takes them rounded, as it may; what it finds is then carried over to the exact monomials, where a
//! plane's scores are verified without rounding and lengths are bounded from both sides. If that gives nothing, the
//! margin among plain monomials still bounds this one, by the shortest and the longest axis.

use crate::certificate::Polynomial;
use crate::decide::{Answer, Plane, Question, Verdict, apart, decide_by, intercept_of, propose};
use crate::rows::Rows;
use crate::watch::Clock;

/// More than rounding, of a few hundred operations at most, can have changed the length of an axis by, relative to it.
const DOUBT: f64 = 1e-13;

/// The lengths of the axes, up to rounding.
pub(crate) struct Axes(Vec<f64>);

impl Axes {
    /// Those of the monomials of `width` features; `None` if doubles do not hold them.
    pub(crate) fn new(kernel: Polynomial, width: usize) -> Option<Self> {
        let length = |features: Vec<usize>| {
            let (mut square, mut times) = (1.0, 0.0);
            for (idx, &feature) in features.iter().enumerate() {
                times = if idx > 0 && features[idx - 1] == feature { times + 1.0 } else { 1.0 };
                square *= (idx + 1) as f64 / times * if feature == width { kernel.offset } else { 1.0 };
            }
            f64::sqrt(square)
        };
        let lengths: Vec<f64> = kernel.monomials(width).into_iter().map(length).collect();
        let is_moderate = |length: &f64| (1e-140..1e140).contains(length);
        lengths.iter().all(is_moderate).then_some(Self(lengths))
    }

    /// The lengths, rounded down.
    fn low(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(|length| length * (1.0 - DOUBT))
    }

    /// The lengths, rounded up.
    fn high(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(|length| length * (1.0 + DOUBT))
    }

    /// The rows as the kernel sees them, up to rounding; `None` beyond the range of doubles.
    pub(crate) fn stretch(&self, lifted: &Rows) -> Option<Rows> {
        lifted.map(self.0.len(), |entries, stretched, _| {
            for &(feature, value) in entries {
                let value = value * self.0[feature];
                if !value.is_normal() {
                    return None;
                }
                stretched.push((feature, value));
            }
            Some(())
        })
    }

    /// The answer about plain monomials with the margin that the kernel means. `stretched` are the same rows as the
    /// kernel sees them.
    pub(crate) fn measure(
        &self,
        lifted: &Rows,
        stretched: &Rows,
        mut answer: Answer,
        question: Question,
        clock: &Clock<'_>,
    ) -> Answer {
        let shortest = self.low().fold(f64::INFINITY, f64::min);
        let longest = self.high().fold(0.0, f64::max);
        answer.at_least = (answer.at_least * shortest).next_down().max(0.0);
        answer.at_most = (answer.at_most * longest).next_up();
        let found = decide_by(stretched, question, clock);
        answer.stopped |= found.stopped;
        if let Verdict::Separable(Plane { weights, .. }) = &found.verdict {
            let plain: Vec<f64> =
                weights.iter().zip(&self.0).map(|(weight, axis)| weight.near() * axis).collect();
            let intercept = if question.bias { intercept_of(lifted, &plain) } else { 0.0 };
            let low: Vec<f64> = self.low().collect();
            propose(lifted, question.bias, &low, &plain, intercept, &mut answer);
        }
        let shares: Vec<(usize, f64)> =
            found.nearest.iter().map(|(idx, share)| (*idx, share.near())).collect();
        if shares.iter().all(|(_, share)| share.is_finite()) && !shares.is_empty() {
            let high: Vec<f64> = self.high().collect();
            let at_most = apart(lifted, question.bias, &high, &shares);
            if at_most < answer.at_most {
                answer.at_most = at_most;
                answer.nearest = shares.into_iter().map(|(idx, share)| (idx, share.into())).collect();
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certificate, Claim, check, investigate_in};
    use rosenblatt_core::Random;
    use std::ops::ControlFlow;

    /// What is proved of rows on two sides, checked.
    fn proved(rows: &Rows, degree: u32, offset: f64, bias: bool) -> (Answer, Certificate) {
        let kernel = Polynomial { degree, offset };
        let question = Question { bias, ..Question::default() };
        let found = investigate_in(rows, kernel, question, &|_| ControlFlow::Continue(())).unwrap();
        let certificate = found.answer.certificate(rows, bias, Some(kernel), [None, None]).unwrap();
        assert_eq!(check(&certificate, rows), Ok(()));
        (found.answer, certificate)
    }

    fn assert_near(answer: &Answer, margin: f64) {
        let (low, high) = (answer.at_least, answer.at_most);
        assert!(low <= margin * (1.0 + 1e-12) && margin * (1.0 - 1e-12) <= high, "{margin}: {low} to {high}");
        assert!(answer.gap() <= 1e-6, "{low} to {high}");
    }

    #[test]
    fn margins_by_hand() {
        // x^2 of 2 and of 1 are 3 apart; the axes of x and 1 are as long as the roots of 2 offset and of offset^2.
        let rows = Rows::from_points(&[[2.0], [1.0]], &[true, false]);
        for offset in [0.0, 0.1, 0.5, 1.0, 3.0, 1e20] {
            assert_near(&proved(&rows, 2, offset, true).0, (9.0 + 2.0 * offset).sqrt() / 2.0);
        }
        // (1 + xy)^3: x^3 differs by 9, x^2 and x by 3 each on axes as long as the root of 3.
        let rows = Rows::from_points(&[[2.0], [-1.0]], &[true, false]);
        let (cubes, squares, plain) = (9.0_f64.powi(2), 3.0 * 3.0_f64.powi(2), 3.0 * 3.0_f64.powi(2));
        assert_near(&proved(&rows, 3, 1.0, true).0, (cubes + squares + plain).sqrt() / 2.0);
        // Exclusive or: the classes' means differ in the product alone, whose axis is the root of 2.
        let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let xor = Rows::from_points(&corners, &[true, false, false, true]);
        for bias in [true, false] {
            assert_near(&proved(&xor, 2, 1.0, bias).0, 2_f64.sqrt());
        }
    }

    #[test]
    fn the_upper_bound_is_the_kernels_own_distance() {
        let mut random = Random::new(3);
        for (degree, offset) in [(1, 1.0), (2, 1.0), (2, 0.0), (3, 0.25), (4, 2.0)] {
            let points: Vec<Vec<f64>> =
                (0..12).map(|_| (0..3).map(|_| random.below(2000) as f64 / 1000.0 - 1.0).collect()).collect();
            let sides: Vec<bool> = points.iter().map(|point| point[0] > 0.1 * point[1]).collect();
            let rows = Rows::from_points(&points, &sides);
            let (answer, _) = proved(&rows, degree, offset, true);
            if !matches!(answer.verdict, Verdict::Separable(_)) {
                continue;
            }
            let value = |i: usize, j: usize| -> f64 {
                let product: f64 = points[i].iter().zip(&points[j]).map(|(a, b)| a * b).sum();
                (offset + product).powi(degree as i32)
            };
            let total = |side: bool| -> f64 {
                let own = answer.nearest.iter().filter(|(idx, _)| sides[*idx] == side);
                own.map(|(_, share)| share.near()).sum()
            };
            let share = |(idx, share): &(usize, crate::Number)| {
                (*idx, rows.sign(*idx) * share.near() / total(sides[*idx]))
            };
            let shares: Vec<(usize, f64)> = answer.nearest.iter().map(share).collect();
            let squared: f64 = shares
                .iter()
                .flat_map(|&(i, a)| shares.iter().map(move |&(j, b)| (i, j, a * b)))
                .map(|(i, j, weight)| weight * value(i, j))
                .sum();
            assert_near(&answer, squared.sqrt() / 2.0);
        }
    }

    #[test]
    fn claims_that_say_too_much_are_refused() {
        let rows = Rows::from_points(&[[2.0, 0.3], [1.0, 0.7], [0.5, -0.1]], &[true, false, false]);
        let (_, certificate) = proved(&rows, 3, 0.7, true);
        let with = |change: &dyn Fn(&mut crate::Margin, &mut Polynomial)| {
            let mut changed = certificate.clone();
            let Claim::Separable { margin: Some(margin), .. } = &mut changed.claim else {
                panic!("a margin")
            };
            change(margin, changed.kernel.as_mut().unwrap());
            check(&changed, &rows)
        };
        assert_eq!(with(&|_, _| ()), Ok(()));
        assert!(with(&|margin, _| margin.at_least *= 1.0 + 1e-6).is_err());
        assert!(with(&|margin, _| margin.at_most *= 1.0 - 1e-6).is_err());
        // A shorter axis for a plane, a longer one for the distance.
        assert!(with(&|_, kernel| kernel.offset = 0.69).is_err());
        assert!(with(&|_, kernel| kernel.offset = 0.71).is_err());
        assert!(with(&|_, kernel| kernel.offset = f64::NAN).is_err());
        assert!(with(&|_, kernel| kernel.offset = -0.7).is_err());
    }

    #[test]
    fn where_doubles_do_not_reach_the_bracket_is_wide_and_true() {
        let rows = Rows::from_points(&[[2.0], [1.0]], &[true, false]);
        let (answer, _) = proved(&rows, 2, 1e-290, true);
        assert!(answer.at_least <= 1.5 && 1.5 <= answer.at_most);
    }
}
