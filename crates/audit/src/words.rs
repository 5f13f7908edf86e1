//! Numbers and lists as sentences have them.

pub(crate) use truenorth_report::numbers::{about, brief as number, many};

/// Letters of names that a sentence bears.
const LETTERS: usize = 160;

/// The first names, as many as a sentence bears but one at least, and how many more there are.
pub(crate) fn list(names: &[&str]) -> String {
    let mut letters = 0;
    let fits = |name: &&&str| {
        letters += name.chars().count() + 2;
        letters <= LETTERS
    };
    let shown = names.iter().take_while(fits).count().max(1).min(names.len());
    let text = names[..shown].join(", ");
    if shown == names.len() { text } else { format!("{text} and {} more", names.len() - shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names = vec!["x"; 80];
        assert!(list(&names).ends_with("x and 27 more") && list(&names[..3]) == "x, x, x");
        let long = "l".repeat(300);
        assert_eq!(list(&[&long, "x"]), format!("{long} and 1 more"));
        assert_eq!(list(&[]), "");
    }
}
