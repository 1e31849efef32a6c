//! TLS, if it was built in; else a refusal that says how to get it.

use std::io;
use std::path::Path;
use tokio::net::TcpStream;

/// What makes an encrypted stream of a plain one.
#[cfg(feature = "tls")]
#[derive(Clone)]
pub(crate) struct Tls(tokio_rustls::TlsAcceptor);

#[cfg(feature = "tls")]
impl Tls {
    /// Reads a certificate chain and its private key, both PEM.
    pub(crate) fn open(chain: &Path, key: &Path) -> io::Result<Self> {
        use rustls::pki_types::pem::PemObject as _;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};
        use std::sync::Arc;
        let wrong = |path: &Path, error: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        };
        let certificates: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(crate::read(chain)?.as_bytes())
                .collect::<Result<_, _>>()
                .map_err(|error| wrong(chain, &error))?;
        let key_file = key;
        let key = PrivateKeyDer::from_pem_slice(crate::read(key)?.as_bytes())
            .map_err(|error| wrong(key_file, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(chain, &error))?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(|error| wrong(chain, &error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(tokio_rustls::TlsAcceptor::from(Arc::new(config))))
    }

    /// Shakes hands.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<tokio_rustls::server::TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}

/// There is none.
#[cfg(not(feature = "tls"))]
#[derive(Clone)]
pub(crate) enum Tls {}

#[cfg(not(feature = "tls"))]
impl Tls {
    /// Refuses.
    pub(crate) fn open(_: &Path, _: &Path) -> io::Result<Self> {
        let message = "this program was built without TLS; build it with the feature `tls`, as \
                       `cargo install --path crates/cli --features full` does, or put a proxy with TLS in front";
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// Cannot be called.
    pub(crate) async fn accept(&self, _: TcpStream) -> io::Result<TcpStream> {
        match *self {}
    }
}
