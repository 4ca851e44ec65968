"""Plots: what is drawn are the numbers of the model."""

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
from matplotlib.colors import to_hex

import katoms
from katoms import _drawing as drawing

NAMES = [f"systolic blood pressure, averaged over all visits of year {j}" for j in range(50)]
PLANTED = [1, 4, 9, 16, 25, 30, 36, 49]


@pytest.fixture(scope="module")
def frame():
    """y depends on eight of fifty features of different scale."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 50)) * rng.uniform(0.5, 3, 50)
    effects = np.array([3, -2.5, 2, -2, 1.5, 1.2, -1, 0.9])
    y = X[:, PLANTED] @ (effects / X[:, PLANTED].std(axis=0)) + 0.5 * rng.normal(size=200)
    return pandas.DataFrame(X, columns=NAMES), y


@pytest.fixture(scope="module")
def model(frame):
    return katoms.SparseRegressor(range(1, 16)).fit(*frame)


@pytest.fixture(scope="module")
def validated(frame):
    return katoms.SparseRegressorCV(range(1, 13), l2=[0.0, 1.0, 50.0], cv=4).fit(*frame)


@pytest.fixture(scope="module")
def grouped(frame):
    return katoms.SparseRegressor(3, groups=np.arange(50) // 5, always_select=[NAMES[0]]).fit(*frame)


@pytest.fixture(autouse=True)
def figures_are_closed_and_settings_unchanged():
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    plt.close("all")


def texts(ax):
    """Everything that is written on the axes, apart from ticks."""
    return [text.get_text() for text in ax.texts]


def extent(annotation):
    """Where the words of an annotation stand, without the line that leads to them."""
    return matplotlib.text.Text.get_window_extent(annotation)


def lines(ax):
    """The lines of features, by name."""
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


# Paths.


def test_a_path_is_drawn_with_its_coefficients(model):
    ax = katoms.plot_path(model)
    drawn = lines(ax)
    ever = np.flatnonzero((model.path_.coefs.toarray() != 0).any(axis=0))
    assert set(drawn) == {NAMES[j] for j in ever}
    for feature in ever:
        x, y = drawn[NAMES[feature]].get_data()
        coefs = model.path_.standardized_coefs.toarray()[:, feature]
        assert x.tolist() == model.path_.support_sizes.tolist()
        assert np.array_equal(y[coefs != 0], coefs[coefs != 0])
        assert np.isin(y[coefs == 0], [0.0]).sum() + np.isnan(y[coefs == 0]).sum() == (coefs == 0).sum()


def test_only_features_of_the_chosen_model_are_coloured_and_named(model):
    ax = katoms.plot_path(model)
    coloured = {name for name, line in lines(ax).items() if to_hex(line.get_color()) == drawing.ACCENT}
    assert model.support_.tolist() == PLANTED
    assert coloured == {NAMES[j] for j in PLANTED}
    assert {drawing.shortened(name) for name in coloured} < set(texts(ax))
    assert "8: chosen by EBIC" in texts(ax)
    assert 8 in [line.get_xdata()[0] for line in ax.get_lines() if len(set(line.get_xdata())) == 1]


def test_a_bare_path_and_another_criterion(model):
    ax = katoms.plot_path(model.path_, ic_type="AIC")
    best = model.path_.best("aic")
    assert f"{best}: chosen by AIC" in texts(ax)
    coloured = [name for name, line in lines(ax).items() if to_hex(line.get_color()) == drawing.ACCENT]
    assert len(coloured) == best
    assert ax.get_xlabel() == "support size"


def test_a_path_of_a_validation_has_the_chosen_ridge(validated):
    ax = katoms.plot_path(validated)
    rows = validated.cv_results_["l2"] == validated.l2_
    strongest = int(np.argmax(np.abs(validated.standardized_coef_)))
    x, y = lines(ax)[NAMES[strongest]].get_data()
    expected = validated.cv_results_["coef"][rows].toarray()[:, strongest]
    assert np.array_equal(y[expected != 0], expected[expected != 0])
    assert f"{validated.support_size_}: chosen by cross-validation" in texts(ax)
    with pytest.raises(ValueError, match="cross-validation chose the size"):
        katoms.plot_path(validated, ic_type="bic")


def test_a_path_of_groups_counts_groups(frame):
    model = katoms.SparseRegressor(range(1, 5), groups=np.arange(50) // 5).fit(*frame)
    ax = katoms.plot_path(model)
    assert ax.get_xlabel() == "number of groups"
    coloured = {name for name, line in lines(ax).items() if to_hex(line.get_color()) == drawing.ACCENT}
    assert coloured == {NAMES[j] for j in model.support_}


def test_labels_of_a_path_do_not_overlap(frame):
    X, y = frame
    model = katoms.SparseRegressor(range(1, 31), ic_type="aic").fit(X, y)
    ax = katoms.plot_path(model)
    ax.figure.draw_without_rendering()
    boxes = [extent(text) for text in ax.texts if text.get_text().startswith("systolic")]
    assert len(boxes) >= 8
    inside = ax.figure.bbox
    for number, box in enumerate(boxes):
        assert box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        assert not any(box.overlaps(other) for other in boxes[:number])


def test_names_that_have_no_room_are_counted(model):
    _, ax = plt.subplots(figsize=(4, 1.3))
    katoms.plot_path(model, ax=ax)
    named = [text for text in texts(ax) if text.startswith("systolic")]
    assert 0 < len(named) < 8
    assert f"and {8 - len(named)} more" in texts(ax)


def test_one_size_is_no_path(frame):
    with pytest.raises(ValueError, match=r"models of several sizes.*support_size=range\(1, 11\)"):
        katoms.plot_path(katoms.SparseRegressor(2).fit(*frame))


# Labels.


def test_places_are_apart_in_order_and_near():
    wanted = np.array([0.0, 1.0, 1.5, 50.0, 99.0, 100.0])
    places = drawing.spread(wanted, 10.0, (0.0, 100.0))
    assert np.diff(places).min() >= 10 - 1e-9 and places.min() >= 0 and places.max() <= 100 + 1e-9
    assert places[3] == 50
    # Without limits, a block has the mean of what was wanted.
    free = drawing.spread(np.array([4.0, 5.0, 6.0]), 10.0, (-np.inf, np.inf))
    assert np.allclose(free, [-5, 5, 15])


def test_long_names_lose_their_middle():
    short = drawing.shortened(NAMES[42])
    assert len(short) == drawing.LONGEST_NAME and short.startswith("systolic blood") and short.endswith("year 42")
    assert drawing.shortened("price in $ and $") == r"price in \$ and \$"
    assert drawing.shortened("two\nlines") == "two lines"


def test_a_name_that_looks_like_a_formula_is_drawn(frame):
    X, y = frame
    X = X.rename(columns={NAMES[1]: r"$\frac{1$ & {"})
    model = katoms.SparseRegressor(range(1, 10)).fit(X, y)
    for ax in (katoms.plot_path(model), katoms.plot_coefficients(model)):
        ax.figure.draw_without_rendering()


# Validations.


def test_held_out_losses_with_their_errors(validated):
    ax = katoms.plot_cv(validated)
    results = validated.cv_results_
    drawn = {container.get_label(): container for container in ax.containers}
    assert set(drawn) == {"l2 = 0", "l2 = 1", "l2 = 50"}
    for ridge in (0.0, 1.0, 50.0):
        rows = results["l2"] == ridge
        line, _, (bars,) = drawn[f"l2 = {ridge:g}"].lines
        assert line.get_xdata().tolist() == results["support_size"][rows].tolist()
        # the loss of numbers is half the mean squared error
        assert np.array_equal(line.get_ydata(), 2 * results["mean_loss"][rows])
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert np.allclose(ends[:, 1] - ends[:, 0], 2 * 2 * results["standard_error"][rows])
        chosen = ridge == validated.l2_
        assert (to_hex(line.get_color()) == drawing.ACCENT) == chosen
        assert f"l2 = {ridge:g}" + (", chosen" if chosen else "") in texts(ax)


def test_both_sizes_are_marked(validated, frame):
    X, y = frame
    noisy = katoms.SparseRegressorCV(range(1, 13), cv=4).fit(X, y + 4 * np.random.default_rng(3).normal(size=200))
    assert validated.k_min_ == validated.k_1se_ and noisy.k_min_ > noisy.k_1se_
    for fitted in (validated, noisy):
        ax = katoms.plot_cv(fitted)
        said = " ".join(texts(ax))
        if fitted is validated:
            assert f"{fitted.k_min_}: least loss, none smaller within 1 SE" in said
        else:
            assert f"{fitted.k_min_}: least loss" in said and f"{fitted.k_1se_}: smallest within 1 SE" in said
        marked = {line.get_xdata()[0] for line in ax.get_lines() if list(line.get_ydata()) == [0, 1]}
        assert marked == {fitted.k_min_, fitted.k_1se_}


def test_neighbouring_marks_do_not_overlap():
    _, ax = plt.subplots()
    ax.plot(range(31), range(31))
    drawing.mark_sizes(ax, [(29, "29: smallest within 1 SE"), (30, "30: least loss")])
    ax.figure.draw_without_rendering()
    first, second = (extent(text) for text in ax.texts)
    assert not first.overlaps(second)


def test_a_model_without_validation_has_no_losses(model):
    with pytest.raises(ValueError, match="plot_cv needs losses on held-out rows.*SparseRegressorCV"):
        katoms.plot_cv(model)


# Coefficients.


def bars_of(ax):
    """Name, length and colour of each bar, from the top."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    return [(name, bar.get_width(), to_hex(bar.get_facecolor())) for name, bar in zip(names, ax.patches)]


def test_bars_are_standardised_effects(model):
    ax = katoms.plot_coefficients(model)
    effects = model.standardized_coef_
    order = sorted(model.support_, key=lambda j: -abs(effects[j]))
    assert [name for name, _, _ in bars_of(ax)] == [drawing.shortened(NAMES[j]) for j in order]
    assert [width for _, width, _ in bars_of(ax)] == [effects[j] for j in order]
    for _, width, colour in bars_of(ax):
        assert colour == (drawing.ACCENT if width > 0 else drawing.NEGATIVE)
    top, bottom = ax.get_ylim()[1], ax.get_ylim()[0]
    assert top < bottom


def test_more_bars_than_wanted_are_counted(model):
    ax = katoms.plot_coefficients(model, max_features=3)
    assert len(ax.patches) == 3
    assert "5 more features are not shown" in ax.get_xlabel()
    with pytest.raises(ValueError, match="max_features is 0"):
        katoms.plot_coefficients(model, max_features=0)


def test_features_of_a_group_stand_together(grouped):
    ax = katoms.plot_coefficients(grouped)
    place = {name: bar.get_y() for (name, _, _), bar in zip(bars_of(ax), ax.patches)}
    assert len(place) == len(grouped.support_)
    for group in grouped.chosen_groups_:
        members = [drawing.shortened(NAMES[j]) for j in grouped.support_ if j // 5 == int(group)]
        inside = sorted(place[name] for name in members if name in place)
        assert np.allclose(np.diff(inside), 1)
        assert f"group {group}" in texts(ax)
    if "0" not in grouped.chosen_groups_:
        assert "always selected" in texts(ax)


def test_a_classifier_has_effects_on_the_log_odds(frame):
    X, y = frame
    model = katoms.SparseClassifier(2).fit(X, y > 0)
    ax = katoms.plot_coefficients(model)
    assert "log-odds" in ax.get_xlabel()
    assert sorted(width for _, width, _ in bars_of(ax)) == sorted(np.ravel(model.standardized_coef_)[model.support_])


@pytest.mark.skipif(not hasattr(katoms, "SparseRecovery"), reason="this build recovers no signals")
def test_a_signal_is_drawn_by_its_entries():
    A = np.random.default_rng(2).normal(size=(30, 60))
    model = katoms.SparseRecovery(2).fit(A, 2 * A[:, 5] - A[:, 40])
    ax = katoms.plot_coefficients(model)
    assert [name for name, _, _ in bars_of(ax)] == ["x5", "x40"]
    assert [width for _, width, _ in bars_of(ax)] == model.coef_[[5, 40]].tolist()
    assert ax.get_xlabel() == "coefficient"


# Moves.


def test_moves_are_drawn_at_their_objectives(frame):
    model = katoms.SparseRegressor(8, method="iht").fit(*frame)
    ax = katoms.plot_convergence(model)
    constant, line, _, rings = ax.get_lines()[:4]
    objectives = np.array([move["objective"] for move in model.trace_])
    best = min(objectives.min(), model.objective_)
    assert constant.get_xydata()[0] == pytest.approx([0, model.null_loss_])
    assert line.get_xdata().tolist() == [move["reads"] for move in model.trace_]
    assert line.get_ydata().tolist() == objectives.tolist()
    assert np.allclose(rings.get_ydata(), best, rtol=1e-12) and 0 < len(rings.get_ydata()) < len(objectives) - 3
    wide = 20 * objectives.min() < max(objectives.max(), model.null_loss_)
    assert (ax.get_yscale() == "log") == wide and ax.get_ylabel() == "objective"
    assert "k = 8" in texts(ax) and "best" in texts(ax)


def test_a_fit_that_was_perfect_at_once_is_drawn():
    X = np.eye(6)
    model = katoms.SparseRegressor(1, fit_intercept=False, standardize=False).fit(X, 3 * X[:, 2])
    ax = katoms.plot_convergence(model)
    ax.figure.draw_without_rendering()
    assert "best" in texts(ax)


def test_stages_are_marked_where_they_begin():
    _, ax = plt.subplots()
    moves = [{"reads": p, "atoms": k, "objective": 1.0 / p} for p, k in [(1, 1), (2, 1), (3, 2), (4, 2), (9, 4)]]
    from katoms import _charts as charts

    charts.draw_convergence(ax, moves, 0.0, np.nan)
    charts.mark_stages(ax, moves)
    assert {text.get_text(): text.xy[0] for text in ax.texts} == {"k = 1": 1, "k = 2": 2, "k = 4": 4}


# What all have in common.


@pytest.mark.parametrize("plot", [katoms.plot_path, katoms.plot_cv, katoms.plot_coefficients, katoms.plot_convergence])
def test_given_axes_are_used_and_returned(plot, validated):
    plt.close("all")
    _, axes = plt.subplots(1, 2)
    assert plot(validated, ax=axes[1]) is axes[1]
    assert axes[1].has_data() and not axes[0].has_data()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("plot", [katoms.plot_path, katoms.plot_cv, katoms.plot_coefficients, katoms.plot_convergence])
def test_unfitted_models_and_strangers_are_refused(plot):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="not fitted yet"):
        plot(katoms.SparseRegressorCV())
    with pytest.raises(TypeError, match="a fitted estimator of katoms.*not a list"):
        plot([1, 2])
    assert not plt.get_fignums()


def run(code):
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_matplotlib_is_not_imported_with_katoms():
    heavy = {"matplotlib", "sklearn", "scipy", "pandas", "katoms._charts", "katoms._html"}
    assert run(f"import sys, katoms; print({heavy} & set(sys.modules))") == "set()"
    fitted = "katoms.SparseRegressor(1).fit(numpy.eye(4), [1.0, 2.0, 3.0, 5.0])"
    code = f"import sys, numpy, katoms; {fitted}._repr_html_(); print('matplotlib' in sys.modules)"
    assert run(code) == "False"


def test_without_matplotlib_the_error_says_what_to_install():
    code = """
import sys
sys.modules["matplotlib"] = None
import katoms, numpy
model = katoms.SparseRegressor(1).fit(numpy.eye(4), [1.0, 2.0, 3.0, 5.0])
try:
    katoms.plot_coefficients(model)
except ImportError as error:
    print(error)
"""
    assert run(code) == "plots need Matplotlib: pip install katoms[plots]"


# Completion.


@pytest.fixture(scope="module")
def holes():
    """A matrix of rank 2 of which 40 % are missing."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    X[rng.random(X.shape) < 0.4] = np.nan
    return X


@pytest.mark.skipif(not hasattr(katoms, "MatrixCompletion"), reason="this build completes no matrices")
class TestCompletion:
    """The pictures of a matrix."""

    def test_seen_and_completed_stand_side_by_side(self, holes):
        model = katoms.MatrixCompletion(rank=2).fit(holes)
        seen, completed = katoms.plot_completion(model, holes)
        drawn = seen.images[0].get_array()
        assert np.array_equal(drawn.mask, np.isnan(holes))
        assert np.array_equal(drawn.compressed(), holes[~np.isnan(holes)])
        assert np.allclose(completed.images[0].get_array(), model.to_dense())
        assert seen.images[0].get_clim() == completed.images[0].get_clim() == (np.nanmin(holes), np.nanmax(holes))
        hole = tuple(seen.images[0].get_cmap().get_bad())
        scale = seen.images[0].get_cmap()(np.linspace(0, 1, 256))
        assert np.abs(scale - hole).max(axis=1).min() > 0.1
        assert "60%" in seen.get_title() and "rank 2" in completed.get_title()

    def test_entries_may_come_in_any_form(self, holes):
        import scipy.sparse

        model = katoms.MatrixCompletion(rank=2).fit(holes)
        rows, columns = np.nonzero(~np.isnan(holes))
        values = holes[rows, columns]
        wanted = katoms.plot_completion(model, holes)[0].images[0].get_array()
        for X in ((rows, columns, values), scipy.sparse.coo_array((values, (rows, columns)), shape=holes.shape)):
            drawn = katoms.plot_completion(model, X)[0].images[0].get_array()
            assert np.array_equal(drawn.mask, wanted.mask) and np.array_equal(drawn.compressed(), wanted.compressed())

    def test_a_part_and_the_completed_matrix_alone(self, holes):
        model = katoms.MatrixCompletion(rank=2).fit(holes)
        (alone,) = katoms.plot_completion(model, shape=(7, 9))
        assert np.allclose(alone.images[0].get_array(), model.to_dense()[:7, :9])
        assert "first 7 × 9 of 40 × 30" in alone.get_title()
        with pytest.raises(ValueError, match=r"shape is \(0, 3\)"):
            katoms.plot_completion(model, shape=(0, 3))

    def test_the_error_by_rank_of_a_validation(self, holes):
        model = katoms.MatrixCompletionCV(rank=range(1, 5)).fit(holes)
        (error,) = katoms.plot_completion(model)
        line = error.containers[0].lines[0]
        assert sorted(line.get_xdata()) == sorted(set(model.cv_results_["rank"]))
        assert f"{model.rank_}: chosen" in texts(error)
        assert len(katoms.plot_completion(model, holes)) == 3

    def test_a_validation_without_a_choice_has_no_errors(self, holes):
        model = katoms.MatrixCompletionCV(rank=2, l2=0.1, centring="mean").fit(holes)
        (alone,) = katoms.plot_completion(model)
        assert np.allclose(alone.images[0].get_array(), model.to_dense())

    def test_every_ridge_and_centring_has_a_line(self, holes):
        model = katoms.MatrixCompletionCV(rank=range(1, 5), l2=[0.0, 1.0]).fit(holes)
        ax = katoms.plot_cv(model)
        results = model.cv_results_
        assert ax.get_xlabel() == "rank"
        kinds = sorted(set(zip(results["l2"], results["centring"])))
        assert len(ax.containers) == len(kinds) > 1
        drawn = np.concatenate([container.lines[0].get_ydata() for container in ax.containers])
        assert sorted(drawn) == sorted(results["held_out_mse"])
        (chosen,) = [c for c in ax.containers if to_hex(c.lines[0].get_color()) == drawing.ACCENT]
        rows = (results["l2"] == model.l2_) & (results["centring"] == model.centring_)
        assert np.array_equal(chosen.lines[0].get_ydata(), results["held_out_mse"][rows])
        assert model.rank_min_ in [line.get_xdata()[0] for line in ax.get_lines() if list(line.get_ydata()) == [0, 1]]

    def test_too_few_axes_are_refused(self, holes):
        model = katoms.MatrixCompletion(rank=2).fit(holes)
        _, ax = plt.subplots()
        with pytest.raises(ValueError, match="ax holds 1 axes, but 2 are needed: seen, completed"):
            katoms.plot_completion(model, holes, ax=ax)
