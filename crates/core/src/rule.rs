//! What an update rule is: given how one example fared, how far to step.
//!
//! In this family a variant is mostly one number. A [`Rule`] is therefore pure scalar code: it sees a
//! margin, a norm and two counters ([`Seen`]) and answers with a [`Step`], or with nothing, in which
//! case the hypothesis survives. It holds its checked parameters and no other state, so the same rule
//! drives one output or a thousand, primal or kernel, fresh or resumed.
//!
//! [`Algorithm`] adds what the outside needs to know: the name, the parameters with their ranges, the
//! paper, the guarantee, and the laws the rule is exempt from.

use crate::params::{Param, ParamError, Params};
use crate::space::{LinearSpace, Shape};

/// How one example fared against the current hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seen {
    /// `y·f(x)`; in direct multiclass the lead of the true class over its strongest rival; of a number, `-|t - f(x)|`.
    pub margin: f64,
    /// Whether this counts as a mistake under the run's convention.
    pub mistaken: bool,
    /// `+1` or `-1`: the side the example is on. Direct multiclass says `+1`.
    pub label: f64,
    /// `‖x‖²` in the space's own metric. Only there if the rule [needs](Rule::needs) it.
    pub spread: f64,
    /// `‖w‖²`. Only there if the rule [needs](Rule::needs) it.
    pub norm2: f64,
    /// The dual variable of the example. Only there if the rule [needs](Rule::needs) it.
    pub dual: f64,
    /// How much the example counts. Only there for rules that need the dual variable, or [weigh](Weighs::Rule)
    /// themselves.
    pub weight: f64,
    /// Number of this round, from 1.
    pub round: u64,
    /// How often the hypothesis has moved so far.
    pub updates: u64,
}

/// A move of the hypothesis: `w ← keep·w + tau·y·x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// How far along the example.
    pub tau: f64,
    /// How much of the old hypothesis stays; 1 for most rules.
    pub keep: f64,
    /// For a space that keeps more than weights: how strongly variances along the example shrink
    /// (`Diagonal`), or the new dual variable (`Dual`); 0 elsewhere.
    pub extra: f64,
}

impl Step {
    /// A plain step of length `tau`.
    pub const fn of(tau: f64) -> Self {
        Self { tau, keep: 1.0, extra: 0.0 }
    }
}

/// Which of the costlier facts a rule wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// [`Seen::spread`].
    pub spread: bool,
    /// [`Seen::norm2`].
    pub norm2: bool,
    /// [`Seen::dual`] and [`Seen::weight`].
    pub dual: bool,
    /// What the weight of an example does.
    pub weighs: Weighs,
}

/// What the weight of an example does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weighs {
    /// It is a factor of the step.
    #[default]
    Step,
    /// What the rule makes of it: [`Seen::weight`].
    Rule,
    /// It is how often the example is met, a fraction being a chance: a longer step would go beyond where the rule wants
    /// to be. Met again, it is left as soon as it asks for no step.
    Visits,
}

/// An update rule: pure scalar code that sees how one example fared and says how far to step.
///
/// ```
/// use rosenblatt_core::{Rule, Seen, Step};
///
/// /// Half a step on a mistake, and nothing else.
/// struct Timid;
///
/// impl Rule for Timid {
///     fn step(&self, seen: &Seen) -> Option<Step> {
///         seen.mistaken.then_some(Step::of(0.5))
///     }
/// }
///
/// let seen = Seen { margin: -1.0, mistaken: true, label: 1.0, round: 1, ..Seen::default() };
/// assert_eq!(Timid.step(&seen), Some(Step::of(0.5)));
/// ```
pub trait Rule {
    /// What this rule wants to see besides margins and counters.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether this round may move the hypothesis. Asked first, and before `spread` is computed, so
    /// that rounds which change nothing stay cheap; when in doubt, yes.
    fn acts(&self, _seen: &Seen) -> bool {
        true
    }

    /// Whether a step depends on the example and the hypothesis alone, not on how many rounds or updates there have
    /// been: the same hypothesis before the same visits then means the same again, for ever.
    fn repeats(&self) -> bool {
        false
    }

    /// The step for this round, or nothing if the hypothesis survives.
    fn step(&self, seen: &Seen) -> Option<Step>;

    /// The most mistakes the rule can ever make on data of radius `R` that some unit vector separates
    /// with margin `γ` (bias coordinate included), from zero weights. `None` if no such bound is known.
    fn bound(&self, _radius: f64, _margin: f64) -> Option<f64> {
        None
    }
}

impl<R: Rule + ?Sized> Rule for Box<R> {
    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn acts(&self, seen: &Seen) -> bool {
        (**self).acts(seen)
    }

    fn repeats(&self) -> bool {
        (**self).repeats()
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        (**self).step(seen)
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        (**self).bound(radius, margin)
    }
}

/// What the outside needs to know of a rule.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a yes-or-no column of the table of rules")]
pub struct Info {
    /// The name it goes by, in lower case.
    pub name: &'static str,
    /// Other names it is known by.
    pub aliases: &'static [&'static str],
    /// The idea in one sentence.
    pub summary: &'static str,
    /// When it steps and how, in one line of notation.
    pub update: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// When to prefer it.
    pub prefer: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The learning rate it has unless one is given, and after a semicolon another where that suits; nothing if it
    /// takes none.
    pub rate: Option<&'static str>,
    /// Whether it moves on mistakes only, so that what counts as a mistake decides what is learned, and rounds
    /// without one need not be shown to it.
    pub mistake_driven: bool,
    /// Whether it is the fixed-increment rule: with a constant rate, every step adds the mistaken example as it is.
    /// The convergence proof, the forgetron's bound and the proof that a cycle shows inseparable data speak of it.
    pub fixed_increment: bool,
    /// Whether it is asked for so often that two classes get a training loop compiled for it.
    pub own_loop: bool,
    /// Whether its steps may keep less than all of the old weights.
    pub shrinks: bool,
    /// Whether its step is derived for the whole vector, so that a bias must be a coordinate of it.
    pub whole_vector: bool,
    /// Whether it picks its own rows (the worst one) instead of taking them in some order.
    pub picks_worst: bool,
    /// Whether it keeps a number for every row and output: for rows that stay, and for problems that have one output
    /// each. Such a rule says itself when it has converged; a number of epochs is only the most it may take.
    pub per_row: bool,
    /// Whether it settles on one hypothesis that averaging with earlier ones would only spoil.
    pub settles: bool,
    /// Whether its scores are learned as logarithms of odds, so that those of two classes stand for probabilities.
    pub log_odds: bool,
    /// Whether it learns numbers, not classes.
    pub numbers: bool,
    /// Whether it keeps a number for every pair of features, so that there may only be [some](Info::MOST_PAIRED) of them,
    /// and sums them over a whole epoch, in which the order of rows is of no use.
    pub per_pair: bool,
    /// The laws it does not obey, each with the reason.
    pub exempt: &'static [(Law, &'static str)],
}

impl Params {
    /// Checks every value against what `info` declares.
    pub fn check(&self, info: &Info) -> Result<(), ParamError> {
        for (name, value) in &self.values {
            let Some(param) = info.params.iter().find(|param| param.name == name) else {
                return Err(ParamError::Unknown {
                    algorithm: info.name,
                    name: name.clone(),
                    known: info.params.iter().map(|param| param.name).collect(),
                });
            };
            if !param.range.holds(*value) {
                return Err(ParamError::OutOfRange { name: param.name, range: param.range, value: *value });
            }
        }
        match &self.rate {
            Some(_) if info.rate.is_none() => Err(ParamError::NoRate { algorithm: info.name }),
            Some(rate) => rate.check(),
            None => Ok(()),
        }
    }

    /// The value of `name`, or the default that `info` declares. Panics if it declares none.
    pub fn get(&self, info: &Info, name: &str) -> f64 {
        let given = self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        given.unwrap_or_else(|| {
            let declared = info.params.iter().find(|param| param.name == name);
            declared.expect("rules ask only for parameters they declare").default
        })
    }
}

impl Info {
    /// The most features of rules that keep a number for every pair.
    pub const MOST_PAIRED: usize = 4096;

    /// An entry with a name and nothing else; rule files override what they need.
    pub const fn named(name: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            summary: "",
            update: "",
            source: "",
            prefer: "",
            params: &[],
            rate: None,
            mistake_driven: false,
            fixed_increment: false,
            own_loop: false,
            shrinks: false,
            whole_vector: false,
            picks_worst: false,
            per_row: false,
            settles: false,
            log_odds: false,
            numbers: false,
            per_pair: false,
            exempt: &[],
        }
    }

    /// Whether the rule declares itself exempt from `law`.
    pub fn is_exempt(&self, law: Law) -> bool {
        self.exempt.iter().any(|(exempt, _)| *exempt == law)
    }
}

/// The laws every algorithm of the table is held to unless its file says why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Flipping all labels flips the hypothesis.
    FlippedLabels,
    /// Renumbering the features renumbers the weights.
    FeatureOrder,
    /// A row of zeros changes nothing (without a bias).
    ZeroRow,
    /// Dense and sparse rows give the same bits.
    DenseIsSparse,
    /// One epoch is two half epochs.
    HalfEpochs,
    /// The average is the vote-weighted mean of the survivors.
    AverageOfSurvivors,
    /// Scaling the rate, from zero weights, changes no prediction.
    RateScale,
    /// Separable data is separated within the bound.
    MistakeBound,
    /// One-vs-rest is one binary run per class.
    OneVsRest,
}

/// A rule of the table: it has a name, parameters and a space to live in.
pub trait Algorithm: Rule + Sized + Clone + Send + Sync + 'static {
    /// Where its hypotheses live.
    type Space: LinearSpace;

    /// What the outside needs to know.
    const INFO: Info;

    /// The rule with these parameters, or which of them is wrong and why.
    fn new(params: &Params) -> Result<Self, ParamError>;

    /// An empty hypothesis for this rule.
    fn space(&self, shape: Shape) -> Self::Space {
        Self::Space::zero(shape)
    }
}
