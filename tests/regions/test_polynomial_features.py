"""Bounds of polynomial kernels whose features nearly depend on each other.

The features are rounded, and inputs far from zero magnify that.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from adversarial import checks
from adversarial.problems import Problem
from unassuming.regions._explain import Status, status_of


def region(width: float, degree: int, alpha: float) -> ua.Region:
    """Return a region of 12 rows with inputs within ``width`` of 15."""
    rng = np.random.default_rng(5)
    X, y = 15 + width * rng.uniform(-1, 1, (12, 1)), rng.standard_normal(12)
    model = KernelRidge(alpha=alpha, kernel="poly", degree=degree, gamma=0.3, coef0=1)
    return ua.confidence_region(model, X, y, m=20, random_state=1)


def exact_smoother(region: ua.Region, degree: int, alpha: float) -> mpmath.matrix:
    """Return K(K + alpha)^-1 in 180 digits."""
    x = [mpmath.mpf(float(v)) for v in region.objective.design.kernel.X[:, 0]]
    K = mpmath.matrix([[(mpmath.mpf(0.3) * u * v + 1) ** degree for v in x] for u in x])
    return K * mpmath.inverse(K + mpmath.mpf(alpha) * mpmath.eye(len(x)))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("alpha", [1.0, 2.0**-30, 2.0**-45])
@pytest.mark.parametrize("width", [2.0, 0.3, 0.03])
def test_the_error_of_the_smoother_is_bounded(width, alpha, degree):
    found = region(width, degree, alpha)
    primal = found.objective.primal
    with mpmath.workdps(180):
        q = mpmath.matrix(primal.whitening.q.tolist())
        off = q * q.T - exact_smoother(found, degree, alpha)
        error = mpmath.sqrt(sum(x**2 for x in off))
        assert error <= primal.whitening.defect
        assert error <= primal.complement.absolute
    assert primal.whitening.defect < 1e-2


def test_no_exact_member_lies_outside_a_band_where_features_nearly_depend():
    """One did, by 3e-11, before the features had errors."""
    problem = Problem.of(
        model="polynomial kernel",
        X=[[20.069], [19.932], [20.012], [19.974], [19.943], [19.977]],
        y=[-0.38, -0.81, -0.87, -0.22, -0.05, -2.28],
        alpha=2.0**-38,
        degree=2,
        gamma=0.5,
        coef0=1.0,
        noise="symmetric-exchangeable",
        m=5,
        seed=17,
    )
    found = problem.region()
    band = found.band(np.array([[20.0]]), level=0.8)
    assert band.status is Status.CERTIFIED
    assert list(checks.band(problem, found, [[Fraction(20)]], 1)) == []


def test_features_of_ordinary_inputs_cost_next_to_nothing():
    found = region(2.0, 2, 1.0)
    assert found.objective.primal.whitening.defect < 1e-12


def test_bounds_that_contradict_each_other_mean_an_empty_region():
    low, high = np.array([0.0, 2.0]), np.array([1.0, 1.5])
    assert status_of(low, high, Status.UNDETERMINED) is Status.EMPTY
    assert status_of(low[:1], high[:1], Status.UNDETERMINED) is Status.CERTIFIED
