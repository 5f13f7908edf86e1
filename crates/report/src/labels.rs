//! Names next to what they name, without overlaps.

use crate::font::{self, LINE, Weight};
use crate::layout::TICK;
use crate::palette::{Color, WHITE};
use crate::svg::{Canvas, Point, Rect, Stroke, Text};

/// Names longer than this break into lines, in pixels.
const WIDEST: f64 = 130.0;
/// From the end of a plot to its labels: room for leader lines.
const GAP: f64 = 18.0;
/// A label pushed further than this from its line gets a leader line.
const FAR: f64 = 4.0;
/// A line that stops this part of the plot before its right edge has its name there.
const EARLY: f64 = 0.06;
/// Between two labels, to keep the lines of one together.
const AIR: f64 = 3.0;

/// A name for a point: the end of a line, or a marker of this radius.
#[derive(Debug)]
pub(crate) struct Label<'a> {
    pub(crate) name: &'a str,
    pub(crate) color: Color,
    pub(crate) at: Point,
    pub(crate) radius: f64,
}

/// Room for these names right of a plot.
pub(crate) fn end_room<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    GAP + names.map(|name| size(name).0).fold(0.0, f64::max)
}

/// Height that these names take on top of each other.
pub(crate) fn end_height<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    names.map(height).sum()
}

/// Draws names right of the plot at the heights where their lines end, moved apart where those meet.
/// A line that ends before the plot has its name there, off the other lines.
pub(crate) fn draw_ends(canvas: &mut Canvas, plot: Rect, labels: Vec<Label>, lines: &[Vec<Point>]) {
    let (labels, early): (Vec<_>, Vec<_>) =
        labels.into_iter().partition(|label| label.at.0 >= plot.right() - EARLY * plot.width);
    draw_near(canvas, plot, &early, Vec::new(), lines);
    let wanted: Vec<f64> = labels.iter().map(|label| label.at.1).collect();
    let heights: Vec<f64> = labels.iter().map(|label| height(label.name)).collect();
    let half = TICK * LINE / 2.0;
    let places = spread(&wanted, &heights, (plot.top - half, plot.bottom() + half));
    for (Label { name, color, at, .. }, y) in labels.iter().zip(places) {
        let (x, color) = (plot.right() + GAP, color.ink());
        if (y - at.1).abs() > FAR || plot.right() - at.0 > FAR {
            let (from, to) = ((at.0 + 3.0, at.1), (x - 3.0, y));
            canvas.line("leader", from, to, Stroke::thin(color.mix(WHITE, 0.35)));
        }
        draw_lines(canvas, Text { color, ..Text::new("label", name, (x, y), TICK) });
    }
}

/// Draws names in boxes beside their points, off boxes that are taken and off lines, and with a leader line where
/// one stands too far off to belong by sight.
pub(crate) fn draw_near(
    canvas: &mut Canvas,
    plot: Rect,
    labels: &[Label],
    mut taken: Vec<Rect>,
    lines: &[Vec<Point>],
) {
    let busy: Vec<Point> = lines.iter().flat_map(|line| dense(line)).collect();
    for &Label { name, color, at, radius } in labels {
        let (rect, color) = (near(at, radius, size(name), plot, &taken, &busy), color.ink());
        let nearest = (at.0.clamp(rect.left, rect.right()), at.1.clamp(rect.top, rect.bottom()));
        let (dx, dy) = (nearest.0 - at.0, nearest.1 - at.1);
        let distance = dx.hypot(dy);
        if distance > radius + 10.0 {
            let start = (at.0 + dx / distance * radius, at.1 + dy / distance * radius);
            canvas.line("leader", start, nearest, Stroke::thin(color.mix(WHITE, 0.2)));
        }
        let text =
            Text::new("label", name, (rect.left + rect.width / 2.0, rect.top + rect.height / 2.0), TICK);
        draw_lines(canvas, Text { anchor: "middle", color, halo: true, ..text });
        taken.push(rect);
    }
}

/// A text, broken into lines around its place.
fn draw_lines(canvas: &mut Canvas, text: Text) {
    let lines = font::wrap(text.content, TICK, WIDEST);
    for (index, content) in lines.iter().enumerate() {
        let down = (index as f64 - (lines.len() - 1) as f64 / 2.0) * TICK * LINE;
        canvas.text(Text { content, at: (text.at.0, text.at.1 + down), ..text });
    }
}

/// Width and height of a name, broken into lines.
pub(crate) fn size(name: &str) -> (f64, f64) {
    let lines = font::wrap(name, TICK, WIDEST);
    (font::widest(&lines, TICK, Weight::Regular), lines.len().max(1) as f64 * TICK * LINE)
}

/// Points along a line, close enough that none of its pieces slips past a label.
fn dense(points: &[Point]) -> Vec<Point> {
    const PIECE: f64 = 6.0;
    let mut dense: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let ((x, y), (dx, dy)) = (pair[0], (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines fit the canvas")]
        let pieces = (dx.hypot(dy) / PIECE).ceil().max(1.0) as u32;
        let parts = (1..=pieces).map(|step| f64::from(step) / f64::from(pieces));
        dense.extend(parts.map(|part| (x + part * dx, y + part * dy)));
    }
    dense
}

fn height(name: &str) -> f64 {
    size(name).1 + AIR
}

/// Middles as close as possible to the wanted ones (least squares), in the same order, without
/// overlaps of boxes of these heights, inside the bounds if they fit.
///
/// With the heights above each box subtracted, "no overlap" is "not decreasing", so this is isotonic
/// regression: neighbours that meet move together to their average.
fn spread(wanted: &[f64], heights: &[f64], (low, high): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let (mut above, mut offsets) = (0.0, Vec::new());
    // Blocks that move together: sum of wanted offsets, and members.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &index in &order {
        offsets.push(above + heights[index] / 2.0);
        let mut block = (wanted[index] - above - heights[index] / 2.0, 1);
        above += heights[index];
        while let Some(&(sum, count)) = blocks.last() {
            if sum / count as f64 <= block.0 / block.1 as f64 {
                break;
            }
            blocks.pop();
            block = (block.0 + sum, block.1 + count);
        }
        blocks.push(block);
    }
    let tops = blocks.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    let mut places = vec![0.0; wanted.len()];
    for ((top, offset), &index) in tops.zip(offsets).zip(&order) {
        places[index] = top.min(high - above).max(low) + offset;
    }
    places
}

/// The best box of this size near a point: inside the bounds, off other boxes, then off the lines
/// through `busy` points, then near. A marker of this radius stays free.
fn near(at: Point, radius: f64, size: (f64, f64), bounds: Rect, taken: &[Rect], busy: &[Point]) -> Rect {
    let turns = (0..16).map(|step| f64::from(step) / 16.0 * std::f64::consts::TAU);
    let candidates = [0.0, 12.0, 26.0, 42.0, 60.0, 80.0, 105.0].iter().flat_map(|&distance| {
        turns.clone().map(move |turn| {
            let (reach_x, reach_y) =
                (distance + radius + 5.0 + size.0 / 2.0, distance + radius + 2.0 + size.1 / 2.0);
            // A superellipse hugs the box of the label better than a circle around the point.
            let round = |part: f64| part.signum() * part.abs().sqrt();
            let middle = (at.0 + reach_x * round(turn.cos()), at.1 - reach_y * round(turn.sin()));
            (distance, Rect::around(middle, size.0, size.1))
        })
    });
    let cost = |(distance, rect): &(f64, Rect)| {
        let corners = [(rect.left, rect.top), (rect.right(), rect.bottom())];
        let outside = corners.iter().any(|&corner| !bounds.contains(corner));
        let overlaps = taken.iter().filter(|other| rect.overlaps(other)).count();
        let crossed = busy.iter().filter(|&&point| rect.contains(point)).count().min(20);
        let crossed = 4.0 * crossed as f64;
        f64::from(u8::from(outside)) * 1e6 + overlaps as f64 * 1e4 + crossed + distance
    };
    let best = candidates.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.map_or(Rect::around(at, size.0, size.1), |(_, rect)| rect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_far_apart_stay_where_they_are() {
        assert_eq!(spread(&[80.0, 20.0], &[10.0, 10.0], (0.0, 100.0)), [80.0, 20.0]);
    }

    #[test]
    fn labels_at_one_place_stand_around_it_in_their_order() {
        assert_eq!(spread(&[50.0; 3], &[10.0; 3], (0.0, 100.0)), [40.0, 50.0, 60.0]);
        assert_eq!(spread(&[99.0; 2], &[10.0, 20.0], (0.0, 100.0)), [75.0, 90.0]);
    }

    #[test]
    fn spread_labels_never_overlap() {
        let wanted: Vec<f64> = (0..12).map(|k| f64::from(k * 7919 % 100)).collect();
        let mut places = spread(&wanted, &[8.0; 12], (0.0, 100.0));
        places.sort_by(f64::total_cmp);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 8.0 - 1e-9), "{places:?}");
        assert!(places[0] >= 4.0 && places[11] <= 96.0 + 1e-9);
    }

    #[test]
    fn a_label_near_a_corner_stays_inside() {
        let bounds = Rect { left: 0.0, top: 0.0, width: 200.0, height: 200.0 };
        let rect = near((195.0, 5.0), 4.0, (60.0, 16.0), bounds, &[], &[]);
        assert!(rect.right() <= 200.0 && rect.top >= 0.0, "{rect:?}");
    }
}
