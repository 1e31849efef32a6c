//! In which order rows are visited, epoch by epoch.
//!
//! All randomness comes from one seed, and a sequence can be asked for any epoch: what epoch 7 looks
//! like depends on the seed and on 7, so a resumed run sees what an undisturbed one would have seen.

use crate::random::Random;
use std::collections::BTreeSet;

/// An order of visits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Order {
    /// As the rows stand, again and again.
    #[default]
    Given,
    /// Shuffled once, then the same order in every epoch.
    ShuffleOnce,
    /// Shuffled anew for every epoch.
    ShuffleEpoch,
    /// Every visit a fresh uniform draw, with replacement; an epoch is as many draws as there are rows.
    Draws,
    /// This order, in every epoch.
    Permutation(Vec<u32>),
    /// Always the row with the smallest margin. An epoch is as many steps as there are rows.
    Worst,
}

impl Order {
    /// The rows of epoch `epoch` (from 1) in order, drawn from `rows`. [`Order::Given`] and
    /// [`Order::Worst`] leave them as they are.
    pub fn arrange(&self, rows: &[u32], epoch: u64, seed: u64) -> Vec<u32> {
        let random =
            |epoch: u64| Random::new(Random::for_purpose(seed, "order").next().wrapping_add(epoch << 32));
        match self {
            Self::Given | Self::Worst => rows.to_vec(),
            Self::ShuffleOnce | Self::ShuffleEpoch => {
                let mut shuffled = rows.to_vec();
                random(if *self == Self::ShuffleOnce { 0 } else { epoch }).shuffle(&mut shuffled);
                shuffled
            }
            Self::Draws => {
                let mut random = random(epoch);
                rows.iter().map(|_| rows[random.below(rows.len() as u64) as usize]).collect()
            }
            Self::Permutation(order) => {
                // Rows of the validation set, or not there at all, are not visited.
                let end = rows.iter().max().map_or(0, |&last| last as usize + 1);
                let mut wanted = vec![false; end];
                for &row in rows {
                    wanted[row as usize] = true;
                }
                order.iter().copied().filter(|&row| wanted.get(row as usize) == Some(&true)).collect()
            }
        }
    }

    /// Whether one epoch visits every one of `rows`, so that an epoch without an update proves that nothing
    /// is left to learn from them.
    pub fn covers(&self, rows: &[u32]) -> bool {
        match self {
            Self::Permutation(order) => {
                let visited: BTreeSet<u32> = order.iter().copied().collect();
                rows.iter().all(|row| visited.contains(row))
            }
            _ => self.visits_every_row(),
        }
    }

    /// Whether every epoch visits the same rows in the same order.
    pub fn repeats(&self) -> bool {
        matches!(self, Self::Given | Self::ShuffleOnce | Self::Permutation(_))
    }

    /// Whether one epoch is certain to visit every row, so that an epoch without an update proves that
    /// nothing is left to learn.
    pub fn visits_every_row(&self) -> bool {
        !matches!(self, Self::Draws | Self::Worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_depend_on_seed_and_number_only() {
        let rows: Vec<u32> = (0..50).collect();
        let epoch = |order: &Order, epoch| order.arrange(&rows, epoch, 9);
        assert_eq!(epoch(&Order::Given, 3), rows);
        assert_eq!(epoch(&Order::ShuffleOnce, 1), epoch(&Order::ShuffleOnce, 2));
        assert_ne!(epoch(&Order::ShuffleEpoch, 1), epoch(&Order::ShuffleEpoch, 2));
        assert_eq!(epoch(&Order::ShuffleEpoch, 2), epoch(&Order::ShuffleEpoch, 2));
        let mut shuffled = epoch(&Order::ShuffleEpoch, 5);
        shuffled.sort_unstable();
        assert_eq!(shuffled, rows);
        assert!(Order::Permutation(shuffled.clone()).covers(&rows));
        assert!(!Order::Permutation(vec![1, 0]).covers(&rows) && !Order::Draws.covers(&rows));
        let draws = epoch(&Order::Draws, 1);
        assert_eq!(draws.len(), 50);
        assert!(draws.iter().all(|row| *row < 50));
    }
}
