//! Every method by name: what it solves, what it costs, what is proven, when to choose it.
//!
//! `docs/methods.md` is this list as a table; a test compares them.

use crate::error::Error;

/// A kind of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// minimise f(x), x made of at most k coordinates or groups.
    Atoms,
    /// minimise f(X), the rank of X at most k.
    Rank,
    /// minimise f(x), x in a ball of a norm.
    Ball,
    /// minimise f(x) + a penalty.
    Penalty,
}

impl Problem {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Atoms => "k atoms",
            Self::Rank => "rank k",
            Self::Ball => "a ball",
            Self::Penalty => "a penalty",
        }
    }
}

/// One line of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is called where a method is named.
    pub name: &'static str,
    /// Its type in [`method`](super).
    pub type_name: &'static str,
    /// The problems that it solves.
    pub problems: &'static [Problem],
    /// The structures that it runs on.
    pub structures: &'static str,
    /// What an iteration costs.
    pub cost: &'static str,
    /// What is proven, and by whom.
    pub guarantee: &'static str,
    /// When to choose it.
    pub when: &'static str,
}

impl Entry {
    /// The line in the table of `docs/methods.md`.
    pub fn row(&self) -> String {
        let problems: Vec<&str> = self.problems.iter().map(|p| p.words()).collect();
        let Self { name, type_name, structures, cost, guarantee, when, .. } = self;
        format!("| `{name}` | `{type_name}` | {} | {structures} | {cost} | {guarantee} | {when} |", problems.join(", "))
    }
}

/// Every method, family by family.
///
/// ```
/// use katoms::method::catalogue::{self, Problem};
/// let for_matrices = catalogue::entries().iter().filter(|e| e.problems.contains(&Problem::Rank));
/// assert!(for_matrices.map(|e| e.name).any(|name| name == "riemannian-cg"));
/// ```
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// The method of this name.
///
/// # Errors
/// When there is none; the error names a similar one and all that there are.
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    ENTRIES.iter().find(|e| e.name == name).ok_or_else(|| unknown_among(name, String::new(), |_| true))
}

/// That there is no method of this name for such a problem, and which there are.
pub(super) fn unknown(name: &str, problem: Problem) -> Error {
    unknown_among(name, format!(" for {}", problem.words()), |e| e.problems.contains(&problem))
}

fn unknown_among(name: &str, problem: String, fits: impl Fn(&Entry) -> bool) -> Error {
    let names: Vec<&'static str> = ENTRIES.iter().filter(|e| fits(e)).map(|e| e.name).collect();
    let alike = |known: &str| distance(name, known) <= name.len().div_ceil(2) || known.starts_with(name);
    let nearest = names.iter().copied().filter(|known| alike(known)).min_by_key(|known| distance(name, known));
    Error::UnknownMethod { name: name.into(), problem, nearest, known: names.join(", ") }
}

/// Levenshtein's: insertions, deletions and replacements from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "accelerated-iht",
        type_name: "AcceleratedIht",
        problems: &[Problem::Atoms, Problem::Rank],
        structures: "coordinates, groups, overlapping groups, matrices",
        cost: "1 pass; a refit on k atoms, or for matrices a truncated SVD",
        guarantee: "f never rises; linear convergence for the paper's step and momentum, under restricted strong convexity and smoothness (Khanna, Kyrillidis 2018)",
        when: "the default",
    },
    Entry {
        name: "iht",
        type_name: "AcceleratedIht::plain",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, at most 3k columns",
        guarantee: "recovery under a restricted isometry, for a fixed step (Blumensath, Davies 2009)",
        when: "as the plainest comparison",
    },
    Entry {
        name: "normalised-iht",
        type_name: "NormalisedIht",
        problems: &[Problem::Atoms, Problem::Rank],
        structures: "coordinates, groups, overlapping groups, matrices",
        cost: "1 pass, k columns for each step tried",
        guarantee: "f falls; recovery under an asymmetric restricted isometry, whatever the scale (Blumensath, Davies 2010)",
        when: "when refits are too dear and scales are unknown",
    },
    Entry {
        name: "dore",
        type_name: "DoubleOverrelaxation",
        problems: &[Problem::Atoms, Problem::Rank],
        structures: "coordinates, groups, overlapping groups, matrices",
        cost: "1 pass, k columns more than normalised IHT",
        guarantee: "f never rises; normalised IHT's guarantee (Blumensath 2012)",
        when: "ill-conditioned problems where refits are too dear",
    },
    Entry {
        name: "ecme-dore",
        type_name: "EcmeDore",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass on a tight frame, 2 with a factor of ΦΦᵀ, many without",
        guarantee: "the weighted residual never rises (Qiu, Dogandžić 2012)",
        when: "tight frames such as rows of a DCT; rows of unequal scale",
    },
    Entry {
        name: "htp",
        type_name: "HardThresholdingPursuit::normalised",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, a refit on k atoms",
        guarantee: "recovery under a restricted isometry, in finitely many iterations (Foucart 2011)",
        when: "few iterations on well-conditioned designs",
    },
    Entry {
        name: "cosamp",
        type_name: "Cosamp",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, refits on 3k and k atoms",
        guarantee: "error at most a multiple of the noise under a restricted isometry (Needell, Tropp 2009)",
        when: "many rows for each atom",
    },
    Entry {
        name: "subspace-pursuit",
        type_name: "SubspacePursuit",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, refits on 2k and k atoms",
        guarantee: "as CoSaMP, under a weaker isometry (Dai, Milenkovic 2009); f falls",
        when: "many rows for each atom, k well known",
    },
    Entry {
        name: "cgiht",
        type_name: "Cgiht",
        problems: &[Problem::Atoms, Problem::Rank],
        structures: "coordinates, groups, overlapping groups, matrices",
        cost: "1 pass, at most 3k columns",
        guarantee: "f never rises; the paper proves variants (Blanchard, Tanner, Wei 2015)",
        when: "large k or large rank, where refits are too dear",
    },
    Entry {
        name: "cgiht-restarted",
        type_name: "Cgiht::restarted",
        problems: &[Problem::Atoms, Problem::Rank],
        structures: "coordinates, groups, overlapping groups, matrices",
        cost: "1 pass, at most 3k columns",
        guarantee: "f never rises; on vectors linear convergence under a restricted isometry (Blanchard, Tanner, Wei 2015)",
        when: "as CGIHT, when the support settles early",
    },
    Entry {
        name: "grasp",
        type_name: "Grasp",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, Newton refits on 3k and k atoms",
        guarantee: "linear convergence under a stable restricted Hessian (Bahmani, Raj, Boufounos 2013)",
        when: "losses other than squares, many rows for each atom",
    },
    Entry {
        name: "grahtp",
        type_name: "GraHtp",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, a Newton refit on k atoms",
        guarantee: "linear convergence under restricted strong convexity and smoothness (Yuan, Li, Zhang 2018)",
        when: "losses other than squares",
    },
    Entry {
        name: "fast-iht",
        type_name: "FastIht",
        problems: &[Problem::Atoms, Problem::Rank],
        structures: "coordinates, groups, overlapping groups, matrices",
        cost: "1 pass, at most 3k columns",
        guarantee: "f never rises; the paper shows speed by experiment (Wei 2015)",
        when: "when refits are too dear",
    },
    Entry {
        name: "matrix-alps",
        type_name: "MatrixAlps",
        problems: &[Problem::Rank],
        structures: "matrices",
        cost: "1 pass (version II), 2 (version I); k leading singular pairs",
        guarantee: "linear convergence under a restricted isometry (Kyrillidis, Cevher 2014)",
        when: "to compare with; leading pairs of the gradient cost more than the pass",
    },
    Entry {
        name: "svp",
        type_name: "AcceleratedIht::svp",
        problems: &[Problem::Rank],
        structures: "matrices",
        cost: "1 pass, a truncated SVD",
        guarantee: "recovery under a restricted isometry, for a fixed step (Jain, Meka, Dhillon 2010)",
        when: "as the plainest comparison",
    },
    Entry {
        name: "oblivious",
        type_name: "Oblivious",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "2 passes in all",
        guarantee: "within a factor of the best k by the least eigenvalue (Das, Kempe 2011)",
        when: "screening; nearly independent features",
    },
    Entry {
        name: "omp",
        type_name: "Omp",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass for each atom",
        guarantee: "recovery where the coherence is below 1/(2k−1) (Tropp 2004)",
        when: "small k, to the atom",
    },
    Entry {
        name: "forward-regression",
        type_name: "ForwardRegression",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass for each atom; 2 for a group, 3 for losses other than squares",
        guarantee: "1 − exp(−γ) of the best R², γ the submodularity ratio (Das, Kempe 2011)",
        when: "small k, correlated features",
    },
    Entry {
        name: "foba",
        type_name: "Foba",
        problems: &[Problem::Atoms],
        structures: "coordinates, groups, overlapping groups",
        cost: "1 pass, 2 after a removal or for a group, 3 for losses other than squares",
        guarantee: "support recovery under restricted strong convexity (Zhang 2011)",
        when: "correlated features, where an early choice may be wrong",
    },
    Entry {
        name: "frank-wolfe",
        type_name: "FrankWolfe",
        problems: &[Problem::Ball],
        structures: "ℓ1, group and nuclear balls",
        cost: "1 pass, 1 vertex",
        guarantee: "f(x) − f* ≤ 2C/(t+2) (Jaggi 2013); a proven gap",
        when: "a norm is known to be bounded, few iterations, low accuracy",
    },
    Entry {
        name: "away-frank-wolfe",
        type_name: "AwayFrankWolfe",
        problems: &[Problem::Ball],
        structures: "ℓ1 and group balls",
        cost: "1 pass, 1 vertex",
        guarantee: "linear convergence over polytopes (Lacoste-Julien, Jaggi 2015); a proven gap",
        when: "the same to high accuracy",
    },
    Entry {
        name: "pairwise-frank-wolfe",
        type_name: "PairwiseFrankWolfe",
        problems: &[Problem::Ball],
        structures: "ℓ1 and group balls",
        cost: "1 pass, 1 vertex",
        guarantee: "linear convergence over polytopes (Lacoste-Julien, Jaggi 2015); a proven gap",
        when: "the same, with few atoms",
    },
    Entry {
        name: "lasso",
        type_name: "Lasso",
        problems: &[Problem::Penalty],
        structures: "ℓ1, with a ridge the elastic net",
        cost: "1 pass, the working set's columns",
        guarantee: "a proven gap, which ends the run",
        when: "the Lasso and its path, on data with cheap columns",
    },
    Entry {
        name: "block-descent",
        type_name: "BlockDescent",
        problems: &[Problem::Penalty],
        structures: "groups; overlapping ones by latent copies",
        cost: "1 pass, the working set's columns",
        guarantee: "converges (Tseng, Yun 2009); a proven gap",
        when: "the group Lasso, on data with cheap columns",
    },
    Entry {
        name: "fista",
        type_name: "Fista",
        problems: &[Problem::Penalty],
        structures: "ℓ1, groups, nuclear norm",
        cost: "1 pass, an image of x",
        guarantee: "F − F* = O(1/t²) without restarts (Beck, Teboulle 2009); a proven gap",
        when: "any penalty; operators without cheap columns",
    },
    Entry {
        name: "twist",
        type_name: "Twist",
        problems: &[Problem::Penalty],
        structures: "ℓ1, groups, nuclear norm",
        cost: "1 pass, 1 or 2 images of x",
        guarantee: "a linear rate for a known condition number (Bioucas-Dias, Figueiredo 2007); a proven gap",
        when: "ill-conditioned inverse problems of known condition",
    },
    Entry {
        name: "soft-impute",
        type_name: "SoftImpute",
        problems: &[Problem::Penalty],
        structures: "nuclear norm",
        cost: "1 pass, singular pairs above λ",
        guarantee: "F falls, F − F* = O(1/t) (Mazumder, Hastie, Tibshirani 2010); a proven gap",
        when: "noisy completion whose rank is unknown",
    },
    Entry {
        name: "bfgd",
        type_name: "Bfgd",
        problems: &[Problem::Rank],
        structures: "matrices",
        cost: "1 pass, O((p+q)k²)",
        guarantee: "linear convergence near the optimum, for the step of theory (Park et al. 2018)",
        when: "large k, where SVDs of order 2k are too dear",
    },
    Entry {
        name: "riemannian-cg",
        type_name: "RiemannianCg",
        problems: &[Problem::Rank],
        structures: "matrices",
        cost: "1 pass, an SVD of order 2k",
        guarantee: "converges to stationary points (Vandereycken 2013)",
        when: "completion to high accuracy",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{AtomMethod, RankMethod};

    #[test]
    fn every_name_leads_to_its_method_and_no_other_does() {
        for entry in entries() {
            let (atoms, rank) = (AtomMethod::named(entry.name), RankMethod::named(entry.name));
            assert_eq!(atoms.is_ok(), entry.problems.contains(&Problem::Atoms), "{}", entry.name);
            assert_eq!(rank.is_ok(), entry.problems.contains(&Problem::Rank), "{}", entry.name);
            let debug = atoms.map(|m| format!("{m:?}")).or(rank.map(|m| format!("{m:?}"))).unwrap_or_default();
            let plain = entry.type_name.split("::").next().unwrap_or_default();
            assert!(debug.is_empty() || debug.starts_with(plain), "{} is {debug}", entry.name);
        }
        let mut names: Vec<&str> = entries().iter().map(|e| e.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), entries().len());
    }

    #[test]
    fn a_wrong_name_is_answered_with_a_similar_one_if_there_is_one() {
        let error = find("lasso2").unwrap_err().to_string();
        assert!(error.contains("did you mean `lasso`?"), "{error}");
        let error = unknown("lasso2", Problem::Atoms).to_string();
        assert!(error.starts_with("there is no method `lasso2` for k atoms; there are: accelerated-iht"), "{error}");
        let error = find("frankwolfe").unwrap_err().to_string();
        assert!(error.starts_with("there is no method `frankwolfe`; did you mean `frank-wolfe`?"), "{error}");
        assert!(AtomMethod::named("svp").unwrap_err().to_string().contains("for k atoms"));
        assert_eq!(find("lasso").unwrap().type_name, "Lasso");
        assert_eq!((distance("omp", "opm"), distance("", "abc"), distance("htp", "htp")), (2, 3, 0));
    }

    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../../docs/methods.md");
        let rows: Vec<String> = entries().iter().map(Entry::row).collect();
        let found: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(found, rows, "put these lines into docs/methods.md:\n{}", rows.join("\n"));
    }
}
