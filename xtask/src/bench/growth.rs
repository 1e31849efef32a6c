//! How cost grows: the same work at 1, 4 and 16 times the rows or features, on one core and on two.

use super::measure::{Taken, measured};
use super::tools::{FOLDER, cores};
use super::workloads::make_table;
use crate::say;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One measurement, the least of several.
pub(super) struct Growth {
    /// What is multiplied: `rows` or `features`.
    pub(super) what: &'static str,
    pub(super) factor: usize,
    pub(super) cores: usize,
    pub(super) taken: Taken,
}

const FACTORS: [usize; 3] = [1, 4, 16];

/// Streams tables of every size through `ours`.
pub(super) fn measure(ours: &Path, scale: f64, n_repeats: usize) -> Result<Vec<Growth>, String> {
    let folder = PathBuf::from(FOLDER).join(format!("product/scale-{scale}"));
    super::folder(&folder)?;
    let rows = ((60_000.0 * scale) as usize).max(500);
    let mut growth: Vec<Growth> = Vec::new();
    for repeat in 0..n_repeats {
        for what in ["rows", "features"] {
            for factor in FACTORS {
                let (n_rows, width) = if what == "rows" { (rows * factor, 28) } else { (rows, 28 * factor) };
                let file = folder.join(format!("growth-{n_rows}x{width}.csv"));
                make_table(&file, n_rows, width)?;
                for n_cores in [1, 2].into_iter().filter(|&n_cores| n_cores <= cores()) {
                    let model = folder.join("growth.model");
                    let words = [
                        &ours.display().to_string(),
                        "train",
                        &file.display().to_string(),
                        "--label",
                        "label",
                        "--scale",
                        "none",
                        "--online",
                        "--classes=0,1",
                        "--threads",
                        &n_cores.to_string(),
                        "-q",
                        "--model",
                        &model.display().to_string(),
                    ]
                    .map(str::to_owned);
                    let taken = measured(&words, &folder, Some(n_cores), Duration::from_secs(600))?.taken;
                    say(&format!("{repeat} {what} x{factor} on {n_cores}: {:.3} s", taken.wall));
                    let is_same = |known: &&mut Growth| {
                        (known.what, known.factor, known.cores) == (what, factor, n_cores)
                    };
                    match growth.iter_mut().find(is_same) {
                        Some(known) if known.taken.wall <= taken.wall => {}
                        Some(known) => known.taken = taken,
                        None => growth.push(Growth { what, factor, cores: n_cores, taken }),
                    }
                }
            }
        }
    }
    Ok(growth)
}

/// A table of what was found.
pub(super) fn table(growth: &[Growth]) -> String {
    let mut text =
        "| multiplied | by | cores | wall s | times | CPU s | peak MiB |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for Growth { what, factor, cores, taken } in growth {
        let first = growth.iter().find(|first| first.what == *what && first.cores == *cores);
        let times = first.map_or(1.0, |first| taken.wall / first.taken.wall);
        let _ = writeln!(
            text,
            "| {what} | {factor} | {cores} | {:.3} | {times:.1} | {:.3} | {:.1} |",
            taken.wall,
            taken.cpu,
            taken.peak_kib as f64 / 1024.0
        );
    }
    text
}

/// A picture of it, both axes in powers: what grows in proportion is a line at 45 degrees.
pub(super) fn picture(growth: &[Growth]) -> String {
    let least = growth.iter().map(|point| point.taken.wall).fold(f64::INFINITY, f64::min);
    let place = |point: &Growth| {
        let across = 60.0 + (point.factor as f64).log2() * 100.0;
        let up = 300.0 - (point.taken.wall / least).log2() * 50.0;
        (across, up)
    };
    let mut svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 620 360\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"620\" height=\"360\" fill=\"white\"/>\n<path d=\"M60 20V310H480\" fill=\"none\" stroke=\"black\"/>\n".to_owned();
    for factor in FACTORS {
        let across = 60.0 + (factor as f64).log2() * 100.0;
        let _ = writeln!(svg, "<text x=\"{across}\" y=\"330\" text-anchor=\"middle\">{factor}x</text>");
    }
    let _ = writeln!(svg, "<text x=\"20\" y=\"16\">seconds (doubling every 50 units)</text>");
    let _ =
        writeln!(svg, "<text x=\"270\" y=\"350\" text-anchor=\"middle\">times the rows or features</text>");
    let lines = [
        ("rows", 1, "#1f77b4"),
        ("rows", 2, "#17becf"),
        ("features", 1, "#d62728"),
        ("features", 2, "#ff7f0e"),
    ];
    for (what, cores, colour) in lines {
        let points: Vec<&Growth> =
            growth.iter().filter(|point| point.what == what && point.cores == cores).collect();
        let Some(last) = points.last() else { continue };
        let path: Vec<String> =
            points.iter().map(|point| format!("{:.1},{:.1}", place(point).0, place(point).1)).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        let (across, up) = place(last);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{what}, {cores} core{} ({:.2} s)</text>",
            across + 6.0,
            up,
            if cores == 1 { "" } else { "s" },
            last.taken.wall
        );
    }
    svg.push_str("</svg>\n");
    svg
}
