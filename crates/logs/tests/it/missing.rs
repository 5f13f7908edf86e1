use std::fmt::Write as _;

use arrow_array::Float64Array;
use parquet::basic::Compression as Codec;
use truenorth_logs::{Missing, Plan, Selection, Summary};

use crate::brute::{Brute, same};
use crate::support::{Dice, Folder, array, plan, summary};

fn tolerating(missing: Missing) -> Plan {
    let mut plan = plan(Selection::new("x,y,z", "r"));
    plan.tolerance.missing = missing;
    plan
}

/// Fills gaps with the mean of what is there, in two passes.
fn imputed(rows: &[(Vec<Option<f64>>, f64)], intercept: bool) -> Brute {
    let width = rows[0].0.len();
    let means: Vec<f64> = (0..width)
        .map(|column| {
            let present: Vec<f64> = rows.iter().filter_map(|(row, _)| row[column]).collect();
            if present.is_empty() { 0.0 } else { present.iter().sum::<f64>() / present.len() as f64 }
        })
        .collect();
    let filled = |row: &Vec<Option<f64>>| {
        let values = row.iter().zip(&means).map(|(value, mean)| value.unwrap_or(*mean));
        intercept.then_some(1.0).into_iter().chain(values).collect()
    };
    Brute::new(
        rows.iter().map(|(row, _)| filled(row)).collect(),
        rows.iter().map(|(_, reward)| *reward).collect(),
    )
}

/// Rows whose columns have gaps as often as told, of one row in so many.
fn with_gaps(dice: &mut Dice, count: usize, often: [usize; 3]) -> Vec<(Vec<Option<f64>>, f64)> {
    let mut row = || {
        let values = often.map(|often| {
            let value = 3.0 + 2.0 * dice.number();
            (often == 0 || dice.below(often) > 0).then_some(value)
        });
        (values.to_vec(), dice.number())
    };
    (0..count).map(|_| row()).collect()
}

fn csv(rows: &[(Vec<Option<f64>>, f64)]) -> String {
    const WORDS: [&str; 6] = ["", "NA", " nan ", "null", "-", "None"];
    let mut text = "x,y,z,r\n".to_owned();
    for (number, (row, reward)) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .map(|value| value.map_or(WORDS[number % WORDS.len()].to_owned(), |value| format!("{value:?}")))
            .collect();
        writeln!(text, "{},{reward:?}", cells.join(",")).unwrap();
    }
    text
}

#[test]
fn the_default_refuses_and_names_file_line_and_column() {
    let folder = Folder::new();
    let plan = tolerating(Missing::Refuse);
    let refused = |name: &str, content: &str| folder.no_summary(&plan, &[folder.write(name, content)]);
    assert_eq!(refused("a.csv", "x,y,z,r\n1,2,3,4\n\n1,,3,4\n"), "a.csv, line 4: column `y` has no value");
    assert_eq!(
        refused("b.csv", "x,y,z,r\n1,2,NA,4\n"),
        "b.csv, line 2: column `z` holds \"NA\", not a number"
    );
    assert_eq!(
        refused("a.jsonl", "{\"x\":1,\"y\":2,\"z\":3,\"r\":4}\n{\"x\":1,\"z\":3,\"r\":4}\n"),
        "a.jsonl, line 2: column `y` has no value"
    );
    let column = |values: &[Option<f64>]| array(Float64Array::from(values.to_vec()));
    let whole = [Some(1.0); 5];
    let gap = [Some(1.0), Some(1.0), Some(1.0), Some(1.0), None];
    let columns =
        vec![("x", column(&whole)), ("y", column(&gap)), ("z", column(&whole)), ("r", column(&whole))];
    let path = folder.write_parquet("a.parquet", Codec::SNAPPY, columns.clone());
    // The row is counted over all row groups.
    assert_eq!(folder.no_summary(&plan, &[path]), "a.parquet, row 5: column `y` has no value");
    let path = folder.write_arrow("a.arrow", None, columns);
    assert_eq!(folder.no_summary(&plan, &[path]), "a.arrow, row 5: column `y` has no value");
}

#[test]
fn rows_with_gaps_can_be_dropped_and_are_counted() {
    let folder = Folder::new();
    let text = "x,y,z,r\n1,2,3,4\n,2,3,4\n1,NaN,3,4\n5,6,7,8\nn/a,,3,4\n1,2,3,\n";
    let found = summary(&tolerating(Missing::Drop), &[folder.write("a.csv", text)]);
    Brute::new(vec![vec![1.0, 2.0, 3.0], vec![5.0, 6.0, 7.0]], vec![4.0, 8.0]).check_tight(&found);
    let told = |column: &str, rows, line| {
        (format!("column `{column}` has no value"), rows, format!("a.csv, line {line}"))
    };
    assert_eq!(folder.rejected(&found), [told("x", 2, 3), told("y", 1, 4), told("r", 1, 7)]);
}

#[test]
fn the_mean_is_the_one_of_two_passes_however_the_rows_are_split() {
    let folder = Folder::new();
    let mut dice = Dice(11);
    // Each file has its own gaps; the last two have none, and nothing but gaps in one column.
    let patterns = [[3, 0, 7], [0, 2, 0], [4, 4, 4], [0, 0, 0], [1, 0, 2]];
    let files: Vec<_> = patterns.iter().map(|&often| with_gaps(&mut dice, 60, often)).collect();
    let paths: Vec<_> =
        files.iter().zip(0..).map(|(rows, file)| folder.write(&format!("{file}.csv"), csv(rows))).collect();
    for intercept in [false, true] {
        let plan = Plan { intercept, ..tolerating(Missing::Mean) };
        let all = imputed(&files.concat(), intercept);
        let whole = summary(&plan, &paths);
        all.check(&whole);
        assert_eq!(whole.rejected(), []);
        let joined = folder.write("joined.csv", csv(&files.concat()));
        let one = summary(&plan, &[joined]);
        all.check(&one);
        same(&whole.statistic().unwrap(), &one.statistic().unwrap());
        // Each file by itself, and all of them merged backwards through the file format.
        let parts: Vec<Summary> =
            paths.iter().map(|path| summary(&plan, std::slice::from_ref(path))).collect();
        for (part, rows) in parts.iter().zip(&files) {
            imputed(rows, intercept).check(part);
        }
        let merged = parts.into_iter().rev().reduce(|mut merged, part| {
            merged.merge(&Summary::from_bytes(&part.to_bytes()).unwrap()).unwrap();
            merged
        });
        all.check(&merged.unwrap());
    }
}

#[test]
fn summaries_with_imputed_means_merge_with_files_where_nothing_is_missing() {
    let folder = Folder::new();
    let mut dice = Dice(5);
    let (gaps, whole) = (with_gaps(&mut dice, 30, [3, 2, 0]), with_gaps(&mut dice, 30, [0, 0, 0]));
    let paths = [folder.write("gaps.csv", csv(&gaps)), folder.write("whole.csv", csv(&whole))];
    let expected = imputed(&[gaps, whole].concat(), false);
    for strict in [Missing::Refuse, Missing::Drop, Missing::Mean] {
        let gaps = summary(&tolerating(Missing::Mean), &paths[..1]);
        let whole = summary(&tolerating(strict), &paths[1..]);
        let (mut one, mut other) = (gaps.clone(), whole.clone());
        one.merge(&whole).unwrap();
        other.merge(&gaps).unwrap();
        for merged in [one, other] {
            expected.check(&merged);
            assert_eq!(merged.recipe().missing, Missing::Mean);
            // What was merged is as good as what was read.
            assert_eq!(Summary::from_bytes(&merged.to_bytes()).unwrap(), merged);
        }
    }
}

#[test]
fn every_format_can_leave_values_out() {
    let folder = Folder::new();
    let rows = [
        (vec![Some(1.0), None, Some(3.0)], 0.5),
        (vec![None, Some(-2.0), None], 1.5),
        (vec![Some(4.0), Some(5.0), None], -1.0),
    ];
    let column = |at: usize| array(rows.iter().map(|row| row.0[at]).collect::<Float64Array>());
    let columns = || {
        let rewards = array(Float64Array::from_iter_values(rows.iter().map(|row| row.1)));
        vec![("x", column(0)), ("y", column(1)), ("z", column(2)), ("r", rewards)]
    };
    let json = "{\"x\":1,\"y\":null,\"z\":3.0,\"r\":0.5}\n{\"y\":-2,\"z\":\"NA\",\"r\":1.5}\n\
                {\"x\":4,\"y\":5,\"z\":\"\",\"r\":-1}\n";
    let nan = vec![
        ("x", array(Float64Array::from(vec![1.0, f64::NAN, 4.0]))),
        ("y", array(Float64Array::from(vec![f64::NAN, -2.0, 5.0]))),
        ("z", array(Float64Array::from(vec![3.0, f64::NAN, f64::NAN]))),
        ("r", array(Float64Array::from(vec![0.5, 1.5, -1.0]))),
    ];
    for path in [
        folder.write("a.csv", csv(&rows)),
        folder.write("a.jsonl", json),
        folder.write_parquet("a.parquet", Codec::SNAPPY, columns()),
        folder.write_parquet("nan.parquet", Codec::SNAPPY, nan),
        folder.write_arrow("a.feather", None, columns()),
    ] {
        let found = summary(&tolerating(Missing::Mean), &[path]);
        imputed(&rows, false).check(&found);
    }
}

#[test]
fn a_category_without_a_value_has_no_level() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,colour,r\n1,red,2\n3,,4\n5,blue,6\n");
    let mut plan = plan(Selection::new("x", "r").with_categories("colour", ""));
    let said = folder.no_summary(&plan, std::slice::from_ref(&path));
    assert_eq!(said, "a.csv, line 3: column `colour` has no value");
    plan.tolerance.missing = Missing::Mean;
    let found = summary(&plan, std::slice::from_ref(&path));
    assert_eq!(found.names(), ["x", "colour=blue", "colour=red"]);
    let rows = vec![vec![1.0, 0.0, 1.0], vec![3.0, 0.0, 0.0], vec![5.0, 1.0, 0.0]];
    Brute::new(rows, vec![2.0, 4.0, 6.0]).check_tight(&found);
    plan.tolerance.missing = Missing::Drop;
    assert_eq!(summary(&plan, &[path]).rows(), 2);
}

#[test]
fn a_missing_reward_is_never_made_up() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,y,z,r\n1,2,3,4\n1,2,3,\n");
    let found = summary(&tolerating(Missing::Mean), &[path]);
    assert_eq!(folder.rejected(&found), [("column `r` has no value".into(), 1, "a.csv, line 3".into())]);
    Brute::new(vec![vec![1.0, 2.0, 3.0]], vec![4.0]).check_tight(&found);
}
