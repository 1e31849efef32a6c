//! Random Fourier features (Rahimi and Recht 2007): `√(2/D) cos(ω·x + b)` for `D` random directions `ω`, whose
//! products are a kernel of differences in the mean.
//!
//! Directions are drawn from the kernel's spectrum: the normal distribution for the Gaussian kernel, Cauchy's
//! for the Laplacian one. They are not stored but drawn again from the seed, feature by feature.

use super::elementary::{cauchy, cos_turns, normal_pair, of_feature};
use super::table::Table;
use super::{FeatureMap, Info, Request, SparseRows};
use crate::kernels::{self, GAMMA, Spectrum, Sum};
use rosenblatt_core::Random;
use std::f64::consts::TAU;
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "fourier",
    aliases: &["rff"],
    summary: "sqrt(2/size) cos(w.x + b) for random directions w",
    source: "Rahimi and Recht 2007",
    kernels: &["rbf", "laplacian"],
    from_rows: false,
    size: |_| Ok(()),
    bytes: |size, width| size as u128 * width as u128 * 8,
    build: |request| Ok(Arc::new(Fourier::new(&request))),
};

/// Random Fourier features.
#[derive(Debug, Clone)]
struct Fourier {
    scale: f64,
    /// Two numbers of a direction.
    draw: fn(&mut Random) -> [f64; 2],
    gamma: f64,
    seed: u64,
    /// Where each direction begins, in turns.
    phases: Vec<f64>,
    /// In turns per unit.
    directions: Table,
}

impl Fourier {
    fn new(request: &Request) -> Self {
        let gamma = request.formula.get(GAMMA.name).unwrap_or(GAMMA.default);
        let spectrum = kernels::find(request.formula.name).ok().and_then(|info| info.spectrum);
        // In turns per unit, not in radians.
        let (scale, draw): (f64, fn(&mut Random) -> [f64; 2]) = match spectrum {
            Some(Spectrum::Cauchy) => (gamma / TAU, |random| [cauchy(random), cauchy(random)]),
            Some(Spectrum::Normal) | None => ((2.0 * gamma).sqrt() / TAU, normal_pair),
        };
        let mut random = of_feature(request.seed, "fourier phases", 0);
        let phases = (0..request.size).map(|_| random.unit()).collect();
        let directions = Table::new(request.size);
        let mut map = Self { scale, draw, gamma, seed: request.seed, phases, directions };
        map.widen(request.width);
        map
    }
}

impl FeatureMap for Fourier {
    fn size(&self) -> usize {
        self.phases.len()
    }

    fn width(&self) -> usize {
        self.directions.width()
    }

    fn gamma(&self) -> Option<f64> {
        Some(self.gamma)
    }

    fn widen(&mut self, width: usize) {
        let Self { scale, draw, seed, .. } = *self;
        self.directions.widen(width, |feature| {
            let mut random = of_feature(seed, "fourier directions", feature as u64);
            std::iter::repeat_with(move || draw(&mut random).map(|number| scale * number)).flatten()
        });
    }

    fn copied(&self) -> Arc<dyn FeatureMap> {
        Arc::new(self.clone())
    }

    fn apply(&self, rows: &SparseRows, out: &mut [f32]) {
        let mut turns = self.phases.repeat(rows.len());
        self.directions.add(Sum::Products, rows, &mut turns);
        let scale = (2.0 / self.size() as f64).sqrt();
        for (out, &turns) in out.iter_mut().zip(&turns) {
            *out = (scale * cos_turns(turns)) as f32;
        }
    }
}
