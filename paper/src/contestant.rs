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
    /// Frank–Wolfe.
    FrankWolfe,
    /// Frank–Wolfe with away steps.
    AwayFrankWolfe,
    /// Frank–Wolfe with pairwise steps.
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
    /// The Lasso.
    Lasso,
    /// The columns of largest marginal correlation.
    Oblivious,
    /// Forward selection by the loss.
    Forward,
    /// Forward and backward.
    Foba,
    /// Orthogonal matching pursuit.
    Omp,
    /// CoSaMP.
    Cosamp,
    /// Factored gradient descent.
    Bfgd,
    /// Soft-Impute.
    SoftImpute,
    /// Riemannian conjugate gradients.
    RiemannianCg,
}

impl Contestant {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::AccIht,
        Self::Iht,
        Self::FrankWolfe,
        Self::AwayFrankWolfe,
        Self::PairwiseFrankWolfe,
        Self::LineSearch,
        Self::ClosedForm,
        Self::Katoms,
        Self::Staged,
        Self::Search,
        Self::Lasso,
        Self::Oblivious,
        Self::Forward,
        Self::Foba,
        Self::Omp,
        Self::Cosamp,
        Self::Bfgd,
        Self::SoftImpute,
        Self::RiemannianCg,
    ];

    /// What a legend and a table say.
    pub fn label(self) -> &'static str {
        match self {
            Self::AccIht => "AccIHT (paper)",
            Self::Iht => "IHT (paper)",
            Self::FrankWolfe => "Frank–Wolfe",
            Self::AwayFrankWolfe => "FW, away steps",
            Self::PairwiseFrankWolfe => "FW, pairwise",
            Self::LineSearch => "AccIHT, line search",
            Self::ClosedForm => "AccIHT, line search, closed-form τ",
            Self::Katoms => "katoms",
            Self::Staged => "katoms, staged",
            Self::Search => "katoms, search",
            Self::Lasso => "Lasso",
            Self::Oblivious => "oblivious",
            Self::Forward => "forward greedy",
            Self::Foba => "FoBa",
            Self::Omp => "OMP",
            Self::Cosamp => "CoSaMP",
            Self::Bfgd => "BFGD",
            Self::SoftImpute => "Soft-Impute",
            Self::RiemannianCg => "Riemannian CG",
        }
    }

    /// Its colour on white, as #rrggbb.
    pub fn colour(self) -> &'static str {
        match self {
            Self::AccIht => "#d55e00",
            Self::Iht => "#0072b2",
            Self::FrankWolfe => "#7b3294",
            Self::AwayFrankWolfe => "#c2789f",
            Self::PairwiseFrankWolfe => "#a6761d",
            Self::LineSearch => "#e69f00",
            Self::ClosedForm => "#b0182b",
            Self::Katoms => "#111111",
            Self::Staged => "#009e73",
            Self::Search => "#a89200",
            Self::Lasso => "#56b4e9",
            Self::Oblivious => "#999999",
            Self::Forward => "#8c6bb1",
            Self::Foba => "#e7298a",
            Self::Omp => "#3c3c8c",
            Self::Cosamp => "#5a9628",
            Self::Bfgd => "#cc79a7",
            Self::SoftImpute => "#8c510a",
            Self::RiemannianCg => "#66a61e",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nobody_shares_a_name_or_a_colour() {
        let names: BTreeSet<_> = Contestant::ALL.iter().map(|c| c.label()).collect();
        let colours: BTreeSet<_> = Contestant::ALL.iter().map(|c| c.colour()).collect();
        assert_eq!((names.len(), colours.len()), (Contestant::ALL.len(), Contestant::ALL.len()));
    }
}
