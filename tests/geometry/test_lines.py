"""The sets on lines: quadratics in t, their ends, and how many intervals cover a point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.geometry import order_statistic
from unassuming.geometry.quadratic import (
    FormMaker,
    LineQuadratics,
    along_lines,
    covered,
    exits,
    intervals,
)
from unassuming.noise import (
    Exchangeable,
    Perturbations,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
)


def lines(A, b, c, noise=0.0, empty=False):
    """Quadratics c - 2bt - At² of one line."""
    A, b, c, noise, empty = np.broadcast_arrays(
        *(np.atleast_2d(v) for v in (A, b, c, noise, empty))
    )
    return LineQuadratics(A.astype(float), b.astype(float), c.astype(float), noise, empty)


# --- the ends of one set --------------------------------------------------------------------------


def test_free_lines_never_end():
    free = lines(A=1e-17, b=0.0, c=[[1.0, 0.0, -1.0]], noise=1e-16)
    low, high = intervals(free)
    np.testing.assert_array_equal(low, [[-np.inf, -np.inf, np.inf]])
    np.testing.assert_array_equal(high, [[np.inf, np.inf, -np.inf]])
    np.testing.assert_array_equal(
        exits(lines(1e-17, 0.0, [[1.0, 0.0]], noise=1e-16)), [[np.inf] * 2]
    )


def test_empty_sets_have_no_exit_and_no_interval_even_on_free_lines():
    for A in (1.0, 0.0):
        empty = lines(A, 0.0, 1.0, empty=True)
        low, high = intervals(empty)
        assert exits(empty)[0, 0] == -np.inf
        assert low[0, 0] > high[0, 0]


def test_a_set_of_one_point_ends_where_it_begins():
    point = lines(A=0.5, b=0.0, c=0.0)
    assert exits(point)[0, 0] == 0.0
    np.testing.assert_array_equal(np.concatenate(intervals(point)), [[0.0], [0.0]])


# --- how many cover -------------------------------------------------------------------------------


@st.composite
def closed_intervals(draw):
    ends = st.one_of(st.integers(-4, 4).map(float), st.sampled_from([-np.inf, np.inf]))
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=7))
    low, high = np.array(pairs).T
    backwards = (low == high) & np.isinf(low)  # not the interval of any set
    return np.where(backwards, np.inf, low), np.where(backwards, -np.inf, high)


@pytest.mark.slow
@given(closed_intervals(), st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_covered_points_lie_in_at_least_q_intervals(pairs, q):
    low, high = pairs
    q = min(q, len(low))
    found = covered(low, high, q)
    t = np.arange(-20, 21) / 4  # all ends that can occur, and points between them
    enough = ((low <= t[:, None]) & (t[:, None] <= high)).sum(axis=1) >= q
    inside = ((found[:, 0] <= t[:, None]) & (t[:, None] <= found[:, 1])).any(axis=1)
    np.testing.assert_array_equal(inside, enough)
    assert found.shape == (len(found), 2)
    assert (found[:, 0] <= found[:, 1]).all()
    assert (found[1:, 0] > found[:-1, 1]).all()


def test_single_points_are_kept():
    low, high = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    np.testing.assert_array_equal(covered(low, high, 2), [[1.0, 1.0]])
    np.testing.assert_array_equal(covered(low, high, 1), [[0.0, 2.0]])


@given(
    st.lists(
        st.one_of(st.integers(-3, 3).map(float), st.just(np.inf), st.just(-np.inf)), min_size=1
    )
)
def test_order_statistic_is_the_qth_largest(values):
    ordered = sorted(values, reverse=True)
    array = np.array([values, values])
    np.testing.assert_array_equal(order_statistic(array), [ordered, ordered])
    for q, expected in enumerate(ordered, start=1):
        np.testing.assert_array_equal(order_statistic(array, q), [expected, expected])


# --- quadratics of a problem ----------------------------------------------------------------------


class Problem:
    """Ridge on weighted rows, by plain linear algebra."""

    def __init__(self, noise, *, alpha, n=8, d=3, m=10, weights=None, seed=0):
        rng = np.random.default_rng(seed)
        self.n, self.alpha = n, alpha
        self.w = np.ones(n) if weights is None else weights
        self.Phi, self.y = rng.normal(size=(n, d)), rng.standard_cauchy(n)
        self.H = self.Phi.T @ (self.w[:, None] * self.Phi) / n + alpha / n * np.eye(d)
        self.a = np.linalg.solve(self.H, self.Phi.T @ (self.w * self.y) / n)
        self.perturbations = Perturbations.sample(noise, n, m, rng)
        F = np.sqrt(self.w)[:, None] * self.Phi
        q = np.linalg.qr(np.vstack([F, np.sqrt(alpha) * np.eye(d)]))[0][:n]
        residual = np.sqrt(self.w) * (self.y - self.Phi @ self.a)
        wins = np.ones(m - 1, dtype=bool)
        self.maker = FormMaker(q, residual, np.full(len(residual), 1e-15), self.perturbations, wins)

    def gaps(self, a):
        """n (Z_i - Z_0) from the definition."""
        r = self.y - self.Phi @ a
        Z = []
        for transformed in [r, *self.perturbations.apply(r)]:
            s = self.Phi.T @ (self.w * transformed) / self.n - self.alpha / self.n * a
            Z.append(s @ np.linalg.solve(self.H, s))
        return self.n * (np.array(Z[1:]) - Z[0])

    def lines(self, start, step):
        root = np.sqrt(self.w)
        start, step = root * (start @ self.Phi.T), root * (step @ self.Phi.T)
        return along_lines(self.maker, start, step, np.full(len(step), 1e-15))


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("moved", [0.0, 1.5])
@pytest.mark.parametrize(
    ("noise", "weights"),
    [
        (Symmetric(), None),
        (Symmetric(), np.linspace(0.3, 2, 8)),
        (Exchangeable(), None),
        (SymmetricExchangeable(), None),
        (Spherical(), None),
    ],
    ids=["signs", "weighted", "permutations", "both", "rotations"],
)
def test_quadratics_are_the_differences_of_the_statistics(noise, weights, moved, alpha):
    problem = Problem(noise, alpha=alpha, weights=weights)
    rng = np.random.default_rng(1)
    start, step = moved * rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    found = problem.lines(start, step)
    for t in (-2.0, 0.0, 0.3, 7.0):
        value = found.c - 2 * t * found.b - t**2 * found.A
        gaps = np.stack([problem.gaps(problem.a + start[j] + t * step[j]) for j in range(2)])
        np.testing.assert_allclose(value, gaps, rtol=1e-9, atol=1e-10 * np.abs(gaps).max())


def test_lines_of_a_batch_do_not_see_each_other():
    problem = Problem(Symmetric(), alpha=0.0)
    rng = np.random.default_rng(2)
    start = rng.normal(size=(3, 3)) * np.array([[0.0], [1.0], [5.0]])  # the first at the estimate
    step = rng.normal(size=(3, 3))
    together = problem.lines(start, step)
    for j in range(3):
        alone = problem.lines(start[j : j + 1], step[j : j + 1])
        for name in ("A", "b", "c", "free", "empty"):
            one, two = getattr(alone, name), getattr(together, name)
            two = two[j : j + 1] if len(two) == 3 else two
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12, err_msg=name)


def minus_identity(wins):
    """Least squares on four rows, the only transformation being -I: an identical tie."""
    noise = Symmetric()
    rng = np.random.default_rng(4)
    q = np.linalg.qr(rng.normal(size=(4, 2)))[0]
    y = rng.normal(size=4)
    residual = y - q @ (q.T @ y)
    perturbations = Perturbations(noise, -np.ones((1, 4), dtype=np.int8), 4, 2)
    return FormMaker(q, residual, np.full(len(residual), 1e-15), perturbations, np.array([wins])), q


@pytest.mark.parametrize("wins", [True, False])
def test_an_identical_tie_is_decided_by_its_order_on_every_line(wins):
    maker, q = minus_identity(wins)
    start, step = np.random.default_rng(0).normal(size=(2, 100, 2)) @ q.T
    low, high = intervals(along_lines(maker, start, step, np.full(100, 1e-15)))
    expected = (-np.inf, np.inf) if wins else (np.inf, -np.inf)
    assert set(zip(low[:, 0], high[:, 0], strict=True)) == {expected}
