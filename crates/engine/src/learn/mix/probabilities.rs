//! Probabilities of a mixture: every shard scores its validation set, and curves are fitted to all of that.

use super::share::bad;
use crate::calibration::{Calibration, Method, Naming, Scored, n_curves};
use crate::error::Error;
use crate::model::{Model, bundle, class_scores, unbundle};
use rosenblatt_core::state::List;

const KIND: &str = "rosenblatt scores";

/// What a model says of the packed rows of a shard's validation set, for [`with_probabilities`].
pub fn scores<B: AsRef<[u8]>>(
    model: &Model,
    packs: impl IntoIterator<Item = Result<B, Error>>,
) -> Result<Vec<u8>, Error> {
    let (mut scores, mut classes, mut named, mut of_row) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for pack in packs {
        let data = rosenblatt_data::unpack(pack?.as_ref())?;
        let number = |name: &String| {
            let known = || model.labels().names().to_vec();
            let unknown = || Error::UnknownClass { name: name.clone(), known: known() };
            model.labels().class(name).ok_or_else(unknown)
        };
        let numbers = data.labels().names().iter().map(number).collect::<Result<Vec<u32>, _>>()?;
        model.each_row(data.view(), |row, class, answers| {
            class_scores(model, answers, &mut of_row);
            scores.extend(&of_row);
            classes.push(numbers[data.classes()[row as usize] as usize]);
            named.push(class);
        })?;
    }
    let lists = [
        ("scores", List::F64(scores.into())),
        ("classes", List::U32(classes.into())),
        ("named", List::U32(named.into())),
    ];
    Ok(bundle(KIND, &(), lists.iter().map(|(name, list)| (*name, list))))
}

/// The same model with probabilities, fitted as a single machine does it: to the [`scores`] of the rows that
/// no shard learned from, in the order of shards.
pub fn with_probabilities<B: AsRef<[u8]>>(
    model: Model,
    method: Method,
    answers: &[B],
) -> Result<Model, Error> {
    let n_classes = model.labels().len();
    let (mut scores, mut classes, mut named) = (Vec::new(), Vec::new(), Vec::new());
    for answers in answers {
        let ((), lists) = unbundle(KIND, answers.as_ref()).map_err(|error| bad(error.to_string()))?;
        for (name, list) in lists {
            match (name.as_str(), list) {
                ("scores", List::F64(more)) => scores.extend_from_slice(&more),
                ("classes", List::U32(more)) => classes.extend_from_slice(&more),
                ("named", List::U32(more)) => named.extend_from_slice(&more),
                _ => return Err(bad(format!("its list `{name}` is unknown"))),
            }
        }
    }
    let is_class = |class: &u32| (*class as usize) < n_classes;
    let fits = scores.len() == classes.len() * n_curves(n_classes) && named.len() == classes.len();
    if !fits || !classes.iter().chain(&named).all(is_class) {
        return Err(bad("its scores do not fit the model"));
    }
    if classes.is_empty() {
        return Err(Error::NothingHeldOut);
    }
    let costs = model.costs();
    let naming = Naming::of(&model.spec.options().class_weights, costs.as_ref());
    let rows = Scored { n_classes, scores: &scores, classes: &classes, named: &named, groups: None };
    let fitted = Calibration::fit_for(naming, method, &rows, &mut || false)?;
    Ok(model.with_calibration(Some(fitted)))
}
