//! Why averaging matters: last, averaged and voted read-outs of the same noisy data, cross-validated.

use rosenblatt::evaluate::cross_validate;
use rosenblatt::learning::{Average, Random, Readout};
use rosenblatt::{Dataset, Error, Options, Spec};

fn main() -> Result<(), Error> {
    let mut random = Random::new(5);
    let rows: Vec<[f64; 10]> = (0..600).map(|_| std::array::from_fn(|_| random.unit() - 0.5)).collect();
    let noisy = |row: &[f64; 10], random: &mut Random| {
        let side = row[0] + row[1] - row[2] > 0.0;
        if side == (random.unit() < 0.9) { "yes" } else { "no" }
    };
    let names: Vec<&str> = rows.iter().map(|row| noisy(row, &mut random)).collect();
    let data = Dataset::from_rows(&rows, &names);

    let error = |readout| -> Result<f64, Error> {
        let spec = Spec::new(Options { readout: Some(readout), epochs: 5, ..Options::default() })?;
        let folds = cross_validate(&spec, &data, 10, 1)?;
        Ok(folds.iter().map(|fold| fold.evaluation.error()).sum::<f64>() / folds.len() as f64)
    };
    let last = error(Readout::Last)?;
    let averaged = error(Readout::Averaged(Average::Post))?;
    let voted = error(Readout::Voted)?;
    println!("held-out error: last {last:.3}, averaged {averaged:.3}, voted {voted:.3}");

    assert!(averaged < last && voted < last);
    Ok(())
}
