//! Colours by what they mean, so that one picture serves light and dark pages.
//!
//! The first eight classes have the colours of Okabe and Ito, which people with any kind of colour vision tell apart,
//! darkened or lightened until they stand out from the paper; violet stands for their black, as grey is no class. The others have, one by one, the colour that is farthest
//! from all before it. Shapes say the same as colours: see [`crate::Marker`].

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// As CSS writes it.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// A colour between this one and `other`: `share` of 0 is this one, 1 the other.
    #[must_use]
    pub fn towards(self, other: Self, share: f64) -> Self {
        let part =
            |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8;
        Self(part(self.0, other.0), part(self.1, other.1), part(self.2, other.2))
    }
}

/// Whether a picture is drawn on light or on dark paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// Dark ink on light paper.
    #[default]
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// Steps of each side of [`Ink::Signed`].
///
/// Text is legible on the first half of them.
pub const HEAT_STEPS: i8 = 24;

/// What one side of a heat map is for, and so its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hue {
    /// A class, in the colour that it has everywhere.
    Class(usize),
    /// No class: grey.
    Plain,
    /// What is wrong.
    Wrong,
}

impl Hue {
    /// The ink of its lines and bars.
    pub fn ink(self) -> Ink {
        match self {
            Self::Class(number) => Ink::Class(number),
            Self::Plain => Ink::Faint,
            Self::Wrong => Ink::Wrong,
        }
    }

    fn rgb(self, look: Look) -> Rgb {
        match (self, look) {
            // Darker than words, which stand on half of it.
            (Self::Plain, Look::Dark) => Rgb(180, 180, 180),
            _ => self.ink().rgb(look),
        }
    }

    fn word(self) -> String {
        match self {
            Self::Plain => "plain".to_owned(),
            _ => self.ink().word(),
        }
    }
}

/// What is drawn with, by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ink {
    /// What is drawn on.
    Paper,
    /// Titles, labels, boundaries.
    Text,
    /// Notes, axes, what should not shout.
    Faint,
    /// Lines that guide the eye.
    Grid,
    /// What is wrong, or deserves a look.
    Wrong,
    /// A class, or a curve.
    Class(usize),
    /// The region of a class.
    Tint(usize),
    /// Below or above zero, minus to plus [`HEAT_STEPS`], in the colour of that side.
    Signed(Hue, i8),
}

/// How many classes have a colour of their own.
const N_COLOURS: usize = 24;

const LIGHT_CLASSES: [Rgb; N_COLOURS] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 133, 96),
    Rgb(178, 80, 142),
    Rgb(173, 119, 0),
    Rgb(47, 143, 201),
    Rgb(128, 0, 255),
    Rgb(122, 100, 0),
    Rgb(0, 165, 0),
    Rgb(89, 51, 128),
    Rgb(140, 21, 41),
    Rgb(0, 36, 217),
    Rgb(255, 38, 219),
    Rgb(178, 102, 255),
    Rgb(255, 38, 111),
    Rgb(50, 76, 72),
    Rgb(153, 0, 127),
    Rgb(191, 0, 230),
    Rgb(87, 87, 217),
    Rgb(119, 0, 178),
    Rgb(191, 124, 147),
    Rgb(204, 31, 60),
    Rgb(115, 75, 75),
    Rgb(127, 108, 166),
];

const DARK_CLASSES: [Rgb; N_COLOURS] = [
    Rgb(86, 170, 233),
    Rgb(240, 130, 50),
    Rgb(50, 190, 145),
    Rgb(221, 145, 190),
    Rgb(230, 170, 40),
    Rgb(140, 205, 245),
    Rgb(136, 68, 255),
    Rgb(240, 228, 90),
    Rgb(0, 135, 0),
    Rgb(115, 103, 46),
    Rgb(217, 0, 145),
    Rgb(0, 110, 166),
    Rgb(0, 255, 170),
    Rgb(230, 0, 0),
    Rgb(166, 255, 255),
    Rgb(147, 124, 191),
    Rgb(153, 153, 61),
    Rgb(178, 102, 255),
    Rgb(166, 117, 108),
    Rgb(153, 230, 0),
    Rgb(168, 204, 133),
    Rgb(0, 128, 106),
    Rgb(124, 91, 140),
    Rgb(255, 102, 229),
];

impl Ink {
    /// The ink of a value from -1 to 1, where `sides` are the colours of values below zero, and above.
    pub fn signed(sides: [Hue; 2], share: f64) -> Self {
        let step = (share.clamp(-1.0, 1.0) * f64::from(HEAT_STEPS)).round() as i8;
        Self::Signed(sides[usize::from(step >= 0)], step)
    }

    /// Its colour.
    pub fn rgb(self, look: Look) -> Rgb {
        let dark = look == Look::Dark;
        let pick = |light: Rgb, night: Rgb| if dark { night } else { light };
        let paper = pick(Rgb(255, 255, 255), Rgb(24, 26, 31));
        let class = |number: usize| pick(LIGHT_CLASSES[number % N_COLOURS], DARK_CLASSES[number % N_COLOURS]);
        match self {
            Self::Paper => paper,
            Self::Text => pick(Rgb(26, 26, 26), Rgb(236, 236, 236)),
            Self::Faint => pick(Rgb(89, 89, 89), Rgb(190, 190, 190)),
            Self::Grid => pick(Rgb(226, 226, 226), Rgb(56, 60, 68)),
            Self::Wrong => pick(Rgb(196, 0, 92), Rgb(255, 120, 178)),
            Self::Class(number) => class(number),
            Self::Tint(number) => paper.towards(class(number), if dark { 0.22 } else { 0.17 }),
            Self::Signed(hue, step) => {
                paper.towards(hue.rgb(look), f64::from(step.unsigned_abs()) / f64::from(HEAT_STEPS))
            }
        }
    }

    /// Its colour where the paper is unknown: one that stands out from black and from white. What is text has
    /// none, and is written in whatever the page writes with.
    pub(crate) fn on_any_paper(self) -> Option<Rgb> {
        match self {
            Self::Text | Self::Faint | Self::Paper | Self::Grid => None,
            Self::Class(_) | Self::Wrong => Some(self.rgb(Look::Light)),
            Self::Tint(number) => Some(Self::Class(number).rgb(Look::Light)),
            Self::Signed(hue, _) => hue.ink().on_any_paper(),
        }
    }

    /// The word by which style sheets know it.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Paper => "paper".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Faint => "faint".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Wrong => "wrong".to_owned(),
            Self::Class(number) => format!("class{}", number % N_COLOURS),
            Self::Tint(number) => format!("tint{}", number % N_COLOURS),
            Self::Signed(hue, step) => {
                let side = if step < 0 { "against" } else { "for" };
                format!("{side}{}-{}", step.unsigned_abs(), hue.word())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let light = |Rgb(r, g, b): Rgb| {
            let part = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
        };
        let (one, other) = (light(one) + 0.05, light(other) + 0.05);
        one.max(other) / one.min(other)
    }

    #[test]
    fn classes_beyond_the_eighth_have_colours_of_their_own() {
        for look in [Look::Light, Look::Dark] {
            let colours: Vec<Rgb> = (0..N_COLOURS).map(|class| Ink::Class(class).rgb(look)).collect();
            for (class, Rgb(r, g, b)) in colours.iter().enumerate() {
                for Rgb(x, y, z) in &colours[..class] {
                    let apart = r.abs_diff(*x).max(g.abs_diff(*y)).max(b.abs_diff(*z));
                    assert!(apart >= 24, "class {class} {look:?}: {apart}");
                }
            }
        }
    }

    #[test]
    fn text_is_legible_and_marks_stand_out_on_either_paper() {
        for look in [Look::Light, Look::Dark] {
            let paper = Ink::Paper.rgb(look);
            for ink in [Ink::Text, Ink::Faint] {
                assert!(contrast(ink.rgb(look), paper) >= 4.5, "{ink:?} {look:?}");
                for class in 0..N_COLOURS {
                    assert!(contrast(ink.rgb(look), Ink::Tint(class).rgb(look)) >= 4.5, "{ink:?} {look:?}");
                }
            }
            for class in 0..N_COLOURS {
                let marks = contrast(Ink::Class(class).rgb(look), paper);
                assert!(marks >= 3.0, "class {class} {look:?}: {marks}");
                let own = contrast(Ink::Class(class).rgb(look), Ink::Tint(class).rgb(look));
                assert!(own >= 2.4, "class {class} on its region {look:?}: {own}");
            }
            for ink in [Ink::Wrong, Ink::Signed(Hue::Class(0), 9), Ink::Signed(Hue::Wrong, -9), Ink::Tint(3)]
            {
                let colour = ink.on_any_paper().unwrap();
                assert!(contrast(colour, Rgb(0, 0, 0)) >= 2.2 && contrast(colour, Rgb(255, 255, 255)) >= 3.0);
            }
            for (hue, step) in [Hue::Class(0), Hue::Plain, Hue::Wrong]
                .into_iter()
                .flat_map(|hue| (0..=HEAT_STEPS / 2).map(move |step| (hue, step)))
            {
                let legible = contrast(Ink::Text.rgb(look), Ink::Signed(hue, step).rgb(look));
                assert!(legible >= 4.5, "{hue:?} {step} {look:?}: {legible}");
            }
        }
    }
}
