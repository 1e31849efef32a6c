//! `rosenblatt predict FILE... --model PATH`: a class for every row, as a stream, and why on request.

use super::tagger;
use crate::args::{CostArgs, DataArgs, Spoken, by_name, share};
use crate::choices::{listed, meaning_of};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::progress::Progress;
use crate::report::short_number;
use crate::ui;
use rosenblatt::calibration::Calibration;
use rosenblatt::device::DeviceChoice;
use rosenblatt::explain::{Contribution, Explainer};
use rosenblatt::learning::{Examples, Row};
use rosenblatt::model::class_scores;
use rosenblatt::vote_count::VoteCounter;
use rosenblatt::{Error, Model, Predictor, Task, catalogue};
use rosenblatt_data::write::{Cell, CellKind};
use rosenblatt_data::{ErrorKind, Gap, Labels, OneColumn, Source, Visitor, blocks, column, rewindable};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Without options, a line is a class or a number. With --probabilities, --scores,
--distance, --votes, --interval or --explain, it is CSV with a header; with
--json, an object. --output FILE writes CSV, JSON Lines or Parquet.

Examples:
  rosenblatt predict new.csv --model mail.model > labels.txt
  rosenblatt predict new.csv --model mail.model --probabilities
  rosenblatt predict new.csv --model mail.model --keep 1             its first column, beside each class
  rosenblatt predict new.csv --model mail.model --scores --output labels.parquet
  rosenblatt predict new.csv --model mail.model --explain 3
  rosenblatt predict new.csv --model houses.model --interval 0.9
  cat new.csv | rosenblatt predict - --model mail.model --explain 5 --json")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) spoken: Spoken,
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Use this model
    #[arg(long, short, value_name = "PATH")]
    pub(super) model: PathBuf,
    /// Keep this column of the rows in the output, such as an id, by name or number (may be repeated)
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,
    /// Add a prediction interval of this coverage. It comes from the residuals of held-out rows (models that predict
    /// numbers)
    #[arg(long, value_name = "SHARE", value_parser = share)]
    interval: Option<f64>,
    /// Add the probability of each class (calibrated models)
    #[arg(long)]
    pub(super) probabilities: bool,
    /// Add the scores. There is one for two classes, else one per class or pair of classes
    #[arg(long)]
    scores: bool,
    /// Add the distance to the hyperplane, positive on the second class's side (two classes)
    #[arg(long)]
    distance: bool,
    /// Add the votes for and against the class, or for each of several classes (models read out voted)
    #[arg(long)]
    votes: bool,
    /// Add the N features that count most for and against. They are contributions to the score of the class, or of a vote
    /// to the mean score of its survivors
    #[arg(long, value_name = "N")]
    pub(super) explain: Option<usize>,
    /// Write the N best label sequences of every sentence, each below its rank and score (taggers of sentences)
    #[arg(long, value_name = "N")]
    pub(super) k_best: Option<usize>,
    /// Write to this file; `-` is stdout [default: -]
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Format to write [default: from the file's name, else lines, or csv where columns are added]
    #[arg(long, value_name = "FORMAT", value_parser = listed(|| catalogue().names("prediction-format")))]
    to: Option<String>,
    #[arg(long, value_name = "NAME", value_parser = by_name::<DeviceChoice>, default_value = "auto",
        help = format!("{}. Changes nothing but the time; auto is cpu here", meaning_of("device")))]
    device: DeviceChoice,
    /// Print the result as JSON Lines: one object per row
    #[arg(long, conflicts_with = "to")]
    pub(super) json: bool,
    #[command(flatten)]
    decision: CostArgs,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    if let Some(tagger) = model.tagger() {
        return tagger::predict(args, tagger);
    }
    if args.k_best.is_some() {
        return Err(Failure::Usage("`--k-best` is for sentences, but this is a model of rows".to_owned()));
    }
    args.data.leave_to_the_model()?;
    let read = args.data.options()?;
    let to = if args.json { Some("jsonl") } else { args.to.as_deref() };
    let form = Form::find(to, args.output.as_deref())?;
    let model = args.decision.applied_to(model.on_device(args.device)?)?;
    let read = model.to_predict(read);
    let wanted = Wanted::new(args, &model)?;
    let kept: Vec<(String, CellKind)> = args.keep.iter().map(|name| (name.clone(), CellKind::Text)).collect();
    let columns = [kept, wanted.columns()].concat();
    let taken = args
        .keep
        .iter()
        .enumerate()
        .find(|(place, name)| columns[place + 1..].iter().any(|(other, _)| other == *name));
    if let Some((_, name)) = taken {
        let message =
            format!("the output would have two columns called `{name}`; name the one to keep by its number");
        return Err(Failure::Usage(message));
    }
    let form = form.unwrap_or(if columns.len() > 1 { Form::Csv } else { Form::Lines });
    if form == Form::Lines && columns.len() > 1 {
        let message = "a line holds a class and nothing else; write csv, jsonl or parquet to say more";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut source = Source::find_all(&args.files)?;
    if !args.keep.is_empty() {
        source = rewindable(&source, &read)?;
    }
    let mut stream = blocks(&source, &read)?;
    let mut output = Output::new(form, args.output.as_deref(), &columns)?;
    // Lines that scroll by are progress enough.
    let is_seen = args.output.is_none() && std::io::IsTerminal::is_terminal(&std::io::stdout());
    let progress = Progress::new(!is_seen);
    progress.reading(&source, &read.meter, 1);
    let kept = args.keep.iter().map(|name| {
        let (of_rows, values) = column(&source, &read, OneColumn::as_written(name, "cells to keep"))?;
        Ok(Kept { name, of_rows, values })
    });
    let mut label = Label {
        predictor: model.predictor(0),
        wanted,
        kept: kept.collect::<Result<_, Failure>>()?,
        n_rows: 0,
        columns: &columns,
        gaps: Vec::new(),
        output: &mut output,
    };
    let mut width = model.width();
    while let Some(block) = stream.next()? {
        if block.width() > width {
            width = block.width();
            label.predictor = model.predictor(width);
        }
        label.gaps = block.gaps().to_vec();
        block.visit(&mut label)?;
        label.output.flush()?;
    }
    label.left_out(stream.gaps_at_end())?;
    drop(progress);
    let left_out = stream.left_out();
    for note in stream.schema().notes.iter().cloned().chain(stream.notes()) {
        ui::note(&format!("note: {note}"));
    }
    if left_out.n_dropped() + left_out.n_skipped() > 0 {
        ui::note("note: each row that was left out has an empty line in the output");
    }
    output.finish()
}

/// What a predicted number is called.
const PREDICTION: &str = "prediction";

/// What stands in the output for one row.
enum Line {
    Cells(Vec<Cell>),
    Object(Value),
}

/// What to print for every row besides its class.
struct Wanted<'m> {
    model: &'m Model,
    scores: bool,
    probabilities: Option<&'m Calibration>,
    /// How far from its prediction a number lies, with the probability that was asked for.
    reach: Option<f64>,
    /// The length of the weight vector.
    norm: Option<f64>,
    votes: Option<VoteCounter<'m>>,
    explain: Option<(Explainer<'m>, usize)>,
    /// Room to work in.
    class_scores: Vec<f64>,
    shares: Vec<f64>,
}

impl<'m> Wanted<'m> {
    /// The error says what the model cannot tell.
    fn new(args: &Args, model: &'m Model) -> Result<Self, Failure> {
        let refuse = |message: String| Err(Failure::Work(message));
        let n_classes = model.labels().len();
        let reach = args.interval.map(|share| model.reach(share)).transpose()?;
        if args.probabilities || args.scores || args.distance || args.votes {
            model.check_task(Task::Classes)?;
        }
        if args.distance && n_classes != 2 {
            return refuse(format!(
                "`--distance` needs a model of two classes, but this one has {n_classes}; see `--scores`"
            ));
        }
        let norm = match model.planes().filter(|_| args.distance) {
            Some(planes) => {
                Some(planes.raw_weights().iter().map(|weight| weight * weight).sum::<f64>().sqrt())
            }
            None if args.distance => {
                let voted = if model.expansion().is_some() {
                    "has a kernel; `--scores` tells what it says"
                } else if model.network().is_some() {
                    "is a network; `--scores` tells what it says"
                } else {
                    "is a vote of many hyperplanes; train with `--readout averaged` for one"
                };
                return refuse(format!("`--distance` needs one hyperplane, but this model {voted}"));
            }
            None => None,
        };
        if norm == Some(0.0) {
            return refuse("all weights are zero, so there is no hyperplane to be distant from".to_owned());
        }
        if model.expansion().is_some() && (args.votes || args.explain.is_some()) {
            let wish = if args.votes { "--votes" } else { "--explain" };
            return refuse(format!(
                "`{wish}` needs hyperplanes, but this model has a kernel; use `--scores`"
            ));
        }
        let votes = VoteCounter::new(model).filter(|_| args.votes);
        if args.votes && votes.is_none() {
            return refuse(format!(
                "`--votes` needs a model that votes, but this one is read out {}; train with `--readout voted`",
                model.spec().readout()
            ));
        }
        let probabilities = model.calibration().filter(|_| args.probabilities);
        if args.probabilities && probabilities.is_none() {
            return refuse(
                "`--probabilities` needs a calibrated model, but this one has no calibration\n\
                 help: train it again with `--calibrate platt` or `isotonic`, which takes rows that are held \
                 out (`--holdout` or `--folds`)"
                    .to_owned(),
            );
        }
        if args.explain.is_some() {
            model.check_room("`--explain`", 32)?;
        }
        if args.explain.is_some() && model.map().is_some() {
            return Err(Error::Mapped { what: "`--explain` weighs" }.into());
        }
        let explain = args.explain.map(|most| (Explainer::new(model), most));
        let (class_scores, shares) = (Vec::new(), Vec::new());
        Ok(Self {
            model,
            scores: args.scores,
            probabilities,
            reach,
            norm,
            votes,
            explain,
            class_scores,
            shares,
        })
    }

    /// What each output tells apart.
    fn outputs(&self) -> Vec<String> {
        let names = self.model.labels().names();
        match (names, self.model.pairs()) {
            ([_, _], _) => vec![String::new()],
            (_, Some(pairs)) => pairs.iter().map(|(a, b)| format!(" {a} against {b}")).collect(),
            _ => names.iter().map(|name| format!(" {name}")).collect(),
        }
    }

    /// The columns, in the order of the cells.
    fn columns(&self) -> Vec<(String, CellKind)> {
        let mut columns = match self.model.task() {
            Task::Numbers => vec![(PREDICTION.to_owned(), CellKind::Number)],
            _ => vec![("class".to_owned(), CellKind::Text)],
        };
        if self.reach.is_some() {
            columns.extend(["low", "high"].map(|name| (name.to_owned(), CellKind::Number)));
        }
        if self.probabilities.is_some() {
            let names = self.model.labels().names().iter();
            columns.extend(names.map(|name| (format!("probability {name}"), CellKind::Number)));
        }
        let outputs = self.outputs();
        if self.scores {
            columns.extend(outputs.iter().map(|output| (format!("score{output}"), CellKind::Number)));
        }
        if self.norm.is_some() {
            columns.push(("distance".to_owned(), CellKind::Number));
        }
        if self.votes.is_some() && outputs.len() == 1 {
            columns.extend(["votes for", "votes against"].map(|name| (name.to_owned(), CellKind::Count)));
        } else if self.votes.is_some() {
            columns.extend(outputs.iter().map(|output| (format!("votes{output}"), CellKind::Count)));
        }
        if self.explain.is_some() {
            columns.extend(
                ["contributions for", "contributions against"].map(|name| (name.to_owned(), CellKind::Text)),
            );
        }
        columns
    }

    /// What is wanted of one row, in the form of the output.
    fn row<R: Row>(&mut self, row: R, class: u32, scores: &[f64], form: Form) -> Result<Line, Failure> {
        let name = self.model.labels().name(class);
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(rosenblatt::Error::Endless.into());
        }
        if let Some(calibration) = self.probabilities {
            class_scores(self.model, scores, &mut self.class_scores);
            calibration.probabilities(&self.class_scores, &mut self.shares);
        }
        let distance = self.norm.map(|norm| scores[0] / norm);
        // For and against the class if there are two, else for each.
        let votes: Vec<u64> = match self.votes.as_mut().map(|counter| counter.count(row)) {
            Some([vote_count]) if class == 1 => vec![vote_count.in_favour, vote_count.against],
            Some([vote_count]) => vec![vote_count.against, vote_count.in_favour],
            Some(counts) => counts.iter().map(|vote_count| vote_count.in_favour).collect(),
            None => Vec::new(),
        };
        let explanation = self.explain.as_mut().map(|(explainer, most)| explainer.explain(row, class, *most));
        if form == Form::JsonLines {
            let mut object = match self.model.task() {
                Task::Numbers => json!({ PREDICTION: scores[0] }),
                _ => json!({ "class": name }),
            };
            if let Some(reach) = self.reach {
                (object["low"], object["high"]) = (json!(scores[0] - reach), json!(scores[0] + reach));
            }
            let by_output = |values: Vec<Value>| -> Value {
                let outputs = self.outputs();
                outputs.iter().map(|output| output.trim_start().to_owned()).zip(values).collect()
            };
            if self.probabilities.is_some() {
                let names = self.model.labels().names().iter().cloned();
                object["probabilities"] = names.zip(self.shares.iter().map(|share| json!(share))).collect();
            }
            if self.scores {
                object["scores"] = json!(scores);
            }
            if let Some(distance) = distance {
                object["distance"] = json!(distance);
            }
            if self.votes.is_some() {
                object["votes"] = match votes.as_slice() {
                    &[ours, theirs] => json!({ "for": ours, "against": theirs }),
                    votes => by_output(votes.iter().map(|votes| json!(votes)).collect()),
                };
            }
            if let Some(explanation) = explanation {
                let named = explanation.named(self.model);
                object["for"] = json!(named.in_favour);
                object["against"] = json!(named.against);
                if let Some(base) = named.base {
                    object["base"] = json!(base);
                }
            }
            return Ok(Line::Object(object));
        }
        let mut cells = match self.model.task() {
            Task::Numbers => vec![Cell::Number(scores[0])],
            _ => vec![Cell::Text(name.to_owned())],
        };
        cells.extend(
            self.reach.iter().flat_map(|reach| [scores[0] - reach, scores[0] + reach]).map(Cell::Number),
        );
        if self.probabilities.is_some() {
            cells.extend(self.shares.iter().map(|share| Cell::Number(*share)));
        }
        if self.scores {
            cells.extend(scores.iter().map(|score| Cell::Number(*score)));
        }
        cells.extend(distance.map(Cell::Number));
        cells.extend(votes.into_iter().map(Cell::Count));
        if let Some(explanation) = explanation {
            let sides = [&explanation.in_favour, &explanation.against];
            cells.extend(sides.map(|side| Cell::Text(self.words(side))));
        }
        Ok(Line::Cells(cells))
    }

    /// `free +1.25; prize +0.5`
    fn words(&self, contributions: &[Contribution]) -> String {
        let words = contributions.iter().map(|contribution| {
            format!("{} {}", contribution.name(self.model), signed(contribution.amount()))
        });
        words.collect::<Vec<_>>().join("; ")
    }
}

/// A short number that always has a sign.
fn signed(number: f64) -> String {
    format!("{}{}", if number > 0.0 { "+" } else { "" }, short_number(number))
}

/// A column of the rows that goes into the output.
struct Kept<'a> {
    name: &'a str,
    /// The number of each row's value, by its place in the source.
    of_rows: Vec<Option<u32>>,
    values: Labels,
}

impl Kept<'_> {
    fn value(&self, row: usize) -> Option<&str> {
        let value = self.of_rows.get(row).copied().flatten().map(|value| self.values.name(value));
        value.filter(|value| !value.is_empty())
    }
}

/// Writes a line per row.
struct Label<'a, 'm> {
    predictor: Predictor<'m>,
    wanted: Wanted<'m>,
    kept: Vec<Kept<'a>>,
    /// How many rows of the source are written, those that were left out included.
    n_rows: usize,
    columns: &'a [(String, CellKind)],
    /// Where rows were left out of the block at hand.
    gaps: Vec<Gap>,
    output: &'a mut Output,
}

impl Label<'_, '_> {
    /// Writes a line, beside the cells that are kept of its row.
    fn line(&mut self, line: Line) -> Result<(), Failure> {
        let values: Vec<Option<&str>> = self.kept.iter().map(|kept| kept.value(self.n_rows)).collect();
        self.n_rows += 1;
        match line {
            Line::Object(mut object) => {
                if !self.kept.is_empty() {
                    let named = self.kept.iter().map(|kept| kept.name.to_owned());
                    object["kept"] = named.zip(values.iter().map(|value| json!(value))).collect();
                }
                self.output.object(&object);
                Ok(())
            }
            Line::Cells(cells) => {
                let cell =
                    |value: Option<&str>| value.map_or(Cell::Empty, |value| Cell::Text(value.to_owned()));
                let kept = values.into_iter().map(cell);
                self.output.row(&kept.chain(cells).collect::<Vec<_>>())
            }
        }
    }

    /// Writes an empty line for every row that was left out, so that lines and rows stay side by side.
    fn left_out(&mut self, gaps: &[Gap]) -> Result<(), Failure> {
        for gap in gaps {
            for _ in 0..gap.n_rows {
                self.line(self.nothing(gap.wrong))?;
            }
        }
        Ok(())
    }

    /// What stands for a row without a class.
    fn nothing(&self, wrong: Option<ErrorKind>) -> Line {
        let columns = &self.columns[self.kept.len()..];
        if self.output.form() == Form::JsonLines {
            let nothing = columns.first().map_or("class", |(name, _)| name.as_str());
            return Line::Object(
                json!({ nothing: null, "left-out": wrong.map_or("missing", ErrorKind::code) }),
            );
        }
        Line::Cells(vec![Cell::Empty; columns.len()])
    }
}

impl Visitor for &mut Label<'_, '_> {
    type Output = Result<(), Failure>;

    #[expect(clippy::redundant_closure_call, reason = "an error ends the row's closure, not the visit")]
    fn visit<E: Examples>(self, examples: E) -> Result<(), Failure> {
        let rows: Vec<u32> = (0..examples.len() as u32).collect();
        let gaps = std::mem::take(&mut self.gaps);
        let mut waiting = gaps.iter().peekable();
        let mut predictor = std::mem::replace(&mut self.predictor, self.wanted.model.predictor(0));
        let mut written = Ok(());
        predictor.each(examples, &rows, |row, class, scores| {
            if written.is_err() {
                return;
            }
            let mut write = || {
                while let Some(gap) = waiting.next_if(|gap| gap.n_before <= row as usize) {
                    self.left_out(std::slice::from_ref(gap))?;
                }
                let line = self.wanted.row(examples.row(row as usize), class, scores, self.output.form())?;
                self.line(line)
            };
            written = write();
        });
        self.predictor = predictor;
        written?;
        let rest: Vec<Gap> = waiting.copied().collect();
        self.left_out(&rest)
    }
}
