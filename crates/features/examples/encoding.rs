//! What it takes to encode an event: `cargo run --release -p truenorth-features --example encoding [EVENTS]`
//!
//! Each time is of so many events. Few are enough where instructions are counted, as by callgrind.

use std::time::Instant;

use truenorth_features::{Encoder, Event, Joining, Recipe, Rows};

/// An event of 20 actions and 30 fields, 20 of the context and 10 of each action: half of them numbers.
fn main() -> Result<(), truenorth_features::Error> {
    let field = |name: &str, place: usize| match place % 2 {
        0 => format!("\"{name}{place}\":{}.5", place + 1),
        _ => format!("\"{name}{place}\":\"level{place}\""),
    };
    let context: Vec<String> = (0..20).map(|place| field("c", place)).collect();
    let fields: Vec<String> = (0..10).map(|place| field("a", place)).collect();
    let action = |action: usize| format!("{{\"id\":\"item{action}\",{}}}", fields.join(","));
    let actions: Vec<String> = (0..20).map(action).collect();
    let json = format!("{{\"context\":{{{}}},\"actions\":[{}]}}", context.join(","), actions.join(","));
    // Every field, and the first four of the context crossed with the action.
    let all = (0..20).map(|place| format!("c{place}")).chain((0..10).map(|place| format!("a{place}")));
    let model = format!("{} + (c0 + c1 + c2 + c3):id", all.collect::<Vec<_>>().join(" + "));
    let recipe = Recipe::without_data(model.parse()?)?;
    let mut encoder = Encoder::new(recipe, Vec::new(), Joining::UpTo(1000));
    let events = std::env::args().nth(1).and_then(|events| events.parse().ok()).unwrap_or(200_u32);
    let (mut event, mut rows) = (Event::default(), Rows::default());
    let mut time = |what: &str, from_json: bool| -> Result<(), truenorth_features::Error> {
        let mut times = Vec::new();
        for _ in 0..31 {
            let start = Instant::now();
            for _ in 0..events {
                if from_json {
                    event.read_json(&json)?;
                }
                encoder.rows(&event, &mut rows)?;
            }
            times.push(start.elapsed().as_secs_f64() / f64::from(events) * 1e6);
        }
        times.sort_by(f64::total_cmp);
        let (fastest, median) = (times[0], times[15]);
        let numbers = rows.row(0).len() * 20;
        println!("{what}: {median:.1} µs an event of 20 actions, {numbers} numbers (fastest {fastest:.1})");
        Ok(())
    };
    time("from JSON", true)?;
    time("without JSON", false)?;
    Ok(())
}
