//! Nothing is lost: signals, kills, full disks, two at once; and the same bits whatever the way.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Rows of five features that no hyperplane separates, as numbers in text.
fn rows(n_rows: usize) -> Vec<(u32, [String; 5])> {
    let mut state = 7_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 1000
    };
    (0..n_rows)
        .map(|_| {
            let digits: [u64; 5] = std::array::from_fn(|_| next());
            let noisy = next() < 120;
            let class = u32::from((digits[0] + digits[1] / 2 > 700) != noisy);
            (class, digits.map(|digits| format!("{}.{:03}", digits % 3, digits)))
        })
        .collect()
}

fn libsvm(rows: &[(u32, [String; 5])]) -> String {
    let mut text = String::new();
    for (class, values) in rows {
        let _ = write!(text, "{class}");
        for (feature, value) in values.iter().enumerate().filter(|(_, value)| *value != "0.000") {
            let _ = write!(text, " {}:{value}", feature + 1);
        }
        text.push('\n');
    }
    text
}

fn csv(rows: &[(u32, [String; 5])]) -> String {
    let mut text = "label,f1,f2,f3,f4,f5\n".to_owned();
    for (class, values) in rows {
        let _ = writeln!(text, "{class},{}", values.join(","));
    }
    text
}

/// Starts the program in the bench's folder without waiting for it.
fn start(bench: &Bench, words: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rosenblatt"))
        .args(words.split_whitespace())
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{} never came", path.display());
        sleep(Duration::from_millis(1));
    }
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn visible_and_hidden(bench: &Bench) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(bench.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "crates")
        .collect();
    names.sort();
    names
}

#[test]
fn a_signal_leaves_a_checkpoint_and_resuming_gives_the_same_bits() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(6000)));
    let train = "train t.svm --epochs 120 --patience 60 --seed 3 --holdout 0 --checkpoint-every 1 --quiet";
    bench.ok(&format!("rosenblatt {train} --model whole.model"));
    let whole = fs::read(bench.path("whole.model")).unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let child = start(&bench, &format!("{train} --model t.model"));
        wait_for(&bench.path("t.model.checkpoint"));
        let start_of_stop = Instant::now();
        send(&child, signal);
        let (ended_with, out, stderr) = ended(child);
        assert!(start_of_stop.elapsed() < Duration::from_secs(5));
        assert_eq!(ended_with, Some(code), "{stderr}");
        assert!(
            stderr.contains("a checkpoint is in t.model.checkpoint") && stderr.contains("--resume"),
            "{stderr}"
        );
        assert_eq!(out, "");
        assert!(!bench.path("t.model").exists());
        let other = train.replace("--epochs 120", "--epochs 121");
        let refused = bench.run(&format!("rosenblatt {other} --model t.model --resume"));
        assert_eq!(refused.code, Some(1), "{}", refused.all());
        assert!(refused.stderr.contains("`epochs` was 120 and is 121"), "{}", refused.stderr);
        bench.ok(&format!("rosenblatt {train} --model t.model --resume"));
        assert!(fs::read(bench.path("t.model")).unwrap() == whole, "{signal}");
        assert_eq!(visible_and_hidden(&bench), ["t.model", "t.svm", "whole.model"]);
        fs::remove_file(bench.path("t.model")).unwrap();
    }
}

/// Without `--checkpoint-every` a signal makes a checkpoint all the same, and never through a link that stands in its place.
#[cfg(unix)]
#[test]
fn a_checkpoint_by_a_signal_is_written_through_no_link() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(6000)));
    let train = "train t.svm -a perceptron --epochs 1000000 --patience 0 --holdout 0 --quiet --model t.model";
    for name in ["t.model.checkpoint", "t.model.checkpoint.1"] {
        bench.write("victim", "precious");
        symlink("victim", bench.path(name)).unwrap();
        let refused = bench.run(&format!("timeout 60 rosenblatt {train}"));
        assert!(refused.code == Some(1) && refused.stderr.contains("is a link to"), "{}", refused.all());
        fs::remove_file(bench.path(name)).unwrap();
        // It is planted while the run is at work.
        let child = start(&bench, train);
        wait_for(&bench.path(".t.model.lock"));
        sleep(Duration::from_secs(2));
        symlink("victim", bench.path(name)).unwrap();
        send(&child, "INT");
        let (code, _, stderr) = ended(child);
        assert_eq!(code, Some(130), "{stderr}");
        assert_eq!(fs::read(bench.path("victim")).unwrap(), b"precious", "{name}: {stderr}");
        let own = bench.path("t.model.checkpoint");
        let is_kept = own.is_file() && !own.is_symlink();
        assert_eq!(is_kept, stderr.contains("a checkpoint is in t.model.checkpoint"), "{name}: {stderr}");
        assert!(is_kept || stderr.contains("stopped without a checkpoint"), "{name}: {stderr}");
        for left in ["t.model.checkpoint", "t.model.checkpoint.1"] {
            let _ = fs::remove_file(bench.path(left));
        }
    }
}

#[test]
fn a_run_over_rows_on_disk_resumes_to_the_bit() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(6000)));
    let train = "train t.svm --epochs 120 --patience 60 --seed 3 --holdout 0 --order given --checkpoint-every 700rows --quiet";
    bench.ok(&format!("rosenblatt {train} --model whole.model"));
    let on_disk = format!("{train} --memory 200KiB --model t.model");
    let child = start(&bench, &on_disk);
    wait_for(&bench.path("t.model.checkpoint"));
    send(&child, "INT");
    let (code, _, stderr) = ended(child);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(
        stderr.contains("a checkpoint is in t.model.checkpoint") && stderr.contains("--resume"),
        "{stderr}"
    );
    bench.ok(&format!("rosenblatt {on_disk} --resume"));
    assert!(fs::read(bench.path("t.model")).unwrap() == fs::read(bench.path("whole.model")).unwrap());
    assert_eq!(visible_and_hidden(&bench), ["t.model", "t.svm", "whole.model"]);
}

#[test]
fn a_spoiled_checkpoint_makes_way_for_the_one_before() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(6000)));
    let train = "train t.svm --epochs 120 --patience 0 --checkpoint-every 1 --quiet";
    bench.ok(&format!("rosenblatt {train} --model whole.model"));
    let child = start(&bench, &format!("{train} --model t.model"));
    wait_for(&bench.path("t.model.checkpoint.1"));
    // Not killed, which might hit the moment at which one has made way and the next is not yet there.
    send(&child, "INT");
    let (code, _, stderr) = ended(child);
    assert_eq!(code, Some(130), "{stderr}");
    let checkpoint = bench.path("t.model.checkpoint");
    let bytes = fs::read(&checkpoint).unwrap();
    fs::write(&checkpoint, &bytes[..bytes.len() / 2]).unwrap();
    let resumed = bench.run(&format!("rosenblatt {train} --model t.model --resume"));
    assert_eq!(resumed.code, Some(0), "{}", resumed.all());
    assert!(
        resumed.stderr.contains("cut or added to") && resumed.stderr.contains("checkpoint.1"),
        "{}",
        resumed.stderr
    );
    assert_eq!(fs::read(bench.path("t.model")).unwrap(), fs::read(bench.path("whole.model")).unwrap());
    assert_eq!(visible_and_hidden(&bench), ["t.model", "t.svm", "whole.model"]);
}

#[test]
fn a_stream_that_falls_silent_is_not_lost_by_a_signal() {
    use std::io::Write as _;
    let bench = Bench::new();
    let text = libsvm(&rows(9000));
    bench.write("t.svm", &text);
    let train = "train - --format libsvm --online --classes 0,1 --quiet";
    bench.ok(&format!("rosenblatt {train} --model whole.model < t.svm"));
    let mut child = start(&bench, &format!("{train} --model t.model --checkpoint-every 1000rows"));
    let mut pipe = child.stdin.take().unwrap();
    // Half of the stream, and then silence.
    pipe.write_all(&text.as_bytes()[..text.len() / 2]).unwrap();
    pipe.flush().unwrap();
    sleep(Duration::from_millis(300));
    send(&child, "INT");
    let (code, _, stderr) = ended(child);
    drop(pipe);
    assert_eq!(code, Some(130), "{stderr}");
    if bench.path("t.model.checkpoint").exists() {
        assert!(stderr.contains("a checkpoint is in"), "{stderr}");
    }
    bench.ok(&format!("rosenblatt {train} --model t.model --resume < t.svm"));
    assert!(fs::read(bench.path("t.model")).unwrap() == fs::read(bench.path("whole.model")).unwrap());
    assert_eq!(visible_and_hidden(&bench), ["t.model", "t.svm", "whole.model"]);
}

#[test]
fn an_online_run_that_was_killed_resumes_to_the_bit_and_refuses_other_rows() {
    let bench = Bench::new();
    let text = libsvm(&rows(200_000));
    bench.write("t.svm", &text);
    bench.write("u.svm", text.replacen("0.", "1.", 1));
    let train = "--online --quiet --checkpoint-every 5000rows";
    bench.ok(&format!("rosenblatt train t.svm {train} --model whole.model"));
    let mut child = start(&bench, &format!("train t.svm {train} --model t.model"));
    wait_for(&bench.path("t.model.checkpoint"));
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = bench.run(&format!("rosenblatt train u.svm {train} --model t.model --resume"));
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(refused.stderr.contains("rows are not those it learned from"), "{}", refused.stderr);
    bench.ok(&format!("rosenblatt train t.svm {train} --model t.model --resume"));
    assert!(fs::read(bench.path("t.model")).unwrap() == fs::read(bench.path("whole.model")).unwrap());
}

#[test]
fn predictions_stop_between_two_lines() {
    use std::io::Write as _;
    let bench = Bench::new();
    let text = csv(&rows(3000));
    bench.write("t.csv", &text);
    bench.ok("rosenblatt train t.csv --quiet --model t.model");
    let mut child = start(&bench, "predict - --format csv --model t.model --scores");
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(text.as_bytes()).unwrap();
    sleep(Duration::from_millis(200));
    send(&child, "INT");
    let (code, out, _) = ended(child);
    drop(pipe);
    assert_eq!(code, Some(130));
    assert!(out.is_empty() || out.ends_with('\n'), "{out}");
}

#[test]
fn two_signals_stop_at_once() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(6000)));
    let child =
        start(&bench, "train t.svm --epochs 100000 --patience 0 --checkpoint-every 1 --model t.model");
    wait_for(&bench.path("t.model.checkpoint"));
    let start = Instant::now();
    send(&child, "INT");
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert_eq!(ended(child).0, Some(130));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_second_trainer_of_a_model_is_told_of_the_first_and_no_lock_outlives_its_owner() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(300)));
    // It waits for its stdin, and holds the model meanwhile.
    let mut first = start(&bench, "train - --format libsvm --model t.model");
    wait_for(&bench.path(".t.model.lock"));
    sleep(Duration::from_millis(50));
    let second = bench.run("rosenblatt train t.svm --model t.model");
    assert_eq!(second.code, Some(1), "{}", second.all());
    let expected = format!("another training, process {}, is at work on it", first.id());
    assert!(second.stderr.contains(&expected), "{}", second.stderr);
    first.kill().unwrap();
    first.wait().unwrap();
    bench.write(".t.model.999-0.tmp", "left over");
    bench.ok("rosenblatt train t.svm --quiet --model t.model");
    assert_eq!(visible_and_hidden(&bench), ["t.model", "t.svm"]);
}

#[test]
fn the_previous_model_is_kept_on_request() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(300)));
    let train = "rosenblatt train t.svm --quiet --keep-previous --model t.model --seed";
    for seed in 1..=3 {
        bench.ok(&format!("{train} {seed} && cp t.model {seed}.model"));
    }
    assert_eq!(fs::read(bench.path("t.model")).unwrap(), fs::read(bench.path("3.model")).unwrap());
    assert_eq!(fs::read(bench.path("t.model.1")).unwrap(), fs::read(bench.path("2.model")).unwrap());
    assert_eq!(
        visible_and_hidden(&bench),
        ["1.model", "2.model", "3.model", "t.model", "t.model.1", "t.svm"]
    );
}

#[test]
fn a_model_that_cannot_be_written_is_said_before_training_and_a_full_disk_spoils_nothing() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(300)));
    bench.ok("rosenblatt train t.svm --quiet --model t.model && cp t.model old.model && mkdir folder");
    // Data that does not exist: if the model is complained of, it was looked at first.
    for (target, expected) in [
        ("/proc/t.model", "no file can be made in its folder"),
        ("/dev/full", "a model is a plain file"),
        ("folder", "expected a file to write"),
        ("t.svm/t.model", "no file can be made in its folder"),
    ] {
        let done = bench.run(&format!("rosenblatt train missing.svm --model {target}"));
        assert_eq!(done.code, Some(1), "{}", done.all());
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    }
    // A limit on file sizes fails writes as a full disk does, and needs no rights.
    let limited = "ulimit -f 1; rosenblatt train t.svm --quiet --seed 9";
    let done = bench.run(&format!("{limited} --readout voted --model t.model"));
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(done.stderr.contains("what was there before is untouched"), "{}", done.stderr);
    assert_eq!(fs::read(bench.path("t.model")).unwrap(), fs::read(bench.path("old.model")).unwrap());
    assert_eq!(visible_and_hidden(&bench), ["folder", "old.model", "t.model", "t.svm"]);
    // A link to a model is neither followed nor replaced.
    let done =
        bench.run("ln -s t.model link.model && rosenblatt train t.svm --quiet --seed 4 --model link.model");
    assert!(done.code == Some(1) && done.stderr.contains("is a link to t.model"), "{}", done.all());
    assert!(bench.path("link.model").is_symlink());
    assert_eq!(fs::read(bench.path("t.model")).unwrap(), fs::read(bench.path("old.model")).unwrap());
}

#[test]
fn threads_and_formats_do_not_change_a_bit_of_the_model() {
    let bench = Bench::new();
    let rows = rows(4000);
    bench.write("t.svm", libsvm(&rows));
    bench.write("t.csv", csv(&rows));
    bench.write("t.tsv", csv(&rows).replace(',', "\t"));
    bench.ok("gzip -k t.csv && gzip -k t.svm");
    bench.ok("rosenblatt convert t.csv t.csv.zst");
    bench.ok("rosenblatt convert t.csv t.parquet");
    // Standard scales move the zero, which rows that leave zeros out cannot follow.
    for scale in ["standard", "max-abs", "none"] {
        let train = |source: &str, name: &str| {
            let train = format!("rosenblatt train --scale {scale} --quiet --seed 5");
            bench.ok(&match source.strip_prefix("< ") {
                Some(file) => format!("{train} - --model {name} < {file}"),
                None => format!("{train} {source} --model {name}"),
            });
            fs::read(bench.path(name)).unwrap()
        };
        let expected = train("t.csv", "t.model");
        let ways = [
            "t.csv --threads 1",
            "t.csv --threads 2",
            "t.csv --threads 4",
            "t.tsv",
            "t.svm",
            "t.svm --threads 4",
            "t.csv.gz",
            "t.svm.gz",
            "t.csv.zst",
            "t.parquet",
            "< t.csv",
            "< t.svm",
        ];
        let weights = |name: &str| {
            let all = bench.ok(&format!("rosenblatt inspect {name} --weights"));
            all.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).skip(1).collect::<Vec<_>>()
        };
        for way in ways.into_iter().filter(|way| scale != "standard" || !way.contains("svm")) {
            let other = train(way, "other.model");
            // A table also keeps which of its columns matter; rows of libsvm have none.
            let is_same = if way.contains("svm") {
                weights("other.model") == weights("t.model")
            } else {
                other == expected
            };
            assert!(is_same, "{way} with {scale}");
        }
    }
    // The one model serves all of them.
    let labels = bench.ok("rosenblatt predict t.svm --model t.model");
    for file in ["t.csv", "t.csv.gz", "t.tsv"] {
        assert_eq!(bench.ok(&format!("rosenblatt predict {file} --model t.model")), labels, "{file}");
    }
    bench.ok("sed 's/f\\([0-9]\\)/x\\1/g; s/label/class/' t.csv > renamed.csv");
    assert_eq!(bench.ok("rosenblatt predict renamed.csv --model t.model"), labels);
    assert_eq!(bench.ok("cut -d, -f2- t.csv | rosenblatt predict - --model t.model"), labels);
    let measured = bench.ok("rosenblatt evaluate t.csv --model t.model");
    let as_libsvm = bench.ok("rosenblatt evaluate t.svm --model t.model");
    assert_eq!(measured.replace("t.csv", "t.svm"), as_libsvm);
}

/// The samples that other programs wrote: one small table in every format.
#[test]
fn a_table_and_its_numbers_alone_give_the_same_model() {
    let bench = Bench::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/data");
    let files = [
        "table.csv",
        "table.jsonl",
        "table.svm",
        "table.parquet",
        "zstd.parquet",
        "gzip.parquet",
        "table.arrow",
    ];
    for file in &files {
        fs::copy(samples.join(file), bench.path(file)).unwrap();
    }
    // scikit-learn writes classes as numbers.
    bench.ok("sed -i 's/^0 /ant /; s/^1 /bee /; s/^2 /cow /' table.svm");
    let mut expected = None;
    for file in files {
        bench.ok(&format!("rosenblatt train {file} --scale none --holdout 0 --quiet --model t.model"));
        let model = fs::read(bench.path("t.model")).unwrap();
        assert!(*expected.get_or_insert_with(|| model.clone()) == model, "{file}");
    }
}

#[test]
fn ten_resume_points_end_in_the_same_bits() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(3000)));
    let train = "train t.svm --epochs 30 --patience 12 --holdout 0 --readout voted --checkpoint-every 1000rows --quiet";
    bench.ok(&format!("rosenblatt {train} --model whole.model"));
    let mut n_resumed = 0;
    loop {
        let mut child = start(&bench, &format!("{train} --resume --model t.model"));
        let before = fs::read(bench.path("t.model.checkpoint")).ok();
        // Stopped as soon as it has come further than the last time.
        while !bench.path("t.model").exists()
            && fs::read(bench.path("t.model.checkpoint")).ok() == before
            && child.try_wait().unwrap().is_none()
        {
            sleep(Duration::from_millis(1));
        }
        let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).status();
        let (code, _, printed) = ended(child);
        assert!(code.is_none_or(|code| code == 0), "{printed}");
        if bench.path("t.model").exists() {
            break;
        }
        n_resumed += 1;
        if n_resumed == 10 {
            bench.ok(&format!("rosenblatt {train} --resume --model t.model"));
            break;
        }
    }
    assert!(n_resumed >= 5, "{n_resumed}");
    assert!(fs::read(bench.path("t.model")).unwrap() == fs::read(bench.path("whole.model")).unwrap());
}

/// Where the trainings that are judged say how long to learn, a run that goes on learns for as long.
#[test]
fn a_run_that_stops_as_judged_resumes_to_the_bit() {
    let bench = Bench::new();
    bench.write("t.svm", libsvm(&rows(3000)));
    let train = "train t.svm --epochs 30 --patience 12 --holdout 0.2 --checkpoint-every 1000rows --quiet";
    bench.ok(&format!("rosenblatt {train} --model whole.model"));
    for _ in 0..2 {
        let mut child = start(&bench, &format!("{train} --resume --model t.model"));
        while !bench.path("t.model.checkpoint").exists() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).status();
        let _ = ended(child);
        bench.ok(&format!("rosenblatt {train} --resume --model t.model"));
        assert!(fs::read(bench.path("t.model")).unwrap() == fs::read(bench.path("whole.model")).unwrap());
        fs::remove_file(bench.path("t.model")).unwrap();
    }
}

/// A weight that a rule takes as a number of visits has a limit, which the message names.
#[test]
fn weights_beyond_all_visits_are_told_and_end() {
    let bench = Bench::new();
    bench.write("q.svm", "0 1:1 2:0.5\n1 1:-1 2:0.3\n0 1:0.5\n1 2:-2\n".repeat(3));
    let train =
        "timeout 60 rosenblatt train q.svm -a aggressive-romma --precision f64 --class-weight 0=1e300";
    for how in ["", "--online", "--memory 1KiB"] {
        let done = bench.run(&format!("{train} {how} --model q.model"));
        assert!(matches!(done.code, Some(0 | 1)), "{how}: {:?} {}", done.code, done.all());
        assert!(!how.is_empty() || done.all().contains("is met 4096 times on end"), "{}", done.all());
    }
}
