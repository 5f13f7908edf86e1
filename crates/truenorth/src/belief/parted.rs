//! Fits of a sparse policy: the same belief, where columns fall into parts that rows never touch together.
//!
//! Three unknowns are shared by all parts: the live level c and the logged one c', by their distance from what is expected, and
//! the common factor w₀ on logged coefficients. Given these, parts know nothing of each other, so that every matrix of the dense
//! fit is one block for each part with a border of three columns. With `H = A + G`, the logs' coefficients integrated out, and
//! the surprise `s = b - Aθ_off - c₀f` of live data (f and g are Σx/σ² of live data and logs), the drift w of the columns has
//!
//! ```text
//!             w               w₀            c                    c'               linear
//! w      unit² AH⁻¹G    unit Qθ_off    unit GH⁻¹f        -unit AH⁻¹g        unit GH⁻¹s
//! w₀                      θ'Qθ          θ'GH⁻¹f           -θ'AH⁻¹g           θ'GH⁻¹s
//! c                                  N - f'H⁻¹f           -f'H⁻¹g            Σr/σ² - nc₀/σ² - f'θ_off - f'H⁻¹s
//! c'                                                   N' - g'H⁻¹g           -g'H⁻¹s
//! ```
//!
//! with Q = AH⁻¹G and N, N' the rewards that are known about the levels, and then `θ_* = θ_off + H⁻¹s + H⁻¹G(unit w + θ_off w₀) -
//! H⁻¹f c - H⁻¹g c' + N(0, H⁻¹)`. So a fit costs the cubes of the parts, and one action's mean and variance are those of the dense
//! fit. Between fits, the border and whether the logs are void are kept as unknowns of their own; how the means of models differ
//! in two parts at once is not.

use super::arrow::{Arrow, BORDER};
use super::models::Models;
use super::regression::{PartSums, Regression, Rows, Sums};
use super::{Belief, Evidence, LEVEL, Logs, News, Told, VOID, spacing};
use crate::blocks::Blocks;
use crate::dense::{Matrix, Vector};
use crate::error::Result;
use crate::parted::{NO_LIMIT, Parted};
use crate::statistic::RidgeStatistic;

impl Belief {
    /// Fits everything anew, as [`fit`](Self::fit) does, by parts: what is believed, and live data alone where there are logs.
    pub(crate) fn fit_parted(
        &mut self,
        logs: &RidgeStatistic,
        data: &RidgeStatistic,
        rewards: u64,
    ) -> Result<(Parted, Option<Parted>)> {
        self.due = rewards + spacing(rewards, data.dimension());
        let Some(live) = data.blocks() else { unreachable!("a sparse policy's data is in parts") };
        if logs.weight() == 0.0 {
            return Ok((self.fit_parts_alone(live, data)?, None));
        }
        let Some(logged) = logs.blocks() else { unreachable!("so are its logs") };
        let mut together = live.clone();
        together.add(logged);
        if self.logs.is_none() {
            self.logs = Some(self.regression_in_parts(logs, logged)?);
        }
        let logged = Sums::new(logs, (&together, Rows::Any), &self.units, (0.0, 0.0));
        let Some(known) = self.logs.take() else { unreachable!("it was made above") };
        let found = self.fit_parts(&together, (&known, &logged, logs), data);
        self.logs = Some(known);
        found.map(|(belief, alone)| (belief, Some(alone)))
    }

    fn fit_parts_alone(&mut self, together: &Blocks, data: &RidgeStatistic) -> Result<Parted> {
        if data.weight() == 0.0 {
            self.evidence = self.told(|| Evidence::NONE);
            (self.variance, self.levels) = (self.evidence.variance, [0.0; 2]);
            let ridge = self.variance / self.evidence.scale;
            return Ok(Parted::ridge((0..data.dimension()).map(|j| ridge * self.units.known(j).powi(2))));
        }
        let mut live = Sums::new(data, (together, Rows::Few), &self.units, (0.0, 0.0));
        self.evidence = self.told(|| live.evidence());
        self.variance = self.evidence.variance;
        let grams = std::mem::take(&mut live.grams);
        let found = Regression::new(&live, grams, self.variance, self.evidence.scale)?;
        let mut wider = 1.0;
        if live.free() > 0.0 {
            let Told { noise, norm_bound } = self.told;
            let estimated = i32::from(noise.is_none()) + i32::from(norm_bound.is_none());
            wider = Evidence::student(live.free()).powi(estimated);
        }
        self.levels = [live.level(&found.mean); 2];
        Ok(self.parted(together, &live, &found, wider))
    }

    /// The logs' regression; see [`regression`](Self::regression).
    fn regression_in_parts(&mut self, logs: &RidgeStatistic, together: &Blocks) -> Result<Logs> {
        let mut logged = Sums::new(logs, (together, Rows::Any), &self.units, (0.0, 0.0));
        self.evidence = self.told(|| logged.evidence());
        if logged.count > 0.0 && self.heaviest.is_none() && self.told.noise.is_none() {
            self.variance = self.evidence.variance;
        }
        let Evidence { variance, scale } = self.evidence;
        let grams = std::mem::take(&mut logged.grams);
        let found = Regression::new(&logged, grams, variance, scale)?;
        let dimension = logs.dimension();
        let (mut estimate, mut variances) = (Vector::zeros(dimension), vec![0.0; dimension]);
        for (place, part) in logged.parts.iter().enumerate() {
            let marginal = found.marginal(place);
            for (i, &column) in part.columns.iter().enumerate() {
                estimate[column] = found.mean[place][i];
                variances[column] = marginal[(i, i)];
            }
        }
        Ok(Logs {
            log_det: found.growth - dimension as f64 * scale.ln(),
            estimate,
            variances,
            level: logged.level(&found.mean),
            spread: (logged.squares / logged.free().max(1.0)).sqrt(),
        })
    }

    fn fit_parts(
        &mut self,
        together: &Blocks,
        (known, logged, logs): (&Logs, &Sums, &RidgeStatistic),
        data: &RidgeStatistic,
    ) -> Result<(Parted, Parted)> {
        let Evidence { variance: logged_variance, scale } = self.evidence;
        let width = (LEVEL * known.spread).powi(2);
        let ratio = if width > 0.0 { self.variance / width } else { 0.0 };
        let live = Sums::new(data, (together, Rows::Any), &self.units, (known.level, ratio));
        let (arrow, unmoved) =
            Arrow::new((logged, logged_variance, known), (&live, self.variance), scale, ratio)?;
        let unit = scale.sqrt();
        let anew: Vec<f64> = known.estimate.iter().map(|value| -value / unit).chain([0.0]).collect();
        let drifted = Models::new(&arrow, &anew, self.past()).average(self.heaviest.as_ref())?;
        let alone = Regression::new(&live, live.grams.clone(), self.variance, scale)?;
        let evidence = alone.log_evidence - unmoved;
        self.void = (1.0 + (1.0 - VOID) / VOID * (drifted.log_evidence - evidence).exp()).recip();
        let (void, holds, dimension) = (self.void, 1.0 - self.void, known.estimate.len());
        let mut belief = Parted::of(together.clone());
        // What parts have in common, as far as it is kept: the border, whether the logs are void, and the level if they are.
        let mut shared = vec![vec![0.0; dimension]; BORDER + 2];
        let mut common = Matrix::zeros(BORDER + 2, BORDER + 2);
        let mixed = &drifted.mixed;
        common.view_mut((0, 0), (BORDER, BORDER)).copy_from(&(mixed.heaviest_border() * holds));
        common[(BORDER, BORDER)] = holds * void;
        common[(BORDER + 1, BORDER + 1)] = void * alone.level;
        let (mut means, mut apart_along, mut fitted, mut used) = (Vec::new(), 0.0, 0.0, 0.0);
        let units = |columns: &[usize]| Vector::from_fn(columns.len(), |i, _| self.units.known(columns[i]));
        for (place, part) in live.parts.iter().enumerate() {
            let (informed, covariance, through) = arrow.informed(place, mixed);
            let apart = &informed - &alone.mean[place];
            let mean = informed * holds + &alone.mean[place] * void;
            let mut covariance = covariance * holds + alone.marginal(place) * void;
            covariance.ger(holds * void, &apart, &apart, 1.0);
            apart_along += apart.dot(&part.sums);
            fitted += mean.dot(&(live.whole(place) * &mean)) - 2.0 * mean.dot(&live.moment(part));
            used += live.whole(place).component_mul(&covariance).sum();
            let units = units(&part.columns);
            let mut along = through.resize_horizontally(BORDER + 2, 0.0);
            along.set_column(BORDER, &apart);
            along.set_column(BORDER + 1, &alone.moved[place]);
            for (i, &column) in part.columns.iter().enumerate() {
                shared
                    .iter_mut()
                    .enumerate()
                    .for_each(|(k, shared)| shared[column] = along[(i, k)] / units[i]);
                self.kept[column] = holds * drifted.kept[column] * drifted.kept[dimension];
                let spread = covariance[(i, i)] + known.variances[column];
                self.drift[column] =
                    ((mean[i] - known.estimate[column]) / units[i], spread.sqrt() / units[i]);
                belief.mean[column] = mean[i] / units[i];
            }
            set(&mut belief.inverse, part, &(covariance - &along * &common * along.transpose()), &units);
            means.push(mean);
        }
        self.levels = [live.level(&means), live.level(&alone.mean)];
        self.heaviest = Some(drifted.heaviest.clone());
        if self.told.noise.is_none() {
            let sums: Vec<&Vector> = live.parts.iter().map(|part| &part.sums).collect();
            let moved: f64 = sums.iter().zip(&alone.moved).map(|(sums, moved)| sums.dot(moved)).sum();
            let own: f64 =
                (0..sums.len()).map(|p| sums[p].dot(&(alone.covariance[p].matrix() * sums[p]))).sum();
            let along = holds * arrow.variance(&sums, mixed)
                + void * (own + alone.level * moved * moved)
                + holds * void * apart_along * apart_along;
            let level: f64 = sums.iter().zip(&means).map(|(sums, mean)| sums.dot(mean)).sum();
            let residual = (live.squares + fitted - live.share * level * level).max(0.0);
            let used = (used - live.share * along) / self.variance;
            self.set_noise((live.count, live.free()), residual, used, logs.weight());
        }
        let said = |j: usize| logs.squares(j) / logged_variance + data.squares(j) / self.variance;
        self.news = News::new(&self.units, scale, said);
        belief.inverse = belief.inverse.times(self.variance.recip());
        let mut belief = belief.with_common(shared, (common / self.variance).as_slice().to_vec());
        belief.limit(|_| NO_LIMIT);
        Ok((belief, self.parted(together, &live, &alone, 1.0)))
    }

    /// A regression in the users' units, over σ².
    fn parted(&self, together: &Blocks, data: &Sums, found: &Regression, wider: f64) -> Parted {
        let mut known = Parted::of(together.clone());
        let mut shared = vec![0.0; together.dimension()];
        known.log_det_growth = found.growth;
        for (place, part) in data.parts.iter().enumerate() {
            let units = Vector::from_fn(part.columns.len(), |i, _| self.units.known(part.columns[i]));
            for (i, &column) in part.columns.iter().enumerate() {
                known.mean[column] = found.mean[place][i] / units[i];
                shared[column] = -found.moved[place][i] / units[i];
            }
            let own = known.inverse.place(part.columns[0]).0;
            found.covariance[place].write(known.inverse.part_mut(own), &units, wider / self.variance);
        }
        let mut known = known.with_common(vec![shared], vec![found.level * wider / self.variance]);
        // The covariance is no wider than the prior.
        let prior = self.evidence.scale * wider / self.variance;
        known.limit(|column| prior / self.units.known(column).powi(2));
        known
    }

    /// Logs that would leave what is known, as [`imagined`](Self::imagined) makes them; what parts have in common is lost.
    pub(crate) fn imagined_parts(
        &self,
        weight: f64,
        known: &Parted,
        mean: &Vector,
    ) -> Result<RidgeStatistic> {
        let ridge = self.variance / self.evidence.scale;
        let mut gram = known.inverse.clone();
        let (mut moments, mut used, mut squares) = (vec![0.0; mean.len()], 0.0, 0.0);
        for part in gram.parts_mut() {
            let columns: Vec<usize> = part.columns().collect();
            let units = Vector::from_fn(columns.len(), |i, _| self.units.known(columns[i]));
            let along = |i: usize| known.shared.iter().map(|shared| shared[columns[i]]).collect::<Vec<f64>>();
            let along: Vec<Vec<f64>> = (0..columns.len()).map(along).collect();
            let own = part.to_matrix();
            let inverse = Matrix::from_fn(columns.len(), columns.len(), |i, j| {
                own[(i, j)] + known.shared_product(&along[i], &along[j])
            });
            let inverse =
                Matrix::from_fn(columns.len(), columns.len(), |i, j| inverse[(i, j)] * units[i] * units[j]);
            let mean = Vector::from_fn(columns.len(), |i, _| mean[columns[i]] * units[i]);
            let imagined = super::Imagined::new(&inverse, &mean, ridge)?;
            used += imagined.used;
            squares += imagined.explained;
            columns
                .iter()
                .enumerate()
                .for_each(|(i, &column)| moments[column] = imagined.moment[i] * units[i]);
            part.set(&Matrix::from_fn(columns.len(), columns.len(), |i, j| {
                imagined.gram[(i, j)] * units[i] * units[j]
            }));
        }
        let squares = squares + (weight - used).max(1.0) * self.variance;
        let unit = |j: usize| self.units.known(j);
        Ok(RidgeStatistic::of_parts(weight, (gram, moments), (self.levels[0], squares), unit))
    }

    /// What the logs know of each coefficient, in observations of it alone of size 1.
    pub(crate) fn coverage(&self, logs: &RidgeStatistic) -> Result<Vec<f64>> {
        let mut coverage = vec![0.0; logs.dimension()];
        let Some(blocks) = logs.blocks().filter(|_| logs.weight() > 0.0) else { return Ok(coverage) };
        let mut logged = Sums::new(logs, (blocks, Rows::Any), &self.units, (0.0, 0.0));
        let Evidence { variance, scale } = self.evidence;
        let grams = std::mem::take(&mut logged.grams);
        let found = Regression::new(&logged, grams, variance, scale)?;
        for (place, part) in logged.parts.iter().enumerate() {
            let covariance = found.marginal(place);
            for (i, &column) in part.columns.iter().enumerate() {
                let known = variance * (covariance[(i, i)].recip() - scale.recip());
                coverage[column] = (known * self.units.known(column).powi(2)).max(0.0);
            }
        }
        Ok(coverage)
    }
}

/// Puts a part's matrix, in units, into its place in the users' units.
fn set(blocks: &mut Blocks, part: &PartSums, matrix: &Matrix, units: &Vector) {
    let place = blocks.place(part.columns[0]).0;
    let side = part.columns.len();
    blocks.part_mut(place).set(&Matrix::from_fn(side, side, |i, j| matrix[(i, j)] / units[i] / units[j]));
}
