//! The Open Inference Protocol: rows as tensors, by name, in JSON or as raw bytes after it.
//!
//! One tensor of two dimensions holds whole rows; tensors of one dimension hold a column each; one tensor of bytes holds
//! texts. All become lines of a format that the data crate reads.

use crate::answers::{Answers, Wish};
use crate::problem::Problem;
use rosenblatt::{Model, Task};
use rosenblatt_data::ColumnKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
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

/// A request, taken apart.
pub struct Inference {
    /// The rows, each in JSON.
    pub rows: Vec<String>,
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
                tensor.name,
                found.len()
            )));
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
        "BYTES" => texts(bytes)?,
        _ => return Err(bad(format!("tensor `{}` has a type that is not supported", tensor.name))),
    };
    if found.len() != n_values {
        return Err(bad(format!("tensor `{}` has {} values, expected {n_values}", tensor.name, found.len())));
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
        let rows = match request.inputs.as_slice() {
            [] => return Err(bad("there are no inputs")),
            [tensor] if tensor.shape.len() == 2 && tensor.datatype != "BYTES" => {
                let values = values(tensor, &mut raw, most)?;
                let rows = values.chunks(tensor.shape[1].max(1)).map(|row| format!("[{}]", row.join(",")));
                rows.collect::<Vec<_>>()
            }
            [tensor] if tensor.datatype == "BYTES" => values(tensor, &mut raw, most)?,
            tensors => {
                let n_rows = tensors[0].shape.first().copied().unwrap_or(0);
                let mut rows = vec![String::from("{"); n_rows.min(most)];
                for (place, tensor) in tensors.iter().enumerate() {
                    let values = values(tensor, &mut raw, most)?;
                    if values.len() != rows.len() {
                        return Err(bad("tensors that are columns have one value a row each"));
                    }
                    for (row, value) in rows.iter_mut().zip(values) {
                        let comma = if place > 0 { "," } else { "" };
                        // Writing to a string cannot fail.
                        let _ = write!(row, "{comma}{}:{value}", json!(tensor.name));
                    }
                }
                rows.into_iter().map(|row| row + "}").collect()
            }
        };
        Ok(Self {
            rows,
            id: request.id,
            binary: is_on(&request.parameters, "binary_data_output"),
            outputs: request
                .outputs
                .iter()
                .map(|output| (output.name.clone(), is_on(&output.parameters, "binary_data")))
                .collect(),
        })
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
        // A sentence is no tensor.
        return json!({"name": name, "versions": versions, "platform": "rosenblatt", "inputs": [], "outputs": []});
    }
    let schema = model.schema();
    let columns = schema.map(|schema| schema.columns.as_slice()).unwrap_or_default();
    let is_number = |kind: &ColumnKind| matches!(kind, ColumnKind::Number { .. });
    let inputs = if schema.is_some_and(|schema| schema.text.is_some()) {
        json!([{"name": "text", "datatype": "BYTES", "shape": [-1]}])
    } else if columns.iter().all(|column| is_number(&column.kind)) {
        let width = if columns.is_empty() { model.width() } else { columns.len() };
        json!([{"name": "rows", "datatype": "FP64", "shape": [-1, width]}])
    } else {
        let datatype = |kind| if is_number(kind) { "FP64" } else { "BYTES" };
        columns
            .iter()
            .map(|column| json!({"name": column.name, "datatype": datatype(&column.kind), "shape": [-1]}))
            .collect()
    };
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
