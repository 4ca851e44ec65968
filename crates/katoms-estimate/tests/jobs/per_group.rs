//! At most q features inside each of at most k groups.

use katoms::loss::{AnyLoss, LeastSquares, Multinomial};
use katoms::operator::{AnyDesign, Dense};
use katoms::select::{Criterion, Folds, Preparation};
use katoms::set::AnyAtoms;
use katoms::simulate;
use katoms_estimate::{Features, FitOptions, Unwatched};

const ROWS: usize = 120;
const COLUMNS: usize = 60;
const WIDTH: usize = 6;

fn groups(k: usize) -> AnyAtoms {
    let members = (0..COLUMNS / WIDTH).map(|g| (g * WIDTH..(g + 1) * WIDTH).collect()).collect();
    AnyAtoms::groups(k, COLUMNS, members).unwrap()
}

/// Two features of group 1, two of group 4, and a weak third one of group 4.
fn target(x: &[f64]) -> Vec<f64> {
    let column = |j: usize, i: usize| 10.0 * x[j * ROWS + i];
    let y: Vec<f64> = (0..ROWS)
        .map(|i| 3.0 * column(7, i) - 2.0 * column(10, i) + 2.5 * column(25, i) + 2.0 * column(28, i) + column(29, i))
        .collect();
    simulate::noisy(&y, 0.05, 3)
}

fn columns_of(indices: &[usize]) -> Vec<usize> {
    let mut columns: Vec<usize> = indices.iter().map(|j| j % COLUMNS).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

#[test]
fn planted_features_inside_groups_are_found() {
    let x = simulate::gaussian(ROWS, COLUMNS, 1);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    let loss: AnyLoss = LeastSquares::new(target(&x)).unwrap().into();
    for standardize in [true, false] {
        let preparation = Preparation { standardize, ..Preparation::default() };
        let all = Features::new(&design, loss.clone(), groups(1), vec![], preparation).unwrap();
        let some = all.clone().with_most_inside(2).unwrap();
        let found = some.fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
        assert_eq!(found.coefficients().indices(), [7, 10, 25, 28]);
        assert_eq!(found.chosen, [1, 4]);
        let quality = found.outcome.quality.as_ref().unwrap();
        assert!(!quality.exhaustive && quality.proven.is_none() && quality.certificate.is_none());
        // as many as a group has: the fit of whole groups
        let whole = all.fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
        let wide = all.clone().with_most_inside(WIDTH).unwrap().fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
        assert_eq!(whole.coefficients().indices(), wide.coefficients().indices());
        assert!(whole.loss <= found.loss);
        let path = some.path(Some(&[0, 1, 2, 3]), Criterion::EBIC, &mut Unwatched).unwrap();
        assert_eq!(path.best, [path.best[0], 2, 2, 2]);
        assert!(path.models.windows(2).all(|pair| pair[1].loss <= pair[0].loss));
        assert!(path.models.iter().all(|model| model.coefficients.indices().len() <= 2 * model.atoms));
    }
}

/// Never worse than each choice of groups and features among all of them.
#[test]
fn it_is_the_best_of_all_small_choices() {
    let x = simulate::autoregressive(ROWS, 9, 0.6, 5);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, 9).unwrap().into();
    let y = simulate::noisy(&(0..ROWS).map(|i| x[i] + x[4 * ROWS + i] - x[5 * ROWS + i]).collect::<Vec<_>>(), 0.1, 2);
    let loss: AnyLoss = LeastSquares::new(y).unwrap().into();
    let members: Vec<Vec<usize>> = (0..3).map(|g| (3 * g..3 * g + 3).collect()).collect();
    let atoms = AnyAtoms::groups(1, 9, members).unwrap();
    let all = Features::new(&design, loss.clone(), atoms, vec![], Preparation::default()).unwrap();
    let found = all.with_most_inside(1).unwrap().fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
    for a in 0..9 {
        for b in (a + 1..9).filter(|b| b / 3 != a / 3) {
            let pair = AnyAtoms::groups(1, 9, vec![vec![a, b]]).unwrap();
            let one = Features::new(&design, loss.clone(), pair, vec![], Preparation::default()).unwrap();
            let one = one.fit(1, &FitOptions::default(), &mut Unwatched).unwrap();
            assert!(found.loss <= one.loss * (1.0 + 1e-9), "{a} {b}");
        }
    }
}

#[test]
fn classes_share_the_features_inside_groups_also_in_cross_validation() {
    let x = simulate::gaussian(ROWS, COLUMNS, 2);
    let design: AnyDesign<'_> = Dense::column_major(&x, ROWS, COLUMNS).unwrap().into();
    let y = target(&x);
    let labels: Vec<usize> = y.iter().map(|v| [-2.0, 2.0].iter().filter(|level| v > level).count()).collect();
    let loss: AnyLoss = Multinomial::new(labels.clone(), 3).unwrap().into();
    let ridged = Preparation { ridge: 1.0, ..Preparation::default() };
    let all = Features::new(&design, loss, groups(1), vec![0], ridged).unwrap();
    let some = all.clone().with_most_inside(2).unwrap();
    let found = some.fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
    assert_eq!(columns_of(found.coefficients().indices()), [0, 7, 10, 25, 28]);
    let folds = Folds::random(ROWS, 3, 0).unwrap();
    let validated = some.cross_validate(Some(&[0, 1, 2]), Some(&[0.0, 1.0]), &folds, &mut Unwatched).unwrap();
    assert!(validated.complete && validated.sizes() == [0, 1, 2] && validated.scores.len() == 6);
    let at_most_two = |model: &katoms::select::FoldModel| {
        let groups: Vec<usize> = columns_of(model.coefficients.indices()).iter().map(|j| j / WIDTH).collect();
        (0..COLUMNS / WIDTH).all(|group| groups.iter().filter(|&&other| other == group).count() <= 2)
    };
    assert!(validated.scores.iter().flat_map(|score| &score.models).all(at_most_two));
    // a fold's model is the fit to its training rows
    let rows = folds.training(1);
    let part: Vec<f64> = (0..COLUMNS).flat_map(|j| rows.iter().map(|&i| x[j * ROWS + i]).collect::<Vec<_>>()).collect();
    let part: AnyDesign<'_> = Dense::column_major(part, rows.len(), COLUMNS).unwrap().into();
    let of_rows: AnyLoss = Multinomial::new(rows.iter().map(|&i| labels[i]).collect::<Vec<_>>(), 3).unwrap().into();
    let share = Preparation { ridge: rows.len() as f64 / ROWS as f64, ..Preparation::default() };
    let one = Features::new(&part, of_rows, groups(1), vec![0], share).unwrap();
    let one = one.with_most_inside(2).unwrap().fit(2, &FitOptions::default(), &mut Unwatched).unwrap();
    let score = validated.scores.iter().find(|score| score.choice.atoms == 2 && score.choice.ridge == 1.0).unwrap();
    assert_eq!(score.models[1].coefficients.indices(), one.coefficients().indices());
    assert!(all.clone().with_most_inside(0).is_err());
    let shared = AnyAtoms::groups(1, COLUMNS, vec![vec![0, 1], vec![1, 2]]).unwrap();
    let sharing =
        Features::new(&design, LeastSquares::new(y).map(AnyLoss::from).unwrap(), shared, vec![], ridged).unwrap();
    assert!(sharing.with_most_inside(1).unwrap_err().to_string().contains("share no feature"));
}
