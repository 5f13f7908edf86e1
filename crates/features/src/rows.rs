//! The rows of an event: one for each of its actions.

use crate::encoder::Encoder;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::value::Value;

/// Rows by their features that are not 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Features and values, row after row. A feature may come twice in a row, and then its values add up.
    entries: Vec<(u32, f64)>,
    /// Where each row ends among them.
    ends: Vec<usize>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Features of a row, without the intercept, and their values.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[(u32, f64)] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[row]]
    }

    /// Adds a row to the numbers of a vector, which begins with the intercept, if there is one.
    ///
    /// # Panics
    ///
    /// If there is no such row, or the vector is too short.
    pub fn add_to(&self, row: usize, intercept: bool, vector: &mut [f64]) {
        if intercept {
            vector[0] += 1.0;
        }
        for &(feature, value) in self.row(row) {
            vector[usize::from(intercept) + feature as usize] += value;
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.ends.clear();
    }
}

impl Encoder {
    /// Makes a row for each action of an event.
    pub fn rows(&mut self, event: &Event, rows: &mut Rows) -> Result<()> {
        rows.clear();
        let mark = self.begin(event)?;
        self.share()?;
        for action in 0..event.len() {
            self.truncate(mark);
            self.put_action(event, action)?;
            self.encode_action().map_err(|error| in_action(self.lacking(error), event, action))?;
            rows.entries.extend_from_slice(self.entries());
            rows.ends.push(rows.entries.len());
        }
        Ok(())
    }

    /// Makes the row of one action of an event: [`entries`](Self::entries).
    pub fn row(&mut self, event: &Event, action: usize) -> Result<()> {
        self.begin(event)?;
        self.put_action(event, action)?;
        self.encode().map_err(|error| in_action(error, event, action))
    }

    /// Puts in the context.
    fn begin(&mut self, event: &Event) -> Result<usize> {
        self.clear();
        self.action_slots.clear();
        for (name, value) in event.context() {
            if let Some(slot) = self.slot(name) {
                self.put(slot, value)?;
            }
        }
        Ok(self.mark())
    }

    /// Puts in an action.
    fn put_action(&mut self, event: &Event, action: usize) -> Result<()> {
        for (place, (name, raw)) in event.fields_of(action).iter().enumerate() {
            let slot = match self.action_slots.get(place) {
                Some((before, Some(slot))) if before == name => Some(*slot),
                _ => {
                    let slot = self.slot(event.text(name));
                    self.action_slots.resize(self.action_slots.len().max(place + 1), (0..0, None));
                    self.action_slots[place] = (name.clone(), slot);
                    slot
                }
            };
            if let Some(slot) = slot {
                self.put(slot, event.value(raw)).map_err(|error| in_action(error, event, action))?;
            }
        }
        // The id stands for the field that is the id, unless the action has that as well; and the other way round.
        let id = Value::Text(event.id(action));
        let slots = self.id_slots();
        if let [_, Some(own)] = slots
            && !event.has_id(action)
            && !self.has_own(own)
        {
            let (number, name) = (action + 1, self.recipe().id.as_deref().unwrap_or_default());
            return Err(Error::event(format!("action {number} has neither `id` nor `{name}`")));
        }
        for slot in slots.into_iter().flatten() {
            if !self.has_own(slot) {
                self.put(slot, id)?;
            }
        }
        Ok(())
    }
}

/// Names the action, where a value of its own is wrong.
fn in_action(error: Error, event: &Event, action: usize) -> Error {
    match error {
        Error::Missing(_)
        | Error::Lacking { .. }
        | Error::NotANumber { .. }
        | Error::NotFinite { .. }
        | Error::Range { .. } => {
            Error::Action { id: crate::error::shortened(event.id(action)), problem: Box::new(error) }
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::vocabulary::Joining;

    #[test]
    fn an_action_has_an_id_where_the_logs_have_a_field_for_it() {
        let mut recipe = Recipe::without_data("item + price".parse().unwrap()).unwrap();
        recipe.id = Some("item".to_owned());
        let mut encoder = Encoder::new(recipe, Vec::new(), Joining::UpTo(10));
        let (mut event, mut rows) = (Event::default(), Rows::default());
        let mut said = |second: &str| {
            let text = format!(r#"{{"actions":[{{"id":"game","price":1}},{second}]}}"#);
            event.read_json(&text).unwrap();
            encoder
                .rows(&event, &mut rows)
                .map_or_else(|error| error.to_string(), |()| rows.len().to_string())
        };
        assert_eq!(said(r#"{"id":"novel","price":2}"#), "2");
        assert_eq!(said(r#"{"item":"novel","price":2}"#), "2");
        assert_eq!(said(r#"{"name":"novel","price":2}"#), "action 2 has neither `id` nor `item`");
    }
}
