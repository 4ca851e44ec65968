"""No choice of k columns that scikit-learn or abess make on real data is better than ours.

Every choice is judged by the same fit on its columns. Choices of theirs that have fewer than k columns count as well.
"""

import functools
import json
import warnings

import pytest
from judges import log_loss, sum_of_squares
from real_data import CLASSES, REGRESSION, file, sparse_table, standardised

import katoms

SIZES = range(1, 11)
#: What an exact fit may be wrong by.
ROUNDING = 1e-9

#: These take minutes together.
SLOW = {"wheat:1", "wheat:2", "golub72", "veer78_jacob", "nki295_4919", "arcene", "BASEHOCK", "mendeliht"}


def named(names):
    return [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in names]


# Who chooses: each from columns of equal scale, a size and a target, and each gives coefficients.


def pursuit(X, y, k):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(X, y).coef_


def splicing(model, **parameters):
    """abess as it comes, or with parameters that let it search wider."""

    def choose(X, y, k):
        abess = pytest.importorskip("abess")
        return getattr(abess, model)(support_size=k, **parameters).fit(X, y).coef_

    return choose


def splicing_path(model, **parameters):
    """abess with each size started from the one before."""

    def choose(X, y, k):
        abess = pytest.importorskip("abess")
        return getattr(abess, model)(support_size=range(1, k + 1), ic_type="loss", **parameters).fit(X, y).coef_

    return choose


def peers_of(model):
    """All columns are candidates where important_search is 0; and 10 are exchanged at once, then fewer, one by one."""
    wide = {"exchange_num": 10, "splicing_type": 1, "max_iter": 100}
    return {
        "abess": splicing(model),
        "abess-path": splicing_path(model),
        "abess-all": splicing(model, important_search=0, **wide),
        "abess-all-path": splicing_path(model, important_search=0, **wide),
        "abess-512-path": splicing_path(model, important_search=512, **wide),
    }


SQUARES = {"omp": pursuit, **peers_of("LinearRegression")}
LOGISTIC = peers_of("LogisticRegression")


# Who judges.


JUDGES = {"squares": sum_of_squares, "logistic": log_loss}
PEERS = {"squares": SQUARES, "logistic": LOGISTIC}


def sizes_for(X):
    return [k for k in SIZES if k <= X.shape[1]]


@functools.cache
def one_by_one(name, loss):
    """What our choice of each size allows, each asked for alone."""
    X, y = standardised(name)
    kind = {"squares": katoms.SparseRegressor, "logistic": katoms.SparseClassifier}[loss]
    found = {}
    for k in sizes_for(X):
        support = kind(k).fit(X, y).support_
        assert len(support) <= k
        found[k] = JUDGES[loss](X, y, support)
    return found


@functools.cache
def along_a_path(name, loss):
    """The same, with all sizes asked for at once."""
    X, y = standardised(name)
    path = katoms.path(X, y, sizes_for(X), loss={"squares": "squared_error"}.get(loss, loss))
    return {k: JUDGES[loss](X, y, support) for k, support in zip(path.support_sizes.tolist(), path.supports)}


@functools.cache
def theirs(name, loss, peer):
    """What the peer's choice of each size allows."""
    X, y = standardised(name)
    found = {}
    for k in sizes_for(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they say when columns depend on each other
            support = PEERS[loss][peer](X, y, k).nonzero()[0]
        assert len(support) <= k
        found[k] = JUDGES[loss](X, y, support)
    return found


def compare(ours, peers):
    """Fails where the peer is better, and says at which sizes."""
    lost = [f"k = {k}: {ours[k]:.12g}, theirs {peers[k]:.12g}" for k in ours if ours[k] > peers[k] * (1 + ROUNDING)]
    assert not lost, "; ".join(lost)


@pytest.mark.parametrize("peer", SQUARES)
@pytest.mark.parametrize("name", named(REGRESSION + CLASSES))
def test_no_peer_leaves_a_smaller_sum_of_squares(name, peer):
    compare(one_by_one(name, "squares"), theirs(name, "squares", peer))


@pytest.mark.parametrize("peer", ["omp", "abess", "abess-path"])
@pytest.mark.parametrize("name", named(REGRESSION + CLASSES))
def test_no_peer_as_it_comes_beats_a_path(name, peer):
    """A path looks less hard than a fit of one size: it is held against the peers' defaults."""
    compare(along_a_path(name, "squares"), theirs(name, "squares", peer))


@pytest.mark.parametrize("peer", LOGISTIC)
@pytest.mark.parametrize("name", named(CLASSES))
def test_no_peer_leaves_a_smaller_log_loss(name, peer):
    compare(one_by_one(name, "logistic"), theirs(name, "logistic", peer))


@pytest.mark.parametrize("name", ["prostate", "diabetes", "bodyfat"])
def test_the_best_of_all_subsets_is_found(name):
    X, y = standardised(name)
    truth = json.loads(file("best_subset_truth.json").read_text())[name]["best"]
    path = katoms.path(X, y, range(1, X.shape[1] + 1))
    for size, best in truth.items():
        model = katoms.SparseRegressor(int(size)).fit(X, y)
        assert model.support_.tolist() == best["support"]
        assert path.supports[path.place(int(size))].tolist() == best["support"]
        assert 2 * model.loss_ == pytest.approx(best["rss"], rel=ROUNDING)


@pytest.mark.long
def test_text_without_its_zeros_is_as_text_with_them():
    X, y = sparse_table("BASEHOCK")
    full = X.toarray()
    for k in (1, 5, 10):
        found = [katoms.SparseRegressor(k).fit(design, y) for design in (X, full)]
        assert found[0].support_.tolist() == found[1].support_.tolist()
        assert found[0].loss_ == pytest.approx(found[1].loss_, rel=ROUNDING)
