//! A table in parts is the table, wherever the parts end.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use truenorth_logs::{Missing, Plan, Selection, Summary, Tolerance};

const ROWS: usize = 60_000;

fn rows() -> RecordBatch {
    let number = |row: usize, by: usize| ((row * by + row / 7) % 1009) as f64 / 252.0 - 2.0;
    let optional = |row: usize| (!row.is_multiple_of(13)).then(|| number(row, 31));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| number(row, 7919))))),
        // Rounded the same way in every row.
        ("tenth", Arc::new(Float64Array::from_iter_values((0..ROWS).map(|_| 0.1)))),
        ("gap", Arc::new((0..ROWS).map(optional).collect::<Float64Array>())),
        ("item", Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| ["a", "b", "c"][row / 3 % 3])))),
        ("member", Arc::new((0..ROWS).map(|row| Some(row % 5 == 0)).collect::<BooleanArray>())),
        ("visit", Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("v{row}"))))),
        ("reward", Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| number(row, 101))))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn batches(batch: RecordBatch) -> Box<dyn RecordBatchReader + Send> {
    let schema = batch.schema();
    Box::new(RecordBatchIterator::new([Ok(batch)], schema))
}

fn in_parts(plan: &Plan, rows: &RecordBatch, ends: &[usize]) -> Summary {
    let starts = [0].into_iter().chain(ends.iter().copied());
    let parts = starts.zip(ends.iter().copied().chain([ROWS]));
    let parts: Vec<RecordBatch> = parts.map(|(start, end)| rows.slice(start, end - start)).collect();
    let surveys = parts.iter().map(|part| plan.survey_batches(batches(part.clone()), "t").unwrap());
    let survey = surveys.reduce(|mut all, next| {
        all.merge(next).unwrap();
        all
    });
    let made = plan.make(&survey.unwrap()).unwrap();
    let summed =
        parts.iter().map(|part| plan.summarize_part(&made, batches(part.clone()), "t", None).unwrap());
    let whole = summed.reduce(|mut all, next| {
        all.merge(&next).unwrap();
        all
    });
    whole.unwrap().whole().unwrap()
}

#[test]
fn any_parts_give_the_features_and_the_sums_of_the_whole() {
    let rows = rows();
    let models = [
        Some("x + tenth + gap"),
        Some("tenth:item + item*member + gap:item + log(tenth) + cyclic(x, 2):item"),
        Some("bins(x, 5):item + spline(gap, 4) + hash(visit, 32)"),
        None,
    ];
    for model in models {
        let model = model.map(|model| model.parse().unwrap());
        let selection = Some(Selection::model(model, "reward").with_action("item"));
        let tolerance = Tolerance { missing: Missing::Mean, ..Tolerance::default() };
        let plan = Plan { selection, tolerance, ..Plan::default() };
        let whole = plan.summarize_batches(batches(rows.clone()), "t").unwrap();
        let many: Vec<usize> = (1..ROWS).step_by(997).collect();
        for ends in [&[][..], &[1, 2, 40_000], &[0, 0, 600, ROWS], &many] {
            let parts = in_parts(&plan, &rows, ends);
            assert_eq!((parts.names(), parts.recipe()), (whole.names(), whole.recipe()));
            assert_eq!((parts.rows(), parts.files()), (whole.rows(), whole.files()));
            let (one, other) = (parts.unscaled_statistic().unwrap(), whole.unscaled_statistic().unwrap());
            let d = whole.dimension();
            let (gram, expected) = (one.gram(), other.gram());
            for i in 0..d {
                for j in 0..d {
                    let size = (expected[i * d + i] * expected[j * d + j]).sqrt();
                    let differ = (gram[i * d + j] - expected[i * d + j]).abs();
                    assert!(differ <= 1e-12 * size, "{i} {j}: {differ} of {size}, parts {}", ends.len() + 1);
                }
            }
            assert!((parts.scale() / whole.scale() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn sums_of_a_million_equal_numbers_are_right_to_the_last_digits() {
    let model = "tenth:item".parse().unwrap();
    let plan = Plan { selection: Some(Selection::model(Some(model), "reward")), ..Plan::default() };
    let rows = rows();
    let twenty: Vec<_> = (0..20).map(|_| Ok(rows.clone())).collect();
    let reader = Box::new(RecordBatchIterator::new(twenty, rows.schema()));
    let summary = plan.summarize_batches(reader, "t").unwrap();
    let statistic = summary.unscaled_statistic().unwrap();
    let d = summary.dimension();
    // Σ x and Σ x² over the rows of the first item.
    for (found, each) in [(statistic.gram()[1], 0.1), (statistic.gram()[d + 1], 0.1 * 0.1)] {
        let exact = each * (20 * (0..ROWS).filter(|row| row / 3 % 3 == 0).count()) as f64;
        assert!((found / exact - 1.0).abs() < 1e-13, "{found} is not {exact}");
    }
}

#[test]
fn parts_of_other_columns_are_refused_and_an_empty_table_is_none() {
    let selection = Some(Selection::model(Some("x".parse().unwrap()), "reward"));
    let plan = Plan { selection, ..Plan::default() };
    let rows = rows();
    let mut survey = plan.survey_batches(batches(rows.slice(0, 0)), "t").unwrap();
    assert!(!plan.needs_rows(&survey));
    let other = plan.survey_batches(batches(rows.project(&[0, 6]).unwrap()), "t").unwrap();
    let said = survey.clone().merge(other).unwrap_err().to_string();
    assert!(said.starts_with("parts of a table have other columns: `x`, `tenth`"), "{said}");
    survey.merge(survey.clone()).unwrap();
    let made = plan.make(&survey).unwrap();
    assert!(made.columns().iter().eq(["reward", "x"]));
    let none = plan.summarize_part(&made, batches(rows.slice(0, 0)), "t", Some(3)).unwrap();
    assert_eq!(none.whole().unwrap_err().to_string(), ": there are columns, but no rows");
    let holed = Plan { selection: Some(Selection::model(Some("gap".parse().unwrap()), "reward")), ..plan };
    let made = holed.make(&holed.survey_batches(batches(rows.slice(0, 0)), "t").unwrap()).unwrap();
    let said = holed.summarize_part(&made, batches(rows), "t", Some(3)).unwrap_err().to_string();
    assert_eq!(said, "t, partition 3, row 1: column `gap` has no value");
}
