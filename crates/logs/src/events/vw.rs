//! Vowpal Wabbit's text for contextual bandits: `cb`, an event in a line, and `cb_adf`, an action in a line.

use truenorth_features::{Event, Value};

use super::{multi_slot, number, unusable_value};
use crate::error::{Place, Problem, Result, shortened};
use crate::event::{EventLines, Events, NO_REWARD, NUMBER};
use crate::source::lines::{LONGEST, Lines, text};

/// How many lines may be looked at to tell `cb` from `cb_adf`.
const MOST_LINES: usize = 10_000;

/// Events of which a line is an action, and a blank line the end.
struct Adf {
    lines: Lines,
    /// Whether only what counts is read.
    counting: bool,
    /// Whether the last event was faulty, and the rest of its lines is yet to be skipped.
    faulty: bool,
}

/// Tells from the file's beginning in which way its events are written.
pub(super) fn open(mut lines: Lines, counting: bool) -> Result<Box<dyn Events>> {
    let mut head = Vec::new();
    let adf = is_adf(&mut lines, &mut head)?;
    lines.rewind(head);
    Ok(if adf {
        Box::new(Adf { lines, counting, faulty: false })
    } else {
        Box::new(EventLines { lines, counting, read: read_cb })
    })
}

/// Reads on until it is clear whether a line is an action, and keeps the lines.
pub(super) fn is_adf(lines: &mut Lines, head: &mut Vec<u8>) -> Result<bool> {
    // Lines since the last blank one, and the action of the one with a cost.
    let (mut count, mut taken) = (0, None);
    let undecided = |lines: usize| {
        let sentence =
            format!("the first {lines} lines do not tell whether they are one event (cb_adf) or many (cb)");
        Err(Problem::Other(sentence).into())
    };
    for number in 0..MOST_LINES {
        let more = lines.next()?;
        if (head.len() + lines.line.len()) as u64 > LONGEST {
            return undecided(number);
        }
        head.extend_from_slice(&lines.line);
        head.push(b'\n');
        if !more || lines.is_blank() {
            match (count, taken) {
                // One action without a cost could be either.
                (0 | 1, None) if more => {}
                (0 | 1, taken) => return Ok(taken == Some(0)),
                _ => return Ok(true),
            }
            count = 0;
            continue;
        }
        count += 1;
        let labels = match text(&lines.line).and_then(split) {
            Ok((labels, _)) => labels.to_owned(),
            Err(Problem::Tag(word)) => word,
            Err(_) => continue,
        };
        let mut words = labels.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if matches!(first, "shared" | "ccb" | "slates") {
            return Ok(true);
        }
        if words.next().is_some() {
            return Ok(false);
        }
        if let Ok((action, Some(_))) = label(first)
            && let Some(before) = taken.replace(action)
        {
            // Actions of `cb` count from 1: these are two of one event, which is refused where it is read.
            return Ok(action == 0 || before == 0);
        }
    }
    undecided(MOST_LINES)
}

impl Events for Adf {
    fn next(&mut self, event: &mut Event) -> Result<Option<Place>> {
        while self.faulty {
            self.faulty = self.lines.next()? && !self.lines.is_blank();
        }
        // Until its last line has been read.
        self.faulty = true;
        let mut start = None;
        while self.lines.next()? {
            let place = self.lines.place();
            if !self.lines.is_blank() {
                read_action(&self.lines.line, start.is_none(), self.counting, event)
                    .map_err(|problem| problem.at(place))?;
                start = start.or(Some(place));
            } else if start.is_some() {
                break;
            }
        }
        self.faulty = false;
        match start {
            Some(place) if event.chosen.is_none() && self.counting => Err(NO_REWARD.at(place)),
            start => Ok(start),
        }
    }
}

/// A line that is a whole event: features of the context, and the ids of actions.
fn read_cb(line: &[u8], counting: bool, event: &mut Event) -> Result<(), Problem> {
    let (labels, features) = split(text(line)?)?;
    let taken = cost(labels)?;
    if counting && taken.is_none() {
        return Err(NO_REWARD);
    }
    push_features(features, event)?;
    for word in labels.split_ascii_whitespace() {
        let (action, _) = label(word)?;
        if taken.is_some_and(|taken| taken.action == action) {
            event.chosen = Some(event.len());
        }
        event.push_action(&action.to_string()).map_err(unusable_value)?;
    }
    if let Some(taken) = taken {
        (event.reward, event.probability) = (Some(0.0 - taken.cost), Some(taken.probability));
    }
    Ok(())
}

/// A line that is one action of an event, or what all of its actions share. Its id is its tag, or its place.
fn read_action(line: &[u8], first: bool, counting: bool, event: &mut Event) -> Result<(), Problem> {
    let line = text(line)?;
    let (labels, features) = split(line)?;
    if labels.trim_ascii() == "shared" {
        if !first {
            return Err(Problem::other("a `shared` line must be the first line of its event"));
        }
        return push_features(features, event);
    }
    // The line tells the action, not its number in the label.
    let taken = cost(labels)?;
    let place = (event.len() + 1).to_string();
    event.push_action(tag(line, labels).unwrap_or(&place)).map_err(unusable_value)?;
    if let Some(taken) = taken {
        if event.chosen.replace(event.len() - 1).is_some() {
            return Err(Problem::other(TWO_COSTS));
        }
        (event.reward, event.probability) = (Some(0.0 - taken.cost), Some(taken.probability));
    }
    if taken.is_some() || !counting { push_features(features, event) } else { Ok(()) }
}

/// The tag of a line, behind its labels.
fn tag<'a>(line: &'a str, labels: &str) -> Option<&'a str> {
    let head = line.split('|').next()?;
    let tag = head.get(labels.len()..)?.trim_ascii().trim_start_matches('\'');
    (!tag.is_empty()).then_some(tag)
}

const TWO_COSTS: &str =
    "this is the second action of its event with a cost, but only one can have been taken";

/// The labels of a line, without its tag, and its features.
fn split(line: &str) -> Result<(&str, &str), Problem> {
    let no_bar = || Problem::other("there is no `|`, behind which the features begin");
    let (head, features) = line.split_once('|').ok_or_else(no_bar)?;
    let filled = head.trim_ascii_end();
    let start = filled.rfind(|char: char| char.is_ascii_whitespace()).map_or(0, |space| space + 1);
    let (labels, word) = filled.split_at(start);
    if word.starts_with('\'') {
        return Ok((labels, features));
    }
    // The last word is a tag if it touches the bar, which nobody wants of a label.
    if word.is_empty() || filled.len() < head.len() {
        return Ok((head, features));
    }
    if word == "shared" || matches!(label(word), Ok((_, Some(_)))) {
        return Err(Problem::Tag(shortened(word)));
    }
    Ok((labels, features))
}

/// The action that was taken.
#[derive(Clone, Copy)]
struct Taken {
    action: u32,
    cost: f64,
    probability: f64,
}

/// The action that was taken, if one was.
fn cost(labels: &str) -> Result<Option<Taken>, Problem> {
    let mut taken = None;
    for (index, word) in labels.split_ascii_whitespace().enumerate() {
        if index == 0 && matches!(word, "ccb" | "slates" | "ca") {
            return Err(if word == "ca" { continuous() } else { multi_slot(word) });
        }
        if let (_, Some(cost)) = label(word)?
            && taken.replace(cost).is_some()
        {
            return Err(Problem::other(TWO_COSTS));
        }
    }
    Ok(taken)
}

fn continuous() -> Problem {
    Problem::other(
        "this is an event with continuous actions (ca): only events with a list of actions are read",
    )
}

/// An action, and what it cost if it was taken.
fn label(word: &str) -> Result<(u32, Option<Taken>), Problem> {
    let malformed = || Problem::unusable("the label", word, "action:cost:probability");
    let mut parts = word.split(':');
    let action = parts.next().and_then(|part| part.parse().ok()).ok_or_else(malformed)?;
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => Ok((action, None)),
        (Some(cost), Some(probability), None) => {
            let cost = number(cost).ok_or_else(|| Problem::unusable("the cost", cost, NUMBER))?;
            match number(probability) {
                Some(chance) if chance > 0.0 => {
                    Ok((action, Some(Taken { action, cost, probability: chance.min(1.0) })))
                }
                _ => Err(Problem::unusable("the probability", probability, "a number above 0")),
            }
        }
        _ => Err(malformed()),
    }
}

/// Adds all features of a line. One without a name is called by its place among those of its namespace.
fn push_features(text: &str, event: &mut Event) -> Result<(), Problem> {
    let is_space = |char: char| char.is_ascii_whitespace();
    for part in text.split('|') {
        // A space behind the bar is a namespace without a name.
        let (namespace, features) = part.split_once(is_space).unwrap_or((part, ""));
        let (namespace, weight) = weighted("namespace", namespace)?;
        let dot = if namespace.is_empty() { "" } else { "." };
        for (place, feature) in features.split_ascii_whitespace().enumerate() {
            let (name, value) = weighted("feature", feature)?;
            let value = Value::Number(weight * value);
            let pushed = if name.is_empty() {
                event.push(&[namespace, dot, "[", &place.to_string(), "]"], value)
            } else {
                event.push(&[namespace, dot, name], value)
            };
            pushed.map_err(unusable_value)?;
        }
    }
    Ok(())
}

/// `name:value`, where 1 goes without saying.
fn weighted<'a>(kind: &str, word: &'a str) -> Result<(&'a str, f64), Problem> {
    let Some((name, value)) = word.split_once(':') else {
        return Ok((word, 1.0));
    };
    let parsed = number(value)
        .ok_or_else(|| Problem::unusable(&format!("{kind} `{}`", shortened(name)), value, NUMBER))?;
    Ok((name, parsed))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, told_by};
    use super::*;

    fn read(text: &str) -> Vec<String> {
        told_by(open(lines(text), true))
    }

    const NONE: &str = "no action has a reward";

    #[test]
    fn actions_in_lines_become_rows_of_shared_features_and_those_of_the_taken_action() {
        let text = "\n\nshared |u age:30 m\n |x a\n0:-1.5:0.5 |x b:2 3:4\n |x c\n \n\n\
                    |x a\n7:0.0:1 | b\r\n\r\nshared | s\n| a\n";
        assert_eq!(read(text), ["1.5: u.age 30, u.m, x.b 2, x.3 4", "0: b", NONE]);
        assert_eq!(read("shared | s\n0:-0.0:0.5 | a"), ["0: s, a"]);
        assert_eq!(read("shared | s\n\nshared | t\n0:1:0.5 | a"), [NONE, "-1: t, a"]);
    }

    #[test]
    fn namespaces_weights_and_tags_are_understood() {
        let text = "shared 'all |u:2.5 a b:-2 |:3 c || d:0 |v e | f\n0:1:0.5 tag|x y\n'other| z\n";
        assert_eq!(read(text), ["-1: u.a 2.5, u.b -5, c 3, v.e, f, x.y"]);
        assert_eq!(read("0:1:0.5 'it |a:2\tb\tc:3  \n"), ["-1: a.b 2, a.c 6"]);
    }

    #[test]
    fn events_in_lines_become_rows_of_context_features_for_each_action() {
        let text = "1:2:0.4 3 4 | a |n b:2\n2:-1:0.3 | a\n\n1 2 | a\n| a\n3:0:0.3 | c\n";
        assert_eq!(read(text), ["-2: a, n.b 2", "1 [2]: a", NONE, NONE, "0 [3]: c"]);
    }

    #[test]
    fn actions_are_called_by_their_tags_or_their_places_and_features_without_a_name_by_theirs() {
        let mut events =
            open(lines("shared | :1 :2.5\n0:1:0.5 news|x :3 a\n'sport |x b\n|x c\n"), false).unwrap();
        let mut event = Event::default();
        events.next(&mut event).unwrap();
        let ids: Vec<&str> = (0..event.len()).map(|action| event.id(action)).collect();
        assert_eq!(ids, ["news", "sport", "3"]);
        assert_eq!((event.chosen, event.reward, event.probability), (Some(0), Some(-1.0), Some(0.5)));
        let named = |fields: &mut dyn Iterator<Item = (&str, Value<'_>)>| {
            fields.map(|(name, value)| format!("{name} {value:?}")).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(named(&mut event.context()), "[0] Number(1.0), [1] Number(2.5)");
        assert_eq!(named(&mut event.action(0)), "x.[0] Number(3.0), x.a Number(1.0)");
        assert_eq!(named(&mut event.action(2)), "x.c Number(1.0)");
    }

    #[test]
    fn the_beginning_tells_whether_a_line_is_an_event() {
        assert_eq!(read("0:1:0.5 | a"), ["-1: a"]);
        assert_eq!(read("2:1:0.5 | a"), ["-1 [2]: a"]);
        assert_eq!(read("1:1:0.5 | a\n| b"), ["-1: a"]);
        assert_eq!(read("1:1:0.5 | a\n\n0:1:0.5 | b\n\n"), ["-1: a", "-1 [0]: b"]);
        assert_eq!(read("| a\n\n| a\n0:1:0.5 | b\n"), [NONE, "-1: b"]);
        assert_eq!(read("| a\n1:1:0.5 | b\n2:1:0.5 | c\n"), [NONE, "-1: b", "-1 [2]: c"]);
        for second in ["0:1:0.5 | b\n0:1:0.5 | c\n", "1:1:0.3 | b\n0:0.2:0.3 | c\n2 | d\n"] {
            assert_eq!(read(second), [format!("it, line 2: {TWO_COSTS}")]);
        }
        assert_eq!(read("| a\n\n\n"), [NONE]);
        assert_eq!(read(" \n"), Vec::<String>::new());
        let sentence = "the first 10000 lines do not tell whether they are one event (cb_adf) or many (cb)";
        assert_eq!(read(&"| a\n".repeat(10_001)), [format!("it: {sentence}")]);
        assert_eq!(read(&format!("{}\n", "| a\n".repeat(9_998))), [NONE]);
    }

    #[test]
    fn lines_that_contradict_each_other_are_refused_and_the_next_event_is_read() {
        let rest = "| z\n\n\nshared | s\n0:1:0.5 | b\n";
        let late = "a `shared` line must be the first line of its event";
        let tag =
            |word| format!("`{word}` touches the `|`, which makes it a tag: a space must stand between");
        let slots =
            |kind| format!("this is a multi-slot ({kind}) event: only events with one decision are read");
        for (event, line, sentence) in [
            ("shared | s\n0:1:0.5 | a\n0:1:0.5 | b\n", 3, TWO_COSTS),
            ("shared | s\nshared | s\n0:1:0.5 | b\n", 2, late),
            ("| a\nshared | s\n0:1:0.5 | b\n", 2, late),
            ("shared | s\n0:1:0.5 a b\n", 2, "there is no `|`, behind which the features begin"),
            ("shared | s\n0:1:0.5| b\n", 2, &tag("0:1:0.5")),
            ("| a\nshared| s\n", 2, &tag("shared")),
            ("ccb shared | s\nccb action | a\nccb slot 0:1:0.5 | b\n", 1, &slots("ccb")),
            ("slates shared 0.8 | s\nslates action 0 | a\n", 1, &slots("slates")),
        ] {
            assert_eq!(
                read(&format!("{event}{rest}")),
                [format!("it, line {line}: {sentence}"), "-1: s, b".into()]
            );
        }
        assert_eq!(
            read("1:2:0.5 2:1:0.5 | a\nshared | a\n2:1:0.5 | b\n"),
            [
                "it, line 1: this is the second action of its event with a cost, but only one can have been taken",
                "it, line 2: the label is \"shared\", but must be action:cost:probability",
                "-1 [2]: b"
            ]
        );
    }

    #[test]
    fn labels_and_values_that_are_no_numbers_are_named() {
        let number = "must be a number of at most 1e50 in size";
        let label = "must be action:cost:probability";
        for (line, sentence) in [
            ("1:2 | a", format!("the label is \"1:2\", but {label}")),
            ("1:2:0.5:1 | a", format!("the label is \"1:2:0.5:1\", but {label}")),
            ("x:2:0.5 | a", format!("the label is \"x:2:0.5\", but {label}")),
            ("-1:2:0.5 | a", format!("the label is \"-1:2:0.5\", but {label}")),
            (
                "ca 1.5:2:0.5 | a",
                "this is an event with continuous actions (ca): only events with a list of actions are read"
                    .into(),
            ),
            ("1:nan:0.5 | a", format!("the cost is \"nan\", but {number}")),
            ("1::0.5 | a", format!("the cost is \"\", but {number}")),
            ("1:2:0 | a", "the probability is \"0\", but must be a number above 0".to_owned()),
            ("1:2:0.5 | a:1e51", format!("feature `a` is \"1e51\", but {number}")),
            ("1:2:0.5 |n a:b:2", format!("feature `a` is \"b:2\", but {number}")),
            ("1:2:0.5 |n:inf a", format!("namespace `n` is \"inf\", but {number}")),
            ("1:2:0.5 |n:1e50 a:2", format!("feature `n.a` is \"2e50\", but {number}")),
        ] {
            let text = format!("1:1:0.5 | a\n1:1:0.5 | a\n{line}\n1:1:0.5 | a\n");
            assert_eq!(read(&text), ["-1: a", "-1: a", &format!("it, line 3: {sentence}"), "-1: a"]);
        }
    }
}
