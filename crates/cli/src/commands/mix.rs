//! `rosenblatt mix`: models that were trained in several places become one.

use super::tagger;
use crate::choices::choice;
use crate::failure::Failure;
use crate::ui;
use rosenblatt::{Mixing, Model, Tagger};
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
    /// Read these models, which were trained with the same options and read rows alike
    #[arg(required = true, value_name = "MODEL")]
    pub(super) models: Vec<PathBuf>,
    /// Weigh the models this way
    #[arg(long, value_name = "HOW", value_parser = choice::<Mixing>(), default_value_t)]
    pub(super) by: Mixing,
    /// Write the mean here
    #[arg(short, long, value_name = "MODEL")]
    pub(super) output: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.models.iter().all(Tagger::is_at) {
        return tagger::mix(args);
    }
    let models = args.models.iter().map(Model::load).collect::<Result<Vec<_>, _>>()?;
    let mean = rosenblatt::mix(&models, args.by)?;
    if models.len() > 1 && models.iter().any(Model::has_probabilities) {
        ui::note("probabilities are left out: no row that they were fitted on knows the mean");
    }
    mean.save(&args.output)?;
    let learned = mean.training_summary();
    args.tell(["model", "models"], ["row", "rows"], learned.rows as u64, learned.totals.updates)
}

impl Args {
    /// What was mixed, and what of; words for one and for many.
    pub(super) fn tell(
        &self,
        models: [&str; 2],
        examples: [&str; 2],
        n_examples: u64,
        updates: u64,
    ) -> Result<(), Failure> {
        if self.json {
            let paths: Vec<String> = self.models.iter().map(|path| path.display().to_string()).collect();
            let output = self.output.display().to_string();
            let report = json!({
                "models": paths, "by": self.by.to_string(), "rows": n_examples, "updates": updates, "output": output,
            });
            return ui::print(&format!("{report}\n"));
        }
        if ui::is_quiet() {
            return Ok(());
        }
        ui::print(&format!(
            "mean of {}, {}: {} with {} in all\nmodel: {}\n",
            ui::counted(self.models.len() as u64, models[0], models[1]),
            self.by,
            ui::counted(n_examples, examples[0], examples[1]),
            ui::counted(updates, "update", "updates"),
            self.output.display()
        ))
    }
}
