//! What is asked for and what is answered. Every handler is a few lines: the registry, the bodies and the answers do
//! the work.

use crate::access::{self, Scope, Tokens};
use crate::answers::{self, Answers, Form, Wish as Asked};
use crate::bodies::{self, Kind};
use crate::config::Config;
use crate::live::{Lesson, Receipt, Wish, cut};
use crate::metrics::{Gauge, Metrics};
use crate::openapi;
use crate::problem::{Json, Problem};
use crate::refusals::Refusals;
use crate::registry::{Registry, Slot, Source, Version, is_name};
use crate::sentences;
use crate::state::Way;
use crate::streams;
use crate::tensors::{self, Inference};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use http_body_util::BodyExt;
use rosenblatt::Task;
use rosenblatt_data::closest;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

/// Bodies of more bytes than this are worked on beside the threads that answer.
const LARGE: usize = 64 << 10;
/// A body must come at this many bytes a second, once the first wait is over.
const LEAST_RATE: usize = 64 << 10;
/// Room for bodies is given in pieces of this many bytes.
pub(crate) const PAGE: usize = 64 << 10;
/// Answers of fewer bytes are not packed.
const WORTH_PACKING: usize = 1400;
/// How many reasons are listed on each side, if the query does not say.
const N_REASONS: usize = 5;
/// The longest idempotency key.
const KEY_BYTES: usize = 200;

/// Everything a handler needs.
pub(crate) struct App {
    pub(crate) config: Arc<Config>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tokens: Tokens,
    /// Places for requests that are worked on.
    pub(crate) room: Arc<Semaphore>,
    /// Bytes that bodies may still take, in pages.
    pub(crate) pages: Arc<Semaphore>,
    pub(crate) refusals: Refusals,
    pub(crate) stopping: AtomicBool,
}

impl App {
    /// Counts a refusal, and notes it. Only names of models that are there are noted.
    pub(crate) fn refused(&self, deed: &'static str, name: &str, problem: &Problem) {
        self.metrics.refused(deed, problem.code());
        let model = if self.registry.find(name).is_ok() { name } else { "" };
        self.refusals.note(&self.config.journal, deed, model, problem);
    }
}

type Shared = State<Arc<App>>;
type Answer = Result<Response, Problem>;

/// What a route takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Rows,
    LabelledRows,
    ModelFile,
    Making,
    Inference,
}

/// What a route answers with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Json,
    Text,
    Page,
    Predictions,
    Explanations,
    Receipt,
    Versions,
    ModelFile,
    /// The number of a version that did not exist before.
    NewVersion,
}

/// A word that the query of a route may hold.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    /// Its type, as JSON Schema names it.
    pub(crate) kind: &'static str,
    pub(crate) default: Option<u64>,
    pub(crate) meaning: &'static str,
}

impl Word {
    const fn switch(name: &'static str, meaning: &'static str) -> Self {
        Self { name, kind: "boolean", default: None, meaning }
    }
}

const PROBABILITIES: Word = Word::switch("probabilities", "add the probability of every class");
const SCORES: Word = Word::switch("scores", "add the scores");
const GROW_CLASSES: Word = Word::switch(
    "grow-classes",
    "take in classes that the model has never seen; they are refused otherwise, unless the version or the server was set to \
     take them in",
);
const TOP: Word = Word {
    name: "top",
    kind: "integer",
    default: Some(N_REASONS as u64),
    meaning: "how many features to list for the class and against it",
};

/// One thing that a client can ask for.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    filter: MethodFilter,
    pub(crate) path: &'static str,
    /// What it counts as.
    deed: &'static str,
    /// The scope that a token needs; anyone may ask if there is none.
    pub(crate) scope: Option<Scope>,
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    /// What its query may hold; any other word is refused.
    pub(crate) words: &'static [Word],
    pub(crate) summary: &'static str,
    handler: fn(MethodFilter) -> MethodRouter<Arc<App>>,
}

const OPEN: Option<Scope> = None;
const PREDICT: Option<Scope> = Some(Scope::Predict);
const LEARN: Option<Scope> = Some(Scope::Learn);
const ADMIN: Option<Scope> = Some(Scope::Admin);

macro_rules! routes {
    ($($method:ident $path:literal $deed:literal $scope:ident $takes:ident $gives:ident [$($word:ident)*] $handler:ident $summary:literal)*) => {
        &[$(Route {
            method: stringify!($method),
            filter: MethodFilter::$method,
            path: $path,
            deed: $deed,
            scope: $scope,
            takes: Takes::$takes,
            gives: Gives::$gives,
            words: &[$($word),*],
            summary: $summary,
            handler: |filter| on(filter, $handler),
        }),*]
    };
}

/// Every route: the router, the scopes, the words of queries, the counts, the description and the page are made from this
/// table. HEAD is GET.
#[rustfmt::skip]
pub(crate) const ROUTES: &[Route] = routes! {
    GET "/healthz" "other" OPEN Nothing Text [] alive "Whether the process answers"
    GET "/readyz" "other" OPEN Nothing Json [] ready "Whether every model can be served"
    GET "/metrics" "other" PREDICT Nothing Text [] metrics "Counts, in Prometheus' words"
    GET "/openapi.json" "other" OPEN Nothing Json [] description "This description"
    GET "/docs" "other" OPEN Nothing Page [] page "The documentation, as a page"
    GET "/v1/models" "other" PREDICT Nothing Json [] list "All models"
    GET "/v1/models/{name}" "other" PREDICT Nothing Json [] describe "What a model is"
    PUT "/v1/models/{name}" "admin" ADMIN ModelFile NewVersion [] put "Save a model file, as a new model or a new version"
    POST "/v1/models/{name}/predict" "predict" PREDICT Rows Predictions [PROBABILITIES SCORES] predict "A class or a number for every row"
    POST "/v1/models/{name}/explain" "explain" PREDICT Rows Explanations [PROBABILITIES SCORES TOP] explain "The features that speak for and against"
    POST "/v1/models/{name}/learn" "learn" LEARN LabelledRows Receipt [GROW_CLASSES] learn "Learn from rows with labels"
    GET "/v1/models/{name}/evaluate" "evaluate" PREDICT Nothing Json [] progress "The progressive error of what was learned"
    POST "/v1/models/{name}/evaluate" "evaluate" PREDICT LabelledRows Json [] evaluate "The error on rows with labels"
    GET "/v1/models/{name}/file" "admin" ADMIN Nothing ModelFile [] file "The model file, with all that was learned"
    GET "/v1/models/{name}/versions" "other" PREDICT Nothing Versions [] versions "All versions that are kept"
    POST "/v1/models/{name}/versions" "admin" ADMIN Making NewVersion [] new_version "A new version of what was learned, or of an older one"
    GET "/v1/models/{name}/versions/{version}/file" "admin" ADMIN Nothing ModelFile [] version_file "The model file of a version"
    GET "/v2" "other" OPEN Nothing Json [] server_metadata "The server, as the Open Inference Protocol has it"
    GET "/v2/health/live" "other" OPEN Nothing Json [] live "Whether the process answers"
    GET "/v2/health/ready" "other" OPEN Nothing Json [] ready "Whether every model can be served"
    GET "/v2/models/{name}" "other" PREDICT Nothing Json [] metadata "Inputs and outputs of a model"
    GET "/v2/models/{name}/ready" "other" PREDICT Nothing Json [] model_ready "Whether a model can be served"
    POST "/v2/models/{name}/infer" "infer" PREDICT Inference Json [] infer "A class or a number for every row, by tensors"
    GET "/v2/models/{name}/versions/{version}" "other" PREDICT Nothing Json [] metadata "Inputs and outputs of the version served"
    GET "/v2/models/{name}/versions/{version}/ready" "other" PREDICT Nothing Json [] model_ready "Whether a version is served"
    POST "/v2/models/{name}/versions/{version}/infer" "infer" PREDICT Inference Json [] infer "The same, of the version served"
};

/// Routes that answer while the server is being stopped.
const LIVENESS: [&str; 2] = ["/healthz", "/v2/health/live"];

/// Answers by the table. What is wrapped around a handler is decided by its own line, so that no request is routed by one
/// rule and admitted by another.
pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let app = Arc::clone(&app);
        let gate = middleware::from_fn(move |request: Request, next: Next| {
            guarded(Arc::clone(&app), Some(route), request, |request| next.run(request))
        });
        router = router.route(route.path, (route.handler)(route.filter).route_layer(gate));
    }
    let refuse = |problem: fn() -> Problem| {
        move |State(app): Shared, request: Request| {
            guarded(app, None, request, move |_| async move { problem().into_response() })
        }
    };
    router
        .fallback(refuse(|| Problem::new("no-route", "there is nothing at this path").with_help("see /docs")))
        .method_not_allowed_fallback(refuse(|| {
            Problem::new("wrong-method", "this path takes another method").with_help("see /docs")
        }))
        .with_state(app)
}

/// Refuses what a token does not allow, counts the rest, and lets a panic end one request only.
async fn guarded<F: Future<Output = Response>>(
    app: Arc<App>,
    route: Option<&'static Route>,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let began = Instant::now();
    let (deed, scope) = route.map_or(("other", PREDICT), |route| (route.deed, route.scope));
    let is_alive = route.is_some_and(|route| LIVENESS.contains(&route.path));
    let is_inference = request.uri().path().starts_with("/v2");
    let (packing, uri) = (packing(request.headers()), request.uri().clone());
    let admitted = admit(&app, &request, scope, is_alive)
        .and_then(|()| route.map_or(Ok(()), |route| check_words(route.words, request.uri())));
    let mut response = if let Err(problem) = admitted {
        problem.into_response()
    } else {
        let _counted = app.metrics.in_flight();
        caught(answer(request)).await.unwrap_or_else(|| {
            Problem::new("internal", "the request met a fault of the server").into_response()
        })
    };
    if let Some(problem) = response.extensions().get::<Problem>() {
        app.refused(deed, uri.path().split('/').nth(3).unwrap_or_default(), problem);
    }
    if is_inference && let Some(problem) = response.extensions_mut().remove::<Problem>() {
        *response.body_mut() = Body::from(problem.to_inference_json().to_string());
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    let headers = response.headers_mut();
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    app.metrics.answered(deed, response.status().as_u16(), began.elapsed());
    packed(response, packing).await
}

/// What comes of `work`; nothing if it panics.
async fn caught<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        polled.map_or(Poll::Ready(None), |polled| polled.map(Some))
    })
    .await
}

fn admit(app: &App, request: &Request, scope: Option<Scope>, is_alive: bool) -> Result<(), Problem> {
    if app.stopping.load(Ordering::Relaxed) && !is_alive {
        return Err(Problem::new("stopping", "the server is being stopped"));
    }
    access::check_host(&app.config, request.uri(), request.headers())?;
    scope.map_or(Ok(()), |scope| app.tokens.check(request.headers(), scope))
}

/// How an answer may be packed.
fn packing(headers: &HeaderMap) -> Option<&'static str> {
    let accepted = headers.get(header::ACCEPT_ENCODING)?.to_str().ok()?;
    let has = |name: &str| {
        accepted.split(',').any(|one| one.split(';').next().is_some_and(|one| one.trim() == name))
    };
    ["zstd", "gzip"]
        .into_iter()
        .filter(|name| cfg!(feature = "zstd") || *name != "zstd")
        .find(|name| has(name))
}

/// The same answer, packed if that is wished and worth it. Answers that come piece by piece are not.
async fn packed(response: Response, packing: Option<&'static str>) -> Response {
    let size = axum::body::HttpBody::size_hint(response.body()).exact().unwrap_or(0);
    let Some(name) = packing.filter(|_| size >= WORTH_PACKING as u64) else { return response };
    if response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let packed = match name {
        #[cfg(feature = "zstd")]
        "zstd" => zstd::bulk::compress(&bytes, 1).ok(),
        _ => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&bytes).and_then(|()| encoder.finish()).ok()
        }
    };
    let Some(packed) = packed else { return Response::from_parts(parts, Body::from(bytes)) };
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    parts.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(packed))
}

/// A part of a body, or the reason why it does not come.
pub(crate) async fn frame(app: &App, body: &mut Body) -> Result<Option<Bytes>, Problem> {
    loop {
        let slow = |_| {
            app.metrics.cut_off();
            Problem::new("slow", "the body did not come in time")
        };
        return match timeout(app.config.limits.timeout, body.frame()).await.map_err(slow)? {
            None => Ok(None),
            Some(Err(_)) => Err(Problem::new("bad-body", "the body was not whole")),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(bytes) => Ok(Some(bytes)),
                Err(_) => continue,
            },
        };
    }
}

/// What a client's bytes take of the room for all bodies.
pub(crate) struct Room {
    all: Arc<Semaphore>,
    taken: Option<OwnedSemaphorePermit>,
}

impl Room {
    pub(crate) fn new(app: &App) -> Self {
        Self { all: Arc::clone(&app.pages), taken: None }
    }

    /// Takes more, if `n_bytes` need more.
    pub(crate) fn hold(&mut self, n_bytes: usize) -> Result<(), Problem> {
        let missing = n_bytes
            .div_ceil(PAGE)
            .saturating_sub(self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        if missing == 0 {
            return Ok(());
        }
        let more = Arc::clone(&self.all).try_acquire_many_owned(u32::try_from(missing).unwrap_or(u32::MAX));
        let more = more.map_err(|_| Problem::new("busy", "too many bytes are on their way at a time"))?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        Ok(())
    }
}

/// A body that has come, with its room and a place among the requests that are worked on.
pub(crate) struct Held {
    bytes: Vec<u8>,
    _room: Option<Room>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// A piece of a body whose room is counted where it comes in.
    pub(crate) fn piece(bytes: Vec<u8>) -> Self {
        Self { bytes, _room: None, _place: None }
    }
}

/// The whole body, no larger and no slower than is allowed.
async fn whole(app: &App, headers: &HeaderMap, mut body: Body) -> Result<Held, Problem> {
    let limits = &app.config.limits;
    let too_large = || Problem::new("too-large", format!("a body may have {} bytes", limits.body_bytes));
    let declared =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|declared| declared > limits.body_bytes as u64) {
        return Err(too_large());
    }
    let began = Instant::now();
    let (mut bytes, mut room) = (Vec::new(), Room::new(app));
    while let Some(more) = frame(app, &mut body).await? {
        if bytes.len() + more.len() > limits.body_bytes {
            return Err(too_large());
        }
        room.hold(bytes.len() + more.len())?;
        bytes.extend_from_slice(&more);
        if began.elapsed()
            > limits.timeout + std::time::Duration::from_secs((bytes.len() / LEAST_RATE) as u64)
        {
            app.metrics.cut_off();
            return Err(Problem::new("slow", "the body came too slowly"));
        }
    }
    let encoding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let place = Arc::clone(&app.room).try_acquire_owned();
    let place = place.map_err(|_| Problem::new("busy", "too many requests at a time"))?;
    let unpacked = match bodies::unpacked(&bytes, encoding, limits)? {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(unpacked) => Some(unpacked),
    };
    let bytes = unpacked.unwrap_or(bytes);
    room.hold(bytes.len())?;
    Ok(Held { bytes, _room: Some(room), _place: Some(place) })
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn kind(headers: &HeaderMap) -> Result<Kind, Problem> {
    Kind::of(text(headers, &header::CONTENT_TYPE).unwrap_or("application/json"))
}

/// Does work beside the threads that answer, if there is much of it.
async fn work<T: Send + 'static>(
    is_large: bool,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    if !is_large {
        return work();
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Problem::new("internal", "the request met a fault of the server")))
}

/// The words of the query, each with its value. A word without one is a switch.
fn words(uri: &Uri) -> impl Iterator<Item = (&str, &str)> {
    let parts = uri.query().unwrap_or_default().split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, "true")))
}

fn switch(name: &str, value: &str) -> Result<bool, Problem> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Problem::new("bad-request", format!("`{name}` should be true or false"))),
    }
}

/// Refuses a word of the query that the route does not know: without that, a slip would change nothing in silence.
fn check_words(known: &[Word], uri: &Uri) -> Result<(), Problem> {
    let names = || known.iter().map(|word| word.name);
    let Some((unknown, _)) = words(uri).find(|(name, _)| names().all(|known| known != *name)) else {
        return Ok(());
    };
    let listed: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let listed = match listed.as_slice() {
        [] => "this path takes no query".to_owned(),
        _ => format!("this path knows {}", listed.join(", ")),
    };
    let help = match closest(unknown, names()) {
        Some(meant) => format!("did you mean `{meant}`? {listed}"),
        None => listed,
    };
    let message = format!("the query has an unknown word, `{}`", cut(unknown));
    Err(Problem::new("bad-request", message).with_help(help))
}

/// What the query asks for.
fn asked(request: &Request, explain: bool) -> Result<Asked, Problem> {
    let mut asked = Asked { explain: explain.then_some(N_REASONS), ..Asked::default() };
    for (name, value) in words(request.uri()) {
        match name {
            "probabilities" => asked.probabilities = switch(name, value)?,
            "scores" => asked.scores = switch(name, value)?,
            "top" => {
                let most =
                    value.parse().map_err(|_| Problem::new("bad-request", "`top` should be a number"))?;
                asked.explain = Some(most);
            }
            // The table of routes admits no other.
            _ => {}
        }
    }
    Ok(asked)
}

/// The names in a path; a path that is no text, or a version that is no number, is a problem like any other.
struct At<T>(T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found = Path::<T>::from_request_parts(parts, state).await;
        found.map(|Path(found)| Self(found)).map_err(|_| {
            Problem::new(
                "bad-request",
                "the path holds a name that is not UTF-8, or a version that is no number",
            )
        })
    }
}

async fn alive() -> &'static str {
    "ok\n"
}

async fn live() -> Json {
    Json(json!({"live": true}))
}

async fn description() -> Json {
    Json(openapi::described(&rosenblatt::catalogue()))
}

async fn page() -> Response {
    openapi::page()
}

async fn server_metadata() -> Json {
    let version = env!("CARGO_PKG_VERSION");
    Json(json!({"name": "rosenblatt", "version": version, "extensions": ["binary_tensor_data"]}))
}

async fn predict(State(app): Shared, At(name): At<String>, request: Request) -> Answer {
    answered(app, name, request, false).await
}

async fn explain(State(app): Shared, At(name): At<String>, request: Request) -> Answer {
    answered(app, name, request, true).await
}

async fn answered(app: Arc<App>, name: String, request: Request, explain: bool) -> Answer {
    let asked = asked(&request, explain)?;
    let version = app.registry.current(&name)?;
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    let kind = kind(&headers)?;
    if kind == Kind::JsonLines && !headers.contains_key(header::CONTENT_ENCODING) {
        return Ok(streams::predictions(app, name, body, asked));
    }
    let form = Form::accepted(
        text(&headers, &header::ACCEPT),
        version.base.task(),
        if kind == Kind::JsonLines { Form::JsonLines } else { Form::Json },
    );
    if explain && matches!(form, Form::Csv | Form::Arrow | Form::Text) {
        return Err(Problem::new("bad-request", "reasons come as JSON"));
    }
    let held = whole(&app, &headers, body).await?;
    let (number, learned, bytes) = work(held.bytes.len() > LARGE, move || {
        let published = version.published();
        let number = version.entry.version;
        let preface = format!("\"model\":\"{name}\",\"version\":{number},\"learned\":{}", published.learned);
        let (body, form, limits) = ((kind, &held.bytes[..]), (form, &preface[..]), &app.config.limits);
        let (written, n_rows) = answers::answered(&version, &published, body, asked, form, limits)?;
        app.metrics.rows_predicted.fetch_add(n_rows, Ordering::Relaxed);
        Ok((number, published.learned, written))
    })
    .await?;
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    headers.insert("rosenblatt-version", HeaderValue::from(number));
    headers.insert("rosenblatt-learned", HeaderValue::from(learned));
    Ok(response)
}

/// Rows that were sent to be learned from.
pub(crate) struct Sent<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    pub(crate) bytes: Arc<Held>,
    pub(crate) key: String,
    /// Whether classes that were never seen are taken in, if the request says so.
    pub(crate) grow: Option<bool>,
}

/// Has rows learned, and waits until they are as safe as was promised. What comes while a version is replaced is read
/// again as the next one reads it.
///
/// Comes back with the answer about them, and the rows.
pub(crate) async fn teach(app: &Arc<App>, sent: &Sent<'_>) -> Result<(Value, u64), Problem> {
    let sum = crc32fast::hash(&sent.bytes.bytes);
    loop {
        let slot = app.registry.find(sent.name)?;
        let version = slot.current()?;
        let (config, base) = (Arc::clone(&app.config), Arc::clone(&version.base));
        let (held, kind) = (Arc::clone(&sent.bytes), sent.kind);
        let (data, unknown) = work(held.bytes.len() > LARGE, move || {
            bodies::to_learn(&base, kind, &held.bytes, &config.limits)
        })
        .await?;
        let grow = sent.grow.or(version.entry.way.grow_classes).unwrap_or(app.config.grow_classes);
        let (reply, receipt) = oneshot::channel();
        let wish = Wish::Learn(Lesson { key: sent.key.clone(), sum, data: Box::new(data), grow, reply });
        let (shared, at, of) = (Arc::clone(app), Arc::clone(&slot), Arc::clone(&version));
        // To start a thread takes longer than to ask one.
        let back = work(!version.is_learning(), move || shared.registry.wish(&at, &of, wish)).await?;
        if back.is_none()
            && let Ok(answer) = receipt.await
        {
            let receipt = answer?;
            if !receipt.repeated {
                app.metrics.rows_learned.fetch_add(receipt.rows, Ordering::Relaxed);
            }
            return Ok((receipt_json(sent.name, &receipt, &unknown.names()), receipt.rows));
        }
        work(true, move || {
            slot.settle();
            Ok(())
        })
        .await?;
        if app.stopping.load(Ordering::Relaxed) {
            return Err(Problem::new("stopping", "the server is being stopped"));
        }
        if Arc::ptr_eq(&app.registry.current(sent.name)?, &version) {
            return Err(Problem::new("internal", "the learner is gone; start the server again"));
        }
    }
}

pub(crate) fn may_write(app: &App) -> Result<(), Problem> {
    if app.config.read_only {
        Err(Problem::new("read-only", "this server was started read-only"))
    } else {
        Ok(())
    }
}

async fn learn(State(app): Shared, At(name): At<String>, request: Request) -> Answer {
    may_write(&app)?;
    let mut grow = None;
    for (name, value) in words(request.uri()) {
        grow = Some(switch(name, value)?);
    }
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    let key = match headers.get("idempotency-key").map(HeaderValue::to_str) {
        None => String::new(),
        Some(Ok(key)) if !key.is_empty() && key.len() <= KEY_BYTES => key.to_owned(),
        Some(_) => {
            return Err(Problem::new("bad-request", "an idempotency key has 1 to 200 visible letters"));
        }
    };
    app.registry.current(&name)?;
    let kind = kind(&headers)?;
    if kind == Kind::JsonLines && key.is_empty() && !headers.contains_key(header::CONTENT_ENCODING) {
        return streams::lessons(app, name, body, grow).await;
    }
    // What waits to be learned from has its place for as long as it waits.
    let bytes = Arc::new(whole(&app, &headers, body).await?);
    let (receipt, _) = teach(&app, &Sent { name: &name, kind, bytes, key, grow }).await?;
    Ok(Json(receipt).into_response())
}

/// The answer about rows that were learned from.
fn receipt_json(name: &str, receipt: &Receipt, unknown: &[String]) -> Value {
    let answer = json!({
        "model": name,
        "version": receipt.version,
        "rows": receipt.rows,
        "learned": receipt.learned,
        "errors": receipt.errors,
        "errors-so-far": receipt.errors_so_far,
        "new-classes": receipt.new_classes,
        "repeated": receipt.repeated,
    });
    naming(answer, unknown)
}

/// The same answer, which names columns that the model does not know, if there are any.
fn naming(mut answer: Value, unknown: &[String]) -> Value {
    if !unknown.is_empty() {
        answer["unknown-columns"] = json!(unknown);
    }
    answer
}

async fn progress(State(app): Shared, At(name): At<String>) -> Answer {
    let version = app.registry.current(&name)?;
    let published = version.published();
    let (learned, errors) = (published.learned, published.errors);
    let error = (learned > 0).then(|| errors as f64 / learned as f64);
    Ok(Json(json!({
        "model": name, "version": version.entry.version, "learned": learned, "errors": errors, "progressive-error": error,
    }))
    .into_response())
}

async fn evaluate(State(app): Shared, At(name): At<String>, request: Request) -> Answer {
    let version = app.registry.current(&name)?;
    let (parts, body) = request.into_parts();
    let kind = kind(&parts.headers)?;
    let held = whole(&app, &parts.headers, body).await?;
    work(held.bytes.len() > LARGE, move || {
        let published = version.published();
        if let Some(tagger) = published.model.tagger() {
            let mut answer = sentences::evaluated(tagger, kind, &held.bytes)?;
            answer["model"] = json!(name);
            answer["version"] = json!(version.entry.version);
            return Ok(Json(answer).into_response());
        }
        let (data, unknown) = bodies::to_evaluate(&published.model, kind, &held.bytes, &app.config.limits)?;
        if published.model.task() == Task::Numbers {
            let mut found = json!(published.model.evaluate_numbers(&data)?);
            found["model"] = json!(name);
            found["version"] = json!(version.entry.version);
            return Ok(Json(naming(found, &unknown.names())).into_response());
        }
        let found = rosenblatt::evaluate(&published.model, &data)?;
        let answer = json!({
            "model": name, "version": version.entry.version, "learned": published.learned,
            "rows": found.rows, "errors": found.errors, "error": found.error(),
            "classes": found.labels.names(), "confusion": found.confusion,
        });
        Ok(Json(naming(answer, &unknown.names())).into_response())
    })
    .await
}

fn outline(slot: &Slot) -> Value {
    let version = match slot.current() {
        Ok(version) => version,
        Err(problem) => return json!({"name": slot.name, "ready": false, "problem": problem.to_json()}),
    };
    let published = version.published();
    let (task, names) = (published.model.task(), published.model.labels().names());
    let mut outline = json!({
        "name": slot.name,
        "version": version.entry.version,
        "learned": published.learned,
        "task": task,
        "classes": if task == Task::Numbers { &[] } else { names },
        "ready": true,
    });
    if task == Task::Numbers {
        outline["number"] = json!(names.first());
    }
    outline
}

async fn list(State(app): Shared) -> Answer {
    let models: Vec<Value> = app.registry.slots().iter().map(|slot| outline(slot)).collect();
    Ok(Json(json!({ "models": models })).into_response())
}

async fn describe(State(app): Shared, At(name): At<String>) -> Answer {
    let slot = app.registry.find(&name)?;
    let mut answer = outline(&slot);
    let Ok(version) = slot.current() else { return Ok(Json(answer).into_response()) };
    let published = version.published();
    answer["errors"] = json!(published.errors);
    answer["origin"] = json!(version.entry.origin);
    answer["sha256"] = json!(version.entry.sha256);
    answer["inputs"] = tensors::metadata(&name, &[], &published.model)["inputs"].take();
    answer["summary"] = published.model.describe(10);
    Ok(Json(answer).into_response())
}

async fn put(State(app): Shared, At(name): At<String>, request: Request) -> Answer {
    may_write(&app)?;
    if !is_name(&name) {
        return Err(Problem::new(
            "bad-request",
            "a name has 1 to 100 letters, digits, dots, dashes and underscores",
        ));
    }
    let (parts, body) = request.into_parts();
    let held = whole(&app, &parts.headers, body).await?;
    let answer = name.clone();
    let version = work(true, move || app.registry.put(&name, &held.bytes)).await?;
    Ok((StatusCode::CREATED, Json(json!({"model": answer, "version": version}))).into_response())
}

fn model_file(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

/// The model with all that was acknowledged; nothing if another version has taken the place of this one.
async fn learned_model(version: &Version) -> Result<Option<Vec<u8>>, Problem> {
    let (reply, model) = oneshot::channel();
    if version.wish(Wish::Model(reply)).is_some() {
        return Ok(None);
    }
    match model.await {
        Ok(model) => {
            let model = model?;
            work(true, move || Ok(Some(model.to_bytes()))).await
        }
        Err(_) => Ok(None),
    }
}

async fn file(State(app): Shared, At(name): At<String>) -> Answer {
    loop {
        let slot = app.registry.find(&name)?;
        let version = slot.current()?;
        if !version.is_learning() {
            let published = version.published();
            let app = Arc::clone(&app);
            let bytes = work(true, move || match published.learned {
                0 => app.registry.file(&slot, version.entry.version),
                _ => Ok(published.model.to_bytes()),
            });
            return Ok(model_file(bytes.await?));
        }
        if let Some(bytes) = learned_model(&version).await? {
            return Ok(model_file(bytes));
        }
        work(true, move || {
            slot.settle();
            Ok(())
        })
        .await?;
    }
}

async fn versions(State(app): Shared, At(name): At<String>) -> Answer {
    let slot = app.registry.find(&name)?;
    let served = slot.current().ok();
    let current = served.as_ref().map(|version| version.entry.version);
    let mut entries = work(true, move || Ok(slot.entries())).await?;
    if let Some(version) = served
        && let Some(entry) =
            entries.iter_mut().find(|entry| Some(entry.version) == current && entry.learned.is_none())
    {
        let published = version.published();
        (entry.learned, entry.errors) = (Some(published.learned), Some(published.errors));
    }
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut listed = json!(entry);
            if let (Some(learned @ 1..), Some(errors)) = (entry.learned, entry.errors) {
                listed["progressive-error"] = json!(errors as f64 / learned as f64);
            }
            listed
        })
        .collect();
    Ok(Json(json!({"model": name, "current": current, "versions": entries})).into_response())
}

async fn version_file(State(app): Shared, At((name, version)): At<(String, u64)>) -> Answer {
    let slot = app.registry.find(&name)?;
    Ok(model_file(work(true, move || app.registry.file(&slot, version)).await?))
}

/// What a new version is made of.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Making {
    /// An older version to go back to; what was learned so far by default.
    of: Option<u64>,
    learning: Option<rosenblatt::settings::Asked<rosenblatt::Options>>,
    blank: bool,
    grow_classes: Option<bool>,
}

async fn new_version(State(app): Shared, At(name): At<String>, request: Request) -> Answer {
    may_write(&app)?;
    let slot = app.registry.find(&name)?;
    let (parts, body) = request.into_parts();
    let held = whole(&app, &parts.headers, body).await?;
    let making: Making = if held.bytes.trim_ascii().is_empty() {
        Making::default()
    } else {
        serde_json::from_slice(&held.bytes).map_err(|error| Problem::new("bad-body", error.to_string()))?
    };
    let way = Way { learning: making.learning, blank: making.blank, grow_classes: making.grow_classes };
    if way.learning.is_some() {
        let recipe = way.recipe();
        recipe.check_online().map_err(|error| Problem::new("bad-body", error.to_string()))?;
        recipe.online_spec()?;
    }
    let source = making.of.map_or(Source::Learned, Source::Old);
    let (number, is_new) = work(true, move || app.registry.add(&slot, &source, way)).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(json!({"model": name, "version": number}))).into_response())
}

/// Models that cannot be served, and files that cannot be taken in while the version before them is served, by name and with
/// reasons.
fn refused(app: &App, slots: &[Arc<Slot>]) -> [BTreeMap<String, String>; 2] {
    let (unread, nameless) = app
        .registry
        .unread()
        .into_iter()
        .partition::<BTreeMap<_, _>, _>(|(name, _)| slots.iter().any(|slot| slot.name == *name));
    let broken =
        slots.iter().filter_map(|slot| Some((slot.name.clone(), slot.current().err()?.detail().to_owned())));
    [nameless.into_iter().chain(broken).collect(), unread]
}

async fn ready(State(app): Shared) -> Answer {
    let slots = app.registry.slots();
    let [not_served, unread] = refused(&app, &slots);
    let status = if not_served.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let found = json!({
        "ready": not_served.is_empty(), "models": slots.len(), "not-served": not_served, "unread": unread,
    });
    Ok((status, Json(found)).into_response())
}

async fn metrics(State(app): Shared) -> Answer {
    let slots = app.registry.slots();
    let gauges: Vec<Gauge> = slots
        .iter()
        .filter_map(|slot| {
            let version = slot.current().ok()?;
            let published = version.published();
            Some(Gauge {
                name: slot.name.clone(),
                version: version.entry.version,
                learned: published.learned,
                errors: published.errors,
            })
        })
        .collect();
    let [not_served, unread] = refused(&app, &slots);
    let page = app.metrics.page(&gauges, not_served.len(), unread.len());
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page).into_response())
}

/// Name and, if there is one, version of a path.
#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    version: Option<u64>,
}

/// The version that is served, if it is the one that is named.
fn served(app: &App, named: &Named) -> Result<Arc<Version>, Problem> {
    let version = app.registry.current(&named.name)?;
    if named.version.is_some_and(|number| number != version.entry.version) {
        return Err(Problem::new("no-version", "this version is not the one that is served"));
    }
    Ok(version)
}

async fn metadata(State(app): Shared, At(named): At<Named>) -> Answer {
    let version = served(&app, &named)?;
    let answer = tensors::metadata(&named.name, &[version.entry.version], &version.published().model);
    Ok(Json(answer).into_response())
}

async fn model_ready(State(app): Shared, At(named): At<Named>) -> Answer {
    served(&app, &named)?;
    Ok(Json(json!({"name": named.name, "ready": true})).into_response())
}

/// Says how much of a body is JSON, in requests and answers of the protocol.
const HEAD_LENGTH: &str = "inference-header-content-length";

async fn infer(State(app): Shared, At(named): At<Named>, request: Request) -> Answer {
    let version = served(&app, &named)?;
    let (parts, body) = request.into_parts();
    let head = match parts.headers.get(HEAD_LENGTH).map(|length| length.to_str().unwrap_or("?").parse()) {
        None => None,
        Some(Ok(length)) => Some(length),
        Some(Err(_)) => return Err(Problem::new("bad-request", "the length of the head should be a number")),
    };
    let held = whole(&app, &parts.headers, body).await?;
    work(held.bytes.len() > LARGE, move || {
        let inference = Inference::parse(&held.bytes, head)?;
        let published = version.published();
        let model = &published.model;
        let data = bodies::rows_to_predict(model, &inference.rows(model)?, &app.config.limits)?;
        let answers = Answers::new(&version, &published, &data, inference.wish(model)?)?;
        app.metrics.rows_predicted.fetch_add(answers.classes.len() as u64, Ordering::Relaxed);
        let inferred = inference.answer(&named.name, version.entry.version, model, &answers)?;
        let mut response = Response::new(Body::from(inferred.bytes));
        let headers = response.headers_mut();
        let content = if inferred.head.is_some() { "application/octet-stream" } else { "application/json" };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content));
        if let Some(length) = inferred.head {
            headers.insert(HEAD_LENGTH, HeaderValue::from(length));
        }
        Ok(response)
    })
    .await
}
