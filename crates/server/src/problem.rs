//! What went wrong, as RFC 9457 has it: a status, a code that stays, a sentence, and the engine's remedy.
//!
//! Nothing here tells a path, a stack or anything about another model.

use crate::bodies::{CONTENT_TYPES, Kind};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rosenblatt::Error;
use rosenblatt_data::remedy::Piece;
use rosenblatt_data::{DataError, ErrorKind, Remedy};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Why a request was not answered as asked.
#[derive(Debug, Clone)]
pub struct Problem(Box<Details>);

#[derive(Debug, Clone)]
struct Details {
    status: StatusCode,
    /// Its stable name.
    code: &'static str,
    detail: String,
    help: Option<String>,
    /// Row, line and column of the body, as far as they are known.
    place: [Option<u64>; 3],
    /// Rows of the same request that were learned from before.
    rows_learned: Option<u64>,
    /// Seconds after which it may be tried again.
    retry_after: Option<u32>,
}

/// Every code, its status and what it means; the documentation and the tests have the same list.
pub(crate) const CODES: &[(&str, u16, &str)] = &[
    ("bad-body", 400, "the body is not what its content type says"),
    ("bad-request", 400, "the path, the query or a header makes no sense"),
    ("no-token", 401, "the server requires a token, and yours is missing or unknown"),
    ("not-allowed", 403, "the token does not allow this"),
    ("foreign", 403, "the request was sent by a page of another site, or for another host"),
    ("read-only", 403, "the server was started read-only"),
    ("no-model", 404, "there is no model of this name"),
    ("no-version", 404, "there is no version of this number"),
    ("no-route", 404, "there is nothing at this path"),
    ("wrong-method", 405, "the path is right, and the method is not"),
    ("slow", 408, "the client took too long"),
    ("cannot-learn", 409, "the model cannot go on learning as it is"),
    ("key-reused", 409, "the idempotency key was used for other rows"),
    ("too-large", 413, "the body is larger than the limit"),
    ("unknown-type", 415, "the content type is not supported"),
    (
        "new-class",
        422,
        "a label names a class that the model has never seen; nothing was learned from its request or batch",
    ),
    ("bad-rows", 422, "the rows do not fit the model; nothing was learned from their request or batch"),
    ("limit", 422, "there are more rows, features or classes than the limit"),
    ("not-calibrated", 422, "probabilities are asked of a model that has none"),
    ("busy", 503, "too many requests at a time"),
    ("stopping", 503, "the server is being stopped"),
    ("damaged", 503, "what was learned cannot be read back whole; nothing is guessed"),
    ("log-failed", 503, "the log could not be flushed; it learns again after a restart"),
    ("internal", 500, "a fault of the server; the model is unharmed"),
    ("full", 507, "there is no room for more examples; predictions go on"),
];

impl Problem {
    pub(crate) fn new(code: &'static str, detail: impl Into<String>) -> Self {
        let status = CODES.iter().find(|(name, ..)| *name == code).map_or(500, |(_, status, _)| *status);
        Self(Box::new(Details {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            code,
            detail: detail.into(),
            help: None,
            place: [None; 3],
            rows_learned: None,
            retry_after: matches!(code, "busy" | "stopping").then_some(1),
        }))
    }

    /// Its stable name.
    pub(crate) fn code(&self) -> &'static str {
        self.0.code
    }

    pub(crate) fn status(&self) -> u16 {
        self.0.status.as_u16()
    }

    pub(crate) fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// What went wrong, in a sentence.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// The same, about a row and, if it has one of its own, a line, both from 1.
    #[must_use]
    pub(crate) fn at(mut self, row: u64, line: Option<u64>) -> Self {
        self.0.place = [Some(row), line, None];
        self
    }

    /// The same, for a piece of a body that begins `rows` rows, and as many lines, after its start.
    #[must_use]
    pub(crate) fn behind(mut self, rows: u64) -> Self {
        self.0.place[..2].iter_mut().flatten().for_each(|place| *place += rows);
        self
    }

    /// The same, in a request that is learned batch by batch: after this number of rows, in a batch that begins at this line or
    /// after it.
    #[must_use]
    pub(crate) fn amid(mut self, rows_learned: u64, line: u64) -> Self {
        let rows = if rows_learned == 1 { "1 row" } else { &format!("{rows_learned} rows") };
        let _ = write!(self.0.detail, "; {rows} of this request were learned before");
        // After a failed flush, it is the next start that tells.
        if !matches!(self.0.code, "log-failed" | "internal") {
            let _ = write!(self.0.detail, ", and nothing from line {line} on");
        }
        self.0.rows_learned = Some(rows_learned);
        self
    }

    /// The object that is sent.
    pub(crate) fn to_json(&self) -> Value {
        let title = CODES.iter().find(|(name, ..)| *name == self.0.code).map_or("", |(_, _, title)| *title);
        let mut object = Map::new();
        object.insert("type".to_owned(), json!(format!("/docs#{}", self.0.code)));
        object.insert("title".to_owned(), json!(title));
        object.insert("status".to_owned(), json!(self.0.status.as_u16()));
        object.insert("code".to_owned(), json!(self.0.code));
        object.insert("detail".to_owned(), json!(self.0.detail));
        if let Some(help) = &self.0.help {
            object.insert("help".to_owned(), json!(help));
        }
        for (name, place) in ["row", "line", "column"].into_iter().zip(self.0.place) {
            if let Some(place) = place {
                object.insert(name.to_owned(), json!(place));
            }
        }
        if let Some(rows) = self.0.rows_learned {
            object.insert("rows-learned".to_owned(), json!(rows));
        }
        Value::Object(object)
    }
}

impl Problem {
    /// The same with the member in which clients of the Open Inference Protocol look for the reason.
    pub(crate) fn to_inference_json(&self) -> Value {
        let mut object = self.to_json();
        object["error"] = json!(match &self.0.help {
            Some(help) => format!("{}; {help}", self.0.detail),
            None => self.0.detail.clone(),
        });
        object
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.0.status, self.to_json().to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.0.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.0.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// What helps over HTTP, where a body has no options, by the option that the readers speak of.
const CURES: &[(&str, &str)] = &[
    (
        "missing",
        "send the value, or train the model again with {missing=mean}, median, most-frequent, zero or drop",
    ),
    ("header", "send a header line first, or lists in JSON, in the order of columns"),
    ("format", "say what the body is by its content type"),
    ("text", "send it with `content-type: text/plain`, a message a line, or as a table of one column"),
    ("delimiter", "separate cells by commas, or send JSON"),
    (
        "label",
        "send the label in the column that the model learned it from, or apart in JSON: {{\"rows\": [...], \"labels\": [...]}}",
    ),
    ("ignore", "leave the column out of the rows"),
    ("max-features", "start the server with a higher {max-features}"),
    ("max-classes", "start the server with a higher {max-classes}"),
    ("max-line", "start the server with a higher {max-body}"),
];

/// Advice that a client, or the operator, can follow.
fn worded(remedy: &Remedy) -> String {
    let options = || {
        remedy.pieces().iter().filter_map(|piece| match piece {
            Piece::Option(option, value) => Some((option.as_str(), value.as_deref())),
            Piece::Text(_) => None,
        })
    };
    let named = options().find_map(|(option, value)| match (option, value) {
        ("format", Some(format)) => {
            let is_it = |kind: Kind| matches!(kind, Kind::Data(Some(name)) if name == format);
            CONTENT_TYPES.iter().find(|(_, kind)| is_it(*kind)).map(|(name, _)| *name)
        }
        _ => None,
    });
    if let Some(content_type) = named {
        return format!("send it with `content-type: {content_type}`");
    }
    let cure = options().find_map(|(option, _)| CURES.iter().find(|(name, _)| *name == option));
    if let Some((_, cure)) = cure {
        return with_flags(&Remedy::from(*cure));
    }
    let text = with_flags(remedy);
    if options().next().is_none() { text } else { format!("train the model again: {text}") }
}

/// Advice for the operator, who trains models and starts servers in a shell.
pub(crate) fn with_flags(remedy: &Remedy) -> String {
    remedy.worded(|option, value| match value {
        Some(value) => format!("`--{option} {value}`"),
        None => format!("`--{option}`"),
    })
}

impl From<DataError> for Problem {
    fn from(error: DataError) -> Self {
        let code = match error.kind() {
            ErrorKind::Syntax | ErrorKind::Format | ErrorKind::Compression | ErrorKind::Encoding => {
                "bad-body"
            }
            ErrorKind::Limit => "limit",
            ErrorKind::Internal | ErrorKind::Io => "internal",
            _ => "bad-rows",
        };
        let position = error.position();
        let place = [position.row, position.line, position.column];
        let help = error.help().map(worded);
        let mut problem = Self::new(code, error.message());
        (problem.0.help, problem.0.place) = (help, place);
        problem
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::Data(error) => return error.into(),
            Error::NotCalibrated => "not-calibrated",
            Error::BadStart { .. } | Error::NotOnline { .. } | Error::Range { .. } => "cannot-learn",
            _ => "bad-rows",
        };
        let other_rule = r#"have it learn by another rule: POST its versions {"of": 1, "learning": {"algorithm": "perceptron"}}, with "blank": true to begin at zero"#;
        let other_rule = (code == "cannot-learn").then(|| other_rule.to_owned());
        let help = error.remedy().map(|remedy| worded(&remedy)).or(other_rule);
        let mut problem = Self::new(code, error.to_string());
        problem.0.help = help;
        problem
    }
}

/// An answer in JSON.
pub(crate) struct Json(pub(crate) Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0.to_string()).into_response()
    }
}
