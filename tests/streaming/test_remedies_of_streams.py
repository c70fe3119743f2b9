"""A stream names causes that are possible, and remedies that work there."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

N = 1300  # more than a leaf


def stream_of(X, y, **options):
    model = LinearRegression()
    return ua.StreamingRegion(model, random_state=0, **options).partial_fit(X, y).region()


def with_sentinel():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 2))
    y = X @ [1.0, 1.0] + rng.laplace(size=N)
    X[500, 0] = 1e10
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
    assert "rescale" not in str(found)
    memory = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    assert memory.bounded(0.9).verdict == "unbounded"


def test_noise_that_a_stream_refuses_is_named_for_memory():
    rng = np.random.default_rng(0)
    X = np.zeros((N, 2))
    X[:, 1] = rng.normal(size=N)
    X[7, 0] = 1.0
    y = X @ [1.0, 1.0] + rng.laplace(size=N)
    text = str(stream_of(X, y).bounded(0.9))
    assert "in memory, noise='symmetric-exchangeable'" in text
    with pytest.raises((ValueError, TypeError)):
        ua.StreamingRegion(LinearRegression(), noise="symmetric-exchangeable")
