"""Rows in chunks: the same region as all at once, whatever the chunks."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
from unassuming.streaming._sums import SignSums

N = 2500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
CANDIDATES = [0.0, 1.0, -1.0] + RNG.normal(size=(40, 3)) * 0.04
BLOCKS = np.repeat(np.arange(N), 3)[:N] % 700
NOISES = {
    "signs": ua.noise.Symmetric(),
    "block signs": ua.noise.BlockSymmetric(BLOCKS),
    "permutations": ua.noise.ExchangeableWithin(64),
    "permutations across leaves": ua.noise.ExchangeableWithin(1000),
}


def stream(noise="symmetric", model=None, m=20, seed=5):
    return ua.StreamingRegion(model or Ridge(2.0), noise=noise, m=m, random_state=seed)


def in_memory(noise="symmetric", model=None, m=20, seed=5, n=N):
    return ua.confidence_region(
        model or Ridge(2.0), X[:n], Y[:n], noise=noise, m=m, random_state=seed
    )


RANKS = {name: in_memory(noise).rank(CANDIDATES).tolist() for name, noise in NOISES.items()}
WHOLE = {
    name: stream(noise).partial_fit(X, Y).region().statistics(CANDIDATES).tolist()
    for name, noise in NOISES.items()
}


@st.composite
def pieces(draw):
    """Consecutive ranges of all rows: a few large ones and some of one row."""
    cuts = draw(st.sets(st.integers(1, N - 1), max_size=8))
    cuts |= {min(cut + 1, N - 1) for cut in draw(st.sets(st.sampled_from([1, 1023, 1024, 2047])))}
    ends = [0, *sorted(cuts), N]
    return list(pairwise(ends))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", NOISES)
@settings(max_examples=8, deadline=None)
@given(ranges=pieces())
def test_every_chunking_gives_the_same_region_to_the_last_bit(name, ranges):
    chunked = stream(NOISES[name])
    for first, stop in ranges:
        chunked.partial_fit(X[first:stop], Y[first:stop])
    region = chunked.region()
    assert region.statistics(CANDIDATES).tolist() == WHOLE[name]
    assert region.rank(CANDIDATES).tolist() == RANKS[name]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", NOISES)
@settings(max_examples=8, deadline=None)
@given(ranges=pieces(), random=st.randoms())
def test_every_order_of_merging_gives_the_same_region_to_the_last_bit(name, ranges, random):
    shards = [stream(NOISES[name]).partial_fit(X[a:b], Y[a:b], first_row=a) for a, b in ranges]
    random.shuffle(shards)
    while len(shards) > 1:
        one = shards.pop(random.randrange(len(shards)))
        shards[random.randrange(len(shards))].merge(one)
    region = shards[0].region()
    assert region.statistics(CANDIDATES).tolist() == WHOLE[name]
    assert region.rank(CANDIDATES).tolist() == RANKS[name]


def test_rows_one_by_one():
    single = stream()
    for j in range(30):
        single.partial_fit(X[j : j + 1], Y[j : j + 1])
    region, memory = single.region(), in_memory(n=30)
    assert region.rank(CANDIDATES).tolist() == memory.rank(CANDIDATES).tolist()
    assert region.statistics(CANDIDATES) == pytest.approx(memory.statistics(CANDIDATES))


@pytest.mark.slow
@given(
    n=st.integers(2, 7),
    seed=st.integers(0, 10**6),
    grid=st.booleans(),
    kind=st.sampled_from(["signs", 2, 3, "blocks"]),
    model=st.sampled_from([LinearRegression(), Ridge(0.5), LinearRegression(fit_intercept=False)]),
)
@settings(max_examples=40, deadline=None)
def test_ties_of_small_data_are_those_in_memory(n, seed, grid, kind, model):
    rng = np.random.default_rng(seed)
    draw = (
        (lambda *s: rng.integers(-1, 2, size=s) * 1.0) if grid else (lambda *s: rng.normal(size=s))
    )
    x, y = draw(n, 1), draw(n)
    x[0] = 1.0
    noise = {"signs": "symmetric", "blocks": ua.noise.BlockSymmetric(np.arange(n) // 2)}.get(
        kind, kind if isinstance(kind, str) else ua.noise.ExchangeableWithin(kind)
    )
    options = {"noise": noise, "m": 15, "random_state": seed}
    memory = ua.confidence_region(model, x, y, **options)
    region = ua.StreamingRegion(model, **options).partial_fit(x, y).region()
    a = np.vstack([memory.estimate, draw(20, memory.objective.d)])
    assert region.rank(a).tolist() == memory.rank(a).tolist()
    u = a[a.any(axis=1)]
    assert region.reach(u, None) == pytest.approx(memory.reach(u, None), rel=1e-6, abs=1e-9)


def test_weights_that_turn_numbers_into_zeros_are_refused():
    X, y = np.array([[1.0], [1e-200]]), np.ones(2)
    with pytest.raises(ValueError, match="a weight of 1e-300 beside a number of 1e-200"):
        stream().partial_fit(X, y, sample_weight=[1.0, 1e-300])


def test_weights_are_those_in_memory():
    w = np.random.default_rng(3).uniform(0.2, 4, size=N)
    weighted = stream()
    for a, b in [(0, 700), (700, N)]:
        weighted.partial_fit(X[a:b], Y[a:b], sample_weight=w[a:b])
    memory = ua.confidence_region(Ridge(2.0), X, Y, sample_weight=w, m=20, random_state=5)
    region = weighted.region()
    assert region.rank(CANDIDATES).tolist() == memory.rank(CANDIDATES).tolist()
    assert region.estimate == pytest.approx(memory.estimate, abs=1e-12)
    few, some = stream().partial_fit(X[:50], Y[:50], sample_weight=w[:50]).region(), slice(0, 50)
    memory = ua.confidence_region(
        Ridge(2.0), X[some], Y[some], sample_weight=w[some], m=20, random_state=5
    )
    assert few.rank(CANDIDATES).tolist() == memory.rank(CANDIDATES).tolist()


# --- models ----------------------------------------------------------------------------------

KNOTS = np.linspace(-3, 3, 6)[:, None] * [1, 1]
PIPELINES = {
    "polynomial": make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(1.0)),
    "splines": make_pipeline(SplineTransformer(knots=KNOTS), Ridge(1.0)),
    "random features": make_pipeline(RBFSampler(gamma=0.5, n_components=6), Ridge(1.0)),
    "stateless": make_pipeline(FunctionTransformer(np.tanh), LinearRegression()),
    "fitted": make_pipeline(FrozenEstimator(StandardScaler().fit(X[:100])), Ridge(1.0)),
    "landmarks": make_pipeline(
        FrozenEstimator(Nystroem(n_components=6, random_state=0).fit(X[:6])), Ridge(1.0)
    ),
    "nested": make_pipeline("passthrough", make_pipeline(PolynomialFeatures(2), Ridge(1.0))),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_are_those_in_memory(name):
    model, chunked = PIPELINES[name], stream(model=PIPELINES[name])
    for a, b in [(0, 1), (1, 900), (900, N)]:
        chunked.partial_fit(X[a:b], Y[a:b])
    region, memory = chunked.region(), in_memory(model=model)
    d = memory.objective.d
    near = memory.estimate + np.random.default_rng(0).normal(size=(60, d)) * 0.03
    assert region.names == memory.names
    assert region.rank(near).tolist() == memory.rank(near).tolist()
    a, b = (
        region.band(X[:5], level=0.5, method="joint"),
        memory.band(X[:5], level=0.5, method="joint"),
    )
    assert np.isfinite(b.upper).any()
    assert a.upper == pytest.approx(b.upper, rel=1e-6, abs=1e-6)


def test_transformers_that_are_fitted_are_used_as_they_are():
    scaler = StandardScaler().fit(X[:100])
    plain, frozen = (
        stream(model=make_pipeline(step, Ridge(1.0))).partial_fit(X, Y).region()
        for step in (scaler, FrozenEstimator(scaler))
    )
    assert plain.estimate.tolist() == frozen.estimate.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(make):
    frame = make({"size": X[:, 0], "age": X[:, 1]})
    region = (
        stream().partial_fit(frame[:1200], Y[:1200]).partial_fit(frame[1200:], Y[1200:]).region()
    )
    assert region.names == ["intercept", "size", "age"]
    assert region.rank(CANDIDATES).tolist() == RANKS["signs"]
    assert len(region.band(frame[:3], method="joint")) == 3
    with pytest.raises(ValueError, match="columns in another order"):
        region.band(frame[["age", "size"]][:3], method="joint")
    with pytest.raises(ValueError, match="columns in another order"):
        stream().partial_fit(frame[:10], Y[:10]).partial_fit(frame[["age", "size"]][:10], Y[:10])


SINGLE = {
    "landmarks": Nystroem(n_components=6, random_state=0),
    "random features": RBFSampler(gamma=0.5, n_components=6, random_state=0),
    "components": PCA(2, whiten=True),
}


@pytest.mark.parametrize("name", SINGLE)
def test_features_in_single_precision_are_row_by_row_to_rounding(name, tmp_path):
    x = X.astype(np.float32)
    model = make_pipeline(SINGLE[name].fit(x), Ridge(1.0))
    one = stream(model=model).partial_fit(x[:1200], Y[:1200])
    one.save(tmp_path / "c")
    one = ua.StreamingRegion.load(tmp_path / "c", estimator=model)
    two = stream(model=model).partial_fit(x[1200:], Y[1200:], first_row=1200)
    assert one.merge(two).region().n == N


def test_a_pipeline_that_only_passes_through_is_the_model():
    model = make_pipeline("passthrough", Ridge(2.0))
    region = stream(model=model).partial_fit(X, Y).region()
    assert region.rank(CANDIDATES).tolist() == RANKS["signs"]


@pytest.mark.parametrize("weight", [np.ones(3), np.ones((N, 1)), [2.0]])
def test_weights_of_another_length_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight has the wrong length: expected 2500"):
        stream().partial_fit(X, Y, sample_weight=weight)


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
    wide = stream(ua.noise.BlockSymmetric([0, 1]), model=Ridge())
    with pytest.raises(ValueError, match="block"):
        wide.partial_fit(np.ones((3, 5)), np.ones(3))
    assert wide.partial_fit(X[:2], Y[:2]).n == 2


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("chunk", [300, 1024, N])
def test_leaves_lie_in_memory_in_one_way(chunk, intercept, monkeypatch):
    layouts = []
    plain = SignSums.moved
    monkeypatch.setattr(
        SignSums, "moved", lambda self, Z, first: layouts.append(Z.flags) or plain(self, Z, first)
    )
    x = np.asfortranarray(X)
    chunked = stream(model=Ridge(2.0, fit_intercept=intercept))
    for a in range(0, N, chunk):
        chunked.partial_fit(x[a : a + chunk], Y[a : a + chunk])
    assert len(layouts) == N // 1024
    assert all(flags.c_contiguous for flags in layouts)


def test_rows_of_a_frame_are_taken_by_number():
    frame = pd.DataFrame({"size": X[:, 0], "age": X[:, 1]}, index=np.arange(N) / 2 - 7.25)
    model = make_pipeline(PolynomialFeatures(1, include_bias=False), Ridge(2.0))
    region = stream(model=model).partial_fit(frame, Y).region()
    assert region.rank(CANDIDATES).tolist() == RANKS["signs"]


MIXING = {
    "centring": lambda x: x - x.mean(axis=0),
    "differences from the first row": lambda x: x - x[:1],
    "differences from the last row": lambda x: x - x[-1:],
    "shares of the largest": lambda x: x / x.max(axis=0),
    "running sums": lambda x: np.cumsum(x, axis=0),
    "running sums from the end": lambda x: np.cumsum(x[::-1], axis=0)[::-1],
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


REFUSED = {
    "a kernel": KernelRidge(),
    "another objective": Lasso(),
    "labels": RidgeClassifier(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_need_all_rows_are_refused(name):
    with pytest.raises(TypeError, match="estimator needs all rows at once: expected LinearReg"):
        ua.StreamingRegion(REFUSED[name])


@pytest.mark.parametrize(
    "step",
    [StandardScaler(), PCA(1), SplineTransformer(), RBFSampler(gamma="scale"), Nystroem()],
    ids=lambda step: type(step).__name__,
)
def test_transformers_that_need_all_rows_are_refused(step):
    with pytest.raises(TypeError, match="would have to see all rows before it can transform one"):
        ua.StreamingRegion(make_pipeline(step, Ridge()))


@pytest.mark.parametrize("noise", ["exchangeable", "spherical", "symmetric-exchangeable"])
def test_noise_that_mixes_all_rows_is_refused(noise):
    with pytest.raises(ValueError, match="noise cannot be drawn row by row"):
        ua.StreamingRegion(Ridge(), noise=noise)


def test_a_group_cannot_be_listed_before_the_rows_are_counted():
    with pytest.raises(ValueError, match="m must be known before the first row"):
        ua.StreamingRegion(Ridge(), m="all")


# --- rows ------------------------------------------------------------------------------------


def test_overlapping_shards_are_refused_and_the_stream_goes_on():
    one = stream().partial_fit(X[:1500], Y[:1500])
    two = stream().partial_fit(X[1200:], Y[1200:], first_row=1200)
    with pytest.raises(ValueError, match=r"rows 1200 to 1499 .counted from zero. twice"):
        one.merge(two)
    with pytest.raises(ValueError, match="overlap"):
        stream().partial_fit(X[:9], Y[:9]).merge(stream().partial_fit(X[9:], Y[9:]))
    region = one.partial_fit(X[1500:], Y[1500:]).region()
    assert region.rank(CANDIDATES).tolist() == RANKS["signs"]


def test_missing_rows_are_named():
    holey = stream().partial_fit(X[:5], Y[:5]).partial_fit(X[9:], Y[9:], first_row=9)
    with pytest.raises(ValueError, match=r"the data have a gap: .* given no rows 5 to 8"):
        holey.region()
    assert holey.partial_fit(X[5:9], Y[5:9], first_row=5).region().n == N


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (lambda: stream(model=Ridge(3.0)), "model"),
        (lambda: stream(m=30), "m"),
        (lambda: stream(seed=6), "seed"),
        (lambda: stream(ua.noise.ExchangeableWithin(5)), "noise"),
    ],
)
def test_shards_of_another_kind_are_refused(other, what):
    with pytest.raises(ValueError, match=f"other is a stream of another {what}:"):
        stream().merge(other())


def test_other_labels_of_blocks_are_another_noise():
    one, two = (stream(ua.noise.BlockSymmetric(b)) for b in (BLOCKS, BLOCKS[::-1]))
    with pytest.raises(ValueError, match="other is a stream of another noise"):
        one.merge(two)


def test_transformers_fitted_otherwise_are_refused():
    one, two = (
        stream(model=make_pipeline(StandardScaler().fit(part), Ridge())).partial_fit(
            part, np.zeros(len(part)), first_row=first
        )
        for part, first in ((X[:50], 0), (X[50:90], 50))
    )
    with pytest.raises(ValueError, match="other is a stream of another table of features"):
        one.merge(two)


def test_a_stream_that_was_merged_stays_as_it_is():
    one = stream().partial_fit(X[:1500], Y[:1500])
    two = stream().partial_fit(X[1500:], Y[1500:], first_row=1500)
    whole = stream().merge(two).merge(one)
    assert (one.n, two.n, whole.n) == (1500, 1000, N)
    assert two.merge(one).region().rank(CANDIDATES).tolist() == RANKS["signs"]


@pytest.mark.parametrize("first_row", [-1, 1.5, True, "3"])
def test_first_row_is_a_row_number(first_row):
    with pytest.raises(ValueError, match="first_row is not a row number"):
        stream().partial_fit(X[:2], Y[:2], first_row=first_row)


def test_bad_chunks_are_refused_and_leave_no_trace():
    chunked = stream().partial_fit(X[:10], Y[:10])
    with pytest.raises(ValueError, match="y and X differ in length"):
        chunked.partial_fit(X[10:20], Y[10:19])
    with pytest.raises(ValueError, match="X has missing or infinite values"):
        chunked.partial_fit([[np.nan, 1.0]], [1.0])
    with pytest.raises(ValueError, match="X has the wrong number of features"):
        chunked.partial_fit(X[:3, :1], Y[:3])
    with pytest.raises(ValueError, match="sample_weight is not positive"):
        chunked.partial_fit(X[:2], Y[:2], sample_weight=[0.0, 1.0])
    assert chunked.partial_fit(X[:0], Y[:0]).n == 10
    assert chunked.partial_fit(X[10:], Y[10:]).region().rank(CANDIDATES).tolist() == RANKS["signs"]


def test_weights_do_not_go_with_permutations():
    with pytest.raises(ValueError, match="sample_weight does not go with ExchangeableWithin"):
        stream(ua.noise.ExchangeableWithin(5)).partial_fit(X[:9], Y[:9], sample_weight=1.0)


def test_labels_of_blocks_are_as_many_as_the_rows():
    short = stream(ua.noise.BlockSymmetric([0, 0, 1]))
    with pytest.raises(ValueError, match="blocks must have one label for each of the 4 rows"):
        short.partial_fit(X[:4], Y[:4])
    with pytest.raises(ValueError, match="blocks must have one label for each of the 2 rows"):
        short.partial_fit(X[:2], Y[:2]).region()


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="the data are too few"):
        stream().partial_fit(X[:1], Y[:1]).region()


# --- what the rows are needed for ------------------------------------------------------------


@pytest.mark.parametrize("n", [40, N])
@pytest.mark.parametrize(
    "ask",
    [
        lambda region: region.rank(lambda x: x[:, 0]),
        lambda region: region.test(LinearRegression().fit(X, Y)),
        lambda region: region.diagnose(),
        lambda region: region.perturbations,
        lambda region: region.inputs,
    ],
    ids=["function", "estimator", "diagnose", "perturbations", "inputs"],
)
def test_what_needs_the_rows_says_so(ask, n):
    region = stream().partial_fit(X[:n], Y[:n]).region()
    with pytest.raises(ua.NotAvailable, match="rows of the data, and this region was built"):
        ask(region)


def test_a_streamed_region_cannot_be_saved_but_its_stream_can(tmp_path):
    with pytest.raises(ua.NotAvailable, match="save the StreamingRegion"):
        ua.save(stream().partial_fit(X, Y).region(), tmp_path / "region")
    assert list(tmp_path.iterdir()) == []


def test_the_description_is_that_in_memory():
    region, memory = stream().partial_fit(X, Y).region(), in_memory()
    assert region.n == N
    for heading in ("data", "assumes", "covers", "drawn"):
        assert region._description().under(heading) == memory._description().under(heading)


def test_a_region_does_not_change_when_more_rows_come():
    growing = stream().partial_fit(X[:1500], Y[:1500])
    early = growing.region()
    before = early.rank(CANDIDATES).tolist()
    growing.partial_fit(X[1500:], Y[1500:])
    assert early.rank(CANDIDATES).tolist() == before == in_memory(n=1500).rank(CANDIDATES).tolist()
    assert growing.region().rank(CANDIDATES).tolist() == RANKS["signs"]
