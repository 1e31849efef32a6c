//! The certificate: what is claimed, about which data, and all that is needed to see that it is true.
//!
//! A JSON file, described field by field in `docs/certify.md`. Every number in it is exact: a JSON number is
//! the double nearest to it, a string is an integer of any length.

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

/// What a certificate file says it is.
pub const FORMAT: &str = "rosenblatt-certificate";
/// The version of the file's layout.
pub const VERSION: u32 = 1;

/// The most monomials of a kernel's space.
const MOST: u128 = 1_000_000;

/// A claim about data, with its proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Certificate {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// What the claim is about.
    pub data: About,
    /// Whether the hyperplane may lie anywhere, or has to pass through the origin.
    pub bias: bool,
    /// The space the hyperplane lies in, if it is not that of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Polynomial>,
    /// What is claimed.
    pub claim: Claim,
}

/// Which rows a certificate is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct About {
    /// How many rows take part.
    pub rows: usize,
    /// How many features they have.
    pub features: usize,
    /// The class on the positive side.
    pub positive: String,
    /// The class on the other side; every other class if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative: Option<String>,
    /// SHA-256 of the rows that take part: see [`crate::Rows::fingerprint`].
    pub fingerprint: String,
}

/// The space of `(offset + x·y)^degree`: that of all products of up to `degree` features.
///
/// Every positive offset spans the same space, and stretches its axes: the verdict is the same, the margin is not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Polynomial {
    /// The degree, at least 1.
    pub degree: u32,
    /// What is added to a product; with 0 only products of exactly `degree` features count.
    pub offset: f64,
}

impl Polynomial {
    /// The monomials of `width` features in their order: each as `degree` ascending numbers of features,
    /// `width` standing for the constant 1.
    pub fn monomials(&self, width: usize) -> Vec<Vec<usize>> {
        let last = if self.offset == 0.0 { width } else { width + 1 };
        let mut monomials = vec![Vec::new()];
        for _ in 0..self.degree {
            let longer = |features: Vec<usize>| {
                let first = features.last().copied().unwrap_or(0);
                (first..last).map(move |feature| [features.as_slice(), &[feature]].concat())
            };
            monomials = monomials.into_iter().flat_map(longer).collect();
        }
        monomials
    }

    /// Whether the kernel is one, and the monomials of `width` features are few enough to be written down.
    pub fn is_small(&self, width: usize) -> bool {
        let places = width as u128 + u128::from(self.offset != 0.0);
        // C(places + degree - 1, degree), factor by factor: every intermediate result is a whole number.
        let mut count = Some(1);
        for factor in 0..u128::from(self.degree.min(64)) {
            count = count
                .map(|count: u128| count * (places + factor) / (factor + 1))
                .filter(|&count| count <= MOST);
        }
        let is_kernel = (1..=64).contains(&self.degree) && self.offset >= 0.0 && self.offset.is_finite();
        is_kernel && count.is_some()
    }
}

/// What is claimed, with the proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Claim {
    /// A hyperplane has every row strictly on its own side.
    Separable {
        /// The hyperplane's weights, one per feature; with a kernel, one per monomial.
        weights: Vec<Number>,
        /// What is added to the score; 0 through the origin.
        intercept: Number,
        /// How wide the widest gap between the sides is.
        margin: Option<Margin>,
    },
    /// No hyperplane has: these rows contradict each other.
    Inseparable {
        /// Non-negative weights under which the signed rows add up to exactly zero.
        contradiction: Vec<Share>,
    },
}

/// Between which numbers the largest margin lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Margin {
    /// The claimed hyperplane has at least this margin.
    pub at_least: f64,
    /// No hyperplane has a larger one than this.
    pub at_most: f64,
    /// Why: the weighted means of these rows are no farther apart.
    pub nearest: Vec<Share>,
}

/// A row and its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Share {
    /// The row's number in the data, from 1.
    pub row: usize,
    /// How much it counts.
    pub weight: Number,
}

/// An exact number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// This double.
    Double(f64),
    /// An integer in decimal.
    Integer(String),
}

/// No double has digits past this binary place.
pub(crate) const PLACES: u64 = 1074;

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl Number {
    /// About how large it is.
    pub fn near(&self) -> f64 {
        match self {
            Self::Double(value) => *value,
            Self::Integer(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// The number in units of `2^-1074`, of which every double is a multiple.
    pub(crate) fn units(&self) -> Result<BigInt, String> {
        match self {
            Self::Double(value) if value.is_finite() => Ok(integer(*value, PLACES)),
            Self::Integer(text) if text.len() < 1 << 20 => {
                text.parse().map(|n: BigInt| n << PLACES).map_err(|_| format!("`{text}` is not an integer"))
            }
            _ => Err("a number is not finite, or too long".to_owned()),
        }
    }
}

/// `value · 2^1074` as a mantissa and how far it is to be shifted.
fn parts(value: f64) -> (u64, u64) {
    let (exponent, fraction) = ((value.to_bits() >> 52) & 0x7FF, value.to_bits() & ((1 << 52) - 1));
    if exponent == 0 { (fraction, 0) } else { (fraction | (1 << 52), exponent - 1) }
}

/// How many binary places a value has that is not zero.
pub(crate) fn places(value: f64) -> u64 {
    let (mantissa, exponent) = parts(value);
    PLACES.saturating_sub(exponent + u64::from(mantissa.trailing_zeros()))
}

/// `value · 2^places`, where all further binary places are zero.
pub(crate) fn integer(value: f64, places: u64) -> BigInt {
    let (mantissa, exponent) = parts(value);
    let magnitude = (BigInt::from(mantissa) << exponent) >> (PLACES - places);
    if value < 0.0 { -magnitude } else { magnitude }
}
