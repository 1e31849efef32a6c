//! Learning from a stream: predict, see the answer, learn, stop, go on.

use rosenblatt::model::Checkpoint;
use rosenblatt::{Error, Online, Options, Spec};

fn main() -> Result<(), Error> {
    let spec = Spec::new(Options { algorithm: "pa1".to_owned(), ..Options::default() })?;
    let mut learner = Online::new(spec, ["cold", "warm"])?.keeping_track();
    for day in 0..365_i32 {
        let season = (f64::from(day) / 365.0 * std::f64::consts::TAU).cos();
        let wind = f64::from(day * 7919 % 100) / 100.0;
        let class = if season + 0.2 * wind > 0.1 { "cold" } else { "warm" };
        learner.learn(&[season, wind], class)?;
    }
    let totals = learner.totals();
    println!("{} mistakes in {} rounds", totals.errors, totals.rounds);
    println!("a winter day is {}", learner.model()?.predict(&[1.0, 0.5])?);

    // All that it takes to go on later, or elsewhere: the model alone does not know where its averages stand. Write the
    // bytes to a file of yours.
    let bytes = learner.checkpoint().expect("it keeps track");
    let spec = Spec::new(Options { algorithm: "pa1".to_owned(), ..Options::default() })?;
    let mut resumed = Online::new(spec, ["cold", "warm"])?
        .go_on(Checkpoint::from_bytes(&bytes).expect("it was just made"))?;
    for learner in [&mut learner, &mut resumed] {
        learner.learn(&[-0.9, 0.2], "warm")?;
    }
    assert_eq!(learner.model()?.to_bytes(), resumed.model()?.to_bytes(), "as if it had never stopped");

    assert!(totals.errors < 20, "each row was predicted before it was learned from");
    assert_eq!(learner.model()?.predict(&[1.0, 0.5])?, "cold");
    Ok(())
}
