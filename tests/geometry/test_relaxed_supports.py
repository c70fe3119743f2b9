"""A quadratic inequality that need not be convex, and a ball: bounds no point exceeds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from balls import ball_coordinates
from speed import slow_but
from unassuming.geometry._relaxed_supports import relaxed_supports


def bounds(A, b, c, N, g, p, bound):
    ball = ball_coordinates(np.diag(N), np.zeros(len(N)), bound, np.zeros(len(N)))
    ball = replace(ball, functionals=g, beyond=p)
    up, down = relaxed_supports(A[None], b[None], np.array([c]), ball)
    return up[:, 0], down[:, 0]


def problem(seed, k, definite):
    """xᵀAx - 2bᵀx <= c, holding at zero; units differ by orders of magnitude."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(k, k)) / np.sqrt(k) * 10 ** rng.uniform(-2, 2)
    signs = np.ones(k) if definite else rng.choice([-1.0, 1.0], size=k)
    A = root.T @ (signs[:, None] * root)
    b = A @ rng.normal(size=k) * 10 ** rng.uniform(-2, 1)
    c, bound = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-1, 1.5)
    g, p = rng.normal(size=(5, k)), np.abs(rng.normal(size=5)) * (np.arange(5) % 2)
    return A, b, c, g, p, bound


def points_of_the_ball(rng, k, bound, count):
    x = rng.normal(size=(count, k + 1))
    x *= bound * rng.random((count, 1)) ** (1 / (k + 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    return x[:, :k], x[:, k]


@pytest.mark.parametrize("k", slow_but([1, 3, 8, 20], 3))
def test_for_convex_sets_it_is_the_exact_maximum(k):
    """The least bound by the plain formula, for one functional at a time."""
    for seed in range(3):
        A, b, c, g, p, bound = problem(seed, k, definite=True)
        ball = bound * np.sqrt((g**2).sum(axis=1) + p**2)
        for sign, found in zip((1.0, -1.0), bounds(A, b, c, np.ones(k), g, p, bound), strict=True):
            plain = [
                least(A, b, c, sign * row, power, bound) for row, power in zip(g, p, strict=True)
            ]
            np.testing.assert_allclose(np.minimum(found, ball), np.minimum(plain, ball), rtol=1e-8)


def least(A, b, c, g, p, bound):
    """min over θ of max gᵀx + p s with ‖x‖² + s² + θ(xᵀAx - 2bᵀx - c) <= B²."""

    def value(log_theta):
        theta = np.exp(log_theta)
        both = np.linalg.solve(np.eye(len(A)) + theta * A, np.column_stack([g, theta * b]))
        size = bound**2 + theta * c + theta * b @ both[:, 1]
        return theta * b @ both[:, 0] + np.sqrt(size * (g @ both[:, 0] + p**2))

    grid = np.linspace(-30, 40, 141)
    best = grid[np.argmin([value(t) for t in grid])]
    options = {"xatol": 1e-10}
    return minimize_scalar(
        value, bounds=(best - 1, best + 1), method="bounded", options=options
    ).fun


@pytest.mark.parametrize("k", slow_but([1, 2, 4], 2))
def test_no_point_of_both_exceeds_it(k):
    tight = []
    for seed in range(20):
        A, b, c, g, p, bound = problem(seed, k, definite=False)
        x, s = points_of_the_ball(np.random.default_rng(seed), k, bound, 10_000)
        inside = np.einsum("nj,jk,nk->n", x, A, x) - 2 * x @ b <= c
        values, extra = x[inside] @ g.T, s[inside, None] * p
        up, down = bounds(A, b, c, np.ones(k), g, p, bound)
        assert (values + extra <= up).all()
        assert (-values + extra <= down).all()
        if inside.any():
            tight.append(((values + extra).max(axis=0) / up).max())
    assert np.max(tight) > 0.95  # and it is not infinity throughout


@pytest.mark.slow
def test_nearly_flat_directions_do_not_break_it():
    """One eigenvalue just below zero: near the last θ everything is divided by nearly nothing."""
    rng, met, tight = np.random.default_rng(0), 0, 0
    angle = np.linspace(0, 2 * np.pi, 1001)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(30):
        bound, g, size = 10 ** rng.uniform(-2, 2), rng.normal(size=2), (30, 1)
        turn = np.linalg.qr(rng.normal(size=(30, 2, 2)))[0]
        flat = np.concatenate([np.ones(size), -(10 ** rng.uniform(-8, 0, size))], axis=1)
        A = turn * flat[:, None, :] @ turn.transpose(0, 2, 1)
        b = rng.normal(size=(30, 2)) * 10 ** rng.uniform(-3, 1, size)
        c = rng.normal(size=30) * 10 ** rng.uniform(-3, 1, 30)
        ball = ball_coordinates(np.eye(2), np.zeros(2), bound, np.zeros(2))
        ball = replace(ball, functionals=g[None], beyond=np.zeros(1))
        up = relaxed_supports(A, b, c, ball)[0][0]
        x = bound * np.concatenate([s * circle for s in (1 - 1e-12, 0.9, 0.6, 0.3)])
        inside = c[:, None] - np.einsum("nj,ijk,nk->in", x, A, x) + 2 * b @ x.T
        rounding = 1e-9 * (abs(c) + bound**2 + np.abs(b).sum(axis=1) * bound)
        values = np.where(inside >= rounding[:, None], x @ g, -np.inf).max(axis=1)
        some, length = np.isfinite(values), bound * np.linalg.norm(g)
        slack = up[some] - values[some]
        assert (slack >= -1e-10 * length).all()
        met, tight = met + some.sum(), tight + (slack < 1e-3 * length).sum()
    assert met > 600
    assert tight > met / 10


def test_multipliers_tried_one_by_one_give_no_less():
    """The least support of B² >= ‖x‖² + s² + θ(xᵀAx - 2bᵀx - c) over many θ, by plain inverses."""
    for seed in range(6):
        A, b, c, g, p, bound = problem(seed, 4, definite=False)
        least = np.linalg.eigvalsh(A)[0]
        ends = np.geomspace(1e-8, 1, 500) * (0.999999 / -least if least < 0 else 1e6)
        best = np.full(5, np.inf)
        for theta in np.concatenate([ends, ends.max() - ends[:-1]]):
            M = np.linalg.inv(np.eye(4) + theta * A)
            centre, size = theta * M @ b, bound**2 + theta * c + theta**2 * b @ M @ b
            spread = np.einsum("nj,jk,nk->n", g, M, g) + p**2
            best = np.minimum(best, g @ centre + np.sqrt(size * spread))
        found = bounds(A, b, c, np.ones(4), g, p, bound)[0]
        # At the last θ, where some are least, rounding is allowed for.
        assert (found <= best + 1e-4 * (np.abs(best) + bound)).all()
        assert (found >= best - 5e-3 * (np.abs(best) + bound)).all()


@pytest.mark.parametrize("unit", slow_but([1e-6, 1.0, 1e6], 1e6))
def test_coordinates_outside_the_ball_are_eliminated(unit):
    """The same bounds as with a ball so large in those coordinates that it does not matter."""
    for seed in range(10):
        A, b, c, g, p, bound = problem(seed, 4, definite=True)
        A[1:, 1:] -= 0.3 * np.trace(A) / 4 * np.diag([0.0, 1.0, 0.5])  # indefinite
        free = np.array([0.0, 1.0, 1.0, 1.0])
        found = bounds(A, b, c, free, g, p, bound)[0]
        scale = np.array([unit, 1.0, 1.0, 1.0])
        again = bounds(scale[:, None] * A * scale, scale * b, c, free, g * scale, p, bound)[0]
        np.testing.assert_allclose(again, found, rtol=1e-6)
        wide = np.array([1e4, 1.0, 1.0, 1.0])
        held = bounds(wide[:, None] * A * wide, wide * b, c, np.ones(4), g * wide, p, bound)[0]
        finite = np.isfinite(found)
        np.testing.assert_allclose(held[finite], found[finite], rtol=1e-3)


def test_what_neither_sees_has_no_bound():
    A = np.diag([0.0, 1.0])
    up, down = bounds(A, np.zeros(2), 1.0, np.array([0.0, 1.0]), np.eye(2), np.zeros(2), 3.0)
    # It drops out where the functional does not see it either.
    np.testing.assert_allclose(up, [np.inf, 1.0])
    np.testing.assert_allclose(down, [np.inf, 1.0])
    for wrong in (-1.0, -1e-12):
        A[0, 0] = wrong
        found = bounds(A, np.zeros(2), 1.0, np.array([0.0, 1.0]), np.eye(2), np.zeros(2), 3.0)
        assert np.isposinf(found).all()


def test_without_a_ball_it_is_the_ellipsoid_itself():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    A, centre, radius = root.T @ root, rng.normal(size=3), 2.0
    b, c = A @ centre, radius - centre @ A @ centre
    g = rng.normal(size=(4, 3))
    spread = np.sqrt(radius * np.einsum("nj,jk,nk->n", g, np.linalg.inv(A), g))
    up, down = bounds(A, b, c, np.zeros(3), g, np.zeros(4), 0.0)
    np.testing.assert_allclose(up, g @ centre + spread, rtol=1e-9)
    np.testing.assert_allclose(down, spread - g @ centre, rtol=1e-9)


def test_what_does_not_meet_the_ball_is_empty():
    A, far = np.eye(2), np.array([5.0, 0.0])
    shape = (A, far, 1.0 - far @ far, np.ones(2), np.eye(2), np.zeros(2))  # ‖x - far‖ <= 1
    assert np.isneginf(bounds(*shape, 3.9)).all()
    up, down = bounds(*shape, 4.1)
    assert (up >= [4.0, 0.0]).all()
    assert (down >= [-4.1, 0.0]).all()


def test_nothing_known_says_nothing():
    found = bounds(np.zeros((2, 2)), np.zeros(2), 0.0, np.ones(2), np.eye(2), np.zeros(2), 1.0)
    assert np.isposinf(found).all()
