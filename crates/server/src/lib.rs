//! Models over HTTP: predictions, and online learning that loses nothing.
//!
//! ```text
//! connections ── gate (host, token, room) ── routes ──┬── bodies ── data crate's readers ── rows
//!                                                     ├── answers ── what was published last
//!                                                     └── live: log ── flush ── learn ── publish
//! ```
//!
//! A folder of models is a registry ([`Config::folder`]); `GET /docs` of a running server lists its paths. A
//! client that predicts sees the last published version and never waits for one that learns. The server
//! acknowledges an example once it is as safe as [`Durability`] says, and the model is that of one run over
//! all examples in their order.
//!
//! Nothing here prints: a [`Server`] returns where it listens and what it could not read.

mod access;
mod answers;
#[doc(hidden)]
pub mod bodies;
mod columns;
mod config;
mod connections;
mod live;
mod log;
mod metrics;
pub mod openapi;
pub mod playground;
mod problem;
mod refusals;
mod registry;
mod routes;
#[doc(hidden)]
pub mod rows;
mod sentences;
mod state;
mod streams;
#[doc(hidden)]
pub mod tensors;
mod tls;

pub use config::{Config, Durability, Journal, Limits, Note};
pub use playground::Playground;
pub use problem::Problem;

use access::Tokens;
use metrics::Metrics;
use refusals::Refusals;
use registry::Registry;
use routes::App;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tls::Tls;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// How often the server asks whether to stop.
const ASK: Duration = Duration::from_millis(50);
/// So much of the time to end is left for the end itself.
const LAST: Duration = Duration::from_millis(250);

/// A server that listens and has taken its models in.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    tls: Option<Tls>,
    app: Arc<App>,
}

impl Server {
    /// Takes the models in and listens; it does not answer yet.
    pub fn open(config: Config) -> io::Result<Self> {
        let config = Arc::new(config);
        raise_descriptors(config.limits.connections);
        let tokens = match &config.tokens {
            None => Tokens::default(),
            Some(path) => Tokens::parse(&read(path)?)?,
        };
        let tls = config.tls.as_ref().map(|(chain, key)| Tls::open(chain, key)).transpose()?;
        let runtime = runtime(config.threads)?;
        let listener = runtime.block_on(TcpListener::bind(config.address)).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be listened on: {error}", config.address))
        })?;
        let metrics = Arc::new(Metrics::default());
        let registry = Registry::open(Arc::clone(&config), Arc::clone(&metrics))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", config.folder.display())))?;
        let app = App {
            room: Arc::new(Semaphore::new(config.limits.requests)),
            pages: Arc::new(Semaphore::new(
                config.limits.bodies_bytes.div_ceil(routes::PAGE).min(Semaphore::MAX_PERMITS),
            )),
            config,
            registry: Arc::new(registry),
            metrics,
            tokens,
            refusals: Refusals::default(),
            stopping: AtomicBool::new(false),
        };
        Ok(Self { runtime, listener, tls, app: Arc::new(app) })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The models it has taken in.
    pub fn models(&self) -> Vec<String> {
        let slots = self.app.registry.slots();
        slots.iter().filter(|slot| slot.current().is_ok()).map(|slot| slot.name.clone()).collect()
    }

    /// Answers until `asked` says to stop: then requests are let end, and what was learned is saved.
    pub fn run(self, asked: impl Fn() -> bool) {
        let Self { runtime, listener, tls, app } = self;
        runtime.block_on(async {
            let (stop, stopped) = watch::channel(false);
            let limits = Arc::new(app.config.limits.clone());
            let (router, metrics) = (routes::router(Arc::clone(&app)), Arc::clone(&app.metrics));
            let listening =
                tokio::spawn(connections::listen(listener, tls, router, limits, metrics, stopped));
            let looking = tokio::spawn(look(Arc::clone(&app)));
            while !asked() {
                tokio::time::sleep(ASK).await;
            }
            let deadline = tokio::time::Instant::now() + app.config.limits.drain.saturating_sub(LAST);
            app.stopping.store(true, Ordering::Relaxed);
            let _ = stop.send(true);
            looking.abort();
            let _ = tokio::time::timeout_at(deadline, listening).await;
            app.registry.stop(deadline).await;
        });
        runtime.shutdown_timeout(ASK);
    }
}

/// A runtime of this many threads, one per core if 0; an error where the system allows no more, of which the runtime itself
/// would panic.
pub(crate) fn runtime(n_threads: usize) -> io::Result<Runtime> {
    let n_cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let n_threads = if n_threads > 0 { n_threads } else { n_cores() };
    let mut started = Vec::new();
    // One more looks at the folder and reads large bodies.
    let outcome = (0..=n_threads).try_for_each(|_| {
        std::thread::Builder::new().spawn(std::thread::park).map(|thread| started.push(thread))
    });
    for thread in started {
        thread.thread().unpark();
        let _ = thread.join();
    }
    outcome.map_err(|error| {
        let message = format!("{} threads cannot be started: {error}; allow more of them", n_threads + 1);
        io::Error::new(error.kind(), message)
    })?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(n_threads)
        .enable_all()
        .thread_name("answers")
        .build()
}

/// Looks at the folder every so often.
async fn look(app: Arc<App>) {
    loop {
        tokio::time::sleep(app.config.reload).await;
        let registry = Arc::clone(&app.registry);
        let _ = tokio::task::spawn_blocking(move || registry.look()).await;
        app.refusals.look(&app.config.journal);
    }
}

pub(crate) fn read(path: &Path) -> io::Result<String> {
    rosenblatt::data::files::read_text(path).map_err(io::Error::other)
}

/// A connection takes a descriptor; the system allows more than it gives at first.
#[cfg(unix)]
fn raise_descriptors(connections: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 + 256;
    if limit.current.is_some_and(|now| now < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |most| wanted.min(most)));
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

#[cfg(not(unix))]
fn raise_descriptors(_: usize) {}
