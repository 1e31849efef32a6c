//! The table of algorithms, and what each makes of the same data: setosa against the other irises.

use rosenblatt::algorithms::ALGORITHMS;
use rosenblatt::{Dataset, Error, Options, Spec, evaluate, train};

fn main() -> Result<(), Error> {
    let text = include_str!("../../data/bundled/iris.csv");
    let (features, names): (Vec<Vec<f64>>, Vec<&str>) = text
        .lines()
        .skip(1)
        .map(|line| line.rsplit_once(',').expect("features, then the class"))
        .map(|(features, class)| {
            let features = features.split(',').map(|value| value.parse().expect("a number")).collect();
            (features, if class == "setosa" { "setosa" } else { "another" })
        })
        .unzip();
    let data = Dataset::from_rows(&features, &names);

    for entry in ALGORITHMS.iter().filter(|entry| !entry.info.numbers) {
        let algorithm = entry.info.name.to_owned();
        let spec = Spec::new(Options { algorithm, epochs: 200, ..Options::default() })?;
        let errors = evaluate(&train(&spec, &data)?, &data)?.errors;
        println!("{:<18} {errors:>2} errors   {}", entry.info.name, entry.info.summary);
        assert!(errors <= 1, "`{}` missed a plain gap", entry.info.name);
    }
    Ok(())
}
