//! What is kept of a model in `NAME.serve`: the list of its versions, which has a checksum and a copy, and the files of
//! each version, `N.model`, `N.keys`, `N.log`, `N.acknowledged` and `N.snapshot`.
//!
//! Everything here is checked before it is believed. The list names every file that must be there, so that one that was
//! removed is noticed; a list that is gone or changed is restored from its copy, and that is noted; if both are gone the model
//! is not served, and what can be gone back to is found by looking.

use crate::problem::Problem;
use rosenblatt::data::files::write_own;
use rosenblatt::settings::Asked;
use rosenblatt::{Options, Recipe};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The list of versions, and its copy.
const LISTS: [&str; 2] = ["manifest.json", "manifest.copy.json"];
/// What a version has files of.
const KINDS: [&str; 5] = ["model", "keys", "log", "acknowledged", "snapshot"];

/// How a version goes on learning.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Way {
    /// What is learned; as the model learned, by default.
    pub(crate) learning: Option<Asked<Options>>,
    /// Whether weights begin at zero instead of the model's.
    pub(crate) blank: bool,
    /// Whether classes that were never seen are taken in; as the server was started, by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grow_classes: Option<bool>,
}

impl Way {
    /// Whether a version goes on as the one before it.
    pub(crate) fn is_as_before(&self) -> bool {
        self.learning.is_none() && !self.blank && self.grow_classes.is_none()
    }

    pub(crate) fn recipe(&self) -> Recipe {
        Recipe { learning: self.learning.clone().unwrap_or_default(), blank: self.blank, ..Recipe::default() }
    }
}

/// What is kept of a version.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Entry {
    pub(crate) version: u64,
    /// The SHA-256 of its file.
    pub(crate) sha256: String,
    /// Where it came from.
    pub(crate) origin: String,
    /// The version that it came from; none if it was a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<u64>,
    /// When it was made, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made: Option<String>,
    /// Rows that were learned on top of its file, once another version has taken its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) learned: Option<u64>,
    /// Of these, how many were predicted wrongly before they were learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) errors: Option<u64>,
    /// The version with probabilities that it came from, if it lost them by learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calibrated: Option<u64>,
    #[serde(flatten)]
    pub(crate) way: Way,
    /// The SHA-256 of the keys that earlier versions have acknowledged, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<String>,
    /// Whether it has begun to learn, and therefore has a log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) begun: bool,
}

/// What is kept of a model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The SHA-256 of the file in the folder that was taken in last.
    pub(crate) seen: String,
    pub(crate) versions: Vec<Entry>,
}

/// A list as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed<'a> {
    sha256: String,
    #[serde(borrow)]
    manifest: &'a RawValue,
}

impl Manifest {
    fn to_bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{{\"sha256\": \"{}\",\n\"manifest\": {text}}}\n", sha256(text.as_bytes())).into_bytes()
    }

    /// The list in these bytes, if they match their checksum.
    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let listed: Listed<'_> = serde_json::from_slice(bytes).ok()?;
        let text = listed.manifest.get();
        serde_json::from_str(text).ok().filter(|_| sha256(text.as_bytes()) == listed.sha256)
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The bytes of a plain file. A device or a pipe, which may have no end, is not opened.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let (mut bytes, mut file) = (Vec::new(), open_plain(path)?);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a plain file.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    File::open(path)
}

pub(crate) fn unwritten(error: &dyn std::fmt::Display) -> Problem {
    // What the system says begins with a path, which is private.
    let text = error.to_string();
    let reason = text.rsplit(": ").next().unwrap_or_default().to_owned();
    Problem::new("full", format!("nothing could be written: {reason}"))
        .with_help("free some room on the disk of the folder of models, and let the server write there")
}

/// What a model is refused with while what is kept of it is not whole.
pub(crate) fn damaged(what: impl Into<String>) -> Problem {
    Problem::new("damaged", what).with_help(
        "put the files back from a copy and start the server again (NAME.model alone needs no new start), or go back to a \
         version, without what was learned on top of it: POST its versions {\"of\": N}; not both",
    )
}

/// The folder in which things are kept for one model.
#[derive(Debug, Clone)]
pub(crate) struct State {
    folder: PathBuf,
    /// Whether nothing is ever written.
    read_only: bool,
}

/// What was found of a list.
pub(crate) enum Found {
    /// Nothing was kept yet.
    Nothing,
    /// The list, and what is noted of how it was found.
    Whole(Manifest, Option<String>),
    /// Files without a list: the versions that they show, and what is wrong.
    Damaged(Manifest, String),
}

impl State {
    pub(crate) fn new(models: &Path, name: &str, read_only: bool) -> Self {
        Self { folder: models.join(format!("{name}.serve")), read_only }
    }

    pub(crate) fn path(&self, version: u64, kind: &str) -> PathBuf {
        self.folder.join(format!("{version}.{kind}"))
    }

    /// A file in the folder, as messages name it: from the folder of models.
    fn named(&self, file: &str) -> String {
        format!("`{}/{file}`", self.folder.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The numbers of versions that have files, with their kinds.
    fn numbers(&self) -> BTreeMap<u64, Vec<String>> {
        let mut numbers: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let parts = name.to_str().and_then(|name| name.split_once('.'));
            if let Some((number, kind)) = parts
                && let Ok(number) = number.parse()
                && KINDS.contains(&kind)
            {
                numbers.entry(number).or_default().push(kind.to_owned());
            }
        }
        numbers
    }

    /// Reads the list.
    pub(crate) fn read(&self) -> Found {
        let [list, copy] = LISTS.map(|name| read_plain(&self.folder.join(name)));
        let is_there = |found: &io::Result<Vec<u8>>| !matches!(found, Err(error) if error.kind() == io::ErrorKind::NotFound);
        let [whole, whole_copy] =
            [&list, &copy].map(|found| found.as_deref().ok().and_then(Manifest::of_bytes));
        let numbers = self.numbers();
        let newest = numbers.keys().last().copied().unwrap_or(0);
        let [list_name, copy_name] = LISTS.map(|name| self.named(name));
        let found = match (whole, whole_copy) {
            (Some(manifest), Some(_)) => Found::Whole(manifest, None),
            (Some(manifest), None) if !is_there(&copy) => Found::Whole(manifest, None),
            (Some(manifest), None) => Found::Whole(
                manifest,
                Some(format!(
                    "{copy_name}, the copy of the list of versions, was damaged and is written again"
                )),
            ),
            (None, Some(manifest)) if manifest.versions.last().is_some_and(|last| last.version >= newest) => {
                Found::Whole(
                    manifest,
                    Some(format!(
                        "{list_name}, the list of versions, was gone or damaged and is restored from its copy"
                    )),
                )
            }
            (None, None) if !is_there(&copy) => {
                // Before lists had checksums, they had no copies either.
                let old = list.as_deref().ok().and_then(|bytes| serde_json::from_slice(bytes).ok());
                // A first version that has learned nothing is made again from its file.
                let is_fresh = newest <= 1 && numbers.values().flatten().all(|kind| kind == "model");
                match old {
                    Some(manifest) => Found::Whole(manifest, None),
                    None if is_fresh && !is_there(&list) => Found::Nothing,
                    None => self.shown(format!(
                        "{list_name}, the list of versions, is gone or damaged, and has no copy"
                    )),
                }
            }
            _ => self.shown(format!(
                "{list_name}, the list of versions, is gone or damaged, and so is its copy, {copy_name}"
            )),
        };
        if let Found::Whole(manifest, _) = &found {
            // Old lists get their checksum, and outdated copies are brought up to date.
            let bytes = manifest.to_bytes();
            let is_same = |found: &io::Result<Vec<u8>>| found.as_ref().is_ok_and(|found| *found == bytes);
            if !is_same(&list) || !is_same(&copy) {
                let _ = self.write(manifest);
            }
        }
        found
    }

    /// The versions that files show.
    fn shown(&self, what: String) -> Found {
        let entry = |version: u64| Entry {
            version,
            sha256: read_plain(&self.path(version, "model")).map(|bytes| sha256(&bytes)).unwrap_or_default(),
            origin: "found without a list".to_owned(),
            ..Entry::default()
        };
        let versions = self.numbers().into_keys().map(entry).collect();
        Found::Damaged(Manifest { seen: String::new(), versions }, what)
    }

    /// Writes the list, after its copy: if that fails, the list is as it was, and it is what is believed.
    pub(crate) fn write(&self, manifest: &Manifest) -> Result<(), Problem> {
        if self.read_only {
            return Ok(());
        }
        let bytes = manifest.to_bytes();
        LISTS.iter().rev().try_for_each(|name| {
            let path = self.folder.join(name);
            let written = self.put(&path, &bytes);
            // A failure may come after the file is in its place.
            written.or_else(|problem| {
                if read_plain(&path).is_ok_and(|there| there == bytes) { Ok(()) } else { Err(problem) }
            })
        })
    }

    /// Notes that a version has a log.
    pub(crate) fn has_begun(&self, manifest: &mut Manifest, number: u64) -> Result<(), Problem> {
        let mut next = manifest.clone();
        if let Some(entry) = next.versions.iter_mut().find(|entry| entry.version == number) {
            entry.begun = true;
        }
        self.write(&next)?;
        *manifest = next;
        Ok(())
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), Problem> {
        fs::create_dir_all(&self.folder).map_err(|error| unwritten(&error))?;
        // A link in here is none of ours, and is not written through.
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            fs::remove_file(path).map_err(|error| unwritten(&error))?;
        }
        write_own(path, bytes).map_err(|error| unwritten(&error))
    }

    /// Writes the files of a version that is about to be listed. What its number had before was never listed.
    pub(crate) fn begin(&self, entry: &Entry, bytes: &[u8], keys: Option<&[u8]>) -> Result<(), Problem> {
        if self.read_only {
            return Ok(());
        }
        self.remove(entry);
        self.put_model(entry.version, bytes)?;
        keys.map_or(Ok(()), |keys| self.put(&self.path(entry.version, "keys"), keys))
    }

    /// Writes the file of a version again.
    pub(crate) fn put_model(&self, version: u64, bytes: &[u8]) -> Result<(), Problem> {
        if self.read_only { Ok(()) } else { self.put(&self.path(version, "model"), bytes) }
    }

    pub(crate) fn remove(&self, entry: &Entry) {
        if self.read_only {
            return;
        }
        for kind in KINDS {
            let _ = fs::remove_file(self.path(entry.version, kind));
        }
    }

    /// The keys that a version began with.
    pub(crate) fn keys(&self, entry: &Entry) -> Result<Option<Vec<u8>>, Problem> {
        let Some(sum) = &entry.keys else { return Ok(None) };
        let bytes = read_plain(&self.path(entry.version, "keys")).ok().filter(|bytes| sha256(bytes) == *sum);
        bytes.map(Some).ok_or_else(|| {
            let file = self.named(&format!("{}.keys", entry.version));
            damaged(format!("{file}, the idempotency keys of earlier versions, is missing or changed"))
        })
    }
}
