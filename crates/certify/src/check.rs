//! The checker: believes nothing but the rows and the certificate, and calculates exactly.
//!
//! Deliberately simple, and deliberately without any part of the search: if you doubt a verdict, you have these
//! lines to read. Every double is an integer times a power of two, so that nothing has to be rounded: values
//! of rows are integers in units of `1/one`, numbers of the certificate are integers in units of `2^-1074`.

use crate::certificate::{Certificate, Claim, FORMAT, Margin, Number, PLACES, Polynomial, Share, VERSION};
use crate::certificate::{integer, places};
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
        let values = (0..rows.len()).flat_map(|idx| rows.entries(idx).map(|(_, value)| places(value)));
        let places = values.max().unwrap_or(0);
        let width = kernel.map_or(rows.width(), |kernel| kernel.monomials(rows.width()).len());
        let one = places * u64::from(kernel.map_or(1, |kernel| kernel.degree));
        Checker { rows, kernel, places, one, width }
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

    /// What divides `all` to the squared lengths of the axes, in units of `2^-fine`: the power of a sum has a product
    /// as often as its factors can be put in order, each 1 with the offset.
    fn axes(&self) -> (Vec<BigInt>, BigInt, u64) {
        let Some(kernel) = self.kernel else { return (vec![1.into(); self.width], 1.into(), 0) };
        let offset = if kernel.offset == 0.0 { 1.0 } else { kernel.offset };
        let (one, offset) = (BigInt::from(1) << places(offset), integer(offset, places(offset)));
        let divisor = |features: Vec<usize>| -> BigInt {
            let times = |idx: usize| features[..=idx].iter().filter(|&&same| same == features[idx]).count();
            let factors = features.iter().map(|&j| if j == self.rows.width() { &one } else { &offset });
            factors.enumerate().map(|(idx, factor)| factor * times(idx)).product()
        };
        let all = (1..=kernel.degree).map(|factor| &one * &offset * factor).product();
        let products = kernel.monomials(self.rows.width()).into_iter();
        (products.map(divisor).collect(), all, (one.bits() - 1) * u64::from(kernel.degree))
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

    /// The least score of a row on its own side.
    fn separable(&self, bias: bool, plane: &[BigInt], intercept: &Number) -> Result<BigInt, String> {
        let intercept = intercept.units()?;
        if plane.len() != self.width || (!bias && intercept.sign() != Sign::NoSign) {
            return Err("there should be a weight per feature, and no intercept without bias".to_owned());
        }
        let mut least: Option<BigInt> = None;
        for idx in 0..self.rows.len() {
            let score: BigInt = self.row(idx).into_iter().map(|(j, value)| &plane[j] * value).sum();
            let side = if self.rows.is_positive(idx) { 1 } else { -1 };
            let own: BigInt = (score + (&intercept << self.one)) * side;
            if own.sign() != Sign::Plus {
                return Err(format!("row {} is not strictly on its own side", self.rows.number(idx) + 1));
            }
            least = least.filter(|least| *least <= own).or(Some(own));
        }
        least.ok_or_else(|| "there are no rows".to_owned())
    }

    /// `at_least ≤ least/|w|` and `|p| ≤ at_most`, both squared and without fractions.
    fn margin(&self, bias: bool, margin: &Margin, plane: &[BigInt], least: &BigInt) -> Result<(), String> {
        let Margin { at_least, at_most, nearest } = margin;
        let (low, high) = (Number::Double(*at_least).units()?, Number::Double(*at_most).units()?);
        let (divisors, all, fine) = self.axes();
        let norm2: BigInt = plane.iter().zip(&divisors).map(|(weight, by)| weight.pow(2) * by).sum();
        let short = (low.pow(2) * norm2) << (2 * self.one + fine) > (least.pow(2) * &all) << (2 * PLACES);
        if low.sign() == Sign::Minus || short {
            return Err("the hyperplane has a smaller margin than stated".to_owned());
        }
        let shares = self.shares(nearest)?;
        let ((plus, above), (minus, below)) = (self.side(&shares, true), self.side(&shares, false));
        // Through the origin the mean of all rows; with a bias half the way between the means of the sides.
        let (of_plus, of_minus) = if bias { (&minus, &plus) } else { (&BigInt::from(1), &BigInt::from(1)) };
        let apart = above.iter().zip(&below).map(|(above, below)| above * of_plus - below * of_minus);
        let apart2: BigInt = apart.zip(&divisors).map(|(part, divisor)| part.pow(2) * (&all / divisor)).sum();
        let whole = if bias { BigInt::from(2) * &plus * &minus } else { &plus + &minus };
        let far = apart2 << (2 * PLACES) > (high.pow(2) * whole.pow(2)) << (2 * self.one + fine);
        let is_wrong = high.sign() == Sign::Minus || whole.sign() != Sign::Plus || far;
        if is_wrong { Err("the nearest points are farther apart than stated".to_owned()) } else { Ok(()) }
    }
}

/// Whether the certificate proves what it claims about these rows; if not, what is wrong with it.
pub fn check(certificate: &Certificate, rows: &Rows) -> Result<(), String> {
    let Certificate { format, version, data, bias, kernel, claim } = certificate;
    let is_small = kernel.is_none_or(|kernel| kernel.is_small(rows.width()));
    if format != FORMAT || *version != VERSION || !is_small {
        return Err(format!("this is not a certificate of version {VERSION}, or has too many features"));
    }
    if data.rows != rows.len() || data.features != rows.width() || data.fingerprint != rows.fingerprint() {
        return Err("the certificate is about other data: rows, classes or values differ".to_owned());
    }
    let checker = Checker::new(rows, *kernel);
    match claim {
        Claim::Inseparable { contradiction } => checker.inseparable(*bias, contradiction),
        Claim::Separable { weights, intercept, margin } => {
            let plane = weights.iter().map(Number::units).collect::<Result<Vec<_>, _>>()?;
            let least = checker.separable(*bias, &plane, intercept)?;
            margin.as_ref().map_or(Ok(()), |margin| checker.margin(*bias, margin, &plane, &least))
        }
    }
}
