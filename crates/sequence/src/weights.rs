//! What a tagger weighs: (attribute, label) and (label, label), and (label, label, label) in second order.
//!
//! The weights of an attribute stand side by side, label by label, four to a [`Quad`]. An attribute gets its row when it
//! first moves: most of what a text shows only once never does, and takes a number of four bytes until then.

/// Four numbers that are read together.
#[repr(align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Quad(pub(crate) [f64; 4]);

/// How many numbers a [`Quad`] holds.
pub(crate) const QUAD: usize = 4;

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

    fn n_triples(self) -> usize {
        if self.order == Order::Second { self.n_labels * self.n_labels * self.quads() } else { 0 }
    }
}

/// A number for every weight: the weights themselves, or what is kept beside them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Store {
    pub(crate) shape: Shape,
    /// Row after row; the first belongs to all attributes that have none of their own.
    pub(crate) table: Vec<Quad>,
    /// By the label before, then by the label.
    pub(crate) pairs: Vec<Quad>,
    /// By the label before last, the label before, then the label.
    pub(crate) triples: Vec<Quad>,
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
}

impl Store {
    pub(crate) fn new(shape: Shape, fill: f64) -> Self {
        let quad = Quad([fill; QUAD]);
        Self {
            shape,
            table: vec![quad; shape.quads()],
            pairs: vec![quad; shape.n_labels * shape.quads()],
            triples: vec![quad; shape.n_triples()],
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.table.len() / self.shape.quads().max(1)
    }

    /// Room for `n_rows` rows.
    pub(crate) fn grow(&mut self, n_rows: usize, fill: f64) {
        let n = n_rows * self.shape.quads();
        if n > self.table.len() {
            self.table.resize(n, Quad([fill; QUAD]));
        }
    }

    #[inline(always)]
    fn split(label: u32) -> (usize, usize) {
        (label as usize / QUAD, label as usize % QUAD)
    }

    /// The weight of an attribute's row for a label.
    #[inline(always)]
    pub(crate) fn of_row(&mut self, row: u32, label: u32) -> &mut f64 {
        let (quad, lane) = Self::split(label);
        &mut self.table[row as usize * self.shape.quads() + quad].0[lane]
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

    /// All numbers, list by list.
    pub(crate) fn lists(&self) -> [&[Quad]; 3] {
        [&self.table, &self.pairs, &self.triples]
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
    pub(crate) store: Store,
}

impl Weights {
    /// Weights of zero for `n_attributes` attributes.
    pub fn zero(shape: Shape, n_attributes: usize) -> Self {
        Self { rows: vec![0; n_attributes], store: Store::new(shape, 0.0) }
    }

    /// How many numbers there are, and where.
    pub fn shape(&self) -> Shape {
        self.store.shape
    }

    /// Attributes, with weights or without.
    pub fn n_attributes(&self) -> usize {
        self.rows.len()
    }

    /// The weights of an attribute, label by label; nothing if all are zero.
    pub fn of_attribute(&self, attribute: u32) -> Option<Vec<f64>> {
        let row = self.rows.get(attribute as usize).filter(|row| **row != 0)?;
        let quads = self.store.shape.quads();
        let mut found = flat(&self.store.table[*row as usize * quads..][..quads]);
        found.truncate(self.store.shape.n_labels);
        Some(found)
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

    /// The row of an attribute, which gets one if it has none.
    #[inline(always)]
    pub(crate) fn row(&mut self, attribute: u32) -> u32 {
        let row = self.rows[attribute as usize];
        if row != 0 { row } else { self.new_row(attribute) }
    }

    #[cold]
    fn new_row(&mut self, attribute: u32) -> u32 {
        let row = self.store.n_rows() as u32;
        self.store.grow(row as usize + 1, 0.0);
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
