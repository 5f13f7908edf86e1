use super::*;

/// A point at which one policy has this regret.
fn point(x: f64, regret: f64, bound: f64) -> GrowthPoint {
    let measured = vec![("oful".to_owned(), Summary::of(vec![regret]))];
    GrowthPoint { x, measured, easy: Vec::new(), hardness: 1.0, bound }
}

fn growth(points: Vec<GrowthPoint>) -> Growth {
    Growth { name: String::new(), x_label: String::new(), points }
}

/// Ratio of a policy's regrets at the last and the first point, and its standard error.
pub(super) fn ratio(growth: &Growth, policy: usize) -> (f64, f64) {
    let [first, last] = [growth.points.first(), growth.points.last()].map(|p| p.unwrap().measured[policy].1);
    let ratio = last.mean / first.mean;
    (ratio, ratio * (first.stderr / first.mean).hypot(last.stderr / last.mean))
}

/// Plays with a given number of threads.
pub(super) fn with_threads<T: Send>(threads: usize, play: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(play)
}

#[test]
fn exponents_of_powers_are_exact() {
    let powers = growth(vec![point(1.0, 3.0, 1.0), point(4.0, 6.0, 0.25), point(16.0, 12.0, 0.0625)]);
    assert!((powers.exponent("oful").unwrap() - 0.5).abs() < 1e-14);
    assert!((powers.bound_exponent().unwrap() + 1.0).abs() < 1e-14);
    assert_eq!(powers.exponent("suplinucb"), None);
    // 3 / 1, 6 / 0.25 and 12 / 0.0625.
    assert!((powers.least_ratio() - 3.0).abs() < 1e-14);
}

#[test]
fn points_at_zero_have_no_exponent() {
    let mut points = vec![point(0.0, 1.0, 1.0), point(2.0, 1.0, 1.0)];
    assert_eq!(growth(points.clone()).exponent("oful"), None);
    points.push(point(4.0, 2.0, 1.0));
    assert!((growth(points).exponent("oful").unwrap() - 1.0).abs() < 1e-14);
}
