//! What lies within the plot: lines and areas are cut at its border. Places are shares of the plot, 0 to 1.

/// A place: across, up.
pub(super) type Place = (f64, f64);

pub(super) fn line(places: &[Place]) -> Vec<Vec<Place>> {
    let mut parts: Vec<Vec<Place>> = Vec::new();
    if let [alone] = places {
        parts.extend(inside(alone).then(|| vec![*alone]));
    }
    places.windows(2).for_each(|ends| add_segment(&mut parts, ends[0], ends[1]));
    parts
}

fn add_segment(parts: &mut Vec<Vec<Place>>, from: Place, to: Place) {
    let Some((start, end)) = segment(from, to) else { return };
    match parts.last_mut() {
        Some(part) if part.last() == Some(&start) => part.push(end),
        _ => parts.push(vec![start, end]),
    }
}

fn segment(from: Place, to: Place) -> Option<(Place, Place)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (step, room) in [(-dx, from.0), (dx, 1.0 - from.0), (-dy, from.1), (dy, 1.0 - from.1)] {
        if step == 0.0 {
            if room < -EDGE {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    Some((if enter > 0.0 { at(enter) } else { from }, if leave < 1.0 { at(leave) } else { to }))
}

/// How far beyond the border a place may lie by rounding.
const EDGE: f64 = 1e-9;

pub(super) fn inside(place: &Place) -> bool {
    let within = |v: f64| (-EDGE..=1.0 + EDGE).contains(&v);
    within(place.0) && within(place.1)
}

pub(super) fn finite(place: &Place) -> bool {
    place.0.is_finite() && place.1.is_finite()
}

/// The part of an area within the unit square, by Sutherland and Hodgman: cut at one side after the other.
pub(super) fn area(corners: Vec<Place>) -> Vec<Place> {
    let sides: [fn(&Place) -> f64; 4] = [|p| p.0, |p| 1.0 - p.0, |p| p.1, |p| 1.0 - p.1];
    sides.into_iter().fold(corners, |corners, depth| {
        let mut kept = Vec::new();
        for (i, corner) in corners.iter().enumerate() {
            let before = &corners[(i + corners.len() - 1) % corners.len()];
            let (there, here) = (depth(before), depth(corner));
            if (there < 0.0) != (here < 0.0) {
                let share = there / (there - here);
                kept.push((before.0 + share * (corner.0 - before.0), before.1 + share * (corner.1 - before.1)));
            }
            if here >= 0.0 {
                kept.push(*corner);
            }
        }
        kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_the_border_not_dropped() {
        assert_eq!(line(&[(0.5, 0.5), (0.5, 1.5)]), [[(0.5, 0.5), (0.5, 1.0)]]);
        // In through the left side, out through the top, and back in.
        let parts = line(&[(-0.5, 0.5), (0.5, 0.5), (0.5, 2.0), (0.75, 0.5)]);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0], [(0.0, 0.5), (0.5, 0.5), (0.5, 1.0)]);
        assert!(parts.iter().flatten().all(inside));
        // Right through, with no point within.
        assert_eq!(line(&[(-1.0, 0.25), (3.0, 0.25)]), [[(0.0, 0.25), (1.0, 0.25)]]);
        assert!(line(&[(-1.0, 0.5), (0.5, 3.0)]).is_empty());
    }

    #[test]
    fn a_point_alone_is_kept_where_it_is_seen() {
        assert_eq!(line(&[(0.3, 0.3)]), [[(0.3, 0.3)]]);
        assert!(line(&[(0.3, 1.3)]).is_empty() && line(&[]).is_empty());
    }

    #[test]
    fn an_area_keeps_its_inner_part() {
        let size = |corners: &[Place]| {
            let next = corners.iter().cycle().skip(1);
            corners.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>().abs() / 2.0
        };
        let half = area(vec![(0.5, -3.0), (4.0, -3.0), (4.0, 5.0), (0.5, 5.0)]);
        assert!((size(&half) - 0.5).abs() < 1e-12 && half.iter().all(inside));
        // A triangle over a corner loses what lies beyond both sides.
        let cut = area(vec![(0.5, 0.5), (1.5, 0.5), (0.5, 1.5)]);
        assert!((size(&cut) - 0.25).abs() < 1e-12, "{cut:?}");
        assert!(area(vec![(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)]).is_empty());
        assert!(area(Vec::new()).is_empty());
    }
}
