//! `--algorithm mlp`: networks as a person meets them.

use crate::bench::Bench;
use std::fmt::Write as _;

const XOR: &str = "u,v,class\n0,0,a\n0,1,b\n1,0,b\n1,1,a\n";

#[test]
fn a_network_learns_xor_and_says_what_it_is() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let network = "--algorithm mlp --hidden 4 --activation tanh --rate 0.1 --epochs 200";
    bench.ok(&format!("rosenblatt train xor.csv --scale none --holdout 0 {network} --model xor.model"));
    let classes = bench.ok("rosenblatt predict xor.csv --model xor.model");
    assert_eq!(classes, "a\nb\nb\na\n");
    let printed = bench.ok("rosenblatt inspect xor.model");
    assert!(
        printed.contains("a network of 2 - 4 - 1 units, tanh between layers: 17 weights and biases"),
        "{printed}"
    );
    let why = bench.ok("rosenblatt predict xor.csv --model xor.model --explain 2 --scores");
    assert!(why.contains("u "), "{why}");
    // The command that a report names trains the same model.
    let json = bench.ok("rosenblatt inspect xor.model --json");
    assert!(json.contains("\"sizes\":[2,4,1]"), "{json}");
    let refused = bench.run("rosenblatt predict xor.csv --model xor.model --distance");
    assert!(refused.stderr.contains("this model is a network"), "{}", refused.stderr);
}

#[test]
fn networks_are_compared_and_tuned_beside_the_others() {
    let bench = Bench::new();
    let iris = "crates/data/bundled/iris.csv";
    let table = bench.ok(&format!(
        "rosenblatt compare {iris} --folds 3 --algorithms 'perceptron,mlp(hidden=8),mlp(hidden=16,layers=2)' --activation tanh"
    ));
    assert!(
        table.contains("mlp(hidden=16,layers=2) last") && table.contains("perceptron averaged"),
        "{table}"
    );
    let tuned = bench.run(&format!(
        "rosenblatt tune {iris} --algorithms perceptron,mlp --param hidden=4,8 --model t.model"
    ));
    assert!(
        tuned.stderr.contains("race of 3 candidates") || tuned.stdout.contains("race of 3 candidates"),
        "{}",
        tuned.stderr
    );
    let wrong = bench.run(&format!("rosenblatt train {iris} --algorithm pa1 --hidden 4 --model t.model"));
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("`algorithm` should be a network"), "{}", wrong.stderr);
}

#[test]
fn back_propagation_is_traced_in_every_form() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let trace = "rosenblatt trace xor.csv --algorithm mlp --hidden 2 --activation tanh --rate 0.5 --rounds 2";
    let text = bench.ok(trace);
    for expected in ["round 2: row 2, x = (0, 1), class b; loss", "d loss / d z", "h2", "w after"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(bench.ok(&format!("{trace} --to csv")).lines().count(), 1 + 2 * 9);
    let line = bench.ok(&format!("{trace} --json"));
    let round: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    // The slope in the score is the probability less the truth.
    let layer = &round["layers"][1];
    let (score, slope) = (layer["said"][0].as_f64().unwrap(), layer["slopes"][0].as_f64().unwrap());
    assert!((1.0 / (1.0 + (-score).exp()) - slope).abs() < 1e-12, "{line}");
    assert!(bench.ok(&format!("{trace} --to latex")).contains("tabular"));
}

#[test]
fn lessons_are_drawn() {
    let bench = Bench::new();
    let printed = bench.ok("rosenblatt demo xor-mlp --folder lesson");
    assert!(printed.contains("d loss / d z"), "{printed}");
    // The first row has a part in every weight's gradient, or back-propagation would not be seen.
    let gradients = printed.lines().filter(|line| line.starts_with("h1 ") || line.starts_with("h2 "));
    let gradients: Vec<&str> = gradients.filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert!(gradients.len() == 8 && !gradients.contains(&"0"), "{printed}");
    let film = bench.ok("cat lesson/xor-mlp.svg");
    assert!(film.contains("frame frame-11\"") && !film.contains("frame frame-12\""), "{}", film.len());
    assert!(film.contains("hidden unit"), "{}", film.len());
    // In the last frame nothing is wrong, and nothing was called linear.
    let last: String = film.split("class=\"frame").filter(|part| part.starts_with(" frame-11\"")).collect();
    assert!(last.contains("After 300 epochs") && !last.contains("class=\"mistake"), "{last}");
    bench.write("xor.csv", XOR);
    let drawn = "rosenblatt plot boundary xor.csv --algorithm mlp --hidden 3 --activation tanh --rate 0.1 --epochs 100";
    bench.ok(&format!("{drawn} --output b.svg"));
    assert!(bench.ok("cat b.svg").contains("class=\"line"));
    bench.ok(&format!("{drawn} --frames=4 --output f.svg"));
    let text = bench.ok("rosenblatt demo approximation --folder lesson");
    let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("hidden units")).collect();
    let explained = text.find("approximates any continuous curve").unwrap();
    assert!(table.len() > 7 && explained < text.find("hidden units  ").unwrap(), "{text}");
    assert!(
        text.contains("`rosenblatt playground --settings \"data=drawn-rings&")
            && table[7].starts_with("64 ")
            && table[7].ends_with('%')
            && text.contains("lesson/approximation.svg")
    );
    let film = bench.ok("cat lesson/approximation.svg");
    assert!(film.contains("frame frame-6\"") && !film.contains("frame frame-7\""), "{}", film.len());
    assert!(film.contains("64 hidden units") && film.contains("the curve"));
}

/// Sixteen classes on a board, whose neighbours overlap.
fn sixteen(n_rows: usize) -> String {
    let mut state = 5_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut text = "u,v,class\n".to_owned();
    for row in 0..n_rows {
        let (column, line) = (row % 4, row / 4 % 4);
        let mut cell = |place: usize| place as f64 + (random() + random() + random() - 1.5) * 0.9;
        let _ = writeln!(text, "{:.3},{:.3},c{}", cell(column), cell(line), row % 16);
    }
    text
}

/// A network learns the logarithms of odds: sigmoids that look at one class at a time make less of them.
#[test]
fn probabilities_of_a_network_are_its_softmax_unless_a_fit_is_better() {
    let bench = Bench::new();
    bench.write("t.csv", sixteen(1600));
    let train =
        "rosenblatt train t.csv --algorithm mlp --hidden 24 --epochs 60 --patience 0 --holdout 0.25 --json";
    let judged = |how: &str| {
        let report: serde_json::Value =
            serde_json::from_str(&bench.ok(&format!("{train} {how} --model n.model"))).unwrap();
        let number = |name: &str| report["held-out"][name].as_f64().unwrap();
        (number("brier"), number("log-loss"), report["calibration"]["method"].clone())
    };
    let (fitted, learned) = (judged("--calibrate platt"), judged(""));
    assert_eq!((fitted.2.as_str(), learned.2.as_str()), (Some("platt"), Some("softmax")));
    assert!(learned.0 < fitted.0 && learned.1 < fitted.1, "{learned:?} {fitted:?}");
    bench.ok(&format!("{train} --model s.model --export onnx s.onnx"));
    let evaluated = bench.ok("rosenblatt evaluate t.csv --model s.model --json");
    assert!(evaluated.contains("\"log-loss\":0."), "{evaluated}");
    let graph = String::from_utf8_lossy(&std::fs::read(bench.path("s.onnx")).unwrap()).into_owned();
    assert!(graph.contains("Softmax") && graph.contains("probabilities"));
    // Costs are weighed by them.
    bench.ok("rosenblatt predict t.csv --model s.model --cost c0=50");
}
