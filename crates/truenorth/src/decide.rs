//! A decision in three steps: what the round shows is seen, what is known decides, and what was decided is counted.
//!
//! The second step changes nothing. So whoever keeps several copies of a policy can decide by any of them, [`decide`](Policy::decide),
//! and have all of them take note of it, [`record`](Policy::record), in one order: they stay equal to the last bit.

use crate::branch::Branch;
use crate::check;
use crate::error::{Reason, Result};
use crate::explain::{Explanation, LayerExplanation, PlayRule};
use crate::given::Given;
use crate::policy::{Family, Policy};
use crate::round::{Actions, Choice, Counts, Decision, Toll};
use crate::score::{OtherForm, Scoreboard};

/// What a method decides on.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) given: &'a Given,
    pub(crate) actions: Actions<'a>,
    /// This round, counted from 1, of its season.
    pub(crate) round: u64,
    /// Rewards of this season so far.
    pub(crate) rewards: u64,
    /// What the belief has spent in this season.
    pub(crate) spent: f64,
    /// This round, counted from 1, of all.
    pub(crate) dice: u64,
    /// Whether the board has the word of live data alone.
    pub(crate) asked: bool,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(given: &'a Given, actions: Actions<'a>, counts: &Counts, before: &Counts) -> Self {
        let dice = counts.rounds + 1;
        let (round, rewards) = (dice - before.rounds, counts.rewards - before.rewards);
        Self { given, actions, round, rewards, spent: counts.spent - before.spent, dice, asked: false }
    }

    /// t/d, where t counts no more rounds than are remembered.
    pub(crate) fn rounds_per_feature(&self) -> f64 {
        self.given.rounds_per_feature(self.round)
    }
}

/// What a method has decided.
pub(crate) struct Played {
    /// Of the candidate on the scoreboard.
    pub(crate) position: usize,
    pub(crate) rule: PlayRule,
    pub(crate) layer: u32,
    pub(crate) propensity: f64,
    pub(crate) conflicts: usize,
    pub(crate) toll: Toll,
}

impl Played {
    /// This candidate, for certain, by a policy without layers.
    pub(crate) fn at(position: usize, rule: PlayRule) -> Self {
        Self { position, rule, layer: 0, propensity: 1.0, conflicts: 0, toll: Toll::default() }
    }
}

/// Room that decisions reuse; no state lives here.
#[derive(Debug, Clone, Default)]
pub struct Room {
    board: Scoreboard,
    other: OtherForm,
}

impl Policy {
    /// Chooses an action.
    pub fn choose(&mut self, actions: Actions<'_>) -> Result<Choice> {
        self.play(actions, None)
    }

    /// Chooses an action, and tells why. The same decision as [`choose`](Self::choose) makes.
    pub fn choose_explained(&mut self, actions: Actions<'_>) -> Result<(Choice, Explanation)> {
        let mut layers = Vec::new();
        let choice = self.play(actions, Some(&mut layers))?;
        let Counts { spent, .. } = self.counts;
        Ok((choice, Explanation { round: choice.decision.round, action: choice.action, layers, spent }))
    }

    /// Chooses an action as [`choose`](Self::choose) would, and changes nothing.
    ///
    /// ```
    /// use truenorth::{Actions, Policy, Room};
    ///
    /// let mut here = Policy::builder(2).build()?;
    /// let mut there = here.clone();
    /// let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?;
    /// let choice = here.decide(actions, &mut Room::default())?;
    /// for policy in [&mut here, &mut there] {
    ///     policy.record(actions, &choice)?;
    ///     policy.learn(choice.rewarded(actions, 0.7))?;
    /// }
    /// assert_eq!(here.intervals(0, actions)?, there.intervals(0, actions)?);
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    pub fn decide(&self, actions: Actions<'_>, room: &mut Room) -> Result<Choice> {
        let actions = if self.takes(actions) { actions } else { room.other.of(actions)? };
        self.check_width(actions)?;
        let Some(asked) = self.unchanged(actions, &mut room.board)? else {
            // Now and then: in rounds 1, 2, 4, 8, ..., and where a column is new. What live data alone was asked is on the copy's board.
            let mut seen = self.clone();
            seen.see(actions)?;
            return seen.family.decided(seen.turn(actions), &mut room.board, None);
        };
        self.family.decided(Turn { asked, ..self.turn(actions) }, &mut room.board, None)
    }

    /// Takes note of a decision that this policy or a copy of it has made, on these actions. Nothing is decided again. Tells
    /// the decision by this policy's own count of rounds.
    pub fn record(&mut self, actions: Actions<'_>, choice: &Choice) -> Result<Decision> {
        self.in_form(actions, |policy, actions| {
            policy.check_width(actions)?;
            let known = choice.action < actions.count() && choice.decision.layer <= policy.last_layer();
            check::range(known, "action", "one of the actions", choice.action as f64)?;
            policy.see(actions)?;
            Ok(policy.count(choice))
        })
    }

    #[inline]
    fn play(&mut self, actions: Actions<'_>, story: Option<&mut Vec<LayerExplanation>>) -> Result<Choice> {
        self.in_form(actions, |policy, actions| {
            policy.check_width(actions)?;
            let asked = policy.see(actions)?;
            let Self { given, counts, before, family, board, .. } = policy;
            let turn = Turn { asked, ..Turn::new(given, actions, counts, before) };
            let choice = family.decided(turn, board, story)?;
            policy.count(&choice);
            Ok(choice)
        })
    }

    /// Whether actions have the form that this policy keeps.
    fn takes(&self, actions: Actions<'_>) -> bool {
        actions.is_sparse() == self.given.settings.sparse
    }

    /// Does something with the actions in the form that this policy keeps.
    #[inline]
    fn in_form<T>(
        &mut self,
        actions: Actions<'_>,
        act: impl FnOnce(&mut Self, Actions<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.takes(actions) {
            return act(self, actions);
        }
        let mut other = std::mem::take(&mut self.board.other);
        let done = other.of(actions).and_then(|actions| act(self, actions));
        self.board.other = other;
        done
    }

    fn check_width(&self, actions: Actions<'_>) -> Result<()> {
        check::length("a feature vector", self.given.settings.dimension, actions.dimension())
    }

    fn turn<'a>(&'a self, actions: Actions<'a>) -> Turn<'a> {
        Turn::new(&self.given, actions, &self.counts, &self.before)
    }

    /// Whether the season ends before this round.
    fn is_season_over(&self) -> bool {
        let so_far = self.counts.rounds - self.before.rounds;
        self.given.settings.season.is_some_and(|season| so_far >= season)
    }

    /// Takes note of what a round shows before it is decided: a season that is over, units of columns, a fit or an epoch that
    /// is due. Tells whether live data alone was asked on the way.
    #[inline]
    fn see(&mut self, actions: Actions<'_>) -> Result<bool> {
        if self.is_season_over() {
            self.renew()?;
        }
        let Self { given, counts, before, family, unseen, board, .. } = self;
        if !unseen.is_empty() {
            family.meet(unseen, actions);
        }
        let turn = Turn::new(given, actions, counts, before);
        match family {
            Family::Confidence(policy) if turn.round > 1 => policy.start_epoch(given, turn.round)?,
            Family::Posterior(policy) => return policy.see(turn, board),
            _ => {}
        }
        Ok(false)
    }

    /// What [`see`](Self::see) tells, if it changes nothing.
    fn unchanged(&self, actions: Actions<'_>, board: &mut Scoreboard) -> Result<Option<bool>> {
        let shows = |&column: &usize| (0..actions.count()).any(|k| actions.row(k).get(column) != 0.0);
        let turn = self.turn(actions);
        let unchanged = match &self.family {
            Family::Confidence(policy) => (!policy.starts_epoch(&self.given, turn.round)?).then_some(false),
            Family::Posterior(policy) => policy.unchanged(turn, board),
            _ => Some(false),
        };
        Ok(unchanged.filter(|_| !self.is_season_over() && !self.unseen.iter().any(shows)))
    }

    /// Counts a decision.
    #[inline]
    fn count(&mut self, choice: &Choice) -> Decision {
        let Self { given, counts, family, .. } = self;
        let Choice { decision: Decision { layer, .. }, branch, conflicts, toll, .. } = choice;
        counts.rounds += 1;
        counts.conflicts += *conflicts as u64;
        counts.informed += u64::from(*branch != Branch::Online);
        counts.spent += toll.price;
        counts.forced += u64::from(toll.forced);
        match family {
            Family::Confidence(policy) => policy.layers[*layer as usize].plays += 1,
            Family::Posterior(policy) => policy.count(&given.settings.method, toll),
            Family::Offline(_) | Family::Arms(_) => {}
        }
        Decision { round: counts.rounds, layer: *layer }
    }
}

impl Family {
    /// Decides by what is known.
    #[inline]
    fn decided(
        &self,
        turn: Turn<'_>,
        board: &mut Scoreboard,
        mut story: Option<&mut Vec<LayerExplanation>>,
    ) -> Result<Choice> {
        board.all_candidates(turn.actions.count());
        board.all = story.is_some();
        let Played { position, rule, layer, propensity, conflicts, toll } = match self {
            Self::Confidence(policy) => policy.choose(turn, board, story.as_deref_mut()),
            Self::Posterior(policy) => policy.choose(turn, board),
            Self::Offline(policy) => policy.choose(turn, board),
            Self::Arms(policy) => policy.choose(turn, board)?,
        };
        if let Some(layers) = story {
            let actions = board.intervals().collect();
            layers.push(LayerExplanation { layer, rule: rule.to_string(), actions, eliminated: Vec::new() });
        }
        let interval = board.aggregated(position);
        if interval.ucb.is_nan() {
            // No input does that. Nobody is to act on it, or to write it down, if rounding ever should.
            let (what, index, value) = ("the estimate of action", interval.action, interval.ucb);
            return Err(Reason::NotFinite { what, index, value }.into());
        }
        Ok(Choice {
            decision: Decision { round: turn.dice, layer },
            action: interval.action,
            ucb: interval.ucb,
            lcb: interval.lcb,
            mean: interval.mean(),
            bias: interval.informed.map_or(0.0, |informed| informed.bias),
            branch: interval.branch,
            propensity,
            candidates: board.candidates.len(),
            conflicts,
            toll,
        })
    }
}
