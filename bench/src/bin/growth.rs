//! How the time of a fit grows with the columns, the rows and the atoms, with fitted exponents.
//!
//! `cargo run --release -p katoms-bench --bin growth [FIGURE.svg]` (docs/growth.svg unless told)
//!
//! Noiseless Gaussian designs in single precision, each eight times as large in the end. What fits into a cache is read
//! faster, so where columns or rows grow, the smallest is larger than the cache that this machine says it has. A fit is
//! what a user waits for: the first read and a single run of the method; the best of several counts. The exponent is the
//! slope of the line of least squares through the logarithms. Where the atoms grow, the pass stays and the refit, of the order
//! of k² a row, takes over: the exponent is fitted on the smaller half and on the larger half of the sizes.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use katoms::loss::LeastSquares;
use katoms::operator::{Dense, FirstRead, Layout, LinearOperator};
use katoms::search::Search;
use katoms::select::Preparation;
use katoms::set::KSparse;
use katoms::{Fit, simulate};
use katoms_bench::reading::seconds_of_a_read;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const REPEATS: usize = 9;

/// One size and its seconds.
type Point = (f64, f64);
/// The seconds of a fit, and of a plain read of its data.
type Seconds = (f64, f64);

/// What grows, and how the time does.
struct Panel {
    what: &'static str,
    fixed: String,
    points: Vec<Point>,
    /// Plain reads of the same data.
    reads: Vec<Point>,
    /// Exponents, each with the points that it was fitted on.
    fits: Vec<(f64, Vec<Point>)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).map_or_else(|| PathBuf::from("docs/growth.svg"), PathBuf::from);
    let size = smallest();
    let [columns, rows] = [1000, 10_000].map(|other| [1, 2, 4, 8].map(|times| times * size / other));
    let atoms = [5, 10, 20, 40, 80, 160, 320];
    let panels = [
        panel("columns n", "m = 1000, k = 20", &columns, 1, |n| (1000, n, 20))?,
        panel("rows m", "n = 10,000, k = 20", &rows, 1, |m| (m, 10_000, 20))?,
        panel("atoms k", "m = 3000, n = 40,000", &atoms, 2, |k| (3000, 40_000, k))?,
    ];
    for panel in &panels {
        println!("{} ({})", panel.what, panel.fixed);
        for ((size, seconds), (_, read)) in panel.points.iter().zip(&panel.reads) {
            println!("  {size:8} {:8.1} ms; a plain read {:8.1} ms", 1e3 * seconds, 1e3 * read);
        }
        for (exponent, points) in &panel.fits {
            let (from, to) = (points[0].0, points[points.len() - 1].0);
            println!("  exponent {exponent:.2} from {from} to {to}");
        }
        println!("  exponent of a plain read {:.2}", exponent(&panel.reads));
    }
    draw(&panels, &path)
}

fn panel(
    what: &'static str,
    fixed: &str,
    sizes: &[usize],
    parts: usize,
    shape: impl Fn(usize) -> (usize, usize, usize),
) -> Result<Panel, katoms::Error> {
    let (mut points, mut reads) = (Vec::new(), Vec::new());
    for &size in sizes {
        let (fit, read) = seconds(shape(size))?;
        points.push((size as f64, fit));
        reads.push((size as f64, read));
    }
    let length = points.len().div_ceil(parts);
    let part = |part: usize| points[part * (points.len() - length)..][..length].to_vec();
    let fits = (0..parts).map(|p| (exponent(&part(p)), part(p))).collect();
    Ok(Panel { what, fixed: fixed.into(), points, reads, fits })
}

/// Numbers that take more than the last cache: a power of two times 80 MB.
fn smallest() -> usize {
    let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").unwrap_or_default();
    let cache = told.trim().trim_end_matches('K').parse().map_or(32 << 20, |kilobytes: usize| kilobytes << 10);
    20_000_000 * (cache / 80_000_000 + 1).next_power_of_two()
}

/// The best time of a fit of this many rows, columns and atoms, and that of a read of its data.
fn seconds((m, n, k): (usize, usize, usize)) -> Result<Seconds, katoms::Error> {
    let mut x = vec![0.0_f32; m * n];
    simulate::gaussian_columns_f32(&mut x, m, 0, 0);
    let mut y = vec![0.0; m];
    Dense::column_major(&x, m, n)?.apply(&simulate::sparse_signal(n, k, 0), &mut y);
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let clock = Instant::now();
        let (loss, preparation) = (LeastSquares::new(y.clone())?, Preparation::default());
        let first = FirstRead::of(&loss, preparation.intercept);
        let design = Dense::with_layout(&x[..], m, n, Layout::ColumnMajor, Some(&first))?;
        let f = preparation.objective(&design, &loss, (0..m).collect())?;
        let set = preparation.set(&KSparse::new(k, n)?, f.loss())?;
        Fit::new(&f, &set).search(Search::quick()).run()?;
        best = best.min(clock.elapsed().as_secs_f64());
    }
    Ok((best, seconds_of_a_read(&x)))
}

/// The slope of the line of least squares through the logarithms.
fn exponent(points: &[Point]) -> f64 {
    let (mx, my) = centre(points);
    let along: f64 = points.iter().map(|p| (p.0 / mx).ln() * (p.1 / my).ln()).sum();
    along / points.iter().map(|p| (p.0 / mx).ln().powi(2)).sum::<f64>()
}

/// The geometric means: every line of least squares through the logarithms goes through them.
fn centre(points: &[Point]) -> Point {
    let mean = |of: fn(&Point) -> f64| (points.iter().map(|p| of(p).ln()).sum::<f64>() / points.len() as f64).exp();
    (mean(|p| p.0), mean(|p| p.1))
}

/// 1, 2 and 5 times a power of ten; more labels would cover each other.
fn tick(value: &f64) -> String {
    let leading = value / 10_f64.powf(value.log10().floor() + 1e-9);
    let shown = [1.0, 2.0, 5.0].iter().any(|digit| (leading - digit).abs() < 0.01);
    if shown { format!("{value:.0}") } else { String::new() }
}

fn draw(panels: &[Panel], path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (1320, 420)).into_drawing_area();
        root.fill(&WHITE)?;
        for (area, panel) in root.split_evenly((1, 3)).iter().zip(panels) {
            let (first, last) = (panel.points[0].0, panel.points[panel.points.len() - 1].0);
            let times = || panel.points.iter().chain(&panel.reads).map(|p| 1e3 * p.1);
            let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
            let mut chart = ChartBuilder::on(area)
                .caption(format!("{}; {}", panel.what, panel.fixed), ("sans-serif", 18))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(60)
                .build_cartesian_2d(
                    (0.8 * first..1.25 * last).log_scale().with_key_points(panel.points.iter().map(|p| p.0).collect()),
                    (0.6 * least..1.6 * most).log_scale(),
                )?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(BLACK.mix(0.12))
                .x_desc(panel.what)
                .y_desc("milliseconds")
                .x_label_formatter(&|size| format!("{size:.0}"))
                .y_labels(20)
                .y_label_formatter(&tick)
                .label_style(("sans-serif", 13))
                .axis_desc_style(("sans-serif", 15))
                .draw()?;
            for (exponent, points) in &panel.fits {
                let (x, y) = centre(points);
                let line = points.iter().map(|p| (p.0, 1e3 * y * (p.0 / x).powf(*exponent)));
                chart.draw_series(LineSeries::new(line, RGBColor(0, 114, 178).stroke_width(2)))?;
                let text = ("sans-serif", 15).into_font().color(&RGBColor(0, 114, 178));
                let text = text.pos(Pos::new(HPos::Left, VPos::Bottom));
                let label = format!("a fit: exponent {exponent:.2}");
                chart.draw_series([Text::new(label, (points[0].0, 1.3e3 * y), text)])?;
            }
            let grey = RGBColor(120, 120, 120);
            chart.draw_series(panel.reads.iter().map(|p| Circle::new((p.0, 1e3 * p.1), 4, grey)))?;
            let (x, y) = centre(&panel.reads);
            let text = ("sans-serif", 15).into_font().color(&grey).pos(Pos::new(HPos::Left, VPos::Top));
            let label = format!("a plain read: exponent {:.2}", exponent(&panel.reads));
            chart.draw_series([Text::new(label, (x, 0.85e3 * y), text)])?;
            chart.draw_series(panel.points.iter().map(|p| Circle::new((p.0, 1e3 * p.1), 4, BLACK.filled())))?;
        }
        root.present()?;
    }
    Ok(std::fs::write(path, svg)?)
}
