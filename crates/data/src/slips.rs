//! Which name was meant, where one was typed that nothing has.

/// The name that takes the fewest edits to reach, whatever its case, if it is near enough to be a slip.
pub fn closest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let meant = name.to_lowercase();
    let near = names.into_iter().map(|known| (edits(&meant, &known.to_lowercase()), known));
    let (n_edits, known) = near.min()?;
    (n_edits <= meant.chars().count().div_ceil(3)).then_some(known)
}

/// How many letters must be added, dropped or changed to get from `a` to `b`, two that changed places counting once.
fn edits(a: &str, b: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, letter) in from.iter().enumerate() {
        let above = &rows[i];
        let mut row = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let change = above[j] + usize::from(letter != other);
            let mut least = change.min(row[j] + 1).min(above[j + 1] + 1);
            if i > 0 && j > 0 && *letter == to[j - 1] && from[i - 1] == *other {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_names_are_not() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("pima.cvs", "pima.csv"), 1);
        assert_eq!(closest("Diabetes", ["glucose", "diabetes"]), Some("diabetes"));
        assert_eq!(closest("diabtes", ["glucose", "diabetes"]), Some("diabetes"));
        assert_eq!(closest("mass", ["glucose", "diabetes"]), None);
        assert_eq!(closest("x", []), None);
    }
}
