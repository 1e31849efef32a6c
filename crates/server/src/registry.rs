//! A folder of models: each file `NAME.model` is one, and what happens to it is kept in `NAME.serve` beside it.
//!
//! A version is a model file that does not change, and a log of what was learned on top of it. A file that is replaced in
//! the folder, or sent, is a new version; so is what was learned so far when somebody asks to keep it; so is going back
//! to an older one, whose file is taken without what was learned on top. Names come from the folder or are checked
//! letter by letter, and never lead anywhere else.

use crate::config::Config;
use crate::live::{self, Learner, Live, Places, Published, Shelf, Wish};
use crate::metrics::Metrics;
use crate::problem::Problem;
use rosenblatt::files::{Claim, write_whole};
use rosenblatt::{Model, Options, Recipe};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::SystemTime;

/// The most letters of a name.
const NAME_LETTERS: usize = 100;

/// How a version goes on learning.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Way {
    /// What is learned; as the model learned, if nothing is said.
    pub(crate) learning: Option<Options>,
    /// Whether weights begin at zero instead of the model's.
    pub(crate) blank: bool,
}

impl Way {
    pub(crate) fn recipe(&self) -> Recipe {
        Recipe { learning: self.learning.clone().unwrap_or_default(), blank: self.blank, ..Recipe::default() }
    }
}

/// What is kept of a version.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Entry {
    pub(crate) version: u64,
    /// The SHA-256 of its file.
    pub(crate) sha256: String,
    /// Where it came from.
    pub(crate) origin: String,
    #[serde(flatten)]
    pub(crate) way: Way,
}

/// What is kept of a model.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    /// The SHA-256 of the file in the folder that was taken in last.
    seen: String,
    versions: Vec<Entry>,
}

/// A version at work.
pub(crate) struct Version {
    pub(crate) entry: Entry,
    pub(crate) base: Arc<Model>,
    shelf: Arc<Shelf>,
    live: Mutex<Option<Live>>,
    places: Places,
    /// What is wrong with what was learned, if it cannot be read back.
    pub(crate) damage: Option<Problem>,
}

impl Version {
    /// What readers see now.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether its thread has been started.
    pub(crate) fn is_learning(&self) -> bool {
        lock(&self.live).is_some()
    }
}

/// A model, by name.
pub(crate) struct Slot {
    pub(crate) name: String,
    current: RwLock<Arc<Version>>,
    manifest: Mutex<Manifest>,
    /// What the file in the folder looked like when it was read last.
    stamp: Mutex<Option<Stamp>>,
}

type Stamp = (Option<SystemTime>, u64, u64);

/// All models of a folder.
pub(crate) struct Registry {
    config: Arc<Config>,
    metrics: Arc<Metrics>,
    models: RwLock<BTreeMap<String, Arc<Slot>>>,
    /// What is wrong with files that could not be taken in, by name.
    wrong: Mutex<BTreeMap<String, String>>,
    _claim: Option<Claim>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this may be a model's name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !name.is_empty() && name.len() <= NAME_LETTERS && !name.starts_with('.') && name.chars().all(is_letter)
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let there = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&there);
    #[cfg(not(unix))]
    let inode = 0;
    Some((there.modified().ok(), there.len(), inode))
}

fn unwritten(error: &dyn std::fmt::Display) -> Problem {
    // What the system says begins with a path, which is nobody's business.
    let text = error.to_string();
    let reason = text.rsplit(": ").next().unwrap_or_default().to_owned();
    Problem::new("full", format!("nothing could be written: {reason}"))
}

impl Registry {
    /// Takes in all models of the folder.
    pub(crate) fn open(config: Arc<Config>, metrics: Arc<Metrics>) -> io::Result<Self> {
        fs::read_dir(&config.folder)?;
        let claim = if config.read_only {
            None
        } else {
            let claim = Claim::take(&config.folder.join("rosenblatt-serve"));
            Some(claim.map_err(|error| io::Error::other(error.to_string()))?)
        };
        let registry =
            Self { config, metrics, models: RwLock::default(), wrong: Mutex::default(), _claim: claim };
        registry.look();
        Ok(registry)
    }

    /// What is wrong with files in the folder.
    pub(crate) fn complaints(&self) -> Vec<(String, String)> {
        lock(&self.wrong).iter().map(|(name, what)| (name.clone(), what.clone())).collect()
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.models.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The model called `name`.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Slot>, Problem> {
        let models = self.models.read().unwrap_or_else(PoisonError::into_inner);
        models.get(name).cloned().ok_or_else(|| Problem::new("no-model", "there is no model of this name"))
    }

    /// The version of a model that is served; an error if what it learned cannot be read.
    pub(crate) fn current(&self, name: &str) -> Result<Arc<Version>, Problem> {
        let version = self.find(name)?.current();
        match &version.damage {
            Some(damage) => Err(damage.clone()),
            None => Ok(version),
        }
    }

    /// Looks at the folder: new files are taken in, replaced ones become new versions, missing ones are forgotten.
    pub(crate) fn look(&self) {
        let Ok(entries) = fs::read_dir(&self.config.folder) else { return };
        let mut there = BTreeMap::new();
        for entry in entries.flatten() {
            let path = entry.path();
            let name =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".model"));
            if let Some(name) = name.filter(|name| is_name(name)) {
                there.insert(name.to_owned(), path);
            }
        }
        for (name, path) in &there {
            let slot = self.find(name).ok();
            let now = stamp(path);
            if slot.as_ref().is_some_and(|slot| *lock(&slot.stamp) == now) {
                continue;
            }
            let taken = fs::read(path).map_err(|error| error.to_string()).and_then(|bytes| {
                self.take(name, &bytes, now).map_err(|problem| problem.to_json()["detail"].to_string())
            });
            let mut wrong = lock(&self.wrong);
            match taken {
                Ok(()) => drop(wrong.remove(name)),
                Err(what) => drop(wrong.insert(name.clone(), what)),
            }
        }
        lock(&self.wrong).retain(|name, _| there.contains_key(name));
        let mut models = self.models.write().unwrap_or_else(PoisonError::into_inner);
        models.retain(|name, _| there.contains_key(name));
    }

    /// Takes in the file of a model, which is a new version unless it is the one that was seen last.
    fn take(&self, name: &str, bytes: &[u8], stamp: Option<Stamp>) -> Result<(), Problem> {
        let sum = sha256(bytes);
        if let Ok(slot) = self.find(name) {
            let is_new = lock(&slot.manifest).seen != sum;
            if is_new {
                self.add(&slot, bytes, "file", Way::default(), Some(sum))?;
            }
            *lock(&slot.stamp) = stamp;
            return Ok(());
        }
        let folder = self.state(name);
        let manifest = match fs::read(folder.join("manifest.json")) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|_| Problem::new("damaged", "the list of versions cannot be read"))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Manifest::default(),
            Err(error) => return Err(unwritten(&error)),
        };
        let known = manifest.versions.last().cloned().filter(|_| manifest.seen == sum);
        let (manifest, version) = if let Some(entry) = known {
            let kept = fs::read(folder.join(format!("{}.model", entry.version)));
            let kept = kept.ok().filter(|kept| sha256(kept) == entry.sha256);
            let kept =
                kept.ok_or_else(|| Problem::new("damaged", "the file of a version is gone or changed"))?;
            (manifest, self.version(&folder, entry, &kept)?)
        } else {
            self.next(name, manifest, bytes, "file", Way::default(), Some(sum))?
        };
        self.place(name, manifest, version, stamp);
        Ok(())
    }

    fn place(&self, name: &str, manifest: Manifest, version: Version, stamp: Option<Stamp>) {
        let slot = Slot {
            name: name.to_owned(),
            current: RwLock::new(Arc::new(version)),
            manifest: Mutex::new(manifest),
            stamp: Mutex::new(stamp),
        };
        self.models.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(slot));
    }

    fn state(&self, name: &str) -> PathBuf {
        self.config.folder.join(format!("{name}.serve"))
    }

    /// Makes the next version: its file, the list with it, and what serves it.
    fn next(
        &self,
        name: &str,
        mut manifest: Manifest,
        bytes: &[u8],
        origin: &str,
        way: Way,
        seen: Option<String>,
    ) -> Result<(Manifest, Version), Problem> {
        let number = manifest.versions.last().map_or(1, |entry| entry.version + 1);
        let entry = Entry { version: number, sha256: sha256(bytes), origin: origin.to_owned(), way };
        let folder = self.state(name);
        let version = self.version(&folder, entry.clone(), bytes)?;
        manifest.versions.push(entry);
        manifest.seen = seen.unwrap_or(manifest.seen);
        if self.config.read_only {
            return Ok((manifest, version));
        }
        let n_old = manifest.versions.len().saturating_sub(self.config.limits.versions.max(1));
        let old: Vec<Entry> = manifest.versions.drain(..n_old).collect();
        let text = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
        fs::create_dir_all(&folder)
            .map_err(|error| unwritten(&error))
            .and_then(|()| {
                write_whole(&folder.join(format!("{number}.model")), bytes).map_err(|error| unwritten(&error))
            })
            .and_then(|()| {
                write_whole(&folder.join("manifest.json"), &text).map_err(|error| unwritten(&error))
            })?;
        for entry in old {
            for kind in ["model", "log", "snapshot"] {
                let _ = fs::remove_file(folder.join(format!("{}.{kind}", entry.version)));
            }
        }
        Ok((manifest, version))
    }

    /// A version of this file, with what was learned on top of it.
    fn version(&self, folder: &Path, entry: Entry, bytes: &[u8]) -> Result<Version, Problem> {
        let model = Model::from_bytes(bytes).map_err(|error| Problem::new("bad-body", error.to_string()))?;
        let base = Arc::new(model);
        let places = Places {
            log: folder.join(format!("{}.log", entry.version)),
            snapshot: folder.join(format!("{}.snapshot", entry.version)),
        };
        let shelf = Published { model: Arc::clone(&base), learned: 0, errors: 0 };
        let shelf = Arc::new(RwLock::new(Arc::new(shelf)));
        let mut version = Version { entry, base, shelf, live: Mutex::default(), places, damage: None };
        if version.places.log.exists() || version.places.snapshot.exists() {
            match self.revive(&version, true) {
                Ok(live) => *lock(&version.live) = live,
                Err(problem) => version.damage = Some(problem),
            }
        }
        Ok(version)
    }

    /// Takes up what a version has learned, and lets it go on.
    fn revive(&self, version: &Version, publish: bool) -> Result<Option<Live>, Problem> {
        let recipe = version.entry.way.recipe();
        let recovered = live::recover(&recipe, &version.base, &version.places, self.config.limits.keys)?;
        if publish && recovered.ongoing.totals().rounds > 0 {
            let published = Published::of(&recovered.ongoing)?;
            *version.shelf.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(published);
        }
        if self.config.read_only {
            return Ok(None);
        }
        let (shelf, places) = (Arc::clone(&version.shelf), version.places.clone());
        let (config, metrics) = (Arc::clone(&self.config), Arc::clone(&self.metrics));
        let learner =
            Learner::new(recovered, shelf, places, config, metrics).map_err(|error| unwritten(&error))?;
        Live::start(learner).map(Some).map_err(|error| unwritten(&error))
    }

    /// Hands a wish to the thread of a version, which is started if need be.
    pub(crate) fn wish(&self, version: &Version, wish: Wish) -> Result<(), Problem> {
        if let Some(damage) = &version.damage {
            return Err(damage.clone());
        }
        // Held while it is started, so that a log has one writer.
        let mut live = lock(&version.live);
        if live.is_none() {
            *live = self.revive(version, false)?;
        }
        let gone = || Problem::new("busy", "the version was replaced just now; try again");
        live.as_ref().ok_or_else(gone)?.wish(wish).map_err(|_| gone())
    }

    /// Makes a new version of a model and serves it. What the old one was asked to learn is finished first.
    pub(crate) fn add(
        &self,
        slot: &Slot,
        bytes: &[u8],
        origin: &str,
        way: Way,
        seen: Option<String>,
    ) -> Result<u64, Problem> {
        let mut manifest = lock(&slot.manifest);
        let copy = Manifest { seen: manifest.seen.clone(), versions: manifest.versions.clone() };
        let (next, version) = self.next(&slot.name, copy, bytes, origin, way, seen)?;
        *manifest = next;
        let number = version.entry.version;
        let old = std::mem::replace(
            &mut *slot.current.write().unwrap_or_else(PoisonError::into_inner),
            Arc::new(version),
        );
        // Its thread ends once the last request that knows it is done.
        drop(old);
        Ok(number)
    }

    /// Saves a model under a name, as a new one or a new version.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<u64, Problem> {
        Model::from_bytes(bytes).map_err(|error| Problem::new("bad-body", error.to_string()))?;
        let path = self.config.folder.join(format!("{name}.model"));
        write_whole(&path, bytes).map_err(|error| unwritten(&error))?;
        self.take(name, bytes, stamp(&path))?;
        Ok(self.find(name)?.current().entry.version)
    }

    /// The file of a version.
    pub(crate) fn file(&self, slot: &Slot, number: u64) -> Result<Vec<u8>, Problem> {
        let entry = slot.entry(number)?;
        let kept = self.state(&slot.name).join(format!("{number}.model"));
        let sent = self.config.folder.join(format!("{}.model", slot.name));
        let mut files = [kept, sent].into_iter().filter_map(|path| fs::read(path).ok());
        files
            .find(|bytes| sha256(bytes) == entry.sha256)
            .ok_or_else(|| Problem::new("damaged", "the file of this version is gone or changed"))
    }

    /// Ends all threads, each with a snapshot.
    pub(crate) async fn stop(&self) {
        let mut waiting = Vec::new();
        for slot in self.slots() {
            if let Some(live) = lock(&slot.current().live).as_ref() {
                let (reply, stopped) = tokio::sync::oneshot::channel();
                if live.wish(Wish::Stop(reply)).is_ok() {
                    waiting.push(stopped);
                }
            }
        }
        for stopped in waiting {
            let _ = stopped.await;
        }
    }
}

impl Slot {
    pub(crate) fn current(&self) -> Arc<Version> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        lock(&self.manifest).versions.clone()
    }

    pub(crate) fn entry(&self, number: u64) -> Result<Entry, Problem> {
        let found = lock(&self.manifest).versions.iter().find(|entry| entry.version == number).cloned();
        found.ok_or_else(|| {
            Problem::new("no-version", "there is no version of this number, or it is kept no longer")
        })
    }
}
