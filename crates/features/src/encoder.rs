//! Rows of numbers from raw values, by a recipe.
//!
//! A field has a *slot*. A value that is put into a slot becomes *atoms*: a number is one, a level is one, each output of a
//! function is one. A term is the product of its factors' atoms, and each product of atoms is a feature, found by the
//! atoms' numbers where it has been seen before and by its name where it has not. So names are made once, and the rest is
//! arithmetic. All of this but the features themselves is a cache: it is forgotten when it has grown too large.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;
use wildmatch::WildMatch;

use crate::basis::Basis;
use crate::error::{Error, Result, shortened};
use crate::model::{Factor, Named, Reading, Term};
use crate::recipe::{ID, Missing, Recipe};
use crate::value::{Kind, LARGEST, Value, level, number_level};
use crate::vocabulary::{Feature, Joining, Vocabulary, bucket, bucket_name};

/// Atoms that are remembered, and bytes of their names, which bounds memory where levels never end.
const REMEMBERED: usize = 1 << 17;
const REMEMBERED_BYTES: usize = 1 << 25;
/// Names of unknown fields that are kept, and how long they may be.
const MOST_UNKNOWN: usize = 100;
const LONGEST_UNKNOWN: usize = 200;
/// No cell, atom or feature.
const NONE: u32 = u32::MAX;

/// A field's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(u32);

/// Turns raw values into rows of features.
///
/// ```
/// use truenorth_features::{Encoder, Joining, Recipe, Value};
///
/// let recipe = Recipe::without_data("price + segment:item".parse()?)?;
/// let mut encoder = Encoder::new(recipe, Vec::new(), Joining::UpTo(1000));
/// encoder.clear();
/// for (field, value) in [("price", Value::Number(1.5)), ("segment", Value::Text("student")), ("item", Value::Text("news"))] {
///     let slot = encoder.slot(field).expect("a field of the model");
///     encoder.put(slot, value)?;
/// }
/// encoder.encode()?;
/// let named: Vec<_> = encoder.entries().iter().map(|&(at, value)| (&*encoder.features()[at as usize].name, value)).collect();
/// assert_eq!(named, [("price", 1.5), ("segment=student:item=news", 1.0)]);
/// # Ok::<(), truenorth_features::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Encoder {
    recipe: Recipe,
    vocabulary: Vocabulary,
    /// Means that take the place of missing numbers, by the names of atoms.
    means: Option<BTreeMap<String, f64>>,
    /// Fields that the recipe does not know, and how often they came, in the order in which they came.
    unknown: Vec<(String, u64)>,
    /// How often a feature turned up that may not join.
    unknown_features: u64,
    /// Sums of numbers that were counted before the cache was last forgotten.
    sums: BTreeMap<String, (f64, f64)>,
    cache: Cache,
    row: Row,
}

/// What follows from the recipe and from values that were seen.
#[derive(Debug, Clone, Default)]
struct Cache {
    slots: Vec<Field>,
    /// Slots by name; for fields that the recipe does not know, their places among these.
    by_name: FxHashMap<String, Result<Slot, u32>>,
    patterns: Vec<(WildMatch, Reading)>,
    terms: Vec<Product>,
    /// The term that makes a feature: the first, if several do.
    owners: Vec<u32>,
    atoms: Atoms,
    /// Sum and weight of the numbers that were counted, by atom.
    sums: Vec<(f64, f64)>,
}

/// A field that a recipe knows.
#[derive(Debug, Clone, Default)]
struct Field {
    name: String,
    kind: Option<Kind>,
    /// How the model takes it.
    number: bool,
    category: bool,
    /// Its values tell.
    natural: bool,
    patterns: Vec<usize>,
    /// The atom of the number itself.
    atom: u32,
    levels: FxHashMap<String, u32>,
    number_levels: FxHashMap<u64, u32>,
}

/// Names of atoms, and the sets of atoms whose means stand for missing numbers.
#[derive(Debug, Clone, Default)]
struct Atoms {
    names: Vec<String>,
    /// Of all names.
    bytes: usize,
    by_name: FxHashMap<String, u32>,
    /// Those that are levels.
    levels: rustc_hash::FxHashSet<u32>,
    /// Buckets of a hash, and the names that fell into them lately.
    buckets: FxHashMap<u32, Vec<String>>,
    gaps: Vec<Vec<u32>>,
}

/// The row that is being read.
#[derive(Debug, Clone, Default)]
struct Row {
    cells: Vec<Cell>,
    /// The last cell of each slot.
    last: Vec<u32>,
    /// Cells from here on hide those of the same slot before: an action's own fields hide the context's.
    base: usize,
    /// Numbers that are there, by their atoms.
    numbers: Vec<(u32, f64)>,
    /// Atoms of all factors, one behind the other, and where those of each factor are.
    parts: Vec<Part>,
    ranges: Vec<Range<usize>>,
    entries: Vec<(u32, f64)>,
    gaps: Vec<Gap>,
    /// Unknown fields that were counted, and what the examples of buckets were before, since values were last cleared.
    unknown: Vec<u32>,
    examples: Vec<(u32, Vec<String>)>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    slot: u32,
    /// NaN, if the value is none.
    number: f64,
    level: u32,
    /// The cell before it in the same slot.
    before: u32,
}

/// An atom, or a product of some, with its value.
#[derive(Debug, Clone, Copy)]
struct Part {
    key: u32,
    value: f64,
    /// Whose means are still to be multiplied with it: 0, or one more than a set's place.
    gap: u32,
}

/// A feature whose value is known but for means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The feature.
    pub feature: u32,
    /// The set of means: see [`Encoder::gap_names`].
    pub set: u32,
    /// What the means are to be multiplied with.
    pub value: f64,
}

/// A term, with what has been seen of it.
#[derive(Debug, Clone)]
struct Product {
    term: Term,
    factors: Vec<Source>,
    /// What the first atoms make, by the first of them.
    first: Vec<u32>,
    /// What the product before and the next atom make.
    next: Vec<FxHashMap<u64, u32>>,
    /// Atoms on the way.
    path: Vec<u32>,
}

/// Where the atoms of a factor come from.
#[derive(Debug, Clone)]
enum Source {
    Number(u32),
    Category(u32),
    Natural(u32),
    Pattern(usize),
    Function { slot: u32, basis: Basis, atoms: Vec<u32> },
    Hash(Box<Hashed>),
}

#[derive(Debug, Clone)]
struct Hashed {
    inner: Vec<Product>,
    buckets: u32,
    prefix: String,
    /// What the inner terms make by name: the atom of its bucket, and the term that makes it.
    names: FxHashMap<String, (u32, usize)>,
    parts: Vec<Part>,
    ranges: Vec<Range<usize>>,
}

impl Encoder {
    /// For the features that are known so far, perhaps none.
    pub fn new(recipe: Recipe, features: Vec<Feature>, joining: Joining) -> Self {
        let cache = Cache::new(&recipe);
        let row = Row { last: vec![NONE; cache.slots.len()], ..Row::default() };
        let vocabulary = Vocabulary::new(features, joining);
        Self {
            recipe,
            vocabulary,
            means: None,
            unknown: Vec::new(),
            unknown_features: 0,
            sums: BTreeMap::new(),
            cache,
            row,
        }
    }

    /// Puts means in the place of missing numbers, by the names of what is missing.
    #[must_use]
    pub fn with_means(mut self, means: BTreeMap<String, f64>) -> Self {
        self.means = Some(means);
        self
    }

    /// Goes on counting fields that the recipe does not know.
    #[must_use]
    pub fn with_unknown_fields(mut self, unknown: Vec<(String, u64)>) -> Self {
        self.unknown = unknown;
        self
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The features so far, without the intercept.
    pub fn features(&self) -> &[Feature] {
        &self.vocabulary.features
    }

    /// How often a feature turned up that may not join.
    pub fn unknown_features(&self) -> u64 {
        self.unknown_features
    }

    /// Fields that came and that the recipe does not know, with how often they came; the first hundred.
    pub fn unknown_fields(&self) -> &[(String, u64)] {
        &self.unknown
    }

    /// The fields that the model names, which every row must have, and their slots.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Slot)> {
        let named = self.cache.slots.iter().zip(0..).filter(|(field, _)| !field.name.is_empty());
        named.map(|(field, place)| (field.name.as_str(), Slot(place)))
    }

    /// The slot of a field; none if the model has no use for it.
    pub fn slot(&mut self, name: &str) -> Option<Slot> {
        let place = match self.cache.by_name.get(name) {
            Some(&place) => place,
            None if self.cache.takes(name) => {
                self.row.last.push(NONE);
                Ok(self.cache.add_field(name, None))
            }
            None => {
                let place = Err(self.unknown_place(name));
                if name.len() <= LONGEST_UNKNOWN {
                    self.cache.by_name.insert(name.to_owned(), place);
                }
                place
            }
        };
        if let Err(place) = place
            && let Some((_, count)) = self.unknown.get_mut(place as usize)
        {
            *count += 1;
            self.row.unknown.push(place);
        }
        place.ok()
    }

    /// Where an unknown field is counted, if it is.
    fn unknown_place(&mut self, name: &str) -> u32 {
        // The id of an action is there whether the model needs it or not.
        if name == ID || name.len() > LONGEST_UNKNOWN {
            return NONE;
        }
        let known = self.unknown.iter().position(|(known, _)| known == name);
        index(known.unwrap_or_else(|| {
            if self.unknown.len() == MOST_UNKNOWN {
                return NONE as usize;
            }
            self.unknown.push((name.to_owned(), 0));
            self.unknown.len() - 1
        }))
    }

    /// Begins a row. Slots keep their meaning but for those of patterns, once too much is remembered; true if so.
    pub fn clear(&mut self) -> bool {
        let Cache { atoms, by_name, .. } = &self.cache;
        let full = atoms.names.len().max(by_name.len()) > REMEMBERED || atoms.bytes > REMEMBERED_BYTES;
        if full {
            self.cache.add_sums(&mut self.sums);
            self.cache = Cache::new(&self.recipe);
            self.row.cells.clear();
            self.row.last = vec![NONE; self.cache.slots.len()];
        }
        self.truncate(0);
        self.row.unknown.clear();
        self.row.examples.clear();
        full
    }

    /// Forgets what has come since values were last cleared: features behind the first so many, examples of buckets, counts
    /// of unknown fields. So an event that is refused leaves no trace. It costs what a new encoder does.
    pub fn take_back(&mut self, features: usize) {
        for (feature, examples) in std::mem::take(&mut self.row.examples).into_iter().rev() {
            self.vocabulary.features[feature as usize].examples = examples;
        }
        for place in std::mem::take(&mut self.row.unknown) {
            self.unknown[place as usize].1 -= 1;
        }
        while self.unknown.last().is_some_and(|(_, count)| *count == 0) {
            self.unknown.pop();
        }
        self.vocabulary.truncate(features);
        self.cache = Cache::new(&self.recipe);
        self.row = Row { last: vec![NONE; self.cache.slots.len()], ..Row::default() };
    }

    /// Values that are put in from here on hide those of the same field so far. Tells how many there are so far.
    pub fn mark(&mut self) -> usize {
        self.row.base = self.row.cells.len();
        self.row.base
    }

    /// Takes back the values that were put in behind a mark.
    pub fn truncate(&mut self, mark: usize) {
        self.row.base = mark;
        while self.row.cells.len() > mark {
            if let Some(cell) = self.row.cells.pop() {
                self.row.last[cell.slot as usize] = cell.before;
            }
        }
    }

    /// Whether a field has a value behind the last mark.
    pub(crate) fn has_own(&self, slot: Slot) -> bool {
        let last = self.row.last[slot.0 as usize];
        last != NONE && last as usize >= self.row.base
    }

    /// Puts a value into a slot. Several numbers of one field add up, and several levels are beside each other.
    pub fn put(&mut self, slot: Slot, value: Value<'_>) -> Result<()> {
        let Cache { slots, atoms, .. } = &mut self.cache;
        let field = &mut slots[slot.0 as usize];
        let typed = if field.natural { value.typed() } else { value };
        let mut cell = Cell { slot: slot.0, number: f64::NAN, level: NONE, before: NONE };
        if field.number || field.natural && matches!(typed, Value::Number(_)) {
            match number(&field.name, typed) {
                Ok(number) => cell.number = number.unwrap_or(f64::NAN),
                // Words for a missing number are one where that is tolerated.
                Err(error)
                    if error.missing().is_some()
                        && self.recipe.missing != Missing::Refuse
                        && self.recipe.missing != Missing::Drop => {}
                Err(error) => return Err(error),
            }
        }
        if field.category || field.natural && matches!(typed, Value::Truth(_) | Value::Text(_)) {
            cell.level = atoms.level(field, typed)?;
        }
        if cell.level == NONE && cell.number.is_nan() {
            return Ok(());
        }
        let last = &mut self.row.last[slot.0 as usize];
        cell.before = std::mem::replace(last, index(self.row.cells.len()));
        self.row.cells.push(cell);
        Ok(())
    }

    /// Makes the features of the values that were put in. An error leaves no feature behind, unless it says that there
    /// are too many.
    pub fn encode(&mut self) -> Result<()> {
        let Self { recipe, vocabulary, means, unknown_features, cache, row, .. } = self;
        let Cache { slots, terms, owners, atoms, .. } = cache;
        row.parts.clear();
        row.ranges.clear();
        row.entries.clear();
        row.gaps.clear();
        row.numbers.clear();
        let mut reader = Reader {
            missing: recipe.missing,
            slots,
            cells: &row.cells,
            last: &row.last,
            base: row.base,
            numbers: &mut row.numbers,
            atoms,
        };
        // First the values, which may be wrong, then the features, which join.
        for product in &mut *terms {
            reader.parts(product, &mut row.parts, &mut row.ranges)?;
        }
        let mut ranges = &row.ranges[..];
        for (place, product) in (0..).zip(&mut *terms) {
            let (mine, rest) = ranges.split_at(product.factors.len());
            ranges = rest;
            let Product { term, factors, first, next, path } = product;
            let alone = factors.len() == 1;
            let mut made = |path: &[u32], atoms: &mut Atoms| -> Result<u32> {
                let bucket = path.iter().any(|atom| atoms.buckets.contains_key(atom));
                let Some(feature) = vocabulary.find(&atoms.joined(path), bucket, term)? else {
                    return Ok(UNKNOWN);
                };
                if owners.len() <= feature as usize {
                    owners.resize(feature as usize + 1, NONE);
                }
                let owner = &mut owners[feature as usize];
                if *owner == NONE {
                    *owner = place;
                }
                // What two terms make alike is one feature, once.
                Ok(if *owner == place { feature } else { NONE })
            };
            let mut product = Walk { first, next, path, parts: &row.parts, ranges: mine, atoms: &mut *atoms };
            let (entries, gaps) = (&mut row.entries, &mut row.gaps);
            product.walk(&mut made, &mut |part| match part.gap {
                _ if part.key == NONE => {}
                _ if part.key == UNKNOWN => *unknown_features += 1,
                0 => entries.push((part.key, part.value)),
                gap => gaps.push(Gap { feature: part.key, set: gap - 1, value: part.value }),
            })?;
            if alone && let Source::Hash(_) = factors[0] {
                let mut names: Vec<(u32, Vec<String>)> = Vec::new();
                for part in &row.parts[mine[0].clone()] {
                    if let Some(fallen) = atoms.buckets.get_mut(&part.key).filter(|names| !names.is_empty()) {
                        names.push((part.key, std::mem::take(fallen)));
                    }
                }
                for (atom, fallen) in names {
                    let feature = first.get(atom as usize).copied().filter(|&feature| feature != NONE);
                    let Some(at) = feature else { continue };
                    if let Some(feature) = vocabulary.features.get_mut(at as usize) {
                        let before = feature.examples.clone();
                        fallen.iter().for_each(|name| feature.add_example(name));
                        if feature.examples != before {
                            row.examples.push((at, before));
                        }
                    }
                }
            }
        }
        if let Some(means) = means {
            for gap in row.gaps.drain(..) {
                let of = |&atom: &u32| means.get(&atoms.names[atom as usize]).copied().unwrap_or(0.0);
                let mean: f64 = atoms.gaps[gap.set as usize].iter().map(of).product();
                row.entries.push((gap.feature, gap.value * mean));
            }
        }
        Ok(())
    }

    /// The features of the row that was encoded last and their values; a feature may come twice, and then its values add up.
    pub fn entries(&self) -> &[(u32, f64)] {
        &self.row.entries
    }

    /// The features of that row that lack the mean of something, where no means were given.
    pub fn gaps(&self) -> &[Gap] {
        &self.row.gaps
    }

    /// Whose means a gap is to be multiplied with.
    pub fn gap_names(&self, set: u32) -> impl Iterator<Item = &str> {
        self.cache.atoms.gaps[set as usize].iter().map(|&atom| self.cache.atoms.names[atom as usize].as_str())
    }

    /// Adds the numbers of that row, which stands for so many, to the sums that means are made of.
    pub fn count_numbers(&mut self, weight: f64) {
        for &(atom, value) in &self.row.numbers {
            let atom = atom as usize;
            if self.cache.sums.len() <= atom {
                self.cache.sums.resize(atom + 1, (0.0, 0.0));
            }
            self.cache.sums[atom].0 += weight * value;
            self.cache.sums[atom].1 += weight;
        }
    }

    /// Sum and weight of the numbers that were counted, by name. Only their ratio means something: a number that is a
    /// part of several terms counts for each.
    pub fn number_sums(&self) -> BTreeMap<String, (f64, f64)> {
        let mut sums = self.sums.clone();
        self.cache.add_sums(&mut sums);
        sums
    }
}

impl Recipe {
    /// The features that are there whatever the data: numbers and their functions by themselves, in the order of the model.
    pub fn fixed_features(&self) -> Vec<Feature> {
        let mut cache = Cache::new(self);
        let mut names = Vec::new();
        for product in &mut cache.terms {
            match &product.factors[..] {
                [Source::Number(slot)] => names.push(cache.slots[*slot as usize].name.clone()),
                [Source::Function { slot, basis, .. }] if !basis.is_category() => {
                    names.extend(basis.names(&cache.slots[*slot as usize].name));
                }
                _ => {}
            }
        }
        names.into_iter().map(Feature::new).collect()
    }
}

impl Cache {
    fn new(recipe: &Recipe) -> Self {
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
                        field.category = true
                    }
                    (Reading::Natural, None) => field.natural = true,
                },
                _ => field.number = true,
            }
        }
        let hashes = model.parts_with_hashes().filter(|part| matches!(part, Factor::Hash(..))).count();
        let mut pattern = 0;
        cache.terms =
            model.terms.iter().map(|term| cache.product(recipe, term, hashes > 1, &mut pattern)).collect();
        cache
    }

    fn add_sums(&self, sums: &mut BTreeMap<String, (f64, f64)>) {
        for (name, &(sum, weight)) in self.atoms.names.iter().zip(&self.sums) {
            if weight > 0.0 {
                let all = sums.entry(name.clone()).or_default();
                (all.0, all.1) = (all.0 + sum, all.1 + weight);
            }
        }
    }

    fn takes(&self, name: &str) -> bool {
        name != ID && self.patterns.iter().any(|(pattern, _)| pattern.matches(name))
    }

    fn add_field(&mut self, name: &str, kind: Option<Kind>) -> Slot {
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

    fn product(&mut self, recipe: &Recipe, term: &Term, prefixed: bool, pattern: &mut usize) -> Product {
        let factors: Vec<Source> =
            term.0.iter().map(|factor| self.source(recipe, factor, prefixed, pattern)).collect();
        let next = vec![FxHashMap::default(); factors.len().saturating_sub(1)];
        Product { term: term.clone(), factors, first: Vec::new(), next, path: Vec::new() }
    }

    fn source(&mut self, recipe: &Recipe, factor: &Factor, prefixed: bool, pattern: &mut usize) -> Source {
        if let Factor::Hash(terms, buckets) = factor {
            let prefix = terms.iter().map(Term::to_string).collect::<Vec<_>>().join("+");
            return Source::Hash(Box::new(Hashed {
                inner: terms.iter().map(|term| self.product(recipe, term, prefixed, pattern)).collect(),
                buckets: *buckets,
                prefix: if prefixed { prefix } else { String::new() },
                names: FxHashMap::default(),
                parts: Vec::new(),
                ranges: Vec::new(),
            }));
        }
        let Some(name) = factor.name() else {
            *pattern += 1;
            return Source::Pattern(*pattern - 1);
        };
        let slot = self.by_name[name].map_or(NONE, |slot| slot.0);
        let cuts = recipe.cuts.get(&factor.to_string()).map_or(&[][..], Vec::as_slice);
        if let Some(basis) = Basis::of(factor, cuts) {
            let atoms = basis.names(name).iter().map(|name| self.atoms.find(name)).collect();
            return Source::Function { slot, basis, atoms };
        }
        match (factor, self.slots[slot as usize].kind) {
            (Factor::Field(_, Reading::Number), _)
            | (Factor::Field(_, Reading::Natural), Some(Kind::Number)) => Source::Number(slot),
            (Factor::Field(_, Reading::Category), _) | (_, Some(_)) => Source::Category(slot),
            (_, None) => Source::Natural(slot),
        }
    }
}

impl Atoms {
    fn find(&mut self, name: &str) -> u32 {
        if let Some(&atom) = self.by_name.get(name) {
            return atom;
        }
        let atom = index(self.names.len());
        self.names.push(name.to_owned());
        self.bytes += name.len();
        self.by_name.insert(name.to_owned(), atom);
        atom
    }

    /// The level that a value is; none if it is missing.
    fn level(&mut self, field: &mut Field, value: Value<'_>) -> Result<u32> {
        match value {
            Value::Missing => Ok(NONE),
            Value::Number(number) => {
                if let Some(&atom) = field.number_levels.get(&number.to_bits()) {
                    return Ok(atom);
                }
                let atom = self.new_level(format!("{}={}", field.name, number_level(number)))?;
                field.number_levels.insert(number.to_bits(), atom);
                Ok(atom)
            }
            Value::Truth(truth) => self.level(field, Value::Text(if truth { "true" } else { "false" })),
            Value::Text(text) | Value::Cell(text) => {
                if let Some(&atom) = field.levels.get(text) {
                    return Ok(atom);
                }
                let level = level(text);
                if level.is_empty() {
                    return Ok(NONE);
                }
                let atom = self.new_level(format!("{}={level}", field.name))?;
                field.levels.insert(text.to_owned(), atom);
                Ok(atom)
            }
        }
    }

    /// The level of this name, which must not be that of a number.
    fn new_level(&mut self, name: String) -> Result<u32> {
        let known = self.by_name.get(&name).copied();
        let atom = self.find(&name);
        if known.is_some() && !self.levels.contains(&atom) {
            return Err(Error::TwoFeatures(name));
        }
        self.levels.insert(atom);
        Ok(atom)
    }

    fn joined(&self, path: &[u32]) -> String {
        let mut name = String::new();
        for (place, &atom) in path.iter().enumerate() {
            name.push_str(if place > 0 { ":" } else { "" });
            name.push_str(&self.names[atom as usize]);
        }
        name
    }

    /// The set of means that two parts of a product lack together.
    fn both_gaps(&mut self, one: u32, other: u32) -> u32 {
        if one == 0 || other == 0 {
            return one.max(other);
        }
        let mut set = [&self.gaps[one as usize - 1][..], &self.gaps[other as usize - 1]].concat();
        set.sort_unstable();
        self.gap(set)
    }

    fn gap(&mut self, set: Vec<u32>) -> u32 {
        let place = self.gaps.iter().position(|known| *known == set).unwrap_or_else(|| {
            self.gaps.push(set);
            self.gaps.len() - 1
        });
        index(place + 1)
    }
}

/// The values of a row, as the factors of terms read them.
struct Reader<'a> {
    missing: Missing,
    slots: &'a [Field],
    cells: &'a [Cell],
    last: &'a [u32],
    base: usize,
    numbers: &'a mut Vec<(u32, f64)>,
    atoms: &'a mut Atoms,
}

impl Reader<'_> {
    /// Adds the atoms of all factors of a product, and where those of each are.
    fn parts(
        &mut self,
        product: &mut Product,
        parts: &mut Vec<Part>,
        ranges: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        for source in &mut product.factors {
            let start = parts.len();
            self.read(source, parts)?;
            ranges.push(start..parts.len());
        }
        Ok(())
    }

    fn cells(&self, slot: u32) -> impl Iterator<Item = Cell> + use<'_> {
        let last = self.last[slot as usize];
        // What an action says of a field hides what the context says.
        let first =
            if (last as usize) < self.cells.len() && last as usize >= self.base { self.base } else { 0 };
        let cell =
            move |place: u32| self.cells.get(place as usize).copied().filter(|_| place as usize >= first);
        std::iter::successors(cell(last), move |last| cell(last.before))
    }

    fn read(&mut self, source: &mut Source, parts: &mut Vec<Part>) -> Result<()> {
        let start = parts.len();
        let part = |key, value| Part { key, value, gap: 0 };
        match source {
            Source::Number(slot) => {
                let atom = self.slots[*slot as usize].atom;
                parts.extend(
                    self.cells(*slot)
                        .filter(|cell| !cell.number.is_nan())
                        .map(|cell| part(atom, cell.number)),
                );
                self.note(*slot, &[atom], start, parts)
            }
            Source::Category(slot) => {
                parts.extend(
                    self.cells(*slot).filter(|cell| cell.level != NONE).map(|cell| part(cell.level, 1.0)),
                );
                self.note(*slot, &[], start, parts)
            }
            Source::Natural(slot) => {
                let atom = self.slots[*slot as usize].atom;
                parts.extend(self.cells(*slot).map(|cell| natural(cell, atom)));
                self.note(*slot, &[], start, parts)
            }
            Source::Pattern(pattern) => {
                for (place, &cell) in self.cells.iter().enumerate() {
                    let field = &self.slots[cell.slot as usize];
                    let hidden = place < self.base && self.last[cell.slot as usize] as usize >= self.base;
                    if !hidden && field.patterns.contains(pattern) {
                        parts.push(natural(cell, field.atom));
                    }
                }
                Ok(())
            }
            Source::Function { slot, basis, atoms } => {
                let field = &self.slots[*slot as usize].name;
                for cell in self.cells(*slot).filter(|cell| !cell.number.is_nan()) {
                    basis
                        .evaluate(field, cell.number, |place, value| parts.push(part(atoms[place], value)))?;
                }
                self.note(*slot, if basis.is_category() { &[] } else { atoms }, start, parts)
            }
            Source::Hash(hashed) => {
                let Hashed { inner, buckets, prefix, names, parts: own, ranges } = &mut **hashed;
                for (place, product) in inner.iter_mut().enumerate() {
                    own.clear();
                    ranges.clear();
                    self.parts(product, own, ranges)?;
                    let mut made = |path: &[u32], atoms: &mut Atoms| -> Result<u32> {
                        let name = atoms.joined(path);
                        if let Some(&(atom, term)) = names.get(&name) {
                            return Ok(if term == place { atom } else { NONE });
                        }
                        let atom = atoms.find(&bucket_name(prefix, bucket(&name, *buckets), *buckets));
                        atoms.buckets.entry(atom).or_default().push(name.clone());
                        names.insert(name, (atom, place));
                        Ok(atom)
                    };
                    let Product { first, next, path, .. } = product;
                    let mut walk = Walk { first, next, path, parts: own, ranges, atoms: self.atoms };
                    walk.walk(&mut made, &mut |part| {
                        if part.key != NONE {
                            parts.push(part);
                        }
                    })?;
                }
                Ok(())
            }
        }
    }

    /// What a field without a value means, and which numbers means are made of; its atoms are none for a category.
    fn note(&mut self, slot: u32, atoms: &[u32], start: usize, parts: &mut Vec<Part>) -> Result<()> {
        match self.missing {
            Missing::Refuse | Missing::Drop if parts.len() == start => {
                Err(Error::Missing(self.slots[slot as usize].name.clone()))
            }
            Missing::Mean if parts.len() == start => {
                for &atom in atoms {
                    let gap = self.atoms.gap(vec![atom]);
                    parts.push(Part { key: atom, value: 1.0, gap });
                }
                Ok(())
            }
            _ if !atoms.is_empty() => {
                self.numbers.extend(parts[start..].iter().map(|part| (part.key, part.value)));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn natural(cell: Cell, atom: u32) -> Part {
    let (key, value) = if cell.number.is_nan() { (cell.level, 1.0) } else { (atom, cell.number) };
    Part { key, value, gap: 0 }
}

/// The way through all products of a term's atoms.
struct Walk<'a> {
    first: &'a mut Vec<u32>,
    next: &'a mut [FxHashMap<u64, u32>],
    path: &'a mut Vec<u32>,
    parts: &'a [Part],
    ranges: &'a [Range<usize>],
    atoms: &'a mut Atoms,
}

impl Walk<'_> {
    /// Gives each product of atoms to `each`, by what `made` has made of its atoms when they first came together.
    fn walk(
        &mut self,
        made: &mut impl FnMut(&[u32], &mut Atoms) -> Result<u32>,
        each: &mut impl FnMut(Part),
    ) -> Result<()> {
        let [range, rest @ ..] = self.ranges else { return Ok(()) };
        for &part in &self.parts[range.clone()] {
            if part.value == 0.0 {
                continue;
            }
            self.path.clear();
            self.path.push(part.key);
            if rest.is_empty() {
                if self.first.len() <= part.key as usize {
                    self.first.resize(part.key as usize + 1, UNSEEN);
                }
                let mut key = self.first[part.key as usize];
                if key == UNSEEN {
                    key = made(self.path, self.atoms)?;
                    self.first[part.key as usize] = key;
                }
                each(Part { key, ..part });
            } else {
                self.step(0, part, made, each)?;
            }
        }
        Ok(())
    }

    /// Multiplies a product with the atoms of the next factor.
    fn step(
        &mut self,
        depth: usize,
        before: Part,
        made: &mut impl FnMut(&[u32], &mut Atoms) -> Result<u32>,
        each: &mut impl FnMut(Part),
    ) -> Result<()> {
        let is_last = depth + 2 == self.ranges.len();
        for &part in &self.parts[self.ranges[depth + 1].clone()] {
            let value = before.value * part.value;
            if value == 0.0 {
                continue;
            }
            self.path.truncate(depth + 1);
            self.path.push(part.key);
            let pair = u64::from(before.key) << 32 | u64::from(part.key);
            let seen = &mut self.next[depth];
            let key = match seen.get(&pair) {
                Some(&key) => key,
                None => {
                    let key = if is_last { made(self.path, self.atoms)? } else { index(seen.len()) };
                    self.next[depth].insert(pair, key);
                    key
                }
            };
            let gap = self.atoms.both_gaps(before.gap, part.gap);
            let product = Part { key, value, gap };
            if is_last {
                each(product);
            } else {
                self.step(depth + 1, product, made, each)?;
            }
        }
        Ok(())
    }
}

/// An atom that nothing has been made of yet.
const UNSEEN: u32 = u32::MAX - 1;
/// A feature that may not join.
const UNKNOWN: u32 = u32::MAX - 2;

/// A place in a list, which has far fewer than four billion.
#[expect(clippy::cast_possible_truncation, reason = "far fewer fit into memory")]
fn index(place: usize) -> u32 {
    place as u32
}

/// A number from a raw value; none if there is no value.
pub fn number(field: &str, value: Value<'_>) -> Result<Option<f64>> {
    let not_a_number =
        |text: &str| Err(Error::NotANumber { field: field.to_owned(), value: shortened(text) });
    let found = match value {
        Value::Missing => return Ok(None),
        Value::Number(number) => (number, None),
        Value::Truth(truth) => (f64::from(u8::from(truth)), None),
        Value::Text(text) => return not_a_number(text),
        Value::Cell(text) => match text.trim() {
            "" => return Ok(None),
            text => match text.parse() {
                Ok(number) => (number, Some(text)),
                Err(_) if text.eq_ignore_ascii_case("true") => (1.0, None),
                Err(_) if text.eq_ignore_ascii_case("false") => (0.0, None),
                Err(_) => return not_a_number(text),
            },
        },
    };
    match found {
        (number, _) if number.abs() <= LARGEST => Ok(Some(number)),
        (number, text) => {
            let value = text.map_or_else(|| format!("{number:?}"), shortened);
            Err(Error::NotFinite { field: field.to_owned(), value })
        }
    }
}
