"""Models made of exactly k atoms: k features, k groups, a matrix of rank k."""

from katoms._interop import ConvergenceWarning, NotFittedError
from katoms._katoms import __version__
from katoms._paths import Path
from katoms._plink import Genotypes, read_plink
from katoms._quality import Quality
from katoms.classification import (
    GroupSparseClassifier,
    GroupSparseClassifierCV,
    SparseClassifier,
    SparseClassifierCV,
)
from katoms.completion import MatrixCompletion, MatrixCompletionCV
from katoms.functions import load, methods, path, phase_transition_k, theory
from katoms.plots import plot_coefficients, plot_completion, plot_convergence, plot_cv, plot_path
from katoms.recovery import Recovered, SparseRecovery, recover
from katoms.regression import GroupSparseRegressor, GroupSparseRegressorCV, SparseRegressor, SparseRegressorCV

__all__ = [
    "ConvergenceWarning",
    "Genotypes",
    "GroupSparseClassifier",
    "GroupSparseClassifierCV",
    "GroupSparseRegressor",
    "GroupSparseRegressorCV",
    "MatrixCompletion",
    "MatrixCompletionCV",
    "NotFittedError",
    "Path",
    "Quality",
    "Recovered",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseRecovery",
    "SparseRegressor",
    "SparseRegressorCV",
    "__version__",
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
