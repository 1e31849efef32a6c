//! Kernels on the command line: train, predict, inspect, compare, stop and resume, and an experiment run again.

use crate::bench::Bench;

const XOR: &str = "x,z,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n";

/// What a line that must fail with this code says.
fn fails(bench: &Bench, line: &str, code: i32) -> String {
    let done = bench.run(line);
    assert_eq!(done.code, Some(code), "{line}\n{}", done.all());
    done.stderr
}

#[test]
fn exclusive_or_is_learned_told_and_predicted() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let train = "rosenblatt train xor.csv --kernel poly --degree 2 --gamma 1 --holdout 0 --scale none --order given --model";
    let text = bench.ok(&format!("{train} m.model --readout vote"));
    assert!(
        text.contains(
            "perceptron with kernel polynomial (degree 2, gamma 1, offset 1), with the votes of all weights"
        ),
        "{text}"
    );
    assert!(text.contains("2 epochs over 4 rows, 4 mistakes"), "{text}");
    assert!(text.contains("the kernel separates the training data"), "{text}");
    let story = bench.ok("rosenblatt inspect m.model");
    assert!(story.contains("4 support vectors\na vote of 5 survivors"), "{story}");
    assert!(story.contains("x=1, z=1"), "{story}");
    // Support vectors are named by their rows in the file, rows that were left out counted.
    bench.write(
        "gaps.csv",
        XOR.replacen('\n', "\nNA,1,same\n", 1).replacen("\n-1", "\nNA,1,same\nNA,,other\n-1", 1),
    );
    bench.ok("rosenblatt train gaps.csv --missing drop --kernel poly --degree 2 --gamma 1 --holdout 0 --scale none --order given --model g.model");
    let kernel = bench.ok("rosenblatt inspect g.model --json");
    let kernel: serde_json::Value = serde_json::from_str(&kernel).unwrap();
    assert_eq!(kernel["kernel"]["support-rows"], serde_json::json!([2, 3, 6, 7]), "{kernel}");
    assert!(bench.ok("rosenblatt inspect g.model").contains("row 2 of the training data with weight"));
    assert_eq!(bench.ok("rosenblatt predict xor.csv --model m.model"), "same\nother\nother\nsame\n");
    bench.ok(&format!("{train} last.model --readout last"));
    let scores = bench.ok("rosenblatt predict xor.csv --model last.model --scores");
    assert_eq!(scores.matches(",8").count() + scores.matches(",-8").count(), 4, "{scores}");
    assert!(bench.ok("rosenblatt evaluate xor.csv --model last.model").contains("error rate: 0.0 %"));
}

/// Where there is a card, a model that was learned there is the same to the byte; where there is none, asking
/// for one gives the reason, and training without asking goes on.
#[test]
fn a_card_is_used_if_there_is_one_and_else_the_reason_is_told() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let line = "rosenblatt train xor.csv --kernel poly --degree 2 --holdout 0";
    let text = bench.ok(&format!("{line} --device cpu --model cpu.model"));
    assert!(!text.contains("computed on"), "{text}");
    bench.ok(&format!("{line} --model auto.model"));
    let bytes = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert!(bytes("auto.model") == bytes("cpu.model"), "a device is no part of a model");
    let listed = bench.ok("rosenblatt devices");
    assert!(listed.starts_with("cpu "), "{listed}");
    if let Some((_, why)) = listed.split_once("gpu    none: ") {
        for line in [
            format!("{line} --device gpu --model gpu.model"),
            "rosenblatt predict xor.csv --model cpu.model --device gpu".to_owned(),
        ] {
            let message = fails(&bench, &line, 1);
            assert!(message.contains(why.trim()) && why.contains("processor"), "{message}");
        }
    } else {
        bench.ok(&format!("{line} --device gpu --model gpu.model"));
        assert!(bytes("gpu.model") == bytes("cpu.model"), "the same bits");
    }
}

#[test]
fn wrong_wishes_are_refused_with_the_reason() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    for (options, expected) in [
        ("--kernel poly --degree 0", "`degree` should be a whole number from 1 to 64, but is 0"),
        ("--kernel rbf --gamma -1", "`gamma` should be scale, auto or a positive number, but is -1"),
        ("--kernel rbf --device tpu", "auto, cpu, gpu or gpu:N"),
        ("--kernel rbf --device gpu --support-budget 5", "`device` should be auto or cpu with a budget"),
        ("--kernel bessel", "`kernel` should be one of linear, polynomial"),
        ("--kernel rbf --degree 2", "`rbf` has no `degree`; polynomial would"),
        ("--kernel rbf --algorithm arow", "one that can learn with a kernel"),
        ("--kernel rbf --readout pocket", "`readout` should be last"),
        ("--kernel rbf --bounds", "`--bounds` needs weights"),
        ("--kernel poly --support-budget 5 --removal forgetron", "whose values are at most 1"),
        ("--kernel precomputed --scale standard", "`scaling` should be none for kernel values"),
    ] {
        let message = fails(&bench, &format!("rosenblatt train xor.csv {options}"), 2);
        assert!(message.contains(expected), "{options}: {message}");
    }
    let message = fails(&bench, "rosenblatt train xor.csv --kernel precomputed", 1);
    assert!(message.contains("one column per row, but there are 4 rows of 2 columns"), "{message}");
    bench.write("long.csv", "x,class\n1e200,a\n1,b\n2e200,a\n2,b\n");
    let message =
        fails(&bench, "rosenblatt train long.csv --kernel poly --degree 4 --scale none --precision f64", 1);
    assert!(message.contains("overflow") && message.contains("unit norm"), "{message}");
    let message = fails(&bench, "rosenblatt trace xor.csv --kernel poly", 1);
    assert!(message.contains("a trace shows weights"), "{message}");
}

#[test]
fn a_precomputed_kernel_is_taken_as_it_is() {
    let bench = Bench::new();
    // The values of (1 + x.y)^2 for the rows of exclusive or.
    bench.write("gram.csv", "a,b,c,d,class\n9,1,1,1,same\n1,9,1,1,other\n1,1,9,1,other\n1,1,1,9,same\n");
    let train = "rosenblatt train gram.csv --kernel precomputed --readout last --holdout 0 --order given";
    let text = bench.ok(train);
    assert!(text.contains("2 epochs over 4 rows, 4 mistakes"), "{text}");
    assert_eq!(bench.ok("rosenblatt predict gram.csv --model gram.model"), "same\nother\nother\nsame\n");
}

#[test]
fn a_budget_is_kept_and_kernels_are_compared() {
    let bench = Bench::new();
    let data = "crates/data/bundled/iris.csv";
    bench.ok(&format!("rosenblatt train {data} --kernel rbf --support-budget 10 --model b.model"));
    let story = bench.ok("rosenblatt inspect b.model --json");
    let story: serde_json::Value = serde_json::from_str(&story).unwrap();
    assert!(story["kernel"]["support-vectors"].as_u64().unwrap() <= 10, "{story}");
    let text =
        bench.ok(&format!("rosenblatt compare {data} --algorithms perceptron:last,perceptron@poly^2:voted"));
    assert!(text.contains("perceptron@poly^2 voted"), "{text}");
    let message = fails(&bench, &format!("rosenblatt compare {data} --algorithms perceptron@poly^x"), 2);
    assert!(message.contains("perceptron@poly^4, but is `perceptron@poly^x`"), "{message}");
}

#[test]
fn a_model_of_a_kernel_is_the_same_from_memory_and_from_disk() {
    let bench = Bench::new();
    let train = "rosenblatt train crates/data/bundled/banknote.csv --kernel poly --order given --epochs 2 --patience 0 \
                 --calibrate none --scale none --holdout 0.2 --quiet";
    bench.ok(&format!("{train} --model memory.model"));
    bench.ok(&format!("{train} --model disk.model --memory 20KiB"));
    assert!(
        std::fs::read(bench.path("memory.model")).unwrap()
            == std::fs::read(bench.path("disk.model")).unwrap()
    );
    bench.ok(&format!("{train} --model small.model --kernel-memory 1KiB"));
    let predict = |model: &str| {
        bench.ok(&format!("rosenblatt predict crates/data/bundled/banknote.csv --model {model} --scores"))
    };
    assert!(predict("memory.model") == predict("small.model"));
}

/// Pictures of 4 x 4 pixels in IDX files as MNIST's: a bar whose place is the class.
pub(crate) fn write_pictures(bench: &Bench, half: &str, n_rows: u32, seed: u64) {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let mut images = vec![0, 0, 8, 3];
    images.extend([n_rows, 4, 4].iter().flat_map(|size| size.to_be_bytes()));
    let mut labels = vec![0, 0, 8, 1];
    labels.extend(n_rows.to_be_bytes());
    for row in 0..n_rows {
        let class = row % 3;
        labels.push(class as u8);
        images.extend((0..16).map(|pixel| random() / 4 + if pixel / 4 == class { 150 } else { 0 }));
    }
    bench.write(&format!("mnist/{half}-images-idx3-ubyte"), images);
    bench.write(&format!("mnist/{half}-labels-idx1-ubyte"), labels);
}

#[test]
fn the_experiment_of_1999_is_run_again() {
    let bench = Bench::new();
    let message = fails(&bench, "rosenblatt reproduce freund-schapire --data nowhere", 1);
    assert!(
        message.contains("there is no nowhere/train-images-idx3-ubyte.gz") && message.contains("IDX"),
        "{message}"
    );
    std::fs::create_dir_all(bench.path("mnist")).unwrap();
    write_pictures(&bench, "train", 300, 1);
    write_pictures(&bench, "t10k", 90, 2);
    let line = "rosenblatt reproduce freund-schapire --data mnist --degree 2,4 --epochs 2 --permutations 2";
    let text = bench.ok(line);
    for expected in
        ["300 training and 90 test rows, 2 permutations", "recalled", "degree 4, epochs", "published"]
    {
        assert!(text.contains(expected), "`{expected}` in\n{text}");
    }
    assert!(text.contains("10201"), "{text}");
    let times_left_out = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("in ")).map(str::to_owned).collect()
    };
    assert_eq!(times_left_out(text), times_left_out(bench.ok(line)), "the same every time");
    // Pictures are shown as such.
    let train = "rosenblatt train mnist/train-images-idx3-ubyte --kernel poly --model p.model --quiet";
    bench.ok(train);
    let story = bench.ok("rosenblatt inspect p.model");
    assert!(story.contains("of the training data with weight") && story.contains("@@"), "{story}");
}

/// Products of standardised columns grow with their number, and so would a power of them.
#[test]
fn a_polynomial_fits_the_scale_of_its_rows() {
    let bench = Bench::new();
    let error = |gamma: &str, model: &str| {
        let line = format!(
            "rosenblatt train crates/data/bundled/breast_cancer.csv --kernel polynomial --degree 2 {gamma} --json --model {model}"
        );
        let report: serde_json::Value = serde_json::from_str(&bench.ok(&line)).unwrap();
        report["held-out"]["error"].as_f64().unwrap()
    };
    let (fitting, plain) = (error("", "a.model"), error("--gamma 1", "b.model"));
    assert!(fitting < 0.7 * plain, "{fitting} {plain}");
    assert!(bench.ok("rosenblatt inspect a.model").contains("gamma 0.03"));
    assert_eq!(error("--gamma scale", "c.model"), fitting);
}
