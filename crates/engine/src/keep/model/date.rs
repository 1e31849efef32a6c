//! A moment, to the second in UTC, as models write it: `2026-11-15T10:20:30Z`.

use std::fmt;
use std::str::FromStr;

const DAY: u64 = 24 * 60 * 60;
/// Days from the first of March of the year 0, with which its calendar begins, to 1970.
const DAYS_TO_1970: u64 = 719_468;
/// Days of 400 years, after which everything repeats.
const DAYS_OF_ERA: u64 = 146_097;
/// The first second of the year 10000, which has no place in four digits.
const END: u64 = 253_402_300_800;

/// A moment from 1970 to the end of the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    seconds: u64,
}

impl Date {
    /// The moment `seconds` after the beginning of 1970; `None` after the year 9999.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (seconds < END).then_some(Self { seconds })
    }

    /// Seconds since the beginning of 1970.
    pub fn seconds(self) -> u64 {
        self.seconds
    }
}

/// Hinnant's `civil_from_days`: years begin in March, so that the odd day stands at their end.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds / DAY + DAYS_TO_1970, self.seconds % DAY);
        let (era, day_of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let field = |place: std::ops::Range<usize>| text.get(place)?.parse::<u64>().ok();
        let read = || {
            let (year, month, day) = (field(0..4)?, field(5..7)?, field(8..10)?);
            let (hour, minute, second) = (field(11..13)?, field(14..16)?, field(17..19)?);
            let march_year = year.checked_sub(u64::from(month <= 2))?;
            let (era, year_of_era) = (march_year / 400, march_year % 400);
            let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
            let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
            let days = (era * DAYS_OF_ERA + day_of_era).checked_sub(DAYS_TO_1970)?;
            Self::from_seconds(days * DAY + hour * 3600 + minute * 60 + second)
        };
        // Only what it would be printed as is such a moment: the 30th of February is none.
        read().filter(|date| date.to_string() == text).ok_or_else(|| {
            format!("a date should read like 2026-11-15T10:20:30Z, but is `{}`", text.escape_debug())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_and_read() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_794_738_030, "2026-11-15T10:20:30Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (END - 1, "9999-12-31T23:59:59Z"),
        ] {
            let date = Date::from_seconds(seconds).unwrap();
            assert_eq!(date.to_string(), text);
            assert_eq!(text.parse(), Ok(date));
        }
        for seconds in (0..END).step_by(86_399 * 1013) {
            let date = Date::from_seconds(seconds).unwrap();
            assert_eq!(date.to_string().parse(), Ok(date));
        }
        assert_eq!(Date::from_seconds(END), None);
        for wrong in [
            "",
            "2026-11-15",
            "2026-02-30T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-13-10T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01 00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-01T00:00:00+1",
            "+026-01-01T00:00:00Z",
            "2026-1é-01T00:00:00Z",
        ] {
            assert!(wrong.parse::<Date>().unwrap_err().contains("should read like"), "{wrong}");
        }
    }
}
