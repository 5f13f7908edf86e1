//! Rows of numbers in memory, as Arrow batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};

use super::Memory;
use crate::selection::batch_rows;

/// Batches of an array that holds rows of features, one after another, and a reward for each: turned to columns a
/// batch at a time, so that memory does not grow with the array.
///
/// # Panics
///
/// When a batch is asked for, if there are fewer features than rewards call for.
pub fn array_batches<'a>(
    names: &[String],
    features: &'a [f64],
    reward: &str,
    rewards: &'a [f64],
) -> Memory<'a> {
    let names = names.iter().map(String::as_str).chain([reward]);
    let fields: Vec<Field> = names.map(|name| Field::new(name, DataType::Float64, false)).collect();
    let (width, schema) = (fields.len() - 1, Arc::new(Schema::new(fields)));
    let (rows, shared) = (batch_rows(width), Arc::clone(&schema));
    let batch = move |(place, rewards): (usize, &[f64])| {
        let features = &features[place * rows * width..][..rewards.len() * width];
        let column = |place| features.iter().skip(place).step_by(width).copied().collect();
        let columns = (0..width).map(column).chain([rewards.to_vec()]);
        let columns: Vec<ArrayRef> =
            columns.map(|column| Arc::new(Float64Array::from(column)) as ArrayRef).collect();
        RecordBatch::try_new(Arc::clone(&shared), columns)
    };
    Box::new(RecordBatchIterator::new(rewards.chunks(rows).enumerate().map(batch), schema))
}
