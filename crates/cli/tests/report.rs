//! Pages that stand alone, and say what is so.

use crate::bench::Bench;
use std::fs;

fn page(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path(name)).unwrap()
}

/// The lines of the last command block of a page.
fn commands(page: &str) -> Vec<String> {
    let (_, rest) = page.rsplit_once("<pre><code>").unwrap();
    let (block, _) = rest.split_once("</code></pre>").unwrap();
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let block = plain.iter().fold(block.to_owned(), |text, (code, letter)| text.replace(code, letter));
    block.lines().map(str::to_owned).collect()
}

#[test]
fn the_command_on_the_page_trains_the_same_model() {
    let bench = Bench::new();
    let bundled = "crates/data/bundled";
    bench.write(
        "it's odd.csv",
        "id,size,kind,y\n1,1.5,3,a\n2,2.5,4,b\n3,1.1,3,a\n4,2.9,4,b\n5,2,3,a\n6,3,4,b\n",
    );
    for train in [
        format!("{bundled}/iris.csv"),
        format!("{bundled}/iris.csv --holdout 0.3 --seed 7 --multiclass one-vs-one --epochs 3"),
        format!("{bundled}/iris.csv --positive versicolor --scale none --holdout 0"),
        format!("{bundled}/penguins.csv --label species --missing mean --readout voted"),
        format!(
            "{bundled}/banknote.csv --algorithm fixed-margin --param margin=0.5 --rate '1/sqrt(k)' --patience 2 --class-weight 1=2"
        ),
        format!("{bundled}/sms-spam.tsv --positive ham --epochs 2"),
        format!("{bundled}/iris.csv --classes virginica,setosa,versicolor"),
        format!("{bundled}/iris.csv --map nystroem --map-size 20 --kernel polynomial --degree 3 --gamma 0.5"),
        format!("{bundled}/iris.csv --kernel polynomial --degree 3 --readout averaged --unit-hypotheses"),
        format!("{bundled}/iris.csv --kernel rbf --gamma 0.5 --support-budget 20 --removal random"),
        format!("{bundled}/iris.csv --folds 3 --calibrate isotonic --date"),
        format!("{bundled}/banknote.csv --calibrate none"),
        format!("{bundled}/sms-spam.tsv --ngrams 1 --words count --hash-bits 12 --order given"),
        "\"it's odd.csv\" --label y --ignore id --categorical kind --max-updates 2 --zero plus".to_owned(),
    ] {
        bench.ok(&format!("rosenblatt train {train} --model m.model"));
        let first = fs::read(bench.path("m.model")).unwrap();
        let file = train.split(" --").next().unwrap();
        let reading = if train.contains("--ignore id") { " --ignore id" } else { "" };
        bench.ok(&format!("rosenblatt report {file}{reading} --model m.model -o page.html"));
        fs::remove_file(bench.path("m.model")).unwrap();
        let commands = commands(&page(&bench, "page.html"));
        bench.ok(&commands[0]);
        assert!(fs::read(bench.path("m.model")).unwrap() == first, "{train}\n{}", commands[0]);
        let before = page(&bench, "page.html");
        bench.ok(&commands[1]);
        assert_eq!(page(&bench, "page.html"), before, "{}", commands[1]);
    }
}

#[test]
fn pages_fetch_nothing_and_names_do_no_harm() {
    let bench = Bench::new();
    let (evil, long) = ("<script>alert(1)</script>", "n".repeat(200));
    let row =
        |row: u32| format!("{},{},{}", row % 7, row % 5, if row.is_multiple_of(3) { evil } else { &long });
    let rows: Vec<String> = (0..40).map(row).collect();
    bench.write("evil.csv", format!("\"<img src=x>\",b,class\n{}\n", rows.join("\n")));
    bench.ok("rosenblatt train evil.csv --label class --model evil.model");
    bench.ok("rosenblatt report evil.csv --model evil.model -o evil.html");
    let page = page(&bench, "evil.html");
    assert!(page.contains("&lt;script&gt;") && page.contains("&lt;img src=x&gt;"));
    for harm in ["<script", "<img src=x", "http:", "https:", "url(", "@import", "javascript:"] {
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
        assert!(!elsewhere.contains(harm), "{harm}");
    }
}

#[test]
fn the_rows_it_is_judged_on_are_those_it_has_not_seen() {
    let bench = Bench::new();
    let data = "crates/data/bundled/banknote.csv";
    let trained = bench.ok(&format!(
        "rosenblatt train {data} -a perceptron --holdout 0.25 --calibrate none --model m.model --json"
    ));
    let trained: serde_json::Value = serde_json::from_str(&trained).unwrap();
    let printed = bench.ok(&format!("rosenblatt report {data} --model m.model --json"));
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["judged-on"], "held-out rows");
    assert_eq!(printed["evaluation"]["confusion"], trained["held-out"]["confusion"]);
    bench.ok(&format!("tail -n 700 {data} > part.csv"));
    let printed = bench.ok("rosenblatt report part.csv --model m.model --json");
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["judged-on"], "other rows");
    bench.ok(&format!("rosenblatt train {data} --holdout 0 --model all.model"));
    let printed = bench.ok(&format!("rosenblatt report {data} --model all.model"));
    assert!(printed.contains("it was trained on"), "{printed}");
}

#[test]
fn a_certificate_is_checked_before_it_is_told() {
    let bench = Bench::new();
    bench.write("line.csv", "x,y,class\n1,1,a\n2,1,a\n-1,-1,b\n-2,-1,b\n");
    bench.write("xor.csv", "x,y,class\n1,1,a\n1,-1,b\n-1,1,b\n-1,-1,a\n");
    bench.ok("rosenblatt certify line.csv --label class --certificate line.json");
    bench.ok("rosenblatt train line.csv --label class --holdout 0 --model line.model");
    bench.ok("rosenblatt report line.csv --model line.model --label class --certificate line.json");
    assert!(page(&bench, "line.html").contains("What is certain"));
    let refused = bench
        .run("rosenblatt report xor.csv --model line.model --label class --certificate line.json -o no.html");
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(!bench.path("no.html").exists());
}

/// What new rows may expect comes first, beside what saying always the same would do.
#[test]
fn the_held_out_error_and_the_majority_are_among_the_first_numbers() {
    let bench = Bench::new();
    let tiles =
        |page: &str| page.split("class=\"tiles\"").nth(1).unwrap().split("</ul>").next().unwrap().to_owned();
    bench.ok("rosenblatt train crates/data/bundled/banknote.csv --model m.model");
    bench.ok("rosenblatt report crates/data/bundled/banknote.csv --model m.model -o page.html");
    let good = page(&bench, "page.html");
    // Pictures of several parts are as wide as the page, where it is wide.
    assert_eq!(good.matches("<figure class=\"wide\"><svg").count(), 1, "curves; no column is straight");
    let found = tiles(&good);
    let places = ["cross-validated error", "error of always predicting the most common class"]
        .map(|what| found.find(what));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{found}");
    assert!(found.contains("44.5 %") && !good.contains("no better than"), "{found}");
    // Of what has nothing to do with its class, the most common class is as good.
    let row = |row: u32| {
        format!(
            "{},{}\n",
            row.wrapping_mul(2_654_435_761) >> 20,
            if row.is_multiple_of(4) { "b" } else { "a" }
        )
    };
    bench.write("chance.csv", format!("x,class\n{}", (0..400).map(row).collect::<String>()));
    bench.ok("rosenblatt train chance.csv --model c.model");
    bench.ok("rosenblatt report chance.csv --model c.model -o chance.html");
    assert!(page(&bench, "chance.html").contains("This is no better than always predicting a."));
}

/// On a wide screen small pictures stand in two columns; on a dark one, every colour has another.
#[test]
fn a_page_has_two_columns_where_it_is_wide_and_colours_for_dark_screens() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv -a perceptron --model m.model");
    bench.ok("rosenblatt report crates/data/bundled/iris.csv --model m.model -o page.html");
    let page = page(&bench, "page.html");
    let (_, wide) = page.split_once("@media (min-width: 70rem) {").unwrap();
    let column = "main > figure { display: inline-block; width: calc(50% - 1.2rem);";
    assert!(wide.split_once("@media").unwrap().0.contains(column), "{wide}");
    // The rule is for children of the page's main part: a figure begins a line outside of all other elements.
    let (_, main) = page.split_once("<main>").unwrap();
    assert!(main.matches("\n<figure><svg").count() >= 3, "{main}");
    for svg in page.split("<svg ").skip(1).map(|rest| rest.split("</svg>").next().unwrap()) {
        let (_, dark) = svg.split_once("@media screen and (prefers-color-scheme:dark){").unwrap();
        let dark = dark.split("</style>").next().unwrap();
        let classes = svg.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for ink in classes
            .flat_map(str::split_whitespace)
            .filter(|word| word.starts_with("f-") || word.starts_with("s-"))
        {
            let what = if ink.starts_with("f-") { "fill" } else { "stroke" };
            assert!(dark.contains(&format!(".{ink}{{{what}:#")), "{ink} in {dark}");
        }
    }
}
