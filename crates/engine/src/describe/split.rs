//! Parts of a data set, as lists of row numbers: every class in the same proportion, by a seed.

use crate::rows::RowSource;
use rosenblatt_core::Random;
use rosenblatt_data::Dataset;

/// Rows to learn from, and rows to judge by.
pub(crate) type Part = (Vec<u32>, Vec<u32>);

/// Splits the rows in two, `fraction` of every class into the second part. Both lists ascend.
///
/// ```
/// use rosenblatt::Dataset;
/// use rosenblatt::split::split;
///
/// let data = Dataset::from_rows(&[[0.0]; 10], &["a", "b", "a", "b", "a", "b", "a", "b", "a", "b"]);
/// let (train, test) = split(&data, 0.4, 7);
/// assert_eq!((train.len(), test.len()), (6, 4));
/// assert_eq!(test.iter().filter(|&&row| row % 2 == 0).count(), 2);
/// ```
pub fn split<'a>(data: impl Into<RowSource<'a>>, fraction: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let data = data.into();
    split_rows(data.classes(), &data.all(), fraction, seed)
}

pub(crate) fn split_rows(classes: &[u32], rows: &[u32], fraction: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for members in shuffled_by_class(classes, rows, seed, "split") {
        // At least one row of every class stays, or it could not be learned.
        let n_held = (members.len() as f64 * fraction).round() as usize;
        let n_held = n_held.min(members.len().saturating_sub(1));
        held.extend(&members[..n_held]);
        kept.extend(&members[n_held..]);
    }
    kept.sort_unstable();
    held.sort_unstable();
    (kept, held)
}

/// Splits the rows into `n_folds` parts of nearly equal size, every class spread evenly.
pub fn folds(data: &Dataset, n_folds: usize, seed: u64) -> Vec<Vec<u32>> {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    fold_rows(data.classes(), &rows, n_folds, seed)
}

pub(crate) fn fold_rows(classes: &[u32], rows: &[u32], n_folds: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut folds = vec![Vec::new(); n_folds];
    let by_class = shuffled_by_class(classes, rows, seed, "folds");
    for (place, row) in by_class.into_iter().flatten().enumerate() {
        folds[place % n_folds].push(row);
    }
    for fold in &mut folds {
        fold.sort_unstable();
    }
    folds
}

fn shuffled_by_class(classes: &[u32], rows: &[u32], seed: u64, purpose: &str) -> Vec<Vec<u32>> {
    let n_classes = rows.iter().map(|&row| classes[row as usize] as usize + 1).max().unwrap_or(0);
    let mut by_class = vec![Vec::new(); n_classes];
    for &row in rows {
        by_class[classes[row as usize] as usize].push(row);
    }
    let mut random = Random::for_purpose(seed, purpose);
    for members in &mut by_class {
        random.shuffle(members);
    }
    by_class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_part_the_rows_and_spread_the_classes() {
        let names: Vec<String> =
            (0..31).map(|row| if row < 10 { "rare" } else { "common" }.to_owned()).collect();
        let data = Dataset::from_rows(&vec![[1.0]; 31], &names);
        let folds = folds(&data, 5, 1);
        let mut all: Vec<u32> = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..31).collect::<Vec<_>>());
        for fold in &folds {
            assert!((6..=7).contains(&fold.len()));
            assert_eq!(fold.iter().filter(|&&row| row < 10).count(), 2);
        }
    }

    #[test]
    fn a_lonely_row_of_a_class_is_kept_for_training() {
        let data = Dataset::from_rows(&[[1.0], [2.0], [3.0]], &["a", "a", "b"]);
        let (train, test) = split(&data, 0.5, 0);
        assert!(train.contains(&2) && !test.contains(&2));
    }
}
