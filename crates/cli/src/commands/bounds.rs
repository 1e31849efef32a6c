//! `train --bounds`: the convergence proof beside the run that it is about, epoch by epoch: live where progress is
//! shown, and as a table in the end.
//!
//! The run is compared with the best hyperplane that can be found for the same rows: the one of largest
//! margin, or a pocket's if nothing separates them. The inequalities are the core's, checked after every
//! update; one that does not hold is a bug, and is reported as such.

use super::train_face::Watch;
use crate::ui::{self, count};
use rosenblatt::certify::{Rows, Verdict, pocket};
use rosenblatt::learning::invariants::{Check, Inequality, Invariants, Summary};
use rosenblatt::learning::observer::Snapshot;
use rosenblatt::learning::{Bias, Epoch, Examples, Hyperplanes, Observer, Round};
use rosenblatt::separation::{decide_within, with_bias};
use rosenblatt::{Dataset, Error, Spec};
use rosenblatt_data::View;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::time::Duration;

/// How long the hyperplane to compare with is looked for.
const MOST_TIME: Duration = Duration::from_secs(20);
/// How many epochs a pocket is given.
const POCKET_EPOCHS: u64 = 20;

/// What was compared, epoch by epoch.
pub(super) struct Bounds {
    summaries: Vec<Summary>,
    /// What the margin lies between if the rows are separable.
    margin: Option<(f64, f64)>,
    violation: Option<String>,
}

/// Someone to compare the run with.
struct Rival {
    planes: Hyperplanes,
    /// The margin that is asked of it.
    margin: f64,
    bracket: Option<(f64, f64)>,
}

/// Watches the run beside `watch`, and writes what it found to `into`. Fails if there is nothing to compare.
pub(super) fn beside<'a>(
    watch: Watch<'a>,
    spec: &Spec,
    data: Option<&'a Dataset>,
    into: &'a mut Option<Bounds>,
) -> Result<Box<dyn Observer + 'a>, Error> {
    let Some(data) = data else {
        return Err(Error::NeedsMemory { what: "a proof beside the run" });
    };
    if !spec.entry().info.fixed_increment || data.labels().len() != 2 {
        return Err(Error::range(
            "bounds",
            "those of the perceptron with two classes",
            format!("{} with {}", spec.entry().info.name, data.labels().len()),
        ));
    }
    if spec.options().map.is_some() {
        return Err(Error::Mapped { what: "bounds measure" });
    }
    let bias = spec.bias();
    Ok(match data.view() {
        View::Dense32(rows) => Box::new(Live::new(rows, bias, watch, into)?),
        View::Dense64(rows) => Box::new(Live::new(rows, bias, watch, into)?),
        View::Sparse32(rows) => Box::new(Live::new(rows, bias, watch, into)?),
        View::Sparse64(rows) => Box::new(Live::new(rows, bias, watch, into)?),
    })
}

/// The proof, which says after every epoch how the run stands beside its bounds.
struct Live<'a, E: Examples> {
    proof: Invariants<E>,
    /// What the margin lies between if the rows are separable.
    margin: Option<(f64, f64)>,
    watch: Watch<'a>,
    into: &'a mut Option<Bounds>,
}

impl<'a, E: Examples> Live<'a, E> {
    fn new(examples: E, bias: Bias, watch: Watch<'a>, into: &'a mut Option<Bounds>) -> Result<Self, Error> {
        let rows = Rows::new(examples, |class| Some(class == 1));
        let rows = rows.map_err(|error| Error::range("bounds", "about rows that can be certified", error))?;
        let rival = rival(&rows, bias);
        let mut proof = Invariants::new(examples, bias);
        if let Some(rival) = &rival {
            proof = proof.against(rival.planes.clone(), Some(rival.margin));
        }
        Ok(Self { proof, margin: rival.and_then(|rival| rival.bracket), watch, into })
    }
}

impl<E: Examples> Drop for Live<'_, E> {
    fn drop(&mut self) {
        *self.into = Some(Bounds {
            summaries: self.proof.summaries().to_vec(),
            margin: self.margin,
            violation: self.proof.violation().map(|violation| violation.to_string()),
        });
    }
}

impl<E: Examples> Observer for Live<'_, E> {
    fn wants_rounds(&self) -> bool {
        self.proof.wants_rounds()
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        self.proof.round(round)
    }

    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        let _ = self.watch.epoch(epoch, run);
        let flow = self.proof.epoch(epoch, run);
        if let Some(summary) = self.proof.summaries().last() {
            self.watch.progress.show(Some(epoch.number as f64 / self.watch.epochs as f64), || {
                let [_, mistakes, any_vector, inseparable, _] = cells(summary);
                // Short: beside the bar, a narrow terminal has room for little more.
                format!("epoch {}: {mistakes} <= {any_vector}, {inseparable}", epoch.number)
            });
        }
        flow
    }
}

/// The best hyperplane there is, its weights so long that its margin is 1 in the scores. A bias is the weight
/// of a constant feature, as it is for the perceptron.
fn rival(rows: &Rows, bias: Bias) -> Option<Rival> {
    let (seen, constant) = with_bias(rows, bias);
    let answer = decide_within(&seen, MOST_TIME);
    let (mut weights, margin, bracket) = if let Verdict::Separable(plane) = &answer.verdict {
        (plane.doubles()?.0, answer.at_least, Some((answer.at_least, answer.at_most)))
    } else {
        let (weights, _) = pocket(&seen, false, POCKET_EPOCHS, 0, &|_| ControlFlow::Continue(()));
        let margin = usual_distance(&seen, &weights);
        (weights, margin, None)
    };
    let length = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    if !(margin.is_normal() && margin > 0.0 && length.is_normal()) {
        return None;
    }
    for weight in &mut weights {
        *weight /= length * margin;
    }
    let beside = if constant == 0.0 { 0.0 } else { weights.pop()? * constant };
    Some(Rival { planes: Hyperplanes::from_parts(weights, vec![beside]), margin, bracket })
}

/// The median distance of the rows that are on their right side. Any margin gives a bound; this one a fair one.
fn usual_distance(rows: &Rows, weights: &[f64]) -> f64 {
    let length = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    let score = |idx: usize| rows.entries(idx).map(|(j, x)| weights[j] * x).sum::<f64>() * rows.sign(idx);
    let mut right: Vec<f64> = (0..rows.len()).map(|idx| score(idx) / length).filter(|d| *d > 0.0).collect();
    right.sort_by(f64::total_cmp);
    right.get(right.len() / 2).copied().unwrap_or(0.0)
}

/// What `L + |v||w|` says of the number of mistakes. It bounds the sum of all steps, so that it counts in units of the
/// mean step: of the rate, if all rows count the same.
fn any_vector(summary: &Summary) -> Option<f64> {
    let check = summary.checks.iter().find(|check| check.inequality == Inequality::AnyVector)?;
    Some(if check.smaller > 0.0 {
        check.larger / check.smaller * summary.updates as f64
    } else {
        check.larger
    })
}

/// A margin to nine digits, with an exponent only if it is far from 1.
fn digits(margin: f64) -> String {
    if (1e-4..1e6).contains(&margin) {
        let places = (8 - margin.log10().floor() as i32).clamp(0, 12) as usize;
        format!("{margin:.places$}")
    } else {
        format!("{margin:.8e}")
    }
}

/// The larger side of an inequality.
fn larger(summary: &Summary, inequality: Inequality) -> Option<f64> {
    summary.checks.iter().find(|check| check.inequality == inequality).map(|Check { larger, .. }| *larger)
}

/// A line of the table.
fn cells(summary: &Summary) -> [String; 5] {
    let whole = |bound: Option<f64>| match bound {
        Some(bound) if bound < 1e15 => count(bound.floor() as u64),
        Some(bound) => format!("{bound:.1e}"),
        None => String::new(),
    };
    [
        summary.epoch.to_string(),
        count(summary.updates),
        whole(any_vector(summary)),
        whole(larger(summary, Inequality::Inseparable)),
        format!("{:.4}", summary.norm2.sqrt()),
    ]
}

impl Bounds {
    /// Whether they go by the largest margin.
    pub(super) fn is_certified(&self) -> bool {
        self.margin.is_some()
    }

    /// A small table, a line per epoch.
    pub(super) fn text(&self) -> String {
        let head = ["epoch", "mistakes so far", "(L + |v||w|)/step", "((R+D)/margin)^2", "|w|"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.summaries.iter().map(|summary| cells(summary).to_vec()));
        let mut text = format!("\nmistakes beside their bounds\n{}", ui::table(&rows));
        let _ = match (&self.violation, self.margin) {
            (Some(violation), _) => {
                writeln!(text, "A BUG: a bound that is proved does not hold: {violation}")
            }
            (None, Some((low, high))) => {
                writeln!(text, "largest margin: at least {}, at most {}", digits(low), digits(high))
            }
            (None, None) => {
                writeln!(text, "no hyperplane is known to separate the rows; u is the pocket's")
            }
        };
        text
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let epochs: Vec<Value> = self
            .summaries
            .iter()
            .map(|summary| {
                json!({
                    "epoch": summary.epoch, "mistakes": summary.updates, "norm": summary.norm2.sqrt(),
                    "any-vector": any_vector(summary),
                    "inseparable": larger(summary, Inequality::Inseparable),
                })
            })
            .collect();
        let margin = self.margin.map(|(low, high)| json!({ "at-least": low, "at-most": high }));
        json!({ "epochs": epochs, "margin": margin, "violation": self.violation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_margins_have_no_exponent() {
        let shown = [0.784_464_540_6, 12.5, 0.000_123_456_789, 3e-9, 2e7].map(digits);
        assert_eq!(shown, ["0.784464541", "12.5000000", "0.000123456789", "3.00000000e-9", "2.00000000e7"]);
    }
}
