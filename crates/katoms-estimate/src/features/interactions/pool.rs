//! The pool of features and products in which a search works, and which grows with the models that it finds.

use std::collections::{BTreeMap, BTreeSet};

use katoms::linalg::top_k;
use katoms::loss::{AnyLoss, Loss, Split, best_constants};
use katoms::operator::{AnyDesign, Dense, Interactions as Products, LinearOperator};
use katoms::search::{Effort, Heredity as Parents};
use katoms::select::Preparation;
use katoms::set::{AnyAtoms, CoordinateSet};
use katoms::space::SparseVec;
use katoms::{Error, Stop};

use super::super::trained::weight;
use super::super::{Estimate, Features, FitOptions, predictions};
use super::labelled::Labelled;
use super::product::{column, moved, multiplied, places_of};
use super::{Heredity, Interactions, Product};
use crate::budget::Budget;
use crate::watch::{Unsaved, Watch};

/// Features, and products, that make the first pool, beside so many for each of the model.
const SCREENED: usize = 60;
const SCREENED_EACH: usize = 4;
/// Those that join it from a model, beside so many for each of its own.
const ENTERING: usize = 20;
const ENTERING_EACH: usize = 2;
/// How often a model is searched for anew in a larger pool.
const ROUNDS: usize = 12;
/// A share of the objective by which a better model is better.
const IMPROVES: f64 = 1e-9;
/// A column of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Feature(usize),
    Product([usize; 2]),
}

/// What the pool has: a factor (an atom, or a column that is always in) or the product of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    Single(usize),
    Pair(usize, usize),
}

/// Features and products among which is searched, with copies of their columns.
struct Pool {
    data: Vec<f64>,
    columns: Vec<Column>,
    terms: Vec<Term>,
    /// The columns of each term.
    members: Vec<Vec<usize>>,
}

/// A search in a pool that grows.
pub(super) struct Search<'f, 'a> {
    of: Interactions<'f, 'a>,
    rows: Vec<usize>,
    loss: AnyLoss,
    /// Of the weight of all rows, that of these.
    pub(super) share: f64,
    /// The columns of the atoms, then those that are always in.
    factors: Vec<Vec<usize>>,
    factor_of: Vec<usize>,
    /// How many of them are atoms.
    count: usize,
    all: Products,
    /// Pairs of columns that are no candidates: those of one factor, and those in the pool.
    without: Vec<(usize, usize)>,
    pool: Pool,
    /// Whether the first features and products are in the pool.
    is_screened: bool,
    /// How often all products were looked at.
    pub(super) passes: usize,
}

/// A model of the pool as it was.
#[derive(Clone)]
pub(super) struct Small {
    pub(super) estimate: Estimate,
    /// The columns of the pool.
    pub(super) columns: usize,
}

impl Search<'_, '_> {
    /// The model of k terms that is found as the pool grows.
    pub(super) fn model(
        &mut self,
        k: usize,
        ridge: f64,
        before: Option<Small>,
        (effort, stop): (Effort, Stop),
        watch: &mut dyn Watch,
    ) -> Result<Small, Error> {
        let (budget, watch) = (Budget::new(&stop)?, &mut Unsaved::new(watch));
        if k == 0 {
            // Nothing is looked at for the model without atoms; a pool has a column all the same.
            let first = self.factors.iter().position(|members| !members.is_empty());
            first.map(|factor| self.add(Term::Single(factor))).transpose()?;
        } else if !self.is_screened {
            self.is_screened = true;
            let constants = match self.of.features.preparation.intercept {
                true => best_constants(&self.loss),
                false => vec![0.0; self.loss.outputs_per_row()],
            };
            let linear: Vec<f64> = constants.iter().flat_map(|&c| vec![c; self.loss.n_rows()]).collect();
            self.join(&linear, SCREENED + SCREENED_EACH * k)?;
        }
        let mut best: Option<Small> = None;
        for _ in 0..ROUNDS {
            let start = best.as_ref().or(before.as_ref()).map(|small| small.in_pool_of(self.pool.columns.len()));
            let how = FitOptions { effort, stop: budget.left(stop, 0.0), start, ..FitOptions::default() };
            let found = self.fit(k, ridge, &how, watch)?;
            let objective = |small: &Small| small.estimate.outcome.objective;
            let better = |best: &Small| objective(&found) < objective(best) * (1.0 - IMPROVES);
            let goes_on = best.as_ref().is_none_or(better) && k > 0 && !watch.stopped && effort != Effort::Quick;
            if best.as_ref().is_none_or(|best| objective(&found) < objective(best)) {
                best = Some(found.clone());
            }
            if !goes_on || self.join(&self.linear(&found)?, ENTERING + ENTERING_EACH * k)? == 0 {
                break;
            }
        }
        best.ok_or(Error::Empty { what: "the design" })
    }

    /// A fit in the pool as it is.
    fn fit(&self, k: usize, ridge: f64, how: &FitOptions, watch: &mut dyn Watch) -> Result<Small, Error> {
        let (pool, base, rows) = (&self.pool, self.of.features, self.rows.len());
        let columns = pool.columns.len();
        let design: AnyDesign<'_> = Dense::column_major(&pool.data[..], rows, columns)?.into();
        let outputs = self.loss.outputs_per_row();
        let is_always = |term: &Term| matches!(term, Term::Single(factor) if *factor >= self.count);
        let atoms: Vec<usize> = (0..pool.terms.len()).filter(|&at| !is_always(&pool.terms[at])).collect();
        let members = atoms.iter().map(|&at| pool.members[at].clone()).collect();
        let always = (0..pool.terms.len()).filter(|&at| is_always(&pool.terms[at])).flat_map(|at| &pool.members[at]);
        let always: Vec<usize> = always.copied().collect();
        let always = (0..outputs).flat_map(|output| always.iter().map(move |j| output * columns + j)).collect();
        let set = AnyAtoms::groups(1, columns, members)?.for_outputs(outputs)?.always(always)?;
        let number: BTreeMap<usize, usize> = atoms.iter().enumerate().map(|(number, &at)| (at, number)).collect();
        let atom_of = |factor: usize| {
            let at = pool.terms.iter().position(|term| *term == Term::Single(factor))?;
            number.get(&at).copied()
        };
        let parents = atoms.iter().map(|&at| match pool.terms[at] {
            Term::Single(_) => Vec::new(),
            Term::Pair(a, b) => {
                let factors = [atom_of(a), atom_of(b)];
                let free = self.of.heredity == Heredity::Weak && factors.contains(&None);
                if free { Vec::new() } else { factors.into_iter().flatten().collect() }
            }
        });
        let parents = parents.collect();
        let parents = match self.of.heredity {
            Heredity::Strong => Parents::strong(parents)?,
            Heredity::Weak => Parents::weak(parents)?,
        };
        let small = Features {
            design: &design,
            scaled: None,
            loss: self.loss.clone(),
            estimated: false,
            atoms: set,
            preparation: Preparation { ridge, ..base.preparation },
            bounds: None,
            inside: None,
            parents: Some(parents),
            units: base.units.clone(),
        };
        let mut estimate = small.fit(k.min(atoms.len()), how, watch)?;
        estimate.chosen.iter_mut().for_each(|atom| *atom = atoms[*atom]);
        Ok(Small { estimate, columns })
    }

    /// The linear predictions of a model for the rows of the search, in the units that are computed with.
    fn linear(&self, small: &Small) -> Result<Vec<f64>, Error> {
        let base = self.of.features;
        let design: AnyDesign<'_> =
            Dense::column_major(&self.pool.data[..], self.rows.len(), self.pool.columns.len())?.into();
        let narrow = Features { design: &design, ..base.clone() };
        let model = small.in_pool_of(self.pool.columns.len());
        let (x, constants) = base.units.scaled_model(&model)?;
        let (x, constants) = narrow.contrasted(&x, &constants)?;
        Ok(predictions(&design, &x, &constants))
    }

    /// The features and products along which the loss falls most at some predictions join the pool. How many are new.
    fn join(&mut self, linear: &[f64], count: usize) -> Result<usize, Error> {
        let mut gradient = vec![0.0; linear.len()];
        self.loss.gradient(linear, &mut gradient);
        let residuals: Vec<&[f64]> = gradient.chunks(self.rows.len().max(1)).collect();
        let slopes = self.all.slopes(&residuals);
        let steepness = |members: &Vec<usize>| members.iter().map(|&j| slopes[j]).sum();
        let mut single: Vec<f64> = self.factors.iter().map(steepness).collect();
        for term in &self.pool.terms {
            if let Term::Single(factor) = term {
                single[*factor] = 0.0;
            }
        }
        let steepest = top_k(&single, count).into_iter().filter(|&factor| single[factor] > 0.0);
        let mut new: Vec<Term> = steepest.map(Term::Single).collect();
        let pairs = self.all.steepest(&residuals, count, &self.without);
        self.passes += 1;
        for (i, j) in pairs {
            let (a, b) = (self.factor_of[i], self.factor_of[j]);
            new.extend([Term::Single(a), Term::Single(b), Term::Pair(a.min(b), a.max(b))]);
        }
        let mut added = 0;
        for term in new {
            added += usize::from(self.add(term)?);
        }
        Ok(added)
    }

    /// Adds a term, where it is new and varies.
    fn add(&mut self, term: Term) -> Result<bool, Error> {
        if self.pool.terms.contains(&term) {
            return Ok(false);
        }
        let of_rows = |j: usize| {
            let all = column(self.of.features.design, j);
            self.rows.iter().map(|&row| all[row]).collect::<Vec<f64>>()
        };
        let columns = match term {
            Term::Single(factor) => self.factors[factor].iter().map(|&j| Column::Feature(j)).collect(),
            Term::Pair(a, b) => self.product(a, b).into_iter().map(Column::Product).collect::<Vec<_>>(),
        };
        let first = self.pool.columns.len();
        for &one in &columns {
            match one {
                Column::Feature(j) => self.pool.data.extend(of_rows(j)),
                Column::Product([i, j]) => self.pool.data.extend(multiplied(&of_rows(i), &of_rows(j), (i, j))?),
            }
        }
        if let Term::Pair(..) = term {
            let pairs = columns.iter().filter_map(|one| match one {
                Column::Product([i, j]) => Some((*i.min(j), *i.max(j))),
                Column::Feature(_) => None,
            });
            self.without.extend(pairs);
        }
        self.pool.members.push((first..first + columns.len()).collect());
        self.pool.columns.extend(columns);
        self.pool.terms.push(term);
        Ok(true)
    }

    /// The pairs of columns of the product of two factors.
    fn product(&self, a: usize, b: usize) -> Vec<[usize; 2]> {
        let (left, right) = (&self.factors[a], &self.factors[b]);
        left.iter().flat_map(|&i| right.iter().map(move |&j| [i, j])).collect()
    }

    /// The atoms that stand at these places of the pool: those of the design, and behind them the products of a list.
    pub(super) fn numbers(&self, places: &[usize], products: &[Product]) -> Vec<usize> {
        let number = |&place: &usize| match self.pool.terms[place] {
            Term::Single(factor) => Some(factor),
            Term::Pair(a, b) => {
                let factors = self.product(a, b);
                products.iter().position(|product| product.factors == factors).map(|at| self.count + at)
            }
        };
        let mut numbers: Vec<usize> = places.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl Small {
    /// Coefficients and intercepts in a pool that has grown to so many columns.
    fn in_pool_of(&self, columns: usize) -> (SparseVec, Vec<f64>) {
        let x = moved(self.estimate.coefficients(), self.columns, columns, self.estimate.intercepts.len(), Some);
        (x, self.estimate.intercepts.clone())
    }

    /// The same by the names of the columns.
    pub(super) fn labelled(&self, search: &Search<'_, '_>) -> Labelled {
        let entry = |(at, value): (usize, f64)| (at / self.columns, search.pool.columns[at % self.columns], value);
        let of_term = |&place: &usize| match search.pool.terms[place] {
            Term::Pair(a, b) => Some(Product { factors: search.product(a, b) }),
            Term::Single(_) => None,
        };
        Labelled {
            entries: self.estimate.coefficients().entries().map(entry).collect(),
            products: self.estimate.chosen.iter().filter_map(of_term).collect(),
            intercepts: self.estimate.intercepts.clone(),
        }
    }

    pub(super) fn standardized(&self, search: &Search<'_, '_>, products: &[Product], columns: usize) -> SparseVec {
        let places = places_of(products, search.of.features.design.domain());
        let place = |j: usize| match search.pool.columns[j] {
            Column::Feature(j) => Some(j),
            Column::Product(pair) => places.get(&pair).copied(),
        };
        moved(&self.estimate.standardized, self.columns, columns, self.estimate.intercepts.len(), place)
    }
}

impl<'a> Interactions<'_, 'a> {
    /// A search on some rows, or on all.
    pub(super) fn search(&self, rows: Option<&[usize]>) -> Result<Search<'_, 'a>, Error> {
        let f = self.features;
        let (atoms, columns, always) = (f.atoms.candidates(), f.design.domain(), self.always());
        let of = |atom: usize| {
            let members: BTreeSet<usize> = atoms.members(atom).iter().map(|j| j % columns).collect();
            members.into_iter().collect::<Vec<usize>>()
        };
        let factors: Vec<Vec<usize>> = (0..atoms.len()).map(of).chain(always.iter().map(|&j| vec![j])).collect();
        let mut factor_of = vec![usize::MAX; columns];
        for (factor, members) in factors.iter().enumerate() {
            members.iter().for_each(|&j| factor_of[j] = factor);
        }
        let rows = rows.map_or_else(|| (0..f.loss.n_rows()).collect(), <[usize]>::to_vec);
        let loss = f.loss.subset(&rows)?;
        let share = weight(&loss) / weight(&f.loss);
        let mut data: Vec<f64> = Vec::new();
        let room = rows.len().saturating_mul(columns);
        let no_room = Error::Unsuitable {
            method: "a model with interactions",
            needs: "memory for a copy of the design in double precision: leave columns out",
        };
        data.try_reserve_exact(room).map_err(|_| no_room)?;
        for (j, &factor) in factor_of.iter().enumerate() {
            let all = column(f.design, j);
            // What is in no factor has no products.
            let used = if factor == usize::MAX { 0.0 } else { 1.0 };
            data.extend(rows.iter().map(|&row| used * all[row]));
        }
        let centred = f.preparation.intercept || loss.ignores_constants();
        let all = Products::new(data, rows.len(), loss.weights(), centred)?;
        let mut without = Vec::new();
        for members in &factors {
            for (at, &i) in members.iter().enumerate() {
                without.extend(members[at + 1..].iter().map(|&j| (i.min(j), i.max(j))));
            }
        }
        let pool = Pool { data: Vec::new(), columns: Vec::new(), members: Vec::new(), terms: Vec::new() };
        let count = atoms.len();
        let mut search = Search {
            of: *self,
            rows,
            loss,
            share,
            factors,
            factor_of,
            count,
            all,
            without,
            pool,
            is_screened: false,
            passes: 0,
        };
        for factor in count..search.factors.len() {
            search.add(Term::Single(factor))?;
        }
        Ok(search)
    }
}
