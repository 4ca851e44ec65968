//! Every method by name: what it solves, what it costs, what is proven, when to choose it, and how it is made.
//!
//! `docs/methods.md` has this table; a test compares them.

use super::{
    AcceleratedIht, AtomMethod, Bfgd, Cgiht, Cosamp, EcmeDore, Fista, Foba, FrankWolfe, Greedy,
    HardThresholdingPursuit, L1Method, Lasso, MatrixAlps, NormalisedIht, RankMethod, RiemannianCg, Step,
    SubspacePursuit, Twist,
};
use crate::error::Error;
use crate::set::Structure;

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
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Atoms, Self::Rank, Self::Ball, Self::Penalty];

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

/// Makes a method with its defaults, if it can be made.
type Make<T> = Option<fn() -> T>;

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What it is called where a method is named.
    pub name: &'static str,
    /// Its type in [`method`](super).
    pub type_name: &'static str,
    /// The structures that it runs on.
    pub structures: &'static str,
    /// What an iteration costs.
    pub cost: &'static str,
    /// What is proven, and by whom.
    pub guarantee: &'static str,
    /// When to choose it.
    pub when: &'static str,
    atoms: Make<AtomMethod>,
    rank: Make<RankMethod>,
    ball: Make<FrankWolfe>,
    /// Whether it is for penalties, and how it is made for the ℓ1 norm.
    penalty: Option<Make<L1Method>>,
}

impl Entry {
    const fn new(name: &'static str, type_name: &'static str, structures: &'static str) -> Self {
        let (cost, guarantee, when) = ("", "", "");
        let (atoms, rank, ball, penalty) = (None, None, None, None);
        Self { name, type_name, structures, cost, guarantee, when, atoms, rank, ball, penalty }
    }
    const fn for_atoms(self, make: fn() -> AtomMethod) -> Self {
        Self { atoms: Some(make), ..self }
    }
    const fn for_rank(self, make: fn() -> RankMethod) -> Self {
        Self { rank: Some(make), ..self }
    }
    const fn for_balls(self, make: fn() -> FrankWolfe) -> Self {
        Self { ball: Some(make), ..self }
    }
    const fn for_penalties(self, make: Make<L1Method>) -> Self {
        Self { penalty: Some(make), ..self }
    }
    const fn costs(self, cost: &'static str) -> Self {
        Self { cost, ..self }
    }
    const fn proven(self, guarantee: &'static str) -> Self {
        Self { guarantee, ..self }
    }
    const fn when(self, when: &'static str) -> Self {
        Self { when, ..self }
    }

    /// Whether it solves problems of this kind.
    pub fn solves(&self, problem: Problem) -> bool {
        match problem {
            Problem::Atoms => self.atoms.is_some(),
            Problem::Rank => self.rank.is_some(),
            Problem::Ball => self.ball.is_some(),
            Problem::Penalty => self.penalty.is_some(),
        }
    }

    /// Whether it solves problems with an ℓ1 penalty or over an ℓ1 ball.
    pub fn is_for_l1(&self) -> bool {
        self.ball.is_some() || self.penalty.flatten().is_some()
    }

    /// The problems that it solves.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        Problem::ALL.into_iter().filter(|&problem| self.solves(problem))
    }

    /// The line in the table of `docs/methods.md`.
    pub fn row(&self) -> String {
        let problems: Vec<&str> = self.problems().map(Problem::words).collect();
        let Self { name, type_name, structures, cost, guarantee, when, .. } = self;
        format!("| `{name}` | `{type_name}` | {} | {structures} | {cost} | {guarantee} | {when} |", problems.join(", "))
    }
}

/// Every method, family by family.
///
/// ```
/// use katoms::method::table::{self, Problem};
/// let for_matrices = table::entries().iter().filter(|e| e.solves(Problem::Rank));
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
    ENTRIES.iter().find(|e| e.name == name).ok_or_else(|| unknown(name, String::new(), |_| true))
}

/// What is made of a name for such problems; the error names a similar one and all that there are.
fn made<T>(name: &str, problem: Problem, make: fn(&Entry) -> Make<T>) -> Result<T, Error> {
    let entry = ENTRIES.iter().find(|e| e.name == name);
    let made = entry.and_then(make).map(|make| make());
    made.ok_or_else(|| unknown(name, format!(" for {}", problem.words()), |e| make(e).is_some()))
}

fn unknown(name: &str, problem: String, fits: impl Fn(&Entry) -> bool) -> Error {
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

/// A method of the kind, by its name, with its defaults.
macro_rules! named {
    ($any:ty, $problem:ident, $make:expr) => {
        impl $any {
            /// The method of this name, with its defaults; the [table](self) lists the names.
            ///
            /// # Errors
            /// When there is none for such problems; the error lists those that there are.
            pub fn named(name: &str) -> Result<Self, Error> {
                made(name, Problem::$problem, $make)
            }
        }
    };
}

named!(AtomMethod, Atoms, |e| e.atoms);
named!(RankMethod, Rank, |e| e.rank);
named!(FrankWolfe, Ball, |e| e.ball);
named!(L1Method, Penalty, |e| e.penalty.flatten());

const VECTORS: &str = "coordinates, groups, overlapping groups";
const MATRICES: &str = "matrices";
const ALL: &str = "coordinates, groups, overlapping groups, matrices";

const ENTRIES: &[Entry] = &[
    Entry::new("accelerated-iht", "AcceleratedIht", ALL)
        .for_atoms(|| AtomMethod::AcceleratedIht(AcceleratedIht::for_structure(Structure::Coordinates)))
        .for_rank(|| RankMethod::AcceleratedIht(AcceleratedIht::for_structure(Structure::RankOne)))
        .costs("1 pass; a refit on k atoms, or for matrices a truncated SVD")
        .proven("f never rises; linear convergence for the paper's step and momentum, under restricted strong convexity and smoothness (Khanna, Kyrillidis 2018)")
        .when("the default"),
    Entry::new("iht", "AcceleratedIht::plain", VECTORS)
        .for_atoms(|| AtomMethod::AcceleratedIht(AcceleratedIht::plain(Step::LineSearch)))
        .costs("1 pass, at most 3k columns")
        .proven("recovery under a restricted isometry, for a fixed step (Blumensath, Davies 2009)")
        .when("as the plainest comparison"),
    Entry::new("normalised-iht", "NormalisedIht", ALL)
        .for_atoms(|| AtomMethod::NormalisedIht(NormalisedIht::default()))
        .for_rank(|| RankMethod::NormalisedIht(NormalisedIht::default()))
        .costs("1 pass, k columns for each step tried")
        .proven("f falls; recovery under an asymmetric restricted isometry, whatever the scale (Blumensath, Davies 2010)")
        .when("when refits are too dear and scales are unknown"),
    Entry::new("dore", "NormalisedIht::overrelaxed", ALL)
        .for_atoms(|| AtomMethod::NormalisedIht(NormalisedIht::overrelaxed()))
        .for_rank(|| RankMethod::NormalisedIht(NormalisedIht::overrelaxed()))
        .costs("1 pass, k columns more than normalised IHT")
        .proven("f never rises; normalised IHT's guarantee (Blumensath 2012)")
        .when("ill-conditioned problems where refits are too dear"),
    Entry::new("ecme-dore", "EcmeDore", VECTORS)
        .for_atoms(|| AtomMethod::EcmeDore(EcmeDore::default()))
        .costs("1 pass on a tight frame, 2 with a factor of ΦΦᵀ, many without")
        .proven("the weighted residual never rises (Qiu, Dogandžić 2012)")
        .when("tight frames such as rows of a DCT; rows of unequal scale"),
    Entry::new("htp", "HardThresholdingPursuit::normalised", VECTORS)
        .for_atoms(|| AtomMethod::HardThresholdingPursuit(HardThresholdingPursuit::normalised()))
        .costs("1 pass, a refit on k atoms")
        .proven("recovery under a restricted isometry, in finitely many iterations (Foucart 2011)")
        .when("few iterations on well-conditioned designs"),
    Entry::new("cosamp", "Cosamp", VECTORS)
        .for_atoms(|| AtomMethod::Cosamp(Cosamp::default()))
        .costs("1 pass, refits on 3k and k atoms")
        .proven("error at most a multiple of the noise under a restricted isometry (Needell, Tropp 2009)")
        .when("many rows for each atom"),
    Entry::new("subspace-pursuit", "SubspacePursuit", VECTORS)
        .for_atoms(|| AtomMethod::SubspacePursuit(SubspacePursuit))
        .costs("1 pass, refits on 2k and k atoms")
        .proven("as CoSaMP, under a weaker isometry (Dai, Milenkovic 2009); f falls")
        .when("many rows for each atom, k well known"),
    Entry::new("cgiht", "Cgiht", ALL)
        .for_atoms(|| AtomMethod::Cgiht(Cgiht::default()))
        .for_rank(|| RankMethod::Cgiht(Cgiht::default()))
        .costs("1 pass, at most 3k columns")
        .proven("f never rises; the paper proves variants (Blanchard, Tanner, Wei 2015)")
        .when("large k or large rank, where refits are too dear"),
    Entry::new("cgiht-restarted", "Cgiht::restarted", ALL)
        .for_atoms(|| AtomMethod::Cgiht(Cgiht::restarted()))
        .for_rank(|| RankMethod::Cgiht(Cgiht::restarted()))
        .costs("1 pass, at most 3k columns")
        .proven("f never rises; on vectors linear convergence under a restricted isometry (Blanchard, Tanner, Wei 2015)")
        .when("as CGIHT, when the support settles early"),
    Entry::new("grasp", "Cosamp", VECTORS)
        .for_atoms(|| AtomMethod::Cosamp(Cosamp::default()))
        .costs("1 pass, Newton refits on 3k and k atoms")
        .proven("linear convergence under a stable restricted Hessian (Bahmani, Raj, Boufounos 2013)")
        .when("losses other than squares, many rows for each atom"),
    Entry::new("grahtp", "HardThresholdingPursuit::gradient", VECTORS)
        .for_atoms(|| AtomMethod::HardThresholdingPursuit(HardThresholdingPursuit::gradient()))
        .costs("1 pass, a Newton refit on k atoms")
        .proven("linear convergence under restricted strong convexity and smoothness (Yuan, Li, Zhang 2018)")
        .when("losses other than squares"),
    Entry::new("fast-iht", "NormalisedIht::fast", ALL)
        .for_atoms(|| AtomMethod::NormalisedIht(NormalisedIht::fast()))
        .for_rank(|| RankMethod::NormalisedIht(NormalisedIht::fast()))
        .costs("1 pass, at most 3k columns")
        .proven("f never rises; the paper shows speed by experiment (Wei 2015)")
        .when("when refits are too dear"),
    Entry::new("matrix-alps", "MatrixAlps", MATRICES)
        .for_rank(|| RankMethod::MatrixAlps(MatrixAlps::default()))
        .costs("1 pass (version II), 2 (version I); k leading singular pairs")
        .proven("linear convergence under a restricted isometry (Kyrillidis, Cevher 2014)")
        .when("to compare with; leading pairs of the gradient cost more than the pass"),
    Entry::new("svp", "AcceleratedIht::svp", MATRICES)
        .for_rank(|| RankMethod::AcceleratedIht(AcceleratedIht::plain(Step::LineSearch)))
        .costs("1 pass, a truncated SVD")
        .proven("recovery under a restricted isometry, for a fixed step (Jain, Meka, Dhillon 2010)")
        .when("as the plainest comparison"),
    Entry::new("oblivious", "Oblivious", VECTORS)
        .for_atoms(|| AtomMethod::Greedy(Greedy::Oblivious))
        .costs("2 passes in all")
        .proven("within a factor of the best k by the least eigenvalue (Das, Kempe 2011)")
        .when("screening; nearly independent features"),
    Entry::new("omp", "Omp", VECTORS)
        .for_atoms(|| AtomMethod::Greedy(Greedy::Omp))
        .costs("1 pass for each atom")
        .proven("recovery where the coherence is below 1/(2k−1) (Tropp 2004)")
        .when("small k, to the atom"),
    Entry::new("forward-regression", "ForwardRegression", VECTORS)
        .for_atoms(|| AtomMethod::Greedy(Greedy::ForwardRegression))
        .costs("1 pass for each atom; 2 for a group, 3 for losses other than squares")
        .proven("1 − exp(−γ) of the best R², γ the submodularity ratio (Das, Kempe 2011)")
        .when("small k, correlated features"),
    Entry::new("foba", "Foba", VECTORS)
        .for_atoms(|| AtomMethod::Foba(Foba::default()))
        .costs("1 pass, 2 after a removal or for a group, 3 for losses other than squares")
        .proven("support recovery under restricted strong convexity (Zhang 2011)")
        .when("correlated features, where an early choice may be wrong"),
    Entry::new("frank-wolfe", "FrankWolfe", "ℓ1, group and nuclear balls")
        .for_balls(FrankWolfe::default)
        .costs("1 pass, 1 vertex")
        .proven("f(x) − f* ≤ 2C/(t+2) (Jaggi 2013); a duality gap")
        .when("a norm is known to be bounded, few iterations, low accuracy"),
    Entry::new("away-frank-wolfe", "FrankWolfe::away", "ℓ1 and group balls")
        .for_balls(FrankWolfe::away)
        .costs("1 pass, 1 vertex")
        .proven("linear convergence over polytopes (Lacoste-Julien, Jaggi 2015); a duality gap")
        .when("the same to high accuracy"),
    Entry::new("pairwise-frank-wolfe", "FrankWolfe::pairwise", "ℓ1 and group balls")
        .for_balls(FrankWolfe::pairwise)
        .costs("1 pass, 1 vertex")
        .proven("linear convergence over polytopes (Lacoste-Julien, Jaggi 2015); a duality gap")
        .when("the same, with few atoms"),
    Entry::new("lasso", "Lasso", "ℓ1, with a ridge the elastic net")
        .for_penalties(Some(|| L1Method::Lasso(Lasso::default())))
        .costs("1 pass, the working set's columns")
        .proven("a duality gap, which ends the run")
        .when("the Lasso and its path, on data with cheap columns"),
    Entry::new("block-descent", "BlockDescent", "groups; overlapping ones by latent copies")
        .for_penalties(None)
        .costs("1 pass, the working set's columns")
        .proven("converges (Tseng, Yun 2009); a duality gap")
        .when("the group Lasso, on data with cheap columns"),
    Entry::new("fista", "Fista", "ℓ1, groups, nuclear norm")
        .for_penalties(Some(|| L1Method::Fista(Fista::default())))
        .costs("1 pass, an image of x")
        .proven("F − F* = O(1/t²) without restarts (Beck, Teboulle 2009); a duality gap")
        .when("any penalty; operators without cheap columns"),
    Entry::new("twist", "Twist", "ℓ1, groups, nuclear norm")
        .for_penalties(Some(|| L1Method::Twist(Twist::default())))
        .costs("1 pass, 1 or 2 images of x")
        .proven("a linear rate for a known condition number (Bioucas-Dias, Figueiredo 2007); a duality gap")
        .when("ill-conditioned inverse problems of known condition"),
    Entry::new("soft-impute", "SoftImpute", "nuclear norm")
        .for_penalties(None)
        .costs("1 pass, singular pairs above λ")
        .proven("F falls, F − F* = O(1/t) (Mazumder, Hastie, Tibshirani 2010); a duality gap")
        .when("noisy completion whose rank is unknown"),
    Entry::new("bfgd", "Bfgd", MATRICES)
        .for_rank(|| RankMethod::Bfgd(Bfgd::default()))
        .costs("1 pass, O((p+q)k²)")
        .proven("linear convergence near the optimum, for the step of theory (Park et al. 2018)")
        .when("large k, where SVDs of order 2k are too dear"),
    Entry::new("riemannian-cg", "RiemannianCg", MATRICES)
        .for_rank(|| RankMethod::RiemannianCg(RiemannianCg::default()))
        .costs("1 pass, an SVD of order 2k")
        .proven("converges to stationary points (Vandereycken 2013)")
        .when("completion to high accuracy"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_method_and_no_other_does() {
        for entry in entries() {
            let made = [
                AtomMethod::named(entry.name).map(|m| format!("{m:?}")),
                RankMethod::named(entry.name).map(|m| format!("{m:?}")),
                FrankWolfe::named(entry.name).map(|m| format!("{m:?}")),
                L1Method::named(entry.name).map(|m| format!("{m:?}")),
            ];
            let plain = entry.type_name.split("::").next().unwrap_or_default();
            assert!(made.iter().flatten().all(|debug| debug.contains(plain)), "{} is {made:?}", entry.name);
            assert!(made.iter().any(Result::is_ok) || entry.solves(Problem::Penalty), "{}", entry.name);
            assert!(![entry.cost, entry.guarantee, entry.when].contains(&""), "{}", entry.name);
        }
        let mut names: Vec<&str> = entries().iter().map(|e| e.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), entries().len());
    }

    #[test]
    fn a_wrong_name_is_answered_with_a_similar_one_if_there_is_one() {
        let told = |error: Error, words: &str| assert!(error.to_string().contains(words), "{error}");
        told(find("lasso2").unwrap_err(), "there is no method `lasso2`; did you mean `lasso`?");
        told(find("frankwolfe").unwrap_err(), "there is no method `frankwolfe`; did you mean `frank-wolfe`?");
        told(AtomMethod::named("lasso2").unwrap_err(), "no method `lasso2` for k atoms; there are: accelerated-iht");
        told(AtomMethod::named("svp").unwrap_err(), "for k atoms");
        told(RankMethod::named("omp").unwrap_err(), "for rank k");
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
