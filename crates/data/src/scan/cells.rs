//! Cells of a table of numbers, `-0.25,17,3.5,`, eight at a time, in registers of 512 bits.
//!
//! A window of a row is compared with the bytes that numbers and delimiters are made of, one bit for each byte;
//! all that must hold of a cell (a sign only in front, one point at most, digits on both sides of it, few enough)
//! is then a matter of those bits, for all cells together. The digits before the points and those after them are
//! brought to eight places each and converted at a stroke. What is not so is left to the parser that reads cell
//! by cell, and on machines without such registers everything is. Both give the same bits, which the tests of
//! the CSV parser hold together.
//!
//! What is `unsafe` here: reading and writing arrays through wide registers.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no cells are read there"))]

/// How many cells are converted at once.
pub(crate) const AT_ONCE: usize = 8;

/// How many bytes of text are looked at together.
pub(crate) const WINDOW: usize = 64;

/// What only machines with such registers can run.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "wide registers are filled from arrays, and arrays from them")]
pub(crate) mod widest {
    use super::{AT_ONCE, WINDOW};
    use crate::scan::number::Nearest;
    use crate::scan::pairs::widest::{PLACES, load};
    use std::arch::x86_64::{
        __m512d, __m512i, _CMP_GE_OQ, _mm512_add_epi8, _mm512_add_epi64, _mm512_alignr_epi64,
        _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_castsi512_si128, _mm512_cmp_pd_mask,
        _mm512_cmpeq_epi8_mask, _mm512_cmpgt_epu8_mask, _mm512_cvtepi64_pd, _mm512_cvtepu8_epi64,
        _mm512_div_pd, _mm512_fmadd_pd, _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_mask_add_epi64,
        _mm512_mask_or_epi64, _mm512_maskz_compress_epi8, _mm512_maskz_shuffle_epi32, _mm512_packus_epi16,
        _mm512_permutex2var_pd, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi16,
        _mm512_set1_epi32, _mm512_set1_epi64, _mm512_set1_pd, _mm512_shuffle_epi8, _mm512_slli_epi64,
        _mm512_sllv_epi64, _mm512_storeu_pd, _mm512_sub_epi8, _mm512_sub_epi64, _pdep_u64, _pext_u64,
    };

    /// The first byte of every eight, eight times.
    static FIRST_OF_EIGHT: [u8; WINDOW] = {
        let mut from = [0; WINDOW];
        let mut place = 0;
        while place < WINDOW {
            // Bytes are moved within sixteen of them only.
            from[place] = (place / 8 * 8 % 16) as u8;
            place += 1;
        }
        from
    };

    /// For every byte of eight, how far it stands before the byte after them, as bytes wrap round.
    static BEFORE_END: [u8; WINDOW] = {
        let mut before = [0; WINDOW];
        let mut place = 0;
        while place < WINDOW {
            before[place] = (place % 8) as u8;
            before[place] = before[place].wrapping_sub(8);
            place += 1;
        }
        before
    };

    /// What is to be divided by, for every number of digits after the point that is missing to eight; nine
    /// are where there is no point either.
    static TENS: [[f64; 8]; 2] = [[1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1], [1.0; 8]];

    /// See [`Digits::cells`](crate::scan::marks::Digits::cells). All cells of a row are asked for at once, as what is to be
    /// held in registers for that takes its time to get there.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    pub(crate) fn cells<T: Nearest>(text: &[u8], at: &mut usize, delimiter: u8, into: &mut [T]) -> usize {
        let mut n_wanted = into.len().saturating_sub(AT_ONCE);
        let mut n_read = 0;
        while n_read < n_wanted
            && let Some(window) = text.get(*at..).and_then(<[u8]>::first_chunk)
            && let Some(slots) = into[n_read..].first_chunk_mut()
        {
            match some_cells(window, delimiter, n_wanted - n_read) {
                Ok((n_cells, n_bytes, numbers)) => {
                    *slots = numbers.map(T::nearest);
                    n_read += n_cells;
                    *at += n_bytes;
                }
                // Those before it are.
                Err(first_odd) => n_wanted = n_read + first_odd,
            }
        }
        n_read
    }

    /// The first cells of the window: how many, how many bytes, and their numbers, with anything after them. Or
    /// the first one that is not as most are; there may be none before it.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    fn some_cells(
        window: &[u8; WINDOW],
        delimiter: u8,
        at_most: usize,
    ) -> Result<(usize, usize, [f64; AT_ONCE]), usize> {
        let bytes = load(window);
        let are = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
        let delimiters = are(delimiter);
        let n_cells = at_most.min(AT_ONCE);
        // Where the next cells begin is all that they wait for, so that it is found out first, and shortly.
        let nth = _pdep_u64(1 << (n_cells - 1), delimiters);
        let (n_cells, last) = if nth != 0 {
            (n_cells, nth)
        } else if delimiters != 0 {
            (delimiters.count_ones() as usize, 1 << delimiters.ilog2())
        } else {
            return Err(0);
        };
        let inside = last | (last - 1);

        let values = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0'.cast_signed()));
        let marks = _mm512_cmpgt_epu8_mask(values, _mm512_set1_epi8(9)) & inside;
        let delimiters = delimiters & inside;
        let points = are(b'.') & inside;
        let starts = (delimiters << 1 | 1) & inside;
        let signs = are(b'-') & starts;
        let stops = delimiters | points;
        // The first stop of every cell follows a delimiter, in the order of stops.
        let first_stops = _pdep_u64(_pext_u64(delimiters, stops) << 1 | 1, stops);
        let odd_bytes = marks ^ (stops | signs);
        let second_points = stops & !(first_stops | delimiters);
        let empty = ((starts & !signs) | signs << 1 | points << 1) & stops;
        let digits = inside & !marks;
        let two = digits & digits >> 1;
        let four = two & two >> 2;
        let nine = four & four >> 4 & digits >> 8;
        let wrong = odd_bytes | second_points | empty | nine;
        if wrong != 0 {
            let before = (wrong & wrong.wrapping_neg()) - 1;
            return Err((delimiters & before).count_ones() as usize);
        }

        let places = load(&PLACES);
        let places_of = |mask| -> __m512i {
            _mm512_cvtepu8_epi64(_mm512_castsi512_si128(_mm512_maskz_compress_epi8(mask, places)))
        };
        let (ends, first_stops) = (places_of(delimiters), places_of(first_stops));
        let are_negative = _pext_u64(signs, starts) as u8;
        // Nine after the byte in front of the digits, or eight after the first of them.
        let nine = _mm512_set1_epi64(9);
        let whole = _mm512_add_epi64(_mm512_alignr_epi64::<7>(ends, _mm512_set1_epi64(-1)), nine);
        let whole = _mm512_mask_add_epi64(whole, are_negative, whole, _mm512_set1_epi64(1));
        let parts = _mm512_add_epi64(first_stops, nine);
        let (first_of_eight, before_end) = (load(&FIRST_OF_EIGHT), load(&BEFORE_END));
        let pairs = |start: __m512i, n_missing: __m512i| -> __m512i {
            let from = _mm512_add_epi8(_mm512_shuffle_epi8(start, first_of_eight), before_end);
            let eight = _mm512_permutexvar_epi8(from, values);
            // The bytes after the digits fall off, and zeros come in front.
            let digits = _mm512_sllv_epi64(eight, _mm512_slli_epi64::<3>(n_missing));
            _mm512_maddubs_epi16(digits, _mm512_set1_epi16(10 + (1 << 8)))
        };
        let n_missing = _mm512_sub_epi64(parts, ends);
        let twos =
            _mm512_packus_epi16(pairs(whole, _mm512_sub_epi64(whole, first_stops)), pairs(parts, n_missing));
        let fours = _mm512_maddubs_epi16(twos, _mm512_set1_epi16(100 + (1 << 8)));
        let eights = _mm512_madd_epi16(fours, _mm512_set1_epi32(10_000 + (1 << 16)));
        // Two numbers before a point and two after it lie side by side.
        let whole = _mm512_cvtepi64_pd(_mm512_maskz_shuffle_epi32::<0x10>(0x5555, eights));
        let parts = _mm512_cvtepi64_pd(_mm512_maskz_shuffle_epi32::<0x32>(0x5555, eights));
        let tens = |half: usize| -> __m512d { _mm512_castsi512_pd(load(&TENS[half])) };
        let tens = _mm512_permutex2var_pd(tens(0), n_missing, tens(1));
        let mantissa = _mm512_fmadd_pd(whole, tens, parts);
        let too_large = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(mantissa, _mm512_set1_pd((1_u64 << 53) as f64));
        if too_large != 0 {
            return Err(too_large.trailing_zeros() as usize);
        }
        // Both are exact, so that the quotient is the nearest double.
        let sizes = _mm512_castpd_si512(_mm512_div_pd(mantissa, tens));
        let signed = _mm512_mask_or_epi64(sizes, are_negative, sizes, _mm512_set1_epi64(i64::MIN));
        let mut numbers = [0.0; AT_ONCE];
        // SAFETY: the array has room for the eight doubles that are written, and may lie anywhere.
        unsafe { _mm512_storeu_pd(numbers.as_mut_ptr(), _mm512_castsi512_pd(signed)) };
        Ok((n_cells, last.trailing_zeros() as usize + 1, numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::marks::{Digits, Way, Work};
    use crate::scan::pairs::is_widest;

    /// Asks for cells on the machine at hand.
    struct Ask<'a>(&'a [u8], &'a mut [f64]);

    impl Work for Ask<'_> {
        type Output = (usize, usize);

        #[inline(always)]
        fn run(self, digits: impl Digits) -> (usize, usize) {
            let mut at = 0;
            let n_cells = digits.cells(self.0, &mut at, b',', self.1);
            (n_cells, at)
        }
    }

    #[test]
    fn as_many_cells_are_read_as_are_plain_numbers() {
        let usual = "0.9819,-0.0595,2.3229,0,-17,12345678,0.12345678,-0.0,5,";
        for (text, at_most, n_cells) in [
            (usual.to_owned(), 100, 9),
            (usual.to_owned(), 3, 3),
            (usual.to_owned(), 1, 1),
            (
                "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30".into(),
                100,
                29,
            ),
            (
                "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,x,22,23,24,25,26,27,28,29,30".into(),
                100,
                20,
            ),
            ("1234567.12345678,-1234567.12345678,1234567.12345678,1,2".into(), 100, 4),
            // They do not all fit one window.
            ("-1234567.12345678,-1234567.12345678,-1234567.12345678,-1234567.12,5,6".into(), 100, 5),
            // As many digits as a double holds, and more.
            ("1,90071992.54740991,5,6,".into(), 100, 4),
            ("1,90071992.54740992,5,6,".into(), 100, 1),
            ("1,99999999.99999999,5,6,".into(), 100, 1),
            ("99999999.99999999,5,6,".into(), 100, 0),
            (usual.replace("2.3229", "2.3229 "), 100, 2),
            (usual.replace("2.3229", "2.32.29"), 100, 2),
            (usual.replace("2.3229", "2..3229"), 100, 2),
            (usual.replace("2.3229", "2."), 100, 2),
            (usual.replace("2.3229", ".5"), 100, 2),
            (usual.replace("2.3229", "-.5"), 100, 2),
            (usual.replace("2.3229", "--5"), 100, 2),
            (usual.replace("2.3229", "5-5"), 100, 2),
            (usual.replace("2.3229", "+5"), 100, 2),
            (usual.replace("2.3229", "1e5"), 100, 2),
            (usual.replace("2.3229", "-"), 100, 2),
            (usual.replace("2.3229", ""), 100, 2),
            (usual.replace("2.3229", "123456789"), 100, 2),
            (usual.replace("2.3229", "1.123456789"), 100, 2),
            (usual.replace("2.3229", "2\n3"), 100, 2),
            (usual.replace("2.3229", "\"2\""), 100, 2),
            (usual.replace("0.9819", "x"), 100, 0),
            (usual.replace("0.9819", ""), 100, 0),
            ("5".to_owned(), 100, 0),
            (String::new(), 100, 0),
        ] {
            let mut numbers = vec![f64::NAN; at_most + AT_ONCE];
            let padded = [text.as_bytes(), &[b'\n'; WINDOW]].concat();
            let found = Way::best().run(Ask(&padded, &mut numbers));
            if !is_widest() {
                assert_eq!(found, (0, 0));
                continue;
            }
            let expected: Vec<&str> = text.split(',').take(n_cells).collect();
            let n_bytes = expected.iter().map(|cell| cell.len() + 1).sum();
            assert_eq!(found, (n_cells, n_bytes), "{text}");
            for (number, cell) in numbers.iter().zip(expected) {
                assert_eq!(number.to_bits(), cell.parse::<f64>().unwrap().to_bits(), "{text}");
            }
        }
    }
}
