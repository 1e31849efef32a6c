//! The part of a model file that holds a kernel: support rows, and their weights or the log of their votes.

use super::file::{Arrays, Body, FormatError, Hypothesis, content};
use crate::describe::options::by_name;
use rosenblatt_core::Zero;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_kernel::{Choice, Combination, Entry, Expansion, Rows, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A kernel by its name and numbers.
#[derive(Serialize, Deserialize, Clone)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Text {
    name: String,
    params: BTreeMap<String, f64>,
}

/// How survivors vote.
#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Ballots {
    rounds: u64,
    joint: bool,
    #[serde(with = "by_name::optional", default, skip_serializing_if = "Option::is_none")]
    zero: Option<Zero>,
}

/// How survivors vote at zero, as files name it: where nothing stands they abstain, as all did once.
pub(super) fn zero_in_file(ballot: Ballot) -> Option<Zero> {
    (ballot.vote_at_zero() != 0.0).then_some(ballot.zero)
}

/// How survivors vote, from what a file names.
pub(super) fn ballot_of(joint: bool, zero: Option<Zero>) -> Ballot {
    Ballot { joint, zero: zero.unwrap_or(Zero::Random) }
}

pub(super) fn encode(expansion: &Expansion, body: &mut Body) -> Hypothesis {
    let (offsets, indices, values) = expansion.rows().compressed();
    body.u64s("support-offsets", offsets.into_iter());
    body.u32s("support-indices", indices.into_iter());
    body.f64s("support-values", &values);
    let votes = match expansion.combination() {
        Combination::Sums { weights, biases } => {
            body.f64s("support-weights", weights);
            body.f64s("biases", biases);
            None
        }
        Combination::Votes { log, rounds, ballot } => {
            body.u64s("step-rounds", log.iter().map(|entry| entry.round));
            body.u32s("step-outputs", log.iter().map(|entry| entry.output));
            body.u32s("step-rows", log.iter().map(|entry| entry.row));
            for (name, part) in STEPS {
                let numbers: Vec<f64> = log.iter().map(part).collect();
                body.f64s(name, &numbers);
            }
            Some(Ballots { rounds: *rounds, joint: ballot.joint, zero: zero_in_file(*ballot) })
        }
    };
    let formula = expansion.kernel().formula().expect("the kernel of a spec has a name");
    let params = formula.values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let kernel = Text { name: formula.name.to_owned(), params };
    let (width, outputs) = (expansion.rows().width(), expansion.n_outputs());
    Hypothesis::Kernel { width, outputs, kernel, constant: expansion.constant(), votes }
}

/// The real numbers of a step, by the names of their arrays.
type Part = fn(&Entry) -> f64;
const STEPS: [(&str, Part); 4] = [
    ("step-amounts", |entry| entry.amount),
    ("step-keeps", |entry| entry.keep),
    ("step-biases", |entry| entry.bias),
    ("step-norms", |entry| entry.norm2),
];

pub(super) fn decode(hypothesis: &Hypothesis, arrays: &mut Arrays<'_>) -> Result<Kept, FormatError> {
    let Hypothesis::Kernel { width, outputs, kernel, constant, votes } = hypothesis else {
        return Err(content("it has no kernel"));
    };
    let Text { name, params } = kernel.clone();
    let params = params.into_iter().map(|(name, value)| (name, Setting::Number(value))).collect();
    let choice = Choice { name, params };
    let kernel = choice.blind().map_err(|error| content(format!("its kernel: {error}")))?;
    let offsets = arrays.u64s("support-offsets")?;
    let (indices, values) = (arrays.u32s("support-indices")?, arrays.f64s("support-values")?);
    let rows = Rows::from_compressed(*width, &offsets, &indices, &values).map_err(content)?;
    let combination = match votes {
        None => {
            Combination::Sums { weights: arrays.f64s("support-weights")?, biases: arrays.f64s("biases")? }
        }
        Some(Ballots { rounds, joint, zero }) => {
            let (move_rounds, move_outputs) = (arrays.u64s("step-rounds")?, arrays.u32s("step-outputs")?);
            let move_rows = arrays.u32s("step-rows")?;
            let mut numbers = Vec::with_capacity(STEPS.len());
            for (name, _) in STEPS {
                numbers.push(arrays.f64s(name)?);
            }
            let n = move_rounds.len();
            if move_outputs.len() != n || move_rows.len() != n || numbers.iter().any(|list| list.len() != n) {
                return Err(content("the arrays of the steps differ in length"));
            }
            let entry = |k: usize| Entry {
                round: move_rounds[k],
                output: move_outputs[k],
                row: move_rows[k],
                amount: numbers[0][k],
                keep: numbers[1][k],
                bias: numbers[2][k],
                norm2: numbers[3][k],
            };
            Combination::Votes {
                log: (0..n).map(entry).collect(),
                rounds: *rounds,
                ballot: ballot_of(*joint, *zero),
            }
        }
    };
    let expansion = Expansion::from_parts(kernel, *constant, rows, *outputs, combination).map_err(content)?;
    Ok(Kept::Other(Arc::new(expansion)))
}
