//! From `Vec`s to a trained, averaged one-vs-rest perceptron in five lines.

use rosenblatt::{Dataset, Error, Spec, evaluate, train};

fn main() -> Result<(), Error> {
    let rows = [[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7], [-2.0, -1.9], [-1.7, -2.2]];
    let names = ["apple", "apple", "banana", "banana", "orange", "orange"];

    let data = Dataset::from_rows(&rows, &names);
    let model = train(&Spec::default(), &data)?;
    println!("(1.5, 0.2) is {}", model.predict(&[1.5, 0.2])?);
    println!("training errors: {}", evaluate(&model, &data)?.errors);

    assert_eq!(model.predict(&[1.5, 0.2])?, "apple");
    assert_eq!(evaluate(&model, &data)?.errors, 0);
    Ok(())
}
