//! Refused requests, for the operator: the first of a kind at once, and after that how many more there were, every few
//! seconds.

use crate::config::Journal;
use crate::problem::Problem;
use crate::registry::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The least time between two lines about refusals of one kind.
const EVERY: Duration = Duration::from_secs(5);
/// Problems of the server itself, whatever was asked.
const ITS_OWN: [&str; 4] = ["busy", "full", "log-failed", "internal"];

/// Refusals that were noted lately, by model, if there is one, and code.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<(String, &'static str), Lately>>);

struct Lately {
    noted: Instant,
    n_more: u64,
}

fn about(model: &str) -> String {
    if model.is_empty() { String::new() } else { format!("model {model}: ") }
}

impl Refusals {
    /// Notes a refusal, if an operator should know of it.
    pub(crate) fn note(&self, journal: &Journal, deed: &str, model: &str, problem: &Problem) {
        let is_lesson = deed == "learn";
        let is_its_own = ITS_OWN.contains(&problem.code());
        if !(is_its_own || is_lesson && matches!(problem.status(), 409 | 422)) {
            return;
        }
        let mut kinds = lock(&self.0);
        if let Some(lately) = kinds.get_mut(&(model.to_owned(), problem.code())) {
            lately.n_more += 1;
            return;
        }
        kinds.insert((model.to_owned(), problem.code()), Lately { noted: Instant::now(), n_more: 0 });
        drop(kinds);
        let what = if is_lesson { "nothing was learned" } else { "a request was refused" };
        let help = problem.help().filter(|_| is_its_own).map_or_else(String::new, |help| format!("; {help}"));
        journal.warn(&format!("{}{what}: {} (`{}`){help}", about(model), problem.detail(), problem.code()));
    }

    /// Notes how many more there were.
    pub(crate) fn look(&self, journal: &Journal) {
        lock(&self.0).retain(|(model, code), lately| {
            let seconds = lately.noted.elapsed().as_secs();
            if lately.noted.elapsed() < EVERY {
                return true;
            }
            let n_more = std::mem::take(&mut lately.n_more);
            lately.noted = Instant::now();
            if n_more > 0 {
                let requests =
                    if n_more == 1 { "1 more request was" } else { &format!("{n_more} more requests were") };
                journal.warn(&format!("{}{requests} refused in {seconds} s (`{code}`)", about(model)));
            }
            n_more > 0
        });
    }
}
