//! Matrix completion.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use katoms::linalg::Matrix;
use katoms::method::RankMethod;
use katoms::simulate::{generator, low_rank_factors, normals, observed_places};
use katoms::space::{DeviceEntries, Pattern};
use katoms::{Error, Status, Stop};
use katoms_estimate::{
    Answer, Centring, Clip, Completed, Completion, Observed, Phase, Progress, Rule, Unwatched, Watch, complete,
};

use crate::Interrupt;

pub struct Whole {
    pub shape: (usize, usize),
    pub values: Vec<f64>,
}

impl Whole {
    pub fn low_rank(shape: (usize, usize), rank: usize, seed: u64) -> Self {
        let (left, right) = low_rank_factors(shape.0, shape.1, rank, seed);
        let product = left.times_transposed(&right);
        let values = (0..shape.0 * shape.1).map(|at| product.at(at / shape.1, at % shape.1)).collect();
        Self { shape, values }
    }

    /// Stars from 1 to 5: people and things have a level of their own, and a taste of rank 2.
    pub fn stars(shape: (usize, usize), seed: u64) -> Self {
        let taste = Self::low_rank(shape, 2, seed);
        let mut rng = generator(seed, 20);
        let (rows, columns) = (normals(shape.0, &mut rng), normals(shape.1, &mut rng));
        let noise = normals(taste.values.len(), &mut rng);
        let one = |at: usize| {
            let level = 0.7 * rows[at / shape.1] + 0.7 * columns[at % shape.1];
            (3.0 + level + 0.6 * taste.values[at] + 0.4 * noise[at]).round().clamp(1.0, 5.0)
        };
        Self { shape, values: (0..taste.values.len()).map(one).collect() }
    }

    pub fn noisy(mut self, deviation: f64, seed: u64) -> Self {
        let noise = normals(self.values.len(), &mut generator(seed, 21));
        self.values.iter_mut().zip(noise).for_each(|(v, e)| *v += deviation * e);
        self
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.shape.1 + column]
    }

    pub fn seen(&self, share: f64, seed: u64) -> Observed {
        let (rows, columns) = observed_places(self.shape.0, self.shape.1, share, seed);
        let values: Vec<f64> = rows.iter().zip(&columns).map(|(&i, &j)| self.at(i, j)).collect();
        Observed::new(self.shape, &rows, &columns, &values).unwrap()
    }

    pub fn rmse(&self, found: &[f64]) -> f64 {
        let sum: f64 = found.iter().zip(&self.values).map(|(a, b)| (a - b).powi(2)).sum();
        (sum / self.values.len() as f64).sqrt()
    }
}

pub fn completed(observed: &Observed, how: &Completion) -> Completed {
    complete(observed, how, None, &mut Unwatched).unwrap()
}

fn refusal(observed: &Observed, how: &Completion) -> String {
    complete(observed, how, None, &mut Unwatched).unwrap_err().to_string()
}

#[test]
fn an_exact_matrix_is_found() {
    let whole = Whole::low_rank((40, 30), 2, 1);
    for method in ["riemannian-cg", "accelerated-iht", "dore"] {
        let how = Completion { method: RankMethod::named(method).unwrap(), ..Completion::exact(2) };
        let found = completed(&whole.seen(0.5, 1), &how);
        assert!(whole.rmse(&found.matrix.to_dense().unwrap()) < 1e-4, "{method}");
        assert!(found.complete && found.refitted && found.trials.is_empty() && found.held_out_rmse.is_none());
        assert_eq!((found.status, found.matrix.singular_values.len()), (Status::Converged, 2));
    }
}

#[test]
fn the_planted_rank_is_chosen_under_noise() {
    for seed in 0..3 {
        let whole = Whole::low_rank((60, 50), 3, seed).noisy(0.3, seed);
        let how = Completion { ridges: vec![0.0], centring: Centring::None, ..Completion::new(1..=7) };
        let found = completed(&whole.seen(0.6, seed), &how);
        assert_eq!((found.rank, found.ridge), (3, 0.0), "{:?}", found.trials);
        let (least, simple) = (found.least().unwrap(), found.one_standard_error().unwrap());
        assert_eq!(found.held_out_rmse, Some(least.held_out_rmse));
        assert!(simple.rank <= least.rank && simple.held_out_mse <= least.held_out_mse + least.standard_error);
        assert!((0.25..0.5).contains(&least.held_out_rmse), "{least:?}");
        let one = Completion { rule: Rule::OneStandardError, ..how };
        assert_eq!(completed(&whole.seen(0.6, seed), &one).rank, simple.rank);
    }
}

#[test]
fn the_smallest_of_exact_ranks_is_chosen() {
    for seed in 0..3 {
        let whole = Whole::low_rank((60, 40), 2, seed);
        let found = completed(&whole.seen(0.6, seed), &Completion { clip: Clip::Off, ..Completion::new(1..=15) });
        assert_eq!((found.rank, found.ridge, found.centring), (2, 0.0, Centring::None), "{:?}", found.trials);
        assert_eq!(found.one_standard_error().unwrap().rank, 2);
        assert!(whole.rmse(&found.matrix.to_dense().unwrap()) < 1e-3);
    }
}

/// Of 1 to 12 every fifth larger is tried: 7, 9 and 11 are passed over, and found where they are best.
#[test]
fn a_rank_that_was_passed_over_is_found() {
    let whole = Whole::low_rank((80, 70), 7, 4).noisy(0.3, 4);
    let how = Completion { ridges: vec![0.0], centring: Centring::None, ..Completion::new(1..=12) };
    let found = completed(&whole.seen(0.7, 4), &how);
    assert_eq!(found.rank, 7, "{:?}", found.trials);
    let first: Vec<usize> = found.trials.iter().map(|trial| trial.rank).take(7).collect();
    assert_eq!(first, [1, 2, 3, 4, 5, 6, 8]);
}

fn of_effects(whole: &Whole, seen: &Observed) -> f64 {
    let how = Completion { ridges: vec![1e9], ..Completion::ratings([1]) };
    whole.rmse(&completed(seen, &how).matrix.to_dense().unwrap())
}

#[test]
fn ratings_are_predicted_better_than_by_means() {
    let whole = Whole::stars((60, 50), 5);
    let seen = whole.seen(0.4, 5);
    let mean = seen.values().iter().sum::<f64>() / seen.values().len() as f64;
    let by_mean = whole.rmse(&vec![mean; whole.values.len()]);
    let by_effects = of_effects(&whole, &seen);
    let found = completed(&seen, &Completion::ratings(1..=5));
    let error = whole.rmse(&found.matrix.to_dense().unwrap());
    assert!(by_effects < 0.9 * by_mean && error < 0.9 * by_effects, "{by_mean} {by_effects} {error}");
    assert!(found.matrix.to_dense().unwrap().iter().all(|v| (1.0..=5.0).contains(v)));
    assert!(found.trials.iter().all(|trial| trial.centring == Centring::Effects));
}

#[test]
fn what_is_taken_off_is_chosen() {
    let exact = Whole::low_rank((40, 30), 2, 3);
    let found = completed(&exact.seen(0.5, 3), &Completion { clip: Clip::Off, ..Completion::new([2]) });
    assert_eq!((found.centring, found.ridge), (Centring::None, 0.0));
    assert!(exact.rmse(&found.matrix.to_dense().unwrap()) < 1e-4);
    let stars = Whole::stars((60, 50), 6);
    assert_eq!(completed(&stars.seen(0.4, 6), &Completion::new([2])).centring, Centring::Effects);
}

#[test]
fn a_fit_goes_on_where_it_was_stopped() {
    let whole = Whole::stars((50, 40), 7);
    let (seen, how) = (whole.seen(0.4, 7), Completion::ratings(1..=4));
    let whole_run = completed(&seen, &how);
    for at in [1, whole_run.iterations / 2] {
        let mut interrupt = Interrupt::at(at);
        let stopped = complete(&seen, &how, None, &mut interrupt).unwrap();
        assert!(!stopped.complete && stopped.refitted && stopped.status == Status::Stopped);
        assert_eq!(stopped.iterations, at);
        let resumed = complete(&seen, &how, Some(&interrupt.state), &mut Unwatched).unwrap();
        assert_eq!(resumed.matrix, whole_run.matrix);
        assert_eq!(resumed.trials, whole_run.trials);
        assert_eq!((resumed.iterations, resumed.passes), (whole_run.iterations, whole_run.passes));
        assert!(resumed.complete && resumed.seen_rmse == whole_run.seen_rmse);
    }
}

#[derive(Default)]
struct Diary(Vec<Vec<u8>>);

impl Watch for Diary {
    fn tell(&mut self, progress: &Progress<'_>) -> Answer {
        if progress.can_save { Answer::Save } else { Answer::GoOn }
    }
    fn keep(&mut self, state: &[u8]) {
        self.0.push(state.to_vec());
    }
}

#[test]
fn saving_changes_nothing_and_an_ended_fit_stays_ended() {
    let seen = Whole::stars((50, 40), 18).seen(0.4, 18);
    let how = Completion { ridges: vec![0.3], ..Completion::ratings([3]) };
    let (plain, mut diary) = (completed(&seen, &how), Diary::default());
    assert_eq!(complete(&seen, &how, None, &mut diary).unwrap().matrix, plain.matrix);
    assert_eq!(diary.0.len(), plain.iterations);
    let again = complete(&seen, &how, diary.0.last().map(Vec::as_slice), &mut Unwatched).unwrap();
    assert_eq!((again.matrix, again.iterations, again.status), (plain.matrix, plain.iterations, plain.status));
}

#[test]
fn a_single_fit_goes_on_too() {
    let whole = Whole::low_rank((40, 30), 4, 8);
    for method in ["riemannian-cg", "accelerated-iht", "dore"] {
        let how = Completion { method: RankMethod::named(method).unwrap(), ..Completion::exact(4) };
        let mut interrupt = Interrupt::at(7);
        complete(&whole.seen(0.6, 8), &how, None, &mut interrupt).unwrap();
        let resumed = complete(&whole.seen(0.6, 8), &how, Some(&interrupt.state), &mut Unwatched).unwrap();
        assert_eq!(resumed.matrix, completed(&whole.seen(0.6, 8), &how).matrix, "{method}");
    }
}

#[test]
fn a_saved_fit_of_other_data_is_refused() {
    let how = Completion::exact(2);
    let seen = Whole::low_rank((20, 20), 2, 9).seen(0.7, 9);
    let mut interrupt = Interrupt::at(3);
    complete(&seen, &how, None, &mut interrupt).unwrap();
    let refused = |observed: &Observed, state: &[u8]| {
        complete(observed, &how, Some(state), &mut Unwatched).unwrap_err().to_string()
    };
    let other = Whole::low_rank((20, 20), 2, 10).seen(0.7, 9);
    assert!(refused(&other, &interrupt.state).contains("it was saved for other data"));
    let cut = &interrupt.state[..interrupt.state.len() / 2];
    assert!(refused(&seen, cut).contains("the bytes are damaged or cut off"));
    assert!(refused(&seen, &[]).contains("no saved completion"));
    interrupt.state[20] ^= 1;
    assert!(refused(&seen, &interrupt.state).contains("damaged"));
}

/// What was chosen among other ranks or ridges is no answer to a new question.
#[test]
fn a_saved_fit_of_another_question_is_refused() {
    let seen = Whole::stars((50, 40), 7).seen(0.4, 7);
    let how = Completion::ratings(1..=3);
    let mut interrupt = Interrupt::at(1);
    complete(&seen, &how, None, &mut interrupt).unwrap();
    let refused =
        |how: &Completion| complete(&seen, how, Some(&interrupt.state), &mut Unwatched).unwrap_err().to_string();
    for (other, words) in [
        (Completion { ranks: vec![4], ..how.clone() }, "ranks 1, 2, 3, and now 4 is asked for"),
        (Completion { ridges: vec![0.5], ..how.clone() }, "ridges 1.0, 0.3, 0.1, 0.03, 0.0, and now 0.5 is asked for"),
        (Completion { centring: Centring::None, ..how.clone() }, "centring Effects, and now None is asked for"),
        (Completion { held_out: 0.2, ..how.clone() }, "share held out 0.1, and now 0.2 is asked for"),
        (
            Completion { rule: Rule::OneStandardError, ..how.clone() },
            "rule Least, and now OneStandardError is asked for",
        ),
        (Completion { seed: 5, ..how.clone() }, "seed 0, and now 5 is asked for"),
    ] {
        let error = refused(&other);
        assert!(error.contains(words), "{error}");
    }
    // another clock is the same question
    let stop = Stop { seconds: Some(1000.0), ..how.stop };
    assert!(complete(&seen, &Completion { stop, ..how.clone() }, Some(&interrupt.state), &mut Unwatched).is_ok());
    // where nothing is chosen, nothing is drawn
    let single = Completion::exact(2);
    let mut interrupt = Interrupt::at(1);
    complete(&seen, &single, None, &mut interrupt).unwrap();
    let reseeded = Completion { seed: 5, ..single };
    assert!(complete(&seen, &reseeded, Some(&interrupt.state), &mut Unwatched).is_ok());
}

#[test]
fn a_stop_gives_the_best_so_far() {
    let whole = Whole::stars((50, 40), 11);
    let seen = whole.seen(0.4, 11);
    let mut heard = Vec::new();
    let mut watch = |progress: &Progress<'_>| {
        heard.push((progress.phase, progress.done, progress.of, progress.can_save));
        if progress.done == 2 { Answer::Stop } else { Answer::GoOn }
    };
    let found = complete(&seen, &Completion::ratings(1..=6), None, &mut watch).unwrap();
    assert!(!found.complete && !found.refitted && found.status == Status::Stopped);
    assert_eq!(found.trials.len(), 3);
    assert_eq!(found.rank, found.least().unwrap().rank);
    assert!(whole.rmse(&found.matrix.to_dense().unwrap()) < 1.05 * of_effects(&whole, &seen));
    assert_eq!(heard.first(), Some(&(Phase::Trial { atoms: 1, ridge: 1.0 }, 0, 31, false)));
    assert_eq!(heard.last().map(|h| (h.1, h.3)), Some((2, false)));
    // the first move of all
    let found = complete(&seen, &Completion::exact(3), None, &mut |_: &Progress<'_>| Answer::Stop).unwrap();
    assert_eq!((found.iterations, found.complete, found.refitted), (1, false, true));
}

#[test]
fn time_that_is_up_is_told() {
    let seen = Whole::stars((50, 40), 11).seen(0.4, 11);
    let stop = Stop { seconds: Some(1e-9), ..Stop::default() };
    let found = completed(&seen, &Completion { stop, ..Completion::ratings(1..=6) });
    assert!(!found.complete && found.refitted);
    assert_eq!((found.status, found.trials.len(), found.most_trials), (Status::TimeLimit, 1, 30));
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let whole = Whole::stars((40, 30), 12);
    let seen = whole.seen(0.5, 12);
    let how = Completion::new(1..=3);
    let first = completed(&seen, &how);
    assert_eq!(completed(&seen, &how).matrix, first.matrix);
    let back = |v: &[usize]| v.iter().rev().copied().collect::<Vec<_>>();
    let values: Vec<f64> = seen.values().iter().rev().copied().collect();
    let reversed = Observed::new(seen.shape(), &back(seen.rows()), &back(seen.columns()), &values).unwrap();
    assert_eq!(completed(&reversed, &how).matrix, first.matrix);
    assert_ne!(completed(&seen, &Completion { seed: 1, ..how }).trials, first.trials);
}

#[test]
fn rows_that_nobody_saw_have_the_mean() {
    let (rows, columns): (Vec<usize>, Vec<usize>) = (0..20).filter(|e| e / 5 != 2).map(|e| (e / 5, e % 5)).unzip();
    let values: Vec<f64> = rows.iter().zip(&columns).map(|(i, j)| (i + 1) as f64 * (j + 1) as f64).collect();
    let seen = Observed::new((4, 6), &rows, &columns, &values).unwrap();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let found = completed(&seen, &Completion::exact(1)).matrix;
    assert_eq!((&found.empty_rows[..], &found.empty_columns[..]), (&[2][..], &[5][..]));
    assert!(found.row(2).unwrap().iter().all(|v| (v - mean).abs() < 1e-12));
    assert!((found.predict(&[0], &[5]).unwrap()[0] - mean).abs() < 1e-12);
    let how = Completion { ridges: vec![0.1], ..Completion::ratings([1]) };
    let found = completed(&seen, &how).matrix;
    assert!((found.predict(&[2], &[5]).unwrap()[0] - mean).abs() < 1e-9, "no effect is known of either");
    assert!(found.predict(&[2], &[4]).unwrap()[0] > mean, "the column's effect is");
}

#[test]
fn repeated_places_are_averaged_and_counted() {
    let seen = Observed::new((2, 2), &[1, 0, 1, 1], &[1, 0, 1, 1], &[3.0, 1.0, 4.0, 8.0]).unwrap();
    assert_eq!((seen.rows(), seen.columns(), seen.values()), (&[0, 1][..], &[0, 1][..], &[1.0, 5.0][..]));
    assert_eq!(seen.repeated(), 2);
    assert_eq!(completed(&seen, &Completion::exact(1)).repeated, 2);
}

#[test]
fn predictions_stay_within_bounds() {
    let seen = Whole::low_rank((30, 30), 2, 13).noisy(0.5, 13).seen(0.5, 13);
    let (low, high) = seen.range();
    let spread = |clip: Clip| {
        let found = completed(&seen, &Completion { clip, ..Completion::exact(2) }).matrix.to_dense().unwrap();
        found.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)))
    };
    let off = spread(Clip::Off);
    assert!(off.0 < low || off.1 > high, "or the test shows nothing");
    let (least, most) = spread(Clip::Seen);
    assert!(least >= low && most <= high);
    assert_eq!(spread(Clip::Range(-0.5, 0.25)), (-0.5, 0.25));
}

#[test]
fn matrices_side_by_side_must_divide_the_columns() {
    let seen = Whole::low_rank((10, 9), 1, 21).seen(0.8, 21);
    let error = complete(&seen, &Completion { tied: 7, ..Completion::new([2]) }, None, &mut Unwatched).unwrap_err();
    assert!(error.to_string().contains("it must divide the number of columns"), "{error}");
}

#[test]
fn predictions_agree_with_each_other() {
    let found = completed(&Whole::stars((20, 15), 16).seen(0.6, 16), &Completion::ratings([2])).matrix;
    let dense = found.to_dense().unwrap();
    assert_eq!(found.row(7).unwrap(), dense[7 * 15..8 * 15]);
    assert_eq!(found.predict(&[19, 0], &[14, 3]).unwrap(), [dense[19 * 15 + 14], dense[3]]);
    assert!(found.predict(&[20], &[0]).unwrap_err().to_string().contains("row index at position 0 is 20"));
    assert!(found.predict(&[0, 1], &[0]).is_err() && found.row(20).is_err());
}

#[test]
fn bad_entries_are_named() {
    let told = |rows: &[usize], columns: &[usize], values: &[f64]| {
        Observed::new((3, 4), rows, columns, values).unwrap_err().to_string()
    };
    assert_eq!(told(&[], &[], &[]), "the list of observed entries is empty; at least one is needed");
    assert!(told(&[0, 1], &[0], &[1.0, 2.0]).contains("column index has length 1, but 2 is needed"));
    assert!(told(&[0, 3], &[0, 1], &[1.0, 2.0]).contains("the row index at position 1 is 3, but there are only 3"));
    assert!(told(&[0], &[4], &[1.0]).contains("the column index at position 0 is 4, but there are only 4"));
    assert!(told(&[0], &[0], &[f64::NAN]).contains("holds NaN at position 0 (counted from 0)"));
}

#[test]
fn bad_options_are_named() {
    let seen = Whole::low_rank((6, 8), 1, 17).seen(0.9, 17);
    let how = Completion::new([1]);
    let ranks = |ranks: &[usize]| refusal(&seen, &Completion { ranks: ranks.to_vec(), ..how.clone() });
    assert_eq!(ranks(&[7]), "the rank is 7; it must lie between 1 and 6");
    assert_eq!(ranks(&[0]), "the rank is 0; it must lie between 1 and 6");
    assert_eq!(ranks(&[3, 2]), "the rank is 2; it must lie between 4 and 6");
    assert_eq!(ranks(&[]), "the list of ranks is empty; at least one is needed");
    let share = |held_out| refusal(&seen, &Completion { held_out, ..how.clone() });
    assert_eq!(share(0.9), "option held_out is 0.9; it must be above 0 and at most 0.5");
    assert_eq!(share(0.0), "option held_out is 0; it must be above 0 and at most 0.5");
    let ridges = |ridges: &[f64]| refusal(&seen, &Completion { ridges: ridges.to_vec(), ..how.clone() });
    assert!(ridges(&[-1.0]).contains("option ridge is -1") && ridges(&[]).contains("the list of ridges"));
    assert!(refusal(&seen, &Completion { clip: Clip::Range(2.0, 1.0), ..how.clone() }).contains("option clip"));
    let stop = Stop { seconds: Some(-2.0), ..Stop::default() };
    assert!(refusal(&seen, &Completion { stop, ..how.clone() }).contains("option seconds is -2; it must be above 0"));
    let diagonal = Observed::new((3, 3), &[0, 1, 2], &[0, 1, 2], &[1.0, 2.0, 3.0]).unwrap();
    assert!(refusal(&diagonal, &how).contains("every row and every column keeps one"));
    assert!(matches!(RankMethod::named("omp"), Err(Error::UnknownMethod { .. })));
}

/// A device that computes as the host does, and fails from so many calls on.
#[derive(Debug)]
struct Failing {
    pattern: Pattern,
    left: Arc<AtomicUsize>,
}

impl Failing {
    fn call(&self) -> Result<(), Error> {
        let taken = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        taken.map(|_| ()).map_err(|_| Error::Device { message: "the cable was pulled".into() })
    }
}

impl DeviceEntries for Failing {
    fn gather(&self, left: &Matrix, right: &Matrix, out: &mut [f64]) -> Result<(), Error> {
        self.call()?;
        self.pattern.gather(left, right, out);
        Ok(())
    }
    fn times(&self, values: &[f64], b: &Matrix, transposed: bool) -> Result<Matrix, Error> {
        self.call()?;
        Ok(if transposed { self.pattern.transposed_times(values, b) } else { self.pattern.times(values, b) })
    }
}

#[derive(Default)]
struct Saving(Vec<Vec<u8>>);

impl Watch for Saving {
    fn tell(&mut self, _: &Progress<'_>) -> Answer {
        Answer::Save
    }
    fn keep(&mut self, state: &[u8]) {
        self.0.push(state.to_vec());
    }
}

/// Wherever a device fails, that is what comes of it: no answer, and a checkpoint from which the host goes on.
#[test]
fn a_device_that_fails_ends_a_completion_with_its_word() {
    let whole = Whole::low_rank((20, 15), 2, 5).noisy(0.1, 5);
    let seen = whole.seen(0.7, 5);
    let on = |calls: usize| {
        let left = Arc::new(AtomicUsize::new(calls));
        let counter = Arc::clone(&left);
        let upload = move |pattern: &Pattern| {
            let device: Arc<dyn DeviceEntries> =
                Arc::new(Failing { pattern: pattern.clone(), left: Arc::clone(&left) });
            Ok(device)
        };
        (seen.clone().on(upload), counter)
    };
    for how in [Completion { ridges: vec![0.1], ..Completion::new([2]) }, Completion::new([1, 2])] {
        let (whole, left) = on(usize::MAX);
        let expected = completed(&whole, &how);
        let calls = usize::MAX - left.load(Relaxed);
        assert_eq!(expected.matrix.to_dense().unwrap(), completed(&seen, &how).matrix.to_dense().unwrap());
        for fails in [0, 1, 2, calls / 4, calls / 2, calls - 2, calls - 1] {
            let mut saving = Saving::default();
            let error = complete(&on(fails).0, &how, None, &mut saving).unwrap_err();
            assert_eq!(error.to_string(), "the cable was pulled", "{fails} of {calls}");
            if let Some(state) = saving.0.last() {
                let resumed = complete(&seen, &how, Some(state), &mut Unwatched).unwrap();
                assert_eq!(
                    resumed.matrix.to_dense().unwrap(),
                    expected.matrix.to_dense().unwrap(),
                    "{fails} of {calls}"
                );
            }
        }
    }
    assert!(refusal(&on(9).0, &Completion::features([1])).contains("all to be in one unit, or leave the device out"));
}
