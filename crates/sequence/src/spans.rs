//! What is right and what is not: tokens, sentences, and spans as `conlleval` counts them.

/// How often something was there, was found, and was found rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// In the truth.
    pub gold: u64,
    /// Found.
    pub found: u64,
    /// Both, with the same borders and type.
    pub right: u64,
}

impl Count {
    /// Which share of what was found is right; 0 if nothing was found, as `conlleval` has it.
    pub fn precision(self) -> f64 {
        share(self.right, self.found)
    }

    /// Which share of what is there was found.
    pub fn recall(self) -> f64 {
        share(self.right, self.gold)
    }

    /// Their harmonic mean.
    pub fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    }

    fn add(&mut self, other: Self) {
        self.gold += other.gold;
        self.found += other.found;
        self.right += other.right;
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// Kind and type of a label, as `conlleval` takes it apart: `B-NP` is `B` and `NP`, `O` is `O` without a type.
fn parts(label: &str) -> (&str, &str) {
    label.split_once('-').unwrap_or((label, ""))
}

/// Whether a span ends between these labels.
fn ends(was: (&str, &str), is: (&str, &str)) -> bool {
    match (was.0, is.0) {
        ("B" | "I", "B" | "O") => true,
        ("]" | "[" | "E" | "L" | "U" | "S", _) => true,
        (kind, next) => {
            matches!((kind, next), ("B" | "I", "S" | "U")) || kind != "O" && kind != "." && was.1 != is.1
        }
    }
}

/// Whether a span begins between these labels.
fn begins(was: (&str, &str), is: (&str, &str)) -> bool {
    match (was.0, is.0) {
        (_, "B" | "[" | "]" | "S" | "U") => true,
        ("E" | "O" | "L" | "S" | "U", "E" | "I" | "L") => true,
        (_, kind) => kind != "O" && kind != "." && was.1 != is.1,
    }
}

/// The spans of a sentence: first token, one beyond the last, type. Broken sequences have spans too, the same as
/// `conlleval` finds.
pub fn spans<'a>(labels: &[&'a str]) -> Vec<(usize, usize, &'a str)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut was = ("O", "");
    for (token, label) in labels.iter().copied().chain(["O"]).enumerate() {
        let is = parts(label);
        if let Some((from, of)) = open
            && ends(was, is)
        {
            found.push((from, token, of));
            open = None;
        }
        if token < labels.len() && begins(was, is) {
            open = Some((token, is.1));
        }
        was = is;
    }
    found
}

/// How well found labels agree with the truth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agreement {
    /// Sentences, and those without a mistake.
    pub sentences: u64,
    /// Sentences without a mistake.
    pub sentences_right: u64,
    /// Tokens.
    pub tokens: u64,
    /// Tokens with the right label.
    pub tokens_right: u64,
    /// Tokens whose word the training data does not have, if that is known.
    pub unknown: u64,
    /// Those of them with the right label.
    pub unknown_right: u64,
    /// Per type of span, by name.
    pub spans: std::collections::BTreeMap<String, Count>,
    /// Per label, by name.
    pub labels: std::collections::BTreeMap<String, Count>,
    /// How often a label was taken for another one: the true one, the found one.
    pub confused: std::collections::BTreeMap<(String, String), u64>,
    /// Found labels that may not stand where they stand.
    pub invalid: u64,
}

impl Agreement {
    /// Takes in a sentence. `is_new` says of each token whether its word is a new one.
    pub fn add(&mut self, gold: &[&str], found: &[&str], is_new: impl Fn(usize) -> bool) {
        self.sentences += 1;
        self.sentences_right += u64::from(gold == found);
        for (token, (gold, found)) in gold.iter().zip(found).enumerate() {
            let right = u64::from(gold == found);
            self.tokens += 1;
            self.tokens_right += right;
            if right == 0 {
                *self.confused.entry(((*gold).to_owned(), (*found).to_owned())).or_default() += 1;
            }
            if is_new(token) {
                self.unknown += 1;
                self.unknown_right += right;
            }
            count(&mut self.labels, gold).add(Count { gold: 1, found: 0, right });
            count(&mut self.labels, found).add(Count { gold: 0, found: 1, right: 0 });
        }
        let (true_spans, found_spans) = (spans(gold), spans(found));
        for (_, _, of) in &true_spans {
            count(&mut self.spans, of).gold += 1;
        }
        for span in &found_spans {
            let right = u64::from(true_spans.binary_search(span).is_ok());
            count(&mut self.spans, span.2).add(Count { gold: 0, found: 1, right });
        }
    }

    /// Adds what was counted elsewhere.
    pub fn join(&mut self, other: &Self) {
        self.sentences += other.sentences;
        self.sentences_right += other.sentences_right;
        self.tokens += other.tokens;
        self.tokens_right += other.tokens_right;
        self.unknown += other.unknown;
        self.unknown_right += other.unknown_right;
        self.invalid += other.invalid;
        for (counts, others) in [(&mut self.spans, &other.spans), (&mut self.labels, &other.labels)] {
            for (name, count_of) in others {
                count(counts, name).add(*count_of);
            }
        }
        for (pair, times) in &other.confused {
            *self.confused.entry(pair.clone()).or_default() += times;
        }
    }

    /// The share of right tokens.
    pub fn accuracy(&self) -> f64 {
        share(self.tokens_right, self.tokens)
    }

    /// The share of sentences without a mistake.
    pub fn sentence_accuracy(&self) -> f64 {
        share(self.sentences_right, self.sentences)
    }

    /// The share of right tokens among new words.
    pub fn unknown_accuracy(&self) -> f64 {
        share(self.unknown_right, self.unknown)
    }

    /// Whether labels tell of spans.
    pub fn has_spans(&self) -> bool {
        tell_spans(self.labels.keys())
    }

    /// All spans together.
    pub fn all_spans(&self) -> Count {
        let mut all = Count::default();
        self.spans.values().for_each(|count| all.add(*count));
        all
    }
}

/// Whether labels tell of spans.
pub fn tell_spans<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> bool {
    let begins = |label: S| label.as_ref().starts_with("B-") || label.as_ref().starts_with("I-");
    labels.into_iter().any(begins)
}

/// The count of a name, without a new text for one that is known.
fn count<'a>(counts: &'a mut std::collections::BTreeMap<String, Count>, name: &str) -> &'a mut Count {
    if !counts.contains_key(name) {
        counts.insert(name.to_owned(), Count::default());
    }
    counts.entry(name.to_owned()).or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_sequences_have_the_spans_that_conlleval_finds() {
        fn find(labels: &str) -> Vec<(usize, usize, &str)> {
            spans(&labels.split(' ').collect::<Vec<_>>())
        }
        assert_eq!(find("B-a I-a O B-b"), [(0, 2, "a"), (3, 4, "b")]);
        assert_eq!(find("I-a I-a I-b O I-b"), [(0, 2, "a"), (2, 3, "b"), (4, 5, "b")]);
        assert_eq!(find("B-a B-a"), [(0, 1, "a"), (1, 2, "a")]);
        assert_eq!(find("B-a I-b"), [(0, 1, "a"), (1, 2, "b")]);
        assert_eq!(find("S-a B-a E-a O"), [(0, 1, "a"), (1, 3, "a")]);
    }

    #[test]
    fn counts_are_those_of_the_definition() {
        let mut agreement = Agreement::default();
        agreement.add(&["B-a", "I-a", "O"], &["B-a", "O", "O"], |token| token == 1);
        agreement.add(&["B-b"], &["B-b"], |_| false);
        assert_eq!(agreement.all_spans(), Count { gold: 2, found: 2, right: 1 });
        assert_eq!((agreement.tokens_right, agreement.tokens), (3, 4));
        assert_eq!((agreement.unknown, agreement.unknown_right), (1, 0));
        assert_eq!(agreement.spans["a"].f1(), 0.0);
        assert_eq!(agreement.sentence_accuracy(), 0.5);
    }
}
