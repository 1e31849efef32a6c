//! The hashing trick: feature names to slots of a table of fixed size.
//!
//! A feature's slot is the low bits of the `MurmurHash3` (x86, 32 bits, seed 0) of its *name*, so that
//! the same feature finds the same slot from every format: index 11 of a libsvm line is called `11`, a
//! category is called `column=value`. Two features may meet in one slot; their values are then added.
//! There is no sign trick, so counts stay counts. Nothing here remembers which names met.

/// The largest number of bits that features can be hashed to.
pub(crate) const MOST_BITS: u32 = 30;

/// The slot of the feature called `name` in a table of `2^bits` slots.
pub fn hash_slot(name: &[u8], bits: u32) -> u32 {
    let mask = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
    murmur3_32(name, 0) & mask
}

/// `MurmurHash3`, the x86 variant of 32 bits (Appleby), as scikit-learn and Vowpal Wabbit use it.
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let scramble = |block: u32| block.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for block in blocks {
        hash ^= scramble(u32::from_le_bytes(*block));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    let rest = tail.iter().rev().fold(0, |rest, &byte| (rest << 8) | u32::from(byte));
    hash ^= scramble(rest);
    hash ^= bytes.len() as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        assert_eq!(murmur3_32(b"", 0), 0);
        assert_eq!(murmur3_32(b"", 1), 0x514E_28B7);
        assert_eq!(murmur3_32(b"test", 0), 0xBA6B_D213);
        assert_eq!(murmur3_32(b"Hello, world!", 0), 0xC036_3E43);
        assert_eq!(murmur3_32(b"The quick brown fox jumps over the lazy dog", 0), 0x2E4F_F723);
        assert_eq!(hash_slot(b"test", 8), 0x13);
    }
}
