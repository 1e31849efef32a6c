//! The playground: a page and its engine, from the program itself. Whatever it is shown stays in the browser, so all
//! that is served are a few files.

use crate::config::Limits;
use crate::connections;
use crate::metrics::Metrics;
use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// How often the server asks whether to stop.
const ASK: Duration = Duration::from_millis(50);

/// The files of `site/` beside the sources: where they are found, what they are, and what is in them.
pub const FILES: &[(&str, &str, &[u8])] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("../site/index.html")),
    ("/index.html", "text/html; charset=utf-8", include_bytes!("../site/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_bytes!("../site/style.css")),
    ("/app.js", "text/javascript; charset=utf-8", include_bytes!("../site/app.js")),
    ("/desk.js", "text/javascript; charset=utf-8", include_bytes!("../site/desk.js")),
    ("/draw.js", "text/javascript; charset=utf-8", include_bytes!("../site/draw.js")),
    ("/engine.js", "text/javascript; charset=utf-8", include_bytes!("../site/engine.js")),
    ("/learners.js", "text/javascript; charset=utf-8", include_bytes!("../site/learners.js")),
    ("/lessons.js", "text/javascript; charset=utf-8", include_bytes!("../site/lessons.js")),
    ("/panels.js", "text/javascript; charset=utf-8", include_bytes!("../site/panels.js")),
    ("/rows.js", "text/javascript; charset=utf-8", include_bytes!("../site/rows.js")),
    ("/run.js", "text/javascript; charset=utf-8", include_bytes!("../site/run.js")),
    ("/state.js", "text/javascript; charset=utf-8", include_bytes!("../site/state.js")),
    ("/words.js", "text/javascript; charset=utf-8", include_bytes!("../site/words.js")),
    ("/rosenblatt.wasm.gz", "application/octet-stream", include_bytes!("../site/rosenblatt.wasm.gz")),
];

/// Where the table is found that the page is to open.
const TABLE: &str = "/table";

/// A server of the playground that listens.
pub struct Playground {
    runtime: Runtime,
    listener: TcpListener,
    table: Option<Vec<u8>>,
}

impl Playground {
    /// Listens, with a table for the page to open if there is one; it does not answer yet.
    pub fn open(address: SocketAddr, table: Option<Vec<u8>>) -> io::Result<Self> {
        let runtime = crate::runtime(1)?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(|error| {
            io::Error::new(error.kind(), format!("{address} cannot be listened on: {error}"))
        })?;
        Ok(Self { runtime, listener, table })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `asked` says to stop.
    pub fn run(self, asked: impl Fn() -> bool) {
        let Self { runtime, listener, table } = self;
        runtime.block_on(async {
            let (stop, stopped) = watch::channel(false);
            let limits = Arc::new(Limits { drain: Duration::from_secs(1), ..Limits::default() });
            let metrics = Arc::new(Metrics::default());
            let table = table.map(Bytes::from);
            let router = Router::new().fallback(move |uri: Uri| future::ready(file(&uri, table.as_ref())));
            let listening =
                tokio::spawn(connections::listen(listener, None, router, limits, metrics, stopped));
            while !asked() {
                tokio::time::sleep(ASK).await;
            }
            let _ = stop.send(true);
            let _ = listening.await;
        });
        runtime.shutdown_timeout(ASK);
    }
}

fn file(uri: &Uri, table: Option<&Bytes>) -> Response {
    let found = FILES.iter().find(|(path, _, _)| *path == uri.path());
    let (kind, bytes) = match (found, table) {
        (Some((_, kind, bytes)), _) => (*kind, Bytes::from_static(bytes)),
        (None, Some(table)) if uri.path() == TABLE => ("application/octet-stream", table.clone()),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // A newer program has newer files.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, bytes).into_response()
}
