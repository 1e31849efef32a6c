//! The project's chores. `cargo xtask` lists them.
//!
//! Each chore is a module; this file only knows their names. Chores call the ordinary tools as a
//! person would, so that whatever they do can also be done by hand. What is public, the benchmarks use as well.

mod additions;
mod audit;
mod bench;
mod book;
mod builds;
mod circles;
mod contact;
mod docs;
pub mod http;
mod install;
mod lines;
mod links;
mod npm;
mod python;
mod quick;
mod r;
mod release;
mod site;
mod slips;
mod test;
mod tidy;
pub mod tools;
mod torture;
mod torture_serve;
mod workflows;
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
        summary: "dependencies: licences, sources, duplicates; --database PATH: known vulnerabilities; --notices",
        run: audit::run,
    },
    Chore {
        name: "bench",
        summary: "measures the product beside its peers; bench data: reading; bench certify: proofs; bench build, kernel, python",
        run: bench::run,
    },
    Chore { name: "book", summary: "all documents as a static site with search", run: book::run },
    Chore { name: "docs", summary: "draws the gallery and contact sheets", run: docs::run },
    Chore {
        name: "install",
        summary: "fills in the installers from the archives in target/dist or FOLDER, and tries them",
        run: install::run,
    },
    Chore {
        name: "lines",
        summary: "lines of Rust code by crate, without tests, comments and blank lines; --of REV: of another commit",
        run: lines::run,
    },
    Chore {
        name: "npm",
        summary: "builds, packs and tries the package for Node and browsers",
        run: npm::run,
    },
    Chore {
        name: "pages",
        summary: "the playground and the crates' documentation as a web site, in target/pages",
        run: workflows::pages,
    },
    Chore { name: "python", summary: "the tests of the Python package", run: python::run },
    Chore {
        name: "r",
        summary: "packs the R package with all sources, runs R CMD check and tries it; r pack: only packs",
        run: r::run,
    },
    Chore {
        name: "release",
        summary: "builds everything that people install into target/dist; release try: installs it without Rust; release bits",
        run: release::run,
    },
    Chore {
        name: "serve-clients",
        summary: "tests the server with Triton's client, Prometheus' parser and an OpenAPI validator",
        run: python::serve_clients,
    },
    Chore { name: "site", summary: "builds the playground's engine for the browser", run: site::run },
    Chore {
        name: "test",
        summary: "formatting, lints, and every test: what CI runs; test gpu: on a graphics card; test spark: on a cluster; test site: in a browser",
        run: test::run,
    },
    Chore { name: "tidy", summary: "checks the house rules that the compiler does not know", run: tidy::run },
    Chore {
        name: "torture",
        summary: "kills, full disks, typing errors, limits, signals and damaged files; torture serve: the server",
        run: torture::run,
    },
    Chore { name: "wheel", summary: "builds and tries the Python package", run: python::wheel },
    Chore {
        name: "workflows",
        summary: "lints the workflows, installers and metadata; --tag TAG: checks that it is the version",
        run: workflows::run,
    },
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
    // To ask what a chore does is not to run it.
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        say(&format!(
            "cargo xtask {name}: {}\nThe options are at the top of its file below xtask/src.",
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

/// Prints to the terminal of the chore.
pub fn say(text: &str) {
    eprintln!("{text}");
}
