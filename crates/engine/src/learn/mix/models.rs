//! Models that become one: the mean of their weights.

use super::{Mixing, taggers};
use crate::error::Error;
use crate::model::{Model, Provenance, training_summary};
use crate::settings;
use crate::spec::{Options, Spec};
use crate::task::Task;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{Hyperplanes, Stopped, Totals};
use serde_json::Value;

/// The mean of models that were trained in the same way on different rows or sentences. Their order does not matter, to the bit; one
/// model is itself. Probabilities are left out, as none of the rows they were fitted on knows the mean.
///
/// ```
/// use rosenblatt::{Dataset, Spec, train};
/// use rosenblatt::mix::{Mixing, mix};
///
/// let here = Dataset::from_rows(&[[2.0, 0.0], [0.0, 2.0]], &["right", "up"]);
/// let there = Dataset::from_rows(&[[3.0, 1.0], [1.0, 4.0]], &["right", "up"]);
/// let models = [train(&Spec::default(), &here)?, train(&Spec::default(), &there)?];
/// assert_eq!(mix(&models, Mixing::Uniform)?.predict(&[5.0, 1.0])?, "right");
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn mix(models: &[Model], mixing: Mixing) -> Result<Model, Error> {
    let Some(first) = models.first() else {
        return Err(Error::NotMixable { differences: vec!["there is no model".to_owned()] });
    };
    if models.len() == 1 {
        return Ok(first.clone());
    }
    for model in models.iter().filter(|model| model.task() == Task::Numbers) {
        model.check_task(Task::Classes)?;
    }
    let mut differences = Vec::new();
    for (number, model) in models.iter().enumerate() {
        let others =
            differences_of(first, model).into_iter().map(|what| format!("model {}: {what}", number + 1));
        differences.extend(others);
    }
    if !differences.is_empty() {
        return Err(Error::NotMixable { differences });
    }
    // Sums run in an order that the models decide, not the caller.
    let mut order: Vec<&Model> = models.iter().collect();
    order.sort_by_cached_key(|model| model.to_bytes());
    let mut parts: Vec<u64> = order.iter().map(|model| mixing.part(&model.training_summary.totals)).collect();
    if parts.iter().all(|part| *part == 0) {
        // Nothing was counted that could tell them apart.
        parts.fill(1);
    }
    let rows = order.iter().map(|model| model.training_summary.rows).sum();
    let totals =
        order.iter().fold(Totals::default(), |sum, model| sum.beside(&model.training_summary.totals));
    let summary = training_summary(rows, totals, Stopped::Epochs, None);
    if let Some(taggers) = order.iter().map(|model| model.tagger()).collect::<Option<Vec<_>>>() {
        return taggers::mean(&taggers, &parts, summary);
    }
    let (width, n_outputs) = models
        .iter()
        .filter_map(Model::planes)
        .fold((0, 1), |(widest, _), planes| (planes.width().max(widest), planes.n_outputs()));
    let (mut weights, mut biases) = (vec![0.0; width * n_outputs], vec![0.0; n_outputs]);
    for (planes, part) in order.iter().filter_map(|model| model.planes()).zip(&parts) {
        let factor = *part as f64;
        for (feature, output, weight) in planes.entries() {
            weights[feature * n_outputs + output] += factor * weight;
        }
        biases.iter_mut().zip(planes.biases()).for_each(|(sum, bias)| *sum += factor * bias);
    }
    let whole = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part)) as f64;
    weights.iter_mut().chain(&mut biases).for_each(|sum| *sum /= whole);
    if !weights.iter().chain(&biases).all(|weight| weight.is_finite()) {
        return Err(Error::Overflow { epoch: totals.epochs, row: None });
    }
    // The lowest seed stands for all.
    let seed = models.iter().map(|model| model.spec.options().seed).min().unwrap_or_default();
    Ok(Model {
        spec: Spec::new(Options { seed, ..first.spec.options().clone() })?,
        kept: Kept::Hyperplanes(Hyperplanes::from_parts(weights, biases)),
        training_summary: summary,
        calibration: None,
        provenance: Provenance::default(),
        ..first.clone()
    })
}

/// Why the second model cannot be mixed with the first.
fn differences_of(first: &Model, model: &Model) -> Vec<String> {
    if let (Some(first), Some(tagger)) = (first.tagger(), model.tagger()) {
        return taggers::differences_of(first.kept, tagger.kept);
    }
    let mut differences = Vec::new();
    if model.task() != first.task() {
        return vec![format!("it {}, where model 1 {}", model.task(), first.task())];
    }
    if model.planes().is_none() || model.map.is_some() {
        differences.push(
            "it is no hyperplane in the features: votes, kernels, maps and networks have no mean".to_owned(),
        );
    }
    differences.extend(other_settings(settings::differences(first.spec.options(), model.spec.options())));
    if model.labels != first.labels {
        let names = |model: &Model| model.labels.names().join(", ");
        differences.push(format!("its classes are {}, where model 1 has {}", names(model), names(first)));
    }
    if model.schema != first.schema {
        differences.push("columns, words or scales are read in another way than by model 1".to_owned());
    }
    if model.feature_names != first.feature_names {
        differences.push("its features have other names than those of model 1".to_owned());
    }
    differences
}

/// The settings that must not differ, and do. Seeds may, and so may the epochs that were made.
pub(super) fn other_settings(differences: Vec<(String, Value, Value)>) -> Vec<String> {
    let differences = differences.into_iter().filter(|(name, ..)| name != "seed");
    differences.map(|(name, said, other)| format!("`{name}` is {other}, where model 1 has {said}")).collect()
}
