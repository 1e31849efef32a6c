//! `rosenblatt plot KIND FILE...`: what was learned, and how, as a picture.
//!
//! Each kind is a file here and a line in [`KINDS`]: a function from a [`Subject`] and what is wished to a picture.
//! The engine computes what is shown, the plot crate draws it, and this file says where it goes.

mod boundary;
mod curves;
mod frames;
mod growth;
mod judged;
mod margins;
mod subject;
mod weights;

pub(super) use subject::Subject;

use crate::args::{DataArgs, SpecArgs, by_name, picture_size};
use crate::failure::Failure;
use crate::ui;
use clap::builder::PossibleValuesParser;
use rosenblatt::core::{Loss, Readout};
use rosenblatt::{check_writable, write_whole};
use rosenblatt_plot::{Canvas, Look, Picture, PlotError, Svg, Terminal};
use serde_json::json;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// A kind of picture.
struct Kind {
    name: &'static str,
    about: &'static str,
    /// What it is drawn from.
    needs: Needs,
    draw: fn(&Subject, &Wish, Canvas) -> Result<Picture, Failure>,
}

/// What a kind is drawn from, if no model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// A model that learned from all rows.
    Model,
    /// A model that learned from all rows but some, which it is judged on.
    HeldOut,
    /// A run of its own; no model will do.
    Run,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "boundary",
        about: "regions of the classes, the boundary, margin and mistakes",
        needs: Needs::Model,
        draw: boundary::draw,
    },
    Kind {
        name: "curves",
        about: "mistakes, errors and loss pass by pass, read-outs side by side",
        needs: Needs::Run,
        draw: curves::draw,
    },
    Kind {
        name: "mistakes",
        about: "mistakes so far against the bound (R/margin)^2",
        needs: Needs::Run,
        draw: growth::draw_mistakes,
    },
    Kind {
        name: "norms",
        about: "the length of the weights between its bounds",
        needs: Needs::Run,
        draw: growth::draw_norms,
    },
    Kind {
        name: "margins",
        about: "how far rows are from the boundary, as a histogram",
        needs: Needs::Model,
        draw: margins::draw,
    },
    Kind {
        name: "weights",
        about: "the strongest features as bars, or the weights of pixels as a picture",
        needs: Needs::Model,
        draw: weights::draw,
    },
    Kind {
        name: "roc",
        about: "how many are found at the price of how many false alarms",
        needs: Needs::HeldOut,
        draw: judged::draw_roc,
    },
    Kind {
        name: "confusion",
        about: "which classes are taken for which",
        needs: Needs::HeldOut,
        draw: judged::draw_confusion,
    },
];

fn kinds() -> PossibleValuesParser {
    let values = KINDS.iter().map(|kind| clap::builder::PossibleValue::new(kind.name).help(kind.about));
    PossibleValuesParser::new(values)
}

#[derive(clap::Args)]
#[command(
    after_help = "Without --model, a model is trained first, as `train` would, but for boundary, margins and
weights from all rows. Without --output, the picture is drawn in the terminal.

Examples:
  rosenblatt plot boundary points.csv                         in the terminal
  rosenblatt plot boundary points.csv -o points.svg
  rosenblatt plot boundary points.csv --frames -o steps.svg   every step of the run, as a film
  rosenblatt plot boundary data.csv --columns bill_length_mm,bill_depth_mm -o penguins.png
  rosenblatt plot boundary data.svm --principal -o data.svg
  rosenblatt plot curves mail.csv --readouts last,averaged,voted -o curves.svg
  rosenblatt plot mistakes points.csv --bias none -o bound.svg
  rosenblatt plot norms points.csv --bias none -o norms.svg
  rosenblatt plot margins mail.csv --model mail.model -o margins.png
  rosenblatt plot weights --model mail.model -o weights.svg
  rosenblatt plot roc test.csv --model mail.model -o roc.svg
  rosenblatt plot confusion data.svm --theme dark -o confusion.png"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types")]
pub(crate) struct Args {
    /// What is to be seen
    #[arg(value_name = "KIND", value_parser = kinds())]
    kind: String,
    /// Files, folders or patterns; `-` is stdin. `weights` of a model needs none
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// The model to be seen, instead of one that is trained first
    #[arg(long, short, value_name = "PATH")]
    model: Option<PathBuf>,
    /// Where the picture goes; its name ends in .svg, .png or .txt. `-` is stdout
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// How it is drawn, if the name does not tell: svg, png or text
    #[arg(long = "as", value_name = "FORM", value_parser = ["svg", "png", "text"])]
    form: Option<String>,
    /// Light or dark paper; auto follows the page or the system in SVG
    #[arg(long, value_name = "NAME", value_parser = ["auto", "light", "dark"], default_value = "auto")]
    theme: String,
    /// How large the picture is, in pixels; a PNG has twice as many each way
    #[arg(long, value_name = "WxH", value_parser = picture_size)]
    canvas: Option<(u32, u32)>,
    /// The title, instead of one that says what is seen
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// boundary: the two columns to be seen, by name or number; others are held at their mean
    #[arg(long, value_name = "A,B", value_delimiter = ',', conflicts_with = "principal")]
    columns: Vec<String>,
    /// boundary: see the two directions in which rows vary most; so it is for more than two features
    #[arg(long)]
    principal: bool,
    /// boundary: the first N steps of a run, 24 if not said: each with the boundary before and after it
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "24",
        conflicts_with = "model")]
    frames: Option<u64>,
    /// boundary: frame the rows that the run made a step for
    #[arg(long, conflicts_with_all = ["model", "frames"])]
    support: bool,
    /// curves: the read-outs to compare; last and averaged if not said
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = by_name::<Readout>)]
    readouts: Vec<Readout>,
    /// curves: zero-one, perceptron, hinge, logistic or squared
    #[arg(long, value_name = "NAME", value_parser = loss, default_value = "hinge")]
    loss: Loss,
    /// weights: how many features
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// weights: those of this class; of all classes if not said. mistakes, norms: this class against the rest
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// weights: draw them as pictures of this size
    #[arg(long, value_name = "WxH", value_parser = picture_size)]
    image: Option<(u32, u32)>,
    /// curves, roc, confusion: the share of rows set aside
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    holdout: f64,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    spec: SpecArgs,
    /// Print what was drawn as JSON, with the SVG in it if no file is named
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

fn loss(name: &str) -> Result<Loss, String> {
    Loss::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Loss::TABLE.iter().map(|(name, _)| *name).collect();
        format!("it should be one of {}", names.join(", "))
    })
}

/// What is wished of a picture; each kind looks at what concerns it.
pub(super) struct Wish {
    /// The title, instead of the kind's own.
    pub(super) title: Option<String>,
    /// Which plane a boundary is seen on.
    pub(super) plane: Plane,
    /// How many steps of the run are shown as frames.
    pub(super) frames: Option<u64>,
    /// Whether frames are laid out side by side instead of one after the other.
    pub(super) still: bool,
    pub(super) readouts: Vec<Readout>,
    pub(super) loss: Loss,
    /// The share of rows that learning curves set aside.
    pub(super) holdout: f64,
    /// How many features are shown.
    pub(super) top: usize,
    /// The class whose weights are shown, or that is told from the rest.
    pub(super) class: Option<String>,
    /// The size of the pictures that weights are drawn as.
    pub(super) image: Option<(usize, usize)>,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            title: None,
            plane: Plane::Found,
            frames: None,
            still: false,
            readouts: Vec::new(),
            loss: Loss::Hinge,
            holdout: 0.2,
            top: 20,
            class: None,
            image: None,
        }
    }
}

/// Which plane a boundary is seen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plane {
    /// That of two features if there are no more, else the principal one.
    Found,
    /// That of two columns.
    Columns(String, String),
    /// The one in which rows vary most.
    Principal,
}

/// The picture of a kind. Fails if there is no such kind.
pub(super) fn picture(
    kind: &str,
    subject: &Subject,
    wish: &Wish,
    canvas: Canvas,
) -> Result<Picture, Failure> {
    (find(kind)?.draw)(subject, wish, canvas)
}

fn find(kind: &str) -> Result<&'static Kind, Failure> {
    let found = KINDS.iter().find(|known| known.name == kind);
    found.ok_or_else(|| Failure::Usage(format!("there is no plot of `{kind}`")))
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        Self::Work(error.to_string())
    }
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Text,
}

impl Args {
    fn form(&self) -> Result<Form, Failure> {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        let extension = extension.map(|extension| extension.to_string_lossy().to_lowercase());
        match (self.form.as_deref(), extension.as_deref()) {
            (Some("svg"), _) | (None, Some("svg")) => Ok(Form::Svg),
            (Some("png"), _) | (None, Some("png")) => Ok(Form::Png),
            (Some(_), _) | (None, Some("txt")) => Ok(Form::Text),
            (None, None) if self.output.is_none() => Ok(if self.json { Form::Svg } else { Form::Text }),
            _ => Err(Failure::Usage(
                "the name of `--output` should end in .svg, .png or .txt, or `--as` tell the form".to_owned(),
            )),
        }
    }

    fn wish(&self, form: Form) -> Result<Wish, Failure> {
        let plane = match self.columns.as_slice() {
            [] if self.principal => Plane::Principal,
            [] => Plane::Found,
            [across, up] => Plane::Columns(across.clone(), up.clone()),
            others => {
                let message =
                    format!("`--columns` should be two, for instance 1,2, but are {}", others.len());
                return Err(Failure::Usage(message));
            }
        };
        if !(0.0..1.0).contains(&self.holdout) {
            let message = format!("`--holdout` should be at least 0 and below 1, but is {}", self.holdout);
            return Err(Failure::Usage(message));
        }
        Ok(Wish {
            title: self.title.clone(),
            plane,
            frames: self.frames,
            still: form != Form::Svg,
            readouts: self.readouts.clone(),
            loss: self.loss,
            holdout: self.holdout,
            top: self.top.max(1),
            class: self.class.clone(),
            image: self.image.map(|(width, height)| (width as usize, height as usize)),
        })
    }

    fn canvas(&self, form: Form) -> Canvas {
        if let (Some((width, height)), Form::Svg | Form::Png) = (self.canvas, form) {
            return Canvas { width: f64::from(width), height: f64::from(height), ..Canvas::default() };
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
    let kind = find(&args.kind)?;
    let form = args.form()?;
    let wish = args.wish(form)?;
    args.spec.spec()?;
    if form == Form::Png && !args.json && args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "a PNG is nothing for a terminal; say where it goes with `--output`".to_owned(),
        ));
    }
    let path = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = path {
        check_writable(path)?;
    }
    let subject = subject::subject(args, kind)?;
    let mut picture = picture(kind.name, &subject, &wish, args.canvas(form))?;
    if let Some(title) = &wish.title {
        picture.title.clone_from(title);
    }
    let look = match args.theme.as_str() {
        "light" => Some(Look::Light),
        "dark" => Some(Look::Dark),
        _ => None,
    };
    let bytes = match form {
        Form::Svg => picture.svg(&Svg { look, ..Svg::default() }).into_bytes(),
        Form::Png => picture.png(look.unwrap_or_default(), 2.0),
        Form::Text => picture.text(terminal(look, args.output.is_none())).into_bytes(),
    };
    if args.json {
        let name = match form {
            Form::Svg => "svg",
            Form::Png => "png",
            Form::Text => "text",
        };
        if let Some(path) = path {
            write_whole(path, &bytes)?;
        }
        let inside = if path.is_none() { String::from_utf8(bytes).ok() } else { None };
        let report = json!({
            "kind": kind.name, "title": picture.title, "notes": picture.description, "form": name,
            "width": picture.width, "height": picture.height,
            "file": path.map(|path| path.display().to_string()), "picture": inside,
        });
        return ui::print(&format!("{report}\n"));
    }
    let Some(path) = path else { return ui::print_bytes(&bytes) };
    write_whole(path, &bytes)?;
    ui::note(&format!("{}: {} ({})", kind.name, path.display(), ui::bytes(bytes.len() as u64)));
    Ok(())
}

/// Colours where a terminal shows them and nobody minds (see no-color.org).
fn terminal(look: Option<Look>, to_stdout: bool) -> Terminal {
    let minds = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let colour = to_stdout && std::io::stdout().is_terminal() && !minds && !is_dumb;
    // Terminals that tell their colours at all tell them as `text;paper`; 7 and 15 are white.
    let paper = std::env::var("COLORFGBG").unwrap_or_default();
    let is_light = paper.ends_with(";15") || paper.ends_with(";7");
    Terminal { colour, look: look.unwrap_or(if is_light { Look::Light } else { Look::Dark }) }
}
