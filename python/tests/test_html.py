"""The card of a model in a notebook."""

import re
import warnings
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas
import pytest

import katoms

HOSTILE = "<script>alert('x')</script> & \"quoted\" </td>"


@pytest.fixture(scope="module")
def frame():
    """y depends on two of thirty features; one of them has a hostile name."""
    rng = np.random.default_rng(1)
    X = pandas.DataFrame(rng.normal(size=(120, 30)), columns=[f"x{j}" for j in range(30)])
    y = 2 * X["x3"] - 3 * X["x11"] + 4 + 0.1 * rng.normal(size=120)
    return X.rename(columns={"x3": HOSTILE}), y


class Reader(HTMLParser):
    """Rows of tables, and whether every tag that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        elif "style" not in self.open:
            self.text.append(data)


def test_an_unfitted_estimator_is_its_repr():
    model = katoms.SparseRegressor(3, always_select=["<b>"])
    assert model._repr_html_().startswith("<pre>")
    assert unescape(model._repr_html_()) == f"<pre>{model!r}</pre>"
    assert "<b>" not in model._repr_html_()


def test_the_card_has_the_coefficients_and_the_facts(frame):
    X, y = frame
    model = katoms.SparseRegressor(2).fit(X, y)
    read = Reader(model._repr_html_())
    assert not read.open
    rows = {row[0]: row[1:] for row in read.rows}
    assert list(rows)[1:] == ["x11", HOSTILE, "intercept"]
    for name in ("x11", HOSTILE):
        at = list(X.columns).index(name)
        told = [float(cell.replace("−", "-")) for cell in rows[name][:2]]
        assert told == pytest.approx([model.coef_[at], model.standardized_coef_[at]], rel=1e-3)
    assert float(rows["intercept"][0]) == pytest.approx(model.intercept_, rel=1e-3)
    said = " ".join(read.text)
    explained = 100 * (1 - model.loss_ / model.null_loss_)
    for fact in (
        "SparseRegressor(support_size=2)",
        "120 rows × 30 columns",
        "k = 2: 2 features",
        f"{explained:.1f} % explained",
        "converged",
        *model.quality_.sentences,
    ):
        assert fact in said
    assert "not converged" not in said
    assert re.search(rf"\b{model.n_passes_} pass(es)?\b", said)
    assert re.search(rf"\b{model.n_iter_} iterations?\b", said)


def test_bars_are_as_long_as_effects(frame):
    model = katoms.SparseRegressor(2).fit(*frame)
    bar = r'<span( class="katoms-negative")? style="margin-left:([\d.]+)%;width:([\d.]+)%"'
    bars = re.findall(bar, model._repr_html_())
    effects = sorted(model.standardized_coef_[model.support_], key=lambda v: -abs(v))
    for (negative, start, width), effect in zip(bars, effects, strict=True):
        assert bool(negative) == (effect < 0)
        assert float(width) == pytest.approx(50 * abs(effect / effects[0]), abs=0.1)
        assert float(start) == pytest.approx(50 - float(width) if negative else 50, abs=0.1)


def test_names_are_escaped_everywhere(frame):
    X, y = frame
    model = katoms.SparseRegressor(1, groups={"<img src=x>": [HOSTILE, "x11"], "b": ["x0"]}).fit(X, y)
    card = model._repr_html_()
    assert "<script" not in card and "<img" not in card
    read = Reader(card)
    assert not read.open
    assert "1 group (<img src=x>)" in " ".join(read.text)


def test_a_name_in_the_sentences_of_quality_is_escaped(frame):
    X, y = frame
    twin = X.assign(**{"<i>twin": X[HOSTILE] + 1e-4 * X["x0"]})
    model = katoms.SparseRegressor(2).fit(twin, y)
    assert any("<" in sentence for sentence in model.quality_.sentences)
    assert "<i>" not in model._repr_html_() and "<script" not in model._repr_html_()


def test_not_converging_is_told(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", katoms.ConvergenceWarning)
        model = katoms.SparseRegressor(2, max_iter=1, method="iht").fit(*frame)
    assert model.status_ != "converged"
    assert f"not converged: {model.status_}" in model._repr_html_()


def test_many_coefficients_are_cut_and_counted(frame):
    read = Reader(katoms.SparseRegressor(27).fit(*frame)._repr_html_())
    assert len(read.rows) == 1 + 20 + 2
    assert read.rows[-2][0] == "and 7 more"


def test_validations_and_classifiers_have_cards(frame):
    X, y = frame
    validated = katoms.SparseRegressorCV([1, 2, 3]).fit(X, y)
    card = validated._repr_html_()
    assert f"held out: k_min_ = {validated.k_min_}, k_1se_ = {validated.k_1se_}" in card
    classifier = katoms.SparseClassifier(1).fit(X, y > 4)
    read = Reader(classifier._repr_html_())
    assert float(read.rows[-1][1].replace("−", "-")) == pytest.approx(classifier.intercept_[0], rel=1e-3)


@pytest.mark.skipif(not hasattr(katoms, "SparseRecovery"), reason="this build recovers no signals")
def test_a_signal_has_a_card():
    A = np.random.default_rng(2).normal(size=(30, 60))
    model = katoms.SparseRecovery(2).fit(A, 2 * A[:, 5] - A[:, 40])
    read = Reader(model._repr_html_())
    assert not read.open
    assert [row[:2] for row in read.rows[1:]] == [["x5", "2.000"], ["x40", "−1.000"]]


@pytest.mark.skipif(not hasattr(katoms, "MatrixCompletion"), reason="this build completes no matrices")
def test_a_completed_matrix_has_a_card():
    X = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 7.0))
    X[2, 3] = np.nan
    model = katoms.MatrixCompletion(rank=1, l2=0.0, centring="none").fit(X)
    read = Reader(model._repr_html_())
    said = " ".join(read.text)
    assert not read.open and not read.rows
    assert "8 rows × 6 columns" in said and "rank 1" in said and f"RMSE on what was seen {model.rmse_:.4g}" in said


def test_a_refused_fit_leaves_no_card(frame):
    model = katoms.SparseRegressor(2)
    with pytest.raises(ValueError):
        model.fit(frame[0], np.full(120, np.nan))
    assert model._repr_html_().startswith("<pre>")


def test_a_long_list_of_groups_is_cut(frame):
    model = katoms.SparseRegressor(1, groups=[[j] for j in range(30)] + [[0, j] for j in range(1, 30)]).fit(*frame)
    said = " ".join(Reader(model._repr_html_()).text)
    assert "…" in said and repr(model) not in said


def test_the_diagram_of_a_pipeline_shows_the_estimator(frame):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import estimator_html_repr

    pipe = make_pipeline(StandardScaler(), katoms.SparseRegressor(2))
    assert "SparseRegressor" in estimator_html_repr(pipe)
    pipe.fit(*frame)
    assert "SparseRegressor" in estimator_html_repr(pipe) and "SparseRegressor" in pipe._repr_html_()
    assert "<script>alert" not in estimator_html_repr(pipe)
    assert "SparseRegressor" in estimator_html_repr(pipe[-1])
