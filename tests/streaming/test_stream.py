"""Rows in chunks: what a stream takes, what it refuses, and that a refusal leaves no trace."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import unassuming as ua
from in_memory import contents, streamed, table
from unassuming.noise import Symmetric

N = 2500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
CANDIDATES = [0.0, 1.0, -1.0] + RNG.normal(size=(40, 3)) * 0.04


def stream(noise="symmetric", model=None, m=16, seed=5):
    return ua.StreamingRegion(model or Ridge(2.0), noise=noise, m=m, random_state=seed)


WHOLE = stream().partial_fit(X, Y).region()
RANKS = WHOLE.rank(CANDIDATES).tolist()


@pytest.mark.parametrize("noise", ["symmetric", "blocks"])
def test_chunks_and_merging_change_no_byte(noise):
    rng, n = np.random.default_rng(2), 70_000
    X, y = table("years", n, rng)
    w = rng.uniform(0.5, 2, n)
    options = {
        "noise": ua.noise.BlockSymmetric(np.arange(n) // 40) if noise == "blocks" else noise,
        "m": 8,
    }
    whole = contents(streamed(X, y, Ridge(), w=w, **options).region())
    cuts = [1, 2, 5000, 32_767, 32_768, 32_769, 65_000]
    assert contents(streamed(X, y, Ridge(), cuts, w=w, **options).region()) == whole
    for _ in range(3):
        ends = [0, *np.sort(rng.choice(n - 1, 6, replace=False) + 1).tolist(), n]
        shards = [
            ua.StreamingRegion(Ridge(), **options).partial_fit(
                X[a:b], y[a:b], first_row=a, sample_weight=w[a:b]
            )
            for a, b in pairwise(ends)
        ]
        while len(shards) > 1:
            one = shards.pop(int(rng.integers(len(shards))))
            shards[int(rng.integers(len(shards)))].merge(one)
        assert contents(shards[0].region()) == whole


def test_the_estimate_is_that_in_memory():
    w = RNG.uniform(0.2, 4, size=N)
    fitted = Ridge(2.0).fit(X, Y, sample_weight=w)
    region = stream().partial_fit(X, Y, sample_weight=w).region()
    np.testing.assert_allclose(region.estimate, [fitted.intercept_, *fitted.coef_], atol=1e-12)
    assert region.rank(region.estimate) == 1


PIPELINES = {
    "polynomial": make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(1.0)),
    "random features": make_pipeline(
        RBFSampler(gamma=0.5, n_components=6, random_state=0), Ridge(1.0)
    ),
    "stateless": make_pipeline(FunctionTransformer(np.tanh), LinearRegression()),
    "frozen": make_pipeline(FrozenEstimator(StandardScaler().fit(X[:100])), Ridge(1.0)),
    "landmarks": make_pipeline(FrozenEstimator(Nystroem(n_components=6).fit(X[:6])), Ridge(1.0)),
    "nested": make_pipeline("passthrough", make_pipeline(PolynomialFeatures(2), Ridge(1.0))),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_transformers_that_act_row_by_row(name):
    chunked = stream(model=PIPELINES[name])
    for a, b in [(0, 1), (1, 900), (900, N)]:
        chunked.partial_fit(X[a:b], Y[a:b])
    region = chunked.region()
    memory = ua.confidence_region(PIPELINES[name], X, Y, m=16)
    assert region.names == memory.names
    assert region.estimate == pytest.approx(memory.estimate, rel=1e-8, abs=1e-8)
    band = region.band(X[:5], level=0.5, method="joint")
    assert (band.lower < band.upper).all()


def test_frames_keep_their_names():
    frame = pl.DataFrame({"size": X[:, 0], "age": X[:, 1]})
    region = stream().partial_fit(frame[:1200], Y[:1200]).partial_fit(frame[1200:], Y[1200:])
    region = region.region()
    assert region.names == ["intercept", "size", "age"]
    assert region.rank(CANDIDATES).tolist() == RANKS
    with pytest.raises(ValueError, match="columns in another order"):
        region.band(frame[["age", "size"]][:3], method="joint")


MIXING = {
    "centring": lambda x: x - x.mean(axis=0),
    "differences from the last row": lambda x: x - x[-1:],
    "shares of the largest": lambda x: x / x.max(axis=0),
    "running sums": lambda x: np.cumsum(x, axis=0),
    "ranks": lambda x: x.argsort(axis=0).argsort(axis=0),
    "noise": lambda x: x + np.random.default_rng().normal(size=x.shape),
}


@pytest.mark.parametrize("name", MIXING)
def test_functions_of_several_rows_are_refused_and_leave_no_trace(name):
    mixing = stream(model=make_pipeline(FunctionTransformer(MIXING[name]), Ridge()))
    with pytest.raises(ValueError, match="do not act row by row"):
        mixing.partial_fit(X[:10], Y[:10])
    assert mixing.n == 0
    mixing.partial_fit(X[:1], Y[:1])  # a row alone tells nothing
    with pytest.raises(ValueError, match="do not act row by row"):
        mixing.partial_fit(X[1:3], Y[1:3])
    assert mixing.n == 1


NEEDS_ALL = [KernelRidge(), Lasso(), RidgeClassifier()]
NEEDS_ALL += [
    make_pipeline(step, Ridge())
    for step in (StandardScaler(), SplineTransformer(), RBFSampler(gamma="scale"), Nystroem())
]


@pytest.mark.parametrize("model", NEEDS_ALL, ids=str)
def test_models_that_need_all_rows_are_refused(model):
    with pytest.raises(TypeError, match="all rows"):
        ua.StreamingRegion(model)


def test_a_refused_merge_leaves_no_trace():
    one, two = (
        make_pipeline(StandardScaler().fit(X[part]), Ridge(2.0))
        for part in (slice(0, 50), slice(50, 90))
    )
    mine = stream(model=one)
    with pytest.raises(ValueError, match="another table of features"):
        mine.partial_fit(X[:9], Y[:9]).merge(stream(model=two).partial_fit(X, Y, first_row=9))
    theirs = stream(model=one).partial_fit(X[9:], Y[9:], first_row=9)
    assert mine.merge(theirs).region().n == N


def test_bad_chunks_are_refused_and_leave_no_trace():
    chunked = stream().partial_fit(X[:10], Y[:10])
    for part, error in (
        (((X[10:20]), Y[10:19]), "y and X differ in length"),
        (([[np.nan, 1.0]], [1.0]), "X has missing or infinite values"),
        ((X[:3, :1], Y[:3]), "X has the wrong number of features"),
    ):
        with pytest.raises(ValueError, match=error):
            chunked.partial_fit(*part)
    assert chunked.partial_fit(X[:0], Y[:0]).n == 10
    assert chunked.partial_fit(X[10:], Y[10:]).region().rank(CANDIDATES).tolist() == RANKS


@pytest.mark.parametrize(
    "ask",
    [
        lambda region: region.rank(lambda x: x[:, 0]),
        lambda region: region.test(LinearRegression().fit(X, Y)),
        lambda region: region.diagnose(),
        lambda region: region.perturbations,
        lambda region: region.inputs,
        lambda region: region.summary(cells=np.arange(N) % 8),
        lambda region: region.summary(method="halves"),
    ],
    ids=["function", "estimator", "diagnose", "perturbations", "inputs", "labels", "halves"],
)
def test_what_needs_the_rows_says_so(ask):
    with pytest.raises((ua.NotAvailable, ValueError), match=r"rows|labels"):
        ask(WHOLE)


def test_a_streamed_region_cannot_be_saved_but_its_stream_can(tmp_path):
    with pytest.raises(ua.NotAvailable, match="save the StreamingRegion"):
        ua.save(WHOLE, tmp_path / "region")
    assert list(tmp_path.iterdir()) == []


def test_a_region_does_not_change_when_more_rows_come():
    growing = stream().partial_fit(X[:1500], Y[:1500])
    early = growing.region()
    before = early.rank(CANDIDATES).tolist()
    growing.partial_fit(X[1500:], Y[1500:])
    assert early.rank(CANDIDATES).tolist() == before
    assert growing.region().rank(CANDIDATES).tolist() == RANKS


# --- rows ----------------------------------------------------------------------------------------


def test_gaps_and_overlaps_are_refused():
    X, y = table("normal", 900, np.random.default_rng(9))
    stream = ua.StreamingRegion(Ridge()).partial_fit(X[:100], y[:100])
    stream.partial_fit(X[200:], y[200:], first_row=200)
    with pytest.raises(ValueError, match=r"the data have a gap: .* no rows 100 to 199"):
        stream.region()
    with pytest.raises(ValueError, match=r"overlap .* given rows 90 to 99"):
        stream.partial_fit(X[90:110], y[90:110], first_row=90)
    assert stream.partial_fit(X[100:200], y[100:200], first_row=100).region().n == 900


def test_an_interrupted_chunk_adds_nothing(monkeypatch):
    n = 40_000
    X, y = table("normal", n, np.random.default_rng(10))
    stream = ua.StreamingRegion(Ridge(), m=8).partial_fit(X[:20_000], y[:20_000])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(stream._sums), "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stream.partial_fit(X[20_000:] * 9, y[20_000:])
    assert stream.n == 20_000
    region = stream.partial_fit(X[20_000:], y[20_000:]).region()
    assert contents(region) == contents(streamed(X, y, Ridge(), m=8).region())


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
        ua.StreamingRegion(Ridge(), **options)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (ua.StreamingRegion(Ridge(2.0)), "model"),
        (ua.StreamingRegion(Ridge(), m=64), "m"),
        (ua.StreamingRegion(Ridge(), random_state=1), "seed"),
        (ua.StreamingRegion(Ridge(), noise=ua.noise.BlockSymmetric([0, 1])), "noise"),
    ],
)
def test_other_streams_are_not_merged(other, what):
    with pytest.raises(ValueError, match=f"a stream of another {what}:"):
        ua.StreamingRegion(Ridge()).merge(other)
