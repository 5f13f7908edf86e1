//! A model that has met data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use crate::error::{Error, Result, listed, nearest};
use crate::model::{Factor, Model, Named, Reading, Term};
use crate::survey::Survey;
use crate::value::Kind;

/// The action's own id, a field like any other, but that no pattern takes it.
pub const ID: &str = "id";

/// What the feature that is always 1 is called.
const INTERCEPT: &str = "intercept";

/// How features are made of raw values, for logs and for live requests alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Recipe {
    /// Which features there are.
    pub model: Model,
    /// What the fields hold that the model takes as they are. Where nobody has seen a field, its values tell.
    pub kinds: BTreeMap<String, Kind>,
    /// Where bins end and splines have their knots, by the factor as the model has it.
    pub cuts: BTreeMap<String, Vec<f64>>,
    /// Fields that belong to the action, if that is known.
    pub action: Option<BTreeSet<String>>,
    /// The field that is the action's id, if it has a name of its own.
    pub id: Option<String>,
    /// What becomes of a field without a value.
    pub missing: Missing,
    /// Fields that a model which was made from the data leaves out, because they tell rows or rounds apart.
    pub left_out: Vec<String>,
}

/// What becomes of a field without a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// It is refused, and named.
    #[default]
    Refuse,
    /// The row is left out.
    Drop,
    /// The mean of the field takes its place; a category has no level.
    Mean,
    /// It is nothing: 0, or no level. So it is in formats that leave out what is 0.
    Zero,
}

impl Missing {
    /// Whether something takes the place of what is missing.
    pub fn fills(self) -> bool {
        matches!(self, Self::Mean | Self::Zero)
    }
}

impl Recipe {
    /// A model without data: levels join as they come, and values tell what a field holds.
    pub fn without_data(model: Model) -> Result<Self> {
        if let Some(factor) = model.parts().find(|part| needs_cuts(part).is_some()) {
            let reason = format!("{} takes its places from logs, but there are none", quoted(factor));
            return Err(Error::Model { at: "its functions".to_owned(), reason });
        }
        Ok(Self { model, ..Self::default() })
    }

    /// A model and the data it is to be used on. In a table all rows have the same fields, so that patterns become
    /// the fields that fit; in events any event may bring new ones.
    pub fn meet(model: &Model, survey: &Survey, table: bool, missing: Missing) -> Result<Self> {
        let model = if table { expanded(model, survey)? } else { model.clone() };
        let mut recipe =
            Self { action: survey.action_fields(), id: survey.id.clone(), missing, ..Self::default() };
        if model.intercept && model.fields().contains(&INTERCEPT) {
            return Err(Error::TwoFeatures(INTERCEPT.to_owned()));
        }
        for part in model.parts() {
            let Some(name) = part.name() else {
                if let Factor::Field(Named::Pattern(pattern), _) = part {
                    fitting(pattern, survey)?;
                }
                continue;
            };
            let own_id = name == ID && !survey.has(ID) && survey.id.is_some();
            let Some(seen) = survey.field(if own_id { survey.id.as_deref().unwrap_or(ID) } else { name })
            else {
                if name == ID && !table {
                    continue;
                }
                let fields = || survey.names().into_iter();
                let hint = nearest(name, fields()).map(str::to_owned);
                return Err(Error::NoField { name: name.to_owned(), hint, fields: listed(fields()) });
            };
            recipe.kinds.insert(name.to_owned(), seen.kind());
            if let Some(count) = needs_cuts(part) {
                let cuts = seen.cuts(part, count);
                recipe.cuts.insert(part.to_string(), cuts);
            }
        }
        recipe.model = model;
        Ok(recipe)
    }

    /// The terms that are the same for every action of a round, and so cannot change a choice; none if nobody has
    /// said what belongs to the action.
    pub fn idle_terms(&self) -> Vec<&Term> {
        let Some(action) = &self.action else { return Vec::new() };
        let belongs = |part: &Factor| match part {
            Factor::Field(Named::Pattern(pattern), _) => {
                let pattern = WildMatch::new(pattern);
                action.iter().any(|name| name != ID && pattern.matches(name))
            }
            part => part
                .name()
                .is_some_and(|name| name == ID || action.contains(name) || self.id.as_deref() == Some(name)),
        };
        self.model.terms.iter().filter(|term| !term.parts().into_iter().any(belongs)).collect()
    }

    fn is_number_id(&self, name: &str) -> bool {
        self.id.as_deref() == Some(name) && self.kinds.get(name) == Some(&Kind::Number)
    }

    /// A sentence about an id that is taken as a number, and about each term that cannot change a choice.
    pub fn warnings(&self) -> Vec<String> {
        let action = self.action.iter().flatten();
        let category = action.clone().find(|name| self.kinds.get(*name) == Some(&Kind::Category));
        let other = action.clone().find(|name| self.kinds.get(*name) != Some(&Kind::Number));
        let with = self.id.as_ref().or(category).or(other).map_or(ID, String::as_str);
        let warning = |term: &Term| {
            let reading = if self.is_number_id(with) { Reading::Category } else { Reading::Natural };
            let crossed = term.times(&Term(vec![Factor::Field(Named::Name(with.to_owned()), reading)]));
            format!(
                "{} is the same for every action of a round and cannot change a choice; cross it with the action: {}",
                quoted(term),
                quoted(crossed)
            )
        };
        let is_number = |part: &&Factor| match part {
            Factor::Field(Named::Name(name), Reading::Natural) => self.is_number_id(name),
            _ => false,
        };
        let id = self.model.parts().find(is_number).map(|id| {
            let written = quoted(format_args!("C({id})"));
            format!("{} is the action's id but is taken as a number; write {written}", quoted(id))
        });
        id.into_iter().chain(self.idle_terms().into_iter().map(warning)).collect()
    }

    /// The fields that are taken as categories, in the order of the model.
    pub fn categories(&self) -> Vec<&str> {
        let is_category = |name: &&str| {
            let as_one = |part: &Factor| matches!(part, Factor::Field(Named::Name(field), Reading::Category) if field == *name);
            self.kinds.get(*name) == Some(&Kind::Category) || self.model.parts().any(as_one)
        };
        self.model.fields().into_iter().filter(is_category).collect()
    }

    /// Columns of numbers, if the model is nothing but these.
    pub fn plain_numbers(&self) -> Option<Vec<&str>> {
        let number = |term: &'_ Term| match &term.0[..] {
            [Factor::Field(Named::Name(name), Reading::Number)] => Some(name.clone()),
            [Factor::Field(Named::Name(name), Reading::Natural)] => {
                (self.kinds.get(name) == Some(&Kind::Number)).then(|| name.clone())
            }
            _ => None,
        };
        // Borrowed from the terms, which have exactly these names.
        let all = self.model.terms.iter().all(|term| number(term).is_some());
        all.then(|| self.model.terms.iter().filter_map(|term| term.0[0].name()).collect())
    }
}

/// A part of a model in a sentence: between backticks, unless it has some of its own.
pub fn quoted(part: impl fmt::Display) -> String {
    let part = part.to_string();
    if part.contains('`') { part } else { format!("`{part}`") }
}

/// How many places a factor takes from logs.
pub(crate) fn needs_cuts(factor: &Factor) -> Option<u32> {
    match factor {
        Factor::Bins(_, count) | Factor::Spline(_, count) => Some(*count),
        _ => None,
    }
}

/// The fields that fit a pattern, of which there must be some.
fn fitting<'a>(pattern: &str, survey: &'a Survey) -> Result<Vec<&'a str>> {
    let fits = WildMatch::new(pattern);
    let names = survey.names();
    let found: Vec<&str> = names.iter().copied().filter(|name| *name != ID && fits.matches(name)).collect();
    if found.is_empty() {
        return Err(Error::NoMatch { pattern: pattern.to_owned(), fields: listed(names) });
    }
    Ok(found)
}

/// The model with the fields in place of the patterns that they fit.
fn expanded(model: &Model, survey: &Survey) -> Result<Model> {
    let mut terms = Vec::new();
    for term in &model.terms {
        terms.extend(expanded_term(term, survey)?);
    }
    Ok(Model::new(model.intercept, terms))
}

fn expanded_term(term: &Term, survey: &Survey) -> Result<Vec<Term>> {
    let mut products = vec![Term::default()];
    for factor in &term.0 {
        let factors = match factor {
            Factor::Field(Named::Pattern(pattern), reading) => {
                let found = fitting(pattern, survey)?.into_iter();
                found.map(|name| Factor::Field(Named::Name(name.to_owned()), *reading)).collect()
            }
            Factor::Hash(terms, buckets) => {
                let inner: Result<Vec<Vec<Term>>> =
                    terms.iter().map(|term| expanded_term(term, survey)).collect();
                vec![Factor::Hash(Model::new(false, inner?.concat()).terms, *buckets)]
            }
            factor => vec![factor.clone()],
        };
        let each = |product: &Term| -> Vec<Term> {
            factors.iter().map(|factor| product.times(&Term(vec![factor.clone()]))).collect()
        };
        products = products.iter().flat_map(each).collect();
    }
    Ok(products)
}
