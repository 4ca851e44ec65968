//! Who takes part: each method in each setting that the experiments compare, with one name and one colour throughout.

use serde::{Deserialize, Serialize};

/// A method in a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contestant {
    /// Algorithm 1 as the paper sets it: its step, τ = ¼, no refit.
    AccIht,
    /// Plain IHT as the paper sets it: the same without momentum.
    Iht,
    FrankWolfe,
    AwayFrankWolfe,
    PairwiseFrankWolfe,
    /// Algorithm 1 with a restricted line search and τ = ¼.
    LineSearch,
    /// Algorithm 1 with a restricted line search and the closed-form τ.
    ClosedForm,
    /// Algorithm 1 as katoms runs it by default: line search and refit for coordinates, closed-form τ for matrices.
    Katoms,
    /// The same with k grown in stages.
    Staged,
    /// What `katoms fit` runs: several starts, exchanges.
    Search,
    Lasso,
    /// The columns of largest marginal correlation.
    Oblivious,
    Forward,
    Foba,
    Omp,
    Cosamp,
    Bfgd,
    SoftImpute,
    RiemannianCg,
}

impl Contestant {
    /// What a legend and a table say.
    pub fn label(self) -> &'static str {
        self.row().0
    }

    /// Its colour on white, as #rrggbb.
    pub fn colour(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::AccIht => ("AccIHT (paper)", "#d55e00"),
            Self::Iht => ("IHT (paper)", "#0072b2"),
            Self::FrankWolfe => ("Frank–Wolfe", "#7b3294"),
            Self::AwayFrankWolfe => ("FW, away steps", "#c2789f"),
            Self::PairwiseFrankWolfe => ("FW, pairwise", "#a6761d"),
            Self::LineSearch => ("AccIHT, line search", "#e69f00"),
            Self::ClosedForm => ("AccIHT, line search, closed-form τ", "#b0182b"),
            Self::Katoms => ("katoms", "#111111"),
            Self::Staged => ("katoms, staged", "#009e73"),
            Self::Search => ("katoms, search", "#a89200"),
            Self::Lasso => ("Lasso", "#56b4e9"),
            Self::Oblivious => ("oblivious", "#999999"),
            Self::Forward => ("forward greedy", "#8c6bb1"),
            Self::Foba => ("FoBa", "#e7298a"),
            Self::Omp => ("OMP", "#3c3c8c"),
            Self::Cosamp => ("CoSaMP", "#5a9628"),
            Self::Bfgd => ("BFGD", "#cc79a7"),
            Self::SoftImpute => ("Soft-Impute", "#8c510a"),
            Self::RiemannianCg => ("Riemannian CG", "#66a61e"),
        }
    }
}
