//! `rosenblatt predict FILE... --model PATH`: a class for every row, as a stream.

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::ui;
use rosenblatt::core::Examples;
use rosenblatt::{Model, Predictor};
use rosenblatt_data::{LabelColumn, Source, Visitor, blocks};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt predict new.csv --model mail.model > labels.txt
  rosenblatt predict new.csv --model mail.model --scores")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The model
    #[arg(long, short, value_name = "PATH")]
    model: PathBuf,
    /// Print CSV with a header: the class, then every score behind it
    #[arg(long)]
    scores: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let mut read = args.data.options()?;
    read.schema = model.schema().cloned();
    if args.data.label.is_none() {
        read.label = LabelColumn::Absent;
    }
    let mut stream = blocks(&Source::find_all(&args.files)?, &read)?;
    let mut predictor = model.predictor(0);
    if args.scores {
        let heads: Vec<String> =
            (1..=predictor.scores().len()).map(|scorer| format!("score {scorer}")).collect();
        ui::print(&format!("class,{}\n", heads.join(",")))?;
    }
    let mut width = model.width();
    while let Some(block) = stream.next()? {
        if block.width() > width {
            width = block.width();
            predictor = model.predictor(width);
        }
        let text = block.visit(Label { model: &model, predictor: &mut predictor, scores: args.scores });
        ui::print(&text)?;
    }
    Ok(())
}

/// Writes a line per row.
struct Label<'a> {
    model: &'a Model,
    predictor: &'a mut Predictor,
    scores: bool,
}

impl Visitor for Label<'_> {
    type Output = String;

    fn visit<E: Examples>(self, examples: E) -> String {
        let mut text = String::new();
        for row in 0..examples.len() {
            let class = self.predictor.predict(examples.row(row));
            text.push_str(self.model.labels().name(class));
            if self.scores {
                for score in self.predictor.scores() {
                    let _ = write!(text, ",{score}");
                }
            }
            text.push('\n');
        }
        text
    }
}
