//! Model files that were cut, changed or made up are refused, quickly and in little memory.
//!
//! `cargo xtask torture` runs this at full length, with `ROSENBLATT_TORTURE=full`, and there the time of
//! every single case counts too.

#[path = "../../data/tests/allocations/mod.rs"]
mod allocations;
mod crafted;
mod files;

use files::files;
use rosenblatt::Model;
use rosenblatt::learning::Random;
use rosenblatt::model::Checkpoint;
use rosenblatt::model::model_checksum;
use std::time::{Duration, Instant};

/// What a case may take.
const MOST_TIME: Duration = Duration::from_millis(50);
const MOST_MEMORY: usize = 64 << 20;

/// What a kind of case came to.
#[derive(Default)]
struct VoteCount {
    cases: usize,
    accepted: usize,
    slowest: Duration,
    memory: usize,
}

impl VoteCount {
    /// Reads `bytes` as a model and as a checkpoint.
    fn try_one(&mut self, bytes: &[u8]) {
        let mut fastest = Duration::MAX;
        let mut accepted = false;
        // A busy machine may take the processor away in the middle of a case; hardly five times.
        for _ in 0..5 {
            let start = Instant::now();
            accepted |= Model::from_bytes(bytes).is_ok() || Checkpoint::from_bytes(bytes).is_ok();
            fastest = fastest.min(start.elapsed());
            if fastest < MOST_TIME / 10 {
                break;
            }
        }
        self.slowest = self.slowest.max(fastest);
        self.memory = allocations::peak();
        self.cases += 1;
        self.accepted += usize::from(accepted);
    }

    fn report(&self, what: &str, full: bool) {
        let Self { cases, accepted, slowest, memory } = self;
        println!(
            "{what:<44} {cases:>7} cases, {accepted} accepted, slowest {:.2} ms, at most {:.2} MiB in use",
            slowest.as_secs_f64() * 1e3,
            *memory as f64 / f64::from(1 << 20)
        );
        assert_eq!(*accepted, 0, "{what}");
        assert!(*memory < MOST_MEMORY, "{what}: {memory} bytes");
        // Elsewhere the machine may be busy with other tests.
        assert!(!full || *slowest < MOST_TIME, "{what}: {slowest:?}");
    }
}

#[test]
fn whatever_was_done_to_a_file_is_noticed_quickly_and_in_little_memory() {
    let full = std::env::var("ROSENBLATT_TORTURE").is_ok_and(|mode| mode == "full");
    let n_flips = if full { 10_000 } else { 500 };
    let mut random = Random::new(1);
    for (kind, bytes) in files() {
        let mut cut = VoteCount::default();
        (0..bytes.len()).for_each(|length| cut.try_one(&bytes[..length]));
        cut.report(&format!("{kind}: cut at every byte"), full);

        let mut flipped = VoteCount::default();
        for _ in 0..n_flips {
            let mut changed = bytes.clone();
            changed[random.below(bytes.len() as u64) as usize] ^= 1 << random.below(8);
            flipped.try_one(&changed);
        }
        flipped.report(&format!("{kind}: one bit flipped"), full);

        let mut lengths = VoteCount::default();
        for place in (0..bytes.len().min(512)).step_by(4) {
            for hostile in [u64::from(u32::MAX), i64::MAX as u64, 1 << 30] {
                let mut lying = bytes.clone();
                let n = 8.min(lying.len() - place);
                lying[place..place + n].copy_from_slice(&hostile.to_le_bytes()[..n]);
                if lying != bytes {
                    lengths.try_one(&lying);
                }
            }
        }
        lengths.report(&format!("{kind}: hostile lengths"), full);

        // With the checksum made right, the header must be disbelieved for what it says.
        let mut counts = VoteCount::default();
        let text = String::from_utf8_lossy(&bytes[64..]).into_owned();
        for (at, _) in text.match_indices("\"count\":") {
            let digits = text[at + 8..].bytes().take_while(u8::is_ascii_digit).count();
            for count in ["18446744073709551615", "2305843009213693952", "1073741824", "-1", "1e30"] {
                let mut lying = bytes[..64].to_vec();
                lying.extend(&bytes[64..64 + at + 8]);
                lying.extend(count.bytes());
                lying.extend(&bytes[64 + at + 8 + digits..]);
                let header = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
                let longer = header + count.len() as u64 - digits as u64;
                lying[16..24].copy_from_slice(&longer.to_le_bytes());
                model_checksum(&mut lying);
                counts.try_one(&lying);
            }
        }
        counts.report(&format!("{kind}: hostile counts, checksum right"), full);

        let mut strangers = VoteCount::default();
        let halves = bytes.split_at(bytes.len() / 2);
        for stranger in [
            [&bytes[..], &bytes].concat(),
            [halves.1, halves.0].concat(),
            [&bytes[..], b"junk"].concat(),
            vec![0; bytes.len()],
            b"\x80\x04\x95\x00pickle".to_vec(),
            b"\x1f\x8b\x08\x00\x00".to_vec(),
            vec![b'['; 1 << 20],
            b"{\"a\":".repeat(100_000),
        ] {
            strangers.try_one(&stranger);
        }
        strangers.report(&format!("{kind}: doubled, swapped, strangers"), full);
    }
}

/// Executions that are always made; `cargo xtask torture` and FUZZING.md make more.
const N_CRAFTED: u64 = 2_000;

#[test]
fn whatever_a_file_with_a_right_checksum_says_is_believed_or_refused_in_little_memory() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("ROSENBLATT_CRAFTED_FIRST").unwrap_or(0);
    let n_executions = number("ROSENBLATT_CRAFTED").unwrap_or(N_CRAFTED);
    let seeds = files();
    let mut tally = crafted::Tally::default();
    let folder = std::env::var_os("ROSENBLATT_CRAFTED_FOLDER").map(std::path::PathBuf::from);
    for k in first..first + n_executions {
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{k:06}.model")), crafted::make(&seeds, k)).unwrap();
        }
        if let Err(finding) = crafted::execute(&seeds, k, &mut tally) {
            panic!("execution {k} (alone: ROSENBLATT_CRAFTED_FIRST={k} ROSENBLATT_CRAFTED=1): {finding}");
        }
    }
    println!("executions {first} to {}: {tally:?}", first + n_executions);
    assert!(n_executions < N_CRAFTED || (tally.models > 0 && tally.checkpoints > 0 && tally.refused > 0));
}

#[test]
fn a_file_that_claims_a_great_width_is_looked_at_in_little_memory() {
    for (kind, width, expected) in [
        ("model of weights", 80_000_000_u64, true),
        ("model of weights", 1 << 40, false),
        ("model of votes", 10_000_000, true),
        ("model of a kernel", 80_000_000, true),
        ("model behind drawn directions", 20_000_000, true),
        ("model behind landmarks", 10_000_000, true),
    ] {
        let (_, bytes) = files().into_iter().find(|(name, _)| *name == kind).unwrap();
        let lying = crafted::claim_width(&bytes, width);
        let start = Instant::now();
        let (accepted, memory) = allocations::peak_of(|| {
            Model::from_bytes(&lying).map(|model| serde_json::to_string(&model.summary(5)).unwrap())
        });
        assert_eq!(accepted.is_ok(), expected, "{kind} {width}: {accepted:?}");
        assert!(memory < MOST_MEMORY, "{kind} {width}: {memory} bytes");
        assert!(start.elapsed() < Duration::from_secs(1), "{kind} {width}: {:?}", start.elapsed());
    }
}

#[test]
fn a_number_that_is_none_is_refused_in_a_checkpoint_as_in_a_model() {
    for (kind, bytes) in files() {
        for value in [f64::NAN, f64::INFINITY] {
            for array in crafted::real_arrays(&bytes) {
                let spoiled = crafted::with_number(&bytes, &array, value);
                let (model, checkpoint) = (Model::from_bytes(&spoiled), Checkpoint::from_bytes(&spoiled));
                // Squared lengths may overflow where weights do not.
                if model.is_ok() || checkpoint.is_ok() {
                    assert!(array.ends_with("norms") && value == f64::INFINITY, "{kind}: {array} {value}");
                }
            }
        }
    }
}
