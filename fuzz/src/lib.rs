//! What all fuzz targets share.

mod check;

pub use check::{SETTINGS, TARGETS, check};

/// Reads bytes as a file of the target's format, with a setting that follows from them.
pub fn fuzz(target: &str, bytes: &[u8]) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // Panics inside of the Parquet and Arrow libraries are caught; libFuzzer's own hook would end the
        // process before that.
        std::panic::set_hook(Box::new(|panic| {
            if panic.location().is_none_or(|place| !place.file().contains("/registry/")) {
                eprintln!("{panic}");
                std::process::abort();
            }
        }));
    });
    let sum = bytes.iter().fold(bytes.len(), |sum, &byte| (sum * 31 + usize::from(byte)) % 65_521);
    check(target, bytes, sum % SETTINGS);
}
