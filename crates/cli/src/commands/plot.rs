//! `rosenblatt plot KIND FILE...`: what was learned, and how, as a picture.
//!
//! What there is to see, and what can be chosen about it, is in the table of the figures crate; here it becomes words of
//! a command line, and the picture gets its place.

use crate::args::{DataArgs, SpecArgs, part_of_options};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::ui::{self, count};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction};
use rosenblatt::data::files::{is_stdout, write_whole};
use rosenblatt::data::{Schema, Source, load_source, load_with_schema};
use rosenblatt::learning::{Order, Readout};
use rosenblatt::recipe::Choice;
use rosenblatt::{Dataset, Model, Recipe, Spec, Task};
use rosenblatt_figures::{
    ALIASES, Canvas, FIGURES, Figure, FigureError, Judged, Look, Needs, Setting, Settings, Subject, Svg,
    Takes, Terminal, find,
};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

fn kinds() -> PossibleValuesParser {
    let values = FIGURES.iter().map(|figure| {
        let aliases = ALIASES.iter().filter(|(_, name)| *name == figure.name).map(|(alias, _)| *alias);
        PossibleValue::new(figure.name).help(figure.about).aliases(aliases)
    });
    PossibleValuesParser::new(values)
}

#[derive(clap::Args)]
#[command(after_help = "Without --model, it trains one first: for roc, precision-recall, reliability,
confusion, fit and residuals as `train` does, else a perceptron, unless you name
an --algorithm. Without --output, it draws in the terminal.

Examples:
  rosenblatt plot boundary points.csv                         in the terminal
  rosenblatt plot boundary points.csv -o points.svg
  rosenblatt plot boundary points.csv --frames -o steps.svg   every step of the run, as a film
  rosenblatt plot boundary iris.csv --columns petal_length,petal_width -o iris.png
  rosenblatt plot boundary points.csv --frames -o steps.apng  the same, where SVG is not shown
  rosenblatt plot boundary points.csv --frames --no-buttons -o steps.svg      for a README
  rosenblatt plot boundary data.svm -o data.svg               many features: rows on their side
  rosenblatt plot curves mail.csv --readouts last,averaged,voted -o curves.svg
  rosenblatt plot mistakes points.csv --bias none -o bound.svg
  rosenblatt plot margins mail.csv --model mail.model -o margins.png
  rosenblatt plot weights --model sms.model -o weights.svg
  rosenblatt plot shapes people.csv --model people.model -o shapes.svg
  rosenblatt plot roc test.csv --model mail.model -o roc.svg
  rosenblatt plot reliability test.csv --model mail.model -o reliability.svg
  rosenblatt plot confusion data.svm --theme dark -o confusion.png
  rosenblatt plot fit houses.csv --model houses.model -o fit.svg
  rosenblatt plot residuals houses.csv --model houses.model -o residuals.svg
  rosenblatt plot transitions --model news.model -o transitions.svg    of a tagger")]
pub(crate) struct Args {
    /// Kind of picture
    #[arg(value_name = "KIND", value_parser = kinds())]
    kind: String,
    /// Files, folders or patterns to read; `-` is stdin. `weights` of a model needs none
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// Use this model instead of training one
    #[arg(long, short, value_name = "PATH")]
    model: Option<PathBuf>,
    /// Write to this file: .svg, .png, .apng or .txt. `-` is stdout
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Format to write [default: from the file's name]
    #[arg(long = "to", alias = "as", value_name = "FORM", value_parser = ["svg", "png", "apng", "text"])]
    form: Option<String>,
    /// Draw on light or dark paper. In SVG, auto follows the page or the system
    #[arg(long, value_name = "NAME", value_parser = ["auto", "light", "dark"], default_value = "auto")]
    theme: String,
    /// Size in pixels [default: 800x560]. The height may adapt to the content, and a PNG has twice as many pixels
    /// each way
    #[arg(long, value_name = "WxH", value_parser = rosenblatt::settings::size)]
    canvas: Option<(u32, u32)>,
    /// Draw a film without its bar of buttons: they are dead where a page shows the film as an image
    #[arg(long)]
    no_buttons: bool,
    /// Title, instead of one that describes the picture
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Use all training rows instead of the held-out ones (with --model)
    #[arg(long, requires = "model")]
    training_rows: bool,
    /// Print the result as JSON. It holds the SVG if no file is named
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    spec: SpecArgs,
}

/// The settings of all kinds as options, each with the kinds that have it.
#[derive(Debug, Clone, Default)]
struct SettingArgs(Settings);

/// Every setting once, with what it means to the kinds that have it.
fn settings() -> Vec<(&'static Setting, String)> {
    let mut all: Vec<(&Setting, String)> = Vec::new();
    for figure in FIGURES {
        for setting in figure.settings {
            let Some((_, help)) = all.iter_mut().find(|(known, _)| known.name == setting.name) else {
                let (first, rest) = setting.meaning.split_at(1);
                all.push((setting, format!("{}{rest}. For {}", first.to_uppercase(), figure.name)));
                continue;
            };
            let is_same = help.to_lowercase().contains(&setting.meaning.to_lowercase());
            let meaning = if is_same { String::new() } else { format!(", {}", setting.meaning) };
            let _ = write!(help, ", {}{meaning}", figure.name);
        }
    }
    all
}

part_of_options!(
    SettingArgs,
    |command| {
        let heading = "What a kind can show";
        settings().into_iter().fold(command, |command, (setting, help)| {
            let takes = match setting.takes {
                Takes::Switch => "",
                Takes::AtLeast(_) => "N",
                Takes::Share => "SHARE",
                Takes::Size => "WxH",
                Takes::TwoColumns => "A,B",
                Takes::Class => "CLASS",
                Takes::Loss => "NAME",
                Takes::Readouts => "NAME,...",
            };
            let default = setting.default;
            let help = match setting.bare {
                "true" => help,
                bare if !bare.is_empty() => format!("{help} [{bare} if no number is given]"),
                _ if default.is_empty() => help,
                _ => format!("{help} [default: {default}]"),
            };
            let arg = Arg::new(setting.name).long(setting.name).help(help).help_heading(heading);
            command.arg(match setting.bare {
                "true" => arg.action(ArgAction::SetTrue),
                "" => arg.value_name(takes),
                bare => {
                    arg.value_name(takes).num_args(0..=1).require_equals(true).default_missing_value(bare)
                }
            })
        })
    },
    |matches| {
        let is_said = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let said = settings().into_iter().filter(|(setting, _)| is_said(setting.name));
        Self(said.fold(Settings::default(), |all, (setting, _)| {
            let value = match setting.takes {
                Takes::Switch => Some("true"),
                _ => matches.get_one::<String>(setting.name).map(String::as_str),
            };
            value.map_or_else(|| all.clone(), |value| all.clone().with(setting.name, value))
        }))
    }
);

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        match error {
            FigureError::Engine(error) => error.into(),
            FigureError::NotTwoClasses { ref classes } => {
                let class = classes.first().map_or("CLASS", String::as_str);
                Self::Work(format!("{error}\nhelp: for example `--positive {class}`"))
            }
            FigureError::BadSetting { name, takes, found } => {
                Self::Usage(format!("`--{name}` should be {takes}, but is `{found}`"))
            }
            FigureError::NoSuchFigure { .. }
            | FigureError::NoSuchSetting { .. }
            | FigureError::Conflict { .. }
            | FigureError::NeedsRun { .. }
            | FigureError::OtherTask { .. } => Self::Usage(error.to_string()),
            error => Self::Work(error.to_string()),
        }
    }
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Apng,
    Text,
}

impl Args {
    fn form(&self) -> Result<Form, Failure> {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        let extension = extension.map(|extension| extension.to_string_lossy().to_lowercase());
        match (self.form.as_deref(), extension.as_deref()) {
            (Some("svg"), _) | (None, Some("svg")) => Ok(Form::Svg),
            (Some("png"), _) | (None, Some("png")) => Ok(Form::Png),
            (Some("apng"), _) | (None, Some("apng")) => Ok(Form::Apng),
            (Some(_), _) | (None, Some("txt")) => Ok(Form::Text),
            (None, None) if self.output.is_none() => Ok(if self.json { Form::Svg } else { Form::Text }),
            _ => Err(Failure::Usage(
                "the name of `--output` should end in .svg, .png, .apng or .txt, or `--to` tell the form"
                    .to_owned(),
            )),
        }
    }

    fn settings(&self, figure: &Figure, form: Form) -> Result<Settings, Failure> {
        let mut settings = self.settings.0.clone();
        if let Some(title) = &self.title {
            settings = settings.with("title", title);
        }
        // The others do not move.
        if !matches!(form, Form::Svg | Form::Apng) && settings.get("frames").is_some() {
            settings = settings.with("still", "true");
        }
        settings.check(figure)?;
        Ok(settings)
    }

    /// Refuses options of learning that change nothing in this picture.
    fn check_heeded(&self, figure: &Figure, settings: &Settings, spec: &Spec) -> Result<(), Failure> {
        let refuse = |option: &str, why: &str| {
            let message =
                format!("`--{option}` has no effect on `plot {}`: {why}; leave it out", figure.name);
            Err(Failure::Usage(message))
        };
        let pocket = |name: &str| name.trim() == "pocket";
        let is_compared = settings.get("readouts").is_some_and(|names| names.split(',').any(pocket));
        if self.spec.has("ratchet") && spec.readout() != Readout::Pocket && !is_compared {
            return refuse("ratchet", "it is for the pocket's read-out");
        }
        if self.spec.has("patience") && (figure.needs == Needs::Run || figure.is_textbook(settings)) {
            return refuse("patience", "it shows the whole run");
        }
        // A textbook's run is read out last in any case.
        let is_said = self.spec.has("readout") && spec.readout() != Readout::Last;
        if figure.needs == Needs::Run && is_said {
            return refuse(
                "readout",
                "the steps are the same, and `--readouts` compares what is made of them",
            );
        }
        if self.training_rows && figure.needs == Needs::ModelOnly && !self.files.is_empty() {
            return refuse("training-rows", "it shows the model alone");
        }
        Ok(())
    }

    fn canvas(&self, form: Form) -> Canvas {
        if let (Some((width, height)), Form::Svg | Form::Png | Form::Apng) = (self.canvas, form) {
            let (width, height) = (f64::from(width), f64::from(height));
            return Canvas { width, height, may_shrink: false, ..Canvas::default() };
        }
        if form != Form::Text {
            return Canvas::default();
        }
        let size = terminal_size::terminal_size().filter(|_| self.output.is_none());
        let (columns, rows) = size.map_or((80, 30), |(columns, rows)| (columns.0, rows.0));
        let columns = usize::from(columns).clamp(40, 120);
        Canvas::terminal(columns, usize::from(rows).saturating_sub(2).clamp(16, columns * 2 / 5))
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let figure = find(&args.kind)?;
    if args.kind != figure.name {
        ui::note(&format!(
            "note: `plot {}` rings the {} rows; `plot mistakes` counts the mistakes that a run makes while it learns",
            figure.name, args.kind
        ));
    }
    let form = args.form()?;
    let settings = args.settings(figure, form)?;
    if args.no_buttons && (form != Form::Svg || settings.get("frames").is_none()) {
        let message = "`--no-buttons` is for films in SVG; name `--frames`, or leave it out";
        return Err(Failure::Usage(message.to_owned()));
    }
    args.spec.one_rule()?;
    let spec = args.spec.spec()?;
    args.check_heeded(figure, &settings, &spec)?;
    if matches!(form, Form::Png | Form::Apng)
        && !args.json
        && args.output.is_none()
        && std::io::stdout().is_terminal()
    {
        return Err(Failure::Usage("a terminal cannot show a PNG; name a file with `--output`".to_owned()));
    }
    let path = args.output.as_ref().filter(|path| !is_stdout(path));
    let subject = subject(args, figure, &settings)?;
    let mut picture = figure.draw(&subject, &settings, args.canvas(form))?;
    if let Some(title) = &args.title {
        picture.title.clone_from(title);
    }
    let look = match args.theme.as_str() {
        "light" => Some(Look::Light),
        "dark" => Some(Look::Dark),
        _ => None,
    };
    let bytes = match form {
        Form::Svg => picture.svg(&Svg { look, buttons: !args.no_buttons, ..Svg::default() }).into_bytes(),
        Form::Png => picture.png(look.unwrap_or_default(), 2.0),
        Form::Apng => picture.apng(look.unwrap_or_default(), 1.0),
        Form::Text => picture.text(terminal(look, args.output.is_none())).into_bytes(),
    };
    if args.json {
        let name = match form {
            Form::Svg => "svg",
            Form::Png => "png",
            Form::Apng => "apng",
            Form::Text => "text",
        };
        if let Some(path) = path {
            write_whole(path, &bytes)?;
        }
        let inside = if path.is_none() { String::from_utf8(bytes).ok() } else { None };
        let report = json!({
            "kind": figure.name, "title": picture.title, "notes": picture.description, "form": name,
            "width": picture.width, "height": picture.height,
            "file": path.map(|path| path.display().to_string()), "picture": inside,
        });
        return ui::print(&format!("{report}\n"));
    }
    let Some(path) = path else {
        // What is drawn in characters has its own colours.
        return if form == Form::Text { ui::print_bytes(&bytes) } else { ui::print_either(&bytes) };
    };
    write_whole(path, &bytes)?;
    ui::note(&format!("{}: {} ({})", figure.name, path.display(), ui::bytes(bytes.len() as u64)));
    Ok(())
}

/// Reads the data, and loads or trains the model.
fn subject(args: &Args, figure: &Figure, settings: &Settings) -> Result<Subject, Failure> {
    if let Some(path) = &args.model {
        figure.check_model(settings)?;
        args.data.leave_to_the_model()?;
        args.spec.leave_to_the_model()?;
        return of_model_file(args, figure, path);
    }
    if figure.tasks == [Task::Tags] {
        let name = figure.name;
        let message =
            format!("`plot {name}` shows a tagger of sentences; train one, and name it with `--model`");
        return Err(Failure::Usage(message));
    }
    if args.files.is_empty() {
        let message = "there should be a file of data, or a model with `--model`";
        let example = format!("rosenblatt plot {} FILE --model MODEL", figure.name);
        return Err(Failure::Usage(format!("{message}, as in `{example}`")));
    }
    let progress = Progress::new(true);
    let is_judged = matches!(figure.needs, Needs::HeldOut | Needs::Probabilities);
    let source = Source::find_all(&args.files)?;
    if is_judged && settings.get("holdout").is_none() && source.can_rewind() {
        return as_trained(args, &source, &progress);
    }
    let is_textbook = figure.is_textbook(settings);
    let (source, rows, spec) = material(args, is_textbook, &progress)?;
    if !is_textbook && matches!(args.spec.choice(), Choice::Auto) {
        let rule = spec.entry().info.name;
        ui::note(&format!(
            "note: this is {rule} with its defaults; `train` compares several and may choose another: draw its model with --model"
        ));
        if figure.name == "boundary" {
            ui::note(&run_drawn(rows.1.scaler.is_some(), &spec));
        }
    }
    progress.stage("training");
    Ok(Subject::of_data(figure, settings, source, rows, spec)?)
}

fn of_model_file(args: &Args, figure: &Figure, path: &Path) -> Result<Subject, Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let model = Model::load(path)?;
    figure.check_task(model.task())?;
    if matches!(figure.name, "weights" | "shapes") {
        model.check_room("a picture of the weights", 8)?;
    }
    if figure.needs == Needs::ModelOnly && (args.files.is_empty() || model.task() == Task::Tags) {
        if !args.files.is_empty() {
            let message = format!("`plot {}` shows the model alone; leave FILE out", figure.name);
            return Err(Failure::Usage(message));
        }
        args.data.read_nothing()?;
        if args.training_rows {
            return Err(FigureError::OtherRows.into());
        }
        return Ok(Subject::of_model_alone(name, model));
    }
    if args.files.is_empty() {
        let example = format!("rosenblatt plot {} FILE --model {}", figure.name, path.display());
        return Err(Failure::Usage(format!("`plot {}` needs a file of data, too: `{example}`", figure.name)));
    }
    if figure.name == "boundary" {
        model.check_room("a picture of the boundary", 32)?;
    }
    let read = model.to_evaluate(args.data.options()?);
    let source = Source::find_all(&args.files)?;
    let progress = Progress::new(true);
    progress.reading(&source, &read.meter, 1);
    let data = load_source(&source, &read)?;
    let subject = Subject::of_model(short_name(&source), data, model);
    let subject = if args.training_rows { subject.on_training_rows()? } else { subject };
    if matches!(figure.needs, Needs::HeldOut | Needs::Probabilities) && subject.judged_on == Judged::Learned {
        ui::note("note: these are the rows it was trained from: expect more errors on new ones");
    }
    Ok(subject)
}

/// The model that `train` makes of these files, and its predictions for held-out rows.
fn as_trained(args: &Args, source: &Source, progress: &Progress) -> Result<Subject, Failure> {
    let recipe = Recipe {
        reading: args.data.to_learn()?,
        learning: args.spec.asked()?,
        choice: args.spec.choice(),
        ..Recipe::default()
    };
    progress.stage("training");
    let model = recipe.train(source, &mut ())?.model;
    let data = load_source(source, &model.to_evaluate(args.data.options()?))?;
    Ok(Subject::of_model(short_name(source), data, model))
}

/// The data, how it was read, and what is to be learned from it.
fn material(
    args: &Args,
    as_textbook: bool,
    progress: &Progress,
) -> Result<(String, (Dataset, Schema), Spec), Failure> {
    let source = Source::find_all(&args.files)?;
    let read = if as_textbook { args.data.as_textbook().options()? } else { args.data.to_learn()? };
    progress.reading(&source, &read.meter, 1);
    let rows = load_with_schema(&source, &read)?;
    let words = if as_textbook { args.spec.as_textbook() } else { args.spec.clone() };
    let spec = words.spec()?;
    Ok((short_name(&source), rows, spec))
}

/// How the run that is drawn was made, and how to draw the one that `trace` prints, if that is another.
fn run_drawn(is_scaled: bool, spec: &Spec) -> String {
    let (order, readout) = (spec.order(), spec.readout());
    let scaled = if is_scaled { "scaled" } else { "not scaled" };
    let mut note = format!("note: rows {scaled}, order {order}, {readout} weights");
    if is_scaled || order != Order::Given || readout.to_string() != "last" {
        note.push_str("; for the run that `trace` prints: --readout last --order given --scale none");
    }
    note
}

fn short_name(source: &Source) -> String {
    match source.parts() {
        [only] => {
            let name = only.name();
            name.rsplit('/').next().unwrap_or(&name).to_owned()
        }
        parts => format!("{} files", count(parts.len() as u64)),
    }
}

/// Colours where a terminal shows them.
fn terminal(look: Option<Look>, to_stdout: bool) -> Terminal {
    Terminal { colour: to_stdout && ui::has_colours(), look }
}
