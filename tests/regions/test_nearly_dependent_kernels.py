"""Features of a kernel that only rounding makes dependent: exact members lie inside the bounds."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from adversarial import checks
from adversarial.problems import Problem

FIRST, MOVED = (6.0, -10.0, -10.0, 8.0, -8.0, -10.0, 8.0), (1, 5, -4, 4, 0, -4, 1)
X = [[x, x / 4 + k * 2.0**-23] for x, k in zip(FIRST, MOVED, strict=True)]
TRUTH = np.array([1.0, 2.0, -1.0, 3.0, 0.0, 1.0, 2.0])


def problem(noise):
    """A square of inputs that are nearly multiples: x1², x1x2 and x2² differ in the last digits."""
    given = Problem.of(
        model="polynomial kernel", X=X, y=[0.0] * 7, degree=2, gamma=0.5, coef0=0.0,
        alpha=1.0, noise=noise, m=10, seed=3,
    )  # fmt: skip
    y = [sum(Fraction(t) * k for t, k in zip(TRUTH, row, strict=True)) for row in given.gram]
    return replace(given, y=[v + Fraction(i % 3, 4) for i, v in enumerate(y)])


def test_no_member_lies_outside_the_band():
    for noise in ("exchangeable", "symmetric"):
        given = problem(noise)
        region = given.region()
        for q in (1, 2):
            assert not list(checks.band(given, region, given.rounded().X[:3], q))


def test_the_reason_is_named():
    band = problem("exchangeable").region().band(np.array(X[:2]), level=0.9)
    assert np.isinf(band.upper).all()
    assert "depend on each other up to rounding but not exactly" in band.reason


@pytest.mark.filterwarnings("error")
def test_bounds_that_are_not_resolved_are_infinite_beside_an_estimate_of_zero():
    """The kernel does not resolve the value between inputs, and the estimate is zero."""
    X = np.array([[-0.6735], [0.0071], [-0.001752], [2e-5], [2e-5], [1e-4], [3e-5]])
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=1.0)
    options = {"noise": "spherical", "m": 10, "random_state": 0}
    region = ua.confidence_region(model, X, np.zeros(7), **options)
    band = region.band([[0.189]])
    assert (band.lower[0], band.upper[0]) == (-np.inf, np.inf)
    assert not np.isnan(region.band(X).upper).any()
