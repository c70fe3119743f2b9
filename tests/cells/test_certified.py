"""Halves and PALMRT: the certified bound, counted over whole groups as integers."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.cells import (
    certified_interval,
    certified_pvalue,
    certified_q,
    enough_cells,
    estimates,
    factor_of_rows,
    half_spans,
    palmrt_spans,
    random_halves,
    rows_needed,
)


def containing(lo, hi, tau):
    return np.count_nonzero((lo <= tau) & (tau <= hi))


def check_tournament(counts, m):
    """At most 2q - 1 of m players lose fewer than q games."""
    counts = np.array(counts)
    assert len(counts) % m == 0
    for q in range(1, m // 2):
        assert np.count_nonzero(counts < q) <= (2 * q - 1) * (len(counts) // m)


@pytest.mark.parametrize("d", [1, 2])
def test_halves_keep_their_bound_over_all_signs(d):
    n = 6
    rng = np.random.default_rng(d)
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])[:, :d]
    size = rng.standard_cauchy(n)
    theta, c = np.array([1.0, 2.0])[:d], np.eye(d)[-1:]
    flipped = np.array(list(product((False, True), repeat=n - 1)))[1:]
    flipped = np.column_stack([np.zeros(len(flipped), dtype=bool), flipped])  # up to a common sign
    counts = []
    for signs in product((1,), *[(1, -1)] * (n - 1)):
        lo, hi = half_spans(Phi, Phi @ theta + np.array(signs) * size, c, flipped)
        counts.append(containing(lo[0], hi[0], theta[-1]))
    check_tournament(counts, 2 ** (n - 1))
    assert min(counts) < (4 if d == 1 else 12)  # the bound is not void


def test_halves_of_clusters_and_robust_halves():
    rng = np.random.default_rng(3)
    clusters = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    Phi = np.ones((8, 1))
    e = rng.standard_cauchy(8)
    flipped = np.array(list(product((False, True), repeat=5)))[1:16]
    for fit in (None, lambda Phi, y: np.sort(y)[[(len(y) - 1) // 2]]):  # not odd by itself
        counts = []
        for signs in product((1,), *[(1, -1)] * 4):
            y = 4.0 + np.array(signs)[clusters] * e
            lo, hi = half_spans(Phi, y, np.ones((1, 1)), flipped, clusters, fit)
            counts.append(containing(lo[0], hi[0], 4.0))
        check_tournament(counts, 16)


@pytest.mark.slow
def test_palmrt_keeps_its_bound_over_all_permutations():
    n = 5
    rng = np.random.default_rng(4)
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])
    noise = np.exp(2 * rng.normal(size=n))
    orders = np.array(list(permutations(range(n))))
    theta = np.array([1.0, 2.0])
    counts = []
    for order in orders:
        lo, hi = palmrt_spans(Phi, Phi @ theta + noise[order], np.array([0.0, 1.0]), orders[1:])
        counts.append(containing(lo - 1e-12, hi + 1e-12, 2.0))
    check_tournament(counts, 120)
    assert min(counts) < 20


def test_palmrt_intervals_are_the_numbers_that_do_not_lose():
    rng = np.random.default_rng(5)
    Phi = np.column_stack([np.ones(9), rng.normal(size=(9, 2))])
    y, order, c = rng.normal(size=9), rng.permutation(9), np.array([0.0, 1.0, 0.0])
    (lo,), (hi,) = palmrt_spans(Phi, y, c, order[None])
    Z = Phi[:, [0, 2]]
    M = np.eye(9) - (B := np.hstack([Z, Z[order]])) @ np.linalg.pinv(B)
    x, moved = M @ Phi[:, 1], M @ Phi[order, 1]
    for tau in np.linspace(-3, 3, 41):
        r = y - Phi[:, 1] * tau
        beaten = abs(x @ r) / np.linalg.norm(x) <= abs(moved @ r) / np.linalg.norm(moved)
        assert beaten == (lo <= tau <= hi)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 6)), min_size=1, max_size=40),
    st.sampled_from([0.4, 0.8, 0.9, 0.95]),
)
@settings(deadline=None, derandomize=True)
def test_the_hull_is_that_of_the_numbers_that_are_not_rejected(spans, level):
    lo = np.array([float(start) for start, _ in spans])
    hi = np.array([float(start + length) for start, length in spans])
    m, q = len(lo) + 1, certified_q(level, len(lo) + 1)
    assert q == 0 or (2 * q - 1) / m <= 1 - level + 1e-9 < (2 * q + 1) / m
    lower, upper = certified_interval(lo, hi, level)
    values = np.arange(-6, 13) / 1.0
    kept = [v for v in values if certified_pvalue(lo, hi, v) > 1 - level + 1e-9]
    if q == 0:
        assert (lower, upper) == (-np.inf, np.inf)
    elif kept:
        assert (lower, upper) == (min(kept), max(kept))
    else:
        assert np.isnan(lower)


def test_halves_that_identify_nothing_do_not_restrict():
    lo, hi = half_spans(np.eye(3), np.ones(3), np.eye(3)[:1], random_halves(3, 19))
    assert np.isinf(lo).all()
    assert certified_interval(lo[0], hi[0], 0.9) == (-np.inf, np.inf)
    assert certified_pvalue(lo[0], hi[0], 0.0) == 1


def test_halves_are_fitted_as_cells_are():
    rng = np.random.default_rng(7)
    level = rng.integers(0, 4, size=16)
    Phi = np.column_stack([np.ones(16), rng.normal(size=16) * 1e9, level[:, None] == [1, 2, 3]])
    y, c = rng.normal(size=16), np.vstack([np.eye(5), Phi[:3]])
    flipped = random_halves(16, 40)
    lo, hi = half_spans(Phi, y, c, flipped)
    for i, rows in enumerate(flipped):
        found = estimates([factor_of_rows(Phi[half], y[half]) for half in (rows, ~rows)], c)
        known = (found.v > 0).all(axis=1)
        assert np.array_equal(np.isfinite(lo[:, i]), known)
        np.testing.assert_allclose(lo[known, i], found.beta[known].min(axis=1), atol=1e-9)
        np.testing.assert_allclose(hi[known, i], found.beta[known].max(axis=1), atol=1e-9)


def test_the_rule():
    assert [enough_cells(K, 0.9) for K in (5, 6)] == [False, True]
    assert rows_needed(0.9, 6) == 36


def test_coverage_of_halves():
    """(24, 6): too few rows for cells. At least the level, and the interval is finite."""
    rng = np.random.default_rng(6)
    Phi = np.column_stack([np.ones(24), rng.normal(size=(24, 5))])
    inside, widths = 0, []
    for seed in range(40):
        y = rng.standard_t(3, size=24)
        lo, hi = half_spans(Phi, y, np.eye(6)[1:2], random_halves(24, 99, seed))
        lower, upper = certified_interval(lo[0], hi[0], 0.9)
        inside += lower <= 0 <= upper
        widths.append(upper - lower)
    assert inside >= 28  # the 1e-6 quantile of 40 runs at 0.9
    assert np.isfinite(widths).mean() > 0.9
