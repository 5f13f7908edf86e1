//! Models on logs of every format, beside rows that are made in the plainest way.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use parquet::basic::Compression as Codec;
use truenorth::RidgeStatistic;
use truenorth_features::Joining;
use truenorth_logs::{EventRows, Missing, Plan, Selection, Summary, bucket};

use crate::brute::{near, same};
use crate::support::{Dice, Folder, array, plan, summary};

#[derive(Clone)]
struct Row {
    age: Option<f64>,
    price: f64,
    segment: &'static str,
    item: &'static str,
    flag: bool,
    reward: f64,
}

const SEGMENTS: [&str; 3] = ["student", "worker", "a:b=c, \"d\""];
const ITEMS: [&str; 4] = ["news", "sport", "7", "ö"];

/// Terms that a random model is drawn from.
const TERMS: [&str; 21] = [
    "age",
    "price",
    "segment",
    "item",
    "flag",
    "C(age)",
    "N(flag)",
    "age:item",
    "segment:item",
    "segment:item:flag",
    "age:price",
    "log(price)",
    "log(price):segment",
    "bins(age, 4)",
    "bins(age, 3):item",
    "cyclic(age, 24, 2)",
    "spline(age, 4)",
    "spline(age, 4):segment",
    "hash(segment:item + item, 5)",
    "hash(age + item, 7):segment",
    "price:cyclic(age, 24, 1)",
];

fn rows(dice: &mut Dice, count: usize, gaps: bool) -> Vec<Row> {
    let mut row = || Row {
        age: (!gaps || dice.below(5) > 0).then(|| 20.0 + dice.below(12) as f64),
        price: (1.0 + dice.number()) * 4.0,
        segment: SEGMENTS[dice.below(3)],
        item: ITEMS[dice.below(4)],
        flag: dice.below(2) == 1,
        reward: dice.number(),
    };
    (0..count).map(|_| row()).collect()
}

/// A feature's name, its value, and how often the mean of what is missing is in it.
type Made = Vec<(String, f64)>;

/// What a model makes of a row: sums of products, each written out here.
struct Plain<'a> {
    summary: &'a Summary,
    means: BTreeMap<&'static str, f64>,
    hashes: usize,
}

impl Plain<'_> {
    fn number(&self, row: &Row, name: &'static str, of: impl Fn(f64) -> f64) -> f64 {
        row.age.map_or_else(|| self.means[name], of)
    }

    fn cuts(&self, factor: &str) -> &[f64] {
        &self.summary.recipe().cuts[factor]
    }

    fn factor(&self, row: &Row, factor: &str) -> Made {
        let one = |name: String| vec![(name, 1.0)];
        match factor {
            "age" => vec![("age".into(), self.number(row, "age", |age| age))],
            "price" => vec![("price".into(), row.price)],
            "segment" => one(format!("segment={}", row.segment)),
            "item" => one(format!("item={}", row.item)),
            "flag" => one(format!("flag={}", row.flag)),
            "C(age)" => row.age.map_or(Vec::new(), |age| one(format!("age={age}"))),
            "N(flag)" => vec![("flag".into(), f64::from(u8::from(row.flag)))],
            "log(price)" => vec![("log(price)".into(), (1.0 + row.price).ln())],
            "bins(age, 4)" | "bins(age, 3)" => row.age.map_or(Vec::new(), |age| {
                let cuts = self.cuts(factor);
                let bin = cuts.iter().filter(|cut| **cut <= age).count();
                let low = if bin == 0 { String::new() } else { cuts[bin - 1].to_string() };
                let high = cuts.get(bin).map_or(String::new(), f64::to_string);
                one(format!("age={low}..{high}"))
            }),
            "cyclic(age, 24, 2)" | "cyclic(age, 24, 1)" => {
                let wave = |name: &'static str, of: fn(f64) -> f64, k: f64| {
                    let turn = |age: f64| of(k * age / 24.0 * std::f64::consts::TAU);
                    (format!("cyclic(age,24).{name}"), self.number(row, name, turn))
                };
                let all = [
                    wave("sin1", f64::sin, 1.0),
                    wave("cos1", f64::cos, 1.0),
                    wave("sin2", f64::sin, 2.0),
                    wave("cos2", f64::cos, 2.0),
                ];
                all[..if factor.ends_with("2)") { 4 } else { 2 }].to_vec()
            }
            "spline(age, 4)" => {
                let knots = self.cuts("spline(age, 4)");
                let last = knots.len() - 1;
                let cube = |x: f64| x.max(0.0).powi(3);
                let names = ["spline1", "spline2", "spline3"];
                let column = |k: usize| {
                    let value = |age: f64| {
                        let scaled = |x: f64| (x - knots[0]) / (knots[last] - knots[0]);
                        let u = scaled(age);
                        let d = |k: usize| {
                            (cube(u - scaled(knots[k])) - cube(u - 1.0)) / (1.0 - scaled(knots[k]))
                        };
                        if k == 0 { u } else { d(k - 1) - d(last - 1) }
                    };
                    (format!("spline(age,{}).{}", knots.len(), k + 1), self.number(row, names[k], value))
                };
                (0..last).map(column).collect()
            }
            hash => {
                let (inner, buckets) = hash.strip_prefix("hash(").unwrap().rsplit_once(", ").unwrap();
                let buckets: u32 = buckets.trim_end_matches(')').parse().unwrap();
                let inner_text = inner.replace(" + ", "+");
                let prefix =
                    if self.hashes > 1 { format!("hash({inner_text},{buckets})") } else { String::new() };
                let all = inner.split(" + ").flat_map(|term| self.term(row, term));
                all.map(|(name, value)| (format!("{prefix}#{}", bucket(&name, buckets)), value)).collect()
            }
        }
    }

    fn term(&self, row: &Row, term: &str) -> Made {
        let hash = term.find(')').filter(|_| term.starts_with("hash("));
        let (first, rest) = match hash {
            Some(end) => (&term[..=end], term[end + 1..].strip_prefix(':')),
            None => term.split_once(':').map_or((term, None), |(first, rest)| (first, Some(rest))),
        };
        let left = self.factor(row, first);
        let Some(rest) = rest else { return left };
        let right = self.term(row, rest);
        let pair = |(a, x): &(String, f64)| -> Made {
            right.iter().map(|(b, y)| (format!("{a}:{b}"), x * y)).collect()
        };
        left.iter().flat_map(pair).collect()
    }

    /// The row as a vector with the features of the summary.
    fn vector(&self, row: &Row, terms: &[&str]) -> Vec<f64> {
        let names = self.summary.names();
        let mut vector = vec![0.0; names.len()];
        let made = terms.iter().flat_map(|term| self.term(row, term));
        for (name, value) in made.chain([("intercept".to_owned(), 1.0)]).filter(|(_, value)| *value != 0.0) {
            let at = names.iter().position(|other| *other == name);
            vector[at.unwrap_or_else(|| panic!("{name} is not in {names:?}"))] += value;
        }
        vector
    }
}

/// Writes the rows in every format that can hold them.
fn write_all(folder: &Folder, rows: &[Row]) -> Vec<PathBuf> {
    let mut csv = "segment,age,reward,item,price,flag\n".to_owned();
    let (mut json, mut events) = (String::new(), String::new());
    for row in rows {
        let Row { age, price, segment, item, flag, reward } = row;
        let (quoted, word) = (segment.replace('"', "\"\""), if *flag { "True" } else { "False" });
        writeln!(
            csv,
            "\"{quoted}\",{},{reward:?},{item}, {price:?},{word}",
            age.map_or(String::new(), |age| format!("{age:?}"))
        )
        .unwrap();
        let shown = age.map_or("null".into(), |age| format!("{age}"));
        let segment = segment.replace('"', "\\\"");
        writeln!(json, r#"{{"item":"{item}","age":{shown},"segment":"{segment}","flag":{flag},"price":{price:?},"reward":{reward:?}}}"#).unwrap();
        writeln!(events, r#"{{"actions":[{{"id":"x"}},{{"id":"{item}","item":"{item}","features":{{"price":{price:?}}}}}],"reward":{reward:?},"action":"{item}","context":{{"flag":{flag},"age":{shown},"segment":"{segment}"}}}}"#).unwrap();
    }
    let text =
        |of: fn(&Row) -> &'static str| array(rows.iter().map(|row| Some(of(row))).collect::<StringArray>());
    let columns = || -> Vec<(&str, ArrayRef)> {
        vec![
            ("flag", array(rows.iter().map(|row| Some(row.flag)).collect::<BooleanArray>())),
            ("age", array(rows.iter().map(|row| row.age).collect::<Float64Array>())),
            ("segment", text(|row| row.segment)),
            ("item", text(|row| row.item)),
            ("reward", array(Float64Array::from_iter_values(rows.iter().map(|row| row.reward)))),
            ("price", array(Float64Array::from_iter_values(rows.iter().map(|row| row.price)))),
        ]
    };
    vec![
        folder.write("a.csv", csv),
        folder.write("a.jsonl", json),
        folder.write_parquet("a.parquet", Codec::SNAPPY, columns()),
        folder.write_arrow("a.arrow", None, columns()),
        folder.write("events.jsonl", events),
    ]
}

fn plan_of(path: &Path, model: &str, missing: Missing) -> Plan {
    let model = Some(model.parse().unwrap());
    let mut plan = if path.ends_with("events.jsonl") {
        Plan { model, ..Plan::default() }
    } else {
        plan(Selection::model(model, "reward").with_action("item,price"))
    };
    plan.tolerance.missing = missing;
    plan
}

#[test]
fn every_format_and_every_term_gives_the_sums_of_plain_rows_and_encode_gives_the_rows() {
    let mut dice = Dice(77);
    for case in 0..60 {
        let folder = Folder::new();
        let gaps = case % 3 == 0;
        let rows = rows(&mut dice, 60, gaps);
        let missing = if gaps { Missing::Mean } else { Missing::Refuse };
        let mut terms: Vec<&str> = (0..=dice.below(5)).map(|_| TERMS[dice.below(TERMS.len())]).collect();
        // Two of one name would be one feature.
        terms.sort_unstable();
        terms.dedup();
        terms.retain(|term| *term != "C(age)" || case % 2 == 0);
        if terms.is_empty() || terms.contains(&"age") && terms.contains(&"C(age)") {
            terms = vec!["age"];
        }
        let model = terms.join(" + ");
        let mut first: Option<Summary> = None;
        for path in write_all(&folder, &rows) {
            let what = format!("{model} of {}", path.display());
            let found = summary(&plan_of(&path, &model, missing), std::slice::from_ref(&path));
            check(&found, &rows, &terms, &what);
            // The summary's own events, encoded again.
            let mut encoder = found.encoder(Joining::Never);
            let mut sums = RidgeStatistic::new(found.dimension()).unwrap();
            for event in EventRows::open(&path, None, &found).unwrap() {
                let event = event.unwrap();
                let chosen = event.chosen.unwrap();
                encoder.row(&event, chosen).unwrap();
                let mut row = vec![0.0; found.dimension()];
                row[0] = 1.0;
                for &(feature, value) in encoder.entries() {
                    row[1 + feature as usize] += value;
                }
                sums.observe(&row, event.reward.unwrap()).unwrap();
            }
            assert_eq!(encoder.unknown_features(), 0, "{what}");
            same(&sums, &found.unscaled_statistic().unwrap());
            // Whatever the format, features have the same names.
            let first = first.get_or_insert_with(|| found.clone());
            assert_eq!(first.names(), found.names(), "{what}");
            let read = Summary::from_bytes(&found.to_bytes()).unwrap();
            assert_eq!(read, found, "{what}");
        }
    }
}

/// Compares the sums of a summary with those of plain rows.
fn check(found: &Summary, rows: &[Row], terms: &[&str], what: &str) {
    let hashes = terms.iter().filter(|term| term.contains("hash(")).count();
    let mut plain = Plain { summary: found, means: BTreeMap::new(), hashes };
    // The mean of every function of a number over the rows that have it.
    let whole: Vec<&Row> = rows.iter().filter(|row| row.age.is_some()).collect();
    let all = ["age", "cyclic(age, 24, 2)", "spline(age, 4)"];
    let keys = ["age", "sin1", "cos1", "sin2", "cos2", "spline1", "spline2", "spline3"];
    let known = |factor: &str| factor != "spline(age, 4)" || found.recipe().cuts.contains_key(factor);
    let mut means = vec![Vec::new(); keys.len()];
    for row in &whole {
        let values = all.iter().flat_map(|factor| {
            if known(factor) { plain.factor(row, factor) } else { vec![(String::new(), 0.0); 3] }
        });
        values.enumerate().for_each(|(at, (_, value))| means[at].push(value));
    }
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    plain.means = keys.into_iter().zip(means.iter().map(mean)).collect();
    let d = found.dimension();
    let mut sums = RidgeStatistic::new(d).unwrap();
    for row in rows {
        sums.observe(&plain.vector(row, terms), row.reward).unwrap();
    }
    let statistic = found.unscaled_statistic().unwrap();
    assert_eq!(found.rows(), rows.len() as u64, "{what}");
    let (left, right) = (statistic.gram(), sums.gram());
    for i in 0..d {
        for j in 0..d {
            let size = (right[i * d + i] * right[j * d + j]).sqrt();
            near(left[i * d + j], right[i * d + j], size, &format!("{what}: entry ({i}, {j})"));
        }
        let size = (right[i * d + i] * sums.sum_squares()).sqrt();
        near(statistic.moment()[i], sums.moment()[i], size, &format!("{what}: moment {i}"));
    }
}

#[test]
fn where_no_model_is_given_the_context_is_crossed_with_the_action() {
    let folder = Folder::new();
    let rows = rows(&mut Dice(5), 200, false);
    let paths = write_all(&folder, &rows);
    let by_table = summary(&plan(Selection::model(None, "reward").with_action("item,price")), &paths[..1]);
    assert_eq!(by_table.recipe().model.to_string(), "item + price + segment:item + age:item + flag:item");
    let by_event = summary(&Plan::default(), &paths[4..]);
    let mut terms: Vec<String> = by_event.recipe().model.terms.iter().map(ToString::to_string).collect();
    terms.sort_unstable();
    assert_eq!(terms, ["age:item", "flag:item", "item", "price", "segment:item"]);
    assert_eq!(by_table.recipe().warnings(), [""; 0]);
    // Without a word about the action nothing can be crossed.
    let plain = summary(&plan(Selection::model(None, "reward")), &paths[..1]);
    assert_eq!(plain.recipe().model.to_string(), "segment + age + item + price + flag");
}

#[test]
fn rows_that_are_actions_count_where_the_action_was_taken() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "round,item,shown,reward\n1,a,1,0.5\n1,b,0,\n2,a,false,\n2,b,true,1\n");
    let plan = plan(
        Selection::model(Some("item".parse().unwrap()), "reward").with_chosen("shown").with_action("item"),
    );
    let found = summary(&plan, std::slice::from_ref(&path));
    assert_eq!((found.rows(), found.mean_reward()), (2, 0.75));
    let wrong = folder.write("b.csv", "item,shown,reward\na,maybe,0.5\n");
    assert_eq!(
        folder.no_summary(&plan, &[wrong]),
        "b.csv, line 2: column `shown` is \"maybe\", but must be 0 or 1, true or false"
    );
}

#[test]
fn models_that_do_not_fit_the_data_are_refused_with_what_was_meant() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "segment,price,r\nx,1,1\ny,2,0\n");
    let said = |model: &str| {
        let plan = plan(Selection::model(Some(model.parse().unwrap()), "r"));
        folder.no_summary(&plan, std::slice::from_ref(&path))
    };
    assert_eq!(
        said("prize + segment"),
        "a.csv: there is no field `prize` (did you mean `price`?); the fields are `segment`, `price`"
    );
    assert_eq!(said("x_*"), "a.csv: no field fits `x_*`; the fields are `segment`, `price`");
    assert_eq!(said("N(segment)"), "a.csv, line 2: column `segment` holds \"x\", not a number");
    let negative = folder.write("b.csv", "price,r\n1,1\n-2,0\n");
    let plan = plan(Selection::model(Some("log(price)".parse().unwrap()), "r"));
    assert_eq!(
        folder.no_summary(&plan, &[negative]),
        "b.csv, line 3: field `price` is -2, but `log` needs a number of 0 or more"
    );
}
