"""Many candidates of LASSO and ε-SVR under signs: one product gives the ranks of the formulas."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from sklearn.svm import SVR

import oracles
import unassuming as ua

MODELS = {
    "kernel lasso": ua.KernelLasso(1.0, kernel="rbf", gamma=2.0),
    "indefinite kernel lasso": ua.KernelLasso(1.0, kernel=ua.kernels.truncated_parabolic),
    "lasso": Lasso(0.1),
    "svr": SVR(kernel="rbf", gamma=2.0, C=12.5, epsilon=0.2),
}


def build(name, weighting=None, n=14, noise="symmetric", m=150):
    X, y, _ = ua.datasets.sine(n=n, random_state=1)
    return ua.confidence_region(
        MODELS[name], X, y, noise=noise, m=m, weighting=weighting, random_state=1
    )


def candidates(region, count=300):
    rng = np.random.default_rng(2)
    size = 10.0 ** rng.uniform(-8, 8, size=(count, 1))
    return region.estimate + size * rng.normal(size=(count, region.objective.d))


def one_by_one(region, a):
    """Few candidates at a time never take the fast way."""
    return np.concatenate([region.rank(part) for part in np.split(a, len(a) // 20)])


@pytest.mark.parametrize(
    ("name", "weighting"),
    [
        *(("kernel lasso", weighting) for weighting in ("identity", "gram", "hessian")),
        *(("svr", weighting) for weighting in ("identity", "gram")),
        *(("indefinite kernel lasso", "identity"), ("lasso", "identity")),
    ],
)
def test_the_ranks_are_those_of_the_careful_comparison(name, weighting):
    region = build(name, weighting)
    a = candidates(region)
    doubt = region._engine._flipped.gaps(a, region.objective.residuals(a))[1]
    assert doubt.mean() < 0.2
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_the_ranks_are_those_of_the_published_formula():
    region = build("kernel lasso")
    K, y = region.objective.design.matrix, region.objective.y
    a = region.estimate + np.random.default_rng(3).normal(size=(40, region.n))
    images = region.perturbations.apply
    expected = [
        oracles.rank(oracles.kernel_lasso(K, y, 1.0, one, images), region.tie_order) for one in a
    ]
    assert len(set(expected)) > 1
    assert region.rank(a).tolist() == expected


def test_candidates_at_a_kink_go_to_the_careful_comparison():
    region = build("kernel lasso")
    a = candidates(region, 60)
    a[::3, 4] = 0.0
    doubt = region._engine._flipped.gaps(a, region.objective.residuals(a))[1]
    assert doubt[::3].all()
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_the_identity_among_the_signs_ties_in_the_drawn_order():
    region = build("kernel lasso", n=3)  # 149 draws of 8 sign vectors
    assert region._engine._flipped.identical.any()
    a = candidates(region)
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_one_sign_for_each_block_is_served_too():
    noise = ua.noise.BlockSymmetric([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])
    region = build("svr", noise=noise)
    assert region._engine._flipped is not None
    a = candidates(region)
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


@pytest.mark.parametrize("noise", ["exchangeable", "spherical"])
def test_other_transformations_are_left_to_the_careful_comparison(noise):
    assert build("kernel lasso", noise=noise)._engine._flipped is None


def test_numbers_that_overflow_are_in_doubt():
    region = build("kernel lasso")
    a = np.full((40, region.n), 1e200)
    with np.errstate(all="ignore"):
        assert region._engine._flipped.gaps(a, region.objective.residuals(a))[1].all()
