//! `--map`: the same model whichever way rows come, and refusals that say why.

use crate::bench::Bench;
use std::fmt::Write as _;

/// A chequerboard of four squares with two features that say nothing.
fn board(n_rows: usize) -> String {
    let mut state = 7_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut text = String::new();
    for _ in 0..n_rows {
        let x: [f64; 4] = std::array::from_fn(|_| 2.0 * random() - 1.0);
        let class = u8::from(x[0] * x[1] > 0.0);
        let _ = writeln!(text, "{class} 1:{:.4} 2:{:.4} 3:{:.4} 4:{:.4}", x[0], x[1], x[2], x[3]);
    }
    text
}

const MAPS: [&str; 3] = [
    "--map fourier --map-size 256 --gamma 1.5",
    "--map sketch --map-size 256 --degree 2 --gamma 1",
    "--map nystroem --map-size 200 --kernel rbf --gamma 1.5",
];

#[test]
fn every_map_learns_the_board_and_the_way_rows_come_changes_no_bit() {
    let bench = Bench::new();
    bench.write("board.svm", board(1500));
    bench.write("new.svm", board(1500));
    bench.ok("rosenblatt convert board.svm board.csv");
    // A table has names, which the ranking of columns gives: here those that numbered features go by.
    bench.ok("sed -i '1s/f\\([0-9]\\)/feature \\1/g' board.csv");
    bench.ok("rosenblatt train board.svm --model plain.model -q");
    let error = |model: &str| {
        let printed = bench.ok(&format!("rosenblatt evaluate new.svm --model {model} --json"));
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()["error"].as_f64().unwrap()
    };
    assert!(error("plain.model") > 0.4);
    for map in MAPS {
        bench.ok(&format!("rosenblatt train board.svm {map} --model a.model -q"));
        assert!(error("a.model") < 0.1, "{map}: {}", error("a.model"));
        bench.ok(&format!("rosenblatt train board.csv {map} --threads 1 --model b.model -q"));
        bench.ok("cmp a.model b.model");
        let given = format!("{map} --order given --calibrate none --holdout 0.2 -q");
        bench.ok(&format!("rosenblatt train board.svm {given} --model c.model"));
        bench.ok(&format!("rosenblatt train board.svm {given} --memory 20KiB --model d.model"));
        bench.ok("cmp c.model d.model");
        let printed = bench.ok("rosenblatt inspect a.model");
        assert!(printed.contains("behind the map") && printed.contains("\n4 features\n"), "{printed}");
        // Rows one by one, as they are predicted, and all together, as they are evaluated.
        let wrong = bench.ok(
            "rosenblatt predict new.svm --model a.model | paste -d' ' - new.svm | awk '$1 != $2' | wc -l",
        );
        let wrong: f64 = wrong.trim().parse().unwrap();
        assert_eq!(wrong / 1500.0, error("a.model"), "{map}");
    }
    for map in &MAPS[..2] {
        bench.ok(&format!("rosenblatt train board.svm --scale none --online {map} --model e.model -q"));
        bench.ok(&format!(
            "rosenblatt train - --format libsvm --online {map} --classes 0,1 --model f.model -q < board.svm"
        ));
        assert!(error("e.model") < 0.2, "{map}");
        assert_eq!(error("e.model"), error("f.model"));
    }
    let table =
        bench.ok(&format!("rosenblatt compare board.svm {} --folds 3 --algorithms perceptron,pa1", MAPS[0]));
    assert!(table.contains("pa1"), "{table}");
}

#[test]
fn what_a_map_cannot_do_is_refused_with_the_reason() {
    let bench = Bench::new();
    bench.write("board.svm", board(300));
    bench.ok("rosenblatt train board.svm --map fourier --model m.model -q");
    for (line, code, expected) in [
        ("train board.svm --map furrier", 2, "`map` should be one of fourier, nystroem, sketch"),
        ("train board.svm --map fourier --kernel poly", 2, "`nystroem` or `sketch` can"),
        ("train board.svm --map sketch --map-size 1000", 2, "a power of two"),
        ("train board.svm --map fourier --gamma -1", 2, "gamma"),
        ("train board.svm --map fourier --degree 2", 2, "`rbf` has no `degree`"),
        ("train board.svm --map nystroem --kernel intersection", 1, "histograms have no negative values"),
        ("train board.svm --map-size 64", 2, "--map"),
        (
            "train board.svm --map fourier --online",
            1,
            "`gamma` should be a number where rows come one by one",
        ),
        ("train board.svm --map nystroem --online", 1, "fitted to all of them"),
        ("train board.svm --map fourier --bounds", 1, "bounds measure features as they are"),
        ("predict board.svm --model m.model --explain 2", 1, "`--explain` weighs features as they are"),
        ("inspect m.model --export json out.json", 1, "an exported model weighs features as they are"),
        ("certify board.svm --model m.model", 1, "a certificate is about features as they are"),
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert_eq!(done.code, Some(code), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.all());
    }
}
