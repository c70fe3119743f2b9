"""Data that double precision does not resolve: ranks with one warning, otherwise a refusal."""

import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

ASKED = {
    "reach": lambda region: region.reach("x0"),
    "crossings": lambda region: region.crossings("x0"),
    "ellipsoid": lambda region: region.ellipsoid(),
    "bounded": lambda region: region.bounded(),
    "max_bounded_level": lambda region: region.max_bounded_level,
    "sample": lambda region: region.sample(3),
    "interval": lambda region: region.interval(simultaneous=False),
    "joint interval": lambda region: region.interval(simultaneous=True),
    "band": lambda region: region.band(region.inputs[:2], method="joint"),
    "summary": lambda region: region.summary(),
}


def near_copy(share, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[:, 2] = X[:, 0] + share * rng.normal(size=n)
    return X, X[:, 1] + rng.laplace(size=n)


@pytest.fixture(scope="module")
def doubtful():
    return ua.confidence_region(LinearRegression(), *near_copy(3e-11), random_state=0)


@pytest.mark.parametrize("asked", list(ASKED))
def test_what_needs_the_columns_in_doubt_is_refused_in_one_sentence(doubtful, asked):
    with pytest.raises(
        ua.NotAvailable, match=r"nearly depend .* for x0, x2\. Drop one of them, or"
    ):
        ASKED[asked](doubtful)


def test_ranks_are_given_with_one_warning_a_region(doubtful):
    region = ua.confidence_region(LinearRegression(), *near_copy(3e-11), random_state=0)
    with pytest.warns(UserWarning, match="x0, x2") as caught:
        region.rank(region.estimate + 1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        region.test(region.estimate + 1)
        region.contains(region.estimate)
        region.pvalue(region.estimate)
        assert str(region).startswith("Confidence region of LinearRegression()")


@pytest.mark.parametrize("share", [1e-8, 1e-14])
def test_resolved_and_dependent_columns_pass(share):
    region = ua.confidence_region(LinearRegression(), *near_copy(share), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        region.rank(region.estimate + 1)
        region.summary()


def test_a_penalty_resolves_columns():
    region = ua.confidence_region(Ridge(0.1), *near_copy(3e-11), random_state=0)
    assert region.rank(region.estimate) == 1
    assert np.isfinite(region.summary().lower).all()


def test_a_far_cell_is_named():
    X, y = near_copy(1.0)
    X[17, 1] = 1e9
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    with pytest.raises(ua.NotAvailable, match=r"times in x1, row 17 \(counted from zero\)"):
        region.summary()


def test_a_lost_penalty_names_one_that_is_not():
    X, y = near_copy(1.0, n=30)
    region = ua.confidence_region(KernelRidge(alpha=1e-12, kernel="rbf"), X, y, random_state=0)
    with pytest.raises(ua.NotAvailable, match="expected alpha") as refused:
        region.reach(np.ones(30))
    least = float(str(refused.value).split("at least ")[1].split(",")[0])
    region = ua.confidence_region(KernelRidge(alpha=1.1 * least, kernel="rbf"), X, y)
    assert region.rank(region.estimate) == 1
    assert region.reach(np.ones(30)) > 0


def test_outputs_of_any_ordinary_size_pass_and_others_are_refused_at_once():
    X, y = near_copy(1.0)
    y[3] = 1e9  # Cauchy noise
    assert ua.confidence_region(LinearRegression(), X, y).summary().lower.shape == (4,)
    y[3] = 1e160
    with pytest.raises(ValueError, match="y is too large: expected numbers below 1e"):
        ua.confidence_region(LinearRegression(), X, y)
