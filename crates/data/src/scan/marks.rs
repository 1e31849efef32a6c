//! Where numbers end: the places of all bytes that are no digits.
//!
//! Parsers of numeric text spend their time finding out where a number stops. Here that is done for a
//! whole stretch of text at once, many bytes at a time, before any number is looked at. What stands
//! between two neighbouring marks is then digits, nothing else, and needs no further check; and numbers
//! can be converted without waiting for each other. Nothing here knows what the marks mean.
//!
//! What is `unsafe` here: calls that are made after asking whether the machine can run what they call, and
//! reading arrays into wide registers.

use crate::scan::number::Nearest;
use crate::scan::number::digits;
#[cfg(target_arch = "x86_64")]
use crate::scan::pairs::is_widest;
use crate::scan::pairs::{Eight, Pairs};

/// The places of the bytes of a text that are no digits, ascending. Its memory is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    places: Vec<u32>,
    n_places: usize,
    bits: Vec<u8>,
}

/// The longest text that is marked at once.
pub(crate) const MAX_MARKED: usize = u32::MAX as usize - 64;

/// Bytes of bits after those of a text.
const BITS_BEHIND: usize = 16;

/// The bits of the byte at `at` and of more than 50 after it, in the order of the text.
#[inline(always)]
pub(crate) fn bits_at(bits: &[u8], at: usize) -> Option<u64> {
    let word = bits.get(at / 8..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word) >> (at % 8))
}

/// How many bytes are looked at together: one bit each.
const WORD: usize = 64;

impl Marks {
    /// Forgets the marks before and finds those of `text`, at most [`MAX_MARKED`] bytes.
    pub(crate) fn find(&mut self, text: &[u8]) -> &[u32] {
        assert!(text.len() <= MAX_MARKED, "places fit 32 bits");
        if self.places.len() < text.len() + WORD {
            self.places.resize(text.len() + WORD, 0);
        }
        if !self.find_wide(text, false) {
            self.find_with(text, plain_not_digits);
        }
        &self.places[..self.n_places]
    }

    /// Forgets the marks before and finds those of `text`, one bit for each of its bytes; see [`bits_at`]. After
    /// the text, all bits are set.
    pub(crate) fn find_bits(&mut self, text: &[u8]) -> &[u8] {
        self.bits.clear();
        self.bits.reserve(text.len() / 8 + 2 * BITS_BEHIND);
        if !self.find_wide(text, true) {
            self.find_bits_with(text, plain_not_digits);
        }
        self.bits.extend_from_slice(&[0xFF; BITS_BEHIND]);
        &self.bits
    }

    /// Finds the bits by way of a function that sets a bit for every byte that is no digit.
    #[inline(always)]
    fn find_bits_with(&mut self, text: &[u8], not_digits: impl Fn(&[u8; WORD]) -> u64) {
        let (words, rest) = text.as_chunks::<WORD>();
        for word in words {
            self.bits.extend_from_slice(&not_digits(word).to_le_bytes());
        }
        if !rest.is_empty() {
            let mut word = [0; WORD];
            word[..rest.len()].copy_from_slice(rest);
            self.bits.extend_from_slice(&not_digits(&word).to_le_bytes());
        }
    }

    /// Finds the marks, or their bits, with the wide registers of the machine, if it has any.
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a call that only some machines can run")]
    fn find_wide(&mut self, text: &[u8], as_bits: bool) -> bool {
        use std::arch::x86_64::{
            _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8,
            _mm256_sub_epi8,
        };

        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn not_digits(word: &[u8; WORD]) -> u64 {
            let half = |half: &[u8; 32]| -> u64 {
                // SAFETY: the array has the 32 bytes that are read, and they may lie anywhere.
                let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                // A digit minus `0` is at most 9, all else is more, as bytes without sign.
                let above_zero = _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0'.cast_signed()));
                let digits = _mm256_cmpeq_epi8(_mm256_min_epu8(above_zero, _mm256_set1_epi8(9)), above_zero);
                u64::from(_mm256_movemask_epi8(digits).cast_unsigned())
            };
            let (halves, _) = word.as_chunks::<32>();
            !(half(&halves[0]) | half(&halves[1]) << 32)
        }

        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn find(marks: &mut Marks, text: &[u8], as_bits: bool) {
            if as_bits {
                marks.find_bits_with(text, |word| not_digits(word));
            } else {
                marks.find_with(text, |word| not_digits(word));
            }
        }

        if is_wide() {
            // SAFETY: the function needs exactly the features that `is_wide` asks for, and nothing else of
            // its caller: it is safe code but for that.
            unsafe { find(self, text, as_bits) };
            return true;
        }
        false
    }

    /// Other machines do without.
    #[cfg(not(target_arch = "x86_64"))]
    fn find_wide(&mut self, _text: &[u8], _as_bits: bool) -> bool {
        false
    }

    /// Finds the marks by way of a function that sets a bit for every byte that is no digit.
    #[inline(always)]
    fn find_with(&mut self, text: &[u8], not_digits: impl Fn(&[u8; WORD]) -> u64) {
        self.n_places = 0;
        let (words, rest) = text.as_chunks::<WORD>();
        for (word_idx, word) in words.iter().enumerate() {
            self.flatten(not_digits(word), (word_idx * WORD) as u32);
        }
        if !rest.is_empty() {
            let mut word = [b'0'; WORD];
            word[..rest.len()].copy_from_slice(rest);
            self.flatten(not_digits(&word), (words.len() * WORD) as u32);
        }
    }

    /// Adds the places of the bits of `mask`. More are written than there are, as that needs no branch;
    /// the next word writes over them.
    #[inline(always)]
    fn flatten(&mut self, mut mask: u64, base: u32) {
        let n_marks = mask.count_ones() as usize;
        let Some(room) = self.places[self.n_places..].first_chunk_mut::<WORD>() else { return };
        let mut next = |slot: &mut u32| {
            *slot = base + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        };
        let (usual, rest) = room.split_at_mut(12);
        usual.iter_mut().for_each(&mut next);
        if n_marks > 12 {
            let (more, rest) = rest.split_at_mut(12);
            more.iter_mut().for_each(&mut next);
            if n_marks > 24 {
                let (many, rest) = rest.split_at_mut(16);
                many.iter_mut().for_each(&mut next);
                if n_marks > 40 {
                    rest.iter_mut().for_each(next);
                }
            }
        }
        self.n_places += n_marks;
    }
}

/// Whether the machine has the wide registers and the shifts that this crate can make use of.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn is_wide() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// Work that is worth being compiled for the machine at hand. What `run` calls should be inlined always:
/// only so much is compiled so.
pub(crate) trait Work {
    /// What comes of it.
    type Output;

    /// Does it, with the help of what every machine has its own way for.
    fn run(self, digits: impl Digits) -> Self::Output;
}

/// Ways to read digits, two numbers at a time.
pub(crate) trait Digits: Copy {
    /// Whether eight numbers can be read together: whether [`Digits::eight`] and [`Digits::cells`] ever find any.
    const READS_EIGHT: bool = false;

    /// Two numbers of eight digits each, of which the first is the lowest byte and bytes of zero are zeros, too.
    fn two_numbers(self, first: u64, second: u64) -> [u32; 2];

    /// The two runs of digits of a view that has this shape.
    fn two_runs(self, view: &[u8; VIEW], shape: Shape) -> [u32; 2];

    /// As many pairs from mark `first` of `text` on, eight at most, as are like most pairs, have indices above
    /// `before`, and ascend. None where the machine has no way to find them.
    #[inline(always)]
    fn eight(self, _text: &[u8], _pairs: &Pairs, _first: usize, _before: i32) -> Option<Eight> {
        None
    }

    /// Reads as many cells as are plain numbers, from `at` on, which is moved past them, and as many as there is room
    /// for: eight less than `into` is long, as eight are written at once, with anything after the last of them. Returns
    /// how many; none where the machine has no way to read them together.
    #[inline(always)]
    fn cells<T: Nearest>(self, _text: &[u8], _at: &mut usize, _delimiter: u8, _into: &mut [T]) -> usize {
        0
    }
}

/// How many bytes parsers look at together.
pub(crate) const VIEW: usize = 32;

/// Where two runs of digits stand in a view: after its first byte the one, and three bytes further the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape(&'static [u8; 16]);

/// For every pair of lengths, up to eight each: which byte after the first belongs at which place if both are
/// to stand at the end of eight bytes. No byte belongs where the number is too high.
static SHAPES: [[u8; 16]; 64] = {
    let mut shapes = [[0x80; 16]; 64];
    let mut number = 0;
    while number < 64 {
        let (n_first, n_second) = (number / 8 + 1, number % 8 + 1);
        let mut place = 0;
        while place < 8 {
            if place + n_first >= 8 {
                shapes[number][place] = (place + n_first - 8) as u8;
            }
            if place + n_second >= 8 {
                shapes[number][place + 8] = (n_first + 3 + place + n_second - 8) as u8;
            }
            place += 1;
        }
        number += 1;
    }
    shapes
};

impl Shape {
    /// The longest that a shape can be.
    const MAX_LENGTH: usize = 16;

    /// The shape of two runs of which the first is `n_first` digits and both with what is between them
    /// `length` bytes, and the length of the second. Nothing if a run is empty or longer than eight, or both
    /// are too long together.
    #[inline(always)]
    pub(crate) fn of(n_first: usize, length: usize) -> Option<(Self, usize)> {
        let n_second = length.wrapping_sub(n_first + 3);
        let (first, second) = (n_first.wrapping_sub(1), n_second.wrapping_sub(1));
        // An empty run wraps round and is too long, too.
        let fits = first | second < 8 && length <= Self::MAX_LENGTH;
        fits.then(|| (Self(&SHAPES[(first * 8 + second) & 63]), n_second))
    }

    /// How many digits the two runs have.
    fn lengths(self) -> (usize, usize) {
        let count = |half: &[u8]| half.iter().filter(|&&from| from < 0x80).count();
        (count(&self.0[..8]), count(&self.0[8..]))
    }
}

/// Reading digits in ordinary arithmetic.
#[derive(Clone, Copy)]
struct Plainly;

impl Digits for Plainly {
    #[inline(always)]
    fn two_numbers(self, first: u64, second: u64) -> [u32; 2] {
        [digits(first, 8) as u32, digits(second, 8) as u32]
    }

    #[inline(always)]
    fn two_runs(self, view: &[u8; VIEW], shape: Shape) -> [u32; 2] {
        let (n_first, n_second) = shape.lengths();
        let word = |at: usize| view[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        [digits(word(1), n_first) as u32, digits(word(n_first + 4), n_second) as u32]
    }
}

/// A way to do work that the machine at hand has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way(Width);

/// What it needs; the portable ways stand first.
#[derive(Debug, Clone, Copy)]
enum Width {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Wide,
    #[cfg(target_arch = "x86_64")]
    Widest,
}

impl Way {
    /// The best there is.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_widest() {
            return Self(Width::Widest);
        } else if is_wide() {
            return Self(Width::Wide);
        }
        Self(Width::Plain)
    }

    /// All there are, for tests that hold them together.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let mut ways = vec![Self(Width::Plain)];
        #[cfg(target_arch = "x86_64")]
        {
            ways.extend(is_wide().then_some(Self(Width::Wide)));
            ways.extend(is_widest().then_some(Self(Width::Widest)));
        }
        ways
    }

    /// Does `work`, compiled for the machine at hand: shifts by a variable amount, of which parsers of digits
    /// have many, then need one instruction instead of three.
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls that only some machines can run"))]
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Width::Plain => work.run(Plainly),
            // SAFETY: the functions need exactly the features that `is_wide` and `is_widest` ask for, without
            // which there is no such way, and nothing else of their caller: they call a safe method.
            #[cfg(target_arch = "x86_64")]
            Width::Wide => unsafe { wide::widely(work) },
            #[cfg(target_arch = "x86_64")]
            Width::Widest => unsafe { wide::most_widely(work) },
        }
    }
}

/// Does `work` in the best way there is.
#[inline]
pub(crate) fn at_full_width<W: Work>(work: W) -> W::Output {
    Way::best().run(work)
}

/// What only machines with wide registers can run.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "wide registers are filled from arrays")]
mod wide {
    use super::{Digits, Shape, VIEW, Work};
    use crate::scan::cells::widest::cells;
    use crate::scan::number::Nearest;
    use crate::scan::pairs::widest::eight;
    use crate::scan::pairs::{Eight, Pairs};
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_madd_epi16, _mm_maddubs_epi16,
        _mm_packus_epi32, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_shuffle_epi8,
    };

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn two_of(digits: __m128i) -> [u32; 2] {
        let digits = _mm_and_si128(digits, _mm_set1_epi8(0x0F));
        let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(10 + (1 << 8)));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 + (1 << 16)));
        let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(10_000 + (1 << 16)));
        let both = _mm_cvtsi128_si64(eights);
        [both as u32, (both >> 32) as u32]
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn two_numbers(first: u64, second: u64) -> [u32; 2] {
        two_of(_mm_set_epi64x(second.cast_signed(), first.cast_signed()))
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn two_runs(view: &[u8; VIEW], shape: Shape) -> [u32; 2] {
        // SAFETY: 16 bytes are read of 31 that are there, and of 16; both may lie anywhere.
        let (bytes, places) =
            unsafe { (_mm_loadu_si128(view[1..].as_ptr().cast()), _mm_loadu_si128(shape.0.as_ptr().cast())) };
        two_of(_mm_shuffle_epi8(bytes, places))
    }

    /// Reading digits with wide registers: functions that may be called where the work is done.
    #[derive(Clone, Copy)]
    struct Widely<N, R, E, const READS_EIGHT: bool>(N, R, E);

    impl<N, R, E, const READS_EIGHT: bool> Digits for Widely<N, R, E, READS_EIGHT>
    where
        N: Fn(u64, u64) -> [u32; 2] + Copy,
        R: Fn(&[u8; VIEW], Shape) -> [u32; 2] + Copy,
        E: Fn(&[u8], &Pairs, usize, i32) -> Option<Eight> + Copy,
    {
        const READS_EIGHT: bool = READS_EIGHT;

        #[inline(always)]
        fn two_numbers(self, first: u64, second: u64) -> [u32; 2] {
            (self.0)(first, second)
        }

        #[inline(always)]
        fn two_runs(self, view: &[u8; VIEW], shape: Shape) -> [u32; 2] {
            (self.1)(view, shape)
        }

        #[inline(always)]
        fn eight(self, text: &[u8], pairs: &Pairs, first: usize, before: i32) -> Option<Eight> {
            (self.2)(text, pairs, first, before)
        }

        #[inline(always)]
        fn cells<T: Nearest>(self, text: &[u8], at: &mut usize, delimiter: u8, into: &mut [T]) -> usize {
            if READS_EIGHT {
                // SAFETY: the function needs exactly the features that `most_widely` has, which alone makes values
                // of this type that read eight, and nothing else of its caller.
                unsafe { cells(text, at, delimiter, into) }
            } else {
                0
            }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn widely<W: Work>(work: W) -> W::Output {
        work.run(Widely::<_, _, _, false>(
            |first: u64, second: u64| two_numbers(first, second),
            |view: &[u8; VIEW], shape: Shape| two_runs(view, shape),
            |_: &[u8], _: &Pairs, _, _| None,
        ))
    }

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn most_widely<W: Work>(work: W) -> W::Output {
        work.run(Widely::<_, _, _, true>(
            |first: u64, second: u64| two_numbers(first, second),
            |view: &[u8; VIEW], shape: Shape| two_runs(view, shape),
            |text: &[u8], pairs: &Pairs, first, before| eight(text, pairs, first, before),
        ))
    }
}

/// How many bytes of `text` are no digits: the first stage of parsing alone, for benchmarks.
pub fn count_marks(text: &[u8]) -> usize {
    let mut marks = Marks::default();
    text.chunks(16 << 10).map(|piece| marks.find(piece).len()).sum()
}

/// One bit per byte, set where the byte is no digit, in ordinary arithmetic.
#[inline(always)]
fn plain_not_digits(word: &[u8; WORD]) -> u64 {
    let (eights, _) = word.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |mask, (place, eight)| {
        let above_zero = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
        let more_than_nine = (above_zero & 0x7F7F_7F7F_7F7F_7F7F) + 0x7676_7676_7676_7676;
        let high_bits = ((more_than_nine | above_zero) & 0x8080_8080_8080_8080) >> 7;
        // The product moves bit 0 of byte i to bit 56 + i.
        mask | ((high_bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (place * 8))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads two runs of digits on the machine at hand.
    struct TwoRuns<'a>(&'a [u8; VIEW], Shape);

    impl Work for TwoRuns<'_> {
        type Output = [u32; 2];

        fn run(self, digits: impl Digits) -> [u32; 2] {
            digits.two_runs(self.0, self.1)
        }
    }

    #[test]
    fn two_runs_of_any_shape_are_read_in_every_way() {
        for n_first in 0..=9 {
            for n_second in 0..=9 {
                let length = n_first + 3 + n_second;
                let shape = Shape::of(n_first, length);
                let fits = (1..=8).contains(&n_first) && (1..=8).contains(&n_second) && length <= 16;
                assert_eq!(shape.map(|(_, n_digits)| n_digits), fits.then_some(n_second));
                let Some((shape, _)) = shape else { continue };
                let (first, second) = (&"98765432"[..n_first], &"12345678"[..n_second]);
                let text = format!("7{first}:0.{second} 55:0.123456789012345678901234567890");
                let view = text.as_bytes().first_chunk().unwrap();
                let expected = [first, second].map(|digits| digits.parse::<u32>().unwrap());
                for way in Way::all() {
                    assert_eq!(way.run(TwoRuns(view, shape)), expected, "{way:?}: {text}");
                }
            }
        }
    }

    #[test]
    fn every_byte_but_a_digit_is_marked() {
        let mut marks = Marks::default();
        let mut random = 7_u64;
        for length in (0..300).chain([5000]) {
            for few in [false, true] {
                let text: Vec<u8> = (0..length)
                    .map(|_| {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let byte = (random >> 56) as u8;
                        if few && byte > 30 { b'0' + byte % 10 } else { byte }
                    })
                    .collect();
                let expected: Vec<u32> =
                    (0..length).filter(|&at| !text[at as usize].is_ascii_digit()).collect();
                assert_eq!(marks.find(&text), expected, "{length}");
                let bits = marks.find_bits(&text).to_vec();
                for at in 0..length as usize {
                    let found = bits_at(&bits, at).unwrap().trailing_zeros();
                    let next = expected.iter().find(|&&place| place as usize >= at);
                    let next = next.map_or(length, |&place| place) - at as u32;
                    assert!(found == next || (next > 50 && found > 50), "{length} {at}");
                }
                marks.bits.clear();
                marks.find_bits_with(&text, plain_not_digits);
                assert_eq!(marks.bits, bits[..bits.len() - BITS_BEHIND]);
                marks.find_with(&text, plain_not_digits);
                assert_eq!(&marks.places[..marks.n_places], expected, "{length}");
            }
        }
    }
}
