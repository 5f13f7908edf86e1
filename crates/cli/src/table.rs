//! Numbers in columns, for people.

use truenorth_report::numbers;
pub(crate) use truenorth_report::numbers::{many as counted, tabular as number};
use truenorth_sim::{FigureResult, PanelResult, Results};

/// A table as text: words to the left, numbers to the right.
pub(crate) fn text(
    header: impl IntoIterator<Item = impl Into<String>>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let rows: Vec<Vec<String>> =
        [header.into_iter().map(Into::into).collect()].into_iter().chain(rows).collect();
    let shape = |column: usize| {
        let cells = || rows.iter().filter_map(move |row| row.get(column));
        let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
        (width, column == 0 || cells().skip(1).any(|cell| cell.starts_with(char::is_alphabetic)))
    };
    let shapes: Vec<(usize, bool)> = (0..rows[0].len()).map(shape).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&shapes).map(|(cell, &(width, wordy))| {
            if wordy { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Final regret, mean and standard error, of every policy in every panel, and the conflicts met.
pub(crate) fn final_regret(results: &Results) -> String {
    let tables = results.figures.iter().map(|figure| figure_text(figure) + &conflicts(figure));
    tables.collect::<Vec<_>>().join("\n")
}

/// Conflicts are rare, so they are told in words where they happen.
fn conflicts(figure: &FigureResult) -> String {
    let policies =
        figure.panels.iter().flat_map(|panel| panel.policies.iter().map(move |policy| (panel, policy)));
    let met = policies.filter(|(_, policy)| policy.conflicts > 0.0).map(|(panel, policy)| {
        let (panel, name, count) = (&panel.name, &policy.name, number(policy.conflicts));
        format!("{panel}: {name} met {count} conflicts a run, intervals that refute what it was told\n")
    });
    met.collect()
}

/// One table for all panels that the same policies play in.
fn figure_text(figure: &FigureResult) -> String {
    let names =
        |panel: &PanelResult| panel.policies.iter().map(|policy| policy.name.clone()).collect::<Vec<_>>();
    let tables = figure.panels.chunk_by(|a, b| names(a) == names(b)).map(|panels| {
        let rows = panels.iter().map(|panel| {
            let cells = panel.policies.iter().map(|policy| {
                let regret = policy.final_regret;
                match panel.runs {
                    // One run says nothing about its own error.
                    1 => number(regret.mean),
                    _ => format!("{} ± {}", number(regret.mean), numbers::error(regret.stderr)),
                }
            });
            [panel.name.clone()].into_iter().chain(cells).collect()
        });
        text([figure.name.clone()].into_iter().chain(names(&panels[0])), rows)
    });
    tables.collect::<Vec<_>>().join("\n")
}
