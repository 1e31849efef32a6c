//! The exact margins, certificates and cycles of the textbooks' small examples.

use num_bigint::BigInt;
use rosenblatt_certify::{Answer, Question, Rows, Verdict, check, cycle, decide, mistakes, perceptron};
use std::ops::ControlFlow;

fn lecture() -> Rows {
    Rows::from_points(&[[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]], &[true, false, false, true])
}

fn xor() -> Rows {
    Rows::from_points(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], &[true, false, false, true])
}

fn ask(rows: &Rows, bias: bool) -> Answer {
    let answer = decide(rows, Question { bias, gap: 1e-12 }, &|_| ControlFlow::Continue(()));
    let certificate = answer.certificate(rows, bias, None, [None, None]).expect("a decided answer");
    assert_eq!(check(&certificate, rows), Ok(()));
    answer
}

/// The margin lies in the bracket, and the bracket is narrow.
fn holds(answer: &Answer, squared: f64) {
    let margin = squared.sqrt();
    assert!(
        answer.at_least <= margin * (1.0 + 1e-15) && margin <= answer.at_most * (1.0 + 1e-15),
        "{answer:?}"
    );
    assert!(answer.gap() <= 1e-12, "{answer:?}");
}

#[test]
fn the_lectures_points_have_their_three_margins() {
    let origin = ask(&lecture(), false);
    holds(&origin, 16.0 / 26.0);
    let shares: Vec<_> =
        origin.nearest.iter().map(|(row, share)| (*row, (13.0 * share.near()).round())).collect();
    assert_eq!(shares, [(0, 3.0), (1, 10.0)]);
    // 3/sqrt(10) between the hulls.
    holds(&ask(&lecture(), true), 9.0 / 10.0);
    // With the constant as a coordinate: 9/11.
    let augmented = Rows::from_points(
        &[[4.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [-2.0, -2.0, 1.0]],
        &[true, false, false, true],
    );
    let answer = ask(&augmented, false);
    holds(&answer, 9.0 / 11.0);
    let shares: Vec<_> =
        answer.nearest.iter().map(|(row, share)| (*row, (11.0 * share.near()).round())).collect();
    assert_eq!(shares, [(0, 3.0), (1, 7.0), (3, 1.0)]);
    let printed = perceptron(&lecture(), false, 100, &|_| ControlFlow::Continue(()));
    assert_eq!((printed.mistakes, printed.converged, printed.weights), (3, true, vec![1.0, -3.0]));
    // (R/margin)^2 = 26, and 17 * 11/9 with the constant.
    assert!((16.0 / origin.at_most.powi(2) - 26.0).abs() < 1e-9);
    assert!((17.0 / answer.at_most.powi(2) - 187.0 / 9.0).abs() < 1e-9);
}

#[test]
fn a_point_on_the_wrong_side_is_a_mistake_whatever_its_distance() {
    // Distances 1, 1, 0.05 and 1 from w = (1, 0): the unsigned margin is 0.05, the signed one is -1.
    let rows = Rows::from_points(
        &[[1.0, 1.0], [1.0, -1.0], [-0.05, 0.0], [-1.0, -1.0]],
        &[true, false, false, false],
    );
    assert_eq!(mistakes(&rows, &[1.0, 0.0], 0.0), [1]);
    holds(
        &ask(&Rows::from_points(&[[1.0, 1.0], [-0.05, 0.0]], &[true, false]), true),
        (1.05_f64.powi(2) + 1.0) / 4.0,
    );
}

#[test]
fn the_corners_of_a_square_contradict_each_other() {
    for bias in [false, true] {
        let Verdict::Inseparable(weights) = ask(&xor(), bias).verdict else { panic!("bias {bias}") };
        let sum = weights.iter().map(|(_, weight)| weight).sum::<BigInt>();
        assert!(sum > BigInt::ZERO);
        assert_eq!(weights.len(), if bias { 4 } else { 2 });
        let found = cycle(&xor(), bias, 1000, &|_| ControlFlow::Continue(())).unwrap();
        // Through the origin the weights of update 1 are back after update 3, before another row; zero is back after 4.
        assert_eq!((found.from, found.steps), (0, 4));
        assert_eq!(found.rows.len() as u64, found.steps);
    }
    assert_eq!(cycle(&lecture(), true, 1000, &|_| ControlFlow::Continue(())), None);
}

#[test]
fn tampering_is_refused_with_what_is_wrong() {
    let rows = lecture();
    let good = ask(&rows, true).certificate(&rows, true, None, [None, None]).unwrap();
    let text = serde_json::to_string(&good).unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let changed = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        check(&changed, &rows).unwrap_err()
    };
    let at_least = serde_json::to_value(&good).unwrap()["claim"]["margin"]["at-least"].to_string();
    let at_most = serde_json::to_value(&good).unwrap()["claim"]["margin"]["at-most"].to_string();
    assert!(refusal(&format!("\"at-least\":{at_least}"), "\"at-least\":0.95").contains("smaller margin"));
    assert!(refusal(&format!("\"at-most\":{at_most}"), "\"at-most\":0.94").contains("farther apart"));
    assert!(refusal("\"rows\":4", "\"rows\":5").contains("other data"));
    assert!(refusal("\"version\":1", "\"version\":2").contains("not a certificate"));
    assert!(refusal("\"weights\":[", "\"weights\":[7,").contains("weight per feature"));
    assert!(refusal("\"bias\":true", "\"bias\":false").contains("no intercept"));
    let other =
        Rows::from_points(&[[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.5]], &[true, false, false, true]);
    assert!(check(&good, &other).unwrap_err().contains("other data"));

    let rows = xor();
    let good = ask(&rows, true).certificate(&rows, true, None, [None, None]).unwrap();
    let text = serde_json::to_string(&good).unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        check(&serde_json::from_str(&text.replacen(from, to, 1)).unwrap(), &rows).unwrap_err()
    };
    assert!(refusal("{\"row\":1,", "{\"row\":9,").contains("row 9"));
    assert!(refusal("{\"row\":1,\"weight\":\"", "{\"row\":1,\"weight\":\"-").contains("negative"));
    assert!(refusal("{\"row\":1,\"weight\":\"", "{\"row\":1,\"weight\":\"3").contains("different sums"));
    assert!(refusal("{\"row\":1,", "{\"row\":4,").contains("add up to zero"));
}

#[test]
fn without_time_the_answer_is_open_and_its_upper_bound_holds() {
    let answer = decide(&lecture(), Question::default(), &|_| ControlFlow::Break(()));
    assert_eq!((answer.verdict, answer.at_least), (Verdict::Undecided, 0.0));
    assert!(answer.at_most >= 0.9_f64.sqrt() && answer.at_most.is_finite(), "{}", answer.at_most);
}
