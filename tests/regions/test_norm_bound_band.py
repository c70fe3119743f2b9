"""Bands and intervals with a norm bound: against cvxpy in plain formulas, and against members."""

from itertools import pairwise
from warnings import catch_warnings, filterwarnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import unassuming as ua
from oracles import sets_of
from speed import slow_but
from unassuming.regions import Status

M = 10
LEVELS = [q / M for q in range(1, M)]
KERNELS = {"rbf": (rbf_kernel, 8.0), "laplacian": (laplacian_kernel, 1.0)}


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
    """Data, the region of a well-conditioned kernel, its Gram matrix and the plain sets."""
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
        ("rbf", "symmetric", 12, 2.0, True, "representation"),
        ("rbf", "symmetric-exchangeable", 10, 3.0, False, "function"),
        ("laplacian", "spherical", 9, 2.5, False, "function"),
        ("laplacian", "exchangeable", 9, 3.0, False, "representation"),
        ("laplacian", ua.noise.BlockSymmetric(np.arange(12) // 2), 12, 2.5, True, "function"),
        # Smaller than the norm of the estimate.
        ("laplacian", "symmetric", 10, 0.9, False, "representation"),
        ("laplacian", "symmetric", 10, 0.9, False, "function"),
    ],
)
def test_bands_of_kernels_are_what_cvxpy_finds(name, noise, n, bound, weighted, target):
    X, region, K, sets = kernel_problem(name, noise, n, seed=n, weighted=weighted)
    kernel, gamma = KERNELS[name]
    Z = np.concatenate([X[:1], [[1.234], [3.6]]])
    g = kernel(Z, X, gamma=gamma)
    power = np.sqrt(np.maximum(1 - np.einsum("ij,ji->i", g, np.linalg.solve(K, g.T)), 0))
    power[0] = 0.0  # a training input
    assert (power[1:] > 0.1).all()
    p = power if target == "function" else np.zeros(3)
    back = np.linalg.inv(np.linalg.cholesky(K)).T
    values = maxima(sets, back, slice(None), bound, np.concatenate([g, -g]), np.tile(p, 2))
    found = region.band(Z, LEVELS, norm_bound=bound, target=target, method="joint")
    agree(stacked(found, "upper"), values[:, :3], bound)
    agree(-stacked(found, "lower"), values[:, 3:], bound)


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("noise", "weighted"),
    [("symmetric", True), ("symmetric-exchangeable", False), ("spherical", False)],
)
@pytest.mark.parametrize(("bound", "alpha"), [(2.0, 1.5), (8.0, 0.0)])
def test_intervals_of_features_are_what_cvxpy_finds(noise, weighted, bound, alpha):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(14, 3)) * [1.0, 2.0, 0.5]
    y = 3 + X @ [1.0, -1.0, 1.5] + rng.laplace(size=14)
    w = rng.uniform(0.5, 2.0, size=14) if weighted else np.ones(14)
    estimator = Ridge(alpha=alpha) if alpha else LinearRegression()
    region = ua.confidence_region(
        estimator, X, y, noise=noise, m=M, sample_weight=w, random_state=4
    )
    Phi, P = np.column_stack([np.ones(14), X]), np.diag([0.0, 1.0, 1.0, 1.0])
    g = np.concatenate([np.eye(4)[:2], rng.normal(size=(2, 4))])
    sets = sets_of(region, Phi, P, alpha / 14, w, y)
    values = maxima(sets, np.eye(4), slice(1, 4), bound, g, np.zeros(4))
    agree(
        stacked(
            region.interval(g, LEVELS, norm_bound=bound, simultaneous=True, method="joint"), "upper"
        ),
        values,
        bound,
    )


def test_a_band_of_features_is_the_interval_of_their_rows():
    X, y, _ = ua.datasets.linear(n=30, random_state=0)
    region = ua.confidence_region(Ridge(), X, y, m=20, random_state=0)
    band = region.band(X[:5], norm_bound=2.0, method="joint", level=0.9)
    rows = np.column_stack([np.ones(5), X[:5]])
    np.testing.assert_allclose(
        band.upper,
        region.interval(rows, norm_bound=2.0, simultaneous=True, method="joint", level=0.9).upper,
        rtol=1e-9,
    )
    assert band.target == "representation"


def expansion(kernel, gamma, centres, weights):
    """f = Σ c_j k(·, t_j) and its norm."""
    return (
        lambda X: kernel(X, centres, gamma=gamma) @ weights,
        float(np.sqrt(weights @ kernel(centres, gamma=gamma) @ weights)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "noise"), [("rbf", "symmetric"), ("laplacian", "symmetric-exchangeable")]
)
def test_functions_with_centres_off_the_inputs_stay_inside(name, noise):
    kernel, gamma = KERNELS[name]
    X, region, _, _ = kernel_problem(name, noise, 15, seed=2)
    grid = np.linspace(-0.2, 3.2, 24)[:, None]
    bound = 1.5 * region.suggest_norm_bound()
    bands = region.band(grid, LEVELS, norm_bound=bound, method="joint")
    closest = 0.0
    for j, z in list(enumerate(grid))[::4]:
        # The estimate plus a bump at z: no other direction raises f(z) more for its norm.
        centres = np.concatenate([X, z[None]])
        for height in np.linspace(-1.5, 1.5, 21) * bound:
            weights = np.append(region.estimate, height)
            f, norm = expansion(kernel, gamma, centres, weights)
            if norm > bound:
                continue
            smallest, values = region.smallest_level(f), f(grid)
            for level, band in bands.items():
                if level >= smallest - 1e-9:
                    assert (band.lower - 1e-9 <= values).all()
                    assert (values <= band.upper + 1e-9).all()
                    share = (values - band.estimate)[j] / (band.upper - band.estimate)[j]
                    closest = max(closest, share)
    assert closest > 0.25  # the check bites


@pytest.mark.slow
@pytest.mark.parametrize("seed", slow_but(range(3), 0))
def test_random_functions_of_the_region_stay_inside_at_unseen_inputs(seed):
    kernel, gamma = KERNELS["rbf"]
    X, region, _, _ = kernel_problem("rbf", "symmetric", 12, seed=seed)
    rng = np.random.default_rng(seed)
    grid = rng.uniform(0, 3, size=(15, 1))
    bound = 2 * region.suggest_norm_bound()
    band = region.band(grid, 0.9, norm_bound=bound, method="joint")
    inside = 0
    for _ in range(150):
        centres = np.concatenate([X, rng.uniform(0, 3, size=(4, 1))])
        weights = np.concatenate([region.estimate, rng.normal(size=4) * rng.uniform(0, 2)])
        f, norm = expansion(kernel, gamma, centres, weights)
        if norm <= bound and region.contains(f, 0.9):
            inside += 1
            values = f(grid)
            assert ((band.lower <= values) & (values <= band.upper)).all()
    assert inside > 25


def test_the_extra_coordinate_matters_away_from_the_inputs_only():
    X, region, _, _ = kernel_problem("rbf", "symmetric", 10, seed=1)
    Z = np.concatenate([X, [[10.0]]])
    function = region.band(Z, norm_bound=4.0, target="function", method="joint", level=0.9)
    representation = region.band(
        Z, norm_bound=4.0, target="representation", method="joint", level=0.9
    )
    np.testing.assert_allclose(function.upper[:10], representation.upper[:10], rtol=1e-6)
    # Far from all data the representation vanishes, and the function is anything up to the bound.
    assert representation.upper[10] == pytest.approx(0.0, abs=1e-9)
    assert 3.9 < function.upper[10] < 4.0
    assert -4.0 < function.lower[10] < -3.9


# How the bound acts


def ridge_region(noise="symmetric", n=30, seed=0):
    X, y, _ = ua.datasets.linear(n=n, random_state=seed)
    return X, ua.confidence_region(Ridge(alpha=0.5), X, y, noise=noise, m=20, random_state=seed)


@pytest.mark.parametrize("bound", [1.9, 2.5, 10.0, 1e3, 1e6, 1e9])
def test_a_norm_bound_never_widens_an_interval(bound):
    X, region = ridge_region()
    g = np.column_stack([np.ones(8), X[:8]])
    without, within = (
        region.interval(g, simultaneous=True, method="joint", level=0.9),
        region.interval(g, norm_bound=bound, simultaneous=True, method="joint", level=0.9),
    )
    assert (within.upper <= without.upper + 1e-9).all()
    assert (within.lower >= without.lower - 1e-9).all()


@pytest.mark.parametrize("bound", [3.0, 30.0, 1e4, 1e8])
def test_a_norm_bound_never_widens_a_band_of_values_at_the_inputs(bound):
    X, region, _, _ = kernel_problem("laplacian", "spherical", 10, seed=3)
    without = region.band(X, 0.8, method="joint")
    within = region.band(X, 0.8, norm_bound=bound, target="representation", method="joint")
    assert np.isfinite(without.upper).all()
    slack = 1e-9 * (without.upper - without.lower)
    assert (within.upper <= without.upper + slack).all()
    assert (within.lower >= without.lower - slack).all()


def test_a_norm_bound_that_binds_narrows_the_interval():
    _, region = ridge_region()
    without, within = (
        region.interval(simultaneous=True, method="joint", level=0.9),
        region.interval(norm_bound=1.7, simultaneous=True, method="joint", level=0.9),
    )
    assert within.status is Status.CERTIFIED
    assert ((within.upper - within.lower) < 0.95 * (without.upper - without.lower)).any()


@pytest.mark.parametrize("target", ["representation", "function"])
def test_bands_grow_with_the_bound(target):
    _, region, _, _ = kernel_problem("rbf", "symmetric", 10, seed=5)
    Z = np.array([[0.0], [0.7], [1.9], [4.0]])
    bands = [
        region.band(Z, norm_bound=b, target=target, method="joint", level=0.9)
        for b in (2.0, 2.5, 4.0, 8.0, 50.0)
    ]
    for small, large in pairwise(bands):
        assert (small.upper <= large.upper + 1e-9).all()
        assert (small.lower >= large.lower - 1e-9).all()
        assert (large.upper - small.upper).max() > 0.1


def test_levels_are_nested_under_a_norm_bound():
    X, region, _, _ = kernel_problem("rbf", "symmetric", 10, seed=5)
    bands = region.band(X, LEVELS, norm_bound=4.0, method="joint")
    uppers = np.stack([bands[p].upper for p in LEVELS])
    assert (np.diff(uppers, axis=0) >= -1e-12).all()


@pytest.mark.parametrize("bound", [1e-3, 5.0])
@pytest.mark.parametrize("kernel", [False, True])
def test_a_bound_that_no_member_meets_leaves_nothing(kernel, bound):
    x = np.linspace(-1, 1, 20)[:, None]
    y = 100 * x[:, 0] + np.random.default_rng(7).laplace(size=20)
    estimator = KernelRidge(kernel="rbf", alpha=0.1) if kernel else Ridge(alpha=0.1)
    region = ua.confidence_region(estimator, x, y, m=20, random_state=7)
    found = region.band(x, norm_bound=bound, method="joint", level=0.9)
    assert found.status is Status.EMPTY
    assert "is too small" in found.reason
    assert f"{bound:g}" in found.reason
    assert np.isnan([found.lower, found.upper]).all()  # there is nothing to bound
    assert "no member at all" not in str(found)  # without the bound there are some


@pytest.mark.parametrize("bound", [0.0, -1.0, np.inf, np.nan])
def test_a_bound_that_is_no_positive_number_is_refused(bound):
    X, region = ridge_region()
    with pytest.raises(ValueError, match="norm_bound is out of range: expected one finite number"):
        region.interval(norm_bound=bound, simultaneous=True, method="joint", level=0.9)
    with pytest.raises(ValueError, match="norm_bound is out of range"):
        region.band(X, norm_bound=bound, method="joint", level=0.9)
    with pytest.raises(ValueError, match="norm_bound is out of range"):
        region.sample(1, norm_bound=bound, level=0.9)


def test_the_function_itself_needs_a_kernel_and_a_bound():
    X, region = ridge_region()
    with pytest.raises(ua.NotAvailable, match=r"needs a kernel.*norm_bound"):
        region.band(X, norm_bound=3.0, target="function", method="joint", level=0.9)
    Z, kernel, _, _ = kernel_problem("rbf", "symmetric", 10, seed=5)
    with pytest.raises(ua.NotAvailable, match="pass norm_bound=B"):
        kernel.band(Z, target="function", method="joint", level=0.9)
    assert kernel.band(Z, norm_bound=4.0, method="joint", level=0.9).target == "function"
    assert kernel.band(Z, method="joint", level=0.9).target == "representation"


def test_a_precomputed_kernel_knows_its_representation_only():
    X, region, K, _ = kernel_problem("rbf", "symmetric", 10, seed=5)
    y = region.objective.y
    blind = ua.confidence_region(
        KernelRidge(kernel="precomputed", alpha=0.3), K, y, m=M, random_state=5
    )
    with pytest.raises(ua.NotAvailable, match="precomputed kernel"):
        blind.band(K, norm_bound=4.0, target="function", method="joint", level=0.9)
    found = blind.band(K, norm_bound=4.0, target="representation", method="joint", level=0.9)
    expected = region.band(X, norm_bound=4.0, target="representation", method="joint", level=0.9)
    np.testing.assert_allclose(found.upper, expected.upper, rtol=1e-9)


def test_members_within_the_bound_lie_inside_the_bounds():
    X, region = ridge_region()
    g = np.column_stack([np.ones(6), X[:6]])
    found = region.interval(g, 0.9, norm_bound=2.2, simultaneous=True, method="joint")
    members = region.sample(100, 0.9, random_state=0, norm_bound=2.2)
    assert region.contains(members, 0.9).all()
    assert (np.linalg.norm(members[:, 1:], axis=1) <= 2.2 * (1 + 1e-9)).all()
    assert (np.linalg.norm(region.sample(100, 0.9, 0)[:, 1:], axis=1) > 2.2).any()
    values = members @ g.T
    assert ((found.lower <= values) & (values <= found.upper)).all()


# The common null space (docs/theory.md 4.4)


def test_the_intercept_is_free_under_permutations_whatever_the_bound():
    X, region = ridge_region("exchangeable")
    for bound in (2.0, 20.0):
        band = region.band(X, norm_bound=bound, method="joint", level=0.9)
        assert (band.lower == -np.inf).all()
        assert (band.upper == np.inf).all()
        assert band.status is Status.UNBOUNDED
        differences = np.column_stack([np.zeros(29), np.diff(X, axis=0)])
        found = region.interval(
            differences, norm_bound=bound, simultaneous=True, method="joint", level=0.9
        )
        assert found.status is Status.CERTIFIED
        assert np.isfinite([found.lower, found.upper]).all()
        slopes = region.interval(norm_bound=bound, simultaneous=True, method="joint", level=0.9)
        np.testing.assert_array_equal(np.isinf(slopes.upper), [True, False, False, False])


@pytest.mark.filterwarnings("ignore:The published region of LS-SVC")
@pytest.mark.parametrize(("noise", "finite"), [("symmetric", True), ("exchangeable", False)])
def test_a_bias_next_to_a_kernel_is_bounded_by_signs_and_never_by_permutations(noise, finite):
    X, y = ua.datasets.two_classes(n=20, random_state=1)
    region = ua.confidence_region(
        ua.LSSVC(C=0.5, kernel="rbf", gamma=1.0), X, y, noise=noise, m=20, random_state=1
    )
    for inputs in (X, X + 0.1):
        band = region.band(inputs, norm_bound=4.0, method="joint", level=0.9)
        assert (np.isfinite(band.upper) == finite).all()
        assert (np.isfinite(band.lower) == finite).all()
    rows = np.column_stack([np.ones(20), rbf_kernel(X, gamma=1.0)])
    steps = region.interval(
        np.diff(rows, axis=0), norm_bound=4.0, simultaneous=True, method="joint", level=0.9
    )
    assert np.isfinite([steps.lower, steps.upper]).all()


@pytest.mark.filterwarnings("ignore:The published region of LS-SVC")
@pytest.mark.parametrize("target", ["representation", "function"])
def test_bands_of_a_kernel_with_a_bias_are_what_cvxpy_finds(target):
    rng = np.random.default_rng(2)
    X, y = rng.uniform(0, 3, size=(9, 1)), np.array([1.0, -1, 1, 1, -1, -1, 1, -1, 1])
    region = ua.confidence_region(
        ua.LSSVC(C=0.5, kernel="laplacian", gamma=1.0), X, y, noise="symmetric", m=M,
        random_state=2,
    )  # fmt: skip
    K = laplacian_kernel(X, gamma=1.0)
    Phi, P = np.column_stack([np.ones(9), K]), np.zeros((10, 10))
    P[1:, 1:] = K
    back = np.eye(10)
    back[1:, 1:] = np.linalg.inv(np.linalg.cholesky(K)).T
    Z = np.array([[0.4], [2.1], [3.5]])
    k = laplacian_kernel(Z, X, gamma=1.0)
    p = np.sqrt(1 - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)))
    sets = sets_of(region, Phi, P, 1.0 / 9, np.ones(9), y)
    g = np.column_stack([np.ones(3), k])
    values = maxima(sets, back, slice(1, 10), 2.0, g, p if target == "function" else 0 * p)
    found = region.band(Z, LEVELS, norm_bound=2.0, target=target, method="joint")
    agree(stacked(found, "upper"), values, 2.0)


# Nearly singular kernels


@pytest.mark.slow
def test_members_of_a_nearly_singular_kernel_stay_inside():
    X, y, truth = ua.datasets.rkhs(n=60, gamma=0.5, random_state=3)
    estimator = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.6)
    region = ua.confidence_region(estimator, X, y, m=20, random_state=3)
    grid = np.linspace(0.05, 9.95, 45)[:, None]
    bound = 1.1 * truth.norm
    band = region.band(grid, 0.9, norm_bound=bound, method="joint")
    assert np.median(band.upper - band.lower) < bound
    inside, closest = 0, 0.0
    for z in grid[::4, 0]:
        centres = np.append(truth.centres, z)[:, None]
        for height in np.linspace(-5, 5, 21):
            weights = np.append(truth.coefficients, height)
            f, norm = expansion(rbf_kernel, 0.5, centres, weights)
            if norm <= bound and region.contains(f, 0.9):
                values = f(grid)
                assert ((band.lower <= values) & (values <= band.upper)).all()
                inside += 1
                closest = max(closest, (values / band.upper)[values > 1].max(initial=0.0))
    assert inside > 40
    assert closest > 0.7
