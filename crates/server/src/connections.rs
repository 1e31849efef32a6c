//! Connections: a limited number at a time, each cut off once its client lets it wait too long, all drained
//! in the end.

use crate::config::Limits;
use crate::metrics::Metrics;
use crate::tls::Tls;
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, Request, Version, header};
use hyper::body::{Frame, Incoming, SizeHint};
#[cfg(not(feature = "tls"))]
use hyper::server::conn::http1::Builder;
#[cfg(feature = "tls")]
use hyper_util::rt::TokioExecutor;
use hyper_util::rt::{TokioIo, TokioTimer};
#[cfg(feature = "tls")]
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// The most bytes of a head.
const HEAD_BYTES: usize = 64 << 10;
/// The most headers.
const HEADERS: usize = 100;
/// How long nothing is accepted once the system has no more to give.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a client may be silent once it has its last answer: who still sends a refused body would otherwise be
/// reset in the middle of it, and lose the answer that says why.
const LINGER: Duration = Duration::from_secs(1);

/// A stream that gives up when nothing moves: neither a byte read, nor one written that waits.
struct Patient<S> {
    stream: S,
    timeout: Duration,
    idle: Duration,
    /// Runs while a read or a write waits.
    reading: Pin<Box<Sleep>>,
    writing: Pin<Box<Sleep>>,
    read_waits: bool,
    write_waits: bool,
    /// The last answer is out: when the rest of what the client sends is no longer awaited.
    closed_by: Option<Instant>,
    /// As much of that rest as is read, to be thrown away.
    rest_bytes: usize,
    /// Whether what moved last was an answer, so that the client owes nothing.
    is_answered: Arc<AtomicBool>,
    metrics: Arc<Metrics>,
}

impl<S> Patient<S> {
    fn new(stream: S, limits: &Limits, metrics: Arc<Metrics>) -> Self {
        Self {
            stream,
            timeout: limits.timeout,
            idle: limits.idle,
            reading: Box::pin(sleep(limits.idle)),
            writing: Box::pin(sleep(limits.timeout)),
            read_waits: false,
            write_waits: false,
            closed_by: None,
            rest_bytes: limits.body_bytes,
            is_answered: Arc::default(),
            metrics,
        }
    }

    fn wrote(&self, outcome: &Poll<io::Result<usize>>) {
        if matches!(outcome, Poll::Ready(Ok(_))) {
            self.is_answered.store(true, Ordering::Relaxed);
        }
    }

    /// What a write that waits comes to.
    fn stalled<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.write_waits = false;
            return outcome;
        }
        if !self.write_waits {
            self.write_waits = true;
            let until = Instant::now() + self.timeout;
            self.writing.as_mut().reset(until);
        }
        if self.writing.as_mut().poll(cx).is_ready() {
            self.metrics.cut_off();
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = into.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, into);
        if outcome.is_ready() {
            self.read_waits = false;
            if into.filled().len() > n_before {
                self.is_answered.store(false, Ordering::Relaxed);
            }
            return outcome;
        }
        if !self.read_waits {
            self.read_waits = true;
            let until = Instant::now() + self.idle;
            self.reading.as_mut().reset(until);
        }
        if self.reading.as_mut().poll(cx).is_ready() {
            if !self.is_answered.load(Ordering::Relaxed) {
                self.metrics.cut_off();
            }
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> Patient<S> {
    /// Reads what a client still sends, until it has heard that the connection ends.
    fn linger(&mut self, cx: &mut Context<'_>, closed_by: Instant) -> Poll<()> {
        let mut waste = [0; 8 << 10];
        loop {
            let mut into = ReadBuf::new(&mut waste);
            match Pin::new(&mut self.stream).poll_read(cx, &mut into) {
                Poll::Ready(Ok(()))
                    if !into.filled().is_empty() && into.filled().len() <= self.rest_bytes =>
                {
                    self.rest_bytes -= into.filled().len();
                    let until = closed_by.min(Instant::now() + LINGER);
                    self.reading.as_mut().reset(until);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.reading.as_mut().poll(cx),
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(&outcome);
        self.stalled(cx, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        self.stalled(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed_by = if let Some(closed_by) = self.closed_by {
            closed_by
        } else {
            let outcome = Pin::new(&mut self.stream).poll_shutdown(cx);
            if !matches!(outcome, Poll::Ready(Ok(()))) {
                return self.stalled(cx, outcome);
            }
            let now = Instant::now();
            let closed_by = now + self.timeout;
            self.reading.as_mut().reset(closed_by.min(now + LINGER));
            *self.closed_by.insert(closed_by)
        };
        self.linger(cx, closed_by).map(Ok)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(&outcome);
        self.stalled(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// A body that notes whether it was dropped before its end. The rest of it then stands where the next request would, so the
/// connection ends, and the answer should say so: a client that reads it sends nothing more on it.
struct Watched {
    body: Incoming,
    is_over: bool,
    is_left: Arc<AtomicBool>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.is_over |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.is_over && !self.body.is_end_stream() {
            self.is_left.store(true, Ordering::Relaxed);
        }
    }
}

/// Answers connections until `stop` says so, then lets them end, for as long as that may take.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: Option<Tls>,
    router: Router,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let Ok((stream, _)) = accepted else {
            // No descriptors, most likely: those who are served must go first.
            sleep(PAUSE).await;
            continue;
        };
        // Who comes when all places are taken is turned away rather than kept waiting.
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
        let _ = stream.set_nodelay(true);
        let work = answer(
            stream,
            tls.clone(),
            router.clone(),
            Arc::clone(&limits),
            Arc::clone(&metrics),
            stop.clone(),
        );
        tokio::spawn(async move {
            work.await;
            drop(place);
        });
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = timeout(limits.drain, room.acquire_many(all)).await;
}

async fn answer(
    stream: TcpStream,
    tls: Option<Tls>,
    router: Router,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) {
    metrics.connections.fetch_add(1, Ordering::Relaxed);
    match tls {
        None => serve(Patient::new(stream, &limits, Arc::clone(&metrics)), router, &limits, &mut stop).await,
        Some(tls) => {
            // A handshake is as quick as a head.
            match timeout(limits.timeout, tls.accept(stream)).await {
                Ok(Ok(stream)) => {
                    serve(Patient::new(stream, &limits, Arc::clone(&metrics)), router, &limits, &mut stop)
                        .await;
                }
                Ok(Err(_)) => {}
                Err(_) => metrics.cut_off(),
            }
        }
    }
    metrics.connections.fetch_sub(1, Ordering::Relaxed);
}

async fn serve<S>(stream: Patient<S>, router: Router, limits: &Limits, stop: &mut watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    #[cfg(feature = "tls")]
    let (mut builder, one) = (Builder::new(TokioExecutor::new()), Builder::http1);
    #[cfg(not(feature = "tls"))]
    let (mut builder, one) = (Builder::new(), std::convert::identity);
    one(&mut builder)
        .timer(TokioTimer::new())
        .header_read_timeout(limits.timeout)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        // A client that has sent all may still want its answer.
        .half_close(true);
    #[cfg(feature = "tls")]
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.idle)
        .keep_alive_timeout(limits.timeout)
        .max_header_list_size(HEAD_BYTES as u32)
        .max_concurrent_streams(128);
    let service = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let is_left = Arc::<AtomicBool>::default();
        // HTTP/2 ends a stream, and no connection.
        let has_one_stream = request.version() < Version::HTTP_2;
        let watched = |body| Body::new(Watched { body, is_over: false, is_left: Arc::clone(&is_left) });
        let answered = hyper::service::Service::call(&service, request.map(watched));
        async move {
            let mut response = answered.await?;
            if has_one_stream && is_left.load(Ordering::Relaxed) {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let (metrics, is_answered) = (Arc::clone(&stream.metrics), Arc::clone(&stream.is_answered));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => {
            // What goes wrong on a connection is its client's affair. A head that does not come is counted, and the
            // silence after an answer is not.
            if ended.is_err_and(is_late) && !is_answered.load(Ordering::Relaxed) {
                metrics.cut_off();
            }
            return;
        }
        _ = stop.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Whether a connection ended because its client took too long for a head.
fn is_late(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> bool {
    error.into().downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout)
}
