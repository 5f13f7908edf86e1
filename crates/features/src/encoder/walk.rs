//! From the values of a row to products of atoms.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::cache::{Atoms, Field, Hashed, NONE, Part, Product, Source, UNSEEN, index};
use crate::error::{Error, Result};
use crate::recipe::Missing;
use crate::vocabulary::{bucket, bucket_name};

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
    pub(super) numbers: &'a mut Vec<(u32, f64)>,
    pub(super) atoms: &'a mut Atoms,
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
            let key = if let Some(&key) = seen.get(&pair) {
                key
            } else {
                let key = if is_last { made(self.path, self.atoms)? } else { index(seen.len()) };
                self.next[depth].insert(pair, key);
                key
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
