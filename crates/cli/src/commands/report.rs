//! `rosenblatt report MODEL FILE... -o PAGE`: one page that tells all there is to tell about a model.
//!
//! What is on the page, and in which order, is in [`super::report_page`].

use super::certify;
use super::report_page::Subject;
use crate::again;
use crate::args::DataArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report;
use crate::ui;
use rosenblatt::{Model, check_writable, write_whole};
use rosenblatt_data::{Source, load_source};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt report mail.model mail.csv                    what it learned, in mail.html
  rosenblatt report mail.model test.csv -o report.html     how good it is on other rows
  rosenblatt report data.model data.csv --certificate proof.json   with a proof, checked again")]
pub(crate) struct Args {
    /// The model
    pub(super) model: PathBuf,
    /// The data it is judged on: what it was trained from, of which the rows set aside are taken, or other
    /// rows whose classes are known
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<String>,
    /// Where the page goes; the model's name with `.html` if not said
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// A certificate of `rosenblatt certify` about this data, to be checked and told
    #[arg(long, value_name = "PATH")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// Print the numbers of the page as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let output = args.output.clone().unwrap_or_else(|| args.model.with_extension("html"));
    check_writable(&output)?;
    let read = model.to_evaluate(args.data.options()?);
    // Rows worth a look are looked up again.
    let source = Source::find_all(&args.files)?.rewindable(read.limits.held_bytes)?;
    let progress = Progress::new(args.quiet);
    progress.reading(&source, &read.meter, 1);
    let data = load_source(&source, &read)?;
    // A model of one class against the rest saw all others as one.
    let data = match again::chosen_class(&model) {
        Some(class) if data.labels().class(class).is_some() => super::train::choose_one(data, Some(class))?,
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
    let mut subject = Subject::new(args, &model, source.name(), data, proof);
    subject.look_up(&source, &read)?;
    let page = subject.page();
    drop(progress);
    write_whole(&output, page.as_bytes())?;
    if args.json {
        let report = json!({
            "report": output.display().to_string(),
            "bytes": page.len(),
            "judged-on": subject.judged.word(),
            "evaluation": subject.evaluation,
        });
        return ui::print(&format!("{report}\n"));
    }
    let error = report::error_line(&subject.evaluation);
    let size = ui::bytes(page.len() as u64);
    let judged = subject.judged.sentence(subject.evaluation.rows);
    ui::print(&format!("error: {error}\n{judged}\nreport: {} ({size})\n", output.display()))
}
