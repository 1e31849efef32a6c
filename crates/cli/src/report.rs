//! What is said of a model and of its errors, the same words in every command.

use crate::ui::{count, counted, percent, table};
use rosenblatt::core::Stopped;
use rosenblatt::kernel::maps::usual_kernel;
use rosenblatt::{Evaluation, Model, Sharpness, interval, strongest};
use std::fmt::Write as _;

/// How many strong features are shown per class.
pub(crate) const VOICES: usize = 8;
/// Up to how many features without names are worth naming by number.
const FEW_FEATURES: usize = 200;
/// Up to how many classes a confusion matrix is readable.
const MATRIX_CLASSES: usize = 12;
/// How many classes are listed; the rest is counted.
const LISTED_CLASSES: usize = 40;

/// How a model was trained, in a line or two.
pub(crate) fn story(model: &Model) -> String {
    let (spec, story) = (model.spec(), model.story());
    let totals = story.totals;
    let kernel = model.expansion().and_then(|expansion| expansion.kernel().formula());
    let kernel = kernel.map_or_else(String::new, |formula| format!(" with kernel {formula},"));
    let mut text = format!(
        "{}{kernel} read out {}: {} over {}, {}",
        spec.entry().info.name,
        spec.readout(),
        counted(totals.epochs, "pass", "passes"),
        counted(story.rows as u64, "row", "rows"),
        counted(totals.mistakes, "mistake", "mistakes"),
    );
    let ended = match story.stopped {
        Stopped::Clean if model.map().is_some() => {
            "converged: a hyperplane separates the training data behind the map, as a whole pass without a mistake shows"
        }
        Stopped::Clean if spec.kernel().is_some() => {
            "converged: the kernel separates the training data, as a whole pass without a mistake shows"
        }
        Stopped::Clean => {
            "converged: the training data is linearly separable, as a whole pass without a mistake shows"
        }
        Stopped::Observer => "stopped early: the error on rows held back no longer fell",
        Stopped::Updates => "stopped at the limit of updates",
        Stopped::Epochs => "stopped at the limit of passes",
    };
    if let Some(map) = map(model) {
        let _ = write!(text, "\n{map}");
    }
    let _ = write!(text, "\n{ended}");
    if let Some(held) = &story.validation {
        let _ = write!(text, "; the model of pass {} is kept", held.best_epoch);
    }
    text
}

/// Error with its interval: `1.23 % (13 of 1,115; between 0.7 % and 2.0 %)`.
pub(crate) fn error_line(evaluation: &Evaluation) -> String {
    let (low, high) = interval(evaluation.errors, evaluation.rows);
    format!(
        "{} ({} of {}; 95 % sure it is between {} and {})",
        percent(evaluation.error()),
        count(evaluation.errors),
        counted(evaluation.rows, "row", "rows"),
        percent(low),
        percent(high)
    )
}

/// The confusion matrix with precision, recall and F1; only the latter when classes are many.
pub(crate) fn classes(evaluation: &Evaluation) -> String {
    let names = evaluation.labels.names();
    let matrix = names.len() <= MATRIX_CLASSES;
    let short = |name: &String| -> String { name.chars().take(16).collect() };
    let mut head = vec!["true class".to_owned()];
    if matrix {
        // Many columns must be narrow to fit a terminal.
        let prefix = if names.len() > 6 { "" } else { "as " };
        head.extend(names.iter().map(|name| format!("{prefix}{}", short(name))));
    }
    head.extend(["precision", "recall", "F1", "AUC"].map(str::to_owned));
    let mut rows = vec![head];
    for (class, name) in names.iter().enumerate().take(LISTED_CLASSES) {
        let mut row = vec![short(name)];
        if matrix {
            row.extend(evaluation.confusion[class].iter().map(|&number| count(number)));
        }
        row.extend(
            [evaluation.precision(class), evaluation.recall(class), evaluation.f1(class)]
                .map(|x| format!("{x:.3}")),
        );
        row.push(evaluation.auc[class].map_or_else(String::new, |auc| format!("{auc:.3}")));
        rows.push(row);
    }
    let mut text = table(&rows);
    if names.len() > LISTED_CLASSES {
        let _ = writeln!(text, "and {} more classes", count((names.len() - LISTED_CLASSES) as u64));
    }
    text
}

/// Whether the model can tell probabilities, and how good they are.
pub(crate) fn probabilities(model: &Model, judged: &Evaluation) -> String {
    let Some(calibration) = model.calibration() else {
        return "probabilities: none; hold rows out, and `--calibrate` fits them".to_owned();
    };
    let fitted = counted(calibration.rows(), "held-out row", "held-out rows");
    let mut text = format!("probabilities: {}, fitted on {fitted}", calibration.method());
    if let Some(sharpness) = judged.sharpness {
        let _ = write!(text, "; {}", self::sharpness(sharpness));
    }
    text
}

/// How good probabilities are.
pub(crate) fn sharpness(Sharpness { brier, log_loss }: Sharpness) -> String {
    format!("Brier score {brier:.4}, log loss {log_loss:.4}")
}

/// The feature map of a model, if it has one.
fn map(model: &Model) -> Option<String> {
    let (map, mapping) = model.map().zip(model.spec().options().map.as_ref())?;
    let kernel = mapping.kernel.as_deref().unwrap_or_else(|| usual_kernel(&mapping.name));
    let numbers =
        [("degree", mapping.degree.map(f64::from)), ("gamma", map.gamma()), ("offset", mapping.offset)];
    let given = numbers.iter().filter_map(|(name, value)| Some(format!(", {name} {}", (*value)?)));
    let given: String = given.collect();
    let size = counted(map.size() as u64, "feature", "features");
    Some(format!("behind the map {} to {size}, standing in for the kernel {kernel}{given}", mapping.name))
}

/// The features that speak most strongly for each class. Numbers without names say something only while
/// they are few: of a picture's pixels nobody knows the numbers.
pub(crate) fn voices(model: &Model) -> String {
    if model.feature_names().is_none() && model.width() > FEW_FEATURES {
        return String::new();
    }
    let mut text = String::new();
    for (class, name) in model.labels().names().iter().enumerate().take(MATRIX_CLASSES) {
        let voices = strongest(model, class as u32, VOICES);
        if !voices.is_empty() {
            let voices: Vec<String> =
                voices.iter().map(|voice| format!("{} {}", voice.name, short_number(voice.weight))).collect();
            let _ = writeln!(text, "speaks for {name}: {}", voices.join(", "));
        }
    }
    text
}

/// Three significant digits, no trailing zeros.
pub(crate) fn short_number(number: f64) -> String {
    let digits = (2 - number.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_keep_three_digits() {
        assert_eq!(short_number(12.34), "12.3");
        assert_eq!(short_number(0.012_345), "0.0123");
        assert_eq!(short_number(2.0), "2");
        assert_eq!(short_number(1234.5), "1234");
    }
}
