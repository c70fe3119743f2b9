"""Regions survive pickling and copying, whatever has been asked of them before."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but

X, Y, _ = ua.datasets.linear(n=16, d=2, random_state=0)
LABELS = np.where(np.median(Y) < Y, 1, -1)
MODELS = {
    "ridge": (Ridge(), Y),
    "kernel ridge": (KernelRidge(kernel="rbf"), Y),
    "lasso": (Lasso(0.1), Y),
    "svr": (SVR(C=1e3), Y),
    "labels": (RidgeClassifier(), LABELS),
    "logistic": (LogisticRegression(), LABELS),
}


def ask_everything(region):
    """Fill every cache that a region and its shape have."""
    candidates = region.estimate + 0.1 * np.random.default_rng(0).normal(
        size=(40, region.objective.d)
    )
    region.rank(candidates)
    for ask in (
        lambda: region.interval(region.names[-1], simultaneous=True, method="joint"),
        lambda: region.band(X[:2], norm_bound=2 * region.suggest_norm_bound(), method="joint"),
        lambda: region.reach(region.names[0]),
        lambda: region.bounded(0.9),
        lambda: region.ellipsoid(0.9),
        lambda: region.sample(3, random_state=0, norm_bound=2 * region.suggest_norm_bound()),
        lambda: region.diagnose(),
    ):
        try:
            ask()
        except ua.NotAvailable:
            continue
    str(region)
    return candidates


@pytest.mark.parametrize("name", slow_but(MODELS, "ridge", "kernel ridge"))
def test_a_copy_answers_the_same(name):
    region = ua.confidence_region(MODELS[name][0], X, MODELS[name][1], m=20, random_state=0)
    candidates = ask_everything(region)
    ranks, upper = (
        region.rank(candidates),
        region.interval(region.names[-1], simultaneous=True, method="joint").upper,
    )
    for other in (pickle.loads(pickle.dumps(region)), copy.deepcopy(region)):
        np.testing.assert_array_equal(other.rank(candidates), ranks)
        np.testing.assert_array_equal(
            other.interval(region.names[-1], simultaneous=True, method="joint").upper, upper
        )
        assert str(other) == str(region)
