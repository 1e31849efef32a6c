//! `rosenblatt evaluate FILE... --model PATH`: how good a model is on rows whose classes are known.

use super::tagger;
use crate::args::{DataArgs, Spoken, by_name};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report;
use crate::ui::{self, counted};
use rosenblatt::device::DeviceChoice;
use rosenblatt::{Dataset, Evaluation, Labels, Model, Task, evaluate};
use rosenblatt_data::{Source, load_with_schema};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt evaluate test.csv --model mail.model
  rosenblatt evaluate test.csv --model mail.model --json")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) spoken: Spoken,
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Evaluate this model
    #[arg(long, short, value_name = "PATH")]
    pub(super) model: PathBuf,
    /// Compute on the processor (cpu, or auto, which is the same here) or on a graphics card (gpu, gpu:1), for models
    /// with a kernel. Changes nothing but the time
    #[arg(long, value_name = "NAME", value_parser = by_name::<DeviceChoice>, default_value = "auto")]
    device: DeviceChoice,
    /// Print the evaluation as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    if let Some(tagger) = model.tagger() {
        return tagger::evaluate(args, tagger);
    }
    args.data.leave_to_the_model()?;
    let model = model.on_device(args.device)?;
    let read = model.to_evaluate(args.data.options()?);
    let source = Source::find_all(&args.files)?;
    let progress = Progress::new(true);
    progress.reading(&source, &read.meter, 1);
    let (data, schema) = load_with_schema(&source, &read)?;
    progress.stage("predicting");
    if model.task() == Task::Numbers {
        let estimate = model.evaluate_numbers(&data)?;
        drop(progress);
        if model.is_of(&data) {
            ui::note("note: these are the rows it was trained from: expect larger errors on new ones");
        }
        let rows = counted(estimate.rows, "row", "rows");
        return ui::print(&if args.json {
            format!("{}\n", serde_json::json!(estimate))
        } else {
            format!("{}on {rows}\n", report::describe_numbers(&estimate))
        });
    }
    let evaluation = evaluate(&model, &data)?;
    drop(progress);
    for note in &schema.notes {
        ui::note(&format!("note: {note}"));
    }
    if model.is_of(&data) {
        ui::note("note: these are the rows it was trained from: expect more errors on new ones");
    }
    known_labels(&model, &data, &evaluation)?;
    if args.json {
        return ui::print(&format!("{}\n", serde_json::json!(evaluation)));
    }
    let mut text = format!("error rate: {}\n", report::error_line(&evaluation));
    text.push_str(&report::beside_the_majority(&model, &evaluation));
    if let Some(probability_scores) = evaluation.probability_scores {
        let _ = writeln!(text, "probabilities: {}", report::describe_probabilities(probability_scores));
    }
    ui::print(&format!("{text}\n{}", report::classes(&evaluation)))
}

/// Refuses rows of which none has a class that the model knows.
pub(super) fn known_labels(model: &Model, data: &Dataset, evaluation: &Evaluation) -> Result<(), Failure> {
    let is_known = |class: usize| evaluation.support(class) > 0;
    if model.labels().told_from_rest().is_some() || (0..model.labels().len()).any(is_known) {
        return Ok(());
    }
    let some = |labels: &Labels| {
        let names: Vec<String> = labels.names().iter().take(6).map(|name| format!("`{name}`")).collect();
        names.join(", ") + if labels.len() > 6 { ", …" } else { "" }
    };
    let plain = |name: &String| name.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let known: Vec<String> = model.labels().names().iter().map(plain).collect();
    let help = if data.labels().names().iter().map(plain).any(|name| known.contains(&name)) {
        "they differ by a stop, a quote or their case only: write them as in the file it was trained from"
    } else {
        "name the label column with --label"
    };
    Err(Failure::Work(format!(
        "no row has a label that the model knows: it knows {}, and the rows are {}\nhelp: {help}",
        some(model.labels()),
        some(data.labels()),
    )))
}
