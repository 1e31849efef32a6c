//! The one way in which some rows add up to zero, exactly.
//!
//! A support found in doubles becomes a system of integers. It is solved modulo a prime, the solution is
//! lifted to powers of the prime digit by digit (Dixon 1982), and fractions are read off and put into the
//! equations. So a wrong guess anywhere costs time, never truth.

use crate::integers::Integers;
use num_bigint::{BigInt, Sign};

/// A prime below `2^30`, so that sixteen products fit into 64 bits.
const PRIME: u64 = 1_073_741_789;
const LAZY: usize = 16;

/// What is known of the ways in which columns add up to zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dependency {
    /// Only with these weights, up to a factor.
    Weights(Vec<BigInt>),
    /// In no way.
    Independent,
    /// In several ways, or the numbers are too large for this method.
    Unknown,
}

/// In which way the columns add up to zero. `last` is a column that surely takes part, if any does.
pub(crate) fn dependency(integers: &Integers, last: usize) -> Dependency {
    let Some(columns) = integers.small() else { return Dependency::Unknown };
    let n_columns = columns.len();
    let mut order: Vec<usize> = (0..n_columns).filter(|&column| column != last).collect();
    order.push(last);
    let mut matrix = vec![vec![0_u64; n_columns]; integers.equations.len()];
    for (place, &column) in order.iter().enumerate() {
        for &(equation, value) in &columns[column] {
            matrix[equation][place] = value.rem_euclid(PRIME as i64) as u64;
        }
    }
    // Elimination, the multipliers left in place. Without a pivot the column depends on those before it.
    let mut which: Vec<usize> = (0..matrix.len()).collect();
    let mut pivots: Vec<usize> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    let mut inverses: Vec<u64> = Vec::new();
    for place in 0..n_columns {
        let rank = pivots.len();
        let Some(pivot) = (rank..matrix.len()).find(|&row| matrix[row][place] != 0) else {
            free.push(place);
            if free.len() > 1 {
                return Dependency::Unknown;
            }
            continue;
        };
        matrix.swap(rank, pivot);
        which.swap(rank, pivot);
        let inverse = power(matrix[rank][place], PRIME - 2);
        let (above, below) = matrix.split_at_mut(rank + 1);
        let head = &above[rank];
        for row in below.iter_mut().filter(|row| row[place] != 0) {
            let factor = row[place] * inverse % PRIME;
            let against = PRIME - factor;
            row[place] = factor;
            for (value, &head) in row[place + 1..].iter_mut().zip(&head[place + 1..]) {
                *value = (*value + against * head) % PRIME;
            }
        }
        inverses.push(inverse);
        pivots.push(place);
    }
    let Some(&free) = free.first() else { return Dependency::Independent };
    // Of the factors keep the columns that have pivots.
    let rank = pivots.len();
    let factors: Vec<Vec<u64>> =
        matrix[..rank].iter().map(|row| pivots.iter().map(|&place| row[place]).collect()).collect();
    let mut equation_of = vec![usize::MAX; integers.equations.len()];
    which[..rank].iter().enumerate().for_each(|(row, &equation)| equation_of[equation] = row);
    let of_column = |place: usize| {
        let inside = columns[order[place]].iter().map(|&(equation, value)| (equation_of[equation], value));
        inside.filter(|&(row, _)| row != usize::MAX).collect::<Vec<_>>()
    };
    let system: Vec<Vec<(usize, i64)>> = pivots.iter().map(|&place| of_column(place)).collect();
    let mut residual = vec![0_i128; rank];
    for (row, value) in of_column(free) {
        residual[row] = -i128::from(value);
    }
    let most_bits = bits_needed(&system) + 128;
    let mut digits: Vec<Vec<u64>> = Vec::new();
    let mut next_try = 8;
    loop {
        let reduced = residual.iter().map(|&value| value.rem_euclid(i128::from(PRIME)) as u64).collect();
        let digit = solve(&factors, &inverses, reduced);
        for (column, &x) in system.iter().zip(&digit) {
            for &(row, value) in column {
                residual[row] -= i128::from(value) * i128::from(x);
            }
        }
        for value in &mut residual {
            *value /= i128::from(PRIME);
        }
        digits.push(digit);
        let is_last = digits.len() * 29 > most_bits;
        if digits.len() >= next_try || is_last {
            next_try = digits.len() * 5 / 4 + 8;
            if let Some((numerators, denominator)) = fractions(&digits, is_last) {
                let mut weights = vec![BigInt::ZERO; n_columns];
                pivots.iter().zip(numerators).for_each(|(&place, weight)| weights[order[place]] = weight);
                weights[order[free]] = denominator;
                if adds_up(&columns, integers.equations.len(), &weights) {
                    return Dependency::Weights(weights);
                }
            }
            if is_last {
                // The equations with pivots have one solution, and the others do not agree with it.
                return Dependency::Independent;
            }
        }
    }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}

/// Solves with the factors modulo the prime.
fn solve(factors: &[Vec<u64>], inverses: &[u64], mut right: Vec<u64>) -> Vec<u64> {
    let product = |row: &[u64], known: &[u64]| {
        let sums = row.chunks(LAZY).zip(known.chunks(LAZY));
        sums.map(|(row, known)| row.iter().zip(known).map(|(a, b)| a * b).sum::<u64>() % PRIME).sum::<u64>()
            % PRIME
    };
    let n = right.len();
    for row in 0..n {
        let known = product(&factors[row][..row], &right[..row]);
        right[row] = (right[row] + PRIME - known) % PRIME;
    }
    for row in (0..n).rev() {
        let known = product(&factors[row][row + 1..], &right[row + 1..]);
        right[row] = (right[row] + PRIME - known) % PRIME * inverses[row] % PRIME;
    }
    right
}

/// Hadamard: how many bits numerator and denominator of a solution take together at most.
fn bits_needed(system: &[Vec<(usize, i64)>]) -> usize {
    let bits = system.iter().map(|column| {
        let norm2: f64 = column.iter().map(|&(_, value)| (value as f64).powi(2)).sum();
        0.5 * norm2.max(1.0).log2()
    });
    let largest = system.iter().flatten().map(|&(_, value)| (value as f64).abs()).fold(1.0, f64::max);
    (2.0 * (bits.sum::<f64>() + largest.log2() + (system.len() as f64 + 1.0).log2()) + 4.0).ceil() as usize
}

/// Numerators over one denominator that have these digits to the base of the prime. Unless this is the last
/// try, `None` where they are not visibly shorter than chance would have it.
fn fractions(digits: &[Vec<u64>], is_last: bool) -> Option<(Vec<BigInt>, BigInt)> {
    let prime = BigInt::from(PRIME);
    let modulus = prime.pow(digits.len() as u32);
    let half = modulus.bits() / 2;
    let mut denominator = BigInt::from(1);
    let mut numerators: Vec<BigInt> = Vec::new();
    for unknown in 0..digits[0].len() {
        let column: Vec<u64> = digits.iter().map(|digit| digit[unknown]).collect();
        let residue = whole(&column) * &denominator % &modulus;
        let (numerator, factor) = fraction(residue, &modulus, half);
        let spare = modulus.bits().saturating_sub(numerator.bits() + factor.bits() + denominator.bits());
        if !is_last && spare < 40 {
            return None;
        }
        if factor != BigInt::from(1) {
            for numerator in &mut numerators {
                *numerator *= &factor;
            }
            denominator *= factor;
        }
        numerators.push(numerator);
    }
    Some((numerators, denominator))
}

/// The number with these digits to the base of the prime, the lowest first; halves are put together.
fn whole(digits: &[u64]) -> BigInt {
    if digits.len() <= 8 {
        return digits.iter().rev().fold(BigInt::ZERO, |sum, &digit| sum * PRIME + digit);
    }
    let (low, high) = digits.split_at(digits.len() / 2);
    whole(low) + whole(high) * BigInt::from(PRIME).pow(low.len() as u32)
}

/// The fraction with a numerator of up to `half` bits that is `residue` modulo `modulus` (Wang 1981).
fn fraction(residue: BigInt, modulus: &BigInt, half: u64) -> (BigInt, BigInt) {
    let centred = if residue.bits() + 1 >= modulus.bits() && &residue * 2 > *modulus {
        &residue - modulus
    } else {
        residue.clone()
    };
    if centred.bits() <= half {
        return (centred, BigInt::from(1));
    }
    let (mut r, mut next_r) = (modulus.clone(), residue);
    let (mut t, mut next_t) = (BigInt::ZERO, BigInt::from(1));
    while next_r.bits() > half {
        let quotient = &r / &next_r;
        (r, next_r) = (next_r.clone(), r - &quotient * next_r);
        (t, next_t) = (next_t.clone(), t - quotient * next_t);
    }
    if next_t.sign() == Sign::Minus { (-next_r, -next_t) } else { (next_r, next_t) }
}

/// Whether the weighted columns add up to zero in every equation.
fn adds_up(columns: &[Vec<(usize, i64)>], n_equations: usize, weights: &[BigInt]) -> bool {
    let mut sums = vec![BigInt::ZERO; n_equations];
    for (column, weight) in columns.iter().zip(weights) {
        for &(equation, value) in column {
            sums[equation] += weight * value;
        }
    }
    sums.iter().all(|sum| sum.sign() == Sign::NoSign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;
    use rosenblatt_core::Random;

    #[test]
    fn the_weights_of_a_hidden_dependency_are_found() {
        let mut random = Random::new(11);
        for n in 2..14 {
            let mut points: Vec<Vec<f64>> =
                (0..n).map(|_| (0..n).map(|_| random.below(2001) as f64 / 8.0 - 125.0).collect()).collect();
            let weights: Vec<f64> = (0..n).map(|_| random.below(9) as f64 + 1.0).collect();
            let last = (0..n)
                .map(|j| -points.iter().zip(&weights).map(|(point, weight)| point[j] * weight).sum::<f64>());
            points.push(last.collect());
            let rows = Rows::from_points(&points, &vec![true; n + 1]);
            let places: Vec<usize> = (0..=n).collect();
            let found = dependency(&Integers::new(&rows, &places, false), n);
            let Dependency::Weights(found) = found else { panic!("{n}: {found:?}") };
            for (place, weight) in weights.iter().enumerate() {
                assert_eq!(found[place], &found[n] * (*weight as i64));
            }
            let independent = dependency(&Integers::new(&rows, &places[..n], false), n - 1);
            assert_eq!(independent, Dependency::Independent);
        }
    }
}
