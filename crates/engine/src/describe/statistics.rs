//! What a few counts tell: intervals and deviations.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Between which error rates the true one lies, with 95 % confidence, after `errors` in `rows`
/// (Wilson's interval, which is honest for small numbers too).
pub fn interval(errors: u64, rows: u64) -> (f64, f64) {
    interval_of(errors, rows, rows as f64)
}

/// The same after cross-validation. Each row is judged by one of several models that share most of their rows, and the
/// model that is kept is yet another: the variance is larger by what Nadeau and Bengio (2003) add, as if rows were fewer.
pub fn interval_of_folds(errors: u64, rows: u64, n_folds: usize) -> (f64, f64) {
    interval_of(errors, rows, rows_of_folds(rows, n_folds))
}

/// How many rows judged by one model tell as much.
pub(crate) fn rows_of_folds(rows: u64, n_folds: usize) -> f64 {
    let n_folds = n_folds as f64;
    if n_folds < 2.0 { rows as f64 } else { rows as f64 / (1.0 + n_folds / (n_folds - 1.0)) }
}

/// How many standard errors a 95 % interval reaches to each side.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// Wilson's interval of a share, as if it had been found on `n` rows.
fn interval_of(errors: u64, rows: u64, n: f64) -> (f64, f64) {
    if rows == 0 {
        return (0.0, 1.0);
    }
    let z = Z;
    let share = errors as f64 / rows as f64;
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    // With no errors, or nothing but errors, the end of the interval is exact; rounding must not blur it.
    let low = if errors == 0 { 0.0 } else { ((middle - spread) / whole).max(0.0) };
    let high = if errors == rows { 1.0 } else { ((middle + spread) / whole).min(1.0) };
    (low, high)
}

/// The quantile of Student's t between which and its opposite 95 % lie, by Cornish and Fisher's expansion: right to three
/// digits from three degrees of freedom on, and for one and two as the exact formulas have it.
pub(crate) fn students_t(freedom: usize) -> f64 {
    let n = freedom.max(1) as f64;
    match freedom {
        0 | 1 => 12.706_204_736,
        2 => 4.302_652_73,
        _ => {
            let z2 = Z * Z;
            let first = Z * (z2 + 1.0) / 4.0;
            let second = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
            let third = Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
            let fourth = Z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
            Z + first / n + second / n.powi(2) + third / n.powi(3) + fourth / n.powi(4)
        }
    }
}

/// The mean of several numbers, and between which numbers that of all there could be lies, with 95 % confidence.
pub(crate) fn interval_of_mean(numbers: &[f64]) -> (f64, (f64, f64)) {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let spread = Z * (squares / (count - 1.0).max(1.0) / count).sqrt();
    (mean, (mean - spread, mean + spread))
}

/// The mean of numbers that are alike within groups, how far it may be from the true mean of new groups, with 95 %
/// confidence, and how many groups there are: the variance of a ratio of sums over groups, with Student's t for few of them.
/// None for fewer than two groups.
pub(crate) fn mean_by_group(numbers: &[f64], groups: &[u32]) -> Option<(f64, f64, usize)> {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (number, group) in numbers.iter().zip(groups) {
        let sums = sums.entry(*group).or_default();
        *sums = (sums.0 + number, sums.1 + 1.0);
    }
    let (n_groups, n_rows) = (sums.len() as f64, numbers.len() as f64);
    if sums.len() < 2 {
        return None;
    }
    let mean = sums.values().map(|(sum, _)| sum).sum::<f64>() / n_rows;
    let squares: f64 = sums.values().map(|(sum, rows)| (sum - mean * rows).powi(2)).sum();
    let variance = squares * n_groups / (n_groups - 1.0) / (n_rows * n_rows);
    Some((mean, students_t(sums.len() - 1) * variance.sqrt(), sums.len()))
}

/// How sure an error is if the rows of a group are right and wrong together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByGroup {
    /// How many groups there are.
    pub groups: usize,
    /// Between which error rates the true one of new groups lies, with 95 % confidence.
    pub interval: (f64, f64),
}

impl ByGroup {
    /// Of rows with these groups, classes and predicted classes, judged in this many folds, which add to the variance.
    pub(crate) fn of(groups: &[u32], classes: &[u32], predicted: &[u32], n_folds: usize) -> Option<Self> {
        let pairs = classes.iter().zip(predicted);
        let wrong: Vec<f64> = pairs.map(|(truth, named)| f64::from(u8::from(truth != named))).collect();
        let (error, reach, groups) = mean_by_group(&wrong, groups)?;
        let n_rows = wrong.len() as u64;
        let reach = reach * (n_rows as f64 / rows_of_folds(n_rows, n_folds)).sqrt();
        Some(Self { groups, interval: ((error - reach).max(0.0), (error + reach).min(1.0)) })
    }
}

/// The standard deviation of the errors of several folds.
pub(crate) fn deviation(errors: &[f64]) -> f64 {
    let n_folds = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n_folds;
    (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (n_folds - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_is_that_of_printed_tables() {
        for (freedom, expected) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (23, 2.069), (120, 1.980)]
        {
            assert!(
                (students_t(freedom) - expected).abs() < 2e-3 * expected,
                "{freedom}: {}",
                students_t(freedom)
            );
        }
    }
}
