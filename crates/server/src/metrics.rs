//! What is counted, in the words of Prometheus.

use crate::registry::lock;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets of latencies, in seconds.
const BOUNDS: [f64; 12] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 2.5];

/// What is done, each with counts of its own.
pub(crate) const DEEDS: [&str; 7] = ["predict", "explain", "learn", "evaluate", "infer", "admin", "other"];

#[derive(Default)]
struct Deed {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    slots: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

/// All counts of a server.
#[derive(Default)]
pub(crate) struct Metrics {
    deeds: [Deed; DEEDS.len()],
    /// Refusals, by what was asked and code.
    refusals: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    pub(crate) rows_predicted: AtomicU64,
    pub(crate) rows_learned: AtomicU64,
    groups: AtomicU64,
    grouped: AtomicU64,
    log_bytes: AtomicU64,
    pub(crate) connections: AtomicU64,
    cut_off: AtomicU64,
    in_flight: AtomicU64,
}

/// A number that is reported for each model.
type Read = fn(&Gauge) -> u64;

/// What is reported for each model.
pub(crate) struct Gauge {
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) learned: u64,
    pub(crate) errors: u64,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// A request that is being answered.
pub(crate) struct InFlight<'a>(&'a AtomicU64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

impl Metrics {
    /// An answer was given.
    pub(crate) fn answered(&self, deed: &str, status: u16, took: Duration) {
        let place = DEEDS.iter().position(|name| *name == deed).unwrap_or(DEEDS.len() - 1);
        let deed = &self.deeds[place];
        add(&deed.answers[usize::from(status / 100).min(5)], 1);
        let seconds = took.as_secs_f64();
        add(&deed.slots[BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len())], 1);
        add(&deed.nanos, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// A request, or a piece of one, was refused.
    pub(crate) fn refused(&self, deed: &'static str, code: &'static str) {
        *lock(&self.refusals).entry((deed, code)).or_default() += 1;
    }

    /// Counts a request until what is given back goes away.
    pub(crate) fn in_flight(&self) -> InFlight<'_> {
        add(&self.in_flight, 1);
        InFlight(&self.in_flight)
    }

    /// Requests were written and flushed together.
    pub(crate) fn group(&self, requests: u64, bytes: u64) {
        add(&self.groups, 1);
        add(&self.grouped, requests);
        add(&self.log_bytes, bytes);
    }

    /// A client was cut off for being slow.
    pub(crate) fn cut_off(&self) {
        add(&self.cut_off, 1);
    }

    /// The page that Prometheus reads.
    pub(crate) fn page(&self, models: &[Gauge], n_not_served: usize, n_unread: usize) -> String {
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: &mut dyn FnMut(&mut String)| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# HELP rosenblatt_{name} {help}\n# TYPE rosenblatt_{name} {kind}");
            lines(&mut out);
        };
        family("requests_total", "counter", "Answers, by what was asked and class of status.", &mut |out| {
            for (deed, counts) in DEEDS.iter().zip(&self.deeds) {
                for (class, count) in
                    counts.answers.iter().enumerate().skip(1).filter(|(_, count)| get(count) > 0)
                {
                    let _ = writeln!(
                        out,
                        "rosenblatt_requests_total{{deed=\"{deed}\",status=\"{class}xx\"}} {}",
                        get(count)
                    );
                }
            }
        });
        family("problems_total", "counter", "Refusals, by what was asked and code.", &mut |out| {
            for ((deed, code), count) in &*lock(&self.refusals) {
                let _ = writeln!(out, "rosenblatt_problems_total{{deed=\"{deed}\",code=\"{code}\"}} {count}");
            }
        });
        family("request_seconds", "histogram", "Time from the whole head to the answer.", &mut |out| {
            for (deed, counts) in DEEDS.iter().zip(&self.deeds) {
                let mut so_far = 0;
                for (place, slot) in counts.slots.iter().enumerate() {
                    so_far += get(slot);
                    let bound = BOUNDS.get(place).map_or("+Inf".to_owned(), f64::to_string);
                    let _ = writeln!(
                        out,
                        "rosenblatt_request_seconds_bucket{{deed=\"{deed}\",le=\"{bound}\"}} {so_far}"
                    );
                }
                let seconds = get(&counts.nanos) as f64 / 1e9;
                let _ = writeln!(out, "rosenblatt_request_seconds_sum{{deed=\"{deed}\"}} {seconds}");
                let _ = writeln!(out, "rosenblatt_request_seconds_count{{deed=\"{deed}\"}} {so_far}");
            }
        });
        for (name, kind, help, count) in [
            ("rows_predicted_total", "counter", "Rows that were given a class.", &self.rows_predicted),
            ("rows_learned_total", "counter", "Rows that were acknowledged as learned.", &self.rows_learned),
            ("log_groups_total", "counter", "Groups of requests that were written together.", &self.groups),
            ("log_requests_total", "counter", "Requests in these groups.", &self.grouped),
            ("log_bytes_total", "counter", "Bytes written to logs.", &self.log_bytes),
            (
                "cut_off_total",
                "counter",
                "Clients that were cut off for being slow or silent amid a request.",
                &self.cut_off,
            ),
            ("connections", "gauge", "Connections that are open.", &self.connections),
            ("in_flight", "gauge", "Requests that are being answered.", &self.in_flight),
        ] {
            family(name, kind, help, &mut |out| {
                let _ = writeln!(out, "rosenblatt_{name} {}", get(count));
            });
        }
        for (name, help, count) in [
            ("not_served", "Models of the folder that cannot be served.", n_not_served),
            (
                "unread",
                "Files of the folder that cannot be read, while the version before is served.",
                n_unread,
            ),
        ] {
            family(name, "gauge", help, &mut |out| {
                let _ = writeln!(out, "rosenblatt_{name} {count}");
            });
        }
        let gauges: [(&str, &str, Read); 3] = [
            ("model_version", "The version that is served.", |gauge| gauge.version),
            ("model_learned", "Examples learned on top of the version.", |gauge| gauge.learned),
            ("model_errors", "Of these, predicted wrongly before they were learned from.", |gauge| {
                gauge.errors
            }),
        ];
        for (name, help, read) in gauges {
            family(name, "gauge", help, &mut |out| {
                for gauge in models {
                    let _ = writeln!(out, "rosenblatt_{name}{{model=\"{}\"}} {}", gauge.name, read(gauge));
                }
            });
        }
        out
    }
}
