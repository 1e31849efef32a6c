//! `certify` as a person meets it: verdicts in words, proofs that are kept, checked and refused.

use crate::bench::Bench;
use serde_json::Value;

const XOR: &str = "a,b,class\n1,1,even\n1,-1,odd\n-1,1,odd\n-1,-1,even\n";

#[test]
fn a_separable_class_is_told_with_its_margin_and_the_perceptrons_bound() {
    let bench = Bench::new();
    let text =
        bench.ok("rosenblatt certify crates/data/bundled/iris.csv --positive setosa --certificate iris.json");
    for expected in [
        "SEPARABLE",
        "margin: at least 0.817555769, at most 0.817555769",
        "supported by rows 24, 42, 99",
        "at most (R/margin)^2 = 221 mistakes",
        "it made 5 mistakes",
        "certificate: iris.json",
    ] {
        assert!(text.contains(expected), "`{expected}` in\n{text}");
    }
    let valid = bench.ok("rosenblatt certify crates/data/bundled/iris.csv --check iris.json");
    assert!(valid.starts_with("VALID: setosa against the rest is separable"), "{valid}");
    // Other data, and a certificate that claims too much.
    bench.ok("sed 's/5.1,3.5/5.1,3.6/' crates/data/bundled/iris.csv > other.csv");
    let refused = bench.run("rosenblatt certify other.csv --check iris.json");
    assert!(refused.code == Some(1) && refused.stderr.contains("about other data"), "{}", refused.all());
    bench.ok("sed 's/\"at-least\": 0.8[0-9]*/\"at-least\": 0.82/' iris.json > greedy.json");
    let refused = bench.run("rosenblatt certify crates/data/bundled/iris.csv --check greedy.json");
    assert!(refused.code == Some(1) && refused.stderr.contains("smaller margin"), "{}", refused.all());
    bench.write("broken.json", "{\"format\": 3");
    let refused = bench.run("rosenblatt certify crates/data/bundled/iris.csv --check broken.json");
    assert!(refused.code == Some(1) && refused.stderr.contains("not a certificate"), "{}", refused.all());
}

#[test]
fn contradicting_rows_are_named_with_the_cycle_and_what_stands_in_the_way() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let text = bench.ok("rosenblatt certify xor.csv --certificate xor.json");
    for expected in [
        "NOT SEPARABLE",
        "These examples contradict each other",
        "25.0 %",
        "a=-1 b=-1",
        "a cycle of 4 updates, from update 0 on",
        "without 1 row the rest is separable",
    ] {
        assert!(text.contains(expected), "`{expected}` in\n{text}");
    }
    let valid = bench.ok("rosenblatt certify xor.csv --check xor.json");
    assert!(valid.contains("not separable, 4 rows contradict each other"), "{valid}");
    let lifted = bench.ok("rosenblatt certify xor.csv --kernel poly --degree 2 --certificate poly.json");
    assert!(lifted.contains("SEPARABLE: a hyperplane in the space of (1 + x.y)^2"), "{lifted}");
    // The classes differ in x1 x2 alone, on an axis as long as the root of 2.
    assert!(lifted.contains("margin: at least 1.41421356, at most 1.41421356"), "{lifted}");
    assert!(bench.ok("rosenblatt certify xor.csv --check poly.json").starts_with("VALID"));
    bench.write("twins.csv", "a,b,class\n1,1,even\n3,2,odd\n1,1,odd\n");
    let twins = bench.ok("rosenblatt certify twins.csv");
    assert!(twins.contains("rows 1 and 3 are equal, but of different classes"), "{twins}");
    // Rows are counted as the file has them, whether or not they are used.
    bench.write("gaps.csv", "a,b,class\nNA,1,odd\n1,1,even\nNA,2,even\n3,2,odd\n1,1,odd\n");
    let gaps = bench.ok("rosenblatt certify gaps.csv --missing drop --certificate gaps.json");
    assert!(gaps.contains("rows 2 and 5 are equal, but of different classes"), "{gaps}");
    let proof = std::fs::read_to_string(bench.path("gaps.json")).unwrap();
    assert!(proof.contains("\"row\": 2") && proof.contains("\"row\": 5"), "{proof}");
    assert!(bench.ok("rosenblatt certify gaps.csv --missing drop --check gaps.json").starts_with("VALID"));
}

#[test]
fn many_classes_make_a_table_and_json_says_the_same() {
    let bench = Bench::new();
    let text = bench.ok("rosenblatt certify crates/data/bundled/iris.csv");
    assert_eq!(text.matches("against the rest").count(), 3, "{text}");
    let report: Value =
        serde_json::from_str(&bench.ok("rosenblatt certify crates/data/bundled/iris.csv --json")).unwrap();
    let verdicts: Vec<&Value> =
        report["questions"].as_array().unwrap().iter().map(|study| &study["verdict"]).collect();
    assert_eq!(verdicts, ["separable", "inseparable", "inseparable"]);
    assert!(report["questions"].as_array().unwrap().iter().all(|study| study["checked"] == true));
    let pair = bench.ok(
        "rosenblatt certify crates/data/bundled/iris.csv --positive versicolor --against virginica --json",
    );
    let pair: Value = serde_json::from_str(&pair).unwrap();
    assert_eq!(
        (&pair["questions"][0]["rows"], &pair["questions"][0]["verdict"]),
        (&100.into(), &"inseparable".into())
    );
}

#[test]
fn words_that_make_no_sense_and_classes_that_are_not_there() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    for (line, code, expected) in [
        ("rosenblatt certify xor.csv --gap 0", 2, "`--gap` should be"),
        ("rosenblatt certify xor.csv --time -1", 2, ""),
        ("rosenblatt certify xor.csv --positive even --against even", 2, "another class"),
        (
            "rosenblatt certify xor.csv --positive eleven",
            1,
            "there is no class `eleven`; the classes are `even`, `odd`",
        ),
        ("rosenblatt certify crates/data/bundled/iris.csv --certificate x.json", 2, "--positive"),
        ("rosenblatt certify xor.csv --kernel poly --degree 4000000000", 1, "a lower --degree"),
        ("rosenblatt certify xor.csv --check missing.json", 1, "missing.json"),
    ] {
        let done = bench.run(line);
        assert_eq!(done.code, Some(code), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.all());
    }
}

#[test]
fn an_open_question_says_what_is_known_with_a_code_of_its_own() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let line = "rosenblatt certify crates/data/bundled/banknote.csv --time 0.000001";
    let done = bench.run(line);
    assert!(done.code == Some(3) && done.stdout.contains("UNDECIDED"), "{}", done.all());
    assert!(done.stdout.contains("the rest is separable"), "{}", done.all());
    let done = bench.run(&format!("{line} --json --certificate proof.json"));
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let question = &report["questions"][0];
    assert_eq!(
        (done.code, &question["verdict"], &question["stopped"]),
        (Some(3), &"undecided".into(), &true.into())
    );
    assert!(done.stderr.contains("proof.json is not written"), "{}", done.all());
    // No time is too long, and rows of zeros are decided at once.
    assert!(bench.ok("rosenblatt certify xor.csv --time 1e20").contains("NOT SEPARABLE"));
    bench.write("zeros.csv", "a,b,class\n0,0,even\n1,1,odd\n");
    assert!(bench.ok("rosenblatt certify zeros.csv --bias none --time 1e20").contains("all zeros"));
}

#[test]
fn a_models_mistakes_are_counted_beyond_doubt() {
    let bench = Bench::new();
    let data = "crates/data/bundled/banknote.csv";
    bench.ok(&format!("rosenblatt train {data} --holdout 0 --model notes.model"));
    let certified: Value =
        serde_json::from_str(&bench.ok(&format!("rosenblatt certify {data} --model notes.model --json")))
            .unwrap();
    let measured: Value =
        serde_json::from_str(&bench.ok(&format!("rosenblatt evaluate {data} --model notes.model --json")))
            .unwrap();
    assert_eq!(certified["mistakes"], measured["errors"]);
    assert_eq!(
        certified["wrong-rows"].as_array().unwrap().len() as u64,
        certified["mistakes"].as_u64().unwrap()
    );
}

#[test]
fn bounds_stand_beside_the_mistakes_while_training() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let text = bench.ok(
        "rosenblatt train xor.csv --holdout 0 --epochs 3 --scale none --bias none --order given --bounds --model x.model",
    );
    assert!(text.contains("mistakes so far") && text.contains("u is the pocket's"), "{text}");
    let report = bench
        .ok("rosenblatt train crates/data/bundled/banknote.csv --holdout 0 --bounds --json --model x.model");
    let report: Value = serde_json::from_str(&report).unwrap();
    let epochs = report["bounds"]["epochs"].as_array().unwrap();
    assert!(!epochs.is_empty() && report["bounds"]["violation"].is_null(), "{report}");
    for epoch in epochs {
        let mistakes = epoch["mistakes"].as_f64().unwrap();
        assert!(mistakes <= epoch["any-vector"].as_f64().unwrap() + 1e-6, "{epoch}");
        assert!(mistakes <= epoch["inseparable"].as_f64().unwrap() + 1e-6, "{epoch}");
    }
    // Other steps than 1: the sum of the steps is bounded, and so is their number in units of the mean step.
    for options in ["--rate 0.001", "--rate 20", "--class-weight 0=7", "--rate 3 --class-weight 1=0.01"] {
        let report = bench.ok(&format!(
            "rosenblatt train crates/data/bundled/banknote.csv --holdout 0 {options} --epochs 5 --bounds --json --model x.model"
        ));
        let report: Value = serde_json::from_str(&report).unwrap();
        for epoch in report["bounds"]["epochs"].as_array().unwrap() {
            let mistakes = epoch["mistakes"].as_f64().unwrap();
            for bound in [&epoch["any-vector"], &epoch["inseparable"]] {
                assert!(bound.as_f64().is_none_or(|bound| mistakes <= bound + 1e-6), "{options}: {epoch}");
            }
            assert!(epoch["any-vector"].is_f64(), "{options}: {epoch}");
        }
    }
    // By hand, without a bias, in the given order: whatever the steps a and b along (1, 0) and (0, 1), w = (a, b). The
    // best v with margin 1 in the scores is (1, 1), so that the bound is |v||w| in units of the mean step.
    bench.write("plus.csv", "x,z,class\n1,0,b\n0,1,b\n-1,-1,a\n");
    bench.write("sides.csv", "x,z,class\n1,0,b\n0,-1,a\n");
    for (file, options, [a, b]) in [
        ("plus", "--rate 1", [1.0, 1.0]),
        ("plus", "--rate 0.001", [0.001, 0.001]),
        ("plus", "--rate 1/k", [1.0, 0.5]),
        ("plus", "--rate 40/k", [40.0, 20.0]),
        ("plus", "--rate '1/sqrt(k)'", [1.0, 0.5_f64.sqrt()]),
        ("plus", "--rate '2/k^0.25'", [2.0, 2.0 * 0.5_f64.powf(0.25)]),
        ("sides", "--class-weight b=3", [3.0, 1.0]),
        ("sides", "--class-weight a=0.01 --rate 7", [7.0, 0.07]),
        ("sides", "--class-weight a=0.5 --rate 1/k", [1.0, 0.25]),
    ] {
        let report = bench.ok(&format!(
            "rosenblatt train {file}.csv --algorithm perceptron --holdout 0 --scale none --bias none --order given {options} --epochs 1 --bounds --json --model x.model"
        ));
        let report: Value = serde_json::from_str(&report).unwrap();
        let pass = &report["bounds"]["epochs"][0];
        let (length, mean) = (a.hypot(b), f64::midpoint(a, b));
        assert_eq!(pass["mistakes"], 2, "{options}: {pass}");
        let near = |found: &Value, expected: f64| (found.as_f64().unwrap() / expected - 1.0).abs() < 1e-6;
        assert!(near(&pass["norm"], length), "{options}: {pass}");
        assert!(near(&pass["any-vector"], 2_f64.sqrt() * length / mean), "{options}: {pass}");
        assert!(pass["any-vector"].as_f64().unwrap() >= 2.0 - 1e-6, "{options}: {pass}");
        // (R/margin)^2 is about steps of one length.
        let longest2 = if file == "plus" { 2.0 } else { 1.0 };
        if a == b {
            assert!(near(&pass["inseparable"], longest2 / 0.5), "{options}: {pass}");
        } else {
            assert!(pass["inseparable"].is_null(), "{options}: {pass}");
        }
        assert!(report["bounds"]["violation"].is_null(), "{options}: {report}");
    }
    let three = bench.run("rosenblatt train crates/data/bundled/iris.csv --bounds --model y.model");
    assert!(three.code == Some(1) && three.stderr.contains("two classes"), "{}", three.all());
}

#[test]
fn how_columns_move_a_score_is_proved_of_a_model() {
    let bench = Bench::new();
    let row = |i: u32| {
        let (up, hump) = (i * 37 % 100, i * 61 % 90);
        let is_high = f64::from(up) + 60.0 * f64::from(hump).mul_add(0.07, -3.1).cos() > 60.0;
        format!(
            "{up},{hump},{},{}\n",
            ["a", "b", "c"][(i % 3) as usize],
            if is_high { "high" } else { "low" }
        )
    };
    bench.write("t.csv", format!("up,hump,kind,class\n{}", (0..400).map(row).collect::<String>()));
    bench.ok(
        "rosenblatt train t.csv --label class --shape 'bend(knots=4)' --positive high --model bent.model",
    );
    let all = bench.ok("rosenblatt certify bent.model --monotone");
    assert!(all.contains("hump, for high: rises between") && all.contains("and falls between"), "{all}");
    let wrong = bench.run("rosenblatt certify bent.model --monotone hump=+");
    assert_eq!(wrong.code, Some(1), "{}", wrong.all());
    assert!(wrong.stderr.contains("`hump` adds for high should never fall"), "{}", wrong.stderr);
    for (wish, message) in [("kind=+", "no column of numbers"), ("age=+", "`up`, `hump`"), ("up", "COLUMN=+")]
    {
        let refused = bench.run(&format!("rosenblatt certify bent.model --monotone {wish}"));
        assert_eq!(refused.code, Some(2), "{}", refused.all());
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
    bench.ok("rosenblatt train t.csv --label class --shape line --positive high --model line.model");
    assert!(bench.ok("rosenblatt certify line.model --monotone up=+").contains("up, for high: never falls"));
    // Both wishes are held, in either order.
    for wishes in ["up=+,up=-", "up=-,up=+"] {
        let broken = bench.run(&format!("rosenblatt certify line.model --monotone {wishes}"));
        assert!(broken.code == Some(1) && broken.stderr.contains("should never rise"), "{}", broken.all());
    }
    let wrong = bench.run("rosenblatt certify line.model --monotone up=-");
    assert!(wrong.stderr.contains("it rises everywhere"), "{}", wrong.all());
}
