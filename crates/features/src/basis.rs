//! Functions of one number that a model may name, each of which makes several features of it.

use crate::error::{Error, Result};
use crate::model::Factor;
use crate::value::{LARGEST, number_level};

/// A function of one number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Basis {
    /// log(1 + x).
    Log,
    /// sin and cos of 2πkx/period, for k from 1 on.
    Cyclic { period: f64, harmonics: u32 },
    /// Levels between these numbers, which increase.
    Bins(Vec<f64>),
    /// A natural cubic spline with these knots, which increase.
    Spline(Vec<f64>),
}

impl Basis {
    /// What a factor makes of its number, if it is a function; `cuts` are those of the logs.
    pub(crate) fn of(factor: &Factor, cuts: &[f64]) -> Option<Self> {
        Some(match factor {
            Factor::Log(_) => Self::Log,
            Factor::Cyclic(_, period, harmonics) => Self::Cyclic { period: *period, harmonics: *harmonics },
            Factor::Bins(..) => Self::Bins(cuts.to_vec()),
            Factor::Spline(..) => Self::Spline(cuts.to_vec()),
            Factor::Field(..) | Factor::Hash(..) => return None,
        })
    }

    /// Names of the features that are made of a field.
    pub(crate) fn names(&self, field: &str) -> Vec<String> {
        match self {
            Self::Log => vec![format!("log({field})")],
            Self::Cyclic { period, harmonics } => {
                let waves = (1..=*harmonics).flat_map(|k| [format!("sin{k}"), format!("cos{k}")]);
                waves.map(|wave| format!("cyclic({field},{period}).{wave}")).collect()
            }
            Self::Bins(cuts) => {
                let cut = |at: usize| cuts.get(at).map_or_else(String::new, |&cut| number_level(cut));
                let below = |bin: usize| bin.checked_sub(1).map_or_else(String::new, cut);
                (0..=cuts.len()).map(|bin| format!("{field}={}..{}", below(bin), cut(bin))).collect()
            }
            Self::Spline(knots) => {
                let count = knots.len();
                (1..count.max(2)).map(|column| format!("spline({field},{count}).{column}")).collect()
            }
        }
    }

    /// Whether one of the features is 1 and the others are 0.
    pub(crate) fn is_category(&self) -> bool {
        matches!(self, Self::Bins(_))
    }

    /// The features of a number, by their places among the names.
    pub(crate) fn evaluate(&self, field: &str, x: f64, mut each: impl FnMut(usize, f64)) -> Result<()> {
        match self {
            Self::Log if x < 0.0 => {
                let range = "a number of 0 or more";
                return Err(Error::Range { field: field.to_owned(), value: x, function: "log", range });
            }
            Self::Log => each(0, x.ln_1p()),
            Self::Cyclic { period, harmonics } => {
                let turn = std::f64::consts::TAU * (x / period).fract();
                for k in 0..*harmonics {
                    let (sin, cos) = (turn * f64::from(k + 1)).sin_cos();
                    each(2 * k as usize, sin);
                    each(2 * k as usize + 1, cos);
                }
            }
            Self::Bins(cuts) => each(cuts.partition_point(|&cut| cut <= x), 1.0),
            Self::Spline(knots) => return spline(knots, field, x, each),
        }
        Ok(())
    }
}

/// The natural cubic spline without its constant (Hastie, Tibshirani and Friedman, equations 5.4 and 5.5): with
/// `u = (x - first knot) / (last knot - first knot)`, so that units change nothing, the features are
///
/// ```text
/// u,   d_k(u) - d_(K-1)(u)   for k = 1 .. K-2,        d_k(u) = ((u - ξ_k)₊³ - (u - ξ_K)₊³) / (ξ_K - ξ_k)
/// ```
///
/// Behind the last knot, ξ_K = 1, d_k is `3u² - 3u(ξ_k + 1) + ξ_k² + ξ_k + 1`, so the differences are lines and are
/// computed as such: cubes of large numbers would cancel each other.
fn spline(knots: &[f64], field: &str, x: f64, mut each: impl FnMut(usize, f64)) -> Result<()> {
    let (Some(&first), Some(&last)) = (knots.first(), knots.last()) else {
        each(0, x);
        return Ok(());
    };
    let range = if last > first { last - first } else { 1.0 };
    let scaled = |x: f64| (x - first) / range;
    let u = scaled(x);
    if u.abs() > LARGEST / 10.0 {
        return Err(Error::NotFinite { field: field.to_owned(), value: format!("{x:e}") });
    }
    each(0, u);
    let inner = knots.len().saturating_sub(2);
    if inner == 0 {
        return Ok(());
    }
    let b = scaled(knots[inner]);
    let cube = |knot: f64| (u - knot).max(0.0).powi(3) / (1.0 - knot);
    for (place, &knot) in knots[..inner].iter().enumerate() {
        let a = scaled(knot);
        let value = if u >= 1.0 { (a - b) * (a + b + 1.0 - 3.0 * u) } else { cube(a) - cube(b) };
        each(place + 1, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(basis: &Basis, x: f64) -> Vec<f64> {
        let mut values = vec![0.0; basis.names("x").len()];
        basis.evaluate("x", x, |place, value| values[place] = value).unwrap();
        values
    }

    #[test]
    fn a_spline_is_smooth_straight_outside_and_free_of_units() {
        let basis = Basis::Spline(vec![0.0, 1.0, 3.0, 7.0, 10.0]);
        assert_eq!(basis.names("x").len(), 4);
        for place in 0..4 {
            let at = |x: f64| values(&basis, x)[place];
            for x in [0.0, 1.0, 3.0, 7.0, 10.0] {
                // First and second derivatives from both sides agree.
                let h = 1e-4;
                let slope = |x: f64| (at(x + h) - at(x - h)) / (2.0 * h);
                let bend = |x: f64| (at(x + h) - 2.0 * at(x) + at(x - h)) / (h * h);
                assert!((slope(x - 2.0 * h) - slope(x + 2.0 * h)).abs() < 1e-2, "{place} at {x}");
                assert!((bend(x - 2.0 * h) - bend(x + 2.0 * h)).abs() < 1e-2, "{place} at {x}");
            }
            for x in [-5.0, 12.0] {
                assert!(
                    (at(x - 1.0) + at(x + 1.0) - 2.0 * at(x)).abs() < 1e-12,
                    "{place} is straight at {x}"
                );
            }
        }
        let large = Basis::Spline([0.0, 1.0, 3.0, 7.0, 10.0].map(|knot| 1000.0 * knot).to_vec());
        for (one, other) in values(&basis, 4.2).iter().zip(values(&large, 4200.0)) {
            assert!((one - other).abs() < 1e-12);
        }
        // By hand, at u = 0.5 with knots 0, .1, .3, .7, 1: (.5³ - 0)/1 - 0 for the first.
        assert!((values(&basis, 5.0)[1] - 0.125).abs() < 1e-15);
    }

    #[test]
    fn bins_waves_and_logarithms() {
        let bins = Basis::Bins(vec![18.0, 25.5]);
        assert_eq!(bins.names("age"), ["age=..18", "age=18..25.5", "age=25.5.."]);
        assert_eq!(values(&bins, 18.0), [0.0, 1.0, 0.0]);
        assert_eq!(values(&bins, -1.0), [1.0, 0.0, 0.0]);
        let waves = Basis::Cyclic { period: 24.0, harmonics: 2 };
        assert_eq!(waves.names("h")[3], "cyclic(h,24).cos2");
        for (found, wanted) in values(&waves, 6.0).iter().zip([1.0, 0.0, 0.0, -1.0]) {
            assert!((found - wanted).abs() < 1e-15);
        }
        assert_eq!(values(&Basis::Log, 0.0), [0.0]);
        let said = Basis::Log.evaluate("x", -3.0, |_, _| {}).unwrap_err().to_string();
        assert_eq!(said, "field `x` is -3, but `log` needs a number of 0 or more");
    }
}
