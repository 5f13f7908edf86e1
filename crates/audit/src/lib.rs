//! What logs are worth: coverage, drift, certificate and verdict, as numbers and as a page.

mod page;
mod view;

pub use page::page;
pub use view::{
    Audit, Bounds, CertificateView, Direction, Feature, Options, Pair, PairEstimate, Pilot, PilotView, Use,
    Verdict, Worth,
};
