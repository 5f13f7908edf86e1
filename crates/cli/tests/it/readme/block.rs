use truenorth::{Actions, Policy, RidgeStatistic};

fn main() -> Result<(), truenorth::Error> {
    let mut logs = RidgeStatistic::new(2)?;
    for _ in 0..50 {
        logs.observe(&[1.0, 0.0], 0.9)?; // one call for each logged row
        logs.observe(&[0.0, 1.0], 0.5)?;
    }
    let mut policy = Policy::builder(2).logs(logs).build()?;
    let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?; // two actions, two features each
    for _ in 0..3 {
        let choice = policy.choose(actions)?;
        let reward = [0.1, 0.5][choice.action]; // the logs are wrong about the first
        policy.learn(choice.rewarded(actions, reward))?;
        println!("action {} earns {reward}", choice.action);
    }
    Ok(())
}
