//! A bench to try the program on: a folder that goes away, and a way to run a line of shell in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder for one test, with the bundled data where the README has it.
pub(crate) struct Bench {
    folder: PathBuf,
}

/// What a line of shell did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What stderr says of long work, which hangs on how busy the machine is.
    pub(crate) progress: String,
}

impl Done {
    /// Everything it printed.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("rosenblatt-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let bundled = folder.join("crates/data/bundled");
        fs::create_dir_all(&bundled).unwrap();
        for entry in Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/bundled").read_dir().unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, bundled.join(path.file_name().unwrap())).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file for the program to read.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Runs a line of shell in which `rosenblatt` is the program under test.
    pub(crate) fn run(&self, line: &str) -> Done {
        let program = Path::new(env!("CARGO_BIN_EXE_rosenblatt"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let Output { status, stdout, stderr } = Command::new("sh")
            .args(["-c", line])
            .current_dir(&self.folder)
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (progress, stderr): (String, String) = {
            let all = text(stderr);
            let (progress, rest): (Vec<&str>, Vec<&str>) =
                all.split_inclusive('\n').partition(|line| line.starts_with("progress: "));
            (progress.concat(), rest.concat())
        };
        Done { code: status.code(), stdout: text(stdout), stderr, progress }
    }

    /// Runs a line that must succeed, and gives its stdout.
    pub(crate) fn ok(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code, Some(0), "{line}\n{}", done.all());
        done.stdout
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // A folder left in the temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
