//! What must hold of every search and every tagger that learns, on random problems small enough to try all sequences.

use rosenblatt_core::rules::{Arow, PaOne, Perceptron};
use rosenblatt_core::space::{Outcome, Space};
use rosenblatt_core::{
    Algorithm, Average, Bias, Convention, Direct, EachRound, Kept, Order as Visiting, Params, Plan, Random,
    Readout, Remember, Round, Rule, Run, Setup, Share, Snapshot, SparseExamples, Stopped, Visits,
};
use rosenblatt_sequence::{
    Constraints, Corpus, Design, Lattice, Lead, Numbers, Order, Past, Recalled, Scheme, Search, Sentence,
    Shape, Tagged, TaggerSpace, Tagging, Violation, Votes, Weights,
};
use std::any::TypeId;
use std::ops::ControlFlow;
use std::sync::Arc;

const N_PROBLEMS: u64 = 1000;

struct Problem {
    shape: Shape,
    constraints: Constraints,
    weights: Weights,
    corpus: Corpus,
}

fn labels(n: usize) -> Vec<String> {
    ["O", "B-x", "I-x", "B-y", "I-y"].iter().take(n).map(ToString::to_string).collect()
}

/// Sentences of a few tokens with random attributes, numbers or ones, and weights that often tie; in some, attributes speak
/// of two labels, too.
fn problem(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let n_labels = 1 + random.below(5) as usize;
    let order = if seed.is_multiple_of(3) { Order::Second } else { Order::First };
    let shape = Shape { n_labels, order };
    let whole = seed.is_multiple_of(2);
    let mut number = {
        let mut random = Random::new(seed ^ 0xABCD);
        move || if whole { random.below(5) as f64 - 2.0 } else { random.unit() * 4.0 - 2.0 }
    };
    let n_attributes = 1 + random.below(20) as u32;
    let mut weights = Weights::zero(shape, n_attributes as usize);
    let has_links = seed % 7 < 3;
    for label in 0..n_labels as u32 {
        for attribute in 0..n_attributes {
            weights.set_attribute(attribute, label, number());
        }
        for before in 0..n_labels as u32 {
            weights.set_pair(before, label, number());
            for attribute in (0..n_attributes).filter(|attribute| has_links && (attribute + label) % 3 > 0) {
                weights.set_link(attribute, before, label, number());
            }
            for first in 0..if order == Order::Second { n_labels as u32 } else { 0 } {
                weights.set_triple(first, before, label, number());
            }
        }
    }
    let constraints = match seed % 5 {
        0 => Constraints::of_scheme(Scheme::Bio, &labels(n_labels)),
        _ => Constraints::default(),
    };
    let mut corpus = Corpus::default();
    for _ in 0..3 {
        let n_tokens = 1 + random.below(5) as usize;
        for _ in 0..n_tokens {
            for _ in 0..random.below(12) {
                let value = if whole { 1.0 } else { random.unit() };
                corpus.push_attribute(random.below(u64::from(n_attributes)) as u32, value);
            }
            for _ in 0..if has_links { random.below(4) } else { 0 } {
                corpus.push_link(random.below(u64::from(n_attributes)) as u32);
            }
            corpus.end_token();
        }
        let truth = sequences(n_tokens, n_labels).into_iter().filter(|labels| constraints.allow(labels));
        let truth: Vec<_> = truth.collect();
        for label in &truth[random.below(truth.len() as u64) as usize] {
            corpus.push_label(*label);
        }
        corpus.end_sentence();
    }
    Problem { shape, constraints, weights, corpus }
}

/// All label sequences. Those that a tie is decided for come first: the last token counts most.
fn sequences(n_tokens: usize, n_labels: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n_tokens {
        let longer = (0..n_labels as u32).flat_map(|last| {
            all.iter().map(move |labels: &Vec<u32>| {
                let mut labels = labels.clone();
                labels.push(last);
                labels
            })
        });
        all = longer.collect();
    }
    all
}

fn exhaustive(tagging: &Tagging, sentence: Sentence<'_>, without: Option<&[u32]>) -> Vec<Tagged> {
    let all = sequences(sentence.len(), tagging.weights().shape().n_labels);
    let mut all: Vec<Tagged> = all
        .into_iter()
        .filter(|labels| Some(&labels[..]) != without)
        .map(|labels| Tagged { score: tagging.score(sentence, &labels), labels })
        .filter(|tagged| tagged.score > f64::NEG_INFINITY)
        .collect();
    all.sort_by(|one, other| other.score.total_cmp(&one.score));
    all
}

#[test]
fn viterbi_equals_exhaustive_search_and_a_full_beam_equals_viterbi() {
    for seed in 0..N_PROBLEMS {
        let Problem { shape, constraints, weights, corpus } = problem(seed);
        let exact = Tagging::new(weights.clone(), constraints.clone(), Search::Exact);
        let beam = Tagging::new(weights, constraints, Search::Beam(shape.n_labels));
        let mut lattice = Lattice::default();
        for sentence in corpus.iter() {
            let all = exhaustive(&exact, sentence, None);
            let best = exact.best(sentence);
            assert_eq!(best.score.to_bits(), all[0].score.to_bits(), "seed {seed}");
            assert_eq!(best, all[0], "seed {seed}: ties included");
            assert_eq!(exact.tag(sentence, &mut lattice), best.labels);
            assert_eq!(beam.best(sentence), best, "seed {seed}");
            let few = exact.k_best(sentence, 4);
            let scores =
                |list: &[Tagged]| list.iter().take(4).map(|one| one.score.to_bits()).collect::<Vec<_>>();
            assert_eq!(scores(&few), scores(&all), "seed {seed}: the best four");
            assert!(few.iter().all(|one| one.score == exact.score(sentence, &one.labels)));
        }
    }
}

#[test]
fn the_rival_is_the_best_of_all_others_in_every_search() {
    let rule = Perceptron::default();
    for seed in 0..N_PROBLEMS {
        let Problem { shape, constraints, weights, corpus } = problem(seed);
        let tagging = Tagging::new(weights.clone(), constraints.clone(), Search::Exact);
        let corpus = Arc::new(corpus);
        for (search, violation) in [
            (Search::Exact, Violation::Complete),
            (Search::Beam(shape.n_labels), Violation::Complete),
            (Search::Beam(shape.n_labels), Violation::Early),
        ] {
            let design = Design { constraints: constraints.clone(), search, violation, cost: 0.0 };
            let mut space =
                TaggerSpace::starting_from(weights.clone(), design, Arc::clone(&corpus), &rule, false);
            for number in 0..corpus.len() {
                let sentence = corpus.sentence(number);
                space.prepare(Numbers(corpus.len()), Visits::Listed(&[number as u32]));
                let mut margin = [0.0];
                space.scores(0, rosenblatt_core::Sparse::<f64>::new(&[], &[]), &mut margin);
                let rivals = exhaustive(&tagging, sentence, Some(sentence.labels));
                let Some(rival) = rivals.first() else {
                    assert_eq!(margin, [f64::INFINITY], "seed {seed}: no other labels are allowed");
                    continue;
                };
                let lead = tagging.score(sentence, sentence.labels) - rival.score;
                assert_eq!(margin[0].to_bits(), lead.to_bits(), "seed {seed}");
                assert_eq!(tagging.score(sentence, space.rival()), rival.score, "seed {seed}");
                assert_ne!(space.rival(), sentence.labels, "seed {seed}");
            }
        }
    }
}

#[test]
fn the_lead_of_a_token_is_that_over_all_sequences_with_another_label_there() {
    for seed in 1..N_PROBLEMS {
        let Problem { constraints, weights, corpus, .. } = problem(seed);
        let tagging = Tagging::new(weights, constraints, Search::Exact);
        for sentence in corpus.iter() {
            let best = tagging.best(sentence);
            let all = exhaustive(&tagging, sentence, None);
            for (token, lead) in tagging.leads(sentence, &best.labels).into_iter().enumerate() {
                let other = all.iter().find(|one| one.labels[token] != best.labels[token]);
                let expected = other.map_or(f64::INFINITY, |other| best.score - other.score);
                assert!(
                    lead == expected || (lead - expected).abs() < 1e-9,
                    "seed {seed}: {lead} and {expected}"
                );
            }
        }
    }
}

type TaggerRun = Run<Box<dyn Rule + Send + Sync>, TaggerSpace, Lead>;

fn start<A: Algorithm>(shape: Shape, design: Design, corpus: Corpus, n_attributes: usize) -> TaggerRun {
    start_with::<A>(Recalled::Mean, shape, design, corpus, n_attributes)
}

fn start_with<A: Algorithm>(
    recalled: Recalled,
    shape: Shape,
    design: Design,
    corpus: Corpus,
    n_attributes: usize,
) -> TaggerRun {
    let rule = A::new(&Params::new()).unwrap();
    let variances = TypeId::of::<A>() == TypeId::of::<Arow>();
    let space = TaggerSpace::new(design, shape, n_attributes, Arc::new(corpus), &rule, variances);
    let convention = Convention { bias: Bias::None, ..Convention::default() };
    let boxed: Box<dyn Rule + Send + Sync> = Box::new(rule);
    Run::from_parts(boxed, space, Past::new(shape, recalled), Lead, convention, Vec::new(), 1)
}

fn kept(run: &TaggerRun, readout: Readout) -> Weights {
    let kept = run.read(readout).expect("something is read out");
    kept.other::<Weights>().expect("weights were kept").clone()
}

fn all_weights(weights: &Weights) -> Vec<f64> {
    let Shape { n_labels, .. } = weights.shape();
    let n = n_labels as u32;
    let mut all = Vec::new();
    for attribute in 0..weights.n_attributes() as u32 {
        all.extend(weights.of_attribute(attribute).unwrap_or_else(|| vec![0.0; n_labels]));
        for before in 0..n {
            all.extend((0..n).map(|label| weights.of_link(attribute, before, label)));
        }
    }
    for before in 0..n {
        for label in 0..n {
            all.push(weights.of_pair(before, label));
            all.extend((0..n).map(|first| weights.of_triple(first, before, label)));
        }
    }
    all
}

#[test]
fn lazy_averages_equal_plain_ones() {
    for seed in (0..N_PROBLEMS).filter(|seed| seed.is_multiple_of(2)) {
        let Problem { shape, constraints, weights, corpus, .. } = problem(seed);
        let n_sentences = corpus.len();
        let design = Design { constraints, ..Design::default() };
        let mut run = start::<Perceptron>(shape, design, corpus, weights.n_attributes());
        let mut sum: Vec<f64> = Vec::new();
        let mut rounds = 0.0;
        for number in (0..n_sentences as u32).cycle().take(12) {
            let _ = run.learn(Numbers(n_sentences), Visits::Listed(&[number]), &mut ());
            let now = all_weights(&kept(&run, Readout::Last));
            sum.resize(now.len(), 0.0);
            sum.iter_mut().zip(&now).for_each(|(sum, weight)| *sum += weight);
            rounds += 1.0;
            let average = all_weights(&kept(&run, Readout::Averaged(Average::Post)));
            let plain: Vec<f64> = sum.iter().map(|sum| sum / rounds).collect();
            assert_eq!(average, plain, "seed {seed}: whole numbers leave nothing to round but the division");
        }
    }
}

#[test]
fn an_average_is_read_out_in_the_shape_that_the_weights_have_by_then() {
    for seed in 0..N_PROBLEMS / 10 {
        let Problem { shape, constraints, weights, corpus, .. } = problem(seed);
        let n_sentences = corpus.len();
        let design = Design { constraints, ..Design::default() };
        let mut run = start::<Perceptron>(shape, design, corpus, weights.n_attributes());
        for number in (0..n_sentences as u32).cycle().take(6) {
            let _ = run.learn(Numbers(n_sentences), Visits::Listed(&[number]), &mut ());
        }
        let before = kept(&run, Readout::Averaged(Average::Post));
        // Labels that turn up and are not learned from have no weights; the others have those that they had.
        run.space_mut().take_in_labels(shape.n_labels + 4, Constraints::default());
        let wide = Shape { n_labels: shape.n_labels + 4, ..shape };
        let expected = all_weights(&before.with_room(wide, weights.n_attributes()));
        assert_eq!(all_weights(&kept(&run, Readout::Averaged(Average::Post))), expected, "seed {seed}");
        let rounds = run.totals().rounds;
        let (space, past) = run.into_parts();
        assert_eq!(all_weights(&space.finish(past, rounds).0), expected, "seed {seed}");
    }
}

/// The vote as it is defined: every hypothesis after every round has a vote on every token, and of all allowed sequences that
/// with the most votes is elected, the last token deciding first between equals.
fn elected(hypotheses: &[Weights], sentence: Sentence<'_>, constraints: &Constraints) -> Vec<u32> {
    let n_labels = hypotheses[0].shape().n_labels;
    let mut votes = vec![vec![0; n_labels]; sentence.len()];
    for weights in hypotheses {
        let tagging = Tagging::new(weights.clone(), constraints.clone(), Search::Exact);
        for (votes, label) in votes.iter_mut().zip(tagging.best(sentence).labels) {
            votes[label as usize] += 1;
        }
    }
    let count = |labels: &Vec<u32>| -> i32 {
        labels.iter().zip(&votes).map(|(label, votes)| votes[*label as usize]).sum()
    };
    let all = sequences(sentence.len(), n_labels).into_iter().filter(|labels| constraints.allow(labels));
    // Of equals, `max_by_key` has the last.
    all.collect::<Vec<_>>().into_iter().rev().max_by_key(count).unwrap()
}

fn votes_of<A: Algorithm>(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let Problem { shape, constraints, weights, corpus } = problem(seed);
        let n_sentences = corpus.len();
        let design = Design { constraints: constraints.clone(), ..Design::default() };
        let n_attributes = weights.n_attributes();
        let mut run = start_with::<A>(Recalled::Votes, shape, design, corpus.clone(), n_attributes);
        let mut hypotheses = Vec::new();
        for number in (0..n_sentences as u32).cycle().take(9) {
            let _ = run.learn(Numbers(n_sentences), Visits::Listed(&[number]), &mut ());
            hypotheses.push(kept(&run, Readout::Last));
            if !run.totals().rounds.is_multiple_of(4) {
                continue;
            }
            let read = run.read(Readout::Voted).expect("at least one hypothesis votes");
            let votes = read.other::<Votes>().expect("votes were kept");
            let (rounds, places, amounts) = votes.lists();
            let again = Votes::of_lists(shape, run.totals().rounds, rounds, &places, &amounts).unwrap();
            assert_eq!(&again, votes);
            for sentence in corpus.iter() {
                let found = votes.tag(sentence, &constraints, Search::Exact);
                assert_eq!(found, elected(&hypotheses, sentence, &constraints), "seed {seed}");
            }
        }
    }
}

#[test]
fn votes_are_those_of_all_hypotheses() {
    votes_of::<Perceptron>(0..300);
    votes_of::<PaOne>(300..400);
    votes_of::<Arow>(400..500);
}

/// Rows of one token each, sparse, with numbers.
fn rows(seed: u64, n_classes: u32, n_features: u32) -> (Vec<usize>, Vec<u32>, Vec<f64>, Vec<u32>) {
    let mut random = Random::new(seed);
    let (mut offsets, mut indices, mut values, mut classes) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..30 {
        for feature in 0..n_features {
            if random.below(3) > 0 {
                indices.push(feature);
                values.push(random.unit() * 2.0 - 1.0);
            }
        }
        offsets.push(indices.len());
        classes.push(random.below(u64::from(n_classes)) as u32);
    }
    (offsets, indices, values, classes)
}

fn one_token_each<A: Algorithm>() {
    for seed in 0..100 {
        // With many labels, weights are stored in another way.
        let n_classes = if seed % 10 == 9 { 30 + (seed % 7) as u32 } else { 2 + (seed % 5) as u32 };
        let n_features = 25;
        let (offsets, indices, values, classes) = rows(seed, n_classes, n_features);
        let mut corpus = Corpus::default();
        for (row, class) in classes.iter().enumerate() {
            for place in offsets[row]..offsets[row + 1] {
                corpus.push_attribute(indices[place], values[place]);
            }
            corpus.end_token();
            corpus.push_label(*class);
            corpus.end_sentence();
        }
        let shape = Shape { n_labels: n_classes as usize, order: Order::First };
        let mut tagger = start::<A>(shape, Design::default(), corpus, n_features as usize);
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        let readout = Readout::Averaged(Average::Post);
        let setup = Setup {
            width: n_features as usize,
            convention,
            remember: Remember { averaged: true, ..Remember::default() },
            ..Setup::default()
        };
        let rule = A::new(&Params::new()).unwrap();
        let mut plain = Run::erased(rule, Direct::new(n_classes as usize, Share::Max), setup).unwrap();
        let examples = SparseExamples::new(&offsets, &indices, &values, n_features as usize, &classes);
        let order = Visiting::ShuffleEpoch;
        let plan =
            Plan { rows: None, order: &order, seed, epochs: 4, max_updates: None, stop_when_clean: false };
        let _ = plain.fit(examples, &plan, &mut ());
        let _ = tagger.fit(Numbers(classes.len()), &plan, &mut ());
        assert_eq!(tagger.totals().mistakes, plain.totals().mistakes, "seed {seed}");
        assert_eq!(tagger.totals().updates, plain.totals().updates, "seed {seed}");
        for readout in [Readout::Last, readout] {
            let found = kept(&tagger, readout);
            let Some(Kept::Hyperplanes(expected)) = plain.read(readout) else { panic!("no planes") };
            for feature in 0..n_features {
                let found = found.of_attribute(feature).unwrap_or_else(|| vec![0.0; n_classes as usize]);
                for (class, found) in found.iter().enumerate() {
                    let expected = expected.weights(class)[feature as usize];
                    assert_eq!(found.to_bits(), expected.to_bits(), "{} seed {seed}", A::INFO.name);
                }
            }
        }
    }
}

#[test]
fn sentences_of_one_token_are_the_multiclass_perceptron_bit_for_bit() {
    one_token_each::<Perceptron>();
    one_token_each::<PaOne>();
    one_token_each::<Arow>();
}

#[test]
fn mistakes_stay_within_the_bound_on_separable_sequences() {
    for seed in 0..200 {
        let Problem { shape, constraints, weights, corpus } = problem(seed * 6 + 1);
        let truth = Tagging::new(weights.clone(), constraints.clone(), Search::Exact);
        // The same sentences, labelled by known weights: the margin of those is known.
        let mut labelled = Corpus::default();
        let mut margin = f64::INFINITY;
        for sentence in corpus.iter() {
            for token in 0..sentence.len() {
                let (attributes, values) = sentence.token(token);
                for (place, attribute) in attributes.iter().enumerate() {
                    labelled.push_attribute(*attribute, values.get(place).copied().unwrap_or(1.0));
                }
                sentence.links(token).iter().for_each(|link| labelled.push_link(*link));
                labelled.end_token();
            }
            let best = truth.k_best(sentence, 2);
            best[0].labels.iter().for_each(|label| labelled.push_label(*label));
            labelled.end_sentence();
            if let [best, second] = &best[..] {
                margin = margin.min(best.score - second.score);
            }
        }
        if !(margin > 1e-6 && margin.is_finite()) {
            continue;
        }
        let norm = all_weights(&weights).iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        let n_sentences = labelled.len();
        let design = Design { constraints, ..Design::default() };
        let mut run = start::<Perceptron>(shape, design, labelled, weights.n_attributes());
        let (mut radius2, mut mistakes) = (0.0_f64, 0.0);
        let bounded = |radius2: f64| radius2 * (norm / margin).powi(2);
        let order = Visiting::Given;
        let plan = Plan {
            rows: None,
            order: &order,
            seed,
            epochs: 100_000,
            max_updates: None,
            stop_when_clean: true,
        };
        let stopped = run.fit(
            Numbers(n_sentences),
            &plan,
            &mut EachRound(|round: &Round<'_>| {
                if round.mistaken {
                    mistakes += 1.0;
                    radius2 = radius2.max(round.spread);
                    assert!(
                        mistakes <= bounded(radius2) * (1.0 + 1e-9),
                        "seed {seed}: live, at every mistake"
                    );
                }
                ControlFlow::Continue(())
            }),
        );
        assert_eq!(stopped, Stopped::Clean, "seed {seed}");
        assert!(run.space().is_finite());
    }
}

#[test]
fn narrow_beams_with_early_and_max_violation_updates_converge_too() {
    let mut n_clean = 0;
    for seed in 0..60 {
        let Problem { shape, constraints, weights, corpus } = problem(seed * 6 + 2);
        let truth = Tagging::new(weights.clone(), constraints.clone(), Search::Exact);
        let mut labelled = corpus.clone();
        labelled.clear();
        for sentence in corpus.iter() {
            for token in 0..sentence.len() {
                let (attributes, _) = sentence.token(token);
                for attribute in attributes {
                    labelled.push_attribute(*attribute, 1.0);
                }
                sentence.links(token).iter().for_each(|link| labelled.push_link(*link));
                labelled.end_token();
            }
            truth.best(sentence).labels.iter().for_each(|label| labelled.push_label(*label));
            labelled.end_sentence();
        }
        for violation in [Violation::Early, Violation::Max] {
            let search = Search::Beam(2);
            let design = Design { constraints: constraints.clone(), search, violation, cost: 0.0 };
            let n_sentences = labelled.len();
            let mut run = start::<Perceptron>(shape, design, labelled.clone(), weights.n_attributes());
            let order = Visiting::Given;
            let plan = Plan {
                rows: None,
                order: &order,
                seed,
                epochs: 2000,
                max_updates: None,
                stop_when_clean: true,
            };
            n_clean += usize::from(run.fit(Numbers(n_sentences), &plan, &mut ()) == Stopped::Clean);
        }
    }
    assert!(n_clean > 60, "only {n_clean} of 120 runs came to an end");
}
