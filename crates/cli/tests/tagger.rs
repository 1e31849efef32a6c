//! Sentences as a person meets them: train, predict, evaluate, inspect.

use crate::bench::Bench;

const KNOWN: &str = "Ada NNP B-NP\nwrites VBZ B-VP\nprograms NNS B-NP\n. . O\n\nThe DT B-NP\nold JJ I-NP\nengine NN I-NP\nruns VBZ B-VP\n. . O\n\n";

#[test]
fn a_tagger_is_trained_asked_measured_and_looked_at() {
    let bench = Bench::new();
    bench.write("known.conll", KNOWN);
    let told = bench.ok("rosenblatt train known.conll --model tags.model");
    assert!(
        told.contains("2 sentences, 9 tokens, 4 labels") && told.contains("labels keep to bio"),
        "{told}"
    );
    bench.write("new.conll", "The DT\nengine NN\nwrites VBZ\n\n");
    let tagged = bench.ok("rosenblatt predict new.conll --model tags.model");
    assert_eq!(tagged, "The DT B-NP\nengine NN I-NP\nwrites VBZ B-VP\n\n");
    // A column of labels that is there already is filled anew.
    bench.write("asked.conll", "The DT ?\nengine NN ?\nwrites VBZ ?\n\n");
    assert_eq!(bench.ok("rosenblatt predict asked.conll --model tags.model -o out.conll"), "");
    assert_eq!(bench.ok("cat out.conll"), tagged);
    let measured = bench.ok("rosenblatt evaluate known.conll --model tags.model --json");
    assert!(measured.contains("\"accuracy\":1.0") && measured.contains("\"f1\":1.0"), "{measured}");
    let why = bench.ok("rosenblatt predict new.conll --model tags.model --explain 3");
    assert!(why.starts_with("The\tB-NP\tlead "), "{why}");
    assert!(bench.ok("rosenblatt inspect tags.model").contains("never"), "O before I-NP");
    assert!(bench.ok("rosenblatt inspect tags.model --json").contains("\"kind\":\"tagger\""));
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
        refused.stderr.contains("a file of templates, but `nothing` cannot be read"),
        "{}",
        refused.stderr
    );
    let refused = bench.run("rosenblatt train known.conll --readout voted");
    assert!(refused.stderr.contains("should be averaged or last for sentences"), "{}", refused.stderr);
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
        ("train known.conll --holdout 0.2", "--holdout"),
        ("train known.conll --scale standard", "--scale"),
        ("train known.conll --kernel rbf", "--kernel"),
        ("train known.conll --class-weight balanced", "--class-weight"),
        ("train known.conll --keep-previous", "--keep-previous"),
        ("predict known.conll --model known.model --json", "--json"),
        ("predict known.conll --model known.model --probabilities", "--probabilities"),
        ("evaluate known.conll --model known.model --label 2", "--label"),
        ("train table.csv --beam 4", "--beam"),
        ("train table.csv --history 2", "--history"),
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert_eq!(done.code, Some(2), "{line}\n{}", done.all());
        assert!(done.all().contains(&format!("`{word}`")), "{line}\n{}", done.all());
    }
    assert_eq!(bench.run("rosenblatt tune known.conll").code, Some(2));
    // What reads tables says whose file this is.
    let done = bench.run("rosenblatt compare known.conll");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(done.all().contains("it holds sentences (columns)"), "{}", done.all());
}
