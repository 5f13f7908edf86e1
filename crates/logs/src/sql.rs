//! A summary that a database computes: a query of plain aggregates, and its answer.
//!
//! Rows are grouped by all categories of the model. Inside of a group every feature is a product of numbers, so the sums of
//! products of these are all that is asked for; levels need not be known before. The first column of the answer says
//! what was asked, so that the answer is all that has to be kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truenorth::CrossProducts;
use truenorth_features::{
    Dialect, Event, Factor, Feature, InSql, Kind, MOST_NAMES, Missing, Model, Multiplied, Reading, Recipe,
    Value, level, number_level, survey_query, surveyed_cuts,
};

use crate::collector::Sink;
use crate::error::{Error, Place, Problem, Result, listed};
use crate::origin::Origin;
use crate::source::{Memory, Wanted, columnar};
use crate::summarize::not_empty;
use crate::summary::Summary;
use crate::tally::FEATURES;

/// Columns that an answer may have: PostgreSQL has room for 1,664.
const MOST_COLUMNS: usize = 1600;

/// What is asked of a database.
#[derive(Debug, Clone, Default)]
pub struct Asking {
    /// The model.
    pub model: Model,
    /// Column of the reward.
    pub reward: String,
    /// The table, or a query between parentheses with a name behind it.
    pub table: String,
    /// Columns that hold categories; all others that the model takes as they are hold numbers.
    pub categories: Vec<String>,
    /// Columns that belong to the action, its id first, if that is known.
    pub action: Vec<String>,
    /// Where bins end and splines have their knots, by the factor as the model has it.
    pub cuts: BTreeMap<String, Vec<f64>>,
    /// What becomes of rows without a value.
    pub missing: Missing,
}

/// What an answer says about itself.
#[derive(Serialize, Deserialize)]
struct Label {
    origin: Origin,
    recipe: Recipe,
}

impl Asking {
    fn label(&self) -> Label {
        let kind = |name: &str| {
            let category = self.categories.iter().any(|category| category == name);
            if category { Kind::Category } else { Kind::Number }
        };
        // What is taken as a category may hold anything.
        let as_category = |name: &str| {
            let mut own = self.model.parts().filter(|part| part.name() == Some(name));
            own.all(|part| matches!(part, Factor::Field(_, Reading::Category)))
        };
        let told = |name: &&str| self.categories.iter().any(|it| it == name) || !as_category(name);
        let fields = self.model.fields().into_iter().filter(told);
        let kinds = fields.map(|name| (name.to_owned(), kind(name))).collect();
        let id = self.action.iter().find(|name| self.categories.contains(name)).cloned();
        let action = (!self.action.is_empty()).then(|| self.action.iter().cloned().collect());
        let recipe = Recipe {
            model: self.model.clone(),
            kinds,
            cuts: self.cuts.clone(),
            action,
            id,
            missing: self.missing,
            left_out: Vec::new(),
        };
        Label { origin: Origin::Table { reward: self.reward.clone(), chosen: None }, recipe }
    }

    /// The query for the places of bins and splines, if the model has any.
    pub fn survey_query(&self, dialect: Dialect) -> Option<String> {
        survey_query(&self.label().recipe, &self.table, dialect)
    }

    /// The query whose answer is a summary.
    pub fn summary_query(&self, dialect: Dialect) -> Result<String, Problem> {
        if self.missing == Missing::Mean {
            return Err(Problem::other(
                "a query cannot put means in place of missing values; `missing` may be refuse, drop or zero",
            ));
        }
        let label = self.label();
        let sums = Sums::new(&label.recipe, dialect)?;
        let InSql { numbers, categories, columns, logarithms, .. } = &sums.features;
        let inner = |name: &str, expression: &str| format!("{expression} AS {name}");
        let filled = |expression: &str| match self.missing {
            Missing::Zero => format!("COALESCE({expression}, 0)"),
            _ => expression.to_owned(),
        };
        let names: Vec<String> =
            columns.iter().chain([&self.reward]).map(|column| dialect.name(column)).collect();
        let any = |check: &str| names.iter().map(|name| format!("{name} {check}")).collect::<Vec<_>>();
        // A row without a reward is none, whatever may be missing else.
        let missing = match self.missing {
            Missing::Zero => vec![format!("{} IS NULL", dialect.name(&self.reward))],
            _ => any("IS NULL"),
        };
        let below: Vec<String> =
            logarithms.iter().map(|column| format!("{} < 0", dialect.number(column))).collect();
        let count = |conditions: &[String]| match conditions {
            [] => "0".to_owned(),
            conditions => format!("CASE WHEN {} THEN 1 ELSE 0 END", conditions.join(" OR ")),
        };
        let mut rows = vec![inner("r", &dialect.number(&self.reward))];
        rows.extend([inner("missing", &count(&missing)), inner("outside", &count(&below))]);
        for (place, (_, expression, _)) in numbers.iter().enumerate() {
            rows.push(inner(&format!("a{place}"), &filled(expression)));
            rows.push(inner(
                &format!("p{place}"),
                &format!("CASE WHEN {expression} IS NULL THEN 0 ELSE 1 END"),
            ));
        }
        for (place, category) in categories.iter().enumerate() {
            rows.push(inner(&format!("c{place}"), &category.expression));
        }
        let dropped = match self.missing {
            Missing::Drop => format!("\n  WHERE {}", any("IS NOT NULL").join(" AND ")),
            _ => String::new(),
        };
        let groups: Vec<String> = (0..categories.len()).map(|place| format!("c{place}")).collect();
        let label = serde_json::to_string(&label).map_err(|error| Problem::Other(error.to_string()))?;
        let mut answer = vec![inner("truenorth", &dialect.text(&label))];
        answer.extend(groups.iter().cloned());
        answer.extend(sums.columns().into_iter().map(|(name, expression)| inner(&name, &expression)));
        let grouped =
            if groups.is_empty() { String::new() } else { format!("\nGROUP BY {}", groups.join(", ")) };
        Ok(format!(
            "SELECT {}\nFROM (\n  SELECT {}\n  FROM {}{dropped}) AS logged{grouped}",
            answer.join(",\n  "),
            rows.join(",\n    "),
            self.table
        ))
    }
}

/// Which sums there are, for the query and for its answer.
struct Sums {
    features: InSql,
    /// What is multiplied with each other and added up: 1, the reward, and the numbers' part of each feature.
    factors: Vec<String>,
    /// Which of these each feature has.
    owns: Vec<usize>,
}

impl Sums {
    fn new(recipe: &Recipe, dialect: Dialect) -> Result<Self, Problem> {
        let features = InSql::new(recipe, dialect)?;
        let mut factors = vec!["1".to_owned(), "r".to_owned()];
        let mut owns = Vec::new();
        for product in &features.products {
            let numbers = product.iter().filter_map(|part| match part {
                Multiplied::Number(place) => Some(format!("a{place}")),
                Multiplied::Level(_) => None,
            });
            let factor = numbers.collect::<Vec<_>>().join(" * ");
            let factor = if factor.is_empty() { "1".to_owned() } else { factor };
            let known = factors.iter().position(|known| *known == factor);
            owns.push(known.unwrap_or(factors.len()));
            if known.is_none() {
                factors.push(factor);
            }
        }
        let sums = Self { features, factors, owns };
        let columns = sums.columns().len() + sums.features.categories.len() + 1;
        if columns > MOST_COLUMNS {
            return Err(Problem::Other(format!(
                "the query would have {columns} columns, but {MOST_COLUMNS} are the most; summarize the rows themselves"
            )));
        }
        Ok(sums)
    }

    /// Names of the answer's numbers, and how they are computed.
    fn columns(&self) -> Vec<(String, String)> {
        let sum = |expression: &str| format!("SUM({expression})");
        let mut columns = vec![
            ("missing".to_owned(), sum("missing")),
            ("outside".to_owned(), sum("outside")),
            ("longest".to_owned(), format!("MAX({})", self.square())),
        ];
        for (i, left) in self.factors.iter().enumerate() {
            for (j, right) in self.factors[..=i].iter().enumerate() {
                let product = match (left.as_str(), right.as_str()) {
                    ("1", "1") => "COUNT(*)".to_owned(),
                    (left, "1") => sum(left),
                    (left, right) => sum(&format!("{left} * {right}")),
                };
                columns.push((format!("s{i}_{j}"), product));
            }
        }
        for (i, factor) in self.factors.iter().enumerate().skip(1) {
            columns.push((format!("f{i}"), sum(&[factor.as_str(); 4].join(" * "))));
        }
        for place in 0..self.features.numbers.len() {
            columns.push((format!("t{place}"), sum(&format!("a{place}"))));
            columns.push((format!("n{place}"), sum(&format!("p{place}"))));
        }
        columns
    }

    /// Squared length of a row's features.
    fn square(&self) -> String {
        let squares = self.features.products.iter().zip(&self.owns).map(|(product, &factor)| {
            let factor = &self.factors[factor];
            let square = if factor == "1" { "1e0".to_owned() } else { format!("{factor} * {factor}") };
            let levels = product.iter().filter_map(|part| match part {
                Multiplied::Level(place) => Some(format!("c{place} IS NOT NULL")),
                Multiplied::Number(_) => None,
            });
            let levels: Vec<String> = levels.collect();
            if levels.is_empty() {
                return square;
            }
            format!("CASE WHEN {} THEN {square} ELSE 0 END", levels.join(" AND "))
        });
        let squares: Vec<String> = squares.collect();
        if squares.is_empty() { "0e0".to_owned() } else { squares.join(" + ") }
    }
}

/// The places of bins and splines from the answer of a [survey query](Asking::survey_query).
pub fn cuts_from_sql(batches: Memory<'_>) -> Result<BTreeMap<String, Vec<f64>>> {
    let mut found = Found::default();
    read(batches, &mut found)?;
    let cuts = found.0.into_iter().map(|(factor, numbers)| {
        let cuts = surveyed_cuts(&factor, numbers);
        (factor, cuts)
    });
    Ok(cuts.collect())
}

impl Summary {
    /// The summary that a [query](Asking::summary_query) has computed; `name` stands for the table.
    pub fn from_sql(batches: Memory<'_>, name: &str) -> Result<Self> {
        let mut answers = Answers(None);
        read(batches, &mut answers)?;
        let answer = answers.0.ok_or(Problem::NoRows)?;
        not_empty(answer.summary(name)?)
    }
}

/// A value of the row by the name of its column.
type Ask<'a, 'b> = &'b dyn Fn(&str) -> Result<Value<'a>, Problem>;

/// What takes the rows of an answer.
trait Reads {
    fn row(&mut self, column: Ask<'_, '_>) -> Result<(), Problem>;
}

fn read(batches: Memory<'_>, reads: &mut dyn Reads) -> Result<()> {
    let (names, mut source) = columnar::open_memory(batches, &Wanted::default());
    // Some databases write names in capital letters.
    let places = names.iter().map(|name| name.to_lowercase()).zip(0..).collect();
    let mut rows = Rows { names, places, reads };
    while source.read(&mut rows, &mut |_, _| false)? {}
    Ok(())
}

struct Rows<'a> {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
    reads: &'a mut dyn Reads,
}

impl Sink for Rows<'_> {
    fn row<'a>(&mut self, place: Place, cell: &dyn Fn(usize) -> Value<'a>) -> Result<()> {
        let column = |name: &str| match self.places.get(name) {
            Some(&place) => Ok(cell(place)),
            None => Err(Problem::NoColumn { name: name.to_owned(), columns: self.names.clone() }),
        };
        self.reads.row(&column).map_err(|problem| problem.at(place))
    }

    fn event(&mut self, _: Place, _: &Event) -> Result<()> {
        Err(Problem::other("an answer has rows, not events").into())
    }

    fn reject(&mut self, fault: Error) -> Result<()> {
        Err(fault)
    }

    fn has_rows(&self) -> bool {
        false
    }
}

/// A number of any size; integers may have more digits than a double.
fn number(name: &str, column: Ask<'_, '_>) -> Result<f64, Problem> {
    match column(name)? {
        Value::Number(number) => Ok(number),
        Value::Cell(digits) => digits.parse().map_err(|_| Problem::no_value(name)),
        Value::Missing => Err(Problem::no_value(name)),
        Value::Truth(_) | Value::Text(_) => {
            Err(Problem::Other(format!("column `{name}` must hold the numbers of the query")))
        }
    }
}

/// The numbers of each factor.
#[derive(Default)]
struct Found(BTreeMap<String, Vec<f64>>);

impl Reads for Found {
    fn row(&mut self, column: Ask<'_, '_>) -> Result<(), Problem> {
        let Value::Text(factor) = column("factor")? else {
            return Err(Problem::other("`factor` must be the text that the query has"));
        };
        self.0.entry(factor.to_owned()).or_default().push(number("number", column)?);
        Ok(())
    }
}

struct Answers(Option<Answer>);

impl Reads for Answers {
    fn row(&mut self, column: Ask<'_, '_>) -> Result<(), Problem> {
        let Value::Text(text) = column("truenorth")? else {
            return Err(Problem::other("`truenorth` must be the text that the query has"));
        };
        let answer = match &mut self.0 {
            Some(answer) if answer.text == text => answer,
            Some(_) => return Err(Problem::other("these are the answers of two queries")),
            none => none.insert(Answer::new(text)?),
        };
        answer.add(column)
    }
}

/// An answer, as far as it has been read.
struct Answer {
    text: String,
    label: Label,
    sums: Sums,
    /// Ones, the reward, the features that are there whatever the data, then others as they turn up.
    products: CrossProducts,
    found: BTreeMap<String, usize>,
    means: BTreeMap<String, (f64, f64)>,
    rows: f64,
    largest: f64,
    missing: f64,
    outside: f64,
    empty: f64,
}

impl Answer {
    fn new(text: &str) -> Result<Self, Problem> {
        let label: Label = serde_json::from_str(text)
            .map_err(|error| Problem::Other(format!("`truenorth` is not what the query has: {error}")))?;
        let fixed = label.recipe.fixed_features();
        let found: BTreeMap<String, usize> =
            fixed.iter().map(|feature| feature.name.clone()).zip(FEATURES..).collect();
        Ok(Self {
            text: text.to_owned(),
            // Expressions differ from dialect to dialect, but not which there are.
            sums: Sums::new(&label.recipe, Dialect::DuckDb)?,
            products: CrossProducts::new(FEATURES + fixed.len()),
            label,
            found,
            means: BTreeMap::new(),
            rows: 0.0,
            largest: 0.0,
            missing: 0.0,
            outside: 0.0,
            empty: 0.0,
        })
    }

    /// Adds a group of rows.
    fn add(&mut self, column: Ask<'_, '_>) -> Result<(), Problem> {
        let get = |name: &str| number(name, column);
        let rows = get("s0_0")?;
        if rows < 0.5 {
            return Ok(());
        }
        let fills = self.label.recipe.missing == Missing::Zero;
        let mut levels = Vec::new();
        for (place, category) in self.sums.features.categories.iter().enumerate() {
            levels.push(feature_of(
                &category.field,
                category.bins.as_deref(),
                column(&format!("c{place}"))?,
            )?);
        }
        let (missing, outside) = (get("missing")?, get("outside")?);
        self.missing += missing;
        self.outside += outside;
        if missing > 0.0 || outside > 0.0 {
            return Ok(());
        }
        if !fills && levels.contains(&None) {
            // A text without letters, which is no level.
            self.empty += rows;
            return Ok(());
        }
        let InSql { numbers, products, .. } = &self.sums.features;
        let (mut places, mut factors) = (vec![0, 1], vec![0, 1]);
        for (product, &factor) in products.iter().zip(&self.sums.owns) {
            let parts: Option<Vec<&str>> = product
                .iter()
                .map(|part| match part {
                    Multiplied::Number(place) => Some(numbers[*place].0.as_str()),
                    Multiplied::Level(place) => levels[*place].as_deref(),
                })
                .collect();
            let Some(name) = parts.map(|parts| parts.join(":")) else { continue };
            let place = match self.found.get(&name) {
                Some(&place) => place,
                // What is 0 in all rows is no feature.
                None if get(&format!("s{factor}_{factor}"))? <= 0.0 => continue,
                None => {
                    let place = self.products.width();
                    self.products.grow(place + 1);
                    self.found.insert(name.clone(), place);
                    place
                }
            };
            if places.contains(&place) {
                return Err(Problem::Other(format!("two features are called `{name}`")));
            }
            places.push(place);
            factors.push(factor);
        }
        let (mut triangle, mut fourths) = (Vec::new(), vec![rows]);
        for i in 0..self.sums.factors.len() {
            let row = (0..=i).map(|j| get(&format!("s{i}_{j}")));
            triangle.push(row.collect::<Result<Vec<f64>, Problem>>()?);
            if i > 0 {
                fourths.push(get(&format!("f{i}"))?);
            }
        }
        let group = CrossProducts::from_fn(
            places.len(),
            |i, j| triangle[factors[i].max(factors[j])][factors[i].min(factors[j])],
            |i| fourths[factors[i]],
        );
        self.products.merge(&group, &places);
        self.largest = self.largest.max(get("longest")?);
        self.rows += rows;
        let plain = self.label.recipe.plain_numbers().is_some();
        for (place, (name, _, times)) in numbers.iter().enumerate() {
            let times = f64::from(*times);
            let (sum, present) = (get(&format!("t{place}"))?, get(&format!("n{place}"))?);
            let mean = self.means.entry(name.clone()).or_default();
            // As those count that are read from files.
            let (sum, weight) = if plain { (sum, rows) } else { (times * sum, times * present) };
            (mean.0, mean.1) = (mean.0 + sum, mean.1 + weight);
        }
        Ok(())
    }

    fn summary(self, name: &str) -> Result<Summary, Problem> {
        let columns =
            |columns: &mut dyn Iterator<Item = &String>| listed(&columns.cloned().collect::<Vec<String>>());
        let InSql { columns: all, logarithms, .. } = &self.sums.features;
        let Origin::Table { reward, .. } = &self.label.origin else { return Err(Problem::NoRows) };
        if self.missing > 0.0 {
            let all = columns(&mut all.iter().chain([reward]));
            return Err(Problem::Other(format!(
                "{} rows lack a value in one of the columns {all}; a query with `missing` drop leaves them out",
                self.missing
            )));
        }
        if self.outside > 0.0 {
            let all = columns(&mut logarithms.iter());
            return Err(Problem::Other(format!(
                "{} rows are below 0 in one of the columns {all}, but `log` needs a number of 0 or more",
                self.outside
            )));
        }
        if self.empty > 0.0 && self.label.recipe.missing == Missing::Refuse {
            let all = columns(&mut self.sums.features.categories.iter().map(|category| &category.field));
            return Err(Problem::Other(format!(
                "{} rows have an empty text in one of the columns {all}",
                self.empty
            )));
        }
        let fixed = self.label.recipe.fixed_features();
        let mut features = fixed.clone();
        let first = FEATURES + fixed.len();
        features.extend(
            self.found
                .iter()
                .filter(|(_, place)| **place >= first)
                .map(|(name, _)| Feature::new(name.clone())),
        );
        if features.len() - fixed.len() > MOST_NAMES {
            return Err(Problem::TooManyFeatures(MOST_NAMES));
        }
        let places = features.iter().map(|feature| self.found[&feature.name]);
        let places: Vec<usize> = [0, 1].into_iter().chain(places).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
        let rows = self.rows as u64;
        Ok(Summary {
            products: CrossProducts::from_fn(
                places.len(),
                |i, j| self.products.get(places[i], places[j]),
                |i| self.products.fourth(places[i]),
            ),
            features,
            marks: Vec::new(),
            means: self.means,
            rows,
            weight_squares: self.rows,
            largest: self.largest,
            files: BTreeMap::from([(name.to_owned(), rows)]),
            rejected: Vec::new(),
            origin: self.label.origin,
            recipe: self.label.recipe,
        })
    }
}

/// The feature that a level of a category alone is; none where it has no value.
fn feature_of(field: &str, bins: Option<&[String]>, value: Value<'_>) -> Result<Option<String>, Problem> {
    let level = match (bins, value) {
        (_, Value::Missing) => return Ok(None),
        (Some(bins), Value::Number(bin)) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
            let found = bins.get(bin as usize);
            return found
                .cloned()
                .map(Some)
                .ok_or_else(|| Problem::Other(format!("there is no bin {bin} of `{field}`")));
        }
        (_, Value::Number(number)) => number_level(number),
        (_, Value::Truth(truth)) => truth.to_string(),
        (_, Value::Text(text) | Value::Cell(text)) => level(text).into_owned(),
    };
    Ok((!level.is_empty()).then(|| format!("{field}={level}")))
}
