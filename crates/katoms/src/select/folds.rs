//! Which rows are held out together.

use rand::{Rng, RngExt};

use crate::error::{Error, check_range, check_values};
use crate::simulate::generator;

/// The stream of a seed that folds are drawn from: none that a planted problem uses.
const STREAM: u64 = 6;

/// The fold of each row. Every row is held out once, with the others of its fold.
///
/// ```
/// use katoms::select::Folds;
/// let folds = Folds::random(10, 3, 0)?;
/// assert_eq!(folds.count(), 3);
/// assert_eq!(folds.held_out(0).len() + folds.training(0).len(), 10);
/// assert!(folds.held_out(0).iter().all(|&row| folds.labels()[row] == 0));
/// # Ok::<(), katoms::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    labels: Vec<usize>,
    count: usize,
}

impl Folds {
    /// Rows dealt to `count` folds at random. Sizes differ by at most one; a seed always gives the same
    /// folds.
    ///
    /// # Errors
    /// When there are fewer than two folds, or more folds than rows.
    ///
    /// ```
    /// use katoms::select::Folds;
    /// let error = Folds::random(4, 5, 0).unwrap_err();
    /// assert_eq!(error.to_string(), "the number of folds is 5; it must lie between 2 and 4");
    /// ```
    pub fn random(rows: usize, count: usize, seed: u64) -> Result<Self, Error> {
        check_count(count, rows)?;
        Ok(Self::dealt(&shuffled(rows, &mut generator(seed, STREAM)), count))
    }

    /// The same with every class spread over the folds: in each fold its size differs by at most one.
    /// Classes are told apart by their values; 0 and 1 will do, and so will any others.
    ///
    /// # Errors
    /// As [`Folds::random`]; when a value is not finite; and when a class has a single row, since the
    /// fit that holds it out would never see the class.
    ///
    /// ```
    /// use katoms::select::Folds;
    /// let folds = Folds::stratified(&[0.0, 0.0, 1.0, 0.0, 1.0, 0.0], 2, 0)?;
    /// assert_ne!(folds.labels()[2], folds.labels()[4]);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn stratified(classes: &[f64], count: usize, seed: u64) -> Result<Self, Error> {
        check_count(count, classes.len())?;
        Ok(Self::dealt(&shuffled_by_class(classes, &mut generator(seed, STREAM))?, count))
    }

    /// The folds of your own numbers, one for each row: patients, days, sites. Gaps close; the order of
    /// the numbers stays.
    ///
    /// # Errors
    /// When there are fewer than two different numbers.
    ///
    /// ```
    /// use katoms::select::Folds;
    /// let folds = Folds::given(vec![2024, 2026, 2024, 2025])?;
    /// assert_eq!(folds.labels(), [0, 2, 0, 1]);
    /// assert_eq!(folds.training(0), [1, 3]);
    /// # Ok::<(), katoms::Error>(())
    /// ```
    pub fn given(labels: Vec<usize>) -> Result<Self, Error> {
        let mut different = labels.clone();
        different.sort_unstable();
        different.dedup();
        check_count(different.len(), labels.len())?;
        let number = |label: &usize| different.partition_point(|d| d < label);
        Ok(Self { labels: labels.iter().map(number).collect(), count: different.len() })
    }

    /// Rows to folds in turn, as cards are dealt.
    fn dealt(order: &[usize], count: usize) -> Self {
        let mut labels = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| labels[row] = place % count);
        Self { labels, count }
    }

    /// The number of folds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The fold of each row, below [`Folds::count`].
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The rows of a fold, rising; none where there is no such fold. O(rows).
    pub fn held_out(&self, fold: usize) -> Vec<usize> {
        self.rows_where(|label| label == fold)
    }

    /// The rows of all other folds, rising. O(rows).
    pub fn training(&self, fold: usize) -> Vec<usize> {
        self.rows_where(|label| label != fold)
    }

    fn rows_where(&self, test: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.labels.len()).filter(|&row| test(self.labels[row])).collect()
    }
}

fn check_count(count: usize, rows: usize) -> Result<(), Error> {
    if rows < 2 {
        let why = "a fit is judged on rows that it has not seen; give more data";
        return Err(Error::FewRows { what: "the data to be split", rows, needed: 2, why });
    }
    check_range("the number of folds", count, 2, rows)
}

/// The rows in random order.
pub(super) fn shuffled(rows: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    shuffle(&mut order, rng);
    order
}

/// Class after class, the largest last, each in random order: whoever deals these rows in turn spreads
/// every class, and whoever leaves out the last row leaves out one of the largest class.
pub(super) fn shuffled_by_class(classes: &[f64], rng: &mut impl Rng) -> Result<Vec<usize>, Error> {
    check_values("classes", classes, "every class must be finite", f64::is_finite)?;
    let mut rows: Vec<usize> = (0..classes.len()).collect();
    rows.sort_by(|&a, &b| (classes[a] + 0.0).total_cmp(&(classes[b] + 0.0))); // −0 + 0 = 0: one class
    let mut members: Vec<&mut [usize]> = rows.chunk_by_mut(|&a, &b| classes[a] == classes[b]).collect();
    members.sort_by_key(|class| class.len());
    if let Some(&mut [row]) = members.first_mut().map(|class| &mut **class) {
        return Err(Error::LonelyClass { class: classes[row], row });
    }
    members.iter_mut().for_each(|class| shuffle(class, rng));
    Ok(members.concat())
}

fn shuffle(rows: &mut [usize], rng: &mut impl Rng) {
    for i in (1..rows.len()).rev() {
        rows.swap(i, rng.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Sizes of the folds, or of what a class has in each of them.
    fn sizes(folds: &Folds, of: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..folds.count()).map(|fold| folds.held_out(fold).into_iter().filter(|&row| of(row)).count()).collect()
    }

    fn spread(sizes: &[usize]) -> usize {
        sizes.iter().max().unwrap() - sizes.iter().min().unwrap()
    }

    fn is_partition(folds: &Folds, rows: usize) {
        let mut seen = vec![0; rows];
        for fold in 0..folds.count() {
            let (out, training) = (folds.held_out(fold), folds.training(fold));
            assert!(!out.is_empty() && !training.is_empty());
            out.iter().for_each(|&row| seen[row] += 1);
            let mut all = [out, training].concat();
            all.sort_unstable();
            assert_eq!(all, (0..rows).collect::<Vec<_>>());
        }
        assert_eq!(seen, vec![1; rows]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn random_folds_are_balanced((rows, count) in (2..60_usize).prop_flat_map(|m| (Just(m), 2..=m)), seed: u64) {
            let folds = Folds::random(rows, count, seed).unwrap();
            prop_assert_eq!(folds.count(), count);
            is_partition(&folds, rows);
            prop_assert!(spread(&sizes(&folds, |_| true)) <= 1);
            prop_assert_eq!(folds, Folds::random(rows, count, seed).unwrap());
        }

        #[test]
        fn stratified_folds_spread_every_class(
            numbers in vec(2..9_usize, 1..5),
            count in 2..5_usize,
            seed: u64,
        ) {
            let values = [-1.5, 0.0, 1.0, 7.0];
            let mut classes: Vec<f64> = numbers.iter().zip(values).flat_map(|(&size, v)| vec![v; size]).collect();
            let middle = classes.len() / 2;
            classes.rotate_left(middle);
            prop_assume!(count <= classes.len());
            let folds = Folds::stratified(&classes, count, seed).unwrap();
            is_partition(&folds, classes.len());
            prop_assert!(spread(&sizes(&folds, |_| true)) <= 1);
            for &class in &classes {
                prop_assert!(spread(&sizes(&folds, |row| classes[row] == class)) <= 1);
                for fold in 0..count {
                    prop_assert!(folds.training(fold).iter().any(|&row| classes[row] == class));
                }
            }
            prop_assert_eq!(folds, Folds::stratified(&classes, count, seed).unwrap());
        }

        #[test]
        fn given_folds_keep_their_members_and_order(labels in vec(0..1000_usize, 2..40)) {
            prop_assume!(labels.iter().any(|l| *l != labels[0]));
            let folds = Folds::given(labels.clone()).unwrap();
            is_partition(&folds, labels.len());
            for (i, a) in labels.iter().enumerate() {
                for (j, b) in labels.iter().enumerate() {
                    prop_assert_eq!(a.cmp(b), folds.labels()[i].cmp(&folds.labels()[j]));
                }
            }
        }
    }

    #[test]
    fn another_seed_gives_other_folds() {
        assert_ne!(Folds::random(40, 4, 1).unwrap(), Folds::random(40, 4, 2).unwrap());
        let classes: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert_ne!(Folds::stratified(&classes, 4, 1).unwrap(), Folds::stratified(&classes, 4, 2).unwrap());
    }

    #[test]
    fn every_row_meets_every_fold() {
        let mut seen = vec![[0; 3]; 7];
        for seed in 0..60 {
            let folds = Folds::random(7, 3, seed).unwrap();
            folds.labels().iter().enumerate().for_each(|(row, &fold)| seen[row][fold] += 1);
        }
        assert!(seen.iter().flatten().all(|&times| times > 5), "{seen:?}");
    }

    #[test]
    fn minus_zero_is_zero() {
        let folds = Folds::stratified(&[0.0, -0.0, 1.0, 1.0], 2, 0).unwrap();
        assert_ne!(folds.labels()[0], folds.labels()[1]);
    }

    #[test]
    fn what_cannot_be_split_is_named() {
        let count = |value, max| Error::OutOfRange { what: "the number of folds", value, min: 2, max };
        assert_eq!(Folds::random(10, 1, 0).unwrap_err(), count(1, 10));
        assert_eq!(Folds::random(10, 11, 0).unwrap_err(), count(11, 10));
        assert_eq!(Folds::stratified(&[0.0, 1.0, 0.0], 4, 0).unwrap_err(), count(4, 3));
        assert_eq!(Folds::given(vec![7; 5]).unwrap_err(), count(1, 5));
        for rows in [0, 1] {
            let message = format!("the data to be split has {rows} rows, but at least 2 are needed");
            assert!(Folds::random(rows, 2, 0).unwrap_err().to_string().starts_with(&message));
            assert!(Folds::given(vec![3; rows]).unwrap_err().to_string().starts_with(&message));
        }
        let lonely = Folds::stratified(&[0.0, 0.0, 2.5, 0.0], 2, 0).unwrap_err();
        assert_eq!(lonely, Error::LonelyClass { class: 2.5, row: 2 });
        assert!(lonely.to_string().contains("merge it with another class or leave the row out"));
        let error = Folds::stratified(&[0.0, f64::NAN, 0.0], 2, 0).unwrap_err();
        assert!(matches!(error, Error::Value { what: "classes", index: 1, .. }));
    }
}
