//! Rows for a test of a summary, made as its own rows were.

use truenorth::RidgeStatistic;
use truenorth_logs::{Missing, Names, Plan, Rows, Selection, Summary};

use crate::brute::{near, same};
use crate::support::{Folder, plan, summary};

/// The rows of a summary's own file add up to its statistic.
fn check_own_rows(summary: &Summary, rows: &Rows) {
    let d = summary.dimension();
    let mut statistic = RidgeStatistic::new(d).unwrap();
    for (features, reward) in rows.features.chunks(d).zip(&rows.rewards) {
        assert!(features.iter().map(|x| x * x).sum::<f64>() <= 1.0 + 1e-12);
        statistic.observe(features, *reward).unwrap();
    }
    same(&statistic, &summary.statistic().unwrap());
}

/// Compares features without the scale.
fn check_rows(summary: &Summary, rows: &Rows, expected: &[&[f64]]) {
    let d = summary.dimension();
    assert_eq!(rows.features.len(), d * expected.len());
    for (row, expected) in rows.features.chunks(d).zip(expected) {
        assert_eq!(expected.len(), d);
        for (found, plain) in row.iter().zip(*expected) {
            near(*found, plain * summary.scale(), summary.scale() * (1.0 + plain.abs()), "feature");
        }
    }
}

#[test]
fn rows_of_a_table_have_the_features_the_scale_and_the_means_of_the_summary() {
    let folder = Folder::new();
    let path = folder.write("old.csv", "x,y,colour,r\n3,1,red,1\n,2,blue,2\n5,6,red,3\n");
    let mut plan = plan(Selection::new("x,y", "r").with_categories("colour", ""));
    plan.tolerance.missing = Missing::Mean;
    let found = summary(&Plan { intercept: true, ..plan }, std::slice::from_ref(&path));
    assert_eq!(found.names(), ["intercept", "x", "y", "colour=blue", "colour=red"]);
    let own = found.read_rows(&path, None, None).unwrap();
    assert_eq!((own.unknown, own.rejected, &own.rounds), (0, 0, &None));
    check_own_rows(&found, &own);
    // A mean is that of the summary, also for a column that had no gap in it.
    let live = folder.write(
        "live.csv",
        "day,r,colour,y,x\nmon,1,blue,7,8\ntue,2,pink,,-1\nmon,3,,5,NA\nmon,4,green,1,1\nwed,,red,1,1\n",
    );
    let rows = found.read_rows(&live, None, Some("day")).unwrap();
    let expected: [&[f64]; 4] = [
        &[1.0, 8.0, 7.0, 1.0, 0.0],
        &[1.0, -1.0, 3.0, 0.0, 0.0],
        &[1.0, 4.0, 5.0, 0.0, 0.0],
        &[1.0, 1.0, 1.0, 0.0, 0.0],
    ];
    check_rows(&found, &rows, &expected);
    assert_eq!(rows.rewards, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(rows.rounds, Some(vec![0, 1, 0, 0]));
    assert_eq!((rows.unknown, rows.rejected), (2, 1));
    let again = Summary::from_bytes(&found.to_bytes()).unwrap();
    assert_eq!(again.read_rows(&live, None, Some("day")).unwrap(), rows);
}

#[test]
fn hashed_columns_fall_into_the_same_buckets() {
    let folder = Folder::new();
    let path = folder.write("old.csv", "x,user,r\n1,a,1\n2,b,2\n3,c,3\n");
    let selection = Selection::new("x", "r").with_categories("", "user");
    let found = summary(&Plan { buckets: 1000, ..plan(selection) }, std::slice::from_ref(&path));
    check_own_rows(&found, &found.read_rows(&path, None, None).unwrap());
    let live =
        folder.write("live.jsonl", "{\"user\":\"b\",\"x\":5,\"r\":1}\n{\"user\":\"z\",\"x\":6,\"r\":1}\n");
    let rows = found.read_rows(&live, None, None).unwrap();
    let at = found.labels().iter().position(|label| label.ends_with("(user=b)")).unwrap();
    let mut first = [5.0, 0.0, 0.0, 0.0];
    first[at] = 1.0;
    check_rows(&found, &rows, &[&first, &[6.0, 0.0, 0.0, 0.0]]);
    assert_eq!(rows.unknown, 1);
}

#[test]
fn events_are_rows_with_the_names_of_the_summary() {
    let folder = Folder::new();
    let old =
        folder.write("old.vw", "shared |u age:3\n0:-1:0.5 |x a b:2\n\nshared |u age:4\n| a\n0:-2:0.5 |x c\n");
    let live = folder.write(
        "live.vw",
        "shared |u age:1 new:5\n0:-7:0.5 |x b:2 b:3\n\nshared |u age:2\n| a\n\n| z\n0:0:0.5 |x d\n",
    );
    let named = summary(&Plan { names: Names::Kept, ..Plan::default() }, std::slice::from_ref(&old));
    assert_eq!(named.names(), ["u.age", "x.a", "x.b", "x.c"]);
    check_own_rows(&named, &named.read_rows(&old, None, None).unwrap());
    let rows = named.read_rows(&live, None, None).unwrap();
    check_rows(&named, &rows, &[&[1.0, 0.0, 5.0, 0.0], &[0.0; 4]]);
    assert_eq!((rows.unknown, rows.rejected, rows.rewards), (2, 1, vec![7.0, 0.0]));
    let hashed = summary(
        &Plan { buckets: 3, intercept: true, names: Names::Hashed, ..Plan::default() },
        std::slice::from_ref(&old),
    );
    check_own_rows(&hashed, &hashed.read_rows(&old, None, None).unwrap());
}

#[test]
fn the_table_of_items_is_part_of_the_summary() {
    let folder = Folder::new();
    let log = "item_id,position,click,user-item_affinity_0,user-item_affinity_1\n0,1,1,0.5,0\n1,1,0,0,0.25\n";
    let path = folder.write("log.csv", log);
    let items = folder.write("items.csv", "item_id,item_feature_0\n0,2\n1,3\n");
    let plan = Plan { items: Some(items.clone()), names: Names::Kept, ..Plan::default() };
    let found = summary(&plan, std::slice::from_ref(&path));
    std::fs::remove_file(items).unwrap();
    let found = Summary::from_bytes(&found.to_bytes()).unwrap();
    assert_eq!(found.names(), ["item_feature_0", "position=1", "user-item_affinity"]);
    let rows = found.read_rows(&path, None, None).unwrap();
    check_rows(&found, &rows, &[&[2.0, 1.0, 0.5], &[3.0, 1.0, 0.25]]);
    check_own_rows(&found, &rows);
}

#[test]
fn live_rows_that_cannot_be_read_are_refused() {
    let folder = Folder::new();
    let path = folder.write("old.csv", "x,r\n1,2\n");
    let found = summary(&plan(Selection::new("x", "r")), &[path]);
    let said = |name: &str, text: &str, round: Option<&str>| {
        folder.says(&found.read_rows(&folder.write(name, text), None, round).unwrap_err())
    };
    assert_eq!(said("a.csv", "x,r\n1,2\n,2\n", None), "a.csv, line 3: column `x` has no value");
    assert_eq!(
        said("b.csv", "y,r\n1,2\n", None),
        "b.csv: there is no column named `x`; the columns are `y`, `r`"
    );
    assert_eq!(
        said("c.csv", "x,r\n1,2\n", Some("day")),
        "c.csv: there is no column named `day`; the columns are `x`, `r`"
    );
    assert_eq!(said("d.csv", "x,r\n", None), "d.csv: there are columns, but no rows");
}
