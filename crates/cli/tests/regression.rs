//! Numbers as labels: what a person sees of a regression, from `train` to `predict --interval`, and what is refused.

use crate::bench::Bench;
use crate::reading::{Drawn, well_formed};
use serde_json::Value;
use std::fmt::Write as _;

/// Houses whose price is `20 + 3 rooms - 0.5 age`, five more with a garden, and noise that has no pattern.
fn houses(n_rows: usize) -> String {
    let mut text = "rooms,age,garden,price\n".to_owned();
    for row in 0..n_rows {
        let (rooms, age) = (row * 37 % 101 % 8 + 1, row * 53 % 97 % 60);
        let garden = ["yes", "no"][row * 31 % 7 % 2];
        let noise = ((row * 7919 % 1009) as f64 / 1009.0 - 0.5) * 4.0;
        let price =
            20.0 + 3.0 * rooms as f64 - 0.5 * age as f64 + if garden == "yes" { 5.0 } else { 0.0 } + noise;
        let _ = writeln!(text, "{rooms},{age},{garden},{price:.3}");
    }
    text
}

fn refused(bench: &Bench, line: &str, expected: &[&str]) {
    let done = bench.run(line);
    assert!(matches!(done.code, Some(1 | 2)), "{line}\n{}", done.all());
    for words in expected {
        assert!(done.all().contains(words), "expected {words:?} of {line}\n{}", done.all());
    }
}

#[test]
fn a_price_is_predicted_with_an_estimate_an_interval_and_reasons() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(300));
    let report = bench.ok("rosenblatt train houses.csv --label price --model houses.model");
    for words in [
        "number to predict: column `price` (",
        "different numbers in 300 rows: numbers are predicted, not classes",
        "root mean squared error: 1.1",
        "always predicting the mean: ",
        "mean absolute error: ",
        "variance explained (R2): 0.9",
        "cross-validated over 5 folds of 300 rows",
        "what moves price most, a number by one standard deviation, a category beside the mean of its column: age -",
    ] {
        assert!(report.contains(words), "expected {words:?} in\n{report}");
    }
    // New rows: the truth is known, and noise is at most 2.
    bench.write("new.csv", "rooms,age,garden\n5,10,yes\n1,50,no\n");
    let lines = bench.ok("rosenblatt predict new.csv --model houses.model");
    let numbers: Vec<f64> = lines.lines().map(|line| line.parse().unwrap()).collect();
    assert!((numbers[0] - 35.0).abs() < 0.5 && (numbers[1] + 2.0).abs() < 0.5, "{numbers:?}");
    let csv = bench.ok("rosenblatt predict new.csv --model houses.model --interval 0.9");
    assert!(csv.starts_with("prediction,low,high\n"), "{csv}");
    let cells: Vec<f64> = csv.lines().nth(1).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert!((1.5..2.1).contains(&(cells[2] - cells[0])) && cells[0] == numbers[0], "{csv}");
    // The reasons add up to the prediction.
    let json = bench.ok("rosenblatt predict new.csv --model houses.model --explain 9 --json");
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    let sum = |side: &str| {
        let parts = first[side].as_array().unwrap().iter();
        parts.map(|part| part["contribution"].as_f64().unwrap()).sum::<f64>()
    };
    let whole = first["base"].as_f64().unwrap() + sum("for") + sum("against");
    assert!((whole - first["prediction"].as_f64().unwrap()).abs() < 1e-9, "{first}");
    // They are measured from the average row, whose prediction is the mean of all.
    let all = bench.ok("rosenblatt predict houses.csv --model houses.model --explain 1 --json");
    let rows: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mean = rows.iter().map(|row| row["prediction"].as_f64().unwrap()).sum::<f64>() / rows.len() as f64;
    let base = first["base"].as_f64().unwrap();
    assert!((mean - base).abs() < 1e-4 * mean.abs(), "{base} beside {mean}");
    let judged = bench.ok("rosenblatt evaluate houses.csv --model houses.model --json");
    let judged: Value = serde_json::from_str(judged.lines().last().unwrap()).unwrap();
    assert!(judged["rmse"]["value"].as_f64().unwrap() < 1.3 && judged["rows"] == 300, "{judged}");
    let inside = bench.ok("rosenblatt inspect houses.model");
    assert!(inside.contains("number to predict: price") && inside.contains("interval of 90 %"), "{inside}");
    let weights: Value =
        serde_json::from_str(&bench.ok("rosenblatt inspect houses.model --export json -")).unwrap();
    assert_eq!((&weights["task"], &weights["hyperplanes"][0]["for"]), (&"numbers".into(), &"price".into()));
}

/// The dots are the predictions of rows that the model did not learn from, as JSON has their error.
#[test]
fn a_fit_and_its_residuals_are_drawn_on_rows_not_learned_from() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(300));
    bench.ok("rosenblatt train houses.csv --label price --model houses.model");
    let drawn = |name: &str| {
        let svg = std::fs::read_to_string(bench.path(name)).unwrap();
        well_formed(&svg);
        Drawn::new(&svg)
    };
    let text = houses(300);
    let prices: Vec<f64> =
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    let rmse = |residuals: &[f64]| {
        (residuals.iter().map(|residual| residual * residual).sum::<f64>() / residuals.len() as f64).sqrt()
    };
    let known = |rows: &str| {
        let report = bench.ok(&format!("rosenblatt report houses.csv --model houses.model {rows} --json"));
        let report: Value = serde_json::from_str(&report).unwrap();
        report["evaluation"]["rmse"]["value"].as_f64().unwrap()
    };
    for rows in ["", "--training-rows"] {
        let model = format!("houses.csv --model houses.model {rows}");
        let printed = bench.ok(&format!("rosenblatt plot fit {model} -o fit.svg 2>&1"));
        assert_eq!(printed.contains("rows it was trained from"), !rows.is_empty(), "{printed}");
        bench.ok(&format!("rosenblatt plot residuals {model} -o residuals.svg"));
        let expected = known(rows);
        let (fit, residuals) = (drawn("fit.svg"), drawn("residuals.svg"));
        let dots: Vec<(usize, (f64, f64))> =
            fit.circles("dot").into_iter().map(|(row, (x, y))| (row, fit.values(x, y))).collect();
        assert_eq!(dots.len(), 300);
        for (row, (_, truth)) in &dots {
            assert!((truth - prices[*row]).abs() < 0.1, "row {row} is {} and drawn at {truth}", prices[*row]);
        }
        let off: Vec<f64> = dots.iter().map(|(_, (predicted, truth))| truth - predicted).collect();
        assert!((rmse(&off) - expected).abs() < 0.02, "{} and {expected}", rmse(&off));
        let heights: Vec<f64> =
            residuals.circles("dot").into_iter().map(|(_, (x, y))| residuals.values(x, y).1).collect();
        assert!((rmse(&heights) - expected).abs() < 0.02, "{} and {expected}", rmse(&heights));
        // Nine in ten lie between the levels.
        let levels: Vec<f64> =
            residuals.paths("level").iter().map(|line| residuals.values(0.0, line[0].1).1).collect();
        let inside = heights.iter().filter(|height| height.abs() <= levels[1].abs() + 1e-3).count();
        assert!(levels.len() == 2 && (268..=274).contains(&inside), "{levels:?} {inside}");
    }
    // Without a model it is the one that `train` makes.
    bench.ok("rosenblatt plot fit houses.csv --label price -o again.svg");
    bench.ok("rosenblatt plot fit houses.csv --model houses.model -o fit.svg");
    assert_eq!(bench.ok("cat again.svg"), bench.ok("cat fit.svg"));
    bench.write("curved.csv", {
        let line = |row: usize| format!("{},{},{}\n", row, row % 3, (row as f64 - 60.0).powi(2) + 0.5);
        "x,k,height\n".to_owned() + &(0..120).map(line).collect::<String>()
    });
    bench.ok("rosenblatt train curved.csv --label height --model curved.model");
    assert!(bench.ok("rosenblatt plot shapes curved.csv --model curved.model").contains("moves height by"));
    assert!(bench.ok("rosenblatt plot weights --model houses.model").contains("raises price"));
}

#[test]
fn a_report_on_numbers_has_what_the_terminal_says() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(300));
    bench.ok("rosenblatt train houses.csv --label price --model houses.model");
    let printed = bench.ok("rosenblatt report houses.csv --model houses.model");
    assert!(
        printed.contains("root mean squared error: ")
            && printed.contains("each by the same training without it"),
        "{printed}"
    );
    let (_, error) = printed.split_once("root mean squared error: ").unwrap();
    let error = error.split(' ').next().unwrap();
    let page = std::fs::read_to_string(bench.path("houses.html")).unwrap();
    for words in [
        &format!("The cross-validated error is {error}"),
        "Rows furthest off",
        "raises it",
        "class=\"dot",
        "Intervals.",
        "What moves price most",
        "error of always predicting the mean",
    ] {
        assert!(page.contains(words), "expected {words:?}");
    }
    for words in ["accuracy", "confusion", "NaN", "misclassified", "mistakes while learning", "boundary"] {
        assert!(!page.contains(words), "{words:?} is about classes");
    }
    assert!(!page.contains("The same again"), "no command has the same estimate");
    let others = bench.ok("rosenblatt report houses.csv --model houses.model --training-rows");
    assert!(others.contains("the 300 rows it was trained on"), "{others}");
}

/// What other programs make of an export is in `export.rs`; here is what `predict` makes of the card and of JSON.
#[test]
fn a_scorecard_of_a_number_says_what_a_point_is_worth() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(300));
    bench.ok(
        "rosenblatt train houses.csv --label price --shape 'bend(knots=4)' -a ridge --model houses.model",
    );
    bench.ok("rosenblatt inspect houses.model --export scorecard card.md --rows houses.csv");
    let card = bench.ok("cat card.md");
    assert!(
        card.contains("number \"price\"") && card.contains("The prediction of price is the points times "),
        "{card}"
    );
    let (_, off) = card.split_once("predictions off by ").unwrap();
    let off: f64 = off.split(' ').next().unwrap().parse().unwrap();
    let (_, points) = card.split_once("100 points are ").unwrap();
    let hundred: f64 = points.split(' ').next().unwrap().parse().unwrap();
    assert!(off > 0.0 && off < hundred / 10.0, "{off} of {hundred}: {card}");
}

#[test]
fn the_same_rows_give_the_same_bytes_whatever_the_threads_and_the_format() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(200));
    for threads in [1, 2] {
        bench.ok(&format!(
            "rosenblatt train houses.csv --label price --threads {threads} --model t{threads}.model"
        ));
    }
    assert!(
        std::fs::read(bench.path("t1.model")).unwrap() == std::fs::read(bench.path("t2.model")).unwrap(),
        "threads"
    );
    let (mut csv, mut svm) = ("f1,f2,label\n".to_owned(), String::new());
    for row in 0..120 {
        let (a, b) = (row * 37 % 101, row * 53 % 97);
        let target = f64::from(a) * 0.25 - f64::from(b) * 1.5 + f64::from(row * 7 % 5) * 0.125;
        let _ = writeln!(csv, "{a},{b},{target}");
        let _ = writeln!(svm, "{target} 1:{a} 2:{b}");
    }
    bench.write("d.csv", csv);
    bench.write("d.svm", svm);
    bench.ok("rosenblatt train d.csv --label label --scale none --model csv.model");
    bench.ok("rosenblatt train d.svm --scale none --model svm.model");
    assert!(
        std::fs::read(bench.path("csv.model")).unwrap() == std::fs::read(bench.path("svm.model")).unwrap(),
        "formats"
    );
}

#[test]
fn a_bad_number_is_named_with_its_row_and_the_cure() {
    let bench = Bench::new();
    let with = |cell: &str| {
        let mut lines: Vec<String> = houses(60).lines().map(str::to_owned).collect();
        let (rest, _) = lines[7].rsplit_once(',').unwrap();
        lines[7] = format!("{rest},{cell}");
        lines.join("\n") + "\n"
    };
    let train = "rosenblatt train bad.csv --label price --model bad.model";
    for (cell, expected) in [
        ("cheap", &["row 7 is `cheap`, but should be a number", "mend the row"][..]),
        ("2024-05-31", &["row 7 is `2024-05-31`", "days since"]),
        ("1e300", &["row 7 is 1e300", "at most 1e100 in size"]),
        ("inf", &["bad.csv:8:", "finite number, but is `inf`"]),
        ("NA", &["bad.csv:8:", "the label is missing"]),
    ] {
        bench.write("bad.csv", with(cell));
        refused(&bench, train, expected);
    }
    let same: String = houses(60).lines().enumerate().fold(String::new(), |text, (row, line)| {
        let (rest, cell) = line.rsplit_once(',').unwrap();
        text + rest + "," + if row == 0 { cell } else { "7.5" } + "\n"
    });
    bench.write("bad.csv", same);
    refused(&bench, &format!("{train} --task regression"), &["7.5 in every row", "--label"]);
}

#[test]
fn the_task_decides_and_what_is_of_the_other_task_is_refused() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(120));
    bench.write("codes.csv", {
        let line = |row: usize| format!("{},{},{}\n", row % 7, row % 5, (row % 7 + row % 5) % 4);
        "a,b,label\n".to_owned() + &(0..120).map(line).collect::<String>()
    });
    bench.write("halves.csv", {
        let line = |row: usize| format!("{},{},{}\n", row % 25, row % 4, (row % 25) as f64 * 0.5);
        "a,b,label\n".to_owned() + &(0..200).map(line).collect::<String>()
    });
    // Few whole numbers are classes, unless you set the task.
    assert!(bench.ok("rosenblatt train codes.csv --model codes.model").contains("4 classes"));
    let report = bench.ok("rosenblatt train codes.csv --task regression --model n.model");
    assert!(report.contains("root mean squared error") && !report.contains("is a quantity"), "{report}");
    let report = bench.ok("rosenblatt train codes.csv -a huber --param delta=0.2 --model n.model");
    assert!(report.contains("huber"), "{report}");
    let report = bench.ok("rosenblatt train halves.csv --task classification -a perceptron --model c.model");
    assert!(report.contains("25 classes"), "{report}");
    assert!(
        bench.ok("rosenblatt train halves.csv --model h.model").contains("25 different numbers in 200 rows")
    );
    bench.ok("rosenblatt train houses.csv --label price --model houses.model");
    let numbers = "ridge, huber, quantile, svr, lms, pa-regression";
    for (line, expected) in [
        ("rosenblatt train houses.csv --label price -a perceptron --model x.model", numbers),
        ("rosenblatt train houses.csv --label garden -a ridge --model x.model", "should be a number"),
        ("rosenblatt train houses.csv --label price -a ridge --online --model x.model", "online"),
        ("rosenblatt train houses.csv --label price --online --model x.model", "look like a quantity"),
        ("rosenblatt train houses.csv --label price -a ridge --kernel rbf --model x.model", "kernel"),
        ("rosenblatt train houses.csv --label price -a ridge --readout voted --model x.model", "readout"),
        ("rosenblatt predict houses.csv --model houses.model --probabilities", "predicts numbers"),
        ("rosenblatt predict houses.csv --model houses.model --interval 1.5", "a share from 0 up to 1"),
        ("rosenblatt predict houses.csv --model houses.model --interval 0", "between 0 and 1"),
        ("rosenblatt predict houses.csv --model houses.model --interval 0.999", "too few"),
        ("rosenblatt predict codes.csv --model codes.model --interval 0.9", "classifies rows"),
        (
            "rosenblatt plot roc houses.csv --model houses.model --output x.svg",
            "classifies rows of a table, but this one predicts numbers; kinds for those: weights, shapes, fit, residuals",
        ),
        ("rosenblatt plot roc houses.csv --label price --output x.svg", "this one predicts numbers"),
        (
            "rosenblatt plot fit codes.csv --model codes.model",
            "predicts numbers, but this one classifies rows of a table",
        ),
        ("rosenblatt plot residuals codes.csv", "this one classifies rows of a table"),
        ("rosenblatt certify houses.csv --model houses.model", "predicts numbers"),
        ("rosenblatt mix houses.model n.model --output x.model", "predicts numbers"),
        ("rosenblatt trace houses.csv --label price -a lms", "predicts numbers"),
        (
            "rosenblatt train houses.csv --label price --start-from houses.model --model x.model",
            "predicts numbers",
        ),
    ] {
        refused(&bench, line, &[expected]);
    }
    // A format without columns keeps them straight, however curved the numbers are.
    let line = |row: usize| format!("{} 1:{} 2:{}\n", (row as f64 - 60.0).powi(2) + 0.5, row, row % 3);
    bench.write("curved.svm", (0..120).map(line).collect::<String>());
    bench.ok("rosenblatt train curved.svm --shape auto --model curved.model");
    let proved = bench.ok("rosenblatt certify houses.model --monotone rooms=+,age=-");
    assert!(proved.contains("rooms, for price: never falls"), "{proved}");
    // A comparison takes numbers as classes, and says so.
    let done = bench.run("rosenblatt compare halves.csv --algorithms perceptron --folds 2");
    assert!(done.stderr.contains("each of its 25 different numbers is taken as a class"), "{}", done.all());
}

#[test]
fn options_about_classes_are_refused_for_numbers() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(120));
    for rule in ["", " -a ridge", " -a pa-regression"] {
        let train = format!("rosenblatt train houses.csv --label price{rule} --model x.model");
        for (option, name) in [
            ("--patience 3", "`patience`"),
            ("--patience 0", "`patience`"),
            ("--patience 5", "`patience`"),
            ("--zero plus", "`zero`"),
            ("--zero minus", "`zero`"),
            ("--mistake pred", "`mistake`"),
            ("--ratchet no", "`ratchet`"),
            ("--multiclass one-vs-rest", "`multiclass`"),
            ("--threshold 0.7", "`cost`"),
            ("--cost balanced", "`cost`"),
            ("--class-weight balanced", "`class-weight`"),
        ] {
            let expected = format!("{name} should be left out");
            refused(&bench, &format!("{train} {option}"), &[&expected]);
        }
        refused(&bench, &format!("{train} --order worst"), &["`order` should be"]);
        assert!(!bench.path("x.model").exists());
    }
    // What is left out has its default.
    bench.ok("rosenblatt train houses.csv --label price --seed 3 --model x.model");
    for share in ["95%", "95", "2"] {
        let line = format!("rosenblatt predict houses.csv --model x.model --interval {share}");
        refused(&bench, &line, &["it should be a share from 0 up to 1; did you mean 0."]);
    }
    refused(
        &bench,
        "rosenblatt train houses.csv --label garden --threshold 30% --model y.model",
        &["did you mean 0.3?"],
    );
}

#[test]
fn money_is_a_number_and_what_can_be_read_in_two_ways_is_refused() {
    let bench = Bench::new();
    let spelled = |spell: &dyn Fn(f64) -> String| {
        let rows = houses(120);
        let mut lines = rows.lines();
        let head = lines.next().unwrap().to_owned() + "\n";
        lines.fold(head, |text, line| {
            let (rest, price) = line.rsplit_once(',').unwrap();
            let price = (price.parse::<f64>().unwrap() + 40.0) * 1000.0;
            text + rest + ",\"" + &spell(price) + "\"\n"
        })
    };
    let cents = |price: f64| (price * 100.0).round() as u64;
    let thousands = |price: f64, between: char| {
        let whole = cents(price) / 100;
        format!("{}{between}{:03}", whole / 1000, whole % 1000)
    };
    bench.write("plain.csv", spelled(&|price| format!("{price:.2}")));
    let train = "rosenblatt train FILE --label price --model m.model";
    bench.ok(&train.replace("FILE", "plain.csv"));
    let expected = bench.ok("rosenblatt predict plain.csv --model m.model");
    let spellings: [(&str, &dyn Fn(f64) -> String); 5] = [
        ("numbers with `$`", &|price| format!("${price:.2}")),
        ("numbers with `$`", &|price| format!("${}.{:02}", thousands(price, ','), cents(price) % 100)),
        ("numbers with `€`", &|price| format!("{price:.2} €").replace('.', ",")),
        ("a comma before decimals", &|price| format!("{price:.2}").replace('.', ",")),
        ("numbers with `%`", &|price| format!("{price:.2}%")),
    ];
    for (place, (words, spell)) in spellings.into_iter().enumerate() {
        bench.write("s.csv", spelled(spell));
        let report = bench.ok(&train.replace("FILE", "s.csv"));
        assert!(report.contains(words) && report.contains("number to predict"), "{place}: {report}");
        // A thousandth of a cent may be lost where cents are rounded anew.
        let found = bench.ok("rosenblatt predict s.csv --model m.model");
        for (one, other) in expected.lines().zip(found.lines()) {
            let (one, other): (f64, f64) = (one.parse().unwrap(), other.parse().unwrap());
            assert!((one - other).abs() < 0.02, "{place}: {one} {other}");
        }
        let judged = bench.ok("rosenblatt evaluate s.csv --model m.model");
        assert!(judged.contains("on 120 rows"), "{judged}");
    }
    for between in [',', ' ', '\''] {
        bench.write("s.csv", spelled(&|price| thousands(price, between)));
        refused(
            &bench,
            &train.replace("FILE", "s.csv"),
            &["look like numbers, such as `", "write them as plain numbers, such as 1234.5"],
        );
    }
    // A column of names that are all different is no label, even if you name it.
    bench.write(
        "ids.csv",
        (0..60).fold("a,name\n".to_owned(), |text, row| format!("{text}{},w{row}\n", row % 9)),
    );
    refused(
        &bench,
        "rosenblatt train ids.csv --label name --model m.model",
        &["60 distinct values in 60 rows"],
    );
}

#[test]
fn rows_without_what_is_to_be_compared_are_refused_by_evaluate() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(120));
    bench.write("new.csv", "rooms,age,garden\n5,10,yes\n1,50,no\n");
    bench.ok("rosenblatt train houses.csv --label price --model n.model");
    bench.ok("rosenblatt train houses.csv --label garden --model c.model");
    refused(
        &bench,
        "rosenblatt evaluate new.csv --model n.model",
        &["new.csv: there is no column `price`", "`predict`"],
    );
    bench.write("rest.csv", "rooms,age,price\n5,10,30\n1,50,20\n");
    refused(
        &bench,
        "rosenblatt evaluate rest.csv --model c.model",
        &["rest.csv: there is no column `garden`"],
    );
}

#[test]
fn the_error_is_printed_by_the_values_of_a_column() {
    let bench = Bench::new();
    bench.write("houses.csv", houses(300));
    bench.ok("rosenblatt train houses.csv --label price --model n.model");
    bench.ok("rosenblatt train houses.csv --label garden -a perceptron --model c.model");
    let text = bench.ok("rosenblatt evaluate houses.csv --model n.model --by garden");
    assert!(text.contains("garden  rows  root mean squared error  95 % confidence interval"), "{text}");
    let of = |line: &str| -> Value { serde_json::from_str(&bench.ok(line)).unwrap() };
    for (model, by) in [("n", "garden"), ("c", "rooms"), ("c", "1")] {
        let judged = of(&format!("rosenblatt evaluate houses.csv --model {model}.model --by {by} --json"));
        let groups = judged["by"]["groups"].as_array().unwrap();
        let rows: u64 = groups.iter().map(|group| group["rows"].as_u64().unwrap()).sum();
        assert_eq!(rows, 300, "{judged}");
        // Together they are the whole.
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            groups
                .iter()
                .map(|group| of(group["error"].as_f64().unwrap()) * group["rows"].as_f64().unwrap())
                .sum()
        };
        let (found, expected) = if model == "n" {
            ((sum(&|error| error * error) / 300.0).sqrt(), judged["rmse"]["value"].as_f64().unwrap())
        } else {
            (sum(&|error| error) / 300.0, judged["error"].as_f64().unwrap())
        };
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        let low = groups[0]["interval"][0].as_f64().unwrap();
        assert!(low <= groups[0]["error"].as_f64().unwrap(), "{judged}");
    }
    refused(
        &bench,
        "rosenblatt evaluate houses.csv --model c.model --by nosuch",
        &["there is no column `nosuch`"],
    );
    let plain = of("rosenblatt evaluate houses.csv --model c.model --json");
    assert!(plain.get("by").is_none(), "{plain}");
    bench.ok("rosenblatt convert houses.csv h.svm --label garden");
    bench.ok("rosenblatt train h.svm -a perceptron --model c.model");
    refused(&bench, "rosenblatt evaluate h.svm --model c.model --by 1", &["has no columns"]);
}

/// Numbers stand as classes inside: nothing may be kept of each pair of them.
#[test]
fn a_hundred_thousand_different_numbers_take_the_memory_of_their_rows() {
    let bench = Bench::new();
    let line = |row: u64| format!("{},{}\n", row * 7919 % 100_003, row as f64 + 0.25);
    let lines: String = (0..100_000).map(line).collect();
    bench.write("t.csv", format!("a,price\n{lines}"));
    for more in ["", "-a ridge", "-a quantile --epochs 2"] {
        let done = bench
            .run(&format!("ulimit -v 1500000; rosenblatt train t.csv --label price {more} --model t.model"));
        assert!(done.code == Some(0), "{more}\n{}", done.all());
        assert!(done.stdout.contains("root mean squared error: "), "{more}\n{}", done.all());
    }
    // More than classes may be, and numbers are not learned from disk.
    refused(
        &bench,
        "rosenblatt train t.csv --label price -a ridge --memory 1KiB --model t.model",
        &["learning numbers needs all rows in memory", "--memory"],
    );
    refused(
        &bench,
        "rosenblatt train t.csv --label price --memory 1KiB --model t.model",
        &["predict it as a number from rows in memory"],
    );
}

/// A missing number has a weight of its own in whatever bends, and needs no word on shapes for it.
#[test]
fn a_missing_number_has_a_weight_of_its_own_without_a_word_on_shapes() {
    let bench = Bench::new();
    let mut text = "size,kind,price\n".to_owned();
    for row in 0..200 {
        let size = row * 37 % 101;
        let cell = if row % 5 == 0 { String::new() } else { size.to_string() };
        let price = if row % 5 == 0 { 90.5 } else { size as f64 / 3.0 } + (row * 53 % 17) as f64 / 100.0;
        let _ = writeln!(text, "{cell},{},{price}", if price > 20.0 { "dear" } else { "cheap" });
    }
    bench.write("t.csv", text);
    bench.write("new.csv", "size\n\"\"\n30\n");
    let numbers = "t.csv --label price --ignore kind --missing own";
    let classes = "t.csv --label kind --ignore price --missing own";
    for line in [numbers, classes] {
        for more in ["", "--shape curves", "--seed 3"] {
            let report = bench.ok(&format!("rosenblatt train {line} {more} --model t.model"));
            assert!(report.contains("shape: bend("), "{line} {more}\n{report}");
        }
    }
    for more in ["-a ridge", "-a perceptron", "--memory 1GiB", "--positive dear"] {
        let line = if more == "-a ridge" { numbers } else { classes };
        let report = bench.ok(&format!("rosenblatt train {line} {more} --model x.model"));
        assert!(report.contains("shape: bend("), "{line} {more}\n{report}");
    }
    let named = bench.ok("rosenblatt predict new.csv --model t.model");
    assert_eq!(named, "dear\ncheap\n");
    bench.ok(&format!("rosenblatt train {numbers} --model t.model"));
    let predicted: Vec<f64> = bench
        .ok("rosenblatt predict new.csv --model t.model")
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    assert!((predicted[0] - 90.5).abs() < 3.0 && (predicted[1] - 10.0).abs() < 3.0, "{predicted:?}");
    for more in ["--shape line", "--scale standard"] {
        refused(
            &bench,
            &format!("rosenblatt train {numbers} {more} --model t.model"),
            &["a missing number has a weight of its own only where columns bend"],
        );
    }
}
