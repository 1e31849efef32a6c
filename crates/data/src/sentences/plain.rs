//! Plain text to be tagged: a sentence a line, cut into words by the plain rules of [`tokens`].

use super::{SentenceFormat, Sentences, lines_of};
use crate::error::Mistake;
use crate::formats::FormatInfo;
use std::ops::Range;

/// A sentence a line.
#[derive(Debug)]
pub(crate) struct Plain;

/// What is cut off the end of a word, as the treebanks of English do it.
const CLITICS: [&str; 7] = ["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"];

impl SentenceFormat for Plain {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["sentences"],
            extensions: &[],
            ..FormatInfo::new(
                "plain",
                "plain text to be tagged, a sentence a line; blanks and punctuation separate words",
            )
        }
    }

    fn is_likely(&self, head: &str) -> bool {
        !head.trim().is_empty()
    }

    fn by_line(&self) -> bool {
        true
    }

    fn parse(&self, text: &str, into: &mut Sentences) -> Result<(), Box<Mistake>> {
        into.width = Some(1);
        for line in lines_of(text) {
            for token in tokens(&text[line.clone()]) {
                into.push_cell(line.start + token.start..line.start + token.end);
                into.end_token(&line)?;
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
        for token in sentences.tokens(number) {
            out.push_str(sentences.cell(token, 0).unwrap_or_default());
            out.push('\t');
            out.push_str(labels.next().unwrap_or_default());
            out.push('\n');
        }
        out.push('\n');
    }
}

/// The words of a line: what stands between blanks, with punctuation at either end on its own (a run of the same sign,
/// as in `...` or `--`, stays together; a full stop stays with `U.S.`, with single letters, and inside numbers), and with
/// `n't`, `'s`, `'re`, `'ve`, `'ll`, `'d` and `'m` cut off.
pub fn tokens(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in line.split(char::is_whitespace) {
        cut(line, at..at + word.len(), &mut found);
        // Blanks may be more than a byte long.
        at += word.len();
        at += line[at..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

fn cut(line: &str, word: Range<usize>, found: &mut Vec<Range<usize>>) {
    let is_sign = |letter: char| {
        !letter.is_alphanumeric()
            && !matches!(letter, '\'' | '’' | '-' | '_' | '@' | '#' | '$' | '€' | '£' | '%' | '&' | '+' | '/')
    };
    let is_quote = |letter: char| matches!(letter, '\'' | '’');
    let Range { mut start, mut end } = word;
    // Signs at the beginning.
    while let Some(first) = line[start..end].chars().next() {
        let is_lone_quote =
            is_quote(first) && end - start > first.len_utf8() && !CLITICS.contains(&&line[start..end]);
        if !(is_sign(first) || is_lone_quote) {
            break;
        }
        let length = run(line[start..end].chars(), first);
        found.push(start..start + length);
        start += length;
    }
    // Signs at the end, the last one first.
    let mut suffixes = Vec::new();
    while let Some(last) = line[start..end].chars().next_back() {
        let inner = &line[start..end - last.len_utf8()];
        let is_abbreviation = last == '.'
            && !inner.ends_with('.')
            && (inner.contains('.') || inner.chars().count() == 1 && inner.starts_with(char::is_alphabetic));
        if !(is_sign(last) || is_quote(last)) || is_abbreviation || inner.is_empty() && !is_sign(last) {
            break;
        }
        let length = run(line[start..end].chars().rev(), last);
        suffixes.push(end - length..end);
        end -= length;
    }
    let lower = line[start..end].to_ascii_lowercase().replace('’', "'");
    let clitic = CLITICS.iter().find(|clitic| lower.ends_with(**clitic) && lower.len() > clitic.len());
    if let Some(clitic) = clitic {
        // As many letters, which may be more bytes.
        let length: usize = line[start..end].chars().rev().take(clitic.len()).map(char::len_utf8).sum();
        found.push(start..end - length);
        found.push(end - length..end);
    } else if start < end {
        found.push(start..end);
    }
    found.extend(suffixes.into_iter().rev());
}

/// How many bytes the run of `letter` takes that the letters begin with.
fn run(letters: impl Iterator<Item = char>, letter: char) -> usize {
    letters.take_while(|other| *other == letter).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_documented() {
        let cut = |line: &str| {
            tokens(line).into_iter().map(|word| line[word].to_owned()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(cut("Don't (really) go to the U.S. now..."), "Do|n't|(|really|)|go|to|the|U.S.|now|...");
        assert_eq!(cut("It’s \"3.5\" or $5, J. Smith's."), "It|’s|\"|3.5|\"|or|$5|,|J.|Smith|'s|.");
        assert_eq!(cut("  a\u{3000}b  '  --"), "a|b|'|--");
        assert_eq!(cut(""), "");
    }
}
