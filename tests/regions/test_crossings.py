"""Crossings of piecewise regions agree with membership everywhere along the line."""

import numpy as np
import pytest
from mpmath import lu_solve, matrix, mpf, workdps
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import oracles
import unassuming as ua
from speed import slow_but

M = 20
KERNEL = {"kernel": "rbf", "gamma": 0.5}
digits = np.frompyfunc(lambda x: mpf(float(x)), 1, 1)


def dual(n, seed):
    return ua.datasets.sine(n=n, noise="laplace", random_state=seed)[:2]


def primal(n, seed):
    X, y, _ = ua.datasets.linear(n=n, d=4, noise="laplace", random_state=seed)
    return X, y


MODELS = {
    "SVR": (SVR(C=2.0, epsilon=0.3, **KERNEL), dual, {}),
    "SVR, identity": (SVR(C=2.0, epsilon=0.3, **KERNEL), dual, {"weighting": "identity"}),
    "kernel LASSO": (ua.KernelLasso(alpha=1.0, **KERNEL), dual, {}),
    "kernel Huber": (ua.KernelHuber(alpha=1.0, delta=0.5, **KERNEL), dual, {}),
}


def face(region):
    """Which coefficients of the estimate are free to move: neither zero nor at the box."""
    free = region.estimate != 0
    if isinstance(region.objective, ua.objectives.SVRObjective):
        free[1:] &= np.abs(region.estimate[1:]) != region.objective.C
    return free


def lines(region, count, rng, *, along_face):
    """Through the estimate, and every other one through a point near it."""
    directions = rng.normal(size=(count, region.objective.d))
    away = 0.2 * rng.normal(size=directions.shape) * (np.arange(count) % 2)[:, None]
    free = face(region) if along_face else np.ones(region.objective.d, dtype=bool)
    return region.estimate + away * free, directions * free


def points(spans, rng, count=60):
    """Points all along the line, and just inside and outside every end."""
    ends = spans[np.isfinite(spans)]
    size = np.abs(ends).max(initial=1e-3)
    near = 1.01e-9 * np.maximum(1, np.abs(ends))
    t = np.concatenate([rng.uniform(-1.5, 1.5, count) * size, ends - near, ends + near])
    apart = np.abs(t[:, None] - ends) >= 1e-9 * np.maximum(1, np.abs(ends))
    return t[apart.all(axis=1)]


def inside(spans, t):
    return ((spans[:, 0] <= t[:, None]) & (t[:, None] <= spans[:, 1])).any(axis=1)


def check_scans(region, origins, directions, rng):
    """Compare with the rank at every point; where rounding ties it, with the exact rank."""
    q = rng.integers(1, M, size=len(directions))
    ts, claims, rows = [], [], []
    for j, (o, d) in enumerate(zip(origins, directions, strict=True)):
        spans = region.crossings(d, 1 - q[j] / M, origin=o)
        assert (spans[:, 0] <= spans[:, 1]).all()
        assert (spans[1:, 0] > spans[:-1, 1]).all()
        t = points(spans, rng)
        ts.append(t)
        claims.append(inside(spans, t))
        rows.append(np.full(len(t), j))
    t, claim, row = map(np.concatenate, (ts, claims, rows))
    member = region.rank(origins[row] + t[:, None] * directions[row]) <= M - q[row]
    wrong = np.flatnonzero(member != claim)
    assert len(wrong) <= max(5, 0.001 * len(t))  # points where the library's own comparison ties
    for k in wrong:
        rank = exact_rank(region, origins[row[k]], directions[row[k]], t[k])
        assert (rank <= M - q[row[k]]) == claim[k]
    return claim.mean()


def exact_rank(region, o, d, t):
    """The rank of o + t d by the formulas of theory 5 to 7, in 60 digits."""
    with workdps(60):
        Z = many_digits(region, digits(o) + mpf(float(t)) * digits(d))
        pi, near = region.tie_order, mpf(10) ** -40
        before = 0
        for i, z in enumerate(Z[1:], start=1):
            tied = abs(z - Z[0]) <= near * abs(Z[0])
            before += pi[i] < pi[0] if tied else z < Z[0]
        return 1 + before


def many_digits(region, a):
    o = region.objective
    r = digits(o.y) - digits(o.design.matrix).dot(a)
    order = region.perturbations.apply(np.arange(1.0, region.n + 1)).astype(int)  # ±(row + 1)
    images = np.vstack([r, r[abs(order) - 1] * np.sign(order)])
    if isinstance(o, ua.objectives.KernelHuberObjective):
        K = digits(o.K)
        H = matrix((K.dot(K) / o.n + o.lam * K).tolist())
        psi = np.clip(images, -mpf(o.delta), mpf(o.delta))
        G = psi.dot(K) / o.n - mpf(o.lam) * K.dot(a)
        return [g.dot(np.array(list(lu_solve(H, matrix(g.tolist()))))) for g in G]
    if isinstance(o, ua.objectives.SVRObjective):
        rules = [least_of_svr(c, mpf(o.epsilon), o.C) for c in a[1:]]
        G = [np.array([f(u) for f, u in zip(rules, image, strict=True)]) for image in images]
        K = digits(o.kernel.K)
        return [g.dot(g if region.weighting == "identity" else K.dot(g)) for g in G]
    U, p = images.dot(digits(o.c * o.design.matrix)), digits(o.penalty)
    G = np.where(a > 0, U - p, np.where(a < 0, U + p, U - np.clip(U, -p, p)))
    return [g.dot(g) for g in G]


def least_of_svr(a, epsilon, C):
    """Minus the least-norm subgradient of one dual coefficient, as a function of its residual."""
    if a == C:
        return lambda u: min(u - epsilon, 0)
    if a == -C:
        return lambda u: max(u + epsilon, 0)
    if a == 0:
        return lambda u: u - max(min(u, epsilon), -epsilon)
    return lambda u: u - epsilon if a > 0 else u + epsilon


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", slow_but(["symmetric", "exchangeable"], "symmetric"))
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("n", "seed"), [(8, 1), pytest.param(15, 3, marks=pytest.mark.slow)])
def test_dense_scans_of_membership_agree_with_crossings(name, noise, n, seed):
    estimator, data, options = MODELS[name]
    region = ua.confidence_region(
        estimator, *data(n, seed), noise=noise, m=M, random_state=seed, **options
    )
    assert region.exact_crossings
    assert name == "kernel Huber" or not face(region).all()
    rng = np.random.default_rng(seed)
    share = check_scans(region, *lines(region, 10, rng, along_face=False), rng)
    assert 0.1 < share < 0.95
    share = check_scans(region, *lines(region, 6, rng, along_face=True), rng)
    assert 0.1 < share < 0.95


OTHERS = {
    "kernel LASSO, matrix": (
        MODELS["kernel LASSO"][0],
        dual,
        {"weighting": np.random.default_rng(0).normal(size=(5, 10))},
    ),
    "kernel LASSO, gram": (MODELS["kernel LASSO"][0], dual, {"weighting": "gram"}),
    "SVR, matrix": (
        MODELS["SVR"][0],
        dual,
        {"weighting": np.random.default_rng(1).normal(size=(12, 10))},
    ),
    "Lasso with an intercept": (Lasso(alpha=0.3), primal, {}),
    "Lasso, hessian": (Lasso(alpha=0.3), primal, {"weighting": "hessian"}),
    "kernel ridge, gram": (KernelRidge(alpha=1.0, **KERNEL), dual, {"weighting": "gram"}),
    "ridge, identity": (Ridge(alpha=1.0), primal, {"weighting": "identity"}),
    "kernel Huber, identity": (MODELS["kernel Huber"][0], dual, {"weighting": "identity"}),
}
EVERY_NOISE = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", slow_but(EVERY_NOISE, "symmetric", "exchangeable"))
@pytest.mark.parametrize("name", OTHERS)
def test_scans_agree_for_any_weighting_and_noise(name, noise):
    estimator, data, options = OTHERS[name]
    region = ua.confidence_region(
        estimator, *data(10, 4), noise=noise, m=M, random_state=1, **options
    )
    assert region.exact_crossings
    rng = np.random.default_rng(5)
    for along_face in (False, True):
        scan_loosely(region, *lines(region, 4, rng, along_face=along_face), rng)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", MODELS)
def test_scans_agree_under_rotations(name):
    estimator, data, options = MODELS[name]
    region = ua.confidence_region(
        estimator, *data(10, 4), noise="spherical", m=M, random_state=1, **options
    )
    rng = np.random.default_rng(6)
    for along_face in (False, True):
        scan_loosely(region, *lines(region, 8, rng, along_face=along_face), rng)


def scan_loosely(region, origins, directions, rng):
    """As `check_scans`, farther from the ends than the library's comparison ties."""
    for o, d in zip(origins, directions, strict=True):
        q = int(rng.integers(1, M))
        spans = region.crossings(d, 1 - q / M, origin=o)
        t, ends = points(spans, rng), spans[np.isfinite(spans)]
        size = 1e-7 * np.maximum(1, np.abs(ends))
        t = np.concatenate([t, ends - 2 * size, ends + 2 * size])
        t = t[(np.abs(t[:, None] - ends) > size).all(axis=1)]
        member = region.rank(o + t[:, None] * d) <= M - q
        np.testing.assert_array_equal(member, inside(spans, t))


# --- the same region by two ways ------------------------------------------------------------------


def hessian_root(region):
    """H^{-1/2} as a plain matrix."""
    o = region.objective
    H = o.design.matrix.T @ o.design.matrix / o.n + o.lam * o.design.penalty_matrix()
    return oracles.inverse_root(H)


def twins(noise):
    """Pairs of regions that are equal, one of them with closed-form crossings."""
    options = {"noise": noise, "m": M, "random_state": 1}
    X, y = primal(15, 2)
    ridge = ua.confidence_region(Ridge(), X, y, **options)
    yield ridge, ua.confidence_region(Ridge(), X, y, weighting=hessian_root(ridge), **options)
    least_squares = ua.confidence_region(LinearRegression(), X, y, **options)
    lasso = ua.confidence_region(Lasso(alpha=0.0), X, y, weighting="hessian", **options)
    yield least_squares, lasso
    X, y = dual(12, 1)
    kernel = ua.confidence_region(KernelRidge(alpha=1.0, **KERNEL), X, y, **options)
    huber = ua.KernelHuber(alpha=1.0, delta=1e5, **KERNEL)
    yield kernel, ua.confidence_region(huber, X, y, **options)


@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_crossings_are_those_of_the_quadratic_region_where_both_are_the_same(noise):
    rng = np.random.default_rng(0)
    for closed_form, piecewise in twins(noise):
        for q in (1, 4, 10, 16):
            d = rng.normal(size=closed_form.objective.d)
            origin = closed_form.estimate + 0.1 * rng.normal(size=len(d)) * (q % 2)
            expected = closed_form.crossings(d, 1 - q / M, origin=origin)
            found = piecewise.crossings(d, 1 - q / M, origin=origin)
            near = found[np.abs(found).min(axis=1) < 1e3]  # beyond, Huber's threshold matters
            np.testing.assert_allclose(
                np.clip(near, -1e3, 1e3), np.clip(expected, -1e3, 1e3), rtol=1e-9
            )


def test_levels_are_nested_and_asked_for_together():
    estimator, data, _ = MODELS["SVR"]
    region = ua.confidence_region(estimator, *data(12, 2), m=M, random_state=0)
    d = np.random.default_rng(1).normal(size=13)
    found = region.crossings(d, [0.5, 0.9])
    assert list(found) == [0.5, 0.9]
    for level, spans in found.items():
        np.testing.assert_array_equal(spans, region.crossings(d, level))
    assert inside(found[0.9], found[0.5].ravel()).all()


def test_a_direction_may_have_any_length():
    estimator, data, _ = MODELS["kernel LASSO"]
    region = ua.confidence_region(estimator, *data(12, 2), m=M, random_state=0)
    d = np.random.default_rng(1).normal(size=12)
    spans = region.crossings(d, level=0.9)
    for length in (1e-12, 7.0, 1e12):
        np.testing.assert_allclose(
            region.crossings(length * d, level=0.9) * length, spans, rtol=1e-12
        )


# --- reach -------------------------------------------------------------------------------------


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", MODELS)
def test_reach_is_the_end_of_the_interval_around_the_estimate(name):
    estimator, data, options = MODELS[name]
    region = ua.confidence_region(estimator, *data(12, 2), m=M, random_state=0, **options)
    rng = np.random.default_rng(3)
    directions = np.concatenate([lines(region, 3, rng, along_face=f)[1] for f in (False, True)])
    every = region.reach(directions, None)
    assert every.shape == (6, M - 1)
    assert (every[:, 1:] <= every[:, :-1]).all()
    np.testing.assert_allclose(region.reach(directions, 0.9), every[:, 1], rtol=1e-12)
    for d, reach in zip(directions, every, strict=True):
        for q in (1, 2, 10, 19):
            spans = region.crossings(d, 1 - q / M)
            [around] = spans[(spans[:, 0] <= 0) & (spans[:, 1] >= 0)]
            assert reach[q - 1] == pytest.approx(around[1], rel=1e-12)


# --- approximate crossings ----------------------------------------------------------------------


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
    region = ua.confidence_region(MyEstimator(), np.ones((12, 1)), y, m=M, random_state=0)
    assert not region.exact_crossings
    assert "approximate" in str(region)
    spans = region.crossings([1.0], 0.8, origin=[0.0])
    [[low, high]] = spans
    t = np.concatenate([np.linspace(-3, 3, 601), [low, high, low - 1e-9, high + 1e-9]])
    np.testing.assert_array_equal(region.contains(t[:, None], 0.8), inside(spans, t))


def test_an_objective_without_a_minimum_asks_for_an_origin():
    ua.register_objective(MyEstimator, lambda estimator, X, y, w: Quartic(y))
    region = ua.confidence_region(MyEstimator(), np.ones((6, 1)), np.arange(6.0), m=M)
    with pytest.raises(ua.NotAvailable, match="point estimate"):
        region.crossings([1.0], level=0.9)


def test_what_never_ends_on_the_grid_counts_as_unbounded():
    """A constant shift is never seen by permutations."""
    X, y = primal(12, 0)
    region = ua.confidence_region(HuberRegressor(), X, y, noise="exchangeable", m=M, random_state=0)
    assert not region.exact_crossings
    shift = np.array([1.0, 0, 0, 0, 0])
    np.testing.assert_array_equal(region.crossings(shift, 0.9), [[-np.inf, np.inf]])


@pytest.mark.parametrize("model", [LinearRegression(), Lasso(0.1)])
def test_many_lines_at_once_are_those_one_by_one(model):
    X, y, _ = ua.datasets.linear(n=30, d=2, random_state=0)
    region = ua.confidence_region(model, X, y, random_state=0, m=100)
    directions = np.random.default_rng(0).normal(size=(5, 3))
    origin = region.estimate + 0.1
    several = region.crossings(directions, level=[0.5, 0.9], origin=origin)
    assert list(several) == [0.5, 0.9]
    for level, spans in several.items():
        assert len(spans) == 5
        for direction, found in zip(directions, spans, strict=True):
            alone = region.crossings(direction, level=level, origin=origin)
            np.testing.assert_allclose(found, alone, rtol=1e-9)
