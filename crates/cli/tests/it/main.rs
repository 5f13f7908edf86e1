//! The command line from outside: recorded problems, help, and what it says to bad input.

mod audit;
mod bounds;
#[cfg(unix)]
mod browser;
mod certificates;
mod compare;
mod decide;
mod demo;
mod evaluate;
mod experiment_file;
mod golden;
#[cfg(unix)]
mod live;
mod messages;
mod monitor;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod readme;
mod reproduce;
#[cfg(unix)]
mod security;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serve_disk;
#[cfg(unix)]
mod served;
#[cfg(unix)]
mod service_docs;
mod summarize;
mod support;
