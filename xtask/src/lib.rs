//! The project's chores. `cargo xtask` lists them.
//!
//! Each chore is a module; this file only knows their names. Chores call the ordinary tools as a
//! person would, so that whatever they do can also be done by hand. What is public, the benchmarks use as well.

mod audit;
mod bench;
mod builds;
mod circles;
mod contact;
mod docs;
pub mod http;
mod lines;
mod python;
mod quick;
mod site;
mod slips;
mod test;
mod tidy;
pub mod tools;
mod torture;
mod torture_serve;
pub mod workloads;

use std::process::ExitCode;

/// A chore: its name, what it does, and how.
struct Chore {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "audit",
        summary: "what others wrote: licences, sources, duplicates; --database PATH: known flaws; --notices",
        run: audit::run,
    },
    Chore {
        name: "bench",
        summary: "the whole product beside its peers; bench data: reading; bench certify: proofs; bench build, kernel, python",
        run: bench::run,
    },
    Chore {
        name: "docs",
        summary: "the gallery and contact sheets, drawn by the program itself",
        run: docs::run,
    },
    Chore {
        name: "lines",
        summary: "lines of Rust code by crate, without tests, comments and blank lines; --of REV: of another commit",
        run: lines::run,
    },
    Chore { name: "python", summary: "the tests of the Python package", run: python::run },
    Chore {
        name: "serve-clients",
        summary: "the server, spoken to by Triton's client, Prometheus' parser and an OpenAPI validator",
        run: python::serve_clients,
    },
    Chore { name: "site", summary: "the playground's engine, built for the browser", run: site::run },
    Chore {
        name: "test",
        summary: "formatting, lints, and every test: what CI runs; test gpu: on a graphics card; test spark: on a cluster; test site: in a browser",
        run: test::run,
    },
    Chore { name: "tidy", summary: "the house rules that the compiler does not know", run: tidy::run },
    Chore {
        name: "torture",
        summary: "kills, full disks, slips, limits, signals and spoiled files, at full length; torture serve: the server",
        run: torture::run,
    },
    Chore { name: "wheel", summary: "the Python package, built and tried", run: python::wheel },
];

/// What tests are built of: all crates but the benchmarks, with all features. Every chore that needs a part of it asks for it
/// in these words, so that nothing is built twice.
const EVERYTHING: &[&str] = &["--workspace", "--exclude", "rosenblatt-bench", "--all-features"];

/// A command of cargo about that, and what else there is to say.
fn everything<'a>(command: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&[command], EVERYTHING, words].concat()
}

/// Does the chore that the command line names.
pub fn main() -> ExitCode {
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
    // Nobody who asks what a chore does wants it done.
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        say(&format!(
            "cargo xtask {name}: {}\nOptions are told at the top of its file below xtask/src.",
            chore.summary
        ));
        return ExitCode::SUCCESS;
    }
    match (chore.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// Talks to whoever started the chore.
pub fn say(text: &str) {
    eprintln!("{text}");
}
