"""Outer bounds of functionals: each set's support from plain formulas, and the q-th largest."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import laplacian_kernel

import unassuming as ua
from oracles import sets_of
from unassuming.regions import Interval, Status

pytestmark = pytest.mark.slow_but_first
M = 10
LEVELS = [q / M for q in range(1, M)]


def lagrange(g, Q, b, c):
    """The largest gᵀa over a bounded set, by its multiplier."""
    inverse = np.linalg.inv(Q)
    return g @ inverse @ b + np.sqrt((c + b @ inverse @ b) * (g @ inverse @ g))


def by_levels(interval_dict, field):
    """Values at levels 1 - q/m, q = 1, ..., m - 1, so that they decrease: (m - 1, N)."""
    return np.stack([getattr(interval_dict[p], field) for p in LEVELS[::-1]])


def linear_problem(name, seed, n=24, d=3, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 3.0, 0.2][:d]
    y = 1 + X @ rng.normal(size=d) + rng.standard_t(2, size=n)
    w = rng.uniform(0.2, 3.0, size=n) if weighted else np.ones(n)
    if name == "ols":
        return LinearRegression(fit_intercept=False), X, y, w, X, np.zeros((d, d)), 0.0
    Phi = np.column_stack([np.ones(n), X])
    P = np.diag([0.0] + [1.0] * d)
    return Ridge(alpha=1.7), X, y, w, Phi, P, 1.7 / n


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("model", "noise", "weighted"),
    [
        ("ols", "symmetric", False),
        ("ols", "symmetric", True),
        ("ols", "exchangeable", False),
        ("ols", "symmetric-exchangeable", False),
        ("ols", "spherical", False),
        ("ridge", "symmetric", True),
        ("ridge", "symmetric-exchangeable", False),
        ("ridge", "spherical", False),
        ("ridge", ua.noise.BlockSymmetric(np.arange(24) // 2), True),
    ],
)
def test_the_bound_at_q_is_the_qth_largest_lagrange_maximum(model, noise, weighted, seed):
    estimator, X, y, w, Phi, P, lam = linear_problem(model, seed, weighted=weighted)
    region = ua.confidence_region(
        estimator, X, y, noise=noise, m=M, sample_weight=w, random_state=seed
    )
    g = np.random.default_rng(seed + 50).normal(size=(4, Phi.shape[1]))
    sets = sets_of(region, Phi, P, lam, w, y)
    highest = np.array([[lagrange(row, *one) for row in g] for one in sets])
    lowest = -np.array([[lagrange(-row, *one) for row in g] for one in sets])
    found = region.interval(g, level=LEVELS, simultaneous=True, method="joint")
    upper, lower = -np.sort(-highest, axis=0), np.sort(lowest, axis=0)
    # Bounds are rounded outward, by a share of the width: rotations round.
    slack = 1e-8 * (upper - lower)
    more, less = by_levels(found, "upper") - upper, lower - by_levels(found, "lower")
    assert (more <= slack).all()
    assert (less <= slack).all()
    assert (more >= -1e-4 * slack).all()
    assert (less >= -1e-4 * slack).all()


@pytest.mark.parametrize("noise", ["spherical", "symmetric-exchangeable"])
def test_a_kernel_in_its_dual_coefficients_has_the_same_maxima(noise):
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 4, size=(8, 1))
    y = np.sin(X[:, 0]) + rng.normal(size=8)
    K = laplacian_kernel(X, gamma=1.0)
    region = ua.confidence_region(
        KernelRidge(kernel="laplacian", gamma=1.0, alpha=0.5), X, y, noise=noise, m=M,
        random_state=3,
    )  # fmt: skip
    g = rng.normal(size=(3, 8))
    highest = []
    for Q, b, c in sets_of(region, K, K, 0.5 / 8, np.ones(8), y):
        cylinder = eigh(Q, K, eigvals_only=True)[0] < 1e-10
        highest.append([np.inf if cylinder else lagrange(row, Q, b, c) for row in g])
    expected = -np.sort(-np.array(highest), axis=0)
    assert np.isfinite(expected).any()
    found = by_levels(region.interval(g, LEVELS, simultaneous=True, method="joint"), "upper")
    # Bounds are rounded outward: rotations round, and the matrix of the kernel magnifies that.
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    finite = np.isfinite(expected)
    assert (found[finite] >= (1 - 1e-10 * np.sign(expected[finite])) * expected[finite]).all()


# Clarabel 0.10 doubts one of its solutions, which is as accurate as the others.
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_cvxpy_finds_the_same_maxima():
    estimator, X, y, w, Phi, P, lam = linear_problem("ridge", 7, n=16)
    region = ua.confidence_region(estimator, X, y, m=M, random_state=7)
    g = np.random.default_rng(1).normal(size=(2, 4))
    values = np.empty((M - 1, 2))
    for i, (Q, b, c) in enumerate(sets_of(region, Phi, P, lam, w, y)):
        a, root = cp.Variable(4), np.linalg.cholesky(Q)
        inside = [cp.sum_squares(root.T @ a) - 2 * b @ a <= c]
        for j, row in enumerate(g):
            values[i, j] = cp.Problem(cp.Maximize(row @ a), inside).solve(solver=cp.CLARABEL)
    found = by_levels(region.interval(g, LEVELS, simultaneous=True, method="joint"), "upper")
    np.testing.assert_allclose(found, -np.sort(-values, axis=0), rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("m", [M, "all"])
def test_with_one_coefficient_the_interval_is_the_region_itself(seed, m):
    # Three rows: identity and -I are drawn often, and tie everywhere. Membership is the judge.
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(3, 1)), rng.normal(size=3)
    region = ua.confidence_region(
        LinearRegression(fit_intercept=False), x, y, m=m, random_state=seed
    )
    for q in range(1, region.m):
        level = 1 - q / region.m
        found = region.interval(level=level, simultaneous=True, method="joint")
        if found.status is Status.EMPTY:
            assert not region.contains(region.estimate, level)
            continue
        for end, sign in ((found.lower[0], -1.0), (found.upper[0], 1.0)):
            if np.isinf(end):
                assert region.contains(region.estimate + sign * 1e8, level)
                continue
            step = 1e-7 * (1 + abs(end)) * sign
            assert region.contains([end - step], level) or end == region.estimate[0]
            assert not region.contains([end + step], level)


@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable", "spherical"])
def test_every_member_lies_inside_at_every_level(noise):
    estimator, X, y, *_ = linear_problem("ridge", 3)
    region = ua.confidence_region(estimator, X, y, noise=noise, m=20, random_state=3)
    rng = np.random.default_rng(0)
    g = rng.normal(size=(6, 4))
    u = rng.normal(size=(200, 4))
    for level in (0.1, 0.5, 0.9):
        found = region.interval(g, level, simultaneous=True, method="joint")
        ends = region.estimate + 0.999 * region.reach(u, level)[:, None] * u
        members = np.concatenate([ends, region.sample(60, level, random_state=1)])
        assert region.contains(members, level).all()
        values = members @ g.T
        assert ((found.lower <= values) & (values <= found.upper)).all()
        # The check bites: members come near the bounds of some functional.
        assert ((values - found.estimate) / (found.upper - found.estimate)).max() > 0.7


def test_levels_are_nested_and_come_as_a_dictionary():
    estimator, X, y, *_ = linear_problem("ridge", 4)
    region = ua.confidence_region(estimator, X, y, random_state=4, m=100)
    levels = [0.5, 0.9, 0.05, 0.8]
    found = region.interval(level=levels, simultaneous=True, method="joint")
    assert list(found) == levels
    assert all(found[p].level == p for p in levels)
    for small, large in ((0.05, 0.5), (0.5, 0.8), (0.8, 0.9)):
        assert (found[small].lower > found[large].lower).all()
        assert (found[small].upper < found[large].upper).all()
    alone = region.interval(level=0.8, simultaneous=True, method="joint")
    np.testing.assert_array_equal(alone.lower, found[0.8].lower)
    assert isinstance(alone, Interval)


def test_a_multiple_of_a_functional_has_the_multiple_of_its_bounds():
    estimator, X, y, *_ = linear_problem("ridge", 5)
    region = ua.confidence_region(estimator, X, y, random_state=5, m=100)
    g = np.random.default_rng(5).normal(size=(3, 4))
    one, two, minus = (
        region.interval(c * g, simultaneous=True, method="joint", level=0.9)
        for c in (1.0, 2.0, -1.0)
    )
    np.testing.assert_allclose(two.upper, 2 * one.upper, rtol=1e-12)
    np.testing.assert_allclose(two.lower, 2 * one.lower, rtol=1e-12)
    np.testing.assert_allclose(minus.upper, -one.lower, rtol=1e-12)
    np.testing.assert_allclose(minus.lower, -one.upper, rtol=1e-12)


def test_data_that_move_by_a_model_move_the_bounds_of_least_squares():
    estimator, X, y, *_ = linear_problem("ols", 8)
    shift = np.array([3.0, -2.0, 10.0])
    before = ua.confidence_region(estimator, X, y, random_state=8, m=100).interval(
        simultaneous=True, method="joint", level=0.9
    )
    after = ua.confidence_region(estimator, X, y + X @ shift, random_state=8, m=100).interval(
        simultaneous=True, method="joint", level=0.9
    )
    np.testing.assert_allclose(after.lower, before.lower + shift, rtol=1e-9)
    np.testing.assert_allclose(after.upper, before.upper + shift, rtol=1e-9)


@pytest.mark.slow
def test_the_zero_functional_is_zero_even_in_an_unbounded_region():
    X, y, _ = ua.datasets.sine(n=12, random_state=0)
    region = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, random_state=0, m=100)
    for bound in (None, 20.0):
        found = region.interval(
            np.zeros(12), norm_bound=bound, simultaneous=True, method="joint", level=0.9
        )
        assert found.lower == 0
        assert found.upper == 0


def test_one_functional_and_a_table_of_one_row_are_the_same():
    estimator, X, y, *_ = linear_problem("ridge", 12)
    region = ua.confidence_region(estimator, X, y, random_state=0, m=100)
    one, table = (
        region.interval([1.0, 2, 3, 4], simultaneous=True, method="joint", level=0.9),
        region.interval([[1.0, 2, 3, 4]], simultaneous=True, method="joint", level=0.9),
    )
    assert one.names == table.names == ("g0",)
    assert one.upper.shape == (1,)
    assert one.upper == table.upper
    assert one.estimate == pytest.approx(region.estimate @ [1, 2, 3, 4])


def test_to_frame_has_one_row_for_each_functional():
    estimator, X, y, *_ = linear_problem("ridge", 13)
    region = ua.confidence_region(estimator, X, y, random_state=0, m=100)
    plain, full = (
        region.interval(simultaneous=True, method="joint", level=0.9).to_frame(),
        region.interval(inner=True, simultaneous=True, method="joint", level=0.9).to_frame(),
    )
    assert list(plain.columns) == ["estimate", "lower", "upper"]
    assert list(full.columns) == [*plain.columns, "inner_lower", "inner_upper"]
    assert list(plain.index) == ["intercept", "x0", "x1", "x2"]
    np.testing.assert_array_equal(
        plain["upper"], region.interval(simultaneous=True, method="joint", level=0.9).upper
    )


@pytest.mark.parametrize(
    ("functionals", "said"),
    [
        (np.ones(3), "functionals has the wrong shape: expected rows of 4 numbers"),
        (np.ones((4, 3)), "shape \\(4, 3\\)"),
        (np.ones((1, 1, 4)), "functionals has the wrong shape"),
        ([1.0, np.nan, 0.0, 0.0], "functionals has missing or infinite values"),
        (["a", "b", "c", "d"], "functionals contains an unknown name"),
        ([["a", "b", "c", "d"]], "functionals is not numeric"),
    ],
)
def test_functionals_of_the_wrong_kind_are_refused(functionals, said):
    estimator, X, y, *_ = linear_problem("ridge", 15)
    region = ua.confidence_region(estimator, X, y, random_state=0, m=100)
    with pytest.raises(ValueError, match=said):
        region.interval(functionals, simultaneous=True, method="joint", level=0.9)


def test_the_geometry_is_refused_where_rows_of_different_weight_are_mixed():
    estimator, X, y, w, *_ = linear_problem("ridge", 18, weighted=True)
    region = ua.confidence_region(
        estimator, X, y, noise="exchangeable", sample_weight=w, random_state=0, m=100
    )
    with pytest.raises(ua.NotAvailable, match="mixes rows of different weight"):
        region.interval(simultaneous=True, method="joint", level=0.9)


@pytest.mark.parametrize("seed", range(3))
def test_the_region_of_an_exact_fit_is_empty_where_the_estimate_is_outside(seed):
    X = np.random.default_rng(0).integers(-9, 10, size=(30, 3)).astype(float)
    region = ua.confidence_region(LinearRegression(), X, X @ [1.0, 2, 3], m=20, random_state=seed)
    for level, found in region.interval(
        level=[0.05, 0.5, 0.9], simultaneous=True, method="joint"
    ).items():
        assert (found.status is Status.EMPTY) == (not region.contains(region.estimate, level))


@pytest.mark.parametrize("seed", range(3))
def test_the_region_of_a_rounded_exact_fit_is_not_called_empty_if_the_estimate_is_inside(seed):
    X = np.random.default_rng(0).normal(size=(30, 3))
    region = ua.confidence_region(LinearRegression(), X, X @ [1.0, 2, 3], m=20, random_state=seed)
    for level, found in region.interval(
        level=[0.05, 0.5, 0.9], simultaneous=True, method="joint"
    ).items():
        if region.contains(region.estimate, level):
            assert found.status is not Status.EMPTY
