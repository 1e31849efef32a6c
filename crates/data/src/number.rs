//! Numbers as text: correctly rounded, and never a guess.
//!
//! A number is what the whole token says or nothing at all: no prefix is taken, no comma is read as a
//! point, and neither `nan` nor an overflow gets through. Values are rounded to the nearest `f64` and
//! only then, where single precision is stored, to the nearest `f32`, so that every format gives the
//! same bits.

/// Why a token is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// Digits of a number beyond the largest `f64`.
    TooLarge,
    /// `nan`, `inf` and their relatives.
    NotFinite,
    /// Anything else.
    NotANumber,
}

impl BadNumber {
    /// The end of the sentence "`x` should be …, but is `token` …".
    pub(crate) fn why(self) -> &'static str {
        match self {
            Self::TooLarge => ", which is too large",
            Self::NotFinite => ", which is not finite",
            Self::NotANumber => "",
        }
    }
}

/// The number that the whole of `token` spells.
pub(crate) fn parse(token: &[u8]) -> Result<f64, BadNumber> {
    let plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if !token.iter().all(plain) {
        return Err(if is_not_finite(token) { BadNumber::NotFinite } else { BadNumber::NotANumber });
    }
    // The check above leaves ASCII only.
    let text = std::str::from_utf8(token).map_err(|_| BadNumber::NotANumber)?;
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(BadNumber::TooLarge),
        Err(_) => Err(BadNumber::NotANumber),
    }
}

/// Whether `token` spells a number that is none: `nan`, `-Infinity`, `nan(0x1)`.
pub(crate) fn is_not_finite(token: &[u8]) -> bool {
    let unsigned = token.strip_prefix(b"-").or_else(|| token.strip_prefix(b"+")).unwrap_or(token);
    unsigned.eq_ignore_ascii_case(b"inf")
        || unsigned.eq_ignore_ascii_case(b"infinity")
        || unsigned.eq_ignore_ascii_case(b"nan")
        || (unsigned.len() > 4 && unsigned[..4].eq_ignore_ascii_case(b"nan(") && unsigned.ends_with(b")"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_numbers_are_exact() {
        for (token, value) in [
            ("-0.0", -0.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1E+2", 100.0),
            ("1e-320", 1e-320),
            ("4.9e-324", 4.9e-324),
            ("1e-400", 0.0),
            ("0.1", 0.1),
            ("123456789012345678901234567890", 1.234_567_890_123_456_8e29),
        ] {
            assert_eq!(parse(token.as_bytes()).map(f64::to_bits), Ok(f64::to_bits(value)), "{token}");
        }
    }

    #[test]
    fn bad_numbers_are_refused_whole() {
        for token in [
            "0,5", "1_000", "1e", ".", "-", "++1", "1.2.3", "1d5", "5%", "\"1\"", "", "0x1p3", " 1", "1 ",
            "e5", "１", "−1", "1\0",
        ] {
            assert_eq!(parse(token.as_bytes()), Err(BadNumber::NotANumber), "{token}");
        }
        for token in ["nan", "NaN", "nan(0x1)", "inf", "-Infinity", "+INF"] {
            assert_eq!(parse(token.as_bytes()), Err(BadNumber::NotFinite), "{token}");
        }
        for token in ["1e400", "-1e99999999999999999999"] {
            assert_eq!(parse(token.as_bytes()), Err(BadNumber::TooLarge), "{token}");
        }
        assert_eq!(parse(&vec![b'9'; 8 << 20]), Err(BadNumber::TooLarge));
    }
}
