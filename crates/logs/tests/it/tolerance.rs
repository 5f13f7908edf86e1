//! What is left out, under which reason, and what is refused instead.

use arrow_array::Float64Array;
use parquet::basic::Compression as Codec;
use truenorth_logs::{Names, Plan, Selection};

use crate::brute::Brute;
use crate::support::{Folder, array, plan, summary};

fn table(skip_malformed: bool, range: Option<(f64, f64)>) -> Plan {
    let mut plan = plan(Selection::new("x", "r"));
    plan.tolerance.skip_malformed = skip_malformed;
    plan.tolerance.range = range;
    plan
}

fn told(reason: &str, rows: u64, first: &str) -> (String, u64, String) {
    (reason.to_owned(), rows, first.to_owned())
}

#[test]
fn rows_of_a_table_are_counted_by_reason_with_the_first_place() {
    let folder = Folder::new();
    let csv = b"x,r\n1,2\n?,1\n1,one\n1,2,3\n\xff,1\n1e60,1\n!,1\n3,4\n,1\n5,-7\n6,8\n".to_vec();
    let path = folder.write("a.csv", csv);
    let more = folder.write("b.csv", "x,r\n?,1\n9,9.5\n1,2\n");
    let found = summary(&table(true, Some((0.0, 8.0))), &[path, more]);
    assert_eq!(
        folder.rejected(&found),
        [
            told("column `x` holds text, not a number", 3, "a.csv, line 3"),
            told("column `r` holds text, not a number", 1, "a.csv, line 4"),
            told("the row has not the 2 fields of the header", 1, "a.csv, line 5"),
            told("not UTF-8 text", 1, "a.csv, line 6"),
            told("column `x` holds a number that is too large", 1, "a.csv, line 7"),
            told("column `x` has no value", 1, "a.csv, line 10"),
            told("the reward is outside of the range from 0 to 8", 2, "a.csv, line 11"),
        ]
    );
    let rows = [1.0, 3.0, 6.0, 1.0];
    Brute::new(rows.map(|x| vec![x]).to_vec(), vec![2.0, 4.0, 8.0, 2.0]).check_tight(&found);
}

#[test]
fn the_default_refuses_with_file_line_and_value() {
    let folder = Folder::new();
    for (line, sentence) in [
        ("?,1", "column `x` holds \"?\", not a number"),
        ("1,2,3", "there are 3 fields, but the header has 2"),
        ("1e60,1", "column `x` holds 1e60, but numbers must be finite and at most 1e50 in size"),
        ("1,-7.5", "the reward is -7.5, outside of the range from 0 to 8"),
        ("1,8.000001", "the reward is 8.000001, outside of the range from 0 to 8"),
        ("1,\"2", "a quote opens here and is never closed"),
    ] {
        let path = folder.write("a.csv", format!("x,r\n1,0\n1,8\n{line}\n1,2\n"));
        let said = folder.no_summary(&table(false, Some((0.0, 8.0))), &[path]);
        assert_eq!(said, format!("a.csv, line 4: {sentence}"));
    }
    let path = folder.write("a.jsonl", "{\"x\":1,\"r\":2}\n{\"x\":1,\"r\":\n");
    let said = folder.no_summary(&table(false, None), &[path]);
    assert!(said.starts_with("a.jsonl, line 2: this is not a JSON object: "), "{said}");
}

#[test]
fn columns_are_checked_as_rows_are() {
    let folder = Folder::new();
    let columns = || {
        vec![
            (
                "x",
                array(Float64Array::from(vec![Some(1.0), Some(1e60), None, Some(4.0), Some(5.0), Some(6.0)])),
            ),
            ("r", array(Float64Array::from(vec![1.0, 2.0, 3.0, 99.0, 0.0, 5.0]))),
        ]
    };
    for (name, path) in [
        ("a.parquet", folder.write_parquet("a.parquet", Codec::SNAPPY, columns())),
        ("a.arrow", folder.write_arrow("a.arrow", None, columns())),
    ] {
        let found = summary(&table(true, Some((0.0, 8.0))), std::slice::from_ref(&path));
        assert_eq!(
            folder.rejected(&found),
            [
                told("column `x` holds a number that is too large", 1, &format!("{name}, row 2")),
                told("column `x` has no value", 1, &format!("{name}, row 3")),
                told("the reward is outside of the range from 0 to 8", 1, &format!("{name}, row 4")),
            ]
        );
        let rows = vec![vec![1.0], vec![5.0], vec![6.0]];
        Brute::new(rows, vec![1.0, 0.0, 5.0]).check_tight(&found);
        let said = folder.no_summary(&table(false, Some((0.0, 8.0))), &[path]);
        assert!(said.starts_with(&format!("{name}, row 2: column `x` holds ")), "{said}");
    }
}

#[test]
fn json_lines_that_are_broken_are_left_out() {
    let folder = Folder::new();
    let text = "{\"x\":1,\"r\":2}\nnot json\n{\"x\":1,\"x\":2,\"r\":2}\n[1]\n{\"x\":{},\"r\":2}\n{\"x\":3,\"r\":4} \n{\"x\":3";
    let found = summary(&table(true, None), &[folder.write("a.jsonl", text)]);
    assert_eq!(
        folder.rejected(&found),
        [
            told("not a JSON object", 3, "a.jsonl, line 2"),
            told("there are two columns named `x`", 1, "a.jsonl, line 3"),
            told("column `x` has no value", 1, "a.jsonl, line 5"),
        ]
    );
    Brute::new(vec![vec![1.0], vec![3.0]], vec![2.0, 4.0]).check_tight(&found);
}

#[test]
fn events_are_counted_by_reason() {
    let folder = Folder::new();
    let mut plan = Plan { names: Names::Kept, ..Plan::default() };
    let vw = "shared | s\n0:-1:0.5 | a\n\n| a\n| b\n\nshared | s\n0:x:0.5 | a\n\n| a\n0:-50:0.5 | b:2\n\n0:-2:0.5 | b:3\n";
    let path = folder.write("a.vw", vw);
    assert_eq!(
        folder.no_summary(&plan, std::slice::from_ref(&path)),
        "a.vw, line 8: the cost is \"x\", but must be a number of at most 1e50 in size"
    );
    plan.tolerance.skip_malformed = true;
    plan.tolerance.range = Some((0.0, 8.0));
    let found = summary(&plan, std::slice::from_ref(&path));
    assert_eq!(found.names(), ["a", "b", "s"]);
    Brute::new(vec![vec![1.0, 0.0, 1.0], vec![0.0, 3.0, 0.0]], vec![1.0, 2.0]).check_tight(&found);
    assert_eq!(
        folder.rejected(&found),
        [
            told("no action has a reward", 1, "a.vw, line 4"),
            told("the cost is not a number of at most 1e50 in size", 1, "a.vw, line 8"),
            told("the reward is outside of the range from 0 to 8", 1, "a.vw, line 10"),
        ]
    );
    plan.tolerance.skip_malformed = false;
    let path = folder.write("b.vw", "1:-1:0.5 | a\n1:1:0.5 | a\n");
    assert_eq!(
        folder.no_summary(&plan, &[path]),
        "b.vw, line 2: the reward is -1, outside of the range from 0 to 8"
    );
}

#[test]
fn open_bandit_rows_are_events_with_named_levels() {
    let folder = Folder::new();
    let log = ",item_id,position,click,user_feature_0,user-item_affinity_0,user-item_affinity_7\n\
               0,7,2,1,u,0.0,0.5\n1,0,3,0,v,0.25,9\n2,8,1,0,v,1,1\n3,7,1,x,v,1,1\n4,7,3,0,u,1,0\n";
    let items = folder.write("items.csv", ",item_id,item_feature_0,item_feature_1\n0,0,2.5,a\n1,7,-1,b\n");
    let path = folder.write("log.csv", log);
    let mut plan = Plan { names: Names::Kept, ..Plan::default() };
    let said = folder.no_summary(&plan, std::slice::from_ref(&path));
    assert!(said.starts_with("log.csv, line 4: there is no column named `user-item_affinity_8`"), "{said}");
    plan.tolerance.skip_malformed = true;
    let found = summary(&plan, std::slice::from_ref(&path));
    let names = ["item_id=0", "item_id=7", "position=2", "position=3", "user-item_affinity"];
    assert_eq!(found.names()[..5], names);
    assert_eq!(found.names()[5..], ["user_feature_0=u", "user_feature_0=v"]);
    let rows = vec![
        vec![0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 0.0],
        vec![1.0, 0.0, 0.0, 1.0, 0.25, 0.0, 1.0],
        vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    ];
    Brute::new(rows, vec![1.0, 0.0, 0.0]).check_tight(&found);
    plan.items = Some(items);
    let found = summary(&plan, std::slice::from_ref(&path));
    assert_eq!(found.names()[..3], ["item_feature_0", "item_feature_1=a", "item_feature_1=b"]);
    let rows = vec![
        vec![-1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 0.0],
        vec![2.5, 1.0, 0.0, 0.0, 1.0, 0.25, 0.0, 1.0],
        vec![-1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    ];
    Brute::new(rows, vec![1.0, 0.0, 0.0]).check_tight(&found);
}
