//! What an encoder remembers: where fields go, which atoms there are, and what their products make.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use wildmatch::WildMatch;

use super::Slot;
use crate::basis::Basis;
use crate::error::{Error, Result};
use crate::model::{Factor, Named, Reading, Term, hash_prefix};
use crate::recipe::{ID, Recipe};
use crate::value::{Kind, Value, level, number_level};

/// No cell, atom or feature.
pub(super) const NONE: u32 = u32::MAX;

/// An atom that nothing has been made of yet.
pub(super) const UNSEEN: u32 = u32::MAX - 1;
/// A feature that may not join.
pub(super) const UNKNOWN: u32 = u32::MAX - 2;

/// A place in a list, which has far fewer than four billion.
#[expect(clippy::cast_possible_truncation, reason = "far fewer fit into memory")]
pub(super) fn index(place: usize) -> u32 {
    place as u32
}

/// What follows from the recipe and from values that were seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Cache {
    pub(super) slots: Vec<Field>,
    /// Slots by name; for fields that the recipe does not know, their places among these.
    pub(super) by_name: FxHashMap<String, Result<Slot, u32>>,
    pub(super) patterns: Vec<(WildMatch, Reading)>,
    pub(super) terms: Vec<Product>,
    /// All terms, those that all actions of an event share, and the others.
    pub(super) chosen: [Vec<u32>; 3],
    /// The term that makes a feature, the first, if several do, and a hash of the atoms that it makes it of.
    pub(super) owners: Vec<(u32, u64)>,
    /// Products that are remembered, and bytes of their names.
    pub(super) products: usize,
    pub(super) bytes: usize,
    pub(super) atoms: Atoms,
    /// The numbers that were counted, by atom.
    pub(super) sums: Vec<Counted>,
}

/// Sum and weight of numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    sum: f64,
    /// What rounding has added to the sum (Kahan): millions of equal numbers would all be rounded the same way, so that
    /// the sum would depend on how rows are parted.
    excess: f64,
    weight: f64,
}

impl Counted {
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        let value = weight * value - self.excess;
        let sum = self.sum + value;
        self.excess = (sum - self.sum) - value;
        self.sum = sum;
        self.weight += weight;
    }
}

/// A field that a recipe knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Option<Kind>,
    /// How the model takes it.
    pub(super) number: bool,
    pub(super) category: bool,
    /// Its values tell.
    pub(super) natural: bool,
    pub(super) patterns: Vec<usize>,
    /// The atom of the number itself.
    pub(super) atom: u32,
    pub(super) levels: FxHashMap<String, u32>,
    pub(super) number_levels: FxHashMap<u64, u32>,
}

/// Names of atoms, and the sets of atoms whose means stand for missing numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Atoms {
    pub(super) names: Vec<String>,
    /// Of all names.
    pub(super) bytes: usize,
    pub(super) by_name: FxHashMap<String, u32>,
    /// Those that are levels.
    pub(super) levels: FxHashSet<u32>,
    /// Buckets of a hash, and the names that fell into them lately.
    pub(super) buckets: FxHashMap<u32, Vec<String>>,
    /// Sets of names whose means stand for missing numbers. They outlive the rest, because rows refer to them.
    pub(super) gaps: Vec<Vec<String>>,
}

/// An atom, or a product of some, with its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) key: u32,
    pub(super) value: f64,
    /// Whose means are still to be multiplied with it: 0, or one more than a set's place.
    pub(super) gap: u32,
}

/// A term, with what has been seen of it.
#[derive(Debug, Clone)]
pub(super) struct Product {
    pub(super) term: Term,
    pub(super) factors: Vec<Source>,
    /// The fields of all factors, unless patterns or hashes are among them.
    pub(super) slots: Option<Vec<u32>>,
    /// Which factors are the pattern of the one before: of their products, each pair is meant once.
    pub(super) repeats: Vec<bool>,
    /// What the first atoms make, by the first of them.
    pub(super) first: Vec<u32>,
    /// What the product before and the next atom make.
    pub(super) next: Vec<FxHashMap<u64, u32>>,
    /// Atoms on the way.
    pub(super) path: Vec<u32>,
}

/// Where the atoms of a factor come from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Field {
        slot: u32,
        reading: Reading,
    },
    /// All fields that fit a pattern, but for some.
    Pattern {
        place: usize,
        reading: Reading,
        without: Vec<u32>,
    },
    Function {
        slot: u32,
        basis: Basis,
        atoms: Vec<u32>,
    },
    Hash(Box<Hashed>),
}

#[derive(Debug, Clone)]
pub(super) struct Hashed {
    pub(super) inner: Vec<Product>,
    pub(super) buckets: u32,
    pub(super) prefix: String,
    /// What the inner terms make by name: the atom of its bucket, and the term that makes it.
    pub(super) names: FxHashMap<String, (u32, usize)>,
    pub(super) parts: Vec<Part>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Source {
    fn slot(&self) -> Option<u32> {
        match self {
            Self::Field { slot, .. } | Self::Function { slot, .. } => Some(*slot),
            Self::Pattern { .. } | Self::Hash(_) => None,
        }
    }
}

impl Cache {
    pub(super) fn new(recipe: &Recipe) -> Self {
        let mut cache = Self::default();
        let model = &recipe.model;
        let parts: Vec<&Factor> = model.parts().collect();
        for part in &parts {
            if let Factor::Field(Named::Pattern(pattern), reading) = part {
                cache.patterns.push((WildMatch::new(pattern), *reading));
            }
        }
        for name in model.fields() {
            cache.add_field(name, recipe.kinds.get(name).copied());
        }
        for part in &parts {
            let Some(Ok(Slot(slot))) = part.name().map(|name| cache.by_name[name]) else { continue };
            let field = &mut cache.slots[slot as usize];
            match part {
                Factor::Field(_, reading) => match (reading, field.kind) {
                    (Reading::Number, _) | (Reading::Natural, Some(Kind::Number)) => field.number = true,
                    (Reading::Category, _) | (Reading::Natural, Some(Kind::Category)) => {
                        field.category = true;
                    }
                    (Reading::Natural, None) => field.natural = true,
                },
                _ => field.number = true,
            }
        }
        let several = model.has_hashes();
        let mut pattern = 0;
        cache.terms =
            model.terms.iter().map(|term| cache.product(recipe, term, several, &mut pattern)).collect();
        // What a term names by itself, a pattern by itself leaves to it.
        let alone = model.terms.iter().filter(|term| term.0.len() == 1).filter_map(|term| term.0[0].name());
        let alone: Vec<u32> =
            alone.filter_map(|name| cache.by_name[name].as_ref().ok()).map(|slot| slot.0).collect();
        for product in &mut cache.terms {
            if let [Source::Pattern { without, .. }] = &mut product.factors[..] {
                without.clone_from(&alone);
            }
        }
        cache.chosen[0] = (0..index(cache.terms.len())).collect();
        cache
    }

    /// Parts the terms into those that all actions of an event share, by the slots of their fields, and the others.
    pub(super) fn share(&mut self, is_shared: impl Fn(&[u32]) -> bool) {
        let [all, shared, own] = &mut self.chosen;
        shared.clear();
        own.clear();
        for &place in &*all {
            let slots = self.terms[place as usize].slots.as_deref();
            if slots.is_some_and(&is_shared) { shared.push(place) } else { own.push(place) }
        }
    }

    pub(super) fn add_sums(&self, sums: &mut BTreeMap<String, (f64, f64)>) {
        for (name, &Counted { sum, weight, .. }) in self.atoms.names.iter().zip(&self.sums) {
            if weight > 0.0 {
                let all = sums.entry(name.clone()).or_default();
                (all.0, all.1) = (all.0 + sum, all.1 + weight);
            }
        }
    }

    pub(super) fn takes(&self, name: &str) -> bool {
        name != ID && self.patterns.iter().any(|(pattern, _)| pattern.matches(name))
    }

    pub(super) fn add_field(&mut self, name: &str, kind: Option<Kind>) -> Slot {
        let slot = Slot(index(self.slots.len()));
        let patterns = self.patterns.iter().enumerate();
        let fits = patterns.filter(|(_, (pattern, _))| name != ID && pattern.matches(name));
        let fits: Vec<(usize, Reading)> = fits.map(|(place, &(_, reading))| (place, reading)).collect();
        let any = |wanted| fits.iter().any(|&(_, reading)| reading == wanted);
        self.slots.push(Field {
            name: name.to_owned(),
            kind,
            number: any(Reading::Number) || any(Reading::Natural) && kind == Some(Kind::Number),
            category: any(Reading::Category) || any(Reading::Natural) && kind == Some(Kind::Category),
            natural: any(Reading::Natural) && kind.is_none(),
            patterns: fits.into_iter().map(|(place, _)| place).collect(),
            atom: self.atoms.find(name),
            ..Field::default()
        });
        self.by_name.insert(name.to_owned(), Ok(slot));
        slot
    }

    pub(super) fn product(
        &mut self,
        recipe: &Recipe,
        term: &Term,
        prefixed: bool,
        pattern: &mut usize,
    ) -> Product {
        let factors: Vec<Source> =
            term.0.iter().map(|factor| self.source(recipe, factor, prefixed, pattern)).collect();
        let next = vec![FxHashMap::default(); factors.len().saturating_sub(1)];
        let slots = factors.iter().map(Source::slot).collect();
        Product {
            term: term.clone(),
            factors,
            slots,
            repeats: (0..term.0.len()).map(|at| at > 0 && term.0[at] == term.0[at - 1]).collect(),
            first: Vec::new(),
            next,
            path: Vec::new(),
        }
    }

    pub(super) fn source(
        &mut self,
        recipe: &Recipe,
        factor: &Factor,
        prefixed: bool,
        pattern: &mut usize,
    ) -> Source {
        if let Factor::Hash(terms, buckets) = factor {
            return Source::Hash(Box::new(Hashed {
                inner: terms.iter().map(|term| self.product(recipe, term, prefixed, pattern)).collect(),
                buckets: *buckets,
                prefix: hash_prefix(terms, *buckets, prefixed),
                names: FxHashMap::default(),
                parts: Vec::new(),
                ranges: Vec::new(),
            }));
        }
        let Some(name) = factor.name() else {
            *pattern += 1;
            let reading = self.patterns[*pattern - 1].1;
            return Source::Pattern { place: *pattern - 1, reading, without: Vec::new() };
        };
        let slot = self.by_name[name].map_or(NONE, |slot| slot.0);
        let cuts = recipe.cuts.get(&factor.to_string()).map_or(&[][..], Vec::as_slice);
        if let Some(basis) = Basis::of(factor, cuts) {
            let atoms = basis.names(name).iter().map(|name| self.atoms.find(name)).collect();
            return Source::Function { slot, basis, atoms };
        }
        let reading = match (factor, self.slots[slot as usize].kind) {
            (Factor::Field(_, reading @ (Reading::Number | Reading::Category)), _) => *reading,
            (_, Some(Kind::Number)) => Reading::Number,
            (_, Some(Kind::Category)) => Reading::Category,
            (_, None) => Reading::Natural,
        };
        Source::Field { slot, reading }
    }
}

impl Field {
    /// The level that a value is, if it has been seen before.
    #[inline]
    pub(super) fn known_level(&self, value: Value<'_>) -> Option<u32> {
        match value {
            Value::Number(number) => self.number_levels.get(&number.to_bits()).copied(),
            value => self.levels.get(text(value)?).copied(),
        }
    }
}

/// The letters of a value that is not a number.
fn text(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Missing | Value::Number(_) => None,
        Value::Truth(truth) => Some(if truth { "true" } else { "false" }),
        Value::Text(text) | Value::Cell(text) => Some(text),
    }
}

impl Atoms {
    pub(super) fn find(&mut self, name: &str) -> u32 {
        if let Some(&atom) = self.by_name.get(name) {
            return atom;
        }
        let atom = index(self.names.len());
        self.names.push(name.to_owned());
        self.bytes += name.len();
        self.by_name.insert(name.to_owned(), atom);
        atom
    }

    /// The level that a value is, which comes for the first time; none if it is missing.
    #[cold]
    pub(super) fn level(&mut self, field: &mut Field, value: Value<'_>) -> Result<u32> {
        let Some(text) = text(value) else {
            let Value::Number(number) = value else { return Ok(NONE) };
            let atom = self.new_level(format!("{}={}", field.name, number_level(number)))?;
            field.number_levels.insert(number.to_bits(), atom);
            return Ok(atom);
        };
        let level = level(text);
        if level.is_empty() {
            return Ok(NONE);
        }
        let atom = self.new_level(format!("{}={level}", field.name))?;
        field.levels.insert(text.to_owned(), atom);
        Ok(atom)
    }

    /// The level of this name, which must not be that of a number.
    pub(super) fn new_level(&mut self, name: String) -> Result<u32> {
        let known = self.by_name.get(&name).copied();
        let atom = self.find(&name);
        if known.is_some() && !self.levels.contains(&atom) {
            return Err(Error::TwoFeatures(name));
        }
        self.levels.insert(atom);
        Ok(atom)
    }

    pub(super) fn joined(&self, path: &[u32]) -> String {
        let mut name = String::new();
        for (place, &atom) in path.iter().enumerate() {
            name.push_str(if place > 0 { ":" } else { "" });
            name.push_str(&self.names[atom as usize]);
        }
        name
    }

    /// The set of means that two parts of a product lack together.
    pub(super) fn both_gaps(&mut self, one: u32, other: u32) -> u32 {
        if one == 0 || other == 0 {
            return one.max(other);
        }
        self.gap([&self.gaps[one as usize - 1][..], &self.gaps[other as usize - 1]].concat())
    }

    /// One more than the place of a set of names.
    fn gap(&mut self, mut set: Vec<String>) -> u32 {
        set.sort_unstable();
        let place = self.gaps.iter().position(|known| *known == set).unwrap_or_else(|| {
            self.gaps.push(set);
            self.gaps.len() - 1
        });
        index(place + 1)
    }

    /// The same for an atom that is missing.
    pub(super) fn gap_of(&mut self, atom: u32) -> u32 {
        self.gap(vec![self.names[atom as usize].clone()])
    }
}
