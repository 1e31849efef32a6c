//! `rosenblatt inspect MODEL`: what a model is: how it was trained, on what, and what it learned.

use super::tagger;
use crate::choices::export_help;
use crate::failure::Failure;
use crate::report;
use crate::ui::{self, count, counted};
use rosenblatt::data::files::{is_stdout, write_whole};
use rosenblatt::data::{ColumnKind, Picture, ReadOptions, Scaling, Schema, Source, load_source};
use rosenblatt::export::{Export, export_beside, left_to_user};
use rosenblatt::insight::feature_name;
use rosenblatt::kernel::Combination;
use rosenblatt::learning::memory::Kept;
use rosenblatt::summary::NetworkSummary;
use rosenblatt::{Model, Task, export};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many classes, columns or hyperplanes are listed before the rest is only counted.
const LISTED: usize = 12;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt inspect mail.model
  rosenblatt inspect mail.model --weights
  rosenblatt inspect mail.model --export onnx mail.onnx
  rosenblatt inspect mail.model --export json -
  rosenblatt inspect mail.model --export sql mail.sql
  rosenblatt inspect mail.model --export scorecard mail.md --rows test.csv")]
pub(crate) struct Args {
    /// The model to inspect
    pub(super) model: PathBuf,
    /// Print every weight as CSV. The feature comes first, then one column per hyperplane
    #[arg(long)]
    pub(super) weights: bool,
    #[arg(long, num_args = 2, value_names = ["FORMAT", "PATH"], help = export_help("Write"))]
    export: Option<Vec<OsString>>,
    /// Judge the scorecard by these rows. The file then states what rounding to points loses beside the exact scores
    #[arg(long, value_name = "FILE", requires = "export")]
    rows: Option<OsString>,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let wish = args.export.as_deref().map(export_wish).transpose()?;
    let model = Model::load(&args.model)?;
    if let Some((format, path)) = wish {
        let source =
            args.rows.as_ref().map(|file| Source::find_all(std::slice::from_ref(file))).transpose()?;
        if source.is_some() && format != Export::Scorecard {
            return Err(Failure::Usage(format!(
                "`--rows` goes with `--export scorecard`, not with {format}"
            )));
        }
        return export_to(&model, format, &path, source.as_ref());
    }
    if args.weights {
        return ui::print_either(&export(&model, Export::Csv)?);
    }
    let size = std::fs::metadata(&args.model).map_or(0, |file| file.len());
    if args.json {
        let mut summary = model.describe(report::TOP_FEATURES);
        summary["bytes"] = json!(size);
        return ui::print(&format!("{summary}\n"));
    }
    ui::print_report(&match model.tagger() {
        Some(tagger) => tagger::inspected(tagger),
        None => text(&model, size),
    })
}

/// What `--export FORMAT PATH` means.
pub(super) fn export_wish(words: &[OsString]) -> Result<(Export, PathBuf), Failure> {
    let [format, path] = words else {
        return Err(Failure::Usage("`--export` should be a format and a path".to_owned()));
    };
    let format = format
        .to_string_lossy()
        .parse()
        .map_err(|why| Failure::Usage(format!("the format of `--export`: {why}")))?;
    Ok((format, PathBuf::from(path)))
}

/// Writes `model` for other programs. A scorecard states what it loses on the rows of `source`.
pub(super) fn export_to(
    model: &Model,
    format: Export,
    path: &Path,
    source: Option<&Source>,
) -> Result<(), Failure> {
    let source = source.filter(|source| format == Export::Scorecard && source.can_rewind());
    let read = |source| load_source(source, &model.to_evaluate(ReadOptions::default()));
    let rows = source.map(read).transpose()?;
    let bytes = export_beside(model, format, rows.as_ref())?;
    if is_stdout(path) {
        return ui::print_either(&bytes);
    }
    write_whole(path, &bytes)?;
    ui::note(&format!("{format}: {} ({})", path.display(), ui::bytes(bytes.len() as u64)));
    for note in left_to_user(model, format) {
        ui::note(&format!("note: {format}: {note}"));
    }
    Ok(())
}

fn text(model: &Model, size: u64) -> String {
    let mut text = format!("{}\n", report::describe_training(model));
    let options = model.spec().options();
    let _ =
        writeln!(text, "seed {}, bias {}, order {}", options.seed, model.spec().bias(), model.spec().order());
    let params = options.params.iter().map(|(name, value)| format!("{name}={value}"));
    let params: Vec<String> = params.chain(options.rate.iter().map(|rate| format!("rate {rate}"))).collect();
    if !params.is_empty() {
        let _ = writeln!(text, "parameters: {}", params.join(", "));
    }
    if let Some(estimate) = report::describe_estimate(model) {
        let _ = writeln!(text, "{estimate}");
    }
    let names = model.labels().names();
    let what = if model.task() == Task::Numbers { "number to predict" } else { "classes" };
    let _ = write!(text, "\n{what}: {}", listed(names));
    if names.len() > 2 {
        let _ = write!(text, " (separated {})", options.multiclass);
    }
    let _ = writeln!(text, "\n{}", counted(model.width() as u64, "feature", "features"));
    if let Some(schema) = model.schema() {
        for line in data_lines(schema) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push('\n');
    match model.kept() {
        Kept::Hyperplanes(_) => {
            let planes = model.hyperplanes();
            let rows: Vec<Vec<String>> = std::iter::once(
                ["hyperplane for", "weights not zero", "norm", "bias"].map(str::to_owned).to_vec(),
            )
            .chain(planes.iter().take(LISTED).map(|plane| {
                vec![
                    plane.name.clone(),
                    count(plane.used as u64),
                    report::short_number(plane.norm),
                    report::short_number(plane.bias),
                ]
            }))
            .collect();
            text.push_str(&ui::table(&rows));
            if planes.len() > LISTED {
                let _ = writeln!(text, "and {} more", planes.len() - LISTED);
            }
        }
        Kept::Votes(votes) => {
            let survivors = counted(votes.n_moves() as u64 + 1, "survivor", "survivors");
            let rows = counted(votes.n_rows() as u64, "stored row", "stored rows");
            let _ = writeln!(text, "a vote of {survivors}, each a step along one of {rows}");
        }
        Kept::Other(_) => match model.summary(0).network {
            Some(network) => text.push_str(&layers(&network)),
            None => text.push_str(&support(model)),
        },
    }
    let _ = match model.calibration() {
        Some(calibration) => {
            let fitted = if model.training_summary().is_raced() {
                format!("the winner's held-out scores of {}", counted(calibration.rows(), "row", "rows"))
            } else {
                counted(calibration.rows(), "held-out row", "held-out rows")
            };
            writeln!(text, "probabilities: {} calibration, fitted on {fitted}", calibration.method())
        }
        None if model.task() == Task::Numbers => match model.reach(0.9) {
            Ok(reach) => {
                writeln!(text, "interval of 90 %: the prediction +- {}", report::short_number(reach))
            }
            Err(_) => writeln!(text, "intervals: none; no rows were held out"),
        },
        None => writeln!(text, "probabilities: none; the model was not calibrated"),
    };
    if let Some(fingerprint) = model.data_fingerprint() {
        let _ = writeln!(text, "trained on data with the fingerprint {fingerprint}");
    }
    if let Some(date) = model.date() {
        let _ = writeln!(text, "date: {date}");
    }
    let _ = writeln!(text, "size: {}\n", ui::bytes(size));
    text.push_str(&report::list_importance(model));
    text.push_str(&report::list_top_features(model));
    text
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(LISTED).cloned().collect();
    if names.len() > LISTED {
        shown.push(format!("and {} more", names.len() - LISTED));
    }
    shown.join(", ")
}

/// What the model expects of data.
fn data_lines(schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(label) = &schema.label {
        lines.push(format!("label: column `{label}`"));
    }
    let of_kind = |wanted: fn(&ColumnKind) -> bool| -> Vec<String> {
        let columns = schema.columns.iter().filter(|column| wanted(&column.kind));
        columns.map(|column| column.name.clone()).collect()
    };
    let numbers = of_kind(|kind| matches!(kind, ColumnKind::Number { .. }));
    let categories = of_kind(|kind| matches!(kind, ColumnKind::Category { .. }));
    for (what, names) in [("numbers", numbers), ("categories", categories)] {
        if schema.has_names && !names.is_empty() {
            lines.push(format!("{what}: {}", listed(&names)));
        }
    }
    for (column, text) in schema.texts().filter(|(_, text)| !text.vocabulary.is_empty()) {
        let of = column.map_or(String::new(), |column| format!(" of `{column}`"));
        lines.push(format!("words{of}: {} known", count(text.vocabulary.len() as u64)));
    }
    if let Some(bits) = schema.hash_bits {
        lines.push(format!("features are hashed into a table of 2^{bits}"));
    }
    if let Some(bends) = &schema.bends {
        lines.push(format!("shape: {}, knots kept with the model", bends.shape));
        lines.extend(report::crosses_line(schema));
    }
    let scaling = schema.scaler.as_ref().map_or(Scaling::None, |scaler| scaler.scaling);
    let scaling = match scaling {
        Scaling::Auto | Scaling::None => return lines,
        // Rows that leave zeros out keep them.
        Scaling::Standard if schema.scaler.as_ref().is_some_and(|scaler| scaler.shift.is_empty()) => {
            "deviation 1, zeros left where they are"
        }
        Scaling::Standard => "mean 0 and deviation 1",
        Scaling::MinMax => "0 to 1",
        Scaling::MaxAbs => "-1 to 1",
        Scaling::UnitNorm => "rows of length 1",
    };
    lines.push(format!("scale: {scaling}, kept with the model"));
    lines
}

/// The layers of a network.
fn layers(network: &NetworkSummary) -> String {
    let sizes: Vec<String> = network.sizes.iter().map(|size| count(*size as u64)).collect();
    format!(
        "a network of {} units, {} between layers: {}\n",
        sizes.join(" - "),
        network.activation,
        counted(network.parameters as u64, "weight and bias", "weights and biases")
    )
}

/// How many of the heaviest support rows are shown.
const HEAVIEST: usize = 3;

/// The support rows of a kernel model: how many, for which class, and the heaviest; pictures as such.
fn support(model: &Model) -> String {
    let Some(expansion) = model.expansion() else { return String::new() };
    let rows = expansion.rows();
    let (n_outputs, weights) = (expansion.n_outputs(), expansion.weights());
    let mut text = format!("{}\n", counted(rows.len() as u64, "support vector", "support vectors"));
    if let Combination::Votes { log, .. } = expansion.combination() {
        let survivors = counted(log.len() as u64 + 1, "survivor", "survivors");
        let _ = writeln!(text, "a vote of {survivors}, each a step along one of them");
    }
    let mut lines =
        vec![["output for", "speak for it", "against it", "heaviest weight"].map(str::to_owned).to_vec()];
    let mut heaviest: Vec<(f64, u32, usize)> = Vec::new();
    for (output, name) in model.output_names().into_iter().enumerate() {
        let of_output = || weights.iter().skip(output).step_by(n_outputs).enumerate();
        let n_for = of_output().filter(|(_, weight)| **weight > 0.0).count();
        let n_against = of_output().filter(|(_, weight)| **weight < 0.0).count();
        let most = of_output().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()).then(b.0.cmp(&a.0)));
        let most = most.map(|(row, weight)| (*weight, row as u32, output));
        let weight = most.map_or_else(String::new, |(weight, ..)| report::short_number(weight));
        lines.push(vec![name, count(n_for as u64), count(n_against as u64), weight]);
        heaviest.extend(most);
    }
    let n_outputs_left = lines.len().saturating_sub(LISTED + 1);
    lines.truncate(LISTED + 1);
    text.push_str(&ui::table(&lines));
    if n_outputs_left > 0 {
        let _ = writeln!(text, "and {n_outputs_left} more");
    }
    heaviest.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
    for (weight, row, output) in heaviest.into_iter().take(HEAVIEST) {
        let name = model.output_names().swap_remove(output);
        let number = model.support_number(row as usize);
        let which = number.map_or_else(
            || format!("support vector {}", row + 1),
            |number| format!("row {} of the training data", number + 1),
        );
        let _ = writeln!(text, "\n{which} with weight {} for {name}:", report::short_number(weight));
        let picture = model.schema().and_then(|schema| schema.picture.as_ref());
        // A file may claim any size: what is drawn has a pixel for each feature.
        let is_whole = |picture: &&Picture| {
            picture.channels == 1 && picture.width.checked_mul(picture.height) == Some(rows.width())
        };
        if let Some(picture) = picture.filter(is_whole) {
            text.push_str(&shades(rows.entries(row), picture.width, picture.height));
            continue;
        }
        let value =
            |(feature, value)| format!("{}={}", feature_name(model, feature), report::short_number(value));
        let shown: Vec<String> = rows.entries(row).take(VALUES_SHOWN).map(value).collect();
        let dots = if rows.entries(row).count() > VALUES_SHOWN { ", …" } else { "" };
        let _ = writeln!(text, "{}{dots}", shown.join(", "));
    }
    text
}

/// How many values of a support row are shown.
const VALUES_SHOWN: usize = 12;

/// A picture in shades of characters, two columns a pixel so that it keeps its form.
fn shades(entries: impl Iterator<Item = (usize, f64)>, width: usize, height: usize) -> String {
    const SHADES: &[u8] = b" .:-=+*#%@";
    /// The widest picture that fits a terminal.
    const WIDEST: usize = 40;
    /// A file may claim any height, and only pixels that are shown are held.
    const TALLEST: usize = 200;
    let step = width.div_ceil(WIDEST).max(height.div_ceil(TALLEST)).max(1);
    let n_across = width.div_ceil(step);
    let mut pixels = vec![0.0_f64; n_across * height.div_ceil(step)];
    let mut brightest = 0.0_f64;
    for (pixel, value) in entries.filter(|(pixel, _)| *pixel < width * height) {
        brightest = brightest.max(value);
        let (x, y) = (pixel % width, pixel / width);
        if x.is_multiple_of(step) && y.is_multiple_of(step) {
            pixels[y / step * n_across + x / step] = value;
        }
    }
    let mut text = String::new();
    for y in 0..height.div_ceil(step) {
        let mut line = String::new();
        for x in 0..n_across {
            let value = if brightest > 0.0 { pixels[y * n_across + x] / brightest } else { 0.0 };
            let shade = (value.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64).round() as usize;
            line.extend([char::from(SHADES[shade]); 2]);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
