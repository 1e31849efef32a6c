//! The one way in which some rows add up to zero, exactly.
//!
//! A support found in doubles becomes a system of integers of any size. It is solved modulo a prime, the solution is
//! lifted to powers of the prime digit by digit (Dixon 1982), and fractions are read off and put into the
//! equations. So a wrong guess anywhere costs time, never truth.

use crate::integers::Integers;
use crate::watch::Clock;
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
    /// In several ways, or the time is up.
    Unknown,
}

/// In which way the columns add up to zero. `last` is a column that surely takes part, if any does.
pub(crate) fn dependency(integers: &Integers, last: usize, clock: &Clock<'_>) -> Dependency {
    let columns = &integers.columns;
    let n_columns = columns.len();
    let mut order: Vec<usize> = (0..n_columns).filter(|&column| column != last).collect();
    order.push(last);
    let prime = BigInt::from(PRIME);
    let mut matrix = vec![vec![0_u64; n_columns]; integers.n_equations];
    for (place, &column) in order.iter().enumerate() {
        for (equation, value) in &columns[column] {
            matrix[*equation][place] = residue(value, &prime);
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
        if clock.is_over() {
            return Dependency::Unknown;
        }
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
    let mut equation_of = vec![usize::MAX; integers.n_equations];
    which[..rank].iter().enumerate().for_each(|(row, &equation)| equation_of[equation] = row);
    let of_column = |place: usize| {
        let inside = columns[order[place]].iter().map(|(equation, value)| (equation_of[*equation], value));
        inside.filter(|&(row, _)| row != usize::MAX).collect::<Vec<_>>()
    };
    let system = System::new(pivots.iter().map(|&place| of_column(place)).collect(), rank);
    let mut residual = vec![BigInt::ZERO; rank];
    for (row, value) in of_column(free) {
        residual[row] = -value;
    }
    let most_bits = system.bits_needed() + 128;
    let mut digits: Vec<Vec<u64>> = Vec::new();
    let mut next_try = 8;
    loop {
        if clock.is_over() {
            return Dependency::Unknown;
        }
        let reduced = residual.iter().map(|value| residue(value, &prime)).collect();
        let digit = solve(&factors, &inverses, reduced);
        system.subtract(&digit, &mut residual);
        for value in &mut residual {
            *value /= PRIME;
        }
        digits.push(digit);
        let is_last = digits.len() * 29 > most_bits;
        if digits.len() >= next_try || is_last {
            next_try = digits.len() * 5 / 4 + 8;
            if let Some((numerators, denominator)) = fractions(&digits, is_last, clock) {
                let mut weights = vec![BigInt::ZERO; n_columns];
                pivots.iter().zip(numerators).for_each(|(&place, weight)| weights[order[place]] = weight);
                weights[order[free]] = denominator;
                if adds_up(integers, &weights, clock) {
                    return Dependency::Weights(weights);
                }
            }
            if is_last {
                // The equations with pivots have one solution, and the others do not agree with it.
                return if clock.is_over() { Dependency::Unknown } else { Dependency::Independent };
            }
        }
    }
}

fn residue(value: &BigInt, prime: &BigInt) -> u64 {
    let rest = i64::try_from(value % prime).unwrap_or(0);
    rest.rem_euclid(PRIME as i64) as u64
}

/// The columns with pivots, each entry in digits of 64 bits.
struct System {
    /// Row and whether it is negative, per entry, and where each column ends.
    entries: Vec<(usize, bool)>,
    ends: Vec<usize>,
    /// `n_digits` per entry.
    digits: Vec<u64>,
    n_digits: usize,
    rank: usize,
    most_bits: u64,
}

impl System {
    fn new(columns: Vec<Vec<(usize, &BigInt)>>, rank: usize) -> Self {
        let most_bits = columns.iter().flatten().map(|(_, value)| value.bits()).max().unwrap_or(1);
        let n_digits = most_bits.div_ceil(64).max(1) as usize;
        let (mut entries, mut ends, mut digits) = (Vec::new(), Vec::new(), Vec::new());
        for column in columns {
            for (row, value) in column {
                entries.push((row, value.sign() == Sign::Minus));
                digits.extend(value.iter_u64_digits());
                digits.resize(entries.len() * n_digits, 0);
            }
            ends.push(entries.len());
        }
        Self { entries, ends, digits, n_digits, rank, most_bits }
    }

    /// Takes the columns times `x` from `residual`.
    fn subtract(&self, x: &[u64], residual: &mut [BigInt]) {
        // 64 bits times 30 bits, and fewer than 2^32 of them: 126 bits with a sign.
        let mut sums = vec![0_i128; self.rank * self.n_digits];
        let mut entry = 0;
        for (&x, &end) in x.iter().zip(&self.ends) {
            for (&(row, is_negative), digits) in self.entries[entry..end]
                .iter()
                .zip(self.digits[entry * self.n_digits..].chunks(self.n_digits))
            {
                let sums = &mut sums[row * self.n_digits..];
                for (sum, &digit) in sums.iter_mut().zip(digits) {
                    let product = (u128::from(digit) * u128::from(x)) as i128;
                    *sum += if is_negative { -product } else { product };
                }
            }
            entry = end;
        }
        for (value, sums) in residual.iter_mut().zip(sums.chunks(self.n_digits)) {
            for (place, &sum) in sums.iter().enumerate() {
                *value -= BigInt::from(sum) << (64 * place);
            }
        }
    }

    /// Hadamard: how many bits numerator and denominator of a solution take together at most.
    fn bits_needed(&self) -> usize {
        let mut first = 0;
        let mut bits = 0.0;
        for &end in &self.ends {
            bits += self.most_bits as f64 + 0.5 * ((end - first).max(1) as f64).log2();
            first = end;
        }
        (2.0 * (bits + self.most_bits as f64 + (self.ends.len() as f64 + 1.0).log2()) + 4.0).ceil() as usize
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

/// Numerators over one denominator that have these digits to the base of the prime. Unless this is the last
/// try, `None` where they are not visibly shorter than chance would have it.
fn fractions(digits: &[Vec<u64>], is_last: bool, clock: &Clock<'_>) -> Option<(Vec<BigInt>, BigInt)> {
    let prime = BigInt::from(PRIME);
    let modulus = prime.pow(digits.len() as u32);
    let half = modulus.bits() / 2;
    let mut denominator = BigInt::from(1);
    let mut numerators: Vec<BigInt> = Vec::new();
    for unknown in 0..digits[0].len() {
        let column: Vec<u64> = digits.iter().map(|digit| digit[unknown]).collect();
        let residue = whole(&column) * &denominator % &modulus;
        let (numerator, factor) = fraction(residue, &modulus, half, clock)?;
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

/// The fraction with a numerator of up to `half` bits that is `residue` modulo `modulus` (Wang 1981); `None` if
/// the time is up.
fn fraction(residue: BigInt, modulus: &BigInt, half: u64, clock: &Clock<'_>) -> Option<(BigInt, BigInt)> {
    let centred = if residue.bits() + 1 >= modulus.bits() && &residue * 2 > *modulus {
        &residue - modulus
    } else {
        residue.clone()
    };
    if centred.bits() <= half {
        return (!clock.is_over()).then_some((centred, BigInt::from(1)));
    }
    let (mut r, mut next_r) = (modulus.clone(), residue);
    let (mut t, mut next_t) = (BigInt::ZERO, BigInt::from(1));
    for step in 0.. {
        if next_r.bits() <= half {
            break;
        }
        if step % 64 == 0 && clock.is_over() {
            return None;
        }
        let quotient = &r / &next_r;
        (r, next_r) = (next_r.clone(), r - &quotient * next_r);
        (t, next_t) = (next_t.clone(), t - quotient * next_t);
    }
    Some(if next_t.sign() == Sign::Minus { (-next_r, -next_t) } else { (next_r, next_t) })
}

/// Whether the weighted columns add up to zero in every equation.
fn adds_up(integers: &Integers, weights: &[BigInt], clock: &Clock<'_>) -> bool {
    let mut sums = vec![BigInt::ZERO; integers.n_equations];
    for (column, weight) in integers.columns.iter().zip(weights) {
        if clock.is_over() {
            return false;
        }
        for (equation, value) in column {
            sums[*equation] += weight * value;
        }
    }
    sums.iter().all(|sum| sum.sign() == Sign::NoSign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;
    use rosenblatt_core::Random;
    use std::ops::ControlFlow;

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
            let clock = Clock::new(&|_| ControlFlow::Continue(()));
            let found = dependency(&Integers::new(&rows, &places, false), n, &clock);
            let Dependency::Weights(found) = found else { panic!("{n}: {found:?}") };
            for (place, weight) in weights.iter().enumerate() {
                assert_eq!(found[place], &found[n] * (*weight as i64));
            }
            let independent = dependency(&Integers::new(&rows, &places[..n], false), n - 1, &clock);
            assert_eq!(independent, Dependency::Independent);
        }
    }

    #[test]
    fn integers_of_any_size_are_solved_and_a_clock_stops_it() {
        // Values from 1e-40 to 1e40 in every feature: some 320 bits an entry.
        let mut random = Random::new(5);
        let mut value = || (random.unit() - 0.5) * 10_f64.powi(random.below(80) as i32 - 40);
        let n = 6;
        let points: Vec<Vec<f64>> = (0..n).map(|_| (0..n - 1).map(|_| value()).collect()).collect();
        let rows = Rows::from_points(&points, &vec![true; n]);
        let places: Vec<usize> = (0..n).collect();
        let integers = Integers::new(&rows, &places, false);
        assert!(integers.columns.iter().flatten().any(|(_, value)| value.bits() > 200));
        let clock = Clock::new(&|_| ControlFlow::Continue(()));
        let Dependency::Weights(weights) = dependency(&integers, n - 1, &clock) else { panic!("n > width") };
        assert!(adds_up(&integers, &weights, &clock) && weights.iter().any(|weight| weight.bits() > 500));
        let over = Clock::new(&|_| ControlFlow::Break(()));
        assert_eq!(dependency(&integers, n - 1, &over), Dependency::Unknown);
    }
}
