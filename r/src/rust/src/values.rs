//! Values of R as JSON, and back.

use extendr_api::prelude::*;
use serde_json::{Map, Value, json};

/// What R gave, as JSON: a vector of one is a value, named ones are objects, NULL and NA are nothing.
pub(crate) fn from_r(given: &Robj) -> Value {
    let items: Vec<Value> = if let Some(list) = given.as_list() {
        list.values().map(|item| from_r(&item)).collect()
    } else if let Some(numbers) = given.as_real_slice() {
        numbers.iter().map(|&number| whole(number)).collect()
    } else if let Some(switches) = given.as_logical_slice() {
        let switch = |switch: &Rbool| if switch.is_na() { Value::Null } else { json!(switch.is_true()) };
        switches.iter().map(switch).collect()
    } else if let Some(counts) = given.as_integers() {
        counts.iter().map(|count| if count.is_na() { Value::Null } else { json!(count.0) }).collect()
    } else if let Some(texts) = given.as_str_iter() {
        texts.map(|text| if text.is_na() { Value::Null } else { json!(text) }).collect()
    } else {
        return Value::Null;
    };
    match given.names() {
        Some(names) => Value::Object(names.map(str::to_owned).zip(items).collect()),
        None if items.len() == 1 && !given.is_list() => items.into_iter().next().unwrap_or_default(),
        None => Value::Array(items),
    }
}

/// Whole numbers are whole, as R users rarely write `5L`.
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < (1_u64 << 53) as f64 {
        if number < 0.0 { json!(number as i64) } else { json!(number as u64) }
    } else {
        json!(number)
    }
}

/// Texts, one or several.
pub(crate) fn texts(given: &Robj) -> Vec<String> {
    given.as_str_iter().map(|texts| texts.map(str::to_owned).collect()).unwrap_or_default()
}

/// JSON as R has it: lists of one kind are vectors, objects are named lists.
pub(crate) fn to_r(value: &Value) -> Robj {
    match value {
        Value::Null => ().into(),
        Value::Bool(is_on) => (*is_on).into(),
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            if let Some(numbers) = all(items, Value::as_f64) {
                numbers.into()
            } else if let Some(texts) = all(items, Value::as_str) {
                texts.into()
            } else if let Some(switches) = all(items, Value::as_bool) {
                switches.into()
            } else {
                List::from_values(items.iter().map(to_r)).into()
            }
        }
        Value::Object(fields) => named(fields),
    }
}

fn all<'a, T>(items: &'a [Value], of: impl Fn(&'a Value) -> Option<T>) -> Option<Vec<T>> {
    if items.is_empty() { None } else { items.iter().map(of).collect() }
}

fn named(fields: &Map<String, Value>) -> Robj {
    // R users have no dashes in names.
    let names: Vec<String> = fields.keys().map(|name| name.replace('-', "_")).collect();
    List::from_pairs(names.iter().map(String::as_str).zip(fields.values().map(to_r)).collect::<Vec<_>>())
        .into()
}
