//! How the program talks: tables on stdout, complaints on stderr.

use crate::failure::Failure;
use rosenblatt_data::harmless;
pub(crate) use rosenblatt_figures::words::{count, counted, percent};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Prints a result. A reader that has gone away is an error the caller passes on.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    // A terminal obeys what it is sent; a program at the end of a pipe wants names as they are.
    if io::stdout().is_terminal() {
        return print_bytes(harmless(text).as_bytes());
    }
    print_bytes(text.as_bytes())
}

/// How the line of a report begins that a reader looks for first.
const HEADLINES: [&str; 7] = [
    "cross-validated error: ",
    "held-out error: ",
    "progressive error: ",
    "error rate: ",
    "SEPARABLE",
    "NOT SEPARABLE",
    "UNDECIDED",
];

/// [`print()`] for a report: in a terminal with colours its headline is bold.
pub(crate) fn print_report(text: &str) -> Result<(), Failure> {
    if has_colours() {
        return print_bytes(emphasised(&harmless(text)).as_bytes());
    }
    print(text)
}

/// Whether stdout shows colours and they are not turned off (see no-color.org).
pub(crate) fn has_colours() -> bool {
    let minds = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !minds && !is_dumb
}

/// The text with its headline in bold.
fn emphasised(text: &str) -> String {
    let is_headline = |line: &str| HEADLINES.iter().any(|headline| line.starts_with(headline));
    let bold = |line: &str| {
        let (words, end) = line.split_at(line.trim_end_matches('\n').len());
        if is_headline(line) { format!("\x1b[1m{words}\x1b[0m{end}") } else { line.to_owned() }
    };
    text.split_inclusive('\n').map(bold).collect()
}

/// [`print()`] for results that may be no text.
pub(crate) fn print_either(bytes: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        return print(&String::from_utf8_lossy(bytes));
    }
    print_bytes(bytes)
}

/// [`print()`] for what is drawn for a terminal.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Says why a command failed.
pub(crate) fn complain(failure: &Failure) {
    let text = match failure {
        Failure::Usage(message) => format!("error: {message}\n\nFor more information, try '--help'.\n"),
        Failure::Work(message) => format!("error: {message}\n"),
        Failure::Stopped(_, message) => format!("{message}\n"),
        Failure::Undecided(Some(message)) => format!("{message}\n"),
        Failure::Undecided(None) | Failure::NobodyListens => return,
    };
    // If even this fails, there is no place left to report it.
    let _ = io::stderr().write_all(harmless(&text).as_bytes());
}

/// Whether only results and errors are wished for.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Says nothing beside results and errors from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a note beside the result, unless it is to be quiet.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        warn(text);
    }
}

/// Says something that must be heard.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless(text));
}

/// A duration as a person would say it.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 0.001 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s => format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

/// Bytes as a person would say it.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.1} GB", number as f64 / 1e9),
    }
}

/// How many characters fit in a line: what the terminal has, and as help pages have it where there is none.
pub(crate) fn terminal_width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(100, |(width, _)| usize::from(width.0))
}

/// Names of at most this many characters. Names that begin alike keep their ends as well, or else get a number, so that
/// they stay apart.
pub(crate) fn apart(names: &[String], most: usize) -> Vec<String> {
    let beginning = |name: &str| name.chars().take(most - 1).chain(['…']).collect::<String>();
    let ends = |name: &str| {
        let (first, last) = ((most - 1).div_ceil(2), (most - 1) / 2);
        let skipped = name.chars().count() - last;
        name.chars().take(first).chain(['…']).chain(name.chars().skip(skipped)).collect::<String>()
    };
    let is_long = |name: &str| name.chars().count() > most;
    let cut =
        |name: &String, how: &dyn Fn(&str) -> String| if is_long(name) { how(name) } else { name.clone() };
    let is_apart = |short: &[String]| short.iter().collect::<BTreeSet<_>>().len() == short.len();
    let ways: [&dyn Fn(&str) -> String; 2] = [&beginning, &ends];
    let shortened = ways.iter().map(|how| names.iter().map(|name| cut(name, *how)).collect::<Vec<_>>());
    let numbered = || {
        let number = |(idx, name): (usize, &String)| {
            let number = format!("…{}", idx + 1);
            let kept = most.saturating_sub(number.chars().count());
            if is_long(name) { name.chars().take(kept).collect::<String>() + &number } else { name.clone() }
        };
        names.iter().enumerate().map(number).collect()
    };
    shortened.into_iter().find(|short| is_apart(short)).unwrap_or_else(numbered)
}

/// Rows of cells as aligned text: the first column to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            let gap = if column == 0 { "" } else { "  " };
            let _ =
                if column == 0 { write!(line, "{gap}{cell}{pad}") } else { write!(line, "{gap}{pad}{cell}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_read_well() {
        assert_eq!(duration(Duration::from_millis(12)), "12 ms");
        assert_eq!(bytes(12_345), "12.3 kB");
    }

    #[test]
    fn names_are_cut_and_stay_apart() {
        let names = |list: [&str; 3]| list.map(str::to_owned);
        assert_eq!(apart(&names(["ham", "spam", "eggs"]), 8), ["ham", "spam", "eggs"]);
        assert_eq!(apart(&names(["a long name", "another one", "spam"]), 6), ["a lon…", "anoth…", "spam"]);
        assert_eq!(apart(&names(["class of 1999", "class of 2000", "b"]), 6), ["cla…99", "cla…00", "b"]);
        assert_eq!(apart(&names(["aaaaaaaxaaaa", "aaaaaaayaaaa", "b"]), 6), ["aaaa…1", "aaaa…2", "b"]);
    }

    #[test]
    fn headlines_are_bold_and_other_bytes_as_they_were() {
        let text = "t.csv: 9 rows\n\nheld-out error: 1.0 %\naccuracy 99.0 %\n";
        let bold = "t.csv: 9 rows\n\n\u{1b}[1mheld-out error: 1.0 %\u{1b}[0m\naccuracy 99.0 %\n";
        assert_eq!(emphasised(text), bold);
        assert_eq!(emphasised("no headline, and no last end"), "no headline, and no last end");
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["a".to_owned(), "10".to_owned()], vec!["long".to_owned(), "7".to_owned()]];
        assert_eq!(table(&rows), "a     10\nlong   7\n");
    }
}
