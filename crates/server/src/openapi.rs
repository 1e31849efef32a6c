//! The description of the interface, for programs and for people, from the tables that the server itself uses.

use crate::access::SCOPES;
use crate::answers::FORMS;
use crate::bodies::CONTENT_TYPES;
use crate::problem::{CODES, Json};
use crate::routes::ROUTES;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

fn is_about_rows(path: &str) -> bool {
    ["/predict", "/explain", "/learn", "/evaluate"].iter().any(|end| path.ends_with(end))
}

fn body(method: &str, path: &str) -> Option<Value> {
    let schema = |name: &str| json!({"schema": {"$ref": format!("#/components/schemas/{name}")}});
    let bytes = || json!({"schema": {"type": "string", "format": "binary"}});
    let content = match (method, path) {
        ("put", _) => json!({"application/octet-stream": bytes()}),
        ("post", path) if is_about_rows(path) => {
            let all = CONTENT_TYPES.iter().map(|(name, _)| {
                let form = if *name == "application/json" { schema("Rows") } else { bytes() };
                ((*name).to_owned(), form)
            });
            Value::Object(all.collect())
        }
        ("post", path) if path.ends_with("/infer") => {
            json!({"application/json": schema("Inference"), "application/octet-stream": bytes()})
        }
        ("post", _) => json!({"application/json": schema("Making")}),
        _ => return None,
    };
    Some(json!({"content": content}))
}

fn answers(path: &str) -> Value {
    if path.ends_with("/predict") || path.ends_with("/explain") {
        let all = FORMS.iter().map(|(name, _)| {
            let form = if *name == "application/json" {
                json!({"schema": {"$ref": "#/components/schemas/Predictions"}})
            } else {
                json!({"schema": {"type": "string", "format": "binary"}})
            };
            ((*name).to_owned(), form)
        });
        return Value::Object(all.collect());
    }
    if path.ends_with("/learn") {
        return json!({"application/json": {"schema": {"$ref": "#/components/schemas/Receipt"}}});
    }
    if path.ends_with("/file") {
        return json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}});
    }
    match path {
        "/metrics" | "/healthz" => json!({"text/plain": {"schema": {"type": "string"}}}),
        "/docs" => json!({"text/html": {"schema": {"type": "string"}}}),
        _ => json!({"application/json": {"schema": {"type": "object"}}}),
    }
}

fn parameters(path: &str) -> Vec<Value> {
    let mut all: Vec<Value> = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let kind = if name == "version" { json!({"type": "integer"}) } else { json!({"type": "string"}) };
            json!({"name": name, "in": "path", "required": true, "schema": kind})
        })
        .collect();
    let switch = |name: &str, what: &str| json!({"name": name, "in": "query", "description": what, "schema": {"type": "boolean"}});
    if path.ends_with("/predict") || path.ends_with("/explain") {
        all.push(switch("probabilities", "add the probability of every class"));
        all.push(switch("scores", "add the scores"));
    }
    if path.ends_with("/explain") {
        all.push(json!({"name": "top", "in": "query", "description": "how many features to list for the class and against it", "schema": {"type": "integer", "default": 5}}));
    }
    if path.ends_with("/learn") {
        all.push(json!({"name": "Idempotency-Key", "in": "header", "description": "a request that is sent again with the same key is learned from once", "schema": {"type": "string", "maxLength": 200}}));
    }
    all
}

/// The description, as `OpenAPI` 3.1 has it.
pub(crate) fn description() -> impl IntoResponse {
    Json(document())
}

pub(crate) fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for (method, path, _, scope, summary) in ROUTES {
        let success = if *method == "put" || (*method == "post" && path.ends_with("/versions")) {
            "201"
        } else {
            "200"
        };
        let id: String = format!("{method}{path}")
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .collect();
        let mut operation = json!({
            "operationId": id,
            "summary": summary,
            "parameters": parameters(path),
            "responses": {
                success: {"description": "done", "content": answers(path)},
                "default": {
                    "description": "what went wrong",
                    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                },
            },
        });
        if let Some(body) = body(method, path) {
            operation["requestBody"] = body;
        }
        if let Some(scope) = scope {
            let name = SCOPES.iter().find(|(_, known)| known == scope).map_or("", |(name, _)| *name);
            operation["security"] = json!([{"token": [name]}, {}]);
        }
        let entry = paths.entry((*path).to_owned()).or_insert_with(|| json!({}));
        entry[*method] = operation;
    }
    let codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rosenblatt",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Predictions of the perceptron family, and online learning that loses nothing.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Rows": {
                    "description": "rows in an object or as a list, or one row",
                    "anyOf": [
                        {"type": "object", "required": ["rows"], "properties": {
                            "rows": {"type": "array", "items": {"$ref": "#/components/schemas/Row"}},
                            "labels": {"type": "array", "items": {"type": ["string", "number"]}},
                        }, "additionalProperties": false},
                        {"type": "array", "items": {"$ref": "#/components/schemas/Row"}},
                        {"type": "object"},
                    ],
                },
                "Row": {
                    "description": "values by the names of columns, values in the order of columns, or a text",
                    "anyOf": [{"type": "object"}, {"type": "array"}, {"type": "string"}],
                },
                "Predictions": {"type": "object", "properties": {
                    "model": {"type": "string"},
                    "version": {"type": "integer"},
                    "learned": {"type": "integer", "description": "examples that the answer has learned from"},
                    "predictions": {"type": "array", "items": {"type": "object", "required": ["class"], "properties": {
                        "class": {"type": ["string", "null"]},
                        "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
                        "scores": {"type": "array", "items": {"type": "number"}},
                    }}},
                }},
                "Receipt": {"type": "object", "required": ["model", "version", "rows", "learned", "errors", "errors-so-far", "repeated"], "properties": {
                    "model": {"type": "string"},
                    "version": {"type": "integer"},
                    "rows": {"type": "integer", "description": "rows of this request"},
                    "errors": {"type": "integer", "description": "rows of this request that were predicted wrongly before they were learned from"},
                    "learned": {"type": "integer", "description": "examples that the version has learned from, these included"},
                    "errors-so-far": {"type": "integer", "description": "of these examples, those that were predicted wrongly first"},
                    "repeated": {"type": "boolean", "description": "the request had been acknowledged before, and was not learned from again"},
                }, "additionalProperties": false},
                "Making": {"type": "object", "properties": {
                    "of": {"type": "integer", "description": "the version to go back to; what was learned so far if nothing is said"},
                    "learning": {"type": "object", "description": "how it goes on learning; as the model learned if nothing is said"},
                    "blank": {"type": "boolean", "description": "weights begin at zero"},
                }, "additionalProperties": false},
                "Inference": {"type": "object", "required": ["inputs"], "properties": {
                    "id": {"type": "string"},
                    "inputs": {"type": "array", "items": {"type": "object", "required": ["name", "shape", "datatype"]}},
                    "outputs": {"type": "array", "items": {"type": "object", "required": ["name"]}},
                }},
                "Problem": {"type": "object", "required": ["type", "title", "status", "code", "detail"], "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "code": {"type": "string", "enum": codes},
                    "detail": {"type": "string"},
                    "help": {"type": "string"},
                    "row": {"type": "integer"},
                    "line": {"type": "integer"},
                    "column": {"type": "integer"},
                }},
            },
        },
    })
}

/// The same for people.
pub(crate) fn page() -> Response {
    let mut out = String::from(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Rosenblatt</title><link rel=icon href=data:,>\
         <body><h1>Rosenblatt</h1><p>Predictions, and online learning that loses nothing. \
         <a href=/openapi.json>openapi.json</a> says the same for programs.</p>\
         <h2>Paths</h2><table><tr><th>method<th>path<th>scope<th>what it does</tr>",
    );
    for (method, path, _, scope, summary) in ROUTES {
        let name =
            SCOPES.iter().find(|(_, known)| scope.as_ref() == Some(known)).map_or("", |(name, _)| *name);
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<tr><td>{}<td><code>{path}</code><td>{name}<td>{summary}</tr>",
            method.to_uppercase()
        );
    }
    out.push_str("</table><h2>Bodies</h2><ul>");
    for (name, _) in CONTENT_TYPES {
        let _ = write!(out, "<li><code>{name}</code></li>");
    }
    out.push_str(
        "</ul><p>Packed with gzip or zstd, or not at all. JSON is <code>{\"rows\": [...]}</code>, a list of rows or one \
         row; a row is an object by names of columns, a list in the order of columns, or a text; labels stand in the rows or in \
         <code>\"labels\"</code>. JSON Lines are answered while they come.</p>\
         <h2>Problems</h2><table><tr><th>code<th>status<th>meaning</tr>",
    );
    for (code, status, meaning) in CODES {
        let _ = write!(out, "<tr id={code}><td><code>{code}</code><td>{status}<td>{meaning}</tr>");
    }
    out.push_str("</table></body></html>\n");
    let policy = "default-src 'none'; img-src data:; style-src 'none'";
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, policy)], out)
        .into_response()
}
