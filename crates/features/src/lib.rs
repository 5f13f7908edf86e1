//! Raw values with names to rows of numbers, made the same way for logs, for pilots and for every live request.
//!
//! A [`Model`] is a formula over fields. A [`Survey`] says what fields hold. A [`Recipe`] is a model that has met data, and
//! an [`Encoder`] turns values into features by it.

mod basis;
mod encoder;
mod error;
mod event;
mod model;
mod parse;
mod quantiles;
mod recipe;
mod rows;
mod sql;
mod survey;
mod value;
mod vocabulary;

pub use encoder::{Encoder, Gap, Slot, number};
pub use error::{Error, Result, nearest};
pub use event::{Event, Misread};
pub use model::{Factor, Model, Named, Reading, Term};
pub use recipe::{ID, Missing, Recipe, quoted};
pub use rows::Rows;
pub use sql::{Dialect, Grouped, InSql, Multiplied, survey_query, surveyed_cuts};
pub use survey::{Seen, Survey};
pub use value::{Kind, LARGEST, Value, comma_hint, is_missing, is_same, level, number_level};
pub use vocabulary::{Feature, Joining, MOST_NAMES, bucket};
