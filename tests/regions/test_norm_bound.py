"""Bands and intervals within a norm bound: plain maxima, members, limits, the least norm."""

from warnings import catch_warnings, filterwarnings

import cvxpy as cp
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVR
from some_regions import EVERY, RBF, candidates_about, curve, features, region_of

import unassuming as ua
from oracles import sets_of
from speed import slow_but
from unassuming.regions import Status

M = 10
LEVELS = [q / M for q in range(1, M)]
KERNELS = {"rbf": (rbf_kernel, 8.0), "laplacian": (laplacian_kernel, 1.0)}
JOINT = {"simultaneous": True, "method": "joint"}


def maxima(sets, back, bounded, bound, g, p):
    """For every set max gᵀa + p s over it and ‖(bounded coordinates of x, s)‖ <= B: (m - 1, N).

    In coordinates a = back x, in which the solver has an easy time.
    """
    values = np.empty((len(sets), len(g)))
    for i, (Q, b, c) in enumerate(sets):
        size, turn = np.linalg.eigh(back.T @ Q @ back)
        root = np.sqrt(np.where(size > 1e-10 * size[-1], size, 0.0))[:, None] * turn.T
        x, s = cp.Variable(len(size)), cp.Variable()
        functional, power = cp.Parameter(len(size)), cp.Parameter()
        inside = [
            cp.sum_squares(root @ x) - 2 * (back.T @ b) @ x <= c,
            cp.norm(cp.hstack([x[bounded], s])) <= bound,
        ]
        task = cp.Problem(cp.Maximize(functional @ x + power * s), inside)
        for j, row in enumerate(g):
            functional.value, power.value = back.T @ row, p[j]
            with catch_warnings():  # the comparison shows whether it is accurate enough
                filterwarnings("ignore", "Solution may be inaccurate")
                task.solve(solver=cp.CLARABEL)
            values[i, j] = -np.inf if task.status == cp.INFEASIBLE else task.value
    return values


def kernel_problem(name, noise, n, seed, weighted=False):
    """Inputs, the region of a well-conditioned kernel, its Gram matrix and the plain sets."""
    kernel, gamma = KERNELS[name]
    rng = np.random.default_rng(seed)
    X = np.linspace(0, 3, n)[:, None] + rng.uniform(-0.05, 0.05, size=(n, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(3, size=n)
    w = rng.uniform(0.3, 2.0, size=n) if weighted else np.ones(n)
    region = ua.confidence_region(
        KernelRidge(kernel=name, gamma=gamma, alpha=0.3), X, y, noise=noise, m=M,
        sample_weight=w if weighted else None, random_state=seed,
    )  # fmt: skip
    K = kernel(X, gamma=gamma)
    return X, region, K, sets_of(region, K, K, 0.3 / n, w, y)


def agree(got, values, scale):
    """Upper bounds of every level, (m - 1, N), against the sorted maxima, and never below them."""
    expected = -np.sort(-values, axis=0)
    empty = np.isneginf(expected)
    np.testing.assert_array_equal(np.isneginf(got), empty)
    difference = (got - expected)[~empty] / scale
    assert difference.min() > -1e-6
    assert difference.max() < 1e-4


def stacked(found, field):
    """Bounds at levels 1 - q/m, q = 1, ..., m - 1, so that they decrease: (m - 1, N)."""
    return np.stack([getattr(found[p], field) for p in LEVELS[::-1]])


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("name", "noise", "n", "bound", "weighted", "target"),
    [
        ("rbf", "symmetric", 8, 4.0, False, "function"),
        ("rbf", "symmetric-exchangeable", 10, 3.0, False, "function"),
        ("laplacian", "spherical", 9, 2.5, False, "function"),
        ("laplacian", "exchangeable", 9, 3.0, False, "representation"),
        ("laplacian", ua.noise.BlockSymmetric(np.arange(12) // 2), 12, 2.5, True, "function"),
        ("laplacian", "symmetric", 10, 0.9, False, "representation"),  # below that of the estimate
    ],
)
def test_bands_of_kernels_are_what_cvxpy_finds(name, noise, n, bound, weighted, target):
    X, region, K, sets = kernel_problem(name, noise, n, seed=n, weighted=weighted)
    kernel, gamma = KERNELS[name]
    Z = np.concatenate([X[:1], [[1.234], [3.6]]])
    g = kernel(Z, X, gamma=gamma)
    power = np.sqrt(np.maximum(1 - np.einsum("ij,ji->i", g, np.linalg.solve(K, g.T)), 0))
    power[0] = 0.0  # a training input
    p = power if target == "function" else np.zeros(3)
    back = np.linalg.inv(np.linalg.cholesky(K)).T
    values = maxima(sets, back, slice(None), bound, np.concatenate([g, -g]), np.tile(p, 2))
    found = region.band(Z, LEVELS, norm_bound=bound, target=target, method="joint")
    agree(stacked(found, "upper"), values[:, :3], bound)
    agree(-stacked(found, "lower"), values[:, 3:], bound)


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("noise", "bound", "alpha"),
    [("symmetric", 2.0, 1.5), ("symmetric-exchangeable", 8.0, 0.0), ("spherical", 2.0, 1.5)],
)
def test_intervals_of_features_are_what_cvxpy_finds(noise, bound, alpha):
    rng, weighted = np.random.default_rng(4), noise == "symmetric"
    X = rng.normal(size=(14, 3)) * [1.0, 2.0, 0.5]
    y = 3 + X @ [1.0, -1.0, 1.5] + rng.laplace(size=14)
    w = rng.uniform(0.5, 2.0, size=14) if weighted else np.ones(14)
    model = Ridge(alpha=alpha) if alpha else LinearRegression()
    region = ua.confidence_region(model, X, y, noise=noise, m=M, sample_weight=w, random_state=4)
    Phi, P = np.column_stack([np.ones(14), X]), np.diag([0.0, 1.0, 1.0, 1.0])
    g = np.concatenate([np.eye(4)[:2], rng.normal(size=(2, 4))])
    sets = sets_of(region, Phi, P, alpha / 14, w, y)
    values = maxima(sets, np.eye(4), slice(1, 4), bound, g, np.zeros(4))
    agree(stacked(region.interval(g, LEVELS, norm_bound=bound, **JOINT), "upper"), values, bound)


@pytest.mark.filterwarnings("ignore:The published region of LS-SVC")
@pytest.mark.parametrize("target", ["representation", "function"])
def test_bands_of_a_kernel_with_a_bias_are_what_cvxpy_finds(target):
    rng = np.random.default_rng(2)
    X, y = rng.uniform(0, 3, size=(9, 1)), np.array([1.0, -1, 1, 1, -1, -1, 1, -1, 1])
    model = ua.LSSVC(C=0.5, kernel="laplacian", gamma=1.0)
    region = ua.confidence_region(model, X, y, noise="symmetric", m=M, random_state=2)
    K = laplacian_kernel(X, gamma=1.0)
    Phi, P, back = np.column_stack([np.ones(9), K]), np.zeros((10, 10)), np.eye(10)
    P[1:, 1:] = K
    back[1:, 1:] = np.linalg.inv(np.linalg.cholesky(K)).T
    k = laplacian_kernel(Z := np.array([[0.4], [2.1], [3.5]]), X, gamma=1.0)
    p = np.sqrt(1 - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)))
    sets = sets_of(region, Phi, P, 1.0 / 9, np.ones(9), y)
    g = np.column_stack([np.ones(3), k])
    values = maxima(sets, back, slice(1, 10), 2.0, g, p if target == "function" else 0 * p)
    found = region.band(Z, LEVELS, norm_bound=2.0, target=target, method="joint")
    agree(stacked(found, "upper"), values, 2.0)


# --- functions of the region stay inside ---


def norm(region, a):
    ball = region.objective.design.ball()
    P = (ball.forward.T * ball.nu) @ ball.forward
    return np.sqrt(np.maximum(np.einsum("...j,jk,...k->...", a, P, a), 0.0))


@pytest.mark.parametrize("name", slow_but(EVERY, "kernel LASSO", "ridge"))
def test_members_in_the_ball_are_within_bounds_and_witnesses_in_the_ball(name):
    region, rng = region_of(name), np.random.default_rng(1)
    bound, level = 1.5 * norm(region, region.estimate) + 0.1, 0.8
    a = candidates_about(region, 3000, rng, size=0.5)
    a = a[norm(region, a) <= bound]
    members = a[region.contains(a, level)]
    g = rng.normal(size=(3, region.n)) @ region.objective.design.matrix / region.n
    if not region.objective.design.ball().complete:
        with pytest.raises(ua.NotAvailable, match=r"Use band\(X, norm_bound=B\)"):
            region.interval(g, level, norm_bound=bound, **JOINT)
        return
    found = region.interval(g, level, norm_bound=bound, **JOINT)
    assert len(members) > 5
    slack = 1e-9 * np.abs(members @ g.T).max()
    assert (members @ g.T <= found.upper + slack).all()
    assert (members @ g.T >= found.lower - slack).all()
    free = region.interval(g, level, **JOINT)
    wider = 0.03 * np.nan_to_num(free.upper - free.lower, posinf=0.0) + slack  # of a search
    assert (found.upper <= free.upper + wider).all()
    if region.contains(region.estimate, level):
        inner = region.interval(g[:1], level, norm_bound=bound, inner=True, **JOINT)
        if inner.witnesses is not None:
            witnesses = inner.witnesses.reshape(-1, region.objective.d)
            assert region.contains(witnesses, level).all()
            assert (norm(region, witnesses) <= bound * (1 + 1e-9)).all()


@pytest.mark.slow_but_first
@pytest.mark.parametrize("bound", [0.1, 0.3, 0.8, 5.0])
def test_the_band_of_labels_is_that_of_the_members_in_the_ball(bound):
    rng, Z = np.random.default_rng(2), np.array([[0.9], [-0.9], [0.1]])
    X = rng.uniform(-1, 1, size=(30, 1))
    y = np.where(rng.uniform(size=30) < (1 + 0.7 * X[:, 0]) / 2, 1, -1)
    region = ua.confidence_region(RidgeClassifier(), X, y, m=20)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.1, 1.1, 133)] * 2), axis=-1).reshape(-1, 2)
    members = grid[region.contains(grid)]
    values = members[abs(members[:, 1]) <= bound] @ np.vstack([np.ones(3), Z[:, 0]])
    values = np.clip(values, -1, 1)
    band = region.band(Z, norm_bound=bound, method="joint")
    width = band.upper - band.lower
    assert (values.max(axis=0) <= band.upper).all()
    assert (band.lower <= values.min(axis=0)).all()
    assert (band.upper - values.max(axis=0) < 0.06 * width).all()  # the gap and the grid
    assert (values.min(axis=0) - band.lower < 0.06 * width).all()


# --- how the bound acts ---


@pytest.mark.parametrize("model", [KernelRidge(alpha=0.1, kernel="rbf"), Ridge(0.1), Lasso(0.01)])
def test_a_bound_that_no_member_meets_leaves_nothing(model):
    x = np.linspace(-1, 1, 20)[:, None]
    y = 100 * x[:, 0] + np.random.default_rng(7).laplace(size=20)
    region = ua.confidence_region(model, x, y, m=20, random_state=7)
    found = region.band(x, norm_bound=1.0, method="joint", level=0.5)
    assert found.status is Status.EMPTY
    assert "is too small" in found.reason
    assert np.isnan([found.lower, found.upper]).all()


def test_the_intercept_is_free_under_permutations_whatever_the_bound():
    for name in ("ridge", "ridge, identity", "lasso, identity"):
        region = region_of(name, "permutations")
        slopes = region.interval(norm_bound=2.0, level=0.9, **JOINT)
        np.testing.assert_array_equal(np.isinf(slopes.upper), [True, False, False])
        band = region.band(features()[0], norm_bound=2.0, method="joint", level=0.9)
        assert np.isinf([band.lower, band.upper]).all()
        assert band.status in (Status.UNBOUNDED, Status.NO_OUTER_BOUND)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.inf, np.nan, "3", True])
def test_a_bound_that_is_no_positive_number_is_refused(bound):
    region, X = region_of("ridge"), features()[0]
    for ask in (
        lambda: region.interval(norm_bound=bound, **JOINT),
        lambda: region.band(X, norm_bound=bound, method="joint"),
        lambda: region.sample(1, norm_bound=bound),
    ):
        with pytest.raises(ValueError, match="norm_bound"):
            ask()


def test_the_function_itself_needs_a_kernel_and_a_bound():
    region, X = region_of("ridge"), features()[0]
    with pytest.raises(ua.NotAvailable, match=r"needs a kernel.*norm_bound"):
        region.band(X, norm_bound=3.0, target="function", method="joint")
    kernel, Z = region_of("kernel ridge"), curve()[0]
    with pytest.raises(ua.NotAvailable, match="pass norm_bound=B"):
        kernel.band(Z, target="function", method="joint")
    K = rbf_kernel(Z, gamma=0.5)
    blind = ua.confidence_region(KernelRidge(alpha=0.5, kernel="precomputed"), K, curve()[1], m=20)
    with pytest.raises(ua.NotAvailable, match="precomputed kernel"):
        blind.band(K, norm_bound=4.0, target="function", method="joint")
    assert kernel.band(Z, norm_bound=9.0, method="joint").target == "function"
    assert kernel.band(Z, method="joint").target == "representation"


# --- |f(z)| <= B √k(z, z), whatever the data are ---

SMOOTH = KernelRidge(**RBF)
GRID = np.array([[0.0], [4.4], [10.0], [30.0]])


def sine(model=SMOOTH, n=50, shift=0.0):
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=0)
    return ua.confidence_region(model, X, y + shift, m=20, random_state=0)


def test_a_refuted_norm_bound_leaves_nothing():
    region = sine(shift=1000.0)
    band = region.band(GRID, norm_bound=30, method="cells")
    assert band.status is Status.EMPTY
    assert np.isnan([band.lower, band.upper]).all()
    alone = region.band(GRID, norm_bound=30, simultaneous=False, method="cells")
    assert alone.status is Status.SOME_EMPTY
    assert np.isnan(alone.lower).tolist() == [True, True, True, False]
    assert alone.upper[3] == pytest.approx(30)
    free = sine(SVR(gamma=0.5), n=200, shift=1000.0)  # an intercept has no limit
    assert (free.band(GRID[:3], norm_bound=30, method="cells").lower > 900).all()


# --- the least norm of a member ---

LAPLACE = KernelRidge(kernel="laplacian", gamma=0.5, alpha=0.5)
INPUTS = np.random.default_rng(0).uniform(0, 6, (18, 1))


def least_norm_by_cvxpy(K, alpha, y, J):
    """The least norm in {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}, r = y - Ka, D = alpha (K + alpha I)⁻¹."""
    D = alpha * np.linalg.inv(K + alpha * np.eye(len(K)))
    root = np.linalg.cholesky(K)  # a = root⁻ᵀ v, so that the norm is that of v
    D_J, rest, v = D[np.ix_(J, J)], (D @ y)[J], cp.Variable(len(K))
    r = y[J] - root[J] @ v
    inside = cp.sum_squares(np.linalg.cholesky(D_J).T @ r) <= rest @ r
    problem = cp.Problem(cp.Minimize(cp.norm(v)), [inside])
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-9)
    return problem.solve(solver=cp.CLARABEL, **tight)


@pytest.mark.parametrize("alpha", [0.05, 5.0])
def test_the_least_norm_agrees_with_cvxpy(alpha):
    """The q-th smallest of the least norms over the sets."""
    model = KernelRidge(kernel="laplacian", gamma=0.5, alpha=alpha)
    y = 3 * np.sin(INPUTS[:, 0]) + 0.2 * np.random.default_rng(1).laplace(size=18)
    region = ua.confidence_region(model, INPUTS, y, m=10)
    signs = region.perturbations.apply(np.ones(18))
    K = laplacian_kernel(INPUTS, gamma=0.5)
    least = [least_norm_by_cvxpy(K, alpha, y, np.flatnonzero(one < 0)) for one in signs]
    for q, level in ((1, 0.9), (2, 0.8), (4, 0.6)):
        assert region.norm_lower_bound(level) == pytest.approx(np.sort(least)[q - 1], rel=1e-6)
        assert region.norm_lower_bound(level) <= np.sort(least)[q - 1] * (1 + 1e-7)


@pytest.mark.slow
def test_coverage_of_the_norm_of_the_function():
    """Sharp if the function is zero; ``python -m benchmarks.norm_coverage`` makes 2,000 runs."""
    runs, level, held, sharp = 70, 0.8, 0, 0
    centres, c = np.array([[1.0], [2.5], [4.7]]), np.array([2.0, -3.0, 1.5])
    truth = np.exp(-0.5 * np.abs(INPUTS - centres.T)) @ c
    size = np.sqrt(c @ np.exp(-0.5 * np.abs(centres - centres.T)) @ c)
    for seed in range(runs):
        noise = 0.3 * np.random.default_rng(seed).standard_cauchy(size=18)
        one, two = (
            ua.confidence_region(
                LAPLACE, INPUTS, f + noise, noise=ua.noise.Symmetric(), m=5, random_state=seed
            ).norm_lower_bound(level)
            for f in (truth, 0 * truth)
        )
        held, sharp = held + (one <= size), sharp + (two <= 0.0)
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, level)
    assert held >= low
    assert low <= sharp <= high


def test_the_table_of_norm_bounds():
    y = 3 * np.sin(INPUTS[:, 0]) + 0.2 * np.random.default_rng(1).laplace(size=18)
    region = ua.confidence_region(LAPLACE, INPUTS, y, m=20)
    X, lowest = INPUTS[:3], region.norm_lower_bound(0.9)
    found = region.norm_bounds_table(X, [4 * lowest, 2 * lowest, 0.9 * lowest], level=0.9)
    assert found.refuted.tolist() == [True, False, False]
    assert np.isnan(found.median_half_width[0])
    assert found.median_half_width[1] < found.median_half_width[2]
    band = region.band(X, norm_bound=4 * lowest, method="joint", level=0.9)
    assert found.largest_half_width[2] == ((band.upper - band.lower) / 2).max()
    assert str(found).splitlines()[1].endswith("refuted")
    assert found.to_frame().index.name == "norm_bound"
    four = region.norm_bounds_table(X[:1], level=0.9)
    np.testing.assert_allclose(
        four.norm_bound, region.suggest_norm_bound() * 2.0 ** np.arange(-1, 3)
    )
    for arguments in ((X, []), ([10, 30], X)):
        with pytest.raises(ValueError, match=r"norm_bounds|inputs first"):
            region.norm_bounds_table(*arguments, level=0.9)
