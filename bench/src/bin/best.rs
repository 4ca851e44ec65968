//! Against the best of the others, each section from one command:
//!
//! `cargo run --release -p katoms-bench --bin best SECTION [FOLDER] [OPTIONS]`
//!
//! - `draws`: the draws of `recovery` and `correlated` for the Python peers, into FOLDER;
//! - `recovery`: who recovers planted vectors, into FOLDER/recovery_METHOD.csv;
//! - `figure`: FOLDER/recovery.svg and a table, from all those files and the peers';
//! - `correlated`: support and prediction on the AR(1) design, into FOLDER/correlated_METHOD.csv, and
//!   a table of all such files;
//! - `path`: passes and objectives along k = 1, …, 50 on a wide noisy problem, against OMP's;
//! - `cv`: the time of a five-fold cross-validation there, against the plain path's.
//!
//! FOLDER is `target/best` unless told. Options: `--draws N` (20, of recovery), `--full` (100 draws and every k
//! from 30 to 80 in place of every fifth; more seeds), `--methods a,b` (those only; the files of the others stay).
//! Then, with the peers:
//!
//! ```text
//! .venv/bin/python bench/peers/lasso_recovery.py target/best
//! .venv/bin/python bench/peers/lasso_correlated.py target/best
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use katoms::loss::LeastSquares;
use katoms::operator::{Counted, Counts};
use katoms::select::{CrossValidation, Folds, Preparation, cross_validate};
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms::{Fit, Objective, fit};
use katoms_bench::baselines::Data;
use katoms_bench::figure::{HEADER, Tally};
use katoms_bench::problems::{self, Halves, Kind, Sparse};
use katoms_bench::scores;
use rayon::prelude::*;

type Outcome<T> = Result<T, Box<dyn Error>>;
/// A model of at most k atoms.
type Method = fn(&Sparse<f64>, usize) -> Result<SparseVec, katoms::Error>;

const METHODS: [(&str, Method); 9] = [
    ("katoms", ours),
    ("katoms-shrunk", shrunk),
    ("omp", |p, k| data(p)?.best("omp", k)?.vector(p.truth.dim())),
    ("forward", |p, k| data(p)?.best("forward-regression", k)?.vector(p.truth.dim())),
    // FoBa grows as far as it can, and takes useless atoms back.
    ("foba", |p, k| data(p)?.foba(k, p.rows.max(k))?.vector(p.truth.dim())),
    ("cosamp", |p, k| data(p)?.best("cosamp", k)?.vector(p.truth.dim())),
    ("subspace", |p, k| data(p)?.best("subspace-pursuit", k)?.vector(p.truth.dim())),
    ("htp", |p, k| data(p)?.htp(k)?.vector(p.truth.dim())),
    ("oblivious", |p, k| data(p)?.best("oblivious", k)?.vector(p.truth.dim())),
];

/// A relative error up to here is exact recovery.
const EXACT: f64 = 1e-6;
const SEEDS: u64 = 50;
const CORRELATED_HEADER: &str = "seed,k,method,auc,r2";

/// What is compared with the others.
fn ours(problem: &Sparse<f64>, k: usize) -> Result<SparseVec, katoms::Error> {
    Ok(fit(&problem.squares()?, &KSparse::new(k, problem.truth.dim())?)?.point)
}

/// k atoms, the weak ones pulled in as five-fold cross-validation likes: for more atoms than there are.
fn shrunk(problem: &Sparse<f64>, k: usize) -> Result<SparseVec, katoms::Error> {
    let (design, loss) = (problem.operator()?, LeastSquares::new(problem.target.clone())?);
    let shrinkages = vec![0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let options = CrossValidation { shrinkages, standardize: false, intercept: false, ..CrossValidation::new([k]) };
    let set = KSparse::new(k, problem.truth.dim())?;
    let validated = cross_validate(&design, &loss, &set, &Folds::random(problem.rows, 5, 0)?, &options)?;
    Ok(validated.model(validated.min()).map(|model| model.coefficients.clone()).unwrap_or_else(|| SparseVec::full(&[])))
}

fn data(problem: &Sparse<f64>) -> Result<Data<'_>, katoms::Error> {
    Data::new(&problem.design, problem.rows, problem.truth.dim(), &problem.target)
}

/// What the command line asks for.
struct Asked {
    section: String,
    folder: PathBuf,
    draws: u64,
    full: bool,
    ks: Vec<usize>,
    methods: Vec<(&'static str, Method)>,
}

type Section = (&'static str, fn(&Asked) -> Outcome<()>);

const SECTIONS: [Section; 6] = [
    ("draws", draws),
    ("recovery", recovery),
    ("figure", figure),
    ("correlated", correlated),
    ("path", path),
    ("cv", cv),
];

fn main() -> Outcome<()> {
    let asked = Asked::new(std::env::args().skip(1))?;
    let Some((_, section)) = SECTIONS.iter().find(|s| s.0 == asked.section) else {
        let names: Vec<&str> = SECTIONS.iter().map(|s| s.0).collect();
        return Err(format!("the sections are {}; `{}` is none", names.join(", "), asked.section).into());
    };
    fs::create_dir_all(&asked.folder)?;
    section(&asked)
}

impl Asked {
    fn new(mut words: impl Iterator<Item = String>) -> Outcome<Self> {
        let (mut plain, mut draws, mut full, mut methods) = (Vec::new(), None, false, METHODS.to_vec());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--draws" => draws = Some(value()?.parse()?),
                "--full" => full = true,
                "--methods" => methods = named(&value()?)?,
                option if option.starts_with('-') => return Err(format!("there is no option {option}").into()),
                _ => plain.push(word),
            }
        }
        let mut plain = plain.into_iter();
        let section = plain.next().unwrap_or_default();
        let folder = plain.next().map_or_else(|| PathBuf::from("target/best"), PathBuf::from);
        let ks = (30..=80).step_by(if full { 1 } else { 5 }).collect();
        let draws = draws.unwrap_or(if full { 100 } else { 20 });
        Ok(Self { section, folder, draws, full, ks, methods })
    }
}

fn named(list: &str) -> Outcome<Vec<(&'static str, Method)>> {
    let one = |name| METHODS.iter().find(|m| m.0 == name).copied().ok_or_else(|| format!("there is no method {name}"));
    Ok(list.split(',').map(one).collect::<Result<_, _>>()?)
}

fn write_f64(path: &Path, values: impl IntoIterator<Item = f64>) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for v in values {
        file.write_all(&v.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

/// Raw f64, little-endian, column-major, in two folders, each with a `manifest.json`.
///
/// `recovery`: `design_DRAW.f64`, and `signals_KIND_DRAW.f64`, one dense vector for each k of the manifest.
/// `correlated`: `train_design_SEED.f64`, `train_target_SEED.f64`, the same for `test`, `signal_SEED.f64`.
fn draws(asked: &Asked) -> Outcome<()> {
    let folder = asked.folder.join("recovery");
    fs::create_dir_all(&folder)?;
    (0..asked.draws).into_par_iter().try_for_each(|draw| {
        let one = |draw| -> Outcome<()> {
            write_f64(&folder.join(format!("design_{draw}.f64")), problems::recovery(draw, 1, Kind::Gaussian)?.design)?;
            for kind in Kind::ALL {
                let mut signals = Vec::new();
                for &k in &asked.ks {
                    signals.extend(problems::recovery(draw, k, kind)?.truth.to_dense());
                }
                write_f64(&folder.join(format!("signals_{}_{draw}.f64", kind.name())), signals)?;
            }
            Ok(())
        };
        one(draw).map_err(|e| e.to_string())
    })?;
    let kinds: Vec<String> = Kind::ALL.iter().map(|k| format!("{:?}", k.name())).collect();
    let (kinds, draws, ks) = (kinds.join(", "), asked.draws, &asked.ks);
    let told = format!(r#"{{"rows": 200, "columns": 1000, "draws": {draws}, "kinds": [{kinds}], "ks": {ks:?}}}"#);
    fs::write(folder.join("manifest.json"), told)?;
    println!("{draws} draws, {} values of k: {}", ks.len(), folder.display());

    let folder = asked.folder.join("correlated");
    fs::create_dir_all(&folder)?;
    for seed in 0..SEEDS {
        let Halves { train, test_design, test_target } = problems::correlated_halves(seed)?;
        let write = |name: &str, values| write_f64(&folder.join(format!("{name}_{seed}.f64")), values);
        write("signal", train.truth.to_dense())?;
        write("train_design", train.design)?;
        write("train_target", train.target)?;
        write("test_design", test_design)?;
        write("test_target", test_target)?;
    }
    let ks: Vec<usize> = (5..=40).step_by(5).collect();
    fs::write(
        folder.join("manifest.json"),
        format!(r#"{{"rows": 400, "columns": 200, "seeds": {SEEDS}, "ks": {ks:?}}}"#),
    )?;
    println!("{SEEDS} seeds of the AR(1) design: {}", folder.display());
    Ok(())
}

/// Runs each task on rayon's threads; its lines go into the file as they come.
fn stream<T: Sync>(file: &Path, header: &str, tasks: &[T], run: impl Fn(&T) -> Outcome<String> + Sync) -> Outcome<()> {
    let mut out = File::create(file).map_err(|e| format!("{}: {e}", file.display()))?;
    writeln!(out, "{header}")?;
    let out = Mutex::new(out);
    tasks.par_iter().try_for_each(|task| {
        let lines = run(task).map_err(|e| e.to_string())?;
        let mut out = out.lock().map_err(|e| e.to_string())?;
        out.write_all(lines.as_bytes()).map_err(|e| e.to_string())
    })?;
    Ok(())
}

/// A relative error of 1e-6, for each draw, kind, k and method.
fn recovery(asked: &Asked) -> Outcome<()> {
    let tasks: Vec<(u64, Kind)> = (0..asked.draws).flat_map(|d| Kind::ALL.map(|kind| (d, kind))).collect();
    for (name, method) in &asked.methods {
        let start = Instant::now();
        let file = asked.folder.join(format!("recovery_{name}.csv"));
        stream(&file, HEADER, &tasks, |&(draw, kind)| {
            let mut lines = String::new();
            for &k in &asked.ks {
                let problem = problems::recovery(draw, k, kind)?;
                let exact = scores::relative_error(&method(&problem, k)?, &problem.truth) <= EXACT;
                lines += &format!("{},{k},{draw},{name},{}\n", kind.name(), u8::from(exact));
            }
            Ok(lines)
        })?;
        let (seconds, runs) = (start.elapsed().as_secs_f64(), tasks.len() * asked.ks.len());
        println!("{name:10} {runs} fits, {seconds:.1} s, {:.1} ms each", 1e3 * seconds / runs as f64);
    }
    figure(asked)
}

/// The table and the figure of all files of successes.
fn figure(asked: &Asked) -> Outcome<()> {
    let tally = Tally::read(&asked.folder)?;
    print!("{}", tally.table(5));
    let path = asked.folder.join("recovery.svg");
    tally.draw(&path)?;
    println!("{}", path.display());
    Ok(())
}

/// AUC of the support and R² on the test half, for each seed, k and method.
fn correlated(asked: &Asked) -> Outcome<()> {
    let seeds: Vec<u64> = (0..SEEDS).collect();
    for (name, method) in &asked.methods {
        let start = Instant::now();
        let file = asked.folder.join(format!("correlated_{name}.csv"));
        stream(&file, CORRELATED_HEADER, &seeds, |&seed| {
            let halves = problems::correlated_halves(seed)?;
            let mut lines = String::new();
            for k in (5..=40).step_by(5) {
                let found = method(&halves.train, k)?;
                let auc = scores::support_auc(&found, &halves.train.truth);
                let r2 = scores::r_squared(&halves.test_design, &halves.test_target, &found);
                lines += &format!("{seed},{k},{name},{auc:.6},{r2:.6}\n");
            }
            Ok(lines)
        })?;
        println!("{name:10} {:.1} s", start.elapsed().as_secs_f64());
    }
    correlated_table(&asked.folder)
}

/// Means over the seeds of all files `correlated_*.csv`, and by how many standard errors of the mean
/// difference each is above ours.
fn correlated_table(folder: &Path) -> Outcome<()> {
    let mut cells: BTreeMap<String, BTreeMap<usize, BTreeMap<u64, [f64; 2]>>> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let text = match path.extension() {
            Some(extension) if extension == "csv" => fs::read_to_string(&path)?,
            _ => continue,
        };
        let Some(rows) = text.strip_prefix(CORRELATED_HEADER) else { continue };
        for line in rows.lines().filter(|l| !l.trim().is_empty()) {
            let [seed, k, method, auc, r2] = line.trim().split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("{}: `{line}` is not {CORRELATED_HEADER}", path.display()).into());
            };
            let of_k = cells.entry(method.into()).or_default().entry(k.parse()?).or_default();
            of_k.insert(seed.parse()?, [auc.parse()?, r2.parse()?]);
        }
    }
    let ks: Vec<usize> = (5..=40).step_by(5).collect();
    for (what, pick) in [("AUC", 0), ("test R2", 1)] {
        println!("{what:16}{}", ks.iter().map(|k| format!("{k:15}")).collect::<String>());
        for (method, of_method) in &cells {
            let cell = |k: &usize| {
                let values = of_method.get(k)?;
                let mean = values.values().map(|v| v[pick]).sum::<f64>() / values.len() as f64;
                let ours = cells.get("katoms-shrunk")?.get(k)?;
                let over: Vec<f64> = values.iter().filter_map(|(s, v)| Some(v[pick] - ours.get(s)?[pick])).collect();
                Some(format!("{mean:8.4} {:+6.1}", in_errors(&over)))
            };
            let line: String = ks.iter().map(|k| format!("{:>15}", cell(k).unwrap_or_default())).collect();
            println!("{method:16}{line}");
        }
    }
    println!("second number: standard errors by which a method's mean is above that of katoms-shrunk, seed by seed");
    Ok(())
}

/// A mean in units of its standard error.
fn in_errors(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let error = (square / (count - 1.0) / count).sqrt();
    if error > 0.0 { mean / error } else { 0.0 }
}

const LONGEST: usize = 50;

/// Our path against OMP's: passes, and objectives at every k.
fn path(asked: &Asked) -> Outcome<()> {
    let seeds = if asked.full { 20 } else { 3 };
    println!("1000 x 20000 f64, 25 planted, SNR 5, k = 1, ..., {LONGEST}: ours against OMP's");
    println!("pass-equivalents: entries read, over the entries of the design");
    let (mut worst, mut worse, mut models) = (f64::NEG_INFINITY, 0, 0);
    for seed in 0..seeds {
        let problem = problems::path_problem(seed)?;
        let counted = Counted::new(problem.operator()?);
        let f = Objective::new(&counted, LeastSquares::new(problem.target.clone())?)?;
        let set = KSparse::new(1, problem.truth.dim())?;
        let start = Instant::now();
        let ours = Fit::new(&f, &set).path(1..=LONGEST)?;
        let seconds = start.elapsed().as_secs_f64();
        let Counts { passes, columns, .. } = counted.take();
        let equivalents = passes as f64 + columns as f64 / problem.truth.dim() as f64;
        let start = Instant::now();
        let omp = data(&problem)?.greedy("omp", LONGEST)?;
        let omp_seconds = start.elapsed().as_secs_f64();
        let excess: Vec<f64> = ours.models.iter().zip(&omp).map(|(o, p)| o.objective / p.objective - 1.0).collect();
        let most = excess.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = excess.iter().sum::<f64>() / excess.len() as f64;
        let above = excess.iter().filter(|e| **e > 1e-9).count();
        (worst, worse, models) = (most.max(worst), worse + above, models + excess.len());
        println!(
            "seed {seed:2}: {passes} passes, {equivalents:.2} pass-equivalents, {seconds:.2} s (OMP {omp_seconds:.2} s); \
             objective over OMP's: mean {mean:+.2e}, worst {most:+.2e}, {above} of {} above",
            excess.len()
        );
    }
    println!("in all: worst {worst:+.2e}, {worse} of {models} models above OMP's");
    Ok(())
}

/// Five-fold cross-validation over twenty values of k against the plain path over them, in turns.
fn cv(asked: &Asked) -> Outcome<()> {
    let (folds, seeds) = (5, if asked.full { 10 } else { 3 });
    println!("1000 x 20000 f64, 25 planted, SNR 5: {folds} folds, k = 2, 4, ..., 40, against the plain path over them");
    for seed in 0..seeds {
        let problem = problems::path_problem(seed)?;
        let (design, loss) = (problem.operator()?, LeastSquares::new(problem.target.clone())?);
        let set = KSparse::new(1, problem.truth.dim())?;
        let sizes: Vec<usize> = (2..=40).step_by(2).collect();
        let rows = (0..problem.rows).collect();
        let start = Instant::now();
        let preparation = Preparation::default();
        let f = preparation.objective(&design, &loss, rows)?;
        let plain = Fit::new(&f, &preparation.set(&set, f.loss())?).path(sizes.clone())?;
        let plain_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let splits = Folds::random(problem.rows, folds, seed)?;
        let validated = cross_validate(&design, &loss, &set, &splits, &CrossValidation::new(sizes))?;
        let seconds = start.elapsed().as_secs_f64();
        let (least, sparse) = (validated.min().atoms, validated.one_se().atoms);
        let model = validated.model(validated.one_se()).ok_or("every choice has a model")?;
        let found = model.coefficients.indices().iter().filter(|j| problem.truth.indices().contains(j)).count();
        println!(
            "seed {seed}: {seconds:.2} s and {} passes; the path {plain_seconds:.2} s and {} passes: ratio {:.2}; \
             k_min {least}, k_1se {sparse} with {found} planted",
            validated.passes,
            plain.passes,
            seconds / plain_seconds
        );
    }
    Ok(())
}
