"""A candidate under which an observed label cannot happen lies in no region, at no cost."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import unassuming as ua


def problem(n=40, d=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-1.5 * X[:, 0])), 1, -1)


def logistic(C=1.0, m=20, **options):
    X, y = problem(**options)
    return ua.confidence_region(LogisticRegression(C=C), X, y, m=m, random_state=0)


@pytest.mark.parametrize("C", [1.0, 0.01, np.inf])
@pytest.mark.parametrize("slope", [-1e6, -1e4, 1e4, 1e6])
def test_far_coefficients_that_are_wrong_for_certain_are_in_no_region(C, slope):
    region = logistic(C)
    far = np.array([0.3 * slope, slope])
    f = region.objective.fitted(far[None])[0]
    assert (abs(region.objective.y - f) == 2).any()
    assert region.rank(far) == region.m
    result = region.test(far)
    assert "An observed label has probability zero under the candidate" in str(result)


def test_certainty_of_the_observed_labels_is_no_reason_to_leave():
    """Separated data: along the separating direction all labels are right."""
    X = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    region = ua.confidence_region(LogisticRegression(C=np.inf), X, X[:, 0] > 0, random_state=0)
    certain = np.array([0.0, 1e4])
    ties = region.tie_order[1:] < region.tie_order[0]
    assert region.rank(certain) == 1 + ties.sum()  # every statistic is that of the same labels


@pytest.mark.slow
def test_the_region_of_logistic_regression_has_an_end_on_lines_and_can_be_sampled():
    region = logistic(n=60)
    for direction in np.eye(2):
        assert np.isfinite(region.crossings(direction)).all()
    members = region.sample(12, random_state=0)
    assert region.contains(members).all()
    assert abs(members).max() < 10


def test_a_line_that_ends_in_a_certain_wrong_label_is_closed_by_its_limit():
    """The limit of members is an end of the interval, though it is none itself."""
    X = np.array([[-1.0], [1.0]] * 4)
    y = X[:, 0].copy()
    y[:4] *= -1
    region = ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)
    spans = region.crossings([0.0, 1.0], 0.95, [0.0, 0.0])
    t = np.linspace(-1.1, 1.1, 2201)
    inside = ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)
    a = t[:, None] * [0.0, 1.0]
    certain = abs(t) > 1 - 1e-12
    np.testing.assert_array_equal(inside[~certain], region.contains(a, 0.95)[~certain])
    assert not region.contains(a, 0.95)[certain].any()
