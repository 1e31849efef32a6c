//! What a model is, as one value to be written down: `inspect --json` and whatever else describes models.

use crate::calibration::Calibration;
use crate::importance::Importance;
use crate::insight::{Curve, TopFeature, curves, top_features_by_class};
use crate::model::{Model, TrainingSummary};
use crate::spec::Options;
use crate::task::Task;
use crate::understand::shuffling::unranked;
use rosenblatt_core::memory::Kept;
use rosenblatt_data::Schema;
use rosenblatt_kernel::Combination;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a model is.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Summary<'m> {
    /// The classes it tells apart.
    pub classes: &'m [String],
    /// How many features it knows.
    pub features: usize,
    /// What tells the data it was trained on from other data.
    pub data_fingerprint: Option<&'m str>,
    /// When it was made, if that was kept.
    pub date: Option<String>,
    /// What is kept of the run.
    pub readout: String,
    /// What was asked for.
    pub spec: &'m Options,
    /// How the run went.
    pub training_summary: &'m TrainingSummary,
    /// Its hyperplanes; none for votes, kernels and networks.
    pub hyperplanes: Vec<Hyperplane>,
    /// Its survivors, if it votes.
    pub votes: Option<VoteSummary>,
    /// Its kernel, if it has one.
    pub kernel: Option<KernelSummary>,
    /// Its network, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSummary>,
    /// How its probabilities were fitted, if they were.
    pub calibration: Option<&'m Calibration>,
    /// The top features of every class.
    pub top_features: Vec<TopFeatures<'m>>,
    /// The curves of columns that bend; of two classes, those in favour of the second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curves<'m>>,
    /// Which columns matter, if that was measured when it was trained.
    pub importance: Option<&'m Importance>,
}

/// The curves of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves<'m> {
    /// The class.
    pub class: &'m str,
    /// A curve for each column that bends.
    pub columns: Vec<Curve>,
}

/// A hyperplane in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Hyperplane {
    /// What a positive score speaks for.
    #[serde(rename = "for")]
    pub name: String,
    /// How many weights are not zero.
    #[serde(rename = "not-zero")]
    pub used: usize,
    /// The length of the weight vector.
    pub norm: f64,
    /// The bias.
    pub bias: f64,
}

/// A vote in a few numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VoteSummary {
    /// The hypotheses that vote.
    pub survivors: usize,
    /// The rows they are made of.
    pub rows: usize,
}

/// A kernel hypothesis in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct KernelSummary {
    /// What the kernel is called; unknown where it was made elsewhere.
    pub name: Option<&'static str>,
    /// Its parameters, by name.
    pub params: BTreeMap<&'static str, f64>,
    /// Rows that it remembers.
    pub support_vectors: usize,
    /// Which rows of the training data those are, from 1; nothing if that is not known.
    #[serde(skip_serializing_if = "<[u64]>::is_empty")]
    pub support_rows: Vec<u64>,
    /// The steps between voters, if it votes.
    pub moves: Option<usize>,
}

/// A network in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct NetworkSummary {
    /// Inputs, units of every hidden layer, outputs.
    pub sizes: Vec<usize>,
    /// What hidden units make of their sums.
    pub activation: String,
    /// Weights and biases, all together.
    pub parameters: usize,
}

/// The features that speak most strongly for a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopFeatures<'m> {
    /// The class.
    pub class: &'m str,
    /// Its features, the largest weight first.
    pub features: Vec<TopFeature>,
}

impl Model {
    /// What the model is, as JSON, whatever its task: [`Model::summary`] of rows, with tags
    /// [what was learned](crate::tagger::Tagger::insight) of sentences. At most `most` features of every
    /// class or tag are listed.
    pub fn describe(&self, most: usize) -> Value {
        match self.tagger() {
            Some(tagger) if most == 0 => tagger.summary(),
            Some(tagger) => tagger.insight(most),
            None => {
                let mut summary = json!(self.summary(most));
                summary["task"] = json!(self.task());
                summary
            }
        }
    }

    /// What the model is, with at most `most` features of every class.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Spec, train};
    ///
    /// let data = Dataset::from_rows(&[[2.0, 0.0], [0.0, 2.0]], &["right", "up"]);
    /// let model = train(&Spec::default(), &data)?;
    /// assert_eq!(model.summary(3).hyperplanes[0].name, "up");
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn summary(&self, most: usize) -> Summary<'_> {
        let votes = match &self.kept {
            Kept::Votes(votes) => Some(VoteSummary { survivors: votes.n_moves() + 1, rows: votes.n_rows() }),
            Kept::Hyperplanes(_) | Kept::Other(_) => None,
        };
        let kernel = self.expansion().map(|expansion| {
            let formula = expansion.kernel().formula();
            KernelSummary {
                name: formula.as_ref().map(|formula| formula.name),
                params: formula.map_or_else(BTreeMap::new, |formula| formula.values.into_iter().collect()),
                support_vectors: expansion.rows().len(),
                support_rows: self.provenance.support_numbers.iter().map(|number| number + 1).collect(),
                moves: match expansion.combination() {
                    Combination::Votes { log, .. } => Some(log.len()),
                    Combination::Sums { .. } => None,
                },
            }
        });
        let network = self.network().map(|network| {
            let sizes = network.sizes();
            let parameters = sizes.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
            NetworkSummary { sizes, activation: network.activation().to_string(), parameters }
        });
        let names = self.labels.names();
        let features = top_features_by_class(self, most);
        let top_features =
            names.iter().zip(features).map(|(class, features)| TopFeatures { class, features });
        Summary {
            classes: names,
            features: self.width(),
            data_fingerprint: self.data_fingerprint(),
            date: self.date().map(|date| date.to_string()),
            readout: self.spec.readout().to_string(),
            spec: self.spec.options(),
            training_summary: &self.training_summary,
            hyperplanes: self.hyperplanes(),
            votes,
            kernel,
            network,
            calibration: self.calibration(),
            top_features: top_features.collect(),
            curves: self.curves(),
            importance: self.importance(),
        }
    }

    /// Why its columns are not ranked by how much they matter, where its error was estimated and they are not.
    pub fn why_unranked(&self) -> Option<String> {
        let is_open = self.training_summary.estimate.is_some() && self.importance().is_none();
        let schema = self.schema().map(AsRef::as_ref);
        let width = schema.and_then(Schema::base_width).unwrap_or_else(|| self.width());
        unranked(width, schema).filter(|_| is_open && self.task() == Task::Classes)
    }

    /// The curves of columns that bend, of each class that has its own.
    fn curves(&self) -> Vec<Curves<'_>> {
        let names = self.labels.names();
        let all = names.iter().zip(0..).skip(usize::from(names.len() == 2));
        let all = all.map(|(class, number)| Curves { class, columns: curves(self, number) });
        all.filter(|curves| !curves.columns.is_empty()).collect()
    }

    /// Its hyperplanes in a few numbers; none for votes and kernels.
    pub fn hyperplanes(&self) -> Vec<Hyperplane> {
        let Some(planes) = self.planes() else { return Vec::new() };
        let mut summed = vec![(0, 0.0); planes.n_outputs()];
        for (_, output, weight) in planes.entries() {
            let (used, norm2) = &mut summed[output];
            *used += 1;
            *norm2 += weight * weight;
        }
        let hyperplane = |(output, name): (usize, String)| {
            let (used, norm2): (usize, f64) = summed[output];
            Hyperplane { name, used, norm: norm2.sqrt(), bias: planes.biases()[output] }
        };
        self.output_names().into_iter().enumerate().map(hyperplane).collect()
    }

    /// What a positive score of each output speaks for: the second of two classes, else a class or a pair.
    pub fn output_names(&self) -> Vec<String> {
        let names = self.labels.names();
        match (names, self.pairs()) {
            ([_, second], _) => vec![second.clone()],
            (_, Some(pairs)) => pairs.iter().map(|(a, b)| format!("{a} against {b}")).collect(),
            _ => names.to_vec(),
        }
    }
}
