//! Parts of a data set, as lists of row numbers: every class in the same proportion, by a seed; or by what ties rows
//! together, so that later rows judge what was learned from earlier ones, and no group is on both sides.

use crate::error::{Error, refuse};
use crate::rows::RowSource;
use rosenblatt_core::Random;
use rosenblatt_data::Dataset;
use std::collections::HashSet;

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

/// Parts of all rows of these classes, as many as there are folds: what is learned from all folds but one judges that one.
pub(crate) fn parts_of_folds(
    classes: &[u32],
    ties: &Ties,
    n_folds: usize,
    seed: u64,
) -> Result<Vec<Part>, Error> {
    if n_folds < 2 {
        return refuse("folds", "at least 2", n_folds);
    }
    if n_folds > classes.len() {
        return Err(Error::TooFewRows { folds: n_folds, rows: classes.len() });
    }
    let all: Vec<u32> = (0..classes.len() as u32).collect();
    ties.parts(classes, &all, n_folds, seed)
}

/// What ties rows together: when each was taken, and which belong together. Rows that nothing ties are drawn alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ties {
    times: Option<Vec<u32>>,
    groups: Option<Vec<u32>>,
}

impl Ties {
    /// Rows of which each has its place in time, and that are judged by what was learned from earlier ones.
    #[must_use]
    pub(crate) fn in_time(self, times: Vec<u32>) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Rows of which each has the number of its group, and that are judged by what was learned from other groups.
    #[must_use]
    pub(crate) fn in_groups(self, groups: Vec<u32>) -> Self {
        Self { groups: Some(groups), ..self }
    }

    /// Whether nothing ties the rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_none() && self.groups.is_none()
    }

    /// How many folds can be made of the rows, if groups limit that.
    pub(crate) fn most_folds(&self) -> Option<usize> {
        let groups = self.groups.as_ref().filter(|_| self.times.is_none())?;
        // A part that holds one group is split like any rows.
        Some(groups.iter().collect::<HashSet<_>>().len()).filter(|n_groups| *n_groups > 1)
    }

    /// What ties these rows, numbered anew in their order.
    pub(crate) fn of(&self, rows: &[u32]) -> Self {
        let chosen = |all: &Vec<u32>| rows.iter().map(|&row| all[row as usize]).collect();
        Self { times: self.times.as_ref().map(chosen), groups: self.groups.as_ref().map(chosen) }
    }

    /// The groups of these rows, if groups tie them.
    pub(crate) fn groups_of(&self, rows: &[u32]) -> Option<Vec<u32>> {
        let groups = self.groups.as_ref()?;
        Some(rows.iter().map(|&row| groups[row as usize]).collect())
    }

    /// Splits the rows in two, about `fraction` of them to judge by.
    pub(crate) fn split(
        &self,
        classes: &[u32],
        rows: &[u32],
        fraction: f64,
        seed: u64,
    ) -> Result<Part, Error> {
        let part = match (&self.times, &self.groups) {
            (Some(times), _) => {
                let ordered = in_order_of(times, rows);
                let at = ordered.len() - (ordered.len() as f64 * fraction).round() as usize;
                let cut = cut(times, &ordered, at).ok_or_else(one_time)?;
                self.part(ordered[..cut].to_vec(), ordered[cut..].to_vec())
            }
            (None, Some(groups)) => {
                let wanted = (rows.len() as f64 * fraction).round() as usize;
                let by_group = members(groups, rows, seed);
                // All rows have two groups at least, a part of them need not: it is split like any rows.
                if by_group.len() < 2 {
                    return Ok(split_rows(classes, rows, fraction, seed));
                }
                let smallest = by_group.iter().map(Vec::len).min().unwrap_or(0);
                // A part is split again, by groups as well: half of them stay.
                let mut n_allowed = by_group.len() / 2;
                let mut left = counts(classes, rows);
                let (mut learned, mut held) = (Vec::new(), Vec::new());
                for group in by_group {
                    let of_group = counts(classes, &group);
                    // Every class is left to learn from, as far as groups allow.
                    let is_spared =
                        of_group.iter().zip(&left).all(|(n_here, n_left)| n_here < n_left || *n_here == 0);
                    let fits = held.len() + group.len() <= wanted.max(smallest);
                    if is_spared && fits && n_allowed > 0 {
                        left.iter_mut().zip(of_group).for_each(|(n_left, n_here)| *n_left -= n_here);
                        held.extend(group);
                        n_allowed -= 1;
                    } else {
                        learned.extend(group);
                    }
                }
                self.part(learned, held)
            }
            (None, None) => return Ok(split_rows(classes, rows, fraction, seed)),
        };
        if part.1.is_empty() || n_classes(classes, &part.0) < n_classes(classes, rows).min(2) {
            return Err(self.one_class());
        }
        Ok(part)
    }

    /// Parts of which each is judged by what was learned from the others, or from earlier rows only: then the earlier
    /// half of the rows is learned from in every part.
    pub(crate) fn parts(
        &self,
        classes: &[u32],
        rows: &[u32],
        n_folds: usize,
        seed: u64,
    ) -> Result<Vec<Part>, Error> {
        let mut parts = Vec::new();
        match (&self.times, &self.groups) {
            (Some(times), _) => {
                let ordered = in_order_of(times, rows);
                let place = |fold: usize| ordered.len() / 2 + ordered.len().div_ceil(2) * fold / n_folds;
                let mut cuts: Vec<usize> =
                    (0..n_folds).filter_map(|fold| cut(times, &ordered, place(fold))).collect();
                cuts.dedup();
                if cuts.is_empty() {
                    return Err(one_time());
                }
                for (number, &from) in cuts.iter().enumerate() {
                    let to = cuts.get(number + 1).copied().unwrap_or(ordered.len());
                    parts.push(self.part(ordered[..from].to_vec(), ordered[from..to].to_vec()));
                }
            }
            (None, Some(groups)) => {
                let mut by_group = members(groups, rows, seed);
                if by_group.len() < 2 {
                    return Self::default().parts(classes, rows, n_folds, seed);
                }
                if by_group.len() < n_folds {
                    let (name, expected) = ("folds", "at most the number of groups, and at least 2");
                    let found = format!("{n_folds} with {} groups", by_group.len());
                    return Err(Error::Range { name, expected, found });
                }
                by_group.sort_by_key(|group| std::cmp::Reverse(group.len()));
                let totals = counts(classes, rows);
                let mut folds = vec![(vec![0; totals.len()], Vec::new()); n_folds];
                for group in by_group {
                    let of_group = counts(classes, &group);
                    // The fold that has least of the group's classes, then the one with fewest rows.
                    let crowd = |(n_there, rows): &(Vec<usize>, Vec<u32>)| {
                        let shares = n_there.iter().zip(&of_group).zip(&totals);
                        let crowd =
                            shares.map(|((there, here), total)| there * here * 1000 / (*total).max(1));
                        (crowd.sum::<usize>(), rows.len())
                    };
                    if let Some((there, rows)) = folds.iter_mut().min_by_key(|fold| crowd(fold)) {
                        there.iter_mut().zip(of_group).for_each(|(there, here)| *there += here);
                        rows.extend(group);
                    }
                }
                for number in 0..n_folds {
                    let others = folds.iter().enumerate().filter(|(other, _)| *other != number);
                    let learned = others.flat_map(|(_, (_, rows))| rows).copied().collect();
                    parts.push(self.part(learned, folds[number].1.clone()));
                }
            }
            (None, None) => {
                let folds = fold_rows(classes, rows, n_folds, seed);
                for held in &folds {
                    let is_held: HashSet<u32> = held.iter().copied().collect();
                    let learned = rows.iter().copied().filter(|row| !is_held.contains(row)).collect();
                    parts.push((learned, held.clone()));
                }
                return Ok(parts);
            }
        }
        let n_needed = n_classes(classes, rows).min(2);
        parts.retain(|(learned, held)| !held.is_empty() && n_classes(classes, learned) >= n_needed);
        if parts.is_empty() { Err(self.one_class()) } else { Ok(parts) }
    }

    /// A part in the order of the rows, whose groups to judge by are not learned from.
    fn part(&self, mut learned: Vec<u32>, mut held: Vec<u32>) -> Part {
        if let Some(groups) = &self.groups {
            let judged: HashSet<u32> = held.iter().map(|&row| groups[row as usize]).collect();
            learned.retain(|&row| !judged.contains(&groups[row as usize]));
        }
        learned.sort_unstable();
        held.sort_unstable();
        (learned, held)
    }

    fn one_class(&self) -> Error {
        let (name, expected) = match (&self.times, &self.groups) {
            (Some(_), Some(_)) => (
                "group",
                "a column of groups that end before later rows begin, with rows of two classes or numbers among them, where \
                 rows are split by time as well",
            ),
            (Some(_), None) => ("time", "a column by whose order the earlier rows hold two classes at least"),
            (None, _) => {
                ("group", "a column by whose groups some rows of two classes are left to learn from")
            }
        };
        Error::Range { name, expected, found: "one that leaves fewer".to_owned() }
    }
}

fn one_time() -> Error {
    let (name, expected) = ("time", "a column of two times at least");
    Error::Range { name, expected, found: "one with the same time in all rows to split".to_owned() }
}

fn in_order_of(times: &[u32], rows: &[u32]) -> Vec<u32> {
    let mut ordered = rows.to_vec();
    ordered.sort_by_key(|&row| (times[row as usize], row));
    ordered
}

/// The place nearest to `at` where the time changes, so that rows of one time stay together; `None` if it never does.
fn cut(times: &[u32], ordered: &[u32], at: usize) -> Option<usize> {
    let changes = |&place: &usize| times[ordered[place - 1] as usize] < times[ordered[place] as usize];
    let at = at.clamp(1, ordered.len().max(2) - 1);
    let before = (1..=at.min(ordered.len().saturating_sub(1))).rev().find(changes);
    let after = (at..ordered.len()).find(changes);
    match (before, after) {
        (Some(before), Some(after)) => Some(if at - before <= after - at { before } else { after }),
        (before, after) => before.or(after),
    }
}

/// The rows of each group, the groups in an order by the seed.
fn members(groups: &[u32], rows: &[u32], seed: u64) -> Vec<Vec<u32>> {
    let mut numbers: Vec<u32> = rows.iter().map(|&row| groups[row as usize]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut members = vec![Vec::new(); numbers.len()];
    for &row in rows {
        members[numbers.partition_point(|&number| number < groups[row as usize])].push(row);
    }
    Random::for_purpose(seed, "groups").shuffle(&mut members);
    members
}

fn counts(classes: &[u32], rows: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; classes.iter().map(|&class| class as usize + 1).max().unwrap_or(0)];
    for &row in rows {
        counts[classes[row as usize] as usize] += 1;
    }
    counts
}

fn n_classes(classes: &[u32], rows: &[u32]) -> usize {
    counts(classes, rows).iter().filter(|count| **count > 0).count()
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

    fn classes() -> Vec<u32> {
        (0..120).map(|row| row % 3 % 2).collect()
    }

    #[test]
    fn later_rows_judge_earlier_ones_and_rows_of_one_time_stay_together() {
        let times: Vec<u32> = (0..120).map(|row| (row * 7 % 120) / 4).collect();
        let (ties, rows) = (Ties::default().in_time(times.clone()), (0..120).collect::<Vec<u32>>());
        let is_later = |(learned, held): &Part| {
            let last = learned.iter().map(|&row| times[row as usize]).max();
            last < held.iter().map(|&row| times[row as usize]).min()
        };
        let part = ties.split(&classes(), &rows, 0.25, 1).unwrap();
        assert!(is_later(&part) && part.1.len() == 32, "{}", part.1.len());
        let parts = ties.parts(&classes(), &rows, 5, 1).unwrap();
        assert!(parts.len() == 5 && parts.iter().all(is_later));
        let held: Vec<u32> = parts.into_iter().flat_map(|(_, held)| held).collect();
        assert_eq!(held.len(), 60);
        // One time, or one class at first.
        assert!(Ties::default().in_time(vec![3; 120]).split(&classes(), &rows, 0.2, 1).is_err());
        let late: Vec<u32> = (0..120).map(|row| u32::from(row > 100)).collect();
        assert!(Ties::default().in_time((0..120).collect()).split(&late, &rows, 0.3, 1).is_err());
    }

    #[test]
    fn a_group_is_never_on_both_sides() {
        let groups: Vec<u32> = (0..120).map(|row| row * 13 % 120 / 9).collect();
        let (ties, rows) = (Ties::default().in_groups(groups.clone()), (0..120).collect::<Vec<u32>>());
        let is_apart = |(learned, held): &Part| {
            let there: HashSet<u32> = held.iter().map(|&row| groups[row as usize]).collect();
            learned.iter().all(|&row| !there.contains(&groups[row as usize]))
        };
        let part = ties.split(&classes(), &rows, 0.25, 1).unwrap();
        assert!(is_apart(&part) && (20..=30).contains(&part.1.len()), "{}", part.1.len());
        let parts = ties.parts(&classes(), &rows, 5, 1).unwrap();
        assert!(parts.len() == 5 && parts.iter().all(is_apart));
        assert_eq!(parts.iter().map(|(_, held)| held.len()).sum::<usize>(), 120);
        assert!(parts.iter().all(|(_, held)| (15..=36).contains(&held.len())));
        // A part that holds one group is split like any rows.
        let one = Ties::default().in_groups(vec![0; 120]);
        assert_eq!(
            one.split(&classes(), &rows, 0.2, 1).ok(),
            Ties::default().split(&classes(), &rows, 0.2, 1).ok()
        );
        assert_eq!((one.most_folds(), ties.most_folds()), (None, Some(14)));
        // A large group and four small ones: parts of parts keep groups apart, and the large one is learned from.
        let uneven: Vec<u32> = (0..120).map(|row| if row < 100 { 0 } else { row % 4 + 1 }).collect();
        let tied = Ties::default().in_groups(uneven.clone());
        let (learned, held) = tied.split(&classes(), &rows, 0.2, 1).unwrap();
        let (inner, judged) = tied.split(&classes(), &learned, 0.2, 1).unwrap();
        for (learned, held) in [(&learned, &held), (&inner, &judged)] {
            assert!(learned.len() >= 100 && !held.is_empty());
            let of = |rows: &[u32]| rows.iter().map(|&row| uneven[row as usize]).collect::<HashSet<_>>();
            assert!(of(learned).is_disjoint(&of(held)));
        }
        assert!(ties.parts(&classes(), &rows, 15, 1).is_err());
        // Both: what is later, less the groups that it holds.
        let both = ties.clone().in_time((0..120).collect());
        let (learned, held) = both.split(&classes(), &rows, 0.1, 1).unwrap();
        assert!(is_apart(&(learned.clone(), held.clone())) && learned.iter().max() < held.iter().min());
        assert!(learned.len() < 108);
    }

    #[test]
    fn a_lonely_row_of_a_class_is_kept_for_training() {
        let data = Dataset::from_rows(&[[1.0], [2.0], [3.0]], &["a", "a", "b"]);
        let (train, test) = split(&data, 0.5, 0);
        assert!(train.contains(&2) && !test.contains(&2));
    }
}
