//! Products of tall matrices, and elimination: the steps of a fit, straight from where the matrices lie in memory.
//!
//! Matrices lie column after column. Of `left rightᵀ`, a tile of some rows and eight columns stays in registers, while the columns of
//! both factors pass by. Every entry is a sum over the same terms in the same order, whatever the width of a vector is: a lane has its
//! own row.

use pulp::{Simd, WithSimd};

use crate::triangle::{Line, SIDE};

/// Vectors of a tile's column, where registers are many.
const VECTORS: usize = 3;
/// Rows of a panel.
const HEIGHT: usize = VECTORS * SIDE;
/// Panels of the left factor that are gone through together: they stay in the second cache.
const PANELS: usize = 10;

/// Rows of a matrix whose columns are so far apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tall<'a> {
    pub(crate) numbers: &'a [f64],
    pub(crate) across: usize,
    pub(crate) rows: usize,
    /// Whether it is known to be 0 below its diagonal.
    pub(crate) upper: bool,
}

impl Tall<'_> {
    /// The first term that is not 0 in the rows from this one on.
    #[inline(always)]
    fn first(&self, row: usize) -> usize {
        if self.upper { row } else { 0 }
    }
}

/// Adds `factor · left rightᵀ`, of so many columns, to a matrix.
pub(crate) struct AddProducts<'a> {
    pub(crate) left: Tall<'a>,
    pub(crate) right: Tall<'a>,
    pub(crate) terms: usize,
    pub(crate) factor: f64,
    pub(crate) to: &'a mut [f64],
    pub(crate) across: usize,
    /// Whether nothing above the diagonal is asked for.
    pub(crate) half: bool,
    pub(crate) room: &'a mut Packed,
}

/// Room for rows of both factors.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// Panels of 24 rows, one after the other.
    left: Vec<Panel>,
    /// Eight rows.
    right: Vec<Line>,
}

/// A column of a panel.
type Panel = [Line; VECTORS];

impl WithSimd for &mut AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddProducts { left, right, terms, factor, to, across, half, room } = self;
        let (left, right, factor) = (*left, *right, simd.splat_f64s(*factor));
        for top in (0..left.rows).step_by(PANELS * HEIGHT) {
            let bottom = (top + PANELS * HEIGHT).min(left.rows);
            let start = left.first(top).min(*terms);
            pack_panels(left, (top, bottom), (start, *terms), &mut room.left);
            let beside = if *half { bottom.min(right.rows) } else { right.rows };
            for j in (0..beside).step_by(SIDE) {
                let first = right.first(j).clamp(start, *terms);
                pack(right, j, first, *terms, &mut room.right);
                for i in (top..bottom).step_by(HEIGHT) {
                    let (rows, from) = (HEIGHT.min(bottom - i), left.first(i).clamp(first, *terms));
                    if from == *terms || *half && i + rows <= j {
                        continue;
                    }
                    let panel =
                        &room.left[(i - top) / HEIGHT * (*terms - start)..][from - start..*terms - start];
                    let lines = &room.right[from - first..*terms - first];
                    let wide = SIDE.min(right.rows - j);
                    let mut tile =
                        Tile { to: &mut to[j * *across + i..], across: *across, rows, wide, factor };
                    if S::F64_LANES == SIDE && rows > 2 * SIDE {
                        tile.add::<S, VECTORS>(simd, panel, lines, 0);
                    } else {
                        for vector in 0..rows.div_ceil(S::F64_LANES) {
                            tile.add::<S, 1>(simd, panel, lines, vector);
                        }
                    }
                }
            }
        }
    }
}

/// Copies rows to panels, with zeros below the last.
#[inline(always)]
fn pack_panels(from: Tall<'_>, rows: (usize, usize), terms: (usize, usize), to: &mut Vec<Panel>) {
    let length = terms.1 - terms.0;
    let needed = (rows.1 - rows.0).div_ceil(HEIGHT) * length;
    if to.len() < needed {
        to.resize(needed, Panel::default());
    }
    if length == 0 {
        return;
    }
    for (i, to) in (rows.0..rows.1).step_by(HEIGHT).zip(to.chunks_exact_mut(length)) {
        let there = HEIGHT.min(rows.1 - i);
        let columns = from.numbers[terms.0 * from.across + i..].chunks(from.across);
        for (panel, column) in to.iter_mut().zip(columns) {
            let (whole, rest) = column[..there].as_chunks::<SIDE>();
            for (Line(to), from) in panel.iter_mut().zip(whole) {
                *to = *from;
            }
            for Line(to) in &mut panel[whole.len()..] {
                *to = [0.0; SIDE];
            }
            if let Some(Line(to)) = panel.get_mut(whole.len()) {
                to[..rest.len()].copy_from_slice(rest);
            }
        }
    }
}

/// Copies eight rows, or those that there are, to lines, column after column.
#[inline(always)]
fn pack(from: Tall<'_>, row: usize, first: usize, terms: usize, to: &mut Vec<Line>) {
    let there = SIDE.min(from.rows - row);
    if to.len() < terms - first {
        to.resize(terms - first, Line::default());
    }
    if terms == first {
        return;
    }
    let to = &mut to[..terms - first];
    for (Line(to), column) in to.iter_mut().zip(from.numbers[first * from.across + row..].chunks(from.across))
    {
        if let (SIDE, Some(column)) = (there, column.first_chunk::<SIDE>()) {
            *to = *column;
        } else {
            *to = [0.0; SIDE];
            to[..there].copy_from_slice(&column[..there]);
        }
    }
}

/// Sums of a tile: eight columns of up to three vectors.
type Sums<S> = [[<S as Simd>::f64s; SIDE]; VECTORS];

/// `Σ left rightᵀ` of so many vectors of rows, from these columns on.
#[inline(always)]
fn sums<S: Simd, const N: usize>(simd: S, (left, across): (&[f64], usize), right: &[Line]) -> Sums<S> {
    let [mut first, mut second, mut third] = [[simd.splat_f64s(0.0); SIDE]; VECTORS];
    for (column, Line(right)) in left.chunks(across).zip(right) {
        let column = S::as_simd_f64s(&column[..N * S::F64_LANES]).0;
        // One array for each vector: a loop in a loop would not be unrolled.
        for j in 0..SIDE {
            let right = simd.splat_f64s(right[j]);
            first[j] = simd.mul_add_e_f64s(column[0], right, first[j]);
            if N > 1 {
                second[j] = simd.mul_add_e_f64s(column[1], right, second[j]);
            }
            if N > 2 {
                third[j] = simd.mul_add_e_f64s(column[2], right, third[j]);
            }
        }
    }
    [first, second, third]
}

/// The same for fewer rows than a vector has lanes.
#[inline(always)]
fn sums_of_rest<S: Simd>(
    simd: S,
    (left, across): (&[f64], usize),
    right: &[Line],
    rows: usize,
) -> [S::f64s; SIDE] {
    let mut sums = [simd.splat_f64s(0.0); SIDE];
    for (column, Line(right)) in left.chunks(across).zip(right) {
        let column = simd.partial_load_f64s(&column[..rows]);
        for j in 0..SIDE {
            sums[j] = simd.mul_add_e_f64s(column, simd.splat_f64s(right[j]), sums[j]);
        }
    }
    sums
}

/// The same of a panel, from one of its vectors on.
#[inline(always)]
fn panel_sums<S: Simd, const N: usize>(simd: S, left: &[Panel], right: &[Line], vector: usize) -> Sums<S> {
    let [mut first, mut second, mut third] = [[simd.splat_f64s(0.0); SIDE]; VECTORS];
    let (line, part) = (vector * S::F64_LANES / SIDE, vector % (SIDE / S::F64_LANES));
    for (panel, Line(right)) in left.iter().zip(right) {
        let own = S::as_simd_f64s(&panel[line].0).0[part];
        for j in 0..SIDE {
            let right = simd.splat_f64s(right[j]);
            first[j] = simd.mul_add_e_f64s(own, right, first[j]);
            if N > 1 {
                second[j] = simd.mul_add_e_f64s(S::as_simd_f64s(&panel[1].0).0[0], right, second[j]);
            }
            if N > 2 {
                third[j] = simd.mul_add_e_f64s(S::as_simd_f64s(&panel[2].0).0[0], right, third[j]);
            }
        }
    }
    [first, second, third]
}

/// Where sums go: so many rows of so many columns.
struct Tile<'a, V> {
    to: &'a mut [f64],
    across: usize,
    rows: usize,
    wide: usize,
    factor: V,
}

impl<V: Copy> Tile<'_, V> {
    #[inline(always)]
    fn add<S: Simd<f64s = V>, const N: usize>(
        &mut self,
        simd: S,
        left: &[Panel],
        right: &[Line],
        vector: usize,
    ) {
        let sums = panel_sums::<S, N>(simd, left, right, vector);
        for j in 0..SIDE {
            if j < self.wide {
                let to = &mut self.to[j * self.across..][vector * S::F64_LANES..self.rows];
                let (whole, rest) = S::as_mut_simd_f64s(to);
                for n in 0..N {
                    if let Some(to) = whole.get_mut(n) {
                        *to = simd.mul_add_e_f64s(self.factor, sums[n][j], *to);
                    } else if n == whole.len() {
                        let sum = simd.mul_add_e_f64s(self.factor, sums[n][j], simd.partial_load_f64s(rest));
                        simd.partial_store_f64s(rest, sum);
                    }
                }
            }
        }
    }
}

/// Replaces the first columns of A, of which the lower half is there, by its Cholesky factor C, and those of other rows B by `BC⁻ᵀ`.
/// Tells whether A has one.
pub(crate) struct Eliminate<'a> {
    /// From the first of these columns' own rows on.
    pub(crate) matrix: &'a mut [f64],
    pub(crate) across: usize,
    /// Rows from there on, and columns.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether the factor is there already.
    pub(crate) known: bool,
    /// B.
    pub(crate) others: &'a mut [Other<'a>],
    pub(crate) room: &'a mut Packed,
}

/// Rows whose columns are so far apart.
pub(crate) struct Other<'a> {
    pub(crate) numbers: &'a mut [f64],
    pub(crate) across: usize,
    pub(crate) rows: usize,
    /// Whether the last of them are those of the identity, one for each of the columns.
    pub(crate) upper: bool,
}

impl WithSimd for &mut Eliminate<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Eliminate { matrix, across, rows, columns, known, others, room } = self;
        let room = &mut room.right;
        for j in (0..*columns).step_by(SIDE) {
            let wide = SIDE.min(*columns - j);
            let own = Tall { numbers: matrix, across: *across, rows: *columns, upper: false };
            pack(own, j, 0, j, room);
            let room = &room[..j];
            let before = if *known { None } else { Some(room) };
            let Some(corner) = Corner::new(simd, (matrix, *across), (j, wide), before) else { return false };
            if !*known {
                corner.eliminate(simd, (matrix, *across), (j + wide, *rows, *rows), j, room);
            }
            for Other { numbers, across, rows, upper } in &mut **others {
                // What is below the diagonal stays 0.
                let whole = if *upper { *rows - *columns } else { *rows };
                let last = if *upper { whole + j + wide } else { whole };
                corner.eliminate(simd, (numbers, *across), (0, last, whole), j, room);
            }
        }
        true
    }
}

/// The factor of eight rows and columns on the diagonal.
struct Corner {
    /// Row after row, what is beside the diagonal.
    entries: [[f64; SIDE]; SIDE],
    /// One over the diagonal.
    scale: [f64; SIDE],
    wide: usize,
}

impl Corner {
    /// Makes it, in its place; nothing where there is none. `before` has its rows of the columns before; without, it is there already.
    #[inline(always)]
    fn new<S: Simd>(
        simd: S,
        (matrix, across): (&mut [f64], usize),
        (first, wide): (usize, usize),
        before: Option<&[Line]>,
    ) -> Option<Self> {
        let (mut entries, mut scale) = ([[0.0; SIDE]; SIDE], [0.0; SIDE]);
        for j in 0..wide {
            for i in j..wide {
                entries[i][j] = matrix[(first + j) * across + first + i];
            }
        }
        let Some(before) = before else {
            for j in 0..wide {
                scale[j] = entries[j][j].recip();
            }
            return Some(Self { entries, scale, wide });
        };
        for Line(column) in before {
            for i in 0..SIDE {
                let factor = simd.splat_f64s(column[i]);
                let (entries, column) = (S::as_mut_simd_f64s(&mut entries[i]).0, S::as_simd_f64s(column).0);
                for (entry, &other) in entries.iter_mut().zip(column) {
                    *entry = simd.negate_mul_add_e_f64s(factor, other, *entry);
                }
            }
        }
        for j in 0..wide {
            let mut pivot = entries[j][j];
            for k in 0..j {
                pivot -= entries[j][k] * entries[j][k];
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            entries[j][j] = pivot.sqrt();
            scale[j] = entries[j][j].recip();
            for i in j + 1..wide {
                let mut entry = entries[i][j];
                for k in 0..j {
                    entry -= entries[i][k] * entries[j][k];
                }
                entries[i][j] = entry * scale[j];
            }
            for i in j..wide {
                matrix[(first + j) * across + first + i] = entries[i][j];
            }
        }
        Some(Self { entries, scale, wide })
    }

    /// Eliminates these columns, from `column` on, from some rows, of which those before are gone. From the row `whole` on, each row
    /// has one more 0 before its first number.
    #[inline(always)]
    fn eliminate<S: Simd>(
        &self,
        simd: S,
        (numbers, across): (&mut [f64], usize),
        (first, last, whole): (usize, usize, usize),
        column: usize,
        right: &[Line],
    ) {
        let (before, to) = numbers.split_at_mut(column * across);
        let mut i = first;
        while i < last {
            let start = i.saturating_sub(whole).min(column);
            let (left, right) =
                ((before.get(start * across + i..).unwrap_or_default(), across), &right[start..]);
            i += match (last - i) / S::F64_LANES {
                0 => {
                    let sums = sums_of_rest(simd, left, right, last - i);
                    self.solve_rest(simd, (to, across), (i, last - i), sums)
                }
                many if many >= VECTORS && S::F64_LANES == SIDE => {
                    let sums = sums::<S, VECTORS>(simd, left, right);
                    self.solve::<S, VECTORS>(simd, (to, across), i, &sums)
                }
                _ => self.solve::<S, 1>(simd, (to, across), i, &sums::<S, 1>(simd, left, right)),
            };
        }
    }

    #[inline(always)]
    fn solve<S: Simd, const N: usize>(
        &self,
        simd: S,
        (to, across): (&mut [f64], usize),
        row: usize,
        sums: &Sums<S>,
    ) -> usize {
        for n in 0..N {
            let mut found = [simd.splat_f64s(0.0); SIDE];
            for j in 0..SIDE {
                if j < self.wide {
                    let to = &mut to[j * across + row + n * S::F64_LANES..][..S::F64_LANES];
                    let to = &mut S::as_mut_simd_f64s(to).0[0];
                    found[j] = self.column(simd, j, simd.sub_f64s(*to, sums[n][j]), &found);
                    *to = found[j];
                }
            }
        }
        N * S::F64_LANES
    }

    #[inline(always)]
    fn solve_rest<S: Simd>(
        &self,
        simd: S,
        (to, across): (&mut [f64], usize),
        (row, rows): (usize, usize),
        sums: [S::f64s; SIDE],
    ) -> usize {
        let mut found = [simd.splat_f64s(0.0); SIDE];
        for j in 0..SIDE {
            if j < self.wide {
                let to = &mut to[j * across + row..][..rows];
                let left = simd.sub_f64s(simd.partial_load_f64s(to), sums[j]);
                found[j] = self.column(simd, j, left, &found);
                simd.partial_store_f64s(to, found[j]);
            }
        }
        rows
    }

    /// One column, given those before.
    #[inline(always)]
    fn column<S: Simd>(&self, simd: S, j: usize, mut left: S::f64s, found: &[S::f64s; SIDE]) -> S::f64s {
        for k in 0..SIDE {
            if k < j {
                left = simd.negate_mul_add_e_f64s(simd.splat_f64s(self.entries[j][k]), found[k], left);
            }
        }
        simd.mul_f64s(left, simd.splat_f64s(self.scale[j]))
    }
}
