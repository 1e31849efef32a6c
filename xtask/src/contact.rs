//! Contact sheets: every kind of picture on four sets of data, on light and dark paper, in a terminal and on a telephone.
//!
//! They are for looking at: change how pictures are drawn, and you see at once what became of all of them.
//! The pictures are drawn by the program itself, and made small here.

use crate::say;
use rosenblatt_plot::{Anchor, Hue, Ink, Item, Look, Outline, Paint, Picture, Rect, Shape, Text, at};
use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "docs/contact";
const PAGE: &str = "docs/contact.md";
/// The room of a picture on a sheet, and the air round it, in pixels.
const CELL: (usize, usize) = (190, 142);
const AIR: usize = 4;
/// A set of data, and the options that it needs.
struct Set {
    name: &'static str,
    about: &'static str,
    file: &'static str,
    /// The options of a picture of one class against the rest.
    class: &'static str,
    /// The options of a picture of weights.
    weights: &'static str,
}

const SETS: &[Set] = &[
    Set { name: "two", about: "two features, two classes", file: "two.csv", class: "", weights: "" },
    Set { name: "ten", about: "ten features, two classes", file: "ten.csv", class: "", weights: "" },
    Set {
        name: "forty",
        about: "sixteen features, forty classes",
        file: "forty.csv",
        class: "--class person-7",
        weights: "",
    },
    Set {
        name: "digits",
        about: "pictures of ten digits",
        file: "digits.csv",
        class: "--class 3",
        weights: "--image 8x12",
    },
];

/// The kinds, and their options; those of one class against the rest come last.
const KINDS: &[(&str, &str)] = &[
    ("boundary", ""),
    ("boundary", "--frames=3"),
    ("margins", ""),
    ("weights", "WEIGHTS"),
    ("curves", "--readouts last,averaged,voted"),
    ("confusion", ""),
    ("roc", ""),
    ("precision-recall", ""),
    ("reliability", ""),
    ("mistakes", "CLASS"),
    ("norms", "CLASS"),
];

/// A way to look at pictures: its name and the options.
const WAYS: [(&str, &str); 4] = [
    ("light", "--as png --theme light"),
    ("dark", "--as png --theme dark"),
    ("terminal", "--as text"),
    ("phone", "--as png --theme light --canvas 380x430"),
];

/// Draws all sheets.
pub(crate) fn draw(program: &Path, bench: &Path) -> Result<(), String> {
    fs::create_dir_all(FOLDER).map_err(|error| format!("{FOLDER}: {error}"))?;
    for (name, text) in made() {
        fs::write(bench.join(name), text).map_err(|error| format!("{name}: {error}"))?;
    }
    for set in SETS {
        say(&format!("contact sheet {}", set.name));
        let mut sheet = Pixels::paper(WAYS.len() * CELL.0, KINDS.len() * CELL.1, [200; 3]);
        for (row, (kind, settings)) in KINDS.iter().enumerate() {
            let settings = settings.replace("CLASS", set.class).replace("WEIGHTS", set.weights);
            for (column, (_, way)) in WAYS.iter().enumerate() {
                let line = format!("plot {kind} {} {settings} {way} --quiet -o -", set.file);
                let cell = seen(program, bench, &line)?.fitted(CELL.0 - 2 * AIR, CELL.1 - 2 * AIR);
                let left = column * CELL.0 + (CELL.0 - cell.width) / 2;
                sheet.put(&cell, left, row * CELL.1 + (CELL.1 - cell.height) / 2);
            }
        }
        let path = PathBuf::from(FOLDER).join(format!("{}.png", set.name));
        fs::write(&path, sheet.encoded()?).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    fs::write(PAGE, page()).map_err(|error| format!("{PAGE}: {error}"))
}

/// A picture as the program draws it.
fn seen(program: &Path, bench: &Path, line: &str) -> Result<Pixels, String> {
    let outcome = Command::new(program).args(line.split_whitespace()).current_dir(bench).output();
    let outcome = outcome.map_err(|error| format!("{}: {error}", program.display()))?;
    if !outcome.status.success() {
        return Err(format!("rosenblatt {line}\n{}", String::from_utf8_lossy(&outcome.stderr)));
    }
    if outcome.stdout.starts_with(b"\x89PNG") {
        return Pixels::decoded(&outcome.stdout);
    }
    Pixels::decoded(&typed(&String::from_utf8_lossy(&outcome.stdout)).png(Look::Dark, 1.0))
}

/// Text as a terminal shows it: every letter in a cell of its own, and braille as dots.
fn typed(text: &str) -> Picture {
    let lines: Vec<&str> = text.lines().collect();
    let width = 10.0 * lines.iter().map(|line| line.chars().count()).max().unwrap_or(1) as f64;
    let height = 20.0 * lines.len().max(1) as f64;
    let mut items: Vec<Item> = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        for (column, letter) in line.chars().enumerate() {
            let (x, y) = (10.0 * column as f64, 20.0 * row as f64);
            let spot = |x: f64, y: f64, width: f64, height: f64, ink: Ink| -> Item {
                let rect = Outline::Rect(Rect { x, y, width, height });
                Shape::new("spot", rect, Paint::fill(ink)).into()
            };
            match letter {
                ' ' => {}
                '\u{2800}'..='\u{28ff}' => {
                    let dots = letter as u32 - 0x2800;
                    let places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
                    let set = places.iter().enumerate().filter(|(bit, _)| dots & (1 << bit) != 0);
                    items.extend(set.map(|(_, &(i, j))| {
                        spot(x + 1.0 + 5.0 * f64::from(i), y + 1.0 + 5.0 * f64::from(j), 3.0, 3.0, Ink::Text)
                    }));
                }
                '░' | '▒' | '▓' | '█' => {
                    let step = ['░', '▒', '▓', '█'].iter().position(|shade| *shade == letter);
                    let ink = Ink::signed([Hue::Plain; 2], 0.25 * (1.0 + step.unwrap_or(0) as f64));
                    items.push(spot(x, y, 10.0, 20.0, ink));
                }
                letter => items.push(
                    Text::new(at(x + 5.0, y + 15.0), letter.to_string(), 14.0).anchor(Anchor::Middle).into(),
                ),
            }
        }
    }
    Picture { width, height, title: String::new(), description: String::new(), items, film: None }
}

/// Red, green and blue, row by row.
struct Pixels {
    width: usize,
    height: usize,
    values: Vec<u8>,
}

impl Pixels {
    fn paper(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, values: colour.repeat(width * height) }
    }

    fn decoded(bytes: &[u8]) -> Result<Self, String> {
        let printed = |error: png::DecodingError| error.to_string();
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(printed)?;
        let mut values = vec![0; reader.output_buffer_size().ok_or("a picture that is too large")?];
        let info = reader.next_frame(&mut values).map_err(printed)?;
        Ok(Self { width: info.width as usize, height: info.height as usize, values })
    }

    /// The same in at most this room: every pixel is the mean of those it stands for.
    fn fitted(&self, width: usize, height: usize) -> Self {
        let scale = (self.width as f64 / width as f64).max(self.height as f64 / height as f64).max(1.0);
        let size = |length: usize| ((length as f64 / scale).floor() as usize).max(1);
        let mut small = Self::paper(size(self.width), size(self.height), [0; 3]);
        let edge = |place: usize, most: usize| ((place as f64 * scale) as usize).min(most);
        for y in 0..small.height {
            let rows = edge(y, self.height - 1)..edge(y + 1, self.height).max(edge(y, self.height - 1) + 1);
            for x in 0..small.width {
                let columns =
                    edge(x, self.width - 1)..edge(x + 1, self.width).max(edge(x, self.width - 1) + 1);
                for channel in 0..3 {
                    let values = rows.clone().flat_map(|row| {
                        columns.clone().map(move |column| 3 * (row * self.width + column) + channel)
                    });
                    let (sum, n) =
                        values.fold((0_u32, 0), |(sum, n), at| (sum + u32::from(self.values[at]), n + 1));
                    small.values[3 * (y * small.width + x) + channel] = (sum / n.max(1)) as u8;
                }
            }
        }
        small
    }

    fn put(&mut self, other: &Self, left: usize, top: usize) {
        for y in 0..other.height {
            let from = 3 * y * other.width;
            let to = 3 * ((top + y) * self.width + left);
            self.values[to..to + 3 * other.width]
                .copy_from_slice(&other.values[from..from + 3 * other.width]);
        }
    }

    /// A file in which colours have four bits each: small pictures look the same, and it is much shorter.
    fn encoded(&self) -> Result<Vec<u8>, String> {
        let printed = |error: png::EncodingError| error.to_string();
        let coarse: Vec<u8> = self.values.iter().map(|&value| (value >> 4) * 17).collect();
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().map_err(printed)?;
        writer.write_image_data(&coarse).map_err(printed)?;
        writer.finish().map_err(printed)?;
        Ok(bytes)
    }
}

/// Data that is made here, the same every time.
fn made() -> Vec<(&'static str, String)> {
    let names: Vec<String> = (0..40).map(|class| format!("person-{class}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    vec![
        ("two.csv", clouds(2, 300, &["cat", "dog"], 1.0)),
        ("ten.csv", clouds(10, 600, &["benign", "malignant"], 0.55)),
        ("forty.csv", clouds(16, 1200, &names, 1.3)),
        ("digits.csv", digits(600)),
    ]
}

/// Numbers that are nearly normal.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        // The sum of a few even numbers is nearly normal.
        let even = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
        };
        (0..6).map(|_| even(&mut self.0)).sum::<f64>() * 2.0_f64.sqrt()
    }
}

/// Rows of every class round a place of its own, as far from the others as `apart` says.
fn clouds(width: usize, n_rows: usize, names: &[&str], apart: f64) -> String {
    let mut noise = Noise(7);
    let places: Vec<Vec<f64>> =
        names.iter().map(|_| (0..width).map(|_| apart * noise.next()).collect()).collect();
    table(
        width,
        (0..n_rows).map(|row| row % names.len()).map(|class| {
            (places[class].iter().map(|place| place + noise.next()).collect(), names[class].to_owned())
        }),
    )
}

/// Pictures of digits, 8 by 12, as clocks show them: seven strokes, on or off, and noise.
fn digits(n_rows: usize) -> String {
    // The strokes of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
    const STROKES: [u8; 10] = [
        0b111_0111, 0b010_0100, 0b101_1101, 0b110_1101, 0b010_1110, 0b110_1011, 0b111_1011, 0b010_0101,
        0b111_1111, 0b110_1111,
    ];
    const PLACES: [[usize; 4]; 7] =
        [[1, 1, 6, 2], [1, 1, 2, 6], [5, 1, 6, 6], [1, 5, 6, 6], [1, 5, 2, 10], [5, 5, 6, 10], [1, 9, 6, 10]];
    let mut noise = Noise(11);
    table(
        96,
        (0..n_rows).map(|row| row % 10).map(|digit| {
            let on = (0..7).filter(|stroke| STROKES[digit] & (1 << stroke) != 0);
            let mut pixels = vec![0.0; 96];
            for [left, top, right, bottom] in on.map(|stroke| PLACES[stroke]) {
                for y in top..=bottom {
                    pixels[8 * y + left..=8 * y + right].fill(1.0);
                }
            }
            (pixels.into_iter().map(|pixel| pixel + 0.6 * noise.next()).collect(), digit.to_string())
        }),
    )
}

/// Rows of values and a class as CSV.
fn table(width: usize, rows: impl Iterator<Item = (Vec<f64>, String)>) -> String {
    let head: Vec<String> = (1..=width).map(|feature| format!("f{feature}")).collect();
    let mut text = format!("{},class\n", head.join(","));
    for (values, class) in rows {
        let values: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
        let _ = writeln!(text, "{},{class}", values.join(","));
    }
    text
}

/// The page that shows the sheets.
fn page() -> String {
    let ways: Vec<&str> = WAYS.iter().map(|(name, _)| *name).collect();
    let mut page = format!(
        "# Contact sheets\n\nEvery kind of picture on four sets of data, small, as `cargo xtask docs` draws them. From the left: {}.\n\
         Downwards:\n\n",
        ways.join(", ")
    );
    for (kind, settings) in KINDS {
        let _ = match *settings {
            "CLASS" => writeln!(page, "- `{kind}`, of one class if there are more than two"),
            "" | "WEIGHTS" => writeln!(page, "- `{kind}`"),
            settings => writeln!(page, "- `{kind} {settings}`"),
        };
    }
    for set in SETS {
        let about = format!("{}{}", set.about[..1].to_uppercase(), &set.about[1..]);
        let _ = write!(page, "\n## {about}\n\n![{about}](contact/{}.png)\n", set.name);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_the_sheets_and_every_sheet_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(fs::read_to_string(root.join(PAGE)).unwrap(), page(), "run `cargo xtask docs`");
        for set in SETS {
            let sheet = fs::read(root.join(FOLDER).join(format!("{}.png", set.name))).unwrap();
            let sheet = Pixels::decoded(&sheet).unwrap();
            assert_eq!((sheet.width, sheet.height), (WAYS.len() * CELL.0, KINDS.len() * CELL.1));
        }
    }

    #[test]
    fn pictures_are_made_small_by_their_means() {
        let mut large = Pixels::paper(4, 2, [0; 3]);
        large.values[..6].fill(200);
        let small = large.fitted(2, 2);
        assert_eq!((small.width, small.height), (2, 1));
        assert_eq!(small.values, [100, 100, 100, 0, 0, 0]);
    }
}
