//! Numbers and models in words: what pictures, reports and command lines say alike.

pub use rosenblatt::data::words::{count, counted};
use rosenblatt::evaluate::{MeanCost, ProbabilityScores};
use rosenblatt::importance::{ColumnImportance, Measure};
use rosenblatt::insight::{
    TopFeature, centred_weights, curves, feature_name, interval_of_folds, top_features_by_class,
};
use rosenblatt::kernel::Setting;
use rosenblatt::kernel::maps::usual_kernel;
use rosenblatt::learning::{Readout, Stopped};
use rosenblatt::model::{Estimated, NumberEstimate, Spread};
use rosenblatt::recipe::ByGroup;
use rosenblatt::{Evaluation, Model, Task};
use std::fmt::Write as _;

/// How many strong features are shown per class.
pub const TOP_FEATURES: usize = 8;
/// Up to how many features without names are worth naming by number.
const FEW_FEATURES: usize = 200;
/// Up to how many classes are listed one by one.
const FEW_CLASSES: usize = 12;

/// A share as per cent, with as many digits as make sense. What is not all of them is never 100.0 %.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (99.95..100.0).contains(&percent) {
        return format!("{:.2} %", percent.min(99.99));
    }
    format!("{} %", decimals(percent, if percent != 0.0 && percent < 10.0 { 2 } else { 1 }))
}

/// A number with this many decimals; what rounds to zero has no sign.
pub(crate) fn decimals(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|letter| matches!(letter, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// The last part of a path; several sources are named by what they are.
pub(crate) fn file_name(path: &str) -> &str {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if last.is_empty() { path } else { last }
}

/// Three significant digits, no trailing zeros.
pub fn short_number(number: f64) -> String {
    let digits = (2 - number.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Which of the hypotheses of a run a model predicts with, in a few words.
fn hypothesis(readout: Readout) -> &'static str {
    match readout {
        Readout::Last => "with the last weights",
        Readout::Averaged(_) => "with averaged weights",
        Readout::Voted => "with the votes of all weights",
        Readout::Pocket => "with the best weights so far (pocket)",
        Readout::Random => "with weights drawn at random",
    }
}

/// How a model was trained, in a line or two.
pub fn describe_training(model: &Model) -> String {
    let (spec, summary) = (model.spec(), model.training_summary());
    let totals = summary.totals;
    let kernel = model.expansion().and_then(|expansion| expansion.kernel().formula());
    let kernel = kernel.map_or_else(String::new, |formula| format!(" with kernel {formula},"));
    let network = model.network().map_or_else(String::new, |network| {
        let sizes: Vec<String> = network.sizes().iter().map(usize::to_string).collect();
        format!(" of {} units ({}),", sizes.join("-"), network.activation())
    });
    let mut text = format!(
        "{}{kernel}{network} {}: {} over {}",
        spec.entry().info.name,
        hypothesis(spec.readout()),
        counted(totals.epochs, "epoch", "epochs"),
        counted(summary.rows as u64, "row", "rows"),
    );
    if model.task() == Task::Classes {
        let _ = write!(text, ", {} while learning", counted(totals.mistakes, "mistake", "mistakes"));
    }
    let ended = match summary.stopped {
        Stopped::Clean if model.map().is_some() => {
            "converged: a hyperplane separates the training data behind the map, as a whole epoch without a mistake shows"
        }
        Stopped::Clean if model.network().is_some() => {
            "converged: the network tells the training data apart, as a whole epoch without a mistake shows"
        }
        Stopped::Clean if spec.kernel().is_some() => {
            "converged: the kernel separates the training data, as a whole epoch without a mistake shows"
        }
        Stopped::Clean => {
            "converged: the training data is linearly separable, as a whole epoch without a mistake shows"
        }
        Stopped::Observer => "stopped early: the error on the validation set no longer fell",
        Stopped::Converged if spec.entry().info.per_pair => "converged: an epoch no longer moved the weights",
        Stopped::Converged if model.network().is_some() => "converged: the loss no longer fell",
        Stopped::Converged => "converged: no visit changed a margin by more than the tolerance",
        Stopped::Cycle => "stopped in a cycle: the weights of an earlier epoch came back, and would for ever",
        Stopped::Updates => "stopped after the maximum number of updates",
        Stopped::Epochs if stops_as_judged(model) => {
            "stopped early: after as many epochs as the trainings that were judged, whose validation sets decided"
        }
        Stopped::Epochs => "stopped after the maximum number of epochs",
    };
    if let Some(map) = map(model) {
        let _ = write!(text, "\n{map}");
    }
    let _ = write!(text, "\n{ended}");
    if let Some(held) = &summary.validation {
        let (tried, kept) = (counted(held.errors.len() as u64, "epoch", "epochs"), held.best_epoch);
        let _ = write!(text, "; of {tried} tried, epoch {kept} is kept, the last with the fewest errors");
    }
    text
}

/// Whether trainings on parts of the rows decided for how many epochs the model learned.
fn stops_as_judged(model: &Model) -> bool {
    let (summary, options) = (model.training_summary(), model.spec().options());
    let is_refitted = summary.estimate.is_some_and(|estimate| estimate.refitted);
    is_refitted && options.validation.is_some() && summary.totals.epochs < options.epochs
}

/// An error with its interval: `1.23 % (13 of 1,115 rows; 95 % confidence interval 0.71 % to 2.0 %)`.
pub fn error_line(errors: u64, rows: u64, folds: usize) -> String {
    let (low, high) = interval_of_folds(errors, rows, folds);
    format!(
        "{} ({} of {}; 95 % confidence interval {} to {})",
        percent(errors as f64 / rows.max(1) as f64),
        count(errors),
        counted(rows, "row", "rows"),
        percent(low),
        percent(high)
    )
}

/// The error that was found when a model was trained, on rows that were not learned from, and how.
pub fn describe_estimate(model: &Model) -> Option<String> {
    let summary = model.training_summary();
    if let Some(numbers) = model.held_numbers() {
        let judged = describe_numbers(&numbers.estimate);
        let rows = counted(numbers.estimate.rows, "row", "rows");
        let how = match summary.folds {
            Some(n_folds) => format!("cross-validated over {n_folds} folds of {rows}"),
            None => format!("on {rows} held out of the same training"),
        };
        return Some(format!("{judged}{how}\nthis assumes that {}", summary.assumes()));
    }
    let Estimated { rows, errors, refitted, by_group } = summary.estimate?;
    let by_group = by_group.map_or_else(String::new, |by_group| format!("\n{}", group_line(&by_group)));
    let line = error_line(errors, rows, summary.folds.unwrap_or(1)) + &by_group;
    let how = match (summary.folds, refitted) {
        (Some(n_folds), _) => {
            let learned = describe_rows_of_folds(model);
            format!(
                "cross-validated error: {line}\nover {n_folds} folds; the model itself learned from {learned}"
            )
        }
        (None, true) => format!(
            "held-out error: {line}\nof the same training without these rows; the model itself learned from {}",
            describe_rows_of_folds(model)
        ),
        (None, false) => format!("held-out error: {line}\non rows that it did not learn from"),
    };
    Some(format!("{how}\nthis assumes that {}", summary.assumes()))
}

/// How sure an error is if the rows of a group are right and wrong together.
pub fn group_line(by_group: &ByGroup) -> String {
    let (low, high) = by_group.interval;
    format!(
        "by group: 95 % confidence interval {} to {} for new ones of {} groups, whose rows are right and wrong together",
        percent(low),
        percent(high),
        count(by_group.groups as u64)
    )
}

/// How far off predicted numbers are, a line for each figure.
pub fn describe_numbers(estimate: &NumberEstimate) -> String {
    let NumberEstimate { rmse, mae, r2, mean_rmse, median_mae, .. } = estimate;
    let figure = |Spread { value, low, high }: &Spread| {
        let (value, low, high) = (short_number(*value), short_number(*low), short_number(*high));
        format!("{value} (95 % confidence interval {low} to {high})")
    };
    let mut text = format!(
        "root mean squared error: {}; always predicting the mean: {}\n\
         mean absolute error: {}; always predicting the median: {}\n\
         variance explained (R2): {}\n",
        figure(rmse),
        short_number(*mean_rmse),
        figure(mae),
        short_number(*median_mae),
        figure(r2),
    );
    if rmse.value >= *mean_rmse {
        text.push_str("warning: this is no better than always predicting the mean\n");
    }
    text
}

/// That a model which names no class better than a constant does ranks rows all the same, if that is more than chance.
pub fn still_ranks(evaluation: &Evaluation) -> Option<String> {
    let (area, (low, high)) = evaluation.area().filter(|(_, (low, _))| *low > 0.5)?;
    Some(format!(
        "its scores still rank rows, with an AUC of {area:.3} (95 % confidence interval {low:.3} to {high:.3}): it pays where \
         some mistakes cost more than others"
    ))
}

/// What mistakes cost, beside the answer that costs least of those that are always the same.
pub fn cost_line(cost: &MeanCost, always: &str) -> String {
    let (low, high) = cost.interval;
    format!(
        "mean cost: {} a row (95 % confidence interval {} to {}); always predicting {always} would cost {}",
        short_number(cost.mean),
        short_number(low),
        short_number(high),
        short_number(cost.always.1)
    )
}

/// What moves a predicted number most, up or down; of a column that bends, from its lowest to its highest point.
fn list_slopes(model: &Model) -> String {
    let weights = centred_weights(model, 0).unwrap_or_default();
    let bent = curves(model, 0);
    let is_bent = |feature: usize| bent.iter().any(|curve| curve.features.contains(&feature));
    let straight =
        weights.iter().enumerate().filter(|(feature, weight)| !is_bent(*feature) && **weight != 0.0);
    let mut moves: Vec<(String, f64, bool)> =
        straight.map(|(feature, weight)| (feature_name(model, feature), *weight, false)).collect();
    for curve in &bent {
        let heights = || curve.points.iter().map(|(_, height)| *height);
        let (low, high) =
            (heights().fold(f64::INFINITY, f64::min), heights().fold(f64::NEG_INFINITY, f64::max));
        moves.push((curve.column.clone(), high - low, true));
    }
    moves.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let slope = |(name, by, is_bent): &(String, f64, bool)| {
        let sign = if *is_bent {
            "over "
        } else if *by > 0.0 {
            "+"
        } else {
            ""
        };
        format!("{name} {sign}{}", short_number(*by))
    };
    let shown: Vec<String> = moves.iter().take(TOP_FEATURES).map(slope).collect();
    let target = model.labels().names().first().map_or("", String::as_str);
    if shown.is_empty() {
        String::new()
    } else {
        format!(
            "what moves {target} most, a number by one standard deviation, a category beside the mean of its column: {}\n",
            shown.join(", ")
        )
    }
}

/// Which rows a model learned from that was judged by the same training without some of them.
pub fn describe_rows_of_folds(model: &Model) -> String {
    match &model.training_summary().validation {
        Some(held) => format!("all rows but the {} that decided when to stop", count(held.rows as u64)),
        None => "all rows".to_owned(),
    }
}

/// The rows that a training error is of: those that were learned from, and those that decided when to stop.
pub fn describe_training_rows(model: &Model, rows: u64) -> String {
    let all = counted(rows, "row", "rows");
    match &model.training_summary().validation {
        Some(held) => {
            let (stopped, learned) = (held.rows as u64, rows.saturating_sub(held.rows as u64));
            format!("{all}: {} learned from, {} that decided when to stop", count(learned), count(stopped))
        }
        None => format!("{all} that it learned from"),
    }
}

/// How good probabilities are.
pub fn describe_probabilities(ProbabilityScores { brier, log_loss }: ProbabilityScores) -> String {
    format!("Brier score {brier:.4}, log loss {log_loss:.4}")
}

/// The feature map of a model, if it has one.
fn map(model: &Model) -> Option<String> {
    let (map, mapping) = model.map().zip(model.spec().options().map.as_ref())?;
    let kernel = mapping.kernel.as_deref().unwrap_or_else(|| usual_kernel(&mapping.name));
    let mut params = mapping.params.clone();
    params.extend(map.gamma().map(|gamma| ("gamma".to_owned(), Setting::Number(gamma))));
    let given: Vec<String> = params.iter().map(|(name, setting)| format!(", {name} {setting}")).collect();
    let given = given.concat();
    let size = counted(map.size() as u64, "feature", "features");
    Some(format!("behind the map {} to {size}, standing in for the kernel {kernel}{given}", mapping.name))
}

/// Which columns matter, the one that is missed most first; nothing if that is not known.
pub fn list_importance(model: &Model) -> String {
    let Some(importance) = model.importance() else {
        let why = model.why_unranked();
        return why.map_or_else(String::new, |why| {
            format!("columns are not ranked by how much they matter: {why}\n")
        });
    };
    let (what, spelt): (_, fn(f64) -> String) = match importance.measure {
        Measure::LogLoss => ("log loss", |rise| decimals(rise, 3)),
        Measure::Error => ("error", percent),
    };
    let (missed, others): (Vec<_>, Vec<_>) =
        importance.columns.iter().partition(|column| column.interval.0 > 0.0);
    let mut text = String::new();
    for column in missed.iter().take(TOP_FEATURES) {
        let (low, high) = column.interval;
        let _ =
            writeln!(text, "  {}: {} ({} to {})", column.column, spelt(column.rise), spelt(low), spelt(high));
    }
    let n_more = missed.len().saturating_sub(TOP_FEATURES);
    if n_more > 0 {
        let _ = writeln!(text, "  and {n_more} more");
    }
    if !others.is_empty() {
        let names: Vec<String> = others
            .iter()
            .take(TOP_FEATURES)
            .map(|column| format!("{} {}", column.column, spelt(column.rise)))
            .collect();
        let dots = if others.len() > TOP_FEATURES { ", …" } else { "" };
        let _ = writeln!(text, "  no more than by chance: {}{dots}", names.join(", "));
    }
    format!(
        "columns that matter, by how much the {what} of held-out rows rises when one is shuffled (95 % intervals):\n{text}"
    )
}

/// What the numbers beside these top features are, where they are not weights.
pub fn by_spread<'a>(model: &Model, features: impl IntoIterator<Item = &'a TopFeature>) -> &'static str {
    if model.variations().is_empty() {
        ""
    } else if features.into_iter().any(|feature| share(feature).is_some()) {
        ", by weight times spread (and share of rows)"
    } else {
        ", by weight times spread"
    }
}

/// In how many of the rows a feature is, unless in nearly all.
fn share(feature: &TopFeature) -> Option<f64> {
    feature.share.and_then(rare)
}

/// A share of the rows, unless it is nearly all of them.
fn rare(share: f64) -> Option<f64> {
    (share < 0.995).then_some(share)
}

/// What a feature is called, and in how many of the rows it is, unless in nearly all.
pub(crate) fn name_with_share(model: &Model, feature: usize) -> String {
    let share = model.variation(feature).and_then(|one| rare(f64::from(one.share)));
    let share = share.map_or_else(String::new, |share| format!(" ({})", percent(share)));
    format!("{}{share}", feature_name(model, feature))
}

/// A top feature, its contribution, and in how many of the rows it is, unless in nearly all.
pub fn describe_feature(feature: &TopFeature) -> String {
    let share = share(feature).map_or_else(String::new, |share| format!(" ({})", percent(share)));
    format!("{} {}{share}", feature.name, short_number(feature.contribution()))
}

/// The features that contribute most in favour of each class. Numbers without names say something only while
/// they are few: pixels have no meaning by number.
pub fn list_top_features(model: &Model) -> String {
    if model.feature_names().is_none() && model.width() > FEW_FEATURES {
        return String::new();
    }
    if model.task() == Task::Numbers {
        return list_slopes(model);
    }
    let mut text = String::new();
    let features = top_features_by_class(model, TOP_FEATURES);
    for (name, features) in model.labels().names().iter().zip(features).take(FEW_CLASSES) {
        if !features.is_empty() {
            let what = by_spread(model, &features);
            let features: Vec<String> = features.iter().map(describe_feature).collect();
            let _ = writeln!(text, "top features for {name}{what}: {}", features.join(", "));
        }
    }
    if !text.is_empty() {
        text.push_str(&on_chance(model).map_or_else(String::new, |line| line + "\n"));
    }
    text
}

/// That a top feature need not matter, where columns are known that matter no more than by chance.
pub fn on_chance(model: &Model) -> Option<String> {
    let columns = &model.importance()?.columns;
    let is_chance = |column: &&ColumnImportance| column.interval.0 <= 0.0;
    let chance: Vec<&str> =
        columns.iter().filter(is_chance).map(|column| column.column.as_str()).take(TOP_FEATURES).collect();
    let top = top_features_by_class(model, TOP_FEATURES);
    let is_of = |name: &str, column: &str| {
        name.strip_prefix(column)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', ' ', '*', ':']))
    };
    let listed = |column: &&str| top.iter().flatten().any(|feature| is_of(&feature.name, column));
    let chance: Vec<&str> = chance.into_iter().filter(listed).collect();
    (!chance.is_empty()).then(|| {
        format!(
            "a weight of a column that matters no more than by chance may be chance too: {}",
            chance.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(percent(0.0123), "1.23 %");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!([-0.000_04, -0.000_6].map(|rise| decimals(rise, 3)), ["0.000", "-0.001"]);
        assert_eq!([-0.000_04, -0.000_6].map(percent), ["0.00 %", "-0.06 %"]);
        assert_eq!(percent(5_572.0 / 5_574.0), "99.96 %");
        assert_eq!((percent(0.999_999_9), percent(1.0)), ("99.99 %".to_owned(), "100.0 %".to_owned()));
    }

    #[test]
    fn a_title_has_no_folders() {
        assert_eq!(file_name("/some/where/mail.csv"), "mail.csv");
        assert_eq!(file_name("folder/of/mails/"), "mails");
        assert_eq!((file_name("iris.csv"), file_name("/"), file_name("-")), ("iris.csv", "/", "-"));
    }

    #[test]
    fn weights_keep_three_digits() {
        assert_eq!(short_number(12.34), "12.3");
        assert_eq!(short_number(0.012_345), "0.0123");
        assert_eq!(short_number(2.0), "2");
        assert_eq!(short_number(1234.5), "1234");
    }
}
