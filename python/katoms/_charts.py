"""What the plots draw: lines, bars and marks from the numbers of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from katoms import _drawing as drawing
from katoms._names import names_of_all, names_or_numbers, of_all_outputs
from katoms._parameters import criterion_of, groups_of, with_indicators
from katoms._results import Coefficients, Path
from katoms.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A difference of objectives below this share of them is rounding.
ROUNDING = 1e-12


class CoefficientPath(NamedTuple):
    """Coefficients of rising sizes, and the size that was chosen."""

    sizes: np.ndarray
    coefs: Coefficients
    scale: str
    names: np.ndarray
    chosen: int
    why: str


def is_grouped(model: Any) -> bool:
    """Whether the atoms of an estimator are groups."""
    return getattr(model, "groups", None) is not None


def size_label(model: Any) -> str:
    """What a size counts."""
    if isinstance(model, Path):
        return "support size"
    if hasattr(model, "rank_"):
        return "rank"
    return "number of groups" if is_grouped(model) else "number of features"


_OF_EACH = "each response has held-out losses of its own, in cv_results_; to draw them, fit the estimator to one column of y at a time"


def coefficient_path(model: Any, ic_type: str | None) -> CoefficientPath:
    """The models of all sizes that an estimator or a path has."""
    if isinstance(model, Path):
        return _of_path(model, criterion_of(ic_type or "ebic"))
    if isinstance(getattr(model, "path_", None), list):
        raise InvalidInputError(
            "each response has a path of its own: plot_path(model.path_[0]) draws that of the first one"
        )
    if hasattr(model, "path_"):
        path = _of_path(model.path_, criterion_of(ic_type or model.ic_type))
        return path if ic_type else path._replace(chosen=model.support_size_)
    tried = getattr(model, "cv_results_", {})
    if "response" in tried:
        raise InvalidInputError(_OF_EACH)
    rows = np.flatnonzero(tried["l2"] == model.l2_) if "coef" in tried else np.zeros(0, dtype=int)
    if len(rows) == 0:
        raise InvalidInputError(
            f"plot_path needs models of several sizes, but this {type(model).__name__} was fitted with one; "
            "fit it with several, such as support_size=range(1, 11)"
        )
    if ic_type is not None:
        raise InvalidInputError(
            f"ic_type is {ic_type!r}, but cross-validation chose the size of this {type(model).__name__}"
        )
    coefs = tried["coef"][rows]
    names = np.array(names_of_all(model), dtype=object)
    return CoefficientPath(
        tried["support_size"][rows], coefs, "coefficient", names, model.support_size_, "chosen by cross-validation"
    )


def _of_path(path: Path, criterion: str) -> CoefficientPath:
    coefs = path.standardized_coefs
    outputs = 1 if path.intercepts.ndim == 1 else path.intercepts.shape[1]
    names = names_or_numbers(path.feature_names, coefs.shape[1] // outputs)
    if outputs > 1:
        names = np.array([f"{name} → {output}" for output in range(outputs) for name in names], dtype=object)
    return CoefficientPath(
        path.support_sizes,
        coefs,
        "standardised coefficient",
        names,
        path.best(criterion),
        f"chosen by {criterion.upper()}",
    )


def draw_path(ax: Axes, path: CoefficientPath) -> None:
    """A line for each feature that ever enters; those of the chosen model are coloured and named."""
    chosen = path.coefs[np.flatnonzero(path.sizes == path.chosen)[0]]
    ends = []
    for feature, values in path.coefs.columns():
        name, highlighted = str(path.names[feature]), chosen[feature] != 0
        ax.plot(
            path.sizes,
            _without_long_zeros(values),
            color=drawing.ACCENT if highlighted else drawing.GREY,
            linewidth=1.75 if highlighted else 0.8,
            marker="o",
            markersize=3.5 if highlighted else 2,
            zorder=3 if highlighted else 2,
            label=name,
        )
        if highlighted:
            ends.append(drawing.End(path.sizes[-1], values[-1], name, abs(chosen[feature])))
    ax.axhline(0, color=drawing.GREY, linewidth=0.8, zorder=1)
    ax.margins(x=0.02)
    ax.set_ylabel(path.scale)
    drawing.mark_sizes(ax, [(path.chosen, f"{path.chosen}: {path.why}")])
    drawing.label_ends(ax, ends)


def _without_long_zeros(values: np.ndarray) -> np.ndarray:
    """NaN where a feature is out of the model and stays out: a line shows how it enters and leaves."""
    inside = values != 0
    near = inside.copy()
    near[:-1] |= inside[1:]
    near[1:] |= inside[:-1]
    return np.where(near, values, np.nan)


class Validation(NamedTuple):
    """Held-out losses: what they are, the size, mean, standard error and kind of each trial, and what was chosen."""

    what: str
    sizes: np.ndarray
    means: np.ndarray
    errors: np.ndarray
    kinds: np.ndarray
    kind: str
    least: int
    within: int


def validation_of(model: Any) -> Validation | None:
    """What an estimator knows of held-out losses, if anything."""
    results = getattr(model, "cv_results_", {})
    if "response" in results:
        raise InvalidInputError(_OF_EACH)
    if "support_size" in results:
        kinds = np.array([f"l2 = {ridge:g}" for ridge in results["l2"]])
        marks = (model.k_min_, model.k_1se_)
        if "mean_score" in results:
            what, means, errors = "held-out score", results["mean_score"], results["score_standard_error"]
        else:
            # The loss of least squares is half the mean squared error.
            squares = getattr(model, "loss", None) == "squared_error"
            other = "held-out log loss" if hasattr(model, "classes_") else "held-out loss"
            what, unit = ("held-out mean squared error", 2) if squares else (other, 1)
            means, errors = unit * results["mean_loss"], unit * results["standard_error"]
        return Validation(what, results["support_size"], means, errors, kinds, f"l2 = {model.l2_:g}", *marks)
    if len(results.get("rank", ())) > 0:
        centred = len(set(results["centring"])) > 1
        tried = zip(results["l2"], results["centring"], results["row_prior"])
        named = [_kind(*kind, centred) for kind in tried]
        kind = _kind(model.l2_, model.centring_, model.row_prior_, centred)
        marks = (model.rank_min_, model.rank_1se_)
        means, errors = results["held_out_mse"], np.asarray(results["standard_error"], dtype=float)
        return Validation("held-out squared error", results["rank"], means, errors, np.array(named), kind, *marks)
    return None


def _kind(ridge: float, centring: str, row_prior: str, centred: bool) -> str:
    if row_prior != "ridge":
        return f"row prior {row_prior}"
    return f"l2 = {ridge:g}, centring {centring}" if centred else f"l2 = {ridge:g}"


def draw_validation(ax: Axes, tried: Validation) -> None:
    """Mean losses with their standard errors against the size: a line for each kind, the chosen one coloured."""
    ends = []
    kinds = list(dict.fromkeys(tried.kinds.tolist()))
    for kind in kinds:
        rows = np.flatnonzero(tried.kinds == kind)
        rows = rows[np.argsort(tried.sizes[rows])]
        chosen = kind == tried.kind
        ax.errorbar(
            tried.sizes[rows],
            tried.means[rows],
            tried.errors[rows],
            color=drawing.ACCENT if chosen else drawing.GREY,
            linewidth=1.75 if chosen else 1.2,
            elinewidth=1,
            capsize=2,
            marker="o",
            markersize=4 if chosen else 3,
            zorder=3 if chosen else 2,
            label=kind,
        )
        name = f"{kind}, chosen" if chosen else kind
        ends.append(drawing.End(tried.sizes[rows[-1]], tried.means[rows[-1]], name, float(chosen)))
    if 0 < 10 * tried.means.min() < tried.means.max():
        drawing.logarithmic_y(ax)
    ax.set_ylabel(f"{tried.what}, mean ± 1 SE")
    ax.grid(axis="y", alpha=0.3, linewidth=0.7)
    ax.margins(x=0.03)
    if len(kinds) > 1:
        drawing.label_ends(ax, ends)


def mark_choices(ax: Axes, least: int, within: int) -> None:
    """The size of least loss, and the smallest within one standard error."""
    if least == within:
        drawing.mark_sizes(ax, [(least, f"{least}: least loss, none smaller within 1 SE")])
    else:
        drawing.mark_sizes(ax, [(within, f"{within}: smallest within 1 SE"), (least, f"{least}: least loss")])


class Bars(NamedTuple):
    """Features in the order in which they stand, the block of each, and the names of the blocks."""

    features: np.ndarray
    block: np.ndarray
    names: list[str]


def bars_of(model: Any, effects: np.ndarray) -> Bars:
    """The features of a model, the strongest first; with groups, the group of the strongest first."""
    if not is_grouped(model):
        features = _strongest_first(of_all_outputs(model, model.support_), effects)
        return Bars(features, np.zeros(len(features), dtype=int), [])
    known = getattr(model, "feature_names_in_", None)
    members, names = groups_of(model.groups, known, model.n_features_in_)
    members = with_indicators(members, getattr(model, "missing_features_", ()), model.n_features_in_)
    left = set(model.support_.tolist())
    blocks = []
    for name in model.chosen_groups_:
        inside = left.intersection(members[names.index(name)])
        blocks.append((f"group {name}", _strongest_first(of_all_outputs(model, inside), effects)))
        left -= inside
    blocks.append(("always selected", _strongest_first(of_all_outputs(model, left), effects)))
    blocks = [(name, features) for name, features in blocks if len(features)]
    blocks.sort(key=lambda block: -abs(effects[block[1][0]]))
    features = np.concatenate([features for _, features in blocks]) if blocks else np.zeros(0, dtype=int)
    sizes = [len(features) for _, features in blocks]
    return Bars(features, np.repeat(np.arange(len(blocks)), sizes), [name for name, _ in blocks])


def _strongest_first(features: Any, effects: np.ndarray) -> np.ndarray:
    return np.array(sorted(features, key=lambda j: (-abs(effects[j]), j)), dtype=int)


def draw_bars(ax: Axes, effects: np.ndarray, labels: list[str], places: np.ndarray) -> None:
    """A bar for each effect, from top to bottom; its sign is its colour."""
    ax.barh(places, effects, height=0.75, color=[drawing.ACCENT if v >= 0 else drawing.NEGATIVE for v in effects])
    ax.axvline(0, color=drawing.GREY, linewidth=0.8)
    ax.set_yticks(places, [drawing.shortened(label) for label in labels])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(max(places, default=0) + 0.6, -0.6)
    ax.grid(axis="x", alpha=0.3, linewidth=0.7)
    ax.set_axisbelow(True)


def name_blocks(ax: Axes, bars: Bars, places: np.ndarray) -> None:
    """Names of groups, right of their bars."""
    for number, name in enumerate(bars.names):
        inside = places[bars.block[: len(places)] == number]
        if len(inside):
            ends = [inside[0] - 0.35, inside[-1] + 0.35]
            beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "clip_on": False}
            ax.plot([1.01, 1.01], ends, color=drawing.GREY, linewidth=1.5, **beside)
            ax.text(1.025, sum(ends) / 2, drawing.shortened(name), va="center", fontsize=drawing.SMALL, **beside)


def draw_convergence(ax: Axes, moves: list[dict[str, Any]], best: float, start: float) -> None:
    """The objective against passes; rings are moves that reached the best.

    ``start`` is what the best constant has, or NaN.
    """
    passes = np.array([0] + [move["reads"] for move in moves])
    heights = np.array([start] + [move["objective"] for move in moves])
    ax.plot(passes[:2], heights[:2], "o:", color=drawing.GREY, markersize=4, linewidth=1.2, zorder=2)
    small: dict[str, Any] = {"textcoords": "offset points", "fontsize": drawing.SMALL}
    if np.isfinite(start):
        ax.annotate("constant", (0, heights[0]), (6, 0), va="center", **small)
    finite = heights[np.isfinite(heights)]
    passes, heights = passes[1:], heights[1:]
    reached = heights - best <= ROUNDING * abs(best)
    ax.plot(passes, heights, color=drawing.ACCENT, linewidth=1.5, zorder=3)
    ax.plot(passes[~reached], heights[~reached], "o", color=drawing.ACCENT, markersize=4, zorder=4)
    ring: dict[str, Any] = {"markerfacecolor": ax.get_facecolor(), "markeredgecolor": drawing.ACCENT, "clip_on": False}
    ax.plot(passes[reached], heights[reached], "o", markersize=5, markeredgewidth=1.5, zorder=4, **ring)
    if 0 < 20 * finite.min() < finite.max():
        drawing.logarithmic_y(ax)
    if reached.any():
        ax.annotate("best", (passes[reached][-1], heights[reached][-1]), (0, 7), ha="center", **small)
    ax.set_ylabel("objective")
    ax.grid(axis="y", alpha=0.3, linewidth=0.7)
    ax.margins(x=0.03)


def mark_stages(ax: Axes, moves: list[dict[str, Any]]) -> None:
    """A line where a stage begins, and its size above the axes. Where stages are short, some sizes stay out."""
    atoms = np.array([move["atoms"] for move in moves])
    begins = np.flatnonzero(np.diff(atoms, prepend=-1)).tolist()
    # A stage begins after the last move of the one before.
    starts = [moves[max(at - 1, 0)]["reads"] for at in begins]
    texts = [f"k = {atoms[at]}" for at in begins]
    at = drawing.in_points(ax, [(start, 1) for start in starts])[:, 0]
    free = np.inf
    # From the right: the last size is the model's.
    for start, text, place in reversed(list(zip(starts, texts, at))):
        if start != starts[0]:
            ax.axvline(start, color=drawing.GREY, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        if place + drawing.width_of(text) + drawing.SMALL / 2 < free:
            free = place
            where = (start, 1)
            ax.annotate(text, where, (1, 4), ("data", "axes fraction"), "offset points", fontsize=drawing.SMALL)
