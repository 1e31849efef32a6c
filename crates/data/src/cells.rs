//! Cells of a table that are plain numbers, eight at a time, in registers of 512 bits.
//!
//! The bytes of a text that are no digits are listed, but for the signs of numbers: their places, and what they are.
//! Where a table holds decimals, that list is delimiter, point, delimiter, point; where it holds whole numbers, it is
//! delimiters. A stretch of it tells eight cells at a stroke, and their digits are converted together. What is not so
//! is left to the parser that reads cell by cell, and on machines without such registers everything is:
//! [`Digits::eight_cells`](crate::marks::Digits::eight_cells) finds none there. Both give the same bits, which the
//! tests of the CSV parser hold together.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no cells are found there"))]

use crate::pairs::{AT_ONCE, LOOK, WORD, is_widest};

/// The bytes of a text that are no digits, without the signs that numbers begin with. Its memory is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    /// Where they stand; anything behind the last one.
    places: Vec<u32>,
    /// What they are; zeros behind the last one.
    kinds: Vec<u8>,
    n_marks: usize,
}

/// Some cells of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EightCells {
    /// How many of them there are: those before the first that is not as most cells are.
    pub(crate) n_cells: usize,
    /// How many marks each has, without the one before it.
    pub(crate) n_marks: usize,
    /// As the text has them; anything behind the last cell.
    pub(crate) values: [f64; AT_ONCE],
}

impl Cells {
    /// The place of mark `number`, if there is one.
    #[inline(always)]
    pub(crate) fn place(&self, number: usize) -> Option<usize> {
        if number < self.n_marks { self.places.get(number).map(|&place| place as usize) } else { None }
    }

    /// The number of the first mark, from `number` on, that stands at `place` or behind it.
    #[inline(always)]
    pub(crate) fn behind(&self, mut number: usize, place: usize) -> usize {
        while self.place(number).is_some_and(|other| other < place) {
            number += 1;
        }
        number
    }

    /// Forgets the marks before and finds those of `text`, if the machine is of the kind; `bits` has one bit for
    /// each of its bytes, set if it is no digit.
    pub(crate) fn find(&mut self, text: &[u8], bits: &[u8], delimiter: u8) {
        self.n_marks = 0;
        // Places are gathered by numbers with a sign.
        if !is_widest() || text.len() > i32::MAX as usize {
            return;
        }
        let n_room = text.len() + WORD + LOOK;
        if self.places.len() < n_room {
            self.places.resize(n_room, 0);
            self.kinds.resize(n_room, 0);
        }
        self.find_widest(text, bits, delimiter);
        let n_marks = self.n_marks;
        self.kinds[n_marks..n_marks + LOOK].fill(0);
    }

    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a call that only some machines can run")]
    fn find_widest(&mut self, text: &[u8], bits: &[u8], delimiter: u8) {
        // SAFETY: the function needs exactly the features that `is_widest` asks for, which was asked, and nothing
        // else of its caller: it is safe code but for that.
        unsafe { widest::find(self, text, bits, delimiter) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn find_widest(&mut self, _text: &[u8], _bits: &[u8], _delimiter: u8) {}
}

/// What only machines with such registers can run.
#[cfg(target_arch = "x86_64")]
pub(crate) mod widest {
    use super::{AT_ONCE, Cells, EightCells, LOOK, WORD};
    use crate::pairs::widest::{behind, doubles, list, load, load_doubles, load_half, n_first, numbers};
    use std::arch::x86_64::{
        __m256i, __m512d, _mm256_cmpeq_epi8_mask, _mm256_cmplt_epu32_mask, _mm256_maskz_set1_epi32,
        _mm256_set1_epi8, _mm256_set1_epi32, _mm256_sub_epi32, _mm512_add_pd, _mm512_and_si512,
        _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
        _mm512_cmpeq_epi64_mask, _mm512_cvtepi64_pd, _mm512_cvtepu32_epi64, _mm512_div_pd,
        _mm512_mask_srli_epi64, _mm512_maskz_set1_epi64, _mm512_mul_pd, _mm512_or_si512,
        _mm512_permutex2var_epi32, _mm512_permutexvar_pd, _mm512_set1_epi8, _mm512_set1_epi64, _pext_u32,
    };

    /// Lists the marks; there is room for as many as there are bytes, and a word more.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn find(cells: &mut Cells, text: &[u8], bits: &[u8], delimiter: u8) {
        let (words, rest) = text.as_chunks::<WORD>();
        let mut last = [0; WORD];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        let (masks, _) = bits.as_chunks::<8>();
        let mut n_marks = 0;
        // The first cell of a text begins behind nothing.
        let mut end_before = 1;
        for (word_idx, (word, mask)) in words.iter().chain(last).zip(masks).enumerate() {
            let bytes = load(word);
            let are = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
            let ends = are(delimiter) | are(b'\n');
            let signs = are(b'-') & (ends << 1 | end_before);
            end_before = ends >> 63;
            // Behind the text all bits are set.
            let n_behind = ((word_idx + 1) * WORD).saturating_sub(text.len()) as u32;
            let mask = u64::from_le_bytes(*mask) & (u64::MAX >> n_behind) & !signs;
            let (places, kinds) = (&mut cells.places[n_marks..], &mut cells.kinds[n_marks..]);
            let Some(n_found) = list(places, kinds, (word_idx * WORD) as u32, mask, bytes) else { return };
            n_marks += n_found;
        }
        cells.n_marks = n_marks;
    }

    /// The numbers of the marks that stand at `place` in their cells, of `step` marks each.
    const fn numbers_of(step: usize, place: usize) -> [u32; 16] {
        let mut numbers = [0; 16];
        let mut cell = 0;
        while cell < AT_ONCE {
            numbers[cell] = (cell * step + place) as u32;
            cell += 1;
        }
        numbers
    }

    /// By the number of digits behind the point, less one.
    static POWERS: [f64; AT_ONCE] = [1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

    /// See [`Digits::eight_cells`](crate::marks::Digits::eight_cells).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(crate) fn eight_cells(text: &[u8], cells: &Cells, first: usize, delimiter: u8) -> Option<EightCells> {
        let places = cells.places.get(first..)?.first_chunk::<LOOK>()?;
        // What stands before the first cell is no matter.
        let kinds = load_half(cells.kinds.get(first + 1..)?.first_chunk()?);
        let are = |byte: u8| _mm256_cmpeq_epi8_mask(kinds, _mm256_set1_epi8(byte.cast_signed()));
        let (points, delimiters) = (are(b'.'), are(delimiter));
        let ends = delimiters | are(b'\n') | are(b'\r');
        if points & 1 == 1 {
            // Points and delimiters in turn.
            let (points, ends) = (_pext_u32(points, 0x5555), _pext_u32(ends, 0xAAAA));
            let go_on = _pext_u32(delimiters, 0xAAAA) << 1 | 1;
            let fits = (points & ends & go_on) as u8;
            if fits & 1 == 0 {
                return None;
            }
            let (starts, befores, ends) = (
                at(places, const { &numbers_of(2, 0) }),
                at(places, const { &numbers_of(2, 1) }),
                at(places, const { &numbers_of(2, 2) }),
            );
            let (whole, negative, good) = signed(text, starts, befores)?;
            let n_parts = less_two(ends, befores);
            let short = _mm256_cmplt_epu32_mask(n_parts, _mm256_set1_epi32(8));
            let (parts, inside) = behind(text, befores)?;
            let n_parts = _mm512_cvtepu32_epi64(n_parts);
            let parts = _mm512_cvtepi64_pd(numbers(parts, n_parts));
            let power = _mm512_permutexvar_pd(n_parts, load_doubles(&POWERS));
            // Fifteen digits at most: all is exact but the quotient, which is the nearest double.
            let value = _mm512_div_pd(_mm512_add_pd(_mm512_mul_pd(whole, power), parts), power);
            finish(value, negative, fits & good & short & inside, 2)
        } else {
            let fits = (ends & (delimiters << 1 | 1)) as u8;
            if fits & 1 == 0 {
                return None;
            }
            let (starts, ends) =
                (at(places, const { &numbers_of(1, 0) }), at(places, const { &numbers_of(1, 1) }));
            let (whole, negative, good) = signed(text, starts, ends)?;
            finish(whole, negative, fits & good, 1)
        }
    }

    /// The places of these marks.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn at(places: &[u32; LOOK], numbers: &[u32; 16]) -> __m256i {
        let (halves, _) = places.as_chunks::<16>();
        _mm512_castsi512_si256(_mm512_permutex2var_epi32(load(&halves[0]), load(numbers), load(&halves[1])))
    }

    /// One less than the digits between two marks: an empty number wraps round and is too long, too.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn less_two(ends: __m256i, starts: __m256i) -> __m256i {
        _mm256_sub_epi32(_mm256_sub_epi32(ends, starts), _mm256_set1_epi32(2))
    }

    /// The whole numbers between marks, a bit for each that has the sign minus, and one for each that is good.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn signed(text: &[u8], starts: __m256i, ends: __m256i) -> Option<(__m512d, u8, u8)> {
        let (bytes, inside) = behind(text, starts)?;
        let first = _mm512_and_si512(bytes, _mm512_set1_epi64(0xFF));
        let negative = _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi64(i64::from(b'-')));
        // The sign falls off, and with it the eighth byte.
        let bytes = _mm512_mask_srli_epi64::<8>(bytes, negative, bytes);
        let n_more = _mm256_sub_epi32(less_two(ends, starts), _mm256_maskz_set1_epi32(negative, 1));
        let short = _mm256_cmplt_epu32_mask(n_more, _mm256_set1_epi32(7));
        let whole = _mm512_cvtepi64_pd(numbers(bytes, _mm512_cvtepu32_epi64(n_more)));
        Some((whole, negative, inside & short))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn finish(value: __m512d, negative: u8, good: u8, n_marks: usize) -> Option<EightCells> {
        let signs = _mm512_maskz_set1_epi64(negative, i64::MIN);
        let values = doubles(_mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(value), signs)));
        // Nearly always all are good, and whoever asks for the next ones need not wait for what came of these.
        let n_cells = if good == 0xFF { AT_ONCE } else { n_first(good)? };
        Some(EightCells { n_cells, n_marks, values })
    }
}
