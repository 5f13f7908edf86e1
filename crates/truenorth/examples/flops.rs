//! How near a decision comes to the machine's peak: flops of the quadratic forms against fused multiply-adds in
//! registers, on one core.
//!
//! ```text
//! cargo run --release -p truenorth --example flops
//! ```
//!
//! A form is counted as 2d² flops an action, whatever a program does to spare some of them.

#![expect(clippy::inline_always, reason = "only what is inlined uses the instructions that were found")]

use std::hint::black_box;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Observation, Policy, Preset};

/// Chains of multiply-adds that do not wait for each other.
const CHAINS: usize = 12;

struct Peak(u64);

impl WithSimd for Peak {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (factor, addend) = (simd.splat_f64s(black_box(0.999)), simd.splat_f64s(black_box(0.001)));
        let mut chains = [simd.splat_f64s(black_box(1.0)); CHAINS];
        let start = Instant::now();
        for _ in 0..self.0 {
            for chain in &mut chains {
                *chain = simd.mul_add_e_f64s(*chain, factor, addend);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        black_box(chains.map(|chain| simd.reduce_sum_f64s(chain)));
        (2 * CHAINS * S::F64_LANES) as f64 * self.0 as f64 / seconds / 1e9
    }
}

/// Billions of flops a second in the forms of `choose`, the best of some rounds.
fn rate(dimension: usize, actions: usize) -> Result<f64, truenorth::Error> {
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let settings = Policy::builder(dimension).preset(Preset::LinUcb).noise(0.1).norm_bound(1.0);
    let mut policy = settings.build()?;
    let mut features = vec![0.0; actions * dimension];
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        features.fill_with(|| StandardNormal.sample(&mut rng));
        let actions = Actions::new(&features, dimension)?;
        let start = Instant::now();
        let choice = policy.choose(actions)?;
        best = best.min(start.elapsed().as_secs_f64());
        let features = actions.row(choice.action).values();
        policy.learn(Observation {
            decision: choice.decision,
            features: features.into(),
            reward: features[0],
        })?;
    }
    Ok(2.0 * (actions * dimension * dimension) as f64 / best / 1e9)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The best of some tries, before and after: other work on the machine only ever slows it down.
    let peak = || (0..20).map(|_| Arch::new().dispatch(Peak(200_000))).fold(0.0, f64::max);
    let before = peak();
    let rates = [(20, 50), (100, 100), (100, 1000), (500, 50), (500, 1000)]
        .map(|(dimension, actions)| (dimension, actions, rate(dimension, actions)));
    let peak = before.max(peak());
    println!("peak {peak:.1} GF/s");
    for (dimension, actions, rate) in rates {
        let rate = rate?;
        println!("d = {dimension}, K = {actions}: {rate:.1} GF/s, {:.0} % of the peak", 100.0 * rate / peak);
    }
    Ok(())
}
