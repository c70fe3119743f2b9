"""Levels as integers, the order with its ties, ranks, and the comparison behind them."""

import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua
from enumeration import Chosen, rank_bounds
from unassuming.ranking import (
    Level,
    check_m,
)


@st.composite
def admissible(draw, largest=2_000):
    m = draw(st.integers(2, largest))
    return draw(st.integers(1, m - 1)), m


# --- levels ----------------------------------------------------------------------------------


@given(admissible())
def test_every_admissible_level_survives_the_way_through_a_float(qm):
    q, m = qm
    for p in (1 - q / m, (m - q) / m, float(Level(q, m)), Fraction(m - q, m)):
        assert Level.at_least(p, m) == Level(q, m)
        assert Level.at_least(p, m) == Level(q, m)


@given(st.floats(0.001, 0.999), st.integers(2, 500))
def test_at_least_gives_the_smallest_admissible_level_that_is_not_below(p, m):
    admissible_levels = [
        Fraction(k, m) for k in range(1, m) if Fraction(k, m) >= Fraction(p) - 1e-9
    ]
    if admissible_levels:
        found = Level.at_least(p, m)
        assert Fraction(found.m - found.q, found.m) == min(admissible_levels)
    else:
        with pytest.raises(ValueError, match="level is too high"):
            Level.at_least(p, m)


@given(st.integers(1, 999), st.integers(2, 400))
def test_a_level_above_all_names_the_highest_one_and_the_smallest_m(thousandths, m):
    p = Fraction(thousandths, 1000)
    if p <= Fraction(m - 1, m):
        assert Level.at_least(float(p), m).largest_rank >= p * m
        return
    with pytest.raises(ValueError, match="level is too high") as refusal:
        Level.at_least(float(p), m)
    said = re.search(r"Pass level=(\S+); \S+ takes m=(\d+) or more", str(refusal.value))
    assert Level.at_least(float(said[1]), m) == Level(1, m)
    smallest = int(said[2])
    assert Level.at_least(float(p), smallest) == Level(1, smallest)
    assert Fraction(smallest - 2, smallest - 1) < p


@pytest.mark.parametrize("p", [0, 1, 0.0, 1.0, -0.1, 1.5, np.nan, np.inf, True, "0.9", None, 0.9j])
def test_what_is_no_level_is_refused(p):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        Level.at_least(p, 100)


@pytest.mark.parametrize(
    "m", [1, 0, -5, 2.0, 99.5, "100", "groups", None, True, np.float64(10), np.array([10, 20])]
)
def test_any_other_m_is_refused(m):
    with pytest.raises(ValueError, match="m must be an integer of at least 2, or 'all'"):
        check_m(m)


# --- p-values and regions --------------------------------------------------------------------


def make_region(estimator, m=20, noise="symmetric", n=9):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + rng.laplace(size=n)
    return ua.confidence_region(estimator, X, y, m=m, noise=noise, random_state=1)


REGIONS = {
    "least squares": make_region(LinearRegression()),
    "kernel ridge": make_region(KernelRidge(kernel="rbf", alpha=0.3), noise="exchangeable"),
    "SVR, with whole faces of ties": make_region(SVR(), m=7),
    "three statistics": make_region(Ridge(), m=3, noise="symmetric-exchangeable"),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", REGIONS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_inside_the_region_if_and_only_if_not_rejected(name, data):
    region = REGIONS[name]
    d, m = region.objective.d, region.m
    numbers = st.integers(-4, 4).map(float) | st.floats(-10, 10)
    a = np.array(data.draw(st.lists(numbers, min_size=d, max_size=d)))
    pvalue, tested = region.pvalue(a), region.test(a)
    inside = region.contains(a, [1 - q / m for q in range(1, m)])
    assert pvalue == tested.pvalue
    assert pvalue > 0
    for q in range(1, m):
        assert inside[1 - q / m] == (pvalue > q / m)
    assert tested.statistics.shape == (m,)
    assert [p for p, member in inside.items() if member] == [
        p for p in inside if p >= tested.smallest_level - 1e-12
    ]


# --- the same comparison inside a region, against exact rationals ----------------------------


def solve(A, b):
    """Solve A x = b by elimination, in rationals."""
    n = len(b)
    M = [[*row, v] for row, v in zip(A, b, strict=True)]
    for j in range(n):
        pivot = next(k for k in range(j, n) if M[k][j] != 0)
        M[j], M[pivot] = M[pivot], M[j]
        M[j] = [v / M[j][j] for v in M[j]]
        for k in range(n):
            if k != j:
                M[k] = [v - M[k][j] * w for v, w in zip(M[k], M[j], strict=True)]
    return [row[-1] for row in M]


def rational_ridge(X, y, alpha, a, transformed):
    """Z_i = sᵀ H⁻¹ s with s = Φᵀ G_i r / n - λ P a and Φ = [1, X], in rationals."""
    n = len(y)
    Phi = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
    a = [Fraction(v) for v in a.tolist()]
    lam, d = Fraction(alpha) / n, len(a)
    H = [[sum(row[j] * row[k] for row in Phi) / n for k in range(d)] for j in range(d)]
    for j in range(1, d):
        H[j][j] += lam
    r = [
        Fraction(v) - sum(p * c for p, c in zip(row, a, strict=True))
        for v, row in zip(y.tolist(), Phi, strict=True)
    ]
    Z = []
    for image in [r, *transformed(r)]:
        s = [sum(row[j] * v for row, v in zip(Phi, image, strict=True)) / n for j in range(d)]
        s = [v - lam * c * (j > 0) for j, (v, c) in enumerate(zip(s, a, strict=True))]
        Z.append(sum(v * w for v, w in zip(s, solve(H, s), strict=True)))
    return Z


def exact_bounds(Z):
    below, tied = sum(z < Z[0] for z in Z[1:]), sum(z == Z[0] for z in Z[1:])
    return [1 + below, 1 + below + tied]


def exact_images(region):
    """The transformations of a region as functions of rational vectors: moved, and flipped."""
    moved = region.perturbations.apply(np.arange(1.0, region.n + 1)).astype(int).tolist()
    return lambda r: [[r[abs(k) - 1] * (1 if k > 0 else -1) for k in row] for row in moved]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize(
    ("noise", "m"),
    [
        ("exchangeable", "all"),
        ("symmetric", 80),
        pytest.param("symmetric-exchangeable", 400, marks=pytest.mark.slow),
    ],
)
def test_ties_of_exact_arithmetic_are_ties_and_no_others(alpha, noise, m):
    # Rows 0, 1 and 2 have the same inputs: exchanging their residuals changes nothing. With five
    # rows the identity is among 80 drawn sign vectors, and so is -I, a tie without a penalty.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 2))
    X[1:3] = X[0]
    y = rng.normal(size=5)
    region = ua.confidence_region(Ridge(alpha=alpha), X, y, noise=noise, m=m, random_state=0)
    chosen = Chosen(region.noise, region.perturbations.drawn)
    build = partial(ua.confidence_region, Ridge(alpha=alpha), X, y, noise=chosen, m=region.m)
    tied = 0
    for a in rng.normal(size=(2, 3)):
        expected = exact_bounds(rational_ridge(X, y, alpha, a, exact_images(region)))
        assert rank_bounds(build, a) == tuple(expected)
        tied += expected[1] - expected[0]
    assert tied > 0
