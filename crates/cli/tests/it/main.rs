//! The command line from outside: recorded problems, help, and what it says to bad input.

mod audit;
mod bounds;
mod certificates;
mod compare;
mod decide;
mod demo;
mod evaluate;
mod experiment_file;
mod golden;
mod messages;
mod monitor;
mod reproduce;
#[cfg(unix)]
mod serve;
mod summarize;
mod support;
