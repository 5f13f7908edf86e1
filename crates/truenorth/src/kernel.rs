//! The inner loops: quadratic forms of many actions, and the rank-one update.
//!
//! They use the widest vectors of the machine they run on (AVX-512, AVX2 with FMA, or none), found once. Sums are
//! split the same way for every width, so that machines with fused multiply-add agree to the last bit, and an
//! action's numbers do not depend on which lane or panel it stands in.

#![expect(clippy::inline_always, reason = "only what is inlined uses the instructions that were found")]
#![expect(clippy::needless_range_loop, reason = "rows and panels are indices of several arrays, unrolled")]

mod forms;
mod panels;
mod rank;
mod update;
mod within;

use std::sync::LazyLock;

use pulp::{Arch, WithSimd};

pub(crate) use forms::{Branches, Measured, Sampled, Scores, Whitened};
pub(crate) use panels::Panels;
pub(crate) use rank::{Contenders, IndexBounds};
pub(crate) use update::{Absorb, AddSquares, Carried};
pub(crate) use within::Within;

/// Runs one of the loops with the widest vectors there are. It is handed over by reference: a value would be copied
/// from where its parts have just been written, and wait for them.
#[inline]
pub(crate) fn run<'a, Loop, Output>(inner: &'a mut Loop) -> Output
where
    &'a mut Loop: WithSimd<Output = Output>,
{
    static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);
    ARCH.dispatch(inner)
}

/// Room in memory that starts at a cache line, so that no vector straddles two.
#[derive(Debug, Clone, Default)]
struct Aligned {
    numbers: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// Numbers of a cache line.
    const LINE: usize = 8;

    /// Makes room for so many numbers, whatever they are.
    fn resize(&mut self, length: usize) {
        if self.numbers.len() < length + Self::LINE {
            self.numbers.resize(length + Self::LINE, 0.0);
        }
        // Where the pointer cannot be aligned, anywhere will do.
        self.start = self.numbers.as_ptr().align_offset(8 * Self::LINE).min(Self::LINE);
        self.length = length;
    }

    fn get(&self) -> &[f64] {
        &self.numbers[self.start..][..self.length]
    }

    fn get_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..][..self.length]
    }
}
