"""A stream names causes that are possible, and remedies that work there."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.streaming import _sums

N = 300


@pytest.fixture(autouse=True)
def _more_than_a_leaf(monkeypatch):
    monkeypatch.setattr(_sums, "LEAF_ROWS", 128)


def stream_of(X, y, **options):
    model = LinearRegression()
    return ua.StreamingRegion(model, random_state=0, **options).partial_fit(X, y).region()


def with_sentinel():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 2))
    y = X @ [1.0, 1.0] + rng.laplace(size=N)
    X[150, 0] = 1e10
    return X, y


def test_a_sentinel_calls_for_memory_and_not_for_more_rows():
    X, y = with_sentinel()
    region = stream_of(X, y, cells=32)
    one_at_a_time = region.interval(level=0.9, simultaneous=False)
    assert np.isinf(one_at_a_time.upper[1])
    for text in map(str, (region.summary(), one_at_a_time, region.interval(level=0.9))):
        text = " ".join(text.split())
        assert "ua.confidence_region(estimator, X, y)" in text
        assert "one huge number in a column" in text
        assert "would be enough" not in text
    memory = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    assert np.isfinite(memory.interval(level=0.9).upper).all()  # the remedy works


def test_a_small_reference_group_is_named_as_a_cause():
    rng = np.random.default_rng(0)
    group = np.append([2, 2, 2], rng.integers(0, 2, size=N - 3))
    X = np.eye(3)[group][:, :2]
    y = X @ [1.0, 2.0] + rng.laplace(size=N)
    found = stream_of(X, y).bounded(0.9)
    assert found.verdict == "undetermined"
    assert "A small group of rows" in str(found)
    assert "too few digits" not in str(found)
    assert "use a scale" not in str(found)
    memory = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    assert memory.bounded(0.9).verdict == "unbounded"


def with_rare_level(ones):
    rng = np.random.default_rng(0)
    X = np.zeros((N, 2))
    X[:, 1] = rng.normal(size=N)
    X[7 : 7 + 40 * ones : 40, 0] = 1.0
    return X, X @ [1.0, 1.0] + rng.laplace(size=N)


def test_noise_that_a_stream_refuses_is_named_for_memory():
    X, y = with_rare_level(1)
    text = str(stream_of(X, y).bounded(0.9))
    assert "in memory, noise='symmetric-exchangeable'" in text
    with pytest.raises((ValueError, TypeError)):
        ua.StreamingRegion(LinearRegression(), noise="symmetric-exchangeable")
    settings = {"noise": "symmetric-exchangeable", "m": 200, "random_state": 0}
    memory = ua.confidence_region(LinearRegression(), X, y, **settings)
    assert memory.bounded(0.9).verdict == "bounded"  # the remedy works


@pytest.mark.parametrize("ones", [1, 4])
def test_memory_is_not_named_for_a_column_that_is_too_rare_there_as_well(ones):
    X, y = with_rare_level(ones)
    region = stream_of(X, y, cells=32)
    rows = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.5]]  # the coefficient, and a value that needs it
    memory = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    for one in (region, memory):
        found = one.interval(rows, level=0.9, simultaneous=False)
        assert np.isinf(found.upper).all()
        assert "in memory" not in str(found)
        assert "rows like these would be enough" in str(found)
    assert np.isfinite(region.interval(rows, level=0.9, norm_bound=5.0).upper).all()


def test_memory_is_named_for_a_column_with_as_many_rows_as_cells():
    X, y = with_rare_level(0)
    cells = ua.StreamingRegion(LinearRegression(), cells=8, random_state=0)._cells(0, N)
    X[np.flatnonzero(cells < 3)[:5], 0] = 1.0  # five rows in three cells
    region = stream_of(X, y, cells=8)
    found = region.interval([[0.0, 1.0, 0.0]], level=0.9, simultaneous=False)
    assert np.isinf(found.upper).all()
    assert "ua.confidence_region(estimator, X, y)" in str(found)
    memory = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    # Its division of the rows depends on the inputs.
    found = memory.interval([[0.0, 1.0, 0.0]], level=0.9, simultaneous=False)
    assert np.isfinite(found.upper).all()


def test_scales_are_not_blamed_for_a_small_group():
    rng = np.random.default_rng(0)
    group = np.append([2, 2, 2], rng.integers(0, 2, size=N - 3))
    X = np.eye(3)[group][:, :2]
    y = X @ [1.0, 2.0] + rng.laplace(size=N)
    region, free = stream_of(X, y), np.array([1.0, -1.0, -1.0])
    memory = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    for ask in (
        lambda region: region.rank(region.estimate + 1e8 * free),
        lambda region: region.crossings(free, level=0.9),
        lambda region: region.reach(free, level=0.9),
    ):
        with pytest.raises(ValueError, match="from sums over the rows") as refused:
            ask(region)
        assert "ua.confidence_region(estimator, X, y)" in str(refused.value)
        assert "escale" not in str(refused.value)
        ask(memory)  # the remedy works
