"""One cell that exceeds all others: lines, bounds and verdicts against rational arithmetic."""

from decimal import Decimal

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from exact_sets import INFINITE, ExactSets
from speed import slow_but

N, M, LEVEL, Q = 60, 20, 0.9, 2
ROW = 7
CELLS = (1e8, -1e15, 1e50, 1e130, -1e160, 1e200, 1e290)
MODELS = {
    "least squares": LinearRegression(),
    "no intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(3.0),
}
NOISES = {
    "signs": ua.noise.Symmetric(),
    "block signs": ua.noise.BlockSymmetric(np.arange(N) // 5),
    "permutations": ua.noise.Exchangeable(),
    "permutations within": ua.noise.ExchangeableWithin(6),
    "both": ua.noise.SymmetricExchangeable(),
}


def data(cell, n=N, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ np.arange(1.0, d + 1) + rng.laplace(size=n)
    X[ROW, 0] = cell
    return X, y


def regions(X, y, model, noise, m=M, seed=1):
    region = ua.confidence_region(model, X, y, noise=noise, m=m, random_state=seed)
    Phi = np.column_stack([np.ones(len(y)), X]) if model.fit_intercept else X
    penalised = [j >= model.fit_intercept for j in range(Phi.shape[1])]
    alpha = getattr(model, "alpha", 0.0)
    return region, ExactSets(Phi, y, alpha, penalised, region.perturbations)


def assert_exact(region, exact):
    d = len(region.estimate)
    found = region.interval(level=LEVEL)
    for one, low, high in zip(np.eye(d), found.lower, found.upper, strict=True):
        lower, upper = exact.bounds(one, Q)
        assert (high == np.inf) == (upper == INFINITE)
        assert Decimal(float(low)) <= lower
        assert Decimal(float(high)) >= upper
        if np.isfinite(high):
            assert float(high - low) == pytest.approx(float(upper - lower), rel=1e-3)
    unbounded = max(exact.never_ends(one) for one in np.eye(d)) >= Q
    assert region.bounded(LEVEL).verdict == ("unbounded" if unbounded else "bounded")
    for direction in (*np.eye(d), -np.eye(d)[-2], np.arange(1.0, d + 1)):
        expected = float(exact.reach(region.estimate, direction, Q))
        reach = region.reach(direction, level=LEVEL)
        assert reach == pytest.approx(expected, rel=1e-6)
        assert region.crossings(direction, level=LEVEL)[-1][1] == pytest.approx(reach, rel=1e-6)


CASES = [
    (tuple(MODELS)[(i + j) % len(MODELS)], noise, cell)
    for i, noise in enumerate(NOISES)
    for j, cell in enumerate(CELLS)
]
"""Every noise with every cell, and both with every model."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", slow_but(CASES, *(case for case in CASES if case[2] == 1e200)))
def test_lines_bounds_and_verdicts_are_exact(case):
    model, noise, cell = case
    assert_exact(*regions(*data(cell), MODELS[model], NOISES[noise]))
