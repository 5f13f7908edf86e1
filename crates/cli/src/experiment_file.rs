//! Experiment files, and the certificates that they name.

use std::fs;
use std::path::Path;

use truenorth_sim::{Figure, FileError};

use crate::certificate_file;
use crate::failure::Failure;

/// Reads the figure that a file describes.
pub(crate) fn read(path: &Path) -> Result<Figure, Failure> {
    let content = fs::read(path).map_err(Failure::file(path))?;
    let certificate = |path: &Path| {
        certificate_file::read(path, None, 1.0).map_err(|failure| match failure {
            Failure::Input { place, reason } => FileError { place, reason },
            Failure::File { path, error } => {
                FileError { place: path.display().to_string(), reason: error.to_string() }
            }
            other => FileError { place: path.display().to_string(), reason: other.to_string() },
        })
    };
    Ok(Figure::from_toml(path, &content, &certificate)?)
}
