"""Models as shipped on well-known data: a finite answer, or a reason with what helps."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import HuberRegressor, Lasso
from sklearn.preprocessing import StandardScaler

import unassuming as ua
from unassuming.regions import Status

X, Y = load_diabetes(return_X_y=True)


def test_lasso_bounds_scaled_features_by_default_and_the_identity_does_not():
    scaled = StandardScaler().fit_transform(X)
    default = ua.confidence_region(Lasso(0.1), scaled, Y, m=20, random_state=0)
    identity = ua.confidence_region(
        Lasso(0.1), scaled, Y, m=20, random_state=0, weighting="identity"
    )
    assert default.weighting == "hessian"
    assert default.interval(level=0.9, simultaneous=True, method="joint").status is Status.CERTIFIED
    assert (
        identity.interval(level=0.9, simultaneous=True, method="joint").status
        is not Status.CERTIFIED
    )


def test_huber_regression_as_shipped_says_what_helps_and_it_does():
    region = ua.confidence_region(HuberRegressor(), X[:, [2, 3]], Y, m=20, random_state=0)
    joint = region.interval(level=0.9, simultaneous=True, method="joint")
    assert joint.status is Status.NO_OUTER_BOUND
    assert np.isinf(joint.upper).all()
    assert "method='cells'" in joint.reason
    assert np.isfinite(region.interval(level=0.9, method="cells", simultaneous=True).upper).all()
    few = ua.confidence_region(HuberRegressor(), X[:40, [2, 3]], Y[:40], m=20, random_state=0)
    assert "cells" not in few.interval(level=0.9, simultaneous=True, method="joint").reason


@pytest.mark.slow
def test_an_interval_prints_thirty_names():
    rng = np.random.default_rng(0)
    for features, cut in ((29, False), (31, True)):
        region = ua.confidence_region(
            Lasso(0.1),
            rng.normal(size=(12, features)),
            rng.normal(size=12),
            m=2,
            random_state=0,
        )
        assert ("..." in str(region.interval(level=0.5, simultaneous=True, method="joint"))) == cut
