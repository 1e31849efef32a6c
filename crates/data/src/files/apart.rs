//! Everything a command reads and writes, so that no output destroys an input or another output.

use super::kind::refuse_link;
use super::{FileError, Kind};
use crate::bytes::source::{Part, Source};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a command, to be compared before its work begins.
///
/// ```
/// use rosenblatt_data::files::Apart;
///
/// let mut files = Apart::default();
/// files.reads("the data", "Cargo.toml");
/// files.writes("the model", "./src/../Cargo.toml");
/// let refused = files.check().unwrap_err().to_string();
/// assert!(refused.ends_with("the model would be written over the data; name another file"));
/// ```
#[derive(Debug, Default)]
pub struct Apart {
    read: Vec<(&'static str, PathBuf)>,
    written: Vec<Output>,
}

/// A file that is written.
#[derive(Debug)]
struct Output {
    what: &'static str,
    path: PathBuf,
    /// All that it may take the place of, where that is known before it is written.
    kind: Option<Kind>,
    /// Whether it is where the version before the last one listed is kept.
    is_previous: bool,
}

/// What tells one file from another.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Of a file that is there, whatever it is called: its device, and its number there.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Of a file that is not there yet: where it would be.
    Path(PathBuf),
}

impl Apart {
    /// Notes a file, or a folder of files, that is read.
    pub fn reads(&mut self, what: &'static str, path: impl Into<PathBuf>) {
        self.read.push((what, path.into()));
    }

    /// Notes data that is read.
    pub fn reads_source(&mut self, what: &'static str, source: &Source) {
        for part in source.parts() {
            match part {
                Part::File(path) | Part::Folder(path) => self.reads(what, path),
                Part::Stdin => self.reads(what, "/dev/stdin"),
                _ => {}
            }
        }
    }

    /// Notes a file that is written.
    pub fn writes(&mut self, what: &'static str, path: impl Into<PathBuf>) {
        self.written.push(Output { what, path: path.into(), kind: None, is_previous: false });
    }

    /// Notes a file of this kind that is written.
    pub fn writes_kind(&mut self, what: &'static str, path: impl Into<PathBuf>, kind: Kind) {
        self.written.push(Output { what, path: path.into(), kind: Some(kind), is_previous: false });
    }

    /// Notes where the version before of the file noted last is kept. A process killed while it moves there leaves one
    /// file with both names, which is no clash.
    pub fn keeps_previous(&mut self, what: &'static str, path: impl Into<PathBuf>, kind: Kind) {
        self.written.push(Output { what, path: path.into(), kind: Some(kind), is_previous: true });
    }

    /// The paths of all outputs, but for those that are made beside another.
    pub fn outputs(&self) -> impl Iterator<Item = &Path> {
        let is_beside = |kind| matches!(kind, Some(Kind::Lock | Kind::Checkpoint));
        let alone = self.written.iter().filter(move |output| !output.is_previous && !is_beside(output.kind));
        alone.map(|output| output.path.as_path())
    }

    /// Refuses the first output that is an input, another output, a link or of another kind than what is there. Devices
    /// and pipes hold nothing that could be lost.
    pub fn check(&self) -> Result<(), FileError> {
        let mut folders = Vec::new();
        let mut taken: Vec<(&'static str, Identity)> = Vec::new();
        let mut last = None;
        for (what, path) in &self.read {
            match fs::canonicalize(path) {
                Ok(folder) if folder.is_dir() => folders.push((*what, folder)),
                _ => taken.extend(identity(path).map(|identity| (*what, identity))),
            }
        }
        for Output { what: output, path, is_previous, .. } in &self.written {
            let clash = |other| FileError::Clash { path: path.clone(), output, other };
            let Some(identity) = identity(path) else {
                last = None;
                continue;
            };
            let own = last.filter(|_| *is_previous);
            let mut others = taken.iter().enumerate().filter(|(number, _)| Some(*number) != own);
            if let Some((_, (other, _))) = others.find(|(_, (_, taken))| *taken == identity) {
                return Err(clash(other));
            }
            if let Ok(place) = fs::canonicalize(path)
                && let Some((other, _)) = folders.iter().find(|(_, folder)| place.starts_with(folder))
            {
                return Err(clash(other));
            }
            last = Some(taken.len());
            taken.push((output, identity));
        }
        self.written.iter().try_for_each(|output| match output.kind {
            Some(kind) => kind.may_replace(&output.path),
            None => refuse_link(&output.path),
        })
    }
}

/// What a path leads to; `None` if that is no plain file and will be none. Whatever comes through standard input may be
/// a file as well; to write to standard output replaces nothing.
fn identity(path: &Path) -> Option<Identity> {
    if path == Path::new("-") {
        return None;
    }
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => None,
        #[cfg(unix)]
        Ok(there) => {
            use std::os::unix::fs::MetadataExt as _;
            Some(Identity::Inode(there.dev(), there.ino()))
        }
        _ => {
            let mut path = path.to_owned();
            // A link to nothing is where the file will be. Chains of links are short, and circles are none.
            for _ in 0..40 {
                match fs::read_link(&path) {
                    Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
                    Err(_) => break,
                }
            }
            let folder = fs::canonicalize(super::folder_of(&path)).ok()?;
            Some(Identity::Path(folder.join(path.file_name()?)))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refused(read: &[&Path], written: &[&Path]) -> bool {
        let mut files = Apart::default();
        for path in read {
            files.reads("what is read", *path);
        }
        for path in written {
            files.writes("what is written", *path);
        }
        files.check().is_err()
    }

    #[test]
    fn a_file_may_be_its_own_previous_version_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("model"), "1").unwrap();
        fs::hard_link(at("model"), at("model.1")).unwrap();
        let check = |read: &str, other: &str| {
            let mut files = Apart::default();
            files.reads("the data", at(read));
            files.writes("another", at(other));
            files.writes("the model", at("model"));
            files.keeps_previous("the previous model", at("model.1"), Kind::Lock);
            files.check().is_ok()
        };
        assert!(check("data", "other"));
        assert!(!check("model.1", "other"));
        assert!(!check("data", "model.1"));
    }

    #[test]
    fn one_file_is_one_file_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("data"), "1").unwrap();
        fs::write(at("sub/text"), "1").unwrap();
        symlink(at("data"), at("link")).unwrap();
        symlink("link", at("chain")).unwrap();
        symlink("new", at("dangling")).unwrap();
        symlink("round", at("round")).unwrap();
        fs::hard_link(at("data"), at("hard")).unwrap();
        for name in ["data", "link", "chain", "hard", "sub/../data"] {
            assert!(refused(&[&at("data")], &[&at(name)]), "{name}");
            assert!(refused(&[&at(name)], &[&at("data")]), "{name}");
            assert!(refused(&[], &[&at("data"), &at(name)]), "{name}");
            assert!(!refused(&[&at(name)], &[&at("new")]), "{name}");
        }
        // Of files that are not there yet.
        assert!(refused(&[], &[&at("new"), &at("sub/../new")]));
        assert!(refused(&[], &[&at("new"), &at("dangling")]));
        assert!(!refused(&[], &[&at("new"), &at("newer"), &at("none/new")]));
        // What a link leads to is not what was named.
        for name in ["link", "chain", "dangling", "round"] {
            assert!(refused(&[], &[&at(name)]), "{name}");
        }
        // A folder that is read has files that are read.
        assert!(refused(&[&at("sub")], &[&at("sub/text")]));
        assert!(!refused(&[&at("sub")], &[&at("sub/new")]));
        // What holds nothing can be used as often as one likes.
        let null = Path::new("/dev/null");
        assert!(!refused(&[null, Path::new("-")], &[null, null, Path::new("-"), Path::new("-")]));
    }
}
