//! Models that become one: the mean of their weights.

use super::share::sum;
use super::{Mixing, taggers};
use crate::error::Error;
use crate::model::{Model, Provenance, training_summary};
use crate::spec::{Options, Spec};
use crate::task::Task;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{Hyperplanes, Stopped, Totals};

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
    if let Some(taggers) = order.iter().map(|model| model.tagger()).collect::<Option<Vec<_>>>() {
        return taggers::mean(&taggers, mixing);
    }
    let (width, n_outputs) = models
        .iter()
        .filter_map(Model::planes)
        .fold((0, 1), |(widest, _), planes| (planes.width().max(widest), planes.n_outputs()));
    let mut parts: Vec<(&Model, &Hyperplanes, u64)> = order
        .into_iter()
        .filter_map(|model| Some((model, model.planes()?, mixing.part(&model.training_summary.totals))))
        .collect();
    if parts.iter().all(|(_, _, part)| *part == 0) {
        // Nothing was counted that could tell them apart.
        for (_, _, part) in &mut parts {
            *part = 1;
        }
    }
    let (mut weights, mut biases) = (vec![0.0; width * n_outputs], vec![0.0; n_outputs]);
    let (mut totals, mut rows, mut whole) = (Totals::default(), 0, 0_u64);
    for (model, planes, part) in parts {
        let factor = part as f64;
        for (feature, output, weight) in planes.entries() {
            weights[feature * n_outputs + output] += factor * weight;
        }
        biases.iter_mut().zip(planes.biases()).for_each(|(sum, bias)| *sum += factor * bias);
        totals = sum(&totals, &model.training_summary.totals);
        rows += model.training_summary.rows;
        whole = whole.saturating_add(part);
    }
    let whole = whole as f64;
    weights.iter_mut().chain(&mut biases).for_each(|sum| *sum /= whole);
    if !weights.iter().chain(&biases).all(|weight| weight.is_finite()) {
        return Err(Error::Overflow { epoch: totals.epochs, row: None });
    }
    // The lowest seed stands for all.
    let seed = models.iter().map(|model| model.spec.options().seed).min().unwrap_or_default();
    Ok(Model {
        spec: Spec::new(Options { seed, ..first.spec.options().clone() })?,
        kept: Kept::Hyperplanes(Hyperplanes::from_parts(weights, biases)),
        training_summary: training_summary(rows, totals, Stopped::Epochs, None),
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
    let text = |model: &Model| serde_json::to_value(model.spec.options()).unwrap_or_default();
    let (one, other) = (text(first), text(model));
    for (name, said) in one.as_object().into_iter().flatten() {
        // Seeds may differ, and so may the epochs that were made.
        if *said != other[name] && name != "seed" {
            differences.push(format!("`{name}` is {}, where model 1 has {said}", other[name]));
        }
    }
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
