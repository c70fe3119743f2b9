"""Regression quantiles along lines: crossings agree with membership everywhere, and samples too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import QuantileRegressor

import unassuming as ua


def made(seed, *, n=15, alpha=0.0, step=None, m=20, tau=0.4, dummies=False):
    """A region of three coefficients; with a step, y and the inputs have many equal values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if dummies:
        X = (X > 0).astype(float)
    y = 1 + X @ [1.0, -0.5] + rng.lognormal(size=n)
    if step is not None:
        X, y = np.round(X), step * np.round(y / step)
    model = QuantileRegressor(quantile=tau, alpha=alpha)
    return ua.confidence_region(model, X, y, m=m, random_state=seed)


def agrees(region, origin, direction, level, points=200):
    """Whether the intervals agree with membership on a scan, beside the ends and at breakpoints."""
    spans = region.crossings(direction, level, origin)
    phi = region.objective.design.matrix
    slope = phi @ direction
    moving = np.abs(slope) > 1e-9
    at = (region.objective.y - phi @ origin)[moving] / slope[moving]
    kinks = -origin[1:][direction[1:] != 0] / direction[1:][direction[1:] != 0]
    between = np.sort(np.r_[at, kinks])
    between = (between[1:] + between[:-1])[np.diff(between) > 1e-9] / 2
    t = np.r_[np.linspace(-8.003, 8, points), between, at, 0.0]
    near = np.abs(t[:, None] - spans.ravel()[np.isfinite(spans.ravel())])
    off = (near > 1e-12).all(axis=1) if near.size else np.ones(len(t), dtype=bool)
    t = t[off]  # the ends themselves move by rounding
    inside = ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)
    truth = region.contains(origin + t[:, None] * direction, level)
    # A breakpoint that is not hit exactly, up to rounding, has no free indicator.
    wrong = inside != truth
    return not wrong.any(), int(truth.sum())


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.05]),
    step=st.sampled_from([None, 0.5]),
    dummies=st.booleans(),
    level=st.sampled_from([0.5, 0.8, 0.95]),
    kind=st.sampled_from(["random", "axis", "from the estimate", "on a face"]),
)
def test_crossings_agree_with_a_dense_scan_of_membership(seed, alpha, step, dummies, level, kind):
    region = made(seed, alpha=alpha, step=step, dummies=dummies)
    rng = np.random.default_rng(seed)
    origin, direction = region.estimate + 0.3 * rng.normal(size=3), rng.normal(size=3)
    if kind in ("axis", "from the estimate"):
        direction = np.eye(3)[rng.integers(3)]
    if kind == "from the estimate":
        origin = region.estimate.copy()
    if kind == "on a face":
        origin[1] = direction[1] = 0.0
    same, _ = agrees(region, origin, direction, level)
    assert same


@pytest.mark.slow
def test_a_residual_may_stay_zero_along_a_line():
    """Rows of the reference group do not see the coefficients of dummies."""
    stays = 0
    for seed in range(6):
        region = made(seed, n=15, dummies=True, alpha=0.02 * (seed % 2))
        zero = np.abs(region.objective.residuals(region.estimate)) < 1e-9
        for direction in np.eye(3)[1:]:
            stays += bool((zero & (region.objective.design.matrix @ direction == 0)).any())
            for level in (0.3, 0.9):
                assert agrees(region, region.estimate, direction, level, points=40)[0]
    assert stays > 5


def test_some_lines_meet_the_region():
    region = made(0)
    _, members = agrees(region, region.estimate, np.array([1.0, 0.0, 0.0]), 0.9)
    assert members > 20


@pytest.mark.slow
def test_a_line_may_meet_the_region_in_single_points():
    """Where two data hyperplanes meet, free indicators admit what both neighbours exclude."""
    found = 0
    for seed in range(15):
        region = made(seed, n=8, m=10)
        for direction in np.eye(3):
            spans = region.crossings(direction, 0.3)
            single = spans[spans[:, 0] == spans[:, 1], 0]
            found += len(single)
            beside = np.concatenate([single - 1e-6, single + 1e-6])
            assert region.contains(region.estimate + single[:, None] * direction, 0.3).all()
            if len(beside):
                outside = region.contains(region.estimate + beside[:, None] * direction, 0.3)
                assert not outside.any()
    assert found > 5


def test_reach_is_the_end_of_the_interval_around_the_estimate():
    region = made(3, n=60)
    for direction in np.eye(3):
        end = float(region.reach(direction, 0.9))
        spans = region.crossings(direction, 0.9)
        here = (spans[:, 0] <= 0) & (spans[:, 1] >= 0)
        assert end == spans[here, 1][0] > 0
        assert region.contains(region.estimate + 0.999 * end * direction, level=0.9)
        assert not region.contains(region.estimate + 1.001 * end * direction, level=0.9)
    every = region.reach(np.eye(3), level=None)
    assert every.shape == (3, 19)
    assert (np.diff(every, axis=1) <= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_samples_are_members_and_spread_over_the_region(alpha):
    region = made(1, n=60, alpha=alpha)
    points = region.sample(128, 0.9, random_state=0)
    assert region.contains(points, 0.9).all()
    ends = np.array([region.crossings(v, 0.9)[[0, -1], [0, 1]] for v in np.eye(3)])
    spread = points.max(axis=0) - points.min(axis=0)
    assert (spread > 0.5 * (ends[:, 1] - ends[:, 0])).all()
