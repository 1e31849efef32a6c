//! Taggers: the same bits whatever the format, the threads and the stops on the way; spans as conlleval counts them; files
//! that are wrong.

use rosenblatt::core::{Random, Totals};
use rosenblatt::data::Source;
use rosenblatt::model::{TaggerCheckpoint, model_checksum};
use rosenblatt::sequence::spans::spans;
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use rosenblatt::{Error, Tagger, TaggerOptions, TaggerTraining};
use std::fmt::Write as _;

/// Sentences of a small language whose phrases can be told by words and neighbours: words, tags, labels.
fn sentences(seed: u64, n: usize) -> Vec<Vec<[String; 3]>> {
    let mut random = Random::new(seed);
    let mut one = |words: &[&str]| words[random.below(words.len() as u64) as usize].to_owned();
    let mut all = Vec::new();
    for _ in 0..n {
        let mut tokens: Vec<[String; 3]> = Vec::new();
        let mut push =
            |word: String, tag: &str, label: &str| tokens.push([word, tag.to_owned(), label.to_owned()]);
        for _ in 0..2 {
            push(one(&["the", "a", "every"]), "DT", "B-NP");
            if one(&["y", "n"]) == "y" {
                push(one(&["old", "light", "saw", "Red"]), "JJ", "I-NP");
            }
            push(one(&["dog", "light", "saw", "Paris", "tree"]), "NN", "I-NP");
            push(one(&["saw", "light", "runs", "has"]), "VB", "B-VP");
        }
        push(".".to_owned(), ".", "O");
        all.push(tokens);
    }
    all
}

fn columns(sentences: &[Vec<[String; 3]>], gap: &str) -> Vec<u8> {
    let mut text = String::new();
    for sentence in sentences {
        for token in sentence {
            let _ = writeln!(text, "{}", token.join(gap));
        }
        text.push('\n');
    }
    text.into_bytes()
}

fn lists(sentences: &[Vec<[String; 3]>]) -> Vec<u8> {
    let mut text = String::new();
    for sentence in sentences {
        let tokens: Vec<&[String]> = sentence.iter().map(|token| &token[..2]).collect();
        let tags: Vec<&String> = sentence.iter().map(|token| &token[2]).collect();
        let _ = writeln!(text, "{}", serde_json::json!({"tokens": tokens, "tags": tags}));
    }
    text.into_bytes()
}

fn options() -> TaggerOptions {
    TaggerOptions { epochs: 4, ..TaggerOptions::default() }
}

fn train(options: &TaggerOptions, name: &str, bytes: Vec<u8>) -> Result<Tagger, Error> {
    TaggerTraining::new(options).run(&Source::bytes(name, bytes), &mut ())
}

#[test]
fn it_learns_keeps_to_the_scheme_and_comes_back_from_its_bytes() {
    let (known, new) = (sentences(1, 300), sentences(2, 100));
    let held_out = || Source::bytes("new.conll", columns(&new, " "));
    for (algorithm, history, beam) in [
        ("perceptron", 1, None),
        ("pa1", 1, None),
        ("arow", 1, None),
        ("perceptron", 2, None),
        ("perceptron", 1, Some(2)),
    ] {
        let options = TaggerOptions { algorithm: algorithm.to_owned(), history, beam, ..options() };
        let tagger = train(&options, "known.conll", columns(&known, " ")).unwrap();
        assert_eq!(tagger.scheme().map(rosenblatt::sequence::Scheme::name), Some("bio"));
        let agreement = tagger.evaluate(&held_out(), None).unwrap();
        assert!(agreement.accuracy() > 0.95, "{algorithm}, history {history}: {}", agreement.accuracy());
        assert_eq!(agreement.invalid, 0);
        let bytes = tagger.to_bytes();
        let again = Tagger::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes(), bytes, "{algorithm}");
        assert_eq!(again.evaluate(&held_out(), None).unwrap(), agreement);
    }
}

#[test]
fn the_same_bits_from_every_format_and_with_every_number_of_threads() {
    let known = sentences(3, 400);
    let weights = |tagger: &Tagger| {
        let all = 0..tagger.lexicon().len() as u32;
        all.map(|attribute| {
            (tagger.lexicon().name(attribute), tagger.tagging().weights().of_attribute(attribute))
        })
        .collect::<Vec<_>>()
    };
    let by_blanks = train(&options(), "a.conll", columns(&known, " ")).unwrap();
    let by_tabs = train(&options(), "a.conll", columns(&known, "\t")).unwrap();
    assert_eq!(by_blanks.to_bytes(), by_tabs.to_bytes());
    let by_lists = train(&options(), "a.jsonl", lists(&known)).unwrap();
    assert_eq!(weights(&by_blanks), weights(&by_lists));
    let large = columns(&sentences(4, 8000), " ");
    let tag = |threads: usize| {
        let mut stream = by_blanks.open(&Source::bytes("b.conll", large.clone()), None).unwrap();
        let mut out = String::new();
        let written = by_blanks.write_all::<Error>(&mut stream, threads, |text| {
            out.push_str(text);
            Ok(())
        });
        written.map(|()| out).unwrap()
    };
    let one = tag(1);
    assert_eq!(one, tag(2));
    assert_eq!(one, tag(5));
}

/// Stops after so many questions.
struct StopAfter(u32, Vec<u8>);

impl Checkpointer for StopAfter {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
    }

    fn save(&mut self, checkpoint: &[u8]) {
        self.1 = checkpoint.to_vec();
    }
}

#[test]
fn a_run_that_was_stopped_and_resumed_ends_in_the_same_bits() {
    let source = Source::bytes("a.conll", columns(&sentences(5, 2500), " "));
    for (algorithm, averaged, history) in
        [("perceptron", true, 1), ("perceptron", false, 1), ("pa1", true, 2), ("arow", true, 1)]
    {
        let options =
            TaggerOptions { algorithm: algorithm.to_owned(), averaged, history, epochs: 3, ..options() };
        let whole = TaggerTraining::new(&options).run(&source, &mut ()).unwrap().to_bytes();
        for stop in [2, 4, 6] {
            let mut keeper = StopAfter(stop, Vec::new());
            let stopped = TaggerTraining::new(&options).checkpointer(&mut keeper).run(&source, &mut ());
            assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{algorithm} at {stop}");
            let checkpoint = TaggerCheckpoint::from_bytes(&keeper.1).unwrap();
            let resumed =
                TaggerTraining::new(&options).resume(Some(checkpoint)).run(&source, &mut ()).unwrap();
            assert!(
                resumed.to_bytes() == whole,
                "{algorithm}, averaged {averaged}, history {history}, stop {stop}"
            );
        }
        let mut keeper = StopAfter(2, Vec::new());
        let _ = TaggerTraining::new(&options).checkpointer(&mut keeper).run(&source, &mut ());
        let other = TaggerOptions { seed: 9, ..options };
        let checkpoint = TaggerCheckpoint::from_bytes(&keeper.1).unwrap();
        let refused = TaggerTraining::new(&other).resume(Some(checkpoint)).run(&source, &mut ()).unwrap_err();
        assert!(refused.to_string().contains("`seed` was 0 and is 9"), "{refused}");
    }
}

/// `conlleval` as its Perl source has it, line by line, for one column: counts of (there, found, right).
fn conlleval(gold: &[&str], found: &[&str]) -> (u64, u64, u64) {
    fn part(label: &str) -> (String, String) {
        match label.split_once('-') {
            Some((kind, of)) => (kind.to_owned(), of.to_owned()),
            None => (label.to_owned(), String::new()),
        }
    }
    fn end(prev: &(String, String), now: &(String, String)) -> bool {
        let pairs = [("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O")];
        pairs.contains(&(&prev.0, &now.0)) || prev.0 != "O" && prev.0 != "." && prev.1 != now.1
    }
    fn start(prev: &(String, String), now: &(String, String)) -> bool {
        let pairs = [("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E")];
        pairs.contains(&(&prev.0, &now.0)) || now.0 != "O" && now.0 != "." && prev.1 != now.1
    }
    let outside = ("O".to_owned(), String::new());
    let (mut last_gold, mut last_found) = (outside.clone(), outside.clone());
    let (mut there, mut told, mut right, mut inside) = (0, 0, 0, false);
    let labels = gold.iter().zip(found).map(|(gold, found)| (part(gold), part(found)));
    for (now_gold, now_found) in labels.chain([(outside.clone(), outside)]) {
        let ends = (end(&last_gold, &now_gold), end(&last_found, &now_found));
        if inside {
            if ends == (true, true) && last_found.1 == last_gold.1 {
                inside = false;
                right += 1;
            } else if ends.0 != ends.1 || now_found.1 != now_gold.1 {
                inside = false;
            }
        }
        let starts = (start(&last_gold, &now_gold), start(&last_found, &now_found));
        if starts == (true, true) && now_found.1 == now_gold.1 {
            inside = true;
        }
        there += u64::from(starts.0);
        told += u64::from(starts.1);
        (last_gold, last_found) = (now_gold, now_found);
    }
    (there, told, right)
}

#[test]
fn spans_are_counted_as_conlleval_counts_them_broken_ones_included() {
    let mut random = Random::new(17);
    let labels = ["O", "B-a", "I-a", "B-b", "I-b", "I-c"];
    for round in 0..1000 {
        let n_tokens = 1 + random.below(12) as usize;
        let mut draw = || (0..n_tokens).map(|_| labels[random.below(6) as usize]).collect::<Vec<_>>();
        let (gold, mut found) = (draw(), draw());
        if round % 2 == 0 {
            // Mostly right, as taggers are.
            found.clone_from(&gold);
            found[n_tokens / 2] = labels[round % 6];
        }
        let (there, told) = (spans(&gold), spans(&found));
        let right = told.iter().filter(|span| there.contains(span)).count() as u64;
        assert_eq!(
            (there.len() as u64, told.len() as u64, right),
            conlleval(&gold, &found),
            "{gold:?} {found:?}"
        );
    }
}

#[test]
fn files_of_taggers_that_are_wrong_are_refused() {
    let options = TaggerOptions { epochs: 1, ..options() };
    let bytes = train(&options, "a.conll", columns(&sentences(6, 20), " ")).unwrap().to_bytes();
    let mut random = Random::new(23);
    let mut n_refused = 0;
    for round in 0..3000 {
        let mut wrong = bytes.clone();
        // Half of them in the header, which is text.
        let within = if round % 2 == 0 { 64..1500 } else { 64..wrong.len() };
        for _ in 0..=random.below(3) {
            let at = within.start + random.below(within.len() as u64) as usize;
            wrong[at] = random.below(256) as u8;
        }
        assert!(wrong == bytes || Tagger::from_bytes(&wrong).is_err(), "the checksum is wrong");
        model_checksum(&mut wrong);
        match Tagger::from_bytes(&wrong) {
            // What is read must be of use.
            Ok(tagger) => {
                drop(tagger.evaluate(&Source::bytes("a.conll", columns(&sentences(7, 2), " ")), None));
            }
            Err(_) => n_refused += 1,
        }
    }
    assert!(n_refused > 1000, "{n_refused}");
    for cut in [0, 10, 64, 100, bytes.len() - 1] {
        assert!(Tagger::from_bytes(&bytes[..cut]).is_err());
    }
}

#[test]
fn what_cannot_be_learned_from_is_refused_with_its_place() {
    let wrong = |options: &TaggerOptions, name: &str, text: &str| {
        train(options, name, text.as_bytes().to_vec()).unwrap_err().to_string()
    };
    let plain = options();
    assert!(wrong(&plain, "a.conll", "a X\nb X\n\n").contains("at least two classes"));
    assert!(
        wrong(&plain, "a.conll", "").contains("a.conll") || wrong(&plain, "a.conll", "").contains("no rows")
    );
    let many: String =
        (0..2000).flat_map(|number| ["w L".to_owned(), number.to_string(), "\n\n".to_owned()]).collect();
    assert!(wrong(&plain, "a.conll", &many).contains("at most 1000 labels"));
    let own = TaggerOptions { template: Some("U:%x[0,5]".to_owned()), ..options() };
    assert!(wrong(&own, "a.conll", "a X\nb Y\n\n").contains("looks at column 5, but columns are 0 to 1"));
    let label = TaggerOptions { template: Some("U:%x[0,1]".to_owned()), ..options() };
    assert!(wrong(&label, "a.conll", "a X\nb Y\n\n").contains("which is the label"));
    let broken = TaggerOptions { constraints: "bio".to_owned(), ..options() };
    assert!(
        wrong(&broken, "a.conll", "a I-x\nb O\n\n")
            .contains("a scheme that the labels of all sentences keep to")
    );
    for (options, word) in [
        (TaggerOptions { algorithm: "pegasos".to_owned(), ..options() }, "`algorithm` should be"),
        (TaggerOptions { history: 3, ..options() }, "`history` should be 1 or 2"),
        (TaggerOptions { beam: Some(0), ..options() }, "`beam` should be at least 1"),
        (TaggerOptions { features: "x".to_owned(), ..options() }, "`features` should be"),
        (TaggerOptions { cost: f64::NAN, ..options() }, "`cost` should be"),
    ] {
        assert!(options.check().unwrap_err().to_string().contains(word), "{word}");
    }
}
