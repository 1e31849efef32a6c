//! Clients that mean no good, at the length of a test: each is answered or cut off, and the others do not notice.

use crate::bench::{Bench, answer, ask, pets};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

fn bench() -> Bench {
    Bench::with(&[("pets", pets())], |config| {
        config.limits.timeout = Duration::from_secs(1);
        config.limits.idle = Duration::from_secs(3);
        config.limits.body_bytes = 1 << 20;
    })
}

/// Sends bytes and reads what comes until the other side hangs up; `None` if it never does.
fn raw(bench: &Bench, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(bench.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let _ = stream.write_all(bytes);
    let mut out = Vec::new();
    let mut some = [0; 4096];
    loop {
        match stream.read(&mut some) {
            Ok(0) => return Some(out),
            Ok(n) => out.extend(&some[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return None,
            Err(_) => return Some(out),
        }
    }
}

fn goes_on(bench: &Bench) {
    bench.json("/v1/models/pets/predict", "[[4, 4]]").ok();
}

#[test]
fn slow_and_silent_clients_are_cut_off() {
    let bench = bench();
    let began = Instant::now();
    // Headers that never end, a body that never comes, and silence.
    assert!(raw(&bench, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ").is_some());
    let half = b"POST /v1/models/pets/predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n[[4";
    assert_eq!(answer(&raw(&bench, half).unwrap()).status, 408);
    assert!(raw(&bench, b"").is_some());
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    // One byte now and then is no better.
    let mut stream = TcpStream::connect(bench.address).unwrap();
    let mut is_cut = false;
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n");
    for _ in 0..40 {
        is_cut |= stream.write_all(b"a: b\r\n").is_err();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(is_cut, "slow headers are cut off");
    // A client that is silent after its answer keeps no one waiting.
    let mut stream = TcpStream::connect(bench.address).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    assert_eq!(answer(&bytes).status, 200);
    let page = bench.get("/metrics").ok().text();
    assert!(page.contains("\nrosenblatt_cut_off_total 4\n"), "{page}");
    goes_on(&bench);
}

#[test]
fn heads_and_bodies_without_end_are_refused() {
    let bench = bench();
    let many = "x: y\r\n".repeat(10_000);
    let long = format!("x: {}\r\n", "y".repeat(1 << 20));
    for headers in [many, long] {
        let answered =
            raw(&bench, format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").as_bytes());
        let status = answer(&answered.unwrap()).status;
        assert!(matches!(status, 0 | 400 | 431), "{status}");
    }
    for twice in
        ["content-length: 4\r\ncontent-length: 5\r\n", "content-length: 4\r\ntransfer-encoding: chunked\r\n"]
    {
        let request = format!("POST /v1/models/pets/predict HTTP/1.1\r\nhost: localhost\r\n{twice}\r\n[[1]]");
        let answered = answer(&raw(&bench, request.as_bytes()).unwrap());
        assert_ne!(answered.status, 200, "{}", answered.text());
    }
    // Chunks without end are read no further than the limit.
    let mut stream = TcpStream::connect(bench.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    stream
        .write_all(
            b"POST /v1/models/pets/predict HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .unwrap();
    let chunk = [b"10000\r\n".as_slice(), &vec![b'['; 1 << 16], b"\r\n"].concat();
    let mut n_sent = 0;
    while n_sent < 10_000 && stream.write_all(&chunk).is_ok() {
        n_sent += 1;
    }
    assert!(n_sent < 1000, "{n_sent} chunks of 64 KiB were taken");
    let deep = "[".repeat(100_000);
    for body in [deep.clone(), format!("[{{\"legs\": {deep}")] {
        assert_eq!(bench.json("/v1/models/pets/predict", &body).code(), "bad-body");
    }
    assert!(matches!(
        bench.post("/v1/models/pets/predict", "text/csv", b"legs,weight\n\xFF\xFE,1\n").status,
        400 | 422
    ));
    assert!(matches!(
        bench.post("/v1/models/pets/predict", "application/json", b"[[\"\xFF\", 1]]").status,
        400 | 422
    ));
    goes_on(&bench);
}

#[test]
fn names_lead_nowhere_else() {
    let bench = bench();
    let outside = format!("outside-{}", std::process::id());
    let beside = bench.folder.join("..").join(format!("{outside}.model"));
    std::fs::write(&beside, pets()).unwrap();
    let names = [
        &format!("..%2f{outside}"),
        &format!("%2e%2e%2f{outside}"),
        "..",
        "%252e%252e",
        "a%5cb",
        "C:",
        "%00",
        "/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "pets.serve%2f1",
        ".hidden",
        "%ff%fe",
        "pets%0a",
    ];
    for name in names {
        for (method, path) in
            [("GET", ""), ("PUT", ""), ("POST", "/predict"), ("GET", "/file"), ("GET", "/versions/1/file")]
        {
            let answered = ask(bench.address, method, &format!("/v1/models/{name}{path}"), &[], &pets());
            assert!((400..500).contains(&answered.status), "{method} {name}{path}: {}", answered.status);
        }
    }
    let long = "x".repeat(10_000);
    assert!((400..500).contains(&bench.get(&format!("/v1/models/{long}")).status));
    std::fs::remove_file(beside).unwrap();
    let left: Vec<_> =
        std::fs::read_dir(&bench.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        left.iter()
            .all(|name| name.to_string_lossy().contains("pets") || name.to_string_lossy().ends_with(".lock")),
        "{left:?}"
    );
}

#[test]
fn pages_of_other_sites_are_refused_everywhere() {
    let bench = bench();
    for path in ["/healthz", "/docs", "/metrics", "/v1/models", "/v1/models/pets", "/nothing"] {
        for headers in [
            [("host", "evil.example"), ("x", "y")],
            [("host", "localhost"), ("origin", "http://evil.example")],
            [("host", "localhost"), ("origin", "null")],
        ] {
            assert_eq!(ask(bench.address, "GET", path, &headers, b"").status, 403, "{path} {headers:?}");
        }
    }
}

#[test]
fn half_closed_and_idle_connections_do_no_harm() {
    let bench = bench();
    let mut stream = TcpStream::connect(bench.address).unwrap();
    let body = "[[4, 4]]";
    let request = format!(
        "POST /v1/models/pets/predict HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut out = Vec::new();
    stream.read_to_end(&mut out).unwrap();
    assert_eq!(answer(&out).status, 200, "half a connection is enough for an answer");
    let idle: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(bench.address).unwrap()).collect();
    goes_on(&bench);
    // Who leaves in the middle is not waited for.
    for stream in &idle[..100] {
        let mut stream = stream;
        let _ = stream.write_all(&request.as_bytes()[..request.len() - 3]);
        let _ = stream.shutdown(Shutdown::Both);
    }
    goes_on(&bench);
    drop(idle);
}

#[test]
fn bodies_that_do_not_come_take_nobody_a_place_and_all_of_them_have_a_bound() {
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.limits.timeout = Duration::from_secs(20);
        config.limits.requests = 2;
        config.limits.body_bytes = 16 << 20;
        config.limits.bodies_bytes = 1 << 20;
    });
    let begin = |length: usize, bytes: &[u8]| {
        let head = format!(
            "POST /v1/models/pets/predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(bench.address).unwrap();
        stream.write_all(&[head.as_bytes(), bytes].concat()).unwrap();
        stream
    };
    // More of them than places: they wait for their own bodies, and for no others.
    let waiting: Vec<TcpStream> = (0..8).map(|_| begin(100, b"[[4")).collect();
    goes_on(&bench);
    // What is held of all bodies is as much as was allowed, and then there is room again.
    let large = begin((1 << 20) - 10, &vec![b' '; 1 << 19]);
    // Who is refused early may send all of its body, and reads why: it is not reset in the middle.
    for (length, status) in [((1 << 20) - 10, 503), (16 << 20, 503), ((16 << 20) + 1, 413)] {
        let mut refused = begin(length, &vec![b' '; length]);
        let mut bytes = Vec::new();
        refused.read_to_end(&mut bytes).unwrap();
        assert_eq!(answer(&bytes).status, status, "{}", String::from_utf8_lossy(&bytes));
    }
    drop((waiting, large));
    crate::api::soon("there is room again", || {
        let body = format!("[[4, 4]{}]", " ".repeat(900 << 10));
        bench.json("/v1/models/pets/predict", &body).status == 200
    });
}

/// What comes of a request on a connection that the client would keep, and whether the next one is answered.
fn kept(bench: &Bench, request: &[u8]) -> (u16, bool, bool) {
    let mut stream = TcpStream::connect(bench.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    stream.write_all(request).unwrap();
    let (mut head, mut one) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut one).unwrap();
        head.push(one[0]);
    }
    let first = answer(&head);
    let length = first.head.split("content-length: ").nth(1).unwrap().split('\r').next().unwrap();
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).unwrap();
    let is_announced = first.head.contains("connection: close");
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    (first.status, is_announced, answer(&rest).status == 200)
}

#[test]
fn an_answer_before_the_end_of_the_body_says_that_the_connection_ends() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "predict-token-01 predict\n").unwrap();
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.limits.timeout = Duration::from_secs(1);
        config.limits.body_bytes = 1 << 20;
        config.tokens = Some(tokens);
    });
    let (token, json) = ("authorization: Bearer predict-token-01\r\n", "content-type: application/json\r\n");
    let predict = "POST /v1/models/pets/predict";
    let known = format!("{token}{json}");
    let text = format!("{token}content-type: text/x-nothing\r\n");
    for (line, headers, status) in [
        (predict, json, 401),
        (predict, "authorization: Bearer another-token-01\r\n", 401),
        ("POST /v1/models/pets/learn", token, 403),
        (predict, "host: evil.example\r\n", 400),
        ("POST /v1/nothing", token, 404),
        ("POST /v1/models/dogs/predict", token, 404),
        ("DELETE /v1/models/pets", token, 405),
        ("POST /v1/models/pets/predict?nonsense=1", token, 400),
        (predict, text.as_str(), 415),
        // The body does not come, and is not waited for any longer.
        (predict, known.as_str(), 408),
        // It is not needed.
        ("GET /v1/models/pets", token, 200),
    ] {
        for body in ["content-length: 100000\r\n", "transfer-encoding: chunked\r\n"] {
            let request = format!("{line} HTTP/1.1\r\nhost: localhost\r\n{headers}{body}\r\n");
            let (found, is_announced, goes_on) = kept(&bench, request.as_bytes());
            assert_eq!((found, is_announced, goes_on), (status, true, false), "{request}");
        }
    }
    let large = format!("{predict} HTTP/1.1\r\nhost: localhost\r\n{known}content-length: 9999999\r\n\r\n[");
    assert_eq!(kept(&bench, large.as_bytes()), (413, true, false));
    // Where the whole body was read, or there is none, the connection goes on, whatever the answer.
    for (line, body, status) in [
        (predict, "[[4, 4]]", 200),
        (predict, "[[4, 4", 400),
        (predict, "[[4, 4, 4]]", 422),
        ("GET /v1/models/dogs", "", 404),
        ("GET /v1/models/pets/file", "", 403),
    ] {
        let length = body.len();
        let request =
            format!("{line} HTTP/1.1\r\nhost: localhost\r\n{known}content-length: {length}\r\n\r\n{body}");
        assert_eq!(kept(&bench, request.as_bytes()), (status, false, true), "{request}");
    }
    let chunked = format!(
        "{predict} HTTP/1.1\r\nhost: localhost\r\n{known}transfer-encoding: chunked\r\n\r\n8\r\n[[4, 4]]\r\n0\r\n\r\n"
    );
    assert_eq!(kept(&bench, chunked.as_bytes()), (200, false, true));
}

#[test]
fn a_server_ends_in_its_time_whatever_is_being_learned() {
    let mut bench = Bench::with(&[("pets", pets())], |config| {
        config.limits.drain = Duration::from_secs(1);
        config.limits.classes = 100_000;
    });
    let rows: Vec<String> = (0..20_000).map(|row| format!("{},{row},class number {row}", row % 5)).collect();
    let body = format!("legs,weight,label\n{}\n", rows.join("\n"));
    let address = bench.address;
    let client = std::thread::spawn(move || {
        ask(address, "POST", "/v1/models/pets/learn", &[("content-type", "text/csv")], body.as_bytes())
    });
    let log = bench.folder.join("pets.serve/1.log");
    crate::api::soon("it is in the log", || std::fs::metadata(&log).is_ok_and(|log| log.len() > 1000));
    let began = Instant::now();
    bench.stop();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_ne!(client.join().unwrap().status, 200, "it was still being learned");
}
