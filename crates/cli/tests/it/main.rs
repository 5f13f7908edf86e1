//! The command line from outside: recorded problems, help, and what it says to bad input.

mod audit;
mod bounds;
mod certificates;
mod compare;
mod decide;
mod demo;
mod experiment_file;
mod golden;
mod messages;
mod reproduce;
#[cfg(unix)]
mod serve;
mod serve_disk;
mod summarize;
mod support;
