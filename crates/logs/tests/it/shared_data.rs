use truenorth_logs::{Selection, Table};

use crate::support::shared_data;

#[test]
fn bike_weekday_has_the_rows_and_rounds_that_its_readme_tells() {
    let Some(folder) = shared_data("bike-weekday") else { return };
    let offline =
        Table::read(folder.join("offline.csv.gz"), &Selection::new("f_*", "reward").without("round"))
            .unwrap();
    assert_eq!((offline.len(), offline.names.len()), (11_865, 15));
    let selection = Selection::named(&offline.names, "reward").with_round("round");
    let online = Table::read(folder.join("online.csv.gz"), &selection).unwrap();
    let rounds = online.rows_by_round().unwrap();
    assert_eq!((online.len(), rounds.len()), (5514, 231));
    assert!(rounds.iter().all(|rows| rows.len() <= 24));
    let mean = |table: &Table| table.rewards.iter().sum::<f64>() / table.len() as f64;
    assert_eq!(
        (format!("{:.4}", mean(&offline)), format!("{:.4}", mean(&online))),
        ("0.1932".into(), "0.1814".into())
    );
}
