//! Tails of the normal, t and F distributions, and their critical values.
//!
//! The special functions are those of `statrs`; its distributions are not used: their `sf` of F and `inverse_cdf` of t
//! lose all digits where few degrees of freedom make long tails, and `erfc` has ten digits only.

use std::f64::consts::SQRT_2;

use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::gamma_ur;

/// Above this many degrees of freedom, t is taken for normal: a z of 5 is off by 2e-4 of its tail.
const NORMAL: f64 = 1e6;

/// P(|Z| ≥ |z|) of a standard normal.
pub(crate) fn normal(z: f64) -> f64 {
    // P(|Z| ≥ z) = Q(½, z²/2), the upper incomplete gamma function; 0 from 750 on.
    let x = (0.5 * z * z).clamp(0.0, 1e3);
    if x == 0.0 { 1.0 } else { gamma_ur(0.5, x) }
}

/// P(|T| ≥ |t|) of Student's t.
pub(crate) fn student(t: f64, freedom: f64) -> f64 {
    // T² is F(1, ν).
    if freedom > NORMAL { normal(t) } else { fisher(t * t, 1.0, freedom) }
}

/// P(F ≥ f) of the F distribution.
pub(crate) fn fisher(f: f64, first: f64, second: f64) -> f64 {
    let (f, second) = (f.clamp(0.0, 1e300), second.min(NORMAL));
    // P(F ≥ f) = I_x(ν₂/2, ν₁/2) with x = ν₂ / (ν₂ + ν₁ f), the incomplete beta function.
    checked_beta_reg(0.5 * second, 0.5 * first, second / (second + first * f)).unwrap_or(f64::NAN)
}

/// The |z| whose two-sided tail is p; at most 38, where the tail is no longer a number.
pub(crate) fn normal_critical(p: f64) -> f64 {
    (SQRT_2 * erfc_inv(p)).clamp(0.0, 38.0)
}

/// The |t| whose two-sided tail is p; at most 1e12.
pub(crate) fn student_critical(p: f64, freedom: f64) -> f64 {
    if freedom > NORMAL {
        return normal_critical(p);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while high < 1e12 && student(high, freedom) > p {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if student(middle, freedom) > p { low = middle } else { high = middle }
    }
    high.min(1e12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} against {expected}");
    }

    #[test]
    fn normal_tails_are_those_of_the_tables() {
        let known = [
            (1.0, 0.317_310_507_862_914_1),
            (1.959_963_984_540_054, 0.05),
            (3.0, 0.002_699_796_063_260_19),
            (6.0, 1.973_175_290_075_396e-9),
            (20.0, 5.507_248_237_212_467e-89),
        ];
        for (z, p) in known {
            close(normal(z), p, 1e-12);
            close(normal(-z), p, 1e-12);
            close(normal_critical(p), z, 1e-12);
        }
        assert!((normal(0.0) - 1.0).abs() < 1e-15 && normal(1e200) == 0.0);
    }

    #[test]
    fn t_tails_are_those_of_the_tables() {
        // One degree of freedom: 1 - (2/π) atan t. Two: 1 - t/√(2 + t²). Tables at 97.5 %.
        close(student(3.0, 1.0), 1.0 - 2.0 / std::f64::consts::PI * 3f64.atan(), 1e-12);
        close(student(3.0, 2.0), 1.0 - 3.0 / 11f64.sqrt(), 1e-12);
        for (freedom, t) in [
            (3.0, 3.182_446_305_284_263),
            (10.0, 2.228_138_851_964_939),
            (30.0, 2.042_272_456_301_238),
            (120.0, 1.979_930_405_082_422),
        ] {
            close(student(t, freedom), 0.05, 1e-10);
            close(student_critical(0.05, freedom), t, 1e-10);
        }
        close(student(2.0, 9e5), normal(2.0), 1e-5);
        close(student(2.0, 2e6), normal(2.0), 1e-12);
        assert!(student(1e200, 5.0) < 1e-100 && (student(0.0, 5.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn f_tails_are_those_of_the_tables() {
        // F(1, ν) is t², and F(2, ν) has the tail (1 + 2f/ν)^(-ν/2).
        close(fisher(4.0, 1.0, 17.0), student(2.0, 17.0), 1e-12);
        close(fisher(3.0, 2.0, 12.0), 1.5f64.powi(-6), 1e-12);
        close(fisher(2.978_237_016, 10.0, 10.0), 0.05, 1e-8);
        assert!((fisher(0.0, 3.0, 8.0) - 1.0).abs() < 1e-15 && fisher(f64::INFINITY, 3.0, 8.0) < 1e-100);
    }

    #[test]
    fn far_tails_keep_their_digits() {
        for exponent in 0..100 {
            let p = 10f64.powi(-exponent - 1);
            // F(2, ν) has the tail (1 + 2f/ν)^(-ν/2).
            for freedom in [1.0, 2.5, 10.0, 300.0, 1e4, 1e6] {
                let f = 0.5 * freedom * (-2.0 / freedom * p.ln()).exp_m1();
                if f < 1e100 {
                    close(fisher(f, 2.0, freedom), p, if freedom > 1e4 { 1e-8 } else { 1e-10 });
                }
            }
            // F(ν, 2) has the tail 1 - (1 + 2/(νf))^(-ν/2).
            for freedom in [1.0, 3.0, 50.0, 1e4] {
                let f = 2.0 / freedom / (-2.0 / freedom * (-p).ln_1p()).exp_m1();
                close(fisher(f, freedom, 2.0), p, 1e-10);
            }
            // One degree of freedom: (2/π) atan(1/t).
            close(student((0.5 * std::f64::consts::PI * p).tan().recip(), 1.0), p, 1e-12);
            close(normal(normal_critical(p)), p, 1e-12);
        }
    }
}
