//! Ten thousand small problems, each decided by an independent exact method as well.
//!
//! The method is Fourier and Motzkin's elimination on `z·w > 0` in integers: combine every inequality with a
//! positive coefficient with every one with a negative one until no variable is left. What then says `0 > 0`
//! has no solution. It shares no line and no idea with the search.

use rosenblatt_certify::{Claim, Question, Rows, Verdict, check, decide};
use rosenblatt_core::Random;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Whether some `w` has a positive product with every `z`.
fn has_solution(inequalities: &[Vec<i128>]) -> bool {
    let reduce = |mut row: Vec<i128>| {
        let divisor = row.iter().fold(0, |divisor, &value| gcd(divisor, value));
        if divisor > 1 {
            for value in &mut row {
                *value /= divisor;
            }
        }
        row
    };
    let mut system: BTreeSet<Vec<i128>> = inequalities.iter().cloned().map(reduce).collect();
    for variable in 0..inequalities.first().map_or(0, Vec::len) {
        let mut next: BTreeSet<Vec<i128>> = system.iter().filter(|row| row[variable] == 0).cloned().collect();
        for up in system.iter().filter(|row| row[variable] > 0) {
            for down in system.iter().filter(|row| row[variable] < 0) {
                let sum = up.iter().zip(down).map(|(u, d)| u * -down[variable] + d * up[variable]);
                next.insert(reduce(sum.collect()));
            }
        }
        system = next;
    }
    system.is_empty()
}

/// A problem of one of several kinds, in which everything that is special happens often.
fn problem(random: &mut Random) -> (Vec<Vec<f64>>, Vec<bool>) {
    let width = 1 + random.below(3) as usize;
    let n_rows = 1 + random.below(7) as usize;
    let size = [1, 2, 5, 50][random.below(4) as usize];
    let mut value = |size: u64| random.below(2 * size + 1) as f64 - size as f64;
    let plane: Vec<f64> = (0..=width).map(|_| value(3)).collect();
    let mut points: Vec<Vec<f64>> = (0..n_rows).map(|_| (0..width).map(|_| value(size)).collect()).collect();
    let kind = random.below(6);
    if kind == 0 && n_rows > 1 {
        // Duplicates, often on different sides.
        let last = points[n_rows - 1].clone();
        points[0].clone_from(&last);
    }
    let score = |point: &Vec<f64>| point.iter().zip(&plane).map(|(x, w)| x * w).sum::<f64>() + plane[width];
    let sides = points
        .iter()
        .map(|point| match kind {
            // Separable unless a row lies on the plane: then the sides touch there.
            1 | 2 => score(point) > 0.0,
            3 if score(point) == 0.0 => random.below(2) == 0,
            3 => score(point) > 0.0,
            // One side empty.
            4 => true,
            _ => random.below(2) == 0,
        })
        .collect();
    (points, sides)
}

#[test]
fn ten_thousand_verdicts_agree_and_every_certificate_is_accepted() {
    let mut random = Random::new(1962);
    let mut counts = [0; 2];
    for case in 0..10_000 {
        let (points, sides) = problem(&mut random);
        let bias = case % 2 == 0;
        let signed = points.iter().zip(&sides).map(|(point, &positive)| {
            let sign = if positive { 1 } else { -1 };
            let constant = bias.then_some(sign);
            point.iter().map(|&value| sign * value as i128).chain(constant).collect::<Vec<_>>()
        });
        let signed: Vec<_> = signed.collect();
        let expected = has_solution(&signed);
        let rows = Rows::from_points(&points, &sides);
        let question = Question { bias, ..Question::default() };
        let answer = decide(&rows, question, &|_| ControlFlow::Continue(()));
        let printed = format!("case {case}: {points:?} {sides:?} bias {bias}: {answer:?}");
        match &answer.verdict {
            Verdict::Separable(_) => assert!(expected, "{printed}"),
            Verdict::Inseparable(weights) => {
                assert!(!expected, "{printed}");
                assert!(weights.len() <= rows.width() + 1 + usize::from(bias), "{printed}");
            }
            Verdict::Undecided => panic!("{printed}"),
        }
        counts[usize::from(expected)] += 1;
        let certificate = answer.certificate(&rows, bias, None, [None, None]).unwrap();
        assert_eq!(check(&certificate, &rows), Ok(()), "{printed}");
        if let Claim::Separable { margin: Some(margin), .. } = &certificate.claim {
            assert!(margin.at_least <= margin.at_most && answer.gap() <= 1e-6, "{printed}");
        }
    }
    assert!(counts.iter().all(|&count| count > 2500), "{counts:?}");
}
