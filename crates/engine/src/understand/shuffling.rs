//! Which columns matter: what is lost when the values of one are shuffled among rows that were not learned from
//! (Breiman 2001; Fisher, Rudin and Dominici 2019).
//!
//! A large weight says little of a column: a category of a few rows may have one, and no row misses it. Shuffling takes from
//! the model what it knew by a column and leaves all else as it was.

use crate::error::Error;
use crate::importance::{ColumnImportance, Importance, MOST_COLUMNS, MOST_VARIATIONS, Measure, Variation};
use crate::insight::{feature_name, leading, mean_planes};
use crate::model::{Model, class_scores};
use crate::rows::RowSource;
use crate::slice::sample;
use crate::statistics::interval_of_mean;
use rosenblatt_core::{Examples, Random, Row, Sparse, elementary};
use rosenblatt_data::{Column, ColumnKind, Schema, visit};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// How often the values of a column are shuffled.
const DRAWS: usize = 3;
/// Among this many rows, and fewer where a prediction takes long.
const MOST_ROWS: usize = 2_000;
const MOST_SLOW_ROWS: usize = 200;

/// Losses of shuffled columns, part after part of the rows.
#[derive(Debug, Default)]
pub(crate) struct Shuffling {
    columns: Vec<(String, Range<usize>)>,
    /// How features are made of several columns.
    schema: Option<Schema>,
    /// Of each column, the rise of the loss of every row.
    rises: Vec<Vec<f64>>,
    has_probabilities: bool,
}

impl Shuffling {
    /// For rows of these columns; of none, if there are too many, or if features are made of several columns.
    pub(crate) fn new(width: usize, schema: Option<&Schema>, model: &Model) -> Self {
        let columns = Self::columns_of(width, schema, model);
        Self {
            rises: vec![Vec::new(); columns.len()],
            columns,
            schema: schema.cloned(),
            has_probabilities: model.calibration().is_some(),
        }
    }

    /// Says where the same columns stand in the rows of the next part: knots differ from part to part.
    pub(crate) fn moved(&mut self, width: usize, schema: Option<&Schema>, model: &Model) {
        let columns = Self::columns_of(width, schema, model);
        if columns.len() == self.columns.len() {
            self.columns = columns;
            self.schema = schema.cloned();
        }
    }

    fn columns_of(width: usize, schema: Option<&Schema>, model: &Model) -> Vec<(String, Range<usize>)> {
        let named = |feature: usize| (feature_name(model, feature), feature..feature + 1);
        if unranked(width, schema).is_some() {
            return Vec::new();
        }
        match schema {
            Some(schema) if !schema.columns.is_empty() || schema.bends.is_some() => schema.runs(),
            _ => (0..base_width(width, schema)).map(named).collect(),
        }
    }

    /// Takes in what `model` loses on these rows, which it did not learn from; a sample of one of this many parts.
    pub(crate) fn add(
        &mut self,
        model: &Model,
        rows: &mut RowSource<'_>,
        held: &[u32],
        n_parts: usize,
        seed: u64,
    ) -> Result<(), Error> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let is_quick = model.planes().is_some() && model.map().is_none();
        let most = if is_quick { MOST_ROWS } else { MOST_SLOW_ROWS };
        let drawn: Vec<u32> =
            sample(held.len(), (most / n_parts).max(1), seed).into_iter().map(|place| held[place]).collect();
        let mut lent = Vec::new();
        let _ = rows.each_block(&drawn, |_, view, listed| {
            visit!(view, examples => lent.extend(listed.iter().map(|&row| {
                let entries = examples.row(row as usize).entries();
                let (features, values) = entries.map(|(feature, value)| (feature as u32, value)).unzip();
                Lent { features, values, class: examples.class(row as usize) }
            })));
            ControlFlow::<()>::Continue(())
        })?;
        self.shuffle(model, rows.width(), &lent, seed);
        Ok(())
    }

    fn shuffle(&mut self, model: &Model, width: usize, rows: &[Lent], seed: u64) {
        let mut predictor = model.predictor(width);
        let (mut of_classes, mut shares) = (Vec::new(), Vec::new());
        let mut loss = |features: &[u32], values: &[f64], truth: u32| {
            let class = predictor.predict(Sparse::new(features, values));
            let Some(calibration) = model.calibration() else { return f64::from(u8::from(class != truth)) };
            class_scores(model, predictor.scores(), &mut of_classes);
            calibration.probabilities(&of_classes, &mut shares);
            -elementary::ln(shares.get(truth as usize).copied().unwrap_or(0.0).max(f64::EPSILON))
        };
        let together = self.schema.as_ref().and_then(Schema::together);
        let remake = |features: &mut Vec<u32>, values: &mut Vec<f64>| {
            let Some((start, made)) = &together else { return };
            let end = features.partition_point(|feature| (*feature as usize) < *start);
            features.truncate(end);
            values.truncate(end);
            let entries: Vec<(u32, f64)> = features.iter().copied().zip(values.iter().copied()).collect();
            for (feature, product) in made(&entries) {
                features.push(feature);
                values.push(product);
            }
        };
        let (mut features, mut values) = (Vec::new(), Vec::new());
        let mut known = Vec::with_capacity(rows.len());
        for row in rows {
            features.clone_from(&row.features);
            values.clone_from(&row.values);
            remake(&mut features, &mut values);
            known.push(loss(&features, &values, row.class));
        }
        for (column, rises) in self.columns.iter().map(|(_, column)| column).zip(&mut self.rises) {
            let mut sums = vec![0.0; rows.len()];
            for draw in 0..DRAWS {
                let mut others: Vec<usize> = (0..rows.len()).collect();
                Random::for_purpose(seed.wrapping_add(draw as u64), "shuffled column").shuffle(&mut others);
                for (place, &other) in others.iter().enumerate() {
                    let (own, lent) = (&rows[place], &rows[other]);
                    let (left_out, put_in) = (own.part(column), lent.part(column));
                    features.clear();
                    values.clear();
                    let rest = left_out.end..own.features.len();
                    for (row, range) in [(own, 0..left_out.start), (lent, put_in), (own, rest)] {
                        features.extend(&row.features[range.clone()]);
                        values.extend(&row.values[range]);
                    }
                    remake(&mut features, &mut values);
                    sums[place] += loss(&features, &values, own.class) - known[place];
                }
            }
            rises.extend(sums.into_iter().map(|sum| sum / DRAWS as f64));
        }
    }

    /// Which columns matter; `None` if nothing is known.
    pub(crate) fn found(self) -> Option<Importance> {
        let mut columns: Vec<ColumnImportance> = (self.columns.into_iter().zip(&self.rises))
            .filter(|(_, rises)| !rises.is_empty())
            .map(|((column, _), rises)| {
                let (rise, interval) = interval_of_mean(rises);
                ColumnImportance { column, rise, interval }
            })
            .collect();
        // What may be chance ranks below what is not.
        let rank = |column: &ColumnImportance| (column.interval.0 > 0.0, column.rise);
        columns.sort_by(|a, b| {
            let ((is_sure, rise), (is_other_sure, other)) = (rank(a), rank(b));
            is_other_sure.cmp(&is_sure).then(other.total_cmp(&rise))
        });
        let measure = if self.has_probabilities { Measure::LogLoss } else { Measure::Error };
        let found = Importance { measure, columns };
        Some(found).filter(|found| !found.columns.is_empty() && found.is_possible())
    }
}

/// How many features a row has that are made of one column each.
fn base_width(width: usize, schema: Option<&Schema>) -> usize {
    let crossed = schema.filter(|schema| !schema.crosses.is_empty());
    crossed.and_then(Schema::base_width).unwrap_or(width)
}

/// Why the columns of such rows are not ranked, if they are not.
pub(crate) fn unranked(width: usize, schema: Option<&Schema>) -> Option<String> {
    let of_schema = |schema: &Schema| {
        let is_hashed = |column: &Column| matches!(column.kind, ColumnKind::Hashed);
        let is_table = !schema.columns.is_empty() || schema.bends.is_some();
        match schema {
            _ if schema.picture.is_some() => Err("a pixel is no column"),
            _ if schema.text.is_some() => Err("all features are words of one text"),
            _ if schema.hash_bits.is_some() || schema.columns.iter().any(is_hashed) => {
                Err("a hashed feature may be of several columns")
            }
            _ if !schema.crosses.is_empty() && schema.bends.is_some() => Err("columns bend and are crossed"),
            _ if is_table => Ok(schema.runs().len()),
            _ => Ok(base_width(width, Some(schema))),
        }
    };
    match schema.map_or(Ok(width), of_schema) {
        Ok(n_columns) if n_columns <= MOST_COLUMNS => None,
        Ok(_) => Some(format!("there are more than {MOST_COLUMNS}")),
        Err(why) => Some(why.to_owned()),
    }
}

/// How the features of a model vary over a sample of the rows it learned from: all of them, or those that contribute most
/// for and against each class where they are many. Features that are many and have no name are not shown, nor asked for.
pub(crate) fn variations(
    model: &Model,
    rows: &mut RowSource<'_>,
    seed: u64,
) -> Result<Arc<[Variation]>, Error> {
    let (is_wide, is_bent) =
        (rows.width() > MOST_VARIATIONS, model.schema().is_some_and(|schema| schema.bends.is_some()));
    if is_wide && (is_bent || model.feature_names().is_none()) || mean_planes(model).is_none() {
        return Ok(Arc::default());
    }
    let drawn: Vec<u32> =
        sample(rows.classes().len(), MOST_ROWS, seed).into_iter().map(|row| row as u32).collect();
    let mut sums: BTreeMap<u32, (f64, f64, u32)> = BTreeMap::new();
    let _ = rows.each_block(&drawn, |_, view, listed| {
        visit!(view, examples => for &row in listed {
            for (feature, value) in examples.row(row as usize).entries().filter(|(_, value)| *value != 0.0) {
                let sums = sums.entry(feature as u32).or_default();
                *sums = (sums.0 + value, sums.1 + value * value, sums.2 + 1);
            }
        });
        ControlFlow::<()>::Continue(())
    })?;
    let n_rows = drawn.len().max(1) as f64;
    let varied = |(&feature, &(sum, squares, count)): (&u32, &(f64, f64, u32))| {
        let deviation = (squares / n_rows - (sum / n_rows).powi(2)).max(0.0).sqrt() as f32;
        let (share, mean) = ((f64::from(count) / n_rows) as f32, (sum / n_rows) as f32);
        (feature, Variation { feature, deviation, share, mean })
    };
    let mut found: BTreeMap<u32, Variation> = sums.iter().map(varied).collect();
    if found.len() > MOST_VARIATIONS {
        let by = |sign: f64| {
            let deviation =
                |feature: usize| f64::from(found.get(&(feature as u32)).map_or(0.0, |one| one.deviation));
            leading(model, MOST_VARIATIONS / (2 * model.labels().len()).max(1), |feature| {
                sign * deviation(feature)
            })
        };
        let kept: BTreeSet<u32> = [by(1.0), by(-1.0)]
            .into_iter()
            .flatten()
            .flatten()
            .map(|(_, _, feature)| feature as u32)
            .collect();
        found.retain(|feature, _| kept.contains(feature));
    }
    Ok(found.into_values().filter(|one| one.deviation.is_finite() && one.mean.is_finite()).collect())
}

/// A row by its values that are not zero.
struct Lent {
    features: Vec<u32>,
    values: Vec<f64>,
    class: u32,
}

impl Lent {
    /// Where the features of a column stand.
    fn part(&self, column: &Range<usize>) -> Range<usize> {
        let place = |feature: usize| self.features.partition_point(|&other| (other as usize) < feature);
        place(column.start)..place(column.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::{TopFeature, top_features};
    use crate::{Recipe, evaluate};
    use rosenblatt_data::Dataset;

    /// A column that decides the class is missed, one that says nothing is not, however large its numbers are.
    #[test]
    fn what_is_missed_ranks_first_and_noise_is_not_missed() {
        let mut random = Random::new(4);
        let (mut rows, mut names) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            let (good, fair, noise) = (random.unit(), random.unit(), 1000.0 * random.unit());
            let is_yes = good + 0.4 * fair > 0.7;
            names.push(if is_yes { "yes" } else { "no" });
            // A mark that three rows have, all of one class: its weight is large, and it decides little.
            let mark = f64::from(u8::from(is_yes && rows.len() % 60 == 7));
            rows.push([noise, fair, good, mark]);
        }
        let data = Dataset::from_rows(&rows, &names);
        let trained = Recipe::default().train_rows(data.clone(), &mut ()).unwrap();
        assert!(evaluate(&trained.model, &data).unwrap().error() < 0.2);
        let importance = trained.model.importance().unwrap();
        let order: Vec<&str> = importance.columns.iter().map(|column| column.column.as_str()).collect();
        assert_eq!(order[..2], ["feature 3", "feature 2"]);
        assert_eq!(trained.model.variations().len(), 4);
        let top = top_features(&trained.model, 1, 4);
        assert_eq!((top[0].name.as_str(), top[1].name.as_str()), ("feature 3", "feature 2"));
        assert!(top.iter().map(TopFeature::contribution).is_sorted_by(|a, b| a >= b));
        let [first, .., last] = &importance.columns[..] else { panic!("four columns") };
        assert!(first.interval.0 > 0.0 && first.rise > 5.0 * last.rise.abs(), "{importance:?}");
    }
}
