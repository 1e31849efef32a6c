//! Text to features: tokens, n-grams, a vocabulary or a table of hashed slots, and weights.
//!
//! A word is a run of letters, digits, underscores and combining marks of any script, in lower case;
//! `don't` and `3.50` are one word each. Signs of currencies and emoji are words of their own, and so is
//! every ideograph and every letter of hiragana. Characters without width (joiners, direction marks, soft
//! hyphens) are not there. Everything else parts words. Words are cut at [`MAX_WORD_CHARS`] characters.
//! As characters, text is what is left in lower case, with one blank for every run of blanks and one at
//! each end. Nothing is normalised beyond that: a composed and a decomposed letter differ.
//!
//! The vocabulary is sorted, so that rows in another order give the same features. Words that are not in
//! it count for the length of a text in [`Weighting::Frequency`] and for nothing else. In a hashed table
//! several names may share a slot; [`TextEncoder::slots`] tells how many did.

use super::names::{FoundWord, NOWHERE, Names, Way};
use crate::hash::hash_slot;
use crate::rows::block::Stored;
use crate::rows::dataset::SparseMatrix;
use crate::words::count;
use rosenblatt_core::elementary::ln;
use rosenblatt_core::{Setting, settings};
use serde::{Deserialize, Serialize};
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How many characters of a word count.
pub(crate) const MAX_WORD_CHARS: usize = 64;

/// The longest n-gram that can be asked for.
pub(crate) const MAX_NGRAM: usize = 16;

/// Up to this many texts every word is kept, unless something else is asked for.
pub const FEW_TEXTS: u64 = 1000;

settings! {
    /// How text becomes features.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct TextOptions: Reading {
        /// Make features of characters instead of words.
        units: Units = Units::Words => Setting::choice::<Units>().flag_for("characters", "characters").kept_by_model();
        /// Fewest units in a row that make a feature.
        shortest: usize = 1 => Setting::at_least(1).kept_by_model();
        /// Make features of runs of words: N for N words, A-B for A to B of them.
        longest: usize = 2
            => Setting::run().flag("ngrams").kept_by_model().unset("1-2, single words and pairs");
        /// Weight of a word in a text. With tf-idf, rows have length 1 (L2). If there are more than 1,000 texts, words and
        /// runs that occur in fewer than 3 are left out.
        weighting: Weighting = Weighting::TfIdf => Setting::choice::<Weighting>().flag("words").kept_by_model();
        /// Whether every text has length 1 (Euclidean), however long it is.
        unit_length: bool = true => Setting::yes_or_no().kept_by_model();
        /// Number of texts in which a feature must occur.
        min_count: Option<u64> = None => Setting::at_least(1).kept_by_model().unset("1 of up to 1,000 texts, 3 of more");
        /// Whether the names of hashed features are kept, for which the data is read once more.
        keep_names: bool = false => Setting::switch().kept_by_model();
    }
}

/// What text is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Units {
    /// Words.
    #[default]
    Words,
    /// Characters, blanks among them.
    Characters,
}

/// What a feature is worth in a text where it occurs `n` times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// `n`.
    Count,
    /// 1.
    Binary,
    /// `n` divided by the number of features in the text, unknown ones included.
    Frequency,
    /// `n · idf`, where `idf = ln((1 + texts) / (1 + texts with the feature)) + 1`.
    #[default]
    TfIdf,
}

rosenblatt_core::named!(Units, "units",
    "words" = Self::Words, "words";
    "characters" = Self::Characters, "characters, blanks among them";
);

rosenblatt_core::named!(Weighting, "weighting",
    "count" = Self::Count, "how often it occurs";
    "binary" = Self::Binary, "1";
    "frequency" = Self::Frequency, "how often it occurs, as a share of the text";
    "tf-idf" = Self::TfIdf, "how often it occurs, times how rare it is: ln((1 + texts) / (1 + texts with it)) + 1";
);

/// How text becomes features, once that is fitted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TextEncoder {
    /// As it was asked for.
    pub options: TextOptions,
    /// The features, sorted by their bytes; empty if they are hashed.
    pub vocabulary: Arc<[String]>,
    /// Per feature or slot, how rare it is; empty unless that is asked for.
    pub idf: Vec<f64>,
    /// Per slot, which names met there; empty unless they are to be kept.
    pub slots: Vec<Slot>,
    /// The size of the table of hashed features, as a power of two.
    pub hash_bits: Option<u32>,
    /// The column of a table that holds the text, if it stood in one.
    pub column: Option<String>,
    /// Whether a text is a whole file rather than a line or a cell.
    pub whole_files: bool,
    /// Shared by all that the encoder is lent to while it is fitted; while counting it has one owner.
    #[serde(skip)]
    counts: Option<Arc<Counts>>,
    /// Where labels stand in the lines of the source that is being read, so that it is read alike the
    /// second time. Other sources may differ.
    #[serde(skip)]
    pub(crate) side: Option<Side>,
}

/// On which side of the tab the label stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Last,
    None,
}

/// The names that share a slot of a hashed table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Slot {
    /// The one that occurs in the most texts; the first of those in the order of bytes.
    pub name: String,
    /// How many different names there are.
    pub n_names: u32,
}

/// What a survey has seen.
#[derive(Debug, Clone)]
struct Counts {
    n_texts: u64,
    n_empty: u64,
    n_names: usize,
    by_name: Names<Seen>,
    by_slot: Vec<u64>,
}

impl Counts {
    fn new(units: Units) -> Self {
        Self { n_texts: 0, n_empty: 0, n_names: 0, by_name: Names::new(units), by_slot: Vec::new() }
    }

    /// The names that at least `min_count` texts have, sorted, and how many have each.
    fn names(&self, min_count: u64) -> Vec<(String, u64)> {
        let names = self.sorted(min_count);
        names.into_iter().map(|(name, node)| (name, self.by_name.about(node).n_texts())).collect()
    }

    /// The same names, and where they lie.
    fn sorted(&self, min_count: u64) -> Vec<(String, u32)> {
        self.by_name.sorted(|seen| seen.n_texts() >= min_count.max(1))
    }
}

impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |counts: &Self| (counts.n_texts, counts.n_empty, counts.n_names);
        numbers(self) == numbers(other) && self.by_slot == other.by_slot && self.names(1) == other.names(1)
    }
}

/// How many texts have a name, and a stamp of the last one of them in the lower bits.
#[derive(Debug, Clone, Copy, Default)]
struct Seen(u64);

impl Seen {
    /// Stamps are greater than 0 and at most this.
    const MAX_STAMP: u64 = (1 << 24) - 1;

    fn n_texts(self) -> u64 {
        self.0 >> 24
    }

    fn meet(&mut self, stamp: u64) {
        if self.0 & Self::MAX_STAMP != stamp {
            self.forget_stamp();
            self.0 += (1 << 24) | stamp;
        }
    }

    fn forget_stamp(&mut self) {
        self.0 &= !Self::MAX_STAMP;
    }
}

/// A vocabulary that would be too large.
#[derive(Debug)]
pub(crate) struct TooManyNames;

impl TextEncoder {
    /// An encoder that is yet to be fitted, unless it needs no fitting.
    pub(crate) fn new(options: TextOptions, hash_bits: Option<u32>) -> Self {
        let mut encoder = Self { options, hash_bits, ..Self::default() };
        if encoder.needs_fitting() {
            encoder.counts = Some(Arc::new(Counts::new(encoder.options.units)));
        }
        encoder
    }

    /// What is wrong with the options, if anything is.
    pub(crate) fn complaint(options: &TextOptions) -> Option<String> {
        let TextOptions { shortest, longest, .. } = *options;
        (shortest == 0 || shortest > longest || longest > MAX_NGRAM).then(|| {
            format!("n-grams should be from 1 up to {MAX_NGRAM} long, but are from {shortest} to {longest}")
        })
    }

    /// What is wrong with an encoder that was stored, if anything is.
    pub(crate) fn unsound(&self) -> Option<&'static str> {
        let width = self.width();
        let weighs = self.options.weighting == Weighting::TfIdf;
        if !self.vocabulary.is_sorted_by(|a, b| a < b) {
            return Some("its vocabulary should be sorted");
        }
        if Self::complaint(&self.options).is_some() {
            return Some("its n-grams have no sensible length");
        }
        if !self.idf.iter().all(|idf| idf.is_finite()) || (weighs && self.idf.len() != width) {
            return Some("every word should have a finite weight");
        }
        let named = self.slots.is_empty() || self.slots.len() == width;
        (!named).then_some("every slot or none should have a name")
    }

    /// Whether rows can be made.
    pub(crate) fn is_fitted(&self) -> bool {
        self.counts.is_none()
    }

    fn needs_fitting(&self) -> bool {
        let Self { options, hash_bits, .. } = self;
        hash_bits.is_none() || options.weighting == Weighting::TfIdf || options.keep_names
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.hash_bits.map_or(self.vocabulary.len(), |bits| 1 << bits)
    }

    /// A name for every feature, if they are known by name.
    pub fn feature_names(&self) -> Option<Arc<[String]>> {
        if self.hash_bits.is_none() {
            return Some(Arc::clone(&self.vocabulary));
        }
        let name = |(place, slot): (usize, &Slot)| match slot.n_names {
            0 => format!("#{place}"),
            1 => slot.name.clone(),
            n_names => format!("{} (or {} more)", slot.name, n_names - 1),
        };
        (!self.slots.is_empty()).then(|| self.slots.iter().enumerate().map(name).collect())
    }

    /// Whether a text that was taken in can be replaced by [where its names lie](TextRows::names), which is then no
    /// more than its row is.
    pub(crate) fn finds_few_names(&self) -> bool {
        let TextOptions { units, longest, .. } = self.options;
        self.hash_bits.is_none() && units == Units::Words && longest <= 2
    }

    /// Ends the fitting.
    pub(crate) fn settle(&mut self) -> Settled {
        let Some(counts) = self.counts.take() else { return Settled::default() };
        let mut features = Vec::new();
        let (n_texts, n_empty) = (counts.n_texts, counts.n_empty);
        let idf = |n_with: u64| ln((1 + n_texts) as f64 / (1 + n_with) as f64) + 1.0;
        let weighs = self.options.weighting == Weighting::TfIdf;
        if let Some(bits) = self.hash_bits {
            if weighs {
                self.idf = counts.by_slot.iter().copied().map(idf).collect();
            }
            if self.options.keep_names {
                let mut most = vec![0; 1 << bits];
                self.slots = vec![Slot::default(); 1 << bits];
                for (name, n_texts) in counts.names(1) {
                    let place = hash_slot(name.as_bytes(), bits) as usize;
                    self.slots[place].n_names += 1;
                    if n_texts > most[place] {
                        most[place] = n_texts;
                        self.slots[place].name = name;
                    }
                }
            }
        } else {
            let usual = if n_texts > FEW_TEXTS { 3 } else { 1 };
            let min_count = self.options.min_count.unwrap_or(usual);
            let names = counts.sorted(min_count);
            features.resize(counts.by_name.n_nodes(), NOWHERE);
            for ((_, node), feature) in names.iter().zip(0..) {
                features[*node as usize] = feature;
            }
            if weighs {
                let n_with = |node| counts.by_name.about(node).n_texts();
                self.idf = names.iter().map(|(_, node)| idf(n_with(*node))).collect();
            }
            self.vocabulary = names.into_iter().map(|(name, _)| name).collect();
        }
        let note =
            (n_empty > 0).then(|| format!("{} of {} texts hold no words", count(n_empty), count(n_texts)));
        Settled { note, features }
    }

    /// The features by name, counted from 1.
    fn places(&self) -> Names<Option<NonZero<u32>>> {
        let mut places = Names::new(self.options.units);
        for (name, place) in self.vocabulary.iter().zip(1..) {
            if let Some(node) = places.add(name) {
                *places.about_mut(node) = NonZero::new(place);
            }
        }
        places
    }

    /// How many names of hashed features share their slot with another, if names are kept.
    pub fn n_collisions(&self) -> Option<u64> {
        let shared = |slot: &Slot| if slot.n_names > 1 { u64::from(slot.n_names) } else { 0 };
        (!self.slots.is_empty()).then(|| self.slots.iter().map(shared).sum())
    }
}

/// What came of a survey.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// What a user may want to know.
    pub(crate) note: Option<String>,
    /// Per place where a name may lie, the feature that is there, or [`NOWHERE`]; empty if features are hashed.
    pub(crate) features: Vec<u32>,
}

/// Makes rows of texts, one after the other, by one encoder once it is fitted.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextRows {
    tokens: Tokens,
    path: Path,
    /// The features by name, counted from 1; made when the first text asks for them.
    places: Arc<OnceLock<Names<Option<NonZero<u32>>>>>,
    /// Features of the text at hand, or where its names lie while fitting.
    found: Vec<u32>,
}

/// The steps of one text, and where each of its units ends among them.
#[derive(Debug, Clone, Default)]
struct Path {
    steps: Vec<u32>,
    ends: Vec<usize>,
    words: Vec<FoundWord>,
    /// Per run of units that is looked at, its last step so far.
    ways: Vec<Way>,
}

impl TextRows {
    /// Takes one text in, while fitting. At most `max_names` different names are kept.
    pub(crate) fn fit(
        &mut self,
        text: &str,
        encoder: &mut TextEncoder,
        max_names: usize,
    ) -> Result<(), TooManyNames> {
        let TextEncoder { options, hash_bits, counts: Some(counts), .. } = encoder else { return Ok(()) };
        let counts = Arc::make_mut(counts);
        self.tokens.split(text, options.units);
        self.found.clear();
        counts.n_texts += 1;
        counts.n_empty += u64::from(self.tokens.spans.is_empty());
        if hash_bits.is_none() || options.keep_names {
            self.count_names(options, counts, max_names)?;
        }
        if let Some(bits) = *hash_bits
            && options.weighting == Weighting::TfIdf
        {
            counts.by_slot.resize(1 << bits, 0);
            let names = self.tokens.ngrams(options.shortest, options.longest);
            self.found.clear();
            self.found.extend(names.map(|name| hash_slot(name.as_bytes(), bits)));
            self.found.sort_unstable();
            self.found.dedup();
            for &slot in &self.found {
                counts.by_slot[slot as usize] += 1;
            }
        }
        Ok(())
    }

    fn count_names(
        &mut self,
        options: &TextOptions,
        counts: &mut Counts,
        max_names: usize,
    ) -> Result<(), TooManyNames> {
        let TextOptions { units, shortest, longest, .. } = *options;
        let Counts { n_texts, n_names, by_name, .. } = counts;
        let stamp = *n_texts % Seen::MAX_STAMP + 1;
        if stamp == 1 {
            by_name.about_all_mut().for_each(Seen::forget_stamp);
        }
        let n_units = self.tokens.spans.len();
        // What leads to no name is not remembered.
        if n_units < shortest {
            return Ok(());
        }
        self.path.find(&self.tokens, units, by_name);
        for (step, span) in self.path.steps.iter_mut().zip(&self.tokens.spans) {
            // Only a word can be nowhere, and words are spans.
            if *step == NOWHERE {
                *step = by_name.add_word(self.tokens.text[span.clone()].as_bytes()).ok_or(TooManyNames)?;
            }
        }
        for n_together in 1..=longest.min(n_units) {
            self.path.lengthen(n_together, shortest);
            by_name.go_all(&mut self.path.ways);
            for first in 0..self.path.ways.len() {
                let Way { from, step, mut to, .. } = self.path.ways[first];
                if to == NOWHERE {
                    to = by_name.make_way(from, step).ok_or(TooManyNames)?;
                }
                for &step in &self.path.unit(first + n_together - 1)[1..] {
                    to = by_name.make_way(to, step).ok_or(TooManyNames)?;
                }
                self.path.ways[first].to = to;
                if n_together < shortest {
                    continue;
                }
                let seen = by_name.about_mut(to);
                if seen.n_texts() == 0 {
                    if *n_names >= max_names {
                        return Err(TooManyNames);
                    }
                    *n_names += 1;
                }
                seen.meet(stamp);
                self.found.push(to);
            }
        }
        Ok(())
    }

    /// Where the names of the text that was taken in last lie, each as often as it occurs.
    pub(crate) fn names(&self) -> &[u32] {
        &self.found
    }

    /// Puts the features of the text at hand that are in the vocabulary into `found`.
    fn find_names(&mut self, encoder: &TextEncoder) {
        let TextOptions { units, shortest, longest, .. } = encoder.options;
        let places = self.places.get_or_init(|| encoder.places());
        let n_units = self.tokens.spans.len();
        if n_units < shortest {
            return;
        }
        self.path.find(&self.tokens, units, places);
        for n_together in 1..=longest.min(n_units) {
            self.path.lengthen(n_together, shortest);
            places.go_all(&mut self.path.ways);
            for first in 0..self.path.ways.len() {
                let mut to = self.path.ways[first].to;
                for &step in &self.path.unit(first + n_together - 1)[1..] {
                    to = places.go(to, step);
                }
                self.path.ways[first].to = to;
                if n_together >= shortest && to != NOWHERE {
                    self.found.extend(places.about(to).map(|place| place.get() - 1));
                }
            }
        }
    }

    /// Adds the entries of one text to `matrix`; the caller ends the row.
    pub(crate) fn encode<T: Stored>(
        &mut self,
        text: &str,
        encoder: &TextEncoder,
        matrix: &mut SparseMatrix<T>,
    ) {
        let options = &encoder.options;
        self.tokens.split(text, options.units);
        self.found.clear();
        if let Some(bits) = encoder.hash_bits {
            let names = self.tokens.ngrams(options.shortest, options.longest);
            self.found.extend(names.map(|name| hash_slot(name.as_bytes(), bits)));
        } else {
            self.find_names(encoder);
        }
        let n_units = self.tokens.spans.len();
        let n_all: usize =
            (options.shortest..=options.longest).map(|n| (n_units + 1).saturating_sub(n)).sum();
        self.add_entries(n_all, encoder, matrix);
    }

    /// [`Self::encode`] for a text that was taken in: of [where its names lie](Self::names), and of the
    /// [features](Settled::features) that are there.
    pub(crate) fn encode_names<T: Stored>(
        &mut self,
        names: &[u32],
        features: &[u32],
        encoder: &TextEncoder,
        matrix: &mut SparseMatrix<T>,
    ) {
        self.found.clear();
        let features = names.iter().map(|name| features[*name as usize]);
        self.found.extend(features.filter(|feature| *feature != NOWHERE));
        self.add_entries(names.len(), encoder, matrix);
    }

    /// Adds what was found, in a text of `n_all` names, known or not.
    fn add_entries<T: Stored>(&mut self, n_all: usize, encoder: &TextEncoder, matrix: &mut SparseMatrix<T>) {
        let options = &encoder.options;
        self.found.sort_unstable();
        let worth = |feature: u32, n: f64| match options.weighting {
            Weighting::Count => n,
            Weighting::Binary => 1.0,
            Weighting::Frequency => n / n_all as f64,
            Weighting::TfIdf => n * encoder.idf.get(feature as usize).copied().unwrap_or(1.0),
        };
        let entries =
            || self.found.chunk_by(|a, b| a == b).map(|same| (same[0], worth(same[0], same.len() as f64)));
        // Always in the order of the features, so that the bits never vary.
        let norm2: f64 = entries().map(|(_, worth)| worth * worth).sum();
        let scale = if options.unit_length && norm2 > 0.0 { norm2.sqrt() } else { 1.0 };
        for (feature, worth) in entries() {
            matrix.indices.push(feature);
            matrix.values.push(T::narrow(worth / scale).unwrap_or_default());
        }
    }
}

impl Path {
    /// Finds the steps of a text and stands at the beginning of all runs.
    fn find<T: Copy + Default>(&mut self, tokens: &Tokens, units: Units, names: &Names<T>) {
        let Self { steps, ends, words, ways } = self;
        steps.clear();
        ends.clear();
        match units {
            Units::Words => {
                names.find_words(tokens.text.as_bytes(), &tokens.spans, words);
                steps.extend(words.iter().map(|word| word.step));
                ends.extend(1..=steps.len());
            }
            Units::Characters => {
                for span in &tokens.spans {
                    // A capital may become two characters in lower case.
                    steps.extend(tokens.text[span.clone()].chars().map(u32::from));
                    ends.push(steps.len());
                }
            }
        }
        ways.clear();
        ways.resize(ends.len(), Way::to_root());
    }

    /// Goes on from runs of one unit less to runs of `n_together` units, as far as they can become `shortest` long.
    fn lengthen(&mut self, n_together: usize, shortest: usize) {
        let mut ways = std::mem::take(&mut self.ways);
        ways.truncate(self.ends.len() + 1 - n_together.max(shortest));
        for (first, way) in ways.iter_mut().enumerate() {
            *way = Way::new(way.to, self.unit(first + n_together - 1)[0]);
        }
        self.ways = ways;
    }

    /// The steps of one unit.
    fn unit(&self, place: usize) -> &[u32] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.steps[start..self.ends[place]]
    }
}

/// The units of one text, in a buffer in which units that follow each other stand side by side.
#[derive(Debug, Clone, Default)]
struct Tokens {
    text: String,
    spans: Vec<Range<usize>>,
}

/// What a character does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Is part of a word.
    Letter,
    /// Is a word of its own.
    Alone,
    /// Is not there.
    Nothing,
    /// Parts words.
    Gap,
}

fn class(c: char) -> Class {
    if c.is_ascii() {
        return match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Class::Letter,
            '$' => Class::Alone,
            _ => Class::Gap,
        };
    }
    match c {
        '\u{AD}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' => Class::Nothing,
        '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' => Class::Nothing,
        // Signs of currencies.
        '\u{A2}'..='\u{A5}' | '\u{E3F}' | '\u{20A0}'..='\u{20CF}' => Class::Alone,
        // Arrows, symbols, dingbats, emoji.
        '\u{2190}'..='\u{23FF}' | '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' => Class::Alone,
        '\u{1F000}'..='\u{1FAFF}' => Class::Alone,
        // Scripts without blanks: hiragana, ideographs.
        '\u{3041}'..='\u{3096}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' => Class::Alone,
        '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFD}' => Class::Alone,
        // Combining marks, which are no letters by themselves.
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5BD}' => Class::Letter,
        '\u{64B}'..='\u{65F}' | '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6ED}' => Class::Letter,
        '\u{964}' | '\u{965}' | '\u{970}' | '\u{E4F}' | '\u{E5A}' | '\u{E5B}' => Class::Gap,
        '\u{900}'..='\u{EFF}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' => Class::Letter,
        '\u{20D0}'..='\u{20FF}' | '\u{3099}' | '\u{309A}' | '\u{FE20}'..='\u{FE2F}' => Class::Letter,
        _ if c.is_alphanumeric() => Class::Letter,
        _ => Class::Gap,
    }
}

/// What a byte does, where the byte alone decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plain {
    /// Is part of a word.
    Letter,
    /// Parts words.
    Gap,
    /// Parts words, or joins letters or digits on both sides.
    Joint,
    /// Begins a character beyond ASCII, or is a word of its own.
    No,
}

const PLAIN: [Plain; 256] = {
    let mut plain = [Plain::No; 256];
    let mut byte = 0;
    while byte < 128 {
        plain[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => Plain::Letter,
            b'$' => Plain::No,
            b'\'' | b'.' | b',' => Plain::Joint,
            _ => Plain::Gap,
        };
        byte += 1;
    }
    plain
};

impl Tokens {
    fn split(&mut self, text: &str, units: Units) {
        self.text.clear();
        self.spans.clear();
        match units {
            Units::Words => self.split_words(text),
            Units::Characters => self.split_characters(text),
        }
    }

    fn split_words(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match PLAIN[byte as usize] {
                Plain::Gap | Plain::Joint => {
                    at += 1;
                    continue;
                }
                Plain::Letter => {
                    let rest = &bytes[at..];
                    let other = |byte: &u8| PLAIN[*byte as usize] != Plain::Letter;
                    let length = rest.iter().position(other).unwrap_or(rest.len());
                    let ends = rest.get(length).is_none_or(|next| PLAIN[*next as usize] == Plain::Gap);
                    if ends && length <= MAX_WORD_CHARS {
                        self.begin();
                        let start = self.text.len();
                        self.text.push_str(&text[at..at + length]);
                        self.text[start..].make_ascii_lowercase();
                        self.end();
                        at += length;
                        continue;
                    }
                }
                Plain::No => {}
            }
            at += self.split_one(&text[at..]);
        }
    }

    /// Takes one character that is no part of a word, or one word of any kind and what ends it. Returns how many
    /// bytes that are.
    fn split_one(&mut self, text: &str) -> usize {
        let mut chars = text.chars();
        // How many characters the word at hand has; none between words.
        let mut n_chars = 0;
        let mut last = ' ';
        while let Some(c) = chars.next() {
            match class(c) {
                Class::Letter => {
                    if n_chars == 0 {
                        self.begin();
                    }
                    n_chars += 1;
                    if n_chars <= MAX_WORD_CHARS {
                        self.push_lower(c);
                    }
                    last = c;
                }
                Class::Alone => {
                    self.begin();
                    self.text.push(c);
                    self.end();
                    n_chars = 0;
                }
                Class::Nothing => {}
                Class::Gap => {
                    let next = chars.clone().next().unwrap_or(' ');
                    let joins = match c {
                        '\'' | '\u{2019}' => last.is_alphabetic() && next.is_alphabetic(),
                        '.' | ',' => last.is_numeric() && next.is_numeric(),
                        _ => false,
                    };
                    if n_chars > 0 && joins {
                        n_chars += 1;
                        if n_chars <= MAX_WORD_CHARS {
                            self.text.push(if c == '\u{2019}' { '\'' } else { c });
                        }
                    } else {
                        n_chars = 0;
                    }
                }
            }
            if n_chars == 0 {
                break;
            }
            self.end();
        }
        text.len() - chars.as_str().len()
    }

    fn split_characters(&mut self, text: &str) {
        let mut after_blank = true;
        for c in text.chars() {
            if c.is_whitespace() || c.is_control() {
                if !after_blank {
                    self.push_unit(' ');
                }
                after_blank = true;
            } else if class(c) != Class::Nothing {
                if self.spans.is_empty() {
                    self.push_unit(' ');
                }
                self.push_unit(c);
                after_blank = false;
            }
        }
        if !after_blank {
            self.push_unit(' ');
        }
    }

    fn push_unit(&mut self, c: char) {
        let start = self.text.len();
        self.push_lower(c);
        self.spans.push(start..self.text.len());
    }

    fn push_lower(&mut self, c: char) {
        if c.is_ascii() {
            self.text.push(c.to_ascii_lowercase());
        } else {
            self.text.extend(c.to_lowercase());
        }
    }

    /// Begins a word.
    fn begin(&mut self) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.spans.push(self.text.len()..self.text.len());
    }

    /// The last word ends here, so far.
    fn end(&mut self) {
        if let Some(span) = self.spans.last_mut() {
            span.end = self.text.len();
        }
    }

    /// All runs of `shortest` to `longest` units, in the order in which they begin.
    fn ngrams(&self, shortest: usize, longest: usize) -> impl Iterator<Item = &str> {
        self.spans.iter().enumerate().flat_map(move |(first, span)| {
            let lasts = self.spans[first..].iter().take(longest).skip(shortest - 1);
            lasts.map(|last| &self.text[span.start..last.end])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn words(text: &str) -> Vec<String> {
        let mut tokens = Tokens::default();
        tokens.split(text, Units::Words);
        tokens.ngrams(1, 1).map(str::to_owned).collect()
    }

    #[test]
    fn words_of_many_scripts() {
        for (text, expected) in [
            ("Hello, World!! it's 'quoted'", &["hello", "world", "it's", "quoted"][..]),
            ("£1.50 or $3,000.", &["£", "1.50", "or", "$", "3,000"]),
            ("a_b x-y 3G", &["a_b", "x", "y", "3g"]),
            ("Größe ΣΑΣ", &["größe", "σασ"]),
            ("e\u{301}te\u{301}", &["e\u{301}te\u{301}"]),
            ("fr\u{200B}ee f\u{AD}oo", &["free", "foo"]),
            ("नमस्ते दुनिया।", &["नमस्ते", "दुनिया"]),
            ("שלום עולם", &["שלום", "עולם"]),
            ("我喜欢 カタカナ", &["我", "喜", "欢", "カタカナ"]),
            ("ok👍🏽 ❤\u{FE0F}", &["ok", "👍", "🏽", "❤"]),
            ("don’t", &["don't"]),
            ("...", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(words(&"x".repeat(1000))[0].len(), MAX_WORD_CHARS);
    }

    #[test]
    fn characters_and_ngrams() {
        let mut tokens = Tokens::default();
        tokens.split("  A\t\n b", Units::Characters);
        assert_eq!(tokens.ngrams(2, 3).collect::<Vec<_>>(), [" a", " a ", "a ", "a b", " b", " b ", "b "]);
        tokens.split("one, two three", Units::Words);
        assert_eq!(tokens.ngrams(1, 2).collect::<Vec<_>>(), ["one", "one two", "two", "two three", "three"]);
        assert_eq!(tokens.ngrams(3, 3).collect::<Vec<_>>(), ["one two three"]);
        assert_eq!(tokens.ngrams(4, 9).count(), 0);
    }

    fn fitted(texts: &[&str], options: TextOptions, hash_bits: Option<u32>) -> TextEncoder {
        let mut encoder = TextEncoder::new(options, hash_bits);
        let mut rows = TextRows::default();
        let mut names = Vec::new();
        for text in texts {
            rows.fit(text, &mut encoder, 100_000).unwrap();
            names.push(rows.names().to_vec());
        }
        let features = encoder.settle().features;
        if hash_bits.is_none() {
            // What was found while fitting makes the same rows.
            for (text, names) in texts.iter().zip(names) {
                let mut matrix = SparseMatrix::<f64>::empty();
                rows.encode_names(&names, &features, &encoder, &mut matrix);
                let row: Vec<(u32, f64)> = matrix.indices.into_iter().zip(matrix.values).collect();
                assert_eq!(row, encoded(text, &encoder), "{text:?}");
            }
        }
        encoder
    }

    fn encoded(text: &str, encoder: &TextEncoder) -> Vec<(u32, f64)> {
        let mut matrix = SparseMatrix::<f64>::empty();
        TextRows::default().encode(text, encoder, &mut matrix);
        matrix.indices.into_iter().zip(matrix.values).collect()
    }

    #[test]
    fn weights_are_those_of_the_textbook() {
        let options = |weighting, unit_length| TextOptions {
            longest: 1,
            min_count: Some(1),
            weighting,
            unit_length,
            ..TextOptions::default()
        };
        let texts = ["the cat", "the dog", "the the end"];
        let count = fitted(&texts, options(Weighting::Count, false), None);
        assert_eq!(*count.vocabulary, ["cat", "dog", "end", "the"]);
        assert_eq!(encoded("the CAT, the moon", &count), [(0, 1.0), (3, 2.0)]);
        let binary = fitted(&texts, options(Weighting::Binary, false), None);
        assert_eq!(encoded("the cat, the moon", &binary), [(0, 1.0), (3, 1.0)]);
        let frequency = fitted(&texts, options(Weighting::Frequency, false), None);
        assert_eq!(encoded("the cat, the moon", &frequency), [(0, 0.25), (3, 0.5)]);
        let tf_idf = fitted(&texts, options(Weighting::TfIdf, false), None);
        assert_eq!(encoded("the cat, the moon", &tf_idf), [(0, 2.0_f64.ln() + 1.0), (3, 2.0)]);
        let unit = fitted(&texts, options(Weighting::Count, true), None);
        assert_eq!(encoded("the the the cat cat cat cat", &unit), [(0, 0.8), (3, 0.6)]);
        assert_eq!(encoded("", &unit), []);
    }

    #[test]
    fn rows_in_another_order_give_the_same_encoder() {
        let texts = ["b a", "c b", "a c c"];
        let again = ["a c c", "b a", "c b"];
        for bits in [None, Some(3)] {
            let options = TextOptions { keep_names: true, ..TextOptions::default() };
            assert_eq!(fitted(&texts, options.clone(), bits), fitted(&again, options, bits));
        }
    }

    #[test]
    fn hashed_names_and_collisions_are_told() {
        let options = TextOptions { keep_names: true, longest: 1, ..TextOptions::default() };
        let encoder = fitted(&["a b c d e f g h", "a"], options, Some(2));
        assert_eq!(encoder.slots.iter().map(|slot| slot.n_names).sum::<u32>(), 8);
        assert!(encoder.n_collisions().unwrap() >= 5);
        let names = encoder.feature_names().unwrap();
        let place = hash_slot(b"a", 2) as usize;
        assert!(names[place].starts_with('a'), "{names:?}");
        assert_eq!(encoder.width(), 4);
        let row = encoded("a", &encoder);
        assert_eq!(row, [(place as u32, 1.0)]);
    }

    #[test]
    fn too_many_names_are_refused() {
        let mut encoder = TextEncoder::new(TextOptions::default(), None);
        let mut rows = TextRows::default();
        assert!(rows.fit("a b", &mut encoder, 3).is_ok());
        assert!(rows.fit("b a", &mut encoder, 3).is_err());
    }

    /// The units of a text and their runs as strings, with no regard for time.
    fn plain_ngrams(text: &str, options: &TextOptions) -> Vec<String> {
        let mut tokens = Tokens::default();
        if options.units == Units::Words {
            let mut at = 0;
            while at < text.len() {
                at += tokens.split_one(&text[at..]);
            }
        } else {
            tokens.split(text, options.units);
        }
        tokens.ngrams(options.shortest, options.longest).map(str::to_owned).collect()
    }

    /// What fitting gives, by sets of strings.
    fn plainly_fitted(texts: &[String], options: &TextOptions, hash_bits: Option<u32>) -> TextEncoder {
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        let mut by_slot: BTreeMap<u32, u64> = BTreeMap::new();
        for text in texts {
            let names: BTreeSet<String> = plain_ngrams(text, options).into_iter().collect();
            let slots = names.iter().map(|name| hash_slot(name.as_bytes(), hash_bits.unwrap_or(0)));
            for slot in slots.collect::<BTreeSet<u32>>() {
                *by_slot.entry(slot).or_default() += 1;
            }
            for name in names {
                *by_name.entry(name).or_default() += 1;
            }
        }
        let idf = |n_with: u64| ln((1 + texts.len()) as f64 / (1 + n_with) as f64) + 1.0;
        let mut plain = TextEncoder { options: options.clone(), hash_bits, ..TextEncoder::default() };
        if let Some(bits) = hash_bits {
            plain.slots = vec![Slot::default(); 1 << bits];
            for (place, slot) in plain.slots.iter_mut().enumerate() {
                let here =
                    by_name.iter().filter(|(name, _)| hash_slot(name.as_bytes(), bits) == place as u32);
                slot.n_names = here.clone().count() as u32;
                let first = here.rev().max_by_key(|(_, n_texts)| **n_texts);
                slot.name = first.map(|(name, _)| name.clone()).unwrap_or_default();
            }
            plain.idf = (0..1 << bits).map(|slot| idf(by_slot.get(&slot).copied().unwrap_or(0))).collect();
        } else {
            by_name.retain(|_, n_texts| *n_texts >= options.min_count.unwrap_or(1));
            plain.idf = by_name.values().map(|n_with| idf(*n_with)).collect();
            plain.vocabulary = by_name.into_keys().collect();
        }
        if options.weighting != Weighting::TfIdf {
            plain.idf = Vec::new();
        }
        plain
    }

    fn plainly_encoded(text: &str, encoder: &TextEncoder) -> Vec<(u32, f64)> {
        let TextEncoder { options, vocabulary, idf, hash_bits, .. } = encoder;
        let names = plain_ngrams(text, options);
        let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
        for name in &names {
            let place = match hash_bits {
                Some(bits) => Some(hash_slot(name.as_bytes(), *bits)),
                None => vocabulary.iter().position(|known| known == name).map(|place| place as u32),
            };
            if let Some(place) = place {
                *counts.entry(place).or_default() += 1.0;
            }
        }
        for (place, n) in &mut counts {
            *n = match options.weighting {
                Weighting::Count => *n,
                Weighting::Binary => 1.0,
                Weighting::Frequency => *n / names.len() as f64,
                Weighting::TfIdf => *n * idf[*place as usize],
            };
        }
        let norm2: f64 = counts.values().map(|worth| worth * worth).sum();
        let scale = if options.unit_length && norm2 > 0.0 { norm2.sqrt() } else { 1.0 };
        counts.into_iter().map(|(place, worth)| (place, worth / scale)).collect()
    }

    /// Pieces of words that end, join and are written in all ways; some differ only after their head, some only in
    /// how many units they are.
    const PIECES: [&str; 42] = [
        "a",
        "b",
        "ab",
        "B",
        "A",
        "_",
        "0",
        "7",
        "x1",
        "z",
        " ",
        " ",
        " ",
        " ",
        "  ",
        "\t",
        "-",
        "!",
        "'",
        ".",
        ",",
        "’",
        "$",
        "€",
        "é",
        "e\u{301}",
        "İ",
        "i",
        "\u{307}",
        "ß",
        "我",
        "か",
        "カ",
        "👍",
        "\u{200B}",
        "नमस्ते",
        "abcdefghijklmno",
        "abcdefghijklmnop",
        "abcdefghijklmnoq",
        "привет",
        "👍",
        "𝕏",
    ];

    #[test]
    fn the_quick_way_is_the_plain_way() {
        let mut state = 1957_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for trial in 0..400 {
            let (n_pieces, n_texts) = (1 + random(PIECES.len()), 1 + random(20));
            let start = random(PIECES.len());
            let mut text = || -> String {
                let piece = |place: usize| PIECES[(start + place) % PIECES.len()];
                let text: String = (0..random(60)).map(|_| piece(random(n_pieces))).collect();
                if random(20) == 0 { text + &"long".repeat(random(40)) } else { text }
            };
            let texts: Vec<String> = (0..n_texts).map(|_| text()).collect();
            let others: Vec<String> = (0..3).map(|_| text()).collect();
            let shortest = 1 + random(3);
            let weightings = [Weighting::Count, Weighting::Binary, Weighting::Frequency, Weighting::TfIdf];
            let options = TextOptions {
                units: if trial % 2 == 0 { Units::Words } else { Units::Characters },
                shortest,
                longest: shortest + random(3),
                weighting: weightings[random(4)],
                unit_length: random(2) == 0,
                min_count: [None, Some(0), Some(2), Some(3)][random(4)],
                keep_names: true,
            };
            let hash_bits = [None, None, Some(4)][random(3)];
            let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
            let encoder = fitted(&borrowed, options.clone(), hash_bits);
            assert_eq!(encoder, plainly_fitted(&texts, &options, hash_bits), "{texts:?}");
            for text in texts.iter().chain(&others) {
                let expected = plainly_encoded(text, &encoder);
                assert_eq!(encoded(text, &encoder), expected, "{options:?} {text:?}");
            }
        }
    }

    #[test]
    fn a_name_counts_once_per_text_after_any_number_of_texts() {
        let mut encoder = TextEncoder::new(TextOptions { longest: 1, ..TextOptions::default() }, None);
        let counts = |encoder: &mut TextEncoder| Arc::make_mut(encoder.counts.as_mut().unwrap()).names(1);
        let mut rows = TextRows::default();
        rows.fit("a a b", &mut encoder, 9).unwrap();
        Arc::make_mut(encoder.counts.as_mut().unwrap()).n_texts = 2 * Seen::MAX_STAMP - 2;
        for _ in 0..3 {
            rows.fit("a c a", &mut encoder, 9).unwrap();
        }
        let expected = [("a", 4), ("b", 1), ("c", 3)].map(|(name, n_texts)| (name.to_owned(), n_texts));
        assert_eq!(counts(&mut encoder), expected);
        // The stamp of the first text again.
        Arc::make_mut(encoder.counts.as_mut().unwrap()).n_texts = 2 * Seen::MAX_STAMP;
        rows.fit("b", &mut encoder, 9).unwrap();
        assert_eq!(counts(&mut encoder)[1].1, 2);
    }
}
