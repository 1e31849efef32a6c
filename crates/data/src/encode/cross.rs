//! Feature crosses: the product of every feature of one column, or namespace, with every feature of another.
//!
//! A hyperplane weighs features one by one; a cross lets it weigh what they are together: `colour=red*shape=round`. The
//! features of a cross come after all others, those of the first column one after the other, each with all of the
//! second, so that their places follow from the schema alone. Crosses are made of rows that are scaled already and are not
//! scaled themselves: a product of features of one scale is of that scale.

use super::columns::{DENSE_RATIO, check_width};
use crate::error::{DataError, ErrorKind, quote};
use crate::rows::block::Stored;
use crate::rows::dataset::{DenseMatrix, Matrix, SparseMatrix};
use crate::rows::schema::{Layout, Schema};
use std::ops::Range;

/// What stands between a namespace and the feature in it.
const IN_NAMESPACE: char = '^';

/// Makes the crosses of a schema.
#[derive(Debug, Clone)]
pub(crate) struct Crosser {
    crosses: Vec<Cross>,
    /// Features before and after.
    base: usize,
    width: usize,
    layout: Layout,
}

/// Two runs of features, and where their products begin.
#[derive(Debug, Clone)]
struct Cross {
    left: Range<usize>,
    right: Range<usize>,
    start: usize,
}

impl Cross {
    /// How many products there are. Of a run with itself each pair counts once.
    fn n_features(&self) -> usize {
        let (n, m) = (self.left.len(), self.right.len());
        if self.left == self.right { n.saturating_mul(n + 1) / 2 } else { n.saturating_mul(m) }
    }

    /// The place of the product of two features.
    fn place(&self, left: usize, right: usize) -> usize {
        let (a, b) = (left - self.left.start, right - self.right.start);
        if self.left != self.right {
            return self.start + a * self.right.len() + b;
        }
        self.start + a * self.left.len() - a * a.saturating_sub(1) / 2 - a + b
    }

    /// Each pair of features.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_same = self.left == self.right;
        let right = self.right.clone();
        self.left.clone().flat_map(move |a| {
            let first = if is_same { a } else { right.start };
            (first..right.end).map(move |b| (a, b))
        })
    }
}

/// The runs of features that a schema has names for.
fn run(schema: &Schema, name: &str) -> Option<Range<usize>> {
    if let Some(names) = &schema.names {
        let is_in =
            |feature: &String| feature.split_once(IN_NAMESPACE).is_some_and(|(space, _)| space == name);
        let first = names.iter().position(is_in)?;
        let length = names[first..].iter().take_while(|feature| is_in(feature)).count();
        return Some(first..first + length);
    }
    let place = schema.columns.iter().position(|column| column.name == name)?;
    schema.runs().into_iter().nth(place).map(|(_, run)| run).filter(|run| !run.is_empty())
}

/// The crosses of a schema; those it cannot have are left out.
fn crosses(schema: &Schema) -> impl Iterator<Item = Cross> {
    let mut start = schema.base_width().unwrap_or(0);
    schema.crosses.iter().filter_map(move |[left, right]| {
        let cross = Cross { left: run(schema, left)?, right: run(schema, right)?, start };
        start = start.saturating_add(cross.n_features());
        Some(cross)
    })
}

/// How many features the crosses of a schema have.
pub(crate) fn n_crossed(schema: &Schema) -> usize {
    crosses(schema).map(|cross| cross.n_features()).fold(0, usize::saturating_add)
}

/// What they are called.
pub(crate) fn crossed_names(schema: &Schema, names: &[String]) -> Vec<String> {
    let name = |(a, b): (usize, usize)| format!("{}*{}", names[a], names[b]);
    crosses(schema).flat_map(|cross| cross.pairs().map(name).collect::<Vec<_>>()).collect()
}

impl Crosser {
    /// How the crosses of a settled schema are made; nothing if it has none, an error if it cannot have them.
    pub(crate) fn new(schema: &Schema, limit: usize) -> Result<Option<Self>, DataError> {
        if schema.crosses.is_empty() {
            return Ok(None);
        }
        for name in schema.crosses.iter().flatten() {
            if run(schema, name).is_none() {
                return Err(nothing_to_cross(schema, name));
            }
        }
        check_width(schema, limit)?;
        let all: Vec<Cross> = crosses(schema).collect();
        let (base, width) = (schema.base_width().unwrap_or(0), schema.width().unwrap_or(0));
        let is_wide = width > DENSE_RATIO * (base + all.len());
        let layout = if is_wide { Layout::Sparse } else { schema.layout };
        Ok(Some(Self { crosses: all, base, width, layout }))
    }

    /// How rows with crosses are stored.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Adds the crosses to rows. The error is the first row of which one is too large.
    pub(crate) fn apply(&self, matrix: &mut Matrix) -> Result<(), usize> {
        match matrix {
            Matrix::Dense32(rows) => *matrix = self.of_dense(rows)?,
            Matrix::Dense64(rows) => *matrix = self.of_dense(rows)?,
            Matrix::Sparse32(rows) => *matrix = f32::wrap_sparse(self.of_sparse(rows)?),
            Matrix::Sparse64(rows) => *matrix = f64::wrap_sparse(self.of_sparse(rows)?),
        }
        Ok(())
    }

    /// The crosses of one row.
    pub(crate) fn row(&self, entries: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let mut found = Vec::new();
        self.products(entries, &mut found);
        found
    }

    fn products(&self, entries: &[(u32, f64)], into: &mut Vec<(u32, f64)>) {
        let among = |run: &Range<usize>| {
            let first = entries.partition_point(|(feature, _)| (*feature as usize) < run.start);
            let last = entries.partition_point(|(feature, _)| (*feature as usize) < run.end);
            &entries[first..last]
        };
        for cross in &self.crosses {
            for &(a, x) in among(&cross.left) {
                for &(b, y) in among(&cross.right) {
                    if cross.left != cross.right || a <= b {
                        into.push((cross.place(a as usize, b as usize) as u32, x * y));
                    }
                }
            }
        }
    }

    fn of_dense<T: Stored>(&self, rows: &DenseMatrix<T>) -> Result<Matrix, usize> {
        if self.layout == Layout::Sparse {
            let mut sparse = SparseMatrix::<T>::empty();
            for row in rows.values.chunks_exact(self.base.max(1)) {
                for (feature, &value) in (0..).zip(row).filter(|(_, value)| **value != T::default()) {
                    sparse.indices.push(feature);
                    sparse.values.push(value);
                }
                sparse.end_row();
            }
            return self.of_sparse(&sparse).map(T::wrap_sparse);
        }
        let mut values = Vec::with_capacity(rows.values.len() / self.base.max(1) * self.width);
        let (mut entries, mut found) = (Vec::new(), Vec::new());
        for (number, row) in rows.values.chunks_exact(self.base.max(1)).enumerate() {
            entries.clear();
            found.clear();
            entries.extend((0..).zip(row).map(|(feature, value)| (feature, value.wide())));
            self.products(&entries, &mut found);
            let start = values.len();
            values.extend_from_slice(row);
            values.resize(start + self.width, T::default());
            for &(feature, value) in &found {
                values[start + feature as usize] = T::narrow(value).ok_or(number)?;
            }
        }
        Ok(T::wrap_dense(DenseMatrix { values, width: self.width }))
    }

    fn of_sparse<T: Stored>(&self, rows: &SparseMatrix<T>) -> Result<SparseMatrix<T>, usize> {
        let mut crossed = SparseMatrix::<T>::empty();
        let (mut entries, mut found) = (Vec::new(), Vec::new());
        for (number, ends) in rows.offsets.windows(2).enumerate() {
            let (indices, values) = (&rows.indices[ends[0]..ends[1]], &rows.values[ends[0]..ends[1]]);
            entries.clear();
            found.clear();
            entries.extend(indices.iter().zip(values).map(|(&feature, value)| (feature, value.wide())));
            self.products(&entries, &mut found);
            crossed.indices.extend_from_slice(indices);
            crossed.values.extend_from_slice(values);
            // Products of one cross ascend, and so do crosses.
            for &(feature, value) in &found {
                let value = T::narrow(value).ok_or(number)?;
                if value != T::default() {
                    crossed.indices.push(feature);
                    crossed.values.push(value);
                }
            }
            crossed.end_row();
        }
        crossed.width = self.width;
        Ok(crossed)
    }
}

fn nothing_to_cross(schema: &Schema, name: &str) -> DataError {
    let what = if schema.names.is_some() { "namespace" } else { "column" };
    let mut known: Vec<String> = if let Some(names) = &schema.names {
        let spaces = names.iter().filter_map(|name| name.split_once(IN_NAMESPACE));
        spaces.map(|(space, _)| quote(space.as_bytes())).collect()
    } else {
        let some = schema.columns.iter().filter(|column| column.n_features() > 0);
        some.map(|column| quote(column.name.as_bytes())).collect()
    };
    known.dedup();
    known.truncate(8);
    if known.is_empty() {
        let message = "crosses are made of columns or namespaces, but features have no such names here";
        return DataError::new(ErrorKind::Options, message)
            .with_help("leave {cross} out; if features are hashed, leave {hash-bits} out");
    }
    let message = format!(
        "there is no {what} {} to cross, expected one of {}",
        quote(name.as_bytes()),
        known.join(", ")
    );
    DataError::new(ErrorKind::Options, message)
}

#[cfg(test)]
mod tests {
    use crate::options::ReadOptions;
    use crate::{Source, load_with_schema};
    use std::sync::Arc;

    fn crossed(pairs: &[[&str; 2]]) -> ReadOptions {
        let crosses = pairs.iter().map(|pair| pair.map(str::to_owned)).collect();
        ReadOptions { crosses, ..ReadOptions::as_stored() }
    }

    #[test]
    fn columns_are_multiplied_by_columns() {
        let table = "a,b,k,m,label\n2,3,u,p,yes\n5,7,v,q,no\n1,0,w,r,no\n";
        let source = Source::bytes("t.csv", table.as_bytes().to_vec());
        let how = crossed(&[["a", "b"], ["k", "a"], ["a", "a"], ["k", "m"]]);
        let (data, schema) = load_with_schema(&source, &how).unwrap();
        let names = data.feature_names().unwrap().to_vec();
        assert_eq!(names.len(), data.width());
        assert_eq!(
            names[8..],
            [
                "a*b", "k=u*a", "k=v*a", "k=w*a", "a*a", "k=u*m=p", "k=u*m=q", "k=u*m=r", "k=v*m=p",
                "k=v*m=q", "k=v*m=r", "k=w*m=p", "k=w*m=q", "k=w*m=r"
            ]
        );
        let rows = crate::load::read_rows(&source, &how).unwrap();
        let value = |row: usize, name: &str| {
            let place = names.iter().position(|other| other == name).unwrap();
            rows[row].1.iter().find(|(feature, _)| *feature == place).map_or(0.0, |(_, value)| *value)
        };
        for (row, a, b, k, m) in [(0, 2.0, 3.0, "u", "p"), (1, 5.0, 7.0, "v", "q"), (2, 1.0, 0.0, "w", "r")] {
            assert_eq!((value(row, "a*b"), value(row, "a*a")), (a * b, a * a));
            for other in ["u", "v", "w"] {
                assert_eq!(value(row, &format!("k={other}*a")), if other == k { a } else { 0.0 });
                assert_eq!(value(row, &format!("k={other}*m={m}")), f64::from(u8::from(other == k)));
            }
        }
        // What is stored crosses other rows in the same way.
        schema.check().unwrap();
        let stored: crate::Schema = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
        let again = ReadOptions::as_stored().with_schema(Arc::new(stored));
        assert_eq!(load_with_schema(&source, &again).unwrap().0, data);
        let mut stream = crate::blocks(&source, &how).unwrap();
        assert_eq!(stream.next().unwrap().unwrap().width(), data.width());
    }

    #[test]
    fn a_run_crossed_with_itself_has_each_pair_once() {
        let lines = "1 |a x:2 y:3 z:5 |b w:7\n-1 |a y:1 |b w:2 v:3\n1 |b v:1\n";
        let source = Source::bytes("t.vw", lines.as_bytes().to_vec());
        let (data, _) = load_with_schema(&source, &crossed(&[["a", "a"], ["a", "b"]])).unwrap();
        let names = data.feature_names().unwrap().to_vec();
        assert_eq!(
            names[5..],
            [
                "a^x*a^x", "a^x*a^y", "a^x*a^z", "a^y*a^y", "a^y*a^z", "a^z*a^z", "a^x*b^v", "a^x*b^w",
                "a^y*b^v", "a^y*b^w", "a^z*b^v", "a^z*b^w"
            ]
        );
        let rows = crate::load::read_rows(&source, &crossed(&[["a", "a"], ["a", "b"]])).unwrap();
        let named: Vec<(&str, f64)> =
            rows[0].1.iter().skip(4).map(|&(feature, value)| (names[feature].as_str(), value)).collect();
        assert_eq!(
            named,
            [
                ("a^x*a^x", 4.0),
                ("a^x*a^y", 6.0),
                ("a^x*a^z", 10.0),
                ("a^y*a^y", 9.0),
                ("a^y*a^z", 15.0),
                ("a^z*a^z", 25.0),
                ("a^x*b^w", 14.0),
                ("a^y*b^w", 21.0),
                ("a^z*b^w", 35.0)
            ]
        );
    }

    #[test]
    fn what_cannot_be_crossed_is_refused() {
        let table = Source::bytes("t.csv", *b"a,k,label\n1,u,x\n2,v,y\n");
        let svm = Source::bytes("t.svm", *b"1 1:1\n-1 2:1\n");
        let hashed = ReadOptions { hash_bits: Some(4), ..crossed(&[["a", "k"]]) };
        for (source, how, expected) in [
            (&table, crossed(&[["a", "q"]]), "there is no column `q` to cross, expected one of `a`, `k`"),
            (&svm, crossed(&[["a", "b"]]), "`cross` means nothing in libsvm"),
            (&table, hashed, "no column `k` to cross"),
        ] {
            let error = load_with_schema(source, &how).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let wide = ReadOptions {
            limits: crate::Limits { features: 3, ..crate::Limits::default() },
            ..crossed(&[["a", "k"], ["a", "a"]])
        };
        assert!(load_with_schema(&table, &wide).unwrap_err().to_string().contains("the limit"));
    }
}
