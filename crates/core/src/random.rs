//! The project's own random numbers: small, seeded, and the same for ever.
//!
//! Orders, splits and coin tosses come from here, so that a seed means the same run on every machine
//! and in every later version. The generator is `SplitMix64` (Steele, Lea and Flood 2014); it is for
//! sampling, never for secrets.

/// A seeded stream of random numbers. Its whole state is one number, so a run can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A stream that depends on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A stream that depends on `seed` and `purpose`, so that two uses of one seed do not echo.
    pub fn for_purpose(seed: u64, purpose: &str) -> Self {
        let mut random = Self::new(seed);
        for byte in purpose.bytes() {
            random.state = random.next() ^ u64::from(byte);
        }
        random
    }

    /// The state, to be handed to [`Random::new`] when a run is resumed.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// The next 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "an endless stream is not an iterator to loop over")]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..bound`, each equally likely. Panics if `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below zero");
        // Lemire's multiply-and-reject: unbiased, and nearly always one draw.
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts `items` in a random order, each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // The first outputs of SplitMix64 from seed 1234567, as its authors' reference code gives them.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn bounded_draws_are_even_and_shuffles_keep_everything() {
        let mut random = Random::new(3);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)), "{counts:?}");

        let mut items: Vec<u32> = (0..100).collect();
        random.shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn purposes_do_not_echo() {
        assert_ne!(Random::for_purpose(1, "order").next(), Random::for_purpose(1, "split").next());
    }
}
