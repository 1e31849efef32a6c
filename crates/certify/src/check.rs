//! The checker: believes nothing but the rows and the certificate, and calculates exactly.
//!
//! Deliberately simple, and deliberately without any part of the search: whoever doubts a verdict has these
//! lines to read. Every double is an integer times a power of two, so that nothing has to be rounded: values
//! of rows are integers in units of `1/one`, numbers of the certificate are integers in units of `2^-1074`.

use crate::certificate::{Certificate, Claim, FORMAT, Margin, Number, PLACES, Polynomial, Share, VERSION};
use crate::certificate::{integer, parts};
use crate::rows::Rows;
use num_bigint::{BigInt, Sign};

/// The rows as integers; with a kernel, as all products of `degree` features, 1 counting as a feature.
struct Checker<'a> {
    rows: &'a Rows,
    kernel: Option<Polynomial>,
    /// Binary places of a value, and of a product of values.
    places: u64,
    one: u64,
    width: usize,
}

impl Checker<'_> {
    fn new(rows: &Rows, kernel: Option<Polynomial>) -> Checker<'_> {
        let values = (0..rows.len()).flat_map(|idx| rows.entries(idx).map(|(_, value)| parts(value)));
        let zeros = values.map(|(mantissa, exponent)| exponent + u64::from(mantissa.trailing_zeros())).min();
        let places = PLACES.saturating_sub(zeros.unwrap_or(PLACES));
        let width = kernel.map_or(rows.width(), |kernel| kernel.monomials(rows.width()).len());
        Checker {
            rows,
            kernel,
            places,
            one: places * u64::from(kernel.map_or(1, |kernel| kernel.degree)),
            width,
        }
    }

    fn row(&self, idx: usize) -> Vec<(usize, BigInt)> {
        let entries = self.rows.entries(idx).map(|(feature, value)| (feature, integer(value, self.places)));
        let Some(kernel) = self.kernel else { return entries.collect() };
        let mut values = vec![BigInt::ZERO; self.rows.width()];
        entries.for_each(|(feature, value)| values[feature] = value);
        values.push(BigInt::from(1) << self.places);
        let products = kernel.monomials(self.rows.width()).into_iter();
        products.map(|features| features.iter().map(|&j| &values[j]).product()).enumerate().collect()
    }

    /// Rows with their weights, which are not negative and not all zero.
    fn shares(&self, shares: &[Share]) -> Result<Vec<(usize, BigInt)>, String> {
        let read = |Share { row, weight }: &Share| {
            let idx = row.checked_sub(1).and_then(|row| self.rows.find(row));
            let weight = weight.units().ok().filter(|weight| weight.sign() != Sign::Minus);
            idx.zip(weight).ok_or_else(|| format!("row {row} is none of the rows, or its weight is negative"))
        };
        let shares: Vec<_> = shares.iter().map(read).collect::<Result<_, String>>()?;
        let counts = shares.iter().any(|(_, weight)| weight.sign() == Sign::Plus);
        if counts { Ok(shares) } else { Err("no row has a positive weight".to_owned()) }
    }

    /// The sum of the weights on one side, and that of the weighted rows.
    fn side(&self, shares: &[(usize, BigInt)], positive: bool) -> (BigInt, Vec<BigInt>) {
        let (mut total, mut sum) = (BigInt::ZERO, vec![BigInt::ZERO; self.width]);
        for (idx, weight) in shares.iter().filter(|(idx, _)| self.rows.is_positive(*idx) == positive) {
            total += weight;
            self.row(*idx).into_iter().for_each(|(feature, value)| sum[feature] += value * weight);
        }
        (total, sum)
    }

    fn inseparable(&self, bias: bool, contradiction: &[Share]) -> Result<(), String> {
        let shares = self.shares(contradiction)?;
        let ((plus, above), (minus, below)) = (self.side(&shares, true), self.side(&shares, false));
        if bias && plus != minus {
            return Err("the weights of the two sides have different sums".to_owned());
        }
        if above == below { Ok(()) } else { Err("the weighted rows do not add up to zero".to_owned()) }
    }

    fn separable(&self, bias: bool, weights: &[Number], intercept: &Number) -> Result<[BigInt; 2], String> {
        let plane: Vec<BigInt> = weights.iter().map(Number::units).collect::<Result<_, _>>()?;
        let intercept = intercept.units()?;
        if plane.len() != self.width || (!bias && intercept.sign() != Sign::NoSign) {
            return Err("there should be a weight per feature, and no intercept without bias".to_owned());
        }
        let mut least: Option<BigInt> = None;
        for idx in 0..self.rows.len() {
            let score: BigInt = self.row(idx).into_iter().map(|(j, value)| &plane[j] * value).sum();
            let own: BigInt =
                (score + (&intercept << self.one)) * if self.rows.is_positive(idx) { 1 } else { -1 };
            if own.sign() != Sign::Plus {
                return Err(format!("row {} is not strictly on its own side", self.rows.number(idx) + 1));
            }
            least = least.filter(|least| *least <= own).or(Some(own));
        }
        Ok([plane.iter().map(|weight| weight * weight).sum(), least.ok_or("there are no rows")?])
    }

    /// `at_least ≤ least/|w|` and `|p| ≤ at_most`, both squared and without fractions.
    fn margin(&self, bias: bool, margin: &Margin, [norm2, least]: [BigInt; 2]) -> Result<(), String> {
        let Margin { at_least, at_most, nearest } = margin;
        let (low, high) = (Number::Double(*at_least).units()?, Number::Double(*at_most).units()?);
        let short = (low.pow(2) * norm2) << (2 * self.one) > least.pow(2) << (2 * PLACES);
        if low.sign() == Sign::Minus || short {
            return Err("the hyperplane has a smaller margin than is said".to_owned());
        }
        let shares = self.shares(nearest)?;
        let ((plus, above), (minus, below)) = (self.side(&shares, true), self.side(&shares, false));
        // Through the origin the mean of all rows; with a bias half the way between the means of the sides.
        let (of_plus, of_minus) = if bias { (&minus, &plus) } else { (&BigInt::from(1), &BigInt::from(1)) };
        let apart = above.iter().zip(&below).map(|(above, below)| above * of_plus - below * of_minus);
        let apart2: BigInt = apart.map(|part| part.pow(2)).sum();
        let whole = if bias { BigInt::from(2) * &plus * &minus } else { &plus + &minus };
        let far = apart2 << (2 * PLACES) > (high.pow(2) * whole.pow(2)) << (2 * self.one);
        if high.sign() == Sign::Minus || whole.sign() != Sign::Plus || far {
            return Err("the nearest points of the two sides are farther apart than is said".to_owned());
        }
        Ok(())
    }
}

/// Whether the certificate proves what it claims about these rows; if not, what is wrong with it.
pub fn check(certificate: &Certificate, rows: &Rows) -> Result<(), String> {
    let Certificate { format, version, data, bias, kernel, claim } = certificate;
    if format != FORMAT || *version != VERSION || kernel.is_some_and(|kernel| !kernel.is_small(rows.width()))
    {
        return Err(format!("this is not a certificate of version {VERSION}, or not for so many features"));
    }
    if data.rows != rows.len() || data.features != rows.width() || data.fingerprint != rows.fingerprint() {
        return Err("the certificate is about other data: rows, classes or values differ".to_owned());
    }
    let checker = Checker::new(rows, *kernel);
    match claim {
        Claim::Inseparable { contradiction } => checker.inseparable(*bias, contradiction),
        Claim::Separable { weights, intercept, margin } => {
            let found = checker.separable(*bias, weights, intercept)?;
            margin.as_ref().map_or(Ok(()), |margin| checker.margin(*bias, margin, found))
        }
    }
}
