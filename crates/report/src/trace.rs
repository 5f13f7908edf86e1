//! Lines with no more points than the eye can tell.

use crate::svg::Point;

/// How far a line may move, in pixels.
const TOLERANCE: f64 = 0.1;

/// The points of a line that matter (Ramer, Douglas and Peucker): the others are closer to it than a
/// tenth of a pixel. The ends stay.
pub(crate) fn simplified(points: &[Point]) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    (keep[0], keep[points.len() - 1]) = (true, true);
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let distances = (first + 1..last).map(|k| (k, distance(points[k], points[first], points[last])));
        if let Some((middle, far)) = distances.max_by(|a, b| a.1.total_cmp(&b.1))
            && far > TOLERANCE
        {
            keep[middle] = true;
            open.extend([(first, middle), (middle, last)]);
        }
    }
    points.iter().zip(keep).filter_map(|(point, keep)| keep.then_some(*point)).collect()
}

/// From a point to the segment between two others.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 {
        (((point.0 - from.0) * dx + (point.1 - from.1) * dy) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (point.0 - from.0 - along * dx).hypot(point.1 - from.1 - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_keep_their_ends_and_corners() {
        let points: Vec<Point> = (0..=100).map(|k| (f64::from(k), f64::from((k - 50_i32).abs()))).collect();
        assert_eq!(simplified(&points), [(0.0, 50.0), (50.0, 0.0), (100.0, 50.0)]);
    }

    #[test]
    fn spikes_stay() {
        let points: Vec<Point> =
            (0..1000).map(|k| (f64::from(k) / 10.0, if k == 617 { 5.0 } else { 0.0 })).collect();
        assert!(simplified(&points).contains(&(61.7, 5.0)));
    }
}
