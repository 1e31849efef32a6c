//! Accidental bytes: changed at random, or made to hurt. Nothing may panic, and nothing may take more than it
//! is worth.

use rosenblatt_core::Random;
use rosenblatt_data::{SENTENCE_FORMATS, Sentences, Source, sentences};
use rosenblatt_sequence::template::parse;
use rosenblatt_sequence::{Corpus, Lexicon, Scratch};

const SEEDS: [&str; 5] = [
    "# sent_id = 1\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\t_\t_\t_\t_\t_\t_\n2\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_\n\n",
    "{\"tokens\": [\"He\", \"r\\u00fcns\"], \"tags\": [\"PRP\", \"VBZ\"]}\n{\"tokens\":[[\"a\",\"b\"]],\"tags\":[\"VB\"]}\n",
    "N\tw=a\\:b:0.5\tcap\tw=\\\\\nV\tbias:1e3\n\nN\tx\n",
    "He PRP B-NP\nran VBD B-VP\n\nÄtna\tNNP\tB-NP\n",
    "Don't go (now), Mr. O'Neil's cat said: \"U.S.A.!\"\n\n—\n",
];

/// How many inputs are made: `ROSENBLATT_FUZZ_EXECUTIONS` of them if that is set.
fn executions(usual: usize) -> usize {
    std::env::var("ROSENBLATT_FUZZ_EXECUTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Reads whatever is there, and makes attributes of it.
fn read_all(bytes: &[u8], format: usize) -> usize {
    let source = Source::bytes("fuzz", bytes);
    let Ok(mut stream) = sentences(&source, Some(SENTENCE_FORMATS[format])) else { return 0 };
    let mut block = Sentences::default();
    let template =
        parse("U0:%x[-1,0]/%suffix[0,0,2]\nU1:%shape[1,1]\nU2:%prefix[0,0,3]/%x[0,0]/%lower[2,0]\n").unwrap();
    let mut lexicon = Lexicon::new(template);
    let (mut corpus, mut scratch, mut out) = (Corpus::default(), Scratch::default(), String::new());
    while let Ok(true) = stream.next(&mut block) {
        for number in 0..block.len() {
            lexicon.learn(&block, number, 1, &mut scratch, &mut corpus);
            corpus.end_sentence();
            lexicon.look_up(&block, number, 1, |column| column, &mut scratch, &mut corpus);
            corpus.end_sentence();
            stream.format().write(
                &block,
                number,
                &mut std::iter::repeat_n("X", block.tokens(number).len()),
                1,
                &mut out,
            );
        }
    }
    for attribute in 0..lexicon.len() as u32 {
        assert!(lexicon.name(attribute).starts_with('U'));
    }
    corpus.n_tokens()
}

#[test]
fn changed_files_are_refused_or_read() {
    let mut random = Random::new(7);
    let scraps: [&[u8]; 12] = [
        b"\n",
        b"\n\n",
        b"\t",
        b" ",
        b":",
        b"\\",
        b"\0",
        b"\xFF",
        b"\"",
        b"[",
        b"1e999",
        "\u{3000}’".as_bytes(),
    ];
    let mut n_read = 0;
    let n_executions = executions(6000);
    for round in 0..n_executions {
        let mut bytes = SEEDS[round % SEEDS.len()].as_bytes().to_vec();
        for _ in 0..random.below(6) {
            let at = random.below(bytes.len() as u64 + 1) as usize;
            match random.below(4) {
                0 => {
                    let scrap = scraps[random.below(scraps.len() as u64) as usize];
                    bytes.splice(at..at, scrap.iter().copied());
                }
                1 => bytes.truncate(at),
                2 if at < bytes.len() => bytes[at] = random.below(256) as u8,
                _ => {
                    let from = random.below(at as u64 + 1) as usize;
                    let part = bytes[from..at].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        let format = if random.below(4) == 0 { random.below(5) as usize } else { round % SEEDS.len() };
        n_read += usize::from(read_all(&bytes, format) > 0);
    }
    assert!(
        n_read > n_executions / 3,
        "only {n_read} were read: the changes are too rough to reach what lies deeper"
    );
}

#[test]
fn changed_templates_are_refused_or_read() {
    let mut random = Random::new(11);
    let seed = "U00:%x[-2,0]\nU05:%x[-1,0]/%x[0,1]\nU06:%suffix[0,0,3]\nB\n";
    let mut n_right = 0;
    let n_executions = executions(3000);
    for _ in 0..n_executions {
        let mut text: Vec<char> = seed.chars().collect();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len() as u64) as usize;
            let letters = ['%', '[', ']', ',', '9', '-', 'U', '\n', 'ß', 'x'];
            match random.below(3) {
                0 => text[at] = letters[random.below(10) as usize],
                1 => text.insert(at, letters[random.below(10) as usize]),
                _ => drop(text.remove(at)),
            }
        }
        n_right += usize::from(parse(&text.into_iter().collect::<String>()).is_ok());
    }
    assert!((n_executions / 10..n_executions).contains(&n_right), "{n_right} of {n_executions}");
    assert!(parse(&"U%x[0,0]".repeat(100_000)).is_err(), "a template that explodes");
    assert!(parse("U:%suffix[0,0,255]").is_err());
    assert!(parse("U:%x[0,99999999999999999999]").is_err());
}

#[test]
fn a_sentence_without_an_end_is_refused_before_it_fills_the_memory() {
    // A sentence of ten million tokens in the plainest format; of the others, as many as are refused.
    for (format, token, n_tokens) in
        [(3, "a N\n", 10_000_000), (0, "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n", 1_000_000), (2, "N\ta\n", 1_000_000)]
    {
        let text = token.repeat(n_tokens);
        let source = Source::bytes("long", text.into_bytes());
        let mut stream = sentences(&source, Some(SENTENCE_FORMATS[format])).unwrap();
        let error = stream.next(&mut Sentences::default()).unwrap_err().to_string();
        assert!(error.contains("at most"), "{error}");
    }
}
