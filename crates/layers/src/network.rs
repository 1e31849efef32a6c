//! A network: layers of weights, and the scores they give.

use crate::activation::Activation;
use crate::products::{Forward, Rows, Strips, padded};
use crate::wide::STRIP;
use rosenblatt_core::memory::{Kept, Other};
use rosenblatt_core::{Examples, Random, Row, Sparse, Visits, threads};

/// How many rows are scored at once.
const BLOCK: usize = 256;
/// The most hidden layers. More would say that this is the wrong tool.
pub const MOST_LAYERS: usize = 8;
/// The most units of a hidden layer.
pub const MOST_UNITS: usize = 1 << 16;

/// One layer: every unit weighs all inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer {
    pub(crate) n_inputs: usize,
    pub(crate) n_units: usize,
    /// Strip by strip of units, input by input; units that fill up the last strip have zero weights for ever.
    pub(crate) weights: Vec<f64>,
    /// One per unit, filled up likewise.
    pub(crate) biases: Vec<f64>,
}

impl Layer {
    pub(crate) fn zero(n_inputs: usize, n_units: usize) -> Self {
        let width = padded(n_units);
        Self { n_inputs, n_units, weights: vec![0.0; n_inputs * width], biases: vec![0.0; width] }
    }

    pub(crate) fn place(&self, input: usize, unit: usize) -> usize {
        (unit / STRIP * self.n_inputs + input) * STRIP + unit % STRIP
    }

    pub(crate) fn strips(&self) -> Strips<'_> {
        Strips { weights: &self.weights, n_inputs: self.n_inputs, count: self.biases.len() / STRIP }
    }

    /// Makes room for more inputs.
    pub(crate) fn widen(&mut self, n_inputs: usize) {
        self.weights = widened(&self.weights, self.n_inputs, n_inputs);
        self.n_inputs = n_inputs;
    }
}

/// Numbers that lie as the weights of a layer do, with room for more inputs.
pub(crate) fn widened(numbers: &[f64], n_inputs: usize, wanted: usize) -> Vec<f64> {
    let size = n_inputs * STRIP;
    let n_strips = numbers.len().checked_div(size).unwrap_or(0);
    let mut out = Vec::with_capacity(n_strips * wanted * STRIP);
    for strip in 0..n_strips {
        out.extend_from_slice(&numbers[strip * size..][..size]);
        out.resize((strip + 1) * wanted * STRIP, 0.0);
    }
    out
}

/// A network as others may look at it: weights by input and unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    pub(crate) activation: Activation,
    pub(crate) layers: Vec<Layer>,
}

impl Network {
    /// A network of these sizes, inputs first and outputs last, with zero weights.
    pub fn zero(sizes: &[usize], activation: Activation) -> Self {
        let layers = sizes.windows(2).map(|pair| Layer::zero(pair[0], pair[1])).collect();
        Self { activation, layers }
    }

    /// The network that was read out of a run, if it is one.
    pub fn of(kept: &Kept) -> Option<&Self> {
        kept.other()
    }

    /// A network from its weights and biases, layer by layer, each input's weights for all units after the other's.
    /// The error says what does not fit.
    pub fn from_parts(
        sizes: &[usize],
        activation: Activation,
        weights: &[f64],
        biases: &[f64],
    ) -> Result<Self, String> {
        if !(2..=MOST_LAYERS + 2).contains(&sizes.len()) {
            return Err(format!("a network should have at most {MOST_LAYERS} hidden layers"));
        }
        if sizes[1..].contains(&0) {
            return Err("a layer should have at least one unit".to_owned());
        }
        let product = |pair: &[usize]| pair[0].checked_mul(pair[1]);
        let n_weights = sizes.windows(2).try_fold(0_usize, |sum, pair| sum.checked_add(product(pair)?));
        let n_biases = sizes[1..].iter().try_fold(0_usize, |sum, size| sum.checked_add(*size));
        if n_weights != Some(weights.len()) || n_biases != Some(biases.len()) {
            return Err("there are not as many weights and biases as the sizes of the layers say".to_owned());
        }
        let mut network = Self::zero(sizes, activation);
        let (mut weights, mut biases) = (weights.iter(), biases.iter());
        for layer in &mut network.layers {
            for input in 0..layer.n_inputs {
                for unit in 0..layer.n_units {
                    let place = layer.place(input, unit);
                    layer.weights[place] = weights.next().copied().unwrap_or(0.0);
                }
            }
            for (bias, given) in layer.biases[..layer.n_units].iter_mut().zip(&mut biases) {
                *bias = *given;
            }
        }
        Ok(network)
    }

    /// Inputs, units of every hidden layer, outputs.
    pub fn sizes(&self) -> Vec<usize> {
        let inputs = self.layers.first().map_or(0, |layer| layer.n_inputs);
        std::iter::once(inputs).chain(self.layers.iter().map(|layer| layer.n_units)).collect()
    }

    /// The same weights, of which hidden units make something else.
    #[must_use]
    pub fn with_activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// What its hidden units make of their sums.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// How many scores a row gets.
    pub fn n_outputs(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.n_units)
    }

    /// How many layers of weights there are.
    pub fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// What `unit` of a layer makes of `input`, before its activation.
    pub fn weight(&self, layer: usize, input: usize, unit: usize) -> f64 {
        self.layers[layer].weights[self.layers[layer].place(input, unit)]
    }

    /// The biases of a layer, unit by unit.
    pub fn biases(&self, layer: usize) -> &[f64] {
        &self.layers[layer].biases[..self.layers[layer].n_units]
    }

    /// All weights, in the order of [`Network::from_parts`].
    pub fn raw_weights(&self) -> Vec<f64> {
        (0..self.n_layers()).flat_map(|layer| self.layer_weights(layer)).collect()
    }

    /// The weights of a layer, each input's for all units after the other's.
    pub fn layer_weights(&self, layer: usize) -> Vec<f64> {
        let layer = &self.layers[layer];
        let units = |input| (0..layer.n_units).map(move |unit| layer.weights[layer.place(input, unit)]);
        (0..layer.n_inputs).flat_map(units).collect()
    }

    /// All biases, in the order of [`Network::from_parts`].
    pub fn raw_biases(&self) -> Vec<f64> {
        (0..self.n_layers()).flat_map(|layer| self.biases(layer).to_vec()).collect()
    }

    /// Whether all weights are numbers.
    pub fn is_finite(&self) -> bool {
        let mut numbers = self.layers.iter().flat_map(|layer| layer.weights.iter().chain(&layer.biases));
        numbers.all(|number| number.is_finite())
    }

    /// Makes room for rows of `width` features; what is new weighs nothing.
    pub(crate) fn widen(&mut self, width: usize) {
        if let Some(first) = self.layers.first_mut().filter(|first| width > first.n_inputs) {
            if first.n_inputs == 0 {
                *first =
                    Layer { biases: std::mem::take(&mut first.biases), ..Layer::zero(width, first.n_units) };
            } else {
                first.widen(width);
            }
        }
    }

    /// Draws the weights of the inputs of layer `layer` from number `from` on, each from a stream of its own, so that
    /// it does not matter when an input turned up.
    pub(crate) fn draw(&mut self, layer: usize, from: usize, spread: f64, seed: u64) {
        let Layer { n_inputs, n_units, .. } = self.layers[layer];
        for input in from..n_inputs {
            let stream = Random::for_purpose(seed.wrapping_add(input as u64), "weights").state();
            let mut random = Random::new(stream.wrapping_add((layer as u64) << 56));
            for unit in 0..n_units {
                let place = self.layers[layer].place(input, unit);
                self.layers[layer].weights[place] = spread * (2.0 * random.unit() - 1.0);
            }
        }
    }

    /// Computes the activations of all units for these rows, layer by layer, from row `from` on.
    pub(crate) fn pass(
        &self,
        rows: Rows<'_>,
        from: usize,
        n_rows: usize,
        threads: usize,
        activations: &mut [Vec<f64>],
    ) {
        let n_layers = self.layers.len();
        for (number, layer) in self.layers.iter().enumerate() {
            let width = layer.biases.len();
            let (before, here) = activations.split_at_mut(number);
            here[0].resize((from + n_rows) * width, 0.0);
            let rows = match before.last() {
                Some(activations) => {
                    let stride = padded(layer.n_inputs);
                    Rows::Dense { values: &activations[from * stride..], stride }
                }
                None => rows,
            };
            let is_hidden = number + 1 < n_layers;
            let forward = Forward {
                rows,
                n_rows,
                strips: layer.strips(),
                biases: Some(&layer.biases),
                activation: is_hidden.then_some((self.activation, layer.n_units)),
            };
            forward.run(threads, &mut here[0][from * width..]);
        }
    }

    /// Shows the scores of every visited row, in their order. On all cores where that pays.
    pub fn each<E: Examples>(&self, examples: E, visits: Visits<'_>, mut show: impl FnMut(usize, &[f64])) {
        let threads = threads::available();
        let mut activations = vec![Vec::new(); self.layers.len()];
        let (width, n_outputs) = (padded(self.n_outputs()), self.n_outputs());
        for from in (0..visits.len()).step_by(BLOCK) {
            let part = visits.part(from, visits.len().min(from + BLOCK));
            let mut rows = Stored::default();
            rows.begin(examples, part, self.width());
            (0..part.len()).for_each(|place| rows.push(examples.row(part.row(place))));
            self.pass(rows.rows(), 0, part.len(), threads, &mut activations);
            let Some(scores) = activations.last() else { return };
            for place in 0..part.len() {
                show(part.row(place), &scores[place * width..][..n_outputs]);
            }
        }
    }

    /// The sums of all units for one row, layer by layer, and what they make of them; the scores are last.
    pub fn look(&self, row: impl Iterator<Item = (usize, f64)>) -> Vec<Unfolded> {
        let width = self.width();
        let known = row.filter(|(feature, value)| *feature < width && *value != 0.0);
        let (indices, values): (Vec<u32>, Vec<f64>) =
            known.map(|(feature, value)| (feature as u32, value)).unzip();
        let mut stored = Stored { width, sparse: true, ..Stored::default() };
        stored.push(Sparse::new(&indices, &values));
        let mut layers: Vec<Unfolded> = Vec::with_capacity(self.layers.len());
        for (number, layer) in self.layers.iter().enumerate() {
            let rows = match layers.last() {
                Some(before) => Rows::Dense { values: &before.activations, stride: layer.n_inputs },
                None => stored.rows(),
            };
            let mut sums = vec![0.0; layer.biases.len()];
            let (strips, biases) = (layer.strips(), Some(&layer.biases[..]));
            Forward { rows, n_rows: 1, strips, biases, activation: None }.run(1, &mut sums);
            sums.truncate(layer.n_units);
            let is_hidden = number + 1 < self.layers.len();
            let activations =
                sums.iter().map(|sum| if is_hidden { self.activation.of(*sum) } else { *sum }).collect();
            layers.push(Unfolded { sums, activations });
        }
        layers
    }

    /// How much the score of `output` grows with every feature of a row, along the way from a row of zeros to it, and
    /// the score of a row of zeros. These weights times the values, and that score, sum to the score of the row: what a
    /// unit says more than it says to a row of zeros is shared out over what its inputs add to its sum, in proportion
    /// (the rescale rule of Shrikumar, Greenside and Kundaje 2017, with zero as the reference).
    pub fn growth(&self, row: &[(usize, f64)], output: usize) -> (f64, Vec<f64>) {
        let (here, zero) = (self.look(row.iter().copied()), self.look(std::iter::empty()));
        let n_layers = self.layers.len();
        // How much the score grows with every unit's sum, along the way from zero to here.
        let mut growth = vec![0.0; self.n_outputs()];
        growth[output] = 1.0;
        for number in (1..n_layers).rev() {
            let layer = &self.layers[number];
            growth = (0..layer.n_inputs)
                .map(|input| {
                    let of_unit = |sum: f64, (unit, growth): (usize, &f64)| {
                        layer.weights[layer.place(input, unit)].mul_add(*growth, sum)
                    };
                    let grown = growth.iter().enumerate().fold(0.0, of_unit);
                    let (here, zero) = (&here[number - 1], &zero[number - 1]);
                    let way = here.sums[input] - zero.sums[input];
                    let gained = here.activations[input] - zero.activations[input];
                    // Where the sum hardly moved, the share is the derivative.
                    let share = if way.abs() > 1e-9 {
                        gained / way
                    } else {
                        self.activation.derivative(here.activations[input])
                    };
                    grown * share
                })
                .collect();
        }
        let first = &self.layers[0];
        let of_feature = |&(feature, _): &(usize, f64)| {
            let of_unit = |sum: f64, (unit, growth): (usize, &f64)| {
                first.weights[first.place(feature, unit)].mul_add(*growth, sum)
            };
            // What the network does not know adds nothing.
            if feature < first.n_inputs { growth.iter().enumerate().fold(0.0, of_unit) } else { 0.0 }
        };
        let base = zero.last().map_or(0.0, |scores| scores.activations[output]);
        (base, row.iter().map(of_feature).collect())
    }
}

/// Back-propagation of one row, as a textbook computes it: what all units say, and how much the cost grows with each of
/// their sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Propagated {
    /// Sums and what units make of them, layer by layer; the scores are last.
    pub layers: Vec<Unfolded>,
    /// The gradients of the cost in the sums, layer by layer. That of a weight is this times what goes into it.
    pub gradients: Vec<Vec<f64>>,
    /// The cost.
    pub cost: f64,
}

impl Network {
    /// Back-propagation of one row of `class`.
    pub fn propagate(
        &self,
        row: impl Iterator<Item = (usize, f64)>,
        class: u32,
        loss: crate::Loss,
    ) -> Propagated {
        let layers = self.look(row);
        let mut scores = layers.last().map_or_else(Vec::new, |layer| layer.activations.clone());
        let cost = loss.gradients(class, &mut scores);
        let mut gradients = vec![scores];
        for number in (1..self.layers.len()).rev() {
            let (layer, after) = (&self.layers[number], &gradients[gradients.len() - 1]);
            let of_input = |input: usize| {
                let of_unit = |sum: f64, (unit, gradient): (usize, &f64)| {
                    gradient.mul_add(layer.weights[layer.place(input, unit)], sum)
                };
                let handed_back = after.iter().enumerate().fold(0.0, of_unit);
                handed_back * self.activation.derivative(layers[number - 1].activations[input])
            };
            gradients.push((0..layer.n_inputs).map(of_input).collect());
        }
        gradients.reverse();
        Propagated { layers, gradients, cost }
    }
}

/// What the units of a layer do with one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfolded {
    /// Their sums.
    pub sums: Vec<f64>,
    /// What they make of them.
    pub activations: Vec<f64>,
}

impl Other for Network {
    fn width(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.n_inputs)
    }

    fn scores(&self, row: &mut dyn Iterator<Item = (usize, f64)>, scores: &mut [f64]) {
        if let Some(last) = self.look(row).last() {
            scores.copy_from_slice(&last.activations);
        }
    }
}

/// Rows on their way into a network, with their zeros or without, whichever is quicker.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stored {
    pub(crate) width: usize,
    pub(crate) sparse: bool,
    pub(crate) n_rows: usize,
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

/// Rows with more entries than this share of their features are stored with their zeros.
const DENSE_FROM: f64 = 0.4;
/// How many rows show how dense all are.
const ASKED: usize = 8;

impl Stored {
    /// Empties it for rows of this width that look like the visited ones.
    pub(crate) fn begin<E: Examples>(&mut self, examples: E, visits: Visits<'_>, width: usize) {
        let n_asked = visits.len().min(ASKED);
        let mut n_entries = 0;
        for place in 0..n_asked {
            examples.row(visits.row(place)).pieces(|indices, _| n_entries += indices.len());
        }
        self.clear();
        self.width = width;
        self.sparse = (n_entries as f64) < DENSE_FROM * (n_asked * width) as f64;
    }

    pub(crate) fn clear(&mut self) {
        self.n_rows = 0;
        self.offsets.clear();
        self.indices.clear();
        self.values.clear();
    }

    /// Takes a row in; features beyond the width are left out.
    pub(crate) fn push<R: Row>(&mut self, row: R) {
        self.n_rows += 1;
        let width = self.width;
        let Self { offsets, indices, values, .. } = self;
        if self.sparse {
            if offsets.is_empty() {
                offsets.push(0);
            }
            row.pieces(|features, numbers| {
                let n_known = features.partition_point(|feature| (*feature as usize) < width);
                indices.extend_from_slice(&features[..n_known]);
                values.extend_from_slice(&numbers[..n_known]);
            });
            offsets.push(indices.len());
        } else {
            let from = values.len();
            values.resize(from + width, 0.0);
            let values = &mut values[from..];
            let known = row.entries().take_while(|(feature, _)| *feature < width);
            known.for_each(|(feature, value)| values[feature] = value);
        }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        if self.sparse {
            Rows::Sparse { offsets: &self.offsets, indices: &self.indices, values: &self.values }
        } else {
            Rows::Dense { values: &self.values, stride: self.width }
        }
    }

    /// The rows from number `from` on.
    pub(crate) fn rows_from(&self, from: usize) -> Rows<'_> {
        match self.rows() {
            Rows::Sparse { offsets, indices, values } => {
                Rows::Sparse { offsets: &offsets[from..], indices, values }
            }
            Rows::Dense { values, stride } => Rows::Dense { values: &values[from * stride..], stride },
        }
    }

    /// Makes room for more features.
    pub(crate) fn widen(&mut self, width: usize) {
        if !self.sparse && self.n_rows > 0 && width > self.width {
            let rows: Vec<Vec<f64>> = self.values.chunks(self.width.max(1)).map(<[f64]>::to_vec).collect();
            self.values.clear();
            for number in 0..self.n_rows {
                self.values.extend(rows.get(number).into_iter().flatten());
                self.values.resize((number + 1) * width, 0.0);
            }
        }
        self.width = width.max(self.width);
    }
}
