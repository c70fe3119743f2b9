"""The farthest point of a set: against points of the set, brute force, 60 digits and an SDP."""

import cvxpy as cp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.geometry.quadratic import Sets, farthest


def diagonal(w, b, c, empty=False):
    """One set {Σ w_k x_k² - 2 b_k x_k <= c} in its own coordinates."""
    w, b = np.atleast_1d(np.asarray(w, float)), np.atleast_1d(np.asarray(b, float))
    return Sets(w[None], np.eye(len(w))[None], b[None], np.array([float(c)]), np.array([empty]))


def one(w, b, c, empty=False):
    return float(farthest(diagonal(w, b, c, empty))[0])


def from_centre(w, centre, rho):
    """The same for {Σ w_k (x_k - centre_k)² <= rho}."""
    w, centre = np.asarray(w, float), np.asarray(centre, float)
    return one(w, w * centre, rho - np.sum(w * centre**2))


def attained(w, b, c):
    """‖x‖² at a point of the set that satisfies the optimality conditions, in 60 digits.

    At the maximum x = μ w c / (μw - 1) with one multiplier μ >= 1 / min w; in the hard case, where
    μ = 1 / min w, the coordinate of the smallest w is whatever is left of the constraint. The
    conditions are sufficient: 1 - μw <= 0 makes the Lagrangian concave.
    """
    with mp.workdps(60):
        w, b = [mp.mpf(float(v)) for v in w], [mp.mpf(float(v)) for v in b]
        centre = [bk / wk for wk, bk in zip(w, b, strict=True)]
        rho = mp.mpf(float(c)) + mp.fsum(bk * ck for bk, ck in zip(b, centre, strict=True))
        least = min(w)

        def spent(mu, keep):
            return mp.fsum(
                wk * (ck / (mu * wk - 1)) ** 2
                for wk, ck in zip(w, centre, strict=True)
                if ck != 0 and (keep or wk != least)
            )

        hard = all(ck == 0 for wk, ck in zip(w, centre, strict=True) if wk == least)
        if hard and spent(1 / least, keep=False) <= rho:
            mu = 1 / least
            x = [
                mu * wk * ck / (mu * wk - 1) if wk != least else mp.mpf(0)
                for wk, ck in zip(w, centre, strict=True)
            ]
            x[w.index(least)] = mp.sqrt((rho - spent(mu, keep=False)) / least)
        else:
            low, high = mp.mpf(0), mp.mpf(1)  # in s = μ min w - 1
            while spent((1 + high) / least, keep=True) > rho:
                high *= 2
            for _ in range(180):
                s = (low + high) / 2
                if s == 0 or spent((1 + s) / least, keep=True) > rho:
                    low = s
                else:
                    high = s
            mu = (1 + high) / least
            x = [mu * wk * ck / (mu * wk - 1) for wk, ck in zip(w, centre, strict=True)]
        value = mp.fsum(wk * (xk - ck) ** 2 for wk, xk, ck in zip(w, x, centre, strict=True))
        assert abs(value - rho) <= mp.mpf(10) ** -30 * rho  # a point of the set, on its boundary
        return float(mp.fsum(xk**2 for xk in x))


def programme(A, b, c):
    """Minimise γ over multipliers μ >= 0 with [[μA - I, -μb], [-μbᵀ, γ - μc]] ⪰ 0."""
    d = len(b)
    mu, gamma, block = (
        cp.Variable(nonneg=True),
        cp.Variable(),
        cp.Variable((d + 1, d + 1), PSD=True),
    )
    constraints = [
        block[:d, :d] == mu * A - np.eye(d),
        block[:d, d] == -mu * b,
        block[d, d] == gamma - mu * c,
    ]
    problem = cp.Problem(cp.Minimize(gamma), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float("inf") if problem.status == "infeasible" else float(gamma.value)


POSITIVE = st.floats(1e-3, 1.0)
NUMBERS = st.floats(-3.0, 3.0).map(lambda x: round(x, 3))


@st.composite
def problems(draw):
    d = draw(st.integers(1, 8))
    w = draw(st.lists(st.one_of(POSITIVE, st.sampled_from([0.01, 0.25])), min_size=d, max_size=d))
    b = draw(st.lists(NUMBERS, min_size=d, max_size=d))
    return np.array(w), np.array(b), draw(st.floats(1e-3, 10.0))


@pytest.mark.slow
@given(problems())
@settings(max_examples=60, deadline=None)
def test_farthest_is_attained_by_a_point_of_the_set(problem):
    assert one(*problem) == pytest.approx(attained(*problem), rel=1e-10)


@given(problems(), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_no_point_of_the_set_is_farther(problem, seed):
    w, b, c = problem
    u = np.random.default_rng(seed).standard_normal((500, len(w)))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    points = b / w + np.sqrt(c + np.sum(b**2 / w)) * u / np.sqrt(w)
    assert ((points**2).sum(axis=1) <= one(w, b, c) * (1 + 1e-12)).all()


def test_ball():
    centre = np.array([3.0, 0.0, -4.0])
    assert from_centre(np.full(3, 0.5), centre, 0.5 * 4.0) == pytest.approx((5 + 2) ** 2)


def test_one_coordinate():
    # x² w - 2bx <= c has the ends (b ± sqrt(b² + wc)) / w.
    w, b, c = 0.3, -0.7, 1.9
    assert one(w, b, c) == pytest.approx(((b - np.sqrt(b**2 + w * c)) / w) ** 2, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_plane_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    w, centre, rho = rng.uniform(0.1, 1, 2), rng.normal(size=2), rng.uniform(0.1, 2)
    angle = np.linspace(0, 2 * np.pi, 200_001)
    points = centre[:, None] + np.sqrt(rho / w)[:, None] * np.array([np.cos(angle), np.sin(angle)])
    assert from_centre(w, centre, rho) == pytest.approx((points**2).sum(axis=0).max(), rel=1e-8)


# --- the hard case: nothing along the smallest eigenvalue ---------------------------------------

HARD = [
    ([0.2, 0.8], [0.0, 0.3], 1.0),
    ([0.1, 0.1, 0.9], [0.0, 0.0, 0.4], 2.0),
    ([0.05, 0.3, 0.6, 1.0], [0.0, 0.1, -0.2, 0.1], 1.5),
    ([0.2, 0.8], [0.0, 0.0], 1.0),
]


@pytest.mark.parametrize(("w", "b", "c"), HARD)
def test_hard_case_in_closed_form(w, b, c):
    w, b = np.array(w), np.array(b)
    least = w.min()
    x = b / np.where(w > least, w - least, np.inf)  # μ = 1 / min w
    rest = c - (w * x**2 - 2 * b * x).sum()
    assert rest > 0, "not the hard case"
    assert one(w, b, c) == pytest.approx(rest / least + (x**2).sum(), rel=1e-12)


@pytest.mark.parametrize(("w", "b", "c"), HARD)
@pytest.mark.parametrize("small", [1e-2, 1e-4])
def test_nearly_hard_case(w, b, c, small):
    b = np.where(np.arange(len(w)) == 0, small, b)
    assert one(w, b, c) == pytest.approx(attained(w, b, c), rel=1e-10)


def test_a_zero_component_alone_does_not_make_the_case_hard():
    # The other coordinates spend all of ρ before μ gets down to 1 / min w.
    w, b, c = np.array([0.5, 0.6]), np.array([0.0, 2.0]), 0.1
    x = 2.0 / 0.6 + np.sqrt((0.1 + 4.0 / 0.6) / 0.6)
    assert one(w, b, c) == pytest.approx(x**2, rel=1e-12)


@pytest.mark.parametrize(("w", "b", "c"), [*HARD, ([0.3, 0.5, 0.9], [0.2, 0.0, -0.7], 0.4)])
def test_semidefinite_programme(w, b, c):
    assert one(w, b, c) == pytest.approx(programme(np.diag(w), np.array(b), c), rel=1e-6)


# --- sets that are no ellipsoids, and batches ---------------------------------------------------


def test_cylinders_are_infinite_and_the_programme_agrees():
    assert one([0.0, 1.0], [0.0, 0.5], 1.0) == np.inf
    assert programme(np.diag([0.0, 1.0]), np.array([0.0, 0.5]), 1.0) == np.inf


def test_empty_sets_have_no_farthest_point_even_if_flat():
    assert one([0.5, 1.0], [0.0, 0.0], 0.0, empty=True) == -np.inf
    assert one([0.0, 0.0], [0.0, 0.0], 0.0, empty=True) == -np.inf


def test_a_set_of_one_point():
    assert one([0.5, 1.0], [0.0, 0.0], 0.0) == 0.0
    assert from_centre([0.5, 1.0], [3.0, 4.0], 0.0) == pytest.approx(25.0, rel=1e-7)


def test_rotations_change_nothing():
    rng = np.random.default_rng(2)
    w, b, c = rng.uniform(0.1, 1, 5), rng.normal(size=5), 0.7
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    turned = Sets.from_forms(
        (turn * w @ turn.T)[None], (turn @ b)[None], np.array([c]), np.array([False])
    )
    assert farthest(turned)[0] == pytest.approx(attained(w, b, c), rel=1e-10)


def test_sets_of_a_batch_do_not_see_each_other():
    rng = np.random.default_rng(3)
    w = rng.uniform(1e-4, 1, (6, 3))
    w[2, 1] = 0.0
    b, c = np.where(w > 0, rng.normal(size=(6, 3)), 0.0), rng.uniform(0, 1, 6)
    b[3, w[3].argmin()] = 0.0
    empty = np.arange(6) == 4
    batch = farthest(Sets(w, np.stack([np.eye(3)] * 6), b, c, empty))
    alone = [one(w[j], b[j], c[j], empty[j]) for j in range(6)]
    np.testing.assert_array_equal(batch, alone)
    assert np.isposinf(batch[2])
    assert np.isneginf(batch[4])
    assert np.isfinite(batch[[0, 1, 3, 5]]).all()
