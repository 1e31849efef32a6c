//! `rosenblatt demo`: the main job, on real text messages that come with the program.

use super::estimate::Plan;
use super::train::{self, Wish};
use crate::failure::Failure;
use crate::ui::{self, percent};
use rosenblatt::{ALGORITHMS, Method, Options, Spec, Validation};
use rosenblatt_data::{ReadOptions, bundled};
use std::fmt::Write as _;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt demo
  rosenblatt demo --model sms.model")]
pub(crate) struct Args {
    /// Also save the model here
    #[arg(long, short, value_name = "PATH")]
    model: Option<std::path::PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if !args.json {
        ui::note("Training an averaged perceptron on 5,574 real text messages: ham or spam?\n");
    }
    let validation = Some(Validation::default());
    let spec = Spec::new(Options { epochs: 20, validation, ..Options::default() })?;
    let wish = Wish {
        plan: Plan::HoldOut(0.2),
        calibrate: Some(Method::Platt),
        one_against_rest: None,
        bounds: false,
    };
    let trained =
        train::train(&bundled::sms_spam(), &ReadOptions::default(), |_| Ok(spec), &wish, false, None)?;
    if let Some(path) = &args.model {
        trained.model.save(path)?;
    }
    if args.json {
        return ui::print(&format!("{}\n", trained.json()));
    }
    let mut text = trained.text();
    if let Some(held_out) = trained.held_out() {
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
