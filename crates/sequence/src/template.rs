//! Templates: which cells around a token make its attributes. The language is that of CRF++, with functions of cells.
//!
//! ```text
//! # a comment
//! U05:%x[-1,0]/%x[0,0]     the cell of column 0 one token before, and the one here
//! U10:%suffix[0,0,3]       the last three letters; prefix, lower, shape and short go the same way
//! B                        labels depend on the label before them, as they always do
//! B01:%x[0,0]              how they do depends on the cell: a link
//! ```
//!
//! Beyond the edges of a sentence cells are `_B-1`, `_B-2`, …, `_B+1`, …, as in CRF++. Wapiti's `%X` is `%lower`.

use std::fmt;

/// The most templates, the most cells of each, and the farthest token that one may look at.
const MOST: (usize, usize, i32) = (1000, 8, 16);

/// What is made of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// The cell as it is.
    Whole,
    /// In lower case.
    Lower,
    /// Capitals as `X`, small letters as `x`, digits as `d`, all else as it is.
    Shape,
    /// The same with runs cut down to one.
    Short,
    /// Its first letters.
    Prefix(u8),
    /// Its last letters.
    Suffix(u8),
}

impl Function {
    /// What it makes of `cell`, written into `out`. Nothing if the cell has too few letters for it.
    pub fn apply(self, cell: &str, out: &mut String) -> bool {
        out.clear();
        if cell.is_ascii() {
            return self.apply_to_ascii(cell, out);
        }
        match self {
            Self::Whole => out.push_str(cell),
            Self::Lower => out.extend(cell.chars().flat_map(char::to_lowercase)),
            Self::Shape | Self::Short => {
                let mut last = None;
                for letter in cell.chars() {
                    let shape = match letter {
                        _ if letter.is_uppercase() => 'X',
                        _ if letter.is_alphabetic() => 'x',
                        _ if letter.is_numeric() => 'd',
                        other => other,
                    };
                    if self == Self::Shape || last != Some(shape) {
                        out.push(shape);
                    }
                    last = Some(shape);
                }
            }
            Self::Prefix(n) => {
                let mut letters = cell.char_indices().skip(usize::from(n) - 1);
                let Some((at, letter)) = letters.next() else { return false };
                out.extend(cell[..at + letter.len_utf8()].chars().flat_map(char::to_lowercase));
            }
            Self::Suffix(n) => {
                let mut letters = cell.char_indices().rev().skip(usize::from(n) - 1);
                let Some((at, _)) = letters.next() else { return false };
                out.extend(cell[at..].chars().flat_map(char::to_lowercase));
            }
        }
        true
    }

    /// The same where every letter is one byte.
    fn apply_to_ascii(self, cell: &str, out: &mut String) -> bool {
        let part = match self {
            Self::Whole | Self::Lower | Self::Shape | Self::Short => cell,
            Self::Prefix(n) => {
                let Some(part) = cell.get(..usize::from(n)) else { return false };
                part
            }
            Self::Suffix(n) => {
                let Some(from) = cell.len().checked_sub(usize::from(n)) else { return false };
                &cell[from..]
            }
        };
        match self {
            Self::Whole => out.push_str(part),
            Self::Lower | Self::Prefix(_) | Self::Suffix(_) => {
                out.push_str(part);
                out.make_ascii_lowercase();
            }
            Self::Shape | Self::Short => {
                let mut last = None;
                for letter in part.bytes() {
                    let shape = match letter {
                        b'A'..=b'Z' => b'X',
                        b'a'..=b'z' => b'x',
                        b'0'..=b'9' => b'd',
                        other => other,
                    };
                    if self == Self::Shape || last != Some(shape) {
                        out.push(char::from(shape));
                    }
                    last = Some(shape);
                }
            }
        }
        true
    }
}

/// A cell that a template looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How many tokens further.
    pub offset: i32,
    /// In which column.
    pub column: usize,
    /// What is made of it.
    pub function: Function,
}

/// How one kind of attribute is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// What stands before each cell, and what after the last.
    pub literals: Vec<String>,
    /// The cells.
    pub looks: Vec<Look>,
    /// Whether its attributes speak of a label and the one before it, or of a label alone.
    pub is_link: bool,
}

/// What is wrong with a template, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the template: {}", self.line, self.message)
    }
}

impl std::error::Error for TemplateError {}

/// All templates of a text.
pub fn parse(text: &str) -> Result<Vec<Template>, TemplateError> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |message: String| TemplateError { line: number + 1, message };
        let line = line.trim();
        match line.chars().next() {
            None | Some('#') => {}
            Some('B' | 'b') if !line.contains('%') => {}
            Some('U' | 'u' | 'B' | 'b') => found.push(template(line).map_err(wrong)?),
            Some(other) => {
                let other = other.escape_debug();
                return Err(wrong(format!(
                    "a template should begin with U or B, but this one begins with `{other}`"
                )));
            }
        }
        if found.len() > MOST.0 {
            return Err(wrong(format!("there should be at most {} templates", MOST.0)));
        }
    }
    if found.is_empty() {
        return Err(TemplateError {
            line: 1,
            message: "there should be at least one that begins with U, or with B and has cells".to_owned(),
        });
    }
    Ok(found)
}

fn template(line: &str) -> Result<Template, String> {
    let is_link = line.starts_with(['B', 'b']);
    let mut found = Template { literals: Vec::new(), looks: Vec::new(), is_link };
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        let (literal, macro_) = rest.split_at(at);
        let known = "`%x[row,column]`, `%lower[…]`, `%shape[…]`, `%short[…]`, `%prefix[row,column,letters]` and `%suffix[…]`";
        let bad = || {
            format!(
                "`{}` should be one of {known}",
                macro_.chars().take(24).collect::<String>().escape_debug()
            )
        };
        let (name, after) = macro_[1..].split_once('[').ok_or_else(bad)?;
        let (numbers, after) = after.split_once(']').ok_or_else(bad)?;
        let numbers: Vec<i64> = numbers
            .split(',')
            .map(|number| number.trim().parse().map_err(|_| bad()))
            .collect::<Result<_, _>>()?;
        let letters = || match numbers.get(2) {
            Some(letters @ 1..=20) => Ok(*letters as u8),
            _ => Err(bad()),
        };
        let function = match name {
            "x" => Function::Whole,
            "X" | "lower" => Function::Lower,
            "shape" => Function::Shape,
            "short" => Function::Short,
            "prefix" => Function::Prefix(letters()?),
            "suffix" => Function::Suffix(letters()?),
            _ => return Err(bad()),
        };
        let n_numbers = if matches!(function, Function::Prefix(_) | Function::Suffix(_)) { 3 } else { 2 };
        let far = i64::from(MOST.2);
        let (offset, column) = match numbers[..] {
            [offset, column, ..] if numbers.len() == n_numbers => (offset, column),
            _ => return Err(bad()),
        };
        if !(-far..=far).contains(&offset) {
            return Err(format!(
                "a template should look at most {far} tokens away, but this one looks {offset}"
            ));
        }
        let column = usize::try_from(column).ok().filter(|column| *column < 1000).ok_or_else(bad)?;
        found.literals.push(literal.to_owned());
        found.looks.push(Look { offset: offset as i32, column, function });
        if found.looks.len() > MOST.1 {
            return Err(format!("a template should look at most at {} cells", MOST.1));
        }
        rest = after;
    }
    found.literals.push(rest.to_owned());
    Ok(found)
}

/// Ready-made templates: what they are called, and what they are for.
pub const SETS: &[(&str, &str)] = &[
    ("tagging", "parts of speech and the like: words, affixes, shapes, neighbours"),
    ("chunking", "phrases: the same, and the columns beside the word with their neighbours"),
    ("ner", "names: the same, with more of shapes"),
    ("letters", "letters and other signals: the attributes that the file has, as they are"),
];

/// The text of a ready-made set for words in column `word` and what stands beside them in `others`.
pub fn ready_made(name: &str, word: usize, others: &[usize]) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    let w = word;
    let mut add = |text: &str| lines.push(text.replace(",w", &format!(",{w}")));
    match name {
        // A set with more of neighbours (their endings in pairs, shapes, words two by two) did worse on eight corpora: see
        // bench/runs/2026-11-16-sequence.
        "tagging" => {
            for text in ["%x[0,w]", "%lower[0,w]", "%shape[0,w]", "%short[0,w]"] {
                add(text);
            }
            for letters in 1..=5 {
                add(&format!("%suffix[0,w,{letters}]"));
            }
            for letters in 1..=4 {
                add(&format!("%prefix[0,w,{letters}]"));
            }
            for offset in [-2, -1, 1, 2] {
                add(&format!("%lower[{offset},w]"));
            }
            for text in [
                "%lower[-1,w]/%lower[0,w]",
                "%lower[0,w]/%lower[1,w]",
                "%lower[-1,w]/%lower[1,w]",
                "%suffix[-1,w,3]",
                "%suffix[1,w,3]",
                "%short[-1,w]",
                "%short[1,w]",
            ] {
                add(text);
            }
        }
        "chunking" | "ner" => {
            for offset in -2..=2 {
                add(&format!("%x[{offset},w]"));
            }
            for pair in ["%x[-1,w]/%x[0,w]", "%x[0,w]/%x[1,w]", "%lower[0,w]"] {
                add(pair);
            }
            for letters in 2..=4 {
                add(&format!("%suffix[0,w,{letters}]"));
                add(&format!("%prefix[0,w,{letters}]"));
            }
            for offset in -1..=1 {
                add(&format!("%short[{offset},w]"));
            }
            if name == "ner" {
                for offset in -2..=2 {
                    add(&format!("%shape[{offset},w]"));
                    add(&format!("%lower[{offset},w]"));
                }
                for pair in [
                    "%short[-1,w]/%short[0,w]",
                    "%short[0,w]/%short[1,w]",
                    "%short[-1,w]/%short[0,w]/%short[1,w]",
                    "%lower[-1,w]/%short[0,w]",
                    "%short[0,w]/%lower[1,w]",
                ] {
                    add(pair);
                }
                for letters in [1, 5] {
                    add(&format!("%suffix[0,w,{letters}]"));
                    add(&format!("%prefix[0,w,{letters}]"));
                }
            }
            for column in others {
                let mut add = |text: &str| add(&text.replace(",p", &format!(",{column}")));
                let reach = if name == "ner" { 2 } else { 3 };
                for offset in -reach..=reach {
                    add(&format!("%x[{offset},p]"));
                }
                for text in [
                    "%x[-2,p]/%x[-1,p]",
                    "%x[-1,p]/%x[0,p]",
                    "%x[0,p]/%x[1,p]",
                    "%x[1,p]/%x[2,p]",
                    "%x[-2,p]/%x[-1,p]/%x[0,p]",
                    "%x[-1,p]/%x[0,p]/%x[1,p]",
                    "%x[0,p]/%x[1,p]/%x[2,p]",
                    "%x[0,w]/%x[0,p]",
                    "%x[-1,w]/%x[0,p]",
                    "%x[1,w]/%x[0,p]",
                    "%x[0,w]/%x[1,p]",
                    "%x[0,w]/%x[-1,p]",
                ] {
                    add(text);
                }
            }
        }
        _ => return None,
    }
    add("");
    let numbered = lines.iter().enumerate().map(|(number, line)| format!("U{number:02}:{line}\n"));
    Some(numbered.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_crf_plus_plus_is_read_as_it_is() {
        let found = parse("# chunking\nU00:%x[-2,0]\n\nU05:%x[-1,0]/%x[0,1]\nB\nU\n").unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!(found[1].literals, ["U05:", "/", ""]);
        assert_eq!(found[1].looks[1], Look { offset: 0, column: 1, function: Function::Whole });
        assert!(found[2].looks.is_empty());
        let wrong = |text: &str| parse(text).unwrap_err().to_string();
        assert!(wrong("U1:%x[0]").starts_with("line 1 of the template: `%x[0]` should be one of"));
        assert!(wrong("U1:%m[0,0,\"x\"]").contains("should be one of"));
        assert!(wrong("X").contains("should begin with U or B"));
        let linked = parse("U0:%x[0,0]\nB1:%x[-1,0]/%x[0,0]\nB\nb2\n").unwrap();
        assert_eq!(linked.iter().map(|template| template.is_link).collect::<Vec<_>>(), [false, true]);
        assert!(wrong("B1:%y[0,0]").contains("should be one of"));
        assert!(wrong("U:%x[99,0]").contains("at most 16 tokens away"));
        assert!(wrong(&"U:%x[0,0]\n".repeat(2000)).contains("at most 1000 templates"));
        assert!(wrong("# nothing").contains("at least one"));
    }

    #[test]
    fn functions_make_of_words_what_they_say() {
        let make = |function: Function, cell: &str| {
            let mut out = String::new();
            function.apply(cell, &mut out).then_some(out)
        };
        assert_eq!(make(Function::Shape, "McDonald's-9").as_deref(), Some("XxXxxxxx'x-d"));
        assert_eq!(make(Function::Short, "McDonald's-99").as_deref(), Some("XxXx'x-d"));
        assert_eq!(make(Function::Suffix(3), "RUNNING").as_deref(), Some("ing"));
        assert_eq!(make(Function::Prefix(2), "Über").as_deref(), Some("üb"));
        assert_eq!(make(Function::Prefix(5), "Über"), None);
        // A cell of plain letters goes another way; with one that is not plain in it, the same has to come out.
        for cell in ["", "a", "Ab", "McDonald's-99", "U.S.", "1,000.5%", "__x\u{7f}"] {
            for n in 1..=6 {
                let long = (format!("{cell}日"), format!("日{cell}"));
                let suffix = make(Function::Suffix(n + 1), &long.0).map(|made| made.replace('日', ""));
                let prefix = make(Function::Prefix(n + 1), &long.1).map(|made| made.replace('日', ""));
                assert_eq!(make(Function::Suffix(n), cell), suffix, "{cell} {n}");
                assert_eq!(make(Function::Prefix(n), cell), prefix, "{cell} {n}");
            }
            // A sign that is no letter, digit or capital stands for itself.
            for function in [Function::Whole, Function::Lower, Function::Shape, Function::Short] {
                let long = make(function, &format!("{cell}€"));
                assert_eq!(make(function, cell), long.map(|made| made.replace('€', "")), "{cell}");
            }
        }
    }

    #[test]
    fn ready_made_sets_are_templates() {
        for (name, _) in SETS.iter().filter(|(name, _)| *name != "letters") {
            let text = ready_made(name, 1, &[2, 3]).unwrap();
            assert!(parse(&text).unwrap().len() > 20, "{name}");
        }
        assert_eq!(ready_made("letters", 0, &[]), None);
    }
}
