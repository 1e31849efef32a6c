//! Compressed streams, recognised by their first bytes and read to their very end.
//!
//! gzip may hold any number of members and zstd any number of frames, empty and skippable ones too; a
//! line may run across their borders. A stream that is cut, damaged, or followed by anything but zero
//! padding (gzip) is an error even if every row came out before. Memory is bounded by the window: 32 KiB
//! for gzip, [`MAX_ZSTD_WINDOW`] for zstd. zstd frames without a checksum cannot tell a flipped bit.
//! What is written is packed in `write/file.rs`.

use crate::bytes::panics;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// The largest zstd window that is read, that of `zstd --long`.
pub const MAX_ZSTD_WINDOW: u64 = 128 << 20;

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstd,
}

impl Compression {
    /// What the first bytes of a stream say.
    pub fn sniff(head: &[u8]) -> Self {
        match head {
            [0x1F, 0x8B, ..] => Self::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The plain bytes of `reader`.
    pub(crate) fn decode(self, reader: Box<dyn BufRead + Send>) -> Box<dyn Read + Send> {
        match self {
            Self::None => Box::new(reader),
            Self::Gzip => Box::new(Gzip { member: Some(flate2::bufread::GzDecoder::new(reader)) }),
            Self::Zstd => zstd(reader),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
fn zstd(reader: Box<dyn BufRead + Send>) -> Box<dyn Read + Send> {
    Box::new(Zstd::new(reader))
}

/// A page, which has to be fetched, does not unpack zstd, and says so.
#[cfg(target_family = "wasm")]
fn zstd(_reader: Box<dyn BufRead + Send>) -> Box<dyn Read + Send> {
    struct Refused;
    impl Read for Refused {
        fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a page does not unpack zstd: unpack the file first",
            ))
        }
    }
    Box::new(Refused)
}

fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// gzip, member after member.
struct Gzip {
    /// The decoder of the member at hand; none after the last.
    member: Option<flate2::bufread::GzDecoder<Box<dyn BufRead + Send>>>,
}

impl Read for Gzip {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(decoder) = &mut self.member else { return Ok(0) };
            let n_read = decoder.read(into)?;
            if n_read > 0 {
                return Ok(n_read);
            }
            let mut rest = std::mem::replace(decoder.get_mut(), Box::new(io::empty()));
            match first_byte(&mut rest)? {
                // The same decoder, as a new one would need memory of its own.
                Some(0x1F) => drop(decoder.reset(rest)),
                other => {
                    self.member = None;
                    return match other {
                        None => Ok(0),
                        Some(0) => only_zeros(rest),
                        Some(_) => Err(damaged("junk follows the end of the gzip stream")),
                    };
                }
            }
        }
    }
}

fn first_byte(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        match reader.fill_buf() {
            Ok(bytes) => return Ok(bytes.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Tapes and block devices pad with zeros; anything else after the end is not padding.
fn only_zeros(mut rest: impl BufRead) -> io::Result<usize> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(0);
        }
        if bytes.iter().any(|&byte| byte != 0) {
            return Err(damaged("junk follows the end of the gzip stream"));
        }
        let n_bytes = bytes.len();
        rest.consume(n_bytes);
    }
}

/// zstd, frame after frame.
struct Zstd {
    reader: Box<dyn BufRead + Send>,
    decoder: Box<FrameDecoder>,
    state: Frame,
    /// Bytes that came out of this frame, to be compared with what its header promised.
    n_decoded: u64,
}

#[derive(PartialEq)]
enum Frame {
    Before,
    Within,
    Failed,
}

/// The beginning of a frame, on its way to the decoder: four bytes of magic, and a byte of flags.
struct FrameStart<'a> {
    reader: &'a mut Box<dyn BufRead + Send>,
    n_read: usize,
    /// Frames that are to be skipped have a length in the place of flags.
    has_flags: bool,
    is_reserved: bool,
}

impl Read for FrameStart<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_read = self.reader.read(into)?;
        if self.n_read == 0 {
            self.has_flags = n_read > 0 && into[0] == 0x28;
        }
        let flags = 4_usize.checked_sub(self.n_read).and_then(|at| into[..n_read].get(at));
        self.is_reserved |= self.has_flags && flags.is_some_and(|flags| flags & 0x08 != 0);
        self.n_read += n_read;
        Ok(n_read)
    }
}

impl Zstd {
    fn new(reader: Box<dyn BufRead + Send>) -> Self {
        let mut decoder = Box::new(FrameDecoder::new());
        decoder.set_max_window_size(MAX_ZSTD_WINDOW);
        Self { reader, decoder, state: Frame::Before, n_decoded: 0 }
    }

    /// Enters the next frame that holds data; `false` at the end of the stream.
    fn enter_frame(&mut self) -> io::Result<bool> {
        while first_byte(&mut self.reader)?.is_some() {
            // The decoder does not look at the bit that must be zero.
            let mut start =
                FrameStart { reader: &mut self.reader, n_read: 0, has_flags: false, is_reserved: false };
            let entered = self.decoder.reset(&mut start);
            if start.is_reserved {
                return Err(damaged("a reserved bit of a frame is set"));
            }
            match entered {
                Ok(()) => {
                    self.n_decoded = 0;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = io::copy(&mut (&mut self.reader).take(u64::from(length)), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damaged(error.to_string())),
            }
        }
        Ok(false)
    }

    fn leave_frame(&mut self) -> io::Result<()> {
        let promised = self.decoder.content_size();
        if promised != 0 && promised != self.n_decoded {
            return Err(damaged(format!("a frame promises {promised} bytes and holds {}", self.n_decoded)));
        }
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(computed)) if stored != computed => Err(damaged("the checksum is wrong")),
            _ => Ok(()),
        }
    }

    fn read_frames(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.state == Frame::Before {
                if !self.enter_frame()? {
                    return Ok(0);
                }
                self.state = Frame::Within;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.reader, strategy)
                    .map_err(|error| damaged(error.to_string()))?;
            }
            let n_read = self.decoder.read(into)?;
            self.n_decoded += n_read as u64;
            if n_read > 0 {
                return Ok(n_read);
            }
            self.leave_frame()?;
            self.state = Frame::Before;
        }
    }
}

impl Read for Zstd {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        if self.state == Frame::Failed {
            return Err(damaged("the stream failed before"));
        }
        // The decoder is foreign code fed with foreign bytes: should it panic, that is an error of the
        // stream. Its state is not looked at again.
        let outcome = panics::catch(|| self.read_frames(into))
            .unwrap_or_else(|| Err(damaged("the decoder gave up (a bug worth reporting)")));
        if outcome.is_err() {
            self.state = Frame::Failed;
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(plain: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn decode(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        let reader = Box::new(Cursor::new(bytes.to_vec()));
        Compression::sniff(bytes).decode(reader).read_to_end(&mut plain)?;
        Ok(plain)
    }

    fn sample() -> Vec<u8> {
        (0..20_000_u32).flat_map(|i| format!("{} ", i.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    #[test]
    fn members_and_frames_run_together() {
        for encode in [gzip, zstd] {
            let plain = sample();
            let parts = [encode(&plain[..1000]), encode(b""), encode(&plain[1000..])].concat();
            assert_eq!(decode(&parts).unwrap(), plain);
        }
        let skippable = [0x50, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9];
        let frames = [&skippable[..], &zstd(b"a"), &skippable[..], &zstd(b"b")].concat();
        assert_eq!(decode(&frames).unwrap(), b"ab");
        assert_eq!(decode(&[gzip(b"a"), vec![0; 700]].concat()).unwrap(), b"a");
    }

    #[test]
    fn every_cut_is_an_error() {
        for encode in [gzip, zstd] {
            let whole = encode(&sample()[..3000]);
            // Below the length of the magic bytes nothing says that the stream is compressed.
            for length in 4..whole.len() {
                assert!(decode(&whole[..length]).is_err(), "{length} of {}", whole.len());
            }
            let second_cut = [&whole[..], &whole[..whole.len() / 2]].concat();
            assert!(decode(&second_cut).is_err());
            assert!(decode(&[&whole[..], b"junk"].concat()).is_err());
        }
    }

    #[test]
    fn damage_is_an_error_where_a_checksum_stands() {
        let plain = sample();
        let whole = gzip(&plain[..3000]);
        for at in (10..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(decode(&flipped).map_or(true, |decoded| decoded == plain[..3000]), "bit in byte {at}");
        }
        // A frame of one byte, and the same with the reserved bit set.
        assert_eq!(decode(&[0x28, 0xB5, 0x2F, 0xFD, 0x20, 1, 0x09, 0, 0, b'x']).unwrap(), b"x");
        let reserved = decode(&[0x28, 0xB5, 0x2F, 0xFD, 0x28, 1, 0x09, 0, 0, b'x']).unwrap_err();
        assert!(reserved.to_string().contains("reserved"), "{reserved}");
        // A content size of a single-segment frame that the blocks do not keep.
        assert!(decode(&[0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x09, 0, 0, b'x']).is_err());
        // A window of 2^41 bytes.
        assert!(decode(&[0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 0x09, 0, 0, b'x']).is_err());
    }
}
