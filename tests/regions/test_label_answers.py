"""Answers of label regions: what is trivial, what a norm bound adds, what is a candidate."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import unassuming as ua
from unassuming.regions import Status

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(60, 1))
Y = np.where(RNG.uniform(size=60) < (1 + 0.7 * X[:, 0]) / 2, "yes", "no")


def region_of(model, y=Y, **options):
    return ua.confidence_region(model, X, y, **{"m": 20, "random_state": 0, **options})


@pytest.mark.parametrize("model", [LogisticRegression(), ua.LSSVC(kernel="rbf")])
def test_trivial_bounds_are_called_so(model):
    band = region_of(model).band(X[:3], method="joint")
    assert band.status is Status.TRIVIAL


def test_a_norm_bound_limits_the_coefficients_but_not_the_intercept():
    region = region_of(LogisticRegression())
    bounded = region.interval(norm_bound=3.0, simultaneous=True, method="joint")
    assert np.isfinite([bounded.lower[1], bounded.upper[1]]).all()
    assert np.isinf([bounded.lower[0], bounded.upper[0]]).all()
    assert region.band(X[:1], norm_bound=3.0, method="joint").status is Status.TRIVIAL
    for ask in (region.bounded, lambda: region.max_bounded_level):
        with pytest.raises(ua.NotAvailable):
            ask()


def test_without_an_intercept_a_norm_bound_helps_logistic_regression():
    region = region_of(LogisticRegression(fit_intercept=False))
    band = region.band([[0.5]], norm_bound=3.0, method="joint")
    assert band.status is Status.CERTIFIED
    assert band.upper[0] == pytest.approx(np.tanh(3 * 0.5 / 2))


# --- candidates -----------------------------------------------------------------------------------


class Probabilities:
    """A classifier that knows nothing of scikit-learn."""

    classes_ = ("no", "yes")

    def predict_proba(self, X):
        p = (1 + 0.7 * X[:, 0]) / 2
        return np.column_stack([1 - p, p])


def test_any_object_with_probabilities_and_classes_is_a_candidate():
    region = region_of(RidgeClassifier())
    rank = region.rank(lambda X: 0.7 * X[:, 0])
    assert region.rank(Probabilities()) == rank
    assert region.rank([Probabilities(), lambda X: 0.7 * X[:, 0]]).tolist() == [rank, rank]
    assert "p-value is not a valid test" in region.test(Probabilities()).caveat
