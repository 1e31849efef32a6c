//! What `rosenblatt certify` says: a verdict in words that a student likes to read, the same for programs.

use super::certify::Timed;
use crate::report::short_number;
use crate::ui::{self, count, counted};
use rosenblatt::Dataset;
use rosenblatt::certify::{BigInt, Certificate, Claim, Findings, MOST_PAIRS, Rows, Verdict};
use rosenblatt::monotone::Course;
use rosenblatt::separation::{Sides, Study};
use serde_json::Value;
use std::fmt::Write as _;
use std::time::Duration;

/// How many rows of a list are shown.
const SHOWN_ROWS: usize = 12;
/// How many features of a row are shown.
const SHOWN_FEATURES: usize = 6;
/// From how many digits on a weight is printed as its length.
const SHOWN_DIGITS: usize = 20;

/// What was read.
pub(super) fn heading(source: &str, data: &Dataset, time: Duration) -> String {
    format!(
        "{source}: {}, {}, {} in {}\n",
        counted(data.len() as u64, "row", "rows"),
        counted(data.width() as u64, "feature", "features"),
        counted(data.labels().len() as u64, "class", "classes"),
        ui::duration(time)
    )
}

/// Where the hyperplane lies.
fn space(study: &Study) -> String {
    let place = if study.bias { "hyperplane" } else { "hyperplane through the origin" };
    match study.kernel {
        None => place.to_owned(),
        Some(kernel) => format!("{place} in the space of ({} + x.y)^{}", kernel.offset, kernel.degree),
    }
}

/// One question with everything that was found out.
pub(super) fn text(timed: &Timed, data: &Dataset) -> String {
    let study = &timed.study;
    let Study { sides, rows, findings, .. } = study;
    let n_positive = (0..rows.len()).filter(|&idx| rows.is_positive(idx)).count();
    let mut text = format!(
        "{}: {} against {}\n\n",
        sides.name(),
        counted(n_positive as u64, "row", "rows"),
        count((rows.len() - n_positive) as u64),
    );
    match &findings.answer.verdict {
        Verdict::Separable(_) => separable(study, &mut text),
        Verdict::Inseparable(weights) => {
            inseparable(study, weights, data, &mut text);
        }
        Verdict::Undecided => undecided(study, &mut text),
    }
    let _ = writeln!(text, "\nfound and checked in {}", ui::duration(timed.time));
    text
}

fn separable(study: &Study, text: &mut String) {
    let Findings { answer, radius, difficulty, perceptron, .. } = &study.findings;
    let _ = writeln!(text, "SEPARABLE: a {} has every row strictly on its side.", space(study));
    let _ = writeln!(text, "Every row was verified in exact arithmetic.");
    if !study.rows.has_both_sides() {
        let _ = writeln!(text, "All rows are on one side, so there is nothing to separate.");
    } else if answer.at_most.is_finite() {
        let _ = writeln!(
            text,
            "\nmargin: at least {}, at most {} (they differ by {} of it)",
            digits(answer.at_least),
            digits(answer.at_most),
            tiny(answer.gap())
        );
        let rows: Vec<usize> = answer.nearest.iter().map(|(idx, _)| *idx).collect();
        let _ = writeln!(text, "supported by {}", row_list(&study.rows, &rows));
        // With a bias the bound is about other numbers, which stand beside it below.
        if !study.bias || difficulty.is_none() {
            let _ = writeln!(
                text,
                "R = {}, difficulty R/margin = {}",
                digits(*radius),
                large(radius / answer.at_least)
            );
        }
    }
    if let Some(difficulty) = difficulty {
        let constant = if study.bias {
            format!(
                "with the bias as a feature that is always 1, R = {} and the margin is {}:\n",
                digits(difficulty.radius),
                digits(difficulty.margin.0)
            )
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "\n{constant}the perceptron makes at most (R/margin)^2 = {} mistakes",
            large(difficulty.most_mistakes.floor())
        );
    }
    if let Some(run) = perceptron {
        let epochs = counted(run.epochs, "epoch", "epochs");
        let ended = if run.converged { "and stopped" } else { "and was not done" };
        let _ = writeln!(
            text,
            "rows in their order, it made {} in {epochs} {ended}",
            counted(run.mistakes, "mistake", "mistakes")
        );
    }
}

fn inseparable(study: &Study, weights: &[(usize, BigInt)], data: &Dataset, text: &mut String) {
    let Study { rows, findings, .. } = study;
    let _ = writeln!(text, "NOT SEPARABLE: no {} has every row on its side.", space(study));
    let (whose, these) = if weights.len() == 1 {
        ("This example contradicts itself", "it is")
    } else {
        ("These examples contradict each other", "they add up to")
    };
    let _ = writeln!(text, "{whose}: signed by class and weighted, {these} exactly zero.\n");
    let mut table = vec![["row", "class", "share", "weight", "values"].map(str::to_owned).to_vec()];
    let total: BigInt = weights.iter().map(|(_, weight)| weight).sum();
    for (idx, weight) in weights.iter().take(SHOWN_ROWS) {
        let share = u32::try_from(weight * 10_000_u32 / &total).unwrap_or(0);
        let weight = weight.to_string();
        let weight = if weight.len() <= SHOWN_DIGITS {
            weight
        } else {
            format!("{}... ({} digits)", &weight[..6], weight.len())
        };
        let number = (rows.number(*idx) + 1).to_string();
        let class = class_of(rows, *idx, data).to_owned();
        let share = ui::percent(f64::from(share) / 10_000.0);
        table.push(vec![number, class, share, weight, values(rows, *idx, data)]);
    }
    text.push_str(&left_table(&table));
    if weights.len() > SHOWN_ROWS {
        let _ = writeln!(text, "and {} rows more", count((weights.len() - SHOWN_ROWS) as u64));
    }
    if let Some(cycle) = &findings.cycle {
        let _ = writeln!(
            text,
            "\nthe perceptron goes round in a cycle of {}, from update {} on: its weights come back",
            counted(cycle.steps, "update", "updates"),
            count(cycle.from),
        );
        let stepped: Vec<usize> = cycle.rows.iter().map(|&(idx, _)| idx).collect();
        let _ = writeln!(text, "in the cycle it updates on {}", row_list(rows, &stepped));
    }
    near_misses(study, text);
}

fn undecided(study: &Study, text: &mut String) {
    let answer = &study.findings.answer;
    let _ = writeln!(text, "UNDECIDED: neither a {} nor a contradiction was proved.", space(study));
    let _ = if answer.stopped {
        writeln!(text, "Time was up; more `--time` may help.")
    } else {
        writeln!(text, "All digits were tried, so that more `--time` will not help.")
    };
    if answer.at_most.is_finite() {
        let _ = writeln!(text, "\nmargin: at least 0, at most {}", digits(answer.at_most));
        let _ = writeln!(text, "R = {}", short_number(study.findings.radius));
    }
    near_misses(study, text);
}

/// What stands in the way of a hyperplane.
fn near_misses(study: &Study, text: &mut String) {
    let Study { rows, findings, .. } = study;
    if !findings.opposites.is_empty() {
        let _ = writeln!(
            text,
            "\n{} at once, the usual cause:",
            match findings.opposites.len() {
                1 => "1 contradiction can be seen".to_owned(),
                MOST_PAIRS.. => format!("{} contradictions or more can be seen", count(MOST_PAIRS as u64)),
                many => format!("{} contradictions can be seen", count(many as u64)),
            }
        );
        for pair in findings.opposites.iter().take(SHOWN_ROWS) {
            let _ = match pair.as_slice() {
                [one] => writeln!(text, "  row {} is all zeros", rows.number(*one) + 1),
                [one, two] if rows.is_positive(*one) == rows.is_positive(*two) => {
                    writeln!(
                        text,
                        "  rows {} and {} are opposite",
                        rows.number(*one) + 1,
                        rows.number(*two) + 1
                    )
                }
                pair => {
                    let numbers: Vec<String> =
                        pair.iter().map(|&idx| (rows.number(idx) + 1).to_string()).collect();
                    writeln!(text, "  rows {} are equal, but of different classes", numbers.join(" and "))
                }
            };
        }
    }
    if let Some(wrong) = &findings.in_the_way {
        let _ = writeln!(
            text,
            "\nwithout {} the rest is separable: {}",
            counted(wrong.len() as u64, "row", "rows"),
            row_list(rows, wrong)
        );
        if wrong.len() > 1 {
            text.push_str(
                "(the fewest mistakes that perceptrons found; finding the fewest possible is NP-hard, so there may be fewer)\n",
            );
        }
    }
}

/// Several questions in one table.
pub(super) fn table(studies: &[Timed]) -> String {
    let head = ["question", "verdict", "margin at least", "at most", "proof", "time"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for Timed { study, time } in studies {
        let answer = &study.findings.answer;
        let (verdict, proof) = match &answer.verdict {
            Verdict::Separable(_) => {
                ("separable", counted(answer.nearest.len() as u64, "supporting row", "supporting rows"))
            }
            Verdict::Inseparable(weights) => {
                ("not separable", counted(weights.len() as u64, "contradicting row", "contradicting rows"))
            }
            Verdict::Undecided => ("undecided", String::new()),
        };
        let has_margin = verdict == "separable" && answer.at_most.is_finite();
        let shown = |bound: f64| if has_margin { digits(bound) } else { String::new() };
        rows.push(vec![
            study.sides.name(),
            verdict.to_owned(),
            shown(answer.at_least),
            shown(answer.at_most),
            proof,
            ui::duration(*time),
        ]);
    }
    format!("\n{}\nall details of one of them: --positive CLASS\n", ui::table(&rows))
}

/// A certificate that was accepted.
pub(super) fn accepted(certificate: &Certificate, sides: &Sides, time: Duration) -> String {
    let said = match &certificate.claim {
        Claim::Separable { margin, .. } => {
            let margin = margin.as_ref().map_or_else(String::new, |margin| {
                format!(
                    ", the largest margin lies between {} and {}",
                    digits(margin.at_least),
                    digits(margin.at_most)
                )
            });
            format!("separable{margin}")
        }
        Claim::Inseparable { contradiction } => format!(
            "not separable, {} contradict each other",
            counted(contradiction.len() as u64, "row", "rows")
        ),
    };
    format!(
        "VALID: {} is {said}\n{} checked in exact arithmetic in {}\n",
        sides.name(),
        counted(certificate.data.rows as u64, "row", "rows"),
        ui::duration(time)
    )
}

/// The mistakes of a model.
pub(super) fn misclassified(rows: &Rows, wrong: &[usize]) -> String {
    let mut text = format!(
        "the model has exactly {} of {} not strictly on their side, whatever rounding does\n",
        count(wrong.len() as u64),
        counted(rows.len() as u64, "row", "rows")
    );
    if !wrong.is_empty() {
        let _ = writeln!(text, "{}", row_list(rows, wrong));
    }
    text
}

/// The name of a row's class.
fn class_of<'d>(rows: &Rows, idx: usize, data: &'d Dataset) -> &'d str {
    data.find(rows.number(idx)).map_or("", |idx| data.labels().name(data.classes()[idx]))
}

/// `rows 3, 7 and 12 more`, by their numbers in the file.
fn row_list(rows: &Rows, some: &[usize]) -> String {
    let shown = some.iter().take(SHOWN_ROWS).map(|&idx| (rows.number(idx) + 1).to_string());
    let mut text =
        format!("{} {}", if some.len() == 1 { "row" } else { "rows" }, shown.collect::<Vec<_>>().join(", "));
    if some.len() > SHOWN_ROWS {
        let _ = write!(text, " and {} more", count((some.len() - SHOWN_ROWS) as u64));
    }
    text
}

/// The features of a row that are not zero.
fn values(rows: &Rows, idx: usize, data: &Dataset) -> String {
    let name = |feature: usize| {
        let named = data.feature_names().and_then(|names| names.get(feature)).cloned();
        named.unwrap_or_else(|| format!("{}", feature + 1))
    };
    let shown = rows.entries(idx).take(SHOWN_FEATURES).map(|(j, value)| format!("{}={value}", name(j)));
    let mut text = shown.collect::<Vec<_>>().join(" ");
    if rows.entries(idx).len() > SHOWN_FEATURES {
        text.push_str(" ...");
    }
    if text.is_empty() { "all zeros".to_owned() } else { text }
}

/// As [`ui::table`], with the last column to the left, too.
fn left_table(rows: &[Vec<String>]) -> String {
    let cut: Vec<Vec<String>> = rows.iter().map(|row| row[..row.len() - 1].to_vec()).collect();
    let lines = ui::table(&cut);
    let last = rows.iter().filter_map(|row| row.last());
    lines.lines().zip(last).fold(String::new(), |text, (line, last)| format!("{text}{line}  {last}\n"))
}

/// Nine significant digits.
fn digits(number: f64) -> String {
    let size = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    if (-4..9).contains(&size) {
        format!("{number:.*}", (8 - size).max(0) as usize)
    } else {
        format!("{number:.8e}")
    }
}

/// A whole number, or a power of ten where that is what matters.
fn large(number: f64) -> String {
    if number < 100.0 {
        short_number(number)
    } else if number < 1e15 {
        count(number as u64)
    } else {
        format!("{number:.2e}")
    }
}

/// A small share, in powers of ten.
fn tiny(share: f64) -> String {
    if share <= 0.0 { "nothing".to_owned() } else { format!("{share:.0e}") }
}

/// One question for programs.
pub(super) fn json(timed: &Timed, data: &Dataset) -> Value {
    let mut json = timed.study.summary(data);
    json["seconds"] = timed.time.as_secs_f64().into();
    json
}

/// How what a column adds to a score moves with it.
pub(super) fn course(course: &Course) -> String {
    let Course { column, output, rises, falls, .. } = course;
    let how = match (rises, falls) {
        (None, None) => "adds the same whatever its value".to_owned(),
        (Some(_), None) => "never falls".to_owned(),
        (None, Some(_)) => "never rises".to_owned(),
        (Some(up), Some(down)) => format!("rises {} and falls {}", place(*up), place(*down)),
    };
    format!("{column}, for {output}: {how}\n")
}

/// That it does not move as it should.
pub(super) fn broken(course: &Course, rising: bool, at: [f64; 2]) -> String {
    let Course { column, output, .. } = course;
    let (never, does) = if rising { ("fall", "falls") } else { ("rise", "rises") };
    format!("what `{column}` adds for {output} should never {never}, but it {does} {}", place(at))
}

/// Where it does.
fn place([low, high]: [f64; 2]) -> String {
    match (low.is_finite(), low == high) {
        (false, _) => "everywhere".to_owned(),
        (true, true) => format!("at {low}, which has a weight of its own"),
        (true, false) => format!("between {low} and {high}"),
    }
}
