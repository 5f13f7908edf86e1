//! `certificate.toml`: a bound on the drift, as an audit writes it and others read it. Text in, text out.
//!
//! ```toml
//! features = ["price", "age"]     # optional: which coefficient is which
//! budgets = [0.5, 0.01]           # how far each may have moved, or instead of them:
//! matrix = [[4.0, 0.0], [0.0, 10000.0]]
//! rho = 1.4142135623730951        # the drift's length in the matrix is at most this
//! ```
//!
//! Everything is in the units of the files' columns.

use serde::Deserialize;
use truenorth::Certificate;
use truenorth_report::numbers::many;

use crate::view::CertificateView;

/// Why a text is no certificate, and in which line where that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotACertificate {
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    features: Option<Vec<String>>,
    budgets: Option<Vec<f64>>,
    matrix: Option<Vec<Vec<f64>>>,
    rho: Option<f64>,
}

/// Reads a certificate for features that are multiplied by `scale`; `names` are theirs, if they have any.
pub fn certificate_from_toml(
    text: &str,
    names: Option<&[String]>,
    scale: f64,
) -> Result<Certificate, NotACertificate> {
    let written: Written = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count() as u64);
        let reason = error.message().lines().collect::<Vec<_>>().join(" ");
        NotACertificate { line: Some(line), reason }
    })?;
    certificate(written, names, scale).map_err(|reason| NotACertificate { line: None, reason })
}

fn certificate(written: Written, names: Option<&[String]>, scale: f64) -> Result<Certificate, String> {
    let Written { features, budgets, matrix, rho } = written;
    let said = |error: truenorth::Error| error.to_string();
    // Numbers are named as they are written, not as they are for scaled features.
    let unscaled = |error, written: truenorth::Result<Certificate>| said(written.err().unwrap_or(error));
    let found = match (budgets, matrix) {
        // Drift of scaled coefficients is larger by what features are smaller: Δ' = Δ / scale.
        (Some(budgets), None) => {
            let scaled: Vec<f64> = budgets.iter().map(|budget| budget / scale).collect();
            let certificate = Certificate::from_budgets(&scaled)
                .map_err(|error| unscaled(error, Certificate::from_budgets(&budgets)))?;
            let told = rho.unwrap_or(certificate.rho());
            certificate.with_radius(told).map_err(said)?
        }
        (None, Some(rows)) => {
            let rho = rho.ok_or("`rho` is needed beside the matrix")?;
            let matrix = square_matrix(&rows)?;
            let scaled: Vec<f64> = matrix.iter().map(|entry| entry * (scale * scale)).collect();
            Certificate::from_matrix(&scaled, rho)
                .map_err(|error| unscaled(error, Certificate::from_matrix(&matrix, rho)))?
        }
        _ => return Err("either `budgets` or `matrix` is needed".to_owned()),
    };
    let Some(names) = names else { return Ok(found) };
    if found.dimension() != names.len() {
        let its = many(found.dimension() as u64, "feature");
        return Err(format!("the certificate is for {its}, but there are {}", names.len()));
    }
    let Some(features) = features else { return Ok(found) };
    let place = |name: &String| {
        let place = features.iter().position(|feature| feature == name);
        place.ok_or(format!("the certificate says nothing about `{name}`"))
    };
    let order: Vec<usize> = names.iter().map(place).collect::<Result<_, _>>()?;
    if features.len() != names.len() {
        return Err(format!("{} features are named, but there are {}", features.len(), names.len()));
    }
    let entry = |row: usize, column: usize| found.matrix()[row * order.len() + column];
    let reordered: Vec<f64> =
        order.iter().flat_map(|&row| order.iter().map(move |&column| entry(row, column))).collect();
    Certificate::from_matrix(&reordered, found.rho()).map_err(said)
}

/// A square matrix, row by row.
pub fn square_matrix(rows: &[Vec<f64>]) -> Result<Vec<f64>, String> {
    let side = rows.len();
    match rows.iter().map(Vec::len).enumerate().find(|(_, found)| *found != side) {
        Some((index, found)) => {
            Err(format!("the certificate's matrix has {side} rows, but row {index} holds {found} numbers"))
        }
        None => Ok(rows.concat()),
    }
}

/// The file's text; `source` says whose audit it comes from.
pub fn certificate_toml(certificate: &CertificateView, names: &[String], source: &str) -> String {
    // The shortest digits that give the number back.
    let list = |numbers: &[f64]| numbers.iter().map(|n| format!("{n:e}")).collect::<Vec<_>>().join(", ");
    let quoted: Vec<String> = names.iter().map(|name| toml_string(name)).collect();
    let rows = &certificate.matrix;
    let is_diagonal =
        (0..rows.len()).all(|i| rows[i].iter().enumerate().all(|(j, &entry)| i == j || entry == 0.0));
    let bound = if is_diagonal {
        // v = M^(-1/2)
        let budgets: Vec<f64> = (0..rows.len()).map(|i| rows[i][i].sqrt().recip()).collect();
        format!("budgets = [{}]", list(&budgets))
    } else {
        let rows: Vec<String> = rows.iter().map(|row| format!("  [{}],", list(row))).collect();
        format!("matrix = [\n{}\n]", rows.join("\n"))
    };
    format!(
        "# How far coefficients may have moved since the logs, by `truenorth audit` of {}.\n\
         # In the units of the columns: each by at most its budget times rho.\nfeatures = [{}]\n{bound}\nrho = {:e}\n",
        source.replace(['\n', '\r'], " "),
        quoted.join(", "),
        certificate.rho
    )
}

/// A text in quotes, as TOML wants it.
fn toml_string(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn read_back(text: &str, order: &[&str], scale: f64) -> Result<Certificate, String> {
        let written = toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())?;
        certificate(written, Some(&names(order)), scale)
    }

    #[test]
    fn what_is_written_is_read_back_in_any_order_and_unit() {
        let strange = ["a \"b\"", "c\\d\n"];
        let view = CertificateView { matrix: vec![vec![4.0, 0.0], vec![0.0, 1e4]], rho: 2f64.sqrt() };
        let text = certificate_toml(&view, &names(&strange), "logs.tn");
        let turned = read_back(&text, &[strange[1], strange[0]], 0.5).unwrap();
        // Features half as large: coefficients and drifts twice as large.
        let bound = |x: &[f64]| turned.bias_bound(x).unwrap() / turned.rho();
        assert!((bound(&[1.0, 0.0]) - 0.02).abs() < 1e-12 && (bound(&[0.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!((turned.rho() - 2f64.sqrt()).abs() < 1e-15);
        let full = CertificateView { matrix: vec![vec![2.0, 1.0], vec![1.0, 3.0]], rho: 0.5 };
        let text = certificate_toml(&full, &names(&["a", "b"]), "logs.tn");
        let same = read_back(&text, &["a", "b"], 1.0).unwrap();
        assert_eq!(same, Certificate::from_matrix(&square_matrix(&full.matrix).unwrap(), 0.5).unwrap());
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        let said = |text: &str| read_back(text, &["a", "b"], 1.0).unwrap_err();
        assert_eq!(said("rho = 1.0"), "either `budgets` or `matrix` is needed");
        assert_eq!(said("matrix = [[1.0, 0.0], [0.0, 1.0]]"), "`rho` is needed beside the matrix");
        assert_eq!(said("budgets = [1.0]"), "the certificate is for 1 feature, but there are 2");
        assert_eq!(
            said("budgets = [1.0, 1.0]\nfeatures = [\"a\", \"c\"]"),
            "the certificate says nothing about `b`"
        );
        assert!(said("budgets = [1.0, -1.0]").contains("`budget` must be between"));
        assert!(said("budget = 1").contains("unknown field"));
    }
}
