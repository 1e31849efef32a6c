//! ONNX: the model as a graph that any ONNX runtime evaluates.
//!
//! One input, `features` (doubles, a row per example, encoded as the model's features but not scaled). Two
//! or three outputs: `label` (text), `scores` (doubles, as `predict --scores` prints them) and, if the model
//! was calibrated by Platt's method, `probabilities` (doubles, a column per class). Only operators of the
//! standard set, version 13, in doubles: `LinearClassifier` knows single precision only. A model that predicts a number has
//! one output, `prediction` (doubles, one column).
//!
//! Shifts and scales of columns are folded into weights and biases. Of columns that bend, `features` has the number; it is
//! joined by how far it is on its way from each knot to the next, clipped to 0 and 1, and the weights of these are how far
//! the curve climbs there. What two columns add together is made of products of these. A missing number is `NaN` where the
//! model has a height for it. `label` is the most probable class where there are probabilities. What would
//! name other classes than the model does is refused: isotonic curves that decide between more than two classes, and a score
//! of zero that is `random` or `wrong`.

use super::additive::{Bent, Height, Points, Weights};
use super::protobuf::Message;
use super::{Export, bends, left_to_user, n_straight, scaler};
use crate::calibration::{Curve, Method, Verdict};
use crate::error::{Error, refuse};
use crate::insight::feature_name;
use crate::model::Model;
use crate::task::Task;
use rosenblatt_core::{Decision, Hyperplanes, Multiclass, OneVsOne, Zero};
use rosenblatt_data::{Bends, Missing, Scaling, Schema};
use rosenblatt_layers::{Activation, Network};

/// Version 8 of the file format came with version 15 of the operators; both are read everywhere today.
const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 13;
/// Element types, as `TensorProto.DataType` numbers them.
const INT64: i64 = 7;
const TEXT: i64 = 8;
const DOUBLE: i64 = 11;

/// One layer of weights: those of every input for all units after the other's, and a bias per unit.
struct Layer {
    weights: Vec<f64>,
    biases: Vec<f64>,
}

/// What curves are made of: each times a height.
#[derive(Clone, Copy, PartialEq)]
enum Term {
    Always,
    /// Whether a feature is missing.
    Missing {
        feature: usize,
    },
    /// Whether it is this value.
    Value {
        feature: usize,
        value: f64,
    },
    /// How far it is on its way from a knot to the next, which is so much higher.
    Step {
        feature: usize,
        low: f64,
        gap: f64,
    },
}

/// Terms with their weights, and products of two of them, by their places.
struct Terms {
    nothing: Points,
    single: Vec<(Term, Points)>,
    products: Vec<(usize, usize, Points)>,
}

impl Terms {
    /// A curve, or what lies between the heights of one, as a sum of terms. A missing value counts as `stand_in`, and as missing.
    fn of<H: Height>(bent: &Bent<H>, feature: usize, stand_in: f64, nothing: &H) -> Vec<(Term, H)> {
        let less = |height: &H, other: &H| {
            let mut less = height.clone();
            less.add(other, -1.0);
            less
        };
        let mut terms: Vec<(Term, H)> =
            bent.knots.first().map(|(_, height)| (Term::Always, height.clone())).into_iter().collect();
        terms.extend(bent.knots.windows(2).map(|pair| {
            let ((low, from), (high, to)) = (&pair[0], &pair[1]);
            (Term::Step { feature, low: *low, gap: high - low }, less(to, from))
        }));
        let own = |(value, height): &(f64, H)| (Term::Value { feature, value: *value }, height.clone());
        terms.extend(bent.values.iter().map(own));
        if let Some(missing) = &bent.missing {
            terms.push((Term::Missing { feature }, less(missing, &bent.at(stand_in, nothing.clone()))));
        }
        terms
    }

    /// Adds what two columns add together; no other surface shares its terms.
    fn add_surface(&mut self, surface: &Bent<Bent>, features: [usize; 2], stand_ins: &[f64]) {
        let start = self.single.len();
        let [one, other] = features;
        let level = surface.levels().next().map(|level| level.map(|_| self.nothing.clone()));
        let Some(level) = level else { return };
        for (left, curve) in Self::of(surface, one, stand_ins[one], &level) {
            for (right, points) in Self::of(&curve, other, stand_ins[other], &self.nothing) {
                match (left, right) {
                    (Term::Always, term) | (term, Term::Always) => {
                        let place = self.place(term, start);
                        self.single[place].1.add(&points, 1.0);
                    }
                    _ => {
                        let pair = (self.place(left, start), self.place(right, start));
                        self.products.push((pair.0, pair.1, points));
                    }
                }
            }
        }
    }

    /// Where a term stands, from a place on.
    fn place(&mut self, term: Term, start: usize) -> usize {
        let found = self.single[start..].iter().position(|(other, _)| *other == term);
        found.map_or_else(
            || {
                self.single.push((term, self.nothing.clone()));
                self.single.len() - 1
            },
            |place| start + place,
        )
    }
}

/// The bytes of the file of a linear model.
pub(super) fn bytes(model: &Model, planes: &Hyperplanes) -> Vec<u8> {
    let only = Layer { weights: planes.raw_weights().to_vec(), biases: planes.biases().to_vec() };
    let mut graph = Graph::default();
    let Some(bends) = bends(model) else { return of_layers(model, graph, "features", vec![only], None) };
    let weights = Weights::of(model, planes);
    let has_missing = model.schema().is_some_and(|schema| schema.missing == Missing::Own);
    let (joined, only) = graph.curves(&weights, bends, has_missing);
    of_layers(model, graph, &joined, vec![only], None)
}

/// The bytes of the file of a network.
pub(super) fn of_network(model: &Model, network: &Network) -> Vec<u8> {
    let layer =
        |number| Layer { weights: network.layer_weights(number), biases: network.biases(number).to_vec() };
    let operator = match network.activation() {
        Activation::Relu => Some("Relu"),
        Activation::Tanh => Some("Tanh"),
        Activation::Logistic => Some("Sigmoid"),
        Activation::Identity => None,
    };
    let layers = (0..network.n_layers()).map(layer).collect();
    of_layers(model, Graph::default(), "features", layers, operator)
}

/// Refuses what would name other classes than the model does.
pub(super) fn check(model: &Model) -> Result<(), Error> {
    let zero = model.spec().options().zero;
    if matches!(zero, Zero::Random | Zero::Wrong) {
        return refuse("zero", "plus or minus for ONNX, which names one class for every score", zero);
    }
    let decides_by_steps =
        |verdict: Verdict<'_>| verdict.calibration.method() == Method::Isotonic && model.labels().len() > 2;
    if model.verdict().is_some_and(decides_by_steps) {
        return refuse(
            "calibrate",
            "platt or off for ONNX, which has no steps for three classes or more",
            "isotonic",
        );
    }
    Ok(())
}

/// The bytes of the file, with this operator between layers, the first of which weighs `features` of the graph.
fn of_layers(
    model: &Model,
    mut graph: Graph,
    features: &str,
    mut layers: Vec<Layer>,
    operator: Option<&str>,
) -> Vec<u8> {
    if let Some(first) = layers.first_mut() {
        unscale(model, first);
    }
    let features = match scaler(model) {
        Some(scaler) if scaler.scaling == Scaling::UnitNorm => graph.unit_rows(features),
        _ => features.to_owned(),
    };
    let names = feature_names(model);
    let is_number = model.task() == Task::Numbers;
    let scores = if is_number { "prediction" } else { "scores" };
    let n_outputs = layers.last().map_or(0, |layer| layer.biases.len());
    let mut said = features;
    for (number, Layer { weights, biases }) in layers.iter().enumerate() {
        let n_inputs = weights.len() / biases.len().max(1);
        // The layer that gives the scores has the plain names.
        let is_last = number + 1 == layers.len();
        let name = |what: &str| if is_last { what.to_owned() } else { format!("{what}_{}", number + 1) };
        graph.doubles(&name("weights"), &[n_inputs, biases.len()], weights);
        graph.doubles(&name("biases"), &[1, biases.len()], biases);
        let products = graph.node("MatMul", &[&said, &name("weights")], &[]);
        if is_last {
            graph.named_node("Add", &[&products, "biases"], scores, &[]);
        } else {
            let sums = graph.node("Add", &[&products, &name("biases")], &[]);
            said = operator.map_or_else(|| sums.clone(), |operator| graph.node(operator, &[&sums], &[]));
        }
    }
    let outputs = if is_number {
        vec![value(scores, DOUBLE, &[n_outputs])]
    } else {
        let mut outputs = vec![value("label", TEXT, &[]), value(scores, DOUBLE, &[n_outputs])];
        if graph.name_classes(model) {
            outputs.push(value("probabilities", DOUBLE, &[model.labels().len()]));
        }
        outputs
    };
    let input = value("features", DOUBLE, &[names.len()]);
    let graph = graph.finish(&input, &outputs);
    let note = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let names = serde_json::to_string(&names).unwrap_or_default();
    let classes = serde_json::to_string(model.labels().names()).unwrap_or_default();
    Message::default()
        .number(1, IR_VERSION)
        .text(2, "rosenblatt")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &graph)
        .message(8, &Message::default().text(1, "").number(2, OPERATORS))
        .message(14, &note("features", &names))
        .message(14, &note(if is_number { "numbers" } else { "classes" }, &classes))
        .message(14, &note("left to the user", &left_to_user(model, Export::Onnx).join("; ")))
        .finish()
}

/// What the features are called before any bend.
fn feature_names(model: &Model) -> Vec<String> {
    let Some(bends) = bends(model) else {
        return (0..model.width()).map(|feature| feature_name(model, feature)).collect();
    };
    let straight = model.schema().map(|schema| Schema { bends: None, ..Schema::clone(schema) });
    let named = straight.and_then(|schema| schema.feature_names());
    let name = |feature: usize| {
        let named = named.as_ref().and_then(|names| names.get(feature).cloned());
        named.unwrap_or_else(|| format!("feature {}", feature + 1))
    };
    (0..n_straight(bends, model.width())).map(name).collect()
}

/// Weights and biases for features that are not scaled: `w (x - m) / s = (w / s) x - w m / s`.
fn unscale(model: &Model, first: &mut Layer) {
    let Layer { weights, biases } = first;
    if let Some(scaler) = scaler(model) {
        for (feature, row) in weights.chunks_exact_mut(biases.len()).enumerate() {
            let scale = scaler.scale.get(feature).copied().unwrap_or(1.0);
            let shift = scaler.shift.get(feature).copied().unwrap_or(0.0);
            for (weight, bias) in row.iter_mut().zip(&mut *biases) {
                *weight /= scale;
                *bias -= *weight * shift;
            }
        }
    }
}

/// A `ValueInfoProto`: rows without end, and this many columns (none is a list).
fn value(name: &str, element: i64, columns: &[usize]) -> Message {
    let rows = Message::default().text(2, "rows");
    let shape = columns.iter().fold(Message::default().message(1, &rows), |shape, &columns| {
        shape.message(1, &Message::default().size(1, columns))
    });
    let tensor = Message::default().number(1, element).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

/// An attribute of a node that is a whole number.
fn whole(name: &str, value: i64) -> Message {
    Message::default().text(1, name).number(3, value).number(20, 2)
}

/// Nodes and constants, in the order they were made.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
}

impl Graph {
    /// A node whose output has a name of its own making.
    fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[Message]) -> String {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.named_node(operator, inputs, &name, attributes);
        name
    }

    fn named_node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[Message]) {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(4, operator);
        self.nodes.push(attributes.iter().fold(node, |node, attribute| node.message(5, attribute)));
    }

    fn tensor(shape: &[usize], element: i64) -> Message {
        let shaped = shape.iter().fold(Message::default(), |tensor, &size| tensor.size(1, size));
        shaped.number(2, element)
    }

    fn doubles(&mut self, name: &str, shape: &[usize], values: &[f64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constants.push(Self::tensor(shape, DOUBLE).text(8, name).bytes(9, &bytes));
    }

    /// A list of whole numbers; axes are given so.
    fn axis(&mut self, name: &str, axis: i64) -> String {
        self.constants.push(Self::tensor(&[1], INT64).text(8, name).bytes(9, &axis.to_le_bytes()));
        name.to_owned()
    }

    /// Features joined by what makes lines of the curves of those that bend, and the weights of all of them.
    fn curves(&mut self, weights: &Weights<'_>, bends: &Bends, has_missing: bool) -> (String, Layer) {
        let mut layer = Layer { weights: Vec::new(), biases: weights.biases() };
        let none = vec![0.0; layer.biases.len()];
        let policy = if has_missing { Missing::Own } else { Missing::Error };
        // What stands in the place of a missing number, so that it can be counted.
        let mut stand_ins = vec![0.0; weights.n_features()];
        let mut is_bent = vec![false; weights.n_features()];
        let mut all = Terms { nothing: none.clone(), single: Vec::new(), products: Vec::new() };
        for feature in bends.columns.iter().map(|bend| bend.feature as usize) {
            let Some(bent) = weights.bent(feature).filter(|_| feature < is_bent.len()) else { continue };
            is_bent[feature] = true;
            stand_ins[feature] = bent.knots.first().map_or(0.0, |(knot, _)| *knot);
            let bent = bent.answering(&none, None, policy);
            all.single.extend(Terms::of(&bent, feature, stand_ins[feature], &none));
        }
        for surface in bends.surfaces.iter().filter(|surface| !surface.features().is_empty()) {
            let features = surface.axes.each_ref().map(|axis| axis.feature as usize);
            if features.iter().all(|feature| *feature < stand_ins.len()) {
                all.add_surface(&weights.surface(surface, [None; 2], policy), features, &stand_ins);
            }
        }
        for (feature, is_bent) in is_bent.into_iter().enumerate() {
            layer.weights.extend(if is_bent { none.clone() } else { weights.slopes(feature) });
        }
        let always = all.single.iter().filter(|(term, _)| *term == Term::Always);
        always.for_each(|(_, points)| layer.biases.add(points, 1.0));
        let mut columns = vec![0; all.single.len()];
        let mut n_joined = stand_ins.len();
        // Weighs the terms of a kind: which features they are about, and what numbers they have.
        let mut weigh = |wanted: fn(Term) -> Option<(usize, f64, f64)>| {
            let (mut features, mut numbers) = (Vec::new(), (Vec::new(), Vec::new()));
            for ((term, points), column) in all.single.iter().zip(&mut columns) {
                let Some((feature, one, other)) = wanted(*term) else { continue };
                *column = n_joined;
                n_joined += 1;
                layer.weights.extend(points);
                features.push(feature);
                numbers.0.push(one);
                numbers.1.push(other);
            }
            (features, numbers)
        };
        let mut features = "features".to_owned();
        let mut pieces = Vec::new();
        let (missing, _) = weigh(|term| match term {
            Term::Missing { feature } => Some((feature, 0.0, 0.0)),
            _ => None,
        });
        if !missing.is_empty() {
            let is_missing = self.node("IsNaN", &["features"], &[]);
            self.doubles("stand_ins", &[1, stand_ins.len()], &stand_ins);
            features = self.node("Where", &[&is_missing, "stand_ins", "features"], &[]);
            let as_numbers = self.node("Cast", &[&is_missing], &[whole("to", DOUBLE)]);
            pieces.push(self.gather("missing", &as_numbers, missing));
        }
        let (of_values, (values, _)) = weigh(|term| match term {
            Term::Value { feature, value } => Some((feature, value, 0.0)),
            _ => None,
        });
        if !values.is_empty() {
            let cells = self.gather("of_values", &features, of_values);
            self.doubles("values", &[1, values.len()], &values);
            let is_equal = self.node("Equal", &[&cells, "values"], &[]);
            pieces.push(self.node("Cast", &[&is_equal], &[whole("to", DOUBLE)]));
        }
        let (of_steps, (lows, gaps)) = weigh(|term| match term {
            Term::Step { feature, low, gap } => Some((feature, low, gap)),
            _ => None,
        });
        if !lows.is_empty() {
            let cells = self.gather("of_steps", &features, of_steps);
            self.doubles("lows", &[1, lows.len()], &lows);
            self.doubles("gaps", &[1, gaps.len()], &gaps);
            let above = self.node("Sub", &[&cells, "lows"], &[]);
            let shares = self.node("Div", &[&above, "gaps"], &[]);
            let (least, most) = (self.scalar("no_share", 0.0), self.scalar("whole_share", 1.0));
            pieces.push(self.node("Clip", &[&shares, &least, &most], &[]));
        }
        pieces.insert(0, features);
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let mut joined = self.node("Concat", &pieces, &[whole("axis", 1)]);
        if !all.products.is_empty() {
            let sides = all.products.iter().map(|&(left, right, _)| (columns[left], columns[right]));
            let (lefts, rights): (Vec<usize>, Vec<usize>) = sides.unzip();
            let (left, right) =
                (self.gather("lefts", &joined, lefts), self.gather("rights", &joined, rights));
            let products = self.node("Mul", &[&left, &right], &[]);
            joined = self.node("Concat", &[&joined, &products], &[whole("axis", 1)]);
            layer.weights.extend(all.products.iter().flat_map(|(.., points)| points));
        }
        (joined, layer)
    }

    /// `label` and, if there are any, `probabilities`, of `scores`; says whether there are any.
    fn name_classes(&mut self, model: &Model) -> bool {
        let n_classes = model.labels().len();
        self.texts("classes", model.labels().names());
        let options = model.spec().options();
        let duels = match options.multiclass.decision(n_classes) {
            Multiclass::OneVsOne(decision) => Some(decision),
            _ => None,
        };
        let is_by_votes = model.verdict().is_none();
        let platt_or_softmax = model.calibration().is_some_and(|fitted| fitted.method() != Method::Isotonic);
        let by_score = match &duels {
            Some(duels) if is_by_votes => self.duels(duels),
            _ => "scores".to_owned(),
        };
        let class_scores = match &duels {
            Some(duels) if platt_or_softmax => self.lowest(duels),
            _ => "scores".to_owned(),
        };
        let platt = model.calibration().filter(|fitted| fitted.method() == Method::Platt);
        let odds = platt.map(|calibration| self.log_odds(&class_scores, calibration.curves()));
        let verdict = model.verdict();
        let is_softmax = model.calibration().is_some_and(|fitted| fitted.method() == Method::Softmax);
        let has_probabilities = odds.is_some() || is_softmax;
        let costs = verdict.as_ref().and_then(|verdict| verdict.costs.as_ref()).filter(|_| has_probabilities);
        let deciding = match (verdict.as_ref().map(|verdict| verdict.calibration.curves()), &odds) {
            (Some(_), Some(odds)) => Some(odds.clone()),
            (Some(_), None) if is_softmax => Some(class_scores.clone()),
            (Some([steps]), None) => {
                let least = model.costs().map_or(0.5, |costs| costs.threshold());
                Some(self.beyond(steps.cut(least)))
            }
            _ => None,
        };
        if let Some(odds) = &odds {
            self.sigmoids(odds, n_classes);
        }
        if is_softmax {
            self.named_node("Softmax", &[&class_scores], "probabilities", &[whole("axis", 1)]);
        }
        match (deciding, costs) {
            (Some(_), Some(costs)) => self.cheapest(costs.rows(), n_classes, options.zero),
            (Some(odds), None) if n_classes == 2 => self.second_if_positive(&odds, options.zero),
            (Some(odds), None) => self.highest(&odds, options.zero),
            (None, _) if n_classes == 2 => self.second_if_positive("scores", options.zero),
            (None, _) => self.highest(&by_score, options.zero),
        }
        has_probabilities
    }

    /// Some columns of a matrix, in this order.
    fn gather(&mut self, name: &str, of: &str, columns: Vec<usize>) -> String {
        let bytes: Vec<u8> = columns.into_iter().flat_map(|column| (column as u64).to_le_bytes()).collect();
        self.constants.push(Self::tensor(&[bytes.len() / 8], INT64).text(8, name).bytes(9, &bytes));
        self.node("Gather", &[of, name], &[whole("axis", 1)])
    }

    fn texts(&mut self, name: &str, values: &[String]) {
        let tensor = Self::tensor(&[values.len()], TEXT);
        let tensor = values.iter().fold(tensor, |tensor, value| tensor.text(6, value));
        self.constants.push(tensor.text(8, name));
    }

    fn scalar(&mut self, name: &str, value: f64) -> String {
        self.doubles(name, &[], &[value]);
        name.to_owned()
    }

    /// Rows of length 1; a row of zeros stays one.
    fn unit_rows(&mut self, rows: &str) -> String {
        let columns = self.axis("norm_axis", 1);
        let least = self.scalar("least_norm", f64::MIN_POSITIVE);
        let squares = self.node("Mul", &[rows, rows], &[]);
        let sums = self.node("ReduceSum", &[&squares, &columns], &[whole("keepdims", 1)]);
        let norms = self.node("Sqrt", &[&sums], &[]);
        let norms = self.node("Max", &[&norms, &least], &[]);
        self.node("Div", &[rows, &norms], &[])
    }

    /// `label` of two classes.
    fn second_if_positive(&mut self, scores: &str, zero: Zero) {
        let nothing = self.scalar("zero", 0.0);
        let second = if zero == Zero::Plus {
            let first = self.node("Less", &[scores, &nothing], &[]);
            self.node("Not", &[&first], &[])
        } else {
            self.node("Greater", &[scores, &nothing], &[])
        };
        let number = self.node("Cast", &[&second], &[whole("to", INT64)]);
        let columns = self.axis("label_axis", 1);
        let class = self.node("Squeeze", &[&number, &columns], &[]);
        self.named_node("Gather", &["classes", &class], "label", &[whole("axis", 0)]);
    }

    /// How far the score is beyond a threshold.
    fn beyond(&mut self, threshold: f64) -> String {
        let threshold = self.scalar("threshold", threshold.clamp(f64::MIN, f64::MAX));
        self.node("Sub", &["scores", &threshold], &[])
    }

    /// `label` by what its mistakes are expected to cost.
    fn cheapest(&mut self, costs: &[f64], n_classes: usize, zero: Zero) {
        let gains: Vec<f64> = costs.iter().map(|cost| -cost).collect();
        self.doubles("gains", &[n_classes, n_classes], &gains);
        let expected = self.node("MatMul", &["probabilities", "gains"], &[]);
        self.highest(&expected, zero);
    }

    /// `label` by the highest of `scores`; of equals the first, or the last if zero is positive.
    fn highest(&mut self, scores: &str, zero: Zero) {
        let last = i64::from(zero == Zero::Plus);
        let attributes = [whole("axis", 1), whole("keepdims", 0), whole("select_last_index", last)];
        let class = self.node("ArgMax", &[scores], &attributes);
        self.named_node("Gather", &["classes", &class], "label", &[whole("axis", 0)]);
    }

    /// Of every class the duels it wins less those it loses, and less than a third of a duel for the sum of their
    /// scores: the highest wins the vote, and of equals it has the larger sum.
    fn duels(&mut self, decision: &OneVsOne) -> String {
        let n_classes = decision.n_classes();
        let mut sides = vec![0.0; decision.pairs().len() * n_classes];
        for (pair, &(a, b)) in decision.pairs().iter().enumerate() {
            sides[pair * n_classes + a as usize] = 1.0;
            sides[pair * n_classes + b as usize] = -1.0;
        }
        self.doubles("sides", &[decision.pairs().len(), n_classes], &sides);
        let sums = self.node("MatMul", &["scores", "sides"], &[]);
        let won = self.node("Sign", &["scores"], &[]);
        let wins = self.node("MatMul", &[&won, "sides"], &[]);
        let (one_duel, third) = (self.scalar("one_duel", 1.0), self.scalar("three", 3.0));
        let size = self.node("Abs", &[&sums], &[]);
        let size = self.node("Add", &[&size, &one_duel], &[]);
        let size = self.node("Mul", &[&size, &third], &[]);
        let share = self.node("Div", &[&sums, &size], &[]);
        self.node("Add", &[&wins, &share], &[])
    }

    /// Of every class its lowest score against another.
    fn lowest(&mut self, decision: &OneVsOne) -> String {
        let against = |class: usize| {
            let of_class = move |(pair, &(a, b)): (usize, &(u32, u32))| match class as u32 {
                class if class == a => Some((pair, 1.0)),
                class if class == b => Some((pair, -1.0)),
                _ => None,
            };
            decision.pairs().iter().enumerate().filter_map(of_class).collect::<Vec<_>>()
        };
        let n_classes = decision.n_classes();
        let duels: Vec<Vec<(usize, f64)>> = (0..n_classes).map(against).collect();
        let of_duel = |duel: usize, graph: &mut Self| {
            let (pairs, sides): (Vec<usize>, Vec<f64>) = duels.iter().map(|of_class| of_class[duel]).unzip();
            let scores = graph.gather(&format!("duel_{duel}"), "scores", pairs);
            graph.doubles(&format!("side_{duel}"), &[1, n_classes], &sides);
            graph.node("Mul", &[&scores, &format!("side_{duel}")], &[])
        };
        let scores: Vec<String> = (0..n_classes - 1).map(|duel| of_duel(duel, self)).collect();
        self.node("Min", &scores.iter().map(String::as_str).collect::<Vec<_>>(), &[])
    }

    /// The logarithms of the odds of every class, by Platt's curves.
    fn log_odds(&mut self, scores: &str, curves: &[Curve]) -> String {
        let (mut slopes, mut offsets) = (Vec::new(), Vec::new());
        for curve in curves {
            if let Curve::Platt { slope, offset } = curve {
                slopes.push(-slope);
                offsets.push(-offset);
            }
        }
        self.doubles("slopes", &[1, slopes.len()], &slopes);
        self.doubles("offsets", &[1, offsets.len()], &offsets);
        let steep = self.node("Mul", &[scores, "slopes"], &[]);
        self.node("Add", &[&steep, "offsets"], &[])
    }

    /// `probabilities` by Platt's curves.
    fn sigmoids(&mut self, odds: &str, n_classes: usize) {
        let shares = self.node("Sigmoid", &[odds], &[]);
        if n_classes == 2 {
            let whole_share = self.scalar("one", 1.0);
            let rest = self.node("Sub", &[&whole_share, &shares], &[]);
            self.named_node("Concat", &[&rest, &shares], "probabilities", &[whole("axis", 1)]);
        } else {
            let columns = self.axis("share_axis", 1);
            let sums = self.node("ReduceSum", &[&shares, &columns], &[whole("keepdims", 1)]);
            self.named_node("Div", &[&shares, &sums], "probabilities", &[]);
        }
    }

    fn finish(self, input: &Message, outputs: &[Message]) -> Message {
        let graph = self.nodes.iter().fold(Message::default(), |graph, node| graph.message(1, node));
        let graph = graph.text(2, "rosenblatt");
        let graph = self.constants.iter().fold(graph, |graph, constant| graph.message(5, constant));
        let graph = graph.message(11, input);
        outputs.iter().fold(graph, |graph, output| graph.message(12, output))
    }
}

#[cfg(test)]
mod tests {
    use crate::export::Export;
    use crate::{Dataset, Spec, export, train};
    use std::collections::BTreeMap;

    /// The fields of a message, by number: numbers as their eight bytes.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let (&byte, rest) = bytes.split_first().expect("a varint ends");
                *bytes = rest;
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => varint(&mut bytes).to_le_bytes().to_vec(),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    value.to_vec()
                }
                other => panic!("wire type {other} is not written"),
            };
            found.push((key >> 3, value));
        }
        found
    }

    fn all(fields: &[(u64, Vec<u8>)], number: u64) -> Vec<Vec<u8>> {
        fields.iter().filter(|(found, _)| *found == number).map(|(_, value)| value.clone()).collect()
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn the_graph_decodes_to_the_weights_and_every_input_is_made_somewhere() {
        let rows = [[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7], [-2.0, -1.9], [-1.7, -2.2]];
        let data = Dataset::from_rows(&rows, &["apple", "apple", "banana", "banana", "orange", "orange"]);
        for multiclass in ["one-vs-rest", "one-vs-one"] {
            let options =
                crate::Options { multiclass: multiclass.parse().unwrap(), ..crate::Options::default() };
            let model = train(&Spec::new(options).unwrap(), &data).unwrap();
            let model =
                model.calibrated(crate::calibration::Method::Platt, &data, &[0, 1, 2, 3, 4, 5]).unwrap();
            let file = fields(&export(&model, Export::Onnx).unwrap());
            assert_eq!(all(&file, 1), [8_u64.to_le_bytes()]);
            let graph = fields(&all(&file, 7)[0]);
            let constants: BTreeMap<String, Vec<(u64, Vec<u8>)>> = all(&graph, 5)
                .iter()
                .map(|tensor| fields(tensor))
                .map(|tensor| (text(&all(&tensor, 8)[0]), tensor))
                .collect();
            let doubles = |name: &str| -> Vec<f64> {
                let raw = &all(&constants[name], 9)[0];
                raw.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
            };
            assert_eq!(doubles("weights"), model.planes().unwrap().raw_weights());
            assert_eq!(doubles("biases"), model.planes().unwrap().biases());
            let classes: Vec<String> = all(&constants["classes"], 6).iter().map(|name| text(name)).collect();
            assert_eq!(classes, ["apple", "banana", "orange"]);
            let mut made: Vec<String> = constants.keys().cloned().collect();
            made.push("features".to_owned());
            for node in all(&graph, 1) {
                let node = fields(&node);
                for input in all(&node, 1) {
                    assert!(made.contains(&text(&input)), "{} is made before it is used", text(&input));
                }
                made.extend(all(&node, 2).iter().map(|output| text(output)));
            }
            for output in ["label", "scores", "probabilities"] {
                assert!(made.iter().any(|name| name == output), "{output}");
            }
        }
    }
}
