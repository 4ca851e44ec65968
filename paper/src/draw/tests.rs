use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use resvg::tiny_skia::Pixmap;

use super::*;
use crate::Contestant;
use crate::figure::{Axis, Chart, Curve, Ink, Map, Picture, Place, Shade, Stroke};

fn figure(columns: usize, bodies: Vec<Body>) -> Figure {
    let panels = bodies.into_iter().map(|body| Panel { title: "a panel".into(), body }).collect();
    Figure { name: "sample".into(), title: "The figure".into(), caption: "What is seen.".into(), columns, panels }
}

fn unit(curves: Vec<Curve>) -> Figure {
    let axis = |title| Axis::linear(title).between(0.0, 1.0);
    figure(1, vec![Panel::chart("panel", axis("x"), axis("y"), curves).body])
}

fn line(label: &str) -> Curve {
    Curve::new(label, Ink::Guide, vec![(0.0, 0.0), (1.0, 1.0)])
}

/// Everything that a figure may have, each text of it the given one.
pub fn full(text: &str) -> Figure {
    let axis = || Axis::linear(text);
    let crowd = (0..300).map(|i| (f64::from(i) / 300.0, f64::from(i * 37 % 100) / 100.0)).collect();
    let chart = Chart {
        x: axis(),
        y: axis(),
        curves: vec![
            line(text).banded(vec![(0.0, 0.0, 0.1), (1.0, 0.9, 1.1)]),
            line(text).stroked(Stroke::Dashed),
            line(text).stroked(Stroke::Dotted),
            line(text).stroked(Stroke::Points),
            Curve::new(text, Ink::Scale(-0.5), crowd).stroked(Stroke::Points),
        ],
        shades: vec![Shade { from: 0.2, to: 0.4, label: text.into(), ink: Ink::Of(Contestant::Iht) }],
        places: vec![Place { x: 0.5, label: text.into() }],
    };
    let map = Map {
        x: axis(),
        y: axis(),
        xs: vec![0.25, 0.75],
        ys: vec![0.5],
        values: vec![vec![0.0, 1.0]],
        meaning: text.into(),
        curves: vec![line(text)],
    };
    let pixels = Pixmap::new(12, 8).unwrap().encode_png().unwrap();
    let picture = Picture { width: 12, height: 8, png: STANDARD.encode(pixels) };
    let bodies = vec![Body::Chart(chart), Body::Map(map), Body::Picture(picture)];
    let mut figure = figure(2, bodies);
    (figure.title, figure.caption) = (text.into(), text.into());
    figure.panels.iter_mut().for_each(|panel| panel.title = text.into());
    figure
}

/// How many elements have a class.
fn of_class(svg: &str, class: &str) -> usize {
    let classes = svg.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next());
    classes.filter(|classes| classes.split(' ').any(|c| c == class)).count()
}

#[test]
fn the_legend_names_each_line_once() {
    // The same label in another stroke is another line.
    let svg = draw(&unit(vec![line("OMP"), line("OMP").stroked(Stroke::Dashed), line("OMP")]));
    assert_eq!(svg.matches(">OMP</text>").count(), 2);
    // The curve, and the legend.
    assert_eq!(of_class(&svg, "dashed"), 2);
}

#[test]
fn every_kind_of_panel_leaves_marks() {
    let svg = draw(&full("words"));
    for class in [
        "line", "dashed", "dotted", "cloud", "dot", "band", "shade", "brace", "place", "word", "headline", "panel",
        "tick", "axis", "halo", "h0",
    ] {
        assert!(of_class(&svg, class) > 0, "{class}");
    }
    assert!(svg.contains("data:image/png;base64,iVBOR"));
}

#[test]
fn labels_are_text_wherever_they_stand() {
    let svg = draw(&full("</title></style><script>&\"'\u{0}\u{b}"));
    assert!(!svg.contains("<script") && svg.matches("</style>").count() == 1);
    // What cannot be read as XML is refused.
    assert!(png(&svg, 1.0).is_ok());
}

#[test]
fn figures_without_anything_are_drawn() {
    let chart = Panel::chart("empty", Axis::log("x"), Axis::linear("y").between(3.0, 1.0), vec![]).body;
    for figure in [figure(3, vec![]), figure(1, vec![chart])] {
        assert!(png(&draw(&figure), 1.0).is_ok());
    }
    let odd = vec![(f64::NAN, 0.0), (0.5, f64::INFINITY), (f64::MAX, f64::MIN), (0.1, 0.1)];
    let svg = draw(&unit(vec![Curve::new("odd", Ink::Scale(f64::NAN), odd)]));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn long_curves_stay_small() {
    let points = (0..10_000).map(|i| f64::from(i) / 1e4).map(|t| (t, 0.5 + 0.4 * (90.0 * t).sin())).collect();
    let svg = draw(&unit(vec![Curve::new("long", Ink::Guide, points)]));
    assert!(svg.len() < 20_000, "{}", svg.len());
}

#[test]
fn a_picture_of_a_figure_has_its_size_and_its_letters() {
    let svg = draw(&full("A headline of some length"));
    let size = |name: &str| svg.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse::<f64>();
    let picture = Pixmap::decode_png(&png(&svg, 2.0).unwrap()).unwrap();
    assert!((f64::from(picture.width()) - 2.0 * size("width").unwrap()).abs() <= 2.0);
    assert!((f64::from(picture.height()) - 2.0 * size("height").unwrap()).abs() <= 2.0);
    // The headline: dark on white, from the left margin on.
    let dark = |xs: std::ops::Range<u32>, ys: std::ops::Range<u32>| {
        let pixels = ys.flat_map(|y| xs.clone().map(move |x| (x, y)));
        pixels.filter(|&(x, y)| picture.pixel(x, y).unwrap().red() < 90).count()
    };
    assert!(dark(32..200, 32..64) > 300);
    assert_eq!(dark(0..28, 0..picture.height()), 0);
}
