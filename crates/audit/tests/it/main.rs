//! The audit as its users see it: numbers by hand, false alarms by simulation, odd and real data, and pages in
//! a browser.

mod browser;
mod by_hand;
mod cells;
mod clicks;
mod levels;
mod measured;
mod odd_data;
mod one_story;
mod rates;
mod real_data;
mod samples;
mod shifted;
mod support;
mod texts;
mod worth;
