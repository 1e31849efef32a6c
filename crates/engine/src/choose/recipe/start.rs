//! A run that starts from the weights of a saved model.
//!
//! Weights mean something only for the features, classes and scheme that they were learned for, so the rows are read as
//! the model's own were, under its schema and with its scale. What does not fit is refused with the reason.

use super::{Choice, Plan, Recipe};
use crate::error::Error;
use crate::model::Model;
use crate::spec::Spec;
use crate::task::Task;
use rosenblatt_data::words::count;
use rosenblatt_data::{Dataset, Labels, ReadOptions};

/// The recipe as far as the model that it starts from decides it.
pub(super) fn from_model(recipe: &Recipe) -> Result<Recipe, Error> {
    let Some(model) = &recipe.start else { return Ok(recipe.clone()) };
    let refuse = |what: &str| Err(Error::BadStart { what: what.to_owned() });
    model.check_task(Task::Classes)?;
    if model.map().is_some() && !recipe.blank {
        return refuse("its rows go through a feature map");
    }
    if model.planes().is_none() && !recipe.blank {
        return refuse(
            "it is a vote of many hyperplanes or a network, or has a kernel, and so has no weights of its own",
        );
    }
    if matches!(recipe.estimate, Plan::Folds(_)) {
        return refuse("cross-validation would start its folds from a model that may know their rows");
    }
    if matches!(recipe.choice, Choice::Race(_)) {
        return refuse("a race starts from nothing");
    }
    // Options of one rule mean little to another.
    let learning = if recipe.learning.is_set("algorithm") {
        recipe.learning.clone()
    } else {
        recipe.learning.over(model.spec().options().clone()).into()
    };
    let spec = Spec::new(learning.options().clone())?;
    if !recipe.online && !recipe.learning.is_set("epochs") {
        check_epochs(learning.options().epochs)?;
    }
    if !recipe.blank {
        check_weights(model, &spec)?;
        model.check_room("a run that starts from it", 32)?;
    }
    let reading = model.to_evaluate(recipe.reading.clone());
    let told_from_rest = model.labels().told_from_rest().map(str::to_owned);
    let (positive, classes) = match (&recipe.positive, told_from_rest) {
        (Some(positive), _) => (Some(positive.clone()), None),
        (None, Some(class)) => (Some(class), None),
        (None, None) => (None, Some(model.labels().names().to_vec())),
    };
    Ok(Recipe {
        reading: ReadOptions { classes, ..reading },
        learning,
        choice: Choice::Given,
        positive,
        ..recipe.clone()
    })
}

/// Refuses more epochs than a run takes over from a model: a file of a few kilobytes may claim any number.
pub(super) fn check_epochs(claimed: u64) -> Result<(), Error> {
    const MOST: u64 = 10_000;
    if claimed <= MOST {
        return Ok(());
    }
    let what =
        format!("its options claim {claimed} epochs, more than {MOST}; set `epochs` to those you want");
    Err(Error::BadStart { what })
}

/// Whether the weights of `model` mean the same to a run of `spec`.
fn check_weights(model: &Model, spec: &Spec) -> Result<(), Error> {
    let refuse = |what: &str| Err(Error::BadStart { what: what.to_owned() });
    let was = model.spec();
    if model.labels().len() > 2 && spec.options().multiclass != was.options().multiclass {
        let (now, then) = (spec.options().multiclass, was.options().multiclass);
        return refuse(&format!("its classes are separated {then}, and here {now}"));
    }
    if spec.kernel().is_some() || spec.map().is_some() || spec.entry().network {
        return refuse("it has plain weights, and here rows go through a kernel, a map or a network");
    }
    if spec.entry().info.per_row {
        let rule = spec.entry().info.name;
        return refuse(&format!(
            "{rule} solves for its weights from a number for each row, which it does not keep"
        ));
    }
    if spec.bias() != was.bias() {
        return refuse(&format!("its bias is {}, and here {}", was.bias(), spec.bias()));
    }
    Ok(())
}

/// Whether rows of these classes can be learned from.
pub(super) fn check_classes(model: &Model, labels: &Labels) -> Result<(), Error> {
    let (then, now) = (model.labels().names(), labels.names());
    if then == now {
        return Ok(());
    }
    let what = format!("its classes are {}, and here {}", then.join(", "), now.join(", "));
    Err(Error::BadStart { what })
}

/// Where it starts, in words.
pub(super) fn beginning(model: &Model, blank: bool) -> String {
    let what = if blank { "starts from zero, as to all else like" } else { "starts from" };
    format!("{what} a model that learned from {} rows", count(model.training_summary().rows as u64))
}

/// The notes about the start; an error if these rows do not fit the model.
pub(super) fn told(model: &Model, data: &Dataset, blank: bool) -> Result<Vec<String>, Error> {
    check_classes(model, data.labels())?;
    let mut notes = vec![beginning(model, blank)];
    if !blank && model.is_of(data) {
        notes.push(
            "that model learned from these rows, perhaps from held-out ones too: the estimate is too good"
                .to_owned(),
        );
    }
    Ok(notes)
}
