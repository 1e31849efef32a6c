//! Who may ask for what: tokens with scopes, and no request that a page of another site has sent.

use crate::config::Config;
use crate::problem::{Problem, with_flags};
use axum::http::{HeaderMap, Uri, header};
use sha2::{Digest, Sha256};
use std::io;
use std::net::IpAddr;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Predictions, reasons, descriptions and counts.
    Predict,
    /// Learning.
    Learn,
    /// New versions, going back, files.
    Admin,
}

/// Their names in a file of tokens.
pub(crate) const SCOPES: [(&str, Scope); 3] =
    [("predict", Scope::Predict), ("learn", Scope::Learn), ("admin", Scope::Admin)];

/// The fewest letters of a token.
const LEAST_LETTERS: usize = 16;

type Sum = [u8; 32];

/// All tokens, by their digests.
#[derive(Default)]
pub(crate) struct Tokens(Vec<(Sum, Vec<Scope>)>);

impl Tokens {
    /// Reads a file of lines `TOKEN predict,learn,admin`; a token may stand there as `sha256:DIGITS`.
    pub(crate) fn parse(text: &str) -> io::Result<Self> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: &str| {
                let message = format!("line {} of the tokens {what}", number + 1);
                io::Error::new(io::ErrorKind::InvalidData, message)
            };
            let (token, scopes) = line
                .split_once(char::is_whitespace)
                .ok_or_else(|| wrong("should be a token and its scopes"))?;
            let sum = match token.strip_prefix("sha256:") {
                Some(digits) => {
                    from_digits(digits).ok_or_else(|| wrong("should have 64 hexadecimal digits"))?
                }
                None if token.len() < LEAST_LETTERS => {
                    return Err(wrong("should have a token of 16 letters or more"));
                }
                None => sum_of(token),
            };
            let scopes = scopes.split(',').map(|name| {
                let found = SCOPES.iter().find(|(known, _)| *known == name.trim());
                found
                    .map(|(_, scope)| *scope)
                    .ok_or_else(|| wrong("should name scopes among predict, learn, admin"))
            });
            tokens.push((sum, scopes.collect::<io::Result<_>>()?));
        }
        if tokens.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file of tokens holds none"));
        }
        Ok(Self(tokens))
    }

    /// Whether these headers allow this.
    pub(crate) fn check(&self, headers: &HeaderMap, needed: Scope) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let scheme = header.and_then(|value| value.split_once(' '));
        let token =
            scheme.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        let absent = || {
            Problem::new("no-token", "this server wants a token")
                .with_help("send the header `Authorization: Bearer TOKEN`")
        };
        let unknown = || {
            Problem::new("no-token", "the server does not know this token")
                .with_help("check it against the file of tokens; the server reads that file when it starts")
        };
        let sum = sum_of(token.filter(|token| !token.is_empty()).ok_or_else(absent)?);
        // All are compared, each to its end, so that the time it takes tells nothing.
        let mut scopes = None;
        for (known, allowed) in &self.0 {
            if is_same(known, &sum) {
                scopes = Some(allowed);
            }
        }
        let scopes = scopes.ok_or_else(unknown)?;
        if scopes.contains(&needed) {
            Ok(())
        } else {
            let named = |scopes: &[Scope]| -> String {
                let named = SCOPES.iter().filter(|(_, scope)| scopes.contains(scope));
                named.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            };
            let message =
                format!("this needs the scope {}; the token has {}", named(&[needed]), named(scopes));
            Err(Problem::new("not-allowed", message))
        }
    }
}

fn sum_of(token: &str) -> Sum {
    Sha256::digest(token).into()
}

/// Compares digests in a time that does not depend on where they differ.
fn is_same(a: &Sum, b: &Sum) -> bool {
    std::hint::black_box(a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b))) == 0
}

fn from_digits(digits: &str) -> Option<Sum> {
    let mut sum = [0; 32];
    if digits.len() != 64 || !digits.is_ascii() {
        return None;
    }
    for (place, byte) in sum.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(sum)
}

/// The name of a host without its port.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Refuses what a page of another site has sent: its requests carry another host, or an origin that is not this one.
pub(crate) fn check_host(config: &Config, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let foreign =
        |what: &str, help: &str| Err(Problem::new("foreign", what).with_help(with_flags(&help.into())));
    let mut hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or("?"));
    let named = hosts.next();
    if hosts.next().is_some() {
        return Err(Problem::new("bad-request", "the request names its host twice"));
    }
    // A target with a host of its own is what the request is for, whatever its header says.
    let Some(host) = uri.authority().map(axum::http::uri::Authority::as_str).or(named) else {
        return foreign("the request names no host", "send a `Host` header");
    };
    let name = without_port(host);
    let is_given = config.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
    let address = name.parse::<IpAddr>().ok();
    let is_own = name.eq_ignore_ascii_case("localhost")
        || address.is_some_and(|address| address.is_loopback() || address == config.address.ip());
    let takes_all = config.address.ip().is_unspecified() && config.hosts.is_empty();
    if !(is_given || is_own || takes_all) {
        let help = "if this is the server's name, start it with {host=NAME}";
        return foreign("the request is for another host", help);
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let same = origin.split_once("://").is_some_and(|(_, site)| site.eq_ignore_ascii_case(host));
        if !same {
            let help = "have the server of that page ask, or put both behind one host, with {host=NAME}";
            return foreign("the request was sent by a page of another site", help);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_and_told_apart() {
        let digits = format!("{:x}", Sha256::digest("another-token-123"));
        let tokens =
            Tokens::parse(&format!("# a\nthe-first-token-1 predict,learn\nsha256:{digits} admin\n")).unwrap();
        let check = |value: Option<&str>, scope| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            }
            tokens.check(&headers, scope).err().map(|problem| problem.code())
        };
        assert_eq!(check(Some("Bearer the-first-token-1"), Scope::Learn), None);
        assert_eq!(check(Some("Bearer the-first-token-1"), Scope::Admin), Some("not-allowed"));
        assert_eq!(check(Some("Bearer another-token-123"), Scope::Admin), None);
        assert_eq!(check(Some("bearer another-token-123"), Scope::Admin), None);
        for wrong in [
            None,
            Some("Bearer the-first-token-2"),
            Some("the-first-token-1"),
            Some("Bearer "),
            Some("Basic x"),
        ] {
            assert_eq!(check(wrong, Scope::Predict), Some("no-token"), "{wrong:?}");
        }
        for wrong in
            ["", "short predict", "long-enough-token-1", "long-enough-token-1 all", "sha256:12 admin"]
        {
            assert!(Tokens::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn requests_of_other_sites_are_refused() {
        let config = Config { hosts: vec!["models.example".to_owned()], ..Config::default() };
        let check = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            check_host(&config, &Uri::from_static("/"), &headers).is_ok()
        };
        for host in ["localhost", "127.0.0.1:8080", "[::1]:80", "models.example:8080", "LOCALHOST:1"] {
            assert!(check(host, None), "{host}");
            assert!(check(host, Some(&format!("http://{host}"))), "{host}");
            for origin in ["null", "http://evil.example", "http://localhost:1"] {
                assert!(!check(host, Some(origin)) || host.ends_with(":1"), "{host} {origin}");
            }
        }
        for host in ["evil.example", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
            assert!(!check(host, None), "{host}");
        }
    }
}
