//! Files of decisions as events, alike with how they were summed up.

use std::path::{Path, PathBuf};

use truenorth_features::{Event, Joining};
use truenorth_logs::{Alike, EventRows, Missing, Plan, Selection, Summary};

use crate::support::{Folder, plan, summary};

fn model(formula: &str) -> Selection {
    Selection::model(Some(formula.parse().unwrap()), "r")
}

fn events(path: &Path, summary: &Summary) -> Vec<Event> {
    EventRows::open(path, None, summary).unwrap().map(Result::unwrap).collect()
}

fn one(path: &PathBuf) -> &[PathBuf] {
    std::slice::from_ref(path)
}

/// Names of the features of an event's first action.
fn features(event: &Event, summary: &Summary) -> Vec<String> {
    let mut encoder = summary.encoder(Joining::UpTo(100));
    encoder.row(event, 0).unwrap();
    encoder.entries().iter().map(|&(at, _)| encoder.features()[at as usize].name.clone()).collect()
}

#[test]
fn actions_that_were_not_taken_have_no_reward() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "item,shown,r\na,1,0.5\nb,0,1\n");
    let found = summary(&plan(model("item").with_chosen("shown").with_action("item")), one(&path));
    let told: Vec<_> = events(&path, &found).iter().map(|event| (event.chosen, event.reward)).collect();
    assert_eq!(told, [(Some(0), Some(0.5)), (None, None)]);
}

#[test]
fn rows_of_one_round_are_one_decision_to_whoever_watches_unless_the_round_is_a_field() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "round,item,r\n1,a,0.5\n1,b,1\n");
    let ids = |formula: &str, watch: bool| -> Vec<Option<String>> {
        let found = summary(&plan(model(formula).with_action("item")), one(&path));
        let open = if watch { EventRows::open_to_watch } else { EventRows::open };
        open(&path, None, &found).unwrap().map(|event| event.unwrap().decision_id).collect()
    };
    let round = Some("1".to_owned());
    assert_eq!(ids("item", true), [round.clone(), round]);
    assert_eq!(ids("item + round:item", true), [None, None]);
    assert_eq!(ids("item", false), [None, None], "a bandit takes a decision's reward once");
}

#[test]
fn cells_are_the_levels_that_they_were_in_the_logs() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "code,r\n007,1\n1e5,0\nNA,1\nx,0\n");
    let found = summary(&plan(model("code")), one(&path));
    for (event, level) in events(&path, &found).iter().zip(["007", "1e5", "NA", "x"]) {
        assert_eq!(features(event, &found), [format!("code={level}")]);
    }
}

#[test]
fn rewards_that_are_wrong_are_errors_and_empty_ones_are_not() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,r\n1,1\n2,0\n");
    let found = summary(&plan(model("x")), one(&path));
    let live = folder.write("b.csv", "x,r\n1,\n2,often\n3,1e60\n4,1\n");
    let said: Vec<_> = EventRows::open_to_learn(&live, &found)
        .unwrap()
        .map(|event| event.map(|event| event.reward).map_err(|error| folder.says(&error)))
        .collect();
    let wrong = |text: &str| Err(text.to_owned());
    assert_eq!(
        said,
        [
            Ok(None),
            wrong("b.csv, line 3: column `r` holds \"often\", not a number"),
            wrong(
                "b.csv, line 4: column `r` holds 1e60, but numbers must be finite and at most 1e50 in size"
            ),
            Ok(Some(1.0)),
        ]
    );
    let bare = folder.write("c.csv", "x\n1\n");
    assert_eq!(events(&bare, &found).len(), 1);
    let refused = EventRows::open_to_learn(&bare, &found).err().unwrap();
    assert_eq!(folder.says(&refused), "c.csv: there is no column named `r`; the columns are `x`");
}

#[test]
fn a_table_for_a_summary_of_events_has_the_columns_that_fit_its_patterns() {
    let folder = Folder::new();
    let logs = folder.write(
        "a.jsonl",
        "{\"context\":{\"u_a\":1},\"actions\":[{\"id\":\"x\",\"p\":2}],\"action\":\"x\",\"reward\":1}\n",
    );
    let plan = Plan { model: Some("u_*".parse().unwrap()), ..Plan::default() };
    let found = summary(&plan, one(&logs));
    let table = folder.write("b.csv", "u_a,other\n2,3\n");
    assert_eq!(features(&events(&table, &found)[0], &found), ["u_a"]);
}

#[test]
fn a_column_named_id_is_the_id_for_summaries_and_for_events() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "id,item,r\nx,a,1\ny,b,0\n");
    let found = summary(&plan(model("id").with_action("item,id")), one(&path));
    assert_eq!(found.names(), ["intercept", "id=x", "id=y"]);
    let events = events(&path, &found);
    assert_eq!(features(&events[0], &found), ["id=x"]);
    assert_eq!(events[1].id(0), "y");
}

#[test]
fn the_id_is_the_first_category_of_the_action_and_never_a_number() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "price,item,code,r\n1,a,7,1\n2,b,8,0\n");
    let id = |selection: Selection| summary(&plan(selection), one(&path)).recipe().id.clone();
    let listed = Selection::new("price", "r").with_categories("item", "");
    assert_eq!(id(listed.with_action("price,item")).as_deref(), Some("item"));
    assert_eq!(id(model("price + code").with_action("price,code")), None);
    assert_eq!(id(model("price + C(code)").with_action("price,code")).as_deref(), Some("code"));
}

#[test]
fn gaps_of_plain_numbers_are_the_mean_in_a_table() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,r\n1,1\n3,0\n,1\n");
    let mut plan = plan(Selection::new("x", "r"));
    plan.tolerance.missing = Missing::Mean;
    let found = summary(&plan, one(&path));
    assert_eq!(Alike::summary(&found).read_file(&path, None).unwrap().features, [1.0, 3.0, 2.0]);
}

#[test]
fn buckets_in_products_are_no_names() {
    let folder = Folder::new();
    let rows = |from: usize| -> String {
        let rows = (from..from + 800).map(|user| format!("{user},i{},1\n", user % 3));
        format!("user,item,r\n{}", rows.collect::<String>())
    };
    let paths = [folder.write("a.csv", rows(0)), folder.write("b.csv", rows(800))];
    let found = summary(&plan(model("hash(C(user), 512):item")), &paths);
    assert!(found.features().len() > 1000);
}

#[test]
fn what_could_not_be_read_again_is_refused() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,r\n1,1\n2,0\n");
    assert_eq!(folder.no_summary(&plan(model("0")), &[path]), "a.csv: the model has no features");
}

#[test]
fn columns_of_later_files_are_no_part_of_a_model_that_is_made() {
    let folder = Folder::new();
    let paths =
        [folder.write("a.csv", "x,r\n1.5,1\n2,0\n"), folder.write("b.csv", "y,x,r\n1,1,1\n2,2.5,0\n")];
    for selection in [Selection::model(None, "r"), model("*")] {
        assert_eq!(summary(&plan(selection), &paths).names(), ["intercept", "x"]);
    }
}

#[test]
fn a_late_key_is_not_lost_where_a_model_is_made() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", "{\"x\":1,\"r\":1}\n{\"x\":2,\"y\":1,\"r\":0}\n");
    assert_eq!(
        folder.no_summary(&plan(Selection::model(None, "r")), &[path]),
        "a.jsonl, line 2: column `y` matches the features, but is not in the first line"
    );
}

#[test]
fn events_are_events_also_where_their_reward_is_named() {
    let folder = Folder::new();
    let line = "{\"context\":{\"u\":1},\"actions\":[{\"id\":\"x\",\"p\":2}],\"action\":\"x\",\"reward\":1}\n";
    let path = folder.write("a.jsonl", line);
    let named = summary(&plan(Selection::model(Some("p".parse().unwrap()), "reward")), one(&path));
    assert_eq!(named.names(), ["intercept", "p"]);
    assert_eq!(
        folder.no_summary(&plan(model("p")), &[path]),
        "a.jsonl: this file has events, which tell their rewards themselves: do not name `r` as the reward"
    );
}

#[test]
fn zeros_in_place_of_gaps_are_a_matter_of_the_call() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,r\n1,1\n,0\n");
    let mut zero = plan(Selection::new("x", "r"));
    zero.tolerance.missing = Missing::Zero;
    let found = summary(&zero, one(&path));
    let error = Plan::default().summarize_alike(&found, &[path], &|_| {}).unwrap_err();
    assert_eq!(folder.says(&error), "a.csv, line 3: column `x` has no value");
}

#[test]
fn the_id_is_the_column_that_the_action_names_and_not_one_called_id() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "id,item,r\n101,a,1\n102,b,0\n103,,1\n");
    let plan = plan(model("item").with_action("item"));
    let kept = folder.write("b.csv", "id,item,r\n101,a,1\n102,b,0\n");
    let found = summary(&plan, one(&kept));
    let mut rows = EventRows::open(&path, None, &found).unwrap();
    let mut id = || rows.next().unwrap().map(|event| event.id(0).to_owned());
    assert_eq!((id().unwrap(), id().unwrap()), ("a".to_owned(), "b".to_owned()));
    assert!(id().unwrap_err().to_string().ends_with("a.csv, line 4: column `item` has no value"));
    // A model that is made takes no column for the action's id but that one.
    let made = summary(
        &Plan { selection: Some(Selection::model(None, "r").with_action("item")), ..plan },
        one(&kept),
    );
    assert_eq!(
        (made.recipe().model.to_string(), &made.recipe().left_out[..]),
        ("item".to_owned(), &["id".to_owned()][..])
    );
}

#[test]
fn a_live_season_is_summed_up_like_the_table_before_it() {
    let folder = Folder::new();
    let table = folder.write("a.csv", "user,item,price,r\nu,a,2,1\nv,b,3,0\n");
    let season = folder.write(
        "b.jsonl",
        r#"{"context":{"user":"u"},"actions":[{"id":"a","price":2},{"id":"b","price":3}],"action":"a","reward":1}
{"context":{"user":"v"},"actions":[{"id":"a","price":2},{"id":"b","price":3}],"action":"b","reward":0}
"#,
    );
    let plan = plan(model("price + item + user:item").with_action("item,price"));
    let logs = summary(&plan, one(&table));
    let live = plan.summarize_alike(&logs, one(&season), &|_| {}).unwrap();
    assert_eq!((live.rows(), live.statistic().unwrap()), (logs.rows(), logs.statistic().unwrap()));
    let mut both = logs.clone();
    both.merge(&live).unwrap();
    assert_eq!((both.rows(), both.dimension()), (4, logs.dimension()));
}
