"""Label regions of features in tiny and huge units: lines agree with membership."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

import unassuming as ua

SCALES = [1, 1e-4, 1e-8, 1e-12, 1e-30, 1e-100, 1e8]
MODELS = {
    "ridge classifier": RidgeClassifier(1.0),
    "ridge classifier, no intercept": RidgeClassifier(1.0, fit_intercept=False),
    "LSSVC": ua.LSSVC(C=0.5),
    "LSSVC, no intercept": ua.LSSVC(C=0.5, fit_intercept=False),
}


def flowers(rows=slice(50, None), columns=(1,)):
    data = load_iris()
    X, y = data.data[rows][:, list(columns)], data.target[rows]
    return X, np.where(y == y.max(), 1, -1)


def lines(region, scale, rng):
    """The axes in the units of the features, lines between them, and origins apart from â."""
    d = region.objective.d
    unit = np.ones(d)
    unit[int(region.objective.design.intercept) :] = 1 / scale
    typical = np.abs(region.objective.design.matrix * unit).max(axis=0)
    for u in np.eye(d):
        yield region.estimate, unit * u / typical
    for _ in range(3):
        here, there = 0.1 * rng.normal(size=(2, d)) / typical
        yield unit * here, unit * there


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("first", "scale"),
    # With labels out of balance, membership counts more differences as ties in smaller units.
    [(50, scale) for scale in SCALES] + [(60, scale) for scale in SCALES if scale > 1e-30],
)
def test_lines_agree_with_membership_whatever_the_units(name, scale, first):
    X, y = flowers(slice(first, None))
    region = ua.confidence_region(MODELS[name], X * scale, y, random_state=0)
    rng = np.random.default_rng(1)
    members = 0
    for origin, direction in lines(region, scale, rng):
        spans = region.crossings(direction, origin=origin)
        ends = spans.ravel()
        step = 1e-6 * np.abs(ends)
        wide = 0.3 + np.abs(ends).max(initial=0.0)
        t = np.concatenate([ends - step, ends + step, rng.uniform(-wide, wide, 50)])
        inside = ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)
        truth = region.contains(origin + t[:, None] * direction)
        np.testing.assert_array_equal(inside, truth)
        members += truth.sum()
    assert members > 10


def test_reach_ends_where_membership_does_in_tiny_units():
    X, y = flowers()
    region = ua.confidence_region(RidgeClassifier(1.0), X * 1e-8, y, random_state=0)
    end = region.reach([1.0, 0.0])
    assert end == pytest.approx(0.18411317, rel=1e-6)
    assert region.contains(region.estimate + np.array([0.1836, 0.0]))
