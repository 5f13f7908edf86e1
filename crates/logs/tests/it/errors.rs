use arrow_array::{Float64Array, Int32Array, StringArray};
use parquet::basic::Compression as Codec;
use truenorth_logs::{Batches, Place, Problem, Selection, Table};

use crate::support::{Folder, array, gzipped};

fn selection() -> Selection {
    Selection::new("x*", "r").with_round("t")
}

#[test]
fn files_that_are_not_there_or_say_nothing() {
    let folder = Folder::new();
    let refused = |name: &str| folder.refused(&folder.path(name), &selection());
    assert_eq!(refused("none.csv"), "none.csv: No such file or directory (os error 2)");
    assert_eq!(refused("none.parquet"), "none.parquet: No such file or directory (os error 2)");
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    assert_eq!(refused("folder.csv"), "folder.csv: this is a folder, but a file is wanted");
    assert_eq!(
        folder.refusal("a.txt", "x\t1", &selection()),
        "a.txt: the format is not clear; known endings are .csv, .tsv, .jsonl, .ndjson, .vw, .dsjson, .json (or these \
         with .gz), .parquet, .arrow, .arrows, .feather, .ipc"
    );
    for name in ["a.csv", "a.jsonl", "a.csv.gz", "a.parquet"] {
        std::fs::write(folder.path(name), "").unwrap();
        assert_eq!(refused(name), format!("{name}: the file is empty"));
    }
    for name in ["a.csv", "a.jsonl", "a.csv.gz"] {
        assert_eq!(folder.refusal(name, "\n \r\n", &selection()), format!("{name}: the file is empty"));
    }
    assert_eq!(folder.refusal("a.csv", "t,x,r\n\n", &selection()), "a.csv: there are columns, but no rows");
    let none = folder.write_parquet(
        "none.parquet",
        Codec::UNCOMPRESSED,
        ["t", "x", "r"].map(|name| (name, array(Int32Array::from(Vec::<i32>::new())))).to_vec(),
    );
    assert_eq!(folder.refused(&none, &selection()), "none.parquet: there are columns, but no rows");
}

#[test]
fn columns_that_are_not_there() {
    let folder = Folder::new();
    let csv = "t,y,r\n1,2,3\n";
    assert_eq!(
        folder.refusal("a.csv", csv, &selection()),
        "a.csv: no column matches `x*`; the columns are `t`, `y`, `r`"
    );
    assert_eq!(
        folder.refusal("a.csv", csv, &Selection::new("y", "reward")),
        "a.csv: there is no column named `reward`; the columns are `t`, `y`, `r`"
    );
    assert_eq!(
        folder.refusal("a.jsonl", r#"{"y":1,"r":2}"#, &Selection::new("y", "r").with_round("t")),
        "a.jsonl: there is no column named `t`; the columns are `y`, `r`"
    );
    assert_eq!(folder.refusal("a.csv", "x,x,r,t\n", &selection()), "a.csv: there are two columns named `x`");
}

#[test]
fn values_of_csv_that_are_no_numbers_with_their_line() {
    let folder = Folder::new();
    let refusal = |row: &str| folder.refusal("a.csv", format!("t,x,r\n1,2,3\n{row}\n"), &selection());
    assert_eq!(refusal("1,abc,3"), "a.csv, line 3: column `x` holds \"abc\", not a number");
    assert_eq!(refusal("1,2,1;5"), "a.csv, line 3: column `r` holds \"1;5\", not a number");
    assert_eq!(refusal("1,,3"), "a.csv, line 3: column `x` has no value");
    assert_eq!(refusal("1,2, "), "a.csv, line 3: column `r` has no value");
    assert_eq!(refusal("\"\",2,3"), "a.csv, line 3: column `t` has no value");
    for value in ["NaN", "inf", "-1e51", "1e999"] {
        assert_eq!(
            refusal(&format!("1,{value},3")),
            format!(
                "a.csv, line 3: column `x` holds {value}, but numbers must be finite and at most 1e50 in size"
            )
        );
    }
    assert_eq!(refusal("1,2"), "a.csv, line 3: there are 2 fields, but the header has 3");
    assert_eq!(refusal("1,2,3,"), "a.csv, line 3: there are 4 fields, but the header has 3");
    assert_eq!(refusal("1,2,\"3"), "a.csv, line 3: a quote opens here and is never closed");
}

#[test]
fn lines_are_those_of_an_editor() {
    let folder = Folder::new();
    for (content, line) in [
        ("t,x,r\r\n1,2,3\r\n1,?,3\r\n", 3),
        ("t,x,r\n\n1,2,3\n\n\n1,?,3\n", 6),
        ("\r\n\r\nt,x,r\r\n\r\n1,?,3\r\n", 5),
        ("t,x,r\n\"two\nlines\",2,3\n1,?,3\n", 4),
        ("t,x,r\n\"two\n\nlines\",?,3\n", 2),
        ("t,\"x\",r\n1,?,3", 2),
    ] {
        assert_eq!(
            folder.refusal("a.csv", content, &selection()),
            format!("a.csv, line {line}: column `x` holds \"?\", not a number"),
            "{content:?}"
        );
    }
    // Far behind everything that a first look at the types would see.
    let content = format!("t,x,r\n{}1,2.5e,3\n", "1,2,3\n".repeat(20_000));
    assert_eq!(
        folder.refusal("a.csv.gz", content, &selection()),
        "a.csv.gz, line 20002: column `x` holds \"2.5e\", not a number"
    );
}

#[test]
fn values_of_json_that_are_no_numbers_with_their_line() {
    let folder = Folder::new();
    let refusal = |line: &str| {
        let content = format!("{}\n\n{line}\n", r#"{"t":1,"x":2,"r":3}"#);
        folder.refusal("a.jsonl", content, &selection())
    };
    assert_eq!(refusal(r#"{"t":1,"x":"2","r":3}"#), "a.jsonl, line 3: column `x` holds \"2\", not a number");
    assert_eq!(
        refusal(r#"{"t":1,"x":[2],"r":3}"#),
        "a.jsonl, line 3: column `x` holds \"[2]\", not a number"
    );
    for line in [r#"{"t":1,"x":null,"r":3}"#, r#"{"t":1,"r":3}"#] {
        assert_eq!(refusal(line), "a.jsonl, line 3: column `x` has no value");
    }
    for line in [r#"{"t":"","x":2,"r":3}"#, r#"{"t":null,"x":2,"r":3}"#, r#"{"x":2,"r":3}"#] {
        assert_eq!(refusal(line), "a.jsonl, line 3: column `t` has no value");
    }
    assert_eq!(
        refusal(r#"{"t":1,"x":2,"r":1e51}"#),
        "a.jsonl, line 3: column `r` holds 1e51, but numbers must be finite and at most 1e50 in size"
    );
    assert_eq!(
        refusal(r#"{"t":1,"x":2,"r":3,"x2":4}"#),
        "a.jsonl, line 3: column `x2` matches the features, but is not in the first line"
    );
    assert_eq!(refusal(r#"{"t":1,"x":2,"r":3,"x":4}"#), "a.jsonl, line 3: there are two columns named `x`");
    assert_eq!(
        refusal(r#"{"t":1,"x":2,"r":3"#),
        "a.jsonl, line 3: this is not a JSON object: EOF while parsing an object at column 18"
    );
    assert_eq!(
        refusal(r#"{"t":1,"x":NaN,"r":3}"#),
        "a.jsonl, line 3: this is not a JSON object: expected value at column 12"
    );
    assert_eq!(
        refusal("{} {}"),
        "a.jsonl, line 3: this is not a JSON object: trailing characters at column 4"
    );
    assert_eq!(
        folder.refusal("a.jsonl", "[\n{\"x\":1}\n]", &selection()),
        "a.jsonl, line 1: this is not a JSON object: invalid type: sequence, expected an object at column 1"
    );
}

#[test]
fn values_of_parquet_that_are_no_numbers_with_their_row() {
    let folder = Folder::new();
    let refusal = |x| {
        let columns = vec![
            ("t", array(Int32Array::from(vec![1, 1, 2, 2, 2]))),
            ("x", x),
            ("r", array(Int32Array::from(vec![0; 5]))),
        ];
        folder.refused(&folder.write_parquet("a.parquet", Codec::SNAPPY, columns), &selection())
    };
    let numbers = |last| array(Float64Array::from(vec![Some(1.0), Some(2.0), Some(3.0), Some(4.0), last]));
    assert_eq!(refusal(numbers(None)), "a.parquet, row 5: column `x` has no value");
    for (value, shown) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf"), (1e51, "1e51")] {
        assert_eq!(
            refusal(numbers(Some(value))),
            format!(
                "a.parquet, row 5: column `x` holds {shown}, but numbers must be finite and at most 1e50 in size"
            )
        );
    }
    let texts = vec![Some("1"), None, Some("3"), Some("4"), Some("5")];
    assert_eq!(
        refusal(array(StringArray::from(texts))),
        "a.parquet, row 1: column `x` holds \"1\", not a number"
    );
    let nothing = array(arrow_array::NullArray::new(5));
    assert_eq!(refusal(nothing), "a.parquet, row 1: column `x` has no value");
    let dates = array(arrow_array::Date32Array::from(vec![19_000; 5]));
    assert_eq!(refusal(dates), "a.parquet, row 1: column `x` holds \"2022-01-08\", not a number");
}

#[test]
fn bytes_that_are_no_text_with_their_line() {
    let folder = Folder::new();
    assert_eq!(
        folder.refusal("a.csv", b"t,x,r\n1,2,3\nCaf\xE9,2,3\n", &selection()),
        "a.csv, line 3: byte 0xE9 is not UTF-8 text"
    );
    assert_eq!(
        folder.refusal("a.csv", b"t,x\xFF,r\n1,2,3\n", &selection()),
        "a.csv, line 1: byte 0xFF is not UTF-8 text"
    );
    assert_eq!(
        folder.refusal("a.jsonl", b"{\"t\":1,\"x\":2,\"r\":3}\n{\"\xC3\":1}\n", &selection()),
        "a.jsonl, line 2: byte 0xC3 is not UTF-8 text"
    );
    // One character torn apart by a comma is no text either.
    let torn = folder.refusal("a.csv", b"t,x,r\n\xC3,\xA9,3\n", &selection());
    assert!(torn.starts_with("a.csv, line 2: "), "{torn}");
}

#[test]
fn gzip_that_is_damaged() {
    let folder = Folder::new();
    let whole = gzipped(format!("t,x,r\n{}", "1,2,3\n".repeat(100)).as_bytes());
    let refused = |bytes: &[u8]| {
        let path = folder.path("a.csv.gz");
        std::fs::write(&path, bytes).unwrap();
        folder.refused(&path, &selection())
    };
    let mut flipped = whole.clone();
    let checksum = whole.len() - 8;
    flipped[checksum] ^= 1;
    for (bytes, sentence) in [
        (b"t,x,r\n1,2,3\n".to_vec(), "line 1: the gzip data is damaged: invalid gzip header"),
        (whole[..whole.len() - 12].to_vec(), "the gzip data is damaged: incomplete deflate stream"),
        (flipped, "the gzip data is damaged: corrupt gzip stream does not have a matching checksum"),
        ([&whole[..], b"more"].concat(), "the gzip data is damaged: "),
    ] {
        let said = refused(&bytes);
        assert!(said.starts_with("a.csv.gz, line ") && said.contains(sentence), "{said}");
    }
}

#[test]
fn nothing_comes_after_an_error_and_its_parts_can_be_asked_for() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "t,x,r\n1,2,3\n1,?,3\n1,2,3\n");
    let mut batches = Batches::open(&path, &selection()).unwrap();
    assert_eq!(batches.names(), ["x"]);
    let error = batches.next().unwrap().unwrap_err();
    assert_eq!((&error.path, error.place), (&path, Place::Line(3)));
    assert!(matches!(error.problem, Problem::NotANumber { column, value } if column == "x" && value == "?"));
    assert!(batches.next().is_none());
    assert!(Table::read(&path, &Selection::new("r", "x")).is_err());
}
