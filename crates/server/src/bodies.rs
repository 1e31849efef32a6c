//! From a body to rows. Every body becomes one of the data crate's own formats, and is read by its readers as a file
//! would be: the same bytes mean the same rows everywhere. JSON is taken apart no further than into rows.

use crate::columns::{self, Unknown};
use crate::config::Limits;
use crate::problem::{Problem, with_flags};
use rosenblatt::recipe::Ongoing;
use rosenblatt::{Model, Task};
use rosenblatt_data::{
    Compression, Dataset, LabelColumn, Limits as DataLimits, ReadOptions, Schema, Source, load_source,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a content type means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rows in one JSON document.
    Json,
    /// JSON Lines, which may be answered before the last has come.
    JsonLines,
    /// A format of the data crate, by name; found out from the content if it has none.
    Data(Option<&'static str>),
}

/// Every content type that is read.
pub(crate) const CONTENT_TYPES: &[(&str, Kind)] = &[
    ("application/json", Kind::Json),
    ("application/x-ndjson", Kind::JsonLines),
    ("application/jsonl", Kind::JsonLines),
    ("text/csv", Kind::Data(Some("csv"))),
    ("text/plain", Kind::Data(Some("text"))),
    ("application/vnd.apache.arrow.stream", Kind::Data(Some("arrow"))),
    ("application/vnd.apache.arrow.file", Kind::Data(Some("arrow"))),
    ("application/vnd.apache.parquet", Kind::Data(Some("parquet"))),
    ("text/x-libsvm", Kind::Data(Some("libsvm"))),
    ("text/x-vw", Kind::Data(Some("vw"))),
    ("text/x-conll", Kind::Data(Some("columns"))),
    ("text/x-conllu", Kind::Data(Some("conllu"))),
    ("image/png", Kind::Data(Some("picture"))),
    ("image/jpeg", Kind::Data(Some("picture"))),
    ("image/x-portable-anymap", Kind::Data(Some("picture"))),
    ("application/octet-stream", Kind::Data(None)),
];

impl Kind {
    /// The kind that a content type names.
    pub(crate) fn of(content_type: &str) -> Result<Self, Problem> {
        let name = content_type.split(';').next().unwrap_or_default().trim();
        let found = CONTENT_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let known: Vec<&str> = CONTENT_TYPES.iter().map(|(name, _)| *name).collect();
            let known = known.join(", ");
            // The default of `curl -d`. A page may send it to any server unasked, so it is not read.
            let is_form = name.eq_ignore_ascii_case("application/x-www-form-urlencoded");
            let what = if is_form {
                "say what the body is, as `curl -H 'content-type: application/json'` does"
            } else {
                "send another"
            };
            Problem::new("unknown-type", "the content type is not supported")
                .with_help(format!("{what}: one of {known}"))
        })
    }
}

/// The bytes of a body, unpacked, and no more of them than are allowed.
pub fn unpacked<'a>(
    bytes: &'a [u8],
    encoding: Option<&str>,
    limits: &Limits,
) -> Result<Cow<'a, [u8]>, Problem> {
    let too_large = || Problem::new("too-large", format!("a body may have {} bytes", limits.body_bytes));
    let found = Compression::sniff(bytes);
    let encoding = encoding.map(|name| name.trim().to_ascii_lowercase());
    match encoding.as_deref() {
        None | Some("" | "identity") => {}
        Some(name @ ("gzip" | "zstd")) if name == found.name() => {}
        Some("gzip" | "zstd") => {
            return Err(Problem::new("bad-body", "the body is not packed as its content encoding says"));
        }
        Some(_) => {
            return Err(Problem::new("unknown-type", "a body is packed with gzip or zstd, or not at all"));
        }
    }
    if found == Compression::None {
        return if bytes.len() <= limits.body_bytes { Ok(Cow::Borrowed(bytes)) } else { Err(too_large()) };
    }
    let source = Source::bytes("body", bytes);
    let mut input = match source.parts() {
        [part] => part.open()?,
        _ => return Err(Problem::new("internal", "a body has one part")),
    };
    let mut out = Vec::new();
    let mut some = vec![0; 1 << 16];
    loop {
        let n_bytes = input.read_some(&mut some)?;
        if n_bytes == 0 {
            return Ok(Cow::Owned(out));
        }
        if out.len() + n_bytes > limits.body_bytes {
            return Err(too_large());
        }
        out.extend_from_slice(&some[..n_bytes]);
    }
}

/// Rows of which classes or numbers are to be predicted.
pub fn to_predict(
    model: &Model,
    kind: Kind,
    bytes: &[u8],
    limits: &Limits,
) -> Result<(Dataset, Unknown), Problem> {
    if model.task() == Task::Tags {
        model.check_task(Task::Classes)?;
    }
    let (format, text, unknown) = readable(model, kind, bytes, false)?;
    Ok((read(&text, &model.to_predict(options(format, limits)), limits)?, unknown))
}

/// The same of rows that were taken apart before, each in JSON.
pub fn rows_to_predict(model: &Model, rows: &[String], limits: &Limits) -> Result<Dataset, Problem> {
    if model.task() == Task::Tags {
        model.check_task(Task::Classes)?;
    }
    let document = Document { rows: rows.iter().map(|row| Raw(row)).collect(), labels: None };
    let schema = model.schema_of_rows();
    let (format, text) = document.lines(Some(&schema), false)?;
    columns::check(&text, &schema, false, false)?;
    read(&text, &model.to_predict(options(Some(format), limits)), limits)
}

/// Rows to be learned from.
pub fn to_learn(
    base: &Model,
    kind: Kind,
    bytes: &[u8],
    limits: &Limits,
) -> Result<(Dataset, Unknown), Problem> {
    if base.task() != Task::Classes {
        let message = format!(
            "this model {}, and only models that classify rows go on learning in the server",
            base.task()
        );
        let help = match base.task() {
            Task::Numbers => {
                "train it again with these rows and those before them, and send the new model file"
            }
            _ => "go on with {online} and {start-from} where the sentences are, and send the new model file",
        };
        return Err(Problem::new("cannot-learn", message).with_help(with_flags(&help.into())));
    }
    let (format, text, unknown) = readable(base, kind, bytes, true)?;
    let how = Ongoing::reading(base, with_label(base, options(format, limits)));
    let data = read(&text, &how, limits)?;
    if data.labels().names() == ["?"] {
        return Err(Problem::new(
            "bad-rows",
            "the rows have no labels, and nothing can be learned from them",
        ));
    }
    Ok((data, unknown))
}

/// Rows to measure a model on.
pub fn to_evaluate(
    model: &Model,
    kind: Kind,
    bytes: &[u8],
    limits: &Limits,
) -> Result<(Dataset, Unknown), Problem> {
    let (format, text, unknown) = readable(model, kind, bytes, true)?;
    let classes = (model.task() == Task::Classes).then(|| model.labels().names().to_vec());
    let how = ReadOptions { classes, ..model.to_evaluate(with_label(model, options(format, limits))) };
    Ok((read(&text, &how, limits)?, unknown))
}

/// What helps if there are more rows than a request may have.
pub(crate) const MORE_ROWS: &str = "send several requests, or start the server with a higher {max-rows}; JSON Lines without an \
     idempotency key or compression have no such limit where rows are predicted or learned";

fn options(format: Option<&str>, limits: &Limits) -> ReadOptions {
    let most = DataLimits {
        features: limits.features,
        classes: limits.classes,
        line_bytes: limits.body_bytes,
        held_bytes: limits.body_bytes as u64,
        ..DataLimits::default()
    };
    ReadOptions { format: format.map(str::to_owned), threads: 1, limits: most, ..ReadOptions::default() }
}

/// Rows of columns that are to be learned from have the column that the model learned from.
fn with_label(model: &Model, how: ReadOptions) -> ReadOptions {
    let label =
        model.schema().filter(|schema| !schema.columns.is_empty()).and_then(|schema| schema.label.clone());
    ReadOptions { label: label.map_or(LabelColumn::Guess, LabelColumn::Named), ..how }
}

fn read(text: &[u8], how: &ReadOptions, limits: &Limits) -> Result<Dataset, Problem> {
    let data = load_source(&Source::bytes("body", text), how)?;
    if data.n_source_rows() > limits.rows {
        let message =
            format!("a request may have {} rows, and this one has {}", limits.rows, data.n_source_rows());
        return Err(Problem::new("limit", message).with_help(with_flags(&MORE_ROWS.into())));
    }
    Ok(data)
}

/// A format by name, a body in it, and the columns of its objects that the model does not know.
type Readable<'a> = (Option<&'static str>, Cow<'a, [u8]>, Unknown);

/// The body as a format that the data crate reads.
fn readable<'a>(model: &Model, kind: Kind, bytes: &'a [u8], labelled: bool) -> Result<Readable<'a>, Problem> {
    let schema = model.schema_of_rows();
    let (format, text) = match kind {
        Kind::Data(format) => return Ok((format, Cow::Borrowed(bytes), Unknown::default())),
        Kind::JsonLines => ("jsonl", Cow::Borrowed(bytes)),
        Kind::Json => {
            let (format, text) = Document::parse(bytes)?.lines(Some(&schema), labelled)?;
            (format, Cow::Owned(text))
        }
    };
    let unknown = match format {
        "jsonl" => columns::check(&text, &schema, labelled, kind == Kind::JsonLines)?,
        _ => Unknown::default(),
    };
    Ok((Some(format), text, unknown))
}

/// The sentences of a JSON document as a format that the data crate reads: lists of tokens, objects with them, or texts
/// that are parted into tokens.
pub(crate) fn token_lists(bytes: &[u8], labelled: bool) -> Result<(&'static str, Vec<u8>), Problem> {
    let document = Document::parse(bytes)?;
    document.check()?;
    let bad = |place: usize, message: &str| {
        Problem::new("bad-rows", format!("sentence {}: {message}", place + 1)).with_help(
            "a sentence is a list of tokens, an object with `tokens`, or a text: [[\"the\", \"dog\"]]",
        )
    };
    let is_text = document.rows.iter().all(|row| row.get().starts_with('"'));
    let mut out = Vec::new();
    for (place, row) in document.rows.iter().enumerate() {
        let begun = out.len();
        let label = document.labels.as_ref().and_then(|labels| labels.get(place)).filter(|_| labelled);
        match (row.get().as_bytes().first(), label) {
            (Some(b'"'), None) if is_text => {
                let text: String = serde_json::from_str(row.get()).map_err(|error| not_json(&error))?;
                out.extend(text.bytes());
            }
            (Some(b'['), None) => out.extend(format!("{{\"tokens\":{}}}", row.get()).bytes()),
            (Some(b'['), Some(tags)) => {
                out.extend(format!("{{\"tokens\":{},\"tags\":{}}}", row.get(), tags.get()).bytes());
            }
            (Some(b'{'), None) => out.extend(row.get().bytes()),
            (Some(b'{' | b'"'), Some(_)) => return Err(bad(place, "labels stand beside lists of tokens")),
            _ => return Err(bad(place, "it is of another kind than the others, or of an unknown one")),
        }
        one_line(&mut out[begun..]);
        out.push(b'\n');
    }
    Ok((if is_text { "plain" } else { "token-lists" }, out))
}

/// A row is a line; between the cells of JSON, and the words of a text, a blank means as much as what breaks lines.
fn one_line(line: &mut [u8]) {
    for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

/// Rows of a JSON document, and their labels if they stand apart.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(borrow)]
    rows: Vec<Raw<'a>>,
    #[serde(borrow, default)]
    labels: Option<Vec<Raw<'a>>>,
}

/// A value of JSON as it is written.
#[derive(Clone, Copy)]
struct Raw<'a>(&'a str);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(from).map(|value| Self(value.get()))
    }
}

impl<'a> Raw<'a> {
    fn get(self) -> &'a str {
        self.0
    }
}

fn not_json(error: &serde_json::Error) -> Problem {
    Problem::new("bad-body", format!("the body is no JSON that is understood: {error}")).with_help(
        "send {\"rows\": [...]}, a list of rows, or one row; a row is an object, a list of values, or a text",
    )
}

impl<'a> Document<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, Problem> {
        // What was seen to be JSON is UTF-8.
        let one = || Self {
            rows: vec![Raw(std::str::from_utf8(bytes.trim_ascii()).unwrap_or_default())],
            labels: None,
        };
        let first = bytes.trim_ascii_start().first();
        if first == Some(&b'[') {
            let rows: Vec<Raw<'_>> = serde_json::from_slice(bytes).map_err(|error| not_json(&error))?;
            // Numbers are no rows, so a list with one in it is a row.
            let begins = |letters: &[u8]| {
                rows.iter().any(|row| row.get().as_bytes().first().is_some_and(|one| letters.contains(one)))
            };
            return Ok(if begins(b"-0123456789") && !begins(b"[{") {
                one()
            } else {
                Self { rows, labels: None }
            });
        }
        if first != Some(&b'{') {
            let text = serde_json::from_slice(bytes).map_err(|error| not_json(&error))?;
            return Ok(Self { rows: vec![text], labels: None });
        }
        serde_json::from_slice(bytes).or_else(|error| {
            let probe: Probe<'_> = serde_json::from_slice(bytes).map_err(|_| not_json(&error))?;
            let has_rows = probe.rows.is_some_and(|rows| rows.get().starts_with('['));
            if has_rows { Err(not_json(&error)) } else { Ok(one()) }
        })
    }

    /// Refuses a document without rows, or with more or fewer labels.
    fn check(&self) -> Result<(), Problem> {
        let bad = |message: &str| Problem::new("bad-rows", message);
        if self.labels.as_ref().is_some_and(|labels| labels.len() != self.rows.len()) {
            return Err(bad("there should be as many labels as rows")
                .with_help("a single row is put into another pair of brackets: {\"rows\": [[1, 2]]}"));
        }
        if self.rows.is_empty() {
            return Err(bad("there are no rows, expected at least one"));
        }
        Ok(())
    }

    /// One line a row, in the format that suits it.
    fn lines(&self, schema: Option<&Schema>, labelled: bool) -> Result<(&'static str, Vec<u8>), Problem> {
        let bad = |message: String| Problem::new("bad-rows", message);
        self.check()?;
        let is_text = self.rows.iter().all(|row| row.get().starts_with('"'));
        let mut out = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            let label = self.labels.as_ref().and_then(|labels| labels.get(place)).filter(|_| labelled);
            let label = label.map(|label| label.get());
            if is_text {
                if let Some(label) = label {
                    if !label.starts_with(['"', '-', 't', 'f'])
                        && !label.starts_with(|one: char| one.is_ascii_digit())
                    {
                        return Err(bad(format!(
                            "the label of row {} is missing, expected a text or a number",
                            place + 1
                        )));
                    }
                    let label: String = serde_json::from_str(label).unwrap_or_else(|_| label.to_owned());
                    if label.contains(['\t', '\n', '\r']) {
                        return Err(bad(format!(
                            "the label of row {} should be one word or line",
                            place + 1
                        )));
                    }
                    out.extend(label.bytes());
                    out.push(b'\t');
                }
                let text: String = serde_json::from_str(row.get()).map_err(|error| not_json(&error))?;
                let begun = out.len();
                out.extend(text.bytes());
                one_line(&mut out[begun..]);
            } else {
                object(&mut out, row.get(), label, schema)
                    .map_err(|message| bad(format!("row {}: {message}", place + 1)))?;
            }
            out.push(b'\n');
        }
        Ok((if is_text { "text" } else { "jsonl" }, out))
    }
}

/// What an object has below `rows`.
#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, default)]
    rows: Option<Raw<'a>>,
}

/// Writes one row as an object on a line.
fn object(out: &mut Vec<u8>, row: &str, label: Option<&str>, schema: Option<&Schema>) -> Result<(), String> {
    let begun = out.len();
    out.push(b'{');
    let cell = |out: &mut Vec<u8>, name: &str, value: &str| {
        if out.len() > begun + 1 {
            out.push(b',');
        }
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, name);
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    };
    if let Some(label) = label {
        cell(out, schema.and_then(|schema| schema.label.as_deref()).unwrap_or("label"), label);
    }
    match row.as_bytes().first() {
        Some(b'{') => {
            let inside = row.trim().trim_start_matches('{').strip_suffix('}').unwrap_or_default();
            if !inside.trim().is_empty() {
                out.extend_from_slice(if out.len() > begun + 1 { b"," } else { b"" });
                out.extend_from_slice(inside.as_bytes());
            }
        }
        Some(b'[') => {
            let columns = schema.map(|schema| schema.columns.as_slice()).unwrap_or_default();
            if columns.is_empty() {
                cell(out, "features", row);
            } else {
                let values: Vec<&RawValue> = serde_json::from_str(row).map_err(|error| error.to_string())?;
                if values.len() != columns.len() {
                    return Err(format!("it has {} values, expected {}", values.len(), columns.len()));
                }
                for (column, value) in columns.iter().zip(values) {
                    cell(out, &column.name, value.get());
                }
            }
        }
        _ => {
            return Err(
                "a row is an object, a list of values, or a text, and all are of one kind; put a single list into another pair of brackets".to_owned()
            );
        }
    }
    out.push(b'}');
    one_line(&mut out[begun..]);
    Ok(())
}
