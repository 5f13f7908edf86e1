//! Which action has the largest index, without a logarithm for most of them.

use pulp::{Simd, WithSimd};

use super::Scores;
use crate::belief::Neglect;

/// By how much `log₂(f) - (f - 1)` exceeds 0 at most for f in [1, 2), in natural logarithms, with room for rounding.
const CURVATURE: f64 = 0.059_67;
/// More than all roundings of a bound together.
const SLACK: f64 = 2e-6;
/// An octave in the upper half of a number's bits.
const OCTAVE: f64 = 1.0 / (1 << 20) as f64;

/// Bounds of the index of [neglect](Neglect) from both sides:
///
/// ```text
/// mean + radius √(1 + 2 log₊ ν / s),     ν = rounds ‖x‖² / (1 + ‖x‖²)
/// ```
///
/// The bits of a number, taken for a whole number, are its logarithm but for the curvature inside an octave.
pub(crate) struct IndexBounds<'a> {
    pub(crate) scores: &'a Scores,
    /// Actions; the rest fills the last panel.
    pub(crate) count: usize,
    pub(crate) neglect: Neglect,
    /// Lower bounds.
    pub(crate) lower: &'a mut Vec<f64>,
    /// Upper bounds.
    pub(crate) upper: &'a mut Vec<f64>,
}

/// The actions that may have the largest index.
pub(crate) enum Contenders {
    /// It has.
    One(usize),
    /// Those whose upper bound is at least this.
    AtLeast(f64),
    /// Any: some numbers are none.
    Any,
}

impl WithSimd for &mut IndexBounds<'_> {
    type Output = Contenders;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Contenders {
        let IndexBounds { scores: Scores { mean, statistical, bias }, lower, upper, .. } = self;
        let (count, Neglect { rounds, norm, scale }) = (self.count, self.neglect);
        if lower.len() != mean.len() || upper.len() != mean.len() {
            lower.resize(mean.len(), 0.0);
            upper.resize(mean.len(), 0.0);
        }
        let (factor, length) = (2.0 / scale, mean.len());
        let (mean, statistical, bias) = (&mean[..length], &statistical[..length], &bias[..length]);
        let (low, high) = (&mut lower[..length], &mut upper[..length]);
        if rounds <= 1.0 {
            // ν is at most t/d: the index is the UCB, and the first one of the largest is it.
            for k in 0..length {
                low[k] = mean[k] + (statistical[k] + bias[k]);
            }
            return first_largest(&low[..count]);
        }
        // ν is at most t/d: once a few actions are known well, this decides.
        let widest = (1.0 + factor * (logarithm(rounds) + CURVATURE + SLACK).max(0.0)).sqrt();
        // No branches in these loops, so that the compiler makes vectors of them.
        for k in 0..length {
            let ucb = mean[k] + (statistical[k] + bias[k]);
            low[k] = ucb;
            high[k] = mean[k] + (ucb - mean[k]) * widest;
        }
        let found = contenders(&low[..count], &high[..count]);
        if matches!(found, Contenders::One(_)) {
            return found;
        }
        for k in 0..length {
            let ucb = mean[k] + (statistical[k] + bias[k]);
            let radius = ucb - mean[k];
            let square = (radius / norm) * (radius / norm);
            let neglect = rounds * square / (1.0 + square);
            let logarithm = logarithm(neglect);
            let least = mean[k] + radius * (1.0 + factor * (logarithm - SLACK)).sqrt();
            let most = mean[k] + radius * (1.0 + factor * (logarithm + CURVATURE + SLACK)).sqrt();
            // Just above 1, where the slack counts, the UCB is a bound.
            let least = if least > ucb { least } else { ucb };
            low[k] = if neglect > 1.0 { least } else { ucb };
            high[k] = if neglect > 1.0 { most } else { ucb };
        }
        contenders(&low[..count], &high[..count])
    }
}

#[inline(always)]
fn first_largest(numbers: &[f64]) -> Contenders {
    let best = largest(numbers);
    let mut all = true;
    for number in numbers {
        all &= !number.is_nan();
    }
    let position = numbers.iter().position(|&number| number >= best);
    position.filter(|_| all).map_or(Contenders::Any, Contenders::One)
}

#[inline(always)]
fn largest(numbers: &[f64]) -> f64 {
    let mut best = [f64::NEG_INFINITY; 8];
    let (chunks, rest) = numbers.as_chunks::<8>();
    for chunk in chunks {
        for (best, &number) in best.iter_mut().zip(chunk) {
            *best = if number > *best { number } else { *best };
        }
    }
    let best = rest.iter().copied().chain(best);
    best.fold(f64::NEG_INFINITY, |best, number| if number > best { number } else { best })
}

/// The logarithm of a positive number, less by at most CURVATURE.
#[inline(always)]
pub(super) fn logarithm(number: f64) -> f64 {
    (f64::from((number.to_bits() >> 32) as i32) * OCTAVE - 1023.0) * std::f64::consts::LN_2
}

#[inline(always)]
fn contenders(low: &[f64], high: &[f64]) -> Contenders {
    let best = largest(low);
    let (mut count, mut last, mut numbers) = (0, 0, true);
    for (k, &bound) in high.iter().enumerate() {
        numbers &= !bound.is_nan();
        let contends = bound >= best;
        count += usize::from(contends);
        last = if contends { k } else { last };
    }
    match count {
        _ if !numbers => Contenders::Any,
        1 => Contenders::One(last),
        _ => Contenders::AtLeast(best),
    }
}
