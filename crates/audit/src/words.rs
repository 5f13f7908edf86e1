//! Numbers and lists as sentences have them.

pub(crate) use truenorth_report::numbers::{about, brief as number, many, with_error};

/// Names that a sentence bears, and their letters.
pub(crate) const NAMES: usize = 3;
const LETTERS: usize = 160;

/// The first names, as many as a sentence bears but one at least, and how many more there are; a fourth takes no more room than
/// to say that there is one.
pub(crate) fn list(names: &[&str]) -> String {
    let mut letters = 0;
    let most = if names.len() <= NAMES + 1 { names.len() } else { NAMES };
    let fits = |name: &&&str| {
        letters += name.chars().count() + 2;
        letters <= LETTERS
    };
    let shown = names.iter().take(most).take_while(fits).count().max(1).min(names.len());
    let text = names[..shown].join(", ");
    if shown == names.len() { text } else { format!("{text} and {} more", names.len() - shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names = vec!["x"; 80];
        assert_eq!(
            (list(&names).as_str(), list(&names[..4]).as_str()),
            ("x, x, x and 77 more", "x, x, x, x")
        );
        let long = "l".repeat(300);
        assert_eq!(list(&[&long, "x"]), format!("{long} and 1 more"));
        assert_eq!(list(&[]), "");
    }
}
