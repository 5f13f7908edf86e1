//! The likelihood of the drift where columns fall into parts: see [parted](super::parted).
//!
//! Given the unknowns of the border, with covariance Σ and mean ξ, the parts know nothing of each other:
//!
//! ```text
//! S = (B + ZΣZᵀ, -ZΣ; -ΣZᵀ, Σ),     μ = (o - Zξ, ξ)
//! ```
//!
//! with a block B, its `Z = B · border` and its own mean o for each part. So a change of column j, which is row a of its part, by δ and c
//! changes that part, Σ and ξ, and nothing else:
//!
//! ```text
//! D = 1 + δB_aa,   B ← B - (δ/D) B_a B_aᵀ,   Z ← Z - (δ/D) B_a z_aᵀ,   o ← o + B_a (c - δo_a)/D
//! Σ ← Σ - factor (Σz_a)(Σz_a)ᵀ,   ξ ← ξ - shift Σz_a
//! ```

use std::rc::Rc;

use nalgebra::{Matrix3, MatrixXx3, Vector3};

use super::models::{Change, Weighed};
use super::regression::Sums;
use super::{Logs, batch};
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::kernel::{self, Marginals};

/// Unknowns of the border: the common factor and both levels.
pub(super) const BORDER: usize = 3;
type Border = Matrix3<f64>;
type Shared = Vector3<f64>;
type Beside = MatrixXx3<f64>;
/// y'By, Z'y and o'y.
type Along = (f64, Shared, f64);

/// The likelihood of the drift, with a border of the common factor and both levels.
pub(super) struct Arrow<'a> {
    parts: Vec<ArrowPart<'a>>,
    /// Part and place of each column.
    places: Vec<(usize, usize)>,
    border: Border,
    linear: Shared,
    /// ℓ'F⁻¹ℓ - log det F of the levels.
    levels: f64,
}

struct ArrowPart<'a> {
    columns: &'a [usize],
    q: Matrix,
    h: Vector,
    /// One column for each unknown of the border.
    border: Beside,
    /// How θ_* follows from the part's drift and from the border, what it would be without, and its covariance then.
    gain: Matrix,
    beside: Beside,
    pooled: Vector,
    covariance: Matrix,
}

/// What is believed of a part, given the border.
struct Given {
    /// B, Z and o.
    block: Matrix,
    z: Beside,
    own: Vector,
}

/// A model from nothing.
struct Start {
    parts: Vec<Rc<Given>>,
    /// Σ.
    border: Border,
    /// The diagonal of B, o and Z, by column.
    diagonal: Vec<f64>,
    own: Vec<f64>,
    z: [Vec<f64>; BORDER],
}

/// What is believed in a model.
#[derive(Clone)]
pub(super) struct Bordered {
    start: Rc<Start>,
    /// Parts that are not as they were at the start, increasing.
    changed: Vec<(usize, Rc<Given>)>,
    /// Σ and ξ.
    border: Border,
    shared: Shared,
}

impl Bordered {
    fn part(&self, place: usize) -> &Rc<Given> {
        match self.changed.binary_search_by_key(&place, |changed| changed.0) {
            Ok(at) => &self.changed[at].1,
            Err(_) => &self.start.parts[place],
        }
    }
}

/// Several models with their weights, and the mean of ξ.
pub(super) struct Mixture {
    models: Vec<(f64, Bordered)>,
    shared: Shared,
}

impl Mixture {
    /// The start that most models by weight come from, and their weight.
    fn heaviest(&self) -> (f64, &Start) {
        let weight = |start: &Rc<Start>| -> f64 {
            let same = self.models.iter().filter(|(_, model)| Rc::ptr_eq(&model.start, start));
            same.map(|(weight, _)| weight).sum()
        };
        let mut best: (f64, &Start) = (0.0, &self.models[0].1.start);
        for (_, model) in &self.models {
            let weight = weight(&model.start);
            best = if weight > best.0 { (weight, &model.start) } else { best };
        }
        best
    }

    /// Its Σ, times its weight.
    pub(super) fn heaviest_border(&self) -> Border {
        let (weight, start) = self.heaviest();
        start.border * weight
    }
}

impl<'a> Arrow<'a> {
    /// Returns also the log of the live data's probability without a drift.
    pub(super) fn new(
        logs: (&'a Sums, f64, &Logs),
        live: (&Sums, f64),
        scale: f64,
        ratio: f64,
    ) -> Result<(Self, f64)> {
        let ((logged, logged_variance, regression), (live, variance)) = (logs, live);
        let unit = scale.sqrt();
        let dimension = regression.estimate.len();
        let (mut border, mut linear) = (Border::zeros(), Shared::zeros());
        let known = ((live.count + ratio) / variance).max(f64::MIN_POSITIVE);
        let known_logs = logged.count / logged_variance;
        (border[(1, 1)], border[(2, 2)]) = (if live.count > 0.0 { known } else { 1.0 }, known_logs);
        linear[1] = live.rewards / variance;
        let (mut places, mut parts) = (vec![(0, 0); dimension], Vec::new());
        let (mut log_evidence, mut through) = (0.0, 0.0);
        for (place, (old, new)) in logged.parts.iter().zip(&live.parts).enumerate() {
            let side = old.columns.len();
            old.columns.iter().enumerate().for_each(|(at, &column)| places[column] = (place, at));
            let g_matrix = logged.whole(place) / logged_variance + Matrix::identity(side, side) / scale;
            let a_matrix = live.whole(place) / variance;
            let (f, g) = (&new.sums / variance, &old.sums / logged_variance);
            let theta = Vector::from_fn(side, |i, _| regression.estimate[old.columns[i]]);
            let factor = dense::cholesky("the pooled precision", &(&a_matrix + &g_matrix))?;
            let root = dense::invert_lower(&factor);
            let (whitened_a, whitened_g) = (&root * &a_matrix, &root * &g_matrix);
            let product = dense::transposed_product(&whitened_a, &whitened_g);
            let q = (&product + product.transpose()) * 0.5;
            let solve = |vector: &Vector| root.tr_mul(&(&root * vector));
            let fitted = &a_matrix * &theta;
            let surprise = &new.moment / variance - &fitted;
            let (hf, hg, hs) = (solve(&f), solve(&g), solve(&surprise));
            let h = &g_matrix * &hs;
            let (q_theta, ghf, ahg) = (&q * &theta, &g_matrix * &hf, &a_matrix * &hg);
            for (i, j, value) in [
                (0, 0, theta.dot(&q_theta)),
                (0, 1, theta.dot(&ghf)),
                (0, 2, -theta.dot(&ahg)),
                (1, 1, -f.dot(&hf)),
                (1, 2, -f.dot(&hg)),
                (2, 2, -g.dot(&hg)),
            ] {
                border[(i, j)] += value;
            }
            linear[0] += theta.dot(&h);
            linear[1] -= f.dot(&theta) + f.dot(&hs);
            linear[2] -= g.dot(&hs);
            through += f.dot(&theta);
            log_evidence += new.moment.dot(&theta) / variance - 0.5 * theta.dot(&fitted)
                + 0.5 * (surprise.dot(&hs) - dense::log_det_from_factor(&factor));
            let gain = dense::transposed_product(&root, &whitened_g);
            let beside = Beside::from_columns(&[&gain * &theta, -hf, -hg]);
            parts.push(ArrowPart {
                columns: &old.columns,
                q: q * (unit * unit),
                h: h * unit,
                border: Beside::from_columns(&[q_theta * unit, ghf * unit, ahg * -unit]),
                gain: gain * unit,
                beside,
                pooled: theta + hs,
                covariance: dense::square_of_lower(root),
            });
        }
        border.fill_lower_triangle_with_upper_triangle();
        let levels = Matrix::from_fn(2, 2, |i, j| border[(i + 1, j + 1)]);
        let factor = dense::cholesky("the precision of the levels", &levels)?;
        let rest = Vector::from_fn(2, |i, _| linear[i + 1]);
        let explained = rest.dot(&dense::solve_from_factor(&factor, &rest));
        let log_det = dense::log_det_from_factor(&factor);
        // What the sums say of the live level beside the features goes; what they say of both levels stays.
        if live.count > 0.0 {
            log_evidence += -live.share * live.rewards * through + 0.5 * through * through / known
                - 0.5 * (live.rewards / variance - through).powi(2) / known
                + 0.5 * known.ln();
        }
        log_evidence += 0.5 * (explained - log_det + known_logs.ln() + regression.log_det);
        Ok((Self { parts, places, border, linear, levels: explained - log_det }, log_evidence))
    }

    /// Mean and covariance of a part's live coefficients where the logs hold but for a drift, and how they follow from the border
    /// by the heaviest start. With `R = beside - gain Z`, and e the distance of a model's ξ from the mean one,
    ///
    /// ```text
    /// θ_* = pooled + gain o + Rξ,     Cov = H⁻¹ + Σ over models  w (gain B gainᵀ + RΣRᵀ + (u + Re)(u + Re)ᵀ)
    /// ```
    ///
    /// where u is how far `gain o + Rξ̄` is from its mean: 0 where all models have the same B, as in most parts.
    pub(super) fn informed(&self, place: usize, mixture: &Mixture) -> (Vector, Matrix, Beside) {
        let part = &self.parts[place];
        let through = |given: &Given| &part.beside - &part.gain * &given.z;
        // Models with the same B, with their weights, Σ w e and Σ w (Σ + eeᵀ).
        let mut groups: Vec<(&Rc<Given>, f64, Shared, Border)> = Vec::new();
        for (weight, model) in &mixture.models {
            let (given, apart) = (model.part(place), model.shared - mixture.shared);
            let spread = (model.border + apart * apart.transpose()) * *weight;
            match groups.iter_mut().find(|group| Rc::ptr_eq(group.0, given)) {
                Some(group) => {
                    group.1 += weight;
                    group.2 += apart * *weight;
                    group.3 += spread;
                }
                None => groups.push((given, *weight, apart * *weight, spread)),
            }
        }
        let moved: Vec<(Beside, Vector)> = groups
            .iter()
            .map(|(given, ..)| {
                let through = through(given);
                let own = &part.gain * &given.own + &through * mixture.shared;
                (through, own)
            })
            .collect();
        let mut drift = Vector::zeros(part.columns.len());
        for ((_, weight, apart, _), (through, own)) in groups.iter().zip(&moved) {
            drift += own * *weight + through * apart;
        }
        let mut covariance = part.covariance.clone();
        let transposed = part.gain.transpose();
        for ((given, weight, apart, spread), (through, own)) in groups.iter().zip(&moved) {
            covariance.gemm(*weight, &(&part.gain * &given.block), &transposed, 1.0);
            covariance += through * spread * through.transpose();
            if groups.len() > 1 {
                let (off, along) = (own - &drift, through * apart);
                covariance.ger(*weight, &off, &off, 1.0);
                covariance.ger(1.0, &off, &along, 1.0);
                covariance.ger(1.0, &along, &off, 1.0);
            }
        }
        let heaviest = through(&mixture.heaviest().1.parts[place]);
        (&part.pooled + drift, covariance, heaviest)
    }

    /// The variance of f'θ_* over all parts, for a vector by part.
    pub(super) fn variance(&self, f: &[&Vector], mixture: &Mixture) -> f64 {
        let moved: Vec<Vector> = self.parts.iter().zip(f).map(|(part, f)| part.gain.tr_mul(f)).collect();
        let of = |given: &Given, y: &Vector| -> Along {
            (y.dot(&(&given.block * y)), given.z.tr_mul(y), y.dot(&given.own))
        };
        let mut variance = 0.0;
        let mut beside = Shared::zeros();
        for (part, f) in self.parts.iter().zip(f) {
            variance += f.dot(&(&part.covariance * *f));
            beside += part.beside.tr_mul(f);
        }
        let mut starts: Vec<(&Rc<Start>, Along)> = Vec::new();
        let mut along = Vec::new();
        for (weight, model) in &mixture.models {
            if !starts.iter().any(|(start, _)| Rc::ptr_eq(start, &model.start)) {
                let mut sums = (0.0, Shared::zeros(), 0.0);
                for (given, y) in model.start.parts.iter().zip(&moved) {
                    let (square, z, own) = of(given, y);
                    sums = (sums.0 + square, sums.1 + z, sums.2 + own);
                }
                starts.push((&model.start, sums));
            }
            let known = starts.iter().find(|(start, _)| Rc::ptr_eq(start, &model.start));
            let mut sums = known.map_or((0.0, Shared::zeros(), 0.0), |known| known.1);
            for (place, given) in &model.changed {
                let (new, old) = (of(given, &moved[*place]), of(&model.start.parts[*place], &moved[*place]));
                sums = (sums.0 + new.0 - old.0, sums.1 + new.1 - old.1, sums.2 + new.2 - old.2);
            }
            let rest = beside - sums.1;
            variance += weight * (sums.0 + rest.dot(&(model.border * rest)));
            along.push((*weight, sums.2 + rest.dot(&model.shared)));
        }
        let mean: f64 = along.iter().map(|(weight, along)| weight * along).sum();
        variance + along.iter().map(|(weight, along)| weight * (along - mean).powi(2)).sum::<f64>()
    }
}

impl Weighed for Arrow<'_> {
    type State = Bordered;
    type Mixed = Mixture;

    fn start(&self, precision: &[f64], natural: &[f64]) -> Result<(Bordered, f64)> {
        let dimension = self.places.len();
        let (mut border, mut rest) = (self.border, self.linear);
        border[(0, 0)] += precision[dimension];
        rest[0] += natural[dimension];
        let mut log_weight = -self.levels;
        let mut parts = Vec::with_capacity(self.parts.len());
        let [mut diagonal, mut by_own] = [0, 1].map(|_| vec![0.0; dimension]);
        let mut by_z = [0; BORDER].map(|_| vec![0.0; dimension]);
        let mut blocks: Vec<Matrix> = self.parts.iter().map(|part| part.q.clone()).collect();
        for (block, part) in blocks.iter_mut().zip(&self.parts) {
            part.columns.iter().enumerate().for_each(|(i, &column)| block[(i, i)] += precision[column]);
        }
        let log_dets = batch::invert("the precision of the drift", &mut blocks)?;
        for ((part, block), log_det) in self.parts.iter().zip(blocks).zip(log_dets) {
            let mut linear = part.h.clone();
            part.columns.iter().enumerate().for_each(|(i, &column)| linear[i] += natural[column]);
            let (own, z) = (&block * &linear, &block * &part.border);
            log_weight += linear.dot(&own) - log_det;
            border -= part.border.tr_mul(&z);
            rest -= z.tr_mul(&linear);
            for (i, &column) in part.columns.iter().enumerate() {
                diagonal[column] = block[(i, i)];
                by_own[column] = own[i];
                by_z.iter_mut().enumerate().for_each(|(k, by_z)| by_z[column] = z[(i, k)]);
            }
            parts.push(Rc::new(Given { block, z, own }));
        }
        let precision = Matrix::from_fn(BORDER, BORDER, |i, j| border[(i, j)]);
        let factor = dense::cholesky("the precision of the drift", &precision)?;
        let border = Border::from_column_slice(dense::inverse_from_factor(&factor).as_slice());
        let shared = dense::solve_from_factor(&factor, &Vector::from_column_slice(rest.as_slice()));
        let shared = Shared::from_column_slice(shared.as_slice());
        log_weight += rest.dot(&shared) - dense::log_det_from_factor(&factor);
        let start = Rc::new(Start { parts, border, diagonal, own: by_own, z: by_z });
        Ok((Bordered { start, changed: Vec::new(), border, shared }, log_weight))
    }

    fn marginals<'a>(&self, state: &'a Bordered, room: &'a mut [Vec<f64>; 2]) -> [&'a [f64]; 2] {
        let dimension = self.places.len();
        let Bordered { start, changed, border, shared } = state;
        let [means, variances] = room;
        means.resize(dimension + 1, 0.0);
        variances.resize(dimension + 1, 0.0);
        kernel::run(&mut Marginals {
            diagonal: &start.diagonal,
            own: &start.own,
            z: start.z.each_ref().map(|z| &**z),
            border: border.data.0,
            shared: shared.data.0[0],
            means: &mut means[..dimension],
            variances: &mut variances[..dimension],
        });
        for (place, given) in changed {
            for (i, &column) in self.parts[*place].columns.iter().enumerate() {
                let z = given.z.row(i).transpose();
                means[column] = given.own[i] - z.dot(shared);
                variances[column] = given.block[(i, i)] + z.dot(&(border * z));
            }
        }
        (means[dimension], variances[dimension]) = (shared[0], border[(0, 0)]);
        [means, variances]
    }

    fn changed(&self, state: &Bordered, column: usize, change: &Change) -> Bordered {
        let mut state = state.clone();
        let along = match self.places.get(column) {
            None => -state.border.column(column - self.places.len()),
            Some(&(place, at)) => {
                let Given { block, z, own } = &**state.part(place);
                let (row, factor) =
                    (z.row(at).transpose(), change.delta / (1.0 + change.delta * block[(at, at)]));
                let vector = block.column(at);
                let shift = (change.c - change.delta * own[at]) / (1.0 + change.delta * block[(at, at)]);
                let given = Rc::new(Given {
                    block: block - (vector * factor) * vector.transpose(),
                    z: z - (vector * factor) * row.transpose(),
                    own: own + vector * shift,
                });
                match state.changed.binary_search_by_key(&place, |changed| changed.0) {
                    Ok(found) => state.changed[found].1 = given,
                    Err(found) => state.changed.insert(found, (place, given)),
                }
                state.border * row
            }
        };
        state.border -= along * along.transpose() * change.factor;
        state.shared -= along * change.shift;
        state
    }

    fn mixed(&self, models: Vec<(f64, Bordered)>) -> Mixture {
        let nothing = Shared::zeros();
        let shared = models.iter().fold(nothing, |sum, (weight, model)| sum + model.shared * *weight);
        Mixture { models, shared }
    }
}
