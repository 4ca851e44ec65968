"""What the estimators of features have in common: from X and y to a model of k features or groups."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from katoms import _katoms
from katoms._card import answer_in_kind, as_given, check_device, is_on_card, lives_on_card, on_host, placed
from katoms._columns import columns_of, filling_of, lives_on_dask
from katoms._data import check_same_features, design_of, is_sparse, run_kernel, target_of, weights_of
from katoms._design import Design, Filling, Linear
from katoms._estimator import GivesFrames, TakesWeights
from katoms._model_file import Loaded, save
from katoms._names import coefficient_names, feature_names_out
from katoms._parameters import bounds_of, features_of, groups_of, method_of, sizes_of, whole_of, with_indicators
from katoms._plink import Genotypes
from katoms._work import Working
from katoms.distributed import stay_lazy
from katoms.exceptions import InvalidInputError

#: What only a fit that came to its end can tell of a model.
_KNOWN_AFTER_A_FIT = (
    "standardized_coef_",
    "n_iter_",
    "n_passes_",
    "n_reads_",
    "n_columns_read_",
    "objective_",
    "loss_",
    "null_loss_",
    "quality_",
    "trace_",
    "chosen_groups_",
)


#: The pairs of columns of each product: one, or of two groups all pairs of their columns.
Products = list[list[list[int]]]


def pairs_of(products: Products) -> np.ndarray:
    """The factors of each column of products."""
    pairs = [pair for product in products for pair in product]
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)


class Chosen(NamedTuple):
    """That the size was chosen, and what cut the choice short, if anything did."""

    cut: str | None


@dataclass(eq=False, repr=False)
class LinearModel(TakesWeights, GivesFrames, Working):
    """A linear predictor made of k features or groups."""

    _loaded: ClassVar[Loaded]

    support_size: Any = None
    _: KW_ONLY
    groups: Any = None
    max_per_group: Any = None
    interactions: str | None = None
    l2: Any = 0.0
    fit_intercept: bool = True
    standardize: bool = True
    always_select: Any = None
    positive: bool = False
    bounds: Any = None
    missing: str = "error"
    device: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        stay_lazy(cls)
        answer_in_kind(cls)

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Find the model."""
        raise NotImplementedError

    def _read(self, X: Any) -> Design:
        """A matrix to fit to, on its device, with something in the place of missing values where that is asked for."""
        check_device(self.device)
        design = design_of(X)
        filling = filling_of(design, self.missing)
        return self._placed(design if filling is None else filling.fill(design))

    def _placed(self, design: Design) -> Design:
        """A matrix on the device that is asked for."""
        design = placed(design, self.device)
        if is_on_card(design) and self.interactions is not None:
            raise InvalidInputError("interactions are looked for on the host; leave device out, and give X as NumPy")
        return design

    def _finish(
        self,
        design: Design,
        problem: dict[str, Any],
        size: int,
        start: Linear | None,
        chosen: Chosen | None,
        products: Products | None = None,
    ) -> None:
        """Fit the model of one size, and keep what there is to know about it.

        `chosen` is None where the size was given. Where it was chosen, `start` is the model that was judged: it is
        refitted and judged, but not searched for anew, so that it is the one of the path. `products` are those whose
        coefficients a start has behind those of the features.
        """
        work = self._work(design)
        method = method_of(getattr(self, "method", None))
        if chosen is not None and all(problem[what] is None for what in ("bounds", "inside", "interactions")):
            method = "accelerated-iht"
        effort = str(getattr(self, "effort", "default")) if chosen is None else "default"
        begin = None if start is None else (start.coef, start.intercepts.tolist())
        question = {"support_size": size, "method": method, "effort": effort, "start": begin, "products": products}
        result = run_kernel(_katoms.fit, design, problem, work, question)
        vars(self).pop("support_sizes_", None)
        if not getattr(self, "share_features", True):
            self.support_sizes_ = np.array([size])
        self._keep_result(design, size, result, chosen)

    def _keep_result(self, design: Design, size: int, result: dict[str, Any], chosen: Chosen | None) -> None:
        """Keep what the kernels tell of a model."""
        nuisance = result["nuisance"]
        model = Linear(result["coef"], result["intercepts"], nuisance.get("thresholds"))
        self._keep_model(design, size, model, pairs_of(result["products"]))
        self._keep_nuisance(nuisance)
        standardized = Linear(result["standardized"], result["intercepts"]).rows
        beside = standardized[:, design.shape[1] :]
        standardized = standardized[:, : design.shape[1]]
        self.standardized_coef_ = standardized if len(standardized) > 1 else standardized[0]
        if self.interactions is not None:
            kept = np.flatnonzero(model.rows[:, design.shape[1] :].any(axis=0))
            self._interaction_standardized = beside[:, kept]
        self._keep_run(result)
        self.n_reads_ = result["reads"]
        self.n_columns_read_ = result["columns"]
        if chosen is not None and chosen.cut is not None:
            self.status_ = chosen.cut
        self.objective_ = result["objective"]
        self.loss_ = result["loss"]
        self.null_loss_ = result["null_loss"]
        self._atom_names = result["names"]
        vars(self).pop("chosen_groups_", None)
        if self.groups is not None:
            self.chosen_groups_ = [result["names"][group] for group in result["chosen"]]
        self._raise_if_ended(result)
        self._warn_unless_converged("raise max_iter or tol, or scale the features")

    def _keep_nuisance(self, nuisance: dict[str, Any]) -> None:
        """Keep what a model has besides coefficients."""

    def _keep_model(self, design: Design, size: int, model: Linear, pairs: np.ndarray | None = None) -> None:
        if self.interactions is not None:
            model = self._keep_interactions(model, np.zeros((0, 2), np.int64) if pairs is None else pairs, design.dtype)
        self.n_samples_fit_ = design.shape[0]
        self._keep_features(design.inputs, None if design.names is None else design.names[: design.inputs])
        self.support_size_ = size
        self.support_ = np.flatnonzero(model.rows.any(axis=0))
        self._keep_coefficients(
            Linear(model.coef.astype(design.dtype), model.intercepts.astype(design.dtype), model.thresholds)
        )
        if self.interactions is None:
            for name in ("interactions_", "interaction_coef_", "_interaction_standardized"):
                vars(self).pop(name, None)
        for name in ("means_", "missing_features_", "_loaded"):
            vars(self).pop(name, None)
        if design.filling is not None:
            self.means_, self.missing_features_ = design.filling
        self.status_ = "stopped"

    def _keep_interactions(self, model: Linear, pairs: np.ndarray, dtype: Any) -> Linear:
        """Keep the coefficients of products, and give the others."""
        rows = model.rows
        features = rows.shape[1] - len(pairs)
        beside = rows[:, features:]
        kept = np.flatnonzero(beside.any(axis=0))
        self.interactions_ = pairs[kept]
        beside = beside[:, kept].astype(dtype)
        self.interaction_coef_ = beside if len(beside) > 1 else beside[0]
        return model._replace(coef=rows[:, :features].ravel())

    def _raise_if_ended_early(self, result: dict[str, Any], design: Design, best: Callable[[], tuple]) -> None:
        """Raise what ended a choice from outside, after the best model so far is kept."""
        if result["ended_by"] is not None:
            self._keep_model(design, *best())
            # What is known of an earlier model is not true of this one.
            for name in _KNOWN_AFTER_A_FIT:
                vars(self).pop(name, None)
            self._raise_if_ended(result)

    def _keep_coefficients(self, model: Linear) -> None:
        several = len(model.intercepts) > 1
        self.coef_: np.ndarray = model.rows if several else model.coef
        # A number here, and an array where classes are told apart, as in scikit-learn.
        is_double = model.intercepts.dtype == np.float64
        single = float(model.intercepts[0]) if is_double else model.intercepts[0]
        self.intercept_: Any = model.intercepts if several else single

    def _linear_part(self) -> Linear:
        """The coefficients and the intercepts, in double precision."""
        intercepts = np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        return Linear(np.ravel(self.coef_).astype(np.float64), intercepts)

    def _with_products(self) -> tuple[Linear, list[list[int]]]:
        """The same with the coefficients of products behind the others, and their factors."""
        model = self._linear_part()
        if not hasattr(self, "interactions_"):
            return model, []
        beside = np.atleast_2d(self.interaction_coef_).astype(np.float64)
        coef = np.hstack([model.rows, beside.reshape(len(model.intercepts), -1)])
        return model._replace(coef=coef.ravel()), self.interactions_.tolist()

    # What the kernels are asked for.

    def _target(self, y: Any) -> np.ndarray:
        self._target_name = str(getattr(y, "name", None) or "y")
        return target_of(y, self)

    def _weights(self, sample_weight: Any, rows: int) -> np.ndarray | None:
        return weights_of(sample_weight, rows)

    def _response(self, target: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        """What is predicted, as the kernels take it."""
        raise NotImplementedError

    def _members(self, design: Design) -> tuple[list[list[int]] | None, list[str]]:
        """Groups, where there are some, and what atoms are called; no names stand for ``x0``, ``x1``, ..."""
        if self.groups is None:
            return None, [] if design.names is None else [str(name) for name in design.names]
        names = None if design.names is None else design.names[: design.inputs]
        members, called = groups_of(self.groups, names, design.inputs)
        indicated = () if design.filling is None else design.filling.indicated
        return with_indicators(members, indicated, design.inputs), called

    def _problem(self, design: Design, y: Any, sample_weight: Any) -> dict[str, Any]:
        target = self._target(y)
        response = self._response(target, self._weights(sample_weight, design.shape[0]))
        groups, _ = self._members(design)
        always = features_of(self.always_select, design.names, design.shape[1], "always_select")
        return {
            "response": response,
            "groups": groups,
            "inside": None if self.max_per_group is None else whole_of(self.max_per_group, "max_per_group", 1),
            "interactions": self._heredity(),
            "always": always,
            "bounds": bounds_of(self.bounds, self.positive, design),
            "l2": self._ridges()[0],
            "standardize": bool(self.standardize),
            "fit_intercept": bool(self.fit_intercept),
        }

    def _heredity(self) -> str | None:
        if self.interactions not in (None, "strong", "weak"):
            raise InvalidInputError(f"interactions is {self.interactions!r}; it must be 'strong', 'weak' or None")
        if self.interactions is not None and self.max_per_group is not None:
            raise InvalidInputError("interactions and max_per_group do not go together; leave one of them out")
        return self.interactions

    def _ridges(self) -> list[float]:
        """The ridges to choose from: one, unless rows are held out to choose."""
        if not isinstance(self.l2, numbers.Real):
            what = type(self).__name__
            raise InvalidInputError(f"l2 is {self.l2!r}; {what} takes one number, and {what}CV chooses among several")
        return [float(self.l2)]

    def _work(self, design: Design) -> dict[str, Any]:
        return self._how_to_work(self._members(design)[1])

    def _sizes(self) -> int | list[int] | None:
        """One size, or several to choose from; None for those that the data carry."""
        if self.support_size is None:
            return None
        if isinstance(self.support_size, (str, numbers.Number)):
            return whole_of(self.support_size, "support_size", 0)
        return sizes_of(self.support_size)

    # What a fitted model does.

    def _seen(self, X: Any) -> Design:
        """A matrix as the fit saw its own, with the same in the place of missing values."""
        self._check_fitted()
        design = design_of(X)
        check_same_features(self, design)
        if not hasattr(self, "means_"):
            return design
        if is_on_card(design):
            raise InvalidInputError("this model fills in missing values, which is done on the host; give X as NumPy")
        return Filling(self.means_, self.missing_features_).fill(design)

    def _linear(self, X: Any) -> np.ndarray:
        """The linear predictions, in the precision of the data: a column for each of several outputs."""
        self._check_fitted()
        if hasattr(self, "_loaded"):
            return self._loaded.predict(X)[0]
        design = self._seen(X)
        model, pairs = self._with_products()
        result = run_kernel(_katoms.predict, design, model.coef, model.intercepts.tolist(), pairs)
        result = result.astype(design.dtype, copy=False)
        return result if len(model.intercepts) == 1 else result.reshape(len(model.intercepts), -1).T

    def coef(self, support_size: int | None = None) -> np.ndarray:
        """The coefficients of features of a size that was tried (with the chosen ridge); without a size, of the chosen model.

        Parameters
        ----------
        support_size : int, optional
            One of the sizes that the estimator was fitted with.

        Returns
        -------
        ndarray, shaped as ``coef_``
        """
        self._check_fitted()
        if support_size is None or support_size == self.support_size_:
            return self.coef_
        found = self._coef_of(support_size).reshape(len(np.atleast_1d(self.intercept_)), -1)
        return found[:, : self.coef_.shape[-1]].reshape(self.coef_.shape)

    def _coef_of(self, support_size: int) -> np.ndarray:
        raise NotImplementedError

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which features are in the model: a mask, or their indices."""
        self._check_fitted()
        if indices:
            return self.support_
        mask = np.zeros(self.coef_.shape[-1], dtype=bool)
        mask[self.support_] = True
        return mask

    def transform(self, X: Any):
        """The columns of X that are in the model."""
        self._check_fitted()
        if hasattr(self, "_loaded"):
            return as_given(self._framed(self._loaded.predict(X)[1], X), X)
        if lives_on_dask(X):
            # Nothing is read: chosen columns of a collection are one as well.
            return (X.iloc if hasattr(X, "iloc") else X)[:, self.support_]
        design = self._seen(X)
        if hasattr(design.matrix, "ask"):
            raise InvalidInputError("these columns live with workers; take them from what the blocks were made of")
        run_kernel(_katoms.check, design)
        if lives_on_card(X):
            return self._framed(X[:, self.support_], X)
        if isinstance(X, Genotypes):
            return self._framed(X[:, self.support_], X)
        if isinstance(design.matrix, tuple):
            return columns_of(design, X, self.support_)
        return self._framed(design.matrix[:, self.support_], X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **parameters: Any):
        """Fit, and give the columns of X that are in the model; all but X goes to :meth:`fit`."""
        return self.fit(X, y, sample_weight, **parameters).transform(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """A matrix with these columns in their places, and zeros elsewhere."""
        self._check_fitted()
        columns = X.toarray() if is_sparse(X) else np.asarray(on_host(X))
        if columns.ndim != 2 or columns.shape[1] != len(self.support_):
            raise InvalidInputError(f"X must have the {len(self.support_)} columns that transform gives")
        if self.coef_.shape[-1] < self.n_features_in_ or hasattr(self, "_loaded"):
            raise InvalidInputError("a model that was loaded knows only the columns that it uses")
        full = np.zeros((columns.shape[0], self.coef_.shape[-1]), dtype=columns.dtype)
        full[:, self.support_] = columns
        # Indicators of missing values are no columns of X.
        full = full[:, : self.n_features_in_]
        return as_given(full, X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features in the model."""
        self._check_fitted()
        names = None if hasattr(self, "_loaded") else feature_names_out(self, input_features)
        return coefficient_names(self, names)[self.support_]

    def save(self, path: Any) -> None:
        """Write the model to a file, for :func:`katoms.load` and for the program: ``katoms predict model.json new.csv``.

        Parameters
        ----------
        path : str or path
            The file, such as ``"model.json"``. It appears whole or not at all.
        """
        self._check_fitted()
        save(self, path)
