//! `cargo xtask bench certify --campaign N` and `--lp`: verdicts, beside an exact oracle and beside a linear program.
//!
//! Both are tests of the certify crate that are too long for every day, run for release. The campaign puts `N` random
//! problems of the hard kinds beside a simplex method in fractions: wrong verdicts, undecided ones, margins left wide
//! and limits overrun are counted. `--lp` times real-valued rows of some width beside `HiGHS`: a proof beside an answer
//! that is not proved. Seconds are processor time. The outcome is a folder below `bench/runs`.

use super::tools::{after, context, cores, load, output_of, python, today};
use crate::say;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The largest slack that every row can have at once, weights between -1 and 1: 0 if nothing separates them. Prints
/// file, slack, and seconds of the solution.
pub(super) const HIGHS: &str = "
import sys, time
import numpy as np
from scipy.optimize import linprog
for name in sys.argv[1:]:
    a = np.loadtxt(name, delimiter=',')
    z = np.hstack([a[:, :-1], np.ones((len(a), 1))]) * a[:, -1:]
    n, d = z.shape
    start = time.process_time()
    r = linprog(np.r_[np.zeros(d), -1.0], A_ub=np.hstack([-z, np.ones((n, 1))]), b_ub=np.zeros(n),
                bounds=[(-1, 1)] * (d - 1) + [(None, None), (0, 1)], method='highs')
    print(name.rsplit('/', 1)[-1], -r.fun, time.process_time() - start, sep=',', flush=True)
";

pub(super) fn campaign(words: &[String]) -> Result<(), String> {
    let n_problems = after(words, "--campaign").ok_or("`--campaign` wants a number of problems")?;
    let printed = test("campaign", &[("CAMPAIGN", n_problems)])?;
    write_run(
        "certify-campaign",
        words,
        &printed,
        "Random problems of hard kinds beside an exact oracle, 20 s each",
    )
}

pub(super) fn beside_a_linear_program(words: &[String]) -> Result<(), String> {
    let folder = PathBuf::from("target/bench-data/certify");
    fs::create_dir_all(&folder).map_err(context("making the folder"))?;
    let folder = fs::canonicalize(folder).map_err(context("finding the folder"))?;
    let ours = test("wide_rows", &[("FOLDER", &folder.display().to_string())])?;
    let python = after(words, "--python").map(PathBuf::from).or_else(|| python(&["numpy", "scipy"]));
    let files = ours.lines().skip(1).filter_map(|line| line.split(',').next()).map(|name| folder.join(name));
    let peer = match python {
        Some(python) => output_of(Command::new(python).args(["-c", HIGHS]).args(files))?,
        None => String::new(),
    };
    let both = format!("{ours}\nfile,slack,HiGHS s\n{peer}");
    write_run("certify-lp", words, &both, "Time to a proof beside HiGHS, whose answer is not proved")
}

/// Runs one of the long tests, and gives the table that it prints.
fn test(name: &str, variables: &[(&str, &str)]) -> Result<String, String> {
    say(&format!("running `{name}`, which takes long"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--release", "--package", "rosenblatt-certify", "--test", "hard", name]);
    command.args(["--", "--ignored", "--exact", "--nocapture"]).envs(variables.iter().copied());
    let text = output_of(&mut command)?;
    Ok(text.lines().filter(|line| line.contains(',')).fold(String::new(), |table, line| table + line + "\n"))
}

fn write_run(name: &str, words: &[String], table: &str, title: &str) -> Result<(), String> {
    let folder = PathBuf::from(format!("bench/runs/{}-{name}", today()));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let mut readme = format!("# {title}, {}\n\n", today());
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let _ = writeln!(readme, "- Command: `cargo xtask bench certify {}`", words.join(" "));
    let _ = writeln!(readme, "- Machine: {} cores; load at the end {}", cores(), load());
    let _ = writeln!(readme, "- Seconds are processor time.");
    for (file, text) in [("README.md", readme.as_str()), ("table.csv", table)] {
        fs::write(folder.join(file), text).map_err(context("writing the run"))?;
    }
    say(&format!("{table}\nwritten to {}", folder.display()));
    Ok(())
}
