//! Time is a limit in every part, and what once needed more digits than there were is decided and closed.

use rosenblatt_certify::{Polynomial, Question, Rows, Verdict, check, decide, investigate, lift};
use rosenblatt_core::Random;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A value of six decimals between -3 and 3.
fn decimal(random: &mut Random) -> f64 {
    (random.below(6_000_001) as f64 - 3e6) / 1e6
}

fn decimals(n_rows: usize, width: usize, seed: u64) -> Rows {
    let mut random = Random::new(seed);
    let points: Vec<Vec<f64>> =
        (0..n_rows).map(|_| (0..width).map(|_| decimal(&mut random)).collect()).collect();
    let sides: Vec<bool> = points.iter().map(|point| point[0] > 0.0 || random.below(2) == 0).collect();
    Rows::from_points(&points, &sides)
}

#[test]
fn real_valued_rows_of_some_width_are_decided() {
    let rows = decimals(400, 40, 1);
    let answer = decide(&rows, Question::default(), &|_| ControlFlow::Continue(()));
    let Verdict::Inseparable(weights) = &answer.verdict else { panic!("{answer:?}") };
    assert_eq!(weights.len(), 42);
    let certificate = answer.certificate(&rows, true, None, [None, None]).unwrap();
    assert_eq!(check(&certificate, &rows), Ok(()));
}

#[test]
fn when_time_is_up_every_part_ends_and_says_what_is_known() {
    // Wherever it is stopped, it ends soon, and its bounds hold.
    let rows = decimals(150, 12, 2);
    let (asked, open) = (Cell::new(0_u64), Cell::new(0));
    for most in [0, 1, 3, 10, 30, 100, 300, 1000, 3000] {
        asked.set(0);
        let findings = investigate(&rows, Question::default(), &|_| {
            asked.set(asked.get() + 1);
            if asked.get() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let answer = &findings.answer;
        assert!(asked.get() <= most + 2, "each part is asked once more at most");
        if matches!(answer.verdict, Verdict::Undecided) {
            assert!(answer.stopped && answer.at_least == 0.0 && answer.at_most > 0.0);
            assert!(findings.in_the_way.is_some());
            open.set(open.get() + 1);
        }
    }
    assert!(open.get() > 3, "{open:?}");
    // By the clock, with room for a machine that does other things: it once took minutes.
    let rows = decimals(1500, 120, 3);
    let (start, limit) = (Instant::now(), Duration::from_millis(300));
    let findings = investigate(&rows, Question::default(), &|_| {
        if start.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert!(matches!(findings.answer.verdict, Verdict::Undecided | Verdict::Inseparable(_)));
}

#[test]
fn a_row_of_zeros_through_the_origin_is_told_at_once() {
    for points in [[[0.0, 0.0], [1.0, 1.0]], [[2.0, -1.0], [0.0, 0.0]]] {
        let rows = Rows::from_points(&points, &[true, false]);
        let asked = Cell::new(0);
        let question = Question { bias: false, ..Question::default() };
        let findings = investigate(&rows, question, &|_| {
            asked.set(asked.get() + 1);
            ControlFlow::Continue(())
        });
        assert!(matches!(findings.answer.verdict, Verdict::Inseparable(ref weights) if weights.len() == 1));
        assert_eq!(findings.in_the_way.unwrap().len(), 1);
        assert!(asked.get() < 10_000, "{asked:?}");
    }
}

#[test]
fn products_of_decimals_are_proved_to_contradict_each_other() {
    // 45 monomials of 8 decimals, and labels at random.
    let rows = decimals(300, 8, 4);
    let kernel = Polynomial { degree: 2, offset: 1.0 };
    let lifted = lift(&rows, kernel).unwrap();
    let answer = decide(&lifted, Question::default(), &|_| ControlFlow::Continue(()));
    assert!(matches!(answer.verdict, Verdict::Inseparable(_)), "{answer:?}");
    let certificate = answer.certificate(&rows, true, Some(kernel), [None, None]).unwrap();
    assert_eq!(check(&certificate, &rows), Ok(()));
}

#[test]
fn margins_are_closed_however_thin_or_large() {
    let closed = |points: &[[f64; 2]], sides: &[bool], bias: bool| {
        let rows = Rows::from_points(points, sides);
        let question = Question { bias, ..Question::default() };
        let findings = investigate(&rows, question, &|_| ControlFlow::Continue(()));
        let answer = findings.answer;
        assert!(answer.gap() <= 1e-6 && findings.radius.is_finite(), "{answer:?}");
        let certificate = answer.certificate(&rows, bias, None, [None, None]).unwrap();
        assert_eq!(check(&certificate, &rows), Ok(()));
        answer.at_most
    };
    // On a line as decimals, off it as doubles.
    closed(&[[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]], &[true, false, true], true);
    let base = 2_f64.powi(52);
    closed(
        &[[base, base + 1.0], [base + 1.0, base + 3.0], [base + 5.0, base + 9.0]],
        &[true, false, true],
        true,
    );
    let corners = [[1e308, 1e308], [1e308, -1e308], [-1e308, 1e308], [-1e308, -1e308]];
    let margin = closed(&corners, &[true, true, false, false], true);
    assert!((margin / 1e308 - 1.0).abs() < 1e-9, "{margin}");
    closed(&[[1e300, 1e-300], [-1e300, 1e-300], [1e300, -1e-300]], &[true, true, false], false);
}
