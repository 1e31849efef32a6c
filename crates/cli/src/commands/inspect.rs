//! `rosenblatt inspect MODEL`: a model's story: how it was trained, on what, and what it learned.

use crate::failure::Failure;
use crate::report;
use crate::ui::{self, count, counted};
use rosenblatt::core::memory::Kept;
use rosenblatt::data::{ColumnKind, Scaling, Schema};
use rosenblatt::{Export, Model, Voice, export, strongest, write_whole};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many classes, columns or hyperplanes are listed before the rest is only counted.
const LISTED: usize = 12;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt inspect mail.model
  rosenblatt inspect mail.model --weights
  rosenblatt inspect mail.model --export onnx mail.onnx
  rosenblatt inspect mail.model --export json -")]
pub(crate) struct Args {
    /// The model
    model: PathBuf,
    /// Print every weight as CSV: feature, then one column per hyperplane
    #[arg(long)]
    weights: bool,
    /// Write the model for other programs, as onnx, json or csv; `-` is stdout (models with weights)
    #[arg(long, num_args = 2, value_names = ["FORMAT", "PATH"])]
    export: Option<Vec<String>>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let wish = args.export.as_deref().map(export_wish).transpose()?;
    let model = Model::load(&args.model)?;
    if let Some((format, path)) = wish {
        return export_to(&model, format, &path);
    }
    if args.weights {
        return ui::print_bytes(&export(&model, Export::Csv)?);
    }
    let size = std::fs::metadata(&args.model).map_or(0, |file| file.len());
    if args.json {
        return ui::print(&format!("{}\n", json(&model, size)));
    }
    ui::print(&text(&model, size))
}

/// What `--export FORMAT PATH` means.
pub(super) fn export_wish(words: &[String]) -> Result<(Export, PathBuf), Failure> {
    let [format, path] = words else {
        return Err(Failure::Usage("`--export` should be a format and a path".to_owned()));
    };
    let format = format.parse().map_err(|why| Failure::Usage(format!("the format of `--export`: {why}")))?;
    Ok((format, PathBuf::from(path)))
}

/// Writes `model` for other programs.
pub(super) fn export_to(model: &Model, format: Export, path: &Path) -> Result<(), Failure> {
    let bytes = export(model, format)?;
    if path == Path::new("-") {
        return ui::print_bytes(&bytes);
    }
    write_whole(path, &bytes)?;
    ui::note(&format!("{format}: {} ({})", path.display(), ui::bytes(bytes.len() as u64)));
    Ok(())
}

fn text(model: &Model, size: u64) -> String {
    let mut text = format!("{}\n", report::story(model));
    let options = model.spec().options();
    let _ =
        writeln!(text, "seed {}, bias {}, order {}", options.seed, model.spec().bias(), model.spec().order());
    let params = options.params.iter().map(|(name, value)| format!("{name}={value}"));
    let params: Vec<String> = params.chain(options.rate.iter().map(|rate| format!("rate {rate}"))).collect();
    if !params.is_empty() {
        let _ = writeln!(text, "set by hand: {}", params.join(", "));
    }
    let names = model.labels().names();
    let _ = write!(text, "\nclasses: {}", listed(names));
    if names.len() > 2 {
        let _ = write!(text, " (told apart {})", options.multiclass);
    }
    let _ = writeln!(text, "\n{}", counted(model.width() as u64, "feature", "features"));
    if let Some(schema) = model.schema() {
        for line in data_lines(schema) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push('\n');
    match model.kept() {
        Kept::Planes(_) => {
            let planes = hyperplanes(model);
            let rows: Vec<Vec<String>> = std::iter::once(
                ["hyperplane for", "weights not zero", "norm", "bias"].map(str::to_owned).to_vec(),
            )
            .chain(planes.iter().take(LISTED).map(|plane| {
                vec![
                    plane.name.clone(),
                    count(plane.used as u64),
                    report::short_number(plane.norm),
                    report::short_number(plane.bias),
                ]
            }))
            .collect();
            text.push_str(&ui::table(&rows));
            if planes.len() > LISTED {
                let _ = writeln!(text, "and {} more", planes.len() - LISTED);
            }
        }
        Kept::Votes(votes) => {
            let survivors = counted(votes.n_moves() as u64 + 1, "survivor", "survivors");
            let rows = counted(votes.n_rows() as u64, "stored row", "stored rows");
            let _ = writeln!(text, "a vote of {survivors}, each a step along one of {rows}");
        }
    }
    let _ = match model.calibration() {
        Some(calibration) => writeln!(
            text,
            "probabilities: {} calibration, fitted on {}",
            calibration.method(),
            counted(calibration.rows(), "held-out row", "held-out rows")
        ),
        None => writeln!(text, "probabilities: none; the model was not calibrated"),
    };
    if let Some(fingerprint) = model.data_fingerprint() {
        let _ = writeln!(text, "trained on data with the fingerprint {fingerprint}");
    }
    if let Some(date) = model.date() {
        let _ = writeln!(text, "date: {date}");
    }
    let _ = writeln!(text, "size: {}\n", ui::bytes(size));
    text.push_str(&report::voices(model));
    text
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(LISTED).cloned().collect();
    if names.len() > LISTED {
        shown.push(format!("and {} more", names.len() - LISTED));
    }
    shown.join(", ")
}

/// What the model expects of data.
fn data_lines(schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(label) = &schema.label {
        lines.push(format!("label: column `{label}`"));
    }
    let of_kind = |wanted: fn(&ColumnKind) -> bool| -> Vec<String> {
        let columns = schema.columns.iter().filter(|column| wanted(&column.kind));
        columns.map(|column| column.name.clone()).collect()
    };
    let numbers = of_kind(|kind| matches!(kind, ColumnKind::Number { .. }));
    let categories = of_kind(|kind| matches!(kind, ColumnKind::Category { .. }));
    for (what, names) in [("numbers", numbers), ("categories", categories)] {
        if schema.has_names && !names.is_empty() {
            lines.push(format!("{what}: {}", listed(&names)));
        }
    }
    if let Some(text) = schema.text.as_ref().filter(|text| !text.vocabulary.is_empty()) {
        lines.push(format!("words: {} known", count(text.vocabulary.len() as u64)));
    }
    if let Some(bits) = schema.hash_bits {
        lines.push(format!("features are hashed into a table of 2^{bits}"));
    }
    let scaling = schema.scaler.as_ref().map_or(Scaling::None, |scaler| scaler.scaling);
    let scaling = match scaling {
        Scaling::None => return lines,
        Scaling::Standard => "mean 0 and deviation 1",
        Scaling::MinMax => "0 to 1",
        Scaling::MaxAbs => "-1 to 1",
        Scaling::UnitNorm => "rows of length 1",
    };
    lines.push(format!("scale: {scaling}, kept with the model"));
    lines
}

struct Plane {
    name: String,
    used: usize,
    norm: f64,
    bias: f64,
}

fn hyperplanes(model: &Model) -> Vec<Plane> {
    let Some(planes) = model.planes() else { return Vec::new() };
    let names = model.labels().names();
    let names: Vec<String> = match (names, model.pairs()) {
        ([_, second], _) => vec![second.clone()],
        (_, Some(pairs)) => pairs.iter().map(|(a, b)| format!("{a} against {b}")).collect(),
        _ => names.to_vec(),
    };
    let plane = |(scorer, name): (usize, String)| {
        let weights = planes.weights(scorer);
        Plane {
            name,
            used: weights.iter().filter(|weight| **weight != 0.0).count(),
            norm: weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt(),
            bias: planes.biases()[scorer],
        }
    };
    names.into_iter().enumerate().map(plane).collect()
}

fn json(model: &Model, size: u64) -> Value {
    let spec = serde_json::to_value(model.spec().options()).unwrap_or_default();
    let planes: Vec<Value> = hyperplanes(model)
        .into_iter()
        .map(|plane| {
            json!({ "for": plane.name, "not-zero": plane.used, "norm": plane.norm, "bias": plane.bias })
        })
        .collect();
    let votes = match model.kept() {
        Kept::Votes(votes) => json!({ "survivors": votes.n_moves() + 1, "rows": votes.n_rows() }),
        Kept::Planes(_) => Value::Null,
    };
    let voices: Vec<Value> = model
        .labels()
        .names()
        .iter()
        .enumerate()
        .map(|(class, name)| {
            let voices = strongest(model, class as u32, report::VOICES);
            let voices: Vec<Value> = voices
                .into_iter()
                .map(|Voice { name, weight }| json!({ "feature": name, "weight": weight }))
                .collect();
            json!({ "class": name, "features": voices })
        })
        .collect();
    json!({
        "classes": model.labels().names(), "features": model.width(), "bytes": size,
        "data-fingerprint": model.data_fingerprint(), "date": model.date().map(|date| date.to_string()),
        "readout": model.spec().readout().to_string(),
        "spec": spec, "story": report::story_json(model),
        "hyperplanes": planes, "votes": votes, "calibration": report::calibration_json(model), "strongest": voices,
    })
}
