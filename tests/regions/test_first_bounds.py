"""Models as shipped on well-known data: a finite answer, or a reason with what helps."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso
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
