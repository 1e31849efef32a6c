//! Models for other programs: ONNX, JSON and CSV.
//!
//! Whether an ONNX runtime agrees is asked where there is one: a Python with `onnxruntime` and `numpy`, named
//! by `ROSENBLATT_PYTHON` or found as `python3`. Elsewhere that test says on stderr that it was skipped.

use crate::bench::Bench;
use std::path::Path;
use std::process::Command;

/// Features, labels and scores of the same rows, as CSV, and the model in ONNX: the script compares.
const CASES: [(&str, &str); 9] = [
    ("banknote.csv", ""),
    ("banknote.csv", "--scale unit-norm --zero plus"),
    ("banknote.csv", "--scale min-max --algorithm pa1 --calibrate none"),
    ("iris.csv", ""),
    ("iris.csv", "--multiclass one-vs-one"),
    ("breast_cancer.csv", "--multiclass direct-max --calibrate isotonic"),
    ("iris.csv", "--algorithm mlp --hidden 7,5 --activation tanh"),
    ("banknote.csv", "--algorithm mlp --hidden 9 --scale min-max"),
    ("iris.csv", "--algorithm mlp --hidden 6 --activation logistic --calibrate none"),
];

fn python() -> Option<String> {
    let python = std::env::var("ROSENBLATT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let able =
        Command::new(&python).args(["-c", "import onnxruntime, numpy"]).output().ok()?.status.success();
    able.then_some(python)
}

#[test]
fn an_onnx_runtime_says_the_same() {
    let Some(python) = python() else {
        eprintln!("skipped: no Python with onnxruntime; name one with ROSENBLATT_PYTHON");
        return;
    };
    let bench = Bench::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_onnx.py");
    for (name, flags) in CASES {
        let file = format!("crates/data/bundled/{name}");
        bench.ok(&format!(
            "rosenblatt train {file} --precision f64 --model m.model --export onnx m.onnx {flags}"
        ));
        let ask = "rosenblatt predict --precision f64 --model m.model --scores --to jsonl --output out.jsonl";
        let probable = bench.run(&format!("{ask} {file} --probabilities")).code == Some(0);
        if !probable {
            bench.ok(&format!("{ask} {file}"));
        }
        let said = bench.ok(&format!("{python} {} m.onnx {file} out.jsonl", script.display()));
        assert!(said.contains("agree"), "{name} {flags}: {said}");
        let both = probable && !flags.contains("isotonic");
        assert_eq!(said.contains("probabilities"), both, "{name} {flags}: {said}");
    }
}

#[test]
fn weights_are_exported_by_name() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv -a perceptron --model iris.model");
    let csv = bench.ok("rosenblatt inspect iris.model --export csv -");
    assert!(csv.starts_with("feature,setosa,versicolor,virginica\n(bias),"), "{csv}");
    assert_eq!(csv, bench.ok("rosenblatt inspect iris.model --weights"));
    bench.ok("rosenblatt inspect iris.model --export json iris.json");
    let json: serde_json::Value = serde_json::from_str(&bench.ok("cat iris.json")).unwrap();
    assert_eq!(json["hyperplanes"].as_array().unwrap().len(), 3);
    assert_eq!(json["scaler"]["scaling"], "standard");
    assert_eq!(json["calibration"]["method"], "platt");
    let name = json["features"][0].as_str().unwrap();
    assert!(csv.contains(&format!("\n{name},{}", json["hyperplanes"][0]["weights"][0])), "{csv}");
}

#[test]
fn what_cannot_be_exported_is_said() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv --readout voted --model v.model");
    let voted = bench.run("rosenblatt inspect v.model --export onnx v.onnx");
    assert_eq!(voted.code, Some(1), "{}", voted.all());
    assert!(voted.stderr.contains("train with --readout averaged"), "{}", voted.stderr);
    let unknown = bench.run("rosenblatt inspect v.model --export pmml v.pmml");
    assert_eq!(unknown.code, Some(2), "{}", unknown.all());
    assert!(unknown.stderr.contains("one of onnx, json, csv, but is `pmml`"), "{}", unknown.stderr);
}

/// Whoever pipes an export into a file gets that and nothing else.
#[test]
fn an_export_to_stdout_stands_there_alone() {
    let bench = Bench::new();
    let train = "rosenblatt train crates/data/bundled/iris.csv --algorithm perceptron --model iris.model";
    for format in ["onnx", "json", "csv"] {
        bench.ok(&format!("{train} --export {format} in-file.{format}"));
        let done = bench.run(&format!("{train} --export {format} - > piped"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert!(
            std::fs::read(bench.path("piped")).unwrap()
                == std::fs::read(bench.path(&format!("in-file.{format}"))).unwrap()
        );
        assert!(done.stderr.contains("model: iris.model"), "the report is on stderr: {}", done.stderr);
    }
    let both = bench.run(&format!("{train} --export json - --json"));
    assert_eq!((both.code, both.stdout.as_str()), (Some(2), ""));
    assert!(both.stderr.contains("export to a file, or leave `--json` out"), "{}", both.stderr);
}
