//! `cargo xtask docs [--mnist DIR] [--program PATH]`: the gallery and the contact sheets, drawn by the program itself.
//!
//! Every picture of `docs/gallery.md` is the outcome of the commands below it, run here as a person would run them, on
//! data that comes with the project. The digits need a folder with the files of MNIST; without one, their pictures are
//! left as they are. A program that is built already may be named.

use crate::{contact, say};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "docs/gallery";
const PAGE: &str = "docs/gallery.md";

/// A picture of the gallery.
struct Piece {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Lines of shell; the last one draws `NAME.svg`.
    commands: &'static [&'static str],
    needs_mnist: bool,
}

/// Small data that the commands read: name and content.
const FILES: &[(&str, &str)] = &[
    ("lecture.csv", "x1,x2,class\n4,0,plus\n1,1,minus\n0,1,minus\n-2,-2,plus\n"),
    ("xor.csv", "x1,x2,class\n1,1,same\n1,-1,different\n-1,1,different\n-1,-1,same\n"),
];

/// Data that comes with the project.
const BUNDLED: &[&str] = &["iris.csv", "banknote.csv", "breast_cancer.csv", "penguins.csv", "sms-spam.tsv"];

const PIECES: &[Piece] = &[
    Piece {
        name: "lecture",
        title: "A lecture's example, step by step",
        about: "Four points, no bias, in the order of the file. Each frame shows the boundary before a step, the row \
                that was on its wrong side, and the boundary after it.",
        commands: &[
            "rosenblatt plot boundary lecture.csv --label class --bias none --frames --no-buttons -o lecture.svg",
        ],
        needs_mnist: false,
    },
    Piece {
        name: "lecture-bound",
        title: "Why the run ends",
        about: "The mistakes of the same run, below the bound of the proof, (R/margin)².",
        commands: &["rosenblatt plot mistakes lecture.csv --label class --bias none -o lecture-bound.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "xor",
        title: "XOR, which no line separates",
        about: "Whichever line you draw, a row is on its wrong side.",
        commands: &["rosenblatt plot boundary xor.csv --label class --scale none --order given -o xor.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "xor-kernel",
        title: "XOR, with a kernel",
        about: "The same rule on the same four rows, with products replaced by (1 + x·y)²: one step for each row, and \
                a clean second epoch.",
        commands: &["rosenblatt plot boundary xor.csv --label class --scale none --kernel poly --degree 2 \
                     --gamma 1 --offset 1 --readout last --support -o xor-kernel.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "iris",
        title: "Three kinds of iris by their petals",
        about: "One hyperplane for each class against the rest; the highest score wins.",
        commands: &["rosenblatt plot boundary iris.csv --columns 3,4 -o iris.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "cancer",
        title: "Thirty features, and every row on its true side",
        about: "Across is the signed distance to the hyperplane, upwards the direction along it in which rows vary most. \
                No projection hides who is on which side.",
        commands: &["rosenblatt plot boundary breast_cancer.csv -o cancer.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "penguins-scores",
        title: "Three classes on the plane of their scores",
        about: "All features at once: differences of three scores form a plane, and a row lies in the region of its \
                predicted class.",
        commands: &[
            "rosenblatt plot boundary penguins.csv --label species --missing mean -o penguins-scores.svg",
        ],
        needs_mnist: false,
    },
    Piece {
        name: "penguins",
        title: "Penguins, with an rbf kernel",
        about: "Two columns vary, the others are held at their mean; rings mark misclassified rows.",
        commands: &[
            "rosenblatt plot boundary penguins.csv --label species --missing mean --kernel rbf --columns \
                     bill_length_mm,bill_depth_mm -o penguins.svg",
        ],
        needs_mnist: false,
    },
    Piece {
        name: "readouts",
        title: "Averaged, voted and last weights",
        about: "The same runs, read out in three ways: the last weights depend on the last rows, the average and the \
                vote do not.",
        commands: &["rosenblatt plot curves banknote.csv --readouts last,averaged,voted -o readouts.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "spam",
        title: "The words that decide",
        about: "The words with the largest weights of a spam filter.",
        commands: &[
            "rosenblatt train sms-spam.tsv --model sms.model",
            "rosenblatt plot weights --model sms.model -o spam.svg",
        ],
        needs_mnist: false,
    },
    Piece {
        name: "spam-roc",
        title: "ROC curve of the spam filter",
        about: "True positives against false positives, on held-out rows.",
        commands: &["rosenblatt plot roc sms-spam.tsv -o spam-roc.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "spam-precision",
        title: "Precision and recall of the spam filter",
        about: "The same filter: of the messages predicted as spam, how many are spam, at each recall.",
        commands: &["rosenblatt plot precision-recall sms-spam.tsv -o spam-precision.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "reliability",
        title: "Calibration of its probabilities",
        about: "Rows grouped by predicted probability: of those with 80 %, four in five should be spam.",
        commands: &["rosenblatt plot reliability sms-spam.tsv -o reliability.svg"],
        needs_mnist: false,
    },
    Piece {
        name: "digits",
        title: "What a perceptron sees in digits",
        about: "The weights of each digit against the rest, pixel by pixel (MNIST, averaged).",
        commands: &[
            "rosenblatt train mnist/train-images-idx3-ubyte.gz --epochs 3 --model digits.model",
            "rosenblatt plot weights --model digits.model -o digits.svg",
        ],
        needs_mnist: true,
    },
];

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let (mut mnist, mut program) = (None, None);
    for pair in words.chunks(2) {
        match pair {
            [flag, folder] if flag == "--mnist" => mnist = Some(PathBuf::from(folder)),
            [flag, path] if flag == "--program" => program = Some(PathBuf::from(path)),
            _ => return Err("usage: cargo xtask docs [--mnist DIR] [--program PATH]".to_owned()),
        }
    }
    let printed = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| format!("{what}: {error}")
    };
    let built = PathBuf::from("target/release/rosenblatt");
    if program.is_none() {
        let status = Command::new("cargo").args(["build", "--release", "-p", "rosenblatt-cli"]).status();
        if !status.map_err(printed("cargo"))?.success() {
            return Err("the program does not build".to_owned());
        }
    }
    let program = fs::canonicalize(program.unwrap_or(built)).map_err(printed("the program"))?;
    let bench = PathBuf::from("target/gallery");
    fs::create_dir_all(&bench).map_err(printed("target/gallery"))?;
    fs::create_dir_all(FOLDER).map_err(printed(FOLDER))?;
    for (name, content) in FILES {
        fs::write(bench.join(name), content).map_err(printed(name))?;
    }
    for name in BUNDLED {
        fs::copy(Path::new("crates/data/bundled").join(name), bench.join(name)).map_err(printed(name))?;
    }
    if let Some(folder) = &mnist {
        let files = fs::read_dir(folder).map_err(printed("--mnist"))?;
        fs::create_dir_all(bench.join("mnist")).map_err(printed("mnist"))?;
        for file in files.filter_map(Result::ok) {
            fs::copy(file.path(), bench.join("mnist").join(file.file_name())).map_err(printed("mnist"))?;
        }
    }
    for piece in PIECES.iter().filter(|piece| !piece.needs_mnist || mnist.is_some()) {
        say(piece.name);
        for command in piece.commands {
            draw(&program, &bench, command)?;
        }
        let picture = format!("{}.svg", piece.name);
        fs::copy(bench.join(&picture), Path::new(FOLDER).join(&picture)).map_err(printed(&picture))?;
    }
    fs::write(PAGE, page()).map_err(printed(PAGE))?;
    contact::draw(&program, &bench)
}

/// Runs a line of shell in which `rosenblatt` is the program just built.
fn draw(program: &Path, bench: &Path, command: &str) -> Result<(), String> {
    let folder = program.parent().unwrap_or(program).display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let outcome = Command::new("sh")
        .args(["-c", command])
        .current_dir(bench)
        .env("PATH", format!("{folder}:{path}"))
        .output()
        .map_err(|error| format!("sh: {error}"))?;
    if outcome.status.success() {
        return Ok(());
    }
    Err(format!("{command}\n{}", String::from_utf8_lossy(&outcome.stderr)))
}

/// The page that shows all pictures with their commands.
fn page() -> String {
    let mut page = String::from(
        "# Gallery\n\nEvery picture here was drawn by the commands below it (`cargo xtask docs` draws them all again). The data comes\n\
         with the project, in `crates/data/bundled`, or stands here:\n",
    );
    for (name, content) in FILES {
        let _ = write!(page, "\n`{name}`:\n\n```csv\n{content}```\n");
    }
    for piece in PIECES {
        let Piece { name, title, about, commands, .. } = piece;
        let _ = write!(page, "\n## {title}\n\n{about}\n\n![{title}](gallery/{name}.svg)\n\n```sh\n");
        for command in *commands {
            let _ = writeln!(page, "{command}");
        }
        page.push_str("```\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_the_pieces_and_every_picture_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(fs::read_to_string(root.join(PAGE)).unwrap(), page(), "run `cargo xtask docs`");
        for piece in PIECES {
            let picture = fs::read_to_string(root.join(FOLDER).join(format!("{}.svg", piece.name))).unwrap();
            assert!(picture.contains("<svg") && !picture.contains("<script"), "{}", piece.name);
            // A page shows them as images, in which no link is followed.
            assert!(!picture.contains("<a "), "{}", piece.name);
        }
    }
}
