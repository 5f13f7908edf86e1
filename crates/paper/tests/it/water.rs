//! Water-filling: by hand, against feasible spreads, and its digits.

use truenorth_paper::theory::{Spectrum, WaterFilling};

use crate::fixtures::Numbers;

fn fill(eigenvalues: &[f64], budget: f64) -> WaterFilling {
    Spectrum::new(eigenvalues.to_vec()).unwrap().water_filling(budget).unwrap()
}

fn information(eigenvalues: &[f64], amounts: &[f64]) -> f64 {
    std::iter::zip(eigenvalues, amounts).map(|(g, a)| (1.0 + a / g).ln()).sum()
}

#[test]
fn water_fills_the_weakest_direction_first() {
    // 2 units of room between 1 and 3: a budget of 1.5 stays in the weakest direction.
    let filling = fill(&[3.0, 1.0, 10.0], 1.5);
    assert_eq!(filling.amounts, [0.0, 1.5, 0.0]);
    assert!((filling.level - 2.5).abs() < 1e-15);
    assert!((filling.value - 2.5f64.ln()).abs() < 1e-15);
}

#[test]
fn two_directions_share_one_level_by_hand() {
    // (τ - 1) + (τ - 3) = 6: τ = 5, below 10. Φ = log 5 + log(5/3).
    let filling = fill(&[3.0, 1.0, 10.0], 6.0);
    assert!((filling.level - 5.0).abs() < 1e-14);
    assert_eq!(filling.amounts, [2.0, 4.0, 0.0]);
    assert!((filling.value - (25.0f64 / 3.0).ln()).abs() < 1e-14);
}

#[test]
fn equal_eigenvalues_give_the_ambient_bound() {
    // d log(1 + B/(d g)) with d = 4, g = 2, B = 24.
    assert!((fill(&[2.0; 4], 24.0).value - 4.0 * 4f64.ln()).abs() < 1e-14);
    assert!(fill(&[2.0; 4], 0.0).value.abs() < 1e-300);
}

#[test]
fn no_feasible_spread_is_better_and_the_level_attains_the_maximum() {
    let mut numbers = Numbers::seeded(2);
    for _ in 0..50 {
        let dimension = 1 + usize::try_from(numbers.below(6)).unwrap();
        let eigenvalues: Vec<f64> = (0..dimension).map(|_| 0.1 + 9.0 * numbers.uniform()).collect();
        let budget = 20.0 * numbers.uniform();
        let filling = fill(&eigenvalues, budget);
        // Feasible, stationary (1/(g + a) = 1/τ where a > 0, ≤ elsewhere), hence the maximum.
        assert!((filling.amounts.iter().sum::<f64>() - budget).abs() < 1e-12);
        for (g, a) in std::iter::zip(&eigenvalues, &filling.amounts) {
            let height = g + a;
            assert!(if *a > 0.0 { (height - filling.level).abs() < 1e-12 } else { height >= filling.level });
        }
        assert!((information(&eigenvalues, &filling.amounts) - filling.value).abs() < 1e-12);
        for _ in 0..100 {
            let shares: Vec<f64> = (0..dimension).map(|_| -(-numbers.uniform()).ln_1p()).collect();
            let total: f64 = shares.iter().sum();
            let spread: Vec<f64> = shares.iter().map(|share| budget * share / total).collect();
            assert!(information(&eigenvalues, &spread) <= filling.value + 1e-12);
        }
    }
}

#[test]
fn fine_grid_comes_close_from_below() {
    let (eigenvalues, budget) = ([1.0, 2.0, 4.0], 5.0);
    let steps = 500;
    let mut best = 0.0f64;
    for i in 0..=steps {
        for j in 0..=steps - i {
            let [a, b] = [i, j].map(|share| budget * f64::from(share) / f64::from(steps));
            best = best.max(information(&eigenvalues, &[a, b, budget - a - b]));
        }
    }
    let exact = fill(&eigenvalues, budget).value;
    // The optimum (3, 2, 0) is a grid point.
    assert!(best <= exact + 1e-12 && exact - best < 1e-12, "{best} against {exact}");
}

#[test]
fn strong_logs_lose_no_digits() {
    // log(1 + 1e-14) = 1e-14 - 5e-29; log(τ/g) of the rounded ratio would be 1.0e-14 ± 2e-16.
    let filling = fill(&[1e15], 10.0);
    assert!((filling.value / 1e-14 - 1.0).abs() < 1e-12);
}

#[test]
fn spectrum_of_a_matrix_is_that_of_its_eigenvalues() {
    let filling = Spectrum::of(&[5.0, 4.0, 4.0, 5.0]).unwrap().water_filling(3.0).unwrap();
    // Eigenvalues 1 and 9.
    assert!((filling.value - 4f64.ln()).abs() < 1e-12);
    let singular = Spectrum::of(&[1.0; 4]).unwrap_err();
    assert!(
        singular.to_string().starts_with("the offline precision must be positive definite"),
        "{singular}"
    );
    assert!(Spectrum::new(vec![1.0, 0.0]).is_err() && Spectrum::new(vec![]).is_err());
    assert!(Spectrum::new(vec![1.0]).unwrap().water_filling(-1.0).is_err());
}
