//! SQL: a query that adds scores, probabilities and the class, or the predicted number, to every row of a table.
//!
//! Plain enough for `SQLite`, `DuckDB` and most others: `CASE`, arithmetic in doubles and, for probabilities, `exp`. Numbers are
//! written with an exponent, or some engines take them for decimals. Columns are named with their table: what `SQLite` does
//! not find under a name alone in double quotes, it takes for text. Steps are materialized, as `SQLite` would put each into
//! the next, and what a step mentions twice would be computed twice, step by step. A cell is a number if it is no larger
//! than the largest: `SQLite` has every text that is none above all numbers, and would compute with it as zero.

use super::additive::{Additive, Bent, Cross, Height, Kind, Naming, Part};
use super::exact;
use crate::calibration::Curve;
use rosenblatt_data::MISSING_CELLS;
use std::fmt::Write as _;

/// The table that the query reads, until you name yours.
const TABLE: &str = "your_table";
/// How many terms of a sum are put into brackets: engines limit how deep an expression is.
const TOGETHER: usize = 50;

/// Zero, as it is written.
const NOTHING: &str = "0e0";

/// The text of the query.
pub(super) fn bytes(model: &Additive<'_>) -> Vec<u8> {
    let Additive { biases, parts, crosses, reading, .. } = model;
    let (classes, outputs) = (reading.classes, reading.outputs());
    let taken = parts
        .iter()
        .map(|part| part.name.to_lowercase())
        .chain(model.others.iter().map(|name| name.to_lowercase()))
        .collect();
    let mut query = Query { taken, stages: Vec::new() };

    let scores = query.stage(if reading.is_number() { "prediction" } else { "score" }, &outputs, |output| {
        let of_crosses = crosses.iter().map(|cross| together(cross, parts, output));
        let terms: Vec<String> = parts.iter().map(|part| term(part, output)).chain(of_crosses).collect();
        let groups = terms.chunks(TOGETHER).map(|terms| format!("({})", terms.join("\n      + ")));
        std::iter::once(exact(biases[output])).chain(groups).collect::<Vec<_>>().join("\n    + ")
    });
    if reading.is_number() {
        return query.text(model).into_bytes();
    }
    // Of every class what it has for it: its score; of pairs the duels that it wins and less than one for their scores,
    // or, where probabilities decide, its lowest score against another.
    let (mut standings, mut votes) = (scores.clone(), None);
    let is_by_votes = matches!(reading.naming, Naming::Scores);
    if !reading.pairs.is_empty() && is_by_votes {
        let duels = |class: usize, of: fn(&String) -> String| {
            let sides = reading.pairs.iter().zip(&scores).filter_map(|(&(a, b), score)| match class {
                _ if class == a => Some(format!(" + {}", of(score))),
                _ if class == b => Some(format!(" - {}", of(score))),
                _ => None,
            });
            format!("0e0{}", sides.collect::<String>())
        };
        let sums = query.stage("sum", classes, |class| duels(class, String::clone));
        votes = Some(query.stage("vote", classes, |class| {
            format!("{} + {sum} / (3e0 * (abs({sum}) + 1e0))", duels(class, sign), sum = sums[class])
        }));
    }
    if !reading.pairs.is_empty() && !reading.curves.is_empty() {
        standings = query.stage("lowest", classes, |class| {
            let of_class = reading.pairs.iter().zip(&scores).filter(|((a, b), _)| class == *a || class == *b);
            let (own, opposite): (Vec<String>, Vec<String>) = of_class
                .map(|(&(a, _), score)| (score.clone(), format!("(0e0 - {score})"), class == a))
                .map(|(score, turned, is_first)| if is_first { (score, turned) } else { (turned, score) })
                .unzip();
            most(&opposite, 0..own.len(), &own)
        });
    }
    // Of two classes the second has the score, and the first nothing.
    let by_score = match votes {
        Some(votes) => votes,
        None if classes.len() == 2 => vec!["0e0".to_owned(), standings[0].clone()],
        None => standings.clone(),
    };

    let mut ranks = by_score.clone();
    let mut probabilities = Vec::new();
    match reading.curves {
        [] => {}
        [curve] => {
            probabilities = query.stage("probability", &outputs, |_| share(curve, &standings[0]));
            ranks[1] = match curve {
                Curve::Isotonic { .. } => format!("{} - 5e-1", probabilities[0]),
                _ => rank(curve, &standings[0], ""),
            };
        }
        curves => {
            let highest = match curves[0] {
                // The largest is taken away first, so that nothing overflows.
                Curve::Softmax => {
                    query.stage("highest", &outputs[..1], |_| most(&standings, 0..classes.len(), &standings))
                }
                _ => vec![String::new()],
            };
            let shares = query.stage("share", classes, |class| match &curves[class] {
                Curve::Softmax => format!("exp({} - {})", standings[class], highest[0]),
                curve => share(curve, &standings[class]),
            });
            ranks = (0..classes.len())
                .map(|class| rank(&curves[class], &standings[class], &shares[class]))
                .collect();
            let (sum, even) = (shares.join(" + "), exact(1.0 / classes.len() as f64));
            probabilities = query.stage("probability", classes, |class| {
                format!(
                    "CASE WHEN {sum} > 0e0 THEN {} / ({sum}) WHEN {sum} <= 0e0 THEN {even} END",
                    shares[class]
                )
            });
        }
    }
    match &reading.naming {
        Naming::Scores => ranks.clone_from(&by_score),
        Naming::Probabilities | Naming::Number => {}
        Naming::Costs(costs) => {
            if let [second] = &probabilities[..] {
                probabilities = vec![format!("(1e0 - {second})"), second.clone()];
            }
            let cost = |class: usize| {
                let of_truth =
                    probabilities.iter().zip(costs.rows().iter().skip(class).step_by(classes.len()));
                let terms: Vec<String> =
                    of_truth.map(|(share, cost)| format!("{share} * {}", exact(-cost))).collect();
                terms.join(" + ")
            };
            ranks = query.stage("gain", classes, cost);
        }
    }

    let names: Vec<String> = classes.iter().map(|class| text(class)).collect();
    let numbers: Vec<String> = (0..classes.len()).map(|class| class.to_string()).collect();
    let in_order = |values: &[String]| {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        if reading.takes_last {
            order.reverse();
        }
        most(&by_score, order.into_iter(), values)
    };
    if ranks == by_score {
        query.stage("predicted_class", &outputs[..1], |_| in_order(&names));
    } else {
        // Of equals it is the class that the scores name, else the first.
        let preferred = query.stage("by_score", &outputs[..1], |_| in_order(&numbers)).remove(0);
        query.stage("predicted_class", &outputs[..1], |_| {
            let tied = (0..classes.len()).map(|class| {
                format!(
                    "\n      WHEN {preferred} = {class} AND {} THEN {}",
                    is_most(&ranks, class),
                    names[class]
                )
            });
            format!(
                "CASE{}{}",
                tied.collect::<String>(),
                &most(&ranks, 0..classes.len(), &names)["CASE".len()..]
            )
        });
    }
    query.text(model).into_bytes()
}

/// A query of several steps, each of which adds columns to those before.
struct Query {
    /// Names of columns, in lower case as engines compare them.
    taken: Vec<String>,
    /// The columns that each step adds.
    stages: Vec<String>,
}

impl Query {
    /// Adds a column for each of these; says how later steps call them.
    fn stage(&mut self, what: &str, of: &[String], value: impl Fn(usize) -> String) -> Vec<String> {
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for (place, one) in of.iter().enumerate() {
            let mut name = if of.len() == 1 { what.to_owned() } else { format!("{what} {one}") };
            while self.taken.contains(&name.to_lowercase()) {
                name.push('_');
            }
            self.taken.push(name.to_lowercase());
            columns.push(format!(",\n    {} AS {}", value(place), quoted(&name)));
            names.push(format!("t.{}", quoted(&name)));
        }
        self.stages.push(columns.concat());
        names
    }

    fn text(&self, model: &Additive<'_>) -> String {
        let mut text = String::new();
        for line in model.about("NULL, or a cell that holds no number where one should be") {
            let _ = writeln!(text, "-- {line}");
        }
        let _ = writeln!(text, "-- Put the name of your table in the place of {TABLE}.");
        if self.stages.len() > 1 {
            let _ = writeln!(
                text,
                "-- Tried with SQLite and DuckDB. If your database has no MATERIALIZED, delete that word."
            );
        }
        let last = self.stages.len() - 1;
        for (number, columns) in self.stages.iter().enumerate() {
            let from = if number == 0 { TABLE.to_owned() } else { format!("step_{number}") };
            let select = format!("SELECT t.*{columns}\n  FROM {from} AS t");
            let _ = match number {
                0 if last == 0 => writeln!(text, "{select};"),
                0 => write!(text, "WITH step_1 AS MATERIALIZED (\n  {select}\n)"),
                _ if number == last => writeln!(text, "\n{select};"),
                _ => write!(text, ", step_{} AS MATERIALIZED (\n  {select}\n)", number + 1),
            };
        }
        text
    }
}

/// A name.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// What a column adds to an output.
fn term(part: &Part<'_>, output: usize) -> String {
    let name = format!("t.{}", quoted(&part.name));
    let missing = part.missing.as_ref().map_or_else(|| "NULL".to_owned(), |points| exact(points[output]));
    let value = match &part.kind {
        Kind::Line { slopes, .. } => format!("{} * {}", exact(slopes[output]), number(part)),
        Kind::Curve(bent) => height(&number(part), &bent.map(|points| points[output]), exact_height),
        Kind::Table { values, other } => {
            let own = values
                .iter()
                .map(|(value, points)| format!(" WHEN {} THEN {}", text(value), exact(points[output])));
            format!(
                "CASE TRIM(CAST({name} AS TEXT)){} ELSE {} END",
                own.collect::<String>(),
                exact(other[output])
            )
        }
    };
    match part.kind {
        Kind::Table { .. } => {
            let words: Vec<String> = MISSING_CELLS.into_iter().map(text).collect();
            let is_missing = format!("LOWER(TRIM(CAST({name} AS TEXT))) IN ({})", words.join(", "));
            format!("CASE WHEN {name} IS NULL OR {is_missing} THEN {missing} ELSE {value} END")
        }
        _ => format!("CASE WHEN {} THEN {value} ELSE {missing} END", is_number(part)),
    }
}

/// What two columns add together to an output.
fn together(cross: &Cross, parts: &[Part<'_>], output: usize) -> String {
    let [one, other] = cross.parts.map(|place| &parts[place]);
    let (x, y) = (number(one), number(other));
    let surface = cross.surface.map(|curve| curve.map(|points| points[output]));
    let along_y = |curve: &Bent<f64>| height(&y, curve, exact_height);
    let both = height(&x, &surface, along_y);
    let none = || "NULL".to_owned();
    let (without, has_other) = (surface.missing.as_ref(), other.missing.is_some());
    let of_missing = |curve: &Bent<f64>| curve.missing.unwrap_or_default();
    let without_one = without.map_or_else(none, along_y);
    let without_other = if has_other { height(&x, &surface.map(of_missing), exact_height) } else { none() };
    let without_both = without.filter(|_| has_other).map_or_else(none, |curve| exact(of_missing(curve)));
    let is_y = is_number(other);
    format!(
        "CASE WHEN {} THEN CASE WHEN {is_y} THEN {both} ELSE {without_other} END\n      \
         ELSE CASE WHEN {is_y} THEN {without_one} ELSE {without_both} END END",
        is_number(one)
    )
}

/// A cell as a number: tables that were imported as text are read as numbers, too.
fn number(part: &Part<'_>) -> String {
    format!("CAST(t.{} AS DOUBLE PRECISION)", quoted(&part.name))
}

/// Whether a cell is one. Without the sign a text is compared as a text.
fn is_number(part: &Part<'_>) -> String {
    let bound = |number: f64| format!("CAST({} AS DOUBLE PRECISION)", exact(number));
    format!("+t.{} BETWEEN {} AND {}", quoted(&part.name), bound(-f64::MAX), bound(f64::MAX))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "heights of other kinds are larger")]
fn exact_height(height: &f64) -> String {
    exact(*height)
}

/// The height of a curve at a number, by its heights as expressions.
fn height<H: Height>(at: &str, bent: &Bent<H>, written: impl Fn(&H) -> String) -> String {
    let line = between(at, &bent.knots, &written);
    let own = bent.values.iter().map(|(value, height)| (exact(*value), written(height)));
    let own: Vec<String> = own
        .filter(|(_, height)| *height != NOTHING)
        .map(|(value, height)| format!(" WHEN {value} THEN {height}"))
        .collect();
    if own.is_empty() { line } else { format!("({line} + CASE {at}{} ELSE {NOTHING} END)", own.concat()) }
}

/// Lines between points, level beyond them.
fn between<H: Height>(at: &str, points: &[(f64, H)], written: impl Fn(&H) -> String) -> String {
    let (Some((first, height)), Some((_, last))) = (points.first(), points.last()) else {
        return NOTHING.to_owned();
    };
    let pieces = points.windows(2).map(|pair| {
        let ((low, from), (high, to)) = (&pair[0], &pair[1]);
        let mut climb = to.clone();
        climb.add(from, -1.0);
        let share = format!("(({at} - {}) / {})", exact(*low), exact(high - low));
        format!(
            "\n        WHEN {at} < {} THEN {} + {} * {share}",
            exact(*high),
            written(from),
            written(&climb)
        )
    });
    format!(
        "CASE WHEN {at} <= {} THEN {}{} ELSE {} END",
        exact(*first),
        written(height),
        pieces.collect::<String>(),
        written(last)
    )
}

fn sign(score: &String) -> String {
    format!("CASE WHEN {score} > 0e0 THEN 1e0 WHEN {score} < 0e0 THEN -1e0 ELSE 0e0 END")
}

/// The probability at a score, by a curve that needs no other score.
fn share(curve: &Curve, score: &str) -> String {
    match curve {
        Curve::Isotonic { scores, shares } => {
            let points: Vec<(f64, f64)> = scores.iter().copied().zip(shares.iter().copied()).collect();
            between(score, &points, exact_height)
        }
        curve => format!("1e0 / (1e0 + exp(-({})))", rank(curve, score, "")),
    }
}

/// What grows with the probability of a class.
fn rank(curve: &Curve, score: &str, share: &str) -> String {
    match curve {
        Curve::Platt { slope, offset } => format!("{} * {score} + {}", exact(-slope), exact(-offset)),
        Curve::Isotonic { .. } => share.to_owned(),
        Curve::Softmax => score.to_owned(),
    }
}

/// Whether none is above this one.
fn is_most(list: &[String], place: usize) -> String {
    let others = list.iter().enumerate().filter(|(other, _)| *other != place);
    others.map(|(_, other)| format!("{} >= {other}", list[place])).collect::<Vec<_>>().join(" AND ")
}

/// The value of the first in this order that none is above; nothing if one is missing.
fn most(list: &[String], order: impl Iterator<Item = usize>, values: &[String]) -> String {
    let choice = |place: usize| format!("\n      WHEN {} THEN {}", is_most(list, place), values[place]);
    format!("CASE{} END", order.map(choice).collect::<String>())
}
