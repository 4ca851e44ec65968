//! f and what x is subject to, as a method sees them: trait objects. So a method is compiled once for each kind of point,
//! not for every operator, loss and set. A call here costs O(m) or more.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Method, Progress};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::loss::{Curvature, Loss};
use crate::objective::{ColumnCache, Cost, Evaluated, Objective};
use crate::operator::{LinearOperator, adjoint_many};
use crate::penalty::Penalty;
use crate::set::{Atoms, CoordinateSet, Expand, LinearMinimize, Structure};
use crate::space::{Covector, IndexSet, LowRank, MatrixCovector, Point, SparseVec};

/// A smooth function of vectors.
pub type OnVectors<'a> = dyn Smooth<SparseVec, Vec<f64>> + 'a;
/// A smooth function of matrices.
pub type OnMatrices<'a> = dyn Smooth<LowRank, MatrixCovector> + 'a;

/// The trait, and its implementation by the objective's own functions of the same names.
macro_rules! smooth {
    (
        from the operator: { $($from:item)* }
        $($(#[$doc:meta])* fn $name:ident(&self $(, $arg:ident: $ty:ty)*) $(-> $out:ty)?;)*
    ) => {
        /// f: its values, slopes, curvatures and restrictions, and what its operator knows.
        pub trait Smooth<P: Point, G: Covector<P>>: Sync {
            /// The space it lives in.
            fn domain(&self) -> P::Domain;
            /// The number of predictions.
            fn n_outputs(&self) -> usize;
            /// Whether single columns cost little.
            fn has_cheap_columns(&self) -> bool;
            /// The loss of the predictions.
            fn loss(&self) -> &dyn Loss;
            /// ∇f(x). A pass.
            fn gradient(&self, x: &Evaluated<P>) -> G;
            /// A covector of zeros.
            fn new_covector(&self) -> G;
            /// Aᵀ·r of several r. One pass.
            fn adjoint_block(&self, rs: &[&[f64]]) -> Vec<G>;
            /// A·g. A pass.
            fn apply_covector(&self, g: &G) -> Vec<f64>;
            /// A·Aᵀ·r. Two passes.
            fn gram_times(&self, r: &[f64]) -> Vec<f64> {
                self.apply_covector(&self.adjoint_block(&[r])[0])
            }
            /// Σ hᵢ·aᵢⱼ² of every column, where the operator gives it. A pass.
            fn column_squares(&self, h: &[f64]) -> Option<Vec<f64>>;
            $($(#[$doc])* fn $name(&self $(, $arg: $ty)*) $(-> $out)?;)*
        }

        impl<P, G, A, L> Smooth<P, G> for Objective<A, L>
        where
            P: Point,
            G: Covector<P>,
            A: LinearOperator<Point = P, Covector = G>,
            L: Loss,
        {
            $($from)*
            $(fn $name(&self $(, $arg: $ty)*) $(-> $out)? {
                Objective::$name(self $(, $arg)*)
            })*
        }
    };
}

smooth! {
    from the operator: {
        fn domain(&self) -> P::Domain {
            self.operator().domain()
        }
        fn n_outputs(&self) -> usize {
            self.operator().n_outputs()
        }
        fn has_cheap_columns(&self) -> bool {
            self.operator().has_cheap_columns()
        }
        fn loss(&self) -> &dyn Loss {
            Objective::<A, L>::loss(self)
        }
        fn gradient(&self, x: &Evaluated<P>) -> G {
            let mut g = self.operator().new_covector();
            Objective::gradient(self, x, &mut g);
            g
        }
        fn new_covector(&self) -> G {
            self.operator().new_covector()
        }
        fn adjoint_block(&self, rs: &[&[f64]]) -> Vec<G> {
            let mut out: Vec<G> = rs.iter().map(|_| self.operator().new_covector()).collect();
            adjoint_many(&vec![self.operator(); rs.len()], rs, &mut out);
            self.count_pass();
            out
        }
        fn apply_covector(&self, g: &G) -> Vec<f64> {
            let mut out = vec![0.0; self.operator().n_outputs()];
            self.operator().apply_covector(g, &mut out);
            self.count_pass();
            out
        }
        fn column_squares(&self, h: &[f64]) -> Option<Vec<f64>> {
            let squares = self.operator().squared_norms(&[h], None)?.pop()?;
            self.count_pass();
            Some(squares)
        }
    }
    fn fetch(&self, t: &P::Support);
    fn at(&self, x: P) -> Evaluated<P>;
    fn uncounted_image(&self, x: &P) -> Vec<f64>;
    fn value(&self, x: &Evaluated<P>) -> f64;
    fn lower_bound(&self) -> f64;
    fn ridge_weight(&self) -> f64;
    fn residual(&self, x: &Evaluated<P>) -> Vec<f64>;
    fn curvature(&self, x: &Evaluated<P>) -> Curvature;
    fn gradients(&self, xs: &[Evaluated<P>]) -> Vec<G>;
    fn gradient_on(&self, x: &Evaluated<P>, t: &P::Support) -> P;
    fn hessian_times(&self, h: &Curvature, d: &Evaluated<P>, t: &P::Support) -> P;
    fn pulled_back_on(&self, r: &[f64], t: &P::Support) -> P;
    fn pulled_back_block_on(&self, rs: &[&[f64]], t: &P::Support) -> Vec<P>;
    fn products(&self, h: &Curvature, left: &P::Support, right: &P::Support) -> Option<Matrix>;
    fn slope(&self, x: &Evaluated<P>, d: &Evaluated<P>) -> f64;
    fn slopes(&self, x: &Evaluated<P>, ds: &[Evaluated<P>]) -> Vec<f64>;
    fn curvatures_along(&self, h: &Curvature, d: &Evaluated<P>, es: &[Evaluated<P>]) -> Vec<f64>;
    fn curvature_along(&self, x: &Evaluated<P>, d: &Evaluated<P>) -> f64;
    fn bend_between(&self, x: &Evaluated<P>, c: &Evaluated<P>, d: &Evaluated<P>) -> f64;
    fn ridge_on_basis(&self, t: &P::Support, i: usize) -> f64;
    fn add_ridge(&self, x: &P, g: &mut G);
    fn cost(&self) -> Cost;
    fn count_columns(&self, columns: usize);
    fn take_columns(&self) -> Option<ColumnCache<P::Support>>;
    fn keep_columns(&self, columns: ColumnCache<P::Support>);
}

/// A set of points made of k atoms.
pub trait AtomSet<P: Point, G>: Sync {
    /// k.
    fn atoms(&self) -> usize;
    /// The kind of its atoms.
    fn structure(&self) -> Structure;
    /// Π_k(v).
    fn project(&self, v: P) -> P;
    /// T = supp Π_k(g outside of U) ∪ U.
    fn expand(&self, g: &G, u: &P::Support) -> P::Search;
    /// The same with `count` atoms in place of k, as far as there are so many.
    fn expand_by(&self, count: usize, g: &G, u: &P::Support) -> P::Search;
}

impl<P: Point, G, S: Expand<G, Point = P>> AtomSet<P, G> for S {
    fn atoms(&self) -> usize {
        S::atoms(self)
    }
    fn structure(&self) -> Structure {
        S::structure(self)
    }
    fn project(&self, v: P) -> P {
        S::project(self, v)
    }
    fn expand(&self, g: &G, u: &P::Support) -> P::Search {
        S::expand(self, g, u)
    }
    fn expand_by(&self, count: usize, g: &G, u: &P::Support) -> P::Search {
        let wider = (S::atoms(self)..=count).rev().find_map(|atoms| self.with_atoms(atoms).ok());
        wider.map_or_else(|| S::expand(self, g, u), |wider| S::expand(&wider, g, u))
    }
}

/// A set whose atoms are coordinates or groups of them.
pub trait CoordinateAtoms: AtomSet<SparseVec, Vec<f64>> {
    /// Every atom, without the coordinates that are always there.
    fn candidates(&self) -> Atoms;
    /// The coordinates that every point has.
    fn always_in(&self) -> IndexSet;
    /// The atoms of a point, rising.
    fn chosen(&self, x: &SparseVec) -> Vec<usize>;
}

impl<S: CoordinateSet> CoordinateAtoms for S {
    fn candidates(&self) -> Atoms {
        S::candidates(self)
    }
    fn always_in(&self) -> IndexSet {
        self.kept()
    }
    fn chosen(&self, x: &SparseVec) -> Vec<usize> {
        S::chosen(self, x)
    }
}

/// A [`Method`] that does not know what f and its constraint are made of.
pub trait Algorithm<P: Point, G: Covector<P>>: Sync {
    /// Everything that changes from move to move; it can be saved.
    type State: Clone + Serialize + DeserializeOwned + Send;
    /// What x is subject to: a set, a ball, a penalty.
    type Subject: ?Sized;

    /// [`Method::start`].
    ///
    /// # Errors
    /// When an option makes no sense.
    fn start(&self, f: &dyn Smooth<P, G>, subject: &Self::Subject, x0: P) -> Result<Self::State, Error>;
    fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P>;
    fn advance(&self, f: &dyn Smooth<P, G>, subject: &Self::Subject, state: &mut Self::State, g: &G) -> Progress;
    /// [`Method::iterate`]: where the gradient is wanted, unless told otherwise.
    fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<P> {
        self.query(state)
    }
    fn finish(&self, f: &dyn Smooth<P, G>, state: &mut Self::State) {
        let _ = (f, state);
    }
    /// [`Method::label`]: the name of the type.
    fn label(&self) -> &'static str {
        std::any::type_name::<Self>().rsplit("::").next().unwrap_or_default()
    }
    fn takes_candidates(&self) -> bool {
        false
    }
    fn restart(&self, state: &mut Self::State) {
        let _ = state;
    }
}

/// A set, ball or penalty as an algorithm sees it.
pub trait SeenAs<C: ?Sized> {
    /// The same, seen so.
    fn seen(&self) -> &C;
}

impl<P: Point, G, S: Expand<G, Point = P>> SeenAs<dyn AtomSet<P, G>> for S {
    fn seen(&self) -> &(dyn AtomSet<P, G> + 'static) {
        self
    }
}

impl<S: CoordinateSet> SeenAs<dyn CoordinateAtoms> for S {
    fn seen(&self) -> &(dyn CoordinateAtoms + 'static) {
        self
    }
}

impl<P: Point, G, S: LinearMinimize<G, Point = P>> SeenAs<dyn LinearMinimize<G, Point = P>> for S {
    fn seen(&self) -> &(dyn LinearMinimize<G, Point = P> + 'static) {
        self
    }
}

impl<P: Point, G, S: Penalty<G, Point = P>> SeenAs<dyn Penalty<G, Point = P>> for S {
    fn seen(&self) -> &(dyn Penalty<G, Point = P> + 'static) {
        self
    }
}

impl<S> SeenAs<S> for S {
    fn seen(&self) -> &S {
        self
    }
}

/// An algorithm is a method, whatever f and its constraint are made of.
macro_rules! methods {
    ($($method:ident),*) => {$(
        impl<A, L, S> Method<A, L, S> for super::$method
        where
            A: LinearOperator,
            L: Loss,
            S: SeenAs<<Self as Algorithm<A::Point, A::Covector>>::Subject>,
            Self: Algorithm<A::Point, A::Covector>,
        {
            type State = <Self as Algorithm<A::Point, A::Covector>>::State;

            fn start(&self, f: &Objective<A, L>, set: &S, x0: A::Point) -> Result<Self::State, Error> {
                Algorithm::start(self, f, set.seen(), x0)
            }
            fn query<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
                Algorithm::<A::Point, A::Covector>::query(self, state)
            }
            fn advance(&self, f: &Objective<A, L>, set: &S, state: &mut Self::State, g: &A::Covector) -> Progress {
                Algorithm::advance(self, f, set.seen(), state, g)
            }
            fn iterate<'s>(&self, state: &'s Self::State) -> &'s Evaluated<A::Point> {
                Algorithm::<A::Point, A::Covector>::iterate(self, state)
            }
            fn finish(&self, f: &Objective<A, L>, state: &mut Self::State) {
                Algorithm::finish(self, f, state);
            }
            fn label(&self) -> &'static str {
                Algorithm::<A::Point, A::Covector>::label(self)
            }
            fn takes_candidates(&self) -> bool {
                Algorithm::<A::Point, A::Covector>::takes_candidates(self)
            }
            fn restart(&self, state: &mut Self::State) {
                Algorithm::<A::Point, A::Covector>::restart(self, state);
            }
        }
    )*};
}

methods! {
    AcceleratedIht, NormalisedIht, EcmeDore, Cgiht, HardThresholdingPursuit, Cosamp, SubspacePursuit, MatrixAlps, Bfgd,
    RiemannianCg, Greedy, Foba, FrankWolfe, Lasso, BlockDescent, Fista, Twist, SoftImpute, AtomMethod, RankMethod, L1Method
}
