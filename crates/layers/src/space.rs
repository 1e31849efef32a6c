//! The space of networks, which the core's training loop drives as any other: rows are scored batch by batch, and the
//! weights move once at the end of each.
//!
//! The loop says which rows come next, asks for their scores, counts mistakes, and says which of them the rule acts on.
//! What the space adds is back-propagation. A batch is full when it has its number of rows, wherever the blocks end that
//! the loop lends them in; the last one of an epoch may be shorter. So rows in memory and rows on disk make the same
//! batches, and the same bits.

use crate::activation::Activation;
use crate::loss::Loss;
use crate::network::{Network, Stored, widened};
use crate::optimiser::{LOWEST_RATE, Optimiser, Pace, RATE_DIVISOR};
use crate::products::{Backward, Forward, Moved, Rows, Strips, Transposed, padded, transpose};
use crate::wide::STRIP;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_core::space::{Move, Outcome, Space};
use rosenblatt_core::state::{Resumable, State, StateError, refuse};
use rosenblatt_core::{Examples, Hypothesis, Readout, Row, Visits, elementary, threads};
use std::sync::Arc;

/// What a network is to be, and how it is to learn.
#[derive(Debug, Clone)]
pub struct Design {
    /// Units of every hidden layer.
    pub hidden: Vec<usize>,
    /// What hidden units make of their sums.
    pub activation: Activation,
    /// What the scores cost.
    pub loss: Loss,
    /// How weights move.
    pub pace: Pace,
    /// Rows of a batch; 0 is all of an epoch.
    pub batch: usize,
    /// Learning has converged when the loss of an epoch was not lower by this than that of the best before,
    /// this many epochs in a row. `None` goes on.
    pub patience: Option<(f64, u64)>,
    /// How much each class counts; empty for all alike.
    pub class_weights: Vec<f64>,
    /// Decides the weights to begin with.
    pub seed: u64,
    /// Threads; 0 is one per core. Changes nothing but the time it takes.
    pub threads: usize,
}

/// Networks that learn.
#[derive(Debug, Clone)]
pub struct NetworkSpace {
    design: Design,
    network: Network,
    /// How wide the weights of the first layer are drawn; not known before its inputs are.
    spread: Option<f64>,
    /// The moments of every weight and every bias, as the optimiser keeps them, layer by layer.
    moments: Vec<[Vec<f64>; 2]>,
    bias_moments: Vec<[Vec<f64>; 2]>,
    /// Of `adam`: its betas to the power of the number of steps.
    beta_powers: [f64; 2],
    steps: u64,
    batch: Batch,
    /// The gradients in the sums of all units, layer by layer.
    gradients: Vec<Vec<f64>>,
    room: Vec<f64>,
    transposed: Transposed,
    progress: Progress,
}

/// The rows since the last step.
#[derive(Debug, Clone, Default)]
struct Batch {
    rows: Stored,
    classes: Vec<u32>,
    weights: Vec<f64>,
    /// Which rows the rule acted on.
    acting: Vec<bool>,
    /// Where the block begins that was prepared last.
    block: usize,
    /// The activations of all units for all rows, layer by layer.
    activations: Vec<Vec<f64>>,
}

/// How the loss has gone.
#[derive(Debug, Clone, PartialEq)]
struct Progress {
    /// The summed cost of this epoch's rows, and their weight.
    cost: f64,
    weight: f64,
    /// The mean loss of every epoch.
    losses: Vec<f64>,
    /// Rows seen in all epochs.
    n_seen: u64,
    /// What the rate is multiplied by.
    rate_decay: f64,
    /// How many epochs were over when the rate was lowered last for lack of progress.
    lowered: u64,
}

impl Default for Progress {
    fn default() -> Self {
        Self { cost: 0.0, weight: 0.0, losses: Vec::new(), n_seen: 0, rate_decay: 1.0, lowered: 0 }
    }
}

impl Progress {
    /// How many of the last epochs were not better by `tolerance` than the best before them, since the rate was lowered.
    fn without_progress(&self, tolerance: f64) -> u64 {
        let (mut best, mut without_progress) = (f64::INFINITY, 0);
        for (epoch, loss) in self.losses.iter().enumerate() {
            if epoch as u64 == self.lowered {
                without_progress = 0;
            }
            without_progress = if *loss > best - tolerance { without_progress + 1 } else { 0 };
            best = best.min(*loss);
        }
        without_progress
    }
}

impl NetworkSpace {
    /// A network for rows of `width` features and `n_outputs` scores that has learned nothing yet.
    pub fn new(design: Design, width: usize, n_outputs: usize) -> Self {
        let sizes: Vec<usize> =
            std::iter::once(0).chain(design.hidden.iter().copied()).chain([n_outputs]).collect();
        let mut network = Network::zero(&sizes, design.activation);
        for layer in 1..network.layers.len() {
            let (n_inputs, n_units) = (sizes[layer], sizes[layer + 1]);
            network.draw(layer, 0, design.activation.spread(n_inputs, n_units), design.seed);
        }
        let mut space = Self::around(network, design);
        space.widen(width);
        space
    }

    /// The same from these weights instead of drawn ones.
    pub fn starting_from(network: Network, design: Design) -> Self {
        let spread = Some(0.0);
        Self { spread, ..Self::around(network, design) }
    }

    fn around(network: Network, mut design: Design) -> Self {
        if design.threads == 0 {
            design.threads = threads::available();
        }
        let n_moments = design.pace.n_moments();
        let room = |n: usize| [0, 1].map(|k| if k < n_moments { vec![0.0; n] } else { Vec::new() });
        let moments = network.layers.iter().map(|layer| room(layer.weights.len())).collect();
        let bias_moments = network.layers.iter().map(|layer| room(layer.biases.len())).collect();
        let n_layers = network.layers.len();
        Self {
            network,
            spread: None,
            moments,
            bias_moments,
            beta_powers: [1.0; 2],
            steps: 0,
            batch: Batch { activations: vec![Vec::new(); n_layers], ..Batch::default() },
            gradients: vec![Vec::new(); n_layers],
            room: Vec::new(),
            transposed: Transposed::default(),
            progress: Progress::default(),
            design,
        }
    }

    /// The network as it stands. Rows of a batch that is not full have not moved it yet.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The mean loss of every epoch so far, each row under the hypothesis it met, the price of large weights included.
    pub fn losses(&self) -> &[f64] {
        &self.progress.losses
    }

    /// How many rows the batch lacks.
    fn lacking(&self) -> usize {
        match self.design.batch {
            0 => usize::MAX,
            size => size.saturating_sub(self.batch.classes.len()).max(1),
        }
    }

    /// Back-propagation: the one move that a batch makes, for whatever rows it has.
    fn step(&mut self) {
        let n_rows = self.batch.classes.len();
        if n_rows == 0 {
            return;
        }
        self.progress.n_seen += n_rows as u64;
        let weight: f64 = self.batch.weights.iter().sum();
        if weight > 0.0 {
            self.output_gradients(weight);
            self.hand_back(n_rows);
            self.move_weights(n_rows, weight);
        }
        let Batch { rows, classes, weights, acting, block, .. } = &mut self.batch;
        rows.clear();
        classes.clear();
        weights.clear();
        acting.clear();
        *block = 0;
    }

    /// The gradients of the loss in all scores, and the loss itself.
    fn output_gradients(&mut self, batch_weight: f64) {
        let n_outputs = self.network.n_outputs();
        let width = padded(n_outputs);
        let (Some(activations), Some(gradients)) = (self.batch.activations.last(), self.gradients.last_mut())
        else {
            return;
        };
        gradients.clear();
        gradients.extend_from_slice(&activations[..self.batch.classes.len() * width]);
        let mut cost = 0.0;
        for (row, gradients) in gradients.chunks_exact_mut(width).enumerate() {
            let gradients = &mut gradients[..n_outputs];
            let weight = self.batch.weights[row];
            if self.batch.acting[row] && weight > 0.0 {
                cost += weight * self.design.loss.gradients(self.batch.classes[row], gradients);
                if weight != 1.0 {
                    for gradient in gradients {
                        *gradient *= weight;
                    }
                }
            } else {
                gradients.fill(0.0);
            }
        }
        let decay = self.design.pace.decay;
        if decay > 0.0 {
            // In lanes, so that the compiler may take them side by side.
            let mut lanes = [0.0; STRIP];
            for units in self.network.layers.iter().flat_map(|layer| layer.weights.as_chunks::<STRIP>().0) {
                lanes.iter_mut().zip(units).for_each(|(lane, weight)| *lane += weight * weight);
            }
            cost += 0.5 * decay * lanes.iter().sum::<f64>();
        }
        self.progress.cost += cost;
        self.progress.weight += batch_weight;
    }

    /// The gradients in the sums of all hidden units, from the last layer to the first.
    fn hand_back(&mut self, n_rows: usize) {
        let threads = self.design.threads;
        for number in (1..self.network.layers.len()).rev() {
            let layer = &self.network.layers[number];
            transpose(layer.strips(), layer.n_units, &mut self.room);
            let (before, after) = self.gradients.split_at_mut(number);
            let (here, activations) = (&mut before[number - 1], &self.batch.activations[number - 1]);
            let width = padded(layer.n_inputs);
            here.clear();
            here.resize(n_rows * width, 0.0);
            let forward = Forward {
                rows: Rows::Dense { values: &after[0], stride: padded(layer.n_units) },
                n_rows,
                strips: Strips { weights: &self.room, n_inputs: layer.n_units, count: width / STRIP },
                biases: None,
                activation: None,
            };
            forward.run(threads, here);
            let activation = self.network.activation;
            for (gradient, activated) in here.iter_mut().zip(activations) {
                *gradient *= activation.derivative(*activated);
            }
        }
    }

    fn move_weights(&mut self, n_rows: usize, weight: f64) {
        let threads = self.design.threads;
        self.steps += 1;
        let stride = self.design.pace.stride(self.steps, self.progress.rate_decay, &mut self.beta_powers);
        let (decay, share) = (self.design.pace.decay, 1.0 / weight);
        let Self { network, moments, bias_moments, batch, gradients, room, transposed, .. } = self;
        for (number, layer) in network.layers.iter_mut().enumerate() {
            let gradients = &gradients[number];
            let width = layer.biases.len();
            let mut sums = vec![0.0; width];
            for row in gradients.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, gradient)| *sum += gradient);
            }
            let [one, other] = &mut bias_moments[number];
            let n_units = layer.n_units;
            stride.make(&mut layer.biases[..n_units], &sums, [one, other], 0.0, share);
            let rows = if number == 0 {
                transposed.fill(batch.rows.rows(), layer.n_inputs);
                batch.rows.rows()
            } else {
                Rows::Dense { values: &batch.activations[number - 1], stride: padded(layer.n_inputs) }
            };
            room.resize(room.len().max(layer.weights.len()), 0.0);
            let [one, other] = &mut moments[number];
            let moved = Moved {
                gradients: &mut room[..layer.weights.len()],
                weights: &mut layer.weights,
                moments: [one, other],
            };
            let n_inputs = layer.n_inputs;
            Backward { rows, transposed, n_rows, n_inputs, gradients, stride, decay, share }
                .run(threads, moved);
        }
    }

    /// Computes the activations of the batch's rows from number `from` on.
    fn pass(&mut self, from: usize) {
        let threads = self.design.threads;
        let n_rows = self.batch.rows.n_rows - from;
        let Batch { rows, activations, .. } = &mut self.batch;
        self.network.pass(rows.rows_from(from), from, n_rows, threads, activations);
    }
}

impl Hypothesis for NetworkSpace {
    fn n_outputs(&self) -> usize {
        self.network.n_outputs()
    }

    fn weights(&self, _output: usize) -> Vec<f64> {
        Vec::new()
    }

    fn bias(&self, output: usize) -> f64 {
        self.network.layers.last().map_or(0.0, |layer| layer.biases[output])
    }

    fn norm2(&self, output: usize) -> f64 {
        let of_layer = |layer: &crate::network::Layer| -> f64 {
            (0..layer.n_inputs).map(|input| layer.weights[layer.place(input, output)].powi(2)).sum()
        };
        self.network.layers.last().map_or(0.0, of_layer)
    }

    fn moves(&self, _output: usize) -> u64 {
        self.steps
    }
}

impl Space for NetworkSpace {
    type Memory = ();

    fn block<E: Examples>(&self, _examples: E) -> usize {
        self.lacking()
    }

    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        let batch = &mut self.batch;
        let from = batch.classes.len();
        if from == 0 {
            batch.rows.begin(examples, visits, self.network.layers[0].n_inputs);
        }
        batch.block = from;
        for place in 0..visits.len() {
            let row = visits.row(place);
            let class = examples.class(row);
            batch.rows.push(examples.row(row));
            batch.classes.push(class);
            let of_class = self.design.class_weights.get(class as usize).copied().unwrap_or(1.0);
            batch.weights.push(examples.weight(row) * of_class);
            batch.acting.push(false);
        }
        self.pass(from);
    }

    fn scores<R: Row>(&self, place: usize, _row: R, scores: &mut [f64]) {
        let width = padded(scores.len());
        if let Some(activations) = self.batch.activations.last() {
            scores.copy_from_slice(&activations[(self.batch.block + place) * width..][..scores.len()]);
        }
    }

    fn spread<R: Row>(&self, _place: usize, _output: usize, row: R) -> f64 {
        row.norm2()
    }

    /// Biases and hidden units move along rows of zeros, too.
    fn is_still<R: Row>(&self, _row: R) -> bool {
        false
    }

    fn shift<R: Row>(&mut self, place: usize, _row: R, _step: Move, _memory: &mut ()) {
        let place = self.batch.block + place;
        self.batch.acting[place] = true;
    }

    fn settle(&mut self, _round: u64, _memory: &mut ()) {
        if self.design.batch > 0 && self.batch.classes.len() >= self.design.batch {
            self.step();
        }
    }

    fn end_epoch(&mut self) -> bool {
        self.step();
        let Progress { cost, weight, losses, n_seen, rate_decay, .. } = &mut self.progress;
        losses.push(if *weight > 0.0 { *cost / *weight } else { 0.0 });
        (*cost, *weight) = (0.0, 0.0);
        let pace = &self.design.pace;
        let falls = pace.optimiser == Optimiser::Sgd;
        if falls && pace.power > 0.0 {
            // Our own, as every system's power function has bits of its own.
            *rate_decay = elementary::exp(-pace.power * elementary::ln(*n_seen as f64 + 1.0));
        }
        let Some((tolerance, patience)) = self.design.patience else { return false };
        let is_stuck = self.progress.without_progress(tolerance) > patience;
        if is_stuck
            && falls
            && pace.adaptive
            && pace.rate.rate(self.steps.max(1)) * self.progress.rate_decay > LOWEST_RATE
        {
            self.progress.rate_decay /= RATE_DIVISOR;
            self.progress.lowered = self.progress.losses.len() as u64;
            return false;
        }
        is_stuck
    }

    fn loss(&self) -> Option<f64> {
        self.progress.losses.last().copied()
    }

    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        let known = self.network.layers[0].n_inputs;
        if width <= known {
            return;
        }
        let Design { activation, seed, .. } = self.design;
        let n_units = self.network.layers[0].n_units;
        let spread = *self.spread.get_or_insert_with(|| activation.spread(width, n_units));
        self.network.widen(width);
        self.network.draw(0, known, spread, seed);
        for moment in &mut self.moments[0] {
            if known > 0 {
                *moment = widened(moment, known, width);
            }
        }
        let n_moments = self.design.pace.n_moments();
        for moment in self.moments[0].iter_mut().take(n_moments) {
            moment.resize(self.network.layers[0].weights.len(), 0.0);
        }
        self.batch.rows.widen(width);
    }
}

impl Resumable for NetworkSpace {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        let Progress { cost, weight, losses, n_seen, rate_decay, lowered } = &self.progress;
        let Stored { width, sparse, n_rows, offsets, indices, values } = &self.batch.rows;
        let n_inputs = self.network.layers[0].n_inputs;
        let [n_inputs, n_rows, width] = [n_inputs, *n_rows, *width].map(|count| count as u64);
        let counts = [n_inputs, self.steps, n_rows, width, u64::from(*sparse), *n_seen, *lowered];
        state.u64s("counts", counts.to_vec());
        state.f64s(
            "numbers",
            vec![
                self.spread.unwrap_or(-1.0),
                self.beta_powers[0],
                self.beta_powers[1],
                *cost,
                *weight,
                *rate_decay,
            ],
        );
        state.f64s("losses", &losses[..]);
        for (number, layer) in self.network.layers.iter().enumerate() {
            state.push(format!("weights-{number}"), f64s(&layer.weights));
            state.push(format!("biases-{number}"), f64s(&layer.biases));
            for (kind, moments) in [("memory", &self.moments), ("bias-memory", &self.bias_moments)] {
                for (place, moment) in moments[number].iter().enumerate() {
                    state.push(format!("{kind}-{number}-{place}"), f64s(moment));
                }
            }
        }
        state.u64s("row-offsets", offsets.iter().map(|offset| *offset as u64).collect::<Vec<_>>());
        state.u32s("row-indices", &indices[..]);
        state.f64s("row-values", &values[..]);
        state.u32s("row-classes", &self.batch.classes[..]);
        state.f64s("row-weights", &self.batch.weights[..]);
        state.u32s(
            "row-acting",
            self.batch.acting.iter().map(|acting| u32::from(*acting)).collect::<Vec<_>>(),
        );
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        let [n_inputs, steps, n_rows, width, sparse, n_seen, lowered] = state.take_counters("counts")?;
        let numbers = state.take_n_f64s("numbers", 6)?;
        let losses = state.take_f64s("losses")?;
        // No more inputs than there are weights for: the list of the first layer is as long as it is.
        let first = self.network.layers[0].n_units;
        let mut weights = Vec::with_capacity(self.network.layers.len());
        for number in 0..self.network.layers.len() {
            let found = state.take_f64s(&format!("weights-{number}"))?;
            let layer = &self.network.layers[number];
            let inputs = if number == 0 { n_inputs } else { layer.n_inputs as u64 };
            let expected = inputs.checked_mul(padded(layer.n_units) as u64);
            if expected != Some(found.len() as u64) {
                return Err(refuse("the weights do not fill the layers"));
            }
            let n_weights = found.len();
            weights.push(found);
            let biases = state.take_n_f64s(&format!("biases-{number}"), layer.biases.len())?;
            self.network.layers[number].biases = biases;
            let n_biases = self.network.layers[number].biases.len();
            let n_moments = self.design.pace.n_moments();
            for (kind, n, moments) in
                [("memory", n_weights, &mut self.moments), ("bias-memory", n_biases, &mut self.bias_moments)]
            {
                for (place, moment) in moments[number].iter_mut().enumerate() {
                    let n = if place < n_moments { n } else { 0 };
                    *moment = state.take_n_f64s(&format!("{kind}-{number}-{place}"), n)?;
                }
            }
        }
        debug_assert!(first > 0, "layers have units");
        for (layer, weights) in self.network.layers.iter_mut().zip(weights) {
            layer.weights = weights;
        }
        self.network.layers[0].n_inputs = n_inputs as usize;
        self.spread = (numbers[0] >= 0.0).then_some(numbers[0]);
        self.beta_powers = [numbers[1], numbers[2]];
        self.steps = steps;
        self.progress = Progress {
            cost: numbers[3],
            weight: numbers[4],
            losses,
            n_seen,
            rate_decay: numbers[5],
            lowered,
        };
        self.restore_batch(n_rows as usize, width as usize, sparse == 1, state)
    }
}

impl NetworkSpace {
    fn restore_batch(
        &mut self,
        n_rows: usize,
        width: usize,
        sparse: bool,
        state: &mut State<'_>,
    ) -> Result<(), StateError> {
        let offsets: Vec<usize> =
            state.take_u64s("row-offsets")?.into_iter().map(|offset| offset as usize).collect();
        let indices = state.take_u32s("row-indices")?;
        let values = state.take_f64s("row-values")?;
        let classes = state.take_u32s("row-classes")?;
        let weights = state.take_f64s("row-weights")?;
        let acting: Vec<bool> =
            state.take_u32s("row-acting")?.into_iter().map(|acting| acting == 1).collect();
        let n_classes = self.network.n_outputs().max(2);
        let is_whole = if sparse && n_rows > 0 {
            offsets.len() == n_rows + 1
                && offsets[0] == 0
                && offsets.is_sorted()
                && offsets[n_rows] == indices.len()
                && indices.len() == values.len()
                && indices.iter().all(|index| (*index as usize) < width)
        } else {
            n_rows.checked_mul(width) == Some(values.len()) || n_rows == 0 && values.is_empty()
        };
        let fits = classes.len() == n_rows
            && weights.len() == n_rows
            && acting.len() == n_rows
            && classes.iter().all(|class| (*class as usize) < n_classes)
            && (n_rows == 0 || width == self.network.layers[0].n_inputs)
            && (self.design.batch == 0 || n_rows < self.design.batch);
        if !is_whole || !fits {
            return Err(refuse("the rows of the batch that was begun do not fit together"));
        }
        self.batch.rows = Stored { width, sparse, n_rows, offsets, indices, values };
        (self.batch.classes, self.batch.weights, self.batch.acting) = (classes, weights, acting);
        if n_rows > 0 {
            self.pass(0);
        }
        Ok(())
    }
}

fn f64s(values: &[f64]) -> rosenblatt_core::state::List<'_> {
    rosenblatt_core::state::List::F64(values.into())
}

impl Outcome for NetworkSpace {
    fn read(&self, _memory: &(), readout: Readout, _ballot: Ballot, _rounds: u64) -> Option<Kept> {
        (readout == Readout::Last).then(|| Kept::Other(Arc::new(self.network.clone())))
    }

    fn is_finite(&self) -> bool {
        self.network.is_finite()
    }
}
