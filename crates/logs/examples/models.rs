//! What a model costs: rows summed up by one, beside plain columns of numbers.
//!
//! `cargo run --release -p truenorth-logs --example models`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use truenorth_logs::{Plan, Selection};

const ROWS: usize = 200_000;
const MODEL: &str = "n0 + n1 + n2 + n3 + n4 + n5 + c0 + c1 + c0:c1";
const PLAIN: &str = "n0,n1,n2,n3,n4,n5,m0,m1";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("truenorth-models-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let files = [folder.join("rows.csv"), folder.join("rows.parquet")];
    write_csv(&files[0])?;
    write_parquet(&files[1])?;
    for path in &files {
        let plain = seconds(path, Selection::new(PLAIN, "reward"));
        let model = seconds(path, Selection::model(Some(MODEL.parse()?), "reward"));
        let each = |seconds: f64| seconds * 1e9 / ROWS as f64;
        println!(
            "{}: {:.0} ns a row of 8 numbers, {:.0} ns a row of the model, {:.2} times",
            path.extension().unwrap_or_default().display(),
            each(plain),
            each(model),
            model / plain
        );
    }
    // As many columns as the model has features: 6 numbers, 10 levels twice, and 100 of both.
    let many = folder.join("many.parquet");
    let numbers = (0..126).map(|column| (format!("p{column}"), numbers(column)));
    write_table(&many, numbers.chain([("reward".to_owned(), self::numbers(130))]))?;
    let plain = seconds(&many, Selection::new("p*", "reward")) * 1e9 / ROWS as f64;
    println!("parquet: {plain:.0} ns a row of 126 numbers");
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// The median of seven runs on one thread, but for the survey of the first rows, which is not a matter of each row.
fn seconds(path: &Path, selection: Selection) -> f64 {
    let plan = Plan { selection: Some(selection), threads: 1, ..Plan::default() };
    let paths: [PathBuf; 1] = [path.to_owned()];
    let earlier = plan.summarize(&paths, &|_| {}).expect("the file is read");
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            let found = plan.summarize_alike(&earlier, &paths, &|_| {}).expect("the file is read");
            assert_eq!(found.rows(), ROWS as u64);
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[3]
}

fn number(row: usize, column: usize) -> f64 {
    ((row * 7919 + column * 104_729) % 1000) as f64 / 250.0 - 2.0
}

fn level(row: usize, column: usize) -> usize {
    (row * 31 + column * 17 + row / 7) % 10
}

fn write_csv(path: &Path) -> std::io::Result<()> {
    let mut text = "n0,n1,n2,n3,n4,n5,m0,m1,c0,c1,reward\n".to_owned();
    for row in 0..ROWS {
        for column in 0..8 {
            let _ = write!(text, "{},", number(row, column));
        }
        let _ = writeln!(text, "level{},level{},{}", level(row, 0), level(row, 1), number(row, 9));
    }
    std::fs::write(path, text)
}

fn write_parquet(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let levels = |column: usize| -> ArrayRef {
        let texts = (0..ROWS).map(|row| format!("level{}", level(row, column)));
        Arc::new(StringArray::from_iter_values(texts))
    };
    let named = ["n0", "n1", "n2", "n3", "n4", "n5", "m0", "m1"].into_iter().enumerate();
    let columns = named.map(|(column, name)| (name, numbers(column)));
    write_table(path, columns.chain([("c0", levels(0)), ("c1", levels(1)), ("reward", numbers(9))]))
}

fn numbers(column: usize) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| number(row, column))))
}

fn write_table<N: AsRef<str>>(
    path: &Path,
    columns: impl Iterator<Item = (N, ArrayRef)>,
) -> Result<(), Box<dyn std::error::Error>> {
    let batch = RecordBatch::try_from_iter(columns)?;
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path)?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}
