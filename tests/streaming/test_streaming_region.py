"""Rows in chunks: what a stream takes, what it refuses, and that a refusal leaves no trace."""

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA
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

N = 2500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
CANDIDATES = [0.0, 1.0, -1.0] + RNG.normal(size=(40, 3)) * 0.04


def stream(noise="symmetric", model=None, m=16, seed=5):
    return ua.StreamingRegion(model or Ridge(2.0), noise=noise, m=m, random_state=seed)


WHOLE = stream().partial_fit(X, Y).region()
RANKS = WHOLE.rank(CANDIDATES).tolist()


def test_chunks_and_shards_give_the_region_of_all_rows():
    assert len(set(RANKS)) > 8
    chunked = stream()
    for a, b in [(0, 1), (1, 1024), (1024, 1025), (1025, N)]:
        chunked.partial_fit(X[a:b], Y[a:b])
    one = stream().partial_fit(X[:1500], Y[:1500])
    two = stream().partial_fit(X[1500:], Y[1500:], first_row=1500)
    merged = stream().merge(two).merge(one)
    for region in (chunked.region(), merged.region()):
        assert region.statistics(CANDIDATES).tolist() == WHOLE.statistics(CANDIDATES).tolist()
    assert (one.n, two.n, merged.n) == (1500, 1000, N)  # those that were merged stay as they are
    assert two.merge(one).region().rank(CANDIDATES).tolist() == RANKS


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


def test_transformers_that_are_fitted_are_used_as_they_are():
    scaler = StandardScaler().fit(X[:100])
    plain, frozen = (
        stream(model=make_pipeline(step, Ridge(1.0))).partial_fit(X, Y).region()
        for step in (scaler, FrozenEstimator(scaler))
    )
    assert plain.estimate.tolist() == frozen.estimate.tolist()


def test_features_in_single_precision_are_row_by_row_to_rounding():
    x = X.astype(np.float32)
    model = make_pipeline(PCA(2, whiten=True).fit(x), Ridge(1.0))
    one = stream(model=model).partial_fit(x[:1200], Y[:1200])
    two = stream(model=model).partial_fit(x[1200:], Y[1200:], first_row=1200)
    assert one.merge(two).region().n == N


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


@pytest.mark.parametrize("noise", ["exchangeable", "spherical", "symmetric-exchangeable"])
def test_noise_that_mixes_all_rows_is_refused(noise):
    with pytest.raises(ValueError, match="noise"):
        ua.StreamingRegion(Ridge(), noise=noise)


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


@pytest.mark.parametrize("first_row", [-1, 1.5, True, "3"])
def test_first_row_is_a_row_number(first_row):
    with pytest.raises(ValueError, match="first_row is not a row number"):
        stream().partial_fit(X[:2], Y[:2], first_row=first_row)


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="too few"):
        stream().partial_fit(X[:1], Y[:1]).region()


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
