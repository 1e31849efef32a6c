//! The Open Inference Protocol: rows as tensors, by name, in JSON or as raw bytes after it.
//!
//! One tensor of two dimensions, `rows`, holds whole rows; tensors of one dimension hold the column each that they are called
//! after; one tensor of bytes, `text`, holds texts. Metadata says which of these a model takes, and a tensor of another name
//! or of another kind of values is refused. All become lines of a format that the data crate reads.

use crate::answers::{Answers, Wish};
use crate::live::cut;
use crate::problem::Problem;
use rosenblatt::{Model, Task};
use rosenblatt_data::{ColumnKind, closest};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    id: Option<String>,
    inputs: Vec<Tensor>,
    #[serde(default)]
    outputs: Vec<Output>,
    #[serde(default)]
    parameters: Value,
}

#[derive(Deserialize)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    data: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    #[serde(default)]
    parameters: Value,
}

fn bad(message: impl Into<String>) -> Problem {
    Problem::new("bad-body", message)
}

/// The type of texts.
const BYTES: &str = "BYTES";
/// The types of numbers.
const NUMBERS: [&str; 11] =
    ["FP64", "FP32", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8", "BOOL"];

/// As many inputs as a message lists.
const NAMED: usize = 20;

/// What a tensor that a model takes has in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Whole rows, this many numbers each.
    Rows(usize),
    Texts,
    /// A column of numbers, or of names.
    Numbers,
    Names,
}

/// A tensor that a model takes.
struct Input<'a> {
    name: &'a str,
    holds: Holds,
}

impl Input<'_> {
    fn datatype(&self) -> &'static str {
        match self.holds {
            Holds::Rows(_) | Holds::Numbers => "FP64",
            Holds::Texts | Holds::Names => BYTES,
        }
    }

    /// Its sides, of which the first is the number of rows.
    fn shape(&self) -> Value {
        match self.holds {
            Holds::Rows(width) => json!([-1, width]),
            _ => json!([-1]),
        }
    }

    fn to_json(&self) -> Value {
        json!({"name": self.name, "datatype": self.datatype(), "shape": self.shape()})
    }

    /// Whether such a tensor can be read as this input.
    fn suits(&self, given: &Given) -> bool {
        let is_text = given.datatype == BYTES;
        let is_kind = match self.holds {
            Holds::Rows(_) | Holds::Numbers => !is_text,
            Holds::Texts => is_text,
            // A name may be written as a number.
            Holds::Names => true,
        };
        // A column may come as a table of one.
        let is_column = matches!(given.shape.as_slice(), [_] | [_, 1]);
        is_kind && if matches!(self.holds, Holds::Rows(_)) { given.shape.len() == 2 } else { is_column }
    }
}

/// What a model takes, as metadata has it, and its columns, in which rows of numbers may come as well.
fn inputs(model: &Model) -> (Vec<Input<'_>>, Vec<Input<'_>>) {
    if model.task() == Task::Tags {
        // A sentence is no tensor.
        return (Vec::new(), Vec::new());
    }
    let schema = model.schema();
    if schema.is_some_and(|schema| schema.text.is_some()) {
        return (vec![Input { name: "text", holds: Holds::Texts }], Vec::new());
    }
    let columns = schema.map(|schema| schema.columns.as_slice()).unwrap_or_default();
    let of_columns: Vec<Input<'_>> = columns
        .iter()
        .map(|column| match column.kind {
            ColumnKind::Number { .. } => Input { name: &column.name, holds: Holds::Numbers },
            _ => Input { name: &column.name, holds: Holds::Names },
        })
        .collect();
    if of_columns.iter().any(|column| column.holds == Holds::Names) {
        return (of_columns, Vec::new());
    }
    let width = if columns.is_empty() { model.width() } else { columns.len() };
    (vec![Input { name: "rows", holds: Holds::Rows(width) }], of_columns)
}

/// A tensor of a request, with its values as JSON texts.
struct Given {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    values: Vec<String>,
}

/// A request, taken apart.
pub struct Inference {
    tensors: Vec<Given>,
    id: Option<String>,
    outputs: Vec<(String, bool)>,
    binary: bool,
}

/// What goes back: a head in JSON, and how long it is if raw bytes follow.
pub(crate) struct Inferred {
    pub(crate) bytes: Vec<u8>,
    pub(crate) head: Option<usize>,
}

/// The most values of one request.
fn n_values(shape: &[usize], most: usize) -> Result<usize, Problem> {
    let total = shape.iter().try_fold(1_usize, |total, side| total.checked_mul(*side));
    total
        .filter(|total| *total <= most)
        .ok_or_else(|| Problem::new("limit", "a tensor is larger than the body can hold"))
}

/// Values of a tensor as JSON texts.
fn values(tensor: &Tensor, raw: &mut &[u8], most: usize) -> Result<Vec<String>, Problem> {
    fn numbers<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> String) -> Vec<String> {
        bytes.as_chunks::<N>().0.iter().map(|chunk| read(*chunk)).collect()
    }
    let n_values = n_values(&tensor.shape, most)?;
    let size = tensor.parameters.get("binary_data_size").and_then(Value::as_u64);
    let Some(size) = size else {
        let data = tensor.data.as_ref().ok_or_else(|| bad("a tensor has no data"))?;
        let mut found = Vec::new();
        flatten(data.get(), &mut found, 0)?;
        if found.len() != n_values {
            return Err(bad(format!(
                "tensor `{}` has {} values, expected {n_values}",
                cut(&tensor.name),
                found.len()
            )));
        }
        let is_of_type = |value: &&String| match tensor.datatype.as_str() {
            BYTES => value.starts_with('"'),
            "BOOL" => matches!(value.as_str(), "true" | "false" | "null"),
            // A value that is missing is null.
            _ => {
                value.starts_with('-')
                    || value.starts_with(|one: char| one.is_ascii_digit())
                    || *value == "null"
            }
        };
        if let Some(value) = found.iter().find(|value| !is_of_type(value)) {
            let (name, datatype, value) = (cut(&tensor.name), &tensor.datatype, cut(value));
            return Err(bad(format!("tensor `{name}` has type {datatype}, and a value of it is {value}")));
        }
        return Ok(found);
    };
    let size = usize::try_from(size).ok().filter(|size| *size <= raw.len());
    let (bytes, rest) = raw.split_at(size.ok_or_else(|| bad("there are fewer raw bytes than announced"))?);
    *raw = rest;
    let found = match tensor.datatype.as_str() {
        "FP64" => numbers(bytes, |bits| json!(f64::from_le_bytes(bits)).to_string()),
        "FP32" => numbers(bytes, |bits| json!(f32::from_le_bytes(bits)).to_string()),
        "INT64" => numbers(bytes, |bits| i64::from_le_bytes(bits).to_string()),
        "INT32" => numbers(bytes, |bits| i32::from_le_bytes(bits).to_string()),
        "INT16" => numbers(bytes, |bits| i16::from_le_bytes(bits).to_string()),
        "INT8" => numbers(bytes, |bits| i8::from_le_bytes(bits).to_string()),
        "UINT64" => numbers(bytes, |bits| u64::from_le_bytes(bits).to_string()),
        "UINT32" => numbers(bytes, |bits| u32::from_le_bytes(bits).to_string()),
        "UINT16" => numbers(bytes, |bits| u16::from_le_bytes(bits).to_string()),
        "UINT8" => numbers(bytes, |bits| u8::from_le_bytes(bits).to_string()),
        "BOOL" => numbers(bytes, |[byte]| (byte != 0).to_string()),
        BYTES => texts(bytes)?,
        _ => return Err(bad("a tensor has a type that is not supported")),
    };
    if found.len() != n_values {
        return Err(bad(format!(
            "tensor `{}` has {} values, expected {n_values}",
            cut(&tensor.name),
            found.len()
        )));
    }
    Ok(found)
}

/// Texts, each after its length.
fn texts(mut bytes: &[u8]) -> Result<Vec<String>, Problem> {
    let mut found = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (text, rest) =
            rest.split_at_checked(length).ok_or_else(|| bad("a text is longer than its tensor"))?;
        let text = std::str::from_utf8(text).map_err(|_| bad("a text is not valid UTF-8"))?;
        found.push(json!(text).to_string());
        bytes = rest;
    }
    if bytes.is_empty() { Ok(found) } else { Err(bad("a text has no length")) }
}

/// Lists within lists, as deep as tensors go.
fn flatten(text: &str, found: &mut Vec<String>, depth: usize) -> Result<(), Problem> {
    if !text.starts_with('[') {
        found.push(text.to_owned());
        return Ok(());
    }
    if depth > 4 {
        return Err(bad("the data of a tensor is nested too deeply"));
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
    items.iter().try_for_each(|item| flatten(item.get(), found, depth + 1))
}

/// Why a tensor is refused whose name the model does not know, with those that it does.
fn unknown_input(name: &str, documented: &[Input<'_>], columns: &[Input<'_>]) -> Problem {
    let names = documented.iter().chain(columns).map(|input| input.name);
    let meant =
        closest(name, names).map_or_else(String::new, |meant| format!("did you mean `{}`? ", cut(meant)));
    let described =
        |input: &Input<'_>| format!("`{}` ({} {})", cut(input.name), input.datatype(), input.shape());
    let listed: Vec<String> = documented.iter().take(NAMED).map(described).collect();
    let more = if documented.len() > NAMED { ", and more" } else { "" };
    let or_columns = if columns.is_empty() { "" } else { ", or a tensor for each column" };
    let help =
        format!("{meant}the model takes {}{more}{or_columns}; see GET /v2/models/NAME", listed.join(", "));
    bad(format!("the model has no input `{}`", cut(name))).with_help(help)
}

/// Rows of tensors that hold a column each.
fn by_columns(tensors: &[Given]) -> Result<Vec<String>, Problem> {
    let n_rows = tensors.first().map_or(0, |tensor| tensor.values.len());
    let mut rows = vec![String::from("{"); n_rows];
    for (place, tensor) in tensors.iter().enumerate() {
        if tensor.values.len() != n_rows {
            return Err(bad("tensors that are columns have one value a row each"));
        }
        for (row, value) in rows.iter_mut().zip(&tensor.values) {
            let comma = if place > 0 { "," } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(row, "{comma}{}:{value}", json!(tensor.name));
        }
    }
    Ok(rows.into_iter().map(|row| row + "}").collect())
}

impl Inference {
    /// Takes a body apart, of which the first `head` bytes are JSON, or all of it.
    pub fn parse(bytes: &[u8], head: Option<usize>) -> Result<Self, Problem> {
        let head = head.unwrap_or(bytes.len());
        let (head, mut raw) =
            bytes.split_at_checked(head).ok_or_else(|| bad("the head is longer than the body"))?;
        let request: Request = serde_json::from_slice(head)
            .map_err(|error| bad(format!("the body is no inference request: {error}")))?;
        // Every value takes a byte at least.
        let most = bytes.len();
        let is_on =
            |parameters: &Value, name: &str| parameters.get(name).and_then(Value::as_bool).unwrap_or(false);
        if request.inputs.is_empty() {
            return Err(bad("there are no inputs"));
        }
        let tensors = request.inputs.into_iter().map(|tensor| {
            if tensor.datatype != BYTES && !NUMBERS.contains(&tensor.datatype.as_str()) {
                let (name, datatype) = (cut(&tensor.name), cut(&tensor.datatype));
                let message = format!("tensor `{name}` has type `{datatype}`, which is not supported");
                return Err(
                    bad(message).with_help(format!("send {}, or {BYTES} for texts", NUMBERS.join(", ")))
                );
            }
            let values = values(&tensor, &mut raw, most)?;
            let Tensor { name, shape, datatype, .. } = tensor;
            Ok(Given { name, shape, datatype, values })
        });
        let tensors = tensors.collect::<Result<Vec<_>, Problem>>()?;
        Ok(Self {
            tensors,
            id: request.id,
            binary: is_on(&request.parameters, "binary_data_output"),
            outputs: request
                .outputs
                .iter()
                .map(|output| (output.name.clone(), is_on(&output.parameters, "binary_data")))
                .collect(),
        })
    }

    /// The rows, each in JSON; an error where the model takes no such tensors.
    pub fn rows(&self, model: &Model) -> Result<Vec<String>, Problem> {
        if model.task() == Task::Tags {
            model.check_task(Task::Classes)?;
        }
        let (documented, columns) = inputs(model);
        let known: HashMap<&str, &Input<'_>> =
            columns.iter().chain(&documented).map(|input| (input.name, input)).collect();
        let mut found: HashMap<&str, &Input<'_>> = HashMap::new();
        for tensor in &self.tensors {
            let Some(&input) = known.get(tensor.name.as_str()) else {
                return Err(unknown_input(&tensor.name, &documented, &columns));
            };
            let name = cut(&tensor.name);
            if !input.suits(tensor) {
                let (was, shape) = (&tensor.datatype, &tensor.shape);
                let (datatype, sides) = (input.datatype(), input.shape());
                let message =
                    format!("tensor `{name}` is {was} {shape:?}, and the model takes {datatype} {sides}");
                return Err(bad(message).with_help("see GET /v2/models/NAME"));
            }
            if found.insert(input.name, input).is_some() {
                return Err(bad(format!("tensor `{name}` is there twice")));
            }
        }
        let whole = found.values().find(|input| matches!(input.holds, Holds::Rows(_) | Holds::Texts));
        match (whole, self.tensors.as_slice()) {
            (None, tensors) => by_columns(tensors),
            (Some(input), [tensor]) if input.holds == Holds::Texts => Ok(tensor.values.clone()),
            (Some(_), [tensor]) => {
                let rows = tensor.values.chunks(tensor.shape[1].max(1));
                Ok(rows.map(|row| format!("[{}]", row.join(","))).collect())
            }
            (Some(input), _) => {
                Err(bad(format!("tensor `{}` holds whole rows, and should be the only one", input.name)))
            }
        }
    }

    /// What must be asked of the model.
    pub(crate) fn wish(&self, model: &Model) -> Result<Wish, Problem> {
        let is_number = model.task() == Task::Numbers;
        let known: &[&str] = if is_number { &["prediction"] } else { &["class", "scores", "probabilities"] };
        if let Some((name, _)) = self.outputs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(bad(format!("there is no output `{name}`; there is {}", known.join(", "))));
        }
        let wants = |name: &str| self.outputs.iter().any(|(output, _)| output == name);
        let all = self.outputs.is_empty() && !is_number;
        Ok(Wish {
            scores: all || wants("scores"),
            probabilities: wants("probabilities") || (all && model.calibration().is_some()),
            explain: None,
        })
    }

    /// What goes back.
    pub(crate) fn answer(
        &self,
        name: &str,
        version: u64,
        model: &Model,
        answers: &Answers<'_>,
    ) -> Result<Inferred, Problem> {
        let n_rows = answers.classes.len();
        let is_number = model.task() == Task::Numbers;
        let left_out = answers.classes.iter().position(Option::is_none);
        if let Some(row) = left_out.filter(|_| answers.scores.len() + answers.shares.len() > 0) {
            let message =
                format!("row {} lacks a value, and a tensor has no place for a row left out", row + 1);
            return Err(Problem::new("bad-rows", message).with_help("send the value, or leave the row out"));
        }
        let label =
            |class: &Option<u32>| class.map_or(String::new(), |class| model.labels().name(class).to_owned());
        let mut outputs = Vec::new();
        let mut raw = Vec::new();
        let is_binary =
            |name: &str| self.binary || self.outputs.iter().any(|(output, binary)| output == name && *binary);
        let wants =
            |name: &str| self.outputs.is_empty() || self.outputs.iter().any(|(output, _)| output == name);
        if !is_number && wants("class") {
            let classes = answers.classes.iter().map(label);
            if is_binary("class") {
                let before = raw.len();
                for class in classes {
                    raw.extend(u32::try_from(class.len()).unwrap_or(0).to_le_bytes());
                    raw.extend(class.bytes());
                }
                let size = raw.len() - before;
                outputs.push(json!({"name": "class", "datatype": "BYTES", "shape": [n_rows], "parameters": {"binary_data_size": size}}));
            } else {
                let data: Vec<String> = classes.collect();
                outputs.push(json!({"name": "class", "datatype": "BYTES", "shape": [n_rows], "data": data}));
            }
        }
        let scores = if is_number { "prediction" } else { "scores" };
        for (output, values) in [(scores, &answers.scores), ("probabilities", &answers.shares)] {
            if values.is_empty() || !wants(output) {
                continue;
            }
            let shape = if is_number { vec![n_rows] } else { vec![n_rows, values.len() / n_rows.max(1)] };
            if is_binary(output) {
                raw.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                let size = values.len() * 8;
                outputs.push(json!({"name": output, "datatype": "FP64", "shape": shape, "parameters": {"binary_data_size": size}}));
            } else {
                outputs.push(json!({"name": output, "datatype": "FP64", "shape": shape, "data": values}));
            }
        }
        let mut head = json!({"model_name": name, "model_version": version.to_string(), "outputs": outputs});
        if let Some(id) = &self.id {
            head["id"] = json!(id);
        }
        let mut bytes = head.to_string().into_bytes();
        let head = (!raw.is_empty()).then_some(bytes.len());
        bytes.extend(raw);
        Ok(Inferred { bytes, head })
    }
}

/// What the protocol tells of a model.
pub(crate) fn metadata(name: &str, versions: &[u64], model: &Model) -> Value {
    let versions: Vec<String> = versions.iter().map(u64::to_string).collect();
    if model.task() == Task::Tags {
        return json!({"name": name, "versions": versions, "platform": "rosenblatt", "inputs": [], "outputs": []});
    }
    let inputs: Vec<Value> = inputs(model).0.iter().map(Input::to_json).collect();
    let n_outputs = if model.labels().len() == 2 {
        1
    } else {
        model.pairs().map_or(model.labels().len(), |pairs| pairs.len())
    };
    let mut outputs = if model.task() == Task::Numbers {
        vec![json!({"name": "prediction", "datatype": "FP64", "shape": [-1]})]
    } else {
        vec![
            json!({"name": "class", "datatype": "BYTES", "shape": [-1]}),
            json!({"name": "scores", "datatype": "FP64", "shape": [-1, n_outputs]}),
        ]
    };
    if model.calibration().is_some() {
        outputs
            .push(json!({"name": "probabilities", "datatype": "FP64", "shape": [-1, model.labels().len()]}));
    }
    json!({"name": name, "versions": versions, "platform": "rosenblatt", "inputs": inputs, "outputs": outputs})
}
