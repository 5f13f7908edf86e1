//! What logs are worth: coverage, drift, certificate and verdict, as numbers and as a page.
//!
//! [`audit`] takes the statistic of the logs and, if there is any, a little live data; it tests each feature
//! and each eigen-direction for drift, and says in one sentence what the logs are good for. [`page`] shows it.
//!
//! One word for one thing, here and in JSON:
//!
//! | word | what it is |
//! |---|---|
//! | feature | a column, and its coefficient |
//! | direction | an eigenvector of the logs' Gram matrix, for columns of size 1 |
//! | contrast | a linear combination of coefficients that is tested: a feature's or a direction's |
//! | coverage | the rows that would tell as much about a feature, or along a direction, as the logs do |
//! | drift | live coefficient minus logged one |
//! | trust | probability that the logged coefficient still holds |
//! | standing | what the pilot says about a feature or a direction, in a word |
//! | cost | what playing what the logs recommend loses, a round |
//! | worth | the live rounds that would teach as much as the logs do |
//!
//! ```
//! use truenorth::RidgeStatistic;
//! use truenorth_audit::{Options, Use, audit, page};
//!
//! let mut logs = RidgeStatistic::new(1)?;
//! for i in 0..100 {
//!     logs.observe(&[1.0], if i % 2 == 0 { 0.9 } else { 1.1 })?;
//! }
//! let names = ["price".to_owned()];
//! let found = audit(&logs, &names, 1.0, None, &Options::default())?;
//! assert_eq!(found.verdict.usable, Use::Unclear);
//! assert!(page(&found, "logs.tn", None)?.contains("price"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod audit;
mod bounds;
mod certificate;
mod certificate_file;
mod directions;
mod drift;
mod expected;
mod fit;
mod live;
mod maximum;
mod measured;
mod next;
mod page;
mod pair;
mod ranking;
mod robust;
mod sizes;
mod spectrum;
mod standing;
mod tail;
mod verdict;
mod view;
mod words;
mod worth;

/// A dense matrix, inside of this crate.
type Matrix = nalgebra::DMatrix<f64>;
/// A dense vector, inside of this crate.
type Vector = nalgebra::DVector<f64>;

pub use audit::{audit, audit_as};
pub use bounds::PAPER;
pub use certificate_file::{NotACertificate, certificate_from_toml, certificate_toml, square_matrix};
pub use directions::directions_figure;
pub use next::{Step, next_steps, quoted};
pub use page::page;
pub use standing::Standing;
pub use view::{
    Audit, Bounds, CertificateView, Cost, Direction, Feature, Finding, MeasuredCost, Options, Pair,
    PairEstimate, Pilot, PilotView, Use, Verdict, Worth,
};
