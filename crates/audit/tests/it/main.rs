//! Builds pages from audits made by hand, and looks at them.

mod browser;
mod samples;
mod texts;
