use crate::Contestant;
use crate::figure::{Axis, Chart, Curve, Ink, Map, Picture, Place, Shade, Stroke};
use resvg::tiny_skia::Pixmap;

use super::samples::{self, banded, chart, figure, long, mapped, marked, pictured};
use super::*;
use crate::page::page;

/// The attributes of all elements of a class.
fn of_class<'a>(svg: &'a str, class: &str) -> Vec<&'a str> {
    let is = |tag: &&str| {
        let classes = tag.split("class=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("");
        classes.split(' ').any(|c| c == class)
    };
    svg.split('<').filter(is).collect()
}

/// All texts of an SVG.
fn texts(svg: &str) -> Vec<&str> {
    svg.split("<text ").skip(1).filter_map(|t| t.split('>').nth(1)?.split('<').next()).collect()
}

fn one(chart: Chart) -> Figure {
    figure("one", 1, vec![("panel".into(), Body::Chart(chart))])
}

fn unit(curves: Vec<Curve>) -> Chart {
    chart(Axis::linear("x").between(0.0, 1.0), Axis::linear("y").between(0.0, 1.0), curves)
}

/// The corners of a path of straight lines.
fn corners(tag: &str) -> Vec<(f64, f64)> {
    let path = tag.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
    let number = |t: &str| t.parse::<f64>().unwrap();
    let corner = |c: &str| c.split_once(' ').map(|(x, y)| (number(x), number(y))).unwrap();
    path.trim_end_matches('z').split(['M', 'L']).skip(1).map(corner).collect()
}

#[test]
fn the_legend_names_each_line_once() {
    let svg = draw(&banded());
    for who in &Contestant::ALL[..12] {
        assert_eq!(texts(&svg).iter().filter(|t| **t == who.label()).count(), 1, "{}", who.label());
        assert_eq!(svg.matches(who.colour()).count(), 1);
    }
    // The same label in another ink or stroke is another line.
    let again = |stroke| Curve::of(Contestant::Omp, vec![(0.0, 0.0), (1.0, 1.0)]).stroked(stroke);
    let svg = draw(&one(unit(vec![again(Stroke::Solid), again(Stroke::Dashed), again(Stroke::Solid)])));
    assert_eq!(texts(&svg).iter().filter(|t| **t == "OMP").count(), 2);
}

#[test]
fn a_curve_beyond_the_range_is_cut_at_the_border() {
    let steep = Curve::new("steep", Ink::Guide, vec![(0.0, 0.5), (0.5, 0.5), (1.0, 2.5)]);
    let band = Curve::new("", Ink::Guide, vec![]).banded(vec![(-1.0, -1.0, 0.2), (2.0, -1.0, 0.2)]);
    let flat = Curve::new("edge", Ink::Of(Contestant::Omp), vec![(0.0, 0.0), (1.0, 1.0)]);
    let svg = draw(&one(unit(vec![steep, band, flat])));
    let lines: Vec<_> = of_class(&svg, "line").into_iter().filter(|t| t.contains('L')).map(corners).collect();
    // Two of the legend, two curves; the diagonal goes from corner to corner of the plot.
    assert_eq!(lines.len(), 4);
    let (diagonal, steep) = (&lines[3], &lines[2]);
    let (left, right) = (diagonal[0].0, diagonal[1].0);
    assert_eq!((diagonal[1].1, steep.last().unwrap().1), (0.0, 0.0));
    assert!((steep.last().unwrap().0 - (left + 0.625 * (right - left))).abs() < 0.02, "{steep:?}");
    let band = corners(of_class(&svg, "band")[0]);
    let bottom = diagonal[0].1;
    assert!(band.iter().all(|c| (left..=right).contains(&c.0) && (0.0..=bottom).contains(&c.1)), "{band:?}");
    assert!(band.iter().any(|c| c.0 == left) && band.iter().any(|c| c.0 == right));
}

#[test]
fn every_kind_of_panel_leaves_marks() {
    let svg = draw(&marked());
    for class in ["line", "cloud", "dot", "shade", "brace", "place", "word", "headline", "panel", "tick", "axis"] {
        assert!(!of_class(&svg, class).is_empty(), "{class}");
    }
    for (stroke, class) in [(Stroke::Dashed, "dashed"), (Stroke::Dotted, "dotted")] {
        let svg = draw(&one(unit(vec![Curve::new("a", Ink::Guide, vec![(0.0, 0.0), (1.0, 1.0)]).stroked(stroke)])));
        assert_eq!(of_class(&svg, class).len(), 2, "{class}: the curve, and the legend");
    }
    let svg = draw(&mapped());
    assert_eq!(of_class(&svg, "halo").len(), 6);
    assert_eq!(texts(&svg).iter().filter(|t| **t == "share of draws recovered").count(), 1);
    assert!(of_class(&svg, "h0").len() > 1 && of_class(&svg, &format!("h{LEVELS}")).len() > 1);
    let svg = draw(&pictured());
    assert_eq!(svg.matches("<image ").count(), 8);
    assert_eq!(svg.matches("data:image/png;base64,iVBOR").count(), 8);
}

#[test]
fn labels_are_text_wherever_they_stand() {
    let evil = "</title></style><script>&\"'\u{0}\u{b}";
    let shade = Shade { from: 0.2, to: 0.4, label: evil.into(), ink: Ink::Guide };
    let curves = vec![Curve::new(evil, Ink::Guide, vec![(0.0, 0.0), (1.0, 1.0)]).stroked(Stroke::Points)];
    let axis = || Axis::linear(evil);
    let places = vec![Place { x: 0.5, label: evil.into() }];
    let map = Map {
        x: axis(),
        y: axis(),
        xs: vec![1.0],
        ys: vec![],
        values: vec![vec![]],
        meaning: evil.into(),
        curves: vec![],
    };
    let picture = Picture { width: 0, height: 0, png: evil.into() };
    let bodies = [
        Body::Chart(Chart { x: axis(), y: axis(), curves, shades: vec![shade], places }),
        Body::Map(map),
        Body::Picture(picture),
    ];
    let mut figure = figure(evil, 0, bodies.map(|b| (evil.to_owned(), b)).into());
    figure.title = evil.into();
    figure.caption = evil.into();
    let svg = draw(&figure);
    assert!(!svg.contains("<script") && svg.matches("</style>").count() == 1);
    // What cannot be read as XML is refused.
    assert!(png(&svg, 1.0).is_ok());
}

#[test]
fn figures_without_anything_are_drawn() {
    let empty = chart(Axis::log("x"), Axis::linear("y").between(3.0, 1.0), vec![Curve::new("", Ink::Guide, vec![])]);
    for figure in [figure("none", 3, vec![]), one(empty)] {
        assert!(png(&draw(&figure), 1.0).is_ok());
    }
    let odd = vec![(f64::NAN, 0.0), (0.5, f64::INFINITY), (f64::MAX, f64::MIN), (0.1, 0.1)];
    let svg = draw(&one(unit(vec![Curve::new("odd", Ink::Scale(f64::NAN), odd)])));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn long_curves_stay_small() {
    let svg = draw(&long());
    assert!(svg.len() < 200_000, "{}", svg.len());
    assert!(draw(&mapped()).len() < 200_000);
}

#[test]
fn a_picture_of_a_figure_has_its_size_and_its_letters() {
    let svg = draw(&marked());
    let size = |name: &str| {
        let text = svg.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
        text.parse::<f64>().unwrap()
    };
    let picture = Pixmap::decode_png(&png(&svg, 2.0).unwrap()).unwrap();
    assert!((f64::from(picture.width()) - 2.0 * size("width")).abs() <= 2.0);
    assert!((f64::from(picture.height()) - 2.0 * size("height")).abs() <= 2.0);
    // The headline: dark on white, from the left margin on.
    let dark = |xs: std::ops::Range<u32>, ys: std::ops::Range<u32>| {
        ys.flat_map(|y| xs.clone().map(move |x| (x, y)))
            .filter(|&(x, y)| picture.pixel(x, y).unwrap().red() < 90)
            .count()
    };
    assert!(dark(32..200, 32..64) > 300);
    assert_eq!(dark(0..28, 0..picture.height()), 0);
}

#[test]
#[ignore = "writes pictures of every kind of figure and a page to look at"]
fn gallery() {
    let folder = std::env::temp_dir().join("draw");
    std::fs::create_dir_all(&folder).unwrap();
    let figures = [banded(), long(), marked(), mapped(), pictured()];
    for figure in &figures {
        let svg = draw(figure);
        println!("{}: {} kB", figure.name, svg.len() / 1000);
        std::fs::write(folder.join(format!("{}.png", figure.name)), png(&svg, 2.0).unwrap()).unwrap();
        std::fs::write(folder.join(format!("{}.svg", figure.name)), svg).unwrap();
    }
    let sections = crate::Experiment::ALL.into_iter().zip(figures);
    let sections: Vec<_> = sections.map(|(e, figure)| samples::section(e, vec![figure])).collect();
    std::fs::write(folder.join("gallery.html"), page(&sections)).unwrap();
}
