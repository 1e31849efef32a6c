//! What an attack found once, each as the command that showed it; what has a test of its own kind is in `hardening.rs`,
//! `safety.rs` and `never_wrong.rs`.

use crate::bench::{Bench, Done};
use rosenblatt::model::model_checksum;
use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

fn bench() -> Bench {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{}\n", row % 2, (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..300).map(line).collect::<String>());
    bench.ok("rosenblatt train d.svm --algorithm perceptron --model m.model --quiet");
    bench
}

/// Runs a line that may take `seconds`, and `mebibytes` of memory, by what the shell can limit.
fn within(bench: &Bench, seconds: u64, mebibytes: u64, line: &str) -> Done {
    let start = Instant::now();
    let done = bench.run(&format!("ulimit -v {}; {line}", mebibytes << 10));
    let printed = format!("{line}\n{:?} after {:?}\n{}", done.code, start.elapsed(), done.all());
    assert!(start.elapsed() < Duration::from_secs(seconds), "{printed}");
    assert!(matches!(done.code, Some(0..=3)), "{printed}");
    assert!(!done.all().contains("no more memory") && !done.all().contains("panicked"), "{printed}");
    done
}

/// A model file in whose header a text is replaced, lengths and checksum right.
fn crafted(bench: &Bench, from: &str, to: &str) {
    let bytes = fs::read(bench.path("m.model")).unwrap();
    let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[64..64 + length]).unwrap();
    let changed = header.replacen(from, to, 1);
    assert_ne!(changed, header, "{from}\n{header}");
    let mut file = [&bytes[..64], changed.as_bytes(), &bytes[64 + length..]].concat();
    file[16..24].copy_from_slice(&(changed.len() as u64).to_le_bytes());
    model_checksum(&mut file);
    bench.write("x.model", file);
}

#[test]
fn a_model_that_claims_much_costs_little() {
    let bench = bench();
    for (from, to) in [
        ("\"epochs\":", "\"epochs\":4294967295,\"before\":"),
        ("\"width\":2", "\"width\":2147483648"),
        ("\"width\":2", "\"width\":9223372036854775808"),
        ("\"labels\":[", "\"labels\":[\"z\","),
    ] {
        crafted(&bench, from, to);
        for command in
            ["inspect x.model", "evaluate d.svm --model x.model", "report d.svm --model x.model -o x.html"]
        {
            let done = within(&bench, 20, 1000, &format!("rosenblatt {command}"));
            assert!(
                done.code == Some(1) && done.stderr.contains("x.model"),
                "{to}: {command}\n{}",
                done.all()
            );
        }
    }
    // As many epochs as a file likes: what was learned is shown by a few of them.
    let header = fs::read(bench.path("m.model")).unwrap();
    let text = String::from_utf8_lossy(&header);
    let spec = &text[text.find("\"spec\":").unwrap()..];
    let epochs = &spec[spec.find("\"epochs\":").unwrap()..];
    let epochs = &epochs[..epochs.find([',', '}']).unwrap()];
    crafted(&bench, epochs, "\"epochs\":4294967295");
    let done = within(&bench, 60, 1000, "rosenblatt report d.svm --model x.model -o x.html");
    assert_eq!(done.code, Some(0), "{}", done.all());
}

#[test]
fn small_inputs_cost_little_whatever_they_hold() {
    let bench = bench();
    // Half a gigabyte of line ends in a few packed bytes: 128 KiB repeated in each block of four bytes.
    let mut flood = b"\x28\xB5\x2F\xFD\x00\x38".to_vec();
    for block in 1..=4000_u32 {
        let header = (128_u32 << 10) << 3 | 1 << 1 | u32::from(block == 4000);
        flood.extend_from_slice(&header.to_le_bytes()[..3]);
        flood.push(b'\n');
    }
    bench.write("flood.zst", flood);
    for format in ["libsvm", "csv", "vw", "text", "jsonl"] {
        let line = format!("rosenblatt train flood.zst --format {format} --model n.model");
        let done = within(&bench, 60, 1500, &line);
        assert!(done.code == Some(1) && done.stderr.contains("flood.zst"), "{line}\n{}", done.all());
    }
    // One line without an end, by a pipe: refused when it is too long, not when it is all there.
    for format in ["libsvm", "csv", "text", "vw"] {
        let line = format!(
            "head -c 300000000 /dev/zero | tr '\\0' 'x' | rosenblatt train - --format {format} --model n.model"
        );
        let done = within(&bench, 60, 400, &line);
        assert!(done.code == Some(1) && done.stderr.contains("longer than"), "{line}\n{}", done.all());
    }
}

#[test]
fn a_class_for_every_few_rows_costs_little() {
    let bench = Bench::new();
    let line = |row: usize| format!("{},{},c{}\n", row * 7919 % 1009, row * 104_729 % 997, row % 900);
    bench.write("many.csv", format!("a,b,label\n{}", (0..5400).map(line).collect::<String>()));
    for (flags, expected) in [
        ("", "no candidates are raced: perceptron with its defaults, as 900 classes"),
        ("--algorithm perceptron --epochs 1 --holdout 0.9", "probabilities are not fitted, as 900 classes"),
    ] {
        let line = format!("rosenblatt train many.csv --model many.model {flags}");
        let done = within(&bench, 120, 700, &line);
        assert!(done.code == Some(0) && done.all().contains(expected), "{expected}\n{}", done.all());
    }
    let done = within(&bench, 120, 700, "rosenblatt evaluate many.csv --model many.model --json");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let rows = json["confusion"].as_array().unwrap();
    let sum = |row: &serde_json::Value| -> u64 {
        row.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum()
    };
    assert!(rows.len() == 900 && rows.iter().all(|row| sum(row) == 6));
}

#[test]
fn what_convert_wrote_is_learned_online() {
    let bench = bench();
    for name in ["x.parquet", "x.jsonl", "x.arrow", "x.vw"] {
        bench.ok(&format!("rosenblatt convert d.svm {name}"));
        bench.ok(&format!("rosenblatt train {name} --online --quiet --model n.model"));
    }
}

#[test]
fn errors_name_the_file() {
    let bench = bench();
    bench.write("one.svm", "1 1:1\n1 1:2\n");
    bench.write("one.csv", "x,label\n1,a\n2,a\n");
    bench.write("many.csv", (0..200).fold("x,z\n".to_owned(), |text, i| text + &format!("{i},c{i}\n")));
    for line in [
        "train one.svm --model n.model",
        "train one.csv --model n.model",
        "train one.svm --online --model n.model",
        "train many.csv --model n.model",
        "train d.svm --rate 1e308 --precision f64 --algorithm perceptron --model n.model",
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        let file = line.split(' ').nth(1).unwrap();
        assert!(done.code == Some(1) && done.stderr.contains(file), "{line}\n{}", done.all());
    }
}

#[test]
fn what_is_misread_is_said() {
    let bench = Bench::new();
    let mut years = "2019,2020,label\n".to_owned();
    for i in 0..40 {
        let _ = writeln!(years, "{},{},{}", i % 7, i % 5, ["a", "b"][i % 2]);
    }
    bench.write("years.csv", years);
    let done = bench.run("rosenblatt train years.csv --algorithm perceptron --model n.model");
    assert!(done.code == Some(0) && !done.stdout.contains("label 1"), "{}", done.all());
    let wide: Vec<u8> =
        "\u{feff}x,label\n1,a\n2,b\n".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    bench.write("wide.csv", wide);
    let done = bench.run("rosenblatt train wide.csv --model n.model");
    assert!(done.code == Some(1) && done.stderr.contains("UTF-32"), "{}", done.all());
}

#[test]
fn precision_is_kept_with_the_model() {
    let bench = Bench::new();
    bench.write("p.csv", "x,z,label\n1e100,1,a\n-1e100,2,b\n2e100,3,a\n-3e100,1,b\n");
    bench.ok(
        "rosenblatt train p.csv --precision f64 --scale none --algorithm perceptron --holdout 0 --quiet --model p.model",
    );
    assert_eq!(bench.ok("rosenblatt predict p.csv --model p.model").lines().count(), 4);
}

#[test]
fn a_signal_is_answered_after_the_last_epoch_too() {
    let bench = Bench::new();
    let mut text = String::new();
    for row in 0..12_000 {
        let _ = writeln!(text, "c{} 1:{} 2:{} 3:{}", row % 3000, row % 71, row % 53, row % 13);
    }
    bench.write("many.svm", text);
    for wait in ["1", "4"] {
        let done = bench.run(&format!(
            "rosenblatt train many.svm --algorithm perceptron --epochs 1 --model n.model --quiet & \
             sleep {wait}; kill -TERM $!; date +%s%N; wait $!; echo $?; date +%s%N"
        ));
        let numbers: Vec<u64> = done.stdout.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let &[sent, code, ended] = numbers.as_slice() else { panic!("{}", done.all()) };
        assert!(matches!(code, 0 | 143), "{}", done.all());
        assert!(ended - sent < 5_000_000_000, "{} ms", (ended - sent) / 1_000_000);
    }
}

/// Options and cells that were once passed over without a word, each with the message it gets now.
#[test]
fn nothing_is_passed_over_without_a_word() {
    let bench = bench();
    let line = |row: usize| {
        let (a, b) = (row * 7 % 13, row * 5 % 11);
        format!("{a},{b},{},{}\n", ["mon", "tue", "wed"][row % 3], if a > b { "yes" } else { "no" })
    };
    bench.write("two.csv", "a,b,day,kind\n".to_owned() + &(0..120).map(line).collect::<String>());
    bench.ok("rosenblatt train two.csv --label kind -a perceptron --quiet --model two.model");
    bench.write("tags.conll", "Ada NNP\nruns VBZ\n\nBob NNP\nsits VBZ\n\n".repeat(8));
    bench.ok("rosenblatt train tags.conll --quiet --model tags.model");
    bench.write("words.txt", "ham\tsee you soon\nspam\twin a prize\n".repeat(9));
    bench.ok("rosenblatt train words.txt -a perceptron --quiet --model words.model");
    let typed = r#"train two.csv --epochs "$(printf '\033]0;t\007')""#;
    for (line, words) in [
        ("train two.csv --start-from two.model --scale none --model x.model", "`--scale` is decided"),
        ("train two.csv --start-from two.model --shape bend --model x.model", "`--shape` is decided"),
        ("train two.csv --start-from two.model --missing mean --model x.model", "`--missing` is decided"),
        (
            "train two.csv --start-from two.model --categorical day --model x.model",
            "`--categorical` is decided",
        ),
        ("train words.txt --start-from words.model --ngrams 1-3 --model x.model", "`--ngrams` is decided"),
        ("train d.svm --start-from m.model --hash-bits 4 --model x.model", "`--hash-bits` is decided"),
        ("plot transitions nosuch.conll --model tags.model", "leave FILE out"),
        ("plot weights --model two.model --ignore nosuch", "only a model is read here"),
        ("certify two.model --monotone a=+ --ignore nosuch", "only a model is read here"),
        ("train two.csv --label kind --weight kind", "`kind` is the label"),
        ("train two.csv --label kind --categorical kind", "`kind` is the label"),
        ("evaluate two.csv --model two.model --weight kind", "`kind` is the label"),
        ("evaluate two.csv --model two.model --ignore kind", "`kind` is the label"),
        ("train two.csv --label kind --weight a --ignore a", "`a` is left out"),
        ("convert d.svm - --split 0.5 --test-out - --to csv", "mixed on stdout"),
        ("train two.csv --label kind -a pa1 -p C=100 -p C=0.001", "gives `C` twice"),
        ("train two.csv --label kind -a pa1 --class-weight no=1 --class-weight no=5", "gives `no` twice"),
        ("predict two.csv --model tags.model", "by its name this is CSV"),
        ("predict d.svm --model tags.model", "by its name this is libsvm"),
        ("tune two.csv --label kind --algorithms pa1 --optimiser sgd", "a network"),
        ("compare two.csv --label kind --algorithms pa1,perceptron --hidden 3", "a network"),
        ("plot confusion two.csv --label kind --no-buttons", "for films in SVG"),
        ("plot boundary two.csv --label kind --frames --no-buttons -o x.png", "for films in SVG"),
        (typed, "invalid value"),
    ] {
        let refused = bench.run(&format!("rosenblatt {line}"));
        assert!(matches!(refused.code, Some(1 | 2)), "{line}\n{}", refused.all());
        assert!(refused.stderr.contains(words), "{line}\n{}", refused.stderr);
        assert!(!refused.all().contains('\u{1b}'), "{line}");
    }
}

/// A value that no model knows is refused wherever it stands, however often.
#[test]
fn an_unknown_category_is_refused_in_every_row() {
    let bench = Bench::new();
    let line =
        |row: usize| format!("{},{},{}\n", row % 7, ["mon", "tue"][row % 2], ["no", "yes"][row / 3 % 2]);
    bench.write("t.csv", "a,day,kind\n".to_owned() + &(0..80).map(line).collect::<String>());
    bench.ok("rosenblatt train t.csv -a perceptron --quiet --model t.model");
    for n_rows in [3, 5, 20, 200] {
        let unknown = n_rows - 2;
        let row = |row: usize| format!("{},{}\n", row % 7, if row == unknown { "sun" } else { "mon" });
        bench.write("new.csv", "a,day\n".to_owned() + &(0..n_rows).map(row).collect::<String>());
        let done = bench.run("rosenblatt predict new.csv --model t.model --unknown error");
        assert!(done.code == Some(1) && done.stderr.contains("sun"), "{n_rows}\n{}", done.all());
    }
    let row = |row: usize| format!("{},{}\n", row % 7, if row.is_multiple_of(2) { "sun" } else { "mon" });
    bench.write("new.csv", "a,day\n".to_owned() + &(0..1000).map(row).collect::<String>());
    let printed = bench.ok("rosenblatt predict new.csv --model t.model --unknown error --skip-bad-rows");
    assert_eq!(printed.lines().filter(|line| !line.is_empty()).count(), 500);
}

/// Where labels are numbers, or classes are small, the second part still has its share.
#[test]
fn a_part_has_its_share_of_rows_however_many_labels_there_are() {
    let bench = Bench::new();
    let alone = |row: usize| format!("{},{}.5\n", row % 13, row * 37);
    let small = |row: usize| format!("{},c{}\n", row % 13, row / 3);
    for (n_rows, share, expected) in [(90, 0.2, 18), (90, 0.3, 27), (1000, 0.1, 100)] {
        bench.write("t.csv", "x,price\n".to_owned() + &(0..n_rows).map(alone).collect::<String>());
        let line = format!("rosenblatt convert t.csv a.csv --label price --split {share} --test-out b.csv");
        let done = bench.run(&line);
        assert!(done.stdout.contains(&format!("b.csv: {expected} rows")), "{line}\n{}", done.all());
        assert!(done.stderr.contains("drawn from all rows alike"), "{line}\n{}", done.all());
    }
    bench.write("t.csv", "x,kind\n".to_owned() + &(0..300).map(small).collect::<String>());
    let line = "rosenblatt convert t.csv a.csv --label kind --split 0.1 --test-out b.csv";
    assert!(bench.ok(line).contains("b.csv: 30 rows"));
    // Each class keeps rows to learn from.
    let left = bench.ok("cut -d, -f1 a.csv | sort -u | wc -l");
    assert_eq!(left.trim(), "101", "a header and a hundred classes");
}

/// A model that knows its features by number reads them by number, or says in which order it takes columns.
#[test]
fn numbered_features_are_found_by_number() {
    let bench = bench();
    let scores = |name: &str, text: &str| {
        bench.write(name, text);
        bench.run(&format!("rosenblatt predict {name} --model m.model --scores"))
    };
    let straight = scores("a.jsonl", "{\"1\":1,\"2\":2}\n");
    assert_eq!(straight.code, Some(0), "{}", straight.all());
    assert_eq!(scores("b.jsonl", "{\"2\":2,\"1\":1}\n").stdout, straight.stdout);
    assert_eq!(scores("c.csv", "f2,f1\n2,1\n").stdout, straight.stdout);
    let named = scores("d.csv", "u,v\n1,2\n");
    assert_eq!(named.stdout, straight.stdout);
    assert!(named.stderr.contains("`u` is feature 1, `v` is feature 2"), "{}", named.stderr);
    let labelled = scores("h.csv", "u,v,kind\n1,2,1\n");
    assert_eq!(labelled.stdout, straight.stdout);
    assert!(labelled.stderr.contains("and `kind` is the label"), "{}", labelled.stderr);
    for (name, text, words) in [
        ("e.csv", "id,u,v,w\n7,1,2,3\n", "4 columns of features, expected 2"),
        ("f.jsonl", "{\"v\":2,\"u\":1}\n", "order"),
        ("g.jsonl", "{\"features\":{\"1\":1,\"2\":2,\"1\":5}}\n", "twice"),
    ] {
        let refused = scores(name, text);
        assert!(refused.code == Some(1) && refused.stderr.contains(words), "{name}\n{}", refused.all());
    }
}
