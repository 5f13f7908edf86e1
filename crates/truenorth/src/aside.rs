//! What live data alone is asked, beside a belief that also rests on logs, and when it decides: in a probe, in a recheck of
//! actions that play has long left alone, and in every round beyond the belief's [`Budget`].

use std::borrow::Cow;
use std::cell::LazyCell;

use rand::RngExt as _;

use crate::belief::{Belief, Budget, Neglect, PRICED, is_recheck};
use crate::branch::{Branch, Radius};
use crate::decide::{Played, Turn};
use crate::explain::PlayRule;
use crate::explore::{self, Dice};
use crate::given::Given;
use crate::later::Later;
use crate::posterior::Posterior;
use crate::round::Toll;
use crate::score::Scoreboard;
use crate::settings::{Explore, Method};

/// Neglect from which on a recheck plays the favourite of live data.
const NEGLECTED: f64 = 4.0;
/// Exploration scale of a recheck.
const RECHECKED: f64 = 0.5;
/// Share of the rounds that sampling leaves to any action that may be the best, at most.
const FLOOR: f64 = 0.05;

/// By which radius live data alone is asked: ‖x‖.
const ASIDE: Radius = Radius { norm: 1.0, bias: 0.0, offline: 0.0 };

/// What becomes of live data alone, where it rests, before a round is decided.
#[derive(Default)]
pub(crate) struct Stirred {
    pub(crate) wakes: bool,
    /// Whether it was asked, so that the board has its word.
    pub(crate) asked: bool,
}

/// What live data alone is asked for in a round.
struct Asks {
    probe: bool,
    /// A probe or a recheck.
    recheck: bool,
    priced: bool,
    /// Rounds that one of them is priced for.
    weight: u64,
}

impl Asks {
    fn any(&self) -> bool {
        self.recheck || self.priced
    }
}

/// What live data alone says of a round.
struct Priced {
    /// The action with the largest upper end.
    safe: usize,
    /// What an action may lose against it, in σ.
    price: f64,
    /// Whether the belief has spent more than it may.
    forced: bool,
}

impl Posterior {
    /// Has live data alone learn from now on.
    pub(crate) fn wake(&mut self) {
        self.alone.iter_mut().for_each(|alone| alone.set_rests(false));
    }

    /// Whether live data alone rests, and is to learn from now on, because it may decide this round: as a probe, beyond the budget, or
    /// in a recheck. With less data than there is an action is more neglected, so that a recheck of none would be none with all of it.
    #[inline]
    pub(crate) fn stirred(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Stirred {
        let Some(alone) = self.alone.as_ref().filter(|alone| alone.rests()) else {
            return Stirred::default();
        };
        if self.overdrawn || self.belief.as_ref().is_some_and(Belief::is_probe) {
            return Stirred { wakes: true, asked: false };
        }
        let neglect = Neglect { rounds: turn.rounds_per_feature(), norm: ASIDE.norm, scale: 1.0 };
        let live = alone.so_far().whole().filter(|_| rechecks(turn.given, turn.round));
        let Some(live) = live else { return Stirred::default() };
        board.all_candidates(turn.actions.count());
        board.score(turn.actions, (false, false), Some((live, ASIDE)), None, Branch::Online);
        let wakes = board.said_aside().1.iter().any(|length| neglect.of(*length) > NEGLECTED);
        Stirred { wakes, asked: true }
    }

    /// Whether a round asks for live data alone, which has not learned all rewards yet; the round is counted in its season and in all.
    #[inline]
    pub(crate) fn is_behind(&self, given: &Given, (round, dice): (u64, u64)) -> bool {
        let asks = || self.asks(given, round, &mut explore::generator(given.settings.seed, dice)).any();
        self.alone.as_ref().is_some_and(Later::is_behind) && (asks_always(given) || asks())
    }

    /// Lets live data alone learn all rewards, if this round asks for it.
    #[inline]
    pub(crate) fn catch_up(&mut self, given: &Given, round: (u64, u64)) {
        if self.is_behind(given, round)
            && let Some(alone) = &mut self.alone
        {
            alone.catch_up();
        }
    }

    /// What a round that takes the largest index asks for live data alone.
    fn asks(&self, given: &Given, round: u64, dice: &mut Dice) -> Asks {
        let probe = self.alone.is_some() && self.belief.as_ref().is_some_and(Belief::is_probe);
        // One that rests has been asked whether an action is neglected.
        let recheck =
            probe || self.alone.as_ref().is_some_and(|alone| !alone.rests()) && rechecks(given, round);
        let weight = if self.overdrawn { 1 } else { PRICED };
        Asks { probe, recheck, weight, priced: dice.random_range(0..weight) == 0 }
    }

    /// The largest index of the belief, or what live data alone is asked for: a probe, a recheck, a round beyond the
    /// budget.
    pub(crate) fn choose_believed(&self, turn: Turn<'_>, dice: &mut Dice, board: &mut Scoreboard) -> Played {
        let Asks { probe, recheck, priced, weight } = self.asks(turn.given, turn.round, dice);
        self.score(turn, recheck || priced, board);
        let position = board.largest_index().unwrap_or(0);
        if recheck || priced {
            self.ask_live(turn, board);
        }
        let asked = if recheck { self.live_favourite(turn, probe, board) } else { None };
        let mut played = match asked {
            Some(favourite) => Played::at(favourite, PlayRule::LiveFavourite),
            None => Played::at(position, PlayRule::LargestIndex),
        };
        played.toll.probe = probe;
        if priced {
            let Priced { safe, price, forced } = self.price(turn, played.position, board);
            if forced {
                played = Played::at(safe, PlayRule::Forced);
            }
            let price = if forced { 0.0 } else { weight as f64 * price };
            played.toll = Toll { price, priced: true, forced, probe };
        }
        played
    }

    /// The favourite of a draw, or sometimes any action that live data has not ruled out.
    pub(crate) fn sample_believed(
        &self,
        turn: Turn<'_>,
        drawn: usize,
        dice: &mut Dice,
        board: &mut Scoreboard,
    ) -> Played {
        let floor = FLOOR.min(turn.rounds_per_feature().recip().sqrt());
        self.ask_live(turn, board);
        let Priced { safe, price, forced } = self.price(turn, drawn, board);
        let Scoreboard { possible, draws, .. } = board;
        let (favourite, rule) = if forced { (safe, PlayRule::Forced) } else { (drawn, PlayRule::Sampled) };
        let any = dice.random::<f64>() < floor;
        let position = if any { possible[dice.random_range(0..possible.len())] } else { favourite };
        let share = if forced { f64::from(u8::from(position == safe)) } else { draws.share(position) };
        let chance = if possible.contains(&position) { (possible.len() as f64).recip() } else { 0.0 };
        let propensity = (1.0 - floor) * share + floor * chance;
        let price = if forced { 0.0 } else { price };
        // Not kept, as every round is priced.
        let toll = Toll { price, forced, ..Toll::default() };
        Played { propensity, toll, ..Played::at(position, rule) }
    }

    /// Asks live data alone for means and ‖x‖ of the actions that were scored last, unless that was done.
    fn ask_live(&self, turn: Turn<'_>, board: &mut Scoreboard) {
        if !turn.asked {
            let live = self.alone.as_ref().map_or(Cow::Borrowed(&self.known), Later::known);
            board.aside(turn.actions, &live, ASIDE);
        }
    }

    /// The action that live data alone would play, once it was asked; in a recheck only if it is neglected.
    fn live_favourite(&self, turn: Turn<'_>, probe: bool, board: &Scoreboard) -> Option<usize> {
        let scale = if probe { turn.given.settings.exploration_scale } else { RECHECKED };
        let norm = scale * self.noise(turn.given);
        let neglect = Neglect { rounds: turn.rounds_per_feature(), norm, scale };
        let mut favourite: Option<(usize, f64, f64)> = None;
        let (means, lengths) = board.said_aside();
        for (action, (&mean, length)) in means.iter().zip(lengths).enumerate() {
            let radius = norm * length;
            let index = neglect.index(mean, mean + radius);
            if favourite.is_none_or(|best| index > best.1) {
                favourite = Some((action, index, neglect.of(radius)));
            }
        }
        favourite.filter(|favourite| probe || favourite.2 > NEGLECTED).map(|favourite| favourite.0)
    }

    /// What it may cost to play this one of the actions that were scored last, by live data alone, once it was asked; see
    /// [`Budget`].
    fn price(&self, turn: Turn<'_>, position: usize, board: &mut Scoreboard) -> Priced {
        let Turn { given, actions, round, .. } = turn;
        let live = self.alone.as_ref().map_or(Cow::Borrowed(&self.known), Later::known);
        let settings = &given.settings;
        let noise = self.noise(given);
        let budget = Budget::new(live.log_det_growth(), settings.delta, settings.dimension, round);
        let count = board.candidates.len();
        let norm = budget.radius * noise;
        let mut possible = std::mem::take(&mut board.possible);
        let (means, lengths) = board.said_aside();
        let upper = |k: usize| means[k] + norm * lengths[k];
        let lower = |k: usize| means[k] - norm * lengths[k];
        let (mut safe, mut best) = (0, f64::NEG_INFINITY);
        for k in 0..count {
            safe = if upper(k) > upper(safe) { k } else { safe };
            best = best.max(lower(k));
        }
        possible.clear();
        possible.extend((0..count).filter(|&k| upper(k) >= best));
        let farthest = |k: usize| self.belief.as_ref().map_or(0.0, |belief| belief.farthest(actions.row(k)));
        let longest = LazyCell::new(|| (0..count).map(farthest).fold(0.0, f64::max));
        let (price, own) = (upper(safe) - lower(position), farthest(position));
        // The longest is no shorter than this one.
        let price = if price > 2.0 * own { price.min(*longest + own) } else { price }.max(0.0);
        let forced = budget.is_below(turn.spent, || *longest / noise);
        board.possible = possible;
        Priced { safe, price: price / noise, forced }
    }

    /// Has live data alone rest until the next fit, where nothing it might say would be acted on.
    pub(crate) fn rest(&mut self, given: &Given, rewards: u64) {
        let worth = self.belief.as_ref().is_none_or(|belief| belief.is_alone_worth(rewards));
        let rests = !asks_always(given) && !worth && !self.overdrawn;
        self.alone.iter_mut().for_each(|alone| alone.set_rests(rests));
    }
}

/// Whether live data alone is asked for a favourite that may have been neglected. In the first rounds none can have been: ν is at
/// most t/d.
fn rechecks(given: &Given, round: u64) -> bool {
    given.rounds_per_feature(round) > NEGLECTED && is_recheck(round)
}

/// Whether live data alone is asked in every round, as it is where actions are drawn.
fn asks_always(given: &Given) -> bool {
    !matches!(given.settings.method, Method::Posterior { explore: Explore::Ucb, .. })
}
