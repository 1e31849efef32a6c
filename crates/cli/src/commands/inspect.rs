//! `rosenblatt inspect MODEL`: a model's story: how it was trained, on what, and what it learned.

use crate::failure::Failure;
use crate::report;
use crate::ui::{self, count, counted, quoted};
use rosenblatt::core::memory::Kept;
use rosenblatt::{Model, feature_name};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  rosenblatt inspect mail.model\n  rosenblatt inspect mail.model --weights > weights.csv"
)]
pub(crate) struct Args {
    /// The model
    model: PathBuf,
    /// Print every weight as CSV: feature, then one column per scorer
    #[arg(long)]
    weights: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    if args.weights {
        return ui::print(&weights(&model)?);
    }
    if args.json {
        let spec = serde_json::to_value(model.spec().options()).unwrap_or_default();
        let summary = json!({
            "classes": model.labels().names(), "features": model.width(),
            "spec": spec, "story": report::story_json(&model),
        });
        return ui::print(&format!("{summary}\n"));
    }
    let mut text = format!("{}\n", report::story(&model));
    let _ = writeln!(text, "classes: {}", model.labels().names().join(", "));
    let _ = writeln!(text, "{}", counted(model.width() as u64, "feature", "features"));
    match model.kept() {
        Kept::Planes(planes) => {
            for scorer in 0..planes.n_scorers() {
                let weights = planes.weights(scorer);
                let norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
                let used = weights.iter().filter(|weight| **weight != 0.0).count();
                let _ = writeln!(
                    text,
                    "hyperplane {}: {} weights not zero, norm {norm:.4}, bias {:.4}",
                    scorer + 1,
                    count(used as u64),
                    planes.biases()[scorer]
                );
            }
        }
        Kept::Votes(votes) => {
            let moves = counted(votes.n_moves() as u64, "move", "moves");
            let rows = counted(votes.n_rows() as u64, "stored row", "stored rows");
            let _ = writeln!(text, "a vote of all survivors: {moves} along {rows}");
        }
    }
    let _ = write!(text, "\n{}", report::voices(&model));
    ui::print(&text)
}

fn weights(model: &Model) -> Result<String, Failure> {
    let planes = model.planes().ok_or_else(|| {
        Failure::Work("this model is a vote of many hyperplanes; it has no single weights".to_owned())
    })?;
    let columns: Vec<Vec<f64>> = (0..planes.n_scorers()).map(|scorer| planes.weights(scorer)).collect();
    let heads: Vec<String> = (1..=planes.n_scorers()).map(|scorer| format!("hyperplane {scorer}")).collect();
    let mut text = format!("feature,{}\n", heads.join(","));
    let biases: Vec<String> = planes.biases().iter().map(f64::to_string).collect();
    let _ = writeln!(text, "(bias),{}", biases.join(","));
    for feature in 0..planes.width() {
        let cells: Vec<String> = columns.iter().map(|column| column[feature].to_string()).collect();
        let _ = writeln!(text, "{},{}", quoted(&feature_name(model, feature)), cells.join(","));
    }
    Ok(text)
}
