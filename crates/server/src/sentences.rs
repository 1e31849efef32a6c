//! Sentences: a body with tokens becomes one with tags. Bodies are read, and answers made, as the command line does both.

use crate::answers::{Form, Wish};
use crate::bodies::{self, Kind, MORE_ROWS};
use crate::config::Limits;
use crate::problem::{Problem, with_flags};
use rosenblatt::data::{SentenceStream, Sentences, Source, find_sentence_format, sentences};
use rosenblatt::tagger::{Room, Tagger, Telling, agreement_report};
use serde_json::Value;

/// The sentences of a body.
fn read(kind: Kind, bytes: &[u8], labelled: bool) -> Result<SentenceStream, Problem> {
    let (format, text) = match kind {
        // What a text looks like decides.
        Kind::Data(Some("text") | None) => (None, bytes.into()),
        Kind::Data(Some(name)) => (Some(name), bytes.into()),
        Kind::JsonLines => (Some("token-lists"), bytes.into()),
        Kind::Json => {
            let (format, text) = bodies::token_lists(bytes, labelled)?;
            (Some(format), text.into())
        }
    };
    let format = format.map(find_sentence_format).transpose().map_err(|_| {
        Problem::new(
            "unknown-type",
            "this model labels the tokens of sentences, and the content type is one of tables",
        )
        .with_help("send application/json, application/x-ndjson, text/plain, text/x-conll or text/x-conllu")
    })?;
    let text: std::borrow::Cow<'_, [u8]> = text;
    Ok(sentences(&Source::bytes("body", text.into_owned()), format)?)
}

fn check_number(n_sentences: usize, limits: &Limits) -> Result<(), Problem> {
    if n_sentences <= limits.rows {
        return Ok(());
    }
    let message = format!("a request may have {} sentences, and this one has more", limits.rows);
    Err(Problem::new("limit", message).with_help(with_flags(&MORE_ROWS.into())))
}

/// The bytes of the answer and the number of sentences; `preface` are the first members of a JSON object.
pub(crate) fn answered(
    tagger: Tagger<'_>,
    (kind, bytes): (Kind, &[u8]),
    wish: Wish,
    (form, preface): (Form, &str),
    limits: &Limits,
) -> Result<(Vec<u8>, u64), Problem> {
    let telling = Telling {
        scores: wish.scores,
        probabilities: wish.probabilities,
        explain: wish.explain,
        k_best: None,
    };
    let mut stream = read(kind, bytes, false)?;
    let (mut block, mut room) = (Sentences::default(), Room::default());
    let (mut n_sentences, mut text, mut objects) = (0, String::new(), Vec::new());
    while stream.next(&mut block)? {
        n_sentences += block.len();
        check_number(n_sentences, limits)?;
        if form == Form::Text {
            tagger.write(&block, stream.format(), &mut room, &mut text)?;
            continue;
        }
        for number in 0..block.len() {
            objects.push(tagger.object(&block, number, stream.format(), telling, &mut room)?.to_string());
        }
    }
    let written = match form {
        Form::Text => text,
        Form::JsonLines => objects.join("\n") + "\n",
        _ => format!("{{{preface},\"predictions\":[{}]}}", objects.join(",")),
    };
    Ok((written.into_bytes(), n_sentences as u64))
}

/// How well it does on sentences with labels.
pub(crate) fn evaluated(tagger: Tagger<'_>, kind: Kind, bytes: &[u8]) -> Result<Value, Problem> {
    Ok(agreement_report(&tagger.evaluate_all(read(kind, bytes, true)?)?))
}
