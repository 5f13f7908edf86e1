//! Plays a policy by name against recorded rounds from a file and says how long that took: our side of `bench/peers`.
//!
//! ```text
//! cargo run --release -p truenorth --example peers -- ROUNDS.bin lin-ucb 3.0 [ROUNDS]
//! ```
//!
//! File, preset, seconds to spend, and rounds to play if not as many as are recorded; more are played by starting
//! over in the file. The file holds little-endian numbers of 64 bits. Four integers count rounds, actions, features and
//! logged rows; floats follow: the features of all rounds, their rewards, the logged features, their rewards.
//!
//! After a short warm-up, a new policy plays blocks of rounds; if there is time left, other new ones repeat that. One
//! JSON object goes to stdout: rounds a block, seconds of each block, blocks of one repetition, the actions of the
//! first, bytes of resident memory that the policy took.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::ops::Range;
use std::time::{Duration, Instant};

use truenorth::{Actions, Certificate, Policy, Preset, RidgeStatistic, Settings};

/// Rounds of the warm-up, and least number of timed ones.
const FEW: usize = 5;
/// Blocks of a repetition, at least, if there are so many rounds.
const BLOCKS: usize = 20;
/// Repetitions, at most.
const REPETITIONS: usize = 5;

type Failure = Box<dyn std::error::Error>;

/// What the file holds, but for the logs.
struct Rounds {
    count: usize,
    actions: usize,
    dimension: usize,
    features: Vec<f64>,
    rewards: Vec<f64>,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |name| arguments.next().ok_or(format!("{name} is missing"));
    let (file, preset, budget) = (next("FILE")?, next("PRESET")?.parse::<Preset>()?, next("SECONDS")?);
    let budget = Duration::from_secs_f64(budget.parse()?);
    let length = next("ROUNDS").ok().map(|text| text.parse::<usize>()).transpose()?;

    let (recorded, logs) = read(&file)?;
    let length = length.unwrap_or(recorded.count);
    let few = FEW.min(length);
    let settings = settings(preset, recorded.dimension, length as u64, logs)?;
    // Writing 5 resets the peak.
    let before = fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| resident("VmRSS:"));
    let mut actions = Vec::new();
    let warm_up = recorded.play(&mut settings.clone().build()?, 0..few, &mut actions)?;
    let wanted = budget.as_nanos() / 50 * few as u128 / warm_up.as_nanos().max(1);
    let block = usize::try_from(wanted)?.clamp(1, length.div_ceil(BLOCKS));
    let blocks = length / block;
    actions.clear();

    let mut policy = settings.clone().build()?;
    let mut times = vec![recorded.play(&mut policy, 0..block, &mut actions)?];
    let is_left = |times: &[Duration]| times.iter().sum::<Duration>() < budget || times.len() * block < few;
    while times.len() < REPETITIONS * blocks && is_left(&times) {
        let place = times.len() % blocks;
        if place == 0 {
            drop(policy);
            policy = settings.clone().build()?;
        }
        times.push(recorded.play(&mut policy, place * block..(place + 1) * block, &mut actions)?);
    }
    let memory = before.and_then(|before| resident("VmHWM:").map(|peak| peak.saturating_sub(before)));
    actions.truncate(blocks * block);
    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    let answer = serde_json::json!({
        "block": block, "blocks_each": blocks, "seconds": seconds, "actions": actions, "memory": memory,
    });
    println!("{answer}");
    Ok(())
}

impl Rounds {
    /// Plays rounds, counted beyond the last recorded one from the first again. Returns the time it took.
    fn play(
        &self,
        policy: &mut Policy,
        rounds: Range<usize>,
        played: &mut Vec<usize>,
    ) -> Result<Duration, Failure> {
        let size = self.actions * self.dimension;
        let clock = Instant::now();
        for round in rounds.map(|number| number % self.count) {
            let actions = Actions::new(&self.features[round * size..][..size], self.dimension)?;
            let choice = policy.choose(actions)?;
            let reward = self.rewards[round * self.actions + choice.action];
            policy.learn(choice.rewarded(actions, reward))?;
            played.push(choice.action);
        }
        Ok(clock.elapsed())
    }
}

/// The preset, told the noise and the length of the coefficients. Logs go to those that use them; where a certificate
/// has to be given, a drift of length 0.5 in any direction is allowed.
fn settings(
    preset: Preset,
    dimension: usize,
    horizon: u64,
    logs: RidgeStatistic,
) -> truenorth::Result<Settings> {
    let mut settings = Policy::builder(dimension).preset(preset).noise(0.1).norm_bound(1.0).horizon(horizon);
    if !matches!(preset, Preset::LinUcb | Preset::Oful | Preset::SupLinUcb) {
        settings = settings.logs(logs);
    }
    if preset == Preset::EllipsoidalMinUcb {
        settings = settings.certificate(Certificate::isotropic(dimension, 0.5)?);
    }
    Ok(settings)
}

fn read(path: &str) -> Result<(Rounds, RidgeStatistic), Failure> {
    let mut file = BufReader::new(File::open(path)?);
    let mut word = || -> std::io::Result<[u8; 8]> {
        let mut word = [0; 8];
        file.read_exact(&mut word).map(|()| word)
    };
    let mut count = || -> Result<usize, Failure> { Ok(u64::from_le_bytes(word()?).try_into()?) };
    let (count, actions, dimension, logged) = (count()?, count()?, count()?, count()?);
    let mut take = |count: usize| -> std::io::Result<Vec<f64>> {
        (0..count).map(|_| word().map(f64::from_le_bytes)).collect()
    };
    let (features, rewards) = (take(count * actions * dimension)?, take(count * actions)?);
    let mut logs = RidgeStatistic::new(dimension)?;
    let (rows, logged_rewards) = (take(logged * dimension)?, take(logged)?);
    for (row, reward) in rows.chunks_exact(dimension).zip(logged_rewards) {
        logs.observe(row, reward)?;
    }
    Ok((Rounds { count, actions, dimension, features, rewards }, logs))
}

/// Bytes of resident memory: now (`VmRSS:`) or at most (`VmHWM:`), where the system tells.
fn resident(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
