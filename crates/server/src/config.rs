//! The settings of a server: where models are, who may ask, how much of everything is allowed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// When an example counts as learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once it would survive a power cut: the log was flushed to the disk.
    #[default]
    Fsync,
    /// Once it would survive the end of the process; the log is flushed every second, so a power cut may take a second.
    Interval,
    /// Once it would survive the end of the process; when the disk has it is the system's business.
    None,
}

rosenblatt::learning::named!(Durability, "durability",
    "fsync" = Self::Fsync, "survives a power cut: acknowledged when the disk has it";
    "interval" = Self::Interval, "survives the end of the process; a power cut may take the last second";
    "none" = Self::None, "survives the end of the process; the system decides when the disk has it";
);

/// How much is allowed. What is over a limit is refused, and the answer names the limit.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a body, unpacked.
    pub body_bytes: usize,
    /// Bytes of all bodies that are held at a time.
    pub bodies_bytes: usize,
    /// Rows of a body.
    pub rows: usize,
    /// Features a model may grow to.
    pub features: usize,
    /// Classes a model may grow to.
    pub classes: usize,
    /// Updates of a model that keeps all of them: hypotheses that vote, support vectors of a kernel without a budget.
    pub updates: u64,
    /// Bytes that what a model has learned may take on disk.
    pub disk_bytes: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Requests that are worked on at a time; one whose body is still on its way is not.
    pub requests: usize,
    /// How long a client may take for its headers, and between two pieces of a body or an answer.
    pub timeout: Duration,
    /// How long a connection on which nothing is asked stays open.
    pub idle: Duration,
    /// How long it may take to end once the server was asked to stop.
    pub drain: Duration,
    /// Versions of a model that are kept besides the first; older ones are removed, with what was learned on top of them.
    pub versions: usize,
    /// Idempotency keys that are remembered for each model.
    pub keys: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            bodies_bytes: 512 << 20,
            rows: 100_000,
            features: 1 << 24,
            classes: 1000,
            updates: 100_000,
            disk_bytes: 4 << 30,
            connections: 8192,
            requests: 1024,
            timeout: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            drain: Duration::from_secs(20),
            versions: 16,
            keys: 100_000,
        }
    }
}

/// A line for the operator.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// One line.
    pub text: &'a str,
    /// Whether something is wrong: damage, what was restored, what could not be learned.
    pub is_warning: bool,
}

/// Where notes for the operator go.
#[derive(Clone)]
pub struct Journal(Arc<dyn Fn(Note<'_>) + Send + Sync>);

impl Journal {
    /// Hands each note to `keep`, from any thread.
    pub fn new(keep: impl Fn(Note<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(keep))
    }

    pub(crate) fn warn(&self, text: &str) {
        (self.0)(Note { text, is_warning: true });
    }

    pub(crate) fn tell(&self, text: &str) {
        (self.0)(Note { text, is_warning: false });
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Journal")
    }
}

/// All settings of a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of models, `NAME.model` each.
    pub folder: PathBuf,
    /// Where it listens.
    pub address: SocketAddr,
    /// Names by which clients may call it, besides its address and those of this machine to itself.
    pub hosts: Vec<String>,
    /// A file of tokens; without one, every client may do anything.
    pub tokens: Option<PathBuf>,
    /// Certificate chain and private key, both PEM.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether nothing is written: no learning, no new versions.
    pub read_only: bool,
    /// Whether models take in classes that they have never seen, unless a version or a request says otherwise.
    pub grow_classes: bool,
    /// When an example counts as learned.
    pub durability: Durability,
    /// After this many examples a snapshot is taken and the log begins anew.
    pub snapshot_rows: u64,
    /// Likewise after this many bytes of the log.
    pub snapshot_log_bytes: u64,
    /// Whether logs that a snapshot covers are kept.
    pub keep_log: bool,
    /// How often the folder is looked at for files that were replaced.
    pub reload: Duration,
    /// Threads that answer; one per core if 0.
    pub threads: usize,
    /// Where notes go.
    pub journal: Journal,
    /// How much is allowed.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            folder: PathBuf::from("."),
            address: SocketAddr::from(([127, 0, 0, 1], 8080)),
            hosts: Vec::new(),
            tokens: None,
            tls: None,
            read_only: false,
            grow_classes: false,
            durability: Durability::default(),
            snapshot_rows: 200_000,
            snapshot_log_bytes: 64 << 20,
            keep_log: false,
            reload: Duration::from_secs(1),
            threads: 0,
            journal: Journal::default(),
            limits: Limits::default(),
        }
    }
}
