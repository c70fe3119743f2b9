"""Rows in chunks: the region of all rows with the same characters, whatever the chunks."""

import pickle
from copy import copy, deepcopy
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import hadamard
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from second.streaming.memory import contents, in_memory, intervals, near
from unassuming import NotAvailable
from unassuming.cells.balanced import balanced_band
from unassuming.cells.estimates import fits
from unassuming.noise import BlockSymmetric, Symmetric
from unassuming.streaming import StreamingRegion

MODELS = [LinearRegression(), Ridge(20.0), LinearRegression(fit_intercept=False)]


def table(kind, n, rng):
    X = rng.normal(size=(n, 3))
    if kind == "years":
        X[:, 0] = 1990 + 20 * np.arange(n) // n
    elif kind == "dummies":
        X = (rng.integers(0, 3, n)[:, None] == np.arange(3)) * 1.0
    elif kind == "celsius and fahrenheit":
        X[:, 1] = 1.8 * X[:, 0] + 32
    elif kind == "grid":
        X = rng.integers(0, 3, (n, 3)) * 1.0
    y = X @ [1.0, -1.0, 0.5] + rng.standard_t(3, size=n)
    return X, np.round(y) if kind == "grid" else y


def streamed(X, y, model, cuts=(), w=None, **options):
    stream = StreamingRegion(model, **options)
    for a, b in pairwise([0, *cuts, len(y)]):
        stream.partial_fit(X[a:b], y[a:b], sample_weight=None if w is None else w[a:b])
    return stream


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
    assert region.engine.rank(a).tolist() == ranks.tolist()
    assert ranks[0] == 1
    assert len(set(ranks.tolist())) > 10
    assert region.engine.statistics(a) == pytest.approx(memory.statistics(a), rel=1e-8, abs=1e-12)
    mine, theirs = intervals(region.engine), intervals(memory)
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
    assert region.engine.rank(a).tolist() == memory.rank(a).tolist()
    assert intervals(region.engine, 1) == pytest.approx(intervals(memory, 1), rel=1e-7)
    assert len(region.engine.objective.y) == 15 * 4


def test_blocks_change_sign_together():
    rng, n = np.random.default_rng(1), 5000
    X, y = table("normal", n, rng)
    labels = rng.integers(0, 300, n)
    numbers = {label: k for k, label in enumerate(dict.fromkeys(labels.tolist()))}
    units = np.array([numbers[label] for label in labels.tolist()])
    region = streamed(X, y, Ridge(), (7, 4000), noise=BlockSymmetric(labels)).region()
    memory = in_memory(region, Ridge(), X, y, units=units)
    a = near(memory, 30, rng)
    assert region.engine.rank(a).tolist() == memory.rank(a).tolist()
    assert region.cells.blocks


@pytest.mark.parametrize("noise", ["symmetric", "blocks"])
def test_chunks_and_merging_change_no_byte(noise):
    rng, n = np.random.default_rng(2), 70_000
    X, y = table("years", n, rng)
    w = rng.uniform(0.5, 2, n)
    options = {"noise": BlockSymmetric(np.arange(n) // 40) if noise == "blocks" else noise, "m": 8}
    whole = contents(streamed(X, y, Ridge(), w=w, **options).region())
    cuts = [1, 2, 5000, 32_767, 32_768, 32_769, 65_000]
    assert contents(streamed(X, y, Ridge(), cuts, w=w, **options).region()) == whole
    for _ in range(3):
        ends = [0, *np.sort(rng.choice(n - 1, 6, replace=False) + 1).tolist(), n]
        shards = [
            StreamingRegion(Ridge(), **options).partial_fit(
                X[a:b], y[a:b], first_row=a, sample_weight=w[a:b]
            )
            for a, b in pairwise(ends)
        ]
        while len(shards) > 1:
            one = shards.pop(int(rng.integers(len(shards))))
            shards[int(rng.integers(len(shards)))].merge(one)
        assert contents(shards[0].region()) == whole


@pytest.mark.parametrize(
    ("n", "model", "m"),
    [(2, Ridge(), 4), (3, Ridge(), 8), (3, LinearRegression(), 4), (9, LinearRegression(), 128)],
)
def test_few_rows_have_the_signs_that_differ(n, model, m):
    rng = np.random.default_rng(n)
    region = streamed(rng.normal(size=(n, 1)), rng.normal(size=n), model).region()
    assert region.engine.m == m
    o = region.engine.objective
    assert region.engine.rank(np.vstack([o.estimate(), [9.0, 9.0]])).tolist()[0] == 1
    drawn = region.engine.drawn
    assert len(np.unique(drawn, axis=0)) == m - 1
    assert not (drawn == 1).all(axis=1).any()


def test_rows_one_by_one():
    rng = np.random.default_rng(3)
    X, y = table("normal", 50, rng)
    one = contents(streamed(X, y, Ridge(), range(1, 50)).region())
    assert one == contents(streamed(X, y, Ridge()).region())


# --- one number at a time, and balanced bands ----------------------------------------------------


@pytest.mark.parametrize("n", [300, 6000])
def test_cells_are_those_of_the_rows_with_their_characters(n):
    """Plain least squares in each cell, with the other columns free."""
    rng = np.random.default_rng(4)
    X, y = table("normal", n, rng)
    w = rng.uniform(0.5, 2, n)
    stream = streamed(X, y, LinearRegression(), w=w)
    region = stream.region()
    kept, K = region.cells.sums.merged(8), 8
    at = region.cells.at
    U, size, known = at.vectors(np.eye(4))
    v, beta = fits(kept.G, kept.h, U)
    cell = stream.sums.characters(np.arange(n)) % K
    Phi = np.column_stack([np.ones(n), X]) * np.sqrt(w)[:, None]
    for b in range(K):
        mine = np.linalg.lstsq(Phi[cell == b], (y * np.sqrt(w))[cell == b])[0]
        H = np.linalg.inv(Phi[cell == b].T @ Phi[cell == b])
        assert at.estimates(np.eye(4)) + size * beta[:, b] == pytest.approx(mine, abs=1e-8)
        assert size**2 / v[:, b] == pytest.approx(np.diag(H), rel=1e-7)
    assert known.all()
    assert kept.rows.tolist() == np.bincount(cell, minlength=K).tolist()
    fit = np.linalg.lstsq(Phi, y * np.sqrt(w))[0]
    assert at.rest**2 == pytest.approx(((y * np.sqrt(w) - Phi @ fit) ** 2).sum())
    assert at.rows == n


def test_balanced_bands_from_a_stream_are_those_of_plain_signs():
    rng, n = np.random.default_rng(5), 4000
    X, y = table("normal", n, rng)
    stream = streamed(X, y, LinearRegression())
    region = stream.region()
    sums, K = region.cells.sums.merged(32), 32
    U, size, _ = region.cells.at.vectors(np.eye(4))
    v, beta = fits(sums.G, sums.h, U)
    band = balanced_band(beta, v, 0.95)
    cell, Phi = stream.sums.characters(np.arange(n)) % K, np.column_stack([np.ones(n), X])
    each = np.array([np.linalg.lstsq(Phi[cell == b], y[cell == b])[0] for b in range(K)]).T
    middle = region.cells.at.estimates(np.eye(4)) + size * band.estimate
    assert middle == pytest.approx(each.mean(axis=1), abs=1e-9)
    sigma = size * np.sqrt((1 / v).sum(axis=1)) / K
    T = np.abs(each @ hadamard(K)[1:].T / K / sigma[:, None]).max(axis=0)
    assert size * band.half_width == pytest.approx(np.sort(T)[K - 1 - band.q] * sigma, rel=1e-7)


# --- models ------------------------------------------------------------------------------------

KNOTS = np.linspace(-3, 3, 5)[:, None] * [1, 1, 1]


def test_pipelines_are_those_in_memory():
    rng, n = np.random.default_rng(6), 2500
    X, y = table("normal", n, rng)
    for model in (
        make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(1.0)),
        make_pipeline(SplineTransformer(knots=KNOTS), Ridge(1.0)),
        make_pipeline(StandardScaler().fit(X[:100]), LinearRegression()),
    ):
        region = streamed(X, y, model, (1, 900)).region()
        memory = in_memory(region, model[-1], model[:-1].fit(X[:100]).transform(X), y)
        a = near(memory, 30, rng)
        assert region.engine.rank(a).tolist() == memory.rank(a).tolist()


def test_frames_keep_their_names():
    rng = np.random.default_rng(7)
    X, y = table("normal", 900, rng)
    frame = pd.DataFrame(X, columns=["size", "age", "x"])
    stream = StreamingRegion(Ridge()).partial_fit(frame[:500], y[:500])
    region = stream.partial_fit(frame[500:], y[500:]).region()
    assert region.engine.objective.names == ["intercept", "size", "age", "x"]
    with pytest.raises(ValueError, match="columns in another order"):
        stream.partial_fit(frame[["age", "size", "x"]][:10], y[:10])


# --- the door ------------------------------------------------------------------------------------


def nearly_dependent(distance, n=4000):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 3))
    X[:, 2] = X[:, 0] + distance * X[:, 2]
    return X, X @ [1.0, 1.0, 1.0] + rng.normal(size=n)


def test_columns_that_sums_do_not_resolve_are_refused_with_the_region_and_not_before():
    X, y = nearly_dependent(1e-5)
    frame = pd.DataFrame(X, columns=["size", "age", "weight"])
    stream = StreamingRegion(LinearRegression()).partial_fit(frame, y)
    with pytest.raises(NotAvailable, match=r"condition number of at most 10000 .* size, weight\."):
        stream.region()
    ridge = StreamingRegion(Ridge(1.0)).partial_fit(frame, y).region()  # the penalty resolves them
    assert ridge.engine.rank(ridge.engine.objective.estimate()[None]).tolist() == [1]


@pytest.mark.parametrize("distance", [1e-3, 0.0])
def test_what_sums_resolve_is_answered(distance):
    X, y = nearly_dependent(distance)
    region = StreamingRegion(LinearRegression()).partial_fit(X, y).region()
    memory = in_memory(region, LinearRegression(), X, y)
    assert np.isfinite(intervals(memory)).all(axis=0).tolist() == [
        True,
        distance > 0,
        True,
        distance > 0,
    ]
    assert intervals(region.engine) == pytest.approx(intervals(memory), rel=1e-6)


def test_few_rows_are_used_themselves():
    X, y = nearly_dependent(1e-7, n=300)
    region = StreamingRegion(LinearRegression()).partial_fit(X, y).region()
    memory = in_memory(region, LinearRegression(), X, y)
    assert intervals(region.engine) == pytest.approx(intervals(memory), rel=1e-12)


# --- rows ----------------------------------------------------------------------------------------


def test_gaps_and_overlaps_are_refused():
    X, y = table("normal", 900, np.random.default_rng(9))
    stream = StreamingRegion(Ridge()).partial_fit(X[:100], y[:100])
    stream.partial_fit(X[200:], y[200:], first_row=200)
    with pytest.raises(ValueError, match=r"the data have a gap: .* no rows 100 to 199"):
        stream.region()
    with pytest.raises(ValueError, match=r"overlap .* given rows 90 to 99"):
        stream.partial_fit(X[90:110], y[90:110], first_row=90)
    assert stream.partial_fit(X[100:200], y[100:200], first_row=100).region().n == 900


def test_an_interrupted_chunk_adds_nothing(monkeypatch):
    n = 40_000
    X, y = table("normal", n, np.random.default_rng(10))
    stream = StreamingRegion(Ridge(), m=8).partial_fit(X[:20_000], y[:20_000])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(stream.sums), "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stream.partial_fit(X[20_000:] * 9, y[20_000:])
    assert stream.n == 20_000
    region = stream.partial_fit(X[20_000:], y[20_000:]).region()
    assert contents(region) == contents(streamed(X, y, Ridge(), m=8).region())


@pytest.mark.parametrize("first", ["copy", "original"])
@pytest.mark.parametrize("make", [copy, deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_its_own_way(make, first):
    X, y = table("normal", 600, np.random.default_rng(11))
    one = StreamingRegion(Ridge()).partial_fit(X[:300], y[:300])
    two = make(one)
    for stream in (two, one) if first == "copy" else (one, two):
        stream.partial_fit(X[300:] * (1 if stream is one else 5), y[300:])
    assert contents(one.region()) == contents(streamed(X, y, Ridge()).region())
    assert contents(two.region()) != contents(one.region())


def test_more_rows_than_labels_are_refused():
    X, y = table("normal", 30, np.random.default_rng(12))
    stream = StreamingRegion(Ridge(), noise=BlockSymmetric(np.arange(20) // 2))
    with pytest.raises(ValueError, match="a label for every row"):
        stream.partial_fit(X, y)


class Otherwise(Symmetric):
    """Draws its own signs."""


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"m": 100}, "a power of two from 4 to 2048, given 100"),
        ({"m": "all"}, "a power of two from 4 to 2048"),
        ({"noise": "exchangeable"}, "noise does not fit a stream"),
        ({"noise": Otherwise()}, "noise does not fit a stream"),
    ],
)
def test_what_a_group_of_signs_does_not_serve_is_refused(options, match):
    with pytest.raises(ValueError, match=match):
        StreamingRegion(Ridge(), **options)


@pytest.mark.parametrize("model", [KernelRidge(), make_pipeline(StandardScaler(), Ridge())])
def test_models_that_need_all_rows_are_refused(model):
    with pytest.raises(TypeError, match="all rows"):
        StreamingRegion(model)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (StreamingRegion(Ridge(2.0)), "model"),
        (StreamingRegion(Ridge(), m=64), "m"),
        (StreamingRegion(Ridge(), random_state=1), "seed"),
        (StreamingRegion(Ridge(), noise=BlockSymmetric([0, 1])), "noise"),
    ],
)
def test_other_streams_are_not_merged(other, what):
    with pytest.raises(ValueError, match=f"a stream of another {what}:"):
        StreamingRegion(Ridge()).merge(other)


@pytest.mark.parametrize("weight", [np.zeros(9), np.ones(3), np.full(9, -1.0)])
def test_weights_have_to_be_positive(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        StreamingRegion(Ridge()).partial_fit(np.ones((9, 1)), np.ones(9), sample_weight=weight)
