//! The kernels: what takes the place of the product of two rows. One file each, one line in [`KERNELS`].
//!
//! A kernel starts from a sum over the features of two rows ([`Sum`]), which others compute for many rows at
//! once, and says what becomes of it ([`Kernel::finish`]). What a user says is a [`Choice`]: a name and some
//! parameters, any of them wrong. It becomes a kernel when the data is known, since `gamma` may follow from it
//! and products may overflow.
//!
//! A kernel's file declares its parameters as rules declare theirs ([`Param`]): options, help, model files and
//! reports take them from there.

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

use crate::device::Ending;
use rosenblatt_core::{Param, Range};
use std::collections::BTreeMap;
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

    /// What it makes of the sum, for devices that must do the same; `None` where only the processor can.
    fn ending(&self) -> Option<Ending> {
        None
    }

    /// Its name and parameters; `None` for kernels that only the program at hand knows.
    fn formula(&self) -> Option<Formula> {
        None
    }
}

/// A kernel of the table with its parameters: what a model file says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    /// Its name in the table.
    pub name: &'static str,
    /// Its parameters by name, as the table lists them.
    pub values: Vec<(&'static str, f64)>,
}

impl Formula {
    /// The value of one parameter, if the kernel has it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let given: Vec<String> = self.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
        if given.is_empty() { Ok(()) } else { write!(f, " ({})", given.join(", ")) }
    }
}

/// What a parameter is set to: a number, or the way it follows from the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// 1 by the number of features times the variance of all values.
    Scale,
    /// 1 by the number of features.
    Auto,
    /// A number.
    Number(f64),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale => f.write_str("scale"),
            Self::Auto => f.write_str("auto"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl FromStr for Setting {
    type Err = rosenblatt_core::NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "scale" => Ok(Self::Scale),
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Number).map_err(|_| rosenblatt_core::NameError {
                what: "kernel parameter",
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
    /// Its parameters.
    pub params: &'static [Param],
    /// How its [`GAMMA`] follows from the rows unless you set it; the parameter's default if it does not.
    pub gamma: Option<Setting>,
    /// Whether it is positive definite: a product in some space, as proofs and projections need it.
    pub positive_definite: bool,
    /// Whether no two rows have a value beyond 1, however long they are.
    pub at_most_one: bool,
    /// Whether the columns of a row are its values with other rows, by their numbers.
    pub by_number: bool,
    /// What the directions of random Fourier features are drawn from, if it is a function of differences.
    pub spectrum: Option<Spectrum>,
    /// The kernel, from a value for each of its parameters.
    build: fn(&[f64]) -> Arc<dyn Kernel>,
}

/// The Fourier transform of a kernel that is a function of differences, as a distribution of directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spectrum {
    /// Normal, of variance `2 gamma`.
    Normal,
    /// Cauchy's, of scale `gamma`.
    Cauchy,
}

impl Info {
    /// A positive definite kernel without parameters; kernel files override what they need.
    const fn new(name: &'static str, build: fn(&[f64]) -> Arc<dyn Kernel>) -> Self {
        Self {
            name,
            aliases: &[],
            formula: "",
            prefer: "",
            params: &[],
            gamma: None,
            positive_definite: true,
            at_most_one: false,
            by_number: false,
            spectrum: None,
            build,
        }
    }

    /// Whether it has a parameter of this name.
    pub fn has(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.name == name)
    }

    /// What a parameter is set to by default.
    pub fn default_of(&self, param: &Param) -> Setting {
        let follows = self.gamma.filter(|_| follows_from_rows(param));
        follows.unwrap_or(Setting::Number(param.default))
    }

    /// The formula with these values of its parameters, in their order.
    fn formula<const N: usize>(&self, values: [f64; N]) -> Formula {
        let names = self.params.iter().map(|param| param.name);
        Formula { name: self.name, values: names.zip(values).collect() }
    }
}

/// The factor of the sum, which kernels share, and which alone may follow from the rows.
pub const GAMMA: Param = Param {
    name: "gamma",
    meaning: "the kernel's factor: scale (1 / features / variance), auto (1 / features) or a number",
    default: 1.0,
    range: Range::Positive,
};

/// Whether a parameter may follow from the rows.
pub fn follows_from_rows(param: &Param) -> bool {
    param.name == GAMMA.name
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

/// The kernel of this name or alias.
pub fn find(name: &str) -> Result<&'static Info, KernelError> {
    let called = |info: &&Info| info.name == name || info.aliases.contains(&name);
    KERNELS.iter().find(called).ok_or_else(|| KernelError::Unknown(name.to_owned()))
}

/// The kernel a user asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Its name or alias.
    pub name: String,
    /// Its parameters by name; the kernel's own where nothing is given.
    pub params: BTreeMap<String, Setting>,
}

impl Choice {
    /// A kernel with its default parameters.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The same with one parameter set. Nothing is checked yet.
    #[must_use]
    pub fn with(mut self, name: &str, setting: Setting) -> Self {
        self.params.insert(name.to_owned(), setting);
        self
    }

    /// The line of the table, unless the choice is wrong whatever the data.
    pub fn check(&self) -> Result<&'static Info, KernelError> {
        let info = find(&self.name)?;
        for (name, setting) in &self.params {
            let param = info.params.iter().find(|param| param.name == name);
            let Some(param) = param else {
                return Err(KernelError::NoParameter { kernel: info.name, name: name.clone() });
            };
            let (follows, range) = (follows_from_rows(param), param.range);
            let holds = match setting {
                Setting::Number(number) => range.holds(*number),
                Setting::Scale | Setting::Auto => follows,
            };
            if !holds {
                let expected =
                    if follows { format!("scale, auto or a {range} number") } else { range.to_string() };
                return Err(KernelError::Range { name: param.name, expected, found: setting.to_string() });
            }
        }
        Ok(info)
    }

    /// What a parameter is set to, or would be.
    fn setting(&self, info: &Info, param: &Param) -> Setting {
        self.params.get(param.name).copied().unwrap_or_else(|| info.default_of(param))
    }

    /// Which parameter follows from the rows, if one does.
    pub fn follows_from_rows(&self) -> Result<Option<&'static Param>, KernelError> {
        let info = self.check()?;
        let is_open = |param: &&Param| !matches!(self.setting(info, param), Setting::Number(_));
        Ok(info.params.iter().find(is_open))
    }

    /// The kernel, whatever the rows; refused where a parameter would follow from them.
    pub fn blind(&self) -> Result<Arc<dyn Kernel>, KernelError> {
        let info = self.check()?;
        if let Some(open) = self.follows_from_rows()? {
            let expected = "a number where the rows are not known beforehand".to_owned();
            let found = self.setting(info, open).to_string();
            return Err(KernelError::Range { name: open.name, expected, found });
        }
        Ok(self.build(info, |_| 1.0))
    }

    /// The kernel, with `open` giving the numbers that follow from the rows.
    fn build(&self, info: &Info, open: impl Fn(Setting) -> f64) -> Arc<dyn Kernel> {
        let value = |param: &Param| match self.setting(info, param) {
            Setting::Number(number) => number,
            setting => open(setting),
        };
        (info.build)(&info.params.iter().map(value).collect::<Vec<_>>())
    }

    /// The kernel for rows like these, unless their values would be no numbers.
    pub fn kernel(&self, rows: &Outline) -> Result<Arc<dyn Kernel>, KernelError> {
        let info = self.check()?;
        let kernel = self.build(info, |setting| match setting {
            Setting::Scale if rows.variance > 0.0 => 1.0 / (rows.width as f64 * rows.variance),
            Setting::Auto => 1.0 / rows.width.max(1) as f64,
            // All values are the same, so that any factor is as good.
            Setting::Scale | Setting::Number(_) => 1.0,
        });
        if info.by_number && rows.n_rows != rows.width {
            return Err(KernelError::NotSquare { rows: rows.n_rows, width: rows.width });
        }
        if let Some((row, feature, value)) = rows.negative.filter(|_| kernel.sum() == Sum::Minima) {
            return Err(KernelError::Negative { row, feature, value });
        }
        // As many of the largest values as there are rows must still be a number.
        let largest = kernel.largest(rows.norm2) * rows.n_rows as f64;
        if !info.by_number && !largest.is_finite() {
            let formula = kernel.formula().map_or_else(String::new, |formula| formula.to_string());
            return Err(KernelError::Overflow { formula, norm2: rows.norm2 });
        }
        Ok(kernel)
    }
}

/// A choice that cannot work, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum KernelError {
    /// There is no kernel of this name.
    Unknown(String),
    /// A parameter was given that the kernel does not have.
    NoParameter {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        name: String,
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
        /// The kernel with its parameters.
        formula: String,
        /// The largest squared length of a row.
        norm2: f64,
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
                let has = KERNELS.iter().filter(|info| info.has(name)).map(|info| info.name);
                let has: Vec<&str> = has.collect();
                let cure = if has.is_empty() { "no kernel".to_owned() } else { has.join(" or ") };
                write!(f, "`{kernel}` has no `{name}`; {cure} would")
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
            Self::Overflow { formula, norm2 } => write!(
                f,
                "the values of `{formula}` overflow: a row's product with itself is {norm2:e}; \
                 scale the rows to unit norm, or set smaller parameters"
            ),
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
        let zero = polynomial.clone().with("degree", Setting::Number(0.0));
        let message = refused(&zero, &outline());
        assert_eq!(message, "`degree` should be a whole number from 1 to 64, but is 0");
        for gamma in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            let negative = Choice::named("rbf").with("gamma", Setting::Number(gamma));
            let message = refused(&negative, &outline());
            assert_eq!(
                message,
                format!("`gamma` should be scale, auto or a positive number, but is {gamma}")
            );
        }
        let open = polynomial.clone().with("degree", Setting::Auto);
        assert!(refused(&open, &outline()).ends_with("but is auto"));
        let offset = polynomial.with("offset", Setting::Number(-1.0));
        assert!(refused(&offset, &outline()).contains("zero or positive"));
        let other = Choice::named("rbf").with("degree", Setting::Number(2.0));
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
        let choice = |degree| Choice::named("polynomial").with("degree", Setting::Number(degree));
        let kernel = choice(5.0).kernel(&pixels).unwrap();
        let mut value = [white];
        kernel.finish(&mut value, white, &[white]);
        assert!(value[0] > f64::from(f32::MAX) && value[0].is_finite());
        let message = refused(&choice(64.0), &pixels);
        assert!(message.contains("overflow") && message.contains("degree 64"), "{message}");
    }

    #[test]
    fn gamma_follows_from_the_data_as_scikit_learn_has_it() {
        let gamma = |name: &str, gamma: Option<Setting>| {
            let mut choice = Choice::named(name);
            choice.params.extend(gamma.map(|gamma| ("gamma".to_owned(), gamma)));
            choice.kernel(&outline()).unwrap().formula().unwrap().get("gamma")
        };
        assert_eq!(gamma("rbf", None), Some(1.0));
        assert_eq!(gamma("rbf", Some(Setting::Auto)), Some(0.5));
        assert_eq!(gamma("polynomial", None), Some(1.0));
        assert_eq!(gamma("polynomial", Some(Setting::Auto)), Some(0.5));
        let flat = Outline { variance: 0.0, ..outline() };
        assert_eq!(Choice::named("rbf").kernel(&flat).unwrap().formula().unwrap().get("gamma"), Some(1.0));
        assert_eq!("0.25".parse::<Setting>().unwrap(), Setting::Number(0.25));
        assert!("much".parse::<Setting>().is_err());
    }

    #[test]
    fn every_kernel_of_the_table_is_symmetric_and_knows_itself() {
        let rows = Outline { n_rows: 2, ..outline() };
        for info in KERNELS {
            let kernel = Choice::named(info.name).kernel(&rows).unwrap();
            let formula = kernel.formula().unwrap();
            assert_eq!(formula.name, info.name);
            assert!(
                formula.values.iter().map(|(name, _)| *name).eq(info.params.iter().map(|param| param.name))
            );
            for param in info.params {
                assert!(param.range.holds(param.default), "default of `{}` of `{}`", param.name, info.name);
            }
            assert!(info.gamma.is_none() || info.has(GAMMA.name), "{}", info.name);
            assert_eq!(kernel.by_number(), info.by_number, "{}", info.name);
            let mut one = [0.75, 0.75, 0.0];
            kernel.finish(&mut one, 1.5, &[2.0, 2.0, 0.0]);
            let mut other = [0.75];
            kernel.finish(&mut other, 2.0, &[1.5]);
            assert_eq!([one[0], one[1]], [other[0]; 2], "{}", info.name);
            assert_eq!(one[2] == 0.0, kernel.ignores_zeros() || info.by_number);
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
