//! Axes of a panel: as given, or around what is shown.

use crate::figure::{Axis, AxisKind, Chart, Curve, Map};

use katoms_charts::axis;

/// Both axes of a chart.
pub(super) fn of_chart(chart: &Chart) -> (axis::Axis, axis::Axis) {
    let curves = &chart.curves;
    let xs = curves.iter().flat_map(across).chain(chart.places.iter().map(|place| place.x));
    let x = fitted(&chart.x, xs.collect());
    let shown = |at: &f64| (0.0..=1.0).contains(&x.place(*at));
    let points = curves.iter().flat_map(|c| &c.points).filter(|p| shown(&p.0)).map(|p| p.1);
    let bands = curves.iter().flat_map(|c| &c.band).filter(|b| shown(&b.0)).flat_map(|b| [b.1, b.2]);
    let y = fitted(&chart.y, points.chain(bands).collect());
    (x, y)
}

/// The edges of a map's columns and rows.
pub(super) fn edges_of(map: &Map) -> (Vec<f64>, Vec<f64>) {
    (edges(&map.xs), edges(&map.ys))
}

/// Both axes of a map. By default they go from edge to edge.
pub(super) fn of_map(map: &Map) -> (axis::Axis, axis::Axis) {
    let spanning = |given: &Axis, edges: Vec<f64>| {
        let range = given.range.or(edges.first().copied().zip(edges.last().copied()));
        fitted(&Axis { range, ..given.clone() }, edges)
    };
    let (across, up) = edges_of(map);
    (spanning(&map.x, across), spanning(&map.y, up))
}

/// Where the points and bands of a curve lie.
fn across(curve: &Curve) -> impl Iterator<Item = f64> + '_ {
    curve.points.iter().map(|p| p.0).chain(curve.band.iter().map(|b| b.0))
}

/// The axis of its range, or around values where it has none that can be used; else from 0 to 1, or 1 to 10.
fn fitted(given: &Axis, values: Vec<f64>) -> axis::Axis {
    let (title, range) = (&given.title, given.range);
    match given.kind {
        AxisKind::Linear => {
            let ranged = range.and_then(|(low, high)| axis::Axis::spanning(title, low, high));
            ranged.or_else(|| axis::Axis::linear(title, values)).unwrap_or_else(|| axis::Axis::bare(title))
        }
        AxisKind::Log => {
            let ranged = range.and_then(|(low, high)| axis::Axis::log_spanning(title, low, high));
            ranged.or_else(|| axis::Axis::log(title, values)).unwrap_or_else(|| axis::Axis::bare_log(title))
        }
    }
}

/// Edges halfway between evenly placed centres; the outer ones as far out as the inner ones.
fn edges(centres: &[f64]) -> Vec<f64> {
    match centres {
        [] => Vec::new(),
        [alone] => vec![alone - 0.5, alone + 0.5],
        [first, second, ..] => {
            let last = centres[centres.len() - 1];
            let step = last - centres[centres.len() - 2];
            let halves = centres.windows(2).map(|w| (w[0] + w[1]) / 2.0);
            [first - (second - first) / 2.0].into_iter().chain(halves).chain([last + step / 2.0]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::figure::Ink;

    use super::*;

    fn chart(x: Axis, y: Axis, points: Vec<(f64, f64)>) -> Chart {
        Chart { x, y, curves: vec![Curve::new("a", Ink::Guide, points)], shades: vec![], places: vec![] }
    }

    #[test]
    fn a_given_range_is_kept_to_its_corners() {
        let (x, y) = (Axis::linear("x").between(2.0, 4.0), Axis::log("y").between(1e-3, 10.0));
        let (x, y) = of_chart(&chart(x, y, vec![(0.0, 1.0), (9.0, 1e9)]));
        assert_eq!([x.place(2.0), x.place(3.0), x.place(4.0)], [0.0, 0.5, 1.0]);
        assert!(y.place(1e-3).abs() < 1e-12 && (y.place(0.1) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn height_is_fitted_to_what_the_range_shows() {
        let x = Axis::linear("x").between(0.0, 1.0);
        let (_, y) = of_chart(&chart(x, Axis::linear("y"), vec![(0.0, 0.0), (1.0, 2.0), (2.0, 1e6)]));
        assert!(y.high() < 3.0);
    }

    #[test]
    fn impossible_ranges_and_no_data_have_axes_all_the_same() {
        for range in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            let axis = Axis::log("y").between(range.0, range.1);
            let (x, y) = of_chart(&chart(Axis::linear("x"), axis, vec![]));
            assert!(x.high() > x.low() && y.low() > 0.0 && y.high() > y.low());
        }
    }

    #[test]
    fn cells_meet_halfway() {
        assert_eq!(edges(&[1.0, 2.0, 4.0]), [0.5, 1.5, 3.0, 5.0]);
        assert_eq!(edges(&[3.0]), [2.5, 3.5]);
        assert!(edges(&[]).is_empty());
    }
}
