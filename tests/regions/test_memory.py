"""The sets of large kernels are taken a few at a time: memory does not grow with m."""

import tracemalloc

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import unassuming as ua
from unassuming.membership.screens._quadratic import LiftedGaps

N = 300


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """A quarter of the working memory, as a matrix of these rows is a quarter of one of 600."""
    for module in ("_forms", "_dense_forms"):
        monkeypatch.setattr(f"unassuming.geometry.quadratic.{module}.BATCH_BYTES", 2**25)
    monkeypatch.setattr("unassuming.geometry.quadratic._free_directions._BATCH_BYTES", 2**24)


def peak(m, act):
    """The largest memory that ``act`` takes, in matrices of n×n numbers."""
    X = np.linspace(0, 10, N)[:, None]
    y = np.sin(X[:, 0]) + np.random.default_rng(0).laplace(size=N)
    model = KernelRidge(kernel="laplacian", gamma=1.0, alpha=1.0)
    region = ua.confidence_region(model, X, y, m=m, random_state=0)
    region.estimate  # noqa: B018
    tracemalloc.start()
    try:
        act(region, X[:3])
        return tracemalloc.get_traced_memory()[1] / (8 * N**2)
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    "act",
    [
        lambda region, X: region.band(X, 0.5, method="joint"),
        lambda region, X: region.ellipsoid(0.5),
        lambda region, X: region.bounded(0.5),
        lambda region, X: region.reach(np.eye(N)[:5], 0.5),
        lambda region, X: region.band(X, 0.5, norm_bound=10.0, method="joint"),
    ],
    ids=["band", "ellipsoid", "bounded", "reach", "norm bound"],
)
def test_memory_does_not_grow_with_the_number_of_sets(act):
    few, many = peak(20, act), peak(28, act)
    assert many < few + 4  # eight sets more would be thirty matrices more
    assert many < 100


def test_memory_of_the_screen_does_not_grow_with_the_number_of_sets(monkeypatch):
    monkeypatch.setattr("unassuming.membership.screens._quadratic.BATCH_BYTES", 2**18)
    rng, n = np.random.default_rng(0), 2000
    X = rng.normal(size=(n, 6))
    peaks = []
    for m in (10, 100):
        region = ua.confidence_region(Ridge(), X, X[:, 0] + rng.laplace(size=n), m=m)
        region.objective.whitening  # noqa: B018
        tracemalloc.start()
        LiftedGaps.build(region.objective, region.perturbations)
        peaks.append(tracemalloc.get_traced_memory()[1] / X.nbytes)
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2  # the images of the columns would be 90 tables more
