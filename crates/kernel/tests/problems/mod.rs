//! Random problems for kernel spaces, the same for every device that computes them.
#![allow(dead_code, reason = "every program of tests uses some of it")]

use rosenblatt_core::space::{Outcome, Shape};
use rosenblatt_core::{
    Algorithm, Bias, Convention, Decision, DenseExamples, Direct, EachRound, Examples, Multiclass, OneVsOne,
    OneVsRest, Order, Params, Plan, Random, Round, Rule, Run, Share, SparseExamples, rules,
};
use rosenblatt_kernel::{Choice, FromRows, Kernel, Outline};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What happened in each round: row, output, the bits of margin and length, whether it was a mistake, whether it moved.
pub(crate) type Story = Vec<(usize, usize, u64, u64, bool, bool)>;

pub(crate) struct Data {
    pub(crate) width: usize,
    pub(crate) values: Vec<f64>,
    pub(crate) single: Vec<f32>,
    pub(crate) classes: Vec<u32>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) stored: Vec<f64>,
}

impl Data {
    pub(crate) fn random(random: &mut Random, n_rows: usize, width: usize, n_classes: u64) -> Self {
        let share = random.below(4);
        // Exact in single precision, so that both kinds of storage hold the same numbers.
        let mut value = || {
            let value = f64::from((random.unit() * 2.0 - 0.7) as f32);
            if random.below(4) < share { 0.0 } else { value.max(0.0) }
        };
        let values: Vec<f64> = (0..width * n_rows).map(|_| value()).collect();
        let classes = (0..n_rows).map(|_| random.below(n_classes) as u32).collect();
        let (offsets, indices, stored, single) = Default::default();
        let mut data = Self { width, values, single, classes, offsets, indices, stored };
        data.pack_again();
        data
    }

    /// Makes the other forms of the rows from the dense one.
    pub(crate) fn pack_again(&mut self) {
        (self.offsets, self.indices, self.stored) = (vec![0], Vec::new(), Vec::new());
        for row in self.values.chunks(self.width) {
            for (feature, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                self.indices.push(feature as u32);
                self.stored.push(*value);
            }
            self.offsets.push(self.indices.len());
        }
        self.single = self.values.iter().map(|value| *value as f32).collect();
    }

    pub(crate) fn dense(&self) -> DenseExamples<'_, f64> {
        DenseExamples::new(&self.values, self.width, &self.classes)
    }

    pub(crate) fn single(&self) -> DenseExamples<'_, f32> {
        DenseExamples::new(&self.single, self.width, &self.classes)
    }

    pub(crate) fn sparse(&self) -> SparseExamples<'_, f64> {
        SparseExamples::new(&self.offsets, &self.indices, &self.stored, self.width, &self.classes)
    }
}

pub(crate) fn learn<S: Outcome, D: Decision, E: Examples>(
    rule: Box<dyn Rule + Send + Sync>,
    space: S,
    decision: D,
    convention: Convention,
    examples: E,
    order: &Order,
) -> (Story, Run<Box<dyn Rule + Send + Sync>, S, D>)
where
    S::Memory: Default,
{
    let mut run = Run::from_parts(rule, space, S::Memory::default(), decision, convention, Vec::new(), 0);
    let mut story = Vec::new();
    let mut observer = EachRound(|round: &Round<'_>| {
        let (margin, norm2) = (round.margin.to_bits(), round.norm2.to_bits());
        story.push((round.row, round.output, margin, norm2, round.mistaken, round.step.is_some()));
        ControlFlow::Continue(())
    });
    let plan = Plan { rows: None, order, seed: 3, epochs: 3, max_updates: None, stop_when_clean: true };
    run.fit(examples, &plan, &mut observer);
    (story, run)
}

pub(crate) fn kernel(random: &mut Random, data: &Data) -> Arc<dyn Kernel> {
    let all: Vec<u32> = (0..data.classes.len() as u32).collect();
    let outline = Outline::of(data.dense(), &all);
    let named =
        ["linear", "polynomial", "rbf", "sigmoid", "laplacian", "intersection", "cosine", "polynomial"];
    match random.below(10) {
        8 => Arc::new(FromRows(|one: &[f64], other: &[f64]| {
            one.iter().zip(other).filter(|(x, y)| (**x > 0.3) == (**y > 0.3)).count() as f64
        })),
        9 if data.classes.len() == data.width => Choice::named("precomputed").kernel(&outline).unwrap(),
        place => Choice::named(named[place as usize % 8]).kernel(&outline).unwrap(),
    }
}

pub(crate) fn rule(random: &mut Random) -> Box<dyn Rule + Send + Sync> {
    fn boxed<A: Algorithm>() -> Box<dyn Rule + Send + Sync> {
        Box::new(A::new(&Params::new()).unwrap())
    }
    match random.below(6) {
        0 => boxed::<rules::PaOne>(),
        1 => boxed::<rules::DynamicMargin>(),
        2 => boxed::<rules::Pegasos>(),
        3 => boxed::<rules::AggressiveRomma>(),
        _ => boxed::<rules::Perceptron>(),
    }
}

/// A random problem in all its variety.
pub(crate) struct Problem {
    pub(crate) data: Data,
    pub(crate) kernel: Arc<dyn Kernel>,
    pub(crate) decision: Multiclass,
    pub(crate) order: Order,
    pub(crate) convention: Convention,
    pub(crate) shape: Shape,
    rule: Random,
}

impl Problem {
    /// The next problem.
    pub(crate) fn new(random: &mut Random) -> Self {
        let width = 1 + random.below(30) as usize;
        let n_rows = if random.below(8) == 0 { width.max(4) } else { 4 + random.below(70) as usize };
        let n_classes = 2 + random.below(3);
        let data = Data::random(random, n_rows, width, n_classes);
        let kernel = kernel(random, &data);
        let n_classes = n_classes as usize;
        let decision = match random.below(3) {
            0 => Multiclass::OneVsRest(OneVsRest::new(n_classes)),
            1 => Multiclass::OneVsOne(OneVsOne::new(n_classes)),
            _ => Multiclass::Direct(Direct::new(n_classes, Share::Uniform)),
        };
        let order = [Order::Given, Order::ShuffleOnce, Order::ShuffleEpoch, Order::Draws]
            [random.below(4) as usize]
            .clone();
        let bias = [Bias::None, Bias::None, Bias::Learned, Bias::Augmented(0.5)][random.below(4) as usize];
        let convention = Convention { bias, ..Convention::default() };
        let shape = Shape { width, n_outputs: decision.n_outputs(), bias };
        let rule = random.clone();
        // As many numbers as the choice of a rule takes.
        random.below(6);
        Self { data, kernel, decision, order, convention, shape, rule }
    }

    /// A problem with this kernel, for rows of this many classes.
    pub(crate) fn of<E: Examples>(name: &str, rows: E, n_classes: usize) -> Self {
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        let kernel = Choice::named(name).kernel(&Outline::of(rows, &all)).unwrap();
        let shape = Shape { width: rows.width(), n_outputs: n_classes, bias: Bias::None };
        Self {
            data: Data::random(&mut Random::new(0), 1, 1, 2),
            kernel,
            decision: Multiclass::OneVsRest(OneVsRest::new(n_classes)),
            order: Order::ShuffleEpoch,
            convention: Convention { bias: Bias::None, ..Convention::default() },
            shape,
            rule: Random::new(6),
        }
    }

    /// Learns the problem from these rows in this space.
    pub(crate) fn learn<S: Outcome, E: Examples>(
        &self,
        space: S,
        examples: E,
    ) -> (Story, Run<Box<dyn Rule + Send + Sync>, S, Multiclass>)
    where
        S::Memory: Default,
    {
        let rule = rule(&mut self.rule.clone());
        learn(rule, space, self.decision.clone(), self.convention, examples, &self.order)
    }
}
