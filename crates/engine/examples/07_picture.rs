//! The lecture notes' worked example as a picture: how each mistake turns the boundary.
//!
//! Prints an SVG. The README's picture is `cargo run --example 07_picture -p rosenblatt > docs/boundary.svg`.

use rosenblatt::core::{Bias, EachRound, Order, Readout, Round};
use rosenblatt::{Dataset, Error, Labels, Options, Spec, Training};
use std::fmt::Write as _;
use std::ops::ControlFlow;

const POINTS: [([f64; 2], u32); 4] = [([4.0, 0.0], 1), ([1.0, 1.0], 0), ([0.0, 1.0], 0), ([-2.0, -2.0], 1)];
/// Pixels of a frame.
const SIDE: f64 = 220.0;
/// Pixels of a unit.
const UNIT: f64 = 20.0;

fn main() -> Result<(), Error> {
    let rows = POINTS.map(|(point, _)| point);
    let data = Dataset::from_rows(&rows, &["+", "-", "-", "+"]);
    let classes = POINTS.map(|(_, class)| class).to_vec();
    let data = Dataset::new(data.matrix().to_matrix(), classes, Labels::in_order(["minus", "plus"]));
    let spec = Spec::new(Options {
        readout: Some(Readout::Last),
        bias: Some(Bias::None),
        order: Some(Order::Given),
        ..Options::default()
    })?;

    let mut frames = String::new();
    let mut n_frames = 0;
    let mut draw = EachRound(|round: &Round<'_>| {
        if round.step.is_some() {
            let weights = round.hypothesis.weights(0);
            frames += &frame(n_frames, round, [weights[0], weights[1]]);
            n_frames += 1;
        }
        ControlFlow::Continue(())
    });
    let model = Training::new(&spec, &data).run(&mut draw)?;

    let width = SIDE * f64::from(n_frames);
    println!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\" font-family=\"sans-serif\" font-size=\"13\">\
         <title>Each mistake of the perceptron turns its boundary</title>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{frames}</svg>",
        SIDE + 50.0
    );
    assert_eq!((n_frames, model.planes().map(|planes| planes.weights(0))), (3, Some(vec![1.0, -3.0])));
    Ok(())
}

/// One frame: the points, the boundary after the update, its normal, and the point that caused it.
fn frame(number: i32, round: &Round<'_>, w: [f64; 2]) -> String {
    let place = |x: f64, y: f64| (SIDE * (0.5 + f64::from(number)) + UNIT * x, SIDE / 2.0 + 34.0 - UNIT * y);
    let length = w[0].hypot(w[1]);
    let (along, normal) = ([-w[1] / length, w[0] / length], [w[0] / length, w[1] / length]);
    let mut svg = String::new();
    let (left, top) = place(-5.0, 5.0);
    let _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"16\" fill=\"#222\">round {}: y f(x) = {}</text>",
        round.round, round.margin
    );
    let _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"{}\" fill=\"#222\">w = ({}, {})</text>",
        SIDE + 42.0,
        w[0],
        w[1]
    );
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{top}\" width=\"200\" height=\"200\" fill=\"#fafafa\" stroke=\"#bbb\"/>"
    );
    let reach = 5.0 / along[0].abs().max(along[1].abs());
    let ((x1, y1), (x2, y2)) =
        (place(-reach * along[0], -reach * along[1]), place(reach * along[0], reach * along[1]));
    let _ =
        writeln!(svg, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#222\" stroke-width=\"2\"/>");
    let ((x1, y1), (x2, y2)) = (place(0.0, 0.0), place(2.0 * normal[0], 2.0 * normal[1]));
    let _ =
        writeln!(svg, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#009e73\" stroke-width=\"3\"/>");
    for (idx, ([x, y], class)) in POINTS.into_iter().enumerate() {
        let (x, y) = place(x, y);
        let (colour, sign) = if class == 1 { ("#0072b2", "+") } else { ("#d55e00", "−") };
        if idx == round.row {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"13\" fill=\"none\" stroke=\"#cc79a7\" stroke-width=\"3\"/>"
            );
        }
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\" fill=\"{colour}\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#fff\" text-anchor=\"middle\">{sign}</text>",
            y + 4.5
        );
    }
    svg
}
