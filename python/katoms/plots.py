"""Pictures of fitted models. They need Matplotlib: ``pip install katoms[plots]``.

Every function draws on the axes that it is given, or makes a figure, and returns the axes. Nothing is shown and no
setting of Matplotlib is changed: ``plt.show()`` or ``ax.figure.savefig("model.png")`` is up to the caller.

What draws is imported when it is needed, so that ``import katoms`` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from katoms._estimator import Estimator
from katoms._names import names_of_all, output_names
from katoms._results import Path
from katoms.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coefficients", "plot_completion", "plot_convergence", "plot_cv", "plot_path"]


def plot_path(model: Any, *, ic_type: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the coefficients of models of rising sizes.

    The features of the chosen model are coloured and named; all others that ever enter are grey.

    Parameters
    ----------
    model : fitted estimator or Path
        An estimator that was fitted with several sizes.
    ic_type : {"ebic", "bic", "aic", "gic"}, optional
        The criterion whose choice is marked. None stands for the estimator's own, and for EBIC with a path.
    ax : matplotlib.axes.Axes, optional
        Where to draw. A new figure if None.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressor, plot_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> y = 3 * X[:, 7] - 2 * X[:, 4] + rng.normal(size=100)
    >>> ax = plot_path(SparseRegressor(support_size=range(1, 6)).fit(X, y))
    >>> ax.get_xlabel()
    'number of features'
    """
    from katoms import _charts as charts
    from katoms import _drawing as drawing

    if not isinstance(model, Path):
        _check_fitted(model, "plot_path")
    drawn = charts.coefficient_path(model, ic_type)
    ax = drawing.axes_of(ax, (7.5, 4.5))
    drawing.count_along_x(ax, charts.size_label(model), drawn.sizes)
    charts.draw_path(ax, drawn)
    return ax


def plot_cv(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the loss on what was held out against the size, one line for each ridge.

    Bars reach one standard error up and down. The size of least loss and the smallest within one standard error are
    marked. The line of the chosen ridge is coloured.

    Parameters
    ----------
    model : fitted estimator with cross-validation
        One with ``cv_results_``, such as SparseRegressorCV.
    ax : matplotlib.axes.Axes, optional
        Where to draw. A new figure if None.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressorCV, plot_cv
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> y = 3 * X[:, 7] - 2 * X[:, 4] + rng.normal(size=100)
    >>> ax = plot_cv(SparseRegressorCV(support_size=range(1, 6)).fit(X, y))
    >>> ax.get_xlabel()
    'number of features'
    """
    from katoms import _charts as charts
    from katoms import _drawing as drawing

    _check_fitted(model, "plot_cv")
    tried = charts.validation_of(model)
    if tried is None:
        raise InvalidInputError(
            f"plot_cv needs losses on held-out rows, which {type(model).__name__} has not; "
            "fit an estimator with cross-validation, such as SparseRegressorCV"
        )
    ax = drawing.axes_of(ax, (7, 4.2))
    drawing.count_along_x(ax, charts.size_label(model), tried.sizes)
    charts.draw_validation(ax, tried)
    charts.mark_choices(ax, tried.least, tried.within)
    return ax


def plot_coefficients(model: Any, *, max_features: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the features of a model as bars, the strongest first.

    A bar is as long as the effect of one standard deviation of the feature (``standardized_coef_``), or as its
    coefficient in a model without standard deviations. With groups, the features of a group stand together.

    Parameters
    ----------
    model : fitted estimator
    max_features : int, default=40
        The most bars. What is left out is counted below.
    ax : matplotlib.axes.Axes, optional
        Where to draw. A new figure, as high as the bars need, if None.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressor, plot_coefficients
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> y = 3 * X[:, 7] - 2 * X[:, 4] + rng.normal(size=100)
    >>> ax = plot_coefficients(SparseRegressor(support_size=2).fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x7', 'x4']
    """
    from katoms import _charts as charts
    from katoms import _drawing as drawing

    _check_fitted(model, "plot_coefficients", "coef_")
    if max_features < 1:
        raise InvalidInputError(f"max_features is {max_features}; at least 1 is needed")
    standardized = getattr(model, "standardized_coef_", None)
    effects = np.ravel(model.coef_ if standardized is None else standardized)
    bars = charts.bars_of(model, effects)
    features = bars.features[:max_features]
    # Half a bar of air between groups.
    places = np.arange(len(features)) + 0.5 * bars.block[:max_features]
    ax = drawing.axes_of(ax, (7, 1.1 + 0.27 * (max(places, default=0) + 1)))
    names = names_of_all(model)
    charts.draw_bars(ax, effects[features], [names[feature] for feature in features], places)
    charts.name_blocks(ax, bars, places)
    score = "effect on the score" if output_names(model) else "effect on the log-odds"
    what = score if hasattr(model, "classes_") else "effect"
    what = "coefficient" if standardized is None else f"{what} per standard deviation"
    left_out = len(bars.features) - len(features)
    more = f"\n({left_out} more features are not shown)" if left_out else ""
    ax.set_xlabel(what + more)
    return ax


def plot_convergence(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the objective against passes over the data.

    Moves that reached the best are rings; the grey dot is the best constant. Where the number of atoms grew
    in stages, the size of each stands above the place where it begins.

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib.axes.Axes, optional
        Where to draw. A new figure if None.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from katoms import SparseRegressor, plot_convergence
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> y = 3 * X[:, 7] - 2 * X[:, 4] + rng.normal(size=100)
    >>> ax = plot_convergence(SparseRegressor(support_size=2).fit(X, y))
    >>> ax.get_ylabel()
    'objective'
    """
    from katoms import _charts as charts
    from katoms import _drawing as drawing

    _check_fitted(model, "plot_convergence", "trace_")
    moves = [move for move in model.trace_ if np.isfinite(move["objective"])]
    if not moves:
        raise InvalidInputError(f"plot_convergence has nothing to draw: this {type(model).__name__} made no move")
    best = min([move["objective"] for move in moves] + [getattr(model, "objective_", np.inf)])
    ax = drawing.axes_of(ax, (7, 4.2))
    drawing.count_along_x(ax, "passes over the data", np.array([0] + [move["reads"] for move in moves]))
    charts.draw_convergence(ax, moves, best, getattr(model, "null_loss_", np.nan))
    charts.mark_stages(ax, moves)
    return ax


def plot_completion(model: Any, X: Any = None, shape: tuple[int, int] | None = None, *, ax: Any = None) -> np.ndarray:
    """Draw a matrix with holes beside the completed one, and the error on held-out entries by rank.

    Parameters
    ----------
    model : fitted MatrixCompletion
    X : array with NaN, SciPy sparse matrix, or (rows, columns, values), optional
        What was seen. Without it only the completed matrix is drawn, or the error where there is one.
    shape : pair of int, optional
        How many rows and columns to draw, from the first on. All if None, but at most 1000 of each.
    ax : array of matplotlib.axes.Axes, optional
        Where to draw, one for each picture. A new figure if None.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        Seen and completed, where X is given. The error by rank, where the model has ``cv_results_``. The completed
        matrix alone, where there is neither.
    """
    from katoms import _pictures as pictures

    _check_fitted(model, "plot_completion", "factors_")
    return pictures.draw_completion(model, X, shape, ax)


def _check_fitted(model: Any, plot: str, attribute: str = "n_features_in_") -> None:
    if not isinstance(model, Estimator):
        also = " or a Path" if plot == "plot_path" else ""
        raise TypeError(f"{plot} draws a fitted estimator of katoms{also}, not a {type(model).__name__}")
    model._check_fitted()
    if not hasattr(model, attribute):
        raise InvalidInputError(f"{plot} needs {attribute}, which a fitted {type(model).__name__} has not")
