//! Names of features, as paths through a tree: `new york city` is a child of `new york`, one step further.
//!
//! A word is hashed and compared as letters once; from then on it is a number, and a run of words is found by two
//! numbers: where the run without its last word lies, and that word. So the many runs of a text cost neither a
//! string nor a comparison of strings. Where text is made of characters, a step is a character. No word holds a
//! blank, so that two paths are one if and only if their names are.
//!
//! Hashes are keyed anew for every tree: no text can be written whose words all meet in one place of a table.
//! Nothing that leaves this file depends on the key, for names come out sorted.

use super::tokens::Units;
use crate::bytes::huge_pages::reserve;
use ahash::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;
use std::ops::Range;

/// What is nowhere.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Where every name begins.
pub(crate) const ROOT: u32 = u32::MAX - 1;

/// Words are numbered one by one, but characters have the numbers they have: one from here on is looked up, so that a
/// single rare one does not cost a table of megabytes.
const FAR: u32 = 1 << 16;

/// Names, and something about each.
#[derive(Debug, Clone)]
pub(crate) struct Names<T> {
    units: Units,
    words: Words,
    /// Per word or character below [`FAR`], where one step from the root leads.
    firsts: Vec<u32>,
    /// Names and beginnings of names; a node's parent comes before it.
    nodes: Vec<Node<T>>,
    /// Nodes that are more than one step from the root, or one that is [`FAR`].
    table: Table,
    hasher: RandomState,
}

#[derive(Debug, Clone, Copy)]
struct Node<T> {
    parent: u32,
    step: u32,
    about: T,
}

/// A step from somewhere to somewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// May be the [`ROOT`].
    pub(crate) from: u32,
    pub(crate) step: u32,
    /// [`NOWHERE`] if no name lies there.
    pub(crate) to: u32,
    hash: u32,
}

impl Way {
    pub(crate) fn new(from: u32, step: u32) -> Self {
        Self { from, step, to: NOWHERE, hash: 0 }
    }

    /// Before the first step.
    pub(crate) fn to_root() -> Self {
        Self { from: ROOT, step: NOWHERE, to: ROOT, hash: 0 }
    }
}

/// A word that was looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundWord {
    head: u128,
    hash: u32,
    /// [`NOWHERE`] if no name has it.
    pub(crate) step: u32,
}

impl<T: Copy + Default> Names<T> {
    pub(crate) fn new(units: Units) -> Self {
        let key = std::hash::RandomState::new();
        let [a, b, c, d] = [0_u8, 1, 2, 3].map(|part| key.hash_one(part));
        Self {
            units,
            words: Words::default(),
            firsts: Vec::new(),
            nodes: Vec::new(),
            table: Table::default(),
            hasher: RandomState::with_seeds(a, b, c, d),
        }
    }

    pub(crate) fn about(&self, node: u32) -> T {
        self.nodes[node as usize].about
    }

    pub(crate) fn about_mut(&mut self, node: u32) -> &mut T {
        &mut self.nodes[node as usize].about
    }

    /// How many names and beginnings of names there are.
    pub(crate) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// About all names and beginnings of names.
    pub(crate) fn about_all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.nodes.iter_mut().map(|node| &mut node.about)
    }

    /// Finds the steps that the words at `spans` of `text` are; [`NOWHERE`] stands for those that no name has.
    ///
    /// The memory of large tables is slow, but many places of it can be waited for at once. So there are rounds, of
    /// which each only touches what the next one needs.
    pub(crate) fn find_words(&self, text: &[u8], spans: &[Range<usize>], found: &mut Vec<FoundWord>) {
        let words = &self.words;
        let mut touched = 0;
        found.clear();
        found.extend(spans.iter().map(|span| {
            let head = head(text, span.clone());
            let hash = self.hash_word(&text[span.clone()], head);
            touched ^= words.table.glance(hash);
            FoundWord { head, hash, step: NOWHERE }
        }));
        for word in &mut *found {
            // Nearly always the right one.
            word.step = words.table.find(word.hash, |_| true).unwrap_or(NOWHERE);
            touched ^= words.heads.get(word.step as usize).map_or(0, |head| *head as u64);
        }
        for (word, span) in found.iter_mut().zip(spans) {
            let letters = &text[span.clone()];
            if word.step != NOWHERE && !words.is(word.step, letters, word.head) {
                let found = words.table.find(word.hash, |number| words.is(number, letters, word.head));
                word.step = found.unwrap_or(NOWHERE);
            }
            touched ^= u64::from(self.firsts.get(word.step as usize).copied().unwrap_or(0));
        }
        black_box(touched);
    }

    /// The step that a word is. A new one gets a number, unless there are too many.
    pub(crate) fn add_word(&mut self, word: &[u8]) -> Option<u32> {
        let head = head(word, 0..word.len());
        let hash = self.hash_word(word, head);
        let words = &mut self.words;
        words.table.make_room();
        let slot = match words.table.find(hash, |number| words.is(number, word, head)) {
            Ok(number) => return Some(number),
            Err(slot) => slot,
        };
        let number = u32::try_from(words.ends.len()).ok().filter(|number| *number != NOWHERE)?;
        words.heads.push(head);
        words.letters.extend_from_slice(word);
        words.ends.push(words.letters.len());
        words.table.put(slot, hash, number);
        Some(number)
    }

    fn hash_word(&self, word: &[u8], head: u128) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u128(head);
        if word.len() > HEAD_BYTES {
            hasher.write(&word[HEAD_BYTES..]);
        }
        (hasher.finish() >> 32) as u32
    }

    /// Finds where all of these ways lead, which all begin at the root or all elsewhere; in rounds, as
    /// [`Self::find_words`] does.
    pub(crate) fn go_all(&self, ways: &mut [Way]) {
        let from_root = ways.first().is_some_and(|way| way.from == ROOT);
        let mut touched = 0;
        if !from_root {
            for way in &mut *ways {
                way.hash = self.hash(way.from, way.step);
                touched ^= self.table.glance(way.hash);
            }
        }
        for way in &mut *ways {
            way.to = if from_root {
                self.first(way.step)
            } else {
                // Nearly always the right one.
                self.table.find(way.hash, |_| true).unwrap_or(NOWHERE)
            };
            touched ^= self.nodes.get(way.to as usize).map_or(0, |node| u64::from(node.step));
        }
        black_box(touched);
        for way in ways {
            if way.to != NOWHERE && !self.leads(way.from, way.step, way.to) {
                way.to = self.go(way.from, way.step);
            }
        }
    }

    /// Where `step` leads from the root; [`NOWHERE`] if no name begins so.
    fn first(&self, step: u32) -> u32 {
        match self.firsts.get(step as usize) {
            Some(&node) => node,
            None if self.is_far(step) => self.go(ROOT, step),
            None => NOWHERE,
        }
    }

    fn is_far(&self, step: u32) -> bool {
        step >= FAR && self.units == Units::Characters
    }

    /// Where `step` leads from `node`; [`NOWHERE`] if no name lies there. The root has only far steps here.
    pub(crate) fn go(&self, node: u32, step: u32) -> u32 {
        self.table.find(self.hash(node, step), |place| self.leads(node, step, place)).unwrap_or(NOWHERE)
    }

    /// The same, but the way is made if there is none, unless there are too many.
    pub(crate) fn make_way(&mut self, node: u32, step: u32) -> Option<u32> {
        let new = u32::try_from(self.nodes.len()).ok().filter(|new| *new < ROOT);
        if node == ROOT && !self.is_far(step) {
            let place = step as usize;
            if place >= self.firsts.len() {
                self.firsts.resize(place + 1, NOWHERE);
            }
            if self.firsts[place] != NOWHERE {
                return Some(self.firsts[place]);
            }
            self.firsts[place] = new?;
        } else {
            self.table.make_room();
            let hash = self.hash(node, step);
            match self.table.find(hash, |place| self.leads(node, step, place)) {
                Ok(place) => return Some(place),
                Err(slot) => self.table.put(slot, hash, new?),
            }
        }
        if self.nodes.len() == self.nodes.capacity() {
            let n_more = self.nodes.len().max(16);
            reserve(&mut self.nodes, n_more);
        }
        self.nodes.push(Node { parent: node, step, about: T::default() });
        new
    }

    /// Where `name` lies; the way there is made if there is none, unless there are too many.
    pub(crate) fn add(&mut self, name: &str) -> Option<u32> {
        match self.units {
            Units::Words => name.split(' ').try_fold(ROOT, |node, word| {
                let step = self.add_word(word.as_bytes())?;
                self.make_way(node, step)
            }),
            Units::Characters => name.chars().try_fold(ROOT, |node, c| self.make_way(node, c as u32)),
        }
    }

    fn hash(&self, node: u32, step: u32) -> u32 {
        (self.hasher.hash_one(u64::from(node) << 32 | u64::from(step)) >> 32) as u32
    }

    fn leads(&self, node: u32, step: u32, place: u32) -> bool {
        let found = &self.nodes[place as usize];
        (found.parent, found.step) == (node, step)
    }

    /// The names about which `keep` holds, in the order of their bytes, and where they lie.
    pub(crate) fn sorted(&self, keep: impl Fn(T) -> bool) -> Vec<(String, u32)> {
        // What is kept, and what leads there: nodes come after their parents.
        let mut leads = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().rev() {
            leads[place] |= keep(node.about);
            if leads[place] && node.parent != ROOT {
                leads[node.parent as usize] = true;
            }
        }
        let nodes = || self.nodes.iter().enumerate().filter(|(place, _)| leads[*place]);
        let ranks = match self.units {
            Units::Words => self.words.ranks(nodes().map(|(_, node)| node.step)),
            // The bytes of characters are in the order of their numbers.
            Units::Characters => Vec::new(),
        };
        let rank = |step: u32| ranks.get(step as usize).copied().unwrap_or(step);
        // The blank between words comes before all that words hold, so that the order of names is that of paths:
        // first the parent of a name, then its last step. The root comes before all places.
        let parent = |node: &Node<T>| if node.parent == ROOT { 0 } else { u64::from(node.parent) + 1 };
        let by_path = |node: &Node<T>| parent(node) << 32 | u64::from(rank(node.step));
        let mut ways: Vec<(u64, u32)> = nodes().map(|(place, node)| (by_path(node), place as u32)).collect();
        ways.sort_unstable();
        // Per node, where the ways that lead on from it begin.
        let mut starts = vec![NOWHERE; self.nodes.len()];
        for (at, (path, _)) in ways.iter().enumerate().rev() {
            if let Some(parent) = (path >> 32).checked_sub(1) {
                starts[parent as usize] = at as u32;
            }
        }
        let mut names = Vec::new();
        let mut name = String::new();
        // Per step of the path at hand: the way that comes next there, and how long the name is without it.
        let mut open = vec![(0, 0)];
        while let Some((at, length)) = open.pop() {
            let Some(&(path, place)) = ways.get(at) else { continue };
            if ways.get(at + 1).is_some_and(|(next, _)| next >> 32 == path >> 32) {
                open.push((at + 1, length));
            }
            let Node { step, about, .. } = self.nodes[place as usize];
            name.truncate(length);
            self.push_step(step, &mut name);
            if keep(about) {
                names.push((name.clone(), place));
            }
            let start = starts[place as usize];
            if start != NOWHERE {
                open.push((start as usize, name.len()));
            }
        }
        names
    }

    fn push_step(&self, step: u32, name: &mut String) {
        match self.units {
            Units::Characters => name.extend(char::from_u32(step)),
            Units::Words => {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(&String::from_utf8_lossy(self.words.letters(step)));
            }
        }
    }
}

/// How many bytes of a word are in its head.
const HEAD_BYTES: usize = 15;

/// The first bytes of a word and its length, which tell most words apart at once.
fn head(text: &[u8], at: Range<usize>) -> u128 {
    let (word, length) = (&text[at.clone()], at.len().min(255));
    let n_bytes = length.min(HEAD_BYTES);
    let bytes = if let Some(bytes) = text[at.start..].first_chunk::<16>() {
        u128::from_le_bytes(*bytes) & ((1 << (8 * n_bytes)) - 1)
    } else {
        word[..n_bytes].iter().rev().fold(0, |bytes, &byte| bytes << 8 | u128::from(byte))
    };
    bytes | (length as u128) << (8 * HEAD_BYTES)
}

/// Words by number and numbers by word.
#[derive(Debug, Clone, Default)]
struct Words {
    heads: Vec<u128>,
    letters: Vec<u8>,
    ends: Vec<usize>,
    table: Table,
}

impl Words {
    #[inline]
    fn is(&self, number: u32, word: &[u8], head: u128) -> bool {
        self.heads[number as usize] == head && (word.len() <= HEAD_BYTES || self.letters(number) == word)
    }

    fn letters(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[number]]
    }

    /// Per word, how many of `some` words come before it in the order of their bytes. Means nothing for others.
    fn ranks(&self, some: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut ranks = vec![NOWHERE; self.ends.len()];
        let mut sorted = Vec::new();
        for number in some {
            // Each once.
            if ranks[number as usize] == NOWHERE {
                ranks[number as usize] = 0;
                sorted.push(number);
            }
        }
        sorted.sort_unstable_by_key(|number| self.letters(*number));
        for (number, rank) in sorted.into_iter().zip(0..) {
            ranks[number as usize] = rank;
        }
        ranks
    }
}

/// Numbers by hash, in slots that are tried one after the other. A slot is a hash and a number, so that a table
/// grows without asking for hashes again.
#[derive(Debug, Clone, Default)]
struct Table {
    slots: Vec<u64>,
    n_taken: usize,
}

const FREE: u64 = u64::MAX;

impl Table {
    /// The number with this hash that is meant, or the slot where it should be put.
    fn find(&self, hash: u32, is_meant: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mut slot = self.home(hash);
        while let Some(&taken) = self.slots.get(slot) {
            if taken == FREE {
                return Err(slot);
            }
            if (taken >> 32) as u32 == hash && is_meant(taken as u32) {
                return Ok(taken as u32);
            }
            slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
        }
        Err(slot)
    }

    /// What is in the first slot for this hash.
    fn glance(&self, hash: u32) -> u64 {
        self.slots.get(self.home(hash)).copied().unwrap_or(FREE)
    }

    /// Greater hashes never come before smaller ones, so that a table that grows is read and written in order.
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    fn put(&mut self, slot: usize, hash: u32, number: u32) {
        self.slots[slot] = u64::from(hash) << 32 | u64::from(number);
        self.n_taken += 1;
    }

    /// Makes sure that one more fits in. At most five eighths of the slots are taken.
    fn make_room(&mut self) {
        if self.n_taken * 8 < self.slots.len() * 5 {
            return;
        }
        let n_slots = (self.slots.len() * 2).max(16);
        let mut slots = Vec::new();
        reserve(&mut slots, n_slots);
        slots.resize(n_slots, FREE);
        let old = std::mem::replace(&mut self.slots, slots);
        self.n_taken = 0;
        for taken in old.into_iter().filter(|taken| *taken != FREE) {
            let hash = (taken >> 32) as u32;
            if let Err(slot) = self.find(hash, |_| false) {
                self.put(slot, hash, taken as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_in_the_order_of_bytes() {
        let mut expected: Vec<String> = (0..40_000_u32)
            .map(|i| match i % 4 {
                0 => format!("w{i}"),
                1 => format!("w{} w{i}", i / 4),
                2 => format!("w{} w{} w{i}", i % 9, i % 70),
                _ => format!("{}é{i}", "long".repeat(i as usize % 6)),
            })
            .collect();
        let mut names = Names::new(Units::Words);
        for (name, place) in expected.iter().zip(1_u32..) {
            let node = names.add(name).unwrap();
            *names.about_mut(node) = place;
        }
        let sorted = names.sorted(|place| place > 0);
        assert!(sorted.iter().all(|(name, node)| *name == expected[names.about(*node) as usize - 1]));
        expected.sort_unstable();
        assert!(sorted.iter().map(|(name, _)| name).eq(&expected));
        let few = names.sorted(|place| place == 3);
        assert_eq!(few, [("w2 w2 w2".to_owned(), names.add("w2 w2 w2").unwrap())]);
    }
}
