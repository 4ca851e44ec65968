//! Which features are in the model at which size: a row each, in order of entry.

use std::collections::{BTreeMap, BTreeSet};

use super::number;
use super::svg::{Anchor, Drawing, Tone, shortened, text_width};
use super::{Path, PathSize};

/// So many rows at most.
const ROWS: usize = 60;
const ROW: f64 = 18.0;
const HEAD: f64 = 38.0;

/// The picture; `None` where no names are known or there is one size only.
pub(super) fn draw(path: &Path, width: f64) -> Option<String> {
    let features = in_order_of_entry(&path.sizes);
    if features.is_empty() || path.sizes.len() < 2 {
        return None;
    }
    let shown = &features[..features.len().min(ROWS)];
    let names = shown.iter().map(|f| text_width(f)).fold(30.0, f64::max).min(width * 0.4) + 2.0;
    let left = names + 10.0;
    let cell = ((width - left - 2.0) / path.sizes.len() as f64).min(34.0);
    let bottom = HEAD + shown.len() as f64 * ROW;
    let mut drawing = Drawing::new(width, "Which features are in the model at which size");
    drawing.text((names, HEAD - 8.0), Anchor::End, "axis", "k");
    for (row, feature) in shown.iter().enumerate() {
        drawing.text((names, HEAD + row as f64 * ROW + 13.0), Anchor::End, "", &shortened(feature, names));
    }
    let rows: BTreeMap<&str, usize> = shown.iter().enumerate().map(|(i, f)| (*f, i)).collect();
    // Labels of up to three digits need room.
    let every = (26.0 / cell).ceil() as usize;
    for (column, size) in path.sizes.iter().enumerate() {
        let x = left + column as f64 * cell;
        let chosen = path.chosen == Some(size.k);
        if chosen {
            mark_chosen(&mut drawing, (x, cell), bottom, width);
        }
        if column.is_multiple_of(every.max(1)) || chosen {
            let class = if chosen { "word t-chosen" } else { "tick" };
            drawing.text((x + cell / 2.0, HEAD - 8.0), Anchor::Middle, class, &size.k.to_string());
        }
        fill(&mut drawing, (x, cell), size, &rows);
    }
    let more = features.len() - shown.len();
    if more > 0 {
        let text = format!("and {} that enter later", number::counted(more, "feature"));
        drawing.text((left, bottom + 14.0), Anchor::Start, "axis", &text);
    }
    Some(drawing.finish(bottom + if more > 0 { 22.0 } else { 4.0 }))
}

/// One column: a box for each feature, filled where it is chosen.
fn fill(drawing: &mut Drawing, (x, cell): (f64, f64), size: &PathSize, rows: &BTreeMap<&str, usize>) {
    let inside: BTreeSet<&str> = size.features.iter().map(String::as_str).collect();
    let gap = (cell * 0.12).min(2.0);
    for (name, row) in rows {
        let (at, extent) = ((x + gap / 2.0, HEAD + *row as f64 * ROW + 1.0), (cell - gap, ROW - 2.0));
        if inside.contains(name) {
            drawing.rectangle(at, extent, "bar t-model", &format!("{name}: in the model of size {}", size.k));
        } else {
            drawing.rectangle(at, extent, "empty", "");
        }
    }
}

fn mark_chosen(drawing: &mut Drawing, (x, cell): (f64, f64), bottom: f64, width: f64) {
    drawing.rectangle((x - 1.0, HEAD - 3.0), (cell + 2.0, bottom - HEAD + 5.0), "frame t-chosen", "");
    let (anchor, at) = if x > width / 2.0 { (Anchor::End, x + cell) } else { (Anchor::Start, x) };
    drawing.text((at, 12.0), anchor, &format!("word {}", Tone::Chosen.class()), "chosen");
}

fn in_order_of_entry(sizes: &[PathSize]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let names = sizes.iter().flat_map(|size| &size.features).map(String::as_str);
    names.filter(|name| seen.insert(*name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        let size = |k, names: &[&str]| PathSize {
            k,
            features: names.iter().map(|&n| n.into()).collect(),
            ..PathSize::default()
        };
        Path { sizes: vec![size(1, &["b"]), size(2, &["a", "c"]), size(3, &["b", "a", "c"])], ..Path::default() }
    }

    #[test]
    fn features_stand_in_order_of_entry() {
        assert_eq!(in_order_of_entry(&path().sizes), ["b", "a", "c"]);
    }

    #[test]
    fn a_box_is_filled_for_each_feature_of_each_size() {
        let svg = draw(&path(), 400.0).unwrap();
        assert_eq!((svg.matches("bar t-model").count(), svg.matches("empty").count()), (6, 3));
        assert!(!svg.contains("chosen"));
        assert!(draw(&Path { chosen: Some(2), ..path() }, 400.0).unwrap().contains(">chosen<"));
    }

    #[test]
    fn one_size_makes_no_picture() {
        assert_eq!(draw(&Path { sizes: path().sizes[..1].to_vec(), ..Path::default() }, 400.0), None);
        assert_eq!(draw(&Path::default(), 400.0), None);
    }
}
