//! Actions side by side.

use pulp::Simd;

use super::Aligned;

/// The features of some actions, transposed: a panel holds as many actions as a vector has lanes, feature by feature,
/// so that every lane computes its own action and no sum is ever split.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panels {
    /// All panels, one after the other.
    pub(super) numbers: Aligned,
    /// Number of actions.
    pub(super) count: usize,
}

impl Panels {
    /// Takes the `rows` of `features` (row-major, `dimension` wide). Lanes to spare repeat the last of them.
    #[inline(always)]
    pub(super) fn gather<S: Simd>(&mut self, simd: S, features: &[f64], dimension: usize, rows: &[usize]) {
        self.count = rows.len();
        self.numbers.resize(rows.len().div_ceil(S::F64_LANES) * S::F64_LANES * dimension);
        let numbers = self.numbers.get_mut();
        #[cfg(target_arch = "x86_64")]
        if let Some(&simd) = <dyn std::any::Any>::downcast_ref::<pulp::x86::V4>(&simd) {
            return wide::gather(simd, features, dimension, rows, numbers);
        }
        match S::F64_LANES {
            8 => gather::<8>(features, dimension, rows, numbers),
            4 => gather::<4>(features, dimension, rows, numbers),
            2 => gather::<2>(features, dimension, rows, numbers),
            _ => gather::<1>(features, dimension, rows, numbers),
        }
    }
}

#[inline(always)]
fn gather<const LANES: usize>(features: &[f64], dimension: usize, rows: &[usize], numbers: &mut [f64]) {
    let Some(&last) = rows.last() else { return };
    for (group, panel) in rows.chunks(LANES).zip(numbers.chunks_exact_mut(LANES * dimension)) {
        let actions: [&[f64]; LANES] = std::array::from_fn(|lane| {
            let row = group.get(lane).copied().unwrap_or(last);
            &features[row * dimension..][..dimension]
        });
        for (i, lanes) in panel.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(dimension) {
            *lanes = actions.map(|action| action[i]);
        }
    }
}

/// The same for vectors of eight, where the compiler would gather numbers one by one.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::__m512d;

    use pulp::x86::V4;
    use pulp::{Simd as _, cast};

    #[inline(always)]
    pub(super) fn gather(simd: V4, features: &[f64], dimension: usize, rows: &[usize], numbers: &mut [f64]) {
        let Some(&last) = rows.last() else { return };
        for (group, panel) in rows.chunks(8).zip(numbers.chunks_exact_mut(8 * dimension)) {
            let starts: [usize; 8] = match group.first_chunk::<8>() {
                Some(rows) => rows.map(|row| row * dimension),
                None => std::array::from_fn(|lane| group.get(lane).copied().unwrap_or(last) * dimension),
            };
            let columns = panel.as_chunks_mut::<8>().0;
            let mut first = 0;
            while first < dimension {
                // The last block of eight features may overlap the one before.
                let at = if first + 8 > dimension { dimension.saturating_sub(8) } else { first };
                // A loop, as `map` of so many numbers is a call, and copies them.
                let mut rows = [cast(simd.splat_f64s(0.0)); 8];
                for (row, start) in rows.iter_mut().zip(starts) {
                    *row = load(simd, features, start + at);
                }
                for (column, values) in columns[at..].iter_mut().zip(transpose(simd, rows)) {
                    *column = cast(values);
                }
                first += 8;
            }
        }
    }

    /// Eight numbers from `at` on; what is beyond the last of all is anything.
    #[inline(always)]
    fn load(simd: V4, features: &[f64], at: usize) -> __m512d {
        if let Some(numbers) = features[at..].first_chunk::<8>() {
            return cast(*numbers);
        }
        match features.last_chunk::<8>() {
            Some(numbers) => cast(simd.rotate_left_f64s(cast(*numbers), at + 8 - features.len())),
            None => cast(simd.partial_load_f64s(&features[at..])),
        }
    }

    #[inline(always)]
    fn transpose(simd: V4, rows: [__m512d; 8]) -> [__m512d; 8] {
        const LOW: i32 = 0b10_00_10_00;
        const HIGH: i32 = 0b11_01_11_01;
        let simd = simd.avx512f;
        let low: [__m512d; 4] =
            std::array::from_fn(|i| simd._mm512_unpacklo_pd(rows[2 * i], rows[2 * i + 1]));
        let high: [__m512d; 4] =
            std::array::from_fn(|i| simd._mm512_unpackhi_pd(rows[2 * i], rows[2 * i + 1]));
        // Every other pair of a pair of rows, twice.
        let quarter = |pairs: [__m512d; 4]| {
            let even = [0, 2].map(|i| simd._mm512_shuffle_f64x2::<LOW>(pairs[i], pairs[i + 1]));
            let odd = [0, 2].map(|i| simd._mm512_shuffle_f64x2::<HIGH>(pairs[i], pairs[i + 1]));
            let [first, third] = [even, odd].map(|[a, b]| simd._mm512_shuffle_f64x2::<LOW>(a, b));
            let [fifth, seventh] = [even, odd].map(|[a, b]| simd._mm512_shuffle_f64x2::<HIGH>(a, b));
            [first, third, fifth, seventh]
        };
        let ([a, c, e, g], [b, d, f, h]) = (quarter(low), quarter(high));
        [a, b, c, d, e, f, g, h]
    }
}
