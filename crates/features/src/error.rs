//! What is wrong with a model, a value or an event: one sentence each.

/// What this part refuses, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model that is not written as models are.
    #[error("the model is wrong at {at}: {reason}")]
    Model {
        /// Where: the rest of the text, or its end.
        at: String,
        /// What is wrong there.
        reason: String,
    },
    /// A field of the model that the data lacks.
    #[error("there is no field `{name}`{}; the fields are {fields}", meant(hint.as_deref()))]
    NoField {
        /// The field.
        name: String,
        /// What may have been meant.
        hint: Option<String>,
        /// The fields that there are.
        fields: String,
    },
    /// A pattern of the model that fits no field.
    #[error("no field fits `{pattern}`; the fields are {fields}")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The fields that there are.
        fields: String,
    },
    /// A field without a value, which the model needs.
    #[error("field `{0}` has no value")]
    Missing(String),
    /// Several fields without a value, or one that a field of the event may be meant for.
    #[error("{}", lacking(fields, meant))]
    Lacking {
        /// The fields.
        fields: Vec<String>,
        /// Fields of the event that the model does not know, and what each may be meant for.
        meant: Vec<(String, String)>,
    },
    /// A value that is not a number.
    #[error("field `{field}` holds {value:?}, not a number{}", crate::value::comma_hint(value))]
    NotANumber {
        /// The field.
        field: String,
        /// Its value, shortened if it is long.
        value: String,
    },
    /// NaN, an infinity, or a number whose square could overflow.
    #[error("field `{field}` holds {value}, but numbers must be finite and at most 1e50 in size")]
    NotFinite {
        /// The field.
        field: String,
        /// Its value, shortened if it is long.
        value: String,
    },
    /// A number that a function of the model has no value for.
    #[error("field `{field}` is {value}, but `{function}` needs {range}")]
    Range {
        /// The field.
        field: String,
        /// Its value.
        value: f64,
        /// The function.
        function: &'static str,
        /// What it needs.
        range: &'static str,
    },
    /// A number and a level, or a function and a field, of one name.
    #[error("two features are called `{0}`")]
    TwoFeatures(String),
    /// More features by name than there may be.
    #[error("there are more than {0} features by name; hash them")]
    TooManyFeatures(usize),
    /// A value of one action.
    #[error("action {id:?}: {problem}")]
    Action {
        /// The action, shortened if it is long.
        id: String,
        /// What is wrong.
        problem: Box<Error>,
    },
    /// An event that is not written as events are.
    #[error("{0}")]
    Event(String),
}

/// Result of this part.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The field whose value is absent, if that is the problem.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::Missing(field) => Some(field),
            Self::Lacking { fields, .. } => fields.first().map(String::as_str),
            Self::Action { problem, .. } => problem.missing(),
            Self::NotANumber { field, value } | Self::NotFinite { field, value } => {
                crate::value::is_missing(value.trim()).then_some(field)
            }
            _ => None,
        }
    }

    pub(crate) fn event(sentence: impl Into<String>) -> Self {
        Self::Event(sentence.into())
    }
}

fn meant(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!(" (did you mean `{hint}`?)"))
}

fn lacking(fields: &[String], meant: &[(String, String)]) -> String {
    let (field, has) = if fields.len() == 1 { ("field", "has") } else { ("fields", "have") };
    let meant = meant.iter().map(|(unknown, name)| format!("; is `{unknown}` meant to be `{name}`?"));
    let fields = listed(fields.iter().map(String::as_str));
    format!("{field} {fields} {has} no value{}", meant.collect::<String>())
}

/// A value in a sentence; of a very long one, the beginning.
pub(crate) fn shortened(value: &str) -> String {
    const MOST: usize = 40;
    match value.char_indices().nth(MOST) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}

/// Names in a sentence; of very many, the first.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 50;
    let names: Vec<&str> = names.into_iter().collect();
    let shown = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 if names.is_empty() => "none".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The name that was probably meant: the nearest, if it is near. Another number is another name.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = |other: &str| distance(&name.to_lowercase(), &other.to_lowercase());
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let own = letters(name);
    let others = names.into_iter().filter(|other| letters(other) != own);
    let (distance, nearest) = others.map(|other| (far(other), other)).min_by_key(|found| found.0)?;
    (distance <= name.chars().count() / 3).then_some(nearest)
}

/// How many letters must be changed, added or taken away (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(100).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_another_word_is_not() {
        let names = ["price", "segment", "hour"];
        assert_eq!(nearest("prize", names), Some("price"));
        assert_eq!(nearest("Segmnt", names), Some("segment"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("feature_3", ["feature_1", "feature_2"]), None);
    }
}
