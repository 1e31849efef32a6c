//! A card gives the bits of the processor: the same mistakes, support rows, logs, scores and errors.
//!
//! These tests need a card, and are left out unless asked for: `cargo xtask test gpu` runs them.

#[path = "../../kernel/tests/problems/mod.rs"]
mod problems;

use problems::Problem;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{Average, Examples, Random, Readout, Snapshot, SparseExamples};
use rosenblatt_gpu::{Gpu, Layout};
use rosenblatt_kernel::{Device, Expansion, KernelSpace, Limits, errors_at};
use std::sync::Arc;

const LAYOUTS: [Layout; 3] = [Layout::Whole, Layout::Doubles, Layout::Sparse];

fn scores_of<E: Examples>(expansion: &Expansion, examples: E) -> Vec<u64> {
    let rows: Vec<u32> = (0..examples.len() as u32).collect();
    let mut scores = Vec::new();
    expansion.scores(examples, &rows, &mut scores);
    scores.iter().map(|score| score.to_bits()).collect()
}

fn expansion(kept: &Kept) -> &Expansion {
    kept.other().unwrap()
}

#[test]
#[ignore = "needs a card"]
fn a_thousand_random_problems_are_learned_to_the_bits_of_the_processor() {
    let gpu = Gpu::new(0).unwrap();
    let n_problems = std::env::var("ROSENBLATT_PROBLEMS").map_or(1000, |n| n.parse().unwrap());
    let (mut n_moves, mut n_here) = (0, 0);
    for seed in 0..n_problems {
        let mut random = Random::for_purpose(seed, "card problems");
        let mut problem = Problem::new(&mut random);
        if random.below(2) == 0 {
            // Whole numbers, and now and then one that is not, late.
            let late = random.below(3) == 0;
            let n = problem.data.values.len();
            for (k, value) in problem.data.values.iter_mut().enumerate() {
                *value =
                    (*value * 160.0).clamp(0.0, 255.0).round() + if late && k + 5 > n { 0.25 } else { 0.0 };
            }
            problem.data.pack_again();
        }
        let layout = LAYOUTS[random.below(3) as usize];
        let device = gpu.clone().laid_out(layout);
        let device = device.in_blocks_of([1, 2, 7, 47, 48, 50, 96, 192][random.below(8) as usize]);
        // Little memory: blocks are cut, and support rows come and go.
        let device = device.with_memory([3000, 60_000, 1 << 28][random.below(3) as usize]);
        let space = || KernelSpace::new(Arc::clone(&problem.kernel), problem.shape, Limits::default());
        let (expected, host) = problem.learn(space(), problem.data.dense());
        let on_card = space().on(Arc::new(device.clone()));
        let (found, run) = match random.below(2) {
            0 => problem.learn(on_card, problem.data.sparse()),
            _ => problem.learn(on_card, problem.data.dense()),
        };
        assert_eq!(run.space().trouble(), None, "seed {seed}");
        assert_eq!(found, expected, "seed {seed}, {layout:?}");
        assert_eq!(run.space().learned().log(), host.space().learned().log(), "seed {seed}");
        assert_eq!(run.space().learned().rows(), host.space().learned().rows(), "seed {seed}");
        n_moves += found.len();
        n_here += usize::from(problem.kernel.ending().is_some());
        let averages = [Average::Post, Average::Pre].map(Readout::Averaged);
        for readout in averages.into_iter().chain([Readout::Last, Readout::Voted]) {
            let (here, there) = (host.read(readout).unwrap(), run.read(readout).unwrap());
            let found = scores_of(expansion(&there), problem.data.sparse());
            assert_eq!(found, scores_of(expansion(&here), problem.data.dense()), "seed {seed}, {readout:?}");
        }
        let moments = [run.totals().rounds / 3, run.totals().rounds];
        let errors = |run: &rosenblatt_core::Run<_, KernelSpace, _>| {
            errors_at(run.space().learned(), problem.data.dense(), &moments)
        };
        if problem.shape.n_outputs >= 2 {
            assert_eq!(errors(&run), errors(&host), "seed {seed}");
        }
    }
    assert!(n_moves > 50 * n_problems as usize && n_here > n_problems as usize / 2);
}

/// Rows of many features, few of which are not zero, as texts have them; and enough of them to fill several tiles.
#[test]
#[ignore = "needs a card"]
fn large_blocks_of_every_layout_give_the_bits_of_the_processor() {
    for (seed, (width, density, whole)) in
        [(20_000, 40, false), (300, 100, true), (300, 100, false), (784, 200, true)].into_iter().enumerate()
    {
        let mut random = Random::new(seed as u64);
        let n_rows = 1500;
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..n_rows {
            let mut features: Vec<u32> = (0..density).map(|_| random.below(width as u64) as u32).collect();
            features.sort_unstable();
            features.dedup();
            values.extend(
                features
                    .iter()
                    .map(|_| if whole { (1 + random.below(255)) as f64 } else { random.unit() + 0.01 }),
            );
            indices.extend(features);
            offsets.push(indices.len());
        }
        let classes: Vec<u32> = (0..n_rows).map(|_| random.below(3) as u32).collect();
        let rows = SparseExamples::new(&offsets, &indices, &values, width, &classes);
        let gpu = Gpu::new(0).unwrap();
        for name in ["polynomial", "rbf", "sigmoid", "laplacian", "intersection", "cosine", "linear"] {
            let problem = Problem::of(name, rows, 3);
            let space = || KernelSpace::new(Arc::clone(&problem.kernel), problem.shape, Limits::default());
            let (expected, host) = problem.learn(space(), rows);
            let (found, run) = problem.learn(space().on(Arc::new(gpu.clone())), rows);
            assert_eq!(run.space().trouble(), None);
            assert_eq!(found, expected, "{name}, {width} features");
            assert_eq!(run.space().learned().log(), host.space().learned().log());
            let last = run.read(Readout::Averaged(Average::Post)).unwrap();
            let here = host.read(Readout::Averaged(Average::Post)).unwrap();
            assert_eq!(scores_of(expansion(&last), rows), scores_of(expansion(&here), rows), "{name}");
        }
    }
}

#[test]
#[ignore = "needs a card"]
fn a_card_that_is_not_there_is_named() {
    let found = rosenblatt_gpu::cards().unwrap();
    assert!(!found.is_empty() && found[0].memory > 1 << 30, "{found:?}");
    assert_eq!(Gpu::new(0).unwrap().name(), found[0].name);
    let message = Gpu::new(found.len()).unwrap_err().to_string();
    assert!(message.starts_with(&format!("there is no card number {}", found.len())), "{message}");
}
