//! What the runs on the pictures show: tables and words, all from the numbers.

use serde_json::json;

use super::claims::{self, Claims};
use super::contest::{Finished, PAPERS, Problem};
use super::{Config, figures};
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
    section.figures = figures::figures(config, told)?;
    section.tables = told.iter().map(|(problem, finished)| table(problem, finished)).collect();
    section.verdicts = claims::verdicts(told);
    section.notes = notes(config, told, drawn);
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
pub(super) fn heading(problem: &Problem) -> String {
    let name = &problem.picture.name;
    if problem.picture.is_drawn { format!("{name} (not a photograph)") } else { name.clone() }
}

fn lead(problem: &Problem, finished: &[Finished]) -> String {
    let by_psnr = |a: &&Finished, b: &&Finished| a.nearness.psnr.total_cmp(&b.nearness.psnr);
    let papers = finished[PAPERS].iter().filter(|f| !f.has_diverged()).max_by(by_psnr);
    let best = papers.map_or_else(
        || format!("On {} all of the paper's methods diverge.", name(problem)),
        |papers| {
            format!(
                "On {}, the best of the paper's four methods is {}, with {} after {} iterations from zero at the full \
                 rank{}.",
                name(problem),
                papers.label(),
                papers.decibels(),
                papers.last().iteration,
                papers.at_cap(),
            )
        },
    );
    let lost: Vec<String> = finished.iter().filter(|f| f.has_diverged()).map(Finished::label).collect();
    let lost = if lost.is_empty() { String::new() } else { format!(" Diverged: {}.", lost.join("; ")) };
    let staged = of(finished, Contestant::Staged).filter(|staged| !staged.has_diverged());
    let end = staged.map_or(String::new(), |staged| {
        let passes = staged.last().passes;
        let found = if staged.is_exact() { "at every pixel" } else { "in part" };
        format!(
            " With the rank grown in stages, katoms ends at {} after {passes} passes{}: the picture is recovered {found}.",
            staged.decibels(),
            staged.at_cap(),
        )
    });
    format!("{best}{lost}{end}")
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
        ("Riemannian CG".into(), format!("staged; also from zero at the full rank, at most {light} iterations")),
        ("Where a run ends".into(), format!("f at {:.0e} of f(0), or the cap", config.perfect)),
        ("Caps".into(), caps(config, told)),
    ]);
    setup
}

/// Why the caps differ, with what an iteration costs and how much of the largest cap was used.
fn caps(config: &Config, told: &[Told]) -> String {
    let (paper, light, most) = (config.iterations, config.light_iterations, config.most_iterations);
    let why = if paper == light && light == most { "one for all" } else { "by what an iteration costs" };
    let mut said = format!(
        "{why}: {paper} iterations for AccIHT and IHT, {light} for BFGD and the other runs from zero at the full rank, \
         {most} for katoms and Riemannian CG with stages, of which they take what they need"
    );
    for (problem, finished) in told {
        let cost =
            |contestant| of(finished, contestant).map(|f| 1e3 * f.last().seconds / f.last().iteration.max(1) as f64);
        let used = |contestant| of(finished, contestant).map(|f| f.last().iteration);
        let costs = (cost(Contestant::AccIht), cost(Contestant::Bfgd), cost(Contestant::Staged));
        if let ((Some(acc), Some(factored), Some(ours)), Some(moves), Some(conjugate)) =
            (costs, used(Contestant::Staged), used(Contestant::RiemannianCg))
        {
            said += &format!(
                ". On {}: {acc:.1} ms an iteration for AccIHT, {factored:.1} for BFGD, {ours:.1} for katoms; katoms took \
                 {moves} iterations, Riemannian CG {conjugate}",
                name(problem)
            );
        }
    }
    said
}

fn table(problem: &Problem, finished: &[Finished]) -> Table {
    let claims = Claims::new(problem, finished);
    let mut headings: Vec<String> =
        ["method", "end", "iterations", "passes", "seconds", "f / f(0)"].map(Into::into).into();
    headings.extend(["PSNR dB", "to the original"].map(Into::into));
    if let Some(common) = claims.common {
        headings.push(format!("iterations to {:.1e}", common / problem.zero));
        headings.push("seconds".into());
    }
    let row = |f: &Finished| {
        let last = f.last();
        let number = |value: String| if f.has_diverged() { "–".into() } else { value };
        let mut row = vec![
            f.label(),
            f.ended().into(),
            last.iteration.to_string(),
            last.passes.to_string(),
            format!("{:.2}", last.seconds),
            number(format!("{:.1e}", last.objective / problem.zero)),
            number(format!("{:.1}", f.nearness.psnr)),
            number(format!("{:.1}", f.nearness.psnr_original)),
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

fn notes(config: &Config, told: &[Told], drawn: bool) -> Vec<String> {
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
        "Stages can serve any method for this set: BFGD is run with and without them, and so is Riemannian CG.".into(),
    ];
    let mut runs = told.iter().flat_map(|(_, finished)| finished);
    if runs.any(|f| f.race.contestant == Contestant::SoftImpute && f.was_cut()) {
        notes.push(format!(
            "The path of Soft-Impute is cut short: {} iterations for a λ are not enough for every one of its minima. The \
             full scale has more λ, and more iterations for each, than the default.",
            config.path.iterations
        ));
    }
    if drawn {
        notes.push(
            "No picture was given, so one was drawn. The paper's claims are about photographs: give them with --image."
                .into(),
        );
    }
    notes
}

/// What does not depend on the machine, for the first picture. A run that diverged has no number.
fn numbers(section: &mut Section, problem: &Problem, finished: &[Finished]) {
    let mut add = |name: &str, value: f64| section.numbers.insert(name.into(), value);
    let sound = |contestant| of(finished, contestant).filter(|f| !f.has_diverged());
    for (name, contestant) in [
        ("AccIHT PSNR", Contestant::AccIht),
        ("IHT PSNR", Contestant::Iht),
        ("Frank-Wolfe PSNR", Contestant::FrankWolfe),
        ("BFGD PSNR", Contestant::Bfgd),
        ("Soft-Impute PSNR", Contestant::SoftImpute),
        ("Riemannian CG PSNR", Contestant::RiemannianCg),
        ("staged PSNR", Contestant::Staged),
    ] {
        sound(contestant).map(|f| add(name, f.nearness.psnr));
    }
    sound(Contestant::Staged).map(|f| add("staged iterations", f.last().iteration as f64));
    sound(Contestant::RiemannianCg).map(|f| add("Riemannian CG iterations", f.last().iteration as f64));
    if let Some(ratio) = Claims::new(problem, finished).accelerated_over_plain() {
        add("AccIHT iterations over IHT iterations", ratio.0);
    }
}
