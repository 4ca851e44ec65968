//! Several responses that have features of their own.

use katoms::Status;
use katoms::loss::{AnyLoss, LeastSquares, Multinomial};
use katoms::operator::{AnyDesign, Dense};
use katoms::select::{Bounds, Choice, Criterion, Folds, Preparation, Score};
use katoms::set::{AnyAtoms, KSparse};
use katoms::simulate;
use katoms_estimate::{
    Answer, EachResponse, Estimate, Features, FitOptions, Progress, ResponseSizes, Rule, SeparateModels, Unwatched,
    choice_of_each, words,
};

const ROWS: usize = 100;

struct Problem<'a> {
    design: AnyDesign<'a>,
    columns: usize,
    loss: AnyLoss,
}

impl<'a> Problem<'a> {
    fn new(x: &'a [f64], planted: &[&[(usize, f64)]], noise: f64) -> Self {
        Self::of(ROWS, x, planted, noise)
    }

    /// Responses, each the sum of some columns with coefficients, and noise.
    fn of(rows: usize, x: &'a [f64], planted: &[&[(usize, f64)]], noise: f64) -> Self {
        let mut all = Vec::new();
        for (at, own) in planted.iter().enumerate() {
            let y: Vec<f64> =
                (0..rows).map(|i| own.iter().map(|&(j, c)| 10.0 * c * x[j * rows + i]).sum::<f64>() + 3.0).collect();
            all.extend(simulate::noisy(&y, noise, at as u64));
        }
        let loss = LeastSquares::of_responses(all, planted.len()).unwrap().into();
        Self { design: Dense::column_major(x, rows, x.len() / rows).unwrap().into(), columns: x.len() / rows, loss }
    }

    fn features(&self, loss: impl Into<katoms_estimate::JobLoss>, always: Vec<usize>) -> Features<'_> {
        let atoms = AnyAtoms::Coordinates(KSparse::new(1, self.columns).unwrap());
        Features::new(&self.design, loss, atoms, always, Preparation::default()).unwrap()
    }

    fn each(&self) -> EachResponse<'_> {
        EachResponse::new(self.loss.clone(), |loss| Ok(self.features(loss, vec![]))).unwrap()
    }

    /// The loss of one response.
    fn alone(&self, response: usize) -> AnyLoss {
        let AnyLoss::Squares(squares) = &self.loss else { panic!("least squares") };
        LeastSquares::new(&squares.target()[response * ROWS..][..ROWS]).unwrap().into()
    }

    fn support(&self, found: &Estimate, response: usize) -> Vec<usize> {
        let all = found.coefficients().indices();
        all.iter().filter(|&&j| j / self.columns == response).map(|j| j % self.columns).collect()
    }
}

fn fitted(each: &EachResponse<'_>, sizes: ResponseSizes) -> SeparateModels {
    each.fit(&sizes, &FitOptions::default(), &mut Unwatched).unwrap()
}

const PLANTED: [&[(usize, f64)]; 3] =
    [&[(2, 1.0), (9, -0.8), (30, 0.6)], &[(5, 0.9)], &[(2, -0.7), (17, 0.9), (21, 0.8), (22, -1.0)]];

#[test]
fn a_total_is_shared_out_as_it_was_planted() {
    let x = simulate::gaussian(ROWS, 40, 1);
    let problem = Problem::new(&x, &PLANTED, 0.05);
    let found = fitted(&problem.each(), ResponseSizes::Total(8));
    assert_eq!((found.sizes.as_slice(), found.total), (&[3, 1, 4][..], Some(8)));
    for (response, planted) in PLANTED.iter().enumerate() {
        let expected: Vec<usize> = planted.iter().map(|(j, _)| *j).collect();
        assert_eq!(problem.support(&found.whole, response), expected);
    }
    assert_eq!(found.whole.chosen, [2, 5, 9, 17, 21, 22, 30]);
    assert_eq!((found.whole.coefficients().dim(), found.whole.intercepts.len()), (120, 3));
    assert!(found.whole.intercepts.iter().all(|constant| (constant - 3.0).abs() < 0.2));
    // what is told of all is the sum of what is told of each
    let sum = |of: fn(&Estimate) -> f64| found.parts.iter().map(of).sum::<f64>();
    assert_eq!(found.whole.loss, sum(|part| part.loss));
    assert_eq!(found.whole.null_loss, sum(|part| part.null_loss));
    assert_eq!(found.whole.outcome.objective, sum(|part| part.outcome.objective));
    // and agrees with the loss of all responses at the predictions of all
    let joint = problem.features(problem.loss.clone(), vec![]);
    let predicted = joint.predictions(found.whole.coefficients(), &found.whole.intercepts);
    let value = katoms::loss::Loss::value(&problem.loss, &predicted);
    assert!((value / found.whole.loss - 1.0).abs() < 1e-9, "{value}");
    let names = ["a", "b", "c"].map(String::from);
    let told = words::each_response(&found, (&names, "features"), |atom| format!("x{atom}"));
    assert!(told[0].contains("for 0 to 8 features") && told[1].starts_with("a: "), "{told:?}");
    assert!(found.whole.outcome.quality.is_some_and(|quality| quality.proven.is_none()));
}

/// Every subset of the columns for each response, and every way to put three of them together.
#[test]
fn a_total_is_the_best_of_all_allocations() {
    let x = simulate::autoregressive(ROWS, 5, 0.7, 4);
    let planted: [&[(usize, f64)]; 3] = [&[(0, 0.5), (1, -0.4), (3, 0.1)], &[(2, 0.3)], &[(1, 0.2), (4, 0.6)]];
    let problem = Problem::new(&x, &planted, 1.0);
    let subset = |mask: usize| (0..5).filter(|j| mask >> j & 1 == 1).collect::<Vec<usize>>();
    let objective = |response: usize, mask: usize| match subset(mask) {
        all if all.len() == 5 => {
            let all = problem.features(problem.alone(response), vec![]);
            all.fit(5, &FitOptions::default(), &mut Unwatched).unwrap().outcome.objective
        }
        kept => {
            let kept = problem.features(problem.alone(response), kept);
            kept.fit(0, &FitOptions::default(), &mut Unwatched).unwrap().outcome.objective
        }
    };
    let all: Vec<Vec<f64>> = (0..3).map(|response| (0..32).map(|mask| objective(response, mask)).collect()).collect();
    let size = |mask: usize| mask.count_ones() as usize;
    for total in 0..=15 {
        let mut best = f64::INFINITY;
        for (a, b, c) in (0..32_768).map(|code| (code & 31, code >> 5 & 31, code >> 10)) {
            if size(a) + size(b) + size(c) <= total {
                best = best.min(all[0][a] + all[1][b] + all[2][c]);
            }
        }
        let found = fitted(&problem.each(), ResponseSizes::Total(total));
        assert!(found.sizes.iter().sum::<usize>() <= total);
        assert!((found.whole.outcome.objective / best - 1.0).abs() < 1e-9, "{total}: {:?}", found.sizes);
    }
}

#[test]
fn a_size_for_each_is_a_fit_of_each() {
    let x = simulate::gaussian(ROWS, 30, 2);
    let planted: [&[(usize, f64)]; 2] = [&[(1, 1.0), (7, 0.5)], &[(4, 1.0), (9, 0.5), (11, 0.4)]];
    let problem = Problem::new(&x, &planted, 0.3);
    let found = fitted(&problem.each(), ResponseSizes::Each(vec![2, 4]));
    for (response, k) in [2, 4].into_iter().enumerate() {
        let one = problem.features(problem.alone(response), vec![]);
        let one = one.fit(k, &FitOptions::default(), &mut Unwatched).unwrap();
        assert_eq!(found.parts[response].coefficients(), one.coefficients());
        assert_eq!((found.whole.intercepts[response], found.parts[response].loss), (one.intercept(), one.loss));
        assert_eq!(problem.support(&found.whole, response), one.coefficients().indices());
    }
    assert_eq!((found.sizes.as_slice(), found.total), (&[2, 4][..], None));
    // a method by name runs for each of them, and a start has a part for each
    let start = Some((found.whole.coefficients().clone(), found.whole.intercepts.clone()));
    let how = FitOptions { method: Some("omp".into()), start, ..FitOptions::default() };
    let again = problem.each().fit(&ResponseSizes::Each(vec![2, 4]), &how, &mut Unwatched);
    assert!(again.is_ok_and(|again| again.whole.loss <= 1.5 * found.whole.loss));
    // where each is proven the best, so are all together
    let proven = found.parts.iter().map(|part| part.outcome.quality.as_ref().unwrap().proven).product::<Option<f64>>();
    assert_eq!(found.whole.outcome.quality.unwrap().proven, proven);
}

#[test]
fn a_single_response_is_the_ordinary_fit() {
    let x = simulate::gaussian(ROWS, 30, 2);
    let problem = Problem::new(&x, &[&[(1, 1.0), (7, 0.5)]], 0.1);
    let one = problem.features(problem.loss.clone(), vec![]).fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
    for sizes in [ResponseSizes::Total(2), ResponseSizes::Each(vec![2])] {
        let found = fitted(&problem.each(), sizes);
        assert_eq!((found.whole.coefficients(), found.total), (one.coefficients(), None));
        assert_eq!(found.whole.outcome.quality, one.outcome.quality);
    }
}

#[test]
fn weights_groups_bounds_and_columns_that_are_always_in_go_with_it() {
    let x = simulate::gaussian(ROWS, 12, 6);
    let problem = Problem::new(&x, &[&[(0, 1.0), (1, 0.8), (6, -0.5)], &[(4, 1.0), (5, 0.7)]], 0.05);
    let AnyLoss::Squares(squares) = problem.loss.clone() else { panic!("least squares") };
    let weights: Vec<f64> = (0..ROWS).map(|i| (i % 3) as f64).collect();
    let weighted = squares.weighted(weights.clone()).unwrap();
    let pairs = AnyAtoms::groups(1, 12, (0..6).map(|g| vec![2 * g, 2 * g + 1]).collect()).unwrap();
    let preparation = Preparation { ridge: 0.1, ..Preparation::default() };
    let make = |loss| Features::new(&problem.design, loss, pairs.clone(), vec![3], preparation);
    let found = fitted(&EachResponse::new(AnyLoss::from(weighted), make).unwrap(), ResponseSizes::Total(3));
    assert_eq!(found.sizes, [2, 1]);
    assert_eq!(problem.support(&found.whole, 0), [0, 1, 3, 6, 7]);
    assert_eq!(problem.support(&found.whole, 1), [3, 4, 5]);
    let single = AnyLoss::from(match problem.alone(1) {
        AnyLoss::Squares(one) => one.weighted(weights).unwrap(),
        _ => panic!("least squares"),
    });
    let one = make(single.into()).unwrap().fit(1, &FitOptions::default(), &mut Unwatched).unwrap();
    assert!((one.loss / found.parts[1].loss - 1.0).abs() < 1e-9);
    let bounds = Bounds::new(vec![0.0; 12], vec![f64::INFINITY; 12]).unwrap();
    let positive = |loss| problem.features(loss, vec![]).with_bounds(bounds.clone());
    let found = fitted(&EachResponse::new(problem.loss.clone(), positive).unwrap(), ResponseSizes::Total(4));
    assert!(found.whole.coefficients().entries().all(|(_, v)| v > 0.0));
    assert_eq!(problem.support(&found.whole, 1), [4, 5]);
}

#[test]
fn criteria_and_held_out_rows_choose_a_size_for_each() {
    let x = simulate::gaussian(ROWS, 40, 1);
    let problem = Problem::new(&x, &PLANTED, 0.05);
    let each = problem.each();
    let paths = each.paths(None, Criterion::EBIC, &mut Unwatched).unwrap();
    assert_eq!(paths.iter().map(|path| path.best[2]).collect::<Vec<_>>(), [3, 1, 4]);
    let folds = Folds::random(ROWS, 5, 0).unwrap();
    let sizes: Vec<usize> = (0..8).collect();
    let mut most = 0;
    each.paths(Some(&sizes), Criterion::EBIC, &mut Counter { most: &mut most }).unwrap();
    assert_eq!(most, 24, "progress goes on over the responses");
    let held_out = |part: &Features<'_>| part.cross_validate(Some(&sizes), Some(&[0.0, 1.0]), &folds, &mut Unwatched);
    let found: Vec<_> = each.parts().iter().map(|part| held_out(part).unwrap()).collect();
    for (response, validated) in found.iter().enumerate() {
        let alone = held_out(&problem.features(problem.alone(response), vec![])).unwrap();
        assert_eq!(validated.scores, alone.scores);
    }
    let scores: Vec<Vec<Score>> = found.iter().map(|one| one.scores.clone()).collect();
    let chosen = choice_of_each(&scores, Rule::OneStandardError);
    let choices: Vec<Choice> = chosen.iter().zip(&scores).map(|(&at, scores)| scores[at].choice).collect();
    assert_eq!(choices.iter().map(|choice| choice.atoms).collect::<Vec<_>>(), [3, 1, 4]);
    assert!(choices.iter().all(|choice| choice.ridge == choices[0].ridge));
}

struct Counter<'m> {
    most: &'m mut usize,
}

impl katoms_estimate::Watch for Counter<'_> {
    fn tell(&mut self, _: &Progress<'_>) -> Answer {
        Answer::GoOn
    }
    fn counted(&mut self, done: usize) -> Answer {
        *self.most = (*self.most).max(done);
        Answer::GoOn
    }
}

/// One ridge for all: that of the least sum, though it is not the best of either response.
#[test]
fn one_ridge_is_chosen_for_all_responses() {
    let score = |atoms, ridge, mean: f64| {
        Score::new(Choice { atoms, ridge, shrinkage: 0.0 }, vec![mean - 0.1, mean + 0.1], Vec::new())
    };
    let first =
        vec![score(1, 0.0, 1.0), score(2, 0.0, 5.0), score(1, 1.0, 1.5), score(2, 1.0, 1.4), score(1, 9.0, 8.0)];
    let second =
        vec![score(1, 0.0, 9.0), score(2, 0.0, 8.0), score(1, 1.0, 2.5), score(2, 1.0, 2.0), score(1, 9.0, 1.0)];
    let scores = [first, second];
    assert_eq!(choice_of_each(&scores, Rule::Least), [3, 3]);
    assert_eq!(choice_of_each(&scores, Rule::OneStandardError), [2, 3]);
}

#[test]
fn work_that_is_stopped_leaves_models_of_every_response() {
    let x = simulate::gaussian(ROWS, 40, 1);
    let problem = Problem::new(&x, &PLANTED, 0.5);
    struct Stopper;
    impl katoms_estimate::Watch for Stopper {
        fn tell(&mut self, _: &Progress<'_>) -> Answer {
            Answer::Stop
        }
        fn counted(&mut self, _: usize) -> Answer {
            Answer::Stop
        }
        fn goes_on(&mut self) -> Answer {
            Answer::Stop
        }
    }
    let found = problem.each().fit(&ResponseSizes::Total(8), &FitOptions::default(), &mut Stopper).unwrap();
    assert_eq!((found.parts.len(), found.sizes.len()), (3, 3));
    assert_ne!(found.whole.outcome.status, Status::Converged);
}

#[test]
fn what_does_not_go_with_it_is_named() {
    let x = simulate::gaussian(ROWS, 10, 1);
    let problem = Problem::new(&x, &[&[(0, 1.0)], &[(1, 1.0)]], 0.1);
    let each = problem.each();
    let refused =
        |sizes: ResponseSizes, how: &FitOptions| each.fit(&sizes, how, &mut Unwatched).unwrap_err().to_string();
    let usual = FitOptions::default();
    for (sizes, how, expected) in [
        (ResponseSizes::Total(21), usual.clone(), "between 0 and 20"),
        (ResponseSizes::Each(vec![1]), usual.clone(), "one for each response"),
        (ResponseSizes::Each(vec![1, 11]), usual.clone(), "between 0 and 10"),
        (ResponseSizes::Total(2), FitOptions { method: Some("omp".into()), ..usual.clone() }, "for each response"),
        (ResponseSizes::Total(2), FitOptions { resume: Some(vec![1]), ..usual.clone() }, "no saved state"),
    ] {
        let error = refused(sizes, &how);
        assert!(error.contains(expected), "`{expected}` is not in: {error}");
    }
    let classes = AnyLoss::from(Multinomial::new((0..ROWS).map(|i| i % 3).collect::<Vec<_>>(), 3).unwrap());
    let error = EachResponse::new(classes, |loss| Ok(problem.features(loss, vec![]))).unwrap_err().to_string();
    assert!(error.contains("least squares"), "{error}");
    // more features than rows tell apart
    let wide = simulate::gaussian(30, 90, 8);
    let problem = Problem::of(30, &wide, &[&[(0, 1.0)], &[(1, 1.0)]], 0.1);
    let found = fitted(&problem.each(), ResponseSizes::Total(36));
    assert!(found.whole.loss.is_finite() && found.sizes.iter().sum::<usize>() <= 36);
}
