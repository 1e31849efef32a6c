//! The lecture notes' worked example, round by round, through an observer.

use rosenblatt::learning::{Bias, EachRound, Order, Readout, Round};
use rosenblatt::{Dataset, Error, Options, Spec, Training};
use std::ops::ControlFlow;

fn main() -> Result<(), Error> {
    let rows = [[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]];
    let data = Dataset::from_rows(&rows, &["+", "-", "-", "+"]);
    // Sorted, "+" comes before "-": say which class a positive score speaks for.
    let labels = data.labels().clone().with_positive("+").expect("there are two classes");
    let classes = vec![1, 0, 0, 1];
    let data = Dataset::new(data.matrix().to_matrix(), classes, labels);

    let spec = Spec::new(Options {
        readout: Some(Readout::Last),
        bias: Some(Bias::None),
        order: Some(Order::Given),
        ..Options::default()
    })?;
    let mut trace = Vec::new();
    let mut watch = EachRound(|round: &Round<'_>| {
        let verdict = if round.mistaken { "wrong, so add y x" } else { "right" };
        let weights = round.hypothesis.weights(0);
        println!("round {}: y f(x) = {:>2}, {verdict}; w = {weights:?}", round.round, round.margin);
        trace.push(weights);
        ControlFlow::Continue(())
    });
    Training::new(&spec, &data).run(&mut watch)?;

    assert_eq!(trace[..4], [[4.0, 0.0], [3.0, -1.0], [3.0, -1.0], [1.0, -3.0]]);
    assert_eq!(trace.len(), 8, "the second epoch is clean, and then it stops");
    Ok(())
}
