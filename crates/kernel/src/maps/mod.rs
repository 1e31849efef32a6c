//! Explicit feature maps: rows in, dense rows out whose products are a kernel's values, nearly. One file each,
//! one line in [`MAPS`].
//!
//! After such a map any linear learner is a learner with that kernel, at a cost that does not grow with the
//! number of mistakes. What a user says is a [`Choice`]; it becomes a [`FeatureMap`] when the rows to learn from
//! are known, and again, to the same bits, when a model is loaded.

mod cholesky;
mod elementary;
mod fft;
mod fourier;
mod nystroem;
mod sketch;
mod table;

use rosenblatt_core::SparseRows;

use crate::kernels::{self, Formula, GAMMA, Kernel, KernelError, Outline, Setting};
use rosenblatt_core::Random;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A map, fitted.
pub trait FeatureMap: fmt::Debug + Send + Sync {
    /// How many features come out.
    fn size(&self) -> usize;

    /// How many features go in.
    fn width(&self) -> usize;

    /// The kernel's `gamma`, which may have followed from the data.
    fn gamma(&self) -> Option<f64>;

    /// The rows it was fitted to, and the lower triangle it divides by, column by column, if it is of that kind.
    fn landmarks(&self) -> Option<(&SparseRows, &[f64])> {
        None
    }

    /// Makes room for rows of this many features. What narrower rows are mapped to stays the same.
    fn widen(&mut self, width: usize);

    /// A copy, to be widened while others use this one.
    fn copied(&self) -> Arc<dyn FeatureMap>;

    /// Maps rows that are no wider than the map; each fills the next `size` numbers of `out`, and no row depends
    /// on another.
    fn apply(&self, rows: &SparseRows, out: &mut [f32]);
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// What comes out.
    pub summary: &'static str,
    /// Who described it.
    pub source: &'static str,
    /// The kernels it can stand in for, the usual one first; none for all that have a formula.
    pub kernels: &'static [&'static str],
    /// Whether it is fitted to rows of the training data.
    pub from_rows: bool,
    /// What is wrong with a size.
    size: fn(usize) -> Result<(), &'static str>,
    /// How many bytes it takes, by size and width.
    bytes: fn(usize, usize) -> u128,
    build: fn(Request) -> Result<Arc<dyn FeatureMap>, MapError>,
}

/// All that a map is made of.
struct Request {
    kernel: Arc<dyn Kernel>,
    formula: Formula,
    size: usize,
    seed: u64,
    width: usize,
    landmarks: SparseRows,
    /// What was made of the landmarks, if it is known already.
    factor: Option<Vec<f64>>,
}

/// All maps.
pub const MAPS: &[Info] = &[fourier::INFO, nystroem::INFO, sketch::INFO];

/// The most features that may come out.
const LARGEST_SIZE: usize = 1 << 20;
/// The most bytes a map may take. Feature numbers come from files, and a single large one must not be able to
/// exhaust the machine.
const MOST_BYTES: u128 = 2 << 30;

impl Info {
    /// Whether it can stand in for a kernel.
    pub fn stands_in_for(&self, kernel: &kernels::Info) -> bool {
        // Of precomputed values nothing is known but the values themselves.
        !kernel.by_number && (self.kernels.is_empty() || self.kernels.contains(&kernel.name))
    }
}

/// The map of this name or alias.
pub fn find(name: &str) -> Option<&'static Info> {
    MAPS.iter().find(|info| info.name == name || info.aliases.contains(&name))
}

/// The kernel that a map approximates by default.
pub fn usual_kernel(map: &str) -> &'static str {
    find(map).and_then(|info| info.kernels.first().copied()).unwrap_or("rbf")
}

/// The map a user asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Its name or alias.
    pub name: String,
    /// How many features come out, at most.
    pub size: usize,
    /// The kernel it stands in for.
    pub kernel: kernels::Choice,
    /// Decides every random draw.
    pub seed: u64,
}

impl Choice {
    /// The line of the table, unless the choice is wrong whatever the data.
    pub fn check(&self) -> Result<&'static Info, MapError> {
        let info = find(&self.name).ok_or_else(|| MapError::Unknown(self.name.clone()))?;
        let kernel = self.kernel.check().map_err(MapError::Kernel)?;
        if !info.stands_in_for(kernel) {
            return Err(MapError::WrongKernel { map: info.name, kernel: kernel.name });
        }
        let in_range =
            if (1..=LARGEST_SIZE).contains(&self.size) { Ok(()) } else { Err("from 1 to 1048576") };
        let right = in_range.and_then(|()| (info.size)(self.size));
        right.map_err(|expected| MapError::Size { expected, found: self.size })?;
        Ok(info)
    }

    /// What of it follows from all rows to learn from, so that there is no map before they are known.
    pub fn follows_from_rows(&self) -> Result<Option<&'static str>, MapError> {
        let info = self.check()?;
        let open = self.kernel.follows_from_rows().map_err(MapError::Kernel)?;
        Ok(if info.from_rows { Some("map") } else { open.map(|param| param.name) })
    }

    /// Which of `n_rows` rows the map is fitted to, by ascending number; none if it is fitted to no rows.
    pub fn landmarks(&self, n_rows: usize) -> Result<Vec<usize>, MapError> {
        if !self.check()?.from_rows {
            return Ok(Vec::new());
        }
        let mut rows: Vec<usize> = (0..n_rows).collect();
        Random::for_purpose(self.seed, "landmarks").shuffle(&mut rows);
        rows.truncate(self.size);
        rows.sort_unstable();
        Ok(rows)
    }

    /// The map for rows like these, fitted to `landmarks` if it is fitted to any.
    pub fn fit(&self, outline: &Outline, landmarks: SparseRows) -> Result<Arc<dyn FeatureMap>, MapError> {
        let info = self.check()?;
        let kernel = self.kernel.kernel(outline).map_err(MapError::Kernel)?;
        self.build(info, kernel, outline.width, landmarks, None)
    }

    /// A map that was fitted before, from what a model file says of it: the width, the kernel's gamma, and the
    /// landmarks with their factor.
    pub fn restore(
        &self,
        width: usize,
        gamma: Option<f64>,
        fitted: Option<(SparseRows, Vec<f64>)>,
    ) -> Result<Arc<dyn FeatureMap>, MapError> {
        let info = self.check()?;
        if info.from_rows != fitted.is_some() {
            return Err(MapError::Stored("the landmarks are missing, or there should be none"));
        }
        if self.kernel.check().map_err(MapError::Kernel)?.has(GAMMA.name) != gamma.is_some() {
            return Err(MapError::Stored("the kernel's gamma is missing, or there should be none"));
        }
        let mut choice = self.kernel.clone();
        choice.params.extend(gamma.map(|gamma| (GAMMA.name.to_owned(), Setting::Number(gamma))));
        let outline = Outline { n_rows: 1, width, variance: 0.0, norm2: 0.0, negative: None };
        let kernel = choice.kernel(&outline).map_err(MapError::Kernel)?;
        let (landmarks, factor) = fitted.map_or_else(Default::default, |(rows, factor)| (rows, Some(factor)));
        if landmarks.len() > self.size {
            return Err(MapError::Stored("there are more landmarks than were asked for"));
        }
        self.check_width(width)?;
        // What is drawn for features is not in a file, which may claim any number of them: it waits for a row.
        let narrow = self.build(info, kernel, 0, landmarks, factor)?;
        let grown = Mutex::new(Arc::clone(&narrow));
        Ok(Arc::new(Restored { narrow, width, grown }))
    }

    fn build(
        &self,
        info: &Info,
        kernel: Arc<dyn Kernel>,
        width: usize,
        landmarks: SparseRows,
        factor: Option<Vec<f64>>,
    ) -> Result<Arc<dyn FeatureMap>, MapError> {
        self.check_width(width)?;
        let formula = kernel.formula().ok_or(MapError::Stored("a kernel without a formula"))?;
        let (size, seed) = (self.size, self.seed);
        (info.build)(Request { kernel, formula, size, seed, width, landmarks, factor })
    }

    /// Refuses rows so wide that the map would not fit into memory.
    pub fn check_width(&self, width: usize) -> Result<(), MapError> {
        let needed = (self.check()?.bytes)(self.size, width);
        if needed > MOST_BYTES {
            return Err(MapError::TooLarge { width, size: self.size, needed });
        }
        Ok(())
    }
}

/// A map from a file, which grows with the rows that it maps: a file of a few kilobytes may claim any number of features,
/// and those that no row has add nothing.
#[derive(Debug)]
struct Restored {
    narrow: Arc<dyn FeatureMap>,
    width: usize,
    grown: Mutex<Arc<dyn FeatureMap>>,
}

impl Restored {
    /// The map with room for this many features.
    fn grown_to(&self, width: usize) -> Arc<dyn FeatureMap> {
        let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        if grown.width() < width {
            let mut wider = grown.copied();
            if let Some(map) = Arc::get_mut(&mut wider) {
                // Twice as much, so that a row more does not copy all.
                map.widen(width.max(2 * grown.width()).min(self.width));
            }
            *grown = wider;
        }
        Arc::clone(&grown)
    }
}

impl FeatureMap for Restored {
    fn size(&self) -> usize {
        self.narrow.size()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn gamma(&self) -> Option<f64> {
        self.narrow.gamma()
    }

    fn landmarks(&self) -> Option<(&SparseRows, &[f64])> {
        self.narrow.landmarks()
    }

    fn widen(&mut self, width: usize) {
        self.width = self.width.max(width);
    }

    fn copied(&self) -> Arc<dyn FeatureMap> {
        let (narrow, grown) = (Arc::clone(&self.narrow), Mutex::new(self.grown_to(0)));
        Arc::new(Self { narrow, width: self.width, grown })
    }

    fn apply(&self, rows: &SparseRows, out: &mut [f32]) {
        let widest = rows.parts().1.iter().max().map_or(0, |last| *last as usize + 1);
        self.grown_to(widest).apply(rows, out);
    }
}

/// A choice that cannot work, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MapError {
    /// There is no map of this name.
    Unknown(String),
    /// The kernel is wrong, with or without a map.
    Kernel(KernelError),
    /// The map cannot stand in for this kernel.
    WrongKernel {
        /// The map.
        map: &'static str,
        /// The kernel.
        kernel: &'static str,
    },
    /// The size is outside its range.
    Size {
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: usize,
    },
    /// No landmark has a positive value with itself.
    NotPositive {
        /// The kernel.
        kernel: &'static str,
    },
    /// The map would not fit into memory.
    TooLarge {
        /// Features that go in.
        width: usize,
        /// Features that come out.
        size: usize,
        /// Bytes it would take.
        needed: u128,
    },
    /// A model file says what cannot be.
    Stored(&'static str),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let known: Vec<&str> = MAPS.iter().map(|info| info.name).collect();
                write!(f, "`map` should be one of {}, but is `{name}`", known.join(", "))
            }
            Self::Kernel(error) => error.fmt(f),
            Self::WrongKernel { map, kernel } => {
                let suits = |map: &&Info| kernels::find(kernel).is_ok_and(|kernel| map.stands_in_for(kernel));
                let others = MAPS.iter().filter(suits);
                let others: Vec<String> = others.map(|info| format!("`{}`", info.name)).collect();
                let cure = if others.is_empty() { "no map".to_owned() } else { others.join(" or ") };
                write!(f, "the map `{map}` cannot stand in for the kernel `{kernel}`; {cure} can")
            }
            Self::Size { expected, found } => write!(f, "`map-size` should be {expected}, but is {found}"),
            Self::NotPositive { kernel } => write!(
                f,
                "the kernel `{kernel}` gives no row a positive value with itself, so that it has no map; \
                 use another kernel"
            ),
            Self::TooLarge { width, size, needed } => write!(
                f,
                "a map of {width} features to {size} needs {needed} bytes; lower `map-size`, or hash the features"
            ),
            Self::Stored(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for MapError {}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::{Dense, DenseExamples, Row as _, Sparse};

    const WIDTH: usize = 12;

    fn choice(name: &str, size: usize, kernel: kernels::Choice) -> Choice {
        Choice { name: name.to_owned(), size, kernel, seed: 5 }
    }

    fn points(n_rows: usize) -> Vec<Vec<f64>> {
        let mut random = Random::new(8);
        let mut value = || if random.unit() < 0.3 { 0.0 } else { random.unit() };
        (0..n_rows).map(|_| (0..WIDTH).map(|_| value()).collect()).collect()
    }

    fn fitted(choice: &Choice, points: &[Vec<f64>]) -> Arc<dyn FeatureMap> {
        let flat = points.concat();
        let classes = vec![0; points.len()];
        let all: Vec<u32> = (0..points.len() as u32).collect();
        let outline = Outline::of(DenseExamples::new(&flat, WIDTH, &classes), &all);
        let mut landmarks = SparseRows::default();
        for row in choice.landmarks(points.len()).unwrap() {
            landmarks.push(Dense(&points[row]), WIDTH);
        }
        choice.fit(&outline, landmarks).unwrap()
    }

    fn mapped(map: &dyn FeatureMap, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut rows = SparseRows::default();
        for point in points {
            rows.push(Dense(point), map.width());
        }
        let mut out = vec![0.0; rows.len() * map.size()];
        map.apply(&rows, &mut out);
        out.chunks(map.size()).map(|row| row.iter().map(|&value| f64::from(value)).collect()).collect()
    }

    /// The kernel's own values, by the sums that define it.
    fn exact(choice: &kernels::Choice, gamma: Option<f64>, one: &[f64], other: &[f64]) -> f64 {
        let mut choice = choice.clone();
        choice.params.extend(gamma.map(|gamma| ("gamma".to_owned(), Setting::Number(gamma))));
        let outline = Outline { n_rows: 1, width: WIDTH, variance: 1.0, norm2: 1.0, negative: None };
        let kernel = choice.kernel(&outline).unwrap();
        let pairs = one.iter().zip(other);
        let sum = match kernel.sum() {
            kernels::Sum::Products | kernels::Sum::Rows => pairs.map(|(x, y)| x * y).sum(),
            kernels::Sum::Distances => pairs.map(|(x, y): (&f64, &f64)| (x - y).abs()).sum(),
            kernels::Sum::Minima => pairs.map(|(x, y)| x.min(*y)).sum(),
        };
        let mut value = [sum];
        kernel.finish(&mut value, Dense(one).norm2(), &[Dense(other).norm2()]);
        value[0]
    }

    /// The root of the mean squared difference from the kernel, as a share of its largest value.
    fn error(choice: &Choice, points: &[Vec<f64>]) -> f64 {
        let map = fitted(choice, points);
        let images = mapped(&*map, points);
        let (mut squares, mut largest, mut n_pairs) = (0.0, 0.0_f64, 0.0);
        for a in 0..points.len() {
            for b in 0..a {
                let value = exact(&choice.kernel, map.gamma(), &points[a], &points[b]);
                let product: f64 = images[a].iter().zip(&images[b]).map(|(x, y)| x * y).sum();
                squares += (product - value).powi(2);
                largest = largest.max(value.abs());
                n_pairs += 1.0;
            }
        }
        (squares / n_pairs).sqrt() / largest
    }

    #[test]
    fn random_maps_miss_the_kernel_by_one_in_the_root_of_their_size() {
        let points = points(40);
        let with =
            |name: &str, param: &str, value| kernels::Choice::named(name).with(param, Setting::Number(value));
        let polynomial = with("polynomial", "degree", 2.0);
        let gamma = |name: &str, value| with(name, "gamma", value);
        for (name, kernel) in [
            ("fourier", gamma("rbf", 0.5)),
            ("fourier", kernels::Choice::named("rbf")),
            ("fourier", gamma("laplacian", 0.2)),
            ("sketch", polynomial),
            ("sketch", kernels::Choice::named("polynomial")),
        ] {
            for size in [64, 256, 1024, 4096] {
                // Mean squared errors over seeds fall like 1/size; a single one scatters around that.
                let squares = (0..5).map(|seed| {
                    let choice = Choice { seed, ..choice(name, size, kernel.clone()) };
                    error(&choice, &points).powi(2)
                });
                let error = (squares.sum::<f64>() / 5.0).sqrt();
                let scaled = error * (size as f64).sqrt();
                assert!((0.1..2.0).contains(&scaled), "{name} {} of {size}: {error}", kernel.name);
            }
        }
    }

    #[test]
    fn nystroem_is_exact_where_all_rows_are_landmarks_and_close_with_half_of_them() {
        let points = points(60);
        for info in kernels::KERNELS.iter().filter(|info| info.positive_definite && !info.by_number) {
            let kernel = kernels::Choice::named(info.name);
            let whole = error(&choice("nystroem", 60, kernel.clone()), &points);
            assert!(whole < 1e-6, "{}: {whole}", info.name);
            let half = error(&choice("nystroem", 30, kernel), &points);
            assert!(half < 0.12, "{}: {half}", info.name);
        }
    }

    #[test]
    fn a_row_is_mapped_to_the_same_bits_in_any_form_and_company() {
        let points = points(30);
        for (name, size) in [("fourier", 300), ("sketch", 256), ("nystroem", 20)] {
            let choice = choice(name, size, kernels::Choice::named(usual_kernel(name)));
            let map = fitted(&choice, &points);
            let together = mapped(&*map, &points);
            for (point, together) in points.iter().zip(&together) {
                let indices: Vec<u32> = (0..WIDTH as u32).filter(|&j| point[j as usize] != 0.0).collect();
                let values: Vec<f64> = indices.iter().map(|&j| point[j as usize]).collect();
                let mut rows = SparseRows::default();
                rows.push(Sparse::new(&indices, &values), WIDTH);
                let mut out = vec![0.0; map.size()];
                map.apply(&rows, &mut out);
                assert!(out.iter().zip(together).all(|(a, b)| f64::from(*a) == *b), "{name}");
            }
            // As it is restored, and as it is when it has grown.
            let stored = map.landmarks().map(|(rows, factor)| (rows.clone(), factor.to_vec()));
            let restored = choice.restore(map.width(), map.gamma(), stored).unwrap();
            assert_eq!(mapped(&*restored, &points), together, "{name}");
            // And where the file claims more features than any row has.
            let stored = map.landmarks().map(|(rows, factor)| (rows.clone(), factor.to_vec()));
            let claimed = choice.restore(50_000, map.gamma(), stored).unwrap();
            assert_eq!((claimed.width(), mapped(&*claimed, &points)), (50_000, together.clone()), "{name}");
            let mut wider = restored.copied();
            Arc::get_mut(&mut wider).unwrap().widen(WIDTH + 3);
            assert_eq!((wider.width(), mapped(&*wider, &points)), (WIDTH + 3, together), "{name}");
        }
    }

    /// These numbers are in every model file with such a map, though not as bytes: they must never change.
    #[test]
    fn the_images_of_a_row_are_pinned() {
        let row = vec![vec![1.0, -0.5, 0.25]];
        let image = |name: &str, kernel: &str| {
            let kernel = kernels::Choice::named(kernel).with("gamma", Setting::Number(0.5));
            let map = choice(name, 4, kernel).restore(3, Some(0.5), None).unwrap();
            mapped(&*map, &row)[0].iter().map(|value| (*value as f32).to_bits()).collect::<Vec<u32>>()
        };
        assert_eq!(image("fourier", "rbf"), [1_057_796_640, 1_057_222_614, 1_048_515_678, 3_207_920_479]);
        assert_eq!(
            image("fourier", "laplacian"),
            [1_057_007_535, 3_205_744_314, 1_059_788_216, 3_182_279_273]
        );
        assert_eq!(
            image("sketch", "polynomial"),
            [1_059_385_251, 3_185_214_074, 3_221_841_994, 3_214_065_815]
        );
    }

    #[test]
    fn wrong_choices_are_refused_with_the_cure() {
        let message = |name: &str, size, kernel: &str| {
            choice(name, size, kernels::Choice::named(kernel)).check().unwrap_err().to_string()
        };
        assert_eq!(
            message("furrier", 8, "rbf"),
            "`map` should be one of fourier, nystroem, sketch, but is `furrier`"
        );
        assert_eq!(
            message("sketch", 100, "poly"),
            "`map-size` should be a power of two for a sketch, but is 100"
        );
        assert_eq!(message("nystroem", 0, "rbf"), "`map-size` should be from 1 to 1048576, but is 0");
        let wrong =
            "the map `fourier` cannot stand in for the kernel `polynomial`; `nystroem` or `sketch` can";
        assert_eq!(message("fourier", 8, "poly"), wrong);
        assert!(message("nystroem", 8, "precomputed").ends_with("no map can"));
        assert!(message("fourier", 8, "rfb").contains("one of linear, polynomial"));
        let wide = choice("fourier", 1 << 20, kernels::Choice::named("rbf"));
        assert!(wide.restore(1000, Some(1.0), None).unwrap_err().to_string().contains("lower `map-size`"));
    }
}
