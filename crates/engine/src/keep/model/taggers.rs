//! Models of tags as files: the container of every model, with another header.

use super::file::{
    Array, Arrays, Body, CalibrationText, FormatError, SummaryText, content, decode_calibration,
    encode_calibration, header_error, pack,
};
use super::{Date, Model, Provenance, TrainingSummary};
use crate::keep::tagger::{Columns, KeptTagger, Tagger, TaggerEstimate, TaggerOptions};
use crate::start::MOST_WEIGHT_BYTES;
use rosenblatt_sequence::{
    Constraints, Lexicon, Order, Scheme, Shape, Stored, Tagging, Votes, Weights, template,
};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// What the header says it is.
pub(super) const TAGGER: &str = "rosenblatt tagger";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Header {
    format: String,
    writer: String,
    options: TaggerOptions,
    labels: Vec<String>,
    template: Option<String>,
    columns: Columns,
    scheme: Option<String>,
    training_summary: SummaryText,
    tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    progressive: Option<TaggerEstimate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimate: Option<TaggerEstimate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// The columns whose cells are kept, in the order of their arrays.
    cells: Vec<usize>,
    arrays: Vec<Array>,
}

/// The bytes of a model's file. Attributes without weights are left out.
pub(super) fn encode(tagger: Tagger<'_>) -> Vec<u8> {
    let (model, tagger) = (tagger.model(), tagger.kept);
    let weights = tagger.tagging.weights();
    let n_labels = model.labels.len() as u32;
    let has_weights = |attribute: u32| {
        weights.of_attribute(attribute).is_some_and(|row| row.iter().any(|weight| *weight != 0.0))
            || !weights.links_of(attribute).is_empty()
            || tagger.tagging.votes().is_some_and(|votes| votes.moved(attribute))
    };
    let stored = tagger.lexicon.store(has_weights);
    let mut body = Body::default();
    for (number, (_, names)) in stored.cells.iter().enumerate() {
        body.u32s(&format!("cell-lengths-{number}"), names.iter().map(|name| name.len() as u32));
        body.u8s(&format!("cell-letters-{number}"), names.concat().as_bytes());
    }
    body.u32s("templates", stored.templates.iter().copied());
    body.u32s("outcomes", stored.outcomes.iter().copied());
    if tagger.options.hash_bits.is_some() {
        body.u32s("numbers", stored.numbers.iter().copied());
    }
    let (mut counts, mut of, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for attribute in (0..weights.n_attributes() as u32).filter(|attribute| has_weights(*attribute)) {
        let row = weights.of_attribute(attribute).unwrap_or_default();
        let before = values.len();
        for (label, weight) in row.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0) {
            of.push(label as u32);
            values.push(weight);
        }
        counts.push((values.len() - before) as u32);
    }
    body.u32s("counts", counts.iter().copied());
    body.u32s("weight-labels", of.iter().copied());
    body.f64s("weights", &values);
    if tagger.lexicon.has_links() {
        let kept = (0..weights.n_attributes() as u32).filter(|attribute| has_weights(*attribute));
        let links: Vec<Vec<(u32, u32, f64)>> = kept.map(|attribute| weights.links_of(attribute)).collect();
        body.u32s("link-counts", links.iter().map(|links| links.len() as u32));
        let links: Vec<(u32, u32, f64)> = links.concat();
        body.u32s("link-befores", links.iter().map(|(before, _, _)| *before));
        body.u32s("link-labels", links.iter().map(|(_, label, _)| *label));
        body.f64s("links", &links.iter().map(|(_, _, weight)| *weight).collect::<Vec<f64>>());
    }
    let pairs: Vec<f64> = (0..n_labels)
        .flat_map(|before| (0..n_labels).map(move |label| weights.of_pair(before, label)))
        .collect();
    body.f64s("pairs", &pairs);
    let mut triples = Vec::new();
    if weights.shape().order == Order::Second {
        for first in 0..n_labels {
            for before in 0..n_labels {
                triples.extend((0..n_labels).map(|label| weights.of_triple(first, before, label)));
            }
        }
    }
    body.f64s("triples", &triples);
    if let Some(votes) = tagger.tagging.votes() {
        // Attributes have the numbers that they will have when they are read.
        let kept = (0..weights.n_attributes() as u32).filter(|attribute| has_weights(*attribute));
        let kept: Vec<u32> = if tagger.options.hash_bits.is_some() { Vec::new() } else { kept.collect() };
        let number = |attribute: u32| kept.binary_search(&attribute).map_or(attribute, |place| place as u32);
        let (rounds, places, amounts) = votes.renumbered(number).lists();
        body.u64s("vote-rounds", rounds.into_iter());
        body.u32s("vote-places", places.into_iter());
        body.f64s("vote-amounts", &amounts);
    }
    let calibration = model.calibration.as_ref().map(|fitted| encode_calibration(fitted, &mut body));
    let header = Header {
        format: TAGGER.to_owned(),
        writer: env!("CARGO_PKG_VERSION").to_owned(),
        options: tagger.options.clone(),
        labels: model.labels.names().to_vec(),
        template: tagger.template.clone(),
        columns: tagger.columns.clone(),
        scheme: tagger.scheme.map(|scheme| scheme.name().to_owned()),
        training_summary: SummaryText::from(&model.training_summary),
        tokens: tagger.tokens,
        progressive: tagger.progressive.clone(),
        estimate: tagger.estimate.clone(),
        calibration,
        date: model.provenance.date.as_ref().map(Date::to_string),
        cells: stored.cells.iter().map(|(column, _)| *column).collect(),
        arrays: std::mem::take(&mut body.arrays),
    };
    pack(&header, &body)
}

pub(super) fn decode(header: &[u8], body: &[u8]) -> Result<Model, FormatError> {
    let header: Header = serde_json::from_slice(header).map_err(|error| header_error(&error))?;
    let Header {
        options,
        labels,
        template,
        columns,
        scheme,
        training_summary,
        tokens,
        progressive,
        estimate,
        calibration,
        date,
        cells,
        arrays,
        ..
    } = header;
    let meaning = options.meaning().map_err(|error| content(format!("its options: {error}")))?;
    let n_labels = labels.len();
    crate::keep::tagger::check_labels(n_labels, meaning.order).map_err(|error| content(error.to_string()))?;
    if n_labels < 2 || labels.iter().collect::<HashSet<_>>().len() != n_labels {
        return Err(content("it should name at least two different labels"));
    }
    if labels.iter().any(|label| label.contains(['\t', '\n', '\r', '\0']) || label.is_empty()) {
        return Err(content("a label should be a word"));
    }
    if columns.width != 0 && columns.label >= columns.width.max(1) {
        return Err(content("the label should stand in one of the columns"));
    }
    let mut arrays = Arrays::new(arrays, body);
    let mut stored = Stored::default();
    for (number, column) in cells.into_iter().enumerate() {
        let lengths = arrays.u32s(&format!("cell-lengths-{number}"))?;
        let letters = arrays.u8s(&format!("cell-letters-{number}"))?;
        let letters = std::str::from_utf8(letters).map_err(|_| content("its cells should be text"))?;
        let mut names = Vec::with_capacity(lengths.len());
        let mut rest = letters;
        for length in lengths {
            let (name, after) = rest
                .split_at_checked(length as usize)
                .ok_or_else(|| content("a cell is longer than the letters"))?;
            names.push(name.to_owned());
            rest = after;
        }
        if !rest.is_empty() {
            return Err(content("there are letters after the last cell"));
        }
        stored.cells.push((column, names));
    }
    stored.templates = arrays.u32s("templates")?;
    stored.outcomes = arrays.u32s("outcomes")?;
    let templates = match &template {
        Some(text) => template::parse(text).map_err(|error| content(error.to_string()))?,
        None => Vec::new(),
    };
    let lexicon = Lexicon::restore(templates, &stored).map_err(content)?.hashed(options.hash_bits);
    let numbers: Vec<u32> = match options.hash_bits {
        Some(_) => arrays.u32s("numbers")?,
        None => (0..lexicon.len() as u32).collect(),
    };
    let is_known = |number: &u32| (*number as usize) < lexicon.len();
    if !numbers.is_sorted_by(|one, other| one < other) || !numbers.iter().all(is_known) {
        return Err(content("the numbers of hashed attributes should ascend and fit in that many bits"));
    }
    let (counts, of, values) =
        (arrays.u32s("counts")?, arrays.u32s("weight-labels")?, arrays.f64s("weights")?);
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    if counts.len() != numbers.len() || total != values.len() as u64 || of.len() != values.len() {
        return Err(content("the weights do not fit the attributes"));
    }
    let needed = lexicon.len() as u128 * n_labels.next_multiple_of(4) as u128 * 8;
    if needed > 4 * MOST_WEIGHT_BYTES {
        return Err(content(format!("its weights would take {needed} bytes")));
    }
    let mut weights = Weights::zero(Shape { n_labels, order: meaning.order }, lexicon.len());
    let mut places = of.iter().zip(&values);
    for (attribute, count) in numbers.iter().zip(&counts) {
        for (label, weight) in places.by_ref().take(*count as usize) {
            if *label as usize >= n_labels {
                return Err(content("a weight is for a label that is not there"));
            }
            weights.set_attribute(*attribute, *label, *weight);
        }
    }
    if lexicon.has_links() {
        let (counts, befores) = (arrays.u32s("link-counts")?, arrays.u32s("link-befores")?);
        let (of, values) = (arrays.u32s("link-labels")?, arrays.f64s("links")?);
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        if counts.len() != numbers.len()
            || [befores.len(), of.len(), values.len()].map(|n| n as u64) != [total; 3]
        {
            return Err(content("the links do not fit the attributes"));
        }
        let mut links =
            befores.into_iter().zip(of).zip(values).map(|((before, label), weight)| (before, label, weight));
        for (attribute, count) in numbers.iter().zip(&counts) {
            let links: Vec<(u32, u32, f64)> = links.by_ref().take(*count as usize).collect();
            if !links.is_sorted_by(|one, other| (one.0, one.1) < (other.0, other.1)) {
                return Err(content("the links of an attribute should ascend"));
            }
            if links.iter().any(|(before, label, _)| (*before).max(*label) as usize >= n_labels) {
                return Err(content("a link is of a label that is not there"));
            }
            weights.set_links(*attribute, links);
        }
    }
    let (pairs, triples) = (arrays.f64s("pairs")?, arrays.f64s("triples")?);
    let n_triples = if meaning.order == Order::Second { n_labels.pow(3) } else { 0 };
    if pairs.len() != n_labels * n_labels || triples.len() != n_triples {
        return Err(content("the weights of labels that follow each other do not fit the labels"));
    }
    for (place, weight) in pairs.into_iter().enumerate() {
        weights.set_pair((place / n_labels) as u32, (place % n_labels) as u32, weight);
    }
    for (place, weight) in triples.into_iter().enumerate() {
        let (first, rest) = (place / (n_labels * n_labels), place % (n_labels * n_labels));
        weights.set_triple(first as u32, (rest / n_labels) as u32, (rest % n_labels) as u32, weight);
    }
    let training_summary: TrainingSummary = training_summary.try_into()?;
    let votes = if options.voted {
        let (rounds, places) = (arrays.u64s("vote-rounds")?, arrays.u32s("vote-places")?);
        let amounts = arrays.f64s("vote-amounts")?;
        let n_rounds = training_summary.totals.rounds;
        let votes = Votes::of_lists(weights.shape(), n_rounds, rounds, &places, &amounts)
            .filter(|votes| votes.last_attribute().is_none_or(|last| (last as usize) < lexicon.len()));
        Some(votes.ok_or_else(|| content("the steps of those that vote do not fit"))?)
    } else {
        None
    };
    // One curve: whether a label is right.
    let calibration = calibration.map(|text| decode_calibration(&text, 1, &mut arrays)).transpose()?;
    arrays.finish()?;
    let scheme = match scheme {
        Some(name) => {
            Some(Scheme::find(&name).ok_or_else(|| content(format!("the scheme `{name}` is unknown")))?)
        }
        None => None,
    };
    let constraints = Constraints::of_scheme(scheme, &labels);
    let date = date.map(|text| text.parse()).transpose().map_err(content)?;
    let tagging = Tagging::new(weights, constraints, meaning.search).voted(votes);
    let kept =
        KeptTagger { options, template, columns, scheme, lexicon, tagging, tokens, progressive, estimate };
    let model = Model::of_tags(kept, labels, training_summary, calibration);
    Ok(Model { provenance: Provenance { date, ..Provenance::default() }, ..model })
}
