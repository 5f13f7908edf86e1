use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray};
use parquet::basic::Compression as Codec;
use truenorth_logs::{Selection, Table};

use crate::support::{Folder, array};

#[test]
fn damaged_parquet_is_refused_in_words_and_never_a_panic() {
    let folder = Folder::new();
    let columns = vec![
        ("t", array(StringArray::from(vec!["a", "b", "a", "c"]))),
        ("x1", array(Float64Array::from(vec![Some(0.1), None, Some(0.3), Some(0.4)]))),
        ("x2", array(BooleanArray::from(vec![true, false, true, true]))),
        ("r", array(Int64Array::from(vec![1, 2, 3, 4]))),
    ];
    let whole = std::fs::read(folder.write_parquet("whole.parquet", Codec::SNAPPY, columns)).unwrap();
    let selection = Selection::new("x*", "r").with_round("t");
    let damaged = folder.path("damaged.parquet");
    for length in 1..whole.len() {
        std::fs::write(&damaged, &whole[..length]).unwrap();
        let said = folder.refused(&damaged, &selection);
        assert!(said.starts_with("damaged.parquet: the Parquet file cannot be read: "), "{said}");
    }
    for position in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[position] ^= 0xFF;
        std::fs::write(&damaged, bytes).unwrap();
        // Some bytes are of no account, so this may succeed.
        let _ = Table::read(&damaged, &selection);
    }
    assert_eq!(
        folder.refusal("text.parquet", "t,x,r\n1,2,3\n", &selection),
        "text.parquet: the Parquet file cannot be read: Parquet error: Invalid Parquet file. Corrupt footer"
    );
}

#[test]
fn lines_that_do_not_end_are_refused_before_they_fill_the_memory() {
    let folder = Folder::new();
    let selection = Selection::new("x", "r");
    for name in ["a.csv", "a.jsonl"] {
        let said = folder.refusal(name, vec![b'x'; 70_000_000], &selection);
        assert_eq!(said, format!("{name}, line 1: the record is longer than 64 MB"));
    }
}

#[cfg(not(debug_assertions))]
#[test]
fn quotes_that_do_not_end_are_refused_before_they_fill_the_memory() {
    let folder = Folder::new();
    let mut quoted = b"x,r\n1,2\n3,\"".to_vec();
    for _ in 0..70 {
        quoted.resize(quoted.len() + 1_000_000, b'4');
        quoted.push(b'\n');
    }
    let said = folder.refusal("a.csv", quoted, &Selection::new("x", "r"));
    assert_eq!(said, "a.csv, line 3: the record is longer than 64 MB");
}
