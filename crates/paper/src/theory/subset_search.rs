//! Search for the hardest subset of Theorem 3: among all of them, or on ladders of arms by count.

use super::ladder::{Ladder, partial_sums};
use super::lower_bound::DiagonalProblem;

/// The hardest subset found, and what no subset exceeds.
pub(super) struct Found {
    pub(super) psi: f64,
    pub(super) subset: Vec<usize>,
    /// At least Ψ of every subset, up to rounding.
    pub(super) ceiling: f64,
}

/// Tries every subset of at least `smallest` arms: O(d 2^d), for at most 31 arms.
pub(super) fn by_enumeration(problem: &DiagonalProblem, smallest: usize) -> Found {
    let arms = problem.counts.len();
    let mut best = Found { psi: f64::NEG_INFINITY, subset: Vec::new(), ceiling: f64::NEG_INFINITY };
    let mut subset = Vec::new();
    for mask in 1..1_u32 << arms {
        subset.clear();
        subset.extend((0..arms).filter(|arm| mask >> arm & 1 == 1));
        let psi = problem.psi_of(&subset);
        if subset.len() >= smallest && psi > best.psi {
            best = Found { psi, subset: subset.clone(), ceiling: psi };
        }
    }
    best
}

/// Tries, for each smallest budget v and each size, two subsets of the arms with budget v or more:
/// those on a [`Ladder`] whose sums of counts enclose the best sum. O(d² log d).
pub(super) fn by_ladders(problem: &DiagonalProblem, smallest: usize) -> Found {
    let mut by_count: Vec<usize> = (0..problem.counts.len()).collect();
    by_count.sort_by(|&a, &b| problem.counts[a].total_cmp(&problem.counts[b]));
    let mut thresholds = problem.budgets.clone();
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();

    let (mut psi, mut subset, mut ceiling) = (f64::NEG_INFINITY, Vec::new(), f64::NEG_INFINITY);
    for budget in thresholds {
        let eligible: Vec<usize> =
            by_count.iter().copied().filter(|&arm| problem.budgets[arm] >= budget).collect();
        let counts: Vec<f64> = eligible.iter().map(|&arm| problem.counts[arm]).collect();
        let sums = partial_sums(&counts);
        for size in smallest..=counts.len() {
            let ladder = Ladder { counts: &counts, sums: &sums, size };
            let peak = peak_total(problem.horizon, size, budget);
            for step in ladder.beside(peak) {
                let value = problem.psi(size, ladder.total(step), budget);
                if value > psi {
                    psi = value;
                    subset = ladder.places(step).map(|place| eligible[place]).collect();
                }
            }
            // The ends of the ladder have the smallest and the largest sum of any subset of this
            // size, and Ψ has one peak: no sum in between gives more than this.
            let within = peak.clamp(ladder.total(0), ladder.total(ladder.last()));
            ceiling = ceiling.max(problem.psi(size, within, budget));
        }
    }
    subset.sort_unstable();
    // Its smallest budget can exceed the v it was found with, and Ψ then what it was found at.
    Found { psi: problem.psi_of(&subset), subset, ceiling }
}

/// The sum of counts N at which Ψ peaks, for given size m and smallest budget v.
///
/// ```text
/// Ψ / √(mT) = √(1 - p) + min{ κ p, √p }         p = N / (T + N),  κ = v √(T / m)
/// ```
///
/// The linear branch peaks at 1 - 1/(4κ²), the root's at 1/2, and they cross at 1/κ². p* never
/// exceeds 4/5, so N is finite.
fn peak_total(horizon: f64, size: usize, budget: f64) -> f64 {
    let crossing = size as f64 / (horizon * budget * budget);
    let linear = (1.0 - crossing / 4.0).max(0.0);
    let p = linear.min(crossing.max(0.5));
    horizon * p / (1.0 - p)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt as _};
    use truenorth_sim::stream;

    use super::*;

    fn random(rng: &mut impl Rng, arms: usize, most: u64) -> DiagonalProblem {
        let counts: Vec<u64> = (0..arms).map(|_| rng.random_range(0..most)).collect();
        // Few distinct budgets, so that thresholds are shared.
        let budgets: Vec<f64> = (0..arms).map(|_| f64::from(rng.random_range(0..6_u8)) * 0.2).collect();
        DiagonalProblem::new(rng.random_range(1..=300), &counts, &budgets).unwrap()
    }

    /// Grows subsets arm by arm, and takes Ψ literally from the paper.
    fn brute_force(problem: &DiagonalProblem, next: usize, chosen: &mut Vec<usize>, smallest: usize) -> f64 {
        let mut best = f64::NEG_INFINITY;
        if chosen.len() >= smallest {
            let t = problem.horizon;
            let m = chosen.len() as f64;
            let n: f64 = chosen.iter().map(|&arm| problem.counts[arm]).sum();
            let v = chosen.iter().map(|&arm| problem.budgets[arm]).fold(f64::MAX, f64::min);
            let routed = (n * t / (t + n) * v).min((m * n * t / (t + n)).sqrt());
            best = (m * t.powi(2) / (t + n)).sqrt() + routed;
        }
        for arm in next..problem.counts.len() {
            chosen.push(arm);
            best = best.max(brute_force(problem, arm + 1, chosen, smallest));
            chosen.pop();
        }
        best
    }

    #[test]
    fn enumeration_agrees_with_brute_force_written_differently() {
        let mut rng = stream(9, 0, 0);
        for smallest in [1, 2, 5, 9] {
            for _ in 0..10 {
                let problem = random(&mut rng, 9, 100);
                let found = by_enumeration(&problem, smallest);
                let expected = brute_force(&problem, 0, &mut Vec::new(), smallest);
                assert!((found.psi - expected).abs() < 1e-10);
                assert!(found.subset.len() >= smallest);
                assert!((problem.hardness(&found.subset).unwrap() - found.psi).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn ladders_are_never_above_the_exact_search_and_seldom_far_below() {
        let mut rng = stream(10, 0, 0);
        let (mut attained, mut worst) = (0, 1.0_f64);
        for _ in 0..300 {
            let problem = random(&mut rng, 10, 60);
            let smallest = rng.random_range(1..=6);
            let (exact, ladder) = (by_enumeration(&problem, smallest), by_ladders(&problem, smallest));
            assert!(ladder.psi <= exact.psi + 1e-10);
            assert!(exact.psi <= ladder.ceiling + 1e-10);
            assert!(ladder.subset.len() >= smallest);
            assert!((problem.hardness(&ladder.subset).unwrap() - ladder.psi).abs() < 1e-10);
            attained += usize::from(ladder.psi >= exact.psi - 1e-10);
            worst = worst.min(ladder.psi / exact.psi);
        }
        assert!(worst > 0.95 && attained > 150, "{worst}, {attained} of 300");
    }

    #[test]
    fn equal_counts_make_ladders_exact() {
        let mut rng = stream(11, 0, 0);
        for _ in 0..50 {
            let mut problem = random(&mut rng, 11, 60);
            let count = f64::from(rng.random_range(0..60_u8));
            problem.counts.fill(count);
            let (exact, ladder) = (by_enumeration(&problem, 3), by_ladders(&problem, 3));
            assert!((ladder.psi - exact.psi).abs() < 1e-10);
            assert!(ladder.psi >= ladder.ceiling);
        }
    }

    #[test]
    fn arm_that_would_overshoot_is_passed_over() {
        // κ is huge, so Ψ = √(mT) (√(1 - p) + √p), with its peak at N = T. The 200 unlogged arms
        // cost nothing. With the arm of T: √2 √201 = 20.05 √T; with both: 1.4072 √202 = 20.00 √T;
        // with the arm of T/2: 1.3938 √201 = 19.76 √T.
        let mut counts = [0; 202];
        counts[7] = 500;
        counts[100] = 1000;
        let problem = DiagonalProblem::new(1000, &counts, &[9.0; 202]).unwrap();
        let found = by_ladders(&problem, 32);
        assert_eq!(found.subset, (0..202).filter(|&arm| arm != 7).collect::<Vec<_>>());
        assert!((found.psi - 402_000f64.sqrt()).abs() < 1e-9);
        // 201 arms can do no better at any sum, and 202 arms have one sum only: proven the best.
        assert_eq!(found.psi.to_bits(), found.ceiling.to_bits());
    }

    #[test]
    fn peak_is_the_maximum_over_all_sums() {
        // κ² = v² T / m from 0.01 to 100 meets all four cases of the peak.
        for budget in [0.0, 0.05, 0.2, 0.27, 0.5, 0.57, 0.65, 0.71, 1.5, 5.0] {
            let problem = DiagonalProblem::new(40, &[0; 10], &[budget; 10]).unwrap();
            let peak = peak_total(40.0, 10, budget);
            let at_peak = problem.psi(10, peak, budget);
            let elsewhere = (0..4000).map(|total| problem.psi(10, f64::from(total) * 0.1, budget));
            assert!(elsewhere.fold(0.0, f64::max) <= at_peak + 1e-12, "budget {budget}");
            assert!(peak <= 160.0 + 1e-9);
        }
    }
}
