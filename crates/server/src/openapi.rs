//! The description of the interface, for programs and for people, from the tables that the server itself uses.

use crate::access::{SCOPES, Scope};
use crate::answers::FORMS;
use crate::bodies::CONTENT_TYPES;
use crate::problem::CODES;
use crate::routes::{Gives, ROUTES, Route, Takes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rosenblatt::catalogue::Catalogue;
use rosenblatt::learning::Takes::Group;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

fn schema(name: &str) -> Value {
    json!({"schema": {"$ref": format!("#/components/schemas/{name}")}})
}

fn plain(kind: &str) -> Value {
    json!({"schema": {"type": kind}})
}

fn bytes() -> Value {
    json!({"schema": {"type": "string", "format": "binary"}})
}

/// JSON of this schema, and the other types as bytes.
fn json_or_bytes<'a>(types: impl Iterator<Item = &'a str>, name: &str) -> Value {
    let form = |kind: &str| if kind == "application/json" { schema(name) } else { bytes() };
    Value::Object(types.map(|kind| (kind.to_owned(), form(kind))).collect())
}

fn body(takes: Takes) -> Option<Value> {
    let content = match takes {
        Takes::Nothing => return None,
        Takes::Rows | Takes::LabelledRows => {
            json_or_bytes(CONTENT_TYPES.iter().map(|(name, _)| *name), "Rows")
        }
        Takes::ModelFile => json!({"application/octet-stream": bytes()}),
        Takes::Making => json!({"application/json": schema("Making")}),
        Takes::Inference => {
            json!({"application/json": schema("Inference"), "application/octet-stream": bytes()})
        }
    };
    Some(json!({"content": content}))
}

fn answers(gives: Gives) -> Value {
    match gives {
        Gives::Predictions | Gives::Explanations => {
            json_or_bytes(FORMS.iter().map(|(name, _)| *name), "Predictions")
        }
        Gives::Receipt => json!({"application/json": schema("Receipt"), "application/x-ndjson": bytes()}),
        Gives::Versions => json!({"application/json": schema("Versions")}),
        Gives::ModelFile => json!({"application/octet-stream": bytes()}),
        Gives::Text => json!({"text/plain": plain("string")}),
        Gives::Page => json!({"text/html": plain("string")}),
        Gives::Json | Gives::NewVersion => json!({"application/json": plain("object")}),
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = names
        .map(|name| {
            let kind = if name == "version" { "integer" } else { "string" };
            json!({"name": name, "in": "path", "required": true, "schema": {"type": kind}})
        })
        .collect();
    all.extend(route.words.iter().map(|word| {
        let mut schema = json!({"type": word.kind});
        if let Some(default) = word.default {
            schema["default"] = json!(default);
        }
        json!({"name": word.name, "in": "query", "description": word.meaning, "schema": schema})
    }));
    if route.gives == Gives::Receipt {
        all.push(json!({"name": "Idempotency-Key", "in": "header", "description": "a request that is sent again with the same key is learned from once", "schema": {"type": "string", "maxLength": 200}}));
    }
    all
}

fn scope_name(scope: Option<Scope>) -> &'static str {
    SCOPES.iter().find(|(_, known)| scope == Some(*known)).map_or("", |(name, _)| *name)
}

/// The description, as `OpenAPI` 3.1 has it, with the settings of this catalogue.
pub fn described(catalogue: &Catalogue) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let method = route.method.to_lowercase();
        let success = if route.gives == Gives::NewVersion { "201" } else { "200" };
        let id: String = format!("{method}{}", route.path)
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .collect();
        let mut operation = json!({
            "operationId": id,
            "summary": route.summary,
            "parameters": parameters(route),
            "responses": {
                success: {"description": "done", "content": answers(route.gives)},
                "default": {
                    "description": "what went wrong",
                    "content": {"application/problem+json": schema("Problem")},
                },
            },
        });
        if route.gives == Gives::Receipt {
            operation["description"] = json!(BATCHES);
        }
        if (route.takes, route.gives) == (Takes::Making, Gives::NewVersion) {
            operation["responses"]["200"] = json!({
                "description": "nothing was learned since the version that is served; it is named, and no other is made",
                "content": answers(route.gives),
            });
        }
        if let Some(body) = body(route.takes) {
            operation["requestBody"] = body;
        }
        if route.scope.is_some() {
            operation["security"] = json!([{"token": [scope_name(route.scope)]}, {}]);
        }
        let entry = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        entry[method] = operation;
    }
    let codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    let mut description = json!({
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
                    "description": "values by the names of columns, values in the order of columns, or a text; where the model labels tokens, a list of tokens",
                    "anyOf": [{"type": "object"}, {"type": "array"}, {"type": "string"}],
                },
                "Predictions": {"type": "object", "properties": {
                    "model": {"type": "string"},
                    "version": {"type": "integer"},
                    "learned": {"type": "integer", "description": "examples that the answer has learned from"},
                    "unknown-columns": {"type": "array", "items": {"type": "string"}, "description": "columns of the rows that the model does not know and did not use, if there are any"},
                    "predictions": {"type": "array", "items": {"anyOf": [
                        {"type": "object", "required": ["class"], "properties": {
                            "class": {"type": ["string", "null"]},
                            "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
                            "scores": {"type": "array", "items": {"type": "number"}},
                            "base": {"type": "number", "description": "the score for the class of a row of which all contributions are 0, with reasons"},
                        }},
                        {"type": "object", "required": ["prediction"], "properties": {
                            "prediction": {"type": ["number", "null"], "description": "where the model predicts numbers"},
                            "base": {"type": "number", "description": "what is predicted of a row of which all contributions are 0, with reasons"},
                        }},
                        {"type": "object", "required": ["tokens", "tags"], "properties": {
                            "tokens": {"type": "array", "items": {"type": "string"}},
                            "tags": {"type": "array", "items": {"type": "string"}},
                            "score": {"type": ["number", "null"]},
                            "leads": {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
                            "probabilities": {"type": "array", "items": {"type": "number"}},
                        }},
                    ]}},
                }},
                "Receipt": {"type": "object", "required": ["model", "version", "rows", "learned", "errors", "errors-so-far", "new-classes", "repeated"], "properties": {
                    "model": {"type": "string"},
                    "version": {"type": "integer"},
                    "rows": {"type": "integer", "description": "rows of this request"},
                    "errors": {"type": "integer", "description": "rows of this request that were predicted wrongly before they were learned from"},
                    "learned": {"type": "integer", "description": "examples that the version has learned from, these included"},
                    "errors-so-far": {"type": "integer", "description": "of these examples, those that were predicted wrongly first"},
                    "new-classes": {"type": "array", "items": {"type": "string"}, "description": "classes of this request that the version had never seen"},
                    "unknown-columns": {"type": "array", "items": {"type": "string"}, "description": "columns of the rows that the model does not know and did not use, if there are any"},
                    "repeated": {"type": "boolean", "description": "the request had been acknowledged before, and was not learned from again"},
                }, "additionalProperties": false},
                "Versions": {"type": "object", "required": ["model", "current", "versions"], "properties": {
                    "model": {"type": "string"},
                    "current": {"type": ["integer", "null"], "description": "the version that is served, if one is"},
                    "versions": {"type": "array", "items": {"type": "object", "required": ["version", "sha256", "origin"], "properties": {
                        "version": {"type": "integer"},
                        "sha256": {"type": "string", "description": "of its file"},
                        "origin": {"type": "string", "description": "where it came from"},
                        "from": {"type": "integer", "description": "the version that it came from, if it was no file"},
                        "made": {"type": "string", "format": "date-time"},
                        "learned": {"type": "integer", "description": "rows that were learned on top of its file, if that is known"},
                        "errors": {"type": "integer", "description": "of these, those that were predicted wrongly before they were learned from"},
                        "progressive-error": {"type": "number", "description": "their share, if rows were learned"},
                        "calibrated": {"type": "integer", "description": "the version with probabilities that it came from, if it lost them by learning"},
                    }}},
                }},
                "Making": {"type": "object", "properties": {
                    "of": {"type": "integer", "description": "the version to go back to; by default, what was learned so far"},
                    "learning": {"$ref": "#/components/schemas/learning"},
                    "blank": {"type": "boolean", "description": "weights begin at zero"},
                    "grow-classes": {"type": "boolean", "description": "whether classes that were never seen are taken in, from this version on"},
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
                    "error": {"type": "string", "description": "the detail again, where the Open Inference Protocol looks for it (below /v2)"},
                    "help": {"type": "string"},
                    "rows-learned": {"type": "integer", "description": "in the last line about JSON Lines: rows of the request that were learned before"},
                    "row": {"type": "integer"},
                    "line": {"type": "integer"},
                    "column": {"type": "integer"},
                }},
            },
        },
    });
    // Settings are described where they are declared.
    let settings = catalogue.schema()["$defs"].to_string();
    let settings: Value =
        serde_json::from_str(&settings.replace("#/$defs/", "#/components/schemas/")).unwrap_or_default();
    // How a version goes on learning, and the groups that this refers to.
    let learning = catalogue.options.iter().filter(|group| group.name == LEARNING);
    let inner = learning.flat_map(|group| &group.options).filter_map(|option| match option.takes.0 {
        Group(name) => Some(name),
        _ => None,
    });
    for group in inner.chain([LEARNING]) {
        description["components"]["schemas"][group] = settings[group].clone();
    }
    description
}

/// What JSON Lines without a key come to.
const BATCHES: &str = "A request is learned from as a whole or not at all, with one exception: uncompressed JSON Lines without an \
    Idempotency-Key are learned batch by batch, while they come. If the first is refused, the request is refused like any \
    other. Otherwise they are answered with status 200 and JSON Lines: a receipt for each batch. If a later batch is refused, \
    nothing of it is learned, the last line is {\"problem\": ...}, and its \
    \"rows-learned\" counts the rows of the batches before. With a key, JSON Lines are learned as a whole.";

/// The group of the settings of learning.
const LEARNING: &str = "learning";

/// The same for people.
pub(crate) fn page() -> Response {
    let mut out = String::from(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Rosenblatt</title><link rel=icon href=data:,>\
         <body><h1>Rosenblatt</h1><p>Predictions, and online learning that loses nothing. \
         <a href=/openapi.json>openapi.json</a> says the same for programs.</p>\
         <h2>Paths</h2><table><tr><th>method<th>path<th>scope<th>what it does</tr>",
    );
    for route in ROUTES {
        let Route { method, path, summary, .. } = route;
        let scope = scope_name(route.scope);
        // Writing to a string cannot fail.
        let _ = write!(out, "<tr><td>{method}<td><code>{path}</code><td>{scope}<td>{summary}</tr>");
    }
    out.push_str("</table><h2>Bodies</h2><ul>");
    for (name, _) in CONTENT_TYPES {
        let _ = write!(out, "<li><code>{name}</code></li>");
    }
    out.push_str(
        "</ul><p>Packed with gzip or zstd, or not at all. JSON is <code>{\"rows\": [...]}</code>, a list of rows or one \
         row; a row is an object by names of columns, a list in the order of columns, or a text; labels stand in the rows or in \
         <code>\"labels\"</code>. JSON Lines are answered while they come; <code>learn</code> \
         learns from them batch by batch, or as a whole if they have an <code>Idempotency-Key</code>.</p>\
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
