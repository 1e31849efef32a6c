//! What a page has on its desk: rows, learners on their way, and the proof.

use crate::command::{command, has_weights};
use crate::presets::preset;
use crate::proof::{self, Bound};
use rosenblatt::data::{
    Column, ColumnKind, DataError, LabelColumn, Missing, Precision, ReadOptions, Remedy, Scaling, Schema,
    Source, load_with_schema,
};
use rosenblatt::learning::{Bias, Dense, Examples, Mistake};
use rosenblatt::slice::Slice;
use rosenblatt::split::split;
use rosenblatt::trace::{Beginning, Told, TracedRound, Walk, latex, markdown};
use rosenblatt::{Dataset, Error, Model, Options, Spec, Task, algorithms, catalogue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The largest file that a page reads: all of it is in memory, some of it several times.
const MOST_BYTES: u64 = 64 << 20;
/// The most learners side by side.
const MOST_LEARNERS: usize = 4;
/// The most cells of a heat map along a side.
const MOST_CELLS: usize = 400;
/// The most rows that a page has proved of by itself.
const MOST_PROVED: usize = 20_000;
/// The most rounds of a trace that is taken away.
const MOST_TRACED: u64 = 100_000;

/// What a page may ask for.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// What there is to choose from.
    Catalogue,
    /// A table to begin with, as text.
    Preset {
        /// Which one.
        name: String,
        /// How many rows, if they are drawn.
        #[serde(default)]
        rows: usize,
        /// How noisy, from 0.
        #[serde(default)]
        noise: f64,
        /// Decides what is drawn.
        #[serde(default)]
        seed: u64,
    },
    /// Whether a file of this many bytes can be read here.
    Fits {
        /// Its length.
        bytes: u64,
    },
    /// Reads the bytes that came with the request.
    Read {
        /// What the file is called.
        name: String,
        /// The label column, by name or number; detected if not given.
        #[serde(default)]
        label: Option<String>,
        /// The two columns of numbers to learn from and to see, by name; all features are learned from otherwise.
        #[serde(default)]
        columns: Option<[String; 2]>,
        /// How features are brought to one scale.
        #[serde(default)]
        scaling: Option<String>,
        /// The share of rows that are not learned from.
        #[serde(default)]
        test: f64,
        /// Decides which.
        #[serde(default)]
        seed: u64,
    },
    /// Puts these learners at the start.
    Learn {
        /// What they are.
        learners: Vec<Value>,
        /// Where those that learn one hyperplane of the rows' own features start.
        #[serde(default)]
        from: Beginning,
    },
    /// Has all learners go to the end of a round.
    Go {
        /// Which round.
        round: u64,
    },
    /// Classes that a learner gives the rows, with error and margin.
    Look {
        /// Which learner.
        learner: usize,
    },
    /// What a learner says of a grid of places.
    Heat {
        /// Which learner.
        learner: usize,
        /// Cells along a side.
        cells: usize,
        /// Left, right, bottom and top.
        frame: [f64; 4],
    },
    /// Whether a hyperplane separates the classes, with the proof.
    Certify {
        /// How the hyperplane gets off the origin.
        bias: String,
    },
    /// A learner's rounds as text.
    Trace {
        /// Which learner.
        learner: usize,
        /// `csv`, `latex` or `markdown`.
        form: String,
        /// How many rounds.
        rounds: u64,
    },
    /// The command line that does what a learner does.
    Command {
        /// Which learner.
        learner: usize,
    },
}

/// A desk.
#[derive(Default)]
pub struct Session {
    table: Option<Table>,
    walks: Vec<Walk>,
    models: Vec<Option<Model>>,
    bound: Option<Bound>,
    numbers: Vec<f64>,
}

struct Table {
    name: String,
    /// How it was read.
    reading: ReadOptions,
    /// The columns of numbers that two can be chosen from.
    numbers: Vec<String>,
    /// What a person should know of how it was read.
    notes: Vec<String>,
    /// The share of rows that are not learned from.
    held_out: f64,
    data: Arc<Dataset>,
    slice: Slice,
    train: Vec<u32>,
    test: Vec<u32>,
}

/// What went wrong, in the engine's words, with what to do about it.
pub(crate) struct Trouble(pub(crate) String);

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let help = error.remedy().map_or_else(String::new, |remedy| format!("\n{}", worded(&remedy)));
        Self(format!("{error}{help}"))
    }
}

impl From<DataError> for Trouble {
    fn from(error: DataError) -> Self {
        Self(error.report_as(worded))
    }
}

/// Advice in the words of a page: options by their names.
fn worded(remedy: &Remedy) -> String {
    remedy.to_string()
}

/// The rules that tell classes apart: what a page draws.
fn of_classes() -> Vec<catalogue::Algorithm> {
    catalogue::algorithms().into_iter().filter(|algorithm| algorithm.task == Task::Classes).collect()
}

impl Session {
    /// Answers a request, whose file is `bytes` if it has one. An answer with `error` says what is wrong.
    pub fn ask(&mut self, request: &[u8], bytes: Vec<u8>) -> String {
        self.numbers.clear();
        let answer = match serde_json::from_slice(request) {
            Ok(request) => self.answer(request, bytes),
            Err(error) => Err(Trouble(format!("no such request: {error}"))),
        };
        answer.unwrap_or_else(|Trouble(what)| json!({ "error": what })).to_string()
    }

    /// What belongs to the last answer.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    fn answer(&mut self, request: Request, bytes: Vec<u8>) -> Result<Value, Trouble> {
        match request {
            // What a page offers: how files are written is not among it.
            Request::Catalogue => Ok(json!({
                "algorithms": of_classes(), "kernels": catalogue::kernels(),
                "maps": catalogue::maps(), "choices": catalogue::choices(), "defaults": defaults(),
            })),
            Request::Preset { name, rows, noise, seed } => {
                let text = preset(&name, rows.min(100_000), noise, seed);
                text.map(|text| json!({ "text": text }))
                    .ok_or_else(|| Trouble(format!("there are no rows `{name}`")))
            }
            Request::Fits { bytes } => fits(bytes).map(|()| json!({})),
            Request::Read { name, label, columns, scaling, test, seed } => {
                fits(bytes.len() as u64)?;
                let how = Reading { label, columns, scaling, test, seed };
                let table = Table::read(&name, bytes, how)?;
                self.walks.clear();
                self.models.clear();
                self.bound = None;
                self.numbers = table.places();
                let json = table.summary();
                self.table = Some(table);
                Ok(json)
            }
            Request::Learn { learners, from } => self.learn(learners, &from),
            Request::Go { round } => self.go(round),
            Request::Look { learner } => self.look(learner),
            Request::Heat { learner, cells, frame } => self.heat(learner, cells, frame),
            Request::Certify { bias } => {
                let table = on_desk(self.table.as_ref())?;
                if table.data.len() > MOST_PROVED {
                    return Err(Trouble(format!(
                        "a page does not try to prove anything of more than {MOST_PROVED} rows; `rosenblatt certify FILE` does"
                    )));
                }
                let bias: Bias = bias.parse().map_err(|error| Trouble(format!("{error}")))?;
                let (json, bound) = proof::certify(&table.data, bias)?;
                self.bound = bound;
                Ok(json)
            }
            Request::Trace { learner, form, rounds } => {
                let (table, walk) = (on_desk(self.table.as_ref())?, on_desk(self.walks.get(learner))?);
                if !table.test.is_empty() {
                    return Err(Trouble("a trace uses all rows: hold none out".to_owned()));
                }
                let traced = walk.trace(1..=rounds.clamp(1, MOST_TRACED))?;
                let shown = Told { data: &table.data, trace: &traced };
                let (header, rows) = shown.table();
                let ending = traced.ending_in_words(walk.spec().bias());
                let text = match form.as_str() {
                    "csv" => shown.csv(),
                    "latex" => format!("{}{}\n% {ending}\n", shown.sides("latex"), latex(&header, &rows)),
                    _ => format!("{}{}\n{ending}\n", shown.sides("markdown"), markdown(&header, &rows)),
                };
                Ok(json!({ "text": text }))
            }
            Request::Command { learner } => {
                let (table, walk) = (on_desk(self.table.as_ref())?, on_desk(self.walks.get(learner))?);
                Ok(json!({ "text": command(&table.name, &table.reading, table.held_out, walk) }))
            }
        }
    }

    fn learn(&mut self, learners: Vec<Value>, from: &Beginning) -> Result<Value, Trouble> {
        let table = on_desk(self.table.as_ref())?;
        if learners.is_empty() || learners.len() > MOST_LEARNERS {
            return Err(Trouble(format!("there is room for 1 to {MOST_LEARNERS} learners")));
        }
        let mut walks = Vec::new();
        for (place, options) in learners.into_iter().enumerate() {
            let options: Options = serde_json::from_value(options)
                .map_err(|error| Trouble(format!("learner {}: {error}", place + 1)))?;
            let beginning = if has_weights(&options) { from.clone() } else { Beginning::default() };
            // Rules that look for the worst row have an order of their own.
            let picks = algorithms::find(&options.algorithm).is_ok_and(|entry| entry.info.picks_worst);
            let order = options.order.filter(|_| !picks);
            let walk = beginning.spec(Options { validation: None, order, ..options }).and_then(|spec| {
                Walk::starting_at(beginning, spec, Arc::clone(&table.data), Some(table.train.clone()))
            });
            walks.push(walk.map_err(|error| {
                let Trouble(what) = error.into();
                Trouble(format!("learner {}: {what}", place + 1))
            })?);
        }
        self.walks = walks;
        self.models = self.walks.iter().map(|_| None).collect();
        self.go(0)
    }

    fn go(&mut self, round: u64) -> Result<Value, Trouble> {
        for (walk, model) in self.walks.iter_mut().zip(&mut self.models) {
            if walk.totals().rounds != round {
                *model = None;
            }
            walk.go_to(round)?;
        }
        let names = self.table.as_ref().map_or(&[][..], |table| table.data.labels().names());
        let json = self.walks.iter().map(|walk| {
            let totals = walk.totals();
            let rounds: Vec<Value> = walk.rounds().iter().map(|round| told_round(walk, round)).collect();
            let mut json = json!({
                "round": totals.rounds, "epoch": totals.epochs, "mistakes": totals.mistakes,
                "updates": totals.updates, "place": walk.place().0, "rows": walk.place().1, "rounds": rounds,
                "ending": walk.ending().map(|ending| ending.in_words(totals, walk.spec().bias())),
            });
            if let (Some(bound), [round]) = (&self.bound, walk.rounds())
                && names.len() == 2
                && is_novikoffs(walk.spec())
                && walk.beginning().is_zero()
            {
                json["meters"] = bound.meters(round);
            }
            json
        });
        let json: Vec<Value> = json.collect();
        Ok(json!({ "learners": json }))
    }

    /// The learner's model as it stands; made once for all that is asked of it.
    fn model(&mut self, learner: usize) -> Result<&Model, Trouble> {
        let walk = on_desk(self.walks.get(learner))?;
        Ok(self.models[learner].get_or_insert_with(|| walk.model()))
    }

    fn look(&mut self, learner: usize) -> Result<Value, Trouble> {
        let table = on_desk(self.table.as_ref())?;
        let data = Arc::clone(&table.data);
        let (train, test) = (table.train.clone(), table.test.clone());
        let slice = table.slice.clone();
        let model = self.model(learner)?;
        let mut margin = f64::INFINITY;
        let (mut classes, mut is_train) = (vec![0_u32; data.len()], vec![true; data.len()]);
        for &row in &test {
            is_train[row as usize] = false;
        }
        let mut seen = Seen::new(&data);
        model.each_row(data.view(), |row, class, scores| {
            classes[row as usize] = class;
            seen.add(data.classes()[row as usize] as usize, scores);
            if let ([score], true) = (scores, is_train[row as usize]) {
                let side = if data.classes()[row as usize] == 1 { 1.0 } else { -1.0 };
                margin = margin.min(side * score);
            }
        })?;
        let share = |rows: &[u32]| {
            let wrong =
                rows.iter().filter(|&&row| classes[row as usize] != data.classes()[row as usize]).count();
            if rows.is_empty() { None } else { Some(wrong as f64 / rows.len() as f64) }
        };
        let errors = [share(&train), share(&test)];
        // What lies on the picture of a hyperplane in as many dimensions as there are: its score on the plane's places.
        let planes: Vec<Value> =
            model.planes().filter(|_| model.map().is_none()).map_or_else(Vec::new, |planes| {
                (0..planes.n_outputs())
                    .map(|output| {
                        let mut weights = planes.weights(output);
                        weights.resize(data.width(), 0.0);
                        let bias = planes.biases()[output];
                        let norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
                        json!({ "line": line_of(&slice, &weights, bias), "norm": norm, "bias": bias })
                    })
                    .collect()
            });
        let units: Vec<Value> = model.network().map_or_else(Vec::new, |network| {
            let n_units = network.sizes()[1];
            (0..n_units)
                .map(|unit| {
                    let weights: Vec<f64> = (0..data.width()).map(|input| network.weight(0, input, unit)).collect();
                    json!({ "line": line_of(&slice, &weights, network.biases(0)[unit]),
                            "weight": (network.n_layers() == 2 && network.n_outputs() == 1).then(|| network.weight(1, unit, 0)) })
                })
                .collect()
        });
        let support = model.expansion().map(|expansion| expansion.rows().len());
        let norm = match planes.as_slice() {
            [only] => only["norm"].as_f64(),
            _ => None,
        };
        let geometric = norm.filter(|norm| *norm > 0.0 && margin.is_finite()).map(|norm| margin / norm);
        self.numbers.extend(classes.iter().map(|&class| f64::from(class)));
        let view = seen.tell(&data, &slice, norm, &mut self.numbers);
        Ok(
            json!({ "errors": errors, "margin": geometric, "planes": planes, "units": units, "support": support,
                    "view": view }),
        )
    }

    fn heat(&mut self, learner: usize, cells: usize, frame: [f64; 4]) -> Result<Value, Trouble> {
        let slice = on_desk(self.table.as_ref())?.slice.clone();
        let width = on_desk(self.table.as_ref())?.data.width();
        let model = self.model(learner)?;
        let cells = cells.clamp(2, MOST_CELLS);
        let [left, right, bottom, top] = frame;
        let mut rows = Vec::with_capacity(cells * cells * width);
        let mut row = Vec::new();
        for up in 0..cells {
            let y = top + (bottom - top) * (up as f64 + 0.5) / cells as f64;
            for across in 0..cells {
                let x = left + (right - left) * (across as f64 + 0.5) / cells as f64;
                slice.row_into(x, y, &mut row);
                rows.extend_from_slice(&row);
            }
        }
        let classes = vec![0; cells * cells];
        let grid = rosenblatt::learning::DenseExamples::new(&rows, width, &classes);
        let mut numbers = Vec::with_capacity(2 * grid.len());
        let mut lead = model.predictor(width);
        let is_network = model.network().is_some();
        model.each_row(rosenblatt::data::View::Dense64(grid), |row, class, scores| {
            let score = match scores {
                [score] => *score,
                // By how much the class leads is what the predictor of single rows says; networks and kernels of
                // many classes are drawn by class alone, as that is dear.
                _ if is_network || model.expansion().is_some() => 1.0,
                _ => lead.verdict(Dense(&rows[row as usize * width..(row as usize + 1) * width])).1,
            };
            numbers.extend([f64::from(class), score]);
        })?;
        self.numbers = numbers;
        Ok(json!({ "cells": cells }))
    }
}

/// Rows of more than two features as a model sees them, each on its true side. Of two classes: the score of the second. Of
/// more, where each has a score: that of the row's own class, and the highest of the others.
struct Seen {
    n_classes: usize,
    is_wide: bool,
    scores: Vec<f64>,
}

impl Seen {
    fn new(data: &Dataset) -> Self {
        Self { n_classes: data.labels().len(), is_wide: data.width() > 2, scores: Vec::new() }
    }

    fn add(&mut self, class: usize, scores: &[f64]) {
        if !self.is_wide {
            return;
        }
        match scores {
            [score] => self.scores.push(*score),
            scores if scores.len() == self.n_classes => {
                let others = scores.iter().enumerate().filter(|(other, _)| *other != class);
                let rival = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
                self.scores.extend([scores[class], rival]);
            }
            _ => {}
        }
    }

    /// Adds the places to `numbers`, and says what they show. A score of a hyperplane of length `norm` is a distance.
    fn tell(
        &self,
        data: &Dataset,
        slice: &Slice,
        norm: Option<f64>,
        numbers: &mut Vec<f64>,
    ) -> Option<&'static str> {
        if self.scores.len() == 2 * data.len() {
            numbers.extend(&self.scores);
            return Some("rival");
        }
        if self.scores.len() != data.len() || data.is_empty() {
            return None;
        }
        let length = norm.filter(|norm| *norm > 0.0);
        let places = self.scores.iter().zip(slice.places(data));
        numbers.extend(places.flat_map(|(score, (along, _))| [score / length.unwrap_or(1.0), along]));
        Some(if length.is_some() { "distance" } else { "score" })
    }
}

/// The conventions that a page starts with.
fn defaults() -> Value {
    let Options { mistake, zero, multiclass, seed, .. } = Options::default();
    json!({ "mistake": mistake.to_string(), "zero": zero.to_string(), "multiclass": multiclass.to_string(), "seed": seed })
}

/// The line `a x + b y + c = 0` that a hyperplane is on the plane of the picture.
fn line_of(slice: &Slice, weights: &[f64], bias: f64) -> [f64; 3] {
    let score = |x: f64, y: f64| -> f64 {
        slice.row(x, y).iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>() + bias
    };
    let at_origin = score(0.0, 0.0);
    [score(1.0, 0.0) - at_origin, score(0.0, 1.0) - at_origin, at_origin]
}

/// Whether the textbook's proof is about such a run: whole examples are added on mistakes alone.
fn is_novikoffs(spec: &Spec) -> bool {
    let options = spec.options();
    spec.entry().info.fixed_increment
        && options.rate.is_none()
        && options.kernel.is_none()
        && options.map.is_none()
        && options.mistake != Mistake::Lt0
}

fn told_round(walk: &Walk, round: &TracedRound) -> Value {
    let before = walk.before().map(|planes| (planes.weights(round.output), planes.biases()[round.output]));
    json!({
        "before": before,
        "round": round.round, "epoch": round.epoch, "row": round.row, "class": round.class, "output": round.output,
        "side": round.side, "activation": round.activation, "mistaken": round.mistaken, "step": round.step,
        "w": round.weights, "b": round.bias, "survived": round.survived,
    })
}

fn fits(n_bytes: u64) -> Result<(), Trouble> {
    if n_bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(Trouble(format!(
        "the file has {n_bytes} bytes, expected at most {MOST_BYTES} in a page\n`rosenblatt train FILE` reads files of any size"
    )))
}

fn on_desk<T>(found: Option<T>) -> Result<T, Trouble> {
    found.ok_or_else(|| Trouble("nothing was read yet, or there is no such learner".to_owned()))
}

struct Reading {
    label: Option<String>,
    columns: Option<[String; 2]>,
    scaling: Option<String>,
    test: f64,
    seed: u64,
}

impl Table {
    fn read(name: &str, bytes: Vec<u8>, how: Reading) -> Result<Self, Trouble> {
        let Reading { label, columns, scaling, test, seed } = how;
        let scaling: Scaling = match scaling.as_deref() {
            None => Scaling::None,
            Some(name) => name.parse().map_err(|error| Trouble(format!("{error}")))?,
        };
        let mut reading = ReadOptions {
            label: label.map_or(LabelColumn::Guess, LabelColumn::Named),
            precision: Precision::Double,
            scaling,
            threads: 1,
            ..ReadOptions::default()
        };
        let source = Source::bytes(name, bytes);
        let (mut data, mut schema) = load_whole(&source, &mut reading)?;
        let is_number = |column: &&Column| matches!(column.kind, ColumnKind::Number { .. });
        let numbers: Vec<String> =
            schema.columns.iter().filter(is_number).map(|column| column.name.clone()).collect();
        let slice = match columns {
            Some(seen) if schema.columns.len() > 1 => {
                // What is not seen is not read either: a row may lack a value there.
                let others = schema.columns.iter().filter(|column| !seen.contains(&column.name));
                reading.ignore = others.map(|column| column.name.clone()).collect();
                if let Some(label) = schema.label {
                    reading.label = LabelColumn::Named(label);
                }
                reading.missing = Missing::default();
                (data, schema) = load_whole(&source, &mut reading)?;
                let place = |name: &String| {
                    let found = schema.columns.iter().position(|column| column.name == *name);
                    found.ok_or_else(|| Trouble(format!("there is no column of numbers `{name}`")))
                };
                Slice::columns(&data, place(&seen[0])?, place(&seen[1])?)?
            }
            _ => match data.width() {
                1 => Slice::columns(&data, 0, 0)?,
                2 => Slice::columns(&data, 0, 1)?,
                _ => Slice::principal(&data, seed),
            },
        };
        let held_out = test.clamp(0.0, 0.9);
        let (train, test) = split(&data, held_out, seed);
        let (name, notes) = (name.to_owned(), schema.notes);
        Ok(Self { name, reading, numbers, notes, held_out, data: Arc::new(data), slice, train, test })
    }

    /// Where the rows are, and of which class: three numbers each.
    fn places(&self) -> Vec<f64> {
        let places = self.slice.places(&self.data).into_iter().zip(self.data.classes());
        places.flat_map(|((x, y), &class)| [x, y, f64::from(class)]).collect()
    }

    fn summary(&self) -> Value {
        let names: Vec<String> = match self.data.feature_names() {
            Some(names) => names.to_vec(),
            None => (1..=self.data.width()).map(|feature| format!("x{feature}")).collect(),
        };
        json!({
            "rows": self.data.len(), "features": names, "numbers": self.numbers,
            "classes": self.data.labels().names(), "dropped": self.reading.missing == Missing::Drop,
            "test": self.test, "notes": self.notes, "slice": self.slice.kind(),
        })
    }
}

/// All rows, but for those that lack a value if there are any.
fn load_whole(source: &Source, reading: &mut ReadOptions) -> Result<(Dataset, Schema), DataError> {
    load_with_schema(source, reading).or_else(|_| {
        reading.missing = Missing::Drop;
        load_with_schema(source, reading)
    })
}
