//! Parameters that do not go together are refused, by a sentence that says which and why.

use truenorth::{Actions, Certificate, Explore, Method, Policy, Preset, Prior, Settings};

/// A preset with all that it needs.
fn complete(preset: Preset) -> Settings {
    let settings = Policy::builder(2).preset(preset).horizon(10);
    if preset.needs_certificate() { settings.certificate(fixed()) } else { settings }
}

/// The sentence by which a preset with a change, and with all that it needs otherwise, is refused.
fn refusal(preset: Preset, change: impl Fn(Settings) -> Settings) -> String {
    change(complete(preset)).build().unwrap_err().to_string()
}

fn fixed() -> Certificate {
    Certificate::isotropic(2, 0.1).unwrap()
}

#[test]
fn the_unchanged_presets_are_taken() {
    for &preset in Preset::ALL {
        complete(preset).build().unwrap();
    }
}

#[test]
fn what_needs_a_certificate_says_so() {
    for &preset in Preset::ALL {
        let built = Policy::builder(2).preset(preset).horizon(10).build();
        match built {
            Ok(_) => assert!(!preset.needs_certificate(), "{}", preset.name()),
            Err(error) => {
                assert!(preset.needs_certificate(), "{}", preset.name());
                assert!(error.to_string().starts_with("`certificate` is needed by "), "{error}");
            }
        }
    }
}

#[test]
fn numbers_of_the_new_switches_are_named_with_their_value() {
    for (epsilon, shown) in [(-0.1, "-0.1"), (1.5, "1.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        assert_eq!(
            refusal(Preset::EpsilonGreedy, |p| {
                let (prior, explore) = (Prior::Ridge, Explore::Epsilon(epsilon));
                p.method(Method::Posterior { prior, explore })
            }),
            format!("`epsilon` must be in [0, 1], but is {shown}")
        );
    }
    for preset in [Preset::TrueNorth, Preset::LinUcb, Preset::EpsilonGreedy] {
        assert_eq!(refusal(preset, |p| p.noise(0.0)), "`noise` must be above 0, but is 0");
        assert_eq!(refusal(preset, |p| p.norm_bound(0.0)), "`norm_bound` must be above 0, but is 0");
        assert_eq!(
            refusal(preset, |p| p.exploration_scale(-1.0)),
            "`exploration_scale` must be at least 0 and at most 1e50, but is -1"
        );
    }
    assert_eq!(
        refusal(Preset::TrueNorthConfidence, |p| p.noise(0.0)),
        "`noise` must be positive with discounted pooling, but is 0"
    );
    for discount in [0.0, -1.0, 1.5, f64::NAN] {
        assert_eq!(
            refusal(Preset::TrueNorth, |p| p.discount(discount)),
            format!("`discount` must be in (0, 1], but is {discount}")
        );
    }
    assert_eq!(
        refusal(Preset::TrueNorthConfidence, |p| p.exploration_scale(0.0)),
        "`exploration_scale` must be at least 1e-50 and at most 1e50, but is 0"
    );
    assert_eq!(
        refusal(Preset::TrueNorth, |p| p.norm_bound(-1.0)),
        "`norm_bound` must be at least 0 and at most 1e50, but is -1"
    );
}

#[test]
fn separate_arms_need_a_certificate() {
    assert_eq!(
        refusal(Preset::MinUcb, |p| p.certificate(None)),
        "`certificate` is needed by separate arms, a fixed one"
    );
    assert_eq!(
        refusal(Preset::MinUcb, |p| p.certificate(Certificate::isotropic(3, 0.1).unwrap())),
        "a row of the certificate's matrix must hold 2 numbers, but holds 3"
    );
}

#[test]
fn separate_arms_are_unit_vectors() {
    let mut policy = complete(Preset::MinUcb).build().unwrap();
    let before = policy.to_bytes();
    for wrong in [[0.0, 0.0], [0.6, 0.8], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]] {
        let features = [[1.0, 0.0], wrong].concat();
        let actions = Actions::new(&features, 2).unwrap();
        let refused = policy.choose(actions).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "action 1 is not a unit vector, but this policy knows separate arms only"
        );
        assert_eq!(policy.choose_explained(actions).unwrap_err(), refused);
        assert_eq!(policy.intervals(0, actions).unwrap_err(), refused);
    }
    assert_eq!(policy.to_bytes(), before);
}
