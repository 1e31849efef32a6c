//! Which pairs of columns say together what neither says alone.
//!
//! A sum of one step function per column is fitted to the rows first, by Newton steps column after column: logistic for
//! classes, least squares for a label that is a quantity. What is left over of every row goes into a table for each pair
//! of columns, one cell for each pair of steps (as in FAST: Lou, Caruana, Gehrke and Hooker 2013). What a row or a column of
//! such a table says by itself is taken out, and the rest compared with what chance leaves. Pairs that say no more
//! than chance does are not found, however many are asked for.
//!
//! One thread does all of it in the order of the rows; classes count in the order in which they first appear. So the
//! outcome does not depend on how rows are stored or read. Time is bounded: many rows are thinned out, and of many columns
//! those take part that say most by themselves.

use crate::rows::labels::Labels;
use rosenblatt_core::elementary;

/// The most rows that are looked at.
const MOST_ROWS: usize = 1 << 14;
const FEWEST_ROWS: usize = 1 << 10;
/// The most columns that are paired.
const MOST_COLUMNS: usize = 128;
/// The most values, rows times columns, that a sweep fits, and the most that go into tables of pairs.
const MOST_FITTED: usize = 1 << 21;
const MOST_ADDED: usize = 1 << 25;
/// How often every column is fitted.
const SWEEPS: usize = 6;
/// The number of quantiles that are steps: of the values, and of the different values.
const STEPS: usize = 8;
const STEPS_OF_DIFFERENT: usize = 5;
/// The most classes that are distinguished, the most frequent ones.
const MOST_CLASSES: usize = 8;
/// More numbers than this are a quantity, not classes.
const MOST_NUMBERS: usize = 32;
/// What is added to the weight of every step and cell, that few rows say little.
const SHRINKAGE: f64 = 1.0;
/// How often the rows and columns of a table are taken out of each other.
const ROUNDS: usize = 8;
/// A pair is found if it says more than chance by this many standard deviations of chance.
const CLEARLY: f64 = 4.0;

/// The rows in which pairs are looked for.
pub(super) struct Seeking<'a> {
    /// The values of each column; a missing one is `NaN`.
    pub(super) columns: &'a [&'a [f64]],
    /// A number drawn for each row.
    pub(super) draws: &'a [u64],
    /// The class of each row.
    pub(super) classes: &'a [u32],
    /// What classes are called.
    pub(super) labels: &'a Labels,
}

/// A column, step by step.
struct Steps {
    /// The step of each row.
    of_rows: Vec<u8>,
    count: usize,
}

/// What is left over of one output once columns have explained what they can alone.
struct Left {
    /// Of each row the gradient of its loss, and its curvature.
    rows: Vec<[f64; 2]>,
    /// How much each column moves the rows.
    moved: Vec<f64>,
}

/// The pairs that say most together, at most `most`, the best first; a pair ascends.
pub(super) fn best_pairs(seeking: &Seeking<'_>, most: usize) -> Vec<[usize; 2]> {
    let mut ranked = ranked_pairs(seeking);
    ranked.truncate(most);
    ranked.into_iter().map(|(_, pair)| pair).collect()
}

/// All pairs that say more than chance does, the best first, with how much more.
fn ranked_pairs(seeking: &Seeking<'_>) -> Vec<(f64, [usize; 2])> {
    let n_columns = seeking.columns.len();
    if n_columns < 2 || seeking.labels.len() < 2 {
        return Vec::new();
    }
    let outputs = outputs(seeking);
    let n_paired = n_columns.min(MOST_COLUMNS);
    let n_pairs = n_paired * (n_paired - 1) / 2 * outputs.len().max(1);
    let limit = (MOST_FITTED / (n_columns * outputs.len().max(1))).min(MOST_ADDED / n_pairs);
    let rows = thinned(seeking.draws, limit.clamp(FEWEST_ROWS, MOST_ROWS));
    let columns: Vec<Steps> = seeking.columns.iter().map(|values| Steps::new(values, &rows)).collect();
    let left: Vec<Left> = outputs.iter().map(|output| Left::new(output, &rows, &columns)).collect();
    let mut paired: Vec<usize> = (0..n_columns).filter(|&column| columns[column].count > 1).collect();
    if paired.len() > MOST_COLUMNS {
        let moved = |column: usize| left.iter().map(|left| left.moved[column]).sum::<f64>();
        paired.sort_by(|&a, &b| moved(b).total_cmp(&moved(a)).then(a.cmp(&b)));
        paired.truncate(MOST_COLUMNS);
        paired.sort_unstable();
    }
    let mut found = Vec::new();
    let mut table = Vec::new();
    for (place, &one) in paired.iter().enumerate() {
        for &other in &paired[place + 1..] {
            let (mut gain, mut by_chance) = (0.0, 0.0);
            for left in &left {
                fill(&mut table, &left.rows, &columns[one], &columns[other]);
                let (more, of_chance) = together(&mut table, columns[other].count);
                (gain, by_chance) = (gain + more, by_chance + of_chance);
            }
            let excess = gain - by_chance;
            if excess > CLEARLY * (2.0 * by_chance).sqrt() {
                found.push((excess, [one, other]));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found
}

/// What is to be explained of the rows: which of two classes they have, whether each of several, or their number.
enum Output {
    Class(Vec<bool>),
    Number(Vec<f64>),
}

fn outputs(seeking: &Seeking<'_>) -> Vec<Output> {
    let Seeking { classes, labels, .. } = seeking;
    let numbers: Option<Vec<f64>> = labels.names().iter().map(|name| name.parse().ok()).collect();
    if let Some(numbers) = numbers.filter(|numbers| numbers.len() > MOST_NUMBERS) {
        let of_rows: Vec<f64> = classes.iter().map(|&class| numbers[class as usize]).collect();
        return vec![Output::Number(of_rows)];
    }
    // By their first row, and how many rows have them.
    let mut seen: Vec<(u32, usize)> = Vec::new();
    let mut places = vec![usize::MAX; labels.len()];
    for &class in *classes {
        let place = &mut places[class as usize];
        if *place == usize::MAX {
            *place = seen.len();
            seen.push((class, 0));
        }
        seen[*place].1 += 1;
    }
    // Stable: of classes as frequent the first stays in front.
    seen.sort_by_key(|(_, n_rows)| std::cmp::Reverse(*n_rows));
    // Of two classes one says all; which one does not matter to the bit, so it is the more frequent.
    seen.truncate(if seen.len() <= 2 { seen.len().saturating_sub(1) } else { MOST_CLASSES });
    let is_of = |wanted: u32| classes.iter().map(|&class| class == wanted).collect();
    seen.into_iter().map(|(class, _)| Output::Class(is_of(class))).collect()
}

/// About `most` rows at most, those with the smallest part of what was drawn for them.
fn thinned(draws: &[u64], most: usize) -> Vec<usize> {
    let mut shift = 0;
    loop {
        // The lowest bits have chosen rows before.
        let is_in = |row: &usize| (draws[*row] >> 32) & ((1 << shift) - 1) == 0;
        let rows: Vec<usize> = (0..draws.len()).filter(is_in).collect();
        if rows.len() <= most || shift == 31 {
            return rows;
        }
        shift += 1;
    }
}

impl Steps {
    fn new(values: &[f64], rows: &[usize]) -> Self {
        let mut sorted: Vec<f64> =
            rows.iter().map(|&row| values[row]).filter(|value| !value.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut different = sorted.clone();
        different.dedup();
        let quantile = |sorted: &[f64], n_steps: usize| -> Vec<f64> {
            (0..n_steps).filter_map(|step| sorted.get(step * sorted.len() / n_steps).copied()).collect()
        };
        let mut edges = if different.len() <= STEPS {
            different
        } else {
            let mut edges = quantile(&sorted, STEPS);
            edges.extend(quantile(&different, STEPS_OF_DIFFERENT));
            edges
        };
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        // A missing value is below all edges.
        let step = |&row: &usize| edges.partition_point(|edge| *edge <= values[row]) as u8;
        Self { of_rows: rows.iter().map(step).collect(), count: edges.len() + 1 }
    }
}

impl Left {
    /// Fits one step function per column.
    fn new(output: &Output, rows: &[usize], columns: &[Steps]) -> Self {
        let n_rows = rows.len().max(1) as f64;
        let truths: Vec<f64> = match output {
            Output::Class(is_of) => rows.iter().map(|&row| f64::from(u8::from(is_of[row]))).collect(),
            Output::Number(numbers) => rows.iter().map(|&row| numbers[row]).collect(),
        };
        let mean = truths.iter().sum::<f64>() / n_rows;
        let is_class = matches!(output, Output::Class(_));
        let start = if is_class { elementary::ln(mean / (1.0 - mean)) } else { mean };
        let mut sums = vec![if start.is_finite() { start } else { 0.0 }; rows.len()];
        let of_row = |truth: f64, sum: f64| {
            if is_class {
                let share = elementary::logistic(sum);
                [truth - share, share * (1.0 - share)]
            } else {
                [truth - sum, 1.0]
            }
        };
        let mut left: Vec<[f64; 2]> =
            truths.iter().zip(&sums).map(|(truth, sum)| of_row(*truth, *sum)).collect();
        let mut heights: Vec<Vec<f64>> = columns.iter().map(|column| vec![0.0; column.count]).collect();
        for _ in 0..SWEEPS {
            for (column, heights) in columns.iter().zip(&mut heights) {
                let mut totals = vec![[0.0; 2]; column.count];
                for (step, [gradient, curvature]) in column.of_rows.iter().zip(&left) {
                    let total = &mut totals[usize::from(*step)];
                    *total = [total[0] + gradient, total[1] + curvature];
                }
                let moves: Vec<f64> = totals.iter().map(|[sum, weight]| sum / (weight + SHRINKAGE)).collect();
                heights.iter_mut().zip(&moves).for_each(|(height, more)| *height += more);
                let rows = column.of_rows.iter().zip(&truths).zip(sums.iter_mut().zip(&mut left));
                for ((step, truth), (sum, left)) in rows {
                    *sum += moves[usize::from(*step)];
                    *left = of_row(*truth, *sum);
                }
            }
        }
        if !is_class {
            let deviation = (left.iter().map(|[rest, _]| rest * rest).sum::<f64>() / n_rows).sqrt();
            // What is explained to the last digit leaves nothing to be explained together.
            let scale = if deviation > 0.0 && deviation.is_finite() { 1.0 / deviation } else { 0.0 };
            for [rest, _] in &mut left {
                *rest *= scale;
            }
        }
        let moved = |(column, heights): (&Steps, &Vec<f64>)| {
            column.of_rows.iter().map(|step| heights[usize::from(*step)].abs()).sum::<f64>()
        };
        let moved = columns.iter().zip(&heights).map(moved).collect();
        Self { rows: left, moved }
    }
}

/// Sums what is left over of the rows by the steps of two columns: for each of the first, all of the second.
fn fill(table: &mut Vec<[f64; 2]>, left: &[[f64; 2]], one: &Steps, other: &Steps) {
    table.clear();
    table.resize(one.count * other.count, [0.0; 2]);
    for ((step, beside), [gradient, curvature]) in one.of_rows.iter().zip(&other.of_rows).zip(left) {
        let cell = &mut table[usize::from(*step) * other.count + usize::from(*beside)];
        *cell = [cell[0] + gradient, cell[1] + curvature];
    }
}

/// How much the cells of a table say that neither its rows nor its columns do, and how much of that chance alone would.
fn together(table: &mut [[f64; 2]], width: usize) -> (f64, f64) {
    let height = table.len() / width;
    // The first cell of every line, how far its cells are apart, and how many they are.
    let rows = (0..height).map(|row| (row * width, 1, width));
    let lines: Vec<(usize, usize, usize)> =
        rows.chain((0..width).map(|column| (column, width, height))).collect();
    let cells =
        |(first, apart, count): (usize, usize, usize)| (0..count).map(move |place| first + place * apart);
    let weight = |table: &[[f64; 2]], line| cells(line).map(|cell| table[cell][1]).sum::<f64>();
    let weights: Vec<f64> = lines.iter().map(|&line| weight(table, line)).collect();
    for _ in 0..ROUNDS {
        for (&line, &weight) in lines.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0) {
            let mean = cells(line).map(|cell| table[cell][0]).sum::<f64>() / weight;
            cells(line).for_each(|cell| table[cell][0] -= table[cell][1] * mean);
        }
    }
    let (mut gain, mut share, mut n_cells) = (0.0, 0.0, 0.0);
    for [sum, curvature] in table.iter().filter(|cell| cell[1] > 0.0) {
        gain += sum * sum / (curvature + SHRINKAGE);
        share += curvature / (curvature + SHRINKAGE);
        n_cells += 1.0;
    }
    // The number of means of rows and columns that were taken out.
    let n_means = weights.iter().filter(|weight| **weight > 0.0).count() as f64 - 1.0;
    let is_free = if n_cells > n_means { (n_cells - n_means) / n_cells } else { 0.0 };
    (gain, share * is_free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;
    use std::collections::{BTreeMap, BTreeSet};

    /// The same by the definition: curves and tables in maps, sums of rows looked up one by one.
    fn plainly(columns: &[Vec<f64>], truths: &[bool]) -> Vec<(f64, [usize; 2])> {
        let n_rows = truths.len();
        let of_class = |truth: bool| f64::from(u8::from(truth));
        let mean = truths.iter().map(|&truth| of_class(truth)).sum::<f64>() / n_rows as f64;
        let mut curves: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); columns.len()];
        // All columns have few values, and each is a step.
        let score = |curves: &[BTreeMap<i64, f64>], row: usize| {
            let at = |(curve, column): (&BTreeMap<i64, f64>, &Vec<f64>)| {
                curve.get(&(column[row] as i64)).copied().unwrap_or(0.0)
            };
            elementary::ln(mean / (1.0 - mean)) + curves.iter().zip(columns).map(at).sum::<f64>()
        };
        let left = |curves: &[BTreeMap<i64, f64>]| -> Vec<(f64, f64)> {
            let of_row = |row: usize| {
                let share = 1.0 / (1.0 + elementary::exp(-score(curves, row)));
                (of_class(truths[row]) - share, share * (1.0 - share))
            };
            (0..n_rows).map(of_row).collect()
        };
        for _ in 0..SWEEPS {
            for column in 0..columns.len() {
                let mut sums: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
                for (value, (gradient, curvature)) in columns[column].iter().zip(left(&curves)) {
                    let sum = sums.entry(*value as i64).or_default();
                    *sum = (sum.0 + gradient, sum.1 + curvature);
                }
                for (value, (gradient, curvature)) in sums {
                    *curves[column].entry(value).or_default() += gradient / (curvature + SHRINKAGE);
                }
            }
        }
        let left = left(&curves);
        let mut found = Vec::new();
        for one in 0..columns.len() {
            for other in one + 1..columns.len() {
                let mut table: BTreeMap<(i64, i64), (f64, f64)> = BTreeMap::new();
                for (row, (gradient, curvature)) in left.iter().enumerate() {
                    let cell =
                        table.entry((columns[one][row] as i64, columns[other][row] as i64)).or_default();
                    *cell = (cell.0 + gradient, cell.1 + curvature);
                }
                let keys: Vec<(i64, i64)> = table.keys().copied().collect();
                let firsts: BTreeSet<i64> = keys.iter().map(|key| key.0).collect();
                let seconds: BTreeSet<i64> = keys.iter().map(|key| key.1).collect();
                for _ in 0..ROUNDS {
                    let mut out = |is_in: &dyn Fn(&(i64, i64)) -> bool| {
                        let cells: Vec<(i64, i64)> = keys.iter().copied().filter(|key| is_in(key)).collect();
                        let sum: f64 = cells.iter().map(|key| table[key].0).sum();
                        let weight: f64 = cells.iter().map(|key| table[key].1).sum();
                        for key in cells {
                            let cell = table.get_mut(&key).unwrap();
                            cell.0 -= cell.1 * sum / weight;
                        }
                    };
                    for first in &firsts {
                        out(&|key| key.0 == *first);
                    }
                    for second in &seconds {
                        out(&|key| key.1 == *second);
                    }
                }
                let gain: f64 = table.values().map(|(sum, weight)| sum * sum / (weight + SHRINKAGE)).sum();
                let share: f64 = table.values().map(|(_, weight)| weight / (weight + SHRINKAGE)).sum();
                let free = (keys.len() + 1 - firsts.len() - seconds.len()) as f64 / keys.len() as f64;
                let excess = gain - share * free;
                if excess > CLEARLY * (2.0 * share * free).sqrt() {
                    found.push((excess, [one, other]));
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found
    }

    #[test]
    fn pairs_are_ranked_as_by_the_definition() {
        let mut n_found = 0;
        for seed in 0..12 {
            let mut random = Random::new(seed);
            let n_rows = 400 + 100 * seed as usize;
            let columns: Vec<Vec<f64>> =
                (2..7).map(|n_values| (0..n_rows).map(|_| random.below(n_values) as f64).collect()).collect();
            let truths: Vec<bool> = (0..n_rows)
                .map(|row| {
                    let together = (columns[0][row] == 1.0) != (columns[3][row] > 2.0);
                    let also = columns[1][row] == columns[2][row];
                    random.unit()
                        < 0.3 + 0.3 * f64::from(u8::from(together)) + 0.2 * f64::from(u8::from(also))
                })
                .collect();
            let expected = plainly(&columns, &truths);
            let lent: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
            let classes: Vec<u32> = truths.iter().map(|&truth| u32::from(truth)).collect();
            let labels = Labels::in_order(["no", "yes"]);
            let seeking =
                Seeking { columns: &lent, draws: &vec![0; n_rows], classes: &classes, labels: &labels };
            let found = ranked_pairs(&seeking);
            let pairs = |found: &[(f64, [usize; 2])]| found.iter().map(|found| found.1).collect::<Vec<_>>();
            assert_eq!(pairs(&found), pairs(&expected), "seed {seed}");
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found.0 - expected.0).abs() < 1e-6 * expected.0, "{found:?} is not {expected:?}");
            }
            n_found += found.len();
        }
        assert!(n_found >= 12, "{n_found}");
    }

    /// A quantity is explained as such, and a class of several as one against the others.
    #[test]
    fn numbers_and_many_classes_have_pairs_too() {
        let mut random = Random::new(5);
        let n_rows = 1_500;
        let columns: Vec<Vec<f64>> =
            (0..4).map(|_| (0..n_rows).map(|_| random.unit() - 0.5).collect()).collect();
        let lent: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        let draws = vec![0; n_rows];
        let product = |row: usize| columns[1][row] * columns[2][row];
        let names: Vec<String> = (0..n_rows)
            .map(|row| format!("{}", 5.0 * columns[0][row] + 40.0 * product(row) + random.unit()))
            .collect();
        let labels = Labels::in_order(names);
        let classes: Vec<u32> = (0..n_rows as u32).collect();
        let seeking = Seeking { columns: &lent, draws: &draws, classes: &classes, labels: &labels };
        assert_eq!(best_pairs(&seeking, 9), [[1, 2]]);
        let classes: Vec<u32> = (0..n_rows)
            .map(|row| u32::from(product(row) > 0.05) + 2 * u32::from(columns[0][row] > 0.2))
            .collect();
        let labels = Labels::in_order(["a", "b", "c", "d"]);
        let seeking = Seeking { classes: &classes, labels: &labels, ..seeking };
        assert_eq!(best_pairs(&seeking, 1), [[1, 2]]);
        assert_eq!(best_pairs(&seeking, 0).len(), 0);
    }

    #[test]
    fn few_rows_of_many_are_looked_at() {
        let mut random = Random::new(1);
        let draws: Vec<u64> = (0..100_000).map(|_| random.below(u64::MAX)).collect();
        let rows = thinned(&draws, 5_000);
        assert!((2_000..=5_000).contains(&rows.len()), "{}", rows.len());
        assert!(rows.is_sorted());
        assert_eq!(thinned(&draws[..5_000], 5_000).len(), 5_000);
    }
}
