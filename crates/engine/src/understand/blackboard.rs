//! Rows that fit on a blackboard, and rows that are drawn at random, as tables.

use rosenblatt_core::Random;
use std::fmt::Write as _;

/// The logical AND.
pub const AND: &str = "x1,x2,class\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n";

/// The exclusive OR, corners at -1 and 1.
pub const XOR: &str = "x1,x2,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n";

/// The worked example of a lecture: four points, a line through the origin.
pub const LECTURE: &str = "x1,x2,class\n4,0,plus\n1,1,minus\n0,1,minus\n-2,-2,plus\n";

/// Eight points with a wide road between them.
pub const MARGIN: &str =
    "x1,x2,class\n2,1,minus\n5,6,plus\n4,5,plus\n6,4,plus\n6,3,plus\n0,0,minus\n3,5,plus\n1,1,minus\n";

/// Sixty noisy points.
pub const VOTED: &str = "x1,x2,class\n1.9,-0.8,plus\n-0.2,0.6,plus\n-0.8,-1,minus\n1.4,-0.3,plus\n0.2,-0.6,minus\n\
    -0.6,1.8,minus\n-0.7,-0.6,minus\n0,-1,minus\n0.7,0.7,plus\n-0.2,1,plus\n1,1.3,plus\n0.8,0.8,plus\n\
    -2.2,-1.1,minus\n2.9,0.5,plus\n0.1,2,plus\n0.1,-1,minus\n-1.3,-1.3,minus\n0.5,-1.9,minus\n\
    -1.1,-0.7,minus\n1.2,-0.4,plus\n-0.6,0.1,plus\n-1.7,0.2,minus\n-0.7,-1.8,minus\n0.7,0.6,plus\n\
    0.1,-2.1,plus\n-1.4,-0.2,minus\n0.8,-0.8,minus\n-0.4,-1.2,minus\n0.4,-1,minus\n0.7,1.9,plus\n\
    0.8,-0.5,minus\n0.3,-1.7,minus\n-2.2,-0.8,minus\n2.8,1.3,plus\n-0.5,0.5,minus\n0.3,1.3,plus\n\
    -1.9,-1.6,minus\n1.6,0.7,plus\n-0.8,-0.4,plus\n-0.4,-2.4,minus\n1.7,-0.7,plus\n1.1,0.6,plus\n\
    -0.9,-0.1,minus\n-1.1,-0.3,minus\n0.3,0.5,plus\n0.6,-0.5,plus\n0.7,0.6,plus\n0.3,0.9,plus\n\
    1.9,-0.1,plus\n-0.6,-0.5,plus\n1.5,0.7,plus\n-0.1,0.7,minus\n-1.6,-0.8,minus\n-0.5,-1.8,minus\n\
    0.3,-0.2,plus\n-1.5,0.7,minus\n0.1,3.1,plus\n-1.6,1.3,minus\n2.4,0,plus\n0.9,0.7,plus\n";

/// The exclusive OR, corners at 0 and 1.
pub const XOR_BITS: &str = "x1,x2,class\n1,1,same\n1,0,other\n0,1,other\n0,0,same\n";

/// Rows that are drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Two clouds with a road between them.
    Separable,
    /// Two clouds that run into each other.
    Noisy,
    /// Four clouds, those across from each other of one class.
    Xor,
    /// A cloud, and a ring around it.
    Rings,
    /// Three clouds.
    Three,
}

rosenblatt_core::named!(Shape, "shape",
    "separable" = Self::Separable, "two clouds with a road between them";
    "noisy" = Self::Noisy, "two clouds that run into each other";
    "xor" = Self::Xor, "four clouds, those across from each other of one class";
    "rings" = Self::Rings, "a cloud, and a ring around it";
    "three" = Self::Three, "three clouds";
);

/// `n_rows` rows of a shape, as a table with three decimals. `noise` widens the clouds: 0 leaves them as they are, 1 has
/// them run into each other.
///
/// ```
/// use rosenblatt::blackboard::{Shape, draw};
///
/// let table = draw(Shape::Rings, 100, 0.0, 7);
/// assert_eq!((table.lines().count(), table.lines().next()), (101, Some("x1,x2,class")));
/// assert_eq!(table, draw(Shape::Rings, 100, 0.0, 7));
/// ```
pub fn draw(shape: Shape, n_rows: usize, noise: f64, seed: u64) -> String {
    let mut random = Random::for_purpose(seed, "blackboard");
    let mut table = "x1,x2,class\n".to_owned();
    let mut n_drawn = 0;
    while n_drawn < n_rows {
        // Four in turn, so that classes are of one size.
        let turn = n_drawn % 4;
        let is_first = turn.is_multiple_of(2);
        let (x, y, class) = match shape {
            Shape::Separable | Shape::Noisy => {
                let side = if is_first { 1.0 } else { -1.0 };
                let [x, y] = cloud(&mut random, 0.45);
                (x + side, y + 0.6 * side, if is_first { "plus" } else { "minus" })
            }
            Shape::Xor => {
                let [x, y] = cloud(&mut random, 0.25);
                let corner = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)][turn];
                (x + corner.0, y + corner.1, if is_first { "same" } else { "other" })
            }
            Shape::Rings => {
                let [x, y] = direction(&mut random);
                let radius = if is_first { 0.6 * random.unit() } else { 1.3 + 0.4 * random.unit() };
                (radius * x, radius * y, if is_first { "inner" } else { "outer" })
            }
            Shape::Three => {
                let [x, y] = cloud(&mut random, 0.3);
                let place = n_drawn % 3;
                let corner = [(0.0, 1.2), (1.1, -0.7), (-1.1, -0.7)][place];
                (x + corner.0, y + corner.1, ["red", "green", "blue"][place])
            }
        };
        // What separates is kept separate: the road is 0.3 wide on each side.
        if shape == Shape::Separable && (x + 0.6 * y).abs() < 0.3 {
            continue;
        }
        let noise = if shape == Shape::Noisy { 0.45 + noise } else { noise };
        let [right, up] = cloud(&mut random, 1.0);
        let _ = writeln!(table, "{:.3},{:.3},{class}", x + noise * right, y + noise * up);
        n_drawn += 1;
    }
    table
}

/// A place near the origin, by sums of even draws: nearly normal, and the same bits everywhere.
fn cloud(random: &mut Random, spread: f64) -> [f64; 2] {
    [0, 1].map(|_| spread * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0))
}

/// A direction, all alike.
fn direction(random: &mut Random) -> [f64; 2] {
    loop {
        let [x, y] = [0, 1].map(|_| 2.0 * random.unit() - 1.0);
        let length2 = x * x + y * y;
        if (0.01..=1.0).contains(&length2) {
            return [x, y].map(|part| part / length2.sqrt());
        }
    }
}
