"""Simultaneous bands from balanced cells: exact, counted over the signs of the cells."""

from itertools import product

import numpy as np
import pytest
from exact_cells import within_binomial_band
from scipy.linalg import hadamard

from unassuming.cells.division import balanced_labels, narrowest
from unassuming.cells.estimates import Atoms, fits, places_of
from unassuming.cells.theorem import balanced_band, sigma


def rank_of_truth(error, v, truth):
    """The rank of T_0 among the K statistics, from the formula."""
    K = error.shape[1]
    band = balanced_band(truth[:, None] + error, sigma(v), 0.5, truth)
    first = np.abs(error.mean(axis=1) / sigma(v)).max()
    rank = 1 + np.count_nonzero(band.statistics < first)
    assert round(K * band.pvalue.min()) == K + 1 - rank
    return rank


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
        band = balanced_band(truth[:, None] + s * error, sigma(v), level)
        assert (band.q, band.m) == (q, K)
        inside += bool((np.abs(band.estimate - truth) <= band.half_width).all())
    assert inside == K - q


@pytest.mark.slow
def test_coverage_is_that_of_the_level_and_not_more():
    n, runs, K = 320, 2000, 16
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-1, 1, size=n))
    Q = np.linalg.qr(np.column_stack([np.ones(n), x, x**2]))[0]
    places = places_of(balanced_labels(Q, K))
    G = Atoms.of(Q, np.zeros(n)).products(places)
    maps = np.linalg.solve(G, Q[places].swapaxes(1, 2))  # θ_b = maps_b y_b
    v = fits(G, np.zeros((K, 3)), Q[::20])[0]
    noise = rng.standard_t(3, size=(runs, n)) * (1 + x)
    theta = np.einsum("brs,tbs->trb", maps, noise[:, places])
    bands = (balanced_band(Q[::20] @ one, sigma(v), 0.9) for one in theta)
    inside = sum(bool((np.abs(band.estimate) <= band.half_width).all()) for band in bands)
    assert within_binomial_band(inside, runs, 15 / 16)


def information(Q, U):
    """What K cells say about the numbers U."""
    atoms = Atoms.of(Q, np.zeros(len(Q)))

    def of_cells(K):
        G = atoms.products(places_of(balanced_labels(Q, K)))
        return fits(G, np.zeros(G.shape[:2]), U)[0]

    return of_cells


@pytest.mark.slow
def test_the_number_of_cells_and_the_predicted_width():
    rng = np.random.default_rng(2)
    n = 1200
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, 5))]))[0]
    U = Q[:40] / np.linalg.norm(Q[:40], axis=1, keepdims=True)
    K, predicted = narrowest(information(Q, U), [16, 32, 64], U, 0.9)
    assert K in (32, 64)
    atoms = places_of(balanced_labels(Q, K))
    widths = []
    for _ in range(60):
        sums = Atoms.of(Q, rng.normal(size=n)).sums(atoms)
        v, beta = fits(sums.G, sums.h, U)
        widths.append(balanced_band(beta, sigma(v), 0.9).half_width)
    np.testing.assert_allclose(np.mean(widths, axis=0), predicted, rtol=0.1)
    assert narrowest(information(Q[:60], U), [16], U, 0.9) is None
    assert narrowest(information(Q, U), [], U, 0.9) is None
