//! Rows that a source has and a block has not: where they would stand, and why they were left out.
//!
//! A row is dropped if it lacks a value and the policy is to drop such rows; it is skipped if it cannot be read and
//! the policy is to go on. A writer of a line per row needs the places of both; a report needs counts,
//! reasons, and the first mistakes as a person reads them.

use crate::error::{DataError, ErrorKind, Mistake};
use crate::rows::chunks::Stopped;
use crate::words::count;
use std::fmt::Write as _;

/// How many mistakes are kept to be shown.
const MAX_SHOWN: usize = 3;

/// Rows in a row that were left out for the same reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// How many rows of the block stand before them.
    pub n_before: usize,
    /// How many there are.
    pub n_rows: u64,
    /// What was wrong with them; `None` if they lack a value.
    pub wrong: Option<ErrorKind>,
}

/// The gaps of a block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    runs: Vec<Gap>,
    n_dropped: u64,
    n_skipped: u64,
    /// Texts that were read in another encoding than they should have, and the first of them.
    n_recoded: u64,
    first_recoded: Option<String>,
    /// Characters that no text has and that were read as spaces, with the number of such texts, and the first of them.
    blanked: Blanked,
    /// The first mistakes, placed.
    shown: Vec<String>,
    /// Mistakes whose line is not known yet, and how many rows of the chunk came before each.
    unplaced: Vec<(Stopped, u64)>,
}

/// Characters that were read as spaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Blanked {
    n_characters: u64,
    n_texts: u64,
    first: Option<String>,
}

impl Blanked {
    fn add(&mut self, other: &Self) {
        self.n_characters += other.n_characters;
        self.n_texts += other.n_texts;
        self.first = self.first.take().or_else(|| other.first.clone());
    }
}

impl Gaps {
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        self.shown.clear();
        self.unplaced.clear();
        (self.n_dropped, self.n_skipped, self.n_recoded) = (0, 0, 0);
        self.first_recoded = None;
        self.blanked = Blanked::default();
    }

    pub(crate) fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    pub(crate) fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    pub(crate) fn runs(&self) -> &[Gap] {
        &self.runs
    }

    /// Gaps of known size and known places, each a number of rows after a number of rows, as a cache remembers them:
    /// without reasons.
    pub(crate) fn counted(n_dropped: u64, n_skipped: u64, places: Vec<(usize, u64)>) -> Self {
        let runs =
            places.into_iter().map(|(n_before, n_rows)| Gap { n_before, n_rows, wrong: None }).collect();
        Self { runs, n_dropped, n_skipped, ..Self::default() }
    }

    /// Leaves a row out after the first `n_before`.
    pub(crate) fn leave_out(&mut self, n_before: usize, wrong: Option<ErrorKind>) {
        match wrong {
            Some(_) => self.n_skipped += 1,
            None => self.n_dropped += 1,
        }
        self.push(Gap { n_before, n_rows: 1, wrong });
    }

    fn push(&mut self, gap: Gap) {
        match self.runs.last_mut() {
            Some(last) if last.n_before == gap.n_before && last.wrong == gap.wrong => {
                last.n_rows += gap.n_rows;
            }
            _ => self.runs.push(gap),
        }
    }

    /// Leaves out the record that begins at byte `start` of a chunk, `line_idx` lines below its first, after the
    /// first `n_before` rows. Which lines those are is not known until the chunk has its turn.
    pub(crate) fn skip_record(
        &mut self,
        n_before: usize,
        mistake: Box<Mistake>,
        line_idx: u64,
        start: usize,
    ) {
        let (kind, row_idx) = (mistake.kind, n_before as u64 + self.n_dropped + self.n_skipped);
        if self.shown.len() + self.unplaced.len() < MAX_SHOWN {
            self.unplaced.push((Stopped { mistake, line_idx, start }, row_idx));
        }
        self.leave_out(n_before, Some(kind));
    }

    /// Counts a text that is not UTF-8.
    pub(crate) fn recoded(&mut self, name: &str) {
        self.n_recoded += 1;
        self.first_recoded.get_or_insert_with(|| name.to_owned());
    }

    /// Counts a text in which `n_characters` were read as spaces.
    pub(crate) fn blanked(&mut self, n_characters: u64, name: &str) {
        self.blanked.add(&Blanked { n_characters, n_texts: 1, first: Some(name.to_owned()) });
    }

    /// Keeps a mistake, as the first are.
    pub(crate) fn show(&mut self, error: &DataError) {
        if self.shown.len() < MAX_SHOWN {
            self.shown.push(error.to_string());
        }
    }

    /// Places the mistakes of a chunk, whose `text` begins on `line` after `n_rows` rows.
    pub(crate) fn place(&mut self, source: &str, text: &[u8], line: u64, n_rows: u64) {
        for (Stopped { mistake, line_idx, start }, row_idx) in std::mem::take(&mut self.unplaced) {
            let row = n_rows + row_idx + 1;
            self.show(&mistake.locate(source, &text[start..], line + line_idx, row, false));
        }
    }

    /// Puts gaps in front of which there are no rows before these.
    pub(crate) fn put_before(&mut self, earlier: Self) {
        let later = std::mem::replace(self, earlier);
        // Rows that stood before a gap stand before it no more: they are of another block.
        for run in &mut self.runs {
            run.n_before = 0;
        }
        for run in later.runs {
            self.push(run);
        }
        self.n_dropped += later.n_dropped;
        self.n_skipped += later.n_skipped;
        self.n_recoded += later.n_recoded;
        self.first_recoded = self.first_recoded.take().or(later.first_recoded);
        self.blanked.add(&later.blanked);
        let room = MAX_SHOWN.saturating_sub(self.shown.len());
        self.shown.extend(later.shown.into_iter().take(room));
        self.unplaced.extend(later.unplaced);
    }
}

/// All that was left out of a source so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    n_dropped: u64,
    reasons: Vec<(ErrorKind, u64)>,
    n_skipped: u64,
    n_recoded: u64,
    first_recoded: Option<String>,
    blanked: Blanked,
    shown: Vec<String>,
}

impl LeftOut {
    /// Adds what a block lacks.
    pub(crate) fn add(&mut self, gaps: &Gaps) {
        self.n_dropped += gaps.n_dropped;
        self.n_skipped += gaps.n_skipped;
        self.n_recoded += gaps.n_recoded;
        self.first_recoded = self.first_recoded.take().or_else(|| gaps.first_recoded.clone());
        self.blanked.add(&gaps.blanked);
        for gap in &gaps.runs {
            let Some(wrong) = gap.wrong else { continue };
            match self.reasons.iter_mut().find(|(kind, _)| *kind == wrong) {
                Some((_, n_rows)) => *n_rows += gap.n_rows,
                None => self.reasons.push((wrong, gap.n_rows)),
            }
        }
        let room = MAX_SHOWN.saturating_sub(self.shown.len());
        self.shown.extend(gaps.shown.iter().take(room).cloned());
    }

    /// Rows that lack a value and were dropped for it.
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// Rows that cannot be read and were skipped.
    pub fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    /// Why rows were skipped, and how many for each reason, in the order in which the reasons came.
    pub fn reasons(&self) -> &[(ErrorKind, u64)] {
        &self.reasons
    }

    /// What a person should know of it: nothing if nothing was left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.n_dropped > 0 {
            notes.push(format!("{} row(s) lack a value and were dropped", count(self.n_dropped)));
        }
        if self.n_skipped > 0 {
            let mut note = format!("{} row(s) cannot be read and were skipped", count(self.n_skipped));
            let reasons: Vec<String> = self
                .reasons
                .iter()
                .map(|(kind, n_rows)| format!("{} {}", kind.code(), count(*n_rows)))
                .collect();
            if !reasons.is_empty() {
                let _ = write!(note, " ({})", reasons.join(", "));
            }
            for (place, shown) in self.shown.iter().enumerate() {
                let _ = write!(note, "{} {shown}", if place == 0 { "; first:" } else { ";" });
            }
            notes.push(note);
        }
        if let Some(first) = &self.first_recoded {
            let encoding = "are not UTF-8 and were read as Windows-1252 (Latin-1)";
            notes.push(format!("{} text(s) {encoding}, first `{first}`", count(self.n_recoded)));
        }
        if let Blanked { n_characters, n_texts, first: Some(first) } = &self.blanked {
            notes.push(format!(
                "{} control character(s) in {} text(s) were read as spaces, first in `{first}`",
                count(*n_characters),
                count(*n_texts)
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{blocks, load_with_schema};
    use crate::options::{OnBadRow, ReadOptions};
    use crate::rows::schema::Missing;

    /// A letter per row of the source: `.` if it was kept, the first letter of what was wrong, `-` if it was dropped.
    fn drawn(source: &Source, how: &ReadOptions) -> (String, Vec<String>) {
        let mut stream = blocks(source, how).unwrap();
        let mut drawn = String::new();
        let draw = |gap: &Gap, drawn: &mut String| {
            let sign = gap.wrong.map_or("-", |wrong| &wrong.code()[..1]);
            drawn.push_str(&sign.repeat(gap.n_rows as usize));
        };
        while let Some(block) = stream.next().unwrap() {
            let mut gaps = block.gaps().iter().peekable();
            for row in 0..=block.len() {
                while let Some(gap) = gaps.next_if(|gap| gap.n_before == row) {
                    draw(gap, &mut drawn);
                }
                if row < block.len() {
                    drawn.push('.');
                }
            }
        }
        stream.gaps_at_end().iter().for_each(|gap| draw(gap, &mut drawn));
        (drawn, stream.left_out().notes())
    }

    #[test]
    fn every_row_of_the_source_has_its_place() {
        let how = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::default() };
        for (name, text) in [
            ("t.svm", "1 1:x\n1 1:1\n2 1:1\n1 1:y\n1 2:z\n2 1:1\n2 1:q\n"),
            ("t.csv", "a,b,label\n1,x,1\n1,1,1\n2,1,2\n1,y,1\n1,z,1\n2,2,2\n2,q,2\n"),
            (
                "t.jsonl",
                "{\"a\":1,\"label\":1\n{\"a\":1,\"label\":1}\n{\"a\":2,\"label\":2}\n{\"a\"\n{\n{\"a\":2,\"label\":2}\n{\n",
            ),
        ] {
            let is_csv = name == "t.csv";
            // Words among numbers make a column of categories unless the numbers are many.
            let text = if is_csv {
                text.replace("label\n", &format!("label\n{}", "3,3,1\n".repeat(2000)))
            } else {
                text.to_owned()
            };
            let (rows, notes) = drawn(&Source::bytes(name, text.clone().into_bytes()), &how);
            let shown: String = rows.trim_start_matches(|c| is_csv && c == '.').chars().collect();
            let plain: String = shown.chars().map(|c| if c == '.' { '.' } else { 'x' }).collect();
            assert_eq!(plain, "x..xx.x", "{name}");
            assert!(notes[0].starts_with("4 row(s) cannot be read and were skipped ("), "{notes:?}");
            assert!(notes[0].contains(&format!("first: {name}:")), "{notes:?}");
            let (data, schema) = load_with_schema(&Source::bytes(name, text.into_bytes()), &how).unwrap();
            assert!(data.len() % 1000 == 3 && schema.notes.contains(&notes[0]), "{:?}", schema.notes);
        }
    }

    #[test]
    fn files_chunks_and_threads_do_not_shift_rows() {
        let line = |row: usize| if row % 1000 < 3 || row % 7 == 6 { "1 1:x\n" } else { "1 1:1 2:2\n" };
        let text: String = (0..120_000).map(line).collect();
        let expected: String =
            (0..120_000).map(|row| if line(row).contains('x') { 'n' } else { '.' }).collect();
        for threads in [1, 3] {
            let how = ReadOptions { on_bad_row: OnBadRow::Skip, threads, ..ReadOptions::default() };
            let (rows, notes) = drawn(&Source::bytes("t.svm", text.clone().into_bytes()), &how);
            assert_eq!(rows, expected);
            assert!(notes[0].contains("first: t.svm:1:"), "{notes:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("a.svm", "1 1:1\n1 1:x\n"), ("b.svm", "1 1:x\n1 1:x\n"), ("c.svm", "1 1:x\n1 1:1\n")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let how = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::default() };
        assert_eq!(drawn(&Source::find(folder.path()).unwrap(), &how).0, ".nnnn.");
    }

    #[test]
    fn dropped_rows_have_their_place_too() {
        let how = ReadOptions { missing: Missing::Drop, ..ReadOptions::default() };
        let table = Source::bytes("t.csv", *b"a,b,label\n1,,x\n1,2,x\n3,4,y\n,5,y\n");
        let (rows, notes) = drawn(&table, &how);
        assert_eq!((rows.as_str(), notes[0].as_str()), ("-..-", "2 row(s) lack a value and were dropped"));
    }
}
