//! A model at work: classes, probabilities and scores of rows.
//!
//! A predictor borrows its model, so that asking about one row costs that row. A model with probabilities names the
//! most probable class, or the one of least expected cost; without them, or where classes were weighted, its scores
//! decide.

use super::{Model, expansion, network};
use crate::calibration::Verdict;
use crate::costs::{CostMatrix, Costs};
use crate::error::{Error, refuse};
use crate::mapped::{Mapper, map_some};
use crate::rows::RowSource;
use crate::spec::{ClassWeights, Spec};
use crate::task::Task;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{
    ByColumns, Decision, Dense, DenseExamples, Examples, Multiclass, Random, Row, Sparse, Value, Visits,
    Zero, elementary,
};
use rosenblatt_data::{Dataset, MatrixRef, Missing, Precision, SparseRef, View, visit};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// One row in the numbers of its source: a value for every feature, or those that are not zero.
///
/// A model that learned from scaled features scales the row first, so you need not. A column of numbers is one value, also
/// where it became a curve; a category has a feature of each of its values, 1 or 0, and of two values only the second has
/// one. If a table has categories, missing cells or text, let the model read it: [`Model::open`].
#[derive(Debug, Clone, Copy)]
pub enum Sample<'a> {
    /// A value for every feature.
    Dense(&'a [f64]),
    /// The features that are not zero, ascending, from 0, and their values.
    Sparse(&'a [u32], &'a [f64]),
}

impl<'a> From<&'a [f64]> for Sample<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::Dense(values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Sample<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Self::Dense(values)
    }
}

impl<'a> From<&'a Vec<f64>> for Sample<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self::Dense(values)
    }
}

impl<'a> From<(&'a [u32], &'a [f64])> for Sample<'a> {
    fn from((features, values): (&'a [u32], &'a [f64])) -> Self {
        Self::Sparse(features, values)
    }
}

impl Model {
    /// Something that predicts many rows of up to `width` features, as the model sees them; what the model does
    /// not know counts nothing. Ask for the [task](Model::task) first: where that is tags, no row is known, and all get
    /// the first label.
    pub fn predictor(&self, width: usize) -> Predictor<'_> {
        let mapper = self.map.clone().map(Mapper::new);
        Predictor {
            verdict: self.verdict(),
            n_classes: self.labels.len(),
            pairs: self.has_pairs(),
            mapper,
            ..Predictor::of(&self.spec, &self.kept, self.labels.len(), width)
        }
    }

    /// Something that predicts rows that have been through the map already.
    pub(crate) fn predictor_behind_map(&self) -> Predictor<'_> {
        Predictor { mapper: None, ..self.predictor(0) }
    }

    /// What decides which class is named, unless the scores do. Weights that were given to classes are meant to move
    /// that decision away from what is most probable, so then the scores decide; costs are meant to be weighed by
    /// probabilities.
    pub(crate) fn verdict(&self) -> Option<Verdict<'_>> {
        let costs = self.costs();
        let weighs_all_alike = self.spec.options().class_weights == ClassWeights::Even;
        let calibration = self.calibration.as_ref().filter(|_| weighs_all_alike || costs.is_some())?;
        Some(Verdict { calibration, costs })
    }

    /// The same model, naming classes by other costs of mistakes. The error says what it lacks for that.
    pub fn with_costs(mut self, costs: &Costs) -> Result<Self, Error> {
        costs.check()?;
        self.check_task(Task::Classes)?;
        if self.calibration.is_none() {
            return Err(Error::CostsWithoutProbabilities);
        }
        if *costs == Costs::Balanced {
            let expected = "a number for each class, as these rows have no classes to count";
            return refuse("cost", expected, "balanced");
        }
        let costs = costs.counted(self.labels.names(), [])?;
        self.spec = self.spec.with_costs(costs);
        Ok(self)
    }

    /// What mistakes cost, unless all cost the same.
    pub(crate) fn costs(&self) -> Option<CostMatrix> {
        // That they name classes of the model was seen when it was made or read.
        self.spec.options().costs.matrix(self.labels.names()).ok().flatten()
    }

    /// Whether its scores belong to pairs of classes.
    pub(crate) fn has_pairs(&self) -> bool {
        self.labels.len() > 2 && self.spec.options().multiclass == crate::spec::Classes::OneVsOne
    }

    /// The class of one row.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Spec, train};
    ///
    /// let data = Dataset::from_rows(&[[2.0, 0.0], [0.0, 2.0]], &["right", "up"]);
    /// let model = train(&Spec::default(), &data)?;
    /// assert_eq!(model.predict(&[3.0, 1.0])?, "right");
    /// assert_eq!(model.predict((&[1][..], &[5.0][..]))?, "up");
    /// assert!(model.predict(&[3.0]).is_err());
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn predict<'a>(&self, row: impl Into<Sample<'a>>) -> Result<&str, Error> {
        self.check_task(Task::Classes)?;
        let mut predictor = self.predictor(0);
        let class = predictor.predict_seen(&self.as_seen(row.into())?);
        Ok(self.labels.name(class))
    }

    /// The probability of every class, in the order of [`Model::labels`], for one row; an error if the model
    /// [has none](Model::has_probabilities).
    pub fn predict_proba<'a>(&self, row: impl Into<Sample<'a>>) -> Result<Vec<f64>, Error> {
        self.check_probabilities()?;
        let (mut of_classes, mut shares) = (Vec::new(), Vec::new());
        self.shares(&self.decision_function(row)?, &mut of_classes, &mut shares);
        Ok(shares)
    }

    /// Whether it tells how likely classes are: it was calibrated, or is a network whose scores were learned as
    /// logarithms of odds.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some() || self.network().is_some() && self.spec.has_log_odds()
    }

    fn check_probabilities(&self) -> Result<(), Error> {
        if self.has_probabilities() { Ok(()) } else { Err(Error::NotCalibrated) }
    }

    /// The probabilities of these scores: by the curves that were fitted, else the softmax of a network's scores.
    fn shares(&self, scores: &[f64], of_classes: &mut Vec<f64>, shares: &mut Vec<f64>) {
        if let Some(calibration) = &self.calibration {
            class_scores(self, scores, of_classes);
            calibration.probabilities(of_classes, shares);
            return;
        }
        shares.clear();
        if let [score] = scores {
            let second = elementary::logistic(*score);
            shares.extend([1.0 - second, second]);
            return;
        }
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.extend(scores.iter().map(|score| elementary::exp(score - highest)));
        let sum: f64 = shares.iter().sum();
        for share in shares {
            *share /= sum;
        }
    }

    /// The scores of one row: one for two classes, positive for the second; else one per class, or per pair of
    /// classes (see [`Model::pairs`]).
    pub fn decision_function<'a>(&self, row: impl Into<Sample<'a>>) -> Result<Vec<f64>, Error> {
        let mut predictor = self.predictor(0);
        predictor.predict_seen(&self.as_seen(row.into())?);
        Ok(predictor.scores)
    }

    /// The class of every row, by number. The rows are as the model sees them: read by [`Model::open`], or what it
    /// learned from.
    pub fn predict_all(&self, data: &Dataset) -> Result<Vec<u32>, Error> {
        self.predict_view(data.view())
    }

    /// [`Model::predict_all`] of rows that are lent.
    pub fn predict_view(&self, rows: View<'_>) -> Result<Vec<u32>, Error> {
        self.check_task(Task::Classes)?;
        self.check_width(rows)?;
        let mut classes = Vec::with_capacity(rows.len());
        self.each(rows, |_, class, _| classes.push(class));
        Ok(classes)
    }

    /// The probabilities of every row of a data set, row after row, a number per class.
    pub fn predict_proba_all(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        self.predict_proba_view(data.view())
    }

    /// [`Model::predict_proba_all`] of rows that are lent.
    pub fn predict_proba_view(&self, rows: View<'_>) -> Result<Vec<f64>, Error> {
        self.check_probabilities()?;
        self.check_width(rows)?;
        let mut all = Vec::with_capacity(rows.len() * self.labels.len());
        let (mut of_classes, mut shares) = (Vec::new(), Vec::new());
        self.each(rows, |_, _, scores| {
            self.shares(scores, &mut of_classes, &mut shares);
            all.extend(&shares);
        });
        Ok(all)
    }

    /// The scores of every row of a data set, row after row, as many as [`Model::decision_function`] gives.
    pub fn decision_function_all(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        self.check_width(data.view())?;
        let mut all = Vec::new();
        self.each(data.view(), |_, _, scores| all.extend(scores));
        Ok(all)
    }

    /// An error if rows that have a value for each feature have not as many of them as the model. Sparse rows may end
    /// sooner, and features that the model does not know count nothing.
    pub(crate) fn check_width(&self, rows: View<'_>) -> Result<(), Error> {
        self.check_rows()?;
        let is_dense = matches!(rows, View::Dense32(_) | View::Dense64(_));
        match (rows.width(), self.width()) {
            (found, expected) if is_dense && found != expected => Err(Error::WrongWidth { found, expected }),
            _ => Ok(()),
        }
    }

    /// Shows number, class and scores of each unchecked row of numbers; an error if one is not finite.
    pub fn each_row(&self, rows: View<'_>, mut show: impl FnMut(u32, u32, &[f64])) -> Result<(), Error> {
        self.check_width(rows)?;
        if self.planes().is_none() || self.map.is_some() {
            crate::rows::check_finite(rows)?;
            self.each(rows, show);
            return Ok(());
        }
        // No sum of products is finite if one of its numbers is not, so that rows are read but once.
        let mut is_finite = true;
        self.each(rows, |row, class, scores| {
            is_finite &= scores.iter().all(|score| score.is_finite());
            show(row, class, scores);
        });
        if is_finite { Ok(()) } else { crate::rows::check_finite(rows) }
    }

    /// [`Model::each_row`] of unchecked sparse rows, for a model with one hyperplane: their numbers are
    /// read but once. False, after some rows have been shown, if something is the matter with one, or with all: then
    /// check the rows first. Offsets may begin anywhere.
    #[must_use]
    pub fn each_unseen(&self, rows: MatrixRef<'_>, show: impl FnMut(u32, &[f64])) -> bool {
        let mut predictor = self.predictor(0);
        match rows {
            MatrixRef::Sparse32(rows) => predictor.each_unseen(rows, show),
            MatrixRef::Sparse64(rows) => predictor.each_unseen(rows, show),
            MatrixRef::Dense32(_) | MatrixRef::Dense64(_) => false,
        }
    }

    /// [`Model::each_unseen`] of some of the rows that lie column by column, for models with hyperplanes alone.
    #[must_use]
    pub fn each_by_columns<T: Value + Default>(
        &self,
        columns: ByColumns<'_, T>,
        rows: Range<usize>,
        mut show: impl FnMut(u32, &[f64]),
    ) -> bool {
        let (Some(planes), None) = (self.planes(), self.map()) else { return false };
        let mut predictor = self.predictor(0);
        // No sum of products is finite if one of its numbers is not.
        let mut is_finite = true;
        let fits = planes.each_by_columns(columns, rows, |scores| {
            is_finite &= scores.iter().all(|score| score.is_finite());
            let Predictor { decision, zero, random, verdict: None, .. } = &mut predictor else {
                predictor.scores.copy_from_slice(scores);
                return show(predictor.decide(), scores);
            };
            show(decision.name(scores, *zero, random), scores);
        });
        fits && is_finite
    }

    /// Shows the class and the scores of each row.
    fn each(&self, rows: View<'_>, show: impl FnMut(u32, u32, &[f64])) {
        if self.planes().is_some() && self.map.is_none() {
            let mut predictor = self.predictor(rows.width());
            visit!(rows, examples => {
                let _ = predictor.each_by_planes(examples, Visits::all(examples), show);
            });
            return;
        }
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        self.each_of(rows, &all, show);
    }

    /// Shows the class and the scores of each of these rows. Rows that go through a map do so several at
    /// once, if the outcome fits into memory.
    pub(crate) fn each_of(&self, view: View<'_>, rows: &[u32], mut show: impl FnMut(u32, u32, &[f64])) {
        let mut predictor = self.predictor(view.width());
        let mapped = self.map().and_then(|map| Some((map.size(), map_some(map, view, rows).ok()?)));
        let Some((size, values)) = mapped else {
            return visit!(view, examples => predictor.each(examples, rows, show));
        };
        predictor.mapper = None;
        let (all, classes): (Vec<u32>, Vec<u32>) = (0..rows.len() as u32).map(|place| (place, 0)).unzip();
        predictor.each(DenseExamples::new(&values, size, &classes), &all, |place, class, scores| {
            show(rows[place as usize], class, scores);
        });
    }

    /// A row as the model sees it: of the right width, finite and scaled.
    pub(crate) fn as_seen<'a>(&self, row: Sample<'a>) -> Result<Seen<'a>, Error> {
        self.check_rows()?;
        let base = self.schema().filter(|schema| !schema.crosses.is_empty());
        let bends = self.schema().and_then(|schema| schema.bends.as_ref());
        let made = self.schema().filter(|schema| bends.is_some() || !schema.crosses.is_empty());
        let width = made.and_then(|schema| schema.straight_width()).unwrap_or_else(|| self.width());
        let scaler = self.schema().and_then(|schema| schema.scaler.as_ref());
        let (mut features, mut values) = match row {
            Sample::Dense(row) if row.len() != width => {
                return Err(Error::WrongWidth { found: row.len(), expected: width });
            }
            Sample::Dense(row) => (None, Cow::Borrowed(row)),
            Sample::Sparse(features, row) => {
                if features.len() != row.len() || !features.is_sorted_by(|a, b| a < b) {
                    return Err(Error::NotSparse);
                }
                if let Some(&last) = features.last().filter(|last| **last as usize >= width) {
                    return Err(Error::TooWide { found: last as usize + 1, known: width });
                }
                (Some(Cow::Borrowed(features)), Cow::Borrowed(row))
            }
        };
        let may_lack = self.schema().is_some_and(|schema| schema.missing == Missing::Own);
        let is_right = |value: &f64| value.is_finite() || may_lack && value.is_nan();
        if !values.iter().all(is_right) {
            check_finite(features.as_deref(), &values)?;
        }
        // A zero that is not stored is still moved by a shift.
        if let Some(stored) = features.take_if(|_| scaler.is_some_and(|scaler| !scaler.shift.is_empty())) {
            let mut dense = vec![0.0; width];
            for (&feature, value) in stored.iter().zip(&*values) {
                dense[feature as usize] = *value;
            }
            values = Cow::Owned(dense);
        }
        if self.schema().is_some() {
            // As a file is read: in the precision of the training data, before scaling and after.
            let is_double = self.schema().is_some_and(|schema| schema.precision == Some(Precision::Double));
            let store = if is_double { |_: &mut [f64]| {} } else { single };
            store(values.to_mut());
            if let Some(scaler) = scaler {
                scaler.scale_row(features.as_deref(), values.to_mut());
                store(values.to_mut());
            }
            if let Some(bends) = bends {
                let all = features.as_deref().map_or_else(|| (0..width as u32).collect(), <[u32]>::to_vec);
                let entries: Vec<(u32, f64)> = all.into_iter().zip(values.iter().copied()).collect();
                let (places, mut hats): (Vec<u32>, Vec<f64>) = bends.row(&entries).into_iter().unzip();
                store(&mut hats);
                (features, values) = (Some(Cow::Owned(places)), Cow::Owned(hats));
            }
            if let Some(schema) = base {
                let all = features.as_deref().map_or_else(|| (0..width as u32).collect(), <[u32]>::to_vec);
                let entries: Vec<(u32, f64)> = all.into_iter().zip(values.iter().copied()).collect();
                let (places, mut products): (Vec<u32>, Vec<f64>) =
                    schema.crossed(&entries).into_iter().unzip();
                store(&mut products);
                if let Some(features) = &mut features {
                    features.to_mut().extend(places);
                    values.to_mut().extend(products);
                } else {
                    let values = values.to_mut();
                    values.resize(self.width(), 0.0);
                    places
                        .iter()
                        .zip(products)
                        .for_each(|(&place, product)| values[place as usize] = product);
                }
            }
            check_finite(features.as_deref(), &values)?;
        }
        // A row that stores only what is there stores no zeros.
        if let Some(stored) = features.as_mut().filter(|_| values.contains(&0.0)) {
            let kept = stored.iter().copied().zip(values.iter().copied()).filter(|(_, value)| *value != 0.0);
            let (some, of_them): (Vec<u32>, Vec<f64>) = kept.unzip();
            (*stored, values) = (Cow::Owned(some), Cow::Owned(of_them));
        }
        Ok(Seen { features, values })
    }
}

/// A row as the model sees it.
pub(crate) struct Seen<'a> {
    /// The features that have values; all of them if there is no list.
    pub(crate) features: Option<Cow<'a, [u32]>>,
    pub(crate) values: Cow<'a, [f64]>,
}

fn single(values: &mut [f64]) {
    for value in values {
        *value = f64::from(*value as f32);
    }
}

fn check_finite(features: Option<&[u32]>, values: &[f64]) -> Result<(), Error> {
    let Some(place) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let feature = features.map_or(place, |features| features[place] as usize);
    Err(Error::NotFinite { row: 0, feature, value: values[place] })
}

/// A model at work.
#[derive(Debug, Clone)]
pub struct Predictor<'m> {
    kept: Cow<'m, Kept>,
    mapper: Option<Mapper>,
    decision: Multiclass,
    /// What names the class, instead of the scores.
    verdict: Option<Verdict<'m>>,
    n_classes: usize,
    /// Whether scores belong to pairs of classes.
    pairs: bool,
    zero: Zero,
    random: Random,
    scores: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'m> Predictor<'m> {
    /// A predictor of what a run of `spec` kept, for rows of up to `width` features.
    pub(crate) fn of(spec: &Spec, kept: &'m Kept, n_classes: usize, width: usize) -> Self {
        let kept = match kept {
            Kept::Hyperplanes(planes) if width > planes.width() => {
                Cow::Owned(Kept::Hyperplanes(planes.widened(width)))
            }
            kept => Cow::Borrowed(kept),
        };
        let options = spec.options();
        let decision = spec.decision(n_classes);
        let n_outputs = decision.n_outputs();
        Self {
            kept,
            mapper: None,
            decision,
            verdict: None,
            n_classes,
            pairs: false,
            zero: options.zero,
            random: Random::for_purpose(options.seed, "predict"),
            scores: vec![0.0; n_outputs],
            scratch: Vec::new(),
        }
    }

    /// The class of a row. For many rows, [`Predictor::each`] may be much faster.
    #[inline]
    pub fn predict<R: Row>(&mut self, row: R) -> u32 {
        match &mut self.mapper {
            None => self.kept.scores(row, &mut self.scores, &mut self.scratch),
            Some(mapper) => self.kept.scores(mapper.row(row), &mut self.scores, &mut self.scratch),
        }
        self.decide()
    }

    pub(crate) fn predict_seen(&mut self, row: &Seen<'_>) -> u32 {
        match &row.features {
            None => self.predict(Dense(&row.values)),
            Some(features) => self.predict(Sparse::new(features, &row.values)),
        }
    }

    /// The class of a row, and by how much it leads: 0 is a tie.
    pub fn verdict<R: Row>(&mut self, row: R) -> (u32, f64) {
        let class = self.predict(row);
        let margin = match &self.verdict {
            None => self.margin(class),
            Some(verdict) => {
                let mut of_classes = Vec::new();
                verdict.margin(self.of_classes(&mut of_classes), class)
            }
        };
        (class, margin.max(0.0))
    }

    /// By how much the score of `class` led in the last prediction; negative if another did.
    pub fn margin(&self, class: u32) -> f64 {
        self.decision.margin(class, &self.scores)
    }

    /// Shows the class and the scores of each of these rows, in their order. Long rows are read side by side, and
    /// kernel values and sums of hidden units computed for many rows at once; the scores are those of each row alone.
    pub fn each<E: Examples>(&mut self, examples: E, rows: &[u32], mut show: impl FnMut(u32, u32, &[f64])) {
        if self.each_by_planes(examples, Visits::Listed(rows), &mut show) {
            return;
        }
        let Kept::Other(kept) = &*self.kept else {
            for &row in rows {
                let class = self.predict(examples.row(row as usize));
                show(row, class, &self.scores);
            }
            return;
        };
        let kept = Kept::Other(Arc::clone(kept));
        if let Some(network) = network(&kept) {
            network.each(examples, Visits::Listed(rows), |row, scores| {
                self.scores.copy_from_slice(scores);
                let class = self.decide();
                show(row as u32, class, scores);
            });
            return;
        }
        let Some(expansion) = expansion(&kept) else { return };
        let mut scores = Vec::new();
        for rows in rows.chunks(expansion.at_once()) {
            expansion.scores(examples, rows, &mut scores);
            for (row, scores) in rows.iter().zip(scores.chunks(self.scores.len())) {
                self.scores.copy_from_slice(scores);
                let class = self.decide();
                show(*row, class, scores);
            }
        }
    }

    /// [`Predictor::each`] of rows that nothing but hyperplanes look at; false, and nothing is shown, if something else does.
    #[must_use]
    fn each_by_planes<E: Examples>(
        &mut self,
        examples: E,
        visits: Visits<'_>,
        mut show: impl FnMut(u32, u32, &[f64]),
    ) -> bool {
        let (Kept::Hyperplanes(planes), None) = (&*self.kept, &self.mapper) else { return false };
        let Self { decision, zero, random, scores: last, verdict, n_classes, pairs, .. } = self;
        if let (Multiclass::Binary(binary), None, Visits::Range { first, end }) =
            (&*decision, &*verdict, visits)
            && !examples.has_long_rows()
        {
            // Most models: nothing is asked but the sign.
            planes.each_of_stretch(examples, first..end, |row, score| {
                last[0] = score;
                show(row as u32, binary.name(&[score], *zero, random), &[score]);
            });
            return true;
        }
        let mut of_classes = Vec::new();
        planes.each(examples, visits, |row, scores| {
            last.copy_from_slice(scores);
            let mut class = decision.name(scores, *zero, random);
            if let Some(verdict) = verdict {
                let scores = by_class(scores, *n_classes, *pairs, &mut of_classes);
                let first = if *pairs { first_of_highest(scores, *zero, class) } else { class };
                class = verdict.class(scores, first);
            }
            show(row as u32, class, scores);
        });
        true
    }

    fn each_unseen<T: Value>(&mut self, rows: SparseRef<'_, T>, mut show: impl FnMut(u32, &[f64])) -> bool {
        let SparseRef { offsets, indices, values, width } = rows;
        let kept = Cow::clone(&self.kept);
        let (Kept::Hyperplanes(planes), None) = (&*kept, &self.mapper) else { return false };
        let rows =
            offsets.windows(2).map(|bounds| (&indices[bounds[0]..bounds[1]], &values[bounds[0]..bounds[1]]));
        // No sum of products is finite if one of its numbers is not.
        let mut is_finite = true;
        let are_sound = planes.each_unseen(width, rows, |score| {
            is_finite &= score.is_finite();
            self.scores[0] = score;
            let class = self.decide();
            show(class, &self.scores);
        });
        are_sound && is_finite
    }

    #[inline]
    fn decide(&mut self) -> u32 {
        let class = self.decision.name(&self.scores, self.zero, &mut self.random);
        let Some(verdict) = &self.verdict else { return class };
        let mut of_classes = Vec::new();
        let scores = self.of_classes(&mut of_classes);
        let first = if self.pairs { first_of_highest(scores, self.zero, class) } else { class };
        verdict.class(scores, first)
    }

    /// The scores of the last prediction by class.
    fn of_classes<'s>(&'s self, room: &'s mut Vec<f64>) -> &'s [f64] {
        by_class(&self.scores, self.n_classes, self.pairs, room)
    }

    /// The scores of the last prediction: one for two classes, else one per class or pair.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}

/// Scores by class, as a calibration takes them: as they are, or of every class its lowest score against another. A
/// class that wins all its duels has the highest, and one that wins the last of them narrowly is not far ahead, which
/// votes would not show.
pub(crate) fn by_class<'s>(
    scores: &'s [f64],
    n_classes: usize,
    pairs: bool,
    room: &'s mut Vec<f64>,
) -> &'s [f64] {
    if !pairs {
        return scores;
    }
    room.clear();
    room.resize(n_classes, f64::INFINITY);
    let duels = (0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b)));
    for ((a, b), &score) in duels.zip(scores) {
        room[a] = room[a].min(score);
        room[b] = room[b].min(-score);
    }
    room
}

/// Of several classes with the highest score the one that `zero` prefers, as exports do; `named` where it has no
/// preference.
fn first_of_highest(scores: &[f64], zero: Zero, named: u32) -> u32 {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_highest = |score: &f64| *score == highest;
    let found = match zero {
        Zero::Random | Zero::Wrong => None,
        Zero::Plus => scores.iter().rposition(is_highest),
        Zero::Minus => scores.iter().position(is_highest),
    };
    found.map_or(named, |class| class as u32)
}

/// Of every class the duels it wins less those it loses, and less than a third of a duel for the sum of their scores.
/// The class that wins the vote, and of equals the one with the larger sum, has the highest.
fn votes(scores: &[f64], n_classes: usize, room: &mut Vec<f64>) {
    room.clear();
    room.resize(2 * n_classes, 0.0);
    let (sums, wins) = room.split_at_mut(n_classes);
    let duels = (0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b)));
    for ((a, b), &score) in duels.zip(scores) {
        sums[a] += score;
        sums[b] -= score;
        let won = f64::from(i8::from(score > 0.0) - i8::from(score < 0.0));
        wins[a] += won;
        wins[b] -= won;
    }
    for (sum, won) in sums.iter_mut().zip(wins) {
        *sum = *won + *sum / (3.0 * (sum.abs() + 1.0));
    }
    room.truncate(n_classes);
}

/// The scores that a calibration takes, out of those that a prediction of `model` was made of: they are
/// the same, except that with pairs of classes each class has its lowest score against another.
pub fn class_scores(model: &Model, scores: &[f64], into: &mut Vec<f64>) {
    if model.has_pairs() {
        by_class(scores, model.labels().len(), true, into);
    } else {
        into.clear();
        into.extend(scores);
    }
}

/// The scores that decide which class is named: [`class_scores`], except that pairs of classes without probabilities
/// vote. Of several classes the highest is named.
pub fn decision_scores(model: &Model, scores: &[f64], into: &mut Vec<f64>) {
    if model.has_pairs() && model.verdict().is_none() {
        votes(scores, model.labels().len(), into);
    } else {
        class_scores(model, scores, into);
    }
}

/// Shows of each of these rows its class, the class that the model gives it and its scores. `stop` is
/// asked between pieces. Fails only if rows on disk cannot be read, or if it is to stop.
pub(crate) fn each_prediction(
    model: &Model,
    source: &mut RowSource<'_>,
    rows: &[u32],
    stop: &mut dyn FnMut() -> bool,
    mut show: impl FnMut(u32, u32, &[f64]),
) -> Result<(), Error> {
    let mut ask = |predictor: &mut Predictor<'_>, view: View<'_>, rows: &[u32]| {
        visit!(view, examples => predictor.each(examples, rows, |row, predicted, scores| {
            show(examples.class(row as usize), predicted, scores);
        }));
    };
    model.check_task(Task::Classes)?;
    let mut predictor = model.predictor(source.width());
    // Rows go through a map many at a time.
    let mut through_map = model.map.clone().map(|map| (Mapper::new(map), model.predictor_behind_map()));
    let flow = source.each_block(rows, |_, view, rows| {
        if stop() {
            return ControlFlow::Break(());
        }
        if let Some((mapper, predictor)) = &mut through_map
            && let Ok(mapped) = mapper.block(view, rows)
        {
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            ask(predictor, mapped, &all);
        } else {
            // What a map cannot hold is asked about all the same, row by row.
            ask(&mut predictor, view, rows);
        }
        ControlFlow::Continue(())
    })?;
    if flow.is_break() { Err(Error::Stopped) } else { Ok(()) }
}
