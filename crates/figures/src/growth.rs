//! The convergence proof as pictures: mistakes below their bound, and weights that grow between theirs.

use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::Subject;
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt::curves::{Growth, growth};
use rosenblatt::learning::{Bias, Stopped};
use rosenblatt::recipe::with_positive;
use rosenblatt::separation::certified_margin;
use rosenblatt_plot::{Canvas, Level, Lines, Picture, PlotError, Range, Series, number};
use std::time::Duration;

/// How long a margin is looked for.
const MOST_TIME: Duration = Duration::from_secs(5);
/// How many rows take a while to be decided.
const MANY_ROWS: usize = 20_000;

pub(crate) const MISTAKES: Figure = Figure {
    name: "mistakes",
    about: "mistakes so far against the bound (R/margin)^2",
    needs: Needs::Run,
    tasks: &[Task::Classes],
    textbook: true,
    settings: &[POSITIVE],
    draw: draw_mistakes,
};
pub(crate) const NORMS: Figure = Figure {
    name: "norms",
    about: "the length of the weights between its bounds",
    needs: Needs::Run,
    tasks: &[Task::Classes],
    textbook: true,
    settings: &[POSITIVE],
    draw: draw_norms,
};
const POSITIVE: Setting = Setting::new("positive", "this class against the rest", "", Takes::Class);

/// The run, and the margin that is certified for its rows, if any is.
fn run(subject: &Subject, settings: &Settings) -> Result<(Growth, Option<f64>, Vec<String>), FigureError> {
    let chosen;
    let data = if let Some(class) = settings.get(POSITIVE.name) {
        chosen = with_positive(subject.data.clone(), class)?;
        &chosen
    } else {
        &subject.data
    };
    let n_classes = data.labels().len();
    if n_classes != 2 {
        return Err(FigureError::NotTwoClasses { classes: data.labels().names().to_vec() });
    }
    let (model, growth) = growth(&subject.spec, data)?;
    if growth.points.is_empty() {
        return Err(PlotError::Nothing { what: "steps".to_owned() }.into());
    }
    if !growth.plain {
        let name = subject.spec.entry().info.name;
        let note =
            format!("The steps of {name} are not of one length, so the textbook's bounds do not apply.");
        return Ok((growth, None, vec![note]));
    }
    // A run that came to no end on many rows tells that a search would not, either.
    let is_hopeless = model.training_summary().stopped != Stopped::Clean && data.len() > MANY_ROWS;
    let margin = if is_hopeless { None } else { certified_margin(data, subject.spec.bias(), MOST_TIME)? };
    let note = match margin {
        Some(margin) => format!(
            "R = {} is the length of the longest row, γ = {} the largest margin, certified{}.",
            number(growth.radius),
            number(margin),
            // Both are other numbers then than those of the rows alone.
            if subject.spec.bias() == Bias::None {
                ""
            } else {
                ", both with the bias as a feature of its own"
            }
        ),
        None => "No hyperplane is known to separate these rows, so no bound is known either.".to_owned(),
    };
    Ok((growth, margin, vec![note]))
}

/// The class against the rest, if one was chosen, and the file.
fn sides(subject: &Subject, settings: &Settings) -> String {
    let class = settings.get(POSITIVE.name).filter(|_| subject.data.labels().len() > 2);
    class.map_or_else(
        || subject.source.clone(),
        |class| format!("{class} against the rest, {}", subject.source),
    )
}

fn draw_mistakes(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let (growth, margin, notes) = run(subject, settings)?;
    let mut points = vec![(0.0, 0.0)];
    for point in &growth.points {
        // Mistakes are made in a round, not between two.
        let before = points.last().map_or(0.0, |last| last.1);
        points.push((point.round as f64, before));
        points.push((point.round as f64, point.mistakes as f64));
    }
    points.push((growth.rounds as f64, growth.mistakes as f64));
    let bound = margin.map(|margin| (growth.radius / margin).powi(2));
    let levels = bound.map(|bound| Level { name: format!("(R/γ)² = {}", number(bound)), value: bound });
    let name = subject.spec.entry().info.name;
    let title = settings.title(|| format!("Mistakes of the {name}, {}", sides(subject, settings)));
    let series = vec![Series::new("mistakes", points).bare()];
    let lines = Lines {
        notes,
        levels: levels.into_iter().collect(),
        whole: (true, true),
        ..Lines::new(title, "rounds", "mistakes so far", series)
    };
    Ok(lines.draw(canvas)?)
}

fn draw_norms(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let (growth, margin, notes) = run(subject, settings)?;
    let norms = growth.points.iter().map(|point| (point.steps as f64, point.norm));
    let norms = std::iter::once((0.0, 0.0)).chain(norms).collect();
    let mut series = vec![Series::new("|w|", norms)];
    let last = growth.points.last().map_or(1.0, |point| point.steps as f64);
    if growth.plain {
        let steps: Vec<f64> = (0..=200).map(|k| last * f64::from(k) / 200.0).collect();
        let above = steps.iter().map(|step| (*step, growth.radius * step.sqrt())).collect();
        series.push(Series::new("at most R √M", above).dashed().colour(1));
        if let Some(margin) = margin {
            let below = vec![(0.0, 0.0), (last, margin * last)];
            series.push(Series::new("at least γ M", below).dashed().colour(2));
        }
    }
    let name = subject.spec.entry().info.name;
    let title = settings.title(|| format!("Weights of the {name} grow, {}", sides(subject, settings)));
    let lines = Lines {
        notes,
        whole: (true, false),
        at_least: (Some(Range { low: 0.0, high: last }), Some(Range { low: 0.0, high: 0.0 })),
        ..Lines::new(title, "steps M", "length of the weights", series)
    };
    Ok(lines.draw(canvas)?)
}
