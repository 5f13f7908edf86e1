//! Models: sums of products of what can be made of fields.
//!
//! ```
//! use truenorth_features::Model;
//!
//! let model: Model = "price*item + segment:(1 + item) - 1".parse()?;
//! assert_eq!(model.to_string(), "0 + price + item + price:item + segment + segment:item");
//! # Ok::<(), truenorth_features::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::parse;

/// Which features there are: a formula over fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Model {
    /// Whether a feature that is always 1 is in.
    pub intercept: bool,
    /// The terms, each once, in the order in which they were written.
    pub terms: Vec<Term>,
}

/// A product of factors: all products of their features. Of no factors it is 1.
#[derive(Debug, Clone, Default)]
pub struct Term(pub Vec<Factor>);

/// What is made of one field, or of several that fit a pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    /// A field, or every field that fits.
    Field(Named, Reading),
    /// log(1 + x).
    Log(String),
    /// As many levels with about as many rows each.
    Bins(String, u32),
    /// Sines and cosines of a period: so many harmonics.
    Cyclic(String, f64, u32),
    /// A natural cubic spline with so many knots.
    Spline(String, u32),
    /// The features of the terms, hashed into so many buckets.
    Hash(Vec<Term>, u32),
}

/// Which fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The one of this name.
    Name(String),
    /// All that fit: `*` stands for any characters, `?` for one.
    Pattern(String),
}

/// As what a field is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A number as a number, anything else as a category.
    Natural,
    /// A number; true is 1 and false is 0.
    Number,
    /// A category.
    Category,
}

impl Factor {
    /// A field as it is.
    pub fn field(name: &str) -> Self {
        Self::Field(Named::Name(name.to_owned()), Reading::Natural)
    }

    /// The field, where it is one by name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Field(Named::Name(name), _)
            | Self::Log(name)
            | Self::Bins(name, _)
            | Self::Cyclic(name, ..)
            | Self::Spline(name, _) => Some(name),
            Self::Field(Named::Pattern(_), _) | Self::Hash(..) => None,
        }
    }

    /// The factor itself, or those inside of a hash.
    pub fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Hash(terms, _) => terms.iter().flat_map(Term::parts).collect(),
            factor => vec![factor],
        }
    }
}

impl Term {
    /// All factors, those inside of hashes in their place.
    pub fn parts(&self) -> Vec<&Factor> {
        self.0.iter().flat_map(Factor::parts).collect()
    }

    /// The product of two; a factor of both is in it once, as in R, but that the product of a pattern with itself is all pairs of
    /// what fits, as in Vowpal Wabbit.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = self.clone();
        let own = |factor: &&Factor| {
            !self.0.contains(factor) || matches!(factor, Factor::Field(Named::Pattern(_), _))
        };
        product.0.extend(other.0.iter().filter(own).cloned());
        product
    }
}

/// The order of factors makes no other term.
impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        let within = |some: &Self, all: &Self| some.0.iter().all(|factor| all.0.contains(factor));
        self.0.len() == other.0.len() && within(self, other) && within(other, self)
    }
}

impl Model {
    /// The features of these terms, each term once.
    pub fn new(intercept: bool, terms: impl IntoIterator<Item = Term>) -> Self {
        let mut model = Self { intercept, terms: Vec::new() };
        for term in terms {
            if !model.terms.contains(&term) {
                model.terms.push(term);
            }
        }
        model
    }

    /// Whether another model has the same terms, in whatever order.
    pub fn is_same(&self, other: &Self) -> bool {
        self.intercept == other.intercept
            && self.terms.len() == other.terms.len()
            && self.terms.iter().all(|term| other.terms.contains(term))
    }

    /// All factors of all terms, those inside of hashes in their place.
    pub fn parts(&self) -> impl Iterator<Item = &Factor> {
        self.terms.iter().flat_map(Term::parts)
    }

    /// All factors, hashes themselves and what is inside of them.
    pub(crate) fn parts_with_hashes(&self) -> impl Iterator<Item = &Factor> {
        fn each<'a>(term: &'a Term, all: &mut Vec<&'a Factor>) {
            for factor in &term.0 {
                all.push(factor);
                if let Factor::Hash(terms, _) = factor {
                    for term in terms {
                        each(term, all);
                    }
                }
            }
        }
        let mut all = Vec::new();
        self.terms.iter().for_each(|term| each(term, &mut all));
        all.into_iter()
    }

    /// The model without the terms that have any of these fields.
    #[must_use]
    pub fn without(&self, fields: &[&str]) -> Self {
        let named = |term: &&Term| {
            term.parts().into_iter().filter_map(Factor::name).any(|name| fields.contains(&name))
        };
        Self::new(self.intercept, self.terms.iter().filter(|term| !named(term)).cloned())
    }

    /// Fields that are called like outcomes, which nobody knows before the choice.
    pub fn outcomes(&self) -> Vec<&str> {
        const WORDS: [&str; 6] = ["reward", "click", "impression", "propensity", "probability", "outcome"];
        let is_outcome = |name: &&str| {
            let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
            let first = last.split(['_', '-', ' ']).next().unwrap_or_default();
            first == "prob" || WORDS.iter().any(|word| first.starts_with(word))
        };
        self.fields().into_iter().filter(is_outcome).collect()
    }

    /// The place of the term that makes each of these features; none where its name does not tell.
    pub fn makers<'a>(&self, features: impl IntoIterator<Item = &'a str>) -> Vec<Option<usize>> {
        let fields: BTreeSet<&str> = self.fields().into_iter().collect();
        let named = |parts: &mut dyn Iterator<Item = &str>| parts.collect::<Vec<_>>().join(":");
        let several = self.has_hashes();
        let key = |term: &Term| match &term.0[..] {
            [Factor::Hash(terms, buckets)] => hash_prefix(terms, *buckets, several) + "#",
            factors => named(&mut factors.iter().filter_map(Factor::name)),
        };
        let keys: BTreeMap<String, usize> = self.terms.iter().map(key).zip(0..).collect();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let maker = |feature: &str| match feature.rsplit_once('#') {
            Some((hash, bucket)) if digits(bucket) => keys.get(&format!("{hash}#")).copied(),
            _ => {
                let parts = feature.split(':').map(|part| part.split('=').next().unwrap_or(part));
                keys.get(&named(&mut parts.filter(|field| fields.contains(field)))).copied()
            }
        };
        features.into_iter().map(maker).collect()
    }

    /// Whether buckets of several hashes have to be told apart.
    pub(crate) fn has_hashes(&self) -> bool {
        self.parts_with_hashes().filter(|part| matches!(part, Factor::Hash(..))).count() > 1
    }

    /// The fields that are named, each once, in the order of the model.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields = Vec::new();
        for name in self.parts().filter_map(Factor::name) {
            if !fields.contains(&name) {
                fields.push(name);
            }
        }
        fields
    }
}

/// What the buckets of a hash are called, up to their numbers.
pub(crate) fn hash_prefix(terms: &[Term], buckets: u32, several: bool) -> String {
    let inside = terms.iter().map(Term::to_string).collect::<Vec<_>>().join("+");
    if several { format!("hash({inside},{buckets})") } else { String::new() }
}

impl FromStr for Model {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse::model(text)
    }
}

impl TryFrom<String> for Model {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Model> for String {
    fn from(model: Model) -> Self {
        model.to_string()
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.intercept, self.terms.is_empty()) {
            (true, true) => f.write_str("1"),
            (false, true) => f.write_str("0"),
            (intercept, false) => {
                f.write_str(if intercept { "" } else { "0 + " })?;
                joined(f, &self.terms, " + ")
            }
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("1") } else { joined(f, &self.0, ":") }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[impl fmt::Display], between: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        f.write_str(if index > 0 { between } else { "" })?;
        part.fmt(f)?;
    }
    Ok(())
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(named, Reading::Natural) => named.fmt(f),
            Self::Field(named, Reading::Number) => write!(f, "N({named})"),
            Self::Field(named, Reading::Category) => write!(f, "C({named})"),
            Self::Log(name) => write!(f, "log({})", Quoted(name)),
            Self::Bins(name, bins) => write!(f, "bins({}, {bins})", Quoted(name)),
            Self::Cyclic(name, period, harmonics) => {
                write!(f, "cyclic({}, {period}, {harmonics})", Quoted(name))
            }
            Self::Spline(name, knots) => write!(f, "spline({}, {knots})", Quoted(name)),
            Self::Hash(terms, buckets) => {
                f.write_str("hash(")?;
                joined(f, terms, " + ")?;
                write!(f, ", {buckets})")
            }
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => Quoted(name).fmt(f),
            // A star in the middle would be taken for a product.
            Self::Pattern(pattern) if parse::is_plain_pattern(pattern) => f.write_str(pattern),
            Self::Pattern(pattern) => write!(f, "pattern({})", Quoted(pattern)),
        }
    }
}

/// A name as a model has it: between backticks where its letters would mean something else.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if parse::is_plain(self.0) {
            f.write_str(self.0)
        } else {
            write!(f, "`{}`", self.0.replace('`', "``"))
        }
    }
}
