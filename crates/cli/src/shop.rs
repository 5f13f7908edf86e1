//! The shop of the demos: four items, three kinds of customers, prices, and a season that has turned.

use std::fmt::Write as _;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

/// Rows of the log.
const ROWS: usize = 3_000;
pub(crate) const ITEMS: [&str; 4] = ["sunscreen", "umbrella", "novel", "game"];
const CUSTOMERS: [&str; 3] = ["student", "family", "pensioner"];
/// How likely each kind of customer buys each item at 12 euros, in summer.
const TASTES: [[f64; 4]; 3] = [[0.55, 0.15, 0.15, 0.40], [0.55, 0.20, 0.10, 0.30], [0.40, 0.25, 0.45, 0.08]];
/// Nobody wants sunscreen in winter; everything else is as it was.
const SUNSCREEN_IN_WINTER: f64 = 0.05;
/// What a euro more costs in sales.
const PRICE: f64 = 0.012;

/// A visitor, and what each item costs today.
pub(crate) struct Visit {
    customer: usize,
    prices: [f64; ITEMS.len()],
    /// How likely each item would be bought, and whether it would.
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "what the live shop could have earned"))]
    pub(crate) chances: [f64; ITEMS.len()],
    pub(crate) bought: [bool; ITEMS.len()],
}

fn visit(dice: &mut Xoshiro256PlusPlus, winter: bool) -> Visit {
    let customer = dice.random_range(0..CUSTOMERS.len());
    let prices = ITEMS.map(|_| f64::from(dice.random_range(12..=40)) / 2.0);
    let chances = std::array::from_fn(|item| {
        let taste = if winter && item == 0 { SUNSCREEN_IN_WINTER } else { TASTES[customer][item] };
        f64::max(taste - PRICE * (prices[item] - 12.0), 0.0)
    });
    let bought = chances.map(|chance| dice.random::<f64>() < chance);
    Visit { customer, prices, chances, bought }
}

impl Visit {
    /// What a bandit is asked.
    pub(crate) fn event(&self) -> Value {
        let priced = ITEMS.iter().zip(&self.prices).map(|(item, price)| json!({"id": item, "price": price}));
        json!({"context": {"customer": CUSTOMERS[self.customer]}, "actions": priced.collect::<Vec<_>>()})
    }
}

/// Share of last summer's visitors who were shown sunscreen, whatever they were like; the others were shown any item.
const PUSHED: f64 = 0.4;

/// Visitors of last summer, each with the item that was shown.
fn summer() -> impl Iterator<Item = (Visit, usize)> {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(7);
    let shown = move |_| {
        let visit = visit(&mut dice, false);
        let item = if dice.random::<f64>() < PUSHED { 0 } else { dice.random_range(0..ITEMS.len()) };
        (visit, item)
    };
    (0..ROWS).map(shown)
}

/// The log of last summer, a row for each visitor.
pub(crate) fn logs() -> String {
    let mut csv = "customer,item,price,bought\n".to_owned();
    for (Visit { customer, prices, bought, .. }, item) in summer() {
        let (name, bought) = (CUSTOMERS[customer], u8::from(bought[item]));
        let _ = writeln!(csv, "{name},{},{},{bought}", ITEMS[item], prices[item]);
    }
    csv
}

/// The same log as events: also what else could have been shown, and how likely what was shown was.
pub(crate) fn events() -> String {
    let mut lines = String::new();
    for (visit, item) in summer() {
        let any = (1.0 - PUSHED) / ITEMS.len() as f64;
        let mut event = visit.event();
        event["action"] = json!(ITEMS[item]);
        event["reward"] = json!(u8::from(visit.bought[item]));
        // Without the last digits, which no one writes: 0.55, not 0.55000000000000004.
        event["probability"] = json!((1e4 * if item == 0 { PUSHED + any } else { any }).round() / 1e4);
        let _ = writeln!(lines, "{event}");
    }
    lines
}

/// Visitors of this winter, without an end.
pub(crate) fn visits() -> impl Iterator<Item = Visit> {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(11);
    std::iter::repeat_with(move || visit(&mut dice, true))
}

/// The same as rows, one for each visitor and item.
pub(crate) fn live(visits: &[Visit]) -> String {
    let mut csv = "round,customer,item,price,bought\n".to_owned();
    for (round, Visit { customer, prices, bought, .. }) in visits.iter().enumerate() {
        for (item, name) in ITEMS.iter().enumerate() {
            let (customer, bought) = (CUSTOMERS[*customer], u8::from(bought[item]));
            let _ = writeln!(csv, "{},{customer},{name},{},{bought}", round + 1, prices[item]);
        }
    }
    csv
}
