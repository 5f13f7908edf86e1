//! The inner loops: quadratic forms of many actions, and the rank-one update.
//!
//! Actions are handled eight at a time, feature by feature (`Block`): every loop runs over lanes, so
//! the compiler vectorises it without reassociating a sum, and an action's numbers do not depend on
//! which lane or block it stands in. The tail of the last block is padded with zeros.

use crate::lower::Lower;

/// Actions handled side by side.
pub(crate) const LANES: usize = 8;

/// One number for each of eight actions.
pub(crate) type Block = [f64; LANES];

/// Copies the `rows` of `features` (row-major, `dimension` wide) into blocks of eight actions.
pub(crate) fn gather(features: &[f64], dimension: usize, rows: &[usize], blocks: &mut Vec<Block>) {
    blocks.clear();
    blocks.resize(rows.len().div_ceil(LANES) * dimension, [0.0; LANES]);
    for (group, block) in rows.chunks(LANES).zip(blocks.chunks_exact_mut(dimension)) {
        for (lane, &row) in group.iter().enumerate() {
            for (target, &feature) in block.iter_mut().zip(&features[row * dimension..]) {
                target[lane] = feature;
            }
        }
    }
}

/// `zᵀv` of eight whitened actions.
pub(crate) fn project(whitened_estimate: &[f64], whitened: &[Block]) -> Block {
    let mut means = [0.0; LANES];
    for (&weight, values) in whitened_estimate.iter().zip(whitened) {
        add_scaled(&mut means, weight, values);
    }
    means
}

/// `v = L x` of eight actions; returns `‖v‖²`, the quadratic form of `LᵀL`. d² flops an action.
pub(crate) fn whiten(factor: &Lower, block: &[Block], whitened: &mut [Block]) -> Block {
    let mut squares = [0.0; LANES];
    for (j, whitened) in whitened.iter_mut().enumerate() {
        let mut sum = [0.0; LANES];
        for (&entry, features) in factor.row(j).iter().zip(block) {
            add_scaled(&mut sum, entry, features);
        }
        add_squares(&mut squares, &sum);
        *whitened = sum;
    }
    squares
}

/// `‖F v‖²` of eight whitened actions, given the lower triangular `Fᵀ`. d² flops an action.
pub(crate) fn route(transposed: &Lower, whitened: &[Block], routed: &mut [Block]) -> Block {
    routed.fill([0.0; LANES]);
    for (j, value) in whitened.iter().enumerate() {
        for (&entry, sum) in transposed.row(j).iter().zip(&mut *routed) {
            add_scaled(sum, entry, value);
        }
    }
    let mut squares = [0.0; LANES];
    for value in &*routed {
        add_squares(&mut squares, value);
    }
    squares
}

fn add_scaled(sum: &mut Block, factor: f64, values: &Block) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += factor * value;
    }
}

fn add_squares(sum: &mut Block, values: &Block) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += value * value;
    }
}

/// Inner product with the first entries of `right`, summed in four interleaved parts.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut parts = [0.0; 4];
    let right = &right[..left.len()];
    let (left_chunks, right_chunks) = (left.chunks_exact(4), right.chunks_exact(4));
    let rest: f64 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left_chunks.zip(right_chunks) {
        for (part, (a, b)) in parts.iter_mut().zip(a.iter().zip(b)) {
            *part += a * b;
        }
    }
    (parts[0] + parts[2]) + (parts[1] + parts[3]) + rest
}

/// One column of the upper triangular matrix K with `KKᵀ = I - vvᵀ/(1 + ‖v‖²)`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Column {
    /// `v_j`.
    pub(crate) whitened: f64,
    /// `K_jj`.
    scale: f64,
    /// `-K_ij / v_i` for `i < j`.
    mix: f64,
}

/// Fills in K from the whitened feature vector; returns `‖v‖²`.
///
/// ```text
/// α_0 = 1,  α_j = α_{j-1} + v_j²,   K_jj = √(α_{j-1}/α_j),   K_ij = -v_i v_j / √(α_{j-1} α_j)
/// ```
pub(crate) fn columns(columns: &mut [Column]) -> f64 {
    let (mut alpha, mut squares) = (1.0, 0.0);
    for column in columns {
        let square = column.whitened * column.whitened;
        let next = alpha + square;
        column.scale = f64::sqrt(alpha / next);
        column.mix = column.scale * (column.whitened / alpha);
        alpha = next;
        squares += square;
    }
    squares
}

/// Replaces `X` by `X K`, where `triangle` holds `Xᵀ`. 2d² flops in one pass over memory.
pub(crate) fn multiply(triangle: &mut Lower, columns: &[Column], carried: &mut [f64]) {
    carried.fill(0.0); // Σ v_i X_i over the columns passed so far
    let mut rest = triangle.entries_mut();
    for (j, column) in columns.iter().enumerate() {
        let (row, below) = rest.split_at_mut(j + 1);
        for (entry, carried) in row.iter_mut().zip(&mut *carried) {
            let old = *entry;
            *entry = column.scale * old - column.mix * *carried;
            *carried += column.whitened * old;
        }
        rest = below;
    }
}

/// Replaces `z` by `Kᵀ(z + reward · v)`.
pub(crate) fn multiply_vector(vector: &mut [f64], columns: &[Column], reward: f64) {
    let mut carried = 0.0;
    for (entry, column) in vector.iter_mut().zip(columns) {
        let moved = *entry + reward * column.whitened;
        *entry = column.scale * moved - column.mix * carried;
        carried += column.whitened * moved;
    }
}
