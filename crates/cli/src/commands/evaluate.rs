//! `rosenblatt evaluate FILE... --model PATH`: how good a model is on rows whose classes are known.

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report;
use crate::ui;
use rosenblatt::{Model, evaluate};
use rosenblatt_data::{Source, load_source};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt evaluate test.csv --model mail.model
  rosenblatt evaluate test.csv --model mail.model --json")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The model
    #[arg(long, short, value_name = "PATH")]
    model: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let read = model.to_evaluate(args.data.options()?);
    let source = Source::find_all(&args.files)?;
    let progress = Progress::new(args.quiet);
    progress.reading(&source, &read.meter, 1);
    let data = load_source(&source, &read)?;
    progress.stage("predicting");
    let evaluation = evaluate(&model, &data);
    drop(progress);
    if args.json {
        return ui::print(&format!("{}\n", serde_json::json!(evaluation)));
    }
    let mut text = format!("error: {}\n", report::error_line(&evaluation));
    if let Some(sharpness) = evaluation.sharpness {
        let _ = writeln!(text, "probabilities: {}", report::sharpness(sharpness));
    }
    ui::print(&format!("{text}\n{}", report::classes(&evaluation)))
}
