//! The largest of many correlated scores: critical value and step-down p-values (Westfall and Young).

use crate::Matrix;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::tail;

/// Draws of the scores under no drift.
const DRAWS: usize = 10_000;

/// Draws at a time: a block of them stays in the cache.
const BLOCK: usize = 500;

/// What correlated scores have to exceed.
#[derive(Debug, Clone)]
pub(crate) struct Maximum {
    /// The largest |z| stays below this with probability 1 - level.
    pub(crate) critical: f64,
    /// p-values over all scores together.
    pub(crate) adjusted: Vec<f64>,
    /// p-value of no drift at all, by the larger of the largest score and that of all together; none without scores.
    pub(crate) all: Option<f64>,
}

impl Maximum {
    /// For scores |z| that are normal with this correlation if nothing has drifted; `together` is the |z| as rare as the
    /// sum of their squares, if that is tested too.
    ///
    /// The score that is largest is compared with the largest of all draws, the next one with the largest of
    /// the rest, and so on. Holm's p-values are taken where they are smaller: both hold the level, and draws
    /// cannot show p-values below 1e-4. No score counts for more than the first step, in which `together` is one of
    /// them: so the level is that of any alarm, of one or of all (closed testing).
    pub(crate) fn of(correlation: &Matrix, scores: &[f64], together: Option<f64>, level: f64) -> Self {
        let m = scores.len();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let sorted = Matrix::from_fn(m, m, |i, j| correlation[(order[i], order[j])]);
        let sums = together.map(|_| sum_scores(&sorted));
        let first = order.first().map(|&score| scores[score].max(together.unwrap_or(0.0)));
        let (mut exceeded, mut any) = (vec![0usize; m], 0usize);
        let mut maxima = Vec::with_capacity(DRAWS);
        for_each_draw(&sorted, |draw, _| {
            let mut largest = 0.0f64;
            for i in (0..m).rev() {
                largest = largest.max(draw[i].abs());
                exceeded[i] += usize::from(largest >= scores[order[i]]);
            }
            let sum = sums.as_ref().map_or(0.0, |sums| sums[maxima.len()]);
            any += usize::from(first.is_some_and(|first| largest.max(sum) >= first));
            maxima.push(largest);
        });
        let drawn = |exceeded: usize| (exceeded + 1) as f64 / (DRAWS + 1) as f64;
        let tests = m + usize::from(together.is_some());
        let all = first.map(|first| drawn(any).min(tests as f64 * tail::normal(first)).min(1.0));
        let mut adjusted = vec![1.0; m];
        let mut smallest = all.unwrap_or(0.0);
        for (i, &score) in order.iter().enumerate() {
            let holm = (m - i) as f64 * tail::normal(scores[score]);
            smallest = smallest.max(drawn(exceeded[i]).min(holm)).min(1.0);
            adjusted[score] = smallest;
        }
        let bonferroni = tail::normal_critical(level / m as f64);
        let critical = quantile(maxima, level).map_or(bonferroni, |drawn| drawn.min(bonferroni));
        Self { critical, adjusted, all }
    }

    /// A bound on the length of the drift in units of the budgets v_j = |Δ_j| + c_j se_j, √ Σ (Δ_j / v_j)², that
    /// holds with probability 1 - level, where Δ_j is the estimate with an error drawn anew; not above √m, which
    /// the budgets' box gives.
    ///
    /// `ratios` are Δ_j / se_j, and `criticals` the c_j, which are larger where errors are wider than normal.
    pub(crate) fn length_bound(
        &self,
        correlation: &Matrix,
        ratios: &[f64],
        criticals: &[f64],
        level: f64,
    ) -> f64 {
        let mut squares = Vec::with_capacity(DRAWS);
        for_each_draw(correlation, |draw, _| {
            let terms = ratios.iter().zip(criticals).zip(draw);
            let square = |((ratio, critical), z): ((&f64, &f64), &f64)| {
                ((ratio + critical / self.critical * z) / (ratio.abs() + critical)).powi(2)
            };
            squares.push(terms.map(square).sum());
        });
        let most = ratios.len() as f64;
        quantile(squares, level).map_or(most, |drawn| drawn.min(most)).sqrt()
    }
}

/// What draws exceed with this probability at most; none where there are too few to tell.
fn quantile(mut draws: Vec<f64>, level: f64) -> Option<f64> {
    // The number of draws that may lie above, so that 1 + above ≤ level (N + 1).
    let above =
        (1..=draws.len()).take_while(|&above| above as f64 <= level * (draws.len() + 1) as f64).count();
    let place = draws.len().checked_sub(above).filter(|_| above > 0)?;
    Some(*draws.select_nth_unstable_by(place, f64::total_cmp).1)
}

/// The |z| as rare as each draw's sum of squares, by its place among all of them.
fn sum_scores(correlation: &Matrix) -> Vec<f64> {
    let mut sums = Vec::with_capacity(DRAWS);
    for_each_draw(correlation, |_, independent| {
        sums.push(independent.iter().map(|z| z * z).sum::<f64>());
    });
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
    let mut scores = vec![0.0; sums.len()];
    for (place, &draw) in order.iter().enumerate() {
        scores[draw] = tail::normal_critical((place as f64 + 0.5) / sums.len() as f64);
    }
    scores
}

/// Draws correlated normal scores, the same ones every time, and the independent ones that they are made of.
fn for_each_draw(correlation: &Matrix, mut take: impl FnMut(&[f64], &[f64])) {
    let m = correlation.nrows();
    if m == 0 {
        return;
    }
    let root = root(correlation);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut draws = Matrix::zeros(m, BLOCK);
    for _ in 0..DRAWS / BLOCK {
        let normals = Matrix::from_fn(m, BLOCK, |_, _| StandardNormal.sample(&mut rng));
        draws.gemm(1.0, &root, &normals, 0.0);
        let both = draws.as_slice().chunks_exact(m).zip(normals.as_slice().chunks_exact(m));
        both.for_each(|(draw, independent)| take(draw, independent));
    }
}

/// R with R Rᵀ = the correlation, which may be singular.
pub(crate) fn root(correlation: &Matrix) -> Matrix {
    if let Some(factor) = correlation.clone().cholesky() {
        return factor.unpack();
    }
    let eigen = correlation.clone().symmetric_eigen();
    let mut root = eigen.eigenvectors;
    for (mut column, value) in root.column_iter_mut().zip(eigen.eigenvalues.iter()) {
        column *= value.max(0.0).sqrt();
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_scores_have_sidaks_critical_value() {
        for m in [1usize, 5, 40] {
            let scores = vec![1.0; m];
            let maximum = Maximum::of(&Matrix::identity(m, m), &scores, None, 0.05);
            let sidak = tail::normal_critical(1.0 - 0.95f64.powf(1.0 / m as f64));
            assert!((maximum.critical - sidak).abs() < 0.05, "{m}: {} against {sidak}", maximum.critical);
        }
    }

    #[test]
    fn equal_scores_are_one_test() {
        let maximum = Maximum::of(&Matrix::from_element(30, 30, 1.0), &[2.5; 30], None, 0.05);
        assert!((maximum.critical - 1.96).abs() < 0.05, "{}", maximum.critical);
        assert!(maximum.adjusted.iter().all(|p| (p - tail::normal(2.5)).abs() < 0.003));
    }

    #[test]
    fn large_scores_make_way_for_the_next() {
        // Holm and Šidák by hand: after the first score is out, 2.3 is one of two.
        let maximum = Maximum::of(&Matrix::identity(3, 3), &[2.3, 9.0, 0.1], None, 0.05);
        let expected = 1.0 - (1.0 - tail::normal(2.3)).powi(2);
        assert!((maximum.adjusted[0] - expected).abs() < 0.004, "{:?}", maximum.adjusted);
        assert!(maximum.adjusted[1] < 1e-17 && maximum.adjusted[2] > 0.9);
    }

    #[test]
    fn levels_that_no_draw_shows_are_bonferronis() {
        let maximum = Maximum::of(&Matrix::identity(4, 4), &[1.0; 4], None, 1e-8);
        assert!((maximum.critical - tail::normal_critical(2.5e-9)).abs() < 1e-9);
    }

    #[test]
    fn one_and_all_share_the_level() {
        // The larger of the largest of 8 scores and of their sum of squares, as often as it is drawn.
        let (m, mut alarms, mut alone) = (8, 0, 0);
        let identity = Matrix::identity(m, m);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        for _ in 0..300 {
            let scores: Vec<f64> = (0..m).map(|_| StandardNormal.sample(&mut rng)).map(f64::abs).collect();
            let sum: f64 = scores.iter().map(|z| z * z).sum();
            let p = statrs::function::gamma::gamma_ur(0.5 * m as f64, 0.5 * sum);
            let maximum = Maximum::of(&identity, &scores, Some(tail::normal_critical(p)), 0.05);
            let least = maximum.adjusted.iter().copied().fold(1.0, f64::min);
            assert!(maximum.all.unwrap() <= least);
            alarms += usize::from(maximum.all.unwrap() <= 0.05);
            alone += usize::from(p <= 0.05 || scores.iter().any(|z| *z > maximum.critical));
        }
        // 15 expected, and three standard deviations; at full level each there would be some 24.
        assert!(alarms <= 26 && alarms < alone, "{alarms} {alone}");
    }
}
