//! Which policy has which colour, in every figure.

use truenorth::Preset;
use truenorth_report::Palette;

/// Policies in an order that gives those who are drawn together colours of their own: in the paper's studies, in ours, in the
/// tour. There are ten colours; from the eleventh on, a policy shares one with a policy that it rarely plays beside.
const ORDER: [Preset; 17] = [
    Preset::TrueNorth,
    Preset::EllipsoidalMinUcb,
    Preset::LinUcb,
    Preset::WarmSupLinUcb,
    Preset::Oful,
    Preset::Greedy,
    Preset::TrueNorthConfidence,
    Preset::OfflineOnly,
    Preset::TrueNorthSampling,
    Preset::LinTs,
    Preset::PooledOnly,
    Preset::EpsilonGreedy,
    Preset::EllipsoidalMinUcb3d,
    Preset::MinUcb,
    Preset::WarmLinUcb,
    Preset::WarmGreedy,
    Preset::SupLinUcb,
];

/// The same colour for a policy in every figure.
pub fn palette() -> Palette {
    Palette::new(ORDER.map(Preset::name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_that_are_drawn_together_differ_in_colour() {
        assert!(Preset::ALL.iter().all(|preset| ORDER.contains(preset)));
        let paper =
            ["suplinucb", "ellipsoidal-minucb", "ellipsoidal-minucb-3d", "warm-suplinucb", "offline-only"];
        let ours = [
            "truenorth",
            "truenorth-sampling",
            "truenorth-confidence",
            "lin-ucb",
            "lin-ts",
            "greedy",
            "oful",
            "warm-suplinucb",
            "ellipsoidal-minucb",
            "offline-only",
        ];
        let tour = ["truenorth", "lin-ucb", "warm-greedy", "offline-only"];
        let ablation = ["suplinucb", "ellipsoidal-minucb", "pooled-only"];
        for together in [&paper[..], &ours, &tour, &ablation] {
            let mut colors: Vec<String> = together.iter().map(|&policy| palette().look(policy).0).collect();
            colors.sort();
            colors.dedup();
            assert_eq!(colors.len(), together.len(), "{together:?}");
        }
        // Ours has its blue for itself, whoever is compared by default.
        let blue = palette().look("truenorth").0;
        let others = crate::compare::POLICIES.iter().filter(|&&preset| preset != Preset::TrueNorth);
        for other in others {
            assert_ne!(palette().look(other.name()).0, blue, "{}", other.name());
        }
    }
}
