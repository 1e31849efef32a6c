//! `rosenblatt certify FILE...`: whether a hyperplane separates the data, with a proof that can be checked.
//!
//! Values are taken as they stand: doubles, not scaled, pixels from 0 to 255. What is proved of them is then
//! proved of the file. [`super::certify_text`] prints the findings.

use super::certify_text as say;
use crate::args::{DataArgs, seconds};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::short_number;
use crate::ui;
use clap::builder::PossibleValue;
use rosenblatt::certify::{self, Certificate, Part, Polynomial, Question};
use rosenblatt::data::files::{read_text, write_whole};
use rosenblatt::monotone::{Course, courses};
use rosenblatt::recipe::note_on_quantity;
use rosenblatt::separation::{self, Sides, Study, verify};
use rosenblatt::{Dataset, Error, Model, Task};
use rosenblatt_data::{Pictures, Precision, ReadOptions, Source, load_source};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much of the time may go into the verdict; the rest is for the rows that stand in its way.
const VERDICT_SHARE: f64 = 0.85;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt certify iris.csv                               every class in turn
  rosenblatt certify iris.csv --positive setosa             one class, in detail
  rosenblatt certify digits.csv --positive 3 --against 8    two of many classes
  rosenblatt certify data.csv --certificate proof.json      keep the proof
  rosenblatt certify data.csv --check proof.json            check a proof, exactly
  rosenblatt certify data.csv --model data.model            a model's mistakes
  rosenblatt certify xor.csv --kernel polynomial            a polynomial's space
  rosenblatt certify data.model --monotone                  which columns a score rises or falls with")]
pub(crate) struct Args {
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
    /// Positive class [default: each in turn, if there are more than two]. It is on one side, all others on the other
    #[arg(long, value_name = "CLASS")]
    positive: Option<String>,
    /// Class on the other side [default: all others]
    #[arg(long, value_name = "CLASS")]
    against: Option<String>,
    /// Ask for a hyperplane that may lie anywhere, or one through the origin
    #[arg(long, value_name = "NAME", default_value = "learned", value_parser = [
        PossibleValue::new("learned").help("anywhere"),
        PossibleValue::new("none").help("through the origin"),
    ])]
    bias: String,
    /// Stop once the margin is known to this relative error
    #[arg(long, value_name = "SHARE", default_value_t = 1e-6)]
    gap: f64,
    /// Stop after this time (60s, 10m, 2h) and report the bounds found so far
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds)]
    time: Duration,
    /// Decide in the feature space of this kernel
    #[arg(long, value_name = "NAME", value_parser = [PossibleValue::new("polynomial").alias("poly")])]
    kernel: Option<String>,
    /// The degree of a polynomial: (offset + x.y)^degree
    #[arg(long, value_name = "N", default_value_t = 2)]
    degree: u32,
    /// The number added to the product
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    offset: f64,
    /// Write the certificate to this file
    #[arg(long, value_name = "PATH")]
    certificate: Option<PathBuf>,
    /// Check this certificate instead of looking for one
    #[arg(long, value_name = "PATH", conflicts_with_all = [
        "certificate", "model", "positive", "kernel", "bias", "gap", "time",
    ])]
    check: Option<PathBuf>,
    /// Certify the mistakes of this model instead. It needs two classes and weights: no kernel, no votes
    #[arg(long, short, value_name = "PATH", conflicts_with_all = ["certificate", "positive", "kernel", "bias"])]
    model: Option<PathBuf>,
    /// Prove how a model's score goes with a column. Name the model instead of data. `age=+` proves that what the
    /// column adds never falls, `hours=-` that it never rises, over all numbers; without columns, each is described
    #[arg(long, value_name = "A=+,B=-", num_args = 0..=1, default_missing_value = "", conflicts_with_all = [
        "certificate", "check", "model", "positive", "kernel", "bias", "gap", "time",
    ])]
    monotone: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if !(args.gap > 0.0 && args.gap < 1.0) {
        return Err(Failure::Usage(format!("`--gap` should be above 0 and below 1, but is {}", args.gap)));
    }
    if !(args.offset >= 0.0 && args.offset.is_finite()) {
        return Err(Failure::Usage(format!("`--offset` should be at least 0, but is {}", args.offset)));
    }
    if let Some(wishes) = &args.monotone {
        return monotone(args, wishes);
    }
    if let Some(path) = &args.model {
        // As `evaluate` reads them: a model is judged on the rows it would be given.
        return model_mistakes(args, path, args.data.options()?);
    }
    let read = as_it_stands(&args.data)?;
    let start = Instant::now();
    let source = Source::find_all(&args.files)?;
    let data = load_source(&source, &read)?;
    if let Some(note) = note_on_quantity(data.labels(), data.len()) {
        ui::warn(&note);
    }
    if data.is_empty() {
        return Err(Failure::Work(format!("{}: there are no rows", source.name())));
    }
    if let Some(path) = &args.check {
        return check_file(args, path, &data);
    }
    let read_time = start.elapsed();
    let sides = sides(args, &data)?;
    if args.certificate.is_some() && sides.len() > 1 {
        return Err(Failure::Usage(
            "a certificate is about two sides; say which with `--positive CLASS`".to_owned(),
        ));
    }
    let mut studies = Vec::new();
    for side in sides {
        studies.push(study(args, &data, side)?);
    }
    let certificate = studies.first().and_then(|timed| timed.study.certificate.as_ref());
    let kept = args.certificate.as_ref().zip(certificate);
    if let Some((path, certificate)) = kept {
        let text =
            serde_json::to_string_pretty(certificate).map_err(|error| Failure::Work(error.to_string()))?;
        write_whole(path, format!("{text}\n").as_bytes())?;
    }
    let outcome = if studies.iter().all(|timed| timed.study.certificate.is_some()) {
        Ok(())
    } else {
        let lost =
            args.certificate.as_ref().map(|path| format!("undecided: {} is not written", path.display()));
        Err(Failure::Undecided(lost))
    };
    if args.json {
        let studies: Vec<_> = studies.iter().map(|study| say::json(study, &data)).collect();
        let report = json!({
            "data": { "source": source.name(), "rows": data.len(), "features": data.width() },
            "read-seconds": read_time.as_secs_f64(),
            "questions": studies,
        });
        ui::print(&format!("{report}\n"))?;
        return outcome;
    }
    let head = say::heading(&source.name(), &data, read_time);
    let mut text = match studies.as_slice() {
        [study] => format!("{head}{}", say::text(study, &data)),
        many => format!("{head}{}", say::table(many)),
    };
    if let Some((path, _)) = kept {
        let path = path.display();
        let _ =
            writeln!(text, "\ncertificate: {path} (verify it with `rosenblatt certify DATA --check {path}`)");
    }
    ui::print_report(&text)?;
    outcome
}

/// How the data is read: as it stands, unless the user says otherwise.
fn as_it_stands(data: &DataArgs) -> Result<ReadOptions, Failure> {
    let mut read = data.options()?;
    if !data.0.has("precision") {
        read.precision = Precision::Double;
    }
    read.pictures = Pictures { unscaled: true, ..read.pictures };
    Ok(read)
}

/// The questions that the words ask.
fn sides(args: &Args, data: &Dataset) -> Result<Vec<Sides>, Failure> {
    if args.against.is_some() && args.against == args.positive {
        return Err(Failure::Usage("`--against` should be another class than `--positive`".to_owned()));
    }
    Ok(Sides::chosen(data, args.positive.as_deref(), args.against.as_deref())?)
}

/// A question with its answer, and how long it took.
pub(super) struct Timed {
    pub(super) study: Study,
    pub(super) time: Duration,
}

fn study(args: &Args, data: &Dataset, sides: Sides) -> Result<Timed, Failure> {
    let kernel = args.kernel.as_ref().map(|_| Polynomial { degree: args.degree, offset: args.offset });
    let start = Instant::now();
    let progress = Progress::new(true);
    let limit = args.time;
    let name = sides.name();
    let watch = |step: certify::Progress<'_>| {
        progress.show(None, || format!("{name}: {}{}", step.doing, narrowed(step.margin)));
        let limit = if step.part == Part::Verdict { limit.mul_f64(VERDICT_SHARE) } else { limit };
        if start.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let question = Question { bias: args.bias != "none", gap: args.gap };
    let study = separation::study(data, sides, question, kernel, &watch)?;
    Ok(Timed { study, time: start.elapsed() })
}

/// Between which numbers the margin is by now. As long as the lower one is negative, it is no margin.
fn narrowed(margin: Option<(f64, f64)>) -> String {
    let known = margin.filter(|(low, _)| *low >= 0.0);
    known.map_or_else(String::new, |(low, high)| {
        format!(", margin between {} and {}", short_number(low), short_number(high))
    })
}

fn check_file(args: &Args, path: &Path, data: &Dataset) -> Result<(), Failure> {
    let start = Instant::now();
    let (certificate, sides) = verified(path, data)?;
    if args.json {
        return ui::print(&format!("{}\n", json!({ "certificate": certificate.claim, "valid": true })));
    }
    ui::print(&say::accepted(&certificate, &sides, start.elapsed()))
}

/// The certificate at `path`, if it is right about `data`.
fn verified(path: &Path, data: &Dataset) -> Result<(Certificate, Sides), Failure> {
    let fail = |what: &str| Failure::Work(format!("{}: {what}", path.display()));
    let text = read_text(path)?;
    let certificate: Certificate =
        serde_json::from_str(&text).map_err(|error| fail(&format!("not a certificate: {error}")))?;
    let sides = verify(&certificate, data).map_err(|error| match error {
        Error::Uncertifiable { what } => fail(&what),
        error => error.into(),
    })?;
    Ok((certificate, sides))
}

/// What the certificate at `path` says of the data in `files`, once it is checked.
pub(super) fn checked(path: &Path, files: &[OsString], data: &DataArgs) -> Result<String, Failure> {
    let start = Instant::now();
    let data = load_source(&Source::find_all(files)?, &as_it_stands(data)?)?;
    let (certificate, sides) = verified(path, &data)?;
    Ok(say::accepted(&certificate, &sides, start.elapsed()))
}

/// How many mistakes a model makes, beyond doubt about rounding.
fn model_mistakes(args: &Args, path: &PathBuf, mut read: ReadOptions) -> Result<(), Failure> {
    let model = Model::load(path)?;
    model.check_task(Task::Classes)?;
    model.check_room("a certificate", 16)?;
    read.schema = model.schema().cloned();
    let data = load_source(&Source::find_all(&args.files)?, &read)?;
    let names = model.labels().names();
    if model.map().is_some() {
        return Err(Error::Mapped { what: "a certificate is about" }.into());
    }
    let ([_, positive], Some(planes)) = (names, model.planes()) else {
        return Err(Failure::Work(
            "only the mistakes of one hyperplane can be certified: the model should have two classes and not be a vote"
                .to_owned(),
        ));
    };
    let sides = Sides { positive: positive.clone(), negative: None };
    let rows = sides.rows(&data)?;
    let mut weights = planes.weights(0);
    weights.resize(weights.len().max(rows.width()), 0.0);
    let wrong = certify::mistakes(&rows, &weights, planes.biases()[0]);
    if args.json {
        let report = json!({
            "rows": rows.len(), "mistakes": wrong.len(),
            "wrong-rows": wrong.iter().map(|&idx| rows.number(idx) + 1).collect::<Vec<_>>(),
        });
        return ui::print(&format!("{report}\n"));
    }
    ui::print(&say::misclassified(&rows, &wrong))
}

/// How what each column adds moves with it, and whether that is as wished.
fn monotone(args: &Args, wishes: &str) -> Result<(), Failure> {
    let usage = |message: String| Err(Failure::Usage(message));
    let [path] = &args.files[..] else {
        return usage(
            "`--monotone` is proved of one model: `rosenblatt certify MODEL --monotone`".to_owned(),
        );
    };
    args.data.read_nothing()?;
    let mut wished = Vec::new();
    for wish in wishes.split(',').filter(|wish| !wish.is_empty()) {
        match wish.rsplit_once('=') {
            Some((column, "+")) => wished.push((column, true)),
            Some((column, "-")) => wished.push((column, false)),
            _ => return usage(format!("`--monotone` takes COLUMN=+ or COLUMN=-, but this is `{wish}`")),
        }
    }
    let model = Model::load(path)?;
    model.check_room("a certificate", 16)?;
    let all = courses(&model)?;
    let known = |name: &str| all.iter().any(|course| course.column == name);
    if let Some((name, _)) = wished.iter().find(|(name, _)| !known(name)) {
        let mut columns: Vec<&str> = all.iter().map(|course| course.column.as_str()).collect();
        columns.dedup();
        let columns = columns.join("`, `");
        return usage(format!("`{name}` is no column of numbers of this model; there are `{columns}`"));
    }
    let is_wished = |course: &&Course| wished.iter().any(|(name, _)| *name == course.column);
    let asked: Vec<&Course> = all.iter().filter(|course| wished.is_empty() || is_wished(course)).collect();
    // A column may be wished to rise and to fall: one that does neither keeps both.
    let broken = wished.iter().find_map(|(name, rising)| {
        asked.iter().filter(|course| course.column == *name).find_map(|course| {
            let place = if *rising { course.falls } else { course.rises }?;
            Some(say::broken(course, *rising, place))
        })
    });
    if args.json {
        ui::print(&format!("{}\n", json!({ "columns": asked, "broken": broken })))?;
    } else {
        ui::print(&asked.iter().map(|course| say::course(course)).collect::<String>())?;
    }
    broken.map_or(Ok(()), |broken| Err(Failure::Work(broken)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_few_digits_and_no_negative_margin() {
        assert_eq!(narrowed(Some((0.784_464_5, 0.784_47))), ", margin between 0.784 and 0.784");
        assert_eq!([narrowed(Some((-0.109_079_7, 8.7))), narrowed(None)], ["", ""]);
    }
}
