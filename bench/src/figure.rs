//! The figure of exact recovery: success against k, one line a method, one panel a kind.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::problems::Kind;

/// The first line of a file of successes.
pub const HEADER: &str = "kind,k,draw,method,success";

/// Method, its label, its colour: the order of the legend.
const METHODS: [(&str, &str, RGBColor); 9] = [
    ("katoms", "katoms", RGBColor(0, 0, 0)),
    ("lasso", "Lasso path, refitted (scikit-learn)", RGBColor(213, 94, 0)),
    ("foba", "FoBa", RGBColor(0, 114, 178)),
    ("forward", "forward regression", RGBColor(86, 180, 233)),
    ("omp", "OMP", RGBColor(0, 158, 115)),
    ("subspace", "subspace pursuit", RGBColor(204, 121, 167)),
    ("cosamp", "CoSaMP", RGBColor(123, 50, 148)),
    ("htp", "HTP", RGBColor(166, 118, 29)),
    ("oblivious", "marginal screening", RGBColor(150, 150, 150)),
];

/// (kind, method) → k → (successes, draws).
#[derive(Debug, Default, PartialEq)]
pub struct Tally(BTreeMap<(String, String), BTreeMap<usize, (usize, usize)>>);

impl Tally {
    /// All files `*.csv` of a folder that start with [`HEADER`].
    ///
    /// # Errors
    /// When a file cannot be read, or a line is not of that form.
    pub fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut tally = Self::default();
        let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths = entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?;
        paths.sort();
        for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "csv")) {
            let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
            if let Some(rows) = text.strip_prefix(HEADER) {
                tally.add(rows).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        Ok(tally)
    }

    /// Lines `kind,k,draw,method,success`.
    ///
    /// # Errors
    /// When a line is not of that form.
    pub fn add(&mut self, rows: &str) -> Result<(), String> {
        for line in rows.lines().filter(|l| !l.trim().is_empty()) {
            let [kind, k, _, method, success] = line.trim().split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("`{line}` is not {HEADER}"));
            };
            let k = k.parse().map_err(|e| format!("`{line}`: {e}"))?;
            let cell = self.0.entry((kind.into(), method.into())).or_default().entry(k).or_insert((0, 0));
            cell.0 += usize::from(success == "1");
            cell.1 += 1;
        }
        Ok(())
    }

    /// A table of success in percent for each method, at every k that is a multiple of `every`.
    pub fn table(&self, every: usize) -> String {
        let mut out = String::new();
        for kind in Kind::ALL {
            let rows: Vec<_> = METHODS.iter().filter_map(|m| Some((m.0, self.line(kind, m.0)?))).collect();
            let mut ks: Vec<usize> = rows.iter().flat_map(|r| r.1.keys().copied()).filter(|k| k % every == 0).collect();
            ks.sort_unstable();
            ks.dedup();
            let heads: String = ks.iter().map(|k| format!("{k:5}")).collect();
            out += &format!("{:16}{heads}   (successes in %)\n", kind.name());
            for (method, line) in rows {
                let cell =
                    |k| line.get(k).map_or("    -".into(), |c| format!("{:5.0}", 100.0 * c.0 as f64 / c.1 as f64));
                let cells: String = ks.iter().map(cell).collect();
                let draws = line.values().map(|c| c.1).min().unwrap_or(0);
                out += &format!("{method:16}{cells}   {draws} draws\n");
            }
        }
        out
    }

    fn line(&self, kind: Kind, method: &str) -> Option<&BTreeMap<usize, (usize, usize)>> {
        self.0.get(&(kind.name().into(), method.into()))
    }

    /// The figure as SVG, with bands of ± one standard error.
    ///
    /// # Errors
    /// When nothing was counted, or the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let ks = || self.0.values().flat_map(|line| line.keys().copied());
        let (Some(first), Some(last)) = (ks().min(), ks().max()) else {
            return Err("no successes were counted".into());
        };
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (1120, 560)).into_drawing_area();
            root.fill(&WHITE)?;
            let (top, bottom) = root.split_vertically(460);
            for (area, kind) in top.split_evenly((1, 2)).iter().zip(Kind::ALL) {
                self.panel(area, kind, first as f64..last.max(first + 1) as f64)?;
            }
            self.legend(&bottom)?;
            root.present()?;
        }
        Ok(std::fs::write(path, svg)?)
    }

    fn panel(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        kind: Kind,
        range: std::ops::Range<f64>,
    ) -> Result<(), Box<dyn Error>> {
        let title = match kind {
            Kind::Gaussian => "Gaussian coefficients",
            Kind::Signs => "coefficients ±1",
        };
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 19))
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(58)
            .build_cartesian_2d(range, -0.02..1.02)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .y_labels(6)
            .x_desc("planted entries k (200 rows, 1000 columns, no noise)")
            .y_desc("share of draws recovered exactly")
            .x_label_formatter(&|k| format!("{k:.0}"))
            .y_label_formatter(&|p| format!("{p:.1}"))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .draw()?;
        // Ours last, on top.
        for (method, _, colour) in METHODS.iter().rev() {
            let Some(line) = self.line(kind, method) else { continue };
            let share = |(k, cell): (&usize, &(usize, usize))| {
                let p = cell.0 as f64 / cell.1 as f64;
                (*k as f64, p, (p * (1.0 - p) / cell.1 as f64).sqrt())
            };
            let points: Vec<_> = line.iter().map(share).collect();
            let upper = points.iter().map(|(k, p, e)| (*k, (p + e).min(1.0)));
            let lower = points.iter().rev().map(|(k, p, e)| (*k, (p - e).max(0.0)));
            chart.draw_series([Polygon::new(upper.chain(lower).collect::<Vec<_>>(), colour.mix(0.15))])?;
            let style = colour.stroke_width(width(method));
            chart.draw_series(LineSeries::new(points.iter().map(|(k, p, _)| (*k, *p)), style))?;
        }
        Ok(())
    }

    fn legend(&self, area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Result<(), Box<dyn Error>> {
        let there = METHODS.iter().filter(|m| Kind::ALL.iter().any(|k| self.line(*k, m.0).is_some()));
        let (down, across, left, top) = (3, 330, 70, 14);
        for (i, (method, label, colour)) in there.enumerate() {
            let (x, y) = (left + across * (i as i32 / down), top + 26 * (i as i32 % down));
            let style = colour.stroke_width(width(method));
            area.draw(&PathElement::new([(x, y), (x + 26, y)], style))?;
            let text = ("sans-serif", 14).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(*label, (x + 34, y), text))?;
        }
        Ok(())
    }
}

fn width(method: &str) -> u32 {
    if method == "katoms" { 4 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successes_are_counted_and_drawn() -> Result<(), Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("katoms-figure-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let rows = "gaussian,30,0,omp,1\ngaussian,30,1,omp,0\ngaussian,40,0,omp,0\nsigns,30,0,katoms,1\n";
        std::fs::write(folder.join("a.csv"), format!("{HEADER}\n{rows}"))?;
        std::fs::write(folder.join("other.csv"), "seed,k\n1,2\n")?;
        let tally = Tally::read(&folder)?;
        assert_eq!(tally.line(Kind::Gaussian, "omp").and_then(|l| l.get(&30)), Some(&(1, 2)));
        assert!(tally.table(10).contains("omp                50    0   1 draws"), "{}", tally.table(10));
        tally.draw(&folder.join("a.svg"))?;
        let svg = std::fs::read_to_string(folder.join("a.svg"))?;
        assert!(svg.starts_with("<svg") && svg.contains("OMP") && !svg.contains("CoSaMP"));
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }

    #[test]
    fn bad_lines_are_told() {
        assert!(Tally::default().add("gaussian,30,0,omp\n").is_err());
        assert!(Tally::default().add("gaussian,x,0,omp,1\n").is_err());
        assert!(Tally::default().draw(Path::new("/nowhere")).is_err());
    }
}
