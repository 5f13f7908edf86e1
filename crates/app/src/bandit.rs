//! Bandits: made from a summary or a model, kept in a file, fed with what others decided.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use truenorth::{Certificate, Preset, Settings};
use truenorth_bandit::{Bandit, Limits, Parts};
use truenorth_features::{Event, ID, Kind, Recipe};
use truenorth_logs::{EventRows, Missing, Problem, Summary, write_whole};

use crate::error::{Error, Result};

/// What the policy of a bandit is told; what is not told is as [`truenorth::Policy::builder`] has it.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "they are the settings of a policy, by their names")]
pub struct Told {
    pub policy: Option<Preset>,
    pub noise: Option<f64>,
    pub norm_bound: Option<f64>,
    pub delta: Option<f64>,
    pub horizon: Option<u64>,
    pub exploration_scale: Option<f64>,
    pub discount: Option<f64>,
    pub season: Option<u64>,
    pub half_life: Option<f64>,
    pub seed: Option<u64>,
    pub certificate: Option<Certificate>,
    pub fits_beside_from: Option<usize>,
}

impl Told {
    /// Settings with what is told.
    pub fn tell(self, mut settings: Settings) -> Settings {
        settings = settings.preset(self.policy.unwrap_or(Preset::TrueNorth));
        macro_rules! tell {
            ($($name:ident),*) => {
                $(if let Some(value) = self.$name { settings = settings.$name(value); })*
            };
        }
        tell!(
            noise,
            norm_bound,
            delta,
            horizon,
            exploration_scale,
            discount,
            season,
            half_life,
            seed,
            certificate,
            fits_beside_from
        );
        settings
    }
}

/// A line of JSON in, a line of JSON out: an event is decided or learned. What is wrong is refused by a code and a sentence. `event`
/// is room to read in.
pub fn answer(
    bandit: &mut Bandit,
    line: &str,
    event: &mut Event,
) -> std::result::Result<String, (&'static str, String)> {
    event.named_by.clone_from(&bandit.recipe().id);
    event.read_json(line).map_err(|error| ("invalid", error.to_string()))?;
    let answer = bandit.answer(event).map_err(|error| {
        let beside =
            if error.is_missing() { beside_the_context(line, &error.to_string()) } else { String::new() };
        (error.code(), format!("{error}{beside}"))
    })?;
    Ok(json!(answer).to_string())
}

/// That a field which is missed stands in the line, but where no fields are.
fn beside_the_context(line: &str, missed: &str) -> String {
    let there = serde_json::from_str::<Map<String, Value>>(line).unwrap_or_default();
    let found = there.keys().find(|key| missed.contains(&format!("`{key}`")));
    found.map_or(String::new(), |key| format!("; `{key}` stands beside `context`, and not in it"))
}

/// What is wrong, as a line of JSON.
pub fn refused(code: &str, message: &str) -> String {
    json!({ "error": { "code": code, "message": message } }).to_string()
}

/// An event that a bandit of this recipe and features of these names decides, with every field: for whoever wants to try one.
pub fn example<'a>(recipe: &Recipe, names: impl Iterator<Item = &'a str>) -> Value {
    let parts: Vec<&str> = names.flat_map(|name| name.split(':')).collect();
    let level = |field: &str, place: usize| {
        let mut levels: Vec<&str> =
            parts.iter().filter_map(|part| part.strip_prefix(field)?.strip_prefix('=')).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.get(place).copied()
    };
    let id = recipe.id.as_deref().unwrap_or(ID);
    let belongs = |field: &str| recipe.action.as_ref().is_none_or(|action| action.contains(field));
    // Two actions differ where they can.
    let fields = |own: bool, place: usize| {
        let fields = recipe.model.fields().into_iter().filter(|field| *field != ID && *field != id);
        let value = |field: &str| match level(field, place).or_else(|| level(field, 0)) {
            Some(level) => json!(level),
            None if recipe.kinds.get(field) == Some(&Kind::Category) => json!("a"),
            None => json!(1),
        };
        fields.filter(|field| belongs(field) == own).map(|field| (field.to_owned(), value(field))).collect()
    };
    let action = |place: usize| {
        let mut action: Map<String, Value> = fields(true, place);
        action.insert(ID.to_owned(), json!(level(id, place).unwrap_or(["a", "b"][place])));
        Value::Object(action)
    };
    json!({"context": fields(false, 0), "actions": [action(0), action(1)]})
}

/// The parts of a bandit whose logs are summed up.
pub fn parts(summary: &Summary) -> Result<Parts> {
    Ok(Parts {
        recipe: summary.recipe().clone(),
        features: summary.features().to_vec(),
        means: summary.means(),
        logs: Some(summary.unscaled_statistic()?),
        limits: Limits::default(),
    })
}

/// A new bandit.
pub fn new(parts: Parts, told: Told) -> Result<Bandit> {
    Ok(Bandit::new(parts, |settings| told.tell(settings))?)
}

/// Reads a bandit from its file.
pub fn read(path: &Path) -> Result<Bandit> {
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    if !bytes.starts_with(b"tn-bandit") {
        let what = if Summary::is_summary(path) {
            "this is a summary of logs, not a bandit's state"
        } else {
            "this is no bandit's state"
        };
        return Err(Error::input(path.display(), what));
    }
    Bandit::from_bytes(&bytes).map_err(|error| Error::input(path.display(), error))
}

/// Writes a bandit, whole or not at all.
pub fn write(bandit: &Bandit, path: &Path) -> Result<()> {
    write_whole(path, &bandit.to_bytes()).map_err(Error::write(path))
}

/// What became of the rows of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taught {
    /// Rows that were learned.
    pub learned: u64,
    /// Rows without a reward, or decisions without a choice.
    pub without_reward: u64,
    /// Rows that lack a value, where those of the logs were left out too.
    pub left_out: u64,
}

/// Lets a bandit learn the rows of files, which others decided. Rows without a reward are counted and passed over.
pub fn learn_files(bandit: &mut Bandit, files: &[PathBuf], like: &Summary) -> Result<Taught> {
    let mut taught = Taught::default();
    let drops = bandit.recipe().missing == Missing::Drop;
    for path in files {
        let mut rows = EventRows::open_to_learn(path, like)?;
        while let Some(event) = rows.next() {
            let event = match event {
                Err(error) if drops && error.problem.missing().is_some() => {
                    taught.left_out += 1;
                    continue;
                }
                event => event?,
            };
            if event.reward.is_none() || event.chosen.is_none() {
                taught.without_reward += 1;
                continue;
            }
            match bandit.learn_event(&event) {
                Ok(()) => taught.learned += 1,
                Err(error) if drops && error.is_missing() => taught.left_out += 1,
                Err(error) => return Err(rows.error(Problem::Other(error.to_string())).into()),
            }
        }
    }
    Ok(taught)
}

/// Adds the logs of a summary to a running bandit.
pub fn add_summary(bandit: &mut Bandit, summary: &Summary) -> Result<()> {
    if !summary.recipe().model.is_same(&bandit.recipe().model) {
        return Err(Error::OtherModel {
            bandit: bandit.recipe().model.to_string(),
            summary: summary.recipe().model.to_string(),
        });
    }
    Ok(bandit.add_logs(summary.features(), &summary.unscaled_statistic()?, &summary.means())?)
}
