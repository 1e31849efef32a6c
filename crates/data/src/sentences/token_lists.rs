//! JSON Lines of token lists: one sentence a line, `{"tokens": ["He", "runs"], "tags": ["PRP", "VBZ"]}`.
//!
//! A token is a text, or a list of texts that are its cells. Tags may be left out where they are to be predicted; other
//! keys are kept in what is written.

use super::{SentenceFormat, Sentences, lines_of};
use crate::error::{ErrorKind, Mistake};
use crate::formats::FormatInfo;
use serde_json::Value;

/// JSON Lines of token lists.
#[derive(Debug)]
pub(crate) struct TokenLists;

const TOKENS: [&str; 2] = ["tokens", "words"];
const TAGS: [&str; 2] = ["tags", "labels"];

impl SentenceFormat for TokenLists {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["tokens-jsonl"],
            extensions: &["jsonl"],
            ..FormatInfo::new(
                "token-lists",
                "JSON Lines, `{\"tokens\": [\"He\", \"runs\"], \"tags\": [\"PRP\", \"VBZ\"]}`",
            )
        }
    }

    fn is_likely(&self, head: &str) -> bool {
        let line = head.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let named = |name: &&str| line.contains(&format!("\"{name}\""));
        line.trim_start().starts_with('{') && TOKENS.iter().any(named)
    }

    fn by_line(&self) -> bool {
        true
    }

    fn parse(&self, text: &str, into: &mut Sentences) -> Result<(), Box<Mistake>> {
        for line in lines_of(text) {
            if text[line.clone()].trim().is_empty() {
                continue;
            }
            let wrong = |message: String| Mistake::new(ErrorKind::Syntax, line.clone(), message);
            let object: Value = serde_json::from_str(&text[line.clone()]).map_err(|error| {
                let at = line.start + error.column().saturating_sub(1).min(line.len());
                let message = format!("a sentence should be one JSON object a line: {error}");
                Mistake::new(ErrorKind::Syntax, at..at + 1, message)
            })?;
            let list =
                |names: &[&str]| names.iter().find_map(|name| object.get(name)).and_then(Value::as_array);
            let tokens =
                list(&TOKENS).ok_or_else(|| wrong("a sentence should have a list `tokens`".to_owned()))?;
            let tags = list(&TAGS);
            if let Some(tags) = tags
                && tags.len() != tokens.len()
            {
                let (n_tokens, n_tags) = (tokens.len(), tags.len());
                return Err(wrong(format!(
                    "a sentence should have a tag for every token, but has {n_tokens} tokens and {n_tags} tags"
                )));
            }
            for (number, token) in tokens.iter().enumerate() {
                let cells = match token {
                    Value::Array(cells) => &cells[..],
                    cell => std::slice::from_ref(cell),
                };
                let tag = tags.map(|tags| &tags[number]);
                for cell in cells.iter().chain(tag) {
                    let Some(cell) = cell.as_str() else {
                        return Err(wrong(format!("tokens and tags should be texts, but one is `{cell}`")));
                    };
                    into.push_text(cell);
                }
                into.end_token_of_width(&line)?;
            }
            into.end_sentence(line);
        }
        Ok(())
    }

    fn write(
        &self,
        sentences: &Sentences,
        number: usize,
        labels: &mut dyn Iterator<Item = &str>,
        _label_cell: usize,
        out: &mut String,
    ) {
        let Ok(Value::Object(mut object)) = serde_json::from_str(sentences.lines(number)) else { return };
        let name = TAGS.into_iter().find(|name| object.contains_key(*name)).unwrap_or(TAGS[0]);
        object.insert(name.to_owned(), labels.map(Value::from).collect());
        out.push_str(&Value::Object(object).to_string());
        out.push('\n');
    }
}
