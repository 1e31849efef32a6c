//! Hard problems, and an exact oracle for them.

use num_bigint::{BigInt, Sign};
use rosenblatt_core::Random;

/// What makes a problem hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers, few of them, so that much is degenerate.
    Small,
    /// Decimals with labels by a hyperplane, some flipped.
    Decimals,
    /// All rows within a thin slab around a hyperplane.
    Slab,
    /// The two hulls touch in a point.
    Touching,
    /// Some rows are almost sums of others.
    Dependent,
    /// Columns of sizes from 1e-30 to 1e30.
    Scaled,
    /// Values from 1e-12 to 1e12 side by side.
    Ranged,
    /// A thin slab with columns of all sizes.
    ScaledSlab,
    /// Integers near 2^52.
    Large,
    /// Almost dependent rows with columns of all sizes.
    ScaledDependent,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Small,
        Self::Decimals,
        Self::Slab,
        Self::Touching,
        Self::Dependent,
        Self::Scaled,
        Self::Ranged,
        Self::ScaledSlab,
        Self::Large,
        Self::ScaledDependent,
    ];
}

fn decimal(random: &mut Random) -> f64 {
    // As a file has it: six digits.
    let digits = random.below(6_000_001) as f64 - 3_000_000.0;
    digits / 1e6
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Points, sides and whether there is a bias: up to this many rows and features.
pub(crate) fn problem(
    kind: Kind,
    most_rows: usize,
    most_width: usize,
    random: &mut Random,
) -> (Vec<Vec<f64>>, Vec<bool>, bool) {
    let width = 1 + random.below(most_width as u64) as usize;
    let n_rows = 2 + random.below(most_rows as u64 - 1) as usize;
    let bias = random.below(2) == 0;
    let mut points: Vec<Vec<f64>> =
        (0..n_rows).map(|_| (0..width).map(|_| decimal(random)).collect()).collect();
    let plane: Vec<f64> = (0..width).map(|_| decimal(random)).collect();
    let offset = if bias { decimal(random) } else { 0.0 };
    let mut flips = if random.below(2) == 0 { 0 } else { 1 + random.below(2) as usize };
    match kind {
        Kind::Small => points.iter_mut().flatten().for_each(|value| *value = (*value * 2.0).round()),
        Kind::Large => {
            let base = 2_f64.powi(52);
            points.iter_mut().flatten().for_each(|value| *value = base + value.round());
        }
        Kind::Ranged => {
            for value in points.iter_mut().flatten() {
                *value *= 10_f64.powi(random.below(25) as i32 - 12);
            }
        }
        Kind::Slab | Kind::ScaledSlab => {
            // Moved onto the hyperplane, and a tiny step off it.
            let thin = 10_f64.powi(-3 - random.below(12) as i32);
            for point in &mut points {
                let away = dot(point, &plane) + offset - thin * decimal(random);
                let norm2 = dot(&plane, &plane);
                if norm2 > 0.0 {
                    point.iter_mut().zip(&plane).for_each(|(x, w)| *x -= away / norm2 * w);
                }
            }
        }
        Kind::Dependent | Kind::ScaledDependent => {
            let n_dependent = (n_rows / 3).max(1).min(n_rows.saturating_sub(2));
            for late in n_rows - n_dependent..n_rows {
                let (a, b) = (points[random.below(2) as usize].clone(), points[late - 1].clone());
                let part = random.unit();
                let step = 10_f64.powi(-10 - random.below(8) as i32) * f64::from(random.below(2) as u8);
                for (j, value) in points[late].iter_mut().enumerate() {
                    *value = part * a[j] + (1.0 - part) * b[j] + step * *value;
                }
            }
            flips = random.below(3) as usize;
        }
        Kind::Decimals | Kind::Touching | Kind::Scaled => {}
    }
    let mut sides: Vec<bool> = points.iter().map(|point| dot(point, &plane) + offset > 0.0).collect();
    if kind == Kind::Touching {
        // Whole halves, so that the middle of two points is exact; it belongs to the other side.
        points.iter_mut().flatten().for_each(|value| *value = (*value * 64.0).round() / 32.0);
        sides = points.iter().map(|point| dot(point, &plane) + offset > 0.0).collect();
        if n_rows > 2 && sides[0] == sides[1] {
            let middle: Vec<f64> = points[0].iter().zip(&points[1]).map(|(a, b)| 0.5 * (a + b)).collect();
            points[2] = middle;
            sides[2] = !sides[0];
            // Sometimes missed by the last digit.
            if random.below(2) == 0 {
                points[2][0] = points[2][0].next_up();
            }
        }
    }
    for _ in 0..flips {
        let idx = random.below(n_rows as u64) as usize;
        sides[idx] = !sides[idx];
    }
    if matches!(kind, Kind::Scaled | Kind::ScaledSlab | Kind::ScaledDependent) {
        for j in 0..width {
            let scale = 10_f64.powi(random.below(61) as i32 - 30);
            for point in &mut points {
                point[j] *= scale;
            }
        }
    }
    (points, sides, bias)
}

/// Whether a hyperplane separates the sides: phase one of the simplex method in integers over one denominator.
pub(crate) fn oracle(points: &[Vec<f64>], sides: &[bool], bias: bool) -> bool {
    let width = points.first().map_or(0, Vec::len);
    // Every feature in units that make it whole.
    let exponent = |value: f64| {
        let bits = value.to_bits();
        let (power, fraction) = (i64::from((bits >> 52) as u16 & 0x7FF), bits & ((1 << 52) - 1));
        if power == 0 { (fraction, -1074) } else { (fraction | (1 << 52), power - 1075) }
    };
    let low: Vec<i64> = (0..width)
        .map(|j| {
            let used = points.iter().filter(|point| point[j] != 0.0);
            used.map(|point| exponent(point[j]).1).min().unwrap_or(0)
        })
        .collect();
    let columns: Vec<Vec<BigInt>> = points
        .iter()
        .zip(sides)
        .map(|(point, &positive)| {
            let mut column: Vec<BigInt> = point
                .iter()
                .zip(&low)
                .map(|(&value, &low)| {
                    let (mantissa, power) = exponent(value);
                    let size =
                        if value == 0.0 { BigInt::ZERO } else { BigInt::from(mantissa) << (power - low) };
                    if (value < 0.0) == positive { -size } else { size }
                })
                .collect();
            if bias {
                column.push(BigInt::from(if positive { 1 } else { -1 }));
            }
            column.push(BigInt::from(1));
            column
        })
        .collect();
    let (n, m) = (columns.len(), width + usize::from(bias) + 1);
    let mut table = vec![vec![BigInt::ZERO; n + 1]; m + 1];
    for (place, column) in columns.iter().enumerate() {
        for (row, value) in column.iter().enumerate() {
            table[row][place].clone_from(value);
            table[m][place] -= value;
        }
    }
    table[m - 1][n] = BigInt::from(1);
    table[m][n] = BigInt::from(-1);
    // Artificial variables have no columns: one that has left does not come back.
    let mut basis: Vec<usize> = (n..n + m).collect();
    let mut denominator = BigInt::from(1);
    while let Some(enters) = (0..n).find(|&place| table[m][place].sign() == Sign::Minus) {
        let leaves = (0..m).filter(|&row| table[row][enters].sign() == Sign::Plus).min_by(|&a, &b| {
            let (left, right) = (&table[a][n] * &table[b][enters], &table[b][n] * &table[a][enters]);
            left.cmp(&right).then(basis[a].cmp(&basis[b]))
        });
        let leaves = leaves.expect("the feasible region is bounded");
        let head = table[leaves].clone();
        let pivot = head[enters].clone();
        for other in (0..=m).filter(|&other| other != leaves) {
            let factor = table[other][enters].clone();
            for (value, head) in table[other].iter_mut().zip(&head) {
                *value = (&*value * &pivot - &factor * head) / &denominator;
            }
        }
        denominator = pivot;
        basis[leaves] = enters;
    }
    table[m][n].sign() != Sign::NoSign
}
