//! TLS and HTTP/2, spoken by rustls and hyper: the answers of plain HTTP/1.1.

use crate::bench::{Bench, pets};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::{http1, http2};
use hyper::{Request, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const PREDICT: &str = "/v1/models/pets/predict";
const BODY: &str = "[[4, 4], [2, 0.1]]";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

fn bench(with_tls: bool) -> Bench {
    Bench::with(&[("pets", pets())], |config| {
        config.tls = with_tls.then(|| (file("chain.pem"), file("key.pem")));
        config.limits.timeout = Duration::from_secs(2);
    })
}

fn now<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), work).await.expect("in time") })
}

fn request(scheme: &str) -> Request<Full<Bytes>> {
    let address = format!("{scheme}://localhost{PREDICT}");
    let request =
        Request::post(address).header("host", "localhost").header("content-type", "application/json");
    request.body(Full::new(Bytes::from_static(BODY.as_bytes()))).unwrap()
}

/// Asks `n_requests` times at once, and gives the bodies.
async fn asked<S>(stream: S, version: Version, scheme: &'static str, n_requests: usize) -> Vec<Bytes>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(stream);
    let mut bodies = Vec::new();
    let mut take = async |response: hyper::Response<hyper::body::Incoming>| {
        assert_eq!((response.status(), response.version()), (StatusCode::OK, version));
        bodies.push(response.into_body().collect().await.unwrap().to_bytes());
    };
    if version == Version::HTTP_2 {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        let one = |_| {
            let mut sender = sender.clone();
            tokio::spawn(async move { sender.send_request(request(scheme)).await.unwrap() })
        };
        let waiting: Vec<_> = (0..n_requests).map(one).collect();
        for response in waiting {
            take(response.await.unwrap()).await;
        }
    } else {
        let (mut sender, connection) = http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        for _ in 0..n_requests {
            sender.ready().await.unwrap();
            take(sender.send_request(request(scheme)).await.unwrap()).await;
        }
    }
    bodies
}

/// A handshake with the server that has the certificate of the tests.
async fn encrypted(bench: &Bench, protocol: &str) -> tokio_rustls::client::TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("chain.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(bench.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
    stream
}

#[test]
fn every_protocol_gives_the_same_answer() {
    let (plain, closed) = (bench(false), bench(true));
    let expected = Bytes::from(plain.json(PREDICT, BODY).ok().body);
    now(async {
        let stream = TcpStream::connect(plain.address).await.unwrap();
        let bodies = asked(stream, Version::HTTP_2, "http", 200).await;
        assert_eq!(bodies, vec![expected.clone(); 200], "HTTP/2 without TLS");
        let bodies = asked(encrypted(&closed, "http/1.1").await, Version::HTTP_11, "https", 3).await;
        assert_eq!(bodies, vec![expected.clone(); 3], "HTTP/1.1 over TLS");
        let bodies = asked(encrypted(&closed, "h2").await, Version::HTTP_2, "https", 200).await;
        assert_eq!(bodies, vec![expected.clone(); 200], "HTTP/2 over TLS");
    });
}

#[test]
fn who_does_not_shake_hands_is_cut_off() {
    let bench = bench(true);
    now(async {
        for bytes_sent in
            [&b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"[..], b"", &[0x16, 3, 1, 0xFF, 0xFF]]
        {
            let mut stream = TcpStream::connect(bench.address).await.unwrap();
            stream.write_all(bytes_sent).await.unwrap();
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes).await;
            assert!(!bytes.starts_with(b"HTTP"), "nothing is sent in the clear");
        }
        assert_eq!(asked(encrypted(&bench, "h2").await, Version::HTTP_2, "https", 1).await.len(), 1);
    });
}

#[test]
fn a_key_or_chain_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing\n").unwrap();
    for (chain, key) in [(empty.clone(), file("key.pem")), (file("chain.pem"), empty.clone())] {
        let config = rosenblatt_server::Config {
            folder: folder.path().to_owned(),
            address: ([127, 0, 0, 1], 0).into(),
            tls: Some((chain, key)),
            ..rosenblatt_server::Config::default()
        };
        let error = rosenblatt_server::Server::open(config).err().expect("nothing is served").to_string();
        assert!(error.contains("empty.pem"), "{error}");
    }
}
