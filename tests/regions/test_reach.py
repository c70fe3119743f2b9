"""Rays and lines: membership is the judge of where the region ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from speed import slow_but

pytestmark = pytest.mark.slow_but_first


class PairTurns(ua.noise.Noise):
    """A user's own assumption: rows come in pairs whose noise vectors have no preferred angle."""

    def draw(self, n, size, rng):
        return rng.uniform(0, 2 * np.pi, (size, n // 2))

    def apply(self, drawn, residuals, fitted):
        end = 2 * drawn.shape[1]
        x, y = residuals[..., None, 0:end:2], residuals[..., None, 1:end:2]
        out = np.repeat(residuals[..., None, :], len(drawn), axis=-2)
        out[..., 0:end:2] = np.cos(drawn) * x - np.sin(drawn) * y
        out[..., 1:end:2] = np.sin(drawn) * x + np.cos(drawn) * y
        return out

    @property
    def orthogonal(self):
        return True


class HalfPermutations(ua.noise.Noise):
    """Another: exchangeable within the first half of the rows and within the second."""

    exact_arithmetic = True

    def draw(self, n, size, rng):
        half = np.arange(n) < n // 2
        return np.stack([np.lexsort((rng.random(n), ~half)) for _ in range(size)])

    def apply(self, drawn, residuals, fitted):
        return residuals[..., drawn]

    @property
    def orthogonal(self):
        return True


NOISES = {
    "signs": lambda n: ua.noise.Symmetric(),
    "permutations": lambda n: ua.noise.Exchangeable(),
    "both": lambda n: ua.noise.SymmetricExchangeable(),
    "rotations": lambda n: ua.noise.Spherical(),
    "blocks": lambda n: ua.noise.BlockSymmetric(np.arange(n) // 2),
    "own": lambda n: PairTurns(),
}
MODELS = {
    "least squares": LinearRegression(),
    "least squares, no intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(alpha=0.5),
    "ridge, no intercept": Ridge(alpha=0.5, fit_intercept=False),
    "rbf": KernelRidge(kernel="rbf", gamma=0.7, alpha=0.5),
    "poly": KernelRidge(kernel="poly", degree=2, gamma=1.0, alpha=0.5),
    "linear": KernelRidge(kernel="linear", alpha=0.5),
}
COMMUTING = {"signs", "blocks"}  # with any weights


def data(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X.sum(axis=1) + rng.standard_cauchy(n), rng


def ranks(region, points):
    """Ranks by the careful comparison, which takes over where candidates are few."""
    points = points.reshape(-1, points.shape[-1])
    parts = [region.rank(points[j : j + 32]) for j in range(0, len(points), 32)]
    return np.concatenate(parts)


def judge(region, directions, far=(1e3, 1e6)):
    """Ask membership about both sides of the end of every ray at every level.

    Returns how many ends were finite, infinite, zero, and how many regions were empty.
    """
    a, m = region.estimate, region.m
    ends = region.reach(directions, level=None)
    assert ends.shape == (len(directions), m - 1)
    largest = m - np.arange(1, m)  # the largest rank inside the region of column q - 1
    finite, zero = np.isfinite(ends) & (ends > 0), ends == 0
    forever, empty = np.isposinf(ends), np.isneginf(ends)
    assert (finite | zero | forever | empty).all()
    typical = np.median(ends[finite]) if finite.any() else 1.0
    margin = np.where(ends > 1e3 * typical, 1e-3, 1e-6)

    def at(t):
        return ranks(region, a + t[..., None] * directions[:, None, :]).reshape(ends.shape)

    inside, outside = (at(np.where(finite, ends, 0.0) * (1 + s * margin)) for s in (-1, 1))
    assert (inside <= largest)[finite].all()
    assert (outside > largest)[finite].all()

    middle = ranks(region, a[None, :])[0]
    assert (middle <= largest)[(finite | forever | zero).any(axis=0)].all()
    assert (middle > largest)[empty.any(axis=0)].all()
    for t in (1e-3 * typical, typical, 1e3 * typical):
        rank = ranks(region, a + t * directions)[:, None]
        assert (rank > largest)[empty | zero].all()
    for t in far:
        rank = ranks(region, a + t * directions)[:, None]
        assert (rank <= largest)[forever].all()
    return finite.sum(), forever.sum(), zero.sum(), empty.sum()


# --- every noise, every model ---------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("noise", "n", "d"), [*((noise, 6, 2) for noise in NOISES), ("signs", 13, 3), ("both", 13, 3)]
)
def test_membership_flips_at_the_end_of_every_ray(noise, model, n, d):
    X, y, rng = data(n, d, seed=n)
    region = ua.confidence_region(MODELS[model], X, y, noise=NOISES[noise](n), m=20, random_state=1)
    finite, *_ = judge(region, rng.normal(size=(4, region.objective.d)))
    assert finite > 0


@pytest.mark.parametrize("noise", sorted(COMMUTING))
@pytest.mark.parametrize("model", MODELS)
def test_membership_flips_with_weights(noise, model):
    X, y, rng = data(11, 2, seed=3)
    w = rng.uniform(0.1, 4, 11)
    w[4] = 0.0  # dropped
    region = ua.confidence_region(
        MODELS[model], X, y, noise=NOISES[noise](11), m=20, sample_weight=w, random_state=2
    )
    plain = ua.confidence_region(MODELS[model], X, y, noise=NOISES[noise](11), m=20, random_state=2)
    finite, *_ = judge(region, rng.normal(size=(4, region.objective.d)))
    assert finite > 0
    if region.objective.d == plain.objective.d:  # features: the weights did change something
        u = np.ones(region.objective.d)
        assert not np.allclose(region.reach(u, level=None), plain.reach(u, level=None))


@pytest.mark.parametrize("noise", ["permutations", "both", "rotations"])
def test_membership_flips_with_equal_weights(noise):
    X, y, rng = data(10, 2, seed=4)
    region = ua.confidence_region(
        Ridge(0.5), X, y, noise=NOISES[noise](10), m=20, sample_weight=np.full(10, 2.5),
        random_state=3,
    )  # fmt: skip
    judge(region, rng.normal(size=(4, 3)))


def test_membership_flips_where_permutations_stay_within_equal_weights():
    X, y, rng = data(12, 2, seed=5)
    w = np.where(np.arange(12) < 6, 0.3, 2.0)
    region = ua.confidence_region(
        Ridge(0.5), X, y, noise=HalfPermutations(), m=20, sample_weight=w, random_state=4
    )
    finite, *_ = judge(region, rng.normal(size=(6, 3)))
    assert finite > 0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("noise", ["signs", "both"])
def test_membership_flips_for_ls_svc(kernel, intercept, noise):
    X, y = ua.datasets.two_classes(n=14, random_state=0)
    model = ua.LSSVC(C=0.5, kernel=kernel, fit_intercept=intercept)
    with pytest.warns(UserWarning, match="guarantee"):
        region = ua.confidence_region(model, X, y, noise=NOISES[noise](14), m=20, random_state=0)
    judge(region, np.random.default_rng(0).normal(size=(4, region.objective.d)))


# --- ties, saturated designs, exact fits ----------------------------------------------------------


@pytest.mark.parametrize(("d", "m"), [(1, 20), (2, 50)])
@pytest.mark.parametrize("noise", ["signs", "permutations", "both", "blocks"])
def test_three_rows_with_all_their_ties(noise, d, m):
    identities = 0
    X, y, rng = data(3, d, seed=0)
    for model in ("least squares", "least squares, no intercept", "ridge", "rbf"):
        region = ua.confidence_region(
            MODELS[model], X, y, noise=NOISES[noise](3), m=m, random_state=0
        )
        images = region.perturbations.apply(np.arange(1.0, 4))
        identities += (np.abs(images) == np.arange(1.0, 4)).all(axis=1).sum()
        judge(region, rng.normal(size=(2, region.objective.d)))
    assert identities > 0


@pytest.mark.parametrize("ties", ["random", "conservative"])
@pytest.mark.parametrize(
    ("noise", "n"), [("signs", 5), ("permutations", 4), ("both", 3), ("blocks", 9)]
)
def test_enumerated_groups(noise, n, ties):
    X, y, rng = data(n, 2, seed=n)
    for model in ("least squares", "ridge", "rbf"):
        region = ua.confidence_region(
            MODELS[model], X, y, noise=NOISES[noise](n), m="all", ties=ties, random_state=0
        )
        U = rng.normal(size=(3, region.objective.d))
        judge(region, U)
        used = region.level(0.61)  # rounded up
        every = region.reach(U, level=None)
        np.testing.assert_array_equal(region.reach(U, level=0.61), every[:, used.q - 1])


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ties", ["random", "conservative"])
def test_saturated_designs_tie_everywhere(noise, ties):
    levels = set()
    for seed in range(2):
        X, y, rng = data(4, 4, seed)
        region = ua.confidence_region(
            LinearRegression(fit_intercept=False), X, y, noise=NOISES[noise](4), m=20, ties=ties,
            random_state=seed,
        )  # fmt: skip
        finite, forever, zero, _ = judge(region, rng.normal(size=(2, 4)))
        assert finite == zero == 0
        # As many levels as transformations that come after the identity in the order of ties.
        wins = int((region.tie_order[1:] > region.tie_order[0]).sum())
        assert forever == 2 * wins
        levels.add(wins)
    assert levels == {19} if ties == "conservative" else len(levels) > 1


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("intercept", [True, False])
def test_exact_fit_without_rounding(noise, intercept):
    # y = 0: the estimate is zero, and every E_i is that point or (the tie being lost) nothing.
    X, _, rng = data(9, 2, 0)
    region = ua.confidence_region(
        LinearRegression(fit_intercept=intercept), X, np.zeros(9), noise=NOISES[noise](9), m=20,
        random_state=1,
    )  # fmt: skip
    finite, _, zero, empty = judge(region, rng.normal(size=(2, region.objective.d)))
    assert finite == 0
    assert zero > 0
    assert empty > 0


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", NOISES)
def test_exact_fit_of_data_in_the_span(noise):
    X, _, rng = data(9, 2, 1)
    y = 3.0 + X @ [1.0, -2.0]
    region = ua.confidence_region(
        LinearRegression(), X, y, noise=NOISES[noise](9), m=20, random_state=2
    )
    u = rng.normal(size=(3, 3))
    ends = region.reach(u, level=None)
    # The numbers of y are rounded: exactly, the region may go on for as little as that.
    assert (np.isinf(ends) | ((ends >= 0) & (ends < 1e-14))).all()
    rank = ranks(region, region.estimate + 1e-6 * u)[:, None]
    assert (rank > 20 - np.arange(1, 20))[~np.isposinf(ends)].all()


# --- at random ------------------------------------------------------------------------------------


@st.composite
def problems(draw):
    n = draw(st.integers(3, 14))
    d = draw(st.integers(1, min(n, 5)))
    noise = draw(st.sampled_from(sorted(NOISES)))
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    weighted = noise in COMMUTING and draw(st.booleans())
    w = rng.uniform(0.1, 3, n) if weighted else None
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X)  # repeated rows, rank deficient designs
    y = X @ rng.normal(size=d) + rng.standard_t(2, size=n)
    alpha = draw(st.sampled_from([1e-2, 1.0, 30.0]))
    model = draw(
        st.sampled_from(
            [
                LinearRegression(),
                LinearRegression(fit_intercept=False),
                Ridge(alpha),
                Ridge(alpha, fit_intercept=False),
                KernelRidge(kernel="rbf", gamma=0.5, alpha=alpha),
                KernelRidge(kernel="poly", degree=2, gamma=1.0, alpha=alpha),
                KernelRidge(kernel="linear", alpha=alpha),
            ]
        )
    )
    m = draw(st.sampled_from([5, 20, 40]))
    return ua.confidence_region(
        model, X, y, noise=NOISES[noise](n), m=m, sample_weight=w, random_state=seed
    )


@pytest.mark.slow
@given(problems(), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_membership_flips_on_random_problems(region, seed):
    judge(region, np.random.default_rng(seed).normal(size=(3, region.objective.d)))


# --- the face of reach ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain():
    X, y, _ = data(15, 2, 7)
    return ua.confidence_region(Ridge(0.1), X, y, m=20, random_state=0)


def test_t_multiplies_the_direction_as_given(plain):
    u = np.array([0.5, -1.0, 2.0])
    base = plain.reach(u, level=None)
    np.testing.assert_allclose(plain.reach(1e3 * u, level=None), base / 1e3, rtol=1e-9)
    np.testing.assert_allclose(plain.reach(1e-5 * u, level=None), base / 1e-5, rtol=1e-9)


def test_columns_are_levels(plain):
    U = np.random.default_rng(0).normal(size=(5, 3))
    every = plain.reach(U, level=None)
    assert (np.diff(every, axis=1) <= 0).all()  # a smaller level, a smaller region
    for q in range(1, 20):
        np.testing.assert_array_equal(plain.reach(U, level=1 - q / 20), every[:, q - 1])
    several = plain.reach(U, level=[0.5, 0.9])
    assert list(several) == [0.5, 0.9]
    np.testing.assert_array_equal(several[0.5], every[:, 9])
    np.testing.assert_array_equal(several[0.9], every[:, 1])


def test_one_direction_gives_a_number(plain):
    t = plain.reach([1.0, 0.0, 0.0], level=0.9)
    assert isinstance(t, float)
    assert plain.reach([1.0, 0.0, 0.0], level=None).shape == (19,)
    np.testing.assert_array_equal(plain.reach([[1.0, 0.0, 0.0]], level=0.9), [t])


def test_directions_that_no_fitted_value_sees_never_end():
    X, y, rng = data(12, 2, 8)
    X = np.round(8 * X) / 8  # the sum of two columns has no rounding
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    for model in (LinearRegression(), Ridge(1.0)):
        region = ua.confidence_region(model, X, y, m=20, random_state=0)
        hidden = np.array([0.0, 1.0, 1.0, -1.0])
        assert (region.reach(hidden, level=None) == np.inf).all()
        judge(region, np.stack([hidden, rng.normal(size=4)]))


@pytest.mark.parametrize("wrong", [[1.0, 2.0], np.ones((2, 2, 3)), [1.0, np.nan, 0.0]])
def test_wrong_directions_are_refused(plain, wrong):
    with pytest.raises(ValueError, match="directions"):
        plain.reach(wrong, level=0.9)


def test_a_level_above_all_is_refused(plain):
    with pytest.raises(ValueError, match=r"level is too high: expected at most 0\.95"):
        plain.reach([1.0, 0.0, 0.0], level=0.96)


@pytest.mark.parametrize("noise", ["permutations", "both", "rotations", "own"])
def test_transformations_that_mix_weights_have_membership_only(noise):
    X, y, rng = data(10, 2, 9)
    w = rng.uniform(0.5, 2, 10)
    region = ua.confidence_region(
        Ridge(0.5), X, y, noise=NOISES[noise](10), m=20, sample_weight=w, random_state=0
    )
    assert 1 <= region.rank(np.zeros(3)) <= 20
    for ask in (region.reach, region.crossings):
        with pytest.raises(ua.NotAvailable, match=r"different weight.*equal weights"):
            ask(np.ones(3))


# --- lines ----------------------------------------------------------------------------------------


def judge_line(region, direction, origin, scale):
    """Compare the intervals of four levels with membership at 120 points of the line."""
    start = region.estimate if origin is None else origin
    t = np.linspace(-8 * scale, 8 * scale, 120)
    rank = ranks(region, start + t[:, None] * direction)
    several = 0
    for q in {1, region.m // 4, region.m // 2, region.m - 1}:
        found = region.crossings(direction, 1 - q / region.m, origin=origin)
        assert found.ndim == 2
        assert found.shape[1] == 2
        assert (found[:, 0] <= found[:, 1]).all()
        assert (found[1:, 0] > found[:-1, 1]).all()
        inside = ((found[:, 0] <= t[:, None]) & (t[:, None] <= found[:, 1])).any(axis=1)
        near = np.abs(t[:, None] - found.reshape(1, -1)).min(axis=1, initial=np.inf)
        sure = near > 1e-7 * scale
        np.testing.assert_array_equal((rank <= region.m - q)[sure], inside[sure])
        several += len(found) > 1
    return several


def judge_lines(region, rng, count):
    several = 0
    for _ in range(count):
        u = rng.normal(size=region.objective.d)
        ends = region.reach(u, level=None)
        finite = ends[np.isfinite(ends) & (ends > 0)]
        scale = float(np.median(finite)) if len(finite) else 1.0
        away = rng.choice([0.1, 1.0, 3.0]) * scale * rng.normal(size=region.objective.d)
        several += judge_line(region, u, None, scale)
        several += judge_line(region, u, region.estimate + away, scale)
    return several


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    "model", slow_but(["least squares", "ridge", "rbf", "linear"], "least squares", "rbf")
)
def test_crossings_agree_with_a_scan(noise, model):
    X, y, rng = data(9, 2, seed=11)
    region = ua.confidence_region(MODELS[model], X, y, noise=NOISES[noise](9), m=20, random_state=5)
    judge_lines(region, rng, count=1)


@pytest.mark.slow
def test_crossings_with_weights_agree_with_a_scan():
    X, y, rng = data(9, 2, seed=12)
    region = ua.confidence_region(
        Ridge(0.3), X, y, m=20, sample_weight=rng.uniform(0.1, 3, 9), random_state=6
    )
    judge_lines(region, rng, count=4)


@pytest.mark.slow
def test_a_line_can_meet_the_region_in_several_intervals():
    several = 0
    for seed in range(5):
        X, y, rng = data(8, 2, seed)
        region = ua.confidence_region(LinearRegression(), X, y, m=20, random_state=seed)
        several += judge_lines(region, rng, count=3)
    assert several > 0


@pytest.mark.parametrize("noise", ["signs", "permutations", "both", "blocks"])
@pytest.mark.parametrize("d", [1, 3])
def test_crossings_of_three_rows_with_all_their_ties(noise, d):
    X, y, rng = data(3, d, seed=d)
    for model in ("least squares", "least squares, no intercept", "ridge"):
        region = ua.confidence_region(
            MODELS[model], X, y, noise=NOISES[noise](3), m=20, random_state=d
        )
        judge_lines(region, rng, count=1)


@pytest.mark.slow
@given(problems(), st.integers(0, 2**31))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_crossings_on_random_problems(region, seed):
    judge_lines(region, np.random.default_rng(seed), count=1)


def test_without_origin_the_line_ends_where_its_two_rays_do(plain):
    u = np.array([1.0, -0.4, 0.2])
    for q in range(1, 20):
        level = 1 - q / 20
        (interval,) = plain.crossings(u, level)
        expected = [-plain.reach(-u, level), plain.reach(u, level)]
        np.testing.assert_allclose(interval, expected, rtol=1e-9)
        assert interval[0] <= 0 <= interval[1]
        moved = plain.crossings(u, level, origin=plain.estimate + 0.7 * u)
        np.testing.assert_allclose(moved, [interval - 0.7], rtol=1e-7)


def test_a_line_that_misses_the_region_has_no_interval(plain):
    far = plain.estimate + 1e4 * np.array([1.0, 1.0, 0.0])
    assert plain.crossings([0.0, 0.0, 1.0], 0.9, origin=far).shape == (0, 2)


def test_crossings_of_several_levels_are_nested(plain):
    u, origin = np.array([1.0, 0.3, -0.5]), plain.estimate + np.array([0.0, 0.05, 0.02])
    found = plain.crossings(u, [0.3, 0.6, 0.95], origin=origin)
    assert list(found) == [0.3, 0.6, 0.95]
    for small, large in ((0.3, 0.6), (0.6, 0.95)):
        for low, high in found[small]:
            assert any(a <= low and high <= b for a, b in found[large])


def test_free_lines_cross_from_end_to_end():
    X, y, _ = data(10, 2, 13)
    region = ua.confidence_region(Ridge(0.5), X, y, noise="exchangeable", m=20, random_state=0)
    np.testing.assert_array_equal(region.crossings([1.0, 0.0, 0.0], 0.5), [[-np.inf, np.inf]])
