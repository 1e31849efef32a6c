//! Proof that [`Space::prepare`], [`Space::scores`], [`Space::shift`] and [`Space::settle`] are enough to
//! score whole blocks ahead, exactly.
//!
//! Two kernel spaces live here and nowhere else. The plain one scores row by row. The other scores a block
//! at once when it is prepared, and after a move corrects the scores of its block by the products of its
//! rows. Same additions in the same order: the same bits, whatever the size of the block.

use rosenblatt_core::space::{Move, Space};
use rosenblatt_core::{
    Algorithm, Bias, Binary, Convention, Decision, DenseExamples, EachRound, Examples, Hypothesis,
    Multiclass, OneVsOne, OneVsRest, Order, Params, Random, Round, Row, Run, Visits, rules,
};
use std::ops::ControlFlow;

/// Support rows with a weight per scorer, under the kernel `(1 + x·y)²`.
#[derive(Debug, Clone)]
struct Kernel {
    n_scorers: usize,
    support: Vec<(usize, f64, Vec<f64>)>,
    norms: Vec<f64>,
    moves: Vec<u64>,
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    let dot: f64 = one.iter().zip(other).map(|(one, other)| one * other).sum();
    (1.0 + dot) * (1.0 + dot)
}

fn entries<R: Row>(row: R) -> Vec<f64> {
    let mut values = vec![0.0; row.width()];
    for (feature, value) in row.entries() {
        values[feature] = value;
    }
    values
}

impl Kernel {
    fn new(n_scorers: usize) -> Self {
        Self { n_scorers, support: Vec::new(), norms: vec![0.0; n_scorers], moves: vec![0; n_scorers] }
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores.fill(0.0);
        for (scorer, amount, support) in &self.support {
            scores[*scorer] += amount * product(support, row);
        }
    }

    fn push(&mut self, row: Vec<f64>, step: Move) {
        let Move { scorer, amount, score, .. } = step;
        self.norms[scorer] += 2.0 * amount * score + amount * amount * product(&row, &row);
        self.moves[scorer] += 1;
        self.support.push((scorer, amount, row));
    }
}

/// Scores a row when it is asked to.
#[derive(Debug, Clone)]
struct OneByOne(Kernel);

/// Scores blocks of rows ahead.
#[derive(Debug, Clone)]
struct Ahead {
    kernel: Kernel,
    block: usize,
    rows: Vec<Vec<f64>>,
    /// The scores of the block's rows under the hypothesis as it stands.
    scores: Vec<Vec<f64>>,
    /// The products of the block's rows with each other.
    gram: Vec<Vec<f64>>,
    n_prepared: u64,
    n_settled: u64,
}

impl Ahead {
    fn new(n_scorers: usize, block: usize) -> Self {
        let (rows, scores, gram) = (Vec::new(), Vec::new(), Vec::new());
        Self { kernel: Kernel::new(n_scorers), block, rows, scores, gram, n_prepared: 0, n_settled: 0 }
    }
}

macro_rules! look_into {
    ($space:ty, $kernel:tt) => {
        impl Hypothesis for $space {
            fn n_scorers(&self) -> usize {
                self.$kernel.n_scorers
            }

            fn weights(&self, _scorer: usize) -> Vec<f64> {
                Vec::new()
            }

            fn bias(&self, _scorer: usize) -> f64 {
                0.0
            }

            fn norm2(&self, scorer: usize) -> f64 {
                self.$kernel.norms[scorer]
            }

            fn moves(&self, scorer: usize) -> u64 {
                self.$kernel.moves[scorer]
            }
        }
    };
}

look_into!(OneByOne, 0);
look_into!(Ahead, kernel);

impl Space for OneByOne {
    type Memory = ();

    fn scores<R: Row>(&self, _place: usize, row: R, scores: &mut [f64]) {
        self.0.score(&entries(row), scores);
    }

    fn spread<R: Row>(&self, _scorer: usize, row: R) -> f64 {
        product(&entries(row), &entries(row))
    }

    fn shift<R: Row>(&mut self, _place: usize, row: R, step: Move, _memory: &mut ()) {
        self.0.push(entries(row), step);
    }

    fn track_norm(&mut self) {}

    fn widen(&mut self, _width: usize) {}
}

impl Space for Ahead {
    type Memory = ();

    fn block(&self) -> usize {
        self.block
    }

    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        assert!(visits.len() <= self.block);
        self.rows = (0..visits.len()).map(|place| entries(examples.row(visits.row(place)))).collect();
        let score = |row: &Vec<f64>| {
            let mut scores = vec![0.0; self.kernel.n_scorers];
            self.kernel.score(row, &mut scores);
            scores
        };
        self.scores = self.rows.iter().map(score).collect();
        let products = |one: &Vec<f64>| self.rows.iter().map(|other| product(one, other)).collect();
        self.gram = self.rows.iter().map(products).collect();
        self.n_prepared += 1;
    }

    fn scores<R: Row>(&self, place: usize, _row: R, scores: &mut [f64]) {
        scores.copy_from_slice(&self.scores[place]);
    }

    fn spread<R: Row>(&self, _scorer: usize, row: R) -> f64 {
        product(&entries(row), &entries(row))
    }

    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, _memory: &mut ()) {
        assert_eq!(self.rows[place], entries(row), "the place is that of the row");
        for (scores, product) in self.scores.iter_mut().zip(&self.gram[place]) {
            scores[step.scorer] += step.amount * product;
        }
        self.kernel.push(entries(row), step);
    }

    fn settle(&mut self, _round: u64, _memory: &mut ()) {
        self.n_settled += 1;
    }

    fn track_norm(&mut self) {}

    fn widen(&mut self, _width: usize) {}
}

const CONVENTION: Convention = Convention {
    zero: rosenblatt_core::Zero::Wrong,
    mistake: rosenblatt_core::Mistake::Le0,
    bias: Bias::None,
};

/// What happened in each round: row, scorer, the bits of the margin, whether it moved.
type Story = Vec<(usize, usize, u64, bool)>;

fn story<R: Algorithm, S: Space<Memory = ()> + Clone>(
    space: S,
    decision: Multiclass,
    examples: impl Examples,
    passes: &[Vec<u32>],
) -> (Story, S) {
    let rule = R::new(&Params::new()).unwrap();
    let mut run = Run::from_parts(rule, space, (), decision, CONVENTION, Vec::new(), 0);
    let mut story = Vec::new();
    let mut observer = EachRound(|round: &Round<'_>| {
        story.push((round.row, round.scorer, round.margin.to_bits(), round.step.is_some()));
        ControlFlow::Continue(())
    });
    for visits in passes {
        assert!(run.pass(examples, Visits::Listed(visits), &mut observer).is_continue());
    }
    (story, run.space().clone())
}

fn same_for_all_blocks<R: Algorithm>() {
    for seed in 0..40 {
        let mut random = Random::for_purpose(seed, R::INFO.name);
        let (width, n_rows) = (1 + random.below(5) as usize, 5 + random.below(40) as usize);
        let values: Vec<f64> = (0..width * n_rows).map(|_| 2.0 * random.unit() - 1.0).collect();
        let classes: Vec<u32> = (0..n_rows).map(|_| random.below(3) as u32).collect();
        let examples = DenseExamples::new(&values, width, &classes);
        let rows: Vec<u32> = (0..n_rows as u32).collect();
        // Draws repeat rows, also within a block.
        let passes: Vec<Vec<u32>> = (1..4).map(|epoch| Order::Draws.arrange(&rows, epoch, seed)).collect();
        for decision in [Multiclass::OneVsRest(OneVsRest::new(3)), Multiclass::OneVsOne(OneVsOne::new(3))] {
            let n_scorers = decision.n_scorers();
            let plain = OneByOne(Kernel::new(n_scorers));
            let (expected, plain) = story::<R, _>(plain, decision.clone(), examples, &passes);
            assert!(expected.iter().any(|(.., moved)| *moved), "something is learned");
            for block in [1, 2, 7, 16, 1000] {
                let ahead = Ahead::new(n_scorers, block);
                let (found, ahead) = story::<R, _>(ahead, decision.clone(), examples, &passes);
                assert_eq!(found, expected, "{}, blocks of {block}, seed {seed}", R::INFO.name);
                assert_eq!(ahead.kernel.support.len(), plain.0.support.len());
                assert_eq!(
                    (ahead.n_prepared, ahead.n_settled),
                    (3 * n_rows.div_ceil(block) as u64, ahead.n_prepared)
                );
            }
        }
    }
}

#[test]
fn blocks_scored_ahead_make_the_same_mistakes() {
    same_for_all_blocks::<rules::Perceptron>();
}

#[test]
fn rules_that_ask_for_lengths_and_norms_agree_too() {
    same_for_all_blocks::<rules::PaOne>();
    same_for_all_blocks::<rules::DynamicMargin>();
}

#[test]
fn exclusive_or_is_learned_with_one_update_each() {
    let values = [1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0];
    let examples = DenseExamples::new(&values, 2, &[1, 0, 0, 1]);
    for block in [1, 3, 4] {
        let rule = rules::Perceptron::default();
        let mut run = Run::from_parts(rule, Ahead::new(1, block), (), Binary, CONVENTION, Vec::new(), 0);
        assert!(run.pass(examples, Visits::all(examples), &mut ()).is_continue());
        assert_eq!(run.totals().updates, 4);
        let mut scores = Vec::new();
        let mut observer = EachRound(|round: &Round<'_>| {
            scores.push(round.activation);
            ControlFlow::Continue(())
        });
        assert!(run.pass(examples, Visits::all(examples), &mut observer).is_continue());
        assert_eq!(run.totals().updates, 4, "the second pass is clean");
        assert_eq!(scores, [8.0, -8.0, -8.0, 8.0]);
    }
}
