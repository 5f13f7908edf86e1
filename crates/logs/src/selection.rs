//! Which columns of a file are wanted.

use std::collections::HashMap;

use wildmatch::WildMatch;

use crate::error::{Problem, listed};

/// The columns that are wanted: features by names and globs, the reward, the round.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub(crate) features: Vec<Wanted>,
    pub(crate) one_hot: Vec<Wanted>,
    pub(crate) hashed: Vec<Wanted>,
    pub(crate) reward: String,
    pub(crate) round: Option<String>,
    pub(crate) without: Vec<String>,
    /// By whose globs the columns were found, if they are named now.
    pub(crate) found_by: Option<Box<Selection>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Name(String),
    Glob(WildMatch),
}

impl Selection {
    /// Features from a list of names and globs, such as `age,price,f_*`.
    ///
    /// In a glob, `*` stands for any characters and `?` for one. The columns of a glob keep the order of the
    /// file, and no column is taken twice. A glob never takes the reward or the round.
    pub fn new(features: &str, reward: &str) -> Self {
        Self { features: wanted(features), reward: reward.to_owned(), ..Self::default() }
    }

    /// Exactly these features in this order, as another file had them.
    pub fn named(features: &[String], reward: &str) -> Self {
        Self { features: named(features), reward: reward.to_owned(), ..Self::default() }
    }

    /// Takes columns of categories, each level of which becomes a feature of its own: lists of names and
    /// globs, as for the features. A column that is named here is not taken as a number.
    #[must_use]
    pub fn with_categories(mut self, one_hot: &str, hashed: &str) -> Self {
        (self.one_hot, self.hashed) = (wanted(one_hot), wanted(hashed));
        self
    }

    /// Also reads which round a row belongs to.
    #[must_use]
    pub fn with_round(mut self, column: &str) -> Self {
        self.round = Some(column.to_owned());
        self
    }

    /// Keeps a column, which may be absent, from being taken by a glob.
    #[must_use]
    pub fn without(mut self, column: &str) -> Self {
        self.without.push(column.to_owned());
        self
    }

    /// Whether a glob takes a column of this name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let by = self.found_by.as_deref().unwrap_or(self);
        let mut all = by.features.iter().chain(&by.one_hot).chain(&by.hashed);
        all.any(|wanted| matches!(wanted, Wanted::Glob(glob) if by.fits(glob, name)))
    }

    fn fits(&self, glob: &WildMatch, name: &str) -> bool {
        let kept_back = name == self.reward
            || self.round.as_deref() == Some(name)
            || self.without.iter().any(|n| n == name);
        !kept_back && glob.matches(name)
    }

    /// Finds the wanted columns among those of a file.
    pub(crate) fn resolve(&self, names: Vec<String>) -> Result<Columns, Problem> {
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            positions.entry(name).or_default().push(index);
        }
        let find = |name: &str| match positions.get(name).map(Vec::as_slice) {
            Some(&[index]) => Ok(index),
            Some(_) => Err(Problem::TwoColumns(name.to_owned())),
            None => Err(Problem::NoColumn { name: name.to_owned(), columns: names.clone() }),
        };
        let reward = find(&self.reward)?;
        let round = self.round.as_deref().map(find).transpose()?;
        let mut taken = vec![false; names.len()];
        let refuse = |sentence| Err(Problem::Other(sentence));
        let mut take = |list: &[Wanted], categories: bool| {
            let mut columns = Vec::new();
            for wanted in list {
                let found: Vec<&String> = match wanted {
                    Wanted::Name(name) if *name == self.reward => {
                        return refuse(format!("column `{name}` is the reward and cannot be a feature"));
                    }
                    Wanted::Name(name) => vec![name],
                    Wanted::Glob(glob) => names.iter().filter(|name| self.fits(glob, name)).collect(),
                };
                if let (Wanted::Glob(glob), []) = (wanted, &found[..]) {
                    let (glob, columns) = (glob.pattern(), listed(&names));
                    return refuse(format!("no column matches `{glob}`; the columns are {columns}"));
                }
                for name in found {
                    let index = find(name)?;
                    if !std::mem::replace(&mut taken[index], true) {
                        columns.push(index);
                    } else if categories && matches!(wanted, Wanted::Name(_)) && !columns.contains(&index) {
                        return refuse(format!("column `{name}` can be either one-hot or hashed, not both"));
                    }
                }
            }
            Ok(columns)
        };
        // Categories first: a glob over all columns takes the rest as numbers.
        let one_hot = take(&self.one_hot, true)?;
        let hashed = take(&self.hashed, true)?;
        let features = take(&self.features, false)?;
        if features.is_empty() && one_hot.is_empty() && hashed.is_empty() {
            return Err(Problem::NoFeatures);
        }
        Ok(Columns { names, features, one_hot, hashed, reward, round })
    }
}

fn wanted(list: &str) -> Vec<Wanted> {
    let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    let wanted = items.map(|item| {
        if item.contains(['*', '?']) {
            Wanted::Glob(WildMatch::new(item))
        } else {
            Wanted::Name(item.to_owned())
        }
    });
    wanted.collect()
}

/// Exactly these columns.
pub(crate) fn named(names: &[String]) -> Vec<Wanted> {
    names.iter().cloned().map(Wanted::Name).collect()
}

/// The wanted columns of one file, by their positions in it.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// All columns of the file.
    pub(crate) names: Vec<String>,
    /// Columns of numbers.
    pub(crate) features: Vec<usize>,
    /// Columns of categories, a feature for each level.
    pub(crate) one_hot: Vec<usize>,
    /// Columns of categories, a feature for each bucket of a hash.
    pub(crate) hashed: Vec<usize>,
    pub(crate) reward: usize,
    pub(crate) round: Option<usize>,
}

impl Columns {
    /// Names of some of the columns.
    pub(crate) fn named(&self, columns: &[usize]) -> Vec<String> {
        columns.iter().map(|&column| self.names[column].clone()).collect()
    }

    /// Whether no column holds categories or rounds.
    pub(crate) fn is_numeric(&self) -> bool {
        !self.has_categories() && self.round.is_none()
    }

    pub(crate) fn has_categories(&self) -> bool {
        !self.one_hot.is_empty() || !self.hashed.is_empty()
    }

    /// Positions of all columns that are read, increasing.
    pub(crate) fn read(&self) -> Vec<usize> {
        let all = self.features.iter().chain(&self.one_hot).chain(&self.hashed).chain([&self.reward]);
        let mut read: Vec<usize> = all.chain(&self.round).copied().collect();
        read.sort_unstable();
        read.dedup();
        read
    }

    pub(crate) fn batch_rows(&self) -> usize {
        batch_rows(self.features.len())
    }
}

/// How many rows a batch has: about half a megabyte of features, which stays in a core's cache while sums
/// are made of it, and not too many rows of few.
pub(crate) fn batch_rows(features: usize) -> usize {
    ((1 << 16) / features.max(1)).clamp(64, 8192)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(selection: &Selection, columns: &str) -> Result<Vec<String>, String> {
        let names = columns.split(' ').map(str::to_owned).collect();
        let columns = selection.resolve(names).map_err(|problem| problem.to_string())?;
        Ok(columns.features.iter().map(|&index| columns.names[index].clone()).collect())
    }

    #[test]
    fn globs_keep_the_order_of_the_file_and_take_no_column_twice() {
        let taken =
            |list: &str| features(&Selection::new(list, "r"), "f_b age f_a price r x1 x2 x10").unwrap();
        assert_eq!(taken("f_*"), ["f_b", "f_a"]);
        assert_eq!(taken("price, age,f_*,"), ["price", "age", "f_b", "f_a"]);
        assert_eq!(taken("f_a,f_*,*_a,f_a"), ["f_a", "f_b"]);
        assert_eq!(taken("x?"), ["x1", "x2"]);
    }

    #[test]
    fn globs_leave_reward_round_and_what_is_kept_back() {
        let selection = Selection::new("*", "reward").with_round("round").without("day").without("absent");
        assert_eq!(features(&selection, "round a day reward b").unwrap(), ["a", "b"]);
        let named = Selection::new("round,a", "reward").with_round("round");
        assert_eq!(features(&named, "a round reward").unwrap(), ["round", "a"]);
    }

    #[test]
    fn columns_of_categories_are_not_taken_as_numbers() {
        let selection = Selection::new("*", "r").with_categories("colour", "user*");
        assert_eq!(features(&selection, "x colour user_id r y").unwrap(), ["x", "y"]);
        let twice = Selection::new("x", "r").with_categories("colour", "colour");
        assert_eq!(
            features(&twice, "x colour r").unwrap_err(),
            "column `colour` can be either one-hot or hashed, not both"
        );
        let alone = Selection::new("", "r").with_categories("colour", "");
        assert_eq!(features(&alone, "x colour r").unwrap(), [""; 0]);
    }

    #[test]
    fn names_of_another_file_keep_their_order_and_are_no_globs() {
        let selection = Selection::named(&["b".to_owned(), "a*".to_owned()], "r");
        assert_eq!(features(&selection, "r aa a* b").unwrap(), ["b", "a*"]);
        assert_eq!(
            features(&selection, "r aa b").unwrap_err(),
            "there is no column named `a*`; the columns are `r`, `aa`, `b`"
        );
    }

    #[test]
    fn what_cannot_be_selected_is_said() {
        let refused =
            |list: &str, columns: &str| features(&Selection::new(list, "reward"), columns).unwrap_err();
        assert_eq!(refused("a,f_*", "a reward"), "no column matches `f_*`; the columns are `a`, `reward`");
        assert_eq!(refused("r*", "a reward"), "no column matches `r*`; the columns are `a`, `reward`");
        assert_eq!(refused("b", "a reward"), "there is no column named `b`; the columns are `a`, `reward`");
        assert_eq!(refused("a", "a b"), "there is no column named `reward`; the columns are `a`, `b`");
        assert_eq!(refused("a", "a b a reward"), "there are two columns named `a`");
        assert_eq!(refused("*", "a b a reward"), "there are two columns named `a`");
        assert_eq!(refused("a,reward", "a reward"), "column `reward` is the reward and cannot be a feature");
        assert_eq!(refused(" , ", "a reward"), "no features are asked for");
    }
}
