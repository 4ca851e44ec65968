//! Effects as bars, the largest at the top.

use super::coefficients::{Coefficient, Coefficients, Unit};
use katoms_charts::number;
use katoms_charts::svg::{Anchor, Drawing, Tone, shortened, text_width};

/// So many bars at most: what is smaller is in the table.
pub(super) const BARS: usize = 40;

const ROW: f64 = 22.0;
/// The share of the width that names may take.
const NAMES: f64 = 0.42;

struct Columns {
    names: f64,
    zero: f64,
    scale: f64,
    values: f64,
    shares: Option<f64>,
}

/// The picture; `None` without a finite coefficient.
pub(super) fn draw(coefficients: &Coefficients, width: f64) -> Option<String> {
    let unit = coefficients.unit();
    let mut rows = coefficients.sorted();
    rows.retain(|row| row.effect(unit).is_finite());
    rows.truncate(BARS);
    if rows.is_empty() {
        return None;
    }
    let effects: Vec<f64> = rows.iter().map(|row| row.effect(unit)).collect();
    let names: Vec<String> = rows.iter().map(|row| label(row, width * NAMES)).collect();
    let shares = width > 500.0 && rows.iter().any(|row| row.chosen_share.is_some());
    let columns = Columns::new(width, &names, &effects, if shares { 92.0 } else { 0.0 });
    let mut drawing = Drawing::new(width, &format!("Bar chart of {} effects, the largest first", rows.len()));
    let head = if unit == Unit::Standardised { "effect" } else { "coefficient" };
    drawing.text((columns.values, 12.0), Anchor::End, "axis", head);
    if let Some(x) = columns.shares {
        drawing.text((x, 12.0), Anchor::End, "axis", "frequency");
    }
    for (i, row) in rows.iter().enumerate() {
        let y = 22.0 + i as f64 * ROW;
        let title = format!("{}: {}", names[i], number::short(effects[i]));
        columns.bar(&mut drawing, y, effects[i], &title);
        let baseline = y + 14.0;
        let name = shortened(&names[i], columns.names);
        drawing.text((columns.names, baseline), Anchor::End, "", &name);
        drawing.text((columns.values, baseline), Anchor::End, "figure", &number::short(effects[i]));
        if let (Some(x), Some(share)) = (columns.shares, row.chosen_share) {
            drawing.text((x, baseline), Anchor::End, "figure", &number::percent(share));
        }
    }
    let bottom = 22.0 + rows.len() as f64 * ROW;
    drawing.rule((columns.zero, 20.0), (columns.zero, bottom), "rule");
    Some(drawing.finish(bottom + 4.0))
}

fn label(row: &Coefficient, room: f64) -> String {
    let both = row.group.as_ref().map(|group| format!("{} · {group}", row.name));
    let more = row.group.as_ref().is_some_and(|group| !row.name.starts_with(group.as_str()));
    both.filter(|both| more && text_width(both) + 2.0 <= room).unwrap_or_else(|| row.name.clone())
}

impl Columns {
    fn new(width: f64, names: &[String], effects: &[f64], shares: f64) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let names = widest(&mut names.iter().map(|n| text_width(n) + 2.0)).min(width * NAMES);
        let figures = widest(&mut effects.iter().map(|&e| text_width(&number::short(e)))).max(46.0) + 12.0;
        let room = width - names - 10.0 - figures - shares;
        let low = effects.iter().copied().fold(0.0, f64::min);
        let high = effects.iter().copied().fold(0.0, f64::max);
        // Halves, so that the largest numbers do not overflow.
        let span = high / 2.0 - low / 2.0;
        let scale = if span > 0.0 { room / 2.0 / span } else { 0.0 };
        Self {
            names,
            zero: names + 10.0 - low * scale,
            scale,
            values: width - shares,
            shares: (shares > 0.0).then_some(width),
        }
    }

    fn bar(&self, drawing: &mut Drawing, y: f64, effect: f64, title: &str) {
        let length = (effect.abs() * self.scale).max(1.0);
        let (tone, left) = if effect < 0.0 { (Tone::Lowering, self.zero - length) } else { (Tone::Model, self.zero) };
        drawing.rectangle((left, y + 3.0), (length, ROW - 8.0), &format!("bar {}", tone.class()), title);
    }
}
