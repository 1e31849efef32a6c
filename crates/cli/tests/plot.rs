//! `plot`: its SVG is read back and compared with what other commands say of the same data and model.

use crate::bench::Bench;
use crate::reading::{Drawn, clashes, well_formed};
use rosenblatt::Dataset;
use rosenblatt::certify::Question;
use rosenblatt::separation::{Sides, study};
use rosenblatt_figures::{Canvas, Settings, Subject, Svg, draw};
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;

const LECTURE: &str = "x,y,class\n4,0,plus\n1,1,minus\n0,1,minus\n-2,-2,plus\n";
const TEXTBOOK: &str = "--label class --bias none --scale none --readout last --order given";

fn svg(bench: &Bench, name: &str) -> String {
    let svg = fs::read_to_string(bench.path(name)).unwrap();
    well_formed(&svg);
    svg
}

/// Two clouds that overlap, in units that differ a thousandfold.
fn clouds(n_rows: usize) -> String {
    let mut text = "height,weight,kind\n".to_owned();
    for row in 0..n_rows {
        let (a, b) = ((row * 7919 % 997) as f64 / 997.0, (row * 104_729 % 991) as f64 / 991.0);
        let kind = row % 2;
        let _ = writeln!(
            text,
            "{:.4},{:.1},{}",
            1.5 + 0.5 * a + 0.2 * kind as f64,
            40_000.0 + 30_000.0 * b + 15_000.0 * kind as f64,
            ["cat", "dog"][kind]
        );
    }
    text
}

#[test]
fn the_boundary_of_the_lecture_note_is_where_its_weights_say() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    bench.ok(&format!("rosenblatt plot boundary points.csv {TEXTBOOK} --support -o b.svg"));
    let drawn = Drawn::new(&svg(&bench, "b.svg"));
    let [line] = drawn.paths("boundary").try_into().unwrap();
    assert_eq!(line.len(), 2);
    for (px, py) in line {
        let (x, y) = drawn.values(px, py);
        // The note ends with w = (1, -3).
        let off = (x - 3.0 * y) / 3.0 * drawn.pixels_per_unit().1;
        assert!(off.abs() < 1.0, "({x}, {y}) is {off} pixels off");
    }
    assert_eq!(drawn.rows("ring"), [0; 0]);
    assert_eq!(drawn.rows("support"), [0, 1, 3]);
    // The nearest row is (0, 1), whose score is -3: (1, 1) has -2, (4, 0) has 4.
    for (line, level) in drawn.paths("margin").iter().zip([-2.0, 2.0]) {
        for &(px, py) in line {
            let (x, y) = drawn.values(px, py);
            let off = (x - 3.0 * y - level) / 3.0 * drawn.pixels_per_unit().1;
            assert!(off.abs() < 1.0, "margin at ({x}, {y}) is {off} pixels off");
        }
    }
}

#[test]
fn frames_show_every_step_with_the_boundary_before_and_after() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    bench.ok("rosenblatt plot boundary points.csv --label class --bias none --frames -o f.svg");
    let film = svg(&bench, "f.svg");
    assert_eq!(film.matches("class=\"shot\"").count(), 4, "three steps and the end");
    // Points are in it once, and what moves once for each frame.
    let all = Drawn::new(&film);
    let mut rows = all.rows("dot");
    rows.sort_unstable();
    assert_eq!(rows, [0, 1, 2, 3]);
    // Rows 1, 2 and 4 are the note's mistakes, and these the weights after each.
    let expected: [(usize, [f64; 2]); 3] = [(0, [4.0, 0.0]), (1, [3.0, -1.0]), (3, [1.0, -3.0])];
    assert_eq!(all.rows("ring"), expected.map(|(row, _)| row));
    let frame = |number: usize| -> String {
        let start = format!("<g class=\"frame frame-{number}\"");
        let parts = film.split(&start).skip(1);
        let parts: Vec<&str> = parts.map(|part| part.split("</g>").next().unwrap()).collect();
        format!("<g{}", parts.join("<g"))
    };
    for (number, (row, w)) in expected.into_iter().enumerate() {
        let drawn = Drawn::new(&frame(number));
        assert_eq!(drawn.rows("ring"), [row]);
        let [line] = drawn.paths("boundary").try_into().unwrap();
        for (px, py) in line {
            let (x, y) = all.values(px, py);
            let length = w[0].hypot(w[1]);
            let off = (w[0] * x + w[1] * y) / length * all.pixels_per_unit().0;
            assert!(off.abs() < 1.0, "row {row}: ({x}, {y}) is {off} pixels off");
        }
    }
    assert!(frame(0).contains("w = (4, 0), b = 0") && frame(2).contains("w = (1, \u{2212}3)"));
    // What is before a step is what was after the last one.
    assert_eq!(Drawn::new(&frame(0)).paths("boundary"), Drawn::new(&frame(1)).paths("before"));
    assert!(frame(3).contains("converged in epoch 2"));
    // A page that shows it as an image follows no links: there it has no buttons, and moves all the same.
    bench.ok(
        "rosenblatt plot boundary points.csv --label class --bias none --frames --no-buttons -o bare.svg",
    );
    let bare = svg(&bench, "bare.svg");
    assert!(!bare.contains("<a ") && !bare.contains(":target") && bare.contains("@keyframes"), "{bare}");
    assert!(film.contains("viewBox=\"0 0 800 586\"") && bare.contains("viewBox=\"0 0 800 560\""), "{bare}");
    bench.ok("rosenblatt plot boundary points.csv --label class --bias none --frames -o f.apng");
    let moving = fs::read(bench.path("f.apng")).unwrap();
    assert!(moving.starts_with(b"\x89PNG") && moving.windows(4).filter(|name| name == b"fcTL").count() == 4);
    bench.write("xor.csv", "x,y,class\n1,1,a\n1,-1,b\n-1,1,b\n-1,-1,a\n");
    let text = bench.ok("rosenblatt plot boundary xor.csv --label class --frames=2");
    assert!(text.contains("There are 2 more steps"), "{text}");
    let text = bench.ok("rosenblatt plot boundary xor.csv --label class --frames");
    assert!(
        text.contains("the weights are what they were") && text.matches("a step along").count() == 4,
        "{text}"
    );
    // Three classes learned together: a step moves two hyperplanes at once.
    bench.write("three.csv", "x,y,class\n2,0,a\n0,2,b\n-2,-2,c\n");
    bench
        .ok("rosenblatt plot boundary three.csv --label class --multiclass direct-max --frames -o three.svg");
    let three = svg(&bench, "three.svg");
    let few = bench.ok("rosenblatt plot boundary three.csv --label class --frames=1");
    assert_eq!(few.matches("a step along").count(), 1, "{few}");
    let last = three.matches("class=\"shot\"").count() - 1;
    let end: Vec<&str> = three.split(&format!("<g class=\"frame frame-{last}\"")).skip(1).collect();
    let regions: usize =
        end.iter().map(|part| part.split("</g>").next().unwrap().matches("class=\"region").count()).sum();
    assert!(three.contains("converged") && regions == 3, "{regions}");
}

#[test]
fn rings_are_the_mistakes_and_the_boundary_parts_what_is_predicted() {
    let bench = Bench::new();
    let table = clouds(200);
    bench.write("pets.csv", &table);
    bench.ok("rosenblatt train pets.csv --holdout 0 --model pets.model --quiet");
    bench.ok("rosenblatt plot boundary pets.csv --model pets.model -o pets.svg");
    let drawn = Drawn::new(&svg(&bench, "pets.svg"));
    let predicted = bench.ok("rosenblatt predict pets.csv --model pets.model");
    let kinds = table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap());
    let wrong = kinds.zip(predicted.lines()).enumerate().filter(|(_, (kind, given))| kind != given);
    let wrong: Vec<usize> = wrong.map(|(row, _)| row).collect();
    assert!(wrong.len() > 5, "{wrong:?}");
    let mut ringed = drawn.rows("ring");
    ringed.sort_unstable();
    assert_eq!(ringed, wrong);
    // A pixel to either side of the line, the model says different things, in the units of the file.
    let [line] = drawn.paths("boundary").try_into().unwrap();
    let [(ax, ay), (bx, by)] = line[..] else { panic!("a straight line has two ends") };
    let length = (bx - ax).hypot(by - ay);
    let (dx, dy) = ((by - ay) / length, (ax - bx) / length);
    let mut sides = "height,weight\n".to_owned();
    for (px, py) in [(ax, ay), (bx, by)] {
        for side in [-1.0, 1.0] {
            let (x, y) = drawn.values(px + side * dx, py + side * dy);
            let _ = writeln!(sides, "{x},{y}");
        }
    }
    bench.write("sides.csv", sides);
    let printed = bench.ok("rosenblatt predict sides.csv --model pets.model");
    let classes: Vec<&str> = printed.lines().collect();
    assert!(classes[0] != classes[1] && classes[0] == classes[2] && classes[1] == classes[3], "{classes:?}");
    // Every point is where the file has it, and on the page.
    let clip = drawn.clip();
    for (row, (px, py)) in drawn.circles("dot").into_iter().chain(drawn.circles("ring")) {
        let cells: Vec<f64> = table
            .lines()
            .nth(row + 1)
            .unwrap()
            .split(',')
            .take(2)
            .map(|cell| cell.parse().unwrap())
            .collect();
        let (x, y) = drawn.values(px, py);
        let (across, up) = drawn.pixels_per_unit();
        assert!(((x - cells[0]) * across).abs() < 1.0 && ((y - cells[1]) * up).abs() < 1.0, "row {row}");
        assert!(clip.0 <= px && px <= clip.1 && clip.2 <= py && py <= clip.3, "row {row} is outside");
    }
}

#[test]
fn many_rows_are_sampled_alike_every_time_and_the_picture_says_so() {
    let bench = Bench::new();
    bench.write("pets.csv", clouds(7000));
    for name in ["a.svg", "b.svg"] {
        bench.ok(&format!("rosenblatt plot boundary pets.csv --epochs 2 -o {name}"));
    }
    let picture = svg(&bench, "a.svg");
    assert_eq!(picture, svg(&bench, "b.svg"));
    assert!(picture.contains("2,000 of 7,000 rows are drawn"));
    let drawn = Drawn::new(&picture);
    assert_eq!(drawn.rows("dot").len() + drawn.rows("mistake").len(), 2000);
}

#[test]
fn other_features_are_held_still_and_it_is_said() {
    let bench = Bench::new();
    let penguins = "crates/data/bundled/penguins.csv --label species --missing mean";
    bench.ok(&format!("rosenblatt plot boundary {penguins} --columns bill_length_mm,5 -o columns.svg"));
    let columns = svg(&bench, "columns.svg");
    assert!(columns.contains("7 other features are held at the mean"));
    assert!(columns.contains(">bill_length_mm</text>"));
    bench.ok(&format!("rosenblatt plot boundary {penguins} --principal -o principal.svg"));
    let principal = svg(&bench, "principal.svg");
    assert!(principal.contains("of the variance") && principal.contains(">first principal component</text>"));
    assert_eq!(Drawn::new(&principal).rows("dot").len() + Drawn::new(&principal).rows("mistake").len(), 344);
}

#[test]
fn hostile_class_names_do_no_harm() {
    let bench = Bench::new();
    let long = "y".repeat(200);
    bench.write(
        "names.csv",
        format!("a,b,class\n1,2,<script>alert(1)</script>\n3,1,{long}\n2,5,{long}\n0,0,\"\"\"&\"\n"),
    );
    for kind in ["boundary", "confusion", "roc", "weights", "margins", "curves"] {
        let holdout = if ["confusion", "roc", "curves"].contains(&kind) { " --holdout 0" } else { "" };
        let line = format!("rosenblatt plot {kind} names.csv --label class{holdout}");
        bench.ok(&format!("{line} -o {kind}.svg"));
        let picture = svg(&bench, &format!("{kind}.svg"));
        assert!(!picture.contains("<script"), "{kind}");
        assert!(Drawn::new(&picture).texts().iter().all(|text| !text.contains(&long)), "{kind}");
        bench.ok(&format!("{line} -o {kind}.png"));
    }
    assert!(svg(&bench, "boundary.svg").contains(&format!("<title>{long}</title>")));
}

#[test]
fn degenerate_data_is_drawn_or_refused_with_a_reason() {
    let bench = Bench::new();
    for (name, rows) in [
        ("same-x", "1,0,p\n1,5,q\n1,9,p\n"),
        ("all-alike", "1,1,p\n1,1,q\n"),
        ("constant", "0,3,p\n1,3,q\n2,3,q\n"),
        ("tiny", "1e-30,2e-30,p\n3e-30,1e-30,q\n"),
        ("huge", "1e300,-1e300,p\n-1e300,1e300,q\n"),
    ] {
        bench.write(&format!("{name}.csv"), format!("a,b,class\n{rows}"));
        let line = format!("rosenblatt plot boundary {name}.csv --label class --scale none --precision f64");
        let done = bench.run(&format!("{line} -o {name}.svg && {line} -o {name}.png && {line}"));
        if name == "huge" {
            // A step along such a row has a length that is no number; training says so.
            assert!(done.code == Some(0) || done.stderr.contains("overflow"), "{}", done.all());
            continue;
        }
        assert_eq!(done.code, Some(0), "{name}: {}", done.all());
        let picture = svg(&bench, &format!("{name}.svg"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{name}");
    }
    bench.write("one.csv", "a,class\n1,p\n3,q\n");
    bench.ok("rosenblatt plot boundary one.csv --label class -o one.svg");
    svg(&bench, "one.svg");
    let refused = |content: &str, expected: &str| {
        bench.write("bad.csv", content);
        let done = bench.run("rosenblatt plot boundary bad.csv --label class -o bad.svg");
        assert_eq!(done.code, Some(1), "{}", done.all());
        assert!(done.stderr.contains(expected), "{}", done.stderr);
        assert!(!bench.path("bad.svg").exists());
    };
    refused("a,b,class\n1,2,p\nNaN,3,q\n", "bad.csv:3:1");
    refused("a,b,class\n1,2,p\n", "at least two classes");
    refused("a,b,class\n", "bad.csv");
}

#[test]
fn every_kind_is_drawn_in_every_form() {
    let bench = Bench::new();
    bench.write("points.csv", LECTURE);
    bench.ok("rosenblatt train crates/data/bundled/banknote.csv --shape line --model notes.model --quiet");
    let notes = "crates/data/bundled/banknote.csv";
    for (kind, rest) in [
        ("boundary", format!("{notes} --model notes.model")),
        ("curves", format!("{notes} --epochs 3 --readouts last,averaged,voted,pocket --loss logistic")),
        ("mistakes", "points.csv --label class --bias none".to_owned()),
        ("norms", "points.csv --label class --algorithm pa".to_owned()),
        ("margins", format!("{notes} --model notes.model")),
        ("weights", "--model notes.model".to_owned()),
        ("roc", format!("{notes} --model notes.model")),
        ("precision-recall", format!("{notes} --model notes.model")),
        ("reliability", notes.to_owned()),
        ("confusion", format!("{notes} --model notes.model --title Notes")),
    ] {
        let line = format!("rosenblatt plot {kind} {rest}");
        bench.ok(&format!("{line} -o {kind}.svg --theme dark --canvas 640x480"));
        svg(&bench, &format!("{kind}.svg"));
        bench.ok(&format!("{line} -o {kind}.png"));
        assert!(fs::read(bench.path(&format!("{kind}.png"))).unwrap().starts_with(b"\x89PNG"), "{kind}");
        let text = bench.ok(&line);
        assert!(text.lines().count() > 5 && !text.contains('\u{1b}'), "{kind}\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{kind}\n{text}");
        assert_eq!(bench.ok(&format!("{line} --to svg -o -")), bench.ok(&format!("{line} --to svg")));
    }
    let iris = "rosenblatt plot mistakes crates/data/bundled/iris.csv";
    let done = bench.run(iris);
    assert!(done.code == Some(1) && done.stderr.contains("--positive"), "{}", done.all());
    bench.ok(&format!("{iris} --positive setosa -o setosa.svg"));
    assert!(svg(&bench, "setosa.svg").contains("class=\"level "));
    let bound = svg(&bench, "mistakes.svg");
    // The note's rows have R = 4 and a largest margin of 4/sqrt(26).
    assert!(bound.contains("(R/γ)² = 26"), "{bound}");
    assert!(svg(&bench, "norms.svg").contains("do not apply"));
}

/// In the picture and in the report.
#[test]
fn columns_that_count_together_are_heat_maps_after_the_curves() {
    let bench = Bench::new();
    let line = |row: usize| {
        let (width, height) = (row * row % 877, row * 389 % 907);
        let class = if (width > 450) == (height > 450) { "same" } else { "other" };
        format!("{width},{height},{class}\n")
    };
    bench.write("board.csv", "width,height,class\n".to_owned() + &(1..=900).map(line).collect::<String>());
    let shape = "--shape 'bend(knots=4,crosses=1)'";
    bench.ok(&format!("rosenblatt train board.csv {shape} --holdout 0 --model board.model"));
    let shown = bench.ok("rosenblatt plot shapes board.csv --model board.model");
    let titles = ["width: moves", "height: moves", "width and height: move scores by"];
    let places = titles.map(|title| shown.find(title).unwrap_or_else(|| panic!("{title} in {shown}")));
    assert!(places[0].max(places[1]) < places[2], "{shown}");
    bench.ok("rosenblatt plot shapes board.csv --model board.model --output board.svg");
    let drawn = svg(&bench, "board.svg");
    // Of four corners two speak for the class and two against it, each in the colour of its class, as in the curves.
    assert!(drawn.contains("class=\"heat f-for") && drawn.contains("class=\"heat f-against"), "{drawn}");
    assert_eq!(hues(&drawn), ["against-class0", "for-class1"]);
    let colour = |what: &str, attribute: &str| {
        let (_, rest) = drawn.split_once(&format!("{what}\"")).unwrap_or_else(|| panic!("{what} in {drawn}"));
        rest.split_once(&format!(" {attribute}=\"")).unwrap().1.split('"').next().unwrap().to_owned()
    };
    assert_eq!(colour(" f-for24-class1", "fill"), colour("curve s-class1", "stroke"));
    bench.ok("rosenblatt report board.csv --model board.model");
    let page = fs::read_to_string(bench.path("board.html")).unwrap();
    assert!(page.contains("what pairs of columns add together") && page.contains("class=\"heat f-for"));
    assert_eq!(hues(&page), ["against-class0", "for-class1"]);
}

/// The colours of heat maps, in order: which side, and whose.
fn hues(picture: &str) -> Vec<String> {
    let words = picture.split("class=\"heat f-").skip(1).filter_map(|rest| rest.split('"').next());
    let mut hues: Vec<String> = words
        .map(|word| {
            let (step, hue) = word.split_once('-').unwrap();
            format!("{}-{hue}", step.trim_end_matches(|letter: char| letter.is_ascii_digit()))
        })
        .collect();
    hues.sort();
    hues.dedup();
    hues
}

#[test]
fn weights_of_pixels_are_pictures() {
    let bench = Bench::new();
    bench.write("pixels.csv", "a,b,c,d,digit\n9,0,0,9,one\n8,0,1,9,one\n0,9,9,0,two\n1,9,8,0,two\n");
    bench.ok("rosenblatt plot weights pixels.csv --image 2x2 -o w.svg");
    let picture = svg(&bench, "w.svg");
    assert!(picture.matches("class=\"heat ").count() >= 2, "{picture}");
    assert_eq!(hues(&picture), ["against-class0", "for-class1"]);
    // Of several classes, each is for itself; what is against it has no colour.
    bench.write(
        "three.csv",
        "a,b,c,d,digit\n9,0,0,9,one\n8,0,1,9,one\n0,9,9,0,two\n1,9,8,0,two\n9,9,0,1,six\n8,9,0,0,six\n",
    );
    bench.ok("rosenblatt plot weights three.csv --image 2x2 -o w3.svg");
    assert_eq!(hues(&svg(&bench, "w3.svg")), ["against-plain", "for-class0", "for-class1", "for-class2"]);
    bench.ok("rosenblatt plot weights three.csv -o bars.svg");
    let bars = svg(&bench, "bars.svg");
    assert!(
        ["class0", "class1", "class2", "faint"]
            .iter()
            .all(|ink| bars.contains(&format!("class=\"bar f-{ink}"))),
        "{bars}"
    );
    let done = bench.run("rosenblatt plot weights pixels.csv --image 3x2 -o no.svg");
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("3x2 have 6 pixels, but the model has 4 features"), "{}", done.stderr);
}

/// Trains a model of `table` and draws its boundary: the picture, and the class that each row is given.
fn faced(bench: &Bench, table: &str, options: &str) -> (String, Vec<String>) {
    bench.ok(&format!("rosenblatt train {table} {options} --holdout 0 --model faced.model --quiet"));
    bench.ok(&format!("rosenblatt plot boundary {table} --model faced.model -o faced.svg"));
    let predicted = bench.ok(&format!("rosenblatt predict {table} --model faced.model"));
    (svg(bench, "faced.svg"), predicted.lines().map(str::to_owned).collect())
}

#[test]
fn rows_of_many_features_stand_on_their_true_side() {
    let bench = Bench::new();
    // Two classes: the boundary is upright, and a row is right of it if it is given the second class.
    let (picture, given) = faced(&bench, "crates/data/bundled/breast_cancer.csv", "");
    assert!(picture.contains("signed distance to the hyperplane"));
    let drawn = Drawn::new(&picture);
    let [line] = drawn.paths("boundary").try_into().unwrap();
    assert!((line[0].0 - line[1].0).abs() < 0.1, "{line:?}");
    let mut classes = given.clone();
    classes.sort();
    classes.dedup();
    let places = drawn.places(&["dot", "mistake"]);
    assert_eq!(places.len(), given.len());
    for (row, (x, _)) in places {
        assert!((x - line[0].0).abs() < 0.1 || (x > line[0].0) == (given[row] == classes[1]), "row {row}");
    }
    // Three classes: what they have for them is read off the axes, and the one with most is given.
    let (picture, given) = faced(&bench, "crates/data/bundled/iris.csv", "");
    let drawn = Drawn::new(&picture);
    let (across, up) = drawn.pixels_per_unit();
    assert!((across / up + 1.0).abs() < 0.01, "one scale both ways: {across} {up}");
    assert!(drawn.paths("boundary").len() >= 2 && picture.matches("class=\"region ").count() == 3);
    let mut classes = given.clone();
    classes.sort();
    classes.dedup();
    let places = drawn.places(&["dot", "mistake"]);
    assert_eq!(places.len(), 150);
    for (row, (px, py)) in places {
        let (x, y) = drawn.values(px, py);
        let (half, third) = (x / 2.0, y / (2.0 * 3.0_f64.sqrt()));
        let scores = [-half - third, half - third, 2.0 * third];
        let best = (0..3).fold(0, |best, class| if scores[class] > scores[best] { class } else { best });
        let own = classes.iter().position(|class| *class == given[row]).unwrap();
        assert!(scores[best] - scores[own] < 0.5 / across, "row {row}: {scores:?}, given {}", given[row]);
    }
    // Many classes: a row is below the diagonal if it is right.
    let mut table = "a,b,c,d,e,f,kind\n".to_owned();
    for row in 0..360_usize {
        let value = |feature: usize| {
            let noise = (row * (feature * 2 + 7919) % 101) as f64 / 30.0;
            ((row % 12) * (feature * 5 + 3) % 11) as f64 + noise
        };
        let values: Vec<String> = (0..6).map(|feature| format!("{:.3}", value(feature))).collect();
        let _ = writeln!(table, "{},k{}", values.join(","), row % 12);
    }
    bench.write("many.csv", &table);
    let (picture, given) = faced(&bench, "many.csv", "--label kind");
    let drawn = Drawn::new(&picture);
    let (across, up) = drawn.pixels_per_unit();
    assert!((across / up + 1.0).abs() < 0.01, "one scale both ways: {across} {up}");
    let places = drawn.places(&["dot", "mistake"]);
    assert_eq!(places.len(), 360);
    let mut wrong = Vec::new();
    for (row, (px, py)) in places {
        let (own, rival) = drawn.values(px, py);
        let is_right = given[row] == format!("k{}", row % 12);
        assert!((own - rival).abs() * across < 1.0 || (own > rival) == is_right, "row {row}: {own} {rival}");
        wrong.extend((!is_right).then_some(row));
    }
    let mut ringed = drawn.rows("ring");
    ringed.sort_unstable();
    wrong.sort_unstable();
    assert!(!wrong.is_empty() && ringed == wrong, "{wrong:?}");
}

/// With a model for each pair of classes, votes are whole numbers; rows still stand apart, and on their side.
#[test]
fn rows_of_pairs_of_classes_stand_apart_and_on_their_side() {
    let bench = Bench::new();
    let mut table = "a,b,c,kind\n".to_owned();
    for row in 0..300_usize {
        let noise = |by: usize| (row * by % 97) as f64 / 40.0;
        let kind = row % 5;
        let (a, b, c) =
            (kind as f64 + noise(31), (kind * 2 % 5) as f64 + noise(57), (kind * 3 % 5) as f64 + noise(73));
        let _ = writeln!(table, "{a:.3},{b:.3},{c:.3},k{kind}");
    }
    bench.write("five.csv", &table);
    let line = "rosenblatt train five.csv --label kind -a perceptron --multiclass one-vs-one --folds 4 --model f.model";
    bench.ok(&format!("{line} --quiet"));
    bench.ok("rosenblatt plot boundary five.csv --model f.model -o f.svg");
    let given = bench.ok("rosenblatt predict five.csv --model f.model");
    let given: Vec<&str> = given.lines().collect();
    let picture = svg(&bench, "f.svg");
    assert!(picture.contains("lowest pairwise score of the row&#39;s own class"), "{picture}");
    let words = Drawn::new(&picture).texts().join(" ");
    assert!(
        words.contains("mistakes in 300 training rows,") && words.contains("in 300 held-out rows"),
        "{words}"
    );
    let drawn = Drawn::new(&picture);
    let places = drawn.places(&["dot", "mistake"]);
    assert_eq!(places.len(), 300);
    let mut across: Vec<i64> = places.iter().map(|(_, (x, _))| (x * 10.0) as i64).collect();
    across.sort_unstable();
    across.dedup();
    assert!(across.len() > 150, "{} places", across.len());
    let scale = drawn.pixels_per_unit().0;
    let is_off = |(row, (px, py)): &(usize, (f64, f64))| {
        let (own, rival) = drawn.values(*px, *py);
        let is_right = given[*row] == format!("k{}", row % 5);
        (own - rival).abs() * scale >= 1.0 && (own > rival) != is_right
    };
    let n_off = places.iter().filter(|place| is_off(place)).count();
    let noted = words.split(" elsewhere: no class beats").next().unwrap();
    let noted: usize = noted.rsplit(' ').nth(2).and_then(|word| word.parse().ok()).unwrap_or(0);
    assert!(n_off <= noted, "{n_off} rows are off, {noted} by the note: {words}");
}

#[test]
fn curves_of_scores_and_probabilities_are_square_and_their_words_apart() {
    let bench = Bench::new();
    let ruler = Canvas::default().ruler;
    for file in ["breast_cancer.csv", "iris.csv"] {
        for kind in ["roc", "precision-recall", "reliability", "boundary", "confusion", "weights", "margins"]
        {
            for canvas in ["800x560", "380x430"] {
                bench.ok(&format!(
                    "rosenblatt plot {kind} crates/data/bundled/{file} --canvas {canvas} -o new.svg"
                ));
                let picture = svg(&bench, "new.svg");
                let clashes = clashes(&picture, |text, size| ruler.width(text, size));
                assert_eq!(clashes, [""; 0], "{kind} of {file} on {canvas}");
                if !["roc", "precision-recall", "reliability"].contains(&kind) {
                    continue;
                }
                let drawn = Drawn::new(&picture);
                let (across, up) = drawn.pixels_per_unit();
                assert!((across / up + 1.0).abs() < 0.01, "{kind} of {file}: {across} {up}");
                // Every curve is within the unit square.
                for (px, py) in drawn.paths("curve").concat() {
                    let (x, y) = drawn.values(px, py);
                    assert!((-0.01..=1.01).contains(&x) && (-0.01..=1.01).contains(&y), "{kind}: {x}, {y}");
                }
                assert!(picture.contains("class=\"mark "), "{kind} of {file}");
                // A curve has the colour of its class; what is there to compare with has none, nor that of mistakes.
                if file == "breast_cancer.csv" {
                    let beside = if kind == "precision-recall" { "level" } else { "curve" };
                    for class in ["curve s-class1", "mark f-paper s-class1", &format!("{beside} s-faint")] {
                        assert!(picture.contains(&format!("class=\"{class}\"")), "{class}: {kind}");
                    }
                }
            }
        }
    }
}

/// The picture of what is certain about these rows.
fn certified(rows: &[[f64; 2]], names: &[&str]) -> String {
    let data = Dataset::from_rows(rows, names);
    let sides = Sides::chosen(&data, None, None).unwrap().remove(0);
    let watch = |_: rosenblatt::certify::Progress<'_>| ControlFlow::Continue(());
    let study = study(&data, sides, Question::default(), None, &watch).unwrap();
    let subject = Subject::of_certificate("rows", data, &study.certificate.unwrap()).unwrap();
    draw("boundary", &subject, &Settings::default(), Canvas::default()).unwrap().svg(&Svg::default())
}

#[test]
fn the_picture_of_a_certificate_says_what_is_proved() {
    let apart = certified(&[[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]], &["a", "a", "b", "b"]);
    assert!(apart.contains("The proved hyperplane: 0 mistakes in 4 rows."), "{apart}");
    assert!(apart.contains(">nearest to it</text>"), "{apart}");
    let mixed = certified(&[[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], &["a", "a", "b", "b"]);
    assert!(mixed.contains("No hyperplane separates these rows") && mixed.contains(">proves it</text>"));
    for picture in [apart, mixed] {
        assert!(!picture.contains("learned from") && !picture.contains("perceptron, last"));
    }
}

#[test]
fn a_boundary_outside_the_picture_is_said_to_be_there() {
    let bench = Bench::new();
    bench.write("xor.csv", "x1,x2,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n");
    bench.ok("rosenblatt plot boundary xor.csv -o xor.svg");
    let picture = svg(&bench, "xor.svg");
    assert!(
        picture.contains("The boundary lies outside the picture; every point in it is predicted as same."),
        "{picture}"
    );
    assert!(!picture.contains(">boundary<"), "{picture}");
    bench.write("two.csv", "x1,x2,class\n1,1,a\n1,-1,a\n-1,1,b\n-1,-1,b\n");
    bench.ok("rosenblatt plot boundary two.csv -o two.svg");
    let picture = svg(&bench, "two.svg");
    assert!(picture.contains(">boundary<") && !picture.contains("outside the picture"), "{picture}");
}

/// Options of training are refused for a trained model, and its own rows are no judge.
#[test]
fn a_model_is_drawn_as_it_is() {
    let bench = Bench::new();
    bench.write("pets.csv", clouds(200));
    bench.ok("rosenblatt train pets.csv --model pets.model --quiet");
    let plot = "rosenblatt plot roc pets.csv --model pets.model -o roc.svg";
    let done = bench.run(plot);
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(!done.stderr.contains("these are the rows it was trained from"), "{}", done.stderr);
    let done = bench.run(&format!("{plot} --training-rows"));
    assert!(done.stderr.contains("these are the rows it was trained from"), "{}", done.stderr);
    for (options, why) in [
        ("--holdout 0.5", "`model` and `holdout` exclude each other"),
        ("--epochs 3", "is trained already"),
        ("--algorithm perceptron", "is trained already"),
        ("--scale none", "`--scale` is decided when a model is trained"),
        ("--algorithm auto", "name one of `rosenblatt algorithms`"),
    ] {
        let done = bench.run(&format!("{plot} {options}"));
        assert!(done.code == Some(2) && done.stderr.contains(why), "{options}: {}", done.all());
    }
}

/// A row far out is drawn hollow on its own side, and does not squeeze the others into a blot.
#[test]
fn a_row_far_out_is_drawn_in_and_on_its_side() {
    let bench = Bench::new();
    let near = |row: u32| {
        format!("{}.{},{},{}\n", row % 7, row % 10, row % 5, if row % 7 > 3 { "up" } else { "down" })
    };
    let rows: Vec<String> = (0..200).map(near).collect();
    bench.write("far.csv", format!("a,b,label\n{}900,2,up\n", rows.concat()));
    bench.ok("rosenblatt plot boundary far.csv --scale none --output far.svg");
    let drawn = bench.ok("cat far.svg");
    assert!(drawn.contains("1 row lies further out than drawn"), "{drawn}");
    assert!(!drawn.contains(">800<") && !drawn.contains(">900<"), "the axis ends near the other rows");
    bench.write("near.csv", format!("a,b,label\n{}", rows.concat()));
    bench.ok("rosenblatt plot boundary near.csv --scale none --output near.svg");
    assert!(!bench.ok("cat near.svg").contains("further out"));
}

/// Where many rows are misclassified, rings are thin and close, or they would bury the rows.
#[test]
fn rings_are_thin_where_mistakes_are_many() {
    let bench = Bench::new();
    let noise = |n_rows: usize| {
        let row = |row: usize| {
            let (a, b) = (row * 7919 % 997, row * 104_729 % 991);
            format!("{a},{b},{}\n", if row * row % 7 < 3 { "yes" } else { "no" })
        };
        format!("a,b,class\n{}", (0..n_rows).map(row).collect::<String>())
    };
    let rings = |n_rows: usize| {
        bench.write("noise.csv", noise(n_rows));
        bench.ok("rosenblatt plot boundary noise.csv -o noise.svg");
        let picture = svg(&bench, "noise.svg");
        let ring =
            picture.split("<circle class=\"ring ").nth(1).unwrap().split("/>").next().unwrap().to_owned();
        let of = |name: &str| -> f64 {
            ring.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        (picture.matches("class=\"ring ").count(), of("stroke-width"), of("r"))
    };
    let ((few, wide, far), (many, thin, near)) = (rings(60), rings(400));
    assert!(few <= 60 && many > 60, "{few} {many}");
    assert!(thin == 1.0 && thin < wide && near < far, "{wide} {far} {thin} {near}");
}

/// Beside curves of held-out rows stand probabilities; only a model without them has scores there.
#[test]
fn thresholds_of_curves_are_probabilities() {
    let bench = Bench::new();
    let wdbc = "crates/data/bundled/breast_cancer.csv";
    bench.ok(&format!("rosenblatt train {wdbc} --calibrate none -a perceptron --model scores.model --quiet"));
    for kind in ["roc", "precision-recall"] {
        bench.ok(&format!("rosenblatt plot {kind} {wdbc} -o p.svg"));
        let picture = svg(&bench, "p.svg");
        assert!(picture.contains("thresholds: the lowest probability"), "{kind}: {picture}");
        let notes: Vec<&str> = picture.split("<title>probability ").skip(1).collect();
        assert!(notes.len() > 2 && !picture.contains("<title>score "), "{kind}: {picture}");
        for note in notes {
            let shown = note.split(" or more").next().unwrap();
            let share: f64 = shown.replace("&lt;", "").replace("&gt;", "").trim().parse().unwrap();
            assert!((0.0..=1.0).contains(&share), "{kind}: {shown}");
        }
        bench.ok(&format!("rosenblatt plot {kind} {wdbc} --model scores.model -o s.svg"));
        let picture = svg(&bench, "s.svg");
        assert!(
            picture.contains("thresholds: the lowest score") && picture.contains("<title>score "),
            "{kind}"
        );
    }
}
