//! Pictures are right, not only pretty: their SVG is read back and compared with what was drawn.

mod reading;

use reading::{Drawn, well_formed};
use rosenblatt_plot::{
    Bar, Bars, Boundary, Canvas, Confusion, Dot, Heat, Histogram, Ink, Lines, Look, Picture, Ruler, Series,
    Svg, Terminal, Tile, Verdict,
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
    for equal in [false, true] {
        let (dots, classes, mut decide) = (points(), two(), plane);
        let chart = Boundary::new("A plane", &classes, &dots, &mut decide).unwrap();
        let picture = Boundary { band: Some(1.0), equal, ..chart }.draw(Canvas::default());
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
    for (row, (px, py)) in svg.circles("ring") {
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
        Confusion { title: title.clone(), notes: Vec::new(), classes: &classes, counts: &counts }
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
        assert!(texts.iter().any(|text| text.ends_with('…')));
        let text = picture.text(Terminal { colour: false, look: Look::Dark });
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
        let picture = Boundary { equal: true, ..chart }.draw(Canvas::default());
        let svg = picture.svg(&Svg::default());
        well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{spot:?}");
        assert!(picture.png(Look::Dark, 0.5).len() > 500);
        assert_eq!(picture.text(Terminal { colour: true, look: Look::Light }).lines().count(), 28);
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
        let picture = drawn(&points(), Canvas { width, height, ruler: Ruler::Paper });
        well_formed(&picture.svg(&Svg::default()));
        assert!(picture.png(Look::Light, 2.0).starts_with(b"\x89PNG"));
    }
    drawn(&points(), Canvas::terminal(1, 1)).text(Terminal { colour: false, look: Look::Dark });
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
    assert_eq!(svg.matches("class=\"frame\"").count(), 3);
    assert_eq!(svg.matches("visibility=\"hidden\"").count(), 2);
    assert!(svg.contains("step-end infinite") && svg.contains("prefers-reduced-motion"));
    let text = film.text(Terminal { colour: false, look: Look::Dark });
    assert!(text.contains("three") && !text.contains("one"), "{text}");
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
    let plain = picture.text(Terminal { colour: false, look: Look::Dark });
    assert!(!plain.contains('\u{1b}') && plain.contains('○') && plain.contains('■'), "{plain}");
    assert!(plain.lines().all(|line| line.chars().count() <= 80));
    let coloured = picture.text(Terminal { colour: true, look: Look::Dark });
    assert!(coloured.contains("\u{1b}[48;2;"), "{coloured}");
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
    let tile = Tile { name: "seven".to_owned(), width: 2, values: vec![1.0, -1.0, 0.0, 0.5] };
    let meaning = ["against", "for"].map(str::to_owned);
    let heat = Heat { title: "Weights".to_owned(), notes: Vec::new(), meaning, tiles: vec![tile] };
    let svg = heat.draw(Canvas::default()).unwrap().svg(&Svg::default());
    well_formed(&svg);
    assert_eq!(svg.matches("class=\"heat ").count(), 3, "a zero is paper");
    let bad = Tile { name: "bad".to_owned(), width: 1, values: vec![f64::INFINITY] };
    assert!(Heat { tiles: vec![bad], ..heat }.draw(Canvas::default()).is_err());
    let lines = Lines::new("", "x", "y", vec![Series::new("", vec![(0.0, f64::NAN)])]);
    assert!(lines.draw(Canvas::default()).is_err());
}
