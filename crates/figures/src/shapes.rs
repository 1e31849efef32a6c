//! The curve of every column that bends: how much its values add to a score, and how many rows have them; of every column of
//! categories, a bar for each. After them what pairs of columns add together, in one scale of colours.

use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::Subject;
use crate::weights::sides;
use crate::words::percent;
use crate::{Figure, Needs};
use rosenblatt::data::Visitor;
use rosenblatt::insight::{Cross, Curve, Levels, crosses, curves, levels};
use rosenblatt::learning::{Examples, Row};
use rosenblatt::{Error, Model, Task};
use rosenblatt_plot::{
    Axis, Bar, Bars, Canvas, Hue, Level, Lines, Picture, PlotError, Range, Ruler, Series, Surface, number,
};
use std::fmt::Write as _;

pub(crate) const FIGURE: Figure = Figure {
    name: "shapes",
    about: "how much the values of each column add to the score or number, how many rows have them, and what crosses add; for models that bend",
    needs: Needs::Model,
    tasks: &[Task::Classes, Task::Numbers],
    textbook: false,
    settings: &[TOP, CLASS],
    draw,
};

/// More categories of a column than this are not drawn.
const MOST_BARS: usize = 12;

/// A value this many lengths of the others away from them is drawn at the edge.
const FAR: f64 = 3.0;

const TOP: Setting = Setting::new(
    "top",
    "how many columns, and how many crosses, those that matter most",
    "6",
    Takes::AtLeast(1),
);
const CLASS: Setting =
    Setting::new("class", "the curves in favour of this class; of the last by default", "", Takes::Class);

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let names = model.labels().names();
    let class = match settings.get(CLASS.name) {
        Some(name) => {
            let unknown = || Error::UnknownClass { name: name.to_owned(), known: names.to_vec() };
            model.labels().class(name).ok_or_else(unknown)?
        }
        None => names.len() as u32 - 1,
    };
    let most = settings.parsed(&TOP, |text| text.parse().ok().filter(|most| *most > 0))?.unwrap_or(1);
    let columns = ranked(model, class, subject);
    let levels = ranked_levels(model, class, subject);
    if columns.is_empty() {
        let what = "columns that bend, but all of this model's are straight: `weights` draws those, and a model trained \
                    with shape bend(knots=4) bends";
        return Err(PlotError::Nothing { what: what.to_owned() }.into());
    }
    let (up, moved) = match model.task() {
        Task::Numbers => ("more", names[class as usize].as_str()),
        _ => ("for", "scores"),
    };
    let up = format!("Up: {up} {}; 0 is the mean.", names[class as usize]);
    let mut notes = vec![format!("{}.", subject.learner()), up];
    let n_columns = columns.len() + levels.len();
    if n_columns > most {
        notes.push(format!("The {most} of {n_columns} columns that matter most; `top` shows more."));
    }
    let mut pairs = ranked_crosses(model, class, subject);
    if !pairs.is_empty() {
        let shown = match pairs.len() {
            n_pairs if n_pairs > most => format!(", the {most} of {n_pairs} pairs that matter most"),
            _ => String::new(),
        };
        notes.push(format!(
            "Colours: what two columns add together, beside their curves{shown}; 0 is the mean of the rows."
        ));
        pairs.truncate(most);
    }
    let strongest = pairs.iter().map(Together::strongest).fold(0.0, f64::max);
    let n_panels = n_columns.min(most) + pairs.len();
    let is_alone = n_panels == 1 || canvas.ruler == Ruler::Terminal || canvas.is_narrow();
    let (width, height) = if is_alone {
        (canvas.width, canvas.height * 0.7)
    } else {
        (canvas.width * 0.65, canvas.height * 0.6)
    };
    let canvas_of_panel = Canvas { width, height, ..canvas };
    let hues = sides(model, class);
    let mut panels = Vec::new();
    for pair in pairs {
        panels.push(pair.draw(&columns, (moved, strongest, hues), canvas_of_panel)?);
    }
    let mut drawn = Vec::new();
    for column in columns {
        drawn.push((column.importance, column.draw(class, moved, canvas_of_panel)?));
    }
    for column in levels {
        drawn.push((column.importance, column.draw(hues, moved, canvas_of_panel)?));
    }
    drawn.sort_by(|a, b| b.0.total_cmp(&a.0));
    drawn.truncate(most);
    let mut curves: Vec<Picture> = drawn.into_iter().map(|(_, panel)| panel).collect();
    curves.append(&mut panels);
    let title = settings.title(|| format!("Curves, {}", subject.source));
    Ok(Picture::sheet(&title, &notes, curves, if is_alone { 1 } else { 2 }, canvas.ruler))
}

/// A curve, and the rows that it was looked at with.
struct Shown {
    curve: Curve,
    /// The values of the rows, as far as the knots tell.
    values: Vec<f64>,
    /// The mean of how much the column moves a score.
    importance: f64,
}

/// The curves of a class, those first that move scores most over the rows.
fn ranked(model: &Model, class: u32, subject: &Subject) -> Vec<Shown> {
    struct Values<'a>(&'a Model, &'a [Curve], &'a [u32]);
    impl Visitor for Values<'_> {
        type Output = Vec<Vec<f64>>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            let Self(model, curves, rows) = self;
            let mut all = vec![Vec::new(); curves.len()];
            let Some(schema) = model.schema() else { return all };
            for &row in rows {
                let entries: Vec<(usize, f64)> = examples.row(row as usize).entries().collect();
                for (curve, values) in curves.iter().zip(&mut all) {
                    let run = &curve.features;
                    let own = entries.iter().filter(|(feature, _)| run.contains(feature));
                    let hats = own.map(|(feature, hat)| (feature - run.start, *hat));
                    values.extend(schema.bent_column(run.start).and_then(|(_, bend)| bend.value_of(hats)));
                }
            }
            all
        }
    }
    let all = curves(model, class);
    let values = subject.data.visit(Values(model, &all, &subject.rows));
    let mut shown: Vec<Shown> = all
        .into_iter()
        .zip(values)
        .map(|(curve, values)| {
            let heights: Vec<f64> = values.iter().map(|value| curve.height(*value)).collect();
            Shown { curve, importance: mean_and_importance(&heights).1, values }
        })
        .collect();
    shown.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    shown
}

/// The mean of what is added to rows, and the mean of how far it is from that.
fn mean_and_importance(heights: &[f64]) -> (f64, f64) {
    let n_rows = heights.len().max(1) as f64;
    let mean = heights.iter().sum::<f64>() / n_rows;
    (mean, heights.iter().map(|height| (height - mean).abs()).sum::<f64>() / n_rows)
}

/// What the categories of a column add, and how many rows have each.
struct Counted {
    levels: Levels,
    counts: Vec<usize>,
    importance: f64,
}

fn ranked_levels(model: &Model, class: u32, subject: &Subject) -> Vec<Counted> {
    struct Places<'a>(&'a [Levels], &'a [u32]);
    impl Visitor for Places<'_> {
        type Output = Vec<Vec<usize>>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            let Self(levels, rows) = self;
            let mut all: Vec<Vec<usize>> =
                levels.iter().map(|column| vec![0; column.heights.len()]).collect();
            for &row in rows {
                let entries: Vec<(usize, f64)> = examples.row(row as usize).entries().collect();
                for (column, counts) in levels.iter().zip(&mut all) {
                    if let Some(place) = column.of_row(entries.iter().copied()) {
                        counts[place] += 1;
                    }
                }
            }
            all
        }
    }
    let all = levels(model, class);
    let counts = subject.data.visit(Places(&all, &subject.rows));
    let counted = |(levels, counts): (Levels, Vec<usize>)| {
        let n_rows = counts.iter().sum::<usize>().max(1) as f64;
        let shares = counts.iter().zip(&levels.heights);
        let importance = shares.map(|(n, (_, height))| *n as f64 * height.abs()).sum::<f64>() / n_rows;
        Counted { levels, counts, importance }
    };
    all.into_iter().zip(counts).map(counted).collect()
}

impl Counted {
    fn draw(self, hues: [Hue; 2], moved: &str, canvas: Canvas) -> Result<Picture, PlotError> {
        let Self { levels, counts, importance } = self;
        let n_rows = counts.iter().sum::<usize>().max(1) as f64;
        let mut bars: Vec<(usize, Bar)> = levels
            .heights
            .into_iter()
            .zip(counts)
            .map(|((name, value), n)| {
                let name = format!("{name} ({})", percent(n as f64 / n_rows));
                (n, Bar { name, value })
            })
            .collect();
        let n_categories = bars.len();
        let mut title = format!("{}: moves {moved} by {} in the mean", levels.column, number(importance));
        if n_categories > MOST_BARS {
            bars.sort_by_key(|bar| std::cmp::Reverse(bar.0));
            bars.truncate(MOST_BARS);
            let _ = write!(title, "; the {MOST_BARS} most frequent of {n_categories}");
        }
        bars.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
        let bars = bars.into_iter().map(|(_, bar)| bar).collect();
        Bars { title, notes: Vec::new(), bars, inks: hues.map(Hue::ink) }.draw(canvas)
    }
}

/// What two columns add together.
struct Together {
    cross: Cross,
    /// What it adds to rows in the mean.
    mean: f64,
    importance: f64,
}

/// The crosses of a class, those first that move scores most over the rows.
fn ranked_crosses(model: &Model, class: u32, subject: &Subject) -> Vec<Together> {
    struct Heights<'a>(&'a [Cross], &'a [u32]);
    impl Visitor for Heights<'_> {
        type Output = Vec<Vec<f64>>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            let Self(crosses, rows) = self;
            let mut all = vec![Vec::new(); crosses.len()];
            for &row in rows {
                let entries: Vec<(usize, f64)> = examples.row(row as usize).entries().collect();
                for (cross, heights) in crosses.iter().zip(&mut all) {
                    heights.push(cross.of_row(entries.iter().copied()));
                }
            }
            all
        }
    }
    let all = crosses(model, class);
    let heights = subject.data.visit(Heights(&all, &subject.rows));
    let together = |(cross, heights): (Cross, Vec<f64>)| {
        let (mean, importance) = mean_and_importance(&heights);
        Together { cross, mean, importance }
    };
    let mut shown: Vec<Together> = all.into_iter().zip(heights).map(together).collect();
    shown.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    shown
}

impl Together {
    /// How far it is from its mean at most.
    fn strongest(&self) -> f64 {
        let [one, other] = self.cross.knots();
        let corners = one.iter().flat_map(|x| other.iter().map(move |y| [*x, *y]));
        corners.map(|corner| (self.cross.height(corner) - self.mean).abs()).fold(0.0, f64::max)
    }

    fn draw(
        &self,
        columns: &[Shown],
        (moved, strongest, hues): (&str, f64, [Hue; 2]),
        canvas: Canvas,
    ) -> Result<Picture, PlotError> {
        let Self { cross, mean, importance } = self;
        let [one, other] = &cross.columns;
        let axis = |name: &String, knots: &[f64]| {
            let of_rows = columns.iter().find(|shown| shown.curve.column == *name);
            let most = of_rows.and_then(|shown| Range::of_most(shown.values.iter().copied(), false, FAR));
            let range = most.map_or_else(|| Range::of(name, knots.iter().copied()), Ok)?;
            Ok::<Axis, PlotError>(Axis::new(name, range))
        };
        let [x, y] = cross.knots();
        let height = |x: f64, y: f64| cross.height([x, y]) - mean;
        let title = format!("{one} and {other}: move {moved} by {} in the mean", number(*importance));
        let surface = Surface {
            title,
            notes: Vec::new(),
            x: axis(one, x)?,
            y: axis(other, y)?,
            height: &height,
            strongest,
            hues,
        };
        surface.draw(canvas)
    }
}

impl Shown {
    fn draw(self, class: u32, moved: &str, canvas: Canvas) -> Result<Picture, PlotError> {
        let Self { curve, values, importance } = self;
        let mut levels = vec![Level { name: String::new(), value: 0.0 }];
        levels.extend(curve.missing.map(|value| Level { name: "missing".to_owned(), value }));
        let title = format!("{}: moves {moved} by {} in the mean", curve.column, number(importance));
        let series = Series::new("", curve.points).colour(class as usize).bare();
        let lines = Lines {
            levels,
            may_be_log: false,
            below: values,
            ..Lines::new(title, curve.column, "adds", vec![series])
        };
        lines.draw(canvas)
    }
}
