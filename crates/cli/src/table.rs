//! Numbers in columns, for people.

use truenorth_report::thousands;
use truenorth_sim::{FigureResult, PanelResult, Results};

/// A table as text: words to the left, numbers to the right.
pub(crate) fn text(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let wordy = |column: usize| {
        let mut cells = rows.iter().skip(1).filter_map(|row| row.get(column));
        column == 0 || cells.any(|cell| cell.starts_with(char::is_alphabetic))
    };
    let left: Vec<bool> = (0..columns).map(wordy).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let cell = if left[column] { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            line.push_str(gap);
            line.push_str(&cell);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
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
        let mut rows = vec![[figure.name.clone()].into_iter().chain(names(&panels[0])).collect()];
        for panel in panels {
            let cells = panel.policies.iter().map(|policy| {
                let regret = policy.final_regret;
                match panel.runs {
                    // One run says nothing about its own error.
                    1 => number(regret.mean),
                    _ => format!("{} ± {}", number(regret.mean), short(regret.stderr)),
                }
            });
            rows.push([panel.name.clone()].into_iter().chain(cells).collect());
        }
        text(&rows)
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// Three digits or so, thousands separated: 0.123, 4.56, 78.9, 1,234.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size >= 1e15 {
        return format!("{value:.3e}");
    }
    if size < 1000.0 {
        let decimals = if size >= 100.0 {
            0
        } else if size >= 10.0 {
            1
        } else if size >= 1.0 {
            2
        } else {
            3
        };
        return format!("{value:.decimals$}");
    }
    let digits = format!("{size:.0}");
    let text = thousands(&digits);
    if value < 0.0 { format!("-{text}") } else { text }
}

/// How many there are of something: 1 round, 1,234 rounds.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    format!("{} {noun}{}", groups.join(","), if count == 1 { "" } else { "s" })
}

/// Two digits: an error needs no more.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 10.0 => number(value.round()).trim_end_matches(".0").to_owned(),
        size if size >= 1.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_about_three_digits() {
        let shown = [0.0, 0.1234, 4.567, 78.94, 999.4, 1234.5, 1_234_567.0, -1234.0].map(number);
        assert_eq!(shown, ["0.000", "0.123", "4.57", "78.9", "999", "1,234", "1,234,567", "-1,234"]);
    }

    #[test]
    fn counts_are_whole_and_agree_with_their_noun() {
        let shown = [0, 1, 10, 999, 1000, 1_234_567].map(|count| counted(count, "row"));
        assert_eq!(shown, ["0 rows", "1 row", "10 rows", "999 rows", "1,000 rows", "1,234,567 rows"]);
    }
}
