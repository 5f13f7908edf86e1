//! Worlds and events for the tests.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::RidgeStatistic;
use truenorth_bandit::{Bandit, Event, Model, Parts, Recipe};
use truenorth_features::{Encoder, Joining, Kind};

pub(crate) type Dice = Xoshiro256PlusPlus;

pub(crate) fn dice(seed: u64) -> Dice {
    Dice::seed_from_u64(seed)
}

/// A number in [0, 1).
pub(crate) fn uniform(dice: &mut Dice) -> f64 {
    dice.random()
}

pub(crate) fn below(dice: &mut Dice, count: usize) -> usize {
    dice.random_range(0..count)
}

pub(crate) fn event(json: &str) -> Event {
    let mut event = Event::default();
    event.read_json(json).unwrap();
    event
}

/// A bandit without logs.
pub(crate) fn bandit(model: &str) -> Bandit {
    Bandit::new(Parts::without_logs(model).unwrap(), |policy| policy).unwrap()
}

pub(crate) const CONTEXTS: [(&str, &str); 4] =
    [("Tom", "morning"), ("Tom", "afternoon"), ("Anna", "morning"), ("Anna", "afternoon")];
/// Which is the best in the context of its place; the fifth is the best everywhere, and was never logged.
pub(crate) const ARTICLES: [&str; 5] = ["politics", "music", "sports", "food", "chess"];

/// The world of the best-known tutorial: two users and two times of day decide which article is read.
pub(crate) struct News {
    pub(crate) articles: usize,
    /// What prices are multiplied with.
    pub(crate) unit: f64,
}

impl News {
    /// An event of a context, with its prices.
    pub(crate) fn event(&self, context: usize, dice: &mut Dice) -> Event {
        let (user, time) = CONTEXTS[context];
        let action = |article: &&str| {
            let price = (uniform(dice) * 4.0).round() / 4.0 * self.unit;
            format!(r#"{{"id":"{article}","item":"{article}","price":{price}}}"#)
        };
        let actions = ARTICLES[..self.articles].iter().map(action).collect::<Vec<_>>().join(",");
        event(&format!(r#"{{"context":{{"user":"{user}","time":"{time}"}},"actions":[{actions}]}}"#))
    }

    /// Read, with a probability that context and article decide, and price a little.
    pub(crate) fn reward(&self, context: usize, event: &Event, action: usize, dice: &mut Dice) -> f64 {
        let mut price = 0.0;
        for (name, value) in event.action(action) {
            if let ("price", truenorth_features::Value::Number(number)) = (name, value) {
                price = number / self.unit;
            }
        }
        let appeal = if action == 4 {
            0.9
        } else if action == context {
            0.6
        } else {
            0.15
        };
        f64::from(u8::from(uniform(dice) < appeal - 0.1 * price))
    }

    /// Logs of a policy that prefers what it always preferred, in the units of this world.
    pub(crate) fn logged(&self, rows: usize, seed: u64) -> Parts {
        let logging = News { articles: 4, ..*self };
        let mut dice = dice(seed);
        let mut events = Vec::new();
        for _ in 0..rows {
            let context = below(&mut dice, 4);
            let mut event = logging.event(context, &mut dice);
            let action = if uniform(&mut dice) < 0.4 { 1 } else { below(&mut dice, 4) };
            event.chosen = Some(action);
            event.reward = Some(logging.reward(context, &event, action, &mut dice));
            events.push(event);
        }
        summed("price + user:time:item", &events)
    }
}

/// What logs become: a recipe, its features, and their statistic.
pub(crate) fn summed(model: &str, events: &[Event]) -> Parts {
    let model: Model = model.parse().unwrap();
    let mut recipe = Recipe::without_data(model).unwrap();
    recipe.kinds = [
        ("price", Kind::Number),
        ("user", Kind::Category),
        ("time", Kind::Category),
        ("item", Kind::Category),
    ]
    .map(|(name, kind)| (name.to_owned(), kind))
    .into();
    recipe.action = Some(["item", "price"].map(str::to_owned).into());
    let mut encoder = Encoder::new(recipe.clone(), Vec::new(), Joining::UpTo(1000));
    let mut rows = Vec::new();
    for event in events {
        encoder.row(event, event.chosen.unwrap()).unwrap();
        rows.push((encoder.entries().to_vec(), event.reward.unwrap()));
    }
    let mut logs = RidgeStatistic::new(encoder.features().len() + 1).unwrap();
    for (entries, reward) in rows {
        let mut features = vec![0.0; logs.dimension()];
        features[0] = 1.0;
        for (at, value) in entries {
            features[at as usize + 1] += value;
        }
        logs.observe(&features, reward).unwrap();
    }
    Parts { recipe, features: encoder.features().to_vec(), logs: Some(logs), ..Parts::default() }
}
