//! What another policy would have earned, by logs with probabilities.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use truenorth::Preset;
use truenorth_bandit::{Bandit, Limits, Parts};
use truenorth_evaluate::{Decision, Direct, Estimate, Estimates, MOST_FEATURES};
use truenorth_features::{Encoder, Event, Joining, Rows, Value};
use truenorth_logs::{EventRows, Missing, Plan, Problem, Summary};

use crate::bandit::{self, Told};
use crate::error::{Error, Result};

/// What is asked.
pub struct Request<'a> {
    /// The logs, in the order in which a policy that learns sees them.
    pub logs: &'a [PathBuf],
    /// How they are read, and which features rewards are modelled by; not asked where a summary says it.
    pub plan: &'a Plan,
    /// Earlier logs: their recipe, and the head start of a policy that uses logs.
    pub summary: Option<&'a Summary>,
    /// Column of a table with the probabilities of its actions.
    pub probability: Option<&'a str>,
    /// Who is evaluated.
    pub target: Target,
}

/// A policy that is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Every action alike.
    Uniform,
    /// The probabilities are in this field of every action.
    Field(String),
    /// A policy of the library. It decides an event before it learns what the log earned there; `frozen`, it never learns.
    Policy {
        /// What it is told.
        told: Box<Told>,
        /// Whether it stays as the summary makes it.
        frozen: bool,
    },
}

impl Target {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Uniform => "uniform".to_owned(),
            Self::Field(field) => format!("field:{field}"),
            Self::Policy { told, frozen } => {
                let name = told.policy.unwrap_or(Preset::TrueNorth).name();
                if *frozen { format!("{name} (frozen)") } else { name.to_owned() }
            }
        }
    }
}

/// What a policy would have earned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// Who was evaluated.
    pub policy: String,
    /// Estimates by weights, and what was earned.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// The direct method, which is as good as its model; none where there is none.
    pub direct: Option<f64>,
    /// Doubly robust.
    pub dr: Option<Estimate>,
    /// Whether nothing speaks against the intervals.
    pub trusted: bool,
    /// Events without an action or a reward, which say nothing.
    pub without_reward: u64,
    /// Events that lack a value, where those of the logs were left out too.
    pub left_out: u64,
    /// Events that are malformed, where these are skipped.
    pub malformed: u64,
    /// What is wrong with the first of them.
    pub first_malformed: Option<String>,
    /// The model of the direct method.
    pub model: String,
    /// Its number of features.
    #[serde(skip)]
    pub dimension: usize,
    /// The logs summed up, where no summary was given.
    #[serde(skip)]
    pub summed: Option<Summary>,
}

/// Estimates what a policy would have earned.
pub fn evaluate(request: &Request<'_>) -> Result<Evaluated> {
    let summed = match request.summary {
        Some(_) => None,
        None => Some(crate::summarize::summarize(request.plan, &[], request.logs, &|_| {})?.whole),
    };
    let Some(like) = request.summary.or(summed.as_ref()) else { return Err(Error::NoFiles) };
    let mut player = Player::new(request, like)?;
    let catalogue = Catalogue::of(request, like)?;
    let mut judge = Judge::new(like);
    let (mut without_reward, mut left_out, mut malformed) = (0, 0, 0);
    let mut first: Option<truenorth_logs::Error> = None;
    let drops = like.recipe().missing == Missing::Drop;
    for path in request.logs {
        let mut events = open(path, request, like)?;
        while let Some(event) = events.next() {
            let wrong = match event.map(|event| weigh(event, &catalogue, &mut player, &mut judge)) {
                Ok(Ok(())) => continue,
                Ok(Err(Aside::NoReward))
                | Err(truenorth_logs::Error { problem: Problem::Uncounted(_), .. }) => {
                    without_reward += 1;
                    continue;
                }
                Ok(Err(Aside::NoValue(_))) if drops => {
                    left_out += 1;
                    continue;
                }
                Ok(Err(Aside::NoValue(problem) | Aside::Wrong(problem))) => events.error(problem),
                Err(error) => error,
            };
            if !request.plan.tolerance.allows(&wrong.problem) {
                return Err(wrong.into());
            }
            malformed += 1;
            first.get_or_insert(wrong);
        }
    }
    if judge.decisions.is_empty() {
        let path = request.logs.first().map_or(Path::new(""), PathBuf::as_path);
        let nothing = || Error::input(path.display(), "no event has an action and its reward");
        return Err(first.map_or_else(nothing, Error::from));
    }
    let first_malformed = first.map(|error| error.to_string());
    let found = judge.finish(player.name, request, like);
    Ok(Evaluated { without_reward, left_out, malformed, first_malformed, summed, ..found })
}

/// Why an event says nothing.
enum Aside {
    NoReward,
    NoValue(Problem),
    Wrong(Problem),
}

impl From<truenorth_features::Error> for Aside {
    fn from(error: truenorth_features::Error) -> Self {
        let missing = error.missing().is_some();
        if missing { Self::NoValue(error.into()) } else { Self::Wrong(error.into()) }
    }
}

/// Lets the policy decide an event, and counts what the log says of that.
fn weigh(
    event: Event,
    catalogue: &Catalogue,
    player: &mut Player<'_>,
    judge: &mut Judge,
) -> std::result::Result<(), Aside> {
    let (Some(chosen), Some(reward)) = (event.chosen, event.reward) else { return Err(Aside::NoReward) };
    let Some(probability) = event.probability else {
        let sentence = "the event has no `probability` of its action, without which nothing can be said about another policy";
        return Err(Aside::Wrong(Problem::Other(sentence.to_owned())));
    };
    let event = catalogue.fill(event, chosen)?;
    let chosen = event.chosen.unwrap_or_default();
    let target = player.shares(&event)?;
    let decision = Decision { reward, probability, target: target[chosen], weight: event.weight };
    Ok(judge.add(&event, chosen, decision, &target)?)
}

fn open(path: &Path, request: &Request<'_>, like: &Summary) -> Result<EventRows> {
    Ok(EventRows::open_to_evaluate(path, request.plan.format, like, request.probability)?)
}

/// The policy that is evaluated.
struct Player<'a> {
    name: String,
    target: &'a Target,
    bandit: Option<Bandit>,
}

impl<'a> Player<'a> {
    fn new(request: &'a Request<'_>, like: &Summary) -> Result<Self> {
        let target = &request.target;
        let bandit = match target {
            Target::Policy { told, .. } => {
                let mut parts = bandit::parts(like)?;
                // The logs that it is evaluated with come to it one by one.
                if request.summary.is_none() {
                    parts = Parts { logs: None, ..parts };
                    if told.policy == Some(Preset::OfflineOnly) {
                        return Err(Error::NoLogs { policy: Preset::OfflineOnly.name() });
                    }
                }
                // Nobody will bring the rewards of its decisions.
                parts.limits = Limits { open: 1, ..parts.limits };
                Some(bandit::new(parts, (**told).clone())?)
            }
            _ => None,
        };
        Ok(Self { name: target.name(), target, bandit })
    }

    /// With which probability each action of an event is taken, before anything is learned from it.
    fn shares(&mut self, event: &Event) -> std::result::Result<Vec<f64>, Aside> {
        match (self.target, &mut self.bandit) {
            (Target::Policy { frozen, .. }, Some(bandit)) => {
                let refused = |error: truenorth_bandit::Error| {
                    let problem = Problem::Other(error.to_string());
                    if error.is_missing() { Aside::NoValue(problem) } else { Aside::Wrong(problem) }
                };
                let mut shares = vec![0.0; event.len()];
                shares[bandit.choose(event).map_err(refused)?.index] = 1.0;
                if !frozen {
                    bandit.learn_event(event).map_err(refused)?;
                }
                Ok(shares)
            }
            (Target::Field(field), _) => {
                given(event, field).map_err(|sentence| Aside::Wrong(Problem::Other(sentence)))
            }
            _ => Ok(vec![1.0 / event.len() as f64; event.len()]),
        }
    }
}

/// Probabilities that stand in a field of every action.
fn given(event: &Event, field: &str) -> std::result::Result<Vec<f64>, String> {
    let share = |action: usize| {
        let found = event.action(action).find(|(name, _)| *name == field).map(|(_, value)| value);
        match found {
            Some(Value::Number(share)) if (0.0..=1.0).contains(&share) => Ok(share),
            Some(Value::Number(share)) => Err(format!(
                "`{field}` of action `{}` is {share}, but must be between 0 and 1",
                event.id(action)
            )),
            _ => Err(format!("action `{}` has no number in the field `{field}`", event.id(action))),
        }
    };
    let shares = (0..event.len()).map(share).collect::<std::result::Result<Vec<f64>, _>>()?;
    let all: f64 = shares.iter().sum();
    if (all - 1.0).abs() > 1e-6 {
        return Err(format!(
            "the numbers of `{field}` are {all} together, but probabilities of all actions are 1"
        ));
    }
    Ok(shares)
}

/// All actions of a log whose events list only the one that was taken, as they were last seen.
struct Catalogue(Option<BTreeMap<String, Event>>);

impl Catalogue {
    fn of(request: &Request<'_>, like: &Summary) -> Result<Self> {
        let (mut known, mut events) = (BTreeMap::new(), 0);
        for path in request.logs {
            for event in open(path, request, like)? {
                let event = match event {
                    Err(error) if request.plan.tolerance.allows(&error.problem) => continue,
                    event => event?,
                };
                match (event.chosen, event.len()) {
                    (None, _) => {}
                    (_, 1) => {
                        events += 1;
                        known.insert(event.id(0).to_owned(), event);
                    }
                    // Events list what there was to choose from.
                    _ => return Ok(Self(None)),
                }
            }
        }
        if let (1, 2.., Some(path)) = (known.len(), events, request.logs.first()) {
            let sentence = "all events have the same action, so that no policy could have done otherwise; where a column of numbers tells \
                 actions apart, `C(COLUMN)` in the model makes it one of names";
            return Err(Error::input(path.display(), sentence));
        }
        Ok(Self(Some(known)))
    }

    /// The event with all actions, in one order whatever was taken: ties go to the first, which must not be the log's own choice.
    fn fill(&self, mut event: Event, chosen: usize) -> truenorth_features::Result<Event> {
        event.decision_id = None;
        let Some(known) = &self.0 else { return Ok(event) };
        let mut filled = Event::default();
        (filled.reward, filled.weight) = (event.reward, event.weight);
        event.context().try_for_each(|(name, value)| filled.push(&[name], value))?;
        for (place, (id, other)) in known.iter().enumerate() {
            let taken = id == event.id(chosen);
            let (own, action) = if taken { (&event, chosen) } else { (other, 0) };
            filled.chosen = if taken { Some(place) } else { filled.chosen };
            filled.push_action(id)?;
            own.action(action).try_for_each(|(name, value)| filled.push(&[name], value))?;
        }
        Ok(filled)
    }
}

/// Adds up what decisions say.
struct Judge {
    decisions: Vec<Decision>,
    encoder: Encoder,
    rows: Rows,
    direct: Option<Direct>,
    /// Whether features ever told the actions of an event apart.
    told_apart: bool,
    /// How often each action was taken, and how often the policy would take it.
    actions: BTreeMap<String, (u64, f64)>,
}

impl Judge {
    fn new(like: &Summary) -> Self {
        let dimension = like.dimension();
        Self {
            decisions: Vec::new(),
            encoder: like.encoder(Joining::Never),
            rows: Rows::default(),
            direct: (dimension <= MOST_FEATURES).then(|| Direct::new(dimension)),
            told_apart: dimension > MOST_FEATURES,
            actions: BTreeMap::new(),
        }
    }

    fn add(
        &mut self,
        event: &Event,
        chosen: usize,
        decision: Decision,
        target: &[f64],
    ) -> truenorth_features::Result<()> {
        if let Some(direct) = &mut self.direct {
            self.encoder.rows(event, &mut self.rows)?;
            self.told_apart |= (1..event.len()).any(|action| self.rows.row(action) != self.rows.row(0));
            let intercept = self.encoder.recipe().model.intercept;
            let row = |shares: &mut dyn Iterator<Item = (usize, f64)>| {
                let mut row: BTreeMap<usize, f64> = BTreeMap::new();
                for (action, share) in shares.filter(|(_, share)| *share != 0.0) {
                    let one = intercept.then_some((0, 1.0)).into_iter();
                    let rest = self.rows.row(action).iter();
                    for (place, value) in
                        one.chain(rest.map(|&(at, value)| (usize::from(intercept) + at as usize, value)))
                    {
                        *row.entry(place).or_default() += share * value;
                    }
                }
                row.into_iter().collect::<Vec<_>>()
            };
            let taken = row(&mut std::iter::once((chosen, 1.0)));
            direct.add(&decision, &taken, &row(&mut target.iter().copied().enumerate()));
        }
        for (action, share) in target.iter().enumerate() {
            let id = event.id(action);
            if !self.actions.contains_key(id) {
                self.actions.insert(id.to_owned(), (0, 0.0));
            }
            let counts = self.actions.get_mut(id).expect("it was put there");
            counts.0 += u64::from(action == chosen);
            counts.1 += share;
        }
        self.decisions.push(decision);
        Ok(())
    }

    fn finish(self, policy: String, request: &Request<'_>, like: &Summary) -> Evaluated {
        let mut estimates = Estimates::new(&self.decisions);
        let never: Vec<(&String, f64)> = self
            .actions
            .iter()
            .filter(|(_, (taken, target))| *taken == 0 && *target > 0.0)
            .map(|(id, (_, target))| (id, *target))
            .collect();
        if let Some((id, _)) = never.first() {
            let share = never.iter().map(|(_, target)| target).sum::<f64>() / self.decisions.len() as f64;
            let more = if never.len() > 1 { format!(" and {} more", never.len() - 1) } else { String::new() };
            estimates.warnings.push(format!(
                "the policy takes action `{id}`{more}, which the log never took, in {:.1} % of its decisions",
                100.0 * share
            ));
        }
        if !self.told_apart && matches!(request.target, Target::Policy { .. }) {
            estimates.warnings.push(
                "all actions of an event have the same features, so that the policy cannot tell them apart: the model must have fields of \
                 the action"
                    .to_owned(),
            );
        }
        let own = |summary: &Summary| request.logs.iter().find(|path| summary.has_file(path));
        if let (Some(path), Target::Policy { .. }) = (request.summary.and_then(own), &request.target) {
            estimates.warnings.push(format!(
                "{} is one of the files of the summary: a policy that starts from it knows the rewards that it is judged by",
                path.display()
            ));
        }
        let modelled = self.direct.and_then(|direct| direct.estimate());
        Evaluated {
            policy,
            direct: modelled.as_ref().map(|modelled| modelled.direct),
            dr: modelled.map(|modelled| estimates.told(modelled.dr)),
            trusted: estimates.warnings.is_empty(),
            estimates,
            without_reward: 0,
            left_out: 0,
            malformed: 0,
            first_malformed: None,
            model: like.recipe().model.to_string(),
            dimension: like.dimension(),
            summed: None,
        }
    }
}
