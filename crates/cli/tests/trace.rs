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
