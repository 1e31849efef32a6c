//! Data at the edge of what doubles can say: the verdict is right or open, never wrong, and nothing overflows.

use rosenblatt_certify::{Answer, Question, Rows, Verdict, check, decide, investigate};
use std::ops::ControlFlow;

fn ask(rows: &Rows, bias: bool) -> Answer {
    let answer = decide(rows, Question { bias, ..Question::default() }, &|_| ControlFlow::Continue(()));
    if let Some(certificate) = answer.certificate(rows, bias, None, [None, None]) {
        assert_eq!(check(&certificate, rows), Ok(()), "{rows:?}\n{answer:?}");
    }
    // The rest of the report must survive such rows, too.
    let _ = investigate(rows, Question { bias, ..Question::default() }, &|_| ControlFlow::Break(()));
    answer
}

fn is_separable(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Separable(_))
}

fn is_inseparable(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Inseparable(_))
}

#[test]
fn margins_down_to_the_last_digit_are_seen() {
    for size in [1.0, 1e12, 1e-12, 1e150, 1e-150] {
        for step in [1e-6, 1e-12, 2.0 * f64::EPSILON] {
            let near = Rows::from_points(
                &[[size, size], [size, size * (1.0 + step)], [-size, size]],
                &[true, false, true],
            );
            assert!(is_separable(&ask(&near, true)), "{size} {step}");
        }
        // The same points with a third one that closes the gap exactly.
        let touching =
            Rows::from_points(&[[0.0, size], [size, size], [0.5 * size, size]], &[true, true, false]);
        assert!(is_inseparable(&ask(&touching, true)), "{size}");
    }
}

#[test]
fn a_hull_that_is_missed_by_the_last_digit_is_missed() {
    // A point one unit in the last place beside the middle of a segment, and one that is on it.
    let up = 0.5_f64.next_up();
    let segment =
        |middle: f64| Rows::from_points(&[[0.0, 0.0], [1.0, 1.0], [0.5, middle]], &[true, true, false]);
    assert!(is_separable(&ask(&segment(up), true)));
    assert!(is_inseparable(&ask(&segment(0.5), true)));
}

#[test]
fn huge_and_tiny_values_side_by_side() {
    let one = Rows::from_points(&[[1e300], [1e-300]], &[true, false]);
    assert!(is_separable(&ask(&one, true)) && !is_separable(&ask(&one, false)));
    let opposed = Rows::from_points(&[[1e300], [-1e-300]], &[true, false]);
    assert!(is_separable(&ask(&opposed, false)));
    let columns = Rows::from_points(
        &[[1e300, 1e-300], [-1e300, 1e-300], [1e300, -1e-300], [-1e300, -1e-300]],
        &[true, true, false, false],
    );
    assert!(is_separable(&ask(&columns, false)) && is_separable(&ask(&columns, true)));
    let crossed = Rows::from_points(
        &[[1e300, 1e-300], [-1e300, -1e-300], [1e300, -1e-300], [-1e300, 1e-300]],
        &[true, true, false, false],
    );
    assert!(is_inseparable(&ask(&crossed, true)) && is_inseparable(&ask(&crossed, false)));
    let extremes = Rows::from_points(
        &[[f64::MAX, f64::MIN_POSITIVE], [f64::MAX, -f64::MIN_POSITIVE], [f64::MAX, 5e-324]],
        &[true, false, true],
    );
    assert!(is_separable(&ask(&extremes, true)) && is_separable(&ask(&extremes, false)));
}

#[test]
fn features_that_are_nearly_the_same() {
    // Only the 40th binary place of the second feature tells the sides apart.
    let points: Vec<[f64; 2]> = (0..40)
        .map(|n| {
            let x = f64::from(n) - 20.0;
            [x, x + if n % 2 == 0 { 2_f64.powi(-40) } else { -(2_f64.powi(-40)) }]
        })
        .collect();
    let sides: Vec<bool> = (0..40).map(|n| n % 2 == 0).collect();
    assert!(is_separable(&ask(&Rows::from_points(&points, &sides), true)));
}

#[test]
fn nothing_to_separate() {
    let empty_rows = Rows::from_points(&[[0.0, 0.0], [0.0, 0.0]], &[true, false]);
    assert!(is_inseparable(&ask(&empty_rows, true)) && is_inseparable(&ask(&empty_rows, false)));
    let one_side = Rows::from_points(&[[1.0], [-1.0]], &[true, true]);
    assert!(is_separable(&ask(&one_side, true)) && is_inseparable(&ask(&one_side, false)));
    let no_features = Rows::from_points(&[[0.0; 0], [0.0; 0]], &[true, false]);
    assert!(is_inseparable(&ask(&no_features, true)));
    let nothing = Rows::from_points::<[f64; 1]>(&[], &[]);
    assert_eq!(ask(&nothing, true).verdict, Verdict::Undecided);
}
