//! What katoms does, in seconds and with simulated data: `make run`.
//!
//! First the main job, k features out of many. Then the same without being told k. Then a picture with most of its pixels hidden,
//! completed as a matrix of rank k; original, seen and completed go side by side into a PNG file.
//!
//! `cargo run --release --example demo [FILE.png]` (target/demo.png unless told)

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use katoms::linalg::{Matrix, norm};
use katoms::loss::LeastSquares;
use katoms::operator::{Dense, Entries, LinearOperator};
use katoms::select::{Criterion, CrossValidation, Folds, cross_validate, path};
use katoms::set::{KSparse, Rank};
use katoms::space::LowRank;
use katoms::{Objective, Outcome, Status, Stop, fit, simulate};

type Told = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/demo.png"), PathBuf::from);
    let preview = io::stdout().is_terminal();
    let mut out = io::stdout().lock();
    let told = features(&mut out).and_then(|()| picture(&mut out, &path, preview));
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) if is_closed_pipe(e.as_ref()) => ExitCode::SUCCESS,
        Err(e) => {
            // Nothing is left to do when even this cannot be written.
            let _ = writeln!(io::stderr(), "demo: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the reader has gone, as in `demo | head -1`: no failure of ours.
fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}

/// 20 of 20,000 features, from 500 noisy observations.
fn features(out: &mut impl Write) -> Told {
    let (rows, columns, k) = (500, 20_000, 20);
    let design = simulate::gaussian_f32(rows, columns, 1);
    let design = Dense::column_major(&design, rows, columns)?;
    let truth = simulate::sparse_signal(columns, k, 1).map(|_, v| v.signum() + v);
    let mut clean = vec![0.0; rows];
    design.apply(&truth, &mut clean);
    let target = simulate::noisy(&clean, 0.5 * norm(&clean) / (rows as f64).sqrt(), 1);

    writeln!(out, "1. Features")?;
    writeln!(
        out,
        "   {rows} observations of {columns} features. {k} features matter; the noise is half the signal.\n"
    )?;
    let f = Objective::new(&design, LeastSquares::new(target.clone())?)?;
    let outcome = fit(&f, &KSparse::new(k, columns)?)?;

    writeln!(out, "   iteration    objective    entered    passes    seconds")?;
    for event in &outcome.trace {
        writeln!(
            out,
            "   {:9} {:12.6} {:10} {:9} {:10.4}",
            event.iteration, event.objective, event.entered, event.passes, event.seconds
        )?;
    }
    let found = outcome.point.indices().iter().filter(|&&j| truth.value_at(j) != 0.0).count();
    writeln!(out, "\n   found:   {found} of the {k} planted features")?;
    tell_quality(out, &outcome)?;
    which_k(out, &design, target)
}

/// The same without being told k: the path, a criterion, and five folds.
fn which_k(out: &mut impl Write, design: &Dense<'_, f32>, target: Vec<f64>) -> Told {
    let sizes: Vec<usize> = (2..=30).step_by(2).collect();
    let set = KSparse::new(1, design.columns())?;
    let folds = Folds::random(target.len(), 5, 1)?;
    let loss = LeastSquares::new(target)?;
    let f = Objective::new(design, &loss)?;
    let path = path(&f, &set, sizes.clone(), |_| ControlFlow::Continue(()))?;
    let validated = cross_validate(design, &loss, &set, &folds, &CrossValidation::new(sizes))?;
    let by_criterion = path.best(Criterion::EBIC, None)?.atoms;
    let (least, sparse) = (validated.min().atoms, validated.one_se().atoms);

    writeln!(out, "2. How many features?")?;
    writeln!(out, "   The whole path in {} passes; five folds of it in {}.\n", path.passes, validated.passes)?;
    writeln!(out, "      k    objective    held-out loss")?;
    let most = validated.scores.iter().map(|score| score.mean).fold(0.0, f64::max);
    for (model, score) in path.models.iter().zip(&validated.scores) {
        let bar = "#".repeat((40.0 * score.mean / most).round() as usize);
        let marks = [(least, "least"), (sparse, "fewest within one standard error"), (by_criterion, "EBIC")];
        let marks: Vec<&str> = marks.iter().filter(|mark| mark.0 == model.atoms).map(|mark| mark.1).collect();
        let told = if marks.is_empty() { String::new() } else { format!("  <- {}", marks.join(", ")) };
        writeln!(out, "   {:4} {:12.6} {:9.5} {bar}{told}", model.atoms, model.objective, score.mean)?;
    }
    writeln!(out)?;
    Ok(())
}

/// How the run ended and how good its answer is, in words.
fn tell_quality<P>(out: &mut impl Write, outcome: &Outcome<P>) -> Told {
    let ended = match outcome.status {
        Status::Converged => "converged",
        Status::IterationCap => "stopped at the cap on iterations",
        Status::PassCap => "stopped at the cap on passes",
        Status::TimeLimit => "stopped at the time limit",
        Status::Stopped => "stopped by the observer",
        Status::Diverged => "diverged",
        Status::Stalled => "stalled: no step lowers the objective",
    };
    writeln!(out, "   run:     {ended} after {} iterations", outcome.iterations)?;
    if let Some(quality) = &outcome.quality {
        let moved = quality.stationarity;
        let still = if moved <= Stop::default().tolerance {
            format!("stationary: a gradient step would move it by {moved:.0e} of its length")
        } else {
            format!("not stationary: a gradient step would move it by {moved:.0e} of its length")
        };
        let which = if quality.exhaustive { "possible" } else { "most promising" };
        let exchange = match (quality.exchanges_compared, quality.improvable()) {
            (0, _) => "the fit is perfect, so no exchange was tried".to_owned(),
            (compared, true) => {
                format!("one of the {compared} {which} exchanges improves it by {:.1e}", quality.exchange_gain)
            }
            (1, false) => format!("the {which} exchange of an atom does not improve it"),
            (compared, false) => format!("none of the {compared} {which} exchanges of an atom improves it"),
        };
        writeln!(out, "   answer:  {still};\n            {exchange}")?;
    }
    writeln!(out, "   cost:    {} passes over the data, those that judged the answer included\n", outcome.passes)?;
    Ok(())
}

/// A picture of which 35 % is seen, completed.
fn picture(out: &mut impl Write, path: &Path, preview: bool) -> Told {
    let (original, rank) = harbour();
    let shape = (original.rows(), original.columns());
    let (rows, columns) = simulate::observed_places(shape.0, shape.1, 0.35, 1);
    let values: Vec<f64> = rows.iter().zip(&columns).map(|(&i, &j)| original.at(i, j)).collect();

    writeln!(out, "3. A picture")?;
    writeln!(out, "   {} x {} pixels, rank {rank}; {} % of them are hidden.\n", shape.0, shape.1, 65)?;
    let f = Objective::new(Entries::new(shape, &rows, &columns)?, LeastSquares::new(values.clone())?)?;
    let clock = Instant::now();
    let outcome = fit(&f, &Rank::new(rank, shape)?)?;
    let seconds = clock.elapsed().as_secs_f64();

    let completed = multiplied_out(&outcome.point);
    let mut seen = Matrix::zeros(shape.0, shape.1);
    for ((&i, &j), v) in rows.iter().zip(&columns).zip(values) {
        seen.column_mut(j)[i] = v;
    }
    writeln!(out, "   quality: {:.1} dB peak signal-to-noise ratio over all pixels", psnr(&original, &completed))?;
    writeln!(out, "   time:    {seconds:.2} s")?;
    tell_quality(out, &outcome)?;
    if preview {
        show(out, &[&seen, &completed])?;
    }
    write_png(path, &[&original, &seen, &completed]).map_err(|e| format!("{}: {e}", path.display()))?;
    writeln!(out, "   original, seen and completed, side by side: {}", path.display())?;
    Ok(())
}

/// A harbour at dusk, values between 0 and 255, and its rank.
///
/// Every part is a product of a profile along the rows and one along the columns: a wall is a
/// rectangle, lit windows are a grid, a glow is a Gaussian. A mirror image in the water only
/// changes the profile along the rows.
fn harbour() -> (Matrix, usize) {
    const ROWS: usize = 240;
    const COLUMNS: usize = 360;
    const WATER: usize = 164;
    // (first column, width, top row, grey of the wall, rows of a storey, columns of a window and its frame)
    const HOUSES: [(usize, usize, usize, f64, usize, usize); 6] = [
        (8, 46, 86, 56.0, 12, 8),
        (58, 40, 118, 82.0, 10, 9),
        (102, 50, 48, 38.0, 12, 11),
        (208, 46, 72, 48.0, 14, 10),
        (258, 40, 112, 76.0, 10, 7),
        (302, 50, 34, 34.0, 12, 11),
    ];
    /// What a row of water mirrors, and how brightly: ripples break the image.
    fn mirrored(row: usize) -> (usize, f64) {
        let depth = row - WATER;
        let ripple = 0.5 + 0.5 * (0.35 * (depth as f64).powf(1.25)).sin();
        (WATER.saturating_sub(2 * depth + 1), 0.35 + 0.4 * ripple)
    }
    fn with_mirror(above: impl Fn(usize) -> f64) -> Vec<f64> {
        let one = |row| match row {
            0..WATER => above(row),
            _ => mirrored(row).1 * above(mirrored(row).0),
        };
        (0..ROWS).map(one).collect()
    }
    fn bell(centre: f64, width: f64) -> impl Fn(usize) -> f64 {
        move |i| (-((i as f64 - centre) / width).powi(2)).exp()
    }
    fn sky(row: usize) -> f64 {
        let height = row as f64 / WATER as f64;
        96.0 + 134.0 * height * height
    }
    fn everywhere<T>(_: T) -> f64 {
        1.0
    }

    let mut atoms: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let along = |profile: &dyn Fn(usize) -> f64| (0..COLUMNS).map(profile).collect::<Vec<f64>>();
    atoms.push((with_mirror(sky), along(&everywhere)));
    atoms.push((with_mirror(bell(60.0, 14.0)).iter().map(|v| 150.0 * v).collect(), along(&bell(180.0, 14.0))));
    for (first, width, top, grey, storey, pane) in HOUSES {
        let inside = move |column: usize| (first..first + width).contains(&column);
        let wall = with_mirror(|row| if row >= top { grey - sky(row) } else { 0.0 });
        atoms.push((wall, along(&|j| f64::from(u8::from(inside(j))))));
        let lit = with_mirror(|row| if row >= top + 4 && (row - top - 4) % storey < storey / 2 { 130.0 } else { 0.0 });
        let panes =
            |j: usize| inside(j) && j >= first + 3 && j + 3 < first + width && (j - first - 3) % pane < pane - 3;
        atoms.push((lit, along(&|j| f64::from(u8::from(panes(j))))));
    }
    let sum = |i: usize, j: usize| atoms.iter().map(|(rows, columns)| rows[i] * columns[j]).sum();
    (Matrix::from_fn(ROWS, COLUMNS, sum), atoms.len())
}

fn multiplied_out(x: &LowRank) -> Matrix {
    x.left().times(x.core()).times_transposed(x.right())
}

/// 20·log10(255 / root mean square difference).
fn psnr(a: &Matrix, b: &Matrix) -> f64 {
    let pixels = a.data().len() as f64;
    20.0 * (255.0 * pixels.sqrt() / a.plus(-1.0, b).norm()).log10()
}

fn grey(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

/// Pictures of one size beside each other, a white line between them.
fn write_png(path: &Path, pictures: &[&Matrix]) -> Told {
    const GAP: usize = 6;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let rows = pictures[0].rows();
    let width = pictures.iter().map(|p| p.columns()).sum::<usize>() + GAP * (pictures.len() - 1);
    let mut bytes = Vec::with_capacity(rows * width);
    for i in 0..rows {
        for (position, picture) in pictures.iter().enumerate() {
            bytes.extend(std::iter::repeat_n(255, if position == 0 { 0 } else { GAP }));
            bytes.extend((0..picture.columns()).map(|j| grey(picture.at(i, j))));
        }
    }
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width as u32, rows as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(())
}

/// Pictures beside each other in the terminal: a half block is two pixels, one above the other.
fn show(out: &mut impl Write, pictures: &[&Matrix]) -> Told {
    const WIDTH: usize = 37;
    for line in 0.. {
        let mut empty = true;
        write!(out, "   ")?;
        for picture in pictures {
            let side = picture.columns() as f64 / WIDTH as f64;
            let middle = |cell: usize| ((cell as f64 + 0.5) * side) as usize;
            if middle(2 * line + 1) >= picture.rows() {
                continue;
            }
            empty = false;
            for cell in 0..WIDTH {
                let at = |row: usize| grey(picture.at(middle(row), middle(cell)));
                let (up, down) = (at(2 * line), at(2 * line + 1));
                write!(out, "\x1b[38;2;{up};{up};{up};48;2;{down};{down};{down}m\u{2580}")?;
            }
            write!(out, "\x1b[0m  ")?;
        }
        writeln!(out)?;
        if empty {
            break;
        }
    }
    Ok(())
}
