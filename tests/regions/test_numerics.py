"""Ranks in floating point are the ranks of exact arithmetic: near ties, exact ties, bad scaling."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua
from fixed_point import (
    BITS,
    WIDE_K,
    WIDE_N,
    WIDE_TRUTH,
    WIDE_X,
    WIDE_Y,
    fixed,
    perturbed,
    product,
    soft,
)

pytestmark = pytest.mark.slow_but_first


# --- a numerically singular Gram matrix (THEORY.md 10) --------------------------------------------


@cache
def wide_smoother(n_lam):
    """S = K (K + nλ)⁻¹ = I - nλ (K + nλ)⁻¹, by elimination without pivoting."""
    system = fixed(WIDE_K) + fixed(n_lam * np.eye(WIDE_N))
    left, right = system.copy(), fixed(np.eye(WIDE_N))
    for j in range(WIDE_N):
        pivot = left[j, j]
        left[j], right[j] = (left[j] << BITS) // pivot, (right[j] << BITS) // pivot
        others = np.arange(WIDE_N) != j
        factor = left[others, j][:, None]
        left[others] -= (factor * left[j]) >> BITS
        right[others] -= (factor * right[j]) >> BITS
    smoother = fixed(np.eye(WIDE_N)) - ((fixed(n_lam) * right) >> BITS)
    wrong = product(system, smoother) - fixed(WIDE_K)
    assert max(abs(wrong.ravel())) < 2 ** (BITS - 200)  # 1e-60
    return smoother


def ranks_without_rounding(gaps):
    """Count Z_i - Z_0 < 0; a gap that is not clear of the last digits fails."""
    assert min(abs(gaps.ravel())) > 2 ** (BITS - 130)  # 1e-39
    return 1 + (gaps < 0).sum(axis=1).astype(int)


def kernel_ridge_gaps(region, candidates, alpha):
    """n Z_i = wᵢᵀ S wᵢ with wᵢ = G_i r - nλ a, so that n (Z_i - Z_0) = dᵀ S (d + 2 w_0)."""
    K, S, y, n_lam = fixed(WIDE_K), wide_smoother(alpha), fixed(WIDE_Y), fixed(alpha)
    gaps = []
    for a in fixed(candidates):
        r = y - product(K, a)
        w = r - ((n_lam * a) >> BITS)
        d = perturbed(region, r) - r[:, None]
        gaps.append((d * product(S, d + 2 * w[:, None])).sum(axis=0) >> BITS)
    return np.array(gaps)


def kernel_lasso_gaps(region, candidates, alpha):
    """Z_i = ‖K G_i r - alpha ∂|a|‖²."""
    K, y, alpha = fixed(WIDE_K), fixed(WIDE_Y), fixed(alpha)
    gaps = []
    for a in fixed(candidates):
        r = y - product(K, a)
        u = product(K, np.column_stack([r, perturbed(region, r)]))
        Z = (soft(u, a[:, None], alpha) ** 2).sum(axis=0) >> BITS
        gaps.append(Z[1:] - Z[0])
    return np.array(gaps)


VALUES, VECTORS = eigh(WIDE_K)
WIDE_IDEAL = np.linalg.lstsq(WIDE_K, WIDE_TRUTH, rcond=1e-12)[0]


def far_candidates():
    """Far along weak directions of K, as far as moves the fitted values by 0.3 or 3."""
    weak = np.flatnonzero((VALUES > 1e-11) & (VALUES < 1))
    assert len(weak) > 30
    moves = VECTORS[:, weak].T / VALUES[weak, None]  # up to 1e11 long
    return np.concatenate([WIDE_IDEAL + size * moves for size in (0.3, -0.3, 3.0)])


def wide_candidates(estimate):
    """Near the estimate, near the truth, far, and 1e6 along nearly null directions of K."""
    rng = np.random.default_rng(4)
    smooth = VECTORS[:, VALUES > 1e-3]  # directions that the fitted values see
    found = []
    for size in np.repeat([1e-3, 0.03, 0.1, 0.3, 1.0, 10.0], 3):
        move = smooth @ rng.normal(size=smooth.shape[1])
        found += [estimate + size * move, WIDE_IDEAL + size * move]
        found.append(estimate + size * rng.normal(size=WIDE_N))
    for j in range(0, 48, 4):
        assert abs(VALUES[j]) < 1e-9
        null, move = 1e6 * VECTORS[:, j], 0.1 * smooth @ rng.normal(size=smooth.shape[1])
        found += [WIDE_IDEAL + null, estimate - null, WIDE_IDEAL + null + move]
    found += [1e6 * rng.normal(size=WIDE_N) for _ in range(4)]
    return np.concatenate([found, far_candidates()])


def assert_ranks(region, candidates, gaps):
    expected = ranks_without_rounding(gaps)
    assert (~np.isin(expected, [1, region.m])).sum() > 5  # not only the two ends
    np.testing.assert_array_equal(region.rank(candidates), expected)
    np.testing.assert_array_equal([region.rank(a) for a in candidates], expected)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable"])
def test_kernel_ridge_ranks_agree_with_many_digits_for_a_singular_gram_matrix(noise):
    estimator = KernelRidge(kernel="rbf", gamma=2.0, alpha=2.0)
    region = ua.confidence_region(estimator, WIDE_X, WIDE_Y, noise=noise, m=10, random_state=3)
    candidates = wide_candidates(region.estimate)
    assert len(candidates) >= 200
    candidates = candidates[:: 14 if noise == "symmetric" else 19]
    assert_ranks(region, candidates, kernel_ridge_gaps(region, candidates, 2.0))


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable"])
def test_kernel_lasso_ranks_agree_with_many_digits_for_a_singular_gram_matrix(noise):
    estimator = ua.KernelLasso(kernel="rbf", gamma=2.0, alpha=3.0)
    region = ua.confidence_region(estimator, WIDE_X, WIDE_Y, noise=noise, m=10, random_state=3)
    active = region.estimate != 0
    assert 5 < active.sum() < 50
    sizes = np.geomspace(0.03, 0.6, 40)[:, None]
    sparse = region.estimate + sizes * active * np.random.default_rng(2).normal(size=(40, WIDE_N))
    candidates = np.concatenate([region.estimate[None], sparse, wide_candidates(region.estimate)])
    assert len(candidates) >= 200
    candidates = candidates[::9] if noise == "symmetric" else candidates[:60:5]
    assert_ranks(region, candidates, kernel_lasso_gaps(region, candidates, 3.0))


@pytest.mark.slow
def test_differences_far_below_the_rounding_error_of_the_statistics_decide_the_rank():
    """With a strong penalty, which all statistics share, Z_i - Z_0 is 1e-17 of Z_0."""
    estimator = KernelRidge(kernel="rbf", gamma=2.0, alpha=2e6)
    region = ua.confidence_region(estimator, WIDE_X, WIDE_Y, m=10, random_state=3)
    candidates = far_candidates()[-38:]
    gaps = kernel_ridge_gaps(region, candidates, 2e6)
    relative = np.abs(gaps / 2**BITS / WIDE_N).min(axis=1) / region.statistics(candidates)[:, 0]
    assert (relative < 2e-17).sum() > 3
    assert_ranks(region, candidates, gaps)


# --- small problems in rational arithmetic -----------------------------------------------------


def rational(values):
    return np.frompyfunc(lambda x: Fraction(float(x)), 1, 1)(values)


@cache
def inverse(rows):
    """The inverse of a positive definite matrix, given by its rows, over the rationals."""
    A = np.array(rows)
    B = rational(np.eye(len(A)))
    for j in range(len(A)):
        B[j], A[j] = B[j] / A[j, j], A[j] / A[j, j]
        for k in range(len(A)):
            if k != j:
                B[k], A[k] = B[k] - A[k, j] * B[j], A[k] - A[k, j] * A[j]
    return B


def images(region, r):
    """G_i r of signs, permutations or both, without rounding."""
    rows = region.perturbations.apply(np.arange(1.0, region.n + 1)).astype(int)
    return np.sign(rows) * r[np.abs(rows) - 1]


def rational_rank(region, phi, y, a, alpha=0.0):
    """The rank by THEORY.md 2 and 4 without rounding, and the number of ties with Z_0.

    With an intercept in the first column of phi, which carries no penalty.
    """
    phi, a, P = rational(phi), rational(a), rational(np.eye(phi.shape[1]))
    P[0, 0] = Fraction(0)
    penalty = Fraction(alpha) * P
    H = phi.T.dot(phi) + penalty  # times n
    r = rational(y) - phi.dot(a)
    H_inverse = inverse(tuple(map(tuple, H)))

    @cache
    def statistic(moved):
        s = phi.T.dot(np.array(moved)) - penalty.dot(a)
        return s.dot(H_inverse.dot(s))

    Z0, order = statistic(tuple(r)), region.tie_order
    Z = [statistic(tuple(moved)) for moved in images(region, r)]
    before = [z < Z0 or (z == Z0 and order[i] < order[0]) for i, z in enumerate(Z, start=1)]
    return 1 + sum(before), sum(z == Z0 for z in Z)


class AllSigns(ua.noise.Symmetric):
    """All 2ⁿ sign vectors, each once: the whole group, with both of every pair G, -G."""

    def draw(self, n, size, rng):
        codes = np.arange(1, 2**n)[:, None] >> np.arange(n)
        return (1 - 2 * (codes & 1)).astype(np.int8)


TINY_X = np.array([[0.1], [0.7], [-1.3]])
TINY_Y = np.array([0.3, -1.1, 2.7])
TINY_PHI = np.column_stack([np.ones(3), TINY_X])


def tiny_candidates():
    """Generic ones, and some through a point, where more statistics tie."""
    rng = np.random.default_rng(0)
    exact = np.array([[0.3, 0.0], [2.7, 0.0], [0.0, 0.0], [1.0, -1.0]])
    return np.concatenate([exact, rng.normal(size=(36, 2)) * 2])


@pytest.mark.parametrize("alpha", [0.0, 0.5], ids=["least squares", "ridge"])
@pytest.mark.parametrize("seed", range(2))
def test_ranks_with_all_eight_sign_vectors_are_those_of_exact_arithmetic(alpha, seed):
    estimator = Ridge(alpha=alpha) if alpha else LinearRegression()
    region = ua.confidence_region(
        estimator, TINY_X, TINY_Y, noise=AllSigns(), m=8, random_state=seed
    )
    candidates = tiny_candidates()
    expected, ties = zip(
        *(rational_rank(region, TINY_PHI, TINY_Y, a, alpha) for a in candidates), strict=True
    )
    assert min(ties) == (0 if alpha else 1)  # -I, for least squares
    np.testing.assert_array_equal(region.rank(candidates), expected)
    assert [region.rank(a) for a in candidates] == list(expected)


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "symmetric-exchangeable"])
@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(alpha=0.5)])
def test_ranks_with_many_repeated_transformations_are_those_of_exact_arithmetic(estimator, noise):
    """A hundred draws from 8, 6 or 48 elements: the identity itself comes up."""
    region = ua.confidence_region(estimator, TINY_X, TINY_Y, noise=noise, m=100, random_state=5)
    alpha = getattr(estimator, "alpha", 0.0)
    candidates = tiny_candidates()[:16]
    expected, ties = zip(
        *(rational_rank(region, TINY_PHI, TINY_Y, a, alpha) for a in candidates), strict=True
    )
    assert max(ties) > 1
    np.testing.assert_array_equal(region.rank(candidates), expected)
    assert [region.rank(a) for a in candidates] == list(expected)


def badly_scaled():
    """Columns of sizes 1e-8 and 1e8, and one that is nearly the intercept."""
    rng = np.random.default_rng(7)
    scale = np.array([1e-8, 1.0, 1e8])
    X = rng.normal(size=(8, 3)) * scale
    X[:, 1] += 1000
    y = 1.0 + X @ (np.array([2.0, -1.0, 0.5]) / scale) + rng.normal(size=8)
    return X, y


@pytest.mark.slow
def test_ranks_of_badly_scaled_columns_are_those_of_exact_arithmetic():
    X, y = badly_scaled()
    region = ua.confidence_region(LinearRegression(), X, y, m=40, random_state=2)
    phi = np.column_stack([np.ones(8), X])
    rng = np.random.default_rng(0)
    moves = rng.normal(size=(24, 4)) * [1.0, 1e8, 1.0, 1e-8] * np.geomspace(0.01, 3, 24)[:, None]
    moves[:, 0] -= 1000 * moves[:, 2]  # keep to the data
    size = np.linalg.norm(phi, axis=0)
    candidates = np.linalg.lstsq(phi / size, y, rcond=None)[0] / size + moves
    expected = [rational_rank(region, phi, y, a)[0] for a in candidates]
    assert len(set(expected)) > 10
    np.testing.assert_array_equal(region.rank(candidates), expected)
    assert [region.rank(a) for a in candidates] == expected


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(alpha=1e-20), HuberRegressor()])
def test_the_estimate_of_badly_scaled_columns_has_no_gradient(estimator):
    X, y = badly_scaled()
    region = ua.confidence_region(estimator, X, y, m=40, random_state=2)
    statistics = region.statistics(region.estimate)
    assert statistics[0] < 1e-9 * statistics[1:].max()
    assert region.rank(region.estimate) == 1


# --- everything ties: the tie order decides alone ----------------------------------------------

rng = np.random.default_rng(11)
FIVE = rng.normal(size=(5, 5))
Y5 = rng.normal(size=5)
Y6 = rng.normal(size=6)
X6 = rng.normal(size=(6, 6))
KERNEL = {"kernel": "rbf", "gamma": 0.5}
WHOLE = np.array([[1.0, -2.0], [3.0, 1.0], [-1.0, 4.0], [2.0, 2.0], [0.0, -3.0]])  # no rounding
NO_CONSTANT = LinearRegression(fit_intercept=False)
EVERY = ("symmetric", "exchangeable", "symmetric-exchangeable", "spherical")
SIGNS_OR_NOT = ("symmetric", "exchangeable")

ALL_TIE = {
    # name: estimator, X, y, candidate, noises, options
    "a mean, permuted": (NO_CONSTANT, np.ones((5, 1)), Y5, [0.3], ("exchangeable",), {}),
    "an intercept, permuted": (
        LinearRegression(),
        np.zeros((5, 1)),
        Y5,
        [0.3, 9.0],
        ("exchangeable",),
        {},
    ),
    "a ridge intercept, permuted": (
        Ridge(alpha=1.0),
        np.zeros((5, 1)),
        Y5,
        [0.3, 0.7],
        ("exchangeable",),
        {},
    ),
    "a saturated design": (NO_CONSTANT, FIVE, Y5, [0.1, -0.2, 0.3, 1.4, -1.5], EVERY, {}),
    "a saturated design, six rows": (NO_CONSTANT, X6, Y6, np.arange(6) / 7, EVERY, {}),
    "a saturated design with an intercept": (
        LinearRegression(),
        FIVE[:, 1:],
        Y5,
        [0.1, -0.2, 0.3, 1.4, -1.5],
        EVERY,
        {},
    ),
    "SVR at zero": (
        SVR(gamma=0.5),
        FIVE,
        Y5,
        [0.1, 0, 0, 0, 0, 0],
        ("symmetric", "exchangeable", "symmetric-exchangeable"),
        {"weighting": "identity"},
    ),
    "a constant, permuted": (
        Ridge(alpha=1.0),
        FIVE[:, :2],
        np.full(5, 2.7),
        [0.1, 0, 0],
        ("exchangeable",),
        {},
    ),
    "a constant, met": (LinearRegression(), FIVE[:, :2], np.full(5, 2.7), [2.7, 0, 0], EVERY, {}),
    "residuals beyond the threshold, permuted": (
        ua.KernelHuber(delta=0.1, **KERNEL),
        FIVE,
        np.array([3.1, 2.7, 5.3, 4.9, 9.1]),
        [0.1, 0.2, -0.1, 0.3, 0.1],
        ("exchangeable",),
        {},
    ),
}
EXACT_FITS = {
    "LinearRegression": (LinearRegression(), [1.0, 2.0, -1.0]),
    "Ridge": (Ridge(alpha=0.7), [1.0, 2.0, -1.0]),
    "Lasso": (Lasso(alpha=0.3), [1.0, 2.0, -1.0]),
    "Lasso, sparse": (Lasso(alpha=0.3), [1.0, 0.0, -1.0]),
    "KernelRidge": (KernelRidge(alpha=0.7), [1.0, 2.0, -1.0, 0.0, 3.0]),
    "KernelLasso": (ua.KernelLasso(alpha=0.3), [1.0, 2.0, -1.0, 0.0, 3.0]),
    "KernelHuber": (ua.KernelHuber(alpha=0.3), [1.0, 2.0, -1.0, 0.0, 3.0]),
    "SVR": (SVR(kernel="linear"), [1.0, 1.0, 2.0, -1.0, 0.0, 3.0]),
}


def fitted(estimator, a):
    """Whole numbers in, whole numbers out."""
    a = np.asarray(a)
    if not hasattr(estimator, "kernel"):
        return a[0] + WHOLE @ a[1:]
    dual = WHOLE @ WHOLE.T @ a[-5:]
    return a[0] + dual if isinstance(estimator, SVR) else dual


CASES = [
    pytest.param(estimator, X, y, a, noise, options, id=f"{name}-{noise}")
    for name, (estimator, X, y, a, noises, options) in ALL_TIE.items()
    for noise in noises
] + [
    pytest.param(estimator, WHOLE, fitted(estimator, a), a, noise, {}, id=f"exact {name}-{noise}")
    for name, (estimator, a) in EXACT_FITS.items()
    for noise in EVERY
]


@pytest.mark.parametrize(("estimator", "X", "y", "a", "noise", "options"), CASES)
def test_where_everything_ties_the_tie_order_is_the_rank(estimator, X, y, a, noise, options):
    seen = set()
    for seed in range(2):
        region = ua.confidence_region(
            estimator, X, y, noise=noise, m=50, random_state=seed, **options
        )
        order = region.tie_order
        expected = 1 + sum(order[i] < order[0] for i in range(1, 50))
        assert region.rank(np.array(a)) == expected
        if seed == 0:  # among many
            assert region.rank(np.tile(a, (40, 1))).tolist() == [expected] * 40
        seen.add(expected)
    assert len(seen) == 2


@pytest.mark.parametrize(("estimator", "X", "y", "a", "noise", "options"), CASES)
def test_ties_in_favour_of_the_candidate_give_rank_one(estimator, X, y, a, noise, options):
    region = ua.confidence_region(
        estimator, X, y, noise=noise, m=50, ties="conservative", random_state=0, **options
    )
    assert region.rank(np.array(a)) == 1
    assert region.rank(np.tile(a, (40, 1))).tolist() == [1] * 40


def test_huber_regressor_says_that_an_exact_fit_has_no_scale():
    a = [1.0, 2.0, -1.0]
    region = ua.confidence_region(
        HuberRegressor(), WHOLE, fitted(HuberRegressor(), a), random_state=0
    )
    with pytest.raises(ValueError, match="too many points for HuberRegressor's scale"):
        region.rank(a)


# --- singular Gram matrices: the quotient space (THEORY.md 1) ----------------------------------

DOUBLED = np.array([[0.0], [1.0], [1.0], [2.5], [2.5], [2.5], [4.0], [5.0]])
DOUBLED_NULL = np.array(
    [[0, 1, -1, 0, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -2, 0, 0.0]]
)
PLANE = np.array([[1.0, 0], [0, 1], [1, 1], [1, -1], [2, 1], [-1, 2], [3, 0], [1, 3]])
PLANE_NULL = np.array(
    [[1.0, 1, -1, 0, 0, 0, 0, 0], [1, -1, 0, -1, 0, 0, 0, 0], [2, 1, 0, 0, -1, 0, 0, 0]]
)
Y8 = np.random.default_rng(21).normal(size=8) * 2


@pytest.mark.parametrize(
    ("noise", "weight"),
    list(zip(EVERY, 2 * [None, np.array([1, 2, 0.5, 1, 3, 1, 1, 0.7])], strict=True)),
)
@pytest.mark.parametrize(
    ("kernel", "X", "null"),
    [
        ({"kernel": "rbf", "gamma": 0.5}, DOUBLED, DOUBLED_NULL),
        ({"kernel": "laplacian", "gamma": 1.0}, DOUBLED, DOUBLED_NULL),
        ({"kernel": "linear"}, PLANE, PLANE_NULL),
    ],
    ids=["rbf", "laplacian", "linear"],
)
def test_a_null_vector_of_the_gram_matrix_changes_no_rank(kernel, X, null, weight, noise):
    estimator = KernelRidge(alpha=0.5, **kernel)
    region = ua.confidence_region(
        estimator, X, Y8, noise=noise, sample_weight=weight, random_state=4
    )
    rng = np.random.default_rng(0)
    near = region.estimate + rng.normal(size=(60, 8)) * np.geomspace(0.01, 2, 60)[:, None]
    moved = near + rng.normal(size=(60, 3)) * [1.0, 10.0, 1e4] @ null
    ranks = region.rank(near)
    assert len(np.unique(ranks)) > 10
    np.testing.assert_array_equal(region.rank(moved), ranks)
    assert [region.rank(a) for a in moved] == ranks.tolist()


@pytest.mark.parametrize("noise", EVERY)
@pytest.mark.parametrize("weight", [None, np.array([1, 2, 0.5, 1, 3, 1, 1, 0.7])])
@pytest.mark.parametrize("alpha", [0.5, 0.0])
def test_a_linear_kernel_gives_the_ranks_of_ridge_in_its_features(alpha, weight, noise):
    """Without a penalty, a direction that only rounding makes would weigh as much as any other."""
    options = {"noise": noise, "sample_weight": weight, "random_state": 4}
    dual = ua.confidence_region(KernelRidge(alpha=alpha), PLANE, Y8, **options)
    primal = ua.confidence_region(Ridge(alpha=alpha, fit_intercept=False), PLANE, Y8, **options)
    np.testing.assert_allclose(PLANE.T @ dual.estimate, primal.estimate, rtol=1e-10)
    rng = np.random.default_rng(0)
    near = dual.estimate + rng.normal(size=(100, 8)) * np.geomspace(0.01, 1, 100)[:, None]
    ranks = primal.rank(near @ PLANE)
    assert len(np.unique(ranks)) > 15
    np.testing.assert_array_equal(dual.rank(near), ranks)
    assert [dual.rank(a) for a in near[:30]] == ranks[:30].tolist()
    np.testing.assert_allclose(
        dual.statistics(near), primal.statistics(near @ PLANE), rtol=1e-9, atol=1e-14
    )


# --- the ends of the floating-point range ------------------------------------------------------

SQUARES = {
    "LinearRegression": LinearRegression(),
    "Ridge": Ridge(alpha=0.5),
    "Lasso": Lasso(alpha=0.1),
    "KernelRidge": KernelRidge(**KERNEL),
    "KernelLasso": ua.KernelLasso(**KERNEL),
    "SVR": SVR(gamma=0.5),
}


@pytest.mark.parametrize("noise", EVERY)
@pytest.mark.parametrize("name", SQUARES)
def test_a_candidate_that_overflows_is_refused_with_a_reason(name, noise):
    """One by one and among many, where another path computes the ranks."""
    region = ua.confidence_region(SQUARES[name], X6[:, :2], Y6, noise=noise, random_state=0)
    for count, size in ((count, size) for count in (1, 40) for size in (1e160, 1e200, 1e300)):
        candidates = np.random.default_rng(1).normal(size=(count, region.objective.d))
        candidates[count // 2] *= size
        for ask in (region.rank, region.statistics):
            with pytest.raises(ValueError, match="too large to be ranked in double precision"):
                ask(candidates)


@pytest.mark.parametrize(
    "estimator", [HuberRegressor(alpha=0.5), ua.KernelHuber(**KERNEL)], ids=["features", "kernel"]
)
def test_statistics_that_overflow_are_refused_although_the_loss_is_bounded(estimator):
    region = ua.confidence_region(estimator, X6[:, :2], Y6, random_state=0)
    with pytest.raises(ValueError, match="too large"):
        region.statistics(np.full(region.objective.d, 1e200))


@pytest.mark.parametrize("name", SQUARES)
@pytest.mark.parametrize("power", [-150, 150])
def test_ranks_do_not_depend_on_the_unit_of_the_outputs(name, power):
    """Multiplying y, the candidates and the penalty by a power of two rounds nothing."""
    unit = 2.0**power
    scaled = clone(SQUARES[name])
    for parameter in {"alpha": {"Lasso", "KernelLasso"}, "epsilon": {"SVR"}, "C": {"SVR"}}.items():
        if name in parameter[1]:
            scaled.set_params(**{parameter[0]: getattr(scaled, parameter[0]) * unit})
    plain = ua.confidence_region(SQUARES[name], X6[:, :2], Y6, random_state=0)
    other = ua.confidence_region(scaled, X6[:, :2], Y6 * unit, random_state=0)
    candidates = np.random.default_rng(1).normal(size=(60, plain.objective.d))
    np.testing.assert_array_equal(plain.rank(candidates), other.rank(candidates * unit))
