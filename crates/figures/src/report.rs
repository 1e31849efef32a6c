//! What a report says, part by part: one page that tells all there is to tell about a model.

use crate::error::FigureError;
use crate::page::{Cell, Page};
use crate::settings::Settings;
use crate::subject::{Judged, Subject};
use crate::words::{
    TOP_FEATURES, by_spread, cost_line, count, counted, decimals, describe_estimate, describe_feature,
    describe_probabilities, describe_training, describe_training_rows, group_line, list_top_features,
    on_chance, percent, short_number, still_ranks,
};
use crate::{Canvas, Svg, draw};
use rosenblatt::data::{DataError, ReadOptions, Source, texts, visit};
use rosenblatt::explain::{Contribution, Explainer, Explanation};
use rosenblatt::importance::Measure;
use rosenblatt::insight::top_features_by_class;
use rosenblatt::learning::{Examples, Row, Stopped};
use rosenblatt::misclassified::Misclassified;
use rosenblatt::model::{HeldNumbers, NumberEstimate};
use rosenblatt::{Dataset, Error, Evaluation, Model, Options, Spec, Task, evaluate};
use rosenblatt_plot::{Heat, Hue, Ruler, Tile};
use std::sync::Arc;

/// How many epochs a run for a picture takes at most.
const MOST_EPOCHS: u64 = 100;
/// The same with a kernel, whose scores take as long as it has support vectors.
const MOST_KERNEL_EPOCHS: u64 = 20;
/// Up to how many features rows are looked at from the two directions in which they vary most.
const MOST_SLICED: usize = 5_000;
/// Up to how many rows a run is made again to see how it learned.
const MOST_RERUN: usize = 20_000;
/// The width of the picture of a row.
const PORTRAIT: f64 = 220.0;
/// How many wrong rows are shown.
const SHOWN: usize = 12;
/// How many features are named that speak for or against a row's class.
const CONTRIBUTIONS: usize = 5;
/// How many letters of a row's text, and of a class in its heading, are shown.
const LONGEST_TEXT: usize = 400;
const LONGEST_CLASS: usize = 60;
/// Up to how many classes a list of features for each is readable.
const FEW_CLASSES: usize = 12;

/// How many columns are listed.
const MOST_COLUMNS: usize = 20;
/// Up to how many classes a table of them both ways fits a telephone.
const FEW_COLUMNS: usize = 5;
/// The shares of rows whose intervals are shown.
const INTERVALS: [f64; 3] = [0.5, 0.9, 0.99];
/// Narrow enough for a telephone; wider screens show it larger.
const PAPER: Canvas = Canvas { width: 460.0, height: 400.0, ruler: Ruler::Paper, may_shrink: false };

/// What pictures of several parts are drawn on as well.
const WIDE_PAPER: Canvas = Canvas { width: 900.0, height: 500.0, ..PAPER };
/// The pictures of several parts.
const OF_PARTS: [&str; 2] = ["weights", "curves"];

/// A page about `model`, which is called `name`, judged on `data`, which comes from `source`: HTML that stands alone,
/// without scripts.
///
/// ```
/// use rosenblatt::{Dataset, Spec, train};
///
/// let data = Dataset::from_rows(&[[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]], &["a", "a", "b", "b"]);
/// let model = train(&Spec::default(), &data)?;
/// let page = rosenblatt_figures::report("fruit", &model, "fruit.csv", data)?;
/// assert!(page.starts_with("<!doctype html>") && page.contains("100.0 % of 4 rows right"));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn report(name: &str, model: &Model, source: &str, data: Dataset) -> Result<String, Error> {
    Ok(Report::new(name, model, source, data)?.page())
}

/// A report in the making: what [`report`] writes, and what a face may add.
#[derive(Debug)]
pub struct Report<'a> {
    name: String,
    model: &'a Model,
    /// The data, its rows to judge by, and the model, as pictures are drawn of them.
    seen: Subject,
    proof: Option<String>,
    /// The texts of the wrong rows that are shown, if they are text.
    texts: Option<Vec<String>>,
    again: Option<String>,
    /// The rows that it is most wrong about, and of how many wrong ones.
    shown: Vec<Wrong>,
    n_wrong: u64,
    /// Which rows the model is judged on.
    pub judged: Judged,
    /// How it fared.
    pub fared: Fared,
}

/// How a model fared on rows.
#[derive(Debug)]
pub enum Fared {
    /// At telling classes apart.
    Classes(Evaluation),
    /// At predicting numbers.
    Numbers(Arc<HeldNumbers>),
}

impl Fared {
    /// How many rows it was judged on.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Classes(evaluation) => evaluation.rows,
            Self::Numbers(numbers) => numbers.estimate.rows,
        }
    }
}

/// A row that is worth a look.
#[derive(Debug)]
struct Wrong {
    row: u32,
    /// What the reasons speak for or against.
    class: u32,
    /// The colour of its picture: that of its actual class.
    hue: Hue,
    heading: String,
}

impl<'a> Report<'a> {
    /// A report on `model`, which is called `name`, judged on `data`, which comes from `source`. An error if its rows
    /// have not as many values as the model has features.
    pub fn new(name: &str, model: &'a Model, source: &str, data: Dataset) -> Result<Self, Error> {
        Self::of(name, model, Subject::of_model(source, data, model.clone()))
    }

    /// The same, judged on the rows that the model learned from; an error if these are others.
    pub fn on_training_rows(self) -> Result<Self, FigureError> {
        Ok(Self::of(&self.name, self.model, self.seen.on_training_rows()?)?)
    }

    fn of(name: &str, model: &'a Model, mut seen: Subject) -> Result<Self, Error> {
        let judged = seen.judged_on;
        let (fared, shown, n_wrong) = if model.task() == Task::Numbers {
            let numbers = seen.numbers(model)?;
            let (shown, n_wrong) = furthest_off(&numbers);
            (Fared::Numbers(numbers), shown, n_wrong)
        } else {
            let wrong = seen.misclassified(model);
            let shown = wrong.iter().take(SHOWN).map(|wrong| mistaken(model, &seen, wrong)).collect();
            (Fared::Classes(seen.evaluation(model)?), shown, wrong.len() as u64)
        };
        // A run for a picture takes no longer because a file says so.
        let options = seen.spec.options();
        let epochs = if options.kernel.is_some() { MOST_KERNEL_EPOCHS } else { MOST_EPOCHS };
        if options.epochs > epochs
            && let Ok(shorter) = Spec::new(Options { epochs, ..options.clone() })
        {
            seen.spec = shorter;
        }
        let name = name.to_owned();
        Ok(Self { name, model, seen, proof: None, texts: None, again: None, shown, n_wrong, judged, fared })
    }

    /// The data it is about.
    pub fn data(&self) -> &Dataset {
        &self.seen.data
    }

    /// The same with what is certain about the data.
    #[must_use]
    pub fn with_proof(self, proof: Option<String>) -> Self {
        Self { proof, ..self }
    }

    /// The same with the commands that train this model, and make this page, again.
    #[must_use]
    pub fn with_commands(self, commands: String) -> Self {
        Self { again: Some(commands), ..self }
    }

    /// A picture, if it can be drawn of this model and this data.
    fn picture(&self, page: &mut Page, kind: &str, caption: &str) -> bool {
        let drawn = |canvas: Canvas, ids: &str| {
            let picture = draw(kind, &self.seen, &Settings::default(), canvas).ok()?;
            Some(picture.svg(&Svg { ids, inline: true, ..Svg::default() }))
        };
        let Some(narrow) = drawn(PAPER, kind) else { return false };
        let wide = OF_PARTS.contains(&kind).then(|| drawn(WIDE_PAPER, &format!("{kind}-wide"))).flatten();
        match wide {
            Some(wide) => page.wide_picture(&wide, &narrow, caption),
            None => page.picture(&narrow, caption),
        }
        true
    }

    /// Looks the wrong rows up in the source they came from.
    pub fn look_up(&mut self, source: &Source, read: &ReadOptions) -> Result<(), DataError> {
        if self.model.schema().is_some_and(|schema| schema.texts().next().is_some()) {
            let rows: Vec<u32> = self.shown.iter().map(|wrong| wrong.row).collect();
            self.texts = texts(source, read, &rows)?;
        }
        Ok(())
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut page = Page::new(&format!("{}: a report", self.name));
        self.summary(&mut page);
        self.quality(&mut page);
        self.features(&mut page);
        self.rows(&mut page);
        self.wrong(&mut page);
        self.training(&mut page);
        self.certificate(&mut page);
        self.again(&mut page);
        page.finish(&format!("Rosenblatt {}", env!("CARGO_PKG_VERSION")))
    }

    fn summary(&self, page: &mut Page) {
        let model = self.model;
        let is_learned = self.judged == Judged::Learned;
        if is_learned && let Some(told) = describe_estimate(model) {
            page.lead(&format!("{}.", capital(&told.replace('\n', ", "))));
        }
        let is_folded = model.training_summary().folds.is_some();
        let of_estimate = if is_folded { "cross-validated error" } else { "held-out error" };
        let of = match self.judged {
            Judged::Learned => "training error",
            Judged::HeldOut => of_estimate,
            Judged::SetAside => "held-out error",
            Judged::Others => "error",
        };
        let evaluation = match &self.fared {
            Fared::Classes(evaluation) => evaluation,
            Fared::Numbers(numbers) => return self.summary_of_numbers(page, of, &numbers.estimate),
        };
        let (low, high) = evaluation.interval();
        page.lead(&format!(
            "{} of {} right. The {of} is {}, and with 95 % confidence between {} and {}.",
            percent(evaluation.accuracy()),
            counted(evaluation.rows, "row", "rows"),
            percent(evaluation.error()),
            percent(low),
            percent(high)
        ));
        let summary = model.training_summary();
        let by_group = summary.estimate.and_then(|estimate| estimate.by_group);
        if let Some(by_group) = by_group.filter(|_| matches!(self.judged, Judged::HeldOut)) {
            page.paragraph(&format!("Quote this one: {}.", group_line(&by_group)));
        }
        self.judged_on(page);
        // What was found on rows that were not learned from goes before what the model makes of those it knows.
        let estimate = summary.estimate.filter(|_| is_learned);
        let estimate = estimate.map(|found| found.errors as f64 / found.rows.max(1) as f64);
        let baseline = evaluation.majority();
        if let Some((class, baseline)) = baseline
            && estimate.unwrap_or_else(|| evaluation.error()) >= baseline
            && !model.spec().weighs_mistakes()
        {
            let name = shortened(evaluation.labels.name(class), LONGEST_CLASS);
            let ranks =
                still_ranks(evaluation).map_or_else(String::new, |ranks| format!(" {}.", capital(&ranks)));
            page.warning(&format!("This is no better than always predicting {name}.{ranks}"));
        }
        if let Some(cost) = evaluation.cost(model) {
            let name = shortened(evaluation.labels.name(cost.always.0), LONGEST_CLASS);
            page.paragraph(&format!(
                "{}. It names classes by what they are expected to cost, so judge it by this rather than by how many rows are right.",
                capital(&cost_line(&cost, &name))
            ));
        }
        let mut tiles = Vec::new();
        tiles.extend(estimate.map(|error| (percent(error), of_estimate)));
        tiles.push((percent(evaluation.error()), of));
        tiles.extend(
            baseline.map(|(_, error)| (percent(error), "error of always predicting the most common class")),
        );
        tiles.extend([
            (count(evaluation.errors), "rows wrong"),
            (count(model.training_summary().rows as u64), "rows learned from"),
            (count(model.width() as u64), "features"),
            (count(model.labels().len() as u64), "classes"),
        ]);
        page.tiles(&tiles);
    }

    fn summary_of_numbers(&self, page: &mut Page, of: &str, estimate: &NumberEstimate) {
        let NumberEstimate { rmse, mae, r2, mean_rmse, median_mae, .. } = estimate;
        page.lead(&format!(
            "The {of} is {}, and with 95 % confidence between {} and {}: the root of the mean squared difference between \
             the true {} and the prediction.",
            short_number(rmse.value),
            short_number(rmse.low),
            short_number(rmse.high),
            self.target(),
        ));
        self.judged_on(page);
        if rmse.value >= *mean_rmse {
            page.warning("This is no better than always predicting the mean.");
        }
        page.tiles(&[
            (short_number(rmse.value), of),
            (short_number(mae.value), "mean absolute error"),
            (percent(r2.value.max(0.0)), "of the variance explained (R2)"),
            (short_number(*mean_rmse), "error of always predicting the mean"),
            (short_number(*median_mae), "mean absolute error of always predicting the median"),
            (count(self.model.training_summary().rows as u64), "rows learned from"),
            (count(self.model.width() as u64), "features"),
        ]);
    }

    /// What is predicted, if that is a number.
    fn target(&self) -> &str {
        self.model.labels().names().first().map_or("", String::as_str)
    }

    fn judged_on(&self, page: &mut Page) {
        let judged = format!("{}.", capital(&self.judged.sentence(self.fared.rows())));
        if self.judged == Judged::Learned {
            page.warning(&judged);
        } else {
            page.paragraph(&judged);
        }
    }

    fn quality(&self, page: &mut Page) {
        page.section("How good it is");
        let evaluation = match &self.fared {
            Fared::Classes(evaluation) => evaluation,
            Fared::Numbers(numbers) => return self.quality_of_numbers(page, numbers),
        };
        tables(page, evaluation);
        if evaluation.labels.len() > FEW_COLUMNS {
            self.picture(page, "confusion", "The confusion matrix: what rows of each class were taken for.");
        }
        self.picture(
            page,
            "roc",
            "How many rows of a class are found at the price of how many false alarms.",
        );
        self.picture(
            page,
            "precision-recall",
            "Precision at each recall: how many rows predicted as a class belong to it, as more of its rows are found.",
        );
        self.picture(page, "reliability", "How often what was given a probability came true.");
        if let Some(probability_scores) = evaluation.probability_scores {
            let is_raced = self.model.training_summary().is_raced();
            let fitted = match (self.judged, &self.seen.held_out) {
                (Judged::SetAside | Judged::HeldOut, _) if is_raced => "; fitted on other rows than these",
                (_, Some(_)) => "; each half of the rows judged by a fit on the other",
                (Judged::SetAside, None) => {
                    "; they were fitted on these very rows, so that on new ones both are a little worse"
                }
                _ => "",
            };
            let told = describe_probabilities(probability_scores);
            page.paragraph(&format!("Its probabilities: {told} (both 0 at best{fitted})."));
        }
        if self.judged == Judged::HeldOut
            && let Ok(training) = evaluate(self.model, &self.seen.data)
        {
            page.fold("The training rows", |page| {
                page.paragraph(&format!(
                    "Training error: {} of {}. It says how well the model fits what it has seen, not what new rows may expect.",
                    percent(training.error()),
                    describe_training_rows(self.model, training.rows)
                ));
                tables(page, &training);
            });
        }
    }

    fn quality_of_numbers(&self, page: &mut Page, numbers: &HeldNumbers) {
        self.picture(page, "fit", "True numbers beside predicted ones: on the line, a prediction is right.");
        self.picture(
            page,
            "residuals",
            "How far true numbers are above or below predictions. A pattern is something that the model lacks.",
        );
        let intervals: Vec<Vec<Cell>> = INTERVALS
            .into_iter()
            .filter_map(|share| Some((share, numbers.reach(share)?)))
            .map(|(share, reach)| vec![Cell::Head(percent(share)), Cell::Number(short_number(reach))])
            .collect();
        if !intervals.is_empty() {
            let from =
                if self.judged == Judged::Learned { "these very rows, which it knows" } else { "these rows" };
            page.paragraph(&format!(
                "How far the true {} is from the prediction at most, in this share of {from}.",
                self.target()
            ));
            page.table("Intervals.", &["share of rows", "up or down"], &intervals);
        }
        if self.judged == Judged::HeldOut
            && let Ok(training) = self.model.evaluate_numbers(&self.seen.data)
        {
            page.fold("The training rows", |page| {
                page.paragraph(&format!(
                    "Training error: {}, on {}. It says how well the model fits what it has seen, not what new rows may expect.",
                    short_number(training.rmse.value),
                    describe_training_rows(self.model, training.rows)
                ));
            });
        }
    }

    fn features(&self, page: &mut Page) {
        let model = self.model;
        let names = model.labels().names();
        if let Some(importance) = model.importance() {
            page.section("Columns that matter");
            let what = match importance.measure {
                Measure::LogLoss => "log loss",
                Measure::Error => "error",
            };
            page.paragraph(&format!(
                "By how much the {what} rises when the values of a column are shuffled among rows that were not learned from, \
                 with 95 % confidence. An interval that reaches down to 0 may be chance."
            ));
            let rows: Vec<Vec<Cell>> = (importance.columns.iter().take(MOST_COLUMNS))
                .map(|column| {
                    let (low, high) = column.interval;
                    // The sign that is as wide as a digit.
                    let rise = |rise: f64| decimals(rise, 4).replace('-', "\u{2212}");
                    let interval = format!("{} to {}", rise(low), rise(high));
                    let name = Cell::Head(column.column.clone());
                    vec![name, Cell::Number(rise(column.rise)), Cell::Number(interval)]
                })
                .collect();
            page.table(
                "The columns, the one that is missed most first.",
                &["column", what, "interval"],
                &rows,
            );
        }
        let mut strong = top_features_by_class(model, TOP_FEATURES);
        strong.truncate(FEW_CLASSES);
        if strong.iter().all(Vec::is_empty) {
            return;
        }
        page.section("What the model goes by");
        if let Some(schema) = model.schema().filter(|schema| schema.bends.is_some()) {
            let alone =
                "What each column adds to the score, value by value, and how many rows have those values";
            let more =
                if schema.surfaces().is_empty() { "" } else { "; then what pairs of columns add together" };
            let caption = format!("{alone}{more}.");
            self.picture(page, "shapes", &caption);
        }
        let drawn =
            self.picture(page, "weights", "The weights that decide, by name or as they lie in the picture.");
        if drawn && (self.is_of_pictures() || list_top_features(model).is_empty()) {
            return;
        }
        if model.task() == Task::Numbers {
            return page.paragraph(&format!("{}.", capital(list_top_features(model).trim_end())));
        }
        page.paragraph(&format!(
            "The features that contribute most in favour of each class{}: a feature's weight times its value \
             is its share of the score.",
            by_spread(model, strong.iter().flatten())
        ));
        let rows: Vec<Vec<Cell>> = (names.iter().zip(&strong))
            .map(|(name, top_features)| {
                let words: Vec<String> = top_features.iter().map(describe_feature).collect();
                vec![Cell::Head(name.clone()), Cell::Text(words.join(", "))]
            })
            .collect();
        page.table("The features that contribute most.", &["class", "features"], &rows);
        if let Some(line) = on_chance(model) {
            page.paragraph(&format!("{}.", capital(&line)));
        }
    }

    fn is_of_pictures(&self) -> bool {
        self.model.schema().is_some_and(|schema| schema.picture.is_some())
    }

    fn rows(&self, page: &mut Page) {
        if self.model.task() == Task::Numbers {
            return;
        }
        page.section("Where the rows lie");
        // Of words, no two directions say anything.
        let is_text = self.model.schema().is_some_and(|schema| schema.texts().next().is_some());
        if !is_text && self.seen.data.width() <= MOST_SLICED {
            self.picture(
                page,
                "boundary",
                "The rows, the regions of the classes, and what is taken for something else.",
            );
        }
        self.picture(
            page,
            "margins",
            "How far rows are from the boundary: those to the left of zero are wrong.",
        );
    }

    fn wrong(&self, page: &mut Page) {
        let (model, data) = (self.model, &self.seen.data);
        let is_number = model.task() == Task::Numbers;
        page.section(if is_number { "Rows furthest off" } else { "Misclassified rows worth a look" });
        if self.shown.is_empty() {
            return page.paragraph("There are none.");
        }
        let (what, why) = if is_number {
            (
                "row",
                "those first that are furthest off. Where a number is far from all that is like it, it may be wrong",
            )
        } else {
            (
                "wrong row",
                "the most confident mistakes first. Where the model is sure and wrong, the label may be, too",
            )
        };
        let rows = counted(self.n_wrong, what, &format!("{what}s"));
        page.paragraph(&format!(
            "{}, {why}.{}",
            if self.n_wrong > SHOWN as u64 { format!("{SHOWN} of {rows}") } else { rows },
            if self.judged == Judged::HeldOut {
                " What speaks for and against is that of the model that was kept, which knows these rows by now."
            } else {
                ""
            }
        ));
        let sides = if is_number { ["raises it", "lowers it"] } else { ["in favour", "against"] };
        let explained = self.shown.iter().zip(explanations(model, data, &self.shown));
        for (place, (wrong, explanation)) in explained.enumerate() {
            let text = self.texts.as_ref().map(|texts| shortened(&texts[place], LONGEST_TEXT));
            let mut remarks = Vec::new();
            for (what, side) in sides.into_iter().zip([&explanation.in_favour, &explanation.against]) {
                if !side.is_empty() {
                    remarks.push((what, contributions(model, side)));
                }
            }
            if remarks.is_empty() {
                remarks
                    .push(("why", "no feature of the row has a weight; the bias alone decided".to_owned()));
            }
            page.card(&wrong.heading, self.portrait(wrong).as_deref(), text.as_deref(), &remarks);
        }
    }

    /// A row that is a picture, as a picture.
    fn portrait(&self, wrong: &Wrong) -> Option<String> {
        let row = wrong.row;
        let picture = self.model.schema()?.picture.filter(|picture| picture.channels == 1)?;
        let n_pixels = (picture.width * picture.height).max(self.seen.data.width());
        let mut values = vec![0.0; n_pixels];
        visit!(self.seen.data.view(), examples => {
            examples.row(row as usize).entries().for_each(|(feature, value)| values[feature] = value);
        });
        values.truncate(picture.width * picture.height);
        let name = format!("row {}", count(u64::from(row) + 1));
        let hues = [Hue::Plain, wrong.hue];
        let tile = Tile { name, width: picture.width, values, hues };
        let meaning = ["dark", "bright"].map(str::to_owned);
        let heat = Heat { title: String::new(), notes: Vec::new(), meaning, tiles: vec![tile] };
        let drawn = heat.draw(Canvas { width: PORTRAIT, height: PORTRAIT, ..Canvas::default() }).ok()?;
        let ids = format!("row-{row}");
        Some(drawn.svg(&Svg { ids: &ids, inline: true, ..Svg::default() }))
    }

    fn training(&self, page: &mut Page) {
        let (model, spec) = (self.model, self.model.spec());
        page.section("How it was trained");
        for line in describe_training(model).lines() {
            page.paragraph(&format!("{}.", capital(line)));
        }
        let options = spec.options();
        let mut facts = vec![
            ("algorithm", format!("{}: {}", spec.entry().info.name, spec.entry().info.summary)),
            ("weights used", spec.readout().to_string()),
            ("epochs", count(model.training_summary().totals.epochs)),
            ("order", spec.order().to_string()),
            ("bias", spec.bias().to_string()),
            ("seed", options.seed.to_string()),
        ];
        if model.task() == Task::Classes {
            facts.insert(3, ("mistakes while learning", count(model.training_summary().totals.mistakes)));
        }
        if let Some(digest) = model.data_fingerprint() {
            facts.push(("fingerprint of the data", digest.to_owned()));
        }
        if let Some(date) = model.date() {
            facts.push(("date", date.to_string()));
        }
        if model.labels().len() > 2 {
            facts.push(("classes separated", options.multiclass.to_string()));
        }
        if let Some(calibration) = model.calibration() {
            let rows = counted(calibration.rows(), "row", "rows");
            facts.push(("probabilities", format!("{}, fitted on {rows} held out", calibration.method())));
        }
        page.facts("Its description.", &facts);
        if self.judged != Judged::Others && self.seen.data.len() <= MOST_RERUN {
            let plainly = if model.spec().weighs_mistakes() {
                " It counts how many rows are wrong, whatever a mistake costs."
            } else {
                ""
            };
            self.picture(page, "curves", &format!("A run like its own, epoch by epoch.{plainly}"));
            if model.training_summary().stopped == Stopped::Clean {
                self.picture(page, "mistakes", "Mistakes against the most that the proof allows.");
            }
        }
    }

    fn certificate(&self, page: &mut Page) {
        let Some(proof) = &self.proof else { return };
        page.section("What is certain");
        page.code(proof.trim_end());
    }

    fn again(&self, page: &mut Page) {
        let Some(commands) = &self.again else { return };
        page.section("The same again");
        page.paragraph("This command trains the same model, to the bit, and the next makes this page:");
        page.code(commands);
    }
}

/// A row that was given the wrong class.
fn mistaken(model: &Model, seen: &Subject, wrong: &Misclassified) -> Wrong {
    // What is kept of rows held out counts classes as the model does, and data may have another order of them.
    let truths = if seen.held_out.is_some() { model.labels() } else { seen.data.labels() };
    let sure = match wrong.probability {
        Some(probability) => format!("{} sure", percent(probability)),
        None => format!("ahead by {}", short_number(wrong.score_gap)),
    };
    let heading = format!(
        "Row {}: {} taken for {}, {sure}",
        count(u64::from(wrong.row) + 1),
        shortened(truths.name(wrong.truth), LONGEST_CLASS),
        shortened(model.labels().name(wrong.given), LONGEST_CLASS),
    );
    let hue =
        model.labels().class(truths.name(wrong.truth)).map_or(Hue::Plain, |class| Hue::Class(class as usize));
    Wrong { row: wrong.row, class: wrong.given, hue, heading }
}

/// The rows whose numbers are furthest from what was predicted of them, and how many are off at all.
fn furthest_off(numbers: &HeldNumbers) -> (Vec<Wrong>, u64) {
    let off = |place: &usize| (numbers.targets[*place] - numbers.predicted[*place]).abs();
    let mut places: Vec<usize> = (0..numbers.rows.len()).filter(|place| off(place) > 0.0).collect();
    places.sort_by(|a, b| off(b).total_cmp(&off(a)));
    let n_off = places.len() as u64;
    let wrong = places.into_iter().take(SHOWN).map(|place| {
        let (row, truth, predicted) = (numbers.rows[place], numbers.targets[place], numbers.predicted[place]);
        let heading = format!(
            "Row {}: {} where {} is predicted",
            count(u64::from(row) + 1),
            short_number(truth),
            short_number(predicted)
        );
        Wrong { row, class: 0, hue: Hue::Class(0), heading }
    });
    (wrong.collect(), n_off)
}

/// What rows of each class were taken for, and how often that was right.
fn tables(page: &mut Page, evaluation: &Evaluation) {
    let names = evaluation.labels.names();
    let rows: Vec<Vec<Cell>> = (0..names.len())
        .filter(|&class| evaluation.support(class) > 0)
        .map(|class| {
            let numbers = [evaluation.precision(class), evaluation.recall(class), evaluation.f1(class)];
            let numbers = numbers.map(|number| Cell::Number(format!("{number:.3}")));
            let mut row =
                vec![Cell::Head(names[class].clone()), Cell::Number(count(evaluation.support(class)))];
            row.extend(numbers);
            row.push(Cell::Number(evaluation.auc[class].map_or_else(String::new, |auc| format!("{auc:.3}"))));
            row
        })
        .collect();
    page.paragraph(
        "Precision: of the rows given the class, the share that are of it. Recall: of the rows of the class, \
         the share that were given it. AUC: the chance that a row of the class scores higher than another.",
    );
    page.table("Class by class.", &["class", "rows", "precision", "recall", "F1", "AUC"], &rows);
    if names.len() <= FEW_COLUMNS {
        let head: Vec<String> = names.iter().map(|name| format!("predicted {name}")).collect();
        let head: Vec<&str> =
            std::iter::once("actual class").chain(head.iter().map(String::as_str)).collect();
        let rows: Vec<Vec<Cell>> = (names.iter().zip(evaluation.confusion.rows()))
            .map(|(name, counts)| {
                let counts = counts.into_iter().map(|number| Cell::Number(count(number)));
                std::iter::once(Cell::Head(name.clone())).chain(counts).collect()
            })
            .collect();
        page.table("Confusion matrix: what rows of each class were taken for.", &head, &rows);
    }
}

fn explanations(model: &Model, data: &Dataset, wrong: &[Wrong]) -> Vec<Explanation> {
    let mut explainer = Explainer::new(model);
    visit!(data.view(), examples => {
        let explain = |wrong: &Wrong| {
            explainer.explain(examples.row(wrong.row as usize), wrong.class, CONTRIBUTIONS)
        };
        wrong.iter().map(explain).collect()
    })
}

fn contributions(model: &Model, contributions: &[Contribution]) -> String {
    let words = contributions.iter().map(|contribution| {
        format!("{} {}", contribution.name(model), short_number(contribution.amount().abs()))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Text of at most `most` letters.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
