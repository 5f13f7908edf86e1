//! From the values of a row to products of atoms.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::cache::{Atoms, Field, Hashed, NONE, Part, Product, Source, UNSEEN, index};
use crate::error::{Error, Result};
use crate::model::Reading;
use crate::recipe::Missing;
use crate::vocabulary::{EXAMPLES, bucket, bucket_name};

/// A value that was put in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) slot: u32,
    /// The cell before it in the same slot.
    pub(super) before: u32,
    /// NaN, if the value is none, and the field's atom.
    pub(super) number: f64,
    pub(super) atom: u32,
    /// The atom of the level, if the value is one.
    pub(super) level: u32,
    /// Whether it is the level where its value tells.
    pub(super) is_level: bool,
    /// Whether it adds to other values of its field, rather than that it is the first or hides them.
    pub(super) adds: bool,
}

impl Cell {
    /// The atom that the value is, read in this way, and its value.
    #[inline]
    fn read(&self, reading: Reading) -> Option<(u32, f64)> {
        let level = match reading {
            Reading::Natural => self.is_level,
            Reading::Category => true,
            Reading::Number => false,
        };
        if level {
            (self.level != NONE).then_some((self.level, 1.0))
        } else {
            (!self.number.is_nan()).then_some((self.atom, self.number))
        }
    }
}

/// The values of a row.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) cells: &'a [Cell],
    /// The last cell of each slot.
    pub(super) last: &'a [u32],
    pub(super) base: usize,
}

impl<'a> Values<'a> {
    /// The feature and the value of a term of one or two fields with one value each, which most terms are, if its atoms
    /// have been seen together before.
    #[inline]
    pub(super) fn known(self, product: &Product) -> Option<(u32, f64)> {
        let (feature, value) = match &product.factors[..] {
            [one] => {
                let (atom, value) = self.one(one)?;
                (product.first.get(atom as usize), value)
            }
            [one, other] => {
                let ((one, value), (other, times)) = (self.one(one)?, self.one(other)?);
                (product.next[0].get(&pair(one, other)), value * times)
            }
            _ => return None,
        };
        match feature {
            _ if value == 0.0 => Some((NONE, 0.0)),
            None | Some(&UNSEEN) => None,
            Some(&feature) => Some((feature, value)),
        }
    }

    #[inline]
    fn one(self, source: &Source) -> Option<(u32, f64)> {
        let Source::Field { slot, reading } = source else { return None };
        let cell = self.cells.get(self.last[*slot as usize] as usize)?;
        if cell.adds { None } else { cell.read(*reading) }
    }

    /// Adds the numbers of a term that was known.
    pub(super) fn count(self, product: &Product, numbers: &mut Vec<(u32, f64)>) {
        for source in &product.factors {
            if let Source::Field { reading: Reading::Number, .. } = source {
                numbers.extend(self.one(source));
            }
        }
    }

    /// The cells of a slot, the last first.
    #[inline]
    fn of(self, slot: u32) -> impl Iterator<Item = &'a Cell> {
        let mut at = self.last[slot as usize] as usize;
        // What an action says of a field hides what the context says.
        let first = if at >= self.base { self.base } else { 0 };
        std::iter::from_fn(move || {
            let cell = self.cells.get(at).filter(|_| at >= first)?;
            at = cell.before as usize;
            Some(cell)
        })
    }
}

/// The values of a row, as the factors of terms read them.
pub(super) struct Reader<'a> {
    pub(super) missing: Missing,
    pub(super) slots: &'a [Field],
    pub(super) values: Values<'a>,
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

    fn read(&mut self, source: &mut Source, parts: &mut Vec<Part>) -> Result<()> {
        let start = parts.len();
        let part = |key, value| Part { key, value, gap: 0 };
        match source {
            Source::Field { slot, reading } => {
                let read = self.values.of(*slot).filter_map(|cell| cell.read(*reading));
                parts.extend(read.map(|(atom, value)| part(atom, value)));
                let atom = [self.slots[*slot as usize].atom];
                self.note(*slot, if *reading == Reading::Number { &atom } else { &[] }, start, parts)
            }
            Source::Pattern { place: pattern, reading, without } => {
                let Values { cells, last, base } = self.values;
                for (place, cell) in cells.iter().enumerate() {
                    let field = &self.slots[cell.slot as usize];
                    let last = last[cell.slot as usize];
                    let hidden = place < base && last != NONE && last as usize >= base;
                    if hidden || !field.patterns.contains(pattern) || without.contains(&cell.slot) {
                        continue;
                    }
                    parts.extend(cell.read(*reading).map(|(atom, value)| part(atom, value)));
                }
                Ok(())
            }
            Source::Function { slot, basis, atoms } => {
                let field = &self.slots[*slot as usize].name;
                for cell in self.values.of(*slot).filter(|cell| !cell.number.is_nan()) {
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

/// Two atoms, or a product and an atom, as a key.
fn pair(one: u32, other: u32) -> u64 {
    u64::from(one) << 32 | u64::from(other)
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
            let pair = pair(before.key, part.key);
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
