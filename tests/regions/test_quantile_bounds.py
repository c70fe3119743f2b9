"""Outer bounds of regression quantiles: honest, tight, and infinite where the region is."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor

import unassuming as ua


def made(seed, *, n=40, tau=0.5, alpha=0.0, m=20, columns=1, **options):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 2, size=(n, columns))
    y = 1 + X.sum(axis=1) + (0.3 + X[:, 0]) * rng.lognormal(size=n)
    model = QuantileRegressor(quantile=tau, alpha=alpha)
    return ua.confidence_region(model, X, y, m=m, random_state=seed, **options)


def vertices(region):
    """All points at which d of the data hyperplanes, or faces a_j = 0, meet."""
    phi, y, d = region.objective.design.matrix, region.objective.y, region.objective.d
    held = np.flatnonzero(region.objective.penalty > 0)
    rows = np.vstack([phi, np.eye(d)[held]])
    values = np.r_[y, np.zeros(len(held))]
    found = []
    for some in map(list, combinations(range(len(rows)), d)):
        if abs(np.linalg.det(rows[some])) > 1e-9:
            a = np.linalg.solve(rows[some], values[some])
            for j, index in enumerate(held):
                if len(phi) + j in some:
                    a[index] = 0.0
            found.append(a)
    return np.array(found)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_bounds_are_close_to_the_farthest_vertices(level, alpha):
    """A bounded polyhedron is largest at a vertex."""
    region = made(0, n=30, alpha=alpha)
    # With a penalty a vertex on a_j = 0 has another critical value than the cells around it.
    angles = np.linspace(0, 2 * np.pi, 60)
    around = 1e-7 * np.column_stack([np.cos(angles), np.sin(angles)])
    corners = vertices(region)
    corners = np.concatenate([corners, *(corners + step for step in around)])
    members = corners[region.contains(corners, level)]
    g = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -3.0]])
    found = region.interval(g, level, simultaneous=True, method="joint")
    values = members @ g.T
    width = values.max(axis=0) - values.min(axis=0)
    assert found.status.name == "CERTIFIED"
    assert (found.upper >= values.max(axis=0)).all()
    assert (found.lower <= values.min(axis=0)).all()
    assert (found.upper - values.max(axis=0) <= 0.03 * width).all()
    assert (values.min(axis=0) - found.lower <= 0.03 * width).all()


@pytest.mark.slow
def test_one_side_is_bounded_where_the_other_is_not():
    """Ten rows say nothing about how large the 0.95-quantile is, but how small it can be."""
    region = made(0, n=10, tau=0.95)
    found = region.interval([1.0, 1.0], 0.9, simultaneous=True, method="joint")
    assert found.status.name == "UNBOUNDED"
    assert found.upper[0] == np.inf
    assert np.isfinite(found.lower[0])
    assert "arbitrarily far" in found.reason
    assert region.bounded(0.9).verdict == "unbounded"
    far = region.estimate + 1e9 * region.bounded(0.9).direction
    assert region.contains(far) or region.contains(2 * region.estimate - far)


def far_members(region, level):
    """Which data lines r_j = 0 end in members, on them or on one of their sides (d = 2)."""
    phi, y = region.objective.design.matrix, region.objective.y
    far = []
    for row, value in zip(phi, y, strict=True):
        along, off = np.array([-row[1], row[0]]), row / (row @ row)
        for t in (-1e6, 1e6):
            on = value * off + t * along
            far += [on, on + 1e-3 * off, on - 1e-3 * off]
    return bool(region.contains(np.array(far), level).any())


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", range(8))
def test_the_verdict_is_that_of_the_lines_of_the_data(seed):
    """The region may end in a narrow cone, or in a single ray along which a residual is zero."""
    region = made(seed, n=12, tau=(0.3, 0.7)[seed % 2])
    expected = "unbounded" if far_members(region, 0.8) else "bounded"
    verdict = region.bounded(0.8)
    assert verdict.verdict == expected
    found = region.interval(level=0.8, simultaneous=True, method="joint")
    assert found.status.name == ("UNBOUNDED" if expected == "unbounded" else "CERTIFIED")


def test_many_coefficients_have_no_outer_bound_but_attained_ones():
    region = made(3, n=60, columns=5)
    found = region.interval(level=0.5, inner=True, simultaneous=True, method="joint")
    assert found.status.name == "NO_OUTER_BOUND"
    assert np.isinf(found.upper).all()
    assert "at most 4 coefficients" in found.reason
    assert (found.inner_lower < region.estimate).all()
    assert (found.inner_upper > region.estimate).all()
    assert region.bounded(0.5).verdict == "undetermined"


def test_an_empty_region_is_said_to_be_empty():
    """All ties count against the candidate: even the estimate has a rank of two or more."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=4)
        model = QuantileRegressor(alpha=0, fit_intercept=False)
        region = ua.confidence_region(model, np.ones((4, 1)), y, m=20, random_state=seed)
        if region.rank(region.estimate) > 1:
            break
    found = region.interval(level=0.05, simultaneous=True, method="joint")
    assert found.status.name == "EMPTY"
    assert np.isnan([found.lower[0], found.upper[0]]).all()
