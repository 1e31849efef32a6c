//! Why weights are doubles: what single precision would have lost, measured.
//!
//! The figures asserted here are the ones the choice rests on. Rows may be stored in either precision;
//! only sums that grow with the number of updates care.

use rosenblatt_core::{
    Algorithm, Bias, Binary, Convention, DenseExamples, Order, Params, Plan, Random, Run, Setup, Stopped,
    Visits, rules,
};

/// A rule that steps in every round, whatever happens.
fn every_round() -> rules::FixedMargin {
    rules::FixedMargin::new(&Params::new().with("margin", f64::MAX)).expect("any finite margin is allowed")
}

fn without_bias() -> Setup {
    Setup { convention: Convention { bias: Bias::None, ..Convention::default() }, ..Setup::default() }
}

#[test]
fn single_precision_stops_counting_at_two_to_the_24th() {
    const LIMIT: u64 = 1 << 24;
    const MORE: u64 = 1000;
    let mut narrow = 0.0_f32;
    for _ in 0..LIMIT + MORE {
        narrow += 1.0;
    }
    assert_eq!(narrow, LIMIT as f32, "every further update is lost");

    let mut run = Run::new(every_round(), Binary, without_bias()).unwrap();
    let values = vec![1.0_f32; 1 << 12];
    let classes = vec![1; 1 << 12];
    let examples = DenseExamples::new(&values, 1, &classes);
    let order = Order::Given;
    let plan = Plan {
        rows: None,
        order: &order,
        seed: 0,
        epochs: u64::MAX,
        max_updates: Some(LIMIT + MORE),
        stop_when_clean: false,
    };
    assert_eq!(run.fit(examples, &plan, &mut ()), Stopped::Updates);
    assert_eq!(run.last().weights(0), [(LIMIT + MORE) as f64], "doubles count on, to two to the 53rd");
}

/// The relative errors of a weight after `n` updates by numbers in `[0, 1)`: in single precision, and
/// in the core's doubles. The truth is kept in whole numbers of 2^-24.
fn drift(n: usize) -> (f64, f64) {
    let mut random = Random::new(11);
    let mut run = Run::new(every_round(), Binary, without_bias()).unwrap();
    let (mut narrow, mut exact) = (0.0_f32, 0_u128);
    let mut values = vec![0.0_f32; 1000];
    let classes = vec![1; 1000];
    for _ in 0..n / 1000 {
        for value in &mut values {
            let units = random.below(1 << 24);
            // Twenty-four bits: as much as a single-precision value holds.
            *value = units as f32 / (1 << 24) as f32;
            narrow += *value;
            exact += u128::from(units);
        }
        let examples = DenseExamples::new(&values, 1, &classes);
        assert!(run.learn(examples, Visits::all(examples), &mut ()).is_continue());
    }
    let truth = exact as f64 / (1_u64 << 24) as f64;
    let error = |found: f64| ((found - truth) / truth).abs();
    (error(f64::from(narrow)), error(run.last().weights(0)[0]))
}

#[test]
fn sums_drift_in_single_precision_and_not_in_double() {
    let (narrow, wide) = drift(10_000_000);
    assert!(narrow > 2e-5, "single precision was off by {narrow:e}");
    // Sums of single-precision values lose nothing in doubles until they have grown by 2^29.
    assert_eq!(wide, 0.0);
}

#[test]
fn steps_that_no_precision_holds_drift_a_hundred_million_times_slower_in_doubles() {
    // Steps of 0.1 are exact in neither precision: a million of them should make 100,000.
    let n = 1_000_000_u32;
    let mut narrow = 0.0_f32;
    for _ in 0..n {
        narrow += 0.1;
    }
    let mut run = Run::new(every_round(), Binary, without_bias()).unwrap();
    let (values, classes) = (vec![0.1_f64; 1000], vec![1; 1000]);
    let examples = DenseExamples::new(&values, 1, &classes);
    for _ in 0..n / 1000 {
        assert!(run.learn(examples, Visits::all(examples), &mut ()).is_continue());
    }
    let truth = f64::from(n) * 0.1;
    let error = |found: f64| ((found - truth) / truth).abs();
    let (narrow, wide) = (error(f64::from(narrow)), error(run.last().weights(0)[0]));
    assert!(narrow > 5e-3, "single precision was off by {narrow:e}");
    // Equal steps are the worst case, since their rounding errors all point one way. The error grows in
    // proportion to the updates, so a billion of them stay below 1e-7; single precision is off by a
    // hundredth already.
    assert!(wide < 5e-11, "double precision was off by {wide:e}");
    assert!(narrow / wide > 1e8, "{narrow:e} against {wide:e}");
}
