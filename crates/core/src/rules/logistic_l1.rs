//! Logistic regression that chooses features: an elastic net, with most weights exactly zero.
//!
//! [`LogisticDual`] with a penalty on absolute weights from the start; see there and `space/dual.rs`.

use super::svm_dual::{C, L1, TOLERANCE};
use crate::params::{Param, ParamError, Params};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::rules::LogisticDual;
use crate::space::{Dual, Shape};

/// Sparse logistic regression in the dual.
#[derive(Debug, Clone)]
pub struct LogisticL1(LogisticDual);

impl Rule for LogisticL1 {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        self.0.step(seen)
    }
}

impl Algorithm for LogisticL1 {
    type Space = Dual;

    const INFO: Info = Info {
        aliases: &["elastic-net", "sparse-logistic"],
        summary: "logistic regression that leaves out features: most weights are exactly zero",
        update: "b' minimises the dual:  v += (b' - b) y x, w = sign(v) max(|v| - l1, 0)",
        source: "Shalev-Shwartz and Zhang 2014; elastic net by Zou and Hastie 2005",
        prefer: "to find the few features among many that matter",
        params: &[C, Param { default: 1.0, ..L1 }, TOLERANCE],
        ..Info { name: "logistic-l1", ..LogisticDual::INFO }
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        LogisticDual::of(params, &Self::INFO).map(Self)
    }

    fn space(&self, shape: Shape) -> Dual {
        self.0.space(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_dual_solver_with_a_penalty_of_its_own() {
        let own = LogisticL1::new(&Params::new()).unwrap();
        let same = LogisticDual::new(&Params::new().with("l1", 1.0)).unwrap();
        assert_eq!(format!("{:?}", own.0), format!("{same:?}"));
    }
}
