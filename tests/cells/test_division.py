"""The division: a function of the design that keeps as much information as it can."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming._numerics import factor
from unassuming.cells.division import (
    Leading,
    deal,
    divide,
    exchange,
    half_width,
    information,
)
from unassuming.cells.estimates import Atoms
from unassuming.cells.theorem import intervals


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


@pytest.mark.parametrize(
    ("n", "d", "kind", "bound"),
    [(60, 5, "normal", 2.75), (200, 20, "normal", 2.75), (500, 6, "normal", 2.1)],
)
def test_chosen_cells_keep_enough(n, d, kind, bound):
    """The ideal half-width, all information in 32 equal cells, is 2.01."""
    atoms, U = atoms_of(designed(n, d, kind=kind))
    widths = [one.width for one in divide(atoms, U, 0.95)]
    assert np.median(widths) < bound
