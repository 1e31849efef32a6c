//! What a tagger weighs: (attribute, label), (label, label) and where templates ask for it (attribute, label, label), and
//! (label, label, label) in second order.
//!
//! The weights of an attribute stand side by side, label by label, four to a [`Quad`]. An attribute gets its row when it
//! first moves: most of what a text shows only once never does, and takes a number of four bytes until then. With many
//! labels a row holds no quads, but says where they stand: most attributes speak of a few labels only, and a quad is there
//! once it has moved.

use crate::links::Links;

/// Four numbers that are read together.
#[repr(align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Quad(pub(crate) [f64; 4]);

/// How many numbers a [`Quad`] holds.
pub(crate) const QUAD: usize = 4;

/// The most quads that are asked for at once: two gibibytes.
const MOST_RESERVED: usize = (2 << 30) / size_of::<Quad>();

/// From this many quads on, a row says where its quads stand.
const MANY_QUADS: usize = 8;

/// How far back a label looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// To the label before it.
    #[default]
    First,
    /// To the two labels before it.
    Second,
}

/// How many numbers there are, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Labels.
    pub n_labels: usize,
    /// How far back a label looks.
    pub order: Order,
}

impl Shape {
    /// Quads of a row.
    pub(crate) fn quads(self) -> usize {
        self.n_labels.div_ceil(QUAD)
    }

    /// Whether rows say where their quads stand.
    pub(crate) fn is_wide(self) -> bool {
        self.quads() >= MANY_QUADS
    }

    pub(crate) fn has_triples(self) -> bool {
        self.order == Order::Second
    }

    fn n_triples(self) -> usize {
        if self.has_triples() { self.n_labels * self.n_labels * self.quads() } else { 0 }
    }
}

/// A number for every weight: the weights themselves, or what is kept beside them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Store {
    pub(crate) shape: Shape,
    /// What stands where nothing has moved yet.
    fill: f64,
    /// With many labels, where the quads of each row stand in the table; the first quad there is for all that has not
    /// moved. Empty otherwise.
    pub(crate) index: Vec<u32>,
    /// Row after row, or quad after quad; the first row belongs to all attributes that have none of their own.
    pub(crate) table: Vec<Quad>,
    /// By the label before, then by the label.
    pub(crate) pairs: Vec<Quad>,
    /// By the label before last, the label before, then the label.
    pub(crate) triples: Vec<Quad>,
    /// By the number that [`Links`] has for them.
    pub(crate) links: Vec<Quad>,
}

/// One weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Of an attribute, in its row, and a label.
    Attribute { label: u32, attribute: u32, row: u32 },
    /// Of two labels that follow each other.
    Pair(u32, u32),
    /// Of three.
    Triple(u32, u32, u32),
    /// Of an attribute and two, in its quad.
    Link { before: u32, label: u32, attribute: u32, number: usize },
}

impl Store {
    pub(crate) fn new(shape: Shape, fill: f64) -> Self {
        let quad = Quad([fill; QUAD]);
        Self {
            shape,
            fill,
            index: vec![0; if shape.is_wide() { shape.quads() } else { 0 }],
            table: vec![quad; if shape.is_wide() { 1 } else { shape.quads() }],
            pairs: vec![quad; shape.n_labels * shape.quads()],
            triples: vec![quad; shape.n_triples()],
            links: Vec::new(),
        }
    }

    /// Asks for room for `n_rows` rows, so that growing moves nothing. Room that is never written to costs no memory; if
    /// the system has none to give, rows move as they grow.
    pub(crate) fn reserve(&mut self, n_rows: usize) {
        let n_quads = n_rows.saturating_mul(self.shape.quads()).min(MOST_RESERVED);
        if n_quads > self.table.capacity() {
            let _ = self.table.try_reserve_exact(n_quads - self.table.len());
        }
        if self.shape.is_wide() && n_quads > self.index.capacity() {
            let _ = self.index.try_reserve_exact(n_quads - self.index.len());
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        let n = if self.shape.is_wide() { self.index.len() } else { self.table.len() };
        n / self.shape.quads().max(1)
    }

    /// Room for `n_rows` rows.
    pub(crate) fn grow(&mut self, n_rows: usize) {
        let n = n_rows * self.shape.quads();
        if self.shape.is_wide() {
            if n > self.index.len() {
                self.index.resize(n, 0);
            }
        } else if n > self.table.len() {
            self.table.resize(n, Quad([self.fill; QUAD]));
        }
    }

    /// Room for `n` quads of links.
    pub(crate) fn grow_links(&mut self, n: usize) {
        if n > self.links.len() {
            self.links.resize(n, Quad([self.fill; QUAD]));
        }
    }

    /// A quad of a row.
    #[inline(always)]
    pub(crate) fn quad(&self, row: usize, quad: usize) -> Quad {
        let at = row * self.shape.quads() + quad;
        if self.shape.is_wide() { self.table[self.index[at] as usize] } else { self.table[at] }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn quad_mut(&mut self, row: usize, quad: usize) -> &mut Quad {
        let mut at = row * self.shape.quads() + quad;
        if self.shape.is_wide() {
            let place = &mut self.index[at];
            if *place == 0 {
                *place = self.table.len() as u32;
                self.table.push(Quad([self.fill; QUAD]));
            }
            at = *place as usize;
        }
        &mut self.table[at]
    }

    /// Whether a quad of a row has a place of its own.
    fn is_there(&self, row: usize, quad: usize) -> bool {
        !self.shape.is_wide() || self.index[row * self.shape.quads() + quad] != 0
    }

    /// Calls `change` with every quad of both, where either has one of its own.
    pub(crate) fn with(&mut self, other: &Self, mut change: impl FnMut(&mut Quad, Quad)) {
        let quads = self.shape.quads();
        if self.shape.is_wide() {
            for row in 0..other.n_rows().min(self.n_rows()) {
                for quad in (0..quads).filter(|quad| other.is_there(row, *quad)) {
                    let theirs = other.quad(row, quad);
                    change(self.quad_mut(row, quad), theirs);
                }
            }
        } else {
            self.table.iter_mut().zip(&other.table).for_each(|(ours, theirs)| change(ours, *theirs));
        }
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(ours, theirs)| change(ours, *theirs));
        self.triples.iter_mut().zip(&other.triples).for_each(|(ours, theirs)| change(ours, *theirs));
        self.links.iter_mut().zip(&other.links).for_each(|(ours, theirs)| change(ours, *theirs));
    }

    /// Room for more labels, and for labels that look farther back.
    pub(crate) fn reshape(&mut self, shape: Shape) {
        if shape == self.shape {
            return;
        }
        let mut wide = Self::new(shape, self.fill);
        wide.grow(self.n_rows());
        let n = self.shape.n_labels.min(shape.n_labels) as u32;
        let n_triples = if self.triples.is_empty() || wide.triples.is_empty() { 0 } else { n };
        // A row keeps its quads: labels have the numbers that they had.
        for row in 0..self.n_rows() {
            let quads = 0..self.shape.quads().min(shape.quads());
            for quad in quads.filter(|quad| self.is_there(row, *quad)) {
                *wide.quad_mut(row, quad) = self.quad(row, quad);
            }
        }
        for label in 0..n {
            for before in 0..n {
                *wide.at(Place::Pair(before, label)) = self.pair(before, label);
                for first in 0..n_triples {
                    *wide.at(Place::Triple(first, before, label)) = self.triple(first, before, label);
                }
            }
        }
        wide.links = std::mem::take(&mut self.links);
        *self = wide;
    }

    #[inline(always)]
    fn split(label: u32) -> (usize, usize) {
        (label as usize / QUAD, label as usize % QUAD)
    }

    /// The weight of an attribute's row for a label.
    #[inline(always)]
    pub(crate) fn of_row(&mut self, row: u32, label: u32) -> &mut f64 {
        let (quad, lane) = Self::split(label);
        &mut self.quad_mut(row as usize, quad).0[lane]
    }

    /// The weight at a place.
    pub(crate) fn at(&mut self, place: Place) -> &mut f64 {
        let Shape { n_labels, .. } = self.shape;
        let quads = self.shape.quads();
        match place {
            Place::Attribute { label, row, .. } => self.of_row(row, label),
            Place::Pair(before, label) => {
                let (quad, lane) = Self::split(label);
                &mut self.pairs[before as usize * quads + quad].0[lane]
            }
            Place::Triple(first, before, label) => {
                let (quad, lane) = Self::split(label);
                let row = first as usize * n_labels + before as usize;
                &mut self.triples[row * quads + quad].0[lane]
            }
            Place::Link { label, number, .. } => &mut self.links[number].0[Self::split(label).1],
        }
    }

    /// The weight of a label after another one.
    #[inline(always)]
    pub(crate) fn pair(&self, before: u32, label: u32) -> f64 {
        let (quad, lane) = Self::split(label);
        self.pairs[before as usize * self.shape.quads() + quad].0[lane]
    }

    /// The weight of a label after two others.
    #[inline(always)]
    pub(crate) fn triple(&self, first: u32, before: u32, label: u32) -> f64 {
        let (quad, lane) = Self::split(label);
        let row = first as usize * self.shape.n_labels + before as usize;
        self.triples[row * self.shape.quads() + quad].0[lane]
    }

    /// What was saved: a store of this shape and fill with these places and numbers. Nothing if they do not fit.
    pub(crate) fn of_lists(
        shape: Shape,
        fill: f64,
        index: Vec<u32>,
        [table, pairs, triples, links]: [Vec<Quad>; 4],
    ) -> Option<Self> {
        let empty = Self::new(shape, fill);
        let rows = if shape.is_wide() { index.len() } else { table.len() };
        let fits = table.len() >= empty.table.len()
            && index.len() >= empty.index.len()
            && rows % shape.quads().max(1) == 0
            && index.iter().all(|place| (*place as usize) < table.len())
            && (shape.is_wide() || index.is_empty())
            && pairs.len() == empty.pairs.len()
            && triples.len() == empty.triples.len();
        fits.then_some(Self { shape, fill, index, table, pairs, triples, links })
    }

    /// All numbers, list by list.
    pub(crate) fn lists(&self) -> [&[Quad]; 4] {
        [&self.table, &self.pairs, &self.triples, &self.links]
    }
}

/// The numbers of quads, one after the other.
pub(crate) fn flat(quads: &[Quad]) -> Vec<f64> {
    quads.iter().flat_map(|quad| quad.0).collect()
}

/// The same the other way round.
pub(crate) fn quads(numbers: &[f64]) -> Vec<Quad> {
    numbers.as_chunks::<QUAD>().0.iter().map(|quad| Quad(*quad)).collect()
}

/// The weights of a tagger.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The row of each attribute; 0 for those that have none.
    pub(crate) rows: Vec<u32>,
    pub(crate) links: Links,
    pub(crate) store: Store,
}

impl Weights {
    /// Weights of zero for `n_attributes` attributes.
    pub fn zero(shape: Shape, n_attributes: usize) -> Self {
        let mut store = Store::new(shape, 0.0);
        store.reserve(n_attributes + 1);
        Self { rows: vec![0; n_attributes], links: Links::default(), store }
    }

    /// The same weights with room for more labels and attributes, or for labels that look farther back.
    #[must_use]
    pub fn with_room(mut self, shape: Shape, n_attributes: usize) -> Self {
        self.store.reshape(shape);
        self.widen(n_attributes);
        self.store.reserve(n_attributes + 1);
        self
    }

    /// The same weights where attributes and labels have other numbers.
    #[must_use]
    pub fn renumbered(&self, shape: Shape, n_attributes: usize, attributes: &[u32], labels: &[u32]) -> Self {
        let mut other = Self::zero(shape, n_attributes);
        for (attribute, number) in (0..self.rows.len() as u32).zip(attributes) {
            for (weight, label) in self.of_attribute(attribute).into_iter().flatten().zip(labels) {
                other.set_attribute(*number, *label, weight);
            }
            for (before, label, weight) in self.links_of(attribute) {
                other.set_link(*number, labels[before as usize], labels[label as usize], weight);
            }
        }
        let n_triples = if self.store.triples.is_empty() { 0 } else { labels.len() };
        for (one, first) in labels.iter().enumerate() {
            for (two, second) in labels.iter().enumerate() {
                other.set_pair(*first, *second, self.of_pair(one as u32, two as u32));
                for (three, third) in labels.iter().enumerate().take(n_triples) {
                    let weight = self.of_triple(one as u32, two as u32, three as u32);
                    other.set_triple(*first, *second, *third, weight);
                }
            }
        }
        other
    }

    /// The weighted mean of weights of one shape; attributes that a part has no weights for count as zero there. Sums run
    /// in the order of the parts.
    pub fn mean(parts: &[(&Self, f64)]) -> Option<Self> {
        let shape = parts.first()?.0.shape();
        let n_attributes = parts.iter().map(|(part, _)| part.n_attributes()).max().unwrap_or(0);
        let mut mean = Self::zero(shape, n_attributes);
        let whole: f64 = parts.iter().map(|(_, factor)| factor).sum();
        let add = |to: &mut Quad, from: Quad, factor: f64| {
            for (to, from) in to.0.iter_mut().zip(from.0) {
                *to += factor * from;
            }
        };
        for (part, factor) in parts {
            for (attribute, &row) in part.rows.iter().enumerate().filter(|(_, row)| **row != 0) {
                let (to, from) = (mean.row(attribute as u32) as usize, row as usize);
                for quad in (0..shape.quads()).filter(|quad| part.store.is_there(from, *quad)) {
                    add(mean.store.quad_mut(to, quad), part.store.quad(from, quad), *factor);
                }
            }
            for attribute in part.links.attributes() {
                for (before, quad, number) in part.links.of(attribute) {
                    let to = mean.link(attribute, before, quad);
                    add(&mut mean.store.links[to], part.store.links[number], *factor);
                }
            }
            let lists = mean.store.pairs.iter_mut().chain(&mut mean.store.triples);
            for (to, from) in lists.zip(part.store.pairs.iter().chain(&part.store.triples)) {
                add(to, *from, *factor);
            }
        }
        let Store { table, pairs, triples, links, .. } = &mut mean.store;
        for quad in table.iter_mut().chain(pairs).chain(triples).chain(links) {
            quad.0 = quad.0.map(|sum| sum / whole);
        }
        Some(mean)
    }

    /// How many numbers there are, and where.
    pub fn shape(&self) -> Shape {
        self.store.shape
    }

    /// Attributes, with weights or without.
    pub fn n_attributes(&self) -> usize {
        self.rows.len()
    }

    /// Attributes with a row of weights.
    pub fn n_stored(&self) -> usize {
        self.store.n_rows() - 1
    }

    /// The attributes with weights of their own or with two labels: where they are hashed, few of very many.
    pub fn known_attributes(&self) -> impl Iterator<Item = u32> {
        let has_links = |attribute: u32| self.links.of(attribute).next().is_some();
        let all = (0_u32..).zip(&self.rows);
        all.filter(move |(attribute, row)| **row != 0 || has_links(*attribute))
            .map(|(attribute, _)| attribute)
    }

    /// The weights of an attribute, label by label; nothing if all are zero.
    pub fn of_attribute(&self, attribute: u32) -> Option<Vec<f64>> {
        let row = self.rows.get(attribute as usize).filter(|row| **row != 0)?;
        let Shape { n_labels, .. } = self.store.shape;
        let all = (0..self.store.shape.quads()).flat_map(|quad| self.store.quad(*row as usize, quad).0);
        Some(all.take(n_labels).collect())
    }

    /// The weight of `label` after `before`.
    pub fn of_pair(&self, before: u32, label: u32) -> f64 {
        self.store.pair(before, label)
    }

    /// The weight of `label` after `first` and `before`; zero in first order.
    pub fn of_triple(&self, first: u32, before: u32, label: u32) -> f64 {
        if self.store.triples.is_empty() { 0.0 } else { self.store.triple(first, before, label) }
    }

    /// Sets a weight of an attribute.
    pub fn set_attribute(&mut self, attribute: u32, label: u32, weight: f64) {
        let row = self.row(attribute);
        *self.store.of_row(row, label) = weight;
    }

    /// Sets the weight of `label` after `before`.
    pub fn set_pair(&mut self, before: u32, label: u32, weight: f64) {
        *self.store.at(Place::Pair(before, label)) = weight;
    }

    /// Sets the weight of `label` after `first` and `before`, in second order.
    pub fn set_triple(&mut self, first: u32, before: u32, label: u32, weight: f64) {
        *self.store.at(Place::Triple(first, before, label)) = weight;
    }

    /// How many times four weights there are of attributes and two labels.
    pub fn n_link_quads(&self) -> usize {
        self.links.len()
    }

    /// The weight of an attribute for `label` after `before`.
    pub fn of_link(&self, attribute: u32, before: u32, label: u32) -> f64 {
        let (quad, lane) = Store::split(label);
        self.links.find(attribute, before, quad as u32).map_or(0.0, |at| self.store.links[at].0[lane])
    }

    /// The weights of an attribute for two labels that follow each other, those of zero left out: the label before, the
    /// label, and the weight, ascending.
    pub fn links_of(&self, attribute: u32) -> Vec<(u32, u32, f64)> {
        let four = |(before, quad, number): (u32, u32, usize)| {
            let labels = quad * QUAD as u32..self.store.shape.n_labels as u32;
            let lanes = labels.zip(self.store.links[number].0);
            lanes.filter(|(_, weight)| *weight != 0.0).map(move |(label, weight)| (before, label, weight))
        };
        let mut all: Vec<(u32, u32, f64)> = self.links.of(attribute).flat_map(four).collect();
        all.sort_by_key(|(before, label, _)| (*before, *label));
        all
    }

    /// Sets the weight of an attribute for `label` after `before`.
    pub fn set_link(&mut self, attribute: u32, before: u32, label: u32, weight: f64) {
        let (quad, lane) = Store::split(label);
        let number = self.link(attribute, before, quad as u32);
        self.store.links[number].0[lane] = weight;
    }

    /// Sets all weights of an attribute for two labels, as [`Weights::links_of`] lists them.
    pub fn set_links(&mut self, attribute: u32, links: impl IntoIterator<Item = (u32, u32, f64)>) {
        for (before, label, weight) in links {
            let (quad, lane) = Store::split(label);
            let number = self.links.place_next(attribute, before, quad as u32);
            self.store.grow_links(number + 1);
            self.store.links[number].0[lane] = weight;
        }
    }

    /// The number of a quad of links, which gets one if it has none.
    pub(crate) fn link(&mut self, attribute: u32, before: u32, quad: u32) -> usize {
        let number = self.links.place(attribute, before, quad);
        self.store.grow_links(number + 1);
        number
    }

    /// The row of an attribute, which gets one if it has none.
    #[inline(always)]
    pub(crate) fn row(&mut self, attribute: u32) -> u32 {
        let row = self.rows[attribute as usize];
        if row != 0 { row } else { self.new_row(attribute) }
    }

    #[cold]
    fn new_row(&mut self, attribute: u32) -> u32 {
        let row = self.store.n_rows() as u32;
        self.store.grow(row as usize + 1);
        self.rows[attribute as usize] = row;
        row
    }

    /// Room for more attributes.
    pub(crate) fn widen(&mut self, n_attributes: usize) {
        if n_attributes > self.rows.len() {
            self.rows.resize(n_attributes, 0);
        }
    }

    /// Whether all are numbers.
    pub fn is_finite(&self) -> bool {
        let all = self.store.lists().into_iter().flatten();
        all.fold(true, |finite, quad| finite & quad.0.iter().all(|value| value.is_finite()))
    }
}
