//! Pairs of numbers, `index:value`, eight at a time, in registers of 512 bits.
//!
//! Where the machine can, the bytes of a text that are no digits are listed: their places, and what they are.
//! In most texts of pairs that list is blank, colon, point over and over, or blank, colon where values are whole
//! numbers. A stretch of it is compared with that at a stroke, and the digits between are then known to be eight
//! indices and eight values, which are converted together; values with more decimals than eight are put right one by one
//! after that. What is not so is left to the parser that reads pair by pair, and on machines without such registers
//! everything is: [`Digits::eight`](crate::scan::marks::Digits::eight) finds no pairs there. Both give the same bits, which
//! the tests of the libsvm parser hold together.
//!
//! What is `unsafe` here: reading and writing arrays through wide registers, and gathering eight bytes from each
//! of eight places of a text, every one of which is first made to lie within it.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no pairs are found there"))]

#[cfg(target_arch = "x86_64")]
use crate::scan::marks::is_wide;
#[cfg(target_arch = "x86_64")]
use crate::scan::number;

/// How many pairs are converted at once.
pub(crate) const AT_ONCE: usize = 8;

/// How many marks are looked at together.
const LOOK: usize = 32;

/// How many bytes of text are looked at together.
const WORD: usize = 64;

/// The bytes of a text that are no digits. Its memory is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs {
    /// Where they stand; anything after the last one.
    places: Vec<u32>,
    /// What they are; zeros after the last one. A point is noted only if it follows `:0`, as the value is
    /// not made of the digits after it alone otherwise; such a one is zero, too.
    kinds: Vec<u8>,
    n_marks: usize,
}

/// Some pairs of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eight {
    /// How many of them there are: those before the first that is not as most pairs are.
    pub(crate) n_pairs: usize,
    /// How many marks they have, without the one that ends the last.
    pub(crate) n_marks: usize,
    /// The last index.
    pub(crate) last: u32,
    /// As the text has them; anything after the last pair.
    pub(crate) indices: [u32; AT_ONCE],
    pub(crate) values: [f64; AT_ONCE],
}

impl Pairs {
    /// The place of mark `number`, if there is one.
    #[inline(always)]
    pub(crate) fn place(&self, number: usize) -> Option<usize> {
        if number < self.n_marks { self.places.get(number).map(|&place| place as usize) } else { None }
    }

    /// The number of the first mark, from `number` on, that stands at `place` or after it.
    #[inline(always)]
    pub(crate) fn behind(&self, mut number: usize, place: usize) -> usize {
        while self.place(number).is_some_and(|other| other < place) {
            number += 1;
        }
        number
    }

    /// Forgets the marks before and finds those of `text`, if the machine is of the kind; `bits` has one bit for
    /// each of its bytes, set if it is no digit.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn find(&mut self, text: &[u8], bits: &[u8]) {
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
        #[expect(unsafe_code, reason = "a call that only some machines can run")]
        // SAFETY: the function needs exactly the features that `is_widest` asks for, and nothing else of its
        // caller: it is safe code but for that.
        unsafe {
            widest::find(self, text, bits);
        }
        let n_marks = self.n_marks;
        self.kinds[n_marks..n_marks + LOOK].fill(0);
    }

    /// Other machines do without.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn find(&mut self, _text: &[u8], _bits: &[u8]) {}
}

/// Whether the machine has registers of 512 bits and can move and compress bytes in them.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn is_widest() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512vbmi")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
        && is_wide()
}

/// No other machine has.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn is_widest() -> bool {
    false
}

/// What only machines with such registers can run.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "wide registers are filled from arrays, and arrays from them")]
pub(crate) mod widest {
    use super::{AT_ONCE, Eight, LOOK, Pairs, WORD, number};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi32, _mm256_alignr_epi32, _mm256_cmpeq_epi8_mask,
        _mm256_cmpgt_epi32_mask, _mm256_cmplt_epu32_mask, _mm256_loadu_si256, _mm256_min_epu32,
        _mm256_set1_epi8, _mm256_set1_epi32, _mm256_storeu_si256, _mm256_sub_epi32, _mm512_add_epi32,
        _mm512_and_si512, _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
        _mm512_cvtepi64_epi32, _mm512_cvtepi64_pd, _mm512_cvtepu8_epi32, _mm512_cvtepu32_epi64,
        _mm512_div_pd, _mm512_extracti32x4_epi32, _mm512_i32gather_epi64, _mm512_loadu_pd,
        _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_maskz_compress_epi8,
        _mm512_maskz_mov_epi8, _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_permutexvar_pd,
        _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_slli_epi64,
        _mm512_sllv_epi64, _mm512_srli_epi64, _mm512_storeu_pd, _mm512_storeu_si512, _mm512_sub_epi64,
        _pext_u32,
    };

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    pub(crate) fn load<const N: usize, T: Copy>(array: &[T; N]) -> __m512i {
        const { assert!(N * size_of::<T>() == WORD) };
        // SAFETY: the array has the 64 bytes that are read, and they may lie anywhere.
        unsafe { _mm512_loadu_si512(array.as_ptr().cast()) }
    }

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    fn store(array: &mut [u8; WORD], word: __m512i) {
        // SAFETY: the array has room for the 64 bytes that are written, and may lie anywhere.
        unsafe { _mm512_storeu_si512(array.as_mut_ptr().cast(), word) }
    }

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    fn store_wide(array: &mut [u32; WORD / 4], word: __m512i) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(array.as_mut_ptr().cast(), word) }
    }

    /// The places of the bytes of a word.
    pub(crate) static PLACES: [u8; WORD] = {
        let mut places = [0; WORD];
        let mut place = 0;
        while place < WORD {
            places[place] = place as u8;
            place += 1;
        }
        places
    };

    /// Lists the marks; there is room for as many as there are bytes, and a word more.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn find(pairs: &mut Pairs, text: &[u8], bits: &[u8]) {
        let (words, rest) = text.as_chunks::<WORD>();
        let mut last = [0; WORD];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        let (masks, _) = bits.as_chunks::<8>();
        let all_places = load(&PLACES);
        let mut n_marks = 0;
        // Bits of the word before that reach into the next.
        let (mut zero_before, mut colons_before) = (0, 0);
        for (word_idx, (word, mask)) in words.iter().chain(last).zip(masks).enumerate() {
            let bytes = load(word);
            let are = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
            let (zeros, colons) = (are(b'0'), are(b':'));
            let (behind_zero, behind_colon) = (zeros << 1 | zero_before, colons << 2 | colons_before);
            (zero_before, colons_before) = (zeros >> 63, colons >> 62);
            let odd_points = are(b'.') & !(behind_zero & behind_colon);
            // After the text all bits are set.
            let n_behind = ((word_idx + 1) * WORD).saturating_sub(text.len()) as u32;
            let mask = u64::from_le_bytes(*mask) & (u64::MAX >> n_behind);
            let Some(kinds) = pairs.kinds[n_marks..].first_chunk_mut() else { return };
            let Some(places) = pairs.places[n_marks..].first_chunk_mut::<WORD>() else { return };
            // More is written than there is, as that needs no branch; the next word writes over it.
            store(kinds, _mm512_maskz_compress_epi8(mask, _mm512_maskz_mov_epi8(!odd_points, bytes)));
            let list = _mm512_maskz_compress_epi8(mask, all_places);
            let base = _mm512_set1_epi32(((word_idx * WORD) as u32).cast_signed());
            let quarter = |four_times_four| _mm512_add_epi32(base, _mm512_cvtepu8_epi32(four_times_four));
            let n_found = mask.count_ones() as usize;
            let (quarters, _) = places.as_chunks_mut();
            store_wide(&mut quarters[0], quarter(_mm512_castsi512_si128(list)));
            if n_found > 16 {
                store_wide(&mut quarters[1], quarter(_mm512_extracti32x4_epi32::<1>(list)));
                if n_found > 32 {
                    store_wide(&mut quarters[2], quarter(_mm512_extracti32x4_epi32::<2>(list)));
                    store_wide(&mut quarters[3], quarter(_mm512_extracti32x4_epi32::<3>(list)));
                }
            }
            n_marks += n_found;
        }
        pairs.n_marks = n_marks;
    }

    /// What the marks of one kind of pairs look like.
    struct Pattern<const STEP: usize> {
        kinds: [u8; LOOK],
        /// What is to be divided by, for every number of digits of the value.
        divisors: [f64; AT_ONCE],
    }

    /// `1:0.25 `
    static DECIMAL: Pattern<3> = Pattern {
        kinds: *b" :. :. :. :. :. :. :. :. :. :. :",
        divisors: [1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
    };
    /// `1:25 `
    static WHOLE: Pattern<2> =
        Pattern { kinds: *b" : : : : : : : : : : : : : : : :", divisors: [1.0; AT_ONCE] };

    impl<const STEP: usize> Pattern<STEP> {
        /// A bit for the first mark of every pair.
        const FIRSTS: u32 = {
            let (mut firsts, mut pair) = (0, 0);
            while pair < AT_ONCE {
                firsts |= 1 << (pair * STEP);
                pair += 1;
            }
            firsts
        };

        /// The numbers of the marks that stand at `place` in their pairs.
        const fn numbers(place: usize) -> [u32; 16] {
            let mut numbers = [0; 16];
            let mut pair = 0;
            while pair < AT_ONCE {
                numbers[pair] = (pair * STEP + place) as u32;
                pair += 1;
            }
            numbers
        }
    }

    /// Eight numbers, of the first digits of eight bytes each: one to eight of them, one more than `n_more` says.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    fn numbers(bytes: __m512i, n_more: __m512i) -> __m512i {
        // The bytes after the digits fall off, and zeros come in front.
        let n_bits = _mm512_slli_epi64::<3>(n_more);
        let shifted = _mm512_sllv_epi64(bytes, _mm512_sub_epi64(_mm512_set1_epi64(56), n_bits));
        let ones = _mm512_and_si512(shifted, _mm512_set1_epi8(0x0F));
        let pairs = _mm512_maddubs_epi16(ones, _mm512_set1_epi16(10 + (1 << 8)));
        let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(100 + (1 << 16)));
        let together = _mm512_or_si512(fours, _mm512_srli_epi64::<16>(fours));
        _mm512_madd_epi16(together, _mm512_set1_epi64(10_000 + (1 << 16)))
    }

    /// See [`Digits::eight`](crate::scan::marks::Digits::eight).
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline]
    pub(crate) fn eight(text: &[u8], pairs: &Pairs, first: usize, before: i32) -> Option<Eight> {
        let places = pairs.places.get(first..)?.first_chunk()?;
        let kinds = pairs.kinds.get(first..)?.first_chunk()?;
        if kinds[2] == b'.' {
            DECIMAL.eight(text, places, kinds, before)
        } else {
            WHOLE.eight(text, places, kinds, before)
        }
    }

    impl<const STEP: usize> Pattern<STEP> {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
        )]
        #[inline]
        fn eight(&self, text: &[u8], places: &[u32; LOOK], kinds: &[u8; LOOK], before: i32) -> Option<Eight> {
            // SAFETY: both arrays have the 32 bytes that are read, and they may lie anywhere.
            let (found, expected) = unsafe {
                (_mm256_loadu_si256(kinds.as_ptr().cast()), _mm256_loadu_si256(self.kinds.as_ptr().cast()))
            };
            let same = _mm256_cmpeq_epi8_mask(found, expected);
            let are = |byte: u8| _mm256_cmpeq_epi8_mask(found, _mm256_set1_epi8(byte.cast_signed()));
            let ends = are(b' ') | are(b'\n') | are(b'\r');
            // All marks of a pair are as they should be, and what ends it, too.
            let whole = (1..STEP).fold(same, |whole, place| whole & same >> place) & ends >> STEP;
            let fits = _pext_u32(whole, Self::FIRSTS) as u8;
            if fits & 1 == 0 {
                return None;
            }
            let (halves, _) = places.as_chunks::<16>();
            let (low, high) = (load(&halves[0]), load(&halves[1]));
            let places_of = |numbers: &[u32; 16]| {
                _mm512_castsi512_si256(_mm512_permutex2var_epi32(low, load(numbers), high))
            };
            let blanks = places_of(const { &Self::numbers(0) });
            let colons = places_of(const { &Self::numbers(1) });
            let befores = places_of(const { &Self::numbers(STEP - 1) });
            let ends = places_of(const { &Self::numbers(STEP) });
            // One less than the digits that there are: an empty number wraps round and is too long, too.
            let two = _mm256_set1_epi32(2);
            let n_index = _mm256_sub_epi32(_mm256_sub_epi32(colons, blanks), two);
            let n_value = _mm256_sub_epi32(_mm256_sub_epi32(ends, befores), two);
            let eight = _mm256_set1_epi32(8);
            let short_index = _mm256_cmplt_epu32_mask(n_index, eight);
            let short_value = _mm256_cmplt_epu32_mask(n_value, eight);
            // Eight bytes are taken from each place, and places are signed numbers.
            let farthest = _mm256_set1_epi32(text.len().checked_sub(8)?.try_into().ok()?);
            let inside = _mm256_cmplt_epu32_mask(befores, farthest);
            let behind = |places: __m256i| {
                let within = _mm256_min_epu32(_mm256_add_epi32(places, _mm256_set1_epi32(1)), farthest);
                // SAFETY: eight bytes are read from each place, and none lies farther than eight before the end
                // of the text. All are below 2^31, so that their signs are plus.
                unsafe { _mm512_i32gather_epi64::<1>(within, text.as_ptr().cast()) }
            };
            let (n_index, n_value) = (_mm512_cvtepu32_epi64(n_index), _mm512_cvtepu32_epi64(n_value));
            let index = _mm512_cvtepi64_epi32(numbers(behind(blanks), n_index));
            let value = _mm512_cvtepi64_pd(numbers(behind(befores), n_value));
            // SAFETY: the array has the eight doubles that are read, and they may lie anywhere.
            let divisors = unsafe { _mm512_loadu_pd(self.divisors.as_ptr()) };
            // Both are exact, so that the quotient is the nearest double.
            let value = _mm512_div_pd(value, _mm512_permutexvar_pd(n_value, divisors));
            let indices_before = _mm256_alignr_epi32::<7>(index, _mm256_set1_epi32(before));
            let ascend = _mm256_cmpgt_epi32_mask(index, indices_before);
            let (mut indices, mut values) = ([0; AT_ONCE], [0.0; AT_ONCE]);
            // SAFETY: both arrays have room for eight numbers each, and may lie anywhere.
            unsafe {
                _mm256_storeu_si256(indices.as_mut_ptr().cast(), index);
                _mm512_storeu_pd(values.as_mut_ptr(), value);
            }
            let good = fits & short_index & inside & ascend;
            let n_pairs = match good & short_value {
                // Nearly always all are, and the next ones need not wait for what came of these.
                0xFF => AT_ONCE,
                good_and_short if good == good_and_short || STEP != 3 => n_first(good_and_short)?,
                // Short values stay in registers, which the address of an array would take them out of.
                good_and_short => {
                    return with_long(text, (befores, ends), (good, good_and_short), indices, values);
                }
            };
            Some(Eight::first(n_pairs, STEP, indices, values))
        }
    }

    impl Eight {
        #[inline(always)]
        fn first(n_pairs: usize, step: usize, indices: [u32; AT_ONCE], values: [f64; AT_ONCE]) -> Self {
            Self { n_pairs, n_marks: n_pairs * step, last: indices[(n_pairs - 1) % AT_ONCE], indices, values }
        }
    }

    /// The decimals that are good, once those are put right that have more than eight digits after a zero and their
    /// point.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline(never)]
    fn with_long(
        text: &[u8],
        (points, ends): (__m256i, __m256i),
        (good, mut known): (u8, u8),
        indices: [u32; AT_ONCE],
        mut values: [f64; AT_ONCE],
    ) -> Option<Eight> {
        let (mut points_of, mut ends_of) = ([0_u32; AT_ONCE], [0_u32; AT_ONCE]);
        // SAFETY: both arrays have room for eight numbers each, and may lie anywhere.
        unsafe {
            _mm256_storeu_si256(points_of.as_mut_ptr().cast(), points);
            _mm256_storeu_si256(ends_of.as_mut_ptr().cast(), ends);
        }
        let mut wanted = good & !known;
        while wanted != 0 {
            let pair = wanted.trailing_zeros() as usize % AT_ONCE;
            let (point, end) = (points_of[pair] as usize, ends_of[pair] as usize);
            if let Some(value) = number::decimal(text, point.wrapping_sub(1), point, end) {
                values[pair] = value;
                known |= 1 << pair;
            }
            wanted &= wanted - 1;
        }
        let n_pairs = known.trailing_ones() as usize;
        (n_pairs > 0).then(|| Eight::first(n_pairs, 3, indices, values))
    }

    /// How many of the first are good, if any.
    #[cold]
    #[inline(never)]
    fn n_first(good: u8) -> Option<usize> {
        (good & 1 == 1).then_some(good.trailing_ones() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::marks::{Digits, Marks, Way, Work};

    /// Asks for eight pairs on the machine at hand.
    struct Ask<'a>(&'a [u8], &'a Pairs, i32);

    impl Work for Ask<'_> {
        type Output = Option<Eight>;

        #[inline(always)]
        fn run(self, digits: impl Digits) -> Option<Eight> {
            digits.eight(self.0, self.1, 0, self.2)
        }
    }

    fn eight(text: &str, before: i32) -> Option<Eight> {
        let mut pairs = Pairs::default();
        // What was there before does not shine through.
        let (mut marks, other) = (Marks::default(), b" 1:0.5".repeat(100));
        pairs.find(&other, marks.find_bits(&other));
        pairs.find(text.as_bytes(), marks.find_bits(text.as_bytes()));
        Way::best().run(Ask(text.as_bytes(), &pairs, before))
    }

    #[test]
    fn as_many_pairs_are_found_as_are_alike() {
        let decimals =
            " 1:0.5 20:0.25 300:0.125 4000:0.0625 50000:0.03125 600000:0.5 7000000:0.1 80000000:0.12345678";
        let wholes = " 1:1 2:22 3:333 4:4444 5:55555 6:666666 7:7777777 8:88888888";
        for (text, before, n_pairs) in [
            (format!("{decimals} 9:1 and something more"), 0, 8),
            (format!("{decimals}\n and something more"), 0, 8),
            (format!("{decimals}\r and something more"), 0, 8),
            (format!("{decimals}\t and something more"), 0, 7),
            // Eight bytes are read from every place.
            (format!("{decimals} 7 bytes"), 0, 8),
            (format!("{} ", &decimals[..decimals.len() - 4]), 0, 7),
            (decimals.to_owned(), 0, 7),
            (format!("{decimals}9 and something more"), 0, 8),
            (format!("{decimals}9012345678 and something more"), 0, 8),
            (format!("{decimals}90123456789 and something more"), 0, 7),
            (decimals.replace("0.125", "0.9748000000000001"), 0, 7),
            (decimals.replace("0.125", "0.004500000000000001"), 0, 7),
            (decimals.replace("0.125", "0.0045000000000000012"), 0, 2),
            (format!("{decimals} and something more"), 1, 0),
            (decimals.replace("300", "19"), 0, 2),
            (decimals.replace("300", ""), 0, 2),
            (decimals.replace("300:0", "300:1"), 0, 2),
            (decimals.replace("300:0", "300:00"), 0, 2),
            (decimals.replace("300:0", "300:-0"), 0, 2),
            (decimals.replace("300:0", "300:"), 0, 2),
            (decimals.replace(".125", "."), 0, 2),
            (decimals.replace("7000000", "700000000"), 0, 6),
            (format!("{wholes} and something more"), -1, 8),
            (format!("{wholes}8 and something more"), -1, 7),
            (format!("{wholes} and something more").replace("333", ""), -1, 2),
            (format!("{wholes} and something more").replace("333", "3.5"), -1, 2),
        ] {
            let found = eight(&text, before);
            if !is_widest() {
                assert!(found.is_none());
                continue;
            }
            let Some(found) = found else {
                assert_eq!(n_pairs, 0, "{text}");
                continue;
            };
            assert_eq!(found.n_pairs, n_pairs, "{text}");
            assert_eq!(found.n_marks, n_pairs * if text.starts_with(" 1:1") { 2 } else { 3 }, "{text}");
            let pairs = text.split_ascii_whitespace().map(|pair| pair.split_once(':').unwrap_or_default());
            for (place, (index, value)) in pairs.take(n_pairs).enumerate() {
                assert_eq!(found.indices[place], index.parse::<u32>().unwrap(), "{text}");
                assert_eq!(found.values[place].to_bits(), value.parse::<f64>().unwrap().to_bits(), "{text}");
            }
            assert_eq!(found.last, found.indices[n_pairs - 1], "{text}");
        }
    }

    #[test]
    fn marks_are_listed_with_what_they_are() {
        let (mut marks, mut pairs, mut random) = (Marks::default(), Pairs::default(), 5_u64);
        for length in (0..300).chain([3000]) {
            let text: Vec<u8> = (0..length)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b" :.0:0.0123456789\n"[(random >> 40) as usize % 18]
                })
                .collect();
            pairs.find(&text, marks.find_bits(&text));
            let expected: Vec<usize> = (0..text.len()).filter(|&at| !text[at].is_ascii_digit()).collect();
            if is_widest() {
                assert_eq!(pairs.n_marks, expected.len());
            }
            for (number, &at) in expected.iter().enumerate().take(pairs.n_marks) {
                assert_eq!(pairs.place(number), Some(at));
                let is_odd = text[at] == b'.' && !text[..at].ends_with(b":0");
                assert_eq!(pairs.kinds[number], if is_odd { 0 } else { text[at] }, "{length} {at}");
            }
            assert_eq!(pairs.place(pairs.n_marks), None);
            assert!(pairs.kinds[pairs.n_marks..].iter().take(LOOK).all(|&kind| kind == 0));
        }
    }
}
