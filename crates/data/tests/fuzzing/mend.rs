//! Only inputs with right checksums and lengths reach what those guard: here they are put
//! right after an input was changed, or the change is made below the packing.

#![allow(clippy::ptr_arg, reason = "one signature for what changes bytes and what packs them anew")]

use super::targets;
use rosenblatt_core::Random;

fn number(bytes: &[u8], at: usize, n_bytes: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(n_bytes)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| (number << 8) | usize::from(byte)))
}

fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + field.len()) {
        place.copy_from_slice(field);
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The length of the metadata, which precedes it.
#[cfg(feature = "parquet")]
pub fn parquet(bytes: &mut Vec<u8>, _random: &mut Random) {
    let n_bytes = bytes.len();
    if n_bytes < 12 {
        return;
    }
    put(bytes, 0, b"PAR1");
    put(bytes, n_bytes - 4, b"PAR1");
    let length = number(bytes, n_bytes - 8, 4).unwrap_or(0).min(n_bytes - 12);
    put(bytes, n_bytes - 8, &(length as u32).to_le_bytes());
}

/// The checksum of every chunk.
#[cfg(feature = "images")]
pub fn png(bytes: &mut Vec<u8>, _random: &mut Random) {
    let mut at = 8;
    if !bytes.starts_with(b"\x89PNG") {
        return;
    }
    while let Some(field) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes([field[0], field[1], field[2], field[3]]) as usize;
        let Some(chunk) = bytes.get(at + 4..at.saturating_add(8).saturating_add(length)) else { break };
        let sum = crc(chunk);
        put(bytes, at + 8 + length, &sum.to_be_bytes());
        at += 12 + length;
    }
}

/// The checksum of every entry that is stored as it is, in both places.
pub fn zip(bytes: &mut Vec<u8>, _random: &mut Random) {
    let mut entries = memchr::memmem::find_iter(bytes, b"PK\x01\x02").collect::<Vec<_>>();
    entries.truncate(16);
    for at in entries {
        let fields = [(10, 2), (20, 4), (42, 4)].map(|(offset, n_bytes)| number(bytes, at + offset, n_bytes));
        let [Some(0), Some(length), Some(local)] = fields else { continue };
        let (Some(name), Some(extra)) = (number(bytes, local + 26, 2), number(bytes, local + 28, 2)) else {
            continue;
        };
        let start = local + 30 + name + extra;
        let Some(content) = bytes.get(start..start.saturating_add(length)) else { continue };
        let sum = crc(content).to_le_bytes();
        put(bytes, at + 16, &sum);
        put(bytes, local + 14, &sum);
    }
}

/// A plain text, changed and packed in one member or several.
pub fn gzip(bytes: &mut Vec<u8>, random: &mut Random) {
    let plain = changed_text(bytes, random);
    let level = flate2::Compression::new(random.below(10) as u32);
    let cut = random.below(plain.len() as u64 * 2 + 1) as usize;
    let (first, second) = plain.split_at(cut.min(plain.len()));
    let mut packed = targets::gzip(first, level);
    if cut < plain.len() {
        packed.extend(targets::gzip(second, level));
    }
    *bytes = packed;
}

/// The same in frames.
pub fn zstd(bytes: &mut Vec<u8>, random: &mut Random) {
    let plain = changed_text(bytes, random);
    let cut = random.below(plain.len() as u64 * 2 + 1) as usize;
    let (first, second) = plain.split_at(cut.min(plain.len()));
    let mut packed = targets::zstd(first);
    if cut < plain.len() {
        packed.extend(targets::zstd(second));
    }
    *bytes = packed;
}

/// Some text; the bytes only choose it.
fn changed_text(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let n_lines = 1 + bytes.len() % 40;
    let mut text: Vec<u8> = (0..n_lines)
        .flat_map(|i| format!("{} {}:{}\n", i % 2, i % 9 + 1, i * bytes.len()).into_bytes())
        .collect();
    for _ in 0..random.below(3) {
        let at = random.below(text.len() as u64) as usize;
        text[at] = random.next() as u8;
    }
    text
}

/// All checksums of a cache.
pub fn cache(bytes: &mut Vec<u8>, _random: &mut Random) {
    rosenblatt_data::mend_cache(bytes);
}
