//! `rosenblatt demo`: the main job, on real text messages that come with the program; or a lesson.

use super::lessons::{LESSONS, Lesson};
use super::train_face::Face;
use super::train_report;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::ui::{self, counted, percent};
use clap::builder::{PossibleValue, PossibleValuesParser};
use rosenblatt::Recipe;
use rosenblatt::algorithms::ALGORITHMS;
use rosenblatt::data::files::{Claim, keep_strangers, write_whole};
use rosenblatt_data::bundled;
use rosenblatt_figures::{Canvas, Look, Svg, approximation};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt demo                        a spam filter
  rosenblatt demo --model sms.model
  rosenblatt demo xor                    a lesson: its rows, trace, proof and film
  rosenblatt demo margin --folder class")]
pub(crate) struct Args {
    /// A lesson for the blackboard [default: none, a spam filter is trained]
    #[arg(value_name = "LESSON", value_parser = lessons())]
    lesson: Option<String>,
    /// Write the lesson's rows and pictures into this folder [default: .]
    #[arg(long, value_name = "PATH", requires = "lesson")]
    folder: Option<PathBuf>,
    /// Save the model here [default: not saved]
    #[arg(long, short, value_name = "PATH", conflicts_with = "lesson")]
    model: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "lesson")]
    json: bool,
    /// Print who made the bundled data sets, and their licences
    #[arg(long, conflicts_with_all = ["lesson", "model", "json"])]
    licences: bool,
}

/// The lesson that is a picture alone.
const APPROXIMATION: (&str, &str) =
    ("approximation", "Universal approximation: a curve, found by 1, 2, 4 .. 64 hidden units");

/// Networks of more and more hidden units on the page, on rows that no line separates.
const NETWORKS: &str = "data=drawn-rings&learner=mlp/hidden=1/rate:0.1&learner=mlp/hidden=4/rate:0.1";

/// A table of more lines than this is cut to its first `HEAD_LINES`.
const MOST_LINES: usize = 16;
const HEAD_LINES: usize = 6;

/// No lesson, but all of them.
const LIST: (&str, &str) = ("list", "List the lessons");

fn lessons() -> PossibleValuesParser {
    let lessons = LESSONS.iter().map(|lesson| (lesson.name, lesson.about));
    lessons.chain([APPROXIMATION, LIST]).map(|(name, about)| PossibleValue::new(name).help(about)).into()
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.licences {
        return ui::print(bundled::NOTICE);
    }
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    if let Some(lesson) = LESSONS.iter().find(|lesson| Some(lesson.name) == args.lesson.as_deref()) {
        return teach(lesson, folder);
    }
    if args.lesson.as_deref() == Some(APPROXIMATION.0) {
        return approximate(folder);
    }
    if args.lesson.as_deref() == Some(LIST.0) {
        if args.folder.is_some() {
            let message = "`--folder` is for a lesson, and `list` writes no files; leave it out";
            return Err(Failure::Usage(message.to_owned()));
        }
        return list();
    }
    if !args.json {
        ui::note("Training a spam filter on 5,574 real text messages: ham or spam?\n");
    }
    let _claim = args.model.as_deref().map(Claim::take).transpose()?;
    let recipe = Recipe::default();
    let mut face = Face::new(true, recipe.reading.meter.clone());
    let trained = recipe.train(&bundled::sms_spam(), &mut face)?;
    if let Some(path) = &args.model {
        trained.model.save(path)?;
    }
    if args.json {
        return ui::print(&format!("{}\n", train_report::json(&trained, &face)));
    }
    let mut text = train_report::text(&trained, &face);
    if let Some(held_out) = train_report::held_out(&trained) {
        let _ = writeln!(
            text,
            "It classified {} of the messages it had not seen correctly. The words above are what it decides by.",
            percent(held_out.accuracy())
        );
    }
    if let Some(path) = &args.model {
        let _ = writeln!(text, "The model is in {}.", path.display());
    }
    let _ = write!(
        text,
        "\nWhat to try next:
  rosenblatt train FILE                  your own data: CSV, TSV, libsvm, text
  rosenblatt algorithms                  the {} rules there are to choose from
  rosenblatt demo xor                    a lesson: every step, the proof and a film
  rosenblatt demo --model sms.model      keep the model, then:
  rosenblatt inspect sms.model           look inside it
(With cargo: `cargo run --release -- train FILE`, and so on.)\n",
        ALGORITHMS.len()
    );
    ui::print_report(&text)
}

/// Draws what ever more hidden units can do, as a film and as one picture.
fn approximate(folder: &Path) -> Result<(), Failure> {
    let (name, about) = APPROXIMATION;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Work(format!("{}: {error}", folder.display())))?;
    keep_strangers();
    ui::print(&format!(
        "{about}.\n\n\
         One hidden layer with enough units and enough rows approximates any continuous curve as closely as you like. How\n\
         many it takes is not known in advance, and more units are not always better: they are harder to train on the same\n\
         rows. Seven networks now learn from the same 1,200 rows; the error is that of 4,000 others.\n\n"
    ))?;
    let mut progress = Progress::new(true);
    let drawn = approximation(Canvas::default(), |units, done| {
        progress.show(Some(done), || {
            format!("training {}", counted(units as u64, "hidden unit", "hidden units"))
        });
    })?;
    progress.end();
    let mut table = vec![["hidden units", "error"].map(str::to_owned).to_vec()];
    table.extend(drawn.errors.iter().map(|(units, error)| vec![units.to_string(), percent(*error)]));
    ui::print(&format!("{}\n", ui::table(&table)))?;
    let film = drawn.film.svg(&Svg::default());
    let sheet = drawn.sheet.png(Look::default(), 2.0);
    for (form, bytes) in [("svg", film.into_bytes()), ("png", sheet)] {
        let path = folder.join(format!("{name}.{form}"));
        write_whole(&path, &bytes)?;
        ui::note(&format!("{name}: {} ({})", path.display(), ui::bytes(bytes.len() as u64)));
    }
    ui::print(&format!(
        "\nOpen {} in a browser; `rosenblatt playground --settings \"{NETWORKS}\"` shows how many hidden units a\n\
         boundary takes.\n",
        folder.join(format!("{name}.svg")).display()
    ))
}

/// Writes the rows of a lesson, and runs its commands as if typed.
fn teach(lesson: &Lesson, folder: &Path) -> Result<(), Failure> {
    let at = |name: &str| Failure::Work(format!("{}: {name}", folder.display()));
    std::fs::create_dir_all(folder).map_err(|error| at(&error.to_string()))?;
    std::env::set_current_dir(folder).map_err(|error| at(&error.to_string()))?;
    let file = PathBuf::from(format!("{}.csv", lesson.name));
    keep_strangers();
    write_whole(&file, lesson.rows.as_bytes())?;
    let (about, moral) = (lesson.about, lesson.moral);
    ui::print(&format!("{about}.\n\n{moral}\n\n{}", shown(&file, lesson.rows)))?;
    for line in lesson.lines {
        ui::print(&format!("\n$ rosenblatt {line}\n"))?;
        crate::run(&format!("rosenblatt {line}"))?;
    }
    let pictures: Vec<String> = (lesson.lines.iter())
        .filter_map(|line| Some(folder.join(line.split_once(" -o ")?.1).display().to_string()))
        .collect();
    ui::print(&format!(
        "\nOpen {} in a browser; `rosenblatt playground {} --settings \"{}\"` steps through the rows in the page.\n",
        pictures.join(" and "),
        folder.join(&file).display(),
        lesson.settings
    ))
}

/// The rows of a file, or the first ones if there are many.
fn shown(file: &Path, rows: &str) -> String {
    let (file, n_lines) = (file.display(), rows.lines().count());
    if n_lines <= MOST_LINES {
        return format!("$ cat {file}\n{rows}");
    }
    let first: String = rows.lines().take(HEAD_LINES).flat_map(|line| [line, "\n"]).collect();
    format!("$ head -n {HEAD_LINES} {file}\n{first}… and {} more lines in {file}\n", n_lines - HEAD_LINES)
}

/// What lessons there are.
fn list() -> Result<(), Failure> {
    let lessons = LESSONS.iter().map(|lesson| (lesson.name, lesson.about)).chain([APPROXIMATION]);
    let mut text =
        "Run one with `rosenblatt demo LESSON`; it writes its rows and pictures to the current folder.\n\n"
            .to_owned();
    for (name, about) in lessons {
        let _ = writeln!(text, "  {name:<14} {about}");
    }
    ui::print(&text)
}
