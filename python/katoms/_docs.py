"""Parts of docstrings that estimators share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import NamedTuple, TypeVar

C = TypeVar("C", bound=type)


class Parts(NamedTuple):
    """Parts of the docstring of an estimator."""

    parameters: list[str]
    attributes: list[str]


SIZE = """
support_size : int, sequence of int, or None, default=None
    The number of features, or of ``groups``; 0 is the model without any. Of several, ``ic_type`` chooses. None stands for 0 on, while the
    criterion prefers larger models and can be trusted with as many rows and columns.
"""

SIZES = """
support_size : int, sequence of int, or None, default=None
    The numbers of features, or of ``groups``, to choose from; 0 is the model without any. None stands for 0 on, while the held-out loss
    falls.
"""

GROUPS = """
groups : list, array, dict, callable or str, default=None
    Groups of features, which are then chosen together, and which ``support_size`` counts. A label for each feature, sizes of groups of neighbours, lists of indices or of names (in any order, sharing
    features if they like), or a dictionary of such lists. A feature in none of them is a group of its own. For frames
    also a function from the name of a column to its group (None: on its own), or a separator such as ``"="``: what
    names have before the first one is their group.
max_per_group : int, default=None
    The most features of a group that may be in; None for all of them. For groups that share no features; ``support_size``
    counts groups.
interactions : {"strong", "weak"} or None, default=None
    Whether products of two features (of groups: of their columns) may come in, which ``support_size`` counts as it counts
    features: beside both of their factors ("strong") or beside one ("weak"). They are looked at and never stored all.
"""

LOSS = """
loss : {"squared_error", "huber", "quantile", "poisson", "gamma", "negative_binomial"} or object, default="squared_error"
    What is minimised. "squared_error": the mean, and several responses at once where y has several columns. "huber": the mean
    but for outliers. "quantile": the ``quantile`` of y. "poisson": counts. "gamma": positive amounts whose deviation grows with
    their mean. "negative_binomial": counts that vary more than Poisson's. The last three are means with a logarithmic link,
    and take an ``offset`` or ``exposure`` in :meth:`fit`. An object of :mod:`katoms.losses`: a loss of your own.
quantile : float, default=0.5
    The quantile that ``loss="quantile"`` predicts.
smoothing : float or None, default=None
    The width over which the kink of the quantile's loss is smoothed, in units of y. None: a twentieth of the robust standard
    deviation of y.
delta : float or None, default=None
    From where on residuals count in proportion with ``loss="huber"``, in units of y. None: 1.345 robust standard deviations of
    the residuals, estimated with the model.
dispersion : float or None, default=None
    α of the variance μ + αμ² with ``loss="negative_binomial"``. None: the likeliest, estimated with the model.
share_features : bool, default=True
    Whether several responses share the features of the model. False: each has features of its own. {separate}
"""

TIES = """
ties : {"efron", "breslow"}, default="efron"
    How events at the same time share the rows at risk.
"""

FITTED_INTERCEPT = """intercept_ : {intercept}
    The constant.
"""

FITTED_SURVIVAL = """
unique_times_ : ndarray
    The times of events, rising.
strata_ : ndarray
    The strata, where the fit had some.
"""

RIDGE = """
l2 : float, default=0.0
    Weight of ``½·l2·‖coef‖²`` beside the loss (half the sum of squares, or the negative log-likelihood), for the
    features as they are after standardising.
"""

RIDGES = """
l2 : float, sequence of float, or None, default=None
    Weights of ``½·l2·‖coef‖²`` beside the loss to choose from together with the size, for the features as they are after
    standardising. None stands for 0, 0.01, 0.1 and 1 times the number of rows (for classes 0.001 in place of 0); without
    standardising, times the mean variance of a feature as well.
"""

COLUMNS = """
fit_intercept : bool, default=True
    Whether predictions have a constant, which counts as no atom.
standardize : bool, default=True
    Whether features are chosen at equal scale: with variance 1, or a mean square of 1 without an intercept. ``coef_`` is
    in the units of the data all the same.
always_select : list of int or str, default=None
    Features that are in every model and count as no atom: indices or names.
positive : bool, default=False
    Whether coefficients must not be negative.
bounds : pair, default=None
    The least and the largest coefficient: numbers, or an array with one for each feature. 0 must lie between them.
missing : {"error", "mean", "indicator"}, default="error"
    What is done about NaN in X. "mean": the mean of the column in the rows of the fit takes its place, also in rows that
    come later. "indicator": besides, each column with missing values gets another one, ``"age (missing)"``, that is 1
    where they are; it is an atom of its own, or with groups in those of its column. Where rows are held out, means are
    those of the rows that train.
"""

CLASS_WEIGHT = """
ordinal : bool or list, default=False
    Whether the classes have an order: the log-odds of a class of at most ``grades_[c]`` are then ``thresholds_[c]`` less one score
    (proportional odds). True: the order of numbers, or that of an ordered categorical of pandas. Of words, the list of
    classes from low to high.
class_weight : {"balanced"}, dict or None, default=None
    Weights of the classes, which multiply those of the rows. "balanced" gives all classes the same weight.
"""

METHOD = """
method : str, default=None
    A single run of this method for one size, by its name in :func:`katoms.methods`. None looks for the best answer:
    accelerated iterative hard thresholding, then a search from its end. "lasso" and "fista" take the least penalty at which
    at most k features are in, "frank-wolfe" (without an intercept) the norm of that model; their coefficients are shrunken.
effort : {"quick", "default", "thorough"} or float, default="default"
    How hard the search for one size tries: not at all, about as long as the passes over the data take, longer, or so many
    times the default. Work is counted, so that the answer is the same on every machine.
"""

CRITERION = """
ic_type : {"ebic", "bic", "aic", "gic"}, default="ebic"
    The information criterion that chooses among several sizes.
"""

FOLDS = """
cv : int, splitter of scikit-learn, iterable of (train, test), or array of labels, default=5
    The rows that are held out together. Where each row is held out once and the others train, all folds share their
    passes over the data; any other splits (``ShuffleSplit``, ``RepeatedKFold``, ``TimeSeriesSplit``) have a path each.
scoring : str, callable or None, default=None
    What the choice is by: the held-out loss (None or "deviance"); "auc", "misclassification", "brier", "mse", "rmse", "mae" or
    "c-index", of which those that are better when smaller are told with a minus; a scorer of scikit-learn by its name
    (``"roc_auc"``, ``"neg_mean_squared_error"``); or a function of (estimator, X, y) of which more is better.
rule : {"min", "1se"}, default="min"
    The least held-out loss, or the smallest model within one standard error of it; with ``scoring``, the best score.
random_state : int, generator or None, default=None
    Draws the folds; None is 0, so that the same input gives the same answer.
"""

RUN = """
max_iter : int, default=1000
    The most iterations of a run.
tol : float, default=1e-6
    A run has converged when a step moves the model by less than this share of its norm.
"""

TIME = """
time_limit : float, default=None
    Seconds after which the fit ends with the best model so far, its choices included; ``status_`` is then "time-limit".
"""

THREADS = """
n_jobs : int, default=None
    Threads. None: as many as a ``joblib.parallel_config``, ``threadpoolctl`` or ``OMP_NUM_THREADS`` say, which joblib sets
    in its workers, else all cores; -1 for all cores. The answer does not depend on it.
verbose : int, default=0
    Whether every move is printed.
callback : callable, default=None
    Called after every move, and at least ten times a second, with a dictionary (``iteration``, ``objective``,
    ``passes``, ...), on the thread that called ``fit`` or on one of the work. A true answer ends the fit with the best
    model so far.
"""

DEVICE = """
device : {"cpu", "cuda"} or None, default=None
    Where the passes over X are made. "cuda": on the first NVIDIA card, "cuda:1" on the second; X of NumPy is copied there once
    for each fit. An array that is on a card already, of PyTorch, CuPy or JAX, is fitted there without a copy and without
    this parameter. Dense or sparse X; attributes are NumPy's, and predictions are the kind of array that X is.
"""

DEVICE_OF_ENTRIES = """
device : {"cpu", "cuda"} or None, default=None
    Where the products of the entries are computed. "cuda": on the first NVIDIA card, "cuda:1" on the second. For values that
    are all in one unit: a factor analysis (``scale``) is fitted on the CPU.
"""

WARM = """
warm_start : bool, default=False
    Whether ``fit`` begins at the model of the fit before.
"""

WORK = RUN + TIME.lstrip("\n") + THREADS.lstrip("\n")

FITTED = """
coef_ : ndarray of shape {shape}
    The coefficients, in the units of the data.
intercept_ : {intercept}
    The constant.
standardized_coef_ : ndarray of shape (n_features,)
    What a standard deviation of each feature does.
support_ : ndarray of int
    The features in the model.
support_size_ : int
    The number of features or groups that was given or chosen.
n_iter_ : int
    Iterations that were made.
n_passes_ : int
    Full passes over the data that were made.
n_reads_ : float
    Reads of the data that were made: full passes, and partial ones by their share.
n_columns_read_ : int
    Columns that were read outside of passes.
status_ : str
    How the fit ended: ``"converged"``, ``"iteration-cap"``, ``"time-limit"``, ``"stopped"``, ...; ``"separated"`` where a
    model of classes separates them completely, so that larger coefficients always fit better.
quality_ : Quality or None
    How good the model is: ``print(model.quality_)``. None for a model without any features.
objective_, loss_, null_loss_ : float
    What was minimised, the loss without the ridge, and the loss of the best constant.
trace_ : list of dict
    Every move.
n_samples_fit_, n_features_in_ : int
    The number of rows and of features.
feature_names_in_ : ndarray of str
    Their names, where X had some.
means_, missing_features_ : ndarray of float, ndarray of int
    What takes the place of missing values, and the features that have an indicator; only where ``missing`` asks for
    it. Indicators stand behind the features, in ``coef_`` as well.
"""

FITTED_PATH = """
path_ : Path
    The models of all sizes, where there were several.
"""

FITTED_CLASSES = """
classes_ : ndarray of shape (n_classes,)
    The classes. Of two, the model tells the log-odds of the second; of more, a score of each, and these add up to 0.
grades_, thresholds_ : ndarray of shape (n_classes,), ndarray of shape (n_classes - 1,)
    With ``ordinal``, the classes from low to high, and where the score of a row passes from each to the next. ``classes_``, and
    the columns of ``predict_proba``, are sorted, as scikit-learn's scorers expect.
"""

FITTED_GROUPS = """
chosen_groups_ : list of str
    The groups in the model, where there are ``groups``.
"""

FITTED_FOLDS = """
k_min_, k_1se_ : int
    The size with the least held-out loss, or with ``scoring`` the best score, and the smallest within one standard error
    of it.
l2_ : float
    The ridge that was chosen.
cv_results_ : dict of str to ndarray
    ``support_size``, ``l2``, ``mean_loss``, ``standard_error`` and ``fold_losses`` of everything that was tried, and always
    of the model without atoms, which is chosen only where ``support_size`` has 0; and the
    ``coef`` (sparse: ``coef[i]``, ``coef.tocsr()``) and ``intercept`` of its model of all rows; with ``scoring`` also ``mean_score``, ``score_standard_error``
    and ``fold_scores``. A loss is half the mean squared error of the held-out rows (``(2 * mean_loss) ** 0.5`` is an
    RMSE), for classes their log loss. The models of folds come from a faster search than the final fit's: a fit of the
    same rows may find a better one.
fold_of_row_ : ndarray of int or None
    The fold that each row was held out in; None where some were held out never or several times.
"""


SPARSE = Parts(
    [SIZE, GROUPS, RIDGE, COLUMNS, METHOD, CRITERION, WARM, WORK, DEVICE], [FITTED, FITTED_GROUPS, FITTED_PATH]
)
SEPARATE = (
    "``support_size`` is then the number\n    of (feature, response) pairs over all responses, shared out where they lower the "
    "loss most; or a list with a number\n    for each response; or None, and ``ic_type`` chooses that of each."
)
SEPARATE_CV = "The size of each is then\n    chosen among ``support_size`` on the same rows held out, under one ridge for all responses."

FITTED_LOSS = """
dispersion_, delta_, smoothing_ : float
    What was given, taken or estimated, where the loss has it.
support_sizes_ : ndarray of int
    With ``share_features=False``, the size of each response; ``support_size_`` is their sum, ``support_`` has the features
    of any response. ``path_`` is then a list of paths, ``k_min_`` and ``k_1se_`` have a size for each response, and
    ``cv_results_`` says of which ``response`` each row is.
"""

SPARSE_CV = Parts([SIZES, GROUPS, RIDGES, FOLDS, COLUMNS, WORK, DEVICE], [FITTED_FOLDS, FITTED, FITTED_GROUPS])


RANK = """
rank : int or None, default=None
    The rank. None chooses it on held-out entries, from 1 to what the entries can carry, at most 30; with scaled columns
    from 0, the columns' means.
l2 : float or None, default=None
    Weight of ``½·l2·‖L‖²``, L being the low-rank part, beside half the sum of squares over what was seen. Whatever the
    unit of the values, 0.1 to 1 suit noisy ratings and 0 a matrix without noise. None chooses among 1, 0.3, 0.1, 0.03
    and 0 on held-out entries.
"""

RANKS = """
rank : int, sequence of int, or None, default=None
    The ranks to choose from. None stands for 1 to what the entries can carry, at most 30; with scaled columns from 0,
    the columns' means.
l2 : float, sequence of float, or None, default=None
    Weights of ``½·l2·‖L‖²``, L being the low-rank part, beside half the sum of squares over what was seen. None stands
    for 1, 0.3, 0.1, 0.03 and 0.
held_out : float, default=0.1
    The share of the entries that is held out. No row and no column loses its last one.
rule : {"min", "1se"}, default="min"
    The least held-out error, or the smallest rank whose mean squared error is within one standard error of it.
patience : int, default=3
    After so many ranks in a row that are no better, larger ones are not tried.
"""

CENTRING = """
centring : {"auto", "none", "mean", "effects"}, default="auto"
    What is taken off before the low-rank part is fitted: nothing, the mean, or the mean and an effect of each row and
    each column. "auto" chooses between effects and nothing on held-out entries.
scale : {"auto"} or bool, default="auto"
    Whether columns are features, each in a unit of its own. Then they are brought to standard deviation 1, and a factor
    analysis of this rank finds the noise of each column, which does the work of ``l2``; ``l2``, ``centring`` and
    ``method`` must be left at their defaults. "auto" scales the columns of arrays and frames, unless less than half was
    seen and there are 3 to 21 different values, as in a table of ratings, or one of these three is given. Entries and
    sparse matrices are not scaled.
clip : {"seen"}, pair of float, or None, default="seen"
    What predictions are kept within: the least and the largest value that was seen, of scaled columns each one's own;
    (low, high); or nothing.
method : str, default=None
    The method, by its name in :func:`katoms.methods`; None is Riemannian conjugate gradients.
random_state : int, generator or None, default=None
    Draws the held-out entries; None is 0, so that the same input gives the same answer.
"""

FITTED_MATRIX = """
factors_ : tuple of ndarray
    ``left`` of shape (n_samples, rank) and ``right`` of shape (n_features, rank), in the units of the data; divided by
    ``scales_``, the columns of ``right`` are orthonormal. The completed matrix is
    ``mean_ + row_effects_[:, None] + column_effects_ + left @ right.T``, kept within ``bounds_``.
    Where nothing was taken off, rows and columns that nobody saw have the mean of what was seen instead.
singular_values_ : ndarray of shape (rank,)
    The singular values of the low-rank part, falling: the norms of the columns of ``left``.
mean_, row_effects_, column_effects_ : float, ndarray of shape (n_samples,), ndarray of shape (n_features,)
    What was taken off; zeros where nothing was.
scales_ : ndarray of shape (n_features,)
    The units of the columns: their standard deviations, or ones where they were not scaled.
noise_variance_ : ndarray of shape (n_features,) or None
    With scaled columns, the variance of each that the factors do not explain.
bounds_ : tuple of float, or of ndarray of shape (n_features,)
    The least and the largest prediction; of scaled columns for each.
rank_, l2_, centring_ : int, float, str
    What was given or chosen. With scaled columns l2_ is 0 and centring_ is ``"columns"``.
row_prior_ : str
    What the factors of a row are drawn to: ``"ridge"`` (by l2), ``"normal"`` (the average) or ``"rows"`` (other rows).
rmse_ : float
    The root of the mean squared error on what was seen; with scaled columns in standard deviations of the columns, as
    all errors are.
held_out_rmse_ : float or None
    The same on held-out entries, of the choice that was taken; None where nothing was chosen.
n_iter_ : int
    Iterations of the last fit.
n_passes_ : int
    Passes over the entries that were made, those of the choice included.
status_ : str
    How the last fit ended: ``"converged"``, ``"iteration-cap"``, ``"stopped"``, ...
quality_ : Quality
    How good the answer is: ``print(model.quality_)``.
trace_ : list of dict
    Every move of the last fit.
n_features_in_ : int
    The number of columns.
feature_names_in_ : ndarray of str
    Their names, where X had some.
row_names_in_ : ndarray of str
    The names of the rows, where X was entries with names.
"""

FITTED_RANKS = """
rank_min_, rank_1se_ : int
    The rank with the least held-out error, and the smallest one within one standard error of it.
cv_results_ : dict of str to ndarray
    ``rank``, ``l2``, ``centring``, ``row_prior``, ``held_out_rmse``, ``held_out_mse``, ``standard_error`` (of the mse)
    and ``seen_rmse`` of everything that was tried, in that order.
"""

COMPLETION = Parts([RANK, CENTRING, RUN, TIME, THREADS, DEVICE_OF_ENTRIES], [FITTED_MATRIX])
COMPLETION_CV = Parts([RANKS, CENTRING, RUN, TIME, THREADS, DEVICE_OF_ENTRIES], [FITTED_RANKS, FITTED_MATRIX])
RECOVERY = Parts([RUN, TIME, THREADS], [])


def of_numbers(parts: Parts) -> Parts:
    """The same for numbers."""
    size, *rest = parts.parameters
    return parts._replace(parameters=[size, LOSS, *rest], attributes=[*parts.attributes, FITTED_LOSS])


def of_survival(parts: Parts) -> Parts:
    """The same for times until an event."""
    size, *rest = parts.parameters
    columns = COLUMNS[COLUMNS.index("standardize :") :]
    rest = [columns if part is COLUMNS else part for part in rest]
    attributes = [part.replace(FITTED_INTERCEPT, "") for part in parts.attributes]
    return Parts([size, TIES, *rest], [*attributes, FITTED_SURVIVAL])


def of_classes(parts: Parts) -> Parts:
    """The same for classes."""
    columns = parts.parameters.index(COLUMNS)
    parameters = [*parts.parameters[:columns], CLASS_WEIGHT, *parts.parameters[columns:]]
    return parts._replace(parameters=parameters, attributes=[FITTED_CLASSES, *parts.attributes])


def documented(parts: Parts, **words: str) -> Callable[[C], C]:
    """Decorate a class: its docstring gets these parts in place of ``{parameters}`` and ``{attributes}``."""

    def filled(texts: list[str]) -> str:
        text = "\n".join(part.strip("\n") for part in texts)
        for word, value in words.items():
            text = text.replace("{" + word + "}", value)
        return text

    def decorate(cls: C) -> C:
        text = inspect.cleandoc(cls.__doc__ or "")
        text = text.replace("{parameters}", filled(parts.parameters))
        cls.__doc__ = text.replace("{attributes}", filled(parts.attributes))
        return cls

    return decorate
