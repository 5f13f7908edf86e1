//! Events as JSON lines: context, actions, and what came of the one that was taken.

use truenorth_features::Event;

use crate::error::Problem;
use crate::event::NO_REWARD;
use crate::source::lines::text;

/// Reads an event from its line.
pub(super) fn read(line: &[u8], counting: bool, event: &mut Event) -> Result<(), Problem> {
    event.read_json(text(line)?).map_err(|error| Problem::malformed(error.to_string(), "not an event"))?;
    if counting && event.is_empty() {
        return Err(Problem::Uncounted("an event without actions"));
    }
    if counting && (event.chosen.is_none() || event.reward.is_none()) {
        return Err(NO_REWARD);
    }
    Ok(())
}
