//! How good a model is on each group of rows: where it errs more than elsewhere.

use super::evaluate::Judged;
use crate::error::Error;
use crate::model::Model;
use crate::statistics::{interval_of_folds, interval_of_mean};
use crate::task::Task;
use rosenblatt_data::{Dataset, Labels};
use serde::Serialize;

/// The error of a model on the rows of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupError {
    /// What the rows have in common.
    pub value: String,
    /// How many there are.
    pub rows: u64,
    /// The share that were given the wrong class; of numbers, the root mean squared error.
    pub error: f64,
    /// Between which errors the true one lies, with 95 % confidence; of one number nothing is known.
    pub interval: Option<(f64, f64)>,
}

/// The error on each group that has rows, in the order of `values`; `groups` has the number of each row's value, by the place
/// of the row in its source.
pub fn errors_by_group(
    model: &Model,
    data: &Dataset,
    groups: &[Option<u32>],
    values: &Labels,
) -> Result<Vec<GroupError>, Error> {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let losses: Vec<f64> = if model.task() == Task::Numbers {
        let judged = model.judge_numbers(data, &rows)?;
        judged.targets.iter().zip(&judged.predicted).map(|(truth, found)| (truth - found).powi(2)).collect()
    } else {
        let judged = Judged::new(model, &mut data.into(), &rows, false, &mut || false)?;
        let pairs = judged.classes.iter().zip(&judged.predicted);
        pairs.map(|(class, found)| f64::from(u8::from(class != found))).collect()
    };
    let mut of_group = vec![Vec::new(); values.len()];
    for (row, loss) in losses.into_iter().enumerate() {
        if let Some(group) = groups.get(data.number(row)).copied().flatten() {
            of_group[group as usize].push(loss);
        }
    }
    let judged = |(value, losses): (&String, Vec<f64>)| {
        let rows = losses.len() as u64;
        let (mean, (low, high)) = interval_of_mean(&losses);
        let (error, interval) = if model.task() == Task::Numbers {
            (mean.sqrt(), (rows > 1).then(|| (low.max(0.0).sqrt(), high.sqrt())))
        } else {
            (mean, Some(interval_of_folds(losses.iter().sum::<f64>() as u64, rows, 1)))
        };
        (rows > 0).then(|| GroupError { value: value.clone(), rows, error, interval })
    };
    Ok(values.names().iter().zip(of_group).filter_map(judged).collect())
}
