//! Numbers as text: correctly rounded, and never a guess.
//!
//! A number is what the whole token says or nothing at all: no prefix is taken, no comma is read as a
//! point, and neither `nan` nor an overflow gets through. Values are rounded to the nearest `f64` and
//! only then, where single precision is stored, to the nearest `f32`, so that every format gives the
//! same bits.
//!
//! [`parse`] is the reference. [`decimal`] and [`whole`] are quick ways for what most tokens are, made of
//! arithmetic on eight digits at once; where the bits would not be those of the reference they give up.

use crate::scan::marks::VIEW;

/// A type that numbers are rounded to.
pub trait Nearest: Copy {
    /// The nearest value of this type to a number below 2^53, which cannot be infinite.
    fn nearest(number: f64) -> Self;
}

impl Nearest for f32 {
    #[inline(always)]
    fn nearest(number: f64) -> Self {
        number as Self
    }
}

impl Nearest for f64 {
    #[inline(always)]
    fn nearest(number: f64) -> Self {
        number
    }
}

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

/// Powers of ten that are exact, as whole numbers and as doubles.
const TENS: [u64; 20] = {
    let mut tens = [1; 20];
    let mut power = 1;
    while power < 20 {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};
const EXACT_TENS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// The next eight bytes of `text`, if there are as many.
#[inline(always)]
pub(crate) fn eight(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..at.wrapping_add(8)).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
}

/// The number that the first `n_digits` bytes of `word` spell; they must be digits, one to eight of them.
#[inline(always)]
pub(crate) fn digits(word: u64, n_digits: usize) -> u64 {
    // The bytes after the digits fall off, and zeros come in front.
    let padding = (64 - 8 * n_digits as u32) & 63;
    let ones = (word & 0x0F0F_0F0F_0F0F_0F0F) << padding;
    let pairs = (ones * 10) + (ones >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    low.wrapping_add(high) >> 32
}

/// The number `text[start..end]`, of which it is known that it is digits but for a point at `point`. Gives
/// up where rounding is not a matter of one division, where a side is empty, and near the end of the text.
#[inline(always)]
pub(crate) fn decimal(text: &[u8], start: usize, point: usize, end: usize) -> Option<f64> {
    let (n_whole, n_parts) = (point.wrapping_sub(start), end.wrapping_sub(point + 1));
    // An empty side wraps round and is too long, too.
    if n_whole.wrapping_sub(1) >= 8 || n_parts.wrapping_sub(1) >= 18 {
        return None;
    }
    let whole = digits(eight(text, start)?, n_whole);
    let parts = if n_parts <= 8 {
        digits(eight(text, point + 1)?, n_parts)
    } else {
        if n_whole + n_parts > 19 {
            return None;
        }
        let (first, second) = (digits(eight(text, point + 1)?, 8), eight(text, point + 9)?);
        first * TENS[n_parts - 8]
            + if n_parts <= 16 {
                digits(second, n_parts - 8)
            } else {
                digits(second, 8) * TENS[n_parts - 16] + digits(eight(text, point + 17)?, n_parts - 16)
            }
    };
    let mantissa = whole * TENS[n_parts] + parts;
    if mantissa < 1 << 53 {
        // Both operands are exact, so that the quotient is the nearest double (Clinger's fast path).
        return Some(mantissa.cast_signed() as f64 / EXACT_TENS[n_parts]);
    }
    (whole == 0).then(|| long_fraction(mantissa, TENS[n_parts]))
}

/// The double that is nearest to `mantissa / tens`, which is below 1, where the mantissa has more bits than a double.
#[inline]
fn long_fraction(mantissa: u64, tens: u64) -> f64 {
    const UNIT: f64 = 1.0 / (1_u128 << 64) as f64;
    let dividend = u128::from(mantissa) << 64;
    // No less than 2^53 / 10^18, so that it begins within the first seven of its 64 bits, and a last one that stands
    // for all that were cut off is far from those that decide how the double is rounded.
    let quotient = (dividend / u128::from(tens)) as u64;
    let is_inexact = u128::from(quotient) * u128::from(tens) != dividend;
    (quotient | u64::from(is_inexact)) as f64 * UNIT
}

/// The eight bytes of a view from `at` on, below 16. The view is longer than that, so that nothing is checked.
#[inline(always)]
pub(crate) fn eight_of(view: &[u8; VIEW], at: usize) -> u64 {
    view[at & 15..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Moves the first `n_bytes` of `word`, one to eight of them, to its end, after zeros.
#[inline(always)]
pub(crate) fn to_end(word: u64, n_bytes: usize) -> u64 {
    word << ((n_bytes * 8).wrapping_neg() & 63)
}

/// The number `whole` with the `n_parts` digits `parts` after the point, one to eight of them. Gives up where
/// rounding is not a matter of one division.
#[inline(always)]
pub(crate) fn with_parts(whole: u32, parts: u32, n_parts: usize) -> Option<f64> {
    let mantissa = u64::from(whole) * TENS[n_parts & 15] + u64::from(parts);
    // Both operands are exact, so that the quotient is the nearest double (Clinger's fast path).
    (mantissa < 1 << 53).then(|| mantissa.cast_signed() as f64 / EXACT_TENS[n_parts & 15])
}

/// `mantissa`, below 2^31, by ten to the power of `n_parts`, eight at most. Both are exact, so that the quotient
/// is the nearest double.
#[inline(always)]
pub(crate) fn quotient(mantissa: u32, n_parts: usize) -> f64 {
    f64::from(mantissa.cast_signed()) / EXACT_TENS[n_parts & 15]
}

/// The number `text[start..end]`, of which it is known that it is digits. Gives up as [`decimal`] does.
#[inline(always)]
pub(crate) fn whole(text: &[u8], start: usize, end: usize) -> Option<f64> {
    let n_digits = end.wrapping_sub(start);
    if n_digits.wrapping_sub(1) >= 8 {
        return None;
    }
    Some(digits(eight(text, start)?, n_digits).cast_signed() as f64)
}

/// The number `text[start..end]`, whatever it is, if it is one; the signs of whole numbers and decimals are
/// seen to here, the rest is left to [`parse`].
#[inline]
pub(crate) fn quick(text: &[u8], start: usize, end: usize) -> Option<f64> {
    let token = text.get(start..end)?;
    let unsigned = token.strip_prefix(b"-").unwrap_or(token);
    let first = end - unsigned.len();
    let n_whole = unsigned.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(unsigned.len());
    let magnitude = if first + n_whole == end {
        whole(text, first, end)
    } else if unsigned[n_whole] == b'.' && unsigned[n_whole + 1..].iter().all(u8::is_ascii_digit) {
        decimal(text, first, first + n_whole, end)
    } else {
        None
    };
    match magnitude {
        Some(magnitude) => Some(if first > start { -magnitude } else { magnitude }),
        None => parse(token).ok(),
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
    fn the_quick_ways_are_the_reference_to_the_bit() {
        let mut random = 3_u64;
        let mut n_quick = 0;
        for _ in 0..200_000 {
            let mut next = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                (random >> 33) % below
            };
            let (n_whole, n_parts) = (next(11) as usize, next(20) as usize);
            let mut token: Vec<u8> = (0..n_whole).map(|_| b'0' + next(10) as u8).collect();
            let whole_token = parse(&token);
            let padded = [&token[..], b"        "].concat();
            let quick = whole(&padded, 0, n_whole);
            assert!(quick.is_none_or(|number| whole_token == Ok(number)));
            token.push(b'.');
            token.extend((0..n_parts).map(|_| b'0' + next(10) as u8));
            let padded = [&token[..], b" 7:0.25 "].concat();
            if let Some(number) = decimal(&padded, 0, n_whole, token.len()) {
                n_quick += 1;
                assert_eq!(parse(&token).map(f64::to_bits), Ok(number.to_bits()), "{token:?}");
            }
        }
        assert!(n_quick > 60_000, "{n_quick}");
    }

    #[test]
    fn long_fractions_are_the_reference_to_the_bit() {
        let mut random = 5_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (random >> 4) % below
        };
        for round in 0..300_000 {
            let n_parts = 16 + next(3) as usize;
            let parts = match round % 3 {
                // Anything, what lies close to a short number, and what lies between two doubles.
                0 => next(TENS[n_parts]),
                1 => (next(10_000) * TENS[n_parts - 4] + next(9)).saturating_sub(4),
                _ => {
                    let double = ((1 << 53) + next(1 << 53)) as u128;
                    (((2 * double + 1) * u128::from(TENS[n_parts])) >> 55) as u64 + next(2)
                }
            };
            let token = format!("0.{parts:0n_parts$}");
            let padded = format!("{token} 7:0.25 ");
            let quick = decimal(padded.as_bytes(), 0, 1, token.len()).map(f64::to_bits);
            assert_eq!(
                quick.ok_or(BadNumber::NotANumber),
                parse(token.as_bytes()).map(f64::to_bits),
                "{token}"
            );
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
