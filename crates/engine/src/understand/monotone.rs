//! Whether what a column adds to a score never falls, or never rises, over the whole line of numbers: proved, not sampled.
//!
//! The curve of a column that bends is a line between knots and level beyond them: it never falls if it is nowhere lower at
//! a knot than at the one before. These heights are weights as they stand in the model, so that they are only compared, and
//! nothing is rounded. A value with a weight of its own is a point off the curve, which jumps there and back. A straight
//! line goes the way of its weight, as features are scaled by positive numbers.

use crate::error::Error;
use crate::insight::feature_name;
use crate::model::Model;
use rosenblatt_core::Hyperplanes;
use rosenblatt_data::{Bend, ColumnKind, Scaling};
use serde::Serialize;

/// How what a column of numbers adds to an output moves with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Course {
    /// What the column is called.
    pub column: String,
    /// What a positive score of the output speaks for.
    #[serde(rename = "for")]
    pub output: String,
    /// The first two numbers between which it rises; nothing if it never does.
    pub rises: Option<[f64; 2]>,
    /// The first two numbers between which it falls.
    pub falls: Option<[f64; 2]>,
}

/// The course of every column of numbers, of each output in turn. Refused where a column does not add something by itself.
pub fn courses(model: &Model) -> Result<Vec<Course>, Error> {
    let refuse = |what: &str| Err(Error::Uncertifiable { what: what.to_owned() });
    if model.map().is_some() {
        return Err(Error::Mapped { what: "a proof is about" });
    }
    let Some(planes) = model.planes() else { return Err(Error::NotLinear) };
    let schema = model.schema();
    if schema.is_some_and(|schema| !schema.crosses.is_empty() || !schema.surfaces().is_empty()) {
        return refuse("columns that are crossed add nothing by themselves; train without crosses");
    }
    let scaler = schema.and_then(|schema| schema.scaler.as_ref());
    if scaler.is_some_and(|scaler| scaler.scaling == Scaling::UnitNorm) {
        return refuse(
            "what a column adds hangs on all of a row, as rows are of length 1; scale columns instead",
        );
    }
    let outputs = model.output_names();
    let course = |column: String, steps: &dyn Fn(usize) -> Vec<Step>| {
        let of_output = |(output, name): (usize, &String)| {
            let steps = steps(output);
            let first =
                |goes: fn(&Step) -> bool| steps.iter().find(|step| goes(step)).map(|step| step.between);
            Course {
                column: column.clone(),
                output: name.clone(),
                rises: first(|step| step.to > step.from),
                falls: first(|step| step.to < step.from),
            }
        };
        outputs.iter().enumerate().map(of_output).collect::<Vec<_>>()
    };
    let bends = schema.and_then(|schema| schema.bends.as_ref());
    if let Some(bends) = bends {
        let of_column = |bend: &Bend| {
            let start = bends.place(bend.feature as usize).start;
            let named = schema.and_then(|schema| schema.bent_column(start));
            let column = named.map_or_else(|| format!("feature {}", bend.feature + 1), |(name, _)| name);
            course(column, &|output| steps(bend, |place| weight(planes, start + place, output)))
        };
        // A column without features adds nothing, and has no place.
        return Ok(bends.columns.iter().filter(|bend| bend.n_features() > 0).flat_map(of_column).collect());
    }
    let line = |feature: usize, name: String| {
        let everywhere = [f64::NEG_INFINITY, f64::INFINITY];
        course(name, &|output| {
            vec![Step { between: everywhere, from: 0.0, to: weight(planes, feature, output) }]
        })
    };
    let Some(schema) = schema.filter(|schema| !schema.columns.is_empty()) else {
        return Ok((0..planes.width())
            .flat_map(|feature| line(feature, feature_name(model, feature)))
            .collect());
    };
    let columns = schema.columns.iter().zip(schema.starts().0);
    let numbers = columns.filter(|(column, _)| matches!(column.kind, ColumnKind::Number { .. }));
    Ok(numbers.flat_map(|(column, start)| line(start, column.name.clone())).collect())
}

/// A way from one height to another.
struct Step {
    between: [f64; 2],
    from: f64,
    to: f64,
}

fn weight(planes: &Hyperplanes, feature: usize, output: usize) -> f64 {
    planes.raw_weights().get(feature * planes.n_outputs() + output).copied().unwrap_or(0.0)
}

/// The steps of a curve, by the weights of its features: from knot to knot, and to values off it and back.
fn steps(bend: &Bend, weight: impl Fn(usize) -> f64) -> Vec<Step> {
    let n_hats = bend.n_hats();
    // Of two knots the first has no hat, and one knot has none.
    let height = |knot: usize| match n_hats {
        0 => 0.0,
        1 => knot.checked_sub(1).map_or(0.0, &weight),
        _ => weight(knot),
    };
    let along = bend.knots.windows(2).enumerate().map(|(knot, pair)| Step {
        between: [pair[0], pair[1]],
        from: height(knot),
        to: height(knot + 1),
    });
    let off = bend.values.iter().enumerate().flat_map(|(place, value)| {
        let own = weight(n_hats + place);
        [(0.0, own), (own, 0.0)].map(|(from, to)| Step { between: [*value, *value], from, to })
    });
    along.chain(off).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_never_falls_if_no_knot_is_below_the_one_before() {
        let bend = |knots: &[f64], values: &[f64]| Bend {
            knots: knots.to_vec(),
            values: values.to_vec(),
            ..Bend::default()
        };
        let falls = |bend: &Bend, weights: &[f64]| {
            let steps = steps(bend, |place| weights[place]);
            steps.iter().find(|step| step.to < step.from).map(|step| step.between)
        };
        let three = bend(&[0.0, 1.0, 2.0], &[]);
        assert_eq!(falls(&three, &[-1.0, -1.0, 0.5]), None);
        assert_eq!(falls(&three, &[0.0, 1.0_f64.next_up(), 1.0]), Some([1.0, 2.0]));
        // Of two knots the first is at height 0.
        assert_eq!(falls(&bend(&[3.0, 4.0], &[]), &[-1e-300]), Some([3.0, 4.0]));
        assert_eq!(falls(&bend(&[3.0, 4.0], &[]), &[1.0]), None);
        // A point above the curve is one from which it falls.
        assert_eq!(falls(&bend(&[0.0, 1.0, 2.0], &[1.5]), &[0.0, 1.0, 2.0, 0.1]), Some([1.5, 1.5]));
        assert_eq!(falls(&bend(&[0.0, 1.0, 2.0], &[1.5]), &[0.0, 1.0, 2.0, 0.0]), None);
    }
}
