//! `rosenblatt report FILE... --model MODEL -o PAGE`: one page that tells all there is to tell about a model.
//!
//! What is on the page, and in which order, is in the figures crate.

use super::{certify, evaluate, tagger};
use crate::again::{self, Given};
use crate::args::{DataArgs, Spoken};
use crate::failure::Failure;
use crate::paths::default_report;
use crate::progress::Progress;
use crate::report::{describe_estimate, describe_numbers, error_line};
use crate::ui;
use rosenblatt::data::files::write_whole;
use rosenblatt::recipe::with_positive;
use rosenblatt::{Model, Task};
use rosenblatt_data::{Source, load_source, rewindable};
use rosenblatt_figures::{Fared, Judged, Report};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt report mail.csv --model mail.model    what it learned, in mail.html
  rosenblatt report test.csv --model mail.model    how good it is on other rows
  rosenblatt report data.csv --model data.model --certificate proof.json")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) spoken: Spoken,
    /// Rows to evaluate the model on. If the model was trained from this file, the page shows its held-out rows,
    /// which it did not learn from
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Use this model
    #[arg(long, short, value_name = "PATH")]
    pub(super) model: PathBuf,
    /// Write to this file [default: the model's name with `.html`]
    #[arg(long, short, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// Check this certificate against the data. The page reports the result; `rosenblatt certify` writes one
    #[arg(long, value_name = "PATH")]
    certificate: Option<PathBuf>,
    /// Use all training rows instead of the held-out ones, if the model was trained from FILE
    #[arg(long)]
    training_rows: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

/// A page, and what is printed of it: for programs, and for people.
pub(super) struct Written {
    pub(super) page: String,
    pub(super) summary: Value,
    pub(super) text: String,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    model.check_room("a report", 32)?;
    let output = args.output.clone().unwrap_or_else(|| default_report(&args.model));
    let source = Source::find_all(&args.files)?;
    let name = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let Written { page, mut summary, text } = match model.tagger() {
        Some(tagger) => tagger::report(args, name, tagger, &source)?,
        None => of_rows(args, &name, &model, &source)?,
    };
    write_whole(&output, page.as_bytes())?;
    if args.json {
        summary["report"] = json!(output.display().to_string());
        summary["bytes"] = json!(page.len());
        return ui::print(&format!("{summary}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    ui::print_report(&format!("{text}report: {} ({})\n", output.display(), ui::bytes(page.len() as u64)))
}

fn of_rows(args: &Args, name: &str, model: &Model, source: &Source) -> Result<Written, Failure> {
    args.data.leave_to_the_model()?;
    let read = model.to_evaluate(args.data.options()?);
    // Rows worth a look are looked up again.
    let source = rewindable(source, &read)?;
    let progress = Progress::new(true);
    progress.reading(&source, &read.meter, 1);
    let data = load_source(&source, &read)?;
    // A model of one class against the rest saw all others as one.
    let data = match model.labels().told_from_rest() {
        Some(class) if data.labels().class(class).is_some() => with_positive(data, class)?,
        _ => data,
    };
    if data.is_empty() {
        return Err(Failure::Work(format!("{}: there are no rows", source.name())));
    }
    progress.stage("looking at the model");
    let proof = match &args.certificate {
        Some(path) => Some(certify::checked(path, &args.files, &args.data)?),
        None => None,
    };
    let report = Report::new(name, model, &source.name(), data)?;
    let report = if args.training_rows { report.on_training_rows()? } else { report };
    let mut report = report.with_proof(proof);
    if let Fared::Classes(evaluation) = &report.fared {
        evaluate::known_labels(model, report.data(), evaluation)?;
    }
    report.look_up(&source, &read)?;
    // Where numbers race, each fold does so: no command that names a rule has the same estimate.
    let commands = (model.task() == Task::Classes).then(|| commands(args, &report, model));
    let report = commands.into_iter().fold(report, Report::with_commands);
    let judged = report.judged.sentence(report.fared.rows());
    let (of, estimate) = match (&report.judged, describe_estimate(model)) {
        (Judged::Learned, Some(summary)) => ("training error", format!("{summary}\n")),
        (Judged::Learned, None) => ("training error", String::new()),
        (Judged::HeldOut, _) if model.training_summary().folds.is_some() => {
            ("cross-validated error", String::new())
        }
        (Judged::HeldOut | Judged::SetAside, _) => ("held-out error", String::new()),
        _ => ("error rate", String::new()),
    };
    let (summary, error) = match &report.fared {
        Fared::Classes(evaluation) => {
            let estimate = model.training_summary().estimate;
            (
                json!({ "evaluation": evaluation, "estimate": estimate }),
                format!("{of}: {}\n", error_line(evaluation)),
            )
        }
        Fared::Numbers(numbers) => {
            let estimate = model.held_numbers().map(|held| held.estimate);
            (
                json!({ "evaluation": numbers.estimate, "estimate": estimate }),
                describe_numbers(&numbers.estimate),
            )
        }
    };
    let mut summary = summary;
    summary["judged-on"] = json!(report.judged.word());
    Ok(Written { page: report.page(), summary, text: format!("{estimate}{error}{judged}\n") })
}

/// The command that trains the same model, and the one that makes the same page.
fn commands(args: &Args, report: &Report<'_>, model: &Model) -> String {
    let file = args.model.display().to_string();
    let own = report.judged != Judged::Others;
    let unknown = [OsString::from("TRAINING-DATA")];
    let given = Given {
        files: if own { &args.files } else { &unknown },
        rows: own.then_some(report.data()),
        data: &args.data,
        model: &file,
    };
    format!("{}\n{}", again::command(model, &given), again::typed())
}
