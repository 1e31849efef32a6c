//! How a column spells its numbers: `1234.5`, `1.234,5`, `$1,234.50`, `12 %`.
//!
//! One spelling holds for a whole column, since a single cell does not tell: `1,234` may be a thousand or a little more
//! than one.

use crate::rows::schema::{MARKS, PERCENT};
use crate::scan::number::{self, BadNumber};

/// What points and commas mean among digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Decimal {
    /// `1234.5`.
    #[default]
    Point,
    /// `1,234.5`.
    PointAfterCommas,
    /// `1234,5`.
    Comma,
    /// `1.234,5`.
    CommaAfterPoints,
}

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spelling {
    pub(super) decimal: Decimal,
    /// The sign of money or percent that stands beside the digits.
    pub(super) mark: Option<&'static str>,
}

impl Spelling {
    /// As programs write numbers, and as readers read them fastest.
    pub(super) const PLAIN: Self = Self { decimal: Decimal::Point, mark: None };

    /// The number that a cell spells.
    pub(super) fn parse(self, cell: &[u8]) -> Result<f64, BadNumber> {
        let Some(mark) = self.mark else { return self.decimal.parse(cell) };
        match unmarked(cell) {
            Some((found, digits)) if found == mark => self.decimal.parse(&digits),
            Some(_) => Err(BadNumber::NotANumber),
            None if self.takes_plain() => self.decimal.parse(cell),
            None => Err(BadNumber::NotANumber),
        }
    }

    /// Whether a number without a sign can be one of these: a share may be of one or of a hundred.
    pub(super) fn takes_plain(self) -> bool {
        self.mark != Some(PERCENT)
    }
}

impl Decimal {
    fn parse(self, cell: &[u8]) -> Result<f64, BadNumber> {
        let (point, between) = match self {
            Self::Point => return number::parse(cell),
            Self::PointAfterCommas => (b'.', b','),
            Self::Comma | Self::CommaAfterPoints => (b',', b'.'),
        };
        let whole = cell.split(|byte| *byte == point).next().unwrap_or_default();
        let groups_end = whole.len();
        if self == Self::Comma && whole.contains(&between)
            || self == Self::PointAfterCommas && !is_grouped(whole)
            || cell[groups_end..].contains(&between)
        {
            return Err(BadNumber::NotANumber);
        }
        let kept = cell.iter().filter(|byte| **byte != between);
        let plain: Vec<u8> = kept.map(|&byte| if byte == point { b'.' } else { byte }).collect();
        number::parse(&plain)
    }
}

/// Whether commas part these digits into thousands, if there are any.
fn is_grouped(whole: &[u8]) -> bool {
    let digits = whole.strip_prefix(b"-").or_else(|| whole.strip_prefix(b"+")).unwrap_or(whole);
    let mut groups = digits.split(|byte| *byte == b',');
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&[u8]> = groups.collect();
    rest.is_empty() || (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3)
}

/// The sign beside a number, and the number without it; nothing if there is none, or more than one.
fn unmarked(cell: &[u8]) -> Option<(&'static str, Vec<u8>)> {
    let (minus, rest) = match cell.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, cell),
    };
    let (mark, digits) = MARKS.into_iter().find_map(|mark| {
        let before = rest.strip_prefix(mark.as_bytes()).filter(|_| mark != PERCENT);
        before.or_else(|| rest.strip_suffix(mark.as_bytes())).map(|digits| (mark, digits))
    })?;
    let digits = digits.trim_ascii();
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-');
    let sign = if minus { &b"-"[..] } else { b"" };
    (!digits.is_empty() && digits.iter().all(is_number)).then(|| (mark, [sign, digits].concat()))
}

/// What the cells of a column that are no plain numbers say about its spelling.
#[derive(Debug, Clone, Default)]
pub(super) struct Spelled {
    /// Cells with a sign, and the first sign that was seen.
    n_marked: usize,
    mark: Option<&'static str>,
    has_other_marks: bool,
    /// Cells whose digits need no comma, and whether a point stands among those of some.
    n_plain: usize,
    has_points: bool,
    /// Cells with a comma before the decimals, and whether points stand before the comma.
    n_commas: usize,
    has_points_before: bool,
    /// Cells whose commas part thousands.
    n_grouped: usize,
    /// Cells that are both.
    n_either: usize,
}

impl Spelled {
    /// Takes in a cell that is no plain number.
    pub(super) fn see(&mut self, cell: &[u8]) {
        let marked = unmarked(cell);
        let digits = marked.as_ref().map_or(cell, |(_, digits)| digits);
        let is_plain = marked.is_some() && number::parse(digits).is_ok();
        let (mut has_comma, mut is_grouped) = (false, false);
        if digits.contains(&b',') {
            has_comma = Decimal::CommaAfterPoints.parse(digits).is_ok();
            is_grouped = Decimal::PointAfterCommas.parse(digits).is_ok();
        }
        if !(is_plain || has_comma || is_grouped) {
            return;
        }
        if let Some((mark, _)) = marked {
            self.n_marked += 1;
            self.has_other_marks |= *self.mark.get_or_insert(mark) != mark;
        }
        self.n_plain += usize::from(is_plain);
        self.has_points |= is_plain && digits.contains(&b'.');
        self.n_commas += usize::from(has_comma);
        self.has_points_before |= has_comma && digits.contains(&b'.');
        self.n_grouped += usize::from(is_grouped);
        self.n_either += usize::from(has_comma && is_grouped);
    }

    /// How a column of so many cells, some of them plain numbers, is spelled: plainly unless almost all of them can be
    /// read in one other way. A comma before three digits may part thousands, and that alone says nothing.
    pub(super) fn spelling(&self, n_cells: usize, n_numbers: usize) -> Spelling {
        let are_most = |n_some: usize| n_some * 10 >= n_cells * 9;
        let mark = self.mark.filter(|_| are_most(self.n_marked) && !self.has_other_marks);
        let n_plain = n_numbers + self.n_plain;
        // Only the euro's lands write a comma before decimals.
        let says_point = self.has_points || mark.is_some_and(|mark| mark != "€" && mark != PERCENT);
        let decimal = if self.n_commas > self.n_either && are_most(self.n_commas + n_plain) {
            if self.has_points_before { Decimal::CommaAfterPoints } else { Decimal::Comma }
        } else if (self.n_grouped > self.n_either || self.n_either > 0 && says_point)
            && are_most(self.n_grouped + n_plain)
        {
            Decimal::PointAfterCommas
        } else if self.n_commas + self.n_grouped == 0 {
            return Spelling { decimal: Decimal::Point, mark };
        } else {
            return Spelling::PLAIN;
        };
        // Digits whose signs differ are not one unit.
        if self.n_marked > 0 && mark.is_none() { Spelling::PLAIN } else { Spelling { decimal, mark } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(cells: &[&str]) -> Spelling {
        let (mut spelled, mut n_numbers) = (Spelled::default(), 0);
        for cell in cells {
            match number::parse(cell.as_bytes()) {
                Ok(_) => n_numbers += 1,
                Err(_) => spelled.see(cell.as_bytes()),
            }
        }
        spelled.spelling(cells.len(), n_numbers)
    }

    #[test]
    fn a_column_says_how_it_is_spelled() {
        let plain = Spelling::PLAIN;
        let of = |decimal, mark| Spelling { decimal, mark };
        for (cells, expected) in [
            (&["1.5", "2", "-3e4"][..], plain),
            (&["1,5", "2", "3,25"], of(Decimal::Comma, None)),
            (&["1.234,5", "2,1", "7"], of(Decimal::CommaAfterPoints, None)),
            (&["1,234", "5,678"], plain),
            (&["1,234", "5,678", "12.5"], plain),
            (&["1,234,567", "5,678", "12"], of(Decimal::PointAfterCommas, None)),
            (&["1,234.50", "678.25"], of(Decimal::PointAfterCommas, None)),
            (&["$12", "$7.50"], of(Decimal::Point, Some("$"))),
            (&["$1,234", "$7", "-$3"], of(Decimal::PointAfterCommas, Some("$"))),
            (&["12,50 €", "3 €", "1.000,00 €"], of(Decimal::CommaAfterPoints, Some("€"))),
            (&["1,234 €", "2,345 €"], plain),
            (&["€1,234.00", "€7.25"], of(Decimal::PointAfterCommas, Some("€"))),
            (&["12 %", "7.5%"], of(Decimal::Point, Some("%"))),
            (&["12,5 %", "7%"], of(Decimal::Comma, Some("%"))),
            (&["$1", "€1"], plain),
            (&["$1", "1", "2", "3"], plain),
            (&["a%", "%", "$", "1 $ 2"], plain),
            (&["12%34", "1,23,4"], plain),
        ] {
            assert_eq!(spelling(cells), expected, "{cells:?}");
        }
    }

    #[test]
    fn a_spelling_reads_its_own_cells_and_no_others() {
        let read = |decimal, mark, cell: &str| Spelling { decimal, mark }.parse(cell.as_bytes()).ok();
        for (decimal, mark, cell, expected) in [
            (Decimal::PointAfterCommas, Some("$"), "$1,234.50", Some(1234.5)),
            (Decimal::PointAfterCommas, Some("$"), "-$1,234,567", Some(-1_234_567.0)),
            (Decimal::PointAfterCommas, Some("$"), "$ 7", Some(7.0)),
            (Decimal::PointAfterCommas, Some("$"), "12.5", Some(12.5)),
            (Decimal::PointAfterCommas, Some("$"), "€12", None),
            (Decimal::PointAfterCommas, Some("$"), "$1,23", None),
            (Decimal::PointAfterCommas, Some("$"), "$1,2345", None),
            (Decimal::PointAfterCommas, Some("$"), "$1.5,000", None),
            (Decimal::CommaAfterPoints, Some("€"), "1.234,50 €", Some(1234.5)),
            (Decimal::Comma, None, "1.234,5", None),
            (Decimal::Comma, None, "1,5.2", None),
            (Decimal::Comma, None, "-1,5", Some(-1.5)),
            (Decimal::Point, Some("%"), "45%", Some(45.0)),
            (Decimal::Point, Some("%"), "45 %", Some(45.0)),
            (Decimal::Point, Some("%"), "0.45", None),
            (Decimal::Point, Some("%"), "%45", None),
        ] {
            assert_eq!(read(decimal, mark, cell), expected, "{decimal:?} {mark:?} {cell}");
        }
    }
}
