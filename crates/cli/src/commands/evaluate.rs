//! `rosenblatt evaluate FILE... --model PATH`: how good a model is on rows whose classes are known.

use super::tagger;
use crate::args::{CostArgs, DataArgs, Spoken, by_name};
use crate::choices::meaning_of;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report;
use crate::ui::{self, count, counted, percent};
use rosenblatt::by_group::{GroupError, errors_by_group};
use rosenblatt::device::DeviceChoice;
use rosenblatt::{Dataset, Evaluation, Labels, Model, Task, evaluate};
use rosenblatt_data::{OneColumn, ReadOptions, Source, load_with_schema, rewindable};
use rosenblatt_figures::words::short_number;
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Of more groups, the largest are printed.
const MOST_GROUPS: usize = 40;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt evaluate test.csv --model mail.model
  rosenblatt evaluate test.csv --model mail.model --json
  rosenblatt evaluate test.csv --model mail.model --by 1    where it errs more than elsewhere
  rosenblatt evaluate test.csv --model mail.model --threshold 0.3    with another cut of the probability")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) spoken: Spoken,
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Use this model
    #[arg(long, short, value_name = "PATH")]
    pub(super) model: PathBuf,
    /// Also print the error for each value of this column
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    by: Option<String>,
    #[arg(long, value_name = "NAME", value_parser = by_name::<DeviceChoice>, default_value = "auto",
        help = format!("{}. Changes nothing but the time; auto is cpu here", meaning_of("device")))]
    device: DeviceChoice,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    decision: CostArgs,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    if let Some(tagger) = model.tagger() {
        return tagger::evaluate(args, tagger);
    }
    args.data.leave_to_the_model()?;
    let model = args.decision.applied_to(model.on_device(args.device)?)?;
    let read = model.to_evaluate(args.data.options()?);
    let mut source = Source::find_all(&args.files)?;
    if args.by.is_some() {
        source = rewindable(&source, &read)?;
    }
    let progress = Progress::new(true);
    progress.reading(&source, &read.meter, 1);
    let (data, schema) = load_with_schema(&source, &read)?;
    if !data.is_labelled() {
        return Err(Failure::Work(format!(
            "{}: there is no {} to compare with what the model predicts\nhelp: add it, name the column with --label, or \
             use `predict`",
            source.name(),
            schema.label.as_ref().map_or_else(|| "label".to_owned(), |name| format!("column `{name}`")),
        )));
    }
    progress.stage("predicting");
    let by = args.by.as_deref().map(|by| Groups::new(by, &model, &data, &source, &read)).transpose()?;
    let with_groups = |mut judged: serde_json::Value| {
        if let Some(by) = &by {
            judged["by"] = by.json();
        }
        format!("{judged}\n")
    };
    let groups = by.as_ref().map_or_else(String::new, |by| format!("\n{}", by.text()));
    if model.task() == Task::Numbers {
        let estimate = model.evaluate_numbers(&data)?;
        drop(progress);
        if model.is_of(&data) {
            ui::note("note: these are the rows it was trained from: expect larger errors on new ones");
        }
        let rows = counted(estimate.rows, "row", "rows");
        return ui::print(&if args.json {
            with_groups(json!(estimate))
        } else {
            format!("{}on {rows}\n{groups}", report::describe_numbers(&estimate))
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
        return ui::print(&with_groups(json!(evaluation)));
    }
    let mut text = format!("error rate: {}\n", report::error_line(&evaluation));
    text.push_str(&report::beside_the_majority(&model, &evaluation));
    if let Some(probability_scores) = evaluation.probability_scores {
        let _ = writeln!(text, "probabilities: {}", report::describe_probabilities(probability_scores));
    }
    ui::print_report(&format!("{text}\n{}{groups}", report::classes(&evaluation)))
}

/// The error on each group of rows.
struct Groups<'a> {
    column: &'a str,
    task: Task,
    errors: Vec<GroupError>,
}

impl<'a> Groups<'a> {
    fn new(
        column: &'a str,
        model: &Model,
        data: &Dataset,
        source: &Source,
        read: &ReadOptions,
    ) -> Result<Self, Failure> {
        let (cells, values) = rosenblatt_data::column(source, read, OneColumn::as_written(column, "groups"))?;
        let errors = errors_by_group(model, data, &cells, &values)?;
        Ok(Self { column, task: model.task(), errors })
    }

    fn measure(&self) -> &'static str {
        if self.task == Task::Numbers { "root mean squared error" } else { "error rate" }
    }

    fn json(&self) -> serde_json::Value {
        json!({ "column": self.column, "measure": self.measure(), "groups": self.errors })
    }

    fn text(&self) -> String {
        let number = |number| match self.task {
            Task::Numbers => short_number(number),
            _ => percent(number),
        };
        let heads = [self.column, "rows", self.measure(), "95 % confidence interval"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        // The largest, in their order.
        let mut sizes: Vec<u64> = self.errors.iter().map(|group| group.rows).collect();
        sizes.sort_unstable_by_key(|rows| std::cmp::Reverse(*rows));
        let least = sizes.get(MOST_GROUPS).copied().unwrap_or(0);
        for group in self.errors.iter().filter(|group| group.rows > least).take(MOST_GROUPS) {
            let interval = group
                .interval
                .map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", number(low), number(high)));
            rows.push(vec![group.value.clone(), count(group.rows), number(group.error), interval]);
        }
        let n_more = self.errors.len() + 1 - rows.len();
        let more = if n_more == 0 {
            String::new()
        } else {
            format!("and {n_more} smaller ones, which --json lists\n")
        };
        ui::table(&rows) + &more
    }
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
