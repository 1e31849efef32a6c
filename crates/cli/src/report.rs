//! How every command describes a model and its errors: in the same words.

use crate::ui::{apart, count, counted, percent, table, terminal_width};
use rosenblatt::data::Schema;
use rosenblatt::{Evaluation, Model};
use rosenblatt_figures::words;
pub(crate) use rosenblatt_figures::words::{
    TOP_FEATURES, describe_estimate, describe_numbers, describe_probabilities, describe_training,
    list_importance, list_top_features, short_number,
};
use std::fmt::Write as _;

/// The most crosses that are listed.
const LISTED_CROSSES: usize = 6;

/// The pairs of columns that were found to say more together, the best first; `None` if none were looked for.
pub(crate) fn crosses_line(schema: &Schema) -> Option<String> {
    schema.bends.as_ref().filter(|bends| bends.shape.crosses() > 0)?;
    let pairs = schema.surfaces();
    let named: Vec<String> = pairs.iter().take(LISTED_CROSSES).map(|pair| pair.join("*")).collect();
    let more = pairs.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
    Some(format!("crosses found: {named}{more}"))
}

/// Up to how many classes a confusion matrix is readable.
const MATRIX_CLASSES: usize = 12;
/// How long names of classes are in tables, and how short they may get to fit a terminal.
const NAME_LENGTHS: [usize; 3] = [16, 9, 6];
/// How many classes that are not recognised, or by few rows, are named.
const LISTED_MISSED: usize = 8;
/// How many classes are listed; the rest is counted.
const LISTED_CLASSES: usize = 40;

/// Error with its interval.
pub(crate) fn error_line(evaluation: &Evaluation) -> String {
    words::error_line(evaluation.errors, evaluation.rows, evaluation.folds)
}

/// The same rows given the most common class throughout, and what is wrong with a model that is no better.
pub(crate) fn beside_the_majority(model: &Model, evaluation: &Evaluation) -> String {
    let Some((class, error)) = evaluation.majority() else { return String::new() };
    let name = |class: u32| format!("`{}`", evaluation.labels.name(class));
    let mut text = format!(
        "accuracy {}, macro-F1 {:.3}; always predicting {} would be wrong for {}\n",
        percent(evaluation.accuracy()),
        evaluation.macro_f1(),
        name(class),
        percent(error)
    );
    let most = evaluation.support(class as usize);
    if let Some(cost) = evaluation.cost(model) {
        let _ = writeln!(
            text,
            "{}; it names classes by what they are expected to cost",
            words::cost_line(&cost, &name(cost.always.0))
        );
        if cost.mean >= cost.always.1 {
            let _ =
                writeln!(text, "warning: this is no better than always predicting {}", name(cost.always.0));
        }
    } else if evaluation.errors >= evaluation.rows - most && model.spec().weighs_mistakes() {
        text.push_str(
            "note: by plain count this is no better, which can happen if some mistakes cost more than others\n",
        );
    } else if evaluation.errors >= evaluation.rows - most {
        let _ = writeln!(text, "warning: this is no better than always predicting {}", name(class));
        if let Some(ranks) = words::still_ranks(evaluation) {
            let _ = writeln!(text, "note: {ranks} (--cost)");
        }
    } else if evaluation.interval().1 >= error {
        text.push_str("note: this may be chance: that error lies within the confidence interval\n");
    }
    let list = |classes: Vec<u32>| {
        let more = if classes.len() > LISTED_MISSED { ", …" } else { "" };
        let names: Vec<String> = classes.iter().take(LISTED_MISSED).map(|&class| name(class)).collect();
        match names.as_slice() {
            [only] => only.clone(),
            names => format!("{} classes: {}{more}", classes.len(), names.join(", ")),
        }
    };
    let few = evaluation.hardly_judged();
    if !few.is_empty() {
        let _ = writeln!(text, "warning: fewer than five rows tell how well it recognises {}", list(few));
    }
    let missed = evaluation.never_recognised();
    let is_rare = |class: &u32| evaluation.support(*class as usize) * 2 <= most;
    let are_rare = missed.iter().any(is_rare);
    if !missed.is_empty() {
        let _ = writeln!(text, "warning: no row was recognised of {}", list(missed));
        if !are_rare {
            return text;
        }
        text.push_str(
            "help: `--cost balanced` or `--class-weight balanced` lets rare classes count more when training, and `tune --metric f1` chooses by F1\n",
        );
    }
    text
}

/// The confusion matrix with precision, recall and F1; only the latter where the matrix would not fit the terminal.
pub(crate) fn classes(evaluation: &Evaluation) -> String {
    let names = evaluation.labels.names();
    let has_matrix = names.len() <= MATRIX_CLASSES;
    let width = terminal_width();
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= width);
    let narrower = NAME_LENGTHS.iter().filter(|_| has_matrix);
    let matrix = narrower.map(|&most| class_table(evaluation, &apart(names, most), true)).find(fits);
    let mut text = matrix.unwrap_or_else(|| class_table(evaluation, &apart(names, NAME_LENGTHS[0]), false));
    if names.len() > LISTED_CLASSES {
        let _ = writeln!(text, "and {} more classes", count((names.len() - LISTED_CLASSES) as u64));
    }
    text
}

/// A line for each class, under the given names.
fn class_table(evaluation: &Evaluation, names: &[String], matrix: bool) -> String {
    let mut head = vec![if matrix { "actual / predicted" } else { "class" }.to_owned()];
    head.extend(names.iter().filter(|_| matrix).cloned());
    // The area needs the scores of all rows at once, which are not there if rows stay on disk.
    let has_areas = evaluation.auc.iter().any(Option::is_some);
    head.extend(["precision", "recall", "F1"].map(str::to_owned));
    head.extend(has_areas.then(|| "AUC".to_owned()));
    let mut rows = vec![head];
    for (class, name) in names.iter().enumerate().take(LISTED_CLASSES) {
        let mut row = vec![name.clone()];
        if matrix {
            row.extend(evaluation.confusion.row(class).into_iter().map(count));
        }
        row.extend(
            [evaluation.precision(class), evaluation.recall(class), evaluation.f1(class)]
                .map(|x| format!("{x:.3}")),
        );
        row.extend(
            has_areas.then(|| evaluation.auc[class].map_or_else(String::new, |auc| format!("{auc:.3}"))),
        );
        rows.push(row);
    }
    table(&rows)
}

/// Whether the model can tell probabilities, and how good they are.
pub(crate) fn probabilities(model: &Model, judged: &Evaluation, is_raced: bool) -> String {
    let Some(calibration) = model.calibration() else {
        return "probabilities: none; hold rows out, and `--calibrate` fits them".to_owned();
    };
    let fitted = if is_raced {
        format!("the winner's held-out scores of {}", counted(calibration.rows(), "row", "rows"))
    } else {
        counted(calibration.rows(), "held-out row", "held-out rows")
    };
    let mut text = format!("probabilities: {}, fitted on {fitted}", calibration.method());
    if let Some(probability_scores) = judged.probability_scores {
        // Rows of a race are not those that are judged on.
        let how = if is_raced { "" } else { ", each half judged by a fit on the other" };
        let _ = write!(text, "; {}{how}", describe_probabilities(probability_scores));
    }
    text
}
