//! The table of algorithms, and what each makes of the same data.

use rosenblatt::{ALGORITHMS, Dataset, Error, Options, Spec, evaluate, train};

fn main() -> Result<(), Error> {
    let text = include_str!("../../data/bundled/iris.csv");
    let rows = text.lines().skip(1).map(|line| line.rsplit_once(',').expect("features, then the class"));
    let (features, names): (Vec<Vec<f64>>, Vec<&str>) = rows
        .map(|(features, class)| {
            (features.split(',').map(|value| value.parse().expect("a number")).collect(), class)
        })
        .unzip();
    let data = Dataset::from_rows(&features, &names);

    for entry in ALGORITHMS.iter() {
        let spec = Spec::new(Options {
            algorithm: entry.info.name.to_owned(),
            epochs: 20,
            max_updates: Some(20_000),
            ..Options::default()
        })?;
        let evaluation = evaluate(&train(&spec, &data)?, &data);
        println!(
            "{:<18} {:>5.1} % training error   {}",
            entry.info.name,
            100.0 * evaluation.error(),
            entry.info.summary
        );
        assert!(evaluation.error() < 0.34, "`{}` learned nothing", entry.info.name);
    }
    Ok(())
}
