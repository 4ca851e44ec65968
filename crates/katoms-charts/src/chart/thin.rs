//! Fewer points for the same picture: what lies closer than a stroke is wide is not told apart.

type Point = (f64, f64);

/// Shorter lines stay as they are.
const MANY: usize = 150;
/// Narrower than a stroke.
const COLUMN: f64 = 1.0;
/// How far, in units, a line may move.
const SLACK: f64 = 0.1;

/// The line with fewer points: of each column the first, the lowest, the highest and the last, and of those
/// the ones without which the line would move.
pub(super) fn line(points: Vec<Point>) -> Vec<Point> {
    if points.len() <= MANY { points } else { bends(&extremes(&points)) }
}

fn extremes(points: &[Point]) -> Vec<Point> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| (a.0 / COLUMN).floor() == (b.0 / COLUMN).floor()) {
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut places = [0, lowest, highest, column.len() - 1];
        places.sort_unstable();
        kept.extend(places.chunk_by(|a, b| a == b).map(|same| column[same[0]]));
    }
    kept
}

fn bends(points: &[Point]) -> Vec<Point> {
    let mut keep = vec![false; points.len()];
    let mut open = vec![(0, points.len().saturating_sub(1))];
    while let Some((from, to)) = open.pop() {
        (keep[from], keep[to]) = (true, true);
        let far = |i: usize| distance(points[i], points[from], points[to]);
        let farthest = (from + 1..to).max_by(|&a, &b| far(a).total_cmp(&far(b)));
        if let Some(at) = farthest.filter(|&at| far(at) > SLACK) {
            open.extend([(from, at), (at, to)]);
        }
    }
    points.iter().zip(keep).filter_map(|(point, keep)| keep.then_some(*point)).collect()
}

fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx * dx + dy * dy;
    let share = ((point.0 - from.0) * dx + (point.1 - from.1) * dy) / length;
    let share = if length > 0.0 { share.clamp(0.0, 1.0) } else { 0.0 };
    (point.0 - from.0 - share * dx).hypot(point.1 - from.1 - share * dy)
}

pub(super) fn cloud(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut seen = std::collections::BTreeSet::new();
    let cell = |v: f64| (v * 2.0).round() as i64;
    points.into_iter().filter(|p| seen.insert((cell(p.0), cell(p.1)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_line_goes_where_the_line_went() {
        let all: Vec<Point> = (0..10_000).map(|i| f64::from(i) / 25.0).map(|x| (x, 90.0 * (x / 30.0).sin())).collect();
        let few = line(all.clone());
        assert!(few.len() < 400, "{}", few.len());
        assert_eq!((few.first(), few.last()), (all.first(), all.last()));
        for point in &all {
            let nearest = few.windows(2).map(|ends| distance(*point, ends[0], ends[1])).fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.6, "{point:?}: {nearest}");
        }
    }

    #[test]
    fn a_peak_between_many_points_is_kept() {
        let mut points: Vec<Point> = (0..10_000).map(|i| (f64::from(i) / 25.0, 0.0)).collect();
        points[5_003].1 = 80.0;
        let few = line(points);
        assert!(few.contains(&(5_003.0 / 25.0, 80.0)) && few.len() < 12, "{few:?}");
    }

    #[test]
    fn short_lines_stay() {
        let points: Vec<Point> = (0..100).map(|i| (f64::from(i), 0.0)).collect();
        assert_eq!(line(points.clone()), points);
        assert!(line(Vec::new()).is_empty());
    }
}
