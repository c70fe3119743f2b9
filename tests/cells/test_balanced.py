"""Simultaneous bands from balanced cells: exact, counted over the signs of the cells."""

from itertools import product

import numpy as np
import pytest
from exact_cells import within_binomial_band
from scipy.linalg import hadamard
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.cells import (
    balanced_band,
    balanced_division,
    balanced_statistic,
    estimates,
    factors_of_rows,
)
from unassuming.cells.division import _search


def rank_of_truth(error, v, truth):
    """The rank of T_0 among the K statistics."""
    band = balanced_band(truth[:, None] + error, v, 0.5)
    first = balanced_statistic(truth[:, None] + error, v, truth)
    return 1 + np.count_nonzero(band.statistics < first)


def numbers(K, N=5):
    rng = np.random.default_rng(K)
    return rng.standard_cauchy((N, K)), rng.uniform(0.5, 2, size=(N, K)), rng.normal(size=N)


def test_every_rank_occurs_equally_often_over_all_signs_of_eight_cells():
    error, v, truth = numbers(8)
    signs = np.array(list(product((1, -1), repeat=8)))
    ranks = [rank_of_truth(s * error, v, truth) for s in signs]
    assert np.bincount(ranks).tolist() == [0] + [256 // 8] * 8


def test_every_rank_occurs_once_in_each_coset_of_the_signs_of_sixteen_cells():
    """The cosets of the Hadamard group divide all 2^16 sign vectors."""
    error, v, truth = numbers(16)
    rng = np.random.default_rng(0)
    for coset in rng.choice((1, -1), size=(40, 16)):
        ranks = [rank_of_truth(coset * s * error, v, truth) for s in hadamard(16)]
        assert sorted(ranks) == list(range(1, 17))


@pytest.mark.parametrize(("K", "level", "q"), [(16, 0.9, 1), (32, 0.9, 3), (32, 0.95, 1)])
def test_the_band_holds_exactly_if_the_rank_is_small(K, level, q):
    error, v, truth = numbers(K)
    inside = 0
    for s in hadamard(K):
        band = balanced_band(truth[:, None] + s * error, v, level)
        assert (band.q, band.m) == (q, K)
        inside += bool((np.abs(band.estimate - truth) <= band.half_width).all())
    assert inside == K - q


@pytest.mark.slow
def test_coverage_is_that_of_the_level_and_not_more():
    n, runs = 320, 2000
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-1, 1, size=n))
    Phi = np.column_stack([np.ones(n), x, x**2])
    grid = Phi[::20]
    division = balanced_division(Phi, grid, 0.9, cells=16)
    maps = np.zeros((n, 3, 16))  # θ_b = maps[:, :, b]ᵀy
    for b in range(16):
        rows = division.labels == b
        maps[rows, :, b] = np.linalg.pinv(Phi[rows]).T
    v = estimates(factors_of_rows(Phi, x, division.labels, 16), grid).v
    noise = rng.standard_t(3, size=(runs, n)) * (1 + x)
    cells = (noise @ maps.reshape(n, -1)).reshape(runs, 3, 16)
    inside = 0
    for theta in cells:
        band = balanced_band(grid @ theta, v, 0.9)
        inside += bool((np.abs(band.estimate) <= band.half_width).all())
    assert within_binomial_band(inside, runs, 15 / 16)


def test_numbers_that_some_cell_does_not_identify_have_no_bounds():
    beta, v = np.arange(8.0).reshape(2, 4), np.ones((2, 4))
    v[1, 2] = 0
    band = balanced_band(beta, v, 0.75)
    assert np.isfinite(band.half_width).tolist() == [True, False]
    alone = balanced_band(beta[:1], v[:1], 0.75)
    assert band.half_width[0] == alone.half_width[0]
    assert np.isinf(balanced_band(beta, v, 0.9).half_width).all()


@pytest.mark.slow
def test_the_number_of_cells_and_the_predicted_width():
    rng = np.random.default_rng(2)
    n = 1200
    Phi = np.column_stack([np.ones(n), rng.normal(size=(n, 5))])
    functionals = Phi[:40]
    division = balanced_division(Phi, functionals, 0.9)
    assert division.K in (32, 64)
    widths = []
    for _ in range(60):
        found = estimates(
            factors_of_rows(Phi, rng.normal(size=n), division.labels, division.K), functionals
        )
        widths.append(balanced_band(found.beta, found.v, 0.9).half_width)
    np.testing.assert_allclose(np.mean(widths, axis=0), division.predicted, rtol=0.1)
    assert balanced_division(Phi[:60], functionals, 0.9) is None
    clusters = np.repeat(np.arange(60), 20)
    kept = balanced_division(Phi, functionals, 0.9, clusters=clusters)
    assert kept.K <= 32
    assert all(len(set(kept.labels[clusters == u])) == 1 for u in range(60))


def test_the_rows_are_divided_once_for_a_number_of_cells(monkeypatch):
    """A division depends neither on the functionals nor on the level."""
    Phi = np.random.default_rng(0).normal(size=(160, 4))
    alone = balanced_division(Phi, np.eye(4)[:2], 0.5, cells=16)
    made = {}
    balanced_division(Phi, Phi[:5], 0.9, cells=16, made=made)
    monkeypatch.setattr(_search, "balance", None)  # nothing may search again
    again = balanced_division(Phi, np.eye(4)[:2], 0.5, cells=16, made=made)
    assert (again.labels == alone.labels).all()
    assert (again.predicted == alone.predicted).all()


def test_a_region_keeps_its_divisions(monkeypatch):
    X, y, _ = ua.datasets.linear(n=200, d=3, random_state=0)
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    first = region.interval(level=0.9, method="cells", cells=16, simultaneous=True)
    monkeypatch.setattr(_search, "balance", None)
    second = region.interval(level=0.9, method="cells", cells=16, simultaneous=True)
    assert (second.lower == first.lower).all()
    assert (
        region.interval(level=0.75, method="cells", cells=16, simultaneous=True).method
        == "balanced cells"
    )
