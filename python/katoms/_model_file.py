"""Models as files: the program's own, so that each reads what the other has written."""

from __future__ import annotations

import json
import math
import os
import warnings
from typing import Any

import numpy as np

from katoms import _katoms
from katoms._columns import is_frame, is_missing, not_finite, numbers_in
from katoms._data import check_shape, design_of, is_sparse
from katoms._design import MISSING_LEVEL, Design, Linear
from katoms._names import names_or_numbers
from katoms.exceptions import InvalidInputError

#: The version of the file that is read whatever it holds; a newer one is written where it takes one.
SCHEMA = 1

#: What the labels of classes are, by the kind of their array.
_KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "float"}


def save(model: Any, path: Any) -> None:
    """Write a fitted model."""
    if not hasattr(model, "_loaded") and not hasattr(model, "objective_"):
        raise InvalidInputError(
            "this fit was broken off, and nothing is known of its model; fit it again before it is saved"
        )
    text = model._loaded.text if hasattr(model, "_loaded") else json.dumps(_fields(model)).encode()
    _katoms.save_model(os.fspath(path), text)


def _fields(model: Any) -> dict[str, Any]:
    linear = model._linear_part()
    features = [_feature(model, j) for j in model.support_.tolist()]
    rows, standardized, means = linear.rows, np.atleast_2d(model.standardized_coef_), _means(model)
    return {
        "schema": SCHEMA,
        "katoms": _katoms.__version__,
        "command": f"Python: {model!r}",
        "loss": _loss(model),
        "k": int(model.support_size_),
        "k_each": [int(size) for size in getattr(model, "support_sizes_", ()) if len(rows) > 1],
        "target": _target(model),
        "intercept": float(linear.intercepts[0]),
        "intercepts": _several(linear.intercepts),
        "coefficients": [
            {
                **feature,
                "value": float(rows[0, j]),
                "standardized": float(standardized[0, j]),
                "mean": means(j),
                "values": _several(rows[:, j]),
                "standardized_values": _several(standardized[:, j]),
            }
            for j, feature in zip(model.support_.tolist(), features)
        ]
        + _products(model, means),
        "parameters": _parameters(model),
        "thresholds": getattr(model, "thresholds_", np.empty(0)).tolist(),
        **_baseline(model),
        "atoms": getattr(model, "chosen_groups_", None)
        or [feature["name"] for feature in features] + [one["name"] for one in _products(model, means)],
        "levels": {},
        "unnamed_columns": None if hasattr(model, "feature_names_in_") else int(model.n_features_in_),
        "standardize": bool(model.standardize),
        "ridge": float(getattr(model, "l2_", model._ridges()[0])),
        "missing": "mean" if hasattr(model, "means_") else "refuse",
        "method": getattr(model, "method", None) or "search",
        "status": model.status_,
        "objective": float(model.objective_),
        "quality": _quality(model),
        # A checksum would take the data, which nobody keeps.
        "data": {"rows": int(model.n_samples_fit_), "columns": rows.shape[1], "checksum": ""},
    }


def _products(model: Any, means: Any) -> list[dict[str, Any]]:
    """The coefficients of products of two features."""
    if not hasattr(model, "interactions_"):
        return []
    values = np.atleast_2d(model.interaction_coef_)
    found = []
    for at, (i, j) in enumerate(model.interactions_.tolist()):
        factors, standardized = [_feature(model, i), _feature(model, j)], model._interaction_standardized[:, at]
        name = ":".join(factor["name"] for factor in factors)
        found.append(
            {
                "name": name,
                "column": name,
                "level": None,
                "factors": factors,
                "value": float(values[0, at]),
                "standardized": float(standardized[0]),
                "mean": None,
                "factor_means": [] if means(i) is None else [means(i), means(j)],
                "values": _several(values[:, at]),
                "standardized_values": _several(standardized),
            }
        )
    return found


def _several(values: np.ndarray) -> list[float]:
    """Numbers of several outputs; of one none, since they are elsewhere."""
    return [float(value) for value in values] if len(values) > 1 else []


def _loss(model: Any) -> str:
    if hasattr(model, "_baseline"):
        return "cox"
    if hasattr(model, "thresholds_"):
        return "ordinal"
    if hasattr(model, "classes_"):
        return "logistic" if len(model.classes_) == 2 else "multinomial"
    if not isinstance(model.loss, str):
        raise InvalidInputError(
            "a model with a loss of your own is not saved: a file has no place for its code; pickle the model"
        )
    return {"squared_error": "squares"}.get(model.loss, model.loss).replace("_", "-")


def _parameters(model: Any) -> dict[str, Any]:
    """What the loss has besides; of a fitted model, as it was found."""
    if hasattr(model, "_baseline"):
        return {"ties": model.ties}
    found = {name: getattr(model, f"{name}_", None) for name in ("smoothing", "delta", "dispersion")}
    quantile = model.quantile if getattr(model, "loss", None) == "quantile" else None
    given = {"quantile": quantile, **found}
    return {name: float(value) for name, value in given.items() if value is not None}


def _baseline(model: Any) -> dict[str, Any]:
    """The hazards of a model of survival, stratum by stratum."""
    if not hasattr(model, "_baseline"):
        return {}
    strata = getattr(model, "strata_", None)
    names = [None if strata is None else _label(strata.tolist()[at]) for at in model._baseline_strata]
    steps = [
        {"stratum": name, "times": times.tolist(), "hazards": hazards.tolist()}
        for name, (times, hazards) in zip(names, model._baseline)
    ]
    return {"baseline": steps, "stratum_type": None if strata is None else _KINDS.get(strata.dtype.kind, "text")}


def _feature(model: Any, j: int) -> dict[str, Any]:
    """What the file says of a feature. Columns without names are called x1, x2, ... there."""
    count = model.n_features_in_
    names = getattr(model, "feature_names_in_", None)
    column = int(j if j < count else model.missing_features_[j - count])
    name = f"x{column + 1}" if names is None else str(names[column])
    if j < count:
        return {"name": name, "column": name, "level": None}
    return {"name": f"{name} {MISSING_LEVEL}", "column": name, "level": MISSING_LEVEL}


def _means(model: Any):
    if not hasattr(model, "means_"):
        return lambda j: None
    # An indicator is never missing itself.
    return lambda j: float(model.means_[j]) if j < model.n_features_in_ else 0.0


def _target(model: Any) -> dict[str, Any]:
    # A target that was made of a column may have its name; the program would score against the column.
    taken = set(getattr(model, "feature_names_in_", ()))
    name = next((name for name in (getattr(model, "_target_name", "y"), "y") if name not in taken), "(target)")
    responses = list(getattr(model, "_response_names", ()))
    if responses and taken.isdisjoint(responses):
        together = ", ".join(responses) if len(responses) <= 4 else f"{len(responses)} responses"
        return {"name": together, "classes": None, "responses": responses}
    if not hasattr(model, "classes_"):
        return {"name": name, "classes": None}
    kind = _KINDS.get(model.classes_.dtype.kind, "text")
    names = [_label(label) for label in getattr(model, "grades_", model.classes_).tolist()]
    return {"name": name, "classes": names, "class_type": kind}


def _label(label: Any) -> str:
    """A class as text: whole numbers without a point, as the program writes them."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _quality(model: Any) -> dict[str, Any] | None:
    quality = model.quality_
    if quality is None:
        return None
    names = model._atom_names
    are_places = model.groups is None and not hasattr(model, "feature_names_in_")

    def called(atom: int) -> str:
        if not are_places or not names:
            return names[atom] if names else f"x{atom + 1}"
        # Products are called by their factors, whose places count from 1 in the file.
        return ":".join(f"x{int(factor[1:]) + 1}" for factor in names[atom].split(":"))

    rivals = [{"inside": called(i), "outside": called(j), "rise": rise} for i, j, rise in quality.near_ties]
    return {
        "stationarity": quality.stationarity if math.isfinite(quality.stationarity) else None,
        "exchanges_compared": quality.exchanges_compared,
        "exhaustive": quality.exhaustive,
        "improvable": quality.exchange_gain > 0,
        "rivals": rivals,
        "proven": quality.proven,
        "gap": quality.gap,
    }


class Loaded:
    """What a model file says, and the columns that it asks for."""

    def __init__(self, path: str, text: bytes):
        self.file = _katoms.ModelFile(path, text)
        self.text = text
        self.fields: dict[str, Any] = json.loads(text)
        self.coefficients: list[dict[str, Any]] = self.fields["coefficients"]
        parts = [part for one in self.coefficients for part in one.get("factors") or [one]]
        self.columns = list(dict.fromkeys(part["column"] for part in parts))
        target, had = self.fields["target"], self.fields["unnamed_columns"]
        places = [_place(name) for name in target.get("responses") or [target["name"]]]
        #: Where columns have no names: the places of the targets among them, and how many there are without these.
        self.target_places = [place for place in places if had is not None and place is not None and place < had]
        self.unnamed = None if had is None else had - len(self.target_places)
        #: The constant of each output.
        self.intercepts = np.array(self.fields.get("intercepts") or [self.fields["intercept"]])
        #: Whether coefficients are those of all columns of X: places are known, and what is not in the model is 0.
        plain = all(one["level"] is None and not one.get("factors") for one in self.coefficients)
        self.by_place = had is not None and plain

    @property
    def names(self) -> np.ndarray:
        """What each coefficient is called: places count from 0 here, and from 1 in the file."""
        if self.unnamed is None:
            return np.array([one["name"] for one in self.coefficients], dtype=object)
        if self.by_place:
            return names_or_numbers(None, self.unnamed)
        called = [f"x{self.place(one['column'])}{one['name'][len(one['column']) :]}" for one in self.coefficients]
        return np.array(called, dtype=object)

    def place(self, column: str) -> int:
        """The place in X of a column without a name."""
        place = _place(column) or 0
        return place - sum(target < place for target in self.target_places)

    def predict(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The linear predictions, and the columns of the model."""
        rows, given, dtype = self._picked(X)
        predicted, design, notes = self.file.predict(given, rows)
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=5)
        if len(self.intercepts) > 1:
            predicted = predicted.reshape(len(self.intercepts), -1).T
        return predicted.astype(dtype, copy=False), design.T.astype(dtype, copy=False)

    def _picked(self, X: Any) -> tuple[int, list[tuple[str, Any]], Any]:
        """The number of rows, the columns that the model needs, and the precision of the answer."""
        if self.unnamed is None:
            if not is_frame(X):
                some = ", ".join(self.columns[:5]) + (", ..." if len(self.columns) > 5 else "")
                raise InvalidInputError(
                    f"the model finds its columns by name ({some}); give a frame of pandas or polars"
                )
            absent = [name for name in self.columns if name not in X.columns]
            if absent:
                raise InvalidInputError(f"X lacks {', '.join(map(repr, absent))}, which the model needs")
            check_shape(X.shape)
            given = [(name, self._values(name, X[name].to_numpy())) for name in self.columns]
            self._check_missing(X.shape[0], given)
            return X.shape[0], given, np.float64
        return self._by_place(X)

    def _by_place(self, X: Any) -> tuple[int, list[tuple[str, Any]], Any]:
        if is_frame(X):
            values, dtype = X.to_numpy(), np.float64
        else:
            design = design_of(X)
            values, dtype = X.tocsc() if is_sparse(X) else design.matrix, design.dtype
        if values.shape[1] != self.unnamed:
            raise InvalidInputError(
                f"X has {values.shape[1]} features, but the model is expecting {self.unnamed} features as input."
            )

        def column(name: str) -> np.ndarray:
            if isinstance(values, _katoms.OnCard):
                return values.column(self.place(name))
            picked = values[:, [self.place(name)]]
            return (picked.toarray() if is_sparse(picked) else picked)[:, 0]

        given = [(name, self._values(name, column(name))) for name in self.columns]
        self._check_missing(values.shape[0], given)
        return values.shape[0], given, dtype

    def _values(self, name: str, column: np.ndarray) -> Any:
        """Numbers, or words where the model has categories or the column holds no numbers."""
        numbers = None if column.dtype.kind == "b" and name in self.fields["levels"] else numbers_in(column)
        if numbers is None or (name in self.fields["levels"] and column.dtype.kind not in "iuf"):
            return [None if is_missing(value) else str(value) for value in column.tolist()]
        return np.ascontiguousarray(numbers)

    def _check_missing(self, rows: int, given: list[tuple[str, Any]]) -> None:
        """Whether anything is missing that the model has nothing for."""
        if self.fields["missing"] == "mean":
            return
        found = [(name, values) for name, values in given if isinstance(values, np.ndarray)]
        if found and not np.isfinite(matrix := np.column_stack([values for _, values in found])).all():
            names = None if self.unnamed is not None else np.array([name for name, _ in found], dtype=object)
            raise InvalidInputError(not_finite(Design(matrix, matrix.shape, names)))


def _place(name: str) -> int | None:
    """The place of a column that is called by it: 6 for x7."""
    return int(name[1:]) - 1 if name[:1] == "x" and name[1:].isdigit() and int(name[1:]) > 0 else None


def _labels(names: list[str], kind: str | None) -> np.ndarray:
    """The labels of classes or strata, as what they are; where the file does not say, as pandas would read them."""
    if kind is None:
        kinds = ("integer", "float", "bool")
        kind = next((kind for kind in kinds if all(_reads(name, kind) is not None for name in names)), "text")
    dtype = {"integer": np.int64, "float": np.float64, "bool": np.bool_}.get(kind, object)
    labels = [name if kind == "text" else _reads(name, kind) for name in names]
    return np.array(labels, dtype=dtype) if kind != "text" else np.array(labels)


def _reads(name: str, kind: str) -> Any:
    """A label as this kind; None where it is none."""
    if kind == "bool":
        return {"true": True, "false": False}.get(name.lower())
    try:
        return int(name) if kind == "integer" else float(name)
    except ValueError:
        return None


def classes_of(loaded: Loaded) -> np.ndarray:
    """The classes that a model tells apart."""
    target = loaded.fields["target"]
    return _labels(target["classes"], target.get("class_type"))


def restore(model: Any, loaded: Loaded) -> Any:
    """Give an estimator the model of a file."""
    fields, outputs = loaded.fields, len(loaded.intercepts)
    count, support = len(loaded.names), np.arange(len(loaded.coefficients))
    if loaded.by_place:
        support = np.array([loaded.place(one["column"]) for one in loaded.coefficients], dtype=np.int64)
    coef, standardized = np.zeros((outputs, count)), np.zeros((outputs, count))
    for j, one in zip(support, loaded.coefficients):
        coef[:, j] = one.get("values") or one["value"]
        standardized[:, j] = one.get("standardized_values") or one["standardized"]
    model.n_features_in_ = len(loaded.columns) if loaded.unnamed is None else loaded.unnamed
    if loaded.unnamed is None:
        model.feature_names_in_ = np.array(loaded.columns, dtype=object)
    model.n_samples_fit_ = fields["data"]["rows"]
    model.support_size_, model.support_ = fields["k"], support
    if fields["target"]["classes"] is not None:
        model._classes_to_be = classes_of(loaded)
    thresholds = np.array(fields["thresholds"]) if "thresholds" in fields else None
    model._keep_coefficients(Linear(coef.ravel(), loaded.intercepts, thresholds))
    if fields["loss"] == "cox":
        _restore_baseline(model, fields)
    else:
        model._keep_nuisance(fields.get("parameters", {}))
    model.standardized_coef_ = standardized if outputs > 1 else standardized[0]
    model.objective_, model.status_ = fields["objective"], fields["status"]
    model.chosen_groups_ = fields["atoms"]
    model._target_name = fields["target"]["name"]
    model._response_names = fields["target"].get("responses", [])
    if fields.get("k_each"):
        model.support_sizes_ = np.array(fields["k_each"], dtype=np.int64)
    model._loaded = loaded
    return model


def _restore_baseline(model: Any, fields: dict[str, Any]) -> None:
    """Give a model of survival its hazards. Of strata without an event nothing is known, and nothing is kept."""
    steps: list[dict[str, Any]] = fields["baseline"]
    places: Any = [None]
    if steps[0]["stratum"] is not None:
        labels = _labels([one["stratum"] for one in steps], fields.get("stratum_type"))
        model.strata_, places = np.unique(labels, return_inverse=True)
    made = [(place, np.array(one["times"]), np.array(one["hazards"])) for place, one in zip(places, steps)]
    model._keep_nuisance({"baseline": made})
