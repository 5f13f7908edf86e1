use std::fmt::Write as _;
use std::path::PathBuf;

use arrow_array::types::Int32Type;
use arrow_array::{
    BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int8Array, Int64Array,
    StringArray, UInt16Array,
};
use arrow_ipc::CompressionType;
use parquet::basic::Compression as Codec;
use truenorth_logs::{Format, Plan, Selection, Summary, expand};

use crate::brute::{Brute, same};
use crate::support::{Dice, Folder, array, plan, summary};

/// Rows with two numbers, a count, a flag and a reward.
fn rows(count: usize) -> Vec<(f64, f64, i64, bool, f64)> {
    let mut dice = Dice(7);
    (0..count)
        .map(|_| {
            let count = i64::try_from(dice.below(9)).unwrap() - 4;
            (dice.number(), 1e3 * dice.number(), count, dice.below(2) == 1, dice.number())
        })
        .collect()
}

#[test]
fn every_format_gives_the_same_statistic() {
    let folder = Folder::new();
    let rows = rows(23);
    let (mut csv, mut json) = ("note,f_x,f_y,f_n,f_b,pay\n".to_owned(), String::new());
    for (x, y, n, b, pay) in &rows {
        writeln!(csv, "\"a, b\",{x:?},{y:?},{n},{b},{pay:?}").unwrap();
        writeln!(json, r#"{{"pay":{pay:?},"f_x":{x:?},"note":null,"f_y":{y:?},"f_n":{n},"f_b":{b}}}"#)
            .unwrap();
    }
    let columns = || {
        vec![
            ("note", array(StringArray::from(vec!["a"; rows.len()]))),
            ("f_x", array(Float64Array::from_iter_values(rows.iter().map(|row| row.0)))),
            ("f_y", array(Float64Array::from_iter_values(rows.iter().map(|row| row.1)))),
            ("f_n", array(Int64Array::from_iter_values(rows.iter().map(|row| row.2)))),
            ("f_b", array(BooleanArray::from(rows.iter().map(|row| row.3).collect::<Vec<_>>()))),
            ("pay", array(Float64Array::from_iter_values(rows.iter().map(|row| row.4)))),
        ]
    };
    let paths = [
        folder.write("a.csv", &csv),
        folder.write("a.csv.gz", &csv),
        folder.write("a.jsonl", &json),
        folder.write("a.ndjson.gz", &json),
        folder.write_parquet("plain.parquet", Codec::UNCOMPRESSED, columns()),
        folder.write_parquet("snappy.parquet", Codec::SNAPPY, columns()),
        folder.write_parquet("zstd.parquet", Codec::ZSTD(parquet::basic::ZstdLevel::default()), columns()),
        folder.write_arrow("plain.arrow", None, columns()),
        folder.write_arrow("plain.arrows", None, columns()),
        folder.write_arrow("lz4.feather", Some(CompressionType::LZ4_FRAME), columns()),
        folder.write_arrow("zstd.feather", Some(CompressionType::ZSTD), columns()),
        folder.write_arrow("zstd.arrows", Some(CompressionType::ZSTD), columns()),
    ];
    let brute = Brute::new(
        rows.iter().map(|&(x, y, n, b, _)| vec![n as f64, x, y, f64::from(u8::from(b))]).collect(),
        rows.iter().map(|row| row.4).collect(),
    );
    for path in &paths {
        let selection = Selection::new("f_n,f_*", "pay").without("note");
        let found = summary(&plan(selection), std::slice::from_ref(path));
        // JSON has its own order of columns, but the same ones.
        assert_eq!(found.names(), ["f_n", "f_x", "f_y", "f_b"], "{}", path.display());
        brute.check_tight(&found);
    }
    // All of them together, as one log.
    let whole = summary(&plan(Selection::new("f_n,f_x,f_y,f_b", "pay")), &paths);
    let times = paths.len();
    Brute::new(vec![brute.rows; times].concat(), vec![brute.rewards; times].concat()).check_tight(&whole);
    assert_eq!(whole.files().len(), times);
}

#[test]
fn parquet_columns_of_every_kind_of_number_are_summed() {
    let folder = Folder::new();
    let decimals = Decimal128Array::from(vec![150, -25, 0, 1, 99]).with_precision_and_scale(10, 2).unwrap();
    let values = Float64Array::from(vec![0.5, 4.0]);
    let keys = arrow_array::Int32Array::from(vec![1, 0, 0, 1, 0]);
    let encoded = DictionaryArray::<Int32Type>::try_new(keys, array(values)).unwrap();
    let colours: DictionaryArray<Int32Type> = ["b", "a", "b", "b", "a"].into_iter().collect();
    let path = folder.write_parquet(
        "a.parquet",
        Codec::SNAPPY,
        vec![
            ("x1", array(Float32Array::from(vec![0.5, -0.25, 0.1, 1e10, 3.0]))),
            ("x2", array(Int8Array::from(vec![1, -2, 3, -4, 5]))),
            ("x3", array(UInt16Array::from(vec![1, 0, 65_535, 2, 3]))),
            ("x4", array(BooleanArray::from(vec![true, false, false, true, true]))),
            ("x5", array(decimals)),
            ("x6", array(encoded)),
            ("r", array(Float32Array::from(vec![0.5, 1.5, -2.0, 0.0, 4.0]))),
            ("colour", array(colours)),
        ],
    );
    let selection = Selection::new("x*", "r").with_categories("colour", "");
    let found = summary(&plan(selection), &[path]);
    assert_eq!(found.names()[6..], ["colour=a", "colour=b"]);
    let rows = vec![
        vec![0.5, 1.0, 1.0, 1.0, 1.5, 4.0, 0.0, 1.0],
        vec![-0.25, -2.0, 0.0, 0.0, -0.25, 0.5, 1.0, 0.0],
        vec![f64::from(0.1_f32), 3.0, 65_535.0, 0.0, 0.0, 0.5, 0.0, 1.0],
        vec![1e10, -4.0, 2.0, 1.0, 0.01, 4.0, 0.0, 1.0],
        vec![3.0, 5.0, 3.0, 1.0, 0.99, 0.5, 1.0, 0.0],
    ];
    Brute::new(rows, vec![0.5, 1.5, -2.0, 0.0, 4.0]).check_tight(&found);
}

/// Fifty files of uneven lengths with numbers, gaps and categories, and the lines of all of them.
fn fifty(folder: &Folder) -> (Vec<PathBuf>, PathBuf) {
    let mut dice = Dice(50);
    let header = "x,y,z,colour,user,pay\n";
    let (mut paths, mut all) = (Vec::new(), header.to_owned());
    for file in 0..50 {
        let mut content = header.to_owned();
        for _ in 0..=dice.below(40) {
            let gap = |dice: &mut Dice, often: usize| match dice.below(often) {
                0 => String::new(),
                _ => format!("{:?}", dice.number()),
            };
            let (x, y) = (gap(&mut dice, 5), if file % 3 == 0 { "0.5".into() } else { gap(&mut dice, 9) });
            let (z, colour, user) = (1e4 * dice.number(), dice.below(file / 5 + 1), dice.below(300));
            let line = format!("{x},{y},{z:?},c{colour},u{user},{:?}\n", dice.number());
            content.push_str(&line);
            all.push_str(&line);
        }
        paths.push(folder.write(&format!("part-{file:02}.csv"), content));
    }
    (paths, folder.write("all.csv", all))
}

fn plan_for_fifty(threads: usize) -> Plan {
    let mut plan = plan(Selection::new("x,y,z", "pay").with_categories("colour", "user"));
    plan.tolerance.missing = truenorth_logs::Missing::Mean;
    Plan { buckets: 16, intercept: true, threads, ..plan }
}

#[test]
fn files_in_any_order_and_summaries_merged_in_any_way_give_the_same_numbers() {
    let folder = Folder::new();
    let (mut paths, all) = fifty(&folder);
    let plan = plan_for_fifty(0);
    let whole = summary(&plan, &[all]);
    let agrees = |other: &Summary| {
        assert_eq!(
            (whole.names(), whole.labels(), whole.rows()),
            (other.names(), other.labels(), other.rows())
        );
        assert!((whole.scale() - other.scale()).abs() <= 1e-12 * whole.scale());
        same(&whole.statistic().unwrap(), &other.statistic().unwrap());
    };
    let mut dice = Dice(3);
    for _ in 0..3 {
        agrees(&summary(&plan, &paths));
        let mut parts: Vec<Summary> =
            paths.iter().map(|path| summary(&plan, std::slice::from_ref(path))).collect();
        // A tree of any shape: two parts become one, until one is left.
        while parts.len() > 1 {
            let one = parts.swap_remove(dice.below(parts.len()));
            let other = dice.below(parts.len());
            parts[other].merge(&one).unwrap();
        }
        agrees(&parts[0]);
        assert_eq!(parts[0].files().len(), 50);
        dice.shuffle(&mut paths);
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    let (mut paths, all) = fifty(&folder);
    paths.push(all);
    let rows = rows(40);
    // Row groups of three rows are pieces of work as well.
    let columns = vec![
        ("x", array(Float64Array::from_iter_values(rows.iter().map(|row| row.0)))),
        ("y", array(Float64Array::from_iter_values(rows.iter().map(|row| row.1)))),
        ("z", array(Float64Array::from_iter_values(rows.iter().map(|row| row.4)))),
        ("colour", array(StringArray::from(vec!["c1"; rows.len()]))),
        ("user", array(StringArray::from(vec!["u1"; rows.len()]))),
        ("pay", array(Int64Array::from_iter_values(rows.iter().map(|row| row.2)))),
    ];
    paths.push(folder.write_parquet("groups.parquet", Codec::SNAPPY, columns));
    let bytes = |threads: usize| summary(&plan_for_fifty(threads), &paths).to_bytes();
    let one = bytes(1);
    for threads in [2, 5, 0] {
        assert!(bytes(threads) == one, "{threads} threads");
    }
}

#[test]
fn progress_tells_the_bytes_of_all_files() {
    let folder = Folder::new();
    let (paths, _) = fifty(&folder);
    let total: u64 = paths.iter().map(|path| path.metadata().unwrap().len()).sum();
    let told = std::sync::atomic::AtomicU64::new(0);
    let progress = |bytes| {
        told.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
    };
    plan_for_fifty(3).summarize(&paths, &progress).unwrap();
    assert_eq!(told.into_inner(), total);
}

#[test]
fn names_and_globs_become_files_in_a_fixed_order() {
    let folder = Folder::new();
    for name in ["b-2.csv", "b-10.csv", "b-1.csv", "a.csv", "c[1].csv"] {
        folder.write(name, "x,r\n1,2\n");
    }
    std::fs::create_dir(folder.path("b-dir.csv")).unwrap();
    let expanded = |names: &[&str]| {
        let patterns: Vec<PathBuf> = names.iter().map(|name| folder.path(name)).collect();
        let found = expand(&patterns).map_err(|error| folder.says(&error))?;
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        Ok::<_, String>(found.iter().map(name).collect::<Vec<_>>())
    };
    assert_eq!(expanded(&["b-*.csv", "a.csv"]).unwrap(), ["b-1.csv", "b-10.csv", "b-2.csv", "a.csv"]);
    assert_eq!(expanded(&["b-?.csv"]).unwrap(), ["b-1.csv", "b-2.csv"]);
    assert_eq!(expanded(&["c[1].csv", "absent.csv"]).unwrap(), ["c[1].csv", "absent.csv"]);
    assert_eq!(expanded(&["a.csv", "x-*.csv"]).unwrap_err(), "x-*.csv: no file has such a name");
    assert!(expanded(&["[.csv"]).unwrap_err().starts_with("[.csv: "));
    let plan = plan(Selection::new("x", "r"));
    assert_eq!(summary(&plan, &expand(&[folder.path("b-*.csv")]).unwrap()).rows(), 3);
    assert_eq!(
        folder.no_summary(&plan, &[folder.path("absent.csv")]),
        "absent.csv: No such file or directory (os error 2)"
    );
    assert_eq!(folder.no_summary(&plan, &[]), ": no files are named");
}

#[test]
fn the_first_faulty_file_is_named_whatever_the_number_of_threads() {
    let folder = Folder::new();
    let mut paths = Vec::new();
    for file in 0..30 {
        let value = if file % 10 == 7 { "?" } else { "1" };
        paths.push(folder.write(&format!("{file}.csv"), format!("x,r\n1,2\n{value},3\n")));
    }
    for threads in [1, 2, 5] {
        let plan = Plan { threads, ..plan(Selection::new("x", "r")) };
        assert_eq!(folder.no_summary(&plan, &paths), "7.csv, line 3: column `x` holds \"?\", not a number");
    }
}

#[test]
fn tables_need_columns_and_files_with_other_columns_are_refused() {
    let folder = Folder::new();
    let (one, other) = (folder.write("a.csv", "x,r\n1,2\n"), folder.write("b.csv", "y,r\n1,2\n"));
    assert_eq!(
        folder.no_summary(&Plan::default(), std::slice::from_ref(&one)),
        "a.csv: a CSV table needs the name of its reward"
    );
    let all = plan(Selection::new("*", "r"));
    assert_eq!(
        folder.no_summary(&all, &[one, other]),
        "b.csv: there is no column named `x`; the columns are `y`, `r`"
    );
    let empty = folder.write("empty.csv", "x,r\n");
    assert_eq!(folder.no_summary(&all, &[empty]), "empty.csv: there are columns, but no rows");
    // A told format wins over the ending.
    let strange = folder.write("a.log", "x,r\n1,2\n");
    assert!(
        folder.no_summary(&all, std::slice::from_ref(&strange)).starts_with("a.log: the format is not clear")
    );
    let told = Plan { format: Some(Format::Csv), ..all };
    Brute::new(vec![vec![1.0]], vec![2.0]).check_tight(&summary(&told, &[strange]));
}

#[test]
fn a_feature_that_only_later_lines_have_is_not_lost_without_a_word() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", "{\"f_a\":1,\"r\":2}\n{\"f_a\":1,\"f_b\":5,\"r\":2}\n");
    assert_eq!(
        folder.no_summary(&plan(Selection::new("f_*", "r")), &[path]),
        "a.jsonl, line 2: column `f_b` matches the features, but is not in the first line"
    );
}
