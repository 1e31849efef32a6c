//! What predicting costs without a server: the same rows, by the library, in this process and on one thread.
//!
//! `in_memory MODEL BATCH.arrow SECONDS` prints rows a second for three ways to hold them; `cargo xtask bench serve` sets
//! the server's Arrow batches beside these.

use rosenblatt::Model;
use rosenblatt::data::{Dataset, ReadOptions, Source, load_source};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [model, batch, seconds] = &words[..] else { return Err("say MODEL BATCH.arrow SECONDS".into()) };
    let time = Duration::from_secs_f64(seconds.parse()?);
    let model = Model::load(model)?;
    let bytes = std::fs::read(batch)?;
    let how = model.to_predict(ReadOptions { threads: 1, ..ReadOptions::default() });
    let read = || -> Result<Dataset, rosenblatt::data::DataError> {
        load_source(&Source::bytes("batch.arrow", bytes.as_slice()), &how)
    };
    let data = read()?;
    let n_named = |data: &Dataset| {
        let classes = model.predict_all(data).unwrap_or_default();
        black_box(classes.into_iter().map(|class| model.labels().name(class)).collect::<Vec<_>>()).len()
    };
    say("an Arrow stream, read and predicted", data.len(), time, || {
        read().map(|data| n_named(&data)).unwrap_or_default()
    });
    say("rows that were read, predicted", data.len(), time, || n_named(&data));
    Ok(())
}

fn say(name: &str, n_rows: usize, time: Duration, mut predict: impl FnMut() -> usize) {
    let (began, mut n_predicted) = (Instant::now(), 0);
    while began.elapsed() < time {
        n_predicted += predict();
    }
    assert_eq!(n_predicted % n_rows, 0, "every row was predicted");
    println!("{name}\t{}", n_predicted as f64 / began.elapsed().as_secs_f64());
}
