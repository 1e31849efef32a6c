//! Model files that were cut, changed or made up are refused, quickly and in little memory.
//!
//! `cargo xtask torture` runs this at full length, with `ROSENBLATT_TORTURE=full`, and there the time of
//! every single case counts too.

#[path = "../../data/tests/allocations/mod.rs"]
mod allocations;

use rosenblatt::core::{Random, Readout};
use rosenblatt::model::model_checksum;
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use rosenblatt::{
    Checkpoint, Classes, Dataset, KernelOptions, Mapping, Model, Options, Spec, Training, train,
};
use std::time::{Duration, Instant};

/// What a case may take.
const MOST_TIME: Duration = Duration::from_millis(50);
const MOST_MEMORY: usize = 64 << 20;

fn data() -> Dataset {
    let mut random = Random::new(3);
    let rows: Vec<[f64; 4]> = (0..60).map(|_| std::array::from_fn(|_| random.unit() - 0.5)).collect();
    let names: Vec<String> =
        rows.iter().map(|row| format!("class {}", ((row[0] + row[1] + 1.0) * 1.5) as u32)).collect();
    Dataset::from_rows(&rows, &names)
}

/// A small file of every kind.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    struct Once(Vec<u8>);
    impl Checkpointer for Once {
        fn request(&mut self, so_far: &rosenblatt::core::Totals) -> CheckpointRequest {
            if so_far.epochs == 1 { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
        }
        fn save(&mut self, checkpoint: &[u8]) {
            self.0 = checkpoint.to_vec();
        }
    }
    let spec = |readout, multiclass, kernel| {
        let options = Options { readout: Some(readout), multiclass, kernel, epochs: 2, ..Options::default() };
        Spec::new(options).unwrap()
    };
    let planes = spec(Readout::Last, Classes::OneVsRest, None);
    let votes = spec(Readout::Voted, Classes::OneVsOne, None);
    let mapped = |name: &str| {
        let map = Some(Mapping { name: name.to_owned(), size: 8, ..Mapping::default() });
        Spec::new(Options { map, epochs: 2, ..Options::default() }).unwrap()
    };
    let sums = spec(Readout::Last, Classes::OneVsRest, Some(KernelOptions::default()));
    let kernel_votes = spec(Readout::Voted, Classes::OneVsOne, Some(KernelOptions::default()));
    let checkpoint = |spec: &Spec| {
        let mut kept = Once(Vec::new());
        Training::new(spec, &data()).checkpointer(&mut kept).run(&mut ()).unwrap_err();
        kept.0
    };
    vec![
        ("model of a kernel", train(&sums, &data()).unwrap().to_bytes()),
        ("model of a kernel's votes", train(&kernel_votes, &data()).unwrap().to_bytes()),
        ("checkpoint of a kernel", checkpoint(&kernel_votes)),
        ("model of weights", train(&planes, &data()).unwrap().to_bytes()),
        ("model of votes", train(&votes, &data()).unwrap().to_bytes()),
        ("model behind drawn directions", train(&mapped("fourier"), &data()).unwrap().to_bytes()),
        ("model behind landmarks", train(&mapped("nystroem"), &data()).unwrap().to_bytes()),
        ("checkpoint", checkpoint(&votes)),
    ]
}

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
