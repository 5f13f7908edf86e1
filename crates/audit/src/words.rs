//! Numbers and lists as sentences have them.

pub(crate) use truenorth_report::numbers::{about, brief as number, many};

/// All names up to 40, else the first 20 and how many more.
pub(crate) fn list(names: &[&str]) -> String {
    if names.len() <= 40 {
        return names.join(", ");
    }
    format!("{} and {} more", names[..20].join(", "), names.len() - 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names = vec!["x"; 53];
        assert!(list(&names).ends_with("x and 33 more") && list(&names[..3]) == "x, x, x");
    }
}
