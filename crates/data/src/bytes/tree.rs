//! Folders as classes: every folder in the one that is named is a class, and the files in it, however deep, are its.
//!
//! Files come sorted by path, so that their order never depends on the file system. If there is but one folder, and
//! nothing but folders in it, the classes are those one level below, which is noted. What is not wanted, and what is
//! no file at all (a pipe, a socket, a device: reading one might never end), is left out and counted. A link that
//! leads back to a folder above it is an error.

use crate::error::{DataError, ErrorKind};
use crate::words::count;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep folders may be nested within a class.
const MAX_DEPTH: usize = 32;

/// What was found in a folder of classes.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Files, and the place of their class.
    pub(crate) files: Vec<(PathBuf, usize)>,
    pub(crate) classes: Vec<String>,
    pub(crate) notes: Vec<String>,
    n_stray: usize,
    first_stray: Option<PathBuf>,
}

impl Tree {
    /// Files that are all of one class.
    #[cfg(feature = "images")]
    pub(crate) fn of(files: Vec<(PathBuf, usize)>, class: &str) -> Self {
        Self { files, classes: vec![class.to_owned()], ..Self::default() }
    }

    /// Looks for files that are `wanted`, called `what` in notes, in the folders of `root`.
    pub(crate) fn look(root: &Path, what: &str, wanted: fn(&Path) -> bool) -> Result<Self, DataError> {
        let mut found = Self::default();
        let root = &found.classes_below(root)?;
        for entry in entries(root)? {
            if !entry.is_dir() {
                found.stray(entry);
                continue;
            }
            let name = entry.file_name().unwrap_or_default();
            let Some(name) = name.to_str() else {
                let message = "the name of the folder should be valid UTF-8, as it names a class";
                return Err(
                    DataError::new(ErrorKind::Encoding, message).in_source(&entry.display().to_string())
                );
            };
            let n_before = found.files.len();
            found.classes.push(name.to_owned());
            found.walk(&entry, &mut vec![canonical(root)?], wanted)?;
            if found.files.len() == n_before {
                found.notes.push(format!("the folder `{name}` holds no {what}; it is no class"));
            }
        }
        if let Some(first) = &found.first_stray {
            let (n_stray, first) = (count(found.n_stray as u64), first.display());
            found.notes.push(format!("{n_stray} file(s) are no {what} and were left out, first `{first}`"));
        }
        Ok(found)
    }

    /// The folder whose folders are the classes: `root`, or the only one in it if that holds folders alone.
    fn classes_below(&mut self, root: &Path) -> Result<PathBuf, DataError> {
        let within = entries(root)?;
        let ([only], true) = (within.as_slice(), within.iter().all(|entry| entry.is_dir())) else {
            return Ok(root.to_owned());
        };
        let below = entries(only)?;
        if below.len() < 2 || !below.iter().all(|entry| entry.is_dir()) {
            return Ok(root.to_owned());
        }
        self.notes.push(format!("the classes are the folders of `{}`", only.display()));
        Ok(only.clone())
    }

    fn stray(&mut self, path: PathBuf) {
        self.n_stray += 1;
        self.first_stray.get_or_insert(path);
    }

    /// Adds the files in `folder`; `above` are the folders it is in.
    fn walk(
        &mut self,
        folder: &Path,
        above: &mut Vec<PathBuf>,
        wanted: fn(&Path) -> bool,
    ) -> Result<(), DataError> {
        let here = canonical(folder)?;
        if above.contains(&here) {
            // A link that leads back to a folder it is in holds nothing new.
            self.stray(folder.to_owned());
            return Ok(());
        }
        if above.len() > MAX_DEPTH {
            let message = format!("folders are nested deeper than {MAX_DEPTH}, the limit");
            return Err(DataError::new(ErrorKind::Io, message).in_source(&folder.display().to_string()));
        }
        above.push(here);
        for entry in entries(folder)? {
            // What a link leads to counts; one that leads nowhere is an error.
            let metadata = fs::metadata(&entry)
                .map_err(|error| DataError::io("opening", error).in_source(&entry.display().to_string()))?;
            if metadata.is_dir() {
                self.walk(&entry, above, wanted)?;
            } else if metadata.is_file() && wanted(&entry) {
                self.files.push((entry, self.classes.len() - 1));
            } else {
                self.stray(entry);
            }
        }
        above.pop();
        Ok(())
    }
}

fn canonical(path: &Path) -> Result<PathBuf, DataError> {
    fs::canonicalize(path)
        .map_err(|error| DataError::io("opening", error).in_source(&path.display().to_string()))
}

/// What is in a folder, by name, without hidden entries and what archivers of other systems leave.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let fail = |error| DataError::io("listing", error).in_source(&folder.display().to_string());
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(b".") && name != "__MACOSX" {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}
