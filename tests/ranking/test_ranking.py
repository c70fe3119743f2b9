"""Levels as integers, the order with its ties, ranks, and the comparison behind them."""

import re
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua
from unassuming.ranking import (
    Contrast,
    Level,
    RankTest,
    check_m,
    check_ties,
    draw_tie_order,
    precedes,
    rank,
)

EPS = np.finfo(float).eps


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


@given(admissible())
def test_a_level_is_the_number_one_minus_q_over_m(qm):
    q, m = qm
    assert float(Level(q, m)) == pytest.approx(float(1 - Fraction(q, m)), rel=1e-15)
    assert Level(q, m).largest_rank == m - q


@pytest.mark.parametrize(
    ("p", "m", "q"),
    [(0.95, 100, 5), (0.9, 100, 10), (0.29, 100, 71), (1 / 3, 3, 2), (2 / 3, 3, 1), (0.5, 2, 1)],
)
def test_levels_that_floats_cannot_hold_are_recognised(p, m, q):
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


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_levels_may_be_numpy_numbers(kind):
    assert Level.at_least(kind(0.75), 4) == Level(1, 4)
    assert Level.at_least(kind(0.75), 10) == Level(2, 10)


@pytest.mark.parametrize("m", [2, 100, np.int64(7), np.uint8(3)])
def test_m_may_be_any_integer_of_at_least_two(m):
    checked = check_m(m)
    assert checked == m
    assert type(checked) is int


@pytest.mark.parametrize(
    "m", [1, 0, -5, 2.0, 99.5, "100", "groups", None, True, np.float64(10), np.array([10, 20])]
)
def test_any_other_m_is_refused(m):
    with pytest.raises(ValueError, match="m must be an integer of at least 2, or 'all'"):
        check_m(m)


# --- the tie order ---------------------------------------------------------------------------


def test_random_tie_orders_are_permutations_each_equally_likely():
    rng, cells = np.random.default_rng(0), {p: k for k, p in enumerate(permutations(range(3)))}
    drawn = [cells[tuple(draw_tie_order(3, "random", rng).tolist())] for _ in range(6_000)]
    counts = np.bincount(drawn, minlength=6)
    statistic = ((counts - 1_000) ** 2 / 1_000).sum()
    assert chi2.ppf(5e-7, 5) <= statistic <= chi2.isf(5e-7, 5)


def test_conservative_ties_put_the_candidate_first_and_draw_nothing():
    rng = np.random.default_rng(0)
    order = draw_tie_order(10, "conservative", rng)
    assert sorted(order) == list(range(10))
    assert (order[0] < order[1:]).all()
    assert rng.integers(2**63) == np.random.default_rng(0).integers(2**63)


@pytest.mark.parametrize("ties", ["favour", "", None, 1, np.array(["random", "favour"])])
def test_unknown_rules_for_ties_are_refused(ties):
    for read in (check_ties, lambda ties: draw_tie_order(4, ties, np.random.default_rng(0))):
        with pytest.raises(ValueError, match=r"'random' .* or 'conservative'"):
            read(ties)


# --- ranks against the definition ------------------------------------------------------------


def plain_rank(Z, pi):
    """1 + #{i : Z_i ≺ Z_0}, as it is defined."""
    m = len(Z)
    return 1 + sum(Z[i] < Z[0] or (Z[i] == Z[0] and pi[i] < pi[0]) for i in range(1, m))


def library_rank(Z, pi, tolerance=0.0):
    difference = np.array([float(z - Z[0]) for z in Z[1:]])
    return int(rank(precedes(difference, tolerance, np.array(pi))))


@pytest.mark.slow
@given(st.lists(st.fractions(-2, 2, max_denominator=6), min_size=2, max_size=8), st.data())
def test_rank_is_the_definition_in_exact_rationals(Z, data):
    pi = data.draw(st.permutations(range(len(Z))))
    assert library_rank(Z, pi) == plain_rank(Z, pi)


def test_rank_is_the_definition_for_every_pattern_of_ties_and_every_order():
    for Z in product(range(4), repeat=4):
        for pi in permutations(range(4)):
            assert library_rank(Z, pi) == plain_rank(Z, pi)


@pytest.mark.parametrize("Z", sorted({(0, *rest) for rest in product((-1, 0, 1), repeat=3)}))
def test_ties_make_every_open_position_equally_likely(Z):
    below, tied = sum(z < 0 for z in Z[1:]), sum(z == 0 for z in Z[1:])
    ranks = [library_rank(Z, pi) for pi in permutations(range(4))]
    for position in range(1, 5):
        share = Fraction(ranks.count(position), len(ranks))
        assert share == (Fraction(1, tied + 1) if below < position <= below + tied + 1 else 0)


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=8))
def test_conservative_ties_count_strictly_smaller_statistics_only(Z):
    order = draw_tie_order(len(Z), "conservative", np.random.default_rng(0))
    assert library_rank(Z, order) == 1 + sum(z < Z[0] for z in Z[1:])


def test_within_the_tolerance_two_statistics_are_equal():
    difference = np.array([-3e-9, -1e-9, 1e-9, 3e-9])
    tolerance = np.array([2e-9, 2e-9, 2e-9, 2e-9])
    first, last = np.arange(5), np.arange(5)[::-1]
    assert precedes(difference, tolerance, first).tolist() == [True, False, False, False]
    assert precedes(difference, tolerance, last).tolist() == [True, True, True, False]


def test_a_difference_of_zero_is_a_tie_even_with_no_tolerance():
    last = np.arange(3)[::-1]
    assert precedes(np.zeros(2), 0.0, last).tolist() == [True, True]


def test_ranks_of_many_candidates_come_one_by_one():
    rng = np.random.default_rng(0)
    Z, pi = rng.integers(0, 4, size=(30, 9)), rng.permutation(9)
    ranks = rank(precedes((Z[:, 1:] - Z[:, :1]).astype(float), 0.0, pi))
    assert ranks.tolist() == [plain_rank(row.tolist(), pi) for row in Z]


# --- the outcome of a test -------------------------------------------------------------------


@given(admissible(), st.data())
def test_outcome_in_numbers(qm, data):
    _, m = qm
    r = data.draw(st.integers(1, m))
    outcome = RankTest(rank=r, m=m, statistics=np.zeros(m))
    assert outcome.pvalue == pytest.approx(float(1 - Fraction(r, m) + Fraction(1, m)), rel=1e-14)
    assert outcome.smallest_level == pytest.approx(r / m, rel=1e-15)
    assert outcome.pvalue >= 1 / m


def test_outcome_in_words():
    inside = RankTest(rank=37, m=100, statistics=np.zeros(100))
    assert str(inside) == (
        "Rank 37 of 100, p-value 0.64: inside every region of level 0.37 or more."
    )
    assert repr(inside) == "RankTest(rank=37, m=100, pvalue=0.64, smallest_level=0.37)"
    outside = RankTest(rank=100, m=100, statistics=np.zeros(100), caveat="Read with care.")
    assert str(outside) == (
        "Rank 100 of 100, p-value <= 0.01: outside every region, up to level 0.99. Read with care."
    )
    assert repr(outside).endswith("smallest_level=1, caveat='Read with care.')")


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


@pytest.mark.parametrize("name", REGIONS)
def test_the_pvalue_far_away_is_small_but_never_zero(name):
    region = REGIONS[name]
    far = np.full((3, region.objective.d), 1e6) * np.array([[1.0], [-1.0], [1e3]])
    assert (region.pvalue(far) >= 1 / region.m).all()
    assert region.pvalue(region.estimate) == 1 or "SVR" in name


def test_a_distant_candidate_has_the_smallest_pvalue():
    region = make_region(Ridge(), m=20, n=15)
    assert region.pvalue(np.array([0.0, 1e3, 0.0])) == 1 / 20
    assert not region.contains(np.array([0.0, 1e3, 0.0]), 0.95)


# --- the comparison through the difference ---------------------------------------------------


def exact_gaps(z0, d):
    """⟨z_0 + d_i, z_0 + d_i⟩ - ⟨z_0, z_0⟩ of floats, without rounding."""
    z0 = [Fraction(float(v)) for v in z0]
    rows = [[Fraction(float(v)) for v in row] for row in d]
    Z0 = sum(v * v for v in z0)
    return [sum((v + w) ** 2 for v, w in zip(z0, row, strict=True)) - Z0 for row in rows]


def contrast_of(z0, d):
    """A contrast whose parts carry the rounding error of inner products."""
    unit = 16 * EPS * len(z0)
    return Contrast(z0[None], d[None], unit * np.abs(z0)[None], unit * np.abs(d)[None])


@pytest.mark.parametrize("relative", [1e-3, 1e-12, 1e-20, 1e-40])
def test_a_difference_that_is_tiny_beside_the_statistics_is_still_seen(relative):
    rng = np.random.default_rng(0)
    z0 = 1e6 * rng.normal(size=6)
    d = relative * 1e6 * rng.normal(size=(40, 6))
    gap, tolerance = (part[0] for part in contrast_of(z0, d).gaps())
    exact = exact_gaps(z0, d)
    assert np.sign(gap).tolist() == [int(np.sign(float(g))) for g in exact]
    assert (np.abs(gap) > tolerance).all()
    assert gap == pytest.approx([float(g) for g in exact], rel=1e-11)


def test_the_two_numbers_themselves_would_not_show_that_difference():
    rng = np.random.default_rng(0)
    z0, d = 1e6 * rng.normal(size=6), 1e-14 * rng.normal(size=(40, 6))
    Z = contrast_of(z0, d).statistics()[0]
    assert (Z[1:] == Z[0]).all()


def test_statistics_are_squared_lengths():
    rng = np.random.default_rng(1)
    z0, d = rng.normal(size=4), rng.normal(size=(7, 4))
    expected = [sum(v * v for v in z0), *(sum(v * v for v in z0 + row) for row in d)]
    assert contrast_of(z0, d).statistics()[0] == pytest.approx(expected, rel=1e-14)


def test_statistics_that_are_equal_in_exact_arithmetic_compare_equal():
    # The same numbers in another order and with other signs: the length is the same.
    rng = np.random.default_rng(2)
    z0 = rng.normal(size=8)
    images = rng.permuted(np.tile(z0, (500, 1)), axis=1) * rng.choice([-1, 1], size=(500, 8))
    gap, tolerance = (part[0] for part in contrast_of(z0, images - z0).gaps())
    assert (gap != 0).mean() > 0.5  # rounding is at work
    assert (np.abs(gap) <= tolerance).all()


@pytest.mark.slow
@given(
    st.lists(st.fractions(-10, 10, max_denominator=999), min_size=3, max_size=3),
    st.lists(st.fractions(-10, 10, max_denominator=999), min_size=3, max_size=3),
    st.integers(-30, 0),
)
def test_the_tolerance_bounds_the_error_of_the_gap(z0, d, exponent):
    d = [v * Fraction(10) ** exponent for v in d]
    exact = sum((v + w) ** 2 - v**2 for v, w in zip(z0, d, strict=True))
    contrast = contrast_of(np.array(z0, dtype=float), np.array([d], dtype=float))
    gap, tolerance = (float(part[0, 0]) for part in contrast.gaps())
    assert abs(Fraction(gap) - exact) <= Fraction(tolerance)


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


def bounds_of_rank(region, a):
    """The rank with every tie for the candidate, and with every tie against it."""
    bounds = []
    for order in (np.arange(region.m), np.arange(region.m)[::-1]):
        region._engine.tie_order = order
        bounds.append(region.rank(a))
    return bounds


def exact_bounds(Z):
    below, tied = sum(z < Z[0] for z in Z[1:]), sum(z == Z[0] for z in Z[1:])
    return [1 + below, 1 + below + tied]


def exact_images(region):
    """The transformations of a region as functions of rational vectors: moved, and flipped."""
    moved = region.perturbations.apply(np.arange(1.0, region.n + 1)).astype(int).tolist()
    return lambda r: [[r[abs(k) - 1] * (1 if k > 0 else -1) for k in row] for row in moved]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("far", [1.0, 1e3, 1e7, 1e10])
def test_ranks_far_along_a_nearly_null_direction_are_those_of_exact_arithmetic(far):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2)) * [1.0, 1e-8]  # the second column hardly moves the fit
    y = rng.normal(size=10)
    region = ua.confidence_region(Ridge(alpha=1.0), X, y, m=40, random_state=0)
    for a in rng.normal(size=(8, 3)) * [1.0, 1.0, far]:
        Z = rational_ridge(X, y, 1.0, a, exact_images(region))
        assert bounds_of_rank(region, a) == exact_bounds(Z)
        if far == 1e10:  # what two rounded statistics would hardly show
            assert max(abs(float(z / Z[0] - 1)) for z in Z) < 1e-14


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
    tied = 0
    for a in rng.normal(size=(2, 3)):
        expected = exact_bounds(rational_ridge(X, y, alpha, a, exact_images(region)))
        assert bounds_of_rank(region, a) == expected
        tied += expected[1] - expected[0]
    assert tied > 0


@pytest.mark.parametrize("m", [3, 7, 20, 100, 1000, 12_345])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_level_in_single_precision_is_the_one_that_was_meant(m, dtype):
    for k in range(1, m, max(1, m // 50)):
        assert Level.at_least(dtype(k / m), m) == Level(m - k, m)
        assert Level.at_least(np.array(k / m, dtype=dtype), m) == Level(m - k, m)


def test_single_precision_does_not_admit_what_is_not_a_level():
    assert Level.at_least(np.float32(0.905), 100) == Level(9, 100)
    with pytest.raises(ValueError, match=r"expected at most 0\.99 .* given 0\.995\. "):
        Level.at_least(np.float32(0.995), 100)


@pytest.mark.parametrize("level", [90, 95.0, np.int64(50)])
def test_a_percentage_is_asked_whether_it_is_one(level):
    with pytest.raises(ValueError, match=rf"Pass {level / 100:g} if {level:g} percent was meant\."):
        Level.at_least(level, 100)


@pytest.mark.parametrize("level", [100, 1.5, -90])
def test_what_can_be_no_percentage_is_not_taken_for_one(level):
    with pytest.raises(ValueError, match=r"Pass e\.g\. 0\.9\."):
        Level.at_least(level, 100)


def test_several_levels_where_one_is_needed_are_told_so():
    with pytest.raises(ValueError, match=r"must be one number .*given \[0\.5, 0\.9\]\. Pass one"):
        Level.at_least([0.5, 0.9], 100)
