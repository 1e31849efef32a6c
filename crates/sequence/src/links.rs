//! Where the weights of an attribute for two labels that follow each other stand: links.
//!
//! There may be as many as attributes times labels times labels, and hardly any of them ever move. So an attribute has a list
//! of the quads that have, or that a rule has measured to see whether they should: the label before, and which four labels.
//! A list grows at its head, and points only to what was there before. What stands in the quads is the store's, as it is of
//! rows; a tagger without links has no lists at all.

use crate::weights::Quad;

/// A quad of links.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    before: u32,
    quad: u32,
    /// One more than the number of the next entry of the same attribute; 0 at the end.
    next: u32,
}

/// Which links there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Links {
    /// By attribute, one more than the number of its first entry; 0 without any.
    heads: Vec<u32>,
    entries: Vec<Entry>,
}

impl Links {
    /// How many quads there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline(always)]
    fn head(&self, attribute: u32) -> u32 {
        self.heads.get(attribute as usize).copied().unwrap_or(0)
    }

    /// Whether any of these attributes has links.
    #[inline(always)]
    pub(crate) fn speak(&self, attributes: &[u32]) -> bool {
        attributes.iter().any(|attribute| self.head(*attribute) != 0)
    }

    /// The quads of an attribute: the label before, which four labels, and the number of the entry. The last one to come
    /// is the first.
    #[inline(always)]
    pub(crate) fn of(&self, attribute: u32) -> impl Iterator<Item = (u32, u32, usize)> {
        let mut at = self.head(attribute);
        std::iter::from_fn(move || {
            let number = (at as usize).checked_sub(1)?;
            let Entry { before, quad, next } = self.entries[number];
            at = next;
            Some((before, quad, number))
        })
    }

    pub(crate) fn find(&self, attribute: u32, before: u32, quad: u32) -> Option<usize> {
        let found = self.of(attribute).find(|(from, four, _)| (*from, *four) == (before, quad));
        found.map(|(_, _, number)| number)
    }

    /// The number of a quad, which gets one if it has none.
    pub(crate) fn place(&mut self, attribute: u32, before: u32, quad: u32) -> usize {
        self.find(attribute, before, quad).unwrap_or_else(|| self.add(attribute, before, quad))
    }

    /// The same where quads come one after the other: only the last one may be meant again.
    pub(crate) fn place_next(&mut self, attribute: u32, before: u32, quad: u32) -> usize {
        let last = self.of(attribute).next();
        match last {
            Some((from, four, number)) if (from, four) == (before, quad) => number,
            _ => self.add(attribute, before, quad),
        }
    }

    fn add(&mut self, attribute: u32, before: u32, quad: u32) -> usize {
        let place = attribute as usize;
        if place >= self.heads.len() {
            self.heads.resize(place + 1, 0);
        }
        self.entries.push(Entry { before, quad, next: self.heads[place] });
        self.heads[place] = self.entries.len() as u32;
        self.entries.len() - 1
    }

    /// Attributes that may have links.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.heads.len() as u32
    }

    /// Adds to what labels say of each other what these attributes say of them, one attribute after the other.
    pub(crate) fn add_to(&self, values: &[Quad], attributes: &[u32], n_quads: usize, steps: &mut [Quad]) {
        for attribute in attributes {
            for (before, quad, number) in self.of(*attribute) {
                let step = &mut steps[before as usize * n_quads + quad as usize].0;
                for (step, value) in step.iter_mut().zip(values[number].0) {
                    *step += value;
                }
            }
        }
    }

    /// Everything as numbers: the heads, and three for each entry.
    pub(crate) fn numbers(&self) -> (&[u32], Vec<u32>) {
        let entries = self.entries.iter().flat_map(|entry| [entry.before, entry.quad, entry.next]);
        (&self.heads, entries.collect())
    }

    /// What was saved, of this many labels and quads of them. Nothing if a list leads nowhere, or two lead to the same.
    pub(crate) fn of_numbers(
        heads: Vec<u32>,
        entries: &[u32],
        (n_labels, n_quads): (usize, usize),
    ) -> Option<Self> {
        let (entries, rest) = entries.as_chunks::<3>();
        let entry = |&[before, quad, next]: &[u32; 3]| Entry { before, quad, next };
        let entries: Vec<Entry> = entries.iter().map(entry).collect();
        let mut is_met = vec![false; entries.len()];
        let nexts = entries.iter().enumerate().map(|(number, entry)| (number, entry.next));
        // A list points only to what was there before.
        for (most, next) in heads.iter().map(|head| (entries.len(), *head)).chain(nexts) {
            if let Some(number) = (next as usize).checked_sub(1)
                && (number >= most || std::mem::replace(&mut is_met[number], true))
            {
                return None;
            }
        }
        let is_there = |entry: &Entry| (entry.before as usize) < n_labels && (entry.quad as usize) < n_quads;
        let fits = rest.is_empty() && entries.iter().all(is_there) && is_met.iter().all(|met| *met);
        fits.then_some(Self { heads, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_from_numbers_and_those_that_lead_astray_do_not() {
        let mut links = Links::default();
        for (attribute, before, quad) in [(3, 0, 1), (0, 2, 0), (3, 2, 1), (3, 0, 1)] {
            let number = links.place(attribute, before, quad);
            assert_eq!(links.find(attribute, before, quad), Some(number));
        }
        assert_eq!(links.len(), 3, "what is there gets no second place");
        assert_eq!(links.of(3).collect::<Vec<_>>(), [(2, 1, 2), (0, 1, 0)]);
        let (heads, entries) = links.numbers();
        let again = |heads: &[u32], entries: &[u32]| Links::of_numbers(heads.to_vec(), entries, (3, 2));
        assert_eq!(again(heads, &entries).as_ref(), Some(&links));
        for (place, wrong) in [(0, 3), (1, 2), (2, 1), (2, 9), (8, 2), (8, 0)] {
            let mut entries = entries.clone();
            entries[place] = wrong;
            assert_eq!(again(heads, &entries), None, "{wrong} at {place}");
        }
        for (place, wrong) in [(0, 3), (0, 9), (1, 1), (0, 0)] {
            let mut heads = heads.to_vec();
            heads[place] = wrong;
            assert_eq!(again(&heads, &entries), None, "head {wrong} at {place}");
        }
        assert_eq!(again(heads, &entries[..8]), None);
    }
}
