"""Outer bounds against members, where whole-space sets make them hard to get right."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua
from unassuming.regions import Status


def ball(rng, size, d, radius):
    u = rng.normal(size=(size, d))
    return radius * rng.random((size, 1)) ** (1 / d) * u / np.linalg.norm(u, axis=1, keepdims=True)


def assert_inside(region, points, level, bounds):
    members = points[region.contains(points, level)]
    slack = 1e-9 * (1 + np.abs(members).max(initial=0.0))
    assert (members >= bounds.lower - slack).all()
    assert (members <= bounds.upper + slack).all()
    return len(members)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("factor", [0.6, 0.99, 1.01, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_repeated_identities_leave_the_whole_ball(seed, factor):
    # Two blocks: a quarter of the transformations is I, and another -I, which least squares
    # does not tell from it.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    y = X @ [1, 1] + rng.laplace(size=20)
    noise = ua.noise.BlockSymmetric([0] * 10 + [1] * 10)
    model = LinearRegression(fit_intercept=False)
    region = ua.confidence_region(model, X, y, m=20, noise=noise, random_state=seed)
    bound = factor * np.linalg.norm(region.estimate)
    found = region.interval(level=0.9, norm_bound=bound, simultaneous=True, method="joint")
    members = assert_inside(region, ball(rng, 2000, 2, bound), 0.9, found)
    assert (members == 0) == (found.status is Status.EMPTY)
    if members:
        assert np.isfinite(found.upper).all()


@pytest.mark.slow
@pytest.mark.slow_but_first
@pytest.mark.parametrize("fraction", [0.5, 2.0])
def test_as_many_rows_as_features(fraction):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(3, 3)), rng.normal(size=3)
    region = ua.confidence_region(LinearRegression(fit_intercept=False), X, y, m=20, random_state=3)
    bound = fraction * np.linalg.norm(region.estimate)
    found = region.interval(level=0.9, norm_bound=bound, simultaneous=True, method="joint")
    points = np.vstack([ball(rng, 2000, 3, bound), np.zeros(3)])
    assert assert_inside(region, points, 0.9, found) > 0
    assert found.status is Status.CERTIFIED


def test_a_bias_that_every_transformation_may_reverse_is_seen_to_be_free():
    X, y = ua.datasets.two_classes(n=8, random_state=0)
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        region = ua.confidence_region(
            ua.LSSVC(kernel="rbf"),
            X,
            y,
            noise=ua.noise.BlockSymmetric([0] * 8),
            random_state=0,
            m=100,
        )
    assert region.bounded(0.3).verdict == "unbounded"
    assert region.reach(np.eye(9)[0], 0.3) == np.inf


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_constant_column_beside_an_intercept_changes_nothing(degree):
    x, y, _ = ua.datasets.sine(n=30, random_state=0)
    bands = []
    for bias in (True, False):
        model = make_pipeline(PolynomialFeatures(degree, include_bias=bias), LinearRegression())
        region = ua.confidence_region(model, x, y, random_state=0, m=100)
        bands.append(region.band(x, method="joint", level=0.9))
        assert region.sample(3, random_state=0, level=0.9).shape == (3, degree + 1 + bias)
    assert bands[0].status is Status.CERTIFIED
    np.testing.assert_allclose(bands[0].upper, bands[1].upper, rtol=1e-8)


def test_features_without_any_value_are_refused():
    with pytest.raises(ValueError, match="zero throughout"):
        ua.confidence_region(Ridge(fit_intercept=False), np.zeros((5, 1)), np.arange(5.0), m=100)


def test_sets_that_miss_the_ball_are_empty_for_every_functional():
    X = np.linspace(0, 10, 12)[:, None]
    y = 5 + np.random.default_rng(0).normal(size=12)
    region = ua.confidence_region(KernelRidge(kernel="poly", degree=2), X, y, random_state=0, m=100)
    bound = 0.05 * region.suggest_norm_bound() / 2
    assert region.band(X, 0.3, norm_bound=bound, method="joint").status is Status.EMPTY
    assert (
        region.interval(level=0.3, norm_bound=bound, simultaneous=True, method="joint").status
        is Status.EMPTY
    )
