//! Axes: ranges that hold all values, ticks at round numbers, and numbers as short as they can be.

use std::fmt;

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PlotError {
    /// A value that has no place on an axis.
    NotFinite {
        /// Of what it is a value.
        what: String,
        /// Which one, from 0.
        place: usize,
        /// The value.
        value: f64,
    },
    /// Nothing to draw.
    Nothing {
        /// What there should be.
        what: String,
    },
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { what, place, value } => {
                write!(f, "{what} should be finite to be drawn, but number {} is {value}", place + 1)
            }
            Self::Nothing { what } => write!(f, "there is nothing to draw, expected {what}"),
        }
    }
}

impl std::error::Error for PlotError {}

/// A value this many times the median leaves the others flat.
const FLAT: f64 = 20.0;
/// On a logarithmic axis the largest value is at most this many times the least that differs from zero.
const MOST_DECADES: f64 = 1e8;

/// From where to where an axis goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// One value in a hundred at each end may lie far out.
const END: usize = 100;

impl Range {
    /// The smallest range that holds all values, which must be finite. If one is not, the error names `what`
    /// they are.
    pub fn of(what: &str, values: impl IntoIterator<Item = f64>) -> Result<Self, PlotError> {
        let mut range: Option<Self> = None;
        for (place, value) in values.into_iter().enumerate() {
            if !value.is_finite() {
                return Err(PlotError::NotFinite { what: what.to_owned(), place, value });
            }
            let so_far = range.get_or_insert(Self { low: value, high: value });
            *so_far = so_far.with(value);
        }
        range.ok_or_else(|| PlotError::Nothing { what: what.to_owned() })
    }

    /// What to show where a few values lie so far out that all others would be a blot: the range of nearly all, with some air.
    /// None where no value lies further out than `far` lengths of the others. With `zero`, the range holds 0.
    pub fn of_most(values: impl IntoIterator<Item = f64>, zero: bool, far: f64) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let n_ends = sorted.len() / END;
        let most = Self { low: *sorted.get(n_ends)?, high: *sorted.get(sorted.len() - n_ends - 1)? };
        let most = if zero { most.with(0.0) } else { most };
        let length = most.high - most.low;
        let (least, greatest) = (*sorted.first()?, *sorted.last()?);
        let is_far = least < most.low - far * length || greatest > most.high + far * length;
        let air = length * (far / 2.0).min(1.0);
        (is_far && length > 0.0 && length.is_finite()).then(|| Self {
            low: (most.low - air).max(least.min(most.low)),
            high: (most.high + air).min(greatest.max(most.high)),
        })
    }

    /// The range that holds `value`, too.
    #[must_use]
    pub fn with(self, value: f64) -> Self {
        Self { low: self.low.min(value), high: self.high.max(value) }
    }

    /// The range with some air at both ends: a share of its length, or what a single value needs.
    #[must_use]
    pub fn padded(self, share: f64) -> Self {
        // Halves are taken first: the length of the widest ranges is no number.
        let half = self.high / 2.0 - self.low / 2.0;
        let air = if half > 0.0 { 2.0 * share * half } else { self.low.abs() * 0.1 };
        // Where a single value is tiny, or zero, any air will do, as long as the ends differ.
        let air = if self.low + air > self.low { air } else { 1.0_f64.max(self.low.abs() * 1e-9) };
        Self { low: (self.low - air).max(-f64::MAX), high: (self.high + air).min(f64::MAX) }
    }

    /// Where `value` stands: 0 at the lower end, 1 at the upper.
    pub fn share(&self, value: f64) -> f64 {
        let half = self.high / 2.0 - self.low / 2.0;
        if half > 0.0 { (value / 2.0 - self.low / 2.0) / half } else { 0.5 }
    }

    /// The value that stands at `share`.
    pub fn value(&self, share: f64) -> f64 {
        self.low * (1.0 - share) + self.high * share
    }
}

/// An axis: its range, its name and how it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// From where to where it goes.
    pub range: Range,
    /// What it shows.
    pub name: String,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// If it is logarithmic, the value below which it is nearly even, so that zero has a place; the range is not
    /// negative then.
    pub log: Option<f64>,
}

impl Axis {
    /// An axis.
    pub fn new(name: impl Into<String>, range: Range) -> Self {
        Self { range, name: name.into(), whole: false, log: None }
    }

    /// Where `value` stands: 0 at the lower end, 1 at the upper.
    pub fn share(&self, value: f64) -> f64 {
        match self.log {
            None => self.range.share(value),
            Some(least) => self.in_logs(least).share((value.max(0.0) / least).ln_1p()),
        }
    }

    /// The value that stands at `share`.
    pub fn value(&self, share: f64) -> f64 {
        match self.log {
            None => self.range.value(share),
            Some(least) => least * self.in_logs(least).value(share).exp_m1(),
        }
    }

    fn in_logs(&self, least: f64) -> Range {
        let log = |value: f64| (value.max(0.0) / least).ln_1p();
        Range { low: log(self.range.low), high: log(self.range.high) }
    }

    /// The same, logarithmic if one of `values` is so far above most of them that the others would lie flat.
    #[must_use]
    pub fn log_if_flat(self, values: impl Iterator<Item = f64>) -> Self {
        let mut above: Vec<f64> = values.filter(|value| *value > 0.0).collect();
        above.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (above.first(), above.last()) else { return self };
        let is_flat = above.len() > 2 && most > FLAT * above[above.len() / 2];
        if self.range.low < 0.0 || !is_flat || !(least / 3.0 > 0.0 && (most / least).is_finite()) {
            return self;
        }
        // Few values far below the others are as good as zero.
        let least = least.max(most / MOST_DECADES);
        Self { name: format!("{} (logarithmic)", self.name), log: Some(least / 3.0), ..self }
    }

    /// Ticks at zero and at powers of ten, with their halves and fifths if those are few.
    fn log_ticks(&self, most: usize) -> Vec<(f64, String)> {
        let Range { low, high } = self.range;
        let (first, last) = (self.log.unwrap_or(1.0).log10().floor() as i32, high.log10().ceil() as i32);
        let powers = |steps: &[f64]| -> Vec<f64> {
            let values =
                (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
            let zero = std::iter::once(0.0).filter(|_| low <= 0.0);
            let least = if self.whole { 1.0 } else { self.log.unwrap_or(0.0) };
            zero.chain(values.filter(|value| *value >= least.max(low) && *value <= high)).collect()
        };
        let fine = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(powers);
        let [.., tens] = &fine;
        let mut chosen = fine.iter().find(|ticks| ticks.len() <= most.max(3)).unwrap_or(tens).clone();
        if chosen.len() > 2 * most {
            let step = chosen.len().div_ceil(most.max(2));
            chosen = chosen.into_iter().step_by(step).collect();
        }
        chosen.into_iter().map(|value| (value, self.apart(value, number(value)))).collect()
    }

    /// The same, for counts.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// At most about `most` round numbers of the range, with their labels.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.log.is_some() {
            return self.log_ticks(most);
        }
        let Range { low, high } = self.range;
        let most = most.max(2) as f64;
        let raw = (high / most - low / most).max(f64::MIN_POSITIVE);
        let unit = 10_f64.powf(raw.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
        let mut step = steps.iter().map(|step| step * unit).find(|step| *step >= raw * 0.999).unwrap_or(raw);
        if self.whole && step < 1.0 {
            step = 1.0;
        } else if self.whole {
            step = step.ceil();
        }
        if !step.is_finite() {
            return vec![(low, self.label(low, raw)), (high, self.label(high, raw))];
        }
        let first = (low / step).ceil();
        let numbers = (0..=(2.0 * most) as u32).map(|k| (first + f64::from(k)) * step);
        let inside = numbers.filter(|value| (low..=high).contains(value));
        let mut ticks: Vec<(f64, String)> = inside.map(|value| (value, self.label(value, step))).collect();
        ticks.dedup_by(|a, b| a.1 == b.1);
        ticks
    }

    fn label(&self, value: f64, step: f64) -> String {
        self.apart(value, label(value, step))
    }

    /// A label with its thousands apart. Of four digits that count nothing, as those of a year, they are not.
    fn apart(&self, value: f64, label: String) -> String {
        let least = if self.whole { 1e3 } else { 1e4 };
        if value.abs() < least || label.contains('e') {
            return label;
        }
        let digits = label.chars().take_while(|letter| *letter != '.').filter(char::is_ascii_digit).count();
        let mut left = digits;
        let mut text = String::new();
        for letter in label.chars() {
            if letter.is_ascii_digit() && left > 0 {
                if left < digits && left.is_multiple_of(3) {
                    text.push(',');
                }
                left -= 1;
            }
            text.push(letter);
        }
        text
    }
}

/// `value` with as many digits as a distance of `step` needs.
fn label(value: f64, step: f64) -> String {
    let value = if value.abs() < step * 1e-9 { 0.0 } else { value };
    let decimals = (-step.log10()).ceil().max(0.0);
    let decimals = decimals + f64::from(u8::from((step * 10_f64.powf(decimals)).fract() > 1e-6));
    if value != 0.0 && (value.abs() >= 1e6 || decimals > 4.0) {
        let digits = (value.abs().log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        return format!("{mantissa}e{exponent}").replace('-', "\u{2212}");
    }
    let decimals = decimals.min(15.0) as usize;
    format!("{value:.decimals$}").replace('-', "\u{2212}")
}

/// A number as a person would write it: four digits, and none that say nothing.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&value.abs()) {
        let text = format!("{value:.2e}");
        return text.replace(".00e", "e").replace('-', "\u{2212}");
    }
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        Axis::new("", Range { low, high }).ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-2.0, 4.0), ["\u{2212}2", "0", "2", "4"]);
        assert_eq!(labels(0.0, 0.1), ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10"]);
        assert_eq!(labels(0.0, 1.25), ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25"]);
        assert_eq!(labels(0.0, 4e7), ["0", "1e7", "2e7", "3e7", "4e7"]);
        // Counts have their thousands apart, and so have large values; years have not.
        let counts = Axis::new("", Range { low: 0.0, high: 5e3 }).whole().ticks(4);
        assert_eq!(counts[1..].iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>(), ["2,000", "4,000"]);
        assert_eq!(labels(2000.0, 2010.0)[1], "2002");
        assert_eq!(labels(-2e5, 1e5), ["\u{2212}200,000", "\u{2212}100,000", "0", "100,000"]);
        let whole = Axis::new("", Range { low: 1.0, high: 3.0 }).whole().ticks(8);
        assert_eq!(whole.iter().map(|tick| tick.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn every_range_has_ticks_that_differ() {
        let ends = [-1e300, -1e15, -3.0, 0.0, 1e-300, 1e-5, 0.1, 7.0, 1e15, 1e300, 1.7e308];
        for low in ends {
            for high in ends.into_iter().filter(|high| *high > low) {
                let range = Range { low, high }.padded(0.05);
                let ticks = Axis::new("", range).ticks(6);
                assert!((2..=16).contains(&ticks.len()), "{low} {high}: {ticks:?}");
                for pair in ticks.windows(2) {
                    assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1, "{low} {high}: {ticks:?}");
                }
                for value in [low, high] {
                    assert!((0.0..=1.0).contains(&range.share(value)), "{low} {high}: {value}");
                }
            }
        }
        for only in [0.0, 5.0, -1e300, 1e-300, f64::MAX, 1e15 + 1.0] {
            let range = Range::of("x", [only]).unwrap().padded(0.05);
            assert!(range.low < range.high && (0.0..=1.0).contains(&range.share(only)), "{only}: {range:?}");
        }
    }

    #[test]
    fn an_outlier_makes_an_axis_logarithmic_and_zero_keeps_its_place() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 4000.0];
        let axis = Axis::new("loss", Range::of("loss", values).unwrap()).log_if_flat(values.into_iter());
        assert_eq!(axis.name, "loss (logarithmic)");
        assert_eq!((axis.share(0.0), axis.share(4000.0)), (0.0, 1.0));
        assert!(axis.share(4.0) > 0.2 && axis.share(4.0) < 0.4, "{}", axis.share(4.0));
        assert!((axis.value(axis.share(7.0)) - 7.0).abs() < 1e-9);
        let labels: Vec<String> = axis.ticks(6).into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["0", "1", "10", "100", "1000"]);
        let even = Axis::new("loss", Range { low: 0.0, high: 5.0 }).log_if_flat([1.0, 2.0, 5.0].into_iter());
        assert_eq!(even.log, None);
        let both = Axis::new("gain", Range { low: -1.0, high: 900.0 });
        assert_eq!(both.log_if_flat([-1.0, 1.0, 1.0, 900.0].into_iter()).log, None);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let error = Range::of("the column `a`", [1.0, f64::NAN]).unwrap_err();
        assert_eq!(error.to_string(), "the column `a` should be finite to be drawn, but number 2 is NaN");
        assert!(Range::of("points", []).is_err());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [number(0.5), number(12.0), number(1e9), number(-0.25)],
            ["0.5", "12", "1e9", "\u{2212}0.25"]
        );
        assert_eq!(number(4.0 / 3.0), "1.333");
    }
}
