//! What there is to say about a model that was made from the data.

use truenorth_features::{ID, Recipe};
use truenorth_report::numbers::many;

/// More features than this are spoken of.
const MANY: usize = 500;
/// Of fewer rows nobody wonders that they say little.
const FEW: u64 = 1000;

/// The model, ready to be copied, and what became of which fields; `features` are the names of all features.
pub(crate) fn told(recipe: &Recipe, features: &[String]) -> Vec<String> {
    let mut lines = vec![format!("model made from the data: --model {}", in_quotes(&recipe.model))];
    lines.extend(largest(recipe, features));
    let categories = recipe.categories();
    if !categories.is_empty() {
        lines.push(format!("taken as categories: {}", categories.join(", ")));
    }
    // A model's `id` is the action's own.
    let (shadowed, apart): (Vec<&str>, Vec<&str>) =
        recipe.left_out.iter().map(String::as_str).partition(|name| *name == ID && recipe.id.is_some());
    if !apart.is_empty() {
        let apart = apart.join(", ");
        lines.push(format!("not in the model, because they tell rows or rounds apart: {apart}"));
    }
    if let (false, Some(own)) = (shadowed.is_empty(), &recipe.id) {
        lines.push(format!(
            "not in the model: the column `id`, as `id` means the action's own, which is `{own}` here; rename it to use it"
        ));
    }
    if recipe.action.is_none() {
        lines.push(
            "no column is said to belong to the action, so nothing is crossed with it: `--action COLUMNS`, its id first"
                .to_owned(),
        );
    }
    if recipe.id.is_none() && !recipe.idle_terms().is_empty() {
        lines.push(
            "no column of the action is its id, so nothing is crossed with it: `--action ID,..`, by its name"
                .to_owned(),
        );
    }
    lines
}

/// A formula as a shell takes it.
fn in_quotes(formula: &impl ToString) -> String {
    format!("'{}'", formula.to_string().replace('\'', "'\\''"))
}

/// The terms that make the most features, if these are many.
fn largest(recipe: &Recipe, features: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    if features.len() <= MANY {
        return None;
    }
    let terms = &recipe.model.terms;
    let mut sizes = vec![0; terms.len()];
    for term in recipe.model.makers(features.iter().map(String::as_str)).into_iter().flatten() {
        sizes[term] += 1;
    }
    let mut order: Vec<usize> = (0..terms.len()).collect();
    order.sort_by_key(|&term| std::cmp::Reverse(sizes[term]));
    let shown: Vec<String> =
        order.iter().take(SHOWN).map(|&term| format!("{} by {}", sizes[term], terms[term])).collect();
    let (all, parts) = (many(features.len() as u64, "feature"), many(terms.len() as u64, "term"));
    let more = if terms.len() > SHOWN { ", .." } else { "" };
    Some(format!("{all} of {parts}: {}{more}; fewer terms make fewer", shown.join(", ")))
}

/// Warns of more features than rewards that tell anything, where these are 0 and 1.
pub(crate) fn doubt_size(recipe: &Recipe, features: usize, clicks: Option<[u64; 2]>) {
    let Some([ones, zeros]) = clicks.filter(|[ones, zeros]| ones + zeros >= FEW) else { return };
    let (rarer, reward) = if ones <= zeros { (ones, 1) } else { (zeros, 0) };
    if let Some(first) = recipe.model.terms.first().filter(|_| rarer < features as u64) {
        eprintln!(
            "truenorth: {} of {reward} say little of {}: name fewer terms, to begin with --model {}",
            many(rarer, "reward"),
            many(features as u64, "feature"),
            in_quotes(first)
        );
    }
}

/// Warns of fields that hardly belong into a model: those that sound like outcomes, those that are `like` the reward, and `constant` ones.
pub(crate) fn doubt(recipe: &Recipe, like: Vec<&str>, constant: Vec<&str>) {
    let named = recipe.model.outcomes();
    let [like, constant] = [like, constant]
        .map(|fields| fields.into_iter().filter(|name| !named.contains(name)).collect::<Vec<_>>());
    let all = [&named[..], &like, &constant].concat();
    for (fields, one, several) in [
        (
            &named,
            "sounds like an outcome, which is not known before the choice",
            "sound like outcomes, which are not known before the choice",
        ),
        (
            &like,
            "nearly tells the reward, as an outcome does, which is not known before the choice",
            "nearly tell the reward, as outcomes do, which are not known before the choice",
        ),
        (
            &constant,
            "is the same in every row and can be left out, unless it will vary",
            "are the same in every row and can be left out, unless they will vary",
        ),
    ] {
        if !fields.is_empty() {
            let list = fields.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            eprintln!("truenorth: {list} {}", if fields.len() == 1 { one } else { several });
        }
    }
    if !all.is_empty() {
        let them = if all.len() == 1 { "it" } else { "them" };
        eprintln!("truenorth: the model without {them}: --model {}", in_quotes(&recipe.model.without(&all)));
    }
}
