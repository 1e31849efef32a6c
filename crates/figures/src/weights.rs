//! What a model goes by: its strongest features as bars, or the weights of pixels as pictures.

use crate::error::{FigureError, named};
use crate::settings::{Setting, Settings, Takes, size};
use crate::subject::Subject;
use crate::words::name_with_share;
use crate::{Figure, Needs};
use rosenblatt::data::Scaling;
use rosenblatt::insight::{centred_weights, curves, weights_for};
use rosenblatt::{Error, Model, Task};
use rosenblatt_plot::{Bar, Bars, Canvas, Heat, Hue, Picture, PlotError, Ruler, Tile};

/// More classes than this are not drawn at once.
const MOST_TILES: usize = 40;
const MOST_PANELS: usize = 6;

pub(crate) const FIGURE: Figure = Figure {
    name: "weights",
    about: "the top features as bars, or the weights of pixels as a picture",
    needs: Needs::ModelOnly,
    tasks: &[Task::Classes, Task::Numbers],
    textbook: false,
    settings: &[TOP, CLASS, IMAGE],
    draw,
};

const TOP: Setting = Setting::new("top", "how many features", "20", Takes::AtLeast(1));
const CLASS: Setting =
    Setting::new("class", "the weights of this class; of all classes by default", "", Takes::Class);
const IMAGE: Setting = Setting::new("image", "draw them as pictures of this size", "", Takes::Size);

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let names = model.labels().names();
    let classes: Vec<u32> = match settings.get(CLASS.name) {
        Some(name) => {
            let unknown = || Error::UnknownClass { name: name.to_owned(), known: names.to_vec() };
            vec![model.labels().class(name).ok_or_else(unknown)?]
        }
        // One hyperplane tells two classes apart: its other side is the same picture, upside down.
        None if names.len() == 2 => vec![1],
        None => (0..names.len() as u32).collect(),
    };
    let mut notes = vec![format!("{}.", subject.learner())];
    match subject.scaler.as_ref().map(|scaler| scaler.scaling) {
        None | Some(Scaling::None) => {}
        Some(Scaling::UnitNorm) => notes.push("Rows are scaled to length 1 first.".to_owned()),
        Some(_) => notes.push("Columns of numbers are brought to one scale first.".to_owned()),
    }
    let size = settings.parsed(&IMAGE, size)?.or_else(|| {
        let picture = model.schema()?.picture?;
        (picture.channels == 1).then_some((picture.width, picture.height))
    });
    let title = settings.title(|| format!("Weights, {}", subject.source));
    if let Some((width, height)) = size {
        if width.checked_mul(height) != Some(model.width()) {
            return Err(FigureError::NotPixels { width, height, features: model.width() });
        }
        return tiles(model, &classes, width, (title, notes), canvas);
    }
    let bent: Vec<String> = curves(model, 0).into_iter().map(|curve| curve.column).collect();
    if !bent.is_empty() {
        notes.push(format!("`shapes` draws the columns that bend: {}.", named(&bent)));
    }
    if !model.variations().is_empty() {
        notes.push(
            "A bar is a weight times the spread of its feature: what it contributes to scores.".to_owned(),
        );
    }
    let most = settings.parsed(&TOP, |text| text.parse().ok().filter(|most| *most > 0))?.unwrap_or(1);
    bars(model, &classes, most, (title, notes), canvas)
}

/// The colours of what is against a class, and for it. As everywhere, a class has its colour; what is merely against one
/// has none.
pub(crate) fn sides(model: &Model, class: u32) -> [Hue; 2] {
    let against = if model.labels().len() == 2 { Hue::Class(1 - class as usize) } else { Hue::Plain };
    [against, Hue::Class(class as usize)]
}

fn tiles(
    model: &Model,
    classes: &[u32],
    width: usize,
    (title, mut notes): (String, Vec<String>),
    canvas: Canvas,
) -> Result<Picture, FigureError> {
    if classes.len() > MOST_TILES {
        notes.push(format!("The first {MOST_TILES} of {} classes; `class` chooses another.", classes.len()));
    }
    let tiles = classes.iter().take(MOST_TILES).filter_map(|&class| {
        let values = weights_for(model, class)?;
        Some(Tile { name: model.labels().name(class).to_owned(), width, values, hues: sides(model, class) })
    });
    let meaning = ["against", "for"].map(str::to_owned);
    Ok(Heat { title, notes, meaning, tiles: tiles.collect() }.draw(canvas)?)
}

fn bars(
    model: &Model,
    classes: &[u32],
    most: usize,
    (title, mut notes): (String, Vec<String>),
    canvas: Canvas,
) -> Result<Picture, FigureError> {
    let n_panels = classes.len().min(MOST_PANELS);
    let most = if n_panels > 1 { most.div_ceil(2) } else { most };
    let shown: Vec<(u32, Vec<Bar>)> = classes
        .iter()
        .take(n_panels)
        .filter_map(|&class| Some((class, strongest(model, class, most)?)))
        .filter(|(_, bars)| !bars.is_empty())
        .collect();
    let is_alone = n_panels == 1 || canvas.ruler == Ruler::Terminal || canvas.is_narrow();
    let width = if is_alone { canvas.width } else { canvas.width * 0.65 };
    let mut panels = Vec::new();
    for (class, bars) in shown {
        let name = model.labels().name(class);
        let (title, notes) = if n_panels == 1 {
            let sides = match model.labels().names() {
                [first, second] if second == name => {
                    format!("To the right: for {second}; to the left: for {first}.")
                }
                _ if model.task() == Task::Numbers => {
                    format!("To the right: raises {name}; to the left: lowers it.")
                }
                _ => format!("To the right: for {name}; to the left: against it."),
            };
            (title.clone(), notes.iter().cloned().chain([sides]).collect())
        } else {
            (format!("For and against {name}"), Vec::new())
        };
        let inks = sides(model, class).map(Hue::ink);
        panels.push(Bars { title, notes, bars, inks });
    }
    if panels.is_empty() {
        let all_bend = !curves(model, 0).is_empty();
        let what = if all_bend {
            "columns that do not bend, but all of this model's do: `plot shapes` draws their curves"
        } else {
            "weights that are not zero"
        };
        return Err(PlotError::Nothing { what: what.to_owned() }.into());
    }
    let mut panels = Bars::draw_alike(&panels, Canvas { width, ..canvas })?;
    if panels.len() == 1 {
        return Ok(panels.remove(0));
    }
    if classes.len() > n_panels {
        notes.push(format!("The first {n_panels} of {} classes; `class` chooses another.", classes.len()));
    }
    let columns = if canvas.ruler == Ruler::Terminal || canvas.is_narrow() { 1 } else { 2 };
    Ok(Picture::sheet(&title, &notes, panels, columns, canvas.ruler))
}

/// The features that contribute most for or against a class, those for it first: weight times spread, where that is known.
fn strongest(model: &Model, class: u32, most: usize) -> Option<Vec<Bar>> {
    let mut weights = centred_weights(model, class)?;
    for (feature, weight) in weights.iter_mut().enumerate() {
        *weight *= model.weight_scale(feature);
    }
    let is_bent = |feature| model.schema().is_some_and(|schema| schema.bent_column(feature).is_some());
    let mut features: Vec<usize> =
        (0..weights.len()).filter(|&feature| weights[feature] != 0.0 && !is_bent(feature)).collect();
    features.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
    features.truncate(most);
    features.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let bar = |feature: usize| Bar { name: name_with_share(model, feature), value: weights[feature] };
    Some(features.into_iter().map(bar).collect())
}
