//! What fields hold: their kinds, levels and quantiles, and the model that is made where none is given.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::model::{Factor, Model, Named, Reading, Term};
use crate::quantiles::Quantiles;
use crate::recipe::{ID, needs_cuts};
use crate::value::{Kind, Value, has_comma, level, number_level};

/// Levels that are counted, and rows that are looked at to tell whether a field identifies them.
const LOOKED_AT: usize = 1000;
/// A category of more levels than this is hashed where nobody has said how it is to be taken.
const MOST_LEVELS: usize = 50;
/// Features by name of a model that nobody has written; products beyond are hashed.
const MOST_FEATURES: usize = 500;
/// Buckets of such a model.
const BUCKETS: u32 = 256;
/// Numbers of a field for each of its texts, from which on the texts are slips.
const NUMBERS_FOR_A_SLIP: u64 = 100;

/// What rows were seen to hold. Of rows in parts, the surveys of the parts, merged in their order, are the survey of the
/// whole, wherever the parts end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Survey {
    fields: Vec<(String, Seen)>,
    #[serde(skip)]
    positions: FxHashMap<String, usize>,
    /// Rows so far.
    pub rows: u64,
    /// The field that is the action's id, if it has a name of its own.
    pub id: Option<String>,
    /// Whether it is known what belongs to the action.
    knows_actions: bool,
    /// Fields whose quantiles are asked for.
    measured: BTreeSet<String>,
}

/// A survey as it is kept.
#[derive(Deserialize)]
struct Kept {
    fields: Vec<(String, Seen)>,
    rows: u64,
    id: Option<String>,
    knows_actions: bool,
    measured: BTreeSet<String>,
}

impl From<Kept> for Survey {
    fn from(Kept { fields, rows, id, knows_actions, measured }: Kept) -> Self {
        let positions = fields.iter().map(|(name, _)| name.clone()).zip(0..).collect();
        Self { fields, positions, rows, id, knows_actions, measured }
    }
}

/// What was seen of one field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether it belongs to the action.
    action: bool,
    /// What the type of its column says, where columns have types.
    declared: Option<Kind>,
    numbers: u64,
    truths: u64,
    texts: u64,
    /// Levels of texts and truth values, but for too many.
    levels: BTreeSet<String>,
    /// The first values.
    first: Vec<First>,
    /// Of its numbers, if they are asked for.
    quantiles: Option<Quantiles>,
}

/// One of the first values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum First {
    Number(f64),
    Level(String),
}

impl Survey {
    /// Of no rows, of which it is known or not what belongs to the action.
    pub fn new(knows_actions: bool) -> Self {
        Self { knows_actions, ..Self::default() }
    }

    /// Also takes the quantiles that a model needs.
    #[must_use]
    pub fn measuring(mut self, model: &Model) -> Self {
        let parts = model.parts().filter(|part| needs_cuts(part).is_some());
        self.measured = parts.filter_map(|part| part.name().map(str::to_owned)).collect();
        self
    }

    /// Adds a value of the row that is being read.
    pub fn add(&mut self, field: &str, action: bool, value: Value<'_>) {
        let seen = self.seen(field, action);
        seen.add(value);
    }

    /// Says what a field holds, as the type of its column has it.
    pub fn declare(&mut self, field: &str, action: bool, kind: Option<Kind>) {
        let seen = self.seen(field, action);
        seen.declared = seen.declared.or(kind);
    }

    /// Whether the first values of a field are whole numbers and not always the same, as ids are.
    pub fn may_be_ids(&self, name: &str) -> bool {
        let whole = |first: &First| matches!(first, First::Number(number) if number.fract() == 0.0);
        self.field(name).is_some_and(|seen| seen.first.iter().all(whole) && seen.levels() > 1)
    }

    /// Whether types say what all fields hold.
    pub fn is_declared(&self) -> bool {
        !self.fields.is_empty() && self.fields.iter().all(|(_, seen)| seen.declared.is_some())
    }

    fn seen(&mut self, field: &str, action: bool) -> &mut Seen {
        if !self.positions.contains_key(field) {
            // The id of an action may be a column of another name.
            let measured = self.measured.contains(field) || action && self.measured.contains(ID);
            let seen = Seen { quantiles: measured.then(Quantiles::default), ..Seen::default() };
            self.positions.insert(field.to_owned(), self.fields.len());
            self.fields.push((field.to_owned(), seen));
        }
        let seen = &mut self.fields[self.positions[field]].1;
        seen.action |= action;
        seen
    }

    /// Adds the rows of another survey, which come behind these.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.id = self.id.take().or(other.id);
        self.knows_actions |= other.knows_actions;
        self.measured.extend(other.measured);
        for (name, seen) in other.fields {
            if let Some(&position) = self.positions.get(&name) {
                self.fields[position].1.merge(seen);
            } else {
                self.positions.insert(name.clone(), self.fields.len());
                self.fields.push((name, seen));
            }
        }
    }

    /// Names of the fields, in the order in which they were first seen.
    pub fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Whether there is a field of this name.
    pub fn has(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// What was seen of a field.
    pub fn field(&self, name: &str) -> Option<&Seen> {
        self.positions.get(name).map(|&position| &self.fields[position].1)
    }

    /// The fields of actions, if it is known which these are.
    pub fn action_fields(&self) -> Option<BTreeSet<String>> {
        let action = self.fields.iter().filter(|(_, seen)| seen.action);
        self.knows_actions.then(|| action.map(|(name, _)| name.clone()).collect())
    }

    /// The model that is made where none is given, and the fields that it leaves out because they identify rows: the
    /// action's fields as they are, and each field of the context crossed with the action's categories, or with its
    /// id where it has no other.
    pub fn model(&self) -> (Model, Vec<&str>) {
        let is_own_id = |name: &str, seen: &Seen| name == ID && seen.action;
        let (left_out, used): (Vec<_>, Vec<_>) = self
            .fields
            .iter()
            .filter(|(name, seen)| !is_own_id(name, seen))
            // In a model, `id` is the action's.
            .partition(|(name, seen)| name == ID && self.id.is_some() || seen.identifies_rows(name));
        let (action, context): (Vec<_>, Vec<_>) = used.into_iter().partition(|(_, seen)| seen.action);
        let mut made = Made { id: self.id.as_deref(), ..Made::default() };
        for (name, seen) in &action {
            made.add(&[(name, seen)]);
        }
        let mut with: Vec<&(String, Seen)> =
            action.iter().copied().filter(|(name, seen)| made.is_category(name, seen)).collect();
        // Where nothing belongs to the action, nothing can be crossed with it.
        if with.is_empty() {
            let id =
                self.fields.iter().find(|(name, seen)| is_own_id(name, seen) && !seen.identifies_rows(name));
            with.extend(id);
            for (name, seen) in &with {
                made.add(&[(name, seen)]);
            }
        }
        for (name, seen) in &context {
            if with.is_empty() {
                made.add(&[(name, seen)]);
            }
            for (category, levels) in &with {
                made.add(&[(name, seen), (category, levels)]);
            }
        }
        (Model::new(true, made.terms), left_out.into_iter().map(|(name, _)| name.as_str()).collect())
    }
}

/// Models of sparse events.
impl Survey {
    /// The model that is made of events whose fields are single numbers by the thousand, in namespaces: those of the action,
    /// and each of the context crossed with these, or with the id where the action has nothing else. So it is with Vowpal
    /// Wabbit's `-q`.
    pub fn sparse_model(&self) -> Model {
        let mut spaces: [Vec<&str>; 2] = Default::default();
        let mut counts = [0; 2];
        for (name, seen) in self.fields.iter().filter(|(name, _)| name != ID) {
            let place = usize::from(seen.action);
            let space = name.split_once('.').map_or("", |(space, _)| space);
            counts[place] += 1;
            if !spaces[place].contains(&space) {
                spaces[place].push(space);
            }
        }
        let all = |space: &str| {
            // Without a namespace of its own, a field is told apart by nothing.
            let pattern = if space.is_empty() { "*".to_owned() } else { format!("{space}.*") };
            Factor::Field(Named::Pattern(pattern), Reading::Natural)
        };
        let [context, action] = spaces.map(|spaces| spaces.into_iter().map(all).collect::<Vec<Factor>>());
        let with = if action.is_empty() { vec![Factor::field(ID)] } else { action };
        let own = with.iter().map(|factor| Term(vec![factor.clone()]));
        let crossed: Vec<Term> = context
            .iter()
            .flat_map(|shared| with.iter().map(|own| Term(vec![shared.clone(), own.clone()])))
            .collect();
        let many = |terms: Vec<Term>, features: usize| {
            let hashed = features > MOST_FEATURES && !terms.is_empty();
            if hashed { vec![Term(vec![Factor::Hash(terms, BUCKETS)])] } else { terms }
        };
        let ids = self.field(ID).map_or(1, Seen::levels);
        let each = if counts[1] == 0 { ids } else { counts[1] };
        let own = many(own.collect(), each);
        Model::new(true, own.into_iter().chain(many(crossed, counts[0] * each)))
    }
}

/// A model that is being made.
#[derive(Default)]
struct Made<'a> {
    /// The field that is the action's id, and a category even if ids are numbers.
    id: Option<&'a str>,
    terms: Vec<Term>,
    features: usize,
}

impl Made<'_> {
    fn is_category(&self, name: &str, seen: &Seen) -> bool {
        seen.kind() == Kind::Category || self.id == Some(name)
    }

    /// How many features a field alone makes.
    fn size(&self, name: &str, seen: &Seen) -> usize {
        if self.is_category(name, seen) { seen.levels() } else { 1 }
    }

    /// Adds a product of fields, hashed if it has too many features.
    fn add(&mut self, fields: &[(&String, &Seen)]) {
        let size: usize = fields.iter().map(|(name, seen)| self.size(name, seen)).product();
        let many = fields.iter().any(|(name, seen)| self.size(name, seen) > MOST_LEVELS);
        let factor = |(name, seen): &(&String, &Seen)| {
            let number = self.id == Some(name.as_str()) && seen.kind() == Kind::Number;
            let reading = if number { Reading::Category } else { Reading::Natural };
            Factor::Field(Named::Name((*name).clone()), reading)
        };
        let factors = fields.iter().map(factor).collect();
        let term = Term(factors);
        if many || self.features + size > MOST_FEATURES {
            self.terms.push(Term(vec![Factor::Hash(vec![term], BUCKETS)]));
        } else {
            self.features += size;
            self.terms.push(term);
        }
    }
}

impl Seen {
    fn add(&mut self, value: Value<'_>) {
        let looks = self.first.len() < LOOKED_AT;
        match value.typed() {
            // A number that is written wrongly, which is said where rows are read; a category of such levels would hide it.
            Value::Text(text) if matches!(value, Value::Cell(_)) && has_comma(text) => self.numbers += 1,
            Value::Missing => {}
            Value::Number(number) => {
                self.numbers += 1;
                if looks {
                    self.first.push(First::Number(number));
                }
                if let Some(quantiles) = self.quantiles.as_mut().filter(|_| number.is_finite()) {
                    quantiles.add(number);
                }
            }
            Value::Truth(truth) => {
                self.truths += 1;
                self.add_level(if truth { "true" } else { "false" }, looks);
            }
            Value::Text(text) | Value::Cell(text) => {
                self.texts += 1;
                self.add_level(&level(text), looks);
            }
        }
    }

    fn add_level(&mut self, level: &str, looks: bool) {
        // The number of levels decides how a category is taken, so more rows are looked at than for ids.
        if self.levels.len() <= LOOKED_AT && !self.levels.contains(level) {
            self.levels.insert(level.to_owned());
        }
        if looks {
            self.first.push(First::Level(level.to_owned()));
        }
    }

    fn merge(&mut self, other: Self) {
        self.action |= other.action;
        self.declared = match (self.declared, other.declared) {
            (Some(Kind::Number), Some(Kind::Category)) => Some(Kind::Category),
            (mine, theirs) => mine.or(theirs),
        };
        self.numbers += other.numbers;
        self.truths += other.truths;
        self.texts += other.texts;
        let room = LOOKED_AT.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(room));
        self.levels.extend(other.levels);
        while self.levels.len() > LOOKED_AT + 1 {
            self.levels.pop_last();
        }
        match (&mut self.quantiles, other.quantiles) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
    }

    /// What the field holds. A rare text among numbers is a slip, and refused where rows are read, not a category.
    pub fn kind(&self) -> Kind {
        match self.declared {
            _ if self.texts * NUMBERS_FOR_A_SLIP > self.numbers => Kind::Category,
            Some(kind) => kind,
            None if self.truths > 0 && self.numbers == 0 => Kind::Category,
            None => Kind::Number,
        }
    }

    /// How many levels there are, where its values are levels; of very many, not all are counted.
    fn levels(&self) -> usize {
        let numbers: BTreeSet<String> = self.early_levels().filter(|it| !self.levels.contains(it)).collect();
        (self.levels.len() + numbers.len()).min(LOOKED_AT + 1)
    }

    /// The levels of the first values.
    fn early_levels(&self) -> impl Iterator<Item = String> {
        self.first.iter().map(|first| match first {
            First::Number(number) => number_level(*number),
            First::Level(level) => level.clone(),
        })
    }

    /// Whether the first numbers are whole, and each is larger than the one before.
    fn is_increasing(&self) -> bool {
        let numbers = self.first.iter().filter_map(|first| match first {
            First::Number(number) => Some(*number),
            First::Level(_) => None,
        });
        let mut last = f64::MIN;
        numbers.fold(true, |so_far, number| {
            let next = number.fract() == 0.0 && last < number;
            last = number;
            so_far && next
        })
    }

    /// Whether the field tells rows apart instead of saying something about them: a category with another level in
    /// nearly every row, whole numbers that count rows or seconds, or a name that says so.
    fn identifies_rows(&self, name: &str) -> bool {
        const NAMES: [&str; 9] =
            ["decision_id", "event_id", "eventid", "row_id", "timestamp", "time", "date", "datetime", "uuid"];
        const FEW: usize = 50;
        let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        let many = self.first.len() >= FEW;
        let by_values = many
            && match self.kind() {
                Kind::Category => {
                    10 * self.early_levels().collect::<BTreeSet<_>>().len() > 9 * self.first.len()
                }
                Kind::Number => self.is_increasing(),
            };
        by_values || NAMES.contains(&last.as_str()) && self.levels() > MOST_LEVELS
    }

    /// Where bins end, or a spline has its knots: quantiles, each once.
    pub(crate) fn cuts(&self, factor: &Factor, count: u32) -> Vec<f64> {
        let steps: Vec<(u32, u32)> = match factor {
            Factor::Spline(..) => (0..count).map(|step| (step, count - 1)).collect(),
            _ => (1..count).map(|step| (step, count)).collect(),
        };
        let found = self.quantiles.as_ref().and_then(|quantiles| quantiles.at(steps.into_iter()));
        let Some((first, mut cuts)) = found else { return Vec::new() };
        if !matches!(factor, Factor::Spline(..)) {
            // Below the smallest number there is nothing.
            cuts.retain(|&cut| cut > first);
        }
        cuts.dedup();
        cuts
    }
}

impl Survey {
    /// What all fields hold.
    pub fn kinds(&self) -> BTreeMap<&str, Kind> {
        self.fields.iter().map(|(name, seen)| (name.as_str(), seen.kind())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::{Missing, Recipe};

    fn shop(rows: usize, actions: bool, model: &Model) -> Survey {
        surveyed(0..rows, actions, model)
    }

    fn surveyed(rows: std::ops::Range<usize>, actions: bool, model: &Model) -> Survey {
        let mut survey = Survey::new(actions).measuring(model);
        for row in rows {
            survey.rows += 1;
            survey.add("row_id", false, Value::Number(row as f64));
            survey.add("segment", false, Value::Text(["student", "worker"][row % 2]));
            survey.add("age", false, Value::Number(20.0 + (row * 7 % 40) as f64));
            survey.add("session", false, Value::Text(&format!("s{row}")));
            survey.add("item", actions, Value::Cell(["news", "sport", "music"][row % 3]));
            survey.add("price", actions, Value::Cell(["1.5", "2", "NA"][row % 3]));
            survey.add("country", false, Value::Text(&format!("c{}", row % 60)));
        }
        survey
    }

    #[test]
    fn where_no_model_is_given_the_context_is_crossed_with_the_action() {
        let survey = shop(300, true, &Model::default());
        let (model, left_out) = survey.model();
        assert_eq!(model.to_string(), "item + price + segment:item + age:item + hash(country:item, 256)");
        assert_eq!(left_out, ["row_id", "session"]);
        let (model, _) = shop(300, false, &Model::default()).model();
        assert_eq!(model.to_string(), "segment + age + item + price + hash(country, 256)");
    }

    #[test]
    fn an_id_that_is_a_number_is_a_category_of_the_model_that_is_made() {
        let mut survey = Survey::new(true);
        for row in 0_usize..60 {
            survey.rows += 1;
            survey.add("age", false, Value::Number(20.5 + (row % 7) as f64));
            survey.add("item", true, Value::Cell(["3", "14", "15"][row % 3]));
        }
        assert!(survey.may_be_ids("item") && !survey.may_be_ids("age"));
        survey.id = Some("item".to_owned());
        assert_eq!(survey.model().0.to_string(), "C(item) + age:C(item)");
    }

    #[test]
    fn terms_that_cannot_change_a_choice_are_named() {
        let model: Model = "item*segment + age + bins(age, 4):item".parse().unwrap();
        let mut survey = shop(300, true, &model);
        survey.id = Some("item".to_owned());
        let recipe = Recipe::meet(&model, &survey, true, Missing::Refuse).unwrap();
        assert_eq!(
            recipe.warnings(),
            [
                "`segment` is the same for every action of a round and cannot change a choice; cross it with the action: `segment:item`",
                "`age` is the same for every action of a round and cannot change a choice; cross it with the action: `age:item`",
            ]
        );
        assert_eq!(recipe.cuts["bins(age, 4)"], [29.0, 39.0, 49.0]);
        let unknown = Recipe::meet(&model, &shop(300, false, &model), true, Missing::Refuse).unwrap();
        assert!(unknown.idle_terms().is_empty());
    }

    #[test]
    fn a_text_among_a_hundred_numbers_makes_no_category_of_them() {
        for (texts, kind) in [(1, Kind::Number), (2, Kind::Number), (3, Kind::Category)] {
            let mut survey = Survey::new(false);
            for row in 0..200 + texts {
                survey.add(
                    "price",
                    false,
                    if row < texts { Value::Cell("1O.5") } else { Value::Cell("10.5") },
                );
            }
            assert_eq!(survey.kinds()["price"], kind, "{texts}");
        }
    }

    #[test]
    fn numbers_with_a_decimal_comma_are_no_category() {
        let kind = |values: [Value<'_>; 2]| {
            let mut survey = Survey::new(false);
            for value in values {
                survey.add("price", false, value);
            }
            survey.kinds()["price"]
        };
        assert_eq!(kind([Value::Cell("1,5"), Value::Cell("-12,000")]), Kind::Number);
        assert_eq!(kind([Value::Cell("1,5"), Value::Cell("1,x")]), Kind::Category);
        assert_eq!(kind([Value::Cell("1,"), Value::Cell(",")]), Kind::Category);
        // Where text is text, whatever it looks like.
        assert_eq!(kind([Value::Text("1,5"), Value::Text("2,5")]), Kind::Category);
    }

    #[test]
    fn fields_that_are_not_there_are_named_with_what_was_meant() {
        let meet = |model: &str| {
            let model: Model = model.parse().unwrap();
            Recipe::meet(&model, &shop(3, true, &model), true, Missing::Refuse)
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            meet("prize").unwrap_err(),
            "there is no field `prize` (did you mean `price`?); the fields are `row_id`, `segment`, `age`, `session`, `item`, `price`, `country`"
        );
        assert!(meet("x_*").unwrap_err().starts_with("no field fits `x_*`; the fields are `row_id`"));
        assert_eq!(
            meet("s*:item + hash(s*, 8)").unwrap().model.to_string(),
            "segment:item + session:item + hash(segment + session, 8)"
        );
    }

    #[test]
    fn a_survey_in_parts_is_the_survey_of_the_whole_wherever_the_parts_end() {
        let model: Model = "bins(age, 4) + spline(row_id, 3)".parse().unwrap();
        let whole = surveyed(0..5000, true, &model);
        let of_parts = |ends: &[usize]| {
            let mut start = 0;
            let mut all = Survey::new(true).measuring(&model);
            for &end in ends {
                all.merge(surveyed(start..end, true, &model));
                start = end;
            }
            all
        };
        for ends in [&[5000][..], &[1, 2, 5000], &[0, 0, 600, 1400, 5000], &[4999, 5000, 5000]] {
            let parts = of_parts(ends);
            assert_eq!(parts.model(), whole.model(), "{ends:?}");
            assert_eq!(parts.kinds(), whole.kinds());
            let recipe = |survey| Recipe::meet(&model, survey, true, Missing::Refuse).unwrap();
            assert_eq!(recipe(&parts), recipe(&whole));
        }
    }

    #[test]
    fn the_type_of_a_column_says_what_it_holds_without_a_row() {
        let mut survey = Survey::new(false);
        survey.declare("item", false, Some(Kind::Category));
        survey.declare("price", false, Some(Kind::Number));
        assert!(survey.is_declared());
        assert_eq!(survey.kinds(), BTreeMap::from([("item", Kind::Category), ("price", Kind::Number)]));
        survey.declare("nothing", false, None);
        assert!(!survey.is_declared());
    }

    #[test]
    fn a_thousand_values_a_thousand_times_have_exact_quantiles() {
        let mut long = Seen { quantiles: Some(Quantiles::default()), ..Seen::default() };
        for number in 0..1_000_000 {
            long.add(Value::Number(f64::from(number % 1000)));
        }
        assert_eq!(long.cuts(&Factor::Bins("x".to_owned(), 4), 4), [250.0, 500.0, 749.0]);
    }
}
