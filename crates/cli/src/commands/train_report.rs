//! What `train` and `demo` say of a model they trained, for people and for programs.

use super::bounds::Bounds;
use super::train_face::Face;
use crate::report;
use crate::ui::{self, count, counted, percent};
use rosenblatt::data::{Scaling, Shape};
use rosenblatt::learning::{Readout, Stopped, Totals};
use rosenblatt::options::ClassWeights;
use rosenblatt::options::Classes;
use rosenblatt::race::{Entrant, Race};
use rosenblatt::recipe::{LabelFound, error_rates};
use rosenblatt::{Evaluation, Trained};
use rosenblatt_figures::words::{describe_rows_of_folds, describe_training_rows, group_line};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// How many candidates of a race are shown.
const SHOWN: usize = 4;

/// The report for people: what was read, how good the model is and beside what, how sure that is, what it decides by, and
/// then how it was chosen and trained.
pub(super) fn text(trained: &Trained, face: &Face) -> String {
    let (model, totals) = (&trained.model, trained.model.training_summary().totals);
    let is_online = !trained.progress.is_empty();
    let mut text = data(trained, face.read_time);
    if is_online {
        let _ = writeln!(
            text,
            "\nprogressive error: {} ({} of {}, each predicted before it was learned from)",
            percent(error_rates(&Totals::default(), &totals).1),
            count(totals.errors),
            counted(totals.rounds, "row", "rows"),
        );
    }
    if let Some(training) = &trained.training {
        measured(&mut text, trained, training);
    }
    if let Some(numbers) = &trained.numbers {
        if let Some(estimate) = report::describe_estimate(model) {
            let _ = writeln!(text, "\n{estimate}");
        }
        if let Some(training) = &numbers.training {
            let rmse = report::short_number(training.rmse.value);
            let _ = writeln!(text, "training error (root mean squared, of training rows): {rmse}");
        }
    }
    let decides = report::list_importance(model) + &report::list_top_features(model);
    if !decides.is_empty() {
        let _ = write!(text, "\n{decides}");
    }
    let caveat = "these rows chose the winner, so its error here is optimistic: quote the error above\n";
    if let Some(race) = &trained.race {
        let _ = writeln!(text, "\n{}", race_text(race));
        if trained.estimate.is_some() {
            text.push_str(caveat);
        }
    }
    let raced = trained.numbers.as_ref().map_or(&[][..], |numbers| &numbers.candidates);
    if !raced.is_empty() {
        let mut raced = raced.to_vec();
        raced.sort_by(|a, b| a.1.total_cmp(&b.1));
        let _ = writeln!(text, "\nthe race, by the root mean squared error:");
        for (name, error) in raced.iter().take(SHOWN) {
            let _ = writeln!(text, "  {name}: {}", report::short_number(*error));
        }
        if raced.len() > SHOWN {
            let _ = writeln!(text, "  and {} more", raced.len() - SHOWN);
        }
        if model.held_numbers().is_some() {
            text.push_str(caveat);
        }
    }
    let _ = writeln!(text, "\n{}", report::describe_training(model));
    let lags = matches!(model.spec().readout(), Readout::Averaged(_));
    let is_clean = model.training_summary().stopped == Stopped::Clean && model.planes().is_some();
    if lags && is_clean && trained.training.as_ref().is_some_and(|training| training.errors > 0) {
        text.push_str(
            "note: the last weights make no mistake on these rows, but their average does, as it still contains earlier \
             weights: try --readout last, or a --scale\n",
        );
    }
    // Beside the bound of the largest margin, that of the margin found says nothing.
    let is_certified = face.bounds.as_ref().is_some_and(Bounds::is_certified);
    if let Some(bound) = trained.mistake_bound.filter(|_| !is_certified) {
        let _ = writeln!(
            text,
            "{} mistakes; at most {} by the bound{} with the margin of these weights (`certify` finds the largest)",
            count(totals.mistakes),
            count(bound.floor() as u64),
            bound_formula(model.spec().entry().info.source)
        );
    }
    if let Some(bounds) = &face.bounds {
        let _ = writeln!(text, "{}", bounds.text());
    }
    if is_online {
        let _ = writeln!(text, "{} in all\n", ui::duration(face.time()));
    } else {
        let rate = totals.rounds as f64 / face.train_time.as_secs_f64().max(1e-9);
        let time = ui::duration(face.train_time);
        let _ = writeln!(text, "{} rows a second, {time} in all\n", count(rate as u64));
    }
    text
}

/// The bound of a rule, as its source in the catalogue has it after `<=`.
fn bound_formula(source: &str) -> String {
    let formula = source.split_once("<= ").map(|(_, formula)| formula.split(';').next().unwrap_or(formula));
    formula.map_or_else(String::new, |formula| format!(" {formula}"))
}

/// What was read, and what was taken for what.
fn data(trained: &Trained, read_time: Option<Duration>) -> String {
    let data = &trained.data;
    let counts = data.classes.iter().take(6).filter(|(_, rows)| *rows > 0);
    let mut shown: Vec<String> = counts.map(|(name, rows)| format!("{name} {}", count(*rows))).collect();
    if data.classes.len() > 6 && !shown.is_empty() {
        shown.push(format!("and {} more", data.classes.len() - 6));
    }
    let shown = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) };
    let classes = match trained.numbers {
        Some(_) => String::new(),
        None => format!(", {}{shown}", counted(data.classes.len() as u64, "class", "classes")),
    };
    let mut text = format!(
        "{}: {}, {}{classes}{}\n",
        data.source,
        counted(data.rows, "row", "rows"),
        counted(data.features as u64, "feature", "features"),
        read_time.map_or_else(String::new, |time| format!(" in {}", ui::duration(time))),
    );
    if let Some(label) = &data.label {
        let why = match label {
            LabelFound::Named(_) => "your --label",
            LabelFound::ByName(_) => "by its name",
            LabelFound::Guessed(_) => "a guess; choose with --label",
        };
        // Why it was guessed is a note; beside the label it need not be a second sentence.
        let why = match trained.notes.iter().find_map(|note| why_guessed(note)) {
            Some(reason) if matches!(label, LabelFound::Guessed(_)) => {
                format!("a guess, {reason}; choose with --label")
            }
            _ => why.to_owned(),
        };
        let what = if trained.numbers.is_some() { "number to predict" } else { "label" };
        let _ = writeln!(text, "{what}: column `{}` ({why})", label.column());
    }
    if data.scaling != Scaling::None {
        let _ = writeln!(text, "scale: {}", data.scaling);
    }
    if let Some(bends) = trained.model.schema().and_then(|schema| schema.bends.as_ref()) {
        let columns = counted(bends.columns.len() as u64, "column", "columns");
        let _ = writeln!(text, "shape: {}, {columns}", bends.shape);
        if let Some(line) = trained.model.schema().and_then(|schema| report::crosses_line(schema)) {
            let _ = writeln!(text, "{line}");
        }
    }
    let is_new = |note: &&String| data.label.is_none() || why_guessed(note).is_none();
    for note in trained.notes.iter().filter(is_new) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Why this note says that a column is the label.
fn why_guessed(note: &str) -> Option<&str> {
    note.strip_prefix("the label is column `").and_then(|rest| rest.split_once("`, ")).map(|(_, why)| why)
}

/// How good it is, compared with what, and how sure that is.
fn measured(text: &mut String, trained: &Trained, training: &Evaluation) {
    text.push('\n');
    if let Some(estimate) = &trained.estimate {
        let what = if estimate.fold_errors.is_empty() { "held-out" } else { "cross-validated" };
        let _ = writeln!(text, "{what} error: {}", report::error_line(&estimate.evaluation));
    }
    let shown = held_out(trained).unwrap_or(training);
    let beside = report::beside_the_majority(&trained.model, shown);
    let learned = format!(
        "training error: {} ({} of {})\n",
        percent(training.error()),
        count(training.errors),
        describe_training_rows(&trained.model, training.rows)
    );
    match &trained.estimate {
        Some(estimate) => {
            text.push_str(&beside);
            let summary = trained.model.training_summary();
            let learned_from =
                format!("the model itself learned from {}", describe_rows_of_folds(&trained.model));
            if !estimate.fold_errors.is_empty() {
                let _ = writeln!(
                    text,
                    "spread of {} folds: +- {}; {learned_from}",
                    estimate.fold_errors.len(),
                    percent(estimate.deviation()),
                );
            } else if summary.estimate.is_some_and(|estimate| estimate.refitted) {
                let _ = writeln!(text, "{learned_from}");
            }
            if let Some(by_group) = &estimate.by_group {
                let _ = writeln!(text, "{}", group_line(by_group));
            }
            let _ = writeln!(text, "this assumes that {}", summary.assumes());
            text.push_str(&learned);
        }
        None => text.push_str(&(learned + &beside)),
    }
    let of = if trained.estimate.is_some() { "held-out rows" } else { "training rows" };
    let _ = writeln!(text, "\nconfusion matrix ({of}):\n{}", report::classes(shown));
    let _ = writeln!(text, "{}", report::probabilities(&trained.model, shown, trained.race.is_some()));
    if trained.model.calibration().is_some()
        && trained.model.spec().options().class_weights != ClassWeights::Even
    {
        text.push_str(
            "note: classes are named by their weights, probabilities count every row once, so that another class than the one named may be the more probable\n",
        );
    }
}

/// The report for programs.
pub(super) fn json(trained: &Trained, face: &Face) -> Value {
    let mut report = trained.report();
    if trained.progress.is_empty() {
        report["bounds"] = json!(face.bounds.as_ref().map(Bounds::json));
        let read = face.read_time.unwrap_or_default().as_secs_f64();
        report["seconds"] = json!({ "read": read, "train": face.train_time.as_secs_f64() });
    } else {
        report["seconds"] = json!(face.time().as_secs_f64());
    }
    report
}

/// A race in a few lines: those that went all the way by what they were compared by, over the same rows; how many left;
/// and why the winner won.
pub(super) fn race_text(race: &Race) -> String {
    let rows = counted(race.rows as u64, "row", "rows");
    let where_to = match race.folds {
        0 | 1 => format!("a part of {rows}"),
        folds => format!("{rows} in {folds} folds"),
    };
    let (measure, is_share) = race.measure();
    let mut text = format!(
        "race of {} on {where_to}, judged on rows not learned from{}:",
        counted(race.entrants.len() as u64, "candidate", "candidates"),
        if race.cut_short { ", cut short by the budget" } else { "" },
    );
    let name = |entrant: &Entrant| {
        let options = entrant.spec.options();
        let scheme = match options.multiclass {
            Classes::OneVsRest => String::new(),
            scheme => format!(" {scheme}"),
        };
        let map = options.map.as_ref().map_or_else(String::new, |map| format!(" after {}", map.name));
        let shape = match entrant.shape {
            Shape::Line => String::new(),
            shape => format!(" {shape}"),
        };
        format!("{}{scheme}{map}{shape}", entrant.spec.rule())
    };
    let mut finishers: Vec<&Entrant> =
        race.entrants.iter().filter(|entrant| entrant.compared.is_some()).collect();
    finishers.sort_by(|a, b| a.compared.unwrap_or_default().total_cmp(&b.compared.unwrap_or_default()));
    // With few rows, the race compared more than the error that is shown.
    let is_more = finishers.iter().any(|entrant| entrant.loss != entrant.compared);
    let mut table = vec![vec![String::new(), "epochs".to_owned(), measure.trim_end_matches(',').to_owned()]];
    table[0].extend(is_more.then(|| "loss".to_owned()));
    let left = race.entrants.iter().filter(|entrant| entrant.compared.is_none() && entrant.failure.is_none());
    for entrant in finishers.iter().copied().chain(left).take(SHOWN) {
        let known = race.metric.as_known(entrant.loss.unwrap_or_default());
        let value = if is_share { percent(known) } else { format!("{known:.4}") };
        let or_dash = |value: String| if entrant.compared.is_some() { value } else { "-".to_owned() };
        let mut row =
            vec![format!("  {}", name(entrant)), entrant.spec.options().epochs.to_string(), or_dash(value)];
        let compared = entrant.compared.map_or_else(String::new, |compared| format!("{compared:.4}"));
        row.extend(is_more.then(|| or_dash(compared)));
        table.push(row);
    }
    text.push('\n');
    text.push_str(ui::table(&table).trim_end());
    let n_more = race.entrants.len().saturating_sub(table.len() - 1);
    if n_more > 0 {
        let _ = write!(text, "\n  and {n_more} more");
    }
    let winner = race.entrants.first().map_or_else(String::new, name);
    let is_best = finishers
        .first()
        .is_some_and(|first| race.entrants.first().is_some_and(|winner| std::ptr::eq(*first, winner)));
    let why = match (is_best, is_more) {
        _ if race.shape() != Shape::Line => {
            "is clearly better than straight columns, by error and Brier score".to_owned()
        }
        (false, _) if race.spares_a_map() => {
            "is not clearly worse than the best, and needs no map".to_owned()
        }
        (false, _) => "is not clearly worse than the best, and has straight columns".to_owned(),
        (true, true) => "has the least loss, made of error and Brier score".to_owned(),
        (true, false) => format!("has the best {}", measure.trim_end_matches(',')),
    };
    let _ = write!(text, "\n{winner} {why}");
    text
}

/// How good it is on rows it never saw.
pub(super) fn held_out(trained: &Trained) -> Option<&Evaluation> {
    trained.estimate.as_ref().map(|estimate| &estimate.evaluation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt::algorithms::find;

    #[test]
    fn a_bound_has_the_formula_of_its_rule() {
        for (name, formula) in [
            ("perceptron", " (R/margin)^2"),
            ("pa1", " max(R^2, 1/C) / margin^2"),
            ("aggressive-romma", " (R/margin)^2"),
            ("arow", ""),
        ] {
            assert_eq!(bound_formula(find(name).unwrap().info.source), formula, "{name}");
        }
    }
}
