//! From outlines to pixels: exact coverage of every pixel, summed up edge by edge.
//!
//! The method is that of font rasterisers: each edge adds the signed area to its right to the pixels it crosses,
//! and a running sum along a row gives what is covered. Rings that go the other way are holes.

use crate::scene::{Point, at};

/// Pixels, each with a share of 0 to 1, of a part of a picture.
pub(crate) struct Coverage {
    /// The first column and row.
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) width: usize,
    shares: Vec<f32>,
}

impl Coverage {
    /// Rows of shares from the top.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.shares.chunks_exact(self.width.max(1))
    }
}

/// A part of a picture in whole pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) right: usize,
    pub(crate) bottom: usize,
}

/// What `rings` cover of `window`.
pub(crate) fn cover(rings: &[Vec<Point>], window: Window) -> Option<Coverage> {
    let points = || rings.iter().flatten();
    let is_empty = window.left >= window.right || window.top >= window.bottom;
    if is_empty || points().any(|point| !(point.x.is_finite() && point.y.is_finite())) {
        return None;
    }
    let bound = |value: f64, low: usize, high: usize| value.clamp(low as f64, high as f64) as usize;
    let low = points().fold((f64::MAX, f64::MAX), |(x, y), point| (x.min(point.x), y.min(point.y)));
    let high = points().fold((f64::MIN, f64::MIN), |(x, y), point| (x.max(point.x), y.max(point.y)));
    let left = bound(low.0.floor(), window.left, window.right);
    let right = bound(high.0.ceil(), window.left, window.right);
    let top = bound(low.1.floor(), window.top, window.bottom);
    let bottom = bound(high.1.ceil(), window.top, window.bottom);
    if left >= right || top >= bottom {
        return None;
    }
    let (width, height) = (right - left, bottom - top);
    let mut sums = Sums { width, height, values: vec![0.0; width * height + 2] };
    for ring in rings {
        for (number, &from) in ring.iter().enumerate() {
            let to = ring[(number + 1) % ring.len()];
            let moved = |point: Point| at(point.x - left as f64, point.y - top as f64);
            sums.edge(moved(from), moved(to));
        }
    }
    let mut shares = vec![0.0; width * height];
    for (row, sums) in shares.chunks_exact_mut(width).zip(sums.values.chunks_exact(width)) {
        let mut sum = 0.0;
        for (share, step) in row.iter_mut().zip(sums) {
            sum += step;
            *share = sum.abs().min(1.0) as f32;
        }
    }
    Some(Coverage { left, top, width, shares })
}

struct Sums {
    width: usize,
    height: usize,
    values: Vec<f64>,
}

impl Sums {
    fn edge(&mut self, from: Point, to: Point) {
        if from.y == to.y {
            return;
        }
        let (sign, from, to) = if from.y < to.y { (1.0, from, to) } else { (-1.0, to, from) };
        let slope = (to.x - from.x) / (to.y - from.y);
        let first = from.y.max(0.0);
        let last = to.y.min(self.height as f64);
        if first >= last {
            return;
        }
        for row in first as usize..(last.ceil() as usize).min(self.height) {
            let (y0, y1) = (first.max(row as f64), last.min(row as f64 + 1.0));
            let x0 = from.x + (y0 - from.y) * slope;
            let x1 = from.x + (y1 - from.y) * slope;
            self.row_edge(row, (y1 - y0) * sign, x0.min(x1), x0.max(x1));
        }
    }

    /// An edge within a row: `height` of it, from `x0` on the left to `x1` on the right.
    fn row_edge(&mut self, row: usize, height: f64, x0: f64, x1: f64) {
        let width = self.width as f64;
        let (low, high) = (x0.clamp(0.0, width), x1.clamp(0.0, width));
        let start = row * self.width;
        if x1 - x0 < 1e-9 || high - low < 1e-9 {
            self.column(start, height, low);
            return;
        }
        // What is left of the window counts as its left edge, what is right of it not at all.
        let per_pixel = height / (x1 - x0);
        if x0 < 0.0 {
            self.column(start, per_pixel * (low - x0), 0.0);
        }
        let mut x = low;
        while x < high {
            let next = (x.floor() + 1.0).min(high);
            self.column(start, per_pixel * (next - x), f64::midpoint(x, next));
            x = next;
        }
    }

    /// An upright edge at `x`: what lies to its right is covered.
    fn column(&mut self, start: usize, height: f64, x: f64) {
        let column = x.floor();
        if column >= self.width as f64 {
            return;
        }
        let place = start + column as usize;
        let part = x - column;
        self.values[place] += height * (1.0 - part);
        if (column as usize) + 1 < self.width {
            self.values[place + 1] += height * part;
        }
    }
}

/// A line of some width as rings: a bar for every piece, and discs where pieces meet.
pub(crate) fn stroke(points: &[Point], closed: bool, width: f64) -> Vec<Vec<Point>> {
    let mut rings = Vec::new();
    let n_pieces = if closed { points.len() } else { points.len().saturating_sub(1) };
    let half = width / 2.0;
    for number in 0..n_pieces {
        let (from, to) = (points[number], points[(number + 1) % points.len()]);
        let length = (to.x - from.x).hypot(to.y - from.y);
        if length < 1e-9 {
            continue;
        }
        let (dx, dy) = ((to.x - from.x) / length * half, (to.y - from.y) / length * half);
        rings.push(vec![
            at(from.x - dy, from.y + dx),
            at(to.x - dy, to.y + dx),
            at(to.x + dy, to.y - dx),
            at(from.x + dy, from.y - dx),
        ]);
        if (closed || number > 0) && width > 1.2 {
            // Against the clock, as the bars go: what is covered twice must not cancel out.
            rings.push(disc(from, half, 12));
        }
    }
    rings
}

/// A circle of `n` corners, going round as the bars of [`stroke`] do.
pub(crate) fn disc(centre: Point, radius: f64, n: usize) -> Vec<Point> {
    (0..n)
        .map(|k| {
            let angle = -std::f64::consts::TAU * k as f64 / n as f64;
            at(centre.x + radius * angle.cos(), centre.y + radius * angle.sin())
        })
        .collect()
}

/// The dashes of a line.
pub(crate) fn dashes(points: &[Point], (dash, gap): (f64, f64)) -> Vec<Vec<Point>> {
    let mut lines = vec![Vec::new()];
    let (mut inked, mut left) = (true, dash);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.x - from.x).hypot(to.y - from.y);
            if !length.is_finite() {
                break;
            }
            let share = if length > left { left / length } else { 1.0 };
            let stop = at(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
            if inked {
                let line = lines.last_mut().expect("there is always a line");
                if line.is_empty() {
                    line.push(from);
                }
                line.push(stop);
            }
            if length <= left {
                left -= length;
                break;
            }
            from = stop;
            inked = !inked;
            left = if inked { dash } else { gap };
            if inked {
                lines.push(Vec::new());
            }
        }
    }
    lines.retain(|line| line.len() > 1);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { left: 0, top: 0, right: 8, bottom: 8 };

    fn area(rings: &[Vec<Point>]) -> f32 {
        cover(rings, WINDOW).map_or(0.0, |coverage| coverage.rows().flatten().sum())
    }

    #[test]
    fn areas_are_exact() {
        let square =
            |x: f64, size: f64| vec![at(x, x), at(x + size, x), at(x + size, x + size), at(x, x + size)];
        assert_eq!(area(&[square(1.0, 2.0)]), 4.0);
        assert!((area(&[square(1.25, 2.5)]) - 6.25).abs() < 1e-5);
        let mut hole = square(2.0, 2.0);
        hole.reverse();
        assert_eq!(area(&[square(1.0, 4.0), hole]), 12.0);
        assert!((area(&[vec![at(0.0, 0.0), at(6.0, 0.0), at(0.0, 3.0)]]) - 9.0).abs() < 1e-5);
        assert!((area(&[disc(at(4.0, 4.0), 3.0, 64)]) - 28.2).abs() < 0.1);
    }

    #[test]
    fn what_is_outside_the_window_is_cut() {
        let big = vec![at(-1e6, -1e6), at(1e6, -1e6), at(1e6, 1e6), at(-1e6, 1e6)];
        assert_eq!(area(&[big]), 64.0);
        assert_eq!(area(&[vec![at(-5.0, 2.0), at(3.0, 2.0), at(3.0, 4.0), at(-5.0, 4.0)]]), 6.0);
        assert_eq!(area(&[vec![at(6.0, 2.0), at(30.0, 2.0), at(30.0, 4.0), at(6.0, 4.0)]]), 4.0);
        assert_eq!(area(&[vec![at(9.0, 2.0), at(30.0, 2.0), at(30.0, 4.0)]]), 0.0);
        assert_eq!(area(&[vec![at(f64::NAN, 2.0), at(3.0, 2.0), at(3.0, 4.0)]]), 0.0);
    }

    #[test]
    fn lines_have_width_and_dashes_have_gaps() {
        let line = [at(1.0, 4.0), at(7.0, 4.0)];
        assert!((area(&stroke(&line, false, 2.0)) - 12.0).abs() < 1e-5);
        let dashes = dashes(&line, (2.0, 1.0));
        assert_eq!(dashes, [[at(1.0, 4.0), at(3.0, 4.0)], [at(4.0, 4.0), at(6.0, 4.0)]]);
    }
}
