//! `katoms fit`: the best model of k features or groups.

use anyhow::{Result, bail};
use clap::Args;
use katoms::Stop;
use katoms::search::Effort;
use katoms::select::Preparation;
use katoms_estimate::{FitOptions, Heredity, ResponseSizes};
use katoms_io::Fingerprint;

use super::separate;
use crate::Ended;
use crate::checkpoint::{self, Job};
use crate::data::Loaded;
use crate::finish::{Finished, ModelCommand, best_so_far, pairs};
use crate::response::name_of;
use crate::sizes::Sizes;
use crate::terminal::Terminal;
use crate::work::CheckpointArgs;

/// `katoms fit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms fit houses.csv --target price -k 5
  katoms fit patients.csv --target died --loss logistic -k 8 --out model.json --report report.html
  katoms fit claims.csv --target claims --loss poisson --exposure years -k 6
  katoms fit trial.csv --time days --event died --strata site -k 5 --out model.json
  katoms fit plants.csv --target height,weight,yield -k 6
  katoms fit plants.csv --target height,weight,yield -k 12 --separate-features
  katoms fit genes.npz --target y -k 10 --groups pathways.gmt --unknown-members skip
  katoms fit houses.csv --target price -k 6 --interactions strong
  katoms fit X.npy --target y.npy -k 50 --no-intercept --time-limit 60 --checkpoint state.katoms
  katoms fit parts/*.npy --target y.npy -k 50 --workers 4

Without --method, accelerated IHT is followed by a search for better features, and the answer says how good it is; with
--effort thorough the search goes on for longer. With --method, that method runs once, and nothing follows it. Methods with
an l1 penalty or ball know no K: their penalty is chosen so that at most K features are in, unless --lambda or --radius is
given, and their coefficients are told as they are, brought towards zero.

Several targets are fitted by least squares and share their K features. With --separate-features each has its own, and K is
the number of them over all targets; --k-each gives a number for each target.

Several files are blocks of one matrix: of columns, where each has as many rows as the target has values, else of rows. Each
is opened by one of the workers, processes of this machine that hold it and multiply; the answer does not depend on how many
there are, and a worker that is lost is started again. Columns are numbered in the order of the files (x1 is the first of the
first file), which is the shell's for parts/*.npy: 10.npy before 2.npy, so write 02.npy.

Ctrl-C ends with the best model so far. With --checkpoint, the same command goes on where it was.")]
pub struct FitArgs {
    #[command(flatten)]
    pub(super) common: ModelCommand,
    /// The number of features, or of groups where there are groups; 0 is the model without any
    #[arg(short, value_name = "K", required_unless_present = "k_each")]
    k: Option<Sizes>,
    /// In place of -k, a number for each of several targets, which then have features of their own: 3,5,2
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "k", help_heading = "Model")]
    k_each: Option<Vec<usize>>,
    /// λ of ½λ‖x‖², on the standardised scale: pulls coefficients towards zero
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Model")]
    pub(super) ridge: f64,
    /// A single run of this method: one for k features, or one with a penalty or a ball (katoms methods)
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(super) method: Option<String>,
    /// λ of λ·Σ|x|, on the standardised scale, for lasso, fista and twist; unless given, the least at which at most K features are in
    #[arg(long, value_name = "LAMBDA", requires = "method", help_heading = "Model")]
    pub(super) lambda: Option<f64>,
    /// The bound on Σ|x| for frank-wolfe and its kin; unless given, that of the Lasso with at most K features
    #[arg(long, value_name = "RADIUS", requires = "method", conflicts_with = "lambda", help_heading = "Model")]
    pub(super) radius: Option<f64>,
    /// How hard to search: quick (no search after accelerated IHT), default, thorough, or how many times the default's work
    #[arg(long, value_name = "EFFORT", default_value = "default", value_parser = effort, help_heading = "Model")]
    pub(super) effort: Effort,
    /// The selection frequency of each feature: how often half-samples choose it, drawn in so many pairs, 25 unless given
    #[arg(long, value_name = "PAIRS", num_args = 0..=1, default_missing_value = "25", value_parser = pairs, help_heading = "Model")]
    pub(super) stability: Option<usize>,
    /// What half-samples are drawn with
    #[arg(long, default_value_t = 0, help_heading = "Model")]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) checkpoint: CheckpointArgs,
}

impl FitArgs {
    fn size(&self, terminal: &Terminal) -> Result<usize> {
        let sizes = self.k.as_ref().map_or(&[][..], |Sizes(sizes)| sizes);
        if let [k] = sizes[..] {
            return Ok(k);
        }
        let cv = terminal.command_as("cv", &["--method", "--stability", "--checkpoint"]);
        let path = terminal.command_as("path", &["--method", "--stability", "--checkpoint", "--seed"]);
        bail!(
            "fit takes one size, and -k has {}. Which of them? By cross-validation:\n  {cv}\nor by an information \
             criterion:\n  {path}",
            sizes.len()
        )
    }

    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        let common = &self.common;
        let k = if self.k_each.is_some() { 0 } else { self.size(terminal)? };
        common.begin(self.checkpoint.path())?;
        if let Some((option, sizes)) = self.separate_sizes(k) {
            let loaded = common.load(None, terminal)?;
            separate::check_several(&loaded, option)?;
            return self.run_separate(&loaded, &sizes, terminal);
        }
        let mut checkpoint = self.checkpoint.open()?;
        let mut loaded = common.load(None, terminal)?;
        let preparation = loaded.preparation(&common.model, self.ridge);
        if let Some(heredity) = loaded.interactions {
            return self.run_with_interactions(k, heredity, (&mut loaded, preparation), terminal);
        }
        let design = loaded.design(preparation)?;
        let features = loaded.features(&design, preparation)?;
        loaded.check_size(k, &features)?;
        let monitor = common.monitor(&loaded, terminal, ("fitting", None));
        let job = || self.job(k, &loaded);
        let found = checkpoint.run(terminal, &loaded.path, job, monitor, |resume, monitor| {
            let stop = Stop { seconds: common.output.work.time_limit, ..Stop::default() };
            let (method, penalty, radius) = (self.method.clone(), self.lambda, self.radius);
            let options = FitOptions { method, penalty, radius, effort: self.effort, stop, resume, start: None };
            features.fit(k, &options, monitor).map_err(|error| loaded.named(error))
        });
        let (mut estimate, cut) = found.map_err(|error| loaded.lost().unwrap_or(error))?;
        estimate.outcome.status = cut.status(estimate.outcome.status);
        let estimate = best_so_far(&loaded, estimate)?;
        let mut finished = Finished::new(&loaded, &features, estimate, (k, preparation));
        finished.method = self.method.as_deref();
        if !cut.stopped {
            finished.find_selection_frequencies(self.stability, self.seed, &common.output, terminal);
        }
        let ended = finished.deliver(&common.output, terminal)?;
        checkpoint.forget(finished.is_finished());
        Ok(ended)
    }

    fn run_with_interactions(
        &self,
        k: usize,
        heredity: Heredity,
        (loaded, preparation): (&mut Loaded, Preparation),
        terminal: &Terminal,
    ) -> Result<Ended> {
        let common = &self.common;
        for (is_given, option) in [
            (self.method.is_some(), "--method"),
            (self.stability.is_some(), "--stability"),
            (self.checkpoint.path().is_some(), "--checkpoint"),
        ] {
            if is_given {
                bail!("{option} does not go with --interactions, which have a search of their own; leave {option} out");
            }
        }
        let mut monitor = common.monitor(loaded, terminal, ("fitting", None));
        let stop = Stop { seconds: common.output.work.time_limit, ..Stop::default() };
        let options = FitOptions { effort: self.effort, stop, ..FitOptions::default() };
        let found = {
            let design = loaded.design(preparation)?;
            let features = loaded.features(&design, preparation)?;
            loaded.check_size(k, &features)?;
            let crossed = features.with_interactions(heredity).map_err(|error| loaded.error(error))?;
            crossed.fit(k, &options, &mut monitor).map_err(|error| loaded.error(error))?
        };
        let cut = monitor.finish(terminal);
        loaded.add_products(found.products);
        let mut estimate = found.found;
        estimate.outcome.status = cut.status(estimate.outcome.status);
        let design = loaded.design(preparation)?;
        let features = loaded.features(&design, preparation)?;
        Finished::new(loaded, &features, estimate, (k, preparation)).deliver(&common.output, terminal)
    }

    /// So many features over all targets or for each, where each has its own; with the option that says so.
    fn separate_sizes(&self, k: usize) -> Option<(&'static str, ResponseSizes)> {
        match (&self.k_each, self.common.model.separate_features) {
            (Some(sizes), _) => Some(("--k-each", ResponseSizes::Each(sizes.clone()))),
            (None, true) => Some(("--separate-features", ResponseSizes::Total(k))),
            (None, false) => None,
        }
    }

    fn job(&self, k: usize, loaded: &Loaded) -> Job {
        let Fingerprint { rows, columns, checksum } = loaded.fingerprint();
        let groups = match &loaded.dataset.groups {
            Some(groups) => {
                let members: Vec<f64> = groups.iter().flat_map(|g| g.members.iter().map(|&j| j as f64)).collect();
                let sizes: Vec<f64> = groups.iter().map(|g| g.members.len() as f64).collect();
                format!("{} (checksum {})", groups.len(), checkpoint::checksum(&[&sizes, &members]))
            }
            None => "none".into(),
        };
        let always: Vec<&str> =
            loaded.dataset.always.iter().map(|&j| loaded.dataset.features[j].name.as_str()).collect();
        let options = [
            ("k", k.to_string()),
            ("--method", self.method.clone().unwrap_or_else(|| "the search".into())),
            ("--lambda", self.lambda.map_or_else(|| "by k".into(), |lambda| lambda.to_string())),
            ("--radius", self.radius.map_or_else(|| "by k".into(), |radius| radius.to_string())),
            ("--effort", format!("{:?}", self.effort).to_lowercase()),
            ("--loss", name_of(loaded.loss)),
            ("its options", loaded.response.settings()),
            ("--ridge", self.ridge.to_string()),
            ("--no-intercept", self.common.model.no_intercept.to_string()),
            ("--no-standardize", self.common.model.no_standardize.to_string()),
            ("groups", groups),
            ("--always", if always.is_empty() { "none".into() } else { always.join(", ") }),
        ];
        let options = options.map(|(name, value)| (name.to_owned(), value)).into();
        Job { command: "fit".into(), rows, columns, checksum, options }
    }
}

fn effort(text: &str) -> Result<Effort, String> {
    Effort::named(text).ok_or_else(|| "it must be quick, default, thorough, or a number above 0".into())
}
