"""A fitted model as a card in a notebook.

The card brings its own style, and takes text colour and background from the notebook, so that it reads well on light
and on dark ones. Everything that is not ours is escaped.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from katoms._names import names_of_all, of_all_outputs, output_names

#: The most coefficients in a card.
MOST = 20
#: The most letters of the parameters: an array of groups may be long.
LONGEST = 200

STYLE = """
.katoms-card { display: inline-block; max-width: 46em; padding: .7em 1em .8em; border-radius: 6px; line-height: 1.45;
  border: 1px solid color-mix(in srgb, currentColor 25%, transparent); font-family: system-ui, sans-serif;
  font-size: 13px; color: inherit; background: transparent; }
.katoms-card .katoms-title { font-weight: 600; font-size: 1.1em; }
.katoms-card .katoms-repr { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; opacity: .75;
  overflow-wrap: anywhere; }
.katoms-card .katoms-status { float: right; margin-left: 1.5em; }
.katoms-card .katoms-warning { font-weight: 600; color: #d55e00; }
.katoms-card .katoms-facts { margin: .5em 0; opacity: .85; }
.katoms-card .katoms-facts span { display: inline-block; margin-right: 1.4em; }
.katoms-card table { border-collapse: collapse; margin: .4em 0; color: inherit; font-size: 1em; }
.katoms-card tr { background: transparent; }
.katoms-card th, .katoms-card td { padding: 2px 14px 2px 0; text-align: right; color: inherit; background: transparent;
  border: 0; border-bottom: 1px solid color-mix(in srgb, currentColor 12%, transparent);
  font-variant-numeric: tabular-nums; }
.katoms-card th { font-weight: 600; vertical-align: bottom; white-space: nowrap; opacity: .7; }
.katoms-card th:first-child, .katoms-card td:first-child { text-align: left; max-width: 24em; white-space: normal;
  overflow-wrap: anywhere; }
.katoms-card .katoms-bar { width: 130px; padding-right: 0; }
.katoms-card .katoms-bar span { display: block; height: .75em; border-radius: 1px; background: #1f86c4; }
.katoms-card .katoms-bar span.katoms-negative { background: #d55e00; }
.katoms-card ul { margin: .5em 0 0; padding-left: 1.2em; }
"""


def unfitted(model: Any) -> str:
    """An estimator without a model: its parameters."""
    return f"<pre>{escape(repr(model))}</pre>"


def card(model: Any) -> str:
    """A fitted model: how the fit ended, its size, how well it fits, its coefficients, how good it is."""
    quality, said = getattr(model, "quality_", None), repr(model)
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
    sentences = [] if quality is None else quality.sentences
    sentences = [*sentences, *getattr(model, "_notes", [])]
    parts = [
        f"<style>{STYLE}</style>",
        '<div class="katoms-card">',
        _status(model),
        f'<div class="katoms-title">{escape(type(model).__name__)}</div>',
        f'<div class="katoms-repr">{escape(said)}</div>',
        '<div class="katoms-facts">' + " ".join(f"<span>{escape(fact)}</span>" for fact in _facts(model)) + "</div>",
        _table(model) if hasattr(model, "support_") else "",
        "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>" if sentences else "",
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _status(model: Any) -> str:
    status = str(getattr(model, "status_", ""))
    if status in ("", "converged"):
        return f'<div class="katoms-status">{escape(status)}</div>'
    said = "separation" if status == "separated" else f"not converged: {status}"
    return f'<div class="katoms-status katoms-warning">{escape(said)}</div>'


_MEASURES = (
    ("rmse_", "RMSE on what was seen"),
    ("held_out_rmse_", "RMSE on what was held out"),
    ("relative_residual_", "relative residual"),
)


def _facts(model: Any) -> list[str]:
    """What there is to say in a few words each; only what the model knows."""
    facts = [_shape(model), _size(model)]
    loss, null_loss = getattr(model, "loss_", None), getattr(model, "null_loss_", None)
    if loss is not None and null_loss:
        facts.append(f"{100 * (1 - loss / null_loss):.1f} % explained")
    for attribute, what in _MEASURES:
        if getattr(model, attribute, None) is not None:
            facts.append(f"{what} {getattr(model, attribute):.4g}")
    if hasattr(model, "support_sizes_"):
        sizes = zip(output_names(model), model.support_sizes_)
        facts.append("k: " + ", ".join(f"{name} {size}" for name, size in sizes))
    for least, within in (("k_min_", "k_1se_"), ("rank_min_", "rank_1se_")):
        if np.ndim(getattr(model, least, [])) == 0:
            facts.append(f"held out: {least} = {getattr(model, least)}, {within} = {getattr(model, within)}")
    if getattr(model, "l2_", 0):
        facts.append(f"l2 = {model.l2_:g}")
    for attribute, what in (("n_iter_", "iteration"), ("n_passes_", "pass")):
        if hasattr(model, attribute):
            facts.append(_counted(getattr(model, attribute), what))
    return [fact for fact in facts if fact]


def _shape(model: Any) -> str:
    columns, rows = model.n_features_in_, getattr(model, "n_samples_fit_", None)
    if hasattr(model, "factors_"):
        rows = len(model.factors_[0])
    return _counted(columns, "column") if rows is None else f"{rows} rows × {columns} columns"


def _size(model: Any) -> str:
    if hasattr(model, "rank_"):
        return f"rank {model.rank_}"
    if not hasattr(model, "support_"):
        return ""
    features = _counted(len(model.support_), "feature")
    if getattr(model, "groups", None) is None:
        return f"k = {model.support_size_}: {features}" if hasattr(model, "support_size_") else features
    named = ", ".join(model.chosen_groups_[:5]) + (", …" if len(model.chosen_groups_) > 5 else "")
    return f"k = {model.support_size_}: {features} of {_counted(len(model.chosen_groups_), 'group')} ({named})"


def _counted(count: int, what: str) -> str:
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"


def _table(model: Any) -> str:
    coef, standardized = np.ravel(model.coef_), getattr(model, "standardized_coef_", None)
    effects = coef if standardized is None else np.ravel(standardized)
    order = sorted(of_all_outputs(model, model.support_), key=lambda j: (-abs(effects[j]), j))
    if hasattr(model, "support_sizes_"):
        order = [j for j in order if coef[j] != 0]
    names, outputs = names_of_all(model), output_names(model)
    longest = max((abs(effects[j]) for j in order), default=0.0)
    columns = [coef] if standardized is None else [coef, effects]
    rows = [_row(str(names[j]), [column[j] for column in columns], effects[j], longest) for j in order[:MOST]]
    empty = "<td></td>" * len(columns)
    if len(order) > MOST:
        rows.append(f"<tr><td>and {len(order) - MOST} more</td>{empty}<td></td></tr>")
    if getattr(model, "fit_intercept", False):
        called = [f"intercept → {escape(output)}" for output in outputs] or ["intercept"]
        for name, value in zip(called, np.ravel(model.intercept_)):
            rows.append(f"<tr><td>{name}</td><td>{_number(value)}</td>{empty}</tr>")
    heads = ["feature", "coefficient", "per standard<br>deviation"][: 1 + len(columns)] + [""]
    head = "".join(f"<th>{each}</th>" for each in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(name: str, numbers: list[float], effect: float, longest: float) -> str:
    share = 50 * abs(effect) / longest if longest > 0 else 0.0
    start, kind = (50 - share, ' class="katoms-negative"') if effect < 0 else (50, "")
    bar = f'<span{kind} style="margin-left:{start:.1f}%;width:{share:.1f}%"></span>'
    cells = "".join(f"<td>{_number(number)}</td>" for number in numbers)
    return f'<tr><td>{escape(name)}</td>{cells}<td class="katoms-bar">{bar}</td></tr>'


def _number(value: float) -> str:
    return f"{value:#.4g}".rstrip(".").replace("-", "−")
