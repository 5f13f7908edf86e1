//! What encoders make of events.

use truenorth_features::{Encoder, Error, Event, Joining, Missing, Model, Recipe, Rows, Survey, Value};

fn encoder(model: &str, missing: Missing) -> Encoder {
    let recipe = Recipe { missing, ..Recipe::without_data(model.parse().unwrap()).unwrap() };
    Encoder::new(recipe, Vec::new(), Joining::UpTo(1000))
}

/// The features of the first action of an event, by name.
fn named(encoder: &mut Encoder, json: &str) -> Result<Vec<String>, Error> {
    let mut event = Event::default();
    event.read_json(json)?;
    let mut rows = Rows::default();
    encoder.rows(&event, &mut rows)?;
    let name = |feature: u32| &encoder.features()[feature as usize].name;
    let mut named: Vec<String> =
        rows.row(0).iter().map(|&(feature, value)| format!("{} {value}", name(feature))).collect();
    named.sort();
    Ok(named)
}

fn made(model: &str, json: &str) -> Vec<String> {
    named(&mut encoder(model, Missing::Zero), json).unwrap()
}

const EVENT: &str =
    r#"{"context":{"u":{"a":2,"b":3,"c":"x"}},"actions":[{"id":"n","p":5},{"id":"m","p":7}]}"#;

#[test]
fn a_pattern_times_itself_is_every_pair_once() {
    assert_eq!(made("u.*:u.*", EVENT), ["u.a:u.b 6", "u.a:u.c=x 2", "u.b:u.c=x 3"]);
    assert_eq!(made("p:u.*", EVENT), ["p:u.a 10", "p:u.b 15", "p:u.c=x 5"]);
}

#[test]
fn what_a_term_names_a_pattern_beside_it_leaves_alone() {
    assert_eq!(made("* + u.a", EVENT), ["p 5", "u.a 2", "u.b 3", "u.c=x 1"]);
    let mut encoder = encoder("N(u.a) + *", Missing::Mean).with_means([("u.a".to_owned(), 4.0)].into());
    assert_eq!(named(&mut encoder, EVENT).unwrap(), ["p 5", "u.a 2", "u.b 3", "u.c=x 1"]);
    let without = r#"{"context":{"u":{"b":3}},"actions":[{"id":"n","p":5}]}"#;
    assert_eq!(named(&mut encoder, without).unwrap(), ["p 5", "u.a 4", "u.b 3"]);
}

#[test]
fn a_field_can_be_a_number_and_a_category_at_once() {
    assert_eq!(made("p + C(*)", EVENT), ["p 5", "u.a=2 1", "u.b=3 1", "u.c=x 1"]);
    assert_eq!(made("N(p):id + C(p)", EVENT), ["p:id=n 5", "p=5 1"]);
}

#[test]
fn features_that_only_have_the_same_name_are_refused() {
    let json = r#"{"context":{"a":2,"b":3,"a:b":7},"actions":[{"id":"n"}]}"#;
    let said = named(&mut encoder("a:b + `a:b`", Missing::Zero), json).unwrap_err().to_string();
    assert_eq!(said, "two features are called `a:b`");
    let waves = made("cyclic(a, 24) + cyclic(a, 168)", json);
    assert_eq!(waves.len(), 4, "{waves:?}");
    let hashes = made("hash(a, 8) + hash(a, 10)", json);
    assert!(hashes.iter().all(|name| name.starts_with("hash(a,")) && hashes.len() == 2, "{hashes:?}");
    let mut survey = Survey::new(false);
    survey.add("intercept", false, Value::Number(1.0));
    let model: Model = "intercept".parse().unwrap();
    let said = Recipe::meet(&model, &survey, true, Missing::Refuse).unwrap_err().to_string();
    assert_eq!(said, "two features are called `intercept`");
}

#[test]
fn an_action_hides_what_the_context_says_of_a_field() {
    let json = r#"{"context":{"price":9,"s":1},"actions":[{"id":"n","price":5},{"id":"m"}]}"#;
    let mut encoder = encoder("price + s + price:s", Missing::Zero);
    assert_eq!(named(&mut encoder, json).unwrap(), ["price 5", "price:s 5", "s 1"]);
    let swapped = r#"{"context":{"price":9,"s":1},"actions":[{"id":"m"},{"id":"n","price":5}]}"#;
    assert_eq!(named(&mut encoder, swapped).unwrap(), ["price 9", "price:s 9", "s 1"]);
}

#[test]
fn whole_numbers_keep_every_digit_as_levels() {
    let level =
        |user: &str| made("C(user)", &format!(r#"{{"context":{{"user":{user}}},"actions":[{{"id":"n"}}]}}"#));
    assert_eq!(level("9007199254740993"), ["user=9007199254740993 1"]);
    assert_eq!(level("9007199254740992"), ["user=9007199254740992 1"]);
    assert_eq!(level("-9007199254740995"), ["user=-9007199254740995 1"]);
}

#[test]
fn products_that_no_number_can_hold_are_refused_by_name() {
    let json = r#"{"context":{"x":1e40,"y":1e40},"actions":[{"id":"n"}]}"#;
    let said = named(&mut encoder("x:y", Missing::Zero), json).unwrap_err().to_string();
    assert_eq!(said, "field `x:y` holds 1e80, but numbers must be finite and at most 1e50 in size");
}

#[test]
fn a_number_counts_once_in_its_mean_whatever_it_is_multiplied_with() {
    let mut encoder = encoder("N(price):store", Missing::Mean);
    for (price, store) in [(1.0, "a"), (3.0, ""), (1.0, "a"), (3.0, "")] {
        encoder.clear();
        for (field, value) in [("price", Value::Number(price)), ("store", Value::Cell(store))] {
            let slot = encoder.slot(field).unwrap();
            encoder.put(slot, value).unwrap();
        }
        encoder.encode().unwrap();
        encoder.count_numbers(1.0);
    }
    assert_eq!(encoder.number_sums()["price"], (8.0, 4.0));
}

#[test]
fn actions_may_have_other_fields_than_the_one_before() {
    let json = r#"{"context":{"s":1},"actions":[{"id":"a","p":2,"u":1,"q":3},{"id":"b","q":5,"p":4},{"id":"c","p":6},
        {"id":"d","p":7,"u":1,"q":8}]}"#;
    let mut event = Event::default();
    event.read_json(json).unwrap();
    let mut encoder = encoder("s + p + q + id", Missing::Zero);
    let mut rows = Rows::default();
    for _ in 0..2 {
        encoder.rows(&event, &mut rows).unwrap();
        let name = |feature: u32| &*encoder.features()[feature as usize].name;
        let row = |row: usize| rows.row(row).iter().map(|&(at, value)| (name(at), value)).collect::<Vec<_>>();
        assert_eq!(row(0), [("s", 1.0), ("p", 2.0), ("q", 3.0), ("id=a", 1.0)]);
        assert_eq!(row(1), [("s", 1.0), ("p", 4.0), ("q", 5.0), ("id=b", 1.0)]);
        assert_eq!(row(2), [("s", 1.0), ("p", 6.0), ("id=c", 1.0)]);
        assert_eq!(row(3), [("s", 1.0), ("p", 7.0), ("q", 8.0), ("id=d", 1.0)]);
    }
    assert_eq!(encoder.unknown_fields(), [("u".to_owned(), 4)]);
}

#[test]
fn an_event_that_lacks_fields_is_told_all_of_them_and_what_may_be_meant() {
    let said = |json: &str| {
        let mut event = Event::default();
        event.read_json(json).unwrap();
        encoder("price + segment:id + hour", Missing::Refuse).rows(&event, &mut Rows::default()).unwrap_err()
    };
    let one = said(r#"{"context":{"segment":"a","hour":1,"u":2},"actions":[{"id":"x"}]}"#);
    assert_eq!(one.to_string(), "action \"x\": field `price` has no value");
    let near = said(r#"{"context":{"segment":"a","hour":1},"actions":[{"id":"x","Price":2}]}"#);
    assert_eq!(near.to_string(), "action \"x\": field `price` has no value; is `Price` meant to be `price`?");
    let all = said(r#"{"context":{"segmnt":"a","colour":1},"actions":[{"id":"x","price":2}]}"#);
    assert_eq!(
        all.to_string(),
        "action \"x\": fields `segment`, `hour` have no value; is `segmnt` meant to be `segment`?"
    );
    assert_eq!(all.missing(), Some("segment"));
}

#[test]
fn what_is_remembered_is_bounded_and_forgetting_changes_nothing() {
    let mut encoder = encoder("hash(user:item, 4) + N(x)", Missing::Mean);
    let mut sets = std::collections::BTreeSet::new();
    for row in 0..150_000_u32 {
        encoder.clear();
        for (field, value) in [("user", format!("u{row}")), ("item", format!("i{}", row % 7))] {
            let slot = encoder.slot(field).unwrap();
            encoder.put(slot, Value::Text(&value)).unwrap();
        }
        // The number is missing in the first rows and in the last.
        if (1000..149_000).contains(&row) {
            let slot = encoder.slot("x").unwrap();
            encoder.put(slot, Value::Number(2.0)).unwrap();
        }
        encoder.encode().unwrap();
        let sum: f64 = encoder.entries().iter().map(|entry| entry.1).sum();
        assert!((sum - if encoder.gaps().is_empty() { 3.0 } else { 1.0 }).abs() < 1e-12, "row {row}: {sum}");
        for gap in encoder.gaps() {
            // What an earlier row referred to means the same after all that was forgotten.
            sets.insert((gap.set, encoder.gap_names(gap.set).collect::<Vec<_>>().join(",")));
        }
    }
    assert_eq!(sets.into_iter().collect::<Vec<_>>(), [(0, "x".to_owned())]);
    assert_eq!(encoder.features().iter().filter(|feature| feature.name.starts_with('#')).count(), 4);
}

#[test]
fn formulas_that_would_explode_are_refused_before_they_do() {
    let sum = |letter: char| (0..5000).map(|k| format!("{letter}{k}")).collect::<Vec<_>>().join("+");
    let said = format!("({}):({})", sum('a'), sum('b')).parse::<Model>().unwrap_err().to_string();
    assert!(said.ends_with("there are more than 10000 terms"), "{said}");
}

#[test]
fn names_in_warnings_are_between_backticks_once() {
    let model: Model = "`user age` + hour + hour:`user age`".parse().unwrap();
    let recipe = Recipe { action: Some(["item".to_owned()].into()), ..Recipe::without_data(model).unwrap() };
    let told = |term: &str, crossed: &str| {
        format!(
            "{term} is the same for every action of a round and cannot change a choice; cross it with the action: {crossed}"
        )
    };
    assert_eq!(
        recipe.warnings(),
        [
            told("`user age`", "`user age`:item"),
            told("`hour`", "`hour:item`"),
            told("hour:`user age`", "hour:`user age`:item")
        ]
    );
    let said = Recipe::without_data("bins(`user age`, 3)".parse().unwrap()).unwrap_err().to_string();
    assert!(said.ends_with("bins(`user age`, 3) takes its places from logs, but there are none"), "{said}");
}

#[test]
fn an_id_is_answered_in_its_own_letters_and_found_by_its_level() {
    let read = |named_by: Option<&str>, json: &str| {
        let mut event = Event::default();
        event.named_by = named_by.map(str::to_owned);
        event.read_json(json).map(|()| event)
    };
    let event = read(None, r#"{"actions":[{"id":"1.0"},{"id":"1"},{"id":" x "}],"action":"1"}"#).unwrap();
    assert_eq!([event.id(0), event.id(1), event.id(2)], ["1.0", "1", " x "]);
    assert_eq!((event.chosen, event.find("1.00"), event.find("x")), (Some(1), Some(0), Some(2)));
    // One without an id is called by the field that is the logs' id, or else by its place.
    let items =
        r#"{"actions":[{"item":8},{"id":null,"item":"b"},{"id":"c","item":"b"},{"price":1}],"action":8}"#;
    let event = read(Some("item"), items).unwrap();
    assert_eq!([event.id(0), event.id(1), event.id(2), event.id(3)], ["8", "b", "c", "4"]);
    assert_eq!(event.chosen, Some(0));
    assert!(read(None, items).is_err());
    let twice = r#"{"actions":[{"item":8},{"item":8}]}"#;
    assert_eq!(read(Some("item"), twice).unwrap_err().to_string(), "two actions have the id \"8\"");
}

#[test]
fn ids_that_are_no_ids_are_said_in_words() {
    let said = |json: &str| Event::default().read_json(json).unwrap_err().to_string();
    assert_eq!(
        said(r#"{"actions":[{"id":["a"]}]}"#),
        "this is not an event in JSON: invalid type: sequence, expected a text or a number at column 19"
    );
}
