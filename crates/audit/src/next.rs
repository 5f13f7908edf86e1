//! What to do next, as commands.

use crate::audit::OUTCOMES;
use crate::view::{Audit, Use};
use crate::words::about;

/// A step, and the command that takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Why, in a sentence.
    pub why: String,
    /// What to run.
    pub command: String,
}

/// What to do with the logs in the summary `summary`, of which the live rows in `live` were the pilot.
pub fn next_steps(audit: &Audit, summary: &str, live: Option<&str>) -> Vec<Step> {
    let step = |why: String, command: String| Step { why, command };
    if audit.rows == 0 {
        let why = "Summarize logs that have rows; `--help` tells how.".to_owned();
        return vec![step(why, "truenorth summarize --help".to_owned())];
    }
    let (summary, live) = (quoted(summary), quoted(live.unwrap_or("LIVE_ROWS")));
    let test = format!("truenorth audit {summary} --pilot {live}");
    let start = format!("truenorth decide {summary} --state bandit.tn");
    let relying =
        "Start from the logs: the default policy counts each feature as far as live rewards bear it out.";
    let meanwhile = "Or start from the logs now: the default policy counts each feature as far as live rewards bear it out.";
    let outcomes = audit.pilot.as_ref().and_then(|pilot| pilot.outcomes);
    let few = outcomes.is_some_and(|outcomes| (outcomes as f64) < OUTCOMES);
    let again = match audit.pilot.as_ref().map(|pilot| pilot.settled_by) {
        None => Some(
            "Test the logs: bring live rows with the same columns, chosen with some randomness.".to_owned(),
        ),
        Some(Some(rows)) => Some(format!("Test them again when there are about {} live rows.", about(rows))),
        // Of others the verdict says that more rows would not settle it.
        Some(None) if few => Some("Test them again with more live rows.".to_owned()),
        Some(None) => None,
    };
    match audit.verdict.usable {
        Use::All | Use::Some => vec![step(relying.to_owned(), start)],
        Use::None => {
            let why =
                "Start without what the logs say, but with their features; live rows will be the next logs.";
            vec![step(
                why.to_owned(),
                format!("truenorth decide {summary} --policy lin-ucb --state bandit.tn"),
            )]
        }
        Use::Unclear => {
            let begin = if again.is_some() { meanwhile } else { relying };
            let test = again.map(|why| step(why, test));
            test.into_iter().chain([step(begin.to_owned(), start)]).collect()
        }
    }
}

/// A word of a command as a shell wants it.
pub fn quoted(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./=".contains(letter);
    if !name.is_empty() && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("a/b-1.tn"), "a/b-1.tn");
        assert_eq!(quoted("my logs.tn"), "'my logs.tn'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
