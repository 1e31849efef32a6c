//! How far apart two classes are, as far as that can be certified in a given time.

use crate::error::Error;
use rosenblatt_certify::{Answer, Question, Rows, Verdict, decide};
use rosenblatt_core::{Bias, Examples};
use rosenblatt_data::{Dataset, Visitor};
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

/// Whether a hyperplane through the origin separates the rows, as far as can be told in time.
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
    struct Certified(Bias, Duration);
    impl Visitor for Certified {
        type Output = Result<Option<f64>, Error>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            let rows = Rows::new(examples, |class| Some(class == 1));
            let rows = rows.map_err(|error| Error::Uncertifiable { what: error.to_string() })?;
            let answer = decide_within(&with_bias(&rows, self.0).0, self.1);
            let is_separable = matches!(answer.verdict, Verdict::Separable(_));
            Ok(is_separable.then_some(answer.at_least).filter(|low| *low > 0.0))
        }
    }
    data.visit(Certified(bias, most_time))
}
