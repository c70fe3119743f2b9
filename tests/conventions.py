"""Checks of scikit-learn, but for those that are wrong in old releases."""

import pytest
import sklearn
from packaging.version import Version
from sklearn.base import is_classifier

OLD = Version(sklearn.__version__) < Version("1.7")


def follows(estimator, check):
    """Run the check."""
    if OLD and is_classifier(estimator) and "sample_weight_equivalence" in check.func.__name__:
        pytest.skip("before 1.7 this check of scikit-learn makes the classes depend on row order")
    check(estimator)
