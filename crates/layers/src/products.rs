//! The three products of a layer: rows with weights, rows with gradients, gradients with weights.
//!
//! Weights lie in strips: [`STRIP`] units side by side, input by input, so that a register holds one input of several
//! units. Every number of a result is its own chain of fused additions: over inputs, ascending, for a unit's sum; over
//! the rows of the batch for a weight's gradient; over units for an error that is handed back. An input that is zero adds
//! exactly nothing, so rows may be stored with their zeros or without. Threads share the numbers of a result between
//! them, never a sum.

use crate::activation::Activation;
use crate::optimiser::Stride;
use crate::wide::{Lanes, STRIP, Units, Work, widest};
use rosenblatt_core::threads::on_threads;
use std::sync::Mutex;

/// How many strips sparse rows are met with at once: as many chains as a processor works on side by side.
const TOGETHER: usize = 4;
/// Below this many multiplications another thread would cost more than it gains.
const WORTH_A_THREAD: usize = 1 << 24;

/// `n` rounded up to whole strips.
pub(crate) fn padded(n: usize) -> usize {
    n.div_ceil(STRIP) * STRIP
}

/// The rows that go into a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// `stride` numbers from one row to the next, of which the layer's inputs are the first.
    Dense { values: &'a [f64], stride: usize },
    /// Row `i` holds the entries `offsets[i]..offsets[i + 1]`, ascending.
    Sparse { offsets: &'a [usize], indices: &'a [u32], values: &'a [f64] },
}

impl Rows<'_> {
    fn part(self, from: usize, to: usize) -> Self {
        match self {
            Self::Dense { values, stride } => {
                Self::Dense { values: &values[from * stride..to * stride], stride }
            }
            Self::Sparse { offsets, indices, values } => {
                Self::Sparse { offsets: &offsets[from..=to], indices, values }
            }
        }
    }

    /// How many multiplications with one unit each.
    fn n_entries(self, n_rows: usize, n_inputs: usize) -> usize {
        match self {
            Self::Dense { .. } => n_rows * n_inputs,
            Self::Sparse { offsets, .. } => offsets[n_rows] - offsets[0],
        }
    }
}

/// Weights of a layer as a product needs them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strips<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) n_inputs: usize,
    pub(crate) count: usize,
}

impl<'a> Strips<'a> {
    fn strip(self, strip: usize) -> &'a [Units] {
        let size = self.n_inputs * STRIP;
        self.weights[strip * size..][..size].as_chunks().0
    }
}

/// The sums of rows with weights, and what the units make of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forward<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) n_rows: usize,
    pub(crate) strips: Strips<'a>,
    /// Added to every sum, if there are any; one per unit.
    pub(crate) biases: Option<&'a [f64]>,
    /// The activation of the first units, and how many they are.
    pub(crate) activation: Option<(Activation, usize)>,
}

impl Forward<'_> {
    /// `out` has room for all strips of units, row by row.
    pub(crate) fn run(self, threads: usize, out: &mut [f64]) {
        let width = self.strips.count * STRIP;
        if self.n_rows == 0 {
            return;
        }
        let work = self.rows.n_entries(self.n_rows, self.strips.n_inputs) * width;
        let n_parts = if work < WORTH_A_THREAD { 1 } else { threads.max(1) };
        let n_rows = self.n_rows.div_ceil(n_parts).next_multiple_of(8);
        let parts = out[..self.n_rows * width].chunks_mut(n_rows * width).enumerate();
        in_parts(parts, |(part, out)| {
            let (from, to) = (part * n_rows, part * n_rows + out.len() / width);
            let forward = Self { rows: self.rows.part(from, to), n_rows: to - from, ..self };
            widest(Sums { forward, out });
        });
    }
}

struct Sums<'a, 'o> {
    forward: Forward<'a>,
    out: &'o mut [f64],
}

impl Work for Sums<'_, '_> {
    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize>(self, lanes: L) {
        let Self { forward: Forward { rows, n_rows, strips, biases, activation }, out } = self;
        let width = strips.count * STRIP;
        match rows {
            Rows::Dense { values, stride } => {
                // Rows side by side, input by input.
                let mut side_by_side = vec![[0.0; ROWS]; strips.n_inputs];
                for first in (0..n_rows).step_by(ROWS) {
                    let n_here = ROWS.min(n_rows - first);
                    for place in 0..n_here {
                        let row = &values[(first + place) * stride..][..strips.n_inputs];
                        side_by_side.iter_mut().zip(row).for_each(|(here, value)| here[place] = *value);
                    }
                    for strip in 0..strips.count {
                        let sums = tile(lanes, &side_by_side, strips.strip(strip));
                        for (place, sums) in sums.iter().enumerate().take(n_here) {
                            out[(first + place) * width + strip * STRIP..][..STRIP].copy_from_slice(sums);
                        }
                    }
                }
            }
            Rows::Sparse { offsets, indices, values } => {
                for (row, out) in out.chunks_exact_mut(width).enumerate() {
                    let entries = offsets[row]..offsets[row + 1];
                    let (indices, values) = (&indices[entries.clone()], &values[entries]);
                    let out = out.as_chunks_mut().0;
                    let entries = indices.iter().map(|input| *input as usize).zip(values);
                    let whole = strips.count / TOGETHER * TOGETHER;
                    for strip in (0..whole).step_by(TOGETHER) {
                        let here: [_; TOGETHER] = std::array::from_fn(|k| strips.strip(strip + k));
                        let entries =
                            entries.clone().map(|(input, value)| (*value, here.map(|strip| &strip[input])));
                        out[strip..strip + TOGETHER].copy_from_slice(&gather(lanes, || entries.clone()));
                    }
                    for (strip, out) in out.iter_mut().enumerate().skip(whole) {
                        let here = strips.strip(strip);
                        let entries = entries.clone().map(|(input, value)| (*value, [&here[input]]));
                        [*out] = gather(lanes, || entries.clone());
                    }
                }
            }
        }
        for row in out.chunks_exact_mut(width) {
            if let Some(biases) = biases {
                for (sum, bias) in row.iter_mut().zip(biases) {
                    *sum += bias;
                }
            }
            if let Some((activation, n_units)) = activation {
                activate(activation, &mut row[..n_units]);
            }
        }
    }
}

/// One loop per activation, so that none asks again for every unit.
#[inline(always)]
fn activate(activation: Activation, sums: &mut [f64]) {
    match activation {
        Activation::Relu => sums.iter_mut().for_each(|sum| *sum = Activation::Relu.of(*sum)),
        Activation::Tanh => sums.iter_mut().for_each(|sum| *sum = Activation::Tanh.of(*sum)),
        Activation::Logistic => sums.iter_mut().for_each(|sum| *sum = Activation::Logistic.of(*sum)),
        Activation::Identity => {}
    }
}

/// The sums of `M` rows, side by side, with one strip of units.
#[inline(always)]
fn tile<L: Lanes, const M: usize>(lanes: L, rows: &[[f64; M]], strip: &[Units]) -> [Units; M] {
    let mut out = [[0.0; STRIP]; M];
    for part in (0..STRIP).step_by(2 * L::N) {
        let mut sums = [[lanes.splat(0.0); 2]; M];
        for (values, units) in rows.iter().zip(strip) {
            let units = [lanes.load(units, part), lanes.load(units, part + L::N)];
            for (sums, value) in sums.iter_mut().zip(values) {
                let value = lanes.splat(*value);
                for (sum, units) in sums.iter_mut().zip(units) {
                    *sum = lanes.fused(*sum, value, units);
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            lanes.store(sums[0], out, part);
            lanes.store(sums[1], out, part + L::N);
        }
    }
    out
}

/// The sums of the values with `N` strips of numbers each.
#[inline(always)]
fn gather<'a, L: Lanes, I: Iterator<Item = (f64, [&'a Units; N])>, const N: usize>(
    lanes: L,
    entries: impl Fn() -> I,
) -> [Units; N] {
    let mut out = [[0.0; STRIP]; N];
    for part in (0..STRIP).step_by(2 * L::N) {
        let mut sums = [[lanes.splat(0.0); 2]; N];
        for (value, strips) in entries() {
            let value = lanes.splat(value);
            for (sums, units) in sums.iter_mut().zip(strips) {
                for (place, sum) in sums.iter_mut().enumerate() {
                    *sum = lanes.fused(*sum, value, lanes.load(units, part + place * L::N));
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            lanes.store(sums[0], out, part);
            lanes.store(sums[1], out, part + L::N);
        }
    }
    out
}

/// The rows of a batch once more, input by input: what each says, and in which rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transposed {
    /// Input `i` has the entries from `ends[i - 1]` to `ends[i]`.
    ends: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Transposed {
    /// Turns sparse rows; leaves dense ones alone.
    pub(crate) fn fill(&mut self, rows: Rows<'_>, n_inputs: usize) {
        let Rows::Sparse { offsets, indices, values } = rows else { return };
        self.ends.clear();
        self.ends.resize(n_inputs, 0);
        for input in indices {
            self.ends[*input as usize] += 1;
        }
        // Where each input begins; by the time all are taken in, where it ends.
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.rows.resize(begin, 0);
        self.values.resize(begin, 0.0);
        for (row, bounds) in offsets.windows(2).enumerate() {
            for place in bounds[0]..bounds[1] {
                let at = &mut self.ends[indices[place] as usize];
                (self.rows[*at], self.values[*at]) = (row as u32, values[place]);
                *at += 1;
            }
        }
    }
}

/// The gradients of a layer's weights, and the step along them.
pub(crate) struct Backward<'a> {
    pub(crate) rows: Rows<'a>,
    /// The same rows transposed, where they are sparse.
    pub(crate) transposed: &'a Transposed,
    pub(crate) n_rows: usize,
    pub(crate) n_inputs: usize,
    /// The gradients of the units' sums, row by row.
    pub(crate) gradients: &'a [f64],
    pub(crate) stride: Stride,
    pub(crate) decay: f64,
    /// One through the weight of the batch.
    pub(crate) share: f64,
}

/// What belongs to some strips of a layer.
pub(crate) struct Moved<'a> {
    pub(crate) weights: &'a mut [f64],
    pub(crate) moments: [&'a mut [f64]; 2],
    pub(crate) gradients: &'a mut [f64],
}

impl Backward<'_> {
    /// Makes the step. All parts of `moved` are as long as the weights, or empty.
    pub(crate) fn run(&self, threads: usize, moved: Moved<'_>) {
        let strip = self.n_inputs * STRIP;
        if strip == 0 {
            return;
        }
        let n_strips = moved.weights.len() / strip;
        // A step costs about as much as a few multiplications.
        let work = (self.rows.n_entries(self.n_rows, self.n_inputs) + 8 * self.n_inputs) * n_strips * STRIP;
        let n_parts = if work < WORTH_A_THREAD { 1 } else { threads.clamp(1, n_strips) };
        let size = n_strips.div_ceil(n_parts) * strip;
        let Moved { weights, moments: [one, other], gradients } = moved;
        let mut others = other.chunks_mut(size);
        let parts = weights.chunks_mut(size).zip(one.chunks_mut(size)).zip(gradients.chunks_mut(size));
        let parts = parts.enumerate().map(|(part, ((weights, one), gradients))| {
            let moments = [one, others.next().unwrap_or_default()];
            (part * size / strip, Moved { weights, moments, gradients })
        });
        in_parts(parts, |(first, moved)| widest(Step { backward: self, first, moved }));
    }
}

struct Step<'a, 'b> {
    backward: &'a Backward<'a>,
    /// The first of the strips.
    first: usize,
    moved: Moved<'b>,
}

impl Work for Step<'_, '_> {
    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize>(self, lanes: L) {
        let Self { backward, first, moved } = self;
        let Backward { n_rows, n_inputs, gradients, .. } = *backward;
        let strip = n_inputs * STRIP;
        let width = gradients.len() / n_rows.max(1);
        let of_row = |row: usize, strip: usize| -> &Units {
            gradients[row * width + strip * STRIP..].first_chunk().expect("rows are padded to whole strips")
        };
        match backward.rows {
            Rows::Dense { values, stride } => {
                let n_strips = moved.gradients.len() / strip;
                let out = moved.gradients.as_chunks_mut().0;
                // The gradients of every strip, row by row, and some inputs side by side, row by row.
                let of_strip = |here| (0..n_rows).map(move |row| *of_row(row, first + here));
                let packed: Vec<Units> = (0..n_strips).flat_map(of_strip).collect();
                let mut side_by_side = vec![[0.0; ROWS]; n_rows];
                for input in (0..n_inputs).step_by(ROWS) {
                    let n_here = ROWS.min(n_inputs - input);
                    for (row, here) in side_by_side.iter_mut().enumerate() {
                        here[..n_here].copy_from_slice(&values[row * stride + input..][..n_here]);
                    }
                    for here in 0..n_strips {
                        let sums = tile(lanes, &side_by_side, &packed[here * n_rows..][..n_rows]);
                        out[here * n_inputs + input..][..n_here].copy_from_slice(&sums[..n_here]);
                    }
                }
            }
            Rows::Sparse { .. } => {
                let transposed = backward.transposed;
                let mut begin = 0;
                let n_strips = moved.gradients.len() / strip;
                let out = moved.gradients.as_chunks_mut::<STRIP>().0;
                let whole = n_strips / TOGETHER * TOGETHER;
                for (input, &end) in transposed.ends.iter().enumerate() {
                    let (rows, values) = (&transposed.rows[begin..end], &transposed.values[begin..end]);
                    begin = end;
                    let at = |here: usize| here * n_inputs + input;
                    let entries = rows.iter().map(|row| *row as usize).zip(values);
                    for here in (0..whole).step_by(TOGETHER) {
                        let entries = entries.clone().map(|(row, value)| {
                            let from = row * width + (first + here) * STRIP;
                            let strips: &[Units; TOGETHER] =
                                gradients[from..].as_chunks().0.first_chunk().expect("rows hold all strips");
                            (*value, strips.each_ref())
                        });
                        for (k, sums) in gather(lanes, || entries.clone()).into_iter().enumerate() {
                            out[at(here + k)] = sums;
                        }
                    }
                    for here in whole..n_strips {
                        let entries =
                            entries.clone().map(|(row, value)| (*value, [of_row(row, first + here)]));
                        [out[at(here)]] = gather(lanes, || entries.clone());
                    }
                }
            }
        }
        backward.stride.make(moved.weights, moved.gradients, moved.moments, backward.decay, backward.share);
    }
}

/// The weights of a layer with inputs and units in each other's places, for errors that are handed back.
pub(crate) fn transpose(strips: Strips<'_>, n_units: usize, out: &mut Vec<f64>) {
    let n_inputs = strips.n_inputs;
    out.clear();
    out.resize(padded(n_inputs) * n_units, 0.0);
    for (input, place) in (0..n_inputs).map(|input| (input, input / STRIP * n_units * STRIP + input % STRIP))
    {
        for unit in 0..n_units {
            out[place + unit * STRIP] = strips.strip(unit / STRIP)[input][unit % STRIP];
        }
    }
}

/// Does the work on every part, each on a thread of its own, this one among them.
fn in_parts<T: Send>(parts: impl ExactSizeIterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let n_threads = parts.len();
    if n_threads <= 1 {
        parts.for_each(work);
        return;
    }
    let parts = Mutex::new(parts);
    on_threads(n_threads, || {
        loop {
            // The lock is let go before the work begins.
            let part = parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(part) = part else { break };
            work(part);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::Bare;
    use rosenblatt_core::Random;

    /// Results whose outcome is looked at.
    trait Results {
        fn results<L: Lanes, const ROWS: usize>(&self, lanes: L) -> Vec<f64>;
    }

    struct Ahead<'a>(Forward<'a>, usize);

    impl Results for Ahead<'_> {
        fn results<L: Lanes, const ROWS: usize>(&self, lanes: L) -> Vec<f64> {
            let mut out = vec![f64::NAN; self.1];
            Sums { forward: self.0, out: &mut out }.run::<L, ROWS>(lanes);
            out
        }
    }

    struct Back<'a>(Backward<'a>, &'a [f64]);

    impl Results for Back<'_> {
        fn results<L: Lanes, const ROWS: usize>(&self, lanes: L) -> Vec<f64> {
            let (mut weights, mut gradients) = (self.1.to_vec(), vec![f64::NAN; self.1.len()]);
            let (mut one, mut other) = (vec![0.1; self.1.len()], vec![0.2; self.1.len()]);
            let moved =
                Moved { weights: &mut weights, moments: [&mut one, &mut other], gradients: &mut gradients };
            Step { backward: &self.0, first: 0, moved }.run::<L, ROWS>(lanes);
            [weights, gradients, one, other].concat()
        }
    }

    /// What each kind of registers that this machine has makes of it.
    fn at_every_width(work: &impl Results) -> Vec<Vec<u64>> {
        let mut all = vec![work.results::<_, 4>(Bare), work.results::<_, 3>(Bare)];
        #[cfg(target_arch = "x86_64")]
        {
            use crate::wide::{Eight, Four};
            all.extend(Four::new().map(|lanes| work.results::<_, 4>(lanes)));
            all.extend(Eight::new().map(|lanes| work.results::<_, 8>(lanes)));
        }
        all.iter().map(|numbers| numbers.iter().map(|number| number.to_bits()).collect()).collect()
    }

    #[test]
    fn registers_of_every_width_and_rows_of_either_kind_give_the_same_bits() {
        let mut random = Random::new(3);
        for (n_rows, n_inputs, n_units) in [(1, 1, 1), (5, 7, 3), (19, 33, 20), (17, 12, 90)] {
            let mut draw = |n: usize, share: f64| -> Vec<f64> {
                let value = |random: &mut Random| 2.0 * random.unit() - 1.0;
                (0..n).map(|_| if random.unit() < share { value(&mut random) } else { 0.0 }).collect()
            };
            let values = draw(n_rows * n_inputs, 0.5);
            let weights = draw(n_inputs * padded(n_units), 1.0);
            let biases = draw(padded(n_units), 1.0);
            let gradients = draw(n_rows * padded(n_units), 0.7);
            let (mut offsets, mut indices, mut few) = (vec![0], Vec::new(), Vec::new());
            for row in values.chunks(n_inputs) {
                for (input, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    indices.push(input as u32);
                    few.push(*value);
                }
                offsets.push(indices.len());
            }
            let dense = Rows::Dense { values: &values, stride: n_inputs };
            let sparse = Rows::Sparse { offsets: &offsets, indices: &indices, values: &few };
            let mut transposed = Transposed::default();
            transposed.fill(sparse, n_inputs);
            let strips = Strips { weights: &weights, n_inputs, count: padded(n_units) / STRIP };
            let (mut ahead, mut back) = (Vec::new(), Vec::new());
            for rows in [dense, sparse] {
                let activation = Some((Activation::Tanh, n_units));
                let forward = Forward { rows, n_rows, strips, biases: Some(&biases), activation };
                ahead.extend(at_every_width(&Ahead(forward, n_rows * padded(n_units))));
                let pace = crate::Design::new(
                    Some(&[]),
                    Activation::Tanh,
                    crate::Loss::Softmax,
                    crate::Optimiser::Adam,
                    &rosenblatt_core::Params::new(),
                );
                let stride = pace.unwrap().pace.stride(1, 1.0, &mut [1.0, 1.0]);
                let backward = Backward {
                    rows,
                    transposed: &transposed,
                    n_rows,
                    n_inputs,
                    gradients: &gradients,
                    stride,
                    decay: 0.1,
                    share: 1.0 / n_rows as f64,
                };
                back.extend(at_every_width(&Back(backward, &weights)));
            }
            assert!(ahead.windows(2).all(|pair| pair[0] == pair[1]), "{n_rows} {n_inputs} {n_units}");
            assert!(back.windows(2).all(|pair| pair[0] == pair[1]), "{n_rows} {n_inputs} {n_units}");
            // And they are the sums of the textbooks.
            let one: f64 = (0..n_inputs).fold(0.0, |sum, k| values[k].mul_add(weights[k * STRIP], sum));
            assert_eq!(ahead[0][0], Activation::Tanh.of(one + biases[0]).to_bits());
        }
    }
}
