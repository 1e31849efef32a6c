//! `trace`: the textbook's table.

use crate::bench::Bench;

const LECTURE: &str = "x1,x2,y\n4,0,+1\n1,1,-1\n0,1,-1\n-2,-2,+1\n";
const XOR: &str = "x1,x2,y\n1,1,+1\n1,-1,-1\n-1,1,-1\n-1,-1,+1\n";

#[test]
fn the_lecture_note_line_by_line() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    let done = bench.run("rosenblatt trace points.csv --bias none");
    assert_eq!(done.code, Some(0), "{}", done.all());
    let lines: Vec<Vec<&str>> = done.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |round: &str| {
        let found = lines.iter().find(|cells| cells.first() == Some(&round) && cells.len() > 8);
        found.unwrap_or_else(|| panic!("round {round} in {}", done.stdout)).join(" ")
    };
    assert_eq!(row("1"), "1 1 1 (4, 0) +1 0 mistake w += x (4, 0) 0 1");
    assert_eq!(row("2"), "2 1 2 (1, 1) -1 4 mistake w -= x (3, -1) 0 1");
    assert_eq!(row("3"), "3 1 3 (0, 1) -1 -1 right (3, -1) 0 2");
    assert_eq!(row("4"), "4 1 4 (-2, -2) +1 -4 mistake w += x (1, -3) 0 1");
    assert_eq!(row("8"), "8 2 4 (-2, -2) +1 4 right (1, -3) 0 5");
    assert!(done.stdout.ends_with("converged in epoch 2: no mistake in a whole epoch, after 3 mistakes\n"));
}

#[test]
fn xor_ends_with_the_vector_it_began_with() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let done = bench.run("rosenblatt trace xor.csv");
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(
        done.stdout.contains("after round 4 the weights are what they were at the start"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("the 4 steps in between add up to nothing, so no hyperplane separates"));
}

#[test]
fn every_form_holds_the_same_rounds() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    for (form, line) in [
        ("markdown", "| 2 | 1 | 2 | (1, 1) | -1 | 4 | mistake | w -= x | (3, -1) | 0 | 1 |"),
        ("csv", "2,1,2,-1,1,-1,4,true,-1,1,1,1,3,-1,0,1"),
        (
            "latex",
            "$2$ & $1$ & $2$ & $(1, 1)$ & $-1$ & $4$ & mistake & $w \\gets w - x$ & $(3, -1)$ & $0$ & $1$ \\\\",
        ),
    ] {
        let done = bench.run(&format!("rosenblatt trace points.csv --bias none --to {form}"));
        assert!(done.stdout.lines().any(|found| found == line), "{form}: {}", done.all());
    }
    let done = bench.run("rosenblatt trace points.csv --bias none --json --rounds 2-2");
    let lines: Vec<serde_json::Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{}", done.stdout);
    assert_eq!(lines[0]["w"], serde_json::json!([3.0, -1.0]));
    assert_eq!(lines[1]["mistakes"], 3);
}

#[test]
fn a_window_says_what_it_leaves_out_and_nonsense_is_refused() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    let done = bench.run("rosenblatt trace points.csv --bias none --rounds 3");
    assert!(done.stdout.contains("… 5 rounds more; `--rounds` shows them"), "{}", done.stdout);
    let latex = bench.ok("rosenblatt trace points.csv --bias none --rounds 3 --to latex");
    let beside: Vec<&str> =
        latex.split("\\begin{tabular}").flat_map(|part| part.rsplit("\\end{tabular}").take(1)).collect();
    let text: Vec<&str> =
        beside.iter().flat_map(|part| part.lines()).filter(|line| !line.is_empty()).collect();
    assert!(text.len() >= 2 && text.iter().all(|line| line.starts_with("% ")), "{latex}");
    assert_eq!(bench.run("rosenblatt trace points.csv --rounds 5-3").code, Some(2));
    assert_eq!(bench.run("rosenblatt trace nowhere.csv").code, Some(1));
}

#[test]
fn the_positive_class_is_the_one_that_is_named() {
    let bench = Bench::new();
    bench.write("points.csv", "x,z,class\n4,0,red\n1,1,blue\n0,1,blue\n-2,-2,red\n");
    let named = bench.ok("rosenblatt trace points.csv --bias none --to csv --positive blue");
    let other = bench.ok("rosenblatt trace points.csv --bias none --to csv");
    // The first mistake is on red: w goes away from (4, 0) if blue is positive, and to it otherwise.
    let first = |text: &str| text.lines().nth(1).unwrap_or_default().to_owned();
    assert!(first(&named).contains("-4") && !first(&other).contains("-4"), "{named}\n{other}");
    let unknown = bench.run("rosenblatt trace points.csv --positive green");
    assert!(
        unknown.code == Some(1) && unknown.stderr.contains("the classes are `blue`, `red`"),
        "{}",
        unknown.all()
    );
}

/// A rule that goes on for the margin does not count as failed.
#[test]
fn steps_for_the_margin_are_no_mistakes() {
    let bench = Bench::new();
    bench.write("points.csv", "x,z,class\n4,0,red\n1,1,blue\n0,1,blue\n-2,-2,red\n");
    let text = bench.ok("rosenblatt trace points.csv --algorithm pa1");
    let expected = "no mistake since epoch 2; steps for the margin went on to the end of epoch 20";
    assert!(text.contains(expected) && !text.contains("not converged"), "{text}");
    // Where not all rounds are seen, they are not judged.
    let text = bench.ok("rosenblatt trace points.csv --algorithm pa1 --rounds 5");
    assert!(text.contains("not converged after 20 epochs"), "{text}");
}

#[test]
fn a_race_cannot_be_traced() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let done = bench.run("rosenblatt trace xor.csv --algorithm auto");
    assert!(done.code == Some(2) && done.stderr.contains("has rules compete"), "{}", done.all());
}

/// From w = (1, 0) the lecture's four points take four mistakes, by hand.
#[test]
fn a_run_starts_from_the_weights_that_are_named() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    let weights = |words: &str| -> Vec<serde_json::Value> {
        let text = bench.ok(&format!("rosenblatt trace points.csv --json {words}"));
        let mut lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let end = lines.pop().unwrap();
        lines
            .iter()
            .map(|line| serde_json::json!([line["w"], line["b"]]))
            .chain([end["end"].clone()])
            .collect()
    };
    let found = weights("--bias none --start 1,0");
    let expected = serde_json::json!([
        [[1.0, 0.0], 0.0],
        [[0.0, -1.0], 0.0],
        [[0.0, -1.0], 0.0],
        [[0.0, -1.0], 0.0],
        [[4.0, -1.0], 0.0],
        [[3.0, -2.0], 0.0],
        [[3.0, -2.0], 0.0],
        [[1.0, -4.0], 0.0],
        [[1.0, -4.0], 0.0],
        [[1.0, -4.0], 0.0],
        [[1.0, -4.0], 0.0],
        [[1.0, -4.0], 0.0],
        "converged in epoch 3: no mistake in a whole epoch, after 4 mistakes"
    ]);
    assert_eq!(serde_json::Value::Array(found), expected);
    // The bias is the number that is one more, and the first row is right from here: nothing moves.
    assert_eq!(weights("--start -1,0,8.5 --rounds 1")[0], serde_json::json!([[-1.0, 0.0], 8.5]));
    // Zeros are where every run starts.
    assert_eq!(weights("--start 0,0,0"), weights(""));
    // By a convention that zero weights never learn from, others do.
    let strict = weights("--bias none --mistake lt0 --start 1,0");
    assert_eq!(strict.last().unwrap(), "converged in epoch 2: no mistake in a whole epoch, after 1 mistake");
    let zero = bench.run("rosenblatt trace points.csv --mistake lt0 --start 0,0");
    assert!(zero.code == Some(2) && zero.stderr.contains("can never learn"), "{}", zero.all());
}

/// Weights that return to a start that is not zero are noticed.
#[test]
fn xor_ends_where_it_began_whatever_that_is() {
    let bench = Bench::new();
    bench.write("xor.csv", XOR);
    let done = bench.ok("rosenblatt trace xor.csv --bias none --start 0,2");
    assert!(done.contains("the weights are what they were") && done.contains("add up to nothing"), "{done}");
}

#[test]
fn start_weights_are_refused_where_there_is_no_single_hyperplane() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    bench.write("three.csv", "x1,x2,y\n4,0,a\n1,1,b\n0,1,b\n-2,-2,c\n");
    for (words, why) in [
        ("points.csv --start 1", "`start` should be one number for each feature"),
        ("points.csv --start 1,2,3,4", "4 numbers for 2 features"),
        ("points.csv --start 1,x", "one for each feature and perhaps one more for the bias"),
        ("points.csv --start 1,inf", "one for each feature and perhaps one more for the bias"),
        ("points.csv --bias none --start 1,0,1", "where `bias = none`"),
        ("points.csv --algorithm mlp --start 1,0", "a network has several"),
        ("points.csv --kernel rbf --start 1,0", "a trace shows weights"),
        ("points.csv --algorithm svm-dual --start 1,0", "a number for each row"),
        ("three.csv --start 1,0", "more than two classes"),
    ] {
        let done = bench.run(&format!("rosenblatt trace {words}"));
        assert!(
            done.code.is_some_and(|code| code > 0) && done.stderr.contains(why),
            "{words}: {}",
            done.all()
        );
    }
    assert_eq!(bench.run("rosenblatt trace three.csv --positive a --start 1,0").code, Some(0));
}
