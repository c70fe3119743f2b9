"""The division: a function of the design that keeps as much information as it can."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming._numerics import factor
from unassuming.cells.division import (
    Leading,
    balance,
    deal,
    divide,
    exchange,
    half_width,
    information,
    numbers_of_cells,
    swap,
    width_factor,
)
from unassuming.cells.estimates import Atoms, order_of
from unassuming.cells.theorem import intervals, words


def designed(n=60, d=5, seed=0, kind="normal"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d - 1))
    X = np.exp(X) if kind == "log-normal" else X
    return np.column_stack([np.ones(n), X])


def atoms_of(Phi, units=None, intercept=True):
    found = factor(Phi, np.ones(len(Phi)), intercept=intercept)
    U = found.back[~found.unseen(np.eye(Phi.shape[1]))]
    U = U / np.linalg.norm(U, axis=1, keepdims=True)
    return Atoms.of(found.Q, np.zeros(len(Phi)), units), U


def members(places, N):
    """The cells as a set of sets."""
    return {frozenset(row[row < N].tolist()) for row in places}


def test_ties_in_the_order_are_broken_by_a_permutation_that_the_key_fixes():
    values = np.repeat([1.0, 3.0, 2.0], 40)[:, None]
    order = order_of(values)
    assert sorted(order.tolist()) == list(range(120))
    assert values[order, 0].tolist() == sorted(values[:, 0].tolist(), reverse=True)
    inside = order[:40] - 40
    assert abs(np.corrcoef(inside, np.arange(40))[0, 1]) < 0.5
    assert order.tolist() == order_of(values * (1 + 1e-13)).tolist()
    assert order.tolist() != order_of(values, key=1).tolist()


def test_dealt_back_and_forth():
    assert members(deal(np.arange(8), 4), 8) == {
        frozenset(s) for s in ({0, 7}, {1, 6}, {2, 5}, {3, 4})
    }


def test_an_exchange_is_the_best_one_for_two_cells():
    """Σ_b ‖S_b‖² after every exchange, by brute force."""
    rng = np.random.default_rng(1)
    f = np.vstack([rng.normal(size=(8, 3)), np.zeros(3)])
    f[:8] -= f[:8].mean(axis=0)
    places = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])

    def loss(cells):
        return sum(np.square(f[list(cell)].sum(axis=0)).sum() for cell in cells)

    best = min(
        loss([{0, 1, 2, 3} - {i} | {j}, {4, 5, 6, 7} - {j} | {i}])
        for i in range(4)
        for j in range(4, 8)
    )
    found = balance(places[None], f[None], np.zeros((1, 2, 3)))[0]
    assert loss(found) <= min(best, loss(places)) + 1e-12


@pytest.mark.parametrize("units", [False, True])
def test_exchanges_raise_the_exact_information(units):
    Phi = designed(40, 4, kind="log-normal")
    blocks = np.arange(40) // 2 if units else None
    atoms, U = atoms_of(Phi, blocks)
    leading = Leading(atoms, [deal(atoms.order(), 4)])
    before = np.repeat(leading.places, len(U), axis=0)
    after = exchange(leading, U, before)
    for u, old, new in zip(U, before, after, strict=True):
        totals = [
            np.sqrt(information(atoms, leading.all(places), u[None])).sum() for places in (old, new)
        ]
        assert totals[1] >= totals[0] * (1 - 1e-9)
        assert sorted(new[new < len(atoms)].tolist()) == list(range(len(atoms)))
    assert (
        np.sqrt(information(atoms, leading.all(after[1]), U[1:2])).sum()
        > 1.02 * np.sqrt(information(atoms, leading.all(before[1]), U[1:2])).sum()
    )


def test_every_row_is_in_one_cell_and_large_tables_exchange_leading_rows_only():
    Phi = designed(3000, 3)
    atoms, U = atoms_of(Phi)
    dealt = deal(atoms.order(), 32)
    leading = Leading(atoms, [dealt])
    assert leading.places.size < 1100
    for places in swap(leading, U, np.repeat(leading.places, len(U), axis=0)):
        whole = leading.all(places)
        assert sorted(whole[whole < 3000].tolist()) == list(range(3000))
        moved = {frozenset(r) for r in dealt[:, leading.places.shape[2] :].tolist()}
        assert {frozenset(r) for r in whole[:, leading.places.shape[2] :].tolist()} == moved


TABLES = {
    "normal": designed(60, 5),
    "log-normal": designed(80, 4, kind="log-normal"),
    "integers and dummies": np.column_stack(
        [
            np.ones(90),
            np.random.default_rng(2).integers(0, 5, size=90),
            np.arange(90) % 3 == 1,
            np.arange(90) % 2,
        ]
    ).astype(float),
    "few rows": designed(24, 4),
}


def divisions(Phi, level=0.95):
    """The division of each column that the rows determine, by its position."""
    found = factor(Phi, np.ones(len(Phi)), intercept=True)
    seen = np.flatnonzero(~found.unseen(np.eye(Phi.shape[1])))
    atoms, U = atoms_of(Phi)
    return dict(zip(seen.tolist(), divide(atoms, U, level), strict=True))


def assert_same(one, other, n):
    assert other.width == pytest.approx(one.width, rel=1e-10)
    assert (one.places is None) == (other.places is None)
    if one.places is not None:
        assert members(one.places, n) == members(other.places, n)


@pytest.mark.parametrize("table", TABLES)
def test_order_and_units_of_the_columns_and_a_redundant_one_change_nothing(table):
    Phi = TABLES[table]
    n, d = Phi.shape
    plain = divisions(Phi)
    scaled = divisions(Phi * [1.0, *10.0 ** np.arange(d - 1, dtype=float)] + 0.0)
    moved = divisions(Phi[:, [0, *range(d - 1, 0, -1)]])
    extra = divisions(np.column_stack([Phi, 3 * Phi[:, 1]]))
    for j in range(d):
        assert_same(plain[j], scaled[j], n)
        assert_same(plain[j], moved[(d - j) if j else 0], n)
        if j != 1:
            assert_same(plain[j], extra[j], n)
    assert sorted(extra) == [0, *range(2, d)]


def test_the_order_of_rows_changes_nothing_without_equal_inputs():
    for Phi in (TABLES["normal"], TABLES["log-normal"], TABLES["few rows"]):
        n = len(Phi)
        order = np.random.default_rng(3).permutation(n)
        plain, U = atoms_of(Phi)
        moved, V = atoms_of(Phi[order])
        for a, b in zip(divide(plain, U, 0.95), divide(moved, V, 0.95), strict=True):
            assert a.width == pytest.approx(b.width, rel=1e-10)
            if a.places is not None:
                back = {frozenset(order[list(cell)].tolist()) for cell in members(b.places, n)}
                assert members(a.places, n) == back


GRIDS = {
    "a trend": np.arange(100.0)[:, None],
    "a trend and its square": np.arange(-20.0, 41.0)[:, None] ** [1, 2],
    "two levels of five factors": np.array(list(product((-1.0, 1.0), repeat=5))),
    "three levels of four factors": np.array(list(product((-1.0, 0.0, 1.0), repeat=4))),
    "a square grid": np.array(list(product(np.arange(9.0), repeat=2))),
}


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
@pytest.mark.parametrize("grid", GRIDS)
def test_shuffled_rows_of_a_regular_design_give_the_same_numbers(grid, noise):
    """Leverages tie there although no two inputs are equal."""
    X, rng = GRIDS[grid], np.random.default_rng(0)
    y = X[:, 0] / np.ptp(X[:, 0]) + rng.standard_t(3, size=len(X))
    ends = []
    for order in (np.arange(len(X)), rng.permutation(len(X)), rng.permutation(len(X))):
        region = ua.confidence_region(LinearRegression(), X[order], y[order], noise=noise)
        found = region.summary(functionals=region.names[1:])
        ends.append([found.estimate, found.lower, found.upper, found.pvalue])
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=1e-9, atol=1e-9)


def test_shuffled_rows_of_a_regular_design_give_the_same_halves():
    X = GRIDS["three levels of four factors"][::3]
    y, order = np.random.default_rng(1).normal(size=27), np.random.default_rng(2).permutation(27)
    one, other = (
        ua.confidence_region(LinearRegression(), X[o], y[o]).summary(0.9, method="halves")
        for o in (np.arange(27), order)
    )
    assert np.isfinite(one.upper).any()
    np.testing.assert_allclose(other.lower, one.lower, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.upper, one.upper, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("K", [4, 7, 12])
def test_no_cell_of_clusters_is_empty(K):
    """There are nearly as many cells as clusters, of which some are large."""
    rng = np.random.default_rng(K)
    for seed in range(10):
        sizes = np.random.default_rng(seed).integers(1, 30, size=K + 1 + seed % 3)
        units = np.repeat(np.arange(len(sizes)), sizes)
        Phi = np.column_stack([np.ones(len(units)), rng.normal(size=len(units))])
        atoms, U = atoms_of(Phi, units)
        for one in divide(atoms, U, 0.5, K):
            assert ((one.places < len(atoms)).sum(axis=1) > 0).all()


@pytest.mark.parametrize("huge", [1e3, 1e5, 1e6])
def test_one_huge_cell_of_a_column_does_not_make_intervals_infinite(huge):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    X[7, 1] = huge
    region = ua.confidence_region(LinearRegression(), X, X[:, 0] + rng.normal(size=60))
    found, joint = region.summary(), region.interval(simultaneous=True, method="joint")
    assert np.isfinite([joint.lower, joint.upper, found.lower, found.upper]).all()


@pytest.mark.parametrize(("level", "K"), [(0.9, 6), (0.95, 8), (0.95, 16), (0.99, 10), (0.95, 32)])
def test_predicted_widths_are_those_of_simulated_cells(level, K):
    rng = np.random.default_rng(4)
    for v in (np.ones(K), rng.uniform(0.3, 2, size=K)):
        runs = 3000 if K < 16 else 300
        beta = rng.normal(size=(runs, K)) / np.sqrt(v)
        found = intervals(beta, np.tile(v, (runs, 1)), level)
        half = float((found.upper - found.lower).mean() / 2)
        assert half_width(v, level) == pytest.approx(half, rel=0.06)


def test_the_ideal_width_is_that_of_students_t_for_many_cells():
    assert width_factor(32, 0.95) == pytest.approx(stats.t.ppf(0.975, 31), rel=0.015)
    assert width_factor(5, 0.95) == np.inf
    assert len(words(8)) == 128


@pytest.mark.parametrize(
    ("n", "d", "kind", "bound"),
    [(60, 5, "normal", 2.75), (200, 20, "normal", 2.75), (500, 6, "normal", 2.1)],
)
def test_chosen_cells_keep_enough(n, d, kind, bound):
    """The ideal half-width, all information in 32 equal cells, is 2.01."""
    atoms, U = atoms_of(designed(n, d, kind=kind))
    widths = [one.width for one in divide(atoms, U, 0.95)]
    assert np.median(widths) < bound


def test_which_numbers_of_cells_are_tried():
    assert numbers_of_cells(160, 160, 20) == [8]
    assert numbers_of_cells(159, 159, 20) == []
    assert numbers_of_cells(16, 16, 2) == [8]
    assert numbers_of_cells(12, 400, 3) == [12, 10, 8]
    assert numbers_of_cells(1000, 1000, 3) == [32, 16, 10, 8]


def test_user_chosen_numbers_of_cells():
    atoms, U = atoms_of(np.column_stack([np.ones(60), np.arange(60) % 2]).astype(float))
    for K in (2, 7, 12):
        assert [len(one.places) for one in divide(atoms, U, 0.5, K)] == [K, K]
