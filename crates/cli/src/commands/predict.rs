//! `rosenblatt predict FILE... --model PATH`: a class for every row, as a stream, and why on request.

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::report::short_number;
use crate::ui::{self, quoted};
use rosenblatt::core::{Examples, Row};
use rosenblatt::{Argument, Counter, Explainer, Model, Predictor, feature_name};
use rosenblatt_data::{LabelColumn, Source, Visitor, blocks};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Without options, a line is a class. With --scores, --distance, --votes or --explain it is CSV
below a header, with --json an object.

Examples:
  rosenblatt predict new.csv --model mail.model > labels.txt
  rosenblatt predict new.csv --model mail.model --scores --distance
  rosenblatt predict new.csv --model mail.model --explain 3
  rosenblatt predict new.csv --model mail.model --explain 5 --json | head -1"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The model
    #[arg(long, short, value_name = "PATH")]
    model: PathBuf,
    /// Every score behind the class: one for two classes, else one per class or pair
    #[arg(long)]
    scores: bool,
    /// How far the row is from the hyperplane, positive on the second class's side (two classes)
    #[arg(long)]
    distance: bool,
    /// The votes for the class and for the other one (two classes, read out voted)
    #[arg(long)]
    votes: bool,
    /// The N features that spoke loudest for the class, and the N against it, with what each adds to its
    /// score
    #[arg(long, value_name = "N")]
    explain: Option<usize>,
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON Lines: one object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut read = args.data.options()?;
    let model = Model::load(&args.model)?;
    read.schema = model.schema().cloned();
    // A table may come with its labels or without; they are not looked at. Other formats say it themselves.
    read.grow_classes = true;
    let is_table = read.schema.as_ref().is_some_and(|schema| !schema.columns.is_empty());
    if args.data.label.is_none() && !is_table {
        read.label = LabelColumn::Absent;
    }
    let mut wanted = Wanted::new(args, &model)?;
    let mut stream = blocks(&Source::find_all(&args.files)?, &read)?;
    let mut predictor = model.predictor(0);
    if wanted.is_table() {
        ui::print(&wanted.head(predictor.scores().len()))?;
    }
    let mut width = model.width();
    while let Some(block) = stream.next()? {
        if block.width() > width {
            width = block.width();
            predictor = model.predictor(width);
        }
        let text = block.visit(Label { predictor: &mut predictor, wanted: &mut wanted });
        ui::print(&text)?;
    }
    Ok(())
}

/// What is to be said of every row besides its class.
struct Wanted<'m> {
    model: &'m Model,
    json: bool,
    scores: bool,
    /// The length of the weight vector.
    norm: Option<f64>,
    votes: Option<Counter>,
    explain: Option<(Explainer<'m>, usize)>,
}

impl<'m> Wanted<'m> {
    /// The error says what the model cannot tell.
    fn new(args: &Args, model: &'m Model) -> Result<Self, Failure> {
        let refuse = |message: String| Err(Failure::Work(message));
        let n_classes = model.labels().len();
        if (args.distance || args.votes) && n_classes != 2 {
            let option = if args.distance { "distance" } else { "votes" };
            return refuse(format!(
                "`--{option}` needs a model of two classes, but this one has {n_classes}; see `--scores`"
            ));
        }
        let voted = "is a vote of many hyperplanes; train with `--readout averaged` for one";
        let norm = match model.planes().filter(|_| args.distance) {
            Some(planes) => {
                Some(planes.raw_weights().iter().map(|weight| weight * weight).sum::<f64>().sqrt())
            }
            None if args.distance => {
                return refuse(format!("`--distance` needs one hyperplane, but this model {voted}"));
            }
            None => None,
        };
        if norm == Some(0.0) {
            return refuse("all weights are zero, so there is no hyperplane to be distant from".to_owned());
        }
        let votes = Counter::new(model).filter(|_| args.votes);
        if args.votes && votes.is_none() {
            return refuse(format!(
                "`--votes` needs a model that votes, but this one is read out {}; train with `--readout voted`",
                model.spec().readout()
            ));
        }
        let explain = match (args.explain, Explainer::new(model)) {
            (Some(most), Some(explainer)) => Some((explainer, most)),
            (Some(_), None) => return refuse(format!("`--explain` needs weights, but this model {voted}")),
            (None, _) => None,
        };
        Ok(Self { model, json: args.json, scores: args.scores, norm, votes, explain })
    }

    /// Whether lines have more than one cell.
    fn is_table(&self) -> bool {
        !self.json && (self.scores || self.norm.is_some() || self.votes.is_some() || self.explain.is_some())
    }

    fn head(&self, n_scorers: usize) -> String {
        let mut head = "class".to_owned();
        if self.scores {
            (1..=n_scorers).for_each(|scorer| {
                let _ = write!(head, ",score {scorer}");
            });
        }
        if self.norm.is_some() {
            head.push_str(",distance");
        }
        if self.votes.is_some() {
            head.push_str(",votes for,votes against");
        }
        if self.explain.is_some() {
            head.push_str(",speaks for,speaks against");
        }
        head + "\n"
    }

    /// Writes what is wanted of one row.
    fn line<R: Row>(&mut self, row: R, class: u32, scores: &[f64], text: &mut String) {
        let name = self.model.labels().name(class);
        let distance = self.norm.map(|norm| scores[0] / norm);
        let votes = self.votes.as_mut().map(|counter| {
            let tally = counter.count(row);
            if class == 1 { (tally.second, tally.first) } else { (tally.first, tally.second) }
        });
        let explanation = self.explain.as_mut().map(|(explainer, most)| explainer.explain(row, class, *most));
        if self.json {
            let mut object = json!({ "class": name });
            if self.scores {
                object["scores"] = json!(scores);
            }
            if let Some(distance) = distance {
                object["distance"] = json!(distance);
            }
            if let Some((ours, theirs)) = votes {
                object["votes"] = json!({ "for": ours, "against": theirs });
            }
            if let Some(explanation) = explanation {
                object["for"] = self.objects(&explanation.speak_for);
                object["against"] = self.objects(&explanation.speak_against);
            }
            let _ = writeln!(text, "{object}");
            return;
        }
        // A class alone on its line is what it is; a cell of a table must not break it.
        text.push_str(&if self.is_table() { quoted(name) } else { name.to_owned() });
        if self.scores {
            for score in scores {
                let _ = write!(text, ",{score}");
            }
        }
        if let Some(distance) = distance {
            let _ = write!(text, ",{distance}");
        }
        if let Some((ours, theirs)) = votes {
            let _ = write!(text, ",{ours},{theirs}");
        }
        if let Some(explanation) = explanation {
            for side in [&explanation.speak_for, &explanation.speak_against] {
                let _ = write!(text, ",{}", quoted(&self.words(side)));
            }
        }
        text.push('\n');
    }

    /// `free +1.25; prize +0.5`
    fn words(&self, arguments: &[Argument]) -> String {
        let words = arguments.iter().map(|argument| {
            format!("{} {}", feature_name(self.model, argument.feature), signed(argument.share()))
        });
        words.collect::<Vec<_>>().join("; ")
    }

    fn objects(&self, arguments: &[Argument]) -> Value {
        let objects = arguments.iter().map(|argument| {
            json!({
                "feature": feature_name(self.model, argument.feature), "value": argument.value,
                "weight": argument.weight, "share": argument.share(),
            })
        });
        objects.collect()
    }
}

/// A short number that always has a sign.
fn signed(number: f64) -> String {
    format!("{}{}", if number > 0.0 { "+" } else { "" }, short_number(number))
}

/// Writes a line per row.
struct Label<'a, 'm> {
    predictor: &'a mut Predictor,
    wanted: &'a mut Wanted<'m>,
}

impl Visitor for Label<'_, '_> {
    type Output = String;

    fn visit<E: Examples>(self, examples: E) -> String {
        let mut text = String::new();
        for row in 0..examples.len() {
            let row = examples.row(row);
            let class = self.predictor.predict(row);
            self.wanted.line(row, class, self.predictor.scores(), &mut text);
        }
        text
    }
}
