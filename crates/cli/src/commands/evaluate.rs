//! `rosenblatt evaluate FILE... --model PATH`: how good a model is on rows whose classes are known.

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::report;
use crate::ui;
use rosenblatt::{Model, evaluate};
use rosenblatt_data::{Source, load_source};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  rosenblatt evaluate test.csv --model mail.model")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The model
    #[arg(long, short, value_name = "PATH")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let mut read = args.data.options()?;
    read.schema = model.schema().cloned();
    let data = load_source(&Source::find_all(&args.files)?, &read)?;
    let evaluation = evaluate(&model, &data);
    if args.json {
        return ui::print(&format!("{}\n", report::evaluation_json(&evaluation)));
    }
    ui::print(&format!("error: {}\n\n{}", report::error_line(&evaluation), report::classes(&evaluation)))
}
