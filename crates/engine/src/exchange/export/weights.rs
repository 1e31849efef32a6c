//! Weights by name, as CSV for people and tables, and as JSON for programs.

use super::{bends, scaler, sides};
use crate::calibration::Curve;
use crate::error::Error;
use crate::insight::feature_name;
use crate::model::Model;
use crate::tagger::Tagger;
use crate::task::Task;
use rosenblatt_core::Hyperplanes;
use rosenblatt_data::write::csv_cell;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A line per feature, the biases first.
pub(super) fn csv(model: &Model, planes: &Hyperplanes) -> Vec<u8> {
    let mut text = "feature".to_owned();
    for (class, rival) in sides(model) {
        let head = match rival {
            Some(rival) if planes.n_outputs() > 1 => format!("{class} against {rival}"),
            _ => class.to_owned(),
        };
        let _ = write!(text, ",{}", csv_cell(&head));
    }
    text.push_str("\n(bias)");
    for bias in planes.biases() {
        let _ = write!(text, ",{bias}");
    }
    for (feature, weights) in planes.raw_weights().chunks_exact(planes.n_outputs()).enumerate() {
        let _ = write!(text, "\n{}", csv_cell(&feature_name(model, feature)));
        for weight in weights {
            let _ = write!(text, ",{weight}");
        }
    }
    text.push('\n');
    text.into_bytes()
}

/// A line per weight that is not zero: its attribute, alone or after a label, and the label it speaks for.
pub(super) fn csv_of_tags(tagger: Tagger<'_>) -> Result<Vec<u8>, Error> {
    let (weights, labels) = (tagger.weights()?, tagger.labels());
    let mut text = String::from("attribute,label,weight\n");
    let mut line = |name: &str, label: &str, weight: f64| {
        let _ = writeln!(text, "\"{}\",{label},{weight}", name.replace('"', "\"\""));
    };
    for attribute in weights.known_attributes() {
        let name = tagger.lexicon().name(attribute);
        let row = weights.of_attribute(attribute).unwrap_or_default();
        for (label, weight) in labels.iter().zip(row).filter(|(_, weight)| *weight != 0.0) {
            line(&name, label, weight);
        }
        for (before, label, weight) in weights.links_of(attribute) {
            line(&tagger.link_name(attribute, before), &labels[label as usize], weight);
        }
    }
    Ok(text.into_bytes())
}

/// Everything needed to predict from encoded features.
pub(super) fn json(model: &Model, planes: &Hyperplanes) -> Vec<u8> {
    let hyperplanes: Vec<Value> = sides(model)
        .into_iter()
        .enumerate()
        .map(|(output, (class, rival))| {
            json!({
                "for": class, "against": rival,
                "bias": planes.biases()[output], "weights": planes.weights(output),
            })
        })
        .collect();
    let scaler = scaler(model)
        .map(|scaler| json!({ "scaling": scaler.scaling, "shift": scaler.shift, "scale": scaler.scale }));
    let calibration = model.calibration().map(|calibration| {
        let curves: Vec<Value> = calibration
            .curves()
            .iter()
            .map(|curve| match curve {
                Curve::Platt { slope, offset } => json!({ "slope": slope, "offset": offset }),
                Curve::Isotonic { scores, shares } => json!({ "scores": scores, "shares": shares }),
                Curve::Softmax => json!({}),
            })
            .collect();
        json!({ "method": calibration.method().to_string(), "rows": calibration.rows(), "curves": curves })
    });
    let n_classes = model.labels().len();
    let features: Vec<String> = (0..planes.width()).map(|feature| feature_name(model, feature)).collect();
    let mut whole = json!({
        "format": "rosenblatt weights", "version": 1,
        "classes": model.labels().names(),
        "multiclass": model.spec().options().multiclass.to_string(),
        "zero": model.spec().options().zero.to_string(),
        "features": features, "scaler": scaler,
        "hyperplanes": hyperplanes, "calibration": calibration,
        // What names the class: the largest probability, or the scores by the multiclass rule.
        "decides": match model.verdict() {
            Some(verdict) if verdict.costs.is_some() => "costs",
            Some(_) => "probabilities",
            None => "scores",
        },
        // What naming a class costs, a row per true class.
        "costs": model.costs().map(|costs| costs.rows().chunks(n_classes).map(<[f64]>::to_vec).collect::<Vec<_>>()),
    });
    if model.task() == Task::Numbers {
        // The one score is the prediction.
        whole["task"] = json!(model.task());
    }
    if let Some(bends) = bends(model) {
        whole["bends"] = json!(bends);
    }
    format!("{whole}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use crate::export::Export;
    use crate::{Dataset, Spec, export, train};
    use serde_json::Value;

    #[test]
    fn weights_are_told_by_name_and_class() {
        let rows = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]];
        let data = Dataset::from_rows(&rows, &["a", "b, c", "d"])
            .with_feature_names(["up \"to\"", "down"].map(str::to_owned).to_vec());
        let model = train(&Spec::default(), &data).unwrap();
        let planes = model.planes().unwrap();
        let csv = String::from_utf8(export(&model, Export::Csv).unwrap()).unwrap();
        assert!(csv.starts_with("feature,a,\"b, c\",d\n(bias),"), "{csv}");
        assert!(csv.contains(&format!("\"up \"\"to\"\"\",{},", planes.weights(0)[0])), "{csv}");
        let json: Value = serde_json::from_slice(&export(&model, Export::Json).unwrap()).unwrap();
        assert_eq!(json["hyperplanes"][1]["for"], "b, c");
        assert_eq!(json["hyperplanes"][1]["weights"][1], planes.weights(1)[1]);
        assert_eq!(json["features"][1], "down");
    }
}
