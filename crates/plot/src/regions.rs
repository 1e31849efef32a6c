//! Where each class is: regions and the borders between them, from nothing but the class of points.
//!
//! A grid of points is asked. Where two neighbours differ, the border crosses between them in proportion to how
//! surely each is what it is; where scores are linear, as those of a hyperplane are, that is exact. With more than two
//! classes it would not be near the places where three meet, so there the crossing is searched for. Each cell is cut
//! into polygons, and what two polygons of one class have in common is left out, so a region is as many corners as
//! its shape needs.

use crate::scene::{Point, at};
use std::collections::BTreeMap;

/// What is thought of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Its class.
    pub class: usize,
    /// By how much that class is ahead of the next one; 0 is a tie.
    pub margin: f64,
}

/// Verdicts of the corners of a grid that covers the unit square.
pub(crate) struct Grid {
    columns: usize,
    rows: usize,
    verdicts: Vec<Verdict>,
    /// Where crossings were searched for: a share of the way.
    searched: BTreeMap<Vertex, f64>,
}

/// Halvings of the way between two neighbours.
const HALVINGS: usize = 10;

/// Regions and borders, in shares of the unit square.
pub(crate) struct Regions {
    /// For each class that has a region, its rings.
    pub(crate) areas: Vec<(usize, Vec<Vec<Point>>)>,
    /// Lines between regions.
    pub(crate) borders: Vec<Vec<Point>>,
}

/// A corner of the grid, a crossing on one of its sides, or the middle of a cell.
type Vertex = usize;

impl Grid {
    /// Asks `decide` about every corner of a grid of this many cells; it is handed shares from 0 to 1.
    pub(crate) fn sample(columns: usize, rows: usize, decide: &mut dyn FnMut(f64, f64) -> Verdict) -> Self {
        let mut verdicts = Vec::with_capacity((columns + 1) * (rows + 1));
        for j in 0..=rows {
            for i in 0..=columns {
                verdicts.push(decide(i as f64 / columns as f64, j as f64 / rows as f64));
            }
        }
        let mut grid = Self { columns, rows, verdicts, searched: BTreeMap::new() };
        grid.search(decide);
        grid
    }

    /// Searches for crossings if there are more than two classes.
    fn search(&mut self, decide: &mut dyn FnMut(f64, f64) -> Verdict) {
        let first = self.verdicts[0].class;
        let second = self.verdicts.iter().map(|verdict| verdict.class).find(|class| *class != first);
        if self.verdicts.iter().all(|verdict| verdict.class == first || Some(verdict.class) == second) {
            return;
        }
        let class = |grid: &Self, vertex: Vertex| grid.verdicts[vertex / 4].class;
        for j in 0..=self.rows {
            for i in 0..=self.columns {
                let from = self.corner(i, j);
                let across = (i < self.columns).then(|| (self.corner(i + 1, j), from + 1, (1.0, 0.0)));
                let up = (j < self.rows).then(|| (self.corner(i, j + 1), from + 2, (0.0, 1.0)));
                for (to, crossing, (dx, dy)) in [across, up].into_iter().flatten() {
                    if class(self, from) == class(self, to) {
                        continue;
                    }
                    let (mut low, mut high) = (0.0, 1.0);
                    for _ in 0..HALVINGS {
                        let middle = f64::midpoint(low, high);
                        let x = (i as f64 + middle * dx) / self.columns as f64;
                        let y = (j as f64 + middle * dy) / self.rows as f64;
                        if decide(x, y).class == class(self, from) { low = middle } else { high = middle }
                    }
                    self.searched.insert(crossing, f64::midpoint(low, high));
                }
            }
        }
    }

    /// The same points, asked whether the second class leads by more than `level`, which may be negative.
    pub(crate) fn beyond(&self, level: f64) -> Self {
        let verdicts = self.verdicts.iter().map(|verdict| {
            let score = if verdict.class == 1 { verdict.margin } else { -verdict.margin };
            Verdict { class: usize::from(score > level), margin: (score - level).abs() }
        });
        let verdicts = verdicts.collect();
        Self { columns: self.columns, rows: self.rows, verdicts, searched: BTreeMap::new() }
    }

    fn corner(&self, i: usize, j: usize) -> Vertex {
        (j * (self.columns + 1) + i) * 4
    }

    /// Where the class changes between two neighbouring corners: a share of the way.
    fn crossing(&self, vertex: Vertex, from: Vertex, to: Vertex) -> f64 {
        if let Some(share) = self.searched.get(&vertex) {
            return *share;
        }
        let (from, to) = (self.verdicts[from / 4].margin / 2.0, self.verdicts[to / 4].margin / 2.0);
        let share = from / (from + to);
        if share.is_finite() { share } else { 0.5 }
    }

    fn place(&self, vertex: Vertex) -> Point {
        let (number, kind) = (vertex / 4, vertex % 4);
        let (i, j) = (number % (self.columns + 1), number / (self.columns + 1));
        let (x, y) = match kind {
            1 => (i as f64 + self.crossing(vertex, self.corner(i, j), self.corner(i + 1, j)), j as f64),
            2 => (i as f64, j as f64 + self.crossing(vertex, self.corner(i, j), self.corner(i, j + 1))),
            3 => self.middle(i, j),
            _ => (i as f64, j as f64),
        };
        at(x / self.columns as f64, y / self.rows as f64)
    }

    /// Where the borders of a cell with more than one meet: amid its crossings.
    fn middle(&self, i: usize, j: usize) -> (f64, f64) {
        let crossings: Vec<Point> = self
            .around(i, j)
            .into_iter()
            .filter(|vertex| vertex % 4 != 0)
            .map(|vertex| self.place(vertex))
            .collect();
        let n = crossings.len().max(1) as f64;
        let sum = crossings.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.x, sum.1 + point.y));
        (sum.0 / n * self.columns as f64, sum.1 / n * self.rows as f64)
    }

    /// The corners and crossings of a cell, going round.
    fn around(&self, i: usize, j: usize) -> Vec<Vertex> {
        let [a, b, c, d] =
            [self.corner(i, j), self.corner(i + 1, j), self.corner(i + 1, j + 1), self.corner(i, j + 1)];
        let class = |vertex: Vertex| self.verdicts[vertex / 4].class;
        let mut ring = Vec::with_capacity(8);
        for (from, to, crossing) in [(a, b, a + 1), (b, c, b + 2), (c, d, d + 1), (d, a, a + 2)] {
            ring.push(from);
            if class(from) != class(to) {
                ring.push(crossing);
            }
        }
        ring
    }

    /// The polygons of a cell with their classes.
    fn polygons(&self, i: usize, j: usize, mut show: impl FnMut(usize, &[Vertex])) {
        let ring = self.around(i, j);
        let crossings: Vec<usize> = (0..ring.len()).filter(|&place| !ring[place].is_multiple_of(4)).collect();
        if crossings.is_empty() {
            show(self.verdicts[ring[0] / 4].class, &ring);
            return;
        }
        for (number, &start) in crossings.iter().enumerate() {
            let end = crossings[(number + 1) % crossings.len()];
            let mut polygon = vec![ring[start]];
            let mut place = (start + 1) % ring.len();
            let class = self.verdicts[ring[place] / 4].class;
            while place != end {
                polygon.push(ring[place]);
                place = (place + 1) % ring.len();
            }
            polygon.push(ring[end]);
            if crossings.len() > 2 {
                polygon.push(self.corner(i, j) + 3);
            }
            show(class, &polygon);
        }
    }

    pub(crate) fn regions(&self) -> Regions {
        let mut edges: BTreeMap<(Vertex, Vertex), usize> = BTreeMap::new();
        for j in 0..self.rows {
            for i in 0..self.columns {
                self.polygons(i, j, |class, polygon| {
                    for (number, &from) in polygon.iter().enumerate() {
                        let to = polygon[(number + 1) % polygon.len()];
                        if edges.get(&(to, from)) == Some(&class) {
                            edges.remove(&(to, from));
                        } else {
                            edges.insert((from, to), class);
                        }
                    }
                });
            }
        }
        let mut by_class: BTreeMap<usize, Links> = BTreeMap::new();
        let mut by_pair: BTreeMap<(usize, usize), Links> = BTreeMap::new();
        for (&(from, to), &class) in &edges {
            by_class.entry(class).or_default().add(from, to);
            if let Some(&other) = edges.get(&(to, from)).filter(|other| class < **other) {
                by_pair.entry((class, other)).or_default().add(from, to);
            }
        }
        let placed = |chain: Vec<Vertex>| chain.into_iter().map(|vertex| self.place(vertex)).collect();
        let areas = by_class
            .into_iter()
            .map(|(class, links)| (class, links.chains().into_iter().map(placed).collect()))
            .collect();
        let borders =
            by_pair.into_values().flat_map(|links| links.chains().into_iter().map(placed)).collect();
        Regions { areas, borders }
    }
}

/// Directed edges, to be joined end to end.
#[derive(Default)]
struct Links {
    next: BTreeMap<Vertex, Vec<Vertex>>,
    n_into: BTreeMap<Vertex, usize>,
}

impl Links {
    fn add(&mut self, from: Vertex, to: Vertex) {
        self.next.entry(from).or_default().push(to);
        *self.n_into.entry(to).or_default() += 1;
    }

    /// Lines first, which begin where nothing leads to; then rings, whose first vertex is their last, too.
    fn chains(mut self) -> Vec<Vec<Vertex>> {
        let beginnings = self.next.keys().filter(|vertex| !self.n_into.contains_key(*vertex));
        let beginnings: Vec<Vertex> = beginnings.copied().collect();
        let mut chains = Vec::new();
        for start in beginnings {
            while self.next.contains_key(&start) {
                chains.push(self.follow(start));
            }
        }
        while let Some((&start, _)) = self.next.first_key_value() {
            chains.push(self.follow(start));
        }
        chains
    }

    fn follow(&mut self, start: Vertex) -> Vec<Vertex> {
        let mut chain = vec![start];
        let mut now = start;
        while let Some(ways) = self.next.get_mut(&now) {
            let Some(to) = ways.pop() else { break };
            if ways.is_empty() {
                self.next.remove(&now);
            }
            chain.push(to);
            now = to;
            if now == start {
                break;
            }
        }
        chain
    }
}

/// The same line with no more points than it needs to stay within `tolerance` of where it was.
pub(crate) fn simplified(points: &[Point], tolerance: f64) -> Vec<Point> {
    let n_points = points.len();
    if n_points < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; n_points];
    (keep[0], keep[n_points - 1]) = (true, true);
    let mut parts = vec![(0, n_points - 1)];
    while let Some((first, last)) = parts.pop() {
        let farthest = (first + 1..last)
            .map(|idx| (idx, distance(points[idx], points[first], points[last])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((idx, far)) = farthest.filter(|(_, far)| *far > tolerance) {
            debug_assert!(far.is_finite());
            keep[idx] = true;
            parts.extend([(first, idx), (idx, last)]);
        }
    }
    points.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect()
}

/// How far a point is from a line between two others; from the first, if they are one.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    if length < 1e-12 {
        return (point.x - from.x).hypot(point.y - from.y);
    }
    ((point.x - from.x) * dy - (point.y - from.y) * dx).abs() / length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rings: &[Vec<Point>]) -> f64 {
        let one = |ring: &Vec<Point>| -> f64 {
            let pairs = ring.iter().zip(ring.iter().cycle().skip(1));
            pairs.map(|(a, b)| a.x * b.y - b.x * a.y).sum::<f64>() / 2.0
        };
        rings.iter().map(one).sum()
    }

    #[test]
    fn a_plane_has_one_straight_border_and_two_regions() {
        let mut decide = |x: f64, y: f64| {
            let score = x + 2.0 * y - 1.2;
            Verdict { class: usize::from(score > 0.0), margin: score.abs() }
        };
        let grid = Grid::sample(13, 7, &mut decide);
        let Regions { areas, borders } = grid.regions();
        assert_eq!((areas.len(), borders.len()), (2, 1));
        let line = simplified(&borders[0], 1e-9);
        assert_eq!(line.len(), 2, "{line:?}");
        for end in &line {
            assert!((end.x + 2.0 * end.y - 1.2).abs() < 1e-12, "{end:?}");
        }
        assert!((size(&areas[0].1) + size(&areas[1].1) - 1.0).abs() < 1e-12);
        assert!((size(&areas[0].1) - 0.35).abs() < 1e-12, "{}", size(&areas[0].1));
        let band = grid.beyond(0.3).regions().borders;
        for end in simplified(&band[0], 1e-9) {
            assert!((end.x + 2.0 * end.y - 1.5).abs() < 1e-12, "{end:?}");
        }
    }

    #[test]
    fn islands_holes_and_saddles_are_whole() {
        let mut ring = |x: f64, y: f64| {
            let far = (x - 0.5).hypot(y - 0.5);
            Verdict {
                class: usize::from((0.2..0.4).contains(&far)),
                margin: (far - 0.2).abs().min((far - 0.4).abs()),
            }
        };
        let Regions { areas, borders } = Grid::sample(80, 80, &mut ring).regions();
        assert_eq!(borders.len(), 2);
        let expected = std::f64::consts::PI * (0.16 - 0.04);
        assert!((size(&areas[1].1) - expected).abs() < 0.003, "{}", size(&areas[1].1));
        let mut checks = |x: f64, y: f64| {
            let (column, row) = ((x * 4.0).round() as usize, (y * 4.0).round() as usize);
            Verdict { class: (column + row) % 2, margin: 1.0 }
        };
        let areas = Grid::sample(4, 4, &mut checks).regions().areas;
        assert!((size(&areas[0].1) + size(&areas[1].1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn three_classes_fill_the_square() {
        let mut decide = |x: f64, y: f64| {
            let scores = [x, y, 1.1 - x - y];
            let class = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            let rival =
                (0..3).filter(|&other| other != class).map(|other| scores[other]).fold(f64::MIN, f64::max);
            Verdict { class, margin: scores[class] - rival }
        };
        let Regions { areas, borders } = Grid::sample(30, 20, &mut decide).regions();
        assert_eq!((areas.len(), borders.len()), (3, 3));
        let whole: f64 = areas.iter().map(|(_, rings)| size(rings)).sum();
        assert!((whole - 1.0).abs() < 1e-12, "{whole}");
    }

    #[test]
    fn scores_that_overflow_still_have_a_border() {
        let mut decide = |x: f64, _: f64| Verdict { class: usize::from(x > 0.4), margin: f64::MAX };
        assert_eq!(Grid::sample(5, 5, &mut decide).regions().borders.len(), 1);
        let mut decide = |x: f64, _: f64| Verdict { class: usize::from(x > 0.4), margin: f64::INFINITY };
        assert_eq!(Grid::sample(5, 5, &mut decide).regions().borders.len(), 1);
    }
}
