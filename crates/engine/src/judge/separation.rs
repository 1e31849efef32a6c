//! How far apart two classes are, as far as that can be certified in a given time, with the proof.
//!
//! ```
//! use rosenblatt::Dataset;
//! use rosenblatt::certify::Question;
//! use rosenblatt::separation::{Sides, study, verify};
//!
//! let data = Dataset::from_rows(&[[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]], &["a", "a", "b", "b"]);
//! let sides = Sides::chosen(&data, None, None)?.remove(0);
//! let certificate = study(&data, sides, Question::default(), None, &|_| std::ops::ControlFlow::Continue(()))?.certificate;
//! assert_eq!(verify(&certificate.unwrap(), &data)?.name(), "b against a");
//! # Ok::<(), rosenblatt::Error>(())
//! ```

use crate::error::{Error, refuse};
use rosenblatt_certify::{
    Answer, Certificate, Findings, Polynomial, Question, Rows, Verdict, Watch, check, decide, investigate,
    investigate_in,
};
use rosenblatt_core::Bias;
use rosenblatt_data::{Dataset, visit};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The rows as the perceptron sees them, a bias being the weight of a constant feature, and that constant.
pub fn with_bias(rows: &Rows, bias: Bias) -> (Rows, f64) {
    let constant = match bias {
        Bias::None => 0.0,
        Bias::Learned => 1.0,
        Bias::Augmented(constant) => constant,
    };
    (if constant == 0.0 { rows.clone() } else { rows.augmented(constant) }, constant)
}

/// Whether a hyperplane through the origin separates the rows, as far as time allows.
pub fn decide_within(rows: &Rows, most_time: Duration) -> Answer {
    let start = Instant::now();
    let question = Question { bias: false, ..Question::default() };
    decide(rows, question, &|_| {
        if start.elapsed() > most_time { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// The largest margin of any hyperplane over these rows of two classes, rounded down; `None` if none separates them,
/// or none was found in time.
pub fn certified_margin(data: &Dataset, bias: Bias, most_time: Duration) -> Result<Option<f64>, Error> {
    let answer = decide_within(&with_bias(&sided(data, |class| Some(class == 1))?, bias).0, most_time);
    let is_separable = matches!(answer.verdict, Verdict::Separable(_));
    Ok(is_separable.then_some(answer.at_least).filter(|low| *low > 0.0))
}

/// The rows that are on a side.
fn sided(data: &Dataset, side: impl Fn(u32) -> Option<bool>) -> Result<Rows, Error> {
    let rows = visit!(data.view(), examples => Rows::new(examples, side));
    rows.map_err(|error| Error::Uncertifiable { what: error.to_string() })
}

/// Which classes are on which side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The class on the positive side.
    pub positive: String,
    /// The class on the other; all others if `None`.
    pub negative: Option<String>,
}

impl Sides {
    /// The questions that these names ask of the data: one if a class is named or there are but two, else one per class.
    pub fn chosen(data: &Dataset, positive: Option<&str>, against: Option<&str>) -> Result<Vec<Self>, Error> {
        let names = data.labels().names();
        let Some(positive) = positive else {
            return Ok(match names {
                [only] => vec![Self { positive: only.clone(), negative: None }],
                [negative, positive] => {
                    vec![Self { positive: positive.clone(), negative: Some(negative.clone()) }]
                }
                many => many.iter().map(|name| Self { positive: name.clone(), negative: None }).collect(),
            });
        };
        class(data, positive)?;
        let negative = match against {
            Some(against) if against == positive => {
                return refuse("against", "another class than the positive one", against);
            }
            Some(against) => Some(against.to_owned()),
            None if names.len() == 2 => names.iter().find(|name| *name != positive).cloned(),
            None => None,
        };
        Ok(vec![Self { positive: positive.to_owned(), negative }])
    }

    /// The sides that a certificate is about.
    pub fn of(certificate: &Certificate) -> Self {
        Self { positive: certificate.data.positive.clone(), negative: certificate.data.negative.clone() }
    }

    /// What they are called together.
    pub fn name(&self) -> String {
        format!("{} against {}", self.positive, self.negative.as_deref().unwrap_or("the rest"))
    }

    /// The rows of the data that take part, each on its side.
    pub fn rows(&self, data: &Dataset) -> Result<Rows, Error> {
        let positive = class(data, &self.positive)?;
        let negative = self.negative.as_deref().map(|name| class(data, name)).transpose()?;
        let side = |class: u32| match negative {
            _ if class == positive => Some(true),
            Some(negative) => (class == negative).then_some(false),
            None => Some(false),
        };
        Ok(sided(data, side)?.numbered(|idx| data.number(idx)))
    }
}

fn class(data: &Dataset, name: &str) -> Result<u32, Error> {
    let unknown = || Error::UnknownClass { name: name.to_owned(), known: data.labels().names().to_vec() };
    data.labels().class(name).ok_or_else(unknown)
}

/// A question with its answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Study {
    /// Which classes were to be separated.
    pub sides: Sides,
    /// Whether the hyperplane may lie anywhere.
    pub bias: bool,
    /// The space it lies in, if that is not the one of the rows.
    pub kernel: Option<Polynomial>,
    /// The rows that took part.
    pub rows: Rows,
    /// What was found out.
    pub findings: Findings,
    /// The proof, which the checker has accepted; none if the question is still open.
    pub certificate: Option<Certificate>,
}

impl Study {
    /// All of it for programs.
    pub fn summary(&self, data: &Dataset) -> Value {
        let Study { sides, rows, findings, certificate, .. } = self;
        let class_of =
            |idx: usize| data.find(rows.number(idx)).map(|idx| data.labels().name(data.classes()[idx]));
        let Findings { answer, radius, difficulty, perceptron, cycle, opposites, in_the_way } = findings;
        let numbers = |some: &[usize]| some.iter().map(|&idx| rows.number(idx) + 1).collect::<Vec<_>>();
        let verdict = match &answer.verdict {
            Verdict::Separable(_) => "separable",
            Verdict::Inseparable(_) => "inseparable",
            Verdict::Undecided => "undecided",
        };
        let contradiction = match &answer.verdict {
            Verdict::Inseparable(weights) => Some(
                weights
                    .iter()
                    .map(|(idx, weight)| {
                        let (number, class) = (rows.number(*idx) + 1, class_of(*idx));
                        json!({ "row": number, "class": class, "weight": weight.to_string() })
                    })
                    .collect::<Vec<_>>(),
            ),
            _ => None,
        };
        let margin = answer
            .at_most
            .is_finite()
            .then(|| json!({ "at-least": answer.at_least, "at-most": answer.at_most, "gap": answer.gap() }));
        let support: Vec<usize> = answer.nearest.iter().map(|(idx, _)| *idx).collect();
        json!({
            "positive": sides.positive, "negative": sides.negative, "rows": rows.len(), "bias": self.bias,
            "kernel": self.kernel.map(|kernel| json!({ "degree": kernel.degree, "offset": kernel.offset })),
            "verdict": verdict, "stopped": answer.stopped, "checked": certificate.is_some(), "margin": margin,
            "supporting-rows": numbers(&support), "contradiction": contradiction,
            "radius": Some(radius).filter(|radius| radius.is_finite()),
            "difficulty": Some(radius / answer.at_least).filter(|difficulty| difficulty.is_finite()),
            "mistake-bound": difficulty.map(|difficulty| difficulty.most_mistakes),
            "perceptron": perceptron.as_ref().map(|outcome| {
                json!({ "mistakes": outcome.mistakes, "epochs": outcome.epochs, "converged": outcome.converged })
            }),
            "cycle": cycle.as_ref().map(|cycle| {
                json!({ "after-updates": cycle.from, "updates": cycle.steps })
            }),
            "equal-rows": opposites.iter().map(|pair| numbers(pair)).collect::<Vec<_>>(),
            "rows-in-the-way": in_the_way.as_ref().map(|wrong| numbers(wrong)),
        })
    }
}

/// Finds out whether a hyperplane separates the sides, until `watch` says stop, and has the proof checked.
pub fn study(
    data: &Dataset,
    sides: Sides,
    question: Question,
    kernel: Option<Polynomial>,
    watch: &Watch<'_>,
) -> Result<Study, Error> {
    let rows = sides.rows(data)?;
    let findings = match kernel {
        None => investigate(&rows, question, watch),
        Some(kernel) => investigate_in(&rows, kernel, question, watch)
            .ok_or_else(|| Error::TooManyProducts { width: rows.width(), degree: kernel.degree })?,
    };
    let names = [Some(sides.positive.as_str()), sides.negative.as_deref()];
    let certificate = findings.answer.certificate(&rows, question.bias, kernel, names);
    if let Some(certificate) = &certificate {
        check(certificate, &rows).map_err(|wrong| Error::Uncertifiable {
            what: format!("a bug: the checker refuses the proof found: {wrong}"),
        })?;
    }
    Ok(Study { sides, bias: question.bias, kernel, rows, findings, certificate })
}

/// Checks a certificate against the data it is about, in exact arithmetic; says which sides it speaks of.
pub fn verify(certificate: &Certificate, data: &Dataset) -> Result<Sides, Error> {
    let sides = Sides::of(certificate);
    let refused = |wrong| Error::Uncertifiable { what: format!("refused: {wrong}") };
    check(certificate, &sides.rows(data)?).map_err(refused)?;
    Ok(sides)
}
