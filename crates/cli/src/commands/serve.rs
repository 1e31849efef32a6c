//! `rosenblatt serve FOLDER`: models over HTTP, for predictions and for learning. The server is a crate of its own;
//! here words become its settings, and signals its end.

use crate::choices::choice;
use crate::failure::Failure;
use crate::signals;
use crate::ui;
use rosenblatt::recipe::Choice;
use rosenblatt::{Options, Recipe};
use rosenblatt_data::bundled;
use rosenblatt_server::{Config, Durability, Journal, Limits, Server};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "A file NAME.model in the folder is the model NAME; replacing it makes a new
version. NAME.serve beside it keeps what the model learns. The server
acknowledges an example once it is as safe as --durability says. The model is
that of `train --online --start-from NAME.model --grow-classes` on the same
rows, to the bit. The server refuses a new class unless --grow-classes, the
version or the request (?grow-classes) accepts it.

Examples:
  rosenblatt serve
  curl localhost:8080/v1/models
  curl localhost:8080/v1/models/sms/predict -H 'content-type: text/plain' \\
    -d 'WIN a FREE prize'
  curl localhost:8080/v1/models/sms/learn -H 'content-type: application/json' \\
    -d '{\"rows\": [\"free money\"], \"labels\": [\"spam\"]}'
  rosenblatt serve models --read-only --address 0.0.0.0:443 \\
    --tls-cert chain.pem --tls-key key.pem --tokens tokens.txt")]
pub(crate) struct Args {
    /// Folder of models [default: `models`; if it is missing, it is created with a spam filter in it]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Listen here, HOST:PORT. A port alone listens on loopback; port 0 picks a free one
    #[arg(long, alias = "listen", value_name = "ADDRESS", value_parser = address, default_value_t = Config::default().address)]
    address: SocketAddr,
    /// Listen on this port of the loopback interface
    #[arg(long, value_name = "N", conflicts_with = "address")]
    port: Option<u16>,
    /// Answer requests for this host, too (may be repeated) [default: this machine's own names and the address]
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Require a token from this file. Its lines are `TOKEN predict,learn,admin`, or `sha256:DIGITS` instead of the
    /// token [default: every client may do everything]
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Speak TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Write nothing: no learning, no new versions
    #[arg(long)]
    read_only: bool,
    /// Accept new classes, unless a version or a request says otherwise [default: a new class is refused]
    #[arg(long)]
    grow_classes: bool,
    /// How safe an example is before it is acknowledged
    #[arg(long, value_name = "NAME", value_parser = choice::<Durability>(), default_value_t)]
    durability: Durability,
    /// Take a snapshot of a model after every N examples; its log then begins anew
    #[arg(long, value_name = "N", default_value_t = Config::default().snapshot_rows)]
    snapshot_rows: u64,
    /// Also take a snapshot when the log reaches this size: a start reads no more than that
    #[arg(long, value_name = "SIZE", value_parser = rosenblatt::settings::bytes, default_value = "64MiB")]
    snapshot_log: u64,
    /// Keep logs that a snapshot covers
    #[arg(long)]
    keep_log: bool,
    /// Refuse bodies larger than this, unpacked
    #[arg(long, value_name = "SIZE", value_parser = rosenblatt::settings::bytes, default_value = "32MiB")]
    max_body: u64,
    /// Hold at most this much of all bodies in memory at a time
    #[arg(long, value_name = "SIZE", value_parser = rosenblatt::settings::bytes, default_value = "512MiB")]
    max_bodies: u64,
    /// Maximum number of rows in a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().rows)]
    max_rows: usize,
    /// Maximum number of features
    #[arg(long, value_name = "N", default_value_t = Limits::default().features)]
    max_features: usize,
    /// Maximum number of classes
    #[arg(long, value_name = "N", default_value_t = Limits::default().classes)]
    max_classes: usize,
    /// Maximum number of updates, for models that keep them all (votes, a kernel without a budget)
    #[arg(long, value_name = "N", default_value_t = Limits::default().updates)]
    max_updates: u64,
    /// Maximum disk space for what a model has learned
    #[arg(long, value_name = "SIZE", value_parser = rosenblatt::settings::bytes, default_value = "4GiB")]
    max_disk: u64,
    /// Maximum number of connections at a time
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Maximum number of requests at a time
    #[arg(long, value_name = "N", default_value_t = Limits::default().requests)]
    max_requests: usize,
    /// Maximum number of versions of a model besides the first, which stays; the oldest go
    #[arg(long, value_name = "N", default_value_t = Limits::default().versions)]
    max_versions: usize,
    /// Disconnect clients that keep the server waiting for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().timeout.as_secs())]
    timeout: u64,
    /// On shutdown, let requests finish within this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().drain.as_secs())]
    drain: u64,
    /// Number of threads that answer; 0 is one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => first_models(args.read_only)?,
    };
    check_folder(&folder)?;
    signals::be_careful();
    let server = Server::open(args.config(folder)).map_err(|error| Failure::Work(error.to_string()))?;
    if !ui::is_quiet() {
        let address = server.address()?;
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        let models = server.models();
        let named = if models.is_empty() { "no models".to_owned() } else { models.join(", ") };
        ui::print(&format!("serving {named} at {scheme}://{address}, see {scheme}://{address}/docs\n"))?;
        if args.tokens.is_none() && !address.ip().is_loopback() {
            ui::note(
                "warning: every client that reaches this address may do everything; restrict it with --tokens",
            );
        }
    }
    server.run(|| signals::asked().is_some());
    // To be asked to stop is how a server ends; it reports that all went well.
    match signals::answer("what was learned is saved") {
        Err(Failure::Stopped(_, done)) => ui::note(&done),
        other => other?,
    }
    Ok(())
}

/// Where to listen: `HOST:PORT`, a host, `:PORT` or a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let usual = Config::default().address;
    let bare = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = bare.parse() {
        return Ok(SocketAddr::new(usual.ip(), port));
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse() {
        return Ok(SocketAddr::new(ip, usual.port()));
    }
    let named = if text.contains(':') { text.to_owned() } else { format!("{text}:{}", usual.port()) };
    let found: Vec<SocketAddr> = named.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    // Of a name's addresses the one that everybody has is taken.
    found.iter().find(|address| address.is_ipv4()).or(found.first()).copied().ok_or_else(|| {
        "it should be HOST:PORT, HOST or PORT of this machine, for instance localhost:8080 or 0.0.0.0:443"
            .to_owned()
    })
}

/// Says what to do about a folder that is none.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    if folder.is_file() {
        let parent =
            folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let message = format!(
            "{name} is a file, and a folder of models is served; serve the one that it is in: `rosenblatt serve {}`",
            parent.display()
        );
        return Err(Failure::Work(message));
    }
    if folder.exists() {
        return Ok(());
    }
    let message = format!(
        "there is no folder {name}; make it and put models into it: `mkdir {name}`, then `rosenblatt train ROWS --model {}`",
        folder.join("NAME.model").display()
    );
    Err(Failure::Work(message))
}

/// The folder of those who have none yet: with a model in it that goes on learning.
fn first_models(read_only: bool) -> Result<PathBuf, Failure> {
    let folder = PathBuf::from("models");
    if folder.exists() {
        return Ok(folder);
    }
    if read_only {
        let message = "there is no folder `models` here, and `--read-only` makes none; \
                       name a folder of models, or start once without `--read-only`";
        return Err(Failure::Work(message.to_owned()));
    }
    let learning = Options { algorithm: "perceptron".to_owned(), ..Options::default() };
    let recipe = Recipe { learning: learning.into(), choice: Choice::Given, ..Recipe::default() };
    let trained = recipe.train(&bundled::sms_spam(), &mut ())?;
    std::fs::create_dir(&folder)?;
    trained.model.save(folder.join("sms.model"))?;
    ui::note("models/sms.model: a spam filter of 5,574 real text messages");
    Ok(folder)
}

impl Args {
    fn config(&self, folder: PathBuf) -> Config {
        let defaults = Limits::default();
        let limits = Limits {
            body_bytes: usize::try_from(self.max_body).unwrap_or(usize::MAX),
            bodies_bytes: usize::try_from(self.max_bodies).unwrap_or(usize::MAX),
            rows: self.max_rows,
            features: self.max_features,
            classes: self.max_classes,
            updates: self.max_updates,
            disk_bytes: self.max_disk,
            connections: self.max_connections.clamp(1, 1 << 20),
            requests: self.max_requests.clamp(1, 1 << 20),
            versions: self.max_versions,
            timeout: Duration::from_secs(self.timeout.max(1)),
            drain: Duration::from_secs(self.drain),
            ..defaults
        };
        Config {
            folder,
            address: self
                .port
                .map_or(self.address, |port| SocketAddr::new(Config::default().address.ip(), port)),
            hosts: self.hosts.clone(),
            tokens: self.tokens.clone(),
            tls: self.tls_cert.clone().zip(self.tls_key.clone()),
            read_only: self.read_only,
            grow_classes: self.grow_classes,
            journal: Journal::new(|note| {
                if note.is_warning {
                    ui::warn(&format!("warning: {}", note.text));
                } else {
                    ui::note(note.text);
                }
            }),
            durability: self.durability,
            snapshot_rows: self.snapshot_rows.max(1),
            snapshot_log_bytes: self.snapshot_log,
            keep_log: self.keep_log,
            threads: self.threads,
            limits,
            ..Config::default()
        }
    }
}
