//! Rows as they stand in the log: what the learner sees, to the bit, and nothing that depends on how it was sent.
//!
//! Reading them back trusts nothing: every length is checked against what is there.

use rosenblatt_data::{Dataset, DenseMatrix, DenseRef, Labels, Matrix, MatrixRef, SparseMatrix, SparseRef};
use std::io::{self, Read};

/// The bytes of a learned-from request: its idempotency key, and the rows.
pub fn encode(key: &str, data: &Dataset) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + data.len() * 16);
    text(&mut out, key);
    let used = used_labels(data);
    number(&mut out, used.len());
    for &class in &used {
        text(&mut out, data.labels().name(class));
    }
    number(&mut out, data.len());
    for class in data.classes() {
        let place = used.binary_search(class).unwrap_or(0);
        number(&mut out, place);
    }
    out.push(u8::from(data.weights().is_some()));
    data.weights().unwrap_or_default().iter().for_each(|weight| out.extend(weight.to_le_bytes()));
    match data.matrix() {
        MatrixRef::Dense32(rows) => dense(&mut out, 0, rows, |out, value| out.extend(value.to_le_bytes())),
        MatrixRef::Dense64(rows) => dense(&mut out, 1, rows, |out, value| out.extend(value.to_le_bytes())),
        MatrixRef::Sparse32(rows) => sparse(&mut out, 2, rows, |out, value| out.extend(value.to_le_bytes())),
        MatrixRef::Sparse64(rows) => sparse(&mut out, 3, rows, |out, value| out.extend(value.to_le_bytes())),
    }
    out
}

fn used_labels(data: &Dataset) -> Vec<u32> {
    let mut used = data.classes().to_vec();
    used.sort_unstable();
    used.dedup();
    used
}

fn number(out: &mut Vec<u8>, number: usize) {
    out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len());
    out.extend(text.bytes());
}

fn dense<T: Copy>(out: &mut Vec<u8>, kind: u8, rows: DenseRef<'_, T>, put: impl Fn(&mut Vec<u8>, T)) {
    out.push(kind);
    number(out, rows.width);
    rows.values.iter().for_each(|value| put(out, *value));
}

fn sparse<T: Copy>(out: &mut Vec<u8>, kind: u8, rows: SparseRef<'_, T>, put: impl Fn(&mut Vec<u8>, T)) {
    out.push(kind);
    number(out, rows.width);
    rows.offsets.windows(2).for_each(|bounds| number(out, bounds[1] - bounds[0]));
    rows.indices.iter().for_each(|index| number(out, *index as usize));
    rows.values.iter().for_each(|value| put(out, *value));
}

/// The key and the rows in `bytes`.
pub fn decode(mut bytes: &[u8]) -> io::Result<(String, Dataset)> {
    let from = &mut bytes;
    let key = take_text(from)?;
    let n_labels = take_number(from)?;
    bounded(n_labels, 4, from)?;
    let names = (0..n_labels).map(|_| take_text(from)).collect::<io::Result<Vec<_>>>()?;
    let n_rows = take_number(from)?;
    bounded(n_rows, 4, from)?;
    let classes = take_numbers(from, n_rows)?;
    if classes.iter().any(|&class| class as usize >= n_labels) {
        return Err(wrong("a class has no name"));
    }
    let weights = match take::<1>(from)? {
        [0] => None,
        [1] => Some(take_all(from, n_rows, f64::from_le_bytes)?),
        _ => return Err(wrong("weights are there or not")),
    };
    let [kind] = take::<1>(from)?;
    let width = take_number(from)?;
    let matrix = match kind {
        0 => Matrix::Dense32(take_dense(from, n_rows, width, f32::from_le_bytes)?),
        1 => Matrix::Dense64(take_dense(from, n_rows, width, f64::from_le_bytes)?),
        2 => Matrix::Sparse32(take_sparse(from, n_rows, width, f32::from_le_bytes)?),
        3 => Matrix::Sparse64(take_sparse(from, n_rows, width, f64::from_le_bytes)?),
        _ => return Err(wrong("rows of no known kind")),
    };
    if !from.is_empty() {
        return Err(wrong("there is more than announced"));
    }
    let data = Dataset::new(matrix, classes, Labels::in_order(names));
    Ok((
        key,
        match weights {
            Some(weights) => data.with_weights(weights),
            None => data,
        },
    ))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// `n_items` of this many bytes must still be there.
fn bounded(n_items: usize, size: usize, from: &[u8]) -> io::Result<()> {
    if n_items.checked_mul(size).is_none_or(|bytes| bytes > from.len()) {
        return Err(wrong("there is less than announced"));
    }
    Ok(())
}

fn take<const N: usize>(from: &mut &[u8]) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn take_number(from: &mut &[u8]) -> io::Result<usize> {
    Ok(u32::from_le_bytes(take(from)?) as usize)
}

fn take_numbers(from: &mut &[u8], n_items: usize) -> io::Result<Vec<u32>> {
    take_all(from, n_items, u32::from_le_bytes)
}

fn take_all<const N: usize, T>(
    from: &mut &[u8],
    n_items: usize,
    read: impl Fn([u8; N]) -> T,
) -> io::Result<Vec<T>> {
    bounded(n_items, N, from)?;
    (0..n_items).map(|_| take(from).map(&read)).collect()
}

fn take_text(from: &mut &[u8]) -> io::Result<String> {
    let length = take_number(from)?;
    bounded(length, 1, from)?;
    let (text, rest) = from.split_at(length);
    *from = rest;
    String::from_utf8(text.to_vec()).map_err(|_| wrong("a name is no text"))
}

/// The values of rows, all of them finite.
fn take_values<const N: usize, T: Copy + Into<f64>>(
    from: &mut &[u8],
    n_items: usize,
    read: impl Fn([u8; N]) -> T,
) -> io::Result<Vec<T>> {
    let values = take_all(from, n_items, read)?;
    let is_finite = |value: &T| -> bool { Into::<f64>::into(*value).is_finite() };
    if values.iter().all(is_finite) { Ok(values) } else { Err(wrong("a value is not finite")) }
}

fn take_dense<const N: usize, T: Copy + Into<f64>>(
    from: &mut &[u8],
    n_rows: usize,
    width: usize,
    read: impl Fn([u8; N]) -> T,
) -> io::Result<DenseMatrix<T>> {
    // Rows without a value would have no number.
    if width == 0 && n_rows > 0 {
        return Err(wrong("dense rows have no features"));
    }
    let n_values = n_rows.checked_mul(width).ok_or_else(|| wrong("rows too large"))?;
    Ok(DenseMatrix { values: take_values(from, n_values, read)?, width })
}

fn take_sparse<const N: usize, T: Copy + Into<f64>>(
    from: &mut &[u8],
    n_rows: usize,
    width: usize,
    read: impl Fn([u8; N]) -> T,
) -> io::Result<SparseMatrix<T>> {
    let mut offsets = Vec::with_capacity(n_rows + 1);
    let mut end = 0_usize;
    offsets.push(0);
    for length in take_numbers(from, n_rows)? {
        end = end.checked_add(length as usize).ok_or_else(|| wrong("rows too large"))?;
        offsets.push(end);
    }
    let indices = take_numbers(from, end)?;
    let values = take_values(from, end, read)?;
    for bounds in offsets.windows(2) {
        let row = &indices[bounds[0]..bounds[1]];
        let ascends =
            row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|&last| (last as usize) < width);
        if !ascends {
            return Err(wrong("features do not ascend below the width"));
        }
    }
    Ok(SparseMatrix { offsets, indices, values, width })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::{ReadOptions, Source, load_source};

    #[test]
    fn rows_come_back_as_they_were() {
        for (name, text) in
            [("a.csv", "legs,weight,label\n1,2,a\n0,4.5,b\n"), ("a.svm", "a 1:1 7:2\nb 3:0.1\na\n")]
        {
            for precision in ["f32", "f64"] {
                let how = ReadOptions { precision: precision.parse().unwrap(), ..ReadOptions::as_stored() };
                let data = load_source(&Source::bytes(name, text.as_bytes()), &how).unwrap();
                let bytes = encode("key", &data);
                let (key, back) = decode(&bytes).unwrap();
                assert_eq!(
                    (key.as_str(), back.classes(), back.labels()),
                    ("key", data.classes(), data.labels())
                );
                assert_eq!(back.matrix(), data.matrix());
                for cut in 0..bytes.len() {
                    assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
                }
            }
        }
    }
}
