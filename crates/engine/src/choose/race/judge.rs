//! One candidate on one part of the rows: trained on some, judged on others, at several numbers of epochs.

use crate::calibration::{Calibration, Method, Naming, Scored, n_curves};
use crate::costs::CostMatrix;
use crate::error::Error;
use crate::model::{Predictor, by_class};
use crate::ranking::curve;
use crate::spec::{Classes, Options, Spec};
use crate::train::{Training, weights_by_counts};
use rosenblatt_core::observer::Snapshot;
use rosenblatt_core::{Epoch, Examples, Observer, Totals, elementary};
use rosenblatt_data::{Dataset, Visitor};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What candidates are compared by. All are turned so that less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The share of rows that are given the wrong class.
    #[default]
    Error,
    /// The mean of `-ln` of the probability of the true class, scores calibrated by Platt's sigmoid.
    LogLoss,
    /// One minus the area under the ROC curve, the mean over classes.
    Auc,
    /// One minus the mean over classes of the harmonic mean of precision and recall.
    F1,
}

impl Metric {
    /// The value as people know it: areas and F1 are better if they are larger.
    pub fn as_known(self, loss: f64) -> f64 {
        match self {
            Self::Error | Self::LogLoss => loss,
            Self::Auc | Self::F1 => 1.0 - loss,
        }
    }
}

rosenblatt_core::named!(Metric, "metric",
    "error" = Self::Error, "the share of rows that are given the wrong class";
    "logloss" or "log-loss" = Self::LogLoss, "the mean of -ln of the probability of the true class";
    "auc" = Self::Auc, "the area under the ROC curve, the mean over classes";
    "f1" = Self::F1, "the mean over classes of the harmonic mean of precision and recall";
);

/// What candidates are compared by, and how much each mistake counts in it.
pub(super) struct Yardstick {
    pub(super) metric: Metric,
    pub(super) n_classes: usize,
    /// How much rows of each class count; nothing if all count alike.
    weights: Vec<f64>,
    /// What each mistake costs, if some cost more than others.
    costs: Option<CostMatrix>,
}

impl Yardstick {
    /// For a metric and the classes of these rows. An error counts as it does in learning and in deciding.
    pub(super) fn new(metric: Metric, options: &Options, data: &Dataset) -> Result<Self, Error> {
        let (labels, classes) = (data.labels(), data.classes());
        let mut counts = vec![0_u64; labels.len()];
        for class in classes {
            counts[*class as usize] += 1;
        }
        let costs = options.costs.counted(labels.names(), classes.iter().copied())?;
        Ok(Self {
            metric,
            n_classes: labels.len(),
            weights: weights_by_counts(&options.class_weights, labels, &counts)?,
            costs: costs.matrix(labels.names())?,
        })
    }

    /// How much a row of a class counts beside these rows; 1 in the mean.
    fn weighing(&self, rows: &[(u32, u32)]) -> impl Fn(u32) -> f64 {
        let weight = |truth: u32| self.weights.get(truth as usize).copied().unwrap_or(1.0);
        let whole: f64 = rows.iter().map(|(truth, _)| weight(*truth)).sum();
        let mean = if whole > 0.0 { whole / rows.len() as f64 } else { 1.0 };
        move |truth| weight(truth) / mean
    }
}

/// How much the squared distance of a probability from the truth (Brier 1950) counts beside a mistake.
const DISTANCE: f64 = 8.0;
/// From this many rows on, mistakes alone tell candidates apart.
const SURE_ROWS: usize = 3_000;
/// Below this many rows a class is rare.
const RARE_ROWS: usize = 50;
/// Scores part the classes if at most one row is wrong for this many of the rarer class.
const PARTED: usize = 10;

/// A candidate's predictions for rows it had not seen, part after part.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdicts {
    /// The class of each row, and the one it was given.
    named: Vec<(u32, u32)>,
    /// The scores of each row as a calibration takes them.
    scores: Vec<f64>,
}

impl Verdicts {
    pub(super) fn add(&mut self, part: Self) {
        self.named.extend(part.named);
        self.scores.extend(part.scores);
    }

    /// Probabilities for the scores. If the most probable class is the one that is named, it is another one than the
    /// scores name only where that helps.
    pub(super) fn calibration(
        &self,
        method: Method,
        n_classes: usize,
        is_named: bool,
        groups: Option<&[u32]>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Calibration, Error> {
        let (truths, named): (Vec<u32>, Vec<u32>) = self.named.iter().copied().unzip();
        let rows = Scored { n_classes, scores: &self.scores, classes: &truths, named: &named, groups };
        let naming = if is_named { Naming::IfItHelps } else { Naming::ByScore };
        let method = Calibration::settled(method, &rows, naming, stop)?;
        let fitted = Calibration::fit_for(naming, method, &rows, stop)?;
        Ok(match self.gap(n_classes).filter(|_| is_named && method != Method::Softmax) {
            Some(threshold) => fitted.even_at(threshold),
            None => fitted,
        })
    }

    /// Where to part two classes in the gap between them, if the scores part them and one is rare. A sigmoid is careful
    /// about the few rows of a rare class and comes so close to them that the next one may fall beyond it. Of the gap,
    /// each class gets a part that shrinks with the fourth root of its rows (Cao et al. 2019): the fewer rows
    /// showed where a class ends, the further beyond them the next may lie.
    fn gap(&self, n_classes: usize) -> Option<f64> {
        let n_members = self.named.iter().filter(|(truth, _)| *truth == 1).count();
        let n_rare = n_members.min(self.named.len() - n_members);
        if n_classes != 2 || n_rare >= RARE_ROWS {
            return None;
        }
        let mut ranked: Vec<(f64, bool)> =
            self.scores.iter().zip(&self.named).map(|(&score, (truth, _))| (score, *truth == 1)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let root = |count: usize| (count as f64).sqrt().sqrt();
        let (of_members, of_others) = (root(n_members), root(ranked.len() - n_members));
        let share = of_members / (of_members + of_others);
        // Wrong if everything from here on is taken for the second class: members before, others after.
        let mut n_wrong = ranked.len() - n_members;
        let mut best: Option<(usize, f64, f64)> = None;
        for pair in ranked.windows(2) {
            if pair[0].1 {
                n_wrong += 1;
            } else {
                n_wrong -= 1;
            }
            let width = pair[1].0 - pair[0].0;
            let is_better = best.is_none_or(|(least, widest, _)| (n_wrong, -width) < (least, -widest));
            if width > 0.0 && is_better {
                best = Some((n_wrong, width, pair[0].0 + share * width));
            }
        }
        best.filter(|(n_wrong, ..)| n_wrong * PARTED <= n_rare).map(|(.., border)| border)
    }

    /// Forgets all but how many rows were judged and how many wrongly.
    pub(super) fn forget_scores(&mut self) {
        self.scores = Vec::new();
    }

    /// How many rows were judged.
    pub(super) fn len(&self) -> usize {
        self.named.len()
    }

    /// What every row counts where candidates are compared, if the metric is a mean over rows. Mistakes alone are a
    /// coarse measure: of a few hundred rows hardly ten tell two candidates apart, and the best of many is best by
    /// luck. How far the probabilities are from the truth is known of every row, and says nearly the same.
    pub(super) fn losses(&self, by: &Yardstick) -> Option<Vec<f64>> {
        match by.metric {
            Metric::Error => {
                let mut losses = self.mistakes(by)?;
                if by.costs.is_none()
                    && losses.len() < SURE_ROWS
                    && let Some(rows) = self.shares(by.n_classes)
                {
                    let weigh = by.weighing(&self.named);
                    for ((loss, (truth, _)), shares) in losses.iter_mut().zip(&self.named).zip(rows) {
                        *loss += DISTANCE * weigh(*truth) * (1.0 - shares[*truth as usize]).powi(2);
                    }
                }
                Some(losses)
            }
            Metric::LogLoss => {
                let rows = self.named.iter().zip(self.shares(by.n_classes)?);
                let loss = |share: f64| -elementary::ln(share.max(f64::EPSILON));
                Some(rows.map(|((truth, _), shares)| loss(shares[*truth as usize])).collect())
            }
            Metric::Auc | Metric::F1 => None,
        }
    }

    /// The same, with how far probabilities are from the truth however many rows there are: what is to tell curves from
    /// lines, whose mistakes are nearly the same.
    pub(super) fn fine_losses(&self, by: &Yardstick) -> Option<Vec<f64>> {
        let is_plain = by.metric == Metric::Error && by.costs.is_none();
        if !is_plain || self.named.len() < SURE_ROWS {
            return self.losses(by);
        }
        let (weigh, rows) = (by.weighing(&self.named), self.shares(by.n_classes)?);
        let distance = |(truth, _): &(u32, u32), shares: &[f64]| {
            DISTANCE * weigh(*truth) * (1.0 - shares[*truth as usize]).powi(2)
        };
        let losses = self.mistakes(by)?.into_iter().zip(&self.named).zip(rows);
        Some(losses.map(|((loss, named), shares)| loss + distance(named, &shares)).collect())
    }

    /// What the mistake on every row counts, or costs.
    fn mistakes(&self, by: &Yardstick) -> Option<Vec<f64>> {
        let Some(costs) = &by.costs else {
            let weigh = by.weighing(&self.named);
            let loss = |truth: u32, said: u32| if truth == said { 0.0 } else { weigh(truth) };
            return Some(self.named.iter().map(|(truth, said)| loss(*truth, *said)).collect());
        };
        let rows = self.named.iter().zip(self.shares(by.n_classes)?);
        Some(rows.map(|((truth, said), shares)| costs.of(*truth, costs.least(&shares, *said))).collect())
    }

    /// The probability of each class of each row.
    fn shares(&self, n_classes: usize) -> Option<impl Iterator<Item = Vec<f64>>> {
        let truths: Vec<u32> = self.named.iter().map(|(truth, _)| *truth).collect();
        let calibration = Calibration::fit(Method::Platt, n_classes, &self.scores, &truths).ok()?;
        Some(self.scores.chunks(n_curves(n_classes)).map(move |scores| {
            let mut shares = Vec::new();
            calibration.probabilities(scores, &mut shares);
            shares
        }))
    }

    /// The loss of all rows together, as the report shows it.
    pub(super) fn loss(&self, by: &Yardstick) -> f64 {
        // A candidate without probabilities is worse than any with them.
        let of_rows = |losses: Option<Vec<f64>>| losses.map_or(f64::INFINITY, |losses| mean_of(&losses));
        match by.metric {
            Metric::Error => of_rows(self.mistakes(by)),
            Metric::LogLoss => of_rows(self.losses(by)),
            Metric::Auc => 1.0 - self.area(by.n_classes),
            Metric::F1 => 1.0 - self.f1(by.n_classes),
        }
    }

    fn area(&self, n_classes: usize) -> f64 {
        let n_scores = n_curves(n_classes);
        let areas = (0..n_scores).filter_map(|column| {
            let class = if n_classes == 2 { 1 } else { column as u32 };
            let scores = self.scores.iter().skip(column).step_by(n_scores);
            let ranked = scores.zip(&self.named).map(|(&score, (truth, _))| (score, *truth == class));
            curve(class, ranked.collect()).map(|curve| curve.area)
        });
        mean(areas).unwrap_or(0.5)
    }

    fn f1(&self, n_classes: usize) -> f64 {
        let (mut right, mut named, mut there) =
            (vec![0_u64; n_classes], vec![0; n_classes], vec![0; n_classes]);
        for &(truth, said) in &self.named {
            right[truth as usize] += u64::from(truth == said);
            named[said as usize] += 1;
            there[truth as usize] += 1;
        }
        let present = (0..n_classes).filter(|&class| there[class] > 0);
        mean(present.map(|class| 2.0 * right[class] as f64 / (named[class] + there[class]) as f64))
            .unwrap_or(0.0)
    }
}

pub(crate) fn mean_of(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The numbers of epochs after which a run is looked at. What is solved is worth a look when it is.
pub(super) fn rungs(spec: &Spec) -> Vec<u64> {
    let epochs = spec.options().epochs;
    if spec.entry().info.settles { vec![epochs] } else { ladder(epochs) }
}

/// A quarter of all epochs, a half, and all of them.
fn ladder(epochs: u64) -> Vec<u64> {
    let mut rungs = vec![epochs.div_ceil(4), epochs.div_ceil(2), epochs];
    rungs.dedup();
    rungs
}

/// Trains `spec` on the rows `learned` and judges it on `judged`, at every rung of its ladder. `stop` is asked again
/// and again.
pub(super) fn judge(
    spec: &Spec,
    data: &Dataset,
    learned: &[u32],
    judged: &[u32],
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Verdicts>, Error> {
    let look = Look {
        rows: judged,
        pairs: data.labels().len() > 2 && spec.options().multiclass == Classes::OneVsOne,
    };
    let rungs = rungs(spec);
    let mut watch =
        Watch { spec, data, rungs: &rungs, look: &look, seen: Vec::new(), stop, has_stopped: false };
    // A model of a race is thrown away, so it does not record its data.
    let model = Training::new(spec, data).rows(learned).fingerprint("").run(&mut watch)?;
    if watch.has_stopped {
        return Err(Error::Interrupted { epoch: model.training_summary().totals.epochs + 1 });
    }
    let mut seen = watch.seen;
    // A run that ended early stays what it was.
    seen.resize(rungs.len(), look.verdicts(model.predictor(data.width()), data));
    Ok(seen)
}

/// Looks at a run at every rung of its ladder but the last, which is looked at when the run is over, whenever that is.
struct Watch<'a> {
    spec: &'a Spec,
    data: &'a Dataset,
    rungs: &'a [u64],
    look: &'a Look<'a>,
    seen: Vec<Verdicts>,
    stop: &'a mut dyn FnMut() -> bool,
    has_stopped: bool,
}

impl Observer for Watch<'_> {
    fn pause(&mut self, _so_far: &Totals, _run: &dyn Snapshot) -> ControlFlow<()> {
        self.has_stopped = (self.stop)();
        if self.has_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        let Self { spec, data, .. } = *self;
        // A run behind a map is looked at in the end only: before, its hypothesis knows nothing of the map.
        let is_due = self.rungs.get(self.seen.len()) == Some(&epoch.number)
            && self.seen.len() + 1 < self.rungs.len()
            && spec.options().map.is_none();
        if is_due && let Some(kept) = run.read(spec.readout()) {
            let predictor = Predictor::of(spec, &kept, data.labels().len(), data.width());
            self.seen.push(self.look.verdicts(predictor, data));
        }
        ControlFlow::Continue(())
    }
}

/// Which rows are judged.
struct Look<'a> {
    rows: &'a [u32],
    /// Whether scores belong to pairs of classes.
    pairs: bool,
}

impl Look<'_> {
    fn verdicts(&self, predictor: Predictor<'_>, data: &Dataset) -> Verdicts {
        struct Ask<'a>(&'a Look<'a>, Predictor<'a>, usize);
        impl Visitor for Ask<'_> {
            type Output = Verdicts;
            fn visit<E: Examples>(self, examples: E) -> Verdicts {
                let Self(Look { rows, pairs }, mut predictor, n_classes) = self;
                let mut verdicts = Verdicts { named: Vec::with_capacity(rows.len()), scores: Vec::new() };
                let mut of_row = Vec::new();
                predictor.each(examples, rows, |row, class, scores| {
                    verdicts.named.push((examples.class(row as usize), class));
                    verdicts.scores.extend(by_class(scores, n_classes, *pairs, &mut of_row));
                });
                verdicts
            }
        }
        data.visit(Ask(self, predictor, data.labels().len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::Costs;

    #[test]
    fn metrics_are_those_of_the_textbook() {
        let named = vec![(0, 0), (0, 1), (1, 1), (1, 1)];
        let verdicts = Verdicts { named, scores: vec![-2.0, 0.5, 0.25, 3.0] };
        let even = |metric| Yardstick { metric, n_classes: 2, weights: Vec::new(), costs: None };
        assert_eq!(verdicts.loss(&even(Metric::Error)), 0.25);
        // The row that is wrong is of class 0, of which each counts three times.
        let weighted = Yardstick { weights: vec![3.0, 1.0], ..even(Metric::Error) };
        assert_eq!(verdicts.loss(&weighted), 3.0 / 8.0);
        // Of four pairs of a row of each class, three are in the right order.
        assert_eq!(verdicts.loss(&even(Metric::Auc)), 0.25);
        // Class 0: precision 1, recall 1/2; class 1: precision 2/3, recall 1.
        let f1 = f64::midpoint(2.0 / 3.0, 4.0 / 5.0);
        assert!((verdicts.loss(&even(Metric::F1)) - (1.0 - f1)).abs() < 1e-15);
        // Rows count by their mistakes, and by how far their probabilities are from the truth.
        let losses = verdicts.losses(&even(Metric::Error)).unwrap();
        assert!(losses[1] > 1.0 && losses[1] < 1.0 + DISTANCE && losses[3] < losses[2], "{losses:?}");
        assert!(losses[3] > 0.0 && losses[0] < losses[1] - 1.0, "{losses:?}");
        // Of very many rows, only mistakes do.
        let mut many = Verdicts::default();
        (0..SURE_ROWS / 4).for_each(|_| many.add(verdicts.clone()));
        assert_eq!(many.losses(&even(Metric::Error)).unwrap()[..4], [0.0, 1.0, 0.0, 0.0]);
        let losses = verdicts.losses(&even(Metric::LogLoss)).unwrap();
        assert!(losses[0] < losses[1] && losses[3] < losses[2], "{losses:?}");
        assert_eq!(verdicts.losses(&even(Metric::Auc)), None);
        // Without scores there are no probabilities, and a candidate without any cannot win.
        let silent = Verdicts { named: vec![(1, 1), (0, 0)], scores: Vec::new() };
        assert_eq!(silent.loss(&even(Metric::LogLoss)), f64::INFINITY);
        assert_eq!(silent.loss(&even(Metric::Error)), 0.0);
        assert!("accuracy".parse::<Metric>().is_err());
        assert_eq!("logloss".parse::<Metric>().unwrap().to_string(), "logloss");
    }

    /// A row is given the class that is expected to cost least, and pays what that costs.
    #[test]
    fn costs_decide_what_is_named_and_what_it_costs() {
        let scores: Vec<f64> = (0..100).map(|row| f64::from(row) - 50.0).collect();
        let truth = |row: u32| u32::from(row % 10 < row / 10);
        let named = (0..100).map(|row| (truth(row), u32::from(row > 50))).collect();
        let verdicts = Verdicts { named, scores };
        let loss = |missed: f64| {
            let names = ["no".to_owned(), "yes".to_owned()];
            let costs = Costs::Given([("yes".to_owned(), missed)].into());
            let costs = costs.matrix(&names).unwrap();
            verdicts
                .losses(&Yardstick { metric: Metric::Error, n_classes: 2, weights: Vec::new(), costs })
                .unwrap()
        };
        // Who misses nothing pays for naming wrongly only, and names it more often than who may miss it.
        assert_eq!(
            loss(1000.0).iter().sum::<f64>(),
            (0..100).map(|row| f64::from(1 - truth(row))).sum::<f64>()
        );
        assert_eq!(loss(0.0).iter().sum::<f64>(), 0.0);
        let even = loss(1.0);
        assert!(
            even.iter().all(|loss| [0.0, 1.0].contains(loss)) && even.iter().sum::<f64>() < 40.0,
            "{even:?}"
        );
    }

    #[test]
    fn a_rare_class_gets_the_larger_part_of_the_gap() {
        // 81 others up to -1, one member at 3: of a gap of 4 the member gets three times as much as they.
        let of_others = (0..81).map(|row| (-1.0 - f64::from(row) / 10.0, 0));
        let scored: Vec<(f64, u32)> = of_others.chain([(3.0, 1)]).collect();
        let verdicts = |scored: &[(f64, u32)]| Verdicts {
            named: scored.iter().map(|(_, class)| (*class, *class)).collect(),
            scores: scored.iter().map(|(score, _)| *score).collect(),
        };
        assert_eq!(verdicts(&scored).gap(2), Some(0.0));
        let fitted = verdicts(&scored).calibration(Method::Platt, 2, true, None, &mut || false).unwrap();
        let mut shares = Vec::new();
        fitted.probabilities(&[0.0], &mut shares);
        assert!((shares[1] - 0.5).abs() < 1e-12, "{shares:?}");
        fitted.probabilities(&[3.0], &mut shares);
        assert!(shares[1] > 0.5, "{shares:?}");
        // Where members and others are mixed, there is no gap to speak of.
        let mixed: Vec<(f64, u32)> =
            scored.iter().map(|&(score, class)| (score.abs() % 3.0, class)).collect();
        assert_eq!(verdicts(&mixed).gap(2), None);
    }

    #[test]
    fn a_ladder_ends_with_all_epochs() {
        assert_eq!(ladder(20), [5, 10, 20]);
        assert_eq!(ladder(2), [1, 2]);
        assert_eq!(ladder(1), [1]);
        let spec =
            |name: &str| Spec::new(Options { algorithm: name.to_owned(), ..Options::default() }).unwrap();
        assert_eq!(rungs(&spec("perceptron")), [5, 10, 20]);
        assert_eq!(rungs(&spec("logistic-dual")), [20]);
    }
}
