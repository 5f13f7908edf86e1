//! Writes files and reads them back: the same table from every format, a sentence for every fault.

mod damage;
mod errors;
mod formats;
mod shared_data;
mod support;
