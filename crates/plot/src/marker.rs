//! The signs of classes: shapes that differ even where colours do not.

use crate::scene::{Point, at};
use std::f64::consts::PI;

/// The sign of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle that stands.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A slanted cross.
    Cross,
    /// An upright cross.
    Plus,
    /// A triangle on its tip.
    Wedge,
    /// A star.
    Star,
}

/// All markers, in the order in which classes get them, with the letters a terminal draws them by: as they are,
/// and ringed.
const TABLE: [(Marker, char, char); 8] = [
    (Marker::Disc, '●', '○'),
    (Marker::Square, '■', '□'),
    (Marker::Triangle, '▲', '△'),
    (Marker::Diamond, '◆', '◇'),
    (Marker::Cross, '×', '⊗'),
    (Marker::Plus, '+', '⊕'),
    (Marker::Wedge, '▼', '▽'),
    (Marker::Star, '★', '☆'),
];

impl Marker {
    /// The sign of a class. With more than eight, signs come again in other colours.
    pub fn of_class(class: usize) -> Self {
        TABLE[(class + class / 8) % 8].0
    }

    /// The letter it is in a terminal.
    pub(crate) fn letter(self, ringed: bool) -> char {
        let entry = TABLE.iter().find(|(marker, ..)| *marker == self);
        entry.map_or('?', |&(_, plain, hollow)| if ringed { hollow } else { plain })
    }

    /// Its outline, round `centre`; the area of all is about that of a disc of this radius.
    pub(crate) fn ring(self, centre: Point, radius: f64) -> Vec<Point> {
        let regular = |n: usize, size: f64, turn: f64| -> Vec<Point> {
            (0..n)
                .map(|k| {
                    let angle = 2.0 * PI * k as f64 / n as f64 + turn;
                    at(centre.x + size * radius * angle.sin(), centre.y - size * radius * angle.cos())
                })
                .collect()
        };
        match self {
            Self::Disc => regular(32, 1.0, 0.0),
            Self::Square => regular(4, 1.25, PI / 4.0),
            Self::Triangle => regular(3, 1.45, 0.0),
            Self::Diamond => regular(4, 1.35, 0.0),
            Self::Wedge => regular(3, 1.45, PI),
            Self::Star => {
                let (tips, dents) = (regular(5, 1.5, 0.0), regular(5, 0.65, PI / 5.0));
                tips.into_iter().zip(dents).flat_map(|(tip, dent)| [tip, dent]).collect()
            }
            Self::Plus | Self::Cross => {
                let (long, short) = (1.3 * radius, 0.42 * radius);
                let turn = if self == Self::Cross { PI / 4.0 } else { 0.0 };
                let corners = [
                    (-short, -long),
                    (short, -long),
                    (short, -short),
                    (long, -short),
                    (long, short),
                    (short, short),
                    (short, long),
                    (-short, long),
                    (-short, short),
                    (-long, short),
                    (-long, -short),
                    (-short, -short),
                ];
                let (sin, cos) = turn.sin_cos();
                corners
                    .iter()
                    .map(|(x, y)| at(centre.x + cos * x - sin * y, centre.y + sin * x + cos * y))
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ink::{Ink, Look, Rgb};

    #[test]
    fn no_two_of_64_classes_look_alike() {
        let look = |class| (Ink::Class(class).rgb(Look::Light), Marker::of_class(class).letter(false));
        let looks: Vec<(Rgb, char)> = (0..64).map(look).collect();
        for (class, look) in looks.iter().enumerate() {
            assert!(!looks[..class].contains(look), "{class}");
        }
    }
}
