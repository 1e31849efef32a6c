//! `rosenblatt report FILE... --model MODEL -o PAGE`: one page that tells all there is to tell about a model.
//!
//! What is on the page, and in which order, is in the figures crate.

use super::{certify, evaluate, tagger};
use crate::again::{self, Told};
use crate::args::DataArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::{describe_estimate, error_line};
use crate::ui;
use rosenblatt::files::{Apart, check_writable, write_whole};
use rosenblatt::recipe::with_positive;
use rosenblatt::{Model, Tagger};
use rosenblatt_data::{Source, load_source};
use rosenblatt_figures::{Judged, Report};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt report mail.csv --model mail.model    what it learned, in mail.html
  rosenblatt report test.csv --model mail.model    how good it is on other rows
  rosenblatt report data.csv --model data.model --certificate proof.json")]
pub(crate) struct Args {
    /// Rows to evaluate the model on. Of the file it was trained from, only the held-out rows are used, unless the model
    /// has learned from them since, as it does after a race
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<String>,
    /// Report on this model
    #[arg(long, short, value_name = "PATH")]
    pub(super) model: PathBuf,
    /// Write the page here [default: the model's name with `.html`]
    #[arg(long, short, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// Check this certificate of `rosenblatt certify` about the data, and report it
    #[arg(long, value_name = "PATH")]
    certificate: Option<PathBuf>,
    /// Print the numbers of the page as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if Tagger::is_at(&args.model) {
        return tagger::report(args);
    }
    args.data.leave_to_the_model()?;
    let model = Model::load(&args.model)?;
    let output = args.output.clone().unwrap_or_else(|| args.model.with_extension("html"));
    let read = model.to_evaluate(args.data.options()?);
    let source = Source::find_all(&args.files)?;
    let mut files = Apart::default();
    args.data.note(&mut files, &source);
    files.reads("the model", &args.model);
    if let Some(path) = &args.certificate {
        files.reads("the certificate", path);
    }
    files.writes("the report", &output);
    files.check()?;
    check_writable(&output)?;
    // Rows worth a look are looked up again.
    let source = source.rewindable(read.limits.held_bytes)?;
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
    let name = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut report = Report::new(&name, &model, &source.name(), data)?.with_proof(proof);
    evaluate::known_labels(&model, report.data(), &report.evaluation)?;
    report.look_up(&source, &read)?;
    let commands = commands(args, &report, &model);
    let report = report.with_commands(commands);
    let page = report.page();
    drop(progress);
    write_whole(&output, page.as_bytes())?;
    if args.json {
        let told = json!({
            "report": output.display().to_string(),
            "bytes": page.len(),
            "judged-on": report.judged.word(),
            "evaluation": report.evaluation,
            "estimate": model.training_summary().estimate,
        });
        return ui::print(&format!("{told}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    let error = error_line(&report.evaluation);
    let size = ui::bytes(page.len() as u64);
    let judged = report.judged.sentence(report.evaluation.rows);
    let (of, told) = match (&report.judged, describe_estimate(&model)) {
        (Judged::Learned, Some(told)) => ("training error", format!("{told}\n")),
        (Judged::Learned, None) => ("training error", String::new()),
        _ => ("error rate", String::new()),
    };
    ui::print(&format!("{told}{of}: {error}\n{judged}\nreport: {} ({size})\n", output.display()))
}

/// The command that trains the same model, and the one that makes the same page.
fn commands(args: &Args, report: &Report<'_>, model: &Model) -> String {
    let file = args.model.display().to_string();
    let own = report.judged != Judged::Others;
    let unknown = ["TRAINING-DATA".to_owned()];
    let told = Told {
        files: if own { &args.files } else { &unknown },
        rows: own.then_some(report.data()),
        data: &args.data,
        model: &file,
    };
    let words: Vec<String> = std::env::args().skip(1).collect();
    format!("{}\n{}", again::command(model, &told), again::words("rosenblatt", &words))
}
