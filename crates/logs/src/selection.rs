//! Which columns of a file are wanted.

use truenorth_features::{Factor, ID, Model, Named, Reading, Recipe, Term};
use wildmatch::WildMatch;

use crate::error::{Problem, listed};
use crate::summary::INTERCEPT;

/// The columns that are wanted: features by names and globs or by a model, the reward, the round.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub(crate) features: Features,
    pub(crate) reward: String,
    pub(crate) round: Option<String>,
    /// Says whether the action of a row was the one that was taken.
    pub(crate) chosen: Option<String>,
    /// Columns that belong to the action.
    pub(crate) action: Vec<Wanted>,
    pub(crate) without: Vec<String>,
}

/// Which features are asked for.
#[derive(Debug, Clone)]
pub(crate) enum Features {
    /// Those of a model.
    Model(Model),
    /// Those of a model that is made from the data.
    Any,
    /// Columns of numbers, of categories, and of categories that are hashed.
    Listed { numbers: Vec<Wanted>, one_hot: Vec<Wanted>, hashed: Vec<Wanted> },
}

impl Default for Features {
    fn default() -> Self {
        Self::Listed { numbers: Vec::new(), one_hot: Vec::new(), hashed: Vec::new() }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Name(String),
    Glob(WildMatch),
}

impl Wanted {
    pub(crate) fn fits(&self, name: &str) -> bool {
        match self {
            Self::Name(wanted) => wanted == name,
            Self::Glob(glob) => glob.matches(name),
        }
    }
}

impl Selection {
    /// Features from a list of names and globs, such as `age,price,f_*`.
    ///
    /// In a glob, `*` stands for any characters and `?` for one. A name between backticks is taken as it is, with commas and stars. The columns of a glob keep the order of the
    /// file, and no column is taken twice. A glob never takes the reward or the round.
    pub fn new(features: &str, reward: &str) -> Self {
        Self::listed(wanted(features), reward)
    }

    /// Exactly these features in this order, as another file had them.
    pub fn named(features: &[String], reward: &str) -> Self {
        Self::listed(features.iter().cloned().map(Wanted::Name).collect(), reward)
    }

    /// The features of a model; of one that is made from the data, if there is none.
    pub fn model(model: Option<Model>, reward: &str) -> Self {
        let features = model.map_or(Features::Any, Features::Model);
        Self { features, reward: reward.to_owned(), ..Self::default() }
    }

    fn listed(numbers: Vec<Wanted>, reward: &str) -> Self {
        let features = Features::Listed { numbers, one_hot: Vec::new(), hashed: Vec::new() };
        Self { features, reward: reward.to_owned(), ..Self::default() }
    }

    /// Takes columns of categories, each level of which becomes a feature of its own: lists of names and
    /// globs, as for the features. A column that is named here is not taken as a number.
    #[must_use]
    pub fn with_categories(mut self, one_hot_list: &str, hashed_list: &str) -> Self {
        if let Features::Listed { one_hot, hashed, .. } = &mut self.features {
            (*one_hot, *hashed) = (wanted(one_hot_list), wanted(hashed_list));
        }
        self
    }

    /// Also reads which round a row belongs to.
    #[must_use]
    pub fn with_round(mut self, column: &str) -> Self {
        self.round = Some(column.to_owned());
        self
    }

    /// Counts only rows in which this column is true: the action that was taken, where rows are actions.
    #[must_use]
    pub fn with_chosen(mut self, column: &str) -> Self {
        self.chosen = Some(column.to_owned());
        self
    }

    /// Says which columns belong to the action: a list of names and globs. The first of them that holds categories is
    /// the action's id.
    #[must_use]
    pub fn with_action(mut self, columns: &str) -> Self {
        self.action = wanted(columns);
        self
    }

    /// Keeps a column, which may be absent, from being taken by a glob.
    #[must_use]
    pub fn without(mut self, column: &str) -> Self {
        self.without.push(column.to_owned());
        self
    }

    /// Whether a column of this name can be no feature, unless it is named.
    pub(crate) fn keeps_back(&self, name: &str) -> bool {
        name == self.reward
            || self.round.as_deref() == Some(name)
            || self.chosen.as_deref() == Some(name)
            || self.without.iter().any(|other| other == name)
    }

    /// Whether a column of this name may be a feature: one that is only kept from globs is, where the model names it.
    pub(crate) fn may_take(&self, name: &str) -> bool {
        let is_named = || matches!(&self.features, Features::Model(model) if model.fields().contains(&name));
        !self.keeps_back(name)
            || name != self.reward && self.without.iter().any(|other| other == name) && is_named()
    }

    /// The columns that were kept from being features, though they are neither the reward nor a mark of what was chosen.
    pub(crate) fn kept_back<'a>(&self, names: &'a [String]) -> impl Iterator<Item = &'a String> {
        names.iter().filter(|name| self.without.contains(name))
    }

    /// The model that is asked for of events, which tell all the rest themselves.
    pub(crate) fn of_events(&self) -> Result<Option<Model>, Problem> {
        if self.reward != "reward" {
            let sentence = format!(
                "this file has events, which tell their rewards themselves: do not name `{}` as the reward",
                self.reward
            );
            return Err(Problem::Other(sentence));
        }
        if !self.action.is_empty() || self.chosen.is_some() {
            return Err(Problem::other("this file has events, which tell their actions themselves"));
        }
        match &self.features {
            Features::Model(model) => Ok(Some(model.clone())),
            Features::Any => Ok(None),
            Features::Listed { .. } => {
                Err(Problem::other("this file has events, whose features a model tells, not columns"))
            }
        }
    }

    /// Whether the columns of the action are there, and none of them is the reward.
    pub(crate) fn check_action(&self, names: &[String]) -> Result<(), Problem> {
        for wanted in &self.action {
            match wanted {
                Wanted::Name(name) if *name == self.reward => {
                    return Err(Problem::Other(format!(
                        "`{name}` is the reward, and no field of the action"
                    )));
                }
                Wanted::Name(name) => drop(position(names, name)?),
                Wanted::Glob(glob) if !names.iter().any(|name| glob.matches(name)) => {
                    let (glob, columns) = (glob.pattern(), crate::error::listed(names));
                    return Err(Problem::Other(format!(
                        "no column matches `{glob}`; the columns are {columns}"
                    )));
                }
                Wanted::Glob(_) => {}
            }
        }
        Ok(())
    }

    /// The columns that belong to the action, in the order in which they are asked for.
    pub(crate) fn action_fields<'a>(&self, names: &'a [String]) -> Vec<&'a String> {
        let place = |name: &String| self.action.iter().position(|wanted| wanted.fits(name));
        let mut fields: Vec<&String> = names.iter().filter(|name| place(name).is_some()).collect();
        fields.sort_by_key(|name| place(name));
        fields
    }

    /// The first column of the action, unless a glob stands there, and whether it is the only one.
    pub(crate) fn first_of_action(&self) -> Option<(&str, bool)> {
        match &self.action[..] {
            [Wanted::Name(name), rest @ ..] => Some((name, rest.is_empty())),
            _ => None,
        }
    }

    /// Whether a glob takes a column of this name, or a model that is made of all columns would, which the first row did not have.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let by_glob = |wanted: &Wanted| matches!(wanted, Wanted::Glob(glob) if glob.matches(name));
        let taken = match &self.features {
            Features::Listed { numbers, one_hot, hashed } => {
                numbers.iter().chain(one_hot).chain(hashed).any(by_glob)
            }
            Features::Model(model) => model.parts().any(|part| match part {
                Factor::Field(Named::Pattern(pattern), _) => WildMatch::new(pattern).matches(name),
                _ => false,
            }),
            Features::Any => !name.is_empty(),
        };
        taken && !self.keeps_back(name)
    }

    /// The model that the lists are short for, with the columns of a file.
    pub(crate) fn listed_model(
        &self,
        names: &[String],
        buckets: u32,
        intercept: bool,
    ) -> Result<Model, Problem> {
        let Features::Listed { numbers, one_hot, hashed } = &self.features else {
            return Err(Problem::NoFeatures);
        };
        let mut taken: Vec<&str> = Vec::new();
        let refuse = |sentence| Err(Problem::Other(sentence));
        let mut take = |list: &'_ [Wanted], categories: bool| -> Result<Vec<String>, Problem> {
            let mut columns: Vec<String> = Vec::new();
            for wanted in list {
                let found: Vec<&String> = match wanted {
                    Wanted::Name(name) if *name == self.reward => {
                        return refuse(format!("column `{name}` is the reward and cannot be a feature"));
                    }
                    Wanted::Name(name) => vec![&names[position(names, name)?]],
                    Wanted::Glob(glob) => {
                        names.iter().filter(|name| !self.keeps_back(name) && glob.matches(name)).collect()
                    }
                };
                if let (Wanted::Glob(glob), []) = (wanted, &found[..]) {
                    let (glob, columns) = (glob.pattern(), listed(names));
                    return refuse(format!("no column matches `{glob}`; the columns are {columns}"));
                }
                for name in found {
                    position(names, name)?;
                    if !taken.contains(&name.as_str()) {
                        taken.push(name);
                        columns.push(name.clone());
                    } else if categories && matches!(wanted, Wanted::Name(_)) && !columns.contains(name) {
                        return refuse(format!("column `{name}` can be either one-hot or hashed, not both"));
                    }
                }
            }
            Ok(columns)
        };
        // Categories first: a glob over all columns takes the rest as numbers.
        let one_hot = take(one_hot, true)?;
        let hashed = take(hashed, true)?;
        let numbers = take(numbers, false)?;
        if intercept && numbers.iter().any(|name| name == INTERCEPT) {
            return Err(Problem::TwoColumns(INTERCEPT.to_owned()));
        }
        let term = |reading| move |name: String| Term(vec![Factor::Field(Named::Name(name), reading)]);
        let mut terms: Vec<Term> = numbers.into_iter().map(term(Reading::Number)).collect();
        terms.extend(one_hot.into_iter().map(term(Reading::Category)));
        if !hashed.is_empty() {
            let hashed = hashed.into_iter().map(term(Reading::Category)).collect();
            terms.push(Term(vec![Factor::Hash(hashed, buckets)]));
        }
        if terms.is_empty() {
            return Err(Problem::NoFeatures);
        }
        Ok(Model::new(intercept, terms))
    }
}

/// Where the only column of this name is.
pub(crate) fn position(names: &[String], name: &str) -> Result<usize, Problem> {
    let mut found = names.iter().zip(0..).filter(|(other, _)| *other == name).map(|(_, place)| place);
    match (found.next(), found.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(Problem::TwoColumns(name.to_owned())),
        (None, _) => Err(Problem::NoColumn { name: name.to_owned(), columns: names.to_vec() }),
    }
}

/// The column that holds the ids of actions: `id` if it is theirs, or else the one that the logs had.
pub(crate) fn id_column<'a>(names: &[String], recipe: &'a Recipe) -> Option<&'a str> {
    let there = |id: &str| names.iter().any(|name| name == id);
    let own = recipe.id.as_deref();
    let is_theirs = recipe.action.as_ref().is_some_and(|action| action.contains(ID));
    if there(ID) && (is_theirs || !own.is_some_and(there)) { Some(ID) } else { own }
}

/// Names and globs with commas between them. What stands between backticks is a name, whatever it holds; a backtick in it is
/// doubled, as in models.
pub(crate) fn wanted(list: &str) -> Vec<Wanted> {
    let (mut wanted, mut rest) = (Vec::new(), list.trim_start());
    while !rest.is_empty() {
        let behind = if let Some((name, behind)) = between_backticks(rest) {
            wanted.push(Wanted::Name(name));
            behind
        } else {
            let (item, behind) = rest.split_once(',').unwrap_or((rest, ""));
            match item.trim_end() {
                "" => {}
                glob if glob.contains(['*', '?']) => wanted.push(Wanted::Glob(WildMatch::new(glob))),
                name => wanted.push(Wanted::Name(name.to_owned())),
            }
            behind
        };
        rest = behind.trim_start();
    }
    wanted
}

/// The name between backticks that a list begins with, if there is one, and what stands behind its comma.
fn between_backticks(list: &str) -> Option<(String, &str)> {
    let inside = list.strip_prefix('`')?;
    let mut from = 0;
    let end = loop {
        let end = from + inside[from..].find('`')?;
        match inside[end + 1..].strip_prefix('`') {
            Some(_) => from = end + 2,
            None => break end,
        }
    };
    let behind = inside[end + 1..].trim_start();
    let behind = if behind.is_empty() { behind } else { behind.strip_prefix(',')? };
    Some((inside[..end].replace("``", "`"), behind))
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
        let names: Vec<String> = names;
        position(&names, &selection.reward).map_err(|problem| problem.to_string())?;
        let model = selection.listed_model(&names, 256, false).map_err(|problem| problem.to_string())?;
        let numbers = model.terms.iter().filter_map(|term| match &term.0[..] {
            [Factor::Field(Named::Name(name), Reading::Number)] => Some(name.clone()),
            _ => None,
        });
        Ok(numbers.collect())
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
    fn names_between_backticks_may_hold_commas_stars_and_backticks() {
        let names = ["price, net", "a*", "ab", "it`s", "x", "r"].map(str::to_owned);
        let taken = |list: &str| {
            let model = Selection::new(list, "r").listed_model(&names, 256, false);
            let names = |model: Model| model.terms.iter().map(Term::to_string).collect::<Vec<_>>().join(" ");
            model.map(names).map_err(|problem| problem.to_string())
        };
        assert_eq!(taken(" `price, net` , x,").unwrap(), "N(`price, net`) N(x)");
        assert_eq!(taken("x,`a*`,`it``s`").unwrap(), "N(x) N(`a*`) N(`it``s`)");
        assert_eq!(taken("a*").unwrap(), "N(`a*`) N(ab)");
        // A backtick that is never closed, or closed in the middle, belongs to the name.
        for (list, name) in [("`x", "`x"), ("`x`y,x", "`x`y"), ("x,`price, net", "`price")] {
            let said = taken(list).unwrap_err();
            assert!(said.starts_with(&format!("there is no column named `{name}`")), "{said}");
        }
        let action = Selection::new("x", "r").with_action("`price, net`,x");
        assert_eq!(action.action_fields(&names), ["price, net", "x"]);
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
