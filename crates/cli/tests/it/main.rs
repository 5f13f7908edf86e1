//! The command line from outside: recorded problems, help, and what it says to bad input.

mod golden;
mod messages;
mod support;
