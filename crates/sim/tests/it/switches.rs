//! Switches that do not go together are refused, by a sentence that says which and why.

use truenorth::{Explore, Method, Pooling, Preset};
use truenorth_sim::switches::{Branches, Certification, Layering, Switches};

/// The sentence by which a change of a preset's switches is refused.
fn switched(preset: Preset, change: impl Fn(&mut Switches)) -> String {
    let mut words = Switches::from(preset.method());
    change(&mut words);
    Method::try_from(words).unwrap_err().to_string()
}

#[test]
fn methods_lead_back_from_their_words() {
    for &preset in Preset::ALL {
        let words = Switches::from(preset.method());
        assert_eq!(Method::try_from(words), Ok(preset.method()), "{}", preset.name());
    }
}

#[test]
fn posteriors_have_no_layers_and_no_epochs() {
    let layered = |p: &mut Switches| p.layering = Layering::Layered;
    for preset in [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::LinUcb, Preset::Greedy] {
        assert_eq!(switched(preset, layered), "width `posterior` does not go with layers");
    }
    assert_eq!(
        switched(Preset::TrueNorth, |p| p.certificate = Certification::Learned(None)),
        "width `posterior` does not go with a certificate learned by epochs"
    );
    for branches in [Branches::Offline, Branches::Arms] {
        let says =
            switched(Preset::TrueNorth, |p| (p.branches, p.certificate) = (branches, Certification::Told));
        assert_eq!(says, "width `posterior` does not go with the offline branch or separate arms");
    }
}

#[test]
fn adaptive_certificates_are_for_posteriors_that_discount() {
    assert_eq!(
        switched(Preset::TrueNorthConfidence, |p| p.certificate = Certification::Adaptive),
        "an adaptive certificate does not go with width `confidence`"
    );
    assert_eq!(
        switched(Preset::TrueNorth, |p| p.pooling = Pooling::Full),
        "an adaptive certificate does not go with full pooling"
    );
    // Where no branch uses the certificate, there is nothing to refuse.
    let words = Switches { certificate: Certification::Adaptive, ..Preset::Oful.method().into() };
    assert_eq!(Method::try_from(words), Ok(Preset::Oful.method()));
}

#[test]
fn confidence_widths_explore_by_ucb_alone() {
    for explore in [Explore::Sampling, Explore::Epsilon(0.1)] {
        assert_eq!(
            switched(Preset::TrueNorthConfidence, |p| p.explore = explore),
            "width `confidence` does not go with exploration other than `ucb`"
        );
    }
}

#[test]
fn separate_arms_have_a_fixed_certificate_and_no_layers() {
    for rule in [Certification::Adaptive, Certification::Learned(None)] {
        assert_eq!(
            switched(Preset::MinUcb, |p| p.certificate = rule.clone()),
            "`certificate` is needed by separate arms, a fixed one"
        );
    }
    assert_eq!(
        switched(Preset::MinUcb, |p| p.layering = Layering::Layered),
        "a policy of separate arms does not go with layers"
    );
}
