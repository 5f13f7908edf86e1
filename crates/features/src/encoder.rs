//! Rows of numbers from raw values, by a recipe.
//!
//! A field has a *slot*. A value that is put into a slot becomes *atoms*: a number is one, a level is one, each output of a
//! function is one. A term is the product of its factors' atoms, and each product of atoms is a feature, found by the
//! atoms' numbers where it has been seen before and by its name where it has not. So names are made once, and the rest is
//! arithmetic. All of this but the features themselves is a cache: it is forgotten when it has grown too large.

mod cache;
mod walk;

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::ops::Range;

use crate::error::{Error, Result, nearest, shortened};
use crate::model::{Reading, Term};
use crate::recipe::{ID, Recipe};
use crate::value::{Kind, LARGEST, Value};
use crate::vocabulary::{Feature, Joining, Vocabulary};
use cache::{Atoms, Cache, NONE, Part, Product, Source, UNKNOWN, index};
use rustc_hash::FxBuildHasher;
use walk::{Cell, Reader, Values, Walk, in_order};

/// Atoms that are remembered, and bytes of their names, which bounds memory where levels never end.
const REMEMBERED: usize = 1 << 17;
const REMEMBERED_BYTES: usize = 1 << 25;
/// Names of unknown fields that are kept, and how long they may be.
const MOST_UNKNOWN: usize = 100;
const LONGEST_UNKNOWN: usize = 200;

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
    /// The slots of an action's fields, by their places in the event: most actions have the fields of the one before, in
    /// the same order.
    pub(crate) action_slots: Vec<(Range<usize>, Option<Slot>)>,
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
    /// Features of terms whose atoms have been seen before; the other terms, and how many of those come before each.
    known: Vec<(u32, f64)>,
    rest: Vec<(u32, usize)>,
    entries: Vec<(u32, f64)>,
    /// The features that all actions of an event share.
    shared: Vec<(u32, f64)>,
    gaps: Vec<Gap>,
    /// Unknown fields that were counted, and what the examples of buckets were before, since values were last cleared.
    unknown: Vec<u32>,
    examples: Vec<(u32, Vec<String>)>,
}

/// Which terms of a row.
#[derive(Debug, Clone, Copy)]
enum Which {
    All,
    Shared,
    Own,
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
            action_slots: Vec::new(),
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

    /// Their names, the first twenty.
    pub fn unseen(&self) -> &[String] {
        &self.vocabulary.unseen
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

    /// The slots of the action's id: under the name that all have, and under its own.
    pub(crate) fn id_slots(&self) -> [Option<Slot>; 2] {
        let find = |name: &str| self.cache.by_name.get(name).and_then(|place| place.as_ref().ok()).copied();
        [find(ID), self.recipe.id.as_deref().and_then(find)]
    }

    /// Begins a row. Slots keep their meaning but for those of patterns, once too much is remembered; true if so.
    pub fn clear(&mut self) -> bool {
        let Cache { atoms, by_name, products, bytes, .. } = &self.cache;
        let full = atoms.names.len().max(by_name.len()).max(*products) > REMEMBERED
            || atoms.bytes + bytes > REMEMBERED_BYTES;
        if full {
            self.cache.add_sums(&mut self.sums);
            self.forget();
            self.row.cells.clear();
            self.row.last = vec![NONE; self.cache.slots.len()];
        }
        self.truncate(0);
        self.row.unknown.clear();
        self.row.examples.clear();
        full
    }

    /// Forgets what can be made anew, but not what rows refer to.
    fn forget(&mut self) {
        let gaps = std::mem::take(&mut self.cache.atoms.gaps);
        self.cache = Cache::new(&self.recipe);
        self.cache.atoms.gaps = gaps;
    }

    /// Forgets what has come since values were last cleared: features behind the first so many, examples of buckets, counts
    /// of unknown fields. So an event that is refused leaves no trace. It costs what a new encoder does, if there is any.
    pub fn take_back(&mut self, features: usize) {
        let Row { examples, unknown, .. } = &self.row;
        if self.vocabulary.features.len() == features && examples.is_empty() && unknown.is_empty() {
            return;
        }
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
        self.forget();
        self.row = Row { last: vec![NONE; self.cache.slots.len()], ..Row::default() };
    }

    /// Values that are put in from here on hide those of the same field so far. Tells how many there are so far.
    pub(crate) fn mark(&mut self) -> usize {
        self.row.base = self.row.cells.len();
        self.row.base
    }

    /// Takes back the values that were put in behind a mark.
    pub(crate) fn truncate(&mut self, mark: usize) {
        self.row.base = mark;
        for cell in self.row.cells.iter().skip(mark).rev() {
            self.row.last[cell.slot as usize] = cell.before;
        }
        self.row.cells.truncate(mark);
    }

    /// Whether a field has a value behind the last mark.
    pub(crate) fn has_own(&self, slot: Slot) -> bool {
        let last = self.row.last[slot.0 as usize];
        last != NONE && last as usize >= self.row.base
    }

    /// The error with all fields that the row lacks, not only the first, so that whoever sends it learns of them at once.
    #[cold]
    pub(crate) fn lacking(&self, error: Error) -> Error {
        let Error::Missing(first) = error else { return error };
        let has = |name: &str| match self.cache.by_name.get(name) {
            Some(Ok(slot)) => self.row.last[slot.0 as usize] != NONE,
            _ => false,
        };
        let fields = self.recipe.model.fields().into_iter().filter(|name| !has(name));
        let fields: Vec<String> = fields.map(str::to_owned).collect();
        let unknown = || self.row.unknown.iter().map(|&place| self.unknown[place as usize].0.as_str());
        let meant =
            fields.iter().filter_map(|name| Some((nearest(name, unknown())?.to_owned(), name.clone())));
        let meant: Vec<(String, String)> = meant.collect();
        if fields.len() < 2 && meant.is_empty() {
            Error::Missing(first)
        } else {
            Error::Lacking { fields, meant }
        }
    }

    /// Puts a value into a slot. Several numbers of one field add up, and several levels are beside each other.
    pub fn put(&mut self, slot: Slot, value: Value<'_>) -> Result<()> {
        let Cache { slots, atoms, .. } = &mut self.cache;
        let field = &mut slots[slot.0 as usize];
        let value = if field.natural { value.typed() } else { value };
        let (is_number, is_level) = match value {
            Value::Number(_) => (field.number || field.natural, field.category),
            Value::Truth(_) | Value::Text(_) => (field.number, field.category || field.natural),
            Value::Missing | Value::Cell(_) => (field.number, field.category),
        };
        let (mut number, mut level) = (f64::NAN, NONE);
        if is_number {
            match self::number(&field.name, value) {
                Ok(found) => number = found.unwrap_or(f64::NAN),
                // Words for a missing number are one where that is tolerated.
                Err(error) if error.missing().is_some() && self.recipe.missing.fills() => {}
                Err(error) => return Err(error),
            }
        }
        if is_level {
            level = match field.known_level(value) {
                Some(level) => level,
                None => atoms.level(field, value)?,
            };
        }
        if level == NONE && number.is_nan() {
            return Ok(());
        }
        let Row { cells, last, base, .. } = &mut self.row;
        let before = std::mem::replace(&mut last[slot.0 as usize], index(cells.len()));
        cells.push(Cell {
            slot: slot.0,
            before,
            number,
            atom: field.atom,
            level,
            is_level: number.is_nan() || field.kind == Some(Kind::Category) && level != NONE,
            adds: before != NONE && before as usize >= *base,
        });
        Ok(())
    }

    /// Makes the features of the values that were put in. An error leaves no feature behind, unless it says that there
    /// are too many.
    pub fn encode(&mut self) -> Result<()> {
        self.row.entries.clear();
        self.row.gaps.clear();
        self.encode_terms(Which::All)
    }

    /// Makes the features that all actions share: those of terms whose fields have their values already.
    pub(crate) fn share(&mut self) -> Result<()> {
        let known = |slot: &u32| self.row.last[*slot as usize] != NONE;
        self.cache.share(|slots| slots.iter().all(known));
        self.row.entries.clear();
        self.row.gaps.clear();
        self.encode_terms(Which::Shared)?;
        self.row.shared.clone_from(&self.row.entries);
        if !self.row.gaps.is_empty() {
            // What lacks means is made with the rest of its row.
            self.row.shared.clear();
            self.cache.share(|_| false);
        }
        Ok(())
    }

    /// Makes the features of an action: those that all actions share, unless it hides a value of theirs, and its own.
    pub(crate) fn encode_action(&mut self) -> Result<()> {
        let Row { cells, base, .. } = &self.row;
        if cells[*base..].iter().any(|cell| (cell.before as usize) < *base) {
            return self.encode();
        }
        self.row.gaps.clear();
        self.row.entries.clone_from(&self.row.shared);
        self.encode_terms(Which::Own)
    }

    /// Adds the features of some terms.
    fn encode_terms(&mut self, which: Which) -> Result<()> {
        let Self { recipe, vocabulary, means, unknown_features, cache, row, .. } = self;
        let Cache { slots, terms, chosen, owners, atoms, products, bytes, .. } = cache;
        let wanted = &chosen[which as usize][..];
        row.parts.clear();
        row.ranges.clear();
        row.numbers.clear();
        row.known.clear();
        row.rest.clear();
        let values = Values { cells: &row.cells, last: &row.last, base: row.base };
        let mut reader = Reader {
            missing: recipe.missing,
            slots,
            values,
            numbers: matches!(which, Which::All).then_some(&mut row.numbers),
            atoms,
            remembered: bytes,
        };
        // What has been seen before is found at once. Of the rest, first the values, which may be wrong, then the
        // features, which join.
        let mut unknown = 0;
        for &place in wanted {
            let product = &mut terms[place as usize];
            let Some((feature, value)) = values.known(product) else {
                reader.parts(product, &mut row.parts, &mut row.ranges)?;
                row.rest.push((place, row.known.len()));
                continue;
            };
            if let Some(numbers) = &mut reader.numbers {
                values.count(product, numbers);
            }
            match feature {
                NONE => {}
                UNKNOWN => unknown += 1,
                feature => row.known.push((feature, value)),
            }
        }
        let mut joiner = Joiner { vocabulary, owners, products };
        let mut ranges = &row.ranges[..];
        let start = row.entries.len();
        let mut copied = 0;
        for &(place, before) in &row.rest {
            row.entries.extend_from_slice(&row.known[copied..before]);
            copied = before;
            let Product { term, factors, first, next, path, repeats, .. } = &mut terms[place as usize];
            let (mine, rest) = ranges.split_at(factors.len());
            ranges = rest;
            let mut made =
                |path: &[u32], atoms: &mut Atoms| joiner.feature((place, term), (path, repeats), atoms);
            let (entries, gaps) = (&mut row.entries, &mut row.gaps);
            let mut each = |part: Part| match part.gap {
                _ if part.key == NONE => {}
                _ if part.key == UNKNOWN => unknown += 1,
                0 => entries.push((part.key, part.value)),
                gap => gaps.push(Gap { feature: part.key, set: gap - 1, value: part.value }),
            };
            let mut walk = Walk { first, next, path, parts: &row.parts, ranges: mine, atoms: &mut *atoms };
            walk.walk(&mut made, &mut each)?;
            if let [Source::Hash(_)] = factors[..] {
                let fallen = &row.parts[mine[0].clone()];
                joiner.remember_examples(fallen, first, atoms, &mut row.examples);
            }
        }
        row.entries.extend_from_slice(&row.known[copied..]);
        *unknown_features += unknown;
        if let Some(&(feature, value)) = row.entries[start..].iter().find(|(_, value)| value.abs() > LARGEST)
        {
            let name = vocabulary.features.get(feature as usize).map(|feature| feature.name.clone());
            return Err(Error::NotFinite { field: name.unwrap_or_default(), value: format!("{value:e}") });
        }
        if let Some(means) = means {
            for gap in row.gaps.drain(..) {
                let of = |name: &String| means.get(name).copied().unwrap_or(0.0);
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
        self.cache.atoms.gaps[set as usize].iter().map(String::as_str)
    }

    /// Adds the numbers of that row, which stands for so many, to the sums that means are made of.
    pub fn count_numbers(&mut self, weight: f64) {
        for &(atom, value) in &self.row.numbers {
            let atom = atom as usize;
            if self.cache.sums.len() <= atom {
                self.cache.sums.resize_with(atom + 1, Default::default);
            }
            self.cache.sums[atom].add(value, weight);
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

/// What products of atoms that come for the first time become.
struct Joiner<'a> {
    vocabulary: &'a mut Vocabulary,
    owners: &'a mut Vec<(u32, u64)>,
    products: &'a mut usize,
}

impl Joiner<'_> {
    /// The feature that a term makes of a product of atoms.
    fn feature(
        &mut self,
        (place, term): (u32, &Term),
        (path, repeats): (&[u32], &[bool]),
        atoms: &Atoms,
    ) -> Result<u32> {
        *self.products += 1;
        if !in_order(path, repeats, atoms) {
            return Ok(NONE);
        }
        let bucket = path.iter().any(|atom| atoms.buckets.contains_key(atom));
        let name = atoms.joined(path);
        let Some(feature) = self.vocabulary.find(&name, bucket, term)? else { return Ok(UNKNOWN) };
        if self.owners.len() <= feature as usize {
            self.owners.resize(feature as usize + 1, (NONE, 0));
        }
        let (owner, made_of) = &mut self.owners[feature as usize];
        let atoms = FxBuildHasher.hash_one(path);
        if *owner == NONE {
            (*owner, *made_of) = (place, atoms);
        }
        // What two terms make alike is one feature, once; what only has the same name is not.
        if *owner == place || self.vocabulary.is_shared(feature) {
            Ok(feature)
        } else if *made_of == atoms {
            Ok(NONE)
        } else {
            Err(Error::TwoFeatures(name))
        }
    }

    /// Remembers what fell into the buckets of a hash.
    fn remember_examples(
        &mut self,
        fallen: &[Part],
        features: &[u32],
        atoms: &mut Atoms,
        before: &mut Vec<(u32, Vec<String>)>,
    ) {
        for part in fallen {
            let Some(names) = atoms.buckets.get_mut(&part.key).filter(|names| !names.is_empty()) else {
                continue;
            };
            let names = std::mem::take(names);
            let Some(&at) = features.get(part.key as usize) else { continue };
            let Some(feature) = self.vocabulary.features.get_mut(at as usize) else { continue };
            let known = feature.examples.clone();
            for name in &names {
                feature.add_example(name);
            }
            if feature.examples != known {
                before.push((at, known));
            }
        }
    }
}

impl Recipe {
    /// The features that are there whatever the data: numbers and their functions by themselves, in the order of the model.
    pub fn fixed_features(&self) -> Vec<Feature> {
        let mut cache = Cache::new(self);
        let mut names = Vec::new();
        for product in &mut cache.terms {
            match &product.factors[..] {
                [Source::Field { slot, reading: Reading::Number }] => {
                    names.push(cache.slots[*slot as usize].name.clone());
                }
                [Source::Function { slot, basis, .. }] if !basis.is_category() => {
                    names.extend(basis.names(&cache.slots[*slot as usize].name));
                }
                _ => {}
            }
        }
        names.into_iter().map(Feature::new).collect()
    }
}

/// A number from a raw value; none if there is no value.
#[inline]
pub fn number(field: &str, value: Value<'_>) -> Result<Option<f64>> {
    match value {
        Value::Missing => Ok(None),
        Value::Number(number) if number.abs() <= LARGEST => Ok(Some(number)),
        value => converted(field, value),
    }
}

fn converted(field: &str, value: Value<'_>) -> Result<Option<f64>> {
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
