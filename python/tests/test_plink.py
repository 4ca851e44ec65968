"""Genotypes as PLINK stores them, beside the same numbers as an array."""

import pickle

import numpy as np
import pytest

import katoms
import katoms.exceptions
from katoms import KatomsError

COPIES = np.array([2.0, np.nan, 1.0, 0.0])


@pytest.fixture
def cohort(tmp_path):
    """Three files, and what they hold: copies with NaN where unknown, and the phenotype."""
    rng = np.random.default_rng(0)
    codes = rng.choice(4, (70, 41), p=[0.3, 0.05, 0.4, 0.25]).astype(np.uint8)
    padded = np.pad(codes, ((0, 2), (0, 0))).T.reshape(41, -1, 4)
    packed = sum(padded[..., place].astype(int) << 2 * place for place in range(4)).astype(np.uint8)
    (tmp_path / "c.bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    (tmp_path / "c.bim").write_text("".join(f"1 rs{j} 0 {j} A G\n" for j in range(41)))
    copies = COPIES[codes]
    y = np.nan_to_num(copies[:, [3, 20, 33]], nan=1.0) @ [2.0, -1.5, 1.0] + 0.1 * rng.standard_normal(70)
    (tmp_path / "c.fam").write_text("".join(f"f {i} 0 0 0 {'NA' if i == 5 else v}\n" for i, v in enumerate(y)))
    return tmp_path / "c.bed", copies, y


def test_a_fit_is_that_of_the_same_numbers(cohort):
    path, copies, y = cohort
    X = katoms.read_plink(path)
    assert X.shape == (70, 41) and len(X) == 70 and X.names[3] == "rs3_A" and X.individuals[7] == ("f", "7")
    assert np.isnan(X.phenotype[5]) and np.allclose(np.delete(X.phenotype, 5), np.delete(y, 5))
    numbers = np.where(np.isnan(copies), np.nanmean(copies, axis=0), copies)
    assert np.array_equal(np.asarray(X), numbers)
    ours = katoms.SparseRegressor(support_size=3).fit(X, y)
    theirs = katoms.SparseRegressor(support_size=3).fit(numbers, y)
    assert np.array_equal(ours.support_, theirs.support_) and ours.n_passes_ == theirs.n_passes_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(numbers), rtol=1e-12)
    assert list(ours.feature_names_in_[ours.support_]) == ["rs3_A", "rs20_A", "rs33_A"]
    assert np.array_equal(ours.transform(X), numbers[:, ours.support_])
    chosen = katoms.SparseRegressorCV(support_size=range(1, 5), cv=3).fit(X, y)
    same = katoms.SparseRegressorCV(support_size=range(1, 5), cv=3).fit(numbers, y)
    np.testing.assert_allclose(chosen.coef_, same.coef_, rtol=1e-12)


def test_some_individuals_are_a_cohort_of_their_own(cohort):
    path, copies, _ = cohort
    X = katoms.read_plink(path)
    numbers = np.asarray(X)
    known = ~np.isnan(X.phenotype)
    for rows in (known, np.array([9, 3, 3, 69]), slice(2, 40, 3), 8):
        some = X[rows]
        assert np.array_equal(np.asarray(some), np.atleast_2d(numbers[rows]))
        assert some.individuals == [X.individuals[i] for i in np.atleast_1d(np.arange(70)[rows])]
    assert np.array_equal(X[:, [4, 0]], numbers[:, [4, 0]])
    again = pickle.loads(pickle.dumps(X[known]))
    assert np.array_equal(np.asarray(again), numbers[known])
    model_selection = pytest.importorskip("sklearn.model_selection")
    model = katoms.SparseRegressor(support_size=3)
    scores = model_selection.cross_val_score(model, X[known], X.phenotype[known], cv=3)
    assert (scores > 0.8).all()


def test_what_is_wrong_is_said(cohort, tmp_path):
    path, *_ = cohort
    (tmp_path / "c.fam").unlink()
    with pytest.raises(KatomsError, match=r"no c\.fam beside it"):
        katoms.read_plink(path)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(KatomsError, match="not a file of PLINK"):
        katoms.read_plink(tmp_path / "table.csv")
