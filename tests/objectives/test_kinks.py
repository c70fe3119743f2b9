"""Objectives tell where their gradients change: nowhere else do they."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, Lasso, Ridge
from sklearn.svm import SVR

import unassuming as ua

KERNEL = {"kernel": "rbf", "gamma": 0.5}
PENALTIES = {
    "SVR": SVR(C=2.0, epsilon=0.3, **KERNEL),
    "kernel LASSO": ua.KernelLasso(alpha=1.0, **KERNEL),
    "Lasso": Lasso(alpha=0.3),
}


def objective_of(estimator):
    X, y, _ = ua.datasets.linear(n=9, d=3, random_state=0)
    return ua.confidence_region(estimator, X, y, m=5, random_state=0).objective


@pytest.mark.parametrize("name", PENALTIES)
def test_between_the_kinks_of_a_coefficient_its_subgradient_is_one_number(name):
    objective = objective_of(PENALTIES[name])
    kinks = objective.kinks()
    a = np.random.default_rng(0).normal(size=(400, objective.d)) * 3
    lo, hi = objective.subdifferential(a)
    np.testing.assert_array_equal(lo, hi)
    for k, (j, values) in enumerate(zip(kinks.coefficient, kinks.values, strict=True)):
        between = np.searchsorted(values[~np.isnan(values)], a[:, j])
        for number in set(between):
            assert len(set(lo[between == number, k])) == 1


@pytest.mark.parametrize("name", PENALTIES)
def test_at_a_kink_the_subdifferential_is_a_box(name):
    objective = objective_of(PENALTIES[name])
    kinks = objective.kinks()
    for values in kinks.values.T:
        a = np.ones((1, objective.d))
        a[0, kinks.coefficient] = np.where(np.isnan(values), 1.0, values)
        lo, hi = objective.subdifferential(a)
        np.testing.assert_array_equal(lo[0] < hi[0], ~np.isnan(values))


def test_the_slope_of_hubers_influence_changes_at_its_thresholds():
    objective = objective_of(ua.KernelHuber(delta=0.5, **KERNEL))
    r = np.linspace(-2.03, 2.03, 9 * 20).reshape(20, 9)
    step = 1e-6
    slope = (objective.influence(r + step) - objective.influence(r - step)) / (2 * step)
    kinks = objective.kinks()
    declared = kinks.slopes[np.searchsorted(kinks.thresholds, r)]
    np.testing.assert_allclose(declared, slope, atol=1e-9)


def test_quadratic_objectives_have_none_and_others_do_not_know():
    kinks = objective_of(Ridge()).kinks()
    assert kinks.values.size == kinks.thresholds.size == 0
    assert objective_of(HuberRegressor()).kinks() is None
