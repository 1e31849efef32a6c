//! One version of a model as it goes on learning: a thread of its own that writes, flushes, learns and publishes.
//!
//! Requests that arrive together are written and flushed together (group commit), in one order, and are acknowledged
//! after that. A prediction reads what was published last and never waits for the thread. A version is
//! published when nothing waits, and otherwise at least every [`PUBLISH`], or when publishing has taken a
//! twentieth of the time: an answer may lag that much after an acknowledgement.

use crate::config::{Config, Durability};
use crate::log::{self, Acknowledged, LogError, Medium};
use crate::metrics::Metrics;
use crate::problem::{Problem, with_flags};
use crate::rows;
use crate::state::{damaged, open_plain, read_plain};
use rosenblatt::data::files::write_own;
use rosenblatt::recipe::Ongoing;
use rosenblatt::{Model, Recipe};
use rosenblatt_data::Dataset;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The least time between two published versions while examples keep coming.
const PUBLISH: Duration = Duration::from_millis(50);
/// Publishing takes at most this part of the time.
const PUBLISH_SHARE: u32 = 20;
/// How often the log is flushed if examples do not wait for it.
const INTERVAL: Duration = Duration::from_secs(1);
/// The most bytes of the name of a class that is taken in.
const CLASS_BYTES: usize = 256;
/// How many classes are named in a message.
const CLASSES_NAMED: usize = 10;
/// What stands between a key and the checksum of its body in the log; no header can hold it.
const MARK: char = '\0';
/// What helps if the log could not be flushed.
const REOPEN: &str =
    "check the disk of the folder of models, and start the server again: it then reads the log";
/// The most requests and bytes of one group.
const GROUP_REQUESTS: usize = 1024;
const GROUP_BYTES: usize = 8 << 20;

/// What readers see.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) model: Arc<Model>,
    /// Examples learned on top of the version's file.
    pub(crate) learned: u64,
    /// Of these, how many were predicted wrongly before they were learned from.
    pub(crate) errors: u64,
}

/// Where readers look.
pub(crate) type Shelf = RwLock<Arc<Published>>;

/// What a client learns about rows that were learned from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// The version that learned from them.
    #[serde(default)]
    pub(crate) version: u64,
    /// Rows of the request.
    pub(crate) rows: u64,
    /// Examples learned so far, these included.
    pub(crate) learned: u64,
    /// Rows of the request that were predicted wrongly before they were learned from.
    pub(crate) errors: u64,
    /// The same of all examples learned so far.
    pub(crate) errors_so_far: u64,
    /// Classes of the request that the version had never seen.
    #[serde(default)]
    pub(crate) new_classes: Vec<String>,
    /// Whether the same request had been acknowledged before, and was not learned from again.
    pub(crate) repeated: bool,
}

type Reply = oneshot::Sender<Result<Receipt, Problem>>;

/// What the thread is asked for.
pub(crate) enum Wish {
    Learn(Lesson),
    /// The model as it is after all that was acknowledged.
    Model(oneshot::Sender<Result<Model, Problem>>),
    /// What the next version goes on from. Nothing is learned until the verdict comes; if there is a next version, nothing
    /// is learned any more, and what waits comes to nothing, to be sent to that one.
    Seal {
        with_model: bool,
        reply: Sender<Result<Sealed, Problem>>,
        verdict: Receiver<()>,
    },
    /// A snapshot, and the end.
    Stop(oneshot::Sender<()>),
}

/// A request to learn.
pub(crate) struct Lesson {
    /// What names the request, if it is to be learned from once however often it is sent.
    pub(crate) key: String,
    /// The checksum of its body, by which another request of the same name is noticed.
    pub(crate) sum: u32,
    pub(crate) data: Box<Dataset>,
    /// Whether classes that were never seen are taken in.
    pub(crate) grow: bool,
    pub(crate) reply: Reply,
}

/// What a version leaves to the next one.
pub(crate) struct Sealed {
    /// Examples that it learned.
    pub(crate) n_learned: u64,
    /// Of these, how many it predicted wrongly before it learned from them.
    pub(crate) n_errors: u64,
    /// What was learned, if it was asked for.
    pub(crate) model: Option<Model>,
    /// All keys that were acknowledged, if there are any.
    pub(crate) keys: Option<Vec<u8>>,
}

/// A thread that learns.
pub(crate) struct Live {
    wishes: Sender<Wish>,
}

impl Live {
    /// Hands a wish over; the thread has ended if it comes back.
    pub(crate) fn wish(&self, wish: Wish) -> Result<(), Wish> {
        self.wishes.send(wish).map_err(|error| error.0)
    }

    /// Starts the thread.
    pub(crate) fn start(learner: Learner) -> io::Result<Self> {
        let (wishes, waiting) = channel();
        std::thread::Builder::new().name("learner".to_owned()).spawn(move || learner.work(&waiting))?;
        Ok(Self { wishes })
    }
}

/// Where a version keeps what it learned.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The model and the version, for those who read notes.
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) log: PathBuf,
    /// How far the log is acknowledged.
    pub(crate) acknowledged: PathBuf,
    pub(crate) snapshot: PathBuf,
}

impl Places {
    /// A file of the version, as messages name it: from the folder of models.
    fn named(&self, kind: &str) -> String {
        format!("`{}.serve/{}.{kind}`", self.name, self.version)
    }
}

/// What is kept of idempotency keys: the answer, and what was sent.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Keys {
    order: VecDeque<String>,
    known: HashMap<String, (u32, Receipt)>,
}

impl Keys {
    /// As the next version reads them.
    fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok().filter(|_| !self.order.is_empty())
    }

    fn add(&mut self, key: String, sum: u32, receipt: Receipt, most: usize) {
        if key.is_empty() {
            return;
        }
        self.order.push_back(key.clone());
        self.known.insert(key, (sum, receipt));
        while self.order.len() > most {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }
}

/// What all learners of a server share.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    pub(crate) config: Arc<Config>,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether the server has ended, and a learner that did not end in time writes nothing any more.
    pub(crate) is_over: Arc<AtomicBool>,
}

/// What the thread works on.
pub(crate) struct Learner {
    ongoing: Ongoing,
    shelf: Arc<Shelf>,
    places: Places,
    log: Box<dyn Medium>,
    acknowledged: Acknowledged,
    log_bytes: u64,
    /// The number of the first record of the log.
    first: u64,
    /// The number of the next record.
    next: u64,
    rows_in_log: u64,
    keys: Keys,
    /// Whether the log can be written to no more.
    failed: bool,
    /// Why what was learned is no model any more, if that is so.
    overflowed: Option<Problem>,
    /// What was noted last.
    noted: String,
    unsynced: bool,
    snapshot_bytes: u64,
    common: Common,
}

/// What a snapshot begins with, besides the learner's own bytes.
#[derive(Serialize, Deserialize)]
struct Preface {
    next: u64,
    keys: Keys,
}

const SNAPSHOT_MAGIC: &[u8; 8] = b"rbsnap2\n";

fn pack(preface: &Preface, state: &[u8]) -> Vec<u8> {
    let preface = serde_json::to_vec(preface).unwrap_or_default();
    let mut bytes = SNAPSHOT_MAGIC.to_vec();
    bytes.extend((preface.len() as u64).to_le_bytes());
    bytes.extend(preface);
    bytes.extend(state);
    let sum = Sha256::digest(&bytes);
    bytes.extend(sum);
    bytes
}

/// The parts of a snapshot, once its checksum is right.
fn unpack(bytes: &[u8]) -> Result<(Preface, &[u8]), &'static str> {
    let content = match bytes.split_last_chunk::<32>() {
        Some((content, sum)) if Sha256::digest(content).as_slice() == sum => content,
        _ => return Err("does not match its checksum"),
    };
    let parts = || {
        let rest = content.strip_prefix(SNAPSHOT_MAGIC)?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (preface, state) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some((serde_json::from_slice(preface).ok()?, state))
    };
    parts().ok_or("is whole, and another build wrote it, which can serve it")
}

/// What was found when a version was taken up again.
pub(crate) struct Recovered {
    pub(crate) ongoing: Ongoing,
    keys: Keys,
    next: u64,
    /// The log, and how much of it is whole; nothing if there is none.
    log: Option<log::Found>,
    rows_in_log: u64,
    snapshot_bytes: u64,
}

impl Recovered {
    /// What the version leaves to the next one, which does not go on from what it learned.
    pub(crate) fn sealed(&self) -> Sealed {
        let totals = self.ongoing.totals();
        Sealed { n_learned: totals.rounds, n_errors: totals.errors, model: None, keys: self.keys() }
    }

    /// All keys that were acknowledged, if there are any.
    fn keys(&self) -> Option<Vec<u8>> {
        self.keys.to_bytes()
    }
}

/// Takes a version up again: the keys it began with, its snapshot, and what the log has beyond it. Writes nothing.
pub(crate) fn recover(
    recipe: &Recipe,
    base: &Arc<Model>,
    places: &Places,
    inherited: impl FnOnce() -> Result<Option<Vec<u8>>, Problem>,
    has_begun: bool,
    common: &Common,
) -> Result<Recovered, Problem> {
    let note = |what: &str| common.config.journal.warn(&format!("model {}: {what}", places.name));
    let of = |kind: &str| places.named(kind);
    let (mut ongoing, mut keys, mut next, snapshot_bytes) = match read_plain(&places.snapshot) {
        Ok(bytes) => {
            let (preface, state) = unpack(&bytes)
                .map_err(|what| damaged(format!("{}, the snapshot, {what}", of("snapshot"))))?;
            let ongoing = Ongoing::restore(recipe, Arc::clone(base), state).map_err(|error| {
                damaged(format!("{}, the snapshot, cannot be gone on from: {error}", of("snapshot")))
            })?;
            (ongoing, preface.keys, preface.next, bytes.len() as u64)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let keys = inherited()?.as_deref().map(serde_json::from_slice).transpose();
            let keys = keys.map_err(|_| {
                damaged(format!("{}, the idempotency keys of earlier versions, cannot be read", of("keys")))
            })?;
            (Ongoing::begin(recipe, Arc::clone(base))?, keys.unwrap_or_default(), 0, 0)
        }
        Err(error) => {
            return Err(damaged(format!("{}, the snapshot, cannot be read: {error}", of("snapshot"))));
        }
    };
    // Those of old snapshots do not say which version they are of.
    let unnumbered = keys.known.values_mut().filter(|(_, receipt)| receipt.version == 0);
    unnumbered.for_each(|(_, receipt)| receipt.version = places.version);
    let covered = next;
    let acknowledged = match read_plain(&places.acknowledged) {
        Ok(bytes) => Some(Acknowledged::read(&bytes).ok_or_else(|| {
            damaged(format!("{}, which tells how long the log must be, is damaged", of("acknowledged")))
        })?),
        // Older servers did not write it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(damaged(format!("{} cannot be read: {error}", of("acknowledged")))),
    };
    let mut rows_in_log = 0;
    let replayed = open_plain(&places.log).map_err(LogError::from).and_then(|file| {
        log::read_file(file, |number, payload| {
            if number < covered {
                return Ok(());
            }
            let (mark, data) = rows::decode(payload).map_err(|_| "a record is whole and holds no rows")?;
            rows_in_log += data.len() as u64;
            // What the learner refuses it refused before, and learned nothing from.
            match learned(&mut ongoing, &data, places.version) {
                Ok(receipt) => {
                    let (key, sum) = mark.split_once(MARK).unwrap_or((&mark, ""));
                    let sum = u32::from_str_radix(sum, 16).unwrap_or_else(|_| crc32fast::hash(payload));
                    keys.add(key.to_owned(), sum, receipt, common.config.limits.keys);
                }
                Err(problem) => {
                    note(&format!("record {number} of the log teaches nothing: {}", problem.detail()));
                }
            }
            Ok(())
        })
    });
    let log = match replayed {
        Ok(found) if found.first > covered || found.next < covered => {
            return Err(damaged(format!(
                "{} and {}, the log and the snapshot, do not meet; examples are missing",
                of("log"),
                of("snapshot")
            )));
        }
        Ok(found) if acknowledged.is_some_and(|acknowledged| found.next < acknowledged) => {
            let missing = acknowledged.unwrap_or_default() - found.next;
            let records = if missing == 1 { "record was" } else { "records were" };
            return Err(damaged(format!(
                "the end of {} is missing: {missing} more {records} acknowledged than it has",
                of("log")
            )));
        }
        Ok(found) => {
            if found.torn > 0 {
                let known =
                    if acknowledged.is_some() { " after all that was acknowledged and flushed" } else { "" };
                note(&format!(
                    "the last {} bytes of {} are a record that was cut off{known}; they are taken away",
                    found.torn,
                    of("log")
                ));
            }
            if acknowledged.is_none() {
                note(&format!(
                    "{} is missing, as after an older server: whether the end of {} is missing, too, is not known",
                    of("acknowledged"),
                    of("log")
                ));
            }
            next = found.next;
            Some(found)
        }
        Err(LogError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            // A log is there from the first example on.
            if has_begun || snapshot_bytes > 0 || acknowledged.is_some_and(|acknowledged| acknowledged > 0) {
                return Err(damaged(format!(
                    "{}, the log, is gone, and with it what was learned since the last snapshot",
                    of("log")
                )));
            }
            None
        }
        Err(error) => return Err(damaged(format!("{}: {error}", of("log")))),
    };
    Ok(Recovered { ongoing, keys, next, log, rows_in_log, snapshot_bytes })
}

/// Learns from rows, all or none of them.
fn learned(ongoing: &mut Ongoing, data: &Dataset, version: u64) -> Result<Receipt, Problem> {
    let (before, n_classes) = (ongoing.totals().errors, ongoing.labels().len());
    ongoing.learn(data)?;
    let totals = ongoing.totals();
    Ok(Receipt {
        version,
        rows: data.len() as u64,
        learned: totals.rounds,
        errors: totals.errors - before,
        errors_so_far: totals.errors,
        new_classes: ongoing.labels().names()[n_classes..].to_vec(),
        repeated: false,
    })
}

impl Published {
    /// What `ongoing` has come to; the old model stays if the new one cannot be had.
    pub(crate) fn of(ongoing: &Ongoing) -> Result<Self, Problem> {
        let totals = ongoing.totals();
        Ok(Self { model: Arc::new(ongoing.model()?), learned: totals.rounds, errors: totals.errors })
    }
}

impl Learner {
    /// Makes a learner of what was recovered, with a log that is open for more.
    pub(crate) fn new(
        recovered: Recovered,
        shelf: Arc<Shelf>,
        places: Places,
        common: Common,
    ) -> io::Result<Self> {
        let Recovered { ongoing, keys, next, log, rows_in_log, snapshot_bytes } = recovered;
        let (first, log_bytes) = if let Some(found) = &log {
            (found.first, found.length)
        } else {
            begin_log(&places.log, next)?;
            (next, log::HEADER_BYTES)
        };
        let file = File::options().append(true).open(&places.log)?;
        if log.is_some_and(|found| found.torn > 0) {
            file.set_len(log_bytes)?;
        }
        // What was read is answered for from now on, and a killed server may not have flushed it.
        file.sync_all()?;
        write_file(&places.acknowledged, &Acknowledged::bytes(next))?;
        let acknowledged = Acknowledged::new(File::options().write(true).open(&places.acknowledged)?);
        Ok(Self {
            ongoing,
            shelf,
            places,
            log: Box::new(file),
            acknowledged,
            log_bytes,
            first,
            next,
            rows_in_log,
            keys,
            failed: false,
            overflowed: None,
            noted: String::new(),
            unsynced: false,
            snapshot_bytes,
            common,
        })
    }

    #[cfg(test)]
    pub(crate) fn with_medium(self, wrap: impl FnOnce(Box<dyn Medium>) -> Box<dyn Medium>) -> Self {
        Self { log: wrap(self.log), ..self }
    }

    fn work(mut self, waiting: &Receiver<Wish>) {
        let mut is_behind = false;
        let mut cost = Duration::ZERO;
        let mut published = Instant::now();
        let mut synced = Instant::now();
        let mut held = None;
        loop {
            let due = PUBLISH.max(cost * PUBLISH_SHARE);
            let wait = if is_behind { due.saturating_sub(published.elapsed()) } else { INTERVAL };
            let wish = match held.take() {
                Some(wish) => Some(wish),
                None => match waiting.recv_timeout(wait) {
                    Ok(wish) => Some(wish),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                },
            };
            match wish {
                Some(Wish::Learn(lesson)) => {
                    let mut group = vec![lesson];
                    while group.len() < GROUP_REQUESTS {
                        match waiting.try_recv() {
                            Ok(Wish::Learn(lesson)) => group.push(lesson),
                            Ok(other) => {
                                held = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.commit(group);
                    is_behind = true;
                    let config = &self.common.config;
                    if self.rows_in_log >= config.snapshot_rows || self.log_bytes > config.snapshot_log_bytes
                    {
                        self.snapshot();
                    }
                }
                Some(Wish::Model(reply)) => {
                    let _ = reply.send(self.model());
                }
                Some(Wish::Seal { with_model, reply, verdict }) => {
                    let model = with_model.then(|| self.model()).transpose();
                    let totals = self.ongoing.totals();
                    let (n_learned, n_errors) = (totals.rounds, totals.errors);
                    let keys = self.keys.to_bytes();
                    let _ = reply.send(model.map(|model| Sealed { n_learned, n_errors, model, keys }));
                    // Comes to an error if there is no next version.
                    if verdict.recv().is_ok() {
                        return;
                    }
                }
                Some(Wish::Stop(reply)) => {
                    self.snapshot();
                    self.publish();
                    let _ = reply.send(());
                    return;
                }
                None => {}
            }
            if is_behind && published.elapsed() >= PUBLISH.max(cost * PUBLISH_SHARE) {
                let began = Instant::now();
                self.publish();
                cost = began.elapsed();
                published = Instant::now();
                is_behind = false;
            }
            if self.unsynced && synced.elapsed() >= INTERVAL {
                self.sync_late();
                synced = Instant::now();
            }
        }
        self.snapshot();
        self.publish();
    }

    /// What is published last, unless more was learned since.
    fn published(&self) -> Option<Arc<Published>> {
        let published = self.shelf.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&published)).filter(|published| published.learned == self.ongoing.totals().rounds)
    }

    /// The model with all that was learned.
    fn model(&self) -> Result<Model, Problem> {
        match self.published() {
            Some(published) => Ok(Model::clone(&published.model)),
            None => Ok(self.ongoing.model()?),
        }
    }

    /// Lets readers see what has been learned.
    fn publish(&mut self) {
        if self.published().is_some() {
            return;
        }
        match Published::of(&self.ongoing) {
            Ok(published) => {
                *self.shelf.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(published);
            }
            // Weights that overflowed are no model; readers keep the last one that is, and nothing more is learned.
            Err(problem) => {
                let problem = problem.with_help(format!(
                    "go back to version {}, without what was learned on top of it: POST its versions {{\"of\": {0}}}",
                    self.places.version
                ));
                self.note(&format!("nothing was learned: {}", problem.detail()));
                self.overflowed = Some(problem);
            }
        }
    }

    /// Notes what no client is answered with, once.
    fn note(&mut self, what: &str) {
        let line = format!("model {}: {what}", self.places.name);
        if line != self.noted {
            self.common.config.journal.warn(&line);
            self.noted = line;
        }
    }

    /// Writes, flushes and learns from a group, in its order, and tells everybody.
    fn commit(&mut self, group: Vec<Lesson>) {
        let disk_bytes = self.common.config.limits.disk_bytes;
        let mut bytes = Vec::new();
        let mut written: Vec<Lesson> = Vec::new();
        let mut repeats = Vec::new();
        let mut new_classes: HashSet<String> = HashSet::new();
        for lesson in group {
            let Lesson { key, sum, data, .. } = &lesson;
            let in_group = written.iter().find(|other| !key.is_empty() && other.key == *key);
            let known = self.keys.known.get(key).map(|(sum, _)| *sum).or(in_group.map(|other| other.sum));
            if let Some(before) = known.filter(|_| !key.is_empty()) {
                // Before bodies were summed, records were.
                if before == *sum || before == crc32fast::hash(&rows::encode(key, data)) {
                    repeats.push(lesson);
                } else {
                    let message = "this idempotency key was used for other rows";
                    let _ = lesson.reply.send(Err(Problem::new("key-reused", message)));
                }
                continue;
            }
            let n_waiting: usize = written.iter().map(|lesson| lesson.data.len()).sum();
            if let Err(problem) = self.check(&lesson, n_waiting, &mut new_classes) {
                let _ = lesson.reply.send(Err(problem));
                continue;
            }
            let mark = if key.is_empty() { String::new() } else { format!("{key}{MARK}{sum:08x}") };
            let payload = rows::encode(&mark, data);
            let size = self.log_bytes + bytes.len() as u64 + payload.len() as u64 + self.snapshot_bytes;
            if size > disk_bytes || payload.len() > log::MOST_BYTES {
                let message = format!("what was learned may take {disk_bytes} bytes on disk");
                let _ = lesson.reply.send(Err(Problem::new("full", message).with_help(with_flags(
                    &"start the server with a higher {max-disk}, or keep a version and go on from it".into(),
                ))));
                continue;
            }
            log::record(&mut bytes, self.next + written.len() as u64, &payload);
            written.push(lesson);
            if bytes.len() > GROUP_BYTES {
                self.write(&mut bytes, &mut written);
            }
        }
        self.write(&mut bytes, &mut written);
        for Lesson { key, reply, .. } in repeats {
            let again =
                self.keys.known.get(&key).map(|(_, receipt)| Receipt { repeated: true, ..receipt.clone() });
            let _ = reply.send(
                again.ok_or_else(|| Problem::new("busy", "its first sending failed just now; try again")),
            );
        }
    }

    /// Whether the model may take these rows in, after this many others and these classes.
    fn check(
        &self,
        lesson: &Lesson,
        n_waiting: usize,
        new_classes: &mut HashSet<String>,
    ) -> Result<(), Problem> {
        let (limits, data) = (&self.common.config.limits, &lesson.data);
        if self.failed {
            let log = self.places.named("log");
            let message = format!(
                "{log}, the log, could not be written or flushed, and is not trusted until it was read again"
            );
            return Err(Problem::new("log-failed", message).with_help(REOPEN));
        }
        if let Some(problem) = &self.overflowed {
            return Err(problem.clone());
        }
        if data.width() > limits.features {
            let message =
                format!("a model may have {} features, and a row has {}", limits.features, data.width());
            let help = with_flags(&"start the server with a higher {max-features}".into());
            return Err(Problem::new("limit", message).with_help(help));
        }
        let n_updates = self.ongoing.totals().updates + (n_waiting + data.len()) as u64;
        if self.ongoing.keeps_every_update() && n_updates > limits.updates {
            let message = format!("a model that keeps every update may make {}", limits.updates);
            return Err(Problem::new("full", message)
                .with_help(with_flags(
                &"start the server with a higher {max-updates}, or go on in a new version with averages or a budget"
                    .into(),
            )));
        }
        let new = self.ongoing.new_classes(data);
        let added: Vec<&String> = new.iter().filter(|name| !new_classes.contains(*name)).collect();
        if !added.is_empty() {
            self.check_classes(&added, lesson.grow, new_classes.len())?;
        }
        self.ongoing.check(data)?;
        new_classes.extend(new);
        Ok(())
    }

    /// Whether the model may take these classes in, besides `n_waiting` others that are on their way.
    fn check_classes(&self, added: &[&String], grow: bool, n_waiting: usize) -> Result<(), Problem> {
        let known = self.ongoing.labels();
        if !grow {
            let names = |names: &mut dyn Iterator<Item = &String>, n_all: usize| {
                let named: Vec<String> =
                    names.take(CLASSES_NAMED).map(|name| format!("`{}`", cut(name))).collect();
                let more = n_all.saturating_sub(CLASSES_NAMED);
                if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
            };
            let message = format!(
                "the model has never seen the class {}; it knows {}",
                names(&mut added.iter().copied(), added.len()),
                names(&mut known.names().iter(), known.len())
            );
            let help = "correct the label; if the class is really new, send it with `?grow-classes`, or start the server \
                        with {grow-classes}";
            return Err(Problem::new("new-class", message).with_help(with_flags(&help.into())));
        }
        if let Some(name) = added.iter().find(|name| name.len() > CLASS_BYTES) {
            let message = format!(
                "the name of a class may have {CLASS_BYTES} bytes, and `{}` has {}",
                cut(name),
                name.len()
            );
            return Err(Problem::new("limit", message));
        }
        let total = known.len() + n_waiting + added.len();
        if total > self.common.config.limits.classes {
            let message = format!(
                "a model may have {} classes, and would have {total}",
                self.common.config.limits.classes
            );
            let help = with_flags(&"start the server with a higher {max-classes}".into());
            return Err(Problem::new("limit", message).with_help(help));
        }
        Ok(())
    }

    /// Puts records into the log, and learns from them once they are as safe as was promised.
    fn write(&mut self, bytes: &mut Vec<u8>, written: &mut Vec<Lesson>) {
        if written.is_empty() {
            return;
        }
        let outcome = self.put(bytes, self.next + written.len() as u64);
        let n_bytes = bytes.len() as u64;
        bytes.clear();
        if let Err(problem) = outcome {
            for lesson in written.drain(..) {
                let _ = lesson.reply.send(Err(problem.clone()));
            }
            return;
        }
        self.common.metrics.group(written.len() as u64, n_bytes);
        self.log_bytes += n_bytes;
        self.next += written.len() as u64;
        for lesson in written.drain(..) {
            self.rows_in_log += lesson.data.len() as u64;
            let receipt = learned(&mut self.ongoing, &lesson.data, self.places.version);
            // Reading the log again meets the same refusals.
            if let Ok(receipt) = &receipt {
                self.keys.add(lesson.key, lesson.sum, receipt.clone(), self.common.config.limits.keys);
            }
            let _ = lesson.reply.send(receipt);
        }
    }

    /// Puts records into the log, so that `next` is the number of the one after them.
    fn put(&mut self, bytes: &[u8], next: u64) -> Result<(), Problem> {
        if self.common.is_over.load(Ordering::Relaxed) {
            return Err(Problem::new("stopping", "the server is being stopped"));
        }
        if let Err(error) = self.log.append(bytes) {
            // A part may be there, and must not be before what comes next.
            self.failed = self.log.cut(self.log_bytes).is_err();
            let is_full = matches!(
                error.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
                    | io::ErrorKind::WriteZero
            );
            let (code, help) = if is_full {
                ("full", "free some room on the disk of the folder of models, and send the rows again")
            } else {
                ("log-failed", REOPEN)
            };
            let message =
                format!("{}, the log, could not be written: {}", self.places.named("log"), error.kind());
            return Err(Problem::new(code, message).with_help(help));
        }
        match self.common.config.durability {
            Durability::Fsync => {
                let synced = self.log.sync().and_then(|()| self.acknowledged.set(next));
                synced.map_err(|error| self.flush_failed(&error))
            }
            // Until the disk has the records, to say that it must have them would refuse a whole log after a power cut.
            Durability::Interval => {
                self.unsynced = true;
                Ok(())
            }
            Durability::None => Ok(()),
        }
    }

    /// After a failed flush it is unknown what the disk has: the log is not written to again.
    fn flush_failed(&mut self, error: &io::Error) -> Problem {
        self.failed = true;
        let message =
            format!("{}, the log, could not be flushed: {}", self.places.named("log"), error.kind());
        Problem::new("log-failed", message).with_help(REOPEN)
    }

    fn sync_late(&mut self) {
        self.unsynced = false;
        if let Err(error) = self.log.sync().and_then(|()| self.acknowledged.set(self.next)) {
            let problem = self.flush_failed(&error);
            self.note(&format!("nothing more is learned: {}; {REOPEN}", problem.detail()));
        }
    }

    /// Saves all that was learned, after which the log begins anew. If that fails the log goes on.
    fn snapshot(&mut self) {
        if self.failed || self.next == self.first || self.common.is_over.load(Ordering::Relaxed) {
            return;
        }
        self.rows_in_log = 0;
        let Some(state) = self.ongoing.snapshot() else { return };
        let keys = std::mem::take(&mut self.keys);
        let preface = Preface { next: self.next, keys };
        let bytes = pack(&preface, &state);
        self.keys = preface.keys;
        if let Err(error) = write_file(&self.places.snapshot, &bytes) {
            let snapshot = self.places.named("snapshot");
            self.note(&format!(
                "{snapshot}, the snapshot, could not be written, and the log grows on: {}; free some room on its disk",
                error.kind()
            ));
            return;
        }
        self.snapshot_bytes = bytes.len() as u64;
        if self.common.config.keep_log {
            let name = format!("{}.{}", self.places.log.display(), self.first);
            let _ = fs::hard_link(&self.places.log, name);
        }
        // Whether the new log is in its place is seen by looking: a failure may come after that.
        let _ = begin_log(&self.places.log, self.next);
        match log::first_of(&self.places.log) {
            Ok(first) if first == self.first => {}
            Ok(_) => match File::options().append(true).open(&self.places.log) {
                Ok(file) => {
                    self.log = Box::new(file);
                    (self.first, self.log_bytes, self.unsynced) = (self.next, log::HEADER_BYTES, false);
                    // The snapshot has them on the disk, whatever the durability.
                    self.failed = self.acknowledged.set(self.next).is_err();
                }
                Err(_) => self.failed = true,
            },
            Err(_) => self.failed = true,
        }
    }
}

/// As much of a name as a message has room for.
pub(crate) fn cut(name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    if short.len() < name.len() { format!("{short}...") } else { short }
}

fn begin_log(path: &Path, first: u64) -> io::Result<()> {
    write_file(path, &log::header(first))
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_own(path, bytes).map_err(|error| match error {
        rosenblatt::data::files::FileError::Io { source, .. } => source,
        other => io::Error::other(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::{ReadOptions, Source, load_source};
    use std::sync::Mutex;

    /// A log whose calls fail on command.
    struct Failing {
        file: Box<dyn Medium>,
        faults: Arc<Mutex<Faults>>,
    }

    #[derive(Default)]
    struct Faults {
        /// How many bytes are written before the system reports a full disk.
        room: Option<usize>,
        sync: bool,
        cut: bool,
    }

    impl Medium for Failing {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            let room = self.faults.lock().unwrap().room;
            match room.filter(|room| *room < bytes.len()) {
                None => self.file.append(bytes),
                Some(room) => {
                    self.file.append(&bytes[..room])?;
                    Err(io::ErrorKind::StorageFull.into())
                }
            }
        }

        fn sync(&mut self) -> io::Result<()> {
            if self.faults.lock().unwrap().sync { Err(io::Error::other("EIO")) } else { self.file.sync() }
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            if self.faults.lock().unwrap().cut { Err(io::Error::other("EIO")) } else { self.file.cut(length) }
        }
    }

    struct Bench {
        _folder: tempfile::TempDir,
        places: Places,
        base: Arc<Model>,
        common: Common,
        faults: Arc<Mutex<Faults>>,
    }

    const ROWS: &str = "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n";

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let recipe = Recipe { online: true, ..Recipe::default() };
            let base = recipe.train(&Source::bytes("pets.csv", ROWS.as_bytes()), &mut ()).unwrap().model;
            let (name, version) = ("pets".to_owned(), 1);
            let [log, acknowledged, snapshot] =
                ["1.log", "1.acknowledged", "1.snapshot"].map(|name| folder.path().join(name));
            let places = Places { name, version, log, acknowledged, snapshot };
            let common = Common { config: Arc::default(), metrics: Arc::default(), is_over: Arc::default() };
            Self { _folder: folder, places, base: Arc::new(base), common, faults: Arc::default() }
        }

        fn recover(&self) -> Result<Recovered, Problem> {
            recover(&Recipe::default(), &self.base, &self.places, || Ok(None), false, &self.common)
        }

        fn learner(&self) -> Learner {
            let recovered = self.recover().unwrap();
            let shelf = Published { model: Arc::clone(&self.base), learned: 0, errors: 0 };
            let shelf = Arc::new(RwLock::new(Arc::new(shelf)));
            let learner = Learner::new(recovered, shelf, self.places.clone(), self.common.clone()).unwrap();
            let faults = Arc::clone(&self.faults);
            learner.with_medium(|file| Box::new(Failing { file, faults }))
        }

        fn data(&self, weight: usize) -> Box<Dataset> {
            let text = format!(
                "legs,weight,label\n{},{weight},{}\n",
                weight % 3,
                ["cat", "bird", "fish"][weight % 3]
            );
            let how = Ongoing::reading(&self.base, ReadOptions::default());
            Box::new(load_source(&Source::bytes("row.csv", text.into_bytes()), &how).unwrap())
        }

        /// Teaches one row and gives the code of what went wrong.
        fn teach(&self, learner: &mut Learner, weight: usize) -> Option<&'static str> {
            self.refusal(learner, weight).map(|problem| problem.code())
        }

        fn refusal(&self, learner: &mut Learner, weight: usize) -> Option<Problem> {
            let (reply, mut receipt) = oneshot::channel();
            let key = format!("key {weight}");
            learner.commit(vec![Lesson { key, sum: 7, data: self.data(weight), grow: true, reply }]);
            receipt.try_recv().unwrap().err()
        }

        /// The model of these rows, by nothing but learning.
        fn model_of(&self, weights: &[usize]) -> Vec<u8> {
            let mut ongoing = Ongoing::begin(&Recipe::default(), Arc::clone(&self.base)).unwrap();
            for weight in weights {
                ongoing.learn(&self.data(*weight)).unwrap();
            }
            ongoing.model().unwrap().to_bytes()
        }

        fn recovered_model(&self) -> Vec<u8> {
            self.recover().unwrap().ongoing.model().unwrap().to_bytes()
        }
    }

    #[test]
    fn a_short_write_is_taken_back_wherever_it_ends() {
        for room in [0, 1, 10, 16, 30] {
            let bench = Bench::new();
            let mut learner = bench.learner();
            assert_eq!(bench.teach(&mut learner, 1), None);
            bench.faults.lock().unwrap().room = Some(room);
            assert_eq!(bench.teach(&mut learner, 2), Some("full"));
            bench.faults.lock().unwrap().room = None;
            assert_eq!(bench.teach(&mut learner, 3), None, "there is room again");
            assert_eq!(
                bench.teach(&mut learner, 2),
                None,
                "and what was refused is learned when it comes again"
            );
            let expected = bench.model_of(&[1, 3, 2]);
            assert!(learner.ongoing.model().unwrap().to_bytes() == expected);
            drop(learner);
            assert!(bench.recovered_model() == expected, "room {room}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_named_with_a_cure() {
        let mut bench = Bench::new();
        let notes = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&notes);
        let journal = crate::config::Journal::new(move |note| kept.lock().unwrap().push_str(note.text));
        bench.common.config =
            Arc::new(Config { journal, durability: Durability::Interval, ..Config::default() });
        let mut learner = bench.learner();
        assert_eq!(bench.teach(&mut learner, 1), None);
        fs::create_dir(&bench.places.snapshot).unwrap();
        learner.snapshot();
        assert!(
            notes.lock().unwrap().contains("`pets.serve/1.snapshot`, the snapshot, could not be written")
        );
        bench.faults.lock().unwrap().room = Some(0);
        let refused = bench.refusal(&mut learner, 2).unwrap();
        assert!(refused.detail().starts_with("`pets.serve/1.log`, the log, could not be written"));
        assert!(refused.help().unwrap().contains("free some room"));
        bench.faults.lock().unwrap().sync = true;
        learner.sync_late();
        assert!(notes.lock().unwrap().contains("nothing more is learned: `pets.serve/1.log`"), "{notes:?}");
        assert!(bench.refusal(&mut learner, 3).unwrap().help().unwrap().contains("start the server again"));
    }

    #[test]
    fn a_log_that_cannot_be_flushed_or_cut_is_not_trusted_again() {
        for is_sync in [true, false] {
            let bench = Bench::new();
            let mut learner = bench.learner();
            assert_eq!(bench.teach(&mut learner, 1), None);
            *bench.faults.lock().unwrap() = if is_sync {
                Faults { sync: true, ..Faults::default() }
            } else {
                Faults { room: Some(7), cut: true, ..Faults::default() }
            };
            assert!(bench.teach(&mut learner, 2).is_some());
            *bench.faults.lock().unwrap() = Faults::default();
            assert_eq!(bench.teach(&mut learner, 3), Some("log-failed"));
            assert!(
                learner.ongoing.model().unwrap().to_bytes() == bench.model_of(&[1]),
                "nothing was learned since"
            );
            drop(learner);
            // After a restart the log tells: what was acknowledged is there, what was not may be.
            let mut learner = bench.learner();
            assert_eq!(bench.teach(&mut learner, 2), None);
            assert_eq!(bench.teach(&mut learner, 3), None);
            assert!(learner.ongoing.model().unwrap().to_bytes() == bench.model_of(&[1, 2, 3]));
        }
    }

    #[test]
    fn a_log_that_lost_what_was_acknowledged_is_refused_wherever_it_ends() {
        let bench = Bench::new();
        let mut learner = bench.learner();
        (1..4).for_each(|weight| assert_eq!(bench.teach(&mut learner, weight), None));
        let n_acknowledged = fs::read(&bench.places.log).unwrap().len();
        // The fourth is in the log, and was never acknowledged.
        bench.faults.lock().unwrap().sync = true;
        assert!(bench.teach(&mut learner, 4).is_some());
        drop(learner);
        let whole = fs::read(&bench.places.log).unwrap();
        assert!(whole.len() > n_acknowledged);
        for end in log::HEADER_BYTES as usize..=whole.len() {
            fs::write(&bench.places.log, &whole[..end]).unwrap();
            match bench.recover() {
                Err(problem) => {
                    assert!(end < n_acknowledged, "{end}: {}", problem.detail());
                    assert_eq!(problem.code(), "damaged");
                    assert!(
                        problem.detail().contains("`pets.serve/1.log` is missing"),
                        "{}",
                        problem.detail()
                    );
                }
                Ok(recovered) => {
                    assert!(end >= n_acknowledged, "{end} bytes pass for the whole");
                    let all: &[usize] = if end < whole.len() { &[1, 2, 3] } else { &[1, 2, 3, 4] };
                    assert!(recovered.ongoing.model().unwrap().to_bytes() == bench.model_of(all));
                }
            }
        }
        // Who takes the version up answers for all that is in the log.
        drop(bench.learner());
        fs::write(&bench.places.log, &whole[..n_acknowledged]).unwrap();
        assert_eq!(bench.recover().err().unwrap().code(), "damaged");
        // An older server left no such file, and what it left is read.
        fs::write(&bench.places.log, &whole[..n_acknowledged - 1]).unwrap();
        fs::remove_file(&bench.places.acknowledged).unwrap();
        assert!(bench.recovered_model() == bench.model_of(&[1, 2]));
        fs::write(&bench.places.acknowledged, "").unwrap();
        assert_eq!(bench.recover().err().unwrap().code(), "damaged");
    }

    #[test]
    fn a_log_that_is_not_flushed_yet_is_not_required_to_be_there() {
        let mut bench = Bench::new();
        bench.common.config = Arc::new(Config { durability: Durability::Interval, ..Config::default() });
        let mut learner = bench.learner();
        let required =
            |bench: &Bench| Acknowledged::read(&fs::read(&bench.places.acknowledged).unwrap()).unwrap();
        let mut flushed = Vec::new();
        for weight in 1..6 {
            assert_eq!(bench.teach(&mut learner, weight), None);
            assert_eq!(required(&bench), if weight > 3 { 3 } else { 0 });
            if weight == 3 {
                learner.sync_late();
                flushed = fs::read(&bench.places.log).unwrap();
            }
        }
        bench.faults.lock().unwrap().sync = true;
        learner.sync_late();
        assert_eq!(required(&bench), 3);
        drop(learner);
        // A power cut leaves what was flushed, at the least.
        fs::write(&bench.places.log, &flushed).unwrap();
        assert!(bench.recovered_model() == bench.model_of(&[1, 2, 3]));
        fs::write(&bench.places.log, &flushed[..flushed.len() - 1]).unwrap();
        assert_eq!(bench.recover().err().unwrap().code(), "damaged");
    }

    #[test]
    fn a_process_that_ends_between_snapshot_and_log_learns_nothing_twice() {
        let bench = Bench::new();
        let mut learner = bench.learner();
        (1..5).for_each(|weight| assert_eq!(bench.teach(&mut learner, weight), None));
        let old = fs::read(&bench.places.log).unwrap();
        learner.snapshot();
        // The snapshot is there, and the log is still the old one.
        fs::write(&bench.places.log, &old).unwrap();
        drop(learner);
        assert!(bench.recovered_model() == bench.model_of(&[1, 2, 3, 4]));
        let mut learner = bench.learner();
        assert_eq!(bench.teach(&mut learner, 2), None, "a key that the snapshot knows");
        assert_eq!(bench.teach(&mut learner, 5), None);
        drop(learner);
        assert!(bench.recovered_model() == bench.model_of(&[1, 2, 3, 4, 5]));
        // A log is replaced and never removed: none at all has lost what was learned since.
        fs::remove_file(&bench.places.log).unwrap();
        assert_eq!(bench.recover().err().unwrap().code(), "damaged");
    }

    #[test]
    fn a_flipped_bit_of_a_snapshot_is_found() {
        let bench = Bench::new();
        let mut learner = bench.learner();
        assert_eq!(bench.teach(&mut learner, 1), None);
        learner.snapshot();
        drop(learner);
        let whole = fs::read(&bench.places.snapshot).unwrap();
        for at in (0..whole.len()).step_by(97) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&bench.places.snapshot, &flipped).unwrap();
            let code = bench.recover().err().unwrap().code();
            assert_eq!(code, "damaged", "byte {at}");
        }
    }
}
