//! No slip of the hand destroys anything: outputs over inputs, devices, links, modes, and what a killed run leaves.

use crate::bench::Bench;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Rows that take a moment to learn, and a model of them.
fn prepared() -> Bench {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{}\n", row % 2, (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..300).map(line).collect::<String>());
    bench.write("xor.csv", "a,b,class\n1,1,even\n1,-1,odd\n-1,1,odd\n-1,-1,even\n");
    bench.ok("rosenblatt train d.svm --algorithm perceptron --model m.model --quiet");
    bench
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The files of the bench, hidden ones too, with their bytes.
fn files(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap());
    let plain = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> = plain
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn no_output_is_written_over_an_input_or_another_output() {
    let bench = prepared();
    symlink("d.svm", bench.path("link.svm")).unwrap();
    fs::hard_link(bench.path("d.svm"), bench.path("hard.svm")).unwrap();
    fs::copy(bench.path("d.svm"), bench.path("data.model")).unwrap();
    fs::copy(bench.path("m.model"), bench.path("rep.model")).unwrap();
    fs::copy(bench.path("d.svm"), bench.path("rep.html")).unwrap();
    fs::create_dir(bench.path("folder")).unwrap();
    fs::copy(bench.path("d.svm"), bench.path("folder/part.svm")).unwrap();
    let before = files(&bench);
    for line in [
        "train d.svm --model d.svm",
        "train d.svm --model link.svm",
        "train link.svm --model d.svm",
        "train d.svm --model hard.svm",
        "train d.svm --model ./folder/../d.svm",
        "train data.model --format libsvm",
        "train d.svm --model m.model --export json m.model",
        "train d.svm --model new --export json ./new",
        "train d.svm --model new --export json d.svm",
        "train d.svm --model new --memory 1KiB --cache d.svm",
        "train d.svm --model m.model --memory 1KiB --cache m.model",
        "train m.model.checkpoint --format libsvm --model m.model",
        "train folder/part.svm --model folder/part.svm",
        "train 'folder/*.svm' --model folder/part.svm",
        "tune d.svm --model d.svm",
        "predict d.svm --model m.model --output d.svm --to csv",
        "predict xor.csv --model m.model --output xor.csv",
        "predict d.svm --model m.model --output m.model --to csv",
        "predict d.svm --model m.model --output link.svm --to csv",
        "report d.svm --model m.model -o m.model",
        "report d.svm --model m.model -o d.svm",
        "report rep.html --model rep.model --format libsvm",
        "plot boundary d.svm -o d.svm --to svg",
        "plot boundary d.svm --model m.model -o m.model --to svg",
        "certify d.svm --certificate d.svm",
        "inspect m.model --export json m.model",
        "convert d.svm d.svm",
        "convert d.svm link.svm",
        "convert d.svm out.svm --split 0.5 --test-out out.svm",
        "convert d.svm out.svm --split 0.5 --test-out d.svm",
    ] {
        if line.contains("m.model.checkpoint") {
            fs::copy(bench.path("d.svm"), bench.path("m.model.checkpoint")).unwrap();
        }
        let done = bench.run(&format!("rosenblatt {line}"));
        let _ = fs::remove_file(bench.path("m.model.checkpoint"));
        assert_eq!(done.code, Some(2), "{line}\n{}", done.all());
        assert!(done.stderr.contains("would be written over"), "{line}\n{}", done.all());
        assert_eq!(files(&bench), before, "{line}");
    }
    // A file that is no cache is not taken for one.
    let done = bench.run("rosenblatt train d.svm --model new --memory 1KiB --cache xor.csv");
    assert!(done.code == Some(1) && done.stderr.contains("a cache would take its place"), "{}", done.all());
    assert_eq!(files(&bench), before);
}

#[test]
fn pipes_and_standard_output_are_written_to_and_never_replaced() {
    let bench = prepared();
    let expected = bench.ok("rosenblatt predict d.svm --model m.model --to csv");
    for name in ["/proc/self/fd/1", "/dev/fd/1", "-"] {
        let line = format!("rosenblatt predict d.svm --model m.model --to csv --output {name}");
        assert_eq!(bench.ok(&format!("{line} | cat")), expected, "{name}");
        bench.ok(&format!("echo before > out; {line} >> out; echo after >> out"));
        let out = fs::read_to_string(bench.path("out")).unwrap();
        assert_eq!(out, format!("before\n{expected}after\n"), "{name}");
    }
    bench.ok("mkfifo pipe");
    for line in [
        "predict d.svm --model m.model --to csv --output pipe",
        "convert d.svm pipe --to libsvm",
        "certify xor.csv --certificate pipe",
        "inspect m.model --export json pipe",
        "report d.svm --model m.model -o pipe",
        "plot boundary d.svm -o pipe --to svg",
        "train d.svm --model other.model --export json pipe",
    ] {
        let got = bench.ok(&format!(
            "cat pipe > got 2> /dev/null & rosenblatt {line} > /dev/null && wait && test -p pipe && wc -c < got"
        ));
        assert!(got.trim().parse::<u64>().unwrap() > 10, "{line}: {got}");
    }
    // What needs a place beside itself, and one before it, is a plain file.
    let done = bench.run("rosenblatt train d.svm --model pipe");
    assert!(done.code == Some(1) && done.stderr.contains("a plain file"), "{}", done.all());
    bench.ok("test -p pipe");
}

#[test]
fn a_folder_that_is_not_there_is_said_before_the_work_begins() {
    let bench = prepared();
    for line in [
        "train d.svm --model newdir/",
        "train d.svm --model newdir/m.model",
        "train d.svm --model m.model --export json newdir/x.json",
        "report d.svm --model m.model -o newdir/",
        "predict d.svm --model m.model --to csv --output newdir/out.csv",
        "certify xor.csv --certificate newdir/proof.json",
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert!(done.code == Some(1) && done.stderr.contains("newdir"), "{line}\n{}", done.all());
        assert!(!done.all().contains("epoch"), "{line}\n{}", done.all());
    }
}

#[test]
fn links_are_not_followed_and_modes_are_kept() {
    let bench = prepared();
    bench.write("victim", "precious");
    symlink("victim", bench.path(".m.model.lock")).unwrap();
    let done = bench.run("rosenblatt train d.svm --model m.model");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert_eq!(fs::read(bench.path("victim")).unwrap(), b"precious");
    fs::remove_file(bench.path(".m.model.lock")).unwrap();
    for (file, line) in [
        ("m.model", "train d.svm --model m.model --quiet"),
        ("out.csv", "predict d.svm --model m.model --output out.csv"),
        ("m.html", "report d.svm --model m.model"),
        ("proof.json", "certify xor.csv --certificate proof.json"),
    ] {
        bench.ok(&format!("rosenblatt {line}"));
        fs::set_permissions(bench.path(file), fs::Permissions::from_mode(0o600)).unwrap();
        bench.ok(&format!("rosenblatt {line}"));
        assert_eq!(mode(&bench.path(file)), 0o600, "{line}");
    }
    // A cache of a private file is private.
    let line = "rosenblatt train d.svm --holdout 0 --model c.model --memory 1KiB --quiet";
    let _ = bench.run(&format!("umask 022; {line} --cache rows.cache"));
    if bench.path("rows.cache").exists() {
        assert_eq!(mode(&bench.path("rows.cache")), 0o600);
    }
}

#[test]
fn a_run_over_rows_on_disk_that_is_killed_leaves_no_rows_behind() {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{} 3:0.5\n", row % 2, (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..60_000).map(line).collect::<String>());
    fs::create_dir(bench.path("tmp")).unwrap();
    bench.write("tmp/.rosenblatt-cache.0123456789abcdef.tmp", "rows of a run that was killed");
    for wait in ["0.05", "0.3", "0.8"] {
        let script = format!(
            "TMPDIR=$PWD/tmp rosenblatt train d.svm --model k.model --memory 800KiB --epochs 100000 --patience 0 --quiet & \
             sleep {wait}; kill -9 $!; wait $!; ls -A tmp | wc -l"
        );
        let done = bench.run(&script);
        let left: u32 = done.stdout.trim().parse().unwrap_or_else(|_| panic!("{}", done.all()));
        // At most what was being made in that very moment, and the next run clears it.
        assert!(left <= 1, "{left} files");
    }
    bench.ok("TMPDIR=$PWD/tmp rosenblatt train d.svm --model k2.model --memory 800KiB --epochs 1 --quiet");
    assert_eq!(fs::read_dir(bench.path("tmp")).unwrap().count(), 0);
}

/// What the bench's folder holds, beside what it came with.
fn names(bench: &Bench) -> Vec<String> {
    let entries = fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name != "crates");
    names.sort();
    names
}

#[test]
fn whatever_the_machine_refuses_is_said_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{} 3:0.5\n", row % 2, (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..200_000).map(line).collect::<String>());
    bench.ok("rosenblatt train d.svm --algorithm perceptron --epochs 1 --model m.model --quiet");
    let before = fs::read(bench.path("m.model")).unwrap();
    let commands = [
        "train d.svm --algorithm perceptron --epochs 3 --model m.model --quiet",
        "train d.svm --memory 100KiB --cache c.cache --epochs 3 --model m.model --quiet",
        "train d.svm --online --model m.model --quiet",
        "predict d.svm --model m.model --to csv --output out.csv",
        "convert d.svm out.csv",
    ];
    let mut refused = 0;
    for limit in [
        "ulimit -v 40000",
        "ulimit -v 120000",
        "ulimit -v 200000",
        "ulimit -v 300000",
        "ulimit -f 1",
        "ulimit -s 64",
        "ulimit -n 6",
    ] {
        for command in commands {
            let done = bench.run(&format!("{limit}; rosenblatt {command}"));
            let printed = format!("{limit}; {command}\n{:?}\n{}", done.code, done.all());
            assert!(matches!(done.code, Some(0 | 1)) || limit.contains("-v 40000"), "{printed}");
            assert!(!done.all().contains("panicked") && !done.all().contains("backtrace"), "{printed}");
            if done.code == Some(1) {
                refused += 1;
                assert!(done.stderr.starts_with("error: "), "{printed}");
                assert_eq!(fs::read(bench.path("m.model")).unwrap(), before, "{printed}");
                let mut left = names(&bench);
                left.retain(|name| !["c.cache", "out.csv"].contains(&name.as_str()));
                assert_eq!(left, ["d.svm", "m.model"], "{printed}");
            } else {
                fs::write(bench.path("m.model"), &before).unwrap();
            }
            for made in ["c.cache", "out.csv"] {
                let _ = fs::remove_file(bench.path(made));
            }
        }
    }
    assert!(refused >= 10, "{refused}");
}

#[test]
fn what_cannot_be_loaded_again_is_not_saved_over_what_can() {
    let bench = prepared();
    let before = fs::read(bench.path("m.model")).unwrap();
    for options in [
        "--rate 1e308",
        "--rate 1e-320",
        "--class-weight 1=1e308",
        "--bias 'augmented(1e-150)' --rate 1e-200",
        "--rate 1e308 --readout voted",
    ] {
        let line = format!(
            "rosenblatt train d.svm --algorithm perceptron --precision f64 {options} --model m.model"
        );
        let done = bench.run(&line);
        let printed = format!("{options}\n{}", done.all());
        assert!(matches!(done.code, Some(0 | 1)), "{printed}");
        if done.code == Some(0) {
            assert!(!done.stdout.contains("NaN"), "{printed}");
            let predicted = bench.ok("rosenblatt predict d.svm --model m.model --scores --to csv");
            assert!(!predicted.contains("NaN") && !predicted.contains("inf"), "{options}\n{predicted}");
        } else {
            assert_eq!(fs::read(bench.path("m.model")).unwrap(), before, "{printed}");
        }
        fs::write(bench.path("m.model"), &before).unwrap();
    }
}

#[test]
fn names_do_not_command_a_terminal() {
    let bench = Bench::new();
    bench.write(
        "t.csv",
        "a,b\u{202e},class\n1,2,\u{1b}]0;title\u{7}x\n2,1,y\n3,1,y\n0,2,\u{1b}]0;title\u{7}x\n",
    );
    bench.ok("rosenblatt train t.csv --label class --holdout 0 --quiet --model t.model");
    // A message about names.
    for line in [
        "rosenblatt certify t.csv --label class --positive nobody",
        "rosenblatt evaluate \"$(printf 'no\\033[8mfile')\" --model t.model",
        "rosenblatt train t.csv --label class --positive nobody --model u.model",
    ] {
        let done = bench.run(line);
        assert!(!matches!(done.code, Some(0)), "{line}");
        assert!(!done.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{line}\n{:?}", done.stderr);
    }
    // To a terminal, as `script` of util-linux pretends one. The one of other systems takes other words.
    if cfg!(target_os = "linux") {
        bench.ok("script --version");
        for line in ["inspect t.model", "predict t.csv --model t.model", "evaluate t.csv --model t.model"] {
            let shown = bench.run(&format!("script -qec 'rosenblatt {line}' /dev/null"));
            assert!(
                !shown.stdout.contains("\u{1b}]0") && !shown.stdout.contains('\u{202e}'),
                "{line}\n{:?}",
                shown.stdout
            );
        }
    }
}
