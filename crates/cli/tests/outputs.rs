//! Every option that writes a file, tried against every file that the same command reads: by its name, by other names,
//! through links, and under the names that the program makes up itself. Which options these are is asked of the program.
//!
//! `ROSENBLATT_OUTPUTS=full` tries every way with every pair; else the ways take turns. How many were tried is written to
//! the file that `ROSENBLATT_OUTPUTS_TRIED` names.

use crate::bench::Bench;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;

/// The ways to name a file.
const WAYS: [&str; 6] =
    ["its name", "a longer way", "the whole path", "a symlink", "a hard link", "a descriptor"];

/// A file of every kind that commands read.
const FILES: [&str; 7] = ["d.svm", "s.conll", "m.model", "n.model", "tpl", "proof.json", "labels"];

fn prepared() -> Bench {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{}\n", row % 2, (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..60).map(line).collect::<String>());
    bench.write("s.conll", "the D\ncat N\n\na D\ndog N\n\n".repeat(6));
    bench.write("tpl", "U00:%x[0,0]\nB\n");
    bench.write("labels", "0\n1\n");
    bench.write("xor.csv", "a,b,class\n1,1,even\n1,-1,odd\n-1,1,odd\n-1,-1,even\n");
    fs::create_dir(bench.path("sub")).unwrap();
    bench.ok("rosenblatt train d.svm -a perceptron --epochs 2 --model m.model --quiet && cp m.model n.model");
    bench.ok("rosenblatt certify xor.csv --certificate proof.json --quiet");
    bench
}

fn contents(bench: &Bench) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| fs::read(bench.path(name)).unwrap()).collect()
}

/// An option that names files.
struct FileOption {
    name: String,
    is_required: bool,
}

/// A command that writes files, with what it reads and what it writes.
struct Writer {
    command: String,
    read: Vec<FileOption>,
    written: Vec<FileOption>,
}

/// All of them, as the program lists them.
fn writers(bench: &Bench) -> Vec<Writer> {
    let catalogue: Value = serde_json::from_str(&bench.ok("rosenblatt catalogue --json")).unwrap();
    let of_word = |command: &Value, word: &str| -> Vec<FileOption> {
        let options = command["options"].as_array().unwrap().iter();
        let one = |option: &Value| FileOption {
            name: option["name"].as_str().unwrap().to_owned(),
            is_required: option["required"] == true,
        };
        options.filter(|option| option["files"] == word).map(one).collect()
    };
    let commands = catalogue["commands"].as_array().unwrap().iter();
    let writer = |command: &Value| Writer {
        command: command["name"].as_str().unwrap().to_owned(),
        read: of_word(command, "read"),
        written: of_word(command, "written"),
    };
    commands.map(writer).filter(|writer| !writer.written.is_empty()).collect()
}

/// What an option reads where nothing else is asked of it.
fn usual(option: &str) -> &'static str {
    match option {
        "files" | "input" | "rows" => "d.svm",
        "model" | "start-from" => "m.model",
        "models" => "n.model",
        "features" => "tpl",
        "labels" => "labels",
        "certificate" | "check" => "proof.json",
        other => panic!("say what `{other}` reads"),
    }
}

/// An option with its path, and what else it takes.
fn phrase(command: &str, option: &str, path: &str) -> String {
    match (command, option) {
        (_, "files" | "input" | "models") | ("inspect", "model") | ("convert", "output") => path.to_owned(),
        (_, "export") => format!("--export json {path}"),
        (_, "cache") => format!("--memory 1KiB --cache {path}"),
        (_, "test-out") => format!("--split 0.5 --test-out {path}"),
        _ => format!("--{option} {path}"),
    }
}

impl Writer {
    /// A line in which `written` has this path and `read` that one.
    fn line(&self, written: (&str, &str), read: Option<(&str, &str)>) -> String {
        let Self { command, .. } = self;
        let mut line = format!("rosenblatt {command}");
        line.push_str(if command == "plot" { " boundary" } else { "" });
        for option in &self.read {
            let is_meant = read.filter(|(name, _)| *name == option.name);
            let of_sentences = option.name == "files" && read.is_some_and(|(name, _)| name == "features");
            let path = match is_meant {
                Some((_, path)) => path,
                None if of_sentences => "s.conll",
                None if option.is_required || option.name == "files" => usual(&option.name),
                None => continue,
            };
            line.push(' ');
            line.push_str(&phrase(command, &option.name, path));
        }
        for option in &self.written {
            let path = if option.name == written.0 {
                written.1
            } else if option.is_required {
                "new.out"
            } else {
                continue;
            };
            line.push(' ');
            line.push_str(&phrase(command, &option.name, path));
        }
        let more = match command.as_str() {
            "predict" | "convert" => " --to csv",
            "plot" => " --to svg",
            "mix" => " m.model",
            _ => "",
        };
        line + more
    }
}

/// The file `path` under another name; the shell's words before and after the command.
fn aliased(bench: &Bench, path: &str, way: &str) -> (String, String) {
    let alias = bench.path("alias");
    let _ = fs::remove_file(&alias);
    let named = match way {
        "its name" => path.to_owned(),
        "a longer way" => format!("./sub/../{path}"),
        "the whole path" => bench.path(path).display().to_string(),
        "a symlink" => {
            symlink(path, &alias).unwrap();
            "alias".to_owned()
        }
        "a hard link" => {
            fs::hard_link(bench.path(path), &alias).unwrap();
            "alias".to_owned()
        }
        _ => return ("/dev/fd/3".to_owned(), format!("3< {path}")),
    };
    (named, String::new())
}

#[test]
fn no_option_that_writes_destroys_what_another_reads() {
    let bench = prepared();
    let before = contents(&bench);
    let is_full = std::env::var("ROSENBLATT_OUTPUTS").is_ok_and(|mode| mode == "full");
    let (mut turn, mut n_tried) = (0, 0);
    for writer in writers(&bench) {
        for written in &writer.written {
            for read in &writer.read {
                turn += 1;
                let turns = [WAYS[0], WAYS[1 + turn % (WAYS.len() - 1)]];
                for way in if is_full { &WAYS[..] } else { &turns[..] } {
                    let target = usual(&read.name);
                    let (alias, redirected) = aliased(&bench, target, way);
                    let line = writer.line((&written.name, &alias), Some((&read.name, target)));
                    let done = bench.run(&format!("timeout 60 {line} {redirected}"));
                    let printed = format!("{way}: {line}\n{}", done.all());
                    assert!(matches!(done.code, Some(1 | 2)), "{printed}");
                    let is_said =
                        ["would be written over", "cannot be used with", "is a link to", "is a plain file"];
                    assert!(is_said.iter().any(|word| done.stderr.contains(word)), "{printed}");
                    assert!(contents(&bench) == before, "{printed}");
                    n_tried += 1;
                }
            }
        }
    }
    assert!(n_tried >= 40, "{n_tried}");
    if let Some(path) = std::env::var_os("ROSENBLATT_OUTPUTS_TRIED") {
        fs::write(path, n_tried.to_string()).unwrap();
    }
}

#[test]
fn nothing_is_written_through_a_link_or_into_what_is_no_file_of_that_kind() {
    let bench = prepared();
    let before = contents(&bench);
    bench.ok("mkfifo pipe");
    for writer in writers(&bench) {
        for written in &writer.written {
            // A link to an unread file, and to nothing at all.
            for to in ["victim", "nothing"] {
                bench.write("victim", "precious");
                let _ = fs::remove_file(bench.path("alias"));
                symlink(to, bench.path("alias")).unwrap();
                let line = writer.line((&written.name, "alias"), None);
                let done = bench.run(&format!("timeout 60 {line}"));
                let printed = format!("{line}\n{}", done.all());
                assert!(done.code == Some(1) && done.stderr.contains("is a link to"), "{printed}");
                assert!(fs::read(bench.path("victim")).unwrap() == b"precious", "{printed}");
                assert!(!bench.path("nothing").exists() && bench.path("alias").is_symlink(), "{printed}");
            }
            // A pipe and a device stay what they are, and no command waits for ever.
            for device in ["pipe", "/dev/null"] {
                let line = writer.line((&written.name, device), None);
                let done =
                    bench.run(&format!("cat pipe > got 2> /dev/null & c=$!; timeout 60 {line}; code=$?; kill $c 2> /dev/null; exit $code"));
                assert!(matches!(done.code, Some(0..=2)), "{line}\n{:?} {}", done.code, done.all());
                bench.ok("test -p pipe && test -c /dev/null");
            }
            // A model takes the place of models alone, and nothing else takes theirs.
            let is_model =
                writer.command != "inspect" && ["model", "output"].contains(&written.name.as_str());
            let is_model = is_model && ["train", "tune", "mix", "demo"].contains(&writer.command.as_str());
            let stranger = if is_model { "s.conll" } else { "n.model" };
            let line = writer.line((&written.name, stranger), None);
            if line.matches(stranger).count() == 1 {
                let done = bench.run(&format!("timeout 60 {line}"));
                assert!(done.code == Some(1) && done.stderr.contains("holds"), "{line}\n{}", done.all());
            }
            assert!(contents(&bench) == before, "{line}");
        }
    }
}

#[test]
fn what_is_made_beside_a_model_is_written_over_nothing() {
    let bench = prepared();
    let hidden = [".x.model.lock", "x.model.checkpoint", "x.model.checkpoint.1", "x.model.1"];
    let train = "rosenblatt train d.svm -a perceptron --epochs 3 --checkpoint-every 1 --keep-previous --quiet --model x.model";
    for name in hidden {
        // As data, as a stranger, and as a link to one.
        fs::copy(bench.path("d.svm"), bench.path(name)).unwrap();
        let data = fs::read(bench.path("d.svm")).unwrap();
        for line in [train.replace("d.svm", &format!("{name} --format libsvm")), train.to_owned()] {
            let done = bench.run(&line);
            assert!(matches!(done.code, Some(1 | 2)), "{line}\n{}", done.all());
            assert_eq!(fs::read(bench.path(name)).unwrap(), data, "{line}");
        }
        fs::remove_file(bench.path(name)).unwrap();
        for content in ["precious", "4711"] {
            bench.write("victim", content);
            symlink("victim", bench.path(name)).unwrap();
            let done = bench.run(train);
            assert_eq!(done.code, Some(1), "{name}\n{}", done.all());
            assert_eq!(fs::read(bench.path("victim")).unwrap(), content.as_bytes(), "{name}");
            assert!(bench.path(name).is_symlink(), "{name}");
            fs::remove_file(bench.path(name)).unwrap();
        }
    }
    bench.ok(train);
    bench.ok(train);
    assert!(bench.path("x.model.1").exists() && !bench.path("x.model.checkpoint").exists());
}

#[test]
fn a_mixed_model_respects_a_training_and_clears_what_a_killed_one_left() {
    let bench = prepared();
    bench.write("big.svm", fs::read_to_string(bench.path("d.svm")).unwrap().repeat(400));
    bench.write(".x.model.0123456789abcdef.tmp", "what a killed run left");
    let done = bench.run(
        "rosenblatt train big.svm -a perceptron --epochs 100000 --patience 0 --model y.model --quiet & \
         while ! test -e .y.model.lock; do sleep 0.02; done; sleep 0.2; \
         rosenblatt mix m.model n.model -o y.model; code=$?; kill $!; wait; exit $code",
    );
    assert!(done.code == Some(1) && done.stderr.contains("is at work on it"), "{}", done.all());
    bench.ok("rosenblatt mix m.model n.model -o x.model");
    assert!(!bench.path(".x.model.0123456789abcdef.tmp").exists());
}

#[test]
fn a_lesson_replaces_nothing_but_its_own() {
    let bench = Bench::new();
    for (lesson, file) in [("approximation", "approximation.svg"), ("and", "and.svg"), ("and", "and.csv")] {
        bench.write(file, "<svg>mine</svg>");
        let done = bench.run(&format!("rosenblatt demo {lesson}"));
        assert!(done.code == Some(1) && done.stderr.contains("move it away"), "{}", done.all());
        assert_eq!(fs::read(bench.path(file)).unwrap(), b"<svg>mine</svg>");
        fs::remove_file(bench.path(file)).unwrap();
    }
    bench.ok("rosenblatt demo and");
    bench.ok("rosenblatt demo and");
}

#[test]
fn a_file_whose_name_is_no_text_is_read_and_written() {
    let bench = prepared();
    bench.ok("cp d.svm $(printf 'd\\377.svm')");
    bench
        .ok("rosenblatt train $(printf 'd\\377.svm') -a perceptron --model $(printf 'm\\376.model') --quiet");
    bench.ok("rosenblatt evaluate $(printf 'd\\377.svm') --model $(printf 'm\\376.model')");
    bench.ok("rosenblatt convert $(printf 'd\\377.svm') $(printf 'o\\375.csv') --to csv && test -s $(printf 'o\\375.csv')");
    // Every option that names a file to write does with such a name what it does with another.
    for writer in writers(&bench) {
        // Rows on disk are a setting, and settings are text.
        for written in writer.written.iter().filter(|written| written.name != "cache") {
            let outcome = |name: &str| {
                let done = bench.run(&format!("timeout 60 {}", writer.line((&written.name, name), None)));
                bench.ok("rm -f new.out* out out.* $(printf 'o\\375')*");
                done
            };
            let (plain, odd) = (outcome("out"), outcome("$(printf 'o\\375')"));
            assert_eq!(
                plain.code,
                odd.code,
                "{} --{}\n{}{}",
                writer.command,
                written.name,
                plain.all(),
                odd.all()
            );
        }
    }
    let done = bench.run("rosenblatt train d.svm --label $(printf 'x\\377')");
    assert!(done.code == Some(2) && done.stderr.contains("`x\u{fffd}` is not UTF-8"), "{}", done.all());
}

#[test]
fn what_is_printed_goes_into_no_file_that_is_read() {
    let bench = prepared();
    let text = "1 1:1 2:2\n0 1:2 2:1\n1 1:2 2:3\n0 1:3 2:1\n";
    bench.write("own.svm", text);
    bench.ok("rosenblatt train own.svm -a perceptron --holdout 0 --quiet --model own.model");
    for line in [
        "convert own.svm - --to csv >> own.svm",
        "predict own.svm --model own.model >> own.svm",
        "predict ./own.svm --model own.model >> own.svm",
        "evaluate own.svm --model own.model >> own.svm",
        "predict - --format libsvm --model own.model < own.svm >> own.svm",
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert!(done.code == Some(1) && done.stderr.contains("another file"), "{line}\n{}", done.all());
        assert_eq!(fs::read(bench.path("own.svm")).unwrap(), text.as_bytes(), "{line}");
    }
    bench.ok("rosenblatt predict own.svm --model own.model >> other.txt");
    bench.ok("rosenblatt predict own.svm --model own.model --output /dev/stdout > other.txt");
}
