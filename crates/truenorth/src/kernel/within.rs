//! Whether numbers are usable, before anything is computed from them.

use pulp::{Simd, WithSimd};

/// Whether all numbers are at most `limit` in size; none of them is where one is no number.
pub(crate) struct Within<'a> {
    pub(crate) numbers: &'a [f64],
    pub(crate) limit: f64,
}

impl WithSimd for &mut Within<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let (vectors, rest) = S::as_simd_f64s(self.numbers);
        let limit = simd.splat_f64s(self.limit);
        let within = |numbers| simd.less_than_or_equal_f64s(simd.abs_f64s(numbers), limit);
        let mut all = within(limit);
        for &numbers in vectors {
            all = simd.and_m64s(all, within(numbers));
        }
        simd.first_true_m64s(simd.not_m64s(all)) == S::F64_LANES
            && rest.iter().all(|number| number.abs() <= self.limit)
    }
}

/// Whether every number but the first is so much larger than that before it.
pub(crate) struct Follow<'a> {
    pub(crate) numbers: &'a [usize],
    pub(crate) step: usize,
}

impl WithSimd for &mut Follow<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let after = &self.numbers[1.min(self.numbers.len())..];
        let mut differ = 0;
        // Without a branch for each, here and below, so that the compiler makes vectors of them.
        for (before, after) in self.numbers.iter().zip(after) {
            differ |= before.wrapping_add(self.step) ^ after;
        }
        differ == 0
    }
}

/// How often a number is not larger than the one before it.
pub(crate) struct Falls<'a> {
    pub(crate) numbers: &'a [usize],
}

impl WithSimd for &mut Falls<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let after = &self.numbers[1.min(self.numbers.len())..];
        let mut falls = 0;
        for (before, after) in self.numbers.iter().zip(after) {
            falls += usize::from(before >= after);
        }
        falls
    }
}

/// Whether numbers repeat, bit for bit, after so many.
pub(crate) struct Repeat<'a> {
    pub(crate) numbers: &'a [f64],
    pub(crate) period: usize,
}

impl WithSimd for &mut Repeat<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let after = &self.numbers[self.period.min(self.numbers.len())..];
        let mut differ = 0;
        for (before, after) in self.numbers.iter().zip(after) {
            differ |= before.to_bits() ^ after.to_bits();
        }
        differ == 0
    }
}
