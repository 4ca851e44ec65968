//! The figures of `images`: f against iterations and seconds, and the pictures side by side.

use super::contest::{Finished, PAPERS, Problem};
use super::picture::packed;
use super::telling::{Told, heading, name, of};
use super::{Config, told_apart};
use crate::Error;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Panel, Stroke};

/// All of them: the curves first, then each picture.
pub(super) fn figures(config: &Config, told: &[Told]) -> Result<Vec<Figure>, Error> {
    // Names that differ may be the same once cleaned.
    let files = told_apart(told.iter().map(|(problem, _)| file_name(&problem.picture.name)));
    let mut figures = vec![curves(told)];
    for ((problem, finished), file) in told.iter().zip(&files) {
        figures.push(pictures(config, problem, finished, file)?);
    }
    Ok(figures)
}

/// f against iterations and seconds, a row for each picture.
fn curves(told: &[Told]) -> Figure {
    let mut panels = Vec::new();
    let one_pass = told.iter().flat_map(|(_, finished)| finished).all(|f| {
        let last = f.last();
        last.passes.abs_diff(last.iteration) <= 1
    });
    let iterations = if one_pass { "iterations (one pass each)" } else { "iterations" };
    let mut ends = Vec::new();
    for (problem, finished) in told {
        type At = fn(&crate::race::Mark) -> f64;
        let axes: [(&str, At); 2] = [(iterations, |m| m.iteration as f64), ("seconds", |m| m.seconds)];
        for (title, at) in axes {
            let curve = |f: &Finished| {
                let points = f.race.marks.iter().map(|m| (at(m), m.objective / problem.zero)).collect();
                Curve { label: f.label(), ..Curve::of(f.race.contestant, points).stroked(stroke(f, finished)) }
            };
            let chart = Chart {
                x: Axis::linear(title),
                y: Axis::log("f / f(0)"),
                curves: finished.iter().map(curve).collect(),
                shades: Vec::new(),
                places: Vec::new(),
            };
            panels.push(Panel { title: heading(problem), body: Body::Chart(chart) });
        }
        ends.push(ending(problem, finished));
    }
    Figure {
        name: "images".into(),
        title: "How far f is from its minimum, which is 0".into(),
        caption: format!(
            "f as a share of f(0) after so many iterations and seconds; the runs took turns. {}",
            ends.join(" ")
        ),
        columns: 2,
        panels,
    }
}

/// A second run of the same contestant is dashed.
fn stroke(f: &Finished, finished: &[Finished]) -> Stroke {
    let is_first = of(finished, f.race.contestant).is_some_and(|first| first.race.setting == f.race.setting);
    if is_first { Stroke::Solid } else { Stroke::Dashed }
}

/// How far down the runs on a picture end.
fn ending(problem: &Problem, finished: &[Finished]) -> String {
    let (whole, lost): (Vec<&Finished>, Vec<&Finished>) = finished.iter().partition(|f| !f.has_diverged());
    let least = |runs: &mut dyn Iterator<Item = &Finished>| {
        let best = runs.filter(|f| !f.has_diverged()).min_by(|a, b| a.last().objective.total_cmp(&b.last().objective));
        best.map(|f| format!("{:.1e} ({}{})", f.last().objective / problem.zero, f.label(), f.at_cap()))
    };
    let (papers, all) = (least(&mut finished[PAPERS].iter()), least(&mut whole.iter().copied()));
    let mut said = match (papers, all) {
        (Some(papers), Some(all)) => {
            format!("On {} the paper's four end at {papers} at best, all runs at {all}.", name(problem))
        }
        (None, Some(all)) => {
            format!("On {} the paper's four diverge, the others end at {all} at best.", name(problem))
        }
        _ => format!("On {} every run diverges.", name(problem)),
    };
    if !lost.is_empty() {
        said += &format!(" Diverged: {}.", lost.iter().map(|f| f.label()).collect::<Vec<_>>().join("; "));
    }
    said
}

/// The pictures side by side.
fn pictures(config: &Config, problem: &Problem, finished: &[Finished], file: &str) -> Result<Figure, Error> {
    let picture = &problem.picture;
    let low = problem.low.clone();
    let seen = low.values.iter().zip(&problem.seen).map(|(v, seen)| if *seen { *v } else { 0.0 }).collect();
    let (observed, share) = (picture.with(seen), 100.0 * problem.share());
    let mut titles =
        vec!["original".to_owned(), format!("rank {}", config.rank), format!("observed: {share:.0} % of the pixels")];
    let mut all = vec![(picture.clone(), false), (low, false), (observed, true)];
    for f in finished {
        titles.push(format!("{}: {}{}", f.label(), f.decibels(), f.at_cap()));
        all.push((problem.shown(&f.point), false));
    }
    let (packed, halved) = packed(&all)?;
    let panel = |(title, picture)| Panel { title, body: Body::Picture(picture) };
    let exact = finished.iter().filter(|f| f.is_exact()).count();
    let cut = finished.iter().filter(|f| f.was_cut()).count();
    let lost = finished.iter().filter(|f| f.has_diverged()).count();
    let lost = if lost == 0 { String::new() } else { format!(", {lost} diverged") };
    let caption = format!(
        "The original, its rank-{} picture, what was seen of that (missing pixels are black), and what each method made of \
         it, with the PSNR against the rank-{0} picture before it is cut to 8 bits. {exact} of {} runs give it back to \
         within half a grey level at every pixel; {cut} were cut by their cap{lost}.{}{}",
        config.rank,
        finished.len(),
        if halved { " Shown at half size: means of four pixels, every second pixel of what was seen." } else { "" },
        if picture.is_drawn { " The picture is drawn by the program; it is not a photograph." } else { "" },
    );
    Ok(Figure {
        name: format!("images-{file}"),
        title: format!("{}: seen and recovered", heading(problem)),
        caption,
        columns: 4,
        panels: titles.into_iter().zip(packed).map(panel).collect(),
    })
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    name.chars().take(60).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_once_their_names_are_cleaned() {
        let names = ["a b", "a-b", "A b", "a-b-2"].map(file_name);
        assert_eq!(told_apart(names.into_iter()), ["a-b", "a-b-2", "A-b-3", "a-b-2-2"]);
    }
}
