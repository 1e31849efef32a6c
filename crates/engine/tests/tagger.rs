//! Taggers: the same bits whatever the format, the threads and the stops on the way; spans as conlleval counts them; files
//! that are wrong.

use rosenblatt::data::Source;
use rosenblatt::learning::{Random, Totals};
use rosenblatt::mix::{Mixing, mix};
use rosenblatt::model::Checkpoint;
use rosenblatt::model::model_checksum;
use rosenblatt::recipe::{Calibrate, Plan};
use rosenblatt::sequence::Scheme;
use rosenblatt::sequence::spans::spans;
use rosenblatt::tagger::{self, Judging, Room, Tagger, TaggerOptions, TaggerTraining, TaggerTrial};
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use rosenblatt::{Error, Model, Task};
use std::fmt::Write as _;

/// Sentences of a small language whose phrases follow from words and neighbours: words, tags, labels.
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

/// What was trained, at work.
fn at_work(model: &Model) -> Tagger<'_> {
    model.tagger().unwrap()
}

fn train(options: &TaggerOptions, name: &str, bytes: Vec<u8>) -> Result<Model, Error> {
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
        assert_eq!(at_work(&tagger).scheme().map(rosenblatt::sequence::Scheme::name), Some("bio"));
        let agreement = at_work(&tagger).evaluate(&held_out(), None).unwrap();
        assert!(agreement.accuracy() > 0.95, "{algorithm}, history {history}: {}", agreement.accuracy());
        assert_eq!(agreement.invalid, 0);
        let bytes = tagger.to_bytes();
        let again = Model::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes(), bytes, "{algorithm}");
        assert_eq!(at_work(&again).evaluate(&held_out(), None).unwrap(), agreement);
    }
}

#[test]
fn the_same_bits_from_every_format_and_with_every_number_of_threads() {
    let links = "U0:%x[0,0]\nB1:%x[0,0]\nB2:%x[-1,1]/%x[0,1]\n".to_owned();
    for options in [options(), TaggerOptions { template: Some(links), ..options() }] {
        same_bits_everywhere(&options);
    }
}

fn same_bits_everywhere(options: &TaggerOptions) {
    let known = sentences(3, 400);
    let weights = |tagger: &Model| {
        let all = 0..at_work(tagger).lexicon().len() as u32;
        let weights = at_work(tagger).tagging().weights();
        all.map(|attribute| {
            (
                at_work(tagger).lexicon().name(attribute),
                weights.of_attribute(attribute),
                weights.links_of(attribute),
            )
        })
        .collect::<Vec<_>>()
    };
    let by_blanks = train(options, "a.conll", columns(&known, " ")).unwrap();
    let by_tabs = train(options, "a.conll", columns(&known, "\t")).unwrap();
    assert_eq!(by_blanks.to_bytes(), by_tabs.to_bytes());
    let by_lists = train(options, "a.jsonl", lists(&known)).unwrap();
    assert_eq!(weights(&by_blanks), weights(&by_lists));
    let again = Model::from_bytes(&by_blanks.to_bytes()).unwrap();
    let large = columns(&sentences(4, 8000), " ");
    let tag = |tagger: &Model, threads: usize| {
        let mut stream = at_work(tagger).open(&Source::bytes("b.conll", large.clone()), None).unwrap();
        let mut out = String::new();
        let written = at_work(tagger).write_all::<Error>(&mut stream, threads, |text| {
            out.push_str(text);
            Ok(())
        });
        written.map(|()| out).unwrap()
    };
    let one = tag(&by_blanks, 1);
    assert_eq!(one, tag(&by_blanks, 2));
    assert_eq!(one, tag(&by_blanks, 5));
    assert_eq!(one, tag(&again, 2), "after it was saved and loaded");
}

/// Stops after this many questions.
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
    let links = "U0:%x[0,0]\nB1:%x[0,0]\nB2:%x[-1,1]/%x[0,1]\n";
    for (algorithm, averaged, history, template) in [
        ("perceptron", true, 1, None),
        ("perceptron", false, 1, None),
        ("pa1", true, 2, None),
        ("arow", true, 1, None),
        ("perceptron", true, 1, Some(links)),
        ("arow", true, 2, Some(links)),
    ] {
        let template = template.map(str::to_owned);
        let options = TaggerOptions {
            algorithm: algorithm.to_owned(),
            averaged,
            history,
            template,
            epochs: 3,
            ..options()
        };
        let whole = TaggerTraining::new(&options).run(&source, &mut ()).unwrap().to_bytes();
        for stop in [2, 4, 6] {
            let mut keeper = StopAfter(stop, Vec::new());
            let stopped = TaggerTraining::new(&options).checkpointer(&mut keeper).run(&source, &mut ());
            assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{algorithm} at {stop}");
            let checkpoint = Checkpoint::from_bytes(&keeper.1).unwrap();
            let resumed =
                TaggerTraining::new(&options).resume(Some(checkpoint)).run(&source, &mut ()).unwrap();
            assert!(
                resumed.to_bytes() == whole,
                "{algorithm}, averaged {averaged}, history {history}, stop {stop}"
            );
        }
        let mut keeper = StopAfter(2, Vec::new());
        let _ = TaggerTraining::new(&options).checkpointer(&mut keeper).run(&source, &mut ());
        let checkpoint = Checkpoint::from_bytes(&keeper.1).unwrap();
        let refused = TaggerTraining::new(&options)
            .resume(Some(checkpoint))
            .online(true)
            .run(&source, &mut ())
            .unwrap_err();
        assert!(refused.to_string().contains("it learned in epochs, and would online"), "{refused}");
        let other = TaggerOptions { seed: 9, ..options };
        let checkpoint = Checkpoint::from_bytes(&keeper.1).unwrap();
        let refused = TaggerTraining::new(&other).resume(Some(checkpoint)).run(&source, &mut ()).unwrap_err();
        assert!(refused.to_string().contains("`seed` was 0 and is 9"), "{refused}");
    }
}

#[test]
fn shards_and_streams_that_were_stopped_and_resumed_end_in_the_same_bits() {
    // Large enough for several blocks; labels and words that turn up late.
    let mut late = sentences(5, 9000);
    late.extend(sentences(6, 3000).into_iter().map(|mut sentence| {
        sentence[0] = ["zut".to_owned(), "UH".to_owned(), "B-INTJ".to_owned()];
        sentence[1] = ["alors".to_owned(), "UH".to_owned(), "I-INTJ".to_owned()];
        sentence
    }));
    let bytes = columns(&late, " ");
    let source = Source::bytes("a.conll", bytes.clone());
    let links = Some("U0:%x[0,0]\nU1:%x[0,1]\nB1:%x[0,1]\n".to_owned());
    for (averaged, template) in [(true, None), (false, links.clone()), (true, links)] {
        let sharded = TaggerOptions { averaged, template, shards: 3, epochs: 4, ..options() };
        let small = Source::bytes("a.conll", columns(&late[8700..9300], " "));
        let whole = TaggerTraining::new(&sharded).run(&small, &mut ()).unwrap().to_bytes();
        for stop in [1, 2] {
            let mut keeper = StopAfter(stop, Vec::new());
            let stopped = TaggerTraining::new(&sharded).checkpointer(&mut keeper).run(&small, &mut ());
            assert!(matches!(stopped, Err(Error::Interrupted { .. })), "at {stop}");
            let checkpoint = Checkpoint::from_bytes(&keeper.1).unwrap();
            let resumed = TaggerTraining::new(&sharded).resume(Some(checkpoint)).run(&small, &mut ());
            assert!(resumed.unwrap().to_bytes() == whole, "shards, averaged {averaged}, stop {stop}");
        }
        let online = TaggerOptions { shards: 1, ..sharded };
        let mut counter = StopAfter(u32::MAX, Vec::new());
        let training = TaggerTraining::new(&online).checkpointer(&mut counter);
        let whole = training.online(true).run(&source, &mut ()).unwrap();
        let n_blocks = u32::MAX - counter.0;
        assert!(n_blocks > 3, "only {n_blocks} blocks");
        for stop in [1, n_blocks / 2, n_blocks - 1, n_blocks] {
            let mut keeper = StopAfter(stop, Vec::new());
            let training = TaggerTraining::new(&online).checkpointer(&mut keeper);
            assert!(matches!(training.online(true).run(&source, &mut ()), Err(Error::Interrupted { .. })));
            let checkpoint = || Some(Checkpoint::from_bytes(&keeper.1).unwrap());
            let resume = |source: &Source| {
                TaggerTraining::new(&online).resume(checkpoint()).online(true).run(source, &mut ())
            };
            let resumed = resume(&source).unwrap();
            assert!(resumed.to_bytes() == whole.to_bytes(), "averaged {averaged}, stop {stop}");
            assert_eq!(at_work(&resumed).progressive(), at_work(&whole).progressive());
            let other = TaggerTraining::new(&online).resume(checkpoint()).run(&source, &mut ()).unwrap_err();
            assert!(other.to_string().contains("it learned online, and would in epochs"), "{other}");
            let shorter = resume(&Source::bytes("a.conll", columns(&late[..10], " "))).unwrap_err();
            assert!(shorter.to_string().contains("shorter than what it learned from"), "{shorter}");
            let mut other = bytes.clone();
            other[0] = b'x';
            let other = resume(&Source::bytes("a.conll", other)).unwrap_err();
            assert!(other.to_string().contains("and would from other ones"), "{other}");
        }
    }
}

#[test]
fn hypotheses_that_vote_are_kept_resumed_and_bounded() {
    let source = Source::bytes("a.conll", columns(&sentences(5, 300), " "));
    let new = || Source::bytes("new.conll", columns(&sentences(6, 100), " "));
    let links = Some("U0:%x[0,0]\nU1:%x[0,1]\nB1:%x[0,1]\n".to_owned());
    for (template, hash_bits) in [(None, None), (links, None), (None, Some(12))] {
        let options = TaggerOptions { voted: true, template, hash_bits, ..options() };
        let whole = TaggerTraining::new(&options).run(&source, &mut ()).unwrap();
        let agreement = at_work(&whole).evaluate(&new(), None).unwrap();
        assert!(agreement.accuracy() > 0.95 && agreement.invalid == 0, "{}", agreement.accuracy());
        let votes = at_work(&whole).tagging().votes().unwrap();
        assert_eq!(votes.len() as u64, whole.training_summary().totals.updates + 1);
        let again = Model::from_bytes(&whole.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), whole.to_bytes());
        assert_eq!(at_work(&again).evaluate(&new(), None).unwrap(), agreement);
        let mut keeper = StopAfter(2, Vec::new());
        let stopped = TaggerTraining::new(&options).checkpointer(&mut keeper).run(&source, &mut ());
        assert!(matches!(stopped, Err(Error::Interrupted { .. })));
        let checkpoint = Checkpoint::from_bytes(&keeper.1).unwrap();
        let resumed = TaggerTraining::new(&options).resume(Some(checkpoint)).run(&source, &mut ()).unwrap();
        assert!(resumed.to_bytes() == whole.to_bytes());
        let judging = Judging { plan: Plan::HoldOut(0.25), ..Judging::default() };
        let judged = TaggerTraining::new(&options).judged(judging).run(&source, &mut ()).unwrap();
        assert!(at_work(&judged).estimate().is_some() && judged.calibration().is_none());
        let mut stream = at_work(&whole).open(&new(), None).unwrap();
        let mut block = rosenblatt::data::Sentences::default();
        assert!(stream.next(&mut block).unwrap());
        let printed = at_work(&whole).tell(&block, 0, stream.format(), 0, &mut Room::default());
        assert!(matches!(printed, Err(Error::NotLinear)));
        let (words, labels) =
            at_work(&whole).label(&block, 0, stream.format(), &mut Room::default()).unwrap();
        assert!(words.len() == labels.len() && labels[0] == "B-NP");
        // Whether there is a mistake to be shown or not.
        for reviewed in [&source, &new()] {
            assert!(matches!(at_work(&whole).review(reviewed, None, 3), Err(Error::NotLinear)));
        }
        assert!(matches!(at_work(&whole).top_attributes(0, 3), Err(Error::NotLinear)));
        let insight = at_work(&whole).insight(3);
        assert!(insight["top-attributes"].is_null() && insight["transitions"].is_null());
        let asked = Judging { calibrate: Calibrate::Platt, ..judging };
        let refused = TaggerTraining::new(&options).judged(asked).run(&source, &mut ()).unwrap_err();
        assert!(refused.to_string().contains("auto or off where hypotheses vote"), "{refused}");
        // Whether a mean was wanted, too, makes no difference.
        let last = TaggerOptions { averaged: false, ..options.clone() };
        let checkpoint = Checkpoint::from_bytes(&keeper.1).unwrap();
        let resumed = TaggerTraining::new(&last).resume(Some(checkpoint)).run(&source, &mut ()).unwrap();
        assert!(resumed.to_bytes() == whole.to_bytes());
        assert!(mix(&[whole.clone(), again], Mixing::default()).is_err());
        assert!(TaggerTraining::new(&options).start_from(whole.tagger()).run(&source, &mut ()).is_err());
    }
    let voted = TaggerOptions { voted: true, epochs: 20, ..options() };
    let many =
        TaggerTraining::new(&voted).run(&Source::bytes("n.conll", noise(1, 3000)), &mut ()).unwrap_err();
    assert!(many.to_string().contains("more than 5000 updates"), "{many}");
    let sharded = TaggerOptions { shards: 2, ..voted };
    assert!(sharded.check().unwrap_err().to_string().contains("1 where hypotheses vote"));
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
    let (mut there, mut printed, mut right, mut inside) = (0, 0, 0, false);
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
        printed += u64::from(starts.1);
        (last_gold, last_found) = (now_gold, now_found);
    }
    (there, printed, right)
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
        let (there, printed) = (spans(&gold), spans(&found));
        let right = printed.iter().filter(|span| there.contains(span)).count() as u64;
        assert_eq!(
            (there.len() as u64, printed.len() as u64, right),
            conlleval(&gold, &found),
            "{gold:?} {found:?}"
        );
    }
}

/// Sentences whose label is the one before it, or the other one, as the word says: what only an attribute of two labels can
/// tell.
fn switches(seed: u64, n: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for _ in 0..n {
        let mut is_on = random.below(2) == 0;
        let _ = writeln!(text, "{} {}", if is_on { "up" } else { "down" }, if is_on { "ON" } else { "OFF" });
        for _ in 0..random.below(8) {
            let flips = random.below(2) == 0;
            is_on ^= flips;
            let _ = writeln!(
                text,
                "{} {}",
                if flips { "flip" } else { "stay" },
                if is_on { "ON" } else { "OFF" }
            );
        }
        text.push('\n');
    }
    text.into_bytes()
}

fn linked() -> TaggerOptions {
    TaggerOptions { template: Some("U0:%x[0,0]\nB1:%x[0,0]\nB\n".to_owned()), ..options() }
}

#[test]
fn attributes_of_two_labels_learn_what_those_of_one_cannot() {
    let new = || Source::bytes("new.conll", switches(2, 300));
    let alone = TaggerOptions { template: Some("U0:%x[0,0]\nB\n".to_owned()), ..options() };
    let alone = train(&alone, "a.conll", switches(1, 300)).unwrap();
    let alone = at_work(&alone).evaluate(&new(), None).unwrap();
    assert!(alone.accuracy() < 0.8, "{}", alone.accuracy());
    for (algorithm, history, beam, hash_bits, shards) in [
        ("perceptron", 1, None, None, 1),
        ("perceptron", 1, Some(1), None, 1),
        ("pa1", 2, None, None, 1),
        ("arow", 1, None, None, 1),
        ("perceptron", 1, None, Some(10), 1),
        ("perceptron", 1, None, None, 3),
    ] {
        let algorithm = algorithm.to_owned();
        let options = TaggerOptions { algorithm, history, beam, hash_bits, shards, ..linked() };
        let tagger = train(&options, "a.conll", switches(1, 300)).unwrap();
        let found = at_work(&tagger).evaluate(&new(), None).unwrap();
        assert_eq!(found.accuracy(), 1.0, "{options:?}");
        let again = Model::from_bytes(&tagger.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), tagger.to_bytes(), "{options:?}");
        assert_eq!(at_work(&again).evaluate(&new(), None).unwrap(), found);
        let other = train(&options, "b.conll", switches(3, 300)).unwrap();
        let mean = mix(&[tagger, other], Mixing::default()).unwrap();
        assert_eq!(at_work(&mean).evaluate(&new(), None).unwrap().accuracy(), 1.0, "{options:?}: the mean");
    }
}

#[test]
fn attributes_of_two_labels_are_told_and_add_up() {
    let tagger = train(&linked(), "a.conll", switches(1, 300)).unwrap();
    let tops = at_work(&tagger).top_attributes(1, 8).unwrap();
    assert!(tops.iter().any(|(name, weight)| name == "B1:stay after ON" && *weight > 0.0), "{tops:?}");
    let mut stream =
        at_work(&tagger).open(&Source::bytes("a.conll", b"up ?\nflip ?\nstay ?\n\n".to_vec()), None).unwrap();
    let mut block = rosenblatt::data::Sentences::default();
    assert!(stream.next(&mut block).unwrap());
    let mut room = Room::default();
    let printed = at_work(&tagger).tell(&block, 0, stream.format(), 1, &mut room).unwrap();
    assert_eq!(printed.labels, ["ON", "OFF", "OFF"]);
    assert!(printed.next[0].1 <= printed.score && printed.leads.iter().all(|lead| *lead > 0.0));
    let reasons = at_work(&tagger).explain(&block, 0, stream.format(), &mut room).unwrap();
    assert!(reasons[1].attributes.iter().any(|(name, _)| name == "B1:flip after ON"));
    let sum = |reason: &rosenblatt::tagger::Reason| {
        reason.transition + reason.attributes.iter().map(|(_, weight)| weight).sum::<f64>()
    };
    assert!((reasons.iter().map(sum).sum::<f64>() - printed.score).abs() < 1e-9, "{reasons:?}");
    let source = Source::bytes("a.conll", switches(1, 20));
    let traced = tagger::trace(&linked(), &source, None, 1..=40).unwrap();
    let moved: Vec<_> = traced.rounds.iter().flat_map(|round| &round.moved).collect();
    assert!(moved.iter().any(|moved| moved.from == "B1:flip after ON"), "{moved:?}");
    // What is hashed may share a number with an attribute of one label, and is reported all the same.
    let crowded = TaggerOptions { hash_bits: Some(8), template: Some(crowd()), ..linked() };
    let traced = tagger::trace(&crowded, &source, None, 1..=40).unwrap();
    for round in traced.rounds {
        let sum: f64 = round.moved.iter().map(|moved| moved.after - moved.before).sum();
        assert_eq!((sum, round.is_mistake), (0.0, !round.moved.is_empty()), "round {}", round.round);
        let n_links = round.moved.iter().filter(|moved| moved.from.contains(" after ")).count();
        let n_steps = round.moved.iter().filter(|moved| moved.is_transition).count();
        assert!(n_links > 0 || n_steps == 0, "round {}", round.round);
    }
}

/// Attributes of one label, enough that all numbers are theirs, too.
fn crowd() -> String {
    let mut text: String = (0..400).fold(String::new(), |text, n| text + &format!("U{n}:%x[0,0]\n"));
    text.push_str("B1:%x[0,0]\nB\n");
    text
}

#[test]
fn files_of_taggers_that_are_wrong_are_refused() {
    for (template, voted) in [(None, false), (Some("U0:%x[0,0]\nB1:%x[0,1]\n".to_owned()), true)] {
        let options = TaggerOptions { epochs: 1, template, voted, ..options() };
        files_that_are_wrong(
            &train(&options, "a.conll", columns(&sentences(6, 20), " ")).unwrap().to_bytes(),
        );
    }
}

fn files_that_are_wrong(bytes: &[u8]) {
    let mut random = Random::new(23);
    let mut n_refused = 0;
    for round in 0..3000 {
        let mut wrong = bytes.to_vec();
        // Half of them in the header, which is text.
        let within = if round % 2 == 0 { 64..1500 } else { 64..wrong.len() };
        for _ in 0..=random.below(3) {
            let at = within.start + random.below(within.len() as u64) as usize;
            wrong[at] = random.below(256) as u8;
        }
        assert!(wrong == bytes || Model::from_bytes(&wrong).is_err(), "the checksum is wrong");
        model_checksum(&mut wrong);
        match Model::from_bytes(&wrong) {
            // What is read must be of use.
            Ok(tagger) => {
                drop(
                    at_work(&tagger)
                        .evaluate(&Source::bytes("a.conll", columns(&sentences(7, 2), " ")), None),
                );
            }
            Err(_) => n_refused += 1,
        }
    }
    assert!(n_refused > 1000, "{n_refused}");
    for cut in [0, 10, 64, 100, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..cut]).is_err());
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
    // Each of a thousand templates makes attributes of its own: they could take what no machine has.
    let (mut explodes, mut many) = ("U:%x[0,0]\n".to_owned(), String::new());
    for number in 0..999 {
        let _ = writeln!(explodes, "B{number}:%x[0,0]");
        let _ = writeln!(many, "w{number} L{}\n", number % 900);
    }
    let explodes = TaggerOptions { template: Some(explodes), epochs: 10_000, ..options() };
    assert!(wrong(&explodes, "a.conll", &many).contains("write fewer of them, write them with U"));
    let own = TaggerOptions { template: Some("U:%x[0,5]".to_owned()), ..options() };
    assert!(wrong(&own, "a.conll", "a X\nb Y\n\n").contains("looks at column 5, but columns are 0 to 1"));
    let label = TaggerOptions { template: Some("U:%x[0,1]".to_owned()), ..options() };
    assert!(wrong(&label, "a.conll", "a X\nb Y\n\n").contains("which is the label"));
    let broken = TaggerOptions { constraints: tagger::Wanted::Scheme(Scheme::Bio), ..options() };
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

/// Sentences whose labels are drawn by chance, each of words of its own: what can be learned by heart and no other way.
fn noise(seed: u64, n: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for sentence in 0..n {
        for token in 0..5 {
            let _ = writeln!(
                text,
                "w{seed}x{sentence}x{token} {}",
                ["A", "B", "C", "D"][random.below(4) as usize]
            );
        }
        text.push('\n');
    }
    text.into_bytes()
}

#[test]
fn estimates_are_of_sentences_that_were_not_learned_from() {
    let source = Source::bytes("noise.conll", noise(1, 400));
    let options = TaggerOptions { epochs: 8, ..options() };
    let plain = TaggerTraining::new(&options).run(&source, &mut ()).unwrap();
    assert!(at_work(&plain).evaluate(&source, None).unwrap().accuracy() > 0.9, "it is learned by heart");
    let progressive = at_work(&plain).progressive().unwrap();
    assert_eq!((progressive.sentences, progressive.tokens), (400, 2000));
    assert!(progressive.accuracy() < 0.4, "before it was: {}", progressive.accuracy());
    assert!(at_work(&plain).estimate().is_none() && plain.calibration().is_none());
    for (plan, n_held) in [(Plan::HoldOut(0.25), 100), (Plan::Folds(3), 400)] {
        let judging = Judging { plan, ..Judging::default() };
        let judged = TaggerTraining::new(&options).judged(judging).run(&source, &mut ()).unwrap();
        let estimate = at_work(&judged).estimate().unwrap();
        assert_eq!(estimate.sentences, n_held);
        assert!(estimate.accuracy() < 0.4, "{plan:?}: {}", estimate.accuracy());
        // Being judged has no part in what is learned.
        assert_eq!(at_work(&judged).tagging().weights(), at_work(&plain).tagging().weights());
        let again = Model::from_bytes(&judged.to_bytes()).unwrap();
        assert_eq!(
            (at_work(&again).estimate(), at_work(&again).progressive()),
            (at_work(&judged).estimate(), at_work(&judged).progressive())
        );
        assert_eq!(again.to_bytes(), judged.to_bytes());
    }
    let start = Judging { plan: Plan::HoldOut(0.2), ..Judging::default() };
    let refused =
        TaggerTraining::new(&options).start_from(plain.tagger()).judged(start).run(&source, &mut ());
    assert!(matches!(refused, Err(Error::BadStart { .. })));
    for plan in [Plan::HoldOut(1.0), Plan::HoldOut(f64::NAN), Plan::Folds(1), Plan::Folds(401)] {
        let judging = Judging { plan, ..Judging::default() };
        assert!(TaggerTraining::new(&options).judged(judging).run(&source, &mut ()).is_err(), "{plan:?}");
    }
}

/// The sentences of [`sentences`] with every tenth label another one.
fn spoiled(seed: u64, n: usize) -> Vec<u8> {
    let mut random = Random::new(seed + 1000);
    let mut all = sentences(seed, n);
    for token in all.iter_mut().flatten() {
        if random.below(10) == 0 {
            ["B-NP", "B-VP", "O"][random.below(3) as usize].clone_into(&mut token[2]);
        }
        // Without the tag, the word may mean several things.
        "X".clone_into(&mut token[1]);
    }
    columns(&all, " ")
}

#[test]
fn probabilities_come_true_on_new_sentences() {
    for method in [Calibrate::Platt, Calibrate::Isotonic] {
        let options = TaggerOptions { constraints: tagger::Wanted::None, ..options() };
        let judging = Judging { plan: Plan::HoldOut(0.3), calibrate: method };
        let source = Source::bytes("a.conll", spoiled(31, 1500));
        let tagger = TaggerTraining::new(&options).judged(judging).run(&source, &mut ()).unwrap();
        let tagger = Model::from_bytes(&tagger.to_bytes()).unwrap();
        let new = Source::bytes("b.conll", spoiled(32, 600));
        let mut stream = at_work(&tagger).open(&new, None).unwrap();
        let (mut block, mut room) = (rosenblatt::data::Sentences::default(), Room::default());
        let mut seen: Vec<(f64, f64, bool)> = Vec::new();
        while stream.next(&mut block).unwrap() {
            for number in 0..block.len() {
                let printed = at_work(&tagger).tell(&block, number, stream.format(), 2, &mut room).unwrap();
                assert_eq!(printed.next.len(), 2);
                assert!(printed.next[0].1 <= printed.score && printed.next[1].1 <= printed.next[0].1);
                assert!(printed.next.iter().all(|(labels, _)| *labels != printed.labels));
                let gold = block.tokens(number).map(|token| block.cell(token, 2).unwrap());
                let right = gold.zip(&printed.labels).map(|(gold, found)| gold == found);
                let probabilities = printed.probabilities.unwrap();
                seen.extend(printed.leads.iter().zip(probabilities).zip(right).map(|((a, b), c)| (*a, b, c)));
            }
        }
        let share = |of: &[(f64, f64, bool)]| of.iter().filter(|one| one.2).count() as f64 / of.len() as f64;
        let mean = |of: &[(f64, f64, bool)]| of.iter().map(|one| one.1).sum::<f64>() / of.len() as f64;
        assert!((share(&seen) - mean(&seen)).abs() < 0.03, "{method}: {} and {}", share(&seen), mean(&seen));
        seen.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(seen.windows(2).all(|pair| pair[0].1 <= pair[1].1), "who leads by more is surer");
        let (unsure, sure) = seen.split_at(seen.len() / 4);
        assert!(mean(unsure) < mean(sure) && share(unsure) < share(sure));
    }
}

fn named_weights(tagger: &Model) -> std::collections::BTreeMap<String, Vec<f64>> {
    let weights = at_work(tagger).tagging().weights();
    let of =
        |attribute: u32| Some((at_work(tagger).lexicon().name(attribute), weights.of_attribute(attribute)?));
    let all = (0..weights.n_attributes() as u32).filter_map(of);
    all.filter(|(_, weights)| weights.iter().any(|weight| *weight != 0.0)).collect()
}

#[test]
fn a_stream_may_be_left_and_gone_on_with() {
    let (first, second) = (sentences(41, 150), sentences(42, 150));
    let options = TaggerOptions { averaged: false, ..options() };
    let source = |parts: &[&Vec<Vec<[String; 3]>>]| {
        Source::bytes(
            "a.conll",
            columns(&parts.iter().flat_map(|part| part.iter().cloned()).collect::<Vec<_>>(), " "),
        )
    };
    let learn = |start: Option<&Model>, source: &Source| {
        TaggerTraining::new(&options)
            .start_from(start.and_then(Model::tagger))
            .online(true)
            .run(source, &mut ())
            .unwrap()
    };
    let whole = learn(None, &source(&[&first, &second]));
    let begun = Model::from_bytes(&learn(None, &source(&[&first])).to_bytes()).unwrap();
    let gone_on = learn(Some(&begun), &source(&[&second]));
    assert_eq!(named_weights(&whole), named_weights(&gone_on), "the same weights, to the bit");
    assert_eq!(whole.labels(), gone_on.labels());
    let progressive = at_work(&whole).progressive().unwrap();
    assert_eq!(progressive.sentences, 300);
    assert_eq!(progressive.sentences - progressive.sentences_right, whole.training_summary().totals.mistakes);
    // Labels that turn up late are taken in, and what was learned before is still known.
    let late = "zut UH B-INTJ\n. . O\n\n";
    let more = learn(Some(&whole), &Source::bytes("a.conll", late.as_bytes().to_vec()));
    assert_eq!(more.labels().len(), whole.labels().len() + 1);
    let new = Source::bytes("b.conll", columns(&sentences(43, 100), " "));
    assert!(at_work(&more).evaluate(&new, None).unwrap().accuracy() > 0.9);
    let averaged = TaggerOptions { averaged: true, ..options.clone() };
    let longer =
        TaggerTraining::new(&averaged).start_from(whole.tagger()).run(&source(&[&second]), &mut ()).unwrap();
    assert!(at_work(&longer).evaluate(&new, None).unwrap().accuracy() > 0.95);
    let other = Source::bytes("c.conll", b"a b c D\n\n".to_vec());
    let refused = TaggerTraining::new(&options).start_from(whole.tagger()).run(&other, &mut ()).unwrap_err();
    assert!(matches!(refused, Error::BadStart { .. }), "{refused}");
}

#[test]
fn shards_learn_together_and_taggers_are_mixed() {
    let known = sentences(51, 400);
    let new = Source::bytes("new.conll", columns(&sentences(52, 100), " "));
    let sharded = TaggerOptions { shards: 4, ..options() };
    let together = train(&sharded, "a.conll", columns(&known, " ")).unwrap();
    assert!(at_work(&together).evaluate(&new, None).unwrap().accuracy() > 0.95);
    let parts: Vec<Model> =
        known.chunks(130).map(|part| train(&options(), "a.conll", columns(part, " ")).unwrap()).collect();
    let mean = mix(&parts, Mixing::Uniform).unwrap();
    assert!(at_work(&mean).evaluate(&new, None).unwrap().accuracy() > 0.95);
    let turned: Vec<Model> = parts.iter().rev().cloned().collect();
    assert_eq!(mix(&turned, Mixing::Uniform).unwrap().to_bytes(), mean.to_bytes());
    assert_eq!(mix(&parts[..1], Mixing::Errors).unwrap().to_bytes(), parts[0].to_bytes());
    // The mean is the mean, attribute by attribute, whatever the numbers of each.
    let all: Vec<_> = parts.iter().map(named_weights).collect();
    for (name, weights) in named_weights(&mean) {
        let sum = |label: usize| all.iter().map(|of| of.get(&name).map_or(0.0, |of| of[label])).sum::<f64>();
        for (label, weight) in weights.iter().enumerate() {
            assert!((sum(label) / parts.len() as f64 - weight).abs() < 1e-12, "{name}");
        }
    }
    let other = train(&TaggerOptions { history: 2, ..options() }, "a.conll", columns(&known, " ")).unwrap();
    let refused = mix(&[parts[0].clone(), other], Mixing::Uniform).unwrap_err();
    assert!(refused.to_string().contains("`history`"), "{refused}");
    for bad in [0, 65] {
        assert!(TaggerOptions { shards: bad, ..options() }.check().is_err());
    }
    assert!(TaggerOptions { shards: 2, algorithm: "arow".to_owned(), ..options() }.check().is_err());
}

#[test]
fn hashed_attributes_learn_are_kept_and_mixed() {
    let new = Source::bytes("new.conll", columns(&sentences(72, 100), " "));
    let wide = TaggerOptions { hash_bits: Some(18), ..options() };
    let tagger = train(&wide, "a.conll", columns(&sentences(71, 300), " ")).unwrap();
    let bytes = tagger.to_bytes();
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes(), bytes);
    let measured = at_work(&again).evaluate(&new, None).unwrap();
    assert_eq!(measured, at_work(&tagger).evaluate(&new, None).unwrap());
    assert!(measured.accuracy() > 0.95, "{}", measured.accuracy());
    let other = train(&wide, "a.conll", columns(&sentences(73, 300), " ")).unwrap();
    assert!(
        at_work(&mix(&[tagger, other], Mixing::Uniform).unwrap()).evaluate(&new, None).unwrap().accuracy()
            > 0.95
    );
    // Where everything shares a few numbers, little can be distinguished.
    let narrow = TaggerOptions { hash_bits: Some(8), epochs: 2, ..options() };
    let crowded = train(&narrow, "a.conll", columns(&sentences(71, 300), " ")).unwrap();
    assert!(at_work(&crowded).evaluate(&new, None).unwrap().accuracy() <= measured.accuracy());
    assert!(crowded.to_bytes().len() < bytes.len());
    for bits in [0, 7, 27] {
        assert!(TaggerOptions { hash_bits: Some(bits), ..options() }.check().is_err());
    }
}

#[test]
fn taggers_are_compared_on_the_same_folds_and_the_better_comes_first() {
    let source = Source::bytes("a.conll", columns(&sentences(61, 120), " "));
    let blind = TaggerOptions { template: Some("U:%x[0,1]".to_owned()), epochs: 2, ..options() };
    let wrong = TaggerOptions { template: Some("U:%x[0,9]".to_owned()), ..options() };
    let second = TaggerOptions { history: 2, ..options() };
    let candidates = [blind, wrong, options(), second];
    let compared = tagger::compare(&candidates, &source, None, 4, 0, &mut ()).unwrap();
    assert_eq!((compared.trials.len(), compared.failed.len(), compared.n_folds), (3, 1, 4));
    assert_eq!((compared.sentences, compared.labels.len()), (120, 4));
    for trial in &compared.trials {
        let whole = trial.whole();
        assert_eq!(whole.sentences, 120, "every sentence is judged once");
        assert!((0.0..0.5).contains(&trial.deviation()));
    }
    let worth: Vec<f64> = compared.trials.iter().map(|trial| TaggerTrial::worth(&trial.whole())).collect();
    assert!(worth.is_sorted_by(|one, other| one >= other));
    assert!(matches!(
        tagger::compare(&candidates[1..2], &source, None, 4, 0, &mut ()),
        Err(Error::Template { .. })
    ));
    assert!(tagger::compare(&candidates, &source, None, 1, 0, &mut ()).is_err());
}

#[test]
fn a_trace_adds_up() {
    let text = "the D\ndog N\n\nthe D\nold A\ndog N\n\ndogs N\n\n";
    let options =
        TaggerOptions { template: Some("U0:%x[0,0]".to_owned()), epochs: 20, ..TaggerOptions::default() };
    let source = Source::bytes("a.conll", text.as_bytes().to_vec());
    let second = TaggerOptions { history: 2, ..options.clone() };
    let threes = tagger::trace(&second, &source, None, 2..=2).unwrap();
    let moved = &threes.rounds[0].moved;
    assert!(
        moved.iter().any(|weight| weight.from == "D, A" && weight.label == "N" && weight.after == 1.0),
        "{moved:?}"
    );
    let traced = tagger::trace(&options, &source, None, 1..=1000).unwrap();
    assert!(traced.is_clean);
    assert_eq!(traced.labels, ["A", "D", "N"]);
    assert_eq!(traced.rounds.iter().filter(|round| round.is_mistake).count() as u64, traced.mistakes);
    // From zero, all ways score the same: a tie is a mistake, and the true labels move up by what the others move down.
    let first = &traced.rounds[0];
    assert!(first.is_mistake && first.true_score == 0.0 && first.words == ["the", "dog"]);
    let up = first.moved.iter().find(|weight| weight.from == "U0:the" && weight.label == "D").unwrap();
    assert_eq!((up.before, up.after, up.is_transition), (0.0, 1.0, false));
    let sum: f64 = first.moved.iter().map(|weight| weight.after - weight.before).sum();
    assert_eq!(sum, 0.0);
    let mut weights: std::collections::BTreeMap<(bool, String, String), f64> =
        std::collections::BTreeMap::new();
    for round in &traced.rounds {
        let best = round.reached.last().unwrap().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(best, round.found_score, "round {}", round.round);
        assert!(round.true_score <= round.found_score);
        // The weights that were listed before give every token's score now.
        for (token, word) in round.words.iter().enumerate() {
            for (label, name) in traced.labels.iter().enumerate() {
                let key = (false, format!("U0:{word}"), name.clone());
                assert_eq!(round.says[token][label], weights.get(&key).copied().unwrap_or(0.0));
            }
        }
        for moved in &round.moved {
            let key = (moved.is_transition, moved.from.clone(), moved.label.clone());
            assert_eq!(weights.insert(key, moved.after).unwrap_or(0.0), moved.before);
        }
        assert_eq!(round.is_mistake, !round.moved.is_empty());
    }
}

#[test]
fn a_model_of_tags_is_a_model_and_refuses_rows() {
    let model = train(&options(), "a.conll", columns(&sentences(1, 30), " ")).unwrap();
    assert_eq!(model.task(), Task::Tags);
    assert_eq!(model.spec().rule(), "perceptron");
    let date = "2026-11-15T10:20:30Z".parse().unwrap();
    let dated = Model::from_bytes(&model.clone().dated(date).to_bytes()).unwrap();
    assert_eq!(dated.date(), Some(date));
    assert_eq!(model.describe(3)["task"], "tags");
    assert!(model.describe(3)["top-attributes"]["B-NP"].is_array());
    let csv =
        String::from_utf8(rosenblatt::export(&model, rosenblatt::export::Export::Csv).unwrap()).unwrap();
    assert!(csv.starts_with("attribute,label,weight\n"), "{csv}");
    let rows = rosenblatt::Dataset::from_rows(&[[1.0], [-1.0]], &["a", "b"]);
    let refusals = [
        model.predict(&[]).map(drop),
        model.predict_all(&rows).map(drop),
        rosenblatt::evaluate(&model, &rows).map(drop),
        rosenblatt::export(&model, rosenblatt::export::Export::Onnx).map(drop),
        model.clone().calibrated(rosenblatt::calibration::Method::Platt, &rows, &[0, 1]).map(drop),
    ];
    for refused in refusals {
        assert!(matches!(refused, Err(Error::OtherTask { has: Task::Tags, .. })), "{refused:?}");
    }
    let classes = rosenblatt::train(&rosenblatt::Spec::default(), &rows).unwrap();
    assert_eq!(classes.task(), Task::Classes);
    assert!(matches!(classes.to_tag(), Err(Error::OtherTask { has: Task::Classes, .. })));
    let refused = mix(&[model, classes], Mixing::default()).unwrap_err();
    assert!(refused.to_string().contains("classifies rows"), "{refused}");
}
