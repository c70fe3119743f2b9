"""Label regions of features in tiny and huge units: lines agree with membership."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

import unassuming as ua
from unassuming.geometry.labels._branch_and_bound import _of_the_smoother
from unassuming.regions import Status

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
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("first", [50, 60])
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


@pytest.mark.parametrize("weight", [1e-4, 1.0, 1e4])
def test_errors_of_the_smoother_grow_with_the_weights(weight):
    """h_i - h_0 and h_i + h_0 are in units of the roots of the weights."""
    X, y = flowers()
    w = weight * np.linspace(0.5, 1.0, len(y))
    model = RidgeClassifier(1.0, fit_intercept=False)
    region = ua.confidence_region(model, X, y, sample_weight=w, random_state=0)
    known, penalty = region.shape.linear, np.eye(1) / len(y)
    boxes = known.boxes
    found = _of_the_smoother(known.model, penalty, boxes.back, boxes.corner)
    held = abs(boxes.back[0, 0]) * boxes.corner[0] / np.sqrt(len(y))
    root = np.sqrt(weight)
    assert found == pytest.approx(known.model.whitened * 2 * root * (4 * root + 2 * held))
    plain = known.model.whitened * 2 * (4 + 2 * held)
    assert (found > plain) == (weight > 1)


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "verdict"), [(True, "unbounded"), (False, "undetermined")])
def test_a_bias_beside_a_large_given_kernel_is_free_whatever_the_rank(bias, verdict):
    """[1, K] has more columns than rows. The rank of a K of so many rows is not computed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(513, 2))
    y = np.where(rng.uniform(size=513) < 0.5 + 0.2 * np.tanh(X[:, 0]), 1, -1)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1))
    model = ua.LSSVC(C=0.4, kernel="precomputed", fit_intercept=bias)
    answer = ua.confidence_region(model, K, y, m=20, random_state=0).bounded(0.5)
    assert answer.verdict == verdict
    assert answer.direction is None


def test_a_column_in_another_unit_is_named():
    """Exactly the columns are independent, but double precision does not resolve coordinates."""
    X, y = flowers(columns=(2,))
    model, X = RidgeClassifier(1.0), np.hstack([X, 2.20462 * X])
    region = ua.confidence_region(model, X, y, m=20, random_state=0)
    assert region.bounded(0.9).verdict == "bounded"
    interval, near, away = (
        region.interval(),
        region.band(X[:3]),
        region.band(X[:3] + np.array([0, 0.3])),
    )
    assert interval.status is Status.NO_OUTER_BOUND
    assert near.status is away.status is Status.TRIVIAL
    for answer in (interval, near, away):
        assert "x0 and x1 nearly depend on each other. Leave out one of them." in str(answer)
        for wrong in ("at most 3 columns", "inputs of the data", "bias", "every value"):
            assert wrong not in str(answer)
    assert np.isfinite(region.interval(norm_bound=5.0).upper).all()
    alone = ua.confidence_region(model, X[:, :1], y, m=20, random_state=0)
    assert alone.interval().status is not Status.NO_OUTER_BOUND
