//! What makes an estimate too good to be true: a feature that alone decides the label, rows that stand on both
//! sides of a split, and rows that change along the file, which an estimate from rows in any order does not show.
//!
//! A feature decides the label if the values that each class has of it lie in an interval of their own, and a column of
//! categories if each category has one class. Most features are out of the question after a few hundred rows, so that a
//! look at all rows costs little.

use rosenblatt_core::{Examples, Row};
use rosenblatt_data::{ColumnKind, Dataset, Scaling, Schema, Visitor, visit};
use std::collections::HashSet;

/// Of fewer rows a feature may decide the label by chance.
const FEWEST_ROWS: usize = 30;
/// Of fewer rows of a class, or of a category, too.
const FEWEST_OF_EACH: usize = 5;
/// With more numbers than this, for each feature and class, the check is skipped.
const MOST_EXTENTS: usize = 1 << 22;
/// The rows to look at before features are left out for the first time.
const FIRST_LOOK: usize = 512;
/// How many features a note names.
const NAMED: usize = 4;
/// How a note on rows whose order reveals their classes begins.
pub(super) const ORDER: &str = "the order of the rows predicts their class";
/// With fewer rows, there is no note on their order.
const FEWEST_STRETCHED: usize = 100;
/// Into this many stretches a file is cut.
const STRETCHES: usize = 10;
/// Classes are uneven along a file if they are this many standard deviations from chance, and this strongly: 0 if
/// the place tells nothing, 1 if it tells the class.
const FAR: f64 = 6.0;
const STRONG: f64 = 0.02;
/// The error has drifted if its thirds differ by this many standard errors.
const DRIFTED: f64 = 4.0;
/// How many values of a row are compared before all are.
const FIRST_VALUES: usize = 8;

/// The columns, or features, that alone decide the label, in words.
pub(super) fn deciding(data: &Dataset, schema: &Schema) -> Option<String> {
    let mut counts = vec![0_usize; data.labels().len()];
    data.classes().iter().for_each(|&class| counts[class as usize] += 1);
    let n_classes = counts.iter().filter(|count| **count > 0).count();
    let is_rare = |count: &usize| (1..FEWEST_OF_EACH).contains(count);
    // A row of length 1 has no value that is a feature's alone.
    let mixes = schema.scaler.as_ref().is_some_and(|scaler| scaler.scaling == Scaling::UnitNorm);
    let is_too_much = data.width().saturating_mul(counts.len()) > MOST_EXTENTS;
    if data.len() < FEWEST_ROWS || n_classes < 2 || counts.iter().any(is_rare) || mixes || is_too_much {
        return None;
    }
    let runs = schema.runs();
    let mut column_of = vec![None; data.width()];
    let mut groups = Vec::new();
    for (column, (_, features)) in schema.columns.iter().zip(runs) {
        if matches!(column.kind, ColumnKind::Text(_)) {
            continue;
        }
        let start = features.start;
        column_of[features.clone()].fill(Some(&column.name));
        // What bends has several features that are no categories.
        if features.len() > 1 && !matches!(column.kind, ColumnKind::Number { .. }) {
            groups.push(Group { start, classes: vec![None; features.len() + 1], is_alive: true });
        }
    }
    let found = data.visit(Deciding { groups, n_classes: counts.len() });
    let names = data.feature_names();
    let name = |feature: usize| match (column_of.get(feature).copied().flatten(), names) {
        (Some(column), _) => format!("column `{column}`"),
        (None, Some(names)) => format!("feature `{}`", names[feature]),
        (None, None) => format!("feature {}", feature + usize::from(!schema.zero_based)),
    };
    let shown: Vec<String> = found.iter().take(NAMED).map(|&feature| name(feature)).collect();
    let more = if found.len() > NAMED { format!(" and {} more", found.len() - NAMED) } else { String::new() };
    (!shown.is_empty()).then(|| {
        format!(
            "the label is decided by {}{more} alone: leave it out if it is not known before the label is",
            shown.join(", or by ")
        )
    })
}

/// A column of more than two categories: the class of each, and of none of them.
struct Group {
    start: usize,
    classes: Vec<Option<u32>>,
    is_alive: bool,
}

struct Deciding {
    groups: Vec<Group>,
    n_classes: usize,
}

/// What a class has of a feature.
#[derive(Clone, Copy)]
struct Extent {
    least: f64,
    largest: f64,
    n_values: usize,
}

const NOTHING: Extent = Extent { least: f64::INFINITY, largest: f64::NEG_INFINITY, n_values: 0 };

impl Visitor for Deciding {
    /// The features, each column of categories by its first.
    type Output = Vec<usize>;

    fn visit<E: Examples>(mut self, examples: E) -> Vec<usize> {
        let (n_rows, n_classes, width) = (examples.len(), self.n_classes, examples.width());
        let mut group_of: Vec<Option<usize>> = vec![None; width];
        for (number, group) in self.groups.iter().enumerate() {
            group_of[group.start..group.start + group.classes.len() - 1].fill(Some(number));
        }
        let mut alive: Vec<usize> = (0..width).filter(|&feature| group_of[feature].is_none()).collect();
        let mut place_of: Vec<Option<usize>> = vec![None; width];
        alive.iter().enumerate().for_each(|(place, &feature)| place_of[feature] = Some(place));
        let mut extents = vec![NOTHING; alive.len() * n_classes];
        let mut n_seen = vec![0_usize; n_classes];
        let (mut done, mut until) = (0, FIRST_LOOK);
        let mut values = vec![0; self.groups.len()];
        while done < n_rows && (!alive.is_empty() || self.groups.iter().any(|group| group.is_alive)) {
            for row in done..n_rows.min(until) {
                let class = examples.class(row) as usize;
                n_seen[class] += 1;
                values
                    .iter_mut()
                    .zip(&self.groups)
                    .for_each(|(value, group)| *value = group.classes.len() - 1);
                for (feature, value) in examples.row(row).entries().filter(|(_, value)| *value != 0.0) {
                    if let Some(place) = place_of[feature] {
                        let extent = &mut extents[place * n_classes + class];
                        extent.least = extent.least.min(value);
                        extent.largest = extent.largest.max(value);
                        extent.n_values += 1;
                    } else if let Some(group) = group_of[feature] {
                        values[group] = feature - self.groups[group].start;
                    }
                }
                for (group, &value) in self.groups.iter_mut().zip(&values) {
                    let known = group.classes[value].get_or_insert(class as u32);
                    group.is_alive &= *known == class as u32;
                }
            }
            (done, until) = (n_rows.min(until), until * 8);
            let is_apart = |place: usize| are_apart(&extents[place * n_classes..][..n_classes], &n_seen);
            let (kept, left): (Vec<usize>, Vec<usize>) = (0..alive.len()).partition(|&place| is_apart(place));
            for place in left {
                place_of[alive[place]] = None;
            }
            extents =
                kept.iter().flat_map(|place| &extents[place * n_classes..][..n_classes]).copied().collect();
            alive = kept.iter().map(|&place| alive[place]).collect();
            alive.iter().enumerate().for_each(|(place, &feature)| place_of[feature] = Some(place));
        }
        let is_used = |group: &&Group| {
            let n_values = group.classes.iter().flatten().count();
            group.is_alive && n_rows >= FEWEST_OF_EACH * n_values
        };
        alive.extend(self.groups.iter().filter(is_used).map(|group| group.start));
        alive.sort_unstable();
        alive
    }
}

/// Whether the values of each class lie in an interval of their own, zeros that are not stored among them.
fn are_apart(extents: &[Extent], n_seen: &[usize]) -> bool {
    let seen = extents.iter().zip(n_seen).filter(|(_, n_rows)| **n_rows > 0);
    let mut intervals: Vec<(f64, f64)> = seen
        .map(|(extent, &n_rows)| {
            let has_zeros = extent.n_values < n_rows;
            let zero = |other: f64| if has_zeros { 0.0 } else { other };
            (extent.least.min(zero(extent.least)), extent.largest.max(zero(extent.largest)))
        })
        .collect();
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    intervals.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

/// Whether the order of the rows tells their classes, in words.
pub(super) fn ordered(data: &Dataset) -> Option<String> {
    let n_rows = data.len();
    let n_classes = data.labels().len();
    if n_rows < FEWEST_STRETCHED || n_classes > n_rows / FEWEST_OF_EACH {
        return None;
    }
    let mut counts = vec![[0_usize; STRETCHES]; n_classes];
    for (row, &class) in data.classes().iter().enumerate() {
        counts[class as usize][row * STRETCHES / n_rows] += 1;
    }
    let length = |stretch: usize| counts.iter().map(|of| of[stretch]).sum::<usize>() as f64;
    let totals: Vec<f64> = counts.iter().map(|of| of.iter().sum::<usize>() as f64).collect();
    let mut distance = 0.0;
    for (of, total) in counts.iter().zip(&totals).filter(|(_, total)| **total > 0.0) {
        for (stretch, &found) in of.iter().enumerate() {
            let expected = total * length(stretch) / n_rows as f64;
            distance += (found as f64 - expected).powi(2) / expected;
        }
    }
    let n_known = totals.iter().filter(|total| **total > 0.0).count();
    let freedom = (n_known.saturating_sub(1) * (STRETCHES - 1)) as f64;
    let strength = distance / (n_rows as f64 * (n_known.clamp(2, STRETCHES) - 1) as f64);
    if distance < freedom + FAR * (2.0 * freedom).sqrt() || strength < STRONG {
        return None;
    }
    let share = |class: usize, stretch: usize| counts[class][stretch] as f64 / length(stretch);
    let change = |class: usize| {
        let shares = (0..STRETCHES).map(|stretch| share(class, stretch));
        shares.fold((f64::INFINITY, 0.0_f64), |(least, most), share| (least.min(share), most.max(share)))
    };
    let most = (0..n_classes).max_by(|&a, &b| {
        let width = |(least, most): (f64, f64)| most - least;
        width(change(a)).total_cmp(&width(change(b)))
    })?;
    let (least, largest) = change(most);
    Some(format!(
        "{ORDER}: of each tenth of the file, {:.0} % to {:.0} % are `{}`; \
         the estimate shuffles the rows, so if they come in time, split by the column of times",
        100.0 * least,
        100.0 * largest,
        data.labels().name(most as u32)
    ))
}

/// Whether the error on held-out rows changes along the file, in words: their numbers, and whether they were wrong.
pub(super) fn drifting(mut judged: Vec<(u32, bool)>) -> Option<String> {
    if judged.len() < FEWEST_STRETCHED {
        return None;
    }
    judged.sort_unstable();
    let third = judged.len() / 3;
    let n_wrong = |rows: &[(u32, bool)]| rows.iter().filter(|(_, wrong)| *wrong).count() as f64;
    let first = n_wrong(&judged[..third]) / third as f64;
    let last = n_wrong(&judged[judged.len() - third..]) / third as f64;
    let mean = f64::midpoint(first, last);
    let spread = (2.0 * mean * (1.0 - mean) / third as f64).sqrt();
    ((last - first).abs() > DRIFTED * spread && spread > 0.0).then(|| {
        format!(
            "the error changes along the file, {:.1} % of the first third of the held-out rows and {:.1} % of the last: if \
             rows come in time, split by its column, and later rows judge what earlier ones taught",
            100.0 * first,
            100.0 * last
        )
    })
}

/// How many rows of `held` have the values of a row of `learned`.
pub(super) fn copies(data: &Dataset, learned: &[u32], held: &[u32]) -> usize {
    visit!(data.view(), examples => {
        let digest = |row: u32, most| digest(examples.row(row as usize), most);
        let firsts: HashSet<u64> = held.iter().map(|&row| digest(row, FIRST_VALUES)).collect();
        let alike = learned.iter().filter(|row| firsts.contains(&digest(**row, FIRST_VALUES)));
        let known: HashSet<u64> = alike.map(|&row| digest(row, usize::MAX)).collect();
        held.iter().filter(|row| known.contains(&digest(**row, usize::MAX))).count()
    })
}

/// A number for the first values of a row that are not zero.
fn digest<R: Row>(row: R, most: usize) -> u64 {
    let entries = row.entries().filter(|(_, value)| *value != 0.0).take(most);
    entries.fold(0x243F_6A88_85A3_08D3, |sum: u64, (feature, value)| {
        let mixed = (sum ^ value.to_bits() ^ (feature as u64 + 1).rotate_left(40))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::{ReadOptions, Source, load_with_schema};

    fn noted(table: &str) -> Option<String> {
        let source = Source::bytes("t.csv", table.as_bytes().to_vec());
        let (data, schema) = load_with_schema(&source, &ReadOptions::default()).unwrap();
        deciding(&data, &schema)
    }

    fn table(n_rows: usize, cell: impl Fn(usize) -> String) -> String {
        let row = |row: usize| format!("{},{},{}\n", row * 7 % 11, cell(row), ["a", "b", "c"][row % 3]);
        "x,z,label\n".to_owned() + &(0..n_rows).map(row).collect::<String>()
    }

    #[test]
    fn what_alone_decides_the_label_is_named() {
        let expected = Some(
            "the label is decided by column `z` alone: leave it out if it is not known before the label is",
        );
        // A copy of the label under other names, a code of it, and numbers with a gap between the classes.
        assert_eq!(noted(&table(60, |row| ["u", "v", "w"][row % 3].to_owned())).as_deref(), expected);
        assert_eq!(noted(&table(60, |row| ["3", "1", "2"][row % 3].to_owned())).as_deref(), expected);
        assert_eq!(noted(&table(600, |row| format!("{}", row % 3 * 100 + row % 17))).as_deref(), expected);
        // Five categories of three classes.
        let five = |row: usize| ["p", "q", "r", "s", "q2", "r"][row % 6].to_owned();
        assert_eq!(noted(&table(60, five)).as_deref(), expected);
    }

    #[test]
    fn chance_is_not_named() {
        assert_eq!(noted(&table(27, |row| ["u", "v", "w"][row % 3].to_owned())), None);
        // One row of a thousand is otherwise.
        let late =
            |row: usize| if row == 1000 { "u".to_owned() } else { ["u", "v", "w"][row % 3].to_owned() };
        assert_eq!(noted(&table(1001, late)), None);
        assert_eq!(noted(&table(60, |row| (row % 7).to_string())), None);
        // As many categories as that are pure by themselves.
        assert_eq!(noted(&table(60, |row| format!("k{}", row / 2 % 15 * 3 + row % 3))), None);
    }

    #[test]
    fn rows_that_change_along_the_file_are_told() {
        let of = |class: &dyn Fn(usize) -> bool| {
            let names: Vec<&str> = (0..1000).map(|row| if class(row) { "yes" } else { "no" }).collect();
            ordered(&Dataset::from_rows(&vec![[1.0]; 1000], &names))
        };
        let chance = |row: usize| row.wrapping_mul(2_654_435_761) % 4096 * 1000 / 4096;
        assert_eq!(of(&|row| row % 2 == 0), None);
        assert_eq!(of(&|row| chance(row) < 300), None);
        assert!(of(&|row| row < 500).unwrap().contains("0 % to 100 %"));
        assert!(of(&|row| chance(row) < 100 + row / 3).is_some());
        let errors = |late: usize| {
            (0..900).map(|row| (row as u32, chance(row) < if row < 450 { 50 } else { late })).collect()
        };
        assert_eq!(drifting(errors(50)), None);
        assert!(drifting(errors(250)).unwrap().contains("changes along the file"));
    }

    #[test]
    fn sparse_rows_have_zeros() {
        let row = |row: usize| match row % 2 {
            0 => format!("1 1:{} 9:1\n", row % 5 + 1),
            _ => format!("-1 1:{} 7:{}\n", row % 5 + 1, row % 3 + 1),
        };
        let noted = |rows: String| {
            let source = Source::bytes("t.svm", rows.into_bytes());
            let (data, schema) = load_with_schema(&source, &ReadOptions::as_stored()).unwrap();
            deciding(&data, &schema)
        };
        let all: String = (0..40).map(row).collect();
        assert!(noted(all.clone()).unwrap().contains("feature 7, or by feature 9 alone"));
        assert_eq!(noted(all + "1 1:3\n-1 1:2\n-1 1:2 9:3\n1 1:2 7:1\n"), None);
    }

    #[test]
    fn rows_on_both_sides_are_counted() {
        let rows: Vec<Vec<f64>> =
            (0..20).map(|row| (0..12).map(|x| f64::from(row % 15 * x)).collect()).collect();
        let classes: Vec<String> = (0..20).map(|row| (row % 2).to_string()).collect();
        let data = Dataset::from_rows(&rows, &classes);
        let (learned, held): (Vec<u32>, Vec<u32>) = ((0..15).collect(), (15..20).collect());
        assert_eq!(copies(&data, &learned, &held), 5);
        assert_eq!(copies(&data, &learned[..5], &learned[5..]), 0);
    }
}
