//! What live data says about the drift between logs and live truth.
//!
//! The logs leave `θ† ~ N(θ_off, G⁻¹)`, live data of Gram matrix A and moment b belongs to `θ_* = θ† + Δ`;
//! both are divided by their noise variance here, so that matrices are precisions. Integrating θ† out,
//!
//! ```text
//! log p(live | Δ) = hᵀΔ - ½ ΔᵀQΔ + const,     Q = A(A + G)⁻¹G,   h = G(A + G)⁻¹(b - Aθ_off)
//! θ_* | Δ, all data ~ N(θ_pool + RΔ, (A + G)⁻¹),     θ_pool = (A + G)⁻¹(Gθ_off + b),   R = (A + G)⁻¹G
//! ```
//!
//! Q is the parallel sum of A and G: a direction's drift is known as well as the worse known of the two.
//! A may be singular; no ridge is needed.

use super::span;
use crate::dense::{self, Beside, Matrix, Vector};
use crate::error::Result;
use crate::spare;

/// Columns from which on it matters whether there are fewer rows.
const MANY: usize = 64;

/// Q.
#[derive(Debug)]
pub(crate) enum Information {
    Whole(Matrix),
    /// `YYᵀ` with few columns: see [`Gain::Less`].
    Square(Matrix),
}

/// R, the root of A apart: here, a matrix that the drift is multiplied by.
#[derive(Debug)]
pub(crate) enum Gain {
    Whole(Matrix),
    /// Of few live rows, `A = ZZᵀ`: with `E = (A + G)⁻¹Z`, R is `I - EZᵀ`, and Q is `Z(I - ZᵀE)Zᵀ`.
    Less {
        e: Matrix,
        z: Matrix,
    },
}

impl Gain {
    pub(crate) fn times(&self, drift: &Vector) -> Vector {
        match self {
            Self::Whole(gain) => dense::combined((gain, false), 0, drift.as_slice()),
            Self::Less { e, z } => drift - e * z.tr_mul(drift),
        }
    }

    /// `Rᵀ` times a vector.
    fn transposed_times(&self, vector: &Vector) -> Vector {
        match self {
            Self::Whole(gain) => gain.tr_mul(vector),
            Self::Less { e, z } => vector - z * e.tr_mul(vector),
        }
    }

    /// Adds `factor · RSRᵀ` of a symmetric S to the lower half of a matrix.
    pub(crate) fn add_both_sides(&self, s: &Matrix, factor: f64, to: &mut Matrix) {
        match self {
            Self::Whole(gain) => {
                let product = dense::product_transposed((gain, false), (s, false));
                dense::add_symmetric(to, factor, (&product, false), (gain, false));
                spare::keep([product]);
            }
            Self::Less { e, z } => {
                // S - EX' - XE' with X = SZ - ½ EZ'SZ.
                let transposed = dense::transposed(z);
                let mut x = dense::product_transposed((s, false), (&transposed, false));
                let half = dense::product_transposed((&transposed, false), (&dense::transposed(&x), false));
                x -= dense::product_transposed((e, false), (&half, false)) * 0.5;
                to.as_mut_slice().iter_mut().zip(s.as_slice()).for_each(|(to, entry)| *to += factor * entry);
                dense::add_symmetric(to, -factor, (e, false), (&x, false));
                dense::add_symmetric(to, -factor, (&x, false), (e, false));
                spare::keep([transposed, x]);
            }
        }
    }
}

/// C, C⁻ᵀ, Q and R.
type Parts = (Matrix, Matrix, (Information, Gain));

/// See the module's head.
#[derive(Debug)]
pub(crate) struct DriftLikelihood {
    /// b - Aθ_off.
    surprise: Vector,
    /// h.
    pub(crate) shift: Vector,
    /// θ_pool: the estimate if there were no drift.
    pub(crate) pooled: Vector,
    /// U, upper triangular: (A + G)⁻¹ is UUᵀ.
    pub(crate) root: Matrix,
    /// log det(A + G).
    pub(crate) log_det: f64,
    /// R.
    pub(crate) gain: Gain,
}

impl DriftLikelihood {
    /// From the logs' precision G and estimate, and live A and b of so many rows; Q beside it. O(d³).
    pub(crate) fn new(
        (logs, estimate): (Matrix, &Vector),
        (gram, moment): (&Matrix, &Vector),
        rows: f64,
    ) -> Result<(Self, Information)> {
        let mut precision = spare::copied(gram);
        precision += &logs;
        let (factor, root, (information, gain)) = match Self::of_few(&precision, gram, rows)? {
            Some(found) => found,
            None => Self::of_many(precision, logs, gram)?,
        };
        let surprise = moment - dense::combined((gram, false), 0, estimate.as_slice());
        let pooled = estimate + dense::solve_from_roots((&factor, &root), &surprise);
        let (shift, log_det) = (gain.transposed_times(&surprise), dense::log_det_from_factor(&factor));
        spare::keep([factor]);
        Ok((Self { surprise, shift, pooled, root, log_det, gain }, information))
    }

    /// Leaves its memory to the next one.
    pub(crate) fn keep(self) {
        let Self { root, gain: Gain::Whole(gain) | Gain::Less { e: gain, .. }, .. } = self;
        spare::keep([root, gain]);
    }

    /// C with A + G = CCᵀ, C⁻ᵀ, Q and R. (A+G)⁻¹G as C⁻ᵀ(GC⁻ᵀ)ᵀ, and Q as AR: nothing cancels.
    fn of_many(precision: Matrix, mut logged: Matrix, gram: &Matrix) -> Result<Parts> {
        let mut root = dense::identity(gram.nrows());
        let mut beside =
            [(&mut root, true), (&mut logged, false)].map(|(rows, upper)| Beside { rows, upper });
        let factor = dense::eliminated("the pooled precision", precision, &mut beside)?;
        // Rᵀ beside R: what is at hand is its transpose.
        let transposed = dense::product_transposed((&logged, false), (&root, true));
        let q = dense::symmetric_product((gram, false), (&transposed, false));
        let gain = dense::transposed(&transposed);
        spare::keep([transposed, logged]);
        Ok((factor, root, (Information::Whole(q), Gain::Whole(gain))))
    }

    /// The same where there are few rows. O(d²n) besides.
    fn of_few(precision: &Matrix, gram: &Matrix, rows: f64) -> Result<Option<Parts>> {
        let side = gram.nrows();
        if side < MANY || 2.0 * rows > side as f64 {
            return Ok(None);
        }
        let column = |j: usize, to: &mut [f64]| to.copy_from_slice(gram.column(j).as_slice());
        let Some((z, _)) = span::root(gram.diagonal().as_slice().to_vec(), column, side / 2) else {
            return Ok(None);
        };
        let (mut root, mut whitened) = (dense::identity(side), z.transpose());
        let all = [(&mut root, true), (&mut whitened, false)];
        let mut beside = all.map(|(rows, upper)| Beside { rows, upper });
        let factor = dense::eliminated("the pooled precision", spare::copied(precision), &mut beside)?;
        let e = dense::product_transposed((&root, true), (&whitened, false));
        // What the logs leave of each row; where they leave next to nothing, the other way keeps the digits.
        let square = dense::symmetric_product((&whitened, false), (&whitened, false));
        let left = Matrix::identity(z.ncols(), z.ncols()) - square;
        let Ok(left) = dense::cholesky("the precision of the drift", &left) else { return Ok(None) };
        if left.diagonal().iter().any(|entry| *entry < 1e-4) {
            return Ok(None);
        }
        let y = dense::product_transposed((&z, false), (&left.transpose(), true));
        Ok(Some((factor, root, (Information::Square(y), Gain::Less { e, z }))))
    }

    /// log ∫ p(live | θ) N(θ; θ_off, G⁻¹) dθ, without drift; `log_det` is that of G.
    pub(crate) fn log_evidence(&self, log_det: f64, estimate: &Vector, moment: &Vector) -> f64 {
        let Self { surprise, pooled, .. } = self;
        // bᵀθ_off - ½ θ_offᵀAθ_off, with A θ_off = b - surprise.
        let expected = 0.5 * estimate.dot(&(moment + surprise));
        expected + 0.5 * (surprise.dot(&(pooled - estimate)) - self.log_det + log_det)
    }
}

/// Columns along which drift is looked for: the coordinate axes times `unit`, and `θ_off`, because logs that are off by
/// a factor are common. As a matrix, `B = (unit · I, common)`.
#[derive(Debug)]
pub(crate) struct Dictionary {
    unit: f64,
    common: Vector,
}

impl Dictionary {
    pub(crate) fn new(estimate: &Vector, unit: f64) -> Self {
        Self { unit, common: estimate.clone() }
    }

    /// `Bᵀh`.
    pub(crate) fn project(&self, h: &Vector) -> Vector {
        (h * self.unit).push(self.common.dot(h))
    }

    /// `Bw`.
    pub(crate) fn combine(&self, w: &Vector) -> Vector {
        let last = self.common.len();
        w.rows(0, last) * self.unit + &self.common * w[last]
    }

    /// `BᵀQB`. O(d²).
    pub(crate) fn restrict(&self, q: Matrix) -> Matrix {
        let last = self.common.len();
        let border = self.project(&dense::combined((&q, false), 0, self.common.as_slice()));
        let (mut restricted, square) = (spare::any(last + 1, last + 1), self.unit * self.unit);
        for (j, (mut to, from)) in restricted.column_iter_mut().zip(q.column_iter()).enumerate() {
            let to = to.as_mut_slice();
            to.iter_mut().zip(from.as_slice()).for_each(|(to, from)| *to = from * square);
            to[last] = border[j];
        }
        restricted.set_column(last, &border);
        spare::keep([q]);
        restricted
    }

    /// `BᵀY`. O(d) for each column.
    pub(crate) fn restrict_root(&self, root: &Matrix) -> Matrix {
        let last = self.common.len();
        let along = root.tr_mul(&self.common);
        let mut restricted = root.clone().resize_vertically(last + 1, 0.0) * self.unit;
        restricted.set_row(last, &along.transpose());
        restricted
    }

    /// `BSBᵀ`. O(d²).
    pub(crate) fn spread(&self, s: Matrix) -> Matrix {
        let (last, square) = (self.common.len(), self.unit * self.unit);
        let mut spread = spare::any(last, last);
        // What the common column shares with the others, and half of what is its own.
        let shared = s.view((0, last), (last, 1)) * self.unit + &self.common * (0.5 * s[(last, last)]);
        let (shared, common) = (shared.as_slice(), self.common.as_slice());
        for (j, (mut to, from)) in spread.column_iter_mut().zip(s.column_iter()).enumerate() {
            let both = to.as_mut_slice().iter_mut().zip(from.as_slice()).zip(shared.iter().zip(common));
            for ((to, from), (shared_i, common_i)) in both {
                *to = square * from + (shared_i * common[j] + common_i * shared[j]);
            }
        }
        spare::keep([s]);
        spread
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::quadratic::{Thin, Whole};
    use super::super::stepped::{Likelihood as _, Spread};
    use super::*;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_dictionary_is_the_matrix_that_it_stands_for() {
        let (unit, common) = (0.7, Vector::from_vec(vec![1.0, -2.0, 0.5]));
        let dictionary = Dictionary::new(&common, unit);
        let mut b = Matrix::identity(3, 4) * unit;
        b.set_column(3, &common);
        let symmetric = |side: usize| Matrix::from_fn(side, side, |i, j| (1 + i * j + i + j) as f64 / 7.0);
        let vector = |side: usize| Vector::from_fn(side, |i, _| 1.0 / (i + 1) as f64);
        assert!((dictionary.project(&vector(3)) - b.transpose() * vector(3)).amax() < 1e-14);
        assert!((dictionary.combine(&vector(4)) - &b * vector(4)).amax() < 1e-14);
        assert!((dictionary.restrict(symmetric(3)) - b.transpose() * symmetric(3) * &b).amax() < 1e-13);
        assert!((dictionary.spread(symmetric(4)) - &b * symmetric(4) * b.transpose()).amax() < 1e-13);
    }

    fn both_sides(gain: &Gain, s: &Matrix) -> Matrix {
        let mut found = Matrix::zeros(s.nrows(), s.nrows());
        gain.add_both_sides(s, 1.0, &mut found);
        dense::mirror_up(&mut found);
        found
    }

    #[test]
    fn one_direction_by_hand() {
        let matrix = |value| Matrix::from_element(1, 1, value);
        let vector = |value| Vector::from_element(1, value);
        // Logs: 2 with precision 4; live: three observations that sum to 3, so that their mean is 1.
        let (found, information) =
            DriftLikelihood::new((matrix(4.0), &vector(2.0)), (&matrix(3.0), &vector(3.0)), 3.0).unwrap();
        // Q = 3·4/7; the drift estimate Q⁻¹h is 1 - 2.
        let Information::Whole(information) = &information else { panic!("there are many rows") };
        assert!((information[0] - 12.0 / 7.0).abs() < 1e-15);
        assert!((found.shift[0] / information[0] + 1.0).abs() < 1e-15);
        assert!((found.pooled[0] - 11.0 / 7.0).abs() < 1e-15);
        // With the drift known to be -1 the estimate is 1, with covariance 1/7; an unknown one adds to it.
        let mean = &found.pooled + found.gain.times(&vector(-1.0));
        assert!((mean[0] - 1.0).abs() < 1e-15 && (found.root[0].powi(2) - 1.0 / 7.0).abs() < 1e-15);
        assert!((both_sides(&found.gain, &matrix(1.0))[0] - 16.0 / 49.0).abs() < 1e-15);
    }

    #[test]
    fn few_rows_say_of_the_drift_what_the_whole_matrix_says() {
        let (side, rows) = (100, 20);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut squares = |rows: usize| {
            let data = Matrix::from_fn(rows, side, |_, _| normal());
            data.tr_mul(&data)
        };
        let (gram, logs) = (squares(rows), squares(60) * 0.3 + Matrix::identity(side, side));
        let vector = |seed: f64| Vector::from_fn(side, |i, _| (i as f64 * seed).sin());
        let (estimate, moment) = (vector(0.7), &gram * vector(1.1));
        let found = |rows| DriftLikelihood::new((logs.clone(), &estimate), (&gram, &moment), rows).unwrap();
        let ((few, Information::Square(root)), (many, Information::Whole(q))) =
            (found(rows as f64), found(1e9))
        else {
            panic!("one has few rows, the other many")
        };
        let close = |a: &Matrix, b: &Matrix| (a - b).amax() < 1e-9 * (1.0 + b.amax());
        assert_eq!(root.ncols(), rows);
        assert!(close(&(&root * root.transpose()), &q));
        assert!((&few.shift - &many.shift).amax() < 1e-9 * many.shift.amax());
        let s = logs.clone().try_inverse().unwrap();
        assert!(close(&both_sides(&few.gain, &s), &both_sides(&many.gain, &s)));
        assert!((few.gain.times(&estimate) - many.gain.times(&estimate)).amax() < 1e-9);
        // The models weigh both alike.
        let columns = Dictionary::new(&estimate, 0.5);
        let h = columns.project(&few.shift);
        let thin = Thin { root: columns.restrict_root(&root), h: h.clone() };
        let whole = Whole { q: columns.restrict(q), h };
        let precision: Vec<f64> = (0..=side).map(|j| if j == 3 { 0.01 } else { 11.0 }).collect();
        let natural: Vec<f64> = (0..=side).map(|j| if j == 3 { 0.5 } else { 0.0 }).collect();
        let (a, b) =
            (thin.posterior(&precision, &natural).unwrap(), whole.posterior(&precision, &natural).unwrap());
        assert!((a.log_weight - b.log_weight).abs() < 1e-7, "{} {}", a.log_weight, b.log_weight);
        assert!((&a.mean - &b.mean).amax() < 1e-8 && (&a.variances - &b.variances).amax() < 1e-8);
        assert!((thin.column(&a.covariance, 3) - whole.column(&b.covariance, 3)).amax() < 1e-8);
        let matrix = |covariance| {
            Spread { starts: vec![(0.7, Rc::new(covariance))], terms: Vec::new() }.matrix(side + 1)
        };
        assert!(close(&matrix(a.covariance), &matrix(b.covariance)));
    }
}
