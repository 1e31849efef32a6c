//! What a model goes by: its strongest features as bars, or the weights of pixels as pictures.

use super::{Subject, Wish};
use crate::failure::Failure;
use rosenblatt::data::Scaling;
use rosenblatt::{Model, feature_name, weights_for};
use rosenblatt_plot::{Bar, Bars, Canvas, Heat, Ink, Picture, PlotError, Ruler, Tile};

/// More classes than this are not drawn at once.
const MOST_TILES: usize = 20;
const MOST_PANELS: usize = 6;

pub(super) fn draw(subject: &Subject, wish: &Wish, canvas: Canvas) -> Result<Picture, Failure> {
    let model = subject.model()?;
    let names = model.labels().names();
    let classes: Vec<u32> = match &wish.class {
        Some(name) => vec![model.labels().class(name).ok_or_else(|| {
            let known: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
            Failure::Work(format!("there is no class `{name}`; there are {}", known.join(", ")))
        })?],
        // One hyperplane tells two classes apart: its other side is the same picture, upside down.
        None if names.len() == 2 => vec![1],
        None => (0..names.len() as u32).collect(),
    };
    let mut notes = vec![format!("{}.", subject.learner())];
    match subject.scaler.as_ref().map(|scaler| scaler.scaling) {
        None | Some(Scaling::None) => {}
        Some(Scaling::UnitNorm) => notes.push("Rows are scaled to length 1 first.".to_owned()),
        Some(_) => {
            notes.push("Features are brought to one scale first, so their weights compare.".to_owned());
        }
    }
    let size = wish.image.or_else(|| {
        let picture = model.schema()?.picture?;
        (picture.channels == 1).then_some((picture.width, picture.height))
    });
    let title = wish.title.clone().unwrap_or_else(|| format!("Weights, {}", subject.source));
    if let Some((width, height)) = size {
        if width * height != model.width() {
            return Err(Failure::Work(format!(
                "pictures of {width}x{height} have {} pixels, but the model has {} features",
                width * height,
                model.width()
            )));
        }
        return tiles(model, &classes, width, (title, notes), canvas);
    }
    bars(model, &classes, wish.top, (title, notes), canvas)
}

fn tiles(
    model: &Model,
    classes: &[u32],
    width: usize,
    (title, mut notes): (String, Vec<String>),
    canvas: Canvas,
) -> Result<Picture, Failure> {
    if classes.len() > MOST_TILES {
        notes
            .push(format!("The first {MOST_TILES} of {} classes; `--class` chooses another.", classes.len()));
    }
    let tiles = classes.iter().take(MOST_TILES).filter_map(|&class| {
        let values = weights_for(model, class)?;
        Some(Tile { name: model.labels().name(class).to_owned(), width, values })
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
) -> Result<Picture, Failure> {
    let n_panels = classes.len().min(MOST_PANELS);
    let most = if n_panels > 1 { most.div_ceil(2) } else { most };
    let mut panels = Vec::new();
    for &class in classes.iter().take(n_panels) {
        let Some(weights) = weights_for(model, class) else { continue };
        let mut features: Vec<usize> =
            (0..weights.len()).filter(|&feature| weights[feature] != 0.0).collect();
        features.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
        features.truncate(most);
        features.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let bars = features
            .into_iter()
            .map(|feature| Bar { name: feature_name(model, feature), value: weights[feature] });
        let bars: Vec<Bar> = bars.collect();
        if bars.is_empty() {
            continue;
        }
        let name = model.labels().name(class);
        let (title, notes) = if n_panels == 1 {
            let sides = match model.labels().names() {
                [first, second] if second == name => {
                    format!("To the right: for {second}; to the left: for {first}.")
                }
                _ => format!("To the right: for {name}; to the left: against it."),
            };
            (title.clone(), notes.iter().cloned().chain([sides]).collect())
        } else {
            (format!("For and against {name}"), Vec::new())
        };
        // As everywhere, a class has its colour; what is merely against one has none.
        let against = if model.labels().len() == 2 { Ink::Class(1 - class as usize) } else { Ink::Faint };
        let inks = [against, Ink::Class(class as usize)];
        let width =
            if n_panels == 1 || canvas.ruler == Ruler::Terminal { canvas.width } else { canvas.width * 0.65 };
        panels.push(Bars { title, notes, bars, inks }.draw(Canvas { width, ..canvas })?);
    }
    match panels.len() {
        0 => Err(PlotError::Nothing { what: "weights that are not zero".to_owned() }.into()),
        1 => Ok(panels.remove(0)),
        _ => {
            let columns = if canvas.ruler == Ruler::Terminal { 1 } else { 2 };
            if classes.len() > n_panels {
                notes.push(format!(
                    "The first {n_panels} of {} classes; `--class` chooses another.",
                    classes.len()
                ));
            }
            Ok(Picture::sheet(&title, &notes, panels, columns, canvas.ruler))
        }
    }
}
