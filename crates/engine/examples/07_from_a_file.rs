//! From a table on disk to a saved model, and from its file to a class for a new row.

use rosenblatt::data::Source;
use rosenblatt::{Error, Model, Recipe};

fn main() -> Result<(), Error> {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/bundled/iris.csv");
    // What `rosenblatt train iris.csv` does: candidates race on held-out rows, the winner learns from all of them.
    let trained = Recipe::default().train(&Source::find(table)?, &mut ())?;

    let path = std::env::temp_dir().join(format!("rosenblatt-iris-{}.model", std::process::id()));
    trained.model.save(&path)?;
    let model = Model::load(&path)?;
    std::fs::remove_file(&path).expect("it was just written");

    // A row as the table has it: the model brings it to the scale that it learned on.
    println!("{}", model.predict(&[5.1, 3.5, 1.4, 0.2])?);
    assert_eq!(model.predict(&[5.1, 3.5, 1.4, 0.2])?, "setosa");

    // Which measurements spoke for that class.
    let why = model.explain(&[5.1, 3.5, 1.4, 0.2], 2)?;
    for reason in &why.in_favour {
        println!("{} {:+.2}", reason.feature, reason.contribution);
    }
    assert_eq!(why.in_favour[0].feature, "petal_length");
    Ok(())
}
