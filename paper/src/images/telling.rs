//! What the runs on the pictures show: figures, tables and words, all from the numbers.

use serde_json::json;

use super::Config;
use super::claims::{self, Claims};
use super::contest::{Finished, PAPERS, Problem};
use super::picture::packed;
use crate::figure::{Axis, Body, Chart, Curve, Figure, Panel, Stroke};
use crate::{Contestant, Error, Experiment, Section, Table};

/// A problem and what became of it.
pub(super) type Told = (Problem, Vec<Finished>);

/// The whole section.
pub(super) fn section(config: &Config, told: &[Told]) -> Result<Section, Error> {
    let drawn = told.iter().all(|(problem, _)| problem.picture.is_drawn);
    let what = if drawn { "A drawn picture" } else { "Pictures" };
    let title = format!("{what} from {:.0} % of the pixels", 100.0 * config.seen);
    let mut section = Section::new(Experiment::Images, title);
    section.lead = told.iter().map(|(problem, finished)| lead(problem, finished)).collect::<Vec<_>>().join(" ");
    section.setup = setup(config, told);
    section.figures.push(curves(told));
    for (problem, finished) in told {
        section.figures.push(pictures(config, problem, finished)?);
        section.tables.push(table(problem, finished));
    }
    section.verdicts = claims::verdicts(told);
    section.notes = notes(config, drawn);
    if let Some((problem, finished)) = told.first() {
        numbers(&mut section, problem, finished);
    }
    let record = |(problem, finished): &Told| {
        json!({
            "picture": problem.picture.name, "drawn": problem.picture.is_drawn,
            "rows": problem.picture.rows, "columns": problem.picture.columns,
            "seen": problem.share(), "f_at_zero": problem.zero, "runs": finished,
        })
    };
    section.record = json!({ "pictures": told.iter().map(record).collect::<Vec<_>>() });
    Ok(section)
}

/// The name of a picture in a sentence.
pub(super) fn name(problem: &Problem) -> String {
    let name = &problem.picture.name;
    if problem.picture.is_drawn { "the drawn picture".into() } else { format!("“{name}”") }
}

/// The name of a picture above what shows it.
fn heading(problem: &Problem) -> String {
    let name = &problem.picture.name;
    if problem.picture.is_drawn { format!("{name} (not a photograph)") } else { name.clone() }
}

fn lead(problem: &Problem, finished: &[Finished]) -> String {
    let by_psnr = |a: &&Finished, b: &&Finished| a.nearness.psnr.total_cmp(&b.nearness.psnr);
    let usable = |f: &&Finished| f.nearness.psnr.is_finite();
    let papers = finished[PAPERS].iter().filter(usable).max_by(by_psnr);
    let Some(papers) = papers else { return format!("On {} all of the paper's methods diverge.", name(problem)) };
    let staged = of(finished, Contestant::Staged);
    let end = staged.map_or(String::new(), |staged| {
        let passes = staged.last().passes;
        let found = if staged.is_exact() { "at every pixel" } else { "in part" };
        format!(
            " With the rank grown in stages, katoms ends at {:.1} dB after {passes} passes: the picture is recovered \
             {found}.",
            staged.nearness.psnr
        )
    });
    format!(
        "On {}, the best of the paper's four methods is {}, with {:.1} dB after {} iterations from zero at the full \
         rank.{end}",
        name(problem),
        papers.label(),
        papers.nearness.psnr,
        papers.last().iteration,
    )
}

/// The run of a contestant, in its first setting.
pub(super) fn of(finished: &[Finished], contestant: Contestant) -> Option<&Finished> {
    finished.iter().find(|f| f.race.contestant == contestant)
}

fn setup(config: &Config, told: &[Told]) -> Vec<(String, String)> {
    let mut setup: Vec<(String, String)> = Vec::new();
    for (problem, _) in told {
        let (picture, (first, last)) = (&problem.picture, problem.spectrum);
        let kind = if picture.is_drawn { "drawn by the program, not a photograph" } else { "grey: its luminance" };
        setup.push((
            picture.name.clone(),
            format!(
                "{} × {}, {kind}; singular values from {first:.3} to {last:.3} at rank {}; {:.2} % of the pixels seen",
                picture.rows,
                picture.columns,
                config.rank,
                100.0 * problem.share()
            ),
        ));
    }
    let papers = format!(
        "step by line search, τ = {} and 0, from zero at rank {}, no refit, no safeguard; at most {} iterations",
        config.momentum, config.rank, config.iterations
    );
    let light = config.light_iterations;
    let path = &config.path;
    setup.extend([
        ("AccIHT and IHT, as the paper".into(), papers),
        ("Frank–Wolfe".into(), format!("line search, ball of the true nuclear norm; at most {light} iterations")),
        ("BFGD".into(), format!("spectral start, line search; at most {light} iterations, also staged")),
        (
            "Soft-Impute".into(),
            format!(
                "λ falls to {} of the largest in {} values of {} iterations; the best of them by the truth",
                path.least, path.lambdas, path.iterations
            ),
        ),
        ("Where a run ends".into(), format!("f at {:.0e} of f(0), or the cap", config.perfect)),
    ]);
    setup
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
                let stroke = if f.race.setting == "staged" && f.race.contestant == Contestant::Bfgd {
                    Stroke::Dashed
                } else {
                    Stroke::Solid
                };
                Curve { label: f.label(), ..Curve::of(f.race.contestant, points).stroked(stroke) }
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
        let least = finished.iter().min_by(|a, b| a.last().objective.total_cmp(&b.last().objective));
        let papers = finished[PAPERS].iter().min_by(|a, b| a.last().objective.total_cmp(&b.last().objective));
        if let (Some(least), Some(papers)) = (least, papers) {
            ends.push(format!(
                "On {} the paper's methods end at {:.1e} at best ({}), {} at {:.1e}.",
                name(problem),
                papers.last().objective / problem.zero,
                papers.label(),
                least.label(),
                least.last().objective / problem.zero
            ));
        }
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

/// The pictures side by side.
fn pictures(config: &Config, problem: &Problem, finished: &[Finished]) -> Result<Figure, Error> {
    let picture = &problem.picture;
    let low = problem.low.clone();
    let seen = low.values.iter().zip(&problem.seen).map(|(v, seen)| if *seen { *v } else { 0.0 }).collect();
    let (observed, share) = (picture.with(seen), 100.0 * problem.share());
    let mut titles =
        vec!["original".to_owned(), format!("rank {}", config.rank), format!("observed: {share:.0} % of the pixels")];
    let mut all = vec![(picture.clone(), false), (low, false), (observed, true)];
    for f in finished {
        titles.push(format!("{}: {:.1} dB", f.label(), f.nearness.psnr));
        all.push((problem.shown(&f.point), false));
    }
    let (packed, halved) = packed(&all)?;
    let panel = |(title, picture)| Panel { title, body: Body::Picture(picture) };
    let exact = finished.iter().filter(|f| f.is_exact()).count();
    let caption = format!(
        "The original, its rank-{} picture, what was seen of that (missing pixels are black), and what each method made of \
         it, with the PSNR against the rank-{0} picture before it is cut to 8 bits. {exact} of {} runs give it back to \
         within half a grey level at every pixel.{}{}",
        config.rank,
        finished.len(),
        if halved { " Shown at half size: means of four pixels, every second pixel of what was seen." } else { "" },
        if picture.is_drawn { " The picture is drawn by the program; it is not a photograph." } else { "" },
    );
    Ok(Figure {
        name: format!("images-{}", file_name(&picture.name)),
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

fn table(problem: &Problem, finished: &[Finished]) -> Table {
    let claims = Claims::new(problem, finished);
    let mut headings: Vec<String> = ["method", "iterations", "passes", "seconds", "f / f(0)"].map(Into::into).into();
    headings.extend(["PSNR dB", "to the original"].map(Into::into));
    if let Some(common) = claims.common {
        headings.push(format!("iterations to {:.1e}", common / problem.zero));
        headings.push("seconds".into());
    }
    let row = |f: &Finished| {
        let last = f.last();
        let mut row = vec![
            f.label(),
            last.iteration.to_string(),
            last.passes.to_string(),
            format!("{:.2}", last.seconds),
            format!("{:.1e}", last.objective / problem.zero),
            format!("{:.1}", f.nearness.psnr),
            format!("{:.1}", f.nearness.psnr_original),
        ];
        if let Some(common) = claims.common {
            let mark = f.race.reaches(common);
            row.push(mark.map_or("never".into(), |m| m.iteration.to_string()));
            row.push(mark.map_or("never".into(), |m| format!("{:.2}", m.seconds)));
        }
        row
    };
    Table {
        title: format!("{}: {} × {}", heading(problem), problem.picture.rows, problem.picture.columns),
        headings,
        rows: finished.iter().map(row).collect(),
    }
}

fn notes(config: &Config, drawn: bool) -> Vec<String> {
    let mut notes = vec![
        "Colour pictures are taken as grey, by their luminance 0.299 R + 0.587 G + 0.114 B.".into(),
        format!(
            "The leading pairs of the gradient that Algorithm 1 asks for are found by {} rounds of randomised subspace \
             iteration; the paper leaves the way open.",
            config.rounds
        ),
        "The ball of Frank–Wolfe has the nuclear norm of the truth, which nobody would know: that favours it. So does \
         the choice of λ for Soft-Impute, by the pixels that were not seen."
            .into(),
        "An iteration is one pass over the observed pixels for every method here, and costs little beside what the \
         methods do with it; seconds depend on the machine, iterations do not."
            .into(),
        "Stages serve every method: BFGD is run with them, too.".into(),
    ];
    if drawn {
        notes.push(
            "No picture was given, so one was drawn. The paper's claims are about photographs: give them with --image."
                .into(),
        );
    }
    notes
}

/// What does not depend on the machine, for the first picture.
fn numbers(section: &mut Section, problem: &Problem, finished: &[Finished]) {
    let mut add = |name: &str, value: f64| section.numbers.insert(name.into(), value);
    for (name, contestant) in [
        ("AccIHT PSNR", Contestant::AccIht),
        ("IHT PSNR", Contestant::Iht),
        ("Frank-Wolfe PSNR", Contestant::FrankWolfe),
        ("BFGD PSNR", Contestant::Bfgd),
        ("Soft-Impute PSNR", Contestant::SoftImpute),
        ("Riemannian CG PSNR", Contestant::RiemannianCg),
        ("staged PSNR", Contestant::Staged),
    ] {
        of(finished, contestant).map(|f| add(name, f.nearness.psnr));
    }
    of(finished, Contestant::Staged).map(|f| add("staged iterations", f.last().iteration as f64));
    of(finished, Contestant::RiemannianCg).map(|f| add("Riemannian CG iterations", f.last().iteration as f64));
    if let Some(ratio) = Claims::new(problem, finished).accelerated_over_plain() {
        add("AccIHT iterations over IHT iterations", ratio.0);
    }
}
