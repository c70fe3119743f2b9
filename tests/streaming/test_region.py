"""The region of a stream: that of all rows in memory with the same characters."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import hadamard
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from in_memory import in_memory, intervals, near, streamed, table
from unassuming import NotAvailable
from unassuming.cells.estimates import fits
from unassuming.cells.theorem import balanced_band, sigma
from unassuming.streaming import ledger

MODELS = [LinearRegression(), Ridge(20.0), LinearRegression(fit_intercept=False)]


@pytest.mark.parametrize("model", MODELS, ids=["least squares", "ridge", "through zero"])
@pytest.mark.parametrize("kind", ["normal", "years", "dummies", "celsius and fahrenheit", "grid"])
@pytest.mark.parametrize("n", [40, 3000])
def test_ranks_and_intervals_are_those_in_memory(kind, model, n):
    rng = np.random.default_rng(n)
    X, y = table(kind, n, rng)
    w = rng.integers(1, 4, n) * 1.0 if kind == "normal" else None
    region = streamed(X, y, model, (n // 3,), w).region()
    memory = in_memory(region, model, X, y, w)
    a = near(memory, 20, rng)
    if kind == "grid":  # many residuals are zero, and statistics tie
        a = np.vstack([a, np.r_[np.zeros(a.shape[1] - 3), 1.0, -1.0, 0.0]])
    ranks = memory.rank(a)
    assert region._engine.rank(a).tolist() == ranks.tolist()
    assert ranks[0] == 1
    assert len(set(ranks.tolist())) > 10
    assert region._engine.statistics(a) == pytest.approx(memory.statistics(a), rel=1e-8, abs=1e-12)
    mine, theirs = intervals(region._engine), intervals(memory)
    assert np.isfinite(theirs).all() or n == 40 or kind in ("dummies", "celsius and fahrenheit")
    assert mine == pytest.approx(theirs, rel=1e-7)


def test_many_leaves_whose_columns_drift_are_those_in_memory():
    rng, n = np.random.default_rng(0), 70_000
    X = rng.normal(size=(n, 2))
    X[:, 0] += 1e4 + np.arange(n) / 1000  # no two leaves are near the same point
    y = 5e3 + X @ [1.0, -1.0] + rng.laplace(size=n)
    region = streamed(X, y, LinearRegression(), m=16).region()
    memory = in_memory(region, LinearRegression(), X, y)
    a = near(memory, 30, rng)
    assert region._engine.rank(a).tolist() == memory.rank(a).tolist()
    assert intervals(region._engine, 1) == pytest.approx(intervals(memory, 1), rel=1e-7)
    assert len(region.objective.y) == 15 * 4


@pytest.mark.parametrize(
    ("n", "model", "m"),
    [(2, Ridge(), 4), (3, Ridge(), 8), (3, LinearRegression(), 4), (9, LinearRegression(), 128)],
)
def test_few_rows_have_the_signs_that_differ(n, model, m):
    rng = np.random.default_rng(n)
    region = streamed(rng.normal(size=(n, 1)), rng.normal(size=n), model).region()
    assert region._engine.m == m
    o = region.objective
    assert region._engine.rank(np.vstack([o.estimate(), [9.0, 9.0]])).tolist()[0] == 1
    drawn = region._engine.drawn
    assert len(np.unique(drawn, axis=0)) == m - 1
    assert not (drawn == 1).all(axis=1).any()


@pytest.mark.parametrize("leaf", [2**15, 4], ids=["few rows", "sums"])
def test_every_rank_of_the_truth_is_equally_frequent(leaf, monkeypatch):
    """All 2^8 signs of noise of fixed size: jointly, and for the slope alone."""
    monkeypatch.setattr(ledger, "LEAF_ROWS", leaf)
    rng = np.random.default_rng(13)
    x, size = rng.normal(size=(8, 1)), rng.lognormal(size=8)
    ranks = []
    for signs in product([-1, 1], repeat=8):
        y = 2 - 0.5 * x[:, 0] + size * signs
        region = ua.StreamingRegion(LinearRegression(), m=8).partial_fit(x, y).region()
        slope = region.hypothesis("x0", -0.5)
        ranks.append((region.rank([2.0, -0.5]), slope.rank))
    assert (region.m, slope.m) == (8, 4)  # three cells have rows enough for the slope
    for one, m in zip(np.transpose(ranks), (8, 4), strict=True):
        assert np.bincount(one).tolist() == [0] + [256 // m] * m


# --- one number at a time, and balanced bands ----------------------------------------------------


@pytest.mark.parametrize("K", [7, 16])
@pytest.mark.parametrize("case", ["plain", "weights", "ridge", "through zero", "blocks"])
def test_one_number_at_a_time_is_that_in_memory_with_the_same_cells(case, K):
    rng, n = np.random.default_rng(14), 4000
    X, y = table("normal", n, rng)
    model = {"ridge": Ridge(10.0), "through zero": LinearRegression(fit_intercept=False)}.get(
        case, LinearRegression()
    )
    w = rng.uniform(0.5, 2, n) if case == "weights" else None
    noise = ua.noise.BlockSymmetric(np.arange(n) // 20) if case == "blocks" else "symmetric"
    stream = streamed(X, y, model, (1000,), w=w, noise=noise)
    region, memory = (
        stream.region(),
        ua.confidence_region(model, X, y, noise=noise, sample_weight=w),
    )
    labels = stream._sums.characters(np.arange(n)) % 64 % K
    for weights in ("design", "residuals"):
        found = region.summary(0.9, cells=K, cell_weights=weights)
        expected = memory.summary(0.9, cells=labels, cell_weights=weights)
        for name in ("estimate", "lower", "upper", "pvalue", "model_estimate", "level"):
            mine, theirs = getattr(found, name), getattr(expected, name)
            assert mine == pytest.approx(theirs, rel=1e-8, abs=1e-9)
    assert np.isfinite(found.lower).all()
    g, tau = np.eye(len(region.names))[-2:] + 0.1, [1.0, 0.2]
    one, two = (r.hypothesis(g, tau, cells=c) for r, c in ((region, K), (memory, labels)))
    assert (one.rank, one.m) == (two.rank, two.m)


def test_balanced_bands_from_a_stream_are_those_of_plain_signs():
    rng, n = np.random.default_rng(5), 4000
    X, y = table("normal", n, rng)
    stream = streamed(X, y, LinearRegression())
    region = stream.region()
    sums, K = region.problem.cells.sums.merged(32), 32
    U, size, _ = region.problem.cells.at.vectors(np.eye(4))
    v, beta = fits(sums.G, sums.h, U)
    band = balanced_band(beta, sigma(v), 0.95)
    cell, Phi = stream._sums.characters(np.arange(n)) % K, np.column_stack([np.ones(n), X])
    each = np.array([np.linalg.lstsq(Phi[cell == b], y[cell == b])[0] for b in range(K)]).T
    middle = region.problem.cells.at.estimates(np.eye(4)) + size * band.estimate
    assert middle == pytest.approx(each.mean(axis=1), abs=1e-9)
    scale = size * np.sqrt((1 / v).sum(axis=1)) / K
    T = np.abs(each @ hadamard(K)[1:].T / K / scale[:, None]).max(axis=0)
    assert size * band.half_width == pytest.approx(np.sort(T)[K - 1 - band.q] * scale, rel=1e-7)


# --- the door ------------------------------------------------------------------------------------


def nearly_dependent(distance, n=4000):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 3))
    X[:, 2] = X[:, 0] + distance * X[:, 2]
    return X, X @ [1.0, 1.0, 1.0] + rng.normal(size=n)


def test_columns_that_sums_do_not_resolve_are_refused_with_the_region_and_not_before():
    X, y = nearly_dependent(1e-5)
    frame = pd.DataFrame(X, columns=["size", "age", "weight"])
    stream = ua.StreamingRegion(LinearRegression()).partial_fit(frame, y)
    with pytest.raises(NotAvailable, match=r"condition number of at most 10000 .* size, weight\."):
        stream.region()
    # The penalty resolves them.
    ridge = ua.StreamingRegion(Ridge(1.0)).partial_fit(frame, y).region()
    assert ridge.rank(ridge.estimate) == 1


@pytest.mark.parametrize("distance", [1e-3, 0.0])
def test_what_sums_resolve_is_answered(distance):
    X, y = nearly_dependent(distance)
    region = ua.StreamingRegion(LinearRegression()).partial_fit(X, y).region()
    memory = in_memory(region, LinearRegression(), X, y)
    assert np.isfinite(intervals(memory)).all(axis=0).tolist() == [
        True,
        distance > 0,
        True,
        distance > 0,
    ]
    assert intervals(region._engine) == pytest.approx(intervals(memory), rel=1e-6)
