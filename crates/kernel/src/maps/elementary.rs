//! Sine and the random draws made of it, out of additions, products and square roots alone.
//!
//! Random directions are drawn anew whenever a model is loaded, so what they are made of is a part of the
//! model file: it must give the same bits on every machine, and the functions of a system's library do not.
//! Angles are counted in full turns, which makes the reduction of large ones exact.

use rosenblatt_core::Random;
use rosenblatt_core::elementary::ln;

/// `cos` of an angle of `turns` full turns.
#[inline(always)]
pub(super) fn cos_turns(turns: f64) -> f64 {
    /// Added and taken away again, it leaves the nearest whole number.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let nearest = (turns + ROUNDER) - ROUNDER;
    // Beyond 2^51 turns neighbouring numbers are whole turns apart, and any angle is as good as another.
    let rest = (turns - nearest).clamp(-0.5, 0.5);
    let angle = std::f64::consts::TAU * (0.25 - rest.abs());
    sin_of_quarter(angle)
}

/// `sin` of an angle of `turns` full turns.
#[inline(always)]
pub(super) fn sin_turns(turns: f64) -> f64 {
    cos_turns(turns - 0.25)
}

/// `sin` between `-π/2` and `π/2`: Taylor's series, whose first term left out is 1e-18.
#[inline(always)]
fn sin_of_quarter(angle: f64) -> f64 {
    const TERMS: [f64; 11] = {
        let mut terms = [1.0; 11];
        let mut k = 1;
        while k < 11 {
            terms[k] = -terms[k - 1] / ((2 * k) as f64 * (2 * k + 1) as f64);
            k += 1;
        }
        terms
    };
    let square = angle * angle;
    let mut sum = TERMS[10];
    let mut k = 10;
    while k > 0 {
        k -= 1;
        sum = sum * square + TERMS[k];
    }
    angle * sum
}

/// The stream of random numbers of one feature, for one purpose: the same whichever features there are beside
/// it, so that a stream of rows may grow wider.
pub(super) fn of_feature(seed: u64, purpose: &str, feature: u64) -> Random {
    let base = Random::for_purpose(seed, purpose).state();
    Random::new(Random::new(base.wrapping_add(feature)).next())
}

/// Two independent draws from the normal distribution (Box and Muller).
pub(super) fn normal_pair(random: &mut Random) -> [f64; 2] {
    let length = (-2.0 * ln(1.0 - random.unit())).sqrt();
    let turns = random.unit();
    [length * cos_turns(turns), length * sin_turns(turns)]
}

/// A draw from the Cauchy distribution.
pub(super) fn cauchy(random: &mut Random) -> f64 {
    // A half turn of the tangent; its pole is never hit exactly, as the middle of a step is taken.
    let turns = 0.5 * (random.unit() + 0.5 / (1_u64 << 53) as f64) - 0.25;
    sin_turns(turns) / cos_turns(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_those_of_the_library_to_the_last_digits() {
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            let turns = (random.unit() - 0.5) * 200.0;
            let expected = (std::f64::consts::TAU * (turns - turns.round())).cos();
            assert!((cos_turns(turns) - expected).abs() < 1e-14, "{turns}");
        }
        for turns in [1e15, 9.3e15, 4.7e18, 1e300, f64::MAX] {
            assert!(cos_turns(turns).abs() <= 1.0 + 1e-15, "{turns}");
        }
        assert_eq!((cos_turns(0.0), cos_turns(1.0), cos_turns(0.25)), (1.0, 1.0, 0.0));
    }

    /// These numbers are in every model file with a random map, though not as bytes: they must never change.
    #[test]
    fn the_draws_are_pinned() {
        let mut random = of_feature(7, "fourier", 3);
        let normal = normal_pair(&mut random).map(f64::to_bits);
        let cauchy = cauchy(&mut random).to_bits();
        assert_eq!(normal, [13_816_320_119_803_740_529, 4_614_573_610_557_533_658]);
        assert_eq!(cauchy, 4_613_463_784_652_998_421);
    }

    #[test]
    fn the_draws_are_distributed_as_they_should() {
        let mut random = Random::new(5);
        let (mut sum, mut squares, mut within) = (0.0, 0.0, 0);
        for _ in 0..50_000 {
            for draw in normal_pair(&mut random) {
                sum += draw;
                squares += draw * draw;
            }
            within += u32::from(cauchy(&mut random).abs() < 1.0);
        }
        assert!((sum / 1e5).abs() < 0.01 && (squares / 1e5 - 1.0).abs() < 0.015, "{sum} {squares}");
        // Half of a Cauchy distribution lies between -1 and 1.
        assert!((24_600..25_400).contains(&within), "{within}");
    }
}
