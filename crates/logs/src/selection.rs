//! Which columns of a file are wanted.

use std::collections::HashMap;

use wildmatch::WildMatch;

use crate::error::Problem;

/// The columns that are wanted: features by names and globs, the reward, the round.
#[derive(Debug, Clone)]
pub struct Selection {
    features: Vec<Wanted>,
    reward: String,
    round: Option<String>,
    without: Vec<String>,
}

#[derive(Debug, Clone)]
enum Wanted {
    Name(String),
    Glob(WildMatch),
}

impl Selection {
    /// Features from a list of names and globs, such as `age,price,f_*`.
    ///
    /// In a glob, `*` stands for any characters and `?` for one. The columns of a glob keep the order of the
    /// file, and no column is taken twice. A glob never takes the reward or the round.
    pub fn new(features: &str, reward: &str) -> Self {
        let wanted = |item: &str| {
            if item.contains(['*', '?']) {
                Wanted::Glob(WildMatch::new(item))
            } else {
                Wanted::Name(item.to_owned())
            }
        };
        let items = features.split(',').map(str::trim).filter(|item| !item.is_empty());
        Self::of(items.map(wanted).collect(), reward)
    }

    /// Exactly these features in this order, as another file had them.
    pub fn named(features: &[String], reward: &str) -> Self {
        Self::of(features.iter().cloned().map(Wanted::Name).collect(), reward)
    }

    fn of(features: Vec<Wanted>, reward: &str) -> Self {
        Self { features, reward: reward.to_owned(), round: None, without: Vec::new() }
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
        self.features.iter().any(|wanted| matches!(wanted, Wanted::Glob(glob) if self.fits(glob, name)))
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
            Some(_) => Err(Problem::TwoColumns { name: name.to_owned() }),
            None => Err(Problem::NoColumn { name: name.to_owned(), columns: names.clone() }),
        };
        let reward = find(&self.reward)?;
        let round = self.round.as_deref().map(find).transpose()?;
        let mut features = Vec::new();
        let mut taken = vec![false; names.len()];
        for wanted in &self.features {
            let found: Vec<&String> = match wanted {
                Wanted::Name(name) if *name == self.reward => {
                    return Err(Problem::RewardAsFeature { name: name.clone() });
                }
                Wanted::Name(name) => vec![name],
                Wanted::Glob(glob) => names.iter().filter(|name| self.fits(glob, name)).collect(),
            };
            if let (Wanted::Glob(glob), []) = (wanted, &found[..]) {
                return Err(Problem::NoMatch { glob: glob.pattern(), columns: names });
            }
            for name in found {
                let index = find(name)?;
                if !std::mem::replace(&mut taken[index], true) {
                    features.push(index);
                }
            }
        }
        if features.is_empty() {
            return Err(Problem::NoFeatures);
        }
        Ok(Columns { names, features, reward, round })
    }
}

/// The wanted columns of one file, by their positions in it.
#[derive(Debug)]
pub(crate) struct Columns {
    /// All columns of the file.
    pub(crate) names: Vec<String>,
    pub(crate) features: Vec<usize>,
    pub(crate) reward: usize,
    pub(crate) round: Option<usize>,
}

impl Columns {
    /// How many rows a batch has: about 2 MB of features, and not too many rows of few.
    pub(crate) fn batch_rows(&self) -> usize {
        ((1 << 18) / self.features.len().max(1)).clamp(1, 8192)
    }
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
