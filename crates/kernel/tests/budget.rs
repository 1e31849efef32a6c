//! Support sets with a maximum: it is kept, blocks change nothing, and with room enough nothing is lost.

use rosenblatt_core::space::Shape;
use rosenblatt_core::{
    Bias, Binary, Convention, DenseExamples, EachRound, Multiclass, OneVsRest, Order, Plan, Random, Readout,
    Round, Run, Snapshot, rules,
};
use rosenblatt_kernel::kernels::{Polynomial, Rbf};
use rosenblatt_kernel::{BudgetSpace, Expansion, Kernel, KernelSpace, Limits, Removal};
use std::ops::ControlFlow;
use std::sync::Arc;

const REMOVALS: [Removal; 3] = [Removal::Random, Removal::Forgetron, Removal::Projectron];

/// Points of a chessboard of four fields.
fn chessboard(n_rows: usize) -> (Vec<f64>, Vec<u32>) {
    let mut random = Random::new(21);
    let values: Vec<f64> = (0..2 * n_rows).map(|_| random.unit() * 2.0 - 1.0).collect();
    let classes = values.chunks(2).map(|point| u32::from(point[0] * point[1] > 0.0)).collect();
    (values, classes)
}

type Story = Vec<(usize, u64, bool)>;

fn learn(
    space: BudgetSpace,
    values: &[f64],
    classes: &[u32],
    epochs: u64,
) -> (Story, Run<rules::Perceptron, BudgetSpace, Binary>) {
    let convention = Convention { bias: Bias::None, ..Convention::default() };
    let mut run = Run::from_parts(rules::Perceptron::default(), space, (), Binary, convention, Vec::new(), 0);
    let mut story = Vec::new();
    let mut observer = EachRound(|round: &Round<'_>| {
        story.push((round.row, round.margin.to_bits(), round.mistaken));
        ControlFlow::Continue(())
    });
    let order = Order::ShuffleEpoch;
    let plan = Plan { rows: None, order: &order, seed: 1, epochs, max_updates: None, stop_when_clean: true };
    run.fit(DenseExamples::new(values, 2, classes), &plan, &mut observer);
    (story, run)
}

fn space(kernel: &Arc<dyn Kernel>, budget: usize, removal: Removal) -> BudgetSpace {
    let shape = Shape { width: 2, n_outputs: 1, bias: Bias::None };
    BudgetSpace::new(Arc::clone(kernel), shape, budget, removal, 7)
}

#[test]
fn the_budget_is_kept_whatever_the_blocks_and_the_board_is_learned() {
    let (values, classes) = chessboard(600);
    let kernel: Arc<dyn Kernel> = Arc::new(Rbf { gamma: 4.0 });
    for removal in REMOVALS {
        let (expected, whole) = learn(space(&kernel, 40, removal).blocks_of(1), &values, &classes, 3);
        for block in [7, 48, 100] {
            let (found, run) = learn(space(&kernel, 40, removal).blocks_of(block), &values, &classes, 3);
            assert_eq!(found, expected, "{removal}, blocks of {block}");
            assert_eq!(run.read(Readout::Last), whole.read(Readout::Last));
        }
        assert!(whole.space().n_rows() <= 40, "{removal}");
        let late = &expected[expected.len() - 300..];
        let wrong = late.iter().filter(|(.., mistaken)| *mistaken).count();
        assert!(wrong < 75, "{removal} still errs on {wrong} of 300");
        let kept = whole.read(Readout::Last).expect("the last hypothesis is known");
        let expansion = kept.other::<Expansion>().unwrap();
        assert!(expansion.rows().len() <= 40);
        assert!(whole.read(Readout::Voted).is_none());
        // Carried over in the middle, it ends where it would have.
        let (_, mut first) = learn(space(&kernel, 40, removal), &values, &classes, 1);
        let fresh = learn(space(&kernel, 40, removal), &values[..0], &classes[..0], 0).1;
        let mut second = fresh;
        second.restore(first.state()).unwrap();
        let order = Order::ShuffleEpoch;
        let plan =
            Plan { rows: None, order: &order, seed: 1, epochs: 3, max_updates: None, stop_when_clean: true };
        let examples = DenseExamples::new(&values, 2, &classes);
        second.fit(examples, &plan, &mut ());
        first.fit(examples, &plan, &mut ());
        assert_eq!(second.state(), first.state(), "{removal}");
        assert_eq!(second.state(), whole.state(), "{removal}");
    }
}

#[test]
fn with_room_enough_nothing_is_lost() {
    // Whole numbers, whose sums are exact in whatever order.
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..160).map(|_| random.below(5) as f64 - 2.0).collect();
    let classes: Vec<u32> = (0..80).map(|_| random.below(3) as u32).collect();
    let examples = DenseExamples::new(&values, 2, &classes);
    let kernel: Arc<dyn Kernel> = Arc::new(Polynomial { gamma: 1.0, offset: 1.0, degree: 2 });
    let shape = Shape { width: 2, n_outputs: 3, bias: Bias::None };
    let convention = Convention { bias: Bias::None, ..Convention::default() };
    let decision = || Multiclass::OneVsRest(OneVsRest::new(3));
    let order = Order::ShuffleEpoch;
    let plan =
        Plan { rows: None, order: &order, seed: 1, epochs: 3, max_updates: None, stop_when_clean: true };
    let exact = KernelSpace::new(Arc::clone(&kernel), shape, Limits::default());
    let perceptron = rules::Perceptron::default();
    let mut exact = Run::from_parts(perceptron.clone(), exact, (), decision(), convention, Vec::new(), 0);
    exact.fit(examples, &plan, &mut ());
    for removal in [Removal::Random, Removal::Forgetron] {
        let space = BudgetSpace::new(Arc::clone(&kernel), shape, 1000, removal, 7);
        let mut run = Run::from_parts(perceptron.clone(), space, (), decision(), convention, Vec::new(), 0);
        run.fit(examples, &plan, &mut ());
        assert_eq!(run.totals(), exact.totals(), "{removal}");
        assert_eq!(run.space().n_rows(), exact.space().learned().rows().unwrap().len());
        let (one, other) = (run.read(Readout::Last).unwrap(), exact.read(Readout::Last).unwrap());
        for row in values.chunks(2) {
            let (mut ours, mut theirs) = ([0.0; 3], [0.0; 3]);
            one.scores(rosenblatt_core::Dense(row), &mut ours, &mut Vec::new());
            other.scores(rosenblatt_core::Dense(row), &mut theirs, &mut Vec::new());
            assert_eq!(ours, theirs);
        }
    }
    // Projections lose nothing either: the kernel's space has six dimensions, and that many rows span it.
    let space = BudgetSpace::new(kernel, shape, 1000, Removal::Projectron, 7);
    let mut run = Run::from_parts(perceptron, space, (), decision(), convention, Vec::new(), 0);
    run.fit(examples, &plan, &mut ());
    assert!(run.space().n_rows() <= 6, "{} rows span six dimensions", run.space().n_rows());
}
