//! The items of the catalogue of bad inputs that are about training, by their numbers.
//!
//! The others are in `crates/data/tests/catalogue.rs`, whose check that none is missing reads this table, too.

use crate::bench::Bench;

/// An item, what is put in, how it is trained from, whether that succeeds, and what is printed.
struct Case {
    item: u32,
    table: fn() -> String,
    options: &'static str,
    succeeds: bool,
    says: &'static str,
}

fn plain(value: &str) -> String {
    let line =
        |i: u32| format!("{}{},{},{}\n", ["", "-"][i as usize % 2], value, i % 5, ["a", "b"][i as usize % 2]);
    format!("x,z,label\n{}", (0..60).map(line).collect::<String>())
}

const CASES: &[Case] = &[
    Case {
        item: 34,
        table: || plain("1e20"),
        options: "t.csv --rate 1e308 --scale none --order given --holdout 0",
        succeeds: false,
        says: "the weights overflowed in epoch 1, at row 1;",
    },
    Case {
        item: 35,
        table: || plain("1e300"),
        options: "t.csv --precision f64 --scale none",
        succeeds: true,
        says: "training error: 0.0 %",
    },
    Case {
        item: 82,
        table: || plain("1").replace(",b\n", ",a\n"),
        options: "t.csv",
        succeeds: false,
        says: "at least two classes",
    },
    Case {
        item: 84,
        table: || format!("x,z,label\n{}", "3,4,a\n3,4,b\n".repeat(30)),
        options: "t.csv",
        succeeds: true,
        says: "all features are constant",
    },
    Case {
        item: 87,
        table: || format!("{}{}1,2,c\n", plain("1"), plain("1").split_once('\n').unwrap().1.repeat(1000)),
        // There is no way to let the classes grow: a learner's weights and votes are those of its classes, and a
        // class that comes late was counted wrong in every row before. The message names the cure.
        options: "- --online --scale none < t.csv",
        succeeds: false,
        says: "name all classes beforehand with --classes a,b,c",
    },
    Case {
        item: 88,
        table: || plain("NA").replace('-', ""),
        options: "t.csv --missing drop",
        succeeds: false,
        says: "no rows",
    },
];

#[test]
fn training_behaves_as_the_catalogue_says() {
    let bench = Bench::new();
    let mut short = Vec::new();
    for Case { item, table, options, succeeds, says } in CASES {
        bench.write("t.csv", table());
        let _ = std::fs::remove_file(bench.path("t.model"));
        let done = bench.run(&format!("rosenblatt train --model t.model {options}"));
        let sound = done.code == Some(i32::from(!succeeds))
            && done.all().contains(says)
            && bench.path("t.model").exists() == *succeeds
            && done.stderr.lines().count() <= 20;
        if !sound {
            short.push(format!("item {item}: {:?}\n{}", done.code, done.all()));
        }
    }
    assert!(short.is_empty(), "{} fell short:\n{}", short.len(), short.join("\n"));
}
