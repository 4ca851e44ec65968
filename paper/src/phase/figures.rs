//! The figures of `phase`: one map a method, and up to where half the draws are recovered.

use katoms::select::{Sign, weak_threshold};

use super::{Mapped, Results, ranked};
use crate::Error;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Ink, Map, Panel, Stroke};

/// Points of the curve.
const POINTS: usize = 120;
const CURVE: &str = "Donoho–Tanner curve of ℓ1 minimisation";

pub(super) fn figures(results: &Results) -> Result<Vec<Figure>, Error> {
    let (left, right) = results.config.undersampling.edges();
    let (low, high) = results.config.density.edges();
    let x = Axis::linear("m/n").between(left.max(0.0), right.min(1.0));
    let y = Axis::linear("k/m").between(low.max(0.0), high.min(1.0));
    let curve = Curve::new(CURVE, Ink::Guide, threshold(left, right)?);
    let map = |map: &Mapped| Panel {
        title: format!("{}: {:.0} %", map.contestant.label(), 100.0 * map.area),
        body: Body::Map(Map {
            x: x.clone(),
            y: y.clone(),
            xs: results.xs.clone(),
            ys: results.ys.clone(),
            values: map.shares.clone(),
            meaning: "share of draws recovered".into(),
            curves: vec![curve.clone()],
        }),
    };
    let half =
        |map: &Mapped| Curve::of(map.contestant, results.xs.iter().copied().zip(map.half.iter().copied()).collect());
    let chart = Chart {
        x: x.clone(),
        y: Axis::linear("k/m up to which half the draws are recovered").between(0.0, 1.0),
        curves: [curve.clone().stroked(Stroke::Dashed)].into_iter().chain(results.maps.iter().map(half)).collect(),
        shades: Vec::new(),
        places: Vec::new(),
    };
    Ok(vec![
        Figure {
            name: "phase".into(),
            title: "Where each method recovers".into(),
            caption: caption(results),
            columns: 4,
            panels: results.maps.iter().map(map).collect(),
        },
        Figure {
            name: "phase-half".into(),
            title: "Up to where half the draws are recovered".into(),
            caption: half_caption(results),
            columns: 1,
            panels: vec![Panel { title: "By m/n".into(), body: Body::Chart(chart) }],
        },
    ])
}

/// ρ(δ) between two δ.
fn threshold(left: f64, right: f64) -> Result<Vec<(f64, f64)>, Error> {
    let (left, right) = (left.max(1e-3), right.min(1.0 - 1e-3));
    let deltas = (0..=POINTS).map(|i| left + (right - left) * i as f64 / POINTS as f64);
    Ok(deltas.map(|d| weak_threshold(d, Sign::Any).map(|rho| (d, rho))).collect::<Result<_, _>>()?)
}

fn caption(results: &Results) -> String {
    let maps = ranked(results);
    let percent = |area: f64| format!("{:.0} %", 100.0 * area);
    let all: Vec<String> = maps.iter().map(|m| format!("{} {}", m.contestant.label(), percent(m.area))).collect();
    format!(
        "The share of draws that are recovered, from none (pale) to all (full); below the line ℓ1 minimisation recovers \
         in the limit of large n: {} of the map. Over the whole map: {}.",
        percent(results.covered),
        all.join("; ")
    )
}

fn half_caption(results: &Results) -> String {
    let middle = results.xs.len() / 2;
    let (Some(x), Some(rho)) = (results.xs.get(middle), results.threshold.get(middle)) else { return String::new() };
    let mut maps: Vec<&Mapped> = results.maps.iter().collect();
    maps.sort_by(|a, b| b.half[middle].total_cmp(&a.half[middle]));
    let all: Vec<String> = maps.iter().map(|m| format!("{} {:.2}", m.contestant.label(), m.half[middle])).collect();
    format!(
        "The largest k/m such that at least half the draws are recovered at every k/m up to it, by straight lines between \
         the cells; a share that rises again beyond does not count. At m/n = {x:.2} the ℓ1 curve lies at {rho:.2}; \
         measured: {}.",
        all.join("; ")
    )
}
