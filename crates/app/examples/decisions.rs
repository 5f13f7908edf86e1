//! From a CSV to decisions: `cargo run --release -p truenorth-app --example decisions`

use std::path::PathBuf;

use truenorth_app::bandit;
use truenorth_bandit::Event;
use truenorth_logs::{Plan, Selection};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/news.csv"));
    let selection = Selection::model(Some("price + user:time:item".parse()?), "click");
    let plan = Plan { selection: Some(selection.with_action("item,price")), ..Plan::default() };
    let logs = plan.summarize(&[path], &|_| {})?;

    let mut bandit = bandit::new(bandit::parts(&logs)?, bandit::Told::default())?;
    let mut event = Event::default();
    for (user, time) in [("Tom", "morning"), ("Tom", "afternoon"), ("Anna", "morning"), ("Anna", "afternoon")]
    {
        event.read_json(&format!(
            r#"{{"context":{{"user":"{user}","time":"{time}"}},"actions":[
                {{"id":"politics","price":1}},{{"id":"sports","price":1}},{{"id":"music","price":1}},{{"id":"food","price":1}}]}}"#
        ))?;
        let choice = bandit.choose(&event)?;
        println!("{user} in the {time}: {}, {:.2} clicks expected", choice.action, choice.mean);
        bandit.learn(&choice.decision_id, 1.0)?;
    }
    Ok(())
}
