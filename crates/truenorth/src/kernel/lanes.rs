//! Small symmetric matrices of one side, eight at a time: each has a lane of its own, so that all steps are those of vectors, and
//! no sum goes across one.

use pulp::{Simd, WithSimd};

use crate::triangle::SIDE;

/// A number of each of eight matrices.
pub(crate) type Lanes = [f64; SIDE];

/// Three diagonals of eight matrices, `A = QTQᵀ`, with `Qᵀy` of two vectors y.
#[derive(Debug, Clone, Default)]
pub(crate) struct Diagonals {
    pub(crate) diagonal: Vec<Lanes>,
    /// Beside each entry of the diagonal and the next one.
    pub(crate) beside: Vec<Lanes>,
    pub(crate) vectors: [Vec<Lanes>; 2],
}

/// `sum of x y`, lane by lane.
#[inline(always)]
fn dot(x: &[Lanes], y: &[Lanes]) -> Lanes {
    let mut sums = [0.0; SIDE];
    for (x, y) in x.iter().zip(y) {
        for lane in 0..SIDE {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums
}

/// `y + factor x`, lane by lane.
#[inline(always)]
fn add(factor: &Lanes, x: &[Lanes], y: &mut [Lanes]) {
    for (y, x) in y.iter_mut().zip(x) {
        for lane in 0..SIDE {
            y[lane] += factor[lane] * x[lane];
        }
    }
}

/// Householder's reduction, as in [`Tridiagonalise`](super::Tridiagonalise), of eight matrices. Their lower halves, column after column,
/// are changed on the way.
pub(crate) struct ReduceLanes<'a> {
    pub(crate) side: usize,
    pub(crate) matrices: &'a mut [Lanes],
    pub(crate) to: &'a mut Diagonals,
}

impl WithSimd for &mut ReduceLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let ReduceLanes { side, matrices, to } = self;
        let side = *side;
        let Diagonals { diagonal, beside, vectors } = &mut **to;
        diagonal.clear();
        beside.clear();
        let mut product = vec![[0.0; SIDE]; side];
        for k in 0..side {
            let (column, rest) = matrices[k * side..].split_at_mut(side);
            diagonal.push(column[k]);
            let v = &mut column[k + 1..];
            if v.is_empty() {
                break;
            }
            let square = dot(v, v);
            let (mut alpha, mut beta) = ([0.0; SIDE], [0.0; SIDE]);
            for lane in 0..SIDE {
                let first = v[0][lane];
                let norm = square[lane].sqrt();
                alpha[lane] = if first > 0.0 { -norm } else { norm };
                v[0][lane] = first - alpha[lane];
                // ‖x - αe‖² without the sum: ‖x‖² - 2αx₁ + α².
                let length = 2.0 * (square[lane] - alpha[lane] * first);
                beta[lane] = if length > 0.0 { 2.0 / length } else { 0.0 };
            }
            beside.push(alpha);
            let v = &*v;
            for y in vectors.iter_mut() {
                let mut factor = dot(v, &y[k + 1..]);
                for lane in 0..SIDE {
                    factor[lane] *= -beta[lane];
                }
                add(&factor, v, &mut y[k + 1..]);
            }
            // p = βAv, then w = p - (β/2)(pᵀv)v, on what is right of and below this column.
            let below = side - k - 1;
            let p = &mut product[..below];
            p.fill([0.0; SIDE]);
            for j in 0..below {
                let column = &rest[j * side + k + 1..][j..below];
                let sum = dot(&column[1..], &v[j + 1..]);
                add(&v[j], column, &mut p[j..]);
                for lane in 0..SIDE {
                    p[j][lane] += sum[lane];
                }
            }
            let mut along = dot(p, v);
            for lane in 0..SIDE {
                along[lane] *= -0.5 * beta[lane] * beta[lane];
            }
            for (p, v) in p.iter_mut().zip(v) {
                for lane in 0..SIDE {
                    p[lane] = beta[lane] * p[lane] + along[lane] * v[lane];
                }
            }
            for j in 0..below {
                let column = &mut rest[j * side + k + 1..][j..below];
                let (w_j, v_j) = (p[j], v[j]);
                for (entry, (v, w)) in column.iter_mut().zip(v[j..].iter().zip(&p[j..])) {
                    for lane in 0..SIDE {
                        entry[lane] -= v[lane] * w_j[lane] + w[lane] * v_j[lane];
                    }
                }
            }
        }
        beside.push([0.0; SIDE]);
    }
}

/// Replaces the lower halves of eight symmetric matrices, column after column, by those of their inverses, and gives the logarithms of
/// their determinants, by Cholesky's factor; no number where a matrix has none.
pub(crate) struct InvertLanes<'a> {
    pub(crate) side: usize,
    pub(crate) matrices: &'a mut [Lanes],
}

impl WithSimd for &mut InvertLanes<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Lanes {
        let InvertLanes { side, matrices } = self;
        let side = *side;
        let mut pivots = vec![[0.0; SIDE]; side];
        for j in 0..side {
            let (before, column) = matrices.split_at_mut(j * side);
            let column = &mut column[..side];
            for k in 0..j {
                let other = &before[k * side..][j..side];
                let factor = other[0].map(|entry| -entry);
                add(&factor, other, &mut column[j..]);
            }
            let mut scale = [0.0; SIDE];
            for lane in 0..SIDE {
                // A root of less than 0 is no number.
                pivots[j][lane] = column[j][lane].sqrt();
                scale[lane] = pivots[j][lane].recip();
            }
            // The factor with 1/C_jj on its diagonal.
            column[j] = scale;
            for entry in &mut column[j + 1..] {
                for lane in 0..SIDE {
                    entry[lane] *= scale[lane];
                }
            }
        }
        // C⁻¹, column by column: x_i = -(Σ_k C_ik x_k)/C_ii below x_j = 1/C_jj.
        let mut x = vec![[0.0; SIDE]; side];
        for j in 0..side {
            x[j..].fill([0.0; SIDE]);
            x[j] = matrices[j * side + j];
            for k in j..side {
                if k > j {
                    for lane in 0..SIDE {
                        x[k][lane] *= matrices[k * side + k][lane];
                    }
                }
                let factor = x[k].map(|entry| -entry);
                add(&factor, &matrices[k * side + k + 1..(k + 1) * side], &mut x[k + 1..]);
            }
            matrices[j * side + j..(j + 1) * side].copy_from_slice(&x[j..]);
        }
        // C⁻ᵀC⁻¹: entry (i, j), j ≤ i, is the product of columns i and j from row i on.
        for j in 0..side {
            for i in j..side {
                let sum =
                    dot(&matrices[i * side + i..(i + 1) * side], &matrices[j * side + i..(j + 1) * side]);
                matrices[j * side + i] = sum;
            }
        }
        let mut log_det = [0.0; SIDE];
        for pivot in pivots {
            for lane in 0..SIDE {
                log_det[lane] += 2.0 * pivot[lane].ln();
            }
        }
        log_det
    }
}

/// What regressions with one ridge leave of a matrix A, a moment b and sums f.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Solved {
    /// Trace of (A + ridge)⁻¹.
    pub(crate) inverse: f64,
    /// With c = (A + ridge)⁻¹b and z = (A + ridge)⁻¹f: bᵀc, fᵀc, fᵀz, cᵀc, cᵀz and zᵀz.
    pub(crate) products: [f64; 6],
}

impl Solved {
    pub(crate) fn add(&mut self, other: &Self) {
        self.inverse += other.inverse;
        for (sum, other) in self.products.iter_mut().zip(&other.products) {
            *sum += other;
        }
    }
}

/// Regressions on matrices of three diagonals, as in [`Tridiagonal`](crate::dense::Tridiagonal).
pub(crate) struct SolveLanes<'a> {
    pub(crate) groups: &'a [Diagonals],
    pub(crate) ridge: f64,
    /// Pivots, their inverses, and solutions.
    pub(crate) room: &'a mut [Vec<Lanes>; 4],
}

impl WithSimd for &mut SolveLanes<'_> {
    type Output = Solved;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Solved {
        let SolveLanes { groups, ridge, room: [pivots, inverse, first, second] } = self;
        let (ridge, least) = (*ridge, *ridge * 1e-3);
        let (mut trace, mut products) = ([0.0; SIDE], [[0.0; SIDE]; 6]);
        for Diagonals { diagonal, beside, vectors: [moment, sums] } in *groups {
            let side = diagonal.len();
            for room in [&mut *pivots, &mut *inverse, &mut *first, &mut *second] {
                room.resize(side.max(room.len()), [0.0; SIDE]);
            }
            let (pivots, inverse) = (&mut pivots[..side], &mut inverse[..side]);
            let (first, second) = (&mut first[..side], &mut second[..side]);
            let (beside, moment, sums) = (&beside[..side], &moment[..side], &sums[..side]);
            let [mut carried, mut above, mut above_other] = [[0.0; SIDE]; 3];
            for i in 0..side {
                for lane in 0..SIDE {
                    let before = if i > 0 { beside[i - 1][lane] } else { 0.0 };
                    let share = before * carried[lane];
                    let pivot = diagonal[i][lane] + ridge - before * share;
                    // A is no less than 0; what rounding takes away is not let through.
                    pivots[i][lane] = if pivot > least { pivot } else { least };
                    carried[lane] = pivots[i][lane].recip();
                    above[lane] = moment[i][lane] - share * above[lane];
                    above_other[lane] = sums[i][lane] - share * above_other[lane];
                }
                (inverse[i], first[i], second[i]) = (carried, above, above_other);
            }
            let [mut below, mut c, mut z] = [[0.0; SIDE]; 3];
            for i in (0..side).rev() {
                for lane in 0..SIDE {
                    let before = if i > 0 { beside[i - 1][lane] } else { 0.0 };
                    c[lane] = (first[i][lane] - beside[i][lane] * c[lane]) * inverse[i][lane];
                    z[lane] = (second[i][lane] - beside[i][lane] * z[lane]) * inverse[i][lane];
                    // Pivots from the last row on are this without what comes from above. One division is for both.
                    let both = pivots[i][lane] - below[lane];
                    let both = if both > least { both } else { least };
                    let last = diagonal[i][lane] + ridge - below[lane];
                    let last = if last > least { last } else { least };
                    let inverse = (both * last).recip();
                    trace[lane] += last * inverse;
                    below[lane] = before * before * (both * inverse);
                    let (b, f) = (moment[i][lane], sums[i][lane]);
                    products[0][lane] += b * c[lane];
                    products[1][lane] += f * c[lane];
                    products[2][lane] += f * z[lane];
                    products[3][lane] += c[lane] * c[lane];
                    products[4][lane] += c[lane] * z[lane];
                    products[5][lane] += z[lane] * z[lane];
                }
            }
        }
        Solved { inverse: trace.iter().sum(), products: products.map(|sums| sums.iter().sum()) }
    }
}
