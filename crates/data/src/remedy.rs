//! What to do about an error, as a value.
//!
//! A remedy speaks of options by their names, and each face words them in its own terms: `missing = mean` is
//! `--missing mean` in a shell and `missing="mean"` in Python. In the text of a remedy an option stands in
//! braces, with a value if there is one: `fill it with {missing=mean}`. Foreign names go in through [`set`],
//! so that braces in them stay what they are.

use std::fmt;

/// Advice that speaks of options by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    pieces: Vec<Piece>,
}

/// A piece of a remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words that are the same in every face.
    Text(String),
    /// An option, by its name in the catalogue, and the value to give it if one is proposed.
    Option(String, Option<String>),
}

/// An option in the text of a remedy, with a value that may hold anything.
pub fn set(option: &str, value: &str) -> String {
    format!("{{{option}={}}}", plain(value))
}

/// Foreign words in the text of a remedy.
pub fn plain(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

impl Remedy {
    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The advice, its options as `word` puts them.
    pub fn worded(&self, word: impl Fn(&str, Option<&str>) -> String) -> String {
        let worded = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Option(option, value) => word(option, value.as_deref()),
        });
        worded.collect()
    }
}

/// In the words of the library: the option's name in backticks, and its value.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|option, value| match value {
            Some(value) => format!("`{option} = {value}`"),
            None => format!("`{option}`"),
        }))
    }
}

impl From<&str> for Remedy {
    fn from(text: &str) -> Self {
        let (mut pieces, mut words, mut inside) = (Vec::new(), String::new(), false);
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            if matches!(next, '{' | '}') && rest.peek() == Some(&next) {
                words.push(next);
                rest.next();
            } else if next == '{' && !inside {
                pieces.push(Piece::Text(std::mem::take(&mut words)));
                inside = true;
            } else if next == '}' && inside {
                let option = std::mem::take(&mut words);
                pieces.push(match option.split_once('=') {
                    Some((name, value)) => Piece::Option(name.to_owned(), Some(value.to_owned())),
                    None => Piece::Option(option, None),
                });
                inside = false;
            } else {
                words.push(next);
            }
        }
        pieces.push(Piece::Text(words));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        Self { pieces }
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_face_words_options_in_its_own_terms() {
        let text =
            format!("leave it out with {}, or fill it: {{missing=mean}}, {{label}}", set("ignore", "a}b {c"));
        let remedy = Remedy::from(text);
        let shell = |option: &str, value: Option<&str>| format!("--{option} {}", value.unwrap_or("…"));
        let expected = "leave it out with --ignore a}b {c, or fill it: --missing mean, --label …";
        assert_eq!(remedy.worded(shell), expected);
        assert_eq!(
            remedy.to_string(),
            "leave it out with `ignore = a}b {c`, or fill it: `missing = mean`, `label`"
        );
        assert_eq!(Remedy::from("remove it").to_string(), "remove it");
    }
}
