"""The size and the ridge by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from katoms import _katoms
from katoms._card import check_device, on_host
from katoms._columns import filling_of, has_holes
from katoms._data import design_of, plain_labels, responses_of, run_kernel
from katoms._design import Design, Linear
from katoms._estimator import UNCHANGED
from katoms._linear import Chosen, LinearModel, Products, pairs_of
from katoms._parameters import seed_of
from katoms._results import Coefficients
from katoms._separate import alone, fit_each, is_separate, joined, response_names
from katoms._splits import Measure, Scorer, Split, held_out, scored, scorer_of, splits_of
from katoms._work import warn
from katoms.exceptions import InvalidInputError

#: Indices and values of the coefficients that are not 0, the intercepts, and thresholds of classes in an order.
Model = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]


class Trial(NamedTuple):
    """A size and a ridge: the model of all rows, and the models that were judged, with their losses, split by split."""

    size: int
    ridge: float
    model: Model
    judged: list[Model]
    losses: list[float]


class Tried(NamedTuple):
    """What was tried, and how the work ended."""

    trials: list[Trial]
    splits: list[Split]
    result: dict[str, Any]

    def compared(self) -> tuple[np.ndarray, np.ndarray, int, int]:
        """Mean losses, their standard errors, the trial of least loss, and the smallest within one standard error."""
        return _katoms.compare([trial[:2] for trial in self.trials], [trial.losses for trial in self.trials])


class Data(NamedTuple):
    """The matrix as it was given and without missing values, and what is to be predicted."""

    raw: Design
    design: Design
    problem: dict[str, Any]
    #: Where matrices are brought that are made of it.
    placed: Callable[[Design], Design]

    def of(self, split: Split) -> Design:
        """The matrix with the means of the rows that train in the place of missing values."""
        if self.design.filling is None or not has_holes(self.raw):
            return self.design
        learnt = filling_of(self.raw, "mean", split.train)
        if learnt is None:
            return self.design
        return self.placed(learnt._replace(indicated=self.design.filling.indicated).fill(self.raw))


@dataclass(eq=False, repr=False)
class Validated(LinearModel):
    """A linear model whose size and ridge are chosen on rows held out."""

    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    rule: str = "min"
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None):
        """Choose on rows held out, then fit to all rows.

        Parameters
        ----------
        X : array, SciPy sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
            Arrays of float64, float32, float16, int8, uint8 or bool in either order are read where they lie.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.
        groups : array of shape (n_samples,), optional
            The group of each row, for splitters that look at it, such as ``GroupKFold``.

        Returns
        -------
        self
        """
        if self.rule not in ("min", "1se"):
            raise InvalidInputError(f"rule is {self.rule!r}; it must be 'min' or '1se'")
        self._begin()
        scorer = scorer_of(self.scoring)
        check_device(self.device)
        raw, y = design_of(X), on_host(y)
        if raw.shape[0] < 2:
            raise InvalidInputError(
                f"rows are held out to choose, which takes at least 2; X has n_samples={raw.shape[0]}"
            )
        filling = filling_of(raw, self.missing)
        design = self._placed(raw if filling is None else filling.fill(raw))
        problem = self._problem(design, y, sample_weight)
        size = self._sizes()
        asked = [size] if isinstance(size, int) else size
        # The model without atoms is judged as well, and chosen only where it is asked for.
        sizes = asked if asked is None or 0 in asked else [0, *asked]
        ridges = run_kernel(_katoms.ridges, design, problem, self._work(design)) if self.l2 is None else self._ridges()
        y = plain_labels(y)
        held = held_out(self.cv, X, y, groups, design.shape[0], seed_of(self.random_state))
        data = Data(raw, design, problem, self._placed)
        if isinstance(held, tuple):
            self._check_drawn(problem["response"])
        if is_separate(self, problem["response"]):
            return self._fit_each(data, (asked, ridges, held), scorer, (X, y, sample_weight))
        tried = self._tried(data, sizes, ridges, held)
        scores = self._judged(scorer, tried, data, (X, y, sample_weight))
        products = tried.result["products"]
        pairs = pairs_of(products)
        size, self.l2_, model = self._keep_scores(tried, scores, asked, design.shape[1] + len(pairs))
        start = _dense(model, design.shape[1] + len(pairs))
        self._raise_if_ended_early(tried.result, design, lambda: (size, start, pairs))
        self._finish(design, {**problem, "l2": self.l2_}, size, start, Chosen(tried.result["cut"]), products)
        if tried.result["cut"] is None:
            self._warn_at_the_edge(design, problem, asked)
        return self

    def _tried(self, data: Data, sizes: list[int] | None, ridges: list[float], held: Any) -> Tried:
        """Every size and ridge on the rows that are held out."""
        raw, design, problem, _ = data
        if isinstance(held, list) and isinstance(held[0], Split):
            return self._by_splits(data, sizes, ridges, held)
        if design.filling is not None and has_holes(raw):
            labels = _katoms.folds(problem, held)
            tried = self._by_splits(data, sizes, ridges, splits_of(labels))
            tried.result["fold_of_row"] = labels
            return tried
        self._check_splits(splits_of(_katoms.folds(problem, held)), problem["response"])
        return _of_folds(run_kernel(_katoms.cross_validate, design, problem, self._work(design), sizes, ridges, held))

    def _judged(self, scorer: Any, tried: Tried, data: Data, given: tuple[Any, Any, Any]) -> np.ndarray | None:
        """What `scoring` says of each choice on each split; None where the loss judges."""
        if isinstance(scorer, Measure):
            return self._measured(scorer, tried, data)
        return None if scorer is None else self._scores(scorer, tried, data, given)

    def _fit_each(self, data: Data, asked: tuple[Any, Any, Any], scorer: Any, given: tuple[Any, Any, Any]):
        """Several responses with features of their own: a size for each by the same rows held out, under one ridge."""
        X, y, weights = given
        design, problem = data.design, data.problem
        columns = responses_of(y).T
        tried, judged, edges = [], [], []
        for own, column in zip(alone(problem), columns):
            one = self._tried(data._replace(problem=own), *asked)
            self._raise_if_ended(one.result)
            tried.append(one)
            judged.append(self._judged(scorer, one, data._replace(problem=own), (X, column.copy(), weights)))
        chosen = self._keep_scores_of_each(tried, judged, design.shape[1])
        trials = [one.trials[at] for one, at in zip(tried, chosen)]
        self.l2_ = trials[0].ridge
        cut = next((one.result["cut"] for one in tried if one.result["cut"] is not None), None)
        start = joined([_dense(trial.model, design.shape[1]) for trial in trials])
        fit_each(self, design, {**problem, "l2": self.l2_}, [trial.size for trial in trials], start, Chosen(cut))
        what = "the least held-out loss is at" if self.scoring is None else "the best held-out score is at"
        names = response_names(self, len(tried))
        for name, own, one, size in zip(names, alone(problem), tried, self.k_min_.tolist()):
            sizes = sorted({trial.size for trial in one.trials})
            if cut is None and len(sizes) > 1 and size == sizes[-1]:
                edges.append(
                    run_kernel(_katoms.edge, design, own, self._work(design), sizes, size, f"of {name} {what}")
                )
        for edge in edges:
            if edge is not None:
                warn(f"{type(self).__name__}: {edge}", UserWarning)
        return self

    def _keep_scores_of_each(self, tried: list[Tried], scores: list[np.ndarray | None], n_features: int) -> list[int]:
        """Keep what was found for each response, and give the place of the trial that is chosen for each."""
        choices = [[trial[:2] for trial in one.trials] for one in tried]
        losses = [[trial.losses for trial in one.trials] for one in tried]
        mean, error, least, near = _katoms.compare_each(choices, losses)
        trials = [trial for one in tried for trial in one.trials]
        self.cv_results_: dict[str, Any] = {
            "response": np.repeat(np.arange(len(tried)), [len(one.trials) for one in tried]),
            "support_size": np.array([trial.size for trial in trials]),
            "l2": np.array([trial.ridge for trial in trials]),
            "mean_loss": np.concatenate(mean),
            "standard_error": np.concatenate(error),
            "fold_losses": np.array([trial.losses for trial in trials]),
            "coef": Coefficients([trial.model[:2] for trial in trials], n_features),
            "intercept": np.array([_single(trial.model[2]) for trial in trials]),
        }
        known = [score for score in scores if score is not None]
        if known:
            # More is better of a score, less of a loss.
            mean, error, least, near = _katoms.compare_each(choices, [(-score).tolist() for score in known])
            self.cv_results_ |= {
                "mean_score": -np.concatenate(mean),
                "score_standard_error": np.concatenate(error),
                "fold_scores": np.concatenate(known),
            }
        self.k_min_: Any = np.array([one.trials[at].size for one, at in zip(tried, least)])
        self.k_1se_: Any = np.array([one.trials[at].size for one, at in zip(tried, near)])
        self.fold_of_row_ = tried[0].result["fold_of_row"]
        return least if self.rule == "min" else near

    def _warn_at_the_edge(self, design: Design, problem: dict[str, Any], asked: list[int] | None) -> None:
        """Say where the best of what was tried is the largest, and the data carry more, or the smallest."""
        sizes = sorted(set(self.cv_results_["support_size"].tolist() if asked is None else asked))
        if len(sizes) < 2 or self.k_min_ not in (sizes[0], sizes[-1]):
            return
        what = "the least held-out loss is at" if self.scoring is None else "the best held-out score is at"
        result = run_kernel(_katoms.edge, design, problem, self._work(design), sizes, self.k_min_, what)
        if result is not None:
            warn(f"{type(self).__name__}: {result}", UserWarning)

    def _ridges(self) -> list[float]:
        if self.l2 is None:
            return [0.0]
        ridges = [float(ridge) for ridge in np.atleast_1d(np.asarray(self.l2, dtype=np.float64))]
        if not ridges:
            raise InvalidInputError("l2 is empty; give at least one number, such as 0.0")
        return ridges

    def _by_splits(self, data: Data, sizes: list[int] | None, ridges: list[float], splits: list[Split]) -> Tried:
        """Any rows held out; without sizes, those from 0 on while the held-out loss falls."""
        design, problem = data.design, data.problem
        self._check_splits(splits, problem["response"])
        if sizes is not None:
            return self._of_splits(data, sizes, ridges, splits)
        weights = problem["response"]["weights"]
        weights = np.ones(design.shape[0]) if weights is None else weights
        rows = min(np.count_nonzero(weights[np.unique(split.train)] > 0) for split in splits)
        ask = (_katoms.sizes_after, design, problem, self._work(design), rows)
        sizes = run_kernel(*ask, None)
        tried = self._of_splits(data, sizes, ridges, splits)
        while tried.result["cut"] is None:
            best = tried.trials[tried.compared()[2]]
            further = run_kernel(*ask, (sizes[-1], best.size))
            if further is None:
                between = _katoms.sizes_between(sizes, best.size)
                if not between:
                    return tried
                return _joined(tried, self._of_splits(data, between, [best.ridge], splits))
            sizes = further
            more = self._of_splits(data, sizes, ridges, splits)
            # What was stopped on the way to more sizes has fewer than there were.
            tried = more if more.result["cut"] is None else tried._replace(result=more.result)
        return tried

    def _of_splits(self, data: Data, sizes: list[int], ridges: list[float], splits: list[Split]) -> Tried:
        """A path of these sizes for each split, after that of all rows.

        What takes the place of a missing value is learnt from the rows that train. Where the work is cut short, splits
        that are not done count for nothing, but for the first, of which the sizes that are done are judged.
        """
        counted = Counted(self._work(data.design)["callback"])

        def trained(design: Design, split: Split) -> tuple[dict[tuple[int, float], Any], dict[str, Any]]:
            """The models of all sizes and ridges on some rows, by choice, and how the work ended."""
            work = self._work(design) | {"callback": counted.callback and counted.tell}
            rows = split.train.tolist(), split.test.tolist()
            result = run_kernel(_katoms.train, design, data.problem, work, sizes, ridges, rows)
            counted.before += len(result["tried"])
            return {(one["support_size"], one["l2"]): one for one in result["tried"]}, result

        everything = np.arange(data.design.shape[0])
        whole, result = trained(data.design, Split(everything, everything))
        listed: list[Products] = [result["products"]]
        parts: list[dict[tuple[int, float], Any]] = []
        for split in splits:
            if result["ended_by"] is not None or (result["cut"] is not None and parts):
                break
            counted.stop = result["cut"] is not None
            part, ended = trained(data.of(split), split)
            result = {**ended, "cut": result["cut"] or ended["cut"]}
            if result["cut"] is None or not parts:
                parts.append(part)
                listed.append(result["products"])
        products = _renumbered([whole, *parts], listed, data.design.shape[1])
        choices = [choice for choice in whole if all(choice in part for part in parts)] or list(whole)[:1]
        trials = [
            Trial(
                *choice, whole[choice]["model"], [p[choice]["model"] for p in parts], [p[choice]["loss"] for p in parts]
            )
            for choice in choices
        ]
        return Tried(trials, splits[: len(parts)], {**result, "fold_of_row": None, "products": products})

    def _check_splits(self, splits: list[Split], response: dict[str, Any]) -> None:
        """Whether models can be made of each split."""

    def _check_drawn(self, response: dict[str, Any]) -> None:
        """Whether rows can be drawn to be held out."""

    def _scores(self, scorer: Scorer, tried: Tried, data: Data, given: tuple[Any, Any, Any]) -> np.ndarray:
        """The score of each choice on each split, of X, y and weights as they were given."""
        X, y, weights = given
        pairs = pairs_of(tried.result["products"])
        scores = np.empty((len(tried.trials), len(tried.splits)))
        for fold, split in enumerate(tried.splits):
            part = data.of(split)
            for at, trial in enumerate(tried.trials):
                model = type(self)(**self.get_params(deep=False))
                vars(model).update({name: vars(self)[name] for name in ("_classes_to_be",) if name in vars(self)})
                model._keep_model(part, trial.size, _dense(trial.judged[fold], part.shape[1] + len(pairs)), pairs)
                scores[at, fold] = scored(scorer, model, X, y, split.test, weights)
                if np.isnan(scores[at, fold]):
                    raise InvalidInputError(
                        f"scoring={self.scoring!r} is NaN on split {fold}, for support_size={trial.size}: its "
                        f"{len(split.test)} rows may be too few, or of one class; hold out more rows, or give another cv"
                    )
        return scores

    def _measured(self, measure: Measure, tried: Tried, data: Data) -> np.ndarray:
        """What a measure says of each choice on each split; more is better."""
        pairs = pairs_of(tried.result["products"])
        scores = np.empty((len(tried.trials), len(tried.splits)))
        for fold, split in enumerate(tried.splits):
            part, response = data.of(split), data.problem["response"]
            for at, trial in enumerate(tried.trials):
                model = _dense(trial.judged[fold], part.shape[1] + len(pairs))
                linear = run_kernel(_katoms.predict, part, model.coef, model.intercepts.tolist(), pairs.tolist())
                linear = linear.reshape(len(model.intercepts), -1)[:, split.test].ravel()
                found: float | None
                if response["loss"] == "custom":
                    found = self._measured_own(measure, response, split.test, linear)
                else:
                    found = _katoms.measured(measure.name, response, split.test.tolist(), linear, model.thresholds)
                if found is None:
                    raise InvalidInputError(
                        f"scoring={measure.name!r} cannot judge the {len(split.test)} rows of split {fold}: they may be too "
                        "few, or of one class; hold out more rows, or give another cv"
                    )
                scores[at, fold] = measure.sign * found
        return scores

    def _measured_own(self, measure: Measure, response: dict[str, Any], rows: np.ndarray, linear: np.ndarray) -> float:
        """What a measure of numbers says of a loss of one's own, whose link the kernels do not know."""
        if measure.name not in ("mse", "rmse", "mae"):
            raise InvalidInputError(
                f"scoring={measure.name!r} does not judge numbers; take 'deviance', 'mse', 'rmse' or 'mae'"
            )
        link = getattr(getattr(self, "loss", None), "inverse_link", None)
        known = linear if response["offset"] is None else linear + response["offset"][rows]
        residual = response["target"][rows] - (known if link is None else link(known))
        weights = None if response["weights"] is None else response["weights"][rows]
        if measure.name == "mae":
            return float(np.average(np.abs(residual), weights=weights))
        square = float(np.average(residual**2, weights=weights))
        return square**0.5 if measure.name == "rmse" else square

    def _keep_scores(
        self, tried: Tried, scores: np.ndarray | None, asked: list[int] | None, n_features: int
    ) -> tuple[int, float, Model]:
        """Keep what was found, and give the size, the ridge and the model that are chosen of those asked for."""
        trials = tried.trials
        mean, error, *_ = tried.compared()
        judged = trials
        self.cv_results_ = {
            "support_size": np.array([trial.size for trial in trials]),
            "l2": np.array([trial.ridge for trial in trials]),
            "mean_loss": mean,
            "standard_error": error,
            "fold_losses": np.array([trial.losses for trial in trials]),
            "coef": Coefficients([trial.model[:2] for trial in trials], len(trials[0].model[2]) * n_features),
            "intercept": np.array([_single(trial.model[2]) for trial in trials]),
        }
        if scores is not None:
            # More is better of a score, less of a loss.
            judged = [trial._replace(losses=(-score).tolist()) for trial, score in zip(trials, scores)]
            mean, error, *_ = tried._replace(trials=judged).compared()
            self.cv_results_ |= {"mean_score": -mean, "score_standard_error": error, "fold_scores": scores}
        # Where time has run out there may be nothing but the model without atoms.
        judged = [trial for trial in judged if asked is None or trial.size in asked] or judged
        _, _, least, near = tried._replace(trials=judged).compared()
        self.k_min_, self.k_1se_ = judged[least].size, judged[near].size
        self.fold_of_row_ = tried.result["fold_of_row"]
        return judged[least if self.rule == "min" else near][:3]

    def set_fit_request(self, *, sample_weight: bool | str | None = UNCHANGED, groups: bool | str | None = UNCHANGED):
        """Ask metadata routing to pass ``sample_weight`` and ``groups`` to ``fit``; returns the estimator."""
        return self._request("fit", sample_weight=sample_weight, groups=groups)

    def _coef_of(self, support_size: int) -> np.ndarray:
        tried = self.cv_results_
        if "response" in tried:
            raise InvalidInputError(
                f"support_size is {support_size}, but each response has sizes of its own: cv_results_ has the coefficients "
                "of all of them"
            )
        found = np.flatnonzero((tried["support_size"] == support_size) & (tried["l2"] == self.l2_))
        if len(found) == 0:
            sizes = ", ".join(str(size) for size in sorted(set(tried["support_size"].tolist())))
            raise InvalidInputError(f"support_size is {support_size}; the sizes that were validated are {sizes}")
        return tried["coef"][found[0]]


class Counted:
    """A callback that hears of all splits as of one job, and is not asked again once the work is to end."""

    def __init__(self, callback: Callable[[dict[str, Any]], Any] | None):
        self.callback = callback
        self.before = 0
        self.stop = False

    def tell(self, progress: dict[str, Any]) -> Any:
        """Pass it on."""
        if "done" in progress:
            progress["done"] += self.before
        return self.stop or (self.callback is not None and self.callback(progress))


def _of_folds(result: dict[str, Any]) -> Tried:
    """Each row held out once: all folds and sizes have shared their passes over the data."""
    names = ("support_size", "l2", "model", "fold_models", "losses")
    trials = [Trial(*(one[name] for name in names)) for one in result["tried"]]
    return Tried(trials, splits_of(result["fold_of_row"]), result)


def _joined(tried: Tried, finer: Tried) -> Tried:
    """What was tried before, and of what was tried then the choices that are new, in the order of ridges and sizes."""
    if finer.result["cut"] is not None:
        return tried._replace(result=finer.result)
    known = {trial[:2] for trial in tried.trials}
    trials = tried.trials + [trial for trial in finer.trials if trial[:2] not in known]
    return Tried(sorted(trials, key=lambda trial: (trial.ridge, trial.size)), tried.splits, finer.result)


def _renumbered(parts: list[dict[tuple[int, float], Any]], listed: list[Products], features: int) -> Products:
    """All products that models of several parts have; the coefficients of the models are moved to their places among these."""
    products = sorted({tuple(map(tuple, product)) for own in listed for product in own})
    joined: Products = [[list(pair) for pair in product] for product in products]
    place = {tuple(pair): features + at for at, pair in enumerate(pairs_of(joined).tolist())}
    for part, own in zip(parts, listed):
        pairs = pairs_of(own)
        places = np.append(np.arange(features), [place[tuple(pair)] for pair in pairs.tolist()]).astype(np.int64)
        for one in part.values():
            indices, *rest = one["model"]
            output, at = np.divmod(indices, features + len(pairs))
            moved = output * (features + len(place)) + places[at]
            order = np.argsort(moved)
            one["model"] = (moved[order], rest[0][order], *rest[1:])
    return joined


def _single(intercepts: np.ndarray) -> Any:
    return intercepts if len(intercepts) > 1 else intercepts[0]


def _dense(model: Model, count: int) -> Linear:
    """All coefficients."""
    indices, values, intercepts, thresholds = model
    coef = np.zeros(count * len(intercepts))
    coef[indices] = values
    return Linear(coef, intercepts, thresholds)
