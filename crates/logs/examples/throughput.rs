//! How fast a Parquet file is summarized, beside the parquet crate alone decoding the same columns on as many
//! threads, in one run.
//!
//! ```text
//! cargo run --release -p truenorth-logs --example throughput -- FILE FEATURES REWARD [THREADS]
//! ```

use std::fs::File;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use truenorth_logs::{Plan, Selection};

const REPETITIONS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, features, reward, rest @ ..] = arguments.as_slice() else {
        return Err("give FILE FEATURES REWARD [THREADS]".into());
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = rest.first().map_or(Ok(cores), |threads| threads.parse())?;
    let selection = Selection::new(features, reward);
    let plan = Plan { selection: Some(selection), threads, ..Plan::default() };
    let path = PathBuf::from(path);
    let summary = plan.summarize(std::slice::from_ref(&path), &|_| {})?;
    let mut columns = summary.names();
    columns.push(reward.clone());
    let rows = summary.rows();
    let (mut alone, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        alone.push(seconds(|| decode(&path, &columns, threads)));
        ours.push(seconds(|| plan.summarize(std::slice::from_ref(&path), &|_| {}).map(|_| ())));
    }
    let (alone, ours) = (median(alone), median(ours));
    let rate = |seconds: f64| rows as f64 / seconds / 1e6;
    println!("{rows} rows, {} columns, {threads} threads, median of {REPETITIONS}", columns.len());
    println!(
        "parquet alone {:.1} million rows/s, summarize {:.1}, ratio {:.2}",
        rate(alone),
        rate(ours),
        alone / ours
    );
    Ok(())
}

/// Decodes the columns and throws them away, a row group at a time on each thread, with the batch size that is
/// fastest for it.
fn decode(path: &PathBuf, columns: &[String], threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let metadata = ArrowReaderMetadata::load(
        &File::open(path)?,
        parquet::arrow::arrow_reader::ArrowReaderOptions::new(),
    )?;
    let groups = metadata.metadata().num_row_groups();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= groups {
                        break;
                    }
                    let file = File::open(path).expect("the file was there before");
                    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
                    let mask =
                        ProjectionMask::columns(builder.parquet_schema(), columns.iter().map(String::as_str));
                    let builder =
                        builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(8192);
                    for batch in builder.build().expect("it was read before") {
                        black_box(batch.expect("it was read before"));
                    }
                }
            });
        }
    });
    Ok(())
}

fn seconds<E: std::fmt::Debug>(work: impl FnOnce() -> Result<(), E>) -> f64 {
    let start = Instant::now();
    work().expect("it worked before");
    start.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
