//! What a process takes: wall and processor seconds and peak memory, as the system counts them.
//!
//! The measured process is the only child of a small one made for it (`bench measure`), since what the system says
//! of memory begins with what the parent held. It may be kept to the first cores.

use super::tools::context;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a process took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Taken {
    pub(super) wall: f64,
    pub(super) cpu: f64,
    pub(super) peak_kib: u64,
}

/// What became of a measured process.
pub(super) struct Outcome {
    pub(super) taken: Taken,
    pub(super) stdout: String,
}

/// Runs `command` to its end and measures it; `cores` keeps it to that many. It is ended after `most`.
pub(super) fn measured(
    command: &[String],
    folder: &Path,
    cores: Option<usize>,
    most: Duration,
) -> Result<Outcome, String> {
    let report = folder.join("measured");
    let mut measure = Command::new(super::own()?);
    measure.arg("measure").arg(&report);
    measure.arg(cores.unwrap_or(0).to_string()).arg(most.as_secs().to_string()).args(command);
    let output = measure.output().map_err(context("measuring"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        // The last line of the process, or the first of its error, comes before what is added here.
        let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
        let error = lines.iter().find(|line| line.starts_with("error: ")).or(lines.last());
        return Err(error
            .map_or("it failed and printed nothing", |line| line.trim_start_matches("error: "))
            .to_owned());
    }
    let text = std::fs::read_to_string(&report).map_err(context("reading what was measured"))?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let &[wall, cpu, peak] = numbers.as_slice() else { return Err(format!("measured: {text}")) };
    Ok(Outcome { taken: Taken { wall, cpu, peak_kib: peak as u64 }, stdout })
}

/// The measuring process: `REPORT CORES SECONDS PROGRAM ARGUMENT...`.
pub(super) fn run(words: &[String]) -> Result<(), String> {
    let [report, cores, seconds, program, arguments @ ..] = words else {
        return Err("expected REPORT CORES SECONDS PROGRAM".to_owned());
    };
    let cores: usize = cores.parse().map_err(|_| "cores")?;
    let most: u64 = seconds.parse().map_err(|_| "seconds")?;
    if cores > 0 {
        stay_on(cores);
    }
    let start = Instant::now();
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).spawn();
    let child = child.map_err(|error| format!("{program}: {error}"))?;
    let pid = i32::try_from(child.id()).map_err(|_| "a strange process number")?;
    let waiting = std::thread::spawn(move || wait(pid));
    while !waiting.is_finished() {
        if start.elapsed() > Duration::from_secs(most) {
            kill(pid);
            let _ = waiting.join();
            return Err(format!("it took more than {most} s"));
        }
        // Short beside what is measured, and the waiting thread reads the clock.
        std::thread::sleep(Duration::from_millis(1));
    }
    let (status, ended, cpu, peak_kib) = waiting.join().map_err(|_| "waiting failed")?;
    if status != 0 {
        return Err(format!("{program} ended with {status}"));
    }
    let wall = ended.duration_since(start).as_secs_f64();
    std::fs::write(report, format!("{wall} {cpu} {peak_kib}\n")).map_err(context("writing what was measured"))
}

/// Waits for a child; its status, when it ended, its processor seconds and its peak memory in KiB.
#[expect(unsafe_code, reason = "only this call of the system says what one child took")]
fn wait(pid: i32) -> (i32, Instant, f64, i64) {
    let mut status = 0;
    // SAFETY: a `rusage` is plain numbers, for which zeros are right.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values of this function, and the child is ours.
    unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    let ended = Instant::now();
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (status, ended, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss)
}

#[expect(unsafe_code, reason = "the child may be waited for by another thread only, not ended")]
fn kill(pid: i32) {
    // SAFETY: the child is ours and was not yet waited for.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Keeps this process and its children to the first cores.
#[expect(unsafe_code, reason = "the standard library cannot choose cores")]
fn stay_on(cores: usize) {
    // SAFETY: a set of cores is plain bits, for which zeros are right; it is filled and read within its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for core in 0..cores.min(64) {
            libc::CPU_SET(core, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}
