//! What the runs on the pictures show: figures, tables and the paper's claims.

use std::cmp::Ordering;

use anyhow::Result;
use serde_json::json;

use super::Config;
use super::picture::packed;
use super::runs::{Finished, PAPERS, Problem};
use crate::figure::{Axis, Body, Curve, Panel, Stroke};
use crate::race::Mark;
use crate::{Agreement, Contestant, Experiment, Section, Table};

/// A problem and the runs on it.
pub struct Contested {
    pub problem: Problem,
    pub finished: Vec<Finished>,
}

impl Contested {
    /// The run of a contestant, in its first setting.
    fn of(&self, contestant: Contestant) -> Option<&Finished> {
        self.finished.iter().find(|f| f.race.contestant == contestant)
    }

    /// The name of the picture above what shows it.
    fn heading(&self) -> String {
        let kind = if self.problem.picture.is_drawn { " (not a photograph)" } else { "" };
        format!("{}{kind}", self.problem.picture.name)
    }

    /// The lowest objective that all of these reach; none where one of them diverges.
    fn reached_by(&self, contestants: &[Contestant]) -> Option<f64> {
        let end = |c: &Contestant| self.of(*c).filter(|f| !f.has_diverged()).map(|f| f.last().objective);
        let ends = contestants.iter().map(end).collect::<Option<Vec<f64>>>()?;
        Some(ends.into_iter().fold(f64::NEG_INFINITY, f64::max)).filter(|worst| *worst < self.problem.zero)
    }

    /// The objective at which the paper's methods are compared.
    fn common(&self) -> Option<f64> {
        self.reached_by(&[Contestant::AccIht, Contestant::Iht, Contestant::Bfgd])
    }

    /// Iterations and seconds of one method over another's, to an objective.
    fn over(&self, one: Contestant, other: Contestant, objective: f64) -> Option<[f64; 2]> {
        let mark = |c| self.of(c)?.race.reaches(objective).copied();
        let (one, other) = (mark(one)?, mark(other)?);
        let iterations = one.iteration as f64 / other.iteration.max(1) as f64;
        Some([iterations, one.seconds / other.seconds.max(f64::MIN_POSITIVE)])
    }

    /// What AccIHT needs of what IHT needs, to the objective that both reach.
    fn accelerated_over_plain(&self) -> Option<[f64; 2]> {
        let both = [Contestant::AccIht, Contestant::Iht];
        self.over(both[0], both[1], self.reached_by(&both)?)
    }

    /// AccIHT's cost over the least of the other three of the paper, by iterations and by seconds.
    fn over_the_best(&self) -> Option<[f64; 2]> {
        let common = self.common()?;
        let others = self.finished[PAPERS].iter().map(|f| f.race.contestant).filter(|c| *c != Contestant::AccIht);
        let ratios = others.filter_map(|c| self.over(Contestant::AccIht, c, common));
        ratios.reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])])
    }

    /// IHT and AccIHT, each over BFGD, to where BFGD ends.
    fn over_factored(&self) -> Option<[f64; 4]> {
        let common = self.common()?;
        let plain = self.over(Contestant::Iht, Contestant::Bfgd, common)?;
        let fast = self.over(Contestant::AccIht, Contestant::Bfgd, common)?;
        Some([plain[0], plain[1], fast[0], fast[1]])
    }

    fn lead(&self) -> String {
        let by_psnr = |a: &&Finished, b: &&Finished| a.nearness.psnr.total_cmp(&b.nearness.psnr);
        let sound = |runs: &[Finished]| {
            let best = runs.iter().filter(|f| !f.has_diverged()).max_by(by_psnr);
            best.map_or("none, all diverge".into(), |f| format!("{} with {}", f.label(), f.decibels()))
        };
        let staged = self.of(Contestant::Staged).map_or(String::new(), Finished::decibels);
        format!(
            "On {} the best of the paper's four methods, from zero at the full rank, is {}; katoms with the rank grown in \
             stages ends at {staged}.",
            self.heading(),
            sound(&self.finished[PAPERS]),
        )
    }

    fn table(&self) -> Table {
        let (zero, common) = (self.problem.zero, self.common());
        let mut headings: Vec<String> =
            ["method", "end", "iterations", "passes", "seconds", "f / f(0)", "PSNR dB", "to the original"]
                .map(Into::into)
                .into();
        headings.extend(common.into_iter().flat_map(|f| [format!("iterations to {:.1e}", f / zero), "seconds".into()]));
        let row = |f: &Finished| {
            let last = f.last();
            let number = |value: String| if f.has_diverged() { "–".into() } else { value };
            let mut row = vec![
                f.label(),
                f.ended().into(),
                last.iteration.to_string(),
                last.passes.to_string(),
                format!("{:.2}", last.seconds),
                number(format!("{:.1e}", last.objective / zero)),
                number(format!("{:.1}", f.nearness.psnr)),
                number(format!("{:.1}", f.nearness.psnr_original)),
            ];
            row.extend(common.into_iter().flat_map(|common| match f.race.reaches(common) {
                Some(mark) => [mark.iteration.to_string(), format!("{:.2}", mark.seconds)],
                None => ["never".into(), "never".into()],
            }));
            row
        };
        let picture = &self.problem.picture;
        let title = format!("{}: {} × {}", self.heading(), picture.rows, picture.columns);
        Table::new(&title, headings, self.finished.iter().map(row))
    }

    /// f against iterations and seconds. A second run of the same contestant is dashed.
    fn curves(&self) -> [Panel; 2] {
        type At = fn(&Mark) -> f64;
        let axes: [(&str, At); 2] =
            [("iterations (one pass each)", |m| m.iteration as f64), ("seconds", |m| m.seconds)];
        axes.map(|(title, at)| {
            let curve = |f: &Finished| {
                let points = f.race.marks.iter().map(|m| (at(m), m.objective / self.problem.zero)).collect();
                let first = self.of(f.race.contestant).is_some_and(|first| first.race.setting == f.race.setting);
                let stroke = if first { Stroke::Solid } else { Stroke::Dashed };
                Curve { label: f.label(), ..Curve::of(f.race.contestant, points).stroked(stroke) }
            };
            let curves = self.finished.iter().map(curve).collect();
            Panel::chart(self.heading(), Axis::linear(title), Axis::log("f / f(0)"), curves)
        })
    }

    /// The pictures side by side.
    fn pictures(&self, rank: usize) -> Result<Vec<Panel>> {
        let Problem { picture, low, seen, .. } = &self.problem;
        let observed = low.values.iter().zip(seen).map(|(v, seen)| if *seen { *v } else { 0.0 }).collect();
        let share = 100.0 * self.problem.share();
        let mut titles =
            vec!["original".to_owned(), format!("rank {rank}"), format!("observed: {share:.0} % of the pixels")];
        let mut all = vec![(picture.clone(), false), (low.clone(), false), (picture.with(observed), true)];
        for f in &self.finished {
            titles.push(format!("{}: {}", f.label(), f.decibels()));
            all.push((picture.showing(&f.point), false));
        }
        let packed = packed(&all)?;
        let panel = |(title, picture)| Panel { title, body: Body::Picture(picture) };
        Ok(titles.into_iter().zip(packed).map(panel).collect())
    }
}

/// The whole section.
pub fn section(config: &Config, contested: &[Contested]) -> Result<Section> {
    let mut section = Section::new(Experiment::Images)?;
    section.lead = contested.iter().map(Contested::lead).collect::<Vec<_>>().join(" ");
    set_up(&mut section, config, contested);
    section.draw("", 2, contested.iter().flat_map(Contested::curves).collect())?;
    for (at, one) in (1..).zip(contested) {
        section.draw(&format!("-{at}"), 4, one.pictures(config.rank)?)?;
        section.figures[at].title = format!("{}: {}", one.heading(), section.figures[at].title);
        section.tables.push(one.table());
    }
    section.judge(verdicts(contested))?;
    numbers(&mut section, &contested[0]);
    let record = |Contested { problem, finished }: &Contested| {
        json!({
            "picture": problem.picture.name, "drawn": problem.picture.is_drawn,
            "rows": problem.picture.rows, "columns": problem.picture.columns,
            "seen": problem.share(), "f_at_zero": problem.zero, "runs": finished,
        })
    };
    section.record = json!({ "pictures": contested.iter().map(record).collect::<Vec<_>>() });
    Ok(section)
}

fn set_up(section: &mut Section, config: &Config, contested: &[Contested]) {
    let (light, path) = (config.light_iterations, &config.path);
    let papers = format!(
        "step by line search, τ = {} and 0, from zero at rank {}, no refit, no safeguard; at most {} iterations",
        config.momentum, config.rank, config.iterations
    );
    let falls = format!(
        "λ falls to {} of the largest in {} values of {} iterations; the best of them by the truth",
        path.least, path.lambdas, path.iterations
    );
    section.set_up([
        ("AccIHT and IHT, as the paper", papers),
        ("Frank–Wolfe", format!("line search, ball of the true nuclear norm; at most {light} iterations")),
        ("BFGD", format!("spectral start, line search; at most {light} iterations, also staged")),
        ("Soft-Impute", falls),
        ("Riemannian CG", format!("staged; also from zero at the full rank, at most {light} iterations")),
        ("Where a run ends", format!("f at {:.0e} of f(0), or the cap", config.perfect)),
    ]);
    for (at, Contested { problem, .. }) in contested.iter().enumerate() {
        let (picture, (first, last)) = (&problem.picture, problem.spectrum);
        let kind = if picture.is_drawn { "drawn by the program, not a photograph" } else { "grey: its luminance" };
        let what = format!(
            "{} × {}, {kind}; singular values from {first:.3} to {last:.3} at rank {}; {:.2} % of the pixels seen",
            picture.rows,
            picture.columns,
            config.rank,
            100.0 * problem.share()
        );
        section.setup.insert(at, (picture.name.clone(), what));
    }
}

/// What does not depend on the machine, for the first picture. A run that diverged has no number.
fn numbers(section: &mut Section, first: &Contested) {
    let sound = |contestant| first.of(contestant).filter(|f| !f.has_diverged());
    let iterations = |contestant| sound(contestant).map_or(f64::NAN, |f| f.last().iteration as f64);
    let psnrs = [
        ("AccIHT PSNR", Contestant::AccIht),
        ("IHT PSNR", Contestant::Iht),
        ("Frank-Wolfe PSNR", Contestant::FrankWolfe),
        ("BFGD PSNR", Contestant::Bfgd),
        ("Soft-Impute PSNR", Contestant::SoftImpute),
        ("Riemannian CG PSNR", Contestant::RiemannianCg),
        ("staged PSNR", Contestant::Staged),
    ];
    section.count(psnrs.map(|(name, contestant)| (name, sound(contestant).map_or(f64::NAN, |f| f.nearness.psnr))));
    section.count([
        ("staged iterations", iterations(Contestant::Staged)),
        ("Riemannian CG iterations", iterations(Contestant::RiemannianCg)),
        ("AccIHT iterations over IHT iterations", first.accelerated_over_plain().map_or(f64::NAN, |ratio| ratio[0])),
    ]);
}

/// One verdict on each claim, over all pictures: what is compared is a ratio of costs that the claim says is below 1.
fn verdicts(contested: &[Contested]) -> [(String, Agreement); 3] {
    let verdict = |what: &str, ratios: fn(&Contested) -> Option<Vec<f64>>| {
        let all: Vec<Option<Vec<f64>>> = contested.iter().map(ratios).collect();
        let words = contested.iter().zip(&all).map(|(c, ratios)| {
            let numbers = |r: &Vec<f64>| r.iter().map(|r| format!("{r:.2}")).collect::<Vec<_>>().join(", ");
            let lost = c.finished[PAPERS].iter().filter(|f| f.has_diverged()).map(|f| f.label() + " diverged");
            let none = || [vec!["nothing to compare".to_owned()], lost.collect()].concat().join(": ");
            format!("{}: {}", c.heading(), ratios.as_ref().map_or_else(none, numbers))
        });
        (format!("{what}: {}", words.collect::<Vec<_>>().join("; ")), agreement(&all))
    };
    [
        verdict("iterations and seconds of AccIHT over the least of the others", |c| c.over_the_best().map(Vec::from)),
        verdict("iterations and seconds of AccIHT over IHT's", |c| c.accelerated_over_plain().map(Vec::from)),
        verdict("iterations and seconds over BFGD's, of IHT and of AccIHT", |c| c.over_factored().map(Vec::from)),
    ]
}

/// Agrees where all ratios are below 1 and no picture lacks them, differs where all are above. A tie is neither.
fn agreement(pictures: &[Option<Vec<f64>>]) -> Agreement {
    let ratios = || pictures.iter().flatten().flatten();
    let all = |ordering: Ordering| ratios().all(|r| r.total_cmp(&1.0) == ordering);
    if ratios().next().is_none() {
        Agreement::Open
    } else if all(Ordering::Less) && pictures.iter().all(Option::is_some) {
        Agreement::Agrees
    } else if all(Ordering::Greater) {
        Agreement::Differs
    } else {
        Agreement::Partly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_counted() {
        for (ratios, judged) in [
            (vec![None], Agreement::Open),
            (vec![Some(vec![2.0, 3.0])], Agreement::Differs),
            (vec![Some(vec![0.5, 3.0])], Agreement::Partly),
            (vec![Some(vec![0.5, 0.5])], Agreement::Agrees),
            // A tie is not a win, and a picture without a verdict is missing from a whole one.
            (vec![Some(vec![0.5, 1.0])], Agreement::Partly),
            (vec![Some(vec![0.5]), None], Agreement::Partly),
        ] {
            assert_eq!(agreement(&ratios), judged, "{ratios:?}");
        }
    }
}
