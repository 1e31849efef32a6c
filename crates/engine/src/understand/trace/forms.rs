//! Traces as text: the forms that a person, a table or a paper reads.

use super::{Ending, ReadOut, Trace, TracedRound, TracedStep};
use rosenblatt_data::Dataset;
use rosenblatt_data::write::csv_cell;
use serde_json::json;
use std::fmt::Write as _;

/// How many features of a row or weights are spelled out where a person reads.
const SPELLED_OUT: usize = 8;

/// Names of columns, and rows of cells.
pub type Table = (Vec<&'static str>, Vec<Vec<String>>);

/// A trace and the data it was made on.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// The trace.
    pub trace: &'a Trace,
}

impl Told<'_> {
    fn is_binary(&self) -> bool {
        self.trace.outputs.len() == 1
    }

    /// Which class is which side, where there are two.
    pub fn sides(&self, form: &str) -> String {
        let names = self.data.labels().names();
        if !self.is_binary() || names == ["-1", "+1"] || names == ["-1", "1"] {
            return String::new();
        }
        let comment = if form == "latex" { "% " } else { "" };
        format!("{comment}y = +1 is {}, y = -1 is {}\n\n", names[1], names[0])
    }

    /// Names of columns, and the rounds as they are read.
    pub fn table(&self) -> Table {
        let mut header = vec!["round", "epoch", "row", "x", "y"];
        if !self.is_binary() {
            header.push("asked");
        }
        header.extend(["w.x + b", "verdict", "step", "w", "b", "survived"]);
        let rows = self.trace.rounds.iter().map(|round| self.cells(round)).collect();
        (header, rows)
    }

    fn cells(&self, round: &TracedRound) -> Vec<String> {
        let mut cells = vec![
            round.round.to_string(),
            round.epoch.to_string(),
            (round.row + 1).to_string(),
            self.features(&round.features),
        ];
        if self.is_binary() {
            cells.push(if round.side > 0.0 { "+1" } else { "-1" }.to_owned());
        } else {
            cells.push(self.data.labels().name(round.class).to_owned());
            cells.push(self.trace.outputs[round.output].clone());
        }
        let verdict = match (round.mistaken, round.step) {
            (true, _) => "mistake",
            (false, Some(_)) => "right, but close",
            (false, None) => "right",
        };
        cells.extend([
            number(round.activation),
            verdict.to_owned(),
            round.step.map_or(String::new(), step_in_words),
            vector(&round.weights),
            number(round.bias),
            round.survived.to_string(),
        ]);
        cells
    }

    fn features(&self, features: &[(usize, f64)]) -> String {
        if self.data.width() <= SPELLED_OUT {
            let mut row = vec![0.0; self.data.width()];
            for &(feature, value) in features {
                row[feature] = value;
            }
            return vector(&row);
        }
        let mut cells: Vec<String> = features
            .iter()
            .take(SPELLED_OUT)
            .map(|&(feature, value)| format!("{}={}", self.trace.features[feature], number(value)))
            .collect();
        if features.len() > SPELLED_OUT {
            cells.push(format!("… {} in all", features.len()));
        }
        cells.join(" ")
    }

    /// Every number in full, a column for every feature and every weight.
    pub fn csv(&self) -> String {
        let names = &self.trace.features;
        let mut text = "round,epoch,row,class,asked,side,activation,mistake,amount,keep".to_owned();
        for prefix in ["x", "w"] {
            for name in names {
                let _ = write!(text, ",{}", csv_cell(&format!("{prefix}:{name}")));
            }
        }
        text.push_str(",b,survived\n");
        for round in &self.trace.rounds {
            let TracedStep { amount, keep } = round.step.unwrap_or(TracedStep { amount: 0.0, keep: 1.0 });
            let mut row = vec![0.0; self.data.width()];
            for &(feature, value) in &round.features {
                row[feature] = value;
            }
            let _ = write!(
                text,
                "{},{},{},{},{},{},{},{},{amount},{keep}",
                round.round,
                round.epoch,
                round.row + 1,
                csv_cell(self.data.labels().name(round.class)),
                csv_cell(&self.trace.outputs[round.output]),
                round.side,
                round.activation,
                round.mistaken,
            );
            for value in row.iter().chain(&round.weights) {
                let _ = write!(text, ",{value}");
            }
            let _ = writeln!(text, ",{},{}", round.bias, round.survived);
        }
        text
    }

    /// What the run is read out as, where that is not its last hypothesis: a heading, names of columns, and a row for
    /// every output of every hypothesis.
    pub fn read_out(&self) -> Option<(String, Table)> {
        let ReadOut { readout, hypotheses, n_hypotheses } = self.trace.read_out.as_ref()?;
        let votes = hypotheses.iter().any(|(_, survived)| survived.is_some());
        let mut header = Vec::new();
        if !self.is_binary() {
            header.push("asked");
        }
        header.extend(["w", "b"]);
        // The run itself goes on, and so does `train`.
        let until = match self.trace.ending {
            Ending::Repeats { again, .. } => format!(" after round {again}, where this trace ends"),
            Ending::Over(_) => String::new(),
        };
        let heading = match n_hypotheses.saturating_sub(hypotheses.len()) {
            _ if !votes => format!("read out as {readout}{until}:"),
            0 => format!("read out as {readout}{until}, each as often as it survived:"),
            more => {
                format!("read out as {readout}{until}, each as often as it survived, {more} more follow:")
            }
        };
        if votes {
            header.push("survived");
        }
        let mut rows = Vec::new();
        for (planes, survived) in hypotheses {
            for (output, bias) in planes.biases().iter().enumerate() {
                let mut cells = vec![vector(&planes.weights(output)), number(*bias)];
                if !self.is_binary() {
                    cells.insert(0, self.trace.outputs[output].clone());
                }
                cells.extend(survived.map(|survived| survived.to_string()));
                rows.push(cells);
            }
        }
        Some((heading, (header, rows)))
    }

    fn read_out_as_json(&self, read_out: &ReadOut) -> serde_json::Value {
        let outputs = &self.trace.outputs;
        let hypotheses = read_out.hypotheses.iter().map(|(planes, survived)| {
            let of_outputs =
                planes.biases().iter().enumerate().map(
                    |(output, b)| json!({"asked": outputs[output], "w": planes.weights(output), "b": b}),
                );
            json!({"survived": survived, "outputs": of_outputs.collect::<Vec<_>>()})
        });
        json!({
            "readout": read_out.readout.to_string(),
            "n_hypotheses": read_out.n_hypotheses,
            "hypotheses": hypotheses.collect::<Vec<_>>(),
        })
    }

    /// A record for every round, then one for the end.
    pub fn json_lines(&self, ending: &str) -> String {
        let mut text = String::new();
        for record in self.trace.records() {
            let _ = writeln!(text, "{}", json!(record));
        }
        let totals = self.trace.totals;
        let end = json!({
            "end": ending,
            "rounds": totals.rounds,
            "epochs": totals.epochs,
            "mistakes": totals.mistakes,
            "steps": totals.updates,
            "read_out": self.trace.read_out.as_ref().map(|read_out| self.read_out_as_json(read_out)),
        });
        let _ = writeln!(text, "{end}");
        text
    }
}

/// A step as it is written on a blackboard.
pub fn step_in_words(TracedStep { amount, keep }: TracedStep) -> String {
    let size = amount.abs();
    let along = if size == 1.0 { "x".to_owned() } else { format!("{} x", number(size)) };
    let sign = if amount < 0.0 { '-' } else { '+' };
    if keep == 1.0 { format!("w {sign}= {along}") } else { format!("w = {} w {sign} {along}", number(keep)) }
}

/// Numbers as a vector, the first few of many.
pub fn vector(values: &[f64]) -> String {
    let mut cells: Vec<String> = values.iter().take(SPELLED_OUT).map(|&value| number(value)).collect();
    if values.len() > SPELLED_OUT {
        cells.push("…".to_owned());
    }
    format!("({})", cells.join(", "))
}

/// A number with four decimals at most, and none that say nothing.
pub fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e9).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A table in Markdown.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// A table in LaTeX.
pub fn latex(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("\\begin{{tabular}}{{{}}}\n\\hline\n", "r".repeat(header.len()));
    let cells = |row: &mut dyn Iterator<Item = &str>| row.map(typeset).collect::<Vec<_>>().join(" & ");
    let _ = writeln!(text, "{} \\\\\n\\hline", cells(&mut header.iter().copied()));
    for row in rows {
        let _ = writeln!(text, "{} \\\\", cells(&mut row.iter().map(String::as_str)));
    }
    text.push_str("\\hline\n\\end{tabular}\n");
    text
}

/// A cell in LaTeX: numbers, vectors and steps as mathematics, all else as text.
fn typeset(cell: &str) -> String {
    let is_symbol = |word: &str| matches!(word, "" | "w" | "x" | "y" | "b");
    let mut words = cell.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_formula = cell.chars().any(|letter| letter.is_ascii_alphanumeric())
        && cell.chars().all(|letter| letter.is_ascii_alphanumeric() || " .,()+-=…".contains(letter))
        && words.all(|word| {
            let (digits, power) =
                word.split_once('e').filter(|(digits, _)| !digits.is_empty()).unwrap_or((word, ""));
            is_symbol(word)
                || [digits, power].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        });
    if !is_formula {
        return escaped(cell);
    }
    let steps = [
        (" += ", " \\gets w + "),
        (" -= ", " \\gets w - "),
        (" = ", " \\gets "),
        ("w.x", "w \\cdot x"),
        ("…", "\\dots"),
    ];
    let formula = steps.iter().fold(cell.to_owned(), |text, (plain, set)| text.replace(plain, set));
    format!("${}$", powers_of_ten(&formula))
}

/// `4.4e-16` as a product.
fn powers_of_ten(formula: &str) -> String {
    let mut text = String::new();
    let mut rest = formula;
    while let Some((number, after)) = rest.split_once('e') {
        let digits = after.strip_prefix('-').unwrap_or(after);
        let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
        if n_digits == 0 || !number.ends_with(|letter: char| letter.is_ascii_digit()) {
            // The `e` of a command.
            text.push_str(number);
            text.push('e');
            rest = after;
            continue;
        }
        let (power, after) = after.split_at(after.len() - digits.len() + n_digits);
        let _ = write!(text, "{number}\\times10^{{{power}}}");
        rest = after;
    }
    text + rest
}

/// Text that means itself in LaTeX.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => safe.push_str("\\textbackslash{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                safe.push('\\');
                safe.push(letter);
            }
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '…' => safe.push_str("\\dots{}"),
            '-' => safe.push_str("$-$"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_steps_are_short() {
        assert_eq!(
            [number(1.0), number(-0.25), number(1.0 / 3.0), number(-0.0)],
            ["1", "-0.25", "0.3333", "0"]
        );
        assert_eq!(number(1e-7), "1.000e-7");
        assert_eq!(step_in_words(TracedStep { amount: -1.0, keep: 1.0 }), "w -= x");
        assert_eq!(step_in_words(TracedStep { amount: 0.5, keep: 0.9 }), "w = 0.9 w + 0.5 x");
        assert_eq!(vector(&[0.0; 9]), "(0, 0, 0, 0, 0, 0, 0, 0, …)");
        assert_eq!(typeset("a_b & 100 %"), "a\\_b \\& 100 \\%");
        assert_eq!(typeset("w.x + b"), "$w \\cdot x + b$");
        assert_eq!(typeset("w -= 0.5 x"), "$w \\gets w - 0.5 x$");
        assert_eq!(typeset("w = 0.9 w + 0.5 x"), "$w \\gets 0.9 w + 0.5 x$");
        assert_eq!(typeset("(0, -1, …)"), "$(0, -1, \\dots)$");
        assert_eq!(typeset("(2.5, 4.441e-16)"), "$(2.5, 4.441\\times10^{-16})$");
        assert_eq!(typeset("w += 1.000e12 x"), "$w \\gets w + 1.000\\times10^{12} x$");
        assert_eq!([typeset("mistake"), typeset("x1"), typeset("")], ["mistake", "x1", ""]);
    }
}
