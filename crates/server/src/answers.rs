//! From rows to what is predicted of them: classes or numbers, probabilities, scores and reasons, as JSON, JSON Lines, CSV
//! or Arrow.
//!
//! Objects and columns are those of the command line's `predict`.

use crate::bodies::{self, Kind};
use crate::columns::Unknown;
use crate::config::Limits;
use crate::live::Published;
use crate::problem::{Problem, with_flags};
use crate::registry::Version;
use crate::sentences;
use rosenblatt::calibration::Calibration;
use rosenblatt::explain::Explainer;
use rosenblatt::learning::Examples;
use rosenblatt::model::class_scores;
use rosenblatt::{Error, Model, Task};
use rosenblatt_data::write::csv_cell;
use rosenblatt_data::{Dataset, Visitor};
use serde_json::json;
use std::fmt::Write as _;

/// What to answer for every row besides its class.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wish {
    pub(crate) probabilities: bool,
    pub(crate) scores: bool,
    /// This many features for the class, and as many against it.
    pub(crate) explain: Option<usize>,
}

/// The answers for some rows.
pub(crate) struct Answers<'m> {
    model: &'m Model,
    wish: Wish,
    /// The class of each row, from 0, and always 0 where a number is predicted; nothing for rows that were left out.
    pub(crate) classes: Vec<Option<u32>>,
    /// Probabilities and scores of the rows that have a class, row after row. A number that is predicted is a score.
    pub(crate) shares: Vec<f64>,
    pub(crate) scores: Vec<f64>,
    explanations: Vec<String>,
    /// Columns of the rows that the model does not know.
    unknown: Unknown,
}

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    JsonLines,
    Csv,
    Arrow,
    /// Sentences in the format that they came in, with their tags.
    Text,
}

/// The forms, by content type.
pub(crate) const FORMS: [(&str, Form); 5] = [
    ("application/json", Form::Json),
    ("application/x-ndjson", Form::JsonLines),
    ("text/csv", Form::Csv),
    ("application/vnd.apache.arrow.stream", Form::Arrow),
    ("text/plain", Form::Text),
];

impl Form {
    /// Whether the answers of a task can be written so.
    fn suits(self, task: Task) -> bool {
        match self {
            Self::Json | Self::JsonLines => true,
            Self::Csv | Self::Arrow => task != Task::Tags,
            Self::Text => task == Task::Tags,
        }
    }

    /// The first form that a client names among those it accepts; `otherwise` if it names none that suits.
    pub(crate) fn accepted(accept: Option<&str>, task: Task, otherwise: Self) -> Self {
        let names = accept
            .unwrap_or_default()
            .split(',')
            .map(|name| name.split(';').next().unwrap_or_default().trim());
        let mut found =
            names.filter_map(|name| FORMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)));
        found.find(|(_, form)| form.suits(task)).map_or(otherwise, |(_, form)| *form)
    }

    pub(crate) fn content_type(self) -> &'static str {
        FORMS.iter().find(|(_, form)| *form == self).map_or("application/json", |(name, _)| *name)
    }
}

impl<'m> Answers<'m> {
    /// Asks what was published of a version.
    pub(crate) fn new(
        version: &Version,
        published: &'m Published,
        data: &Dataset,
        wish: Wish,
    ) -> Result<Self, Problem> {
        let model = &*published.model;
        if wish.probabilities || wish.scores {
            model.check_task(Task::Classes)?;
        }
        let calibration = match model.calibration() {
            None if wish.probabilities => return Err(no_probabilities(version, published.learned)),
            calibration => calibration.filter(|_| wish.probabilities),
        };
        if wish.explain.is_some() && (model.expansion().is_some() || model.map().is_some()) {
            let message =
                "reasons are about the original features, but this model has a kernel or a feature map";
            return Err(Problem::new("bad-rows", message).with_help("ask for scores"));
        }
        let mut answers = Self {
            model,
            wish,
            classes: vec![None; data.n_source_rows()],
            shares: Vec::new(),
            scores: Vec::new(),
            explanations: Vec::new(),
            unknown: Unknown::default(),
        };
        if data.visit(Ask { answers: &mut answers, data, calibration }) {
            Ok(answers)
        } else {
            Err(Error::Endless.into())
        }
    }

    /// What the model predicts, as the command line calls it.
    fn what(&self) -> &'static str {
        if self.model.task() == Task::Numbers { "prediction" } else { "class" }
    }

    fn outputs(&self) -> Vec<String> {
        let names = self.model.labels().names();
        match (names, self.model.pairs()) {
            ([_, _], _) => vec![String::new()],
            (_, Some(pairs)) => pairs.iter().map(|(a, b)| format!(" {a} against {b}")).collect(),
            _ => names.iter().map(|name| format!(" {name}")).collect(),
        }
    }

    /// An object for each row, one after the other with `between` after all but the last. If `named`, each names the columns of
    /// its row that the model does not know.
    fn objects(&self, out: &mut String, between: char, named: bool) {
        let quoted = |name: &String| serde_json::to_string(name).unwrap_or_default();
        let names: Vec<String> = self.model.labels().names().iter().map(quoted).collect();
        let n_scores = self.scores.len().checked_div(self.n_classified()).unwrap_or(0);
        let mut place = 0;
        for (row, class) in self.classes.iter().enumerate() {
            if row > 0 {
                out.push(between);
            }
            let unknown = if named { self.unknown.of_row(row) } else { &[] };
            let unknown = unknown_columns(unknown);
            let Some(class) = class else {
                let _ = write!(out, "{{\"{}\":null,\"left-out\":\"missing\"{unknown}}}", self.what());
                continue;
            };
            // Writing to a string cannot fail.
            let _ = match self.model.task() {
                Task::Numbers => write!(out, "{{\"prediction\":{}", json!(self.scores[place])),
                _ => write!(out, "{{\"class\":{}", names[*class as usize]),
            };
            if self.wish.probabilities {
                out.push_str(",\"probabilities\":{");
                let shares = self.shares[place * names.len()..(place + 1) * names.len()].iter();
                for (idx, (name, share)) in names.iter().zip(shares).enumerate() {
                    let _ = write!(out, "{}{name}:{}", if idx > 0 { "," } else { "" }, json!(share));
                }
                out.push('}');
            }
            if self.wish.scores {
                let _ = write!(
                    out,
                    ",\"scores\":{}",
                    json!(self.scores[place * n_scores..(place + 1) * n_scores])
                );
            }
            if let Some(explanation) = self.explanations.get(place) {
                out.push(',');
                out.push_str(explanation);
            }
            out.push_str(&unknown);
            out.push('}');
            place += 1;
        }
    }

    fn n_classified(&self) -> usize {
        self.classes.iter().flatten().count()
    }

    /// Names and numbers of every column besides the class.
    fn columns(&self) -> Vec<(String, Vec<f64>)> {
        let n_rows = self.n_classified();
        let every = |values: &[f64], n_columns: usize, column: usize| -> Vec<f64> {
            (0..n_rows).map(|row| values[row * n_columns + column]).collect()
        };
        let mut columns = Vec::new();
        if self.wish.probabilities {
            let names = self.model.labels().names();
            let named = names.iter().enumerate();
            columns.extend(
                named.map(|(idx, name)| {
                    (format!("probability {name}"), every(&self.shares, names.len(), idx))
                }),
            );
        }
        if self.wish.scores {
            let outputs = self.outputs();
            let named = outputs.iter().enumerate();
            columns.extend(
                named.map(|(idx, name)| (format!("score{name}"), every(&self.scores, outputs.len(), idx))),
            );
        }
        columns
    }

    /// The bytes of the answer; `preface` are the first members of a JSON object.
    pub(crate) fn written(&self, form: Form, preface: &str) -> Result<Vec<u8>, Problem> {
        let mut out = String::new();
        match form {
            Form::Json => {
                let unknown = unknown_columns(&self.unknown.names());
                let _ = write!(out, "{{{preface}{unknown},\"predictions\":[");
                self.objects(&mut out, ',', false);
                out.push_str("]}");
            }
            Form::JsonLines => {
                self.objects(&mut out, '\n', true);
                out.push('\n');
            }
            Form::Csv => self.csv(&mut out),
            Form::Arrow => return self.arrow(),
            Form::Text => return Err(Problem::new("internal", "classes do not come as text")),
        }
        Ok(out.into_bytes())
    }

    fn csv(&self, out: &mut String) {
        let columns = self.columns();
        out.push_str(self.what());
        for (name, _) in &columns {
            let _ = write!(out, ",{}", csv_cell(name));
        }
        out.push('\n');
        let mut place = 0;
        for class in &self.classes {
            if let Some(class) = class {
                match self.model.task() {
                    Task::Numbers => out.push_str(&self.scores[place].to_string()),
                    _ => out.push_str(&csv_cell(self.model.labels().name(*class))),
                }
            }
            for (_, values) in &columns {
                out.push(',');
                if class.is_some() {
                    let _ = write!(out, "{}", values[place]);
                }
            }
            place += usize::from(class.is_some());
            out.push('\n');
        }
    }

    #[cfg(not(feature = "arrow"))]
    fn arrow(&self) -> Result<Vec<u8>, Problem> {
        Err(rosenblatt_data::DataError::not_built("Arrow", "parquet", "accept JSON or CSV").into())
    }

    #[cfg(feature = "arrow")]
    fn arrow(&self) -> Result<Vec<u8>, Problem> {
        use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
        use arrow_schema::{DataType, Field, Schema};
        use std::sync::Arc;
        let failed = |error: arrow_schema::ArrowError| Problem::new("internal", error.to_string());
        let numbers = |values: Vec<f64>| -> ArrayRef {
            let mut values = values.into_iter();
            let all = self.classes.iter().map(|class| class.and_then(|_| values.next()));
            Arc::new(all.collect::<Float64Array>())
        };
        let labels = self.model.labels();
        let classes = || self.classes.iter().map(|class| class.map(|class| labels.name(class)));
        let (kind, predicted): (_, ArrayRef) = match self.model.task() {
            Task::Numbers => (DataType::Float64, numbers(self.scores.clone())),
            _ => (DataType::Utf8, Arc::new(classes().collect::<StringArray>())),
        };
        let (mut fields, mut arrays) = (vec![Field::new(self.what(), kind, true)], vec![predicted]);
        for (name, values) in self.columns() {
            fields.push(Field::new(name, DataType::Float64, true));
            arrays.push(numbers(values));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(failed)?;
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).map_err(failed)?;
        writer.write(&batch).and_then(|()| writer.finish()).map_err(failed)?;
        writer.into_inner().map_err(failed)
    }
}

/// The answer to a body, whatever the task of the model: the bytes, and the number of rows or sentences.
pub(crate) fn answered(
    version: &Version,
    published: &Published,
    body: (Kind, &[u8]),
    wish: Wish,
    written: (Form, &str),
    limits: &Limits,
) -> Result<(Vec<u8>, u64), Problem> {
    if let Some(tagger) = published.model.tagger() {
        return sentences::answered(tagger, body, wish, written, limits);
    }
    let (data, unknown) = bodies::to_predict(&published.model, body.0, body.1, limits)?;
    let answers = Answers { unknown, ..Answers::new(version, published, &data, wish)? };
    Ok((answers.written(written.0, written.1)?, answers.classes.len() as u64))
}

/// A member of a JSON object that names columns which the model does not know, if there are any.
fn unknown_columns(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(",\"unknown-columns\":{}", json!(names)) }
}

/// Why there are no probabilities, and what there is instead.
fn no_probabilities(version: &Version, learned: u64) -> Problem {
    let is_its_own = version.base.calibration().is_some();
    let own = is_its_own.then_some(version.entry.version);
    let Some(number) = own.or(version.entry.calibrated) else {
        let help = "ask for scores (`?scores`), or train the model again with {calibrate=platt}";
        return Problem::from(Error::NotCalibrated).with_help(with_flags(&help.into()));
    };
    let since = match learned {
        _ if !is_its_own => format!("online since version {number}"),
        1 => "1 example online since".to_owned(),
        _ => format!("{learned} examples online since"),
    };
    let message = format!("the model has learned {since}, and probabilities are not fitted online");
    let help = "ask for scores (`?scores`); or train the model again with what it learned and {calibrate=platt}, and send \
                the file";
    let back = format!(
        "or go back to version {number}, if it is kept, without what was learned: POST its versions {{\"of\": {number}}}"
    );
    Problem::new("not-calibrated", message).with_help(format!("{}; {back}", with_flags(&help.into())))
}

struct Ask<'a, 'm> {
    answers: &'a mut Answers<'m>,
    data: &'a Dataset,
    calibration: Option<&'m Calibration>,
}

impl Visitor for Ask<'_, '_> {
    /// Whether every score is finite.
    type Output = bool;

    fn visit<E: Examples>(self, examples: E) -> bool {
        let Self { answers, data, calibration } = self;
        let model = answers.model;
        let mut explainer = answers.wish.explain.map(|most| (Explainer::new(model), most));
        let (mut of_classes, mut shares) = (Vec::new(), Vec::new());
        let is_number = model.task() == Task::Numbers;
        let mut is_finite = true;
        let rows: Vec<u32> = (0..examples.len() as u32).collect();
        let mut predictor = model.predictor(examples.width());
        predictor.each(examples, &rows, |row, class, scores| {
            answers.classes[data.number(row as usize)] = Some(class);
            is_finite &= scores.iter().all(|score| score.is_finite());
            if let Some(calibration) = calibration {
                class_scores(model, scores, &mut of_classes);
                calibration.probabilities(&of_classes, &mut shares);
                answers.shares.extend(&shares);
            }
            if answers.wish.scores || is_number {
                answers.scores.extend(scores);
            }
            if let Some((explainer, most)) = &mut explainer {
                let named = explainer.explain(examples.row(row as usize), class, *most).named(model);
                let text = json!(named).to_string();
                answers.explanations.push(text[1..text.len() - 1].to_owned());
            }
        });
        is_finite
    }
}
