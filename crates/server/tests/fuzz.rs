//! A little fuzzing of every parser of bodies and of the log, in every run of the tests; their formats are
//! fuzzed in the data crate (`crates/data/FUZZING.md`).
//!
//! Execution `k` is always the same input. `ROSENBLATT_FUZZ_EXECUTIONS` says how many there are of each; none may panic, take
//! more than a second, or end in an internal error.

use crate::bench::{model_of_source, perceptron, pets};
use rosenblatt::Model;
use rosenblatt::data::{ReadOptions, Source, load_source};
use rosenblatt::learning::Random;
use rosenblatt_server::bodies::{self, Kind};
use rosenblatt_server::tensors::Inference;
use rosenblatt_server::{Limits, Problem, rows};
use std::time::{Duration, Instant};

/// Executions of each parser in a run of the tests.
const N_EXECUTIONS: u64 = 400;

const SCRAPS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"NaN",
    b"1e400",
    b"-0",
    b"1e-400",
    b"\n",
    b"\r\n",
    b"\t",
    b"\0",
    b"\xFF\xFE",
    b"{\"rows\": [",
    b"\"labels\": [",
    b"[[[[[[[[",
    b"99999999999999999999",
    b"\"BYTES\"",
    b"\"shape\": [",
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"legs",
    b"weight",
    b"label",
    b"\xFF\xFF\xFF\xFF",
    b"\0\0\0\0",
];

type Parse = dyn Fn(&[u8], &mut Random) -> Result<(), Problem>;

/// A parser, its seeds, and what it makes of an input.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    parse: Box<Parse>,
}

/// A number below `bound`.
fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

fn changed(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=below(random, 4) {
        let at = below(random, bytes.len() + 1);
        match below(random, 6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(random, 8),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..at, SCRAPS[below(random, SCRAPS.len())].iter().copied())),
            3 => {
                let end = (at + below(random, 20)).min(bytes.len());
                let piece = bytes[at..end].repeat(1 + below(random, 30));
                drop(bytes.splice(at..at, piece));
            }
            4 if at < bytes.len() => bytes[at] = below(random, 256) as u8,
            _ => {
                let end = (at + below(random, 10)).min(bytes.len());
                drop(bytes.drain(at..end));
            }
        }
        bytes.truncate(1 << 16);
    }
    bytes
}

fn targets() -> Vec<Target> {
    let limits =
        || Limits { body_bytes: 1 << 18, rows: 1000, features: 1 << 16, classes: 100, ..Limits::default() };
    let table = Model::from_bytes(&pets()).unwrap();
    let numbered = Source::bytes("a.svm", *b"a 1:1 20:1\nb 1:-1 13:1\na 2:1\nb 3:2\na 1:2\nb 17:2\n");
    let numbered = Model::from_bytes(&model_of_source(&numbered, perceptron())).unwrap();
    let texts = Source::bytes("t.tsv", *b"ham\thello you\nspam\tbuy now\nham\tsee you\nspam\tbuy it now\n");
    let texts = Model::from_bytes(&model_of_source(&texts, perceptron())).unwrap();
    let models = [table.clone(), numbered, texts];
    let body = |kind: Kind, seeds: &[&[u8]], name: &'static str| {
        let models = models.clone();
        Target {
            name,
            seeds: seeds.iter().map(|seed| seed.to_vec()).collect(),
            parse: Box::new(move |bytes, random| {
                let model = &models[below(random, models.len())];
                let bytes = bodies::unpacked(bytes, None, &limits())?;
                match below(random, 3) {
                    0 => bodies::to_predict(model, kind, &bytes, &limits()).map(drop),
                    1 => bodies::to_learn(model, kind, &bytes, &limits()).map(drop),
                    _ => bodies::to_evaluate(model, kind, &bytes, &limits()).map(drop),
                }
            }),
        }
    };
    let json: &[&[u8]] = &[
        br#"{"rows": [{"legs": 4, "weight": 4.5, "label": "cat"}, {"legs": 2, "weight": 0.1, "label": "bird"}]}"#,
        br#"{"rows": [[4, 4], [2, 0.1]], "labels": ["cat", "bird"]}"#,
        br#"["buy now", "see you"]"#,
        br#"{"rows": ["buy now"], "labels": ["spam"]}"#,
        br#"{"legs": 2, "weight": 1, "label": "cat"}"#,
    ];
    let lines: &[&[u8]] = &[b"{\"legs\": 4, \"weight\": 4, \"label\": \"cat\"}\n{\"legs\": 2, \"weight\": 1, \"label\": \"bird\"}\n"];
    let csv: &[&[u8]] = &[b"legs,weight,label\n4,4.5,cat\n2,0.1,bird\n"];
    let plain: &[&[u8]] = &[b"spam\tbuy now\nham\tsee you\n", b"buy now\nsee you\n"];
    let libsvm: &[&[u8]] = &[b"a 1:1 20:1\nb 3:2\n"];
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, csv[0]).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::bulk::compress(csv[0], 1).unwrap();
    let how = ReadOptions::as_stored();
    let logged = ["legs,weight,label\n1,2,a\n0,4.5,b\n", "legs,weight,label\n0,0,a\n0,1,b\n"].map(|text| {
        rows::encode("key", &load_source(&Source::bytes("a.csv", text.as_bytes()), &how).unwrap())
    });
    let sparse = load_source(&Source::bytes("a.svm", *b"a 1:1 7:2\nb 3:0.1\na\n"), &how).unwrap();
    let inference: &[&[u8]] = &[
        br#"{"id": "7", "inputs": [{"name": "rows", "shape": [2, 2], "datatype": "FP64", "data": [[4, 4], [2, 0.1]]}]}"#,
        br#"{"inputs": [{"name": "legs", "shape": [1], "datatype": "INT32", "data": [4]}, {"name": "weight", "shape": [1], "datatype": "FP32", "data": [4]}]}"#,
        br#"{"inputs": [{"name": "t", "shape": [1], "datatype": "BYTES", "parameters": {"binary_data_size": 7}}], "outputs": [{"name": "class"}]}    buy"#,
        b"{\"inputs\": [{\"name\": \"r\", \"shape\": [1, 2], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": 8}}]}\0\0\x80\x3f\0\0\x80\x3f",
    ];
    let inference_limits = limits();
    vec![
        body(Kind::Json, json, "json"),
        body(Kind::JsonLines, lines, "json lines"),
        body(Kind::Data(Some("csv")), csv, "csv"),
        body(Kind::Data(Some("text")), plain, "text"),
        body(Kind::Data(Some("libsvm")), libsvm, "libsvm"),
        body(Kind::Data(None), &[&gzip, &zstd, csv[0]], "packed"),
        Target {
            name: "inference",
            seeds: inference.iter().map(|seed| seed.to_vec()).collect(),
            parse: Box::new(move |bytes, random| {
                let head = bytes.iter().rposition(|byte| *byte == b'}').map(|end| end + 1);
                let inference = Inference::parse(bytes, head.filter(|_| below(random, 4) > 0))?;
                bodies::rows_to_predict(&table, &inference.rows(&table)?, &inference_limits).map(drop)
            }),
        },
        Target {
            name: "log",
            seeds: logged.into_iter().chain([rows::encode("", &sparse)]).collect(),
            parse: Box::new(|bytes, _| {
                // What is believed is believed when it is written again.
                if let Ok((key, data)) = rows::decode(bytes) {
                    let bytes = rows::encode(&key, &data);
                    let (again, data) = rows::decode(&bytes).unwrap();
                    assert_eq!(rows::encode(&again, &data), bytes);
                }
                Ok(())
            }),
        },
    ]
}

#[test]
fn no_body_causes_a_panic_a_hang_or_an_internal_error() {
    let chosen = std::env::var("ROSENBLATT_FUZZ_EXECUTIONS").ok().and_then(|number| number.parse().ok());
    for target in targets() {
        let (mut accepted, mut refused) = (0_u64, 0_u64);
        for k in 0..chosen.unwrap_or(N_EXECUTIONS) {
            let mut random = Random::for_purpose(k, target.name);
            let seed = &target.seeds[below(&mut random, target.seeds.len())];
            let input = changed(seed, &mut random);
            let began = Instant::now();
            match (target.parse)(&input, &mut random) {
                Ok(()) => accepted += 1,
                Err(problem) => {
                    let text = format!("{problem:?}");
                    assert!(!text.contains("\"internal\""), "{} {k}: {text}", target.name);
                    refused += 1;
                }
            }
            assert!(
                began.elapsed() < Duration::from_secs(1),
                "{} {k} takes {:?}",
                target.name,
                began.elapsed()
            );
        }
        assert!(
            accepted > 0 && (refused > 0 || target.name == "log"),
            "{}: {accepted} accepted, {refused} refused",
            target.name
        );
        if chosen.is_some() {
            println!("{}: {accepted} accepted, {refused} refused", target.name);
        }
    }
}
