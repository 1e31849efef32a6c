//! How a column spells its numbers: `1234.5`, `1.234,5`, `$1,234.50`, `12 %`.
//!
//! One spelling holds for a whole column, since a single cell does not tell: `1,234` may be a thousand or a little more
//! than one. A model keeps the spelling that it learned from, so that a row alone is read as it was among others.

use crate::scan::number::{self, BadNumber};
use serde::{Deserialize, Serialize};

/// What points and commas mean among digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decimal {
    /// `1234.5`.
    #[default]
    Point,
    /// `1,234.5`.
    PointAfterCommas,
    /// `1234,5`, and `1.234,5` where a comma shows what the point means.
    Comma,
    /// `1.234,5`, and `1.234` for a little more than a thousand.
    CommaAfterPoints,
}

/// A sign before or after a number. None but percent changes what a number without it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// Of a hundred.
    #[serde(rename = "%")]
    Percent,
    /// Dollars, of whatever land.
    #[serde(rename = "$")]
    Dollar,
    /// Euros.
    #[serde(rename = "€")]
    Euro,
    /// Pounds.
    #[serde(rename = "£")]
    Pound,
    /// Yen, or yuan.
    #[serde(rename = "¥")]
    Yen,
    /// Rupees.
    #[serde(rename = "₹")]
    Rupee,
}

impl Mark {
    const ALL: [Self; 6] = [Self::Percent, Self::Dollar, Self::Euro, Self::Pound, Self::Yen, Self::Rupee];

    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Percent => "%",
            Self::Dollar => "$",
            Self::Euro => "€",
            Self::Pound => "£",
            Self::Yen => "¥",
            Self::Rupee => "₹",
        }
    }

    /// Whether those who write it write a point before decimals; lands of the euro do both, and all write shares.
    pub(crate) fn says_point(self) -> bool {
        !matches!(self, Self::Euro | Self::Percent)
    }
}

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Spelling {
    /// What points and commas mean.
    pub decimal: Decimal,
    /// The sign of money or percent that stands beside the digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

impl Spelling {
    /// As programs write numbers, and as readers read them fastest.
    pub const PLAIN: Self = Self { decimal: Decimal::Point, mark: None };

    /// Whether it is the plain one.
    pub fn is_plain(&self) -> bool {
        *self == Self::PLAIN
    }

    /// The number that a text spells, if it does.
    pub fn number(self, text: &str) -> Option<f64> {
        self.parse(text.as_bytes()).ok()
    }

    /// The number that a cell spells.
    pub(crate) fn parse(self, cell: &[u8]) -> Result<f64, BadNumber> {
        let Some(mark) = self.mark else { return self.decimal.parse(cell) };
        match unmarked(cell) {
            Some((found, digits)) if found == mark => self.decimal.parse(&digits),
            None if self.takes_plain() => self.decimal.parse(cell),
            _ => Err(BadNumber::NotANumber),
        }
    }

    /// Whether a number without a sign can be one of these: a share may be of one or of a hundred.
    pub(crate) fn takes_plain(self) -> bool {
        self.mark != Some(Mark::Percent)
    }

    /// What a column of these holds, as a message says it.
    pub fn words(self) -> String {
        let decimals = match self.decimal {
            Decimal::Comma | Decimal::CommaAfterPoints => " and a comma before decimals",
            Decimal::Point | Decimal::PointAfterCommas => "",
        };
        match self.mark {
            Some(mark) => format!("numbers with `{}`{decimals}", mark.sign()),
            None if decimals.is_empty() => "finite numbers".to_owned(),
            None => "numbers with a comma before decimals".to_owned(),
        }
    }
}

impl Decimal {
    pub(crate) fn parse(self, cell: &[u8]) -> Result<f64, BadNumber> {
        let (point, between) = match self {
            Self::Point => return number::parse(cell),
            Self::PointAfterCommas => (b'.', b','),
            Self::Comma | Self::CommaAfterPoints => (b',', b'.'),
        };
        let n_whole = cell.iter().position(|byte| *byte == point).unwrap_or(cell.len());
        let (whole, decimals) = cell.split_at(n_whole);
        let says_nothing = self == Self::Comma && decimals.is_empty() && whole.contains(&between);
        if says_nothing || !is_grouped(whole, between) || decimals.contains(&between) {
            return Err(BadNumber::NotANumber);
        }
        let kept = cell.iter().filter(|byte| **byte != between);
        let plain: Vec<u8> = kept.map(|&byte| if byte == point { b'.' } else { byte }).collect();
        number::parse(&plain)
    }
}

/// Whether these bytes part digits into thousands, if there are any of them.
pub(crate) fn is_grouped(whole: &[u8], between: u8) -> bool {
    let digits = whole.strip_prefix(b"-").or_else(|| whole.strip_prefix(b"+")).unwrap_or(whole);
    let mut groups = digits.split(|byte| *byte == between);
    let first = groups.next().unwrap_or_default();
    let mut groups = groups.peekable();
    let is_group = |group: &[u8]| group.len() == 3 && group.iter().all(u8::is_ascii_digit);
    groups.peek().is_none()
        || (1..=3).contains(&first.len()) && first.iter().all(u8::is_ascii_digit) && groups.all(is_group)
}

/// The sign beside a number, and the number without it; nothing if there is none, or more than one.
pub(crate) fn unmarked(cell: &[u8]) -> Option<(Mark, Vec<u8>)> {
    let (minus, rest) = match cell.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, cell),
    };
    let (mark, digits) = Mark::ALL.into_iter().find_map(|mark| {
        let sign = mark.sign().as_bytes();
        let before = rest.strip_prefix(sign).filter(|_| mark != Mark::Percent);
        before.or_else(|| rest.strip_suffix(sign)).map(|digits| (mark, digits))
    })?;
    let digits = digits.trim_ascii();
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-');
    let sign = if minus { &b"-"[..] } else { b"" };
    (!digits.is_empty() && digits.iter().all(is_number)).then(|| (mark, [sign, digits].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_reads_its_own_cells_and_no_others() {
        use Decimal::{Comma, CommaAfterPoints, Point, PointAfterCommas};
        use Mark::{Dollar, Euro, Percent};
        let read = |decimal, mark, cell: &str| Spelling { decimal, mark }.parse(cell.as_bytes()).ok();
        for (decimal, mark, cell, expected) in [
            (PointAfterCommas, Some(Dollar), "$1,234.50", Some(1234.5)),
            (PointAfterCommas, Some(Dollar), "-$1,234,567", Some(-1_234_567.0)),
            (PointAfterCommas, Some(Dollar), "$ 7", Some(7.0)),
            (PointAfterCommas, Some(Dollar), "12.5", Some(12.5)),
            (PointAfterCommas, Some(Dollar), "€12", None),
            (PointAfterCommas, Some(Dollar), "$1,23", None),
            (PointAfterCommas, Some(Dollar), "$1,2345", None),
            (PointAfterCommas, Some(Dollar), "$1.5,000", None),
            (PointAfterCommas, None, "1,2e3", None),
            (CommaAfterPoints, Some(Euro), "1.234,50 €", Some(1234.5)),
            (CommaAfterPoints, Some(Euro), "1.234 €", Some(1234.0)),
            (CommaAfterPoints, Some(Euro), "88.78 €", None),
            (CommaAfterPoints, Some(Euro), "88,78 €", Some(88.78)),
            (Comma, None, "1.234,5", Some(1234.5)),
            (Comma, None, "1.234", None),
            (Comma, None, "1.23,5", None),
            (Comma, None, "1,5.2", None),
            (Comma, None, "-1,5", Some(-1.5)),
            (Point, Some(Percent), "45%", Some(45.0)),
            (Point, Some(Percent), "45 %", Some(45.0)),
            (Point, Some(Percent), "0.45", None),
            (Point, Some(Percent), "%45", None),
        ] {
            assert_eq!(read(decimal, mark, cell), expected, "{decimal:?} {mark:?} {cell}");
        }
    }
}
