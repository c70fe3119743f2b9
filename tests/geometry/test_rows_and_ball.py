"""Sets of sign changes and a ball at half the size: cvxpy, the path of full size."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming.geometry.quadratic import RowsAndBall, SetsAndBall, least_norms
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
@given(seed=st.integers(0, 10**6), spread=st.sampled_from([0.0, 1.0]))
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
