"""Every kind of target: the coefficients of packages that statisticians trust, planted features, predictions, bad input."""

import warnings

import numpy as np
import pytest

import katoms

K = 4


def drawn(seed, rows=300, columns=40):
    """A matrix with shifted and scaled columns, linear predictions from four of them, and the generator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    linear = 0.7 * X[:, 3] - 0.6 * X[:, 11] + 0.5 * X[:, 20] - 0.4 * X[:, 33]
    X = X * np.linspace(0.1, 3, columns) + np.linspace(-5, 5, columns)
    return X, linear, rng


def counts(seed):
    X, linear, rng = drawn(seed)
    return X, rng.poisson(np.exp(linear + 1)).astype(float)


def spread_counts(seed):
    X, linear, rng = drawn(seed)
    return X, rng.poisson(np.exp(linear + 1) * rng.gamma(2, 0.5, size=len(X))).astype(float)


def amounts(seed):
    X, linear, rng = drawn(seed)
    return X, np.exp(linear + 1) * rng.gamma(2, 0.5, size=len(X)) + 1e-9


def survival(seed, grain=20):
    X, linear, rng = drawn(seed)
    times = np.ceil(rng.exponential(np.exp(-linear)) * grain)
    ends = np.ceil(rng.exponential(3, size=len(X)) * grain)
    return X, np.minimum(times, ends), times <= ends


def levels(seed, classes=4):
    X, linear, rng = drawn(seed)
    return X, np.digitize(2 * linear + rng.logistic(size=len(X)), np.linspace(-2, 2, classes - 1))


def design(X, model):
    return np.column_stack([np.ones(len(X)), X[:, model.support_]])


def agree(model, expected, tolerance=1e-6):
    """Coefficients with the intercept first, on the scale on which they matter."""
    found = np.r_[model.intercept_, model.coef_[model.support_]]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_poisson_agrees_with_statsmodels(seed):
    sm = pytest.importorskip("statsmodels.api")
    X, y = counts(seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=len(y)).astype(float)
    exposure = np.random.default_rng(seed).uniform(0.5, 2, size=len(y))
    model = katoms.SparseRegressor(K, loss="poisson").fit(X, y, weights, exposure=exposure)
    family = sm.families.Poisson()
    other = sm.GLM(y, design(X, model), family, exposure=exposure, freq_weights=weights).fit(tol=1e-12)
    agree(model, other.params)
    predicted = other.predict(design(X, model), exposure=exposure)
    np.testing.assert_allclose(model.predict(X, exposure=exposure), predicted, rtol=1e-6)
    assert set(model.support_) == {3, 11, 20, 33}


@pytest.mark.parametrize("seed", range(3))
def test_gamma_agrees_with_statsmodels(seed):
    sm = pytest.importorskip("statsmodels.api")
    X, y = amounts(seed)
    model = katoms.SparseRegressor(K, loss="gamma").fit(X, y)
    other = sm.GLM(y, design(X, model), sm.families.Gamma(sm.families.links.Log())).fit(tol=1e-12)
    agree(model, other.params)
    assert model.score(X, y) == pytest.approx(1 - other.deviance / other.null_deviance, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_negative_binomial_agrees_with_statsmodels(seed):
    sm = pytest.importorskip("statsmodels.api")
    X, y = spread_counts(seed)
    model = katoms.SparseRegressor(K, loss="negative_binomial").fit(X, y)
    other = sm.NegativeBinomial(y, design(X, model)).fit(
        start_params=np.r_[model.intercept_, model.coef_[model.support_], model.dispersion_],
        method="newton",
        disp=0,
        tol=1e-12,
    )
    agree(model, other.params[:-1])
    assert model.dispersion_ == pytest.approx(other.params[-1], rel=1e-5)
    given = katoms.SparseRegressor(K, loss="negative_binomial", dispersion=0.7).fit(X, y)
    family = sm.families.NegativeBinomial(alpha=0.7)
    agree(given, sm.GLM(y, design(X, given), family).fit(tol=1e-12).params)
    assert given.dispersion_ == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_huber_agrees_with_statsmodels(seed):
    sm = pytest.importorskip("statsmodels.api")
    X, linear, rng = drawn(seed)
    y = linear + 0.3 * rng.standard_t(1.5, size=len(X))
    model = katoms.SparseRegressor(K, loss="huber").fit(X, y)
    residuals = y - model.predict(X)
    assert model.delta_ == pytest.approx(1.345 * np.median(np.abs(residuals)) / 0.6744897501960817, rel=1e-6)
    # The scale is the median of magnitudes, about 0, as here.
    other = sm.RLM(y, design(X, model), sm.robust.norms.HuberT(1.345)).fit(
        scale_est=sm.robust.scale.mad, maxiter=500, tol=1e-12, conv="coefs"
    )
    np.testing.assert_allclose(model.predict(X), other.predict(design(X, model)), atol=1e-2)
    far = katoms.SparseRegressor(K, loss="huber", delta=1e9).fit(X, y)
    agree(far, np.linalg.lstsq(design(X, far), y, rcond=None)[0])
    assert set(model.support_) == {3, 11, 20, 33}


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
def test_a_quantile_divides_the_rows(quantile):
    X, linear, rng = drawn(5, rows=2000)
    y = linear + rng.standard_t(3, size=len(X))
    model = katoms.SparseRegressor(K, loss="quantile", quantile=quantile).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=0.02)
    linear_model = pytest.importorskip("sklearn.linear_model")
    other = linear_model.QuantileRegressor(quantile=quantile, alpha=0).fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.predict(X), other.predict(X[:, model.support_]), atol=0.15)
    metrics = pytest.importorskip("sklearn.metrics")
    assert model.score(X, y) == pytest.approx(metrics.d2_pinball_score(y, model.predict(X), alpha=quantile), abs=1e-3)
    fine = katoms.SparseRegressor(K, loss="quantile", quantile=quantile, smoothing=1e-3, always_select=model.support_)
    fine.fit(X, y)
    assert fine.smoothing_ == 1e-3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_cox_agrees_with_scikit_survival(seed, ties):
    linear_model = pytest.importorskip("sksurv.linear_model")
    util = pytest.importorskip("sksurv.util")
    X, times, events = survival(seed)
    y = util.Surv.from_arrays(events, times)
    model = katoms.SparseCox(K, ties=ties).fit(X, y)
    other = linear_model.CoxPHSurvivalAnalysis(ties=ties, tol=1e-12).fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], other.coef_, rtol=1e-6, atol=1e-8)
    assert set(model.support_) == {3, 11, 20, 33}
    assert model.score(X, y) == pytest.approx(other.score(X[:, model.support_], y), abs=1e-12)
    # scikit-survival takes powers of the baseline's survival, which underflows unless columns are centred.
    centred = (X - X.mean(axis=0))[:, model.support_]
    theirs = (
        linear_model.CoxPHSurvivalAnalysis(ties=ties, tol=1e-12).fit(centred, y).predict_survival_function(centred[:3])
    )
    ours = model.predict_survival_function(X[:3])
    for one, reference in zip(ours, theirs):
        np.testing.assert_allclose(one(model.unique_times_), reference(model.unique_times_), rtol=1e-6)
    table = model.predict_survival_function(X[:3], return_array=True)
    np.testing.assert_array_equal(table[1], ours[1](model.unique_times_))


def test_strata_entries_and_forms_of_survival():
    sm = pytest.importorskip("statsmodels.api")
    pandas = pytest.importorskip("pandas")
    X, times, events = survival(1)
    rng = np.random.default_rng(0)
    strata, entry = rng.choice(["a", "b", "c"], size=len(times)), times * rng.uniform(0, 0.9, size=len(times))
    model = katoms.SparseCox(K, ties="breslow").fit(X, np.column_stack([times, events]), strata=strata, entry=entry)
    other = sm.PHReg(times, X[:, model.support_], status=events, strata=strata, entry=entry, ties="breslow").fit()
    np.testing.assert_allclose(model.coef_[model.support_], other.params, rtol=1e-5)
    assert model.strata_.tolist() == ["a", "b", "c"]
    survivors = model.predict_survival_function(X[:2], strata=["a", "c"])
    assert 0 < survivors[0](10.0) < 1 and survivors[0](0.0) == 1
    with pytest.raises(katoms.InvalidInputError, match="fitted with strata"):
        model.predict_survival_function(X[:2])
    frame = pandas.DataFrame({"status": events.astype(int), "time": times})
    structured = np.array(list(zip(events, times)), dtype=[("cens", "?"), ("t", "f8")])
    plain = [katoms.SparseCox(2).fit(X, y).coef_ for y in (frame, structured, np.column_stack([times, events]))]
    assert (plain[0] == plain[1]).all() and (plain[0] == plain[2]).all()


@pytest.mark.parametrize("seed", range(3))
def test_ordinal_agrees_with_statsmodels(seed):
    ordinal = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    X, y = levels(seed)
    model = katoms.SparseClassifier(K, ordinal=True).fit(X, y)
    scale = X[:, model.support_].std(axis=0)
    other = ordinal.OrderedModel(y, X[:, model.support_] / scale, distr="logit").fit(method="bfgs", disp=0, gtol=1e-9)
    np.testing.assert_allclose(model.coef_[0, model.support_] * scale, other.params[:K], atol=2e-6)
    np.testing.assert_allclose(model.predict_proba(X), other.predict(), atol=1e-6)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert set(model.support_) == {3, 11, 20, 33}


def test_the_order_of_words_must_be_given():
    pandas = pytest.importorskip("pandas")
    X, y = levels(2, classes=3)
    words = np.array(["low", "medium", "high"])[y]
    with pytest.raises(katoms.InvalidInputError, match="order nobody knows"):
        katoms.SparseClassifier(2, ordinal=True).fit(X, words)
    listed = katoms.SparseClassifier(2, ordinal=["low", "medium", "high"]).fit(X, words)
    kind = pandas.CategoricalDtype(["low", "medium", "high"], ordered=True)
    frame = katoms.SparseClassifier(2, ordinal=True).fit(X, pandas.Series(words, dtype=kind))
    number = katoms.SparseClassifier(2, ordinal=True).fit(X, y)
    assert (listed.coef_ == number.coef_).all() and (frame.coef_ == number.coef_).all()
    assert listed.grades_.tolist() == ["low", "medium", "high"] and listed.classes_.tolist() == [
        "high",
        "low",
        "medium",
    ]
    assert set(listed.predict(X)) <= {"low", "medium", "high"}


def classes(seed, count=4, rows=400):
    """Classes whose scores are made of four features."""
    X, _, rng = drawn(seed, rows=rows)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = Z[:, [3, 11, 20, 33]] @ rng.normal(size=(4, count)) * 1.5 + rng.gumbel(size=(rows, count))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_many_classes_agree_with_scikit_learn(seed):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = classes(seed)
    model = katoms.SparseClassifier(K).fit(X, np.array(["a", "b", "c", "d"])[y])
    assert set(model.support_) == {3, 11, 20, 33}
    Z = X[:, model.support_] / X[:, model.support_].std(axis=0)
    other = linear_model.LogisticRegression(C=np.inf, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(Z, y)
    ours = model.coef_[:, model.support_] * X[:, model.support_].std(axis=0)
    np.testing.assert_allclose(ours, other.coef_ - other.coef_.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(Z), atol=1e-6)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
    assert model.coef_.shape == (4, 40) and model.intercept_.shape == (4,)
    assert (model.predict(X) == np.array(["a", "b", "c", "d"])[other.predict(Z)]).all()
    ridged = katoms.SparseClassifier(K, l2=3.0).fit(X, y)
    Z = Z - Z.mean(axis=0)
    other = linear_model.LogisticRegression(C=1 / 3.0, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(ridged.predict_proba(X), other.predict_proba(Z), atol=1e-6)


def test_several_responses_share_their_features():
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, _, rng = drawn(2)
    Y = (
        (X / X.std(axis=0))[:, [3, 11, 20, 33]] @ rng.normal(size=(4, 3))
        + rng.normal(size=(len(X), 3))
        + [1.0, 50.0, -7.0]
    )
    model = katoms.SparseRegressor(K).fit(X, Y)
    assert set(model.support_) == {3, 11, 20, 33} and model.coef_.shape == (3, 40)
    other = linear_model.LinearRegression().fit(X[:, model.support_], Y)
    np.testing.assert_allclose(model.coef_[:, model.support_], other.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), other.predict(X[:, model.support_]), rtol=1e-8)
    assert model.score(X, Y) == pytest.approx(other.score(X[:, model.support_], Y), abs=1e-10)
    assert katoms.SparseRegressor().fit(X, Y).support_size_ == K
    assert katoms.SparseRegressorCV(range(7), cv=3, rule="1se").fit(X, Y).support_size_ == K
    scored = katoms.SparseRegressorCV(range(7), cv=3, scoring="r2", rule="1se").fit(X, Y)
    assert set(scored.support_) == {3, 11, 20, 33}
    pair = katoms.SparseRegressor(K).fit(X, Y[:, :1].repeat(2, axis=1))
    one = katoms.SparseRegressor(K).fit(X, Y[:, 0])
    assert (pair.support_ == one.support_).all()
    np.testing.assert_allclose(pair.coef_[0], one.coef_, rtol=1e-8)


def test_small_round_blue_cells():
    """A set of the shape of Khan's: four tumours, 63 + 25 samples, 2,308 genes, of which a few tell them apart."""
    rng = np.random.default_rng(0)
    genes = [[5, 60], [100, 700], [1000, 1500], [1999, 2307]]
    y = np.r_[np.repeat(range(4), [8, 23, 12, 20]), np.repeat(range(4), [3, 6, 6, 10])]
    X = rng.normal(size=(88, 2308))
    for tumour, own in enumerate(genes):
        X[np.ix_(y == tumour, own)] += 4
    train = np.arange(88) < 63
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = katoms.SparseClassifierCV(range(11), cv=5).fit(X[train], y[train])
    assert 3 <= len(model.support_) <= 10
    assert model.score(X[~train], y[~train]) == 1
    assert set(model.support_) <= {gene for own in genes for gene in own}


FAMILIES = [
    ("multinomial", classes, katoms.SparseClassifier, katoms.SparseClassifierCV, {}),
    ("poisson", counts, katoms.SparseRegressor, katoms.SparseRegressorCV, {"loss": "poisson"}),
    ("gamma", amounts, katoms.SparseRegressor, katoms.SparseRegressorCV, {"loss": "gamma"}),
    (
        "negative_binomial",
        spread_counts,
        katoms.SparseRegressor,
        katoms.SparseRegressorCV,
        {"loss": "negative_binomial"},
    ),
    ("huber", amounts, katoms.SparseRegressor, katoms.SparseRegressorCV, {"loss": "huber"}),
    ("quantile", amounts, katoms.SparseRegressor, katoms.SparseRegressorCV, {"loss": "quantile"}),
    ("ordinal", levels, katoms.SparseClassifier, katoms.SparseClassifierCV, {"ordinal": True}),
    (
        "cox",
        lambda seed: (lambda X, times, events: (X, np.column_stack([times, events])))(*survival(seed)),
        katoms.SparseCox,
        katoms.SparseCoxCV,
        # Efron's ties of a row of weight 2 are not those of two rows.
        {"ties": "breslow"},
    ),
]


@pytest.mark.parametrize("name, draw, plain, validated, parameters", FAMILIES, ids=[one[0] for one in FAMILIES])
def test_everything_goes_with_every_family(name, draw, plain, validated, parameters):
    X, y = draw(7)
    chosen = plain(**parameters).fit(X, y)
    assert 1 <= chosen.support_size_ <= 8 and chosen.path_.complete
    assert set(chosen.support_) <= {3, 11, 20, 33} or chosen.support_size_ > 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        held_out = validated([0, 2, 4, 6], cv=3, **parameters).fit(X, y)
    assert held_out.cv_results_["mean_loss"].min() < held_out.cv_results_["mean_loss"][0]
    assert held_out.k_min_ in (2, 4, 6)
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    weighted = plain(3, **parameters).fit(X, y, weights)
    repeated = plain(3, **parameters).fit(
        np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int), axis=0)
    )
    assert (weighted.support_ == repeated.support_).all()
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-7)
    ridged = plain(3, l2=50.0, **parameters).fit(X, y)
    assert np.linalg.norm(ridged.standardized_coef_) < np.linalg.norm(
        plain(3, **parameters).fit(X, y).standardized_coef_
    )
    grouped = plain(2, groups=np.arange(40) // 2, **parameters).fit(X, y)
    assert len(grouped.chosen_groups_) == 2
    always = plain(1, always_select=[5], **parameters).fit(X, y)
    assert 5 in always.support_ and len(always.support_) == 2
    none = plain(0, **parameters).fit(X, y)
    assert not np.any(none.coef_)
    assert chosen.score(X, y) > none.score(X, y) - 1e-9


def test_bad_targets_are_named():
    X = np.random.default_rng(0).normal(size=(20, 5))
    good = np.arange(20.0) % 4
    bad = good.copy()
    bad[7] = -1
    fit = katoms.SparseRegressor(1, loss="poisson").fit
    for call, words in [
        (lambda: fit(X, bad), "position 7.*at least 0"),
        (lambda: fit(X, 0 * good), "all 0"),
        (lambda: fit(X, good, exposure=np.ones(5)), "length 5"),
        (lambda: fit(X, good, offset=np.ones(5)), "length 5"),
        (lambda: fit(X, good, exposure=-np.ones(20)), "exposure.*above 0"),
        (lambda: katoms.SparseRegressor(1, loss="gamma").fit(X, good), "position 0.*above 0"),
        (lambda: katoms.SparseRegressor(1, loss="squares").fit(X, good), "must be one of 'squared_error'"),
        (lambda: katoms.SparseRegressor(1, loss="quantile", quantile=1.5).fit(X, good), "between 0 and 1"),
        (lambda: katoms.SparseRegressor(1, loss="huber", delta=-1).fit(X, good), "delta.*above 0"),
        (lambda: katoms.SparseRegressor(1).fit(X, good, exposure=np.ones(20)), "exposure goes with"),
        (lambda: katoms.SparseCox(1).fit(X, np.column_stack([good, good > 1])), "row 0.*above 0"),
        (lambda: katoms.SparseCox(1).fit(X, np.column_stack([good + 1, good])), "row 2.*must be 1"),
        (lambda: katoms.SparseCox(1).fit(X, np.column_stack([good + 1, 0 * good])), "no row has an event"),
        (lambda: katoms.SparseCox(1).fit(X, good), "structured array"),
        (lambda: katoms.SparseCox(1, ties="exact").fit(X, np.column_stack([good + 1, good > 1])), "efron"),
        (lambda: katoms.SparseClassifier(1).fit(X, np.ones(20)), "only one class"),
    ]:
        with pytest.raises(katoms.InvalidInputError, match=words):
            call()
    single = good.copy()
    single[3] = 9
    with pytest.warns(UserWarning, match=r"class (np.float64\()?9.0\)? has one row only, row 3"):
        katoms.SparseClassifier(1, ordinal=True).fit(X, single)


def test_a_loss_of_ones_own_is_the_one_that_it_copies():
    from katoms.losses import RowLoss

    X, y = counts(3)
    own = RowLoss(
        value=lambda y, z: np.exp(z) - y * z,
        gradient=lambda y, z: np.exp(z) - y,
        curvature=lambda y, z: np.exp(z),
        inverse_link=np.exp,
    )
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    one = katoms.SparseRegressor(K, loss="poisson").fit(X, y, weights)
    other = katoms.SparseRegressor(K, loss=own).fit(X, y, weights)
    assert (one.support_ == other.support_).all()
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-7)
    assert one.score(X, y) == pytest.approx(other.score(X, y), rel=1e-9)
    held_out = [katoms.SparseRegressorCV(range(6), loss=loss, cv=3).fit(X, y).k_min_ for loss in ("poisson", own)]
    assert held_out[0] == held_out[1]


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_derivatives_of_other_packages(package):
    module = pytest.importorskip(package)
    from katoms import losses

    make = {"jax": losses.from_jax, "torch": losses.from_torch}[package]
    exp = module.numpy.exp if package == "jax" else module.exp
    X, y = counts(4)
    own = make(lambda y, z: exp(z) - y * z, inverse_link=np.exp)
    model = katoms.SparseRegressor(K, loss=own).fit(X, y)
    np.testing.assert_allclose(model.coef_, katoms.SparseRegressor(K, loss="poisson").fit(X, y).coef_, rtol=1e-6)
    squares = make(lambda y, z: 0.5 * (z - y) ** 2)
    np.testing.assert_allclose(
        katoms.SparseRegressor(K, loss=squares).fit(X, y).coef_, katoms.SparseRegressor(K).fit(X, y).coef_, rtol=1e-6
    )


def test_wrong_losses_are_told_with_the_row():
    from katoms.losses import RowLoss

    X, y = counts(3)

    def square(**wrong):
        right = {
            "value": lambda y, z: 0.5 * (z - y) ** 2,
            "gradient": lambda y, z: z - y,
            "curvature": lambda y, z: 1 + 0 * z,
        }
        return RowLoss(**{**right, **wrong})

    def raising(y, z):
        if len(y) < len(X):
            raise KeyError("mine")
        return 0.5 * (z - y) ** 2

    for loss, words in [
        (square(gradient=lambda y, z: 2 * (z - y)), "gradient of the loss is .* at row 0 .*differences of value say"),
        (square(curvature=lambda y, z: 3 + 0 * z), "curvature of the loss is 3 at row 0"),
        (square(value=lambda y, z: 0.5 * ((z - y) ** 2).sum()), "one number for each row"),
        (RowLoss(lambda y, z: -(z**2), lambda y, z: -2 * z, lambda y, z: -2 + 0 * z), "convex"),
        (RowLoss(lambda y, z: z, lambda y, z: 1 + 0 * z, lambda y, z: 0 * z), "falls without end"),
        (RowLoss(lambda y, z: np.log(z), lambda y, z: 1 / z, lambda y, z: 1 / z**2), "must be finite"),
        (object(), "has no value"),
    ]:
        with pytest.raises(katoms.InvalidInputError, match=words), np.errstate(invalid="ignore"):
            katoms.SparseRegressor(2, loss=loss).fit(X, y)
    with pytest.raises(KeyError, match="mine"):
        katoms.SparseRegressorCV([1, 2], loss=square(value=raising)).fit(X, y)


@pytest.mark.parametrize(
    "scoring, theirs, draw, make",
    [
        ("mse", "neg_mean_squared_error", counts, lambda **p: katoms.SparseRegressorCV(loss="poisson", **p)),
        ("rmse", "neg_root_mean_squared_error", amounts, lambda **p: katoms.SparseRegressorCV(loss="huber", **p)),
        ("mae", "neg_mean_absolute_error", amounts, lambda **p: katoms.SparseRegressorCV(loss="gamma", **p)),
        ("auc", "roc_auc", lambda seed: classes(seed, 2), katoms.SparseClassifierCV),
        ("brier", "neg_brier_score", lambda seed: classes(seed, 2), katoms.SparseClassifierCV),
        ("misclassification", None, classes, katoms.SparseClassifierCV),
        ("misclassification", None, levels, lambda **p: katoms.SparseClassifierCV(ordinal=True, **p)),
    ],
)
def test_measures_are_those_of_scikit_learn(scoring, theirs, draw, make):
    pytest.importorskip("sklearn")
    X, y = draw(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = make(support_size=[0, 2, 4], cv=3, l2=1.0, scoring=scoring).fit(X, y).cv_results_["fold_scores"]
        other = make(support_size=[0, 2, 4], cv=3, l2=1.0, scoring=theirs or "accuracy").fit(X, y)
    shift = 1 if theirs is None else 0
    np.testing.assert_allclose(ours + shift, other.cv_results_["fold_scores"], rtol=1e-9)


def test_measures_of_survival_and_of_responses_and_where_they_do_not_go():
    X, times, events = survival(6)
    y = np.column_stack([times, events])
    model = katoms.SparseCoxCV([0, 2, 4, 6], cv=3, scoring="c-index").fit(X, y)
    assert model.k_min_ in (2, 4, 6) and model.cv_results_["mean_score"].max() > 0.7
    for scoring in ("deviance", None):
        assert "mean_score" not in katoms.SparseCoxCV([0, 4], cv=3, scoring=scoring).fit(X, y).cv_results_
    with pytest.raises(katoms.InvalidInputError, match="c-index"):
        katoms.SparseCoxCV([0, 4], cv=3, scoring="auc").fit(X, y)
    Y = np.column_stack([times, times + 1.0])
    mse = katoms.SparseRegressorCV([0, 2], cv=3, l2=0.0, scoring="mse").fit(X, Y).cv_results_
    np.testing.assert_allclose(-mse["fold_scores"], mse["fold_losses"], rtol=1e-9)


def test_cards_and_plots_show_every_class_and_response():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = classes(1, count=3)
    model = katoms.SparseClassifier(2).fit(X, np.array(["ash", "birch", "elm"])[y])
    card = model._repr_html_()
    labels = {f"x{j} → {name}" for j in model.support_ for name in ("ash", "birch", "elm")}
    assert all(label in card for label in labels) and "intercept → elm" in card
    ax = katoms.plot_coefficients(model)
    assert {label.get_text() for label in ax.get_yticklabels()} == labels
    assert "score" in ax.get_xlabel()
    grouped = katoms.SparseRegressor(1, groups=np.arange(40) // 2).fit(X, np.column_stack([y, -y]))
    ax = katoms.plot_coefficients(grouped)
    assert len(ax.get_yticklabels()) == 4 and ax.get_yticklabels()[0].get_text().endswith(("→ y0", "→ y1"))
    ax = katoms.plot_path(katoms.path(X, y, range(4), loss="logistic"))
    assert any(text.get_text().endswith("→ 2") for text in ax.texts)
    counted = katoms.SparseRegressorCV([0, 2], cv=3, loss="poisson").fit(*counts(1))
    assert katoms.plot_cv(counted).get_ylabel().startswith("held-out loss,")
    pytest.importorskip("matplotlib.pyplot").close("all")


def test_at_most_so_many_features_inside_each_group():
    X, _, rng = drawn(3)
    y = X[:, 4] / X[:, 4].std() - X[:, 6] / X[:, 6].std() + X[:, 30] / X[:, 30].std() + 0.1 * rng.normal(size=len(X))
    groups = np.arange(40) // 5
    model = katoms.SparseRegressor(3, groups=groups, max_per_group=1).fit(X, y)
    assert model.support_.tolist() == [4, 6, 30] and model.chosen_groups_ == ["0", "1", "6"]
    assert katoms.SparseRegressor(groups=groups, max_per_group=1).fit(X, y).support_.tolist() == [4, 6, 30]
    counted = katoms.SparseRegressor(2, groups=groups, max_per_group=2, loss="poisson").fit(*counts(2))
    assert len(counted.support_) <= 4 and max(np.bincount(counted.support_ // 5)) <= 2
    for wrong in (0, 1.5, "two"):
        with pytest.raises(katoms.InvalidInputError, match="max_per_group"):
            katoms.SparseRegressor(1, groups=groups, max_per_group=wrong).fit(X, y)
    with pytest.raises(katoms.InvalidInputError, match="groups"):
        katoms.SparseRegressor(1, max_per_group=1).fit(X, y)
    held_out = katoms.SparseRegressorCV(range(4), groups=groups, max_per_group=2, l2=0.0).fit(X, y)
    assert len(held_out.support_) <= 2 * held_out.support_size_ and max(np.bincount(held_out.support_ // 5)) <= 2
