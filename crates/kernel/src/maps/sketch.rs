//! The polynomial count sketch (Pham and Pagh 2013): `(gamma x·y + offset)^degree` as products of `D` numbers.
//!
//! A count sketch adds every feature, with a random sign, to a random one of `D` places. The sketch of a power
//! is the convolution of as many independent sketches as its degree, which Fourier's transform makes a product.
//! Places and signs are not stored but drawn again from the seed, feature by feature.

use super::elementary::of_feature;
use super::fft::{Complex, Fft, product};
use super::{FeatureMap, Info, Request, SparseRows};
use rosenblatt_core::{Random, Row as _};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "sketch",
    aliases: &["tensor-sketch", "count-sketch"],
    summary: "the convolution of as many random projections as the degree",
    source: "Pham and Pagh 2013",
    kernels: &["polynomial"],
    from_rows: false,
    size: |size| if size.is_power_of_two() { Ok(()) } else { Err("a power of two for a sketch") },
    bytes: |size, width| size as u128 * 48 + width as u128 * 64 * 16,
    build: |request| Ok(Arc::new(Sketch::new(&request))),
};

/// A polynomial count sketch.
#[derive(Debug, Clone)]
struct Sketch {
    /// The root of gamma, by which features are multiplied.
    scale: f64,
    gamma: f64,
    seed: u64,
    fft: Fft,
    size: usize,
    /// Of every feature, one place and sign per degree.
    places: Vec<(u32, f64)>,
    /// The same of the offset, which is a feature that is always the root of it.
    offset: Vec<(u32, f64)>,
}

/// A random place and, with a random sign, `value`.
fn place(random: &mut Random, size: usize, value: f64) -> (u32, f64) {
    let place = random.below(size as u64) as u32;
    (place, if random.next() >> 63 == 0 { value } else { -value })
}

impl Sketch {
    fn new(request: &Request) -> Self {
        let Request { ref formula, size, seed, width, .. } = *request;
        let value = |name| formula.get(name).unwrap_or(1.0);
        let (gamma, degree) = (value("gamma"), value("degree") as usize);
        let mut random = of_feature(seed, "sketch offset", 0);
        let root = value("offset").sqrt();
        let offset = (0..degree).map(|_| place(&mut random, size, root)).collect();
        let (scale, fft) = (gamma.sqrt(), Fft::new(size));
        let mut map = Self { scale, gamma, seed, fft, size, places: Vec::new(), offset };
        map.widen(width);
        map
    }
}

impl FeatureMap for Sketch {
    fn size(&self) -> usize {
        self.size
    }

    fn width(&self) -> usize {
        self.places.len() / self.offset.len()
    }

    fn gamma(&self) -> Option<f64> {
        Some(self.gamma)
    }

    fn widen(&mut self, width: usize) {
        let (degree, known) = (self.offset.len(), self.width());
        self.places.reserve(width.saturating_sub(known) * degree);
        for feature in known..width {
            let mut random = of_feature(self.seed, "sketch places", feature as u64);
            self.places.extend((0..degree).map(|_| place(&mut random, self.size, self.scale)));
        }
    }

    fn copied(&self) -> Arc<dyn FeatureMap> {
        Arc::new(self.clone())
    }

    fn apply(&self, rows: &SparseRows, out: &mut [f32]) {
        let degree = self.offset.len();
        let mut whole: Vec<Complex> = vec![[0.0; 2]; self.size];
        let mut factor = whole.clone();
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(self.size)) {
            for power in 0..degree {
                factor.fill([0.0; 2]);
                let (place, value) = self.offset[power];
                factor[place as usize][0] += value;
                for (feature, value) in row.entries() {
                    let (place, sign) = self.places[feature * degree + power];
                    factor[place as usize][0] += sign * value;
                }
                self.fft.transform(&mut factor);
                if power == 0 {
                    std::mem::swap(&mut whole, &mut factor);
                } else {
                    for (whole, factor) in whole.iter_mut().zip(&factor) {
                        *whole = product(*whole, *factor);
                    }
                }
            }
            // Back again: of the conjugate, as what comes out is real.
            for value in &mut whole {
                value[1] = -value[1];
            }
            self.fft.transform(&mut whole);
            for (out, value) in out.iter_mut().zip(&whole) {
                *out = (value[0] / self.size as f64) as f32;
            }
        }
    }
}
