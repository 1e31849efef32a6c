//! Which cells mean what: the word, the label, and what templates look at.

use crate::error::Error;
use rosenblatt_data::{
    ErrorKind, SentenceFormat, Sentences, find_sentence_format, looks_like_sentences, sentence_format_by_name,
};
use rosenblatt_sequence::Lexicon;
use rosenblatt_sequence::template::{self, Template};
use serde::{Deserialize, Serialize};

/// How the training data was laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Columns {
    /// The format it was in.
    pub(crate) format: String,
    /// Cells of a token; 0 where cells are attributes.
    pub(crate) width: usize,
    pub(crate) label: usize,
    pub(crate) word: usize,
}

impl Columns {
    /// The layout of sentences to learn from.
    pub(crate) fn new(
        block: &Sentences,
        format: &dyn SentenceFormat,
        label: Option<&str>,
    ) -> Result<Self, Error> {
        let width = if format.holds_attributes() { 0 } else { block.width().unwrap_or(0) };
        let label_cell = match label {
            Some(name) if width > 0 => find(name, width, format)?,
            _ => format.label_cell(width),
        };
        let columns = Self {
            format: format.info().name.to_owned(),
            width,
            label: label_cell,
            word: format.word_cell(),
        };
        if width > 0 && (width < 2 || label_cell == columns.word) {
            let message = "a token to learn from should have a label beside its word";
            return Err(block.error(0, 0, ErrorKind::Label, message).into());
        }
        Ok(columns)
    }

    /// The columns beside the word that may be looked at. Those of `CoNLL-U` are what taggers are to find.
    pub(crate) fn others(&self) -> Vec<usize> {
        if self.format == "conllu" {
            return Vec::new();
        }
        (0..self.width).filter(|column| *column != self.word && *column != self.label).collect()
    }

    /// Refuses templates that look where nothing is, or at the label.
    pub(crate) fn check(&self, templates: &[Template]) -> Result<(), Error> {
        for look in templates.iter().flat_map(|template| &template.looks) {
            let what = if look.column >= self.width {
                format!("a template looks at column {}, but columns are 0 to {}", look.column, self.width - 1)
            } else if look.column == self.label {
                format!("a template looks at column {}, which is the label", look.column)
            } else {
                continue;
            };
            return Err(Error::Template { what });
        }
        Ok(())
    }

    pub(crate) fn word(&self, format: &dyn SentenceFormat) -> usize {
        if self.is_of(format) { self.word } else { format.word_cell() }
    }

    fn is_of(&self, format: &dyn SentenceFormat) -> bool {
        format.info().name == self.format
    }

    /// In which cell each column is found, once it is certain that templates find all they look at. A tagger that looks at
    /// nothing but words finds them in every format.
    pub(crate) fn fit(
        &self,
        lexicon: &Lexicon,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
    ) -> Result<impl Fn(usize) -> usize + use<>, Error> {
        let token = block.tokens(sentence).start;
        if format.holds_attributes() != (self.width == 0) {
            let message =
                format!("these are {}, but the tagger was trained on {}", format.info().name, self.format);
            return Err(block.error(token, 0, ErrorKind::Format, message).into());
        }
        let only_words = lexicon.columns().all(|column| column == self.word);
        let (word, place) = (self.word, if only_words { self.word(format) } else { self.word });
        let cell = move |column: usize| if column == word { place } else { column };
        let needed = lexicon.columns().map(|column| cell(column) + 1).max().unwrap_or(0);
        let n_cells = block.n_cells(token);
        if n_cells < needed || !only_words && self.word != self.word(format) {
            let message = format!("the tagger looks at {needed} cells of a token, but there are {n_cells}");
            return Err(block.error(token, 0, ErrorKind::Shape, message).into());
        }
        Ok(cell)
    }

    /// Where found labels go: after all others if there is no such cell.
    pub(crate) fn label_in(&self, block: &Sentences, sentence: usize, format: &dyn SentenceFormat) -> usize {
        let n_cells = block.n_cells(block.tokens(sentence).start);
        match self.is_of(format) {
            true => self.label,
            false if format.column_names().is_empty() => n_cells,
            false => format.label_cell(n_cells),
        }
    }

    /// Where known labels are.
    pub(crate) fn known_label(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
    ) -> Result<usize, Error> {
        let token = block.tokens(sentence).start;
        let n_cells = block.n_cells(token);
        let label = if self.is_of(format) { self.label } else { format.label_cell(n_cells) };
        if n_cells <= label || self.width > 0 && label == self.word(format) {
            let message = "a token whose label is known should have one";
            return Err(block.error(token, 0, ErrorKind::Label, message).into());
        }
        Ok(label)
    }
}

/// The column called `name`, or of this number.
fn find(name: &str, width: usize, format: &dyn SentenceFormat) -> Result<usize, Error> {
    let by_name = format.column_names().iter().position(|known| known.eq_ignore_ascii_case(name));
    let by_number = || {
        let number: isize = name.parse().ok()?;
        let place =
            if number < 0 { width.checked_add_signed(number) } else { number.unsigned_abs().checked_sub(1) };
        place.filter(|place| *place < width)
    };
    by_name.or_else(by_number).ok_or_else(|| {
        Error::range("label", "the name or the number of a column (1 is the first, -1 the last)", name)
    })
}

/// The set that suits: by the format, the columns and the labels.
pub(crate) fn suited<'a>(columns: &Columns, labels: impl Iterator<Item = &'a str>) -> &'static str {
    if columns.width == 0 {
        return "letters";
    }
    let (mut any_span, mut any_phrase) = (false, false);
    for label in labels {
        any_span |= label.len() > 2 && (label.starts_with("B-") || label.starts_with("I-"));
        any_phrase |= label.ends_with("-NP");
    }
    match (any_span, any_phrase) {
        (false, _) => "tagging",
        (true, true) => "chunking",
        (true, false) => "ner",
    }
}

/// The text of the templates that are meant.
pub(crate) fn template_text(set: &str, columns: &Columns) -> Option<String> {
    template::ready_made(set, columns.word, &columns.others())
}

/// Whether files are sentences, by the format that is named, by how all of them are called, or by what they hold. A list of JSON objects may
/// be a table as well, so you have to name the format of sentences.
pub fn are_sentences<'a>(format: Option<&str>, files: impl IntoIterator<Item = &'a str>) -> bool {
    if let Some(name) = format {
        return find_sentence_format(name).is_ok();
    }
    let is_named = |file: &str| match sentence_format_by_name(file) {
        Some(format) => format.info().name != "token-lists",
        None => looks_like_sentences(file),
    };
    let mut files = files.into_iter().peekable();
    files.peek().is_some() && files.all(is_named)
}
