//! Networks on a plane: the lines of hidden units, how they combine, a run as a film, and what ever more units can do.

use crate::boundary::Scene;
use crate::error::FigureError;
use crate::frames::{SECONDS, STILL, smaller};
use crate::settings::Settings;
use crate::subject::Subject;
use crate::words::{counted, percent};
use rosenblatt::layers::{Activation, Network};
use rosenblatt::learning::memory::Other;
use rosenblatt::learning::{Epoch, Observer, Random, Readout, Snapshot};
use rosenblatt::options::NetworkOptions;
use rosenblatt::{Dataset, Options, Spec, Training, train};
use rosenblatt_plot::{Boundary, Canvas, Ink, Key, Picture, PlotError, Swatch, Verdict, note_lines, number};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// More lines than this hide each other.
const MOST_LINES: usize = 16;
/// How many units are spelled out.
const SPELLED_OUT: usize = 4;

/// The lines on which the first hidden units change sides, on the plane of both features of a scene; none where there
/// are more features, or too many units.
pub(crate) fn lines(network: &Network, scene: &Scene<'_>) -> Vec<[f64; 3]> {
    let sizes = network.sizes();
    let Some((across, up)) = scene.columns() else { return Vec::new() };
    if sizes.len() < 3 || sizes[0] != 2 || across == up || sizes[1] > MOST_LINES {
        return Vec::new();
    }
    let line = |unit: usize| {
        let [across, up] = [across, up].map(|input| network.weight(0, input, unit));
        // What the model sees is linear in what is drawn.
        let (origin, right, above) = (scene.seen(0.0, 0.0), scene.seen(1.0, 0.0), scene.seen(0.0, 1.0));
        let (a, b) = (across * (right.0 - origin.0), up * (above.1 - origin.1));
        [a, b, network.biases(0)[unit] + across * origin.0 + up * origin.1]
    };
    (0..sizes[1]).map(line).collect()
}

/// The class of a row, and its lead.
fn verdict(network: &Network, row: &[f64]) -> Verdict {
    let mut scores = vec![0.0; network.n_outputs()];
    network.scores(&mut row.iter().copied().enumerate(), &mut scores);
    if let [score] = scores[..] {
        return Verdict { class: usize::from(score > 0.0), margin: score.abs() };
    }
    let best = (1..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best });
    let others = scores.iter().enumerate().filter(|(class, _)| *class != best);
    let next = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    Verdict { class: best, margin: scores[best] - next }
}

/// The legend of a picture with a curve that is to be found.
fn keys(classes: &[String]) -> Vec<Key> {
    let classes = classes.iter().enumerate();
    let mut keys: Vec<Key> =
        classes.map(|(class, name)| Key::new(Swatch::Class(class), name.clone())).collect();
    keys.push(Key::new(Swatch::Line(Ink::Faint, true), "the curve"));
    keys.push(Key::new(Swatch::Line(Ink::Text, false), "boundary"));
    keys
}

/// Networks on their way: those after some epochs, the more the earlier.
struct Film {
    wanted: Vec<u64>,
    kept: Vec<(u64, Network)>,
}

impl Observer for Film {
    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        if self.wanted.contains(&epoch.number)
            && let Some(kept) = run.read(Readout::Last)
            && let Some(network) = Network::of(&kept)
        {
            self.kept.push((epoch.number, network.clone()));
        }
        ControlFlow::Continue(())
    }
}

/// A run of a network, epoch by epoch: the lines of its hidden units, and the boundary they make together.
pub(crate) fn frames(
    subject: &Subject,
    settings: &Settings,
    n_frames: u64,
    canvas: Canvas,
) -> Result<Picture, FigureError> {
    let still = settings.switch(&STILL)?;
    let scene = Scene::new(subject, settings, None)?;
    let epochs = subject.spec.options().epochs;
    let place = |frame: u64| (epochs as f64).powf(frame as f64 / n_frames.max(2).saturating_sub(1) as f64);
    let mut wanted: Vec<u64> = (0..n_frames.max(2)).map(|frame| place(frame).round() as u64).collect();
    wanted.dedup();
    let mut film = Film { wanted, kept: Vec::new() };
    Training::new(&subject.spec, &subject.data).run(&mut film)?;
    let names = subject.data.labels().names();
    let canvas = if still { smaller(canvas) } else { canvas };
    let notes: Vec<Vec<String>> =
        film.kept.iter().map(|(_, network)| notes(network, &scene, subject)).collect();
    let room = notes.iter().map(|notes| note_lines(notes, canvas)).max().unwrap_or(0);
    let mut pictures = Vec::new();
    for ((epoch, network), notes) in film.kept.iter().zip(notes) {
        let mut dots = scene.dots(subject.data.classes());
        let mut row = Vec::new();
        let mut decide = |x: f64, y: f64| {
            scene.row_into(x, y, &mut row);
            verdict(network, &row)
        };
        for dot in &mut dots {
            dot.mistaken = decide(dot.x, dot.y).class != dot.class;
        }
        let title = format!("After {}", counted(*epoch, "epoch", "epochs"));
        let frame = Boundary {
            notes,
            note_lines: room,
            lines: lines(network, &scene),
            normal: false,
            spacing: 3.0,
            ..scene.boundary(title, names, &dots, &mut decide)?
        };
        // Frames are laid out alike, whatever they show.
        let mut keys = frame.keys();
        if !dots.iter().any(|dot| dot.mistaken) {
            keys.push(Key::new(Swatch::Ring, "mistake"));
        }
        pictures.push(Boundary { legend: Some(keys), ..frame }.draw(canvas));
    }
    if pictures.is_empty() {
        return Err(PlotError::Nothing { what: "epochs".to_owned() }.into());
    }
    let title = settings.title(|| format!("A network learns, {}", subject.source));
    if still {
        let columns = if canvas.width < 600.0 { 2 } else { 1 };
        return Ok(Picture::sheet(&title, &[], pictures, columns, canvas.ruler));
    }
    Ok(Picture { title, ..Picture::film(pictures, SECONDS) })
}

/// What the hidden units are, and how they combine.
fn notes(network: &Network, scene: &Scene<'_>, subject: &Subject) -> Vec<String> {
    let sizes = network.sizes();
    let mut notes = Vec::new();
    if sizes.len() == 3 && sizes[0] <= 2 && sizes[1] <= SPELLED_OUT && sizes[2] == 1 {
        let sum = |terms: Vec<(f64, String)>, bias: f64| {
            let mut text = String::new();
            for (weight, name) in terms {
                let sign = if weight < 0.0 {
                    "- "
                } else if text.is_empty() {
                    ""
                } else {
                    "+ "
                };
                let _ = write!(text, "{sign}{} {name} ", number(short(weight.abs())));
            }
            format!("{text}{} {}", if bias < 0.0 { "-" } else { "+" }, number(short(bias.abs())))
        };
        let units: Vec<String> = (0..sizes[1])
            .map(|unit| {
                let terms =
                    (0..sizes[0]).map(|input| (network.weight(0, input, unit), subject.feature_name(input)));
                let sum = sum(terms.collect(), network.biases(0)[unit]);
                format!("h{} = {}({sum})", unit + 1, network.activation())
            })
            .collect();
        let terms = (0..sizes[1]).map(|unit| (network.weight(1, unit, 0), format!("h{}", unit + 1)));
        notes.push(format!("{}.", units.join(", ")));
        notes.push(format!("f = {}.", sum(terms.collect(), network.biases(1)[0])));
    }
    let n_rows = subject.data.len();
    notes.extend(scene.notes(n_rows));
    notes
}

/// Two decimals are enough to follow.
fn short(number: f64) -> f64 {
    (100.0 * number).round() / 100.0
}

/// A network of this many units, to find a curve with.
fn spec(units: usize) -> Result<Spec, FigureError> {
    let params = BTreeMap::from([("batch".to_owned(), 30.0), ("weight-decay".to_owned(), 0.0)]);
    let network = NetworkOptions {
        sizes: Some(vec![units]),
        activation: Activation::Tanh,
        ..NetworkOptions::default()
    };
    Ok(Spec::new(Options {
        algorithm: rosenblatt::layers::INFO.name.to_owned(),
        params,
        rate: Some(rosenblatt::learning::Schedule::Constant(0.01)),
        network: Some(network),
        validation: None,
        epochs: 300,
        ..Options::default()
    })?)
}

/// The curve that is to be found.
fn curve(x: f64) -> f64 {
    let bump = |height: f64, at: f64| height / (1.0 + 9.0 * (x - at) * (x - at));
    bump(1.9, -1.8) + bump(-1.6, -0.6) + bump(1.5, 0.8) + bump(-1.3, 2.1)
}

/// How close networks come to a curve.
#[derive(Debug, Clone)]
pub struct Approximation {
    /// A network after the other.
    pub film: Picture,
    /// All side by side.
    pub sheet: Picture,
    /// How many hidden units each network has, and which share of the plane it puts on the wrong side.
    pub errors: Vec<(usize, f64)>,
}

/// Universal approximation: a curve, found by networks of ever more hidden units. `begins` hears of each network how many
/// units it has, and which share of the work is done before it.
pub fn approximation(
    canvas: Canvas,
    mut begins: impl FnMut(usize, f64),
) -> Result<Approximation, FigureError> {
    const UNITS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
    /// More rows would hide the curve.
    const SHOWN: usize = 150;
    let mut random = Random::new(1);
    let mut place = || [6.0 * random.unit() - 3.0, 3.6 * random.unit() - 1.8];
    let side = |row: &[f64; 2]| if row[1] > curve(row[0]) { "above" } else { "below" };
    let rows: Vec<[f64; 2]> = (0..1_200).map(|_| place()).collect();
    let others: Vec<[f64; 2]> = (0..4_000).map(|_| place()).collect();
    let data = Dataset::from_rows(&rows, &rows.iter().map(side).collect::<Vec<_>>())
        .with_feature_names(["x", "y"].map(str::to_owned).to_vec());
    let names = data.labels().names().to_vec();
    let canvases = [canvas, smaller(canvas)];
    let (mut pictures, mut errors) = ([Vec::new(), Vec::new()], Vec::new());
    // Drawing a network takes about as long as training twenty units.
    let cost = |units: usize| (units + 20) as f64;
    let all: f64 = UNITS.iter().map(|units| cost(*units)).sum();
    for units in UNITS {
        begins(units, errors.iter().map(|(units, _)| cost(*units)).sum::<f64>() / all);
        let model = train(&spec(units)?, &data)?;
        let Some(network) = model.network() else { continue };
        let is_wrong = |row: &&[f64; 2]| names[verdict(network, &row[..]).class] != side(row);
        let wrong = others.iter().filter(is_wrong).count() as f64 / others.len() as f64;
        let mut decide = |x: f64, y: f64| verdict(network, &[x, y]);
        let mut truth = |x: f64, y: f64| {
            let above = y - curve(x);
            Verdict { class: usize::from(above < 0.0), margin: above.abs() }
        };
        let title = counted(units as u64, "hidden unit", "hidden units");
        let settings = Settings::default();
        let subject = Subject::of_model("curve", data.clone(), model.clone());
        let scene = Scene::new(&subject, &settings, None)?;
        let mut dots = scene.dots(data.classes());
        dots.truncate(SHOWN);
        for (canvas, pictures) in canvases.into_iter().zip(&mut pictures) {
            let picture = Boundary {
                notes: vec![format!("{} of the plane is on the wrong side.", percent(wrong))],
                before: Some(&mut truth),
                legend: Some(keys(&names)),
                normal: false,
                spacing: 3.0,
                ..scene.boundary(title.clone(), &names, &dots, &mut decide)?
            };
            pictures.push(picture.draw(canvas));
        }
        errors.push((units, wrong));
    }
    let title = "A curve, found by ever more hidden units";
    let [frames, tiles] = pictures;
    Ok(Approximation {
        film: Picture { title: title.to_owned(), ..Picture::film(frames, SECONDS) },
        sheet: Picture::sheet(title, &[], tiles, 2, canvas.ruler),
        errors,
    })
}
