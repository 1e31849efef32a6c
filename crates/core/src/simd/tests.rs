//! Registers of every width against the plain sums, bit by bit.

use super::*;
use crate::hypothesis::Table;
use crate::random::Random;

#[test]
fn wide_and_plain_agree_to_the_bit() {
    let mut random = Random::new(3);
    let widths = (0..40_usize).chain([63, 64, 65, 1000]);
    for (width, zeros) in widths.flat_map(|width| [0.0, 0.02, 0.5].map(|zeros| (width, zeros))) {
        let value = |random: &mut Random| {
            if random.unit() < zeros { 0.0 } else { (random.unit() - 0.5) as f32 }
        };
        let row: Vec<f32> = (0..width).map(|_| value(&mut random)).collect();
        let weights: Vec<f64> = (0..width).map(|_| random.unit() - 0.5).collect();
        let expected = plain_dot(&row, &weights).to_bits();
        assert_eq!(dot(&row, &weights).to_bits(), expected, "width {width}");
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
            // SAFETY: the processor has AVX2.
            let wide = unsafe { avx2::dot(&row, &weights) };
            assert_eq!(wide.to_bits(), expected, "width {width}");
        }
        let others: Vec<Vec<f32>> =
            (1..SIDE_BY_SIDE).map(|_| (0..width).map(|_| value(&mut random)).collect()).collect();
        let mut rows = [&row[..]; SIDE_BY_SIDE];
        rows[1..].iter_mut().zip(&others).for_each(|(row, other)| *row = other);
        // A last one that is shorter keeps them from being read side by side.
        for n_left in [width, width.saturating_sub(1)] {
            rows[SIDE_BY_SIDE - 1] = &rows[SIDE_BY_SIDE - 1][..n_left];
            let alone = rows.map(|row| plain_dot(row, &weights[..row.len()]).to_bits());
            assert_eq!(dots(rows, &weights).map(f64::to_bits), alone, "width {width}");
        }
        let indices: Vec<u32> = (0..width as u32).filter(|&j| row[j as usize] != 0.0).collect();
        let values: Vec<f32> = indices.iter().map(|&j| row[j as usize]).collect();
        assert_eq!(sparse_dot(&indices, &values, &weights).to_bits(), expected, "width {width}");
        assert_eq!(plain::sparse_dot(&indices, &values, &weights).to_bits(), expected, "width {width}");

        let (mut first, mut second) = (weights.clone(), weights.clone());
        add([0.3, -0.7], &row, [&mut first, &mut second]);
        for (amount, wide) in [(0.3, first), (-0.7, second)] {
            let mut plain = weights.clone();
            dense_add(amount, &row, &mut plain);
            assert_eq!(wide, plain, "width {width}");
        }
    }
}

#[test]
fn rows_of_a_stretch_are_each_alone_to_the_bit() {
    let mut random = Random::new(7);
    let widths = (0..40_usize).chain([63, 64, 65, 200]);
    for (width, zeros) in widths.flat_map(|width| [0.0, 0.002, 0.5].map(|zeros| (width, zeros))) {
        let weights: Vec<f64> = (0..width).map(|_| random.unit() - 0.5).collect();
        for n_rows in [0, 1, 7, 8, 9, 100] {
            let mut value = || if random.unit() < zeros { 0.0 } else { random.unit() - 0.5 };
            let values: Vec<f64> = (0..width * n_rows).map(|_| value()).collect();
            let singles: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let (mut sums, mut of_singles) = (vec![f64::NAN; n_rows], vec![f64::NAN; n_rows]);
            stretch_dots(&values, &weights, &mut sums);
            stretch_dots(&singles, &weights, &mut of_singles);
            for row in 0..n_rows {
                let entries = row * width..(row + 1) * width;
                let alone = plain_dot(&values[entries.clone()], &weights);
                assert_eq!(sums[row].to_bits(), alone.to_bits(), "row {row} of {n_rows}, width {width}");
                let alone = plain_dot(&singles[entries], &weights);
                assert_eq!(
                    of_singles[row].to_bits(),
                    alone.to_bits(),
                    "row {row} of {n_rows}, width {width}"
                );
            }
        }
    }
}

#[test]
fn rows_that_lie_column_by_column_are_each_alone_to_the_bit() {
    let mut random = Random::new(8);
    let shapes =
        (1..20_usize).chain([28, 64, 65]).flat_map(|width| [0.0, 0.002, 0.1].map(|zeros| (width, zeros)));
    let mut n_found = [0; 2];
    for (width, zeros) in shapes {
        let (n_rows, n_outputs) = (20, 1 + width % 3);
        let weights: Vec<f64> = (0..width * n_outputs).map(|_| random.unit() - 0.5).collect();
        let mut value = || if random.unit() < zeros { -0.0 } else { random.unit() as f32 + 0.1 };
        let values: Vec<f32> = (0..width * n_rows).map(|_| value()).collect();
        let columns = ByColumns::new(&values, n_rows, width);
        for first in [0, 1, 12] {
            let mut rows = vec![0.0; 8 * width];
            columns.turn(first, &mut rows);
            for plainly in [false, true] {
                let mut sums = vec![[f64::NAN; 8]; n_outputs];
                let found = if plainly {
                    plain::ColumnProducts { columns, first, weights: &weights, sums: &mut sums }.run()
                } else {
                    column_products(columns, first, &weights, &mut sums)
                };
                assert_eq!(found, plain::has_no_zero(&rows), "width {width}");
                n_found[usize::from(found)] += 1;
                for (row, output) in (0..8).flat_map(|row| (0..n_outputs).map(move |output| (row, output))) {
                    let alone = plain_dot(&rows[row * width..][..width], &weights[output * width..][..width]);
                    assert!(
                        !found || sums[output][row].to_bits() == alone.to_bits(),
                        "row {row}, width {width}"
                    );
                }
            }
        }
    }
    assert!(n_found.iter().all(|n| *n > 50), "{n_found:?}");
}

#[test]
fn many_outputs_at_once_are_each_alone_to_the_bit() {
    let mut random = Random::new(4);
    for (width, n_outputs) in [(1, 2), (5, 3), (40, 7), (40, 8), (300, 9), (70, 16), (33, 17), (20, 40)] {
        let weights: Vec<f64> = (0..width * n_outputs).map(|_| random.unit() - 0.5).collect();
        let columns = Columns { weights: &weights, width, n_outputs };
        let features: Vec<u32> = (0..width as u32).filter(|_| random.unit() < 0.7).collect();
        let values: Vec<f64> = features.iter().map(|_| random.unit() - 0.5).collect();
        for from in (0..n_outputs).step_by(SWEEP) {
            let outputs = from..n_outputs.min(from + SWEEP);
            let (mut wide, mut plain) = (Lanes::default(), Lanes::default());
            add_many(&mut wide, columns, outputs.clone(), &features, &values);
            add_many_plainly(&mut plain, columns, outputs.clone(), &features, &values);
            assert_eq!(wide.0, plain.0, "{width} by {n_outputs}");
        }
    }
}

#[test]
fn blocks_of_outputs_are_swept_alike_in_registers_and_plainly() {
    let mut random = Random::new(6);
    for (width, n_outputs) in [(1, 2), (30, 3), (90, 5), (300, 8), (256, 9), (200, 10), (40, 12), (250, 16)] {
        // Zeros of both signs: what does not change keeps its sign.
        let mut number = |_| if random.unit() < 0.1 { -0.0 } else { random.unit() - 0.5 };
        let numbers: Vec<f64> = (0..width * n_outputs).map(&mut number).collect();
        let (mut wide, mut plain) =
            (Table::from_compact(&numbers, n_outputs), Table::from_compact(&numbers, n_outputs));
        let (mut sums, mut plain_sums) = (Sums::new(), Sums::new());
        // Two pieces of a row, of which only the last may be odd, and the changes that each asks for.
        for n in [width.min(PIECE) / 8 * 8, width.min(PIECE) - width.min(PIECE) / 3] {
            let features: Vec<u32> = (0..n).map(|_| random.below(width as u64) as u32).collect();
            let values: Vec<f64> = features.iter().map(|_| random.unit() - 0.5).collect();
            add_blocks(&mut sums, wide.blocks(), width, &features, &values);
            add_blocks_plainly(&mut plain_sums, plain.blocks(), width, &features, &values);
            let bits =
                |sums: &Sums| sums.totals()[..n_outputs].iter().map(|s| s.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&sums), bits(&plain_sums), "{width} by {n_outputs}");

            let mut changes = [Change::default(); 2];
            for output in 0..n_outputs {
                if random.unit() < 0.5 {
                    continue;
                }
                changes[output / BLOCK].amounts[output % BLOCK] = random.unit() - 0.5;
                changes[output / BLOCK].outputs |= 1 << (output % BLOCK);
            }
            change_blocks(wide.blocks(), &changes, width, &features, &values);
            change_blocks_plainly(plain.blocks(), &changes, width, &features, &values);
            let bits = |table: &Table| table.compact().iter().map(|w| w.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&wide), bits(&plain), "{width} by {n_outputs}");
        }
    }
}

/// On every machine: wide registers check the features beforehand, the plain path checks each.
#[test]
fn a_row_that_is_too_wide_is_refused_before_anything_is_read() {
    let features = [0, 1, 2, 3, 4, 5, 6, 7, 900];
    let fits = std::panic::catch_unwind(|| sparse_dot(&features, &[1.0; 9], &[1.0; 901]));
    assert_eq!(fits.ok(), Some(9.0));
    let beyond = std::panic::catch_unwind(|| sparse_dot(&features, &[1.0; 9], &[1.0; 899]));
    assert!(beyond.is_err(), "a weight that is not there was read");
    let beyond = std::panic::catch_unwind(|| plain::sparse_dot(&features, &[1.0; 9], &[1.0; 899]));
    assert!(beyond.is_err(), "a weight that is not there was read");
}

#[test]
fn rows_that_nobody_has_looked_at_score_as_others_or_not_at_all() {
    let mut random = Random::new(6);
    let weights: Vec<f64> = (0..1000).map(|_| random.unit() - 0.5).collect();
    let found = |indices: &[u32], values: &[f32]| {
        let [wide, plain] =
            [unseen_dot(indices, values, &weights), plain::unseen_dot(indices, values, &weights)]
                .map(|sum| sum.map(f64::to_bits));
        assert_eq!(wide, plain, "{indices:?}");
        wide
    };
    for n in 0..70 {
        let mut indices: Vec<u32> = (0..1000).filter(|_| random.unit() < 0.1).take(n).collect();
        indices.extend((indices.len() < n).then_some(999).filter(|last| indices.last() != Some(last)));
        let values: Vec<f32> = indices.iter().map(|_| 0.1 + random.unit() as f32).collect();
        let expected = plain::sparse_dot(&indices, &values, &weights).to_bits();
        assert_eq!(found(&indices, &values), Some(expected), "{indices:?}");
        for place in 0..indices.len() {
            let with = |index: u32| {
                let mut indices = indices.clone();
                indices[place] = index;
                indices
            };
            for wrong in [1000, i32::MAX as u32, 1 << 31, u32::MAX] {
                assert_eq!(found(&with(wrong), &values), None, "{wrong} at {place}");
            }
            if place > 0 {
                assert_eq!(found(&with(indices[place - 1]), &values), None, "twice the same at {place}");
                assert_eq!(found(&with(0), &values), None, "back at {place}");
            }
            for zero in [0.0, -0.0] {
                let mut values = values.clone();
                values[place] = zero;
                assert_eq!(found(&indices, &values), None, "a zero at {place}");
            }
            let mut values = values.clone();
            values[place] = f32::NAN;
            let sum = found(&indices, &values).map(f64::from_bits);
            assert!(sum.is_some_and(f64::is_nan), "not a number at {place}");
        }
    }
}
