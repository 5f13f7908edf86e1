//! Writes pages of made-up audits, to look at: `cargo run --example pages -- DIRECTORY`.

use std::path::PathBuf;
use std::{env, error, fs};

#[path = "../tests/it/samples.rs"]
mod samples;

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = PathBuf::from(env::args().nth(1).ok_or("the first argument must name a directory")?);
    fs::create_dir_all(&directory)?;
    for (name, audit) in samples::all() {
        let html = truenorth_audit::page(&audit, "bikes-2011.summary", Some("bikes-2012.csv"))?;
        println!("{name}: {} bytes", html.len());
        fs::write(directory.join(format!("{name}.html")), html)?;
    }
    Ok(())
}
