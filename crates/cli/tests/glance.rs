//! What a person looks at is true: figures are of rows that were not learned from, races and columns are ranked by what they
//! are compared by, and what cannot be learned is refused.

use crate::bench::Bench;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

/// Two classes that overlap, a column that decides, one that helps, one that says nothing, and a rare category.
fn noisy(n_rows: u64) -> String {
    let mut text = "noise,rare,fair,good,kind\n".to_owned();
    let mut state = 7_u64;
    let mut unit = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1_u32 << 24)
    };
    for row in 0..n_rows {
        let (noise, fair, good) = (1000.0 * unit(), unit(), unit());
        let kind = if good + 0.5 * fair + 0.6 * unit() > 1.05 { "yes" } else { "no" };
        let rare = if row % 97 == 5 { "odd" } else { ["red", "blue"][(row % 2) as usize] };
        let _ = writeln!(text, "{noise:.3},{rare},{fair:.3},{good:.3},{kind}");
    }
    text
}

fn json(bench: &Bench, line: &str) -> Value {
    serde_json::from_str(&bench.ok(line)).unwrap()
}

#[test]
fn figures_of_the_training_file_are_of_rows_not_learned_from() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(240));
    for (flags, n_rows) in [("", 240), ("--holdout 0.25", 60), ("-a perceptron --holdout 0.25", 60)] {
        let trained = json(&bench, &format!("rosenblatt train t.csv {flags} --model t.model --json"));
        assert_eq!(trained["training-summary"]["rows"], 240, "{flags}: the model learns from all rows");
        let printed = json(&bench, "rosenblatt report t.csv --model t.model --json");
        assert_eq!(printed["judged-on"], "held-out rows", "{flags}");
        assert_eq!(printed["evaluation"]["confusion"], trained["held-out"]["confusion"], "{flags}");
        assert!(printed["evaluation"]["errors"].as_u64().unwrap() > 0, "{flags}");
        let page = fs::read_to_string(bench.path("t.html")).unwrap();
        assert!(page.contains("<details><summary>The training rows"), "{flags}");
        for kind in ["roc", "precision-recall", "reliability", "confusion", "margins"] {
            let drawn = json(&bench, &format!("rosenblatt plot {kind} t.csv --model t.model --json"));
            let notes = drawn["notes"].to_string();
            assert!(notes.contains(&format!("{n_rows} held-out rows")), "{kind} {flags}: {notes}");
            let drawn =
                json(&bench, &format!("rosenblatt plot {kind} t.csv --model t.model --training-rows --json"));
            assert!(drawn["notes"].to_string().contains("240 training rows"), "{kind} {flags}");
        }
        let printed = json(&bench, "rosenblatt report t.csv --model t.model --training-rows --json");
        assert_eq!(printed["judged-on"], "training rows", "{flags}");
    }
    bench.write("other.csv", noisy(300));
    let printed = json(&bench, "rosenblatt report other.csv --model t.model --json");
    assert_eq!(
        (printed["judged-on"].as_str(), printed["evaluation"]["rows"].as_u64()),
        (Some("other rows"), Some(300))
    );
    bench.ok("rosenblatt train t.csv --no-held-out-scores --model bare.model");
    let printed = json(&bench, "rosenblatt report t.csv --model bare.model --json");
    assert_eq!(printed["judged-on"], "training rows");
}

#[test]
fn the_headline_hangs_less_on_the_seed() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(300));
    let spread = |flags: &str| {
        let errors: Vec<f64> = (0..5)
            .map(|seed| {
                let line = format!(
                    "rosenblatt train t.csv -a perceptron {flags} --seed {seed} --model t.model --json"
                );
                json(&bench, &line)["held-out"]["error"].as_f64().unwrap()
            })
            .collect();
        errors.iter().copied().fold(0.0, f64::max) - errors.iter().copied().fold(1.0, f64::min)
    };
    let (usual, split) = (spread(""), spread("--holdout 0.2"));
    assert!(usual * 2.0 <= split, "{usual} {split}");
    let kept =
        json(&bench, "rosenblatt train t.csv -a perceptron --holdout 0.2 --no-refit --model t.model --json");
    assert_eq!(kept["training-summary"]["rows"], 240);
    assert_eq!(kept["training-summary"]["estimate"]["refitted"], false);
}

#[test]
fn a_race_is_sorted_by_what_is_compared() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(500));
    let printed = bench.ok("rosenblatt train t.csv --model t.model");
    let race: Vec<&str> = printed
        .lines()
        .skip_while(|line| !line.starts_with("race of "))
        .take_while(|line| !line.is_empty())
        .collect();
    let rows: Vec<Vec<&str>> = race
        .iter()
        .filter(|line| line.starts_with("  "))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let losses: Vec<f64> = rows.iter().filter_map(|row| row.last()?.parse().ok()).collect();
    assert!(losses.len() >= 2 && losses.is_sorted(), "{printed}");
    assert!(race.iter().any(|line| line.contains("least loss")), "{printed}");
    let raced = json(&bench, "rosenblatt train t.csv --model t.model --json");
    let entrants = raced["race"]["entrants"].as_array().unwrap();
    for entrant in entrants {
        assert_eq!(entrant["compared"].is_null(), !entrant["left"].is_null(), "{entrant}");
    }
}

#[test]
fn columns_rank_by_what_is_lost_without_them() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(400));
    let trained = json(&bench, "rosenblatt train t.csv --model t.model --json");
    let columns = trained["importance"]["columns"].as_array().unwrap();
    let order: Vec<&str> = columns.iter().map(|column| column["column"].as_str().unwrap()).collect();
    assert_eq!(order[..2], ["good", "fair"]);
    let low = |column: &Value| column["interval"][0].as_f64().unwrap();
    assert!(low(&columns[0]) > 0.0 && low(&columns[2]) <= 0.0, "{columns:?}");
    let printed = bench.ok("rosenblatt inspect t.model");
    let listed = printed.split("columns that matter").nth(1).unwrap();
    assert!(listed.find("good").unwrap() < listed.find("fair").unwrap(), "{printed}");
    assert!(listed.contains("no more than by chance: ") && listed.contains("noise"), "{printed}");
    assert_eq!(json(&bench, "rosenblatt inspect t.model --json")["importance"], trained["importance"]);
    let shapes = bench.run("rosenblatt plot shapes --model t.model");
    assert!(shapes.stderr.contains("`rosenblatt plot shapes FILE --model t.model`"), "{}", shapes.stderr);
    // A bar of a category has its share of the rows beside its name, as the list of top features has.
    bench.ok("rosenblatt train t.csv -a perceptron --model p.model");
    let drawn = json(&bench, "rosenblatt plot weights --model p.model --json");
    assert!(drawn["picture"].as_str().unwrap().contains(">rare=odd (1.25 %)<"), "{}", drawn["notes"]);
    bench.ok("rosenblatt report t.csv --model t.model");
    let page = fs::read_to_string(bench.path("t.html")).unwrap();
    let listed = page.split("Columns that matter").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(listed.contains("<td>\u{2212}0.") && !listed.contains("<td>-"), "{listed}");
    assert!(!listed.contains("\u{2212}0.0000"), "{listed}");
}

/// A text is shuffled as a whole, a cross follows its columns, and where nothing is ranked the report says why.
#[test]
fn texts_and_crosses_are_ranked_and_what_is_not_says_why() {
    let bench = Bench::new();
    let mut text = "words,left,right,noise,kind\n".to_owned();
    for row in 0..300_u32 {
        let (left, right) = (row / 2 % 2, row / 4 % 2);
        let (word, kind) = if row % 5 == 0 {
            (["cheap", "dear"][(row % 2) as usize], row % 2)
        } else {
            (["plain", "usual"][(row / 7 % 2) as usize], u32::from(left == right))
        };
        let _ =
            writeln!(text, "{word} thing,l{left},r{right},{},k{kind}", row.wrapping_mul(2_654_435_761) >> 20);
    }
    bench.write("t.csv", text);
    let ranked = |flags: &str| {
        let trained = json(&bench, &format!("rosenblatt train t.csv {flags} --model t.model --json"));
        let columns = trained["importance"]["columns"].as_array().unwrap().clone();
        let sure = columns.iter().filter(|column| column["interval"][0].as_f64().unwrap() > 0.0);
        let mut sure: Vec<String> =
            sure.map(|column| column["column"].as_str().unwrap().to_owned()).collect();
        sure.sort();
        sure
    };
    // Alone, neither of the two columns says anything.
    let has = |columns: &[String], name: &str| columns.iter().any(|column| column == name);
    let apart = ranked("--text words");
    assert!(has(&apart, "words") && !has(&apart, "left") && !has(&apart, "right"), "{apart:?}");
    let together = ranked("--text words --cross left,right");
    assert!(["left", "right", "words"].iter().all(|name| has(&together, name)), "{together:?}");
    let printed = bench.ok("rosenblatt train t.csv --text words --hash-bits 12 --model t.model");
    assert!(
        printed.contains("columns are not ranked by how much they matter: a hashed feature"),
        "{printed}"
    );
    let printed = bench.ok("rosenblatt train t.csv --text words --holdout 0 --model t.model");
    assert!(!printed.contains("not ranked"), "{printed}");
    // A weight of a column that may be chance is not left without a word.
    bench.write("n.csv", noisy(400));
    let printed = bench.ok("rosenblatt train n.csv -a perceptron --model n.model");
    let listed = printed.split("may be chance too: ").nth(1).unwrap_or_default().lines().next().unwrap();
    assert!(listed.contains("noise") && !listed.contains("good"), "{printed}");
}

/// What decides when to stop does so where the error is estimated, and the model that is kept learns from all rows for as long.
#[test]
fn a_rule_that_stops_early_learns_from_all_rows() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(1200));
    let train = "rosenblatt train t.csv -a perceptron --model t.model --json";
    let stops = |flags: &str| {
        let trained = json(&bench, &format!("{train} {flags}"));
        let summary = trained["training-summary"].clone();
        (
            summary["rows"].as_u64().unwrap(),
            summary["epochs"].as_u64().unwrap(),
            summary["validation"].is_null(),
        )
    };
    let judged = stops("--holdout 0.2 --no-refit");
    assert!(judged.0 == 864 && !judged.2, "{judged:?}");
    let kept = json(&bench, &format!("{train} --holdout 0.2 --no-refit"));
    let best = kept["training-summary"]["validation"]["best-epoch"].as_u64().unwrap();
    assert_eq!(stops("--holdout 0.2"), (1200, best, true));
    let (rows, epochs, is_whole) = stops("");
    assert!(rows == 1200 && is_whole && epochs < 20, "{epochs}");
    assert!(bench.ok("rosenblatt inspect t.model").contains("the model itself learned from all rows\n"));
    // The weights are those of as many epochs over all rows.
    let weights = bench.ok("rosenblatt inspect t.model --weights");
    bench.ok(&format!("{train} --holdout 0 --patience 0 --epochs {epochs}"));
    assert_eq!(bench.ok("rosenblatt inspect t.model --weights"), weights);
    for rule in ["logistic", "mlp --hidden 4", "perceptron --kernel rbf"] {
        let trained =
            json(&bench, &format!("rosenblatt train t.csv -a {rule} --epochs 6 --model t.model --json"));
        assert_eq!(trained["training-summary"]["rows"], 1200, "{rule}");
    }
    assert_eq!(stops("--holdout 0").0, 1080);
}

/// Where every class has one row there is nothing to judge by.
#[test]
fn a_label_of_single_rows_is_refused_with_the_cure() {
    let bench = Bench::new();
    for n_rows in [2, 6, 20] {
        let row = |row: u32| format!("{row},{},k{row}\n", row * row % 7);
        bench.write("t.csv", format!("a,b,c\n{}", (0..n_rows).map(row).collect::<String>()));
        for flags in ["", "--label c", "--label c --holdout 0.5", "--label c --folds 2", "-a perceptron"] {
            let refused = bench.run(&format!("rosenblatt train t.csv {flags} --model t.model"));
            assert_eq!(refused.code, Some(1), "{n_rows} {flags}: {}", refused.all());
            let words = ["t.csv", "`c`", &format!("{n_rows} distinct values"), "--label"];
            assert!(words.iter().all(|word| refused.stderr.contains(word)), "{flags}: {}", refused.stderr);
        }
    }
    bench.write("t.csv", "a,b,c\n1,2,x\n3,1,y\n2,2,z\n");
    bench.ok("rosenblatt train t.csv --label c --holdout 0 --model t.model");
}

#[test]
fn a_quantity_is_predicted_as_a_number() {
    let bench = Bench::new();
    let row = |row: u32| format!("{},{},{}.{}\n", row * 31 % 89, row % 7, row * 17 % 1000, row % 10);
    bench.write("prices.csv", format!("a,b,price\n{}", (0..400).map(row).collect::<String>()));
    // A label without a name is asked for.
    let refused = bench.run("rosenblatt train prices.csv --model p.model");
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    let words = ["price", "quantity", "name it with --label to predict it as a number"];
    assert!(words.iter().all(|word| refused.stderr.contains(word)), "{}", refused.stderr);
    assert!(!bench.path("p.model").exists());
    let report = bench.ok("rosenblatt train prices.csv --label price --model p.model");
    assert!(report.contains("`price` is a quantity") && report.contains("mean squared error"), "{report}");
    bench.ok("rosenblatt train prices.csv --label b --model p.model");
}

#[test]
fn slips_of_the_first_hour_are_answered() {
    let bench = Bench::new();
    bench.write("pets.csv", noisy(60).replace("kind", "species"));
    bench.ok("rosenblatt train pets.csv --model pets.model");
    bench.write(
        "dots.csv",
        noisy(60).replace("kind", "species").replace("yes", "yes.").replace(",no\n", ",no.\n"),
    );
    bench.ok("rosenblatt convert pets.csv more.svm");
    fs::create_dir_all(bench.path("mixed")).unwrap();
    bench.ok("cp pets.csv mixed/a.csv && rosenblatt convert pets.csv mixed/more.jsonl");
    for (line, words) in [
        ("train pets.csv --label Specees", "did you mean `species`?"),
        ("train pets.cvs", "did you mean `pets.csv`?"),
        ("train https://example.org/pets.csv", "download it first"),
        ("train pets.csv --holdout 20", "did you mean 0.2?"),
        ("train pets.csv --holdout 20%", "did you mean 0.2?"),
        ("train pets.csv --delimiter ';'", "leave --delimiter out"),
        ("evaluate dots.csv --model pets.model", "differ by a stop"),
        ("train pets.csv more.svm", "more.svm: this looks like libsvm, expected CSV as in the first file"),
        ("train mixed", "more.jsonl: this looks like jsonl, expected CSV as in the first file"),
    ] {
        let refused = bench.run(&format!("rosenblatt {line}"));
        assert_ne!(refused.code, Some(0), "{line}");
        assert!(refused.stderr.contains(words), "{line}: {}", refused.stderr);
    }
    let printed = bench.ok("rosenblatt train pets.csv --ignore noise,rare --model few.model --json");
    assert!(printed.contains("\"features\":2"), "{printed}");
    for (name, text) in
        [("inbox/ham/1", "see you soon"), ("inbox/ham/2", "lunch at noon"), ("inbox/spam/1", "win cash")]
    {
        let path = bench.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let printed = bench.ok("rosenblatt train inbox --holdout 0 -a perceptron --model inbox.model");
    assert!(printed.contains("every folder is taken for a class: `ham`, `spam`"), "{printed}");
}

/// "misclassified" is no kind of picture, but what rings of the boundary show.
#[test]
fn a_plot_of_misclassified_rows_is_the_boundary_with_rings() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(200));
    let done = bench.run("rosenblatt plot misclassified t.csv -o wrong.svg");
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(done.stderr.contains("`plot boundary` rings the misclassified rows"), "{}", done.stderr);
    let drawn = fs::read_to_string(bench.path("wrong.svg")).unwrap();
    assert!(drawn.contains("class=\"ring "), "{drawn}");
    bench.ok("rosenblatt plot boundary t.csv -o boundary.svg");
    assert_eq!(drawn, fs::read_to_string(bench.path("boundary.svg")).unwrap());
}

/// What is drawn of a file is what `train` makes of it.
#[test]
fn a_plot_of_a_file_is_of_the_model_that_train_makes() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(200));
    let trained = json(&bench, "rosenblatt train t.csv --model t.model --json");
    let drawn = json(&bench, "rosenblatt plot confusion t.csv --json");
    let wanted = format!("{} mistakes in 200 held-out rows", trained["held-out"]["errors"]);
    assert!(drawn["notes"].to_string().contains(&wanted), "{wanted}: {}", drawn["notes"]);
    let done = bench.run("rosenblatt plot margins t.csv -o m.svg");
    assert!(done.stderr.contains("draw its model with --model"), "{}", done.stderr);
}

/// What `train` prints of held-out rows, `report` and the legend of the curves say as well.
#[test]
fn the_area_under_the_curve_is_one_number() {
    let bench = Bench::new();
    bench.write("two.csv", noisy(240));
    let mut three = "a,b,kind\n".to_owned();
    for row in 0..210_u32 {
        let noise = f64::from(row * 37 % 101) / 40.0;
        let _ = writeln!(
            three,
            "{:.2},{:.2},k{}",
            f64::from(row % 3) + noise,
            noise * f64::from(row % 5),
            row % 3
        );
    }
    bench.write("three.csv", three);
    let areas = |judged: &Value| {
        let classes = judged["classes"].as_array().unwrap();
        classes.iter().map(|class| class["auc"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    for file in ["two.csv", "three.csv"] {
        for flags in
            ["", "--holdout 0.3", "-a perceptron --folds 4", "-a perceptron --folds 4 --no-held-out-scores"]
        {
            let trained = json(&bench, &format!("rosenblatt train {file} {flags} --model t.model --json"));
            let printed = areas(&trained["held-out"]);
            if flags.contains("no-held-out") {
                json(
                    &bench,
                    &format!("rosenblatt train {file} -a perceptron --folds 4 --model t.model --json"),
                );
            }
            let report = json(&bench, &format!("rosenblatt report {file} --model t.model --json"));
            assert_eq!(areas(&report["evaluation"]), printed, "{file} {flags}");
            let drawn = json(&bench, &format!("rosenblatt plot roc {file} --model t.model --json"));
            let last = format!(": {:.3}", printed.last().unwrap());
            assert!(drawn["picture"].as_str().unwrap().contains(&last), "{file} {flags}: {last}");
        }
    }
}

#[test]
fn a_folder_of_one_folder_says_what_it_took_for_a_class() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("mail/spam")).unwrap();
    for number in 0..6 {
        bench.write(&format!("mail/spam/{number}.txt"), format!("buy {number} now"));
    }
    let refused = bench.run("rosenblatt train mail --model m.model");
    let words =
        ["mail: every folder in it is taken for a class", "only `spam`", "help: ", "one folder per class"];
    assert!(
        refused.code == Some(1) && words.iter().all(|word| refused.stderr.contains(word)),
        "{}",
        refused.stderr
    );
    bench.write("one.csv", "a,kind\n1,x\n2,x\n3,x\n");
    let refused = bench.run("rosenblatt train one.csv --label kind --model m.model");
    assert!(refused.stderr.contains("--label"), "{}", refused.stderr);
}

/// Thousands are apart in notes as in reports, and not in what programs read.
#[test]
fn numbers_that_a_person_reads_have_their_thousands_apart() {
    let bench = Bench::new();
    let mut text = String::new();
    for row in 0..2_500_u32 {
        let words = if row % 1_200 == 7 { "--".to_owned() } else { format!("word{} now", row % 90) };
        let _ = writeln!(text, "{}\t{words}", ["ham", "spam"][(row % 2) as usize]);
    }
    bench.write("mail.tsv", text);
    let text = bench.ok("rosenblatt train mail.tsv -a perceptron --model m.model");
    assert!(text.contains(" of 2,500 texts hold no words"), "{text}");
    assert!(
        text.contains("2,500 of 2,500 rows repeat a row of another fold") && !text.contains(" of 2500 "),
        "{text}"
    );
    let plain = text
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .filter(|word| word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_digit()));
    assert_eq!(plain.collect::<Vec<_>>(), [""; 0], "{text}");
    let drawn = json(&bench, "rosenblatt plot confusion mail.tsv --model m.model --training-rows --json");
    assert!(drawn["picture"].as_str().unwrap().contains(">1,"), "{}", drawn["notes"]);
    let trained = json(&bench, "rosenblatt train mail.tsv -a perceptron --model m.model --json");
    assert_eq!(trained["data"]["rows"], 2500);
}

/// Numbers with more digits than a person reads are for programs: CSV and JSON keep them, as they are read back to the bit.
#[test]
fn probabilities_are_short_for_people_and_whole_for_programs() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(240));
    let text = bench.ok("rosenblatt train t.csv --model t.model")
        + &bench.ok("rosenblatt evaluate t.csv --model t.model");
    let long = |text: &str| {
        let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(str::to_owned);
        words
            .filter(|word| {
                word.split_once('.').is_some_and(|(_, digits)| digits.trim_start_matches('0').len() > 4)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(long(&text), [""; 0], "{text}");
    let csv = bench.ok("rosenblatt predict t.csv --model t.model --probabilities");
    let first = csv.lines().nth(1).unwrap();
    let shares: Vec<f64> = first.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
    let line = bench.ok("rosenblatt predict t.csv --model t.model --probabilities --json");
    let object: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let again: Vec<f64> =
        object["probabilities"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).collect();
    assert_eq!(shares, again, "{csv}");
}

#[test]
fn a_picture_of_two_classes_names_those_to_choose_from() {
    let bench = Bench::new();
    for kind in ["mistakes", "norms"] {
        let refused = bench.run(&format!("rosenblatt plot {kind} crates/data/bundled/iris.csv"));
        let words = ["`setosa`, `versicolor`, `virginica`", "`--positive setosa`"];
        assert!(words.iter().all(|word| refused.stderr.contains(word)), "{}", refused.stderr);
        let line = format!(
            "rosenblatt plot {kind} crates/data/bundled/iris.csv --positive virginica --epochs 3 --json"
        );
        let title = json(&bench, &line)["title"].to_string();
        assert!(title.contains("virginica against the rest"), "{title}");
    }
}

/// The field's words, and no escape where no terminal is.
#[test]
fn a_report_speaks_the_words_of_the_field() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(240));
    let text = bench.ok("rosenblatt train t.csv --model t.model && rosenblatt inspect t.model");
    assert!(text.contains("\nactual / predicted   no  yes  precision"), "{text}");
    bench.ok("rosenblatt report t.csv --model t.model");
    let page = fs::read_to_string(bench.path("t.html")).unwrap();
    assert!(page.contains(">weights used</th>") && page.contains(">actual class</th>"), "{page}");
    for odd in ["read out", "at the limit of", "what the winner", "\u{1b}"] {
        assert!(!text.contains(odd), "{odd}: {text}");
    }
    if bench.run("script --version").code == Some(0) {
        for line in ["inspect t.model", "report t.csv --model t.model"] {
            let shown = bench.ok(&format!("NO_COLOR= TERM=xterm script -qec 'rosenblatt {line}' /dev/null"));
            assert!(shown.contains("\u{1b}[1mcross-validated error: "), "{line}: {shown}");
        }
    }
    for word in ["weights: ", "while learning", "maximum number of epochs", "winner's held-out scores"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn probabilities_of_pairs_fall_towards_the_boundary() {
    let bench = Bench::new();
    bench.write("iris.csv", fs::read_to_string("../data/bundled/iris.csv").unwrap());
    bench.ok("rosenblatt train iris.csv -a pa1 --multiclass one-vs-one --folds 5 --model pairs.model");
    // From the mean of versicolor to that of virginica, in a hundred steps.
    let (from, to) = ([5.936, 2.77, 4.26, 1.326], [6.588, 2.974, 5.552, 2.026]);
    let mut line = "sepal_length,sepal_width,petal_length,petal_width\n".to_owned();
    for step in 0..=100 {
        let cells = from
            .iter()
            .zip(to)
            .map(|(from, to)| format!("{:.4}", from + (to - from) * f64::from(step) / 100.0));
        let _ = writeln!(line, "{}", cells.collect::<Vec<_>>().join(","));
    }
    bench.write("line.csv", line);
    let printed = bench.ok("rosenblatt predict line.csv --model pairs.model --probabilities --json");
    let of = |class: &str| -> Vec<f64> {
        let share = |line: &str| {
            let answer: Value = serde_json::from_str(line).unwrap();
            answer["probabilities"][class].as_f64().unwrap()
        };
        printed.lines().map(share).collect()
    };
    let (ours, theirs) = (of("versicolor"), of("virginica"));
    assert!(ours[0] > 0.9 && theirs[100] > 0.9, "{} {}", ours[0], theirs[100]);
    // At first it rises, as the third class goes out of sight.
    assert!(ours[10..].windows(2).all(|pair| pair[0] > pair[1]), "it falls with every step: {ours:?}");
    let largest = ours.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
    assert!(largest < 0.08, "no step is a jump: {largest}");
    let at_boundary = ours.iter().zip(&theirs).find(|(ours, theirs)| theirs >= ours).unwrap();
    assert!((0.35..0.55).contains(at_boundary.0), "{at_boundary:?}");
}

#[test]
fn a_category_speaks_beside_the_mean_of_its_column() {
    let bench = Bench::new();
    let mut text = "plan,region,size,kind\n".to_owned();
    for row in 0..400 {
        let (plan, region, size) = (["basic", "plus", "pro"][row % 3], ["east", "west"][row % 2], row % 7);
        // Half of the basic ones leave, one in eight of the others; regions and sizes say nothing.
        let leaves = if plan == "basic" { row % 2 == row % 4 / 2 } else { row % 8 == 0 };
        let _ = writeln!(text, "{plan},{region},{size},{}", if leaves { "yes" } else { "no" });
    }
    bench.write("t.csv", text);
    bench.ok("rosenblatt train t.csv -a logistic --shape line --folds 5 --model t.model");
    let drawn = json(&bench, "rosenblatt inspect t.model --json");
    assert!(drawn.to_string().contains("plan=basic"), "{drawn}");
    let printed = bench.ok("rosenblatt predict t.csv --model t.model --explain 9 --scores --json");
    // Over the rows learned from, what a column adds to `yes` is nothing in the mean, and a basic plan speaks for it.
    let mut sums = std::collections::BTreeMap::<String, f64>::new();
    for line in printed.lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        let side = if answer["class"] == "yes" { 1.0 } else { -1.0 };
        let mut score = answer["base"].as_f64().unwrap();
        for reason in
            [&answer["for"], &answer["against"]].into_iter().flat_map(|side| side.as_array().unwrap())
        {
            score += reason["contribution"].as_f64().unwrap();
            let (name, amount) =
                (reason["feature"].as_str().unwrap(), side * reason["contribution"].as_f64().unwrap());
            *sums.entry(name.split('=').next().unwrap().to_owned()).or_default() += amount;
            match name {
                "plan=basic" => assert!(amount > 0.0, "{line}"),
                "plan=plus" | "plan=pro" => assert!(amount < 0.0, "{line}"),
                _ => {}
            }
        }
        assert!((score - side * answer["scores"][0].as_f64().unwrap()).abs() < 1e-9, "{line}");
    }
    assert_eq!(sums.keys().map(String::as_str).collect::<Vec<_>>(), ["plan", "region", "size"]);
    for (column, sum) in &sums {
        assert!(sum.abs() / 400.0 < 1e-4, "{column}: {sum}");
    }
    // A category has a bar for each value beside the curves of numbers.
    bench.ok("rosenblatt train t.csv -a logistic --shape 'bend(knots=4)' --folds 5 --model bent.model");
    let shapes = bench.ok("rosenblatt plot shapes t.csv --model bent.model");
    assert!(shapes.contains("plan") && shapes.contains("size"), "{shapes}");
    let both = bench.ok("rosenblatt predict t.csv --model t.model --explain 9");
    assert!(both.contains("region=east") && both.contains("region=west"), "each of two categories is named");
}

#[test]
fn costs_have_a_figure_beside_the_best_constant_answer() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(400));
    for line in ["train t.csv --cost yes=5 --model t.model", "evaluate t.csv --model t.model"] {
        let text = bench.ok(&format!("rosenblatt {line}"));
        let figures =
            text.lines().find(|line| line.starts_with("mean cost: ")).unwrap_or_else(|| panic!("{text}"));
        assert!(
            figures.contains("a row (95 % confidence interval ")
                && figures.contains("always predicting `yes` would cost")
        );
    }
    bench.ok("rosenblatt report t.csv --model t.model");
    let page = fs::read_to_string(bench.path("t.html")).unwrap();
    assert!(page.contains("Mean cost: "), "the page judges by costs, too");
    assert!(!bench.ok("rosenblatt train t.csv --model even.model").contains("mean cost:"));
}

#[test]
fn an_interval_of_groups_counts_groups() {
    let bench = Bench::new();
    let mut text = "clinic,a,b,kind\n".to_owned();
    for row in 0..240 {
        let clinic = row % 12;
        // Half of the clinics turn the label round now and then: their rows are wrong together.
        let turned = clinic % 2 == 0 && row % 5 < 3;
        let is_yes = (row * 7 % 11 > 5) != turned;
        let _ =
            writeln!(text, "c{clinic},{},{},{}", row * 7 % 11, row % 13, if is_yes { "yes" } else { "no" });
    }
    bench.write("t.csv", text);
    let line = "rosenblatt train t.csv --label kind --group clinic -a pa1 --folds 6 --model t.model";
    let printed = json(&bench, &format!("{line} --json"));
    let of = |interval: &Value| interval[1].as_f64().unwrap() - interval[0].as_f64().unwrap();
    assert_eq!(printed["by-group"]["groups"], 12);
    let (by_group, by_row) = (of(&printed["by-group"]["interval"]), of(&printed["held-out"]["interval"]));
    assert!(by_group > by_row, "{by_group} {by_row}");
    assert!(bench.ok(line).contains("\nby group: 95 % confidence interval "));
    let compared =
        bench.ok("rosenblatt compare t.csv --label kind --group clinic --algorithms pa1,perceptron");
    assert!(compared.contains("this assumes that new rows are of new groups"), "{compared}");
    let plain = bench.ok("rosenblatt compare t.csv --label kind --ignore clinic --algorithms pa1,perceptron");
    assert!(plain.contains("this assumes that new rows are drawn as these were"), "{plain}");
    assert!(bench.run("rosenblatt compare t.csv --label kind --group klinik").all().contains("klinik"));
}

#[test]
fn the_worst_row_in_every_round_ends_when_it_is_right() {
    let bench = Bench::new();
    bench.write("six.csv", "x,y,fruit\n1,1,pear\n2,1,pear\n1,2.5,pear\n3,3,apple\n4,2,apple\n3.5,4,apple\n");
    let printed = bench.ok("rosenblatt trace six.csv --order worst");
    assert!(printed.contains("\nconverged in epoch "), "{printed}");
}

#[test]
fn the_report_names_actual_classes_whichever_is_positive() {
    let bench = Bench::new();
    bench.write("t.csv", noisy(240));
    for positive in ["yes", "no"] {
        bench.ok(&format!("rosenblatt train t.csv --positive {positive} --model t.model"));
        bench.ok("rosenblatt report t.csv --model t.model -o t.html");
        let page = fs::read_to_string(bench.path("t.html")).unwrap();
        assert!(page.contains("yes taken for no") || page.contains("no taken for yes"), "{positive}");
        assert!(!page.contains("yes taken for yes") && !page.contains("no taken for no"), "{positive}");
    }
}
