//! What can be proved of the rows, and the two inequalities of the convergence proof as a run goes on.

use rosenblatt::certify::{Number, Question, Verdict, decide};
use rosenblatt::learning::Bias;
use rosenblatt::separation::{Sides, study, with_bias};
use rosenblatt::trace::TracedRound;
use rosenblatt::{Dataset, Error};
use serde_json::{Value, json};
use std::cell::Cell;
use std::ops::ControlFlow;

/// A page cannot be stopped by a clock it does not have: so often the search is asked whether to go on.
const MOST_ASKED: u32 = 20_000;

/// The hyperplane of the largest margin, the bias being the weight of a constant feature.
pub(crate) struct Bound {
    direction: Vec<f64>,
    constant: f64,
    margin: f64,
    radius: f64,
    most_mistakes: f64,
}

/// What is known of the rows: the study of every question, and the bound if there are but two classes.
pub(crate) fn certify(data: &Dataset, bias: Bias) -> Result<(Value, Option<Bound>), Error> {
    let asked = Cell::new(0);
    let watch = |_: rosenblatt::certify::Progress<'_>| {
        asked.set(asked.get() + 1);
        if asked.get() > MOST_ASKED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let question = Question { bias: bias != Bias::None, ..Question::default() };
    let (mut studies, mut bound) = (Vec::new(), None);
    let all = Sides::chosen(data, None, None)?;
    let is_alone = all.len() == 1;
    for sides in all {
        let studied = study(data, sides, question, None, &watch)?;
        if let (true, Some(difficulty)) = (is_alone, studied.findings.difficulty) {
            let (rows, constant) = with_bias(&studied.rows, bias);
            let through_origin = Question { bias: false, ..question };
            if let Verdict::Separable(plane) = decide(&rows, through_origin, &watch).verdict {
                let mut direction: Vec<f64> = plane.weights.iter().map(Number::near).collect();
                let length = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
                for part in &mut direction {
                    *part /= length;
                }
                let (margin, radius) = (difficulty.margin.0, difficulty.radius);
                let most_mistakes = difficulty.most_mistakes;
                bound = Some(Bound { direction, constant, margin, radius, most_mistakes });
            }
        }
        studies.push(studied.summary(data));
    }
    let summary = bound.as_ref().map(|bound| {
        json!({ "margin": bound.margin, "radius": bound.radius, "most-mistakes": bound.most_mistakes,
                "direction": bound.direction })
    });
    Ok((json!({ "studies": studies, "bound": summary }), bound))
}

impl Bound {
    /// `w·u`, which grows by at least the margin with every mistake, and `|w|²`, which grows by at most R².
    pub(crate) fn meters(&self, round: &TracedRound) -> Value {
        let bias = if self.constant == 0.0 { 0.0 } else { round.bias / self.constant };
        let weights = round.weights.iter().chain([&bias]);
        let progress: f64 = weights.clone().zip(&self.direction).map(|(weight, part)| weight * part).sum();
        let norm2: f64 = weights.map(|weight| weight * weight).sum();
        json!({ "progress": progress, "norm2": norm2 })
    }
}
