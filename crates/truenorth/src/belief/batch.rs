//! Inverses of many matrices, small ones eight at a time.

use crate::dense::{self, Matrix};
use crate::error::Result;
use crate::kernel::{self, InvertLanes, SMALL};
use crate::triangle::SIDE;

/// Replaces symmetric matrices by their inverses; gives the logarithms of their determinants.
pub(super) fn invert(what: &'static str, matrices: &mut [Matrix]) -> Result<Vec<f64>> {
    let mut log_dets = vec![0.0; matrices.len()];
    let mut small = Vec::new();
    for (place, matrix) in matrices.iter_mut().enumerate() {
        if matrix.nrows() <= SMALL {
            small.push((matrix.nrows(), place));
        } else {
            log_dets[place] = invert_one(what, matrix)?;
        }
    }
    small.sort_unstable();
    let mut lanes = Vec::new();
    for alike in small.chunk_by(|a, b| a.0 == b.0) {
        let side = alike[0].0;
        for places in alike.chunks(SIDE) {
            lanes.clear();
            lanes.resize(side * side, [0.0; SIDE]);
            // Where there are fewer, the others are 1.
            (0..side).for_each(|i| lanes[i * side + i] = [1.0; SIDE]);
            for (lane, &(_, place)) in places.iter().enumerate() {
                let entries = matrices[place].as_slice();
                lanes.iter_mut().zip(entries).for_each(|(to, entry)| to[lane] = *entry);
            }
            let found = kernel::run(&mut InvertLanes { side, matrices: &mut lanes });
            for (lane, &(_, place)) in places.iter().enumerate() {
                log_dets[place] = found[lane];
                if !found[lane].is_finite() {
                    log_dets[place] = invert_one(what, &mut matrices[place])?;
                    continue;
                }
                for j in 0..side {
                    for i in j..side {
                        let entry = lanes[j * side + i][lane];
                        matrices[place][(i, j)] = entry;
                        matrices[place][(j, i)] = entry;
                    }
                }
            }
        }
    }
    Ok(log_dets)
}

fn invert_one(what: &'static str, matrix: &mut Matrix) -> Result<f64> {
    let (factor, root) = dense::roots(what, std::mem::take(matrix))?;
    let log_det = dense::log_det_from_factor(&factor);
    drop(factor);
    *matrix = dense::symmetric_product((&root, true), (&root, true));
    Ok(log_det)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_side_by_side_are_those_of_each_and_what_has_none_is_refused() {
        let number = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1009) as f64 / 1009.0 - 0.5;
        let matrix = |side: usize, seed: usize| {
            let root = Matrix::from_fn(side, side, |i, j| number(i + seed, j * seed));
            root.tr_mul(&root) + Matrix::identity(side, side)
        };
        let sides = [1, 21, 3, 21, 40, 8, 21, 21, 21, 21, 21, 21, 21, 21, 32];
        let before: Vec<Matrix> = sides.iter().enumerate().map(|(seed, &side)| matrix(side, seed)).collect();
        let mut inverses = before.clone();
        let log_dets = invert("M", &mut inverses).unwrap();
        for ((matrix, inverse), log_det) in before.iter().zip(&inverses).zip(&log_dets) {
            let unit = matrix * inverse - Matrix::identity(matrix.nrows(), matrix.nrows());
            assert!(unit.amax() < 1e-11, "{}", unit.amax());
            assert!((matrix.determinant().ln() - log_det).abs() < 1e-10);
        }
        let mut wrong = before;
        wrong[3][(4, 4)] = -1.0;
        assert!(invert("M", &mut wrong).unwrap_err().is_singular());
    }
}
