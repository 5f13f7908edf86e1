//! What fields hold: their kinds, levels and quantiles, and the model that is made where none is given.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::model::{Factor, Model, Named, Reading, Term};
use crate::recipe::ID;
use crate::value::{Kind, Value, level, number_level};

/// Levels that are counted, and rows that are looked at to tell whether a field identifies them.
const LOOKED_AT: usize = 1000;
/// Numbers of which quantiles are taken.
const SAMPLE: usize = 1 << 16;
/// A category of more levels than this is hashed where nobody has said how it is to be taken.
const MOST_LEVELS: usize = 50;
/// Features by name of a model that nobody has written; products beyond are hashed.
const MOST_FEATURES: usize = 500;
/// Buckets of such a model.
const BUCKETS: u32 = 256;

/// What rows were seen to hold.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    fields: Vec<(String, Seen)>,
    positions: FxHashMap<String, usize>,
    /// Rows so far.
    pub rows: u64,
    /// The field that is the action's id, if it has a name of its own.
    pub id: Option<String>,
    /// Whether it is known what belongs to the action.
    knows_actions: bool,
}

/// What was seen of one field.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Whether it belongs to the action.
    action: bool,
    numbers: u64,
    truths: u64,
    texts: u64,
    /// Levels of the first rows.
    levels: BTreeSet<String>,
    /// Values that were looked at, and how many levels these have.
    looked_at: usize,
    early: usize,
    /// The last one, if all so far were whole numbers, one larger than the other.
    increasing: Option<f64>,
    /// Every so many numbers, in their order.
    sample: Vec<f64>,
    stride: u64,
}

impl Survey {
    /// Of no rows, of which it is known or not what belongs to the action.
    pub fn new(knows_actions: bool) -> Self {
        Self { knows_actions, ..Self::default() }
    }

    /// Adds a value of the row that is being read.
    pub fn add(&mut self, field: &str, action: bool, value: Value<'_>) {
        if !self.positions.contains_key(field) {
            self.positions.insert(field.to_owned(), self.fields.len());
            self.fields.push((field.to_owned(), Seen { increasing: Some(f64::MIN), ..Seen::default() }));
        }
        let seen = &mut self.fields[self.positions[field]].1;
        seen.action |= action;
        seen.add(value);
    }

    /// Adds the rows of another survey, which come behind these.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.id = self.id.take().or(other.id);
        self.knows_actions |= other.knows_actions;
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
            .partition(|(name, seen)| seen.identifies_rows(name));
        let (action, context): (Vec<_>, Vec<_>) = used.into_iter().partition(|(_, seen)| seen.action);
        let mut made = Made::default();
        for (name, seen) in &action {
            made.add(&[(name, seen)]);
        }
        let mut with: Vec<&(String, Seen)> =
            action.iter().copied().filter(|(_, seen)| seen.kind() == Kind::Category).collect();
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
        let ids = self.field(ID).map_or(1, |id| id.levels.len());
        let each = if counts[1] == 0 { ids } else { counts[1] };
        let own = many(own.collect(), each);
        Model::new(true, own.into_iter().chain(many(crossed, counts[0] * each)))
    }
}

/// A model that is being made.
#[derive(Default)]
struct Made {
    terms: Vec<Term>,
    features: usize,
}

impl Made {
    /// Adds a product of fields, hashed if it has too many features.
    fn add(&mut self, fields: &[(&String, &Seen)]) {
        let size: usize = fields.iter().map(|(_, seen)| seen.size()).product();
        let many = fields.iter().any(|(_, seen)| seen.size() > MOST_LEVELS);
        let factors = fields
            .iter()
            .map(|(name, _)| Factor::Field(Named::Name((*name).clone()), Reading::Natural))
            .collect();
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
        let looks = self.looked_at < LOOKED_AT;
        match value.typed() {
            Value::Missing => return,
            Value::Number(number) => {
                self.numbers += 1;
                if looks {
                    self.levels.insert(number_level(number));
                    let whole = number.fract() == 0.0;
                    self.increasing = self.increasing.filter(|last| whole && *last < number).map(|_| number);
                }
                self.keep(number);
            }
            Value::Truth(truth) => {
                self.truths += 1;
                self.levels.insert(truth.to_string());
            }
            Value::Text(text) | Value::Cell(text) => {
                self.texts += 1;
                // The number of levels decides how a category is taken, so more rows are looked at than for ids.
                if self.levels.len() <= LOOKED_AT && !self.levels.contains(&*level(text)) {
                    self.levels.insert(level(text).into_owned());
                }
            }
        }
        if looks {
            self.looked_at += 1;
            self.early = self.levels.len();
        }
    }

    /// Keeps every so many numbers, so that all of them have been asked alike.
    fn keep(&mut self, number: f64) {
        self.stride = self.stride.max(1);
        if (self.numbers - 1).is_multiple_of(self.stride) && number.is_finite() {
            self.sample.push(number);
            if self.sample.len() >= SAMPLE {
                self.thin(2);
            }
        }
    }

    fn thin(&mut self, factor: usize) {
        let mut place = 0;
        self.sample.retain(|_| {
            place += 1;
            (place - 1) % factor == 0
        });
        self.stride *= factor as u64;
    }

    fn merge(&mut self, mut other: Self) {
        let stride = self.stride.max(other.stride).max(1);
        for sample in [&mut *self, &mut other] {
            let factor = usize::try_from(stride / sample.stride.max(1)).unwrap_or(1);
            if factor > 1 {
                sample.thin(factor);
            }
        }
        self.stride = stride;
        self.sample.extend(other.sample);
        if self.sample.len() >= SAMPLE {
            self.thin(2);
        }
        self.action |= other.action;
        self.numbers += other.numbers;
        self.truths += other.truths;
        self.texts += other.texts;
        if self.looked_at < LOOKED_AT {
            self.looked_at += other.looked_at;
            self.early += other.early;
            self.increasing = self.increasing.and(other.increasing);
        }
        self.levels.extend(other.levels);
        while self.levels.len() > 2 * LOOKED_AT {
            self.levels.pop_last();
        }
    }

    /// What the field holds.
    pub fn kind(&self) -> Kind {
        if self.texts > 0 || self.truths > 0 && self.numbers == 0 { Kind::Category } else { Kind::Number }
    }

    /// How many features the field alone makes.
    fn size(&self) -> usize {
        if self.kind() == Kind::Number { 1 } else { self.levels.len() }
    }

    /// Whether the field tells rows apart instead of saying something about them: a category with another level in
    /// nearly every row, whole numbers that count rows or seconds, or a name that says so.
    fn identifies_rows(&self, name: &str) -> bool {
        const NAMES: [&str; 8] =
            ["decision_id", "event_id", "eventid", "row_id", "timestamp", "time", "datetime", "uuid"];
        const FEW: usize = 50;
        let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        let many = self.looked_at >= FEW;
        let by_values = many
            && match self.kind() {
                Kind::Category => 10 * self.early > 9 * self.looked_at,
                Kind::Number => self.increasing.is_some(),
            };
        by_values || NAMES.contains(&last.as_str()) && self.levels.len() > MOST_LEVELS
    }

    /// Where bins end, or a spline has its knots: quantiles, each once.
    pub(crate) fn cuts(&self, factor: &Factor, count: u32) -> Vec<f64> {
        let mut sorted = self.sample.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
        let at = |step: u32, steps: u32| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place in the sample"
            )]
            let place = (last as f64 * f64::from(step) / f64::from(steps)).round() as usize;
            sorted[place.min(last)]
        };
        let mut cuts: Vec<f64> = match factor {
            Factor::Spline(..) => (0..count).map(|step| at(step, count - 1)).collect(),
            // Below the smallest number there is nothing.
            _ => (1..count).map(|step| at(step, count)).filter(|&cut| cut > sorted[0]).collect(),
        };
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

    fn shop(rows: usize, actions: bool) -> Survey {
        let mut survey = Survey { knows_actions: actions, ..Survey::default() };
        for row in 0..rows {
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
        let survey = shop(300, true);
        let (model, left_out) = survey.model();
        assert_eq!(model.to_string(), "item + price + segment:item + age:item + hash(country:item, 256)");
        assert_eq!(left_out, ["row_id", "session"]);
        let (model, _) = shop(300, false).model();
        assert_eq!(model.to_string(), "segment + age + item + price + hash(country, 256)");
    }

    #[test]
    fn terms_that_cannot_change_a_choice_are_named() {
        let model: Model = "item*segment + age + bins(age, 4):item".parse().unwrap();
        let mut survey = shop(300, true);
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
        let unknown = Recipe::meet(&model, &shop(300, false), true, Missing::Refuse).unwrap();
        assert!(unknown.idle_terms().is_empty());
    }

    #[test]
    fn fields_that_are_not_there_are_named_with_what_was_meant() {
        let meet = |model: &str| {
            let model: Model = model.parse().unwrap();
            Recipe::meet(&model, &shop(3, true), true, Missing::Refuse).map_err(|error| error.to_string())
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
    fn a_survey_in_parts_sees_what_a_whole_one_sees() {
        let whole = shop(300, true);
        let mut parts = shop(150, true);
        let mut rest = shop(300, true);
        rest.fields.iter_mut().for_each(|(_, seen)| seen.sample.clear());
        parts.merge(rest);
        assert_eq!(parts.kinds(), whole.kinds());
        let mut long = Seen::default();
        for number in 0..1_000_000 {
            long.add(Value::Number(f64::from(number % 1000)));
        }
        let cuts = long.cuts(&Factor::Bins("x".to_owned(), 4), 4);
        for (cut, wanted) in cuts.iter().zip([250.0, 500.0, 750.0]) {
            assert!((cut - wanted).abs() < 10.0, "{cuts:?}");
        }
        assert!(long.sample.len() < SAMPLE);
    }
}
