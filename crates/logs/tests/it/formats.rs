use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int64Array, StringArray, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    UInt64Array, types::Int32Type,
};
use arrow_schema::Field;
use parquet::basic::Compression as Codec;
use truenorth_logs::{Batches, Missing, Selection, Table};

use crate::support::{Folder, array, gzipped, plan, summary};

const CSV: &str = "day,f_b,note,reward,f_a,f_c\n\
    mon,1,\"a, \"\"b\"\"\",0.5,true,-2.5\n\
    tue,2,,0.25,false,1e-3\n\
    mon,3,x,0,true,7\n\
    wed,-4,x,1,true,0.1\n";

const JSON: &str = r#"{"day": "mon", "f_b": 1, "note": {"a": [1]}, "reward": 0.5, "f_a": true, "f_c": -2.5}
{"f_c": 1e-3, "f_a": false, "reward": 0.25, "new": 1, "f_b": 2, "day": "tue"}

{"day": "mon", "f_b": 3, "note": null, "reward": 0, "f_a": true, "f_c": 7.0}
{"day": "wed", "f_b": -4, "note": "x", "reward": 1, "f_a": true, "f_c": 0.1}
"#;

fn selection() -> Selection {
    Selection::new("f_a,f_*", "reward").with_round("day")
}

fn expected() -> Table {
    Table {
        names: ["f_a", "f_b", "f_c"].map(str::to_owned).to_vec(),
        features: vec![1.0, 1.0, -2.5, 0.0, 2.0, 1e-3, 1.0, 3.0, 7.0, 1.0, -4.0, 0.1],
        rewards: vec![0.5, 0.25, 0.0, 1.0],
        rounds: Some(vec![0, 1, 0, 2]),
    }
}

#[test]
fn every_format_gives_the_same_table() {
    let folder = Folder::new();
    let mut paths = Vec::new();
    for name in ["a.csv", "a.csv.gz", "A.CSV"] {
        paths.push(folder.write(name, CSV));
    }
    for name in ["a.jsonl", "a.ndjson", "a.jsonl.gz"] {
        paths.push(folder.write(name, JSON));
    }
    for (name, codec) in [
        ("plain.parquet", Codec::UNCOMPRESSED),
        ("snappy.parquet", Codec::SNAPPY),
        ("gzip.parquet", Codec::GZIP(parquet::basic::GzipLevel::default())),
        ("zstd.parquet", Codec::ZSTD(parquet::basic::ZstdLevel::default())),
    ] {
        let columns = vec![
            ("day", array(StringArray::from(vec!["mon", "tue", "mon", "wed"]))),
            ("f_b", array(Int8Array::from(vec![1, 2, 3, -4]))),
            ("note", array(StringArray::from(vec![Some("a"), None, Some("x"), Some("x")]))),
            ("reward", array(Float32Array::from(vec![0.5, 0.25, 0.0, 1.0]))),
            ("f_a", array(BooleanArray::from(vec![true, false, true, true]))),
            ("f_c", array(Float64Array::from(vec![-2.5, 1e-3, 7.0, 0.1]))),
        ];
        paths.push(folder.write_parquet(name, codec, columns));
    }
    for path in paths {
        assert_eq!(Table::read(&path, &selection()).unwrap(), expected(), "{}", path.display());
    }
    let table = expected();
    assert_eq!(table.rows_by_round().unwrap(), [vec![0, 2], vec![1], vec![3]]);
    assert_eq!((table.row(1), table.len()), (&[0.0, 2.0, 1e-3][..], 4));
}

#[test]
fn a_second_file_is_read_in_the_order_of_the_first() {
    let folder = Folder::new();
    let first = Table::read(folder.write("a.csv", CSV), &Selection::new("f_*", "reward")).unwrap();
    assert_eq!(first.rounds, None);
    let second = folder.write("b.jsonl", r#"{"f_c": 3, "f_d": 4, "f_a": 1, "pay": 5, "f_b": 2}"#);
    let table = Table::read(&second, &Selection::named(&first.names, "pay")).unwrap();
    assert_eq!((table.names, table.features), (first.names.clone(), vec![2.0, 1.0, 3.0]));
    let third = folder.write("c.csv", "f_a,f_c,pay\n1,2,3\n");
    assert_eq!(
        folder.refused(&third, &Selection::named(&first.names, "pay")),
        "c.csv: there is no column named `f_b`; the columns are `f_a`, `f_c`, `pay`"
    );
}

#[test]
fn csv_with_every_habit_of_its_writers_is_read() {
    let folder = Folder::new();
    let table = |content: &str| {
        let path = folder.write("a.csv", content);
        Table::read(path, &Selection::new("x*", "r").with_round("t")).unwrap()
    };
    let plain = table("t,x1,x2,r\n1,2,3,4\n5,6,7,8\n");
    assert_eq!(plain.features, [2.0, 3.0, 6.0, 7.0]);
    for content in [
        "\u{feff}t,x1,x2,r\r\n1,2,3,4\r\n5,6,7,8",
        "\n t, x1, x2, r \n\n1, 2, 3, 4 \n   \n5,6,7,8\n\n",
        "\"t\",\"x1\",\"x2\",\"r\"\r\n\"1\",\"2\",\"3\",\"4\"\r\n\"5\",\"6\",\"7\",\"8\"\r\n",
        "t,no,x1,x2,r\n1,\"two\n\nlines\",2,3,4\n5,5\" wide,6,7,8\n",
        "x1,x2,r,t\n2,3,4,5\n6,7,8,four\n",
    ] {
        assert_eq!(table(content), plain, "{content}");
    }
}

#[test]
fn parquet_columns_of_every_kind_of_number_convert() {
    let folder = Folder::new();
    let decimals = Decimal128Array::from(vec![150, -25]).with_precision_and_scale(10, 2).unwrap();
    let categories: DictionaryArray<Int32Type> = ["b", "a"].into_iter().collect();
    let path = folder.write_parquet(
        "a.parquet",
        Codec::SNAPPY,
        vec![
            ("x1", array(UInt64Array::from(vec![1, u64::MAX]))),
            ("x2", array(decimals)),
            ("x3", array(Int64Array::from(vec![-1, 0]))),
            ("r", array(BooleanArray::from(vec![true, false]))),
            ("t", array(categories)),
        ],
    );
    let table = Table::read(&path, &Selection::new("x*", "r").with_round("t")).unwrap();
    assert_eq!(table.features, [1.0, 1.5, -1.0, 18_446_744_073_709_551_615.0, -0.25, 0.0]);
    assert_eq!((table.rewards, table.rounds), (vec![1.0, 0.0], Some(vec![0, 1])));
    // Rounds are compared as text, whatever their type.
    let table = Table::read(&path, &Selection::new("x2", "r").with_round("x3")).unwrap();
    assert_eq!(table.rounds, Some(vec![0, 1]));
}

#[test]
fn a_moment_is_one_text_in_every_unit_and_zone() {
    let folder = Folder::new();
    // Midnight, half past twelve, and a quarter of a second later.
    let midnight = 20_454 * 345_600;
    let quarters = [midnight, midnight + 180_000, midnight + 180_001];
    let [millis, micros, nanos] =
        [250, 250_000, 250_000_000].map(|unit| quarters.map(|quarter| quarter * unit).to_vec());
    let texts = |zone: &str| {
        [
            "2026-01-01".to_owned(),
            format!("2026-01-01T12:30:00.25{zone}"),
            format!("2026-01-01T12:30:00{zone}"),
        ]
    };
    let moments: [(ArrayRef, [String; 3]); 4] = [
        (array(TimestampMillisecondArray::from(millis.clone())), texts("")),
        (array(TimestampMicrosecondArray::from(micros.clone()).with_timezone("UTC")), texts("Z")),
        (array(TimestampNanosecondArray::from(nanos.clone()).with_timezone("Europe/Berlin")), texts("Z")),
        (array(TimestampNanosecondArray::from(nanos).with_timezone("+02:00")), texts("Z")),
    ];
    for (column, texts) in moments {
        let columns = || vec![("t", column.clone()), ("r", array(Int8Array::from(vec![1, 0, 1])))];
        let mut names: Vec<String> = texts.iter().map(|text| format!("t={text}")).collect();
        names.sort();
        names.dedup();
        for path in [
            folder.write_parquet("a.parquet", Codec::SNAPPY, columns()),
            folder.write_arrow("a.arrow", None, columns()),
            folder.write_arrow("a.arrows", None, columns()),
        ] {
            let told = plan(Selection::new("", "r").with_categories("t", ""));
            assert_eq!(summary(&told, &[path]).names(), names, "{:?}", column.data_type());
        }
    }
    let columns = vec![
        ("day", array(Date32Array::from(vec![20_454, 20_454]))),
        ("date", array(Date64Array::from(vec![0, 0]))),
        ("second", array(TimestampSecondArray::from(vec![0, 1]))),
        ("time", array(Time64MicrosecondArray::from(vec![0, 500_000]))),
        ("r", array(Int8Array::from(vec![1, 0]))),
    ];
    let path = folder.write_arrow("b.arrow", None, columns);
    let told = plan(Selection::new("", "r").with_categories("*", ""));
    let names = [
        "date=1970-01-01",
        "day=2026-01-01",
        "second=1970-01-01",
        "second=1970-01-01T00:00:01",
        "time=00:00:00",
        "time=00:00:00.5",
    ];
    assert_eq!(summary(&told, &[path]).names(), names);
}

#[test]
fn fields_of_structures_are_columns_with_dots_as_those_of_json_are() {
    let folder = Folder::new();
    let field = |name: &str, data: &ArrayRef| Arc::new(Field::new(name, data.data_type().clone(), true));
    let (age, level) =
        (array(Int64Array::from(vec![30, 41, 7])), array(StringArray::from(vec!["a", "b", "b"])));
    let account: ArrayRef = array(StructArray::from(vec![(field("plan", &level), level.clone())]));
    // The last user is missing, whatever their fields say.
    let user = StructArray::try_new(
        vec![field("age", &age), field("account", &account)].into(),
        vec![age, account],
        Some(vec![true, true, false].into()),
    );
    let user = array(user.unwrap());
    let columns = || {
        let (other, reward) = (Int8Array::from(vec![1, 2, 3]), Int8Array::from(vec![1, 0, 1]));
        vec![("other", array(other)), ("user", user.clone()), ("r", array(reward))]
    };
    let json = "{\"other\":1,\"user\":{\"age\":30,\"account\":{\"plan\":\"a\"}},\"r\":1}\n\
        {\"other\":2,\"user\":{\"age\":41,\"account\":{\"plan\":\"b\"}},\"r\":0}\n\
        {\"other\":3,\"user\":null,\"r\":1}\n";
    let model = |formula: &str| {
        let mut told = plan(Selection::model(Some(formula.parse().unwrap()), "r"));
        told.tolerance.missing = Missing::Drop;
        told
    };
    for formula in ["user.age + user.account.plan", "user.age", "user.* + other", "other"] {
        let told = model(formula);
        let expected = summary(&told, &[folder.write("a.jsonl", json)]);
        for path in [
            folder.write_parquet("a.parquet", Codec::SNAPPY, columns()),
            folder.write_arrow("a.arrow", None, columns()),
            folder.write_arrow("a.arrows", None, columns()),
        ] {
            let found = summary(&told, &[path]);
            assert_eq!((found.names(), found.rows()), (expected.names(), expected.rows()), "{formula}");
            assert_eq!(found.statistic().unwrap(), expected.statistic().unwrap(), "{formula}");
        }
    }
}

#[test]
fn an_arrow_file_is_read_by_its_footer() {
    let folder = Folder::new();
    let columns = vec![
        ("x", array(Float64Array::from(vec![1.0, 2.0, 3.0]))),
        ("r", array(Float64Array::from(vec![0.5, 0.25, 1.0]))),
    ];
    let path = folder.write_arrow("a.arrow", None, columns);
    let selection = Selection::new("x", "r");
    let expected = Table::read(&path, &selection).unwrap();
    let whole = std::fs::read(&path).unwrap();
    // polars leaves half of a message behind the magic.
    let other = [&whole[..8], &[4, 0, 0, 0, 0xF2, 0xFF, 0xFF, 0xFF], &whole[16..]].concat();
    assert_eq!(Table::read(folder.write("b.arrow", other), &selection).unwrap(), expected);
    let polars =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arrow/polars.arrow");
    assert_eq!(Table::read(polars, &Selection::new("x1", "r")).unwrap().rewards, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let mut huge = whole.clone();
    huge[whole.len() - 10..whole.len() - 6].copy_from_slice(&i32::MAX.to_le_bytes());
    for damaged in [&whole[..whole.len() - 20], &whole[..12], &huge] {
        assert_eq!(
            folder.refusal("c.arrow", damaged, &selection),
            "c.arrow: the Arrow file cannot be read: its footer is damaged, or it was not written to its end"
        );
    }
}

#[test]
fn rounds_are_the_same_by_their_text_only() {
    let folder = Folder::new();
    let lines = ["7", "\"7\"", "7.0", "true", "\"\\u0037\"", "18446744073709551617", "18446744073709551618"];
    let content: Vec<_> = lines.iter().map(|t| format!("{{\"x\":1,\"r\":1,\"t\":{t}}}")).collect();
    let path = folder.write("a.jsonl", content.join("\n"));
    let table = Table::read(path, &Selection::new("x", "r").with_round("t")).unwrap();
    assert_eq!(table.rounds, Some(vec![0, 0, 1, 2, 0, 3, 4]));
}

#[test]
fn long_files_come_in_batches_and_rounds_go_on_across_them() {
    let folder = Folder::new();
    let mut csv = "t,x,r\n".to_owned();
    let mut json = String::new();
    for row in 0..20_000 {
        let round = row % 7000;
        writeln!(csv, "{round},{row},0.5").unwrap();
        writeln!(json, r#"{{"t":{round},"x":{row},"r":0.5}}"#).unwrap();
    }
    // A file in two gzip members is one file.
    let (head, tail) = csv.as_bytes().split_at(50_000);
    let members = [gzipped(head), gzipped(tail)].concat();
    let path = folder.path("members.csv.gz");
    std::fs::write(&path, members).unwrap();
    for path in [folder.write("a.csv", &csv), folder.write("a.jsonl", json), path] {
        let selection = Selection::new("x", "r").with_round("t");
        let batches: Vec<_> = Batches::open(&path, &selection).unwrap().map(Result::unwrap).collect();
        assert!(batches.len() > 1 && batches.iter().all(|batch| batch.rewards.len() <= 8192));
        let table = Table::read(&path, &selection).unwrap();
        let groups = table.rows_by_round().unwrap();
        assert_eq!((table.len(), groups.len()), (20_000, 7000));
        assert_eq!(groups[3], [3, 7003, 14_003]);
        assert!((0..table.len()).all(|row| table.row(row) == [row as f64]));
    }
}
