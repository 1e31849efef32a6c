//! JSON Lines in both directions: lines are answered as they come, a piece at a time, and no more is read than was
//! answered. An error in the middle gets a line of its own, which is the last.

use crate::answers::{self, Form, Wish};
use crate::bodies::Kind;
use crate::problem::Problem;
use crate::routes::{App, Held, Room, Sent, frame, receipt_json, teach};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Frame;
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// How many answers may wait for a client to read them.
const AHEAD: usize = 2;

/// An answer that is still being made.
struct Pieces(mpsc::Receiver<Bytes>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Whole lines of a body, as they come.
struct Lines {
    body: Body,
    waiting: Vec<u8>,
    room: Room,
    /// Lines given out so far.
    n_before: u64,
    is_over: bool,
}

impl Lines {
    fn new(app: &App, body: Body) -> Self {
        Self { body, waiting: Vec::new(), room: Room::new(app), n_before: 0, is_over: false }
    }

    /// The lines that have come since, and how many there were before them; nothing at the end.
    async fn next(&mut self, app: &App) -> Result<Option<(Vec<u8>, u64)>, Problem> {
        while !self.is_over {
            match frame(app, &mut self.body).await? {
                Some(bytes) => self.waiting.extend_from_slice(&bytes),
                None => self.is_over = true,
            }
            if self.waiting.len() > app.config.limits.body_bytes {
                return Err(Problem::new("too-large", "a line is longer than a body may be"));
            }
            self.room.hold(self.waiting.len())?;
            let end = self.waiting.iter().rposition(|byte| *byte == b'\n').map(|place| place + 1);
            let end = if self.is_over { Some(self.waiting.len()) } else { end };
            let Some(end) = end.filter(|end| *end > 0) else { continue };
            let rest = self.waiting.split_off(end);
            let lines = std::mem::replace(&mut self.waiting, rest);
            let before = self.n_before;
            self.n_before += lines.split(|byte| *byte == b'\n').count() as u64 - 1;
            if !lines.trim_ascii().is_empty() {
                return Ok(Some((lines, before)));
            }
        }
        Ok(None)
    }
}

fn streamed(pieces: mpsc::Receiver<Bytes>) -> Response {
    let mut response = Response::new(Body::new(Pieces(pieces)));
    let kind = HeaderValue::from_static(Form::JsonLines.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn last_line(problem: &Problem) -> Bytes {
    Bytes::from(format!("{}\n", json!({ "problem": problem.to_json() })))
}

/// A class for every line.
pub(crate) fn predictions(app: Arc<App>, name: String, body: Body, wish: Wish) -> Response {
    let (send, pieces) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut lines = Lines::new(&app, body);
        loop {
            let answered = match lines.next(&app).await {
                Ok(None) => return,
                Ok(Some((bytes, before))) => {
                    answer(&app, &name, &bytes, wish).map_err(|problem| problem.behind(before))
                }
                Err(problem) => Err(problem),
            };
            let (piece, is_last) = match answered {
                Ok(piece) => (Bytes::from(piece), false),
                Err(problem) => (last_line(&problem), true),
            };
            // Who no longer listens is not answered.
            if send.send(piece).await.is_err() || is_last {
                return;
            }
        }
    });
    streamed(pieces)
}

fn answer(app: &App, name: &str, bytes: &[u8], wish: Wish) -> Result<Vec<u8>, Problem> {
    let version = app.registry.current(name)?;
    let published = version.published();
    let (body, form) = ((Kind::JsonLines, bytes), (Form::JsonLines, ""));
    let (written, n_rows) = answers::answered(&version, &published, body, wish, form, &app.config.limits)?;
    app.metrics.rows_predicted.fetch_add(n_rows, Ordering::Relaxed);
    Ok(written)
}

/// A receipt for every piece that was learned from.
pub(crate) fn lessons(app: Arc<App>, name: String, body: Body, grow: Option<bool>) -> Response {
    let (send, pieces) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut lines = Lines::new(&app, body);
        loop {
            let learned = match lines.next(&app).await {
                Ok(None) => return,
                Ok(Some((bytes, before))) => {
                    lesson(&app, &name, bytes, grow).await.map_err(|problem| problem.behind(before))
                }
                Err(problem) => Err(problem),
            };
            let (piece, is_last) = match learned {
                Ok(line) => (Bytes::from(line), false),
                Err(problem) => (last_line(&problem), true),
            };
            if send.send(piece).await.is_err() || is_last {
                return;
            }
        }
    });
    streamed(pieces)
}

async fn lesson(app: &Arc<App>, name: &str, bytes: Vec<u8>, grow: Option<bool>) -> Result<String, Problem> {
    let bytes = Arc::new(Held::piece(bytes));
    let receipt = teach(app, &Sent { name, kind: Kind::JsonLines, bytes, key: String::new(), grow }).await?;
    Ok(format!("{}\n", receipt_json(name, &receipt)))
}
