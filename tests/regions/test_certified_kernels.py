"""Kernels at the edges of double precision: certified bounds hold, free directions are free."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import unassuming as ua
from unassuming.kernels import inner_product_kernel
from unassuming.objectives.designs._kernel_features import KernelFeatures, graded_svd
from unassuming.regions._results import Status

pytestmark = pytest.mark.slow_but_first


# Few features: K has squared their condition.


@pytest.mark.parametrize("scales", [(3e4, 2e-5), (1e-4, 5e4)])
@pytest.mark.parametrize("kernel", ["linear", DotProduct(0.5)])
def test_a_linear_kernel_is_ridge_whatever_the_units_of_its_features(kernel, scales):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((25, 2)) * scales
        extra = [] if kernel == "linear" else [np.full(25, 0.5)]
        features = np.column_stack([*extra, X])

        def f(X):
            return X @ [1.0 / scales[0], -2.0 / scales[1]]

        y = f(X) + 0.4 * rng.standard_normal(25)
        ours = ua.confidence_region(KernelRidge(kernel=kernel, alpha=0.7), X, y, random_state=seed)
        ridge = ua.confidence_region(
            Ridge(0.7, fit_intercept=False), features, y, random_state=seed
        )
        coefficients = [*[0.0 for _ in extra], 1.0 / scales[0], -2.0 / scales[1]]
        assert ours.rank(f) == ridge.rank(coefficients)
        one, two = ours.band(X), ridge.band(features)
        assert one.status is Status.CERTIFIED
        width = two.upper - two.lower
        assert (np.abs(one.upper - two.upper) < 1e-6 * width).all()
        assert (np.abs(one.lower - two.lower) < 1e-6 * width).all()


@pytest.mark.parametrize(("degree", "largest"), [(2, 1e-3), (3, 0.01), (4, 0.05)])
def test_a_polynomial_kernel_on_small_inputs_holds_every_member(degree, largest):
    x = np.linspace(0, largest, 25)[:, None]

    def f(X):
        t = X[:, 0] / largest - 0.4
        return 15 * t**degree - 2 * t

    inside = 0
    for seed in range(6):
        y = f(x) + 0.1 * np.random.default_rng(seed).standard_normal(25)
        model = KernelRidge(kernel="poly", degree=degree, gamma=1.0, alpha=1e-7)
        region = ua.confidence_region(model, x, y, m=20, random_state=seed)
        band = region.band(x)
        assert band.status is Status.CERTIFIED
        if region.contains(f):
            inside += 1
            assert ((band.lower <= f(x)) & (f(x) <= band.upper)).all()
    assert inside > 2


def test_singular_values_are_accurate_relative_to_themselves():
    rng = np.random.default_rng(1)
    F = rng.standard_normal((9, 4)) * [1e12, 1e-9, 1.0, 1e4] * 10.0 ** rng.integers(-3, 4, (9, 1))
    u, s = graded_svd(F)
    with mp.workdps(60):
        exact = [float(v) for v in mp.svd_r(mp.matrix(F.tolist()), compute_uv=False)]
    np.testing.assert_allclose(s, exact, rtol=1e-13)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-13)


def rational_rank(M):
    """The rank in exact rationals."""
    rows, rank = [[Fraction(float(x)) for x in row] for row in M], 0
    for j in range(len(M[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][j] / rows[rank][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), near=st.booleans())
def test_the_rank_of_features_is_exact_or_not_claimed(seed, near):
    """Columns in units 2^k, copies, sums, and copies that differ in the last digits."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (8, 3)).astype(float)
    X[:, 2] = X[:, 0] + X[:, 1]
    if near:
        X[rng.integers(8), 2] *= 1 + 2.0**-50
    X = X * 2.0 ** rng.integers(-60, 61, 3)
    kernel = ua.kernels.TrainingKernel(
        None, X, precomputed=False, strict=False, polynomial=inner_product_kernel("linear", 3)
    )
    found, exact = KernelFeatures.of(kernel, 7), rational_rank(X)
    assert inner_product_kernel("linear", 3).exact_rank(X) == exact
    assert found is None or found.rank == exact
    assert found is not None or near or exact == 0


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("linear", {}),
        ("poly", {"degree": 3, "gamma": 0.7, "coef0": 2.0}),
        ("poly", {"degree": 2, "gamma": 0.7, "coef0": 0.0}),
        ("cosine", {}),
        (DotProduct(1.5) ** 2 + ConstantKernel(0.3) * DotProduct(0.1), {}),
    ],
)
def test_features_have_the_inner_products_of_the_kernel(kernel, options):
    X = np.random.default_rng(0).normal(size=(6, 3))
    F = inner_product_kernel(kernel, 3, **options).features(X)
    K = ua.kernels.gram(kernel, X, **options)
    np.testing.assert_allclose(F @ F.T, K, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{"degree": 2.5}, {"coef0": -1.0}, {"gamma": -1.0}])
def test_a_polynomial_that_has_no_features_is_not_given_any(options):
    assert inner_product_kernel("poly", 2, **{"gamma": 1.0, "degree": 3, **options}) is None


# Unknown rank: no certificate without a free direction.


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "symmetric-exchangeable"])
@pytest.mark.parametrize("how", ["precomputed", "callable"])
@pytest.mark.parametrize("rank", [1, 3, 18])
def test_a_direction_that_is_named_is_free_in_both_senses(noise, how, rank):
    rng = np.random.default_rng(rank)
    X = rng.standard_normal((18, rank))
    y = X[:, 0] + rng.standard_normal(18)
    model = KernelRidge(kernel="precomputed" if how == "precomputed" else float_product, alpha=0.5)
    data = X @ X.T if how == "precomputed" else X
    region = ua.confidence_region(model, data, y, noise=noise, m=20, random_state=rank)
    for level in (0.2, 0.5, 0.9):
        verdict = region.bounded(level)
        band = region.band(data[:3], level)
        if verdict.verdict == "unbounded":
            assert rank == 18
            assert (
                region.reach(verdict.direction, level) > 1e9
            )  # a rounded direction may end, far out
            assert (
                region.reach(-verdict.direction, level) > 1e9
            )  # a rounded direction may end, far out
        else:
            assert band.status is not Status.UNBOUNDED
        if verdict.verdict == "bounded":  # never by a lack of rank that cannot be known
            assert band.status is Status.CERTIFIED


def float_product(a, b):
    return float(a @ b)


# A ball: against the formula of half the size in 40 digits (docs/theory.md 12).


def exact_bound(kernel, X, y, alpha, signs, z, B, q, sense):
    """The q-th largest of max ±f(z) over every set and the ball, for sign changes."""
    n, k = len(X), (lambda a, b: kernel(mp.mpf(float(a)), mp.mpf(float(b))))
    K = mp.matrix([[k(X[i, 0], X[j, 0]) for j in range(n)] for i in range(n)])
    alpha, B, y = mp.mpf(alpha), mp.mpf(B), mp.matrix([float(v) for v in y])
    D = alpha * (K + alpha * mp.eye(n)) ** -1
    residual, own = D * y, k(z, z)
    return sorted(one_set(k, K, D, y, residual, own, X, s, z, B, sense) for s in signs)[-q]


def one_set(k, K, D, y, residual, own, X, signs, z, B, sense):
    J = [j for j in range(len(signs)) if signs[j] < 0]
    if not J:
        return B * mp.sqrt(own)
    take = lambda M: mp.matrix([[M[i, j] for j in J] for i in J])  # noqa: E731
    L, D_J = mp.cholesky(take(K)), take(D)
    y_J, r_J = mp.matrix([y[j] for j in J]), mp.matrix([residual[j] for j in J])
    g = mp.lu_solve(L, mp.matrix([k(z, X[j, 0]) for j in J]))
    power = max(own - (g.T * g)[0], mp.mpf(0))
    omega, U = mp.eigsy(L.T * D_J * L)
    beta, gamma = U.T * (L.T * (D_J * y_J - r_J / 2)), (y_J.T * (D_J * y_J - r_J))[0]
    g = sense * (U.T * g)

    def value(log_theta):
        theta = mp.exp(log_theta)
        W = [1 / (1 + theta * o) for o in omega]
        size = (
            B**2 - theta * gamma + theta**2 * sum(b * b * w for b, w in zip(beta, W, strict=True))
        )
        if size < 0:
            return -mp.inf
        spread = sum(h * h * w for h, w in zip(g, W, strict=True)) + power
        return theta * sum(h * b * w for h, b, w in zip(g, beta, W, strict=True)) + mp.sqrt(
            size * spread
        )

    return min(least(value, mp.mpf(-40), mp.mpf(90)), B * mp.sqrt(own))


def least(value, low, high):
    """The least value of a quasi-convex function, by golden sections: one call for each."""
    share = (mp.sqrt(5) - 1) / 2
    a, b = high - share * (high - low), low + share * (high - low)
    at_a, at_b = value(a), value(b)
    for _ in range(52):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - share * (high - low)
            at_a = value(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + share * (high - low)
            at_b = value(b)
    return min(at_a, at_b)


KERNELS = {
    "rbf": lambda a, b: mp.exp(-((a - b) ** 2) / 2),
    "laplacian": lambda a, b: mp.exp(-abs(a - b) / 2),
}
BALLS = [
    # alpha, B, spread of the inputs, how much wider the band may be
    (0.4, 6.0, 4.0, 1e-8),
    (0.4, 1e6, 4.0, 1e-5),
    (1e-7, 15.0, 4.0, 1e-5),
    (1e-12, 15.0, 4.0, 0.05),
    (1e11, 6.0, 4.0, 1e-8),
    (0.2, 8.0, 0.02, 1e-4),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alpha", "B", "spread", "wider"),
    [("rbf", *ball) for ball in BALLS] + [("laplacian", *ball) for ball in BALLS[2:4]],
)
def test_bounds_in_a_ball_are_never_too_small(name, alpha, B, spread, wider):
    n, m, q = 4, 8, 2
    rng = np.random.default_rng(11)
    X = np.sort(rng.uniform(0, spread, (n, 1)), axis=0)
    y = np.cos(X[:, 0]) + 0.3 * rng.standard_normal(n)
    model = KernelRidge(kernel=name, gamma=0.5, alpha=alpha)
    region = ua.confidence_region(model, X, y, m=m, random_state=2)
    signs = region.perturbations.apply(np.ones(n))
    Z = np.array([X[2] + 3e-9, [0.37 * spread]])
    band = region.band(Z, 1 - q / m, norm_bound=B)
    assert band.status is Status.CERTIFIED
    with mp.workdps(40):
        for j, z in enumerate(Z[:, 0]):
            parts = KERNELS[name], X, y, alpha, signs, z, B, q
            up, down = exact_bound(*parts, 1), exact_bound(*parts, -1)
            width = up + down
            assert 0 <= band.upper[j] - up < wider * width
            assert 0 <= -down - band.lower[j] < wider * width


@pytest.mark.parametrize("step", [3e-9, 1.2e-8, 2e-8, 5e-8])
def test_a_function_that_bends_next_to_an_input_stays_inside(step):
    """The power function there is below the root of rounding, but B = 1e6 is large."""
    X = np.array([[0.0], [7.0], [15.0], [24.0]])
    y = 1e-5 * np.array([0.3, -1.0, 0.8, 0.1])
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=1.0)
    region = ua.confidence_region(model, X, y, m=10, random_state=0)
    z, B = X[1, 0] + step, 1e6
    band = region.band([[z]], 0.1, norm_bound=B)
    with mp.workdps(60):
        points = [mp.mpf(float(x)) for x in X[:, 0]]
        k = mp.matrix([KERNELS["rbf"](mp.mpf(z), a) for a in points])
        K = mp.matrix([[KERNELS["rbf"](a, b) for b in points] for a in points])
        power = float(mp.sqrt(1 - (k.T * mp.lu_solve(K, k))[0]))
    # The estimate plus a function that vanishes at all inputs is a member.
    free = 0.99 * B * power
    assert free > 1e-3
    assert band.lower[0] <= band.estimate[0] - free
    assert band.estimate[0] + free <= band.upper[0]


# Units


@pytest.mark.slow
@pytest.mark.parametrize("power", [-560, 480])
def test_a_ball_has_no_unit(power):
    X, y, _ = ua.datasets.sine(n=10, random_state=3)
    K = np.exp(-((X - X.T) ** 2) / 2)
    model = KernelRidge(kernel="precomputed", alpha=0.5)
    plain = ua.confidence_region(model, K, y, m=20, random_state=3)
    scaled = ua.confidence_region(model, K, y * 2.0**power, m=20, random_state=3)
    one = plain.band(K, 0.7, norm_bound=9.0, target="representation")
    two = scaled.band(K, 0.7, norm_bound=9.0 * 2.0**power, target="representation")
    np.testing.assert_allclose(two.upper / 2.0**power, one.upper, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("power", [-640, 640])
def test_a_kernel_has_no_unit(power):
    X, y, _ = ua.datasets.sine(n=10, random_state=4)
    K = np.exp(-((X - X.T) ** 2) / 2)
    plain, scaled = (
        ua.confidence_region(
            KernelRidge(0.5 * s, kernel="precomputed"), K * s, y, m=20, random_state=4
        )
        for s in (1.0, 2.0**power)
    )
    np.testing.assert_allclose(scaled.estimate * 2.0**power, plain.estimate, rtol=1e-9)
    for share in (0.5, 0.8, 1.5):
        assert plain.rank(share * plain.estimate) == scaled.rank(share * scaled.estimate)
    one = plain.band(K, 0.7, norm_bound=9.0, target="representation")
    two = scaled.band(
        K * 2.0**power, 0.7, norm_bound=9.0 / 2.0 ** (power / 2), target="representation"
    )
    np.testing.assert_allclose(two.upper, one.upper, rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-12, 1e-9, 1.0])
def test_a_small_penalty_does_not_take_the_estimate_out_of_its_region(alpha):
    rng = np.random.default_rng(5)
    X, y = rng.uniform(0, 3, (20, 2)), rng.standard_normal(20)
    for kernel in ("linear", "poly"):
        region = ua.confidence_region(KernelRidge(kernel=kernel, alpha=alpha), X, y, random_state=5)
        assert region.rank(region.estimate) == 1


def test_a_penalty_that_rounding_hides_is_refused():
    X, y, _ = ua.datasets.sine(n=10, random_state=0)
    with pytest.raises(ValueError, match=r"^alpha is too small .* given 1e-18\. Use a larger"):
        ua.confidence_region(KernelRidge(kernel="rbf", alpha=1e-18), X, y)


@pytest.mark.parametrize("unit", [1e170, 1e-170])
def test_kernel_values_beyond_double_precision_are_refused(unit):
    X, y, _ = ua.datasets.sine(n=10, random_state=0)
    with pytest.raises(
        ValueError, match=r"^the kernel matrix is beyond double .* Rescale the inputs"
    ):
        ua.confidence_region(KernelRidge(kernel="linear"), X * unit, y)


# Kernels of full rank between the inputs: a value there is a combination of fitted values.


def gaussian(gamma, alpha, n, **options):
    """A region, its inputs and its outputs."""
    x = np.linspace(0, 1, n)
    y = np.cos(4 * x) + 0.1 * np.random.default_rng(5).standard_normal(n)
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha)
    return ua.confidence_region(model, x[:, None], y, random_state=3, **options), x, y


def largest_value(region, x, y, gamma, alpha, z):
    """The largest f(z) over the union of all sets, with 100 digits (docs/theory.md 4)."""
    n, points = len(x), [mp.mpf(float(t)) for t in x]
    K = mp.matrix([[mp.exp(-gamma * (s - t) ** 2) for t in points] for s in points])
    weights = mp.lu_solve(K, mp.matrix([mp.exp(-gamma * (mp.mpf(z) - t) ** 2) for t in points]))
    D = alpha * (K + alpha * mp.eye(n)) ** -1
    y = mp.matrix(y.tolist())
    r, found = D * y, []
    for G in np.moveaxis(region.perturbations.apply(np.eye(n)), 0, 2):
        E = mp.matrix(G.tolist()) - mp.eye(n)
        A, Er = E.T * D * E, E * r
        b, c = E.T * (D * Er + r), (Er.T * (Er - D * Er))[0]
        centre, across = mp.lu_solve(A, b), mp.lu_solve(A, weights)
        half = mp.sqrt((c + (b.T * centre)[0]) * (weights.T * across)[0])
        found.append((weights.T * (y - r + centre))[0] + half)
    return max(found)


@pytest.mark.parametrize("gamma", [0.7, 12.0])
@pytest.mark.parametrize("z", [2e-9, 0.06, 0.41])
def test_a_band_between_the_inputs_allows_for_a_nearly_singular_kernel_matrix(gamma, z):
    region, x, y = gaussian(gamma, 0.1, 10, noise="spherical", m=4)
    band = region.band([[z]], level=0.75)
    with mp.workdps(100):
        assert band.upper[0] >= largest_value(region, x, y, gamma, mp.mpf(0.1), z)
    assert (band.status is Status.CERTIFIED) == (gamma == 12.0)


def test_a_value_next_to_an_input_depends_on_all_fitted_values():
    region, x, _ = gaussian(2000.0, 0.1, 8, m=40)
    still = (region.perturbations.apply(np.ones(8)) > 0).sum(axis=0)
    i, q = int(still.argmin()), int(still.max())
    assert still[i] < q
    z = x[i] + (1e-3 if i < 7 else -1e-3)
    band = region.band([[x[i]], [z]], level=1 - q / 40)
    # Some other fitted value is free in q sets, and f(z) depends on it, if only by 1e-50 or so.
    assert np.isfinite(band.upper).tolist() == [True, False]
