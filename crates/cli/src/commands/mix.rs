//! `rosenblatt mix`: models that were trained in several places become one.

use crate::choices::choice;
use crate::failure::Failure;
use crate::ui;
use rosenblatt::data::files::Claim;
use rosenblatt::mix::Mixing;
use rosenblatt::{Model, Task};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Train in several places, each from the same model, and mix after every epoch:
that is iterative parameter mixing, which converges where the data is separable.
Mixing once, at the end, need not.

Examples:
  rosenblatt mix one.model two.model -o mean.model
  rosenblatt mix shard-*.model --by errors -o mean.model
  rosenblatt train here.csv --start-from mean.model --epochs 1 --holdout 0 \\
    --model one.model                  # the next epoch, in each place")]
pub(crate) struct Args {
    /// Models that were trained with the same options and read rows alike
    #[arg(required = true, value_name = "MODEL")]
    pub(super) models: Vec<PathBuf>,
    /// How the models are weighted
    #[arg(long, value_name = "HOW", value_parser = choice::<Mixing>(), default_value_t)]
    pub(super) by: Mixing,
    /// Write to this file
    #[arg(short, long, value_name = "MODEL")]
    pub(super) output: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let _claim = Claim::take(&args.output)?;
    let models = args.models.iter().map(Model::load).collect::<Result<Vec<_>, _>>()?;
    models.iter().try_for_each(|model| model.check_room("a mean", 16))?;
    let mean = rosenblatt::mix::mix(&models, args.by)?;
    let (one, many) = if mean.task() == Task::Tags { ("sentence", "sentences") } else { ("row", "rows") };
    if models.len() > 1 && models.iter().any(Model::has_probabilities) {
        ui::note(&format!("probabilities are left out: no {one} that they were fitted on knows the mean"));
    }
    mean.save(&args.output)?;
    let (n_examples, updates) = {
        let learned = mean.training_summary();
        (learned.rows as u64, learned.totals.updates)
    };
    if args.json {
        let paths: Vec<String> = args.models.iter().map(|path| path.display().to_string()).collect();
        let output = args.output.display().to_string();
        let report = json!({
            "models": paths, "by": args.by.to_string(), "rows": n_examples, "updates": updates, "output": output,
        });
        return ui::print(&format!("{report}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    ui::print(&format!(
        "mean of {}, {}: {} with {} in all\nmodel: {}\n",
        ui::counted(args.models.len() as u64, "model", "models"),
        args.by,
        ui::counted(n_examples, one, many),
        ui::counted(updates, "update", "updates"),
        args.output.display()
    ))
}
