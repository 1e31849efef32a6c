//! From a table on disk to a saved model, and from its file to classes, probabilities and reasons for new rows.

use rosenblatt::data::{LabelColumn, Missing, ReadOptions, Source, load_source};
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

    // Categories and missing cells: the model reads rows of text, as a request may bring them, by the names of the columns.
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/bundled/penguins.csv");
    let reading = ReadOptions {
        label: LabelColumn::Named("species".to_owned()),
        missing: Missing::Mean,
        ..ReadOptions::default()
    };
    let model = Recipe { reading, ..Recipe::default() }.train(&Source::find(table)?, &mut ())?.model;
    let request = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n\
                   Biscoe,46.1,13.2,211,4500,female,2007\n\
                   Dream,NA,18.9,197,3900,male,2008\n";
    let read = model.to_predict(ReadOptions::default());
    let rows = load_source(&Source::bytes("request.csv", request.as_bytes()), &read)?;
    let (classes, shares) = (model.predict_all(&rows)?, model.predict_proba_all(&rows)?);
    let reasons = model.explain_all(&rows, 2)?;
    for ((class, shares), why) in classes.iter().zip(shares.chunks(model.labels().len())).zip(&reasons) {
        let reasons: Vec<&str> = why.in_favour.iter().map(|reason| reason.feature.as_str()).collect();
        println!("{} ({:.3}): {}", model.labels().name(*class), shares[*class as usize], reasons.join(", "));
    }
    assert_eq!(model.labels().name(classes[0]), "Gentoo");

    // What is wrong with a request, where, and what to do about it.
    let wrong = load_source(&Source::bytes("request.csv", *b"island,sex\nBiscoe,female\n"), &read);
    if let Err(error) = wrong {
        eprintln!("{}", error.report());
    }
    Ok(())
}
