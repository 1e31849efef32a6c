//! Attributes by number. A cell is hashed and compared as letters once; from then on it is a number, what functions make
//! of it are numbers too, and an attribute of several cells is found by two numbers at a time.
//!
//! What was never seen has no number, so a token's new attributes cost nothing and say nothing. Hashes are keyed anew in
//! every process, and nothing that leaves this file depends on the key: numbers are given in the order in which things
//! turn up.

use crate::corpus::Corpus;
use crate::forks::{Forks, Probe};
use crate::template::{Function, Template};
use ahash::RandomState;
use rosenblatt_data::{Sentences, hash_slot};
use std::fmt::Write as _;

/// What is nowhere.
const NOWHERE: u32 = u32::MAX;
/// How many names there are beyond either edge of a sentence.
const EDGE: u8 = 16;
/// How many tokens are looked up together.
const BATCH: usize = 16;

/// Names in the order in which they turned up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    letters: String,
    ends: Vec<usize>,
    /// One more than the number of a name, and some of its hash; zero where there is none.
    slots: Vec<(u32, u32)>,
}

impl Names {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn range(&self, number: u32) -> std::ops::Range<usize> {
        let number = number as usize;
        let from = if number == 0 { 0 } else { self.ends[number - 1] };
        from..self.ends[number]
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        &self.letters[self.range(number)]
    }

    #[inline]
    fn is(&self, number: u32, name: &str) -> bool {
        self.letters.as_bytes()[self.range(number)] == *name.as_bytes()
    }

    #[inline]
    fn slot(&self, name: &str, hash: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let (mut at, mark) = (hash as usize & mask, (hash >> 32) as u32);
        loop {
            match self.slots[at] {
                (0, _) => return Err(at),
                (number, other) if other == mark && self.is(number - 1, name) => return Ok(number - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    pub(crate) fn find(&self, hasher: &RandomState, name: &str) -> Option<u32> {
        if self.slots.is_empty() { None } else { self.slot(name, hasher.hash_one(name)).ok() }
    }

    /// The number of a name, which gets one if it has none.
    pub(crate) fn add(&mut self, hasher: &RandomState, name: &str) -> u32 {
        if self.len() * 2 >= self.slots.len() {
            let n_slots = (self.slots.len() * 2).max(64);
            let mut slots = vec![(0, 0); n_slots];
            for number in 0..self.len() as u32 {
                let hash = hasher.hash_one(self.get(number));
                let mut at = hash as usize & (n_slots - 1);
                while slots[at].0 != 0 {
                    at = (at + 1) & (n_slots - 1);
                }
                slots[at] = (number + 1, (hash >> 32) as u32);
            }
            self.slots = slots;
        }
        let hash = hasher.hash_one(name);
        match self.slot(name, hash) {
            Ok(number) => number,
            Err(at) => {
                let number = self.len() as u32;
                self.letters.push_str(name);
                self.ends.push(self.letters.len());
                self.slots[at] = (number + 1, (hash >> 32) as u32);
                number
            }
        }
    }
}

/// The cells of a column, and what functions make of each.
#[derive(Debug, Clone)]
struct Column {
    place: usize,
    cells: Names,
    functions: Vec<Function>,
    /// Per function: its outcomes.
    outcomes: Vec<Names>,
    /// Per cell and function, the number of the outcome.
    derived: Vec<u32>,
}

/// Where the cell of a template is found.
#[derive(Debug, Clone, Copy)]
struct Look {
    column: usize,
    function: usize,
    offset: i32,
}

/// How the attribute of a template is found.
#[derive(Debug, Clone)]
struct Path {
    /// Where the outcomes of its cells are, from the beginning of what the first token may look at.
    views: Vec<usize>,
    first_fork: u32,
    is_link: bool,
}

/// A cell of a template after its first: where its outcome is, and the fork that it leads on at.
#[derive(Debug, Clone, Copy)]
struct Further {
    template: usize,
    view: usize,
    fork: u32,
}

/// What attributes there are.
#[derive(Debug, Clone)]
pub struct Lexicon {
    templates: Vec<Template>,
    looks: Vec<Vec<Look>>,
    columns: Vec<Column>,
    /// Per template: the attribute of each outcome of its only cell.
    firsts: Vec<Vec<u32>>,
    /// Per template: where its cells are found, and the first of its forks: one for every cell but the first.
    paths: Vec<Path>,
    /// All second cells of templates, then all third ones, and so on.
    further: Vec<Vec<Further>>,
    /// Where two numbers lead.
    forks: Forks,
    /// How many outcomes a token has, of all columns and functions, and how far a template looks.
    stride: usize,
    reach: usize,
    /// The two numbers that make each number that is no attribute yet.
    between: Vec<Vec<Vec<(u32, u32)>>>,
    /// Per attribute: its template and the two numbers that led to it.
    keys: Vec<(u32, u32, u32)>,
    /// The attributes themselves, where a file has them.
    items: Option<Names>,
    /// Where attributes have no names: their numbers are hashes of this many bits of the names they would have.
    bits: Option<u32>,
    hasher: RandomState,
}

/// Room for the numbers of a sentence's cells.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// Token by token, with the edges: the outcomes of every column and function.
    outcomes: Vec<u32>,
    word: String,
    name: String,
    /// Token by token of a batch: where each template has led so far.
    found: Vec<u32>,
    probes: Vec<Probe>,
}

/// The attributes of a lexicon, as a model keeps them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stored {
    /// All cells, column by column, in the order in which they turned up.
    pub cells: Vec<(usize, Vec<String>)>,
    /// The template of each attribute; empty where the file has attributes.
    pub templates: Vec<u32>,
    /// The outcomes of its cells.
    pub outcomes: Vec<u32>,
    /// The attributes themselves, ascending, where they are hashed and nothing else is kept.
    pub numbers: Vec<u32>,
}

impl Lexicon {
    /// No attributes yet. Without templates, cells are attributes.
    pub fn new(templates: Vec<Template>) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let hasher = RandomState::new();
        let mut looks = Vec::new();
        for template in &templates {
            let resolve = |look: &crate::template::Look| {
                let slot =
                    columns.iter().position(|column| column.place == look.column).unwrap_or_else(|| {
                        let (functions, outcomes) = (Vec::new(), Vec::new());
                        let (cells, derived) = (Names::default(), Vec::new());
                        columns.push(Column { place: look.column, cells, functions, outcomes, derived });
                        columns.len() - 1
                    });
                let column = &mut columns[slot];
                let function = column.functions.iter().position(|known| *known == look.function);
                let function = function.unwrap_or_else(|| {
                    column.functions.push(look.function);
                    let mut outcomes = Names::default();
                    for sign in ['-', '+'] {
                        for far in 1..=EDGE {
                            outcomes.add(&hasher, &format!("_B{sign}{far}"));
                        }
                    }
                    column.outcomes.push(outcomes);
                    column.functions.len() - 1
                });
                Look { column: slot, function, offset: look.offset }
            };
            looks.push(template.looks.iter().map(resolve).collect::<Vec<Look>>());
        }
        let begins: Vec<usize> = columns
            .iter()
            .scan(0, |end, column| {
                let begin = *end;
                *end += column.functions.len();
                Some(begin)
            })
            .collect();
        let stride = columns.iter().map(|column| column.functions.len()).sum();
        let reach = looks.iter().flatten().map(|look| look.offset.unsigned_abs()).max().unwrap_or(0);
        let mut first_fork = 0;
        let path = |(looks, template): (&Vec<Look>, &Template)| {
            let view = |look: &Look| {
                let token = reach.saturating_add_signed(look.offset) as usize;
                token * stride + begins[look.column] + look.function
            };
            let views = looks.iter().map(view).collect();
            let path = Path { views, first_fork, is_link: template.is_link };
            first_fork += looks.len().saturating_sub(1) as u32;
            path
        };
        let paths: Vec<Path> = looks.iter().zip(&templates).map(path).collect();
        let n_cells = looks.iter().map(Vec::len).max().unwrap_or(0);
        let further = (1..n_cells)
            .map(|level| {
                let cell = |(template, path): (usize, &Path)| {
                    let view = *path.views.get(level)?;
                    Some(Further { template, view, fork: path.first_fork + level as u32 - 1 })
                };
                paths.iter().enumerate().filter_map(cell).collect()
            })
            .collect();
        let between = looks.iter().map(|looks| vec![Vec::new(); looks.len().saturating_sub(2)]).collect();
        Self {
            firsts: vec![Vec::new(); templates.len()],
            items: templates.is_empty().then(Names::default),
            templates,
            looks,
            columns,
            paths,
            further,
            forks: Forks::default(),
            stride,
            reach: reach as usize,
            between,
            keys: Vec::new(),
            bits: None,
            hasher,
        }
    }

    /// The same with attributes hashed into a table of `2^bits`: nothing has to be kept of what they are called, and some
    /// share a number.
    #[must_use]
    pub fn hashed(self, bits: Option<u32>) -> Self {
        Self { bits, ..self }
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        if let Some(bits) = self.bits {
            return 1 << bits;
        }
        self.items.as_ref().map_or(self.keys.len(), Names::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The templates; none where cells are attributes.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Whether attributes speak of the label before, too.
    pub fn has_links(&self) -> bool {
        self.templates.iter().any(|template| template.is_link)
    }

    /// The columns that are looked at.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|column| column.place)
    }

    /// Whether a word of the training data stands in this cell; nothing if that column is not looked at.
    pub fn knows(&self, column: usize, cell: &str) -> Option<bool> {
        if self.bits.is_some() {
            return None;
        }
        let column = self.columns.iter().find(|known| known.place == column)?;
        Some(column.cells.find(&self.hasher, cell).is_some())
    }

    /// Takes in the attributes of a sentence, new ones included.
    pub fn learn(
        &mut self,
        sentences: &Sentences,
        sentence: usize,
        skip: usize,
        scratch: &mut Scratch,
        corpus: &mut Corpus,
    ) {
        if let Some(bits) = self.bits {
            return self.hash(sentences, (sentence, skip), |column| column, bits, scratch, corpus);
        }
        let tokens = sentences.tokens(sentence);
        if let Some(items) = &mut self.items {
            for token in tokens {
                for cell in (0..sentences.n_cells(token)).filter(|cell| *cell != skip) {
                    let name = sentences.cell(token, cell).unwrap_or_default();
                    corpus.push_attribute(items.add(&self.hasher, name), sentences.value(token, cell));
                }
                corpus.end_token();
            }
            return;
        }
        let n_tokens = tokens.len();
        self.lay_out(n_tokens, scratch);
        let Scratch { outcomes, word, .. } = scratch;
        let mut place = self.reach * self.stride;
        for column in &mut self.columns {
            let n_functions = column.functions.len();
            for (token, row) in tokens.clone().zip(outcomes[place..].chunks_mut(self.stride)) {
                let cell = sentences.cell(token, column.place).unwrap_or_default();
                let number = column.add(&self.hasher, cell, word) as usize;
                row[..n_functions].copy_from_slice(&column.derived[number * n_functions..][..n_functions]);
            }
            place += n_functions;
        }
        let Self { firsts, forks, between, keys, hasher, paths, stride, .. } = self;
        let paths: &[Path] = paths;
        each_attribute(
            paths,
            outcomes,
            (n_tokens, *stride),
            corpus,
            |template, level, left, right, is_last| {
                let mut new = |right| {
                    keys.push((template as u32, left, right));
                    keys.len() as u32 - 1
                };
                if level == 0 {
                    let first = &mut firsts[template];
                    if first.len() <= left as usize {
                        first.resize(left as usize + 1, NOWHERE);
                    }
                    let number = &mut first[left as usize];
                    if *number == NOWHERE {
                        *number = new(NOWHERE);
                    }
                    return *number;
                }
                let fork = paths[template].first_fork + level as u32 - 1;
                forks.get_or(hasher, (fork, left, right), || {
                    if is_last {
                        new(right)
                    } else {
                        let list = &mut between[template][level - 1];
                        list.push((left, right));
                        list.len() as u32 - 1
                    }
                })
            },
        );
    }

    /// Room for the outcomes of a sentence, and what is beyond its edges.
    fn lay_out(&self, n_tokens: usize, scratch: &mut Scratch) {
        let Self { reach, stride, .. } = *self;
        let outcomes = &mut scratch.outcomes;
        outcomes.resize((n_tokens + 2 * reach) * stride, 0);
        for far in 0..reach {
            outcomes[(reach - 1 - far) * stride..][..stride].fill(far as u32);
            outcomes[(reach + n_tokens + far) * stride..][..stride].fill(u32::from(EDGE) + far as u32);
        }
    }

    /// The attributes of a sentence as far as they are known; `at` says in which cell a column is found.
    pub fn look_up(
        &self,
        sentences: &Sentences,
        sentence: usize,
        skip: usize,
        at: impl Fn(usize) -> usize,
        scratch: &mut Scratch,
        corpus: &mut Corpus,
    ) {
        if let Some(bits) = self.bits {
            return self.hash(sentences, (sentence, skip), at, bits, scratch, corpus);
        }
        let tokens = sentences.tokens(sentence);
        if let Some(items) = &self.items {
            for token in tokens {
                for cell in (0..sentences.n_cells(token)).filter(|cell| *cell != skip) {
                    let name = sentences.cell(token, cell).unwrap_or_default();
                    if let Some(attribute) = items.find(&self.hasher, name) {
                        corpus.push_attribute(attribute, sentences.value(token, cell));
                    }
                }
                corpus.end_token();
            }
            return;
        }
        let n_tokens = tokens.len();
        self.lay_out(n_tokens, scratch);
        let Scratch { outcomes, word, found, probes, .. } = scratch;
        let mut place = self.reach * self.stride;
        for column in &self.columns {
            let n_functions = column.functions.len();
            for (token, row) in tokens.clone().zip(outcomes[place..].chunks_mut(self.stride)) {
                let cell = sentences.cell(token, at(column.place)).unwrap_or_default();
                let row = &mut row[..n_functions];
                if let Some(number) = column.cells.find(&self.hasher, cell) {
                    row.copy_from_slice(&column.derived[number as usize * n_functions..][..n_functions]);
                    continue;
                }
                for ((out, made), known) in row.iter_mut().zip(&column.functions).zip(&column.outcomes) {
                    let found = made.apply(cell, word).then(|| known.find(&self.hasher, word)).flatten();
                    *out = found.unwrap_or(NOWHERE);
                }
            }
            place += n_functions;
        }
        let has_links = self.has_links();
        for begin in (0..n_tokens).step_by(BATCH) {
            let n_batch = BATCH.min(n_tokens - begin);
            self.find_batch(&outcomes[begin * self.stride..], n_batch, found, probes);
            for found in found.chunks_exact(self.paths.len()) {
                if has_links {
                    let known = found.iter().zip(&self.paths).filter(|(attribute, _)| **attribute != NOWHERE);
                    known.for_each(|(attribute, path)| push(corpus, path, *attribute));
                } else {
                    corpus.push_attributes(found, NOWHERE);
                }
                corpus.end_token();
            }
        }
    }

    /// Where every template leads at each of `n_tokens` tokens, given the outcomes from what the first of them may look at.
    /// What [`each_attribute`] does one by one is done cell by cell here, for many tokens and templates at once, so that
    /// none of them waits for what another one needs from memory.
    fn find_batch(&self, outcomes: &[u32], n_tokens: usize, found: &mut Vec<u32>, probes: &mut Vec<Probe>) {
        let Self { firsts, forks, hasher, paths, stride, .. } = self;
        found.clear();
        for token in 0..n_tokens {
            let seen = &outcomes[token * stride..];
            found.extend(paths.iter().zip(firsts).map(|(path, first)| {
                let attribute = |outcome: u32| first.get(outcome as usize).copied().unwrap_or(NOWHERE);
                match *path.views {
                    [] => attribute(0),
                    [only] => attribute(seen[only]),
                    [first, ..] => seen[first],
                }
            }));
        }
        for cells in &self.further {
            probes.clear();
            let rows = || found.chunks_exact(paths.len()).enumerate();
            for (token, found) in rows() {
                let seen = &outcomes[token * stride..];
                probes.extend(cells.iter().map(|cell| {
                    forks.look(hasher, cell.fork, (found[cell.template], seen[cell.view]), NOWHERE)
                }));
            }
            let rows = found.chunks_exact_mut(paths.len()).zip(probes.chunks_exact(cells.len()));
            for (token, (found, probes)) in rows.enumerate() {
                let seen = &outcomes[token * stride..];
                for (cell, probe) in cells.iter().zip(probes) {
                    let at = &mut found[cell.template];
                    *at = forks.found(*probe, cell.fork, *at, seen[cell.view]).unwrap_or(NOWHERE);
                }
            }
        }
    }

    /// The attributes of a sentence as hashes of their names.
    fn hash(
        &self,
        sentences: &Sentences,
        (sentence, skip): (usize, usize),
        at: impl Fn(usize) -> usize,
        bits: u32,
        scratch: &mut Scratch,
        corpus: &mut Corpus,
    ) {
        let tokens = sentences.tokens(sentence);
        let Scratch { word, name, .. } = scratch;
        for token in tokens.clone() {
            if self.items.is_some() {
                for cell in (0..sentences.n_cells(token)).filter(|cell| *cell != skip) {
                    let item = sentences.cell(token, cell).unwrap_or_default();
                    corpus.push_attribute(hash_slot(item.as_bytes(), bits), sentences.value(token, cell));
                }
            }
            'templates: for template in &self.templates {
                name.clear();
                name.push_str(template.literals.first().map_or("", String::as_str));
                for (place, look) in template.looks.iter().enumerate() {
                    let (here, n_tokens) = ((token - tokens.start) as u32, i64::from(tokens.len() as u32));
                    let here = i64::from(here) + i64::from(look.offset);
                    if here < 0 {
                        let _ = write!(name, "_B-{}", -here);
                    } else if here >= n_tokens {
                        let _ = write!(name, "_B+{}", here - n_tokens + 1);
                    } else {
                        let at_token = tokens.start + here as usize;
                        let cell = sentences.cell(at_token, at(look.column)).unwrap_or_default();
                        if !look.function.apply(cell, word) {
                            continue 'templates;
                        }
                        name.push_str(word);
                    }
                    name.push_str(template.literals.get(place + 1).map_or("", String::as_str));
                }
                let attribute = hash_slot(name.as_bytes(), bits);
                if template.is_link {
                    corpus.push_link(attribute);
                } else {
                    corpus.push_attribute(attribute, 1.0);
                }
            }
            corpus.end_token();
        }
    }

    /// The outcomes of the cells of an attribute.
    fn path(&self, attribute: u32) -> (usize, Vec<u32>) {
        let (template, mut left, right) = self.keys[attribute as usize];
        let template = template as usize;
        let n_looks = self.looks[template].len();
        let mut path = vec![right];
        for level in (0..n_looks.saturating_sub(2)).rev() {
            let (before, here) = self.between[template][level][left as usize];
            path.push(here);
            left = before;
        }
        path.push(left);
        path.reverse();
        path.truncate(n_looks);
        (template, path)
    }

    /// What an attribute is called: its template, with its cells filled in.
    pub fn name(&self, attribute: u32) -> String {
        if self.bits.is_some() {
            return format!("#{attribute}");
        }
        if let Some(items) = &self.items {
            return items.get(attribute).to_owned();
        }
        let (template, path) = self.path(attribute);
        let literals = &self.templates[template].literals;
        let mut name = literals.first().cloned().unwrap_or_default();
        for (place, (look, outcome)) in self.looks[template].iter().zip(path).enumerate() {
            let outcomes = &self.columns[look.column].outcomes[look.function];
            let _ = write!(
                name,
                "{}{}",
                outcomes.get(outcome),
                literals.get(place + 1).map_or("", String::as_str)
            );
        }
        name
    }

    /// What a model keeps of it: the attributes that `keep` wants, in their order.
    pub fn store(&self, keep: impl Fn(u32) -> bool) -> Stored {
        let mut stored = Stored::default();
        let kept = (0..self.len() as u32).filter(|attribute| keep(*attribute));
        if self.bits.is_some() {
            stored.numbers = kept.collect();
            return stored;
        }
        if let Some(items) = &self.items {
            stored.cells.push((0, kept.map(|attribute| items.get(attribute).to_owned()).collect()));
            return stored;
        }
        for attribute in kept {
            let (template, path) = self.path(attribute);
            stored.templates.push(template as u32);
            stored.outcomes.extend(path);
        }
        let cells = |column: &Column| {
            (
                column.place,
                (0..column.cells.len() as u32).map(|cell| column.cells.get(cell).to_owned()).collect(),
            )
        };
        stored.cells = self.columns.iter().map(cells).collect();
        stored
    }

    /// A lexicon of what a model kept. The error says what cannot be.
    pub fn restore(templates: Vec<Template>, stored: &Stored) -> Result<Self, String> {
        let mut found = Self::new(templates);
        if let Some(items) = &mut found.items {
            for name in stored.cells.iter().flat_map(|(_, names)| names) {
                items.add(&found.hasher, name);
            }
            let n_names: usize = stored.cells.iter().map(|(_, names)| names.len()).sum();
            return if items.len() == n_names {
                Ok(found)
            } else {
                Err("an attribute is there twice".to_owned())
            };
        }
        let mut word = String::new();
        for (column, names) in &stored.cells {
            let Some(column) = found.columns.iter_mut().find(|known| known.place == *column) else {
                return Err(format!("no template looks at column {column}"));
            };
            for name in names {
                column.add(&found.hasher, name, &mut word);
            }
        }
        let mut outcomes = stored.outcomes.iter().copied();
        for &template in &stored.templates {
            let template = template as usize;
            let Some(looks) = found.looks.get(template) else {
                return Err("an attribute has a template that is not there".to_owned());
            };
            let path: Vec<u32> = outcomes.by_ref().take(looks.len()).collect();
            let is_there = |(look, outcome): (&Look, &u32)| {
                (*outcome as usize) < found.columns[look.column].outcomes[look.function].len()
            };
            if path.len() < looks.len() || !looks.iter().zip(&path).all(is_there) {
                return Err("an attribute has a cell that is not there".to_owned());
            }
            found.insert(template, &path)?;
        }
        if outcomes.next().is_some() {
            Err("there are more cells than attributes have".to_owned())
        } else {
            Ok(found)
        }
    }

    /// Takes in the attributes of a lexicon of the same templates, and says which numbers they have here.
    pub fn join(&mut self, other: &Self) -> Vec<u32> {
        if self.bits.is_some() {
            return (0..other.len() as u32).collect();
        }
        if let (Some(items), Some(others)) = (&mut self.items, &other.items) {
            return (0..others.len() as u32).map(|item| items.add(&self.hasher, others.get(item))).collect();
        }
        let mut word = String::new();
        for (column, from) in self.columns.iter_mut().zip(&other.columns) {
            for cell in 0..from.cells.len() as u32 {
                column.add(&self.hasher, from.cells.get(cell), &mut word);
            }
        }
        let number = |attribute: u32| {
            let (template, theirs) = other.path(attribute);
            let looks = self.looks.get(template).into_iter().flatten();
            let path: Vec<u32> = looks
                .zip(&theirs)
                .map(|(look, outcome)| {
                    let name = other.columns[look.column].outcomes[look.function].get(*outcome);
                    // Every cell of theirs is here by now, and so is what was made of it.
                    let found = self.columns[look.column].outcomes[look.function].find(&self.hasher, name);
                    found.unwrap_or(NOWHERE)
                })
                .collect();
            self.find_path(template, &path).unwrap_or_else(|| {
                let number = self.keys.len() as u32;
                let _ = self.insert(template, &path);
                number
            })
        };
        (0..other.len() as u32).map(number).collect()
    }

    fn find_path(&self, template: usize, path: &[u32]) -> Option<u32> {
        let mut left = path.first().copied().unwrap_or(0);
        if path.len() <= 1 {
            return self.firsts[template].get(left as usize).copied().filter(|number| *number != NOWHERE);
        }
        for (level, &right) in path[1..].iter().enumerate() {
            left =
                self.forks.get(&self.hasher, self.paths[template].first_fork + level as u32, left, right)?;
        }
        Some(left)
    }

    fn insert(&mut self, template: usize, path: &[u32]) -> Result<(), String> {
        let number = self.keys.len() as u32;
        let twice = || Err("an attribute is there twice".to_owned());
        let left = path.first().copied().unwrap_or(0);
        if path.len() <= 1 {
            let first = &mut self.firsts[template];
            if first.len() <= left as usize {
                first.resize(left as usize + 1, NOWHERE);
            }
            if first[left as usize] != NOWHERE {
                return twice();
            }
            first[left as usize] = number;
            self.keys.push((template as u32, left, NOWHERE));
            return Ok(());
        }
        let mut left = left;
        for (level, &right) in path[1..].iter().enumerate() {
            let at = (self.paths[template].first_fork + level as u32, left, right);
            if level + 2 == path.len() {
                self.keys.push((template as u32, left, right));
                if self.forks.get_or(&self.hasher, at, || number) != number {
                    return twice();
                }
            } else {
                let list = &mut self.between[template][level];
                left = self.forks.get_or(&self.hasher, at, || {
                    list.push((left, right));
                    list.len() as u32 - 1
                });
            }
        }
        Ok(())
    }
}

impl Column {
    fn add(&mut self, hasher: &RandomState, cell: &str, word: &mut String) -> u32 {
        let n_before = self.cells.len();
        let number = self.cells.add(hasher, cell);
        if self.cells.len() > n_before {
            for (function, outcomes) in self.functions.iter().zip(&mut self.outcomes) {
                let made = function.apply(cell, word);
                self.derived.push(if made { outcomes.add(hasher, word) } else { NOWHERE });
            }
        }
        number
    }
}

/// Goes over all attributes of a sentence. `find` is given the template, how many cells came before, and the two numbers
/// that lead on; what is nowhere is left out.
#[inline(always)]
fn each_attribute(
    paths: &[Path],
    outcomes: &[u32],
    (n_tokens, stride): (usize, usize),
    corpus: &mut Corpus,
    mut find: impl FnMut(usize, usize, u32, u32, bool) -> u32,
) {
    for token in 0..n_tokens {
        let seen = &outcomes[token * stride..];
        for (template, path) in paths.iter().enumerate() {
            let found = match *path.views {
                [] => find(template, 0, 0, NOWHERE, true),
                [only] if seen[only] == NOWHERE => NOWHERE,
                [only] => find(template, 0, seen[only], NOWHERE, true),
                [first, ref further @ ..] => {
                    let mut left = seen[first];
                    for (level, view) in further.iter().enumerate() {
                        let right = seen[*view];
                        if left == NOWHERE || right == NOWHERE {
                            left = NOWHERE;
                            break;
                        }
                        left = find(template, level + 1, left, right, level + 1 == further.len());
                    }
                    left
                }
            };
            if found == NOWHERE {
                continue;
            }
            push(corpus, path, found);
        }
        corpus.end_token();
    }
}

#[inline(always)]
fn push(corpus: &mut Corpus, path: &Path, attribute: u32) {
    if path.is_link {
        corpus.push_link(attribute);
    } else {
        corpus.push_attribute(attribute, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::parse;
    use rosenblatt_data::{Source, sentences};

    fn read(text: &str) -> Sentences {
        let mut block = Sentences::default();
        let source = Source::bytes("a.conll", text.as_bytes());
        assert!(sentences(&source, None).unwrap().next(&mut block).unwrap());
        block
    }

    #[test]
    fn hashed_attributes_are_hashes_of_the_names_they_would_have() {
        let templates =
            parse("U0:%x[-1,0]\nU1:%x[0,0]/%x[1,0]\nU2:%suffix[0,0,2]+%x[0,1]+%x[1,1]\nU3").unwrap();
        let block = read("Ada N x\nran V y\n\na D z\n\n");
        let (mut named, mut hashed) =
            (Lexicon::new(templates.clone()), Lexicon::new(templates).hashed(Some(20)));
        let (mut by_name, mut by_hash, mut scratch) =
            (Corpus::default(), Corpus::default(), Scratch::default());
        for number in 0..block.len() {
            named.learn(&block, number, 2, &mut scratch, &mut by_name);
            hashed.learn(&block, number, 2, &mut scratch, &mut by_hash);
            hashed.look_up(&block, number, 2, |column| column, &mut scratch, &mut by_hash);
            by_name.end_sentence();
            by_hash.end_sentence();
        }
        for number in 0..block.len() {
            let n_tokens = block.tokens(number).len();
            for token in 0..n_tokens {
                let names = by_name.sentence(number).token(token).0.iter().map(|at| named.name(*at));
                let slots: Vec<u32> = names.map(|name| hash_slot(name.as_bytes(), 20)).collect();
                assert_eq!(by_hash.sentence(number).token(token).0, slots);
                assert_eq!(
                    by_hash.sentence(number).token(token + n_tokens).0,
                    slots,
                    "what is new has them, too"
                );
            }
        }
        assert_eq!((hashed.len(), hashed.knows(0, "Ada")), (1 << 20, None));
        assert_eq!(hashed.store(|attribute| attribute < 3).numbers, [0, 1, 2]);
    }

    #[test]
    fn attributes_found_many_at_once_are_those_found_one_by_one() {
        let set = crate::template::ready_made("ner", 0, &[1]).unwrap();
        for text in [&set[..], "U0:%x[0,0]/%x[1,0]/%x[-2,0]/%x[0,0]\nB1:%x[0,1]\nU2\nB3:%x[0,0]/%x[1,1]\n"] {
            let mut lexicon = Lexicon::new(parse(text).unwrap());
            let mut random = rosenblatt_core::Random::new(7);
            let mut pick = |n: u64| random.below(n);
            let mut text = |n_words: u64| {
                let mut text = String::new();
                for length in [1, 2, 15, 16, 17, 40] {
                    for _ in 0..length {
                        let _ = writeln!(text, "Wo{}rd-{} T{} x", pick(3), pick(n_words), pick(4));
                    }
                    text.push('\n');
                }
                read(&text)
            };
            let (known, other) = (text(20), text(40));
            let mut scratch = Scratch::default();
            for number in 0..known.len() {
                lexicon.learn(&known, number, 2, &mut scratch, &mut Corpus::default());
            }
            for (block, number) in
                [&known, &other].into_iter().flat_map(|one| (0..one.len()).map(move |at| (one, at)))
            {
                let (mut at_once, mut one_by_one) = (Corpus::default(), Corpus::default());
                lexicon.look_up(block, number, 2, |column| column, &mut scratch, &mut at_once);
                let seen = (block.tokens(number).len(), lexicon.stride);
                let find = |template: usize, level: usize, left: u32, right: u32, _| {
                    if level == 0 {
                        return lexicon.firsts[template].get(left as usize).copied().unwrap_or(NOWHERE);
                    }
                    let fork = lexicon.paths[template].first_fork + level as u32 - 1;
                    lexicon.forks.get(&lexicon.hasher, fork, left, right).unwrap_or(NOWHERE)
                };
                each_attribute(&lexicon.paths, &scratch.outcomes, seen, &mut one_by_one, find);
                assert_eq!(at_once, one_by_one);
            }
        }
    }

    #[test]
    fn attributes_are_what_the_template_says_and_come_back_from_what_is_stored() {
        let templates =
            parse("U0:%x[-1,0]\nU1:%x[0,0]/%x[1,0]\nU2:%suffix[0,0,2]+%x[0,1]+%x[1,1]\nU3").unwrap();
        let mut lexicon = Lexicon::new(templates.clone());
        let block = read("Ada N x\nran V y\n\na D z\n\n");
        let mut corpus = Corpus::default();
        let mut scratch = Scratch::default();
        for number in 0..block.len() {
            lexicon.learn(&block, number, 2, &mut scratch, &mut corpus);
            corpus.end_sentence();
        }
        let names = |lexicon: &Lexicon, corpus: &Corpus, token: usize| {
            let (attributes, _) = corpus.sentence(0).token(token);
            attributes.iter().map(|attribute| lexicon.name(*attribute)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&lexicon, &corpus, 0), "U0:_B-1 U1:Ada/ran U2:da+N+V U3");
        assert_eq!(names(&lexicon, &corpus, 1), "U0:Ada U1:ran/_B+1 U2:an+V+_B+1 U3");
        // A word of one letter has no ending of two.
        assert_eq!(corpus.sentence(1).token(0).0.len(), 3);
        let kept = |attribute: u32| attribute != 1;
        let again = Lexicon::restore(templates.clone(), &lexicon.store(kept)).unwrap();
        assert_eq!(again.len(), lexicon.len() - 1);
        let mut found = Corpus::default();
        let unseen = read("Ada N ?\nran V ?\n\nnew D ?\n\n");
        for number in 0..2 {
            again.look_up(&unseen, number, 2, |column| column, &mut scratch, &mut found);
            found.end_sentence();
        }
        assert_eq!(names(&again, &found, 0), "U0:_B-1 U2:da+N+V U3", "what was not kept is not there");
        assert_eq!(names(&again, &found, 1), "U0:Ada U1:ran/_B+1 U2:an+V+_B+1 U3");
        assert_eq!(found.sentence(1).token(0).0.len(), 2, "new words have only what is known");
        assert_eq!(again.knows(0, "Ada"), Some(true));
        assert_eq!(again.knows(0, "new"), Some(false));
        let mut wrong = lexicon.store(|_| true);
        wrong.outcomes[0] = 10_000;
        assert!(Lexicon::restore(templates.clone(), &wrong).is_err());
        let mut twice = lexicon.store(|_| true);
        twice.templates.push(twice.templates[0]);
        twice.outcomes.push(twice.outcomes[0]);
        assert!(Lexicon::restore(templates, &twice).is_err());
    }
}
