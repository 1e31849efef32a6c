//! Files that say anything at all, with lengths and checksum put right, so that the code after those checks
//! is reached.
//!
//! Execution `k` is a function of `k` alone: a finding is repeated by naming it. The header is changed as the tree that
//! it is, the arrays as numbers; now and then bytes are changed as they come.

use crate::allocations;
use rosenblatt::learning::Random;
use rosenblatt::model::Checkpoint;
use rosenblatt::model::model_checksum;
use rosenblatt::{Dataset, Model};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What an execution may take, looking at what was believed included.
const MOST_TIME: Duration = Duration::from_secs(1);
const MOST_MEMORY: usize = 64 << 20;
/// Models up to this width are asked about a row, too: a wider one takes the room that it says.
const ASKED: usize = 1 << 16;

const PREFIX: usize = 64;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) models: u64,
    pub(crate) checkpoints: u64,
    pub(crate) refused: u64,
    pub(crate) memory: usize,
    pub(crate) slowest: Duration,
}

/// Numbers at which something overflows, wraps, begins or is no number.
fn edge(random: &mut Random) -> Value {
    let edges = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(-1),
        json!(255),
        json!(65_536),
        json!(100_000_000),
        json!(u32::MAX),
        json!(1_u64 << 31),
        json!(1_u64 << 53),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(0.5),
        json!(1e308),
        json!(5e-324),
        json!(-1e300),
        Value::Null,
        json!(true),
        json!("1"),
        json!([]),
        json!({}),
    ];
    edges[random.below(edges.len() as u64) as usize].clone()
}

const DOUBLES: [f64; 10] =
    [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324, 1e300];

/// Every place of a tree, as the way to it.
fn places(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    found.push(path.clone());
    let mut within = |name: String, value: &Value| {
        path.push(name);
        places(value, path, found);
        path.pop();
    };
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(idx, value)| within(idx.to_string(), value));
        }
        Value::Object(object) => object.iter().for_each(|(name, value)| within(name.clone(), value)),
        _ => {}
    }
}

fn at<'v>(mut value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    for name in path {
        value = match value {
            Value::Array(list) => list.get_mut(name.parse::<usize>().ok()?)?,
            Value::Object(object) => object.get_mut(name)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Changes one place of the header.
fn change(header: &mut Value, random: &mut Random) {
    let (mut all, mut path) = (Vec::new(), Vec::new());
    places(header, &mut path, &mut all);
    let any = |random: &mut Random| all[random.below(all.len() as u64) as usize].clone();
    let (place, other) = (any(random), any(random));
    let copy = at(header, &other).cloned().unwrap_or_default();
    let kind = random.below(8);
    let Some(value) = at(header, &place) else { return };
    match (kind, value) {
        (0, value) => *value = copy,
        (1, Value::Array(list)) if !list.is_empty() => {
            let idx = random.below(list.len() as u64) as usize;
            list.remove(idx);
        }
        (1, Value::Object(object)) if !object.is_empty() => {
            let name = object.keys().nth(random.below(object.len() as u64) as usize).cloned();
            object.remove(&name.unwrap_or_default());
        }
        (2, Value::Array(list)) => list.push(copy),
        (2, Value::Object(object)) => drop(object.insert(place.concat(), copy)),
        (3, Value::String(text)) => {
            *text = ["", "\u{202e}", "sketch", "0", "voted"][random.below(5) as usize].into();
        }
        (4, Value::String(text)) => *text = text.repeat(1 + random.below(400) as usize),
        (5, Value::Array(list)) if !list.is_empty() => {
            let first = list[0].clone();
            list.extend(std::iter::repeat_n(first, random.below(300) as usize));
        }
        (_, value @ (Value::Number(_) | Value::Bool(_) | Value::Null | Value::String(_))) => {
            *value = edge(random);
        }
        (_, value) if random.below(6) == 0 => *value = edge(random),
        _ => {}
    }
}

/// Changes the arrays.
fn spoil(body: &mut Vec<u8>, random: &mut Random) {
    let place = random.below(body.len() as u64 / 8 + 1) as usize * 8;
    match random.below(6) {
        0 => body.truncate(place.min(body.len())),
        1 => body.extend(std::iter::repeat_n(0, random.below(64) as usize * 4)),
        2 if !body.is_empty() => {
            let place = random.below(body.len() as u64) as usize;
            body[place] ^= 1 << random.below(8);
        }
        _ if place + 8 <= body.len() => {
            let value = DOUBLES[random.below(10) as usize];
            let small = random.below(7).to_le_bytes();
            let bytes = if random.below(3) == 0 { small } else { value.to_le_bytes() };
            body[place..place + 8].copy_from_slice(&bytes);
        }
        _ => {}
    }
}

/// Makes the counts of the arrays fill the body, as a careful liar would.
fn fill(header: &mut Value, body_len: usize, random: &mut Random) {
    let Some(Value::Array(arrays)) = header.get_mut("arrays") else { return };
    let bytes = |array: &Value| {
        let each = if array["type"] == "u32" { 4 } else { 8 };
        array["count"].as_u64().unwrap_or(0).saturating_mul(each)
    };
    let total = arrays.iter().map(bytes).fold(0, u64::saturating_add);
    let which = random.below(arrays.len().max(1) as u64) as usize;
    if let Some(array) = arrays.get_mut(which).filter(|array| array.is_object()) {
        let each = if array["type"] == "u32" { 4 } else { 8 };
        let own = (body_len as u64).saturating_sub(total - bytes(array).min(total)) / each;
        array["count"] = json!(own);
    }
}

fn parts(bytes: &[u8]) -> (&[u8], &[u8]) {
    let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    bytes[PREFIX..].split_at(length)
}

/// A whole file again, with lengths and checksum.
fn packed(prefix: &[u8], header: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = [&prefix[..PREFIX], header, body].concat();
    bytes[16..24].copy_from_slice(&(header.len() as u64).to_le_bytes());
    bytes[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
    model_checksum(&mut bytes);
    bytes
}

/// The file of execution `k`.
pub(crate) fn make(seeds: &[(&'static str, Vec<u8>)], k: u64) -> Vec<u8> {
    let mut random = Random::for_purpose(k, "crafted");
    let (_, bytes) = &seeds[random.below(seeds.len() as u64) as usize];
    let (header, body) = parts(bytes);
    let mut tree: Value = serde_json::from_slice(header).unwrap();
    let mut body = body.to_vec();
    for _ in 0..=random.below(3) {
        match random.below(4) {
            0 => spoil(&mut body, &mut random),
            _ => change(&mut tree, &mut random),
        }
    }
    if random.below(4) == 0 {
        fill(&mut tree, body.len(), &mut random);
    }
    let mut header = serde_json::to_vec(&tree).unwrap();
    if random.below(16) == 0 && !header.is_empty() {
        let place = random.below(header.len() as u64) as usize;
        header[place] = random.next() as u8;
    }
    packed(bytes, &header, &body)
}

/// The same file, saying that rows are so wide. Weights become few.
pub(crate) fn claim_width(bytes: &[u8], width: u64) -> Vec<u8> {
    let (header, body) = parts(bytes);
    let mut tree: Value = serde_json::from_slice(header).unwrap();
    let mut body = body.to_vec();
    if tree["map"].is_object() {
        tree["map"]["width"] = json!(width);
    } else if let Some(planes) = tree["hypothesis"].get_mut("hyperplanes") {
        let outputs = planes["outputs"].as_u64().unwrap();
        planes["width"] = json!(width);
        planes["sparse"] = json!(true);
        body = [&1_u32.to_le_bytes()[..], &1.5_f64.to_le_bytes(), &vec![0; 8 * outputs as usize]].concat();
        tree["arrays"] = json!([
            { "name": "places", "type": "u32", "count": 1 },
            { "name": "weights", "type": "f64", "count": 1 },
            { "name": "biases", "type": "f64", "count": outputs },
        ]);
        tree.as_object_mut().unwrap().remove("calibration");
    } else {
        for (_, hypothesis) in tree["hypothesis"].as_object_mut().unwrap() {
            hypothesis["width"] = json!(width);
        }
    }
    packed(bytes, &serde_json::to_vec(&tree).unwrap(), &body)
}

/// Reads what execution `k` makes, and looks at what is believed. The error tells what went wrong.
pub(crate) fn execute(seeds: &[(&'static str, Vec<u8>)], k: u64, tally: &mut Tally) -> Result<(), String> {
    let bytes = make(seeds, k);
    let mut fastest = Duration::MAX;
    // A busy machine may take the processor away; hardly three times.
    for _ in 0..3 {
        let start = Instant::now();
        let (outcome, memory) =
            allocations::peak_of(|| catch_unwind(AssertUnwindSafe(|| look(&bytes))).map_err(|_| "a panic"));
        fastest = fastest.min(start.elapsed());
        if fastest > MOST_TIME {
            continue;
        }
        tally.memory = tally.memory.max(memory);
        tally.slowest = tally.slowest.max(fastest);
        match outcome?? {
            Believed::Model => tally.models += 1,
            Believed::Checkpoint => tally.checkpoints += 1,
            Believed::Nothing => tally.refused += 1,
        }
        if memory > MOST_MEMORY {
            return Err(format!("{memory} bytes in use"));
        }
        return Ok(());
    }
    Err(format!("it took {fastest:?}"))
}

enum Believed {
    Model,
    Checkpoint,
    Nothing,
}

fn look(bytes: &[u8]) -> Result<Believed, &'static str> {
    if let Ok(checkpoint) = Checkpoint::from_bytes(bytes) {
        let _ = checkpoint.spec();
        return Ok(Believed::Checkpoint);
    }
    let Ok(model) = Model::from_bytes(bytes) else { return Ok(Believed::Nothing) };
    let printed = serde_json::to_string(&model.summary(5)).map_err(|_| "a summary that is no JSON")?;
    if printed.is_empty() {
        return Err("an empty summary");
    }
    let again = model.to_bytes();
    let Ok(twice) = Model::from_bytes(&again) else {
        return Err("what was believed is not believed when it is written again");
    };
    if twice.to_bytes() != again {
        return Err("what is written twice differs");
    }
    if model.width() <= ASKED && model.labels().len() <= 64 {
        let data = Dataset::from_rows(&[[0.5, -1.0, 0.25, 2.0]], &["class 0"]);
        let _ = rosenblatt::evaluate(&model, &data);
    }
    Ok(Believed::Model)
}

/// The names of the arrays of real numbers that are not empty.
pub(crate) fn real_arrays(bytes: &[u8]) -> Vec<String> {
    let tree: Value = serde_json::from_slice(parts(bytes).0).unwrap();
    let arrays = tree["arrays"].as_array().unwrap().iter();
    let real = arrays.filter(|array| array["type"] == "f64" && array["count"] != 0);
    real.map(|array| array["name"].as_str().unwrap().to_owned()).collect()
}

/// The same file with `value` as the first number of an array.
pub(crate) fn with_number(bytes: &[u8], array: &str, value: f64) -> Vec<u8> {
    let (header, body) = parts(bytes);
    let tree: Value = serde_json::from_slice(header).unwrap();
    let mut body = body.to_vec();
    let mut at = 0;
    for each in tree["arrays"].as_array().unwrap() {
        if each["name"] == array {
            break;
        }
        let size = if each["type"] == "u32" { 4 } else { 8 };
        at += each["count"].as_u64().unwrap() as usize * size;
    }
    body[at..at + 8].copy_from_slice(&value.to_le_bytes());
    packed(bytes, header, &body)
}
