use super::*;

/// A point at which one policy has this regret.
fn point(x: f64, regret: f64, bound: f64) -> GrowthPoint {
    let measured = vec![("oful".to_owned(), Summary::of(vec![regret]))];
    GrowthPoint { x, measured, easy: Vec::new(), hardness: 1.0, bound }
}

fn growth(points: Vec<GrowthPoint>) -> Growth {
    Growth { name: String::new(), x_label: String::new(), points }
}

/// The smallest mean regret of any policy at any point, in units of the bound. Less than 1 by
/// more than the standard errors allow refutes the theorem, or this program.
fn least_ratio(growth: &Growth) -> f64 {
    let ratios = growth
        .points
        .iter()
        .flat_map(|point| point.measured.iter().map(|(_, regret)| regret.mean / point.bound));
    ratios.fold(f64::INFINITY, f64::min)
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

/// Plays with one thread and with two, and with another seed.
pub(super) fn same_on_any_number_of_threads(trials: &Trials, played: impl Fn(Trials) -> Growth + Sync) {
    let [one, two] = [1, 2].map(|threads| with_threads(threads, || played(trials.clone())));
    assert_eq!(one, two);
    assert_ne!(one, played(Trials { seed: 43, ..trials.clone() }));
}

#[test]
fn exponents_of_powers_are_exact() {
    let powers = growth(vec![point(1.0, 3.0, 1.0), point(4.0, 6.0, 0.25), point(16.0, 12.0, 0.0625)]);
    assert!((powers.exponent("oful").unwrap() - 0.5).abs() < 1e-14);
    assert!((powers.bound_exponent().unwrap() + 1.0).abs() < 1e-14);
    assert_eq!(powers.exponent("suplinucb"), None);
    // 3 / 1, 6 / 0.25 and 12 / 0.0625.
    assert!((least_ratio(&powers) - 3.0).abs() < 1e-14);
}

#[test]
fn points_at_zero_have_no_exponent() {
    let mut points = vec![point(0.0, 1.0, 1.0), point(2.0, 1.0, 1.0)];
    assert_eq!(growth(points.clone()).exponent("oful"), None);
    points.push(point(4.0, 2.0, 1.0));
    assert!((growth(points).exponent("oful").unwrap() - 1.0).abs() < 1e-14);
}
