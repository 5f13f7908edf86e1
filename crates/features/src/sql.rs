//! What a model makes of fields, in the words of SQL: numbers as expressions, categories as what rows are grouped by.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::str::FromStr;

use crate::basis::Basis;
use crate::error::{Error, Result};
use crate::model::{Factor, Named, Reading, Term};
use crate::recipe::{ID, Recipe, needs_cuts, quoted};
use crate::value::Kind;

/// How a database writes names, types and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
    /// PostgreSQL, and Redshift, which speaks the same.
    Postgres,
    /// Snowflake.
    Snowflake,
    /// BigQuery.
    BigQuery,
    /// Spark SQL and Databricks.
    Spark,
}

impl Dialect {
    const NAMES: [(&str, Self); 5] = [
        ("duckdb", Self::DuckDb),
        ("postgres", Self::Postgres),
        ("snowflake", Self::Snowflake),
        ("bigquery", Self::BigQuery),
        ("spark", Self::Spark),
    ];

    /// The name of a column.
    pub fn name(self, name: &str) -> String {
        match self {
            Self::BigQuery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Self::Spark => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A text.
    pub fn text(self, text: &str) -> String {
        match self {
            Self::BigQuery | Self::Spark => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
            Self::Snowflake => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            _ => format!("'{}'", text.replace('\'', "''")),
        }
    }

    /// A column as a double.
    pub fn number(self, name: &str) -> String {
        let kind = match self {
            Self::Postgres => "DOUBLE PRECISION",
            Self::BigQuery => "FLOAT64",
            Self::DuckDb | Self::Snowflake | Self::Spark => "DOUBLE",
        };
        format!("CAST({} AS {kind})", self.name(name))
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::NAMES.map(|(name, _)| name).join(", ");
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|&(_, dialect)| dialect)
            .ok_or_else(|| format!("`dialect` must be one of {known}, but is {name:?}"))
    }
}

/// The features of a recipe, in the words of SQL.
#[derive(Debug, Clone, Default)]
pub struct InSql {
    /// What is a number: its name and its expression, and how often the terms have it.
    pub numbers: Vec<(String, String, u32)>,
    /// What rows are grouped by.
    pub categories: Vec<Grouped>,
    /// The features: each is a product of numbers and of levels.
    pub products: Vec<Vec<Multiplied>>,
    /// The columns that are read.
    pub columns: BTreeSet<String>,
    /// Those of which a logarithm is taken.
    pub logarithms: BTreeSet<String>,
}

/// A category, or bins of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    /// The field.
    pub field: String,
    /// What it is, as an expression: for bins, their numbers from 0 on.
    pub expression: String,
    /// Features of the bins.
    pub bins: Option<Vec<String>>,
}

/// A part of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplied {
    /// A number, by its place.
    Number(usize),
    /// A level of a category, by its place.
    Level(usize),
}

impl InSql {
    /// The features of a recipe; what plain aggregates cannot say is refused.
    pub fn new(recipe: &Recipe, dialect: Dialect) -> Result<Self> {
        let mut features = Self::default();
        for term in &recipe.model.terms {
            let mut products = vec![Vec::new()];
            for factor in &term.0 {
                let outputs = features.factor(recipe, term, factor, dialect)?;
                products = products
                    .iter()
                    .flat_map(|product: &Vec<Multiplied>| {
                        outputs.iter().map(move |&output| [&product[..], &[output]].concat())
                    })
                    .collect();
            }
            features.products.extend(products);
        }
        Ok(features)
    }

    fn factor(
        &mut self,
        recipe: &Recipe,
        term: &Term,
        factor: &Factor,
        dialect: Dialect,
    ) -> Result<Vec<Multiplied>> {
        let refused = |reason: &str| {
            Err(Error::Model { at: quoted(term), reason: format!("{} {reason}", quoted(factor)) })
        };
        let field = match factor {
            Factor::Hash(..) => return refused("is hashed, which a query cannot do; name its levels"),
            Factor::Field(Named::Pattern(_), _) => {
                return refused("is a pattern, but a query needs the names of its columns");
            }
            Factor::Field(Named::Name(name), _)
            | Factor::Log(name)
            | Factor::Bins(name, _)
            | Factor::Cyclic(name, ..)
            | Factor::Spline(name, _) => name,
        };
        let column = match &recipe.id {
            Some(own) if field == ID => own,
            _ => field,
        };
        self.columns.insert(column.clone());
        let cuts = recipe.cuts.get(&factor.to_string()).map(Vec::as_slice);
        if needs_cuts(factor).is_some() && cuts.is_none() {
            return refused("takes its places from the logs; ask for them by `survey_query`, or give `cuts`");
        }
        let x = dialect.number(column);
        if let Some(basis) = Basis::of(factor, cuts.unwrap_or_default()) {
            if let Basis::Log = basis {
                self.logarithms.insert(column.clone());
            }
            let names = basis.names(field);
            if basis.is_category() {
                let expression = basis.in_sql(&x).swap_remove(0);
                return Ok(vec![self.category(field, expression, Some(names))]);
            }
            let named = names.into_iter().zip(basis.in_sql(&x));
            return Ok(named.map(|(name, expression)| self.number(name, expression)).collect());
        }
        let kind = recipe.kinds.get(field).copied();
        Ok(vec![match (factor, kind) {
            (Factor::Field(_, Reading::Category), _)
            | (Factor::Field(_, Reading::Natural), Some(Kind::Category)) => {
                self.category(field, dialect.name(column), None)
            }
            _ => self.number(field.clone(), x),
        }])
    }

    fn number(&mut self, name: String, expression: String) -> Multiplied {
        let place = self.numbers.iter().position(|(_, known, _)| *known == expression);
        let place = place.unwrap_or_else(|| {
            self.numbers.push((name, expression, 0));
            self.numbers.len() - 1
        });
        self.numbers[place].2 += 1;
        Multiplied::Number(place)
    }

    fn category(&mut self, field: &str, expression: String, bins: Option<Vec<String>>) -> Multiplied {
        let category = Grouped { field: field.to_owned(), expression, bins };
        let place = self.categories.iter().position(|known| *known == category).unwrap_or_else(|| {
            self.categories.push(category);
            self.categories.len() - 1
        });
        Multiplied::Level(place)
    }
}

/// The query for the places of bins and splines: rows of a factor, a place, and a number.
pub fn survey_query(recipe: &Recipe, table: &str, dialect: Dialect) -> Option<String> {
    let factors = recipe.model.parts().filter_map(|part| Some((part, part.name()?, needs_cuts(part)?)));
    let queries = factors.map(|(factor, field, count)| {
        let steps = if let Factor::Spline(..) = factor { count - 1 } else { count };
        let wanted = (0..count).map(|step| format!("FLOOR((total - 1) * {step}e0 / {steps}e0 + 5e-1)"));
        let wanted = wanted.collect::<Vec<_>>().join(", ");
        let (label, x) = (dialect.text(&factor.to_string()), dialect.number(field));
        format!(
            "SELECT {label} AS factor, place, number FROM (\n  \
             SELECT {x} AS number, ROW_NUMBER() OVER (ORDER BY {x}) - 1 AS place, COUNT(*) OVER () AS total\n  \
             FROM {table} WHERE {x} IS NOT NULL) AS ranked\nWHERE place IN ({wanted})"
        )
    });
    let queries: Vec<String> = queries.collect();
    (!queries.is_empty()).then(|| queries.join("\nUNION ALL\n"))
}

/// The places of a factor, from the numbers that its query has found: the smallest, and those at each step.
pub fn surveyed_cuts(factor: &str, mut found: Vec<f64>) -> Vec<f64> {
    found.sort_by(f64::total_cmp);
    found.dedup();
    if factor.starts_with("bins(") && !found.is_empty() {
        // Below the smallest number there is nothing.
        found.remove(0);
    }
    found
}

impl Basis {
    /// The features of a number, as expressions: of bins, the number of its bin.
    fn in_sql(&self, x: &str) -> Vec<String> {
        match self {
            Self::Log => vec![format!("CASE WHEN {x} >= 0 THEN LN(1 + {x}) END")],
            Self::Cyclic { period, harmonics } => {
                let turns = format!("({x} / {period:e} - FLOOR({x} / {period:e}))");
                let wave = |k: u32| {
                    let turn = std::f64::consts::TAU * f64::from(k);
                    [format!("SIN({turn:e} * {turns})"), format!("COS({turn:e} * {turns})")]
                };
                (1..=*harmonics).flat_map(wave).collect()
            }
            Self::Bins(cuts) => {
                let mut bins = format!("CASE WHEN {x} IS NULL THEN NULL");
                for (bin, cut) in cuts.iter().enumerate() {
                    let _ = write!(bins, " WHEN {x} < {cut:e} THEN {bin}");
                }
                let _ = write!(bins, " ELSE {} END", cuts.len());
                vec![bins]
            }
            Self::Spline(knots) => spline(knots, x),
        }
    }
}

/// As [`Basis::evaluate`] computes it.
fn spline(knots: &[f64], x: &str) -> Vec<String> {
    let (Some(&first), Some(&last)) = (knots.first(), knots.last()) else { return vec![x.to_owned()] };
    let range = if last > first { last - first } else { 1.0 };
    let scaled = |knot: f64| (knot - first) / range;
    let u = format!("(({x} - {first:e}) / {range:e})");
    let inner = knots.len().saturating_sub(2);
    let mut outputs = vec![u.clone()];
    if inner == 0 {
        return outputs;
    }
    let b = scaled(knots[inner]);
    let cube = |a: f64| {
        let past = format!("({u} - {a:e})");
        format!("(CASE WHEN {u} > {a:e} THEN {past} * {past} * {past} / {:e} ELSE 0 END)", 1.0 - a)
    };
    for &knot in &knots[..inner] {
        let a = scaled(knot);
        let line = format!("{:e} * ({:e} - 3 * {u})", a - b, a + b + 1.0);
        outputs.push(format!("CASE WHEN {u} >= 1 THEN {line} ELSE {} - {} END", cube(a), cube(b)));
    }
    outputs
}
