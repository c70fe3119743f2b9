"""A convex set and a ball at once: the dual against cvxpy, and against points that lie in both."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balls import ball_coordinates
from unassuming.geometry._relaxed_supports import relaxed_supports


class OneSetAndBall:
    """{xᵀAx - 2bᵀx <= c} and {(x + x̂)ᵀN(x + x̂) + s² <= B²}, for any N.

    In coordinates z with x + x̂ = M z the norm is that of the first entries of z.
    """

    def __init__(self, A, b, c, N, x_hat):
        size = np.sqrt(np.diag(N))
        if np.linalg.eigvalsh(N / np.outer(size, size))[0] > 1e-12:
            self.M, seen = np.linalg.inv(np.linalg.cholesky(N)).T, np.ones(len(N))
        else:
            values, turn = np.linalg.eigh(N)
            seen = np.where(values > 1e-12 * values[-1], 1.0, 0.0)
            self.M = turn / np.sqrt(np.where(seen > 0, values, 1.0))
        self.N = np.diag(seen)
        self.A, self.b, self.x_hat = self.M.T @ A @ self.M, self.M.T @ (b + A @ x_hat), x_hat
        self.c = c - x_hat @ A @ x_hat - 2 * b @ x_hat

    def supports(self, g, p, bound):
        ball = ball_coordinates(self.N, np.zeros(len(self.N)), bound, np.zeros(len(self.N)))
        ball = replace(ball, functionals=g @ self.M, beyond=p)
        found = relaxed_supports(self.A[None], self.b[None], np.array([self.c]), ball)[0][:, 0]
        seen = np.diag(self.N) > 0
        alone = bound * np.sqrt((ball.functionals[:, seen] ** 2).sum(axis=1) + p**2)
        alone[(ball.functionals[:, ~seen] != 0).any(axis=1)] = np.inf
        return np.where(np.isneginf(found), found, np.minimum(found, alone) - g @ self.x_hat)


seeds = st.integers(0, 2**32 - 1)


def semidefinite(rng, k, rank):
    """A random positive semidefinite matrix of that rank, and its root R with RᵀR = A."""
    root = rng.normal(size=(rank, k)) / np.sqrt(k)
    return root.T @ root, root


def problem(seed, k=5, rank_A=None, rank_N=None, inside=True):
    """{xᵀAx - 2bᵀx <= c}, {(x + o)ᵀN(x + o) + s² <= B²}; `inside`: zero lies in both."""
    rng = np.random.default_rng(seed)
    A, root_A = semidefinite(rng, k, k if rank_A is None else rank_A)
    N, root_N = semidefinite(rng, k, k if rank_N is None else rank_N)
    b, origin = A @ rng.normal(size=k), rng.normal(size=k)
    norm = np.sqrt(origin @ N @ origin)
    bound = norm * (rng.uniform(1.05, 3.0) if inside else rng.uniform(0.3, 0.95))
    return A, root_A, N, root_N, b, float(rng.uniform(0.1, 2.0)), origin, float(bound)


def cvxpy_maximum(parts, g, p):
    _, root_A, _, root_N, b, c, origin, bound = parts
    x, s = cp.Variable(len(g)), cp.Variable()
    inside = [
        cp.sum_squares(root_A @ x) - 2 * b @ x <= c,
        cp.norm(cp.hstack([root_N @ (x + origin), s])) <= bound,
    ]
    task = cp.Problem(cp.Maximize(g @ x + p * s), inside)
    task.solve(solver=cp.CLARABEL)
    if task.status == cp.INFEASIBLE:
        return -np.inf
    return np.inf if task.status == cp.UNBOUNDED else float(task.value)


def build(parts):
    A, _, N, _, b, c, origin, _ = parts
    return OneSetAndBall(A, b, c, N, origin)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("rank_A", "rank_N", "inside"),
    [(5, 5, True), (5, 5, False), (2, 5, True), (5, 3, True), (3, 5, False), (3, 3, True)],
)
def test_the_bound_is_the_maximum_that_cvxpy_finds(rank_A, rank_N, inside, seed):
    # Ranks 3 and 3 in five dimensions: cylinders both, but no direction is free for both.
    parts = problem(seed, 5, rank_A, rank_N, inside)
    rng = np.random.default_rng(seed + 100)
    g, p = rng.normal(size=(2, 5)), np.array([0.0, 0.7])
    expected = [cvxpy_maximum(parts, *both) for both in zip(g, p, strict=True)]
    found = build(parts).supports(g, p, parts[-1])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def ray_end(A, b, c, u):
    """The largest t with tu in {xᵀAx - 2bᵀx <= c}, c >= 0."""
    a, half = u @ A @ u, u @ b
    return np.inf if a <= 0 else (half + np.sqrt(half**2 + a * c)) / a


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(seed=seeds, k=st.integers(1, 7), rank_A=st.integers(1, 7), rank_N=st.integers(1, 7))
def test_no_point_of_both_exceeds_the_bound(seed, k, rank_A, rank_N):
    parts = problem(seed, k, min(rank_A, k), min(rank_N, k))
    A, _, N, _, b, c, origin, bound = parts
    rng = np.random.default_rng(seed)
    g, p = rng.normal(size=k), abs(rng.normal())
    # With the coordinate s the ball is one quadratic form in (x, s).
    big_N, big_A = np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))
    big_N[:k, :k], big_N[k, k], big_A[:k, :k] = N, 1.0, A
    shift = np.append(-N @ origin, 0.0)
    top = build(parts).supports(g[None], np.array([p]), bound)[0]
    for u in np.concatenate([rng.normal(size=(50, k + 1)), [np.append(g, p)]]):
        end = min(
            ray_end(big_A, np.append(b, 0.0), c, u),
            ray_end(big_N, shift, bound**2 - origin @ N @ origin, u),
        )
        point = min(end, 1e6) * u
        assert g @ point[:k] + p * point[k] <= top + 1e-9 * (1 + abs(top))


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(seed=seeds, k=st.integers(1, 6), factor=st.floats(1.0, 30.0))
def test_a_larger_ball_never_has_a_smaller_bound(seed, k, factor):
    parts = problem(seed, k, max(1, k - 1), k)
    g, p = np.random.default_rng(seed).normal(size=(4, k)), np.array([0.0, 0.1, 1.0, 5.0])
    both, bound = build(parts), parts[-1]
    small, large = both.supports(g, p, bound), both.supports(g, p, factor * bound)
    assert (small <= large + 1e-7 * np.abs(large)).all()


def ellipsoid_support(A, b, c, g):
    inverse = np.linalg.inv(A)
    return g @ inverse @ b + np.sqrt((c + b @ inverse @ b) * (g @ inverse @ g))


@pytest.mark.parametrize("bound", [1e1, 1e3, 1e5, 1e8])
def test_a_ball_that_holds_the_set_changes_nothing(bound):
    A, _, N, _, b, c, origin, _ = problem(3, 4)
    A, b, origin = A + np.eye(4), b * 0.1, origin * 0.1
    g = np.random.default_rng(3).normal(size=(3, 4))
    found = OneSetAndBall(A, b, c, N, origin).supports(g, np.zeros(3), bound)
    expected = [ellipsoid_support(A, b, c, row) for row in g]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1e1, 1e3, 1e5, 1e8])
def test_a_set_that_holds_the_ball_changes_nothing(size):
    A, _, N, _, b, c, origin, _ = problem(4, 4)
    N, origin, g = N + np.eye(4), np.zeros(4), np.random.default_rng(4).normal(size=(3, 4))
    both = OneSetAndBall(A / size, b / size, c * 100, N, origin)
    found = both.supports(g, np.array([0.0, 1.0, 2.0]), 1.5)
    spread = np.einsum("nk,kl,nl->n", g, np.linalg.inv(N), g) + np.array([0.0, 1.0, 4.0])
    np.testing.assert_allclose(found, 1.5 * np.sqrt(spread), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_sets_that_do_not_meet_are_certified_empty(seed):
    # The ball around -o is far from the ellipsoid around A⁻¹b.
    A, _, N, _, b, c, _, _ = problem(seed, 3)
    A, N = A + 0.5 * np.eye(3), N + 0.5 * np.eye(3)
    origin = np.array([30.0, -40.0, 20.0])
    both = OneSetAndBall(A, b, c, N, origin)
    found = both.supports(np.eye(3), np.array([0.0, 1.0, 2.0]), 0.5)
    assert (found == -np.inf).all()


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(seed=seeds, k=st.integers(2, 8), shared=st.integers(1, 3), units=st.floats(-3, 3))
def test_a_coordinate_that_neither_contains_is_never_bounded(seed, k, shared, units):
    # What sees it is infinite, and the rest is as if it did not exist.
    rng = np.random.default_rng(seed)
    shared = min(shared, k - 1)
    place = rng.permutation(k)
    seen, unseen = place[shared:], place[:shared]
    A, N, b = np.zeros((k, k)), np.zeros((k, k)), np.zeros(k)
    inner = semidefinite(rng, k - shared, k)[0] * 10.0**units
    A[np.ix_(seen, seen)], N[seen, seen], b[seen] = inner, 1.0, inner @ rng.normal(size=k - shared)
    blind = np.zeros(k)
    blind[seen] = rng.normal(size=k - shared)
    sighted = blind.copy()
    sighted[unseen] = 1e-4 * rng.choice([-1.0, 1.0], size=shared)
    ball = ball_coordinates(N, np.zeros(k), 10.0, np.zeros(k))
    ball = replace(ball, functionals=np.stack([blind, sighted]), beyond=np.zeros(2))
    found = relaxed_supports(A[None], b[None], np.ones(1), ball)[0][:, 0]
    alone = OneSetAndBall(inner, b[seen], 1.0, np.eye(k - shared), np.zeros(k - shared))
    expected = alone.supports(blind[seen][None], np.zeros(1), 10.0)[0]
    size = 10.0 * np.linalg.norm(blind)
    assert min(found[0], size) == pytest.approx(expected, rel=1e-9)
    assert found[1] == np.inf


def test_the_bound_scales_with_the_functional_and_shifts_with_nothing():
    parts = problem(9, 4)
    g, p = np.random.default_rng(9).normal(size=(1, 4)), np.array([0.3])
    both = build(parts)
    one, three = both.supports(g, p, parts[-1]), both.supports(3 * g, 3 * p, parts[-1])
    np.testing.assert_allclose(three, 3 * one, rtol=1e-12)


@pytest.mark.parametrize("units", [1e-6, 1e-3, 1e3, 1e6])
def test_the_bound_does_not_depend_on_the_units_of_the_coordinates(units):
    A, _, N, _, b, c, origin, bound = problem(11, 3)
    g, p = np.random.default_rng(11).normal(size=(4, 3)), np.zeros(4)
    D = np.diag([units, 1.0, 1.0])  # x = D x'
    before = OneSetAndBall(A, b, c, N, origin).supports(g, p, bound)
    turned = OneSetAndBall(D @ A @ D, D @ b, c, D @ N @ D, np.linalg.solve(D, origin))
    np.testing.assert_allclose(turned.supports(g @ D, p, bound), before, rtol=1e-6)


@pytest.mark.parametrize("bound", [1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("glimpse", [1e-2, 1e-4, 1e-6])
def test_a_direction_that_only_the_ball_ends_is_not_shortened_by_rounding(bound, glimpse):
    # A has the exact null direction e. With a large ball the multiplier is large, and times it
    # even a rounding error of A along e would count.
    rng = np.random.default_rng(0)
    for k in (2, 6, 20):
        turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
        seen, e = turn[:, :-1], turn[:, -1]
        A = seen @ np.diag(rng.uniform(0.01, 1.0, size=k - 1)) @ seen.T
        g = seen[:, 0] + glimpse * e
        along = np.linalg.pinv(A) @ seen[:, 0]
        along = along / np.sqrt(along @ A @ along)
        point = along + np.sqrt(bound**2 - along @ along) * e  # on the edge of both
        both = OneSetAndBall(A, np.zeros(k), 1.0, np.eye(k), np.zeros(k))
        assert both.supports(g[None], np.zeros(1), bound)[0] >= g @ point * (1 - 1e-8)
