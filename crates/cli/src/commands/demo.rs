//! `rosenblatt demo`: the main job, on real text messages that come with the program.

use super::train_face::Face;
use super::train_report;
use crate::failure::Failure;
use crate::ui::{self, percent};
use rosenblatt::{ALGORITHMS, Recipe};
use rosenblatt_data::bundled;
use std::fmt::Write as _;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt demo
  rosenblatt demo --model sms.model")]
pub(crate) struct Args {
    /// Also save the model here; it is not saved if not said
    #[arg(long, short, value_name = "PATH")]
    model: Option<std::path::PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Print who made the bundled data sets, and under which licences
    #[arg(long)]
    licences: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.licences {
        return ui::print(bundled::NOTICE);
    }
    if !args.json {
        ui::note("Training a spam filter on 5,574 real text messages: ham or spam?\n");
    }
    let recipe = Recipe::default();
    let mut face = Face::new(false, recipe.reading.meter.clone());
    let trained = recipe.train(&bundled::sms_spam(), &mut face)?;
    if let Some(path) = &args.model {
        trained.model.save(path)?;
    }
    if args.json {
        return ui::print(&format!("{}\n", train_report::json(&trained, &face)));
    }
    let mut text = train_report::text(&trained, &face);
    if let Some(held_out) = train_report::held_out(&trained) {
        let _ = writeln!(
            text,
            "Of messages it never saw, {} were told apart correctly. The words above are what it goes by.",
            percent(held_out.accuracy())
        );
    }
    if let Some(path) = &args.model {
        let _ = writeln!(text, "The model is in {}.", path.display());
    }
    let _ = write!(
        text,
        "\nWhat to try next:
  rosenblatt train FILE                  your own data: CSV, TSV, libsvm, text
  rosenblatt algorithms                  the {} rules there are to choose from
  rosenblatt demo --model sms.model      keep the model, then:
  rosenblatt inspect sms.model           look inside it
(With cargo: `cargo run --release -- train FILE`, and so on.)\n",
        ALGORITHMS.len()
    );
    ui::print(&text)
}
