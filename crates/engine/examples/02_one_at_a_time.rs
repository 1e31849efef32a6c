//! Learning from a stream: predict, see the answer, learn, go on.

use rosenblatt::{Error, Online, Options, Spec};

fn main() -> Result<(), Error> {
    let spec = Spec::new(Options { algorithm: "pa1".to_owned(), ..Options::default() })?;
    let mut learner = Online::new(spec, ["cold", "warm"])?;
    for day in 0..365_i32 {
        let season = (f64::from(day) / 365.0 * std::f64::consts::TAU).cos();
        let wind = f64::from(day * 7919 % 100) / 100.0;
        let class = if season + 0.2 * wind > 0.1 { "cold" } else { "warm" };
        learner.learn(&[season, wind], class)?;
    }
    let totals = learner.totals();
    println!("{} mistakes in {} rounds", totals.errors, totals.rounds);
    println!("a winter day is {}", learner.model()?.predict(&[1.0, 0.5])?);

    assert!(totals.errors < 20, "each row was predicted before it was learned from");
    assert_eq!(learner.model()?.predict(&[1.0, 0.5])?, "cold");
    Ok(())
}
