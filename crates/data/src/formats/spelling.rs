//! How a column spells its numbers, as far as its first cells tell.

use crate::rows::spelling::{Decimal, Mark, Spelling, is_grouped, unmarked};
use crate::scan::number;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Numbers as they come: how many, how far apart, and how fine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Range {
    pub(super) n_numbers: usize,
    pub(super) n_whole: usize,
    pub(super) least: f64,
    pub(super) largest: f64,
    pub(super) is_inexact: bool,
}

impl Range {
    pub(super) fn see(&mut self, number: f64) {
        let one = Self {
            n_numbers: 1,
            n_whole: usize::from(number.fract() == 0.0),
            least: number,
            largest: number,
            is_inexact: f64::from(number as f32) != number,
        };
        *self = self.with(&one);
    }

    /// These and those.
    pub(super) fn with(&self, others: &Self) -> Self {
        if self.n_numbers == 0 || others.n_numbers == 0 {
            return if self.n_numbers == 0 { *others } else { *self };
        }
        Self {
            n_numbers: self.n_numbers + others.n_numbers,
            n_whole: self.n_whole + others.n_whole,
            least: self.least.min(others.least),
            largest: self.largest.max(others.largest),
            is_inexact: self.is_inexact || others.is_inexact,
        }
    }
}

/// Every meaning that points and commas can have.
const MEANINGS: [Decimal; 4] =
    [Decimal::Point, Decimal::PointAfterCommas, Decimal::Comma, Decimal::CommaAfterPoints];

/// What the cells of a column say about its spelling: those without a sign, and those with each, as a slip in one
/// sign says nothing about what points and commas mean beside another.
#[derive(Debug, Clone, Default)]
pub(super) struct Spelled {
    unmarked: Tally,
    marked: Vec<(Mark, Tally)>,
}

/// What cells say whose sign is the same.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// How many there are that are a number in some way.
    n_cells: usize,
    /// Cells that each meaning can read, and what they are then. Plain numbers have a range elsewhere.
    n_read: [usize; 4],
    /// Most columns have nothing but plain numbers, and there may be very many columns.
    ranges: Option<Box<[Range; 4]>>,
    /// Whether a point stands somewhere, and whether one of them cannot part thousands.
    has_points: bool,
    has_decimal_point: bool,
    /// Whether points part thousands before a comma.
    has_grouped_comma: bool,
}

impl Tally {
    fn see_plain(&mut self, text: &[u8]) {
        self.n_cells += 1;
        let has_point = text.contains(&b'.');
        self.has_points |= has_point;
        self.has_decimal_point |= has_point && !is_grouped(text, b'.');
        // Whole numbers are the same to all.
        let reads = [true, true, !has_point, is_grouped(text, b'.')];
        for (n_read, reads) in self.n_read.iter_mut().zip(reads) {
            *n_read += usize::from(reads);
        }
    }

    fn see(&mut self, digits: &[u8]) {
        let values = MEANINGS.map(|meaning| meaning.parse(digits).ok());
        if values == [None; 4] {
            return;
        }
        self.n_cells += 1;
        for (place, value) in values.into_iter().enumerate() {
            let Some(value) = value else { continue };
            self.n_read[place] += 1;
            self.ranges.get_or_insert_default()[place].see(value);
        }
        let (has_point, has_comma) = (digits.contains(&b'.'), digits.contains(&b','));
        self.has_points |= has_point;
        self.has_decimal_point |= number::parse(digits).is_ok() && has_point && !is_grouped(digits, b'.');
        self.has_grouped_comma |= has_point && has_comma && values[3].is_some();
    }

    /// These and those.
    fn with(&self, others: &Self) -> Self {
        let both = |place: usize| self.n_read[place] + others.n_read[place];
        Self {
            n_cells: self.n_cells + others.n_cells,
            n_read: [0, 1, 2, 3].map(both),
            ranges: match (&self.ranges, &others.ranges) {
                (Some(these), Some(those)) => {
                    Some(Box::new([0, 1, 2, 3].map(|place: usize| these[place].with(&those[place]))))
                }
                (ranges, None) | (None, ranges) => ranges.clone(),
            },
            has_points: self.has_points || others.has_points,
            has_decimal_point: self.has_decimal_point || others.has_decimal_point,
            has_grouped_comma: self.has_grouped_comma || others.has_grouped_comma,
        }
    }
}

impl Spelled {
    /// Takes in a cell that is a plain number, by its text if it has one.
    pub(super) fn see_plain(&mut self, text: &[u8]) {
        self.unmarked.see_plain(text);
    }

    /// Takes in a cell that is no plain number.
    pub(super) fn see(&mut self, cell: &[u8]) {
        match unmarked(cell) {
            Some((mark, digits)) => {
                let place = self.marked.iter().position(|(known, _)| *known == mark).unwrap_or_else(|| {
                    self.marked.push((mark, Tally::default()));
                    self.marked.len() - 1
                });
                self.marked[place].1.see(&digits);
            }
            None if cell.contains(&b',') => self.unmarked.see(cell),
            None => {}
        }
    }

    /// The cells without a sign, and those with this one.
    fn tally(&self, mark: Option<Mark>) -> Cow<'_, Tally> {
        let marked = self.marked.iter().find(|(known, _)| Some(*known) == mark);
        marked.map_or(Cow::Borrowed(&self.unmarked), |(_, marked)| Cow::Owned(self.unmarked.with(marked)))
    }

    /// The numbers of cells that are no plain ones.
    pub(super) fn range(&self, spelling: Spelling) -> Range {
        let ranges = &self.tally(spelling.mark).ranges;
        ranges.as_ref().map_or_else(Range::default, |ranges| ranges[spelling.decimal as usize])
    }

    /// Whether some cells of this spelling cannot be read without knowing what a comma means.
    pub(super) fn has_commas(&self, spelling: Spelling) -> bool {
        let [plain, others @ ..] = self.tally(spelling.mark).n_read;
        others.into_iter().any(|n_read| n_read > plain)
    }

    /// How a column of this many cells is spelled: plainly unless almost all of them can be read in one other way, with one
    /// sign; a cell with another is then an error. Nothing if there are two ways, which give different numbers.
    pub(super) fn spelling(&self, n_cells: usize) -> Option<Spelling> {
        let are_most = |n_some: usize| n_some * 10 >= n_cells * 9;
        let marked = self.marked.iter().filter(|(_, tally)| tally.n_cells > 0);
        let mark = marked.clone().find(|(_, tally)| are_most(tally.n_cells)).map(|(mark, _)| *mark);
        let tally = self.tally(mark);
        let [plain, after_commas, _, after_points] = tally.n_read;
        // Digits whose signs differ are not one unit.
        let differ = mark.is_none() && marked.count() > 0;
        if differ || !are_most(plain.max(after_commas).max(after_points)) {
            return Some(Spelling::PLAIN);
        }
        let says_point = mark.is_some_and(Mark::says_point);
        let needs_comma = after_commas.max(after_points) > plain;
        let decimal = match after_commas.cmp(&after_points) {
            _ if !needs_comma && mark == Some(Mark::Euro) && tally.has_points && !tally.has_decimal_point => {
                return None;
            }
            // Where commas part thousands by custom, a larger number may have one.
            _ if !needs_comma => {
                if says_point {
                    Decimal::PointAfterCommas
                } else {
                    Decimal::Point
                }
            }
            Ordering::Greater => Decimal::PointAfterCommas,
            Ordering::Equal if says_point => Decimal::PointAfterCommas,
            Ordering::Equal => return None,
            Ordering::Less if tally.has_grouped_comma => Decimal::CommaAfterPoints,
            Ordering::Less => Decimal::Comma,
        };
        Some(Spelling { decimal, mark })
    }
}

/// How these cells spell their numbers: plainly unless almost all of them can be read in one other way. Nothing if there are
/// two ways, which give different numbers.
pub fn spelling_of(cells: &[impl AsRef<str>]) -> Option<Spelling> {
    let mut spelled = Spelled::default();
    for cell in cells.iter().map(|cell| cell.as_ref().as_bytes()) {
        match number::parse(cell) {
            Ok(_) => spelled.see_plain(cell),
            Err(_) => spelled.see(cell),
        }
    }
    spelled.spelling(cells.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_says_how_it_is_spelled() {
        use Decimal::{Comma, CommaAfterPoints, Point, PointAfterCommas};
        use Mark::{Dollar, Euro, Percent};
        let plain = Some(Spelling::PLAIN);
        let of = |decimal, mark| Some(Spelling { decimal, mark });
        let mostly_points: Vec<&str> = std::iter::repeat_n("88.78 €", 99).chain(["1.234,50 €"]).collect();
        let mostly_dollars: Vec<&str> = std::iter::repeat_n("$12.50", 19).chain(["€1.000,00"]).collect();
        let one_in_five: Vec<&str> = std::iter::repeat_n("$12.50", 4).chain(["€1,000.00"]).collect();
        let unclear_euros: Vec<&str> = std::iter::repeat_n("1.965 €", 19).chain(["$7.25"]).collect();
        for (cells, expected) in [
            (&["1.5", "2", "-3e4"][..], plain),
            (&["1,5", "2", "3,25"], of(Comma, None)),
            (&["1.234,5", "2,1", "7"], of(CommaAfterPoints, None)),
            (&["1,234", "5,678"], None),
            (&["1.234", "5.678"], plain),
            (&["1,234", "5,678", "12.5"], of(PointAfterCommas, None)),
            (&["1,234", "5.678"], None),
            (&["1,234,567", "5,678", "12"], of(PointAfterCommas, None)),
            (&["1,234.50", "678.25"], of(PointAfterCommas, None)),
            (&["$12", "$7.50"], of(PointAfterCommas, Some(Dollar))),
            (&["$1,234", "$7", "-$3"], of(PointAfterCommas, Some(Dollar))),
            (&["12,50 €", "3 €"], of(Comma, Some(Euro))),
            (&["12,50 €", "3 €", "1.000,00 €"], of(CommaAfterPoints, Some(Euro))),
            (&["1,234 €", "2,345 €"], None),
            (&["237 €", "1.965 €", "4.682 €"], None),
            (&["237 €", "19.65 €", "4.682 €"], of(Point, Some(Euro))),
            (&["€1,234.00", "€7.25"], of(PointAfterCommas, Some(Euro))),
            (&mostly_points, of(Point, Some(Euro))),
            (&["12 %", "7.5%"], of(Point, Some(Percent))),
            (&["12,5 %", "7%"], of(Comma, Some(Percent))),
            (&["$1", "€1"], plain),
            (&mostly_dollars, of(PointAfterCommas, Some(Dollar))),
            (&one_in_five, plain),
            // What a slip in another sign says of points is nothing about these.
            (&unclear_euros, None),
            (&["$1", "1", "2", "3"], plain),
            (&["a%", "%", "$", "1 $ 2"], plain),
            (&["12%34", "1,23,4"], plain),
            (&["1,2e3", "4,5e6"], of(Comma, None)),
        ] {
            assert_eq!(spelling_of(cells), expected, "{cells:?}");
        }
    }
}
