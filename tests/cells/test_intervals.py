"""Interval and test are dual; the closed form agrees with the definition; equivariance."""

import numpy as np
import pytest
from exact_cells import dot, exact_ranks, exact_weights, rational
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.cells import (
    estimates,
    factors_of_rows,
    fewest_cells,
    flipped_cells,
    intervals,
    intervals_and_ranks,
    largest_q,
    number_of_statistics,
    ranks,
)

NUMBERS = st.floats(-1e3, 1e3).map(lambda x: float(np.float32(x)))


@st.composite
def cells(draw):
    K = draw(st.integers(2, 8))
    beta = draw(st.lists(NUMBERS, min_size=K, max_size=K))
    v = draw(st.lists(st.sampled_from([0.0, 1e-6, 0.5, 1.0, 3.0, 1e5]), min_size=K, max_size=K))
    return np.array([beta]), np.array([v])


@pytest.mark.slow
@given(cells(), st.sampled_from([0.5, 0.75, 0.9, 0.95]), NUMBERS)
@settings(deadline=None, derandomize=True)
def test_a_number_is_in_the_interval_exactly_if_it_is_not_rejected(data, level, tau):
    beta, v = data
    found = intervals(beta, v, level)
    values = [tau, *beta[0], found.lower[0], found.upper[0]]
    values += [np.nextafter(found.lower[0], -np.inf), np.nextafter(found.upper[0], np.inf)]
    for value in values:
        if np.isfinite(value):
            test = ranks(beta, v, np.array([value]))
            inside = found.lower[0] <= value <= found.upper[0]
            assert inside == (test.pvalue[0] > found.q[0] / found.m[0])
            assert test.m[0] == found.m[0]


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
@settings(deadline=None, max_examples=40, derandomize=True)
def test_the_rank_is_that_of_the_definition_in_fractions(seed, K):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    n = K * (d + 1)
    Phi = rng.integers(-3, 4, size=(n, d)).astype(float)
    y = rng.integers(-5, 6, size=n).astype(float)
    c = rng.integers(-1, 2, size=d).astype(float)
    c[0] = 1
    labels = rng.permutation(np.arange(n) % K)
    tau = float(rng.integers(-2, 3))
    exact = exact_weights(Phi, c, labels.tolist())
    found = estimates(factors_of_rows(Phi, y, labels, K), c[None])
    assert (found.v > 0).sum() == len(exact)
    if not exact:
        return
    r = rational(y)
    x = rational(Phi @ c / (c @ c))
    scores = [
        dot(residual, [r[i] for i in rows]) - rational(tau) * dot(residual, [x[i] for i in rows])
        for rows, residual, _ in exact
    ]
    low, _, m = exact_ranks(scores)
    result = ranks(found.beta, found.v, np.array([tau]), found.error)
    assert (int(result.rank[0]), int(result.m[0])) == (low, m)


def test_for_q_equal_to_one_the_interval_is_the_range_of_the_estimates():
    rng = np.random.default_rng(0)
    beta, v = rng.normal(size=(20, 6)), rng.uniform(0.1, 10, size=(20, 6))
    found = intervals(beta, v, 0.95)
    assert found.q.tolist() == [1] * 20
    np.testing.assert_allclose(found.lower, beta.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.upper, beta.max(axis=1), atol=1e-12)


def test_too_few_cells_give_the_whole_line_and_an_estimate():
    beta, v = np.array([[1.0, 3.0, 9.0]]), np.array([[1.0, 1.0, 0.0]])
    found = intervals(beta, v, 0.9)
    assert (found.lower[0], found.upper[0]) == (-np.inf, np.inf)
    assert (found.estimate[0], found.q[0], found.m[0], found.cells[0]) == (2.0, 0, 2, 2)
    nothing = intervals(beta, 0 * v, 0.9)
    assert np.isnan(nothing.estimate[0])
    assert (nothing.m[0], nothing.cells[0], nothing.upper[0]) == (1, 0, np.inf)
    assert ranks(beta, 0 * v, np.zeros(1)).pvalue[0] == 1


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_levels(level):
    K = fewest_cells(level)
    assert 2 ** (1 - K) <= 1 - level + 1e-12 < 2 ** (2 - K) + 2e-12
    for m in (2, 16, 20, 100, 128, 4000):
        assert largest_q(level, m) == int((1 - level) * m + 1e-6)


def test_shifts_and_scales():
    rng = np.random.default_rng(1)
    Phi = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
    y, c = rng.standard_t(2, size=40), rng.normal(size=(4, 3))
    labels = rng.permutation(np.arange(40) % 7)

    def bounds(y, Phi=Phi, c=c):
        found = estimates(factors_of_rows(Phi, y, labels, 7), c)
        got = intervals(found.beta, found.v, 0.9, found.error)
        return np.array([got.lower, got.estimate, got.upper])

    theta, scale = np.array([5.0, -3.0, 1e3]), np.array([1e-6, 1.0, 1e9])
    plain = bounds(y)
    np.testing.assert_allclose(bounds(y + Phi @ theta), plain + c @ theta, rtol=1e-9)
    np.testing.assert_allclose(bounds(-3 * y)[::-1], -3 * plain, rtol=1e-9)
    np.testing.assert_allclose(bounds(y, Phi * scale, c * scale), plain, rtol=1e-9)
    order = rng.permutation(40)
    moved = estimates(factors_of_rows(Phi[order], y[order], labels[order], 7), c)
    again = intervals(moved.beta, moved.v, 0.9, moved.error)
    np.testing.assert_allclose([again.lower, again.estimate, again.upper], plain, rtol=1e-9)


def test_more_cells_than_can_be_enumerated_draw_their_signs():
    rng = np.random.default_rng(2)
    beta, v = rng.normal(size=(3, 24)), np.ones((3, 24))
    found = intervals(beta, v, 0.95, seed=3)
    assert found.m.tolist() == [number_of_statistics(24)] * 3
    assert found.q.tolist() == [200] * 3
    other = intervals(beta, v, 0.95, seed=4)
    assert not np.array_equal(found.lower, other.lower)
    np.testing.assert_allclose(found.upper - found.lower, other.upper - other.lower, rtol=0.15)
    identity = flipped_cells(24).copy()
    assert identity.shape == (3999, 24)
    assert 0.4 < identity.mean() < 0.6


def test_intervals_and_ranks_together():
    rng = np.random.default_rng(7)
    beta, v, tau = rng.normal(size=(6, 8)), rng.uniform(0.5, 2, size=(6, 8)), rng.normal(size=6)
    v[1, 3:], v[2, 1:], v[3] = 0.0, 0.0, 0.0  # 3 cells, one, none
    error = 1e-12 * np.abs(beta)
    for ties in ("conservative", "random"):
        found, tested = intervals_and_ranks(beta, v, 0.9, tau, error, ties, seed=5)
        alone, ranked = intervals(beta, v, 0.9, error, 5), ranks(beta, v, tau, error, ties, 5)
        for name in vars(alone):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
        np.testing.assert_array_equal(tested.rank, ranked.rank)
        np.testing.assert_array_equal(tested.m, ranked.m)
    assert np.isinf(found.upper[1:4]).all()
    assert found.estimate[2] == beta[2, 0]
    assert np.isnan(found.estimate[3])
