//! What a picture is about: data, and a model that was loaded or is trained first.

use crate::boundary::SUPPORT;
use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::words::{count, counted, file_name};
use crate::{Figure, Needs};
use rosenblatt::calibration::Method;
use rosenblatt::certify::{Certificate, Claim};
use rosenblatt::data::{Scaler, Scaling, Schema};
use rosenblatt::evaluate::{evaluate_rows, matched};
use rosenblatt::learning::{Hyperplanes, Observer, Readout, Round};
use rosenblatt::misclassified::{Misclassified, misclassified};
use rosenblatt::model::{HeldNumbers, HeldOut};
use rosenblatt::recipe::with_positive;
use rosenblatt::separation::verify;
use rosenblatt::slice::sample;
use rosenblatt::split::split;
use rosenblatt::{Dataset, Error, Evaluation, Labels, Model, Online, Options, Spec, Training, train};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Which rows a model is judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// Those of its data that it has not learned from.
    SetAside,
    /// Those of its data that were held out when it was judged, by the same training without them.
    HeldOut,
    /// Those it was trained on: what it learned from, and what decided when to stop.
    Learned,
    /// Others than those it learned from.
    Others,
}

impl Judged {
    /// For programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::SetAside | Self::HeldOut => "held-out rows",
            Self::Learned => "training rows",
            Self::Others => "other rows",
        }
    }

    /// For people.
    pub fn sentence(self, n_rows: u64) -> String {
        let rows = counted(n_rows, "row", "rows");
        match self {
            Self::SetAside => {
                format!("judged on the {rows} of its own data that were held out before it learned")
            }
            Self::HeldOut => {
                let rows = counted(n_rows, "held-out row", "held-out rows");
                format!("judged on {rows} of its own data, each by the same training without it")
            }
            Self::Learned => {
                format!("judged on the {rows} it was trained on: expect more errors on new rows")
            }
            Self::Others => format!("judged on {rows} that are not the data it was trained on"),
        }
    }
}

/// Data and a model.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What the data is called: a file without its folders, for which a title has no room.
    pub source: String,
    /// The rows, as the model sees them. Without any, only the model is seen.
    pub data: Dataset,
    /// What is to be learned, where a picture needs a run of its own.
    pub spec: Spec,
    /// The model; none if the picture needs a run of its own.
    pub model: Option<Model>,
    /// How rows were scaled before the model saw them.
    pub scaler: Option<Scaler>,
    /// The rows the model is judged on.
    pub rows: Vec<u32>,
    /// What those rows are, in a few words.
    pub judged: String,
    /// Which of all rows they are.
    pub judged_on: Judged,
    /// What was predicted of them by trainings that did not learn from them, if that is what it is judged by.
    pub held_out: Option<Arc<HeldOut>>,
    /// The same where numbers are predicted.
    pub numbers: Option<Arc<HeldNumbers>>,
    /// For each row, whether the run made a step for it, if that was watched.
    pub support: Option<Vec<bool>>,
    /// What the hyperplane is, in a few words, where it was not learned by the spec.
    pub named: Option<String>,
    /// What the rows that `support` frames are, where the run made no step for them.
    pub framed: Option<String>,
}

impl Subject {
    /// A model, and data whose rows it is judged on. Of the data that it learned from, these are the rows that were held out
    /// when it was judged, as far as it knows of them.
    pub fn of_model(source: impl Into<String>, data: Dataset, model: Model) -> Self {
        let mut rows: Vec<u32> = (0..data.len() as u32).collect();
        let summary = model.training_summary();
        let is_refitted = summary.estimate.is_some_and(|estimate| estimate.refitted);
        let is_split_at_random = summary.time.is_none() && summary.group.is_none();
        let (mut held_out, mut numbers) = (None, None);
        let judged_on = if data.is_empty() || !model.is_of(&data) {
            Judged::Others
        } else if let Some(share) = summary.held_out.filter(|_| !is_refitted && is_split_at_random) {
            (_, rows) = split(&data, share, model.spec().options().seed);
            Judged::SetAside
        } else if let Some(known) = model.held_out() {
            rows = known.rows().to_vec();
            held_out = Some(Arc::clone(known));
            Judged::HeldOut
        } else if let Some(known) = model.held_numbers() {
            rows.clone_from(&known.rows);
            numbers = Some(Arc::clone(known));
            Judged::HeldOut
        } else {
            Judged::Learned
        };
        let judged = match judged_on {
            Judged::Others => counted(rows.len() as u64, "row", "rows"),
            _ => format!("{} {}", count(rows.len() as u64), judged_on.word()),
        };
        Self {
            source: file_name(&source.into()).to_owned(),
            spec: model.spec().clone(),
            scaler: model.schema().and_then(|schema| schema.scaler.clone()),
            judged,
            judged_on,
            held_out,
            numbers,
            rows,
            data,
            model: Some(model),
            support: None,
            named: None,
            framed: None,
        }
    }

    /// A model, and nothing else.
    pub fn of_model_alone(source: impl Into<String>, model: Model) -> Self {
        Self::of_model(source, Dataset::from_rows::<[f64; 0], &str>(&[], &[]), model)
    }

    /// The same, judged on the rows that the model learned from; an error if these are others.
    pub fn on_training_rows(self) -> Result<Self, FigureError> {
        let mut rows: Vec<u32> = (0..self.data.len() as u32).collect();
        match self.judged_on {
            Judged::Others => return Err(FigureError::OtherRows),
            Judged::Learned => return Ok(self),
            Judged::SetAside => rows.retain(|row| self.rows.binary_search(row).is_err()),
            Judged::HeldOut => {}
        }
        let judged = format!("{} {}", count(rows.len() as u64), Judged::Learned.word());
        Ok(Self { rows, judged, judged_on: Judged::Learned, held_out: None, numbers: None, ..self })
    }

    /// What is right and wrong of the rows it is judged on.
    pub(crate) fn evaluation(&self, model: &Model) -> Result<Evaluation, Error> {
        match &self.held_out {
            Some(held_out) => {
                let mut evaluation = held_out.evaluation(model.labels());
                evaluation.folds = model.training_summary().folds.unwrap_or(1);
                Ok(evaluation)
            }
            None => evaluate_rows(model, &self.data, &self.rows),
        }
    }

    /// What is predicted of the rows it is judged on, where that is numbers, and how far off that is.
    pub(crate) fn numbers(&self, model: &Model) -> Result<Arc<HeldNumbers>, Error> {
        match &self.numbers {
            Some(numbers) => Ok(Arc::clone(numbers)),
            None => model.judge_numbers(&self.data, &self.rows).map(Arc::new),
        }
    }

    /// The rows it is judged on that were given the wrong class, the most confident mistakes first.
    pub(crate) fn misclassified(&self, model: &Model) -> Vec<Misclassified> {
        match &self.held_out {
            Some(held_out) => held_out.misclassified(),
            None => misclassified(model, &self.data, &self.rows),
        }
    }

    /// Data, and what is to be learned from it: what `figure` shows of that is trained here, from all rows or from
    /// all but those it is judged on.
    pub fn of_data(
        figure: &Figure,
        settings: &Settings,
        source: impl Into<String>,
        (data, schema): (Dataset, Schema),
        spec: Spec,
    ) -> Result<Self, FigureError> {
        settings.check(figure)?;
        figure.check_task(spec.task())?;
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        let judged = counted(data.len() as u64, "row", "rows");
        let (source, scaler) = (file_name(&source.into()).to_owned(), schema.scaler.clone());
        let subject = Self {
            source,
            data,
            spec,
            model: None,
            scaler,
            rows,
            judged,
            judged_on: Judged::Others,
            held_out: None,
            numbers: None,
            support: None,
            named: None,
            framed: None,
        };
        if figure.needs_run(settings) {
            return Ok(subject);
        }
        let is_judged = matches!(figure.needs, Needs::HeldOut | Needs::Probabilities);
        let share = if is_judged { holdout(settings)? } else { 0.0 };
        let (learned, held) = if share > 0.0 {
            split(&subject.data, share, subject.spec.options().seed)
        } else {
            (subject.rows.clone(), Vec::new())
        };
        // Probabilities are fitted on rows that are neither learned from nor judged on.
        let (fitted, learned) = if figure.needs == Needs::Probabilities {
            let chosen = sample(learned.len(), learned.len().div_ceil(FITTED), subject.spec.options().seed);
            let fitted: Vec<u32> = chosen.iter().map(|&place| learned[place]).collect();
            let learned = learned.into_iter().filter(|row| fitted.binary_search(row).is_err()).collect();
            (fitted, learned)
        } else {
            (Vec::new(), learned)
        };
        let mut steps = Steps(settings.switch(&SUPPORT)?.then(|| vec![false; subject.data.len()]));
        let training = Training::new(&subject.spec, &subject.data).rows(&learned).schema(Arc::new(schema));
        let mut model = training.run(&mut steps)?;
        if !fitted.is_empty() {
            model = model.calibrated(Method::Platt, &subject.data, &fitted)?;
        }
        let model = Some(model);
        let n_judged = if held.is_empty() { learned.len() } else { held.len() } as u64;
        let n_judged = counted(n_judged, "row", "rows");
        let (rows, judged, judged_on) = if held.is_empty() {
            (subject.rows, format!("{n_judged} it learned from"), Judged::Learned)
        } else {
            (held, format!("{n_judged} that were not learned from"), Judged::SetAside)
        };
        Ok(Self { model, rows, judged, judged_on, support: steps.0, ..subject })
    }

    /// A certificate and the rows it is about: its hyperplane, or the one that the pocket perceptron finds where there
    /// is none, and framed the rows that prove it.
    pub fn of_certificate(
        source: impl Into<String>,
        data: Dataset,
        certificate: &Certificate,
    ) -> Result<Self, FigureError> {
        let sides = verify(certificate, &data)?;
        let data = match sides.negative {
            // Only pairs of classes are drawn as they are.
            Some(_) if data.labels().len() == 2 => data,
            Some(_) | None => with_positive(data, &sides.positive)?,
        };
        let options = Options { readout: Some(Readout::Pocket), validation: None, ..Options::default() };
        let (model, proof, named, framed) = match &certificate.claim {
            Claim::Separable { weights, intercept, margin } if certificate.kernel.is_none() => {
                let sign = if data.labels().name(1) == sides.positive { 1.0 } else { -1.0 };
                let weights = weights.iter().map(|weight| sign * weight.near()).collect();
                let planes = Hyperplanes::from_parts(weights, vec![sign * intercept.near()]);
                let spec = Spec::new(Options { readout: Some(Readout::Last), ..options })?;
                let model = Online::started(spec, data.labels().clone(), Some(planes))?.model()?;
                let nearest = margin.as_ref().map_or(&[][..], |margin| &margin.nearest);
                (model, nearest, "The proved hyperplane", "nearest to it")
            }
            Claim::Separable { .. } => return Err(FigureError::Kernel),
            Claim::Inseparable { contradiction } => {
                let model = train(&Spec::new(options)?, &data)?;
                let named = "No hyperplane separates these rows; the best that the pocket perceptron found";
                (model, contradiction.as_slice(), named, "proves it")
            }
        };
        let mut support = vec![false; data.len()];
        for share in proof {
            if let Some(idx) = data.find(share.row.wrapping_sub(1)) {
                support[idx] = true;
            }
        }
        let (named, framed) = (Some(named.to_owned()), Some(framed.to_owned()));
        Ok(Self { support: Some(support), named, framed, ..Self::of_model(source, data, model) })
    }

    /// The model; an error if there is none.
    pub(crate) fn model(&self) -> Result<&Model, FigureError> {
        self.model.as_ref().ok_or(FigureError::NoModel)
    }

    /// How it was learned, in a few words.
    pub(crate) fn learner(&self) -> String {
        let learned = || format!("{}, {}", self.spec.entry().info.name, self.spec.readout());
        self.named.clone().unwrap_or_else(learned)
    }

    /// The classes of the model, then those only the data has, and the class of each row among them.
    pub(crate) fn classes(&self, model: &Model) -> (Labels, Vec<u32>) {
        let (labels, numbers) = matched(model, &self.data);
        let classes = self.data.classes().iter().map(|&class| numbers[class as usize]).collect();
        (labels, classes)
    }

    /// For each row, whether the model gives it another class than its own.
    pub(crate) fn mistakes(&self, model: &Model) -> Result<Vec<bool>, Error> {
        let (_, classes) = self.classes(model);
        let predicted = model.predict_all(&self.data)?;
        Ok(predicted.into_iter().zip(classes).map(|(given, class)| given != class).collect())
    }

    /// What a feature is called.
    pub(crate) fn feature_name(&self, feature: usize) -> String {
        let named = self.data.feature_names().and_then(|names| names.get(feature));
        let named = named.or_else(|| self.model.as_ref()?.feature_names()?.get(feature));
        named.cloned().unwrap_or_else(|| format!("feature {}", feature + 1))
    }

    /// From the numbers the model sees of a feature to those of the file: a factor, and what is added then.
    pub(crate) fn units(&self, feature: usize) -> (f64, f64) {
        let Some(scaler) = self.scaler.as_ref().filter(|scaler| scaler.scaling != Scaling::UnitNorm) else {
            return (1.0, 0.0);
        };
        let factor = scaler.scale.get(feature).copied().unwrap_or(1.0);
        (factor, scaler.shift.get(feature).copied().unwrap_or(0.0))
    }
}

/// Of this many rows, one is for probabilities to be fitted on.
const FITTED: usize = 4;

/// The share of rows that are held out to judge by. Its default depends: a face may judge a file as `train` does.
pub(crate) const HOLDOUT: Setting =
    Setting::new("holdout", "share of rows held out: as in `train`; 0.2 for curves", "", Takes::Share);
/// The share where nothing else is known.
const USUAL_SHARE: f64 = 0.2;

/// What was set of [`HOLDOUT`].
pub(crate) fn holdout(settings: &Settings) -> Result<f64, FigureError> {
    let share =
        settings.parsed(&HOLDOUT, |text| text.parse().ok().filter(|share| (0.0..1.0).contains(share)))?;
    Ok(share.unwrap_or(USUAL_SHARE))
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
