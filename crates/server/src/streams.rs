//! JSON Lines in both directions: lines are answered as they come, a piece at a time, and no more is read than was
//! answered. A piece has no more rows and bytes than a request may have. An error in the middle gets a line of its own,
//! which is the last.

use crate::answers::{self, Form, Wish};
use crate::bodies::Kind;
use crate::config::Limits;
use crate::problem::{Problem, with_flags};
use crate::routes::{App, Held, Room, Sent, frame, teach};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Frame;
use serde_json::{Value, json};
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
    /// How many of these bytes were given out.
    given: usize,
    room: Room,
    /// Lines given out so far.
    n_before: u64,
    is_over: bool,
}

impl Lines {
    fn new(app: &App, body: Body) -> Self {
        Self { body, waiting: Vec::new(), given: 0, room: Room::new(app), n_before: 0, is_over: false }
    }

    /// The lines that have come since, and how many there were before them; nothing at the end.
    async fn next(&mut self, app: &App) -> Result<Option<(Vec<u8>, u64)>, Problem> {
        let limits = &app.config.limits;
        loop {
            let left = &self.waiting[self.given..];
            let end = piece(left, self.is_over, limits);
            if end > limits.body_bytes {
                let message = format!(
                    "line {} is longer than a body may be, {} bytes",
                    self.n_before + 1,
                    limits.body_bytes
                );
                let help = with_flags(&"start the server with a higher {max-body}".into());
                return Err(Problem::new("too-large", message).with_help(help));
            }
            if end > 0 {
                let lines = left[..end].to_vec();
                self.given += end;
                let before = self.n_before;
                self.n_before += lines.split(|byte| *byte == b'\n').count() as u64 - 1;
                if lines.trim_ascii().is_empty() {
                    continue;
                }
                return Ok(Some((lines, before)));
            }
            if self.is_over {
                return Ok(None);
            }
            self.waiting.drain(..self.given);
            self.given = 0;
            match frame(app, &mut self.body).await? {
                Some(bytes) => self.waiting.extend_from_slice(&bytes),
                None => self.is_over = true,
            }
            self.room.hold(self.waiting.len())?;
        }
    }
}

/// The length of the lines with which `left` begins, as many as a request may have; more bytes than a body may have only if
/// the first alone, or as much of it as has come, is longer.
fn piece(left: &[u8], is_over: bool, limits: &Limits) -> usize {
    let mut end = 0;
    for _ in 0..limits.rows.max(1) {
        let rest = &left[end..];
        let is_too_long = end == 0 && rest.len() > limits.body_bytes;
        let length = match rest.iter().position(|byte| *byte == b'\n') {
            Some(place) => place + 1,
            None if is_over || is_too_long => rest.len(),
            None => break,
        };
        if end > 0 && end + length > limits.body_bytes {
            break;
        }
        end += length;
    }
    end
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
                Err(problem) => {
                    app.refused(if wish.explain.is_some() { "explain" } else { "predict" }, &name, &problem);
                    (last_line(&problem), true)
                }
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

/// A receipt for every piece that was learned from. If the first is refused, nothing was learned, and the request is refused
/// like any other.
pub(crate) async fn lessons(
    app: Arc<App>,
    name: String,
    body: Body,
    grow: Option<bool>,
) -> Result<Response, Problem> {
    let mut lines = Lines::new(&app, body);
    let mut next = Ok(next_lesson(&app, &name, &mut lines, grow).await?);
    let (send, pieces) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut n_learned = 0;
        loop {
            let (piece, is_last) = match next {
                Ok(None) => return,
                Ok(Some((receipt, n_rows))) => {
                    n_learned += n_rows;
                    (Bytes::from(format!("{receipt}\n")), false)
                }
                Err(problem) => {
                    app.refused("learn", &name, &problem);
                    (last_line(&problem), true)
                }
            };
            if send.send(piece).await.is_err() || is_last {
                return;
            }
            let n_lines = lines.n_before;
            let learned = next_lesson(&app, &name, &mut lines, grow).await;
            next = learned.map_err(|problem: Problem| problem.amid(n_learned, n_lines + 1));
        }
    });
    Ok(streamed(pieces))
}

/// Has the lines learned that have come since; nothing at the end.
async fn next_lesson(
    app: &Arc<App>,
    name: &str,
    lines: &mut Lines,
    grow: Option<bool>,
) -> Result<Option<(Value, u64)>, Problem> {
    let Some((bytes, before)) = lines.next(app).await? else { return Ok(None) };
    let learned = lesson(app, name, bytes, grow).await.map_err(|problem| problem.behind(before));
    learned.map(Some)
}

async fn lesson(
    app: &Arc<App>,
    name: &str,
    bytes: Vec<u8>,
    grow: Option<bool>,
) -> Result<(Value, u64), Problem> {
    let bytes = Arc::new(Held::piece(bytes));
    teach(app, &Sent { name, kind: Kind::JsonLines, bytes, key: String::new(), grow }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_no_more_than_a_request_may_have() {
        let limits = Limits { rows: 3, body_bytes: 8, ..Limits::default() };
        for (left, is_over, expected) in [
            ("", false, 0),
            ("", true, 0),
            ("1\n2\n3\n4\n", false, 6),
            ("1\n2\n3", false, 4),
            ("1\n2\n3", true, 5),
            ("123\n567\n9\n", false, 8),
            ("123\n5678\n", false, 4),
            ("1234567\n", false, 8),
            ("12345678\n", false, 9),
            ("12345678", false, 0),
            ("12345678", true, 8),
            ("123456789", false, 9),
            ("1\n123456789", false, 2),
        ] {
            assert_eq!(piece(left.as_bytes(), is_over, &limits), expected, "{left:?}");
        }
    }
}
