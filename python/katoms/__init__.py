"""Models made of exactly k atoms: k features, k groups, a matrix of rank k."""

from katoms import device
from katoms._katoms import __version__
from katoms._plink import Genotypes, read_plink
from katoms._results import Coefficients, Path, Quality
from katoms.classification import SparseClassifier, SparseClassifierCV
from katoms.completion import MatrixCompletion, MatrixCompletionCV
from katoms.exceptions import ConvergenceWarning, InvalidInputError, KatomsError, NotFittedError, NumericalError
from katoms.functions import load, methods, path, phase_transition_k, theory
from katoms.plots import plot_coefficients, plot_completion, plot_convergence, plot_cv, plot_path
from katoms.recovery import Recovered, SparseRecovery, recover
from katoms.regression import SparseRegressor, SparseRegressorCV
from katoms.survival import SparseCox, SparseCoxCV, StepFunction

__all__ = [
    "Coefficients",
    "ConvergenceWarning",
    "Genotypes",
    "InvalidInputError",
    "KatomsError",
    "MatrixCompletion",
    "MatrixCompletionCV",
    "NotFittedError",
    "NumericalError",
    "Path",
    "Quality",
    "Recovered",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseCox",
    "SparseCoxCV",
    "SparseRecovery",
    "SparseRegressor",
    "SparseRegressorCV",
    "StepFunction",
    "__version__",
    "device",
    "load",
    "methods",
    "path",
    "phase_transition_k",
    "plot_coefficients",
    "plot_completion",
    "plot_convergence",
    "plot_cv",
    "plot_path",
    "read_plink",
    "recover",
    "theory",
]
