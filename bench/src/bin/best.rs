//! Against the best of the others, each section from one command:
//!
//! `cargo run --release -p katoms-bench --bin best SECTION [FOLDER] [OPTIONS]`
//!
//! - `draws`: the draws of `recovery` and `correlated` for the Python peers, into FOLDER;
//! - `recovery`: who recovers planted vectors, into FOLDER/recovery_METHOD.csv;
//! - `figure`: FOLDER/recovery.svg and a table, from all those files and the peers';
//! - `correlated`: support and prediction on the AR(1) design, into FOLDER/correlated_METHOD.csv, and
//!   a table of all such files;
//! - `path`: objectives along k = 1, …, 50 on the wide noisy problem;
//! - `cv`: k by five-fold cross-validation there.
//!
//! FOLDER is `target/best` unless told. Options: `--draws N` (20, of recovery), `--full` (100 draws and every k
//! from 30 to 80 in place of every fifth), `--methods a,b` (those only; the files of the others stay).
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

use katoms::fit;
use katoms::set::KSparse;
use katoms::space::SparseVec;
use katoms_bench::baselines::{self, Data, Model, at_most};
use katoms_bench::figure::{HEADER, Tally};
use katoms_bench::problems::{self, Halves, Kind, Sparse};
use katoms_bench::scores;
use rayon::prelude::*;

type Outcome<T> = Result<T, Box<dyn Error>>;
/// A model of at most k atoms.
type Method = fn(&Sparse<f64>, usize) -> Result<SparseVec, katoms::Error>;

const METHODS: [(&str, Method); 8] = [
    ("katoms", ours),
    ("omp", |p, k| along(p, k, |data| baselines::omp(data, k))),
    ("forward", |p, k| along(p, k, |data| baselines::forward_regression(data, k))),
    // FoBa is not told k: it grows as far as it can, and takes useless atoms back.
    ("foba", |p, k| along(p, k, |data| baselines::foba(data, p.rows, 0.5))),
    ("cosamp", |p, k| single(p, |data| baselines::cosamp(data, k))),
    ("subspace", |p, k| single(p, |data| baselines::subspace_pursuit(data, k))),
    ("htp", |p, k| single(p, |data| baselines::htp(data, k))),
    ("oblivious", |p, k| single(p, |data| baselines::oblivious(data, k))),
];

/// A relative error up to here is exact recovery.
const EXACT: f64 = 1e-6;
const SEEDS: u64 = 50;
const CORRELATED_HEADER: &str = "seed,k,method,auc,r2";

/// What is compared with the others.
fn ours(problem: &Sparse<f64>, k: usize) -> Result<SparseVec, katoms::Error> {
    Ok(fit(&problem.squares()?, &KSparse::new(k, problem.truth.dim())?)?.point)
}

fn data(problem: &Sparse<f64>) -> Result<Data<'_>, katoms::Error> {
    Data::new(&problem.design, problem.rows, problem.truth.dim(), &problem.target)
}

fn single(problem: &Sparse<f64>, method: impl Fn(&Data<'_>) -> Model) -> Result<SparseVec, katoms::Error> {
    method(&data(problem)?).vector(problem.truth.dim())
}

fn along(
    problem: &Sparse<f64>,
    k: usize,
    method: impl Fn(&Data<'_>) -> Vec<Model>,
) -> Result<SparseVec, katoms::Error> {
    let path = method(&data(problem)?);
    at_most(&path, k)
        .map_or_else(|| SparseVec::new(problem.truth.dim(), vec![], vec![]), |m| m.vector(problem.truth.dim()))
}

/// What the command line asks for.
struct Asked {
    section: String,
    folder: PathBuf,
    draws: u64,
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
        Ok(Self { section, folder, draws, ks, methods })
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

/// Means over the seeds of all files `correlated_*.csv`.
fn correlated_table(folder: &Path) -> Outcome<()> {
    let mut cells: BTreeMap<String, BTreeMap<usize, (f64, f64, f64)>> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let text = match path.extension() {
            Some(extension) if extension == "csv" => fs::read_to_string(&path)?,
            _ => continue,
        };
        let Some(rows) = text.strip_prefix(CORRELATED_HEADER) else { continue };
        for line in rows.lines().filter(|l| !l.is_empty()) {
            let [_, k, method, auc, r2] = line.trim().split(',').collect::<Vec<_>>()[..] else {
                return Err(format!("{}: `{line}` is not {CORRELATED_HEADER}", path.display()).into());
            };
            let cell = cells.entry(method.into()).or_default().entry(k.parse()?).or_default();
            *cell = (cell.0 + 1.0, cell.1 + auc.parse::<f64>()?, cell.2 + r2.parse::<f64>()?);
        }
    }
    let ks: Vec<usize> = (5..=40).step_by(5).collect();
    for (what, pick) in [("AUC", 0), ("test R2", 1)] {
        println!("{what:16}{}", ks.iter().map(|k| format!("{k:8}")).collect::<String>());
        for (method, line) in &cells {
            let mean = |k| line.get(k).map_or(f64::NAN, |c| if pick == 0 { c.1 / c.0 } else { c.2 / c.0 });
            println!("{method:16}{}", ks.iter().map(|k| format!("{:8.4}", mean(k))).collect::<String>());
        }
    }
    Ok(())
}

const LONGEST: usize = 50;
/// Those of the methods whose one run gives the whole path.
type PathMethod = fn(&Data<'_>) -> Vec<Model>;
const PATHS: [(&str, PathMethod); 3] = [
    ("omp", |data| baselines::omp(data, LONGEST)),
    ("forward", |data| baselines::forward_regression(data, LONGEST)),
    ("foba", |data| baselines::foba(data, 2 * LONGEST, 0.5)),
];

/// Objectives along k, and the seconds of the whole path.
fn path(asked: &Asked) -> Outcome<()> {
    println!("1000 x 20000 f64, 25 planted, SNR 5: objective at k, over that of forward regression");
    let ks: Vec<usize> = (5..=LONGEST).step_by(5).collect();
    println!("{:12}{}", "k", ks.iter().map(|k| format!("{k:9}")).collect::<String>());
    for seed in 0..3 {
        let problem = problems::path_problem(seed)?;
        let data = data(&problem)?;
        let tell = |name: &str, objectives: &[f64], base: &[f64], seconds: f64, of: usize| {
            let cells: String = objectives.iter().zip(base).map(|(o, b)| format!("{:9.5}", o / b)).collect();
            println!("{name:12}{cells}   {seconds:.2} s for {of} models");
        };
        let at =
            |path: &[Model]| ks.iter().map(|&k| at_most(path, k).map_or(f64::NAN, |m| m.objective)).collect::<Vec<_>>();
        let base = at(&baselines::forward_regression(&data, LONGEST));
        for (name, run) in PATHS.iter().filter(|p| asked.methods.iter().any(|m| m.0 == p.0)) {
            let start = Instant::now();
            let path = run(&data);
            tell(name, &at(&path), &base, start.elapsed().as_secs_f64(), path.len());
        }
        for (name, run) in asked.methods.iter().filter(|m| PATHS.iter().all(|p| p.0 != m.0)) {
            let start = Instant::now();
            let found = ks.iter().map(|&k| run(&problem, k)).collect::<Result<Vec<_>, _>>()?;
            let seconds = start.elapsed().as_secs_f64();
            let objective = |x: &SparseVec| 0.5 * scores::square_error(&problem.design, &problem.target, x);
            tell(name, &found.iter().map(objective).collect::<Vec<_>>(), &base, seconds, ks.len());
        }
    }
    Ok(())
}

/// k by five-fold cross-validation over a path, for the methods whose one run gives it.
fn cv(asked: &Asked) -> Outcome<()> {
    const FOLDS: usize = 5;
    println!("1000 x 20000 f64, 25 planted, SNR 5: {FOLDS} folds, k = 1, ..., {LONGEST}");
    for seed in 0..3 {
        let problem = problems::path_problem(seed)?;
        let (rows, columns) = (problem.rows, problem.truth.dim());
        for (name, run) in PATHS.iter().filter(|p| asked.methods.iter().any(|m| m.0 == p.0)) {
            let start = Instant::now();
            let mut errors = vec![0.0; LONGEST];
            for fold in 0..FOLDS {
                let (inside, outside): (Vec<usize>, Vec<usize>) = (0..rows).partition(|i| i % FOLDS != fold);
                let part = |kept: &[usize]| {
                    let design =
                        problem.design.chunks(rows).flat_map(|c| kept.iter().map(|&i| c[i])).collect::<Vec<_>>();
                    (design, kept.iter().map(|&i| problem.target[i]).collect::<Vec<_>>())
                };
                let ((design, y), (test_design, test_y)) = (part(&inside), part(&outside));
                let path = run(&Data::new(&design, inside.len(), columns, &y)?);
                for (k, error) in errors.iter_mut().enumerate() {
                    if let Some(model) = at_most(&path, k + 1) {
                        *error += scores::square_error(&test_design, &test_y, &model.vector(columns)?) / rows as f64;
                    }
                }
            }
            let seconds = start.elapsed().as_secs_f64();
            let best = errors.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |e| e.0 + 1);
            let path = run(&data(&problem)?);
            let found = at_most(&path, best)
                .map_or(0, |m| m.support.iter().filter(|j| problem.truth.indices().contains(j)).count());
            println!("seed {seed} {name:10} k = {best:2}, {found:2} of 25 planted found, {seconds:.2} s");
        }
    }
    Ok(())
}
