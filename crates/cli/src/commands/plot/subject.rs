//! What a picture is about: data, and a model that was loaded or is trained first.

use super::{Args, Kind, Needs};
use crate::args::decide_scale;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::ui::{count, counted};
use rosenblatt::core::{Observer, Round};
use rosenblatt::data::{Scaler, Scaling, Schema};
use rosenblatt::{Dataset, Labels, Model, Spec, Training, matched, split};
use rosenblatt_data::{Source, load_with_schema};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Data and a model.
pub(in crate::commands) struct Subject {
    /// What the data is called.
    pub(in crate::commands) source: String,
    /// The rows, as the model sees them. Without any, only the model is seen.
    pub(in crate::commands) data: Dataset,
    /// What is to be learned, where a picture needs a run of its own.
    pub(in crate::commands) spec: Spec,
    /// The model; none if the picture needs a run of its own.
    pub(in crate::commands) model: Option<Model>,
    /// How rows were scaled before the model saw them.
    pub(in crate::commands) scaler: Option<Scaler>,
    /// The rows the model is judged on.
    pub(in crate::commands) rows: Vec<u32>,
    /// What those rows are, in a few words.
    pub(in crate::commands) judged: String,
    /// For each row, whether the run made a step for it, if that was watched.
    pub(in crate::commands) support: Option<Vec<bool>>,
}

impl Subject {
    /// A model, and data whose rows it is judged on.
    pub(in crate::commands) fn of_model(source: String, data: Dataset, model: Model) -> Self {
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        Self {
            source,
            spec: model.spec().clone(),
            scaler: model.schema().and_then(|schema| schema.scaler.clone()),
            judged: counted(rows.len() as u64, "row", "rows"),
            rows,
            data,
            model: Some(model),
            support: None,
        }
    }

    /// The model; an error if there is none.
    pub(super) fn model(&self) -> Result<&Model, Failure> {
        self.model.as_ref().ok_or_else(|| Failure::Work("this picture needs a model".to_owned()))
    }

    /// How it was learned, in a few words.
    pub(super) fn learner(&self) -> String {
        format!("{}, {}", self.spec.entry().info.name, self.spec.readout())
    }

    /// The classes of the model, then those only the data has, and the class of each row among them.
    pub(super) fn classes(&self, model: &Model) -> (Labels, Vec<u32>) {
        let (labels, numbers) = matched(model, &self.data);
        let classes = self.data.classes().iter().map(|&class| numbers[class as usize]).collect();
        (labels, classes)
    }

    /// For each row, whether the model gives it another class than its own.
    pub(super) fn mistakes(&self, model: &Model) -> Vec<bool> {
        let (_, classes) = self.classes(model);
        model.predict_all(&self.data).into_iter().zip(classes).map(|(given, class)| given != class).collect()
    }

    /// What a feature is called.
    pub(super) fn feature_name(&self, feature: usize) -> String {
        let named = self.data.feature_names().and_then(|names| names.get(feature));
        let named = named.or_else(|| self.model.as_ref()?.feature_names()?.get(feature));
        named.cloned().unwrap_or_else(|| format!("feature {}", feature + 1))
    }

    /// From the numbers the model sees of a feature to those of the file: a factor, and what is added then.
    pub(super) fn units(&self, feature: usize) -> (f64, f64) {
        let Some(scaler) = self.scaler.as_ref().filter(|scaler| scaler.scaling != Scaling::UnitNorm) else {
            return (1.0, 0.0);
        };
        let factor = scaler.scale.get(feature).copied().unwrap_or(1.0);
        (factor, scaler.shift.get(feature).copied().unwrap_or(0.0))
    }
}

/// Reads the data, and loads or trains the model.
pub(super) fn subject(args: &Args, kind: &Kind) -> Result<Subject, Failure> {
    if let Some(path) = &args.model {
        if kind.needs == Needs::Run {
            let message = format!(
                "`plot {}` shows a run, which a model does not keep; leave `--model` out to train one",
                kind.name
            );
            return Err(Failure::Usage(message));
        }
        return of_model_file(args, kind, path);
    }
    if args.files.is_empty() {
        return Err(Failure::Usage("there should be a file of data, or a model with `--model`".to_owned()));
    }
    let (source, data, schema, spec) = material(args, kind)?;
    let scaler = schema.scaler.clone();
    let all: Vec<u32> = (0..data.len() as u32).collect();
    let judged = counted(data.len() as u64, "row", "rows");
    let mut subject = Subject { source, data, spec, model: None, scaler, rows: all, judged, support: None };
    if kind.needs == Needs::Run || args.frames.is_some() {
        return Ok(subject);
    }
    let progress = Progress::new(args.quiet);
    progress.stage("training");
    let held_out = kind.needs == Needs::HeldOut && args.holdout > 0.0;
    let (learned, held) = if held_out {
        split(&subject.data, args.holdout, subject.spec.options().seed)
    } else {
        (subject.rows.clone(), Vec::new())
    };
    let mut steps = Steps(args.support.then(|| vec![false; subject.data.len()]));
    let training = Training::new(&subject.spec, &subject.data).rows(&learned).schema(Arc::new(schema));
    subject.model = Some(training.run(&mut steps)?);
    subject.support = steps.0;
    if held_out && !held.is_empty() {
        subject.judged = format!("{} that were not learned from", counted(held.len() as u64, "row", "rows"));
        subject.rows = held;
    } else {
        subject.judged = format!("{} it learned from", counted(learned.len() as u64, "row", "rows"));
    }
    Ok(subject)
}

fn of_model_file(args: &Args, kind: &Kind, path: &std::path::Path) -> Result<Subject, Failure> {
    let model = Model::load(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if args.files.is_empty() && kind.name == "weights" {
        return Ok(Subject::of_model(name, Dataset::from_rows::<[f64; 0], &str>(&[], &[]), model));
    }
    if args.files.is_empty() {
        return Err(Failure::Usage(format!("`plot {}` needs a file of data, too", kind.name)));
    }
    let read = model.to_evaluate(args.data.options()?);
    let source = Source::find_all(&args.files)?;
    let progress = Progress::new(args.quiet);
    progress.reading(&source, &read.meter, 1);
    let (data, _) = load_with_schema(&source, &read)?;
    Ok(Subject::of_model(short_name(&source), data, model))
}

/// The data, how it was read, and what is to be learned from it.
fn material(args: &Args, kind: &Kind) -> Result<(String, Dataset, Schema, Spec), Failure> {
    // Steps, and what is proved of them, are shown as a textbook has them: `trace` prints the same numbers.
    let as_textbook = args.frames.is_some() || ["mistakes", "norms"].contains(&kind.name);
    let source = Source::find_all(&args.files)?;
    let progress = Progress::new(args.quiet);
    let (data, schema) = if as_textbook {
        let read = args.data.as_textbook().options()?;
        progress.reading(&source, &read.meter, 1);
        load_with_schema(&source, &read)?
    } else {
        let (source, read) = decide_scale(&args.data, &source, args.data.options()?)?;
        progress.reading(&source, &read.meter, 1);
        load_with_schema(&source, &read)?
    };
    let words = if as_textbook { args.spec.as_textbook() } else { args.spec.clone() };
    let spec = words.spec(data.len())?;
    Ok((short_name(&source), data, schema, spec))
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

/// Notes which rows a run makes a step for, if that is wanted.
struct Steps(Option<Vec<bool>>);

impl Observer for Steps {
    fn wants_rounds(&self) -> bool {
        self.0.is_some()
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        if let (Some(rows), Some(_)) = (&mut self.0, round.step) {
            rows[round.row] = true;
        }
        ControlFlow::Continue(())
    }
}
