"""Lines and rays: membership is the judge of where a region ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from some_regions import (
    EVERY,
    LOGISTIC,
    NOISES,
    PIECEWISE,
    QUADRATIC,
    RBF,
    candidates_about,
    curve,
    features,
    region_of,
)

import oracles
import unassuming as ua
from speed import slow_but


def inside(spans, t):
    return ((spans[:, :1] <= t) & (t <= spans[:, 1:])).any(axis=0)


FAR = 1e5
"""Beyond this the residuals of candidates dwarf the data, and rounding decides."""


def scan(region, direction, origin, qs=None):
    """Compare the intervals of some levels with membership: everywhere, and beside each end."""
    several = 0
    for q in qs or {1, region.m // 3, region.m // 2, region.m - 1}:
        level = 1 - q / region.m
        spans = region.crossings(direction, level, origin=origin)
        assert (spans[:, 0] <= spans[:, 1]).all()
        assert (spans[1:, 0] > spans[:-1, 1]).all()
        ends = spans[np.abs(spans) < FAR]
        wide = np.abs(ends).max(initial=1e-2)
        beside = 1e-6 * np.maximum(np.abs(ends), wide)
        t = np.linspace(-2 * wide, 2 * wide, 151)
        t = np.concatenate([t, 50 * t[::30], ends - beside, ends + beside])
        t = t[np.abs(t[:, None] - ends).min(axis=1, initial=np.inf) > 1e-7 * wide]
        t = t[np.abs(t) < FAR]
        member = region.contains(origin + t[:, None] * direction, level)
        np.testing.assert_array_equal(inside(spans, t), member)
        several += len(spans) > 1
    return several


def lines(region, rng):
    """Through the estimate and beside it, along axes, along the face of coefficients at zero."""
    some = candidates_about(region, 2, rng)
    d = region.objective.d
    yield region.estimate, some[0] - region.estimate
    yield some[1], some[0] - region.estimate
    yield region.estimate, np.eye(d)[rng.integers(d)]
    free = region.estimate != 0
    if not free.all() and free.any():
        yield region.estimate, (some[1] - region.estimate) * free


CASES = [(name, noise) for name in QUADRATIC for noise in NOISES]
CASES += [(name, noise) for name in PIECEWISE for noise in ("signs", "permutations")]
CASES += [(name, None) for name in EVERY if name not in QUADRATIC | PIECEWISE]
QUICK = [("least squares", "signs"), ("kernel LASSO", "signs"), ("median", None)]


@pytest.mark.parametrize("case", slow_but(CASES, *QUICK), ids=str)
def test_membership_flips_at_every_end_and_nowhere_else(case):
    region, rng = region_of(*case), np.random.default_rng(1)
    assert region.exact_crossings
    for origin, direction in lines(region, rng):
        scan(region, direction, origin)


@pytest.mark.slow
@given(
    name=st.sampled_from(sorted(EVERY)),
    seed=st.integers(0, 10**6),
    rounded=st.booleans(),
    n=st.integers(4, 12),
)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_lines_of_random_data_with_few_rows(name, seed, rounded, n):
    """Rounded inputs repeat rows, and few rows repeat transformations: ties and dependence."""
    estimator, data, options = EVERY[name]
    X, y = data(n=n + n % 2, seed=seed)
    if rounded:
        X = np.round(X)
    if data in (features, curve):
        y = np.round(y, 1)
    elif len(set(y)) < 2:
        return
    region = ua.confidence_region(estimator, X, y, m=20, random_state=seed, **options)
    rng = np.random.default_rng(seed)
    origin = region.estimate + rng.choice([0.0, 0.3]) * rng.normal(size=region.objective.d)
    scan(region, rng.normal(size=region.objective.d), origin)


# --- rays ---


@pytest.mark.parametrize("name", slow_but([*EVERY, *LOGISTIC], "ridge", "lasso", "median"))
def test_reach_is_the_end_of_the_interval_around_the_estimate(name):
    region, rng = region_of(name), np.random.default_rng(2)
    m = region.m
    directions = candidates_about(region, 3, rng) - region.estimate
    every = region.reach(directions, level=None)
    assert every.shape == (3, m - 1)
    assert (every[:, 1:] <= every[:, :-1]).all()  # a smaller level, a smaller region
    for q in (1, 2, m // 2):
        level = 1 - q / m
        np.testing.assert_array_equal(region.reach(directions, level), every[:, q - 1])
        if region.contains(region.estimate, level):
            for u, end in zip(directions, every[:, q - 1], strict=True):
                spans = region.crossings(u, level)
                [around] = spans[(spans[:, 0] <= 0) & (spans[:, 1] >= 0)]
                assert end == pytest.approx(around[1], rel=1e-9)


@pytest.fixture(scope="module")
def plain():
    return region_of("ridge")


def test_t_multiplies_the_direction_as_given(plain):
    u = np.array([0.5, -1.0, 2.0])
    base, spans = plain.reach(u, level=None), plain.crossings(u, 0.5)
    for length in (1e3, 1e-5):
        np.testing.assert_allclose(plain.reach(length * u, level=None), base / length, rtol=1e-9)
        np.testing.assert_allclose(plain.crossings(length * u, 0.5), spans / length, rtol=1e-9)
    moved = plain.crossings(u, 0.5, origin=plain.estimate + 0.7 * u)
    np.testing.assert_allclose(moved, spans - 0.7, rtol=1e-7)


def test_answers_have_the_shape_of_the_question(plain):
    t = plain.reach([1.0, 0.0, 0.0], level=0.9)
    assert isinstance(t, float)
    np.testing.assert_array_equal(plain.reach([[1.0, 0.0, 0.0]], level=0.9), [t])
    assert plain.reach("x0", level=0.9) == plain.reach([0.0, 1.0, 0.0], level=0.9)
    both = plain.reach(["x0", "x1"], level=[0.5, 0.9])
    assert list(both) == [0.5, 0.9]
    np.testing.assert_array_equal(both[0.9], plain.reach(np.eye(3)[1:], level=0.9))
    assert plain.crossings("x0", 0.9).shape == (1, 2)
    several = plain.crossings(np.eye(3), level=[0.5, 0.9], origin=plain.estimate + 0.1)
    for level, spans in several.items():
        for u, found in zip(np.eye(3), spans, strict=True):
            alone = plain.crossings(u, level=level, origin=plain.estimate + 0.1)
            np.testing.assert_allclose(found, alone, rtol=1e-9)
    far = plain.estimate + 1e4 * np.array([1.0, 1.0, 0.0])
    assert plain.crossings([0.0, 0.0, 1.0], 0.9, origin=far).shape == (0, 2)


@pytest.mark.parametrize(
    ("direction", "error"),
    [
        ([1.0, 2.0], "direction"),
        (np.ones((2, 2, 3)), "direction"),
        ([1.0, np.nan, 0.0], "direction"),
        (np.zeros(3), "zero direction"),
        ("sex", "unknown name"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["ridge", "lasso"])
def test_wrong_directions_are_refused(name, direction, error):
    region = region_of(name)
    for ask in (region.reach, region.crossings):
        with pytest.raises(ValueError, match=error):
            ask(direction, level=0.9)


# --- ties, free directions, exact fits ---


@pytest.mark.parametrize("noise", ["signs", "permutations", "both", "blocks"])
@pytest.mark.parametrize("d", [1, 2])
def test_three_rows_with_all_their_ties(noise, d):
    X, y = features(3, d)
    rng, identities = np.random.default_rng(d), 0
    for model in (LinearRegression(), LinearRegression(fit_intercept=False), Ridge(0.5)):
        region = ua.confidence_region(model, X, y, noise=NOISES[noise](3), m=20, random_state=0)
        images = region.perturbations.apply(np.arange(1.0, 4))
        identities += (np.abs(images) == np.arange(1.0, 4)).all(axis=1).sum()
        scan(region, rng.normal(size=region.objective.d), region.estimate + 0.1)
    assert identities > 0


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ties", ["random", "conservative"])
def test_in_saturated_designs_the_tie_order_decides_alone(noise, ties):
    X, y = features(4, 4)
    model = LinearRegression(fit_intercept=False)
    region = ua.confidence_region(model, X, y, noise=NOISES[noise](4), m=20, ties=ties)
    wins = int((region.tie_order[1:] > region.tie_order[0]).sum())
    ends = region.reach(np.random.default_rng(0).normal(size=(2, 4)), level=None)
    np.testing.assert_array_equal(ends[:, :wins], np.inf)
    np.testing.assert_array_equal(ends[:, wins:], -np.inf)


@pytest.mark.parametrize("noise", [noise for noise in NOISES if noise != "blocks"])
def test_an_exact_fit_is_a_point_or_nothing(noise):
    X, _ = features(9)
    region = ua.confidence_region(
        LinearRegression(), X, np.zeros(9), noise=NOISES[noise](9), m=20, random_state=1
    )
    ends = region.reach(np.array([[0.0, 1.0, 0.0], [0.0, 1.0, -2.0]]), level=None)
    wins = int((region.tie_order[1:] > region.tie_order[0]).sum())
    np.testing.assert_array_equal(ends, [[0.0] * wins + [-np.inf] * (19 - wins)] * 2)


# --- holes and single points (theory 5 and 6) ---


@pytest.fixture(scope="module")
def sparse():
    X, y = curve(20)
    return X, y, ua.confidence_region(ua.KernelLasso(10.0, **RBF), X, y, m=100, random_state=0)


def lasso_rank(X, y, region, a):
    penalty = np.full(len(y), 10.0)
    Z = oracles.lasso(rbf_kernel(X, gamma=0.5), y, 1.0, penalty, a, region.perturbations.apply)
    return oracles.rank(Z, region.tie_order)


def test_the_estimate_can_be_an_isolated_point_of_a_line(sparse):
    X, y, region = sparse
    d = np.random.default_rng(0).normal(size=(6, 20))[5]
    np.testing.assert_array_equal(region.crossings(d, 0.2), [[0.0, 0.0]])
    assert region.reach(d, 0.2) == 0
    ranks = [lasso_rank(X, y, region, region.estimate + t * d) for t in (-1e-8, 0, 1e-8)]
    assert ranks[1] == 1
    assert min(ranks[0], ranks[2]) > 20
    # All zeros of the estimate are crossed at once, at t = 1.
    elsewhere = region.crossings(-d, 0.2, origin=region.estimate + d)
    np.testing.assert_array_equal(elsewhere, [[1.0, 1.0]])


def test_a_region_can_have_a_hole(sparse):
    X, y, region = sparse
    d = np.random.default_rng(0).normal(size=(91, 20))[90]
    spans = region.crossings(d, 0.9)
    expected = [[-2.4639725862, -2.2913442684], [-1.9725308578, 2.6226324277]]
    np.testing.assert_allclose(spans, expected, rtol=1e-9)
    for t, member in ((-2.5, False), (-2.4, True), (-2.1, False), (1.0, True), (2.7, False)):
        assert (lasso_rank(X, y, region, region.estimate + t * d) <= 90) == member


@pytest.mark.slow
def test_single_points_of_quantile_regions_are_members():
    """Where two data hyperplanes meet, free indicators admit what both neighbours exclude."""
    found = 0
    for seed in range(15):
        region = region_of("median", seed=seed, m=10)
        for direction in np.eye(3):
            spans = region.crossings(direction, 0.3)
            single = spans[spans[:, 0] == spans[:, 1], 0]
            found += len(single)
            for step, member in ((0, True), (-1e-6, False), (1e-6, False)):
                points = region.estimate + (single + step)[:, None] * direction
                assert (region.contains(points, 0.3) == member).all()
    assert found > 3


# --- labels at the ends of the unit interval ---


def test_lines_on_which_labels_are_certain():
    """An observed label that cannot happen excludes; otherwise the tie order decides."""
    X = np.array([[-1.0, 0.0], [1.0, 0.0]] * 4)
    certain, unseen = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    model, y = ua.LSSVC(C=5.0), np.sign(X[:, 0])
    right = ua.confidence_region(model, X, y, m=20)
    rank = right.rank(certain)
    assert rank == 1 + (right.tie_order[1:] < right.tie_order[0]).sum()
    y[0] = 1.0
    wrong = ua.confidence_region(model, X, y, m=20, ties="conservative")
    assert wrong.rank(certain) == 20
    for q in range(1, 20):
        spans = right.crossings(unseen, 1 - q / 20, certain)
        assert np.array_equal(spans, [[-np.inf, np.inf]]) == (rank <= 20 - q)
        assert len(wrong.crossings(unseen, 1 - q / 20, certain)) == 0


# --- lines that are followed on a grid ---


class Quartic(ua.objectives.Objective):
    """Σ (y - a)⁴ for one coefficient: nothing but residuals and gradient."""

    def __init__(self, y):
        super().__init__(y, 1)

    def residuals(self, coefficients):
        return self.y - coefficients

    def gradient(self, coefficients, residuals):
        return -(residuals**3).sum(axis=-1, keepdims=True)


class MyEstimator:
    pass


def test_an_objective_of_ones_own_has_approximate_crossings():
    ua.register_objective(MyEstimator, lambda estimator, X, y, w: Quartic(y))
    y = np.random.default_rng(0).normal(size=12)
    region = ua.confidence_region(MyEstimator(), np.ones((12, 1)), y, m=20)
    assert not region.exact_crossings
    assert "approximate" in str(region)
    [[low, high]] = region.crossings([1.0], 0.8, origin=[0.0])
    t = np.concatenate([np.linspace(-3, 3, 601), [low, high, low - 1e-9, high + 1e-9]])
    np.testing.assert_array_equal(region.contains(t[:, None], 0.8), (low <= t) & (t <= high))
    with pytest.raises(ua.NotAvailable, match="point estimate"):
        region.crossings([1.0], level=0.9)
