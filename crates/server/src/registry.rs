//! A folder of models: each file `NAME.model` is one, and what happens to it is kept in `NAME.serve` beside it.
//!
//! A version is a model file that does not change, and a log of what was learned on top of it. A file that is replaced in
//! the folder, or sent, is a new version; so is what was learned so far when a client asks to keep it; so is going back
//! to an older one, whose file is taken without what was learned on top. The change from one version to the next is one
//! step among those of learning: what was acknowledged before it is on top of the old version, and what comes after it on top
//! of the new one. Names come from the folder or are checked letter by letter, and never lead anywhere else.

use crate::config::Config;
use crate::live::{self, Common, Learner, Live, Places, Published, Recovered, Sealed, Shelf, Wish};
use crate::metrics::Metrics;
use crate::problem::{Problem, with_flags};
use crate::state::{Entry, Found, Manifest, State, Way, damaged, read_plain, sha256, unwritten};
use rosenblatt::Model;
use rosenblatt::data::files::{Claim, FileError, write_own};
use rosenblatt::model::Date;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, timeout_at};

/// The most letters of a name.
const NAME_LETTERS: usize = 100;

/// What a version does about learning.
enum Stage {
    /// Nothing was asked of it yet.
    Asleep,
    /// A thread learns.
    Awake(Live),
    /// Another version has taken its place, or is about to.
    Replaced,
}

/// A version at work.
pub(crate) struct Version {
    pub(crate) entry: Entry,
    pub(crate) base: Arc<Model>,
    shelf: Arc<Shelf>,
    stage: Mutex<Stage>,
    places: Places,
}

impl Version {
    /// A version of this file, of which nothing was asked yet.
    fn new(name: &str, state: &State, entry: Entry, bytes: &[u8]) -> Result<Self, Problem> {
        let base = Arc::new(Model::from_bytes(bytes).map_err(|error| no_model(name, &error))?);
        let places = Places {
            name: name.to_owned(),
            version: entry.version,
            log: state.path(entry.version, "log"),
            acknowledged: state.path(entry.version, "acknowledged"),
            snapshot: state.path(entry.version, "snapshot"),
        };
        let shelf = Published { model: Arc::clone(&base), learned: 0, errors: 0 };
        let shelf = Arc::new(RwLock::new(Arc::new(shelf)));
        Ok(Self { entry, base, shelf, stage: Mutex::new(Stage::Asleep), places })
    }

    /// What readers see now.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether its thread has been started.
    pub(crate) fn is_learning(&self) -> bool {
        matches!(*lock(&self.stage), Stage::Awake(_))
    }

    /// Hands a wish to the thread; it comes back if there is none.
    pub(crate) fn wish(&self, wish: Wish) -> Option<Wish> {
        match &*lock(&self.stage) {
            Stage::Awake(live) => live.wish(wish).err(),
            _ => Some(wish),
        }
    }
}

/// A version that learns nothing while the next one is made, and goes on if there is none.
struct Seal<'a> {
    version: &'a Version,
    left: Sealed,
    /// The thread waits for a word here.
    verdict: Option<Sender<()>>,
    is_kept: bool,
}

impl<'a> Seal<'a> {
    fn put(version: &'a Version, state: &State, with_model: bool) -> Result<Self, Problem> {
        let (reply, answer) = channel();
        let (verdict, waits) = channel();
        if version.wish(Wish::Seal { with_model, reply, verdict: waits }).is_none() {
            let left =
                answer.recv().unwrap_or_else(|_| Err(Problem::new("internal", "the learner is gone")))?;
            return Ok(Self { version, left, verdict: Some(verdict), is_kept: false });
        }
        if with_model && version.is_learning() {
            return Err(Problem::new("internal", "the learner is gone; start the server again"));
        }
        // Nothing was learned on top of it, or its thread ended before its time.
        let left = Sealed {
            n_learned: version.published().learned,
            n_errors: version.published().errors,
            model: with_model.then(|| Model::clone(&version.published().model)),
            keys: state.keys(&version.entry).unwrap_or_default(),
        };
        *lock(&version.stage) = Stage::Replaced;
        Ok(Self { version, left, verdict: None, is_kept: false })
    }

    /// There is a next version: this one has come to its end.
    fn keep(mut self) {
        self.is_kept = true;
        *lock(&self.version.stage) = Stage::Replaced;
        if let Some(verdict) = self.verdict.take() {
            let _ = verdict.send(());
        }
    }
}

impl Drop for Seal<'_> {
    fn drop(&mut self) {
        if !self.is_kept && self.verdict.is_none() {
            *lock(&self.version.stage) = Stage::Asleep;
        }
    }
}

/// A model, by name.
pub(crate) struct Slot {
    pub(crate) name: String,
    /// The version that is served, or why there is none.
    current: RwLock<Result<Arc<Version>, Problem>>,
    /// Held while versions change.
    manifest: Mutex<Manifest>,
    /// What the file in the folder looked like when it was read last, and its SHA-256.
    file: Mutex<(Option<Stamp>, String)>,
    state: State,
}

type Stamp = (Option<SystemTime>, u64, u64);

/// What a new version is made of.
pub(crate) enum Source<'a> {
    /// The file in the folder, which is new.
    File(&'a [u8], String),
    /// An older version of this number.
    Old(u64),
    /// What was learned so far.
    Learned,
}

/// This moment, as versions have it.
fn now() -> Option<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Date::from_seconds(since.as_secs()).map(|date| date.to_string())
}

/// What a version begins with.
struct Start<'a> {
    bytes: &'a [u8],
    origin: String,
    from: Option<u64>,
    /// The SHA-256 of the file in the folder, if it is that one.
    seen: Option<String>,
    keys: Option<&'a [u8]>,
    /// What the version before it learned, and of that, what it predicted wrongly.
    left: Option<(u64, u64)>,
    /// The version with probabilities that it comes from.
    calibrated: Option<u64>,
}

/// All models of a folder.
pub(crate) struct Registry {
    common: Common,
    models: RwLock<BTreeMap<String, Arc<Slot>>>,
    /// What is wrong with files that could not be taken in, by name.
    unread: Mutex<BTreeMap<String, String>>,
    /// Held while models come and go, so that a log has one writer.
    taking: Mutex<()>,
    _claim: Option<Claim>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this may be a model's name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !name.is_empty() && name.len() <= NAME_LETTERS && !name.starts_with('.') && name.chars().all(is_letter)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let there = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&there);
    #[cfg(not(unix))]
    let inode = 0;
    Some((there.modified().ok(), there.len(), inode))
}

fn no_model(name: &str, error: &dyn std::fmt::Display) -> Problem {
    damaged(format!("`{name}.model` cannot be served: {error}"))
}

impl Registry {
    /// Takes in all models of the folder.
    pub(crate) fn open(config: Arc<Config>, metrics: Arc<Metrics>) -> io::Result<Self> {
        fs::read_dir(&config.folder)?;
        let claim = if config.read_only {
            None
        } else {
            let claim = Claim::take(&config.folder.join("rosenblatt-serve"));
            Some(claim.map_err(|error| match error {
                FileError::Claimed { owner, .. } => {
                    let help = with_flags(&"stop it, or start this one with {read-only}".into());
                    io::Error::other(format!("another server, process {owner}, serves this folder; {help}"))
                }
                other => io::Error::other(other.to_string()),
            })?)
        };
        let common = Common { config, metrics, is_over: Arc::default() };
        let registry = Self {
            common,
            models: RwLock::default(),
            unread: Mutex::default(),
            taking: Mutex::default(),
            _claim: claim,
        };
        registry.look();
        registry.warn_of_orphans();
        Ok(registry)
    }

    /// Names what was learned by models whose files are gone: a lost file looks like one that was removed.
    fn warn_of_orphans(&self) {
        let entries = fs::read_dir(&self.config().folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        for name in names.filter_map(|name| name.strip_suffix(".serve").map(str::to_owned)) {
            if !self.config().folder.join(format!("{name}.model")).exists() {
                self.warn(
                    &name,
                    &format!(
                        "`{name}.serve` holds what it learned, but `{name}.model` is not there, so it is not served; put it \
                         back, or delete `{name}.serve`"
                    ),
                );
            }
        }
    }

    fn config(&self) -> &Config {
        &self.common.config
    }

    /// Says that something is wrong.
    fn warn(&self, name: &str, what: &str) {
        self.config().journal.warn(&format!("model {name}: {what}"));
    }

    fn tell(&self, name: &str, what: &str) {
        self.config().journal.tell(&format!("model {name}: {what}"));
    }

    /// Files of the folder that could not be taken in, by name, and why.
    pub(crate) fn unread(&self) -> BTreeMap<String, String> {
        lock(&self.unread).clone()
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.models.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The model called `name`.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Slot>, Problem> {
        let models = self.models.read().unwrap_or_else(PoisonError::into_inner);
        models.get(name).cloned().ok_or_else(|| Problem::new("no-model", "there is no model of this name"))
    }

    /// The version of a model that is served; an error if what is kept of it is not whole.
    pub(crate) fn current(&self, name: &str) -> Result<Arc<Version>, Problem> {
        self.find(name)?.current()
    }

    /// Looks at the folder: new files are taken in, replaced ones become new versions, missing ones are forgotten.
    pub(crate) fn look(&self) {
        let _taking = lock(&self.taking);
        let Ok(entries) = fs::read_dir(&self.config().folder) else { return };
        let mut there: BTreeMap<String, PathBuf> = BTreeMap::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(".model").filter(|name| !name.starts_with('.')) {
                there.insert(name.to_owned(), entry.path());
            }
        }
        for (name, path) in &there {
            let now = stamp(path);
            let is_seen = |slot: Arc<Slot>| lock(&slot.file).0 == now;
            if self.find(name).is_ok_and(is_seen) {
                continue;
            }
            let taken = if is_name(name) {
                self.take(name, read_plain(path), now, false).map_err(|problem| {
                    let cure = problem
                        .help()
                        .filter(|_| problem.code() != "damaged")
                        .unwrap_or("put a good file in its place; until then, nothing changes");
                    format!("{}; {cure}", problem.detail())
                })
            } else {
                Err("a name has 1 to 100 letters, digits, dots, dashes and underscores; rename the file"
                    .to_owned())
            };
            let was = match &taken {
                Ok(()) => lock(&self.unread).remove(name),
                Err(what) => lock(&self.unread).insert(name.clone(), what.clone()),
            };
            if let Err(what) = taken
                && was.as_ref() != Some(&what)
            {
                self.warn(name, &format!("its file cannot be taken in: {what}"));
            }
        }
        lock(&self.unread).retain(|name, _| there.contains_key(name));
        let gone = |slot: &Arc<Slot>| !there.contains_key(&slot.name);
        for slot in self.slots().into_iter().filter(gone) {
            self.models.write().unwrap_or_else(PoisonError::into_inner).remove(&slot.name);
            slot.retire();
            let name = &slot.name;
            self.warn(
                name,
                &format!(
                    "`{name}.model` is gone from the folder, and is served no more; put it back to go on with what it learned"
                ),
            );
        }
    }

    /// Takes in the file of a model, which is a new version unless it is the one that was seen last. One that a client
    /// sent must be served as well: after a roll-back the file seen last is not.
    fn take(
        &self,
        name: &str,
        read: io::Result<Vec<u8>>,
        stamp: Option<Stamp>,
        is_sent: bool,
    ) -> Result<(), Problem> {
        let Ok(slot) = self.find(name) else {
            self.place(name, read, stamp);
            return Ok(());
        };
        let bytes = read.map_err(|error| no_model(name, &error))?;
        let sum = sha256(&bytes);
        let is_served = slot.current().is_ok_and(|version| version.entry.sha256 == sum);
        let is_new = lock(&slot.manifest).seen != sum;
        if is_new || is_sent && !is_served && slot.current().is_ok() {
            self.add(&slot, &Source::File(&bytes, sum.clone()), Way::default())?;
        } else if slot.current().is_err() {
            // The file is back that could not be served.
            self.place(name, Ok(bytes), stamp);
            return Ok(());
        }
        *lock(&slot.file) = (stamp, sum);
        Ok(())
    }

    /// Begins to serve a model, or to say why it cannot be served.
    fn place(&self, name: &str, read: io::Result<Vec<u8>>, stamp: Option<Stamp>) {
        let state = State::new(&self.config().folder, name, self.config().read_only);
        let sum = read.as_ref().map(|bytes| sha256(bytes)).unwrap_or_default();
        let (mut manifest, problem) = match state.read() {
            Found::Nothing => (Manifest::default(), None),
            Found::Whole(manifest, note) => {
                if let Some(note) = note {
                    self.warn(name, &note);
                }
                (manifest, None)
            }
            Found::Damaged(manifest, what) => (manifest, Some(damaged(what))),
        };
        let current = match (problem, read) {
            (Some(problem), _) => Err(problem),
            (None, Err(error)) => Err(no_model(name, &error)),
            (None, Ok(bytes)) => {
                let known = manifest.versions.last().cloned().filter(|_| manifest.seen == sum);
                if let Some(entry) = known {
                    self.take_up(name, &state, &mut manifest, entry, &bytes)
                } else {
                    let left = manifest.versions.last().and_then(|last| self.left(name, &state, last));
                    let start = Start {
                        bytes: &bytes,
                        origin: "file".to_owned(),
                        from: None,
                        seen: Some(sum.clone()),
                        keys: left.as_ref().and_then(|left| left.keys.as_deref()),
                        left: left.as_ref().map(|left| (left.n_learned, left.n_errors)),
                        calibrated: None,
                    };
                    self.next(name, &state, &mut manifest, start, Way::default())
                }
            }
        };
        let mut stamp = stamp;
        if let Err(problem) = &current {
            let help = problem.help().map_or_else(String::new, |help| format!("; {help}"));
            let folder = self.config().folder.display();
            self.warn(
                name,
                &format!("it is not served: {}{help}; its files are in {folder}", problem.detail()),
            );
            // What is not damaged, but has no room, is tried again.
            stamp = stamp.filter(|_| problem.code() == "damaged");
        }
        let slot = Slot {
            name: name.to_owned(),
            current: RwLock::new(current.map(Arc::new)),
            manifest: Mutex::new(manifest),
            file: Mutex::new((stamp, sum)),
            state,
        };
        self.models.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(slot));
    }

    /// What a version leaves which is replaced before it was taken up.
    fn left(&self, name: &str, state: &State, entry: &Entry) -> Option<Sealed> {
        let model = read_plain(&state.path(entry.version, "model")).ok()?;
        let version = Version::new(name, state, entry.clone(), &model).ok()?;
        if !entry.begun && !version.has_files() {
            let keys = state.keys(entry).ok()?;
            return Some(Sealed { n_learned: 0, n_errors: 0, model: None, keys });
        }
        match self.recover(&version, state, entry.begun) {
            Ok(recovered) => Some(recovered.sealed()),
            Err(problem) => {
                let (number, why) = (entry.version, problem.detail());
                self.warn(name, &format!("the idempotency keys of version {number} are lost: {why}"));
                None
            }
        }
    }

    /// What a version has learned.
    fn recover(&self, version: &Version, state: &State, has_begun: bool) -> Result<Recovered, Problem> {
        let recipe = version.entry.way.recipe();
        let inherited = || state.keys(&version.entry);
        live::recover(&recipe, &version.base, &version.places, inherited, has_begun, &self.common)
    }

    /// Goes on with the version that was served last.
    fn take_up(
        &self,
        name: &str,
        state: &State,
        manifest: &mut Manifest,
        entry: Entry,
        sent: &[u8],
    ) -> Result<Version, Problem> {
        let kept = read_plain(&state.path(entry.version, "model")).ok();
        let bytes = kept.as_deref().into_iter().chain([sent]).find(|bytes| sha256(bytes) == entry.sha256);
        let bytes = bytes.ok_or_else(|| {
            damaged(format!(
                "`{name}.serve/{}.model`, the file of the version that is served, is missing or changed",
                entry.version
            ))
        })?;
        if kept.as_deref() != Some(bytes) {
            let file = format!("`{name}.serve/{}.model`", entry.version);
            self.warn(
                name,
                &format!("{file} was gone or changed, and is restored from the one in the folder"),
            );
            state.put_model(entry.version, bytes)?;
        }
        let (number, has_begun) = (entry.version, entry.begun);
        let version = Version::new(name, state, entry, bytes)?;
        if has_begun || version.has_files() {
            let live = self.revive(&version, state, has_begun, true)?;
            let n_learned = version.published().learned;
            if n_learned > 0 {
                self.tell(name, &format!("version {number} goes on with {n_learned} learned examples"));
            }
            if let Some(live) = live {
                *lock(&version.stage) = Stage::Awake(live);
                if !has_begun {
                    state.has_begun(manifest, number)?;
                }
            }
        }
        Ok(version)
    }

    /// Makes the next version: its files, the list with it, and what serves it.
    fn next(
        &self,
        name: &str,
        state: &State,
        manifest: &mut Manifest,
        start: Start<'_>,
        way: Way,
    ) -> Result<Version, Problem> {
        let Start { bytes, origin, from, seen, keys, left, calibrated } = start;
        let last = manifest.versions.last();
        // Whether classes may grow is the model's, until a version says otherwise.
        let grow_classes = way.grow_classes.or(last.and_then(|last| last.way.grow_classes));
        let entry = Entry {
            version: last.map_or(1, |entry| entry.version + 1),
            sha256: sha256(bytes),
            origin,
            from,
            made: now(),
            learned: None,
            errors: None,
            calibrated,
            way: Way { grow_classes, ..way },
            keys: keys.map(sha256),
            begun: false,
        };
        let version = Version::new(name, state, entry.clone(), bytes)?;
        let mut next = manifest.clone();
        state.begin(&entry, bytes, keys)?;
        if let Some(last) = next.versions.last_mut() {
            (last.learned, last.errors) = left.unzip();
        }
        next.versions.push(entry);
        next.seen = seen.unwrap_or(next.seen);
        // The first is what can always be gone back to.
        let may_go = |entry: &Entry| entry.version > 1;
        let n_later = next.versions.iter().filter(|entry| may_go(entry)).count();
        let mut n_old = n_later.saturating_sub(self.config().limits.versions.max(1));
        let mut old = Vec::new();
        next.versions.retain(|entry| {
            let goes = n_old > 0 && may_go(entry);
            if goes {
                n_old -= 1;
                old.push(entry.clone());
            }
            !goes
        });
        state.write(&next)?;
        for entry in &old {
            state.remove(entry);
        }
        *manifest = next;
        Ok(version)
    }

    /// Takes up what a version has learned, and lets it go on.
    fn revive(
        &self,
        version: &Version,
        state: &State,
        has_begun: bool,
        publish: bool,
    ) -> Result<Option<Live>, Problem> {
        let recovered = self.recover(version, state, has_begun)?;
        if publish && recovered.ongoing.totals().rounds > 0 {
            let published = Published::of(&recovered.ongoing).map_err(|problem| damaged(problem.detail()))?;
            *version.shelf.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(published);
        }
        if self.config().read_only {
            return Ok(None);
        }
        let learner =
            Learner::new(recovered, Arc::clone(&version.shelf), version.places.clone(), self.common.clone())
                .map_err(|error| unwritten(&error))?;
        Live::start(learner).map(Some).map_err(|error| unwritten(&error))
    }

    /// Hands a wish to the thread of a version, which is started if need be. The wish comes back if another version has
    /// taken the place of this one.
    pub(crate) fn wish(
        &self,
        slot: &Slot,
        version: &Arc<Version>,
        wish: Wish,
    ) -> Result<Option<Wish>, Problem> {
        if version.is_learning() {
            return Ok(version.wish(wish));
        }
        // Held while it is started, so that a log has one writer.
        let mut manifest = lock(&slot.manifest);
        let mut stage = lock(&version.stage);
        if matches!(*stage, Stage::Asleep) {
            let live = self.revive(version, &slot.state, false, false)?;
            // The log is there before the list says so, and the list before anything is acknowledged.
            slot.state.has_begun(&mut manifest, version.entry.version)?;
            *stage = live.map_or(Stage::Asleep, Stage::Awake);
        }
        drop(stage);
        Ok(version.wish(wish))
    }

    /// Makes a new version of a model and serves it: one step among those of learning. Gives its number, or that of the
    /// version that is served if a new one would be the same, and whether it is new.
    pub(crate) fn add(&self, slot: &Slot, source: &Source<'_>, way: Way) -> Result<(u64, bool), Problem> {
        let mut manifest = lock(&slot.manifest);
        let old = slot.current();
        let is_kept = matches!(source, Source::Learned);
        if is_kept {
            old.as_ref().map_err(Clone::clone)?;
        }
        let sealed = match &old {
            Ok(version) => Some(Seal::put(version, &slot.state, is_kept)?),
            Err(_) => None,
        };
        if let (Some(sealed), Ok(version)) = (&sealed, &old)
            && is_kept
            && way.is_as_before()
            && sealed.left.n_learned == 0
        {
            // A copy of it would drive an older version out.
            return Ok((version.entry.version, false));
        }
        let (bytes, origin, from, seen) = match source {
            Source::File(bytes, sum) => (bytes.to_vec(), "file".to_owned(), None, Some(sum.clone())),
            Source::Old(number) => {
                (self.file_of(slot, &manifest, *number)?, format!("version {number}"), Some(*number), None)
            }
            Source::Learned => {
                let model = sealed.as_ref().and_then(|sealed| sealed.left.model.as_ref());
                let number = old.as_ref().map_or(0, |version| version.entry.version);
                let origin = format!("learned on top of version {number}");
                (model.map(Model::to_bytes).unwrap_or_default(), origin, Some(number), None)
            }
        };
        let is_calibrated = is_kept && old.as_ref().is_ok_and(|old| old.base.calibration().is_some());
        let before = manifest.versions.iter().find(|entry| Some(entry.version) == from);
        let calibrated = if is_calibrated { from } else { before.and_then(|entry| entry.calibrated) };
        // What stood in the way of serving is not looked at again.
        let seen = seen.or_else(|| old.is_err().then(|| lock(&slot.file).1.clone()));
        let keys = match (&sealed, manifest.versions.last()) {
            (Some(sealed), _) => sealed.left.keys.clone(),
            (None, Some(last)) => slot.state.keys(last).unwrap_or_default(),
            (None, None) => None,
        };
        // Before the old version is replaced, as it does not tell afterwards.
        let lost = old.as_ref().ok().filter(|old| !is_kept && old.is_learning());
        let lost = lost.map_or_else(String::new, |old| {
            format!("; what was learned on top of version {} is not part of it", old.entry.version)
        });
        let about = match source {
            Source::File(..) => format!("the new file{lost}"),
            Source::Old(_) => format!("{origin} again{lost}"),
            Source::Learned => format!("what was {origin}"),
        };
        let left = sealed.as_ref().map(|sealed| (sealed.left.n_learned, sealed.left.n_errors));
        let (bytes, keys) = (&bytes[..], keys.as_deref());
        let start = Start { bytes, origin, from, seen, keys, left, calibrated };
        let version = self.next(&slot.name, &slot.state, &mut manifest, start, way)?;
        let number = version.entry.version;
        self.tell(&slot.name, &format!("version {number} is served now: {about}"));
        *slot.current.write().unwrap_or_else(PoisonError::into_inner) = Ok(Arc::new(version));
        if let Some(sealed) = sealed {
            sealed.keep();
        }
        Ok((number, true))
    }

    /// Saves a model under a name, as a new one or a new version.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<u64, Problem> {
        Model::from_bytes(bytes).map_err(|error| Problem::new("bad-body", error.to_string()))?;
        let _taking = lock(&self.taking);
        let path = self.config().folder.join(format!("{name}.model"));
        write_own(&path, bytes).map_err(|error| unwritten(&error))?;
        self.take(name, Ok(bytes.to_vec()), stamp(&path), true)?;
        Ok(self.current(name)?.entry.version)
    }

    /// The file of a version.
    pub(crate) fn file(&self, slot: &Slot, number: u64) -> Result<Vec<u8>, Problem> {
        let manifest = lock(&slot.manifest).clone();
        self.file_of(slot, &manifest, number)
    }

    fn file_of(&self, slot: &Slot, manifest: &Manifest, number: u64) -> Result<Vec<u8>, Problem> {
        let entry = manifest.versions.iter().find(|entry| entry.version == number).ok_or_else(|| {
            Problem::new("no-version", "there is no version of this number, or it is kept no longer")
        })?;
        let sent = self.config().folder.join(format!("{}.model", slot.name));
        let mut files =
            [slot.state.path(number, "model"), sent].into_iter().filter_map(|path| read_plain(&path).ok());
        files
            .find(|bytes| sha256(bytes) == entry.sha256)
            .ok_or_else(|| damaged(format!("`{}.serve/{number}.model` is missing or changed", slot.name)))
    }

    /// Ends all threads, each with a snapshot; one that has not ended by then writes nothing any more.
    pub(crate) async fn stop(&self, deadline: Instant) {
        let mut waiting = Vec::new();
        for version in self.slots().iter().flat_map(|slot| slot.current()) {
            let (reply, stopped) = tokio::sync::oneshot::channel();
            if version.wish(Wish::Stop(reply)).is_none() {
                waiting.push(stopped);
            }
        }
        for stopped in waiting {
            let _ = timeout_at(deadline, stopped).await;
        }
        self.common.is_over.store(true, Ordering::Relaxed);
    }
}

impl Version {
    /// Whether there is anything that was learned.
    fn has_files(&self) -> bool {
        [&self.places.log, &self.places.snapshot].into_iter().any(|path| path.symlink_metadata().is_ok())
    }
}

impl Slot {
    /// The version that is served, or why there is none.
    pub(crate) fn current(&self) -> Result<Arc<Version>, Problem> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends what learns, so that the log has no writer when the file comes back.
    fn retire(&self) {
        let _changing = lock(&self.manifest);
        let Ok(version) = self.current() else { return };
        let (reply, stopped) = tokio::sync::oneshot::channel();
        if version.wish(Wish::Stop(reply)).is_none() {
            let _ = stopped.blocking_recv();
        }
        *lock(&version.stage) = Stage::Replaced;
    }

    /// Comes back when no version is being made.
    pub(crate) fn settle(&self) {
        drop(lock(&self.manifest));
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        lock(&self.manifest).versions.clone()
    }
}
