"""The search for inner bounds, where the answer is known, and against long samples."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge

import unassuming as ua
from unassuming.objectives import NormBall
from unassuming.regions.search._hill_climbing import climb
from unassuming.regions.search._proposals import Proposals

M = 20
KERNEL = {"kernel": "rbf", "gamma": 0.5}


def ellipsoid_members(root):
    """{a : ‖root a‖ <= 1} on lines."""

    def members(origins, directions):
        out = []
        for o, d in zip(origins @ root.T, directions @ root.T, strict=True):
            a, b, c = d @ d, o @ d, o @ o - 1
            gap = b * b - a * c
            ends = (-b + np.array([[-1, 1]]) * np.sqrt(max(gap, 0.0))) / (a if a else 1.0)
            out.append(ends if gap >= 0 and a else np.zeros((1, 2)))
        return out

    return members


@pytest.mark.parametrize("d", [2, 6])
def test_the_top_of_an_ellipsoid_is_found(d):
    rng = np.random.default_rng(d)
    root = np.diag(np.geomspace(1, 30, d)) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    g = rng.normal(size=(5, d))
    course = Proposals((np.eye(d), np.linalg.inv(root + 0.3 * np.eye(d))), None, None)
    found, endless = climb(
        g,
        np.zeros((1, d)),
        ellipsoid_members(root),
        lambda a: np.linalg.norm(a @ root.T, axis=1) <= 1,
        course.towards,
        rng,
        40,
    )
    assert np.isnan(endless).all()
    assert (np.linalg.norm(found @ root.T, axis=1) <= 1).all()
    best = np.linalg.norm(np.linalg.solve(root.T, g.T), axis=0)
    values = (g * found).sum(axis=1)
    assert (values <= best).all()
    assert (values >= 0.9 * best).all()


def test_the_top_of_a_ball():
    P = np.diag([0.0, 4.0, 1.0])
    ball = NormBall(P, 2.0)
    np.testing.assert_allclose(
        ball.farthest(np.array([[5.0, 2.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0, 0]])),
        [[0.0, 1.0, 0.0], [0.0, 0.0, -2.0], [0.0, 0.0, 0.0]],
        atol=1e-12,
    )


def build(estimator, data, **options):
    return ua.confidence_region(estimator, *data, **{"m": M, "random_state": 0, **options})


@pytest.mark.slow
def test_it_finds_what_the_search_of_quadratic_regions_finds():
    """The same region, once known to be made of ellipsoids and once by lines alone."""
    X, y, _ = ua.datasets.linear(n=30, d=3, noise="laplace", random_state=0)
    known = build(LinearRegression(), (X, y)).interval(
        None, 0.8, inner=True, simultaneous=True, method="joint"
    )
    lines = build(Lasso(alpha=0.0), (X, y), weighting="hessian").interval(
        None, 0.8, inner=True, simultaneous=True, method="joint"
    )
    spread = known.inner_upper - known.inner_lower
    assert (lines.inner_upper - lines.inner_lower > 0.9 * spread).all()
    assert (lines.inner_upper <= known.upper).all()


CASES = {
    "kernel LASSO": (ua.KernelLasso(alpha=1.0, **KERNEL), {}, 1.1),
    "kernel ridge, identity": (KernelRidge(alpha=1.0, **KERNEL), {"weighting": "identity"}, 2.0),
    "LASSO": (Lasso(alpha=0.2), {}, None),
    "ridge, identity": (Ridge(), {"weighting": "identity"}, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_long_samples_do_not_beat_it(name):
    estimator, options, share = CASES[name]
    if share is None:
        X, y, _ = ua.datasets.linear(n=40, d=5, noise="laplace", random_state=1)
    else:
        X, y, _ = ua.datasets.sine(n=16, noise="laplace", random_state=1)
    region = build(estimator, (X, y), **options)
    bound = None if share is None else share * region.suggest_norm_bound() / 2
    Z = X[::8][:2]
    found = region.band(
        Z, 0.9, norm_bound=bound, inner=True, target="representation", method="joint"
    )
    a = region.sample(60, 0.9, random_state=0, norm_bound=bound, thinning=6)
    values = a @ region.objective.design.rows(Z).T
    spread = values.max(axis=0) - values.min(axis=0)
    assert (found.inner_upper - found.inner_lower > 0.97 * spread).all()
    assert (found.inner_upper - found.inner_lower).mean() > 1.1 * spread.mean()


@pytest.mark.slow
def test_a_relaxed_band_is_not_far_from_what_is_attained():
    """Within a ball: the outer band at most twice the inner one, where the ball alone is more."""
    X, y, _ = ua.datasets.sine(n=25, noise="laplace", random_state=1)
    region = build(KernelRidge(alpha=1.0, **KERNEL), (X, y), weighting="identity")
    found = region.band(X[::5], 0.8, norm_bound=15.0, inner=True, method="joint")
    outer = (found.upper - found.lower).mean()
    inner = (found.inner_upper - found.inner_lower).mean()
    assert inner <= outer < 2 * inner
    assert outer < 0.8 * 30.0


def test_a_functional_that_is_zero():
    X, y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
    found = build(Lasso(alpha=0.2), (X, y)).interval(
        np.zeros((1, 3)), 0.5, inner=True, simultaneous=True, method="joint"
    )
    assert found.inner_lower == found.inner_upper == 0
    assert found.lower == found.upper == 0


@pytest.mark.slow
def test_the_search_is_reproducible():
    X, y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
    one, two = (
        build(Lasso(alpha=0.2), (X, y)).interval(
            "x1", 0.5, inner=True, simultaneous=True, method="joint"
        )
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.witnesses, two.witnesses)


@pytest.mark.slow
def test_a_diagonal_design_has_lines_that_move_few_coefficients():
    X = np.kron(np.eye(3), np.array([[1.0], [2.0], [-1.0], [0.5], [1.5], [-2.0]]))
    y = X @ [1.0, 0.0, -2.0] + np.random.default_rng(0).laplace(size=18)
    region = build(Lasso(alpha=0.05, fit_intercept=False), (X, y))
    found = region.interval(None, 0.8, inner=True, simultaneous=True, method="joint")
    assert region.contains(found.witnesses.reshape(-1, 3), 0.8).all()
    assert (found.inner_upper > region.estimate).all()
    assert (found.inner_upper <= found.upper).all()
