//! Which fields belong to actions, as decisions have shown it of a model that started without logs.
//!
//! It is there for warnings and examples alone and is no part of the state: a bandit that is continued looks anew.

use truenorth_features::{Event, ID, Kind, Recipe, Value};

use crate::bandit::Bandit;

/// Names of fields that are remembered: more than a model that lists its features has.
const MOST_NAMES: usize = 20_000;

/// A recipe that knows which fields belong to actions.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) recipe: Recipe,
    /// Whether a term cannot change a choice, as far as one has seen.
    idle: bool,
}

impl Placed {
    fn new(recipe: &Recipe, event: &Event) -> Self {
        let recipe = Recipe { action: Some([ID.to_owned()].into()), ..recipe.clone() };
        let mut placed = Self { recipe, idle: true };
        (0..event.len()).for_each(|action| placed.add(event, action));
        // What to cross a term with: a category of the action, or else its id.
        let Recipe { action, kinds, .. } = &mut placed.recipe;
        if !action.iter().flatten().any(|name| kinds.get(name) == Some(&Kind::Category)) {
            kinds.insert(ID.to_owned(), Kind::Category);
        }
        placed
    }

    fn add(&mut self, event: &Event, action: usize) {
        let Recipe { model, action: Some(own), kinds, .. } = &mut self.recipe else { return };
        let known = own.len();
        for (name, value) in event.action(action) {
            if own.len() == MOST_NAMES || own.contains(name) {
                continue;
            }
            own.insert(name.to_owned());
            if matches!(value, Value::Text(_)) && model.fields().contains(&name) {
                kinds.insert(name.to_owned(), Kind::Category);
            }
        }
        if own.len() > known {
            self.idle = !self.recipe.idle_terms().is_empty();
        }
    }
}

impl Bandit {
    /// Looks where an event has its fields, where no logs have said it. What seems to change no choice is looked for in one
    /// action of each event, so that a field which comes later is found too.
    pub(crate) fn place(&mut self, event: &Event) {
        let recipe = self.encoder.recipe();
        if recipe.action.is_some() || event.is_empty() {
            return;
        }
        let Some(placed) = &mut self.placed else {
            self.placed = Some(Box::new(Placed::new(recipe, event)));
            return;
        };
        if placed.idle {
            let turn = self.policy.counts().rounds % event.len() as u64;
            placed.add(event, usize::try_from(turn).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_are_listed_are_all_the_actions() {
        let names: Vec<String> = (0..10_000).map(|place| format!("f{place}")).collect();
        let recipe = Recipe::without_data(names.join(" + ").parse().unwrap()).unwrap();
        let mut event = Event::default();
        event.push_action("a").unwrap();
        for name in &names {
            event.push(&[name], Value::Number(1.0)).unwrap();
        }
        let placed = Placed::new(&recipe, &event);
        assert!(!placed.idle && placed.recipe.warnings().is_empty());
    }
}
