//! Sentences as a tagger sees them: attributes by number, and labels by number.

/// Sentences in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Corpus {
    /// Where the tokens of each sentence end.
    sentences: Vec<usize>,
    /// Where the attributes of each token end.
    tokens: Vec<usize>,
    attributes: Vec<u32>,
    /// How much each attribute counts; empty as long as all count 1.
    values: Vec<f64>,
    labels: Vec<u32>,
    /// Attributes that speak of the label before, too; empty as long as there are none.
    links: Vec<u32>,
    /// Where those of each token end.
    link_ends: Vec<usize>,
}

/// One sentence.
#[derive(Debug, Clone, Copy)]
pub struct Sentence<'a> {
    /// Where the attributes of all tokens begin, and end.
    first: usize,
    ends: &'a [usize],
    attributes: &'a [u32],
    values: &'a [f64],
    first_link: usize,
    link_ends: &'a [usize],
    links: &'a [u32],
    /// The true label of each token; empty if unknown.
    pub labels: &'a [u32],
}

impl Corpus {
    /// Takes in an attribute of the token that is being written.
    #[inline]
    pub fn push_attribute(&mut self, attribute: u32, value: f64) {
        if value != 1.0 && self.values.is_empty() {
            self.values = vec![1.0; self.attributes.len()];
        }
        if value != 1.0 || !self.values.is_empty() {
            self.values.push(value);
        }
        self.attributes.push(attribute);
    }

    /// Takes in those attributes of the token that is being written that are not `nowhere`. Each counts 1.
    #[inline]
    pub(crate) fn push_attributes(&mut self, found: &[u32], nowhere: u32) {
        let mut end = self.attributes.len();
        self.attributes.resize(end + found.len(), 0);
        // The processor cannot foresee which are known, so nothing waits for the answer.
        for &attribute in found {
            self.attributes[end] = attribute;
            end += usize::from(attribute != nowhere);
        }
        self.attributes.truncate(end);
        if !self.values.is_empty() {
            self.values.resize(end, 1.0);
        }
    }

    /// Takes in an attribute of the token that is being written and of the label before it.
    #[inline]
    pub fn push_link(&mut self, attribute: u32) {
        if self.links.is_empty() {
            self.link_ends.resize(self.tokens.len(), 0);
        }
        self.links.push(attribute);
    }

    /// Ends the token.
    #[inline]
    pub fn end_token(&mut self) {
        self.tokens.push(self.attributes.len());
        if !self.links.is_empty() {
            self.link_ends.push(self.links.len());
        }
    }

    /// The label of the next token that has none.
    #[inline]
    pub fn push_label(&mut self, label: u32) {
        self.labels.push(label);
    }

    /// Ends the sentence.
    pub fn end_sentence(&mut self) {
        self.sentences.push(self.tokens.len());
    }

    /// Forgets all sentences, and keeps the room.
    pub fn clear(&mut self) {
        let Self { sentences, tokens, attributes, values, labels, links, link_ends } = self;
        sentences.clear();
        tokens.clear();
        attributes.clear();
        values.clear();
        labels.clear();
        links.clear();
        link_ends.clear();
    }

    /// Gives back room that nothing stands in.
    pub fn shrink(&mut self) {
        self.attributes.shrink_to_fit();
        self.values.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    /// How many sentences there are.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// How many tokens there are.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// All labels, token by token.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// All attributes, token by token.
    pub fn attributes(&self) -> &[u32] {
        &self.attributes
    }

    /// All attributes that speak of two labels, token by token.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// The sentence number `idx`.
    #[inline]
    pub fn sentence(&self, idx: usize) -> Sentence<'_> {
        let from = if idx == 0 { 0 } else { self.sentences[idx - 1] };
        let to = self.sentences[idx];
        let first = if from == 0 { 0 } else { self.tokens[from - 1] };
        let labels = self.labels.get(from..to).unwrap_or_default();
        Sentence {
            first,
            ends: &self.tokens[from..to],
            attributes: &self.attributes,
            values: &self.values,
            first_link: if self.links.is_empty() || from == 0 { 0 } else { self.link_ends[from - 1] },
            link_ends: self.link_ends.get(from..to).unwrap_or_default(),
            links: &self.links,
            labels,
        }
    }

    /// All sentences.
    pub fn iter(&self) -> impl Iterator<Item = Sentence<'_>> {
        (0..self.len()).map(|idx| self.sentence(idx))
    }

    /// Gives labels other numbers.
    pub fn relabel(&mut self, number: impl Fn(u32) -> u32) {
        self.labels.iter_mut().for_each(|label| *label = number(*label));
    }

    /// Gives attributes other numbers; those without one are left out.
    pub fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        let (mut from, mut kept) = (0, 0);
        for end in &mut self.tokens {
            for idx in from..*end {
                if let Some(attribute) = number(self.attributes[idx]) {
                    self.attributes[kept] = attribute;
                    if !self.values.is_empty() {
                        self.values[kept] = self.values[idx];
                    }
                    kept += 1;
                }
            }
            from = *end;
            *end = kept;
        }
        self.attributes.truncate(kept);
        self.values.truncate(kept);
        let (mut from, mut kept) = (0, 0);
        for end in &mut self.link_ends {
            for idx in from..*end {
                if let Some(attribute) = number(self.links[idx]) {
                    self.links[kept] = attribute;
                    kept += 1;
                }
            }
            from = *end;
            *end = kept;
        }
        self.links.truncate(kept);
        if kept == 0 {
            self.link_ends.clear();
        }
    }
}

impl<'a> Sentence<'a> {
    /// How many tokens it has.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The attributes of a token, and how much each counts; no numbers if all count 1.
    #[inline(always)]
    pub fn token(&self, idx: usize) -> (&'a [u32], &'a [f64]) {
        let from = if idx == 0 { self.first } else { self.ends[idx - 1] };
        let values = if self.values.is_empty() { self.values } else { &self.values[from..self.ends[idx]] };
        (&self.attributes[from..self.ends[idx]], values)
    }

    /// The attributes of a token that speak of the label before it, too.
    #[inline(always)]
    pub fn links(&self, idx: usize) -> &'a [u32] {
        if self.link_ends.is_empty() {
            return &[];
        }
        let from = if idx == 0 { self.first_link } else { self.link_ends[idx - 1] };
        &self.links[from..self.link_ends[idx]]
    }
}
