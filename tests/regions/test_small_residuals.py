"""Residuals of the size of rounding are not zero: with a small penalty all of them are small.

A set whose statistics tie in double precision alone may have members, however far away.
"""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from adversarial import checks
from adversarial.problems import Problem

X = [[1.25], [-1.5], [0.375], [0.8125]]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize(("size", "seed"), [(3e8, 0), (1.0, 1)])
def test_no_exact_member_of_a_kernel_lies_outside_a_band(size, seed, q):
    problem = Problem.of(
        model="gaussian kernel", X=X, y=[size] * 4, alpha=2.0**-49, gamma=0.5, m=6, seed=seed
    )
    region, inputs = problem.region(), problem.rounded().X[:2]
    assert list(checks.band(problem, region, inputs, q)) == []


def test_ties_of_kernels_that_are_certain_still_empty_a_region():
    """With outputs of zero every statistic is zero at the estimate, and everywhere as large."""
    region = ua.confidence_region(
        KernelRidge(kernel="rbf", alpha=0.1), np.array(X), np.zeros(4), m=5, random_state=5
    )
    held = int((region.tie_order[1:] > region.tie_order[0]).sum())
    assert 0 < held < 4
    assert region.band(np.array(X), level=1 - (held + 1) / 5).status.name == "EMPTY"
    assert region.band(np.array(X), level=1 - held / 5).status.name != "EMPTY"


def test_equal_rows_tie_beyond_doubt():
    inputs = np.array([[0.0], [0.0], [1.0], [1.0]])
    region = ua.confidence_region(
        KernelRidge(kernel="rbf", alpha=0.1), inputs, np.array([1.0, 1.0, 3.0, 3.0]),
        noise="exchangeable", m=20, random_state=0,
    )  # fmt: skip
    moved = region.perturbations.apply(np.array([1.0, 1.0, 3.0, 3.0]))
    expected = (moved == [1.0, 1.0, 3.0, 3.0]).all(axis=1)
    assert expected.any()
    assert not expected.all()
    np.testing.assert_array_equal(region.shape.sets.maker.certain_ties, expected)


@pytest.mark.parametrize("seed", [4, 9])
def test_a_direction_without_end_has_exact_members_far_out(seed):
    """Inputs between 1e-3 and 1e10: rounded coefficients left the sets at 1e9 of their sizes."""
    rng = np.random.default_rng(seed)
    inputs = np.round(rng.normal(size=(6, 3)), 2)
    inputs[0] *= [3e6, 3e3, 1e6]
    inputs[5] = [0.001, 8e9, 0.002]
    inputs[1:5, 1] *= 0.01
    problem = Problem.of(
        model="polynomial kernel",
        X=inputs.tolist(),
        y=np.round(rng.normal(size=6) * 100, 1).tolist(),
        alpha=2.0**-12,
        degree=1,
        gamma=0.5,
        coef0=1.0,
        m=5,
        seed=seed,
        ties="conservative",
    )
    assert list(checks.verdict(problem, problem.region(), 1)) == []


def test_rotated_residuals_of_the_size_of_rounding_are_not_zero():
    """A line through outputs near 1e9: what is left is the distance of two doubles there."""
    problem = Problem.of(
        model="least squares",
        X=[[-3.5e17], [4.1e17], [6.2e17], [3.7e16], [2.9e17], [-3.2e17], [-1.3e17], [5.1e17]],
        y=[3 * x + 1e9 for x in (-35, 41, 62, 3.7, 29, -32, -13, 51)],
        noise="spherical",
        m=5,
        seed=3,
    )
    assert not problem.region().shape.sets.maker.certain_ties.any()
