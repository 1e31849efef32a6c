//! One class between two others: one-vs-rest cannot see it, one-vs-one and direct training can.

use rosenblatt::learning::{Order, Readout, Share};
use rosenblatt::options::Classes;
use rosenblatt::{Dataset, Error, Options, Spec, evaluate, train};

fn main() -> Result<(), Error> {
    let places: Vec<[f64; 1]> = (-9..=9).map(|place| [f64::from(place)]).collect();
    let names: Vec<&str> =
        (-9..=9).map(|place| ["left", "middle", "right"][((place + 12) / 8) as usize]).collect();
    let data = Dataset::from_rows(&places, &names);

    for multiclass in [Classes::OneVsRest, Classes::OneVsOne, Classes::Direct(Share::Max)] {
        let spec = Spec::new(Options {
            multiclass,
            readout: Some(Readout::Last),
            order: Some(Order::Given),
            epochs: 1000,
            ..Options::default()
        })?;
        let errors = evaluate(&train(&spec, &data)?, &data)?.errors;
        println!("{multiclass}: {errors} training errors");
        let separable = multiclass != Classes::OneVsRest;
        assert_eq!(errors == 0, separable, "no line has the middle on one side and both ends on the other");
    }
    Ok(())
}
