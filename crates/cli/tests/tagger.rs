//! Sentences as a person meets them: train, predict, evaluate, inspect.

use crate::bench::Bench;
use std::fmt::Write as _;

const KNOWN: &str = "Ada NNP B-NP\nwrites VBZ B-VP\nprograms NNS B-NP\n. . O\n\nThe DT B-NP\nold JJ I-NP\nengine NN I-NP\nruns VBZ B-VP\n. . O\n\n";

/// What is about the whole program is about sentences, too.
#[test]
fn a_tagger_is_trained_quietly() {
    let bench = Bench::new();
    bench.write("a.conll", "the D\ndog N\n\na D\ncat N\n");
    for quiet in ["-q", "--quiet"] {
        assert_eq!(bench.ok(&format!("rosenblatt train a.conll --model a.model {quiet}")), "");
    }
    bench.write("new.conll", "the D\ncat N\n");
    bench.ok("rosenblatt predict new.conll --model a.model --quiet");
    bench.ok("rosenblatt evaluate new.conll --model a.model --quiet");
}

#[test]
fn a_tagger_is_trained_asked_measured_and_looked_at() {
    let bench = Bench::new();
    bench.write("known.conll", KNOWN);
    let printed = bench.ok("rosenblatt train known.conll --model tags.model");
    assert!(
        printed.contains("2 sentences, 9 tokens, 4 labels") && printed.contains("labels keep to bio"),
        "{printed}"
    );
    bench.write("new.conll", "The DT\nengine NN\nwrites VBZ\n\n");
    let tagged = bench.ok("rosenblatt predict new.conll --model tags.model");
    assert_eq!(tagged, "The DT B-NP\nengine NN I-NP\nwrites VBZ B-VP\n\n");
    // A column of labels that is there already is filled anew.
    bench.write("asked.conll", "The DT ?\nengine NN ?\nwrites VBZ ?\n\n");
    assert_eq!(bench.ok("rosenblatt predict asked.conll --model tags.model -o out.conll"), "");
    assert_eq!(bench.ok("cat out.conll"), tagged);
    bench.write("many.conll", "The DT\nengine NN\nwrites VBZ\n\n".repeat(20_000));
    let alone = bench.ok("rosenblatt predict many.conll --model tags.model --threads 1");
    assert_eq!(alone, tagged.repeat(20_000));
    assert!(alone == bench.ok("rosenblatt predict many.conll --model tags.model --threads 3"));
    let measured = bench.ok("rosenblatt evaluate known.conll --model tags.model --json");
    assert!(measured.contains("\"accuracy\":1.0") && measured.contains("\"f1\":1.0"), "{measured}");
    let why = bench.ok("rosenblatt predict new.conll --model tags.model --explain 3");
    assert!(why.starts_with("The\tB-NP\tlead "), "{why}");
    assert!(bench.ok("rosenblatt inspect tags.model").contains("never"), "O before I-NP");
    assert!(bench.ok("rosenblatt inspect tags.model --json").contains("\"task\":\"tags\""));
}

#[test]
fn conllu_is_found_by_its_name_and_kept_as_it_is() {
    let bench = Bench::new();
    let line = |id: &str, form: &str, upos: &str| format!("{id}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t_\n");
    let known = format!(
        "# text = dogs don't run\n{}{}{}{}{}\n",
        line("1", "dogs", "NOUN"),
        line("2-3", "don't", "_"),
        line("2", "do", "AUX"),
        line("3", "n't", "PART"),
        line("4", "run", "VERB"),
    );
    bench.write("known.conllu", &known);
    bench.ok("rosenblatt train known.conllu");
    let empty = known.replace("NOUN", "_").replace("AUX", "_").replace("PART", "_").replace("VERB", "_");
    bench.write("new.conllu", &empty);
    assert_eq!(bench.ok("rosenblatt predict new.conllu --model known.model"), known);
    bench.write("plain.txt", "dogs run\n");
    let refused = bench.run("rosenblatt predict plain.txt --format plain --model known.model");
    assert_eq!(refused.code, Some(0), "{}", refused.stderr);
    assert_eq!(refused.stdout, "dogs\tNOUN\nrun\tVERB\n\n");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let bench = Bench::new();
    bench.write("bad.conll", "Ada NNP B-NP\nwrites VBZ\n\n");
    let refused = bench.run("rosenblatt train bad.conll");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("bad.conll:2:1: every token should have 3 cells"), "{}", refused.stderr);
    bench.write("known.conll", KNOWN);
    let refused = bench.run("rosenblatt train known.conll --features nothing");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("a file of templates, but nothing: it cannot be read"),
        "{}",
        refused.stderr
    );
    let refused = bench.run("rosenblatt train known.conll --readout pocket");
    assert!(refused.stderr.contains("should be averaged, last or voted for sentences"), "{}", refused.stderr);
    bench.ok("rosenblatt train known.conll --readout voted --model votes.model");
    let refused = bench.run("rosenblatt predict known.conll --model votes.model --explain 2");
    assert!(
        refused.stderr.contains("is a vote of many") && refused.stderr.contains("averaged"),
        "{}",
        refused.stderr
    );
    // A vote has no weights of its own, and those of its last hypothesis are not shown for them.
    for line in [
        "predict known.conll --model votes.model --k-best 2",
        "inspect votes.model --weights",
        "report known.conll --model votes.model -o votes.html",
        "plot transitions --model votes.model -o votes.svg",
    ] {
        let refused = bench.run(&format!("rosenblatt {line}"));
        assert_eq!(refused.code, Some(1), "{line}\n{}", refused.all());
        assert!(refused.stderr.contains("is a vote of many"), "{line}\n{}", refused.stderr);
    }
    let refused = bench.run("rosenblatt predict known.conll --model votes.model --probabilities");
    assert!(refused.stderr.contains("a vote has none"), "{}", refused.stderr);
    let refused = bench.run("rosenblatt train known.conll --readout voted --holdout 0.4 --calibrate platt");
    assert!(refused.stderr.contains("auto or off where hypotheses vote"), "{}", refused.stderr);
    let printed = bench.ok("rosenblatt inspect votes.model");
    assert!(printed.contains("hypotheses vote") && !printed.contains("strongest attributes"), "{printed}");
    let printed = bench.ok("rosenblatt predict known.conll --model votes.model --json");
    assert!(printed.contains("\"tags\":[\"") && printed.contains("\"leads\":null"), "{printed}");
    bench.ok("rosenblatt train known.conll --model tags.model");
    bench.write("short.conll", "Ada\n\n");
    let refused = bench.run("rosenblatt predict short.conll --model tags.model");
    assert!(
        refused.stderr.contains("the tagger looks at 2 cells of a token, but there are 1"),
        "{}",
        refused.stderr
    );
}

/// Nothing that was typed is passed over.
#[test]
fn what_says_nothing_of_sentences_is_refused_and_so_is_the_reverse() {
    let bench = Bench::new();
    bench.write("known.conll", KNOWN);
    bench.write("table.csv", "x,y,class\n4,0,a\n1,1,b\n0,1,b\n-2,-2,a\n");
    bench.ok("rosenblatt train known.conll --model known.model");
    for (line, word) in [
        ("train known.conll --scale standard", "--scale"),
        ("train known.conll --kernel rbf", "--kernel"),
        ("train known.conll --class-weight balanced", "--class-weight"),
        ("predict known.conll --model known.model --votes", "--votes"),
        ("evaluate known.conll --model known.model --label 2", "--label"),
        ("train table.csv --beam 4", "--beam"),
        ("train table.csv --history 2", "--history"),
        ("train table.csv --shards 2", "--shards"),
        ("compare table.csv --history 2", "--history"),
        ("trace table.csv --beam 2", "--beam"),
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert_eq!(done.code, Some(2), "{line}\n{}", done.all());
        assert!(done.all().contains(&format!("`{word}`")), "{line}\n{}", done.all());
    }
    // What reads tables says whose file this is.
    let done = bench.run("rosenblatt certify known.conll");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(done.all().contains("it holds sentences (columns)"), "{}", done.all());
    let done = bench.run("rosenblatt predict known.conll --model known.model --probabilities");
    assert!(done.all().contains("needs a calibrated tagger"), "{}", done.all());
    bench.ok(
        "rosenblatt train table.csv --label class --model table.model --algorithm perceptron --holdout 0",
    );
    for line in [
        "plot transitions table.csv",
        "plot transitions --model table.model",
        "plot weights --model known.model",
        "predict table.csv --model table.model --k-best 2",
    ] {
        assert_eq!(bench.run(&format!("rosenblatt {line}")).code, Some(2), "{line}");
    }
}

/// A few hundred sentences of two patterns, with some labels that are wrong.
fn many() -> String {
    let mut text = String::new();
    for number in 0..300 {
        let verb = ["runs", "sees", "has", "light"][number % 4];
        let noun = ["dog", "light", "tree", "saw", "engine"][number % 5];
        let label = if number % 17 == 0 { "O" } else { "B-VP" };
        let _ = write!(text, "the DT B-NP\n{noun} NN I-NP\n{verb} VBZ {label}\n");
        if number % 3 == 0 {
            text.push_str("old JJ B-NP\ntrees NNS I-NP\n");
        }
        text.push_str(". . O\n\n");
    }
    text
}

#[test]
fn an_estimate_is_told_kept_and_makes_probabilities() {
    let bench = Bench::new();
    bench.write("many.conll", many());
    let printed = bench.ok("rosenblatt train many.conll --model plain.model");
    assert!(
        printed.contains("met for the first time: ") && printed.contains("no sentence was held out"),
        "{printed}"
    );
    let printed = bench.ok("rosenblatt train many.conll --holdout 0.2 --model tags.model");
    assert!(printed.contains("held-out: ") && printed.contains("60 sentences, F1 of spans"), "{printed}");
    assert!(printed.contains("probabilities: platt, fitted on"), "{printed}");
    let seen = bench.ok("rosenblatt inspect tags.model");
    let line = printed.lines().find(|line| line.starts_with("held-out")).unwrap();
    assert!(seen.contains(line), "{seen}");
    bench.write("new.conll", "the DT\nsaw NN\nruns VBZ\n\n");
    let sure = bench.ok("rosenblatt predict new.conll --model tags.model --probabilities");
    let last: Vec<&str> = sure.lines().next().unwrap().split('\t').collect();
    assert_eq!(last[..2], ["the", "B-NP"]);
    assert!((0.5..=1.0).contains(&last[2].parse::<f64>().unwrap()), "{sure}");
    let folds = bench.ok("rosenblatt train many.conll --folds 3 --calibrate off --model f.model --json");
    assert!(folds.contains("\"trainings\":3") && folds.contains("\"calibration\":null"), "{folds}");
}

#[test]
fn the_best_few_sequences_are_written_one_below_the_other() {
    let bench = Bench::new();
    bench.write("known.conll", KNOWN);
    bench.ok("rosenblatt train known.conll --model tags.model");
    bench.write("new.conll", "The DT\nengine NN\n\n");
    let text = bench.ok("rosenblatt predict new.conll --model tags.model --k-best 3");
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("# ")).collect();
    assert_eq!(heads.len(), 3, "{text}");
    assert!(text.starts_with("# 1 ") && text.contains("The DT B-NP\nengine NN I-NP\n\n# 2 "), "{text}");
    let json = bench.ok("rosenblatt predict new.conll --model tags.model --k-best 3 --json");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["tags"][1], "I-NP");
    assert_eq!(value["next-best"].as_array().unwrap().len(), 2);
    assert!(value["next-best"][0]["score"].as_f64() <= value["score"].as_f64());
    // What is written can be read: tokens and tags.
    bench.write("again.jsonl", &json);
    let again = bench.run("rosenblatt train again.jsonl --format token-lists --model again.model");
    assert_eq!(again.code, Some(0), "{}", again.all());
}

#[test]
fn taggers_are_compared_traced_reported_and_drawn() {
    let bench = Bench::new();
    bench.write("many.conll", many());
    bench.write("own.txt", "U0:%x[0,0]\nU1:%x[0,1]\n");
    let line = "rosenblatt compare many.conll --features chunking,own.txt --history 1,2 --algorithms perceptron,pa1 \
                --folds 3 --epochs 2";
    let text = bench.ok(line);
    assert!(text.starts_with("many.conll: 300 sentences, 1,400 tokens, 4 labels; 3 folds"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("perceptron averaged")).count(), 4, "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("own.txt")).count(), 4, "{text}");
    let refused = bench.run("rosenblatt compare many.conll --algorithms perceptron@rbf");
    assert_eq!(refused.code, Some(2), "{}", refused.all());
    bench.write("two.conll", KNOWN);
    let text = bench.ok("rosenblatt trace two.conll --features own.txt --rounds 2");
    assert!(text.contains("round 1, epoch 1: sentence 1; true labels 0, best labels 0: mistake"), "{text}");
    assert!(text.contains("never"), "I-NP cannot come first\n{text}");
    assert!(text.lines().any(|line| line.starts_with("U0:Ada") && line.ends_with("+1   1")), "{text}");
    assert!(bench.ok("rosenblatt trace two.conll --features own.txt --to latex").contains("tabular"));
    assert!(bench.ok("rosenblatt trace two.conll --features own.txt --to csv").contains("1,1,1,Ada,B-NP,"));
    bench.ok("rosenblatt train many.conll --model tags.model");
    let printed = bench.ok("rosenblatt report many.conll --model tags.model -o page.html");
    assert!(printed.contains("report: page.html"), "{printed}");
    let page = bench.ok("cat page.html");
    for part in
        ["tokens right", "F1 of spans", "Which label follows which", "Mistakes worth a look", "taken for"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script"));
    let drawn = bench.ok("rosenblatt plot transitions --model tags.model");
    assert!(drawn.contains("label before") && drawn.contains('×'), "{drawn}");
    bench.ok("rosenblatt plot transitions --model tags.model -o t.svg");
    assert!(bench.ok("cat t.svg").contains("I-NP may not follow O"));
}

#[test]
fn taggers_go_on_learning_and_are_mixed() {
    let bench = Bench::new();
    let text = many();
    let half = text.find("\n\n").map(|_| text[..text.len() / 2].rfind("\n\n").unwrap() + 2).unwrap();
    bench.write("one.conll", &text[..half]);
    bench.write("two.conll", &text[half..]);
    let printed = bench.ok("rosenblatt train one.conll --online --model one.model");
    assert!(
        printed.contains("met for the first time: ") && !printed.contains("no sentence was held out"),
        "{printed}"
    );
    bench.ok("rosenblatt train two.conll --start-from one.model --model more.model");
    let printed =
        bench.ok("rosenblatt train two.conll --start-from one.model --online --model other.model --json");
    assert!(printed.contains("\"progressive\":{"), "{printed}");
    bench.ok("rosenblatt train two.conll --hash-bits 16 --model hashed.model");
    bench.ok("rosenblatt train one.conll --shards 3 --model a.model");
    bench.ok("rosenblatt train two.conll --shards 3 --model b.model");
    let printed = bench.ok("rosenblatt mix a.model b.model -o mean.model");
    assert!(printed.starts_with("mean of 2 models, uniform: 300 sentences"), "{printed}");
    for model in ["more", "other", "mean", "hashed"] {
        let measured = bench.ok(&format!("rosenblatt evaluate two.conll --model {model}.model --json"));
        let value: serde_json::Value = serde_json::from_str(&measured).unwrap();
        assert!(value["accuracy"].as_f64().unwrap() > 0.95, "{model}: {measured}");
    }
    // Nothing was stopped, so there is nothing to go on from, and it says so.
    let begun =
        bench.run("rosenblatt train one.conll --online --resume --checkpoint-every 50rows --model x.model");
    assert_eq!(begun.code, Some(0), "{}", begun.all());
    assert!(begun.all().contains("there is no checkpoint; starting from the beginning"), "{}", begun.all());
    let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert_eq!(read("x.model"), read("one.model"), "checkpoints have no part in what is learned");
}

#[test]
fn rules_race_on_sentences_and_models_are_kept_dated_and_exported() {
    let bench = Bench::new();
    bench.write("many.conll", many());
    let printed = bench.ok(
        "rosenblatt tune many.conll --algorithms perceptron,pa1 --param C=0.1,1 --folds 3 --epochs 2 --model won.model",
    );
    let race: Vec<&str> =
        printed.lines().filter(|line| line.contains("F1 of spans") && line.contains(" averaged: ")).collect();
    assert_eq!(race.len(), 4, "three rules, and the winner in second order: {printed}");
    let best = race[0].split([' ', '(']).next().unwrap();
    let seen: serde_json::Value =
        serde_json::from_str(&bench.ok("rosenblatt inspect won.model --json")).unwrap();
    assert_eq!(seen["options"]["algorithm"], best, "{printed}");
    // The winner is what `train` makes of the same words.
    let param =
        seen["options"]["params"]["C"].as_f64().map_or(String::new(), |value| format!(" --param C={value}"));
    bench.ok(&format!(
        "rosenblatt train many.conll --algorithm {best}{param} --folds 3 --epochs 2 --model same.model"
    ));
    let read = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert!(read("won.model") == read("same.model"));
    let printed = bench.ok("rosenblatt train many.conll --algorithm auto --epochs 1 --model auto.model");
    assert!(printed.starts_with("race on 5 folds of 300 sentences, the best first:\n"), "{printed}");
    for line in [
        "tune many.conll --metric f1",
        "tune many.conll --algorithms perceptron@rbf",
        "tune many.conll --online",
    ] {
        assert_eq!(bench.run(&format!("rosenblatt {line}")).code, Some(2), "{line}");
    }
    bench.ok("rosenblatt train many.conll --date --keep-previous --export csv w.csv --model won.model");
    assert!(bench.ok("cat w.csv").starts_with("attribute,label,weight\n"));
    assert!(bench.ok("rosenblatt inspect won.model.1").contains("4 labels"), "what was there before is kept");
    // A checkpoint of rows is no checkpoint of sentences.
    bench.write("table.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n");
    let rows = bench.run("rosenblatt train table.csv --start-from won.model --model x.model");
    assert!(rows.all().contains("labels the tokens of sentences"), "{}", rows.all());
}

/// Labels that repeat the one before the last: of no use to a tagger that knows one label only.
#[test]
fn a_race_tries_the_second_order() {
    let bench = Bench::new();
    let mut text = String::new();
    for sentence in 0..60_usize {
        let first = [sentence % 2, sentence / 2 % 2];
        for place in 0..9 {
            let label = first[place % 2];
            let token = if place < 2 { ["a", "b"][label] } else { "x" };
            let _ = writeln!(text, "{token} {}", ["U", "V"][label]);
        }
        text.push('\n');
    }
    bench.write("s.conll", text);
    let tune = "rosenblatt tune s.conll --algorithms perceptron --folds 3 --model m.model";
    let report = bench.run(tune).all();
    assert!(report.contains("with history 2, perceptron averaged: 8"), "{report}");
    let seen: serde_json::Value =
        serde_json::from_str(&bench.ok("rosenblatt inspect m.model --json")).unwrap();
    assert_eq!(seen["options"]["history"], 2, "{report}");
    // What you set is not tried otherwise.
    let report = bench.run(&format!("{tune} --history 1")).all();
    assert!(!report.contains("history 2"), "{report}");
}
