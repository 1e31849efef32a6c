//! The weights of up to eight outputs, laid out so that a row meets all of them with one load per feature.

use std::ops::{Deref, DerefMut};

/// How many outputs share a block.
pub(crate) const BLOCK: usize = 8;

/// How many bytes a line of the cache has.
pub(crate) const LINE: usize = 64;

/// Up to eight outputs.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// How many places a feature has: 2, 4 or 8, or 1 in a table with a sole output.
    pub(crate) stride: usize,
    /// The number of feature `j` for the `k`-th output of the block is at `j * stride + k`.
    pub(crate) cells: Cells,
}

/// How many times a row is added to each output of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Change {
    pub(crate) amounts: [f64; BLOCK],
    /// A bit for every output that something is added to. The others keep every bit of theirs.
    pub(crate) outputs: u8,
}

/// Numbers that begin with a line of the cache.
///
/// Where they begin is looked up and not asked for: the system gives memory that is zero for nothing, but only if no
/// more is asked of it.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    room: Vec<f64>,
    start: usize,
    len: usize,
}

impl Cells {
    /// Room for at least `len` zeros.
    fn with_room(len: usize) -> Self {
        let room = vec![0.0; len + LINE / size_of::<f64>() - 1];
        let start = room.as_ptr().align_offset(LINE);
        Self { room, start, len: 0 }
    }

    /// Makes them `len`; new ones are zero.
    pub(crate) fn grow(&mut self, len: usize) {
        if self.start + len > self.room.len() {
            // Twice as many, so that growing one by one stays cheap.
            let mut grown = Self::with_room(if self.len == 0 { len } else { len.max(2 * self.len) });
            grown.len = self.len;
            grown.copy_from_slice(self);
            *self = grown;
        }
        self.len = len;
    }
}

impl Clone for Cells {
    fn clone(&self) -> Self {
        let mut copy = Self::with_room(self.len);
        copy.len = self.len;
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Cells {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.room[self.start..self.start + self.len]
    }
}

impl DerefMut for Cells {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.room[self.start..self.start + self.len]
    }
}
