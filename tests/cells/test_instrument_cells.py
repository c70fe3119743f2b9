"""Sets of the coefficient of an endogenous column: closed form, exact counts."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.cells.several import Several, instrument_estimate, instrument_set, joint_rank
from unassuming.cells.theorem import words


def set_of_one(u, v, q):
    """The set of one instrument with these u_b and v_b."""
    return instrument_set(np.asarray(u, float)[:, None], np.asarray(v, float)[:, None], q)


def exact_parts(u, v):
    """The sums over the cells in F and over the others, for every F, in fractions."""
    u, v = [Fraction(x) for x in u], [Fraction(x) for x in v]
    parts = []
    for flipped in words(len(u))[1:] < 0:
        inside = [b for b in range(len(u)) if flipped[b]]
        u_f, v_f = sum(u[b] for b in inside), sum(v[b] for b in inside)
        parts.append((u_f, v_f, sum(u) - u_f, sum(v) - v_f))
    return parts


def exact_set(u, v, q):
    """The union in fractions: where at least q products are not positive (docs/theory.md 14)."""
    parts = exact_parts(u, v)
    ends = sorted({a / b for f in parts for a, b in (f[:2], f[2:]) if b})

    def member(t):
        return sum((a - b * t) * (c - d * t) <= 0 for a, b, c, d in parts) >= q

    if not ends:
        return [(-np.inf, np.inf)] if member(Fraction(0)) else []
    points = [-np.inf, *ends, np.inf]
    inner = [ends[0] - 1, *((a + b) / 2 for a, b in pairwise(ends)), ends[-1] + 1]
    spans = [(e, e) for e in ends if member(e)]
    spans += [(points[j], points[j + 1]) for j, t in enumerate(inner) if member(t)]
    joined = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return [(float(a), float(b)) for a, b in joined]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=3, max_size=6), st.integers(1, 3))
def test_the_set_of_one_instrument_is_the_exact_union(cells, q):
    u, v = zip(*cells, strict=True)
    got = set_of_one(u, v, q)
    want = np.array(exact_set(u, v, q)).reshape(-1, 2)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)  # double roots have half the digits


@pytest.mark.parametrize(
    ("u", "v", "expected"),
    [
        ([1, 2, 3, 4], [1, 1, 1, 1], [[1, 4]]),  # an interval
        ([1, 2, 3, 4], [0, 0, 0, 0], []),  # no instrument, and all agree that it should matter
        ([1, -2, 3, -4], [0, 0, 0, 0], [[-np.inf, np.inf]]),
        ([0, 0, 0, 0], [1, 1, 1, 1], [[0, 0]]),  # a point
        ([1, 1, 1, 0], [1, 1, 1, 0], [[-np.inf, np.inf]]),  # a cell that says nothing
    ],
)
def test_special_sets(u, v, expected):
    got = set_of_one(u, v, 1)
    np.testing.assert_allclose(got, np.array(expected).reshape(-1, 2), atol=1e-8)


def test_three_components_occur():
    found = set_of_one([3, 2, 1, 0, 0], [3, -2, 2, 1, -3], 3)
    expected = [[-np.inf, -0.4], [0, 0], [0.5, np.inf]]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def sums_of(Phi, targets, labels, K):
    """Products of the rows of each cell, in coordinates in which all rows have the products I."""
    Q, R = np.linalg.qr(Phi)
    rows = [labels == b for b in range(K)]
    G = np.array([Q[some].T @ Q[some] for some in rows])
    h = np.array([Q[some].T @ targets[some] for some in rows])
    return G, h, np.linalg.inv(R)


def cells_of(rng, n=40, K=8, k=3, p=1):
    """Cells of k instruments and one control: V_b, u_b and the v_b of p endogenous columns."""
    Z = np.column_stack([np.ones(n), rng.normal(size=n)])
    W, X, y = rng.normal(size=(n, k)), rng.normal(size=(n, p)), rng.normal(size=n)
    X[:, 0] += 0.4 * W[:, 0]
    labels = np.arange(n) % K
    G, h, back = sums_of(np.column_stack([Z, W]), np.column_stack([y, X]), labels, K)
    return Several.of(G, h, back[2:]), (Z, W, X, y, labels)


def set_of(found, q):
    z = found.whitened(found.u)
    return instrument_set(z[..., 0], z[..., 1], q)


def plain_statistics(data, betas):
    """Z_s of docs/theory.md 14 from the formula, for several candidates (N, p): (N, m)."""
    Z, W, X, y, labels = data
    K, k = labels.max() + 1, W.shape[1]
    moments, V = [], np.zeros((k, k))
    r = y[:, None] - X @ np.asarray(betas).T
    for b in range(K):
        rows = labels == b
        tilde = W[rows] - Z[rows] @ np.linalg.lstsq(Z[rows], W[rows], rcond=None)[0]
        V += tilde.T @ tilde
        moments.append(tilde.T @ r[rows])
    w, Q = np.linalg.eigh(V)
    root = Q / np.sqrt(w) @ Q.T
    return np.square(root @ np.einsum("sb,bkn->nks", words(K), np.array(moments))).sum(axis=1)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_dense_scan_of_membership_finds_the_same_set(k):
    for seed in range(4):
        found, data = cells_of(np.random.default_rng([k, seed]), k=k)
        for q in (6, 13, 40):
            ends = set_of(found, q)
            t = np.concatenate(
                [np.linspace(-30, 30, 481), (ends.ravel()[:, None] + [-1e-6, 1e-6]).ravel()]
            )
            t = t[np.isfinite(t)]
            t = t[~(np.abs(t[:, None] - ends.ravel()) < 1e-7).any(axis=1)]
            z = plain_statistics(data, t[:, None])
            member = np.count_nonzero(z[:, 1:] >= z[:, :1], axis=1) >= q
            inside = ((ends[:, 0] <= t[:, None]) & (t[:, None] <= ends[:, 1])).any(axis=1)
            np.testing.assert_array_equal(inside, member)


def test_ranks_of_several_endogenous_columns_follow_from_the_formula():
    found, data = cells_of(np.random.default_rng(5), p=2)
    betas = np.random.default_rng(6).normal(size=(10, 2))
    for beta, z in zip(betas, plain_statistics(data, betas), strict=True):
        rank, statistics = joint_rank(found.whitened(found.u @ np.append(1.0, -beta)))
        np.testing.assert_allclose(statistics, z, rtol=1e-9, atol=1e-12)
        assert rank == 1 + np.count_nonzero(z[1:] < z[0])


def test_units_of_outputs_and_columns_do_not_matter():
    found, _ = cells_of(np.random.default_rng(7))
    z = found.whitened(found.u)
    u, v = z[..., 0], z[..., 1]
    plain = instrument_set(u, v, 6)
    for a, b in ((1e3, 1.0), (1.0, 1e-3), (1e6, 1e6)):
        np.testing.assert_allclose(instrument_set(a * u, b * v, 6) * (b / a), plain, rtol=1e-9)
        scaled = instrument_estimate(a * u, b * v) * (b / a)
        assert scaled == pytest.approx(instrument_estimate(u, v))


def test_a_column_that_is_constant_up_to_rounding_leaves_the_line_or_nothing():
    rng, n, K = np.random.default_rng(8), 40, 8
    Phi, labels = np.column_stack([np.ones(n), rng.normal(size=n)]), np.arange(n) % K
    targets = np.column_stack([rng.normal(size=n), np.full(n, 0.1)])
    G, h, back = sums_of(Phi, targets, labels, K)
    found = Several.of(G, h, back[1:])
    z = found.whitened(found.u)
    assert np.isnan(instrument_estimate(z[..., 0], z[..., 1]))
    assert set_of(found, 6).tolist() in ([[-np.inf, np.inf]], [])


# --- exact counts: every sign pattern of the noise ------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("strength", "n"), [(0.0, 10), (0.1, 8), (3.0, 8)])
def test_the_truth_is_covered_by_exactly_the_right_number_of_sign_patterns(strength, n):
    """n / 2 cells of two rows, all 2ⁿ patterns; x depends on the noise, and not linearly."""
    rng, K, beta = np.random.default_rng(11), n // 2, 0.7
    w, sizes, other = rng.normal(size=(3, n))
    Phi, labels = np.column_stack([np.ones(n), w]), np.repeat(np.arange(K), 2)
    m = len(words(K))
    inside = {1: 0, 3: 0}
    for signs in product((-1.0, 1.0), repeat=n):
        e = np.array(signs) * sizes
        x = strength * w + other + e + np.cumsum(e) ** 2
        G, h, back = sums_of(Phi, np.column_stack([1 + beta * x + e, x]), labels, K)
        q = 1 if signs[0] == signs[1] else 3  # sign changes of whole cells keep that
        ends = set_of(Several.of(G, h, back[1:]), q)
        inside[q] += bool(((ends[:, 0] <= beta) & (beta <= ends[:, 1])).any())
    half = 2 ** (n - 1)
    assert inside == {q: half * (m - q) // m for q in inside}
