//! A walk through subsets of one size along which the sum of counts only grows.

/// Subsets of one size of arms in order of their counts, from the smallest arms to the largest.
///
/// In each step one arm gives way to the next larger: first the largest climbs to the top, then the
/// one below it, and so on. Sums of counts never fall, and rise by no more than one gap between
/// neighbours at a time.
pub(super) struct Ladder<'a> {
    pub(super) counts: &'a [f64],
    /// Sums of the first 0, 1, 2, ... counts.
    pub(super) sums: &'a [f64],
    pub(super) size: usize,
}

impl Ladder<'_> {
    /// Number of the last step: each of the `size` arms climbs past all the others.
    pub(super) fn last(&self) -> usize {
        self.size * (self.counts.len() - self.size)
    }

    /// How many arms stay at the bottom, the place of the climbing one, where the top begins.
    fn parts(&self, step: usize) -> (usize, usize, usize) {
        let climb = self.counts.len() - self.size;
        let arrived = step.checked_div(climb).unwrap_or(0).min(self.size - 1);
        let bottom = self.size - 1 - arrived;
        (bottom, bottom + step - arrived * climb, self.counts.len() - arrived)
    }

    /// Sum of the counts at a step, in O(1).
    pub(super) fn total(&self, step: usize) -> f64 {
        let (bottom, climbing, top) = self.parts(step);
        self.sums[bottom] + self.counts[climbing] + (self.sums[self.counts.len()] - self.sums[top])
    }

    /// Which places, in the order of counts, the subset of a step holds.
    pub(super) fn places(&self, step: usize) -> impl Iterator<Item = usize> {
        let (bottom, climbing, top) = self.parts(step);
        (0..bottom).chain([climbing]).chain(top..self.counts.len())
    }

    /// The two neighbouring steps whose sums enclose the peak, or the end of the ladder next to it.
    pub(super) fn beside(&self, peak: f64) -> [usize; 2] {
        let (mut low, mut high) = (0, self.last());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.total(middle) < peak {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        [low.saturating_sub(1), low]
    }
}

/// Sums of the first 0, 1, 2, ... counts.
pub(super) fn partial_sums(counts: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    sums.extend(counts.iter().scan(0.0, |sum, count| {
        *sum += count;
        Some(*sum)
    }));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladder_climbs_from_the_smallest_arms_to_the_largest() {
        let counts = [1.0, 2.0, 4.0, 8.0];
        let sums = partial_sums(&counts);
        let ladder = Ladder { counts: &counts, sums: &sums, size: 2 };
        let places: Vec<Vec<usize>> = (0..=ladder.last()).map(|step| ladder.places(step).collect()).collect();
        assert_eq!(places, [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]]);
        let totals: Vec<f64> = (0..=ladder.last()).map(|step| ladder.total(step)).collect();
        assert_eq!(totals, [3.0, 5.0, 9.0, 10.0, 12.0]);
    }

    #[test]
    fn neighbours_of_the_peak_are_found_inside_and_beyond_the_ends() {
        let counts = [1.0, 2.0, 4.0, 8.0];
        let sums = partial_sums(&counts);
        let ladder = Ladder { counts: &counts, sums: &sums, size: 2 };
        assert_eq!(ladder.beside(9.5), [2, 3]);
        assert_eq!(ladder.beside(0.0), [0, 0]);
        assert_eq!(ladder.beside(99.0), [3, 4]);
    }

    #[test]
    fn ladder_of_all_arms_has_one_step() {
        let counts = [1.0, 2.0, 4.0];
        let sums = partial_sums(&counts);
        let whole = Ladder { counts: &counts, sums: &sums, size: 3 };
        assert_eq!((whole.last(), whole.places(0).collect()), (0, vec![0, 1, 2]));
    }
}
