"""Bounds of features of any scale, against the sets in 120 digits: certified bounds hold them."""

import mpmath as mp
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from speed import slow_but
from unassuming.regions._results import Status

M, Q = 20, 4
LEVEL = 1 - Q / M
KINDS = [
    "plain",
    "columns",
    "rows",
    "columns and rows",
    "sentinel",
    "sentinels",
    "weights",
    "powers",
    "years",
    "collinear",
    "outputs",
    "offset",
]


def data(kind, rng):
    """Return a design, outputs and weights on bad scales."""
    n, d = int(rng.integers(8, 14)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    y, w = X.sum(axis=1) + rng.normal(size=n), np.ones(n)
    if "columns" in kind:
        X = X * 2.0 ** rng.integers(-60, 61, d)
    if "rows" in kind:
        X = X * 2.0 ** rng.integers(-40, 41, (n, 1))
    for _ in range(1 if kind == "sentinel" else 3 * (kind == "sentinels")):
        X[rng.integers(n), rng.integers(d)] = 10.0 ** rng.integers(4, 19)
    if kind == "weights":
        w = 10.0 ** rng.uniform(-20, 0, n)
    if kind == "powers":
        X = np.vander(np.sort(rng.uniform(0, 10, n)), d + 2)[:, :-1]
    if kind == "years":
        X = np.vander(1950.0 + np.arange(n), min(d, 2) + 1)[:, :-1]
    if kind == "collinear" and d > 1:
        X[:, 1] = X[:, 0] + 10.0 ** -rng.uniform(1, 12) * X[:, 1]
    if kind == "outputs":
        y = y * 10.0 ** rng.uniform(-150, 100)
    if kind == "offset":
        X = X + 10.0 ** rng.uniform(0, 9)
    return X, y, w


def exact(matrix):
    """Return an array as mpmath's matrix."""
    return mp.matrix(np.asarray(matrix, dtype=float).tolist())


def plain_bounds(region, Phi, y, w, n_lam, g, fit):
    """Return the q-th largest bounds of gᵀa over the sets, from normal equations in 120 digits.

    With ``fit`` the first column is that of an intercept, free in sets that do not move a constant.
    """
    n = len(Phi)
    F, gv = exact(Phi), exact(g[:, None])
    W = mp.diag([mp.mpf(float(v)) for v in w])
    penalty = mp.diag([mp.mpf(float(v)) for v in n_lam])
    inverse = (F.T * W * F + penalty) ** -1
    a = inverse * (F.T * W * exact(y[:, None]))
    r = exact(y[:, None]) - F * a
    up, down = [], []
    images = region.perturbations.apply(np.eye(n))
    wins = region.tie_order[1:] > region.tie_order[0]
    for i in range(M - 1):
        G = images[:, i, :].T
        if (np.eye(n) == G).all() or (not n_lam.any() and (-np.eye(n) == G).all()):
            up.append(mp.inf if wins[i] else -mp.inf)
            down.append(up[-1])
            continue
        E = exact(G) - mp.eye(n)
        K, u = F.T * W * E * F, F.T * W * E * r
        A, b = -(K.T * inverse * K + K + K.T), -(K.T * inverse * u + u)
        c, at = (u.T * inverse * u)[0], gv
        if fit and not g[0] and np.ptp(G.sum(axis=1)) == 0:
            A, b, at = A[1:, 1:], b[1:, 0], gv[1:, 0]
        size = mp.mpf(1)
        for j in range(A.rows):
            size *= abs(A[j, j])
        if abs(mp.det(A)) <= mp.mpf(10) ** -100 * size:
            up.append(mp.inf)
            down.append(mp.inf)
            continue
        x, v = mp.lu_solve(A, b), mp.lu_solve(A, at)
        half = mp.sqrt(max((c + (b.T * x)[0]) * (at.T * v)[0], 0))
        up.append((at.T * x)[0] + half)
        down.append(half - (at.T * x)[0])
    middle = (gv.T * a)[0]
    return middle - sorted(down)[-Q], middle + sorted(up)[-Q]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", slow_but(range(2), 0))
@pytest.mark.parametrize("kind", KINDS)
def test_certified_bounds_hold_the_sets_in_many_digits(kind, seed):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    X, y, w = data(kind, rng)
    n, d = X.shape
    alpha, fit = float(rng.choice([0.0, 0.0, 1.0, 1e-3])), bool(rng.integers(2))
    noises = ["symmetric", "symmetric", "exchangeable", "symmetric-exchangeable"]
    noise = "symmetric" if kind == "weights" else str(rng.choice(noises))
    model = Ridge(alpha, fit_intercept=fit) if alpha else LinearRegression(fit_intercept=fit)
    region = ua.confidence_region(model, X, y, sample_weight=w, noise=noise, m=M, random_state=seed)
    Phi = np.column_stack([np.ones(n), X]) if fit else X
    shift = fit and noise == "exchangeable"
    g = rng.normal(size=Phi.shape[1]) / np.abs(Phi).max(axis=0)
    if seed % 2 or shift:
        g = np.eye(Phi.shape[1])[-1]
    found = region.interval(g, level=LEVEL)
    n_lam = n * region.objective.lam * np.repeat([0.0, 1.0], [int(fit), d])
    with mp.workdps(120):
        low, high = plain_bounds(region, Phi, y, w, n_lam, g, fit)
        lower, upper = (mp.mpf(float(np.ravel(end)[0])) for end in (found.lower, found.upper))
        assert lower <= low
        assert upper >= high
        if found.status is Status.CERTIFIED and kind in ("plain", "powers", "years", "outputs"):
            assert upper - lower <= (high - low) * (1 + mp.mpf(10) ** -7)
        if mp.isinf(low) or mp.isinf(high):
            assert found.status is not Status.CERTIFIED


def sentinel(size=3e11, n=36):
    rng = np.random.default_rng(1)
    x2 = rng.normal(size=n)
    x1 = x2 + 0.1 * rng.normal(size=n)
    x1[5], x2[5] = 0.0, size
    X = np.column_stack([x1, x2])
    return X, x1 + rng.normal(size=n)


@pytest.mark.slow
def test_a_sentinel_does_not_shrink_an_interval():
    X, y = sentinel()
    region = ua.confidence_region(LinearRegression(), X, y, random_state=1)
    without = ua.confidence_region(LinearRegression(), *(np.delete(v, 5, 0) for v in (X, y)))
    found, honest = region.interval("x0"), without.interval("x0")
    assert found.status is Status.CERTIFIED
    width = (found.upper - found.lower)[0] / (honest.upper - honest.lower)[0]
    assert 0.5 < width < 2


def test_one_large_cell_does_not_make_a_region_unbounded():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(36, 2))
    X[4] = [0, 3e8]
    y = X[:, 0] + rng.normal(size=36)
    region = ua.confidence_region(LinearRegression(fit_intercept=False), X, y, random_state=0)
    assert region.bounded(0.9).verdict == "bounded"
    assert region.bounded(0.9).direction is None
    assert np.isfinite(region.ellipsoid(0.9).squared_radius)


@pytest.mark.parametrize("scale", [2.0**-560, 2.0**330])
def test_outputs_of_any_scale_have_the_same_bounds(scale):
    X, y, _ = ua.datasets.linear(n=30, d=2, random_state=4)
    one, two = (ua.confidence_region(Ridge(0.7), X, s * y, random_state=0) for s in (1.0, scale))
    a, b = one.interval(level=0.9), two.interval(level=0.9)
    np.testing.assert_allclose(b.lower / scale, a.lower, rtol=1e-11)
    np.testing.assert_allclose(b.upper / scale, a.upper, rtol=1e-11)
    v = np.array([0.3, -1.0, 2.0])
    assert two.reach(v, 0.9) / scale == pytest.approx(one.reach(v, 0.9), rel=1e-11)
    np.testing.assert_allclose(
        two.crossings(v, level=0.9) / scale, one.crossings(v, level=0.9), rtol=1e-11
    )
    inner = two.interval("x0", level=0.9, inner=True)
    assert inner.inner_upper[0] > 0.7 * (b.upper[1] - b.estimate[1]) + b.estimate[1]


@pytest.mark.parametrize("scale", [2.0**-530, 2.0**530])
def test_inputs_of_any_scale_have_the_same_bounds(scale):
    X, y, _ = ua.datasets.linear(n=30, d=2, random_state=5)
    one, two = (
        ua.confidence_region(LinearRegression(), s * X, y, random_state=0) for s in (1.0, scale)
    )
    a, b = (region.interval(["x0", "x1"], level=0.9) for region in (one, two))
    np.testing.assert_allclose(b.lower * scale, a.lower, rtol=1e-11)
    np.testing.assert_allclose(b.upper * scale, a.upper, rtol=1e-11)


def test_weights_are_compared_row_by_row():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(16, 1)), np.ones(16)
    w[8::2], w[9::2] = 3e-21, 5e-21
    y = X[:, 0] + rng.normal(size=16)

    def region(weights):
        model, noise = LinearRegression(fit_intercept=False), ua.noise.ExchangeableWithin(2)
        return ua.confidence_region(model, X, y, sample_weight=weights, noise=noise, random_state=0)

    with pytest.raises(ua.NotAvailable, match="mixes rows of different weight"):
        region(w).interval()
    w[8:] = 3e-21
    assert region(w).interval(level=0.5).lower < region(w).estimate


@pytest.mark.slow_but_first
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1.0)], ids=str)
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_a_verdict_of_unboundedness_names_a_direction_without_end(model, noise):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=24), np.arange(24) < 2])
    y = X[:, 0] + rng.normal(size=24)
    region = ua.confidence_region(model, X, y, noise=noise, random_state=0)
    found = region.bounded(0.9)
    assert found.verdict == "unbounded"
    for sense in (1, -1):
        assert region.reach(sense * found.direction, 0.9) == np.inf
        for far in (1e3, 1e6):
            assert region.contains(region.estimate + sense * far * found.direction, 0.9)


def test_digits_that_double_precision_lacks_are_computed_or_not_certified():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    # A difference of the columns in the last bit of some rows only.
    X[:, 1] = np.where(np.arange(10) < 5, np.nextafter(X[:, 0], 9), X[:, 0])
    X[0] *= [1.0, 1e30]
    y = X[:, 0] + rng.normal(size=10)
    region = ua.confidence_region(LinearRegression(fit_intercept=False), X, y, m=20, random_state=0)
    found = region.interval("x0", level=0.9)
    # Columns that differ in the last bit determine their coefficients up to 1e16.
    assert found.status is not Status.CERTIFIED or found.upper[0] - found.lower[0] > 1e15
