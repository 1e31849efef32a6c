//! Pictures are right, not only pretty: their SVG is read back and compared with what was drawn.

mod reading;

use reading::{Drawn, boxes, clashes, well_formed};
use rosenblatt_plot::{
    Aspect, Axis, Bar, Bars, Boundary, Canvas, Confusion, Dot, Heat, Histogram, Hue, Ink, Level, Lines, Look,
    Mark, Picture, Range, Ruler, Series, Surface, Svg, Terminal, Tile, Verdict,
};

const W: [f64; 3] = [1.5, -2.0, 0.7];

fn plane(x: f64, y: f64) -> Verdict {
    let score = W[0] * x + W[1] * y + W[2];
    Verdict { class: usize::from(score > 0.0), margin: score.abs() }
}

fn two() -> Vec<String> {
    ["no", "yes"].map(str::to_owned).to_vec()
}

/// Points all over a square, some of them on the wrong side.
fn points() -> Vec<Dot> {
    (0..60_usize)
        .map(|row| {
            let (x, y) = ((row * 37 % 60) as f64 / 6.0 - 4.0, (row * 23 % 60) as f64 / 7.0 - 3.0);
            let class = if row % 9 == 0 { 1 - plane(x, y).class } else { plane(x, y).class };
            Dot { mistaken: class != plane(x, y).class, ..Dot::new(row, x, y, class) }
        })
        .collect()
}

fn drawn(dots: &[Dot], canvas: Canvas) -> Picture {
    let (classes, mut decide) = (two(), plane);
    let chart = Boundary::new("A plane", &classes, dots, &mut decide).unwrap();
    Boundary { band: Some(1.0), ..chart }.draw(canvas)
}

#[test]
fn the_ends_of_the_boundary_satisfy_its_equation_to_a_pixel() {
    for aspect in [Aspect::Free, Aspect::Equal] {
        let (dots, classes, mut decide) = (points(), two(), plane);
        let chart = Boundary::new("A plane", &classes, &dots, &mut decide).unwrap();
        let picture = Boundary { band: Some(1.0), aspect, ..chart }.draw(Canvas::default());
        let svg = Drawn::new(&picture.svg(&Svg::default()));
        for (role, levels) in [("boundary", vec![0.0]), ("margin", vec![-1.0, 1.0])] {
            let lines = svg.paths(role);
            assert_eq!(lines.len(), levels.len(), "{role}");
            for (line, level) in lines.iter().zip(levels) {
                assert_eq!(line.len(), 2, "a straight line has two ends");
                for &(px, py) in line {
                    let (x, y) = svg.values(px, py);
                    // How many pixels the end would have to move upwards to be right.
                    let off = (W[0] * x + W[1] * y + W[2] - level) / W[1] * svg.pixels_per_unit().1;
                    assert!(off.abs() < 1.0, "{role} at {x}, {y} is {off} pixels off");
                }
            }
        }
    }
}

#[test]
fn exactly_the_mistakes_are_ringed_and_axes_hold_all_points() {
    let dots = points();
    let svg = Drawn::new(&drawn(&dots, Canvas::default()).svg(&Svg::default()));
    let mistakes: Vec<usize> = dots.iter().filter(|dot| dot.mistaken).map(|dot| dot.row).collect();
    assert!(mistakes.len() > 3);
    let mut ringed = svg.rows("ring");
    ringed.sort_unstable();
    assert_eq!(ringed, mistakes);
    let mut shown = [svg.rows("dot"), svg.rows("mistake")].concat();
    shown.sort_unstable();
    assert_eq!(shown, (0..60).collect::<Vec<_>>());
    let clip = svg.clip();
    assert_eq!(svg.circles("ring").len(), mistakes.len());
    for (row, (px, py)) in svg.places(&["dot", "mistake", "ring"]) {
        let (x, y) = svg.values(px, py);
        let dot = dots[row];
        let off = ((x - dot.x) * svg.pixels_per_unit().0).hypot((y - dot.y) * svg.pixels_per_unit().1);
        assert!(off < 1.0, "row {row} is {off} pixels off");
        assert!(clip.0 <= px && px <= clip.1 && clip.2 <= py && py <= clip.3, "row {row} is outside");
    }
}

#[test]
fn names_do_no_harm_whatever_they_are() {
    let long = "x".repeat(200);
    let classes =
        ["<script>alert('1')</script>".to_owned(), long.clone(), "a\u{0}b\u{1b}[31m]]>&amp;".to_owned()];
    let dots: Vec<Dot> = (0..3).map(|k| Dot::new(k, k as f64, (k * k) as f64, k)).collect();
    let mut decide = |x: f64, _: f64| Verdict { class: (x.round().max(0.0) as usize).min(2), margin: 0.3 };
    let boundary = Boundary::new(classes[0].clone(), &classes, &dots, &mut decide).unwrap();
    let counts = vec![vec![1, 0, 2]; 3];
    let title = classes[0].clone();
    let pictures = [
        Boundary { notes: vec![classes[2].clone(), long.clone()], ..boundary }.draw(Canvas::default()),
        Confusion { title: title.clone(), notes: Vec::new(), classes: &classes, counts: &counts, written }
            .draw(Canvas::default())
            .unwrap(),
        Bars {
            title,
            notes: Vec::new(),
            bars: classes.iter().map(|name| Bar { name: name.clone(), value: 1.0 }).collect(),
            inks: [Ink::Class(0), Ink::Class(1)],
        }
        .draw(Canvas::default())
        .unwrap(),
    ];
    for picture in pictures {
        let svg = picture.svg(&Svg { ids: "a\"><b", ..Svg::default() });
        well_formed(&svg);
        assert!(!svg.contains("<script"), "{svg}");
        assert!(
            svg.contains(&format!("<title>{long}</title>")) || svg.contains(&format!(": {long}</title>"))
        );
        let texts = Drawn::new(&svg).texts();
        assert!(texts.iter().all(|text| text.chars().count() < 120), "{texts:?}");
        assert!(texts.iter().any(|text| text.contains('…')));
        let text = picture.text(Terminal { colour: false, look: None });
        assert!(!text.contains(['\u{0}', '\u{1b}']));
        assert!(picture.png(Look::Light, 0.5).starts_with(b"\x89PNG"));
    }
}

#[test]
fn degenerate_points_are_drawn_or_refused_with_a_reason() {
    let spots: [&[(f64, f64)]; 6] = [
        &[(3.0, 4.0)],
        &[(1.0, 0.0), (1.0, 5.0), (1.0, 9.0)],
        &[(0.0, 0.0), (0.0, 0.0)],
        &[(-1e300, -1e300), (1e300, 1e300)],
        &[(-f64::MAX, 1.0), (f64::MAX, 2.0)],
        &[(1e-300, 5e15), (2e-300, 5e15 + 1.0)],
    ];
    for spot in spots {
        let dots: Vec<Dot> =
            spot.iter().enumerate().map(|(row, &(x, y))| Dot::new(row, x, y, row % 2)).collect();
        let (classes, mut decide) =
            (two(), |x: f64, _: f64| Verdict { class: usize::from(x > 0.0), margin: x.abs() });
        let chart = Boundary::new("", &classes, &dots, &mut decide).unwrap();
        let picture = Boundary { aspect: Aspect::Equal, ..chart }.draw(Canvas::default());
        let svg = picture.svg(&Svg::default());
        well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{spot:?}");
        assert!(picture.png(Look::Dark, 0.5).len() > 500);
        assert_eq!(picture.text(Terminal { colour: true, look: None }).lines().count(), 28);
    }
    let nowhere = [Dot::new(0, 1.0, f64::NAN, 0)];
    let (classes, mut decide) = (two(), plane);
    let error = Boundary::new("", &classes, &nowhere, &mut decide).err().unwrap();
    assert_eq!(error.to_string(), "y should be finite to be drawn, but number 1 is NaN");
    let error = Boundary::new("", &classes, &[], &mut decide).err().unwrap();
    assert!(error.to_string().contains("nothing"), "{error}");
}

#[test]
fn tiny_and_huge_canvases_do_not_matter() {
    for (width, height) in [(1.0, 1.0), (40.0, 2000.0), (9000.0, 30.0)] {
        let picture = drawn(&points(), Canvas { width, height, ruler: Ruler::Paper, may_shrink: false });
        well_formed(&picture.svg(&Svg::default()));
        assert!(picture.png(Look::Light, 2.0).starts_with(b"\x89PNG"));
    }
    drawn(&points(), Canvas::terminal(1, 1)).text(Terminal { colour: false, look: None });
}

#[test]
fn a_film_shows_its_last_frame_where_nothing_moves() {
    let frame = |title: &str| {
        let curve = Series::new("", vec![(0.0, 1.0), (1.0, 2.0)]);
        Lines::new(title, "x", "y", vec![curve]).draw(Canvas::default()).unwrap()
    };
    let film = Picture::film(vec![frame("one"), frame("two"), frame("three")], 2.0);
    let svg = film.svg(&Svg::default());
    well_formed(&svg);
    // Frames differ in their titles alone, and the rest is there once.
    assert_eq!(svg.matches("class=\"curve ").count(), 1);
    for (number, title) in ["one", "two", "three"].iter().enumerate() {
        let frame = format!("<g class=\"frame frame-{number}\"");
        assert_eq!(svg.matches(&frame).count(), 2, "its own, and its part of the bar");
        assert!(
            svg.split(&frame).nth(1).unwrap().split("</g>").next().unwrap().contains(&format!(">{title}<"))
        );
        assert!(
            svg.contains(&format!("href=\"#plot-{number}\""))
                && svg.contains(&format!("id=\"plot-{number}\""))
        );
        assert!(svg.contains(&format!("#plot-{number}:target~.frame-{number}")));
    }
    assert_eq!(svg.matches("visibility=\"hidden\"").count(), 4);
    assert!(svg.contains("aria-label=\"pause\"") && !svg.contains("<script"));
    assert!(svg.contains("step-end infinite") && svg.contains("prefers-reduced-motion"));
    let text = film.text(Terminal { colour: false, look: None });
    assert!(text.contains("three") && !text.contains("one"), "{text}");
    let moving = film.apng(Look::Light, 0.5);
    let mut reader = png::Decoder::new(std::io::Cursor::new(&moving)).read_info().unwrap();
    let control = *reader.info().animation_control().unwrap();
    assert_eq!((control.num_frames, control.num_plays), (3, 0));
    let mut shown = Vec::new();
    for _ in 0..3 {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        shown.push(pixels);
    }
    let mut still = png::Decoder::new(std::io::Cursor::new(film.png(Look::Light, 0.5))).read_info().unwrap();
    let mut last = vec![0; still.output_buffer_size().unwrap()];
    still.next_frame(&mut last).unwrap();
    assert!(shown[2] == last && shown[0] != shown[1] && shown[1] != shown[2]);
    let sheet = Picture::sheet("all", &[], vec![frame("one"), frame("two"), frame("three")], 2, Ruler::Paper);
    assert_eq!(sheet.width, 1600.0);
    assert!(sheet.height > 1120.0);
    well_formed(&sheet.svg(&Svg::default()));
}

#[test]
fn a_png_has_the_colours_of_its_look() {
    let picture = drawn(&points(), Canvas::default());
    for look in [Look::Light, Look::Dark] {
        let bytes = picture.png(look, 1.0);
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (800, 560));
        let paper = Ink::Paper.rgb(look);
        assert_eq!(pixels[..3], [paper.0, paper.1, paper.2]);
        for ink in [Ink::Tint(0), Ink::Tint(1), Ink::Class(0), Ink::Class(1), Ink::Text] {
            let rgb = ink.rgb(look);
            let found = pixels.chunks_exact(3).any(|pixel| pixel == [rgb.0, rgb.1, rgb.2]);
            assert!(found, "{ink:?} {look:?}");
        }
    }
    assert_eq!(picture.png(Look::Light, 1.0), picture.png(Look::Light, 1.0));
}

#[test]
fn colours_follow_dark_screens_unless_a_look_is_named() {
    let picture = drawn(&points(), Canvas::default());
    let both = picture.svg(&Svg::default());
    assert!(both.contains("prefers-color-scheme:dark") && both.contains(&Ink::Paper.rgb(Look::Light).hex()));
    let dark = picture.svg(&Svg { look: Some(Look::Dark), ..Svg::default() });
    assert!(!dark.contains("prefers-color-scheme") && !dark.contains(&Ink::Paper.rgb(Look::Light).hex()));
    for svg in [both, dark] {
        assert!(!svg.contains("http://") || svg.matches("http://").count() == 1, "only the name space");
        assert!(!svg.contains("href") && !svg.contains("@import"));
    }
}

#[test]
fn terminals_without_colours_get_none() {
    let picture = drawn(&points(), Canvas::terminal(80, 28));
    let plain = picture.text(Terminal { colour: false, look: None });
    assert!(!plain.contains('\u{1b}') && plain.contains('○') && plain.contains('■'), "{plain}");
    assert!(plain.lines().all(|line| line.chars().count() <= 80));
    let coloured = picture.text(Terminal { colour: true, look: None });
    assert!(
        coloured.contains("\u{1b}[38;2;") && !coloured.contains("\u{1b}[48;"),
        "no paper is painted: {coloured}"
    );
    assert!(coloured.contains('·'), "points mark the regions");
    // Words have the terminal's own colour.
    assert!(coloured.lines().next().unwrap().starts_with(" A plane"), "{coloured}");
    // No line leaves its colours on.
    assert!(
        coloured
            .lines()
            .all(|line| line.rsplit_once('\u{1b}').is_none_or(|(_, last)| last.starts_with("[0m")))
    );
}

#[test]
fn other_charts_draw_their_numbers() {
    let values = [-1.0, 0.5, 0.75, 2.0];
    let histogram = Histogram {
        title: "Margins".to_owned(),
        notes: Vec::new(),
        name: "margin".to_owned(),
        counted: "rows".to_owned(),
        meaning: ["wrong", "right"].map(str::to_owned),
        values: &values,
    };
    let svg = histogram.draw(Canvas::default()).unwrap().svg(&Svg::default());
    well_formed(&svg);
    assert_eq!(svg.matches("class=\"bin ").count(), 4);
    let tile = Tile { name: "seven".to_owned(), width: 2, values: vec![1.0, -1.0, 0.0, 0.5], hues: SIDES };
    let meaning = ["against", "for"].map(str::to_owned);
    let heat = Heat { title: "Weights".to_owned(), notes: Vec::new(), meaning, tiles: vec![tile] };
    let svg = heat.draw(Canvas::default()).unwrap().svg(&Svg::default());
    well_formed(&svg);
    assert_eq!(svg.matches("class=\"heat ").count(), 3, "a zero is paper");
    let bad = Tile { name: "bad".to_owned(), width: 1, values: vec![f64::INFINITY], hues: SIDES };
    assert!(Heat { tiles: vec![bad], ..heat }.draw(Canvas::default()).is_err());
    let (saddle, nowhere) = (|x: f64, y: f64| x * y, |_: f64, _: f64| f64::NAN);
    let svg = surface("saddle", &saddle).draw(Canvas::default()).unwrap().svg(&Svg::default());
    well_formed(&svg);
    for words in ["class=\"heat f-for20", "class=\"heat f-against20", ">+4<", ">−2<", ">across<", ">upwards<"]
    {
        assert!(svg.contains(words), "{words} in {svg}");
    }
    assert!(surface("nowhere", &nowhere).draw(Canvas::default()).is_err());
    let lines = Lines::new("", "x", "y", vec![Series::new("", vec![(0.0, f64::NAN)])]);
    assert!(lines.draw(Canvas::default()).is_err());
}

/// The colours of two classes.
const SIDES: [Hue; 2] = [Hue::Class(0), Hue::Class(1)];

fn surface<'a>(title: &str, height: &'a dyn Fn(f64, f64) -> f64) -> Surface<'a> {
    let axis = |name: &str| Axis::new(name, Range { low: -2.0, high: 2.0 });
    let (x, y) = (axis("across"), axis("upwards"));
    Surface { title: title.to_owned(), notes: Vec::new(), x, y, height, strongest: 4.0, hues: SIDES }
}

fn written(count: u64) -> String {
    count.to_string()
}

fn ruled(text: &str, size: f64) -> f64 {
    Ruler::Paper.width(text, size)
}

fn many(n: usize, name: &str) -> Vec<String> {
    (0..n).map(|class| format!("{name}{class}")).collect()
}

/// Every chart on paper of two widths, with few things to name and with many.
fn all_charts(canvas: Canvas) -> Vec<(String, Picture)> {
    let mut all = Vec::new();
    for (n, name) in [(2, "kind "), (3, "a rather long name of class "), (12, ""), (40, ""), (40, "person ")]
    {
        let classes = many(n, name);
        let dots: Vec<Dot> = (0..200)
            .map(|row| Dot::new(row, (row * 37 % 200) as f64 * 0.31, (row * 91 % 200) as f64, row % n))
            .collect();
        let mut decide =
            |x: f64, y: f64| Verdict { class: ((x + y) / 7.0).max(0.0) as usize % n, margin: 1.0 };
        let chart = Boundary::new("Where rows lie", &classes, &dots, &mut decide).unwrap();
        all.push((format!("boundary {n} {name}"), Boundary { spacing: 20.0, ..chart }.draw(canvas)));
        let counts: Vec<Vec<u64>> = (0..n)
            .map(|truth| {
                (0..n)
                    .map(|given| if truth == given { 25 } else { u64::from(given % 7 == truth % 5) })
                    .collect()
            })
            .collect();
        let confusion = Confusion {
            title: "Confusion".to_owned(),
            notes: Vec::new(),
            classes: &classes,
            counts: &counts,
            written,
        };
        all.push((format!("confusion {n} {name}"), confusion.draw(canvas).unwrap()));
        let tiles = classes.iter().map(|name| Tile {
            name: name.clone(),
            width: 8,
            values: (0..64).map(|k| f64::from(k % 9) - 4.0).collect(),
            hues: SIDES,
        });
        let meaning = ["against", "for"].map(str::to_owned);
        let heat = Heat { title: "Weights".to_owned(), notes: Vec::new(), meaning, tiles: tiles.collect() };
        all.push((format!("heat {n} {name}"), heat.draw(canvas).unwrap()));
        let slope = |x: f64, y: f64| x + y;
        all.push((format!("surface {n} {name}"), surface("Slope", &slope).draw(canvas).unwrap()));
    }
    let curve = |name: &str, end: f64| Series::new(name, vec![(0.0, 0.0), (0.5, end / 2.0), (1.0, end)]);
    let names = ["last", "averaged", "voted", "pocket", "a read-out with a long name"];
    let series: Vec<Series> = names.iter().map(|name| curve(name, 0.98)).collect();
    let marks = (0..6).map(|k| f64::from(k) / 6.0).map(|x| Mark {
        x,
        y: 0.98 * x,
        ink: Ink::Class(0),
        note: String::new(),
        label: format!("{:.2}", 1.0 - x),
        span: Some((0.5 * x, x)),
    });
    let unit = Some(Range { low: 0.0, high: 1.0 });
    let lines = Lines {
        levels: vec![Level { name: "the most there is".to_owned(), value: 1.0 }],
        marks: marks.collect(),
        at_least: (unit, unit),
        square: true,
        notes: vec![
            "A note that is so long that it needs more than one line on paper of any width.".to_owned(),
        ],
        ..Lines::new(
            "Curves that end at one point",
            "a share with a long name of its own",
            "another share",
            series,
        )
    };
    all.push(("lines".to_owned(), lines.draw(canvas).unwrap()));
    let bars =
        (0..20).map(|k| Bar { name: format!("feature number {k}"), value: f64::from(k) - 9.5 }).collect();
    let bars = Bars { title: String::new(), notes: Vec::new(), bars, inks: [Ink::Faint, Ink::Text] };
    all.push(("bars".to_owned(), bars.draw(canvas).unwrap()));
    let values: Vec<f64> = (0..500).map(|k| f64::from(k * 37 % 500) / 7.0 - 9.0).collect();
    let histogram = Histogram {
        title: "Margins".to_owned(),
        notes: Vec::new(),
        name: "signed distance from the boundary, as the model sees the features".to_owned(),
        counted: "rows".to_owned(),
        meaning: ["wrong", "right"].map(str::to_owned),
        values: &values,
    };
    all.push(("histogram".to_owned(), histogram.draw(canvas).unwrap()));
    all
}

#[test]
fn no_words_are_cut_or_cover_each_other() {
    for canvas in
        [Canvas::default(), Canvas { width: 460.0, height: 420.0, ..Canvas::default() }, Canvas::phone()]
    {
        for (name, picture) in all_charts(canvas) {
            let svg = picture.svg(&Svg::default());
            well_formed(&svg);
            assert_eq!(clashes(&svg, ruled), [""; 0], "{name} on {} by {}", canvas.width, canvas.height);
            assert!(svg.contains("role=\"img\"") && svg.contains("<title id=") && svg.contains("<desc id="));
        }
    }
}

#[test]
fn the_words_of_forty_classes_are_all_there() {
    for (name, rows) in [("", 40), ("person ", 40)] {
        let classes = many(40, name);
        let counts = vec![vec![1; 40]; 40];
        let confusion = Confusion {
            title: String::new(),
            notes: Vec::new(),
            classes: &classes,
            counts: &counts,
            written,
        };
        let svg = confusion.draw(Canvas::default()).unwrap().svg(&Svg::default());
        let left = boxes(&svg, ruled);
        let named =
            classes.iter().filter(|class| left.iter().any(|text| text.text.starts_with(class.as_str())));
        assert_eq!(named.count(), rows, "{name}");
        // A letter is at least as high as small print.
        assert!(left.iter().all(|text| text.edges[3] - text.edges[2] > 8.0));
        // Above every column stands its name or its number.
        let above = left.iter().filter(|text| text.text.parse::<u32>().is_ok() && text.edges[3] < 60.0);
        assert_eq!(above.count(), 40, "{name}");
    }
}

#[test]
fn a_square_has_one_scale_and_its_marks_lie_on_their_curve() {
    let points: Vec<(f64, f64)> = (0..=10).map(|k| f64::from(k) / 10.0).map(|x| (x, x.sqrt())).collect();
    let mark = Mark {
        x: 0.4,
        y: 0.4_f64.sqrt(),
        ink: Ink::Class(0),
        note: "score 2".to_owned(),
        label: "2".to_owned(),
        span: None,
    };
    let unit = Some(Range { low: 0.0, high: 1.0 });
    let lines = Lines {
        square: true,
        marks: vec![mark],
        at_least: (unit, unit),
        ..Lines::new(
            "",
            "x",
            "y",
            vec![
                Series::new("curve", points).bare(),
                Series::new("chance", vec![(0.0, 0.0), (1.0, 1.0)]).dashed(),
            ],
        )
    };
    for canvas in [Canvas::default(), Canvas::phone()] {
        let svg = lines.draw(canvas).unwrap().svg(&Svg::default());
        let drawn = Drawn::new(&svg);
        let (across, up) = drawn.pixels_per_unit();
        assert!((across + up).abs() < 0.2, "{across} across, {up} up");
        let (left, right, top, bottom) = drawn.clip();
        assert!(((right - left) - (bottom - top)).abs() < 0.1);
        let [curve, _] = drawn.paths("curve").try_into().unwrap();
        let marked = svg.split("class=\"mark ").nth(1).unwrap();
        let number = |name: &str| -> f64 {
            marked.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let near =
            curve.iter().any(|(x, y)| (x - number("cx")).abs() < 0.1 && (y - number("cy")).abs() < 0.1);
        assert!(near, "{curve:?}");
    }
}

#[test]
fn a_hot_pixel_does_not_bleach_the_others() {
    let heat = |hot: f64| {
        let mut values: Vec<f64> = (0..64).map(|k| f64::from(k % 8) - 3.5).collect();
        values[9] = hot;
        let tile = Tile { name: "one".to_owned(), width: 8, values, hues: SIDES };
        let meaning = ["against", "for"].map(str::to_owned);
        let heat = Heat { title: String::new(), notes: Vec::new(), meaning, tiles: vec![tile] };
        heat.draw(Canvas::default()).unwrap().svg(&Svg::default())
    };
    let (even, hot) = (heat(3.5), heat(1e6));
    let inks = |svg: &str| {
        let shown =
            svg.split("class=\"heat f-").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        shown.collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(inks(&even), inks(&hot));
    assert!(hot.contains("for (≥ 3.5)") && even.contains("for (3.5)"), "{hot}");
}

#[test]
fn one_value_far_above_the_others_does_not_flatten_them() {
    let points =
        (0..10_u32).map(|k| (f64::from(k), if k == 0 { 5000.0 } else { 9.0 - f64::from(k) })).collect();
    let lines = Lines::new("", "epoch", "loss", vec![Series::new("loss", points)]);
    let drawn = Drawn::new(&lines.draw(Canvas::default()).unwrap().svg(&Svg::default()));
    let [curve] = drawn.paths("curve").try_into().unwrap();
    let (_, _, top, bottom) = drawn.clip();
    // From 8 down to 1 takes more than a tenth of the height, and 0 stands on the axis.
    assert!(curve[8].1 - curve[1].1 > 0.1 * (bottom - top), "{curve:?}");
    assert!((curve[9].1 - bottom).abs() < 0.1, "{curve:?}");
    assert!(drawn.texts().contains(&"loss (logarithmic)".to_owned()));
}

#[test]
fn panels_of_bars_have_one_scale() {
    let panel = |names: [&str; 2], values: [f64; 2]| Bars {
        title: String::new(),
        notes: Vec::new(),
        bars: names
            .into_iter()
            .zip(values)
            .map(|(name, value)| Bar { name: name.to_owned(), value })
            .collect(),
        inks: [Ink::Faint, Ink::Text],
    };
    let panels = [panel(["a", "b"], [0.5, -4.125]), panel(["a much longer name", "c"], [16.0, -1.0])];
    let mut units = Vec::new();
    for picture in Bars::draw_alike(&panels, Canvas::default()).unwrap() {
        let svg = picture.svg(&Svg::default());
        let widths = svg.split("class=\"bar ").skip(1).map(|bar| -> f64 {
            bar.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        });
        units.extend(
            widths.zip([[0.5, 4.125], [16.0, 1.0]][usize::from(!units.is_empty())]).map(|(w, v)| w / v),
        );
    }
    assert!(units.len() == 4 && units.iter().all(|unit| (unit - units[0]).abs() < 0.05), "{units:?}");
}

/// A square has no empty half beside it, and its words still fit; a canvas of a given size is kept.
#[test]
fn a_square_takes_the_width_it_needs() {
    let curve = Series::new("a", vec![(0.0, 0.0), (1.0, 1.0)]);
    let long =
        "Words that take more lines where there is less room for them, and yet must all be seen. ".repeat(3);
    let lines = Lines {
        square: true,
        notes: vec![long.clone()],
        ..Lines::new("Square", "x", "y", vec![curve.clone(), Series::new("chance", curve.points.clone())])
    };
    let shrunk = lines.draw(Canvas::default()).unwrap();
    assert!(shrunk.width < 700.0 && shrunk.height >= 560.0, "{} x {}", shrunk.width, shrunk.height);
    let kept = lines.draw(Canvas { may_shrink: false, ..Canvas::default() }).unwrap();
    assert_eq!((kept.width, kept.height), (800.0, 560.0));
    let words = |picture: &rosenblatt_plot::Picture| {
        let svg = picture.svg(&Svg::default());
        svg.matches("more lines").count()
    };
    assert!(words(&shrunk) >= 3 && words(&kept) >= 3);
}

#[test]
fn a_few_values_far_out_do_not_decide_what_is_shown() {
    let most = |far: f64| {
        let values = (0..300).map(|row| f64::from(row) / 100.0).chain([far]);
        Range::of_most(values, false, 3.0)
    };
    assert_eq!(most(3.5), None);
    let range = most(1700.0).unwrap();
    assert!(range.low == 0.0 && range.high > 2.9 && range.high < 7.0, "{range:?}");
    assert_eq!(Range::of_most([0.0, 1.0, 1e9], false, 3.0), None, "few rows are all shown");
    assert_eq!(Range::of_most([], false, 3.0), None);
}

/// Words beside marks stand on no curve, however ragged it is, and the keys of a square are one legend.
#[test]
fn words_beside_marks_keep_off_the_curves() {
    let ragged = |k: u32| (f64::from(k) / 60.0, 1.0 - f64::from(k) / 90.0 + 0.03 * f64::from(k * 7 % 5));
    let points: Vec<(f64, f64)> = (0..=60).map(ragged).map(|(x, y)| (x, y.min(1.0))).collect();
    let marks = [6, 18, 30, 42, 54].map(|place: usize| Mark {
        x: points[place].0,
        y: points[place].1,
        ink: Ink::Class(0),
        note: String::new(),
        label: format!("0.{place:02}"),
        span: None,
    });
    let unit = Some(Range { low: 0.0, high: 1.0 });
    let other: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, y * 0.3)).collect();
    let lines = Lines {
        square: true,
        marks: marks.to_vec(),
        at_least: (unit, unit),
        ..Lines::new(
            "",
            "x",
            "y",
            vec![Series::new("first", points).bare(), Series::new("second", other).bare()],
        )
    };
    let svg = lines.draw(Canvas::default()).unwrap().svg(&Svg::default());
    let all = boxes(&svg, ruled);
    let labels: Vec<_> =
        all.iter().filter(|text| text.text.len() == 4 && text.text.starts_with("0.")).collect();
    assert!(labels.len() >= 4, "{all:?}");
    for curve in Drawn::new(&svg).paths("curve") {
        for ends in curve.windows(2) {
            for step in 0..=50 {
                let share = f64::from(step) / 50.0;
                let x = ends[0].0 + share * (ends[1].0 - ends[0].0);
                let y = ends[0].1 + share * (ends[1].1 - ends[0].1);
                for label in &labels {
                    let [left, right, top, bottom] = label.edges;
                    assert!(!(x > left && x < right && y > top && y < bottom), "{} at {x}, {y}", label.text);
                }
            }
        }
    }
    let key = |name: &str| all.iter().find(|text| text.text == name).unwrap().edges;
    let (first, second) = (key("first"), key("second"));
    assert!(first[0] == second[0] && second[2] - first[3] < 20.0, "{first:?} {second:?}");
}

/// A table of few classes fills its canvas, and its names are whole.
#[test]
fn a_table_of_two_classes_leaves_no_canvas_empty() {
    let counts = vec![vec![436, 64], vec![118, 150]];
    let classes = ["tested_negative", "tested_positive"].map(str::to_owned);
    let table =
        Confusion { title: "Two".to_owned(), notes: Vec::new(), classes: &classes, counts: &counts, written };
    let picture = table.draw(Canvas::default()).unwrap();
    let svg = picture.svg(&Svg::default());
    let right = Drawn::new(&svg).paths("grid").concat().into_iter().map(|(x, _)| x).fold(0.0, f64::max);
    assert!(right > 0.9 * picture.width, "{right} of {}", picture.width);
    assert!(svg.contains(">tested_negative<") && svg.contains(">tested_positive<"), "{svg}");
    let kept = table.draw(Canvas { may_shrink: false, ..Canvas::default() }).unwrap();
    assert_eq!(kept.width, 800.0);
}
