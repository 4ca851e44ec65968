//! What the search for the best answer must reach: the claims, as tests, at a size that runs in seconds.
//! The figures themselves: `cargo run --release -p katoms-bench --bin best`.

use crate::baselines::{Data, Model};
use crate::problems::{self, Kind, Sparse};
use crate::scores;
use katoms::loss::LeastSquares;
use katoms::operator::{Counted, Counts};
use katoms::select::{CrossValidation, Folds, cross_validate};
use katoms::set::KSparse;
use katoms::{Error, Fit, Objective, fit};

fn recovered(problem: &Sparse<f64>, k: usize) -> Result<bool, Error> {
    let found = fit(&problem.squares()?, &KSparse::new(k, problem.truth.dim())?)?.point;
    Ok(scores::relative_error(&found, &problem.truth) <= 1e-6)
}

fn recovered_by(problem: &Sparse<f64>, model: &Model) -> Result<bool, Error> {
    Ok(scores::relative_error(&model.vector(problem.truth.dim())?, &problem.truth) <= 1e-6)
}

/// 200 × 1000, no noise: where the others fail half the time, ours does not.
#[test]
fn hard_signals_are_recovered_more_often_than_by_pursuits() -> Result<(), Error> {
    for (kind, k) in [(Kind::Gaussian, 60), (Kind::Signs, 40)] {
        let (mut ours, mut omp, mut cosamp, mut htp) = (0, 0, 0, 0);
        for draw in 0..10 {
            let problem = problems::recovery(draw, k, kind)?;
            let data = Data::new(&problem.design, problem.rows, problem.truth.dim(), &problem.target)?;
            ours += usize::from(recovered(&problem, k)?);
            omp += usize::from(recovered_by(&problem, &data.best("omp", k)?)?);
            cosamp += usize::from(recovered_by(&problem, &data.best("cosamp", k)?)?);
            htp += usize::from(recovered_by(&problem, &data.htp(k)?)?);
        }
        assert!(ours >= 9, "{kind:?}, k {k}: {ours} of 10");
        assert!(ours >= omp.max(cosamp).max(htp), "{kind:?}, k {k}: {ours}; {omp}, {cosamp}, {htp}");
    }
    Ok(())
}

/// 1000 × 20,000, SNR 5, k = 1, …, 50: few passes, and no worse than OMP's 50.
#[test]
fn the_path_reads_little_and_is_no_worse_than_omp() -> Result<(), Error> {
    // Seed 10 is one where a model of ours was worse before OMP's was heard.
    for seed in [0, 10] {
        let problem = problems::path_problem(seed)?;
        let counted = Counted::new(problem.operator()?);
        let f = Objective::new(&counted, LeastSquares::new(problem.target.clone())?)?;
        let path = Fit::new(&f, &KSparse::new(1, problem.truth.dim())?).path(1..=50)?;
        let Counts { passes, columns, .. } = counted.take();
        let equivalents = passes as f64 + columns as f64 / problem.truth.dim() as f64;
        assert!(equivalents <= 40.0, "seed {seed}: {equivalents} pass-equivalents");
        assert_eq!(passes, path.passes, "what is told is what was read");
        let data = Data::new(&problem.design, problem.rows, problem.truth.dim(), &problem.target)?;
        for (model, omp) in path.models.iter().zip(data.greedy("omp", 50)?) {
            assert_eq!(model.point.indices().len(), model.atoms);
            assert!(model.quality.exhaustive && !model.quality.improvable(), "k {}", model.atoms);
            let ratio = model.objective / omp.objective;
            assert!(ratio <= 1.0 + 1e-8, "seed {seed}, k {}: {ratio}", model.atoms);
        }
    }
    Ok(())
}

/// Five folds of twenty sizes share their passes: few more than the path alone needs.
#[test]
fn cross_validation_shares_its_passes() -> Result<(), Error> {
    let problem = problems::path_problem(0)?;
    let (design, loss) = (problem.operator()?, LeastSquares::new(problem.target.clone())?);
    let (set, folds) = (KSparse::new(1, problem.truth.dim())?, Folds::random(problem.rows, 5, 0)?);
    let options = CrossValidation::new((2..=40).step_by(2));
    let validated = cross_validate(&design, &loss, &set, &folds, &options)?;
    assert!(validated.passes <= 40, "{} passes", validated.passes);
    assert!((15..=30).contains(&validated.min().atoms), "{:?}", validated.min());
    Ok(())
}

/// AR(1) 0.4, 400 × 200: with weak atoms pulled in, more atoms than there are do not spoil the prediction.
#[test]
fn too_many_atoms_predict_nearly_as_well_as_the_right_number() -> Result<(), Error> {
    let (mut right, mut many, mut plain) = (0.0, 0.0, 0.0);
    for seed in 0..10 {
        let problem = problems::correlated_halves(seed)?;
        let (train, n) = (&problem.train, problem.train.truth.dim());
        let (design, loss) = (train.operator()?, LeastSquares::new(train.target.clone())?);
        let shrinkages = vec![0.0, 2.0, 4.0, 8.0, 16.0];
        let options =
            CrossValidation { shrinkages, standardize: false, intercept: false, ..CrossValidation::new([20, 40]) };
        let folds = Folds::random(train.rows, 5, 0)?;
        let validated = cross_validate(&design, &loss, &KSparse::new(1, n)?, &folds, &options)?;
        let r2 = |atoms: usize, shrunk: bool| {
            let of_size = validated.scores.iter().zip(&validated.models).filter(|(s, _)| s.choice.atoms == atoms);
            let open = of_size.filter(|(s, _)| shrunk || s.choice.shrinkage == 0.0);
            let best = open.min_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
            best.map_or(f64::NAN, |(_, model)| {
                scores::r_squared(&problem.test_design, &problem.test_target, &model.coefficients)
            })
        };
        (right, many, plain) = (right + r2(20, true), many + r2(40, true), plain + r2(40, false));
    }
    assert!(many > plain + 0.1, "summed R2: {many}, without shrinkage {plain}");
    assert!(many > right - 0.1, "summed R2: {many}, with the right number of atoms {right}");
    Ok(())
}
