"""Estimates in the cells: against fractions, and what a cell identifies."""

import numpy as np
import pytest
from exact_cells import dot, exact_weights, rational

from unassuming.cells import (
    _factors,
    estimates,
    factor_of_all,
    factor_of_rows,
    factors_of_rows,
)


def triangles(Phi, y, labels, K):
    """Each cell from the R factors of two halves of it."""
    result = []
    for b in range(K):
        rows = np.column_stack([Phi, y])[labels == b]
        halves = [np.linalg.qr(part, mode="r") for part in np.array_split(rows, 2)]
        stacked = np.vstack(halves)
        result.append(factor_of_rows(stacked[:, :-1], stacked[:, -1], rows=len(rows)))
    return result


@pytest.mark.parametrize(("factors", "rtol"), [(factors_of_rows, 1e-12), (triangles, 1e-12)])
def test_they_are_those_of_the_definition(factors, rtol):
    rng = np.random.default_rng(0)
    n, d, K = 40, 4, 5
    Phi = rng.integers(-4, 5, size=(n, d)) * np.array([1.0, 1024.0, 0.125, 3.0])
    y = rng.integers(-9, 10, size=n).astype(float)
    labels = rng.permutation(np.arange(n) % K)
    c = np.vstack([np.eye(d), np.array([1.0, 512.0, 0.125, -1.0])])
    found = estimates(factors(Phi, y, labels, K), c)
    for i, functional in enumerate(c):
        cells = exact_weights(Phi, functional, labels.tolist())
        assert len(cells) == K
        for b, (rows, residual, v) in enumerate(cells):
            beta = dot(residual, rational(y[rows])) / v
            assert found.v[i, b] == pytest.approx(float(v), rel=rtol)
            assert abs(found.beta[i, b] - float(beta)) <= found.error[i, b]
            assert found.error[i, b] <= 1e-8 / np.sqrt(float(v)) * np.linalg.norm(y[rows])
    for b in range(K):
        rows = labels == b
        columns = Phi[rows] / np.abs(Phi).max(axis=0)
        residuals = y[rows] - columns @ np.linalg.lstsq(columns, y[rows], rcond=None)[0]
        assert found.rest[b] == pytest.approx(np.linalg.norm(residuals), rel=1e-7)
        assert found.freedom[b] == rows.sum() - d


def test_a_cell_identifies_what_lies_in_its_row_space():
    """A factor with three levels: fewer rows than columns can be enough."""
    Phi = np.array([[1, 0, 0, 0.5], [1, 1, 0, 2.0], [1, 0, 0, 1.0], [1, 1, 0, 4.0], [1, 1, 0, 7.0]])
    found = estimates([factor_of_rows(Phi, np.arange(5.0))], np.eye(4))
    assert (found.v > 0).ravel().tolist() == [True, True, False, True]
    contrast = estimates([factor_of_rows(Phi[1:2], np.ones(1))], Phi[1:3])
    assert (contrast.v > 0).ravel().tolist() == [True, False]
    empty = estimates([factor_of_rows(Phi[:0], np.ones(0))], np.eye(4))
    assert not empty.v.any()
    zero = estimates([factor_of_rows(np.zeros((3, 2)), np.ones(3))], np.eye(2))
    assert not zero.v.any()


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_identification_does_not_depend_on_units(scale):
    rng = np.random.default_rng(3)
    x = rng.normal(size=8)
    Phi = np.column_stack([np.ones(8), x, x * scale, rng.normal(size=8) * scale])
    found = estimates([factor_of_rows(Phi, x)], np.eye(4))
    assert (found.v > 0).ravel().tolist() == [True, False, False, True]


@pytest.mark.parametrize("n", [0, 1, 3, 40])
@pytest.mark.parametrize("dependent", [False, True])
def test_a_factor_keeps_products_and_residuals(monkeypatch, n, dependent):
    """In one batch, in several, and from the factors of cells, one of which is empty."""
    rng = np.random.default_rng(n)
    Phi, y = rng.normal(size=(n, 4)) * [1.0, 1e3, 1e-3, 3.0], rng.normal(size=n)
    Phi[:, 3] = Phi[:, 0] + 1e-3 * Phi[:, 1] if dependent else Phi[:, 3]
    one = factor_of_rows(Phi, y)
    monkeypatch.setattr(_factors, "_FEW", 0)
    monkeypatch.setattr(_factors, "_BATCH", 1)  # 16 rows, four for each column
    several = factor_of_rows(Phi, y)
    cells = factor_of_all(factors_of_rows(Phi, y, np.arange(n) % 3, 4), n)
    for found in (one, several, cells):
        T = found.T * found.scale
        assert (len(T), found.rows) == (min(n, 4 - dependent), n)
        np.testing.assert_allclose(T.T @ T, Phi.T @ Phi, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(T.T @ found.z, Phi.T @ y, rtol=1e-9, atol=1e-9)
        size = np.hypot(np.linalg.norm(found.z), found.rest)
        assert size == pytest.approx(np.linalg.norm(y), abs=1e-12)
        assert found.length == pytest.approx(np.linalg.norm(y), abs=1e-12)


def test_cells_of_different_rank_are_estimated_as_each_by_itself():
    rng = np.random.default_rng(0)
    Phi, y = rng.normal(size=(15, 3)), rng.normal(size=15)
    labels = np.repeat([0, 1, 2, 3], [5, 2, 4, 4])
    Phi[11:, 2] = Phi[11:, 1]
    g = np.vstack([np.eye(3), [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]])
    factors = factors_of_rows(Phi, y, labels, 5)
    both = estimates(factors, g)
    assert (both.v[:, 1] == 0).all()
    assert (both.v[:, 4] == 0).all()
    assert (both.v[:, 3] > 0).tolist() == [True, False, False, False, True]
    for b, factor in enumerate(factors):
        alone = estimates([factor], g)
        np.testing.assert_allclose(both.v[:, b], alone.v[:, 0], rtol=1e-12)
        np.testing.assert_allclose(both.beta[:, b], alone.beta[:, 0], rtol=1e-12)
        np.testing.assert_allclose(both.error[:, b], alone.error[:, 0], rtol=1e-6)


@pytest.mark.parametrize("sizes", [(9, 9, 8, 8), (7, 12, 5, 10), (40, 6, 6, 6), (3, 12, 12, 12)])
def test_small_cells_are_factored_together(sizes):
    """At once where that is safe, else one by one: both find the same, one cell is collinear."""
    rng = np.random.default_rng(len(sizes) + sizes[0])
    labels = rng.permutation(np.repeat(np.arange(4), sizes))
    Phi = rng.normal(size=(len(labels), 4)) * np.array([1.0, 100.0, 0.01, 1.0])
    Phi[labels == 2, 3] = Phi[labels == 2, 0] + 3
    Phi[:, 0] = 1.0
    y = rng.standard_t(2, size=len(labels))
    together = estimates(factors_of_rows(Phi, y, labels, 4), np.eye(4))
    one_by_one = [factor_of_rows(Phi[labels == b], y[labels == b]) for b in range(4)]
    apart = estimates(one_by_one, np.eye(4))
    assert ((together.v > 0) == (apart.v > 0)).all()
    np.testing.assert_allclose(together.v, apart.v, rtol=1e-9)
    assert (np.abs(together.beta - apart.beta) <= together.error + apart.error).all()
    np.testing.assert_allclose(together.error, apart.error, rtol=1e-6)
    np.testing.assert_allclose(together.rest, apart.rest, rtol=1e-9)
    assert together.freedom.tolist() == apart.freedom.tolist()
