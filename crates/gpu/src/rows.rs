//! Rows in the card's memory, in the layout that suits them.

use crate::card::{Card, launch, trouble};
use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, PushKernelArg, ValidAsZeroBits};
use rosenblatt_core::SparseRows;
use rosenblatt_kernel::{Sum, Trouble};
use std::sync::Arc;

/// How rows lie in the card's memory. Values are the same bits in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// With their zeros, a byte each: for whole numbers up to 255.
    Whole,
    /// With their zeros, in doubles.
    Doubles,
    /// Without their zeros.
    Sparse,
}

/// From how many features on rows are stored without their zeros, unless many are not zero.
const WIDE: usize = 4096;
/// Rows of bytes are this long or longer, so that their sums are exact in 32 bits.
const MOST_BYTES: usize = i32::MAX as usize / (255 * 255);

impl Layout {
    /// What suits rows like these.
    pub(crate) fn of(sum: Sum, rows: &SparseRows, width: usize) -> Self {
        let (_, _, values) = rows.parts();
        let full = values.len() as u128 * 8 > rows.len() as u128 * width as u128;
        if width > WIDE && !full {
            Self::Sparse
        } else if sum == Sum::Products && width <= MOST_BYTES && are_whole(values) {
            Self::Whole
        } else {
            Self::Doubles
        }
    }

    /// The layout that holds rows like these too.
    pub(crate) fn and(self, rows: &SparseRows) -> Self {
        if self == Self::Whole && !are_whole(rows.parts().2) { Self::Doubles } else { self }
    }

    /// How many numbers a row takes, trailing zeros included.
    fn stride(self, width: usize) -> usize {
        match self {
            Self::Whole => width.next_multiple_of(64),
            Self::Doubles => width.next_multiple_of(8),
            Self::Sparse => 0,
        }
        .max(8)
    }

    /// How many bytes this many rows with this many entries take.
    pub(crate) fn bytes(self, width: usize, n_rows: usize, n_entries: usize) -> usize {
        match self {
            Self::Whole => self.stride(width) * n_rows,
            Self::Doubles => self.stride(width) * n_rows * 8,
            Self::Sparse => n_entries * 12 + n_rows * 8,
        }
    }
}

/// A number to which whole ones are added without loss, so that they stand in its last bits.
const WHOLES: f64 = 4_503_599_627_370_496.0;

/// Whether all of these fit a byte. Tests several at once, so that each takes no branch.
fn are_whole(values: &[f64]) -> bool {
    let differs = |value: f64| {
        let byte = WHOLES.to_bits() | u64::from(byte_of(value));
        (f64::from_bits(byte) - WHOLES).to_bits() ^ value.to_bits()
    };
    values.chunks(512).all(|values| values.iter().fold(0, |all, value| all | differs(*value)) == 0)
}

/// One of them as a byte.
fn byte_of(value: f64) -> u8 {
    (value + WHOLES).to_bits() as u8
}

/// Memory of the card that grows.
#[derive(Debug)]
pub(crate) struct Room<T>(Option<CudaSlice<T>>);

impl<T> Default for Room<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> Room<T> {
    /// Makes room for `n`, of which the first `kept` stay; what is new is zero.
    pub(crate) fn hold(
        &mut self,
        stream: &Arc<CudaStream>,
        n: usize,
        kept: usize,
    ) -> Result<&mut CudaSlice<T>, Trouble> {
        if self.0.as_ref().is_none_or(|slice| slice.len() < n) {
            if kept == 0 {
                self.0 = None;
            }
            let mut slice = stream.alloc_zeros::<T>((n + n / 2).max(64)).map_err(trouble)?;
            if let Some(old) = self.0.as_ref().filter(|_| kept > 0) {
                stream.memcpy_dtod(&old.slice(..kept), &mut slice.slice_mut(..kept)).map_err(trouble)?;
            }
            self.0 = Some(slice);
        }
        self.there()
    }

    /// Room for `n` numbers, all of them zero.
    fn exactly(&mut self, stream: &Arc<CudaStream>, n: usize) -> Result<(), Trouble> {
        self.0 = None;
        self.0 = Some(stream.alloc_zeros::<T>(n.max(64)).map_err(trouble)?);
        Ok(())
    }

    /// What is there.
    pub(crate) fn there(&mut self) -> Result<&mut CudaSlice<T>, Trouble> {
        self.0.as_mut().ok_or_else(|| Trouble::Failed("nothing is there yet".to_owned()))
    }

    /// Writes numbers from place `at` on; those before it stay.
    pub(crate) fn write(&mut self, stream: &Arc<CudaStream>, at: usize, values: &[T]) -> Result<(), Trouble> {
        let slice = self.hold(stream, at + values.len(), at)?;
        if values.is_empty() {
            return Ok(());
        }
        stream.memcpy_htod(values, &mut slice.slice_mut(at..at + values.len())).map_err(trouble)
    }

    pub(crate) fn get(&self) -> Result<&CudaSlice<T>, Trouble> {
        self.0.as_ref().ok_or_else(|| Trouble::Failed("nothing is there yet".to_owned()))
    }
}

/// Rows of one layout.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) layout: Layout,
    pub(crate) width: usize,
    pub(crate) stride: usize,
    pub(crate) n_rows: usize,
    n_entries: usize,
    pub(crate) bytes: Room<u8>,
    pub(crate) doubles: Room<f64>,
    pub(crate) norms2: Room<f64>,
    /// The entries of all rows, or of the last ones that came if they are laid out with their zeros.
    pub(crate) offsets: Room<u64>,
    pub(crate) features: Room<u32>,
    pub(crate) entries: Room<f64>,
    entry_bytes: Room<u8>,
    as_bytes: Vec<u8>,
}

impl Store {
    pub(crate) fn new(layout: Layout, width: usize) -> Self {
        Self {
            layout,
            width,
            stride: layout.stride(width),
            n_rows: 0,
            n_entries: 0,
            bytes: Room::default(),
            doubles: Room::default(),
            norms2: Room::default(),
            offsets: Room::default(),
            features: Room::default(),
            entries: Room::default(),
            entry_bytes: Room::default(),
            as_bytes: Vec::new(),
        }
    }

    /// Forgets all rows and keeps their room.
    pub(crate) fn clear(&mut self) {
        (self.n_rows, self.n_entries) = (0, 0);
    }

    /// Takes rows of another store of the same layout, by their numbers, and rows of zeros after them, in the
    /// place of what was there.
    pub(crate) fn pick(
        &mut self,
        card: &Card,
        stream: &Arc<CudaStream>,
        kept: &Self,
        numbers: &CudaSlice<u32>,
        (n_rows, n_slots): (usize, usize),
    ) -> Result<(), Trouble> {
        let n = n_slots * self.stride;
        let norms2 = self.norms2.hold(stream, n_slots, 0)?;
        let mut args = stream.launch_builder(&card.does.pick_rows);
        let (given, words) =
            (n_rows as u32, (self.stride * if self.layout == Layout::Whole { 1 } else { 8 } / 4) as u32);
        if self.layout == Layout::Whole {
            args.arg(kept.bytes.get()?);
        } else {
            args.arg(kept.doubles.get()?);
        }
        args.arg(kept.norms2.get()?).arg(numbers).arg(&given).arg(&words);
        if self.layout == Layout::Whole {
            args.arg(self.bytes.hold(stream, n, 0)?);
        } else {
            args.arg(self.doubles.hold(stream, n, 0)?);
        }
        args.arg(norms2);
        launch(args, (n_slots, 1), 128, 0)?;
        self.n_rows = n_slots;
        Ok(())
    }

    /// Makes room for `n_rows` rows in the place of what is there, so that none is moved when they come in
    /// parts.
    pub(crate) fn make_room(&mut self, stream: &Arc<CudaStream>, n_rows: usize) -> Result<(), Trouble> {
        self.norms2.hold(stream, n_rows, 0)?;
        match self.layout {
            Layout::Whole => self.bytes.hold(stream, n_rows * self.stride, 0).map(|_| ()),
            Layout::Doubles => self.doubles.hold(stream, n_rows * self.stride, 0).map(|_| ()),
            Layout::Sparse => Ok(()),
        }
    }

    /// Makes room for exactly `n_rows` rows with their zeros.
    pub(crate) fn reserve(&mut self, stream: &Arc<CudaStream>, n_rows: usize) -> Result<(), Trouble> {
        self.norms2.exactly(stream, n_rows)?;
        match self.layout {
            Layout::Whole => self.bytes.exactly(stream, n_rows * self.stride),
            Layout::Doubles => self.doubles.exactly(stream, n_rows * self.stride),
            Layout::Sparse => Ok(()),
        }
    }

    /// Adds rows, and rows of zeros after them, `n_new` in all.
    pub(crate) fn append(
        &mut self,
        card: &Card,
        stream: &Arc<CudaStream>,
        rows: &SparseRows,
        norms2: &[f64],
        n_new: usize,
    ) -> Result<(), Trouble> {
        let (offsets, features, values) = rows.parts();
        let is_sparse = self.layout == Layout::Sparse;
        let (first_row, first_entry) = if is_sparse { (self.n_rows, self.n_entries) } else { (0, 0) };
        let last = offsets.last().copied().unwrap_or(0);
        let padded = offsets.iter().copied().chain(std::iter::repeat_n(last, n_new - rows.len()));
        let offsets: Vec<u64> = padded.map(|offset| (first_entry + offset) as u64).collect();
        self.offsets.write(stream, first_row, &offsets)?;
        self.features.write(stream, first_entry, features)?;
        let mut norms2 = norms2.to_vec();
        norms2.resize(n_new, 0.0);
        self.norms2.write(stream, self.n_rows, &norms2)?;
        let (from, to) = (self.n_rows * self.stride, (self.n_rows + n_new) * self.stride);
        let (n_rows, row_stride) = (rows.len() as u32, self.stride as u64);
        let grid = (rows.len().div_ceil(8), 1);
        match self.layout {
            Layout::Sparse => self.entries.write(stream, first_entry, values)?,
            Layout::Doubles => {
                self.entries.write(stream, 0, values)?;
                let mut room = self.doubles.hold(stream, to, from)?.slice_mut(from..to);
                stream.memset_zeros(&mut room).map_err(trouble)?;
                let mut args = stream.launch_builder(&card.does.spread_doubles);
                args.arg(self.offsets.get()?).arg(self.features.get()?).arg(self.entries.get()?);
                args.arg(&n_rows).arg(&row_stride).arg(&1_u64).arg(&mut room);
                launch(args, grid, 256, 0)?;
            }
            Layout::Whole => {
                self.as_bytes.clear();
                self.as_bytes.extend(values.iter().map(|value| byte_of(*value)));
                self.entry_bytes.write(stream, 0, &self.as_bytes)?;
                let mut room = self.bytes.hold(stream, to, from)?.slice_mut(from..to);
                stream.memset_zeros(&mut room).map_err(trouble)?;
                let mut args = stream.launch_builder(&card.does.spread_bytes);
                args.arg(self.offsets.get()?).arg(self.features.get()?).arg(self.entry_bytes.get()?);
                args.arg(&n_rows).arg(&row_stride).arg(&mut room);
                launch(args, grid, 256, 0)?;
            }
        }
        self.n_rows += n_new;
        self.n_entries = first_entry + values.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_laid_out_as_suits_them() {
        let rows = |values: &[f64]| {
            let mut rows = SparseRows::default();
            rows.push_entries(values.iter().copied().enumerate());
            rows
        };
        let (pixels, reals) = (rows(&[0.0, 255.0, 3.0]), rows(&[0.5, 1.0, 2.0]));
        assert_eq!(Layout::of(Sum::Products, &pixels, 784), Layout::Whole);
        assert_eq!(Layout::of(Sum::Distances, &pixels, 784), Layout::Doubles);
        assert_eq!(Layout::of(Sum::Products, &reals, 784), Layout::Doubles);
        assert_eq!(Layout::of(Sum::Products, &pixels, 100_000), Layout::Sparse);
        for whole in 0..=255 {
            assert_eq!(byte_of(f64::from(whole)), whole);
            assert_eq!(Layout::Whole.and(&rows(&[f64::from(whole)])), Layout::Whole);
        }
        for beyond in [256.0, -1.0, 0.5, 1e300, -0.5, 254.999_999, f64::NAN, f64::INFINITY] {
            assert_eq!(Layout::Whole.and(&rows(&[1.0, beyond])), Layout::Doubles, "{beyond}");
        }
        assert_eq!(Layout::Whole.and(&pixels), Layout::Whole);
        // The largest sum of products of bytes is a 32-bit number.
        assert!(i32::try_from(MOST_BYTES * 255 * 255).is_ok());
    }
}
