//! `truenorth summarize`: every format, merging, what is left out, and what it says to bad input.

use std::fs;
use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use crate::support::{Scratch, keys, shared_data};

const CSV: &str =
    "day,x,y,colour,reward\n1,0.5,1,red,1\n2,0.25,2,blue,0\n3,0,0,red,0.5\n4,1,0.75,green,0.25\n";
const COLUMNS: &str = "--features x,y --reward reward";

fn filled() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("a.csv", CSV);
    scratch.write("b.csv", CSV);
    scratch
}

fn gzipped(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn json_lines() -> String {
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [day, x, y, colour, reward] = cells[..] else { panic!("{line}") };
        format!("{{\"day\":{day},\"x\":{x},\"y\":{y},\"colour\":\"{colour}\",\"reward\":{reward}}}\n")
    };
    CSV.lines().skip(1).map(line).collect()
}

fn batch() -> RecordBatch {
    let cells = |column: usize| CSV.lines().skip(1).map(move |line| line.split(',').nth(column).unwrap());
    let numbers = |column: usize| -> ArrayRef {
        Arc::new(cells(column).map(|cell| Some(cell.parse::<f64>().unwrap())).collect::<Float64Array>())
    };
    let colours: ArrayRef = Arc::new(cells(3).map(Some).collect::<StringArray>());
    let columns = [("x", numbers(1)), ("y", numbers(2)), ("colour", colours), ("reward", numbers(4))];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn every_kind_of_table_gives_the_same_summary() {
    let (scratch, batch) = (Scratch::new(), batch());
    scratch.write("t.csv", CSV);
    scratch.write("t.csv.gz", gzipped(CSV));
    scratch.write("zipped.csv", gzipped(CSV));
    scratch.write("t.tsv", CSV.replace(',', "\t"));
    scratch.write("t.jsonl", json_lines());
    let mut parquet = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    scratch.write("t.parquet", parquet.into_inner().unwrap());
    let mut arrow = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    arrow.write(&batch).unwrap();
    scratch.write("t.arrow", arrow.into_inner().unwrap());
    for name in ["t.csv", "t.csv.gz", "zipped.csv", "t.tsv", "t.jsonl", "t.parquet", "t.arrow"] {
        let call = format!("summarize {name} {COLUMNS} --one-hot colour --intercept -o t.tn");
        let mut report = scratch.json(&call);
        let names =
            "model made left_out warnings rows dimension features mean_reward scale files rejected bytes";
        let mut expected: Vec<&str> = names.split(' ').collect();
        expected.sort_unstable();
        assert_eq!(keys(&report), expected);
        assert_eq!(report["bytes"], fs::metadata(scratch.path("t.tn")).unwrap().len(), "{name}");
        let object = report.as_object_mut().unwrap();
        object.remove("bytes");
        assert_eq!(object.remove("files"), Some(json!({ name: 4 })), "{name}");
        // The longest row is the second, with the intercept and a colour: 0.0625 + 4 + 1 + 1.
        let scale = object.remove("scale").unwrap().as_f64().unwrap();
        assert!((scale - 6.0625f64.sqrt().recip()).abs() < 1e-15, "{name}: {scale}");
        assert_eq!(
            report,
            json!({
                "model": "N(x) + N(y) + C(colour)", "made": false, "left_out": [], "warnings": [], "rows": 4, "dimension": 6, "mean_reward": 0.4375, "rejected": [],
                "features": ["intercept", "x", "y", "colour=blue", "colour=green", "colour=red"],
            }),
            "{name}"
        );
    }
}

#[test]
fn rewards_that_are_all_alike_are_said_to_tell_nothing() {
    let scratch = Scratch::new();
    scratch.write("a.csv", "x,reward\n1,0.3\n2,0.3\n0,0.3\n");
    scratch.write("b.csv", "x,reward\n1,0.3\n2,0.3\n0,0.30001\n");
    let said = |file: &str| {
        scratch.prints_and_says(&format!("summarize {file} --features x --reward reward -o x.tn")).1
    };
    let expected = "truenorth: all 3 rows have the reward 0.3: they cannot tell one action from another\n";
    assert_eq!((said("a.csv"), said("b.csv")), (expected.to_owned(), String::new()));
}

#[test]
fn text_says_what_was_read_and_what_comes_next() {
    assert_snapshot!(filled().prints(&format!("summarize a.csv {COLUMNS} -o a.tn")), @r"
    4 rows of 1 file, 2 features, mean reward 0.438
    wrote a.tn (234 bytes)
    next: truenorth audit a.tn --pilot LIVE_ROWS
          truenorth decide a.tn --state bandit.tn
    ");
}

fn features(report: &Value) -> String {
    let names = report["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn events_name_their_features() {
    let scratch = Scratch::new();
    let vw = "shared | tall\n0:-1:0.5 | red\n | blue\n\nshared | short\n | red\n0:0:0.5 | blue\n";
    scratch.write("e.vw", vw);
    scratch.write("e.txt", vw);
    let event = |cost: i8, index: u8, age: u8| {
        format!(
            r#"{{"_label_cost":{cost},"_label_probability":0.5,"_labelIndex":{index},"a":[1,2],"p":[0.5,0.5],"c":{{"user":{{"age":{age}}},"_multi":[{{"item":{{"id":"red"}}}},{{"item":{{"id":"blue"}}}}]}}}}"#
        )
    };
    scratch.write("e.dsjson", format!("{}\n{}\n", event(-1, 0, 3), event(0, 1, 2)));
    scratch.write(
        "e.csv",
        ",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0,user-item_affinity_1\n\
         0,2019-11-24,1,2,1,0.5,young,0.25,0.5\n1,2019-11-24,0,3,0,0.5,old,0.5,0.75\n",
    );
    scratch.write("items.csv", ",item_id,item_feature_0,item_feature_1\n0,0,-0.5,soft\n1,1,1.5,hard\n");
    for (call, names) in [
        ("e.vw --keep-names", "blue red short tall"),
        ("e.txt --keep-names", "blue red short tall"),
        ("e.vw --buckets 256", "#005 #029 #185 #214"),
        ("e.dsjson --keep-names", "item.id=blue item.id=red user.age"),
        ("e.dsjson --buckets 9", "#4 #8"),
        ("e.dsjson", "intercept item.id=blue item.id=red user.age:item.id=blue user.age:item.id=red"),
        (
            "e.csv --keep-names",
            "item_id=0 item_id=1 position=2 position=3 user-item_affinity user_feature_0=old user_feature_0=young",
        ),
        (
            "e.csv --keep-names --items items.csv",
            "item_feature_0 item_feature_1=hard item_feature_1=soft position=2 position=3 user-item_affinity \
             user_feature_0=old user_feature_0=young",
        ),
    ] {
        let report = scratch.json(&format!("summarize {call} -o e.tn"));
        assert_eq!((features(&report).as_str(), &report["rows"]), (names, &json!(2)), "{call}");
        assert_eq!(report["mean_reward"], 0.5, "{call}");
    }
    assert_snapshot!(scratch.says("summarize e.csv --features position --reward click --items items.csv -o x.tn"),
        @"truenorth: `--items` goes with logs of Open Bandit only");
    scratch.write("bad.vw", " | a\n0:-1:0.5 | b\n\n0:-1:0.5| b\n");
    assert_snapshot!(scratch.says("summarize bad.vw -o x.tn"),
        @"truenorth: bad.vw, line 4: `0:-1:0.5` touches the `|`, which makes it a tag: a space must stand between");
}

#[test]
fn patterns_and_parts_merge_to_the_whole() {
    let scratch = filled();
    let call = |files: &str, summary: &str| format!("summarize {files} {COLUMNS} -o {summary}");
    scratch.prints(&call("*.csv", "whole.tn"));
    scratch.prints(&call("a.csv", "a.tn"));
    scratch.prints(&call("b.csv", "b.tn"));
    scratch.prints("summarize a.tn b.tn -o merged.tn");
    scratch.prints("summarize a.tn b.csv -o mixed.tn");
    scratch.prints("summarize ?.tn -o globbed.tn");
    let whole = fs::read(scratch.path("whole.tn")).unwrap();
    for name in ["merged.tn", "mixed.tn", "globbed.tn"] {
        assert!(fs::read(scratch.path(name)).unwrap() == whole, "{name}");
    }
    // A summary may grow in place.
    assert!(scratch.prints("summarize a.tn b.csv -o a.tn").starts_with("8 rows of 2 files, 2 features"));
    assert!(fs::read(scratch.path("a.tn")).unwrap() == whole);
}

#[test]
fn files_that_are_counted_twice_are_named() {
    let scratch = filled();
    scratch.prints(&format!("summarize a.csv {COLUMNS} -o a.tn"));
    // What is named twice, maybe by patterns that overlap, is read once.
    for (call, rows) in [
        (format!("summarize a.csv ?.csv {COLUMNS} -o x.tn"), "8 rows"),
        ("summarize a.tn a.tn -o x.tn".to_owned(), "4 rows"),
    ] {
        let (printed, said) = scratch.prints_and_says(&call);
        assert!(said.is_empty() && printed.starts_with(rows), "{call}: {said}{printed}");
    }
    let (printed, said) = scratch.prints_and_says("summarize a.tn a.csv -o x.tn");
    assert_eq!(said, "truenorth: a.csv is counted twice\n");
    assert!(printed.contains("wrote x.tn"));
}

#[test]
fn a_slip_among_numbers_is_named_and_makes_no_category() {
    let scratch = Scratch::new();
    let row = |row: usize| {
        let price = if row == 3 { "1O.5".to_owned() } else { format!("{}.5", row % 7) };
        format!("{},{price},{}\n", ["tea", "jam"][row % 2], row % 3)
    };
    let rows: String = (0..400).map(row).collect();
    fs::write(scratch.path("l.csv"), format!("item,price,bought\n{rows}")).unwrap();
    let call = "summarize l.csv --action item,price --reward bought -o l.tn";
    assert_eq!(
        scratch.says(call).trim_end(),
        "truenorth: l.csv, line 5: column `price` holds \"1O.5\", not a number"
    );
    let (printed, _) = scratch.prints_and_says(&format!("{call} --skip-malformed"));
    assert!(printed.starts_with("399 rows of 1 file, 4 features"), "{printed}");
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let scratch = filled();
    for output in ["a.csv", "./a.csv", "../FOLDER/a.csv"] {
        let folder = scratch.path("");
        let output = output.replace("FOLDER", folder.file_name().unwrap().to_str().unwrap());
        let said = scratch.says(&format!("summarize b.csv a.csv {COLUMNS} -o {output}"));
        assert!(said.ends_with("a.csv is read, and would be written over: name another file\n"), "{said}");
    }
    fs::create_dir(scratch.path("folder")).unwrap();
    assert_snapshot!(scratch.gives_up(&format!("summarize a.csv {COLUMNS} -o folder")),
        @"truenorth: cannot write folder: is a directory");
    assert_snapshot!(scratch.gives_up(&format!("summarize a.csv {COLUMNS} -o no/such/x.tn")),
        @"truenorth: cannot write no/such/x.tn: No such file or directory (os error 2)");
}

#[test]
fn what_is_malformed_or_missing_is_named_or_counted() {
    let scratch = Scratch::new();
    scratch.write("bad.csv", "x,y,reward\n0.5,oops,1\n,2,0\n3,1,7\n4,1\n5,2,0.5\n6,high,1\n");
    let call = |more: &str| format!("summarize bad.csv {COLUMNS} {more} -o x.tn");
    assert_snapshot!(scratch.says(&call("")),
        @r#"truenorth: bad.csv, line 2: column `y` holds "oops", not a number"#);
    assert_snapshot!(scratch.prints(&call("--skip-malformed --missing mean --reward-range -1,1")), @r"
    2 rows of 1 file, 2 features, mean reward 0.250
    left out: 2 rows (column `y` holds text, not a number; the first: bad.csv, line 2)
    left out: 1 row (the reward is outside of the range from -1 to 1; bad.csv, line 4)
    left out: 1 row (the row has not the 3 fields of the header; bad.csv, line 5)
    wrote x.tn (466 bytes)
    next: truenorth audit x.tn --pilot LIVE_ROWS
          truenorth decide x.tn --state bandit.tn
    ");
    let report = scratch.json(&call("--skip-malformed"));
    assert_eq!(report["rejected"][1]["reason"], "column `x` has no value");
    assert_eq!((&report["rejected"][0]["rows"], &report["rows"]), (&json!(2), &json!(2)));
    scratch.write("gap.csv", "x,y,reward\n1,1,1\nNA,2,0\n3,1,7\n");
    let gap = |more: &str| format!("summarize gap.csv {COLUMNS} {more} -o x.tn");
    assert_snapshot!(scratch.says(&gap("")), @r#"truenorth: gap.csv, line 3: column `x` holds "NA", not a number"#);
    assert_eq!(scratch.json(&gap("--missing drop"))["rows"], 2);
    assert_eq!(scratch.json(&gap("--missing mean"))["rows"], 3);
    assert_snapshot!(scratch.says(&gap("--missing drop --reward-range 0,2")),
        @"truenorth: gap.csv, line 4: the reward is 7, outside of the range from 0 to 2");
}

#[test]
fn wrong_files_are_named() {
    let scratch = filled();
    let says = |files: &str| scratch.says(&format!("summarize {files} {COLUMNS} -o x.tn"));
    fs::create_dir(scratch.path("folder")).unwrap();
    scratch.write("empty.csv", "");
    scratch.write("bare.csv", "x,y,reward\n");
    scratch.write("notes.txt", CSV);
    assert_snapshot!(says("a.csv no.csv"), @"truenorth: no.csv: No such file or directory (os error 2)");
    assert_snapshot!(says("q*.csv"), @"truenorth: q*.csv: no file has such a name");
    assert_snapshot!(says("[.csv"), @"truenorth: [.csv: Pattern syntax error near position 0: invalid range pattern");
    assert_snapshot!(says("a.csv folder"), @"truenorth: folder: this is a folder; name its files, such as 'folder/*.csv'");
    assert_snapshot!(says("empty.csv"), @"truenorth: empty.csv: the file is empty");
    assert_snapshot!(says("bare.csv"), @"truenorth: bare.csv: there are columns, but no rows");
    assert_snapshot!(says("notes.txt"), @"truenorth: notes.txt: the format is not clear; known endings are .csv, .tsv, .jsonl, .ndjson, .vw, .dsjson, .json (or these with .gz), .parquet, .arrow, .arrows, .feather, .ipc");
    assert_snapshot!(says("a.csv --format parquet"), @"truenorth: a.csv: the Parquet file cannot be read: Parquet error: Invalid Parquet file. Corrupt footer");
    assert_snapshot!(scratch.says("summarize a.csv --format vw -o x.tn"), @"truenorth: a.csv, line 1: there is no `|`, behind which the features begin");
}

#[test]
fn wrong_columns_are_named() {
    let scratch = filled();
    let says = |columns: &str| scratch.says(&format!("summarize a.csv {columns} -o x.tn"));
    assert_snapshot!(says(""), @"truenorth: a.csv: a CSV table needs the name of its reward (`--reward`)");
    assert_snapshot!(says("--features x"), @"truenorth: `--reward` is needed beside the columns of a table; events tell their actions and rewards themselves");
    assert_snapshot!(says("--model x+q --reward reward"), @"truenorth: a.csv: there is no field `q`; the fields are `day`, `x`, `y`, `colour`");
    assert_snapshot!(says("--model x --features y --reward reward"), @"truenorth: `--model` says which features there are, so `--features`, `--one-hot` and `--hash` cannot");
    assert_snapshot!(says("--model x --action q --reward reward"), @"truenorth: a.csv: there is no column named `q`; the columns are `day`, `x`, `y`, `colour`, `reward`");
    assert_snapshot!(says("--model x+colour --action colour"), @"truenorth: `--reward` is needed beside the columns of a table; events tell their actions and rewards themselves");
    assert_snapshot!(says("--features x,z --reward reward"), @"truenorth: a.csv: there is no column named `z`; the columns are `day`, `x`, `y`, `colour`, `reward`");
    assert_snapshot!(says("--features f_* --reward reward"), @"truenorth: a.csv: no column matches `f_*`; the columns are `day`, `x`, `y`, `colour`, `reward`");
    assert_snapshot!(says("--features x --reward paid"), @"truenorth: a.csv: there is no column named `paid`; the columns are `day`, `x`, `y`, `colour`, `reward`");
    assert_snapshot!(says("--features * --reward reward"), @r#"truenorth: a.csv, line 2: column `colour` holds "red", not a number"#);
    assert_snapshot!(says("--features x --one-hot colour --hash colour --reward reward"), @"truenorth: a.csv: column `colour` can be either one-hot or hashed, not both");
    scratch.write("narrow.csv", "x,reward\n1,1\n");
    assert_snapshot!(scratch.says(&format!("summarize a.csv narrow.csv {COLUMNS} -o x.tn")), @"truenorth: narrow.csv: there is no column named `y`; the columns are `x`, `reward`");
}

#[test]
fn wrong_calls_are_answered() {
    let scratch = filled();
    let says = |more: &str| scratch.says(&format!("summarize a.csv {COLUMNS} -o x.tn {more}"));
    let refuses = |more: &str| scratch.refuses(&format!("summarize a.csv {COLUMNS} -o x.tn {more}"));
    assert_snapshot!(says("--reward-range 1,0"), @"truenorth: `--reward-range` takes two numbers, the smaller first, but is 1,0");
    assert_snapshot!(says("--reward-range 1"), @"truenorth: `--reward-range` takes two numbers, the smaller first, but is 1");
    assert_snapshot!(says("--reward-range 0,much"), @r#"truenorth: `--reward-range`: "much" is not a number"#);
    assert_snapshot!(says("--format xls"), @r#"truenorth: `--format`: there is no format "xls"; the formats are auto, csv, parquet, jsonl, arrow, vw, dsjson, obd, events"#);
    assert_snapshot!(refuses("--missing none"), @"error: invalid value 'none' for '--missing <MISSING>'");
    assert_snapshot!(says("--buckets 0"), @"truenorth: `--buckets`: 0 is not from 1 to 4096");
    assert_snapshot!(scratch.refuses(&format!("summarize {COLUMNS} -o x.tn")), @"error: the following required arguments were not provided:");
    assert_snapshot!(scratch.refuses(&format!("summarize a.csv {COLUMNS}")), @"error: the following required arguments were not provided:");
}

#[test]
fn semicolons_and_tabs_are_read_and_decimal_commas_refused() {
    let scratch = Scratch::new();
    let commas = "item,price,bought\nnews,1.5,1\nsport,2,0\n\"a;b\",2.5,1\n";
    scratch.write("comma.csv", commas);
    scratch.write("semicolon.csv", "item;price;bought\nnews;1.5;1\nsport;2;0\n\"a;b\";2.5;1\n");
    scratch.write("tab.csv", commas.replace(',', "\t"));
    let shown = |file: &str, more: &str| {
        let call = format!("summarize {file} {more} --action item,price --reward bought -o x.tn");
        // A summary holds the names of its files, which differ in length.
        let printed = scratch.prints(&call);
        printed.lines().filter(|line| !line.starts_with("wrote")).collect::<Vec<_>>().join("\n")
    };
    let expected = shown("comma.csv", "");
    assert_eq!(shown("semicolon.csv", ""), expected);
    assert_eq!(shown("tab.csv", ""), expected);
    scratch.write("german.csv", "item;price;bought\nnews;1,5;1\nsport;2,25;0\n");
    let says = |more: &str| scratch.says(&format!("summarize german.csv --reward bought -o x.tn {more}"));
    // Neither with a model nor with one that is made is this a category.
    assert_eq!(says("--features price"), says("--action item,price"));
    assert_snapshot!(says("--features price"), @r#"truenorth: german.csv, line 2: column `price` holds "1,5", not a number; numbers have a decimal point and nothing between thousands"#);
}

#[test]
fn summaries_that_do_not_fit_are_named() {
    let scratch = filled();
    scratch.prints(&format!("summarize a.csv {COLUMNS} -o a.tn"));
    scratch.prints(&format!("summarize b.csv {COLUMNS} --one-hot colour -o b.tn"));
    scratch.prints("summarize b.csv --features y,x --reward reward -o turned.tn");
    scratch.prints(&format!("summarize b.csv {COLUMNS} --intercept -o lifted.tn"));
    let bytes = fs::read(scratch.path("a.tn")).unwrap();
    scratch.write("cut.tn", &bytes[..bytes.len() - 1]);
    scratch.write("later.tn", [&bytes[..9], &[4], &bytes[10..]].concat());
    let says = |files: &str| scratch.says(&format!("summarize {files} -o x.tn"));
    assert_snapshot!(says("a.tn b.tn"), @"truenorth: b.tn: the summaries have different models: `0 + N(x) + N(y)` and `0 + N(x) + N(y) + C(colour)`");
    assert_snapshot!(says("a.tn lifted.tn"), @"truenorth: lifted.tn: the summaries have different models: `0 + N(x) + N(y)` and `N(x) + N(y)`");
    assert_snapshot!(says("a.tn cut.tn"), @"truenorth: cut.tn: the summary is damaged: its checksum does not match its content");
    assert_snapshot!(says("later.tn"), @"truenorth: later.tn: the summary has version 4, but this build reads version 3");
    assert_snapshot!(says("a.tn b.csv --intercept"), @"truenorth: `--intercept` comes too late: the summaries have none");
    assert_snapshot!(says("a.tn --features y --reward reward"), @"truenorth: only summaries are named, whose columns are settled: leave out `--reward`, `--features`");
    assert_snapshot!(says("a.tn b.csv --features x --reward reward"), @"truenorth: b.csv: the summaries have different models: `0 + N(x) + N(y)` and `0 + N(x)`");
    scratch.prints("summarize b.csv --features x --reward y -o paid.tn");
    assert_snapshot!(says("a.tn paid.tn"), @"truenorth: paid.tn: the summaries have different reward columns: reward and y");
    // The order of columns makes no difference.
    let merged = scratch.json("summarize a.tn turned.tn -o x.tn");
    assert_eq!((&merged["rows"], &merged["features"]), (&json!(8), &json!(["x", "y"])));
}

#[test]
fn a_model_that_is_made_from_the_data_is_printed_to_be_copied() {
    let scratch = filled();
    let (printed, said) = scratch.prints_and_says("summarize a.csv --reward reward --action colour -o a.tn");
    assert_snapshot!(printed, @r"
    4 rows of 1 file, 13 features, mean reward 0.438
    model made from the data: --model 'colour + day:colour + x:colour + y:colour'
    taken as categories: colour
    wrote a.tn (1.33 kB)
    next: truenorth audit a.tn --pilot LIVE_ROWS
          truenorth decide a.tn --state bandit.tn
    ");
    assert_eq!(said, "");
    let again = scratch.json(
        "summarize a.csv --reward reward --action colour --model colour+day:colour+x:colour+y:colour -o b.tn",
    );
    assert_eq!(again["dimension"], 13);
    let (_, said) =
        scratch.prints_and_says("summarize a.csv --reward reward --action colour --model colour+x -o b.tn");
    assert_snapshot!(said, @"truenorth: `x` is the same for every action of a round and cannot change a choice; cross it with the action: `x:colour`");
}

#[test]
fn an_id_of_numbers_is_a_category_by_its_name_and_never_by_a_pattern() {
    let scratch = Scratch::new();
    let row = |row: u32| {
        let (item, place, affinity) = (row * 7 % 5, row % 3, f64::from(row * 11 % 13) / 10.0);
        format!("{item},{place},1,{affinity},{}\n", u32::from(row == 7))
    };
    let rows: String = (0..200).map(row).collect();
    scratch.write("logs.csv", format!("item,place,f_one,f_affinity,reward\n{rows}"));
    let call =
        |more: &str| scratch.prints_and_says(&format!("summarize logs.csv --reward reward {more} -o l.tn"));
    let (printed, said) = call("--action item --model C(item)+C(place)");
    assert!(printed.contains("mean reward 0.00500\n"), "{printed}");
    assert_snapshot!(said, @"truenorth: `C(place)` is the same for every action of a round and cannot change a choice; cross it with the action: `C(place):C(item)`");
    assert_snapshot!(call("--action item --model item").1, @"truenorth: `item` is the action's id but is taken as a number; write `C(item)`");
    assert_eq!(call("--action item,f_affinity --model item:f_affinity").1, "");
    let (printed, _) = call("--action f_*");
    assert!(printed.contains("--model 'f_one + f_affinity + item + place'\n"), "{printed}");
    assert!(
        printed.contains("\nno column of the action is its id, so nothing is crossed with it"),
        "{printed}"
    );
}

#[test]
fn a_made_model_and_what_it_leaves_out_are_told_in_json_and_in_words() {
    let scratch = Scratch::new();
    let row = |row: u32| format!("{row},2026-05-01 12:{row},{},{}\n", ["a", "b"][row as usize % 2], row % 3);
    let rows: String = (1..=60).map(row).collect();
    scratch.write("logs.csv", format!("row,time,item,r\n{rows}"));
    let made = scratch.json("summarize logs.csv --reward r --action item -o logs.tn");
    assert_eq!(
        (&made["model"], &made["made"], &made["left_out"]),
        (&json!("item"), &json!(true), &json!(["row", "time"]))
    );
    let told = scratch.json("summarize logs.csv --reward r --action item --model item -o logs.tn");
    assert_eq!((&told["made"], &told["left_out"]), (&json!(false), &json!([])));
    // Merged, the model is one that is there already.
    scratch.write("more.csv", format!("row,time,item,r\n{rows}"));
    assert_eq!(scratch.json("summarize logs.tn more.csv -o both.tn")["made"], json!(false));
    assert_snapshot!(scratch.prints("summarize logs.csv --reward r -o logs.tn"), @r"
    60 rows of 1 file, 3 features, mean reward 1.00
    model made from the data: --model 'item'
    taken as categories: item
    not in the model, because they tell rows or rounds apart: row, time
    no column is said to belong to the action, so nothing is crossed with it: `--action COLUMNS`, its id first
    wrote logs.tn (210 bytes)
    next: truenorth audit logs.tn --pilot LIVE_ROWS
          truenorth decide logs.tn --state bandit.tn
    ");
}

#[test]
fn what_hardly_belongs_into_a_made_model_is_named_with_the_model_without_it() {
    let scratch = Scratch::new();
    let row = |row: u32| {
        let (item, user, bought) = (["a", "b"][row as usize % 2], ["t", "u", "v"][row as usize % 3], row % 7);
        format!("{},{item},{user},{},1.0,{},x,{bought}\n", row / 2, row % 5, 10 * bought + row % 4)
    };
    let rows: String = (0..120).map(row).collect();
    scratch.write("logs.csv", format!("round,item,user,clicks,f_bias,total,shop,bought\n{rows}"));
    let call = "summarize logs.csv --reward bought -o logs.tn";
    let (printed, said) = scratch.prints_and_says(&format!("{call} --action item"));
    assert_snapshot!(said, @r"
    truenorth: `clicks` sounds like an outcome, which is not known before the choice
    truenorth: `total` nearly tells the reward, as an outcome does, which is not known before the choice
    truenorth: `f_bias`, `shop` are the same in every row and can be left out, unless they will vary
    truenorth: the model without them: --model 'item + user:item'
    ");
    assert_snapshot!(printed.lines().skip(1).take(3).collect::<Vec<_>>().join("\n"), @r"
    model made from the data: --model 'item + user:item + clicks:item + f_bias:item + total:item + shop:item'
    taken as categories: item, user, shop
    not in the model, because they tell rows or rounds apart: round
    ");
    // The same where nothing is crossed, and silence where the model was written.
    let (_, flat) = scratch.prints_and_says(call);
    assert_eq!(flat.lines().take(3).collect::<Vec<_>>(), said.lines().take(3).collect::<Vec<_>>());
    scratch.prints(&format!("{call} --action item --model item+user:item+clicks:item"));
    // Rewards that are all the same are told by none, however their sums are rounded.
    let same = |row: u32| format!("{},{},0.3\n", ["a", "b"][row as usize % 2], row % 5);
    scratch.write("same.csv", format!("item,price,bought\n{}", (0..1000).map(same).collect::<String>()));
    let (_, said) = scratch.prints_and_says("summarize same.csv --action item --reward bought -o same.tn");
    assert_snapshot!(said, @"truenorth: all 1,000 rows have the reward 0.3: they cannot tell one action from another");
    // Few clicks for many features.
    let rare = |row: u32| format!("i{},u{},{}\n", row % 40, row % 7, u32::from(row.is_multiple_of(100)));
    scratch.write("rare.csv", format!("item,user,click\n{}", (0..2000).map(rare).collect::<String>()));
    let (_, said) = scratch.prints_and_says("summarize rare.csv --action item --reward click -o rare.tn");
    assert_snapshot!(said, @"truenorth: 20 rewards of 1 say little of 320 features: name fewer terms, to begin with --model 'item'");
    // Buckets of a hash add up to the field as well; a few rows tell nothing.
    let wide = |row: u32| format!("i{},1.0,{}\n", row % 70, row % 7);
    let rows: String = (0..700).map(wide).collect();
    scratch.write("wide.csv", format!("item,f_bias,bought\n{rows}"));
    let (_, said) = scratch.prints_and_says("summarize wide.csv --action item --reward bought -o wide.tn");
    assert_snapshot!(said, @r"
    truenorth: `f_bias` is the same in every row and can be left out, unless it will vary
    truenorth: the model without it: --model 'hash(item, 256)'
    ");
    scratch.write("few.csv", "item,f_bias,bought\na,1,0\nb,1,1\na,1,0\n");
    scratch.prints("summarize few.csv --action item --reward bought -o few.tn");
}

#[test]
fn what_makes_a_made_model_large_is_said() {
    let scratch = Scratch::new();
    let row = |row: u32| format!("i{},s{},{},{}\n", row % 40, row / 40 % 11, row % 9, row % 2);
    let rows: String = (0..4800).map(row).collect();
    scratch.write("logs.csv", format!("item,store,hour,bought\n{rows}"));
    let printed = scratch.prints("summarize logs.csv --action item --reward bought -o logs.tn");
    assert_snapshot!(printed.lines().nth(2).unwrap(), @"521 features of 3 terms: 440 by store:item, 40 by item, 40 by hash(hour:item, 256); fewer terms make fewer");
}

#[test]
fn a_text_among_few_numbers_shows_in_the_list_of_categories() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "item,price,bought\na,1.5,0\nb,1O,1\na,2,0\n");
    let printed = scratch.prints("summarize logs.csv --action item --reward bought -o logs.tn");
    assert!(printed.contains("\ntaken as categories: item, price\n"), "{printed}");
}

#[test]
fn a_name_with_a_comma_stands_between_backticks() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "segment,\"price,net\",item,r\na,1,x,1\nb,2,y,0\n");
    let report = scratch.json("summarize logs.csv --reward r --action item,`price,net` -o logs.tn");
    assert_eq!(report["model"], "`price,net` + item + segment:item");
    let report =
        scratch.json("summarize logs.csv --reward r --features `price,net` --one-hot item -o logs.tn");
    assert_eq!(features(&report), "price,net item=x item=y");
}

#[test]
fn help_shows_formats_and_examples() {
    let help = Scratch::new().prints("summarize --help");
    // Nothing of an example is broken into lines.
    assert!(help.contains("--one-hot country --reward click -o c.tn\n"), "{help}");
    assert!(
        help.contains("truenorth summarize 'logs/*.parquet' --features 'f_*' --reward reward -o logs.tn\n")
    );
    assert!(help.contains("csv, parquet, jsonl, arrow, vw, dsjson"), "{help}");
}

#[test]
fn samples_of_real_logs_are_read() {
    let Some(data) = shared_data() else { return };
    let scratch = Scratch::new();
    for (file, rows) in [
        ("vw-cb-adf-small.txt", 10),
        ("vw-cb-adf-news.txt", 113),
        ("vw-dsjson-cb.json", 23),
        ("vw-dsjson-production.json", 3),
        ("obd-random-men-200.csv", 200),
    ] {
        let path = data.join("log-samples").join(file);
        let (printed, said) =
            scratch.prints_and_says(&format!("summarize {} -o x.tn --json", path.display()));
        let report: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(report["rows"], rows, "{file}");
        // Nobody clicked in these.
        assert_eq!(said.contains("have the reward 0"), file.starts_with("obd"), "{said}");
    }
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link_and_what_is_no_file_is_written_into() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "item,id,r\na,1,1\nb,2,0\n");
    let call = "summarize logs.csv --reward r --action item -o";
    let told = scratch.prints(&format!("{call} real.tn"));
    assert!(
        told.contains(
            "not in the model: the column `id`, as `id` means the action's own, which is `item` here; rename it to use it\n"
        ),
        "{told}"
    );
    let whole = std::fs::read(scratch.path("real.tn")).unwrap();
    std::fs::write(scratch.path("old.tn"), "old").unwrap();
    std::os::unix::fs::symlink("old.tn", scratch.path("link.tn")).unwrap();
    scratch.prints(&format!("{call} link.tn"));
    assert!(scratch.path("link.tn").is_symlink());
    assert_eq!(std::fs::read(scratch.path("old.tn")).unwrap(), whole);
    let made = std::process::Command::new("mkfifo").arg(scratch.path("pipe")).status();
    assert!(made.unwrap().success());
    let pipe = scratch.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap());
    scratch.prints(&format!("{call} pipe"));
    assert_eq!(reader.join().unwrap(), whole);
}
