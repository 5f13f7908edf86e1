//! Reads figures back as XML and checks what a viewer would see.

mod drawn;
mod errors;
mod figures;
mod page;
