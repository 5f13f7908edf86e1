//! The offline estimate for ever: plays its largest mean, and shows Proposition 1's intervals.

use crate::branch::{Branch, Radius};
use crate::certificate::Certificate;
use crate::decide::{Played, Turn};
use crate::error::Result;
use crate::explain::PlayRule;
use crate::given::Given;
use crate::precision::Precision;
use crate::score::Scoreboard;
use crate::statistic::RidgeStatistic;

/// The state of such a policy: it remembers live data for people, and never learns from it.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Favourite {
    pub(crate) data: RidgeStatistic,
    /// `G_off` around the offline estimate, for ever.
    pub(crate) logs: Precision,
}

impl Favourite {
    pub(crate) fn new(given: &Given) -> Result<Self> {
        let data = RidgeStatistic::new(given.settings.dimension)?;
        let precision = given.offline.precision_matrix();
        let maps: Vec<_> = given.settings.certificate.iter().map(|told| &told.root * precision).collect();
        Ok(Self { logs: Precision::assemble(precision, given.offline.estimate(), &data, &maps)?, data })
    }

    pub(crate) fn choose(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Played {
        self.score(turn, board);
        let position = board.largest_mean().unwrap_or(0);
        Played::at(position, PlayRule::LargestMean)
    }

    pub(crate) fn score(&self, turn: Turn<'_>, board: &mut Scoreboard) {
        let Turn { given, actions, .. } = turn;
        // Proposition 1.
        let bias = given.settings.certificate.as_ref().map_or(0.0, Certificate::rho);
        let radius = Radius { norm: given.offline_radius, bias, offline: 0.0 };
        let scoring = Some((&self.logs, radius.scaled(given.settings.exploration_scale)));
        board.score(actions, (false, false), None, scoring, Branch::Offline);
    }
}
