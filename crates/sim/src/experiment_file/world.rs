//! The world of a panel: parameters, logs, contexts, rewards.

use super::FileError;
use super::overriding::Section;
use super::values::{Table, Value};
use crate::world::{Contexts, Coverage, ParameterLaw, RewardModel, World, dot};

/// A Bernoulli reward is sub-Gaussian with this scale, whatever its mean.
const BERNOULLI_NOISE: f64 = 0.5;

/// What the sections are read by.
struct Reader<'a> {
    keys: &'a Table<'a>,
    /// What holds without a word.
    paper: World,
    dimension: usize,
    horizon: u64,
}

/// The world that a panel's keys and sections describe.
pub(super) fn read(keys: &Table<'_>, sections: &[Section<'_>; 3], horizon: u64) -> Result<World, FileError> {
    let paper = World::default();
    let dimension = keys.number("dimension", paper.dimension)?;
    let rewards = keys.word("rewards", paper.rewards)?;
    let bernoulli = rewards == RewardModel::Bernoulli;
    let noise = if bernoulli { BERNOULLI_NOISE } else { paper.noise };
    let reader = Reader { keys, paper, dimension, horizon };
    let [parameters, coverage, contexts] = sections;
    let parameters = reader.parameters(parameters)?;
    // What the means of listed actions and rows must be probabilities of, where that is known.
    let (live, logged) = match &parameters {
        ParameterLaw::Given { live, logged } if bernoulli => (Some(&live[..]), Some(&logged[..])),
        _ => (None, None),
    };
    let (coverage, log_rows) = reader.coverage(coverage, logged)?;
    let contexts = reader.contexts(contexts, live)?;
    if bernoulli {
        check_signs(keys, sections, log_rows)?;
    }
    let noise = keys.number("noise", noise)?;
    Ok(World { dimension, parameters, coverage, log_rows, contexts, rewards, noise })
}

impl Reader<'_> {
    fn parameters(&self, (kind, table): &Section<'_>) -> Result<ParameterLaw, FileError> {
        let vector = |key| table.get(key).map(|value| value.vector(self.dimension)).transpose();
        if *kind == "given" {
            let live = table.needs("live")?.vector(self.dimension)?;
            if let (Some(_), Some(drift)) = (table.get("logged"), table.get("drift")) {
                return Err(drift.fail("`drift` and `logged` exclude each other: logged is live minus drift"));
            }
            let logged = match (vector("logged")?, vector("drift")?) {
                (Some(logged), _) => logged,
                (None, Some(drift)) => live.iter().zip(drift).map(|(live, drift)| live - drift).collect(),
                (None, None) => live.clone(),
            };
            return Ok(ParameterLaw::Given { live, logged });
        }
        // The cube of the paper's randomised studies.
        let (low, high) = (table.number("low", 0.25)?, table.number("high", 0.55)?);
        if let Some(end) = table.get("high").or(table.get("low")).filter(|_| high < low) {
            let reason = format!("`high` must be at least `low`, but is {high}, and `low` is {low}");
            return Err(end.fail(reason));
        }
        let (scale, offset) = (table.number("scale", 1.0)?, table.number("offset", 0.0)?);
        let drift = vector("drift")?.unwrap_or_else(|| vec![0.0; self.dimension]);
        Ok(ParameterLaw::ScaledWithOffset { low, high, scale, offset, drift })
    }

    /// Where the logs look, and how many rows they have.
    fn coverage(
        &self,
        section: &Section<'_>,
        logged: Option<&[f64]>,
    ) -> Result<(Coverage, usize), FileError> {
        let (kind, table) = section;
        let coverage = match *kind {
            "box" => {
                let (low, high) = self.corners(table)?;
                Coverage::Box { low, high }
            }
            "counts" => {
                let features = self.rows(table, logged)?;
                let value = table.needs("counts")?;
                let counts = value.list("a list")?.into_iter().map(Value::number);
                let counts = counts.collect::<Result<Vec<u64>, _>>()?;
                let (rows, found) = (features.len(), counts.len());
                if rows != found {
                    let wanted = "numbers, one for each vector in `features`, but holds";
                    return Err(value.must(format!("hold {rows} {wanted} {found}")));
                }
                // Each of them is small.
                let sum = usize::try_from(counts.iter().sum::<u64>()).unwrap_or(usize::MAX);
                self.agree("log_rows", "counts", sum)?;
                return Ok((Coverage::Counts { features, counts }, sum));
            }
            _ => Coverage::Gaussian { diversity: table.number("diversity", 1.0)? },
        };
        Ok((coverage, self.keys.number("log_rows", self.paper.log_rows)?))
    }

    fn contexts(&self, section: &Section<'_>, live: Option<&[f64]>) -> Result<Contexts, FileError> {
        let (kind, table) = section;
        let actions = self.keys.number("actions", self.paper.actions())?;
        Ok(match *kind {
            "box" => {
                let (low, high) = self.corners(table)?;
                Contexts::Box { actions, low, high }
            }
            "fixed" => {
                let features = self.rows(table, live)?;
                if features.is_empty() {
                    return Err(table.needs("features")?.must("list at least one action"));
                }
                self.agree("actions", "features", features.len())?;
                Contexts::Fixed { features }
            }
            // The defaults are those of the study of shifting contexts.
            "shifting" => {
                let phases = table.needs("phases")?.number()?;
                if phases > self.dimension {
                    let wanted = format!("a whole number from 1 to {}", self.dimension);
                    return Err(table.needs("phases")?.refuse(wanted));
                }
                let phase_rounds = table.number("phase_rounds", self.horizon.div_ceil(phases as u64))?;
                Contexts::Shifting { actions, phases, phase_rounds, quiet: table.number("quiet", 0.1)? }
            }
            "turning" => {
                let turn_rounds = table.number("turn_rounds", self.horizon)?;
                Contexts::Turning { actions, turn_rounds, spread: table.number("spread", 0.3)? }
            }
            _ => Contexts::Gaussian { actions },
        })
    }

    /// Feature vectors; with a parameter, each of them must have a probability as its mean.
    fn rows(&self, table: &Table<'_>, parameter: Option<&[f64]>) -> Result<Vec<Vec<f64>>, FileError> {
        let rows = table.needs("features")?.list("a list")?.into_iter().map(|row| {
            let features = row.row(self.dimension)?;
            let mean = parameter.map_or(0.0, |parameter| dot(&features, parameter));
            let reason = "Bernoulli rewards need means from 0 to 1, but that of a vector in `features` is";
            if (0.0..=1.0).contains(&mean) { Ok(features) } else { Err(row.fail(format!("{reason} {mean}"))) }
        });
        rows.collect()
    }

    /// Corners of a box.
    fn corners(&self, table: &Table<'_>) -> Result<(Vec<f64>, Vec<f64>), FileError> {
        let low = table.needs("low")?.vector(self.dimension)?;
        let high = table.needs("high")?.vector(self.dimension)?;
        let Some(feature) = low.iter().zip(&high).position(|(low, high)| high < low) else {
            return Ok((low, high));
        };
        let (low, high) = (low[feature], high[feature]);
        let reason =
            format!("`high` must be at least `low`, but is {high} for feature {feature}, and `low` is {low}");
        Err(table.needs("high")?.entry(feature).fail(reason))
    }

    /// A number that a list gives already may be left out, or be the same.
    fn agree(&self, key: &str, list: &str, count: usize) -> Result<(), FileError> {
        let number = self.keys.number(key, count)?;
        self.keys.get(key).filter(|_| number != count).map_or(Ok(()), |value| {
            Err(value.fail(format!("`{key}` is {number}, but `{list}` says {count}; it may be left out")))
        })
    }
}

/// Gaussian features are as often negative as positive, and so are the means.
fn check_signs(keys: &Table<'_>, sections: &[Section<'_>; 3], log_rows: usize) -> Result<(), FileError> {
    let [_, (coverage, _), (contexts, _)] = sections;
    let reason = match (*contexts, *coverage) {
        (kind @ ("gaussian" | "shifting" | "turning"), _) => {
            format!("`contexts` of kind `{kind}` do not have; take `box` or `fixed`")
        }
        (_, "gaussian") if log_rows > 0 => {
            "`coverage` of kind `gaussian` does not have; take `box` or `counts`".to_owned()
        }
        _ => return Ok(()),
    };
    let reason = format!("`rewards` = \"bernoulli\" needs means from 0 to 1, which {reason}");
    Err(keys.needs("rewards")?.fail(reason))
}
