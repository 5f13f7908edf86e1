//! From the values of a row to products of atoms.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::cache::{Atoms, Field, Hashed, NONE, Part, Product, Source, UNSEEN, index};
use crate::error::{Error, Result};
use crate::model::Reading;
use crate::recipe::Missing;
use crate::value::Kind;
use crate::vocabulary::{EXAMPLES, bucket, bucket_name};

#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) slot: u32,
    /// NaN, if the value is none.
    pub(super) number: f64,
    pub(super) level: u32,
    /// The cell before it in the same slot.
    pub(super) before: u32,
}

/// The values of a row, as the factors of terms read them.
pub(super) struct Reader<'a> {
    pub(super) missing: Missing,
    pub(super) slots: &'a [Field],
    pub(super) cells: &'a [Cell],
    pub(super) last: &'a [u32],
    pub(super) base: usize,
    /// Numbers that are there, if anybody counts them.
    pub(super) numbers: Option<&'a mut Vec<(u32, f64)>>,
    pub(super) atoms: &'a mut Atoms,
    /// Bytes of names that hashes remember.
    pub(super) remembered: &'a mut usize,
}

impl Reader<'_> {
    /// Adds the atoms of all factors of a product, and where those of each are.
    pub(super) fn parts(
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

    /// The atoms of a term of one or two fields with one value each, which most terms are.
    pub(super) fn simple(&mut self, product: &Product) -> Option<(Part, Option<Part>)> {
        match &product.factors[..] {
            [one] => Some((self.one(one)?, None)),
            [one, other] if !product.repeats[1] => Some((self.one(one)?, Some(self.one(other)?))),
            _ => None,
        }
    }

    fn one(&mut self, source: &Source) -> Option<Part> {
        let (Source::Number(slot) | Source::Category(slot) | Source::Natural(slot)) = source else {
            return None;
        };
        let last = self.last[*slot as usize] as usize;
        let cell = *self.cells.get(last)?;
        let first = if last >= self.base { self.base } else { 0 };
        if cell.before != NONE && cell.before as usize >= first {
            return None;
        }
        let field = &self.slots[*slot as usize];
        match source {
            Source::Category(_) => {
                (cell.level != NONE).then_some(Part { key: cell.level, value: 1.0, gap: 0 })
            }
            Source::Natural(_) => Some(natural(cell, field)),
            _ if cell.number.is_nan() => None,
            _ => {
                if let Some(numbers) = &mut self.numbers {
                    numbers.push((field.atom, cell.number));
                }
                Some(Part { key: field.atom, value: cell.number, gap: 0 })
            }
        }
    }

    /// The cells of a slot, the last first.
    #[inline]
    fn cells(&self, slot: u32) -> impl Iterator<Item = Cell> + use<'_> {
        let mut at = self.last[slot as usize] as usize;
        // What an action says of a field hides what the context says.
        let first = if at >= self.base { self.base } else { 0 };
        std::iter::from_fn(move || {
            let cell = *self.cells.get(at).filter(|_| at >= first)?;
            at = cell.before as usize;
            Some(cell)
        })
    }

    fn read(&mut self, source: &mut Source, parts: &mut Vec<Part>) -> Result<()> {
        let start = parts.len();
        let part = |key, value| Part { key, value, gap: 0 };
        match source {
            Source::Number(slot) => {
                let atom = self.slots[*slot as usize].atom;
                for cell in self.cells(*slot) {
                    if !cell.number.is_nan() {
                        parts.push(part(atom, cell.number));
                    }
                }
                self.note(*slot, &[atom], start, parts)
            }
            Source::Category(slot) => {
                for cell in self.cells(*slot) {
                    if cell.level != NONE {
                        parts.push(part(cell.level, 1.0));
                    }
                }
                self.note(*slot, &[], start, parts)
            }
            Source::Natural(slot) => {
                let field = &self.slots[*slot as usize];
                for cell in self.cells(*slot) {
                    parts.push(natural(cell, field));
                }
                self.note(*slot, &[], start, parts)
            }
            Source::Pattern { place: pattern, reading, without } => {
                for (place, &cell) in self.cells.iter().enumerate() {
                    let field = &self.slots[cell.slot as usize];
                    let last = self.last[cell.slot as usize];
                    let hidden = place < self.base && last != NONE && last as usize >= self.base;
                    if hidden || !field.patterns.contains(pattern) || without.contains(&cell.slot) {
                        continue;
                    }
                    match reading {
                        Reading::Category if cell.level != NONE => parts.push(part(cell.level, 1.0)),
                        Reading::Number if !cell.number.is_nan() => parts.push(part(field.atom, cell.number)),
                        Reading::Natural => parts.push(natural(cell, field)),
                        Reading::Category | Reading::Number => {}
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
                    let remembered = &mut *self.remembered;
                    let Product { first, next, path, repeats, .. } = product;
                    let mut made = |path: &[u32], atoms: &mut Atoms| -> Result<u32> {
                        let name = atoms.joined(path);
                        if let Some(&(atom, term)) = names.get(&name) {
                            return Ok(if term == place { atom } else { NONE });
                        }
                        if !in_order(path, repeats, atoms) {
                            return Ok(NONE);
                        }
                        let atom = atoms.find(&bucket_name(prefix, bucket(&name, *buckets), *buckets));
                        let fallen = atoms.buckets.entry(atom).or_default();
                        if fallen.len() < EXAMPLES {
                            fallen.push(name.clone());
                        }
                        *remembered += name.len();
                        names.insert(name, (atom, place));
                        Ok(atom)
                    };
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
    #[inline]
    fn note(&mut self, slot: u32, atoms: &[u32], start: usize, parts: &mut Vec<Part>) -> Result<()> {
        if parts.len() == start {
            return self.absent(slot, atoms, parts);
        }
        if let Some(numbers) = self.numbers.as_mut().filter(|_| !atoms.is_empty()) {
            numbers.extend(parts[start..].iter().map(|part| (part.key, part.value)));
        }
        Ok(())
    }

    #[cold]
    fn absent(&mut self, slot: u32, atoms: &[u32], parts: &mut Vec<Part>) -> Result<()> {
        match self.missing {
            Missing::Refuse | Missing::Drop => Err(Error::Missing(self.slots[slot as usize].name.clone())),
            Missing::Mean => {
                for &atom in atoms {
                    let gap = self.atoms.gap_of(atom);
                    parts.push(Part { key: atom, value: 1.0, gap });
                }
                Ok(())
            }
            Missing::Zero => Ok(()),
        }
    }
}

/// A number as a number, anything else as a level, unless the field is known to hold categories.
fn natural(cell: Cell, field: &Field) -> Part {
    let level = cell.number.is_nan() || field.kind == Some(Kind::Category) && cell.level != NONE;
    let (key, value) = if level { (cell.level, 1.0) } else { (field.atom, cell.number) };
    Part { key, value, gap: 0 }
}

/// Whether a product of a pattern with itself is the one that is meant: names in their order, and none with itself.
pub(super) fn in_order(path: &[u32], repeats: &[bool], atoms: &Atoms) -> bool {
    let name = |at: usize| &atoms.names[path[at] as usize];
    (1..path.len()).all(|at| !repeats[at] || name(at - 1) < name(at))
}

/// The way through all products of a term's atoms.
pub(super) struct Walk<'a> {
    pub(super) first: &'a mut Vec<u32>,
    pub(super) next: &'a mut [FxHashMap<u64, u32>],
    pub(super) path: &'a mut Vec<u32>,
    pub(super) parts: &'a [Part],
    pub(super) ranges: &'a [Range<usize>],
    pub(super) atoms: &'a mut Atoms,
}

impl Walk<'_> {
    /// Gives each product of atoms to `each`, by what `made` has made of its atoms when they first came together.
    pub(super) fn walk(
        &mut self,
        made: &mut impl FnMut(&[u32], &mut Atoms) -> Result<u32>,
        each: &mut impl FnMut(Part),
    ) -> Result<()> {
        let [range, rest @ ..] = self.ranges else { return Ok(()) };
        for &part in &self.parts[range.clone()] {
            if part.value == 0.0 {
                continue;
            }
            if !rest.is_empty() {
                self.path.clear();
                self.path.push(part.key);
                self.step(0, part, made, each)?;
                continue;
            }
            let key = match self.first.get(part.key as usize) {
                Some(&key) if key != UNSEEN => key,
                _ => self.meet(part.key, made)?,
            };
            each(Part { key, ..part });
        }
        Ok(())
    }

    /// Gives the product of one or two atoms to `each`.
    #[inline]
    pub(super) fn simple(
        &mut self,
        (one, other): (Part, Option<Part>),
        made: &mut impl FnMut(&[u32], &mut Atoms) -> Result<u32>,
        each: &mut impl FnMut(Part),
    ) -> Result<()> {
        let Some(other) = other else {
            if one.value != 0.0 {
                let key = match self.first.get(one.key as usize) {
                    Some(&key) if key != UNSEEN => key,
                    _ => self.meet(one.key, made)?,
                };
                each(Part { key, ..one });
            }
            return Ok(());
        };
        let value = one.value * other.value;
        if value != 0.0 {
            let pair = u64::from(one.key) << 32 | u64::from(other.key);
            let key = if let Some(&key) = self.next[0].get(&pair) {
                key
            } else {
                let key = made(&[one.key, other.key], self.atoms)?;
                self.next[0].insert(pair, key);
                key
            };
            each(Part { key, value, gap: 0 });
        }
        Ok(())
    }

    /// What an atom makes that comes for the first time.
    #[cold]
    fn meet(&mut self, atom: u32, made: &mut impl FnMut(&[u32], &mut Atoms) -> Result<u32>) -> Result<u32> {
        let key = made(&[atom], self.atoms)?;
        if self.first.len() <= atom as usize {
            self.first.resize(atom as usize + 1, UNSEEN);
        }
        self.first[atom as usize] = key;
        Ok(key)
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
            let pair = u64::from(before.key) << 32 | u64::from(part.key);
            let seen = &self.next[depth];
            let known = seen.get(&pair).copied();
            if known.is_none() || !is_last {
                self.path.truncate(depth + 1);
                self.path.push(part.key);
            }
            let key = if let Some(key) = known {
                key
            } else {
                let key = if is_last { made(self.path, self.atoms)? } else { index(seen.len()) };
                self.next[depth].insert(pair, key);
                key
            };
            let gap = if before.gap | part.gap == 0 { 0 } else { self.atoms.both_gaps(before.gap, part.gap) };
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
