//! Fits where some atoms come into a model only beside others.

use std::cell::RefCell;
use std::collections::BTreeSet;

use katoms::driver::{Event, Options};
use katoms::loss::Loss;
use katoms::operator::{AnyDesign, LinearOperator};
use katoms::search::Heredity as Parents;
use katoms::set::{AnyAtoms, ConstraintSet, CoordinateSet};
use katoms::space::SparseVec;
use katoms::{Error, Fit, Outcome};

use super::super::{Estimate, Features, FitOptions};
use super::{Interactions, Product};
use crate::watch::{Phase, Progress, Watch};

/// What a product needs beside it in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heredity {
    /// Both of its factors.
    Strong,
    /// One of them.
    Weak,
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
    pub(super) fn extended<'e>(
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
    pub(in crate::features) fn fit_beside_parents(
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
        // There was no run of a method before the search.
        self.estimate(&f, &set, Outcome { attempts: Vec::new(), ..outcome })
    }
}
