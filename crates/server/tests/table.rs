//! One table of routes: what it says of a path, a method and a scope is what a request meets.

use crate::bench::{Bench, ask, pets};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Tokens, and the one scope of each.
const TOKENS: [(&str, &str); 4] =
    [("", ""), ("predict-token-01", "predict"), ("learn-only-token", "learn"), ("admin-only-token", "admin")];

fn bench() -> (tempfile::TempDir, Bench) {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    let lines: Vec<String> = TOKENS[1..].iter().map(|(token, scope)| format!("{token} {scope}\n")).collect();
    std::fs::write(&tokens, lines.concat()).unwrap();
    (folder, Bench::with(&[("pets", pets())], |config| config.tokens = Some(tokens)))
}

fn status(bench: &Bench, method: &str, path: &str, token: &str) -> u16 {
    let value = format!("Bearer {token}");
    let headers = [("authorization", value.as_str())];
    ask(bench.address, method, path, if token.is_empty() { &[] } else { &headers }, b"").status
}

#[test]
fn every_route_is_open_to_its_scope_and_to_no_other_by_every_method() {
    let (_folder, bench) = bench();
    let description = bench.get("/openapi.json").ok().value();
    let mut n_asked = 0;
    for (path, operations) in description["paths"].as_object().unwrap() {
        let place = path.replace("{name}", "pets").replace("{version}", "1");
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let of_table = if method == "HEAD" { "get" } else { &method.to_lowercase() };
            let operation = operations.get(of_table);
            // A path that does not take the method is named to those who may predict.
            let scope =
                operation.map_or(Some("predict"), |operation| operation["security"][0]["token"][0].as_str());
            for (token, allowed) in TOKENS {
                let found = status(&bench, method, &place, token);
                let what = format!("{method} {place} with {allowed:?}: {found}");
                match scope {
                    Some(_) if token.is_empty() => assert_eq!(found, 401, "{what}"),
                    Some(scope) if scope != allowed => assert_eq!(found, 403, "{what}"),
                    _ if operation.is_none() => assert_eq!(found, 405, "{what}"),
                    // Versions follow each other while this asks for new ones.
                    _ if found == 404 => assert!(path.contains("{version}"), "{what}"),
                    _ => assert!(!matches!(found, 0 | 401 | 403 | 405 | 500), "{what}"),
                }
                n_asked += 1;
            }
        }
    }
    assert!(n_asked > 500, "{n_asked}");
}

#[test]
fn every_route_names_the_words_of_its_query_and_refuses_all_others() {
    let bench = Bench::new(&[("pets", pets())]);
    let description = bench.get("/openapi.json").ok().value();
    let (mut n_words, mut n_routes) = (0, 0);
    for (path, operations) in description["paths"].as_object().unwrap() {
        let place = path.replace("{name}", "pets").replace("{version}", "1");
        for (method, operation) in operations.as_object().unwrap() {
            let method = method.to_uppercase();
            let known: Vec<&str> = operation["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|parameter| parameter["in"] == "query")
                .map(|parameter| parameter["name"].as_str().unwrap())
                .collect();
            let refused = |query: &str| {
                let answer = ask(bench.address, &method, &format!("{place}?{query}"), &[], b"");
                let value = answer.value();
                assert_eq!((answer.status, answer.code().as_str()), (400, "bad-request"), "{query}: {value}");
                ["detail", "help"].map(|part| value[part].as_str().unwrap_or_default().to_owned())
            };
            for query in ["nonsense", "nonsense=1", "nonsense=", "=&nonsense=true"] {
                // A word without a name is unknown, too.
                let named = query.split('=').next().unwrap();
                let [detail, help] = refused(query);
                assert!(detail.contains(&format!("`{named}`")), "{method} {place}?{query}: {detail}");
                assert!(known.iter().all(|word| help.contains(&format!("`{word}`"))), "{help}");
                assert!(!known.is_empty() || help == "this path takes no query", "{help}");
            }
            for word in &known {
                let [detail, _] = refused(&format!("{word}=maybe"));
                assert!(detail.contains(&format!("`{word}`")), "{detail}");
                let [_, help] = refused(&format!("{word}s"));
                assert!(help.starts_with(&format!("did you mean `{word}`?")), "{help}");
                n_words += 1;
            }
            n_routes += 1;
        }
    }
    assert!(n_words >= 6 && n_routes > 20, "{n_words} words of {n_routes} routes");
    assert_eq!(bench.get("/v1/models/pets/versions").ok().value()["current"], 1, "nothing was made");
}

#[test]
fn head_is_get_without_its_body() {
    let (_folder, bench) = bench();
    assert_eq!(status(&bench, "HEAD", "/v1/models/pets/file", "predict-token-01"), 403);
    for (path, token) in
        [("/healthz", ""), ("/v1/models", "predict-token-01"), ("/v1/models/pets/file", "admin-only-token")]
    {
        let value = format!("Bearer {token}");
        let headers = [("authorization", value.as_str())];
        let [get, head] = ["GET", "HEAD"].map(|method| ask(bench.address, method, path, &headers, b"").ok());
        assert!(!get.body.is_empty() && head.body.is_empty(), "{path}");
        let length = format!("content-length: {}", get.body.len());
        assert!(head.head.contains(&length), "{path}: {}", head.head);
    }
    let refused =
        ask(bench.address, "DELETE", "/healthz", &[("authorization", "Bearer predict-token-01")], b"");
    assert!(refused.head.contains("allow: get,head"), "{}", refused.head);
}

#[test]
fn the_open_inference_protocol_finds_its_errors() {
    let bench = Bench::new(&[("pets", pets())]);
    let bodies =
        ["{}", r#"{"inputs": [{"name": "rows", "shape": [2, 2], "datatype": "FP64", "data": [1]}]}"#];
    let mut answers: Vec<_> = bodies.iter().map(|body| bench.json("/v2/models/pets/infer", body)).collect();
    answers.push(bench.get("/v2/models/dogs"));
    answers.push(bench.get("/v2/nothing"));
    answers.push(bench.json("/v2/health/live", ""));
    for answer in answers {
        let value = answer.value();
        assert!((400..500).contains(&answer.status), "{value}");
        assert!(value["error"].as_str().is_some_and(|reason| reason.len() > 10), "{value}");
        assert!(value["error"].as_str().unwrap().starts_with(value["detail"].as_str().unwrap()), "{value}");
    }
    assert!(bench.get("/v1/models/dogs").value().get("error").is_none(), "below /v2 only");
}

#[test]
fn names_that_are_no_text_are_problems_like_any_other() {
    let bench = Bench::new(&[("pets", pets())]);
    for path in
        ["/v1/models/%ff", "/v1/models/%ff/versions", "/v1/models/pets/versions/x/file", "/v2/models/%c3%28"]
    {
        let answer = bench.get(path);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "bad-request"),
            "{path}: {}",
            answer.text()
        );
        assert!(answer.head.contains("application/problem+json"), "{}", answer.head);
    }
}

#[test]
fn a_request_has_one_host() {
    let bench = Bench::new(&[("pets", pets())]);
    for (request, status) in [
        ("GET /v1/models HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n", 400),
        ("GET /v1/models HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n", 400),
        ("GET http://evil.example/v1/models HTTP/1.1\r\nhost: localhost\r\n", 403),
        ("GET http://localhost/v1/models HTTP/1.1\r\nhost: localhost\r\n", 200),
    ] {
        let mut stream = TcpStream::connect(bench.address).unwrap();
        stream.write_all(format!("{request}connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        assert_eq!(crate::bench::answer(&bytes).status, status, "{request}");
    }
}
