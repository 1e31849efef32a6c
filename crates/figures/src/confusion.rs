//! The confusion matrix: which classes are taken for which.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::words::{count, counted, percent};
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt::evaluate::ConfusionMatrix;
use rosenblatt_plot::{Canvas, Confusion, Picture};

/// The table of more classes than this is no longer read at a glance.
const FEW_CLASSES: usize = 12;
/// How many pairs of classes are named then.
const MOST_TOLD: usize = 3;

pub(crate) const FIGURE: Figure = Figure {
    name: "confusion",
    about: "the confusion matrix: which classes are taken for which",
    needs: Needs::HeldOut,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[HOLDOUT],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let evaluation = subject.evaluation(model)?;
    let (low, high) = evaluation.interval();
    let mut notes = vec![format!(
        "{}: {} in {}: {} ({} to {} with 95 % confidence).",
        subject.learner(),
        counted(evaluation.errors, "mistake", "mistakes"),
        subject.judged,
        percent(evaluation.error()),
        percent(low),
        percent(high)
    )];
    let names = evaluation.labels.names();
    let most = most_confused(&evaluation.confusion);
    if names.len() > FEW_CLASSES && !most.is_empty() {
        let told = most.into_iter().map(|(truth, given, n_rows)| {
            let (n_rows, of_class) = (count(n_rows), count(evaluation.confusion.of(truth)));
            format!("{} taken for {} ({n_rows} of {of_class})", names[truth], names[given])
        });
        notes.push(format!("Most often: {}.", told.collect::<Vec<_>>().join(", ")));
    }
    let title = settings.title(|| format!("Confusion matrix, {}", subject.source));
    let counts: Vec<Vec<u64>> = evaluation.confusion.rows().collect();
    let table = Confusion { title, notes, classes: names, counts: &counts, written: count };
    Ok(table.draw(canvas)?)
}

/// The pairs of a true class and a given one that are met most often.
fn most_confused(confusion: &ConfusionMatrix) -> Vec<(usize, usize, u64)> {
    let mut wrong: Vec<_> = confusion.pairs().filter(|(truth, given, _)| truth != given).collect();
    wrong.sort_by_key(|&(truth, given, count)| (std::cmp::Reverse(count), truth, given));
    wrong.truncate(MOST_TOLD);
    wrong
}
