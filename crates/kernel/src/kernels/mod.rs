//! The kernels: what takes the place of the product of two rows. One file each, one line in [`KERNELS`].
//!
//! A kernel starts from a sum over the features of two rows ([`Sum`]), which others compute for many rows at
//! once, and says what becomes of it ([`Kernel::finish`]). What a user says is a [`Choice`]: a name and some
//! parameters, any of them wrong. It becomes a kernel when the data is known, since `gamma` may follow from it
//! and products may overflow.

mod cosine;
mod intersection;
mod laplacian;
mod linear;
mod outline;
mod own;
mod polynomial;
mod precomputed;
mod rbf;
mod sigmoid;

pub use cosine::Cosine;
pub use intersection::Intersection;
pub use laplacian::Laplacian;
pub use linear::Linear;
pub use outline::{Outline, Survey};
pub use own::FromRows;
pub use polynomial::Polynomial;
pub use precomputed::Precomputed;
pub use rbf::Rbf;
pub use sigmoid::Sigmoid;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Which sum over the features of two rows `x` and `y` a kernel starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// `Σ x_j y_j`.
    Products,
    /// `Σ |x_j - y_j|`.
    Distances,
    /// `Σ min(x_j, y_j)`, for rows without negative values.
    Minima,
    /// None: the kernel wants to see both rows ([`Kernel::of_rows`]).
    Rows,
}

/// A symmetric function of two rows.
///
/// Kernels that are a function of one of the sums are as fast as matrix products. Any other function of two rows
/// is a kernel by way of [`FromRows`].
pub trait Kernel: fmt::Debug + Send + Sync {
    /// Which sum it starts from.
    fn sum(&self) -> Sum {
        Sum::Products
    }

    /// Turns sums into values, in place: those of one row, whose squared length is `norm2`, with several rows of
    /// squared lengths `norms2`. Value by value, so that it does not matter how many there are.
    fn finish(&self, sums: &mut [f64], norm2: f64, norms2: &[f64]);

    /// The value itself, for kernels that start from no sum. The rows are equally long.
    fn of_rows(&self, _one: &[f64], _other: &[f64]) -> f64 {
        0.0
    }

    /// Whether a row's own features are a unit vector: those of the row that a precomputed value belongs to.
    fn by_number(&self) -> bool {
        false
    }

    /// Whether a row of zeros has the value 0 with every row, so that a step along it moves nothing.
    fn ignores_zeros(&self) -> bool {
        false
    }

    /// The largest value two rows of at most this squared length can have.
    fn largest(&self, norm2: f64) -> f64;

    /// Whether no two rows have a value beyond 1, however long they are.
    fn is_at_most_one(&self) -> bool {
        false
    }

    /// Its name and parameters; `None` for kernels that only the program at hand knows.
    fn formula(&self) -> Option<Formula> {
        None
    }
}

/// A kernel of the table with its parameters: what a model file says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Formula {
    /// Its name in the table.
    pub name: &'static str,
    /// The factor of the sum, if it has one.
    pub gamma: Option<f64>,
    /// What is added to the product, if anything.
    pub offset: Option<f64>,
    /// The power, if it has one.
    pub degree: Option<u32>,
}

impl Formula {
    const fn named(name: &'static str) -> Self {
        Self { name, gamma: None, offset: None, degree: None }
    }
}

impl From<Formula> for Choice {
    fn from(formula: Formula) -> Self {
        let Formula { name, gamma, offset, degree } = formula;
        Self { name: name.to_owned(), gamma: gamma.map(Gamma::Number), offset, degree }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let numbers =
            [("degree", self.degree.map(f64::from)), ("gamma", self.gamma), ("offset", self.offset)];
        let given: Vec<String> =
            numbers.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?))).collect();
        if given.is_empty() { Ok(()) } else { write!(f, " ({})", given.join(", ")) }
    }
}

/// The factor of the sum, which may follow from the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gamma {
    /// 1 by the number of features times the variance of all values.
    Scale,
    /// 1 by the number of features.
    Auto,
    /// A number.
    Number(f64),
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale => f.write_str("scale"),
            Self::Auto => f.write_str("auto"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl FromStr for Gamma {
    type Err = rosenblatt_core::NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "scale" => Ok(Self::Scale),
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Number).map_err(|_| rosenblatt_core::NameError {
                what: "gamma",
                given: text.to_owned(),
                known: "scale, auto or a number",
            }),
        }
    }
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// The value of two rows.
    pub formula: &'static str,
    /// When to prefer it.
    pub prefer: &'static str,
    /// `gamma` if nobody says otherwise; `None` if it has none.
    pub gamma: Option<Gamma>,
    /// The offset if nobody says otherwise; `None` if it has none.
    pub offset: Option<f64>,
    /// The degree if nobody says otherwise; `None` if it has none.
    pub degree: Option<u32>,
    build: fn(Numbers) -> Arc<dyn Kernel>,
}

/// Checked parameters; those a kernel does not have are 0.
#[derive(Clone, Copy)]
struct Numbers {
    gamma: f64,
    offset: f64,
    degree: u32,
}

/// All kernels that have a name.
pub const KERNELS: &[Info] = &[
    linear::INFO,
    polynomial::INFO,
    rbf::INFO,
    sigmoid::INFO,
    laplacian::INFO,
    intersection::INFO,
    cosine::INFO,
    precomputed::INFO,
];

/// The largest degree: beyond it, products differ by so many orders of magnitude that only one of them counts.
const LARGEST_DEGREE: u32 = 64;

/// The kernel a user asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Its name or alias.
    pub name: String,
    /// The factor of the sum; the kernel's own if nothing is given.
    pub gamma: Option<Gamma>,
    /// What is added to the product; the kernel's own if nothing is given.
    pub offset: Option<f64>,
    /// The power; the kernel's own if nothing is given.
    pub degree: Option<u32>,
}

impl Choice {
    /// A kernel with the parameters it has if nobody says otherwise.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The line of the table, unless the choice is wrong whatever the data.
    pub fn check(&self) -> Result<&'static Info, KernelError> {
        let called = |info: &&Info| info.name == self.name || info.aliases.contains(&self.name.as_str());
        let info = KERNELS.iter().find(called).ok_or_else(|| KernelError::Unknown(self.name.clone()))?;
        for (name, given, known) in [
            ("gamma", self.gamma.is_some(), info.gamma.is_some()),
            ("offset", self.offset.is_some(), info.offset.is_some()),
            ("degree", self.degree.is_some(), info.degree.is_some()),
        ] {
            if given && !known {
                return Err(KernelError::NoParameter { kernel: info.name, name });
            }
        }
        let range = |name, holds: bool, expected: &str, found: String| {
            if holds {
                Ok(())
            } else {
                Err(KernelError::Range { name, expected: expected.to_owned(), found })
            }
        };
        if let Some(Gamma::Number(gamma)) = self.gamma {
            let expected = "scale, auto or a positive number";
            range("gamma", gamma > 0.0 && gamma.is_finite(), expected, gamma.to_string())?;
        }
        if let Some(offset) = self.offset {
            range("offset", offset.is_finite(), "a finite number", offset.to_string())?;
            let holds = info.name != "polynomial" || offset >= 0.0;
            range("offset", holds, "zero or positive for a polynomial", offset.to_string())?;
        }
        if let Some(degree) = self.degree {
            let expected = format!("from 1 to {LARGEST_DEGREE}");
            range("degree", (1..=LARGEST_DEGREE).contains(&degree), &expected, degree.to_string())?;
        }
        Ok(info)
    }

    /// The kernel, whatever the rows; refused where a parameter would follow from them.
    pub fn blind(&self) -> Result<Arc<dyn Kernel>, KernelError> {
        let info = self.check()?;
        let gamma = match self.gamma.or(info.gamma) {
            None => 0.0,
            Some(Gamma::Number(number)) => number,
            Some(found) => {
                let expected = "a number where the rows are not known beforehand".to_owned();
                return Err(KernelError::Range { name: "gamma", expected, found: found.to_string() });
            }
        };
        let offset = self.offset.or(info.offset).unwrap_or(0.0);
        let degree = self.degree.or(info.degree).unwrap_or(0);
        Ok((info.build)(Numbers { gamma, offset, degree }))
    }

    /// The kernel for rows like these, unless their values would be no numbers.
    pub fn kernel(&self, rows: &Outline) -> Result<Arc<dyn Kernel>, KernelError> {
        let info = self.check()?;
        let gamma = match self.gamma.or(info.gamma) {
            None => 0.0,
            Some(Gamma::Number(number)) => number,
            Some(Gamma::Auto) => 1.0 / rows.width.max(1) as f64,
            Some(Gamma::Scale) if rows.variance > 0.0 => 1.0 / (rows.width as f64 * rows.variance),
            // All values are the same, so that any factor is as good.
            Some(Gamma::Scale) => 1.0,
        };
        let gamma = info.gamma.map(|_| Gamma::Number(gamma));
        let kernel = Self { gamma, ..self.clone() }.blind()?;
        if kernel.by_number() && rows.n_rows != rows.width {
            return Err(KernelError::NotSquare { rows: rows.n_rows, width: rows.width });
        }
        if let Some((row, feature, value)) = rows.negative.filter(|_| kernel.sum() == Sum::Minima) {
            return Err(KernelError::Negative { row, feature, value });
        }
        // As many of the largest values as there are rows must still be a number.
        let largest = kernel.largest(rows.norm2) * rows.n_rows as f64;
        if !kernel.by_number() && !largest.is_finite() {
            return Err(KernelError::Overflow { kernel: info.name, norm2: rows.norm2, degree: self.degree });
        }
        Ok(kernel)
    }
}

/// A choice that cannot work, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum KernelError {
    /// Nobody knows a kernel of this name.
    Unknown(String),
    /// A parameter was given that the kernel does not have.
    NoParameter {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        name: &'static str,
    },
    /// A parameter is outside its range.
    Range {
        /// The parameter.
        name: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A matrix of precomputed values has another number of rows than of columns.
    NotSquare {
        /// Rows of the data.
        rows: usize,
        /// Features of the data.
        width: usize,
    },
    /// A value is negative where only sizes make sense.
    Negative {
        /// The row, from 0.
        row: usize,
        /// The feature, from 0.
        feature: usize,
        /// What stands there.
        value: f64,
    },
    /// The products of these rows are beyond all numbers.
    Overflow {
        /// The kernel.
        kernel: &'static str,
        /// The largest squared length of a row.
        norm2: f64,
        /// The degree that was asked for.
        degree: Option<u32>,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let known: Vec<&str> = KERNELS.iter().map(|info| info.name).collect();
                write!(f, "`kernel` should be one of {}, but is `{name}`", known.join(", "))
            }
            Self::NoParameter { kernel, name } => {
                let has = KERNELS.iter().filter(|info| match *name {
                    "gamma" => info.gamma.is_some(),
                    "offset" => info.offset.is_some(),
                    _ => info.degree.is_some(),
                });
                let has: Vec<&str> = has.map(|info| info.name).collect();
                write!(f, "`{kernel}` has no `{name}`; {} would", has.join(" or "))
            }
            Self::Range { name, expected, found } => {
                write!(f, "`{name}` should be {expected}, but is {found}")
            }
            Self::NotSquare { rows, width } => write!(
                f,
                "a precomputed kernel needs one column per row, but there are {rows} rows of {width} columns"
            ),
            Self::Negative { row, feature, value } => write!(
                f,
                "feature {feature} of row {row} is {value}, but histograms have no negative values; \
                 use another kernel, or scale the features to between 0 and 1"
            ),
            Self::Overflow { kernel, norm2, degree } => {
                let power = degree.map_or_else(String::new, |degree| format!(" to the power {degree}"));
                write!(
                    f,
                    "the values of `{kernel}` overflow: a row's product with itself is {norm2:e}{power}; \
                     scale the rows to unit norm, or lower gamma or the degree"
                )
            }
        }
    }
}

impl std::error::Error for KernelError {}

/// `base` to the power `degree`, always by the same multiplications.
#[inline(always)]
fn power(base: f64, degree: u32) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, degree);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline() -> Outline {
        Outline { n_rows: 4, width: 2, variance: 0.5, norm2: 2.0, negative: None }
    }

    fn refused(choice: &Choice, rows: &Outline) -> String {
        choice.kernel(rows).unwrap_err().to_string()
    }

    #[test]
    fn wrong_parameters_are_refused_with_the_reason() {
        let polynomial = Choice::named("poly");
        let zero = Choice { degree: Some(0), ..polynomial.clone() };
        assert_eq!(refused(&zero, &outline()), "`degree` should be from 1 to 64, but is 0");
        for gamma in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            let negative = Choice { gamma: Some(Gamma::Number(gamma)), ..Choice::named("rbf") };
            let said = refused(&negative, &outline());
            assert_eq!(said, format!("`gamma` should be scale, auto or a positive number, but is {gamma}"));
        }
        let offset = Choice { offset: Some(-1.0), ..polynomial };
        assert!(refused(&offset, &outline()).contains("zero or positive"));
        let other = Choice { degree: Some(2), ..Choice::named("rbf") };
        assert_eq!(refused(&other, &outline()), "`rbf` has no `degree`; polynomial would");
        assert!(refused(&Choice::named("gauss-jordan"), &outline()).contains("one of linear, polynomial"));
        let narrow = Outline { n_rows: 3, ..outline() };
        assert!(refused(&Choice::named("precomputed"), &narrow).contains("3 rows of 2 columns"));
        let negative = Outline { negative: Some((1, 0, -2.0)), ..outline() };
        assert!(refused(&Choice::named("intersection"), &negative).contains("feature 0 of row 1 is -2"));
    }

    #[test]
    fn what_overflows_is_refused_and_what_only_single_precision_could_not_hold_is_not() {
        // A white picture of raw pixels: beyond single precision at degree 5, far below what doubles hold.
        let white = 784.0 * 255.0 * 255.0;
        let pixels = Outline { norm2: white, ..outline() };
        let choice = |degree| Choice { degree: Some(degree), ..Choice::named("polynomial") };
        let kernel = choice(5).kernel(&pixels).unwrap();
        let mut value = [white];
        kernel.finish(&mut value, white, &[white]);
        assert!(value[0] > f64::from(f32::MAX) && value[0].is_finite());
        let said = refused(&choice(64), &pixels);
        assert!(said.contains("overflow") && said.contains("to the power 64"), "{said}");
    }

    #[test]
    fn gamma_follows_from_the_data_as_scikit_learn_has_it() {
        let gamma = |name: &str, gamma| {
            let choice = Choice { gamma, ..Choice::named(name) };
            choice.kernel(&outline()).unwrap().formula().unwrap().gamma
        };
        assert_eq!(gamma("rbf", None), Some(1.0));
        assert_eq!(gamma("rbf", Some(Gamma::Auto)), Some(0.5));
        assert_eq!(gamma("polynomial", None), Some(1.0));
        let flat = Outline { variance: 0.0, ..outline() };
        assert_eq!(Choice::named("rbf").kernel(&flat).unwrap().formula().unwrap().gamma, Some(1.0));
        assert_eq!("0.25".parse::<Gamma>().unwrap(), Gamma::Number(0.25));
        assert!("much".parse::<Gamma>().is_err());
    }

    #[test]
    fn every_kernel_of_the_table_is_symmetric_and_knows_itself() {
        let rows = Outline { n_rows: 2, ..outline() };
        for info in KERNELS {
            let kernel = Choice::named(info.name).kernel(&rows).unwrap();
            let formula = kernel.formula().unwrap();
            assert_eq!(formula.name, info.name);
            assert_eq!(formula.gamma.is_some(), info.gamma.is_some());
            let mut one = [0.75, 0.75, 0.0];
            kernel.finish(&mut one, 1.5, &[2.0, 2.0, 0.0]);
            let mut other = [0.75];
            kernel.finish(&mut other, 2.0, &[1.5]);
            assert_eq!([one[0], one[1]], [other[0]; 2], "{}", info.name);
            assert_eq!(one[2] == 0.0, kernel.ignores_zeros() || kernel.by_number() || info.name == "sigmoid");
        }
    }

    #[test]
    fn powers_are_products() {
        for degree in 1..20 {
            let product = (0..degree).fold(1.0, |product, _| product * 3.0);
            assert_eq!(power(3.0, degree), product);
        }
    }
}
