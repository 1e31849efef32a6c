//! `rosenblatt convert IN OUT`: the same rows in another format, in two parts or in another order.

use crate::args::DataArgs;
use crate::choices::listed;
use crate::failure::{Failure, worded};
use crate::progress::Progress;
use crate::ui::{self, counted};
use rosenblatt::catalogue;
use rosenblatt_data::files::is_stdout;
use rosenblatt_data::write::{WRITERS, find_writer};
use rosenblatt_data::{Converted, LabelColumn, Parting, Source, WriteOptions, convert, convert_parted};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "The extension names the format: libsvm (svm), csv, tsv, jsonl, vw, npy, npz,
parquet, arrow (feather), arrows. `.gz` or `.zst` after it compresses. Categories
and words become features; nothing is scaled without --scale.

Examples:
  rosenblatt convert iris.csv iris.svm
  rosenblatt convert mail.parquet mail.csv.gz --label spam
  rosenblatt convert iris.csv train.svm --split 0.2 --test-out test.svm --shuffle
  rosenblatt convert a9a a9a.parquet
  cat a9a | rosenblatt convert - - --format libsvm --to jsonl | head -1")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// File, folder or pattern to read; `-` is stdin
    #[arg(value_name = "IN")]
    input: OsString,
    /// File to write; `-` is stdout, and needs --to
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format to write [default: from the file's name]
    #[arg(long, value_name = "NAME", value_parser = listed(|| catalogue().names("written-format")))]
    to: Option<String>,
    /// Write this share of the rows to --test-out. The others go to OUT
    #[arg(long, value_name = "SHARE", requires = "test_out")]
    split: Option<f64>,
    /// Write the share that --split takes to this file
    #[arg(long, value_name = "PATH", requires = "split")]
    test_out: Option<PathBuf>,
    /// Whether a split takes the same share of every class
    #[arg(long, value_name = "YES|NO", value_parser = ["yes", "no"], default_value = "yes", requires = "split")]
    stratified: String,
    /// Write the rows in random order
    #[arg(long)]
    shuffle: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Memory that rows may take while they are shuffled (512MiB, 2GiB). Changes nothing but the time
    #[arg(long, value_name = "SIZE", value_parser = rosenblatt::settings::bytes, default_value = "256MiB")]
    memory: u64,
    /// Number features from 0 in the output (libsvm, and JSON Lines or VW without names)
    #[arg(long)]
    to_zero_based: bool,
    /// Take every column as a feature: the rows have no label
    #[arg(long, conflicts_with = "label")]
    unlabelled: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut read = args.data.options()?;
    if args.unlabelled {
        read.label = LabelColumn::Absent;
    }
    if let Some(share) = args.split.filter(|share| !(*share > 0.0 && *share < 1.0)) {
        return Err(Failure::Usage(format!("`--split` should be between 0 and 1, but is {share}")));
    }
    let targets: Vec<&Path> =
        [Some(&args.output), args.test_out.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    if targets.len() > 1 && targets.iter().all(|target| is_stdout(target)) {
        let message = "the two parts would be mixed on stdout; name a file for one of them";
        return Err(Failure::Usage(message.to_owned()));
    }
    for target in &targets {
        check_target(target, args.to.as_deref())?;
    }
    let source = Source::find(&args.input)?;
    let out = WriteOptions {
        format: args.to.clone(),
        zero_based: args.to_zero_based,
        shuffle: args.shuffle.then_some(args.seed),
        memory: args.memory,
    };
    // Rows that scroll by are progress enough. They are counted first, and then written.
    let is_seen = targets.iter().any(|target| is_stdout(target)) && std::io::stdout().is_terminal();
    let progress = Progress::new(!is_seen);
    progress.reading(&source, &read.meter, 2);
    let Converted { rows: counts, notes } = match (args.split, targets.as_slice()) {
        (Some(fraction), &[train, test]) => {
            let parting = Parting { fraction, seed: args.seed, stratified: args.stratified == "yes" };
            convert_parted(&source, &read, [train, test], parting, &out)?
        }
        _ => convert(&source, &read, &args.output, &out)?,
    };
    drop(progress);
    for note in notes {
        ui::note(&format!("note: {note}"));
    }
    let written = targets.iter().zip(counts);
    if args.json && !targets.iter().any(|target| is_stdout(target)) {
        let written: Vec<_> = written
            .map(|(target, rows)| json!({ "path": target.display().to_string(), "rows": rows }))
            .collect();
        return ui::print(&format!("{}\n", json!({ "source": source.name(), "written": written })));
    }
    let mut text = String::new();
    for (target, rows) in written {
        let name = if is_stdout(target) { "stdout".to_owned() } else { target.display().to_string() };
        let _ = writeln!(text, "{name}: {}", counted(rows, "row", "rows"));
    }
    // What is asked for on stdout is the rows.
    if targets.iter().any(|target| is_stdout(target)) {
        ui::note(text.trim_end());
        return Ok(());
    }
    if ui::is_quiet() { Ok(()) } else { ui::print(&text) }
}

/// Refuses, before anything is read, what cannot be written.
fn check_target(target: &Path, format: Option<&str>) -> Result<(), Failure> {
    if is_stdout(target) && format.is_none() {
        return Err(Failure::Usage("`-` has no name that tells the format, expected `--to NAME`".to_owned()));
    }
    find_writer(format, target).map(|_| ()).map_err(|error| {
        let names: Vec<&str> = WRITERS.iter().map(|writer| writer.info().name).collect();
        Failure::Usage(match format {
            Some(name) => format!("`--to` should be one of {}, but is `{name}`", names.join(", ")),
            None => error.report_as(worded),
        })
    })
}
