//! What travels between processes that learn together: a container like a model's, with a text of its own and lists.
//!
//! The prefix, the checksum and the arrays are those of `FORMAT.md`; only the header's text differs, which its owner knows.

use super::file::{Array, Arrays, Body, FormatError, header_error, pack, unpack};
use rosenblatt_core::state::List;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Header<T> {
    format: String,
    writer: String,
    text: T,
    arrays: Vec<Array>,
}

/// A container of this kind.
pub(crate) fn bundle<'a>(
    kind: &'static str,
    text: &impl Serialize,
    lists: impl IntoIterator<Item = (&'a str, &'a List<'a>)>,
) -> Vec<u8> {
    let mut body = Body::default();
    for (name, list) in lists {
        body.list(name, list);
    }
    let (format, writer) = (kind.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let arrays = std::mem::take(&mut body.arrays);
    pack(&Header { format, writer, text, arrays }, &body)
}

/// What is in a container of this kind.
pub(crate) fn unbundle<T: DeserializeOwned>(
    kind: &'static str,
    bytes: &[u8],
) -> Result<(T, Vec<(String, List<'static>)>), FormatError> {
    let (_, header, body) = unpack(bytes, &[kind])?;
    let header: Header<T> = serde_json::from_slice(header).map_err(|error| header_error(&error))?;
    let n_lists = header.arrays.len();
    let mut arrays = Arrays::new(header.arrays, body);
    let lists = (0..n_lists).map(|_| arrays.next_list()).collect::<Result<_, _>>()?;
    arrays.finish()?;
    Ok((header.text, lists))
}
