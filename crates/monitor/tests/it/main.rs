//! What the monitor claims: few false alarms however often one looks, steps found soon, and state that goes on.

mod alarms;
mod state;
mod world;
