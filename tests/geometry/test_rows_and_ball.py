"""Sets of sign changes and a ball at half the size: 50 digits, cvxpy, the path of full size."""

import cvxpy as cp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

import unassuming as ua
from unassuming.geometry.quadratic import RowsAndBall, SetsAndBall, least_norms
from unassuming.geometry.quadratic._rows_and_ball import _between
from unassuming.regions._answers import band_question


class Case:
    """A region, its ball, and the bounds over every set by both paths."""

    def __init__(self, n, kernel="laplacian", gamma=0.5, alpha=0.5, bound=30.0, **options):
        rng = np.random.default_rng(options.pop("seed", 0))
        self.X = rng.uniform(0, 10, (n, 1)) if "X" not in options else options.pop("X")
        y = self.X[:, 0] * np.sin(self.X[:, 0]) + rng.laplace(size=n)
        spread = options.pop("spread", 0.0)
        self.w = np.exp(spread * rng.normal(size=n))
        self.Z = np.concatenate([rng.uniform(0, 10, (4, 1)), self.X[:2], self.X[:1] + 1e-4])
        model = KernelRidge(kernel=kernel, gamma=gamma, alpha=alpha)
        target = options.pop("target", None)
        options = {"m": 6, "random_state": 0, "sample_weight": self.w, **options}
        self.region = ua.confidence_region(model, self.X, y, **options)
        self.bound, shape = bound, self.region.shape
        self.o, self.p = self.region.objective, self.region.perturbations
        asked = band_question(shape, self.Z, bound, target, inner=False)
        ball = asked.ball_coordinates(self.o.design, shape.sets.root, self.region.estimate)
        parts = (self.p, self.o.complement, np.sqrt(self.o.w) * self.o.y, ball)
        self.half = RowsAndBall(*parts, np.sqrt(self.o.w), asked.at)
        self.full = SetsAndBall(*parts)
        self.empty = shape.sets.maker.without_points

    def both(self):
        half, full = (np.stack(one.supports(self.empty)) for one in (self.half, self.full))
        return half, full, np.tile((full[0] + full[1]) / 2, (2, 1, 1))

    def changes(self, i):
        return self.p.take(slice(i, i + 1)).apply(np.ones(self.o.n))[0]


def exact_supremum(case, i, z, sign):
    """The maximum of ±f(z) over set i and the ball in n + 1 dimensions, in 50 digits."""
    mp.mp.dps = 50
    n, gamma = case.o.n, mp.mpf(float(case.region.estimator.gamma))
    points = [mp.mpf(float(x)) for x in [*case.X[:, 0], z]]
    size = abs if case.region.estimator.kernel == "laplacian" else (lambda d: d * d)
    kernel = mp.matrix(n + 1, n + 1)
    for a in range(n + 1):
        for b in range(n + 1):
            kernel[a, b] = mp.e ** (-gamma * size(points[a] - points[b]))
    kernel[n, n] += mp.mpf("1e-40")
    root = [mp.sqrt(mp.mpf(float(w))) for w in case.o.w]
    R, penalty = mp.cholesky(kernel), mp.mpf(case.o.lam) * n
    K, F = mp.matrix(n, n), mp.matrix(n, n + 1)
    for a in range(n):
        for b in range(n + 1):
            F[a, b] = root[a] * R[a, b]
            if b < n:
                K[a, b] = root[a] * kernel[a, b] * root[b]
    D = penalty * (K + penalty * mp.eye(n)) ** -1
    y = mp.matrix([root[a] * mp.mpf(float(case.o.y[a])) for a in range(n)])
    changes = [mp.mpf(float(s)) for s in case.changes(i)]
    Gy = mp.matrix([s * t for s, t in zip(changes, y, strict=True)])
    EF = mp.diag([s - 1 for s in changes]) * F
    A, b, c = EF.T * D * EF, EF.T * (D * Gy), (y.T * D * y)[0] - (Gy.T * D * Gy)[0]
    sigma, turn = mp.eigsy(A)
    g, b, B = turn.T * (sign * R[n, :].T), turn.T * b, mp.mpf(case.bound)

    def value(t):
        theta = mp.e**t
        over = [1 / (1 + theta * s) for s in sigma]
        shift, spread, centre = (
            mp.fsum(p * q * w for p, q, w in zip(u, v, over, strict=True))
            for u, v in ((b, b), (g, g), (g, b))
        )
        return theta * centre + mp.sqrt((B**2 + theta * c + theta**2 * shift) * spread)

    grid = [mp.mpf(t) for t in range(-12, 70)]
    values = [value(t) for t in grid]
    best = min(range(len(grid)), key=values.__getitem__)
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for _ in range(60):
        left, right = low + (high - low) * mp.mpf("0.382"), low + (high - low) * mp.mpf("0.618")
        low, high = (low, right) if value(left) < value(right) else (left, high)
    alone = B * mp.sqrt(mp.fsum(x**2 for x in g))
    return min(alone, value((low + high) / 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"alpha": 0.01, "spread": 2.0}, {"kernel": "rbf", "gamma": 2.0, "seed": 1}],
    ids=str,
)
def test_bounds_are_above_the_maximum_and_close(options):
    case = Case(7, m=3, **options)
    half, _, width = case.both()
    for k, sign in ((0, 1), (4, -1), (6, 1), (6, -1)):  # new, a row, and near a row
        side = int(sign < 0)
        exact = exact_supremum(case, 0, case.Z[k, 0], sign)
        excess = float(mp.mpf(float(half[side, k, 0])) - exact) / width[side, k, 0]
        assert 0 <= excess < 1e-9, (k, sign)


def cvxpy_maximum(case, i, g):
    """The maximum of gᵀx over set i and the ball, x in all n dimensions."""
    o, n = case.o, case.o.n
    root, F = np.sqrt(o.w), np.linalg.cholesky(o.design.K)
    penalty = n * o.lam
    D = penalty * np.linalg.inv(root[:, None] * o.design.K * root + penalty * np.eye(n))
    y, signs = root * o.y, case.changes(i)
    x, s = cp.Variable(n), cp.Variable()
    fitted = cp.multiply(root, F @ x)
    moved = fitted + cp.multiply(signs, y - fitted)
    inside = [
        cp.sum_squares(np.linalg.cholesky((D + D.T) / 2).T @ moved) <= y @ D @ y,
        cp.sum_squares(x) + cp.square(s) <= case.bound**2,
    ]
    task = cp.Problem(cp.Maximize(g[0] @ x + g[1] * s), inside)
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return task.value


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_bounds_agree_with_cvxpy_in_all_dimensions(spread):
    case = Case(30, spread=spread)
    half = case.both()[0]
    rows = case.o.design.rows(case.Z)
    F = np.linalg.cholesky(case.o.design.K)
    for k in (0, 3, 5):
        g = np.linalg.solve(F, rows[k])
        g = (g, np.sqrt(max(1.0 - g @ g, 0.0)))
        for side, sign in enumerate((1.0, -1.0)):
            best = cvxpy_maximum(case, 1, (sign * g[0], g[1]))
            assert half[side, k, 1] == pytest.approx(best, rel=2e-7)
            assert half[side, k, 1] >= best - 1e-7


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(["laplacian", "rbf"]),
    alpha=st.sampled_from([1e-3, 0.1, 3.0]),
    bound=st.sampled_from([10.0, 40.0, 1e3]),
    spread=st.sampled_from([0.0, 1.0]),
    target=st.sampled_from(["function", "representation"]),
)
def test_bounds_are_never_above_those_of_full_size(seed, kernel, alpha, bound, spread, target):
    case = Case(20, kernel, 1.0, alpha, bound, seed=seed, spread=spread, target=target)
    half, full, width = case.both()
    np.testing.assert_array_equal(np.isneginf(half), np.isneginf(full))
    found = np.isfinite(half)
    loose = 1e-8 if target == "function" and bound < 100 else 1e-4
    assert ((half - full)[found] <= loose * width[found]).all()
    assert ((half - full)[found] >= -1e-3 * width[found]).all()


@pytest.mark.slow
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), spread=st.sampled_from([0.0, 8.0]))
def test_members_are_within_the_bounds(seed, spread):
    """Functions in the ball that lie in a set, by their statistics."""
    case = Case(12, seed=seed, spread=spread, m=10)
    half = case.both()[0]
    estimate, K = case.region.estimate, case.o.design.K
    rng = np.random.default_rng(seed)
    away = rng.normal(size=(200, 12)) @ np.linalg.inv(np.linalg.cholesky(K))
    a = estimate + away * rng.exponential(size=(200, 1)) * 5
    norm = np.sqrt(np.einsum("ij,jk,ik->i", a, K, a))
    a = a * np.minimum(1.0, case.bound / norm)[:, None] * (1 - 1e-12)
    statistics = case.region.statistics(a)
    inside = statistics[:, :1] <= statistics[:, 1:]
    values = a @ case.o.design.rows(case.Z).T
    assert inside.any()
    for i in range(9):
        for f in values[inside[:, i]]:
            assert (f <= half[0, :, i]).all()
            assert (-f <= half[1, :, i]).all()


def test_blocks_repeated_inputs_and_signs_that_do_not_change():
    X = np.repeat(np.linspace(0, 10, 9), 2)[:, None]
    noise = ua.noise.BlockSymmetric(np.arange(18) // 3)
    case = Case(18, X=X, noise=noise, m=40, bound=40.0)
    assert RowsAndBall.pays(case.p, case.o.complement, case.half.ball) == (
        2 * case.half.ball.F.shape[1] > 18
    )
    half, full, width = case.both()
    found = np.isfinite(half) & np.isfinite(full)
    assert (np.abs(half - full)[found] <= 1e-3 * width[found]).all()
    np.testing.assert_array_equal(np.isneginf(half), np.isneginf(full))


def test_a_set_in_which_nothing_changes_sign_leaves_the_ball():
    case = Case(4, noise=ua.noise.BlockSymmetric([0] * 4), ties="conservative")
    half, _, _ = case.both()
    same = [i for i in range(case.p.m - 1) if (case.changes(i) > 0).all()]
    assert same
    np.testing.assert_allclose(half[:, :, same], case.bound)  # k(z, z) = 1


def test_the_path_is_used_where_it_is_the_smaller_one():
    rough = Case(30, "laplacian", 0.5)
    assert RowsAndBall.pays(rough.p, rough.o.complement, rough.half.ball)
    smooth = Case(60, "rbf", 0.05)
    assert not RowsAndBall.pays(smooth.p, smooth.o.complement, smooth.half.ball)
    moved = Case(12, noise="exchangeable")
    assert not RowsAndBall.pays(moved.p, moved.o.complement, moved.half.ball)


@pytest.mark.slow
def test_threads_change_nothing():
    found = []
    for threads in (1, 3):
        with threadpool_limits(threads, user_api="blas"):
            found.append(np.stack(Case(25, m=20).half.supports(np.zeros(19, dtype=bool))))
    np.testing.assert_allclose(*found, rtol=1e-13)  # the products before the threads may differ


@pytest.mark.parametrize("h", [64, 65, 150])
def test_products_in_blocks(h):
    rng = np.random.default_rng(h)
    lower, D = np.tril(rng.normal(size=(h, h))), rng.normal(size=(h, h))
    D = D + D.T
    plain = lower.T @ D @ lower
    np.testing.assert_allclose(np.tril(_between(lower, D)), np.tril(plain), atol=1e-11)


def test_large_outputs_scale():
    small, large = Case(15), Case(15, bound=30.0 * 2.0**400)
    region = ua.confidence_region(
        small.region.estimator, small.X, small.o.y * 2.0**400, m=6, random_state=0
    )
    one = small.region.band(small.Z, level=0.5, norm_bound=30.0)
    two = region.band(small.Z, level=0.5, norm_bound=large.bound)
    np.testing.assert_allclose(two.upper / 2.0**400, one.upper, rtol=1e-12)


# --- the least norm ------------------------------------------------------------------------------


def cvxpy_least_norm(case, i):
    o, n = case.o, case.o.n
    values, vectors = np.linalg.eigh(o.design.K)
    keep = values > 1e-12
    root, F = np.sqrt(o.w), vectors[:, keep] * np.sqrt(values[keep])
    penalty = n * o.lam
    D = penalty * np.linalg.inv(root[:, None] * o.design.K * root + penalty * np.eye(n))
    y, x = root * o.y, cp.Variable(F.shape[1])
    fitted = cp.multiply(root, F @ x)
    G = np.stack([case.p.take(slice(i, i + 1)).apply(e)[0] for e in np.eye(n)], axis=1)
    moved = fitted + G @ (y - fitted)
    inside = [cp.sum_squares(np.linalg.cholesky((D + D.T) / 2).T @ moved) <= y @ D @ y]
    task = cp.Problem(cp.Minimize(cp.norm(x)), inside)
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return task.value


@pytest.mark.parametrize(
    "options",
    [{}, {"spread": 1.0}, {"kernel": "rbf", "gamma": 4.0}, {"noise": "exchangeable"}],
    ids=str,
)
def test_least_norms_agree_with_cvxpy(options):
    case = Case(25, **options)
    found = case.region.shape.sets.least_norms
    for i in range(3):
        best = cvxpy_least_norm(case, i)
        assert found[i] == pytest.approx(best, rel=1e-6)
        assert found[i] <= best * (1 + 1e-8)


def test_least_norms_of_both_paths_agree():
    case = Case(20, bound=50.0)
    one, two = case.half.least_norms(case.empty), least_norms(case.full, case.empty)
    np.testing.assert_allclose(one, two, rtol=1e-8)
