//! The Open Bandit Dataset: a CSV of clicks on the items that were shown, and perhaps a table of the items.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use truenorth_features::{Event, Value};

use crate::collector::parse;
use crate::error::{Place, Problem, Result, shortened};
use crate::event::Events;
use crate::source::lines::Lines;
use crate::source::records::Records;

const ITEM: &str = "item_id";
const POSITION: &str = "position";
const CLICK: &str = "click";
const PROBABILITY: &str = "propensity_score";
const AFFINITY: &str = "user-item_affinity";

pub(crate) struct Obd {
    records: Records,
    item: usize,
    position: usize,
    click: usize,
    /// The column of the probability with which the item was shown.
    probability: Option<usize>,
    /// Columns of the user's features.
    users: Vec<usize>,
    /// The column of the user's affinity to an item.
    affinities: HashMap<String, usize>,
    items: Option<Items>,
    /// Whether items that were not shown are actions as well: all that users have an affinity to, in the order of their columns.
    all: Option<Vec<String>>,
}

/// The features of each item of the Open Bandit Dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Items(BTreeMap<String, Vec<(String, f64)>>);

/// Finds the columns of a log.
pub(crate) fn open(lines: Lines, items: Option<&Items>, all: bool) -> Result<Obd> {
    let records = open_table(lines)?;
    let names = &records.names;
    let has = |start: &str| names.iter().any(|name| name.starts_with(start));
    if !names.iter().any(|name| name == CLICK) && has(ITEM) && has("item_feature_") {
        return Err(Problem::ItemTable.into());
    }
    let [item, position, click] = [column(names, ITEM)?, column(names, POSITION)?, column(names, CLICK)?];
    let users = (0..names.len()).filter(|&column| names[column].starts_with("user_feature_")).collect();
    let item_of = |name: &String| Some(name.strip_prefix(AFFINITY)?.strip_prefix('_')?.to_owned());
    let all = all.then(|| names.iter().filter_map(item_of).collect());
    let affinities =
        names.iter().zip(0..).filter_map(|(name, column)| Some((item_of(name)?, column))).collect();
    let probability = names.iter().position(|name| name == PROBABILITY);
    Ok(Obd { item, position, click, probability, users, affinities, items: items.cloned(), all, records })
}

/// Reads a header in which no name stands twice.
fn open_table(lines: Lines) -> Result<Records> {
    let records = Records::open(lines)?;
    let mut seen = HashSet::new();
    match records.names.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
        Some(name) => Err(Problem::TwoColumns(name.clone()).into()),
        None => Ok(records),
    }
}

/// Where the column of this name is.
fn column(names: &[String], name: &str) -> Result<usize, Problem> {
    let absent = || Problem::NoColumn { name: name.to_owned(), columns: names.to_vec() };
    names.iter().position(|other| other == name).ok_or_else(absent)
}

impl Events for Obd {
    fn next(&mut self, event: &mut Event) -> Result<Option<Place>> {
        let Some(place) = self.records.next()? else { return Ok(None) };
        self.read(event).map(|()| Some(place)).map_err(|problem| problem.at(place))
    }
}

impl Obd {
    /// The user and the position are the context, the item is the action that was taken.
    fn read(&self, event: &mut Event) -> Result<(), Problem> {
        let (cell, names) = (self.records.cells()?, &self.records.names);
        let filled = |column: usize| match cell(column).trim() {
            "" => Err(Problem::no_value(&names[column])),
            text => Ok(text),
        };
        let mut push = |name: &str, value| event.push(&[name], value).map_err(Problem::from);
        // A sum with 0 is never -0.
        let reward = 0.0 + parse(CLICK, cell(self.click))?;
        for &column in [self.position].iter().chain(&self.users) {
            push(&names[column], Value::Text(filled(column)?))?;
        }
        let item = filled(self.item)?;
        let shown = [item.to_owned()];
        let offered = self.all.as_ref().filter(|all| all.iter().any(|other| other == item));
        for offered in offered.map_or(&shown[..], |all| &all[..]) {
            if offered == item {
                event.chosen = Some(event.len());
            }
            self.push_item(offered, &cell, event)?;
        }
        event.reward = Some(reward);
        event.probability = self.probability.and_then(|column| parse(PROBABILITY, cell(column)).ok());
        event.probability = event.probability.filter(|share| *share > 0.0 && *share <= 1.0);
        Ok(())
    }

    /// An item with the user's affinity to it, as an action.
    fn push_item<'a>(
        &self,
        item: &str,
        cell: &impl Fn(usize) -> &'a str,
        event: &mut Event,
    ) -> Result<(), Problem> {
        let names = &self.records.names;
        let Some(&affinity) = self.affinities.get(item) else {
            let name = format!("{AFFINITY}_{}", shortened(item));
            return Err(Problem::NoColumn { name, columns: names.clone() });
        };
        let affinity = parse(&names[affinity], cell(affinity))?;
        event.push_action(item).map_err(Problem::from)?;
        let mut push = |name: &str, value| event.push(&[name], value).map_err(Problem::from);
        push(AFFINITY, Value::Number(affinity))?;
        let Some(items) = &self.items else {
            return push(ITEM, Value::Text(item));
        };
        let unknown = || Problem::unusable("`item_id`", item, "an item of the table of items");
        let features = items.0.get(item).ok_or_else(unknown)?;
        features.iter().try_for_each(|(name, value)| match name.split_once('=') {
            // Levels of the table's categories, as a summary keeps them.
            Some((field, level)) => push(field, Value::Text(level)),
            None => push(name, Value::Number(*value)),
        })
    }
}

impl Items {
    /// Reads a table of items.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        Lines::open(path).and_then(Self::from_lines).map_err(|error| error.in_file(path))
    }

    pub(super) fn from_lines(lines: Lines) -> Result<Self> {
        let mut records = open_table(lines)?;
        let item = column(&records.names, ITEM)?;
        // The first column has no name: it counts the rows.
        let is_feature = |&column: &usize| column != item && !records.names[column].is_empty();
        let columns: Vec<usize> = (0..records.names.len()).filter(is_feature).collect();
        let mut rows: Vec<(Place, Vec<String>)> = Vec::new();
        while let Some(place) = records.next()? {
            let cell = records.cells().map_err(|problem| problem.at(place))?;
            let values = (0..records.names.len()).map(|column| cell(column).trim().to_owned());
            rows.push((place, values.collect()));
            if let Some(&empty) = columns.iter().find(|&&column| cell(column).trim().is_empty()) {
                return Err(Problem::no_value(&records.names[empty]).at(place));
            }
        }
        if rows.is_empty() {
            return Err(Problem::NoRows.into());
        }
        let is_number = |column: usize| rows.iter().all(|(_, values)| values[column].parse::<f64>().is_ok());
        let features: Vec<(usize, &String, bool)> =
            columns.iter().map(|&column| (column, &records.names[column], is_number(column))).collect();
        let mut items = BTreeMap::new();
        for (place, values) in &rows {
            let feature = |&(column, name, number): &(usize, &String, bool)| {
                let value = &values[column];
                Ok(if number {
                    (name.clone(), parse(name, value)?)
                } else {
                    (format!("{name}={value}"), 1.0)
                })
            };
            let features = features.iter().map(feature).collect::<Result<Vec<_>, Problem>>();
            let features = features.map_err(|problem| problem.at(*place))?;
            if items.insert(values[item].clone(), features).is_some() {
                return Err(
                    Problem::unusable("`item_id`", &values[item], "another one in each line").at(*place)
                );
            }
        }
        Ok(Self(items))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, told};
    use super::*;

    const HEADER: &str = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,\
                          user-item_affinity_0,user-item_affinity_14";
    const TABLE: &str = ",item_id,item_feature_0,item_feature_1,item_feature_2\n0,0,-0.5,a,7\n1,14,2,b,x\n";

    fn read(rows: &str, items: Option<&Items>) -> Vec<String> {
        told(open(lines(format!("{HEADER}\n{rows}")), items, false))
    }

    fn table(text: &str) -> Result<Items, String> {
        Items::from_lines(lines(text)).map_err(|error| error.in_file(Path::new("it")).to_string())
    }

    #[test]
    fn the_row_is_the_place_the_user_and_the_item_that_was_shown() {
        let rows = "0,t,14,2,1,0.02,u,\"v,w\",7,0.5\r\n\n1,t,0,3,0,0.02,u,x,0.0,9\n";
        assert_eq!(
            read(rows, None),
            [
                "1: position=2, user_feature_0=u, user_feature_1=v,w, user-item_affinity 0.5, item_id=14",
                "0: position=3, user_feature_0=u, user_feature_1=x, item_id=0",
            ]
        );
        let text = "item_id,click,position,action_prob,user-item_affinity_a\na,-0,top,1,-2\n";
        assert_eq!(
            told(open(lines(text), None, false)),
            ["0: position=top, user-item_affinity -2, item_id=a"]
        );
    }

    #[test]
    fn items_that_were_not_shown_are_actions_where_all_are_asked_for() {
        let rows = format!("{HEADER}\n0,t,14,2,1,0.02,u,v,7,0.5\n");
        let mut event = Event::default();
        event.clear();
        open(lines(rows), None, true).unwrap().next(&mut event).unwrap().unwrap();
        assert_eq!((event.len(), event.id(0), event.id(1)), (2, "0", "14"));
        assert_eq!((event.chosen, event.reward, event.probability), (Some(1), Some(1.0), Some(0.02)));
        let affinity = |action| event.action(action).next();
        assert_eq!(affinity(0), Some((AFFINITY, Value::Number(7.0))));
        assert_eq!(affinity(1), Some((AFFINITY, Value::Number(0.5))));
    }

    #[test]
    fn a_table_of_items_tells_their_features_instead_of_their_number() {
        let items = table(TABLE).unwrap();
        let rows = "0,t,14,2,1,0.02,u,v,7,0.5\n1,t,0,3,0,0.02,u,x,0.0,9\n";
        let items_only: Vec<String> = read(rows, Some(&items))
            .iter()
            .filter_map(|row| row.split_once("item_feature_0"))
            .map(|(_, rest)| rest.to_owned())
            .collect();
        assert_eq!(
            items_only,
            [" 2, item_feature_1=b, item_feature_2=x", " -0.5, item_feature_1=a, item_feature_2=7"]
        );
    }

    #[test]
    fn rows_that_cannot_be_read_are_named_and_the_next_row_is_read() {
        let items = table(TABLE).unwrap();
        let columns = HEADER.split(',').map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        for (row, sentence) in [
            ("0,t,14,2,,1,u,v,7,0.5", "column `click` has no value"),
            ("0,t,14,2,yes,1,u,v,7,0.5", "column `click` holds \"yes\", not a number"),
            (
                "0,t,14,2,1,1,u,v,7,inf",
                "column `user-item_affinity_14` holds inf, but numbers must be finite and at most 1e50 in size",
            ),
            ("0,t,14,,1,1,u,v,7,0.5", "column `position` has no value"),
            ("0,t,14,2,1,1,u,,7,0.5", "column `user_feature_1` has no value"),
            ("0,t,,2,1,1,u,v,7,0.5", "column `item_id` has no value"),
            ("0,t,14,2,1,1,u,v,7", "there are 9 fields, but the header has 10"),
            (
                "0,t,3,2,1,1,u,v,7,1",
                &format!("there is no column named `user-item_affinity_3`; the columns are {columns}"),
            ),
        ] {
            let told = read(&format!("{row}\n0,t,0,2,1,1,u,v,0,1\n"), Some(&items));
            assert_eq!(told[0], format!("it, line 2: {sentence}"));
            assert!(told.len() == 2 && told[1].starts_with("1: position=2, "), "{told:?}");
        }
        let few = table("item_id,item_feature_0\n0,1\n").unwrap();
        assert_eq!(
            read("0,t,14,2,1,1,u,v,7,0.5\n", Some(&few)),
            ["it, line 2: `item_id` is \"14\", but must be an item of the table of items"]
        );
        assert_eq!(read("0,t,14,2,1,1,u,\"v", None), ["it, line 2: a quote opens here and is never closed"]);
    }

    #[test]
    fn files_that_are_something_else_are_refused() {
        let log = |text: &str| told(open(lines(text), None, false));
        assert_eq!(
            log(TABLE),
            ["it: this is a table of items, without a column `click`: it goes beside the log it belongs to"]
        );
        assert_eq!(
            log("item_id,position\n"),
            ["it: there is no column named `click`; the columns are `item_id`, `position`"]
        );
        assert_eq!(log("item_id,position,click,click\n"), ["it: there are two columns named `click`"]);
        assert_eq!(log(""), ["it: the file is empty"]);
        assert_eq!(
            log("item_id,position,click,user-item_affinity_0,user-item_affinity_0\n"),
            ["it: there are two columns named `user-item_affinity_0`"]
        );
    }

    #[test]
    fn tables_of_items_must_be_whole() {
        for (rows, sentence) in [
            ("", "it: there are columns, but no rows"),
            ("1,\n", "it, line 2: column `x` has no value"),
            ("1,2\n1,3\n", "it, line 3: `item_id` is \"1\", but must be another one in each line"),
            (
                "1,2\n2,nan\n",
                "it, line 3: column `x` holds nan, but numbers must be finite and at most 1e50 in size",
            ),
        ] {
            assert_eq!(table(&format!("item_id,x\n{rows}")).unwrap_err(), sentence);
        }
        assert_eq!(
            table("x\n1\n").unwrap_err(),
            "it: there is no column named `item_id`; the columns are `x`"
        );
        let said = Items::read(Path::new("absent.csv")).unwrap_err().to_string();
        assert!(said.starts_with("absent.csv: "), "{said}");
    }
}
