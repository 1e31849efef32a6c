//! `rosenblatt trace FILE`: a run as a textbook prints it, round by round.

use super::tagger;
use crate::args::{DataArgs, SpecArgs, Spoken, StartArgs, TaggerArgs, share};
use crate::failure::Failure;
use crate::ui;
use clap::Command;
use rosenblatt::back_propagation::{BackPropagation, back_propagation};
use rosenblatt::learning::{Readout, Stopped};
use rosenblatt::recipe::{LabelFound, with_positive};
use rosenblatt::split::split;
use rosenblatt::trace::{Ending, Told, Trace, Walk, latex, markdown, number, trace, vector};
use rosenblatt_data::write::csv_cell;
use rosenblatt_data::{Source, load_with_schema};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::sync::Arc;

/// The rounds that are shown by default.
pub(super) const USUAL: (u64, u64) = (1, 200);

#[derive(clap::Args)]
#[command(after_help = "Rows are visited in the given order, unscaled, unless options say otherwise. The
trace ends at a clean epoch, after the last epoch, or when the weights repeat.

Examples:
  rosenblatt trace points.csv
  rosenblatt trace points.csv --bias none --to latex
  rosenblatt trace points.csv --algorithm pa --rounds 5-10
  rosenblatt trace points.csv --start 1,0         from w = (1, 0) and b = 0; 1,0,-0.5 sets b, too
  rosenblatt trace points.csv --readout voted     ends in the hypotheses that vote, and their votes
  rosenblatt trace xor.csv --algorithm mlp --hidden 2 --rate 0.5
  rosenblatt trace points.csv --zero plus --mistake pred --to csv > rounds.csv
  rosenblatt trace news.conllu --rounds 2         sentences: the lattice, the best labels, the update")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) spoken: Spoken,
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Positive class [default: the second of two]. It has y = +1, all others y = -1
    #[arg(long, value_name = "CLASS")]
    positive: Option<String>,
    /// Leave this share of the rows out of the run. `--seed` draws them
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    holdout: f64,
    /// Show this many rounds, or a range: 6, or 5-10. A network shows 1
    #[arg(long, value_name = "N|A-B", value_parser = rounds, default_value = "200")]
    pub(super) rounds: (u64, u64),
    /// Format to write
    #[arg(long = "to", alias = "as", value_name = "FORM", value_parser = ["text", "markdown", "csv", "jsonl", "latex"], default_value = "text")]
    form: String,
    /// Print the result as JSON Lines. The same as `--to jsonl`
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) spec: SpecArgs,
    #[command(flatten)]
    start: StartArgs,
    #[command(flatten)]
    pub(super) tagger: TaggerArgs,
}

/// `6` or `5-10` as the first and the last round that are shown.
fn rounds(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or(("1", text));
    let parts = first.parse().ok().zip(last.parse().ok());
    parts.filter(|(first, last)| 0 < *first && first <= last).ok_or_else(|| {
        "it should be a number of rounds or a range of them, for instance 6 or 5-10".to_owned()
    })
}

/// Shared options as a textbook has them.
pub(super) fn suited(command: Command) -> Command {
    command
        .mut_arg("order", |arg| arg.help("Order in which rows are visited [default: given]"))
        .mut_arg("scale", |arg| arg.help("How features are scaled [default: none]"))
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.spec.one_rule()?;
    if tagger::is_meant(&args.files, args.data.format(), args.tagger.features()) {
        return tagger::trace(args);
    }
    args.spoken.only_of_tables()?;
    let read = args.data.as_textbook().options()?;
    let (mut data, schema) = load_with_schema(&Source::find_all(&args.files)?, &read)?;
    if let Some(label @ (LabelFound::ByName(_) | LabelFound::Guessed(_))) = LabelFound::new(&read, &schema) {
        ui::note(&format!("note: the label is column `{}`; choose with --label", label.column()));
    }
    if let Some(class) = &args.positive {
        data = with_positive(data, class)?;
    }
    args.spoken.refuse(|name| name == "patience", "needs a validation set, and a trace has none")?;
    let beginning = args.start.beginning()?;
    let spec = args.spec.as_textbook().spec_from(&beginning)?;
    if spec.readout() != Readout::Pocket {
        args.spoken.refuse(|name| name == "ratchet", "should be left out unless the readout is pocket")?;
    }
    if spec.entry().network {
        let why = "is for the one hyperplane of a perceptron, and a network has several; `--seed` draws its weights";
        args.spoken.refuse(|name| name == "start", why)?;
        // A single round takes much space.
        let (first, last) = if args.rounds == USUAL { (1, 1) } else { args.rounds };
        let spec = args.spec.as_plain_descent().spec()?;
        return networks(&back_propagation(&spec, &data, first..=last)?, data.len(), form(args));
    }
    let window = args.rounds.0..=args.rounds.1;
    let data = Arc::new(data);
    let traced = if args.holdout > 0.0 || beginning.start.is_some() {
        let learned = (args.holdout > 0.0).then(|| split(&*data, args.holdout, spec.options().seed).0);
        Walk::starting_at(beginning, spec.clone(), Arc::clone(&data), learned)?.trace(window)?
    } else {
        trace(&spec, &data, window)?
    };
    let clean = without_mistakes(&traced, args.rounds.0);
    let mut ending = clean.unwrap_or_else(|| traced.ending_in_words(spec.bias()));
    if matches!(traced.ending, Ending::Over(stopped) if !matches!(stopped, Stopped::Clean | Stopped::Converged | Stopped::Cycle | Stopped::Updates))
    {
        ending.push_str("; `--epochs` allows more");
    }
    let form = form(args);
    let shown = Told { data: &data, trace: &traced };
    let left_out = traced.totals.rounds.saturating_sub(args.rounds.1);
    match form {
        "csv" => ui::print(&shown.csv())?,
        "jsonl" => ui::print(&shown.json_lines(&ending))?,
        _ => {
            let (header, rows) = shown.table();
            let table = in_form(form, &header, &rows);
            // A paper takes the table, and what is beside it is a comment.
            let aside = if form == "latex" { "% " } else { "" };
            let more = match left_out {
                0 => String::new(),
                more => {
                    let more = ui::counted(more, "round", "rounds");
                    format!("{aside}… {more} more; `--rounds` shows them\n")
                }
            };
            let gap = format!("\n{aside}");
            let read_out = shown.read_out().map_or(String::new(), |(heading, (header, rows))| {
                let between = if form == "markdown" { "\n" } else { "" };
                format!("{gap}{heading}\n{between}{}", in_form(form, &header, &rows))
            });
            ui::print(&format!("{}{table}{more}{gap}{ending}\n{read_out}", shown.sides(form)))?;
            return Ok(());
        }
    }
    if form == "csv" {
        ui::note(&ending);
        if let Some((heading, (header, rows))) = shown.read_out() {
            ui::note(&format!("{heading}\n{}", in_form("text", &header, &rows)));
        }
    }
    Ok(())
}

/// Since when a run that did not end made no mistake, if all its rounds were seen: some rules make steps for the margin
/// all the same.
fn without_mistakes(traced: &Trace, first_round: u64) -> Option<String> {
    let last = traced.rounds.last()?;
    let are_all = first_round == 1 && last.round == traced.totals.rounds;
    let is_cut = matches!(traced.ending, Ending::Over(Stopped::Epochs));
    let has_steps = traced.rounds.iter().any(|round| round.epoch == last.epoch && round.step.is_some());
    let mistake = traced.rounds.iter().rfind(|round| round.mistaken)?;
    let is_clean = are_all && is_cut && has_steps && mistake.epoch < last.epoch;
    is_clean.then(|| {
        format!(
            "no mistake since epoch {}; steps for the margin went on to the end of epoch {}",
            mistake.epoch, last.epoch
        )
    })
}

/// The form that is wished.
pub(super) fn form(args: &Args) -> &str {
    if args.json { "jsonl" } else { args.form.as_str() }
}

/// Back-propagation, round by round: what every unit says and how the loss grows with its sum, then every weight.
fn networks(traced: &BackPropagation, n_rows: usize, form: &str) -> Result<(), Failure> {
    let BackPropagation { rounds, activation, loss, optimiser, features, outputs, wrong, .. } = traced;
    if form == "jsonl" {
        let lines: Vec<String> = rounds.iter().map(|round| json!(round).to_string()).collect();
        return ui::print(&format!("{}\n", lines.join("\n")));
    }
    let comment = if form == "latex" { "% " } else { "" };
    let mut text = String::new();
    if form == "csv" {
        text.push_str("round,row,unit,input,weight,slope,weight after\n");
    } else {
        let _ = writeln!(
            text,
            "{comment}hidden units: h = {activation}(z); loss: {loss}; steps by {optimiser}, one row at a time"
        );
    }
    let print = |header: &[&str], rows: &[Vec<String>]| in_form(form, header, rows);
    for round in rounds {
        let mut inputs = features.clone();
        let (mut units, mut weights) = (Vec::new(), Vec::new());
        for (depth, layer) in round.layers.iter().enumerate() {
            let is_last = depth + 1 == round.layers.len();
            let name = |unit: usize| match (is_last, outputs.as_slice()) {
                (true, [_]) => "f".to_owned(),
                (true, outputs) => format!("f({})", outputs[unit]),
                (false, _) if round.layers.len() > 2 => format!("h{},{}", depth + 1, unit + 1),
                (false, _) => format!("h{}", unit + 1),
            };
            let names: Vec<String> = (0..layer.sums.len()).map(name).collect();
            for (unit, name) in names.iter().enumerate() {
                let output = if is_last { "-".to_owned() } else { number(layer.said[unit]) };
                units.push(vec![name.clone(), number(layer.sums[unit]), output, number(layer.slopes[unit])]);
                let of_inputs = inputs.iter().enumerate().map(|(input, from)| {
                    let numbers = [
                        layer.weights[unit][input],
                        layer.weight_slopes[unit][input],
                        layer.weights_after[unit][input],
                    ];
                    (from.as_str(), numbers)
                });
                let bias = [layer.biases[unit], layer.slopes[unit], layer.biases_after[unit]];
                for (from, numbers) in of_inputs.chain([("1", bias)]) {
                    let mut cells = vec![name.clone(), from.to_owned()];
                    if form == "csv" {
                        let numbers = numbers.map(|number| number.to_string()).join(",");
                        let _ = writeln!(
                            text,
                            "{},{},{},{},{numbers}",
                            round.round,
                            round.row,
                            csv_cell(name),
                            csv_cell(from)
                        );
                    }
                    cells.extend(numbers.map(number));
                    weights.push(cells);
                }
            }
            inputs = names;
        }
        if form == "csv" {
            continue;
        }
        let _ = writeln!(
            text,
            "\n{comment}round {}: row {}, x = {}, class {}; loss {}\n",
            round.round,
            round.row,
            vector(&round.x),
            round.class,
            number(round.loss)
        );
        text.push_str(&print(&["unit", "sum z", "output h", "d loss / d z"], &units));
        text.push('\n');
        text.push_str(&print(&["into", "from", "weight w", "d loss / d w", "w after"], &weights));
    }
    if let Some(last) = rounds.last().filter(|_| form != "csv") {
        let after = last.round;
        let _ = writeln!(
            text,
            "\n{comment}after round {after} the network is wrong on {wrong} of {n_rows} rows; `--rounds {}-{}` shows the next epoch",
            after + 1,
            after + n_rows as u64
        );
    }
    ui::print(&text)
}

/// A table in the form that is wished.
pub(super) fn in_form(form: &str, header: &[&str], rows: &[Vec<String>]) -> String {
    match form {
        "markdown" => markdown(header, rows),
        "latex" => latex(header, rows),
        _ => aligned(header, rows),
    }
}

fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let header = header.iter().map(|&name| name.to_owned()).collect();
    let table: Vec<Vec<String>> = std::iter::once(header).chain(rows.iter().cloned()).collect();
    ui::table(&table)
}
