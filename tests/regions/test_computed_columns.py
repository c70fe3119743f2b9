"""Columns that transformers compute depend up to rounding; columns that are passed are numbers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua
from unassuming.membership import _engine
from unassuming.regions._results import Status

N, KNOTS = 40, 6
RNG = np.random.default_rng(7)
X = RNG.uniform(-1, 3, size=(N, 1))
Y = np.cos(2 * X[:, 0]) + 0.3 * RNG.laplace(size=N)
TIMES = np.linspace(-0.9, 2.9, 9)[:, None]


@pytest.fixture(scope="module")
def splines():
    model = make_pipeline(SplineTransformer(n_knots=KNOTS), LinearRegression())
    return ua.confidence_region(model, X, Y, m=40, random_state=0)


@pytest.fixture(scope="module")
def without_intercept():
    model = make_pipeline(SplineTransformer(n_knots=KNOTS), LinearRegression(fit_intercept=False))
    return ua.confidence_region(model, X, Y, m=40, random_state=0)


def test_a_spline_basis_adds_up_to_a_constant_up_to_rounding_only(splines):
    basis = splines.objective.design.matrix[:, 1:]
    total = basis.sum(axis=1)
    assert (total != 1.0).any()
    assert np.abs(total - 1.0).max() < 1e-14


def test_coefficients_of_a_spline_basis_with_an_intercept_take_every_value(splines):
    assert splines.objective.design.unseen == 1
    interval = splines.interval(level=0.9)
    assert np.isneginf(interval.lower).all()
    assert np.isposinf(interval.upper).all()
    verdict = str(splines.bounded(0.9))
    assert "Coefficients can also move without changing any fitted value" in verdict


def test_its_band_is_that_of_the_basis_without_the_intercept(splines, without_intercept):
    band, other = (r.band(TIMES, level=0.9) for r in (splines, without_intercept))
    assert band.status is Status.CERTIFIED
    np.testing.assert_allclose(band.lower, other.lower, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(band.upper, other.upper, rtol=1e-7, atol=1e-7)


def test_its_ranks_are_those_without_the_intercept_and_need_no_exact_numbers(
    splines, without_intercept, monkeypatch
):
    def refuse(*_):
        raise AssertionError("exact numbers are not needed")

    monkeypatch.setattr(_engine.ExactGaps, "signs", refuse)
    steps = np.random.default_rng(1).normal(size=(30, KNOTS + 2))
    slopes = without_intercept.estimate + steps * np.geomspace(0.05, 1, 30)[:, None]
    # The constant 3 is an intercept, or 3 in each coefficient of the basis.
    candidates = np.column_stack([np.full(30, 3.0), slopes - 3.0])
    ranks = [splines.rank(candidate) for candidate in candidates]
    np.testing.assert_array_equal(ranks, without_intercept.rank(slopes))
    assert len(np.unique(ranks)) > 5


def test_columns_that_are_passed_and_differ_in_their_last_digits_are_two():
    rng = np.random.default_rng(2)
    one = rng.integers(1, 9, size=20).astype(float)
    two = one * (1 + rng.integers(-3, 4, size=20) * 2.0**-52)
    y = one + rng.laplace(size=20)
    passed, repeated = (
        ua.confidence_region(LinearRegression(), np.column_stack(columns), y, m=20, random_state=0)
        for columns in ((one, two), (one, one))
    )
    assert (passed.objective.design.unseen, repeated.objective.design.unseen) == (0, 1)
    assert np.isfinite(passed.interval(level=0.9).lower).all()
    assert np.isneginf(repeated.interval(level=0.9).lower[1:]).all()
