//! The project's chores. `cargo xtask` lists them.
//!
//! Each chore is a module; this file only knows their names. Chores call the ordinary tools as a
//! person would, so that whatever they do can also be done by hand.

mod bench_certify;
mod bench_data;
mod bench_kernel;
mod test;
mod tidy;
mod torture;

use std::process::ExitCode;

/// A chore: its name, what it does, and how.
struct Chore {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "bench",
        summary: "bench data: reading; bench certify: proofs; bench kernel; beside the peers",
        run: bench,
    },
    Chore { name: "test", summary: "formatting, lints, and every test: what CI runs", run: test::run },
    Chore { name: "tidy", summary: "the house rules that the compiler does not know", run: tidy::run },
    Chore {
        name: "torture",
        summary: "kills, full disks and spoiled files, at full length",
        run: torture::run,
    },
];

fn bench(words: &[String]) -> Result<(), String> {
    match words.first().map(String::as_str) {
        Some("certify") => bench_certify::run(&words[1..]),
        Some("kernel") => bench_kernel::run(&words[1..]),
        Some("certify-probe") => bench_certify::probe(&words[1..]),
        _ => bench_data::run(words),
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        say("usage: cargo xtask CHORE\n");
        for chore in CHORES {
            say(&format!("  {:<8} {}", chore.name, chore.summary));
        }
        return ExitCode::from(2);
    };
    match (chore.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// Talks to whoever started the chore.
fn say(text: &str) {
    eprintln!("{text}");
}
