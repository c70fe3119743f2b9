"""The division: what it keeps, what it depends on, and the search behind it."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from unassuming.cells import (
    approximate_width,
    candidates,
    divide,
    estimates,
    factors_of_rows,
    intervals,
    opposite_pairs,
    predicted_width,
    width_factor,
)
from unassuming.cells.division._balance import balance, deal
from unassuming.cells.division._basis import RIDGE, basis_of, information, second_moments
from unassuming.cells.division._improve import improve
from unassuming.cells.division._units import ClusterUnits, RowUnits


def gaussian(n, d, seed=0):
    return np.column_stack([np.ones(n), np.random.default_rng(seed).normal(size=(n, d - 1))])


def kept(Phi, functionals, labels):
    """The share of information, from the definition."""
    K = labels.max() + 1
    v = estimates(factors_of_rows(Phi, np.zeros(len(Phi)), labels, K), functionals).v
    one = np.zeros(len(Phi), dtype=int)
    whole = estimates(factors_of_rows(Phi, np.zeros(len(Phi)), one, 1), functionals).v
    return v.sum(axis=1) / whole[:, 0]


def test_what_the_shared_division_keeps_of_diabetes():
    Phi = np.column_stack([np.ones(442), load_diabetes().data])
    division = divide(Phi, np.eye(11), 0.95, cells=12)
    assert division.sizes.tolist() == [12]
    share = kept(Phi, np.eye(11), division.labels[0])
    np.testing.assert_allclose(division.kept, share, rtol=1e-5)
    assert 0.9 < share.min() < 0.95 < share.max() < 0.99
    random = np.random.default_rng(0).permutation(np.arange(442) % 12)
    assert kept(Phi, np.eye(11), random).max() < 0.85


@pytest.mark.parametrize(("n", "d", "level", "least"), [(60, 5, 0.95, 0.9), (30, 3, 0.95, 0.85)])
def test_what_small_designs_keep(n, d, level, least):
    division = divide(gaussian(n, d), np.eye(d), level)
    assert division.kept.min() > least


def test_one_number_keeps_more_with_a_division_of_its_own():
    Phi = gaussian(200, 20)
    single = divide(Phi, np.eye(20)[3:4], 0.95, cells=8)
    basis = basis_of(Phi, np.eye(20))
    units = RowUnits(basis.rows)
    rng = np.random.default_rng(0)
    start = balance(units, deal(units.leverage, 8, rng), 8, rng)
    assert kept(Phi, np.eye(20)[3:4], start)[0] < 0.8
    assert single.kept[0] > 0.9


def test_a_factor_with_six_rows_a_level():
    """Each coefficient gets six cells: as many as the level needs."""
    rng = np.random.default_rng(1)
    level = np.repeat(np.arange(8), 6)
    Phi = np.column_stack([np.ones(48), rng.normal(size=48), level[:, None] == np.arange(1, 8)])
    division = divide(Phi, np.eye(9), 0.95)
    for k, K in enumerate(division.sizes.tolist()):
        mine = np.eye(9)[division.which == k]
        found = estimates(factors_of_rows(Phi, np.zeros(48), division.labels[k], K), mine)
        assert ((found.v > 0).sum(axis=1) >= 6).all()
    assert np.sort(division.kept)[1] > 0.85  # the slope needs rows of a level together


def test_columns_that_depend_on_each_other_are_not_identified():
    level = np.repeat(np.arange(3), 10)
    Phi = np.column_stack([np.ones(30), level[:, None] == np.arange(3)]).astype(float)
    functionals = np.vstack([np.eye(4), [0, 1, -1, 0], [1, 1, 0, 0]])
    division = divide(Phi, functionals, 0.9)
    assert (division.kept > 0).tolist() == [False] * 4 + [True] * 2


def test_too_few_rows_are_divided_into_as_many_cells_as_they_allow():
    division = divide(gaussian(16, 7), np.eye(7), 0.95)
    assert division.sizes.tolist() == [2]
    found = estimates(
        factors_of_rows(gaussian(16, 7), np.ones(16), division.labels[0], division.sizes[0]),
        np.eye(7),
    )
    assert (found.v > 0).all()
    assert np.isinf(intervals(found.beta, found.v, 0.95).upper).all()
    assert np.isinf(division.width).all()


def test_clusters_stay_together_and_may_differ_in_size():
    rng = np.random.default_rng(2)
    clusters = rng.integers(0, 25, size=300)
    Phi = gaussian(300, 3) + rng.normal(size=(25, 3))[clusters]
    division = divide(Phi, np.eye(3), 0.95, clusters=clusters)
    for labels in division.labels:
        assert all(len(set(labels[clusters == u])) == 1 for u in range(25))
    assert division.kept.min() > 0.6


def test_a_treatment_of_whole_clusters():
    """Five treated clusters allow five cells at most."""
    clusters = np.repeat(np.arange(14), 4)
    Phi = np.column_stack([np.ones(56), clusters < 5])
    division = divide(Phi, np.eye(2)[1:], 0.9, clusters=clusters)
    labels, K = division.labels[0], division.sizes[0]
    v = estimates(factors_of_rows(Phi, np.ones(56), labels, K), np.eye(2)[1:]).v
    assert (v > 0).sum() == 5


def test_the_seed_decides_and_given_cells_are_used():
    Phi = gaussian(80, 4)
    first, again = (divide(Phi, np.eye(4), 0.9, seed=1) for _ in range(2))
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.labels, divide(Phi, np.eye(4), 0.9, seed=2).labels)
    labels = np.arange(80) % 7
    given = divide(Phi, np.eye(4), 0.9, cells=labels)
    assert np.array_equal(given.labels, labels[None])
    np.testing.assert_allclose(given.kept, kept(Phi, np.eye(4), labels), rtol=1e-5)
    assert divide(Phi, np.eye(4), 0.9, cells=6).sizes.tolist() == [6]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (11, "cells does not fit the data: expected a number from 2 to the 10 rows, given 11. Ask"),
        (np.zeros(9, dtype=int), "one cell for each of the 10 rows, numbered from 0, given an arr"),
        (np.arange(10) - 1, "numbered from 0"),
        (
            np.arange(10) // 3,
            "divides a cluster: .* given two cells for the cluster of row 3 .counted from zero",
        ),
    ],
)
def test_cells_that_do_not_fit(cells, message):
    clusters = np.repeat(np.arange(5), 2) if "cluster" in message else None
    with pytest.raises(ValueError, match=message):
        divide(gaussian(10, 1), np.eye(1), 0.5, cells=cells, clusters=clusters)


@pytest.mark.slow
def test_the_predicted_width_is_that_of_the_intervals():
    rng = np.random.default_rng(4)
    Phi = np.column_stack([np.ones(90), np.exp(rng.normal(size=(90, 3)))])
    division = divide(Phi, np.eye(4), 0.9)
    widths = []
    for _ in range(60):
        y, row = rng.normal(size=90), []
        for j in range(4):
            labels, K = division.labels[division.which[j]], division.sizes[division.which[j]]
            found = estimates(factors_of_rows(Phi, y, labels, K), np.eye(4)[j : j + 1])
            got = intervals(found.beta, found.v, 0.9)
            row.append(got.upper[0] - got.lower[0])
        widths.append(row)
    np.testing.assert_allclose(division.width, np.mean(widths, axis=0), rtol=0.2)
    v = np.random.default_rng(5).uniform(1, 4, size=(5, 10))
    np.testing.assert_allclose(approximate_width(v, 0.95), predicted_width(v, 0.95), rtol=0.06)
    assert np.isinf(divide(Phi[:12], np.eye(4), 0.9).width).all()


def test_many_rows_are_dealt_without_a_search():
    Phi = gaussian(20_000, 3)
    Phi[:, 2] = 0
    Phi[np.random.default_rng(0).choice(20_000, 16, replace=False), 2] = 1  # a rare level
    division = divide(Phi, np.eye(3), 0.95)
    assert len(division.labels) == 1
    assert division.kept.min() > 0.95


def test_cells_are_compared_by_their_predicted_width():
    """The factors of docs/theory.md 9.3, from far more draws than the 64 that are used here."""
    table = {0.9: {5: 2.61, 6: 1.99, 8: 1.88, 12: 1.77}, 0.95: {6: 3.17, 7: 2.52, 10: 2.19}}
    for level, factors in table.items():
        for K, factor in factors.items():
            assert width_factor(K, level) == pytest.approx(factor, rel=0.04)
    assert width_factor(5, 0.95) == np.inf
    v = np.array([[4.0, 4, 4, 4, 4, 4, 0, 0]])
    np.testing.assert_allclose(predicted_width(v, 0.95)[0], 2 * width_factor(6, 0.95) / 24**0.5)
    assert candidates(0.99, 11) == [8, 10]


def test_the_change_of_information_by_a_swap():
    rng = np.random.default_rng(3)
    rows, h = rng.normal(size=(12, 3)), rng.normal(size=3)
    units, cells = np.arange(12), np.repeat([1, 0], 6)
    M = second_moments(rows, cells, 2)
    fast = RowUnits(rows).information(M, h, units, cells)
    clusters = ClusterUnits(rows[:, :, None] * rows[:, None, :])
    np.testing.assert_allclose(clusters.information(M, h, units, cells), fast, rtol=1e-9)
    for i, j in ((0, 6), (3, 11), (8, 2)):
        kept_rows = rows[[*(k for k in units if cells[k] == cells[i] and k != i), j]]
        G = kept_rows.T @ kept_rows + RIDGE * np.eye(3)
        np.testing.assert_allclose(fast[i, j], 1 / (h @ np.linalg.solve(G, h)), rtol=1e-9)
    for i in range(12):  # nothing changes if a unit takes its own place
        G = M[cells[i]] + RIDGE * np.eye(3)
        np.testing.assert_allclose(fast[i, i], 1 / (h @ np.linalg.solve(G, h)), rtol=1e-9)


def test_moments_aimed_at_functionals():
    """⟨f_i, f_j⟩ = tr(f_i H f_j), for rows as for clusters of one row."""
    rng = np.random.default_rng(4)
    rows, h = rng.normal(size=(5, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
    f = rows[:, :, None] * rows[:, None, :]
    H = h.T @ h * 3 / 2 + 0.1 * np.eye(3)
    M, every = f[:2].sum(axis=0), np.arange(5)
    for units in (RowUnits(rows).aimed(h), ClusterUnits(f).aimed(h)):
        np.testing.assert_allclose(units.products(every), np.einsum("iab,bc,jca->ij", f, H, f))
        np.testing.assert_allclose(units.along(every, M), np.einsum("iab,bc,ca->i", f, H, M))
        np.testing.assert_allclose(units.leverage, np.einsum("iab,ba->i", f, H))
    for units in (RowUnits(rows), ClusterUnits(f)):
        np.testing.assert_allclose(units.products(every), np.einsum("iab,jba->ij", f, f))


def test_moments_aimed_at_one_number_keep_more_of_it():
    basis = basis_of(gaussian(221, 11), np.eye(11)[3:4])
    h = basis.functionals
    shares = []
    for units in (RowUnits(basis.rows), RowUnits(basis.rows).aimed(h)):
        rng = np.random.default_rng(0)
        labels = balance(units, deal(units.leverage, 12, rng), 12, rng)
        shares.append(information(second_moments(basis.rows, labels, 12), h).sum() / 221)
    assert shares[0] < 0.92 < 0.97 < shares[1]


def test_clusters_move_alone_where_that_helps():
    rows = np.ones((9, 1))
    units = ClusterUnits(second_moments(rows, np.array([0, 0, 0, 0, 1, 1, 2, 3, 4]), 5))
    start = np.array([0, 0, 0, 1, 1])
    labels = improve(units, start, 2, np.ones(1), 0.9, np.random.default_rng(0))
    sizes = np.bincount(labels, weights=units.leverage, minlength=2)
    assert sorted(sizes) == [4, 5]


def test_searches_only_improve():
    Phi = np.exp(gaussian(60, 4))
    basis = basis_of(Phi, np.eye(4))
    units = RowUnits(basis.rows)
    rng = np.random.default_rng(0)
    start = deal(units.leverage, 6, rng)
    balanced = balance(units, start, 6, rng)
    assert np.bincount(balanced).tolist() == [10] * 6

    def spread(labels):
        return np.square(second_moments(basis.rows, labels, 6)).sum()

    assert spread(balanced) < spread(start)
    better = improve(units, balanced, 6, basis.functionals[0], 0.9, rng)

    def width(labels):
        moments = second_moments(basis.rows, labels, 6)
        return predicted_width(information(moments, basis.functionals[:1]), 0.9)[0]

    assert width(better) < width(balanced)


def test_as_many_cells_as_clusters_are_the_clusters():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(7), [3, 9, 4, 5, 8, 6, 3])
    Phi = np.column_stack([np.ones(38), rng.normal(size=38)])
    division = divide(Phi, np.eye(2), 0.9, clusters=clusters, cells=7)
    labels = division.labels[0]
    assert len(np.unique(np.column_stack([labels, clusters]), axis=0)) == 7
    assert (np.bincount(labels) > 0).all()


def structured(name, n):
    """Rows that are alike: mirror images, levels of a factor, integers."""
    x, row = np.linspace(-3, 3, n), np.arange(n)
    return {
        "cubic": np.column_stack([np.ones(n), x, x**2, x**3]),
        "dummies": np.column_stack([np.ones(n), *(row % 4 == k for k in (1, 2, 3)), x]),
        "factor": np.column_stack([np.ones(n), *((row // 5) % 5 == k for k in range(1, 5))]),
    }[name]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", ["cubic", "dummies", "factor"])
@pytest.mark.parametrize("clusters", [None, np.arange(60) // 3], ids=["rows", "clusters"])
def test_rounding_does_not_decide(name, clusters):
    """Other columns that span the same space differ by rounding only, as on other processors."""
    Phi = structured(name, 60).astype(float)
    d = Phi.shape[1]
    plain = divide(Phi, np.eye(d), 0.9, seed=1, clusters=clusters)
    pairs = opposite_pairs(Phi, np.eye(d)[-1])
    for seed in range(3):
        A = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
        turned = divide(Phi @ A, A, 0.9, seed=1, clusters=clusters)
        assert turned.labels.tolist() == plain.labels.tolist()
        assert turned.which.tolist() == plain.which.tolist()
        assert opposite_pairs(Phi @ A, A[-1]).tolist() == pairs.tolist()
