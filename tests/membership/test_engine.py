"""Statistics, sets and bounds beside plain formulas and a convex solver."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.geometry.quadratic import QuadraticSets, SetsAndBall, radii, rays, spans
from unassuming.membership import Engine
from unassuming.models import LSSVC
from unassuming.noise import (
    BlockSymmetric,
    Exchangeable,
    Perturbations,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
)
from unassuming.objectives import factory_for
from unassuming.ranking import Order

LASSO = Lasso(alpha=0.1)

NOISES = [
    Symmetric(),
    BlockSymmetric(np.arange(14) // 2),
    Exchangeable(),
    SymmetricExchangeable(),
    Spherical(),
]


def region(model, X, y, noise, m=20, w=None, seed=0):
    rng = np.random.default_rng(seed)
    objective = factory_for(model)(model, X, y, w)
    drawn, order = noise.draw(len(y), m - 1, rng), Order.draw(m, "random", rng)
    return Engine(objective, noise, drawn, order)


def problem(n=14, d=2, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.ones(d) + rng.standard_t(3, size=n)


def plain_statistics(Phi, P, w, y, a, moved):
    """‖H^(-½)(ΦᵀW G_i r / n - λPa)‖², as printed."""
    n = len(y)
    H = Phi.T @ np.diag(w) @ Phi / n + P / n
    rows = np.vstack([y - Phi @ a, moved])
    z = rows @ np.diag(w) @ Phi / n - P @ a / n
    return np.einsum("ik,kl,il->i", z, np.linalg.inv(H), z)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_statistics_of_features(noise, alpha):
    X, y = problem()
    w = np.random.default_rng(2).uniform(0.5, 2, 14)
    model = Ridge(alpha=alpha) if alpha else LinearRegression()
    engine, Phi = region(model, X, y, noise, w=w), np.column_stack([np.ones(14), X])
    P = alpha * np.diag([0.0, 1.0, 1.0])
    for a in np.random.default_rng(3).normal(size=(5, 3)):
        r = y - Phi @ a
        expected = plain_statistics(Phi, P, w, y, a, noise.apply(engine.drawn, r, Phi @ a))
        np.testing.assert_allclose(engine.statistics(a[None])[0], expected, rtol=1e-10)
        before = expected[1:] < expected[0]
        assert engine.rank(a[None])[0] == 1 + before.sum()


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_statistics_of_kernels(noise):
    X, y = problem()
    engine, K = region(KernelRidge(kernel="rbf", gamma=2.0, alpha=0.3), X, y, noise), None
    K = rbf_kernel(X, gamma=2.0)
    for a in np.random.default_rng(3).normal(size=(5, 14)):
        r = y - K @ a
        moved = noise.apply(engine.drawn, r, K @ a)
        expected = plain_statistics(K, 0.3 * K, np.ones(14), y, a, moved)
        np.testing.assert_allclose(engine.statistics(a[None])[0], expected, rtol=1e-7)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_lines_and_rays_end_where_statistics_are_equal(noise, alpha):
    X, y = problem()
    model = Ridge(alpha=alpha) if alpha else LinearRegression()
    engine = region(model, X, y, noise)
    sets, rng = QuadraticSets.of(engine), np.random.default_rng(4)
    estimate, u, far = engine.objective.estimate(), *rng.normal(size=(2, 3))
    far = 0.1 * far
    ends = rays(sets, u[None])[0]
    for i in np.flatnonzero(np.isfinite(ends) & ~sets.still):
        Z = engine.statistics((estimate + ends[i] * u)[None])[0]
        np.testing.assert_allclose(Z[i + 1], Z[0], rtol=1e-8)
    t = np.linspace(-5, 5, 101)
    inside = engine.statistics(estimate + far + t[:, None] * u)
    inside = inside[:, :1] <= inside[:, 1:]
    low, high = spans(sets, (estimate + far)[None], u[None])[0].T
    found = (low <= t[:, None]) & (t[:, None] <= high)
    assert found[:, ~sets.still].tolist() == inside[:, ~sets.still].tolist()
    assert inside.any()


def convex_set(engine, i, a):
    """Z_0 <= Z_i as a convex constraint: dᵀDd + 2dᵀr̂ <= 0 with D = I - S, d = (G_i - I) r."""
    o = engine.objective
    n, Phi, P = o.n, o.design.matrix, o.penalty.P
    H = Phi.T @ Phi + P
    D = np.eye(n) - Phi @ np.linalg.lstsq(H, Phi.T, rcond=1e-12)[0]
    D = (D + D.T) / 2
    G = engine.noise.apply(engine.drawn, np.eye(n), np.eye(n))[:, i].T
    d = (G - np.eye(n)) @ (o.y - Phi @ a)
    root = np.linalg.cholesky(D + 1e-13 * np.eye(n))
    return cp.sum_squares(root.T @ d) + 2 * (D @ o.y) @ d <= 0


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_supports_are_those_of_a_convex_solver(noise):
    X, y = problem()
    engine = region(Ridge(alpha=0.7, fit_intercept=False), X, y, noise, m=4)
    g = np.array([[1.0, 0.0], [0.3, -2.0]])
    up, down = QuadraticSets.of(engine).supports(g)
    estimate = engine.objective.estimate()
    for i in range(3):
        for j in range(2):
            a = cp.Variable(2)
            task = cp.Problem(cp.Maximize(g[j] @ a), [convex_set(engine, i, a)])
            high = task.solve(solver=cp.CLARABEL) - g[j] @ estimate
            task = cp.Problem(cp.Minimize(g[j] @ a), [convex_set(engine, i, a)])
            low = task.solve(solver=cp.CLARABEL) - g[j] @ estimate
            np.testing.assert_allclose([up[j, i], -down[j, i]], [high, low], rtol=1e-5)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_radii_are_the_largest_norms_of_points_of_the_boundary(noise):
    X, y = problem()
    engine = region(Ridge(alpha=0.7, fit_intercept=False), X, y, noise, m=8)
    sets = QuadraticSets.of(engine, whitened=True)
    angle = np.linspace(0, 2 * np.pi, 20_001)
    v = np.column_stack([np.cos(angle), np.sin(angle)])
    reach = rays(sets, v @ engine.objective.factor.back.T).max(axis=0)
    np.testing.assert_allclose(np.sqrt(radii(sets)), reach, rtol=1e-7)
    assert (np.sqrt(radii(sets)) >= reach * (1 - 1e-12)).all()


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_norm_bounds_are_those_of_a_convex_solver(noise):
    """Of kernel ridge: the representation at an input between the rows, in n dimensions."""
    rng = np.random.default_rng(5)
    X = np.sort(rng.uniform(0, 4, 14))[:, None]
    y, z = np.sin(2 * X[:, 0]) + 0.3 * rng.laplace(size=14), np.array([[1.234], [3.0]])
    engine = region(KernelRidge(kernel="laplacian", gamma=1.0, alpha=0.5), X, y, noise, m=4)
    o, B = engine.objective, 4.0
    both = SetsAndBall.of(QuadraticSets.of(engine))
    g = o.design.rows(z)
    t, rest = both.ball.functionals(g, np.ones(2))
    up, down = both.supports(t, rest, B)
    root = np.linalg.cholesky(o.design.K).T
    for i in range(3):
        for j in range(2):
            a = cp.Variable(14)
            held = [convex_set(engine, i, a), cp.sum_squares(root @ a) <= B * B]
            high = cp.Problem(cp.Maximize(g[j] @ a), held).solve(solver=cp.CLARABEL)
            low = cp.Problem(cp.Minimize(g[j] @ a), held).solve(solver=cp.CLARABEL)
            np.testing.assert_allclose([up[j, i], -down[j, i]], [high, low], rtol=1e-5, atol=1e-6)


def test_a_norm_bound_with_an_intercept_that_it_does_not_see():
    X, y = problem()
    engine = region(Ridge(alpha=0.7), X, y, Symmetric(), m=6)
    both, B = SetsAndBall.of(QuadraticSets.of(engine)), 3.0
    g = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]])
    up, down = both.supports(*both.ball.functionals(g), B)
    for i in range(5):
        for j in range(2):
            a = cp.Variable(3)
            held = [convex_set(engine, i, a), cp.sum_squares(a[1:]) <= B * B]
            high = cp.Problem(cp.Maximize(g[j] @ a), held).solve(solver=cp.CLARABEL)
            low = cp.Problem(cp.Minimize(g[j] @ a), held).solve(solver=cp.CLARABEL)
            np.testing.assert_allclose([up[j, i], -down[j, i]], [high, low], rtol=1e-5, atol=1e-6)


def test_permutations_do_not_see_the_intercept():
    X, y = problem()
    both = SetsAndBall.of(QuadraticSets.of(region(Ridge(alpha=0.7), X, y, Exchangeable())))
    g = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]])
    up, down = both.supports(*both.ball.functionals(g), 3.0)
    assert np.isinf(up[0]).all()
    assert np.isinf(down[0]).all()
    assert np.isfinite(up[1]).all()


@pytest.mark.parametrize("noise", [Symmetric(), BlockSymmetric(np.arange(14) // 2)], ids=repr)
def test_fitted_values_of_kernels_are_bounded_where_their_row_changes_sign(noise):
    rng = np.random.default_rng(6)
    X = np.sort(rng.uniform(0, 4, 14))[:, None]
    y, w = np.sin(X[:, 0]) + 0.3 * rng.laplace(size=14), rng.uniform(0.5, 2, 14)
    engine = region(KernelRidge(kernel="laplacian", gamma=1.0, alpha=0.5), X, y, noise, w=w)
    K, alpha, root = engine.objective.design.K, 0.5, np.sqrt(w)
    D = alpha * np.linalg.inv(root[:, None] * K * root + alpha * np.eye(14))
    up, down = QuadraticSets.of(engine).supports(K)
    f = K @ engine.objective.estimate()
    for i, signs in enumerate(engine.drawn):
        J = np.flatnonzero(signs < 0)
        assert np.isfinite(up[:, i]).tolist() == (signs < 0).tolist()
        x = cp.Variable(len(J))
        r = cp.multiply(root[J], y[J] - x)
        half = np.linalg.cholesky(D[np.ix_(J, J)])
        held = [cp.sum_squares(half.T @ r) <= r @ (D @ (root * y))[J]]
        for k in range(min(2, len(J))):
            high = cp.Problem(cp.Maximize(x[k]), held).solve(solver=cp.CLARABEL)
            low = cp.Problem(cp.Minimize(x[k]), held).solve(solver=cp.CLARABEL)
            j = J[k]
            np.testing.assert_allclose([f[j] + up[j, i], f[j] - down[j, i]], [high, low], rtol=1e-6)


def test_many_rows_are_transformed_in_parts(monkeypatch):
    X, y = problem(n=40)
    model = Ridge(alpha=0.7)
    for noise in (Symmetric(), SymmetricExchangeable()):
        engine = region(model, X, y, noise, m=30)
        a = engine.objective.estimate() + np.random.default_rng(1).normal(size=(5, 3))
        whole = engine.gaps(a)[0], engine.statistics(a), engine.rank(a)
        monkeypatch.setattr("unassuming.membership.engine._LARGEST", 40 * 7)
        parts = engine.gaps(a)[0], engine.statistics(a), engine.rank(a)
        monkeypatch.undo()
        for one, other in zip(whole, parts, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("noise", [Symmetric(), SymmetricExchangeable()], ids=repr)
def test_a_bias_of_a_kernel_is_seen_with_the_values_alone(noise):
    """b and the kernel's part are shifted against each other; their sum at an input is bounded."""
    rng = np.random.default_rng(7)
    X = np.sort(rng.uniform(0, 4, 14))[:, None]
    y = np.where(rng.random(14) < 0.5, -1.0, 1.0)
    engine = region(LSSVC(C=1.0, kernel="laplacian", gamma=1.0), X, y, noise, m=8)
    sets = QuadraticSets.of(engine)
    g = np.vstack([engine.objective.design.matrix[0], np.eye(15)[:2]])
    up, down = sets.supports(g)
    assert np.isinf(up[1:]).all()
    assert np.isinf(down[1:]).all()
    for i in np.flatnonzero(np.isfinite(up[0])):
        a = cp.Variable(15)
        held = [convex_set(engine, i, a)]
        high = cp.Problem(cp.Maximize(g[0] @ a), held).solve(solver=cp.CLARABEL)
        value = g[0] @ engine.objective.estimate()
        np.testing.assert_allclose(value + up[0, i], high, rtol=1e-5)
    assert np.isfinite(up[0]).any()


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=0.7), LASSO], ids=repr)
def test_rows_with_equal_signs_are_summed_first(model, monkeypatch):
    X, y = problem(n=1500)
    rng, w = np.random.default_rng(8), None
    objective = factory_for(model)(model, X, y, w)
    leverage = rng.uniform(0, 0.1, 1500)
    group = Perturbations.sign_group(Symmetric(), leverage, 64, modulo_sign=False)
    order = Order.draw(64, "random", rng)
    a = objective.estimate() + 0.05 * rng.normal(size=(20, 3))
    sums = Engine(objective, Symmetric(), group.drawn, order)
    found = sums.gaps(a)[0], sums.rank(a)
    monkeypatch.setattr("unassuming.membership.engine._FROM", 10**9)
    plain = Engine(objective, Symmetric(), group.drawn, order)
    np.testing.assert_allclose(found[0], plain.gaps(a)[0], rtol=1e-8)
    assert found[1].tolist() == plain.rank(a).tolist()
    assert len(np.unique(found[1])) > 3


def test_sets_of_many_rows_are_those_of_each_sign_vector():
    X, y = problem(n=700)
    engine = region(Ridge(alpha=0.7), X, y, Symmetric(), m=8)
    leverage = np.random.default_rng(8).uniform(0, 0.1, 700)
    group = Perturbations.sign_group(Symmetric(), leverage, 32, modulo_sign=False)
    order = Order.draw(32, "random", np.random.default_rng(9))
    engine = Engine(engine.objective, Symmetric(), group.drawn, order)
    sets = QuadraticSets.of(engine)
    Q, w = engine.objective.factor.Q, np.linalg.eigvalsh(next(sets.forms())[1].A)
    for signs, found in zip(group.drawn, w, strict=True):
        share = np.linalg.eigvalsh(Q[signs < 0].T @ Q[signs < 0])
        np.testing.assert_allclose(found, np.sort(4 * share * (1 - share)), atol=1e-12)
    u = np.array([[1.0, 0.5, -0.3]])
    ends = rays(sets, u)[0]
    for i in (0, 11, 30):
        Z = engine.statistics(engine.objective.estimate() + ends[i] * u)[0]
        np.testing.assert_allclose(Z[i + 1], Z[0], rtol=1e-8)
