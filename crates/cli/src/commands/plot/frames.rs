//! A run step by step: the boundary before, the example that moved it, the boundary after.

use super::boundary::Scene;
use super::{Subject, Wish};
use crate::commands::trace::ending;
use crate::failure::Failure;
use crate::ui::counted;
use rosenblatt::core::{Binary, Decision, Dense, Planes, Random};
use rosenblatt::{Spec, TracedRound, trace};
use rosenblatt_plot::{Boundary, Canvas, Picture, PlotError, Ruler, Verdict, note_lines, number};

/// How long a frame is seen.
const SECONDS: f64 = 2.0;
/// How many weights are spelled out.
const SPELLED_OUT: usize = 4;

pub(super) fn draw(subject: &Subject, wish: &Wish, canvas: Canvas) -> Result<Picture, Failure> {
    let data = &subject.data;
    let scene = Scene::new(subject, &wish.plane)?;
    let traced = trace(&subject.spec, data, 1..=u64::MAX)?;
    let most = usize::try_from(wish.frames.unwrap_or(u64::MAX)).unwrap_or(usize::MAX).max(1);
    let steps: Vec<&TracedRound> = traced.rounds.iter().filter(|round| round.step.is_some()).collect();
    if steps.is_empty() {
        return Err(PlotError::Nothing { what: "steps".to_owned() }.into());
    }
    let dots = scene.dots(data.classes());
    let all_notes = scene.notes(dots.len());
    let names = data.labels().names();
    let canvas = if wish.still { smaller(canvas) } else { canvas };
    let n_scorers = traced.scorers.len();
    let mut planes = vec![(vec![0.0; data.width()], 0.0); n_scorers];
    let mut frames = Vec::new();
    let mut legend = None;
    // Frames are laid out alike, whatever they say.
    let shown = || steps.iter().take(most);
    let notes_of = |round: &TracedRound| -> Vec<String> {
        std::iter::once(told(round, &traced.scorers)).chain(all_notes.iter().cloned()).collect()
    };
    let end = if steps.len() > most {
        let more = counted((steps.len() - most) as u64, "more step", "more steps");
        ("So far", format!("There are {more}; `--frames=N` shows them."))
    } else {
        ("In the end", format!("The run {}.", became(&ending(&traced, subject.spec.bias()))))
    };
    let room = shown().map(|round| note_lines(&notes_of(round), canvas)).max().unwrap_or(0);
    let room = room.max(note_lines(std::slice::from_ref(&end.1), canvas));
    for round in shown() {
        let before = Hypothesis::new(&subject.spec, names.len(), &planes);
        planes[round.scorer] = (round.weights.clone(), round.bias);
        let after = Hypothesis::new(&subject.spec, names.len(), &planes);
        let mut dots = dots.clone();
        for dot in &mut dots {
            dot.mistaken = dot.row == round.row;
        }
        let (mut decide, mut decide_before) = (after.decides(&scene), before.decides(&scene));
        let title = format!("Round {}: a step along row {}", round.round, round.row + 1);
        let frame = Boundary {
            notes: notes_of(round),
            note_lines: room,
            before: Some(&mut decide_before),
            ring: "this example".to_owned(),
            ..scene.boundary(title, names, &dots, &mut decide)?
        };
        legend.get_or_insert_with(|| frame.keys());
        frames.push(frame.draw(canvas));
    }
    let last = Hypothesis::new(&subject.spec, names.len(), &planes);
    let mut decide = last.decides(&scene);
    let (title, note) = end;
    let end = Boundary {
        notes: vec![note],
        note_lines: room,
        legend,
        ..scene.boundary(title.to_owned(), names, &dots, &mut decide)?
    };
    frames.push(end.draw(canvas));
    let title = wish.title.clone().unwrap_or_else(|| format!("Every step of a run, {}", subject.source));
    if wish.still {
        let columns = if canvas.width < 600.0 { 2 } else { 1 };
        return Ok(Picture::sheet(&title, &[], frames, columns, canvas.ruler));
    }
    Ok(Picture { title, ..Picture::film(frames, SECONDS) })
}

/// A frame of a sheet; a terminal shows one below the other, as large as it is.
fn smaller(canvas: Canvas) -> Canvas {
    match canvas.ruler {
        Ruler::Paper => Canvas { width: 560.0, height: 420.0, ..canvas },
        Ruler::Terminal => canvas,
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
fn told(round: &TracedRound, scorers: &[String]) -> String {
    let weights: Vec<String> = round.weights.iter().take(SPELLED_OUT).map(|weight| number(*weight)).collect();
    let more = if round.weights.len() > SPELLED_OUT { ", …" } else { "" };
    let verdict = if round.mistaken { "a mistake" } else { "right, but close" };
    let asked =
        if scorers.len() > 1 { format!("Asked whether {}: ", scorers[round.scorer]) } else { String::new() };
    format!(
        "{asked}y f(x) = {}, {verdict}. Then w = ({}{more}), b = {}.",
        number(round.side * round.activation),
        weights.join(", "),
        number(round.bias)
    )
}

/// Hyperplanes, and how they decide.
struct Hypothesis {
    planes: Planes,
    spec: Spec,
    n_classes: usize,
}

impl Hypothesis {
    fn new(spec: &Spec, n_classes: usize, planes: &[(Vec<f64>, f64)]) -> Self {
        let width = planes.first().map_or(0, |(weights, _)| weights.len());
        let weights = (0..width).flat_map(|feature| planes.iter().map(move |(weights, _)| weights[feature]));
        let biases = planes.iter().map(|(_, bias)| *bias).collect();
        Self { planes: Planes::from_parts(weights.collect(), biases), spec: spec.clone(), n_classes }
    }

    fn decides<'s>(&'s self, scene: &'s Scene<'_>) -> impl FnMut(f64, f64) -> Verdict + 's {
        let mut scores = vec![0.0; self.planes.n_scorers()];
        let mut row = Vec::new();
        let options = self.spec.options();
        let mut random = Random::for_purpose(options.seed, "predict");
        let many = options.multiclass.decision(self.n_classes);
        move |x, y| {
            let (x, y) = scene.seen(x, y);
            scene.slice.row_into(x, y, &mut row);
            self.planes.scores(Dense(&row), &mut scores);
            let (class, lead) = if scores.len() == 1 {
                let class = Binary.name(&scores, options.zero, &mut random);
                (class, Binary.lead(class, &scores))
            } else {
                let class = many.name(&scores, options.zero, &mut random);
                (class, many.lead(class, &scores))
            };
            Verdict { class: class as usize, lead: lead.max(0.0) }
        }
    }
}
