//! Learning one example at a time, as they come.
//!
//! ```
//! use rosenblatt::{Online, Spec};
//!
//! let mut learner = Online::new(Spec::default(), ["ham", "spam"])?;
//! learner.learn(&[1.0, 0.0], "spam")?;
//! learner.learn(&[0.0, 1.0], "ham")?;
//! assert_eq!(learner.model()?.predict(&[2.0, 0.5])?, "spam");
//! # Ok::<(), rosenblatt::Error>(())
//! ```

use crate::error::{Error, refuse};
use crate::fingerprint::Fingerprint;
use crate::learner::{Learner, Shape};
use crate::mapped::Mapper;
use crate::model::{Checkpoint, Mark, Model, Provenance, encode_checkpoint, reading, training_summary};
use crate::monitor::Pausable;
use crate::rows::check_finite;
use crate::spec::{ClassWeights, Classes, Spec};
use crate::start::Start;
use crate::train::{build, hypothesis};
use rosenblatt_core::state::Origin;
use rosenblatt_core::{
    DenseExamples, Examples, Hyperplanes, OneVsOne, SparseExamples, SparseRows, Stopped, Totals, Visits,
};
use rosenblatt_data::{Dataset, Labels, View, visit};
use rosenblatt_kernel::kernels::Outline;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// A learner that is shown examples whenever there are some.
pub struct Online {
    spec: Spec,
    labels: Labels,
    feature_names: Option<Arc<[String]>>,
    learner: Box<dyn Learner>,
    mapper: Option<Mapper>,
    shown: Shown,
    /// Whether it may be stopped and resumed.
    keeps_track: bool,
}

/// What was shown so far.
struct Shown {
    rows: usize,
    digest: Fingerprint,
    /// Whether the digest is of all of them.
    is_whole: bool,
    /// What it should be once the rows that are known already have been shown again.
    resumed: Option<Mark>,
}

impl Online {
    /// A learner for these classes that has seen nothing yet. With two classes the second is the
    /// positive one.
    pub fn new<S: Into<String>>(spec: Spec, classes: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        Self::of_labels(spec, Labels::in_order(classes))
    }

    /// The same for labels that are there already.
    pub fn of_labels(spec: Spec, labels: Labels) -> Result<Self, Error> {
        Self::started(spec, labels, None)
    }

    /// The same, starting from these hyperplanes instead of zero.
    pub fn started(spec: Spec, labels: Labels, start: Option<Hyperplanes>) -> Result<Self, Error> {
        let digest = Fingerprint::of(&labels);
        Self::of_digest(spec, labels, digest, start)
    }

    /// The same, with the digest of no rows of these labels.
    fn of_digest(
        spec: Spec,
        labels: Labels,
        digest: Fingerprint,
        start: Option<Hyperplanes>,
    ) -> Result<Self, Error> {
        if labels.len() < 2 {
            return Err(Error::OneClass { found: labels.names().first().cloned() });
        }
        let class_weights = match &spec.options().class_weights {
            ClassWeights::Even => Vec::new(),
            ClassWeights::Balanced => {
                return refuse(
                    "class-weights",
                    "even or given by class, since a stream has no counts to balance by",
                    "balanced",
                );
            }
            ClassWeights::Given(weights) => {
                labels.names().iter().map(|name| weights.get(name).copied().unwrap_or(1.0)).collect()
            }
        };
        let kernel = spec.kernel().map(|options| options.choice().blind()).transpose()?;
        if let Some(info) = spec.kernel_info().filter(|info| info.by_number) {
            return refuse("kernel", "a function of rows where they come one by one", info.name);
        }
        let mapper = mapper(&spec)?;
        let width = start.as_ref().map_or(0, Hyperplanes::width);
        let learner = build(
            &spec,
            labels.len(),
            Shape {
                width,
                class_weights,
                start: start.map(Start::from),
                kernel,
                n_rows: None,
                n_visits: None,
                targets: None,
            },
        )?;
        let shown = Shown { rows: 0, digest, is_whole: true, resumed: None };
        Ok(Self { spec, labels, feature_names: None, learner, mapper, shown, keeps_track: false })
    }

    /// Continues with these classes, in this order; it must include all known ones. A class that is new begins with
    /// weights of zero; what is kept of the others stays, averages and votes too. The one hyperplane between two classes
    /// becomes the first one's, turned round, and the second one's.
    pub fn take_in<S: Into<String>>(&mut self, classes: impl IntoIterator<Item = S>) -> Result<(), Error> {
        let labels = Labels::in_order(classes);
        let was = &self.labels;
        if labels.names() == was.names() {
            return Ok(());
        }
        let kept: HashSet<&String> = labels.names().iter().collect();
        if let Some(lost) = was.names().iter().find(|name| !kept.contains(name)) {
            return refuse(
                "classes",
                "all that it has learned of, and the new ones among or after them",
                format!("{}, without {lost}", labels.names().join(", ")),
            );
        }
        self.check_growth(labels.names())?;
        let multiclass = self.spec.options().multiclass;
        let before = outputs(multiclass, was.names());
        let origins = origins(&outputs(multiclass, labels.names()), &before);
        let (n_before, digest) = (before.len(), Fingerprint::of(&labels));
        self.carry_over(labels, digest, n_before, &origins)
    }

    /// [`Online::take_in`] of one class more, after all others. Where every class has an output and weights are all that is
    /// kept, it takes its place in them and nothing is copied; elsewhere all that was learned is carried over.
    fn take_in_next(&mut self, name: &str) -> Result<(), Error> {
        let n_classes = self.labels.len();
        if self.learner.add_class() {
            self.labels.add(name);
            self.shown.digest.take_in(name);
            (self.shown.is_whole, self.shown.resumed) = (self.shown.rows == 0, None);
            return Ok(());
        }
        let mut labels = self.labels.clone();
        labels.add(name);
        if n_classes == 2 || self.spec.options().multiclass == Classes::OneVsOne {
            return self.take_in(labels.names().to_vec());
        }
        self.check_growth(labels.names())?;
        let origins: Vec<Origin> = (0..n_classes).map(|output| Some((output, 1.0))).chain([None]).collect();
        let digest = self.shown.digest.grown(&labels);
        self.carry_over(labels, digest, n_classes, &origins)
    }

    /// Goes on for other outputs, one for each origin among the `n_outputs` there were.
    fn carry_over(
        &mut self,
        labels: Labels,
        digest: Fingerprint,
        n_outputs: usize,
        origins: &[Origin],
    ) -> Result<(), Error> {
        let state = self.learner.state().for_outputs(n_outputs, origins);
        let mut grown = Self::of_digest(self.spec.clone(), labels, digest, None)?;
        grown.learner.restore(state)?;
        grown.mapper = self.mapper.take();
        grown.feature_names = self.feature_names.take();
        grown.keeps_track = self.keeps_track;
        if self.shown.rows > 0 {
            // The rows were noted with the numbers of other classes.
            (grown.shown.rows, grown.shown.is_whole) = (self.shown.rows, false);
        }
        *self = grown;
        Ok(())
    }

    /// Learns from one row. Rows may grow wider as new features turn up; classes are taken in beforehand, by
    /// [`Online::take_in`].
    pub fn learn(&mut self, row: &[f64], class: &str) -> Result<(), Error> {
        let classes = [self.class(class)?];
        self.show(View::Dense64(DenseExamples::new(row, row.len(), &classes)), 0..1)
    }

    /// Learns from one row of `(feature, value)` pairs with ascending features.
    ///
    /// # Panics
    /// If the features do not ascend.
    pub fn learn_sparse(&mut self, row: &[(u32, f64)], class: &str) -> Result<(), Error> {
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "features ascend strictly");
        let classes = [self.class(class)?];
        let (indices, values): (Vec<u32>, Vec<f64>) = row.iter().copied().unzip();
        let width = indices.last().map_or(0, |&last| last as usize + 1);
        self.show(
            View::Sparse64(SparseExamples::new(&[0, row.len()], &indices, &values, width, &classes)),
            0..1,
        )
    }

    /// Learns from every row of `data` once, as they stand. Classes are matched by name.
    pub fn partial_train(&mut self, data: &Dataset) -> Result<(), Error> {
        let numbers: Vec<u32> =
            data.labels().names().iter().map(|name| self.class(name)).collect::<Result<_, _>>()?;
        let classes: Vec<u32> = data.classes().iter().map(|&class| numbers[class as usize]).collect();
        self.feature_names = data.shared_feature_names();
        self.show(data.view().with_classes(&classes), 0..data.len())
    }

    /// Learns from rows `part` of `rows` once, as they stand: the way to learn from a stream of blocks.
    /// Their classes are the numbers of the classes this learner was made for.
    ///
    /// # Panics
    /// If a class is not one of them, or `part` reaches beyond the rows.
    pub fn learn_rows(&mut self, rows: View<'_>, part: Range<usize>) -> Result<(), Error> {
        let n_classes = self.labels.len() as u32;
        let are_known = visit!(rows, examples => part.clone().all(|row| examples.class(row) < n_classes));
        assert!(are_known, "classes are the learner's");
        self.show(rows, part)
    }

    /// Whether classes may become more.
    fn check_growth(&self, classes: &[String]) -> Result<(), Error> {
        if !self.spec.entry().network {
            return Ok(());
        }
        refuse(
            "classes",
            "those that it began with, as the outputs of a network are learned together",
            classes.join(", "),
        )
    }

    /// Why [`Online::learn_named`] would not learn from these rows, if that is so, with these classes among theirs that it
    /// has never seen.
    pub fn check_named(&self, rows: View<'_>, new: &[String]) -> Result<(), Error> {
        check_finite(rows)?;
        if !new.is_empty() {
            self.check_growth(new)?;
        }
        if self.mapper.is_some() {
            self.spec.map().map_or(Ok(()), |choice| choice.check_width(rows.width()))?;
        }
        Ok(())
    }

    /// Learns from rows `part` of `rows` once, as they stand, where a class is a number of `names`; from none of them if
    /// there is an error. A class that is new is taken in when its first row comes, so that it does not matter in how many
    /// pieces rows arrive. One class against all others: none is new.
    pub fn learn_named(&mut self, rows: View<'_>, names: &[String], part: Range<usize>) -> Result<(), Error> {
        let labelled: Vec<u32> =
            visit!(rows, examples => (0..examples.len()).map(|row| examples.class(row)).collect());
        let mut numbers = self.numbers(names);
        let is_new = |&row: &usize| numbers[labelled[row] as usize].is_none();
        let new: Vec<String> =
            part.clone().find(is_new).map(|row| names[labelled[row] as usize].clone()).into_iter().collect();
        self.check_named(rows, &new)?;
        let number = |numbers: &[Option<u32>], class: u32| numbers[class as usize].unwrap_or(0);
        let mut classes = vec![0; labelled.len()];
        let mut from = part.start;
        loop {
            let is_new = |&row: &usize| numbers[labelled[row] as usize].is_none();
            let end = (from..part.end).find(is_new).unwrap_or(part.end);
            for (class, &labelled) in classes[from..end].iter_mut().zip(&labelled[from..end]) {
                *class = number(&numbers, labelled);
            }
            let rows = rows.with_classes(&classes);
            let new = self.note(rows, from..end)?;
            self.learn_part(rows, new)?;
            if end == part.end {
                return Ok(());
            }
            numbers[labelled[end] as usize] = Some(self.labels.len() as u32);
            self.take_in_next(&names[labelled[end] as usize])?;
            from = end;
        }
    }

    /// The numbers of the classes that rows of these names belong to, where there are some.
    fn numbers(&self, names: &[String]) -> Vec<Option<u32>> {
        if let Some(class) = self.labels.told_from_rest() {
            return names.iter().map(|name| Some(u32::from(class == name))).collect();
        }
        let known: HashMap<&String, u32> = self.labels.names().iter().zip(0..).collect();
        names.iter().map(|name| known.get(name).copied()).collect()
    }

    /// What it learns by.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The classes known so far.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// There is no observer and no limit, so learning always comes to its end.
    fn learn_part(&mut self, rows: View<'_>, part: Range<usize>) -> Result<(), Error> {
        if let Some(mapper) = &mut self.mapper {
            let width = rows.width();
            self.spec.map().map_or(Ok(()), |choice| choice.check_width(width))?;
            mapper.widen(width);
        }
        let visits = Visits::Range { first: part.start, end: part.end };
        self.learner.feed(self.mapper.as_mut(), rows, visits, &mut ()).map(drop)
    }

    /// The same learner, which may be [stopped](Online::checkpoint) and resumed.
    #[must_use]
    pub fn keeping_track(mut self) -> Self {
        self.keeps_track = true;
        self
    }

    /// Continues from an earlier learner's checkpoint. Show it the stream from the beginning; the rows that are known
    /// already are compared with those learned from, and skipped.
    pub fn resume(mut self, checkpoint: Checkpoint) -> Result<Self, Error> {
        let mut differences = checkpoint.differences(&self.spec);
        if checkpoint.mark.classes != self.labels.names() {
            let then = checkpoint.mark.classes.join(", ");
            differences.push(format!("the classes were {then} and are {}", self.labels.names().join(", ")));
        }
        if checkpoint.mark.reading != reading(None, self.feature_names.as_deref()) {
            differences.push("the features have other names".to_owned());
        }
        if !differences.is_empty() {
            return Err(Error::OtherRun { differences });
        }
        self.learner.restore(checkpoint.state)?;
        if self.learner.totals().rounds > checkpoint.mark.rows as u64 {
            return Err(Error::BadCheckpoint { what: "it counts more rounds than rows".to_owned() });
        }
        self.shown.resumed = Some(checkpoint.mark);
        Ok(self.keeping_track())
    }

    /// Continues from an earlier learner's checkpoint with rows that it has not seen. Those it learned from are not
    /// shown again.
    pub fn go_on(self, checkpoint: Checkpoint) -> Result<Self, Error> {
        let digest = Fingerprint::of(&self.labels).gone_on(&checkpoint.mark.choice);
        let n_features = checkpoint.mark.features;
        let mut learner = self.resume(checkpoint)?;
        if let Some(mapper) = &mut learner.mapper {
            learner.spec.map().map_or(Ok(()), |choice| choice.check_width(n_features))?;
            mapper.widen(n_features);
        }
        learner.shown.rows += learner.rows_to_skip();
        (learner.shown.resumed, learner.shown.is_whole) = (None, digest.is_some());
        learner.shown.digest = digest.unwrap_or_default();
        Ok(learner)
    }

    /// How many rows that are known already must still be shown again.
    pub fn rows_to_skip(&self) -> usize {
        let Shown { rows, resumed, .. } = &self.shown;
        resumed.as_ref().map_or(0, |mark| mark.rows.saturating_sub(*rows))
    }

    /// A checkpoint of the learner as it stands; `None` unless it is [keeping
    /// track](Online::keeping_track), and while rows are skipped.
    pub fn checkpoint(&self) -> Option<Vec<u8>> {
        if !self.keeps_track || self.rows_to_skip() > 0 {
            return None;
        }
        let shown = &self.shown;
        let mark = Mark {
            rows: shown.rows,
            // Only a map's width does not follow from what was learned.
            features: self.mapper.as_ref().map_or(0, |mapper| mapper.map().width()),
            classes: self.labels.names().to_vec(),
            used: shown.rows,
            values: shown.digest.digest(),
            choice: if shown.is_whole { shown.digest.so_far() } else { String::new() },
            reading: reading(None, self.feature_names.as_deref()),
        };
        Some(encode_checkpoint(&self.spec, &mark, &self.learner.state(), None))
    }

    /// Takes note of rows about to be learned from, and says which of them are new.
    fn note(&mut self, rows: View<'_>, part: Range<usize>) -> Result<Range<usize>, Error> {
        let known = self.rows_to_skip().min(part.len());
        let shown = &mut self.shown;
        let new = part.start + known..part.end;
        shown.digest.add_rows(rows, part.start..new.start);
        shown.rows += known;
        if let Some(mark) = shown.resumed.take_if(|mark| mark.rows == shown.rows)
            && mark.values != shown.digest.digest()
        {
            let differences = vec![format!("the first {} rows are not those it learned from", mark.rows)];
            return Err(Error::OtherRun { differences });
        }
        shown.digest.add_rows(rows, new.clone());
        shown.rows += new.len();
        Ok(new)
    }

    /// The same learner, with names for its features.
    #[must_use]
    pub fn with_feature_names(mut self, names: impl Into<Arc<[String]>>) -> Self {
        let names = names.into();
        if let Some(mapper) = &mut self.mapper {
            mapper.widen(names.len());
            self.feature_names = Some(names);
            return self;
        }
        // Learning from no rows of this width makes room for features that may never turn up.
        let none = View::Sparse64(SparseExamples::new(&[0], &[], &[], names.len(), &[]));
        let _ = self.learner.learn(none, Visits::Listed(&[]), &mut ());
        self.feature_names = Some(names);
        self
    }

    /// A model of what has been learned so far.
    pub fn model(&self) -> Result<Model, Error> {
        self.learner.check_finite(1, None)?;
        let totals = self.totals();
        // All that was shown, in however many pieces, was one epoch.
        let totals = Totals { epochs: u64::from(totals.rounds > 0), ..totals };
        let map = self.mapper.as_ref().map(|mapper| Arc::clone(mapper.map()));
        Ok(Model {
            feature_names: self.feature_names.clone(),
            training_summary: training_summary(totals.rounds as usize, totals, Stopped::Epochs, None),
            provenance: if self.shown.is_whole {
                Provenance::of_data(self.shown.digest.digest())
            } else {
                Provenance::default()
            },
            ..hypothesis(&self.spec, &self.labels, map, self.learner.kept(&self.spec))
        })
    }

    /// The totals so far. `errors` of `rounds` is the progressive error: each row was predicted before
    /// it was learned from.
    pub fn totals(&self) -> Totals {
        self.learner.totals()
    }

    fn show(&mut self, rows: View<'_>, part: Range<usize>) -> Result<(), Error> {
        check_finite(rows)?;
        let part = self.note(rows, part)?;
        self.learn_part(rows, part)
    }

    fn class(&self, name: &str) -> Result<u32, Error> {
        self.labels
            .class(name)
            .ok_or_else(|| Error::UnknownClass { name: name.to_owned(), known: self.labels.names().to_vec() })
    }
}

/// What an output tells apart: a class from another one, or from all others.
struct Contest<'a> {
    positive: &'a str,
    negative: Option<&'a str>,
}

/// The outputs for these classes, in their order.
fn outputs(multiclass: Classes, classes: &[String]) -> Vec<Contest<'_>> {
    match (classes, multiclass) {
        ([negative, positive], _) => vec![Contest { positive, negative: Some(negative) }],
        (_, Classes::OneVsOne) => {
            let pairs = OneVsOne::new(classes.len());
            let named = |&(a, b): &(u32, u32)| Contest {
                positive: &classes[a as usize],
                negative: Some(&classes[b as usize]),
            };
            pairs.pairs().iter().map(named).collect()
        }
        _ => classes.iter().map(|positive| Contest { positive, negative: None }).collect(),
    }
}

impl Contest<'_> {
    /// Which of these is the same contest, or the one that it was for fewer classes.
    fn origin(&self, before: &[Contest<'_>]) -> Origin {
        before.iter().enumerate().find_map(|(output, was)| {
            let same = |a: &str, b: Option<&str>| {
                a == self.positive && (self.negative.is_none() || b.is_none() || b == self.negative)
            };
            if same(was.positive, was.negative) {
                return Some((output, 1.0));
            }
            was.negative.filter(|negative| same(negative, Some(was.positive))).map(|_| (output, -1.0))
        })
    }
}

/// What each of these outputs was among those there were.
fn origins(outputs: &[Contest<'_>], before: &[Contest<'_>]) -> Vec<Origin> {
    if before.len() == 1 {
        return outputs.iter().map(|output| output.origin(before)).collect();
    }
    let places: HashMap<_, usize> = before.iter().map(|was| (was.positive, was.negative)).zip(0..).collect();
    let found = |contest: &(&str, Option<&str>), factor| places.get(contest).map(|&place| (place, factor));
    let origin = |&Contest { positive, negative }: &Contest<'_>| {
        let turned = || negative.and_then(|negative| found(&(negative, Some(positive)), -1.0));
        found(&(positive, negative), 1.0).or_else(turned)
    };
    outputs.iter().map(origin).collect()
}

/// The map of rows that come one by one: one that can be had before any of them.
fn mapper(spec: &Spec) -> Result<Option<Mapper>, Error> {
    let Some(choice) = spec.map() else { return Ok(None) };
    match choice.follows_from_rows()? {
        Some(_) if spec.map_info().is_some_and(|info| info.from_rows) => {
            let expected =
                "fourier or sketch where rows come one by one, as others are fitted to all of them";
            refuse("map", expected, &choice.name)
        }
        Some(open) => {
            let expected = "a number where rows come one by one, as it would follow from all of them";
            let setting = choice.kernel.params.get(open);
            refuse(open, expected, setting.map_or_else(|| "left open".to_owned(), ToString::to_string))
        }
        None => {
            let nothing = Outline { n_rows: 0, width: 0, variance: 0.0, norm2: 0.0, negative: None };
            Ok(Some(Mapper::new(choice.fit(&nothing, SparseRows::default())?)))
        }
    }
}

impl Pausable for Online {
    fn checkpoint(&self) -> Option<Vec<u8>> {
        Self::checkpoint(self)
    }
}
