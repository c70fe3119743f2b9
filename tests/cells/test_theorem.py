"""The rank of the true number is uniform, counted in integers; intervals and p-values are dual."""

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from exact_cells import rational, sign_patterns
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.cells.theorem import (
    fewest_cells,
    hadamard_words,
    in_use,
    intervals,
    largest_q,
    number_of_words,
    spans,
    words,
)
from unassuming.noise import powers


def plain_interval(beta, v, q):
    """The q-th smallest and largest weighted means of parts of the cells, as fractions."""
    beta, v = rational(np.asarray(beta)), rational(np.asarray(v))
    lo, hi = [], []
    for s in words(len(v))[1:]:
        ends = []
        for sign in (1, -1):
            part = [b for b in range(len(v)) if s[b] == sign]
            ends.append(sum(v[b] * beta[b] for b in part) / sum(v[b] for b in part))
        lo.append(min(ends))
        hi.append(max(ends))
    return sorted(lo)[q - 1], sorted(hi)[-q]


def plain_count(u):
    """How many words but the identity have Z_s >= Z_0, for integer scores u_b = v_b (β_b - τ)."""
    Z = np.abs(words(len(u)).astype(np.int64) @ np.asarray(u, dtype=np.int64))
    return int((Z[1:] >= Z[0]).sum())


@pytest.mark.parametrize("dropped", [0, 2])
def test_every_level_is_exact_over_all_signs_of_eight_cells(dropped):
    """Unequal v; of eight cells two may not identify the number. Each level is met exactly."""
    rng = np.random.default_rng(3)
    K = 8 - dropped
    v = np.append(rng.integers(1, 50, size=K), np.zeros(dropped)).astype(float)
    size = 3 ** np.arange(K) + rng.integers(0, 2, size=K)  # no two sums of parts agree
    u = sign_patterns(K) * size
    beta = np.column_stack([u / v[:K], rng.standard_normal((len(u), dropped))])
    assert (np.diff(np.sort(np.abs(words(K) @ size))) > 0).all()
    result = intervals(beta, np.tile(v, (len(u), 1)), 0.9, tau=0.0)
    m = 2 ** (K - 1)
    assert (result.m == m).all()
    assert result.count.tolist() == [plain_count(row) for row in u]
    assert np.bincount(result.count).tolist() == [2] * m
    for q in range(1, m):
        found = intervals(beta, np.tile(v, (len(u), 1)), 1 - q / m)
        outside = (found.lower > 0) | (found.upper < 0)
        assert int(outside.sum()) == 2 * q
        assert np.array_equal(outside, result.pvalue <= 1 - found.level)


def test_with_atoms_no_level_is_missed_more_often():
    rng = np.random.default_rng(4)
    for _ in range(5):
        v = rng.integers(1, 4, size=8).astype(float)
        u = sign_patterns(8) * rng.integers(0, 4, size=8)
        found = intervals(u / v, np.tile(v, (len(u), 1)), 0.9)
        assert found.count.tolist() == [plain_count(row) for row in u]
        misses = np.cumsum(np.bincount(found.count, minlength=128))
        assert (misses <= 2 * np.arange(1, 129)).all()


def test_with_32_cells_the_rank_is_the_integer_one_for_words_of_the_code():
    """{Z_s} is the same set for every word of the noise, so this makes each rank occur once."""
    rng = np.random.default_rng(5)
    size = rng.integers(1, 10**6, size=32) ** 2
    size[:20] //= 10**6  # tiny cells
    v = rng.integers(1, 10**6, size=32).astype(float)
    s = words(32)
    Z = np.abs(s.astype(np.int64) @ size)
    assert len(np.unique(Z)) > 0.999 * len(Z)
    chosen = np.concatenate([[0], rng.integers(len(s), size=60)])
    found = intervals(s[chosen] * size / v, np.tile(v, (61, 1)), 0.95)
    assert found.count.tolist() == [int(np.count_nonzero(Z[i] <= Z)) - 1 for i in chosen]
    assert found.q.tolist() == [1638] * 61


@pytest.mark.parametrize("K", [2, 3, 6, 8])
def test_interval_is_that_of_the_formula_in_fractions(K):
    rng = np.random.default_rng(K)
    beta, v = rng.integers(-9, 9, size=K) / 4, rng.integers(1, 9, size=K) / 2
    m = 2 ** (K - 1)
    for q in range(1, m):
        found = intervals(beta[None], v[None], 1 - q / m)
        low, high = plain_interval(beta, v, q)
        width = max(float(high - low), 1.0)
        assert abs(found.lower[0] - float(low)) <= 1e-8 * width
        assert abs(found.upper[0] - float(high)) <= 1e-8 * width
        assert found.lower[0] <= low
        assert found.upper[0] >= high


def test_too_few_cells_give_an_infinite_interval_and_an_estimate():
    found = intervals(np.array([[1.0, 2.0, 9.0]]), np.array([[1.0, 1.0, 0.0]]), 0.95)
    assert (found.estimate[0], found.lower[0], found.upper[0]) == (1.5, -np.inf, np.inf)
    assert (found.q[0], found.m[0], found.pvalue[0], found.level[0]) == (0, 2, 0.5, 1.0)
    nothing = intervals(np.zeros((1, 3)), np.zeros((1, 3)), 0.9)
    assert np.isnan(nothing.estimate[0])
    assert nothing.pvalue[0] == 1


def test_a_perfect_fit_accepts_the_true_number():
    """Estimates that are equal but for rounding: the blur covers it."""
    rng = np.random.default_rng(6)
    beta = np.full((1, 8), 0.1) * (1 + 1e-16 * rng.standard_normal(8))
    found = intervals(beta, np.ones((1, 8)), 0.9, tau=0.1, blur=1e-15)
    assert found.pvalue[0] == 1
    assert found.lower[0] <= 0.1 <= found.upper[0]
    assert found.upper[0] - found.lower[0] < 1e-14


def test_biased_means_widen_the_spans_of_their_parts():
    """û_F - δ_F and û_F + δ_F of both parts, the plain formula of 11.5."""
    rng = np.random.default_rng(7)
    beta, v = rng.standard_normal(5), rng.uniform(0.5, 2, size=5)
    flipped = words(5)[1:] < 0
    bias = rng.uniform(0, 1, size=(2, 1, 15))
    found = spans(beta[None], v[None], bias=(bias[0], bias[1]))
    for i, part in enumerate(flipped):
        means = [np.average(beta[p], weights=v[p]) for p in (part, ~part)]
        lo = min(mean - d for mean, d in zip(means, bias[:, 0, i], strict=True))
        hi = max(mean + d for mean, d in zip(means, bias[:, 0, i], strict=True))
        assert (found.lo[0, i], found.hi[0, i]) == pytest.approx((lo, hi), abs=1e-7)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 5)), min_size=2, max_size=9),
    st.integers(-14, 14),
    st.floats(0.3, 0.99),
)
def test_value_outside_if_and_only_if_p_is_at_most_one_minus_the_level(cells, twice, level):
    beta, v = np.array(cells, dtype=float).T
    tau = twice / 2
    found = intervals(beta[None], v[None], level, tau=tau)
    outside = tau < found.lower[0] or tau > found.upper[0]
    assert outside == (found.count[0] + 1 <= found.q[0])
    scores = [2 * w * b - w * twice for b, w in zip(beta.astype(int), v.astype(int), strict=True)]
    assert found.count[0] == plain_count(scores)
    if found.q[0]:
        low, high = found.lower[0], found.upper[0]
        ends = [low + 1e-12 * (high - low), high - 1e-12 * (high - low)]
        at_ends = intervals(np.tile(beta, (2, 1)), np.tile(v, (2, 1)), level, tau=np.array(ends))
        assert (at_ends.count + 1 > at_ends.q).all()


def test_levels_are_nested():
    rng = np.random.default_rng(8)
    beta, v = rng.standard_cauchy((3, 12)), rng.exponential(size=(3, 12))
    found = [intervals(beta, v, level) for level in (0.5, 0.8, 0.9, 0.99)]
    for inner, outer in pairwise(found):
        assert (outer.lower <= inner.lower).all()
        assert (outer.upper >= inner.upper).all()
        assert (inner.lower <= inner.estimate).all()


def test_every_sign_vector_of_the_words_up_to_a_common_sign():
    for K in range(1, 9):
        assert {tuple(x * s[0] for x in s) for s in product((1.0, -1.0), repeat=K)} == set(
            map(tuple, words(K))
        )
    assert largest_q(0.5, 2) == 1
    assert Fraction(1, 2) == 1 - Fraction(largest_q(0.5, 2), 2)


# the words


def as_integers(s):
    """Each word as the binary number of its minus signs, one of each pair {s, -s}."""
    flipped = (s < 0) ^ (s[:, :1] < 0)
    return flipped @ (1 << np.arange(s.shape[1]))


@pytest.mark.parametrize("K", [1, 2, 5, 8, 16, 25, 29, 32])
def test_words_are_a_group_without_opposites_and_the_identity_is_first(K):
    s = words(K)
    assert s.shape == (number_of_words(K), K)
    assert set(np.unique(s)) <= {-1.0, 1.0}
    assert (s[0] == 1).all()
    numbers = as_integers(s)
    assert len(np.unique(numbers)) == len(s)
    for other in s[np.random.default_rng(0).integers(len(s), size=20)]:
        assert np.array_equal(np.unique(as_integers(s * other)), np.sort(numbers))


def test_the_code_of_32_cells_has_distance_8_and_is_self_dual():
    s = words(32)
    weights = np.minimum((s < 0).sum(axis=1), (s > 0).sum(axis=1))
    assert np.unique(weights).tolist() == [0, 8, 12, 16]
    bits = (s[:64] < 0).astype(int)
    assert not (bits @ (s < 0).astype(int).T % 2).any()


def test_any_seven_of_32_cells_see_all_signs_equally_often():
    s = words(32)
    both = np.concatenate([s, -s]) < 0
    rng = np.random.default_rng(1)
    for _ in range(10):
        seven = rng.choice(32, 7, replace=False)
        assert np.unique(np.bincount(both[:, seven] @ (1 << np.arange(7)))).tolist() == [512]


@pytest.mark.parametrize(("level", "m"), [(0.9, 16), (0.95, 32), (0.96875, 32), (0.99, 128)])
def test_q_is_the_largest_with_the_level(level, m):
    q = largest_q(level, m)
    assert 1 - q / m >= level - 1e-12 > 1 - (q + 1) / m - 1e-12


def test_levels_that_were_attained_are_attained_again():
    for K in (6, 8, 16, 32):
        m = number_of_words(K)
        for q in (1, 2, m // 20, m // 2):
            assert largest_q((m - q) / m, m) == q


def test_fewest_cells():
    assert [fewest_cells(level) for level in (0.5, 0.9, 0.95, 0.99, 0.9999)] == [2, 5, 6, 8, 15]


def test_cells_in_use():
    v = np.ones(32)
    v[[3, 30]] = 0.0, 1e-12  # little is not nothing
    assert in_use(v).tolist() == [i for i in range(32) if i != 3]
    best = in_use(np.append(np.arange(20.0, 0.0, -1), 0))
    assert best.tolist() == list(range(16))


@pytest.mark.parametrize("m", [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048])
def test_powers_visit_every_column(m):
    assert sorted(powers(m, m - 1).tolist()) == list(range(1, m))
    assert powers(m, m)[-1] == 1


def test_hadamard_words_are_balanced_and_a_group():
    s = hadamard_words(16)
    assert (s[1:].sum(axis=1) == 0).all()
    rows = set(map(tuple, s))
    assert all(tuple(a * b) in rows for a, b in combinations(s, 2))
