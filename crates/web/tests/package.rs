//! What the package for Node and browsers asks, natively; `cargo xtask npm` asks the same of the module.
#![cfg(feature = "package")]

use rosenblatt::catalogue;
use rosenblatt::data::Source;
use rosenblatt::learning::{Setting, Takes};
use rosenblatt::{Model, Recipe};
use rosenblatt_data::bundled;
use rosenblatt_web::package::{Package, name, reads, training};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

fn ask(package: &mut Package, request: &Value, bytes: &[u8]) -> Value {
    serde_json::from_str(&package.ask(request.to_string().as_bytes(), bytes.to_vec())).unwrap()
}

/// The error that a request is answered with.
fn refused(request: &Value, bytes: &[u8]) -> String {
    let answer = ask(&mut Package::default(), request, bytes);
    answer["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Trains, and opens the model again; its number and its file.
fn trained(package: &mut Package, settings: &Value, bytes: &[u8]) -> (Value, Vec<u8>, Value) {
    let request = json!({ "do": "train", "name": "data.csv", "settings": settings });
    let answer = ask(package, &request, bytes);
    assert!(answer["error"].is_null(), "{settings}: {answer}");
    let file = package.bytes().to_vec();
    assert_eq!(answer["bytes"], file.len());
    let opened = ask(package, &json!({ "do": "open" }), &file);
    (opened, file, answer["report"].clone())
}

const ROWS: &str =
    "size,colour,label\n1,red,a\n2,red,a\n,blue,b\n9,blue,b\n8,blue,b\n1,red,a\n7,blue,b\n2,red,a\n";

#[test]
fn a_training_gives_the_file_of_the_recipe_and_its_report() {
    let iris = bundled::IRIS.as_bytes();
    let mut package = Package::default();
    for (settings, recipe) in [
        (json!({}), json!({})),
        (
            json!({ "algorithm": "pa1", "param": { "C": 0.5 }, "readout": "voted", "epochs": 7, "noRefit": true, "holdout": 0.3 }),
            json!({ "choice": "given", "refit": false, "estimate": { "hold-out": 0.3 },
                    "learning": { "algorithm": "pa1", "params": { "C": 0.5 }, "readout": "voted", "epochs": 7 } }),
        ),
        (
            json!({ "algorithm": "perceptron", "kernel": "rbf", "gamma": 0.5, "stopWhenClean": false, "folds": 3 }),
            json!({ "choice": "given", "estimate": { "folds": 3 },
                    "learning": { "algorithm": "perceptron", "stop-when-clean": false,
                                  "kernel": { "name": "rbf", "params": { "gamma": 0.5 } } } }),
        ),
        (
            json!({ "algorithm": "mlp", "hidden": [4, 3], "epochs": 5, "ignore": ["sepal_width"], "seed": 3 }),
            json!({ "choice": "given", "reading": { "ignore": ["sepal_width"] },
                    "learning": { "algorithm": "mlp", "epochs": 5, "seed": 3, "network": { "sizes": [4, 3] } } }),
        ),
    ] {
        let recipe: Recipe = serde_json::from_value(recipe).unwrap();
        let wanted = recipe.train(&Source::bytes("data.csv", iris.to_vec()), &mut ());
        let wanted = wanted.unwrap_or_else(|error| panic!("{settings}: {error}"));
        let (_, file, report) = trained(&mut package, &settings, iris);
        assert!(file == wanted.model.to_bytes(), "{settings}: another model");
        assert_eq!(report, wanted.report(), "{settings}");
    }
}

#[test]
fn models_are_kept_side_by_side_and_say_what_the_engine_says() {
    let mut package = Package::default();
    let missing = json!({ "algorithm": "perceptron", "missing": "drop" });
    let (pets, file, _) = trained(&mut package, &missing, ROWS.as_bytes());
    let (iris, _, _) = trained(&mut package, &json!({ "algorithm": "perceptron" }), bundled::IRIS.as_bytes());
    assert_ne!(pets["model"], iris["model"]);
    assert_eq!(pets["classes"], json!(["a", "b"]));
    let predict = |what: &str, model: &Value| json!({ "do": "predict", "model": model["model"], "what": what, "name": "new.csv", "settings": {} });
    // The row that lacks a value keeps its place.
    let answer = ask(&mut package, &predict("answers", &pets), ROWS.as_bytes());
    assert_eq!(answer, json!({ "rows": 8, "width": 1 }));
    let classes: Vec<Option<u32>> =
        package.numbers().iter().map(|class| (!class.is_nan()).then_some(*class as u32)).collect();
    assert_eq!(classes, [Some(0), Some(0), None, Some(1), Some(1), Some(0), Some(1), Some(0)]);
    let answer = ask(&mut package, &predict("probabilities", &iris), bundled::IRIS.as_bytes());
    assert_eq!(answer["width"], 3);
    for of_row in package.numbers().chunks(3) {
        assert!((of_row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{of_row:?}");
    }
    let request = json!({ "do": "evaluate", "model": iris["model"], "name": "iris.csv", "settings": {} });
    assert_eq!(ask(&mut package, &request, bundled::IRIS.as_bytes())["rows"], 150);
    let printed = ask(&mut package, &json!({ "do": "summary", "model": pets["model"], "most": 2 }), b"");
    assert_eq!(printed, Model::from_bytes(&file).unwrap().describe(2));
    ask(&mut package, &json!({ "do": "close", "model": pets["model"] }), b"");
    assert_eq!(ask(&mut package, &predict("answers", &pets), b"")["error"], "the model was freed");
    assert!(ask(&mut package, &predict("answers", &iris), bundled::IRIS.as_bytes())["error"].is_null());
}

#[test]
fn numbers_are_predicted() {
    let rows: Vec<String> = (0..60).map(|i| format!("{i},{},{}", i % 7, 3 * i - 2 * (i % 7))).collect();
    let mut package = Package::default();
    let settings = json!({ "task": "regression", "label": "y" });
    let table = format!("x,z,y\n{}\n", rows.join("\n"));
    let (model, _, report) = trained(&mut package, &settings, table.as_bytes());
    assert_eq!((&model["task"], &report["task"]), (&json!("numbers"), &json!("numbers")));
    let request = json!({ "do": "predict", "model": model["model"], "what": "answers", "name": "new.csv", "settings": {} });
    ask(&mut package, &request, b"x,z\n10,3\n");
    assert!((package.numbers()[0] - 24.0).abs() < 1.0, "{:?}", package.numbers());
    let request = json!({ "do": "predict", "model": model["model"], "what": "probabilities", "name": "new.csv", "settings": {} });
    assert!(ask(&mut package, &request, b"x,z\n10,3\n")["error"].is_string());
}

#[test]
fn certificates_are_found_and_checked() {
    let mut package = Package::default();
    let request = json!({ "do": "certify", "name": "iris.csv", "settings": { "positive": "setosa" } });
    let answer = ask(&mut package, &request, bundled::IRIS.as_bytes());
    let study = &answer["studies"][0];
    assert_eq!(study["findings"]["verdict"], "separable", "{answer}");
    let check = |certificate: &Value| json!({ "do": "check", "certificate": certificate, "name": "iris.csv", "settings": {} });
    let answer = ask(&mut package, &check(&study["certificate"]), bundled::IRIS.as_bytes());
    assert_eq!(answer["positive"], "setosa");
    let others = bundled::IRIS.replace("setosa", "SETOSA");
    assert!(refused(&check(&study["certificate"]), others.as_bytes()).contains("setosa"));
    assert!(refused(&check(&json!({})), b"").starts_with("not a certificate"));
}

#[test]
fn what_is_wrong_is_said() {
    let train = |settings: Value| json!({ "do": "train", "name": "data.csv", "settings": settings });
    for (settings, words) in [
        (json!({ "lable": "x" }), "there is no setting `lable` here; did you mean `label`?"),
        (json!({ "maxupdates": 3 }), "did you mean `maxUpdates`?"),
        (json!({ "threads": 3 }), "there is no setting `threads` here"),
        (json!({ "epochs": "many" }), "`epochs` should be a whole number, 1 or more, but is `many`"),
        (json!({ "epochs": [1] }), "`epochs` cannot be [1]"),
        (json!({ "online": "yes" }), "`online` cannot be \"yes\""),
        (json!({ "folds": 3, "holdout": 0.1 }), "`folds` and `holdout` are two ways"),
        (json!({ "gamma": 3 }), "`gamma` is about a kernel"),
        (json!({ "algorithm": "percetpron" }), "did you mean `perceptron`?"),
        (json!({ "label": "kind" }), "kind"),
        (json!({}), "missing"),
    ] {
        let printed = refused(&train(settings.clone()), ROWS.as_bytes());
        assert!(printed.contains(words), "{settings}: {printed}");
    }
    assert!(refused(&json!({ "do": "open" }), b"no model").contains("model"));
    assert!(refused(&json!({ "do": "dance" }), b"").contains("no such request"));
}

/// A setting's type in TypeScript.
fn type_of(setting: &Setting) -> String {
    let one_of = |names: &[&str]| {
        let is_form = |name: &&str| name.contains(char::is_uppercase) || name.contains('(');
        let fixed = names.iter().filter(|name| !is_form(name)).map(|name| format!("'{name}'"));
        // Forms with a number inside are spelled in many ways.
        let more = names.iter().any(is_form).then(|| "(string & {})".to_owned());
        fixed.chain(more).collect::<Vec<_>>().join(" | ")
    };
    match setting.takes {
        Takes::Switch => "boolean".to_owned(),
        Takes::AtLeast(_) | Takes::Between(..) | Takes::Positive | Takes::FromZero => "number".to_owned(),
        Takes::Bytes | Takes::Column => "number | string".to_owned(),
        Takes::Texts => "string | readonly string[]".to_owned(),
        Takes::Counts => "readonly number[]".to_owned(),
        Takes::Pairs => "readonly (readonly [string, string])[]".to_owned(),
        _ if setting.means.is_some() => "boolean".to_owned(),
        Takes::Choice("rate") => "number | (string & {})".to_owned(),
        Takes::Choice("algorithm") => format!("'auto' | {}", one_of(&catalogue().names("algorithm"))),
        // A module reads fewer than the program.
        Takes::Choice("format") => "string".to_owned(),
        Takes::Choice(table) if setting.choices.is_empty() => one_of(&catalogue().names(table)),
        Takes::Choice(_) => one_of(&setting.choices.iter().map(|named| named.name).collect::<Vec<_>>()),
        Takes::Numbers => "Readonly<Record<string, number>>".to_owned(),
        Takes::ByClass => "'balanced' | Readonly<Record<string, number>>".to_owned(),
        Takes::Size => "readonly [number, number]".to_owned(),
        Takes::Run => "number | readonly [number, number]".to_owned(),
        _ => "string".to_owned(),
    }
}

fn member(name: &str, printed: &str, of_type: &str) -> String {
    format!("  /** {printed}. */\n  readonly {name}?: {of_type};\n")
}

fn members(settings: &[&Setting]) -> String {
    let of = |setting: &&Setting| {
        let off = if setting.means == Some("false") { "Turn off: " } else { "" };
        let details = if setting.details().is_empty() { "" } else { ". " };
        let printed = format!("{off}{}{details}{}", setting.meaning(), setting.details());
        member(&name(setting.flag.unwrap()), &printed.replace("*/", "* /"), &type_of(setting))
    };
    settings.iter().map(of).collect()
}

/// The types of settings are written from their declarations: `UPDATE_SNAPSHOTS=1` writes them.
#[test]
fn types_are_those_of_the_settings() {
    let reads = reads();
    let training: Vec<&Setting> = training().into_iter().skip(reads.len()).collect();
    let mut text = "// The settings of Rosenblatt. Written by a test of `crates/web` from their declarations: do not edit.\n\n\
                    /** How a file is read. */\nexport interface ReadingSettings {\n"
        .to_owned();
    text.push_str(&members(&reads));
    text.push_str(
        "}\n\n/** How a training goes. */\nexport interface TrainingSettings extends ReadingSettings {\n",
    );
    text.push_str(&members(&training));
    for kernel in catalogue().kernels {
        for param in kernel.params {
            if !text.contains(&format!("readonly {}?:", param.name)) {
                text.push_str(&member(
                    param.name,
                    &format!("Of a kernel: {}", param.meaning),
                    "number | 'scale' | 'auto'",
                ));
            }
        }
    }
    for (name, printed, of_type) in [
        ("holdout", "Share of the rows to estimate the error on; 0 for no estimate", "number"),
        ("folds", "Number of folds to estimate the error on", "number"),
        ("classes", "All classes, in their order", "readonly string[]"),
        ("threshold", "Predict the positive class where its probability is at least this", "number"),
    ] {
        text.push_str(&member(name, printed, of_type));
    }
    let _ = writeln!(text, "}}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../npm/settings.d.ts");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "npm/settings.d.ts is not what the settings are; UPDATE_SNAPSHOTS=1 writes it");
}
