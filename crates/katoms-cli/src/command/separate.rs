//! Several targets, each with features of its own: `fit`, `path` and `cv` with `--separate-features`.

use anyhow::{Result, anyhow, bail};
use katoms::loss::AnyLoss;
use katoms::operator::AnyDesign;
use katoms::select::{FoldModel, Folds, Preparation, Score, Validated};
use katoms::space::SparseVec;
use katoms::{Error, Stop};
use katoms_estimate::score::together;
use katoms_estimate::{EachResponse, Features, FitOptions, PathModels, ResponseSizes, SeparateModels, choice_of_each};
use serde_json::{Value, json};

use super::cv::{self, CvArgs};
use super::fit::FitArgs;
use super::path::{self, PathArgs};
use crate::Ended;
use crate::data::Loaded;
use crate::finish::{Finished, Separate};
use crate::judged::{Judged, Told};
use crate::terminal::{Terminal, number};
use crate::watch::{Cut, Monitor};
use crate::words;

impl Loaded {
    /// Whether there are several targets.
    pub(super) fn has_several_targets(&self) -> bool {
        self.dataset.target.as_ref().is_some_and(|target| !target.responses.is_empty())
    }

    fn targets(&self) -> &[String] {
        self.dataset.target.as_ref().map_or(&[], |target| &target.responses)
    }

    /// The problem of each target.
    fn each<'a>(&self, design: &'a AnyDesign<'a>, preparation: Preparation) -> Result<EachResponse<'a>> {
        let each = EachResponse::new(self.measure()?, |loss| self.features_for(loss, design, preparation));
        each.map_err(|error| self.error(error))
    }
}

/// Coefficients and intercepts at which a fit begins.
type Start = (SparseVec, Vec<f64>);

/// A model of all targets together, with what chose its sizes.
struct Chosen {
    models: SeparateModels,
    cut: Cut,
    preparation: Preparation,
}

impl Chosen {
    fn finished<'a>(&self, loaded: &'a Loaded, features: &'a Features<'a>) -> Finished<'a> {
        let k = self.models.sizes.iter().sum();
        let mut estimate = self.models.whole.clone();
        estimate.outcome.status = self.cut.status(estimate.outcome.status);
        let mut finished = Finished::new(loaded, features, estimate, (k, self.preparation));
        let targets = (loaded.targets(), loaded.atoms_are());
        let quality = words::each_response(&self.models, targets, |atom| loaded.atom(atom).to_owned());
        finished.separate = Some(Separate { sizes: self.models.sizes.clone(), quality });
        finished
    }
}

/// The models of these sizes, each from the one that was chosen, in the time that is left to the whole job.
fn fit_each(
    each: &EachResponse<'_>,
    (sizes, starts): (&[usize], Vec<Option<Start>>),
    mut monitor: Monitor,
    terminal: &Terminal,
) -> Result<(SeparateModels, Cut), Error> {
    let stop = Stop { seconds: monitor.seconds_left(), ..Stop::default() };
    let fitted = each.fit_each(sizes, starts, &FitOptions { stop, ..FitOptions::default() }, &mut monitor);
    let cut = monitor.finish(terminal);
    Ok((fitted?, cut))
}

/// `a 3, b 1, c 4`.
pub fn sizes_in_words(targets: &[String], sizes: &[usize]) -> String {
    targets.iter().zip(sizes).map(|(name, k)| format!("{name} {k}")).collect::<Vec<_>>().join(", ")
}

impl FitArgs {
    /// So many features in all, or for each target.
    pub(super) fn run_separate(&self, loaded: &Loaded, sizes: &ResponseSizes, terminal: &Terminal) -> Result<Ended> {
        if self.checkpoint.path().is_some() {
            bail!(
                "--checkpoint keeps the state of one search, and targets with features of their own have one each; leave it \
                 out, or fit each target alone"
            );
        }
        let common = &self.common;
        let preparation = loaded.preparation(&common.model, self.ridge);
        let design = loaded.design(preparation)?;
        let (each, features) = (loaded.each(&design, preparation)?, loaded.features(&design, preparation)?);
        self.check_sizes(loaded, &each, sizes)?;
        let mut monitor = common.monitor(loaded, terminal, ("fitting", Some(0)));
        let stop = Stop { seconds: common.output.work.time_limit, ..Stop::default() };
        let (method, penalty, radius) = (self.method.clone(), self.lambda, self.radius);
        let how = FitOptions { method, penalty, radius, effort: self.effort, stop, ..FitOptions::default() };
        let models = each.fit(sizes, &how, &mut monitor);
        let cut = monitor.finish(terminal);
        let models = loaded.whole(models)?;
        let chosen = Chosen { models, cut, preparation };
        let mut finished = chosen.finished(loaded, &features);
        finished.method = self.method.as_deref();
        finished.find_selection_frequencies(self.stability, self.seed, &common.output, terminal);
        finished.deliver(&common.output, terminal)
    }

    fn check_sizes(&self, loaded: &Loaded, each: &EachResponse<'_>, sizes: &ResponseSizes) -> Result<()> {
        let (targets, atoms) = (loaded.targets(), loaded.atoms_are());
        match sizes {
            ResponseSizes::Each(sizes) if sizes.len() != targets.len() => bail!(
                "--k-each has {} sizes, and there are {} targets ({}); give one size for each, such as --k-each {}",
                sizes.len(),
                targets.len(),
                targets.join(", "),
                vec!["3"; targets.len()].join(",")
            ),
            ResponseSizes::Each(sizes) => {
                let most = each.parts()[0].candidates();
                match sizes.iter().zip(targets).find(|(k, _)| **k > most) {
                    Some((k, name)) => bail!(
                        "--k-each is {k} for {name}, but {} has {most} {atoms} to choose from; it must lie between 0 and \
                         {most}",
                        loaded.path.display()
                    ),
                    None => Ok(()),
                }
            }
            ResponseSizes::Total(total) => {
                let (most, count) = (each.candidates(), targets.len());
                if *total > most {
                    bail!(
                        "-k is {total}, but {} has {} {atoms} to choose from for each of {count} targets; k must lie between \
                         0 and {most}",
                        loaded.path.display(),
                        most / count.max(1),
                    );
                }
                Ok(())
            }
        }
    }
}

impl PathArgs {
    /// A path of each target, of which the criterion takes a size.
    pub(super) fn run_separate(&self, loaded: &Loaded, terminal: &Terminal) -> Result<Ended> {
        let common = &self.common;
        let preparation = loaded.preparation(&common.model, self.ridge);
        let design = loaded.design(preparation)?;
        let (each, features) = (loaded.each(&design, preparation)?, loaded.features(&design, preparation)?);
        let sizes = loaded.sizes(self.k.as_ref(), &features, terminal)?;
        let mut monitor = common.monitor(loaded, terminal, ("path", Some(0)));
        let (name, criterion) = PathModels::CRITERIA[self.criterion];
        let paths = each.paths(sizes.as_deref(), criterion, &mut monitor);
        let monitor = monitor.next("fitting");
        let paths = loaded.whole(paths)?;
        let best: Vec<usize> = paths.iter().map(|path| path.best[self.criterion]).collect();
        for ((target, path), k) in loaded.targets().iter().zip(&paths).zip(&best) {
            terminal.say(format!("\n{target}\n{}\n{name} prefers k = {k} for {target}", path::table(loaded, path)));
        }
        let is_complete = paths.iter().all(|path| path.complete);
        if !is_complete {
            terminal.warn("ended early: not all sizes of all targets are there");
        }
        let is_sure = is_complete && paths.iter().flat_map(|path| &path.models).all(path::is_settled);
        let starts = paths.iter().zip(&best).map(|(path, &k)| path.model(k)).collect();
        let (models, cut) = loaded.whole(fit_each(&each, (&best, starts), monitor, terminal))?;
        let chosen = Chosen { models, cut, preparation };
        let mut finished = chosen.finished(loaded, &features);
        finished.chosen_by = Some(format!("{name} along the path of each target"));
        let edges = loaded.targets().iter().zip(each.parts()).zip(paths.iter().zip(&best));
        let edges = edges.filter_map(|((target, part), (path, &k))| {
            let (sizes, said) = (path.sizes(), format!("for {target} {name} prefers"));
            let range = |last: usize| format!("-k 0..{last}");
            words::edge(&said, part.edge_of_criterion(&sizes, k), (&sizes, k), range, "katoms cv")
        });
        finished.edge = warning(edges.collect());
        if common.output.work.json {
            let one =
                |(target, path): (&String, &PathModels)| json!({ "target": target, "path": self.json(loaded, path) });
            let all: Vec<Value> = loaded.targets().iter().zip(&paths).map(one).collect();
            finished.extra = Some(("paths", all.into()));
        }
        finished.find_selection_frequencies(None, 0, &common.output, terminal);
        Ok(common.ended(finished.deliver(&common.output, terminal)?, is_sure))
    }
}

impl CvArgs {
    /// A size of each target, by the same rows held out, under one ridge.
    pub(super) fn run_separate(&self, loaded: &Loaded, told: Told, terminal: &Terminal) -> Result<Ended> {
        let common = &self.common;
        let unridged = loaded.preparation(&common.model, 0.0);
        let design = loaded.design(unridged)?;
        let each = loaded.each(&design, unridged)?;
        let joint = loaded.features(&design, unridged)?;
        let sizes = loaded.sizes(self.k.as_ref(), &joint, terminal)?;
        let measure = loaded.measure()?;
        let draws = self.drawn_folds(loaded, measure.loss())?;
        let mut monitor = common.monitor(loaded, terminal, ("cross-validating", Some(0)));
        let ridges = self.ridge.clone().unwrap_or_else(|| each.parts()[0].ridges());
        let one = |(part, loss): (&Features<'_>, &AnyLoss)| {
            let asked = (sizes.clone(), Some(ridges.clone()));
            let found = self.validated(part, None, asked, &draws, &mut monitor)?;
            let judged =
                found.into_iter().zip(&draws).map(|(one, folds)| part.judged_by(self.score, loss, one.found, folds));
            together(judged.collect::<Result<_, _>>()?).ok_or(Error::Empty { what: "the list of folds" })
        };
        let found: Result<Vec<Validated>, _> = each.parts().iter().zip(each.losses()).map(one).collect();
        let monitor = monitor.next("fitting");
        let found = loaded.whole(found)?;
        for (target, validated) in loaded.targets().iter().zip(&found) {
            terminal.say(format!("\n{target}"));
            cv::say_scores(validated, told, terminal);
        }
        let all: Vec<Vec<Score>> = found.iter().map(|validated| validated.scores.clone()).collect();
        let places = choice_of_each(&all, self.choose);
        let chosen: Vec<&Score> = all.iter().zip(&places).map(|(scores, &at)| &scores[at]).collect();
        let ridge = chosen[0].choice.ridge;
        let sizes: Vec<usize> = chosen.iter().map(|score| score.choice.atoms).collect();
        terminal.say(format!(
            "\nunder one ridge for all targets, {}: k is {}",
            number(ridge),
            sizes_in_words(loaded.targets(), &sizes)
        ));
        let preparation = loaded.preparation(&common.model, ridge);
        let (each, features) = (loaded.each(&design, preparation)?, loaded.features(&design, preparation)?);
        let start = |(validated, score): (&Validated, &&Score)| {
            validated.model(score.choice).map(|model| (model.coefficients.clone(), model.intercepts.clone()))
        };
        let starts = found.iter().zip(&chosen).map(start).collect();
        let (models, cut) = loaded.whole(fit_each(&each, (&sizes, starts), monitor, terminal))?;
        let model = Chosen { models, cut, preparation };
        let mut finished = model.finished(loaded, &features);
        finished.chosen_by =
            Some(format!("{}-fold cross-validation, for each target on the same folds", draws[0].count()));
        let held_out = held_out(&chosen, &draws[0])
            .and_then(|score| Judged::held_out(measure.loss(), &features, &score, &draws[0]));
        finished.held_out = Some(held_out.map_err(|error| loaded.error(error))?);
        let edges = loaded.targets().iter().zip(each.parts()).zip(found.iter().zip(&chosen));
        let edges = edges.filter_map(|((target, part), (validated, score))| {
            let alike = validated.scores.iter().filter(|one| one.choice.ridge == ridge);
            let tried: Vec<usize> = alike.map(|one| one.choice.atoms).collect();
            let (k, said) = (score.choice.atoms, format!("for {target} the {} is at", told.chosen()));
            let range = |last: usize| format!("-k 0..{last}");
            words::edge(&said, part.edge(&tried, k), (&tried, k), range, "katoms cv")
        });
        finished.edge = warning(edges.collect());
        if common.output.work.json {
            let one = |(target, validated): (&String, &Validated)| json!({ "target": target, "cross_validation": cv::json(loaded, validated, told) });
            let all: Vec<Value> = loaded.targets().iter().zip(&found).map(one).collect();
            finished.extra = Some(("cross_validations", all.into()));
        }
        finished.find_selection_frequencies(None, self.seed, &common.output, terminal);
        let is_complete = found.iter().all(|validated| validated.complete);
        Ok(common.ended(finished.deliver(&common.output, terminal)?, is_complete))
    }
}

fn warning(warnings: Vec<String>) -> Option<String> {
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

/// What the models of all targets say together, fold by fold.
fn held_out(chosen: &[&Score], folds: &Folds) -> Result<Score, Error> {
    let of_fold = |fold: usize| {
        let models: Vec<&FoldModel> = chosen.iter().map(|score| &score.models[fold]).collect();
        let columns = models[0].coefficients.dim();
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (target, model) in models.iter().enumerate() {
            for (j, value) in model.coefficients.entries() {
                indices.push(target * columns + j);
                values.push(value);
            }
        }
        Ok(FoldModel {
            coefficients: SparseVec::new(columns * models.len(), indices, values)?,
            intercepts: models.iter().map(|model| model.intercept()).collect(),
        })
    };
    let models = (0..folds.count()).map(of_fold).collect::<Result<Vec<_>, Error>>()?;
    let sums = (0..folds.count()).map(|fold| chosen.iter().map(|score| score.folds[fold]).sum()).collect();
    Ok(Score::new(chosen[0].choice, sums, models))
}

/// That features of its own for each target take several targets.
pub fn check_several(loaded: &Loaded, option: &str) -> Result<()> {
    if loaded.interactions.is_some() {
        bail!("--interactions goes with features that all targets share; leave {option} out, or fit each target alone");
    }
    match loaded.has_several_targets() {
        true => Ok(()),
        false => {
            Err(anyhow!("{option} goes with several targets, such as --target a,b,c, and one is given; use -k alone"))
        }
    }
}
