//! Pictures as SVG text.
//!
//! Every colour stands in the file as an attribute, which every viewer understands; a style sheet that only applies
//! to dark screens overrides them by class. There is no script, and nothing is fetched. A film has a bar below it: links
//! to its frames, which a style sheet turns into buttons that stop it, step through it and play it again. A page that
//! shows the film as an image follows no links, so it may be written without the bar.

use crate::axis::number;
use crate::ink::{Ink, Look};
use crate::scene::{Anchor, Film, Group, Item, Outline, Paint, Picture, Point, Rect, Shape, Text};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How a picture is written as SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Svg<'a> {
    /// The paper; `None` follows the page or the system: light, and dark on dark screens.
    pub look: Option<Look>,
    /// What the ids in it begin with: different for every picture of a page.
    pub ids: &'a str,
    /// Whether it stands in a page instead of a file of its own.
    pub inline: bool,
    /// Whether a film has buttons. A page that shows it as an image leaves them dead.
    pub buttons: bool,
}

impl Default for Svg<'_> {
    fn default() -> Self {
        Self { look: None, ids: "plot", inline: false, buttons: true }
    }
}

impl Picture {
    /// The picture as SVG.
    ///
    /// ```
    /// use rosenblatt_plot::{Canvas, Lines, Series, Svg};
    ///
    /// let curve = Series::new("mistakes", vec![(1.0, 9.0), (2.0, 3.0), (3.0, 0.0)]);
    /// let picture = Lines::new("Mistakes", "epoch", "mistakes", vec![curve]).draw(Canvas::default())?;
    /// let svg = picture.svg(&Svg { inline: true, ids: "figure-1", ..Svg::default() });
    /// assert!(svg.starts_with("<svg ") && svg.contains("role=\"img\""));
    /// # Ok::<(), rosenblatt_plot::PlotError>(())
    /// ```
    pub fn svg(&self, how: &Svg<'_>) -> String {
        let look = how.look.unwrap_or_default();
        let mut writer = Writer {
            text: String::new(),
            look,
            ids: how.ids,
            n_clips: 0,
            inks: BTreeSet::new(),
            picture: self,
        };
        for item in &self.items {
            writer.item(item);
        }
        let film = self.film.filter(|film| film.frames > 1);
        let has_bar = how.buttons && film.is_some();
        if has_bar {
            writer.bar();
        }
        let Writer { text: body, inks, .. } = writer;
        let bar = if has_bar { BAR } else { 0.0 };
        let (width, height, ids) = (short(self.width), short(self.height + bar), escaped(how.ids));
        // What is inside an image is not reached by those who cannot see it, and the buttons should be.
        let role = if has_bar { "group" } else { "img" };
        let mut text = String::new();
        if !how.inline {
            text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        }
        let _ = write!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"{role}\" aria-labelledby=\"{ids}-title {ids}-desc\" \
             font-family=\"'DejaVu Sans', Verdana, sans-serif\" stroke-linejoin=\"round\">\n\
             <title id=\"{ids}-title\">{}</title>\n<desc id=\"{ids}-desc\">{}</desc>\n",
            escaped(&self.title),
            escaped(&self.description)
        );
        let style = self.style(how, &inks);
        if !style.is_empty() {
            let _ = writeln!(text, "<style>{style}</style>");
        }
        if let Some(film) = film.filter(|_| has_bar) {
            // What links lead to stands before all that a style sheet shows or hides by it.
            for frame in 0..film.frames {
                let _ = writeln!(text, "<g id=\"{ids}-{frame}\" class=\"shot\"/>");
            }
            let _ = writeln!(text, "<g id=\"{ids}-play\"/>");
        }
        text.push_str(&body);
        text.push_str("</svg>\n");
        text
    }

    fn style(&self, how: &Svg<'_>, inks: &BTreeSet<Ink>) -> String {
        let mut style = String::new();
        if let Some(film) = self.film.filter(|film| film.frames > 1) {
            if how.buttons {
                style.push_str(
                    ".bar a:hover *{stroke-width:3}.shot:target~.frame,.shot:target~* .frame{animation:none;visibility:hidden}",
                );
            }
            for frame in (0..film.frames).filter(|_| how.buttons) {
                let _ = write!(
                    style,
                    "#{ids}-{frame}:target~.frame-{frame},#{ids}-{frame}:target~* .frame-{frame}{{visibility:visible}}",
                    ids = escaped(how.ids)
                );
            }
            let share = number(100.0 / film.frames as f64);
            let whole = short(film.seconds * film.frames as f64);
            // Each frame is at another place of the same loop.
            let _ = write!(
                style,
                "@media (prefers-reduced-motion:no-preference){{.frame{{animation:frame{n} {whole}s step-end infinite}}\
                 @keyframes frame{n}{{0%{{visibility:visible}}{share}%,100%{{visibility:hidden}}}}}}",
                n = film.frames
            );
        }
        if how.look.is_none() && !inks.is_empty() {
            style.push_str("@media screen and (prefers-color-scheme:dark){");
            for ink in inks {
                let (word, colour) = (ink.word(), ink.rgb(Look::Dark).hex());
                let _ = write!(style, ".f-{word}{{fill:{colour}}}.s-{word}{{stroke:{colour}}}");
            }
            style.push('}');
        }
        style
    }
}

struct Writer<'a> {
    text: String,
    look: Look,
    ids: &'a str,
    n_clips: usize,
    inks: BTreeSet<Ink>,
    picture: &'a Picture,
}

impl Writer<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Shape(shape) => self.shape(shape),
            Item::Text(text) => self.line_of_text(text),
            Item::Group(group) => self.group(group),
        }
    }

    fn group(&mut self, group: &Group) {
        let number = group.frame.map_or(String::new(), |frame| format!(" frame-{frame}"));
        let _ = write!(self.text, "<g class=\"{}{number}\"", group.role);
        if group.shift.x != 0.0 || group.shift.y != 0.0 {
            let _ = write!(
                self.text,
                " transform=\"translate({} {})\"",
                short(group.shift.x),
                short(group.shift.y)
            );
        }
        if let Some(frame) = group.frame {
            self.timing(frame);
        }
        if let Some(clip) = group.clip {
            self.n_clips += 1;
            let id = format!("{}-clip{}", escaped(self.ids), self.n_clips);
            let _ = write!(
                self.text,
                " clip-path=\"url(#{id})\">\n<clipPath id=\"{id}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
                short(clip.x),
                short(clip.y),
                short(clip.width),
                short(clip.height)
            );
        } else {
            self.text.push('>');
        }
        self.text.push('\n');
        for item in &group.items {
            self.item(item);
        }
        self.text.push_str("</g>\n");
    }

    /// The bar below a film: a link to every frame, and those that stop it, step and play it again.
    fn bar(&mut self) {
        let Some(Film { frames, .. }) = self.picture.film else { return };
        let (width, top, ids) = (self.picture.width, self.picture.height, escaped(self.ids));
        let paper = Rect { x: 0.0, y: top, width, height: BAR };
        self.shape(&Shape::new("paper", Outline::Rect(paper), Paint::fill(Ink::Paper)));
        let y = top + BAR / 2.0;
        let sign = |points: &[(f64, f64)], x: f64| {
            let ring = points.iter().map(|(dx, dy)| Point { x: x + dx, y: y + dy }).collect();
            Shape::new("button", Outline::Area(vec![ring]), Paint::fill(Ink::Faint).edged(Ink::Faint, 1.0))
        };
        let box_of = |x: f64, wide: f64, ink: Ink| {
            Shape::new(
                "button",
                Outline::Rect(Rect { x, y: y - 5.0, width: wide, height: 10.0 }),
                Paint::fill(ink),
            )
        };
        let link = |writer: &mut Self, target: &str, name: &str, shapes: &[Shape]| {
            let _ = writeln!(writer.text, "<a href=\"#{ids}-{target}\" aria-label=\"{name}\">");
            for shape in shapes {
                writer.shape(shape);
            }
            writer.text.push_str("</a>\n");
        };
        self.text.push_str("<g class=\"bar\">\n");
        let play = sign(&[(-5.0, -6.0), (6.0, 0.0), (-5.0, 6.0)], 20.0);
        link(self, "play", "play", &[play]);
        let (left, pitch) = (130.0, (width - 140.0) / frames as f64);
        let wide = (pitch - 2.0).max(1.0);
        for frame in 0..frames {
            let shape = box_of(left + pitch * frame as f64, wide, Ink::Grid);
            link(self, &frame.to_string(), &format!("frame {} of {frames}", frame + 1), &[shape]);
        }
        for frame in 0..frames {
            self.frame_tag(frame);
            let stop = [box_of(45.0, 4.0, Ink::Faint), box_of(52.0, 4.0, Ink::Faint)];
            link(self, &frame.to_string(), "pause", &stop);
            let before = Shape::new(
                "button",
                Outline::Line(vec![Point { x: 72.5, y: y - 6.0 }, Point { x: 72.5, y: y + 6.0 }]),
                Paint::stroke(Ink::Faint, 2.0),
            );
            let back = sign(&[(5.0, -6.0), (-6.0, 0.0), (5.0, 6.0)], 80.0);
            link(self, &((frame + frames - 1) % frames).to_string(), "one step back", &[back, before]);
            let next = sign(&[(-5.0, -6.0), (6.0, 0.0), (-5.0, 6.0)], 105.0);
            let stroke = Shape::new(
                "button",
                Outline::Line(vec![Point { x: 112.5, y: y - 6.0 }, Point { x: 112.5, y: y + 6.0 }]),
                Paint::stroke(Ink::Faint, 2.0),
            );
            link(self, &((frame + 1) % frames).to_string(), "one step on", &[next, stroke]);
            self.shape(&box_of(left + pitch * frame as f64, wide, Ink::Text));
            self.text.push_str("</g>\n");
        }
        self.text.push_str("</g>\n");
    }

    /// Opens a group that is seen in one frame.
    fn frame_tag(&mut self, frame: usize) {
        let _ = write!(self.text, "<g class=\"frame frame-{frame}\"");
        self.timing(frame);
        self.text.push_str(">\n");
    }

    /// When a frame is seen.
    fn timing(&mut self, frame: usize) {
        let Some(film) = self.picture.film else { return };
        if frame + 1 < film.frames {
            self.text.push_str(" visibility=\"hidden\"");
        }
        let ahead = (film.frames - frame) as f64 * film.seconds;
        let _ = write!(self.text, " style=\"animation-delay:-{}s\"", short(ahead));
    }

    fn shape(&mut self, shape: &Shape) {
        let (name, place) = match &shape.outline {
            Outline::Line(points) => ("path", format!("d=\"{}\"", path(points, false))),
            Outline::Area(rings) => {
                let rings: String = rings.iter().map(|ring| path(ring, true)).collect();
                ("path", format!("d=\"{rings}\""))
            }
            Outline::Marker(marker, centre, radius) if *marker != crate::marker::Marker::Disc => {
                ("path", format!("d=\"{}\"", path(&marker.ring(*centre, *radius), true)))
            }
            Outline::Circle(centre, radius) | Outline::Marker(_, centre, radius) => {
                let (x, y, r) = (short(centre.x), short(centre.y), short(*radius));
                ("circle", format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\""))
            }
            Outline::Rect(rect) => {
                let (x, y, w, h) = (short(rect.x), short(rect.y), short(rect.width), short(rect.height));
                ("rect", format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\""))
            }
        };
        let row = shape.row.map_or(String::new(), |row| format!(" data-row=\"{row}\""));
        let paint = self.paint(shape.role, &shape.paint);
        let _ = match &shape.note {
            Some(note) => {
                writeln!(self.text, "<{name} {paint}{row} {place}><title>{}</title></{name}>", escaped(note))
            }
            None => writeln!(self.text, "<{name} {paint}{row} {place}/>"),
        };
    }

    fn paint(&mut self, role: &str, paint: &Paint) -> String {
        let mut classes = role.to_owned();
        let mut attributes = String::new();
        match paint.fill {
            Some(ink) => {
                self.inks.insert(ink);
                let _ = write!(classes, " f-{}", ink.word());
                let _ = write!(attributes, " fill=\"{}\"", ink.rgb(self.look).hex());
            }
            None => attributes.push_str(" fill=\"none\""),
        }
        if let Some(ink) = paint.stroke {
            self.inks.insert(ink);
            let _ = write!(classes, " s-{}", ink.word());
            let _ = write!(
                attributes,
                " stroke=\"{}\" stroke-width=\"{}\"",
                ink.rgb(self.look).hex(),
                short(paint.width)
            );
            if paint.dashed {
                let _ = write!(attributes, " stroke-dasharray=\"{} {}\"", DASH.0, DASH.1);
            }
        }
        format!("class=\"{classes}\"{attributes}")
    }

    fn line_of_text(&mut self, text: &Text) {
        self.inks.insert(text.ink);
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let full =
            text.full.as_ref().map_or(String::new(), |full| format!("<title>{}</title>", escaped(full)));
        let _ = writeln!(
            self.text,
            "<text class=\"f-{}\" fill=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}>{}{full}</text>",
            text.ink.word(),
            text.ink.rgb(self.look).hex(),
            short(text.at.x),
            short(text.at.y),
            short(text.size),
            escaped(&text.text)
        );
    }
}

/// How high the bar below a film is.
const BAR: f64 = 26.0;

/// How long the dashes of a dashed line are, and the gaps between them.
pub(crate) const DASH: (f64, f64) = (8.0, 5.0);

fn path(points: &[Point], closed: bool) -> String {
    // Pictures of numbers are made of thousands of these.
    if let (true, &[a, b, c, d]) = (closed, points)
        && (a.y == b.y && b.x == c.x && c.y == d.y && d.x == a.x)
    {
        let (wide, high) = (c.x - a.x, c.y - a.y);
        return format!("M{} {}h{}v{}h{}z", short(a.x), short(a.y), short(wide), short(high), short(-wide));
    }
    let mut text = String::new();
    for (number, point) in points.iter().enumerate() {
        let _ = write!(text, "{}{} {}", if number == 0 { 'M' } else { 'L' }, short(point.x), short(point.y));
    }
    if closed {
        text.push('Z');
    }
    text
}

/// A length with two decimals at most.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text that means itself in XML, in elements and attributes. What XML cannot hold becomes a replacement sign.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' | '\r' => safe.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_tag() {
        assert_eq!(escaped("<script>\"&'\u{1}\n"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd} ");
        assert_eq!([short(1.0), short(-0.001), short(2.345)], ["1", "0", "2.35"]);
    }
}
