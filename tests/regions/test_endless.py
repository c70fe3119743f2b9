"""Lines without end: what they prove, and what a search says that meets them."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua
from speed import slow_but
from unassuming.regions._results import Status
from unassuming.regions.search._endless_rays import Endless
from unassuming.regions.search._hill_climbing import climb
from unassuming.regions.search._proposals import Proposals


def diabetes(**options):
    table = load_diabetes(as_frame=True, **options)
    return table.data[["bmi", "bp"]], table.target


def build(estimator, data, **options):
    return ua.confidence_region(estimator, *data, **{"m": 20, "random_state": 0, **options})


@pytest.fixture(scope="module", params=slow_but([True, False], True), ids=["scaled", "raw"])
def region(request):
    return build(Lasso(0.1), diabetes(scaled=request.param), weighting="identity")


def test_a_line_without_end_makes_the_region_unbounded(region):
    found = region.interval(simultaneous=True, method="joint")
    assert found.status is Status.UNBOUNDED
    assert np.isneginf(found.lower).all()
    assert np.isposinf(found.upper).all()
    assert "unbounded: from some members one can go arbitrarily far along" in found.reason


def test_the_direction_in_the_reason_has_no_end(region):
    words = region.interval("bmi", simultaneous=True, method="joint").reason.split(
        "arbitrarily far along "
    )[1]
    if words.startswith("the direction"):
        direction = [float(x) for x in words.split("[")[1].split("]")[0].split(",")]
    else:
        direction = words.split()[2]
    assert np.isinf(region.crossings(direction)).any()


@pytest.mark.slow
def test_an_infinite_inner_bound_has_a_line_behind_it_and_a_member(region):
    found = region.interval(inner=True, simultaneous=True, method="joint")
    assert np.isneginf(found.inner_lower).all()
    assert np.isposinf(found.inner_upper).all()
    assert region.contains(found.witnesses.reshape(-1, 3)).all()
    assert np.abs(found.witnesses).max() < 1e4  # no artefact of a search
    assert "not attained by a single member" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize("scaled", [True, False])
def test_scaling_and_the_hessian_weighting_help_as_is_said(scaled):
    data = diabetes(scaled=scaled)
    reason = (
        build(Lasso(0.1), data, weighting="identity")
        .interval(simultaneous=True, method="joint")
        .reason
    )
    assert "weighting='hessian'" in reason
    assert "make_pipeline(StandardScaler(), Lasso(alpha=0.1))" in reason
    for other in (
        build(Lasso(0.1), data, weighting="hessian"),
        build(make_pipeline(StandardScaler(), Lasso(0.1)), data, weighting="identity"),
    ):
        found = other.interval(simultaneous=True, method="joint")
        assert found.status is Status.CERTIFIED
        assert np.isfinite([found.lower, found.upper]).all()


@pytest.mark.slow
def test_a_functional_that_the_line_does_not_see_is_searched_for():
    """The intercept is free, and the slope within the ball is not."""
    X, y, _ = ua.datasets.linear(n=30, d=1, noise="laplace", random_state=0)
    region = build(Lasso(0.1), (X, y), noise="exchangeable")
    found = region.interval(norm_bound=5.0, inner=True, simultaneous=True, method="joint")
    assert np.isinf(found.inner_upper[0])
    assert found.inner_upper[1] == found.witnesses[1, 1, 1] <= 5.0


def strip(origins, directions):
    """{|x_1| <= 1} on lines of the plane."""
    out = []
    for o, d in zip(origins, directions, strict=True):
        ends = np.sort([(-1 - o[1]) / d[1], (1 - o[1]) / d[1]]) if d[1] else [-np.inf, np.inf]
        out.append(np.array([ends]))
    return out


def test_a_search_that_meets_a_line_without_end_says_so_and_stops():
    g = np.array([[1.0, 0.0], [0.0, 1.0]])
    course = Proposals((np.diag([1.0, 0.0]), np.eye(2)), None, None)
    found, endless = climb(
        g,
        np.zeros((1, 2)),
        strip,
        lambda a: np.abs(a[:, 1]) <= 1,
        course.towards,
        np.random.default_rng(0),
        20,
    )
    assert endless[1, 0, 0] != 0
    assert endless[1, 0, 1] == 0
    assert np.isnan(endless[:, 1]).all()
    assert found[1, 1] == pytest.approx(1.0, abs=1e-6)


def test_rays_are_kept_only_if_members_are_found_far_out():
    origins, directions = np.zeros((2, 2)), np.eye(2)
    spans = [np.array([[-np.inf, 3.0]]), np.array([[-1.0, 0.5], [2.0, np.inf]])]
    every = Endless.on(origins, directions, spans, lambda a: np.ones(len(a), dtype=bool))
    np.testing.assert_array_equal(every.directions, [[-1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(every.origins, [[0.0, 0.0], [0.0, 4.0]])
    np.testing.assert_array_equal(every.along(np.eye(2)), [-1, 1])
    np.testing.assert_array_equal(every.along(-np.eye(2)), [0, -1])
    near = Endless.on(origins, directions, spans, lambda a: np.abs(a).max(axis=1) < 100)
    assert len(near.directions) == 0
