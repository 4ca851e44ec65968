//! Products of features, two by two, that come into a model beside their factors.
//!
//! There are too many products to store: 12 million for 5,000 features. So the search works in a pool of features and
//! products that is small, and all others are looked at from the models that it finds: those that promise most join it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use katoms::driver::{Event, Options, Quality};
use katoms::linalg::top_k;
use katoms::loss::{AnyLoss, Loss, Split, best_constants};
use katoms::operator::{AnyDesign, Beside, Dense, Interactions as Products, LinearOperator};
use katoms::search::{Effort, Heredity as Parents};
use katoms::select::{Choice, Criterion, FoldModel, Folds, ModelSize, Preparation, Validated};
use katoms::set::{AnyAtoms, ConstraintSet, CoordinateSet};
use katoms::space::SparseVec;
use katoms::{Error, Fit, Stop};

use super::by_splits::{Anew, validated_by_splits};
use super::nuisance::Work;
use super::path::least;
use super::{Edge, Estimate, Features, FitOptions, PathModel, PathModels, Trained, predictions};
use crate::budget::Budget;
use crate::scale::estimated_at;
use crate::watch::{Phase, Progress, Unsaved, Unwatched, Watch};

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
/// How often a parameter of the loss is estimated anew beside the products.
const ESTIMATES: usize = 3;

/// What a product needs beside it in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heredity {
    /// Both of its factors.
    Strong,
    /// One of them.
    Weak,
}

/// The product of two features; of two groups all products of a column of the one and a column of the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Product {
    /// The two columns of each.
    pub factors: Vec<[usize; 2]>,
}

/// What was found, with the products that its models have: their columns follow those of the design.
#[derive(Debug, Clone)]
pub struct WithProducts<T> {
    /// What was found.
    pub found: T,
    /// The products, in the order of their columns.
    pub products: Vec<Product>,
}

impl Product {
    /// Their columns, one after the other.
    ///
    /// # Errors
    /// When a product leaves the range of double precision.
    pub fn columns(products: &[Self], design: &AnyDesign<'_>) -> Result<Vec<f64>, Error> {
        let mut columns = Vec::new();
        let mut known: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for [i, j] in products.iter().flat_map(|product| product.factors.iter().copied()) {
            let mut of = |j: usize| known.entry(j).or_insert_with(|| column(design, j)).clone();
            let (left, right) = (of(i), of(j));
            columns.extend(multiplied(&left, &right, (i, j))?);
        }
        Ok(columns)
    }

    /// The design with the columns of some products behind its own.
    ///
    /// # Errors
    /// When a product leaves the range of double precision.
    pub fn beside<'a>(products: &[Self], design: AnyDesign<'a>) -> Result<AnyDesign<'a>, Error> {
        if products.is_empty() {
            return Ok(design);
        }
        let (columns, rows) = (Self::columns(products, &design)?, design.n_outputs());
        let count = products.iter().map(|product| product.factors.len()).sum();
        Ok(Beside::new(design, Dense::column_major(columns, rows, count)?)?.into())
    }
}

impl WithProducts<Validated> {
    /// Cross-validations of one design of so many columns with the same products.
    pub fn aligned(all: Vec<Self>, columns: usize) -> (Vec<Validated>, Vec<Product>) {
        let products: BTreeSet<Product> = all.iter().flat_map(|one| one.products.iter().cloned()).collect();
        let products: Vec<Product> = products.into_iter().collect();
        let width = |products: &[Product]| columns + products.iter().map(|p| p.factors.len()).sum::<usize>();
        let (places, to) = (places_of(&products, columns), width(&products));
        let one = |Self { found: mut validated, products }: Self| {
            let pairs: Vec<[usize; 2]> = products.iter().flat_map(|product| product.factors.iter().copied()).collect();
            let place = |j: usize| if j < columns { Some(j) } else { places.get(&pairs[j - columns]).copied() };
            let from = width(&products);
            let wide = |x: &SparseVec, outputs: usize| moved(x, from, to, outputs, place);
            for score in validated.scores.iter_mut().chain([&mut validated.null]) {
                for model in &mut score.models {
                    model.coefficients = wide(&model.coefficients, model.intercepts.len());
                }
            }
            for model in &mut validated.models {
                model.coefficients = wide(&model.coefficients, model.intercepts.len());
            }
            validated
        };
        (all.into_iter().map(one).collect(), products)
    }
}

fn column(design: &AnyDesign<'_>, j: usize) -> Vec<f64> {
    let mut out = vec![0.0; design.n_outputs()];
    if let Ok(unit) = SparseVec::new(design.domain(), vec![j], vec![1.0]) {
        design.apply(&unit, &mut out);
    }
    out
}

fn multiplied(left: &[f64], right: &[f64], (i, j): (usize, usize)) -> Result<Vec<f64>, Error> {
    let product: Vec<f64> = left.iter().zip(right).map(|(a, b)| a * b).collect();
    match product.iter().find(|v| !v.is_finite()) {
        None => Ok(product),
        Some(&value) => Err(Error::Magnitude {
            what: format!("the product of columns {i} and {j} (counted from 0)"),
            column: None,
            value,
            right: "products must be numbers of double precision: divide one of the columns by a power of ten".into(),
        }),
    }
}

impl<'a> Features<'a> {
    /// The search for models with products of features.
    ///
    /// # Errors
    /// When coefficients have bounds, groups share features, or only some features of a group may be in.
    pub fn with_interactions<'f>(&'f self, heredity: Heredity) -> Result<Interactions<'f, 'a>, Error> {
        let unsuitable = |needs| Err(Error::Unsuitable { method: "a model with interactions", needs });
        if self.bounds.is_some() {
            return unsuitable("coefficients without bounds: leave the bounds out");
        }
        self.check_whole_groups("a model with interactions")?;
        if self.scaled.is_some() {
            return unsuitable("columns between 1e-70 and 1e70 in magnitude: bring them to other units");
        }
        if self.atoms.candidates().shared() {
            return unsuitable("groups that share no feature");
        }
        Ok(Interactions { features: self, heredity })
    }

    /// The same where some products are columns of the design, behind the others: each may be chosen beside its factors
    /// alone.
    ///
    /// # Errors
    /// When the design has no such columns.
    pub fn with_products(self, products: &[Product], heredity: Heredity) -> Result<Self, Error> {
        let (atoms, columns) = (self.atoms.candidates(), self.design.domain());
        let count: usize = products.iter().map(|product| product.factors.len()).sum();
        let first = columns.checked_sub(count).ok_or(Error::Empty { what: "the list of columns of products" })?;
        let mut atom_of = vec![None; columns];
        for atom in 0..atoms.len() {
            atoms.members(atom).iter().for_each(|j| atom_of[j % columns] = Some(atom));
        }
        let (mut parents, mut place) = (vec![Vec::new(); atoms.len()], first);
        for product in products {
            if let (Some(atom), Some(&[i, j])) = (atom_of[place], product.factors.first()) {
                let factors = [atom_of[i], atom_of[j]];
                let free = heredity == Heredity::Weak && factors.contains(&None);
                parents[atom] = if free { Vec::new() } else { factors.into_iter().flatten().collect() };
            }
            place += product.factors.len();
        }
        let parents = match heredity {
            Heredity::Strong => Parents::strong(parents)?,
            Heredity::Weak => Parents::weak(parents)?,
        };
        Ok(Self { parents: Some(parents), ..self })
    }

    /// The same with the columns of some products behind those of the design.
    fn extended<'e>(
        &'e self,
        design: &'e AnyDesign<'e>,
        products: &[Product],
        heredity: Heredity,
    ) -> Result<Features<'e>, Error> {
        let (columns, outputs) = (self.design.domain(), self.loss.outputs_per_row());
        let of = |coordinates: &[usize]| {
            coordinates.iter().map(|j| j % columns).collect::<BTreeSet<usize>>().into_iter().collect::<Vec<usize>>()
        };
        let (atoms, always) = (self.atoms.candidates(), of(self.atoms.kept().indices()));
        let mut groups: Vec<Vec<usize>> = (0..atoms.len()).map(|atom| of(atoms.members(atom))).collect();
        // An atom whose columns are all in every model keeps its number: one of these stands for it.
        let mut kept = always.iter();
        groups.iter_mut().filter(|group| group.is_empty()).for_each(|group| group.extend(kept.next()));
        let mut place = columns;
        for product in products {
            groups.push((place..place + product.factors.len()).collect());
            place += product.factors.len();
        }
        let always = (0..outputs).flat_map(|output| always.iter().map(move |j| output * place + j)).collect();
        let atoms = AnyAtoms::groups(1, place, groups)?.for_outputs(outputs)?.always(always)?;
        let wide = Features { design, atoms, ..self.clone() };
        wide.with_products(products, heredity)
    }

    /// A fit among models that heredity allows.
    pub(super) fn fit_beside_parents(
        &self,
        parents: &Parents,
        k: usize,
        how: &FitOptions,
        watch: &mut dyn Watch,
    ) -> Result<Estimate, Error> {
        if how.method.is_some() || how.resume.is_some() {
            let needs = "its own search: leave the method or the saved state out";
            return Err(Error::Unsuitable { method: "a model with interactions", needs });
        }
        let f = self.objective()?;
        let set = self.preparation.set(&self.atoms.with_atoms(k)?, &self.loss)?;
        let start = self.start(&f, how)?;
        let (phase, watch) = (Phase::Final { atoms: k }, RefCell::new(watch));
        let tell = |event: &Event, _: &SparseVec| {
            let progress = Progress { phase, done: 0, of: 1, event, ended: false, can_save: false };
            watch.borrow_mut().tell(&progress).flow()
        };
        let options = Options { stop: how.stop, ..Options::default() };
        let fit = Fit::new(&f, &set).heredity(parents.clone()).options(options).effort(how.effort);
        let fit = fit.observe(tell).poll(|_| watch.borrow_mut().goes_on().flow());
        let outcome = match start {
            Some(start) => fit.start(start).run()?,
            None => fit.run()?,
        };
        self.estimate(&f, &set, outcome)
    }
}

/// The search for models of k features and products of them.
#[derive(Debug, Clone, Copy)]
pub struct Interactions<'f, 'a> {
    features: &'f Features<'a>,
    heredity: Heredity,
}

impl<'a> Interactions<'_, 'a> {
    /// The number of features, or groups, and products to choose from.
    pub fn candidates(&self) -> usize {
        let factors = self.features.candidates() + self.always().len();
        self.features.candidates() + factors * factors.saturating_sub(1) / 2
    }

    /// The columns that every model has.
    fn always(&self) -> Vec<usize> {
        let columns = self.features.design.domain();
        let kept: BTreeSet<usize> = self.features.atoms.kept().indices().iter().map(|j| j % columns).collect();
        kept.into_iter().collect()
    }

    /// The largest size up to which a criterion can be trusted, for so many candidates.
    pub fn trusted_size(&self) -> usize {
        self.features.trusted_among(self.candidates())
    }

    /// As [`Features::edge_of_criterion`].
    pub fn edge_of_criterion(&self, sizes: &[usize], chosen: usize) -> Option<Edge> {
        self.features.edge_among(sizes, chosen, self.trusted_size())
    }

    /// The model of k features and products.
    ///
    /// # Errors
    /// As [`Features::fit`].
    pub fn fit(&self, k: usize, how: &FitOptions, watch: &mut dyn Watch) -> Result<WithProducts<Estimate>, Error> {
        if how.method.is_some() || how.resume.is_some() {
            let needs = "its own search: leave the method or the saved state out";
            return Err(Error::Unsuitable { method: "a model with interactions", needs });
        }
        self.check_size(k)?;
        let (budget, watch) = (Budget::new(&how.stop)?, &mut Unsaved::new(watch));
        let mut now = Features { estimated: false, ..self.features.clone() };
        let mut work: Option<Work> = None;
        for rest in (0..if self.features.estimated { ESTIMATES } else { 1 }).rev() {
            let here = Interactions { features: &now, ..*self };
            let mut search = here.search(None)?;
            let asked = (how.effort, budget.left(how.stop, 0.0));
            let model = search.model(k, now.preparation.ridge, None, asked, watch)?;
            let labelled = model.labelled(&search);
            let linear = labelled.predictions(&now, (0..now.loss.n_rows()).collect())?;
            let (models, products) = here.joined(vec![labelled]);
            let start = models.into_iter().next();
            let all = work.get_or_insert_with(|| Work::of(&model.estimate));
            all.passed(search.passes);
            if rest > 0 && !watch.stopped {
                now.loss = estimated_at(&now.loss, &linear)?;
                continue;
            }
            // The answer is that of the whole design with these products: it is compared with all features.
            let again = FitOptions { start, stop: budget.left(how.stop, 0.0), ..how.clone() };
            let whole = Features { estimated: self.features.estimated, ..now.clone() };
            let whole = Interactions { features: &whole, ..*self };
            let found = all.with(whole.fit_among(&products, k, &again, watch)?);
            let found = match work.take() {
                Some(work) => work.total(found),
                None => found,
            };
            return Ok(WithProducts { found, products });
        }
        Err(Error::Empty { what: "the list of features" })
    }

    /// The model of k features and of these products alone. A start has coefficients for the columns of both.
    ///
    /// # Errors
    /// As [`Features::fit`].
    pub fn fit_among(
        &self,
        products: &[Product],
        k: usize,
        how: &FitOptions,
        watch: &mut dyn Watch,
    ) -> Result<Estimate, Error> {
        let design = Product::beside(products, self.features.design.clone())?;
        let whole = self.features.extended(&design, products, self.heredity)?;
        let mut found = whole.fit(k.min(whole.candidates()), how, watch)?;
        // Only some of the products were compared.
        found.outcome.quality = found.outcome.quality.map(|quality| Quality { exhaustive: false, ..quality });
        Ok(found)
    }

    /// As [`Features::path`].
    ///
    /// # Errors
    /// As there.
    pub fn path(
        &self,
        sizes: Option<&[usize]>,
        criterion: Criterion,
        watch: &mut dyn Watch,
    ) -> Result<WithProducts<PathModels>, Error> {
        let settled = self.features.settled()?;
        let here = Interactions { features: &settled, ..*self };
        if let Some(sizes) = sizes {
            return here.path_of(sizes, watch);
        }
        let which = PathModels::CRITERIA.iter().position(|(_, one)| *one == criterion).unwrap_or(0);
        Features::growing(
            |before| here.features.sizes_of_criterion(here.trusted_size(), before),
            |sizes| here.path_of(sizes, watch),
            |path| (path.found.best[which], path.found.complete),
            |before, now| if now.found.complete { now } else { before },
        )
    }

    fn path_of(&self, sizes: &[usize], watch: &mut dyn Watch) -> Result<WithProducts<PathModels>, Error> {
        sizes.iter().try_for_each(|&k| self.check_size(k))?;
        watch.expect(sizes.len());
        let clock = Instant::now();
        let mut search = self.search(None)?;
        let mut found: Vec<(usize, Small)> = Vec::new();
        let ridge = self.features.preparation.ridge;
        let rest: Vec<usize> = sizes.iter().copied().filter(|&k| k > 0).collect();
        for (done, &k) in [0].iter().chain(&rest).enumerate() {
            let before = found.last().map(|(_, small)| small.clone());
            let how = (Effort::Default, Stop::default());
            found.push((k, search.model(k, ridge, before, how, &mut Unwatched)?));
            let asked = done + usize::from(sizes.first() == Some(&0));
            if watch.counted(asked).flow().is_break() {
                break;
            }
        }
        let labelled = found.iter().map(|(_, small)| small.labelled(&search)).collect();
        let (models, products) = self.joined(labelled);
        let passes = search.passes + found.iter().map(|(_, small)| small.estimate.outcome.passes).sum::<usize>();
        let columns = self.features.design.domain() + products.iter().map(|p| p.factors.len()).sum::<usize>();
        let one = |((k, small), (coefficients, intercepts)): (&(usize, Small), (SparseVec, Vec<f64>))| {
            let standardized = small.standardized(&search, &products, columns);
            self.of_path(*k, small, (coefficients, standardized, intercepts), &search, &products)
        };
        let mut models = found.iter().zip(models).map(one).collect::<Result<Vec<PathModel>, _>>()?;
        let complete = models.len() == rest.len() + 1;
        let null = models[0].clone();
        models.drain(..usize::from(sizes.first() != Some(&0)));
        let found = PathModels {
            best: (0..PathModels::CRITERIA.len()).map(|criterion| least(&models, criterion)).collect(),
            complete,
            passes,
            seconds: clock.elapsed().as_secs_f64(),
            null_loss: self.features.null_loss(),
            models,
            null,
        };
        Ok(WithProducts { found, products })
    }

    /// A model with what the criteria say: it was chosen among all features and products.
    fn of_path(
        &self,
        k: usize,
        small: &Small,
        (coefficients, standardized, intercepts): (SparseVec, SparseVec, Vec<f64>),
        search: &Search<'_, '_>,
        products: &[Product],
    ) -> Result<PathModel, Error> {
        let (estimate, loss) = (&small.estimate, &self.features.loss);
        let constants = usize::from(self.features.preparation.intercept) * loss.outputs_per_row();
        let used: BTreeSet<usize> = estimate.coefficients().indices().iter().map(|at| at % small.columns).collect();
        let size = ModelSize {
            parameters: used.len() * loss.outputs_per_row() + constants,
            atoms: estimate.chosen.len(),
            candidates: self.candidates(),
            samples: loss.observations(),
        };
        // A perfect fit is one up to rounding.
        let deviance = loss.deviance(estimate.loss.max(f64::EPSILON.powi(2) * self.features.null_loss()));
        let mut criteria = [0.0; 4];
        for (value, (_, criterion)) in criteria.iter_mut().zip(PathModels::CRITERIA) {
            *value = criterion.value(deviance, size)?;
        }
        Ok(PathModel {
            atoms: k,
            chosen: search.numbers(&estimate.chosen, products),
            coefficients,
            standardized,
            intercepts,
            objective: estimate.outcome.objective,
            loss: estimate.loss,
            criteria,
            status: estimate.outcome.status,
        })
    }

    /// As [`Features::train`].
    ///
    /// # Errors
    /// As there.
    pub fn train(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        rows: (&[usize], &[usize]),
        watch: &mut dyn Watch,
    ) -> Result<WithProducts<Trained>, Error> {
        let settled = self.features.settled()?;
        let here = Interactions { features: &settled, ..*self };
        let clock = Instant::now();
        let anew = here.trained_anew(sizes, ridges, rows, &mut |done| watch.counted(done).flow())?;
        let (models, products) = here.joined(anew.models);
        let model = |(coefficients, intercepts)| FoldModel { coefficients, intercepts };
        let found = Trained {
            choices: anew.choices,
            models: models.into_iter().map(model).collect(),
            losses: anew.losses,
            complete: anew.complete,
            passes: anew.passes,
            seconds: clock.elapsed().as_secs_f64(),
        };
        Ok(WithProducts { found, products })
    }

    /// As [`Features::cross_validate`]: the pool of every fold is its own.
    ///
    /// # Errors
    /// As there.
    pub fn cross_validate(
        &self,
        sizes: Option<&[usize]>,
        ridges: Option<&[f64]>,
        folds: &Folds,
        watch: &mut dyn Watch,
    ) -> Result<WithProducts<Validated>, Error> {
        let settled = self.features.settled()?;
        let here = Interactions { features: &settled, ..*self };
        let ridges = ridges.map_or_else(|| here.features.ridges(), <[f64]>::to_vec);
        let validated = |sizes: &[usize], watch: &mut dyn Watch| {
            sizes.iter().try_for_each(|&k| here.check_size(k))?;
            let mut train = |sizes: &[usize], rows: (&[usize], &[usize]), go_on: &mut katoms::search::GoOn<'_>| {
                here.trained_anew(sizes, &ridges, rows, go_on)
            };
            let joined = |models: Vec<Labelled>| here.joined(models);
            validated_by_splits((sizes, &ridges), folds, &mut train, &joined, watch)
        };
        if let Some(sizes) = sizes {
            return validated(sizes, watch);
        }
        let carried = here.features.carried_in_every_fold(folds);
        Features::growing(
            |before| here.features.sizes_after(carried, before),
            |sizes| validated(sizes, watch),
            |found: &WithProducts<Validated>| (found.found.min().atoms, found.found.complete),
            |before, now| if now.found.complete { now } else { before },
        )
    }

    /// Models of some rows, judged on others.
    fn trained_anew(
        &self,
        sizes: &[usize],
        ridges: &[f64],
        (train, test): (&[usize], &[usize]),
        go_on: &mut katoms::search::GoOn<'_>,
    ) -> Result<Anew<Labelled>, Error> {
        let mut search = self.search(Some(train))?;
        let judge = self.features.loss.subset(test)?;
        let mut anew = Anew::default();
        for &ridge in ridges {
            let scaled = self.features.units.scaled_ridge(ridge)? * search.share;
            let mut before: Option<Small> = None;
            for &k in sizes {
                let how = (Effort::Default, Stop::default());
                let small = search.model(k, scaled, before, how, &mut Unwatched)?;
                let model = small.labelled(&search);
                let predicted = model.predictions(self.features, test.to_vec())?;
                anew.choices.push(Choice { atoms: k, ridge, shrinkage: 0.0 });
                let value = judge.value(&predicted);
                anew.losses.push(self.features.units.mean_loss(value / super::trained::weight(&judge)));
                anew.totals.push(self.features.units.loss(value));
                anew.models.push(model);
                anew.passes += small.estimate.outcome.passes;
                before = Some(small);
                if go_on(anew.choices.len()).is_break() {
                    anew.complete = anew.choices.len() == sizes.len() * ridges.len();
                    anew.passes += search.passes;
                    return Ok(anew);
                }
            }
        }
        anew.passes += search.passes;
        anew.complete = true;
        Ok(anew)
    }

    fn check_size(&self, value: usize) -> Result<(), Error> {
        let max = self.candidates();
        if value > max { Err(Error::OutOfRange { what: "k", value, min: 0, max }) } else { Ok(()) }
    }

    /// Models as coefficients of the design with the columns of their products, and these.
    fn joined(&self, models: Vec<Labelled>) -> (Vec<(SparseVec, Vec<f64>)>, Vec<Product>) {
        let products: BTreeSet<Product> = models.iter().flat_map(|model| model.products.iter().cloned()).collect();
        let products: Vec<Product> = products.into_iter().collect();
        let columns = self.features.design.domain();
        let all = columns + products.iter().map(|product| product.factors.len()).sum::<usize>();
        let places = places_of(&products, columns);
        let one = |model: Labelled| {
            let place = |column: &Column| match column {
                Column::Feature(j) => *j,
                Column::Product(pair) => places[pair],
            };
            let mut entries: Vec<(usize, f64)> =
                model.entries.iter().map(|(output, column, value)| (output * all + place(column), *value)).collect();
            entries.sort_by_key(|entry| entry.0);
            let (indices, values) = entries.into_iter().unzip();
            let x = SparseVec::new(all * model.intercepts.len(), indices, values);
            (x.unwrap_or_else(|_| SparseVec::from_dense(&[])), model.intercepts)
        };
        (models.into_iter().map(one).collect(), products)
    }

    /// A search on some rows, or on all.
    fn search(&self, rows: Option<&[usize]>) -> Result<Search<'_, 'a>, Error> {
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
        let share = super::trained::weight(&loss) / super::trained::weight(&f.loss);
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
        let mut search =
            Search { of: *self, rows, loss, share, factors, factor_of, count, all, without, pool, passes: 0 };
        for factor in count..search.factors.len() {
            search.add(Term::Single(factor))?;
        }
        Ok(search)
    }
}

/// The first column of each product, by its factors; those of one product follow each other.
fn places_of(products: &[Product], columns: usize) -> BTreeMap<[usize; 2], usize> {
    products.iter().flat_map(|product| product.factors.iter().copied()).zip(columns..).collect()
}

/// A column of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
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
struct Search<'f, 'a> {
    of: Interactions<'f, 'a>,
    rows: Vec<usize>,
    loss: AnyLoss,
    /// Of the weight of all rows, that of these.
    share: f64,
    /// The columns of the atoms, then those that are always in.
    factors: Vec<Vec<usize>>,
    factor_of: Vec<usize>,
    /// How many of them are atoms.
    count: usize,
    all: Products,
    /// Pairs of columns that are no candidates: those of one factor, and those in the pool.
    without: Vec<(usize, usize)>,
    pool: Pool,
    /// How often all products were looked at.
    passes: usize,
}

/// A model of the pool as it was.
#[derive(Clone)]
struct Small {
    estimate: Estimate,
    /// The columns of the pool.
    columns: usize,
}

impl Search<'_, '_> {
    /// The model of k terms that is found as the pool grows.
    fn model(
        &mut self,
        k: usize,
        ridge: f64,
        before: Option<Small>,
        (effort, stop): (Effort, Stop),
        watch: &mut dyn Watch,
    ) -> Result<Small, Error> {
        let (budget, watch) = (Budget::new(&stop)?, &mut Unsaved::new(watch));
        if self.pool.columns.len() == self.factors.len() - self.count {
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
    fn numbers(&self, places: &[usize], products: &[Product]) -> Vec<usize> {
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
    fn labelled(&self, search: &Search<'_, '_>) -> Labelled {
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

    fn standardized(&self, search: &Search<'_, '_>, products: &[Product], columns: usize) -> SparseVec {
        let places = places_of(products, search.of.features.design.domain());
        let place = |j: usize| match search.pool.columns[j] {
            Column::Feature(j) => Some(j),
            Column::Product(pair) => places.get(&pair).copied(),
        };
        moved(&self.estimate.standardized, self.columns, columns, self.estimate.intercepts.len(), place)
    }
}

/// Coefficients of some columns at other places among `to`, output by output.
fn moved(x: &SparseVec, from: usize, to: usize, outputs: usize, place: impl Fn(usize) -> Option<usize>) -> SparseVec {
    let at = |(j, value): (usize, f64)| place(j % from).map(|place| (j / from * to + place, value));
    let mut entries: Vec<(usize, f64)> = x.entries().filter_map(at).collect();
    entries.sort_by_key(|entry| entry.0);
    let (indices, values) = entries.into_iter().unzip();
    SparseVec::new(to * outputs, indices, values).unwrap_or_else(|_| SparseVec::from_dense(&vec![0.0; to * outputs]))
}

/// A model whose coefficients are those of named columns, in the units of the data.
#[derive(Debug, Clone)]
struct Labelled {
    /// Output, column, coefficient.
    entries: Vec<(usize, Column, f64)>,
    products: Vec<Product>,
    intercepts: Vec<f64>,
}

impl Labelled {
    /// Linear predictions for some rows, in the units that are computed with.
    fn predictions(&self, features: &Features<'_>, rows: Vec<usize>) -> Result<Vec<f64>, Error> {
        let mut known: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut used: Vec<Column> = Vec::new();
        for (_, column, _) in &self.entries {
            if !used.contains(column) {
                used.push(*column);
            }
        }
        let mut data = Vec::new();
        for one in &used {
            let mut of = |j: usize| known.entry(j).or_insert_with(|| column(features.design, j)).clone();
            let all = match *one {
                Column::Feature(j) => of(j),
                Column::Product([i, j]) => multiplied(&of(i), &of(j), (i, j))?,
            };
            data.extend(rows.iter().map(|&row| all[row]));
        }
        if used.is_empty() {
            used.push(Column::Feature(0));
            data = vec![0.0; rows.len()];
        }
        let columns = used.len();
        let place = |wanted: &Column| used.iter().position(|column| column == wanted).unwrap_or(0);
        let mut entries: Vec<(usize, f64)> =
            self.entries.iter().map(|(output, column, value)| (output * columns + place(column), *value)).collect();
        entries.sort_by_key(|entry| entry.0);
        let (indices, values) = entries.into_iter().unzip();
        let x = SparseVec::new(columns * self.intercepts.len(), indices, values)?;
        let design: AnyDesign<'_> = Dense::column_major(data, rows.len(), columns)?.into();
        let narrow = Features { design: &design, ..features.clone() };
        let (x, constants) = features.units.scaled_model(&(x, self.intercepts.clone()))?;
        let (x, constants) = narrow.contrasted(&x, &constants)?;
        Ok(predictions(&design, &x, &constants))
    }
}
