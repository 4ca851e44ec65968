//! Any method, chosen by its name at run time.
//!
//! One enum for each kind of problem: [`AtomMethod`] for k coordinates or groups, [`RankMethod`] for
//! matrices of rank k. Each is itself a [`Method`], so that whatever takes a method takes a name.

use serde::{Deserialize, Serialize};

use super::catalogue::{Problem, unknown};
use super::{
    AcceleratedIht, AlpsState, Bfgd, BfgdState, Cgiht, CgihtState, Cosamp, DoreState, DoubleOverrelaxation, EcmeDore,
    EcmeState, FastIht, FastState, Foba, FobaState, ForwardRegression, ForwardState, GraHtp, Grasp, GreedyState,
    HardThresholdingPursuit, IhtState, MatrixAlps, Method, NihtState, NormalisedIht, Oblivious, Omp, Progress,
    PursuitState, RiemannianCg, RiemannianCgState, Step, SubspacePursuit, SubspaceState, Walk,
};
use crate::error::Error;
use crate::loss::Loss;
use crate::objective::{Evaluated, Objective};
use crate::operator::LinearOperator;
use crate::set::{CoordinateSet, Rank, Structure};
use crate::space::{LowRank, MatrixCovector, SparseVec};

/// An enum of methods that is a method: each call goes to the variant's.
macro_rules! any_method {
    (
        $(#[$doc:meta])* $any:ident with $state:ident on $point:ty, $covector:ty, $set:ty $(, $generic:ident: $bound:ident)?;
        $($variant:ident($method:ty, $own:ty),)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "each variant holds the method that it is named after")]
        pub enum $any {
            $($variant($method),)*
        }

        /// Where the chosen method stands.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "each variant holds the state of the method that it is named after")]
        pub enum $state {
            $($variant($own),)*
        }

        impl<A, L $(, $generic: $bound)?> Method<A, L, $set> for $any
        where
            A: LinearOperator<Point = $point, Covector = $covector>,
            L: Loss,
        {
            type State = $state;

            fn start(&self, f: &Objective<A, L>, set: &$set, x0: $point) -> Result<$state, Error> {
                Ok(match self {
                    $(Self::$variant(method) => $state::$variant(method.start(f, set, x0)?),)*
                })
            }
            fn query<'s>(&self, state: &'s $state) -> &'s Evaluated<$point> {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => Method::<A, L, $set>::query(method, s),)*
                    _ => foreign_state(),
                }
            }
            fn iterate<'s>(&self, state: &'s $state) -> &'s Evaluated<$point> {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => Method::<A, L, $set>::iterate(method, s),)*
                    _ => foreign_state(),
                }
            }
            fn advance(&self, f: &Objective<A, L>, set: &$set, state: &mut $state, g: &$covector) -> Progress {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => method.advance(f, set, s, g),)*
                    _ => foreign_state(),
                }
            }
            fn finish(&self, f: &Objective<A, L>, state: &mut $state) {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => Method::<A, L, $set>::finish(method, f, s),)*
                    _ => foreign_state(),
                }
            }
            fn restart(&self, state: &mut $state) {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => Method::<A, L, $set>::restart(method, s),)*
                    _ => foreign_state(),
                }
            }
            fn takes_candidates(&self) -> bool {
                match self {
                    $(Self::$variant(method) => Method::<A, L, $set>::takes_candidates(method),)*
                }
            }
            fn label(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($variant),)*
                }
            }
        }
    };
}

/// A state comes from `start` of the same method, or from a checkpoint with its label.
fn foreign_state() -> ! {
    unreachable!("a method was handed the state of another one")
}

any_method! {
    /// Any method for k coordinates or groups.
    ///
    /// ```
    /// use katoms::driver::{Options, solve};
    /// use katoms::method::AtomMethod;
    /// use katoms::{Objective, loss::LeastSquares, operator::Dense, set::KSparse};
    /// # use std::ops::ControlFlow;
    /// let design = Dense::column_major(&[1.0, 0.0, 0.0, 1.0], 2, 2)?;
    /// let f = Objective::new(&design, LeastSquares::new(vec![3.0, 1.0])?)?;
    /// let set = KSparse::new(1, 2)?;
    /// for name in ["accelerated-iht", "omp", "htp", "cosamp"] {
    ///     let method = AtomMethod::named(name)?;
    ///     let outcome = solve(&f, &set, &method, Options::for_set(&set), |_, _| ControlFlow::Continue(()))?;
    ///     assert_eq!(outcome.point.to_dense(), [3.0, 0.0]);
    /// }
    /// let error = AtomMethod::named("opm").unwrap_err();
    /// assert!(error.to_string().starts_with("there is no method `opm` for k atoms; did you mean `omp`?"), "{error}");
    /// # Ok::<(), katoms::Error>(())
    /// ```
    AtomMethod with AtomState on SparseVec, Vec<f64>, S, S: CoordinateSet;
    AcceleratedIht(AcceleratedIht, IhtState<SparseVec>),
    NormalisedIht(NormalisedIht, NihtState<SparseVec>),
    DoubleOverrelaxation(DoubleOverrelaxation, DoreState<SparseVec>),
    EcmeDore(EcmeDore, EcmeState<SparseVec>),
    HardThresholdingPursuit(HardThresholdingPursuit, PursuitState<SparseVec>),
    Cosamp(Cosamp, Walk<SparseVec>),
    SubspacePursuit(SubspacePursuit, SubspaceState),
    Cgiht(Cgiht, CgihtState<SparseVec>),
    Grasp(Grasp, Walk<SparseVec>),
    GraHtp(GraHtp, PursuitState<SparseVec>),
    FastIht(FastIht, FastState<SparseVec>),
    Oblivious(Oblivious, GreedyState),
    Omp(Omp, GreedyState),
    ForwardRegression(ForwardRegression, ForwardState),
    Foba(Foba, FobaState),
}

impl AtomMethod {
    /// The method of this name, with its defaults. The [catalogue](super::catalogue) lists the names.
    ///
    /// # Errors
    /// When there is none for k atoms; the error lists those that there are.
    pub fn named(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "accelerated-iht" => Self::AcceleratedIht(AcceleratedIht::for_structure(Structure::Coordinates)),
            "iht" => Self::AcceleratedIht(AcceleratedIht::plain(Step::LineSearch)),
            "normalised-iht" => Self::NormalisedIht(NormalisedIht::default()),
            "dore" => Self::DoubleOverrelaxation(DoubleOverrelaxation::default()),
            "ecme-dore" => Self::EcmeDore(EcmeDore::default()),
            "htp" => Self::HardThresholdingPursuit(HardThresholdingPursuit::normalised()),
            "cosamp" => Self::Cosamp(Cosamp::default()),
            "subspace-pursuit" => Self::SubspacePursuit(SubspacePursuit),
            "cgiht" => Self::Cgiht(Cgiht::default()),
            "cgiht-restarted" => Self::Cgiht(Cgiht::restarted()),
            "grasp" => Self::Grasp(Grasp::default()),
            "grahtp" => Self::GraHtp(GraHtp::default()),
            "fast-iht" => Self::FastIht(FastIht::default()),
            "oblivious" => Self::Oblivious(Oblivious),
            "omp" => Self::Omp(Omp),
            "forward-regression" => Self::ForwardRegression(ForwardRegression),
            "foba" => Self::Foba(Foba::default()),
            _ => return Err(unknown(name, Problem::Atoms)),
        })
    }
}

any_method! {
    /// Any method for matrices of rank k.
    ///
    /// ```
    /// use katoms::method::RankMethod;
    /// assert!(RankMethod::named("riemannian-cg").is_ok());
    /// assert!(RankMethod::named("omp").is_err());
    /// ```
    RankMethod with RankState on LowRank, MatrixCovector, Rank;
    AcceleratedIht(AcceleratedIht, IhtState<LowRank>),
    NormalisedIht(NormalisedIht, NihtState<LowRank>),
    DoubleOverrelaxation(DoubleOverrelaxation, DoreState<LowRank>),
    Cgiht(Cgiht, CgihtState<LowRank>),
    FastIht(FastIht, FastState<LowRank>),
    MatrixAlps(MatrixAlps, AlpsState),
    Bfgd(Bfgd, BfgdState),
    RiemannianCg(RiemannianCg, RiemannianCgState),
}

impl RankMethod {
    /// The method of this name, with its defaults. The [catalogue](super::catalogue) lists the names.
    ///
    /// # Errors
    /// When there is none for matrices; the error lists those that there are.
    pub fn named(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "accelerated-iht" => Self::AcceleratedIht(AcceleratedIht::for_structure(Structure::RankOne)),
            "svp" => Self::AcceleratedIht(AcceleratedIht::plain(Step::LineSearch)),
            "normalised-iht" => Self::NormalisedIht(NormalisedIht::default()),
            "dore" => Self::DoubleOverrelaxation(DoubleOverrelaxation::default()),
            "cgiht" => Self::Cgiht(Cgiht::default()),
            "cgiht-restarted" => Self::Cgiht(Cgiht::restarted()),
            "fast-iht" => Self::FastIht(FastIht::default()),
            "matrix-alps" => Self::MatrixAlps(MatrixAlps::default()),
            "bfgd" => Self::Bfgd(Bfgd::default()),
            "riemannian-cg" => Self::RiemannianCg(RiemannianCg::default()),
            _ => return Err(unknown(name, Problem::Rank)),
        })
    }
}
