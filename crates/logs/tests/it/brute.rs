//! What a summary has to come to, added up in the plainest way.

use truenorth::RidgeStatistic;
use truenorth_logs::Summary;

/// Rows as the summary should see them: features without the scale, a reward, a weight.
#[derive(Debug, Clone, Default)]
pub(crate) struct Brute {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) rewards: Vec<f64>,
    /// All 1 if empty.
    pub(crate) weights: Vec<f64>,
}

impl Brute {
    pub(crate) fn new(rows: Vec<Vec<f64>>, rewards: Vec<f64>) -> Self {
        Self { rows, rewards, weights: Vec::new() }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    fn sum(&self, term: impl Fn(usize) -> f64) -> f64 {
        (0..self.rows.len()).map(|row| self.weight(row) * term(row)).sum()
    }

    /// Length of the longest row.
    pub(crate) fn longest(&self) -> f64 {
        let lengths = self.rows.iter().map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt());
        lengths.fold(0.0, f64::max)
    }

    /// Compares everything that a statistic tells; the scale only has to keep rows within 1.
    pub(crate) fn check(&self, summary: &Summary) {
        let scale = summary.scale();
        assert!(scale * self.longest() <= 1.0 + 1e-12, "scale {scale}, longest row {}", self.longest());
        assert_eq!(summary.rows(), self.rows.len() as u64);
        assert_eq!(summary.files().values().sum::<u64>(), summary.rows());
        let statistic = summary.statistic().unwrap();
        let (total, squares) = (self.sum(|_| 1.0), self.sum(|row| self.weight(row)));
        // Kish: every sum times Σw / Σw², and (Σw)² / Σw² observations.
        let kish = total / squares;
        assert!((statistic.count() as f64 - kish * total).abs() <= 0.5 + 1e-9, "{}", statistic.count());
        let d = self.rows[0].len();
        assert_eq!((statistic.dimension(), summary.dimension(), summary.names().len()), (d, d, d));
        let gram = statistic.gram();
        let size = |i: usize| self.sum(|row| self.rows[row][i].powi(2)).sqrt() * scale * kish.sqrt();
        let paid = (kish * self.sum(|row| self.rewards[row].powi(2))).sqrt();
        for i in 0..d {
            for j in 0..d {
                let plain = kish * self.sum(|row| self.rows[row][i] * self.rows[row][j]) * scale * scale;
                near(gram[i * d + j], plain, size(i) * size(j), &format!("entry ({i}, {j})"));
            }
            let plain = kish * self.sum(|row| self.rows[row][i] * self.rewards[row]) * scale;
            near(statistic.moment()[i], plain, size(i) * paid, &format!("moment {i}"));
        }
        near(statistic.sum_squares(), paid * paid, paid * paid, "sum of squares");
        let mean = self.sum(|row| self.rewards[row]) / total;
        near(summary.mean_reward(), mean, 1.0 + mean.abs(), "mean reward");
    }

    /// The same, and the longest row is 1 long.
    pub(crate) fn check_tight(&self, summary: &Summary) {
        self.check(summary);
        near(summary.scale() * self.longest(), 1.0, 1.0, "longest row");
    }
}

/// Equal to 1e-12 of this size.
pub(crate) fn near(found: f64, plain: f64, size: f64, what: &str) {
    assert!((found - plain).abs() <= 1e-12 * size, "{what}: {found:e} is not {plain:e}");
}

/// Statistics of the same rows, added up in another order.
pub(crate) fn same(left: &RidgeStatistic, right: &RidgeStatistic) {
    assert_eq!((left.count(), left.dimension()), (right.count(), right.dimension()));
    let (a, b) = (left.gram(), right.gram());
    let d = left.dimension();
    for i in 0..d {
        for j in 0..d {
            near(
                a[i * d + j],
                b[i * d + j],
                (a[i * d + i] * a[j * d + j]).sqrt(),
                &format!("entry ({i}, {j})"),
            );
        }
        let size = (a[i * d + i] * left.sum_squares()).sqrt();
        near(left.moment()[i], right.moment()[i], size, &format!("moment {i}"));
    }
    near(left.sum_squares(), right.sum_squares(), left.sum_squares(), "sum of squares");
}
