"""Cells of a stream: dealt by row number, the same for every chunking, exact for one number."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.cells.balanced import balanced_band, sigma
from unassuming.cells.estimates import Sample, fits
from unassuming.cells.theorem import intervals
from unassuming.io import archive
from unassuming.streaming import _sums
from unassuming.streaming._cells import RowCells

N = 3000
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 3)) @ np.array([[1.0, 0.5, 0], [0, 1, 0.2], [0, 0, 4]])
Y = X @ [1.0, 0.0, -0.5] + (1 + X[:, 0] ** 2) * RNG.standard_t(3, size=N)
WEIGHT = RNG.uniform(0.5, 2, size=N)
BLOCKS = ua.noise.BlockSymmetric(RNG.integers(90, size=N))


def stream(cells=16, model=None, noise=None, seed=5, m=10):
    model = LinearRegression() if model is None else model
    return ua.StreamingRegion(model, noise=noise, m=m, cells=cells, random_state=seed)


def numbers(summary):
    return [
        getattr(summary, name).tobytes()
        for name in ("estimate", "model_estimate", "lower", "upper", "pvalue", "level")
    ]


def answers(region, level=0.9):
    """What is asked of a streamed region, as bytes."""
    band = region.band(X[:4], level, method="cells")
    pointwise = region.band(X[:4], level, simultaneous=False)
    test = region.hypothesis(["x0", "x1"], [1.0, 0.0])
    return [
        *numbers(region.summary(level)),
        *(part.tobytes() for part in (band.lower, band.upper, pointwise.lower, pointwise.upper)),
        test.rank,
    ]


def sums_of(region):
    """Everything that answers depend on, as bytes."""
    kept = region.problem.cells
    parts = *vars(kept.sums).values(), kept.at.fit_of_y, kept.at.factor.back
    return [part.tobytes() for part in parts] + [kept.at.rest]


# --- which row is in which cell ----------------------------------------------------------------


@settings(derandomize=True, max_examples=40, deadline=None)
@given(cells=st.integers(2, 40), cuts=st.lists(st.integers(0, 400), max_size=5), far=st.booleans())
def test_the_cell_of_a_row_depends_on_its_number_alone(cells, cuts, far):
    first = 10**12 if far else 0
    dealt = stream(cells)._cells
    whole = dealt(first, 400)
    edges = sorted({0, 400, *cuts})
    parts = [dealt(first + a, b - a) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert dealt(0, 400).tolist() == stream(cells)._cells(0, 400).tolist()
    if not far:  # every run of rows has one row for each cell
        runs = whole[: 400 // cells * cells].reshape(-1, cells)
        assert (np.sort(runs, axis=1) == np.arange(cells)).all()
        assert dealt.sizes(400).tolist() == np.bincount(whole, minlength=cells).tolist()


@pytest.mark.parametrize("first", [0, 17])
def test_blocks_stay_together(first):
    cells = stream(12, noise=BLOCKS)._cells
    labels, blocks = cells(first, 2000), BLOCKS.units(N)[first : first + 2000]
    for block in np.unique(blocks):
        assert len(set(labels[blocks == block].tolist())) == 1
    assert set(labels.tolist()) == set(range(12))
    assert cells.sizes(N).tolist() == np.bincount(cells(0, N), minlength=12).tolist()


# --- the same as in memory, with the same division ---------------------------------------------

CASES = {
    "few rows": (900, {}),
    "sums": (N, {}),
    "no intercept": (N, {"model": LinearRegression(fit_intercept=False)}),
    "ridge": (N, {"model": Ridge(10.0)}),
    "blocks": (N, {"noise": BLOCKS}),
    "weights": (N, {"weight": WEIGHT}),
    "few rows with weights": (900, {"weight": WEIGHT}),
}


def in_cells(at, sums, g):
    """v and β of functionals of the coefficients in their own units, (N, K)."""
    U, size, _ = at.vectors(g)
    v, beta = fits(sums.G, sums.h, U)
    center = at.estimates(g)[:, None] + size[:, None] * beta
    return v / size[:, None] ** 2, np.where(v > 0, center, 0.0)


def of_stream(region, K, g):
    kept = region.problem.cells
    return in_cells(kept.at, kept.sums.merged(K), g)


def of_rows(Phi, y, labels, g):
    sample = Sample.of(Phi, y)
    return in_cells(sample.at, sample.atoms.sums(sample.places(labels)), g)


def pair(n, model=None, noise=None, weight=None, cells=16):
    """The region of a stream, that of the rows in memory, and the cells of the rows."""
    weight = None if weight is None else weight[:n]
    one = stream(cells, model, noise).partial_fit(X[:n], Y[:n], sample_weight=weight)
    settings = {"noise": one.noise, "m": 10, "random_state": 5, "sample_weight": weight}
    memory = ua.confidence_region(one.estimator, X[:n], Y[:n], **settings)
    return one.region(), memory, one._cells(0, n)


@pytest.mark.parametrize("K", [7, 16])
@pytest.mark.parametrize("case", CASES)
def test_a_stream_has_the_intervals_of_memory(case, K):
    n, options = CASES[case]
    region, memory, labels = pair(n, **options)
    for weights in ("design", "residuals") if K == 7 else ("design",):
        found = region.summary(cells=K, cell_weights=weights)
        expected = memory.summary(cells=labels % K, cell_weights=weights)
        assert found.estimate == pytest.approx(expected.estimate, rel=1e-9, abs=1e-9)
        assert found.model_estimate == pytest.approx(expected.model_estimate, rel=1e-9, abs=1e-9)
        assert found.lower == pytest.approx(expected.lower, rel=1e-7, abs=1e-7)
        assert found.upper == pytest.approx(expected.upper, rel=1e-7, abs=1e-7)
        assert found.pvalue.tolist() == expected.pvalue.tolist()
        assert found.method == expected.method
    several = [[1.0, 0.1], [-0.4, 0.2]]
    g = np.eye(len(region.names))[-2:] + 0.1
    for tau in several:
        one = region.hypothesis(g, tau, cells=K)
        two = memory.hypothesis(g, tau, cells=labels % K)
        assert (one.rank, one.m) == (two.rank, two.m)


@pytest.mark.parametrize("weight", [None, WEIGHT[:300]], ids=["plain", "weighted"])
def test_means_of_columns_do_not_widen_the_intervals_of_few_rows(weight):
    far, y = X[:300] + 1e9, Y[:300]
    one = stream(8).partial_fit(far, y, sample_weight=weight)
    settings = {"noise": one.noise, "m": 10, "random_state": 5, "sample_weight": weight}
    memory = ua.confidence_region(one.estimator, far, y, **settings)
    found = one.region().summary(cells=8)
    expected = memory.summary(cells=one._cells(0, 300))
    assert found.lower[1:] == pytest.approx(expected.lower[1:], rel=1e-7, abs=1e-7)
    assert found.upper[1:] == pytest.approx(expected.upper[1:], rel=1e-7, abs=1e-7)


def test_several_numbers_with_a_large_mean():
    one = stream().partial_fit(X, Y + 50)
    region = one.region()
    memory = ua.confidence_region(LinearRegression(), X, Y + 50, m=10, random_state=5)
    cells = one._cells(0, N)
    g = np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    for step in (0.0, 0.1, -0.2):
        tau = g @ memory.estimate + [step, step / 3]
        found = region.hypothesis(g, tau, cells=16)
        assert found.rank == memory.hypothesis(g, tau, cells=cells).rank
        assert found.rank < found.m


@pytest.mark.parametrize("case", CASES)
def test_each_cell_has_the_estimates_of_its_rows(case):
    n, options = CASES[case]
    region, memory, labels = pair(n, **options)
    root = np.ones(n) if "weight" not in options else np.sqrt(WEIGHT[:n])
    Phi, y = memory.objective.design.matrix * root[:, None], Y[:n] * root
    g = np.vstack([np.eye(Phi.shape[1]), Phi[:3]])
    for K in (3, 8, 16):
        v, beta = of_stream(region, K, g)
        expected = of_rows(Phi, y, labels % K, g)
        assert v == pytest.approx(expected[0], rel=1e-8)
        assert beta == pytest.approx(expected[1], rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("n", [900, N])
def test_balanced_cells_are_those_of_memory(n):
    region, memory, labels = pair(n, cells=32)
    g = memory.objective.design.matrix[:20]
    Phi, y = memory.objective.design.matrix, Y[:n]
    for K in (16, 32):
        v, beta = of_rows(Phi, y, labels % K, g)
        expected = balanced_band(beta, sigma(v), 0.9)
        band = region.band(X[:20], 0.9, method="cells", cells=K)
        middle, half = (band.lower + band.upper) / 2, (band.upper - band.lower) / 2
        assert band.attained.tolist() == [1 - expected.q / K] * 20
        assert middle == pytest.approx(expected.estimate, rel=1e-9, abs=1e-9)
        assert half == pytest.approx(expected.half_width, rel=1e-6)


def test_auto_takes_balanced_cells_where_they_are_narrower():
    large = stream(32, m=100).partial_fit(X, Y).region()
    chosen, joint = (
        large.band(X[:9], method="auto", level=0.9),
        large.band(X[:9], method="joint", level=0.9),
    )
    assert (chosen.method, joint.method) == ("balanced cells", "joint region")
    assert (chosen.upper - chosen.lower).mean() < (joint.upper - joint.lower).mean()
    assert large.summary(simultaneous=True).method == ("balanced cells",) * 4
    assert large.band(X[:9], 0.99, method="auto").method == "joint region"  # takes 128 cells
    small, _, _ = pair(70, cells=32)
    assert small.band(X[:9], method="auto", level=0.9).method == "joint region"


@pytest.mark.slow
def test_the_choice_of_the_cells_never_sees_y():
    known = []
    for y in (Y, 1e3 * np.sign(Y) * X[:, 0], X[:, 0] + 0.04 * Y, np.zeros(N)):
        region = stream(32).partial_fit(X, y).region()
        summary = region.summary(0.95)
        band = region.band(X[:5], method="cells", level=0.9)
        merged = [way.merged for way in region._numbers._ways.values()]
        known.append((merged, summary.level.tolist(), band.attained.tolist()))
        v, _ = of_stream(region, 8, np.eye(4))
        assert v == pytest.approx(of_stream(region, 8, np.eye(4))[0])
    assert known[0] == known[1] == known[2] == known[3]


def test_no_seed_decides_the_cells():
    found = [stream(32, seed=seed).partial_fit(X, Y).region().summary() for seed in (0, 7)]
    assert numbers(found[0])[1:] == numbers(found[1])[1:]


# --- digits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [2.0**10, 2.0**20])
def test_large_means_cost_no_digits(shift):
    """The rows are shifted without rounding, so slopes and values are those of the rows before."""
    x, y = (np.round(values * 2**12) / 2**12 for values in (X, Y))
    near = stream().partial_fit(x, y).region()
    far = stream().partial_fit(x + shift, y - 3 * shift).region()
    found, expected = far.summary(cells=16), near.summary(cells=16)
    width = expected.upper - expected.lower
    assert found.estimate[1:] == pytest.approx(expected.estimate[1:], abs=1e-9)
    for ends in ("lower", "upper"):
        off = np.abs(getattr(found, ends) - getattr(expected, ends))[1:]
        assert (off < 3e-3 * width[1:]).all()
    inputs = x[:5]
    one = far.band(inputs + shift, simultaneous=False, cells=16, level=0.9)
    two = near.band(inputs, simultaneous=False, cells=16, level=0.9)
    assert one.lower + 3 * shift == pytest.approx(two.lower, abs=3e-3)
    assert one.upper + 3 * shift == pytest.approx(two.upper, abs=3e-3)


def test_a_column_that_some_cells_lack():
    """Cells without the level of a factor do not identify its coefficient, and serve the others."""
    dummy = np.zeros(N)
    dummy[[5, 700, 701, 1500, 2900]] = 1.0
    labels = stream()._cells(0, N)
    have = sorted(set(labels[dummy > 0].tolist()))
    region = stream().partial_fit(np.column_stack([X, dummy]), Y).region()
    v, _ = of_stream(region, 16, np.eye(5))
    assert np.flatnonzero(v[4]).tolist() == have
    assert (v[:4] > 0).all()
    summary = region.summary(0.95)
    assert np.isinf(summary.upper[4])
    assert np.isfinite(summary.upper[:4]).all()
    assert "x3" in str(summary)


def test_columns_that_are_dependent():
    few = np.round(X * 2**10) / 2**10  # of few digits, so that sums of columns are exact
    both = np.column_stack([few, few[:, 0] + few[:, 1], np.full(N, 1e6)])
    summary = stream().partial_fit(both, Y).region().summary(functionals=np.eye(6)[[3, 1, 5]])
    assert np.isfinite(summary.upper).tolist() == [True, False, False]
    rounded = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.raises(ValueError, match="depend on each other up to rounding"):
        stream().partial_fit(rounded, Y).region()


# --- exact ---------------------------------------------------------------------------------------


def streamed(cells, x, y):
    """v and β in the cells of a stream, made as the region makes them."""
    one = stream(cells, LinearRegression(fit_intercept=False), m=2).partial_fit(x, y)
    return of_stream(one.region(), cells, np.eye(x.shape[1]))


@pytest.mark.slow
@pytest.mark.parametrize("leaf", [1024, 4], ids=["few rows", "sums"])
def test_every_rank_is_equally_frequent(leaf, monkeypatch):
    """All 2^8 signs of fixed absolute noise: each of the 8 ranks of the truth occurs 32 times.

    Noise e and -e have the same rank, so one of them stands for both.
    """
    monkeypatch.setattr(_sums, "LEAF_ROWS", leaf)
    rng = np.random.default_rng(2)
    x = np.column_stack([np.ones(8), rng.normal(size=8)])
    size = rng.lognormal(size=8)
    signs = [(1.0, *rest) for rest in itertools.product([-1.0, 1.0], repeat=7)]
    found = [streamed(4, x, 2.0 - 0.5 * x[:, 1] + size * s) for s in signs]
    v, beta = (np.array([one[k][1] for one in found]) for k in (0, 1))
    tested = intervals(beta, v, 0.5, -0.5)
    position = tested.m - tested.count
    assert np.bincount(position, minlength=9).tolist() == [0] + [16] * 8


@pytest.mark.slow
def test_coverage_is_that_of_the_level(monkeypatch):
    """Streams with noise of very different sizes: one number, and all at once.

    One of the eight ranks too many or too few is 1.4 times the half-width of the band.
    """
    monkeypatch.setattr(_sums, "LEAF_ROWS", 16)
    rng, truth, runs = np.random.default_rng(4), np.array([0.5, -1.0]), 600
    found = []
    for _ in range(runs):
        x = rng.normal(size=(24, 2))
        y = x @ truth + (1 + 3 * np.abs(x[:, 0])) * rng.standard_t(2, size=24)
        found.append(streamed(4, x, y))
    v, beta = (np.array([one[k][0] for one in found]) for k in (0, 1))
    ends = intervals(beta, v, 0.75)
    alone = int(((ends.lower <= truth[0]) & (truth[0] <= ends.upper)).sum())
    bands = [balanced_band(beta, sigma(v), 0.75) for v, beta in found]
    together = sum(bool((np.abs(b.estimate - truth) <= b.half_width).all()) for b in bands)
    for count, level in ((alone, 0.75), (together, 0.75)):
        law = binom(runs, level)
        assert law.ppf(5e-7) <= count <= law.ppf(1 - 5e-7)


# --- chunks, shards, copies, files --------------------------------------------------------------

WHOLE = {offset: sums_of(stream().partial_fit(X + offset, Y).region()) for offset in (0.0, 1e6)}


@pytest.mark.slow
def test_chunks_do_not_change_an_answer():
    whole, chunks = stream().partial_fit(X, Y), stream()
    for first in range(0, N, 700):
        chunks.partial_fit(X[first : first + 700], Y[first : first + 700])
    assert answers(chunks.region()) == answers(whole.region())


@settings(derandomize=True, max_examples=20, deadline=None)
@given(
    cuts=st.lists(st.integers(1, N - 1), max_size=6),
    order=st.randoms(use_true_random=False),
    offset=st.sampled_from([0.0, 1e6]),
    merged=st.booleans(),
)
def test_neither_chunks_nor_shards_change_a_bit(cuts, order, offset, merged):
    spans = list(itertools.pairwise(sorted({0, N, *cuts})))
    order.shuffle(spans)
    whole = stream()
    for a, b in spans:
        one = stream() if merged else whole
        one.partial_fit(X[a:b] + offset, Y[a:b], first_row=a)
        if merged:
            whole.merge(one)
    assert sums_of(whole.region()) == WHOLE[offset]


@pytest.mark.parametrize("noise", [None, BLOCKS], ids=["rows", "blocks"])
@pytest.mark.parametrize("cut", [0, 500, 1024, 2300])
def test_a_checkpoint_keeps_the_cells(cut, noise, tmp_path):
    straight = sums_of(stream(noise=noise).partial_fit(X, Y).region())
    stream(noise=noise).partial_fit(X[:cut], Y[:cut]).save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c").partial_fit(X[cut:], Y[cut:])
    assert sums_of(loaded.region()) == straight


@pytest.mark.parametrize(
    "kind", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
@pytest.mark.parametrize("cut", [500, 1500])
def test_copies_go_their_own_way(kind, cut):
    one = stream().partial_fit(X[:cut], Y[:cut])
    two = kind(one)
    two.partial_fit(X[:N] * 7, Y - 100)
    assert sums_of(one.partial_fit(X[cut:], Y[cut:]).region()) == WHOLE[0.0]


def tampered(path, header=None, **arrays):
    stream().partial_fit(X, Y).save(path)
    old, stored = archive.read(path)
    stored = {name: a for name, a in {**stored, **arrays}.items() if a is not None}
    archive.write(path, {**old, **(header or {})}, stored)
    return path


DAMAGE = {
    "more cells than sums": ({"cells": 17}, {}),
    "no sums": ({}, {"cells0": None}),
    "sums of another shape": ({}, {"cells0": np.zeros((16, 4, 4))}),
    "sums of another type": ({}, {"cells0": np.zeros((16, 5, 5), dtype=np.int64)}),
    "no key": ({}, {"cell_key": None}),
    "a short key": ({}, {"cell_key": np.zeros(1, dtype=np.uint64)}),
    "one cell": ({"cells": 1}, {}),
    "a fraction": ({"cells": 16.0}, {}),
    "a huge number": ({"cells": 10**12}, {}),
    "sums without cells": ({"cells": 0}, {}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_files_whose_cells_do_not_fit_are_refused(damage, tmp_path):
    header, arrays = DAMAGE[damage]
    with pytest.raises(ValueError, match="not a checkpoint"):
        ua.StreamingRegion.load(tampered(tmp_path / "c", header, **arrays))


def test_the_key_of_the_cells_comes_from_the_file(tmp_path):
    key = np.array([3, 4], dtype=np.uint64)
    loaded = ua.StreamingRegion.load(tampered(tmp_path / "c", cell_key=key))
    assert loaded._cells(0, 50).tolist() == RowCells(16, key, loaded.noise)(0, 50).tolist()
    assert loaded._cells(0, 50).tolist() != stream()._cells(0, 50).tolist()


def test_a_file_with_cells_for_permutations_is_refused(tmp_path):
    path = tmp_path / "c"
    noise = ua.noise.ExchangeableWithin(30)
    stream(None, noise=noise).partial_fit(X[:90], Y[:90]).save(path)
    header, arrays = archive.read(path)
    key = np.zeros(2, dtype=np.uint64)
    archive.write(path, {**header, "cells": 8}, {**arrays, "cell_key": key})
    with pytest.raises(ValueError, match=r"not a checkpoint.*no signs"):
        ua.StreamingRegion.load(path)


# --- refusals -----------------------------------------------------------------------------------

WRONG = {
    "text": ("many", "cells is not a number of cells: expected an integer from 2 to 256"),
    "one": (1, "given 1"),
    "zero": (0, "given 0"),
    "too many": (300, "given 300"),
    "a boolean": (True, "given True"),
    "labels": ([0, 1, 1], r"given \[0, 1, 1\]"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_numbers_of_cells_are_refused(wrong):
    cells, match = WRONG[wrong]
    with pytest.raises(ValueError, match=match):
        stream(cells)


def test_permutations_have_no_cells():
    with pytest.raises(ValueError, match=r"cells need noise whose signs may change.*Leave out"):
        stream(noise=ua.noise.ExchangeableWithin(30))


def test_a_class_that_draws_other_signs_has_no_cells():
    class Alternating(ua.noise.Symmetric):
        def draw_rows(self, key, first, count, size):
            return super().draw_rows(key, first // 2, count, size)

    with pytest.raises(ValueError, match="cells need noise whose signs may change"):
        stream(noise=Alternating())


def test_streams_with_other_cells_do_not_merge():
    with pytest.raises(ValueError, match="another number of cells: expected 16, given 12"):
        stream(16).merge(stream(12).partial_fit(X[:9], Y[:9]))


def test_a_stream_without_cells_says_how_to_collect_them():
    region = stream(None).partial_fit(X, Y).region()
    asked = [
        lambda: region.summary(),
        lambda: region.interval("x0", simultaneous=False, level=0.9),
        lambda: region.band(X[:2], simultaneous=False, level=0.9),
        lambda: region.hypothesis("x0"),
        lambda: region.band(X[:2], method="cells", level=0.9),
    ]
    for ask in asked:
        with pytest.raises(ua.NotAvailable, match=r"StreamingRegion\(\.\.\., cells=32\)"):
            ask()
    assert region.band(X[:2], method="auto", level=0.9).method == "joint region"


REGION = stream().partial_fit(X, Y).region()
ASKED = {
    "halves": (
        lambda: REGION.summary(method="halves"),
        ua.NotAvailable,
        "method does not go with a stream",
    ),
    "robust": (
        lambda: REGION.hypothesis("x0", cell_estimate="median"),
        ua.NotAvailable,
        "cell_estimate does not go with a stream",
    ),
    "values with a norm bound": (
        lambda: REGION.band(X[:2], norm_bound=5.0, simultaneous=False, level=0.9),
        ua.NotAvailable,
        "with a norm bound or model error need the rows of the data.*sums over them: build the",
    ),
    "a model error": (
        lambda: REGION.hypothesis("x0", model_error=0.1),
        ua.NotAvailable,
        "with a norm bound or model error need the rows",
    ),
    "a band with a norm bound in cells": (
        lambda: REGION.band(X[:2], norm_bound=5.0, method="cells", level=0.9),
        ua.NotAvailable,
        "with a norm bound or model error need the rows",
    ),
    "labels": (
        lambda: REGION.summary(cells=np.arange(N) % 8),
        ValueError,
        r"cells cannot be labels for a stream.*given labels of shape \(3000,\)",
    ),
    "too many": (
        lambda: REGION.summary(cells=32),
        ValueError,
        "more than the stream has collected: expected at most 16, given 32",
    ),
    "too many at once": (
        lambda: REGION.band(X[:2], method="cells", cells=32, level=0.9),
        ua.NotAvailable,
        "it takes 32 cells, and the stream has 16",
    ),
    "a high level at once": (
        lambda: REGION.band(X[:2], 0.95, method="cells"),
        ua.NotAvailable,
        "it takes 32 cells, and the stream has 16",
    ),
    "not a number": (lambda: REGION.summary(cells=2.5), ValueError, "not a number of cells"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_a_stream_cannot_answer_is_refused(asked):
    ask, error, match = ASKED[asked]
    with pytest.raises(error, match=match):
        ask()


def test_too_few_cells_for_a_level_are_explained():
    summary = REGION.summary(0.95, cells=5)
    assert np.isinf(summary.upper).all()
    assert "5" in str(summary)
    assert np.isfinite(REGION.summary(0.9, cells=5).upper).all()
