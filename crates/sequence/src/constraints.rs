//! Which labels may follow which: the grammars of spans, and tables of one's own.

use crate::search::lane;
use crate::weights::{QUAD, Quad, Store};

const NEVER: f64 = f64::NEG_INFINITY;

/// How spans are written as labels of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `B-x` begins a span, `I-x` goes on with it, `O` is outside (IOB2).
    Bio,
    /// `I-x` is in a span; `B-x` only where one follows another of the same type.
    Iob1,
    /// `B-x`, `I-x`, `E-x` (end) and `S-x` (single).
    Bioes,
    /// The same with `L-x` (last) and `U-x` (unit).
    Bilou,
}

impl Scheme {
    /// All of them, the plainest first, each with its name.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Bio, "bio"), (Self::Bioes, "bioes"), (Self::Bilou, "bilou"), (Self::Iob1, "iob1")];

    /// The name it goes by.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(scheme, _)| *scheme == self).map_or("", |(_, name)| name)
    }

    /// The one called `name`; `iob2`, `bilou` and the like included.
    pub fn find(name: &str) -> Option<Self> {
        match name {
            "iob2" => Some(Self::Bio),
            "iobes" => Some(Self::Bioes),
            _ => Self::ALL.iter().find(|(_, known)| *known == name).map(|(scheme, _)| *scheme),
        }
    }

    /// Whether a label is one of this scheme's.
    pub fn knows(self, label: &str) -> bool {
        let letters = match self {
            Self::Bio | Self::Iob1 => "BI",
            Self::Bioes => "BIES",
            Self::Bilou => "BILU",
        };
        label == "O"
            || label.split_once('-').is_some_and(|(kind, _)| kind.len() == 1 && letters.contains(kind))
    }

    /// Whether `label` may come after `before`; nothing stands for the edges of a sentence.
    pub fn allows(self, before: Option<&str>, label: Option<&str>) -> bool {
        let part = |label: Option<&str>| {
            let (kind, of) = label.and_then(|label| label.split_once('-')).unwrap_or(("O", ""));
            (kind.bytes().next().unwrap_or(b'O'), of.to_owned())
        };
        let ((was, of), (is, by)) = (part(before), part(label));
        let open = match self {
            Self::Bio | Self::Iob1 => matches!(was, b'B' | b'I'),
            Self::Bioes | Self::Bilou => matches!(was, b'B' | b'I'),
        };
        let goes_on = matches!(is, b'I' | b'E' | b'L') && open && of == by;
        match self {
            Self::Bio => is != b'I' || goes_on,
            Self::Iob1 => is != b'B' || open && of == by,
            Self::Bioes | Self::Bilou if open => goes_on,
            Self::Bioes | Self::Bilou => !matches!(is, b'I' | b'E' | b'L'),
        }
    }
}

/// Which labels may follow which.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Constraints {
    /// Zero or never, by label; empty if all may begin.
    starts: Vec<f64>,
    ends: Vec<f64>,
    /// By the label before, then by the label; empty if all may follow all.
    pairs: Vec<bool>,
}

impl Constraints {
    /// What a scheme allows of these labels; everything if there is none.
    pub fn of_scheme(scheme: impl Into<Option<Scheme>>, labels: &[String]) -> Self {
        let Some(scheme) = scheme.into() else { return Self::default() };
        let barrier = |allowed: bool| if allowed { 0.0 } else { NEVER };
        Self {
            starts: labels.iter().map(|label| barrier(scheme.allows(None, Some(label)))).collect(),
            ends: labels.iter().map(|label| barrier(scheme.allows(Some(label), None))).collect(),
            pairs: labels
                .iter()
                .flat_map(|before| labels.iter().map(move |label| scheme.allows(Some(before), Some(label))))
                .collect(),
        }
    }

    /// Whether nothing is forbidden.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    #[inline(always)]
    pub(crate) fn start(&self, label: u32) -> f64 {
        self.starts.get(label as usize).copied().unwrap_or(0.0)
    }

    #[inline(always)]
    pub(crate) fn end(&self, label: u32) -> f64 {
        self.ends.get(label as usize).copied().unwrap_or(0.0)
    }

    /// Zero if `label` may come after `before`, and never otherwise.
    #[inline(always)]
    pub(crate) fn pair(&self, before: u32, label: u32) -> f64 {
        let place = before as usize * self.starts.len() + label as usize;
        if self.pairs.get(place).copied().unwrap_or(true) { 0.0 } else { NEVER }
    }

    /// Whether these labels are allowed, one after the other.
    pub fn allow(&self, labels: &[u32]) -> bool {
        let edge =
            |label: Option<&u32>, side: fn(&Self, u32) -> f64| label.is_none_or(|&l| side(self, l) == 0.0);
        edge(labels.first(), Self::start)
            && edge(labels.last(), Self::end)
            && labels.windows(2).all(|pair| self.pair(pair[0], pair[1]) == 0.0)
    }

    /// Takes in that a pair has another weight now.
    #[inline(always)]
    pub(crate) fn mend(&self, steps: &mut [Quad], store: &Store, before: u32, label: u32) {
        let quads = store.shape.quads();
        let weight = store.pair(before, label) + self.pair(before, label);
        *lane(&mut steps[before as usize * quads..][..quads], label) = weight;
    }

    /// The weights of pairs, or never.
    pub(crate) fn steps(&self, store: &Store) -> Vec<Quad> {
        let n_labels = store.shape.n_labels as u32;
        let mut steps = store.pairs.clone();
        if self.is_empty() {
            return steps;
        }
        let quads = store.shape.quads();
        for (before, row) in (0..n_labels).zip(steps.chunks_exact_mut(quads.max(1))) {
            for label in 0..n_labels {
                row[label as usize / QUAD].0[label as usize % QUAD] += self.pair(before, label);
            }
        }
        steps
    }
}
