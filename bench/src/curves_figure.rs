//! The figure of gaps against passes: one panel a family, one line a method.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::curves::{Curve, FLOOR, PASSES, Panel};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The first line of each panel is black where it is ours; then these, in turn.
const COLOURS: [RGBColor; 12] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(166, 118, 29),
    RGBColor(86, 180, 233),
    RGBColor(123, 50, 148),
    RGBColor(230, 159, 0),
    RGBColor(120, 120, 120),
    RGBColor(180, 30, 60),
    RGBColor(90, 150, 40),
    RGBColor(60, 60, 140),
];
const OURS: &str = "accelerated-iht";

/// The panels as one SVG, three in a row.
///
/// # Errors
/// When the file cannot be written.
pub fn draw(panels: &[Panel], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut svg = String::new();
    {
        let rows = panels.len().div_ceil(3);
        let root = SVGBackend::with_string(&mut svg, (1500, 520 * rows as u32)).into_drawing_area();
        root.fill(&WHITE)?;
        for (area, panel) in root.split_evenly((rows, 3)).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        root.present()?;
    }
    Ok(std::fs::write(path, svg)?)
}

fn draw_panel(area: &Area<'_>, panel: &Panel) -> Result<(), Box<dyn Error>> {
    let (plot, legend) = area.split_vertically(390);
    let mut chart = ChartBuilder::on(&plot)
        .caption(&panel.title, ("sans-serif", 19))
        .margin(10)
        .margin_right(26)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d((1.0..PASSES as f64).log_scale(), (FLOOR..1.0).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc("passes over the data")
        .y_desc("objective gap, relative")
        .x_label_formatter(&|p| format!("{p:.0}"))
        .y_label_formatter(&|g| format!("{g:.0e}"))
        .label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    let styled: Vec<(&Curve, ShapeStyle)> = panel.curves.iter().enumerate().map(|(i, c)| (c, style(i, c))).collect();
    for (i, (curve, style)) in styled.iter().enumerate() {
        let points = curve.points.iter().map(|&(passes, gap)| (passes.max(1) as f64, gap.clamp(FLOOR, 1.0)));
        // A line that lies on an earlier one is dashed, so that both are seen.
        if panel.curves[..i].iter().any(|earlier| earlier.covers(curve)) {
            chart.draw_series(DashedLineSeries::new(points, 7, 9, *style))?;
        } else {
            chart.draw_series(LineSeries::new(points, *style))?;
        }
    }
    for (i, (curve, style)) in styled.iter().enumerate() {
        let (x, y) = (30 + 235 * (i as i32 % 2), 8 + 18 * (i as i32 / 2));
        legend.draw(&PathElement::new([(x, y), (x + 24, y)], *style))?;
        let text = ("sans-serif", 14).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        legend.draw(&Text::new(curve.name.clone(), (x + 32, y), text))?;
    }
    Ok(())
}

fn style(place: usize, curve: &Curve) -> ShapeStyle {
    if curve.name == OURS { BLACK.stroke_width(4) } else { COLOURS[place % COLOURS.len()].stroke_width(2) }
}
