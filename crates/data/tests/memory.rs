//! A stream takes the memory of a few blocks, however long it is, in one file or in many.
//!
//! What counts is the process as the system sees it, so each stream is read by a process of its own that says
//! its peak. Linux tells it; elsewhere there is nothing to test.
#![cfg(target_os = "linux")]

use rosenblatt_data::{ReadOptions, Source, blocks};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// How many times longer the long stream is.
const TIMES: usize = 20;

/// What a stream may take beside the program itself.
const MAX_KIB: u64 = 32 << 10;

/// Says the peak memory of reading what the environment names.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn peak_of_one_stream() {
    let (Ok(files), Ok(threads)) = (std::env::var("STREAM_FILES"), std::env::var("STREAM_THREADS")) else {
        panic!("run by the other test");
    };
    let how = ReadOptions { threads: threads.parse().unwrap(), ..ReadOptions::as_stored() };
    let mut stream = blocks(&Source::find_all(files.split(' ')).unwrap(), &how).unwrap();
    let mut n_rows = 0;
    while let Some(block) = stream.next().unwrap() {
        n_rows += block.len();
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak {} rows {n_rows}", peak.split_whitespace().next().unwrap());
}

/// Peak memory in KiB, and rows.
fn stream(files: &[&Path], threads: usize) -> (u64, usize) {
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "peak_of_one_stream", "--ignored", "--nocapture"])
        .env("STREAM_FILES", names.join(" "))
        .env("STREAM_THREADS", threads.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().skip_while(|word| *word != "peak").collect();
    let ["peak", peak, "rows", n_rows, ..] = words[..] else { panic!("{text}") };
    (peak.parse().unwrap(), n_rows.parse().unwrap())
}

/// Some megabytes of rows.
fn rows(format: &str) -> String {
    let mut text = String::new();
    for row in 0_u32.. {
        let value = |place: u32| (row.wrapping_mul(2_654_435_761) ^ place.wrapping_mul(40_503)) % 100_000;
        let is_sparse = format == "svm";
        if is_sparse {
            text += if row % 3 == 0 { "+1" } else { "-1" };
        }
        for place in 0..if is_sparse { 60 } else { 28 } {
            let _ = if is_sparse {
                write!(text, " {}:0.{:05}", place * 90 + 1 + row % 90, value(place))
            } else {
                write!(text, "{}.{:05},", place % 3, value(place))
            };
        }
        if !is_sparse {
            text += if row % 3 == 0 { "a" } else { "b" };
        }
        text.push('\n');
        if text.len() > 4 << 20 {
            break;
        }
    }
    text
}

#[test]
fn the_peak_is_that_of_a_short_stream() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["svm", "csv"] {
        let text = rows(format);
        for compressed in [false, true] {
            let name = |length: &str| {
                folder.path().join(format!("{length}.{format}{}", if compressed { ".gz" } else { "" }))
            };
            let (short, long) = (name("short"), name("long"));
            let mut bytes = text.clone().into_bytes();
            if compressed {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(&bytes).unwrap();
                bytes = encoder.finish().unwrap();
            }
            fs::write(&short, &bytes).unwrap();
            fs::write(&long, bytes.repeat(TIMES)).unwrap();
            for threads in [1, 2] {
                let (expected, n_rows) = stream(&[&short], threads);
                assert!(expected < MAX_KIB, "{format} {threads}: {expected} KiB");
                for files in [vec![&*long], vec![&*short; TIMES]] {
                    let (peak, n_long) = stream(&files, threads);
                    assert_eq!(n_long, n_rows * TIMES);
                    let what = format!("{format}, {threads} threads, {} files", files.len());
                    // Near to a tenth, as a heap has holes; threads or buffers made anew would double it. Every file
                    // has a parser of its own, whose lists leave larger ones.
                    let more = if files.len() > 1 { expected / 5 } else { expected / 8 };
                    assert!(peak <= expected + more, "{what}: {peak} KiB beside {expected}");
                }
            }
        }
    }
}
