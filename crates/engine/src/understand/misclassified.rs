//! The rows a model gets wrong, the most confident mistakes first: those are worth a person's look, since
//! either the model or the label is far off.

use crate::calibration::n_curves;
use crate::evaluate::matched;
use crate::keep::held_out::HeldOut;
use crate::model::{Model, class_scores};
use rosenblatt_data::Dataset;
use serde::Serialize;

/// A row that was given the wrong class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Misclassified {
    /// Which row, from 0.
    pub row: u32,
    /// The class it is of, by the data's numbers.
    pub truth: u32,
    /// The class it was given, by the model's numbers.
    pub given: u32,
    /// By how much the class given was ahead of the true one; of a class the model does not know, of the next.
    pub score_gap: f64,
    /// How probable the model held the class it gave, if it can tell.
    pub probability: Option<f64>,
}

/// Those of `rows` that `model` gives the wrong class, the most confident mistakes first.
pub fn misclassified(model: &Model, data: &Dataset, rows: &[u32]) -> Vec<Misclassified> {
    let (_, numbers) = matched(model, data);
    let (mut scores, mut shares) = (Vec::new(), Vec::new());
    let mut wrong = Vec::new();
    model.each_of(data.view(), rows, |row, given, answers| {
        let truth = data.classes()[row as usize];
        let known_as = numbers[truth as usize];
        if given == known_as {
            return;
        }
        class_scores(model, answers, &mut scores);
        let probability = model.calibration().map(|calibration| {
            calibration.probabilities(&scores, &mut shares);
            shares[given as usize]
        });
        let score_gap = score_gap(&scores, given as usize, known_as as usize);
        wrong.push(Misclassified { row, truth, given, score_gap, probability });
    });
    most_confident_first(&mut wrong);
    wrong
}

impl HeldOut {
    /// The rows that were given the wrong class, the most confident mistakes first.
    pub fn misclassified(&self) -> Vec<Misclassified> {
        let mut shares = Vec::new();
        let mut wrong = Vec::new();
        for (place, of_row) in self.values.chunks(n_curves(self.n_classes)).enumerate() {
            let (truth, given) = (self.classes[place], self.predicted[place]);
            if truth == given {
                continue;
            }
            self.shares(place, &mut shares);
            let probability = self.has_probabilities.then(|| shares[given as usize]);
            let score_gap = match of_row {
                [_] => self.towards_second(of_row).abs(),
                _ => f64::from(of_row[given as usize]) - f64::from(of_row[truth as usize]),
            };
            wrong.push(Misclassified { row: self.rows[place], truth, given, score_gap, probability });
        }
        most_confident_first(&mut wrong);
        wrong
    }
}

fn most_confident_first(wrong: &mut [Misclassified]) {
    let sure = |wrong: &Misclassified| wrong.probability.unwrap_or(0.0);
    wrong.sort_by(|a, b| {
        sure(b).total_cmp(&sure(a)).then(b.score_gap.total_cmp(&a.score_gap)).then(a.row.cmp(&b.row))
    });
}

fn score_gap(scores: &[f64], given: usize, truth: usize) -> f64 {
    if let [score] = scores {
        return score.abs();
    }
    let others = scores.iter().enumerate().filter(|(class, _)| *class != given);
    let next = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    scores[given] - scores.get(truth).copied().unwrap_or(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Spec, evaluate, train};

    #[test]
    fn the_most_confident_mistake_comes_first_and_none_is_missing() {
        let data = Dataset::from_rows(&[[1.0], [2.0], [-1.0], [-2.0]], &["up", "up", "down", "down"]);
        let model = train(&Spec::default(), &data).unwrap();
        let rows = [[-3.0], [2.0], [1.5], [9.0]];
        let other = Dataset::from_rows(&rows, &["up", "up", "down", "sideways"]);
        let wrong = misclassified(&model, &other, &[0, 1, 2, 3]);
        assert_eq!(wrong.len() as u64, evaluate(&model, &other).unwrap().errors);
        assert_eq!(wrong.iter().map(|wrong| wrong.row).collect::<Vec<_>>(), [3, 0, 2]);
        assert_eq!(other.labels().name(wrong[0].truth), "sideways");
        assert_eq!(model.labels().name(wrong[1].given), "down");
    }

    #[test]
    fn with_several_classes_the_lead_is_over_the_true_one() {
        assert_eq!(score_gap(&[3.0, 1.0, 2.0], 0, 1), 2.0);
        assert_eq!(score_gap(&[3.0, 1.0, 2.0], 0, 7), 1.0);
        assert_eq!(score_gap(&[-3.0], 0, 1), 3.0);
    }
}
