//! Tables of logged rows: features, a reward, and the round a row belongs to.
//!
//! [`Batches`] reads a file of any length in bounded memory, [`Table`] collects all of it. The format follows
//! from the file's ending, and a [`Selection`] says which columns are wanted:
//!
//! ```no_run
//! use truenorth_logs::{Selection, Table};
//!
//! # fn main() -> Result<(), truenorth_logs::Error> {
//! let offline = Table::read("offline.csv.gz", &Selection::new("f_*", "reward").without("round"))?;
//! let selection = Selection::named(&offline.names, "reward").with_round("round");
//! let online = Table::read("online.parquet", &selection)?;
//! for rows in online.rows_by_round().into_iter().flatten() {
//!     println!("{} actions, the first pays {}", rows.len(), online.rewards[rows[0]]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Every number that comes out is finite and at most 1e50 in size, as the library wants it.

mod batch;
mod collector;
mod error;
mod event;
mod event_rows;
mod events;
mod expand;
mod fields;
mod format;
mod live_rows;
mod memory;
mod origin;
mod selection;
mod source;
mod sql;
mod summarize;
mod summary;
mod summary_file;
mod table;
mod tally;
mod tolerance;

pub use batch::{Batch, Batches};
pub use error::{Error, Place, Problem, Result};
pub use event_rows::{EventRows, ROUND};
pub use events::Items;
pub use expand::expand;
pub use format::Format;
pub use live_rows::Rows;
pub use memory::{Made, Surveyed};
pub use origin::Origin;
pub use selection::Selection;
pub use source::Memory;
#[cfg(feature = "columnar")]
pub use source::array::array_batches;
pub use source::columnar::names as column_names;
pub use sql::{Asking, cuts_from_sql};
pub use summarize::{BUCKETS, Names, Plan};
pub use summary::Summary;
pub use summary_file::{part, write_whole};
pub use table::{Alike, Table};
pub use tolerance::{Rejected, Tolerance};
pub use truenorth_features::{Dialect, Missing, bucket};
