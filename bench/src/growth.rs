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

/// What a run kept of it.
pub(super) fn from_raw(raw: &serde_json::Value) -> Vec<Growth> {
    let point = |point: &serde_json::Value| {
        let taken = Taken {
            wall: point["wall"].as_f64()?,
            cpu: point["cpu"].as_f64()?,
            peak_kib: point["peak-kib"].as_u64()?,
        };
        let what = LINES.iter().map(|(what, ..)| *what).find(|what| point["multiplied"] == **what)?;
        let number = |name: &str| usize::try_from(point[name].as_u64()?).ok();
        Some(Growth { what, factor: number("by")?, cores: number("cores")?, taken })
    };
    raw["growth"].as_array().map(|points| points.iter().filter_map(point).collect()).unwrap_or_default()
}

/// What is drawn: what grows, on how many cores, in which colour.
const LINES: [(&str, usize, &str); 4] =
    [("rows", 1, "#1f77b4"), ("rows", 2, "#17becf"), ("features", 1, "#d62728"), ("features", 2, "#ff7f0e")];

/// Names at the ends of lines are at least so far from each other.
const NAME_HEIGHT: f64 = 16.0;

/// A picture of it, both axes in powers: what grows in proportion is a line at 45 degrees.
pub(super) fn picture(growth: &[Growth]) -> String {
    let walls = || growth.iter().map(|point| point.taken.wall);
    let lowest = walls().fold(f64::INFINITY, f64::min).log2().floor();
    let highest = walls().fold(0.0, f64::max).log2().ceil();
    let up = |seconds: f64| 310.0 - (seconds.log2() - lowest) * 50.0;
    let across = |factor: usize| 70.0 + (factor as f64).log2() * 100.0;
    let top = 310.0 - (highest - lowest) * 50.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {:.0} 700 {:.0}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect y=\"{:.0}\" width=\"700\" height=\"{:.0}\" fill=\"white\"/>\n",
        top - 50.0,
        430.0 - top,
        top - 50.0,
        430.0 - top,
    );
    let mut power = lowest;
    while power <= highest {
        let (seconds, y) = (power.exp2(), up(power.exp2()));
        let _ = writeln!(svg, "<path d=\"M70 {y:.1}H470\" stroke=\"#ddd\"/>");
        let _ =
            writeln!(svg, "<text x=\"62\" y=\"{:.1}\" text-anchor=\"end\">{seconds:.3} s</text>", y + 4.0);
        power += 1.0;
    }
    let _ = writeln!(svg, "<path d=\"M70 {top:.1}V310H470\" fill=\"none\" stroke=\"black\"/>");
    for factor in FACTORS {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"328\" text-anchor=\"middle\">{factor}x</text>",
            across(factor)
        );
    }
    let peaks = || growth.iter().map(|point| point.taken.peak_kib as f64 / 1024.0);
    let _ = writeln!(
        svg,
        "<text x=\"70\" y=\"{:.1}\">One pass over a stream: seconds, while memory stays at {:.0} to {:.0} MiB</text>",
        top - 24.0,
        peaks().fold(f64::INFINITY, f64::min),
        peaks().fold(0.0, f64::max),
    );
    let _ =
        writeln!(svg, "<text x=\"270\" y=\"350\" text-anchor=\"middle\">times the rows or features</text>");
    let mut names = Vec::new();
    for (what, cores, colour) in LINES {
        let points: Vec<&Growth> =
            growth.iter().filter(|point| point.what == what && point.cores == cores).collect();
        let Some(last) = points.last() else { continue };
        let place = |point: &&Growth| format!("{:.1},{:.1}", across(point.factor), up(point.taken.wall));
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.iter().map(place).collect::<Vec<_>>().join(" ")
        );
        let plural = if cores == 1 { "" } else { "s" };
        let name = format!("{what}, {cores} core{plural} ({:.2} s)", last.taken.wall);
        names.push((up(last.taken.wall) + 4.0, name, colour));
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = f64::NEG_INFINITY;
    for (y, name, colour) in names {
        let y = y.max(least);
        least = y + NAME_HEIGHT;
        let _ = writeln!(svg, "<text x=\"478\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>");
    }
    svg.push_str("</svg>\n");
    svg
}
