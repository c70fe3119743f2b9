"""Bounds that hold at once: plain maxima, members inside, inner bounds attained, bands."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from some_regions import EVERY, candidates_about, features, region_of

import unassuming as ua
from oracles import sets_of
from speed import slow_but
from unassuming.regions import Status

M = 10
LEVELS = [q / M for q in range(1, M)]
JOINT = {"simultaneous": True, "method": "joint"}


def lagrange(g, Q, b, c):
    """The largest gᵀa over a bounded set, by its multiplier."""
    inverse = np.linalg.inv(Q)
    return g @ inverse @ b + np.sqrt((c + b @ inverse @ b) * (g @ inverse @ g))


def by_levels(intervals, field):
    """Values at levels 1 - q/m, q = 1, ..., m - 1, so that they decrease: (m - 1, N)."""
    return np.stack([getattr(intervals[p], field) for p in LEVELS[::-1]])


def linear_problem(name, seed, n=24, d=3, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 3.0, 0.2][:d]
    y = 1 + X @ rng.normal(size=d) + rng.standard_t(2, size=n)
    w = rng.uniform(0.2, 3.0, size=n) if weighted else np.ones(n)
    if name == "ols":
        return LinearRegression(fit_intercept=False), X, y, w, X, np.zeros((d, d)), 0.0
    Phi = np.column_stack([np.ones(n), X])
    return Ridge(alpha=1.7), X, y, w, Phi, np.diag([0.0] + [1.0] * d), 1.7 / n


@pytest.mark.parametrize(
    ("model", "noise", "weighted"),
    [
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
def test_the_bound_at_q_is_the_qth_largest_lagrange_maximum(model, noise, weighted):
    estimator, X, y, w, Phi, P, lam = linear_problem(model, 1, weighted=weighted)
    region = ua.confidence_region(
        estimator, X, y, noise=noise, m=M, sample_weight=w, random_state=1
    )
    g = np.random.default_rng(51).normal(size=(4, Phi.shape[1]))
    sets = sets_of(region, Phi, P, lam, w, y)
    upper = -np.sort(-np.array([[lagrange(row, *one) for row in g] for one in sets]), axis=0)
    lower = np.sort(-np.array([[lagrange(-row, *one) for row in g] for one in sets]), axis=0)
    found = region.interval(g, level=LEVELS, **JOINT)
    slack = 1e-8 * (upper - lower)  # bounds are rounded outward, by a share of the width
    more, less = by_levels(found, "upper") - upper, lower - by_levels(found, "lower")
    assert (np.maximum(more, less) <= slack).all()
    assert (np.minimum(more, less) >= -1e-4 * slack).all()


# Clarabel 0.10 doubts one of its solutions, which is as accurate as the others.
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_cvxpy_finds_the_same_maxima():
    estimator, X, y, w, Phi, P, lam = linear_problem("ridge", 7, n=16)
    region = ua.confidence_region(estimator, X, y, m=M, random_state=7)
    g = np.random.default_rng(1).normal(size=(2, 4))
    values = np.empty((M - 1, 2))
    for i, (Q, b, c) in enumerate(sets_of(region, Phi, P, lam, w, y)):
        a, root = cp.Variable(4), np.linalg.cholesky(Q)
        within = [cp.sum_squares(root.T @ a) - 2 * b @ a <= c]
        for j, row in enumerate(g):
            values[i, j] = cp.Problem(cp.Maximize(row @ a), within).solve(solver=cp.CLARABEL)
    found = by_levels(region.interval(g, LEVELS, **JOINT), "upper")
    np.testing.assert_allclose(found, -np.sort(-values, axis=0), rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("m", [M, "all"])
def test_with_one_coefficient_the_interval_is_the_region_itself(seed, m):
    # Three rows: identity and -I are drawn often, and tie everywhere. Membership is the judge.
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(3, 1)), rng.normal(size=3)
    model = LinearRegression(fit_intercept=False)
    region = ua.confidence_region(model, x, y, noise=ua.noise.Symmetric(), m=m, random_state=seed)
    for q in range(1, region.m):
        level = 1 - q / region.m
        found = region.interval(level=level, **JOINT)
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


# --- members of every model ---

BOUNDED = [name for name in EVERY if not any(w in name for w in ("kernel", "SVR", "rbf"))]
BOUNDED += ["kernel ridge, few features"]


def assert_attained(region, found, g):
    """Witnesses are members, attain the inner values, and stay within the outer bounds."""
    low, high = found.witnesses
    assert region.contains(np.concatenate([low, high]), found.level).all()
    for values, ends in ((low, found.inner_lower), (high, found.inner_upper)):
        attained = np.isfinite(ends)  # or approached along a line without end
        np.testing.assert_allclose((values * g).sum(axis=1)[attained], ends[attained], rtol=1e-12)
    slack = 1e-9 * np.abs(np.nan_to_num([low, high])).max()
    assert (found.lower <= found.inner_lower + slack).all()
    assert (found.inner_upper <= found.upper + slack).all()


@pytest.mark.parametrize("name", slow_but(BOUNDED, "least squares"))
def test_bounds_hold_every_member_and_inner_ones_are_attained(name):
    region, rng = region_of(name), np.random.default_rng(1)
    g = rng.normal(size=(3, region.n)) @ region.objective.design.matrix / region.n
    a = candidates_about(region, 3000, rng)
    wide = []
    for level in (0.4, 0.8):
        found = region.interval(g, level, inner=True, **JOINT)
        members = a[region.contains(a, level)]
        assert len(members) > 10
        assert (members @ g.T <= found.upper).all()
        assert (members @ g.T >= found.lower).all()
        if found.witnesses is not None:
            assert_attained(region, found, g)
        wide.append(found.upper - found.lower)
    assert (wide[1] >= wide[0]).all()


@pytest.mark.parametrize("d", slow_but([2, 6], 2))
def test_the_inner_width_is_nine_tenths_of_the_outer_for_least_squares(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(20 * d, d))
    y = X @ rng.normal(size=d) + np.linspace(0.1, 3, 20 * d) * rng.standard_t(1.5, size=20 * d)
    region = ua.confidence_region(LinearRegression(fit_intercept=False), X, y, m=32)
    found = region.interval(inner=True, **JOINT)
    share = (found.inner_upper - found.inner_lower) / (found.upper - found.lower)
    assert np.median(share) >= 0.9
    again = region.interval(inner=True, **JOINT)
    np.testing.assert_array_equal(again.witnesses, found.witnesses)


def test_functionals_that_are_not_determined_have_inner_bounds_all_the_same():
    X, y = features(40)
    region = ua.confidence_region(Ridge(1.0), np.column_stack([X, X[:, 0]]), y)
    found = region.interval(inner=True, **JOINT)
    np.testing.assert_array_equal(np.isinf(found.upper), [False, True, False, True])
    assert_attained(region, found, np.eye(4))


# --- what changes with the question ---


def test_coefficients_by_name_and_tables_of_functionals():
    X, y = features(25, 3)
    frame = pd.DataFrame(X, columns=["bmi", "bp", "age"])
    region = ua.confidence_region(Ridge(), frame, y, m=20)
    every = region.interval(level=0.9, **JOINT)
    assert every.names == ("intercept", "bmi", "bp", "age")
    for names in ("bp", ["bp"], ["age", "intercept"], pd.Index(["bp", "bmi"]), np.array(["age"])):
        found = region.interval(names, level=0.9, **JOINT)
        chosen = [names] if isinstance(names, str) else list(names)
        assert found.names == tuple(chosen)
        places = [region.names.index(name) for name in chosen]
        np.testing.assert_allclose(found.upper, every.upper[places], rtol=1e-12)
    one = region.interval([1.0, 2, 3, 4], level=0.9, **JOINT)
    table = region.interval([[1.0, 2, 3, 4]], level=0.9, **JOINT)
    assert one.names == table.names == ("g0",)
    assert one.upper == table.upper
    full = region.interval(level=0.9, inner=True, **JOINT).to_frame()
    assert list(full.columns) == ["estimate", "lower", "upper", "inner_lower", "inner_upper"]
    twice = frame.set_axis(["intercept", "bmi", "age"], axis=1)
    with pytest.raises(ValueError, match="ambiguous name"):
        ua.confidence_region(Ridge(), twice, y, m=20).interval("intercept", **JOINT)


@pytest.mark.parametrize(
    ("functionals", "said"),
    [
        (np.ones(3), "functionals has the wrong shape: expected rows of 4 numbers"),
        (np.ones((4, 3)), "shape \\(4, 3\\)"),
        (np.ones((1, 1, 4)), "functionals has the wrong shape"),
        (np.ones((0, 4)), "^functionals "),
        ([1.0, np.nan, 0.0, 0.0], "functionals has missing or infinite values"),
        (["a", "b", "c", "d"], "functionals contains an unknown name"),
        ([["a", "b", "c", "d"]], "functionals is not numeric"),
        ({"bmi": 1.0}, "^functionals "),
        (abs, "^functionals "),
    ],
)
def test_functionals_of_the_wrong_kind_are_refused(functionals, said):
    estimator, X, y, *_ = linear_problem("ridge", 15)
    with pytest.raises(ValueError, match=said):
        ua.confidence_region(estimator, X, y, m=20).interval(functionals, **JOINT)


# --- bands ---


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (np.ones((3, 5)), "X has the wrong number of features: expected 2, as in the data"),
        (np.ones(2), "X is not a table"),
        (np.ones((0, 2)), r"at least one row.*given shape \(0, 2\)"),
        (np.array([[1.0, np.nan]]), "X has missing or infinite values"),
        (np.array([["a", "b"]]), "X is not numeric"),
    ],
)
def test_inputs_of_the_wrong_kind_are_refused(inputs, said):
    with pytest.raises(ValueError, match=said):
        region_of("ridge").band(inputs, method="joint")
    kernel = ua.confidence_region(KernelRidge(kernel="rbf"), *features(), m=20)
    with pytest.raises(ValueError, match=r"X|features|dimension"):
        kernel.band(inputs, method="joint")
