//! One version of a model as it goes on learning: a thread of its own that writes, flushes, learns and publishes.
//!
//! Requests that arrive together are written and flushed together (group commit), in one order, and are acknowledged
//! after that. Whoever predicts reads what was published last and never waits for the thread. A version is published
//! when nothing waits, and otherwise at least every [`PUBLISH`], or when publishing has taken a twentieth of the time:
//! so long an answer may lag behind what was acknowledged.

use crate::config::{Config, Durability};
use crate::log::{self, LogError, Medium};
use crate::metrics::Metrics;
use crate::problem::{Problem, with_flags};
use crate::rows;
use rosenblatt::files::write_whole;
use rosenblatt::recipe::Ongoing;
use rosenblatt::{Model, Recipe};
use rosenblatt_data::Dataset;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
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

/// What a client is told of rows that were learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// Rows of the request.
    pub(crate) rows: u64,
    /// Examples learned so far, these included.
    pub(crate) learned: u64,
    /// Rows of the request that were predicted wrongly before they were learned from.
    pub(crate) errors: u64,
    /// The same of all examples learned so far.
    pub(crate) errors_so_far: u64,
    /// Whether the same request had been acknowledged before, and was not learned from again.
    pub(crate) repeated: bool,
}

type Reply = oneshot::Sender<Result<Receipt, Problem>>;

/// What the thread is asked for.
pub(crate) enum Wish {
    Learn {
        key: String,
        data: Box<Dataset>,
        reply: Reply,
    },
    /// The model as it is after all that was acknowledged.
    Model(oneshot::Sender<Result<Model, Problem>>),
    /// A snapshot, and the end.
    Stop(oneshot::Sender<()>),
}

/// A thread that learns.
pub(crate) struct Live {
    wishes: Sender<Wish>,
}

impl Live {
    /// Hands a wish over; nobody is there any more if it comes back.
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
    pub(crate) log: PathBuf,
    pub(crate) snapshot: PathBuf,
}

/// What is kept of idempotency keys: the answer, and what was sent.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Keys {
    order: VecDeque<String>,
    known: HashMap<String, (u32, Receipt)>,
}

impl Keys {
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

/// What the thread works on.
pub(crate) struct Learner {
    ongoing: Ongoing,
    shelf: Arc<Shelf>,
    places: Places,
    log: Box<dyn Medium>,
    log_bytes: u64,
    /// The number of the first record of the log.
    first: u64,
    /// The number of the next record.
    next: u64,
    rows_in_log: u64,
    keys: Keys,
    /// Why nothing can be learned any more, if that is so.
    failed: bool,
    unsynced: bool,
    snapshot_bytes: u64,
    config: Arc<Config>,
    metrics: Arc<Metrics>,
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
fn unpack(bytes: &[u8]) -> Option<(Preface, &[u8])> {
    let (said, sum) = bytes.split_last_chunk::<32>()?;
    if Sha256::digest(said).as_slice() != sum {
        return None;
    }
    let rest = said.strip_prefix(SNAPSHOT_MAGIC)?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (preface, state) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((serde_json::from_slice(preface).ok()?, state))
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

/// Takes a version up again: its snapshot, and what the log has beyond it. Writes nothing.
pub(crate) fn recover(
    recipe: &Recipe,
    base: &Arc<Model>,
    places: &Places,
    keys_kept: usize,
) -> Result<Recovered, Problem> {
    let damaged = |what: String| {
        Problem::new("damaged", what).with_help(
        "put the files back from a copy, or go back to a version: what was learned on top of it is then gone",
    )
    };
    let (mut ongoing, mut keys, mut next, snapshot_bytes) = match fs::read(&places.snapshot) {
        Ok(bytes) => {
            let (preface, state) = unpack(&bytes)
                .ok_or_else(|| damaged("the snapshot does not match its checksum".to_owned()))?;
            let ongoing = Ongoing::restore(recipe, Arc::clone(base), state)
                .map_err(|error| damaged(format!("the snapshot cannot be gone on from: {error}")))?;
            (ongoing, preface.keys, preface.next, bytes.len() as u64)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            (Ongoing::begin(recipe, Arc::clone(base))?, Keys::default(), 0, 0)
        }
        Err(error) => return Err(damaged(format!("the snapshot cannot be read: {error}"))),
    };
    let covered = next;
    let mut rows_in_log = 0;
    let replayed = log::read_file(&places.log, |number, payload| {
        if number < covered {
            return Ok(());
        }
        let (key, data) = rows::decode(payload).map_err(|_| "a record is whole and holds no rows")?;
        rows_in_log += data.len() as u64;
        let receipt = learned(&mut ongoing, &data);
        keys.add(key, crc32fast::hash(payload), receipt, keys_kept);
        Ok(())
    });
    let log = match replayed {
        Ok(found) if found.first > covered || found.next < covered => {
            return Err(damaged("the log and the snapshot do not meet; examples are missing".to_owned()));
        }
        Ok(found) => {
            next = found.next;
            Some(found)
        }
        Err(LogError::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(damaged(error.to_string())),
    };
    Ok(Recovered { ongoing, keys, next, log, rows_in_log, snapshot_bytes })
}

/// Learns from rows that are in the log. What the learner refuses it refuses again when the log is read.
fn learned(ongoing: &mut Ongoing, data: &Dataset) -> Receipt {
    let before = ongoing.totals().errors;
    let _ = ongoing.learn(data);
    let totals = ongoing.totals();
    Receipt {
        rows: data.len() as u64,
        learned: totals.rounds,
        errors: totals.errors - before,
        errors_so_far: totals.errors,
        repeated: false,
    }
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
        config: Arc<Config>,
        metrics: Arc<Metrics>,
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
            file.sync_all()?;
        }
        Ok(Self {
            ongoing,
            shelf,
            places,
            log: Box::new(file),
            log_bytes,
            first,
            next,
            rows_in_log,
            keys,
            failed: false,
            unsynced: false,
            snapshot_bytes,
            config,
            metrics,
        })
    }

    #[cfg(test)]
    pub(crate) fn with_medium(self, wrap: impl FnOnce(Box<dyn Medium>) -> Box<dyn Medium>) -> Self {
        Self { log: wrap(self.log), ..self }
    }

    fn work(mut self, waiting: &Receiver<Wish>) {
        let mut behind = false;
        let mut cost = Duration::ZERO;
        let mut published = Instant::now();
        let mut synced = Instant::now();
        let mut held = None;
        loop {
            let due = PUBLISH.max(cost * PUBLISH_SHARE);
            let wait = if behind { due.saturating_sub(published.elapsed()) } else { INTERVAL };
            let wish = match held.take() {
                Some(wish) => Some(wish),
                None => match waiting.recv_timeout(wait) {
                    Ok(wish) => Some(wish),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                },
            };
            match wish {
                Some(Wish::Learn { key, data, reply }) => {
                    let mut group = vec![(key, data, reply)];
                    while group.len() < GROUP_REQUESTS {
                        match waiting.try_recv() {
                            Ok(Wish::Learn { key, data, reply }) => group.push((key, data, reply)),
                            Ok(other) => {
                                held = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.commit(group);
                    behind = true;
                    if self.rows_in_log >= self.config.snapshot_rows
                        || self.log_bytes > self.config.snapshot_log_bytes
                    {
                        self.snapshot();
                    }
                }
                Some(Wish::Model(reply)) => {
                    let _ = reply.send(self.ongoing.model().map_err(Problem::from));
                }
                Some(Wish::Stop(reply)) => {
                    self.snapshot();
                    self.publish();
                    let _ = reply.send(());
                    return;
                }
                None => {}
            }
            if behind && published.elapsed() >= PUBLISH.max(cost * PUBLISH_SHARE) {
                let began = Instant::now();
                self.publish();
                cost = began.elapsed();
                published = Instant::now();
                behind = false;
            }
            if self.unsynced && synced.elapsed() >= INTERVAL {
                self.sync_late();
                synced = Instant::now();
            }
        }
        self.snapshot();
        self.publish();
    }

    /// Lets readers see what has been learned.
    fn publish(&mut self) {
        // Weights that overflowed are no model; readers keep the last one that is.
        if let Ok(published) = Published::of(&self.ongoing) {
            *self.shelf.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(published);
        }
    }

    /// Writes, flushes and learns from a group, in its order, and tells everybody.
    fn commit(&mut self, group: Vec<(String, Box<Dataset>, Reply)>) {
        let disk_bytes = self.config.limits.disk_bytes;
        let mut bytes = Vec::new();
        let mut written: Vec<(String, Box<Dataset>, u32, Reply)> = Vec::new();
        let mut repeats = Vec::new();
        let mut new_classes: HashSet<String> = HashSet::new();
        for (key, data, reply) in group {
            let payload = rows::encode(&key, &data);
            let sum = crc32fast::hash(&payload);
            let in_group = written.iter().find(|(other, ..)| !key.is_empty() && *other == key);
            let known = self.keys.known.get(&key).map(|(sum, _)| *sum).or(in_group.map(|(.., sum, _)| *sum));
            if let Some(before) = known.filter(|_| !key.is_empty()) {
                if before == sum {
                    repeats.push((key, reply));
                } else {
                    let message = "this idempotency key was used for other rows";
                    let _ = reply.send(Err(Problem::new("key-reused", message)));
                }
                continue;
            }
            let n_waiting: usize = written.iter().map(|(_, data, ..)| data.len()).sum();
            if let Err(problem) = self.check(&data, n_waiting, &mut new_classes) {
                let _ = reply.send(Err(problem));
                continue;
            }
            let size = self.log_bytes + bytes.len() as u64 + payload.len() as u64 + self.snapshot_bytes;
            if size > disk_bytes || payload.len() > log::MOST_BYTES {
                let message = format!("what was learned may take {disk_bytes} bytes on disk");
                let _ = reply.send(Err(Problem::new("full", message).with_help(with_flags(
                    &"start the server with a higher {max-disk}, or keep a version and go on from it".into(),
                ))));
                continue;
            }
            log::record(&mut bytes, self.next + written.len() as u64, &payload);
            written.push((key, data, sum, reply));
            if bytes.len() > GROUP_BYTES {
                self.write(&mut bytes, &mut written);
            }
        }
        self.write(&mut bytes, &mut written);
        for (key, reply) in repeats {
            let again = self.keys.known.get(&key).map(|(_, receipt)| Receipt { repeated: true, ..*receipt });
            let _ = reply.send(
                again.ok_or_else(|| Problem::new("busy", "its first sending failed just now; try again")),
            );
        }
    }

    /// Whether the model may take these rows in, after so many others.
    fn check(
        &self,
        data: &Dataset,
        n_waiting: usize,
        new_classes: &mut HashSet<String>,
    ) -> Result<(), Problem> {
        let limits = &self.config.limits;
        if self.failed {
            return Err(Problem::new(
                "log-failed",
                "the log could not be written or flushed, and is not trusted until it was read again",
            ));
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
        let known = self.ongoing.labels();
        if known.told_from_rest().is_none() {
            let names = data.labels().names();
            let new: Vec<&String> = names.iter().filter(|name| known.class(name).is_none()).collect();
            let added = new.iter().filter(|name| !new_classes.contains(**name)).count();
            let total = known.len() + new_classes.len() + added;
            if !new.is_empty() && total > limits.classes {
                let message = format!("a model may have {} classes, and would have {total}", limits.classes);
                let help = with_flags(&"start the server with a higher {max-classes}".into());
                return Err(Problem::new("limit", message).with_help(help));
            }
            new_classes.extend(new.into_iter().cloned());
        }
        Ok(())
    }

    /// Puts records into the log, and learns from them once they are as safe as was promised.
    fn write(&mut self, bytes: &mut Vec<u8>, written: &mut Vec<(String, Box<Dataset>, u32, Reply)>) {
        if written.is_empty() {
            return;
        }
        let outcome = self.put(bytes);
        let n_bytes = bytes.len() as u64;
        bytes.clear();
        if let Err(problem) = outcome {
            for (.., reply) in written.drain(..) {
                let _ = reply.send(Err(problem.clone()));
            }
            return;
        }
        self.metrics.group(written.len() as u64, n_bytes);
        self.log_bytes += n_bytes;
        self.next += written.len() as u64;
        for (key, data, sum, reply) in written.drain(..) {
            let receipt = learned(&mut self.ongoing, &data);
            self.rows_in_log += receipt.rows;
            self.keys.add(key, sum, receipt, self.config.limits.keys);
            let _ = reply.send(Ok(receipt));
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Problem> {
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
            let code = if is_full { "full" } else { "log-failed" };
            return Err(Problem::new(code, format!("the log could not be written: {}", error.kind())));
        }
        match self.config.durability {
            Durability::Fsync => self.log.sync().map_err(|error| self.flush_failed(&error)),
            Durability::Interval => {
                self.unsynced = true;
                Ok(())
            }
            Durability::None => Ok(()),
        }
    }

    /// After a flush that failed nobody knows what the disk has: the log is not written to again.
    fn flush_failed(&mut self, error: &io::Error) -> Problem {
        self.failed = true;
        Problem::new("log-failed", format!("the log could not be flushed: {}", error.kind()))
    }

    fn sync_late(&mut self) {
        self.unsynced = false;
        if let Err(error) = self.log.sync() {
            self.flush_failed(&error);
        }
    }

    /// Saves all that was learned, after which the log begins anew. If that fails the log goes on.
    fn snapshot(&mut self) {
        if self.failed || self.next == self.first {
            return;
        }
        self.rows_in_log = 0;
        let Some(state) = self.ongoing.snapshot() else { return };
        let keys = std::mem::take(&mut self.keys);
        let preface = Preface { next: self.next, keys };
        let bytes = pack(&preface, &state);
        self.keys = preface.keys;
        if write_whole(&self.places.snapshot, &bytes).is_err() {
            return;
        }
        self.snapshot_bytes = bytes.len() as u64;
        if self.config.keep_log {
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
                }
                Err(_) => self.failed = true,
            },
            Err(_) => self.failed = true,
        }
    }
}

fn begin_log(path: &Path, first: u64) -> io::Result<()> {
    write_whole(path, &log::header(first)).map_err(|error| match error {
        rosenblatt::files::FileError::Io { source, .. } => source,
        other => io::Error::other(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::{ReadOptions, Source, load_source};
    use std::sync::Mutex;

    /// A log whose calls fail when they are told to.
    struct Failing {
        file: Box<dyn Medium>,
        faults: Arc<Mutex<Faults>>,
    }

    #[derive(Default)]
    struct Faults {
        /// So many bytes are written before the system says that the disk is full.
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
        config: Arc<Config>,
        faults: Arc<Mutex<Faults>>,
    }

    const ROWS: &str = "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n";

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let recipe = Recipe { online: true, ..Recipe::default() };
            let base = recipe.train(&Source::bytes("pets.csv", ROWS.as_bytes()), &mut ()).unwrap().model;
            let places =
                Places { log: folder.path().join("1.log"), snapshot: folder.path().join("1.snapshot") };
            let config = Arc::new(Config::default());
            Self { _folder: folder, places, base: Arc::new(base), config, faults: Arc::default() }
        }

        fn learner(&self) -> Learner {
            let recovered = recover(&Recipe::default(), &self.base, &self.places, 100).unwrap();
            let shelf = Published { model: Arc::clone(&self.base), learned: 0, errors: 0 };
            let shelf = Arc::new(RwLock::new(Arc::new(shelf)));
            let (config, metrics) = (Arc::clone(&self.config), Arc::default());
            let learner = Learner::new(recovered, shelf, self.places.clone(), config, metrics).unwrap();
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
            let (reply, mut receipt) = oneshot::channel();
            learner.commit(vec![(format!("key {weight}"), self.data(weight), reply)]);
            receipt.try_recv().unwrap().err().map(|problem| problem.code())
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
            let recovered = recover(&Recipe::default(), &self.base, &self.places, 100).unwrap();
            recovered.ongoing.model().unwrap().to_bytes()
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
        // No log at all, as a crash between two renames may leave it.
        let mut learner = bench.learner();
        learner.snapshot();
        drop(learner);
        fs::remove_file(&bench.places.log).unwrap();
        let mut learner = bench.learner();
        assert_eq!(bench.teach(&mut learner, 6), None);
        assert!(learner.ongoing.model().unwrap().to_bytes() == bench.model_of(&[1, 2, 3, 4, 5, 6]));
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
            let code = recover(&Recipe::default(), &bench.base, &bench.places, 100).err().unwrap().code();
            assert_eq!(code, "damaged", "byte {at}");
        }
    }
}
