"""Halves and PALMRT: the certified bound, counted over whole groups as integers."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from unassuming.cells.estimates import Sample
from unassuming.cells.theorem import Spans, hadamard_words
from unassuming.cells.tournament import (
    Halves,
    certified,
    certified_level,
    certified_q,
    halves,
    palmrt_spans,
)


def check_tournament(counts, m):
    """At most 2q - 1 of m players lose fewer than q games."""
    counts = np.array(counts)
    assert len(counts) % m == 0
    for q in range(1, m // 2):
        assert np.count_nonzero(counts < q) <= (2 * q - 1) * (len(counts) // m)


def span_of_truth(sample, made, g, truth, *, robust=False):
    """Spans of one number, and the truth as a distance from the estimate, in their units."""
    U, size, _ = sample.at.vectors(g)
    found = made.spans(sample, U, robust=robust)
    return found, (truth - sample.at.estimates(g)) / size


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("d", "m"), [(1, 8), (2, 8), (2, 16)])
def test_halves_keep_their_bound_over_all_signs(d, m):
    n = 8
    rng = np.random.default_rng(d)
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])[:, :d]
    size, theta, g = rng.standard_cauchy(n), np.array([1.0, 2.0])[:d], np.eye(d)[-1:]
    made = Halves(1 + rng.permutation(np.arange(n) % (m - 1)), m)
    counts, missed = [], []
    for signs in product((1, -1), repeat=n):
        sample = Sample.of(Phi, Phi @ theta + np.array(signs) * size)
        found, tau = span_of_truth(sample, made, g, theta[-1])
        counts.append(int(found.holding(tau)[0]))
        level = 1 - 1 / m
        lower, upper, pvalue = certified(found, level, tau)
        missed.append(bool(tau[0] < lower[0] or tau[0] > upper[0]))
        assert missed[-1] == (pvalue[0] <= 1 / m)
    check_tournament(counts, m)
    assert sum(missed) <= 2**n // m
    assert d > 1 or sum(missed) > 0  # the bound is not void


def test_spans_of_halves_are_those_of_least_squares_in_both():
    rng = np.random.default_rng(4)
    Phi = np.column_stack([np.ones(30), rng.normal(size=(30, 2)), np.arange(30) < 4])
    y = rng.normal(size=30)
    sample = Sample.of(Phi, y)
    made = halves(sample.atoms, 0.9)
    assert made.m == 16
    U, size, _ = sample.at.vectors(np.eye(4))
    found = made.spans(sample, U)
    estimates, hidden = sample.at.estimates(np.eye(4)), 0
    for w, word in enumerate(hadamard_words(16)[1:]):
        plus = word[made.columns] > 0
        ends, known = [], np.ones(4, dtype=bool)
        for rows in (plus, ~plus):
            theta, _, rank, _ = np.linalg.lstsq(Phi[rows], y[rows])
            ends.append(theta)
            more = [np.linalg.matrix_rank(np.vstack([Phi[rows], e])) for e in np.eye(4)]
            known &= np.array(more) == rank
        hidden += int((~known).sum())
        np.testing.assert_array_equal(np.isneginf(found.lo[:, w]), ~known)
        np.testing.assert_array_equal(np.isposinf(found.hi[:, w]), ~known)
        span = estimates + size * np.array([found.lo[:, w], found.hi[:, w]])
        np.testing.assert_allclose(span[:, known], np.sort(ends, axis=0)[:, known], rtol=1e-6)
    assert hidden > 0


def test_palmrt_keeps_its_bound_over_all_permutations():
    n = 5
    rng = np.random.default_rng(4)
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])
    noise = np.exp(2 * rng.normal(size=n))
    orders = np.array(list(permutations(range(n))))
    counts = []
    for order in orders:
        sample = Sample.of(Phi, Phi @ [1.0, 2.0] + noise[order])
        U, size, _ = sample.at.vectors(np.eye(2)[1:])
        found = palmrt_spans(sample.Q, sample.e, U[0], orders[1:])
        tau = (2.0 - sample.at.estimates(np.eye(2)[1:])) / size
        counts.append(int(Spans(found.lo - 1e-9, found.hi + 1e-9).holding(tau)[0]))
    check_tournament(counts, 120)
    assert min(counts) < 20


def test_palmrt_spans_are_the_numbers_that_do_not_lose():
    rng = np.random.default_rng(5)
    Phi = np.column_stack([np.ones(9), rng.normal(size=(9, 2))])
    y, order = rng.normal(size=9), rng.permutation(9)
    sample = Sample.of(Phi, y)
    U, size, _ = sample.at.vectors(np.eye(3)[1:2])
    found = palmrt_spans(sample.Q, sample.e, U[0], order[None])
    lo, hi = (
        sample.at.estimates(np.eye(3)[1:2]) + size * end[:, 0] for end in (found.lo, found.hi)
    )
    Z = Phi[:, [0, 2]]
    M = np.eye(9) - (B := np.hstack([Z, Z[order]])) @ np.linalg.pinv(B)
    x, moved = M @ Phi[:, 1], M @ Phi[order, 1]
    for tau in np.linspace(-3, 3, 41):
        r = y - Phi[:, 1] * tau
        beaten = abs(x @ r) / np.linalg.norm(x) <= abs(moved @ r) / np.linalg.norm(moved)
        assert beaten == (lo[0] <= tau <= hi[0])


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 6)), min_size=1, max_size=40),
    st.sampled_from([0.4, 0.8, 0.9, 0.95]),
    st.integers(-6, 12),
)
@settings(deadline=None, derandomize=True)
def test_the_interval_is_that_of_the_numbers_that_are_not_rejected(ends, level, tau):
    lo = np.array([[float(start) for start, _ in ends]])
    hi = lo + np.array([[float(length) for _, length in ends]])
    m = lo.shape[1] + 1
    q = certified_q(level, m)
    assert q == 0 or (2 * q - 1) / m <= 1 - level + 1e-9 < (2 * q + 1) / m
    lower, upper, pvalue = certified(Spans(lo, hi), level, float(tau), center=0.0)
    if q == 0:
        assert (lower[0], upper[0]) == (-np.inf, np.inf)
        return
    assert certified_level(level, m) == 1 - (2 * q - 1) / m
    inside = lower[0] <= tau <= upper[0]
    assert inside == (pvalue[0] > 1 - certified_level(level, m) + 1e-12)


@pytest.mark.parametrize(("n", "d", "bound"), [(24, 6, 2.0), (40, 10, 1.72), (100, 20, 1.55)])
def test_one_group_of_halves_for_all_coefficients_is_narrow_enough(n, d, bound):
    """Over the t interval, for normal noise: the mean over 200 draws, the median coefficient."""
    rng = np.random.default_rng(n)
    Phi = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
    made, ratios, predicted = None, [], None
    for _ in range(200):
        sample = Sample.of(Phi, rng.normal(size=n))
        made = halves(sample.atoms, 0.95) if made is None else made
        U, _, _ = sample.at.vectors(np.eye(d))
        predicted = made.widths(sample.atoms, U) if predicted is None else predicted
        lower, upper, _ = certified(made.spans(sample, U), 0.95)
        half = t.ppf(0.975, n - d) * sample.at.rest / np.sqrt(n - d)
        ratios.append((upper - lower) / 2 / half)
    assert np.median(np.mean(ratios, axis=0)) <= bound
    half = t.ppf(0.975, n - d)
    assert np.median(predicted / half) == pytest.approx(np.median(np.mean(ratios, axis=0)), rel=0.2)
