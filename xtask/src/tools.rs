//! What all benchmarks share: files made once, random numbers, peers in a Python environment, and words about the
//! machine.

use crate::say;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where generated files and the Python environment are.
pub const FOLDER: &str = "target/bench-data";

/// Says what was being done when the system refused.
pub fn context(what: &str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{what}: {error}")
}

/// What follows a word of the command line.
pub fn after<'a>(words: &'a [String], word: &str) -> Option<&'a String> {
    words.iter().skip_while(|other| *other != word).nth(1)
}

/// The number after a word of the command line.
pub fn number<T: std::str::FromStr>(words: &[String], word: &str, default: T) -> Result<T, String> {
    after(words, word).map_or(Ok(default), |text| text.parse().map_err(|_| format!("{word} wants a number")))
}

/// Makes a file unless it is there, whole.
pub fn generate(
    path: &Path,
    write: impl Fn(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), String> {
    if path.exists() {
        return Ok(());
    }
    say(&format!("generating {}", path.display()));
    let unfinished = path.with_extension("part");
    let file = File::create(&unfinished).map_err(context("generating"))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&mut out).and_then(|()| out.flush()).map_err(context("generating"))?;
    fs::rename(&unfinished, path).map_err(context("generating"))
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Uniform in `0..1`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Close enough to normal: the sum of twelve uniforms.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A Python with these packages in it, as far as they can be had.
pub fn python(packages: &[&str]) -> Option<PathBuf> {
    let folder = PathBuf::from(FOLDER).join("venv");
    let python = folder.join("bin/python");
    if !python.exists() {
        say("making a Python environment");
        Command::new("python3").args(["-m", "venv"]).arg(&folder).status().ok()?;
    }
    for package in packages {
        let is_there = Command::new(&python).args(["-m", "pip", "show", "-q", package]).output();
        if !is_there.is_ok_and(|output| output.status.success()) {
            say(&format!("installing {package}"));
            let _ = Command::new(&python).args(["-m", "pip", "install", "-q", package]).status();
        }
    }
    python.exists().then_some(python)
}

/// Builds a package for release.
pub fn build(what: &[&str]) -> Result<(), String> {
    say(&format!("building {} for release", what.join(" ")));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--quiet", "--release"]).args(what).status();
    if built.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err("the release build failed".to_owned())
    }
}

/// Runs to the end; what it printed.
pub fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(text.lines().last().unwrap_or("it failed or is not there").to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a program says of itself, in one line; nothing if it is not there.
pub fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().replace('\n', ", ");
    (!text.is_empty()).then_some(text)
}

/// The versions of these Python packages, of Debian packages, and of the compiler.
pub fn versions(python_packages: &[&str], debian_packages: &[&str]) -> String {
    let script = "import importlib.metadata as m, sys
for p in sys.argv[1:]:
    try: print(p, m.version(p))
    except Exception: pass";
    let python = PathBuf::from(FOLDER).join("venv/bin/python");
    let mut known = vec![
        ask("rustc", &["--version"]),
        ask(&python.to_string_lossy(), &[&["-c", script], python_packages].concat()),
    ];
    for package in debian_packages {
        known.push(ask("dpkg-query", &["-W", "-f", "${Package} ${Version}", package]));
    }
    known.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The processor, by name, and the number of cores.
pub fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    format!("{} cores, {}", cores(), model.trim_start_matches([' ', '\t', ':']))
}

/// How busy the machine is.
pub fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

/// How many cores there are.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The date of today, UTC, from the days since 1970 (Hinnant's `civil_from_days`).
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Prints what a process was asked for.
pub fn answer(text: &str) {
    println!("{text}");
}
