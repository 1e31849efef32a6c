//! Vowpal Wabbit text: `label weight base 'tag|namespace:weight feature:value … |namespace …`.
//!
//! What is read: the label; an importance weight (0 or more) after it, which weighs the row; a base after
//! that, which is checked and left out (it shifts predictions, not examples); a tag, left out; any number
//! of namespaces, each with an optional weight that multiplies its values; features with an optional value,
//! 1 by default. There are no comments: `#` is a letter like any other. Blank lines are skipped. A
//! feature that occurs twice in a row counts twice: its values are added, as Vowpal Wabbit does.
//!
//! A feature is called `namespace^feature`, or by its own name in a namespace without one. A first pass
//! gathers all names, so that weights can be read by them; later data may hold names that are not among
//! them, and they count for nothing. If `hash_bits` is set, names become slots of a table of that size
//! instead, by the hash all formats here share, in one pass; these are not Vowpal Wabbit's own slots. No
//! constant feature is added. Labels of several actions, or other than one number or word, are refused.

use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::hash::hash_slot;
use crate::options::{OnBadRow, ReadOptions};
use crate::rows::block::{Block, Stored, merge_row, sort_row};
use crate::rows::chunks::{Chunks, Parse, Stopped};
use crate::rows::label_table::BadLabel;
use crate::rows::schema::{Layout, Precision, Schema};
use crate::scan::number;
use crate::scan::tokens::Tokens;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// How many lines at the head are looked at to recognise the format.
const SNIFF_LINES: usize = 20;

/// Vowpal Wabbit text.
#[derive(Debug)]
pub(crate) struct Vw;

impl Format for Vw {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["vowpal-wabbit", "vowpal"],
            extensions: &["vw"],
            like_one_column: true,
            ..FormatInfo::new(
                "vw",
                "sparse rows with named features as text, `label weight 'tag|space feature:value …`",
            )
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["ignore", "hash-bits", "cross"]
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let lines = head.lines().filter(|line| !line.trim_ascii().is_empty()).take(SNIFF_LINES);
        let (n_lines, n_rows) =
            lines.fold((0, 0), |(n_lines, n_rows), line| (n_lines + 1, n_rows + i32::from(is_row(line))));
        // A label that is a word looks like the cell of a table; a name that says `.vw` settles it.
        let is_named = head.extension == Some("vw") && memchr::memchr(b'|', head.bytes).is_some();
        match n_rows {
            0 if is_named => Sniff::Maybe,
            0 => Sniff::No,
            _ if n_rows * 2 >= n_lines => Sniff::Likely,
            _ => Sniff::Maybe,
        }
    }

    fn names_features(&self) -> bool {
        true
    }

    fn reads_twice(&self, how: &ReadOptions) -> bool {
        how.schema.is_none() && how.hash_bits.is_none()
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let window = Window::new(input, how.limits.line_bytes)?;
        let known = how.schema.as_deref();
        let crosses = known.map_or_else(Vec::new, |known| known.crosses.clone());
        let ignored = known.map_or_else(Vec::new, |known| known.ignored.clone());
        let mut schema = Schema { layout: Layout::Sparse, crosses, ignored, ..Schema::default() };
        let slots = match (known.and_then(|known| known.names.as_ref()), how.hash_bits) {
            (Some(names), _) => {
                schema.names = Some(names.clone());
                schema.provisional = known.is_some_and(|known| known.provisional);
                let places = names.iter().map(|name| Box::from(name.as_str())).zip(0..).collect();
                if schema.provisional {
                    Slots::Gathered(Gathered { places, ..Gathered::new(how) })
                } else {
                    Slots::Known(Arc::new(places))
                }
            }
            (None, Some(bits)) => {
                schema.hash_bits = Some(bits);
                Slots::Hashed(bits)
            }
            (None, None) if known.is_some() => {
                let message =
                    "features have names here, expected numbers as in the data that was learned from";
                return Err(DataError::new(ErrorKind::Shape, message)
                    .in_source(window.name())
                    .with_help("bring the data into the format that was learned from"));
            }
            (None, None) => {
                (schema.names, schema.provisional) = (Some(Vec::new()), true);
                Slots::Gathered(Gathered::new(how))
            }
        };
        Ok(match how.precision {
            Precision::Single => Box::new(VwReader::<f32>::new(window, slots, schema, how)),
            Precision::Double => Box::new(VwReader::<f64>::new(window, slots, schema, how)),
        })
    }
}

/// Whether a line looks like a row: a bar after nothing but a label, numbers and a tag, and somewhere a
/// feature after a blank. Tables with bars have cells on both sides of each.
fn is_row(line: &[u8]) -> bool {
    let Some(bar) = memchr::memchr(b'|', line) else { return false };
    let head_fits = (Tokens { line: &line[..bar], at: 0 }).enumerate().all(|(place, token)| {
        let text = &line[token.clone()];
        let is_tag = text.starts_with(b"'") || (place > 0 && token.end == bar);
        place < 4 && (is_tag || (number::parse(text).is_ok() && token.end < bar))
    });
    let mut spaces = line[bar + 1..].split(|&byte| byte == b'|');
    head_fits
        && spaces.any(|space| {
            let name = space.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(space.len());
            !space[name..].trim_ascii().is_empty()
        })
}

struct VwReader<T: Stored> {
    chunks: Chunks<Lines<T>>,
    schema: Schema,
}

impl<T: Stored> VwReader<T> {
    fn new(window: Window, slots: Slots, schema: Schema, how: &ReadOptions) -> Self {
        let lines = Lines { slots, on_bad_row: how.on_bad_row, name: Vec::new(), scratch: Vec::new() };
        Self { chunks: Chunks::new(window, lines, how.threads), schema }
    }
}

impl<T: Stored> Reader for VwReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        let more = self.chunks.read(into)?;
        if let (Slots::Gathered(gathered), Some(names)) =
            (&self.chunks.parser().slots, &mut self.schema.names)
        {
            let n_before = gathered.places.len() - gathered.found.len();
            names.extend_from_slice(&gathered.found[names.len() - n_before..]);
        }
        Ok(more)
    }
}

/// What names become.
#[derive(Debug, Clone)]
enum Slots {
    /// A slot of a table of `2^bits`.
    Hashed(u32),
    /// Their place in the vocabulary.
    Known(Arc<HashMap<Box<str>, u32>>),
    /// Part of the vocabulary, which is being gathered.
    Gathered(Gathered),
}

/// The names so far.
#[derive(Debug, Clone, Default)]
struct Gathered {
    places: HashMap<Box<str>, u32>,
    /// Those that were found in this part, in the order in which they came.
    found: Vec<String>,
    max_names: usize,
}

impl Gathered {
    fn new(how: &ReadOptions) -> Self {
        Self { max_names: how.limits.vocabulary, ..Self::default() }
    }

    /// Forgets the names after the first `n_found`.
    fn forget(&mut self, n_found: usize) {
        for name in self.found.drain(n_found..) {
            self.places.remove(name.as_str());
        }
    }
}

impl Slots {
    /// The place of a feature; `None` if it counts for nothing. `at` is where its name stands.
    fn place(&mut self, name: &[u8], at: Range<usize>) -> Result<Option<u32>, Box<Mistake>> {
        if let Self::Hashed(bits) = self {
            return Ok(Some(hash_slot(name, *bits)));
        }
        let name = std::str::from_utf8(name).map_err(|_| {
            let message = "the name of a feature should be valid UTF-8, but is not";
            Mistake::new(ErrorKind::Encoding, at.clone(), message)
                .with_help("hash the names with {hash-bits=18}, which takes any bytes")
        })?;
        let gathered = match self {
            Self::Hashed(_) => return Ok(None),
            Self::Known(places) => return Ok(places.get(name).copied()),
            Self::Gathered(gathered) => gathered,
        };
        if let Some(&place) = gathered.places.get(name) {
            return Ok(Some(place));
        }
        let place = gathered.places.len();
        if place >= gathered.max_names {
            let message = format!("there are more than {} different features, the limit", gathered.max_names);
            return Err(Mistake::new(ErrorKind::Limit, at, message)
                .with_help("hash their names with {hash-bits=18}, or raise {max-vocabulary}"));
        }
        gathered.places.insert(name.into(), place as u32);
        gathered.found.push(name.to_owned());
        Ok(Some(place as u32))
    }

    /// How many features there are; none while they are gathered.
    fn width(&self) -> usize {
        match self {
            Self::Hashed(bits) => 1 << bits,
            Self::Known(places) => places.len(),
            Self::Gathered(_) => 0,
        }
    }
}

/// A parser of lines.
#[derive(Debug, Clone)]
struct Lines<T> {
    slots: Slots,
    on_bad_row: OnBadRow,
    /// The name of the feature at hand: `namespace^feature`.
    name: Vec<u8>,
    scratch: Vec<(u32, T)>,
}

/// What stands before the first bar.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RowHead {
    class: Option<u32>,
    weight: Option<f64>,
}

impl<T: Stored> Lines<T> {
    /// Adds one line to `block`; a blank line adds nothing.
    fn parse_line(&mut self, line: &[u8], block: &mut Block) -> Result<(), Box<Mistake>> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(bar) = memchr::memchr(b'|', line) else {
            let message = "the row has no `|`, expected one before the features";
            return Err(Mistake::new(ErrorKind::Syntax, line.len()..line.len(), message));
        };
        let head = parse_head(line, bar, block)?;
        if block.classes.is_empty() {
            block.labelled = head.class.is_some();
        } else if block.labelled != head.class.is_some() {
            let (found, before) = if block.labelled { ("no", "one") } else { ("a", "none") };
            let message = format!("the row has {found} label, expected {before} as in the rows before");
            return Err(Mistake::new(ErrorKind::Label, 0..bar, message));
        }
        let Some(matrix) = T::sparse(&mut block.matrix) else { return Ok(()) };
        let start = matrix.n_entries();
        let mut at = bar + 1;
        loop {
            // At a namespace: its name follows the bar directly.
            let length = memchr::memchr(b'|', &line[at..]).unwrap_or(line.len() - at);
            let end = at + length;
            let mut tokens = Tokens { line: &line[..end], at };
            let has_name = line[at..end].first().is_some_and(|byte| !matches!(byte, b' ' | b'\t'));
            let (space, factor) = match has_name.then(|| tokens.next()).flatten() {
                Some(token) => split_value(line, token, "namespace")?,
                None => (at..at, 1.0),
            };
            self.name.clear();
            if !space.is_empty() {
                self.name.extend_from_slice(&line[space]);
                self.name.push(b'^');
            }
            let n_space = self.name.len();
            for token in tokens {
                let (feature, value) = split_value(line, token.clone(), "feature")?;
                let Some(value) = T::narrow(value * factor) else {
                    let message = format!(
                        "the value should fit single precision, but is {}",
                        quote(&line[token.clone()])
                    );
                    return Err(Mistake::new(ErrorKind::Number, token, message)
                        .with_help("store double precision with {precision=f64}"));
                };
                self.name.truncate(n_space);
                self.name.extend_from_slice(&line[feature.clone()]);
                if let Some(place) = self.slots.place(&self.name, feature)? {
                    matrix.indices.push(place);
                    matrix.values.push(value);
                }
            }
            if end == line.len() {
                break;
            }
            at = end + 1;
        }
        let (indices, values) = (&mut matrix.indices[start..], &mut matrix.values[start..]);
        if sort_row(indices, values, &mut self.scratch).is_some() && merge_row(matrix, start).is_none() {
            let message = "values that share a feature should have a finite sum, but have none";
            return Err(Mistake::new(ErrorKind::Number, 0..line.len(), message));
        }
        if matches!(self.slots, Slots::Gathered(_)) {
            // The names are known now; their order is not.
            matrix.truncate(start);
        }
        matrix.end_row();
        block.classes.push(head.class.unwrap_or(0));
        if let Some(weight) = head.weight {
            block.push_weight(weight);
        }
        Ok(())
    }
}

/// Reads label, weight, base and tag.
fn parse_head(line: &[u8], bar: usize, block: &mut Block) -> Result<RowHead, Box<Mistake>> {
    let mut tokens: Vec<Range<usize>> = Tokens { line: &line[..bar], at: 0 }.take(5).collect();
    // The tag touches the bar or begins with a quote.
    let is_tag = |token: &Range<usize>| line[token.start] == b'\'' || token.end == bar;
    if let [only] = tokens.as_slice()
        && only.end == bar
        && number::parse(&line[only.clone()]).is_ok()
    {
        let text = quote(&line[only.clone()]);
        let message = format!("{text} touches the `|`, which makes it a tag, expected a label");
        return Err(Mistake::new(ErrorKind::Label, only.clone(), message)
            .with_help("put a blank between the label and the `|`"));
    }
    if tokens.last().is_some_and(is_tag) {
        tokens.pop();
    }
    let mut numbers = [None; 2];
    let what = ["the importance weight", "the base"];
    for (place, token) in tokens.iter().enumerate().skip(1) {
        let text = &line[token.clone()];
        let Some(slot) = numbers.get_mut(place - 1) else {
            let message =
                format!("{} stands before the features, expected `label weight base 'tag|`", quote(text));
            return Err(Mistake::new(ErrorKind::Syntax, token.clone(), message)
                .with_help("rows with several labels are not read"));
        };
        let number = number::parse(text).map_err(|bad| {
            let message =
                format!("{} should be a finite number, but is {}{}", what[place - 1], quote(text), bad.why());
            Mistake::new(ErrorKind::Number, token.clone(), message)
        })?;
        *slot = Some(number);
    }
    if let (Some(weight), Some(token)) = (numbers[0], tokens.get(1))
        && weight < 0.0
    {
        let message =
            format!("the importance weight should be at least 0, but is {}", quote(&line[token.clone()]));
        return Err(Mistake::new(ErrorKind::Number, token.clone(), message));
    }
    let Some(label) = tokens.first().cloned() else { return Ok(RowHead { class: None, weight: None }) };
    let text = &line[label.clone()];
    if text.contains(&b':') || text.contains(&b',') {
        let message = format!("the label should be one number or word, but is {}", quote(text));
        return Err(Mistake::new(ErrorKind::Label, label, message)
            .with_help("labels of several actions are not read"));
    }
    let looks_like_number = matches!(text, [b'0'..=b'9' | b'+' | b'-' | b'.', ..]);
    if looks_like_number && number::parse(text).is_err() {
        let message = format!("the label should be a finite number or a word, but is {}", quote(text));
        return Err(Mistake::new(ErrorKind::Label, label, message));
    }
    let class = block
        .names
        .number(text)
        .map_err(|bad: BadLabel| Mistake::new(ErrorKind::Label, label, bad.message(text)))?;
    Ok(RowHead { class: Some(class), weight: numbers[0] })
}

/// Splits `name:value`; the value is 1 by default.
fn split_value(line: &[u8], token: Range<usize>, what: &str) -> Result<(Range<usize>, f64), Box<Mistake>> {
    let text = &line[token.clone()];
    let Some(colon) = memchr::memrchr(b':', text) else { return Ok((token, 1.0)) };
    let value = &text[colon + 1..];
    let at = token.start + colon + 1..token.end;
    let number = number::parse(value).map_err(|bad| {
        let found = if value.is_empty() { "missing".to_owned() } else { quote(value) };
        let message = format!("the value of a {what} should be a finite number, but is {found}{}", bad.why());
        Mistake::new(ErrorKind::Number, at, message)
    })?;
    if colon == 0 {
        let message = format!("the {what} has no name, expected `name:value`");
        return Err(Mistake::new(ErrorKind::Syntax, token, message));
    }
    if text[..colon].contains(&b':') {
        let message = format!("a {what} should read `name` or `name:value`, but is {}", quote(text));
        return Err(Mistake::new(ErrorKind::Syntax, token, message));
    }
    Ok((token.start..token.start + colon, number))
}

impl<T: Stored> Parse for Lines<T> {
    fn has_memory(&self) -> bool {
        matches!(self.slots, Slots::Gathered(_))
    }

    fn clear(&self, block: &mut Block) {
        block.clear(Layout::Sparse, T::PRECISION, self.slots.width());
    }

    fn parse(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let (mut start, mut n_lines) = (0, 0);
        while start < text.len() {
            let newline = memchr::memchr(b'\n', &text[start..]);
            let end = newline.map_or(text.len(), |newline| start + newline);
            let n_entries = T::sparse(&mut block.matrix).map_or(0, |matrix| matrix.n_entries());
            let n_found = if let Slots::Gathered(gathered) = &self.slots { gathered.found.len() } else { 0 };
            if let Err(mistake) = self.parse_line(&text[start..end], block) {
                if let Some(matrix) = T::sparse(&mut block.matrix) {
                    matrix.truncate(n_entries);
                }
                if self.on_bad_row == OnBadRow::Error || mistake.kind == ErrorKind::Limit {
                    return Err(Stopped { mistake, line_idx: n_lines, start });
                }
                if let Slots::Gathered(gathered) = &mut self.slots {
                    gathered.forget(n_found);
                }
                block.skip_record(mistake, n_lines, start);
            }
            n_lines += u64::from(newline.is_some());
            start = end + 1;
        }
        Ok((text.len(), n_lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{LabelledRow, load_source, read_rows};

    fn source(text: &str) -> Source {
        Source::bytes("t.vw", text.as_bytes().to_vec())
    }

    fn rows(text: &str) -> Result<Vec<LabelledRow>, DataError> {
        read_rows(&source(text), &ReadOptions { hash_bits: Some(18), ..ReadOptions::as_stored() })
    }

    fn row(label: &str, features: &[(&str, f64)]) -> LabelledRow {
        let mut entries: Vec<(usize, f64)> =
            features.iter().map(|&(name, value)| (hash_slot(name.as_bytes(), 18) as usize, value)).collect();
        entries.sort_by_key(|&(slot, _)| slot);
        (label.to_owned(), entries)
    }

    #[test]
    fn rows_as_the_wiki_of_vowpal_wabbit_has_them() {
        // The examples of its "Input format" page.
        let text = "0 | price:.23 sqft:.25 age:.05 2006\n1 2 'second_house | price:.18 sqft:.15 age:.35 1976\n\
                    0 1 0.5 'third_house | price:.53 sqft:.32 age:.87 1924\n\
                    1 1.0 |MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white stripes |OtherFeatures NumberOfLegs:4.0 HasStripes\n\
                    1 1.0 zebra|MetricFeatures:3.28 height:1.5\n";
        let found = rows(text).unwrap();
        let houses =
            [("price", f64::from(0.23_f32)), ("sqft", 0.25), ("age", f64::from(0.05_f32)), ("2006", 1.0)];
        assert_eq!(found[0], row("0", &houses));
        let height = f64::from((1.5_f64 * 3.28) as f32);
        let zebra = [
            ("MetricFeatures^height", height),
            ("MetricFeatures^length", f64::from(6.56_f32)),
            ("Says^black", 1.0),
            ("Says^with", 1.0),
            ("Says^white", 1.0),
            ("Says^stripes", 1.0),
            ("OtherFeatures^NumberOfLegs", 4.0),
            ("OtherFeatures^HasStripes", 1.0),
        ];
        assert_eq!(found[3], row("1", &zebra));
        assert_eq!(found[4], row("1", &[("MetricFeatures^height", height)]));
        let dataset = load_source(&source(text), &ReadOptions::as_stored()).unwrap();
        assert_eq!(dataset.weights(), Some(&[1.0, 2.0, 1.0, 1.0, 1.0][..]));
        let names = dataset.feature_names().unwrap();
        assert_eq!(names.len(), 14);
        assert_eq!(&names[..3], ["1924", "1976", "2006"]);
        assert_eq!(names[13], "sqft");
        assert!(names.contains(&"Says^white".to_owned()));
        // Twice is added, a hash sign is a letter, no features are a row of zeros.
        assert_eq!(
            rows("1 |a x x:2 #\r\n\n-1 |\n").unwrap(),
            [row("1", &[("a^x", 3.0), ("a^#", 1.0)]), row("-1", &[])]
        );
    }

    #[test]
    fn names_are_a_vocabulary_that_later_data_keeps_to() {
        let parts = |texts: [&str; 2]| {
            let folder = tempfile::tempdir().unwrap();
            for (place, text) in texts.iter().enumerate() {
                std::fs::write(folder.path().join(format!("{place}.vw")), text).unwrap();
            }
            let how = ReadOptions::as_stored();
            crate::load_with_schema(&Source::find(folder.path()).unwrap(), &how).unwrap()
        };
        let (data, schema) = parts(["1 |a x:2 y\n-1 | 10:1 9:3\n", "1 |a z y:0.5\n"]);
        assert_eq!(data.feature_names().unwrap(), ["9", "10", "a^x", "a^y", "a^z"]);
        let how = ReadOptions::as_stored().with_schema(Arc::new(schema));
        let new = read_rows(&source("1 |a z:4 new:7 |b x\n-1 | 9:1\n"), &how).unwrap();
        assert_eq!(new, [("1".to_owned(), vec![(4, 4.0)]), ("-1".to_owned(), vec![(0, 1.0)])]);
        // What was left out leaves no names.
        let skip = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::as_stored() };
        let data = load_source(&source("1 | a\n-1 | lost b:x\n-1 | b lost2:1e39\n-1 | b\n"), &skip).unwrap();
        assert_eq!((data.len(), data.feature_names().unwrap()), (2, &["a".to_owned(), "b".to_owned()][..]));
        let mut few = ReadOptions::as_stored();
        few.limits.vocabulary = 2;
        let error = load_source(&source("1 | a b\n-1 | c\n"), &few).unwrap_err();
        assert_eq!((error.kind(), error.position().line), (ErrorKind::Limit, Some(2)));
        let numbered = Schema { width: Some(4), ..Schema::default() };
        let how = ReadOptions::as_stored().with_schema(Arc::new(numbered));
        assert_eq!(load_source(&source("1 | a\n"), &how).unwrap_err().kind(), ErrorKind::Shape);
    }

    #[test]
    fn mistakes_are_named_by_line_and_column() {
        for (line, column, kind, words) in [
            ("1 price:.23", 12, ErrorKind::Syntax, "no `|`"),
            ("1 x 't| a", 3, ErrorKind::Number, "importance weight"),
            ("1 -2 | a", 3, ErrorKind::Number, "at least 0"),
            ("1 1 y | a", 5, ErrorKind::Number, "base"),
            ("1 1 1 1 | a", 7, ErrorKind::Syntax, "`1`"),
            ("1 | a:x", 7, ErrorKind::Number, "`x`"),
            ("1 | a:", 7, ErrorKind::Number, "missing"),
            ("1 | :2", 5, ErrorKind::Syntax, "no name"),
            ("1 | a:b:2", 5, ErrorKind::Syntax, "name:value"),
            ("1 |n:nan a", 6, ErrorKind::Number, "not finite"),
            ("1 | a:1e39", 5, ErrorKind::Number, "single precision"),
            ("1:2:0.5 | a", 1, ErrorKind::Label, "one number or word"),
            ("1x | a", 1, ErrorKind::Label, "finite number"),
            ("1| a", 1, ErrorKind::Label, "tag"),
            ("'tag | a", 1, ErrorKind::Label, "no label"),
        ] {
            let error = rows(&format!("1 | a\n-1 | b\n{line}\n1 | c\n")).unwrap_err();
            assert_eq!(
                (error.position().line, error.position().column),
                (Some(3), Some(column)),
                "{line}: {error}"
            );
            assert_eq!(error.kind(), kind, "{line}: {error}");
            assert!(error.message().contains(words), "{line}: {error}");
        }
        let skip = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::as_stored() };
        assert_eq!(read_rows(&source("1 | a\n1 | a:x\n-1 | b\n"), &skip).unwrap().len(), 2);
    }

    #[test]
    fn rows_are_told_from_tables() {
        for line in ["1 | a:1 b", "1 2 'tag |n a", "'tag| a", "| a b", "-1 1.0 zebra|Metric:3 height:1.5"] {
            assert!(is_row(line.as_bytes()), "{line}");
        }
        for line in [
            "1|2|3",
            "a|b|label",
            "1 3:1 4:2",
            "x,y",
            "2|0.5|cat",
            "1 |",
            "",
            "1|big cat|3",
            "red|dark blue|1",
        ] {
            assert!(!is_row(line.as_bytes()), "{line}");
        }
        let threads = |threads| ReadOptions { threads, ..ReadOptions::as_stored() };
        let line = |i: u32| format!("{} |s w{} x:{}\n", i % 3, i % 700, i as f32 / 9.0);
        let text = (0..30_000).map(line).collect::<Vec<_>>().concat();
        let source = Source::bytes("somewhere", text.into_bytes());
        assert_eq!(load_source(&source, &threads(1)).unwrap(), load_source(&source, &threads(3)).unwrap());
    }
}
