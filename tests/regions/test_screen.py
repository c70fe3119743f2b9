"""Single precision decides only what it can: sure signs are right, the rest is left in doubt."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

MODELS = {
    "kernel ridge": KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5),
    "ridge": Ridge(0.5),
    "least squares": LinearRegression(),
}


def build(name, noise, m=150, offset=0.0):
    rng = np.random.default_rng(1)
    X = np.linspace(0, 10, 14)[:, None]
    y = offset + np.sin(X[:, 0]) + rng.laplace(size=14)
    return ua.confidence_region(MODELS[name], X, y, noise=noise, m=m, random_state=1)


def candidates(region, count=400):
    rng = np.random.default_rng(2)
    size = 10.0 ** rng.uniform(-8, 8, size=(count, 1))
    return region.estimate + size * rng.normal(size=(count, region.objective.d))


def one_by_one(region, a):
    """Few candidates at a time never take the fast way."""
    return np.concatenate([region.rank(part) for part in np.split(a, len(a) // 20)])


@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable", "spherical"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_not_in_doubt_is_right(name, noise):
    # m = 150: sums of bytes go beyond 127.
    region = build(name, noise)
    a = candidates(region)
    below, doubt = region._engine._screen.before(a)
    np.testing.assert_array_equal(1 + below[~doubt], one_by_one(region, a)[~doubt])
    assert doubt.mean() < 0.9


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_large_offsets_leave_more_in_doubt_and_change_no_rank(offset):
    region = build("ridge", "symmetric", offset=offset)
    a = candidates(region)
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))


def test_most_candidates_at_the_scale_of_the_region_are_decided():
    region = build("kernel ridge", "symmetric")
    a = region.estimate + 0.3 * np.random.default_rng(0).normal(size=(2000, region.objective.d))
    assert region._engine._screen.before(a)[1].mean() < 0.05


def test_numbers_that_overflow_are_in_doubt():
    region = build("kernel ridge", "symmetric")
    a = np.full((40, region.objective.d), 1e200)
    with np.errstate(all="ignore"):
        assert region._engine._screen.before(a)[1].all()
