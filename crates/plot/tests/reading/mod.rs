//! As much of an SVG reader as the tests need: elements by role, and what the axes say of a pixel.

/// An element: its name, its attributes as text, and what it holds.
struct Element {
    name: String,
    attributes: String,
    text: String,
}

impl Element {
    fn get(&self, name: &str) -> Option<&str> {
        let start = self.attributes.find(&format!(" {name}=\""))? + name.len() + 3;
        self.attributes[start..].split('"').next()
    }

    fn number(&self, name: &str) -> f64 {
        self.get(name).and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
    }

    fn has_role(&self, role: &str) -> bool {
        self.get("class").is_some_and(|classes| classes.split(' ').next() == Some(role))
    }
}

/// A drawn chart.
pub(crate) struct Drawn {
    elements: Vec<Element>,
    x: [(f64, f64); 2],
    y: [(f64, f64); 2],
}

impl Drawn {
    /// Reads an SVG with two axes.
    pub(crate) fn new(svg: &str) -> Self {
        let mut elements = Vec::new();
        for part in svg.split('<').skip(1).filter(|part| !part.starts_with(['/', '?'])) {
            let (tag, text) = part.split_once('>').expect("a tag ends");
            let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
            elements.push(Element {
                attributes: tag[name.len()..].to_owned(),
                name,
                text: text.trim().to_owned(),
            });
        }
        let ticks = |anchor: &str, at: &str| -> Vec<(f64, f64)> {
            let texts = elements.iter().filter(|element| element.get("text-anchor") == Some(anchor));
            let tick = |element: &Element| {
                Some((
                    element.number(at),
                    element.text.replace('\u{2212}', "-").replace(',', "").parse().ok()?,
                ))
            };
            texts.filter_map(tick).collect()
        };
        let ends = |ticks: &[(f64, f64)]| match ticks {
            [first, .., last] => [*first, *last],
            _ => [(0.0, 0.0), (1.0, 1.0)],
        };
        let (x, y) = (ends(&ticks("middle", "x")), ends(&ticks("end", "y")));
        // A label of the upright axis stands 5 pixels below its tick.
        let y = y.map(|(pixel, value)| (pixel - 5.0, value));
        Self { elements, x, y }
    }

    /// What the axes say of a pixel.
    pub(crate) fn values(&self, px: f64, py: f64) -> (f64, f64) {
        let value =
            |[(p0, v0), (p1, v1)]: [(f64, f64); 2], pixel: f64| v0 + (pixel - p0) / (p1 - p0) * (v1 - v0);
        (value(self.x, px), value(self.y, py))
    }

    /// How many pixels a unit is long, across and upwards.
    pub(crate) fn pixels_per_unit(&self) -> (f64, f64) {
        let length = |[(p0, v0), (p1, v1)]: [(f64, f64); 2]| (p1 - p0) / (v1 - v0);
        (length(self.x), length(self.y))
    }

    fn of_role(&self, role: &str) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(move |element| element.has_role(role))
    }

    /// The points of all lines of a role.
    pub(crate) fn paths(&self, role: &str) -> Vec<Vec<(f64, f64)>> {
        let paths = self.of_role(role).filter(|element| element.name == "path");
        paths.map(|element| corners(element.get("d").expect("a path"))).collect()
    }

    /// The rows that things of a role show.
    pub(crate) fn rows(&self, role: &str) -> Vec<usize> {
        self.of_role(role).filter_map(|element| element.get("data-row")?.parse().ok()).collect()
    }

    /// The rows and centres of circles.
    pub(crate) fn circles(&self, role: &str) -> Vec<(usize, (f64, f64))> {
        let circle = |element: &Element| {
            Some((element.get("data-row")?.parse().ok()?, (element.number("cx"), element.number("cy"))))
        };
        self.of_role(role).filter(|element| element.name == "circle").filter_map(circle).collect()
    }

    /// The rows of signs of these roles, and where they are.
    pub(crate) fn places(&self, roles: &[&str]) -> Vec<(usize, (f64, f64))> {
        let all = self.elements.iter().filter(|element| roles.iter().any(|role| element.has_role(role)));
        let place = |element: &Element| {
            let row = element.get("data-row")?.parse().ok()?;
            let Some(path) = element.get("d") else {
                return Some((row, (element.number("cx"), element.number("cy"))));
            };
            // The middle of its corners: signs are regular.
            let corners: Vec<(f64, f64)> = corners(path);
            let n = corners.len() as f64;
            let sum = corners.iter().fold((0.0, 0.0), |sum, corner| (sum.0 + corner.0, sum.1 + corner.1));
            Some((row, (sum.0 / n, sum.1 / n)))
        };
        all.filter_map(place).collect()
    }

    /// The left, right, upper and lower edge of what is seen of the data.
    pub(crate) fn clip(&self) -> (f64, f64, f64, f64) {
        let place =
            self.elements.iter().position(|element| element.name == "clipPath").expect("data is clipped");
        let rect = &self.elements[place + 1];
        let (x, y) = (rect.number("x"), rect.number("y"));
        (x, x + rect.number("width"), y, y + rect.number("height"))
    }

    /// All lines of text.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.elements
            .iter()
            .filter(|element| element.name == "text")
            .map(|element| element.text.clone())
            .collect()
    }
}

/// The corners of a path: absolute ones, or those of an upright rectangle.
fn corners(path: &str) -> Vec<(f64, f64)> {
    let pair = |pair: &str| -> (f64, f64) {
        let (x, y) = pair.split_once(' ').expect("a pair");
        (x.parse().expect("a number"), y.parse().expect("a number"))
    };
    if let Some((start, rest)) = path.trim_start_matches('M').split_once('h') {
        let (wide, rest) = rest.split_once('v').expect("a height");
        let high: f64 = rest.split('h').next().unwrap_or_default().parse().expect("a number");
        let ((x, y), wide): ((f64, f64), f64) = (pair(start), wide.parse().expect("a number"));
        return vec![(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)];
    }
    path.trim_end_matches('Z').split(['M', 'L']).filter(|text| !text.is_empty()).map(pair).collect()
}

/// A line of text: what it says, and its left, right, upper and lower edge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Boxed {
    pub(crate) text: String,
    pub(crate) edges: [f64; 4],
}

/// Where the words of a picture stand, measured by `width` of a text of some size; of a film, in its last frame.
pub(crate) fn boxes(svg: &str, width: impl Fn(&str, f64) -> f64) -> Vec<Boxed> {
    let mut found = Vec::new();
    // For every open element: by how much it is moved, and whether it is hidden.
    let mut open = vec![(0.0, 0.0, false)];
    for part in svg.split('<').skip(1).filter(|part| !part.starts_with(['?', '!'])) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        if tag.starts_with('/') {
            open.pop();
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        let element = Element { attributes: tag[name.len()..].to_owned(), name, text: text.to_owned() };
        let &(mut dx, mut dy, mut hidden) = open.last().expect("there is a root");
        if let Some(place) = element.get("transform") {
            let place = place.trim_start_matches("translate(").trim_end_matches(')');
            let (x, y) = place.split_once(' ').expect("two numbers");
            (dx, dy) = (dx + x.parse::<f64>().expect("a number"), dy + y.parse::<f64>().expect("a number"));
        }
        hidden |= element.get("visibility") == Some("hidden");
        if element.name == "text" && !hidden {
            let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
            let text = plain.iter().fold(element.text.clone(), |text, (from, to)| text.replace(from, to));
            let (size, length) = (element.number("font-size"), width(&text, element.number("font-size")));
            let start = element.number("x") + dx
                - match element.get("text-anchor") {
                    Some("middle") => length / 2.0,
                    Some("end") => length,
                    _ => 0.0,
                };
            let base = element.number("y") + dy;
            found.push(Boxed { text, edges: [start, start + length, base - 0.75 * size, base + 0.2 * size] });
        }
        if !tag.ends_with('/') {
            open.push((dx, dy, hidden));
        }
    }
    found
}

/// What is wrong with the words of a picture: those that reach beyond its edges, and those that cover others.
pub(crate) fn clashes(svg: &str, width: impl Fn(&str, f64) -> f64) -> Vec<String> {
    let size = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next()).expect("a size");
    let (wide, high) = size.split_once(' ').expect("two numbers");
    let (wide, high): (f64, f64) = (wide.parse().expect("a number"), high.parse().expect("a number"));
    let boxes = boxes(svg, width);
    let mut wrong = Vec::new();
    for (number, Boxed { text, edges: [left, right, top, bottom] }) in boxes.iter().enumerate() {
        if *left < -0.5 || *right > wide + 0.5 || *top < -0.5 || *bottom > high + 0.5 {
            wrong.push(format!("`{text}` is cut: {left} to {right}, {top} to {bottom} of {wide} by {high}"));
        }
        for other in &boxes[..number] {
            let [l, r, t, b] = other.edges;
            if left.max(l) + 0.5 < right.min(r) && top.max(t) + 0.5 < bottom.min(b) {
                wrong.push(format!("`{text}` covers `{}`", other.text));
            }
        }
    }
    wrong
}

/// Panics unless every tag is closed, by its own name, and every attribute is quoted.
pub(crate) fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let body = svg.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap_or(svg);
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("`{part}` does not end"));
        assert!(!text.contains('>'), "`{text}` holds a stray bracket");
        assert_eq!(tag.matches('"').count() % 2, 0, "`{tag}`");
        let legal = |letter: char| matches!(letter, '\n' | '\t' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
        assert!(part.chars().all(legal), "`{part:?}`");
        for entity in part.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
            assert!(known.iter().any(|known| entity.starts_with(known)), "`&{entity}`");
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or_default());
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}
