//! Every command's `--json` is what `docs/json-schema.json` says, down to the last key.

use crate::bench::Bench;
use serde_json::Value;

/// As much of JSON Schema as the file uses; the error says where and what.
fn check(schema: &Value, whole: &Value, value: &Value, place: &str) -> Result<(), String> {
    for key in schema.as_object().unwrap().keys() {
        let known =
            ["$ref", "type", "enum", "anyOf", "items", "required", "properties", "additionalProperties"];
        let known =
            known.contains(&key.as_str()) || ["description", "minimum", "maximum"].contains(&key.as_str());
        assert!(known, "the checker does not know `{key}`");
    }
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        return check(&whole["$defs"][name], whole, value, place);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let outcomes: Vec<_> = choices.iter().map(|choice| check(choice, whole, value, place)).collect();
        return if outcomes.iter().any(Result::is_ok) { Ok(()) } else { outcomes[0].clone() };
    }
    if let Some(choices) = schema["enum"].as_array() {
        return if choices.contains(value) { Ok(()) } else { Err(format!("{place}: {value} is no choice")) };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() || number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |wanted: &Value| wanted == kind || (wanted == "number" && kind == "integer");
    let fits = match &schema["type"] {
        Value::Array(several) => several.iter().any(is),
        wanted => is(wanted),
    };
    if !fits {
        return Err(format!("{place}: {value} is {kind}, expected {}", schema["type"]));
    }
    if let Some(number) = value.as_f64() {
        let beyond = schema["minimum"].as_f64().is_some_and(|least| number < least)
            || schema["maximum"].as_f64().is_some_and(|most| number > most);
        if beyond {
            return Err(format!("{place}: {value} is out of range"));
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        check(&schema["items"], whole, item, &format!("{place}[{number}]"))?;
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !object.contains_key(name.as_str().unwrap()) {
            return Err(format!("{place}: {name} is missing"));
        }
    }
    for (name, inner) in object {
        let place = format!("{place}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => return Err(format!("{place} is not described")),
            (Value::Null, Value::Null) => {}
            (Value::Null, other) => check(other, whole, inner, &place)?,
            (described, _) => check(described, whole, inner, &place)?,
        }
    }
    Ok(())
}

#[test]
fn every_command_prints_what_its_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/json-schema.json")).unwrap();
    let bench = Bench::new();
    let (notes, iris) = ("crates/data/bundled/banknote.csv", "crates/data/bundled/iris.csv");
    let tags = "the D B-NP\ndog N I-NP\n\nan D B-NP\nodd N I-NP\nruns V O\n\n".repeat(4)
        + &"so R O\n\nso R B-NP\n\n".repeat(10);
    bench.write("tags.conll", &tags);
    bench.write("xor.csv", "x,y,class\n1,1,a\n1,-1,b\n-1,1,b\n-1,-1,a\n");
    bench.ok("rosenblatt train tags.conll --online --model tagger.model");
    for (name, lines) in [
        (
            "train",
            vec![
                format!("train {notes} --model n.model"),
                format!("tune {notes} --algorithms perceptron,pa1 --model tuned.model"),
                format!("train {iris} --model i.model --folds 3 --calibrate isotonic"),
                format!("train {iris} --model v.model --readout voted"),
                format!("train {notes} --model none.model --holdout 0"),
                format!("train {notes} --model n.model --bounds"),
                format!("train {iris} --model m.model --algorithm mlp --hidden 4"),
                format!("train {notes} --model bent.model --shape auto"),
                format!("train {iris} --label petal_length --model petal.model"),
            ],
        ),
        (
            "train-online",
            vec![
                format!("train {notes} --online --model o.model"),
                format!("train {notes} --online --model o.model --shape bend"),
            ],
        ),
        (
            "predict",
            vec![
                format!("predict {notes} --model n.model --scores --distance --probabilities --explain 2"),
                format!("predict {iris} --model v.model --votes --explain 2"),
                format!("predict {iris} --model i.model"),
                format!("predict {notes} --model bent.model --explain 2"),
            ],
        ),
        ("predict-numbers", vec![format!("predict {iris} --model petal.model --interval 0.9 --explain 2")]),
        (
            "evaluate",
            vec![
                format!("evaluate {notes} --model n.model"),
                format!("evaluate {notes} --model none.model"),
                format!("evaluate {iris} --model petal.model"),
                format!("evaluate {iris} --model petal.model --by species"),
            ],
        ),
        (
            "report",
            vec![
                format!("report {notes} --model n.model"),
                format!("report {notes} --model none.model"),
                format!("report {iris} --model petal.model"),
            ],
        ),
        ("compare", vec![format!("compare {iris} --folds 3 --algorithms perceptron:voted,pa1")]),
        (
            "inspect",
            ["n", "i", "v", "none", "m", "bent", "petal"]
                .map(|model| format!("inspect {model}.model"))
                .to_vec(),
        ),
        (
            "certify",
            vec![
                format!("certify {iris}"),
                format!("certify {notes}"),
                format!("certify {iris} --positive setosa --certificate setosa.json"),
                "certify xor.csv --label class".to_owned(),
                "certify xor.csv --label class --kernel poly --degree 2".to_owned(),
            ],
        ),
        ("certify-check", vec![format!("certify {iris} --check setosa.json")]),
        ("certify-model", vec![format!("certify {notes} --model n.model")]),
        ("certify-monotone", vec!["certify n.model --monotone".to_owned()]),
        (
            "trace",
            vec![
                "trace xor.csv --label class".to_owned(),
                "trace xor.csv --label class --readout averaged".to_owned(),
                format!("trace {iris} --readout voted"),
                format!("trace {iris} --algorithm pa1"),
                "trace xor.csv --label class --algorithm mlp".to_owned(),
            ],
        ),
        (
            "plot",
            vec![
                "plot boundary xor.csv --label class".to_owned(),
                format!("plot confusion {iris} -o c.png"),
                format!("plot weights {notes} --to text"),
            ],
        ),
        ("convert", vec![format!("convert {iris} i.svm")]),
        (
            "mix",
            vec![
                "mix none.model none.model -o mean.model".to_owned(),
                "mix none.model --by rows -o mean.model --quiet".to_owned(),
                "mix tagger.model tagger.model -o mean-tagger.model".to_owned(),
            ],
        ),
        ("algorithms", vec!["algorithms".to_owned(), "algorithms pa1".to_owned()]),
        ("devices", vec!["devices".to_owned()]),
        ("catalogue", vec!["catalogue".to_owned()]),
        ("demo", vec!["demo".to_owned()]),
        (
            "train-sentences",
            vec![
                "train tags.conll --model t.model --holdout 0.4".to_owned(),
                "train tags.conll --online --model plain.model".to_owned(),
                "train tags.conll --readout voted --model voted.model".to_owned(),
            ],
        ),
        ("inspect-sentences", ["t", "plain", "voted"].map(|model| format!("inspect {model}.model")).to_vec()),
        (
            "predict-sentences",
            vec![
                "predict tags.conll --model t.model --probabilities --k-best 3 --explain 2".to_owned(),
                "predict tags.conll --model plain.model".to_owned(),
                "predict tags.conll --model voted.model".to_owned(),
            ],
        ),
        ("evaluate-sentences", vec!["evaluate tags.conll --model t.model".to_owned()]),
        ("report-sentences", vec!["report tags.conll --model t.model".to_owned()]),
        ("compare-sentences", vec!["compare tags.conll --folds 2 --history 1,2".to_owned()]),
        ("trace-sentences", vec!["trace tags.conll --rounds 2".to_owned()]),
    ] {
        for line in lines {
            let printed = bench.ok(&format!("rosenblatt {line} --json"));
            let values = if name.starts_with("predict") || name.starts_with("trace") {
                printed.lines().collect()
            } else {
                vec![printed.trim_end()]
            };
            assert!(!values.is_empty(), "{line}");
            for value in values {
                let value: Value = serde_json::from_str(value).unwrap();
                let outcome = check(&schema["$defs"][name], &schema, &value, name);
                assert_eq!(outcome, Ok(()), "{line}");
            }
        }
    }
}

/// The page names every command that takes `--json`, and says of the others that they do not.
#[test]
fn the_page_knows_every_command() {
    let page = include_str!("../../../docs/json.md");
    let (words, table) = page.split_once("|---|---|").unwrap();
    let named: Vec<&str> = table.lines().filter_map(|line| line.split('|').nth(1)).collect();
    let catalogue: Value = serde_json::from_str(&Bench::new().ok("rosenblatt catalogue --json")).unwrap();
    let commands = catalogue["commands"].as_array().unwrap();
    assert!(commands.len() > 15);
    for command in commands {
        let name = command["name"].as_str().unwrap();
        let takes_json = command["options"].as_array().unwrap().iter().any(|option| option["name"] == "json");
        let is_named = |text: &str| text.contains(&format!("`{name}`"));
        assert_eq!(takes_json, named.iter().any(|cell| is_named(cell)), "{name} in the table");
        assert!(takes_json || is_named(words), "{name} has no `--json`, and the page does not say so");
    }
}

#[test]
fn the_checker_can_fail() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/json-schema.json")).unwrap();
    for (wrong, expected) in [
        (r#"{"class": 1}"#, "predict.class: 1 is integer"),
        ("{}", "predict: \"class\" is missing"),
        (r#"{"class": "a", "extra": 1}"#, "predict.extra is not described"),
        (r#"{"class": "a", "probabilities": {"a": 1.5}}"#, "out of range"),
    ] {
        let value = serde_json::from_str(wrong).unwrap();
        let error = check(&schema["$defs"]["predict"], &schema, &value, "predict").unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
