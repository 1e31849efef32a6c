//! A run step by step: the boundary before, the example that moved it, the boundary after.

use crate::boundary::{SUPPORT, Scene};
use crate::error::FigureError;
use crate::network;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::Subject;
use crate::words::counted;
use rosenblatt::learning::{Decision, Dense, Hyperplanes, Observer, Random, Round};
use rosenblatt::trace::trace;
use rosenblatt::{Spec, Training};
use rosenblatt_plot::{Boundary, Canvas, Picture, PlotError, Ruler, Verdict, note_lines, number};
use std::ops::ControlFlow;

/// How long a frame is seen.
pub(crate) const SECONDS: f64 = 2.0;
/// How many weights are spelled out.
const SPELLED_OUT: usize = 4;

pub(crate) const FRAMES: Setting = Setting {
    bare: "24",
    ..Setting::new(
        "frames",
        "the first N steps of a run. Each has the boundary before and after it",
        "",
        Takes::AtLeast(1),
    )
};
pub(crate) const STILL: Setting =
    Setting::switch("still", "lay frames out side by side instead of one after the other");

pub(crate) fn draw(
    subject: &Subject,
    settings: &Settings,
    n_frames: u64,
    canvas: Canvas,
) -> Result<Picture, FigureError> {
    if subject.spec.entry().network {
        return network::frames(subject, settings, n_frames, canvas);
    }
    if settings.switch(&SUPPORT)? {
        return Err(FigureError::Conflict { one: FRAMES.name, other: SUPPORT.name });
    }
    let data = &subject.data;
    let still = settings.switch(&STILL)?;
    let scene = Scene::new(subject, settings, None)?;
    // How the run ends, and how many steps it makes; none of its rounds is kept.
    let traced = trace(&subject.spec, data, 0..=0)?;
    let n_outputs = traced.outputs.len();
    let most = n_frames.clamp(1, traced.totals.updates.max(1));
    let mut watch = FirstSteps { most, n_outputs, steps: Vec::new() };
    Training::new(&subject.spec, data).run(&mut watch)?;
    let mut steps = watch.steps;
    // A row is shown to all outputs before a run ends, and may move several.
    steps.truncate(most as usize);
    if steps.is_empty() {
        return Err(PlotError::Nothing { what: "steps".to_owned() }.into());
    }
    let n_more = traced.totals.updates.saturating_sub(steps.len() as u64);
    let dots = scene.dots(data.classes());
    let all_notes = scene.notes(dots.len());
    let names = data.labels().names();
    let is_narrow = canvas.is_narrow();
    let canvas = if still { smaller(canvas) } else { canvas };
    let mut before =
        Hypothesis::new(&subject.spec, names.len(), &vec![(vec![0.0; data.width()], 0.0); n_outputs]);
    let mut frames = Vec::new();
    let mut legend = None;
    // Frames are laid out alike, whatever they say.
    let notes_of = |round: &Step| -> Vec<String> {
        std::iter::once(note(round, &traced.outputs)).chain(all_notes.iter().cloned()).collect()
    };
    let end = if n_more > 0 {
        let more = counted(n_more, "more step", "more steps");
        ("So far", format!("There are {more}."))
    } else {
        ("In the end", format!("The run {}.", became(&traced.ending_in_words(subject.spec.bias()))))
    };
    let room = steps.iter().map(|round| note_lines(&notes_of(round), canvas)).max().unwrap_or(0);
    let room = room.max(note_lines(std::slice::from_ref(&end.1), canvas));
    for round in &steps {
        let after = Hypothesis::new(&subject.spec, names.len(), &round.planes);
        let mut dots = dots.clone();
        if !dots.iter().any(|dot| dot.row == round.row) {
            dots.extend(scene.dot(round.row, data.classes()));
        }
        let (mut decide, mut decide_before) = (after.decides(&scene), before.decides(&scene));
        let title = format!("Round {}: a step along row {}", round.round, round.row + 1);
        let frame = Boundary {
            notes: notes_of(round),
            note_lines: room,
            before: Some(&mut decide_before),
            watched: Some(round.row),
            ring: "this example".to_owned(),
            ..scene.boundary(title, names, &dots, &mut decide)?
        };
        legend.get_or_insert_with(|| frame.keys());
        frames.push(frame.draw(canvas));
        drop((decide, decide_before));
        before = after;
    }
    let mut decide = before.decides(&scene);
    let (title, note) = end;
    let end = Boundary {
        notes: vec![note],
        note_lines: room,
        legend,
        ..scene.boundary(title.to_owned(), names, &dots, &mut decide)?
    };
    frames.push(end.draw(canvas));
    let title = settings.title(|| format!("Every step of a run, {}", subject.source));
    if still {
        let columns = if is_narrow || canvas.ruler == Ruler::Terminal { 1 } else { 2 };
        return Ok(Picture::sheet(&title, &[], frames, columns, canvas.ruler));
    }
    Ok(Picture { title, ..Picture::film(frames, SECONDS) })
}

/// A frame of a sheet; terminals and telephones show one below the other, as large as they are.
pub(crate) fn smaller(canvas: Canvas) -> Canvas {
    match canvas.ruler {
        Ruler::Paper if !canvas.is_narrow() => Canvas { width: 560.0, height: 420.0, ..canvas },
        _ => canvas,
    }
}

/// The ending as the end of a sentence.
fn became(ending: &str) -> String {
    match ending.strip_prefix("not converged") {
        Some(rest) => format!("has not converged{rest}"),
        None if ending.starts_with("after") => format!("repeats: {ending}"),
        None => ending.to_owned(),
    }
}

/// What happened in a round, in a line.
fn note(round: &Step, outputs: &[String]) -> String {
    let (weights, bias) = &round.planes[round.output];
    let more = if weights.len() > SPELLED_OUT { ", …" } else { "" };
    let weights: Vec<String> = weights.iter().take(SPELLED_OUT).map(|weight| number(*weight)).collect();
    let verdict = if round.mistaken { "a mistake" } else { "right, but close" };
    let asked =
        if outputs.len() > 1 { format!("Asked whether {}: ", outputs[round.output]) } else { String::new() };
    format!(
        "{asked}y f(x) = {}, {verdict}. Then w = ({}{more}), b = {}.",
        number(round.margin),
        weights.join(", "),
        number(*bias)
    )
}

/// A step of a run.
struct Step {
    round: u64,
    row: usize,
    output: usize,
    mistaken: bool,
    /// `y f(x)` before it.
    margin: f64,
    /// The weights and the bias of every output after it.
    planes: Vec<(Vec<f64>, f64)>,
}

/// Keeps the first steps of a run, and ends it then.
struct FirstSteps {
    most: u64,
    n_outputs: usize,
    steps: Vec<Step>,
}

impl Observer for FirstSteps {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        if round.step.is_none() {
            return ControlFlow::Continue(());
        }
        let Round { row, output, mistaken, .. } = *round;
        let margin = round.label * round.activation;
        let plane = |output| (round.hypothesis.weights(output), round.hypothesis.bias(output));
        let planes = (0..self.n_outputs).map(plane).collect();
        self.steps.push(Step { round: round.round, row, output, mistaken, margin, planes });
        if self.steps.len() as u64 >= self.most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Hyperplanes, and how they decide.
struct Hypothesis {
    planes: Hyperplanes,
    spec: Spec,
    n_classes: usize,
}

impl Hypothesis {
    fn new(spec: &Spec, n_classes: usize, planes: &[(Vec<f64>, f64)]) -> Self {
        let width = planes.first().map_or(0, |(weights, _)| weights.len());
        let weights = (0..width).flat_map(|feature| planes.iter().map(move |(weights, _)| weights[feature]));
        let biases = planes.iter().map(|(_, bias)| *bias).collect();
        Self { planes: Hyperplanes::from_parts(weights.collect(), biases), spec: spec.clone(), n_classes }
    }

    fn decides<'s>(&'s self, scene: &'s Scene<'_>) -> impl FnMut(f64, f64) -> Verdict + 's {
        let mut scores = vec![0.0; self.planes.n_outputs()];
        let mut row = Vec::new();
        let options = self.spec.options();
        let mut random = Random::for_purpose(options.seed, "predict");
        let decision = options.multiclass.decision(self.n_classes);
        move |x, y| {
            scene.row_into(x, y, &mut row);
            self.planes.scores(Dense(&row), &mut scores);
            let class = decision.name(&scores, options.zero, &mut random);
            Verdict { class: class as usize, margin: decision.margin(class, &scores).max(0.0) }
        }
    }
}
