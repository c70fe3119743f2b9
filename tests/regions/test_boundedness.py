"""Is the region bounded? Counts that decide it, and rays that confirm every verdict."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

pytestmark = pytest.mark.slow_but_first
RBF = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.5)


def kernel_region(n=10, *, model=RBF, X=None, noise="symmetric", m=40, seed=0, w=None):
    rng = np.random.default_rng(seed)
    X = np.linspace(0, 2.0 * n, n)[:, None] if X is None else X
    y = np.sin(X[:, 0]) + rng.laplace(size=len(X))
    return ua.confidence_region(model, X, y, noise=noise, m=m, sample_weight=w, random_state=seed)


def signs(region):
    return region.perturbations.apply(np.ones(region.n))


def kept(region):
    """Which rows keep their sign, (m - 1, n); none for an identity that loses its ties.

    The set of an identity is the whole space, or nothing if the tie goes against the candidate.
    """
    plus = signs(region) == 1
    lost = plus.all(axis=1) & (region.tie_order[1:] < region.tie_order[0])
    return plus & ~lost[:, None]


def verdicts(region):
    """The verdicts at every level, from the highest: q = 1, ..., m - 1."""
    return [region.bounded(1 - q / region.m) for q in range(1, region.m)]


def check_count(region, count):
    """Bounded exactly from q = count + 1 on: what a decisive count says."""
    m = region.m
    expected = ["unbounded" if q <= count else "bounded" for q in range(1, m)]
    assert [v.verdict for v in verdicts(region)] == expected
    assert region.max_bounded_level == pytest.approx(max(0.0, 1 - (1 + count) / m), abs=1e-12)


def never_ends(region, verdict):
    """Membership along the direction of a verdict: in coefficients, and in fitted values."""
    u = verdict.direction
    moved = region.objective.design.matrix @ u
    assert (
        np.abs(moved).max()
        > 1e-6 * np.linalg.norm(region.objective.design.matrix) * np.abs(u).max()
    )
    fitted = region.objective.design.matrix @ region.estimate
    for t in (1.0, -1.0, 1e3, -1e3, 1e6, -1e6):
        t = t / np.abs(moved).max()  # in units of fitted values
        assert region.contains(region.estimate + t * u, verdict.level)
        assert region.contains(lambda X, t=t: fitted + t * moved, verdict.level)


# --- signs and kernels of full rank ---------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [4, 11])
def test_plus_signs_of_a_row_decide(n, seed):
    region = kernel_region(n, seed=seed)
    plus = kept(region).sum(axis=0)
    check_count(region, int(plus.max()))


def test_all_signs_leave_exactly_one_half():
    # Of the 2ⁿ - 1 sign vectors other than the identity 2ⁿ⁻¹ - 1 have a plus at a given row.
    region = kernel_region(5, m="all")
    assert region.m == 32
    check_count(region, 15)
    assert region.max_bounded_level == 0.5


def test_gaussian_kernels_count_as_full_rank_whatever_the_rounding():
    X = np.linspace(0, 10, 60)[:, None]
    region = kernel_region(X=X, model=KernelRidge(kernel="rbf", gamma=0.5, alpha=1.0))
    assert np.linalg.matrix_rank(region.objective.design.matrix) < 60
    check_count(region, int(kept(region).sum(axis=0).max()))


@pytest.mark.parametrize("level", [0.5, 0.7, 0.9, 0.975])
def test_the_direction_of_a_verdict_never_ends(level):
    region = kernel_region()
    verdict = region.bounded(level)
    assert verdict.verdict == "unbounded"
    never_ends(region, verdict)
    # The direction is rounded, so exactly the ray may end, but beyond all that is resolved.
    assert region.reach(verdict.direction, level) > 1e9
    moved = region.objective.design.matrix @ verdict.direction
    assert (np.abs(moved) > 1e-6 * np.abs(moved).max()).sum() == 1  # one fitted value alone


# --- permutations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [RBF, Ridge(0.5), LinearRegression()], ids=["kernel", "ridge", "least squares"]
)
def test_permutations_never_see_a_constant_shift(model):
    region = kernel_region(12, model=model, noise="exchangeable", m=20)
    check_count(region, 19)
    assert region.max_bounded_level == 0.0
    for verdict in verdicts(region):
        moved = region.objective.design.matrix @ verdict.direction
        np.testing.assert_allclose(moved, moved[0], rtol=1e-6)
    never_ends(region, verdicts(region)[-1])


# --- features -------------------------------------------------------------------------------------


def dummy_region(model, seed):
    """An intercept, a spread-out column, and a dummy column with two ones."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=40), np.arange(40) < 2])
    y = X.sum(axis=1) + rng.laplace(size=40)
    return ua.confidence_region(model, X, y, m=100, random_state=seed)


@pytest.mark.parametrize("seed", range(3))
def test_dummy_column_of_least_squares_is_free_where_its_rows_share_a_sign(seed):
    region = dummy_region(LinearRegression(), seed)
    s = signs(region)
    count = int((s[:, 0] == s[:, 1]).sum())
    assert 30 < count < 70  # 2^(1 - k) of the sets, k = 2
    check_count(region, count)
    verdict = region.bounded(0.9)
    never_ends(region, verdict)


@pytest.mark.parametrize("seed", range(3))
def test_dummy_column_of_ridge_is_free_where_its_rows_keep_their_sign(seed):
    region = dummy_region(Ridge(0.5), seed)
    s = signs(region)
    count = int(((s[:, 0] == 1) & (s[:, 1] == 1)).sum())
    assert 10 < count < 45  # 2^(-k)
    check_count(region, count)
    never_ends(region, region.bounded(0.9))


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1.0)], ids=["least squares", "ridge"])
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable", "spherical"])
def test_few_features_are_bounded_at_every_level(model, noise):
    X, y, _ = ua.datasets.linear(n=40, d=5, random_state=0)
    region = ua.confidence_region(model, X, y, noise=noise, m=100, random_state=0)
    check_count(region, 0)
    assert region.max_bounded_level == 0.99
    u = np.concatenate([np.eye(6), np.random.default_rng(0).normal(size=(200, 6))])
    assert np.isfinite(region.reach(u, 0.99)).all()


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.5)], ids=["least squares", "ridge"])
def test_ranks_of_the_rows_count_the_cylinders(model):
    # E_i is bounded iff the minus rows have rank d and, without penalty, the plus rows too.
    X, y, _ = ua.datasets.linear(n=16, d=5, random_state=1)
    region = ua.confidence_region(model, X, y, m=100, random_state=1)
    Phi = np.column_stack([np.ones(16), X])
    flat, sides = 0, (-1, 1) if isinstance(model, LinearRegression) else (-1,)
    for s in signs(region):
        flat += any(np.linalg.matrix_rank(Phi[s == side]) < 6 for side in sides)
    assert 5 < flat < 95
    # A direction leaves at most five rows alone: these columns are in general position.
    some = np.array([[j in rows for j in range(16)] for rows in combinations(range(16), 5)])
    inside = [((signs(region) == side).astype(int) @ ~some.T == 0) for side in sides]
    shared = int(np.any(inside, axis=0).sum(axis=0).max())
    assert 1 <= shared < flat
    found = verdicts(region)
    assert all(v.verdict == "bounded" for v in found[flat:])
    assert not any(v.verdict == "bounded" for v in found[:shared])
    assert not any(v.verdict == "unbounded" for v in found[shared:])
    radii = [
        e.squared_radius for e in region.ellipsoid([1 - q / 100 for q in range(1, 100)]).values()
    ]
    assert np.isinf(radii).sum() == flat


# --- rotations, signs with permutations, and anything else ----------------------------------------


@pytest.mark.parametrize("n", [6, 10])
def test_rotations_of_an_even_number_of_rows_leave_nothing_fixed(n):
    region = kernel_region(n, noise="spherical")
    check_count(region, 0)
    design = region.objective.design.matrix
    single = np.linalg.solve(design, np.eye(n)).T
    u = np.concatenate([single, np.random.default_rng(0).normal(size=(300, n))])
    assert np.isfinite(region.reach(u, 1 - 1 / region.m)).all()


def test_signs_with_permutations_fix_single_rows_and_their_like():
    region = kernel_region(10, noise="symmetric-exchangeable", m=100)
    images = region.perturbations.apply(np.eye(10))  # (row, transformation, n)
    fixed = [(images[j] == np.eye(10)[j]).all(axis=1).sum() for j in range(10)]
    shared = max(fixed)
    found = verdicts(region)
    assert shared > 0
    assert all(v.verdict == "unbounded" for v in found[:shared])
    G = np.moveaxis(images, 0, -1)
    flat = sum(np.linalg.matrix_rank(g - np.eye(10)) < 10 for g in G)
    assert all(v.verdict == "bounded" for v in found[flat:])
    assert flat > shared
    undetermined = [v for v in found if v.verdict == "undetermined"]
    assert undetermined
    assert all(not v and v.direction is None for v in undetermined)


MODELS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(1.0),
    Ridge(1.0, fit_intercept=False),
    KernelRidge(kernel="rbf", gamma=0.5, alpha=1.0),
    KernelRidge(kernel="linear", alpha=1.0),
    KernelRidge(kernel="poly", degree=2, alpha=1.0, gamma=1.0),
]


@pytest.mark.slow
@given(
    model=st.sampled_from(MODELS),
    noise=st.sampled_from(["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]),
    n=st.integers(3, 12),
    d=st.integers(1, 4),
    whole=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=18, deadline=None, derandomize=True)
def test_every_verdict_is_confirmed_by_rays(model, noise, n, d, whole, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X = np.round(X) if whole else X
    region = ua.confidence_region(
        model, X, rng.standard_t(2, size=n), noise=noise, m=20, random_state=seed
    )
    found = verdicts(region)
    order = ["unbounded", "undetermined", "bounded"]
    ranks = [order.index(v.verdict) for v in found]
    assert ranks == sorted(ranks)  # a lower level is never less bounded
    seen = np.linalg.pinv(region.objective.design.matrix) @ region.objective.design.matrix
    d = region.objective.d
    u = np.concatenate([np.eye(d), np.linalg.pinv(region.objective.design.matrix).T[:, :d]])
    u = np.concatenate([u, rng.normal(size=(40, d))]) @ seen
    u = u[np.linalg.norm(u, axis=1) > 1e-6]
    ends = region.reach(u, level=None)
    for q, verdict in enumerate(found, start=1):
        if verdict:
            assert not np.isposinf(ends[:, q - 1]).any()
        if verdict.verdict == "unbounded" and verdict.direction is None:
            # Counting proves it for a kernel of full rank, also where a rounded direction ends.
            design = region.objective.design
            assert design.dual
            assert design.full_rank
        elif verdict.verdict == "unbounded":
            # A rounded direction may end, but beyond all that double precision resolves.
            assert region.reach(verdict.direction, verdict.level) > 1e9
            assert np.linalg.norm(region.objective.design.matrix @ verdict.direction) > 0
            assert region.contains(region.estimate + 1e3 * verdict.direction, verdict.level)


# --- verdicts -------------------------------------------------------------------------------------


def test_the_highest_bounded_level_is_bounded_and_the_next_is_not():
    region = kernel_region()
    best = region.max_bounded_level
    assert region.bounded(best)
    assert not region.bounded(best + 1 / region.m)
