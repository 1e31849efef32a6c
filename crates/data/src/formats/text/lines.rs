//! A text a line: `label<TAB>text`.
//!
//! The first tab ends the label, later ones are part of the text, and quotes mean nothing. The label comes after
//! the last tab if the label column is `-1` or `2`, and nowhere if it is set to absent or if data to be labelled
//! has no tab in its first line. A first line `label` `text` is a header. Blank lines are skipped. A text without
//! words is a row without features. Lines must be UTF-8.

use super::{HEADER_TEXTS, Taker, is_header_label, number_of, utf8};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::encode::Side;
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::options::{LabelColumn, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::schema::Schema;
use std::sync::Arc;

/// Where the label stands, noted in `schema`, and a window on the lines.
pub(super) fn open(
    input: Input,
    how: &ReadOptions,
    schema: &mut Arc<Schema>,
) -> Result<(Side, Window), DataError> {
    let head = input.head();
    let first = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let first = first.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let names = first.and_then(header_names);
    let header = how.header.unwrap_or(names.is_some());
    let second = names.as_ref().map(|(_, second)| second.as_str());
    let known = schema.text.as_ref().and_then(|text| text.side);
    let label = match &how.label {
        LabelColumn::Absent => Side::None,
        LabelColumn::Guess => match first {
            _ if known.is_some() => known.unwrap_or(Side::First),
            Some(line) if how.schema.is_some() && !line.contains(&b'\t') => Side::None,
            _ if second.is_some_and(is_header_label) => Side::Last,
            _ => Side::First,
        },
        LabelColumn::Named(place) if matches!(place.as_str(), "-1" | "2") => Side::Last,
        LabelColumn::Named(name) if second.is_some_and(|second| name.eq_ignore_ascii_case(second)) => {
            Side::Last
        }
        LabelColumn::Named(name)
            if name == "1" || names.as_ref().is_some_and(|(first, _)| name.eq_ignore_ascii_case(first)) =>
        {
            Side::First
        }
        LabelColumn::Named(name) => {
            let message = format!(
                "there is no column {} of labels, expected 1 before the tab, or 2 after it",
                quote(name.as_bytes())
            );
            return Err(DataError::new(ErrorKind::Options, message)
                .in_source(input.name())
                .with_help("say on which side it stands with {label}"));
        }
    };
    if known != Some(label)
        && let Some(text) = &mut Arc::make_mut(schema).text
    {
        text.side = Some(label);
    }
    let mut window = Window::new(input, how.limits.line_bytes)?;
    if header {
        skip_line(&mut window)?;
    }
    Ok((label, window))
}

/// The names of the two columns, if `line` says them.
fn header_names(line: &[u8]) -> Option<(String, String)> {
    let line = String::from_utf8_lossy(line).trim().to_lowercase();
    let (first, second) = line.split_once('\t')?;
    let pair = |label, text| is_header_label(label) && HEADER_TEXTS.contains(&text);
    (pair(first, second) || pair(second, first)).then(|| (first.to_owned(), second.to_owned()))
}

/// Takes the first line that is not blank out of the window, and the blank ones before it.
fn skip_line(window: &mut Window) -> Result<(), DataError> {
    loop {
        let lines = window.lines()?;
        let (mut n_bytes, mut n_lines, mut is_blank) = (0, 0, true);
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            n_bytes += line.len();
            n_lines += u64::from(line.ends_with(b"\n"));
            is_blank = line.trim_ascii().is_empty();
            if !is_blank {
                break;
            }
        }
        window.consume(n_bytes, n_lines);
        if n_bytes == 0 || !is_blank {
            return Ok(());
        }
    }
}

/// Makes a row of a line.
pub(super) fn take_line<T: Stored>(
    line: &[u8],
    side: Side,
    block: &mut Block,
    taker: &mut Taker<T>,
) -> Result<(), Box<Mistake>> {
    let tab = match side {
        Side::First => memchr::memchr(b'\t', line),
        Side::Last => memchr::memrchr(b'\t', line),
        Side::None => Some(0),
    };
    let Some(tab) = tab else {
        let message = "the line has no tab, expected the label, a tab, and the text";
        return Err(Mistake::new(ErrorKind::Syntax, line.len()..line.len(), message)
            .with_help("if there are no labels, say {label=none}"));
    };
    let (label, text) = match side {
        Side::First => (0..tab, tab + 1..line.len()),
        Side::Last => (tab + 1..line.len(), 0..tab),
        Side::None => (0..0, 0..line.len()),
    };
    let text = utf8(line, text)?;
    let class = match side {
        Side::None => 0,
        _ => number_of(&line[label.clone()], &mut block.names)
            .map_err(|bad| Mistake::new(ErrorKind::Label, label.clone(), bad.message(&line[label])))?,
    };
    taker.take(text, block)?;
    block.classes.push(class);
    Ok(())
}
