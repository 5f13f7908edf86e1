//! Tails of the normal, t and F distributions, and their critical values.

/// Above this many degrees of freedom, t is taken for normal: a z of 5 is off by 2e-4 of its tail.
const NORMAL: f64 = 1e6;

/// Steps of a continued fraction or a series; it needs about the root of the largest parameter.
const STEPS: u32 = 20_000;

/// P(|Z| ≥ |z|) of a standard normal.
pub(crate) fn normal(z: f64) -> f64 {
    let x = 0.5 * z * z;
    // P(|Z| ≥ z) = Q(½, z²/2), the upper incomplete gamma function.
    let front = (-x).exp() * x.sqrt() / std::f64::consts::PI.sqrt();
    if x == 0.0 {
        return 1.0;
    }
    if x > 750.0 {
        return 0.0;
    }
    if x < 1.5 {
        // P(½, x) = x^½ e⁻ˣ / Γ(½) · Σ_k xᵏ / (½ · 3/2 · ... · (½ + k)).
        let (mut term, mut sum, mut a) = (2.0, 2.0, 0.5);
        while term > 1e-17 * sum {
            a += 1.0;
            term *= x / a;
            sum += term;
        }
        return (1.0 - front * sum).max(0.0);
    }
    // Q(½, x) = x^½ e⁻ˣ / Γ(½) · 1/(x + ½ - ½·1/(x + 5/2 - ...)), by Lentz.
    let mut b = x + 0.5;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..STEPS {
        let i = f64::from(i);
        let a = -i * (i - 0.5);
        b += 2.0;
        d = 1.0 / floor(a * d + b);
        c = floor(b + a / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (front * fraction).min(1.0)
}

/// P(|T| ≥ |t|) of Student's t.
pub(crate) fn student(t: f64, freedom: f64) -> f64 {
    if freedom > NORMAL {
        return normal(t);
    }
    let square = (t * t).min(1e300);
    // P(|T| ≥ t) = I_x(ν/2, ½) with x = ν / (ν + t²).
    beta(freedom / (freedom + square), square / (freedom + square), 0.5 * freedom, 0.5)
}

/// P(F ≥ f) of the F distribution.
pub(crate) fn fisher(f: f64, first: f64, second: f64) -> f64 {
    let (f, second) = (f.clamp(0.0, 1e300), second.min(NORMAL));
    let whole = second + first * f;
    // P(F ≥ f) = I_x(ν₂/2, ν₁/2) with x = ν₂ / (ν₂ + ν₁ f).
    beta(second / whole, first * f / whole, 0.5 * second, 0.5 * first)
}

/// The |z| whose two-sided tail is p; at most 38, where the tail is no longer a number.
pub(crate) fn normal_critical(p: f64) -> f64 {
    bisect(38.0, |z| normal(z) > p)
}

/// The |t| whose two-sided tail is p; at most 1e12.
pub(crate) fn student_critical(p: f64, freedom: f64) -> f64 {
    if freedom > NORMAL { normal_critical(p) } else { bisect(1e12, |t| student(t, freedom) > p) }
}

/// Where `below` turns false between 0 and `most`.
fn bisect(most: f64, below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high < most && below(high) {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    high.min(most)
}

/// The regularised incomplete beta function I_x(a, b), with y = 1 - x.
fn beta(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * y.ln()).exp();
    // The fraction is quick on this side of the mean, and I_x(a, b) = 1 - I_y(b, a) on the other.
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(y, b, a) / b
    };
    value.clamp(0.0, 1.0)
}

/// 1/(1 + d₁/(1 + d₂/(1 + ...))) of the incomplete beta function, by Lentz.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let mut c = 1.0;
    let mut d = 1.0 / floor(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..STEPS {
        let m = f64::from(m);
        // d_{2m} and d_{2m+1}.
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for step in [even, odd] {
            d = 1.0 / floor(1.0 + step * d);
            c = floor(1.0 + step / c);
            fraction *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Keeps a denominator away from 0.
fn floor(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

/// ln Γ(x) for x > 0: Stirling's series above 10, and Γ(x) = Γ(x + 1) / x below.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0))))
        / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
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
    fn gamma_function_of_halves_and_wholes() {
        close(ln_gamma(0.5), 0.5 * std::f64::consts::PI.ln(), 1e-13);
        close(ln_gamma(6.0), 120f64.ln(), 1e-13);
        close(ln_gamma(30.5), 72.953_471_184_169_4, 1e-12);
    }
}
