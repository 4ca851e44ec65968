//! Any method of a kind of problem: [`AtomMethod`] for k coordinates or groups, [`RankMethod`] for matrices of rank k,
//! [`L1Method`] for an ℓ1 penalty. Each is itself a method, so that whatever takes a method takes a name of the
//! [table](super::table).

use serde::{Deserialize, Serialize};

use super::smooth::{Algorithm, CoordinateAtoms, Smooth};
use super::{
    AcceleratedIht, AlpsState, Bfgd, BfgdState, Cgiht, CgihtState, Cosamp, EcmeDore, EcmeState, Fista, FistaState,
    Foba, FobaState, Greedy, GreedyState, HardThresholdingPursuit, IhtState, Lasso, LassoState, MatrixAlps, NihtState,
    NormalisedIht, Progress, PursuitState, RiemannianCg, RiemannianCgState, SubspacePursuit, SubspaceState, Twist,
    TwistState, Walk,
};
use crate::error::Error;
use crate::objective::Evaluated;
use crate::penalty::L1;
use crate::set::Rank;
use crate::space::{LowRank, MatrixCovector, SparseVec};

/// An enum of methods that is a method: each call goes to the variant's.
macro_rules! any_method {
    (
        $(#[$doc:meta])* $any:ident with $state:ident on $point:ty, $covector:ty, $subject:ty;
        $($variant:ident($own:ty),)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "each variant holds the method that it is named after")]
        pub enum $any {
            $($variant($variant),)*
        }

        /// Where the chosen method stands.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "each variant holds the state of the method that it is named after")]
        pub enum $state {
            $($variant($own),)*
        }

        impl Algorithm<$point, $covector> for $any {
            type State = $state;
            type Subject = $subject;

            fn start(&self, f: &dyn Smooth<$point, $covector>, x: &Self::Subject, x0: $point) -> Result<$state, Error> {
                Ok(match self {
                    $(Self::$variant(method) => $state::$variant(method.start(f, x, x0)?),)*
                })
            }
            fn query<'s>(&self, state: &'s $state) -> &'s Evaluated<$point> {
                match (self, state) {
                    $((Self::$variant(m), $state::$variant(s)) => Algorithm::<$point, $covector>::query(m, s),)*
                    _ => foreign_state(),
                }
            }
            fn iterate<'s>(&self, state: &'s $state) -> &'s Evaluated<$point> {
                match (self, state) {
                    $((Self::$variant(m), $state::$variant(s)) => Algorithm::<$point, $covector>::iterate(m, s),)*
                    _ => foreign_state(),
                }
            }
            fn advance(
                &self,
                f: &dyn Smooth<$point, $covector>,
                x: &Self::Subject,
                state: &mut $state,
                g: &$covector,
            ) -> Progress {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => method.advance(f, x, s, g),)*
                    _ => foreign_state(),
                }
            }
            fn finish(&self, f: &dyn Smooth<$point, $covector>, state: &mut $state) {
                match (self, state) {
                    $((Self::$variant(method), $state::$variant(s)) => method.finish(f, s),)*
                    _ => foreign_state(),
                }
            }
            fn restart(&self, state: &mut $state) {
                match (self, state) {
                    $((Self::$variant(m), $state::$variant(s)) => Algorithm::<$point, $covector>::restart(m, s),)*
                    _ => foreign_state(),
                }
            }
            fn takes_candidates(&self) -> bool {
                match self {
                    $(Self::$variant(method) => Algorithm::<$point, $covector>::takes_candidates(method),)*
                }
            }
            fn label(&self) -> &'static str {
                match self {
                    $(Self::$variant(method) => Algorithm::<$point, $covector>::label(method),)*
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
    AtomMethod with AtomState on SparseVec, Vec<f64>, dyn CoordinateAtoms;
    AcceleratedIht(IhtState<SparseVec>),
    NormalisedIht(NihtState<SparseVec>),
    EcmeDore(EcmeState<SparseVec>),
    HardThresholdingPursuit(PursuitState<SparseVec>),
    Cosamp(Walk<SparseVec>),
    SubspacePursuit(SubspaceState),
    Cgiht(CgihtState<SparseVec>),
    Greedy(GreedyState),
    Foba(FobaState),
}

any_method! {
    /// Any method for matrices of rank k.
    RankMethod with RankState on LowRank, MatrixCovector, Rank;
    AcceleratedIht(IhtState<LowRank>),
    NormalisedIht(NihtState<LowRank>),
    Cgiht(CgihtState<LowRank>),
    MatrixAlps(AlpsState),
    Bfgd(BfgdState),
    RiemannianCg(RiemannianCgState),
}

any_method! {
    /// Any method for an ℓ1 penalty.
    L1Method with L1State on SparseVec, Vec<f64>, L1;
    Lasso(LassoState),
    Fista(FistaState<SparseVec>),
    Twist(TwistState<SparseVec>),
}
