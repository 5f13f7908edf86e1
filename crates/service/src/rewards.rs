//! The real life of rewards: late, twice, never, in parts, of what was played instead.

use truenorth_bandit::Fate;
use truenorth_features::Event;

use crate::api::{Paid, Refused};
use crate::hosted::{Live, Wait};
use crate::journal::{Find, Kind};
use crate::line::Line;
use crate::records::{self, Becomes, DecidedRecord, PaidRecord, TimedOutRecord};
use crate::spec::{Aggregation, Mode};

/// Size that a reward may have, and a sum of them.
const LARGEST: f64 = 1e50;
/// Rewards with ids of their own that one decision may have.
const MOST_PARTS: usize = 1000;

impl Live {
    fn adds_up(&self) -> bool {
        self.spec.reward_aggregation == Aggregation::Sum
    }

    /// Takes a reward. One that was taken already is accepted, and counts once.
    pub(crate) fn pay(&mut self, paid: &Paid, at: i64, find: Find<'_>, line: &Line) -> Result<(), Refused> {
        let Some(record) = self.due(paid)? else { return Ok(()) };
        let number = self.number(&record.decision_id);
        let (body, instead) = (records::body(&record)?, self.instead(&record, find)?);
        self.take(&record, instead)?;
        self.note(line, Kind::Rewarded, at, number, body);
        Ok(())
    }

    /// What a reward would be written down as; none where it was taken already.
    pub(crate) fn due(&self, paid: &Paid) -> Result<Option<PaidRecord>, Refused> {
        let Paid { decision_id, reward, played, id } = paid.clone();
        let before = match (self.bandit.fate(&decision_id), self.waits.get(&decision_id)) {
            (Some(Fate::Learned(before)), _) => Some(before),
            (Some(Fate::Open), Some(Wait { noted: Some(before), .. })) if self.mode == Mode::Frozen => {
                Some(*before)
            }
            _ => None,
        };
        match before {
            Some(_) if self.adds_up() => {
                let message = format!("decision {decision_id:?} has had its time, and the sum is learned");
                return Err(Refused::new(409, "expired", message));
            }
            Some(before) if same(before, reward) => return Ok(None),
            Some(before) => {
                let message =
                    format!("decision {decision_id:?} has had its reward already, which was {before}");
                return Err(Refused::new(409, "already_learned", message));
            }
            None => {}
        }
        let becomes = match self.mode {
            _ if self.adds_up() => Becomes::Part,
            Mode::Frozen => Becomes::Noted,
            _ => Becomes::Learned,
        };
        if becomes == Becomes::Part {
            if let (Some(wait), Some(id)) = (self.waits.get(&decision_id), &id)
                && wait.parts.contains(id)
            {
                return Ok(None);
            }
            let taken = self.bandit.taken(&decision_id);
            if let (Some(played), Some(taken)) = (&played, taken)
                && played != taken
            {
                let message = "where rewards add up, what was played is said with the decision, in shadow";
                return Err(Refused::invalid(message));
            }
        }
        Ok(Some(PaidRecord { decision_id, reward, played, becomes, id }))
    }

    /// The event of a decision, with what was played instead of the choice, if that was another action.
    pub(crate) fn instead(&self, paid: &PaidRecord, find: Find<'_>) -> Result<Option<Event>, Refused> {
        let (Some(played), Some(number)) = (&paid.played, self.number(&paid.decision_id)) else {
            return Ok(None);
        };
        if self.bandit.taken(&paid.decision_id) == Some(played) {
            return Ok(None);
        }
        let gone = || Refused::unavailable("what was asked is not in the journal; try again");
        let record = find(number)?.ok_or_else(gone)?;
        let made: DecidedRecord<'_> = records::read(&record.body)?;
        let mut event = Event::default();
        made.event(&self.form, &mut event)?;
        event.decision_id = Some(paid.decision_id.clone());
        event.reward = Some(paid.reward);
        let unknown =
            || Refused::invalid(format!("{played:?} was played, but is none of the decision's actions"));
        event.chosen = Some(event.find(played).ok_or_else(unknown)?);
        Ok(Some(event))
    }

    /// Does what a reward's record says.
    pub(crate) fn take(&mut self, paid: &PaidRecord, instead: Option<Event>) -> Result<(), Refused> {
        let PaidRecord { decision_id, reward, becomes, .. } = paid;
        match (becomes, instead) {
            (Becomes::Learned, Some(event)) => self.bandit.learn_event(&event)?,
            (Becomes::Learned, None) => self.bandit.learn(decision_id, *reward)?,
            (Becomes::Part | Becomes::Noted, _) => return self.keep(paid),
        }
        self.waits.remove(decision_id);
        Ok(())
    }

    /// Keeps a reward of which nothing is learned now.
    fn keep(&mut self, paid: &PaidRecord) -> Result<(), Refused> {
        let PaidRecord { decision_id, reward, becomes, id, .. } = paid;
        self.check_open(decision_id)?;
        let wait = self.waits.get(decision_id);
        let sum = wait.and_then(|wait| wait.sum).unwrap_or(0.0) + reward;
        if !(reward.abs() <= LARGEST && sum.abs() <= LARGEST) {
            return Err(Refused::invalid("`reward` must be finite and at most 1e50 in size"));
        }
        if wait.is_some_and(|wait| wait.parts.len() == MOST_PARTS) {
            return Err(Refused::invalid(format!("decision {decision_id:?} has had {MOST_PARTS} rewards")));
        }
        let wait = self.waits.entry(decision_id.clone()).or_default();
        if *becomes == Becomes::Noted {
            wait.noted = Some(*reward);
        } else {
            wait.sum = Some(sum);
            wait.parts.extend(id.clone());
        }
        Ok(())
    }

    fn check_open(&self, id: &str) -> Result<(), Refused> {
        match self.bandit.fate(id) {
            Some(Fate::Open) => Ok(()),
            Some(_) => {
                let message = format!("decision {id:?} has expired: it waited too long for its reward");
                Err(Refused::new(409, "expired", message))
            }
            None => Err(Refused::new(404, "unknown_decision", format!("there is no decision {id:?}"))),
        }
    }

    /// Says that a decision that was ranked is shown.
    pub(crate) fn activate(&mut self, id: &str, at: i64, line: &Line) -> Result<(), Refused> {
        let Some(number) = self.number(id) else {
            return Err(Refused::new(404, "unknown_decision", format!("there is no decision {id:?}")));
        };
        if self.waits.get(id).is_some_and(|wait| wait.deferred) {
            let body = records::body(&id)?;
            self.activate_now(id, at);
            self.note(line, Kind::Activated, at, Some(number), body);
        }
        Ok(())
    }

    pub(crate) fn activate_now(&mut self, id: &str, at: i64) {
        if let Some(wait) = self.waits.get_mut(id).filter(|wait| wait.deferred) {
            wait.deferred = false;
            self.await_reward(id, at);
        }
    }

    /// Begins the time in which a decision's reward may come.
    pub(crate) fn await_reward(&mut self, id: &str, at: i64) {
        if let Some(seconds) = self.spec.reward_timeout_s {
            #[expect(clippy::cast_possible_truncation, reason = "a time; casts saturate")]
            self.deadlines.push_back((at.saturating_add((seconds * 1000.0) as i64), id.to_owned()));
        }
    }

    /// Ends the time of those decisions for which it is over.
    pub(crate) fn tend(&mut self, at: i64, line: &Line) -> Result<(), Refused> {
        while self.deadlines.front().is_some_and(|(deadline, _)| *deadline <= at) {
            let Some((_, decision_id)) = self.deadlines.pop_front() else { break };
            let Some(over) = self.timed_out(decision_id) else { continue };
            let number = self.number(&over.decision_id);
            let body = records::body(&over)?;
            self.end(&over)?;
            self.note(line, Kind::TimedOut, at, number, body);
        }
        Ok(())
    }

    /// The decisions for which time is over, at most so many.
    pub(crate) fn over(&self, at: i64, most: usize) -> Vec<String> {
        let due = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= at);
        due.filter(|(_, id)| self.bandit.fate(id) == Some(Fate::Open))
            .take(most)
            .map(|(_, id)| id.clone())
            .collect()
    }

    /// What the end of a decision's time means, if it waits.
    pub(crate) fn timed_out(&self, decision_id: String) -> Option<TimedOutRecord> {
        if self.bandit.fate(&decision_id) != Some(Fate::Open) {
            return None;
        }
        let sum = self.waits.get(&decision_id).and_then(|wait| wait.sum);
        let reward = sum.or(self.spec.default_reward).filter(|_| self.mode != Mode::Frozen);
        Some(TimedOutRecord { decision_id, reward })
    }

    /// Does what the record of a time that is over says.
    pub(crate) fn end(&mut self, over: &TimedOutRecord) -> Result<(), Refused> {
        let TimedOutRecord { decision_id, reward } = over;
        match reward {
            Some(reward) => self.bandit.learn(decision_id, *reward)?,
            None => self.bandit.expire(decision_id)?,
        }
        self.waits.remove(decision_id);
        Ok(())
    }

    /// Forgets what belongs to decisions that wait no longer, before it becomes much.
    pub(crate) fn tidy(&mut self) {
        let most = 2 * self.bandit.counts().open + 1024;
        let bandit = &self.bandit;
        let is_open = |id: &str| bandit.fate(id) == Some(Fate::Open);
        if self.waits.len() > most {
            self.waits.retain(|id, _| is_open(id));
        }
        if self.deadlines.len() > most {
            self.deadlines.retain(|(_, id)| is_open(id));
        }
    }
}

/// Whether two rewards are the same number.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a - b).abs() <= f64::EPSILON * a.abs()
}
