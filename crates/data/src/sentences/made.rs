//! Sentences without a file: a caller has them in memory, and they become the blocks that readers make.

use super::{MOST_BYTES, SentenceFormat, SentenceStream, Sentences};
use crate::error::{DataError, ErrorKind, Mistake, Position};
use std::sync::Arc;

/// A block ends with the first sentence that makes its letters more than this.
const BLOCK_BYTES: usize = 1 << 18;

/// Sentences to be, token by token.
#[derive(Debug)]
pub struct MadeSentences {
    format: &'static dyn SentenceFormat,
    full: Vec<Sentences>,
    block: Sentences,
    n_before: u64,
    /// Where the letters of this sentence begin.
    from: usize,
}

impl MadeSentences {
    /// None yet. They are called `name` where something is wrong with them, and mean what they would in `format`.
    pub fn new(name: &str, format: &'static dyn SentenceFormat) -> Self {
        let block = Sentences { name: Arc::from(name), first_row: 1, ..Sentences::default() };
        Self { format, full: Vec::new(), block, n_before: 0, from: 0 }
    }

    fn wrong(&self, mistake: Mistake) -> DataError {
        let row = self.n_before + self.block.len() as u64 + 1;
        let at = Position { row: Some(row), line: None, column: None };
        let error = DataError::new(mistake.kind, mistake.message).in_source(&self.block.name).at(at);
        match mistake.help {
            Some(help) => error.with_help(help),
            None => error,
        }
    }

    /// A cell of the next token, and how much it counts where cells are attributes.
    pub fn cell(&mut self, text: &str, value: f64) -> Result<(), DataError> {
        if !value.is_finite() {
            let message = format!("the number of an attribute should be finite, but is {value}");
            return Err(self.wrong(*Mistake::new(ErrorKind::Number, 0..0, message)));
        }
        if self.block.text.len() - self.from + text.len() > MOST_BYTES {
            let message =
                format!("a sentence should take at most {MOST_BYTES} bytes, but this one takes more");
            return Err(self.wrong(*Mistake::new(ErrorKind::Limit, 0..0, message)));
        }
        self.block.push_text(text);
        if self.format.holds_attributes() {
            self.block.values.push(value);
        }
        Ok(())
    }

    /// The token has all its cells.
    pub fn end_token(&mut self) -> Result<(), DataError> {
        let nowhere = 0..0;
        let ended = if self.format.holds_attributes() {
            self.block.end_token(&nowhere)
        } else {
            self.block.end_token_of_width(&nowhere)
        };
        ended.map_err(|mistake| self.wrong(*mistake))
    }

    /// The sentence has all its tokens. One without any is none.
    pub fn end_sentence(&mut self) {
        self.block.end_sentence(0..0);
        self.from = self.block.text.len();
        if self.from > BLOCK_BYTES {
            self.n_before += self.block.len() as u64;
            self.from = 0;
            let next = Sentences {
                name: Arc::clone(&self.block.name),
                first_row: self.n_before + 1,
                width: self.block.width,
                ..Sentences::default()
            };
            self.full.push(std::mem::replace(&mut self.block, next));
        }
    }

    /// All of them, to be read.
    pub fn stream(mut self) -> SentenceStream {
        if !self.block.is_empty() {
            self.full.push(self.block);
        }
        SentenceStream {
            parts: Vec::new().into_iter(),
            made: self.full.into_iter(),
            wanted: Some(self.format),
            format: self.format,
            window: None,
            width: None,
            n_sentences: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{find_sentence_format, sentences};
    use super::*;
    use crate::bytes::source::Source;

    #[test]
    fn what_is_made_is_what_would_have_been_read() {
        let items = find_sentence_format("items").unwrap();
        let text = "N\tw=a\tsize:0.5\nV\tw=b\n\nN\tw=c\n\n".repeat(20_000);
        let mut made = MadeSentences::new("memory", items);
        for _ in 0..20_000 {
            for (cells, is_last) in
                [(&[("N", 1.0), ("w=a", 1.0), ("size", 0.5)][..], false), (&[("V", 1.0), ("w=b", 1.0)], true)]
            {
                for (cell, value) in cells {
                    made.cell(cell, *value).unwrap();
                }
                made.end_token().unwrap();
                if is_last {
                    made.end_sentence();
                }
            }
            // An empty one is none.
            made.end_sentence();
            made.cell("N", 1.0).unwrap();
            made.cell("w=c", 1.0).unwrap();
            made.end_token().unwrap();
            made.end_sentence();
        }
        let all = |mut stream: SentenceStream| {
            let (mut block, mut all) = (Sentences::default(), Vec::new());
            while stream.next(&mut block).unwrap() {
                for token in (0..block.len()).flat_map(|number| block.tokens(number)) {
                    let cell = |cell| (block.cell(token, cell).map(str::to_owned), block.value(token, cell));
                    all.push((0..block.n_cells(token)).map(cell).collect::<Vec<_>>());
                }
            }
            all
        };
        let source = Source::bytes("a.crfsuite", text.as_bytes());
        assert_eq!(all(made.stream()), all(sentences(&source, None).unwrap()));
    }

    #[test]
    fn what_is_wrong_is_said_of_the_sentence() {
        let columns = find_sentence_format("columns").unwrap();
        let mut made = MadeSentences::new("X", columns);
        made.cell("a", 1.0).unwrap();
        made.end_token().unwrap();
        made.end_sentence();
        assert!(made.cell("b", f64::NAN).unwrap_err().to_string().contains("finite"));
        made.cell("b", 1.0).unwrap();
        made.cell("c", 1.0).unwrap();
        let error = made.end_token().unwrap_err();
        assert_eq!(error.position().row, Some(2));
        assert!(error.to_string().contains("every token should have 1 cells"), "{error}");
        let mut long = MadeSentences::new("X", columns);
        assert!(long.cell(&"x".repeat(MOST_BYTES + 1), 1.0).unwrap_err().to_string().contains("at most"));
    }
}
