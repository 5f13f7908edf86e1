//! A hundred replicas of a bandit that fold one stream, which reaches each of them late: do they agree, and what does it cost?
//!
//! Each round one of them decides, by chance, from the state that it has. What it decided reaches the stream after a delay, so
//! that messages overtake each other, and the stream reaches every replica after another, in its order. In the end all have
//! the same bytes. What staleness costs is the regret beside that of replicas without delays.
//!
//! `cargo run --release -p truenorth-bandit --example replicas [ROUNDS] [SEEDS]`

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus as Dice;
use truenorth::Preset;
use truenorth_bandit::{Bandit, Event, Fact, Parts};

const REPLICAS: usize = 100;
const ACTIONS: usize = 8;
const USERS: usize = 4;
/// Rounds until a reward is known, on average.
const REWARD: f64 = 20.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|it| it.parse()).collect::<Result<_, _>>()?;
    let rounds = arguments.first().copied().unwrap_or(4000);
    let seeds = arguments.get(1).copied().unwrap_or(4);
    println!("{REPLICAS} replicas, {rounds} rounds, {seeds} seeds, {ACTIONS} actions, {USERS} users");
    println!("{:>16} {:>20} {:>16} {:>6}", "delay in rounds", "decisions not known", "regret", "equal");
    for delay in [0.0, 1.0, 10.0, 100.0, 1000.0] {
        let runs: Vec<Run> = (0..seeds).map(|seed| run(rounds, delay, seed)).collect::<Result<_, _>>()?;
        let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / seeds as f64;
        let regret = mean(&|run| run.regret);
        let spread = mean(&|run| (run.regret - regret).powi(2)).sqrt() / (seeds.max(2) as f64 - 1.0).sqrt();
        println!(
            "{delay:>16} {:>20.1} {:>16} {:>6}",
            mean(&|run| run.behind),
            format!("{regret:.1} ± {spread:.1}"),
            if runs.iter().all(|run| run.equal) { "yes" } else { "NO" }
        );
    }
    Ok(())
}

struct Run {
    regret: f64,
    /// How many decisions the one that decided did not know of, on average.
    behind: f64,
    equal: bool,
}

enum Message {
    Decided(Box<Event>, Fact),
    Paid(String, f64),
    Fitted,
}

struct Replica {
    bandit: Bandit,
    folded: usize,
    /// When the next message of the stream is here, once that is drawn, and when the last one was.
    next: Option<f64>,
    last: f64,
    dice: Dice,
}

impl Replica {
    /// Folds what has arrived by now.
    fn follow(
        &mut self,
        stream: &[(f64, Rc<Message>)],
        now: f64,
        delay: f64,
    ) -> truenorth_bandit::Result<()> {
        while let Some((stored, message)) = stream.get(self.folded) {
            let arrives = *self.next.get_or_insert_with(|| stored + later(&mut self.dice, delay));
            if arrives.max(self.last) > now {
                break;
            }
            self.last = self.last.max(arrives);
            self.next = None;
            match &**message {
                Message::Decided(event, fact) => drop(self.bandit.fold(event, fact, self.folded as u64)?),
                Message::Paid(id, reward) => self.bandit.learn(id, *reward)?,
                Message::Fitted => {
                    if let Some(fit) = self.bandit.begin_fit() {
                        self.bandit.finish_fit(fit.run())?;
                    }
                }
            }
            self.folded += 1;
        }
        Ok(())
    }
}

/// An exponential time.
fn later(dice: &mut Dice, mean: f64) -> f64 {
    -mean * (1.0 - dice.random::<f64>()).ln()
}

/// Messages on their way to the stream, and those that it holds, each with its time.
#[derive(Default)]
struct Network {
    flying: BinaryHeap<Reverse<(u64, usize)>>,
    sent: Vec<Rc<Message>>,
    stream: Vec<(f64, Rc<Message>)>,
}

impl Network {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time in millionths of a round"
    )]
    fn send(&mut self, message: Message, at: f64) {
        self.sent.push(Rc::new(message));
        self.flying.push(Reverse(((at * 1e6) as u64, self.sent.len() - 1)));
    }

    /// Stores what has arrived by now; tells whether a fit is among it.
    fn store(&mut self, now: f64) -> bool {
        let mut fitted = false;
        while let Some(&Reverse((at, which))) = self.flying.peek()
            && at as f64 / 1e6 <= now
        {
            self.flying.pop();
            fitted |= matches!(*self.sent[which], Message::Fitted);
            self.stream.push((at as f64 / 1e6, Rc::clone(&self.sent[which])));
        }
        fitted
    }
}

fn run(rounds: u64, delay: f64, seed: u64) -> Result<Run, Box<dyn std::error::Error>> {
    let mut dice = Dice::seed_from_u64(seed);
    let worth: Vec<[f64; USERS]> = (0..ACTIONS).map(|_| std::array::from_fn(|_| dice.random())).collect();
    let replica = |number: usize| -> truenorth_bandit::Result<Replica> {
        let bandit = Bandit::new(Parts::without_logs("item + item:user")?, |policy| {
            policy.preset(Preset::TrueNorth).seed(seed).fits_beside(true)
        })?;
        let dice = Dice::seed_from_u64(seed * 1000 + number as u64 + 1);
        Ok(Replica { bandit, folded: 0, next: None, last: 0.0, dice })
    };
    let mut replicas = (0..REPLICAS).map(replica).collect::<truenorth_bandit::Result<Vec<_>>>()?;
    let mut network = Network::default();
    let (mut regret, mut behind, mut fits) = (0.0, 0.0, false);
    for round in 0..rounds {
        let now = round as f64;
        fits &= !network.store(now);
        let deciding = &mut replicas[dice.random_range(0..REPLICAS)];
        deciding.follow(&network.stream, now, delay)?;
        if deciding.bandit.is_fit_due() && !fits {
            network.send(Message::Fitted, now + later(&mut dice, delay / 10.0));
            fits = true;
        }
        let user = dice.random_range(0..USERS);
        let mut event = Event::default();
        let actions: Vec<String> =
            (0..ACTIONS).map(|item| format!(r#"{{"id":"i{item}","item":"i{item}"}}"#)).collect();
        event
            .read_json(&format!(r#"{{"context":{{"user":"u{user}"}},"actions":[{}]}}"#, actions.join(",")))?;
        event.decision_id = Some(format!("d{round}"));
        let fact = deciding.bandit.decide(&event, None)?;
        behind += (round - deciding.bandit.counts().decisions) as f64;
        let chosen = worth[fact.choice.action][user];
        regret += worth.iter().map(|item| item[user]).fold(f64::MIN, f64::max) - chosen;
        let reward = chosen + dice.random::<f64>() - 0.5;
        let stored = now + later(&mut dice, delay / 10.0);
        network.send(Message::Decided(Box::new(event), fact), stored);
        // Nobody knows of a decision, and can pay for it, before it is stored.
        let paid = stored + later(&mut dice, REWARD) + later(&mut dice, delay / 10.0);
        network.send(Message::Paid(format!("d{round}"), reward), paid);
    }
    network.store(f64::INFINITY);
    let mut states = Vec::new();
    for replica in &mut replicas {
        replica.follow(&network.stream, f64::INFINITY, delay)?;
        states.push(replica.bandit.to_bytes());
    }
    let equal = states.windows(2).all(|pair| pair[0] == pair[1]);
    Ok(Run { regret, behind: behind / rounds as f64, equal })
}
